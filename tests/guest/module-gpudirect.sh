#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Payload that the CPU must not copy: memory of a GPU, with GPUDirect Storage, and P2PDMA.
# tests/module/rpcrdma2_gpu.c stands in for NVIDIA's driver and the GPU. It detects each
# CPU access to a page that stands for GPU memory: the data would be wrong.
#
# timeout: 120
# flavours: uml-debug qemu
# covers: CHK-16,LNG-11,LNG-14
. /lab/lib/raw.sh

DEV=/dev/rpcrdma2_gpu
GPU=/sys/module/rpcrdma2_gpu/parameters
P2PDMA=/sys/kernel/debug/fail_rpcrdma2/p2pdma
UNREGISTER=5000	# milliseconds

gpu() { # COMMAND FILE SEED LENGTH [OPTION...]
	iocheck "$1" -d -G $DEV -s "$3" -l "$4" "${@:5}" "$2"
}

# Everything that was mapped is unmapped, by the operations, and nothing was touched.
clean() {
	[ "$(< $GPU/mapped) $(< $GPU/touched) $(< $GPU/strange)" = "0 0 0" ]
	[ "$(< $GPU/maps)" = "$(< $GPU/unmaps)" ]
}

# ---- whose names they are ----

beside() {
	modprobe rpcrdma2
	mark_log
	not modprobe rpcrdma2_nvfs
	logged "rpcrdma2_nvfs: needs rpcrdma2 with replace=1"
	modprobe rpcrdma2_gpu
	not eval "echo 1 > $GPU/registered"
	rmmod rpcrdma2_gpu
	unload_rpcrdma2
}

offered() {
	load_rpcrdma2 replace=1 negotiate_ms=15000
	modprobe rpcrdma2_nvfs
	[ "$(< /sys/module/rpcrdma2_nvfs/parameters/registered)" = N ]
	modprobe rpcrdma2_gpu
	echo 1 > $GPU/registered
	[ "$(< /sys/module/rpcrdma2_nvfs/parameters/registered)" = Y ]
	not rmmod rpcrdma2_nvfs
}

# ---- data ----

SIZES="512 4096 8192 16384 65536 262144 1048576"
ODD="1 513 4095 4097 20479 100003"

# shellcheck disable=SC2086 # a list
moves() { # DEV VERS
	local n sum=0

	scratch "moves-$1-$2"
	nfs "$1" "$2"
	look
	mark
	for n in $SIZES $ODD; do
		gpu write "$D/$n" "$n" "$n" -t
		iocheck check -e -s "$n" -l "$n" "$E/$n"
		gpu check "$D/$n" "$n" "$n"
		sum=$((sum + 2 * n))
	done
	look
	counted client -eq $sum gpudirect_bytes
	counted client -eq 0 pullup_bytes copied_bytes pz_chunks
	clean
	# A READ over the end of the file, and at the end
	gpu check "$D/4097" 4097 4097 -e
	gpu check "$D/100003" 100003 100003 -e
	# Pages that are not in step with the file
	gpu write "$D/askew" 3 65536 -t -a 1024
	iocheck check -e -s 3 -l 65536 "$E/askew"
	gpu check "$D/askew" 3 65536 -a 3000
	# What fsx does: random operations, direct ones with memory of the GPU
	iocheck random -G $DEV -n "$(by_speed 600 150)" -s 1 "$D/random" "$E/copy"
	cmp "$E/random" "$E/copy"
	iocheck random -G $DEV -n "$(by_speed 100 30)" -s 2 -l 1500000 \
		"$D/random" "$E/copy"
	cmp "$E/random" "$E/copy"
	# Ordinary memory at the same time
	iocheck put "$D" 0 1 4096 16385 1048576
	iocheck get "$D" 0 1 4096 16385 1048576
	umount_nfs
	clean
	none_left
}

# Programs with an area of the GPU each, and one without
parallel() { # DEV VERS
	local i pids=()

	scratch "parallel-$1-$2"
	nfs "$1" "$2"
	for i in 0 1 2 3; do
		gpu write "$D/$i" "$i" 8388608 -t -b 100000 &
		pids+=($!)
	done
	iocheck put "$D" 4096 65536 1048576
	wait_all "${pids[@]}"
	pids=()
	for i in 0 1 2 3; do
		iocheck check -e -s "$i" -l 8388608 "$E/$i"
		gpu check "$D/$i" "$i" 8388608 -b 1000000 &
		pids+=($!)
	done
	wait_all "${pids[@]}"
	umount_nfs
	clean
}

