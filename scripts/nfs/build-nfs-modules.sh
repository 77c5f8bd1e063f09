#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Builds the NFS client modules of one kernel with the mount option rdmaver=
# added, from the kernel's own source, and puts them into a directory.
#
# The modules share private structures, so all of them are built and belong
# together. What other modules see must not change: the checksum of every
# exported symbol has to be the one the kernel was built with.
#
# usage: scripts/nfs/build-nfs-modules.sh [OPTION...] --out DIR
#
# --out DIR      where nfs.ko and the other modules of fs/nfs go, without debug
#                information; scripts/nfs/install-nfs-modules.sh installs them
# --kernel KVER  the kernel to build for (that of --kdir, else the running one)
# --kdir DIR     its headers (/lib/modules/KVER/build)
# --source PATH  its source, an archive or an unpacked tree
#                (/usr/src/linux-source-X.Y.tar.xz)
#
# Builds are kept in ~/.cache/rpcrdma2 (RPCRDMA2_CACHE), so the second call is instant.
set -euo pipefail

. "$(dirname "${BASH_SOURCE[0]}")/../common.sh"
CACHE=${RPCRDMA2_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/rpcrdma2}
# One for each form that the sources have had; the first that applies and
# compiles is it.
PATCHES=("$TOP"/patches/nfs-rdmaver-*.patch)

# make_version DIR: X.Y.Z from the Makefile of a kernel tree.
make_version() {
	awk -F ' *= *' '$1 == "VERSION" { v = $2 } $1 == "PATCHLEVEL" { p = $2 }
		$1 == "SUBLEVEL" { print v "." p "." $2; exit }' "$1/Makefile"
}

# The same of the kernel to build for, whose name may have another Z.
kernel_version() { make -s -C "$kdir" kernelversion < /dev/null 2> /dev/null; }

# Debian's package version of the kernel that $kdir belongs to, if it is one.
kernel_package() {
	sed -n 's/.*Debian \([^ "]*\).*/\1/; T; p; q' \
		"$kdir"/include/generated/{package,utsversion,compile}.h \
		2>/dev/null || true
}

# Debian's package version of the archive $source, if a package owns it.
source_package() {
	local pkg

	pkg=$(dpkg-query -S "$source" 2>/dev/null) || return 0
	dpkg-query -W -f '${Version}' "${pkg%%:*}" 2>/dev/null || true
}

# Names of the source files in $source, relative to it, NUL-terminated.
source_files() {
	(cd "$source" && find Makefile fs/nfs -type f ! -name '*.mod.c' \
		\( -name '*.[ch]' -o -name Makefile -o -name Kconfig \) -print0 |
		LC_ALL=C sort -z)
}

# What tells this source from another one with the same X.Y.Z.
source_id() {
	local pkg

	pkg=$(source_package)
	if [ -n "$pkg" ]; then
		printf '%s\n' "$pkg"
	elif [ -d "$source" ]; then
		(cd "$source" && source_files | xargs -0 cat) | sha256sum
	else
		sha256sum < "$source"
	fi | cut -c1-32
}

# Puts Makefile and fs/nfs of the kernel source below DIR.
fetch_source() {
	local dir=$1 top

	mkdir -p "$dir"
	if [ -d "$source" ]; then
		[ -d "$source/fs/nfs" ] || die "$source is not a kernel source tree"
		# Sources only: somebody may have built in that tree.
		source_files | tar -C "$source" -c --null -T - |
			tar -C "$dir" -x
		return
	fi
	say "unpacking fs/nfs from $source (about 20 seconds)"
	top=$(basename "${source%%.tar*}")
	tar -C "$dir" --strip-components=1 -xf "$source" \
		"$top/Makefile" "$top/fs/nfs" ||
		die "$source does not contain $top/fs/nfs"
}

# The source must be the one the kernel was built from.
check_version() {
	local dir=$1 want have kpkg spkg

	want=$(kernel_version)
	have=$(make_version "$dir")
	[ "$have" = "$want" ] ||
		die "kernel $kver needs the source of $want, $source is $have"
	kpkg=$(kernel_package)
	spkg=$(source_package)
	[ -z "$kpkg" ] || [ -z "$spkg" ] || [ "$kpkg" = "$spkg" ] ||
		die "kernel $kver was built from $kpkg, $source is $spkg"
}

# apply_patch DIR PATCH: fails, with DIR as it was, if that is not the one.
apply_patch() {
	local dir=$1 patch=$2

	# The tree may have it already.
	patch -d "$dir" -p1 -R -s -f --dry-run < "$patch" > /dev/null 2>&1 ||
		{ patch -d "$dir" -p1 -s -f --dry-run < "$patch" &&
			patch -d "$dir" -p1 -s -f < "$patch"; } \
			> "$dir/patch.log" 2>&1
}

# list_symbols FILE: "checksum name" of what fs/nfs exports.
list_symbols() {
	awk -F '\t' -v all="$2" '(all || $3 ~ "^fs/nfs/") { print $1, $2 }' "$1" |
		LC_ALL=C sort
}

