// SPDX-License-Identifier: GPL-2.0
/*
 * A header that was encoded is read back as what was encoded. All values are arbitrary; the
 * numbers of chunks and segments are those below, so CBMC knows where each word is.
 */
#include "proto/chunk_encode.c"
#include "proto/chunk_list.c"
#include "proto/wire.c"
#include "proto/wire_v1.c"
#include "proto/wire_v2.c"
#include "any_lists.h"

static void any_segment(struct rpcrdma2_segment *seg)
{
	seg->handle = nondet_u32();
	seg->length = nondet_u32();
	seg->offset = nondet_u64();
	assume(!seg->length || seg->offset + (seg->length - 1) >= seg->offset);
}

/* A chunk of @n - 1 segments, or none: 0 */
static const struct rpcrdma2_chunk *chunk(struct rpcrdma2_chunk *c, u32 n)
{
	u32 i;

	c->nsegs = n - 1;
	c->position = nondet_u32();
	assume(c->position && c->position % 4 == 0);
	for (i = 1; i < n; i++)
		any_segment(&c->seg[i - 1]);
	return n ? c : NULL;
}

/* The iterators find @chunk. */
static void check_reads(struct rpcrdma2_cursor *c, const struct rpcrdma2_chunk *chunk, bool pz)
{
	struct rpcrdma2_segment seg;
	u32 i, at;

	for (i = 0; chunk && i < chunk->nsegs; i++)
		assert(rpcrdma2_read_list_next(c, &at, &seg) && equal(seg, chunk->seg[i]) &&
		       at == (pz ? 0 : chunk->position));
}

static void check_segments(struct rpcrdma2_cursor *c, const struct rpcrdma2_chunk *chunk)
{
	struct rpcrdma2_segment seg;
	u32 i;

	for (i = 0; i < chunk->nsegs; i++)
		assert(rpcrdma2_segs_next(c, &seg) && equal(seg, chunk->seg[i]));
	assert(!rpcrdma2_segs_next(c, &seg));
}

static void check_lists(const struct rpcrdma2_hdr *hdr, const struct rpcrdma2_call_hdr *call)
{
	struct rpcrdma2_cursor c, segs;
	struct rpcrdma2_segment seg;
	u32 at;

	rpcrdma2_read_list_begin(hdr, &c);
	check_reads(&c, call->pz, true);
	check_reads(&c, call->read, false);
	assert(!rpcrdma2_read_list_next(&c, &at, &seg));
	rpcrdma2_write_list_begin(hdr, &c);
	assert(rpcrdma2_write_list_next(&c, &segs) == !!call->write);
	if (call->write)
		check_segments(&segs, call->write);
	assert(!rpcrdma2_write_list_next(&c, &segs));
	assert(rpcrdma2_hdr_reply_chunk(hdr, &segs) == !!call->reply);
	if (call->reply)
		check_segments(&segs, call->reply);
}

/* The numbers tell which chunks a Call has: 0 for no chunk, or one more than the segments of
 * the chunk.
 */
