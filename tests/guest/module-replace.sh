#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# replace=1: the module in the place of the stock one. Mounts name neither
# version nor port, and the listener is what rpc.nfsd --rdma makes. On the
# stock kernel the NFS client modules are the kernel package's own, which know
# no rdmaver=.
#
# What loads and unloads modules again and again is left out under KASAN on
# User-Mode Linux, see module-unload.sh.
#
# timeout: 90
# flavours: uml-debug qemu
# covers: VER-24,V1-15,V1-16
. /lab/lib/lab.sh

SIZES="0 1 4097 16384 1048577"

# shellcheck disable=SC2317 # fs.sh calls it
nfs() { # DEV VERS [OPTS [DIR]]
	local addr o=proto=rdma path=/ dir=${4:-/mnt}

	addr=$(lab_addr "$1")
	case $addr in
	*:*) o+=6 addr="[$addr]" ;;
	esac
	[ "$2" != 3 ] || path=/export
	mkdir -p "$dir"
	mount -t nfs -o "vers=$2,$o${3:+,$3}" "$addr:$path" "$dir"
}

# What nfs-server.service does with rdma=y in nfs.conf; there is no
# /etc/services to look up nfsrdma.
start_server() {
	rpc.nfsd --rdma=20049 8
	grep "^rdma 20049" $NFSD/portlist
	lab_end_grace
}

classes() { awk '/^rdma/ { print $1 }' /proc/sys/sunrpc/transports | sort | xargs; }
stock_loaded() { [ -e /sys/module/rpcrdma ]; }

umount_all() {
	umount_nfs
	lab_wait 20 no_connection
}

# settled VERSION REASON: the only connection, as either end tells.
settled() {
	look
	[ "$(connections client) $(connections server)" = "1 1" ]
	[ "${NOW[client.version]} ${NOW[server.version]}" = "$1 $1" ]
	[ "${NOW[client.version_reason]}" = "$2" ]
}

# shellcheck disable=SC2086 # a list
put() { iocheck put "$1" $SIZES; }
# shellcheck disable=SC2086 # a list
get() { iocheck get "$1" $SIZES; }

# ---- the NFS client of the kernel package ----

NFS_MODULES=(nfs_layout_flexfiles nfs_layout_nfsv41_files nfsv4 nfsv3 nfsv2 nfs)

unload_nfs() {
	local m

	for m in "${NFS_MODULES[@]}"; do
		[ ! -e "/sys/module/$m/initstate" ] || lab_wait 20 rmmod "$m"
	done
}

stock_nfs() {
	local file

	unload_nfs
	modprobe --show-depends nfsv3 > "$LAB_TMP/modules"
	modprobe --show-depends nfsv4 >> "$LAB_TMP/modules"
	while read -r _ file _; do
		case $file in
		*/updates/*)
			file=$(find "/lib/modules/$(uname -r)/kernel" \
				-name "${file##*/}")
			;;
		esac
		insmod "$file" || [ -e "/sys/module/$(basename "$file" .ko)" ]
	done < "$LAB_TMP/modules"
	[ -e /sys/module/nfsv3 ]
	[ -e /sys/module/nfsv4 ]
	# It is the stock one, indeed.
	mark_log
	if nfs rxe 4.2 rdmaver=1; then return 1; fi
	logged "Unknown parameter 'rdmaver'"
}

# ---- loading ----

# Nothing of ours is left, and the stock transport works as before.
refused() { # DEV
	modprobe rpcrdma
	start_server
	enter refused "$1" 4.2
	mark_log
	if modprobe rpcrdma2 replace=1; then return 1; fi
	logged "rpcrdma2: replace=1 .* stock transport is loaded"
	[ ! -e /sys/module/rpcrdma2 ]
	no_family
	[ "$(classes)" = rdma ]
	put "$D"
	again "$1" 4.2
	get "$D"
	umount_nfs
	stop_server
	# With nobody using it, either: only unloading helps.
	if modprobe rpcrdma2 replace=1; then return 1; fi
	[ ! -e /sys/module/rpcrdma2 ]
	lab_wait 20 rmmod rpcrdma
	[ -z "$(classes)" ]
}

# The parameter is for loading only, and without it the two are side by side.
not_asked() {
	modprobe rpcrdma2
	[ "$(< $PARAMETERS/replace)" = N ]
	modprobe rpcrdma2 replace=1
	[ "$(< $PARAMETERS/replace)" = N ]
	if echo Y > $PARAMETERS/replace; then return 1; fi
	modprobe rpcrdma
	[ "$(classes)" = "rdma rdma2" ]
	rmmod rpcrdma
	rmmod rpcrdma2
	[ -z "$(classes)" ]
}

# The stock module cannot come back behind our back.
stock_refused() {
	local file

	file=$(modinfo -n rpcrdma)
	if insmod "$file"; then return 1; fi
	not stock_loaded
	[ "$(classes)" = "rdma rdma2" ]
}

