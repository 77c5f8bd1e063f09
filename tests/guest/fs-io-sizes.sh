#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Files of every interesting size, written and read through the page cache:
# what was written is read back after a new mount and found on the server;
# what the server wrote is read on the client.
#
# kselftest
# timeout: 240
. /lab/lib/lab.sh

SMALL="0 1 511 1023 4095 4096 4097"
LARGE="65535 65536 65537 262143 1048575 1048576 1048577 2097153"
BUFFERED_STEP=$(by_speed 3 29)
TRANSFERS=$(by_speed "1024 4096 8192 16384" "1024 8192")

sizes() { # DEV VERS
	local list

	# shellcheck disable=SC2046,SC2206 # lists
	list=($SMALL $(around "$BUFFERED_STEP") $LARGE)
	enter sizes "$1" "$2"
	iocheck put "$D" "${list[@]}"
	iocheck put -s 7 "$E" 70001
	again "$1" "$2"
	iocheck get "$D" "${list[@]}"
	iocheck get -s 7 "$D" 70001
	iocheck get "$E" "${list[@]}"
	rm -r "$D"
	[ ! -e "$E" ]
}

# One large file, with an odd tail, in a few large and in many small steps.
large() { # DEV VERS
	local len=$((BIG << 20))

	enter large "$1" "$2"
	iocheck write -t -s 1 -l $((len + 1)) "$D/a"
	iocheck write -t -s 2 -l $((len / 8 + 4095)) -b 5003 "$D/b"
	drop_caches
	iocheck check -e -s 1 -l $((len + 1)) "$D/a"
	iocheck check -e -s 1 -l $((len + 1)) "$E/a"
	iocheck check -e -s 2 -l $((len / 8 + 4095)) -b 10007 "$D/b"
	iocheck check -e -s 2 -l $((len / 8 + 4095)) "$E/b"
	rm -r "$D"
}

# A small rsize and wsize: each READ and WRITE about as long as a threshold.
small_transfers() { # DEV VERS
	local size

	scratch small
	for size in $TRANSFERS; do
		nfs "$1" "$2" "rsize=$size,wsize=$size"
		iocheck write -t -s "$size" -l 200001 "$D/f"
		drop_caches
		iocheck check -e -s "$size" -l 200001 "$D/f"
		iocheck check -e -s "$size" -l 200001 "$E/f"
		umount_nfs
	done
	rm -r "$E"
}

fs_start
for_all sizes "file sizes"
for_all large "large files"
for_all small_transfers "rsize and wsize"
