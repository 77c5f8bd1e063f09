#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The server loses its power under load and starts again on the same disk
# (F-13). The client goes on by itself: nobody mounts anything again, no
# program sees an error, what was acknowledged is there, callbacks work again,
# and the connections are of version 2 again.
#
# timeout: 120
# covers: REC-1,REC-2,REV-1,REV-12,REV-13
. /lab/tests/lib.sh

JOBS=(blocks names journal)	# all of them on every mount
ACK=$LAB_TMP/ack
mkdir -p "$ACK"

# ---- load ----
#
# Every job notes the number of its last round that was acknowledged. Nothing
# is written twice, so what was acknowledged can be checked afterwards.

ack() { echo "$2" > "$ACK/$1"; }

# 64 KiB in a file of 2 MiB, by turns direct and through the page cache; the
# latter is not stable before the COMMIT of fsync.
BLOCK=65536
blocks() { # DIR N
	local -a how=()

	[ $(($2 % 32)) != 0 ] || how+=(-t)
	[ $(($2 % 2)) = 0 ] || how+=(-d)
	iocheck write -y "${how[@]}" -s $(($2 / 32)) -o $(($2 % 32 * BLOCK)) \
		-l $BLOCK -b 16384 "$1/b$(($2 / 32))"
}

check_blocks() { # DIR LAST
	local i

	for ((i = 0; i < $2 / 32; i++)); do
		iocheck check -e -s $i -l $((32 * BLOCK)) "$1/b$i"
	done
	iocheck check -e -s $i -l $((($2 % 32 + 1) * BLOCK)) "$1/b$i"
}

# A new file that gets its name when it is complete.
names() { # DIR N
	iocheck write -t -y -s "$2" -l 5001 "$1/new" &&
		renamed "$1/new" "$1/n$2" "$2"
}

# A server that renames, loses its power, and only then would have answered
# knows nothing of that afterwards. The client asks again, and there is no such
# file any more. That is so with every version of NFS and every transport.
renamed() { # OLD NEW SEED
	mv "$1" "$2" ||
		{ [ ! -e "$1" ] && lab_wait 60 check_named "$2" "$3"; }
}

check_named() { iocheck check -e -s "$2" -l 5001 "$1"; }

check_names() { # DIR LAST
	local i

	for ((i = 0; i <= $2; i++)); do
		check_named "$1/n$i" $i
	done
	[ "$(find "$1" -name 'n*' | wc -l)" = $(($2 + 1)) ]
}

journal() { # DIR N
	printf '%08d\n' "$2" |
		dd of="$1/journal" oflag=append conv=notrunc,fsync
}

check_journal() { # DIR LAST
	awk -v last="$2" 'BEGIN { for (; i <= last; i++) printf "%08d\n", i }' |
		cmp - "$1/journal"
}

# work JOB MOUNT: rounds until told to stop.
work() {
	local n=0

	while [ ! -e "$LAB_TMP/stop" ]; do
		"$1" "/run/$2/$2" $n || {
			echo "round $n of $1 in $2" > "$ACK/$2.$1.failed"
			return 1
		}
		ack "$2.$1" $n
		n=$((n + 1))
	done > "$LAB_OUT/$2.$1" 2>&1
}

# ---- the mounts ----

# Every device has an NFSv3 and an NFSv4.2 mount. Two addresses of a server are
# one to NFSv4.1 and later and would share a connection; they are different
# clients by their host names.
mount_all() {
	local dev vers

	for dev in $(lab_devices); do
		for vers in 3 4.2; do
			mount_one "$dev" "$vers" ||
				lab_die "cannot mount $dev $vers"
		done
	done
}

mount_one() { # DEV VERS
	local opts=

	[ "$2" != 3 ] || opts=nolock
	hostname "client-$1"
	mount_nfs "$1" "$2" "$opts" "/run/$1-$2"
}

# of_all FUNC NAME: a subtest for every mount; FUNC gets it as DEV-VERS.
of_all() {
	local m

	for m in "${MOUNTS[@]}"; do
		ktap_run "${m/-/ NFSv} $2 (F-13)" "$1" "$m"
	done
}

# of_v4 FUNC NAME: for the NFSv4.2 mount of every device
of_v4() {
	local dev

	for dev in $(lab_devices); do
		ktap_run "$dev NFSv4.2 $2 (F-13)" "$1" "$dev"
	done
}

# last MOUNT JOB: sets LAST to its last round.
declare -A SEEN
last() {
	local n=

	# Just being written, or not yet
	{ read -r n < "$ACK/$1.$2" || true; } 2> /dev/null
	[ -z "$n" ] || SEEN[$1.$2]=$n
	LAST=${SEEN[$1.$2]--1}
}

mark_jobs() {
	local m job

	for m in "${MOUNTS[@]}"; do
		for job in "${JOBS[@]}"; do
			last "$m" "$job"
			MARK[$m.$job]=$LAST
		done
	done
}

# has_done MOUNT N: all its jobs have done so many rounds since the mark.
declare -A MARK
has_done() {
	local - job

	set +x
	for job in "${JOBS[@]}"; do
		last "$1" "$job"
		[ "$LAST" -ge $((${MARK[$1.$job]--1} + $2)) ] || return 1
	done
}

