# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# What tests share that mount something. They run on whichever transport SUFFIX
# names: '' is ours, -v1 the stock one (the default where ours does not
# exist; "--param lab_suffix=-v1" to ask for it).

VERSIONS="3 4.0 4.1 4.2"

# Adapters differ in what they do below NFS: of what is about NFS, or the length
# of a wait, a guest with an adapter leaves out a part.
adapter() { [ -n "${lab_profile-}" ]; }
! adapter || VERSIONS="3 4.2"

SUFFIX=${lab_suffix-}
have_rdma2 || SUFFIX=-v1

ours() { [ "$SUFFIX" = "" ]; }

# says_rdmaver: the mount is shown with it, if the transport is ours and not in the place of
# the stock one. With `! ours` at the end this could not fail, see not().
says_rdmaver() {
	[ -n "${lab_replace-}" ] || not ours || grep " /mnt nfs.*[ ,]rdmaver=2[ ,]" /proc/mounts
}

# The debug kernel does the same work ten times slower: fewer sizes, smaller
# files there.
quick() { ! lab_is uml; }
by_speed() { if quick; then echo "$2"; else echo "$1"; fi; } # FAST SLOW

if quick; then STEP=3 BIG=8 MANY=1500; else STEP=1 BIG=64 MANY=5000; fi

# Lengths that put a message on either side of a threshold whatever its
# headers: as RPC messages are multiples of 4 bytes long, steps up to 3 meet
# every message length.
THRESHOLDS="1024 4096 8192 16384 20480"
# shellcheck disable=SC2086 # a list
around() { # STEP [THRESHOLD...]
	local step=$1 t

	shift
	for t in ${*:-$THRESHOLDS}; do
		echo "$((t - 400))-$((t + 8))/$step"
	done
}

# fs_start [ours] [ext4] [THREADS]: network, server, the one listener the test needs.
# ours: it is for our transport only; ext4: that is what /export is.
fs_start() {
	local word threads=()

	for word; do
		case $word in
		ours) ours || ktap_skip_all "needs rpcrdma2" ;;
		ext4) lab_export ext4 ;;
		*) threads=("$word") ;;
		esac
	done
	lab_net
	lab_server "${threads[@]}"
	fs_listen
}

# fs_start_secure WORD...: the same with RPCSEC_GSS, and RPCs of up to 1 MiB.
fs_start_secure() {
	lab_modprobe cts auth_rpcgss rpcsec_gss_krb5 nfsd
	mount -t nfsd nfsd "$NFSD"
	echo $((1 << 20)) > "$NFSD/max_block_size"
	fs_start "$@"
	echo '/export *(rw,no_root_squash,insecure,fsid=0,no_subtree_check,sec=sys:krb5:krb5i:krb5p)' \
		> /run/exports
	exportfs -ra
}

stop_server() { echo 0 > $NFSD/threads; }
start_server() { # [THREADS]
	lab_nfsd "$@"
	fs_listen
}

# A slow guest is not a silent server, hence the long time limit.
fs_listen() {
	if ours; then
		load_rpcrdma2 negotiate_ms=15000
		lab_listen rdma2 20049
		: "${LISTENERS:=$(< /sys/module/rpcrdma2/refcnt)}"
	else
		lab_listen rdma 20050
	fi
}

# for_all FUNC NAME: one subtest for every device and NFS version.
for_all() { for_versions "$VERSIONS" "$@"; }

for_versions() { # "VERSION..." FUNC NAME
	local dev vers

	for dev in $(lab_devices); do
		for vers in $(versions_of "$dev" "$1"); do
			ktap_run "$dev NFSv$vers${3:+ $3}" "$2" "$dev" "$vers"
		done
	done
}

