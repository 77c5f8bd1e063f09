#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# All threads of the server wait for its disk. What is no Call is heard all the same:
# properties that the client asks for, and answers to those that the server asks for.
# Nothing is lost, and the Calls go on when the disk does.
#
# timeout: 120
# flavours: uml-debug
. /lab/lib/lab.sh
. /lab/lib/fs.sh
. /lab/lib/props.sh

# What keeps the threads busy comes by TCP: nothing else is under way over RDMA.
busy() {
	local i pids=() threads

	scratch busy
	mount_nfs tcp 3 '' $SECOND
	: | tee "$SECOND"/busy/{0..3}
	threads=$(< $NFSD/threads)
	echo 2 > $NFSD/threads
	freeze
	for i in 0 1 2 3; do
		iocheck write -d -s 1 -l 50000 -b 50000 "$SECOND/busy/$i" &
		pids+=($!)
	done
	lab_wait 30 stuck 2 || { thaw; return 1; }
	heard || { thaw; return 1; }
	thaw
	wait_all "${pids[@]}"
	for i in 0 1 2 3; do
		iocheck check -e -s 1 -l 50000 "$E/$i"
	done
	echo "$threads" > $NFSD/threads
	umount_nfs $SECOND
	rm -r "$E"
}

# A device goes, and its connections with it, while no thread of the server is free.
removed() {
	local i pids=() threads

	scratch busy
	mount_nfs tcp 3 '' $SECOND
	: | tee "$SECOND"/busy/{0,1}
	nfs rxe 4.2
	ls /mnt > /dev/null
	threads=$(< $NFSD/threads)
	echo 2 > $NFSD/threads
	freeze
	for i in 0 1; do
		iocheck write -d -s 1 -l 50000 -b 50000 "$SECOND/busy/$i" &
		pids+=($!)
	done
	lab_wait 30 stuck 2 || { thaw; return 1; }
	timeout $((10 * lab_scale)) rdma link delete rxe0 &&
		lab_wait 10 nothing_left || { thaw; return 1; }
	stuck 2
	thaw
	wait_all "${pids[@]}"
	echo "$threads" > $NFSD/threads
	umount_nfs $SECOND
	lab_net
	umount_nfs
	rm -r "$E"
}

nothing_left() { [ "$(connections server)" = 0 ]; }

heard() {
	tell client rbsiz 32768
	agreed server 32768
	tell server rbsiz 32768
	agreed client 32768
	stuck 2
}

lab_export ext4
fs_start
for_both recv_max 32768
mounted 3 "no thread is free=busy" "no errors=clean"
mounted 4.2 "no thread is free=busy" "no errors=clean"
ktap_run "rxe device removed, and no thread is free" removed
