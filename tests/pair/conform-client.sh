#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The conformance kit against a server elsewhere, as an ordinary user: our server at
# all levels (over siw: must), the stock server with the cases of version 1. Then this guest is
# the client that is tested: see conform-server.sh.
#
# alone: takes long; make check-conform runs it
# timeout: 3600
. /lab/tests/lib.sh
. /lab/lib/raw.sh

lab_allow_log "$RXE_FAULT"
pair_net client
lab_modprobe rdma_ucm
load_rpcrdma2 negotiate_ms=15000
lab_wait 60 listening || lab_die "there is no server"
plain_user
for dev in $(lab_devices); do
	raw_run "our server, $dev" server "$(lab_addr "$dev")" --export / \
		--scale "$lab_scale" --level "$(pair_levels "$dev")" \
		--json "/tmp/our-server-$dev.json"
	# It sends more than 1024 bytes to whom nothing is known of, and more than
	# the private data allow.
	raw_run -d v1_threshold,cm_threshold "stock server, $dev" server "$(lab_addr "$dev")" --export / \
		--port 20050 --peer-version 1 --scale "$lab_scale" \
		--json "/tmp/stock-server-$dev.json"
done

cp /tmp/*.json "$LAB_OUT"

# As root, who may mount; each ends when the kit has gone through its cases.
: > $PAIR/clients
agent=20901
for dev in $(lab_devices); do
	for _ in ours $(conform_stock "$dev" && echo stock); do
		until rpcrdma2-conform agent "$(lab_addr "$dev")" $agent; do
			[ ! -e $PAIR/tested ] || lab_die "nobody wants agent $agent"
			lab_pause 1
		done
		agent=$((agent + 1))
	done
done
ktap_ok "agents went through all cases"
