// SPDX-License-Identifier: GPL-2.0
/*
 * What the headers of all versions have in common: the first four words,
 * the chunk lists, iterators over them, ERR_VERS, and the RDMA-CM private
 * data. The codecs themselves are in wire_v1.c and wire_v2.c.
 *
 * Every function here is pure: no kernel service, no lock, no allocation,
 * any context. Work is linear in the bytes received; a count from the wire
 * is never used before that many bytes were seen to be there.
 */

#include "proto/wire_impl.h"

/* Read chunks that are told apart exactly; see struct read_tally. */
#define EXACT_POSITIONS		8U

#define LIST_END		0U
#define LIST_ENTRY		1U

#define EMPTY_LISTS		12U	/* LIST_END three times */

#define RPC_MSG_MIN		8U	/* XID and msg_type */

/* Decoding: first words */

/**
 * rpcrdma2_wire_peek - read the four words that all versions share
 * @msg: received message
 * @len: bytes received
 * @hdr: where to put xid, vers, credit and htype; other members are left
 *
 * For the time before the version of a connection is settled.
 *
 * Context: any. Requirements: HDR-2, HDR-4, EXT-9.
 * Return: false if the message is shorter than 16 bytes.
 */
bool rpcrdma2_wire_peek(const void *msg, u32 len, struct rpcrdma2_hdr *hdr)
{
	const u8 *p = msg;

	if (len < RPCRDMA_COMMON_PREFIX)
		return false;
	hdr->xid = get_unaligned_be32(p);
	hdr->vers = get_unaligned_be32(p + 4);
	hdr->credit = get_unaligned_be32(p + 8);
	hdr->htype = get_unaligned_be32(p + 12);
	return true;
}

/* Bytes of the shortest message that has these first words */
static u32 least_len(const struct rpcrdma2_hdr *hdr)
{
	if (hdr->vers == RPCRDMA_VERS_2)
		return RPCRDMA2_PREFIX;
	if (hdr->vers == RPCRDMA_VERS_1 && hdr->htype != RDMA2_ERROR)
		return RPCRDMA1_HDR_MIN;
	return RPCRDMA_COMMON_PREFIX;
}

/**
 * rpcrdma2_wire_too_short - must a message be dropped because of its length?
 * @msg: received message
 * @len: bytes received
 *
 * Below these lengths the XID cannot be trusted. What is longer, but too
 * short for its type, is answered.
 *
 * Context: any. Requirements: HDR-5, D-9.
 * Return: true if it is to be dropped without an answer. False also means
 * that the four common words are there.
 */
bool rpcrdma2_wire_too_short(const void *msg, u32 len)
{
	struct rpcrdma2_hdr hdr;

	return !rpcrdma2_wire_peek(msg, len, &hdr) || len < least_len(&hdr);
}

/**
 * rpcrdma2_wire_prefix - begin to decode a message
 * @r: reader, set to the first byte after the common prefix
 * @msg: received message
 * @len: bytes received
 * @hdr: header, cleared and filled as by rpcrdma2_wire_peek()
 *
 * Context: any. Requirements: HDR-1, HDR-5, D-9.
 * Return: false if the message is so short that it must not be answered.
 */
bool rpcrdma2_wire_prefix(struct rpcrdma2_reader *r, const void *msg, u32 len,
			  struct rpcrdma2_hdr *hdr)
{
	memset(hdr, 0, sizeof(*hdr));
	if (!rpcrdma2_wire_peek(msg, len, hdr) || len < least_len(hdr))
		return false;

	r->p = msg;
	r->left = len;
	r->msg = msg;
	r->len = len;
	return rpcrdma2_rd_skip(r, RPCRDMA_COMMON_PREFIX);
}

/* Decoding: chunk lists */

/* A list continues with the word 1 and ends with the word 0 (CHK-6). */
static bool rd_discriminator(struct rpcrdma2_reader *r, bool *more)
{
	u32 v;

	if (!rpcrdma2_rd_u32(r, &v) || v > LIST_ENTRY)
		return false;
	*more = v == LIST_ENTRY;
	return true;
}

