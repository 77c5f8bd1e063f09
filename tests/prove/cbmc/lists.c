// SPDX-License-Identifier: GPL-2.0
/* Chunk lists are accepted, and filled into a header, as the automaton says. */
#include "proto/chunk_decode.c"
#include "lists.h"

/* What may follow the prefix in 64 bytes */
void lists(void)
{
	u32 len = any_message(48);
	struct rpcrdma2_reader r = { .p = room, .left = len, .msg = room, .len = len };
	struct rpcrdma2_hdr hdr = { .inv_handle = nondet_u32() }, wanted = hdr;

	lists_handle = hdr.inv_handle;
	lists_ok = read_lists(len, &wanted);
	assert(rpcrdma2_chunk_decode(&r, &hdr) == lists_ok);
	if (!lists_ok)
		return;
	assert(equal(hdr, wanted));
	assert(r.p == room + 4 * lists_end && r.left == len - 4 * lists_end);
}

/* Read lists of up to three entries, with equal and different Positions */
void three_reads(void)
{
	u32 len = any_message(76);
	struct rpcrdma2_reader r = { .p = room, .left = len, .msg = room, .len = len };
	struct rpcrdma2_hdr hdr = {}, wanted = {};

	read_lists(len, &wanted);
	assert(rd_read_list(&r, &hdr) == !!reads_end);
	if (!reads_end)
		return;
	assert(hdr.read_segs == wanted.read_segs && hdr.read_chunks == wanted.read_chunks);
	assert(hdr.has_pz == wanted.has_pz && hdr.max_segs == most_reads);
	assert(r.p == room + 4 * reads_end);
}
