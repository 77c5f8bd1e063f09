#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Every allocation that making a connection needs fails once, those inside the
# verbs included, the client's and the server's, while data waits to be written
# back through a hard mount: nobody sees an error, everything arrives (F-3). Needs
# failslab, so a debug kernel.
#
# timeout: 300
# covers: ERR-13 REC-5
. /lab/lib/lab.sh

# fail_allocation N: the Nth from now on. The kernel counts on for ever what
# passed the filter, and lets fail what "interval" divides.
fail_allocation() {
	COUNT=$((COUNT + $1))
	echo "$COUNT" > $FAIL_SLAB/interval
	echo 1 > $FAIL_SLAB/times
}

# It has failed; otherwise there are fewer than that.
failed() { fault_spent $FAIL_SLAB; }

# Connected again, which takes an RPC to want it.
connected_again() { # BEFORE
	: > "$D/touch"
	[ "$(connects)" -gt "$1" ]
}

reconnect() { # SEED
	local before

	before=$(connects)
	# at the next Call
	cut_start client 1 1
	iocheck write -t -y -s "$1" -l 50001 "$D/f"
	lab_wait 30 connected_again "$before"
	iocheck check -e -s "$1" -l 50001 "$E/f"
}

each_allocation() { # DEV VERS FUNCTION LEAST
	local n COUNT

	enter faults "$1" "$2"
	COUNT=$(< $FAIL_SLAB/interval)
	fault_in "$3" $FAIL_SLAB ignore-gfp-wait=N times=0
	# The kernel does not count with an interval of 1. What did not fail in the last
	# subtest is to fail now: then both numbers are the same again.
	fail_allocation $((COUNT == 1))
	until failed; do
		reconnect 0
	done
	for ((n = 1; ; n++)); do
		fail_allocation "$n"
		reconnect "$n"
		failed || break
	done
	no_fault $FAIL_SLAB
	cut_stop
	echo "$((n - 1)) allocations failed"
	[ "$n" -gt "$4" ]
}

fs_start ours
ktap_run "rxe NFSv3 every allocation of a reconnect fails (F-3)" \
	each_allocation rxe 3 client_connect_worker 50
ktap_run "rxe NFSv3 every allocation of accepting a connection fails (F-3)" \
	each_allocation rxe 3 rpcrdma2_server_accept 12
ktap_run "rxe NFSv3 every allocation for a connect request fails (F-3)" \
	each_allocation rxe 3 listener_event 2
