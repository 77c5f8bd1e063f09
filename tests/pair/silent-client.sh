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
. /lab/lib/silence.sh

SILENCE=8
cut() { cable_cut "$1"; }
mend() { cable_mend "$1"; }

gone() { # client|server
	if [ "$1" = client ]; then
		[ "$(connections client)" = 0 ]
	else
		[ "$(< $PAIR/connections)" = 0 ]
	fi
}

idle() { # DEV VERS OPTS
	nfs "$1" "$2" "$3"
	lab_wait 10 not gone server
	both_notice 0 "$1"
	iocheck write -t -s 1 -l 3000 "/mnt/idle-$1-$2"
	iocheck check -e -s 1 -l 3000 "/mnt/idle-$1-$2"
	umount_nfs
	lab_wait 10 gone server
}

load() { # DEV VERS OPTS
	local file=/mnt/load-$1-$2

	nfs "$1" "$2" "timeo=6000${3:+,$3}"
	iocheck write -t -d -s 1 -l 4000000 -b 5000 "$file" &
	lab_wait 10 not gone server
	lab_wait 10 test -s "$file"
	both_notice 0 "$1"
	wait $!
	iocheck check -e -d -s 1 -l 4000000 -b 70000 "$file"
	look
	[ "${NOW[client.reconnects]}" -ge 1 ]
	umount_nfs
	lab_wait 10 gone server
}

lab_allow_log "$RXE_FAULT"
pair_net client
load_rpcrdma2 negotiate_ms=15000 silence_seconds=$SILENCE
lab_wait 60 listening || lab_die "there is no server"
for dev in $(lab_devices); do
	cable_ready "$dev"
	ktap_run "$dev NFSv3 idle, the peer is gone" idle "$dev" 3 nolock
	ktap_run "$dev NFSv4.2 load, the peer is gone" load "$dev" 4.2 ''
done
