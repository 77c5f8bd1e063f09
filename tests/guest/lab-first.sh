#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The smallest thing that must work: mount, write, read back, unmount.
#
# kselftest
# covers: REC-3
# flavours: uml uml-debug qemu qemu-debug qemu-kcsan arm64
. /lab/lib/lab.sh

one() { # DEV VERS
	mount_nfs "$1" "$2"
	grep " /mnt nfs" /proc/mounts
	echo "hello $1 $2" > /mnt/hello
	umount_nfs
	mount_nfs "$1" "$2"
	[ "$(cat /mnt/hello)" = "hello $1 $2" ]
	rpcrdma2 show client
	all_reliable "$1"
	umount_nfs
}

# all_reliable DEV: a QP at either end, of type RC, and none of another type. They
# bear the name of who makes them for us.
all_reliable() {
	local qps

	rdma res show qp link "${1}0"
	qps=$(rdma res show qp link "${1}0" | grep -F '[rdma_cm]')
	[ "$(wc -l <<< "$qps")" -ge 2 ]
	[ "$(grep -c ' type RC ' <<< "$qps")" = "$(wc -l <<< "$qps")" ]
}

lab_all
for dev in $(lab_devices); do
	for vers in 3 4.0 4.1 4.2; do
		ktap_run "$dev NFSv$vers" one "$dev" "$vers"
	done
done
