#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Versions under trouble: a link that is slow and loses packets while
# connections are made does not lead to version 1 (F-5), nor does one on which a
# message takes longer, there and back, than a server may take to answer CONNPROP
# (C20); and a mount of which one of four connections has fallen back shows that and
# works (F-12).
#
# flavours: uml uml-debug
# covers: VER-14
. /lab/lib/lab.sh

# versions: of the client's connections, sorted, in one line
versions() { said client version | sort | tr '\n' ' '; }

# ---- F-5, C20 ----

# What siw sends to an address of this guest passes by lo. The time limit of
# the negotiation is for servers that do not answer; whether a slow machine
# with a slow link keeps it is not the question.
slow_link() { # DEV VERS NEGOTIATE-MS NETEM...
	parameter negotiate_ms "$3"
	scratch slow
	tc qdisc add dev lo root netem "${@:4}"
	undo tc qdisc del dev lo root
	nfs "$1" "$2"
	tc qdisc del dev lo root
	[ "$(versions)" = "2 " ]
	said client version_reason_text | grep -x 'CONNPROP answered'
	look
	counted client -eq 0 fallbacks
	iocheck write -t -d -s 1 -l 100001 "$D/f"
	iocheck check -e -d -s 1 -l 100001 "$D/f"
}

# ---- F-12 ----

have_versions() { [ "$(versions)" = "$1" ]; }

io() { # SEED
	local i

	at_once 4 iocheck write -t -d -s "$1{}" -l 100001 -b 9001 "$D/f{}"
	for i in 1 2 3 4; do
		iocheck check -e -d -s "$1$i" -l 100001 -b 7001 "$D/f$i"
		iocheck check -e -s "$1$i" -l 100001 "$E/f$i"
	done
}

one_of_four() { # DEV VERS
	enter nconnect "$1" "$2" nconnect=4
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
}

fs_start ours
if has siw; then
	lab_modprobe sch_netem
	ktap_run "siw NFSv4.2 mounted over a slow link (F-5)" \
		slow_link siw 4.2 10000 delay 100ms 50ms
	ktap_run "siw NFSv4.2 mounted over a link with losses (F-5)" \
		slow_link siw 4.2 10000 delay 20ms loss 5%
	ktap_run "siw NFSv4.2 an answer takes longer than it may (C20)" \
		slow_link siw 4.2 1000 delay 800ms limit 10000
fi
[ ! -e $FAIL_SUNRPC ] ||
	for_versions "3 4.2" one_of_four "one of four connections is version 1 (F-12)"
