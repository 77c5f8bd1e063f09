#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# An RPC whose Reply does not come within timeo and retrans of the mount ends its
# connection, and is sent again on the next one, with NFSv4 as well. A server that
# is merely slow does not lose one connection after the other, and executes the RPC
# once.
#
# timeout: 100
# flavours: uml uml-debug
# covers: CRED-17,REC-2
. /lab/lib/lab.sh

overdue() { # DEV VERS
	local i n PIDS=()

	scratch overdue
	# A major timeout of one second and a half
	nfs "$1" "$2" timeo=5,retrans=2
	touch "$D"/{f,g}
	freeze
	for i in f g; do
		launch 1 iocheck write -d -s 1 -l 50000 "$D/$i"
	done
	lab_wait 20 stuck 2
	lab_wait 60 reconnected 1
	# With NFSv4.0 after 1.5, 3, 6 and 12 seconds, then each 12 seconds. From
	# NFSv4.1 on the server says on the second one that it has the RPC.
	lab_pause 5
	look
	n=${NOW[client.reconnects]}
	thaw
	wait_all "${PIDS[@]}"
	echo "$n connections were replaced"
	[ "$n" -le 6 ]
	for i in f g; do
		iocheck check -e -s 1 -l 50000 "$E/$i"
	done
}

fs_start ours ext4 16
for_versions "4.0 4.2" overdue "no Reply within the major timeout (C12)"
