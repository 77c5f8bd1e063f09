#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Processes are killed in the middle of READ and WRITE, many at a time, while
# the window is 2 and the server's only thread does not answer; the Replies
# come later, to nobody. No credit is lost with them, no Reply finds a Receive
# missing (which would cost the connection), no handle of another RPC is
# invalidated (F-2).
#
# timeout: 180
# covers: RINV-18,SEC-8
. /lab/lib/lab.sh

HERD=25 BLOCK=25001
ROUNDS=$(by_speed 10 2)

full() {
	look
	[ "${NOW[client.calls_outstanding]}" = 2 ] && stuck 1
}

# Until it is killed
read_or_write() { # NUMBER
	if [ $(($1 % 2)) = 0 ]; then
		exec iocheck check -r -d -s 1 -l 500000 -b $BLOCK -a "$1" "$D/r"
	else
		exec iocheck write -d -l 90000000 -b $BLOCK -o $(($1 * BLOCK)) -a "$1" "$D/w"
	fi
}

reads_since() { [ "$(operations READ)" -gt $(($1 + HERD)) ]; }

# Some of them have read before the server answers no more.
round() {
	local p rc PIDS=()

	launch $HERD read_or_write {}
	lab_wait 20 started "${PIDS[@]}"
	lab_wait 20 reads_since "$(operations READ)"
	freeze
	lab_wait 30 full
	kill -KILL "${PIDS[@]}"
	for p in "${PIDS[@]}"; do
		rc=0
		wait "$p" || rc=$?
		[ $rc = $((128 + 9)) ]
	done
}

killed() { # DEV VERS
	local n

	scratch killed
	small_window 2
	nfs "$1" "$2"
	iocheck write -t -s 1 -l 500000 "$E/r"
	: > "$D/w"
	mark
	for ((n = 0; n < ROUNDS; n++)); do
		round
		thaw
		lab_wait 30 calls_ended
	done
	look
	counted client -eq 0 reconnects rx_malformed rx_bad_xid bad_inv_handle
	counted client -gt 0 write_chunks read_chunks
	iocheck check -e -d -s 1 -l 500000 -b $BLOCK "$D/r"
	whole_window
}

# The whole window is there for two more.
whole_window() {
	local PIDS=()

	freeze
	launch 1 iocheck write -d -s 1 -l 4096 "$D/w"
	lab_wait 30 stuck 1
	launch 1 iocheck check -d -s 1 -l 4096 "$D/r"
	lab_wait 30 full
	thaw
	wait_all "${PIDS[@]}"
}

fs_start ours ext4 1
for_versions "3 4.2" killed "$((ROUNDS * HERD)) processes killed (F-2)"
