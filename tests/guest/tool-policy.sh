#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The policy table: which peer gets what, in the stock transport's place, where no
# mount names a version. The command rpcrdma2 policy, and its file.
#
# timeout: 120
# flavours: uml-debug qemu
lab_replace=1
. /lab/lib/lab.sh
. /lab/lib/host.sh

CONF=$LAB_TMP/rpcrdma2.conf

policy() { rpcrdma2 policy "$@"; }

entries() { policy show | wc -l; }
no_policy() { policy load /dev/null; [ "$(entries)" = 0 ]; }

# refused TEXT COMMAND...: it fails and says so
refused() {
	local rc=0

	"${@:2}" 2> $LAB_TMP/why || rc=$?
	cat $LAB_TMP/why
	[ $rc != 0 ] && grep -qF -- "$1" $LAB_TMP/why
}

# found PEER NAME: what a connection would get
found() {
	# shellcheck disable=SC2086 # words
	policy get $1 | sed -nE "s/.* $2 ([^ ]+).*/\1/p"
}

# lines REGEX: so many has the kernel said since mark_log
lines() { logged "$1" | wc -l; }

# ---- the table ----

# What the module does if nobody has said anything
own_values() {
	[ -z "$(policy show)" ]
	[ "$(rpcrdma2 --json policy)" = "[]" ]
	[ "$(policy get client 10.0.0.1)" = "client 10.0.0.1/32 versions both recv_size 16384 send_size 20480 credits 128 remote_invalidation on property_change on recv_max 4096 tos 0 reconnect_min 0 reconnect_max 0 fail_after 0 trust_paths off" ]
	[ "$(policy get server fd00::1 port 20049)" = "server fd00::1/128 port 20049 versions both recv_size 20480 credits 64 remote_invalidation on property_change on recv_max 4096" ]
}

longest_prefix() {
	policy set client default credits 10 recv_size 5000 versions v1
	policy set client 0.0.0.0/0 credits 11
	policy set client 10.0.0.0/8 credits 12
	policy set client 10.0.0.0/31 credits 13
	policy set client 10.0.0.1 credits 14
	policy set client ::/0 credits 21
	policy set client fd00::/9 credits 22
	policy set client fd00::/127 credits 23
	policy set client fd00::1 credits 24
	[ "$(found "client 10.0.0.1" credits)" = 14 ]
	[ "$(found "client 10.0.0.0" credits)" = 13 ]
	[ "$(found "client 10.0.0.2" credits)" = 12 ]
	[ "$(found "client 11.0.0.2" credits)" = 11 ]
	[ "$(found "client fd00::1" credits)" = 24 ]
	[ "$(found "client fd00::" credits)" = 23 ]
	[ "$(found "client fd7f::1" credits)" = 22 ]
	[ "$(found "client fd80::1" credits)" = 21 ]
	# An IPv6 address that looks like ours is another one
	[ "$(found "client a00:1::" credits)" = 21 ]
	# What nobody else says is said by the shortest
	[ "$(found "client 10.0.0.1" recv_size)" = 5000 ]
	[ "$(found "client fd00::1" versions)" = v1 ]
	# The other role has nothing of it
	[ "$(found "server 10.0.0.1" credits)" = 64 ]
	[ "$(found "server 10.0.0.1" versions)" = both ]
	[ "$(entries)" = 9 ]
	no_policy
}

ports() {
	policy set client 10.0.0.1 credits 10 recv_max 9000
	policy set client 10.0.0.1 port 20049 credits 11
	policy set client 10.0.0.0/24 port 20049 credits 12 recv_size 6000
	policy set client default port 7 credits 13
	[ "$(found "client 10.0.0.1" credits)" = 10 ]
	[ "$(found "client 10.0.0.1 port 20050" credits)" = 10 ]
	[ "$(found "client 10.0.0.1 port 20049" credits)" = 11 ]
	[ "$(found "client 10.0.0.1 port 20049" recv_max)" = 9000 ]
	[ "$(found "client 10.0.0.1 port 20049" recv_size)" = 6000 ]
	[ "$(found "client 10.0.0.1 port 7" credits)" = 10 ]
	[ "$(found "client 10.9.0.1 port 7" credits)" = 13 ]
	[ "$(found "client fd00::1 port 7" credits)" = 13 ]
	policy delete client 10.0.0.1
	[ "$(found "client 10.0.0.1 port 7" credits)" = 13 ]
	[ "$(found "client 10.0.0.1 port 20049" credits)" = 11 ]
	no_policy
}

