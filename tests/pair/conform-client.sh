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

# Kernel threads that set up or recover what NFSv4 clients have with a server
managers() { grep -l -- -manage /proc/[0-9]*/comm 2> /dev/null | cut -d/ -f3; }
no_managers() { [ -z "$(managers)" ]; }

# As root, who may mount; ends when the kit has gone through its cases.
agent() { # DEV PORT
	until rpcrdma2-conform agent "$(lab_addr "$1")" "$2"; do
		[ ! -e $PAIR/tested ] || lab_die "nobody wants agent $2"
		lab_pause 1
	done
}

: > $PAIR/clients
port=20901
for dev in $(lab_devices); do
	agent "$dev" $port
	port=$((port + 1))
	ktap_run "our client waits for no server that is gone, $dev" \
		lab_wait 60 no_managers
	pair_stock "$dev" || continue
	agent "$dev" $port
	port=$((port + 1))
	# A case that fails takes its server away in the middle of a mount (rev_v1
	# does, see conform-server.sh). The thread of that mount goes on asking for
	# it, and holds rpcrdma, until it is killed.
	for manager in $(managers); do
		kill -KILL "$manager"
	done
	ktap_run "the stock client's threads can be killed, $dev" \
		lab_wait 60 no_managers
done
ktap_ok "agents went through all cases"
