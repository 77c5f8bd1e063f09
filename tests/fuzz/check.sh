#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Runs fuzz targets for a while and says in KTAP how it went.
#
# usage: check.sh MAKE SECONDS TARGET...
make=$1 seconds=$2
shift 2
n=0 passed=0 failed=0

echo "KTAP version 1"
echo "1..$#"
for target; do
	n=$((n + 1))
	log=$O/$target.log
	if "$make" -s "run-$target" "SECONDS=$seconds" "O=$O" > "$log" 2>&1; then
		passed=$((passed + 1))
		sed -n "s/^stat::number_of_executed_units: */# $target: inputs: /p" "$log"
		echo "ok $n fuzz_$target"
	else
		failed=$((failed + 1))
		tail -n 40 "$log" | sed 's/^/# /'
		echo "not ok $n fuzz_$target"
	fi
done
echo "$passed passed, $failed failed, 0 skipped"
[ "$failed" = 0 ]
