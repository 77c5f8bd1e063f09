# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Runs tests inside the guest as long as the queue, which several guests may
# share, has any, and writes KTAP to the result channel.

. /lab/lib/judge.sh

run_test() { # NAME NUMBER
	local name=$1 number=$2

	judge "$name" "/lab/tests/${name%@*}.sh"
	case $RESULT in
	pass) emit "ok $number $name # $REASON" ;;
	skip) emit "ok $number $name # SKIP $REASON" ;;
	fail)
		emit "not ok $number $name # $REASON"
		SPOILT=y
		;;
	esac
}

# Takes the first test from the queue, unless another guest is faster.
take_test() {
	local t

	for t in /queue/waiting/*; do
		t=${t##*/}
		mv "/queue/waiting/$t" "/queue/taken/$t" 2> /dev/null || continue
		TEST=${t#*.}
		return 0
	done
	return 1
}

LAB_CHANNEL_NAME=/dev/$lab_chan
export LAB_DRIVER=$$
SPOILT=
n=0
emit "KTAP version 1"
# After a failure the host goes on with a new guest.
while [ -z "$SPOILT" ] && take_test; do
	n=$((n + 1))
	run_test "$TEST" "$n"
done
emit "1..$n"
