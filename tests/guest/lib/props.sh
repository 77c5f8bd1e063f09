# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Changing properties of the one connection that a test has, by hand, and
# reading what both ends have come to.

# tell client|server WORD...: a request by an administrator.
tell() { rpcrdma2 change "$(id "$1")" "${@:2}"; }

# refuses client|server WORD...: a request that fails, without a change.
refuses() {
	local n

	n=$(id "$1")
	[ -n "$n" ] && ! rpcrdma2 change "$n" "${@:2}" 2> "$LAB_TMP/refused"
}

# value client|server NAME [FIELD]: the value of a line, or one of its words.
value() {
	local - words

	set +x
	look
	read -ra words <<< "${SAID[$1.$2]-}"
	[ -n "${words[${3:-1} - 1]-}" ] && echo "${words[${3:-1} - 1]}"
}

# is client|server NAME FIELD VALUE
is() { [ "$(value "$1" "$2" "$3")" = "$4" ]; }

# below client|server NAME NUMBER
below() { [ "$(value "$1" "$2")" -lt "$3" ]; }

rbsiz() { value "$1" rbsiz 2; }		# END
peer_rbsiz() { value "$1" rbsiz 4; }

other_end() { if [ "$1" = client ]; then echo server; else echo client; fi; }

_agreed() { # END SIZE
	look
	[[ ${SAID[$1.rbsiz]-} = "local $2 "* ]] &&
		[[ ${SAID[$(other_end "$1").rbsiz]-} = *" peer $2" ]] &&
		_quiet client && _quiet server
}

# quiet END: nothing is under way there.
quiet() {
	look
	_quiet "$1"
}
_quiet() { # END, when it was last looked at
	[ "${NOW[$1.request_pending]-}${NOW[$1.announcement_pending]-}" = 00 ]
}

# agreed END SIZE: both ends know that this is END's Receive Buffer Size.
agreed() {
	lab_wait 60 _agreed "$@" || {
		rpcrdma2 show
		return 1
	}
}

# both_grow SIZE: the client asks for it, then the server.
both_grow() {
	tell client rbsiz "$1"
	agreed server "$1"
	tell server rbsiz "$1"
	agreed client "$1"
}

# Nothing went wrong since the start.
clean() {
	local role rc=0

	WAS=()
	look
	for role in client server; do
		counted $role -eq 0 reconnects tx_error rx_error rx_malformed \
			rx_unknown_type rx_bad_xid resprops_dropped over_credit \
			props_unasked props_ignored || rc=1
	done
	return $rc
}
