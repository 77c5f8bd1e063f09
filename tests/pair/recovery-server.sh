#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# An NFS server with all transports, which may lose its power at any time. The first of
# its addresses is that of the lab, each of the others is one that a mount has for
# itself.
#
# timeout: 230
. /lab/tests/lib.sh

lab_allow_log "$RXE_FAULT"
pair_net server
for i in 11 12 13 14; do
	ip addr add "10.0.0.$i/24" dev eth0
done
pair_disk
lab_server
modprobe rpcrdma2
lab_listen rdma 20050
lab_listen rdma2 20049
pair_listening
pair_serve
ktap_ok "asked to stop, not stopped"