# An entry says what was said last, and nothing that was said before.
replaced() {
	policy set server 10.0.0.0/24 credits 7 versions v2
	policy set server 10.0.0.0/24 recv_size 8192
	[ "$(policy show)" = "server 10.0.0.0/24 recv_size 8192" ]
	[ "$(policy show client)" = "" ]
	policy delete server 10.0.0.0/24
	refused "No such file" policy delete server 10.0.0.0/24
	[ "$(entries)" = 0 ]
}

# Wrong requests say which attribute is wrong, and what was expected.
nonsense() {
	refused "expected client or server" policy set nobody default credits 7
	refused "expected default or an address" policy set client 10.0.0 credits 7
	refused "expected default or an address" policy set client '' credits 7
	refused "a length up to 32" policy set client 10.0.0.0/33 credits 7
	refused "a length up to 128" policy set client fd00::/129 credits 7
	refused "addr4: bits after the prefix" policy set client 10.0.0.1/24 credits 7
	refused "addr6: bits after the prefix" policy set client fd00::1/64 credits 7
	refused "addr4: bits after the prefix" policy delete client 10.0.0.1/0
	refused "a port from 1 to" policy set client default port 0 credits 7
	refused "a port from 1 to" policy set client default port 65536 credits 7
	refused "expected settings" policy set client default
	refused "one of versions recv_size" policy set client default rbsiz 4096
	refused "one of v1 v2 both after versions" policy set client default versions 2
	refused "a number after credits" policy set client default credits
	refused "a number after credits" policy set client default credits 7x
	refused "credits is given twice" policy set client default credits 7 credits 8
	refused "recv_size: integer out of range, expected 4096 to 262144" \
		policy set server default recv_size 4095
	refused "recv_size: integer out of range" policy set server default recv_size 262145
	refused "recv_size: a client's is 4096 to 65536" \
		policy set client default recv_size 65537
	refused "send_size: a server has none" policy set server default send_size 4096
	refused "tos: only a client has this" policy set server default tos 8
	refused "fail_after: only a client has this" policy set server default fail_after 8
	refused "tos: integer out of range, expected 0 to 255" \
		policy set client default tos 256
	refused "reconnect_max: integer out of range" \
		policy set client default reconnect_max 3601
	refused "reconnect_max: less than reconnect_min" \
		policy set client default reconnect_min 9 reconnect_max 8
	refused "one of versions recv_size" policy set client default check 1
	refused "credits: a client's are 4 to 4096" policy set client default credits 3
	refused "credits: a server's are 1 to 1024" policy set server default credits 1025
	refused "credits: integer out of range, expected 1 to 4096" \
		policy set client default credits 4097
	refused "expected nothing more" policy get client 10.0.0.1 credits
	refused usage policy nonsense
	[ "$(entries)" = 0 ]
}

unprivileged() {
	policy set client default versions v2
	[ "$(as_nobody rpcrdma2 policy)" = "client default versions v2" ]
	[ "$(as_nobody rpcrdma2 policy get client 10.0.0.1 | grep -c " v2 ")" = 1 ]
	refused "not permitted" as_nobody rpcrdma2 policy set client default versions v1
	refused "not permitted" as_nobody rpcrdma2 policy delete client default
	[ "$(found "client 10.0.0.1" versions)" = v2 ]
	no_policy
}

# A network namespace has a table of its own, which goes with it.
elsewhere() {
	policy set client default credits 7
	ip netns add elsewhere
	[ -z "$(ip netns exec elsewhere rpcrdma2 policy)" ]
	ip netns exec elsewhere rpcrdma2 policy set client default credits 8
	ip netns exec elsewhere rpcrdma2 policy set server fd00::/8 credits 9
	[ "$(ip netns exec elsewhere rpcrdma2 policy | wc -l)" = 2 ]
	[ "$(policy show)" = "client default credits 7" ]
	ip netns delete elsewhere
	ip netns add elsewhere
	[ -z "$(ip netns exec elsewhere rpcrdma2 policy)" ]
	ip netns delete elsewhere
	no_policy
}

