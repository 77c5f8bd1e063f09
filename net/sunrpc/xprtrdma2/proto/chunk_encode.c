// SPDX-License-Identifier: GPL-2.0
/*
 * Encoding of chunk lists: those of a Call, from the chunks that the
 * requester built, and those of a Reply, which repeat the chunks of its Call.
 *
 * Every function here is pure: no kernel service, no lock, no allocation,
 * any context.
 */

#include "proto/chunk_list.h"
#include "proto/wire_impl.h"

static void wr_segment(struct rpcrdma2_writer *w, const struct rpcrdma2_segment *seg)
{
	u8 *p = rpcrdma2_wr_room(w, RPCRDMA2_SEGMENT_BYTES);

	if (!p)
		return;
	put_unaligned_be32(seg->handle, p);
	put_unaligned_be32(seg->length, p + 4);
	put_unaligned_be64(seg->offset, p + 8);
}

static void wr_read_chunk(struct rpcrdma2_writer *w,
			  const struct rpcrdma2_chunk *chunk, u32 position)
{
	u32 i;

	for (i = 0; chunk && i < chunk->nsegs; i++) {
		rpcrdma2_wr_u32(w, LIST_ENTRY);
		rpcrdma2_wr_u32(w, position);
		wr_segment(w, &chunk->seg[i]);
	}
}

/* Write an entry of the Write list or a Reply chunk, which have the same form; NULL: none */
static void wr_result_chunk(struct rpcrdma2_writer *w,
			    const struct rpcrdma2_chunk *chunk)
{
	u32 i;

	rpcrdma2_wr_u32(w, chunk ? LIST_ENTRY : LIST_END);
	if (!chunk)
		return;
	rpcrdma2_wr_u32(w, chunk->nsegs);
	for (i = 0; i < chunk->nsegs; i++)
		wr_segment(w, &chunk->seg[i]);
}

static bool chunk_ok(const struct rpcrdma2_chunk *chunk)
{
	return !chunk || chunk->nsegs <= RPCRDMA2_MAX_SEGS;
}

/**
 * rpcrdma2_call_chunks_ok - check the chunks of a Call to be sent
 * @call: Call to be encoded
 *
 * Context: any. Requirements: CHK-9, MSG-2, MSG-8.
 * Return: false if the caller made a mistake.
 */
bool rpcrdma2_call_chunks_ok(const struct rpcrdma2_call_hdr *call)
{
	const struct rpcrdma2_chunk *read = call->read;

	if (!chunk_ok(call->pz) || !chunk_ok(read) ||
	    !chunk_ok(call->write) || !chunk_ok(call->reply))
		return false;
	if (read && (!read->position || read->position % 4))
		return false;
	if (!call->nomsg)
		return !call->pz;
	return call->pz && call->pz->nsegs;
}

static u32 read_chunk_len(const struct rpcrdma2_chunk *chunk)
{
	return chunk ? chunk->nsegs * RPCRDMA2_READ_ENTRY_BYTES : 0;
}

/**
 * rpcrdma2_call_chunks_len - bytes that the chunks add to a header
 * @call: Call to be encoded
 *
 * Context: any.
 * Return: bytes beyond the three words of empty lists.
 */
u32 rpcrdma2_call_chunks_len(const struct rpcrdma2_call_hdr *call)
{
	u32 len = read_chunk_len(call->pz) + read_chunk_len(call->read);

	if (call->write)
		len += 8 + call->write->nsegs * RPCRDMA2_SEGMENT_BYTES;
	if (call->reply)
		len += 4 + call->reply->nsegs * RPCRDMA2_SEGMENT_BYTES;
	return len;
}

/**
 * rpcrdma2_call_chunks_put - write the chunk lists of a Call
 * @w: writer
 * @call: Call that passed rpcrdma2_call_chunks_ok()
 *
 * Context: any. Requirements: CHK-1 to CHK-5, CHK-12 (ascending Position).
 */
void rpcrdma2_call_chunks_put(struct rpcrdma2_writer *w,
			      const struct rpcrdma2_call_hdr *call)
{
	wr_read_chunk(w, call->pz, 0);
	wr_read_chunk(w, call->read, call->read ? call->read->position : 0);
	rpcrdma2_wr_u32(w, LIST_END);
	wr_result_chunk(w, call->write);
	if (call->write)
		rpcrdma2_wr_u32(w, LIST_END);
	wr_result_chunk(w, call->reply);
}

static u32 chunk_written(const struct rpcrdma2_reply_hdr *reply, u32 index)
{
	return index < reply->nwritten ? reply->written[index] : 0;
}

/* The message goes to the Reply chunk or inline, not both (LNG-7, MSG-3). */
static bool reply_form_ok(const struct rpcrdma2_reply_hdr *reply)
{
	if (reply->nwritten > reply->call->write_chunks)
		return false;
	if (reply->nomsg)
		return reply->call->reply_chunk;
	return !reply->reply_written;
}

/* Repeat a chunk, with @bytes spread over its segments from the first on. Returns false
 * if the chunk is too short.
 */
static bool wr_returned_chunk(struct rpcrdma2_writer *w,
			      struct rpcrdma2_cursor segs, u32 bytes)
{
	struct rpcrdma2_segment seg;

	rpcrdma2_wr_u32(w, LIST_ENTRY);
	rpcrdma2_wr_u32(w, segs.left);
	while (rpcrdma2_segs_next(&segs, &seg)) {
		seg.length = min(bytes, seg.length);
		wr_segment(w, &seg);
		bytes -= seg.length;
	}
	return !bytes;
}

static bool wr_returned_chunks(struct rpcrdma2_writer *w,
			       const struct rpcrdma2_reply_hdr *reply)
{
	struct rpcrdma2_cursor writes, segs;
	bool fits = true;
	u32 i;

	rpcrdma2_wr_u32(w, LIST_END);

	rpcrdma2_write_list_begin(reply->call, &writes);
	for (i = 0; rpcrdma2_write_list_next(&writes, &segs); i++)
		if (!wr_returned_chunk(w, segs, chunk_written(reply, i)))
			fits = false;
	rpcrdma2_wr_u32(w, LIST_END);

	if (rpcrdma2_hdr_reply_chunk(reply->call, &segs))
		return wr_returned_chunk(w, segs, reply->reply_written) && fits;
	rpcrdma2_wr_u32(w, LIST_END);
	return fits;
}

/**
 * rpcrdma2_reply_chunks_put - write the chunk lists of a Reply
 * @w: writer
 * @reply: Reply to be encoded
 *
 * Context: any. Requirements: CHK-13 to CHK-15, CHK-17, CHK-18, CHK-23, LNG-7, LNG-8,
 * MSG-3.
 * Return: false if the caller made a mistake: the Reply does not suit its chunks.
 */
bool rpcrdma2_reply_chunks_put(struct rpcrdma2_writer *w,
			       const struct rpcrdma2_reply_hdr *reply)
{
	return reply_form_ok(reply) && wr_returned_chunks(w, reply);
}
