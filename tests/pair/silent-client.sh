#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A cable that carries nothing any more, in either direction, without either
# end being told: both ends give up the connection within silence_seconds,
# idle or in the middle of its work, and the work goes on when the cable is
# mended (CRED-17).
#
# timeout: 200
# covers: CRED-17
. /lab/tests/lib.sh

SILENCE=8
declare -A CABLE=([rxe]=eth0 [siw]=eth1)

# The queueing discipline stays the same: see "rxe and a link that is down" in
# Documentation/devices.md.
carries() { tc qdisc change dev "${CABLE[$1]}" root netem loss "$2"; }

cable() { # DEV
	tc qdisc add dev "${CABLE[$1]}" root netem loss 0%
	tc qdisc add dev "${CABLE[$1]}" clsact
}

cut() { # DEV
	tc filter add dev "${CABLE[$1]}" ingress matchall action drop
	carries "$1" 100%
}

mend() { # DEV
	tc filter del dev "${CABLE[$1]}" ingress
	carries "$1" 0%
}

now_ms() { echo $((${EPOCHREALTIME/./} / 1000)); }
client_gone() { [ "$(connections client)" = 0 ]; }
server_gone() { [ "$(< $PAIR/connections)" = 0 ]; }
server_there() { ! server_gone; }

both_notice() { # DEV
	local - since side ms
	local -A noticed=()

	set +x
	since=$(now_ms)
	cut "$1"
	until [ ${#noticed[@]} = 2 ]; do
		lab_pause 0.1
		ms=$(($(now_ms) - since))
		for side in client server; do
			[ -n "${noticed[$side]-}" ] || ! ${side}_gone ||
				noticed[$side]=$ms
		done
		[ $ms -le $((3000 * SILENCE)) ] || break
	done
	mend "$1"
	ktap_diag "noticed after ms: client ${noticed[client]-never}," \
		"server ${noticed[server]-never}"
	for side in client server; do
		[ "${noticed[$side]-999999}" -le \
			$((1000 * SILENCE + 1500 * lab_scale)) ] || return 1
	done
}

idle() { # DEV VERS OPTS
	nfs "$1" "$2" "$3"
	lab_wait 10 server_there
	both_notice "$1"
	iocheck write -t -s 1 -l 3000 "/mnt/idle-$1-$2"
	iocheck check -e -s 1 -l 3000 "/mnt/idle-$1-$2"
	umount_nfs
	lab_wait 10 server_gone
}

load() { # DEV VERS OPTS
	local file=/mnt/load-$1-$2

	nfs "$1" "$2" "timeo=6000${3:+,$3}"
	iocheck write -t -d -s 1 -l 4000000 -b 5000 "$file" &
	lab_wait 10 server_there
	lab_wait 10 test -s "$file"
	both_notice "$1" || return 1
	wait $!
	iocheck check -e -d -s 1 -l 4000000 -b 70000 "$file"
	look
	[ "${NOW[client.reconnects]}" -ge 1 ]
	umount_nfs
	lab_wait 10 server_gone
}

lab_modprobe sch_netem sch_ingress cls_matchall act_gact
lab_allow_log "$RXE_FAULT"
pair_net client
load_rpcrdma2 negotiate_ms=15000 silence_seconds=$SILENCE
lab_wait 60 listening || lab_die "there is no server"
for dev in $(lab_devices); do
	cable "$dev"
	ktap_run "$dev NFSv3 idle, the peer is gone" idle "$dev" 3 nolock
	ktap_run "$dev NFSv4.2 load, the peer is gone" load "$dev" 4.2 ''
done