# versions_of DEV "VERSION...": those to test over this device. On uml-debug rxe and siw
# share more than two versions; lab_pairs=all (make check-pairs): each has all of them.
versions_of() {
	local list turns=(rxe siw siw rxe) n=0 vers

	read -ra list <<< "$2"
	[ ${#list[@]} -gt 2 ] && [ "${lab_pairs-}" != all ] && lab_is uml-debug &&
		has rxe && has siw || turns=()
	for vers in "${list[@]}"; do
		[ "${turns[n++]:-$1}" != "$1" ] || echo "$vers"
	done
}

# Several cases on one mount: mounted "VERSION..." CASE=FUNC...; FUNC gets DEV
# and VERS, and each is a subtest. It begins with an empty directory of its name,
# see scratch.
mounted() {
	local versions=$1 dev vers c

	shift
	for dev in $(lab_devices); do
		for vers in $(versions_of "$dev" "$versions"); do
			nfs "$dev" "$vers" || lab_die "cannot mount $dev $vers"
			for c in "$@"; do
				ktap_run "$dev NFSv$vers ${c%%=*}" \
					_mounted "${c#*=}" "$dev" "$vers"
			done
			umount_nfs || lab_die "cannot unmount $dev $vers"
			none_left ||
				ktap_fail "$dev NFSv$vers no connection is left"
		done
	done
}

_mounted() { # FUNC DEV VERS
	scratch "$1"
	"$@"
	rm -rf "$E"
	AT_END=
}

# nfs DEV VERS [OPTS [DIR]]: mount over the transport under test. What a subtest has
# mounted on /mnt it leaves at its end, unless it says "AT_END=".
nfs() {
	mount_nfs "$1$SUFFIX" "${@:2}" || return
	[ -n "${4-}" ] || AT_END=_leave
}

_leave() { ! nfs_mounted || leave; }

# second DEV VERS [OPTS]: another client of the same server, mounted in $SECOND:
# for NFSv4 another minor version (which has a client ID, delegations and locks
# of its own), for NFSv3 a mount that shares nothing.
SECOND=/run/second
second() {
	local vers=$2

	case $vers in
	4.0 | 4.2) vers=4.1 ;;
	4.1) vers=4.2 ;;
	esac
	nfs "$1" "$vers" "nosharecache${3:+,$3}" $SECOND
}

# again DEV VERS: the same mount with an empty cache.
again() {
	umount_nfs
	nfs "$@"
}

# scratch NAME: an empty directory on the export; D is its name on the client
# (below /mnt), E on the server.
scratch() {
	D=/mnt/$1 E=/export/$1
	rm -rf "$E"
	mkdir -m 1777 "$E"
}

# enter NAME DEV VERS [OPTS]: an empty directory and the mount; leave: neither of them
# is left, nor a connection. Subtests do so at their end.
enter() {
	scratch "$1"
	nfs "${@:2}"
}

leave() {
	umount_nfs
	none_left
	[ -z "${E-}" ] || rm -rf "$E"
}

not() { ! "$@"; }

# N times CMD, with the numbers from 1 to N in the place of {}:
#
#	each N CMD...		one after the other
#	launch N CMD...		at once, in the background; PIDS has them as well
#	at_once N CMD...	at once, and waits for all
each() {
	local n cmd=("${@:2}")

	for ((n = 1; n <= $1; n++)); do
		"${cmd[@]//"{}"/$n}" || return
	done
}

PIDS=()
launch() {
	local n cmd=("${@:2}")

	for ((n = 1; n <= $1; n++)); do
		"${cmd[@]//"{}"/$n}" &
		PIDS+=($!)
	done
}

at_once() {
	local PIDS=()

	launch "$@"
	wait_all "${PIDS[@]}"
}

# wait_all PID...: waits for each and fails if one of them failed.
wait_all() {
	local - p rc=0

	set +x
	for p in "$@"; do
		wait "$p" || { echo "process $p: status $?"; rc=1; }
	done
	return "$rc"
}

# started PID...: each of them is iocheck now. Before it executes a program, a shell keeps all
# signals but KILL for later, and they are lost.
started() {
	local p comm

	for p; do
		read -r comm < "/proc/$p/comm"
		[ "$comm" = iocheck ] || return 1
	done
}

# siw of 6.12 on several CPUs may leave the first message of a connection unread
# until another comes. Our client sends something; the stock one waits for its
# RPC timer.
may_stall() { [ "$1" = siw ] && [ "$(nproc)" -gt 1 ]; }

