#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Memory that others wait for. Completion handlers do not wait for any; what
# they, or the device, cannot have at once comes later. Devices with little.
#
# timeout: 150
. /lab/lib/lab.sh

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
	local seen allocs traced

	scratch waits
	echo 16384 > $TRACE/buffer_size_kb
	trace_on workqueue/workqueue_execute_start \
		workqueue/workqueue_execute_end kmem/kmalloc \
		kmem/kmem_cache_alloc kmem/mm_page_alloc
	for_both recv_max 32768
	nfs "$1" "$2"
	at_once 12 iocheck write -t -d -s {} -l 200001 -b 70001 "$D/w{}"
	both_grow 32768
	iocheck write -t -d -s 1 -l 100001 -b 25001 "$D/f"
	iocheck check -e -d -s 1 -l 100001 -b 25001 "$D/f"
	umount_nfs
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

# The pages of a GETACL's Reply are made while the transport is locked. Without memory
# the RPC is sent later; it does not keep the lock until there is some. What may wait
# for memory is not failed here.
getacl() { # DEV VERS
	enter getacl "$1" "$2"
	: > "$D/f"
	setfacl -m u:5001:r "$D/f"
	drop_caches
	stat "$D/f"
	trace_on sunrpc/xprt_transmit
	fault_in rpcrdma2_requester_send $FAIL_PAGE min-order=0 ignore-gfp-wait=Y times=4
	getfacl "$D/f" > "$LAB_TMP/acl"
	no_fault $FAIL_PAGE
	trace_off
	grep 5001 "$LAB_TMP/acl"
	traced 'xprt_transmit: .* status=-105'
}

# ---- Receives ----

# The Receives that a connection came to need are there for the next one.
kept() { # DEV VERS
	local i was

	parameter server_first_credits 64
	enter kept "$1" "$2"
	iocheck write -t -d -s 1 -l 100001 "$D/w1"
	look
	was=${NOW[client.receive_memory]}
	[ "${NOW[client.credits_granted_by_peer]}" = 64 ]
	echo 8 > $PARAMETERS/server_first_credits
	stop_server
	start_server
	for ((i = 0; i < 40; i++)); do
		iocheck check -e -d -s 1 -l 100001 -b 2001 "$D/w1"
		look
		[ "${NOW[client.receive_memory]}" -ge "$was" ]
		[ "${NOW[client.reconnects]}" -lt 1 ] || [ "$i" -lt 2 ] || break
	done
	[ "${NOW[client.reconnects]}" -ge 1 ]
}

# Every fourth time the device cannot map a Receive. Connections come up, and
# stay.
unmapped() { # DEV VERS
	scratch unmapped
	fault $FAIL_MAP what=1 interval=4
	nfs "$1" "$2"
	mark
	at_once 12 iocheck write -t -d -s {} -l 60001 -b 9001 "$D/w{}"
	look
	no_fault $FAIL_MAP
	each 12 iocheck check -e -s {} -l 60001 "$E/w{}"
	counted client -eq 0 reconnects connect_failures
	[ $((NOW[client.recv_shortages] + NOW[server.recv_shortages])) -gt 0 ]
}

# While it can map none at all, there is no connection.
none_mapped() { # DEV VERS
	local pid

	scratch none
	fault $FAIL_MAP what=1
	mark_log
	mount_nfs "$1$SUFFIX" "$2" &
	pid=$!
	lab_wait 20 logged 'rpcrdma2: .* cannot allocate or map Receives'
	not ls "$D"
	no_fault $FAIL_MAP
	wait $pid
	iocheck write -t -d -s 1 -l 60001 "$D/w"
	leave
}

# ---- a device that does not reach all memory ----

# What the device cannot map ends the RPCs that need it, in some seconds; those
# that need no memory of theirs mapped pass.
unreached() { # DEV VERS
	local pid began

	enter unreached "$1" "$2"
	iocheck write -t -d -s 1 -l 60001 "$D/f"
	exec 7<> "$D/f"
	fault $FAIL_MAP what=4
	began=$SECONDS
	iocheck write -d -s 2 -l 60001 -b 60001 "$D/f" 2> "$LAB_TMP/unreached" &
	pid=$!
	mkdir "$D/d" && stat "$D/d" && rmdir "$D/d"
	kill -0 $pid
	not wait $pid
	no_fault $FAIL_MAP
	cat "$LAB_TMP/unreached"
	grep -q 'Input/output error' "$LAB_TMP/unreached"
	[ $((SECONDS - began)) -lt $((30 * lab_scale)) ]
	look
	[ "${NOW[client.map_failures]}" -gt 0 ]
	[ "${NOW[client.reconnects]}" = 0 ]
	# Once in a while is no error
	fault $FAIL_MAP what=4 interval=3
	iocheck write -d -s 3 -l 60001 -b 30001 "$D/f"
	no_fault $FAIL_MAP
	iocheck check -e -d -s 3 -l 60001 "$D/f"
	exec 7>&-
}

