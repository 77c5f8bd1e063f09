#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The connection is cut again and again, by the client and by the server, in
# the middle of verified I/O (F-17). Needs fail_sunrpc, so a debug kernel.
#
# timeout: 90
# flavours: uml-debug qemu-debug
. /lab/lib/lab.sh
. /lab/lib/fs.sh

worker() { # NUMBER
	local n=0

	while [ ! -e "$LAB_TMP/stop" ]; do
		n=$((n + 1))
		iocheck write -t -d -s "$1$n" -l 150001 -b 9001 "$D/d$1" || return 1
		iocheck check -e -d -s "$1$n" -l 150001 -b 5001 "$D/d$1" || return 1
		iocheck write -t -y -s "$1$n" -l 200001 "$D/b$1" || return 1
		iocheck check -e -s "$1$n" -l 200001 "$E/b$1" || return 1
		mkdir "$D/e$1" || return 1
		mv "$D/e$1" "$D/f$1" || return 1
		rmdir "$D/f$1" || return 1
	done
}

cut() { # DEV VERS WHO
	local i pids=() before

	scratch cut
	rm -f "$LAB_TMP/stop"
	nfs "$1" "$2"
	before=$(connects)
	cut_start "$3" 20 10
	for i in 1 2 3; do
		worker $i &
		pids+=($!)
	done
	lab_wait 60 cuts_done || { cut_stop; return 1; }
	cut_stop
	touch "$LAB_TMP/stop"
	wait_all "${pids[@]}"
	[ "$(connects)" -ge $((before + 3)) ]
	umount_nfs
	none_left
	rm -r "$E"
}

by_client() { cut "$1" "$2" client; }
by_server() { cut "$1" "$2" server; }

fs_start
for_all by_client "cut by the client (F-17)"
for_all by_server "cut by the server (F-17)"