# xprt_lines [DIR [COLUMN]]: the xprt: lines of mountstats of a mount.
xprt_lines() {
	awk -v dir="${1:-/mnt}" -v column="${2:-0}" '
		$1 == "device" { mine = $5 == dir }
		mine && $1 == "xprt:" { print $column }' /proc/self/mountstats
}

# operations OP [DIR]: how many of them a mount sent.
operations() {
	awk -v op="$1:" -v dir="${2:-/mnt}" '
		$1 == "device" { mine = $5 == dir }
		mine && $1 == op { n = $2 }
		END { print n + 0 }' /proc/self/mountstats
}

# swap_file FILE MiB
swap_file() {
	dd if=/dev/zero of="$1" bs=1M count="$2" conv=fsync status=none
	chmod 600 "$1"
	mkswap "$1" > /dev/null
}

# ---- until the end of the subtest ----

# parameter NAME VALUE: of the module
parameter() {
	undo eval "echo $(< "$PARAMETERS/$1") > $PARAMETERS/$1"
	echo "$2" > "$PARAMETERS/$1"
}

# nfsd_threads N
nfsd_threads() {
	undo eval "echo $(< $NFSD/threads) > $NFSD/threads"
	echo "$1" > $NFSD/threads
}

# ---- counters of our connections ----

# What "rpcrdma2 show" tells of all connections, by their role, client or server.
# One program, however much is asked, and no trace of it: tests look often, and
# guests start programs slowly.
#
#	look		reads it: sums of numbers, NOW[ROLE.NAME], and
#			GREW[ROLE.NAME] since the mark (for connections that
#			lived through both); SAID[ROLE.NAME] is the line of
#			the last connection
#	mark		where GREW starts
declare -A NOW GREW WAS SAID
look() {
	local - shown line role='' name value key
	local -a lines

	set +x
	NOW=() GREW=() SAID=()
	[ -e /sys/module/rpcrdma2 ] || return 0
	shown=$(rpcrdma2 show) || return
	mapfile -t lines <<< "$shown"
	for line in "${lines[@]}"; do
		name=${line%%: *} value=${line#*: }
		case $name in
		id) role='' ;;
		role) role=$value ;;
		esac
		[ -n "$role" ] || continue
		key=$role.$name
		SAID[$key]=$value
		[[ $value =~ ^[0-9]+$ ]] || continue
		NOW[$key]=$((${NOW[$key]-0} + value))
	done
	for key in "${!NOW[@]}"; do
		GREW[$key]=$((${NOW[$key]} - ${WAS[$key]-0}))
	done
}

mark() {
	local - key

	set +x
	look
	WAS=()
	for key in "${!NOW[@]}"; do
		WAS[$key]=${NOW[$key]}
	done
}

# counted ROLE TEST NUMBER NAME...: what they grew by, since the mark and until
# the last look, satisfies the test.
counted() {
	local - role=$1 op=$2 number=$3 name rc=0

	set +x
	shift 3
	for name; do
		test "${GREW[$role.$name]-none}" "$op" "$number" && continue
		echo "$role $name grew by ${GREW[$role.$name]-none}, not $op $number"
		rc=1
	done
	return "$rc"
}

# connections client|server: how many there are.
connections() { rpcrdma2 show module "$1" | sed -n 's/^connections: //p'; }

# no_connection: nothing is shown, of either role.
no_connection() {
	rpcrdma2 show > "$LAB_TMP/left" && [ ! -s "$LAB_TMP/left" ]
}

# no_family: nobody answers the command.
no_family() {
	local rc=0

	rpcrdma2 show || rc=$?
	[ $rc = 3 ]
}

_none_left() { no_connection && module_users "$LISTENERS"; }

# connections_are client|server N
connections_are() { [ "$(connections "$1")" = "$2" ]; }

# module_users N: listeners and connections
module_users() {
	local refs

	read -r refs < /sys/module/rpcrdma2/refcnt
	[ "$refs" = "$1" ]
}

# none_left: after the last unmount all connections end; only listeners keep
# the module.
none_left() { ! ours || lab_wait 20 _none_left; }

