#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A completion handler that calls what may sleep, on purpose, is found, although it does
# not sleep. So a kernel that looks for that shows by every other test that none does.
#
# timeout: 30
# flavours: uml-debug qemu-debug
. /lab/lib/lab.sh

FAULT=/sys/kernel/debug/fail_rpcrdma2/sleep
COMPLAINT='sleeping function called from invalid context at .*/cq\.h:'

found() { dmesg | grep -A 1 "$COMPLAINT" | grep ' non_block: 1,'; }

is_found() { # DEV VERS
	enter sleep "$1" "$2"
	# The same messages without the fault
	: > "$D/before"
	if found; then
		return 1
	fi
	echo Y > $FAULT
	: > "$D/after"
	echo N > $FAULT
	lab_wait 10 found
}

lab_allow_log "$COMPLAINT"
fs_start ours
ktap_run "a completion handler that may sleep is found" is_found rxe 4.2
