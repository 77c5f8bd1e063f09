#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Several paths to a server: four of its addresses, and two of the client. The
# connections of a mount are spread over them, leave those that fail, and come back. A
# Call that the server may have to recognise is not sent again from another address.
#
# timeout: 600
. /lab/lib/lab.sh
. /lab/lib/host.sh

SERVERS=() CLIENTS=() FIRST='' LINK='' FIO=''

# addresses DEV: they exist from the start of the test on
addresses() {
	local net=0

	LINK=v0
	[ "$1" = rxe ] || net=1 LINK=w0
	SERVERS=("10.0.$net.1" "10.0.$net.11" "10.0.$net.12" "10.0.$net.13")
	CLIENTS=("10.0.$net.21" "10.0.$net.22")
	FIRST=${SERVERS[0]}
}

make_addresses() { # DEV
	local a

	addresses "$1"
	for a in "${SERVERS[@]:1}" "${CLIENTS[@]}"; do
		ip addr add "$a/24" dev $LINK
	done
	for a in 11 21; do
		ip addr add "$(lab_addr "${1}6" | sed "s/::1$/::$a/")/64" dev $LINK nodad
	done
}

comma() { local IFS=,; echo "$*"; }

# policy DEV WORD...: all paths, for the server of a device
policy() {
	addresses "$1"
	undo rpcrdma2 policy load /dev/null
	rpcrdma2 policy set client "$FIRST" paths "$(comma "${SERVERS[@]:1}")" \
		local "$(comma "${CLIENTS[@]}")" "${@:2}"
}

# What is sent to this address from now on is lost, and nobody says so. Not with rxe, which
# needs no route from a guest to itself; and without the address its CM would stop.
cut() {
	undo mend "$1"
	ip route del local "$1" dev $LINK table local
	ip route add blackhole "$1"
}

mend() {
	ip route del blackhole "$1" 2> /dev/null || return 0
	ip route add local "$1" dev $LINK table local proto kernel scope host src "$1"
}

# paths: of each path its addresses without port, state, connections, failures, reason
paths() {
	rpcrdma2 show paths | awk -v RS= '{
		split("", at)
		for (i = 1; i < NF; i++)
			at[$i] = $(i + 1)
		print ("local:" in at ? at["local:"] : "-"), at["server:"], at["state:"],
			at["connections:"], at["failures:"], at["reason:"]
	}'
}

# on ADDRESS: connections on paths from or to it
on() {
	paths | awk -v a="$1" '$1 == a || $2 == a { n += $4 } END { print n + 0 }'
}
is_on() { [ "$(on "$1")" -ge 1 ]; }
none_on() { [ "$(on "$1")" = 0 ]; }

# even N: each path is up and has N connections
even() {
	paths | tee "$LAB_TMP/paths" | awk -v n="$1" '$3 != "up" || $4 != n { bad = 1 } END { exit bad || !NR }'
}

# Something for each connection to do
touch_all() { each 16 stat -f /mnt > /dev/null; }
becomes_even() { touch_all; even "$1"; }

# rounds: how far each worker is
rounds() { cat "$LAB_TMP"/work.[0-9]*; }
advanced() {
	local - n

	set +x
	for n in "${!BEFORE[@]}"; do
		[ "$(< "$LAB_TMP/work.$((n + 1))")" -gt $((BEFORE[n] + 1)) ] || return 1
	done
}

