// SPDX-License-Identifier: GPL-2.0
/*
 * Decoding: prefix, chunk lists, iterators, and what happens to messages
 * that are cut or that lie about their counts.
 */

#include "unit.h"

/* Of the message decoded last */
static struct rpcrdma2_hdr hdr;

static const struct rpcrdma2_codec *v2 = &rpcrdma2_codec_v2;
static const struct rpcrdma2_codec *v1 = &rpcrdma2_codec_v1;

static enum rpcrdma2_verdict decode_vector(struct kunit *test,
					   const struct rpcrdma2_codec *codec,
					   enum vector_id id,
					   struct rpcrdma2_hdr *hdr)
{
	struct message m = message_vector(test, id);

	return codec->decode(m.p, m.len, hdr);
}

/* A header vector without payload becomes a message: append an RPC message. */
static struct message with_payload(struct kunit *test, enum vector_id id,
				   u32 msg_type)
{
	const struct vector *v = &vectors[id];
	struct message m = message_new(test, NULL, v->nwords * 4 + 8);
	u32 i;

	for (i = 0; i < v->nwords; i++)
		put_unaligned_be32(v->words[i], m.p + i * 4);
	put_unaligned_be32(v->words[0], m.p + i * 4);
	put_unaligned_be32(msg_type, m.p + i * 4 + 4);
	return m;
}

static void constants(struct kunit *test)
{
	EXPECT_EQ(RPCRDMA2_F_RESPONSE, 1);
	EXPECT_EQ(RPCRDMA_VERS_1, 1);
	EXPECT_EQ(RPCRDMA_VERS_2, 2);
	EXPECT_EQ(RDMA2_MSG, 0);
	EXPECT_EQ(RDMA2_NOMSG, 1);
	EXPECT_EQ(RDMA2_ERROR, 4);
	EXPECT_EQ(RDMA2_CONNPROP, 5);
	EXPECT_EQ(RDMA2_X_REQPROP, 4294967042U);
	EXPECT_EQ(RDMA2_X_RESPROP, 4294967043U);
	EXPECT_EQ(RDMA2_X_UPDPROP, 4294967044U);
	EXPECT_EQ(RPCRDMA2_INLINE_DEFAULT, 4096);
	EXPECT_EQ(RPCRDMA1_INLINE_DEFAULT, 1024);
	EXPECT_EQ(v2->hdr_min, 36);
	EXPECT_EQ(v1->hdr_min, 28);
	EXPECT_TRUE(v2->inline_reply_first);
	EXPECT_FALSE(v1->inline_reply_first);
	EXPECT_TRUE(v2->props);
	EXPECT_FALSE(v1->props);
	EXPECT_TRUE(v2->inv_by_handle);
	EXPECT_FALSE(v1->inv_by_handle);
	EXPECT_PTR_EQ(rpcrdma2_wire_codec(1), v1);
	EXPECT_PTR_EQ(rpcrdma2_wire_codec(2), v2);
	EXPECT_NULL(rpcrdma2_wire_codec(0));
	EXPECT_NULL(rpcrdma2_wire_codec(3));
}

static void call_without_chunks(struct kunit *test)
{
	struct message m = message_vector(test, VEC_T1);
	struct rpcrdma2_cursor c, segs;
	struct rpcrdma2_segment seg;
	u32 position;

	EXPECT_VERDICT(v2, m, OK);
	EXPECT_EQ(hdr.xid, XID);
	EXPECT_EQ(hdr.vers, 2);
	EXPECT_EQ(hdr.credit, 32);
	EXPECT_EQ(hdr.htype, RDMA2_MSG);
	EXPECT_FALSE(hdr.response);
	EXPECT_EQ(hdr.inv_handle, 0);
	EXPECT_EQ(hdr.hdr_len, 36);
	EXPECT_EQ(hdr.body_len, 40);
	EXPECT_PTR_EQ(hdr.body, m.p + 36);
	EXPECT_EQ(hdr.max_segs, 0);
	EXPECT_FALSE(hdr.has_pz);

	rpcrdma2_read_list_begin(&hdr, &c);
	EXPECT_FALSE(rpcrdma2_read_list_next(&c, &position, &seg));
	rpcrdma2_write_list_begin(&hdr, &c);
	EXPECT_FALSE(rpcrdma2_write_list_next(&c, &segs));
	EXPECT_FALSE(rpcrdma2_hdr_reply_chunk(&hdr, &segs));
	EXPECT_FALSE(rpcrdma2_segs_next(&segs, &seg));
}

