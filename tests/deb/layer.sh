# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Sourced by checks that install packages in a Debian (lab/debian-root), after
# lab/common.sh and checks.sh: a layer above that directory, which is gone with the
# check, commands in it, a guest that has it as its root. They set
#   base	that Debian
#   tmp	a directory of their own, below BUILD
#   root	where the layer is mounted

HEADERS=linux-headers-$("$TOP/scripts/kernels" get lab package)

# in_layers SCRIPT ARGUMENT...: goes on in a mount namespace, what is mounted goes
# with us; the first argument is then --inside. Some containers let nobody mount.
in_layers() {
	[ "$(id -u)" = 0 ] || skip_all "installing packages in a chroot takes root"
	[ "${2-}" != --inside ] || return 0
	mkdir -p "$BUILD"
	# shellcheck disable=SC2016 # for the inner shell
	unshare --mount --propagation private bash -c '
		d=$(mktemp -d "$1/probe.XXXXXX") && cd "$d" &&
		mkdir l u w m &&
		mount -t overlay probe m -o lowerdir=l,upperdir=u,workdir=w
		rc=$?
		umount m 2> /dev/null
		cd / && rm -rf "${d:?}"
		exit $rc' -- "$BUILD" 2> /dev/null ||
		skip_all "nothing can be mounted here, or no overlay"
	exec unshare --mount --propagation private "$1" --inside "${@:2}"
}

# new_root [LAYER]: a new root, the cached one, of which nothing changes.
new_root() {
	local dir

	umount "$root" 2> /dev/null || true
	dir=$(mktemp -d "$tmp/layer.XXXX")
	mkdir -p "$root" "$dir/up" "$dir/work"
	mount -t overlay layer "$root" \
		-o "lowerdir=${1:+$1:}$base,upperdir=$dir/up,workdir=$dir/work"
	layer=$dir/up
}

# cached_root NAME CMD...: what CMD has made of a new root is kept for the next time.
cached_root() {
	local kept=$base-$1

	shift
	if [ ! -d "$kept" ]; then
		new_root
		"$@" > "$kept.log" 2>&1 || { tail "$kept.log" >&2; die "$*"; }
		umount "$root"
		# Another checkout may have been faster
		mv -T "$layer" "$kept" 2> /dev/null || [ -d "$kept" ]
	fi
	new_root "$kept"
}

# kernel_root: a new root with a supported kernel and its headers
kernel_root() { cached_root headers apt install "$HEADERS"; }

in_root() {
	# shellcheck disable=SC2016 # for the inner shell
	unshare --mount --net --propagation private bash -c '
		root=$1
		shift
		mount --rbind /dev "$root/dev"
		mount --bind /proc "$root/proc"
		exec chroot "$root" /usr/bin/env -i HOME=/root LC_ALL=C \
			PATH=/usr/sbin:/usr/bin DEBIAN_FRONTEND=noninteractive \
			"$@"' -- "$root" "$@" < /dev/null
}

# nothing_named PATTERN: no file is left but ours and logs.
nothing_named() {
	[ -z "$(in_root find / -xdev -name "$1" ! -path '/root/*' ! -path '/var/log/*')" ]
}

apt() { in_root apt-get -y -q --no-install-recommends "$@"; }

# An initrd that finds that root.
make_initrd() { # RELEASE
	local dir=$tmp/initrd file

	rm -rf "$dir"
	mkdir -p "$dir"/{bin,dev,modules,proc,root}
	cp "$(type -P busybox)" "$dir/bin/busybox"
	for file in virtio_pci 9pnet_virtio 9p; do
		modprobe -d "$root" -S "$1" --show-depends $file
	done | awk '$1 == "insmod" && !seen[$2]++ { print $2 }' > "$dir/list"
	while read -r file; do
		cp "$file" "$dir/modules/"
	done < "$dir/list"
	find "$dir/modules" -name '*.xz' -exec unxz {} +
	sed -i 's|.*/|/modules/|; s|\.xz$||' "$dir/list"
	cat > "$dir/init" <<-'END'
	#!/bin/busybox sh
	/bin/busybox mount -t devtmpfs dev /dev
	for file in $(/bin/busybox cat /list); do
		/bin/busybox insmod $file
	done
	/bin/busybox mount -t 9p root /root \
		-o trans=virtio,version=9p2000.L,cache=loose,msize=262144
	exec /bin/busybox switch_root /root /sbin/init
	END
	chmod +x "$dir/init"
	(cd "$dir" && find . | cpio -o -H newc --quiet) > "$tmp/initrd.cpio"
}

# boot_root RELEASE CONSOLE WORD...: a guest with that kernel; its console goes to a
# file, words to the kernel's command line.
boot_root() {
	make_initrd "$1"
	timeout 3000 qemu-system-x86_64 -nodefaults -display none -no-reboot \
		-m 1536 -smp 2 -cpu max -accel tcg,thread=multi \
		-device virtio-rng-pci -serial "file:$2" \
		-kernel "$root/boot/vmlinuz-$1" -initrd "$tmp/initrd.cpio" \
		-virtfs "local,path=$root,mount_tag=root,security_model=passthrough,multidevs=remap" \
		-append "console=ttyS0 loglevel=5 panic=-1 tsc=unstable norandmaps \
			systemd.show_status=yes ${*:3}" < /dev/null
}

# boot_root_uml CONSOLE: the same on User-Mode Linux, whose modules are there
boot_root_uml() {
	local kernel

	kernel=$("$LAB/kernel" uml)
	timeout 600 "$kernel/linux" mem=1200M root=/dev/root rootfstype=hostfs \
		rootflags="$root" rw init=/sbin/init loglevel=5 panic=-1 \
		con=null ssl=null con0=null,fd:1 > "$1" 2>&1 < /dev/null
}

# debs VERSION NAME...: packages that are in the root's /root
debs() {
	local v=$1 name

	shift
	for name; do
		(cd "$root/root" && printf '/root/%s\n' "${name}_${v}"_*.deb)
	done
}

# release_of SERIES: what uname -r says in the kernel of that series
release_of() {
	find "$root/lib/modules" -mindepth 1 -maxdepth 1 -name "$1.*" -printf '%f\n'
}
