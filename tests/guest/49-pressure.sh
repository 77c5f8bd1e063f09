#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Memory that others wait for. Completion handlers do not wait for any; what
# they cannot have or map at once comes later. And a guest with hardly any left
# swaps to a mount and writes back to it, with the connection cut and sizes and
# grants changing meanwhile: it gets on, and nothing is killed.
#
# timeout: 240
# flavours: uml uml-debug qemu
# shellcheck disable=SC2034 # used by lib
. /lab/lib/lab.sh
. /lab/lib/fs.sh
. /lab/lib/props.sh

FAIL_MAP=/sys/kernel/debug/fail_rpcrdma2_map

# ---- what completion handlers ask for ----

# Lines of allocations that may wait, made while a CQ's work item runs. What
# rdma_rw needs it asks for without a choice, but in a scope that does not wait
# (rpcrdma2_rw_map()); pages for that come in front of it.
waits_in_completions() {
	awk '
	function process() {
		return match($0, /^ *[^ ]+-[0-9]+ /) ? substr($0, 1, RLENGTH) : ""
	}
	{ p = process() }
	/ workqueue_execute_start: / { in_cq[p] = / function ib_cq_poll_work/ }
	/ workqueue_execute_end: / { in_cq[p] = 0; pages[p] = "" }
	!in_cq[p] { next }
	/ ib_cq_poll_work/ { seen++ }
	!/ (kmalloc|kmem_cache_alloc|mm_page_alloc): / { next }
	{ allocs++ }
	/ call_site=rdma_rw_/ { pages[p] = ""; next }
	!/GFP_KERNEL|GFP_NOIO|GFP_NOFS|GFP_USER|__GFP_DIRECT_RECLAIM|__GFP_RECLAIM/ {
		next
	}
	/ mm_page_alloc: / { pages[p] = pages[p] "\n" $0; next }
	{ print pages[p] $0; pages[p] = "" }
	END { print seen + 0, allocs + 0 > "'"$LAB_TMP/seen"'" }' $TRACE/trace
}

# Grants that grow, Read chunks and none, sizes that go up and down.
nothing_waits() { # DEV VERS
	local seen allocs i

	scratch waits
	echo 16384 > $TRACE/buffer_size_kb
	trace_on workqueue/workqueue_execute_start \
		workqueue/workqueue_execute_end kmem/kmalloc \
		kmem/kmem_cache_alloc kmem/mm_page_alloc
	nfs "$1" "$2"
	for i in 1 2 3 4 5 6 7 8 9 10 11 12; do
		iocheck write -t -d -s $i -l 200001 -b 70001 "$D/w$i" &
	done
	wait
	tell client rbsiz 32768
	agreed server 32768
	tell server rbsiz 32768
	agreed client 32768
	iocheck write -t -d -s 1 -l 100001 -b 25001 "$D/f"
	iocheck check -e -d -s 1 -l 100001 -b 25001 "$D/f"
	tell client rbsiz 4096
	agreed server 4096
	umount_nfs
	trace_off
	cp $TRACE/trace "$LAB_OUT/trace-$1"
	waits_in_completions > "$LAB_TMP/waits"
	echo 1408 > $TRACE/buffer_size_kb
	read -r seen allocs < "$LAB_TMP/seen"
	echo "$seen runs of completions asked $allocs times"
	[ "$seen" -gt 20 ]
	[ "$allocs" -gt 20 ]
	head -n 20 "$LAB_TMP/waits"
	[ ! -s "$LAB_TMP/waits" ]
	rm "$LAB_OUT/trace-$1"
	none_left
	rm -r "$E"
}

# ---- Receives ----

# The Receives that a connection came to need are there for the next one.
kept() { # DEV VERS
	local i was

	scratch kept
	nfs "$1" "$2"
	for ((i = 0; i < 12; i++)); do
		iocheck write -t -d -s $i -l 100001 -b 20001 "$D/w$i" &
	done
	wait
	look
	was=${NOW[client.receive_memory]}
	[ "${NOW[client.credits_granted_by_peer]}" -gt 8 ]
	echo 0 > $NFSD/threads
	lab_nfsd
	fs_listen
	for ((i = 0; i < 40; i++)); do
		iocheck check -e -d -s 1 -l 100001 -b 2001 "$D/w1"
		look
		[ "${NOW[client.receive_memory]}" -ge "$was" ]
		[ "${NOW[client.reconnects]}" -lt 1 ] || [ "$i" -lt 2 ] || break
	done
	[ "${NOW[client.reconnects]}" -ge 1 ]
	umount_nfs
	none_left
	rm -r "$E"
}

fail_map() { # WHAT INTERVAL
	echo 0 > $FAIL_MAP/verbose
	echo "$1" > $FAIL_MAP/what
	echo "$2" > $FAIL_MAP/interval
	echo -1 > $FAIL_MAP/times
	echo 100 > $FAIL_MAP/probability
}
no_fail_map() { echo 0 > $FAIL_MAP/probability; }