static void reply_without_chunks(struct kunit *test)
{
	EXPECT_EQ(decode_vector(test, v2, VEC_T2, &hdr), RPCRDMA2_OK);
	EXPECT_TRUE(hdr.response);
	EXPECT_EQ(hdr.credit, 16);
	EXPECT_EQ(hdr.hdr_len, 36);
	EXPECT_EQ(hdr.body_len, 24);
}

static void read_chunk(struct kunit *test)
{
	struct message m = with_payload(test, VEC_T3, 0);
	struct rpcrdma2_segment seg;
	struct rpcrdma2_cursor c;
	u32 position;

	EXPECT_VERDICT(v2, m, OK);
	EXPECT_EQ(hdr.hdr_len, 84);
	EXPECT_EQ(hdr.inv_handle, 0xa102);
	EXPECT_EQ(hdr.read_segs, 2);
	EXPECT_EQ(hdr.read_chunks, 1);
	EXPECT_EQ(hdr.max_segs, 2);
	EXPECT_FALSE(hdr.has_pz);

	rpcrdma2_read_list_begin(&hdr, &c);
	EXPECT_TRUE(rpcrdma2_read_list_next(&c, &position, &seg));
	EXPECT_EQ(position, 148);
	EXPECT_EQ(seg.handle, 0xa101);
	EXPECT_EQ(seg.length, 4096);
	EXPECT_EQ(seg.offset, 0x7f0000001000ULL);
	EXPECT_TRUE(rpcrdma2_read_list_next(&c, &position, &seg));
	EXPECT_EQ(position, 148);
	EXPECT_EQ(seg.handle, 0xa102);
	EXPECT_EQ(seg.length, 904);
	EXPECT_EQ(seg.offset, 0x7f0000009000ULL);
	EXPECT_FALSE(rpcrdma2_read_list_next(&c, &position, &seg));

	EXPECT_V2(OK, V2_CALL, NO_INV, READ_ENTRY(8, 1, 4), NO_CHUNKS, RPC_CALL);
	EXPECT_EQ(hdr.max_segs, 1);
}

static void nomsg_call(struct kunit *test)
{
	struct rpcrdma2_cursor segs;
	struct rpcrdma2_segment seg;

	EXPECT_EQ(decode_vector(test, v2, VEC_T4, &hdr), RPCRDMA2_OK);
	EXPECT_EQ(hdr.htype, RDMA2_NOMSG);
	EXPECT_TRUE(hdr.has_pz);
	EXPECT_EQ(hdr.read_segs, 2);
	EXPECT_EQ(hdr.read_chunks, 0);
	EXPECT_EQ(hdr.hdr_len, 104);
	EXPECT_NULL(hdr.body);
	EXPECT_EQ(hdr.body_len, 0);
	EXPECT_EQ(hdr.inv_handle, 0xb203);
	EXPECT_TRUE(rpcrdma2_hdr_reply_chunk(&hdr, &segs));
	EXPECT_EQ(rpcrdma2_segs_bytes(segs), 65536);
	EXPECT_TRUE(rpcrdma2_segs_next(&segs, &seg));
	EXPECT_EQ(seg.handle, 0xb203);
	EXPECT_EQ(seg.offset, 0x10000);
	EXPECT_FALSE(rpcrdma2_segs_next(&segs, &seg));
}

static void nomsg_reply(struct kunit *test)
{
	EXPECT_EQ(decode_vector(test, v2, VEC_T5, &hdr), RPCRDMA2_OK);
	EXPECT_TRUE(hdr.response);
	EXPECT_EQ(rpcrdma2_hdr_reply_chunk_bytes(&hdr), 5000);
	EXPECT_EQ(write_list_bytes(&hdr, 0), 0);
}

static void returned_write_chunk(struct kunit *test)
{
	struct message m = with_payload(test, VEC_T6, 1);

	EXPECT_VERDICT(v2, m, OK);
	EXPECT_EQ(hdr.hdr_len, 76);
	EXPECT_EQ(hdr.write_chunks, 1);
	EXPECT_EQ(hdr.max_segs, 2);
	EXPECT_EQ(write_list_bytes(&hdr, 0), 8192);
	EXPECT_EQ(write_list_bytes(&hdr, 1), 0);
	EXPECT_EQ(write_list_bytes(&hdr, ~0U), 0);
	EXPECT_EQ(rpcrdma2_hdr_reply_chunk_bytes(&hdr), 0);
}

static void v1_call(struct kunit *test)
{
	EXPECT_EQ(decode_vector(test, v1, VEC_V1, &hdr), RPCRDMA2_OK);
	EXPECT_EQ(hdr.xid, XID);
	EXPECT_EQ(hdr.vers, 1);
	EXPECT_EQ(hdr.credit, 32);
	EXPECT_EQ(hdr.hdr_len, 28);
	EXPECT_EQ(hdr.body_len, 40);
	EXPECT_FALSE(hdr.response);
	EXPECT_EQ(hdr.inv_handle, 0);
}

