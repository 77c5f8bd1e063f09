#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Guest part of tools/demo/run: real files over real mounts, every claim
# checked. What it says goes to the result channel as diagnostic lines; the
# first claim that does not hold ends it.
#
# timeout: 150
. /lab/lib/lab.sh

SOURCE=/tmp/source
MIB=$((1 << 20))
WRITTEN=0

# Nothing here uses it.
have_siw() { false; }

say() { ktap_diag "$*"; }

# claim TEXT CMD...: CMD must succeed.
claim() {
	local text=$1

	shift
	if "$@" > "$LAB_TMP/claim" 2>&1; then
		say "  [ok] $text"
		ktap_ok "$text"
		return 0
	fi
	say "  [FAILED] $text"
	head -n 20 "$LAB_TMP/claim" | while IFS= read -r line; do
		say "      $line"
	done
	ktap_fail "$text"
	exit 1
}

# step TEXT, done_step: how long it took.
step() {
	STEP_START=${EPOCHREALTIME/./}
	say "$*"
}

done_step() {
	local ms=$(((${EPOCHREALTIME/./} - STEP_START) / 1000))

	say "  $* ($((ms / 1000)).$((ms % 1000 / 100)) s)"
}

# counter ROLE NAME: the sum over connections of this role.
counter() {
	rpcrdma2 show "$1" |
		awk -v name="$2:" '$1 == name { n += $2 } END { print n + 0 }'
}

snapshot() { # FILE
	local role

	for role in client server; do
		rpcrdma2 show $role | awk -F ': ' -v role=$role '
			$2 ~ /^[0-9]+$/ { n[$1] += $2 }
			END { for (name in n) print role, name, n[name] }'
	done > "$1"
}

# grown ROLE NAME: since the snapshot.
grown() {
	local before

	before=$(awk -v r="$1" -v n="$2" '$1 == r && $2 == n { print $3 }' \
		"$LAB_TMP/before")
	echo $(($(counter "$1" "$2") - ${before:-0}))
}

device_count() {
	cat "/sys/class/infiniband/rxe0/ports/1/hw_counters/$1"
}

# Many small files and some large ones, all different, of uneven sizes.
make_files() {
	local random=/tmp/random i

	mkdir -p $SOURCE/{small,medium,large}
	head -c $((6 * MIB)) /dev/urandom > $random
	: > $SOURCE/small/empty
	split -a 3 -b 12345 $random $SOURCE/small/a
	head -c $((2 * MIB)) $random | split -a 3 -b 3001 - $SOURCE/small/b
	for i in {1..40}; do
		tail -c +$((i * 4099)) $random | head -c $((i * 12289)) \
			> "$SOURCE/medium/$i"
	done
	for i in {1..20}; do
		tail -c +$((i * 777)) $random >> "$SOURCE/large/$((i % 5))"
	done
	rm $random
	(cd $SOURCE && find . -type f | sort | xargs sha256sum) > /tmp/sums
	FILES=$(wc -l < /tmp/sums)
	BYTES=$(find $SOURCE -type f -exec stat -c %s {} + |
		awk '{ n += $1 } END { print n }')
}

check_sums() { (cd "$1" && sha256sum --quiet -c /tmp/sums); }
same_number() { [ "$(find "$1" -type f | wc -l)" = "$FILES" ]; }
mounted_so() { grep -E " /mnt nfs4? .*vers=$1,.*proto=rdma,rdmaver=2," /proc/mounts; }
xprt_is_rdma() { grep -q '^	xprt:	rdma ' /proc/self/mountstats; }
not_mounted() { ! grep -q ' /mnt nfs' /proc/mounts; }
no_connections() { rpcrdma2 show module client | grep -x "connections: 0"; }
is() { test "$1" "$2" "$3" || { echo "$1 $2 $3 does not hold"; return 1; }; }

