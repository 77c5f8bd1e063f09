#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# How a client asks for a server that refuses it: soon again, so that the mount works
# soon after the server is back, but at growing distances and not once for each RPC that
# waits. An RPC of a soft mount ends in its time, and one of a mount at once.
#
# timeout: 160
# covers: REC-5
. /lab/lib/lab.sh

AWAY=8

refusals() { grep -c 'rpcrdma2_connected: .* value=-111' $TRACE/trace || true; }
refused() { [ "$(refusals)" -gt 0 ]; }

# Attempts follow after 0.1 s, 0.2, 0.4, 0.8, 1.6, 2, 2 seconds, and up to a quarter
# more. With 3 seconds in between it would be three or four, and as many for each
# writer if sunrpc did not queue them.
paced() { # DEV VERS
	local n first PIDS=()

	enter away "$1" "$2"
	touch "$D"/{1..8}
	trace_on rpcrdma2/rpcrdma2_connected
	stop_server
	launch 8 iocheck write -d -s {} -l 5000 "$D/{}"
	lab_wait 20 refused
	lab_pause $AWAY
	n=$(refusals)
	first=$(now_ms)
	start_server
	wait_all "${PIDS[@]}"
	echo "$n attempts in $AWAY s, work $(($(now_ms) - first)) ms after the start"
	cat $TRACE/trace
	trace_off
	[ "$n" -ge 5 ]
	[ "$n" -le 12 ]
	each 8 iocheck check -e -s {} -l 5000 "$E/{}"
}

# A major timeout of 3 seconds
soft() { # DEV VERS
	local start took rc=0

	enter away "$1" "$2" softerr,timeo=10,retrans=2
	stop_server
	start=$(now_ms)
	! mkdir "$D/dir" || rc=1
	took=$(($(now_ms) - start))
	start_server
	echo "ended after $took ms"
	[ $rc = 0 ]
	[ $took -lt 15000 ]
	# The same transport is of use again
	iocheck write -t -d -s 1 -l 5000 "$D/after"
}

# Nobody listens.
mount_refused() { # DEV VERS
	local start said

	start=$(now_ms)
	if said=$(nfs "$1" "$2" port=20099,retry=0 2>&1); then
		return 1
	fi
	echo "$said after $(($(now_ms) - start)) ms"
	grep -i refused <<< "$said"
	[ $(($(now_ms) - start)) -lt 3000 ]
	none_left
}

fs_start ours
for_versions "3 4.2" mount_refused "nobody listens"
for_versions 3 soft "a soft mount without its server"
for_versions 3 paced "a server that is away"
