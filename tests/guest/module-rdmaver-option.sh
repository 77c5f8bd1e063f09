#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The mount option rdmaver= of the fs/nfs patch: which transport a mount gets,
# what is refused and with which words, and that a refused mount leaves the
# others alone.
#
# timeout: 300
. /lab/lib/lab.sh

MODPROBE=$(< /proc/sys/kernel/modprobe)
UNIQ=/sys/module/nfs/parameters/nfs4_unique_id

# The /proc/mounts line of a directory.
line() { awk -v dir="${1:-/mnt}" '$2 == dir' /proc/mounts; }

# shows DIR OPTION...: each as a whole word among the options
shows() {
	local option

	for option in "${@:2}"; do
		line "$1" | grep -qE "[, ]$option([, ]|\$)" || return 1
	done
}
names_no_version() { not shows /mnt 'rdmaver=.*'; }

# Says which error mount(2) returned.
mount() { command mount -v "$@"; }

# raw_mount OPTS [SOURCE [DIR]]: nothing added to the options.
raw_mount() {
	mkdir -p "${3:-/mnt}"
	mount -t nfs -o "$1" "${2:-$RXE_ADDR:/}" "${3:-/mnt}"
}

# refused ERROR REGEX CMD...: CMD fails to mount with ERROR from mount(2), and
# the kernel log says why.
refused() {
	local error=$1 regex=$2 before out

	shift 2
	before=$(wc -l < /proc/mounts)
	mark_log
	if out=$("$@" 2>&1); then
		echo "not refused: $*"
		return 1
	fi
	echo "$out"
	grep -qF "mount(2): $error" <<< "$out"
	logged "$regex"
	[ "$(wc -l < /proc/mounts)" = "$before" ]
}

invalid() { refused "Invalid argument" "$@"; }
busy() { refused "Device or resource busy" "in use with another rdmaver=" "$@"; }

# The mount in a directory still carries new data and locks.
alive() {
	local file=${1:-/mnt}/alive.$RANDOM

	head -c 100000 /dev/urandom > "$LAB_TMP/alive"
	cp "$LAB_TMP/alive" "$file"
	drop_caches
	flock -x "$file" cmp "$LAB_TMP/alive" "$file"
	rm "$file"
}

# ---- without version 2 ----

version_1() { # NFS version
	mount_nfs rxe-v1 "$1" rdmaver=1
	shows /mnt proto=rdma
	names_no_version
	[ ! -e /sys/module/rpcrdma2 ] || [ "$(< /sys/module/rpcrdma2/refcnt)" = 0 ]
	alive
	umount_nfs
}

bad_version() {
	local o

	for o in rdmaver=0,proto=rdma proto=rdma,rdmaver=3 rdma,rdmaver=3 \
		 rdmaver=4294967295,proto=rdma rdmaver=3,proto=tcp rdmaver=258; do
		invalid "NFS: rdmaver=[0-9]* is not supported" \
			raw_mount "vers=4.2,$o"
	done
	invalid "NFS: rdmaver=3 is not supported" \
		raw_mount "vers=3,proto=rdma,rdmaver=3" "$RXE_ADDR:/export"
	invalid "Bad value for 'rdmaver'" raw_mount vers=4.2,proto=rdma,rdmaver=two
	invalid "Bad value for 'rdmaver'" raw_mount vers=4.2,proto=rdma,rdmaver=-2
}

wrong_proto() {
	local o

	for o in rdmaver=2,proto=tcp proto=tcp,rdmaver=2 rdmaver=2 \
		 tcp,rdmaver=2 rdmaver=1,proto=tcp proto=rdma,rdmaver=2,proto=tcp; do
		invalid "NFS: rdmaver=[12] requires proto=rdma" \
			raw_mount "vers=4.2,$o"
	done
	invalid "NFS: rdmaver=2 requires proto=rdma" \
		raw_mount "vers=3,proto=tcp,port=2049,rdmaver=2" "$RXE_ADDR:/export"
}

# Whatever modprobe says: it fails, or it succeeds and loads nothing.
no_module() {
	local helper

	unload_rpcrdma2
	for helper in /bin/false /bin/true /nowhere; do
		echo "$helper" > /proc/sys/kernel/modprobe
		invalid "NFS: rdmaver=2 requires the rpcrdma2 module" \
			raw_mount vers=4.2,proto=rdma,rdmaver=2
		invalid "NFS: rdmaver=2 requires the rpcrdma2 module" \
			raw_mount vers=3,rdmaver=2,proto=rdma "$RXE_ADDR:/export"
	done
}

