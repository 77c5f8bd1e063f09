#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Guest part of tests/bench/run: runs the rows of the table over each transport
# in one boot on the same files, and leaves the raw figures in results.
#
#	time DEV ROW OPS NANOSECONDS CONTEXT-SWITCHES	(one line per round)
#	work DEV ROW OPS COUNT FUNCTION			(work items started)
#	task DEV ROW OPS COUNT NAME			(switches to a task)
#	wake DEV ROW OPS COUNT WAKER WOKEN
#	soft DEV ROW OPS COUNT VECTOR
#	insn DEV ROW OPS CONTEXT-SWITCHES		(recorded by the plugin)
#	many DEV ROW OPS NANOSECONDS CONTEXT-SWITCHES	(JOBS processes at once)
#	hw DEV ROW OPS EVENT COUNT			(of the adapter)
#	mount DEV LINE					(of /proc/mounts)
#
# Times and counts come from separate passes: tracing takes time.
#
# timeout: 600
. /lab/lib/lab.sh
. /lab/tests/params	# VERS DEVICES ROWS ROUNDS PROFILE ADAPTER JOBS SCALE
. /lab/tests/guest.sh

TRACE=/sys/kernel/tracing
COUNTERS=/sys/module/bench_adapter/parameters/counters
NULL=/sys/module/bench_null/parameters/run
# Of each transport the number that sunrpc has for it and the port, both for bench_null;
# what mount_nfs calls it, the versions that our client offers, and of which side
# rpcrdma2 says which version it is.
declare -A TRANSPORT=(
	[tcp]="6 2049 tcp"
	[rxe-v1]="256 20050 rxe-v1"
	[rxe]="21042 20049 rxe both client 2"
	[own-v1]="21042 20049 rxe v1 client 1"
	[own-v1-client]="21042 20050 rxe v1 client 1"
	[own-v1-server]="256 20049 rxe-v1 both server 1")

# row DEV NAME: sets the command line of a row. Enough operations for one per
# cent: what disturbs a run are timer ticks, 4 ms apart.
row() {
	local op size words ops=

	row_op "$2"
	case $2 in
	getattr | null) ops=1500 ;;
	create | unlink) ops=400 ;;
	esac
	if [ -z "$ops" ]; then
		ops=$((160000000 / (140000 + 6 * size)))
		[ "$ops" -le 1000 ] || ops=1000
	fi
	ops=$((ops * SCALE / 100))
	warmup=$((ops / 10 + 5))
	args=(-n "$ops" -w "$warmup" -s "$size")
	case $op in
	create | unlink) args+=("$op" /mnt/bench/dir) ;;
	run)
		read -r -a words <<< "${TRANSPORT[$1]}"
		args+=(-r "${words[*]::2}" run "$NULL")
		;;
	*) args+=("$op" /mnt/bench/data) ;;
	esac
}

# for_rows CMD DEV: unlink needs what create left.
for_rows() {
	local r

	mkdir -p /export/bench/dir
	for r in $ROWS; do
		row "$2" "$r"
		case " $ROWS " in
		*" create "*) ;;
		*)
			[ "${args[-2]}" != unlink ] ||
				nfsbench "${args[@]/#unlink/create}" > /dev/null
			;;
		esac
		"$@" "$r"
	done
	rm -rf /export/bench/dir
}

time_row() { # DEV ROW
	local out

	out=$(nfsbench "${args[@]}")
	echo "time $1 $2 $out" >> "$RESULTS"
}

# Histograms: trace event, keys, kind of line.
EVENTS=(
	"workqueue/workqueue_execute_start function.sym work"
	"sched/sched_switch next_comm task"
)
EVENTS_PROFILE=(
	"sched/sched_waking common_pid.execname,comm wake"
	"irq/softirq_entry vec soft"
)