static void check_call(const struct rpcrdma2_codec *codec, u32 pz, u32 read, u32 write, u32 reply)
{
	struct rpcrdma2_chunk chunks[4];
	struct rpcrdma2_call_hdr call = {
		.xid = nondet_u32(), .credit = nondet_u32(), .inv_handle = nondet_u32(),
		.nomsg = pz,
		.pz = chunk(&chunks[0], pz), .read = chunk(&chunks[1], read),
		.write = chunk(&chunks[2], write), .reply = chunk(&chunks[3], reply),
	};
	u32 reads = (pz ? pz - 1 : 0) + (read ? read - 1 : 0);
	struct rpcrdma2_hdr hdr, want = {};
	u32 end;

	lists_first = codec->vers == 2 ? 6 : 4;
	lists_handle = codec->inv_by_handle ? call.inv_handle : 0;
	end = lists_first + 6 * reads + 1;
	want.read_list = room + 4 * lists_first;
	want.read_segs = reads;
	want.write_list = room + 4 * end;
	want.write_chunks = !!write;
	end += write ? 4 * write - 1 : 1;
	want.reply_chunk = reply ? room + 4 * end + 4 : NULL;
	end += reply ? 4 * reply - 2 : 1;

	writable = readable = 4 * end;
	assert(rpcrdma2_call_len(codec, &call) == 4 * end);
	assert(rpcrdma2_wire_encode_call(codec, &call, room, 4 * end - 4) == -EMSGSIZE);
	assert(rpcrdma2_wire_encode_call(codec, &call, room, 4 * end) == (int)(4 * end));
	if (!call.nomsg) {
		words[end] = call.xid;
		words[end + 1] = 0;
		readable += 8;
	}
	assert(codec->decode(room, readable, &hdr) == RPCRDMA2_OK && !hdr.response);
	assert(hdr.xid == call.xid && hdr.credit == call.credit && hdr.vers == codec->vers);
	assert(hdr.htype == (pz ? RDMA2_NOMSG : RDMA2_MSG) && hdr.hdr_len == 4 * end);
	assert(hdr.inv_handle == lists_handle);
	assert(hdr.read_segs == reads && (!reads || hdr.read_list == want.read_list));
	assert(hdr.write_chunks == !!write && (!write || hdr.write_list == want.write_list));
	assert(hdr.reply_chunk == want.reply_chunk);
	check_lists(&want, &call);
}

void calls(void)
{
	check_call(&rpcrdma2_codec_v1, 0, 0, 0, 0);
	check_call(&rpcrdma2_codec_v1, 2, 0, 1, 2);
	check_call(&rpcrdma2_codec_v2, 0, 0, 0, 0);
	check_call(&rpcrdma2_codec_v2, 3, 2, 0, 0);
	check_call(&rpcrdma2_codec_v2, 0, 0, 3, 1);
}

/* A chunk of @n segments of a received Call; returns its capacity. */
static u64 received_chunk(u32 *at, u32 n)
{
	struct rpcrdma2_segment seg;
	u64 bytes = 0;
	u32 i;

	words[(*at)++] = n;
	for (i = 0; i < n; i++, *at += 4) {
		any_segment(&seg);
		words[*at] = seg.handle;
		words[*at + 1] = seg.length;
		words[*at + 2] = (u32)(seg.offset >> 32);
		words[*at + 3] = (u32)seg.offset;
		bytes += seg.length;
	}
	return bytes;
}

/* The same chunk in the Reply got @bytes (CHK-14, CHK-15). */
static void check_returned(u32 *at, u32 *back, u32 bytes)
{
	u32 i, n = words[(*at)++];

	assert(words[(*back)++] == 1 && words[(*back)++] == n);
	for (i = 0; i < n; i++, *at += 4, *back += 4) {
		assert(words[*back] == words[*at] && words[*back + 2] == words[*at + 2] &&
		       words[*back + 3] == words[*at + 3]);
		/* It is full, or the last one with data. */
		assert(words[*back + 1] == words[*at + 1] ||
		       (words[*back + 1] == bytes && bytes < words[*at + 1]));
		bytes -= words[*back + 1];
	}
	assert(!bytes);
}

