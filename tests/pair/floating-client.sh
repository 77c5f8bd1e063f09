#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The address of the server moves from one of its adapters to the other, as it does from
# node to node of a cluster: the work goes on within three seconds, and nothing is lost.
# TCP and the stock transport, which has no limit here, have the same beside it.
#
# timeout: 60
# alone: other work on the machine shows in the figures; make check-floating runs it
. /lab/tests/lib.sh
. /lab/lib/recovery.sh

LIMIT_MS=3000

# Where the client sends to
mac() { ip neigh show to 10.0.2.1 dev br0 | sed -n 's/.* lladdr \([^ ]*\).*/\1/p'; }

move() {
	: > $PAIR/move
	lab_wait 10 eval '[ ! -e $PAIR/move ]'
}

moves() {
	local i was

	undo touch "$WORK_STOP"
	recovery_work move "${MOUNTS[@]}"
	for i in 1 2 3; do
		was=$(mac)
		recovery_pause move "${MOUNTS[@]}"
		[ "$(mac)" != "$was" ]
	done
	recovery_end "${MOUNTS[@]}"
	recovery_verdict $LIMIT_MS rxe
}

lab_allow_log "$RXE_FAULT"
lab_wait 60 listening || lab_die "there is no server"
set -e
pair_switch 10.0.2.2
modprobe rpcrdma2
: > "$RESULTS"
MOUNTS=()
for dev in rxe tcp rxe-v1; do
	recovery_mount $dev 10.0.2.1 $RECOVERY_DIR/$dev
	MOUNTS+=("$dev=$RECOVERY_DIR/$dev")
done
ktap_run "the server's address moves three times" moves