# Without rdmaver= a second NFSv4 mount shares the first one's connection, as
# it always did; who names a version must get it.
version_1_beside_tcp() {
	mount_nfs tcp 4.2
	busy mount_nfs rxe-v1 4.2 rdmaver=1 "$SECOND"
	alive
	umount_nfs
}

remount() { # DEV RDMAVER NFS-version
	mount_nfs "$1" "$3"
	invalid "NFS: rdmaver= cannot be changed by remount" \
		mount -o "remount,rdmaver=$((3 - $2))" /mnt
	mount -o remount,ro /mnt
	shows /mnt ro
	mount -o "remount,rdmaver=$2,rw" /mnt
	shows /mnt rw
	mount -o "remount,rdmaver=$2,ro" /mnt
	shows /mnt ro
	mount -o remount,rw /mnt
	shows /mnt rw
	[ "$2" = 1 ] || shows /mnt rdmaver=2
	alive
	umount_nfs
}

# ---- with version 2 ----

# rdmaver=2 shows, and what the stock RDMA transport gets by default does too:
# port, timeouts, MNT by TCP.
version_2() { # NFS version
	local path=/

	[ "$1" != 3 ] || path=/export
	raw_mount "rdmaver=2,vers=$1,proto=rdma" "$RXE_ADDR:$path"
	line
	shows /mnt proto=rdma rdmaver=2 port=20049 timeo=600 retrans=2
	[ "$1" != 3 ] || shows /mnt mountproto=tcp
	[ "$(xprt_lines | wc -l)" = 1 ]
	[ "$(< /sys/module/rpcrdma2/refcnt)" -gt 0 ]
	alive
	umount_nfs
}

# The options survive a trip through the short form and the other order.
version_2_spelling() {
	local o

	for o in rdma,rdmaver=2 rdmaver=2,rdma proto=tcp,rdmaver=2,proto=rdma \
		 rdmaver=1,proto=rdma,rdmaver=2; do
		raw_mount "vers=4.2,$o"
		shows /mnt rdmaver=2
		umount_nfs
	done
}

# The server's listener would load the module too, so there is none: that the
# mount finds no server is not the point. Comes last, therefore.
autoload() {
	local pid

	lab_server_down
	unload_rpcrdma2
	timeout 600 mount -t nfs -o vers=4.2,proto=rdma,rdmaver=2,retry=0 \
		"$RXE_ADDR:/" /mnt &
	pid=$!
	lab_wait 20 test -e /sys/module/rpcrdma2
	kill "$pid" || true
	wait "$pid" && return 1
	! mountpoint -q /mnt
}

# The reply to READ_PLUS has no data item that could be placed.
read_plus() {
	mount_nfs tcp 4.2
	head -c 300000 /dev/urandom > /mnt/rp
	drop_caches
	sha256sum /mnt/rp
	[ "$(operations READ_PLUS)" -gt 0 ]
	umount_nfs
	mount_nfs rxe 4.2
	sha256sum /mnt/rp
	[ "$(operations READ_PLUS)" = 0 ]
	[ "$(operations READ)" -gt 0 ]
	rm /mnt/rp
	umount_nfs
}

# NFSv3 has no client ID: both versions side by side, each what it asked for.
side_by_side() { # VERSION-OF-1 VERSION-OF-2 [OPTIONS of the first]
	mount_nfs rxe-v1 "$1" "${3-}"
	mount_nfs rxe "$2" '' "$SECOND"
	names_no_version
	shows "$SECOND" rdmaver=2
	alive
	alive "$SECOND"
	umount_nfs "$SECOND"
	umount_nfs
}

second_mount() { # FIRST SECOND NFS-version [OPTIONS of the second]
	mount_nfs "$1" "$3"
	exec 7> /mnt/open
	flock -x 7
	echo before >&7
	busy mount_nfs "$2" "$3" "${4-}" "$SECOND"
	busy mount_nfs "$2" "$3" "${4:+$4,}nosharecache" "$SECOND"
	echo after >&7
	exec 7>&-
	printf 'before\nafter\n' | cmp - /mnt/open
	rm /mnt/open
	alive
	umount_nfs
	# Only the other mount was in the way.
	mount_nfs "$2" "$3" "${4-}"
	alive
	umount_nfs
}

