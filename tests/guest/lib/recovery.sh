# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# What tests/bench/run --recovery and some pairs have in their guests, beside lab.sh: a
# little work on each mount (src/steady.c), and how long after the end of a fault the first
# operation is done, or how long none is. Leaves in results:
#
#	first CASE DEV NANOSECONDS	(one line per fault and mount)
#	pause CASE DEV NANOSECONDS	(the same)
#	ops CASE DEV OPERATIONS LOST REPEATED
#
# DEV is rxe (version 2), own-v1 (rpcrdma2 speaking version 1), rxe-v1 (stock) or tcp.
# NFSv3 without locks: a client of NFSv4 would find that all addresses are one server,
# and after a restart it waits for the server's grace period, whatever the transport.

RESULTS=$LAB_OUT/results
WORK_LOG=$LAB_TMP/steady WORK_STOP=$LAB_TMP/steady.stop
RECOVERY_DIR=/run/recovery
# Each fault comes at another moment of what is under way.
PAUSE_MS=50

# recovery_mount DEV ADDRESS DIR
recovery_mount() {
	local dev=$1

	if [ "$1" = own-v1 ]; then
		rpcrdma2 policy set client "$2" versions v1
		dev=rxe
	fi
	RXE_ADDR=$2 mount_nfs "$dev" 3 nolock "$3"
}

# place DIR: where a mount has its work, which differs from case to case and mount to
# mount. CASE is that of recovery_work.
place() { echo "$1/$CASE-${1##*/}"; }

# recovery_work CASE MOUNT...: begins on these, each of which is DEV=DIR
recovery_work() {
	local m dirs=()

	CASE=$1
	shift
	for m; do
		dirs+=("$(place "${m#*=}")")
		mkdir "${dirs[-1]}"
	done
	rm -f "$WORK_STOP"
	: > "$WORK_LOG"
	steady work $PAUSE_MS "$WORK_LOG" "$WORK_STOP" "${dirs[@]}" 2> "$WORK_LOG.errors" &
	WORKER=$!
	lab_wait 60 recovered 0 $# || lab_die "no work is done $(< "$WORK_LOG.errors")"
}

now_ns() { echo "${EPOCHREALTIME/./}000"; }

# first_after NANOSECONDS DIR: how much later the first operation was done
first_after() {
	awk -v from="$1" -v dir="$(place "$2")" '
		$1 == dir && $3 - from > 0 {
			printf "%.0f\n", $3 - from
			found = 1
			exit
		}
		END { exit !found }' "$WORK_LOG"
}

# recovered NANOSECONDS N: have so many mounts done something since?
recovered() {
	awk -v from="$1" -v want="$2" '
		$3 - from > 0 && !seen[$1]++ { n++ }
		END { exit n < want }' "$WORK_LOG"
}

# recovery_fault FUNC MOUNT...: FUNC is the fault from its beginning to its end, which
# it leaves in END; what follows is noted for each mount. All work a little before the
# next one.
recovery_fault() {
	local - m

	set +x
	"$1"
	shift
	lab_wait 60 recovered "$END" $# || not_recovered "$@"
	for m; do
		echo "first $CASE ${m%%=*} $(first_after "$END" "${m#*=}")"
	done >> "$RESULTS"
	lab_pause "1.$((RANDOM % 10))"
}

# recovery_pause FUNC MOUNT...: FUNC is a change that everybody has to get over. Notes for
# each mount the longest time between two operations, from the change on until all have
# worked two seconds later.
recovery_pause() {
	local - m start

	set +x
	start=$(now_ns)
	"$1" || lab_die "$CASE: $1 has failed"
	shift
	END=$(($(now_ns) + 2000000000))
	lab_wait 12 recovered "$END" $# || not_recovered "$@"
	for m; do
		echo "pause $CASE ${m%%=*} $(pause_after "$start" "${m#*=}")"
	done >> "$RESULTS"
	lab_pause "0.$((RANDOM % 10))"
}

# pause_after NANOSECONDS DIR: the longest one that ends later than that
pause_after() {
	awk -v from="$1" -v dir="$(place "$2")" '
		$1 != dir { next }
		$3 - from > 0 && $3 - last > most { most = $3 - last }
		{ last = $3 }
		END { printf "%.0f\n", most }' "$WORK_LOG"
}

# recovery_verdict MS DEV...: shows what results have of this case. Fails if one of these
# mounts had a longer pause, or if any has lost an operation or had one done twice.
recovery_verdict() {
	local - line rc=0

	set +x
	awk -v of="$CASE" -v limit="$1" -v devs=" ${*:2} " '
		$2 != of { next }
		$1 == "pause" {
			ms = int($4 / 1000000)
			pauses[$3] = pauses[$3] " " ms
			if (ms > limit && index(devs, " " $3 " "))
				late[$3] = bad = 1
		}
		$1 == "ops" {
			ops[$3] = $4 " operations, lost " $5 ", repeated " $6
			if ($5 + $6)
				bad = 1
		}
		END {
			for (dev in pauses)
				print of " " dev ": no operation for ms" pauses[dev] \
					(dev in late ? ", more than " limit : "") "; " ops[dev]
			exit bad
		}' "$RESULTS" > "$LAB_TMP/verdict" || rc=$?
	while IFS= read -r line; do
		ktap_diag "$line"
	done < "$LAB_TMP/verdict"
	return $rc
}

# Which one, and what it is waiting for
not_recovered() { # MOUNT...
	local m

	for m; do
		first_after "$END" "${m#*=}" > /dev/null || ktap_diag "not: $m"
	done
	{
		rpcrdma2 status
		rpcrdma2 show
		cat /proc/self/mountstats "$NFSD/portlist" "$NFSD/threads"
		grep -H . /sys/kernel/debug/sunrpc/rpc_clnt/*/tasks
		for m in /proc/[0-9]*; do
			echo "$m $(< "$m/comm")"
			cat "$m/stack"
		done
	} > "$LAB_OUT/not-recovered" 2>&1 || true
	lab_die "$CASE: no recovery $(< "$WORK_LOG.errors")"
}

# recovery_end MOUNT...: no more work; is what was done still there, by other mounts?
recovery_end() {
	local m said bad=

	touch "$WORK_STOP"
	wait "$WORKER" || lab_die "$CASE: an operation has failed: $(< "$WORK_LOG.errors")"
	for m; do
		if recovery_again "${m%%=*}" "${m#*=}" &&
		   said=$(steady check "$WORK_LOG" "$(place "${m#*=}")"); then
			echo "ops $CASE ${m%%=*} $said" >> "$RESULTS"
		else
			bad+=" $m"
		fi
	done
	[ -z "$bad" ] || lab_die "$CASE: cannot be mounted again and checked:$bad"
}

# The same mount with an empty cache
recovery_again() { # DEV DIR
	local addr

	addr=$(sed -n "s|^\([0-9.]*\):/export $2 .*|\1|p" /proc/mounts)
	umount_nfs "$2" && recovery_mount "$1" "$addr" "$2"
}
