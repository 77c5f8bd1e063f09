#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The client has both cables in a bond, active-backup with the ARP monitor, and rxe on the
# bond; they end in a switch. The cable in use carries nothing any more, or the
# administrator changes to the other one: the work goes on within three seconds, and nothing
# is lost. TCP has the same beside it.
#
# No interface goes down: see "rxe on a bond" in Documentation/devices.md.
#
# bond_missed=N: the monitor gives up a cable after N answers that do not come, one every
#	0.1 s. With the kernel's default of 2 it gives up good ones on a busy machine.
# bond_stock=1: the stock transport as well, for the figures. The test fails then, because
#	that module has lost a connection and cannot be unloaded.
#
# timeout: 60
. /lab/tests/lib.sh
. /lab/lib/recovery.sh

LIMIT_MS=3000
ACTIVE=/sys/class/net/bond0/bonding/active_slave
REFUSED=/sys/class/infiniband/rxe0/ports/1/hw_counters/send_err

make_bond() {
	local i

	pair_modules
	modprobe bonding max_bonds=0
	ip link add bond0 type bond mode active-backup arp_ip_target 10.0.0.1 \
		arp_interval 100 arp_missed_max "${bond_missed:-10}"
	for i in eth0 eth1; do
		cable_ready $i
		ip link set $i master bond0
	done
	ip link set bond0 mtu 9000 up
	ip addr add 10.0.0.2/24 dev bond0
	lab_wait 10 both_up
	_rdma_link rxe0 rxe bond0
}

both_up() { [ "$(grep -l '^up' /sys/class/net/eth[01]/bonding_slave/mii_status | wc -l)" = 2 ]; }

tell_refused() {
	[ "$(< $REFUSED)" = 0 ] || ktap_diag "the stack has refused $(< $REFUSED) packets of rxe"
}

cut() { cable_cut "$WAS"; }
mend() { cable_mend "$WAS"; }
change() { ip link set bond0 type bond active_slave "$OTHER"; }

# three_times CASE FUNC [UNDO]
three_times() {
	local i

	undo tell_refused
	undo touch "$WORK_STOP"
	recovery_work "$1" "${MOUNTS[@]}"
	for i in 1 2 3; do
		WAS=$(< $ACTIVE)
		[ "$WAS" = eth0 ] && OTHER=eth1 || OTHER=eth0
		recovery_pause "$2" "${MOUNTS[@]}"
		[ "$(< $ACTIVE)" = "$OTHER" ]
		${3-}
		lab_wait 10 both_up
	done
	recovery_end "${MOUNTS[@]}"
	recovery_verdict $LIMIT_MS rxe
	[ "$(< $REFUSED)" = 0 ]
}

lab_allow_log "$RXE_FAULT"
lab_wait 60 listening || lab_die "there is no server"
set -e
make_bond
modprobe rpcrdma2
: > "$RESULTS"
MOUNTS=()
for dev in rxe tcp ${bond_stock:+rxe-v1}; do
	recovery_mount $dev 10.0.0.1 $RECOVERY_DIR/$dev
	MOUNTS+=("$dev=$RECOVERY_DIR/$dev")
done
ktap_run "the cable in use carries nothing any more" three_times cable cut mend
ktap_run "the administrator takes the other cable" three_times change change
