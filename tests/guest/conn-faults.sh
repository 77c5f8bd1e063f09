#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Every allocation that making a connection needs fails once, those inside the
# verbs included, the client's and the server's, while data waits to be written
# back through a hard mount: nobody sees an error, everything arrives (F-3). Needs failslab, so a debug
# kernel.
#
# timeout: 300
# flavours: uml-debug
# covers: ERR-13 REC-5
. /lab/lib/lab.sh
. /lab/lib/fs.sh

DEBUG=/sys/kernel/debug
COUNT=0

# range FUNCTION: its first and last address in the module.
range() {
	awk '$4 == "[rpcrdma2]" && $2 ~ /[tT]/ { print $1, $3 }' \
		/proc/kallsyms | sort |
		awk -v f="$1" '
			start && $1 != start { print "0x" start, "0x" $1; exit }
			$2 == f { start = $1 }'
}

# A read of this file may miss something while modules come and go.
found() { read -r START END < <(range "$1"); }

# Only what this function calls, whoever runs it.
filter() { # FUNCTION
	lab_wait 10 found "$1" || lab_die "$1: $(
		grep -c '\[rpcrdma2\]' /proc/kallsyms) symbols, but not this"
	echo 0 > $DEBUG/failslab/verbose
	echo N > $DEBUG/failslab/ignore-gfp-wait
	echo 32 > $DEBUG/failslab/stacktrace-depth
	echo "$START" > $DEBUG/failslab/require-start
	echo "$END" > $DEBUG/failslab/require-end
}

# fail_allocation N: the Nth from now on. The kernel counts on for ever what
# passed the filter, and lets fail what "interval" divides. So this works until
# the first time that nothing fails, once per boot.
fail_allocation() {
	COUNT=$((COUNT + $1))
	echo 1 > $DEBUG/failslab/times
	echo "$COUNT" > $DEBUG/failslab/interval
	echo 100 > $DEBUG/failslab/probability
}

# It has failed; otherwise there are fewer than that.
failed() { [ "$(< $DEBUG/failslab/times)" = 0 ]; }

# Connected again, which takes an RPC to want it.
connected_again() { # BEFORE
	: > "$D/touch"
	[ "$(connects)" -gt "$1" ]
}

each() { # DEV VERS FUNCTION LEAST
	local n before

	scratch faults
	nfs "$1" "$2"
	filter "$3"
	for ((n = 1; ; n++)); do
		before=$(connects)
		fail_allocation "$n"
		# at the next Call
		cut_start client 1 1
		iocheck write -t -y -s "$n" -l 50001 "$D/f"
		lab_wait 30 connected_again "$before"
		iocheck check -e -s "$n" -l 50001 "$E/f"
		failed || break
	done
	echo 0 > $DEBUG/failslab/probability
	cut_stop
	echo "$((n - 1)) allocations failed"
	[ "$n" -gt "$4" ]
	umount_nfs
	none_left
	rm -r "$E"
}

have_rdma2 || ktap_skip_all "needs rpcrdma2"
fs_start
ktap_run "rxe NFSv3 every allocation of a reconnect fails (F-3)" \
	each rxe 3 client_connect_worker 50
