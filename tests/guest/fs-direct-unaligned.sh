#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# O_DIRECT: a message of every length around the thresholds, at odd offsets,
# from and into misaligned memory; reads that meet the end of the file; random
# mixtures of direct, buffered and mapped access compared with a copy.
#
# kselftest
# timeout: 300
. /lab/lib/lab.sh

EDGE_STEP=$(by_speed "$STEP" 3)

# Every length near every threshold, and short ones of every alignment.
edges() {
	# shellcheck disable=SC2046 # a list
	iocheck sweep "$D/f" 1-64 511 $(around "$EDGE_STEP")
}

# Far from the thresholds: several pages, several segments, several RPCs.
long() {
	iocheck sweep -s 5 "$D/f" 32767-32769 65533-65539 131071-131073 \
		262143-262145 1048575-1048577 2100003
}

unaligned() {
	local len=$((BIG / 4 << 20))

	iocheck write -t -d -o 4097 -l $((len + 13)) -b 99991 -a 5 "$D/f"
	iocheck write -t -d -v -o 1 -l 1000003 -b 70001 -a 1023 "$D/v"
	drop_caches
	iocheck check -e -d -o 4097 -l $((len + 13)) -b 65537 -a 333 "$D/f"
	iocheck check -e -o 4097 -l $((len + 13)) "$E/f"
	iocheck check -e -d -o 1 -l 1000003 -b 8191 -a 7 "$D/v"
	iocheck check -e -o 1 -l 1000003 "$E/v"
	# Before the first byte there is a hole.
	cmp -n 4097 "$D/f" /dev/zero
}

# What the server cut off or added is seen by direct reads at once.
end_of_file() {
	local len

	iocheck write -t -l 20001 "$E/f"
	for len in 20001 16385 16383 8193 4097 4095 1025 1023 3 1; do
		# truncate does not wait for a delegation to come back.
		lab_wait 20 truncate -s "$len" "$E/f"
		iocheck check -e -d -l "$len" -b 16384 "$D/f"
	done
	lab_wait 20 truncate -s 0 "$E/f"
	iocheck check -e -d -l 0 "$D/f"
}

random() {
	iocheck random -n "$(by_speed 1500 300)" -s "$RANDOM" "$D/f" "$E/copy"
	cmp "$E/f" "$E/copy"
	iocheck random -n "$(by_speed 200 50)" -s "$RANDOM" -l 2500000 \
		"$D/f" "$E/copy"
	cmp "$E/f" "$E/copy"
}

fs_start
mounted "$VERSIONS" "direct, edges=edges" "direct, long=long" \
	"direct, unaligned=unaligned" "end of file=end_of_file" \
	"random operations=random"
