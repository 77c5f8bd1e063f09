#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A connection is lost with a WRITE on it that the server has executed, or is
# about to. It is sent again on the next connection, where it may have
# another form: other thresholds, another version. It must be executed once
# (F-7). First by the conformance kit, then by the client.
#
# timeout: 120
. /lab/lib/raw.sh

hits() { awk '$1 == "rc" { print $2 }' /proc/net/rpc/nfsd; }
lost() { [ "$(connections client)" = 0 ]; }

# The server has the WRITE when the device goes. It is back once the WRITE was
# executed and its Reply had nowhere to go.
lose_reply() { # DEV
	local pid

	rdma link delete "$1"0 &
	pid=$!
	lab_wait 20 lost
	thaw
	lab_wait 20 not stuck 1
	wait $pid
}

# resent DEV VERS COUNTER: the WRITE that had a chunk comes again; COUNTER is
# the kind of message the server gets it in.
resent() {
	local pid before

	enter resend "$1" "$2"
	: > "$D/f"
	exec 7<> "$D/f"
	before=$(hits)
	mark
	freeze
	iocheck write -d -s 7 -l 12001 "$D/f" &
	pid=$!
	lab_wait 20 stuck 1
	look
	counted client -eq 1 read_chunks
	lose_reply "$1"
	"change_$3"
	lab_net
	wait $pid
	"changed_$3"
	exec 7<&-
	[ "$(hits)" -gt "$before" ]
	iocheck check -e -s 7 -l 12001 "$E/f"
}

# A server with larger Receive buffers than before
change_inline() { by_default server recv_size 16384; }
changed_inline() {
	look
	counted server -eq 0 read_chunks
	[ "$(said client version)" = 2 ]
}

change_v1() { by_default server versions v1; }
changed_v1() { [ "$(said client version)" = 1 ]; }

resent_inline() { resent "$1" "$2" inline; }
resent_v1() { resent "$1" "$2" v1; }

have_rdma2 || ktap_skip_all "needs rpcrdma2"
lab_export ext4
lab_net
lab_server
load_rpcrdma2
by_default server recv_size 4096
fs_listen
raw_group replay 20049
for_versions "3" resent_inline "WRITE sent again inline (F-7)"
for_versions "4.0" resent_v1 "WRITE sent again as version 1 (F-7)"
