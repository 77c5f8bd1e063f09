#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# nconnect=4: four connections, all of them used, all of them gone after the
# last unmount.
#
# kselftest
# timeout: 180
. /lab/lib/lab.sh

nconnect() { # DEV VERS
	enter nconnect "$1" "$2" nconnect=4
	grep -q ' /mnt nfs.*nconnect=4' /proc/mounts
	says_rdmaver
	at_once 8 iocheck write -t -d -s {} -l 300001 -b 10000 "$D/f{}"
	xprt_lines
	[ "$(xprt_lines | wc -l)" = 4 ]
	# Columns: port, bind, connect, time, idle, sends.
	[ "$(xprt_lines | awk '$5 >= 1 && $8 >= 5' | wc -l)" = 4 ]
	! ours || [ "$(connections client)" = 4 ]
	! ours || [ "$(connections server)" = 4 ]
	drop_caches
	at_once 8 iocheck check -e -s {} -l 300001 -b 5000 "$D/f{}"
	each 8 iocheck check -e -s {} -l 300001 "$E/f{}"
}

fs_start
for_all nconnect nconnect
