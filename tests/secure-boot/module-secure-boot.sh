#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The module under Secure Boot, with lockdown: unsigned it is refused, and the command
# says why; signed with a key that the firmware knows it is loaded, and mounts.
#
# timeout: 120
. /lab/lib/lab.sh

KO=$(modinfo -n rpcrdma2)

doctor() { rpcrdma2 doctor > $LAB_TMP/said || [ $? = 1 ]; cat $LAB_TMP/said; }

locked_down() {
	mountpoint -q /sys/kernel/security ||
		mount -t securityfs securityfs /sys/kernel/security
	dmesg | grep -i 'secure boot enabled'
	grep '\[integrity\]' /sys/kernel/security/lockdown
}

unsigned() {
	cp "$KO" $LAB_TMP/signed.ko
	cp /lab/tests/unsigned.ko "$KO"
	not modprobe rpcrdma2
	not grep '^rpcrdma2 ' /proc/modules
	doctor | grep '^secure-boot: the kernel refuses the module: .* has none;'
	cp $LAB_TMP/signed.ko "$KO"
}

signed() {
	doctor | grep "^secure-boot: .* requires the key of \"$(modinfo -F signer "$KO")\""
	fs_start
	doctor | not grep '^secure-boot:'
	nfs rxe 4.2
	iocheck write -t -d -s 1 -l 100001 /mnt/f
	iocheck check -e -d -s 1 -l 100001 /export/f
	umount_nfs
}

ktap_run "Secure Boot and lockdown" locked_down
ktap_run "unsigned" unsigned
ktap_run "signed" signed
