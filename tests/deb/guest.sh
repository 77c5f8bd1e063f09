# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Sourced by tests/deb/check: what needs a kernel that runs. The guest's root
# directory is the chroot, by 9p; phase.sh is what happens in it.

# boot RELEASE PHASE: that phase in a guest with that kernel.
boot() {
	local release=$1 phase=$2 console=$logs/console-$2-$1.log status=0

	: > "$root/root/results"
	boot_root "$release" "$console" check_deb="$phase" || status=$?
	# See emulator_fault() of tests/lab/run.
	cp "$root/root/results" "$logs/results-$phase-$release"
	tail -n 40 "$console" | tr -d '\r'
	cat "$root/root/results"
	[ $status = 0 ]
	never grep '^not ok' "$root/root/results"
	grep "^ok end of $phase\$" "$root/root/results"
}

# An NFS server that exports memory, listens on RDMA in the place of the stock
# module, and has its only RDMA device 20 seconds late.
set_up_machine() {
	install -m 755 "$TOP/tests/deb/phase.sh" "$root/root/phase.sh"
	cat > "$root/etc/systemd/system/check-deb.service" <<-'END'
	[Unit]
	After=nfs-server.service
	[Service]
	Type=oneshot
	ExecStart=/root/phase.sh
	TimeoutStartSec=infinity
	[Install]
	WantedBy=multi-user.target
	END
	cat > "$root/etc/systemd/system/late-net.service" <<-'END'
	[Service]
	Type=oneshot
	RemainAfterExit=yes
	ExecStart=/bin/sleep 20
	ExecStart=/root/phase.sh net
	[Install]
	WantedBy=multi-user.target
	END
	echo 'tmpfs /srv tmpfs defaults 0 0' > "$root/etc/fstab"
	echo '/srv *(rw,fsid=0,no_subtree_check,no_root_squash,insecure)' > "$root/etc/exports"
	mkdir -p "$root/etc/nfs.conf.d"
	printf '[nfsd]\ngrace-time=10\nlease-time=10\nthreads=4\n' \
		> "$root/etc/nfs.conf.d/check-deb.conf"
	echo 'client 10.0.0.0/24 port 20049 recv_size 8192' \
		> "$root/etc/rpcrdma2.conf"
	in_root rpcrdma2 setup replace --server
	in_root systemctl enable check-deb late-net nfs-server \
		rpcrdma2-policy rpcrdma2-softroce@v0
}

older_kernel() {
	put_debs
	# Without headers first
	apt install linux-image-amd64 \
		$(debs "$version" rpcrdma2-dkms rpcrdma2-tools) 2>&1 |
		tee "$tmp/said"
	grep "not built for kernel 6.1.*its headers are not installed" "$tmp/said"
	apt install linux-headers-amd64
	has_module "$(release_of 6.1)" "$version"
	set_up_machine
}

newer_kernel() {
	apt install linux-image-6.12-amd64 linux-headers-6.12-amd64
	has_module "$(release_of 6.12)" "$version"
	has_module "$(release_of 6.1)" "$version"
}

# For the upgrade in the guest, where compiling would take long.
without_headers() {
	apt remove "linux-headers-*"
	[ ! -e "$root/usr/src/linux-headers-$(release_of 6.12)" ]
}

headers_later() {
	[ -z "$(packaged "$(release_of 6.12)")" ]
	apt install linux-headers-6.12-amd64
	has_module "$(release_of 6.12)" "$next"
}

# The NFS modules come and go with source and kernel.
rdmaver() {
	local dir

	dir=$root/lib/modules/$(release_of 6.12)/updates/nfs-rdmaver
	apt install $(debs "$next" nfs-rdmaver)
	[ ! -e "$dir" ]
	apt install linux-source-6.12
	[ "$(ls "$dir" | wc -l)" = 7 ]
	apt purge "linux-image-6.1.*" "linux-headers-6.1.*"
	[ -z "$(release_of 6.1)" ]
	apt purge nfs-rdmaver
	[ ! -e "$dir" ]
	nothing_named '*nfs-rdmaver*'
}

purge_all() {
	apt purge rpcrdma2-dkms rpcrdma2-tools
	nothing_named '*rpcrdma2*'
}

check_in_guest() {
	local old new

	step "kernels, and guests under emulation (about 20 minutes)"
	new_root
	check "6.1 without headers, which come later" older_kernel
	old=$(release_of 6.1)
	check "on 6.1: the device is late, the listener is there, NFS over RDMA" \
		boot "$old" late
	check "kernel upgrade to 6.12" newer_kernel
	new=$(release_of 6.12)
	check "no headers" without_headers
	check "on 6.12: the same, and an upgrade with a mount active" \
		boot "$new" upgrade
	check "headers later" headers_later
	check "on 6.12, upgraded: no device, TCP unhurt, then a device" \
		boot "$new" none
	check "nfs-rdmaver follows sources and kernels" rdmaver
	check "purge leaves nothing behind" purge_all
}
