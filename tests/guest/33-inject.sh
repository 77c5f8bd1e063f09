#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The connection is cut again and again, by the client and by the server, in
# the middle of verified I/O (F-17). Needs fail_sunrpc, so a debug kernel.
#
# timeout: 90
# flavours: uml-debug
. /lab/lib/lab.sh
. /lab/lib/fs.sh

FAIL=/sys/kernel/debug/fail_sunrpc

# inject WHO EVERY TIMES: cuts the connection at one in EVERY chances.
inject() {
	local ignore_client=N ignore_server=N

	[ "$1" != server ] || ignore_client=Y
	[ "$1" != client ] || ignore_server=Y
	echo 0 > $FAIL/verbose
	echo Y > $FAIL/ignore-cache-wait
	echo $ignore_client > $FAIL/ignore-client-disconnect
	echo $ignore_server > $FAIL/ignore-server-disconnect
	echo "$2" > $FAIL/interval
	echo "$3" > $FAIL/times
	echo 100 > $FAIL/probability
}

stop() { echo 0 > $FAIL/probability; }

connects() { xprt_lines | awk '{ print $5 }'; }

# All that was to be injected has been.
spent() { [ "$(< $FAIL/times)" = 0 ]; }

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
	inject "$3" 20 10
	for i in 1 2 3; do
		worker $i &
		pids+=($!)
	done
	lab_wait 60 spent || { stop; return 1; }
	stop
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
