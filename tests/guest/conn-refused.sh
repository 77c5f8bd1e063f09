#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A device refuses what a connection needs: a protection domain, a completion queue, a
# queue pair. A mount says so, a client that connects is refused, and what was made
# before that is given back (CVE-2022-48773 in Documentation/vulnerabilities.md).
. /lab/lib/lab.sh

REFUSE=/sys/kernel/debug/fail_rpcrdma2/refuse

client_refused() { # DEV
	local what

	undo eval "echo 0 > $REFUSE"
	for what in 1 2 4; do
		echo $what > $REFUSE
		not nfs "$1" 4.2 retry=0
	done
	echo 0 > $REFUSE
	none_left
	nfs "$1" 4.2
}

is_served() { # DEV
	rpcrdma2-conform server "$(lab_addr "$1")" hdr_short --scale "$lab_scale"
}

server_refused() { # DEV
	local what

	undo eval "echo 0 > $REFUSE"
	for what in 1 2 4; do
		echo $what > $REFUSE
		not is_served "$1"
	done
	echo 0 > $REFUSE
	is_served "$1"
	none_left
}

have_rdma2 || ktap_skip_all "needs rpcrdma2"
[ -e $REFUSE ] || load_rpcrdma2
[ -e $REFUSE ] || ktap_skip_all "needs fault injection"
fs_start
for dev in $(lab_devices); do
	ktap_run "$dev refuses a client's objects" client_refused "$dev"
	ktap_run "$dev refuses a server's objects" server_refused "$dev"
done