/* Words 0 to 3 mean the same to both codecs, and to a bare peek. */
static void common_words(struct kunit *test)
{
	struct message m = message_vector(test, VEC_T1);

	EXPECT_VERDICT(v1, m, BAD_VERS);
	EXPECT_EQ(hdr.xid, XID);
	EXPECT_EQ(hdr.vers, 2);
	EXPECT_EQ(hdr.credit, 32);
	EXPECT_EQ(hdr.htype, RDMA2_MSG);

	m = message_vector(test, VEC_V1);
	EXPECT_VERDICT(v2, m, BAD_VERS);
	EXPECT_EQ(hdr.xid, XID);
	EXPECT_EQ(hdr.vers, 1);

	memset(&hdr, 0, sizeof(hdr));
	EXPECT_TRUE(rpcrdma2_wire_peek(m.p, 16, &hdr));
	EXPECT_EQ(hdr.xid, XID);
	EXPECT_EQ(hdr.credit, 32);
	EXPECT_FALSE(rpcrdma2_wire_peek(m.p, 15, &hdr));
}

static void version_first(struct kunit *test)
{
	static const u32 versions[] = { 0, 1, 2, 3, 0x80000002, 0xffffffff };
	struct message m = message_vector(test, VEC_T1);
	u32 i;

	for (i = 0; i < ARRAY_SIZE(versions); i++) {
		put_unaligned_be32(versions[i], m.p + 4);
		/* a type that no version knows must not matter */
		put_unaligned_be32(versions[i] == 2 ? 0 : 77, m.p + 12);
		EXPECT_EQ(v2->decode(m.p, m.len, &hdr),
			  versions[i] == 2 ? RPCRDMA2_OK : RPCRDMA2_BAD_VERS);
		EXPECT_EQ(v1->decode(m.p, m.len, &hdr),
			  versions[i] == 1 ? RPCRDMA2_INVAL_HTYPE : RPCRDMA2_BAD_VERS);
	}
}

static void expect_cut(struct kunit *test, const struct rpcrdma2_codec *codec,
		       enum vector_id id, u32 len,
		       enum rpcrdma2_verdict verdict)
{
	struct message whole = message_vector(test, id);
	struct message cut = message_new(test, whole.p, len);

	EXPECT_EQ(codec->decode(cut.p, cut.len, &hdr), verdict);
	EXPECT_EQ(too_short(cut.p, cut.len), verdict == RPCRDMA2_DROP);
	message_free(test, cut);
	message_free(test, whole);
}

static void short_messages(struct kunit *test)
{
	u32 len;

	for (len = 0; len < 36; len++)
		expect_cut(test, v2, VEC_T1, len,
			   len < 20 ? RPCRDMA2_DROP : RPCRDMA2_BAD_XDR);
	for (len = 0; len < 36; len++)
		expect_cut(test, v1, VEC_V1, len,
			   len < 28 ? RPCRDMA2_DROP : RPCRDMA2_BAD_XDR);
	/* a codec does not answer a short message of the other version */
	for (len = 0; len < 36; len++)
		expect_cut(test, v1, VEC_T1, len,
			   len < 20 ? RPCRDMA2_DROP : RPCRDMA2_BAD_VERS);
	for (len = 0; len < 36; len++)
		expect_cut(test, v2, VEC_V1, len,
			   len < 28 ? RPCRDMA2_DROP : RPCRDMA2_BAD_VERS);
}

/* An ERROR of version 1 is legal from 20 bytes on. */
static void short_v1_error(struct kunit *test)
{
	struct message m = message_vector(test, VEC_V2);
	struct message cut;
	u32 len;

	for (len = 0; len <= m.len; len++) {
		cut = message_new(test, m.p, len);
		EXPECT_EQ(v1->decode(cut.p, len, &hdr),
			  len < 20 ? RPCRDMA2_DROP : RPCRDMA2_OK);
		EXPECT_EQ(too_short(cut.p, len), len < 16);
		message_free(test, cut);
	}
}

/* Walk all lists of a header; returns the number of segments seen. */
static u32 walk(const struct rpcrdma2_hdr *hdr)
{
	struct rpcrdma2_cursor c, segs;
	struct rpcrdma2_segment seg;
	u32 position, n = 0;

	rpcrdma2_read_list_begin(hdr, &c);
	while (rpcrdma2_read_list_next(&c, &position, &seg))
		n++;
	rpcrdma2_write_list_begin(hdr, &c);
	while (rpcrdma2_write_list_next(&c, &segs))
		while (rpcrdma2_segs_next(&segs, &seg))
			n++;
	rpcrdma2_hdr_reply_chunk(hdr, &segs);
	while (rpcrdma2_segs_next(&segs, &seg))
		n++;
	return n;
}

