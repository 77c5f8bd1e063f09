#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Cases of the conformance kit against a module that may have a fault: see
# tools/conform/check. From the kernel's command line:
#
#	lab_conform_cases=SIDE:CASE,...	which
#	lab_conform_expect=pass|fail	what they must do
#
# timeout: 240
. /lab/lib/lab.sh

have_rdma2 || lab_die "no rpcrdma2"
lab_all
echo 15000 > /sys/module/rpcrdma2/parameters/negotiate_ms

port=21000
for what in ${lab_conform_cases//,/ }; do
	side=${what%%:*} case=${what#*:}
	out=$LAB_TMP/conform rc=0
	[ "$side" = client ] && at=$((port += 10)) || at=20049
	rpcrdma2-conform "$side" "$(lab_addr rxe)" "$case" --port "$at" \
		--export / --here --mount-options rdmaver=2 \
		--scale "$lab_scale" --text "$LAB_OUT/$case.txt" \
		> "$out" < /dev/null || rc=$?
	cat "$out"
	grep -q '# SKIP' "$out" && rc=skipped
	case $lab_conform_expect-$rc in
	pass-0 | fail-1)
		ktap_diag "$(grep "^# $case" "$out")"
		ktap_ok "$case: $lab_conform_expect"
		;;
	*) ktap_fail "$case: $lab_conform_expect" "status $rc" ;;
	esac
done
