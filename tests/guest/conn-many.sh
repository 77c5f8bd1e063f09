#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Many clients connect at once, as after a restart of the server, and its
# threads are busy: all of them get in.
#
# timeout: 90
# flavours: uml-debug
. /lab/lib/lab.sh
. /lab/lib/fs.sh
. /lab/lib/raw.sh

# The one thread hangs in a WRITE while they come.
waiting() { # DEV VERS
	local threads

	scratch waiting
	nfs "$1" "$2"
	iocheck write -t -s 1 -l 4096 "$D/f"
	exec 8<> "$D/f"
	threads=$(< $NFSD/threads)
	echo 1 > $NFSD/threads
	freeze
	dd if=/dev/zero bs=4096 count=1 oflag=direct status=none >&8 &
	writer=$!
	lab_wait 30 stuck 1
	rpcrdma2-conform server "$(lab_addr "$1")" bound_connects --module \
		--scale $((2 * lab_scale)) > "$LAB_TMP/many" 2>&1 &
	many=$!
	lab_pause "$3"
	thaw
	wait "$writer"
	wait "$many" || { cat "$LAB_TMP/many"; return 1; }
	exec 8>&-
	echo "$threads" > $NFSD/threads
	umount_nfs
	none_left
	rm -r "$E"
}

# The same with room for a few only: a client's CM asks again, but for iWARP.
no_room() {
	echo 8 > $PARAMETERS/server_backlog
	waiting "$1" "$2" "$3"
	echo 1024 > $PARAMETERS/server_backlog
}

# Clients of one address that show no filehandle wait for each other; no other client
# waits for them.
passed_by() {
	local other=${RXE_ADDR}01

	ip addr add "$other/24" dev v0
	crowd "$RXE_ADDR" 20049 100 60 60000 "$other" <<< hesitate \
		> "$LAB_TMP/crowd" 2>&1 &
	crowd=$!
	lab_wait 30 server_has 48
	nfs rxe 3
	# Not after them: nfsd would have to have ended some, to have 64
	server_has 49
	not server_has 61
	umount_nfs
	kill $crowd
	wait $crowd || true
	ip addr del "$other/24" dev v0
	none_left
}
server_has() { [ "$(connections server)" -ge "$1" ]; }

have_rdma2 || ktap_skip_all "needs rpcrdma2"
lab_export ext4
fs_start
for dev in $(lab_devices); do
	ktap_run "$dev: 80 clients wait for a thread" waiting "$dev" 3 2
done
ktap_run "rxe: 80 clients where 8 can wait" no_room rxe 3 2
ktap_run "rxe: a mount beside 100 clients that show nothing" passed_by
