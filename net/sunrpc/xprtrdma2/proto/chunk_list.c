// SPDX-License-Identifier: GPL-2.0
/*
 * Iterators over the chunk lists of a decoded header.
 *
 * Every function here is pure: no kernel service, no lock, no allocation,
 * any context. The counts in the message are trusted: chunk_decode.c has
 * checked them.
 */

#include "proto/chunk_list.h"
#include "proto/wire_impl.h"

/**
 * rpcrdma2_read_list_begin - start to walk the Read list
 * @hdr: decoded header; its message must stay readable while walking
 * @c: cursor to set
 *
 * Context: any. Requirements: CHK-3.
 */
void rpcrdma2_read_list_begin(const struct rpcrdma2_hdr *hdr,
			      struct rpcrdma2_cursor *c)
{
	c->p = hdr->read_list;
	c->left = hdr->read_segs;
}

/**
 * rpcrdma2_read_list_next - next entry of the Read list
 * @c: cursor
 * @position: Position of the entry, bytes
 * @seg: its segment
 *
 * Context: any.
 * Return: false at the end of the list.
 */
bool rpcrdma2_read_list_next(struct rpcrdma2_cursor *c, u32 *position,
			     struct rpcrdma2_segment *seg)
{
	if (!c->left)
		return false;
	c->left--;
	*position = get_unaligned_be32(c->p + 4);
	rpcrdma2_get_segment(c->p + 8, seg);
	c->p += RPCRDMA2_READ_ENTRY_BYTES;
	return true;
}

/**
 * rpcrdma2_write_list_begin - start to walk the Write list
 * @hdr: decoded header; its message must stay readable while walking
 * @c: cursor to set
 *
 * Context: any. Requirements: CHK-4.
 */
void rpcrdma2_write_list_begin(const struct rpcrdma2_hdr *hdr,
			       struct rpcrdma2_cursor *c)
{
	c->p = hdr->write_list;
	c->left = hdr->write_chunks;
}

/* A count word and its segments; returns the first byte behind them. */
static const u8 *counted_segs(const u8 *count, struct rpcrdma2_cursor *segs)
{
	segs->left = get_unaligned_be32(count);
	segs->p = count + 4;
	return segs->p + (size_t)segs->left * RPCRDMA2_SEGMENT_BYTES;
}

/**
 * rpcrdma2_write_list_next - next Write chunk
 * @c: cursor
 * @segs: cursor to set to the segments of that chunk, perhaps none
 *
 * Context: any.
 * Return: false at the end of the list.
 */
bool rpcrdma2_write_list_next(struct rpcrdma2_cursor *c,
			      struct rpcrdma2_cursor *segs)
{
	if (!c->left)
		return false;
	c->left--;
	c->p = counted_segs(c->p + 4, segs);
	return true;
}

/**
 * rpcrdma2_hdr_reply_chunk - the Reply chunk
 * @hdr: decoded header; its message must stay readable while walking
 * @segs: cursor to set to the segments of the chunk, perhaps none
 *
 * Context: any. Requirements: CHK-5.
 * Return: false if there is no Reply chunk.
 */
bool rpcrdma2_hdr_reply_chunk(const struct rpcrdma2_hdr *hdr,
			      struct rpcrdma2_cursor *segs)
{
	segs->p = NULL;
	segs->left = 0;
	if (!hdr->reply_chunk)
		return false;
	counted_segs(hdr->reply_chunk, segs);
	return true;
}

/**
 * rpcrdma2_segs_next - next segment of a Write or Reply chunk
 * @segs: cursor
 * @seg: the segment
 *
 * Context: any.
 * Return: false behind the last segment.
 */
bool rpcrdma2_segs_next(struct rpcrdma2_cursor *segs,
			struct rpcrdma2_segment *seg)
{
	if (!segs->left)
		return false;
	segs->left--;
	rpcrdma2_get_segment(segs->p, seg);
	segs->p += RPCRDMA2_SEGMENT_BYTES;
	return true;
}

/**
 * rpcrdma2_segs_bytes - capacity of the segments still to come
 * @segs: cursor, by value: the caller's does not move
 *
 * Context: any. Requirements: CHK-25 (the sum has 64 bits).
 * Return: bytes.
 */
u64 rpcrdma2_segs_bytes(struct rpcrdma2_cursor segs)
{
	struct rpcrdma2_segment seg;
	u64 sum = 0;

	while (rpcrdma2_segs_next(&segs, &seg))
		sum += seg.length;
	return sum;
}

/**
 * rpcrdma2_hdr_reply_chunk_bytes - what a responder put into the Reply chunk
 * @reply: decoded header of the Reply
 *
 * Context: any. Requirements: LNG-8.
 * Return: bytes; 0 if there is no Reply chunk.
 */
u64 rpcrdma2_hdr_reply_chunk_bytes(const struct rpcrdma2_hdr *reply)
{
	struct rpcrdma2_cursor segs;

	rpcrdma2_hdr_reply_chunk(reply, &segs);
	return rpcrdma2_segs_bytes(segs);
}