/* The last byte of a segment must have an address (CHK-25). */
static bool rd_segment(struct rpcrdma2_reader *r)
{
	struct rpcrdma2_segment seg;
	const u8 *p = r->p;

	if (!rpcrdma2_rd_skip(r, RPCRDMA2_SEGMENT_BYTES))
		return false;
	rpcrdma2_get_segment(p, &seg);
	return !seg.length || seg.offset + (seg.length - 1) >= seg.offset;
}

/* A segment count and that many segments (CHK-2, CHK-7). */
static bool rd_counted_segments(struct rpcrdma2_reader *r,
				struct rpcrdma2_hdr *hdr)
{
	u32 i, n;

	if (!rpcrdma2_rd_u32(r, &n))
		return false;
	if (n > r->left / RPCRDMA2_SEGMENT_BYTES)
		return false;
	for (i = 0; i < n; i++)
		if (!rd_segment(r))
			return false;
	hdr->max_segs = max(hdr->max_segs, n);
	return true;
}

/*
 * Which Positions occur in a Read list, and how often. Segments of one
 * Position need not be neighbours (D-20), so telling chunks apart exactly
 * would take work or memory that the peer chooses. The first
 * EXACT_POSITIONS positions are exact. The entries beyond are counted as
 * if each change of Position began a chunk and as if all of them were in
 * one chunk: both figures are then upper bounds, on a message that has more
 * chunks than any responder takes.
 */
struct read_tally {
	u32	position[EXACT_POSITIONS];
	u32	segs[EXACT_POSITIONS];
	u32	used;
	u32	rest_position;
	u32	rest_segs;
};

/* Count an entry; returns true if it begins a chunk not seen before. */
static bool tally_entry(struct read_tally *t, u32 position, u32 *nsegs)
{
	bool fresh;
	u32 i;

	for (i = 0; i < t->used; i++) {
		if (t->position[i] != position)
			continue;
		*nsegs = ++t->segs[i];
		return false;
	}
	if (t->used < EXACT_POSITIONS) {
		t->position[t->used] = position;
		t->segs[t->used++] = 1;
		*nsegs = 1;
		return true;
	}
	fresh = !t->rest_segs || t->rest_position != position;
	t->rest_position = position;
	*nsegs = ++t->rest_segs;
	return fresh;
}

/* CHK-3, CHK-9, CHK-11, CHK-12 */
static bool rd_read_list(struct rpcrdma2_reader *r, struct rpcrdma2_hdr *hdr)
{
	struct read_tally tally = {};
	u32 position, nsegs;
	const u8 *entry;
	bool more, fresh;

	for (;;) {
		entry = r->p;
		if (!rd_discriminator(r, &more))
			return false;
		if (!more)
			return true;
		if (!rpcrdma2_rd_u32(r, &position) || position % 4)
			return false;
		if (!rd_segment(r))
			return false;

		if (!hdr->read_segs++)
			hdr->read_list = entry;
		fresh = tally_entry(&tally, position, &nsegs);
		if (position && fresh)
			hdr->read_chunks++;
		else if (!position)
			hdr->has_pz = true;
		hdr->max_segs = max(hdr->max_segs, nsegs);
	}
}

/* CHK-4 */
static bool rd_write_list(struct rpcrdma2_reader *r, struct rpcrdma2_hdr *hdr)
{
	const u8 *entry;
	bool more;

	for (;;) {
		entry = r->p;
		if (!rd_discriminator(r, &more))
			return false;
		if (!more)
			return true;
		if (!rd_counted_segments(r, hdr))
			return false;
		if (!hdr->write_chunks++)
			hdr->write_list = entry;
	}
}

/* CHK-5 */
static bool rd_reply_chunk(struct rpcrdma2_reader *r, struct rpcrdma2_hdr *hdr)
{
	const u8 *count;
	bool present;

	if (!rd_discriminator(r, &present))
		return false;
	if (!present)
		return true;
	count = r->p;
	if (!rd_counted_segments(r, hdr))
		return false;
	hdr->reply_chunk = count;
	return true;
}

/* Most messages have no chunks. */
static bool lists_empty(const struct rpcrdma2_reader *r)
{
	return r->left >= EMPTY_LISTS && !get_unaligned_be64(r->p) &&
	       !get_unaligned_be32(r->p + 8);
}

