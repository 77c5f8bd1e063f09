# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Sourced by check: rpcrdma2 doctor and unload. Each trouble is made on a machine that
# has none.

MODULES=/lib/modules/$kver
PARAMETERS=/sys/module/rpcrdma2/parameters

# In the place of the stock module, with a device and a listener
healthy_machine() {
	put $MODULES/updates/dkms/rpcrdma2.ko module
	put $MODULES/modules.dep <<-'END'
	updates/dkms/rpcrdma2.ko: kernel/net/sunrpc/sunrpc.ko
	kernel/fs/nfs/nfs.ko: kernel/net/sunrpc/sunrpc.ko
	END
	put $MODULES/build/include/config/auto.conf
	put $PARAMETERS/replace Y
	put /sys/module/rpcrdma2/srcversion 1234
	put /sys/module/rpcrdma2/refcnt 0
	put /sys/class/infiniband/mlx5_0/node_type 1
	put /sys/kernel/security/lockdown "[none] integrity confidentiality"
	put /proc/self/mounts "proc /proc proc rw 0 0"
	put /proc/fs/nfsd/portlist "rdma 20049"
	program modinfo <<< 'case $2 in srcversion) echo 1234 ;; signer) echo ;; esac'
	program dmesg <<< ':'
	program rdma <<-'END'
	echo '[{"ifindex":1,"ifname":"mlx5_0","caps":["RC_RNR_NAK_GEN","MEM_MGT_EXTENSIONS"]}]'
	END
	rpcrdma2 setup replace --server
}

# on_healthy NAME FUNC: a check of that machine
on_healthy() { check "$1" _on_healthy "$2"; }
_on_healthy() { healthy_machine; "$1"; }

