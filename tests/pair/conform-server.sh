#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The conformance kit on a machine of its own. First it tests the servers of this
# guest, ours and the stock one, see conform-client.sh. Then it is here, as an
# ordinary user, and clients of the other guest come to it: ours and the stock
# one, each by way of an agent there.
#
# timeout: 3600
. /lab/tests/lib.sh

lab_allow_log "$RXE_FAULT"
pair_net server
lab_modprobe rdma_ucm
lab_server
fs_listen
lab_listen rdma 20050
pair_listening

until [ -e $PAIR/clients ] || [ -e $PAIR/stop ]; do
	lab_pause 0.5
done
plain_user
# The servers were busy with other things; whoever is left goes.
port=21000 agent=20901
for dev in $(lab_devices); do
	raw_run "our client, $dev" client "$(lab_addr "$dev")" \
		--port $port --agent $agent --mount-options rdmaver=2 \
		--scale "$lab_scale" --level "$(pair_levels "$dev")" \
		--json "/tmp/our-client-$dev.json"
	port=$((port + 1000)) agent=$((agent + 1))
	pair_stock "$dev" || continue
	# Headers with a live XID that cannot be parsed end the RPC with EIO, and it
	# answers Calls of the server only if it has credits for its own. An error
	# that arrives before the RPC has gone to sleep costs the connection.
	raw_run -d "v1c_junk,rev_v1,pub_short_reverse_v1,v1c_errors?the client closes the connection" \
		"stock client, $dev" client "$(lab_addr "$dev")" \
		--port $port --agent $agent --peer-version 1 \
		--scale "$lab_scale" --json "/tmp/stock-client-$dev.json"
	port=$((port + 1000)) agent=$((agent + 1))
done
cp /tmp/*.json "$LAB_OUT"
: > $PAIR/tested
pair_serve
