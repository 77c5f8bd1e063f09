#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A peer that is gone without a word costs its connection within
# silence_seconds, on either side, under load and idle; a peer that has nothing
# to say, or is only slow, keeps it, whatever its version. Cut here is TCP,
# below siw: rxe does not use the network from a guest to itself, so that
# tests/pair/silent-client.sh has rxe, and two machines.
#
# timeout: 200
# covers: CRED-17
. /lab/lib/lab.sh
. /lab/lib/silence.sh

SILENCE=2
THIRD=/run/third FOURTH=/run/fourth
# No client renews its lease while connections are idle: siw loses a connection if a probe
# meets a short Send (Documentation/devices.md).
LEASE=90

gone() { [ "$(connections "$1")" = 0 ]; }

# Several times as long as a dead peer has, nobody says anything: every
# connection is still the same one, and was asked after its peer.
kept() {
	probes > "$LAB_TMP/before"
	lab_pause $((4 * SILENCE))
	probes > "$LAB_TMP/after"
	cat "$LAB_TMP"/{before,after}
	awk 'NR == FNR { was[$1] = $2; n++; next }
		!($1 in was) || $2 < was[$1] + 2 { bad = 1 }
		{ n-- }
		END { exit bad || n || !NR }' "$LAB_TMP"/{before,after}
}

# probes: of each connection, by its id
probes() {
	rpcrdma2 show |
		awk '$1 == "id:" { id = $2 } $1 == "probes:" { print id, $2 }'
}

# Of both versions, with both ends ours, and with the kernel's own client and
# server. Its server takes no RDMA Reads over rxe.
mount_all() { # DEV
	nfs "$1" 3 timeo=6000
	nfs "$1" 4.2 nosharecache,timeo=6000 $SECOND
	mount_nfs "$1" 3 nosharecache,port=20050 $THIRD
	mount_nfs "$1-v1" 3 nosharecache,port=20049 $FOURTH
	[ "$(connections client)" = 3 ]
	[ "$(connections server)" = 3 ]
	[ "$(rpcrdma2 show | grep -cx 'version: 1')" = 2 ]
	AT_END=
}

idle() { # DEV
	mount_all "$1"
	kept
}

# Writers wait inside the server.
slow() { # DEV
	local d PIDS=()

	scratch slow
	freeze
	for d in /mnt $SECOND $FOURTH; do
		launch 1 iocheck write -t -d -s 1 -l 50000 "$d/slow/${d##*/}"
	done
	lab_wait 20 stuck 3
	mark
	kept
	look
	thaw
	# Two of our clients wait for Replies, and ask four times as often as the third:
	# 72 times, or 24 if it were no more often than that.
	[ "${GREW[client.probes]}" -ge 40 ]
	wait_all "${PIDS[@]}"
	for d in /mnt $SECOND $FOURTH; do
		iocheck check -e -s 1 -l 50000 "$E/${d##*/}"
		umount_nfs "$d"
	done
	umount_nfs $THIRD
	none_left
	rm -r "$E"
}

cut() { tc qdisc add dev lo root netem loss 100%; }
mend() { tc qdisc del dev lo root; }

# A peer has at least half of the time to answer.
cut_idle() { # DEV VERS
	enter cut "$1" "$2"
	: > "$D/f"
	lab_wait 10 calls_ended
	both_notice $((500 * SILENCE))
	iocheck write -t -s 1 -l 3000 "$D/f"
	iocheck check -e -s 1 -l 3000 "$E/f"
}

# Calls on their way, and for NFSv4 no timer that would send them again.
cut_load() { # DEV VERS
	enter cut "$1" "$2" timeo=6000
	iocheck write -t -d -s 1 -l 3000000 -b 5000 "$D/f" &
	lab_wait 10 test -s "$E/f"
	both_notice $((500 * SILENCE))
	wait $!
	iocheck check -e -s 1 -l 3000000 "$E/f"
	lab_wait 10 reconnected
}

lab_modprobe sch_netem
fs_start ours ext4
lab_listen rdma 20050
LISTENERS=$(< /sys/module/rpcrdma2/refcnt)
echo $SILENCE > $PARAMETERS/silence_seconds
for dev in $(lab_devices); do
	ktap_run "$dev idle connections are kept" idle "$dev"
	ktap_run "$dev a slow server keeps its connections" slow "$dev"
done
if has siw; then
	for vers in 3 4.2; do
		ktap_run "siw NFSv$vers idle, the peer is gone" cut_idle siw $vers
		ktap_run "siw NFSv$vers load, the peer is gone" cut_load siw $vers
	done
fi
