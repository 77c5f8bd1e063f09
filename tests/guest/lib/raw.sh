# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# What scripts source, instead of lab.sh, for cases of the conformance kit (tools/conform)
# as subtests. "rpcrdma2-conform list GROUP" tells the cases of a group, and what they cover.

. "$(dirname "${BASH_SOURCE[0]}")/lab.sh"

# tests/run conform.NAME: cases, separated by commas. Only they run, and nothing else
# of the script that has them.
lab_cases=${lab_cases-}
if [ -n "$lab_cases" ]; then
	ktap_run() { :; }
fi

# chosen GROUP [NAME...]: which of lab_cases there are in the group, or among the names.
chosen() {
	local group=$1

	shift
	rpcrdma2-conform list "$group" |
		awk -F'\t' -v cases=",$lab_cases," -v names=" $* " \
		'index(cases, "," $1 ",") && (names == "  " || index(names, " " $1 " ")) {
			print $1
		}'
}

# raw_smp DEV NAMES: the guest with several CPUs is emulated and slow. There,
# over this device, only these cases: what CPUs may race about. User-Mode Linux
# runs all of them.
declare -A raw_smp_cases
raw_smp() {
	raw_smp_cases[$1]=${2//[$'\n\t']/ }
}

# raw_second DEV ADDR: an address for the device's interface beside its usual one, for
# cases in which a client has several paths
declare -A raw_seconds
raw_second() {
	local link=v0

	[ "$1" = rxe ] || link=w0
	ip addr add "$2/24" dev $link
	raw_seconds[$1]=$2
	lab_wait 10 raw_second_usable "$1" "$2"
}

# rxe learns of addresses a little later.
raw_second_usable() {
	local gid part

	[ "$1" = rxe ] || return 0
	IFS=. read -ra part <<< "$2"
	gid=$(printf '%02x%02x:%02x%02x' "${part[0]}" "${part[1]}" "${part[2]}" "${part[3]}")
	grep -qs "ffff:$gid\$" /sys/class/infiniband/rxe0/ports/1/gids/*
}

# What cases of a server need
raw_server() {
	ours || ktap_skip_all "needs rpcrdma2"
	lab_all
}

# What cases of a mount need. A slow guest is not a silent server.
raw_client() {
	ours || ktap_skip_all "needs rpcrdma2"
	lab_net
	load_rpcrdma2 negotiate_ms=15000
}

# plain_user: from now on cases are run by an ordinary user who may use the RDMA
# devices, and may lock memory for them.
RAW_AS=()
plain_user() {
	chmod 666 /dev/infiniband/*
	chmod 1777 /tmp
	ulimit -l unlimited
	RAW_AS=(setpriv --reuid=65534 --regid=65534 --clear-groups)
}

# raw_group GROUP PORT [NAME...]: every case of a group, or the named ones, over
# every device. The name of a result begins with the requirement ids.
raw_group() {
	local group=$1 port=$2 side=server dev pick cases

	case $group in
	version | replies | credits | reasons | *client*) side=client ;;
	esac
	shift 2
	if [ -n "$lab_cases" ]; then
		mapfile -t cases < <(chosen "$group" "$@")
		[ ${#cases[@]} -gt 0 ] || return 0
	fi
	for dev in $(lab_devices); do
		pick=$*
		! lab_is qemu || pick=${raw_smp_cases[$dev]-$pick}
		[ -z "$lab_cases" ] || pick=${cases[*]}
		# shellcheck disable=SC2086 # names
		raw_run "$dev" $side "$(lab_addr "$dev")" --port "$port" \
			--dev "$dev" --scale "$lab_scale" --module \
			--export / --here --mount-options rdmaver=2 \
			${raw_seconds[$dev]:+--second "${raw_seconds[$dev]}"} \
			--group "$group" ${RAW_VERBOSE:+-v} $pick
		# No mount meets those of another device.
		[ $side = server ] || port=$((port + 1000))
	done
}

# raw_run [-d CASE,...] SUFFIX ARG...: what the kit reports becomes ours, case by case.
# -d: others are known to deviate there, so these cases must fail. CASE?REASON: it
# may fail for this reason, which is a race of theirs; a skipped result.
raw_run() {
	local deviations='' suffix line name said=() plan=none n=0

	if [ "$1" = -d ]; then
		deviations=$2
		shift 2
	fi
	suffix=$1
	shift
	while IFS= read -r line; do
		echo "$line"
		case $line in
		'#'*) said+=("${line#\# }") ;;
		1..*) plan=${line#1..} ;;
		esac
		[[ $line =~ ^(not )?ok\ [0-9]+\ (.*)$ ]] || continue
		n=$((n + 1))
		name="${BASH_REMATCH[2]%% # SKIP *} ($suffix)"
		if [[ ,$deviations, = *",${said[0]%%:*},"* ]]; then
			name+=": deviates"
			[[ $line = not* ]] && line=${line#not } || line="not $line"
		elif [[ $line = not* &&
			,$deviations, = *",${said[0]%%:*}?${said[0]#*, },"* ]]; then
			line="ok # SKIP deviates this time: ${said[0]#*, }"
		fi
		case $line in
		ok*' # SKIP '*) ktap_skip "$name" "${line##* # SKIP }" ;;
		ok*) ktap_ok "$name" ;;
		not*)
			for line in "${said[@]}"; do
				ktap_diag "  $line"
			done
			ktap_fail "$name" "case ${said[0]%%:*}"
			;;
		esac
		said=()
	done < <("${RAW_AS[@]}" rpcrdma2-conform "$@" < /dev/null)
	[ "$n" = "$plan" ] || lab_die "rpcrdma2-conform $*: $n results of $plan"
}
