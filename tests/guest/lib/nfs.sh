# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# NFS server, transports and mounts.
#
# Ports: 2049 TCP, 20049 version 2 (svc class rdma2), 20050 the stock
# transport (svc class rdma).

NFSD=/proc/fs/nfsd
PARAMETERS=/sys/module/rpcrdma2/parameters
DAEMONS=(rpc.mountd rpc.statd nfsdcld rpcbind)

have_rdma2() { modprobe -qn rpcrdma2; }
# The kernel's own NFS modules, where a guest has no others, know no rdmaver=: such
# a guest (lab_replace) has this module in the place of the stock one.
#
# Tests that count messages and look at sizes want no change that they have not
# asked for.
load_rpcrdma2() {
	modprobe rpcrdma2 adapt_seconds=0 ${lab_replace:+replace=1} \
		"$@" || return
	# shellcheck disable=SC2086 # words
	[ -z "${HW_POLICY-}" ] || {
		_by_default client $HW_POLICY
		_by_default server $HW_POLICY
	}
}

# by_default ROLE NAME VALUE...: what the policy table says of all peers from now on,
# until the end of the subtest, for connections that are made. What its entry for them
# has said of other values stays.
by_default() {
	local old

	old=$(_default_of "$1")
	# shellcheck disable=SC2086 # words
	if [ -n "$old" ]; then
		undo rpcrdma2 policy set "$1" default $old
	else
		undo rpcrdma2 policy delete "$1" default
	fi
	_by_default "$@"
}

_default_of() { # ROLE
	rpcrdma2 policy show "$1" | sed -n "/ default port /!s/^$1 default //p"
}

