#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# RPCs that nobody waits for any more: processes killed in the middle of I/O,
# processes killed while the server does not answer, umount -f. Whatever was
# cut off, the mount goes on and nothing stays registered (F-2).
#
# kselftest
# programs: mke2fs setfacl
# timeout: 320
# flavours: uml-debug qemu-debug
. /lab/lib/lab.sh

# The transport works, and nothing is still under way on it.
alive() {
	iocheck sweep "$D/alive" 1-3000/501 9000 70000
	! ours || lab_wait 10 calls_ended
}

progress() { # BEFORE
	[ $(($(operations READ) + $(operations WRITE))) -ge $(($1 + 8)) ]
}

# Signals at arbitrary moments.
killed() {
	local round before PIDS signals=(KILL TERM USR1)

	iocheck write -t -s 1 -l 3000001 "$E/r"
	for round in 0 1 2; do
		PIDS=()
		before=$(($(operations READ) + $(operations WRITE)))
		launch 4 write_long {} 2> /dev/null
		launch 4 read_long {} 2> /dev/null
		lab_wait 10 started "${PIDS[@]}"
		lab_wait 10 progress "$before"
		kill -"${signals[round]}" "${PIDS[@]}"
		lab_wait 20 gone "${PIDS[@]}"
	done
	wait
	each 4 as_far_as_written {}
	iocheck check -e -d -s 1 -l 3000001 "$D/r"
	alive
}
write_long() { # NUMBER
	exec iocheck write -t -d -s 1 -l 90000000 -b $((4097 * $1 - 3397)) "$D/w$1"
}
read_long() {
	exec iocheck check -r -d -s 1 -l 3000001 -b $((5003 * $1 - 4103)) "$D/r"
}
as_far_as_written() { iocheck check -s 1 -l "$(stat -c %s "$E/w$1")" "$D/w$1"; }

# Every kind of Call is on its way, with memory of the caller exposed, when
# its process is killed; the Replies come later, to nobody.
unanswered() { # DEV VERS
	local PIDS=()

	small_window "$WINDOW"
	enter unanswered "$1" "$2"
	: > "$D/f"
	: > "$D/x"
	iocheck write -t -s 1 -l 200000 "$E/r"
	mark
	freeze
	launch 3 iocheck symlink "$D" 400{}
	launch 3 mkdir "$D/d{}"
	launch 3 iocheck write -d -s 1 -l 100000 -b 33333 "$D/f"
	launch 3 setfacl -m "u:700{}:r" "$D/x" 2> /dev/null
	[ "$2" != 4.2 ] || launch 3 iocheck setxattr "$D/x" 6553{}
	lab_wait 20 stuck "$(stuck_threads)"
	# With a larger window the rest of it serves READs meanwhile.
	kill -KILL "${PIDS[@]}"
	lab_wait 20 gone "${PIDS[@]}"
	thaw
	wait
	alive
	iocheck check -e -d -s 1 -l 200000 -b 7001 "$D/r"
	look
	! ours || counted client -eq 0 rx_malformed bad_inv_handle
}

stuck_threads() { echo $((WINDOW > 4 ? 4 : WINDOW)); }

# umount -f gets those out who wait for a server that does not answer; they
# see an error.
forced() { # DEV VERS
	local i PIDS=()

	enter forced "$1" "$2"
	touch "$E"/f{1..4}
	freeze
	launch 4 iocheck write -d -s 1 -l 50000 "$D/f{}"
	lab_wait 20 stuck 1
	lab_wait 30 force_out "${PIDS[@]}"
	thaw
	for i in "${PIDS[@]}"; do
		not wait "$i"
	done
	lab_wait 20 unmounted
	nfs "$1" "$2"
	alive
}

# umount -f unmounts too, once nobody uses the directory any more.
unmounted() { ! mountpoint -q /mnt || umount_nfs; }

force_out() { # PID...
	umount -f /mnt || true
	gone "$@"
}

fs_start ext4
mounted "$VERSIONS" "killed processes=killed"
# Not on the stock transport, which loses the connection then and finds out
# after a minute. With sessions, the client itself pauses for 15 seconds when
# the slot of a killed Call is still busy on the server: so not every version.
if ours && ! adapter; then
	WINDOW=2
	for_versions "3 4.2" unanswered "killed unanswered, window of 2 (F-2)"
	WINDOW=64
	for_versions "3 4.0" unanswered "killed unanswered"
fi
for_all forced "umount -f"
