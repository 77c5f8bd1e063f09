#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The command rpcrdma2, and by it the netlink family: what is told of connections,
# to whom, what an administrator may change, and events.
#
# timeout: 90
. /lab/lib/lab.sh

nothing_yet() {
	[ "$(status rpcrdma2 status)" = 4 ]
	[ -z "$(rpcrdma2 show)" ]
	[ "$(rpcrdma2 --json show)" = "[]" ]
}

# specified SET: the attributes of this name in the specification of the family
specified() {
	awk -v set="$1" '
		/^    name: / { mine = $2 == set }
		mine && /^        name: / { gsub("-", "_", $2); print $2 }' \
		/lab/bin/ynl/specs/rpcrdma2.yaml
}

# What "show" is to tell: all that there is, but what only events have, or of a server what
# only the policy of clients has.
names_wanted() { # ROLE
	local others='pad|property|counters|event|reason'

	[ "$1" = client ] || others+='|tos|reconnect_min|reconnect_max|fail_after'
	printf '%s\n' rbsiz "rbsiz asked" brs "brs asked"
	{ specified connection && specified counters; } | grep -vxE "$others"
}

# crosswise NAME NAME: one end says of itself what the other says of its peer.
crosswise() {
	[ "${SAID[client.$1]}" = "${SAID[server.$2]}" ]
	[ "${SAID[client.$2]}" = "${SAID[server.$1]}" ]
}

# Everything is told, and both ends, which know nothing of each other, the same.
told_in_full() { # DEV VERS
	local role kind own peer

	nfs "$1" "$2"
	[ "$(status rpcrdma2 status)" = 0 ]
	for role in client server; do
		names_wanted $role | sort > $LAB_TMP/wanted
		[ "$(wc -l < $LAB_TMP/wanted)" -gt 110 ]
		rpcrdma2 show $role | sed 's/: .*//' | sort | diff $LAB_TMP/wanted -
		[ "$(said $role state)" = ready ]
		[ "$(said $role device)" = "${1}0" ]
	done
	iocheck write -t -d -s 1 -l 100001 /mnt/told
	lab_wait 10 calls_ended
	for role in client server; do
		[ "${SAID[$role.version]}" = 2 ]
		[ "${SAID[$role.version_reason]}" = 1 ]
		[ "${SAID[$role.connects]}" = 1 ]
		counted $role -gt 0 receives_posted receive_memory send_memory \
			send_queue_free inline_tx_bytes inline_rx_bytes
		[ "${NOW[$role.send_queue_free]}" -le "${NOW[$role.send_queue_depth]}" ]
	done
	crosswise inline_send inline_recv
	[ "${NOW[client.credits_granted_by_peer]}" = \
		"${NOW[server.credits_granted_to_peer]}" ]
	for kind in call_msg reply_msg reply_nomsg connprop; do
		crosswise tx_$kind rx_$kind
	done
	[ "${NOW[client.tx_call_msg]}" -ge 4 ]
	[ "${NOW[server.read_bytes]}" -ge 100001 ]
	read -r _ own _ peer <<< "${SAID[client.rbsiz]}"
	[ "${SAID[server.rbsiz]}" = "local $peer peer $own" ]
	rm /mnt/told
	[ "$(said client peer_address)" = "$(said server local_address)" ]
	[ "$(said client local_address)" = "$(said server peer_address)" ]
	# A QP of this number is what rdma shows of the device
	rdma res show qp link "${1}0" | grep " lqpn $(said client qp_number) "
}

# Who fell back is told by the exit status.
fallback() { # DEV
	lab_listen rdma 20050
	mount_nfs "$1" 4.2 port=20050
	[ "$(status rpcrdma2 status)" = 1 ]
	rpcrdma2 status | grep -E " client .* v1 .*(ERR_VERS|version)"
	leave
}

