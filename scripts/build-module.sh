#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Builds the modules of this checkout for one kernel, outside of the checkout:
# DIR/src is filled with links to the sources, and that is where objects and
# modules go. Several kernels can be built for at the same time.
#
# usage: scripts/build-module.sh KDIR DIR [MAKE-ARGUMENT...]
set -euo pipefail
. "$(dirname "$0")/lab/common.sh"

kdir=$1
dir=$2
shift 2

link_sources() {
	local d

	mkdir -p "$dir/src"
	for d in Kbuild net include tests; do
		[ ! -e "$TOP/$d" ] || cp -rsf "$TOP/$d" "$dir/src/"
	done
	# What was deleted or renamed in the checkout.
	find "$dir/src" -xtype l -delete
}

# The probes depend on their script, the kernel and the RDMA drivers only.
probe() {
	local key

	key="$kdir $(hash_files "$TOP/scripts/probe-compat.sh" \
		"$kdir/include/generated/autoconf.h" \
		"$kdir/include/generated/utsrelease.h" "$symbols") $*"
	[ ! -f "$dir/src/probes/compat_probes.h" ] ||
		[ "$(cat "$dir/probes.stamp" 2>/dev/null)" != "$key" ] || return 0
	"$TOP/scripts/probe-compat.sh" "$kdir" \
		"$dir/src/probes/compat_probes.h" "$@"
	printf '%s\n' "$key" > "$dir/probes.stamp"
}

"$TOP/scripts/kernels" refuse "$kdir"
ofed=$("$TOP/scripts/ofed" "$("$TOP/scripts/kernels" release "$kdir")")
symbols=
if [ -n "$ofed" ]; then
	mapfile -t ofed <<< "$ofed"
	set -- "$@" "${ofed[@]}"
	symbols=${ofed[1]#*=}
	say "The RDMA drivers are a vendor's: building with ${symbols%/*}"
fi
mkdir -p "$dir"
link_sources
probe "$@"
exec nice make -s -C "$kdir" M="$dir/src" -j"$JOBS" "$@" modules < /dev/null
