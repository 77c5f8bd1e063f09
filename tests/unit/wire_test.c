// SPDX-License-Identifier: GPL-2.0
/*
 * Decoding: prefix, chunk lists, iterators, and what happens to messages
 * that are cut or that lie about their counts.
 */

#include "decoded.h"
#include "unit.h"

/* Of the message decoded last */
static struct rpcrdma2_hdr hdr;

static const struct rpcrdma2_codec *v2 = &rpcrdma2_codec_v2;
static const struct rpcrdma2_codec *v1 = &rpcrdma2_codec_v1;

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

/* Every vector that is a good message, whose fields are those of vectors.json. T3 and T6 are
 * headers.
 */
static void vectors_decoded(struct kunit *test)
{
	static const struct {
		enum vector_id	id;
		const char	*seen;
	} rows[] = {
		{ VEC_T1, "11223344 v2 type 0 credits 32 call 36+40" },
		{ VEC_T2, "11223344 v2 type 0 credits 16 reply granted 36+24" },
		{ VEC_T3,
		  "11223344 v2 type 0 credits 32 call 84+8 inv a102 named reads 2 chunks 1 max 2 148:a101+4096@7f0000001000 148:a102+904@7f0000009000"
		},
		{ VEC_T4,
		  "11223344 v2 type 1 credits 32 call 104 inv b203 named pz reads 2 results 20 max 2 0:b201+4096@1000 0:b202+100@5000 R(b203+65536@10000)=65536"
		},
		{ VEC_T5,
		  "11223344 v2 type 1 credits 16 reply granted 56 only b203 results 20 max 1 R(b203+5000@10000)=5000"
		},
		{ VEC_T6,
		  "11223344 v2 type 0 credits 16 reply granted 76+8 writes 1 results 40 max 2 W(c301+8192@2000 c302+0@4000)=8192"
		},
		{ VEC_E2, "11223344 v2 type 4 credits 16 reply 20+4 error 2" },
		{ VEC_E3, "11223344 v2 type 4 credits 16 reply 20+4 error 3" },
		{ VEC_E4, "11223344 v2 type 4 credits 16 reply 20+8 error 4(1 0)" },
		{ VEC_E5, "11223344 v2 type 4 credits 16 reply 20+8 error 5(1 0)" },
		{ VEC_E6, "11223344 v2 type 4 credits 16 reply 20+8 error 6(16 0)" },
		{ VEC_E7, "11223344 v2 type 4 credits 16 reply 20+12 error 7(1 8192)" },
		{ VEC_E8, "11223344 v2 type 4 credits 16 reply 20+8 error 8(20480 0)" },
		{ VEC_E9, "11223344 v2 type 4 credits 16 reply 20+4 error 9" },
		{ VEC_E1b, "11223344 v2 type 4 credits 32 reply 20+8 error 1(1 1)" },
		{ VEC_E1d, "11223344 v2 type 4 credits 16 reply 20+12 error 1(1 1)" },
		{ VEC_E1c, "11223344 v1 type 4 credits 32 reply 16+12 error 1(1 1)" },
		{ VEC_P1, "c0de0001 v2 type 5 credits 32 call 20+28" },
		{ VEC_P2, "c0de0001 v2 type 5 credits 16 reply granted 20+44" },
		{ VEC_V1, "11223344 v1 type 0 credits 32 call 28+40" },
		{ VEC_V2, "11223344 v1 type 4 credits 32 reply 16+4 error 2" },
	};
	struct message m;
	u32 i, id;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		id = rows[i].id;
		m = message_whole(test, id);
		EXPECT_STREQ(seen(rpcrdma2_wire_codec(vectors[id].words[1]), m), rows[i].seen);
	}
}

