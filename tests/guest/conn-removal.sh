#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The end comes in every state of a connection: the mount is killed or forced
# off, the device is removed, while the connection is resolved, made,
# negotiated, or in use. Nothing hangs, nothing is left (F-4). What a mount
# does that is killed in the middle of the negotiation is a case of the raw
# peer.
#
# timeout: 100
# flavours: uml-debug qemu-debug
. /lab/lib/lab.sh

# Addresses on the link of rxe0 at which nobody is: the neighbour of one is
# known, so that the CM sends its request to it and waits for an answer.
UNKNOWN=10.0.0.8 SILENT=10.0.0.9

reached() { traced "rpcrdma2_conn_state: .* client .* -> $1 "; }

# start_mount ADDR STATE [OPTS]: a mount in the background, which has got as
# far as the state. Nobody is told of its result.
start_mount() {
	ip neigh replace $SILENT lladdr 02:00:00:00:00:09 dev v0
	trace_on rpcrdma2/rpcrdma2_conn_state rpcrdma2/rpcrdma2_connected
	mount -t nfs -o "vers=4.2,proto=rdma,rdmaver=2,port=20049${3:+,$3}" \
		"$1:/" /mnt 2> /dev/null &
	MOUNT=$!
	lab_wait 10 reached "$2"
}

# The attempt was given up before its time was up (ETIMEDOUT), and nothing of it is
# left.
given_up() {
	lab_wait 8 module_users "$LISTENERS"
	trace_off
	traced "rpcrdma2_connected: .* value=-"
	not traced "rpcrdma2_connected: .* value=-110"
}

kill_mount() {
	kill -KILL $MOUNT 2> /dev/null || true
	pkill -KILL -x mount.nfs || true
	wait $MOUNT || true
}

remove() { # DEV
	rdma link delete "$1"
	! rdma link show "$1/1" 2> /dev/null
}

killed() { # ADDR STATE
	start_mount "$1" "$2"
	kill_mount
	given_up
}

# The CM id of a connection that is not made yet goes with the device.
removed() { # ADDR STATE
	start_mount "$1" "$2"
	remove rxe0
	kill_mount
	given_up
	lab_net
	fs_listen
}

# A connect request gets no answer: another attempt follows soon, and waits longer.
unanswered() {
	start_mount $SILENT connecting
	lab_wait 12 timed_out 2
	kill_mount
	lab_wait 8 module_users "$LISTENERS"
	trace_off
}

timed_out() { [ "$(grep -c "rpcrdma2_connected: .* value=-110" $TRACE/trace)" -ge "$1" ]; }

# Everything takes a while on this link; meanwhile the device goes.
removed_negotiating() {
	tc qdisc add dev lo root netem delay 300ms
	start_mount "$(lab_addr siw)" open
	remove siw0
	tc qdisc del dev lo root
	kill_mount
	given_up
	lab_net
	nfs siw 4.2
	umount_nfs
	lab_wait 8 module_users "$LISTENERS"
}

# In use; I/O goes on when the device is back.
removed_in_use() { # DEV VERS
	local n

	enter removed "$1" "$2"
	work_start 1 write_and_check "$D/d"
	remove "$1"0
	lab_wait 20 connections_are client 0
	lab_wait 20 connections_are server 0
	n=$(work_rounds)
	lab_net
	lab_wait 60 work_further "$n"
	work_stop
}

# umount -f while the device is away: the writer gets an error. Only with
# NFSv3: a file system with state may ask the server to keep its lease just
# after umount -f has ended all other requests, and waits for that over any
# transport.
forced_off() { # DEV VERS
	enter forced "$1" "$2"
	work_start 1 write_and_check "$D/d" 2> /dev/null
	remove "$1"0
	force_umount /mnt "${WORKERS[@]}"
	lab_wait 8 module_users "$LISTENERS"
	lab_net
	rm -r "$E"
}

# Errors of siw, and of ib_mad (Documentation/devices.md)
lab_allow_log 'KASAN: (slab-)?use-after-free in siw_cep_put'
lab_allow_log '(WARNING|use-after-free).* rxe_post_recv.* ib_mad_recv_done'
fs_start ours
ktap_run "rxe mount killed while resolving (F-4)" killed $UNKNOWN resolving
ktap_run "rxe mount killed while connecting (F-4)" killed $SILENT connecting
ktap_run "connect requests without an answer" unanswered
ktap_run "rxe device removed while connecting (F-4)" removed $SILENT connecting
! has siw ||
	ktap_run "siw device removed while negotiating (F-4)" removed_negotiating
for_versions "$(by_speed "3 4.2" 4.2)" removed_in_use "device removed in use (F-4)"
for_versions 3 forced_off "umount -f without a device (F-4)"
