#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The connection is cut again and again, by the client and by the server, in
# the middle of verified I/O (F-17). Needs fail_sunrpc, so a debug kernel.
#
# timeout: 90
# flavours: uml-debug qemu-debug
. /lab/lib/lab.sh

everything() { # WORKER ROUND
	iocheck write -t -d -s "$1$2" -l 150001 -b 9001 "$D/d$1" &&
		iocheck check -e -d -s "$1$2" -l 150001 -b 5001 "$D/d$1" &&
		iocheck write -t -y -s "$1$2" -l 200001 "$D/b$1" &&
		iocheck check -e -s "$1$2" -l 200001 "$E/b$1" &&
		mkdir "$D/e$1" &&
		mv "$D/e$1" "$D/f$1" &&
		rmdir "$D/f$1"
}

cut() { # DEV VERS WHO
	local before

	enter cut "$1" "$2"
	before=$(connects)
	work_start 3 everything
	cut_start "$3" 20 10
	lab_wait 60 cuts_done
	cut_stop
	work_stop
	[ "$(connects)" -ge $((before + 3)) ]
}

by_client() { cut "$1" "$2" client; }
by_server() { cut "$1" "$2" server; }

# Some messages wait for the send queue when it ends.
short_queues() { # CMD...
	pretend max_qp_wr 24
	"$@"
}
short_by_client() { short_queues by_client "$@"; }
short_by_server() { short_queues by_server "$@"; }

fs_start
for_all by_client "cut by the client (F-17)"
for_all by_server "cut by the server (F-17)"
for_versions 4.2 short_by_client "cut by the client, with short queues (F-17)"
for_versions 4.2 short_by_server "cut by the server, with short queues (F-17)"