# What the RPCs, the connections, the server's threads and the programs are doing
what_waits() {
	local p

	rounds
	paths
	cat /sys/kernel/debug/sunrpc/rpc_clnt/*/tasks
	rpcrdma2 show
	grep . /proc/net/rpc/nfsd
	for p in $(pidof nfsd fio iocheck); do
		head -v -n 12 "/proc/$p/stack"
	done
}

# goes_on: each worker ends a round that it begins from now on; prints the ms
goes_on() {
	local start

	start=$(now_ms)
	mapfile -t BEFORE < <(rounds)
	lab_wait 30 advanced || {
		what_waits > "$LAB_OUT/what-waits" 2>&1
		return 1
	}
	echo $(($(now_ms) - start))
}

random_work() { iocheck random -s "$3" -n 20 "$1$2"; } # FILE WORKER ROUND

# Between verify_start and verify_end fio writes, and reads what it has written.
verify_start() { # FILE
	have_host || return 0
	undo stop_fio
	host_run fio --name=verify --thread --filename="$1" --size=1m --rw=randwrite --bs=4k-64k \
		--direct=1 --verify=crc32c --verify_backlog=16 --verify_fatal=1 \
		--time_based --runtime=3600 --output="$LAB_TMP/fio" &
	FIO=$!
	lab_wait 30 test -s "$1"
}
stop_fio() { pidof fio | xargs -r kill; }
verify_end() {
	have_host || return 0
	pidof fio
	stop_fio
	wait "$FIO" || true
	cat "$LAB_TMP/fio"
	grep "err= 0" "$LAB_TMP/fio"
}

# quick_enough MS USUAL: 3 seconds, and what a slow guest needs for the work itself
quick_enough() {
	ktap_diag "I/O went on after $1 ms, usually $2 ms"
	[ "$1" -le $((3000 + 1000 * lab_scale + 2 * $2)) ]
}

# ---- words ----

refused() { # TEXT COMMAND...
	local rc=0

	"${@:2}" 2> "$LAB_TMP/why" || rc=$?
	cat "$LAB_TMP/why"
	[ $rc != 0 ] && grep -qF -- "$1" "$LAB_TMP/why"
}

set_client() { rpcrdma2 policy set client "$@"; }

words() {
	undo rpcrdma2 policy load /dev/null
	refused "expected addresses after paths, with commas in between, not ''" \
		set_client 10.0.0.1 paths
	refused "not ''" set_client 10.0.0.1 paths 10.0.0.2,
	refused "not ''" set_client 10.0.0.1 paths 10.0.0.2,,10.0.0.3
	refused "addresses or interfaces that have some after local, with commas in between, not 'ib0'" \
		set_client 10.0.0.1 local ib0
	refused "not '10.0.0.2:7'" set_client 10.0.0.1 paths 10.0.0.2:7
	refused "one of off on after trust_paths" set_client 10.0.0.1 trust_paths yes
	refused "paths is given twice" set_client 10.0.0.1 paths 10.0.0.2 paths 10.0.0.3
	refused "no pair, or more than 16" set_client 10.0.0.1 \
		paths 10.0.0.2,10.0.0.3,10.0.0.4,10.0.0.5,10.0.0.6,10.0.0.7,10.0.0.8,10.0.0.9 \
		local 10.0.0.21,10.0.0.22
	refused "local has no address for all addresses of the server" \
		set_client 10.0.0.1 paths fd00::2 local 10.0.0.21
	refused "the server has no address for fd00::21" \
		set_client 10.0.0.1 local 10.0.0.21,fd00::21
	refused "only for the address of a server" set_client 10.0.0.0/24 local 10.0.0.2
	refused "are for the address of a server" set_client default paths 10.0.0.2
	refused "only a client has this" rpcrdma2 policy set server 10.0.0.1 paths 10.0.0.2
	refused "only a client has this" rpcrdma2 policy set server default trust_paths on
	[ -z "$(rpcrdma2 policy)" ]
	# The address of the entry, and what is said twice, count once
	set_client 10.0.0.1 trust_paths on paths 10.0.0.1,10.0.0.2,FD00:0::2,10.0.0.2 \
		local 10.0.0.3,fd00::3
	set_client 10.0.0.5 port 7 local lo
	rpcrdma2 policy save > "$LAB_TMP/saved"
	cat "$LAB_TMP/saved"
	printf '%s\n' "client 10.0.0.1/32 trust_paths on paths 10.0.0.2,fd00::2 local 10.0.0.3,fd00::3" \
		"client 10.0.0.5/32 port 7 local 127.0.0.1" |
		diff - "$LAB_TMP/saved"
	rpcrdma2 policy load "$LAB_TMP/saved"
	rpcrdma2 policy save | diff - "$LAB_TMP/saved"
	rpcrdma2 policy get client 10.0.0.1 | grep " paths 10.0.0.2,fd00::2 local 10.0.0.3,fd00::3$"
	rpcrdma2 policy get client 10.0.0.5 | grep " trust_paths off$"
	rpcrdma2 policy get client 10.0.0.5 port 7 | grep " trust_paths off local 127.0.0.1$"
}

# ---- paths ----

# One connection for each path; each carries as much.
spread() { # DEV VERS
	policy "$1"
	enter spread "$1" "$2" nconnect=8
	lab_wait 20 becomes_even 1
	[ "$(paths | wc -l)" = 8 ]
	dd if=/dev/zero of="$D/f" bs=256k count=128 oflag=direct status=none
	rpcrdma2 show client | awk '
		/^peer_address:/ { print to, bytes; to = $2 " " from }
		/^local_address:/ { from = $2 }
		/^read_bytes:/ { bytes = $2; if (!n++ || bytes > most) most = bytes
			if (n == 1 || bytes < least) least = bytes }
		END { print least, most; exit n != 8 || least < 0.9 * most }'
	iocheck write -t -d -s 1 -l 300001 "$D/f"
	iocheck check -e -s 1 -l 300001 "$E/f"
	# Bytes are counted once in a second
	lab_wait 10 shown_with_bytes
	rpcrdma2 stat --prometheus | grep -c "^rpcrdma2_path_up{.*} 1$" | grep 8
}

shown_with_bytes() {
	rpcrdma2 status |
		grep "^$FIRST *${CLIENTS[0]} *$FIRST *up *1 *[0-9]\{7,\} *[0-9]* *[0-9]* s -" &&
		rpcrdma2 stat --prometheus |
		grep "^rpcrdma2_path_bytes_total{mount=\"$FIRST\",local=\"${CLIENTS[0]}\",server=\"$FIRST\"} [0-9]\{7,\}"
}

# Two adapters with an address of the client and two of the server each: what goes from one
# to the other gets no answer. One is removed, and comes back.
adapter_goes() { # DEV VERS
	local ms usual

	undo remove_second
	_veth v2 v3 10.0.2.1 fd00:2::1
	ip addr add 10.0.2.11/24 dev v2
	ip addr add 10.0.2.22/24 dev v2
	_rdma_link rxe1 rxe v2
	undo rpcrdma2 policy load /dev/null
	rpcrdma2 policy set client 10.0.0.1 paths 10.0.0.11,10.0.2.1,10.0.2.11 \
		local 10.0.0.21,10.0.2.22
	enter adapter "$1" "$2" nconnect=8
	lab_wait 30 becomes_halved
	paths
	verify_start "$D/fio"
	work_start 4 random_work "$D/f"
	usual=$(goes_on)
	rdma link delete rxe1
	# Calls of NFSv3 may wait for the adapter, see below
	if [ "$2" != 3 ]; then
		ms=$(goes_on)
		quick_enough "$ms" "$usual"
	fi
	lab_wait 10 none_on 10.0.2.22
	paths
	_rdma_link rxe1 rxe v2
	lab_wait 30 is_on 10.0.2.22
	ms=$(goes_on)
	ktap_diag "in use again, I/O went on after $ms ms"
	lab_wait 60 halved
	work_stop
	verify_end
}

# Four paths are up, with two connections each, and four are down.
halved() {
	paths | awk '{ n[$3 " " $4]++ } END { exit n["up 2"] != 4 || n["down 0"] != 4 }'
}
becomes_halved() { touch_all; halved; }

remove_second() {
	rdma link delete rxe1 2> /dev/null
	ip link delete v2
}

# Both families
mixed() { # DEV VERS
	local six

	addresses "$1"
	six=$(lab_addr "${1}6")
	undo rpcrdma2 policy load /dev/null
	rpcrdma2 policy set client "$FIRST" paths "${SERVERS[1]},$six,${six}1" \
		local "${CLIENTS[0]},${six%1}21"
	enter mixed "$1" "$2" nconnect=4
	lab_wait 20 becomes_even 1 || { cat "$LAB_TMP/paths"; false; }
	paths
	[ "$(on "${six%1}21")" = 2 ]
	[ "$(on "${CLIENTS[0]}")" = 2 ]
	iocheck write -t -d -s 1 -l 300001 "$D/f"
	iocheck check -e -s 1 -l 300001 "$E/f"
}

# Connections leave paths that the policy has no more, and take those that it has now.
policy_changes() { # DEV VERS
	policy "$1"
	enter changes "$1" "$2" nconnect=8
	lab_wait 20 becomes_even 1
	work_start 4 write_and_check "$D/f"
	rpcrdma2 policy load /dev/null
	lab_wait 60 all_at_first
	[ -z "$(paths)" ]
	policy "$1"
	rpcrdma2 monitor > "$LAB_TMP/events" &
	undo kill $!
	reconnect_all
	lab_wait 60 becomes_even 1
	work_stop
	grep " settled .* client .* ${SERVERS[1]}:20049 .* from ${CLIENTS[1]}" "$LAB_TMP/events"
}

reconnect_all() {
	local id

	for id in $(rpcrdma2 show client | sed -n 's/^id: //p'); do
		rpcrdma2 reconnect "$id" || true
	done
}
all_at_first() {
	[ "$(rpcrdma2 show client | grep -c "^peer_address: $FIRST:")" = 8 ]
}

# All but one of the server's addresses go, so that nothing answers, and come back.
silence() { # DEV VERS
	local ms usual a

	policy "$1"
	enter silence "$1" "$2" nconnect=8
	lab_wait 20 becomes_even 1
	verify_start "$D/fio"
	work_start 4 random_work "$D/f"
	usual=$(goes_on)
	cut "${SERVERS[0]}"
	ms=$(goes_on)
	quick_enough "$ms" "$usual"
	cut "${SERVERS[1]}"
	cut "${SERVERS[3]}"
	ms=$(goes_on)
	quick_enough "$ms" "$usual"
	lab_wait 10 eval 'none_on "${SERVERS[0]}" && none_on "${SERVERS[1]}"'
	paths
	for a in 0 1 3; do
		mend "${SERVERS[a]}"
	done
	lab_wait 30 eval 'is_on "${SERVERS[0]}" && is_on "${SERVERS[1]}" && is_on "${SERVERS[3]}"'
	lab_wait 60 becomes_even 1
	work_stop
	verify_end
}

# A further address that speaks version 1 is used on the administrator's word only.
version_1() { # DEV VERS
	policy "$1" versions v1
	mark_log
	enter v1 "$1" "$2" nconnect=8
	touch_all
	paths
	[ "$(on "$FIRST")" -ge 1 ]
	none_on "${SERVERS[1]}"
	logged "${SERVERS[1]}:20049 is not used as a path, it does not say which server it is, and trust_paths is off"
	paths | grep " refused 0 .* -13$"
	rpcrdma2 status | grep " refused .* may be another server$"
	status rpcrdma2 doctor
	grep "^path-refused: the path from ${CLIENTS[0]} to ${SERVERS[1]} is refused" \
		"$LAB_TMP/printed"
	policy "$1" versions v1 trust_paths on
	lab_wait 60 eval 'touch_all; is_on "${SERVERS[1]}"'
}

# A server that starts again has another identity, on all paths.
restart() { # DEV VERS
	policy "$1"
	enter restart "$1" "$2" nconnect=8
	lab_wait 20 becomes_even 1
	mark_log
	work_start 4 write_and_check "$D/f"
	stop_server
	lab_pause 1
	start_server
	lab_wait 60 work_further $(($(work_rounds) + 8))
	lab_wait 60 becomes_even 1
	work_stop
	paths
	not logged "is not used as a path"
}

# The address of the client goes while the server executes a Call. With NFSv3 the Call is
# not sent again from another address.
keeps_address() { # DEV VERS
	local busy pid

	policy "$1"
	enter keeps "$1" "$2"
	lab_wait 10 is_on "${CLIENTS[0]}"
	: > "$D/f"
	freeze
	iocheck write -d -s 1 -l 5000 "$D/f" &
	pid=$!
	lab_wait 20 stuck 1
	cut "${CLIENTS[0]}"
	if [ "$2" = 3 ]; then
		lab_wait 20 eval 'paths | grep -q "^${CLIENTS[0]} .* down "'
		lab_pause 10
		paths
		none_on "${CLIENTS[1]}"
		thaw
		lab_pause 2
		kill -0 $pid
		mend "${CLIENTS[0]}"
	else
		lab_wait 20 is_on "${CLIENTS[1]}"
		thaw
	fi
	wait $pid
	iocheck check -e -s 1 -l 5000 "$E/f"
	busy=$(on "${CLIENTS[0]}")
	echo "$busy connections from the first address"
}

# The path goes while the server executes a Call of NFSv3, which it drops when the Call comes
# by another one. The Call comes again long before its timeout, which is a minute.
comes_again() { # DEV VERS
	local pid start ms

	policy "$1"
	enter again "$1" "$2"
	lab_wait 10 is_on "$FIRST"
	: > "$D/f"
	freeze
	iocheck write -d -s 1 -l 5000 "$D/f" &
	pid=$!
	lab_wait 20 stuck 1
	cut "$FIRST"
	lab_wait 20 eval '! none_on "${CLIENTS[0]}" && none_on "$FIRST"'
	lab_pause 1
	start=$(now_ms)
	thaw
	wait $pid
	ms=$(($(now_ms) - start))
	ktap_diag "answered after $ms ms"
	[ $ms -lt $((10000 + 1000 * lab_scale)) ]
	iocheck check -e -s 1 -l 5000 "$E/f"
}

# try NAME COMMAND...: a mount that an earlier test has left when it failed would share its
# connections with that of this one, and their number.
try() {
	! nfs_mounted || leave
	ktap_run "$@"
}

fs_start ours ext4
ktap_run "words" words
for dev in $(lab_devices); do
	make_addresses "$dev"
	try "$dev NFSv4.2 spread" spread "$dev" 4.2
	for vers in $(by_speed "3 4.1 4.2" "3 4.2"); do
		[ "$dev" != rxe ] || try "$dev NFSv$vers an adapter goes and comes back" \
			adapter_goes "$dev" "$vers"
	done
	try "$dev NFSv4.2 both families" mixed "$dev" 4.2
	try "$dev NFSv4.2 the policy changes" policy_changes "$dev" 4.2
	try "$dev NFSv4.2 version 1" version_1 "$dev" 4.2
	try "$dev NFSv4.2 the server restarts" restart "$dev" 4.2
	for vers in $(by_speed "3 4.1 4.2" "3 4.2"); do
		[ "$dev" = rxe ] || try "$dev NFSv$vers silent paths" silence "$dev" "$vers"
	done
	for vers in 3 4.2; do
		[ "$dev" = rxe ] || try "$dev NFSv$vers the client's address" \
			keeps_address "$dev" "$vers"
	done
	[ "$dev" = rxe ] || try "$dev NFSv3 a Call comes again" comes_again "$dev" 3
done