# Every fourth time the device cannot map a Receive. Connections come up, and
# stay.
unmapped() { # DEV VERS
	local i pids=()

	scratch unmapped
	fail_map 1 4
	nfs "$1" "$2" || { no_fail_map; return 1; }
	mark
	for ((i = 0; i < 12; i++)); do
		iocheck write -t -d -s $i -l 60001 -b 9001 "$D/w$i" &
		pids+=($!)
	done
	wait_all "${pids[@]}" || { no_fail_map; return 1; }
	look
	no_fail_map
	for ((i = 0; i < 12; i++)); do
		iocheck check -e -s $i -l 60001 "$E/w$i"
	done
	counted client -eq 0 reconnects connect_failures
	[ $((NOW[client.recv_shortages] + NOW[server.recv_shortages])) -gt 0 ]
	umount_nfs
	none_left
	rm -r "$E"
}

# ---- a guest without memory ----

hold() { # BYTES: all but these
	rm -f "$LAB_TMP/release"
	mkfifo "$LAB_TMP/release"
	: > "$LAB_TMP/hog.log"
	iocheck hog -l "$1" "$LAB_TMP/release" > "$LAB_TMP/hog.log" &
	HOG=$!
	lab_wait 60 grep -q held "$LAB_TMP/hog.log"
	cat "$LAB_TMP/hog.log"
}
release() { : > "$LAB_TMP/release"; wait "$HOG"; }

# writes NUMBER: dirty pages of a mapping, again and again.
writes() {
	local n=0

	while [ ! -e "$LAB_TMP/stop" ]; do
		n=$((n + 1))
		iocheck write -m -y -s "$1$n" -l $MAPPED "$D/m$1" || return 1
		echo "$n" > "$LAB_TMP/written$1"
	done
	iocheck check -d -s "$1$n" -l $MAPPED "$D/m$1"
}
_written() { # NUMBER N
	local n=0

	[ ! -e "$LAB_TMP/written$1" ] || read -r n < "$LAB_TMP/written$1"
	[ "${n:-0}" -ge "$2" ]
}
churned() { [ "$(grep -c round "$LAB_TMP/churn.log")" -ge "$1" ]; }

SWAP=64 CHURN=$((48 << 20)) LEFT=$((32 << 20)) MAPPED=$((4 << 20))

# Gets on within the time limits of lab_wait: a round of all memory and of both
# mappings after each cut, within 60 seconds of a fast guest.
pressure() { # DEV VERS
	local i n pids=() churn rounds

	# The memory of the export is there before, and stays
	scratch pressure
	dd if=/dev/zero of="$E/swap" bs=1M count=$SWAP status=none
	chmod 600 "$E/swap"
	for i in 1 2; do
		dd if=/dev/zero of="$E/m$i" bs=1M count=$((MAPPED >> 20)) status=none
	done
	echo 2 > /sys/module/rpcrdma2/parameters/server_first_credits
	nfs "$1" "$2"
	mkswap "$D/swap" > /dev/null
	swapon "$D/swap"
	dmesg > "$LAB_TMP/dmesg"
	n=$(wc -l < "$LAB_TMP/dmesg")
	rm -f "$LAB_TMP"/stop "$LAB_TMP"/written*
	: > "$LAB_TMP/churn.log"
	hold $LEFT
	iocheck churn -s 9 -l $CHURN -n 1000000 > "$LAB_TMP/churn.log" &
	churn=$!
	for i in 1 2; do
		writes $i &
		pids+=($!)
	done
	for ((i = 1; i <= CUTS; i++)); do
		rounds=$(grep -c round "$LAB_TMP/churn.log" || true)
		read -r was1 < "$LAB_TMP/written1" 2> /dev/null || was1=0
		read -r was2 < "$LAB_TMP/written2" 2> /dev/null || was2=0
		if [ -d $FAIL_SUNRPC ]; then
			cut_start client 30 1
		else
			echo 0 > $NFSD/threads
			lab_nfsd
			fs_listen
		fi
		# Sizes up and down, if the connection is there
		tell client rbsiz $((16384 << (i % 2))) 2> /dev/null || true
		tell server rbsiz $((32768 >> (i % 2))) 2> /dev/null || true
		lab_wait 60 churned $((rounds + 1))
		lab_wait 60 _written 1 $((was1 + 1))
		lab_wait 60 _written 2 $((was2 + 1))
	done
	[ ! -d $FAIL_SUNRPC ] || cut_stop
	look
	[ "${NOW[client.reconnects]}" -ge 1 ]
	touch "$LAB_TMP/stop"
	wait_all "${pids[@]}"
	kill -0 $churn
	kill $churn
	release
	dmesg | tail -n +$((n + 1)) > "$LAB_TMP/dmesg"
	not grep -iE 'oom-kill|out of memory|Killed process' "$LAB_TMP/dmesg"
	swapoff "$D/swap"
	umount_nfs
	none_left
	echo 8 > /sys/module/rpcrdma2/parameters/server_first_credits
	rm -r "$E"
}

have_rdma2 || ktap_skip_all "needs rpcrdma2"
# What the server has is not to be swapped out to itself.
mount -t tmpfs -o size=50%,noswap export /export
chmod 1777 /export
fs_start
CUTS=$(by_speed 4 2)
! lab_is qemu || lab_devices() { echo rxe; }
for_versions 4.2 nothing_waits "completions wait for no memory (C1)"
for_versions 4.2 kept "Receives are kept (C1)"
if [ -d $FAIL_MAP ]; then
	for_versions 4.2 unmapped "Receives that cannot be mapped (D4)"
fi
for_versions "$(by_speed "3 4.2" 4.2)" pressure "no memory (C1)"
