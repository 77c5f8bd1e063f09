#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A little of everything, for the kernels on which the whole suite takes too
# long: the stock SMP kernel above all.
#
# kselftest
# programs: mke2fs
# flavours: qemu qemu-hw
# profiles: mlx5 i40iw
. /lab/lib/lab.sh

XATTRS="100 5000 60000"

smoke() { # DEV VERS
	local aces=40

	enter smoke "$1" "$2"
	says_rdmaver
	iocheck put "$D" 0 1 511 1023 4095 4096 4097 16384 1048577
	iocheck sweep "$D/s" 1-16500/509 $((300 << 10))
	again "$1" "$2"
	iocheck get "$D" 0 1 511 1023 4095 4096 4097 16384 1048577
	iocheck get "$E" 0 1 511 1023 4095 4096 4097 16384 1048577
	at_once 8 iocheck write -t -d -s {} -l 600001 -b 70001 "$D/w{}"
	iocheck random -n 200 "$D/r" "$E/copy"
	cmp "$E/r" "$E/copy"
	each 8 iocheck check -e -s {} -l 600001 "$E/w{}"
	iocheck write -t -m -s 9 -l 300001 "$D/m"
	iocheck check -e -s 9 -l 300001 "$E/m"
	mkdir "$E/dir"
	iocheck fill -n 500 -l 200 "$E/dir"
	iocheck list -n 500 -l 200 -e "$D/dir"
	iocheck symlink "$D" 59 4000
	iocheck readlink "$E" 59 4000
	case $2 in
	4.2) iocheck xattr "$D/m" "$E/m" $XATTRS ;;&
	4.*)
		iocheck nfs4acl "$D/m" "$aces"
		delegation_returns
		;;
	esac
}

many() { # DEV VERS
	enter many "$1" "$2" nconnect=4
	[ "$(xprt_lines | wc -l)" = 4 ]
	iocheck put "$D" 1-5000/500 1000001
	again "$1" "$2" nconnect=4
	iocheck get "$D" 1-5000/500 1000001
}

# Before Linux 6.6 tmpfs has no user xattrs; and on 6.1, exported, it loses what was
# written directly beyond the end of a file, over TCP as well.
if older_than 6.6; then
	lab_export ext4
	XATTRS="100 1000 3000"
fi
fs_start
# Emulated on another architecture it takes minutes for each
! lab_is arm64 || VERSIONS="3 4.2"
for_all smoke "a little of everything"
for_versions 3 many "nconnect=4"
if nfs4_nconnect; then
	for_versions 4.2 many "nconnect=4"
else
	ktap_skip "NFSv4.2 nconnect=4" "not over RDMA on this kernel"
fi
