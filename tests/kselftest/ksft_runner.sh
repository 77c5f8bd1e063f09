#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Runs one of these tests: run_kselftest.sh calls it for scripts that are not
# executable.
#
# The tests are written for a machine of their own: they mount on /mnt, export
# /export, start the daemons of an NFS server and kill whoever is left. Here each
# has a root directory and mounts of its own, in which /lab is this directory, and
# who is left is who is in its cgroup. What a machine has only once, a test takes
# if nobody else uses it: the NFS server with its daemons, the module, names of
# devices. Otherwise it is skipped, and says why. In the end all that was made or
# loaded is gone.
#
# usage: ./ksft_runner.sh TEST.sh
#
# KSFT_MACHINE_SLOW in the environment: time limits are three times as long

here=$(dirname "$(realpath "$0")")
. "$here/lib/net.sh"
. "$here/lib/nfs.sh"

# Addresses for documentation, which no network has.
ADDRESSES="RXE_ADDR=192.0.2.1 RXE_ADDR6=2001:db8:1::1
	SIW_ADDR=198.51.100.1 SIW_ADDR6=2001:db8:2::1"

PROGRAMS=(awk chroot dmesg exportfs ip modprobe mount.nfs nfsdcld pgrep pidof
	pkill rdma rpc.mountd rpc.statd rpcbind rpcrdma2 setsid timeout unshare)

# What tests load, knowingly or not
MODULES=(rpcrdma2 rpcrdma rdma_rxe siw rdma_ucm nfsd nfs nfsv3 nfsv4
	nfs_layout_nfsv41_files nfs_layout_flexfiles blocklayoutdriver veth loop
	ext4 crc32_generic crc32_pclmul)

# Where kmod looks, until the next boot at most
KMOD=/run/modprobe.d/rpcrdma2-selftest.conf

skip() {
	echo "1..0 # SKIP $*"
	exit 4
}

header() { sed -n "s/^# $1: *//p" "$here/$name.sh" | head -n 1; }
running() { pgrep -x "$1" > /dev/null; }
loaded() { awk '{ print $1 }' /proc/modules; }
has_fs() { grep -qw "$1" /proc/filesystems || modprobe -qn "$1"; }

# ---- may this test run here? ----

check_programs() {
	local p

	for p in "${PROGRAMS[@]}" $(header programs); do
		type -P "$p" > /dev/null || skip "there is no program $p"
	done
	[ -e /etc/exports ] || skip "there is no /etc/exports"
}

check_kernel() {
	has_fs nfs || skip "the kernel has no NFS client"
	has_fs nfsd || skip "the kernel has no NFS server"
	[ -e /sys/module/rpcrdma2 ] || have_rdma2 ||
		skip "there is no module rpcrdma2"
	have_rxe || have_siw || skip "the kernel has neither rxe nor siw"
}

check_unused() {
	local d

	[ /proc/self/ns/net -ef /proc/1/ns/net ] ||
		skip "soft-RoCE is only in the first network namespace"
	! awk '$1 == "th" && $2 > 0' /proc/net/rpc/nfsd 2> /dev/null | grep -q . ||
		skip "an NFS server is running: systemctl stop nfs-server"
	for d in rpc.mountd nfsdcld; do
		! running $d || skip "$d is running: systemctl stop nfs-server nfsdcld"
	done
	for d in rpcrdma rpcrdma2; do
		[ ! -e /sys/module/$d/initstate ] ||
			skip "$d is loaded: modprobe -r $d"
	done
	for d in net/{v0,v1,w0,w1} infiniband/{rxe0,siw0}; do
		[ ! -e "/sys/class/$d" ] || skip "there is already a ${d#*/}"
	done
}

# Without rdmaver= the transport is tested in the place of the stock one. Only the
# kernel's log says what is wrong with this mount, which cannot succeed.
knows_rdmaver() {
	local mark=rpcrdma2-selftest-$$

	modprobe -q nfs
	echo $mark > /dev/kmsg
	mount.nfs 127.0.0.1:/ "$dir" -o vers=4.2,rdmaver=3 > /dev/null 2>&1
	dmesg | sed "1,/$mark/d" | grep -q "rdmaver=3 is not supported"
}

