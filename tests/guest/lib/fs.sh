# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# What the file system tests share. They run on whichever transport SUFFIX
# names: '' is ours, -v1 the stock one (the default where ours does not
# exist; "--param lab_suffix=-v1" to ask for it).

VERSIONS="3 4.0 4.1 4.2"

SUFFIX=${lab_suffix-}
have_rdma2 || SUFFIX=-v1

ours() { [ "$SUFFIX" = "" ]; }

# The debug kernel does the same work ten times slower: fewer sizes, smaller
# files there.
quick() { ! lab_is uml; }
by_speed() { if quick; then echo "$2"; else echo "$1"; fi; } # FAST SLOW

if quick; then STEP=3 BIG=8 MANY=1500; else STEP=1 BIG=64 MANY=5000; fi

# Lengths that put a message on either side of a threshold whatever its
# headers: as RPC messages are multiples of 4 bytes long, steps up to 3 meet
# every message length.
THRESHOLDS="1024 4096 8192 16384"
# shellcheck disable=SC2086 # a list
around() { # STEP [THRESHOLD...]
	local step=$1 t

	shift
	for t in ${*:-$THRESHOLDS}; do
		echo "$((t - 400))-$((t + 8))/$step"
	done
}

# fs_start [THREADS]: network, server, the one listener the test needs.
fs_start() {
	lab_net
	lab_server "$@"
	fs_listen
}

fs_listen() {
	if ours; then
		load_rpcrdma2
		lab_listen rdma2 20049
	else
		lab_listen rdma 20050
	fi
}

# for_all FUNC NAME: one subtest for every device and NFS version.
for_all() { for_versions "$VERSIONS" "$@"; }

for_versions() { # "VERSION..." FUNC NAME
	local dev vers

	for dev in $(lab_devices); do
		for vers in $1; do
			ktap_run "$dev NFSv$vers${3:+ $3}" "$2" "$dev" "$vers"
		done
	done
}

# Several cases on one mount: mounted "VERSION..." CASE=FUNC...; FUNC gets DEV
# and VERS, and each is a subtest.
mounted() {
	local versions=$1 dev vers c

	shift
	for dev in $(lab_devices); do
		for vers in $versions; do
			nfs "$dev" "$vers" || lab_die "cannot mount $dev $vers"
			for c in "$@"; do
				ktap_run "$dev NFSv$vers ${c%%=*}" \
					"${c#*=}" "$dev" "$vers"
			done
			umount_nfs || lab_die "cannot unmount $dev $vers"
		done
	done
}

# nfs DEV VERS [OPTS [DIR]]: mount over the transport under test.
nfs() { mount_nfs "$1$SUFFIX" "${@:2}"; }

# second DEV VERS [OPTS]: another client of the same server, mounted in $SECOND:
# for NFSv4 another minor version (which has a client ID, delegations and locks
# of its own), for NFSv3 a mount that shares nothing.
SECOND=/run/second
second() {
	local vers=$2

	case $vers in
	4.0 | 4.2) vers=4.1 ;;
	4.1) vers=4.2 ;;
	esac
	nfs "$1" "$vers" "nosharecache${3:+,$3}" $SECOND
}

# again DEV VERS: the same mount with an empty cache.
again() {
	umount_nfs
	nfs "$@"
}

# scratch NAME: an empty directory on the export; D is its name on the client
# (below /mnt), E on the server.
scratch() {
	D=/mnt/$1 E=/export/$1
	rm -rf "$E"
	mkdir -m 1777 "$E"
}

# wait_all PID...: waits for each and fails if one of them failed.
wait_all() {
	local p rc=0

	for p in "$@"; do
		wait "$p" || { echo "process $p: status $?"; rc=1; }
	done
	return "$rc"
}

# xprt_lines [DIR]: the xprt: lines of mountstats.
xprt_lines() {
	awk -v dir="${1:-/mnt}" '
		$1 == "device" { mine = $5 == dir }
		mine && $1 == "xprt:"' /proc/self/mountstats
}

# operations OP [DIR]: how many of them a mount sent.
operations() {
	awk -v op="$1:" -v dir="${2:-/mnt}" '
		$1 == "device" { mine = $5 == dir }
		mine && $1 == op { n = $2 }
		END { print n + 0 }' /proc/self/mountstats
}

# ---- counters of our connections ----

OBSERVE=/sys/kernel/debug/rpcrdma2

# total ROLE NAME: sum over all connections of this role (client, server).
total() {
	cat "$OBSERVE/$1"-* 2> /dev/null |
		awk -v name="$2:" '$1 == name { n += $2 } END { print n + 0 }'
}

# mark, then grown ROLE NAME: by how much it grew since the mark. Only for
# connections that live through both.
mark() {
	local f

	for f in "$OBSERVE"/*; do
		[ ! -e "$f" ] || cat "$f"
	done | cksum > /dev/null
	MARK=$(for role in client server; do
		cat "$OBSERVE/$role"-* 2> /dev/null | awk -v role="$role" '
			NF == 2 && $2 ~ /^[0-9]+$/ { n[$1] += $2 }
			END { for (i in n) print role, i, n[i] }'
	done)
}

grown() {
	local before

	before=$(awk -v role="$1" -v name="$2:" \
		'$1 == role && $2 == name { print $3 }' <<< "$MARK")
	echo $(($(total "$1" "$2") - ${before:-0}))
}

# ---- trace events ----

TRACE=/sys/kernel/tracing

trace_on() { # EVENT...
	local e

	echo > $TRACE/trace
	for e in "$@"; do
		echo 1 > "$TRACE/events/$e/enable"
	done
	echo 1 > $TRACE/tracing_on
}

trace_off() { echo 0 > $TRACE/events/enable; }

# traced REGEX: has it happened since trace_on?
traced() { grep -qE "$1" $TRACE/trace; }
