#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Containers: a server, then a client, in a network namespace that has a device and a
# policy of its own, and that ends while it is busy; a path that leads to such a server
# instead of ours; and a device that moves to another namespace while it is busy.
#
# timeout: 120
. /lab/lib/lab.sh

# rxe works in a namespace, and can be moved, from some kernel on; siw cannot be moved.
can_move() { grep -q ' rxe_disassociate_ucontext' /proc/kallsyms; }

DEV=rxe LINK=v BOX_ADDR=10.0.0.2
! have_siw || DEV=siw LINK=w BOX_ADDR=10.0.1.2

# Its first process; what runs in it, and with our functions
box_pid() { cat "$LAB_TMP/box"; }
box() { nsenter -t "$(box_pid)" -n -m "$@"; }
box_lab() { box bash -ec ". $LABLIB/lab.sh; trap - EXIT; $1"; }

net_of() { readlink "/proc/$1/ns/net"; }
elsewhere() { [ "$(net_of "$1")" != "$(net_of self)" ]; }

# It has the peer of our network interface.
new_box() {
	lab_net
	ip netns add box
	ip link set ${LINK}1 netns box
	ip netns exec box sleep 100000 &
	echo $! > "$LAB_TMP/box"
	lab_wait 10 elsewhere $!
	# Its copy of a mount would end with it, and wait for a server that has gone.
	! box grep -q " /mnt nfs" /proc/mounts || box umount -l /mnt
	box ip link set lo up
	box ip addr add $BOX_ADDR/24 dev ${LINK}1
	box ip link set ${LINK}1 up
	box rdma link add ${DEV}1 type $DEV netdev ${LINK}1
}

# As a container's runtime ends one. Our network interface goes with its peer, and our
# device with that.
kill_box() {
	local p net

	net=$(net_of "$(box_pid)")
	for p in $(cd /proc && echo [0-9]*); do
		[ "$(net_of "$p" 2> /dev/null)" != "$net" ] || kill -KILL "$p"
	done
	ip netns del box
	lab_wait 60 no_netdev ${LINK}0
}

no_netdev() { [ ! -e "/sys/class/net/$1" ]; }

# ---- a server ----

server_box() {
	new_box
	box mount -t rpc_pipefs rpc_pipefs /var/lib/nfs/rpc_pipefs
	box mount -t tmpfs nfsdcld /var/lib/nfs/nfsdcld
	box mount -t nfsd nfsd $NFSD
	box rpcrdma2 policy set server default recv_size 8192
	box_lab 'rpc.mountd; nfsdcld; lab_nfsd 2; lab_listen rdma2 20049'
}

mount_box() { RXE_ADDR=$BOX_ADDR SIW_ADDR=$BOX_ADDR nfs $DEV 4.2; }

server_policy() {
	server_box
	mount_box
	box rpcrdma2 show server | grep '^rbsiz: local 8192 '
	[ -z "$(rpcrdma2 policy)$(rpcrdma2 show server)" ]
	iocheck write -t -d -s 1 -l 300001 /mnt/f
	iocheck check -e -d -s 1 -l 300001 /export/f
	not rmmod rpcrdma2
	umount_nfs
	lab_wait 20 refused
}

refused() {
	# IPv4 and IPv6
	[ "$(rpcrdma2 unload || true)" = \
		"other: 2 users, in another network namespace or terminating" ]
}

server_ends() {
	local n

	mount_box
	work_start 1 write_and_check /mnt/d
	box_lab 'echo 0 > $NFSD/threads'
	kill_box
	n=$(work_rounds)
	server_box
	lab_wait 60 work_further "$n"
	work_stop
	umount_nfs
	box_lab 'echo 0 > $NFSD/threads'
	kill_box
	none_left
}

# A path that leads to another server gets no RPC, whatever the administrator says. It is
# tried when a connection is made there, for which no RPC waits.
path_is_refused() {
	stat -f /mnt > /dev/null
	rpcrdma2 status | grep " $BOX_ADDR *refused *0 .* may be another server$" &&
		[ "$(rpcrdma2 show client | grep -c "^peer_address: ${BOX_ADDR%2}1:")" = 4 ]
}

other_server() {
	# siw would listen in the namespace that makes a device, for a listener that exists
	server_box
	fs_listen
	undo rpcrdma2 policy load /dev/null
	rpcrdma2 policy set client "${BOX_ADDR%2}1" paths $BOX_ADDR trust_paths on
	mark_log
	nfs $DEV 4.2 nconnect=4
	each 16 stat -f /mnt > /dev/null
	iocheck write -t -d -s 1 -l 300001 /mnt/f
	iocheck check -e -d -s 1 -l 300001 /export/f
	lab_wait 20 path_is_refused
	logged "$BOX_ADDR:20049 is not used as a path, it leads to another server"
	[ "$(logged "is not used as a path" | wc -l)" = 1 ]
	status rpcrdma2 doctor
	grep "^path-refused: " "$LAB_TMP/printed"
	# It has got connections, and a CONNPROP on each
	box rpcrdma2 show module server | grep '^rx_connprop: [1-9]'
	box rpcrdma2 show module server | grep '^rx_call_msg: 0$'
	umount_nfs
	box_lab 'echo 0 > $NFSD/threads'
	kill_box
	stop_server
	lab_nfsd
}

# ---- a client ----

client_policy() {
	new_box
	fs_listen
	box rpcrdma2 policy set client default recv_size 8192
	box_lab "mount_nfs $DEV 4.2"
	box rpcrdma2 show client | grep '^rbsiz: local 8192 '
	[ -z "$(rpcrdma2 policy)$(rpcrdma2 show client)" ]
	box iocheck write -t -d -s 1 -l 300001 /mnt/f
	iocheck check -e -d -s 1 -l 300001 /export/f
}

# Work of work.sh is done in the container.
iocheck_box() { box "$(type -P iocheck)" "$@"; }

client_ends() {
	iocheck() { iocheck_box "$@"; }
	work_start 1 write_and_check /mnt/d
	kill_box
	wait "${WORKERS[@]}" || true
	lab_wait 60 no_connection
}

# ---- a device ----

# rxe does not connect any more after a move: there is another device in its place.
device_moves() {
	local n

	lab_net
	# Not while there is another namespace
	lab_wait 60 rdma system set netns exclusive
	ip netns add box
	nfs rxe 4.2
	work_start 1 write_and_check /mnt/d
	rdma dev set rxe0 netns box
	not rdma link show rxe0/1
	lab_wait 20 no_connection
	n=$(work_rounds)
	ip netns exec box rdma link delete rxe0
	lab_net
	lab_wait 60 work_further "$n"
	work_stop
	umount_nfs
	ip netns del box
	lab_wait 60 rdma system set netns shared
}

lab_net
lab_server
load_rpcrdma2
if has siw || can_move; then
	# shellcheck disable=SC2034 # none_left looks at it
	LISTENERS=0
	ktap_run "a server: its policy, and who holds the module" server_policy
	ktap_run "a server that ends while it is busy" server_ends
	ktap_run "a path to another server" other_server
else
	ktap_skip "a server" "no device works in another namespace"
fi
# A kernel thread connects, and siw then uses the namespace of that thread.
if [ $DEV = rxe ] && can_move; then
	ktap_run "a client: its policy" client_policy
	ktap_run "a client that ends while it is busy" client_ends
	fs_listen
	ktap_run "a device that moves while it is busy" device_moves
else
	ktap_skip "a client, a device that moves" \
		"siw connects in the first namespace, rxe works there only, and neither moves"
fi
