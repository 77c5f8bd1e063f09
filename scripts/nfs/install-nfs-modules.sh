#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Installs the NFS client modules with the mount option rdmaver= for one
# kernel, beside the kernel's own, or removes them again. modprobe prefers
# what is in updates/; no file of the kernel package is touched.
#
# usage: scripts/nfs/install-nfs-modules.sh [--kernel KVER] [--from DIR] [--sign KEY CERT]
#        scripts/nfs/install-nfs-modules.sh --uninstall [--kernel KVER]
#
# --kernel KVER    the kernel (KVER of the environment, else the running one, and all of
#                  them to uninstall)
# --from DIR       modules that build-nfs-modules.sh has built; without this option
#                  they are built now, with KDIR and SOURCE of the environment
# --sign KEY CERT  sign the modules, for Secure Boot
#
# INSTALL_MOD_PATH or DESTDIR in the environment is where lib/modules is, instead of /.
set -euo pipefail

. "$(dirname "${BASH_SOURCE[0]}")/../common.sh"

# modprobe takes the new files from now on; what runs already stays.
advise() {
	if [ "$root" = / ] && [ "$kver" = "$(uname -r)" ] &&
	   [ -d /sys/module/nfs ]; then
		say "The old nfs module is still loaded. Unmount all NFS file systems"
		say "and run 'modprobe -r nfs_layout_flexfiles nfs_layout_nfsv41_files"
		say "blocklayoutdriver nfsv4 nfsv3 nfs' (the next mount loads the new"
		say "one), or reboot."
	fi
	say "If NFS is in the initramfs (root on NFS): update-initramfs -u -k $kver"
}

index() { # KVER
	local dir=${root%/}/lib/modules/$1

	# What is going to be packed has nothing else of that kernel.
	[ ! -f "$dir/modules.order" ] || depmod -b "$root" "$1"
}

remove() {
	local dir found=

	for dir in "${root%/}/lib/modules"/${kver:-*}/updates/nfs-rdmaver; do
		[ -d "$dir" ] || continue
		found=y
		rm -rf "$dir"
		dir=${dir%/updates/nfs-rdmaver}
		rmdir --ignore-fail-on-non-empty "$dir/updates"
		index "${dir##*/}"
		say "removed the NFS client modules for ${dir##*/}"
		kver=${dir##*/} advise
	done
	[ -n "$found" ] ||
		say "nothing is installed in ${root%/}/lib/modules${kver:+/$kver}"
}

install_modules() {
	local base dest ko tmp signer

	[ -n "$kver" ] || [ -z "$kdir" ] ||
		kver=$("$TOP/scripts/kernels" release "$kdir")
	kver=${kver:-$(uname -r)}
	signer=/lib/modules/$kver/build/scripts/sign-file
	base=${root%/}/lib/modules/$kver
	dest=$base/updates/nfs-rdmaver
	[ "$root" = / ] || mkdir -p "$base"
	[ -d "$base" ] ||
		die "there is no kernel $kver in ${base%/*}; select one with KVER="
	[ -w "$base" ] || die "$base is not writable: run this as root"
	[ -z "$key" ] || [ -x "$signer" ] ||
		die "there is no $signer: install the headers of $kver"
	# What lies below /lib/modules is taken by the next depmod, so nothing
	# that is not complete must ever be there.
	tmp=$(mktemp -d)
	# shellcheck disable=SC2064 # these, whatever becomes of the variables
	trap "rm -rf '$tmp' '$dest.new'" EXIT
	if [ -z "$from" ]; then
		from=$tmp/built
		"$TOP/scripts/nfs/build-nfs-modules.sh" --kernel "$kver" --out "$from" \
			${kdir:+--kdir "$kdir"} ${source:+--source "$source"}
	fi
	[ -f "$from/nfs.ko" ] || die "$from has no NFS modules"
	for ko in "$from"/*.ko; do
		[ "$(modinfo -F vermagic "$ko" | cut -d' ' -f1)" = "$kver" ] ||
			die "${ko##*/} was built for another kernel than $kver"
	done
	mkdir "$tmp/ready"
	install -m 644 "$from"/*.ko "$tmp/ready/"
	if [ -n "$key" ]; then
		for ko in "$tmp/ready"/*.ko; do
			"$signer" sha256 "$key" "$cert" "$ko"
		done
	fi
	# All or nothing: modules of two builds must never be mixed.
	rm -rf "$dest.new"
	mkdir -p "${dest%/*}"
	cp -r "$tmp/ready" "$dest.new"
	chmod 755 "$dest.new"
	rm -rf "$dest"
	mv "$dest.new" "$dest"
	index "$kver"
	say "installed $(find "$dest" -name '*.ko' | wc -l) NFS client modules in $dest"
	advise
}

kver=${KVER-} kdir=${KDIR-} source=${SOURCE-} from='' key='' cert=''
root=${INSTALL_MOD_PATH:-${DESTDIR:-/}}
action=install_modules
PATH=$PATH:/usr/sbin:/sbin

while [ $# -gt 0 ]; do
	case $1,$# in
	--uninstall,*) action=remove ;;
	--sign,[3-9]) key=$2 cert=$3; shift 2 ;;
	--kernel,[2-9]) kver=$2; shift ;;
	--from,[2-9]) from=$2; shift ;;
	*) sed -n '/^# usage/,/^set/s/^# \?//p' "$0" >&2; exit 2 ;;
	esac
	shift
done

$action
