#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A device refuses what a connection needs: a protection domain, a completion queue, a
# queue pair. A mount says so, a client that connects is refused, and what was made
# before that is given back (CVE-2022-48773 in Documentation/vulnerabilities.md).
#
# timeout: 60
# flavours: uml-debug
. /lab/lib/lab.sh
. /lab/lib/fs.sh

REFUSE=/sys/kernel/debug/fail_rpcrdma2/refuse

try_mount() { # DEV
	timeout $((20 * lab_scale)) mount -t nfs \
		-o "vers=4.2,proto=rdma,rdmaver=2,port=20049,retry=0" \
		"$(lab_addr "$1"):/" /mnt
}

client_refused() { # DEV
	local what rc=0

	for what in 1 2 4; do
		echo $what > $REFUSE
		if try_mount "$1"; then rc=1; fi
		echo 0 > $REFUSE
	done
	[ $rc = 0 ]
	none_left
	nfs "$1" 4.2
	umount_nfs
	none_left
}

server_refused() { # DEV
	local what rc=0

	for what in 1 2 4; do
		echo $what > $REFUSE
		if rpcrdma2-conform server "$(lab_addr "$1")" hdr_short \
			--scale "$lab_scale"; then rc=1; fi
		echo 0 > $REFUSE
	done
	[ $rc = 0 ]
	rpcrdma2-conform server "$(lab_addr "$1")" hdr_short --scale "$lab_scale"
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
