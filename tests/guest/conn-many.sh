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

have_rdma2 || ktap_skip_all "needs rpcrdma2"
lab_export ext4
fs_start
for dev in $(lab_devices); do
	ktap_run "$dev: 80 clients wait for a thread" waiting "$dev" 3 2
done
ktap_run "rxe: 80 clients where 8 can wait" no_room rxe 3 2
