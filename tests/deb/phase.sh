#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Runs in the guest of tests/deb/check, as a unit of its systemd; check_deb= on the
# kernel's command line says which phase. Results go to /root/results.
export PATH=/usr/sbin:/usr/bin LC_ALL=C

ok() { # NAME CMD...
	local name=$1 log=/tmp/log

	shift
	if "$@" > $log 2>&1; then
		echo "ok $name"
	else
		echo "not ok $name"
		sed 's/^/# /' $log
		systemctl --no-pager status 'rpcrdma2-*' nfs-server 2>&1 | sed 's/^/# /'
		dmesg | tail -n 20 | sed 's/^/# /'
	fi >> /root/results
}

# The emulated machine is slow, so what is waited for may take its time.
wait_for() {
	local n

	for ((n = 0; n < 300; n++)); do
		! "$@" || return 0
		sleep 1
	done
	return 1
}

listener() { systemctl show -P ActiveState rpcrdma2-listener@20049; }
listener_is() { [ "$(listener)" = "$1" ]; }
listens() { grep '^rdma2 20049$' /proc/fs/nfsd/portlist; }

# The network interface of the device; it gets one by its unit.
net() {
	ip link add v0 mtu 9000 type veth peer name v1 mtu 9000
	ip addr add 10.0.0.1/24 dev v0
	ip link set v1 up
	ip link set v0 up
}

tcp_works() {
	mkdir -p /mnt/tcp
	mount -t nfs -o proto=tcp,vers=3,nolock 127.0.0.1:/srv /mnt/tcp &&
		echo tcp > /mnt/tcp/file && grep tcp /srv/file && umount /mnt/tcp
}

mount_rdma() {
	mkdir -p /mnt/rdma
	mount -t nfs -o proto=rdma 10.0.0.1:/ /mnt/rdma
}

speaks_version_2() { rpcrdma2 status; }

as_the_policy_says() { rpcrdma2 show client | grep '^rbsiz: local 8192 '; }

# entered UNIT: when it became active, microseconds since the boot
entered() { systemctl show -P ActiveEnterTimestampMonotonic "$1"; }

loaded_policy() { [ "$(rpcrdma2 policy save)" = "$(cat /etc/rpcrdma2.conf)" ]; }

policy() {
	ok "the policy's unit" systemctl is-active rpcrdma2-policy
	ok "it has loaded the file" loaded_policy
	ok "before nfsd" \
		test "$(entered rpcrdma2-policy)" -lt "$(entered nfs-server)"
}

# What it was told before stays.
wrong_policy() {
	cp /etc/rpcrdma2.conf /tmp/conf
	echo 'client default versions v3' >> /etc/rpcrdma2.conf
	! systemctl reload rpcrdma2-policy || return
	cp /tmp/conf /etc/rpcrdma2.conf
	loaded_policy && systemctl reload rpcrdma2-policy && loaded_policy
}

# Not on the root directory, the emulator's, which may lose what is not written back
write_and_read() { # NAME
	mountpoint -q /mnt/rdma || return
	head -c 4M /dev/urandom > /run/data
	cp /run/data "/mnt/rdma/$1"
	echo 3 > /proc/sys/vm/drop_caches
	cmp /run/data "/mnt/rdma/$1" && cmp /run/data "/srv/$1"
}

stock_nfs() { ! modinfo -n nfs | grep updates; }

late() {
	ok "nfsd does not wait for the device" systemctl is-active nfs-server
	ok "the listener does" listener_is activating
	ok "TCP meanwhile" tcp_works
	touch /run/seen
	ok "the device comes" wait_for test -e /sys/class/infiniband/rxe_v0
	ok "and the listener" wait_for listener_is active
	ok "nfsd says so" listens
	policy
	ok "NFS modules of the kernel" stock_nfs
	ok "mount" mount_rdma
	ok "version 2" speaks_version_2
	ok "with the policy's sizes" as_the_policy_says
	ok "doctor finds nothing" rpcrdma2 doctor
	ok "data" write_and_read first
	ok "a policy with a mistake" wrong_policy
}

# The server's side of nfsd goes with nfsd and comes back with it.
restart() {
	ok "umount" umount /mnt/rdma
	ok "restart of nfsd" systemctl restart nfs-server
	ok "the listener comes back" wait_for listens
	ok "and says so" wait_for listener_is active
	ok "mount again" mount_rdma
	ok "data again" write_and_read again
}

apt_upgrade() {
	apt-get -y -q install /root/rpcrdma2-{dkms,tools}_*next*.deb
}

# However long that takes: the export is in memory.
io() {
	while [ ! -e /tmp/enough ]; do
		write_and_read "under-way-$n" && rm "/mnt/rdma/under-way-$n" || return
		n=$((n + 1))
	done
	[ "$n" -gt 0 ]
}

upgrade() {
	local pid version n=0

	late
	version=$(cat /sys/module/rpcrdma2/version)
	io > /run/io 2>&1 &
	pid=$!
	ok "apt upgrade with a mount active" apt_upgrade
	touch /tmp/enough
	ok "data under way" eval 'wait $pid || { cat /run/io; false; }'
	ok "the old module runs on" \
		test "$(cat /sys/module/rpcrdma2/version)" = "$version"
	restart
}

# Until the machine is switched off, nobody can read what root could change, such as
# debugfs.
lock_down() {
	umount /sys/kernel/debug
	echo integrity > /sys/kernel/security/lockdown
	grep '\[integrity\]' /sys/kernel/security/lockdown
}

reads() {
	rpcrdma2 show client | grep '^rbsiz: local 8192 '
	rpcrdma2 stat | grep '^connects '
	rpcrdma2 show module | grep '^draft: '
}

locked_down() {
	ok "lockdown, no debugfs" lock_down
	ok "status still" rpcrdma2 status
	ok "all else that is read" eval 'set -e; reads'
	ok "and policy" rpcrdma2 policy set client default credits 7
	ok "which counts" \
		eval "rpcrdma2 policy get client 192.0.2.1 | grep ' credits 7 '"
}

none() {
	policy
	ok "nfsd runs" systemctl is-active nfs-server
	ok "TCP without a device" tcp_works
	ok "the listener has failed" wait_for listener_is failed
	ok "and is seen" eval 'systemctl --failed | grep rpcrdma2-listener'
	ok "TCP still" tcp_works
	net
	ok "the device comes" wait_for test -e /sys/class/infiniband/rxe_v0
	ok "and the listener by itself" wait_for listener_is active
	ok "mount" mount_rdma
	ok "version 2" speaks_version_2
	ok "the new module runs" grep next /sys/module/rpcrdma2/version
	ok "data" write_and_read first
	locked_down
	ok "umount" umount /mnt/rdma
	ok "the device goes" systemctl stop rpcrdma2-softroce@v0
	ok "it is gone" test ! -e /sys/class/infiniband/rxe_v0
}

if [ "${1-}" = net ]; then
	# In one phase there is no device until it is asked for.
	if grep -q check_deb=none /proc/cmdline; then exit 0; fi
	# Never before it has been seen that there is none
	wait_for test -e /run/seen && net
	exit
fi
modprobe -n rpcrdma2 > /dev/null
phase=$(sed -n 's/.*check_deb=\([a-z]*\).*/\1/p' /proc/cmdline)
$phase
# Without its server the mount would hold up the power-off.
! mountpoint -q /mnt/rdma || ok "umount at the end" umount /mnt/rdma
echo "ok end of $phase" >> /root/results
sync
systemctl poweroff
