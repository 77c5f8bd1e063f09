# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Changing properties of the one connection that a test has, by hand, and
# reading what both ends have come to. Needs fs.sh.

# end client|server: the file of that end of the connection.
end() {
	local f

	for f in "$OBSERVE/$1"-[0-9]*; do
		[ ! -e "$f" ] || echo "$f"
	done
}

# tell client|server WORD...: a request by an administrator.
tell() {
	local f

	f=$(end "$1")
	echo "${*:2}" > "$OBSERVE/change/${f##*/}"
}

# refuses client|server WORD...: a request that fails, without a change.
refuses() { ! tell "$@" 2> "$LAB_TMP/refused"; }

# value client|server NAME [FIELD]: the value of a line, or one of its words.
value() {
	local - line

	set +x
	while IFS= read -r line; do
		[ "${line%%: *}" = "$2" ] || continue
		# shellcheck disable=SC2086 # words
		set -- "$1" "$2" "${3:-1}" ${line#*: }
		shift 2
		shift "$1"
		echo "$1"
		return 0
	done < "$(end "$1")"
	return 1
}

# is client|server NAME FIELD VALUE
is() { [ "$(value "$1" "$2" "$3")" = "$4" ]; }

rbsiz() { value "$1" "Receive Buffer Size" 2; }		# END
peer_rbsiz() { value "$1" "Receive Buffer Size" 4; }

other_end() { if [ "$1" = client ]; then echo server; else echo client; fi; }

_agreed() { # END SIZE
	[ "$(rbsiz "$1")" = "$2" ] &&
		[ "$(peer_rbsiz "$(other_end "$1")")" = "$2" ] &&
		quiet client && quiet server
}

# quiet END: nothing is under way there.
quiet() {
	is "$1" request_pending 1 0 && is "$1" announcement_pending 1 0
}

# agreed END SIZE: both ends know that this is END's Receive Buffer Size.
agreed() {
	lab_wait 60 _agreed "$@" || {
		cat "$(end client)" "$(end server)"
		return 1
	}
}

# cycled: as many messages went both ways as there can be posted Receives.
cycled() {
	tell client cycle 300
	tell server cycle 300
	lab_wait 60 quiet client
	lab_wait 60 quiet server
}