# What Documentation/administration.md has for /etc/modprobe.d: whoever asks
# for the stock module gets ours, server and client alike.
on_demand() {
	local d=/run/modprobe.d

	mkdir -p $d
	cat > $d/rpcrdma2.conf <<-'END'
	options rpcrdma2 replace=1
	install rpcrdma /sbin/modprobe rpcrdma2 $CMDLINE_OPTS || /sbin/modprobe --ignore-install rpcrdma $CMDLINE_OPTS
	END
	echo "rdma 20049" > $NFSD/portlist
	not stock_loaded
	[ "$(< $PARAMETERS/replace)" = Y ]
	stop_server
	unload_rpcrdma2
	# Nobody listens: what counts is that the mount has loaded it.
	if nfs rxe 4.2 retry=0; then return 1; fi
	not stock_loaded
	[ "$(< $PARAMETERS/replace)" = Y ]
	unload_rpcrdma2
	# A kernel that has no rpcrdma2.ko gets the stock module.
	echo "install rpcrdma2 /bin/false" >> $d/rpcrdma2.conf
	modprobe rpcrdma
	stock_loaded
	[ ! -e /sys/module/rpcrdma2 ]
	rmmod rpcrdma
	rm -r $d
}

# ---- using it ----

use() { # DEV VERS
	enter use "$1" "$2"
	grep " /mnt nfs.*proto=rdma," /proc/mounts
	if grep rdmaver /proc/mounts; then return 1; fi
	may_stall "$1" || settled 2 1
	[[ $(xprt_lines) =~ ^[[:space:]]xprt:[[:space:]]rdma\ [^$'\n']*$ ]]
	put "$D"
	again "$1" "$2"
	get "$D"
	get "$E"
	[ "$(operations READ)" -gt 0 ]
	[ "$(operations READ_PLUS)" -eq 0 ]
	# nfsd derives the callback's transport from the listener's class.
	case $2 in
	4.*) delegation_returns ;;&
	4.[12])
		look
		[ "${NOW[server.tx_call_msg]}" -gt 0 ]
		;;
	esac
	umount_all
}

more() { # DEV VERS
	scratch more
	nfs "${1}6" "$2" nconnect=2
	grep " /mnt nfs.*proto=rdma6," /proc/mounts
	[ "$(xprt_lines | wc -l)" = 2 ]
	put "$D"
	again "${1}6" "$2" nconnect=2
	get "$D"
	umount_all
}

# The policy is that of the own names: who insists is told.
older() { # DEV VERS
	scratch older
	by_default server versions v1
	nfs "$1" "$2"
	settled 1 3
	[ "${NOW[client.fallbacks]}" = 1 ]
	put "$D"
	again "$1" "$2"
	get "$D"
	umount_all
	by_default client versions v2
	if nfs "$1" "$2" retry=0 2> "$LAB_TMP/error"; then return 1; fi
	grep "Protocol error" "$LAB_TMP/error"
	by_default server versions both
	by_default client versions v1
	nfs "$1" "$2"
	settled 1 9
	get "$D"
	umount_all
}

# Whoever has learned the own names can go on using them.
own_names() { # DEV VERS
	scratch own
	lab_listen rdma2 20050
	nfs "$1" "$2" rdmaver=2
	grep "rdmaver=2" /proc/mounts
	settled 2 1
	put "$D"
	umount_all
	nfs "$1" "$2" port=20050
	settled 2 1
	get "$D"
	umount_all
}

# A listener at one address, as nfsdctl makes it, loses that with the device, and
# has it again when the device is back.
one_address() { # DEV
	scratch one
	stop_server
	nfsdlisten tcp 0.0.0.0 2049 rdma "$(lab_addr "$1")" 20049
	echo 8 > $NFSD/threads
	lab_end_grace
	nfs "$1" 4.2
	put "$D"
	umount_all
	mark_log
	rdma link delete "${1}0"
	lab_wait 10 logged "listener at .* lost its address"
	lab_net
	lab_wait 20 logged "listener at .* regained its address"
	nfs "$1" 4.2
	get "$D"
	umount_all
	stop_server
	start_server
}

still_there() {
	if rmmod rpcrdma2; then return 1; fi
	[ -e /sys/module/rpcrdma2 ]
}

unload() { # DEV
	nfs "$1" 4.2
	still_there
	umount_nfs
	still_there
	stop_server
	unload_rpcrdma2
	[ -z "$(classes)" ]
}

have_rdma2 || ktap_skip_all "there is no rpcrdma2"
lab_net
lab_server
stop_server
lab_is qemu && ktap_run "NFS client of the kernel package" stock_nfs

ktap_run "refused beside the stock module" refused rxe
ktap_run "only when loaded" not_asked
ktap_run "loaded on demand" on_demand
ktap_run "load" load_rpcrdma2 replace=1
ktap_run "the stock module is refused" stock_refused
ktap_run "rpc.nfsd --rdma" start_server
# A slow guest is not a silent peer.
echo 15000 > $PARAMETERS/negotiate_ms
for_versions "3 4.2" use
vers=4.2
nfs4_nconnect || vers=3
ktap_run "rxe NFSv$vers IPv6, nconnect=2" more rxe $vers
ktap_run "rxe NFSv3 peers of version 1" older rxe 3
ktap_run "rxe NFSv4.2 peers of version 1" older rxe 4.2
lab_is qemu || ktap_run "rxe NFSv4.2 own names" own_names rxe 4.2
# nfsd takes addresses since 6.10
older_than 6.10 || for dev in $(lab_devices); do
	ktap_run "$dev a listener at one address (S6)" one_address "$dev"
done
ktap_run "unload" unload rxe
ktap_run "the stock module again" refused rxe
! lab_is qemu || ktap_run "NFS client with rdmaver= again" unload_nfs
