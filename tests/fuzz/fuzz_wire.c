// SPDX-License-Identifier: GPL-2.0
/*
 * Headers of both versions, ERR_VERS and private data.
 *
 * What must hold for a message that is accepted: everything the header
 * points to is inside; the iterators end, after at most one segment per 16
 * bytes; a Call that we could have sent ourselves is encoded to something
 * that decodes to the same; a Reply to it decodes to what was written. What
 * must hold for one that is not: the ERROR about it is a good ERROR.
 */

#include "fuzz.h"
#include "../unit/decoded.h"

/* What a walk over the lists of a header sees, in a form to compare. */
struct summary {
	u32	segs;
	u64	hash;
	u64	bytes;
};

static void sum_u64(struct summary *s, u64 v)
{
	s->hash = (s->hash ^ v) * 0x100000001b3ULL;
}

static void sum_segment(struct summary *s, const struct rpcrdma2_segment *seg)
{
	s->segs++;
	s->bytes += seg->length;
	sum_u64(s, seg->handle);
	sum_u64(s, seg->length);
	sum_u64(s, seg->offset);
}

static void sum_segs(struct summary *s, struct rpcrdma2_cursor segs)
{
	struct rpcrdma2_segment seg;

	sum_u64(s, segs.left);
	while (rpcrdma2_segs_next(&segs, &seg))
		sum_segment(s, &seg);
}

static void sum_reads(const struct rpcrdma2_hdr *hdr, struct summary *s)
{
	struct rpcrdma2_segment seg;
	struct rpcrdma2_cursor c;
	u32 position;

	rpcrdma2_read_list_begin(hdr, &c);
	while (rpcrdma2_read_list_next(&c, &position, &seg)) {
		CHECK(position % 4 == 0);
		sum_u64(s, position);
		sum_segment(s, &seg);
	}
}

static void sum_writes(const struct rpcrdma2_hdr *hdr, struct summary *s)
{
	struct rpcrdma2_cursor c, segs;

	rpcrdma2_write_list_begin(hdr, &c);
	while (rpcrdma2_write_list_next(&c, &segs))
		sum_segs(s, segs);
	if (rpcrdma2_hdr_reply_chunk(hdr, &segs))
		sum_segs(s, segs);
}

static struct summary summarise(const struct rpcrdma2_hdr *hdr)
{
	struct summary s = {};

	sum_u64(&s, hdr->xid);
	sum_u64(&s, hdr->htype);
	sum_u64(&s, hdr->credit);
	sum_u64(&s, hdr->inv_handle);
	sum_reads(hdr, &s);
	sum_writes(hdr, &s);
	return s;
}

static void check_accepted(const struct rpcrdma2_hdr *hdr, const u8 *msg,
			   u32 len)
{
	struct summary s = summarise(hdr);

	CHECK(s.segs <= len / RPCRDMA2_SEGMENT_BYTES);
	CHECK(hdr->hdr_len + (u64)hdr->body_len <= len);
	CHECK(!hdr->body || (hdr->body >= msg && hdr->body <= msg + len));
	CHECK(hdr->max_segs <= s.segs);
	CHECK(hdr->read_chunks <= hdr->read_segs);
	CHECK(!hdr->has_pz || hdr->read_segs);
	CHECK(hdr->has_segs == (s.segs > 0));
	CHECK(hdr->has_segs || (!hdr->only_handle && !hdr->has_inv_handle));
}

static void check_call(const struct rpcrdma2_codec *codec, const struct rpcrdma2_hdr *hdr)
{
	struct rpcrdma2_call_hdr call;
	struct call_chunks chunks;
	struct rpcrdma2_hdr again;
	struct summary a, b;
	u32 len, size;
	u8 *buf;

	if (!call_again(hdr, &chunks, &call))
		return;
	len = rpcrdma2_call_len(codec, &call);
	size = len + (call.nomsg ? 0 : 8);
	buf = malloc(size);
	CHECK(buf);
	CHECK(rpcrdma2_wire_encode_call(codec, &call, buf, len) == (int)len);
	if (!call.nomsg) {
		put_unaligned_be32(call.xid, buf + len);
		put_unaligned_be32(0, buf + len + 4);
	}
	CHECK(codec->decode(buf, size, &again) == RPCRDMA2_OK);
	CHECK(again.hdr_len == len && again.hdr_len == hdr->hdr_len);
	a = summarise(hdr);
	b = summarise(&again);
	CHECK(!memcmp(&a, &b, sizeof(a)));
	free(buf);
}

/* What the responder of a fuzzed Call writes: as much as fits, or some. */
static u32 some_of(u64 capacity, u32 how)
{
	u32 most = min_t(u64, capacity, 0xffffffff);

	switch (how % 3) {
	case 0:
		return 0;
	case 1:
		return most;
	default:
		return most ? how % most : 0;
	}
}