/* @writes: Write chunks of @segs segments each; @reply: segments of the Reply chunk and 1 */
static void check_reply(const struct rpcrdma2_codec *codec, bool nomsg, u32 writes, u32 segs,
			u32 reply)
{
	u32 i, at = 0, back, end, written[2];
	struct rpcrdma2_hdr call = {}, hdr;
	struct rpcrdma2_reply_hdr r = {
		.xid = nondet_u32(), .credit = nondet_u32(), .nomsg = nomsg, .call = &call,
		.written = written, .nwritten = nondet_u32(), .reply_written = nondet_u32(),
	};
	bool fits = r.nwritten <= writes && (nomsg ? reply : !r.reply_written);
	int n;

	readable = answer = 2 * WORDS;
	call.write_list = room;
	call.write_chunks = writes;
	for (i = 0; i < writes; i++) {
		written[i] = nondet_u32();
		words[at++] = 1;
		fits &= received_chunk(&at, segs) >= (i < r.nwritten ? written[i] : 0);
	}
	call.reply_chunk = reply ? room + 4 * at : NULL;
	if (reply)
		fits &= received_chunk(&at, reply - 1) >= r.reply_written;
	call.results_len = 4 * at;

	lists_first = answer / 4 + (codec->vers == 2 ? 6 : 4);
	lists_handle = 0;
	back = lists_first;
	end = lists_first + 3 + at;
	writable = 4 * end;
	assert(rpcrdma2_reply_len(codec, &r) == writable - answer);
	n = rpcrdma2_wire_encode_reply(codec, &r, room + answer, writable - answer);
	assert(n == (fits ? (int)(writable - answer) : -EINVAL));
	assume(fits);

	at = 0;
	assert(words[back++] == 0);
	for (i = 0; i < writes; i++) {
		at++;
		check_returned(&at, &back, i < r.nwritten ? written[i] : 0);
	}
	assert(words[back++] == 0);
	if (reply)
		check_returned(&at, &back, r.reply_written);
	else
		assert(words[back++] == 0);

	readable = writable;
	if (!nomsg) {
		words[end] = r.xid;
		words[end + 1] = 1;
		readable += 8;
	}
	assert(codec->decode(room + answer, readable - answer, &hdr) == RPCRDMA2_OK);
	assert(hdr.response && hdr.xid == r.xid && hdr.credit == r.credit && !hdr.inv_handle);
	assert(hdr.htype == (nomsg ? RDMA2_NOMSG : RDMA2_MSG) && hdr.write_chunks == writes);
}

void replies(void)
{
	check_reply(&rpcrdma2_codec_v2, false, 0, 0, 0);
	check_reply(&rpcrdma2_codec_v2, false, 2, 1, 0);
	check_reply(&rpcrdma2_codec_v1, true, 0, 0, 3);
	check_reply(&rpcrdma2_codec_v2, true, 1, 2, 2);
}

static void check_error(const struct rpcrdma2_codec *codec, u32 err)
{
	struct rpcrdma2_hdr msg = { .xid = nondet_u32(), .vers = codec->vers }, hdr;
	u32 code = codec->vers == 1 ? RDMA2_ERR_BAD_XDR : err;
	u32 arg[2] = { nondet_u32(), nondet_u32() }, low, high;

	readable = writable = RPCRDMA2_MAX_ERROR;
	readable = rpcrdma2_wire_encode_error(codec, &msg, nondet_u32(), err, arg, room, writable);
	assert(!rpcrdma2_wire_decode_err_vers(room, readable, &low, &high));
	assert(codec->decode(room, readable, &hdr) == RPCRDMA2_OK && hdr.response);
	assert(hdr.htype == RDMA2_ERROR && hdr.xid == msg.xid && hdr.vers == msg.vers);
	assert(hdr.err == code && hdr.err_arg[0] == (error_args(code) > 0 ? arg[0] : 0) &&
	       hdr.err_arg[1] == (error_args(code) > 1 ? arg[1] : 0));
}

void errors(void)
{
	struct rpcrdma2_hdr msg = { .xid = nondet_u32(), .vers = nondet_u32() };
	u32 err, arg[2] = { nondet_u32(), nondet_u32() }, low, high;

	/* About a message of any version, with those that are spoken: not with a refused one */
	assume(1 <= arg[0] && arg[0] <= arg[1] && arg[1] <= 2 && (msg.vers != 2 || arg[0] == 1));
	readable = writable = 28;
	assert(rpcrdma2_wire_encode_error(&rpcrdma2_codec_v2, &msg, nondet_u32(), RDMA2_ERR_VERS,
					  arg, room, 28) == 28);
	assert(words[0] == msg.xid && words[1] == msg.vers);
	assert(rpcrdma2_wire_decode_err_vers(room, 28, &low, &high));
	assert(low == arg[0] && high == arg[1]);

	for (err = RDMA2_ERR_BAD_XDR; err <= RDMA2_ERR_SYSTEM + 1; err++) {
		check_error(&rpcrdma2_codec_v1, err);
		check_error(&rpcrdma2_codec_v2, err);
	}
}
