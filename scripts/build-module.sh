#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Builds the modules of this checkout for one kernel, outside of the checkout:
# DIR/src is filled with links to the sources, and that is where objects and
# modules go. Several kernels can be built for at the same time.
#
# usage: scripts/build-module.sh [--progress] KDIR DIR [MAKE-ARGUMENT...]
set -euo pipefail
. "$(dirname "$0")/common.sh"

silent=-s
if [ "${1-}" = --progress ]; then
	silent=
	shift
fi
kdir=$1
dir=$(realpath -m "$2")
shift 2

link_sources() {
	local d

	mkdir -p "$dir/src"
	for d in Kbuild net include tests; do
		[ ! -e "$TOP/$d" ] || cp -rsf "$TOP/$d" "$dir/src/"
	done
	# What was deleted or renamed in the checkout, and modules of directories that went
	find "$dir/src" -xtype l -delete
	find "$dir/src" -name '*.ko' -execdir test ! -e Kbuild \; -delete
}

# The probes depend on their script, the kernel and the RDMA drivers only.
probe() {
	local key

	key="$kdir $(hash_files "$TOP/scripts/probe-compat.sh" \
		"$kdir/include/generated/autoconf.h" \
		"$kdir/include/generated/utsrelease.h" "$symbols") $*"
	[ ! -f "$dir/src/probes/compat_probes.h" ] ||
		[ "$(cat "$dir/probes.stamp" 2>/dev/null)" != "$key" ] || return 0
	[ -n "$silent" ] ||
		step "asking the kernel what it is like (half a minute)"
	"$TOP/scripts/probe-compat.sh" "$kdir" \
		"$dir/src/probes/compat_probes.h" "$@"
	printf '%s\n' "$key" > "$dir/probes.stamp"
}

# Written only when it changed, so that nothing is rebuilt in vain.
write_version() {
	local header=$dir/src/probes/rpcrdma2_build.h new

	new=$("$TOP/scripts/version" --header)
	[ "$(cat "$header" 2> /dev/null)" = "$new" ] ||
		printf '%s\n' "$new" > "$header"
}

"$TOP/scripts/kernels" refuse "$kdir"
release=$("$TOP/scripts/kernels" release "$kdir")
ofed=$("$TOP/scripts/ofed" "$release")
symbols=
if [ -n "$ofed" ]; then
	mapfile -t ofed <<< "$ofed"
	set -- "$@" "${ofed[@]}"
	symbols=${ofed[1]#*=}
	say "The RDMA drivers are from a vendor: building with ${symbols%/*}"
fi
mkdir -p "$dir"
link_sources
probe "$@"
write_version
[ -n "$silent" ] || step "building rpcrdma2.ko for $release (a minute or two)"
exec nice make $silent -C "$kdir" M="$dir/src" -j"$JOBS" "$@" modules < /dev/null