check_symbols() {
	local dir=$1

	list_symbols "$kdir/Module.symvers" '' > "$dir/symbols.kernel"
	list_symbols "$dir/fs/nfs/Module.symvers" y > "$dir/symbols.built"
	[ -s "$dir/symbols.kernel" ] ||
		die "kernel $kver has no NFS modules: is NFS built in?"
	if ! cmp -s "$dir/symbols.kernel" "$dir/symbols.built"; then
		LC_ALL=C comm -3 "$dir/symbols.kernel" "$dir/symbols.built" |
			sed -n '1,20p' >&2
		die "the symbols above differ from those of kernel $kver"
	fi
	say "$(wc -l < "$dir/symbols.built") exported symbols, all checksums equal to the kernel's"
}

# Neither more nor fewer modules than the kernel itself brings.
check_modules() {
	local dir=$1 stock=/lib/modules/$kver/kernel/fs/nfs

	[ -d "$stock" ] || return 0
	find "$stock" -name '*.ko*' -printf '%f\n' | sed 's/\.ko.*//' | sort \
		> "$dir/modules.kernel"
	find "$dir/ko" -name '*.ko' -printf '%f\n' | sed 's/\.ko$//' | sort \
		> "$dir/modules.built"
	diff "$dir/modules.kernel" "$dir/modules.built" >&2 ||
		die "kernel $kver has other NFS modules than those built"
}

compile() {
	local dir=$1

	say "building the NFS client modules for $kver (1 to 2 minutes on 2 CPUs)"
	nice make -C "$kdir" M="$dir/fs/nfs" -j"$JOBS" modules \
		> "$dir/build.log" 2>&1 < /dev/null || {
		tail -n 30 "$dir/build.log" >&2
		return 1
	}
}

collect() {
	local dir=$1

	check_symbols "$dir"
	mkdir "$dir/ko"
	find "$dir/fs/nfs" -name '*.ko' -exec cp {} "$dir/ko/" \;
	"${STRIP:-strip}" --strip-debug "$dir"/ko/*.ko
	check_modules "$dir"
	rm -rf "$dir/fs"
	touch "$dir/complete"
}

# Builds with the first patch that applies and compiles; "work" is where.
build() {
	local fetched=$CACHE/nfs-$kver-source p

	rm -rf "$fetched"
	fetch_source "$fetched"
	check_version "$fetched"
	for p in "${PATCHES[@]}"; do
		work=$(work_dir "$p")
		rm -rf "$work"
		cp -r "$fetched" "$work"
		if apply_patch "$work" "$p" && compile "$work"; then
			rm -rf "$fetched"
			collect "$work"
			return
		fi
		rm -rf "$work"
	done
	rm -rf "$fetched"
	die "no patch in $TOP/patches applies to $source and compiles"
}

usage() { sed -n '/^# usage/,/^set/s/^# \?//p' "$0" >&2; exit 2; }

# Flags of a make that may have called this script are not for kbuild.
unset MAKEFLAGS MFLAGS MAKELEVEL

kernel='' kdir='' source='' out=''
PATH=$PATH:/usr/sbin:/sbin

while [ $# -gt 0 ]; do
	case $1 in
	--out | --kernel | --kdir | --source)
		[ $# -ge 2 ] || die "$1 needs a value"
		declare "${1#--}=$2"
		;;
	*) usage ;;
	esac
	shift 2
done
[ -n "$out" ] || usage

kver=$kernel
kdir=${kdir:-/lib/modules/${kver:=$(uname -r)}/build}
[ -f "$kdir/Module.symvers" ] || {
	[ -n "$kver" ] || die "$kdir is not a kernel build directory"
	no_headers "$kver"
}
kdir=$(readlink -f "$kdir")
release=$("$TOP/scripts/kernels" release "$kdir")
[ "${kver:=$release}" = "$release" ] ||
	die "$kdir has the headers of kernel $release, not of $kver"
if [ -z "$source" ]; then
	base=$(printf '%s\n' "$kver" | grep -oE '^[0-9]+\.[0-9]+') ||
		die "cannot tell the source of kernel $kver, use --source"
	source=/usr/src/linux-source-$base.tar.xz
fi
[ -e "$source" ] || die "no kernel source $source: install linux-source-${base:-X.Y}"
source=$(readlink -f "$source")

# What a build depends on, besides its patch
basis="$(sha256sum < "$kdir/Module.symvers") $(kernel_package) $(source_id)"

work_dir() { # PATCH
	printf '%s\n' "$CACHE/nfs-$kver-$(echo "$basis" | cat - "$1" | sha256sum | cut -c1-12)"
}

# Sets "work" to the directory that has the modules, if one has.
find_built() {
	local p

	for p in "${PATCHES[@]}"; do
		work=$(work_dir "$p")
		[ ! -e "$work/complete" ] || return 0
	done
	return 1
}

mkdir -p "$CACHE/locks" "$out"
exec 9> "$CACHE/locks/nfs-$kver"
flock -n 9 || { say "waiting for another build of the NFS modules"; flock 9; }
if ! find_built; then
	build
fi
cp "$work"/ko/*.ko "$out/"
say "$(find "$work/ko" -name '*.ko' | wc -l) NFS client modules for $kver are in $out"
