#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Little memory. Loopback writes far beyond the dirty limit with as few
# credits and send queue entries as there can be (F-10); memory so fragmented
# that large buffers cannot be had (F-11); none for what a Call needs. And
# what a server keeps.
#
# timeout: 120
# flavours: uml-debug qemu-debug
. /lab/lib/lab.sh

# ---- F-10 ----

# Client and server share page cache and dirty limit: writeback of the client
# makes the server dirty pages, which must be written back, too.
dirty_limit() { # DEV VERS
	local mb

	mb=$(by_speed 48 12)
	scratch dirty
	small_window 1
	by_default client credits 4
	nfs "$1" "$2"
	echo $((2 << 20)) > /proc/sys/vm/dirty_bytes
	echo $((1 << 20)) > /proc/sys/vm/dirty_background_bytes
	iocheck write -t -y -s 1 -l $((mb << 20)) "$D/f"
	echo 20 > /proc/sys/vm/dirty_ratio
	echo 10 > /proc/sys/vm/dirty_background_ratio
	umount_nfs
	iocheck check -e -s 1 -l $((mb << 20)) "$E/f"
	none_left
	rm -r "$E"
}

# ---- F-11 ----

# fragmented DEV VERS FUNCTION LIMIT: no 16 KiB in one piece for the buffers of either side.
fragmented() {
	local role

	scratch fragmented
	fail_pages "$3" min-order=2
	nfs "$1" "$2"
	iocheck write -t -d -s 1 -l 300001 -b 30001 "$D/f"
	look
	no_fault $FAIL_PAGE
	for role in client server; do
		[ "${NOW[$role.$4]}" -ge 4096 ]
		[ "${NOW[$role.$4]}" -le 8192 ]
	done
	iocheck check -e -d -s 1 -l 300001 -b 20001 "$D/f"
}
small_receives() { fragmented "$@" rpcrdma2_recvs_create inline_recv; }
small_sends() { fragmented "$@" rpcrdma2_sends_create inline_send; }

# ---- what a Call needs ----

# A Call for a long Reply waits for its bounce pages.
no_bounce_pages() { # DEV VERS
	scratch bounce
	iocheck fill -n 100 -l 200 "$E"
	nfs "$1" "$2"
	fail_pages rpcrdma2_marshal_build min-order=0 times=3
	iocheck list -n 100 -l 200 "$D"
	fault_spent $FAIL_PAGE
	no_fault $FAIL_PAGE
	look
	[ "${NOW[client.reply_chunks]}" -ge 1 ]
	[ "${NOW[client.reconnects]}" = 0 ]
}

# ---- what a server needs ----

# Deferred work gets no pages for the RDMA Reads of a WRITE: a thread gives some of its own.
thread_pages() { # DEV VERS
	scratch pages
	nfs "$1" "$2"
	mark
	trace_on rpcrdma2/rpcrdma2_call_state
	fail_pages rpcrdma2_call_start_pull min-order=0
	iocheck write -t -d -s 1 -l 100001 "$D/f"
	no_fault $FAIL_PAGE
	trace_off
	traced 'rpcrdma2_call_state: .* pulling -> wants pages'
	look
	counted client -eq 0 reconnects
	iocheck check -e -s 1 -l 100001 "$E/f"
}

# no_slab FUNCTION CMD...: without memory for anything that the server allocates there, once.
# That costs the connection, no more.
no_slab() {
	look
	mark
	fault_in "$1" $FAIL_SLAB ignore-gfp-wait=N times=1
	"${@:2}"
	fault_spent $FAIL_SLAB
	no_fault $FAIL_SLAB
	look
	counted client -eq 1 reconnects
}

# A thread has the pages, but no memory for an RDMA context.
no_reads() { # DEV VERS
	scratch reads
	nfs "$1" "$2"
	ls "$D"
	fail_pages rpcrdma2_call_start_pull min-order=0
	no_slab rpcrdma2_call_pull iocheck write -t -d -s 1 -l 100001 "$D/f"
	no_fault $FAIL_PAGE
	iocheck check -e -s 1 -l 100001 "$E/f"
}

