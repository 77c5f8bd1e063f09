#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The conformance kit while work requests of the module are refused: whatever cannot
# be sent or taken back costs the connection, and nothing else.
# Needs fault injection, so a debug kernel.
#
# timeout: 120
. /lab/lib/raw.sh

# The Reply of a callback that cannot be sent is dropped: sunrpc would give the
# error to whatever RPC sends for all.
callback_failed() {
	local xid counters

	xid=$(sed -n 's/.* rpcrdma2_cb_reply: .* \(xid=[^ ]*\) .* ret=-107$/\1/p' $TRACE/trace)
	[ -n "$xid" ]
	traced "xprt_transmit: .* ${xid%%$'\n'*} .* status=0$"
	counters=$(rpcrdma2 show module client)
	grep '^callback_replies_dropped: [1-9]' <<< "$counters"
}

raw_server
raw_group faults 20049
trace_on rpcrdma2/rpcrdma2_cb_reply sunrpc/xprt_transmit
raw_group faults-client 21000
trace_off
ktap_run "a Reply that was not sent is no other RPC's error (C15)" callback_failed
