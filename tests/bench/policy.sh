#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Guest part of tests/bench/run --policy: what an operation costs and how much
# memory a connection holds with the Receive Buffer Sizes that are the default, and
# with others. One boot, the same file, version 2 over rxe; each
# load has a connection of its own. A setting is "policy" (what a plain modprobe
# gives), "policy+PARAMETER=VALUE+..." or the Receive Buffer Size of both ends.
# Leaves in results:
#
#	time SETTING LOAD JOBS OPS NANOSECONDS CONTEXT-SWITCHES	(per round)
#	memory SETTING LOAD ROLE KIND BYTES		(after it)
#	state SETTING LOAD ROLE SIZE CREDITS RECEIVES	(likewise)
#	device SETTING ROLE BYTES	(queues of rxe)
#	default NAME VALUE		(of a plain modprobe)
#
# Each load warms up, then the sizes of the connection are checked. After
# the measurement, too: what went inline and what did not.
#
# timeout: 900
. /lab/lib/lab.sh
. /lab/tests/params	# VERS SETTINGS LOADS SCALE ROUNDS
. /lab/tests/guest.sh

PARAMS=/sys/module/rpcrdma2/parameters
JOBS=16
# The largest of the random load, and what it takes to go inline.
LARGEST=16384
INLINE=17408
# Longer than it takes to give everything back, in seconds of virtual time.
IDLE_PERIODS=6

# setting NAME: counts for connections made from now on. Sets PARAM[NAME].
setting() {
	local p words

	rpcrdma2 policy load /dev/null
	for p in "${!DEFAULT[@]}"; do
		echo "${DEFAULT[$p]}" > "$PARAMS/$p"
	done
	case $1 in
	policy*)
		IFS=+ read -r -a words <<< "$1"
		for p in "${words[@]:1}"; do
			echo "${p#*=}" > "$PARAMS/${p%%=*}"
		done
		;;
	*)
		by_default client recv_size "$1" send_size "$1"
		by_default server recv_size "$1"
		echo 0 > $PARAMS/adapt_seconds
		;;
	esac
	for p in "${!DEFAULT[@]}"; do
		PARAM[$p]=$(< "$PARAMS/$p")
	done
}

# load NAME JOBS OPS WARMUP: sets the command line.
load() {
	args=(-j "$2" -n "$(($3 * SCALE / 100))" -w "$4")
	case $1 in
	metadata) args+=(-s 1024 metadata /mnt/bench/dir) ;;
	random) args+=(-s "$LARGEST" random /mnt/bench/data) ;;
	stream) args+=(-s 1048576 stream /mnt/bench/data) ;;
	esac
}

measure() { # SETTING LOAD JOBS
	echo "time $* $(nfsbench "${args[@]}")" >> "$RESULTS"
}

remember() { # SETTING LOAD
	local role kind

	for role in client server; do
		for kind in receive send mr rpc; do
			echo "memory $1 $2 $role $kind" \
				"$(value $role ${kind}_memory)"
		done
		echo "state $1 $2 $role $(rbsiz $role)" \
			"$(value $role credits_granted_to_peer)" \
			"$(value $role receives_posted)"
	done >> "$RESULTS"
}

# check WHAT CMD...: the figures would mean something else than they seem to.
check() {
	"${@:2}" || {
		rpcrdma2 show
		lab_die "$1"
	}
}

at_rest() { quiet client && quiet server; }
given_back() {
	at_rest && is server credits_granted_to_peer 1 \
		"${PARAM[server_first_credits]}"
}
sizes() { # CLIENT SERVER
	at_rest && [ "$(rbsiz client)" = "$1" ] && [ "$(rbsiz server)" = "$2" ]
}

# settled SETTING LOAD: is the connection as it should be under this load?
settled() {
	case $1,$2 in
	policy*) sizes "${RECV_SIZE[client]}" "${RECV_SIZE[server]}" ;;
	*) sizes "$1" "$1" ;;
	esac
}

_warm() {
	nfsbench "${args[@]}" > /dev/null || lab_die "nfsbench"
	settled "$@"
}
warm_up() { # SETTING LOAD
	check "sizes are not what they should be under this load" \
		lab_wait 30 _warm "$@"
}

