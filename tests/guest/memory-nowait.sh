#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Memory that others wait for. Completion handlers do not wait for any; what
# they, or the device, cannot have at once comes later. Devices with little.
#
# timeout: 150
# flavours: uml-debug
. /lab/lib/lab.sh
. /lab/lib/fs.sh
. /lab/lib/props.sh

FAIL_MAP=/sys/kernel/debug/fail_rpcrdma2_map

# ---- what completion handlers ask for ----

# Lines of allocations that may wait, made while a CQ's work item runs; not those of
# kmemleak for itself, with the pages that come in front of it. How many completions ask
# at all depends on the device and on who is first: siw sends in a thread of its own, and
# nfsd polls. So the allocations of everybody tell whether the trace is good.
waits_in_completions() {
	awk '
	function process() {
		return match($0, /^ *[^ ]+-[0-9]+ /) ? substr($0, 1, RLENGTH) : ""
	}
	function flush() {
		printf "%s", pages[p]
		pages[p] = ""
	}
	{ p = process() }
	/ (kmalloc|kmem_cache_alloc|mm_page_alloc): / { traced++ }
	/ workqueue_execute_start: / { in_cq[p] = / function cq_poll_worker/ }
	/ workqueue_execute_end: / { flush(); in_cq[p] = 0 }
	!in_cq[p] { next }
	/ cq_poll_worker/ { seen++ }
	!/ (kmalloc|kmem_cache_alloc|mm_page_alloc): / { next }
	{ allocs++ }
	/ call_site=__alloc_object/ { pages[p] = ""; next }
	{ waits = /GFP_(KERNEL|NOIO|NOFS|USER)|__GFP_(DIRECT_)?RECLAIM([^A]|$)/ }
	/ mm_page_alloc: / {
		if (waits)
			pages[p] = pages[p] $0 "\n"
		next
	}
	{ flush() }
	waits { print }
	END { print seen + 0, allocs + 0, traced + 0 > "'"$LAB_TMP/seen"'" }' $TRACE/trace
}

# Grants that grow, Read chunks and none, sizes that go up.
nothing_waits() { # DEV VERS
	local seen allocs traced i

	scratch waits
	echo 16384 > $TRACE/buffer_size_kb
	trace_on workqueue/workqueue_execute_start \
		workqueue/workqueue_execute_end kmem/kmalloc \
		kmem/kmem_cache_alloc kmem/mm_page_alloc
	for_both recv_max 32768
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
	umount_nfs
	for_both recv_max 4096
	trace_off
	cp $TRACE/trace "$LAB_OUT/trace-$1"
	waits_in_completions > "$LAB_TMP/waits"
	echo 1408 > $TRACE/buffer_size_kb
	read -r seen allocs traced < "$LAB_TMP/seen"
	echo "$seen runs of completions asked $allocs times, of $traced"
	[ "$seen" -gt 20 ]
	[ "$traced" -gt 20 ]
	head -n 20 "$LAB_TMP/waits"
	[ ! -s "$LAB_TMP/waits" ]
	rm "$LAB_OUT/trace-$1"
	none_left
	rm -r "$E"
}

# ---- who sends ----

FAIL_SLAB=/sys/kernel/debug/failslab FAIL_PAGE=/sys/kernel/debug/fail_page_alloc

# fail_alloc DIR FUNCTION INTERVAL TIMES: what this function of the kernel asks for.
fail_alloc() {
	sort /proc/kallsyms | awk -v name="$2" '
		found && $1 != found { print found, $1; exit }
		$3 == name { found = $1 }' > "$LAB_TMP/range"
	[ -s "$LAB_TMP/range" ] || return 1
	echo 0 > "$1/verbose"
	echo 32 > "$1/stacktrace-depth"
	echo "0x$(cut -d' ' -f1 "$LAB_TMP/range")" > "$1/require-start"
	echo "0x$(cut -d' ' -f2 "$LAB_TMP/range")" > "$1/require-end"
	echo "$3" > "$1/interval"
	echo "$4" > "$1/times"
	echo 100 > "$1/probability"
}
no_fail_alloc() { # DIR
	echo 0 > "$1/probability"
	echo 0 > "$1/require-start"
	echo 0 > "$1/require-end"
}

