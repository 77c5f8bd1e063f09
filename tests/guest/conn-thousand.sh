#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Very many clients of one server, some of them mounts, the others all in one process
# (src/crowd.c): all are served and none is refused when they come at once, at first
# and after the server was stopped; what they cost is what they should, and does not
# grow; hostile clients beside them do not matter.
#
# make check-thousand has a thousand of them, and ten minutes of work:
# thousand_clients=1000 thousand_seconds=600
#
# timeout: 240
# flavours: uml counted
. /lab/lib/lab.sh
. /lab/lib/crowd.sh

# More than nfsd keeps that it has served no filehandle, which are 64
CLIENTS=${thousand_clients:-100}
# A second takes a minute where the clock counts instructions, and no two runs differ.
lab_is counted && SECS=2 || SECS=8
SECS=${thousand_seconds:-$SECS}
MOUNTS=$((CLIENTS / 100 + 2))
RAW=$((CLIENTS - MOUNTS))

# KiB. What an idle client that only asks for attributes costs the server is to be
# computed: 18 Receives (4 credits, for which crowd asks, and 14 for other messages),
# with 2 that are ready, and 2 buffers for Sends, all of 20 KiB, whatever the client
# receives; the state of each entry of the send queue (20); Calls (2).
IDLE_KIB=$(((18 + 2 + 2) * 20 + 20 + 2))
# The kernel's own objects for it, and all of the other end but queues; with those of
# kernels for debugging
OTHER_KIB=192
[[ $lab_flavour != *debug* ]] || OTHER_KIB=512
# What work may leave behind: the server's reply cache, for example
GROWTH_KIB=$((8192 + CLIENTS * 16))
# All share the guest's processors. So beside hostile clients a round of Calls takes longer
# than alone, but no more than so many times what it takes beside the mounts, which
# do all that they can. That is judged where the machine has nothing else to do, or the
# clock counts instructions.
FACTOR=2

# ---- the crowd ----

# ask COMMAND: what crowd says of it is in SAID; the milliseconds, if any, are in MS.
ask() {
	local -

	set +x
	echo "$1" >&"$TO_CROWD"
	read -r SAID <&"$FROM_CROWD" || { cat "$LAB_TMP/crowd"; return 1; }
	[[ $SAID =~ ' ms '([0-9]+) ]] && MS=${BASH_REMATCH[1]}
	echo "$1: $SAID"
}

