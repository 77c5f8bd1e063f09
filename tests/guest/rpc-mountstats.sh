#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# What mountstats and the tools that read it say of the time an RPC takes: the wait
# for a credit is queue time, and the server's is round-trip time, as with the
# kernel's own transport. And which addresses sysfs says a connection has.
. /lab/lib/lab.sh

JOBS=6

# times: milliseconds that the RPCs of the mount have spent queued, and between Call
# and Reply.
times() {
	awk '
		$1 == "device" { mine = $5 == "/mnt" }
		mine && NF == 10 && $1 ~ /^[A-Z].*:$/ { queue += $7; rtt += $8 }
		END { print queue + 0, rtt + 0 }' /proc/self/mountstats
}

# The server grants one Call at a time and keeps the first one: the others have not
# been sent.
waits() { # DEV VERS
	local queue rtt before PIDS=()

	small_window 1
	enter waits "$1" "$2"
	each $JOBS iocheck write -t -l 4000 "$D/f{}"
	read -ra before <<< "$(times)"
	freeze
	launch $JOBS iocheck write -d -l 4000 -b 4000 "$D/f{}"
	lab_wait 20 stuck 1
	lab_pause 3
	thaw
	wait_all "${PIDS[@]}"
	read -r queue rtt <<< "$(times)"
	queue=$((queue - before[0])) rtt=$((rtt - before[1]))
	echo "queued for $queue ms, on the way for $rtt ms"
	[ "$queue" -gt $((2 * rtt)) ]
	[ "$rtt" -ge 2000 ]
}

# Both ends of the connection are this machine.
addresses() { # DEV VERS
	local addr file

	nfs "$1" "$2"
	ls /mnt > /dev/null
	addr=$(lab_addr "$1")
	for file in dstaddr srcaddr; do
		[ "$(cat /sys/kernel/sunrpc/xprt-switches/switch-*/xprt-*-rdma/$file)" = "$addr" ]
	done
}

fs_start ours ext4 16
for_versions 3 waits "waiting for a credit is queue time (C14)"
for_versions 3 addresses "addresses of a connection in sysfs"
