#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# An NFS server that restarts every few seconds while the client says so, with
# other credits each time, and asks the client for other sizes in between.
#
# timeout: 210
. /lab/tests/lib.sh

lab_nfsd() { nfsd_with_grace; }

TURNS=("4 2" "64 8" "16 16" "128 64")

restart() { # CREDITS FIRST
	echo 0 > $NFSD/threads
	if ours; then
		by_default server credits "$1"
		echo "$2" > $PARAMETERS/server_first_credits
	fi
	lab_nfsd
	fs_listen
}

# second N: what is done in this second of the load. The client may be on its way
# back just now.
second_of_load() {
	[ $(($1 % 3)) != 0 ] ||
		tell server rbsiz $((4096 << ($1 % 5))) 2> /dev/null || true
	# shellcheck disable=SC2086 # words
	[ $(($1 % 7)) != 5 ] || restart ${TURNS[$1 / 7 % ${#TURNS[@]}]}
}

lab_allow_log "$RXE_FAULT"
pair_net server
lab_server
fs_listen
! ours || by_default server recv_size 4096 recv_max 65536
pair_listening
n=0
until [ -e $PAIR/stop ]; do
	[ ! -e $PAIR/load ] || second_of_load $((n++))
	lab_pause 1
done
ktap_ok "asked to stop"
