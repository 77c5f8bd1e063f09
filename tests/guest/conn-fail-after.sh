#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# fail_after of the policy: RPCs of soft mounts give up after so long without a connection,
# and never those of hard mounts, or for leases.
#
# timeout: 300
. /lab/lib/lab.sh

AFTER=10
FAILED="(fail_after), RPCs of soft mounts end"
# Their own timeout is a quarter of an hour
LATE=timeo=3000,retrans=2

# both_mounts NAME DEV VERS [soft|softerr]: a soft mount, with D, and a hard one, with H,
# that share a connection
both_mounts() {
	enter "$1" "$2" "$3" "${4:-soft},$LATE"
	nfs "$2" "$3" timeo=3000 $SECOND
	H=$SECOND/$1
	touch "$D/soft" "$H/hard"
	[ "$(connections client)" = 1 ]
	mark_log
}

both_left() {
	umount_nfs $SECOND
	leave
	AT_END=
}

# failed FILE: milliseconds until a write to it has ended with an error
failed() {
	local start

	start=$(now_ms)
	! dd if=/dev/zero of="$1" bs=4k count=1 oflag=direct conv=notrunc \
		status=none || return 1
	echo $(($(now_ms) - start))
}

# in_time MS LEAST [MOST]: is this the time, MOST being LEAST otherwise, or up to one second
# more?
in_time() {
	echo "failed after $1 ms"
	[ "$1" -ge $(($2 - 100)) ]
	[ "$1" -le $((${3-$2} + 1000 * lab_scale)) ]
}

# RPCs that come later end at once. The hard mount waits, and goes on.
soft_and_hard() { # DEV VERS [softerr]
	local error=Input/output ms pid

	by_default client fail_after $AFTER
	both_mounts fail "$@"
	stop_server
	iocheck write -d -s 7 -l 5000 "$H/hard" &
	pid=$!
	ms=$(failed "$D/soft" 2> $LAB_TMP/error)
	in_time "$ms" ${AFTER}000
	[ -z "${3-}" ] || error="timed out"
	grep "$error" $LAB_TMP/error
	ms=$(failed "$D/soft")
	in_time "$ms" 0
	[ "$(logged "$FAILED" | wc -l)" = 1 ]
	kill -0 $pid
	start_server
	wait $pid
	iocheck check -e -s 7 -l 5000 "$E/hard"
	iocheck write -t -d -s 1 -l 5000 "$D/soft"
	iocheck check -e -s 1 -l 5000 "$E/soft"
	both_left
}

# A connection before that ends the wait, and the next loss begins another.
connected_before() { # DEV VERS
	local n

	by_default client fail_after 60
	enter before "$1" "$2" "softerr,$LATE"
	touch "$D/f"
	mark_log
	for n in 1 2; do
		stop_server
		iocheck write -d -s $n -l 5000 "$D/f" &
		lab_pause 35
		start_server
		wait $!
		iocheck check -e -s $n -l 5000 "$E/f"
	done
	not logged "$FAILED"
}

# The policy of the moment counts, not that of the beginning.
changed() { # DEV VERS
	local at ms pid start

	by_default client fail_after 600
	enter changed "$1" "$2" "softerr,$LATE"
	touch "$D/f"
	stop_server
	start=$(now_ms)
	failed "$D/f" > $LAB_TMP/ms &
	pid=$!
	lab_pause 2
	rpcrdma2 policy set client default fail_after 8
	at=$(($(now_ms) - start))
	wait $pid
	in_time "$(< $LAB_TMP/ms)" 8000 $((at > 8000 ? at : 8000))
	# The next waits for ever
	rpcrdma2 policy set client default fail_after 0
	start=$(now_ms)
	failed "$D/f" > $LAB_TMP/ms &
	pid=$!
	lab_pause 10
	kill -0 $pid
	# The time begins with the next attempt, which is at most 2.5 seconds away
	at=$(($(now_ms) - start))
	rpcrdma2 policy set client default fail_after 4
	ms=$(($(now_ms) - start))
	wait $pid
	in_time "$(< $LAB_TMP/ms)" $((at + 4000)) $((ms + 6500))
	start_server
}

# No listener has the module either.
unused() { [ "$(< /sys/module/rpcrdma2/refcnt)" = 0 ]; }

# umount -f before RPCs of the soft mount end, or when they have
unmounted() { # DEV FAIL_AFTER
	local hard soft

	by_default client fail_after "$2"
	both_mounts unmounted "$1" 3 softerr
	stop_server
	iocheck write -d -s 1 -l 5000 "$H/hard" &
	hard=$!
	iocheck write -d -s 1 -l 5000 "$D/soft" &
	soft=$!
	lab_pause 4
	[ "$2" -gt 4 ] || logged "$FAILED"
	force_umount /mnt $soft
	kill -0 $hard
	force_umount $SECOND $hard
	lab_wait 20 unused
	not wait $soft
	not wait $hard
	start_server
	AT_END=
}

# The server restarts, and the connection is lost again while it makes a note of the client,
# which NFS has asked for with an RPC that is no hard mount's alone: RECLAIM_COMPLETE. What
# the hard mount has open stays, and it can open more.
recovered() { # DEV VERS
	local cld ms

	cld=$(pidof nfsdcld)
	undo kill -CONT "$cld"
	by_default client fail_after 5 versions v2
	by_default server versions both
	both_mounts recovered "$1" "$2"
	exec 6<> "$D/soft" 7<> "$H/hard"
	flock -x 7
	echo one >&7
	sync "$H/hard"
	stop_server
	ms=$(failed "$D/soft")
	in_time "$ms" 5000
	# No connection before the server cannot write, then one
	by_default server versions v1
	echo 60 > $NFSD/nfsv4leasetime
	echo 8 > $NFSD/threads
	fs_listen
	kill -STOP "$cld"
	by_default server versions both
	lab_wait 60 noting
	by_default server versions v1
	rpcrdma2 reconnect "$(id client)"
	lab_pause 12
	[ "$(connections client)" = 0 ]
	by_default server versions both
	kill -CONT "$cld"
	timeout $((90 * lab_scale)) iocheck write -t -d -s 7 -l 5000 "$H/new"
	iocheck check -e -s 7 -l 5000 "$E/new"
	echo two >&7
	sync "$H/hard"
	exec 6>&- 7>&-
	printf 'one\ntwo\n' | cmp - "$E/hard"
	both_left
}

# noting: a thread of the server waits for nfsdcld
noting() {
	local - p

	set +x
	for p in $(pidof nfsd); do
		! grep -qs nfsd4_client_record_create "/proc/$p/stack" || return 0
	done
	return 1
}

fs_start ours
ktap_run "rxe NFSv4.2 the server restarts, no connection" recovered rxe 4.2
ktap_run "rxe umount -f before fail_after" unmounted rxe 600
ktap_run "rxe umount -f after fail_after" unmounted rxe 1
ktap_run "rxe NFSv4.2 fail_after changes" changed rxe 4.2
for_versions "3 4.2" soft_and_hard "fail_after, soft"
ktap_run "rxe NFSv3 fail_after, softerr" soft_and_hard rxe 3 softerr
ktap_run "rxe NFSv4.2 fail_after, softerr" soft_and_hard rxe 4.2 softerr
for_versions "3 4.2" connected_before "a connection before fail_after"
