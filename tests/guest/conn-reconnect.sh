#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The server goes away and comes back, twice, under load. Nobody sees an
# error, nothing that was acknowledged is lost.
#
# kselftest
# timeout: 400
. /lab/lib/lab.sh

restart() {
	stop_server
	[ "$(wc -l < $NFSD/portlist)" = 0 ]
	start_server
}

both_ways() { # WORKER ROUND
	iocheck write -t -d -s "$1$2" -l 200001 -b 5001 "$D/d$1" &&
		iocheck write -t -y -s "$1$2" -l 300001 "$D/b$1" &&
		iocheck check -e -d -s "$1$2" -l 200001 -b 9001 "$D/d$1" &&
		iocheck check -e -s "$1$2" -l 300001 "$D/b$1"
}

restarted() { # DEV VERS
	local i n before

	enter restarted "$1" "$2"
	exec 7> "$D/open"
	echo one >&7
	before=$(connects)
	work_start 4 both_ways
	for _ in 1 2; do
		n=$(work_rounds)
		lab_wait 20 work_further "$n"
		restart
		n=$(work_rounds)
		lab_wait 90 work_further $((n + 4))
	done
	work_stop
	# A file that was open all the time.
	echo two >&7
	exec 7>&-
	printf 'one\ntwo\n' | cmp - "$E/open"
	[ "$(connects)" -ge $((before + 2)) ]
	for i in 1 2 3 4; do
		n=$(< "$LAB_TMP/work.$i")
		iocheck check -e -s "$i$n" -l 200001 "$E/d$i"
		iocheck check -e -s "$i$n" -l 300001 "$E/b$i"
	done
}

has_open() { [ "$(readlink "/proc/$1/fd/1")" = "$2" ]; }
in_cache() { grep -qx "pos:[[:space:]]*$2" "/proc/$1/fdinfo/1"; }

# Written while there is no server, and written back after its return. Only dd
# may have the file open: who closes it waits for the server.
dirty() { # DEV VERS
	local before size cached=y pid

	scratch dirty
	iocheck write -t -s 5 -l 2000001 "$LAB_TMP/dirty"
	mkfifo "$LAB_TMP/fifo"
	nfs "$1" "$2"
	dd of="$D/f" bs=65536 status=none < "$LAB_TMP/fifo" &
	pid=$!
	exec 8> "$LAB_TMP/fifo"
	lab_wait 20 has_open $pid "$D/f"
	before=$(connects)
	stop_server
	cat "$LAB_TMP/dirty" >&8
	lab_wait 20 in_cache $pid 2000001 || cached=n
	size=$(stat -c %s "$E/f")
	exec 8>&-
	start_server
	wait $pid
	[ $cached$size = y0 ]
	[ "$(connects)" -gt "$before" ]
	iocheck check -e -s 5 -l 2000001 "$E/f"
	rm "$LAB_TMP/dirty" "$LAB_TMP/fifo"
}

fs_start
for_all restarted "server restarted twice"
adapter || for_versions "$(by_speed "$VERSIONS" "3 4.1")" dirty "data written while the server is away"