_by_default() {
	local role=$1 name i words
	local -A value=()

	read -ra words <<< "$(_default_of "$role") ${*:2}"
	for ((i = 0; i < ${#words[@]}; i += 2)); do
		value[${words[i]}]=${words[i + 1]}
	done
	words=()
	for name in "${!value[@]}"; do
		words+=("$name" "${value[$name]}")
	done
	rpcrdma2 policy set "$role" default "${words[@]}"
}

# for_both NAME VALUE...: the same for mounts and for listeners.
for_both() { by_default client "$@" && by_default server "$@"; }

# unload_rpcrdma2: waits for the last connections to go. What is built into the
# kernel stays.
unload_rpcrdma2() {
	[ -e /sys/module/rpcrdma2/initstate ] || return 0
	lab_wait 20 rmmod rpcrdma2 2> "$LAB_TMP/rmmod" || {
		cat "$LAB_TMP/rmmod"
		return 1
	}
}

# lab_export tmpfs|ext4 [SIZE]: what /export is (default tmpfs). Both have
# ACLs and user xattrs.
lab_export() {
	local img=/dev/shm/export.img

	case $1 in
	tmpfs)
		mount -t tmpfs -o "size=${2:-80%}" export /export
		;;
	ext4)
		lab_modprobe loop ext4
		truncate -s "${2:-512M}" $img
		mke2fs -q -F -t ext4 -E lazy_itable_init=1,lazy_journal_init=1 $img
		mount -o loop $img /export
		;;
	esac
	chmod 1777 /export
}

# lab_daemons: those of the machine itself, which serve us as well
_daemon() {
	[[ " ${lab_daemons-} " != *" $1 "* ]] || return 0
	[ -e "/run/pid.$1" ] && pidof "$1" > /dev/null || "$@" 8>&-
	: > "/run/pid.$1"
}

# nfsdcld goes into the background before it watches for nfsd's pipe.
_nfsdcld_ready() {
	stat -c %N "/proc/$(pidof nfsdcld)"/fd/* | grep -q inotify
}

# lab_server [THREADS]: rpcbind, statd, mountd, nfsd for versions 3 to 4.2 on
# TCP, grace periods ended. Calls lab_export tmpfs if nothing is exported yet.
lab_server() {
	mountpoint -q /export || lab_export tmpfs
	mkdir -p /run/rpcbind /var/lib/nfs/{sm,sm.bak,v4recovery,rpc_pipefs,nfsdcld}
	touch /var/lib/nfs/{etab,rmtab,state}
	chown -R statd /var/lib/nfs/{sm,sm.bak,state}
	lab_modprobe nfsd lockd
	mountpoint -q $NFSD || mount -t nfsd nfsd $NFSD
	mountpoint -q /var/lib/nfs/rpc_pipefs ||
		mount -t rpc_pipefs rpc_pipefs /var/lib/nfs/rpc_pipefs
	echo '/export *(rw,no_root_squash,insecure,fsid=0,no_subtree_check)' \
		> /run/exports
	exportfs -a
	# NFSv3 registers with rpcbind; nfsd would wait a second for nfsdcld.
	_daemon rpcbind -w
	_daemon rpc.statd --no-notify
	_daemon rpc.mountd
	_daemon nfsdcld
	lab_wait 5 _nfsdcld_ready || true
	lab_nfsd "$@"
}

# lab_nfsd [THREADS]: nfsd itself, the daemons still run. LEASE: seconds of its leases.
lab_nfsd() {
	# What rpc.nfsd would do, without its two seconds of name look-ups.
	echo ${LEASE:-10} > $NFSD/nfsv4leasetime
	echo 10 > $NFSD/nfsv4gracetime
	grep -q '^tcp 2049' $NFSD/portlist || echo "tcp 2049" > $NFSD/portlist
	echo "${1:-8}" > $NFSD/threads
	lab_end_grace
}

# Nobody has state to reclaim: end both grace periods now. With no client on
# record nfsd may have ended its own already, and then refuses the order.
lab_end_grace() {
	local f

	for f in $NFSD/v4_end_grace /proc/fs/lockd/nlm_end_grace; do
		grep -q ^Y $f || echo Y > $f 2> /dev/null || true
		lab_wait 10 grep -q ^Y $f ||
			lab_die "the grace period does not end ($f)"
	done
}

# lab_listen CLASS PORT: adds a listener to nfsd.
lab_listen() {
	grep -q "^$1 $2\$" $NFSD/portlist || echo "$1 $2" > $NFSD/portlist
}

# mount_nfs DEV VERS [OPTS [DIR]]: DEV is rxe, siw (version 2), rxe-v1, siw-v1
# (stock transport) or tcp; rxe6 and so on for IPv6. VERS is 3, 4.0, 4.1, 4.2.
mount_nfs() {
	local dev=${1%-v1} vers=$2 opts=${3-} dir=${4:-/mnt} addr path o six=

	addr=$(lab_addr "$dev")
	case $addr in
	*:*) six=6 addr="[$addr]" ;;
	esac
	case $1 in
	tcp*) o=proto=tcp$six,port=2049 ;;
	*-v1) o=proto=rdma$six,port=20050 ;;
	*) o=proto=rdma$six,port=20049
		[ -n "${lab_replace-}" ] || o+=,rdmaver=2
		;;
	esac
	path=/
	if [ "$vers" = 3 ]; then
		path=/export
		o+=,mountproto=tcp$six
	fi
	mkdir -p "$dir"
	mount -t nfs -o "vers=$vers,$o${opts:+,$opts}" "$addr:$path" "$dir"
}

umount_nfs() { umount "${1:-/mnt}"; }

# Empties the client's page cache.
drop_caches() {
	sync
	echo 3 > /proc/sys/vm/drop_caches
}

# nfs_mounts: directories where NFS is mounted, innermost first.
nfs_mounts() { awk '$3 ~ /^nfs4?$/ { print $2 }' /proc/mounts | tac; }

# nfs_mounted [DIR]: does not ask the server, which mountpoint does, and waits
# for ever if there is none.
nfs_mounted() {
	local - dir type

	set +x
	while read -r _ dir type _; do
		[[ $dir != "${1:-/mnt}" || $type != nfs?(4) ]] || return 0
	done < /proc/mounts
	return 1
}

# lab_server_down: stops nfsd (which closes its listeners) and the daemons.
lab_server_down() {
	local p ours=()

	if mountpoint -q $NFSD; then
		echo 0 > $NFSD/threads
		exportfs -ua
		umount $NFSD
	fi
	for p in "${DAEMONS[@]}"; do
		[ ! -e "/run/pid.$p" ] || ours+=("$p")
	done
	if [ ${#ours[@]} -gt 0 ]; then
		kill $(pidof "${ours[@]}") || true
		lab_wait 10 eval '! pidof "${ours[@]}" > /dev/null' ||
			kill -KILL $(pidof "${ours[@]}")
		rm "${ours[@]/#//run/pid.}"
	fi
	# On an export that was in use, the last references go away behind
	# the back of whoever stopped the server.
	while mountpoint -q /export; do
		lab_wait 10 umount /export || return 1
	done
	rm -f /dev/shm/export.img
}
