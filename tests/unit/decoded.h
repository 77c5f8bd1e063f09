/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Questions about a received message that unit tests and fuzzers ask, and the module does
 * not.
 */
#ifndef _RPCRDMA2_DECODED_H
#define _RPCRDMA2_DECODED_H

#include "../../net/sunrpc/xprtrdma2/proto/chunk_list.h"
#include "../../net/sunrpc/xprtrdma2/proto/wire_impl.h"

/* The message must not be answered, however it goes on. */
static inline bool too_short(const void *msg, u32 len)
{
	struct rpcrdma2_reader r;
	struct rpcrdma2_hdr hdr;

	return !rpcrdma2_wire_prefix(&r, msg, len, &hdr);
}

static inline u32 count_segs(struct rpcrdma2_cursor segs)
{
	struct rpcrdma2_segment seg;
	u32 n = 0;

	while (rpcrdma2_segs_next(&segs, &seg))
		n++;
	return n;
}

/* Walk all lists of a header; returns the number of segments seen. */
static inline u32 walk(const struct rpcrdma2_hdr *hdr)
{
	struct rpcrdma2_cursor c, segs;
	struct rpcrdma2_segment seg;
	u32 position, n = 0;

	rpcrdma2_read_list_begin(hdr, &c);
	while (rpcrdma2_read_list_next(&c, &position, &seg))
		n++;
	rpcrdma2_write_list_begin(hdr, &c);
	while (rpcrdma2_write_list_next(&c, &segs))
		n += count_segs(segs);
	if (rpcrdma2_hdr_reply_chunk(hdr, &segs))
		n += count_segs(segs);
	return n;
}

/* Bytes that a responder put into Write chunk @index; 0 if there is none */
static inline u64 write_list_bytes(const struct rpcrdma2_hdr *reply, u32 index)
{
	struct rpcrdma2_cursor writes, segs;

	rpcrdma2_write_list_begin(reply, &writes);
	do {
		if (!rpcrdma2_write_list_next(&writes, &segs))
			return 0;
	} while (index--);
	return rpcrdma2_segs_bytes(segs);
}

/* The chunks of a Call, as a requester has them */
struct call_chunks {
	struct rpcrdma2_chunk	pz, read, write, reply;
};

static inline bool chunk_of(struct rpcrdma2_cursor segs, struct rpcrdma2_chunk *chunk)
{
	if (segs.left > RPCRDMA2_MAX_SEGS)
		return false;
	while (rpcrdma2_segs_next(&segs, &chunk->seg[chunk->nsegs]))
		if (++chunk->nsegs == RPCRDMA2_MAX_SEGS)
			break;
	return true;
}

static inline bool reads_of(const struct rpcrdma2_hdr *hdr, struct call_chunks *chunks)
{
	struct rpcrdma2_chunk *chunk;
	struct rpcrdma2_segment seg;
	struct rpcrdma2_cursor c;
	u32 position;

	rpcrdma2_read_list_begin(hdr, &c);
	while (rpcrdma2_read_list_next(&c, &position, &seg)) {
		if (!position && chunks->read.nsegs)
			return false;		/* we send it first */
		chunk = position ? &chunks->read : &chunks->pz;
		if (chunk->nsegs == RPCRDMA2_MAX_SEGS ||
		    (chunk->nsegs && chunk->position != position))
			return false;
		chunk->position = position;
		chunk->seg[chunk->nsegs++] = seg;
	}
	return true;
}

/* What to encode to get this Call again; false if we would not send such a Call */
static inline bool call_again(const struct rpcrdma2_hdr *hdr, struct call_chunks *chunks,
			      struct rpcrdma2_call_hdr *call)
{
	struct rpcrdma2_cursor c, segs;

	memset(chunks, 0, sizeof(*chunks));
	*call = (struct rpcrdma2_call_hdr){
		.xid		= hdr->xid,
		.credit		= hdr->credit,
		.nomsg		= hdr->htype == RDMA2_NOMSG,
		.inv_handle	= hdr->inv_handle,
	};
	if (!reads_of(hdr, chunks) || hdr->write_chunks > 1)
		return false;
	if (chunks->pz.nsegs)
		call->pz = &chunks->pz;
	if (chunks->read.nsegs)
		call->read = &chunks->read;
	rpcrdma2_write_list_begin(hdr, &c);
	if (rpcrdma2_write_list_next(&c, &segs)) {
		if (!chunk_of(segs, &chunks->write))
			return false;
		call->write = &chunks->write;
	}
	if (rpcrdma2_hdr_reply_chunk(hdr, &segs)) {
		if (!chunk_of(segs, &chunks->reply))
			return false;
		call->reply = &chunks->reply;
	}
	return true;
}

#endif /* _RPCRDMA2_DECODED_H */
