#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The raw peer as a client of the server: properties, versions, private data,
# the reverse direction.
# Cases and what they cover: rawpeer list versions
#
# timeout: 180
# flavours: uml uml-debug
. /lab/lib/lab.sh
. /lab/lib/raw.sh

have_rdma2 || ktap_skip_all "needs rpcrdma2"
lab_all
raw_group versions 20049
