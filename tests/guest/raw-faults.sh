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
. /lab/lib/fs.sh

# What cannot be sent is not taken for sent, callbacks neither.
callback_failed() {
	local xid

	xid=$(sed -n 's/.* rpcrdma2_cb_reply: .* \(xid=[^ ]*\) .* ret=-107$/\1/p' $TRACE/trace)
	[ -n "$xid" ]
	traced "xprt_transmit: .* ${xid%%$'\n'*} .* status=-107$"
}

have_rdma2 || ktap_skip_all "needs rpcrdma2"
lab_all
raw_group faults 20049
trace_on rpcrdma2/rpcrdma2_cb_reply sunrpc/xprt_transmit
raw_group faults-client 21000
trace_off
ktap_run "sunrpc is told of a Reply that was not sent" callback_failed
