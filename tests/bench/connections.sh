#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Guest part of tests/bench/run --connections: the same work by one process, or by several
# at once, over one mount and over many, each with a connection of its own. Leaves in results:
#
#	time DEV ROW N OPS NANOSECONDS CONTEXT-SWITCHES	(per round)
#	insn DEV ROW@N OPS CONTEXT-SWITCHES	(recorded by the plugin, with PROFILE; with
#			CACHE_LINES, each round is recorded instead of timed)
#	memory DEV N KIND BYTES		(of all, after the load)
#
# KIND: device, the queues of rxe; messages, what rpcrdma2 says of itself; all, by
# how much less memory the guest has available.
#
# A connection is a mount from an address of its own. NFSv3, because a client of
# NFSv4 would find that all these addresses are one server, and use one connection.
#
# timeout: 900
. /lab/lib/lab.sh
. /lab/tests/params	# DEVICES ROWS ROUNDS PROFILE CACHE_LINES SCALE CONNECTIONS AT_ONCE
. /lab/tests/guest.sh

DIR=/run/mounts

# row NAME N: sets the command line. Of 16 Sends one is signaled, so 32 for each connection are
# the least that says something. All rows do the same number, also over one connection.
row() {
	local op size ops i

	row_op "$1"
	ops=$((160000000 / (40000 + 6 * size)))
	ops=$((ops * SCALE / 100))
	[ "$ops" -ge $((32 * most)) ] || ops=$((32 * most))
	args=(-n "$ops" -w $((16 * $2)) -s "$size" "$op")
	for ((i = 1; i <= $2; i++)); do
		args+=("$DIR/$i/bench/data")
	done
}

mount_all() { # DEV N
	local i

	for ((i = 1; i <= $2; i++)); do
		RXE_ADDR=$(address_of $i) mount_nfs "$1" 3 \
			rsize=1048576,wsize=1048576,nolock "$DIR/$i"
	done
}

umount_all() { # N
	local i

	for ((i = 1; i <= $1; i++)); do
		umount_nfs "$DIR/$i"
	done
	lab_wait 60 all_closed || lab_die "connections are left"
}

# The queues of rxe that are there when nobody is connected stay.
all_closed() { [ "$(rxe_queues)" = "$QUEUES" ]; }

available() { awk '/^MemAvailable:/ { print $2 * 1024 }' /proc/meminfo; }

messages() {
	rpcrdma2 show | awk '/^(receive|send|mr|rpc)_memory: / { sum += $2 }
		END { print sum + 0 }'
}

record() { # DEV ROW N
	local out

	out=$(nfsbench -p ${AT_ONCE:+-j $AT_ONCE} "${args[@]}")
	echo "insn $1 $2@$3 ${out%% *} ${out##* }" >> "$RESULTS"
}

run_rows() { # DEV N
	local r i out

	for r in $ROWS; do
		row "$r" "$2"
		for ((i = 0; i < ROUNDS; i++)); do
			if [ "$CACHE_LINES" ]; then
				record "$1" "$r" "$2"
				continue
			fi
			out=$(nfsbench ${AT_ONCE:+-j $AT_ONCE} "${args[@]}")
			echo "time $1 $r $2 $out" >> "$RESULTS"
		done
		[ -z "$PROFILE" ] || record "$1" "$r" "$2"
	done
}

connections() { # DEV N
	local before

	ktap_diag "measuring $1 with $2 connections"
	before=$(available)
	mount_all "$@"
	run_rows "$@"
	{
		echo "memory $* device $(($(rxe_queues) - QUEUES))"
		echo "memory $* all $((before - $(available)))"
		[ "$1" != rxe ] || echo "memory $* messages $(messages)"
	} >> "$RESULTS"
	umount_all "$2"
}

set -e
# Sixteen threads serve 380 connections, see svc_check_conn_limits()
bench_server 16
most=$(tr ' ' '\n' <<< "$CONNECTIONS" | sort -n | tail -n 1)
for ((i = 1; i <= most; i++)); do
	ip addr add "$(address_of "$i")/16" dev v0
done
QUEUES=$(rxe_queues)
for dev in $DEVICES; do
	# What is allocated once
	mount_all "$dev" 1
	umount_all 1
	for n in $CONNECTIONS; do
		connections "$dev" "$n"
	done
done
[ -z "$PROFILE$CACHE_LINES" ] || symbols
ktap_ok "all connections"