# Then there is no listener of ours, either.
stop_module() {
	rm -rf "$M/sys/module/rpcrdma2" "$M/proc/fs/nfsd/portlist" \
		"$M"/etc/systemd/system/*/rpcrdma2-listener*
}

# finds ID TEXT: that, and nothing else, on a line of its own
finds() {
	[ "$(status rpcrdma2 doctor)" = 1 ]
	[ "$(wc -l < "$tmp/said")" = 1 ]
	grep "^$1: .*: .*; ." "$tmp/said"
	grep -e "$2" "$tmp/said"
	rpcrdma2 --json doctor > "$tmp/json" || [ $? = 1 ]
	grep "\"id\": \"$1\"" "$tmp/json"
}

# trouble NAME ID TEXT SCRIPT: it finds that on a healthy machine on which SCRIPT has run.
trouble() { check "doctor, $1" _trouble "${@:2}"; }
_trouble() { healthy_machine; eval "$3"; finds "$1" "$2"; }

doctor_finds_nothing() {
	[ "$(status rpcrdma2 doctor)" = 0 ]
	[ "$(rpcrdma2 --json doctor)" = "[]" ]
}

# transport NAME STATE ADDRESS: of sunrpc
transport() {
	local dir=/sys/kernel/sunrpc/xprt-switches/switch-0/$1

	put "$dir/xprt_state" "state=$2"
	put "$dir/dstaddr" "$3"
}

# One line for each peer, however many transports there are
doctor_connecting() {
	transport xprt-0-tcp "LOCKED  CONNECTING  BOUND" 10.0.0.7
	transport xprt-1-rdma " CONNECTED   BOUND" 10.0.0.8
	[ "$(status rpcrdma2 doctor)" = 0 ]
	transport xprt-2-rdma "LOCKED  CONNECTING  BOUND" 10.0.0.9
	transport xprt-3-rdma "LOCKED  CONNECTING  BOUND" 10.0.0.9
	finds connecting "no connection with 10.0.0.9: .*-a 10.0.0.9 here"
}

doctor_frwr() {
	program rdma <<< 'echo "[{\"ifname\":\"efa_0\",\"caps\":[\"RC_RNR_NAK_GEN\"]}]"'
	finds no-frwr efa_0
}

doctor_gpudirect() {
	local nvfs=/sys/module/rpcrdma2_nvfs

	put /sys/module/nvidia_fs/refcnt 0
	finds gpudirect-off "modprobe rpcrdma2_nvfs"
	put $nvfs/parameters/registered N
	[ "$(status rpcrdma2 doctor)" = 0 ]
	put /sys/module/nvidia_fs/refcnt 1
	finds gpudirect-late "end all programs that use nvidia-fs"
	put $nvfs/parameters/registered Y
	[ "$(status rpcrdma2 doctor)" = 0 ]
	put "$MODULES/modules.symbols" "alias symbol:rpcrdma_register_nvfs_dma_ops rpcrdma"
	finds gpudirect-lost "rpcrdma2_nvfs is not installed"
}

doctor_dkms() {
	stop_module
	rm -r "$M$MODULES/updates"
	finds module-missing "no package has built it"
	mkdir -p "$M/var/lib/dkms/rpcrdma2/1.0"
	finds dkms-failed "dkms install -m rpcrdma2 -v 1.0 -k $kver"
}

doctor_secure_boot() {
	stop_module
	put /sys/kernel/security/lockdown "none [integrity] confidentiality"
	[ "$(status rpcrdma2 doctor)" = 1 ]
	grep "^secure-boot: .*requires a signature, and the module has none" "$tmp/said"
	program modinfo <<< 'echo "DKMS module signing key"'
	[ "$(status rpcrdma2 doctor)" = 1 ]
	grep "^secure-boot: .*key of \"DKMS module signing key\" to be enrolled" "$tmp/said"
}

doctor_listener() {
	put /proc/fs/nfsd/portlist "tcp 2049"
	finds listener-missing "port 20049: the unit rpcrdma2-listener@20049 has not made"
	rm "$M/proc/fs/nfsd/portlist"
	finds listener-missing "nfsd is not running"
}

doctor_tcp() {
	put /etc/fstab "s:/b /b nfs proto=rdma,vers=4.2 0 0"
	put /proc/self/mounts <<-'END'
	s:/a /a nfs4 rw,vers=4.2,proto=tcp,addr=10.0.0.1 0 0
	s:/b /b nfs4 rw,vers=4.2,proto=tcp,addr=10.0.0.1 0 0
	END
	finds mount-on-tcp "s:/b on /b goes over TCP"
	# By its port, if it is not in fstab
	put /etc/fstab ""
	sed -i '2s/proto/port=20049,proto/' "$M/proc/self/mounts"
	finds mount-on-tcp "s:/b on /b goes over TCP"
}

doctor_fstab() {
	put /etc/fstab "s:/b /b nfs proto=rdma,vers=4.2 0 0"
	finds not-mounted "/b is not mounted"
	put /etc/fstab "s:/b /b nfs proto=rdma,noauto 0 0"
	[ "$(status rpcrdma2 doctor)" = 0 ]
	put /etc/fstab "s:/b /b nfs proto=rdma,rdmaver=2 0 0"
	finds rdmaver-unknown "own NFS modules do not know rdmaver="
}

# logged ID LINE: what the kernel has logged, and nothing like that
logged() {
	healthy_machine
	program dmesg <<-END
	echo "[    1.000000] else: ${2#*: }"
	echo "[    2.000000] $2"
	END
	finds "$1" "\\[    2.000000\\]"
}

doctor_log() {
	logged log-rdmaver "nfs: Unknown parameter 'rdmaver'"
	logged log-rdmaver "NFS: rdmaver=3 is not known"
	logged log-in-use "NFS: server s is in use with another rdmaver= or proto="
	logged log-no-version "rpcrdma2: 10.0.0.1:20049: not connected, no version in common (reason 10)"
	logged no-frwr "rpcrdma2: efa_0 has no fast memory registration"
	logged log-device "rpcrdma2: x0 registers only 8 pages at a time"
	logged log-device "rpcrdma2: x0 has send queues of only 8 entries, too few"
	logged log-device "rpcrdma2: x0 refuses a queue pair (-95)"
	logged log-device "rpcrdma2: x0 has no memory for a queue pair (-12)"
	logged log-stock "rpcrdma2: replace=1 is not possible while the stock transport is loaded"
	logged log-segments "rpcrdma2: server s takes chunks of at most 4 segments: transfers"
	logged log-silent "rpcrdma2: 10.0.0.1:20049 does not respond, connection closed"
	logged log-fail-after "rpcrdma2: 10.0.0.1:20049: no connection for 60 s (fail_after), RPCs of soft mounts end"
	logged log-other-server "rpcrdma2: 10.0.0.2:20049 is not used as a path, it leads to another server"
	logged log-listener "rpcrdma2: listener at 10.0.0.1:20049 lost its address: -99"
}

# Each text that the table has is one that the kernel prints.
doctor_knows_the_log() {
	local part n=0

	while read -r part; do
		grep -rqF "$part" "$TOP/net/sunrpc/xprtrdma2" "$TOP/patches" ||
			[ "$part" = "nfs: Unknown parameter 'rdmaver'" ] ||
			grep -rqF "${part#NFS: }" "$TOP/patches" || {
			echo "nothing prints: $part"
			return 1
		}
		n=$((n + 1))
	done < <(sed -n '/log_rows\[\] = {/,/^};/s/^\t{ "[a-z-]*", "\([^"]*\)",.*/\1/p' \
		"$TOP/tools/rpcrdma2/doctor.c" | sed 's/^ *//; s/ *$//')
	[ $n -ge 10 ]
}