# rounds CMD...: Calls of all, as long as CMD succeeds; how long one of these rounds
# takes, in the middle, is MEDIAN.
rounds() {
	local - all=()

	set +x
	while "$@"; do
		ask call > "$LAB_TMP/said" || { cat "$LAB_TMP/said"; return 1; }
		all+=("$MS")
	done
	ROUNDS=${#all[@]}
	mapfile -t all < <(printf '%s\n' "${all[@]}" | sort -n)
	MEDIAN=${all[ROUNDS / 2]}
}

# ---- mounts ----

# NFSv3: clients of NFSv4 would find that all of these addresses are one server.
mount_one() { # NUMBER
	local addr=10.0.0.$((100 + $1))

	ip addr add "$addr/24" dev v0
	RXE_ADDR=$addr nfs rxe 3 "" "/run/mount$1"
}

verified() { # NUMBER SEED
	iocheck write -t -d -s "$2" -l 70001 -b 9001 "/run/mount$1/work/d$1" &&
		iocheck check -d -s "$2" -l 70001 -b 30001 "/run/mount$1/work/d$1" &&
		iocheck write -t -y -s "$2" -l 300001 "/run/mount$1/work/b$1" &&
		iocheck check -e -s "$2" -l 300001 "$E/b$1"
}

before() { [ "$SECONDS" -lt "$1" ]; }

# busy SECONDS: everybody works.
busy() {
	work_start $MOUNTS verified
	rounds before $((SECONDS + $1))
	work_stop
	ktap_diag "$ROUNDS rounds of Calls, the median took $MEDIAN ms"
}

# ---- memory, in KiB ----

# For messages and Calls of all connections, and of those of the crowd
messages() {
	rpcrdma2 show server | awk '
		/^rbsiz: / { crowd = $5 == 4096 }
		/^(receive|send|rpc)_memory: / { all += $2; of_crowd += crowd * $2 }
		END { print int(all / 1024), int(of_crowd / 1024) }'
}

# With the freed pages that each processor keeps for itself ("count"): the kernel does
# not count these as free, and takes them back over some seconds, 8 MiB at a time.
available() {
	drop_caches
	awk '/^MemAvailable:/ { kib = $2 }
		$1 == "count:" { kib += 4 * $2 }
		END { print kib }' /proc/meminfo /proc/zoneinfo
}

# Some of what is not in use any more becomes free only later.
at_rest() {
	local last=$FREE

	FREE=$(available)
	[ $((FREE - last)) -lt $CLIENTS ] && [ $((last - FREE)) -lt $CLIENTS ]
}

# memory: sets MESSAGES and OF_CROWD, part of them, QUEUES, FREE
memory() {
	FREE=0
	lab_wait 10 at_rest
	read -r MESSAGES OF_CROWD < <(messages)
	QUEUES=$(($(rxe_queues) / 1024))	# of both ends
}

# ---- the test ----

start_server() {
	# nfsd of older kernels keeps 20 connections for each of its threads.
	lab_nfsd $((CLIENTS / 20 + 8))
	lab_listen rdma2 20049
}

come() {
	memory
	declare -p FREE QUEUES > "$LAB_TMP/before"
	ask connect
	ktap_diag "$SAID"
	each $MOUNTS mount_one {}
	server_has_only "$CLIENTS"
	ask call
}

# What is free must be less by what is said to be used, and not by much more.
cost() {
	local free queues used

	memory
	free=$FREE queues=$QUEUES
	. "$LAB_TMP/before"
	used=$((FREE - free)) queues=$((queues - QUEUES))
	ktap_diag "each client: $((OF_CROWD / RAW)) KiB for messages, with mounts" \
		"$((MESSAGES / CLIENTS)); $((queues / CLIENTS)) for queues;" \
		"$((used / CLIENTS)) of the guest"
	# As computed, to one per cent
	[ $((100 * OF_CROWD)) -ge $((99 * RAW * IDLE_KIB)) ]
	[ $((100 * OF_CROWD)) -le $((101 * RAW * IDLE_KIB)) ]
	used=$((used - MESSAGES - queues))
	[ $used -ge 0 ] && [ $used -le $((CLIENTS * OTHER_KIB)) ]
}

# Memory grows with the work under way, up to a limit. From then on it stays.
work() {
	local free used=0 tries

	for tries in {1..10}; do
		busy $((SECS < 60 ? SECS : SECS / 10))
		memory
		[ $((100 * MESSAGES)) -gt $((101 * used)) ] || break
		used=$MESSAGES
	done
	ktap_diag "$MESSAGES KiB for messages after $tries times"
	used=$MESSAGES free=$FREE
	busy "$SECS"
	declare -p MEDIAN | sed 's/MEDIAN/honest/' > "$LAB_TMP/honest"
	memory
	ktap_diag "$used KiB for messages, then $MESSAGES; of the guest $((free - FREE)) KiB more"
	[ $((100 * MESSAGES)) -le $((101 * used)) ]
	[ $((free - FREE)) -le $GROWTH_KIB ]
	server_has_only "$CLIENTS"
}

judged() { [[ -n ${thousand_clients-} ]] || lab_is counted; }

hostile() {
	local alone honest secs=$((SECS < 60 ? SECS : 60))

	. "$LAB_TMP/honest"
	rounds before $((SECONDS + secs))
	alone=$MEDIAN
	HOSTILE_SECONDS=$secs rpcrdma2-conform server "$(lab_addr rxe)" hostile_all \
		--module --export / --scale "$lab_scale" > "$LAB_TMP/hostile" 2>&1 &
	rounds kill -0 $! 2> /dev/null
	wait $! || { cat "$LAB_TMP/hostile"; return 1; }
	ktap_diag "a round of Calls: $alone ms, beside busy mounts $honest ms," \
		"beside hostile clients $MEDIAN ms ($ROUNDS rounds)"
	each $MOUNTS verified {} 7
	lab_wait 60 server_has_only "$CLIENTS"
	judged || return 0
	[ "$MEDIAN" -le $((FACTOR * honest)) ]
}

restart() { # connect|hesitate
	local start

	stop_server
	ask closed
	start_server
	start=$SECONDS
	ask "$1"
	ktap_diag "$SAID"
	each $MOUNTS verified {} 8
	server_has_only "$CLIENTS"
	ktap_diag "all of them, with mounts: $((SECONDS - start)) s"
	ask call
}

# Whatever is written to the export takes no memory of the guest from now on.
fill() {
	local -

	set +e
	dd if=/dev/zero of=/export/full bs=1M status=none 2> /dev/null
	sync
	rm /export/full
	sync
}

over() {
	kill "$CROWD_PID"
	each $MOUNTS umount "/run/mount{}"
	lab_wait 60 none_left
}

# or_end: nothing below would say anything if that failed.
or_end() { [ "$KTAP_FAILED" = 0 ] || lab_die "the crowd is not what it should be"; }

have_rdma2 || ktap_skip_all "needs rpcrdma2"
lab_export ext4 64M
fill
fs_start $((CLIENTS / 20 + 8))
scratch work
coproc CROWD {
	exec crowd "$(lab_addr rxe)" 20049 $RAW $((60 * lab_scale)) 2> "$LAB_TMP/crowd"
}
# Subshells do not have those of a coprocess.
exec {TO_CROWD}>&"${CROWD[1]}" {FROM_CROWD}<&"${CROWD[0]}"
ktap_run "$RAW clients and $MOUNTS mounts come at once" come
or_end
ktap_run "they cost what they should" cost
ktap_run "$SECS seconds of Calls and verified I/O" work
or_end
ktap_run "hostile clients beside them" hostile
or_end
ktap_run "the server goes and comes back" restart connect
or_end
ktap_run "the same, and clients are slow to see that it is back" restart hesitate
or_end
ktap_run "nothing is left" over
