#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The pages of a READ's Reply wait for the completion of a Send. That may be a later
# one, if there are few of them; if there is none they do not wait for long.
#
# flavours: uml-debug qemu
. /lab/lib/lab.sh

READS=64

# A signaled Write of no bytes stands in for a Send.
NOTHING='rpcrdma2_post_send: .* len=0 nwrs=1 .* signaled'

# reads BYTES: as many READs of so many bytes each, one after the other.
reads() {
	iocheck check -e -d -s 1 -l $((READS * $1)) -b "$1" "$D/f"
}

prepare() { # DEV VERS BYTES
	enter linger "$1" "$2"
	iocheck write -t -s 1 -l $((READS * $3)) "$D/f"
	lab_wait 20 calls_ended
	mark
}

# A slow guest may need some attempts to be fast enough.
together() { # DEV VERS
	prepare "$1" "$2" 65536
	lab_wait 30 few_completions
}
few_completions() {
	lab_wait 20 calls_ended
	mark
	reads 65536
	look
	counted server -ge $READS write_chunks &&
		counted server -le $((READS / 2)) send_completions
}

# A Reply that has many pages waits for no other.
completes_each() { # DEV VERS
	prepare "$1" "$2" $((1 << 20))
	reads $((1 << 20))
	look
	counted server -ge $READS write_chunks send_completions
}

# The last ones are over, too, without a Send behind them.
not_for_long() { # DEV VERS
	prepare "$1" "$2" 65536
	trace_on rpcrdma2/rpcrdma2_post_send
	lab_wait 30 settled
	trace_off
}

settled() {
	dd if="$D/f" of=/dev/null bs=65536 count=4 iflag=direct status=none
	lab_pause 1
	traced "$NOTHING"
}

# One READ now and then completes by itself.
slowly() { # DEV VERS
	local i

	prepare "$1" "$2" 65536
	trace_on rpcrdma2/rpcrdma2_post_send
	for i in 0 1 2; do
		dd if="$D/f" of=/dev/null bs=65536 count=1 skip=$i iflag=direct \
			status=none
		lab_pause 0.3
	done
	not traced "$NOTHING"
	trace_off
	look
	counted server -ge 3 write_chunks send_completions
}

# Nothing is posted while there is nothing to wait for.
not_without() { # DEV VERS
	prepare "$1" "$2" 65536
	trace_on rpcrdma2/rpcrdma2_post_send
	stat "$D/f" > "$LAB_TMP/stat"
	lab_pause 1
	not traced "$NOTHING"
	trace_off
}

# What waits is given back with the connection.
ended() { # DEV VERS
	prepare "$1" "$2" 65536
	dd if="$D/f" of=/dev/null bs=65536 count=4 iflag=direct status=none
}

fs_start ours
for dev in $(lab_devices); do
	ktap_run "$dev NFSv3: many READs, few completions" together "$dev" 3
	ktap_run "$dev NFSv3: READs of 1 MiB complete each" completes_each "$dev" 3
	ktap_run "$dev NFSv4.2: the last READ is over soon" not_for_long "$dev" 4.2
	ktap_run "$dev NFSv3: READs now and then" slowly "$dev" 3
	ktap_run "$dev NFSv3: nothing to wait for" not_without "$dev" 3
	ktap_run "$dev NFSv3: the connection ends" ended "$dev" 3
done
