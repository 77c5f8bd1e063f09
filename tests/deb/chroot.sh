# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Sourced by tests/deb/check: what needs no kernel that runs.

# A kernel that no table has, with its headers; what dkms's own hook makes of it is
# the end of that kernel's installation.
UNSUPPORTED=5.10.0-none

# The files of the system, but for what every installation leaves behind.
list_files() {
	in_root find / -xdev \( -path /proc -o -path /dev -o -path /sys \
		-o -path /root -o -path /tmp -o -path /var/log -o -path /var/cache \
		-o -path /var/lib/apt -o -path /var/lib/dpkg -o -path /run \
		-o -path '/var/lib/dkms/mok.*' -o -path '/lib/modules/*/modules.*' \
		-o -path '/usr/lib/modules/*/modules.*' \) -prune -o -print | sort
}

packaged() { # RELEASE
	find "$root/lib/modules/$1/updates/dkms" -name 'rpcrdma2.ko*' 2> /dev/null
}

# has_module RELEASE VERSION: modprobe would load that one.
has_module() {
	local file

	file=$(packaged "$1")
	[ "$(modinfo -F version "$file")" = "$2" ]
	[[ $(modinfo -F vermagic "$file") = "$1 "* ]]
	[ "$(in_root modinfo -k "$1" -n rpcrdma2)" = "${file#"$root"}" ]
}

supported_kernel() { release_of 6.12; }

set_up_kernels() {
	local headers=$root/lib/modules/$UNSUPPORTED/build

	put_debs
	[ -n "$(supported_kernel)" ]
	mkdir -p "$headers/include/generated" "${headers%/build}/kernel"
	echo "#define UTS_RELEASE \"$UNSUPPORTED\"" \
		> "$headers/include/generated/utsrelease.h"
	: > "$headers/Makefile"
	list_files > "$tmp/files.before"
}

install_packages() {
	apt install $(debs "$version" rpcrdma2-dkms rpcrdma2-tools) 2>&1 |
		tee "$tmp/said"
	grep "not built for kernel $UNSUPPORTED: .*is not among those" "$tmp/said"
	has_module "$(supported_kernel)" "$version"
	[ -z "$(packaged $UNSUPPORTED)" ]
}

run_hooks() {
	local hook

	for hook in postinst.d header_postinst.d; do
		in_root "/etc/kernel/$hook/dkms" $UNSUPPORTED
		in_root "/etc/kernel/$hook/dkms-rpcrdma2" $UNSUPPORTED
		in_root "/etc/kernel/$hook/dkms-rpcrdma2" 6.12.0-gone
	done
	# Nothing to do: what has been built fits the RDMA core.
	[ -z "$(in_root "/etc/kernel/$hook/dkms-rpcrdma2" "$(supported_kernel)")" ]
}

# The steps of kubernetes/Containerfile, without lists of packages, and in one root for
# both images: what one copies from the other is moved.
container_file() {
	local word rest kver

	kver=$(supported_kernel)
	cp "$tmp/dist/rpcrdma2-dkms_${version}_all.deb" "$root/tmp/"
	sed 's/apt-get update && //; :a; /\\$/{N; s/\\\n//; ba}' \
		"$TOP/kubernetes/Containerfile" | while read -r word rest; do
		case "$word $rest" in
		"COPY --from=build"*) rest="set -- $rest; mkdir -p \$3; mv \$2* \$3" ;;
		RUN*) ;;
		*) continue ;;
		esac
		in_root env KERNEL_FULL_VERSION="$kver" bash -exc "$rest"
	done
	in_root modprobe -d /opt -S "$kver" --show-depends rpcrdma2 > "$tmp/said"
	grep "/opt/lib/modules/$kver/rpcrdma2.ko" "$tmp/said"
	grep "/host/kernel/.*/sunrpc.ko" "$tmp/said"
	mv "$root/opt/lib/modules/$kver"/rpcrdma2.ko* "$root/lib/modules/$kver/updates/dkms/"
	rm -r "$root"/opt/lib "$root"/tmp/*.deb
}

upgrade_packages() {
	apt install $(debs "$next" rpcrdma2-dkms rpcrdma2-tools)
	has_module "$(supported_kernel)" "$next"
	[ ! -e "$root/usr/src/rpcrdma2-$version" ]
}

# Of make install
hand_made() {
	local kver dir

	kver=$(supported_kernel)
	dir=$root/lib/modules/$kver/updates
	cp "$(packaged "$kver")" "$dir/"
	in_root depmod "$kver"
	has_module "$kver" "$next"
	rm "$dir"/rpcrdma2.ko*
}

# Neither the package's own installation nor that of a kernel fails.
failing_build() {
	local kver config

	kver=$(supported_kernel)
	config=${root:?}/usr/src/linux-headers-$kver/include/generated/autoconf.h
	mv "$config" "$config.away"
	apt install --allow-downgrades \
		$(debs "$version" rpcrdma2-dkms rpcrdma2-tools) 2>&1 | tee "$tmp/said"
	grep "could NOT be built for kernel $kver" "$tmp/said"
	in_root dpkg -s rpcrdma2-dkms | grep "^Status: install ok installed"
	in_root /etc/kernel/postinst.d/dkms-rpcrdma2 "$kver"
	[ -z "$(packaged "$kver")" ]
	mv "$config.away" "$config"
}

without_source() {
	apt install $(debs "$version" nfs-rdmaver) 2>&1 | tee "$tmp/said"
	grep "no modules for kernel $(supported_kernel): .*install linux-source-6.12" \
		"$tmp/said"
	apt purge nfs-rdmaver
}

purge_packages() {
	apt purge rpcrdma2-dkms rpcrdma2-tools
	list_files | diff "$tmp/files.before" -
	nothing_named '*rpcrdma2*'
}

check_in_chroot() {
	step "installing, upgrading, purging in a chroot (about a minute and a half)"
	kernel_root
	check "headers of a kernel, and of one that is not supported" set_up_kernels
	check "apt install: built for the one, the other let alone" install_packages
	check "steps of the container file" container_file
	check "kernel hooks do not fail for either" run_hooks
	check "apt upgrade" upgrade_packages
	check "the module of the package before that of make install" hand_made
	check "a build that fails lets apt go on" failing_build
	check "nfs-rdmaver without a kernel source lets apt go on" without_source
	check "purge leaves nothing behind" purge_packages
}
