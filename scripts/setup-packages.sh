#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Installs the Debian packages that demo, check, bench and lint need and that
# are missing. Says nothing when there is nothing to do.
#
# usage: scripts/setup-packages.sh [--arm64] [--coverage] [--kselftest] [--models]
#                                  [--prove] [--secure-boot] [--series]
#        scripts/setup-packages.sh --deb
#
# --arm64: also what guests of that architecture need; the others: also what these targets
# of make need. --deb: only what make deb and make rpm need.
set -euo pipefail

kernels=$(dirname "$0")/kernels
series=$("$kernels" get lab series)
package=$("$kernels" get lab package)
PACKAGES=(
	# to build kernels and modules
	bc bison flex gcc libc6-dev libelf-dev libssl-dev make patch
	xz-utils kmod "linux-headers-$package" "linux-source-$series"
	# to make and run guests
	busybox-static cpio procps qemu-system-x86
	"linux-image-$package"
	# what runs in them
	acl attr e2fsprogs fio ibverbs-providers ibverbs-utils iproute2
	krb5-admin-server krb5-kdc krb5-user libibverbs-dev libjansson-dev libmnl-dev librdmacm-dev
	libverto-libev1 nfs-common nfs-kernel-server pkg-config rdma-core rpcbind
	strace
	# to fuzz
	clang libclang-rt-14-dev
	# to compare with the protocol's XDR, its data, and in Wireshark
	libtirpc-dev python3 python3-jsonschema rpcsvc-proto tshark
	# what collectors are asked with, and to try the command on machines that are made up
	curl mandoc systemd
	# lint
	coccinelle codespell mandoc perl python3-yaml shellcheck sparse
	# what checkpatch asks about licences
	git python3-git python3-ply
)

# to build Debian's packages and RPMs, and to try them
DEB_PACKAGES=(build-essential debhelper dh-dkms libibverbs-dev libjansson-dev
	libmnl-dev librdmacm-dev lintian mmdebstrap rpm rpmlint)

PACKAGES+=("${DEB_PACKAGES[@]}")
for option; do
	case $option in
	--arm64) PACKAGES+=(gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-system-arm) ;;
	--coverage) PACKAGES+=(lcov) ;;
	--deb) PACKAGES=("${DEB_PACKAGES[@]}") ;;
	--kselftest) PACKAGES+=(rsync) ;;
	--models) PACKAGES+=(spin) ;;
	--prove) PACKAGES+=(frama-c-base why3 z3) ;;
	--secure-boot) PACKAGES+=(openssl ovmf sbsigntool) ;;
	--series) PACKAGES+=(pandoc python3-sphinx rsync unifdef) ;;
	*) sed -n '4,/^set/s/^# //p' "$0" >&2; exit 2 ;;
	esac
done

installed() {
	[ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2> /dev/null)" = installed ]
}

missing=()
for p in "${PACKAGES[@]}"; do
	installed "$p" || missing+=("$p")
done
[ ${#missing[@]} -gt 0 ] || exit 0

sudo=
if [ "$(id -u)" != 0 ]; then
	sudo=$(command -v sudo) || {
		echo "error: these packages are missing, and installing them takes root:" \
			"${missing[*]}" >&2
		exit 1
	}
fi

echo "==> installing Debian packages (about 3 minutes, 500 MB): ${missing[*]}" >&2
# Nothing of this is for this machine itself: no service is started on it, now
# or at the next boot. The kernel is for guests, but the boot menu shows it.
policy=/usr/sbin/policy-rc.d
if [ ! -e $policy ]; then
	printf '#!/bin/sh\nexit 101\n' | $sudo tee $policy > /dev/null
	$sudo chmod 755 $policy
	trap '$sudo rm -f $policy' EXIT
fi
log=$(mktemp)
apt() {
	$sudo env DEBIAN_FRONTEND=noninteractive apt-get -q -y "$@" \
		< /dev/null >> "$log" 2>&1
}
if ! { apt update && apt install --no-install-recommends "${missing[@]}"; }; then
	tail -n 20 "$log" >&2
	echo "error: the packages could not be installed, see $log" >&2
	echo "(apt has to know the suites" $("$kernels" get lab suites)": the first" \
		"of them has linux-image-$package)" >&2
	exit 1
fi
rm -f "$log"
if command -v systemctl > /dev/null; then
	dpkg -L "${missing[@]}" |
		sed -n 's|.*/systemd/system/\([^/@]*\.\(service\|socket\|target\)\)$|\1|p' |
		sort -u | xargs -r $sudo systemctl disable --quiet 2> /dev/null || true
fi