/**
 * rpcrdma2_wire_lists - decode Read list, Write list and Reply chunk
 * @r: reader at the first word of the Read list; left behind the lists
 * @hdr: header to fill
 *
 * Context: any. Requirements: CHK-1 to CHK-7, CHK-9, CHK-12, CHK-25.
 * Return: false if the lists cannot be parsed or a segment is impossible.
 */
bool rpcrdma2_wire_lists(struct rpcrdma2_reader *r, struct rpcrdma2_hdr *hdr)
{
	if (lists_empty(r))
		return rpcrdma2_rd_skip(r, EMPTY_LISTS);
	return rd_read_list(r, hdr) && rd_write_list(r, hdr) &&
	       rd_reply_chunk(r, hdr);
}

/**
 * rpcrdma2_wire_body - take what follows the lists as the body
 * @r: reader behind the lists
 * @hdr: header to fill; xid and htype are set
 * @msg_type: MSG: where to put the msg_type of the RPC message
 *
 * Only MSG has a body here; bytes behind a NOMSG are ignored (CHK-31).
 *
 * Context: any. Requirements: HDR-6, HDR-7, HT-5, MSG-1.
 * Return: false if the body of a MSG is too short to be an RPC message or
 * has another XID than the header.
 */
bool rpcrdma2_wire_body(const struct rpcrdma2_reader *r,
			struct rpcrdma2_hdr *hdr, u32 *msg_type)
{
	hdr->hdr_len = r->len - r->left;
	if (hdr->htype == RDMA2_NOMSG)
		return true;

	hdr->body = r->p;
	hdr->body_len = r->left;
	if (r->left < RPC_MSG_MIN)
		return false;
	*msg_type = get_unaligned_be32(r->p + 4);
	return get_unaligned_be32(r->p) == hdr->xid;
}

/**
 * rpcrdma2_wire_shape_ok - do the chunks suit the kind of message?
 * @hdr: MSG or NOMSG with its lists decoded and its direction known
 *
 * Context: any. Requirements: CHK-13, MSG-2, MSG-3, MSG-8.
 * Return: false if a Call of this shape is to be refused with BAD_XDR, or
 * a Reply of this shape is to be dropped.
 */
bool rpcrdma2_wire_shape_ok(const struct rpcrdma2_hdr *hdr)
{
	if (!hdr->response)
		return hdr->has_pz == (hdr->htype == RDMA2_NOMSG);
	if (hdr->read_segs)
		return false;
	if (hdr->htype == RDMA2_NOMSG)
		return hdr->reply_chunk;
	return !hdr->reply_chunk || !rpcrdma2_hdr_reply_chunk_bytes(hdr);
}

/* Iterators */

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

/* Where a walk over all segments of a header is. */
struct all_segments {
	struct rpcrdma2_cursor	reads;
	struct rpcrdma2_cursor	writes;
	struct rpcrdma2_cursor	segs;
	bool			reply_done;
};

static void all_begin(const struct rpcrdma2_hdr *hdr, struct all_segments *a)
{
	rpcrdma2_read_list_begin(hdr, &a->reads);
	rpcrdma2_write_list_begin(hdr, &a->writes);
	a->segs.p = NULL;
	a->segs.left = 0;
	a->reply_done = false;
}

static bool all_next(const struct rpcrdma2_hdr *hdr, struct all_segments *a,
		     struct rpcrdma2_segment *seg)
{
	u32 position;

	if (rpcrdma2_read_list_next(&a->reads, &position, seg))
		return true;
	for (;;) {
		if (rpcrdma2_segs_next(&a->segs, seg))
			return true;
		if (rpcrdma2_write_list_next(&a->writes, &a->segs))
			continue;
		if (a->reply_done)
			return false;
		a->reply_done = true;
		rpcrdma2_hdr_reply_chunk(hdr, &a->segs);
	}
}

/**
 * rpcrdma2_hdr_has_handle - is a handle one of this header's?
 * @hdr: decoded header
 * @handle: the handle
 *
 * Context: any. Requirements: RINV-1, RINV-8.
 * Return: true if some segment of the header has @handle.
 */