/*
 * Bytes of a vector that must be there for it to be accepted by its codec.
 * What is cut inside an inline RPC message, behind its first two words, is
 * not the header's business.
 */
static u32 needed(const struct rpcrdma2_hdr *hdr, u32 len)
{
	if (hdr->htype == RDMA2_MSG)
		return hdr->hdr_len + 8;
	if (hdr->htype == RDMA2_CONNPROP)
		return RPCRDMA2_PREFIX + 4;
	return len;
}

static void cut_everywhere(struct kunit *test,
			   const struct rpcrdma2_codec *codec,
			   enum vector_id id, bool payload)
{
	enum rpcrdma2_verdict verdict, full;
	struct rpcrdma2_hdr whole, hdr;
	struct message m, cut;
	u32 len;

	m = payload ? with_payload(test, id, id == VEC_T6) :
		      message_vector(test, id);
	full = codec->decode(m.p, m.len, &whole);
	for (len = 0; len <= m.len; len++) {
		cut = message_new(test, m.p, len);
		verdict = codec->decode(cut.p, len, &hdr);
		if (verdict == RPCRDMA2_OK) {
			EXPECT_LE(walk(&hdr), len / 16);
			EXPECT_LE(hdr.hdr_len + hdr.body_len, len);
		}
		if (full == RPCRDMA2_OK)
			EXPECT_EQ(verdict == RPCRDMA2_OK, len >= needed(&whole, m.len));
		/* what can be a response is never answered */
		if (full == RPCRDMA2_OK && whole.response && codec == v2 &&
		    whole.htype != RDMA2_CONNPROP && verdict != RPCRDMA2_OK)
			EXPECT_EQ(verdict, RPCRDMA2_DROP);
		message_free(test, cut);
	}
	message_free(test, m);
}

static void cut_vectors(struct kunit *test)
{
	u32 id;

	for (id = 0; id < NR_GOLDEN; id++) {
		/* 28 bytes of E1d or E7 are another, also legal error */
		if (id == VEC_E1d || id == VEC_E7)
			continue;
		cut_everywhere(test, v2, id, false);
		cut_everywhere(test, v1, id, false);
	}
	cut_everywhere(test, v2, VEC_T3, true);
	cut_everywhere(test, v2, VEC_T6, true);
}

/* The same, bytes turned over one by one: whatever happens stays inside. */
static void flipped_vectors(struct kunit *test)
{
	struct message m;
	u32 id, i, low, high;

	for (id = 0; id < NR_GOLDEN; id++) {
		m = message_vector(test, id);
		for (i = 0; i < m.len; i++) {
			m.p[i] ^= 0xff;
			if (v2->decode(m.p, m.len, &hdr) == RPCRDMA2_OK)
				EXPECT_LE(walk(&hdr), m.len / 16);
			if (v1->decode(m.p, m.len, &hdr) == RPCRDMA2_OK)
				EXPECT_LE(walk(&hdr), m.len / 16);
			rpcrdma2_wire_decode_err_vers(m.p, m.len, &low, &high);
			m.p[i] ^= 0xff;
		}
		message_free(test, m);
	}
}

static void lying_counts(struct kunit *test)
{
	static const u32 counts[] = {
		3, 4, 0x0fffffff, 0x10000000, 0x10000001, 0x7fffffff,
		0x80000000, 0xfffffffe, 0xffffffff,
	};
	struct message m;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(counts); i++) {
		/* Write list of a Call: two segments are there */
		m = MESSAGE(V2_CALL, NO_INV, 0, 1, 2, SEG(1, 1),
			    SEG(2, 1), 0, 0, RPC_CALL);
		EXPECT_VERDICT(v2, m, OK);
		put_unaligned_be32(counts[i], m.p + 32);
		EXPECT_VERDICT(v2, m, BAD_XDR);

		/* Reply chunk of a Call */
		m = MESSAGE(V2_CALL, NO_INV, 0, 0, 1, 2, SEG(1, 1),
			    SEG(2, 1), RPC_CALL);
		EXPECT_VERDICT(v2, m, OK);
		put_unaligned_be32(counts[i], m.p + 36);
		EXPECT_VERDICT(v2, m, BAD_XDR);

		/* the same in a Reply is dropped */
		m = MESSAGE(V2_REPLY, NO_INV, 0, 1, 2, SEG(1, 1),
			    SEG(2, 1), 0, 0, RPC_REPLY);
		EXPECT_VERDICT(v2, m, OK);
		put_unaligned_be32(counts[i], m.p + 32);
		EXPECT_VERDICT(v2, m, DROP);

		/* version 1 */
		m = MESSAGE(V1_MSG, 0, 0, 1, 2, SEG(1, 1), SEG(2, 1), RPC_CALL);
		EXPECT_VERDICT(v1, m, OK);
		put_unaligned_be32(counts[i], m.p + 28);
		EXPECT_VERDICT(v1, m, BAD_XDR);
	}
}