# ---- unload ----

holds() { # KIND TEXT
	[ "$(status rpcrdma2 unload)" = 1 ]
	[ "$(wc -l < "$tmp/said")" = 1 ]
	grep "^$1: .*$2" "$tmp/said"
	[ ! -e "$tmp/removed" ]
}

unload_names_holders() {
	program modprobe <<< "echo \"\$@\" > $tmp/removed"
	rm -f "$tmp/removed"
	put /sys/module/rpcrdma2/refcnt 1
	holds listener "rdma 20049"
	rm "$M/proc/fs/nfsd/portlist"
	put /proc/77/mounts "s:/a /a nfs4 rw,proto=rdma,addr=10.0.0.1 0 0"
	put /proc/78/mounts "s:/a /a nfs4 rw,proto=rdma,addr=10.0.0.1 0 0"
	holds mount "s:/a on /a"
	# Beside the stock transport that is no mount of ours.
	put $PARAMETERS/replace N
	holds other "1 users"
	put /proc/77/mounts "s:/a /a nfs4 rw,proto=rdma,rdmaver=2,addr=10.0.0.1 0 0"
	holds mount "s:/a on /a"
	rm -r "$M/proc/77"
	mkdir -p "$M/sys/module/rpcrdma2/holders/other"
	holds module other
	mv "$M/sys/module/rpcrdma2/holders/"{other,rpcrdma2_nvfs}
	put /sys/module/rpcrdma2_nvfs/refcnt 2
	holds driver nvidia-fs
}

unload_unloads() {
	program modprobe <<< "echo \"\$@\" > $tmp/removed"
	rm "$M/proc/fs/nfsd/portlist"
	[ "$(status rpcrdma2 --json unload)" = 0 ]
	grep '"unloaded": true' "$tmp/said"
	[ "$(cat "$tmp/removed")" = "-r rpcrdma2" ]
	put /sys/module/rpcrdma2/refcnt 1
	put /sys/module/rpcrdma2_nvfs/refcnt 0
	mkdir -p "$M/sys/module/rpcrdma2/holders/rpcrdma2_nvfs"
	[ "$(status rpcrdma2 unload)" = 0 ]
	[ "$(cat "$tmp/removed")" = "-r rpcrdma2_nvfs rpcrdma2" ]
	program modprobe <<< 'exit 1'
	[ "$(status rpcrdma2 unload)" = 2 ]
	stop_module
	[ "$(status rpcrdma2 unload)" = 3 ]
}

check_doctor() {
	on_healthy "doctor, nothing is wrong" doctor_finds_nothing
	trouble "no device" device-missing "no RDMA device" 'rm -r "$M/sys/class/infiniband"'
	on_healthy "doctor, connecting" doctor_connecting
	on_healthy "doctor, no FRWR" doctor_frwr
	trouble "stock module in the way" stock-module \
		"place of the stock module: the module rpcrdma is loaded" \
		'stop_module; put /sys/module/rpcrdma/initstate live'
	trouble "loaded before replace=1" replace-off "loaded before replace=1 was set" \
		'put $PARAMETERS/replace N; put /proc/fs/nfsd/portlist "rdma2 20049"'
	on_healthy "doctor, GPUDirect Storage" doctor_gpudirect
	trouble "no headers" headers-missing \
		"$kver: its headers are not installed; apt install linux-headers-$kver" \
		'stop_module; rm -r "$M$MODULES"'
	on_healthy "doctor, DKMS" doctor_dkms
	trouble "hidden module file" module-hidden \
		"updates/rpcrdma2.ko is never loaded: modprobe loads updates/dkms/rpcrdma2.ko" \
		'put $MODULES/updates/rpcrdma2.ko module'
	trouble "no depmod" depmod \
		"modprobe does not know $MODULES/updates/dkms/rpcrdma2.ko" \
		'put $MODULES/modules.dep ""'
	trouble "older module" module-old "loaded module is not the installed one" \
		'put /sys/module/rpcrdma2/srcversion 999'
	on_healthy "doctor, Secure Boot" doctor_secure_boot
	trouble "not loaded" not-loaded "modprobe rpcrdma2" stop_module
	trouble "port clash" port-clash "port 20049: the stock transport uses the port" \
		'rpcrdma2 setup beside; put $PARAMETERS/replace N'
	on_healthy "doctor, no listener" doctor_listener
	on_healthy "doctor, mount on TCP" doctor_tcp
	on_healthy "doctor, fstab" doctor_fstab
	on_healthy "doctor, log" doctor_log
	check "doctor knows what is logged" doctor_knows_the_log
	on_healthy "unload names who holds" unload_names_holders
	on_healthy "unload" unload_unloads
}