# ---- what is of the whole machine ----

# Where an RDMA device appears, udev has the stock transport loaded.
keep_stock_away() {
	mkdir -p "${KMOD%/*}"
	echo 'install rpcrdma /bin/true' > $KMOD
}

stock_may_come() {
	rm -f $KMOD
	rmdir --ignore-fail-on-non-empty "${KMOD%/*}"
}

# What tests load, with what that needs
our_modules() {
	local m

	for m in "${MODULES[@]}"; do
		modprobe -qD "$m" 2> /dev/null
	done | sed -n 's/^insmod \([^ ]*\).*/\1/p' |
		sed 's|.*/||; s/\.ko.*//; y/-/_/' | sort -u
}

# Those of ours that were not loaded before. The last users are just leaving.
rm_modules() {
	local tries=50 m left

	our_modules > "$dir/ours"
	while left=$(loaded | grep -vxFf "$dir/before" | grep -xFf "$dir/ours")
	      [ -n "$left" ] && [ $((tries--)) -gt 0 ]; do
		for m in $left; do
			rmmod "$m" 2> /dev/null
		done
		sleep 0.1
	done
}

# ---- a root of its own ----

make_root() {
	local e f

	mount -t tmpfs -o mode=755 selftest "$root"
	for e in /*; do
		if [ -L "$e" ]; then
			cp -P "$e" "$root$e"
		elif [ -d "$e" ]; then
			mkdir "$root$e"
			case $e in
			/export | /lab | /mnt | /out | /run | /tmp) ;;
			*) mount --rbind "$e" "$root$e" ;;
			esac
		fi
	done
	mkdir -p "$root"/{export,lab/{bin,cgroup,lib,tests},mnt,out,run/empty,tmp}
	chmod 1777 "$root/tmp"
	mount --bind "$here" "$root/lab/bin"
	mount --bind "$here" "$root/lab/tests"
	mount --bind "$here/lib" "$root/lab/lib"
	mount --bind "$dir/out" "$root/out"
	mount -t cgroup2 cgroup2 "$root/lab/cgroup"
	mount -t tmpfs selftest "$root/dev/shm"
	mount -t tmpfs selftest "$root/var/lib/nfs"
	for f in debug/debugfs tracing/tracefs; do
		mountpoint -q "$root/sys/kernel/${f%/*}" ||
			mount -t "${f#*/}" selftest "$root/sys/kernel/${f%/*}"
	done
	# Of NFS, nothing is configured but what tests export.
	: > "$root/run/exports"
	: > "$root/run/nothing"
	mount --bind "$root/run/exports" "$root/etc/exports"
	for f in nfs.conf nfsmount.conf; do
		[ ! -e "/etc/$f" ] ||
			mount --bind "$root/run/nothing" "$root/etc/$f"
		[ ! -d "/etc/$f.d" ] ||
			mount --bind "$root/run/empty" "$root/etc/$f.d"
	done
	[ ! -d /etc/exports.d ] ||
		mount --bind "$root/run/empty" "$root/etc/exports.d"
}

# kill_all: whoever is in the cgroup
kill_all() {
	local tries=50

	echo 1 > "$1/cgroup.kill"
	while [ -n "$(cat "$1/cgroup.procs")" ] && [ $((tries--)) -gt 0 ]; do
		sleep 0.1
	done
}

mount_nfsd() {
	mountpoint -q "$root/proc/fs/nfsd" ||
		mount -t nfsd nfsd "$root/proc/fs/nfsd"
}

# In a mount namespace. What nfsd was told stays if nfsd stays.
inside() { # --judge|--clean
	local cgroup=/lab/cgroup/$instance saved='' f value
	local trace=/sys/kernel/tracing/instances/$instance

	set -e
	make_root
	mkdir -p "$root$cgroup"
	set +e
	mkdir -p "$root$trace"
	kill_all "$root$cgroup"
	if [ -e /sys/module/nfsd ]; then
		mount_nfsd
		saved=$(cd "$root/proc/fs/nfsd" &&
			grep -H . nfsv4leasetime nfsv4gracetime)
	fi
	# shellcheck disable=SC2086 # words
	chroot "$root" /usr/bin/env -i HOME=/root LC_ALL=C TERM=dumb \
		PATH=/lab/bin:/usr/sbin:/usr/bin:/sbin:/bin \
		lab_flavour=selftest lab_scale="$scale" lab_share= \
		lab_daemons="$daemons" ${replace:+lab_replace=y} $ADDRESSES \
		LAB_CGROUP="$cgroup" TRACE="$trace" \
		/lab/bin/ksft_runner.sh "$1" "$name"
	kill_all "$root$cgroup"
	rmdir "$root$cgroup" "$root$trace"
	[ -n "$saved" ] || return
	mount_nfsd
	while IFS=: read -r f value; do
		echo "$value" > "$root/proc/fs/nfsd/$f"
	done <<< "$saved"
}

# In that root
judge_test() {
	# shellcheck disable=SC2034 # for judge.sh
	local LAB_CHANNEL=8 LAB_CHANNEL_NAME=/proc/$$/fd/8

	echo $$ > "$LAB_CGROUP/cgroup.procs"
	echo $$ > /out/pid
	trap 'pkill -KILL -s "$SESSION"; wait "$SESSION"' TERM
	exec 8>> /proc/self/fd/1
	export LAB_DRIVER=$$ KTAP_INDENT=
	. /lab/lib/judge.sh
	judge "$name" "/lab/tests/$name.sh"
	echo "$RESULT $REASON" > /out/verdict
}

clean() {
	export LAB_DRIVER=$$
	. /lab/lib/cleanup.sh
}

# ---- from outside ----

enter() { # --judge|--clean
	unshare --mount --fork --kill-child --propagation private \
		"$here/ksft_runner.sh" --inside "$1" "$name" &
	while kill -0 $! 2> /dev/null; do
		wait $!
	done
}

leave() {
	[ -e "$dir/out/verdict" ] || enter --clean > "$dir/out/clean" 2>&1
	rm_modules
	[ -z "$replace" ] || stock_may_come
}

main() {
	local result reason

	[ "$(id -u)" = 0 ] || skip "needs root"
	check_programs
	check_kernel
	check_unused
	dir=$(mktemp -d "${TMPDIR:-/tmp}/rpcrdma2-selftest.XXXXXX")
	root=$dir/root daemons='' replace=''
	scale=3
	[ -z "${KSFT_MACHINE_SLOW-}" ] || scale=10
	mkdir "$dir/out" "$dir/root"
	loaded > "$dir/before"
	trap 'rm -rf --one-file-system "$dir"' EXIT
	for d in rpcbind rpc.statd; do
		! running $d || daemons+=" $d"
	done
	knows_rdmaver || replace=y
	[ -z "$replace" ] || keep_stock_away
	export dir root scale daemons replace instance=rpcrdma2-selftest.$$
	# Only the test ends at once: what it made is taken down in order.
	trap 'kill "$(< "$dir/out/pid")"' INT TERM HUP
	enter --judge
	leave
	read -r result reason < "$dir/out/verdict"
	case $result in
	pass) exit 0 ;;
	skip) skip "$reason" ;;
	esac
	trap - EXIT
	echo "# failed: ${reason:-it was killed, or could not begin}"
	echo "# logs: $dir/out"
	echo "# again: $here/ksft_runner.sh $name.sh"
	exit 1
}

case ${1-} in
--inside) name=$3; inside "$2" ;;
--judge) name=$2; judge_test ;;
--clean) name=$2; clean ;;
*.sh) name=$(basename "$1" .sh); main ;;
*) sed -n '/^# usage/,/^$/s/^# \?//p' "$0"; exit 2 ;;
esac
