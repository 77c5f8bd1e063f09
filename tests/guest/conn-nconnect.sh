#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# nconnect=4: four connections, all of them used, all of them gone after the
# last unmount.
#
# kselftest
# timeout: 180
# flavours: uml-debug
. /lab/lib/lab.sh
. /lab/lib/fs.sh

nconnect() { # DEV VERS
	local i pids=()

	scratch nconnect
	nfs "$1" "$2" nconnect=4
	grep -q ' /mnt nfs.*nconnect=4' /proc/mounts
	for i in 1 2 3 4 5 6 7 8; do
		iocheck write -t -d -s "$i" -l 300001 -b 10000 "$D/f$i" &
		pids+=($!)
	done
	wait_all "${pids[@]}"
	xprt_lines
	[ "$(xprt_lines | wc -l)" = 4 ]
	# Columns: port, bind, connect, time, idle, sends.
	[ "$(xprt_lines | awk '$5 >= 1 && $8 >= 5' | wc -l)" = 4 ]
	! ours || [ "$(connections client)" = 4 ]
	! ours || [ "$(connections server)" = 4 ]
	drop_caches
	pids=()
	for i in 1 2 3 4 5 6 7 8; do
		iocheck check -e -s "$i" -l 300001 -b 5000 "$D/f$i" &
		pids+=($!)
	done
	wait_all "${pids[@]}"
	for i in 1 2 3 4 5 6 7 8; do
		iocheck check -e -s "$i" -l 300001 "$E/f$i"
	done
	umount_nfs
	none_left
	rm -r "$E"
}

fs_start
for_all nconnect nconnect
