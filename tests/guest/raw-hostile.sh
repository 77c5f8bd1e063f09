#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Honest mounts beside clients that mean harm (tools/conform/server/hostile.c): they
# keep a good part of their rate, no byte is wrong, the memory for connections
# stays below what Documentation/administration.md says, and so does the log.
#
# All of it shares one processor, of which hostile processes take what they can get,
# for themselves: that says nothing about the server. So what they use is taken off
# the time, and what the honest mounts then still lack is what the server has spent on
# hostile clients. From both follows what the mounts would keep if the hostile
# clients had a processor of their own, as fast as the server's and always busy:
#
#	1 - (time of the server for them) / (their own time)
#
# Times with them and without take turns, because the machine below may have other
# things to do.
#
# make check-hostile runs this for ten minutes: hostile_seconds=600. The short run only shows
# that they go on, because the figures are those of a machine that has other work:
# conn-thousand measures the same where the clock counts instructions.
#
# timeout: 260
. /lab/lib/lab.sh

TURNS=3
SECS=$((${hostile_seconds:-24} / (2 * TURNS)))

# Honest mounts keep so much of their rate, percent
KEEP=20
[ -z "${hostile_seconds-}" ] || KEEP=50

# The most for one connection, and for all (administration.md), bytes
ONE=$((20 << 20))
ALL=$((320 << 20))

honest() { # WORKER ROUND: those with an even number on the second mount
	local dir=$D

	[ $(($1 % 2)) = 1 ] || dir=$SECOND/hostile
	iocheck write -t -d -s "$1$2" -l 200001 -b 9001 "$dir/d$1" &&
		iocheck check -d -s "$1$2" -l 200001 -b 30001 "$dir/d$1" &&
		iocheck write -t -y -s "$1$2" -l 500001 "$dir/b$1" &&
		iocheck check -e -s "$1$2" -l 500001 "$E/b$1"
}

calls() {
	look
	N=$((${NOW[client.tx_call_msg]} + ${NOW[client.tx_call_nomsg]}))
}

# turn [DEV...]: Calls and milliseconds of a time with hostile clients, or
# without. Adds to N1, T1 (without the time of hostile processes) and CPU (that
# time), or to N0 and T0.
turn() {
	local - dev pids=() calls ms cpu=0 line

	set +x
	calls; calls=$N
	ms=$(now_ms)
	for dev in "$@"; do
		HOSTILE_SECONDS=$SECS rpcrdma2-conform server \
			"$(lab_addr "$dev")" hostile_all --module --export / \
			--scale "$lab_scale" > "$LAB_TMP/hostile.$dev" 2>&1 &
		pids+=($!)
	done
	if [ $# -gt 0 ]; then
		wait_all "${pids[@]}" || { cat "$LAB_TMP"/hostile.*; return 1; }
	else
		lab_pause "$SECS"
	fi
	calls; calls=$((N - calls))
	ms=$(($(now_ms) - ms))
	for dev in "$@"; do
		line=$(grep cpu_ms= "$LAB_TMP/hostile.$dev")
		echo "$dev: $line"
		[[ $line =~ cpu_ms=([0-9]+).*most_one=([0-9]+)\ most_all=([0-9]+) ]]
		cpu=$((cpu + BASH_REMATCH[1]))
		((BASH_REMATCH[2] <= MOST_ONE)) || MOST_ONE=${BASH_REMATCH[2]}
		((BASH_REMATCH[3] <= MOST_ALL)) || MOST_ALL=${BASH_REMATCH[3]}
	done
	echo "$calls Calls in $ms ms, hostile processes used $cpu ms"
	if [ $# -gt 0 ]; then
		N1=$((N1 + calls)) T1=$((T1 + ms - cpu)) CPU=$((CPU + cpu))
	else
		N0=$((N0 + calls)) T0=$((T0 + ms))
	fi
}

beside() {
	local i devs

	N0=0 T0=0 N1=0 T1=0 CPU=0 MOST_ONE=0 MOST_ALL=0
	mapfile -t devs < <(lab_devices | xargs -n 1)
	enter hostile "${devs[0]}" 4.2
	second "${devs[-1]}" 4.2
	work_start 4 honest
	lab_pause 2
	LINES_BEFORE=$(dmesg | grep -c rpcrdma2)
	for ((i = 0; i < TURNS; i++)); do
		turn
		turn "${devs[@]}"
	done
	work_stop
	declare -p N0 T0 N1 T1 CPU MOST_ONE MOST_ALL LINES_BEFORE > "$LAB_TMP/figures"
	AT_END=
}

rate() {
	local spent kept

	. "$LAB_TMP/figures"
	spent=$((T1 - N1 * T0 / N0))
	kept=$((100 - 100 * spent / CPU))
	ktap_diag "without: $N0 Calls in $T0 ms; beside hostile clients: $N1 in $T1 ms"
	ktap_diag "hostile clients used $CPU ms, the server $spent ms for them:" \
		"honest mounts keep $kept %"
	[ $kept -ge $KEEP ]
}

memory() {
	. "$LAB_TMP/figures"
	ktap_diag "most for one connection: $((MOST_ONE >> 10)) KiB, for all: $((MOST_ALL >> 10)) KiB"
	[ "$MOST_ONE" -gt 0 ] && [ "$MOST_ONE" -le $ONE ] &&
		[ "$MOST_ALL" -le $ALL ]
}

# Ten lines in five seconds is the limit for each kind of message.
log() {
	local n

	. "$LAB_TMP/figures"
	n=$(($(dmesg | grep -c rpcrdma2) - LINES_BEFORE))
	[ "$n" -le $((4 * SECS * TURNS + 20)) ]
}

only_ours() { [ "$(connections server)" -le 2 ]; }

over() {
	lab_wait 60 only_ours
	umount "$SECOND"
	umount_nfs
	lab_wait 60 none_left
}

fs_start ours ext4
ktap_run "verified I/O beside hostile clients" beside
ktap_run "honest mounts keep $KEEP % of their rate" rate
ktap_run "memory for connections is bounded" memory
ktap_run "the log is bounded" log
ktap_run "nothing is left of the hostile clients" over