# ---- a device without memory for packets ----

rnr_sent() { cat /sys/class/infiniband/rxe0/ports/1/hw_counters/send_rnr_err; }

# rxe without memory for a packet that answers an RDMA Read says that there is
# no Receive. That is no reason to lose the connection.
no_packets() { # DEV VERS
	local was

	# An acknowledgment may be hit as well, see Documentation/devices.md
	lab_allow_log 'rxe_comp\.c.*rxe_completer'
	enter packets "$1" "$2"
	iocheck write -t -d -s 1 -l 300001 "$D/f"
	was=$(rnr_sent)
	mark_log
	# An odd number, or it would always be kmemleak's memory
	fault_in prepare_ack_packet $FAIL_SLAB interval=101 times=8
	each 12 iocheck write -d -s {} -l 300001 -b 300001 "$D/f"
	no_fault $FAIL_SLAB
	[ "$(rnr_sent)" -gt "$was" ]
	not logged "RNR retry"
	iocheck check -e -s 12 -l 300001 "$E/f"
}

# A server without memory for what a Call needs serves one after the other.
no_call_objects() { # DEV VERS
	enter calls "$1" "$2"
	fault_in rpcrdma2_responder_call $FAIL_SLAB
	at_once 8 iocheck write -t -d -s {} -l 300001 -b 30001 "$D/w{}"
	look
	no_fault $FAIL_SLAB
	[ "${NOW[client.reconnects]}" = 0 ]
	each 8 iocheck check -e -s {} -l 300001 "$E/w{}"
}

# ---- a device with small queues ----

# refused_mount DEV VERS REGEX: fails at once, and the log says why.
refused_mount() {
	local start=$SECONDS

	mark_log
	not nfs "$1" "$2" retry=0
	[ $((SECONDS - start)) -le $((20 * lab_scale)) ]
	logged "rpcrdma2: .*$3"
}

# With the fewest entries that will do everything still gets its turn.
small_queues() { # DEV VERS
	local i wr

	scratch queues
	undo eval "echo 0 | tee $FAIL_POST/max_{qp_wr,cqe}"
	for wr in 24 32; do
		echo $wr > $FAIL_POST/max_qp_wr
		nfs "$1" "$2"
		for ((i = 0; i < 120; i++)); do
			stat "$D" > /dev/null
			mkdir "$D/d$i"
		done
		at_once 6 iocheck write -t -d -s {} -l 100001 -b 30001 "$D/w{}"
		iocheck check -e -d -s 1 -l 100001 "$D/w1"
		look
		[ "${NOW[client.reconnects]}" = 0 ]
		umount_nfs
		none_left
		rm -r "${E:?}"/*
	done
	echo 16 > $FAIL_POST/max_qp_wr
	refused_mount "$1" "$2" 'receive queues of only 16 entries'
	echo 8 > $FAIL_POST/max_qp_wr
	refused_mount "$1" "$2" 'send queues of only 8 entries'
	echo 0 > $FAIL_POST/max_qp_wr
	echo 100 > $FAIL_POST/max_cqe
	refused_mount "$1" "$2" 'completion queues of only 100 entries'
	echo 0 > $FAIL_POST/max_cqe
	none_left
	rm -r "$E"
}

fs_start ours ext4
for_versions 4.2 nothing_waits "completions wait for no memory (C1)"
[ ! -d $FAIL_PAGE ] ||
	for_versions 3 getacl "the lock is not kept for memory (C13)"
for_versions 4.2 kept "Receives are kept (C1)"
if [ -d $FAIL_MAP ]; then
	for_versions 4.2 unmapped "Receives that cannot be mapped (D4)"
	for_versions 4.2 none_mapped "no Receive can be mapped"
	for_versions 4.2 unreached "memory that cannot be mapped (C4)"
	ktap_run "rxe NFSv4.2 a device without memory for packets (F4)" \
		no_packets rxe 4.2
	for_versions 4.2 no_call_objects "no memory for Calls (S16)"
	for_versions 4.2 small_queues "small queues (D2, D3, C7)"
fi
