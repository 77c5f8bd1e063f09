#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The server goes away and comes back, twice, under load. Nobody sees an
# error, nothing that was acknowledged is lost.
#
# kselftest
# timeout: 400
# flavours: uml-debug
. /lab/lib/lab.sh
. /lab/lib/fs.sh

restart() {
	echo 0 > $NFSD/threads
	[ "$(wc -l < $NFSD/portlist)" = 0 ]
	lab_nfsd
	fs_listen
}

# worker NUMBER: rounds of writing and reading until told to stop. Each round
# that ended says so.
worker() {
	local n=0

	while [ ! -e "$LAB_TMP/stop" ]; do
		n=$((n + 1))
		iocheck write -t -d -s "$1$n" -l 200001 -b 5001 "$D/d$1" || return 1
		iocheck write -t -y -s "$1$n" -l 300001 "$D/b$1" || return 1
		iocheck check -e -d -s "$1$n" -l 200001 -b 9001 "$D/d$1" || return 1
		iocheck check -e -s "$1$n" -l 300001 "$D/b$1" || return 1
		echo "$n" > "$LAB_TMP/round$1"
	done
}

# Sets ROUNDS to the sum of finished rounds.
rounds() {
	local f n

	ROUNDS=0
	for f in "$LAB_TMP"/round[1-4]; do
		# Just being written, or not yet
		n=0
		read -r n < "$f" || true
		ROUNDS=$((ROUNDS + n))
	done 2> /dev/null
}

further() { # THAN
	local -

	set +x
	rounds
	[ "$ROUNDS" -gt "$1" ]
}

restarted() { # DEV VERS
	local i n pids=() before

	scratch restarted
	rm -f "$LAB_TMP"/round* "$LAB_TMP/stop"
	nfs "$1" "$2"
	exec 7> "$D/open"
	echo one >&7
	before=$(connects)
	for i in 1 2 3 4; do
		worker $i &
		pids+=($!)
	done
	for n in 1 2; do
		rounds
		lab_wait 20 further "$ROUNDS"
		restart
		rounds
		lab_wait 90 further $((ROUNDS + 4))
	done
	touch "$LAB_TMP/stop"
	wait_all "${pids[@]}"
	# A file that was open all the time.
	echo two >&7
	exec 7>&-
	printf 'one\ntwo\n' | cmp - "$E/open"
	[ "$(connects)" -ge $((before + 2)) ]
	for i in 1 2 3 4; do
		n=$(< "$LAB_TMP/round$i")
		iocheck check -e -s "$i$n" -l 200001 "$E/d$i"
		iocheck check -e -s "$i$n" -l 300001 "$E/b$i"
	done
	umount_nfs
	none_left
	rm -r "$E"
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
	echo 0 > $NFSD/threads
	cat "$LAB_TMP/dirty" >&8
	lab_wait 20 in_cache $pid 2000001 || cached=n
	size=$(stat -c %s "$E/f")
	exec 8>&-
	lab_nfsd
	fs_listen
	wait $pid
	[ $cached$size = y0 ]
	[ "$(connects)" -gt "$before" ]
	iocheck check -e -s 5 -l 2000001 "$E/f"
	rm "$LAB_TMP/dirty" "$LAB_TMP/fifo"
	umount_nfs
	none_left
	rm -r "$E"
}

fs_start
for_all restarted "server restarted twice"
adapter || for_versions "$(by_speed "$VERSIONS" "3 4.1")" dirty "data written while the server is away"