no_writes() { # DEV VERS
	scratch writes
	iocheck write -t -s 1 -l 100001 "$E/f"
	nfs "$1" "$2"
	stat "$D/f"
	no_slab rpcrdma2_call_reply iocheck check -e -d -s 1 -l 100001 -b 100001 "$D/f"
}

# The client of NFSv4.1 has no memory for callbacks: mounting fails, once.
no_callbacks() { # DEV VERS
	scratch callbacks
	fault_in rpcrdma2_client_bc_setup $FAIL_SLAB ignore-gfp-wait=N times=1
	not nfs "$1" "$2"
	fault_spent $FAIL_SLAB
	no_fault $FAIL_SLAB
	fail_pages rpcrdma2_client_bc_setup min-order=0 times=1
	not nfs "$1" "$2"
	fault_spent $FAIL_PAGE
	no_fault $FAIL_PAGE
	nfs "$1" "$2"
	iocheck write -t -d -s 1 -l 100001 "$D/f"
}

# ---- memory regions ----

sent() { [ "$(grep -c 'rpcrdma2_call: .* mrs=[1-9]' $TRACE/trace)" = "$1" ]; }
wait_for_regions() { look; [ "${GREW[client.window_waits]}" = "$1" ]; }
xids() { sed -n "s/.* rpcrdma2_$1: .* xid=\\([^ ]*\\) .*$2.*/\\1/p" $TRACE/trace; }

# All MRs are in use, and for a while no more can be made: Calls wait for some, and go
# in the order in which they came. They come one after the other here.
in_order() { # DEV VERS
	local i have PIDS=()

	scratch order
	nfsd_threads 32
	parameter server_first_credits 32
	nfs "$1" "$2"
	for ((i = 0; i < 24; i++)); do
		iocheck write -t -l 40001 "$E/w$i"
		stat "$D/w$i" > /dev/null
	done
	freeze
	mark
	have=${NOW[client.mrs_allocated]}
	[ "$have" -le 20 ]
	trace_on rpcrdma2/rpcrdma2_queued rpcrdma2/rpcrdma2_call
	fail_pages rpcrdma2_mr_pool_grow min-order=0
	for ((i = 0; i < have + 4; i++)); do
		launch 1 iocheck write -d -s "$i" -l 40001 -b 40001 "$D/w$i"
		if [ $i -lt "$have" ]; then
			lab_wait 20 sent $((i + 1))
		else
			lab_wait 20 wait_for_regions $((i - have + 1))
		fi
	done
	no_fault $FAIL_PAGE
	lab_wait 20 sent $((have + 4))
	thaw
	trace_off
	wait_all "${PIDS[@]}"
	xids call " mrs=[1-9]" > "$LAB_TMP/sent"
	xids queued "" | grep -xFf "$LAB_TMP/sent" | diff - "$LAB_TMP/sent"
}

# ---- Receives of another size ----

# A server finds out only when the first message has come that its Receives may be
# smaller, and for a while there is no memory for such: the larger ones are used again
# meanwhile, and no longer.
no_smaller_receives() { # DEV VERS
	local was

	scratch smaller
	by_default client versions v1 send_size 12288
	fail_pages rpcrdma2_recv_put min-order=2
	nfs "$1" "$2"
	is server receive_capacity 1 12288
	mark
	iocheck write -t -d -s 1 -l 200001 -b 3000 "$D/f"
	iocheck check -e -d -s 1 -l 200001 -b 3000 "$D/f"
	was=$(value server receive_memory)
	look
	no_fault $FAIL_PAGE
	counted client -eq 0 reconnects
	[ "$was" -gt $((16 * 20480)) ]
	iocheck write -t -d -s 1 -l 200001 -b 3000 "$D/f"
	[ "$(value server receive_memory)" -lt $((was - 10 * 8192)) ]
}

# ---- who waits ----

# Who asked for memory that is worth waiting for, and how
askers() {
	sed -nE 's/^ *(.*)-[0-9]+ .* kmalloc: .*\[rpcrdma2\] .*gfp_flags=(GFP_NOIO[^ ]*) .*/\1 \2/p' \
		$TRACE/trace | sort -u
}

