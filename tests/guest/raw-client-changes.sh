#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The raw peer as the server of a mount: values that change while a connection
# lives.
# Cases and what they cover: rpcrdma2-conform list client-change
#
# timeout: 180
# flavours: uml-debug
. /lab/lib/lab.sh
. /lab/lib/raw.sh

have_rdma2 || ktap_skip_all "needs rpcrdma2"
lab_net
# A slow guest is not a silent server.
load_rpcrdma2 negotiate_ms=15000
# Both devices once, what the debugging options see once
lab_is uml || lab_devices() { echo rxe; }
raw_group client-change 21000