/* Words 0 to 3 mean the same to both codecs, and to a bare peek. */
static void common_words(struct kunit *test)
{
	struct message m = message_vector(test, VEC_T1);

	EXPECT_STREQ(seen(v1, m), "BAD_VERS 11223344 v2 type 0 credits 32");
	m = message_vector(test, VEC_V1);
	EXPECT_STREQ(seen(v2, m), "BAD_VERS 11223344 v1 type 0 credits 32");

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

	m = payload ? message_whole(test, id) : message_vector(test, id);
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
	struct message m = message_whole(test, VEC_T3);
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
	EXPECT_SEEN2("11223344 v2 type 0 credits 32 call 156+8 reads 5 chunks 2 max 3 400:1+10@1000 100:2+10@1000 400:3+10@1000 100:4+10@1000 400:5+10@1000",
		     V2_CALL, NO_INV, READ_ENTRY(400, 1, 10), READ_ENTRY(100, 2, 10),
		     READ_ENTRY(400, 3, 10), READ_ENTRY(100, 4, 10), READ_ENTRY(400, 5, 10),
		     NO_CHUNKS, RPC_CALL);
	EXPECT_SEEN2("11223344 v2 type 1 credits 32 call 132 pz reads 4 chunks 1 max 2 100:1+10@1000 0:2+10@1000 100:3+10@1000 0:4+10@1000",
		     V2_NOMSG_CALL, NO_INV, READ_ENTRY(100, 1, 10), READ_ENTRY(0, 2, 10),
		     READ_ENTRY(100, 3, 10), READ_ENTRY(0, 4, 10), NO_CHUNKS);
	EXPECT_SEEN2("11223344 v2 type 1 credits 32 call 108 pz reads 3 chunks 1 max 2 0:1+10@1000 8:2+10@1000 0:3+10@1000",
		     V2_NOMSG_CALL, NO_INV, READ_ENTRY(0, 1, 10), READ_ENTRY(8, 2, 10),
		     READ_ENTRY(0, 3, 10), NO_CHUNKS);
	/* of any length */
	EXPECT_SEEN2("11223344 v2 type 0 credits 32 call 108+8 reads 3 chunks 1 max 3 148:1+1@1000 148:2+4095@1000 148:3+904@1000",
		     V2_CALL, NO_INV, READ_ENTRY(148, 1, 1), READ_ENTRY(148, 2, 4095),
		     READ_ENTRY(148, 3, 904), NO_CHUNKS, RPC_CALL);
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

static void zero_length_segments(struct kunit *test)
{
	EXPECT_SEEN2("11223344 v2 type 1 credits 32 call 168 pz reads 3 writes 1 results 60 max 3 0:1+100@1000 0:2+0@1000 0:3+100@1000 W(4+0@2000 5+8@2000)=8 R(6+0@2000)=0",
		     V2_NOMSG_CALL, NO_INV, READ_ENTRY(0, 1, 100), READ_ENTRY(0, 2, 0),
		     READ_ENTRY(0, 3, 100), 0, 1, 2, SEG(4, 0), SEG(5, 8), 0, 1, 1, SEG(6, 0));
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
	static const u32 inv[] = { 11, 12, 13, 14, 15, NO_INV, 0xdead };
	struct message m = MESSAGE(V2_CALL, 0, READ_ENTRY(8, 11, 4), READ_ENTRY(8, 12, 4),
				   0, 1, 0, 1, 2, SEG(13, 4), SEG(14, 4), 0, 1, 1, SEG(15, 4),
				   RPC_CALL);
	u32 i;

	for (i = 0; i < ARRAY_SIZE(inv); i++) {
		put_unaligned_be32(inv[i], m.p + RPCRDMA2_PREFIX);
		EXPECT_VERDICT(v2, m, OK);
		EXPECT_EQ(hdr.has_inv_handle, i < 5);
		EXPECT_EQ(hdr.only_handle, 0);
		/* what the peer asks to invalidate is kept as it is for the caller */
		EXPECT_EQ(hdr.inv_handle, inv[i]);
	}
	EXPECT_SEEN2("11223344 v2 type 0 credits 32 call 120+8 only b reads 1 chunks 1 writes 1 results 60 max 2 8:b+4@1000 W(b+4@2000)=4 R(b+4@2000 b+4@2000)=8",
		     V2_CALL, NO_INV, READ_ENTRY(8, 11, 4), 0, 1, 1, SEG(11, 4), 0, 1, 2,
		     SEG(11, 4), SEG(11, 4), RPC_CALL);
	EXPECT_SEEN2("11223344 v2 type 0 credits 32 call 56+8 only f results 20 max 1 R(f+4@2000)=4",
		     V2_CALL, NO_INV, 0, 0, 1, 1, SEG(15, 4), RPC_CALL);
	EXPECT_SEEN2("11223344 v2 type 0 credits 32 call 80+8 named reads 1 chunks 1 results 20 max 1 8:0+4@1000 R(f+4@2000)=4",
		     V2_CALL, NO_INV, READ_ENTRY(8, 0, 4), 0, 0, 1, 1, SEG(15, 4), RPC_CALL);
	EXPECT_SEEN2("11223344 v2 type 0 credits 32 call 36+8",
		     V2_CALL, NO_INV, NO_CHUNKS, RPC_CALL);
	/* the first of several, and one that returns */
	EXPECT_SEEN2("11223344 v2 type 0 credits 32 call 88+8 results 52 max 3 R(f+4@2000 10+4@2000 f+4@2000)=12",
		     V2_CALL, NO_INV, 0, 0, 1, 3, SEG(15, 4), SEG(16, 4), SEG(15, 4),
		     RPC_CALL);
	/* one that no chunk has */
	EXPECT_SEEN2("11223344 v2 type 0 credits 32 call 36+8 inv dead",
		     V2_CALL, 0xdead, NO_CHUNKS, RPC_CALL);
	/* in a Reply none is asked for */
	EXPECT_SEEN2("11223344 v2 type 0 credits 16 reply granted 36+8",
		     V2_REPLY, 0xdead, NO_CHUNKS, RPC_REPLY);
	EXPECT_SEEN2("11223344 v2 type 0 credits 16 reply granted 60+8 only f writes 1 results 24 max 1 W(f+4@2000)=4",
		     V2_REPLY, 0xdead, 0, 1, 1, SEG(15, 4), 0, 0, RPC_REPLY);
}

/* A word counts as a whole, not only its last three bytes. */
static void first_bytes(struct kunit *test)
{
	EXPECT_V2(BAD_VERS, XID, 0, 0x02000000, 0, 0, NO_INV, NO_CHUNKS, RPC_CALL);
	EXPECT_V2(INVAL_HTYPE, XID, 2, 32, 0xff000000, 0, NO_INV, NO_CHUNKS, RPC_CALL);
	EXPECT_V2(BAD_XDR, 0x223344, 2, 32, 0, 0, NO_INV, 0, 0, 0xff000000, 0x223344, 0);
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
	RPCRDMA2_CASE(vectors_decoded,
		      "HDR-1,HDR-2,CHK-1,CHK-2,CHK-3,CHK-4,CHK-5,CHK-15,MSG-1,LNG-1,LNG-8,"
		      "RINV-1,RINV-2,FLG-7,CRED-1,CRED-14,ERR-3,ERR-15,ERR-17,ERR-19,ERR-21,"
		      "ERR-24,ERR-26,ERR-28,ERR-31,HT-1,V1-1,V1-2,CONN-1"),
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
	RPCRDMA2_CASE(zero_length_segments, "CHK-26,CHK-18"),
	RPCRDMA2_CASE(address_wrap, "CHK-25"),
	RPCRDMA2_CASE(long_chunks, "CHK-25"),
	RPCRDMA2_CASE(handles, "RINV-1,RINV-4,RINV-8,RINV-10,RINV-21"),
	RPCRDMA2_CASE(first_bytes, "HDR-4,HDR-10,CHK-1"),
	RPCRDMA2_CASE(big_htypes, "HDR-10"),
	{}
};

RPCRDMA2_SUITE(wire);