bool rpcrdma2_hdr_has_handle(const struct rpcrdma2_hdr *hdr, u32 handle)
{
	struct rpcrdma2_segment seg;
	struct all_segments a;

	all_begin(hdr, &a);
	while (all_next(hdr, &a, &seg))
		if (seg.handle == handle)
			return true;
	return false;
}

/**
 * rpcrdma2_hdr_only_handle - the handle that version 1 may invalidate
 * @hdr: decoded header
 *
 * Context: any. Requirements: RINV-21.
 * Return: the handle that all segments share, 0 if there is none or more
 * than one.
 */
u32 rpcrdma2_hdr_only_handle(const struct rpcrdma2_hdr *hdr)
{
	struct rpcrdma2_segment seg;
	struct all_segments a;
	bool first = true;
	u32 handle = 0;

	all_begin(hdr, &a);
	while (all_next(hdr, &a, &seg)) {
		if (!first && seg.handle != handle)
			return 0;
		handle = seg.handle;
		first = false;
	}
	return handle;
}

/**
 * rpcrdma2_write_list_bytes - what a responder put into a Write chunk
 * @reply: decoded header of the Reply
 * @index: which Write chunk, from 0
 *
 * Context: any. Requirements: CHK-17, CHK-19: an empty and an unused chunk
 * both give 0.
 * Return: bytes; 0 if there is no such chunk.
 */
