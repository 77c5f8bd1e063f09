// SPDX-License-Identifier: GPL-2.0
/*
 * Decoding of chunk lists: Read list, Write list and Reply chunk are checked
 * once, word by word, against the bytes received. Nothing is copied.
 *
 * Every function here is pure: no kernel service, no lock, no allocation,
 * any context. Work is linear in the bytes received; a count from the wire
 * is never used before that many bytes were seen to be there.
 */

#include "proto/wire_impl.h"

/* Read chunks that are counted exactly; see struct read_tally. */
#define EXACT_POSITIONS		8U

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
static bool rd_segment(struct rpcrdma2_reader *r, struct rpcrdma2_hdr *hdr)
{
	struct rpcrdma2_segment seg;
	const u8 *p = r->p;

	if (!rpcrdma2_rd_skip(r, RPCRDMA2_SEGMENT_BYTES))
		return false;
	rpcrdma2_get_segment(p, &seg);
	if (!hdr->has_segs)
		hdr->only_handle = seg.handle;
	else if (hdr->only_handle != seg.handle)
		hdr->only_handle = 0;
	hdr->has_segs = true;
	if (hdr->inv_handle == seg.handle)
		hdr->has_inv_handle = true;
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
		if (!rd_segment(r, hdr))
			return false;
	hdr->max_segs = max(hdr->max_segs, n);
	return true;
}

/*
 * The Positions of a Read list and the segments of each. Segments of one
 * Position need not be neighbours (D-20), so counting all chunks exactly would
 * take work or memory that the peer chooses. The first EXACT_POSITIONS
 * Positions are exact. The last place counts the entries beyond as if each change of
 * Position began a chunk, and as if all of them were in one chunk: both figures are upper
 * bounds, for a message that has more chunks than any responder accepts.
 */
struct read_tally {
	u32	position[EXACT_POSITIONS + 1];
	u32	segs[EXACT_POSITIONS + 1];
	u32	used;
};

/* Count an entry; returns true if it begins a chunk not seen before. */
static bool tally_entry(struct read_tally *t, u32 position, u32 *nsegs)
{
	bool fresh;
	u32 i = 0;

	while (i < t->used && t->position[i] != position)
		i++;
	fresh = !t->segs[i] || t->position[i] != position;
	t->position[i] = position;
	*nsegs = ++t->segs[i];
	if (fresh && i < EXACT_POSITIONS) {
		t->used = i + 1;
		t->segs[t->used] = 0;
	}
	return fresh;
}

/* CHK-3, CHK-9, CHK-11, CHK-12 */
static bool rd_read_list(struct rpcrdma2_reader *r, struct rpcrdma2_hdr *hdr)
{
	struct read_tally tally;
	u32 position, nsegs;
	const u8 *entry;
	bool more, fresh;

	tally.used = 0;
	tally.segs[0] = 0;
	for (;;) {
		entry = r->p;
		if (!rd_discriminator(r, &more))
			return false;
		if (!more)
			return true;
		if (!rpcrdma2_rd_u32(r, &position) || position % 4)
			return false;
		if (!rd_segment(r, hdr))
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
 * rpcrdma2_chunk_decode - decode Read list, Write list and Reply chunk
 * @r: reader at the first word of the Read list; left behind the lists
 * @hdr: header to fill
 *
 * Context: any. Requirements: CHK-1 to CHK-7, CHK-9, CHK-12, CHK-25.
 * Return: false if the lists cannot be parsed or a segment is impossible.
 */
bool rpcrdma2_chunk_decode(struct rpcrdma2_reader *r, struct rpcrdma2_hdr *hdr)
{
	u32 left;

	if (lists_empty(r))
		return rpcrdma2_rd_skip(r, EMPTY_LISTS);
	if (!rd_read_list(r, hdr))
		return false;
	left = r->left;
	if (!rd_write_list(r, hdr) || !rd_reply_chunk(r, hdr))
		return false;
	hdr->results_len = left - r->left - EMPTY_RESULTS;
	return true;
}
