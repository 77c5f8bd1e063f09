# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# A peer that is gone without a word. Who sources this has SILENCE, seconds; cut and
# mend, with the words that both_notice gets; gone client|server: has that end no
# connection any more?

# both_notice LEAST [WORD...]: client and server end the connection within SILENCE, each
# by itself, since the other can't be heard; not before LEAST ms, unless no probe was
# posted after the cut: the last one was on its way then
both_notice() {
	local - least=$1 since role ms
	local -A noticed=() posted=()

	set +x
	shift
	since=$(now_ms)
	undo mend "$@"
	cut "$@"
	mark
	until [ ${#noticed[@]} = 2 ]; do
		lab_pause 0.05
		look
		ms=$(($(now_ms) - since))
		for role in client server; do
			if [ -n "${noticed[$role]-}" ]; then
				continue
			elif gone $role; then
				noticed[$role]=$ms
			else
				posted[$role]=${GREW[$role.probes]-0}
			fi
		done
		[ $ms -le $((4000 * SILENCE)) ] || break
	done
	mend "$@"
	ktap_diag "noticed after ms: client ${noticed[client]-never}," \
		"server ${noticed[server]-never}; probes posted: ${posted[*]}"
	for role in client server; do
		ms=${noticed[$role]-999999}
		[ "$ms" -ge "$least" ] || [ "${posted[$role]-}" = 0 ] || return 1
		[ "$ms" -le $((1000 * SILENCE + 1500 * lab_scale)) ] || return 1
	done
}
