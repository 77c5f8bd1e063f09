#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Cases of the conformance kit against a module that may have a fault: see
# tests/faults/run. From the kernel's command line:
#
#	lab_fault_cases=GROUP:CASE,...
#
# timeout: 30
. /lab/lib/raw.sh

# One device is enough to see a fault.
lab_devices() { echo rxe; }

have_rdma2 || lab_die "no rpcrdma2"
lab_all
echo 15000 > /sys/module/rpcrdma2/parameters/negotiate_ms
port=21000
for what in ${lab_fault_cases//,/ }; do
	group=${what%%:*} name=${what#*:}
	case $group in
	version | replies | credits | reasons | *client*)
		raw_group "$group" "$port" "$name"
		port=$((port + 10))
		;;
	*) raw_group "$group" 20049 "$name" ;;
	esac
done
