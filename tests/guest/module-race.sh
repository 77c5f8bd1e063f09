#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A data race made on purpose (tests/module/rpcrdma2_race.c) is found while several
# processes do I/O: it samples often enough, where it matters.
#
# timeout: 20
# flavours: qemu-kcsan
. /lab/lib/lab.sh
. /lab/lib/fs.sh

# The longest that it may take, seconds
LIMIT=600

found() { dmesg | grep 'BUG: KCSAN: data-race in .*race_event \[rpcrdma2_race\]'; }

load() { # NUMBER
	until [ -e "$LAB_TMP/stop" ]; do
		iocheck write -t -d -s "$1" -l 100001 -b 9001 "$D/r$1" || return 1
	done
}

is_found() {
	local i pids=() start=$SECONDS rc=0

	scratch race
	nfs rxe 4.2
	lab_modprobe rpcrdma2_race
	rm -f "$LAB_TMP/stop"
	for i in 1 2 3 4; do
		load "$i" &
		pids+=($!)
	done
	until found; do
		if [ $((SECONDS - start)) -gt $LIMIT ]; then
			rc=1
			break
		fi
		lab_pause 1
	done
	ktap_diag "after $((SECONDS - start)) s"
	touch "$LAB_TMP/stop"
	wait_all "${pids[@]}" || rc=1
	rmmod rpcrdma2_race
	umount_nfs
	return $rc
}

have_rdma2 || ktap_skip_all "needs rpcrdma2"
lab_export ext4
fs_start
ktap_run "a race put in on purpose is found within $LIMIT s" is_found
