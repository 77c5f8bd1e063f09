# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Sourced by checks that are a list of commands, after lab/common.sh: who runs them,
# what is said of each, the sum. They set
#   again	what to type in order to run them again
#   only	where each can run alone: the names of those that are asked for, or
#		nothing for all, or --list, which prints the names. A name is what is
#		said of a check, in small letters, digits and dashes.

passed=0 failed=0 skipped=0

# new_logs NAME: a directory for what they print, empty.
new_logs() {
	logs=$BUILD/$1
	[ "${only-}" != --list ] || return 0
	rm -rf "$logs"
	mkdir -p "$logs"
}

# What comes before each, in its subshell; scripts have their own.
before_check() { :; }

# short NAME: sets SHORT to what tests/run calls it.
short() {
	local words

	read -ra words <<< "$(tr -cs a-z0-9 ' ' <<< "${1,,}")"
	SHORT=$(IFS=- && echo "${words[*]}")
}

# check NAME CMD...
check() {
	local name=$1 log=$logs/$((passed + failed + 1)).log rc

	shift
	if [ -n "${only-}" ]; then
		short "$name"
		[ "$only" != --list ] || echo "$SHORT"
		[[ " $only " = *" $SHORT "* ]] || return 0
	fi
	# Where a status is asked for, as after "if", -e has no effect.
	set +e
	(set -ex; before_check; "$@") > "$log" 2>&1
	rc=$?
	set -e
	if [ $rc = 0 ]; then
		passed=$((passed + 1))
		echo "ok $((passed + failed)) $name"
	else
		failed=$((failed + 1))
		echo "not ok $((passed + failed)) $name"
		tail -n 25 "$log" | sed 's/^/# /'
		echo "# log: $log"
		[ -z "${only+y}" ] || short "$name"
		echo "# again: $again${only+ $SHORT}"
	fi
}

# never CMD...: CMD fails. -e takes no notice of what "!" makes of a status.
never() { if "$@"; then return 1; fi; }

# sum: the last line. Returns failure if something failed, or nothing ran.
sum() {
	[ "${only-}" != --list ] || return 0
	echo "$passed passed, $failed failed, $skipped skipped"
	[ "$failed" = 0 ] && [ "$passed" -gt 0 ]
}

# skip_all WHY: ends the script, well.
skip_all() {
	say "skipped: $1"
	skipped=1
	sum || exit 0
}