# Who names no version is not refused on account of one who does: the mount shares
# the connection, as it would with the stock transport.
not_refused() { # DEV OF-SECOND NFS-version
	mount_nfs rxe "$2"
	mount_nfs "$1" "$2" '' "$SECOND"
	shows "$SECOND" rdmaver=2
	alive "$SECOND"
	umount_nfs
	alive "$SECOND"
	# and is in the way of one who names another
	busy mount_nfs rxe-v1 "$2" rdmaver=1
	umount_nfs "$SECOND"
	# Alone it gets its own
	mount_nfs "$1" "$2"
	names_no_version
	alive
	umount_nfs
}

# Another minor version is another client of the server.
uniquifier() { # NFS version
	mount_nfs rxe-v1 "$1"
	printf second > $UNIQ
	mount_nfs rxe "$1" '' "$SECOND"
	printf '\0' > $UNIQ
	names_no_version
	shows "$SECOND" rdmaver=2
	alive
	alive "$SECOND"
	umount_nfs "$SECOND"
	alive
	umount_nfs
}

# nfsd's export cache counts in seconds: the second flush within one second
# cleans nothing and makes the next one clean nothing either.
unused_export() {
	sleep 2
	exportfs -f
	umount "$1"
}

# A referral goes the way of its parent; here it leads back to this server.
referral() { # DEV OPTION
	mkdir -p /export/here /export/there
	mountpoint -q /export/here || mount --bind /export/here /export/here
	exportfs -o "rw,no_root_squash,insecure,fsid=7,refer=/there@$RXE_ADDR" \
		'*:/export/here'
	echo moved > /export/there/file
	mount_nfs "$1" 4.2
	[ "$(cat /mnt/here/file)" = moved ]
	line /mnt/here
	shows /mnt/here "$2"
	umount /mnt/here
	umount_nfs
	exportfs -u '*:/export/here'
	lab_wait 20 unused_export /export/here
}

# ---- the lot ----

# check NAME CMD ARG...: what one subtest leaves must not disturb the next.
check() {
	local dir

	ktap_run "$@"
	nfs_mounts | while read -r dir; do
		umount -f "$dir"
	done
	printf '\0' > $UNIQ
	echo "$MODPROBE" > /proc/sys/kernel/modprobe
}

lab_net
lab_server
lab_listen rdma 20050
mkdir -p "$SECOND"

for vers in 3 4.0 4.1 4.2; do
	check "rdmaver=1 NFSv$vers" version_1 $vers
done
check "unknown versions" bad_version
check "rdmaver= without proto=rdma" wrong_proto
check "rdmaver=2 without the module" no_module
check "rdmaver=1 beside TCP" version_1_beside_tcp
for vers in 3 4.2; do
	check "remount of version 1, NFSv$vers" remount rxe-v1 1 $vers
done
check "referral below TCP" referral tcp proto=tcp

# --stock runs: the rest is about the module's own transport.
have_rdma2 || exit 0

load_rpcrdma2
lab_listen rdma2 20049
for vers in 3 4.0 4.1 4.2; do
	check "rdmaver=2 NFSv$vers" version_2 $vers
done
check "rdmaver=2 in any order" version_2_spelling
if older_than 6.12; then
	ktap_skip "READ_PLUS" "the NFS client of this kernel sends none"
else
	check "READ_PLUS" read_plus
fi
check "NFSv3, versions side by side" side_by_side 3 3 rdmaver=1
for vers in 4.0 4.2; do
	check "version 2 after 1, NFSv$vers" second_mount rxe-v1 rxe $vers
	check "RDMA after version 2, NFSv$vers" not_refused rxe-v1 $vers
	check "TCP after version 2, NFSv$vers" not_refused tcp $vers
done
check "rdmaver=1 after version 2" second_mount rxe rxe-v1 4.2 rdmaver=1
check "version 2 after TCP" second_mount tcp rxe 4.2
check "another minor version" side_by_side 4.1 4.2
for vers in 4.0 4.2; do
	check "another uniquifier, NFSv$vers" uniquifier $vers
done
for vers in 3 4.2; do
	check "remount of version 2, NFSv$vers" remount rxe 2 $vers
done
check "referral below version 2" referral rxe rdmaver=2
check "the mount loads the module" autoload
