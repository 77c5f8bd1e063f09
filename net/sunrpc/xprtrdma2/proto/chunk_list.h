/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Iterators over the chunk lists of a decoded header, and what they add up to.
 *
 * Pure (see portable.h).
 */
#ifndef _RPCRDMA2_CHUNK_LIST_H
#define _RPCRDMA2_CHUNK_LIST_H

#include "proto/wire.h"

/**
 * struct rpcrdma2_cursor - a place in a chunk list
 * @p: next unread byte
 * @left: entries still to come
 */
struct rpcrdma2_cursor {
	const u8		*p;
	u32			left;
};

void rpcrdma2_read_list_begin(const struct rpcrdma2_hdr *hdr,
			      struct rpcrdma2_cursor *c);
bool rpcrdma2_read_list_next(struct rpcrdma2_cursor *c, u32 *position,
			     struct rpcrdma2_segment *seg);
void rpcrdma2_write_list_begin(const struct rpcrdma2_hdr *hdr,
			       struct rpcrdma2_cursor *c);
bool rpcrdma2_write_list_next(struct rpcrdma2_cursor *c,
			      struct rpcrdma2_cursor *segs);
bool rpcrdma2_hdr_reply_chunk(const struct rpcrdma2_hdr *hdr,
			      struct rpcrdma2_cursor *segs);
bool rpcrdma2_segs_next(struct rpcrdma2_cursor *segs,
			struct rpcrdma2_segment *seg);
u64 rpcrdma2_segs_bytes(struct rpcrdma2_cursor segs);

u64 rpcrdma2_hdr_reply_chunk_bytes(const struct rpcrdma2_hdr *reply);

#endif /* _RPCRDMA2_CHUNK_LIST_H */
