#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A data race made on purpose (tests/module/rpcrdma2_race.c) is found while several
# processes do I/O: it samples often enough, where it matters.
#
# timeout: 20
# flavours: qemu-kcsan
. /lab/lib/lab.sh

# The longest that it may take, seconds
LIMIT=600

found() { dmesg | grep 'BUG: KCSAN: data-race in .*race_event \[rpcrdma2_race\]'; }

load() { # WORKER ROUND
	iocheck write -t -d -s "$2" -l 100001 -b 9001 "$D/r$1"
}

is_found() {
	local start=$SECONDS

	enter race rxe 4.2
	lab_modprobe rpcrdma2_race
	undo rmmod rpcrdma2_race
	work_start 4 load
	until found; do
		[ $((SECONDS - start)) -le $LIMIT ]
		lab_pause 1
	done
	ktap_diag "after $((SECONDS - start)) s"
	work_stop
}

fs_start ours ext4
ktap_run "a race put in on purpose is found within $LIMIT s" is_found
