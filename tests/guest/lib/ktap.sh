# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# KTAP for test scripts. Every result goes to the result channel (as a subtest,
# behind KTAP_INDENT) and to KTAP_FILE, never to standard output, so a test's commands
# may print what they like.
#
#	ktap_ok NAME			ktap_fail NAME [WHY]
#	ktap_skip NAME WHY		ktap_diag TEXT
#	ktap_run NAME CMD ARG...	ok if CMD succeeds; runs in a subshell
#					with set -e and set -x
#	undo CMD ARG...			within CMD: runs at its end, however it ends
#	AT_END=CMD			within CMD: runs behind it, and has to succeed as well
#	ktap_skip_all WHY		nothing can be tested here: exit 4
#
# The plan is written by the exit trap.

KTAP_COUNT=0
KTAP_FAILED=0

_ktap_line() {
	printf '%s\n' "$1" >> "$KTAP_FILE"
	[ -z "${KTAP_CHANNEL-}" ] ||
		printf '%s%s\n' "${KTAP_INDENT-  }" "$1" >> "$KTAP_CHANNEL"
	printf '### %s\n' "$1"
}

_ktap_head() {
	[ "$KTAP_COUNT" != 0 ] || _ktap_line "KTAP version 1"
	KTAP_COUNT=$((KTAP_COUNT + 1))
}

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

undo() { UNDO+=("${*@Q}"); }

_ktap_undo() {
	local i

	for ((i = ${#UNDO[@]} - 1; i >= 0; i--)); do
		eval "${UNDO[i]}" || true
	done
}

ktap_run() {
	local name=$1 flags=$- rc log=$LAB_TMP/ktap_run.$BASHPID

	shift
	set +e
	(
		UNDO=() AT_END=
		trap "_ktap_undo > /dev/null 2>&1" EXIT
		set -eEx
		"$@"
		$AT_END
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
	_ktap_line "1..$KTAP_COUNT"
	[ "$KTAP_FAILED" = 0 ] || exit 1
	exit 0
}
