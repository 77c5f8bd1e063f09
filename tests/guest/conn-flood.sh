#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Clients that connect without end, or stay without having been served a filehandle,
# from one address and from very many: nobody else waits for them.
#
# Where the clock counts instructions: a debug kernel needs all of its CPU for these
# connections.
#
# timeout: 120
# flavours: counted
. /lab/lib/raw.sh
. /lab/lib/crowd.sh

# Connect requests that nobody follows up, from one address and from very many, at
# five times the rate that once kept everybody else out.
flooded() { # SOURCES
	local vers alone

	for vers in 3 4.2; do
		mount_ms $vers; alone=$MS
		start_crowd 4000 $OTHERS.1 "$1" "flood 8 60"
		lab_wait 30 server_has 50
		lab_pause 1
		mount_ms $vers
		ktap_diag "NFSv$vers: a mount takes $alone ms, beside the flood $MS ms"
		kill -0 "$crowd"
		stop_crowd
		[ "$MS" -le $((alone + 1000)) ]
	done
}

# The same with clients that connect, ask for nothing they may have, and stay.
crowded() { # SOURCES
	local alone

	mount_ms 4.2; alone=$MS
	start_crowd 100 $OTHERS.1 "$1" lease connect "renew 20 1000"
	lab_wait 30 crowd_said served
	mount_ms 4.2
	ktap_diag "a mount takes $alone ms, beside the crowd $MS ms"
	kill -0 "$crowd"
	stop_crowd
	[ "$MS" -le $((alone + 1000)) ]
}

fs_start ours ext4
others
for n in 1 $NR_OTHERS; do
	ktap_run "rxe: mounts beside connect requests from $n addresses" flooded "$n"
	ktap_run "rxe: a mount beside 100 clients from $n that show nothing" crowded "$n"
done
ip addr flush to $OTHERS.0/24 dev v0
