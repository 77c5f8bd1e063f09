#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Calls that expect no Reply, which would cost a credit each, are refused
# (tests/module/rpcrdma2_oneway.c); others of the same user go on.
#
# covers: CRED-16,MSG-12,RINV-16
. /lab/lib/lab.sh

oneway() { # DEV
	local rc=0 said

	said=$(modprobe rpcrdma2_oneway addr="$(lab_addr "$1")" \
		ident=0x5232 2>&1) || rc=$?
	echo "$said"
	[ "$rc" != 0 ] || { modprobe -r rpcrdma2_oneway; return 1; }
	[[ $said = *"Operation not supported"* ]]
	none_left
}

fs_start ours ext4
for dev in $(lab_devices); do
	ktap_run "$dev a Call without a Reply (W14)" oneway "$dev"
done
