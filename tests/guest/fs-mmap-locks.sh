#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Mapped files, and byte-range locks between processes of the client, between
# two mounts, and between the client and the server (NLM for NFSv3).
#
# kselftest
# timeout: 240
. /lab/lib/lab.sh

mapped() {
	local len=$((BIG / 4 << 20))

	iocheck write -t -m -s 3 -l $((len + 4099)) "$D/f"
	iocheck write -m -s 4 -o 100001 -l 77777 "$D/f"
	iocheck check -s 3 -l 100001 "$E/f"
	iocheck check -s 4 -o 100001 -l 77777 "$E/f"
	iocheck check -e -s 3 -o 177778 -l $((len + 4099 - 177778)) "$E/f"
	drop_caches
	iocheck check -m -s 4 -o 100001 -l 77777 "$D/f"
	iocheck check -e -m -s 3 -o 177778 -l $((len + 4099 - 177778)) "$D/f"
	# A program runs from a mapping of its file.
	cp /lab/bin/iocheck "$E/program"
	"$D/program" check -m -s 4 -o 100001 -l 77777 "$D/f"
}

# holder FILE OFF LEN r|w: a process with a lock until release.
holder() {
	coproc HOLDER { exec iocheck lock "$@"; }
	# The variable is emptied when the process ends.
	HOLDER_PID_=$HOLDER_PID
	local line

	read -r -t 20 line <&"${HOLDER[0]}"
	[ "$line" = locked ]
}

release() {
	eval "exec ${HOLDER[1]}>&-"
	wait "$HOLDER_PID_"
}

expect() { # WORD FILE OFF LEN r|w
	local word=$1 out

	shift
	out=$(iocheck trylock "$@")
	[ "$out" = "$word" ]
}

locks() { # DEV VERS
	iocheck write -t -l 1000 "$D/f"
	second "$1" "$2"

	holder "$D/f" 100 50 w
	for f in "$D/f" $SECOND/locks/f "$E/f"; do
		expect held "$f" 149 1 r
		expect held "$f" 0 101 w
		expect free "$f" 0 100 w
		expect free "$f" 150 0 w
	done
	# The server knows exactly which bytes.
	[ "$(iocheck getlock "$E/f" 0 0 w)" = "held 100 50 w" ]
	release
	[ "$(iocheck getlock "$E/f" 0 0 w)" = free ]

	holder "$D/f" 10 20 r
	expect free $SECOND/locks/f 15 1 r
	expect held $SECOND/locks/f 15 1 w
	[ "$(iocheck getlock "$E/f" 0 0 w)" = "held 10 20 r" ]
	release
	[ "$(iocheck getlock "$E/f" 0 0 w)" = free ]
	umount_nfs $SECOND
}

# What one mount writes under a lock, the other reads under the lock; and a
# server's process keeps a client's process out.
handover() { # DEV VERS
	local i

	: > "$D/f"
	second "$1" "$2"
	for i in 1 2 3 4 5; do
		flock -x "$D/f" iocheck write -s "$i" -l 20001 "$D/f"
		flock -x $SECOND/handover/f \
			iocheck check -e -s "$i" -l 20001 $SECOND/handover/f
	done
	holder "$E/f" 5 5 w
	expect held "$D/f" 0 6 w
	expect free "$D/f" 0 5 w
	release
	expect free "$D/f" 0 6 w
	umount_nfs $SECOND
}

fs_start
mounted "$VERSIONS" "mmap=mapped" "locks=locks" "locked data=handover"