# calls_ended: nothing is under way, on either end.
calls_ended() {
	look
	[ "${NOW[client.calls_outstanding]}" = 0 ] &&
		[ "${NOW[server.calls_being_served]}" = 0 ]
}

# reconnected [N]: the client has replaced a connection, or so many.
reconnected() { look; [ "${NOW[client.reconnects]-0}" -ge "${1:-1}" ]; }

# probed N: the client has sent so many probes.
probed() { look; [ "${NOW[client.probes]-0}" -ge "$1" ]; }

# ---- trace events ----

: "${TRACE:=/sys/kernel/tracing}"

trace_on() { # EVENT...
	local e

	echo > $TRACE/trace
	for e in "$@"; do
		echo 1 > "$TRACE/events/$e/enable"
	done
	echo 1 > $TRACE/tracing_on
}

trace_off() { echo 0 > $TRACE/events/enable; }

# traced REGEX: has it happened since trace_on?
traced() { grep -qE "$1" $TRACE/trace; }

# ---- delegations ----

# delegated FILE ACCESS: has the server given away a delegation (r or w) of the
# file, a name relative to the export?
delegated() {
	grep -qs "type: deleg, access: $2.*filename: \".*$1\"" \
		$NFSD/clients/*/states
}

DELEG_NR=0

# The server gives none before it has seen the callback channel work, and none
# for a file that was recalled a short while ago: try with new files.
_get_delegation() {
	local -

	set +x
	[ -z "$DELEG_FD" ] || exec {DELEG_FD}<&-
	DELEG=deleg$((++DELEG_NR))
	iocheck write -t -s 1 -l 20001 "$E/$DELEG"
	case $1 in
	r) exec {DELEG_FD}< "$D/$DELEG" ;;
	w) exec {DELEG_FD}<> "$D/$DELEG" ;;
	esac
	delegated "$DELEG" "$1"
}

# get_delegation r|w: leaves the file open as DELEG_FD; its name is DELEG, its
# content that of iocheck -s 1 -l 20001.
get_delegation() {
	DELEG_FD=
	lab_wait 20 _get_delegation "$1"
}

drop_delegation_file() { exec {DELEG_FD}<&-; }

# The client gets a delegation and gives it back when the server wants to write.
delegation_returns() {
	get_delegation r
	timeout 60 bash -c ": >> $E/$DELEG"
	drop_delegation_file
}

# recalled [N]: the client has answered this many recalls. The server may take
# note of an answer only after the delegation itself has come back.
recalled() {
	[ "$(grep -c "nfsd_cb_recall_done: .*status=0" $TRACE/trace)" -ge "${1:-1}" ]
}

# ---- faults that the kernel injects (debug kernels only) ----

FAIL_SLAB=/sys/kernel/debug/failslab
FAIL_PAGE=/sys/kernel/debug/fail_page_alloc
FAIL_SUNRPC=/sys/kernel/debug/fail_sunrpc
FAIL_MAP=/sys/kernel/debug/fail_rpcrdma2_map
FAIL_POST=/sys/kernel/debug/fail_rpcrdma2

# pretend NAME VALUE: see inject.c; until the end of the subtest.
pretend() {
	undo eval "echo 0 > $FAIL_POST/$1"
	echo "$2" > "$FAIL_POST/$1"
}

# fault DIR NAME=VALUE...: always, until no_fault or the end of the subtest, unless the
# values of DIR say otherwise.
fault() {
	local word

	undo no_fault "$1"
	for word in verbose=0 interval=1 times=-1 "${@:2}" probability=100; do
		echo "${word#*=}" > "$1/${word%%=*}"
	done
}

no_fault() {
	echo 0 > "$1/probability"
	# As at first: any caller
	if [ -e "$1/require-start" ]; then
		echo 0 > "$1/require-start"
		echo 0xffffffffffffffff > "$1/require-end"
		echo 0 > "$1/reject-start"
		echo 0 > "$1/reject-end"
	fi
}

# fault_spent DIR: it has happened as often as its "times" says.
fault_spent() { [ "$(< "$1/times")" = 0 ]; }

# fault_in FUNCTION DIR NAME=VALUE...: only in what this function of the kernel or of
# the module calls
fault_in() {
	address_range "$1"
	fault "${@:2}" stacktrace-depth=32 "require-start=0x$START" "require-end=0x$END"
}

# fail_pages FUNCTION NAME=VALUE...: the same for pages, also where the caller could wait
fail_pages() {
	fault_in "$1" $FAIL_PAGE ignore-gfp-wait=N ignore-gfp-highmem=N "${@:2}"
}

# address_range FUNCTION: START and END, the address of the next symbol. A read of this file
# may miss something while modules come and go.
address_range() {
	lab_wait 10 _address_range "$1" || lab_die "there is no function $1"
}

_address_range() {
	read -r START END < <(awk -v name="$1" '
		NR == FNR { if ($3 == name) start = $1 ""; next }
		start && $1 "" > start && (!end || $1 "" < end) { end = $1 "" }
		END { print start, end }' /proc/kallsyms /proc/kallsyms)
	[ -n "$END" ]
}

# cut_start client|server EVERY TIMES: that side ends the connection at one in
# EVERY chances, so many times.
cut_start() {
	local ignore_client=N ignore_server=N

	[ "$1" != server ] || ignore_client=Y
	[ "$1" != client ] || ignore_server=Y
	fault $FAIL_SUNRPC ignore-cache-wait=Y interval="$2" times="$3" \
		ignore-client-disconnect=$ignore_client \
		ignore-server-disconnect=$ignore_server
}

cut_stop() { no_fault $FAIL_SUNRPC; }

# cuts_done: all of them have happened.
cuts_done() { fault_spent $FAIL_SUNRPC; }

# connects [DIR]: connections a mount has made.
connects() { xprt_lines "${1-}" 5; }

# ---- a server that does not answer ----

# freeze makes everything that writes wait inside the server, in a thread of
# its own (ext4 export only); reading goes on. It ends with the subtest.
freeze() {
	FROZEN=y
	undo thaw
	fsfreeze --freeze /export
}

thaw() {
	[ -n "${FROZEN-}" ] || return 0
	FROZEN=
	fsfreeze --unfreeze /export
}

# stuck N: at least N threads of the server wait for the end of the freeze.
stuck() {
	local - p stack n=0

	set +x
	for p in $(pidof nfsd); do
		read -rd '' stack < "/proc/$p/stack" || true
		[[ $stack != *percpu_rwsem_wait* ]] || n=$((n + 1))
	done 2> /dev/null
	[ "$n" -ge "$1" ]
}

# gone PID...: none of them runs any more. Who is dead may still be there, until
# the shell gets to it.
gone() {
	local - p stat

	set +x
	for p; do
		{ read -r stat < "/proc/$p/stat"; } 2> /dev/null || continue
		[[ $stat = *") Z "* ]] || return 1
	done
}

# force_umount DIR PID...: umount -f, which ends their RPCs, until DIR can be unmounted
force_umount() {
	lab_wait 30 _by_force "$@"
	lab_wait 20 _unmounted_now "$1"
}

_by_force() {
	umount -f "$1" 2> /dev/null || true
	gone "${@:2}"
}

_unmounted_now() { ! nfs_mounted "$1" || umount_nfs "$1"; }

# small_window N: the server grants N Calls at once, until the end of the subtest.
# Counts from the next connection on.
small_window() {
	undo _default_window
	if ours; then
		echo "$1" > $PARAMETERS/server_first_credits
		by_default server credits "$1"
	else
		# The stock transport's least.
		sysctl -qw sunrpc.rdma_slot_table_entries=4
	fi
}

_default_window() {
	if ours; then
		by_default server credits 64
		echo 8 > $PARAMETERS/server_first_credits
	else
		sysctl -qw sunrpc.rdma_slot_table_entries=128
	fi
}

# small_messages: what goes inline on connections made from now on, 4096 bytes in
# each direction, which is the least.
small_messages() {
	ours || return 0
	by_default client recv_size 4096 send_size 4096
	by_default server recv_size 4096
}
