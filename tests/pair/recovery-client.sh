#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The faults of tests/bench/run --recovery that take two machines: the server loses its
# power and starts again, so that nobody tells the client of it, and the cable carries
# nothing for a while, in either direction. All transports have them at the same time,
# each on a mount of its own. See lib/recovery.sh for what is left in results.
#
# recovery_power=N recovery_cable=N say how often
#
# timeout: 200
# alone: yes
. /lab/tests/lib.sh
. /lab/lib/recovery.sh

# How long an interruption takes that a switch has when it starts again
CABLE_SECONDS=10

power_lost() {
	power_off
	power_on
	until listening; do
		lab_pause 0.02
	done
	END=$(now_ns)
}

cut_for_a_while() {
	cable_cut rxe
	lab_pause $CABLE_SECONDS
	cable_mend rxe
	END=$(now_ns)
}

faults() { # CASE FUNC TIMES
	local i

	[ "$3" != 0 ] || return 0
	recovery_work "$1" "${MOUNTS[@]}"
	for ((i = 1; i <= $3; i++)); do
		ktap_diag "$1 $i of $3"
		recovery_fault "$2" "${MOUNTS[@]}"
	done
	recovery_end "${MOUNTS[@]}"
}

lab_allow_log "$RXE_FAULT"
set -e
pair_net client
cable_ready rxe
modprobe rpcrdma2
: > "$RESULTS"
lab_wait 60 listening || lab_die "there is no server"
MOUNTS=() i=10
for dev in rxe own-v1 rxe-v1 tcp; do
	i=$((i + 1))
	recovery_mount $dev 10.0.0.$i $RECOVERY_DIR/$dev
	MOUNTS+=("$dev=$RECOVERY_DIR/$dev")
done
faults cable cut_for_a_while "${recovery_cable:-10}"
faults power power_lost "${recovery_power:-10}"
ktap_ok "all faults"
