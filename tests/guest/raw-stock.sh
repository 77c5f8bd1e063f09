#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The conformance kit as a client of the stock server: shows that the peer itself
# works, and how a version 1 server treats what our client sends first.
. /lab/lib/raw.sh

lab_net
lab_server
lab_listen rdma 20050
# The kernel's server does not outlive the completions that siw loses on
# several CPUs (Documentation/devices.md), so nothing that provokes them there.
raw_smp rxe "stock_null stock_err_vers stock_stale"
raw_smp siw "stock_null stock_err_vers"
raw_group stock 20050