# The pages of a GETACL's Reply are made while the transport is locked. Without memory
# the RPC is sent later; it does not keep the lock until there is some. What may wait
# for memory is not failed here.
getacl() { # DEV VERS
	local rc=0

	scratch getacl
	nfs "$1" "$2"
	: > "$D/f"
	setfacl -m u:5001:r "$D/f"
	drop_caches
	stat "$D/f"
	echo 0 > $FAIL_PAGE/min-order
	echo Y > $FAIL_PAGE/ignore-gfp-wait
	trace_on sunrpc/xprt_transmit
	fail_alloc $FAIL_PAGE rpcrdma2_requester_send 1 4
	getfacl "$D/f" > "$LAB_TMP/acl" || rc=1
	no_fail_alloc $FAIL_PAGE
	trace_off
	[ $rc = 0 ]
	grep 5001 "$LAB_TMP/acl"
	traced 'xprt_transmit: .* status=-105'
	umount_nfs
	none_left
	rm -r "$E"
}

# ---- Receives ----

# The Receives that a connection came to need are there for the next one.
kept() { # DEV VERS
	local i was

	scratch kept
	echo 64 > $PARAMETERS/server_first_credits
	nfs "$1" "$2"
	iocheck write -t -d -s 1 -l 100001 "$D/w1"
	look
	was=${NOW[client.receive_memory]}
	[ "${NOW[client.credits_granted_by_peer]}" = 64 ]
	echo 8 > $PARAMETERS/server_first_credits
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

# ---- a device that does not reach all memory ----

# What the device cannot map ends the RPCs that need it, in some seconds; those
# that need no memory of theirs mapped pass.
unreached() { # DEV VERS
	local pid began

	scratch unreached
	nfs "$1" "$2"
	iocheck write -t -d -s 1 -l 60001 "$D/f"
	exec 7<> "$D/f"
	fail_map 4 1
	began=$SECONDS
	iocheck write -d -s 2 -l 60001 -b 60001 "$D/f" 2> "$LAB_TMP/unreached" &
	pid=$!
	mkdir "$D/d" && stat "$D/d" && rmdir "$D/d" || { no_fail_map; return 1; }
	kill -0 $pid || { no_fail_map; return 1; }
	if wait $pid; then
		no_fail_map
		return 1
	fi
	no_fail_map
	cat "$LAB_TMP/unreached"
	grep -q 'Input/output error' "$LAB_TMP/unreached"
	[ $((SECONDS - began)) -lt $((30 * lab_scale)) ]
	look
	[ "${NOW[client.map_failures]}" -gt 0 ]
	[ "${NOW[client.reconnects]}" = 0 ]
	# Once in a while is no error
	fail_map 4 3
	iocheck write -d -s 3 -l 60001 -b 30001 "$D/f" || { no_fail_map; return 1; }
	no_fail_map
	iocheck check -e -d -s 3 -l 60001 "$D/f"
	exec 7>&-
	umount_nfs
	none_left
	rm -r "$E"
}

# ---- a device without memory for packets ----

rnr_sent() { cat /sys/class/infiniband/rxe0/ports/1/hw_counters/send_rnr_err; }

# rxe without memory for a packet that answers an RDMA Read says that there is
# no Receive. That is no reason to lose the connection.
no_packets() { # DEV VERS
	local was i lines

	# An acknowledgment may be hit as well, see Documentation/devices.md
	lab_allow_log 'rxe_comp\.c.*rxe_completer'
	scratch packets
	nfs "$1" "$2"
	iocheck write -t -d -s 1 -l 300001 "$D/f"
	was=$(rnr_sent)
	lines=$(($(dmesg | wc -l) + 1))
	# An odd number, or it would always be kmemleak's memory
	fail_alloc $FAIL_SLAB prepare_ack_packet 101 8
	for i in 1 2 3 4 5 6 7 8 9 10 11 12; do
		iocheck write -d -s $i -l 300001 -b 300001 "$D/f" || {
			no_fail_alloc $FAIL_SLAB
			return 1
		}
	done
	no_fail_alloc $FAIL_SLAB
	[ "$(rnr_sent)" -gt "$was" ]
	not grep "RNR retry" <(dmesg | tail -n +$lines)
	iocheck check -e -s 12 -l 300001 "$E/f"
	umount_nfs
	none_left
	rm -r "$E"
}

# A server without memory for what a Call needs serves one after the other.
no_call_objects() { # DEV VERS
	local i pids=()

	scratch calls
	nfs "$1" "$2"
	fail_alloc $FAIL_SLAB rpcrdma2_responder_call 1 -1
	for i in 1 2 3 4 5 6 7 8; do
		iocheck write -t -d -s $i -l 300001 -b 30001 "$D/w$i" &
		pids+=($!)
	done
	wait_all "${pids[@]}" || {
		no_fail_alloc $FAIL_SLAB
		return 1
	}
	look
	no_fail_alloc $FAIL_SLAB
	[ "${NOW[client.reconnects]}" = 0 ]
	for i in 1 2 3 4 5 6 7 8; do
		iocheck check -e -s $i -l 300001 "$E/w$i"
	done
	umount_nfs
	none_left
	rm -r "$E"
}

# ---- a device with small queues ----

FAIL_POST=/sys/kernel/debug/fail_rpcrdma2

# refused_mount DEV VERS REGEX: fails at once, and the log says why.
refused_mount() {
	local n

	n=$(dmesg | wc -l)
	timeout $((20 * lab_scale)) mount -t nfs -o "vers=$2,proto=rdma,rdmaver=2,port=20049,retry=0" \
		"$(lab_addr "$1"):/" /mnt 2> "$LAB_TMP/mount" && return 1
	[ $? != 124 ]
	dmesg | tail -n +$((n + 1)) | grep -qE "rpcrdma2: .*$3"
}

# With the fewest entries that will do everything still gets its turn.
small_queues() { # DEV VERS
	local i pids=() wr

	scratch queues
	for wr in 24 32; do
		echo $wr > $FAIL_POST/max_qp_wr
		nfs "$1" "$2" || { echo 0 > $FAIL_POST/max_qp_wr; return 1; }
		for ((i = 0; i < 120; i++)); do
			stat "$D" > /dev/null
			mkdir "$D/d$i"
		done
		for ((i = 0; i < 6; i++)); do
			iocheck write -t -d -s $i -l 100001 -b 30001 "$D/w$i" &
			pids+=($!)
		done
		wait_all "${pids[@]}"
		pids=()
		iocheck check -e -d -s 1 -l 100001 "$D/w1"
		look
		[ "${NOW[client.reconnects]}" = 0 ]
		umount_nfs
		none_left
		rm -r "${E:?}"/*
	done
	echo 16 > $FAIL_POST/max_qp_wr
	refused_mount "$1" "$2" 'queues of only 16 entries'
	echo 0 > $FAIL_POST/max_qp_wr
	echo 100 > $FAIL_POST/max_cqe
	refused_mount "$1" "$2" 'completion queues of only 100 entries'
	echo 0 > $FAIL_POST/max_cqe
	none_left
	rm -r "$E"
}

have_rdma2 || ktap_skip_all "needs rpcrdma2"
lab_export ext4
fs_start
for_versions 4.2 nothing_waits "completions wait for no memory (C1)"
[ ! -d $FAIL_PAGE ] ||
	for_versions 3 getacl "the lock is not kept for memory (C13)"
for_versions 4.2 kept "Receives are kept (C1)"
if [ -d $FAIL_MAP ]; then
	for_versions 4.2 unmapped "Receives that cannot be mapped (D4)"
	for_versions 4.2 unreached "memory that cannot be mapped (C4)"
	ktap_run "rxe NFSv4.2 a device without memory for packets (F4)" \
		no_packets rxe 4.2
	for_versions 4.2 no_call_objects "no memory for Calls (S16)"
	for_versions 4.2 small_queues "small queues (D2, D3, C7)"
fi
