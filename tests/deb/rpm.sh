# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Sourced by tests/deb/check: the packages of make rpm, in a Debian whose rpm knows of
# no other package. No distribution with RPM is here.

build_rpms() {
	"$TOP/scripts/rpm" "$tmp/rpms"
	rpmlint --strict -c "$TOP/rpm/rpmlint.toml" "$TOP/rpm/rpcrdma2.spec" "$tmp"/rpms/*.rpm
}

rpm_in_root() {
	# shellcheck disable=SC2016 # for the inner shell
	unshare --mount --propagation private bash -c '
		mount --rbind /dev "$0/dev"
		mount --bind /proc "$0/proc"
		exec rpm --root "$0" --nodeps "$@"' "$root" "$@" 2>&1 | tee "$tmp/said"
}

# A package that brings a directory like those of kernels
kernel_rpm() {
	cat > "$tmp/kernel.spec" <<-'END'
	Name: kernel-none
	Version: 1
	Release: 1
	Summary: no kernel
	License: none
	BuildArch: noarch
	%description
	%install
	mkdir -p %{buildroot}/lib/modules/none
	%files
	/lib/modules/none
	END
	rpmbuild -bb --define "_topdir $tmp/none" "$tmp/kernel.spec"
}

# Without directories that DKMS may leave
list_others() { list_files | grep -v '/updates\(/dkms\)\?$'; }

install_rpms() {
	local build

	# Distributions with RPM have these.
	mkdir -p "$root"/usr/share/{licenses,man/man4}
	list_others > "$tmp/files.before"
	build=$root/lib/modules/$(supported_kernel)/build
	mv "$build" "$build.away"
	rpm_in_root -i "$tmp"/rpms/rpcrdma2-{dkms,tools}-*.rpm
	grep "headers are not installed (kernel-devel-$(supported_kernel))" "$tmp/said"
	mv "$build.away" "$build"
	in_root rpcrdma2 --help | grep "usage: rpcrdma2"
	kernel_rpm
	rpm_in_root -i "$tmp"/none/RPMS/noarch/kernel-none-*.rpm
	has_module "$(supported_kernel)" "$version"
}

erase_rpms() {
	rpm_in_root -e rpcrdma2-dkms rpcrdma2-tools kernel-none
	# dkms reads which compiler made a module, and "make rpm" strips that.
	grep -v "^readelf: .*'.comment'" "$tmp/said" > "$tmp/said.others" || true
	never grep -i 'error\|warning' "$tmp/said.others"
	list_others | diff "$tmp/files.before" -
}

check_rpm() {
	step "RPM packages in a chroot (about two minutes)"
	kernel_root
	check "RPM packages, to which rpmlint has no objections" build_rpms
	check "rpm -i, and a build when a kernel comes" install_rpms
	check "rpm -e leaves nothing behind" erase_rpms
}