static void check_reply(const struct rpcrdma2_codec *codec,
			const struct rpcrdma2_hdr *hdr)
{
	u32 written[4] = {};
	struct rpcrdma2_reply_hdr reply = {
		.xid		= hdr->xid,
		.credit		= hdr->credit,
		.nomsg		= hdr->reply_chunk && hdr->credit % 2,
		.call		= hdr,
		.written	= written,
	};
	struct rpcrdma2_cursor c, segs;
	struct rpcrdma2_hdr again;
	u32 i, len, size;
	u8 *buf;

	rpcrdma2_write_list_begin(hdr, &c);
	while (reply.nwritten < ARRAY_SIZE(written) &&
	       rpcrdma2_write_list_next(&c, &segs)) {
		i = reply.nwritten++;
		written[i] = some_of(rpcrdma2_segs_bytes(segs),
				     hdr->credit + i);
	}
	if (reply.nomsg)
		reply.reply_written = some_of(rpcrdma2_hdr_reply_chunk_bytes(hdr),
					      hdr->credit / 2);

	len = rpcrdma2_reply_len(codec, &reply);
	size = len + (reply.nomsg ? 0 : 8);
	buf = malloc(size);
	CHECK(buf);
	CHECK(rpcrdma2_wire_encode_reply(codec, &reply, buf, len - 1) == -EMSGSIZE);
	CHECK(rpcrdma2_wire_encode_reply(codec, &reply, buf, len) == (int)len);
	if (!reply.nomsg) {
		put_unaligned_be32(hdr->xid, buf + len);
		put_unaligned_be32(1, buf + len + 4);
	}
	CHECK(codec->decode(buf, size, &again) == RPCRDMA2_OK);
	CHECK(again.response && !again.read_segs && !again.inv_handle);
	CHECK(again.write_chunks == hdr->write_chunks);
	CHECK(!again.reply_chunk == !hdr->reply_chunk);
	for (i = 0; i < reply.nwritten; i++)
		CHECK(write_list_bytes(&again, i) == written[i]);
	CHECK(rpcrdma2_hdr_reply_chunk_bytes(&again) == reply.reply_written);
	free(buf);
}

static void check_refused(const struct rpcrdma2_codec *codec,
			  const struct rpcrdma2_hdr *hdr, u32 err)
{
	const struct rpcrdma2_codec *theirs = rpcrdma2_wire_codec(hdr->vers);
	static const u32 range[2] = { 1, 2 };
	u8 buf[RPCRDMA2_MAX_ERROR];
	struct rpcrdma2_hdr again;
	u32 low, high;
	int len;

	CHECK(codec->vers != hdr->vers || hdr->htype != RDMA2_ERROR);
	len = rpcrdma2_wire_encode_error(codec, hdr, 1, err, range, buf, sizeof(buf));
	CHECK(len > 0);
	if (err == RDMA2_ERR_VERS) {
		CHECK(len == 28);
		CHECK(rpcrdma2_wire_decode_err_vers(buf, len, &low, &high));
		CHECK(low == 1 && high == 2);
	}
	if (!theirs || (err != RDMA2_ERR_VERS && theirs != codec))
		return;
	CHECK(theirs->decode(buf, len, &again) == RPCRDMA2_OK);
	CHECK(again.xid == hdr->xid && again.htype == RDMA2_ERROR);
	CHECK(again.err == err || codec->vers == RPCRDMA_VERS_1);
}

static void check_codec(const struct rpcrdma2_codec *codec, const u8 *msg,
			u32 len)
{
	struct rpcrdma2_hdr hdr;

	switch (codec->decode(msg, len, &hdr)) {
	case RPCRDMA2_OK:
		CHECK(!too_short(msg, len));
		CHECK(!hdr.undirected);
		check_accepted(&hdr, msg, len);
		if (hdr.response || hdr.htype > RDMA2_NOMSG)
			break;
		check_call(codec, &hdr);
		check_reply(codec, &hdr);
		break;
	case RPCRDMA2_DROP:
		break;
	case RPCRDMA2_BAD_XDR:
		check_refused(codec, &hdr, RDMA2_ERR_BAD_XDR);
		break;
	case RPCRDMA2_INVAL_HTYPE:
		check_refused(codec, &hdr, RDMA2_ERR_INVAL_HTYPE);
		break;
	case RPCRDMA2_BAD_VERS:
		CHECK(hdr.vers != codec->vers);
		check_refused(codec, &hdr, RDMA2_ERR_VERS);
		break;
	default:
		CHECK(!"a verdict that does not exist");
	}
}

static void check_cm(const u8 *data, u32 len)
{
	struct rpcrdma_cm_private cm, again;
	u8 buf[RPCRDMA_CM_PRIVATE_BYTES];

	rpcrdma_cm_decode(data, len, &cm);
	CHECK(cm.send_size >= 1024 && cm.send_size <= 262144);
	CHECK(cm.recv_size >= 1024 && cm.recv_size <= 262144);
	rpcrdma_cm_encode(&cm, buf);
	rpcrdma_cm_decode(buf, sizeof(buf), &again);
	CHECK(cm.remote_inval == again.remote_inval);
	CHECK(cm.send_size == again.send_size);
	CHECK(cm.recv_size == again.recv_size);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	u8 *msg = exact_copy(data, size);
	u32 low, high;

	check_codec(&rpcrdma2_codec_v1, msg, size);
	check_codec(&rpcrdma2_codec_v2, msg, size);
	rpcrdma2_wire_decode_err_vers(msg, size, &low, &high);
	rpcrdma2_neg_other_draft(msg, size);
	check_cm(msg, size);
	free(msg);
	return 0;
}