# hist FILE: lines "COUNT KEY...", instances of kernel threads put together.
hist() {
	sed -nE 's/^\{ (.*) \} hitcount: +([0-9]+).*/\2 \1/p' "$1" | awk '
		{
			n = $1
			sub(/^[0-9]+ /, "")
			gsub(/\[[0-9a-f]+\] +/, "")
			gsub(/(function|next_comm|common_pid|comm|vec): +/, "")
			gsub(/\[ *[0-9]+\]/, "")
			gsub(/kworker\/u[0-9]+:[0-9]+[^ ,]*/, "kworker/u")
			gsub(/kworker\/[0-9]+:[0-9]+H[^ ,]*/, "kworker/high")
			gsub(/kworker\/[0-9]+:[0-9]+[^ ,]*/, "kworker/cpu")
			gsub(/ *, */, " ")
			gsub(/ +$/, "")
			sum[$0] += n
		}
		END { for (k in sum) print sum[k], k }'
}

count_row() { # DEV ROW
	local e file keys kind
	local -a arm=()

	for e in "${EVENTS[@]}"; do
		read -r file keys kind <<< "$e"
		file=$TRACE/events/$file
		echo "hist:keys=$keys:pause" > "$file/trigger"
		arm+=(-c "$file/trigger hist:keys=$keys:continue hist:keys=$keys:pause")
	done
	nfsbench "${arm[@]}" "${args[@]}" > "$LAB_TMP/out"
	for e in "${EVENTS[@]}"; do
		read -r file keys kind <<< "$e"
		file=$TRACE/events/$file
		hist "$file/hist" | sed "s/^/$kind $1 $2 $(cut -d' ' -f1 "$LAB_TMP/out") /"
		echo "!hist:keys=$keys" > "$file/trigger"
	done >> "$RESULTS"
}

# The plugin of qemu writes a section for each of these.
insn_row() { # DEV ROW
	local out

	out=$(nfsbench -p ${ADAPTER:+-c "$COUNTERS 1 0"} "${args[@]}")
	echo "insn $1 $2 ${out%% *} ${out##* }" >> "$RESULTS"
	[ -z "$ADAPTER" ] || sed "s/^/hw $1 $2 ${out%% *} /" $COUNTERS >> "$RESULTS"
}

# Not of what a module does, one after the other
many_row() { # DEV ROW
	case " ${args[*]} " in
	*" run "*) ;;
	*) echo "many $1 $2 $(nfsbench -j "$JOBS" "${args[@]}")" >> "$RESULTS" ;;
	esac
}

mount_device() { # DEV
	local port dev versions role version

	read -r _ port dev versions role version <<< "${TRANSPORT[$1]}"
	[ -z "$versions" ] || by_default client versions "$versions"
	mount_nfs "$dev" "$VERS" "port=$port,rsize=1048576,wsize=1048576"
	[ -z "$role" ] || said "$role" version | grep -qx "$version" ||
		lab_die "this is not version $version"
	echo "mount $1 $(grep ' /mnt nfs' /proc/mounts)" >> "$RESULTS"
}

pass() { # SAID KIND: over each transport
	local dev

	for dev in $DEVICES; do
		ktap_diag "$1, $dev"
		mount_device "$dev"
		for_rows "$2_row" "$dev"
		umount_nfs
		# The connection of bench_null keeps the version that it was made with.
		[ ! -e $NULL ] || echo "0 0;0" > $NULL
	done
}

measure() {
	local i passes=1

	for ((i = 1; i <= ROUNDS; i++)); do
		pass "measuring, round $i of $ROUNDS" time
	done
	if [ -n "$ADAPTER" ]; then
		pass "measuring $JOBS processes" many
		passes=$ROUNDS
	fi
	if [ -n "$PROFILE" ] || [ -z "$ADAPTER" ]; then
		pass counting count
	fi
	[ -n "$PROFILE$ADAPTER" ] || return 0
	for ((i = 1; i <= passes; i++)); do
		pass "counting instructions" insn
	done
}

set -e
# The emulator may stop where another processor patches code.
[ "$(nproc)" = 1 ] || lab_allow_log 'exc_debug_kernel'
[ -z "$PROFILE" ] || EVENTS+=("${EVENTS_PROFILE[@]}")
bench_server
[[ " $ROWS " != *" null "* ]] || modprobe bench_null
if [ -n "$PROFILE$ADAPTER" ]; then
	# NFS's client is loaded by its first mount
	mount_nfs tcp "$VERS"
	umount_nfs
	symbols
fi
measure
# What cleanup.sh does not know
echo 0 > "$NFSD/threads"
[ ! -e /sys/module/bench_null ] || lab_wait 20 rmmod bench_null
ktap_ok "all rows"
