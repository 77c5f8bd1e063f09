#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Installs the Debian packages that demo, check, bench and lint need and that
# are missing. Says nothing when there is nothing to do.
#
# usage: scripts/setup-packages.sh [--arm64] [--series] [--kselftest]
#                                  [--secure-boot] [--coverage] [--list]
#        scripts/setup-packages.sh --deb | --prove | --models
#
# --arm64: also what guests of that architecture need
# --series: also what make series and check-series need
# --kselftest: also what make kselftest needs
# --secure-boot: also what check-secure-boot needs
# --coverage: also what make coverage needs
# --deb: only what make deb and make rpm need
# --prove: only what make prove needs
# --models: only what make models needs
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

# to prove
PROVE_PACKAGES=(frama-c-base gcc libc6-dev python3 why3 z3)

# to check models
MODELS_PACKAGES=(gcc libc6-dev spin)

if [ "${1-}" = --arm64 ]; then
	PACKAGES+=(gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-system-arm)
	shift
fi
if [ "${1-}" = --series ]; then
	PACKAGES+=(pandoc python3-sphinx rsync unifdef)
	shift
fi
if [ "${1-}" = --kselftest ]; then
	PACKAGES+=(rsync)
	shift
fi
if [ "${1-}" = --secure-boot ]; then
	PACKAGES+=(openssl ovmf sbsigntool)
	shift
fi
if [ "${1-}" = --coverage ]; then
	PACKAGES+=(lcov)
	shift
fi
case ${1-} in
--deb)
	PACKAGES=("${DEB_PACKAGES[@]}")
	shift
	;;
--prove)
	PACKAGES=("${PROVE_PACKAGES[@]}")
	shift
	;;
--models)
	PACKAGES=("${MODELS_PACKAGES[@]}")
	shift
	;;
*) PACKAGES+=("${DEB_PACKAGES[@]}") ;;
esac
if [ "${1-}" = --list ]; then
	printf '%s\n' "${PACKAGES[@]}"
	exit 0
fi

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
