#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The raw peer while work requests of the module are refused: whatever cannot
# be sent or taken back costs the connection, and nothing else.
# Cases and what they cover: rpcrdma2-conform list faults, rpcrdma2-conform list faults-client
# Needs fault injection, so a debug kernel.
#
# timeout: 120
# flavours: uml-debug
. /lab/lib/lab.sh
. /lab/lib/raw.sh

have_rdma2 || ktap_skip_all "needs rpcrdma2"
lab_all
raw_group faults 20049
raw_group faults-client 21000
