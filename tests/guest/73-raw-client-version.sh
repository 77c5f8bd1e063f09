#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The raw peer as the server of a mount: negotiation and fallback.
# Cases and what they cover: rawpeer list version
#
# timeout: 240
# flavours: uml uml-debug
. /lab/lib/lab.sh
. /lab/lib/raw.sh

have_rdma2 || ktap_skip_all "needs rpcrdma2"
lab_net
load_rpcrdma2
raw_group version 21000+
