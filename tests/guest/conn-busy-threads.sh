#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# All threads of the server wait for its disk. What is no Call is heard all the same:
# properties that the client asks for, and answers to those that the server asks for.
# Nothing is lost, and the Calls go on when the disk does.
#
# timeout: 120
. /lab/lib/lab.sh
. /lab/lib/crowd.sh

# What keeps the threads busy comes by TCP: nothing else is under way over RDMA.
while_busy() { # CMD ARG...
	local PIDS=()

	scratch busy
	mount_nfs tcp 3 '' $SECOND
	touch "$SECOND"/busy/{1..4}
	nfsd_threads 2
	freeze
	launch 4 iocheck write -d -s 1 -l 50000 -b 50000 "$SECOND/busy/{}"
	lab_wait 30 stuck 2
	"$@"
	stuck 2
	thaw
	wait_all "${PIDS[@]}"
	each 4 iocheck check -e -s 1 -l 50000 "$E/{}"
	umount_nfs $SECOND
}

busy() { while_busy both_grow 32768; }

# An event finds an idle thread, but another connection gets it.
taken() {
	pretend idle 1
	busy
}

# A thread leaves completions behind, about which there is no event, and no thread is free
# when they should be polled.
left() {
	pretend full 1
	ls /mnt > /dev/null
	busy
}

# A device goes, and its connections with it, while no thread of the server is free.
removed() {
	nfs rxe 4.2
	ls /mnt > /dev/null
	while_busy remove_device
	lab_net
}

remove_device() {
	timeout $((10 * lab_scale)) rdma link delete rxe0
	lab_wait 10 nothing_left
}

nothing_left() { [ "$(connections server)" = 0 ]; }

# A client gives up before a thread has accepted its connection, and none does so later.
given_up() {
	while_busy gives_up
	not traced rpcrdma2_accept
	trace_off
	nfs rxe 3
	ls /mnt > /dev/null
}

gives_up() {
	local pid

	trace_on rdma_cma/cm_event_handler rdma_cma/cm_event_done rpcrdma2/rpcrdma2_accept
	mount_nfs rxe 3 nolock &
	pid=$!
	lab_wait 20 traced 'cm_event_handler: .* CONNECT_REQUEST'
	pkill -KILL -x mount.nfs
	not wait $pid
	lab_wait 20 traced 'cm_event_done: .* REJECTED consumer returns 1'
}

# Of two hosts one has sent many connect requests, before and after that of the other.
turns() {
	local n pids=()

	while_busy queue_up
	lab_wait 30 traced "rpcrdma2_accept: .* from=$RXE_ADDR:"
	n=$(sed "/rpcrdma2_accept: .* from=$RXE_ADDR:/q" $TRACE/trace |
		grep -c 'rpcrdma2_accept: ')
	trace_off
	ktap_diag "the mount was accepted as number $n"
	wait "${pids[1]}"
	umount_nfs
	lab_wait 60 both_served
	kill "${pids[0]}"
	stop_crowd
	[ "$n" -le 3 ]
}

queue_up() {
	trace_on rdma_cma/cm_event_handler rpcrdma2/rpcrdma2_accept
	start_crowd 15 $OTHERS.1 1 connect
	pids=("$crowd")
	lab_wait 60 asked 15 $OTHERS.1
	mount_nfs rxe 3 nolock &
	pids+=($!)
	lab_wait 60 asked 1 "$RXE_ADDR"
	start_crowd 15 $OTHERS.1 1 connect
	lab_wait 60 asked 30 $OTHERS.1
}

both_served() { [ "$(grep -c served "$LAB_TMP/crowd")" = 2 ]; }

# asked NUMBER ADDRESS: so many connect requests have come from there.
asked() { [ "$(grep -cE "dst=$2:.* CONNECT_REQUEST" $TRACE/trace)" -ge "$1" ]; }

fs_start ext4
for_both recv_max 32768
mounted 3 "no thread is free=busy" "no errors=clean"
mounted 4.2 "no thread is free=busy" "no errors=clean"
if [ -e $FAIL_POST/idle ]; then
	mounted 3 "an idle thread is taken=taken" "no errors=clean"
	mounted 3 "completions are left=left" "no errors=clean"
else
	ktap_skip "an idle thread is taken, completions are left" \
		"needs CONFIG_FAULT_INJECTION_DEBUG_FS"
fi
ktap_run "rxe device removed, and no thread is free" removed
ktap_run "rxe a client gives up, and no thread is free" given_up
others
ktap_run "rxe hosts take turns when threads are free again" turns
ip addr flush to $OTHERS.0/24 dev v0
