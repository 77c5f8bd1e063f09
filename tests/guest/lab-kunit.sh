#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The unit tests inside a kernel, as a KUnit module.
. /lab/lib/lab.sh

KUNIT=/sys/kernel/debug/kunit

modprobe rpcrdma2_kunit
for suite in "$KUNIT"/*/; do
	# Cases are indented below their suite.
	while IFS= read -r line; do
		case $line in
		"    ok "*SKIP*) ktap_fail "${line#*ok * }" ;;
		"    ok "*) ktap_ok "${line#*ok * }" ;;
		"    not ok "*) ktap_fail "${line#*ok * }" ;;
		"    # Subtest: "*) ktap_diag "suite ${line#*: }" ;;
		*"EXPECT"* | *"ASSERT"* | *" at "*) ktap_diag "${line#"${line%%[! ]*}"}" ;;
		esac
	done < "$suite/results"
done
[ "$KTAP_COUNT" -gt 0 ] || lab_die "no results in $KUNIT"
rmmod rpcrdma2_kunit