# ---- errors ----

# The driver cannot map, or a transfer has pages of both kinds: an I/O error, no data.
refused() { # DEV VERS
	scratch "refused-$1-$2"
	nfs "$1" "$2"
	gpu write "$D/f" 1 4096 -t
	echo 1 > $GPU/fail
	not gpu write "$D/f" 2 4096
	echo 1 > $GPU/fail
	not gpu check "$D/f" 1 4096
	[ "$(< $GPU/fail)" = 0 ]
	not gpu write "$D/f" 2 12288 -v
	iocheck check -s 1 -l 4096 "$E/f"
	gpu check "$D/f" 1 4096
	umount_nfs
	clean
}

# The connection is lost again and again.
reconnects() { # DEV VERS
	local i pid

	scratch "reconnects-$1-$2"
	nfs "$1" "$2"
	gpu write "$D/f" 0 4194304 -t &
	pid=$!
	for i in 1 2 3; do
		rpcrdma2 reconnect "$(id client)" || true
		gpu write "$D/g$i" "$i" 1048576 -t
	done
	wait $pid
	iocheck check -e -s 0 -l 4194304 "$E/f"
	for i in 1 2 3; do
		iocheck check -e -s "$i" -l 1048576 "$E/g$i"
	done
	umount_nfs
	clean
}

unregisters() { # DEV VERS
	local i start

	scratch "unregisters-$1-$2"
	nfs "$1" "$2"
	for i in 0 1 2 3; do
		gpu write "$D/$i" "$i" 4194304 -t -b 1000000
	done
	for i in 0 1 2 3; do
		gpu check "$D/$i" "$i" 4194304 -r -b 1000000 &
	done
	lab_wait 20 eval "[ \$(< $GPU/mapped) -gt 0 ]"
	start=$(now_ms)
	echo 0 > $GPU/registered
	[ $(($(now_ms) - start)) -le $UNREGISTER ]
	clean
	wait || true
	[ "$(< /sys/module/rpcrdma2_nvfs/parameters/registered)" = N ]
	# Others go on; so does the GPU, once the driver is back.
	iocheck check -e -d -s 1 -l 4194304 "$D/1"
	umount_nfs
	rmmod rpcrdma2_gpu
	modprobe rpcrdma2_gpu
	echo 1 > $GPU/registered
	nfs "$1" "$2"
	gpu check "$D/2" 2 4194304
	umount_nfs
	clean
}

# ---- P2PDMA ----

# Neither software device can reach the memory of another device, and each says so.
p2pdma() { # DEV VERS
	scratch "p2pdma-$1-$2"
	nfs "$1" "$2"
	iocheck write -d -t -s 1 -l 8192 "$D/f"
	exec 7<> "$D/f"
	look
	mark
	mark_log
	echo 1 > $P2PDMA
	not iocheck write -d -s 2 -l 512 "$D/f"
	not iocheck write -d -s 2 -l 8192 "$D/f"
	not iocheck check -d -s 1 -l 512 "$D/f"
	not iocheck check -d -s 1 -l 8192 "$D/f"
	echo 0 > $P2PDMA
	# Not in the log of 4.2: there are ten lines at most in five seconds.
	[ "$2" != 3 ] || logged "rpcrdma2: .* cannot access the memory of another device"
	look
	counted client -eq 0 pullup_bytes copied_bytes read_chunks write_chunks
	exec 7>&-
	iocheck check -d -s 1 -l 8192 "$D/f"
	umount_nfs
}

have_rdma2 || ktap_skip_all "there is no rpcrdma2"
lab_net
lab_server
ktap_run "not beside the stock module" beside
ktap_run "in its place" offered
lab_listen rdma2 20049
# shellcheck disable=SC2034 # none_left looks at it
LISTENERS=$(< /sys/module/rpcrdma2/refcnt)
for_versions "3 4.2" moves
for_versions "3 4.2" parallel "four programs"
for_versions "3 4.2" refused "refused"
for_versions "4.2" reconnects "connections lost"
for_versions "4.2" unregisters "unregistered under load"
raw_group replies 21000 rpc_read_inline_gpu
ktap_run "inline Replies were not copied" clean
[ ! -e $P2PDMA ] || for_versions "3 4.2" p2pdma "P2PDMA"
