#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Many clients that only renew a lease, from one address and from many: all keep the
# lease while the server is stopped and started, and none waits long for an answer.
# The leases are not nfsd's: crowd makes Calls of the NULL procedure. So no client is
# served a filehandle, and sunrpc allows 64 of these connections at a time.
#
# make check-thousand has a thousand of them: thousand_clients=1000
#
# timeout: 240
# flavours: uml counted
. /lab/lib/lab.sh
. /lab/lib/crowd.sh

CLIENTS=${thousand_clients:-100}
# Each renews three times in the length of a lease. Most need a connection for that: 33
# connections a second, whatever the number of clients.
RENEW_MS=$((30 * CLIENTS))
LEASE_MS=$((3 * RENEW_MS))
# From when the server is back, and as long as it is there. Where the clock does not
# count instructions, other work of the machine takes its part.
WAIT_MS=1000
lab_is counted || WAIT_MS=$((WAIT_MS * lab_scale))

# Half a lease, a restart that takes a second and what it needs, a whole lease
keep() { # SOURCES
	local lease=$((LEASE_MS / 1000))

	start_crowd $CLIENTS $OTHERS.1 "$1" lease connect "renew $lease $RENEW_MS"
	lab_wait 60 crowd_said served || { stop_crowd; return 1; }
	lab_pause $((lease / 2))
	kill -USR1 "$crowd"
	echo 0 > $NFSD/threads
	lab_pause 1
	lab_nfsd
	lab_listen rdma2 20049
	kill -USR2 "$crowd" || true
	lab_wait $((2 * lease)) crowd_said renewed || { stop_crowd; return 1; }
	ktap_diag "of $1, a Call each $RENEW_MS ms:" $(< "$LAB_TMP/crowd")
	stop_crowd
	[[ $(< "$LAB_TMP/crowd") =~ renewed\ ([0-9]+)\ wait\ ([0-9]+)\ gap\ ([0-9]+) ]]
	[ "${BASH_REMATCH[1]}" -ge $((4 * CLIENTS)) ]
	[ "${BASH_REMATCH[2]}" -le $WAIT_MS ]
	[ "${BASH_REMATCH[3]}" -lt $LEASE_MS ]
	lab_wait 60 server_has_only 0
}

fs_start ours
others
for n in 1 $NR_OTHERS; do
	ktap_run "rxe: $CLIENTS clients from $n addresses keep their leases" keep "$n"
done
ip addr flush to $OTHERS.0/24 dev v0
