#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The lab itself, with the kernel's own transport: mounts over every device,
# real files, checksums.
#
# flavours: uml uml-debug qemu qemu-debug qemu-kcsan arm64
. /lab/lib/lab.sh

files() { # DEV VERS
	local size

	mount_nfs "$1" "$2"
	grep ' /mnt nfs' /proc/mounts
	grep -q "xprt:	rdma" /proc/self/mountstats
	mkdir /mnt/d
	for size in 0 1 511 4095 4096 4097 65536 3000001; do
		head -c "$size" /dev/urandom > "$LAB_TMP/f$size"
		cp "$LAB_TMP/f$size" "/mnt/d/f$size"
	done
	umount_nfs
	mount_nfs "$1" "$2"
	for size in 0 1 511 4095 4096 4097 65536 3000001; do
		cmp "$LAB_TMP/f$size" "/mnt/d/f$size"
	done
	rm -r /mnt/d
	umount_nfs
}

lab_net
lab_server
lab_listen rdma 20050
for dev in $(lab_devices); do
	for vers in 3 4.2; do
		ktap_run "$dev NFSv$vers" files "$dev-v1" "$vers"
	done
done
