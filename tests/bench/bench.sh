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
#	shape ROW RPCS CALL REPLY BYTES DIRECTION WRS	(an RPC of one of OPS)
#
# Four DEVs are parts of others (see floor/): "verbs" is the device alone with the
# messages of each row as rpcrdma2 has sent them (shape), and two threads that wake
# each other; "hand" is only the latter; "copy" is that and a copy of the payload, if
# it went inline; "loop" is NFS and sunrpc without a transport.
#
# Times and counts come from separate passes: tracing takes time.
#
# timeout: 600
. /lab/lib/lab.sh
. /lab/tests/params	# VERS DEVICES ROWS ROUNDS PROFILE FLOOR ADAPTER JOBS SCALE
. /lab/tests/rows.sh

PATH=/lab/tests:$PATH
TRACE=/sys/kernel/tracing
RESULTS=$LAB_OUT/results
COUNTERS=/sys/module/bench_adapter/parameters/counters
FILE=bench/data
FILE_SIZE=$((32 << 20))
BLOCK=rsize=1048576,wsize=1048576
# Operations of which the messages are looked at, and what was seen: by row, what
# floor/bench_verbs.c is to do.
SHAPE_OPS=8
declare -A SHAPE
# Transports by the number that sunrpc has for them, and ports.
declare -A TRANSPORT=([tcp]="6 2049" [rxe-v1]="256 20050" [rxe]="21042 20049"
	[loop]="256 20062" [own-v1]="21042 20049" [own-v1-client]="21042 20050"
	[own-v1-server]="256 20049")

# What the benchmark has no use for would only tick along.
have_siw() { false; }

# row DEV NAME: sets the command line of a row. Enough operations for one per
# cent: what disturbs a run are timer ticks, 4 ms apart.
row() {
	local op size ops=

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
	# By then sizes of messages have adapted to the row
	[ -z "${OPS-}" ] || warmup=$ops ops=$OPS
	case $1 in
	verbs | hand | copy)
		args=(-n $((ops / SHAPE_OPS + 1)) -w 1 -m "$SHAPE_OPS"
			-r "$(of_verbs "$@")" run
			/sys/module/bench_verbs/parameters/run)
		return
		;;
	esac
	args=(-n "$ops" -w "$warmup" -s "$size")
	case $op in
	create | unlink) args+=("$op" /mnt/bench/dir) ;;
	run) args+=(-r "${TRANSPORT[$1]}" run
		/sys/module/bench_null/parameters/run) ;;
	*) args+=("$op" "/mnt/$FILE") ;;
	esac
}

# of_verbs verbs|hand|copy ROW: what bench_verbs is to do
of_verbs() {
	local op size

	row_op "$2"
	case $op in
	read | write) ;;
	*) size=0 ;;	# no payload
	esac
	case $1 in
	verbs) echo "${SHAPE[$2]}" ;;
	hand) sed -E 's/[^;]+/0 0 0 -/g' <<< "${SHAPE[$2]}" ;;
	copy) sed -E "s/[^;]+ -/0 0 $size copy/g; s/[^;]+ (read|write)/0 0 0 -/g" \
		<<< "${SHAPE[$2]}" ;;
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
	local out

	out=$(nfsbench -p ${ADAPTER:+-t $COUNTERS} "${args[@]}")
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

# Events that tell what an RPC is like, one line each: "ROW RPCS CALL REPLY BYTES
# DIRECTION WRS", WRS of the server's RDMA.
SHAPE_EVENTS="rpcrdma2_call rpcrdma2_mr_map rpcrdma2_call_reads rpcrdma2_reply_send"
shape() { # ROW
	tr '=' ' ' < $TRACE/trace | awk -v row="$1" '
		function word(name,	i) {
			for (i = 1; i < NF; i++)
				if ($i == name)
					return $(i + 1)
		}
		/^#/ { next }
		{ xid = word("xid") }
		/rpcrdma2_mr_map:/ {
			mrs[xid]++
			for (i = 1; i < NF; i++)
				if ($i ~ /@0x/)
					bytes[xid] += $i
			dir[xid] = $NF == "writing" ? "write" : "read"
		}
		/rpcrdma2_call:/ {
			order[++n] = xid
			call[xid] = word("len")
		}
		/rpcrdma2_call_reads:/ { wrs[xid] += word("nwrs") }
		/rpcrdma2_reply_send:/ {
			wrs[xid] += word("write_wrs")
			reply[xid] = word("len")
		}
		END {
			for (i = 1; i <= n; i++) {
				x = order[i]
				if (mrs[x] > 1 || !reply[x]) {
					print "RPC", x, "is not as expected" > "/dev/stderr"
					exit 1
				}
				print "shape", row, n, call[x], reply[x], bytes[x] + 0,
					mrs[x] ? dir[x] : "-", wrs[x] + 0
			}
		}'
}

shape_row() { # DEV ROW
	: > $TRACE/trace
	nfsbench -t $TRACE/tracing_on "${args[@]}" > /dev/null
	shape "$2" > "$LAB_TMP/shape"
	cat "$LAB_TMP/shape" >> "$RESULTS"
	SHAPE[$2]=$(awk '{ printf "%s%s %s %s %s", (NR > 1 ? ";" : ""), $4, $5, $6, $7 }' \
		"$LAB_TMP/shape")
}

