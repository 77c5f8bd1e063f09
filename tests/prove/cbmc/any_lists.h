/* SPDX-License-Identifier: GPL-2.0 */
/* The automaton in the place of rpcrdma2_chunk_decode(), which does the same (lists.c) */
#include "lists.h"

static bool lists_seen;

bool rpcrdma2_chunk_decode(struct rpcrdma2_reader *r, struct rpcrdma2_hdr *hdr)
{
	assert(r->p == room + 4 * lists_first && r->left == readable - 4 * lists_first);
	assert(hdr->inv_handle == lists_handle);
	lists_seen = true;
	lists_ok = read_lists(readable, hdr);
	if (lists_ok) {
		r->p = room + 4 * lists_end;
		r->left = readable - 4 * lists_end;
	}
	return lists_ok;
}