/* The words of a segment that is cut would do as the ends of lists. */
static void cut_segment(struct kunit *test)
{
	EXPECT_V2(BAD_XDR, V2_NOMSG_CALL, NO_INV, 1, 0, 0, 0, 0);
	EXPECT_V2(BAD_XDR, V2_NOMSG_CALL, NO_INV, READ_ENTRY(0, 1, 4), 0, 1, 1, 0, 0, 0);
	EXPECT_V2(BAD_XDR, V2_NOMSG_CALL, NO_INV, READ_ENTRY(0, 1, 4), 0, 0, 1, 1, 0, 0,
		  0);
	EXPECT_V2(DROP, V2_NOMSG_REPLY, NO_INV, 0, 0, 1, 1, 0, 0, 0);
	EXPECT_V1(BAD_XDR, V1_NOMSG, 1, 0, 0, 0, 0);
}

static void discriminators(struct kunit *test)
{
	static const u32 bad[] = { 2, 0x100, 0x01000000, 0x80000001, ~0U };
	static const u32 at[] = { 24, 28, 32 };
	struct message m;
	u32 i, j;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		for (j = 0; j < ARRAY_SIZE(at); j++) {
			m = message_vector(test, VEC_T1);
			put_unaligned_be32(bad[i], m.p + at[j]);
			EXPECT_VERDICT(v2, m, BAD_XDR);
			m = message_vector(test, VEC_T2);
			put_unaligned_be32(bad[i], m.p + at[j]);
			EXPECT_VERDICT(v2, m, DROP);
			m = message_vector(test, VEC_V1);
			put_unaligned_be32(bad[i], m.p + at[j] - 8);
			EXPECT_VERDICT(v1, m, BAD_XDR);
		}
		/* behind the first entry of a list, too */
		m = message_vector(test, VEC_T4);
		put_unaligned_be32(bad[i], m.p + 48);
		EXPECT_VERDICT(v2, m, BAD_XDR);
	}
	/* what follows would do as the other lists */
	EXPECT_V2(DROP, V2_NOMSG_REPLY, NO_INV, 2, 0, 1, 1, SEG(1, 4));
}

static void unaligned_position(struct kunit *test)
{
	static const u32 bad[] = { 1, 2, 3, 149, 0xffffffff };
	struct message m = with_payload(test, VEC_T3, 0);
	u32 i;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		put_unaligned_be32(bad[i], m.p + 28);
		EXPECT_VERDICT(v2, m, BAD_XDR);
	}
	put_unaligned_be32(0xfffffffc, m.p + 28);
	EXPECT_VERDICT(v2, m, OK);
	/* what follows would do as the other lists */
	EXPECT_V2(BAD_XDR, V2_NOMSG_CALL, NO_INV, READ_ENTRY(0, 1, 4),
		  READ_ENTRY(2, 0, 0), NO_CHUNKS);
}

static void interleaved_positions(struct kunit *test)
{
	EXPECT_V2(OK, V2_CALL, NO_INV, READ_ENTRY(400, 1, 10), READ_ENTRY(100, 2, 10),
		  READ_ENTRY(400, 3, 10), READ_ENTRY(100, 4, 10),
		  READ_ENTRY(400, 5, 10), NO_CHUNKS, RPC_CALL);
	EXPECT_EQ(hdr.read_segs, 5);
	EXPECT_EQ(hdr.read_chunks, 2);
	EXPECT_EQ(hdr.max_segs, 3);

	EXPECT_V2(OK, V2_NOMSG_CALL, NO_INV, READ_ENTRY(100, 1, 10),
		  READ_ENTRY(0, 2, 10), READ_ENTRY(100, 3, 10), READ_ENTRY(0, 4, 10),
		  NO_CHUNKS);
	EXPECT_TRUE(hdr.has_pz);
	EXPECT_EQ(hdr.read_chunks, 1);
	EXPECT_EQ(hdr.max_segs, 2);

	EXPECT_V2(OK, V2_NOMSG_CALL, NO_INV, READ_ENTRY(0, 1, 10), READ_ENTRY(8, 2, 10),
		  READ_ENTRY(0, 3, 10), NO_CHUNKS);
	EXPECT_EQ(hdr.read_chunks, 1);
	EXPECT_EQ(hdr.max_segs, 2);
}

#define ENTRIES		600U

