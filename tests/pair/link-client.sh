#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A link that is slow and loses packets, and for siw, which has TCP for that,
# repeats and reorders them: while connections are made it does not lead to
# version 1 (F-5), and under load everything is slower, nothing else. A link that
# goes down and comes back, or an address that changes, ends the connection; the
# load goes on over a new one (F-15). Not over rxe, and not with NFSv4, which
# leaves it to TCP: see Documentation/devices.md.
#
# timeout: 240
. /lab/tests/lib.sh

# bad_link DEV NETEM...: what the client sends, answers to the server's data
# included.
bad_link() {
	undo good_link "$1"
	tc qdisc add dev "${CABLE[$1]}" root netem "${@:2}"
}
good_link() { tc qdisc del dev "${CABLE[$1]}" root; }

# Whether a slow machine with a slow link keeps the time limit of the
# negotiation is not the question.
slow_link() { # DEV VERS NETEM...
	local file=/mnt/link-$1-$2 opts=

	[ "$2" != 3 ] || opts=nolock
	bad_link "$1" "${@:3}"
	nfs "$1" "$2" "$opts"
	good_link "$1"
	look
	[ "${NOW[client.version]}" = 2 ]
	[ "${NOW[client.fallbacks]}" = 0 ]
	iocheck write -t -d -s 1 -l 100001 "$file"
	iocheck check -e -d -s 1 -l 100001 "$file"
	umount_nfs
}

# rxe takes an acknowledgment that comes twice or late for an error.
jitter() { [ "$1" = rxe ] || echo 50ms; }
disorder() { [ "$1" = rxe ] || echo duplicate 1% reorder 5%; }

# shellcheck disable=SC2046 # none or several words
delayed() { slow_link "$1" "$2" delay 100ms $(jitter "$1"); }
lossy() { slow_link "$1" "$2" delay 20ms loss 5%; }

job() { # write|check BLOCK FILE NUMBER
	local how=-e

	[ "$1" = check ] || how=-t
	iocheck "$1" $how -d -s "$4" -l 500001 -b $(($4 * $2)) "$3$4"
}

# Every size of message, inline and by chunks, both ways.
load() { # DEV VERS
	nfs "$1" "$2"
	# shellcheck disable=SC2046 # none or several words
	bad_link "$1" delay 2ms loss 1% $(disorder "$1")
	at_once 3 job write 9001 "/mnt/load-$1-$2" {}
	at_once 3 job check 7001 "/mnt/load-$1-$2" {}
	good_link "$1"
	look
	[ "${NOW[client.version]}" = 2 ]
	umount_nfs
}

# ---- while files are written and read ----

ready() { said client state | grep -qx ready; }
lost() { ! ready; }
connected_again() { [ "$(connects)" -gt "$BEFORE" ]; }

# under_load EVENT DEV VERS: what happens to the link ends the connection, not
# the work. Time limits are short so that a silent peer is noticed soon.
under_load() {
	local n opts=timeo=50

	[ "$3" != 3 ] || opts+=,nolock
	nfs "$2" "$3" "$opts"
	BEFORE=$(connects)
	work_start 1 write_and_check "/mnt/$1-$2-$3"
	"$1" "$2"
	n=$(work_rounds)
	lab_wait 12 work_further "$n"
	work_stop
	connected_again
	look
	[ "${NOW[client.version]}" = 2 ]
	umount_nfs
}

# The cable is out until that has been noticed.
unplugged() { # DEV
	ip link set "${CABLE[$1]}" down
	lab_wait 12 lost
	ip link set "${CABLE[$1]}" up
}

# Another address, and no way to be reached at the old one.
moved() { # DEV
	local dev=${CABLE[$1]} old host

	old=$(ip -4 -o addr show dev "$dev" | awk '{ print $4; exit }')
	host=${old%/*}
	ip addr del "$old" dev "$dev"
	ip addr add "${host%.*}.$((${host##*.} + 1))/24" dev "$dev"
	lab_wait 12 connected_again
}

lab_modprobe sch_netem
lab_allow_log "$RXE_FAULT"
pair_net client
load_rpcrdma2
echo 15000 > $PARAMETERS/negotiate_ms
lab_wait 60 listening
for dev in $(lab_devices); do
	ktap_run "$dev NFSv4.2 mounted over a slow link (F-5)" delayed "$dev" 4.2
	ktap_run "$dev NFSv3 mounted over a link with losses (F-5)" lossy "$dev" 3
	ktap_run "$dev NFSv4.2 load on a bad link" load "$dev" 4.2
done
if has siw; then
	ktap_run "siw NFSv3 link down and up under load (F-15)" \
		under_load unplugged siw 3
	ktap_run "siw NFSv3 another address under load (F-15)" \
		under_load moved siw 3
fi