# Sums of what is and what was
counted_right() { # DEV
	local before after

	before=$(rpcrdma2 stat | awk '$1 == "connects" { print $2, $3 }')
	nfs "$1" 4.2
	leave
	nfs "$1" 3
	after=$(rpcrdma2 stat | awk '$1 == "connects" { print $2, $3 }')
	# shellcheck disable=SC2086 # words
	set -- $before $after
	[ $(($3 - $1)) = 2 ]
	[ $(($4 - $2)) = 2 ]
	rpcrdma2 stat --prometheus | grep -x "rpcrdma2_connections{role=\"client\"} 1"
	rpcrdma2 stat --prometheus |
		grep -x "rpcrdma2_connects_total{role=\"client\"} $3"
	# Each sample has a name that was declared
	[ -z "$(rpcrdma2 stat --prometheus | awk '
		$1 == "#" && $2 == "TYPE" { type[$3] = 1; next }
		$1 == "#" { next }
		{ sub(/\{.*/, "", $1); if (!type[$1]) print $1 }')" ]
}

# What is told of the module itself: all that the specification names.
module_told() { # DEV
	local role

	nfs "$1" 4.2
	rpcrdma2 show module | tee $LAB_TMP/module
	grep -x "version: $(modinfo -F version rpcrdma2)" $LAB_TMP/module
	grep -x "build: $(modinfo -F build rpcrdma2)" $LAB_TMP/module
	grep -x "draft: draft-cel-nfsv4-rpcrdma-version-two-[0-9]*" $LAB_TMP/module
	grep -x "replace: 0" $LAB_TMP/module
	[ "$(wc -l < $LAB_TMP/module)" = 4 ]
	for role in client server; do
		rpcrdma2 show module $role > $LAB_TMP/module
		grep -x "role: $role" $LAB_TMP/module
		grep -x "connections: 1" $LAB_TMP/module
	done
	leave
	for role in client server; do
		rpcrdma2 show module $role | grep -x "connections: 0"
	done
}

# Everybody may look, nobody else may touch.
unprivileged() { # DEV
	local n what

	nfs "$1" 4.2
	n=$(id client)
	[ "$(as_nobody rpcrdma2 show "$n" | sed -n 's/^id: //p')" = "$n" ]
	for what in "reconnect $n" "change $n rbsiz 8192" "forget $n"; do
		# shellcheck disable=SC2086 # words
		not as_nobody rpcrdma2 $what 2> $LAB_TMP/why
		grep "not permitted" $LAB_TMP/why
	done
	[ "$(said client connects)" = 1 ]
}

# Another network namespace sees nothing of it, and reaches nothing.
elsewhere() { # DEV
	local n

	nfs "$1" 4.2
	n=$(id client)
	ip netns add elsewhere
	[ "$(status ip netns exec elsewhere rpcrdma2 status)" = 4 ]
	[ -z "$(ip netns exec elsewhere rpcrdma2 show)" ]
	ip netns exec elsewhere rpcrdma2 reconnect "$n" 2> $LAB_TMP/why && return 1
	grep -i "no such" $LAB_TMP/why
	ip netns exec elsewhere rpcrdma2 stat | grep -E '^connects +0 +0$'
	ip netns delete elsewhere
	[ "$(id client)" = "$n" ]
}

# The connection of a live mount is made anew, nothing is lost.
made_anew() { # DEV VERS
	local n

	enter reconnect "$1" "$2"
	iocheck write -t -s 1 -l 300001 "$D/f"
	n=$(id client)
	rpcrdma2 reconnect "$n"
	again_there() { [ -n "$(id client)" ] && [ "$(id client)" != "$n" ]; }
	iocheck write -t -s 2 -l 300001 "$D/g"
	lab_wait 20 again_there
	[ "$(said client reconnects)" = 1 ]
	iocheck check -e -s 1 -l 300001 "$D/f"
	iocheck check -s 2 -l 300001 "$E/g"
}

_has() { [[ "$(said "$1" "$2")" =~ ^$3$ ]]; }

changed() { # DEV
	by_default server recv_max 24576
	nfs "$1" 4.2
	rpcrdma2 change "$(id client)" rbsiz 24576
	lab_wait 60 _has server rbsiz "local 24576 peer .*"
	lab_wait 60 _has client "rbsiz asked" "24576 granted"
	rpcrdma2 change "$(id client)" own brs none
	lab_wait 60 _has server brs "local .* peer 0"
}

# Nonsense is refused, and says so.
refused() { # DEV
	local n

	nfs "$1" 4.2
	n=$(id client)
	[ "$(status rpcrdma2 show 4000000000)" = 2 ]
	[ "$(status rpcrdma2 show nonsense)" = 2 ]
	[ "$(status rpcrdma2 show module nonsense)" = 2 ]
	[ "$(status rpcrdma2 change "$n" rbsiz)" = 2 ]
	[ "$(status rpcrdma2 change "$n" rbsiz 12x)" = 2 ]
	[ "$(status rpcrdma2 change "$n" rbsiz 100)" = 2 ]
	[ "$(status rpcrdma2 change "$n" own brs 7)" = 2 ]
	[ "$(status rpcrdma2 change "$n" messages 9)" = 2 ]
	[ "$(status rpcrdma2 change 4000000000 rbsiz 8192)" = 2 ]
	[ "$(status rpcrdma2 forget "$(id server)")" = 2 ]
	[ "$(status rpcrdma2 nonsense)" = 2 ]
	[ "$(status rpcrdma2)" = 2 ]
	[ "$(said client connects)" = 1 ]
}

all_there() {
	[ "$(connections client)" = 12 ] && [ "$(connections server)" = 12 ]
}

# Many connections come in one dump, each once, in the order of their ids.
many() { # DEV
	local n

	nfs "$1" 3 nconnect=12
	# Connections are made when they are needed
	mkdir -m 1777 /export/many
	for n in {1..48}; do
		echo "$n" > "/mnt/many/$n" &
	done
	wait_all $(jobs -p)
	lab_wait 20 all_there
	rpcrdma2 show | sed -n 's/^id: //p' > $LAB_TMP/ids
	[ "$(wc -l < $LAB_TMP/ids)" = 24 ]
	sort -nu $LAB_TMP/ids | cmp - $LAB_TMP/ids
	n=$(rpcrdma2 --json show server | grep -c '"role": "server"')
	[ "$n" = 12 ]
	n=$(strace -e trace=recvfrom,recvmsg rpcrdma2 show 2>&1 > /dev/null |
		grep -c '^recv')
	[ "$n" -ge 2 ]
	[ "$n" -le 12 ]
	rm -r /export/many
}

# Only the connections with a peer at that address
by_peer() {
	nfs rxe 3
	nfs siw 3 "" $SECOND
	for addr in 10.0.0.1 10.0.1.1; do
		[ "$(rpcrdma2 show peer $addr | grep -c '^id: ')" = 2 ]
		[ -z "$(rpcrdma2 show peer $addr | sed -n 's/^peer_address: //p' |
			grep -v "^$addr:")" ]
	done
	[ -z "$(rpcrdma2 show peer 10.9.9.9)" ]
	[ -z "$(rpcrdma2 show peer fd00::77)" ]
	[ "$(status rpcrdma2 show peer nonsense)" = 2 ]
	umount $SECOND
}

_event() { grep -qE "$1" $LAB_TMP/events; }

# watch DEV: events go to a file from here on; MONITOR is who writes them.
watch() {
	rpcrdma2 monitor > $LAB_TMP/events &
	MONITOR=$!
	# It listens when it hears of something
	lab_wait 20 heard "$1"
	none_left
	: > $LAB_TMP/events
}

heard() {
	nfs "$1" 3
	umount_nfs
	[ -s $LAB_TMP/events ]
}

# happened ROLE ID EVENT...: to that connection, and in this order. What the monitor
# has still to write of others is nobody's concern.
happened() {
	[ "$(awk -v role="$1" -v id="$2" '$3 == role && $4 == id { print $2 }' \
		$LAB_TMP/events | uniq | xargs)" = "${*:3}" ]
}

events() { # DEV
	local client server

	watch "$1"
	by_default server recv_max 24576
	nfs "$1" 4.2
	client=$(id client) server=$(id server)
	lab_wait 20 _event "connected *server"
	lab_wait 20 _event "settled *client .*v2 \(CONNPROP answered\)"
	lab_wait 20 _event "settled *server"
	rpcrdma2 change "$(id client)" rbsiz 24576
	lab_wait 60 _event "changed *client"
	leave
	lab_wait 20 happened client "$client" connected settled changed lost
	lab_wait 20 happened server "$server" connected settled lost
	kill $MONITOR
}

fallback_event() { # DEV
	watch "$1"
	mount_nfs "$1" 4.2 port=20050
	lab_wait 20 _event "fallback *client .*v1"
	umount_nfs
	kill $MONITOR
	none_left
}

not_loaded() {
	stop_server
	unload_rpcrdma2
	[ "$(status rpcrdma2 status)" = 3 ]
}

fs_start ours ext4
ktap_run "nothing to see" nothing_yet
for dev in $(lab_devices); do
	for vers in 3 4.2; do
		ktap_run "$dev NFSv$vers told in full" told_in_full "$dev" $vers
		ktap_run "$dev NFSv$vers reconnect" made_anew "$dev" $vers
	done
	ktap_run "$dev change" changed "$dev"
done
ktap_run "counters" counted_right rxe
ktap_run "module" module_told rxe
ktap_run "unprivileged" unprivileged rxe
ktap_run "another namespace" elsewhere rxe
ktap_run "nonsense" refused rxe
ktap_run "many connections" many rxe
ktap_run "by address" by_peer
# In the stock transport's place there is no other server here
if [ -n "${lab_replace-}" ]; then
	ktap_skip "version 1" "the stock transport is not there"
	ktap_skip "fallback event" "the stock transport is not there"
else
	ktap_run "version 1" fallback rxe
	ktap_run "fallback event" fallback_event rxe
fi
ktap_run "events" events rxe
ktap_run "not loaded" not_loaded
