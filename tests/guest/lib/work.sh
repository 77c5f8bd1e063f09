# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Work on one file that goes on while something else happens: rounds of writing and
# checking, which are counted.

WORK_ROUND=$LAB_TMP/round WORK_END=$LAB_TMP/stop

# work_start FILE: begins in the background, as process WORK.
work_start() {
	rm -f "$WORK_ROUND" "$WORK_END"
	work "$1" &
	WORK=$!
	lab_wait 20 work_further 0
}

work() {
	local n=0

	while [ ! -e "$WORK_END" ]; do
		n=$((n + 1))
		iocheck write -t -d -s "$n" -l 100001 -b 9001 "$1" || return 1
		iocheck check -e -d -s "$n" -l 100001 -b 7001 "$1" || return 1
		echo $n > "$WORK_ROUND"
	done
}

# Rounds that are over; is it more than N of them?
work_rounds() { cat "$WORK_ROUND" 2> /dev/null || echo 0; }
work_further() { [ "$(work_rounds)" -gt "$1" ]; }

# No further round; fails if one has.
work_stop() {
	touch "$WORK_END"
	wait "$WORK"
}
