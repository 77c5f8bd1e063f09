#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# An NFS server with two adapters on one network, one of which has the address that its
# clients know. It goes to the other when the client asks for it.
#
# timeout: 90
. /lab/tests/lib.sh

FLOATING=10.0.2.1
AT=0

have_siw() { false; }

# Who takes the address has just started, as far as its adapter knows: one that has lost
# an address may be of no use, see "rxe loses an address" in Documentation/devices.md.
move() {
	local to=$((1 - AT))

	[ -e $PAIR/move ] || return 0
	rdma link delete rxe$to
	_rdma_link rxe$to rxe eth$to
	ip addr del $FLOATING/24 dev eth$AT
	ip addr add $FLOATING/24 dev eth$to
	arping -U -c 1 -I eth$to $FLOATING
	AT=$to
	rm $PAIR/move
}

lab_allow_log "$RXE_FAULT"
pair_net server
_rdma_link rxe1 rxe eth1
# Each adapter answers for its own addresses only, as two machines would.
echo 1 > /proc/sys/net/ipv4/conf/all/arp_ignore
ip addr add $FLOATING/24 dev eth$AT
lab_server
modprobe rpcrdma2
lab_listen rdma 20050
lab_listen rdma2 20049
pair_listening
pair_serve move
ktap_ok "asked to stop"
