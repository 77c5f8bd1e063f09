# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# KTAP for test scripts. Every result goes to the result channel (as a subtest,
# behind KTAP_INDENT) and to KTAP_FILE, never to standard output, so a test's commands
# may print what they like.
#
#	ktap_plan N			optional, before the first result
#	ktap_ok NAME			ktap_fail NAME [WHY]
#	ktap_skip NAME WHY		ktap_diag TEXT
#	ktap_run NAME CMD ARG...	ok if CMD succeeds; runs in a subshell
#					with set -e and set -x
#	ktap_skip_all WHY		nothing can be tested here: exit 4
#
# The plan is written by the exit trap unless ktap_plan was called.

KTAP_COUNT=0
KTAP_PLAN=
KTAP_FAILED=0

_ktap_line() {
	printf '%s\n' "$1" >> "$KTAP_FILE"
	[ -z "${KTAP_CHANNEL-}" ] ||
		printf '%s%s\n' "${KTAP_INDENT-  }" "$1" >> "$KTAP_CHANNEL"
	printf '### %s\n' "$1"
}

_ktap_head() {
	[ "$KTAP_COUNT" != 0 ] || _ktap_line "KTAP version 1"
	[ "$KTAP_COUNT" != 0 ] || [ -z "$KTAP_PLAN" ] || _ktap_line "1..$KTAP_PLAN"
	KTAP_COUNT=$((KTAP_COUNT + 1))
}

ktap_plan() { KTAP_PLAN=$1; }

ktap_diag() { _ktap_line "# $*"; }

ktap_ok() {
	_ktap_head
	_ktap_line "ok $KTAP_COUNT $1"
}

ktap_fail() {
	_ktap_head
	KTAP_FAILED=$((KTAP_FAILED + 1))
	_ktap_line "not ok $KTAP_COUNT $1${2:+ # $2}"
}

ktap_skip() {
	_ktap_head
	_ktap_line "ok $KTAP_COUNT $1 # SKIP $2"
}

ktap_run() {
	local name=$1 flags=$- rc log=$LAB_TMP/ktap_run.$BASHPID

	shift
	set +e
	(
		set -eEx
		"$@"
	) > "$log" 2>&1
	rc=$?
	cat "$log"
	case $flags in *e*) set -e ;; esac
	if [ "$rc" = 0 ]; then
		ktap_ok "$name"
	else
		tail -n 8 "$log" | while IFS= read -r line; do
			ktap_diag "  $line"
		done
		ktap_fail "$name" "status $rc"
	fi
	rm -f "$log"
	return 0
}

ktap_skip_all() {
	echo "$*"
	trap - EXIT
	exit 4
}

_ktap_exit() {
	local rc=$?

	[ "$rc" = 0 ] || exit "$rc"
	[ "$KTAP_COUNT" != 0 ] || exit 0
	if [ -z "$KTAP_PLAN" ]; then
		_ktap_line "1..$KTAP_COUNT"
	elif [ "$KTAP_PLAN" != "$KTAP_COUNT" ]; then
		ktap_diag "planned $KTAP_PLAN, ran $KTAP_COUNT"
		exit 1
	fi
	[ "$KTAP_FAILED" = 0 ] || exit 1
	exit 0
}
