# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# The stand-in for hardware, where the guest has it in the place of rxe: what is
# set counts for a device that is made after that.

HW=/sys/module/rdma_rxe/parameters
HW_DEFAULTS=/run/hw-defaults

# hw_words PROFILE: its parameters.
hw_words() {
	awk -v name="$1" '
		/^#/	{ next }
		/^[^\t ]/ { mine = $1 == name; $1 = "" }
		mine	{ printf "%s ", $0; found = 1 }
		END	{ exit !found }' "$LABLIB/profiles"
}

# As the kernel's command line has it.
_hw_defaults() {
	local p

	if [ ! -e $HW_DEFAULTS ]; then
		for p in $HW/*; do
			[[ $(stat -c %a "$p") != 644 ]] ||
				echo "${p##*/}=$(< "$p")"
		done > $HW_DEFAULTS
	fi
	cat $HW_DEFAULTS
}

# hw_use PROFILE [PARAMETER=VALUE...]
hw_use() {
	local w

	HW_PROFILE="$*" HW_POLICY=
	for w in $(_hw_defaults) $(hw_words "$1" || echo "no-profile=$1") "${@:2}"; do
		case $w in
		refused) ;;
		policy.*)
			w=${w#*.}
			HW_POLICY+=" ${w/=/ }"
			;;
		*)
			echo "${w#*=}" > "$HW/${w%%=*}" ||
				lab_die "the stand-in has no $w"
			;;
		esac
	done
	echo "lab: device $HW_PROFILE" > /dev/kmsg
}