# What an administrator sees of the connection.
show_connection() {
	local role

	for role in client server; do
		say "  rpcrdma2 show $role:"
		rpcrdma2 show $role | grep -vE ': 0$' | paste -s -d '\t' | awk -F '\t' '
			{
				for (i = 1; i <= NF; i++) {
					if (length(line) + length($i) > 76) {
						print line
						line = ""
					}
					line = line (line == "" ? "" : ",  ") $i
				}
				print line
			}' | while IFS= read -r line; do
			say "    $line"
		done
	done
}

negotiated() { rpcrdma2 status; }

# Aligned I/O past the page cache: each operation has one chunk, one
# registration, and the peer's Send invalidates it.
direct_io() { # NFS version
	local size=$((8 * MIB)) ops=32

	say "Aligned O_DIRECT I/O, $ops operations of $((size / ops / 1024)) KiB each way:"
	snapshot "$LAB_TMP/before"
	dd if=$SOURCE/large/1 of=/mnt/direct bs=$((size / ops)) count=$ops \
		oflag=direct iflag=fullblock status=none
	claim "the server pulled all $size bytes by RDMA Read" \
		is "$(grown server read_bytes)" -eq $size
	dd if=/mnt/direct of=/tmp/direct bs=$((size / ops)) iflag=direct status=none
	claim "the server placed all $size bytes by RDMA Write" \
		is "$(grown server write_bytes)" -eq $size
	claim "what was read is what was written" \
		cmp -n $size $SOURCE/large/1 /tmp/direct
	claim "remote invalidations: $(grown client remote_invalidations), one for each of $(grown client registrations) registrations" \
		is "$(grown client remote_invalidations)" -ge $((2 * ops))
	claim "every registration was invalidated remotely" \
		is "$(grown client registrations)" -eq "$(grown client remote_invalidations)"
	claim "local invalidations: $(grown client local_invalidations)" \
		is "$(grown client local_invalidations)" -eq 0
	rm /mnt/direct /tmp/direct
}

no_trouble() {
	local name

	for name in rx_malformed rx_unknown_type rx_bad_vers rx_bad_xid \
		    bad_inv_handle orphans reconnects; do
		is "$(counter client $name)" -eq 0 || return 1
		is "$(counter server $name)" -eq 0 || return 1
	done
}

run_version() { # NFS version
	local vers=$1 packets

	say ""
	say "=== NFSv$vers ==="
	packets=$(device_count sent_pkts)
	claim "mount -o vers=$vers,proto=rdma,rdmaver=2" mount_nfs rxe "$vers"
	say "  $(grep ' /mnt nfs' /proc/mounts)"
	claim "the mount uses version $vers, proto=rdma and rdmaver=2" mounted_so "$vers"
	claim "mountstats shows an RDMA transport" xprt_is_rdma
	claim "client and server settled on RPC-over-RDMA version 2" negotiated

	step "Writing $FILES files, $((BYTES / MIB)) MiB ..."
	claim "all files written" cp -r $SOURCE "/mnt/v$vers"
	claim "all data on stable storage" sync -f "/mnt/v$vers"
	done_step "written"
	WRITTEN=$((WRITTEN + BYTES))
	claim "payload moved by RDMA Read: $(counter server read_bytes) bytes" \
		is "$(counter server read_bytes)" -ge $((BYTES * 9 / 10))

	umount_nfs
	claim "unmounted, connection gone" no_connections
	claim "mounted again" mount_nfs rxe "$vers"
	claim "all $FILES files are there" same_number "/mnt/v$vers"
	step "Reading everything back ..."
	claim "SHA-256 of every file is correct through NFS" check_sums "/mnt/v$vers"
	done_step "read and compared"
	claim "payload moved by RDMA Write: $(counter server write_bytes) bytes" \
		is "$(counter server write_bytes)" -ge $((BYTES * 9 / 10))
	claim "SHA-256 of every file is correct on the server" check_sums "/export/v$vers"

	direct_io "$vers"
	claim "no malformed message, no stray reply, no reconnect" no_trouble
	say "The connection, both ends (without zeros):"
	show_connection
	claim "the RDMA device sent $(($(device_count sent_pkts) - packets)) packets" \
		is $(($(device_count sent_pkts) - packets)) -gt $((BYTES / 4096))
	rm -r "/mnt/v$vers"
	umount_nfs
	claim "unmounted" not_mounted
}

