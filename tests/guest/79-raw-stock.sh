#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The raw peer as a client of the stock server: shows that the peer itself
# works, and how a version 1 server treats what our client sends first.
#
# timeout: 60
# flavours: uml uml-debug
. /lab/lib/lab.sh
. /lab/lib/raw.sh

lab_net
lab_server
lab_listen rdma 20050
raw_group stock 20050
