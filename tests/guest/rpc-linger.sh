#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The pages of a READ's Reply wait for the completion of a Send. That may be a later
# one, if there are few of them; if there is none they do not wait for long.
#
# timeout: 60
# flavours: uml-debug qemu
. /lab/lib/lab.sh
. /lab/lib/fs.sh

READS=64

# reads BYTES: as many READs of so many bytes each, one after the other.
reads() {
	iocheck check -e -d -s 1 -l $((READS * $1)) -b "$1" "$D/f"
}

prepare() { # DEV VERS BYTES
	scratch linger
	nfs "$1" "$2"
	iocheck write -t -s 1 -l $((READS * $3)) "$D/f"
	lab_wait 20 calls_ended
	mark
}

done_with() {
	umount_nfs
	none_left
	rm -r "$E"
}

together() { # DEV VERS
	prepare "$1" "$2" 65536
	reads 65536
	look
	counted server -ge $READS write_chunks
	counted server -le $((READS / 2)) send_completions
	done_with
}

# A Reply that has many pages waits for no other.
at_once() { # DEV VERS
	prepare "$1" "$2" $((1 << 20))
	reads $((1 << 20))
	look
	counted server -ge $READS write_chunks send_completions
	done_with
}

# The last ones are over, too, without a Send behind them.
not_for_long() { # DEV VERS
	prepare "$1" "$2" 65536
	trace_on rpcrdma2/rpcrdma2_wc_settle
	dd if="$D/f" of=/dev/null bs=65536 count=1 iflag=direct status=none
	lab_wait 10 traced 'rpcrdma2_wc_settle: '
	trace_off
	done_with
}

# Nothing is posted while there is nothing to wait for.
not_without() { # DEV VERS
	prepare "$1" "$2" 65536
	trace_on rpcrdma2/rpcrdma2_wc_settle
	stat "$D/f" > "$LAB_TMP/stat"
	lab_pause 1
	not traced 'rpcrdma2_wc_settle: '
	trace_off
	done_with
}

# What waits is given back with the connection.
ended() { # DEV VERS
	prepare "$1" "$2" 65536
	dd if="$D/f" of=/dev/null bs=65536 count=4 iflag=direct status=none
	done_with
}

have_rdma2 || ktap_skip_all "needs rpcrdma2"
lab_export tmpfs
fs_start
for dev in $(lab_devices); do
	ktap_run "$dev NFSv3: many READs, few completions" together "$dev" 3
	ktap_run "$dev NFSv3: READs of 1 MiB complete each" at_once "$dev" 3
	ktap_run "$dev NFSv4.2: the last READ is over soon" not_for_long "$dev" 4.2
	ktap_run "$dev NFSv3: nothing to wait for" not_without "$dev" 3
	ktap_run "$dev NFSv3: the connection ends" ended "$dev" 3
done
