#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Mounts by IPv6 address.
#
# kselftest
# timeout: 120
. /lab/lib/lab.sh

ipv6() { # DEV VERS
	scratch ipv6
	nfs "${1}6" "$2"
	grep -q " /mnt nfs.*proto=rdma6.*addr=$(lab_addr "${1}6")" /proc/mounts
	says_rdmaver
	iocheck put "$D" 0 1 511 4097 20001 1048577
	again "${1}6" "$2"
	iocheck get "$D" 0 1 511 4097 20001 1048577
	iocheck get "$E" 0 1 511 4097 20001 1048577
	iocheck sweep "$D/s" 1-2000/97
	xprt_lines | grep rdma
	case $2 in
	4.*) delegation_returns ;;
	esac
}

fs_start
for_all ipv6 "by IPv6"
