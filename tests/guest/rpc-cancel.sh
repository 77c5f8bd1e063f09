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
. /lab/lib/fs.sh

# The transport works, and nothing is still under way on it.
alive() {
	iocheck sweep "$D/alive" 1-3000/501 9000 70000
	! ours || lab_wait 10 calls_ended
}

progress() { # BEFORE
	[ $(($(operations READ) + $(operations WRITE))) -ge $(($1 + 8)) ]
}

# Before it executes a program, a shell keeps all signals but KILL for later, and
# they are lost.
started() { # PID...
	local p

	for p; do
		[ "$(< "/proc/$p/comm")" = iocheck ] || return 1
	done
}

# Signals at arbitrary moments.
killed() {
	local i round before pids signals=(KILL TERM USR1)

	scratch killed
	iocheck write -t -s 1 -l 3000001 "$E/r"
	for round in 0 1 2; do
		pids=()
		before=$(($(operations READ) + $(operations WRITE)))
		for i in 0 1 2 3; do
			iocheck write -t -d -s 1 -l 90000000 \
				-b $((700 + i * 4097)) "$D/w$i" 2> /dev/null &
			pids+=($!)
			iocheck check -r -d -s 1 -l 3000001 \
				-b $((900 + i * 5003)) "$D/r" 2> /dev/null &
			pids+=($!)
		done
		lab_wait 10 started "${pids[@]}"
		lab_wait 10 progress "$before"
		kill -"${signals[round]}" "${pids[@]}"
		lab_wait 20 gone "${pids[@]}"
	done
	wait
	for i in 0 1 2 3; do
		iocheck check -s 1 -l "$(stat -c %s "$E/w$i")" "$D/w$i"
	done
	iocheck check -e -d -s 1 -l 3000001 "$D/r"
	alive
	rm -r "$E"
}

# Every kind of Call is on its way, with memory of the caller exposed, when
# its process is killed; the Replies come later, to nobody.
unanswered() { # DEV VERS
	local i pids=()

	scratch unanswered
	small_window "$WINDOW"
	nfs "$1" "$2"
	: > "$D/f"
	: > "$D/x"
	iocheck write -t -s 1 -l 200000 "$E/r"
	mark
	freeze
	for i in 0 1 2; do
		iocheck symlink "$D" "400$i" &
		pids+=($!)
		mkdir "$D/d$i" &
		pids+=($!)
		iocheck write -d -s 1 -l 100000 -b 33333 "$D/f" &
		pids+=($!)
		setfacl -m "u:700$i:r" "$D/x" 2> /dev/null &
		pids+=($!)
		[ "$2" != 4.2 ] || {
			iocheck setxattr "$D/x" 6553$i &
			pids+=($!)
		}
	done
	lab_wait 20 stuck "$(stuck_threads)" || { thaw; return 1; }
	# With a larger window the rest of it serves READs meanwhile.
	kill -KILL "${pids[@]}"
	lab_wait 20 gone "${pids[@]}" || { thaw; return 1; }
	thaw
	wait
	alive
	iocheck check -e -d -s 1 -l 200000 -b 7001 "$D/r"
	look
	! ours || counted client -eq 0 rx_malformed bad_inv_handle
	umount_nfs
	none_left
	rm -r "$E"
	default_window
}

stuck_threads() { echo $((WINDOW > 4 ? 4 : WINDOW)); }

# umount -f gets those out who wait for a server that does not answer; they
# see an error.
forced() { # DEV VERS
	local i pids=()

	scratch forced
	nfs "$1" "$2"
	for i in 0 1 2 3; do
		: > "$E/f$i"
	done
	freeze
	for i in 0 1 2 3; do
		iocheck write -d -s 1 -l 50000 "$D/f$i" &
		pids+=($!)
	done
	lab_wait 20 stuck 1 || { thaw; return 1; }
	lab_wait 30 force_out "${pids[@]}" || { thaw; return 1; }
	thaw
	for i in "${pids[@]}"; do
		if wait "$i"; then false; fi
	done
	lab_wait 20 unmounted
	nfs "$1" "$2"
	alive
	umount_nfs
	none_left
	rm -r "$E"
}

# umount -f unmounts too, once nobody uses the directory any more.
unmounted() { ! mountpoint -q /mnt || umount_nfs; }

force_out() { # PID...
	umount -f /mnt || true
	gone "$@"
}

lab_export ext4
fs_start
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