# Work items ask once, threads that execute RPCs as long as it takes.
patience() { # DEV VERS
	scratch patience
	iocheck write -t -s 1 -l 300001 "$E/f"
	# What is asked for when the connection is made is to be seen at the end
	echo 8192 > $TRACE/buffer_size_kb
	trace_on kmem/kmalloc
	nfs "$1" "$2"
	iocheck check -e -d -s 1 -l 300001 -b 100001 "$D/f"
	trace_off
	askers > "$LAB_TMP/askers"
	echo 1408 > $TRACE/buffer_size_kb
	cat "$LAB_TMP/askers"
	grep -q '^kworker/.*__GFP_NORETRY' "$LAB_TMP/askers"
	grep -q '^nfsd ' "$LAB_TMP/askers"
	[ -z "$(grep '^kworker/' "$LAB_TMP/askers" | grep -v __GFP_NORETRY)" ]
	[ -z "$(grep '^nfsd .*__GFP_NORETRY' "$LAB_TMP/askers")" ]
}

# ---- what a server keeps ----

keeps_more() { [ "$(value server rpc_memory)" -gt "$1" ]; }

# Many short WRITEs at once, and the server grants as many credits as it may. Each program
# is still writing when the last one starts.
granted() { # NUMBER
	at_once 20 iocheck write -t -d -s 1 -l 150000 -b 3000 "$D/w{}" &&
		is server credits_granted_to_peer 1 "$1"
}

# For Calls: an object for each credit, and some for those whose Reply is under
# way. And what RDMA Writes took.
kept() { # DEV VERS
	local n mem=() each

	scratch kept
	iocheck write -t -s 1 -l 100001 "$E/f"
	for n in 8 16; do
		small_window $n
		parameter server_first_credits 1
		nfs "$1" "$2"
		lab_wait 30 granted $n
		mem+=("$(value server rpc_memory)")
		[ $n = 16 ] || umount_nfs
	done
	each=$(((mem[1] - mem[0]) / 8))
	echo "$each bytes for a Call, ${mem[*]} in all"
	[ $each -gt 0 ]
	[ "${mem[0]}" -ge $((12 * each)) ]
	iocheck check -e -d -s 1 -l 100001 -b 100001 "$D/f"
	lab_wait 10 keeps_more "${mem[1]}"
}

# Buffers that were needed once, when the connection is idle

sends() { value "$1" send_memory; }
more_sends() { # CLIENT SERVER: so many bytes before
	at_once 30 iocheck write -t -d -s 1 -l 9000 -b 3000 "$D/w{}" &&
		[ "$(sends client)" -gt "$1" ] && [ "$(sends server)" -gt "$2" ]
}

# A few of 20 KiB at each end, control messages, and the slots themselves
FEW=$((6 * 20480))
few_sends() {
	[ "$(sends client)" -lt $FEW ] && [ "$(sends server)" -lt $FEW ]
}

given_back() { # DEV VERS
	scratch back
	parameter adapt_seconds 2
	nfs "$1" "$2"
	lab_wait 30 more_sends $((17 * 20480)) $((17 * 20480))
	lab_wait 20 few_sends
}

fs_start ours ext4
for_versions 4.2 kept "what a server keeps"
for_versions 4.2 given_back "both ends give memory back"
for_versions 4.2 patience "work items ask once for memory, threads wait"
for_versions 4.2 dirty_limit "beyond the dirty limit with one credit (F-10)"
if [ -e $FAIL_PAGE ]; then
	for_versions 4.2 small_receives "no large Receive buffers (F-11)"
	for_versions 4.2 small_sends "no large send buffers (F-11)"
	for_versions 4.2 no_bounce_pages "no bounce pages for a while"
	for_versions 4.2 thread_pages "no pages for RDMA Reads but those of threads"
	for_versions 4.2 no_reads "no memory for an RDMA Read"
	for_versions 4.2 no_writes "no memory for an RDMA Write"
	for_versions 4.2 no_callbacks "no memory for callbacks"
	for_versions 3 no_smaller_receives "no memory for smaller Receives for a while"
	# Opening a file of NFSv4 is writing, too
	for_versions 3 in_order "no memory regions for a while"
fi