have_done() { # N
	local - m

	set +x
	! compgen -G "$ACK/*.failed" > /dev/null || lab_die "a job failed: $(
		cat "$ACK"/*.failed)"
	for m in "${MOUNTS[@]}"; do
		has_done "$m" "$1" || return 1
	done
}

# resumption: do all of them go on? Says when each does. That is no time limit:
# siw learns of the server's death from TCP, which asks ever more seldom, and
# NFSv4 makes every client wait until all are back and have reclaimed.
declare -A RESUMED
resumption() {
	local - m ms

	set +x

	for m in "${MOUNTS[@]}"; do
		[ -z "${RESUMED[$m]-}" ] && has_done "$m" 1 || continue
		ms=$(((${EPOCHREALTIME/./} - LISTENING) / 1000))
		RESUMED[$m]=$ms
		ktap_diag "${m/-/ NFSv} went on $ms ms after the server's return"
	done
	[ ${#RESUMED[@]} = ${#MOUNTS[@]} ]
}

# ---- what is tested ----

# Given through NFSv4, taken back by a write through the NFSv3 mount. The
# server gives none before it has seen the callback channel work.
delegation() { # DEV
	local inode

	trace_on nfs4/nfs4_set_delegation nfs4/nfs4_cb_recall
	DELEG_FD='' DELEG=/deleg-$1-$SECONDS
	iocheck write -t -y -s 1 -l 20001 "/run/$1-4.2$DELEG"
	inode=$(stat -c %i "/run/$1-4.2$DELEG")
	lab_wait 60 given "$1" "$inode"
	iocheck write -y -s 2 -l 20001 "/run/$1-3$DELEG"
	traced "nfs4_cb_recall: error=0 .*fileid=[0-9a-f]*:[0-9a-f]*:$inode "
	exec {DELEG_FD}<&-
	iocheck check -e -s 2 -l 20001 "/run/$1-4.2$DELEG"
	trace_off
}

given() { # DEV INODE
	[ -z "$DELEG_FD" ] || exec {DELEG_FD}<&-
	exec {DELEG_FD}< "/run/$1-4.2$DELEG"
	traced "nfs4_set_delegation: .*fileid=[0-9a-f]*:[0-9a-f]*:$2 "
}

goes_on() { # MOUNT
	lab_wait 20 has_done "$1" 3
	[ "$(connects "/run/$1")" -ge 2 ]
}

# A file that was open, and locked, when the power went.
open_and_lock() {
	exec {FD}> "/run/$1-4.2/open-$1"
	flock -n "$FD"
	echo one >&"$FD"
	OPEN+=("$FD")
}

no_error() { # MOUNT
	local job

	for job in "${JOBS[@]}"; do
		[ ! -e "$ACK/$1.$job.failed" ] || {
			tail -n 3 "$LAB_OUT/$1.$job"
			return 1
		}
	done
}

nothing_lost() { # MOUNT
	local job

	umount_nfs "/run/$1"
	mount_one "${1%-*}" "${1#*-}"
	for job in "${JOBS[@]}"; do
		last "$1" "$job"
		check_"$job" "/run/$1/$1" "$LAST"
	done
}

open_file() { # DEV
	printf 'one\ntwo\n' | cmp - "/run/$1-4.2/open-$1"
}

_version_two() {
	[ "$(said client version | grep -cx 2)" = ${#MOUNTS[@]} ]
}

version_two() {
	lab_wait 20 _version_two || { rpcrdma2 status; return 1; }
	look
	[ "${NOW[client.fallbacks]}" = 0 ]
}

# ---- the test ----

pair_net client
# A slow guest is not a silent server.
load_rpcrdma2 negotiate_ms=60000
MOUNTS=()
for dev in $(lab_devices); do
	MOUNTS+=("$dev-3" "$dev-4.2")
done
lab_wait 60 listening || lab_die "there is no server"
mount_all
of_v4 delegation "delegation given and recalled"

PIDS=() OPEN=()
for m in "${MOUNTS[@]}"; do
	mkdir "/run/$m/$m"
	for job in "${JOBS[@]}"; do
		work "$job" "$m" &
		PIDS+=($!)
	done
done
for dev in $(lab_devices); do
	open_and_lock "$dev"
done
lab_wait 60 have_done 3 || lab_die "no load"

off=$SECONDS
power_off
mark_jobs
power_on
lab_wait 60 listening || lab_die "the server does not start again"
LISTENING=${EPOCHREALTIME/./}
ktap_diag "the server was away for $((SECONDS - off)) s"
lab_wait 30 resumption || ktap_diag "not all mounts go on"
of_all goes_on "goes on"
touch "$LAB_TMP/stop"
wait "${PIDS[@]}"
of_v4 delegation "delegation given and recalled again"
for FD in "${OPEN[@]}"; do
	echo two >&"$FD"
	exec {FD}>&-
done
ktap_run "version 2 again (F-13)" version_two
of_all no_error "no error"
of_all nothing_lost "no acknowledged write lost"
of_v4 open_file "file that was open and locked"
