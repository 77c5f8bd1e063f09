# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Sourced by all scripts: where the sources are, messages. Writes nothing, so that
# it serves in packages, too.

TOP=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
JOBS=${JOBS:-$(nproc)}

say()  { printf '%s\n' "$*" >&2; }
die()  { printf 'error: %s\n' "$*" >&2; exit 1; }
step() { printf '==> %s\n' "$*" >&2; }

# logged LOG WHY CMD...: runs CMD with its output in LOG. If CMD fails, prints the end of LOG
# and ends the script with WHY.
logged() {
	local log=$1 why=$2

	shift 2
	"$@" > "$log" 2>&1 < /dev/null || {
		tail -n 30 "$log" >&2
		die "$why, see $log"
	}
}

# Hash of the content of the named files (missing ones count as empty).
hash_files() {
	local f

	for f in "$@"; do
		printf '%s\n' "${f##*/}"
		[ ! -f "$f" ] || cat "$f"
	done | sha256sum | cut -c1-16
}

# with_headers: the kernels on this machine that modules can be built for.
with_headers() {
	find "${MODULES_ROOT-}/lib/modules" -mindepth 2 -maxdepth 2 -name build \
		-exec test -f '{}/Makefile' \; -printf '%h\n' 2> /dev/null |
		sed 's|.*/||' | sort -V
}

# no_headers KVER: fails with what can be done about it.
no_headers() {
	local kver=$1 others

	if apt-cache show "linux-headers-$kver" > /dev/null 2>&1; then
		die "there are no headers of kernel $kver:" \
		    "apt install linux-headers-$kver"
	fi
	others=$(with_headers | paste -sd' ')
	die "there are no headers of kernel $kver, and apt knows no package" \
	    "linux-headers-$kver; KDIR= says where headers are," \
	    "KVER= chooses another kernel (with headers here: ${others:-none})"
}