/*
 * A Read list of ENTRIES segments of @chunks Positions, that take turns or
 * that stay together.
 */
static void decode_positions(struct kunit *test, u32 chunks, bool in_turn,
			     struct rpcrdma2_hdr *hdr)
{
	struct message m = message_new(test, NULL, 36 + ENTRIES * 24 + 8);
	u8 *p = m.p + 24;
	u32 i, chunk;

	memset(m.p, 0, m.len);
	put_unaligned_be32(XID, m.p);
	put_unaligned_be32(2, m.p + 4);
	for (i = 0; i < ENTRIES; i++, p += 24) {
		chunk = in_turn ? i % chunks : i * chunks / ENTRIES;
		put_unaligned_be32(1, p);
		put_unaligned_be32(4 * (chunk + 1), p + 4);
		put_unaligned_be32(i, p + 8);
	}
	put_unaligned_be32(XID, p + 12);
	EXPECT_EQ(v2->decode(m.p, m.len, hdr), RPCRDMA2_OK);
	message_free(test, m);
}

/*
 * More Positions than are told apart: the counts are exact up to the
 * bound, never too small beyond it.
 */
static void many_positions(struct kunit *test)
{
	u32 chunks;

	for (chunks = 1; chunks <= 300; chunks += chunks < 12 ? 1 : 96) {
		decode_positions(test, chunks, true, &hdr);
		EXPECT_EQ(hdr.read_segs, ENTRIES);
		if (chunks <= 8) {
			EXPECT_EQ(hdr.read_chunks, chunks);
			EXPECT_EQ(hdr.max_segs, (ENTRIES + chunks - 1) / chunks);
		} else {
			EXPECT_GE(hdr.read_chunks, chunks);
			EXPECT_GE(hdr.max_segs, ENTRIES / chunks);
		}
		/* in order, as everybody sends them, chunks are exact */
		decode_positions(test, chunks, false, &hdr);
		EXPECT_EQ(hdr.read_chunks, chunks);
	}
}

static void odd_segment_lengths(struct kunit *test)
{
	static const u32 lengths[] = { 1, 4095, 904 };
	struct rpcrdma2_segment seg;
	struct rpcrdma2_cursor c;
	u32 position, i;

	EXPECT_V2(OK, V2_CALL, NO_INV, READ_ENTRY(148, 1, 1), READ_ENTRY(148, 2, 4095),
		  READ_ENTRY(148, 3, 904), NO_CHUNKS, RPC_CALL);
	EXPECT_EQ(hdr.read_chunks, 1);
	rpcrdma2_read_list_begin(&hdr, &c);
	for (i = 0; i < 3; i++) {
		EXPECT_TRUE(rpcrdma2_read_list_next(&c, &position, &seg));
		EXPECT_EQ(seg.handle, i + 1);
		EXPECT_EQ(seg.length, lengths[i]);
	}
}

static void zero_length_segments(struct kunit *test)
{
	struct rpcrdma2_cursor c, segs;

	EXPECT_V2(OK, V2_NOMSG_CALL, NO_INV, READ_ENTRY(0, 1, 100), READ_ENTRY(0, 2, 0),
		  READ_ENTRY(0, 3, 100), 0, 1, 2, SEG(4, 0), SEG(5, 8), 0, 1, 1,
		  SEG(6, 0));
	EXPECT_EQ(hdr.read_segs, 3);
	rpcrdma2_write_list_begin(&hdr, &c);
	EXPECT_TRUE(rpcrdma2_write_list_next(&c, &segs));
	EXPECT_EQ(rpcrdma2_segs_bytes(segs), 8);
	EXPECT_EQ(rpcrdma2_hdr_reply_chunk_bytes(&hdr), 0);

	/* with nothing to place, the address does not matter */
	EXPECT_V2(OK, V2_CALL, NO_INV, 0, 1, 1, 7, 0, 0xffffffff, 0xffffffff, 0, 0,
		  RPC_CALL);
}