# ---- the file ----

file() {
	cat > "$CONF" <<-EOT
		# a comment
		client default versions both	# as it is

		  client	10.0.0.0/8 port 20049  recv_size 8192 property_change off
		server FD00:0::/16 remote_invalidation off
	EOT
	policy set client 10.0.0.7 credits 7
	policy set server fd00::/16 credits 7
	policy load "$CONF"
	policy save > $LAB_TMP/saved
	printf '%s\n' "client default versions both" \
		"client 10.0.0.0/8 port 20049 recv_size 8192 property_change off" \
		"server fd00::/16 remote_invalidation off" | diff - $LAB_TMP/saved
	# What is saved can be loaded
	no_policy
	policy load - < $LAB_TMP/saved
	policy save | diff - $LAB_TMP/saved
}

# wrong_line N TEXT LINE...: nothing of the file is applied
wrong_line() {
	printf '%s\n' "${@:3}" > "$CONF"
	refused "$CONF:$1: " policy load "$CONF"
	grep -F -- "$2" $LAB_TMP/why
	policy save | diff - $LAB_TMP/saved
}

wrong_file() {
	local good="client default credits 99"

	policy set client 10.0.0.7 credits 7
	policy save > $LAB_TMP/saved
	wrong_line 2 "expected client or server" "$good" "clients default credits 4"
	wrong_line 3 "expected one of v1 v2 both" "$good" "" "server default versions 3"
	wrong_line 2 "recv_size: a client's is 4096 to 65536" "$good" \
		"client 10.0.0.9 recv_size 100000" "server default credits 9"
	wrong_line 1 "addr4: bits after the prefix" "server 10.0.0.9/8 credits 7" "$good"
	wrong_line 3 "line 1 is about the same peers" "$good" "# 2" "$good"
	wrong_line 2 "line 1 is about the same peers" "client fd00::1 credits 7" \
		"client FD00:0::1/128 credits 7"
	refused "No such file" policy load /nonsense
	policy save | diff - $LAB_TMP/saved
	no_policy
}

load_ten_thousand() {
	seq 0 9999 | awk '{ printf "client 10.%d.%d.0/24 credits %d\n", $1 / 256,
		$1 % 256, $1 % 4000 + 4 }' > "$CONF"
	policy load "$CONF"
}

ten_thousand() {
	local n

	load_ten_thousand
	policy save | cmp - "$CONF"
	for n in 0 1 4999 9999; do
		[ "$(found "client 10.$((n / 256)).$((n % 256)).77" credits)" = \
			$((n % 4000 + 4)) ]
	done
	[ "$(found "client 10.40.0.1" credits)" = 128 ]
	nfs rxe 3
	[ "$(said client credits_asked)" = 4 ]
	leave
	no_policy
}

# What the parser of netlink does with random requests: see policyfuzz.py. None is
# refused that is right, none done that is not; and both happen often.
random_requests() {
	local seed=$RANDOM n what

	echo "seed $seed"
	n=$(by_speed 20000 3000)
	host_up
	undo host_down
	chroot $HOST python3 /mnt/bin/policyfuzz.py $seed "$n" > $LAB_TMP/fuzz
	cat $LAB_TMP/fuzz
	for what in "^done" "^done.* refused" "^damaged: done" "^damaged.* refused"; do
		[ "$(sed -nE "s/$what ([0-9]+).*/\1/p" $LAB_TMP/fuzz)" -gt $((n / 50)) ]
	done
	[ -z "$(policy show)" ]
}

# comparisons COMMAND...: of keys, while it runs, as a probe of the kernel counts them
comparisons() {
	local probe=$TRACE/events/kprobes/policy_cmp/enable

	echo "p:policy_cmp rpcrdma2:entry_cmp" > $TRACE/kprobe_events || return
	echo 1 > "$probe"
	"$@" > $LAB_TMP/found
	echo 0 > "$probe"
	awk '$1 == "policy_cmp" { print $2 }' $TRACE/kprobe_profile
	echo > $TRACE/kprobe_events
}

