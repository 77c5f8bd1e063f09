#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The life of listeners, and of connections at its edges: one that cannot listen, one
# that goes while clients wait for an answer, one that loses its address and has to try
# again and again, a device that goes while a connection is freed. Of each the like has
# been a vulnerability of the kernel (Documentation/vulnerabilities.md).
#
# timeout: 120
. /lab/lib/lab.sh

works() { # DEV
	nfs "$1" 4.2
	umount_nfs
	lab_wait 20 no_connection
}

# ---- a listener that cannot listen ----

# In a namespace of its own, which must be gone afterwards: its end of a veth pair
# goes with it. The port is taken.
in_namespace() {
	mount -t nfsd nfsd /run/nfsd
	echo "rdma2 20049" > /run/nfsd/portlist
	for _ in 1 2 3; do
		if echo "rdma2 20049" > /run/nfsd/portlist; then return 1; fi
	done
	grep -c rdma2 /run/nfsd/portlist
	echo 0 > /run/nfsd/threads
	umount /run/nfsd
}

cannot_listen() {
	local users

	users=$(< /sys/module/rpcrdma2/refcnt)
	ip netns add listen
	ip link add lis0 type veth peer name lis1 netns listen
	mkdir -p /run/nfsd
	ip netns exec listen bash -e -c \
		"$(declare -f in_namespace); in_namespace" 2> "$LAB_TMP/listen" ||
		{ cat "$LAB_TMP/listen"; return 1; }
	ip netns del listen
	lab_wait 20 gone_with_it
	lab_wait 20 users_are "$users"
}

gone_with_it() { ! ip link show lis0 2> /dev/null; }
users_are() { [ "$(< /sys/module/rpcrdma2/refcnt)" = "$1" ]; }

# ---- a listener that goes ----

# Clients want to connect, and there are no threads to accept them. nfsdctl takes
# away the listener, and then the clients' end comes.
removed_with_requests() { # DEV
	stop_server
	nfsdlisten tcp 0.0.0.0 2049 rdma "$(lab_addr "$1")" 20049
	trace_on rpcrdma2/rpcrdma2_connect_request
	timeout $((2 * lab_scale)) rpcrdma2-conform server "$(lab_addr "$1")" \
		bound_connects --scale "$lab_scale" > /dev/null 2>&1 &
	lab_wait 20 traced rpcrdma2_connect_request
	trace_off
	nfsdlisten tcp 0.0.0.0 2049
	wait $! || true
	stop_server
	start_server
	works "$1"
}

# ---- a listener that loses its address ----

# Nobody tells when it is back. It is tried several times in vain.
address_lost() { # DEV
	stop_server
	nfsdlisten tcp 0.0.0.0 2049 rdma "$(lab_addr "$1")" 20049
	echo 8 > $NFSD/threads
	lab_end_grace
	works "$1"
	mark_log
	rdma link delete "${1}0"
	lab_wait 10 logged "listener at .* lost its address"
	lab_pause 12
	lab_net
	lab_wait 20 logged "listener at .* regained its address"
	works "$1"
	stop_server
	start_server
}

# ---- a device that goes while connections end ----

removed_at_the_end() { # DEV
	local i

	for i in 1 2 3; do
		nfs "$1" 4.2
		umount_nfs
		rdma link delete "${1}0"
		lab_wait 20 no_connection
		lab_net
	done
	works "$1"
}

# nfsdctl knows the name of the stock transport only.
lab_replace=y
fs_start ours
ktap_run "a listener that cannot listen leaves nothing" cannot_listen
ktap_run "rxe a listener goes while clients wait" removed_with_requests rxe
ktap_run "rxe a listener loses its address for a while" address_lost rxe
ktap_run "rxe a device goes as connections end" removed_at_the_end rxe
