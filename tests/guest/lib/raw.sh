# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Cases of the raw peer (tests/conform) as subtests.

# raw_smp DEV NAMES: the guest with several CPUs is emulated and slow. There,
# over this device, only these cases: what CPUs may race about. User-Mode Linux
# runs all of them.
declare -A raw_smp_cases
raw_smp() {
	raw_smp_cases[$1]=${2//[$'\n\t']/ }
}

# raw_group GROUP PORT[+] [NAME...]: every case of a group, or the named ones,
# over every device. The name of a result begins with the requirement ids.
# With PORT+ every case has its own ports, so that it never meets mounts of
# others.
raw_group() {
	local group=$1 port=${2%+} step=0 dev name ids text pick

	[ "$port" = "$2" ] || step=2
	shift 2
	rpcrdma2-conform list "$group" > "$LAB_TMP/raw.$group"
	[ -s "$LAB_TMP/raw.$group" ] || lab_die "no cases of group $group"
	for dev in $(lab_devices); do
		pick=$*
		! lab_is qemu || pick=${raw_smp_cases[$dev]-$pick}
		for name in $pick; do
			grep -q "^$name"$'\t' "$LAB_TMP/raw.$group" ||
				ktap_fail "$name" "no case of $group"
		done
		while IFS=$'\t' read -r name _ ids text; do
			[ -z "$pick" ] || [[ " $pick " = *" $name "* ]] ||
				continue
			raw_case "$name" "$dev" "$port" "$ids $text ($dev)"
			port=$((port + step))
		done < "$LAB_TMP/raw.$group"
	done
}

raw_case() { # NAME DEV PORT TITLE
	local log=$LAB_TMP/raw.log rc=0 since=$EPOCHREALTIME

	rpcrdma2-conform run "$1" --addr "$(lab_addr "$2")" --port "$3" --dev "$2" \
		--scale "$lab_scale" ${RAW_VERBOSE:+-v} \
		> "$log" 2>&1 < /dev/null || rc=$?
	echo "---- $1 $2: $rc, $(((${EPOCHREALTIME/./} - ${since/./}) / 1000)) ms"
	cat "$log"
	case $rc in
	0) ktap_ok "$4" ;;
	4) ktap_skip "$4" "$(sed -n 's/^skipped: //p' "$log")" ;;
	*)
		tail -n 20 "$log" | while IFS= read -r line; do
			ktap_diag "  $line"
		done
		ktap_fail "$4" "case $1, status $rc"
		;;
	esac
}