# A tree of n entries has no path longer than 2 log2(n + 1), and is searched twice
# for each length of a prefix and twice for all peers: whatever the number of entries,
# that is all that it takes.
few_comparisons() {
	local n bits=0 most

	load_ten_thousand
	for ((n = 10001; n > 1; n /= 2)); do bits=$((bits + 1)); done
	most=$((2 * (bits + 1) * (2 * 33 + 2)))
	n=$(comparisons policy get client 10.39.15.77)
	echo "$n comparisons, at most $most"
	grep " credits 2003 " $LAB_TMP/found
	[ "$n" -ge 68 ]
	[ "$n" -le "$most" ]
	no_policy
}

# ---- connections ----

both_ends() { # NAME VALUE
	[ "$(said client "$1")" = "$2" ] && [ "$(said server "$1")" = "$2" ]
}

# What the table says is what a connection is like.
applied() { # DEV VERS
	local addr

	addr=$(lab_addr "$1")
	policy set client "$addr" port 20049 recv_size 5120 send_size 6144 credits 9 \
		property_change off
	policy set server "$addr" port 20049 recv_size 7168 credits 5 \
		remote_invalidation off
	nfs "$1" "$2"
	both_ends version 2
	[ "$(said client rbsiz)" = "local 5120 peer 7168" ]
	[ "$(said client inline_send)" = 6144 ]
	[ "$(said client credits_asked)" = 9 ]
	[ "$(said server credits_granted_to_peer)" -le 5 ]
	[ "$(said client property_change)" = 0 ]
	cat /mnt/* > /dev/null || true
	leave
	no_policy
	nfs "$1" "$2"
	[ "$(said client rbsiz)" = "local 16384 peer 20480" ]
	[ "$(said client property_change)" = 1 ]
}

tcp_mount() { # DIR
	mount_nfs tcp 4.2 "" "$1"
	grep -q " $1 nfs4 .*proto=tcp" /proc/mounts
	cmp "$1/f" /export/f
}

# version_of ADDRESS: of the client's connection to it
version_of() { rpcrdma2 show peer "$1" | awk '/^role:/ { r = $2 }
	/^version:/ && r == "client" { print $2 }'; }

# Two servers, as far as a client can tell, and TCP before, beside and after
two_servers() {
	local other

	if has siw; then other=siw; else other=rxe6; fi
	policy set client "$(lab_addr rxe)" versions v2
	policy set client "$(lab_addr $other)" versions v1
	scratch two
	iocheck write -t -s 1 -l 300001 /export/f
	mkdir -p $SECOND /run/tcp
	tcp_mount /run/tcp
	umount /run/tcp
	nfs rxe 3
	nfs $other 3 "" $SECOND
	tcp_mount /run/tcp
	[ "$(version_of "$(lab_addr rxe)")" = 2 ]
	[ "$(version_of "$(lab_addr $other)")" = 1 ]
	[ "$(status rpcrdma2 status)" = 1 ]
	iocheck write -t -s 2 -l 300001 "$D/a" &
	iocheck write -t -s 3 -l 300001 "$SECOND/two/b" &
	iocheck write -t -s 4 -l 300001 "/run/tcp/two/c" &
	wait_all $(jobs -p)
	iocheck check -s 2 -l 300001 "$SECOND/two/a"
	iocheck check -s 3 -l 300001 "/run/tcp/two/b"
	iocheck check -s 4 -l 300001 "$D/c"
	umount /run/tcp
	umount $SECOND
	leave
	tcp_mount /run/tcp
	umount /run/tcp
	rm /export/f
	no_policy
}

# The same mounts of NFSv4.2, one after the other
each_version() { # DEV
	local v

	for v in v1 v2 v1 both; do
		policy set client "$(lab_addr "$1")" versions $v
		nfs "$1" 4.2
		both_ends version "$([ $v = v1 ] && echo 1 || echo 2)"
		[ "$(said client version_reason_text)" = \
			"$([ $v = v1 ] && echo administrator || echo "CONNPROP answered")" ]
		umount_nfs
		none_left
	done
	no_policy
}

# An idle mount connects when there is something to be asked.
_speaks() {
	stat -f /mnt > /dev/null
	[ "$(said client version)" = "$1" ]
}

# move VERSIONS VERSION: the mount that is there speaks it from now on.
move() {
	policy set client default versions "$1"
	rpcrdma2 reconnect "$(id client)"
	lab_wait 30 _speaks "$2"
}

# A live mount goes from version 1 to 2 and back while files are written through
# it and compared.
moved() { # DEV VERS
	local n pid

	scratch moved
	policy set client default versions v1
	nfs "$1" "$2"
	_speaks 1
	touch $LAB_TMP/go
	for n in 1 2 3; do
		while [ -e $LAB_TMP/go ]; do
			iocheck write -t -s $n -l 1300001 "$D/$n" || exit
			iocheck check -e -s $n -l 1300001 "$E/$n" || exit
			iocheck write -t -d -s $n -l 1048576 "$D/direct$n" || exit
			iocheck check -d -s $n -l 1048576 "$D/direct$n" || exit
		done &
	done
	pid=$(jobs -p)
	for n in $(by_speed "1 2" 1); do
		move v2 2
		move v1 1
	done
	move both 2
	rm $LAB_TMP/go
	# shellcheck disable=SC2086 # words
	wait_all $pid
	[ "$(said client reconnects)" -ge "$(by_speed 5 3)" ]
	leave
	no_policy
}

# Who insists on version 2 refuses who does not speak it, and says so.
insists() { # DEV
	policy set server default port 20049 versions v1
	policy set client "$(lab_addr "$1")" versions v2
	mark_log
	refused "Protocol error" nfs "$1" 3
	[ "$(lines "rpcrdma2: $(lab_addr "$1"):20049: not connected, version 2 is required")" -ge 1 ]
	# Without that, it is version 1
	policy set client "$(lab_addr "$1")" versions both
	mark_log
	nfs "$1" 3
	both_ends version 1
	[ "$(lines "rpcrdma2: $(lab_addr "$1"):20049 speaks version 1 (peer answered ERR_VERS)")" = 1 ]
	leave
	# A server that insists refuses as well
	policy load - <<-EOT
		server default versions v2
		client default versions v1
	EOT
	refused mount nfs "$1" 4.2
	no_policy
	none_left
}

# Once for a mount, not for each connection of it
log_line() { # DEV
	local line n

	line="rpcrdma2: $(lab_addr "$1"):20049 speaks version"
	# and for each mount, however many there are
	mark_log
	for n in {1..12}; do
		nfs "$1" 3
		umount_nfs
	done
	[ "$(lines "$line 2 (CONNPROP answered)")" = 12 ]
	none_left
	mark_log
	nfs "$1" 3 nconnect=3
	mkdir -p /export/log
	for n in {1..12}; do echo "$n" > "/mnt/log/$n" & done
	wait_all $(jobs -p)
	[ "$(lines "$line 2 (CONNPROP answered)")" = 1 ]
	leave
	mark_log
	nfs "$1" 3
	rpcrdma2 reconnect "$(id client)"
	lab_wait 30 _again
	[ "$(lines "$line")" = 1 ]
	move v1 1
	[ "$(lines "$line")" = 2 ]
	[ "$(lines "$line 1 (administrator)")" = 1 ]
	leave
	rm -r /export/log
	no_policy
}

_again() { _speaks 2 && [ "$(said client reconnects)" = 1 ]; }

# run NAME FUNC...: a subtest that begins with an empty table and no mount
run() {
	no_policy || lab_die "the policy table cannot be emptied"
	! nfs_mounted || umount_nfs || lab_die "cannot unmount"
	ktap_run "$@"
}

fs_start ours
# Only there the kernel has such probes; nothing else is about the kernel.
if lab_is qemu; then
	run "10000 entries, few comparisons" few_comparisons
	exit
fi
run "what the module does itself" own_values
run "longest prefix" longest_prefix
run "ports" ports
run "entries are replaced" replaced
run "nonsense" nonsense
run "unprivileged" unprivileged
run "another namespace" elsewhere
run "file" file
run "wrong file" wrong_file
run "10000 entries" ten_thousand
! have_host || run "random requests" random_requests
for dev in $(lab_devices); do
	run "$dev each version" each_version "$dev"
	run "$dev insists on version 2" insists "$dev"
	run "$dev log" log_line "$dev"
	for vers in $(by_speed "3 4.2" 4.2); do
		run "$dev NFSv$vers applied" applied "$dev" $vers
		run "$dev NFSv$vers moved" moved "$dev" $vers
	done
done
run "two servers, and TCP" two_servers