# What the messages of each row are like.
shapes() {
	local e on=$TRACE/tracing_on

	echo 0 > $on
	for e in $SHAPE_EVENTS; do
		echo 1 > "$TRACE/events/rpcrdma2/$e/enable"
	done
	OPS=$SHAPE_OPS run_device shape rxe
	for e in $SHAPE_EVENTS; do
		echo 0 > "$TRACE/events/rpcrdma2/$e/enable"
	done
	: > $TRACE/trace
	echo 1 > $on
}

run_device() { # PASS DEV
	case $2 in
	verbs | hand | copy)
		for_rows "$1_row" "$2"
		return
		;;
	esac
	speaks "$2"
	mount_device "$2"
	echo "mount $2 $(grep ' /mnt nfs' /proc/mounts)" >> "$RESULTS"
	for_rows "$1_row" "$2"
	umount_nfs
	null_disconnect
}

# speaks DEV: the version that our client offers from now on
speaks() {
	case $1 in
	own-v1 | own-v1-client) by_default client versions v1 ;;
	rxe) by_default client versions both ;;
	esac
}

mount_device() { # DEV
	case $1 in
	loop) mount_nfs rxe-v1 "$VERS" "port=20062,$BLOCK" ;;
	own-v1) mount_nfs rxe "$VERS" $BLOCK ;;
	own-v1-client) mount_nfs rxe "$VERS" "port=20050,$BLOCK" ;;
	own-v1-server) mount_nfs rxe-v1 "$VERS" "port=20049,$BLOCK" ;;
	*) mount_nfs "$1" "$VERS" $BLOCK ;;
	esac
	case $1 in
	rxe) right_version client 2 ;;
	own-v1 | own-v1-client) right_version client 1 ;;
	own-v1-server) right_version server 1 ;;
	esac
}

right_version() { # ROLE VERSION
	said "$1" version | grep -qx "$2" || lab_die "this is not version $2"
}

# The connection of bench_null has the version that was spoken when it was made.
null_disconnect() {
	[ ! -e /sys/module/bench_null ] ||
		echo "0 0;0" > /sys/module/bench_null/parameters/run
}

measure() { # DEV...
	local dev i passes=1

	[ -z "$ADAPTER" ] || passes=$ROUNDS
	for ((i = 1; i <= ROUNDS; i++)); do
		for dev in "$@"; do
			ktap_diag "measuring $dev, round $i of $ROUNDS"
			run_device time "$dev"
		done
	done
	for dev in ${ADAPTER:+"$@"}; do
		ktap_diag "measuring $dev, $JOBS processes"
		run_device many "$dev"
	done
	if [ -n "$PROFILE" ] || [ -z "$FLOOR$ADAPTER" ]; then
		for dev in "$@"; do
			ktap_diag "counting $dev"
			run_device count "$dev"
		done
	fi
	[ -n "$PROFILE$FLOOR$ADAPTER" ] || return 0
	for ((i = 1; i <= passes; i++)); do
		for dev in "$@"; do
			ktap_diag "counting instructions of $dev"
			run_device insn "$dev"
		done
	done
}

# NFS without a transport: takes the number of the stock one, which has to go. The
# modules are there from the start, so that each has its place in the profile.
only_loop() {
	echo 0 > "$NFSD/threads"
	null_disconnect
	lab_wait 20 rmmod rpcrdma
	echo y > /sys/module/bench_loop/parameters/active
	lab_nfsd
	lab_listen loop 20062
}

# What cleanup.sh does not know.
remove_modules() {
	local m

	echo 0 > "$NFSD/threads"
	for m in bench_null bench_verbs bench_loop; do
		[ ! -e "/sys/module/$m" ] || lab_wait 20 rmmod $m
	done
}

set -e
# The emulator may stop where another processor patches code.
[ "$(nproc)" = 1 ] || lab_allow_log 'exc_debug_kernel'
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
*"rxe "* | *rxe | *own-v1*)
	# With the policy that users have, not without one as in the tests
	modprobe rpcrdma2
	lab_listen rdma2 20049
	;;
esac
: > "$RESULTS"
uname -r > "$LAB_OUT/kernel"
needs() { [[ " $1 " = *" $2 "* ]]; }
! needs "$ROWS" null || modprobe bench_null
! needs "$DEVICES" loop || modprobe bench_loop
if needs "$DEVICES" verbs; then
	ktap_diag "looking at the messages of rxe"
	modprobe bench_verbs
	shapes
fi
if [ -n "$PROFILE$FLOOR$ADAPTER" ]; then
	# NFS's client is loaded by its first mount
	mount_nfs tcp "$VERS"
	umount_nfs
	awk '$2 ~ /[tT]/ { print $1, $3, $4 }' /proc/kallsyms |
		sort > "$LAB_OUT/symbols"
fi
# shellcheck disable=SC2046 # words
measure $(tr ' ' '\n' <<< "$DEVICES" | grep -vx loop)
if needs "$DEVICES" loop; then
	only_loop
	measure loop
fi
remove_modules
ktap_ok "all rows"