static void address_wrap(struct kunit *test)
{
	/* beyond the last address */
	EXPECT_V2(BAD_XDR, V2_CALL, NO_INV, 1, 4, 1, 0x2000, 0xffffffff, 0xfffff000,
		  NO_CHUNKS, RPC_CALL);
	EXPECT_V2(BAD_XDR, V2_CALL, NO_INV, 0, 1, 1, 1, 0x1001, 0xffffffff, 0xfffff000,
		  0, 0, RPC_CALL);
	EXPECT_V2(BAD_XDR, V2_CALL, NO_INV, 0, 0, 1, 1, 1, 0xffffffff, 0xffffffff,
		  0xfffff000, RPC_CALL);
	EXPECT_V2(BAD_XDR, V2_NOMSG_CALL, NO_INV, READ_ENTRY(0, 1, 4), 1, 0, 1, 0x1001,
		  0xffffffff, 0xfffff000, NO_CHUNKS, 0);
	EXPECT_V2(BAD_XDR, V2_NOMSG_CALL, NO_INV, READ_ENTRY(0, 1, 4), 0, 1, 1, 1,
		  0x1001, 0xffffffff, 0xfffff000, 0, 0);
	EXPECT_V2(BAD_XDR, V2_NOMSG_CALL, NO_INV, READ_ENTRY(0, 1, 4), 0, 0, 1, 1, 1,
		  0x1001, 0xffffffff, 0xfffff000);
	EXPECT_V1(BAD_XDR, V1_MSG, 0, 0, 1, 1, 1, 0xffffffff, 0xffffffff, 0xfffff000,
		  RPC_CALL);
	EXPECT_V2(DROP, V2_REPLY, NO_INV, 0, 1, 1, 1, 0x2000, 0xffffffff, 0xfffff000, 0,
		  0, RPC_REPLY);
	/* up to the last address */
	EXPECT_V2(OK, V2_CALL, NO_INV, 0, 1, 1, 1, 0x1000, 0xffffffff, 0xfffff000, 0, 0,
		  RPC_CALL);
}

/* Lengths add up in 64 bits. */
static void long_chunks(struct kunit *test)
{
	struct rpcrdma2_cursor segs;

	EXPECT_V2(OK, V2_CALL, NO_INV, 0, 0, 1, 3, SEG(1, 0xffffffff),
		  SEG(2, 0xffffffff), SEG(3, 0xffffffff), RPC_CALL);
	EXPECT_TRUE(rpcrdma2_hdr_reply_chunk(&hdr, &segs));
	EXPECT_EQ(rpcrdma2_segs_bytes(segs), 3 * 0xffffffffULL);
	EXPECT_EQ(segs.left, 3);
}

static void handles(struct kunit *test)
{
#define EXPECT_INV(inv, named) do {						\
	EXPECT_V2(OK, V2_CALL, inv, READ_ENTRY(8, 11, 4), READ_ENTRY(8, 12, 4),	\
		  0, 1, 0, 1, 2, SEG(13, 4), SEG(14, 4), 0, 1, 1, SEG(15, 4),	\
		  RPC_CALL);							\
	EXPECT_EQ(hdr.has_inv_handle, named);					\
	EXPECT_EQ(hdr.only_handle, 0);						\
} while (0)

	EXPECT_INV(11, true);
	EXPECT_INV(12, true);
	EXPECT_INV(13, true);
	EXPECT_INV(14, true);
	EXPECT_INV(15, true);
	EXPECT_INV(NO_INV, false);
	EXPECT_INV(0xdead, false);
#undef EXPECT_INV

	EXPECT_V2(OK, V2_CALL, NO_INV, READ_ENTRY(8, 11, 4), 0, 1, 1, SEG(11, 4), 0, 1,
		  2, SEG(11, 4), SEG(11, 4), RPC_CALL);
	EXPECT_EQ(hdr.only_handle, 11);

	EXPECT_V2(OK, V2_CALL, NO_INV, 0, 0, 1, 1, SEG(15, 4), RPC_CALL);
	EXPECT_EQ(hdr.only_handle, 15);

	EXPECT_V2(OK, V2_CALL, NO_INV, READ_ENTRY(8, 0, 4), 0, 0, 1, 1, SEG(15, 4),
		  RPC_CALL);
	EXPECT_EQ(hdr.only_handle, 0);

	EXPECT_V2(OK, V2_CALL, NO_INV, NO_CHUNKS, RPC_CALL);
	EXPECT_EQ(hdr.only_handle, 0);
	EXPECT_FALSE(hdr.has_inv_handle);

	/* the first of several, and one that returns */
	EXPECT_V2(OK, V2_CALL, NO_INV, 0, 0, 1, 3, SEG(15, 4), SEG(16, 4), SEG(15, 4),
		  RPC_CALL);
	EXPECT_EQ(hdr.only_handle, 0);
}

/* What the peer asks to invalidate is kept as it is for the caller. */
static void foreign_inv_handle(struct kunit *test)
{
	EXPECT_V2(OK, V2_CALL, 0xdead, 0, 0, 1, 1, SEG(15, 4),
		  RPC_CALL);
	EXPECT_EQ(hdr.inv_handle, 0xdead);
	EXPECT_FALSE(hdr.has_inv_handle);

	/* in a Reply it is ignored */
	EXPECT_V2(OK, V2_REPLY, 0xdead, NO_CHUNKS, RPC_REPLY);
	EXPECT_EQ(hdr.inv_handle, 0);
}

