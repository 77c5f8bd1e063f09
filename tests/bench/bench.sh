#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Guest part of scripts/bench: runs the rows of the table over each transport
# in one boot on the same files, and leaves the raw figures in results.
#
#	time DEV ROW OPS NANOSECONDS CONTEXT-SWITCHES	(one line per round)
#	work DEV ROW OPS COUNT FUNCTION			(work items started)
#	task DEV ROW OPS COUNT NAME			(switches to a task)
#	wake DEV ROW OPS COUNT WAKER WOKEN
#	soft DEV ROW OPS COUNT VECTOR
#	insn DEV ROW OPS				(recorded by the plugin)
#	mount DEV LINE					(of /proc/mounts)
#
# Times and counts come from separate passes: tracing takes time.
#
# timeout: 600
. /lab/lib/lab.sh
. /lab/tests/params	# VERS DEVICES ROWS ROUNDS PROFILE SCALE

PATH=/lab/tests:$PATH
TRACE=/sys/kernel/tracing
RESULTS=$LAB_OUT/results
FILE=bench/data
FILE_SIZE=$((32 << 20))

# What the benchmark has no use for would only tick along.
have_siw() { false; }

# row NAME: sets the command line of a row. Enough operations for one per
# cent: what disturbs a run are timer ticks, 4 ms apart.
row() {
	local size=${1#*-} ops

	case $1 in
	getattr) op=getattr size=4096 ops=1500 ;;
	create | unlink) op=$1 size=1024 ops=400 ;;
	*) op=${1%-*} ;;
	esac
	case $size in
	*k) size=$((${size%k} << 10)) ;;
	*m) size=$((${size%m} << 20)) ;;
	esac
	if [ -z "${ops-}" ]; then
		ops=$((160000000 / (140000 + 6 * size)))
		[ "$ops" -le 1000 ] || ops=1000
	fi
	ops=$((ops * SCALE / 100))
	warmup=$((ops / 10 + 5))
	args=(-n "$ops" -w "$warmup" -s "$size")
	case $op in
	create | unlink) args+=("$op" /mnt/bench/dir) ;;
	*) args+=("$op" "/mnt/$FILE") ;;
	esac
}

# for_rows CMD DEV ARG...: unlink needs what create left.
for_rows() {
	local r

	mkdir -p /export/bench/dir
	for r in $ROWS; do
		row "$r"
		case " $ROWS " in
		*" create "*) ;;
		*)
			[ "$op" != unlink ] ||
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
		arm+=(-c "$file/trigger=hist:keys=$keys")
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
	nfsbench -p "${args[@]}" > "$LAB_TMP/out"
	echo "insn $1 $2 $(cut -d' ' -f1 "$LAB_TMP/out")" >> "$RESULTS"
}

run_device() { # PASS DEV
	mount_nfs "$2" "$VERS" rsize=1048576,wsize=1048576
	echo "mount $2 $(grep ' /mnt nfs' /proc/mounts)" >> "$RESULTS"
	for_rows "$1_row" "$2"
	umount_nfs
}

set -e
[ -z "$PROFILE" ] || EVENTS+=("${EVENTS_PROFILE[@]}")
lab_net
# As on a server with memory enough: 1 MiB goes in one RPC.
lab_modprobe nfsd
mount -t nfsd nfsd "$NFSD"
echo $((1 << 20)) > "$NFSD/max_block_size"
lab_server
mkdir /export/bench
head -c $FILE_SIZE /dev/zero | tr '\0' x > "/export/$FILE"
lab_listen rdma 20050
case $DEVICES in
*"rxe "* | *rxe)
	# With the policy that users have, not without one as in the tests
	modprobe rpcrdma2
	lab_listen rdma2 20049
	;;
esac
: > "$RESULTS"
uname -r > "$LAB_OUT/kernel"
for ((i = 1; i <= ROUNDS; i++)); do
	for dev in $DEVICES; do
		ktap_diag "measuring $dev, round $i of $ROUNDS"
		run_device time "$dev"
	done
done
for dev in $DEVICES; do
	ktap_diag "counting $dev"
	run_device count "$dev"
done
if [ -n "$PROFILE" ]; then
	for dev in $DEVICES; do
		ktap_diag "counting instructions of $dev"
		run_device insn "$dev"
	done
	awk '$2 ~ /[tT]/ { print $1, $3, $4 }' /proc/kallsyms | sort \
		> "$LAB_OUT/symbols"
fi
ktap_ok "all rows"
