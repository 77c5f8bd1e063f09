#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# nfsd answers a READ with pages of the page cache, and the thread gets its own pages back,
# so that it allocates none before the next RPC. But not the pages of another thread, which
# has deferred the Call.
#
# timeout: 90
# flavours: uml-debug qemu
. /lab/lib/lab.sh

MIB=$((1 << 20))

# LENGTH bytes in the page cache of the server, written with SEED
cached() { iocheck write -t -s "$1" -l "$2" "$E/f$1"; }
read_it() { iocheck check -d -s "$1" -l "$2" -b $MIB "$D/f$1"; }

# Allocations by nfsd's threads fail at most four times, but for those of an RPC.
no_pages() {
	address_range svc_process
	fail_pages svc_recv min-order=0 times=4 "reject-start=0x$START" "reject-end=0x$END"
}
missed_pages() { traced ' svc_alloc_arg_err: '; }

returned() {
	scratch returned
	cached 1 $((4 * MIB))
	read_it 1 $((4 * MIB))
	trace_on sunrpc/svc_alloc_arg_err
	no_pages
	read_it 1 $((4 * MIB))
	no_fault $FAIL_PAGE
	trace_off
	not missed_pages
}

# A READ at the end of a file uses a part of its Write chunk.
short() {
	local i

	scratch short
	for i in 1 2 3 4; do
		cached $i $((i * 50001))
	done
	for i in 1 4 2 3 4 1 3 2; do
		read_it $i $((i * 50001))
	done
}

# Without an array the READ is answered all the same.
no_array() { # DEV VERS
	scratch array
	cached 1 $MIB
	nfs "$1" "$2"
	stat "$D/f1"
	mark
	fault_in rpcrdma2_call_hold_pages $FAIL_SLAB ignore-gfp-wait=N times=1
	read_it 1 $MIB
	fault_spent $FAIL_SLAB
	no_fault $FAIL_SLAB
	look
	counted client -eq 0 reconnects
}

# The server does not know any more who may mount, and for a while mountd does not say. The
# thread that executes the deferred READ has to allocate pages.
deferred() {
	local mountd reader

	scratch deferred
	cached 1 $MIB
	read_it 1 $MIB
	trace_on sunrpc/svc_defer sunrpc/svc_alloc_arg_err
	mountd=$(pidof rpc.mountd)
	undo kill -CONT "$mountd"
	kill -STOP "$mountd"
	# Only a READ is to be sent
	exec 5< "$D/f1"
	exportfs -f
	dd bs=1M count=1 iflag=direct status=none <&5 > "$LAB_TMP/read" &
	reader=$!
	exec 5<&-
	lab_wait 20 traced ' svc_defer: '
	[ ! -e $FAIL_PAGE ] || no_pages
	kill -CONT "$mountd"
	wait $reader
	[ ! -e $FAIL_PAGE ] || lab_wait 10 missed_pages
	trace_off
	cmp "$LAB_TMP/read" "$E/f1"
}

fs_start_secure ours
mounted "3 4.2" "at the end of a file=short"
mounted 3 "the Call was deferred=deferred"
if [ -e $FAIL_PAGE ]; then
	mounted "3 4.2" "the thread has its pages again=returned"
	for_versions "3 4.2" no_array "no memory to hold them"
fi
