#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# An NFS server, and the switch in which both cables of a bond end.
#
# timeout: 90
. /lab/tests/lib.sh

lab_allow_log "$RXE_FAULT"
pair_switch 10.0.0.1
lab_server
modprobe rpcrdma2
lab_listen rdma2 20049
[ -z "${bond_stock-}" ] || lab_listen rdma 20050
pair_listening
pair_serve
ktap_ok "asked to stop"
