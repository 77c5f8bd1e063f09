# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# What test scripts source: KTAP, network and RDMA devices, NFS server, mounts,
# counters, files, properties, work in the background. A test calls what it needs;
# cleanup.sh takes everything down again after it, whatever the test did.

# A name that is nowhere defined would be an empty word, and a test that says less.
set -u
LABLIB=$(dirname "${BASH_SOURCE[0]}")
. "$LABLIB/ktap.sh"
[ -z "${lab_profile-}" ] || . "$LABLIB/hw.sh"
. "$LABLIB/net.sh"
. "$LABLIB/nfs.sh"
PS4='+${EPOCHREALTIME:7:7} '
trap _ktap_exit EXIT

LAB_TMP=${LAB_TMP:-/tmp}
LAB_TEST=${LAB_TEST:-shell}
LAB_OUT=/out/$LAB_TEST
mkdir -p "$LAB_TMP" "$LAB_OUT"
KTAP_FILE=${KTAP_FILE:-/dev/null}

# lab_die TEXT: the test can't go on.
lab_die() {
	echo "fatal: $*"
	ktap_diag "fatal: $*"
	exit 1
}

# lab_pause SECONDS: sleep without a process, which is slow to start.
exec {LAB_NOTHING}<> <(:)
lab_pause() { read -rt "$1" -u "$LAB_NOTHING" || true; }

# lab_wait SECONDS CMD...: polls CMD until it succeeds, more and more seldom.
# The limit is only for the case that it never does, and is stretched on slow
# guests.
lab_wait() {
	local limit=$1 deadline pause=2

	shift
	deadline=$((SECONDS + limit * ${lab_scale:-1}))
	until "$@"; do
		[ "$SECONDS" -lt "$deadline" ] || return 1
		lab_pause "0.$((pause / 10))$((pause % 10))"
		pause=$((pause < 30 ? pause + 3 : pause))
	done
}

# lab_allow_log REGEX: kernel messages this test provokes on purpose, or that are about
# errors of others. A report is one line with its stack.
lab_allow_log() { printf '%s\n' "$1" >> "$LAB_ALLOW"; }

# lab_modprobe NAME...: loads what exists; in uml all but ours is built in.
lab_modprobe() {
	local m

	[ "$lab_share" != hostfs ] || return 0
	for m in "$@"; do
		modprobe -q "$m" || true
	done
}

# older_than X.Y: is the kernel? For what its own code does.
older_than() {
	[ "$(printf '%s\n' "$1" "$(uname -r)" | sort -V | head -n 1)" != "$1" ]
}

# The NFS client makes several connections of NFSv4 over RDMA (6.12 does, 6.1 ignores
# nconnect= there).
nfs4_nconnect() { ! older_than 6.12; }

lab_is() { [ "$lab_flavour" = "$1" ]; }

as_nobody() { setpriv --reuid 65534 --regid 65534 --clear-groups "$@"; }

now_ms() { echo $((${EPOCHREALTIME/./} / 1000)); }

# status CMD...: its exit status; what it prints is in $LAB_TMP/printed, and in the log.
status() {
	local rc=0

	"$@" > "$LAB_TMP/printed" 2>&1 || rc=$?
	cat "$LAB_TMP/printed" >&2
	echo $rc
}

# mark_log; logged REGEX: what the kernel has said since, if anything.
mark_log() {
	LOG_MARK=mark-$RANDOM-$BASHPID
	echo "$LOG_MARK" > /dev/kmsg
}
logged() { dmesg | sed "1,/$LOG_MARK/d" | grep "$1"; }

# said ROLE NAME: what the command tells of the one connection of that role; id ROLE
said() { rpcrdma2 show "$1" | sed -n "s/^$2: //p"; }
id() { said "$1" id; }

# lab_all: network, server, both transports where they exist.
lab_all() {
	lab_net
	lab_server
	lab_listen rdma 20050
	if have_rdma2; then
		load_rpcrdma2
		lab_listen rdma2 20049
	fi
}

. "$LABLIB/fs.sh"
. "$LABLIB/props.sh"
. "$LABLIB/work.sh"
