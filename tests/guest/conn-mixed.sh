#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Versions under trouble: a link that is slow and loses packets while
# connections are made does not lead to version 1 (F-5), and a mount of which
# one of four connections has fallen back shows that and works (F-12).
#
# timeout: 60
# flavours: uml-debug
. /lab/lib/lab.sh
. /lab/lib/fs.sh

# versions: of the client's connections, sorted, in one line
versions() { said client version | sort | tr '\n' ' '; }

# ---- F-5 ----

# What siw sends to an address of this guest passes by lo. The time limit of
# the negotiation is for servers that do not answer; whether a slow machine
# with a slow link keeps it is not the question.
slow_link() { # DEV VERS NETEM...
	scratch slow
	echo 10000 > $PARAMETERS/negotiate_ms
	tc qdisc add dev lo root netem "${@:3}"
	nfs "$1" "$2" || { tc qdisc del dev lo root; return 1; }
	tc qdisc del dev lo root
	[ "$(versions)" = "2 " ]
	look
	counted client -eq 0 fallbacks
	echo 2000 > $PARAMETERS/negotiate_ms
	iocheck write -t -d -s 1 -l 100001 "$D/f"
	iocheck check -e -d -s 1 -l 100001 "$D/f"
	umount_nfs
	none_left
	rm -r "$E"
}

delayed() { slow_link "$1" "$2" delay 100ms 50ms; }
lossy() { slow_link "$1" "$2" delay 20ms loss 5%; }

# ---- F-12 ----

have_versions() { [ "$(versions)" = "$1" ]; }

io() { # SEED
	local i pids=()

	for i in 1 2 3 4; do
		iocheck write -t -d -s "$1$i" -l 100001 -b 9001 "$D/f$i" &
		pids+=($!)
	done
	wait_all "${pids[@]}"
	for i in 1 2 3 4; do
		iocheck check -e -d -s "$1$i" -l 100001 -b 7001 "$D/f$i"
		iocheck check -e -s "$1$i" -l 100001 "$E/f$i"
	done
}

one_of_four() { # DEV VERS
	scratch nconnect
	nfs "$1" "$2" nconnect=4
	io 1
	have_versions "2 2 2 2 "
	by_default server versions v1
	cut_start client 1 1
	io 2
	lab_wait 10 cuts_done
	cut_stop
	lab_wait 10 have_versions "1 2 2 2 "
	io 3
	have_versions "1 2 2 2 "
	by_default server versions both
	umount_nfs
	none_left
	rm -r "$E"
}

have_rdma2 || ktap_skip_all "needs rpcrdma2"
fs_start
ktap_run "siw NFSv4.2 mounted over a slow link (F-5)" delayed siw 4.2
ktap_run "siw NFSv4.2 mounted over a link with losses (F-5)" lossy siw 4.2
[ ! -e $FAIL_SUNRPC ] ||
	for_versions "3 4.2" one_of_four "one of four connections is version 1 (F-12)"