# went SETTING LOAD: since the mark; what went inline, what did not.
went() {
	look
	check "errors" counted client -eq 0 reconnects rx_error rx_malformed
	case $1,$2 in
	*,stream)
		check "1 MiB was to go by chunks" \
			counted client -gt 0 read_chunks write_chunks
		;;
	policy*,random)
		check "WRITEs of $LARGEST were to go inline" \
			counted client -eq 0 read_chunks
		;;
	*,random)
		if [ "$1" -ge $INLINE ]; then
			check "all was to go inline" \
				counted client -eq 0 registrations
		else
			check "WRITEs of $LARGEST were to need a chunk" \
				counted client -gt 0 read_chunks
		fi
		;;
	esac
	check "requests" counted client -eq 0 props_changed peer_props_changed tx_updprop
}

# Whose are they? Those of the server are made by a thread of nfsd.
TRACE=/sys/kernel/tracing
queues_watch() {
	echo 'p:bench/queue vmalloc_user_noprof size=%di:u64' \
		> $TRACE/kprobe_events
	echo > $TRACE/trace
	echo 1 > $TRACE/events/bench/queue/enable
}
queues_made() { # SETTING BYTES
	echo 0 > $TRACE/events/bench/queue/enable
	awk -v setting="$1" '/ queue: / {
			role = $1 ~ /^nfsd-/ ? "server" : "client"
			sub(/.*size=/, "")
			bytes[role] += int(($0 + 4095) / 4096) * 4096
		}
		END { for (r in bytes) print "device", setting, r, bytes[r] }' \
		$TRACE/trace > "$LAB_TMP/queues"
	echo > $TRACE/kprobe_events
	awk -v all="$2" '{ sum += $4 } END { exit sum != all }' \
		"$LAB_TMP/queues" || lab_die "queues: $2 bytes, not $(cat "$LAB_TMP/queues")"
	cat "$LAB_TMP/queues" >> "$RESULTS"
}

mounted_alone() {
	mount_nfs rxe "$VERS" rsize=1048576,wsize=1048576
	mkdir -p /export/bench/dir
}
unmounted() {
	umount_nfs
	rm -rf /export/bench/dir
	lab_wait 60 no_connection || lab_die "a connection is left"
}

# Busy first. There is no warm-up after it: beginning again is part of what is
# measured.
run_idle() { # SETTING
	load random $JOBS 800 20
	warm_up "$1" random
	lab_pause $((IDLE_PERIODS * DEFAULT[adapt_seconds]))
	case $1 in
	policy*) check "credits were not taken back" lab_wait 60 given_back ;;
	*) check "sizes were not to change" settled "$1" idle ;;
	esac
	remember "$1" idle
	load random 1 600 0
	measure "$1" idle 1
}

run_load() { # SETTING LOAD
	local ops i
	local -A OPS=([metadata]=60 [random]=600 [stream]=40)

	ops=${OPS[$2]}
	load "$2" $JOBS $((ops * 2)) $((ops / 30 + 1))
	warm_up "$@"
	mark
	for ((i = 0; i < ROUNDS; i++)); do
		load "$2" $JOBS $((ops * 4)) $((ops / 100 + 1))
		measure "$@" $JOBS
		load "$2" 1 "$ops" $((ops / 20 + 1))
		measure "$@" 1
	done
	went "$@"
	remember "$@"
}

set -e
bench_server 16

declare -A DEFAULT PARAM
declare -A RECV_SIZE
for role in client server; do
	RECV_SIZE[$role]=$(rpcrdma2 policy get $role "$(lab_addr rxe)" |
		sed -n 's/.* recv_size \([0-9]*\).*/\1/p')
	echo "default $role ${RECV_SIZE[$role]}" >> "$RESULTS"
done
for p in adapt_seconds server_first_credits; do
	DEFAULT[$p]=$(< $PARAMS/$p)
	echo "default $p ${DEFAULT[$p]}" >> "$RESULTS"
done

for s in $SETTINGS; do
	setting "$s"
	before=$(rxe_queues)
	queues_watch
	mounted_alone
	queues_made "$s" $(($(rxe_queues) - before))
	unmounted
	for l in $LOADS; do
		ktap_diag "measuring $l, setting $s"
		mounted_alone
		case $l in
		idle) run_idle "$s" ;;
		*) run_load "$s" "$l" ;;
		esac
		unmounted
	done
done
ktap_ok "all loads"