/* The largest Call every responder takes: 16 segments in each chunk. */
static void largest_call(struct kunit *test)
{
	struct message m = message_new(test, NULL, 1328);
	u32 chunk, i;
	u8 *p;

	memset(m.p, 0, m.len);
	put_unaligned_be32(XID, m.p);
	put_unaligned_be32(2, m.p + 4);
	put_unaligned_be32(RDMA2_NOMSG, m.p + 12);
	for (i = 0, p = m.p + 24; i < 32; i++, p += 24) {
		put_unaligned_be32(1, p);
		put_unaligned_be32(i < 16 ? 0 : 200, p + 4);
	}
	p += 4;
	for (chunk = 0; chunk < 2; chunk++, p += 8 + 256 + 4) {
		put_unaligned_be32(1, p);
		put_unaligned_be32(16, p + 4);
	}
	EXPECT_PTR_EQ(p, m.p + m.len + 4);
	EXPECT_VERDICT(v2, m, OK);
	EXPECT_EQ(hdr.max_segs, RPCRDMA2_MAX_SEGS);
	EXPECT_EQ(hdr.read_chunks, 1);
	EXPECT_EQ(walk(&hdr), 64);
}

static void big_htypes(struct kunit *test)
{
	static const u32 htypes[] = {
		5, 6, 0x7fffffff, 0x80000000, 0xffffff02, 0xffffffff,
	};
	u8 buf[RPCRDMA2_PREFIX];
	u32 i;

	for (i = 0; i < ARRAY_SIZE(htypes); i++) {
		EXPECT_EQ(rpcrdma2_wire_encode_control(XID, 1, htypes[i], false, buf,
						       sizeof(buf)),
			  (int)RPCRDMA2_PREFIX);
		v2->decode(buf, sizeof(buf), &hdr);
		EXPECT_EQ(hdr.htype, htypes[i]);
	}
}

static struct kunit_case wire_cases[] = {
	RPCRDMA2_CASE(constants, "FLG-1,HT-1,HT-6,INL-2,LNG-6,V1-7,CHG-1"),
	RPCRDMA2_CASE(call_without_chunks,
		      "HDR-1,CHK-1,CHK-3,CHK-5,MSG-1,RINV-2"),
	RPCRDMA2_CASE(reply_without_chunks, "HDR-1,MSG-1"),
	RPCRDMA2_CASE(read_chunk, "CHK-1,CHK-2,CHK-3,RINV-1"),
	RPCRDMA2_CASE(nomsg_call, "CHK-1,CHK-5,LNG-1,RINV-1"),
	RPCRDMA2_CASE(nomsg_reply, "CHK-5,LNG-8"),
	RPCRDMA2_CASE(returned_write_chunk, "CHK-4,CHK-15"),
	RPCRDMA2_CASE(v1_call, "V1-1,CHK-1,HDR-2"),
	RPCRDMA2_CASE(common_words, "HDR-2,EXT-9"),
	RPCRDMA2_CASE(version_first, "HDR-4,FLG-11"),
	RPCRDMA2_CASE(short_messages, "HDR-5,D-9"),
	RPCRDMA2_CASE(short_v1_error, "HDR-5,V1-2"),
	RPCRDMA2_CASE(cut_vectors, "CHK-7,ERR-9,SEC-2,SEC-3"),
	RPCRDMA2_CASE(flipped_vectors, "CHK-7,SEC-2,SEC-3"),
	RPCRDMA2_CASE(lying_counts, "CHK-7,SEC-3"),
	RPCRDMA2_CASE(cut_segment, "CHK-7,SEC-2"),
	RPCRDMA2_CASE(discriminators, "CHK-6"),
	RPCRDMA2_CASE(unaligned_position, "CHK-9"),
	RPCRDMA2_CASE(interleaved_positions, "CHK-11,CHK-12,D-20"),
	RPCRDMA2_CASE(many_positions, "CHK-12,SEC-3"),
	RPCRDMA2_CASE(odd_segment_lengths, "CHK-11"),
	RPCRDMA2_CASE(zero_length_segments, "CHK-26,CHK-18"),
	RPCRDMA2_CASE(address_wrap, "CHK-25"),
	RPCRDMA2_CASE(long_chunks, "CHK-25"),
	RPCRDMA2_CASE(handles, "RINV-1,RINV-4,RINV-8,RINV-21"),
	RPCRDMA2_CASE(foreign_inv_handle, "RINV-8,RINV-10"),
	RPCRDMA2_CASE(largest_call, "CHK-27"),
	RPCRDMA2_CASE(big_htypes, "HDR-10"),
	{}
};

RPCRDMA2_SUITE(wire);