u64 rpcrdma2_write_list_bytes(const struct rpcrdma2_hdr *reply, u32 index)
{
	struct rpcrdma2_cursor writes, segs;

	rpcrdma2_write_list_begin(reply, &writes);
	do {
		if (!rpcrdma2_write_list_next(&writes, &segs))
			return 0;
	} while (index--);
	return rpcrdma2_segs_bytes(segs);
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

/* Encoding: shared parts */

/**
 * rpcrdma2_wire_put_prefix - write the four words of every version
 * @w: writer
 * @xid: rdma_xid
 * @vers: rdma_vers
 * @credit: rdma_credit
 * @htype: rdma_htype
 *
 * Context: any. Requirements: HDR-1, HDR-10.
 */
void rpcrdma2_wire_put_prefix(struct rpcrdma2_writer *w, u32 xid, u32 vers,
			      u32 credit, u32 htype)
{
	u8 *p = rpcrdma2_wr_room(w, RPCRDMA_COMMON_PREFIX);

	if (!p)
		return;
	put_unaligned_be32(xid, p);
	put_unaligned_be32(vers, p + 4);
	put_unaligned_be32(credit, p + 8);
	put_unaligned_be32(htype, p + 12);
}

static void wr_segment(struct rpcrdma2_writer *w, u32 handle, u32 length,
		       u64 offset)
{
	u8 *p = rpcrdma2_wr_room(w, RPCRDMA2_SEGMENT_BYTES);

	if (!p)
		return;
	put_unaligned_be32(handle, p);
	put_unaligned_be32(length, p + 4);
	put_unaligned_be64(offset, p + 8);
}

static void wr_read_chunk(struct rpcrdma2_writer *w,
			  const struct rpcrdma2_chunk *chunk, u32 position)
{
	const struct rpcrdma2_segment *seg;
	u32 i;

	for (i = 0; chunk && i < chunk->nsegs; i++) {
		seg = &chunk->seg[i];
		rpcrdma2_wr_u32(w, LIST_ENTRY);
		rpcrdma2_wr_u32(w, position);
		wr_segment(w, seg->handle, seg->length, seg->offset);
	}
}

/* A Write list entry or a present Reply chunk: they look the same. */
static void wr_counted_chunk(struct rpcrdma2_writer *w,
			     const struct rpcrdma2_chunk *chunk)
{
	const struct rpcrdma2_segment *seg;
	u32 i;

	rpcrdma2_wr_u32(w, LIST_ENTRY);
	rpcrdma2_wr_u32(w, chunk->nsegs);
	for (i = 0; i < chunk->nsegs; i++) {
		seg = &chunk->seg[i];
		wr_segment(w, seg->handle, seg->length, seg->offset);
	}
}

/* Most messages have no chunks. */
static void wr_empty_lists(struct rpcrdma2_writer *w)
{
	u8 *p = rpcrdma2_wr_room(w, EMPTY_LISTS);

	if (p)
		memset(p, LIST_END, EMPTY_LISTS);
}

static bool chunk_ok(const struct rpcrdma2_chunk *chunk)
{
	return !chunk || chunk->nsegs <= RPCRDMA2_MAX_SEGS;
}

/**
 * rpcrdma2_wire_call_ok - could a Call with these chunks be right?
 * @call: Call to be encoded
 *
 * Context: any. Requirements: CHK-9, MSG-2, MSG-8.
 * Return: false if the caller made a mistake.
 */
bool rpcrdma2_wire_call_ok(const struct rpcrdma2_call_hdr *call)
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
 * rpcrdma2_wire_call_lists_len - bytes that the chunks add to a header
 * @call: Call to be encoded
 *
 * Context: any.
 * Return: bytes beyond the three words of empty lists.
 */
u32 rpcrdma2_wire_call_lists_len(const struct rpcrdma2_call_hdr *call)
{
	u32 len = read_chunk_len(call->pz) + read_chunk_len(call->read);

	if (call->write)
		len += 8 + call->write->nsegs * RPCRDMA2_SEGMENT_BYTES;
	if (call->reply)
		len += 4 + call->reply->nsegs * RPCRDMA2_SEGMENT_BYTES;
	return len;
}

/**
 * rpcrdma2_wire_put_call_lists - write the chunk lists of a Call
 * @w: writer
 * @call: Call that passed rpcrdma2_wire_call_ok()
 *
 * Context: any. Requirements: CHK-1 to CHK-5, CHK-12 (ascending Position).
 */
void rpcrdma2_wire_put_call_lists(struct rpcrdma2_writer *w,
				  const struct rpcrdma2_call_hdr *call)
{
	if (!call->pz && !call->read && !call->write && !call->reply) {
		wr_empty_lists(w);
		return;
	}
	wr_read_chunk(w, call->pz, 0);
	wr_read_chunk(w, call->read, call->read ? call->read->position : 0);
	rpcrdma2_wr_u32(w, LIST_END);

	if (call->write)
		wr_counted_chunk(w, call->write);
	rpcrdma2_wr_u32(w, LIST_END);

	if (call->reply)
		wr_counted_chunk(w, call->reply);
	else
		rpcrdma2_wr_u32(w, LIST_END);
}

static u32 chunk_written(const struct rpcrdma2_reply_hdr *reply, u32 index)
{
	return index < reply->nwritten ? reply->written[index] : 0;
}

/**
 * rpcrdma2_wire_reply_ok - can these chunks hold what was written?
 * @reply: Reply to be encoded
 *
 * Context: any. Requirements: CHK-23, LNG-7, MSG-3.
 * Return: false if the caller made a mistake.
 */
bool rpcrdma2_wire_reply_ok(const struct rpcrdma2_reply_hdr *reply)
{
	struct rpcrdma2_cursor writes, segs;
	u32 i;

	rpcrdma2_write_list_begin(reply->call, &writes);
	for (i = 0; rpcrdma2_write_list_next(&writes, &segs); i++)
		if (chunk_written(reply, i) > rpcrdma2_segs_bytes(segs))
			return false;
	for (; i < reply->nwritten; i++)
		if (reply->written[i])
			return false;

	if (!rpcrdma2_hdr_reply_chunk(reply->call, &segs))
		return !reply->nomsg && !reply->reply_written;
	if (!reply->nomsg)
		return !reply->reply_written;
	return reply->reply_written <= rpcrdma2_segs_bytes(segs);
}

/**
 * rpcrdma2_wire_reply_lists_len - bytes that the chunks add to a header
 * @reply: Reply to be encoded
 *
 * Context: any.
 * Return: bytes beyond the three words of empty lists.
 */
u32 rpcrdma2_wire_reply_lists_len(const struct rpcrdma2_reply_hdr *reply)
{
	struct rpcrdma2_cursor writes, segs;
	u32 len = 0;

	rpcrdma2_write_list_begin(reply->call, &writes);
	while (rpcrdma2_write_list_next(&writes, &segs))
		len += 8 + segs.left * RPCRDMA2_SEGMENT_BYTES;
	if (rpcrdma2_hdr_reply_chunk(reply->call, &segs))
		len += 4 + segs.left * RPCRDMA2_SEGMENT_BYTES;
	return len;
}

/* Repeat a chunk, with @bytes spread over its segments from the first on. */
static void wr_returned_chunk(struct rpcrdma2_writer *w,
			      struct rpcrdma2_cursor segs, u32 bytes)
{
	struct rpcrdma2_segment seg;
	u32 used;

	rpcrdma2_wr_u32(w, LIST_ENTRY);
	rpcrdma2_wr_u32(w, segs.left);
	while (rpcrdma2_segs_next(&segs, &seg)) {
		used = min(bytes, seg.length);
		wr_segment(w, seg.handle, used, seg.offset);
		bytes -= used;
	}
}

/**
 * rpcrdma2_wire_put_reply_lists - write the chunk lists of a Reply
 * @w: writer
 * @reply: Reply that passed rpcrdma2_wire_reply_ok()
 *
 * Context: any. Requirements: CHK-13 to CHK-15, CHK-17, CHK-18, LNG-8.
 */
void rpcrdma2_wire_put_reply_lists(struct rpcrdma2_writer *w,
				   const struct rpcrdma2_reply_hdr *reply)
{
	struct rpcrdma2_cursor writes, segs;
	u32 i;

	if (!reply->call->write_chunks && !reply->call->reply_chunk) {
		wr_empty_lists(w);
		return;
	}
	rpcrdma2_wr_u32(w, LIST_END);

	rpcrdma2_write_list_begin(reply->call, &writes);
	for (i = 0; rpcrdma2_write_list_next(&writes, &segs); i++)
		wr_returned_chunk(w, segs, chunk_written(reply, i));
	rpcrdma2_wr_u32(w, LIST_END);

	if (rpcrdma2_hdr_reply_chunk(reply->call, &segs))
		wr_returned_chunk(w, segs, reply->reply_written);
	else
		rpcrdma2_wr_u32(w, LIST_END);
}

/* ERR_VERS, which every version can read */

/**
 * rpcrdma2_wire_put_err_vers - write an ERR_VERS
 * @msg: prefix of the message that is refused
 * @credit: credits granted
 * @arg: lowest and highest version supported
 * @buf: where to write
 * @size: bytes at @buf
 *
 * Context: any. Requirements: ERR-2, ERR-11, D-8: always the fixed form.
 * Return: bytes written or -EMSGSIZE.
 */
int rpcrdma2_wire_put_err_vers(const struct rpcrdma2_hdr *msg, u32 credit,
			       const u32 arg[2], void *buf, u32 size)
{
	struct rpcrdma2_writer w = { .p = buf, .left = size };

	rpcrdma2_wire_put_prefix(&w, msg->xid, msg->vers, credit, RDMA2_ERROR);
	rpcrdma2_wr_u32(&w, RDMA2_ERR_VERS);
	rpcrdma2_wr_u32(&w, arg ? arg[0] : 0);
	rpcrdma2_wr_u32(&w, arg ? arg[1] : 0);
	return rpcrdma2_wr_result(&w, size);
}

/* Who refuses version 2 offers something older. The smallest number that can
 * stand in this place of another error of version 2, its code, is 2.
 */
static bool refuses_v2(u32 low, u32 high)
{
	return low < RPCRDMA_VERS_2 && low <= high;
}

/**
 * rpcrdma2_wire_decode_err_vers - recognise an ERR_VERS of any sender
 * @msg: received message
 * @len: bytes received
 * @low: where to put the lowest version the peer supports
 * @high: where to put the highest
 *
 * Word 4 is 1 both in the fixed form (the error code) and in a version 2
 * error (the RESPONSE flag), and servers copy our version number into
 * errors of their own version: only the length and words 5 and 6 tell. An
 * error of version 2 may have that length because a word follows it that does
 * not belong to it, or because it was cut.
 *
 * Context: any. Requirements: ERR-12, V1-11, D-8.
 * Return: true if it is one; @low and @high are untouched otherwise.
 */
bool rpcrdma2_wire_decode_err_vers(const void *msg, u32 len, u32 *low, u32 *high)
{
	struct rpcrdma2_hdr hdr;
	const u8 *p = msg;
	u32 word5, word6;

	if (len < 28 || !rpcrdma2_wire_peek(msg, len, &hdr) ||
	    hdr.htype != RDMA2_ERROR ||
	    get_unaligned_be32(p + 16) != RDMA2_ERR_VERS)
		return false;

	word5 = get_unaligned_be32(p + 20);
	word6 = get_unaligned_be32(p + 24);
	if (hdr.vers == RPCRDMA_VERS_1 ||
	    (len == 28 && (hdr.vers != RPCRDMA_VERS_2 ||
			   refuses_v2(word5, word6)))) {
		*low = word5;
		*high = word6;
		return true;
	}
	if (len >= 32 && word5 == RDMA2_ERR_VERS) {
		*low = word6;
		*high = get_unaligned_be32(p + 28);
		return true;
	}
	return false;
}

/**
 * rpcrdma2_wire_codec - the codec of a version
 * @vers: rdma_vers
 *
 * Context: any.
 * Return: the codec, NULL if there is none.
 */
const struct rpcrdma2_codec *rpcrdma2_wire_codec(u32 vers)
{
	switch (vers) {
	case RPCRDMA_VERS_1:
		return &rpcrdma2_codec_v1;
	case RPCRDMA_VERS_2:
		return &rpcrdma2_codec_v2;
	default:
		return NULL;
	}
}

/* RDMA-CM private data */

#define CM_MAGIC		0xf6ab0e18U
#define CM_VERSION		1U
#define CM_REMOTE_INVAL		0x01U
#define CM_SIZE_UNIT		1024U
#define CM_SIZE_MAX		(256U * CM_SIZE_UNIT)

static u8 cm_size_code(u32 bytes)
{
	bytes = clamp_t(u32, bytes, CM_SIZE_UNIT, CM_SIZE_MAX);
	return bytes / CM_SIZE_UNIT - 1;
}

static u32 cm_size_bytes(u8 code)
{
	return (code + 1U) * CM_SIZE_UNIT;
}

/**
 * rpcrdma_cm_encode - write the private data
 * @cm: what it is to say; sizes are rounded down to what can be said
 * @buf: RPCRDMA_CM_PRIVATE_BYTES bytes
 *
 * Context: any. Requirements: CM-1, CM-3, CM-4, CM-5.
 */
void rpcrdma_cm_encode(const struct rpcrdma_cm_private *cm, u8 *buf)
{
	put_unaligned_be32(CM_MAGIC, buf);
	buf[4] = CM_VERSION;
	buf[5] = cm->remote_inval ? CM_REMOTE_INVAL : 0;
	buf[6] = cm_size_code(cm->send_size);
	buf[7] = cm_size_code(cm->recv_size);
}

/**
 * rpcrdma_cm_decode - read the private data of a peer
 * @buf: private data as received; may be NULL if @len is 0
 * @len: its length, often padded
 * @cm: what it says; defaults if it says nothing usable
 *
 * The first occurrence of the magic decides: other layers may have put
 * their own data in front.
 *
 * Context: any. Requirements: CM-4, CM-6, CM-9, CM-10, CM-11, CM-15.
 */
void rpcrdma_cm_decode(const void *buf, u32 len,
		       struct rpcrdma_cm_private *cm)
{
	const u8 *p = buf;

	cm->remote_inval = false;
	cm->send_size = RPCRDMA1_INLINE_DEFAULT;
	cm->recv_size = RPCRDMA1_INLINE_DEFAULT;

	for (; len >= RPCRDMA_CM_PRIVATE_BYTES; p++, len--) {
		if (get_unaligned_be32(p) != CM_MAGIC)
			continue;
		if (p[4] != CM_VERSION)
			return;
		cm->remote_inval = p[5] & CM_REMOTE_INVAL;
		cm->send_size = cm_size_bytes(p[6]);
		cm->recv_size = cm_size_bytes(p[7]);
		return;
	}
}

/**
 * rpcrdma_cm_threshold - inline threshold of one direction in version 1
 * @sender: private data of the side that sends
 * @receiver: private data of the side that receives
 *
 * Context: any. Requirements: CM-7.
 * Return: bytes.
 */
u32 rpcrdma_cm_threshold(const struct rpcrdma_cm_private *sender,
			 const struct rpcrdma_cm_private *receiver)
{
	return min(sender->send_size, receiver->recv_size);
}