# One line for each connection of a role: what it has settled on and why.
show_versions() { # ROLE
	paste -d '\t' <(said "$1" id) <(said "$1" version) \
		<(said "$1" version_reason_text) <(said "$1" version_reason) |
		while IFS=$'\t' read -r id version why number; do
			say "  $1 $id: version $version, because: $why (reason $number)"
		done
}

# settled_on ROLE VERSION...: the versions of its connections, and no others.
settled_on() {
	local role=$1

	shift
	[ "$(said "$role" version | sort | xargs)" = "$*" ]
}

# Any transport of the kernel's own.
stock_mount() { grep " $1 nfs .*proto=rdma," /proc/mounts | grep -v rdmaver; }

# same_on DIR FILE: what was generated.
same_on() { cmp "$SOURCE/$2" "$1/${2##*/}"; }

older_server() {
	say ""
	say "=== A server with version 1 only ==="
	claim "the kernel's own transport listens: echo 'rdma 20050' > /proc/fs/nfsd/portlist" \
		lab_listen rdma 20050
	claim "mount -o vers=4.2,proto=rdma,rdmaver=2,port=20050" \
		mount_nfs rxe 4.2 port=20050
	claim "the client offered version 2 and fell back to version 1" \
		settled_on client 1
	show_versions client
	claim "the file is written" cp $SOURCE/large/1 /mnt/
	umount_nfs
	claim "mounted again" mount_nfs rxe 4.2 port=20050
	claim "the file is the same when read through version 1" same_on /mnt large/1
	claim "and also on the server" same_on /export large/1
	rm /mnt/1
	umount_nfs
	claim "unmounted" not_mounted
}

both_clients() {
	say ""
	say "=== Clients of both versions on one port, at the same time ==="
	say "  The server still listens: $(grep -m1 rdma2 /proc/fs/nfsd/portlist)"
	claim "a new client: mount -o vers=3,proto=rdma,rdmaver=2,port=20049 /mnt" \
		mount_nfs rxe 3
	claim "the kernel's own client: mount -o vers=3,proto=rdma,port=20049 /run/old" \
		mount_nfs rxe-v1 3 port=20049 /run/old
	claim "the mount does not use rpcrdma2: /proc/mounts shows no rdmaver=" stock_mount /run/old
	claim "the new client writes" cp $SOURCE/large/2 /mnt/
	claim "the old client reads the same" same_on /run/old large/2
	claim "the old client writes" cp $SOURCE/large/3 /run/old/
	claim "the new client reads the same" same_on /mnt large/3
	claim "the server has a connection in each version" settled_on server 1 2
	show_versions server
	rm /mnt/{2,3}
	umount_nfs /run/old
	umount_nfs
	claim "unmounted" not_mounted
}

unload() {
	lab_server_down
	unload_rpcrdma2
	[ ! -e /sys/module/rpcrdma2 ]
}

set -e
say "Linux $(uname -r), $(nproc) CPUs, $(awk '/MemTotal/ { print int($2 / 1024) }' /proc/meminfo) MiB"
step "Starting the server: RDMA device rxe0 (software RoCE), nfsd, /export"
lab_net
lab_server
# A slow virtual machine is not a server that does not answer.
claim "rpcrdma2 loaded" load_rpcrdma2 negotiate_ms=15000
claim "the server listens: echo 'rdma2 20049' > /proc/fs/nfsd/portlist" \
	lab_listen rdma2 20049
say "  $(tr '\n' ',' < /proc/fs/nfsd/portlist)"
done_step "up"
step "Generating files"
make_files
done_step "$FILES files, $((BYTES / MIB)) MiB, each with its SHA-256"
for vers in 4.2 3; do
	run_version $vers
done
older_server
both_clients
say ""
claim "$((WRITTEN / MIB)) MiB written in all" is $WRITTEN -ge $((256 * MIB))
claim "server stopped, rpcrdma2 unloaded" unload
