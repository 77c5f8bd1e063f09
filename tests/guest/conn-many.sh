#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Many clients connect at once, as after a restart of the server, and its
# threads are busy: all of them get in. Clients that only keep their lease keep it, and
# nfsd's limit of connections is obeyed. Connections that fail take a few lines of the
# log. conn-flood has those who mean harm.
#
# timeout: 200
. /lab/lib/raw.sh
. /lab/lib/crowd.sh

# The one thread hangs in a WRITE while they come.
waiting() { # DEV VERS
	enter waiting "$1" "$2"
	iocheck write -t -s 1 -l 4096 "$D/f"
	exec 8<> "$D/f"
	nfsd_threads 1
	freeze
	dd if=/dev/zero bs=4096 count=1 oflag=direct status=none >&8 &
	writer=$!
	lab_wait 30 stuck 1
	rpcrdma2-conform server "$(lab_addr "$1")" bound_connects --module \
		--scale $((2 * lab_scale)) > "$LAB_TMP/many" 2>&1 &
	many=$!
	lab_pause "$3"
	thaw
	wait "$writer"
	wait "$many" || { cat "$LAB_TMP/many"; return 1; }
	exec 8>&-
}

# The same with room for a few only: a client's CM asks again, but for iWARP.
no_room() {
	parameter server_backlog 8
	waiting "$1" "$2" "$3"
}

# Newer kernels have the file, and ignore it.
has_max_connections() { older_than 6.13; }

# Clients that only keep their lease: all of them at once, then in turn.
leases() {
	start_crowd 100 $OTHERS.1 1 lease connect "renew 12 4000"
	lab_wait 60 crowd_said renewed
	stop_crowd
	crowd_said "again 0"
	[[ $(< "$LAB_TMP/crowd") =~ renewed\ ([0-9]+)\ wait\ ([0-9]+)\ gap\ ([0-9]+) ]]
	[ "${BASH_REMATCH[1]}" -ge 200 ]
	[ "${BASH_REMATCH[2]}" -le $((1000 * lab_scale)) ]
	[ "${BASH_REMATCH[3]}" -le $((5000 + 1000 * lab_scale)) ]
	lab_wait 60 server_has_only 0
}

# keeps MAX_CONNECTIONS KEPT: of 100 clients that were served no filehandle
keeps() {
	echo "$1" > $NFSD/max_connections
	# Each thread of nfsd takes note after its next Call.
	mount_ms 3
	start_crowd 100 $OTHERS.1 100 lease connect
	lab_wait 30 crowd_said served || { stop_crowd; return 1; }
	lab_wait 10 server_has_only "$2"
	stop_crowd
	echo 0 > $NFSD/max_connections
	mount_ms 3
	lab_wait 60 server_has_only 0
}

# fault_crowd CLIENTS SOURCE SOURCES: they are served, then their connections fail.
fault_crowd() {
	start_crowd "$@" connect fault
	lab_wait 60 crowd_said closed || { stop_crowd; return 1; }
	stop_crowd
}

# lost NETWORK: lines about that
lost() { logged "rpcrdma2: $1[0-9:]*: connection lost" | wc -l; }

# Of one address there are four lines in five seconds, whatever fails. Eight others have
# lines of their own: each shares the limit of the first one only by chance, 1 in 16.
log_lines() {
	local start=$SECONDS lines

	mark_log
	fault_crowd 40 $OTHERS.1 1
	fault_crowd 8 $OTHERS.2 8
	lines=$(lost "$OTHERS.1:")
	[ "$lines" -ge 1 ]
	[ "$lines" -le $((4 * (2 + (SECONDS - start) / 5))) ]
	[ "$(lost "$OTHERS.[2-9]:")" -ge 1 ]
	lab_wait 60 server_has_only 0
}

fs_start ours ext4
for dev in $(lab_devices); do
	ktap_run "$dev: 80 clients wait for a thread" waiting "$dev" 3 2
done
ktap_run "rxe: 80 clients where 8 can wait" no_room rxe 3 2
others
ktap_run "rxe: 100 clients keep their leases" leases
ktap_run "rxe: nfsd's limit is obeyed" keeps 0 48
if has_max_connections; then
	ktap_run "rxe: max_connections 20 is obeyed" keeps 20 15
	ktap_run "rxe: max_connections 4000 is obeyed" keeps 4000 100
fi
ktap_run "rxe: connections that fail do not fill the log (S16)" log_lines
ip addr flush to $OTHERS.0/24 dev v0
