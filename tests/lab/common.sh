# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Sourced by every script of the lab: where things are, locks.
#
# The cache (never inside the checkout) holds
#   linux-VERSION/            kernel source, with the fs/nfs patch applied
#   FLAVOUR-VERSION/          built guest kernels, with a .stamp
#   image-KEY/                the guests' root directory and its cpio archive
#   build/CHECKOUT/FLAVOUR/   the modules, built from links to the checkout
#   runs/                     one directory per run: console, dmesg, KTAP

. "$(dirname "${BASH_SOURCE[0]}")/../../scripts/common.sh"
LAB=$TOP/tests/lab
CACHE=${RPCRDMA2_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/rpcrdma2}
mkdir -p "$CACHE"

# Several checkouts may share a cache; each has its own module builds.
CHECKOUT=$(printf '%s' "$TOP" | sha256sum | cut -c1-12)
BUILD=$CACHE/build/$CHECKOUT

# with_lock NAME CMD...: runs CMD, one at a time per NAME in this cache.
with_lock() {
	local name=$1

	shift
	mkdir -p "$CACHE/locks"
	(
		if ! flock -n 9; then
			say "waiting for another run that holds the lock '$name'"
			flock 9
		fi
		"$@"
	) 9> "$CACHE/locks/$name"
}

# The processors that we may use, one a line.
processors() {
	local range

	for range in $(sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' \
			/proc/self/status | tr , ' '); do
		seq "${range%-*}" "${range#*-}"
	done
}

# The series of the kernels that guests have unless they are told another.
lab_series() { "$TOP/scripts/kernels" get lab series; }

# The version of Debian's source package of that series.
source_version() {
	local name

	name=linux-source-$(lab_series)
	dpkg-query -W -f '${Version}' "$name" 2>/dev/null ||
		die "$name is not installed: run scripts/setup-packages.sh"
}

# What uname -r says in Debian's newest kernel of that series that is installed.
stock_release() {
	local series k

	series=$(lab_series)
	k=$(find /boot -maxdepth 1 -name "vmlinuz-${series}[.+-]*-amd64" \
		! -name '*cloud*' ! -name '*-rt-*' -printf '%f\n' 2>/dev/null |
		sort -V | tail -n 1)
	[ -n "$k" ] ||
		die "no Debian $series kernel in /boot: run scripts/setup-packages.sh"
	printf '%s\n' "${k#vmlinuz-}"
}
