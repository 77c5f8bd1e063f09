// SPDX-License-Identifier: GPL-2.0
/*
 * Transport properties: sets on the wire, defaults, and everything that
 * makes a set malformed.
 */

#include "unit.h"

/* The set decoded last, or one to be encoded */
static struct rpcrdma2_propset set;

#define RBSIZ(v)	RDMA2_PROPID_RBSIZ, 4, v
#define BRS(v)		RDMA2_PROPID_BRS, 4, v
#define NOCHG(...)	RDMA2_PROPID_X_NOCHG, __VA_ARGS__
#define IDENTITY(...)	RDMA2_PROPID_X_IDENTITY, __VA_ARGS__

/* Decode; the set is untouched if and only if that fails. */
static int decode(struct kunit *test, struct message m)
{
	struct rpcrdma2_propset before;
	int len;

	memset(&set, 0xa5, sizeof(set));
	memset(&before, 0xa5, sizeof(before));
	len = rpcrdma2_propset_decode(m.p, m.len, &set);
	EXPECT_EQ(!memcmp(&set, &before, sizeof(set)), len < 0);
	if (len < 0)
		EXPECT_EQ(len, -EBADMSG);
	return len;
}

/* What is in the set: values, properties listed, and those in X_NOCHG or NOTHING about them */
#define NOTHING		~0U
#define SIZE		BIT(RPCRDMA2_RBSIZ)
#define BOTH		(BIT(RPCRDMA2_RBSIZ) | BIT(RPCRDMA2_BRS))

static void expect_content(struct kunit *test, u32 rbsiz, u32 brs, u32 listed, u32 nochg)
{
	EXPECT_EQ(set.val[RPCRDMA2_RBSIZ], rbsiz);
	EXPECT_EQ(set.val[RPCRDMA2_BRS], brs);
	EXPECT_EQ(set.listed, listed);
	EXPECT_EQ(set.x_change, nochg != NOTHING);
	EXPECT_EQ(set.nochg, nochg == NOTHING ? 0 : nochg);
}

#define EXPECT_SET(rbsiz, brs, listed, nochg, ...)			\
do {									\
	struct message _m = MESSAGE(__VA_ARGS__);			\
									\
	EXPECT_EQ(decode(test, _m), (int)_m.len);			\
	expect_content(test, rbsiz, brs, listed, nochg);		\
} while (0)

#define EXPECT_BAD(...)	EXPECT_EQ(decode(test, MESSAGE(__VA_ARGS__)), -EBADMSG)

static void defaults(struct kunit *test)
{
	memset(&set, 0xa5, sizeof(set));
	rpcrdma2_propset_init(&set);
	expect_content(test, 4096, RDMA2_RVREQSUP_INLINE, 0, NOTHING);
	/* an empty set says just that */
	EXPECT_SET(4096, RDMA2_RVREQSUP_INLINE, 0, NOTHING, 0);
}

/* The set of a golden vector, through the codec as a caller does it. */
static int decode_vector(struct kunit *test, enum vector_id id)
{
	struct message m = message_vector(test, id);
	struct message body;
	struct rpcrdma2_hdr hdr;

	EXPECT_EQ(rpcrdma2_codec_v2.decode(m.p, m.len, &hdr), RPCRDMA2_OK);
	body = message_new(test, hdr.body, hdr.body_len);
	return decode(test, body);
}

static void vectors_decoded(struct kunit *test)
{
	EXPECT_EQ(decode_vector(test, VEC_P1), 28);
	expect_content(test, 4096, RDMA2_RVREQSUP_INLINE, BOTH, NOTHING);
	EXPECT_EQ(decode_vector(test, VEC_P2), 44);
	expect_content(test, 16384, RDMA2_RVREQSUP_INLINE, BOTH, BIT(RPCRDMA2_BRS));
	EXPECT_EQ(decode_vector(test, VEC_P3), 28);
	expect_content(test, 4096, RDMA2_RVREQSUP_INLINE, BIT(RPCRDMA2_BRS), NOTHING);
	EXPECT_EQ(decode_vector(test, VEC_P4), -EBADMSG);
	EXPECT_EQ(decode_vector(test, VEC_P5), -EBADMSG);
}

static void order_has_no_meaning(struct kunit *test)
{
	EXPECT_SET(8192, 2, BOTH, NOTHING, 2, RBSIZ(8192), BRS(2));
	EXPECT_SET(8192, 2, BOTH, NOTHING, 2, BRS(2), RBSIZ(8192));
}

static void lying_count(struct kunit *test)
{
	EXPECT_BAD(1);
	EXPECT_BAD(2, RBSIZ(8192));
	EXPECT_BAD(0x20000001, RBSIZ(8192));
	EXPECT_BAD(0xffffffff, RBSIZ(8192));
	EXPECT_BAD(0xffffffff);
	EXPECT_BAD(1, RDMA2_PROPID_RBSIZ);
	EXPECT_BAD(1, 77);
}

static void zero_length_is_default(struct kunit *test)
{
	EXPECT_SET(4096, RDMA2_RVREQSUP_INLINE, BOTH, NOTHING, 3, RDMA2_PROPID_RBSIZ, 0,
		   RDMA2_PROPID_BRS, 0, RDMA2_PROPID_X_NOCHG, 0);
}

static void unknown_propids(struct kunit *test)
{
	EXPECT_SET(2048, 1, SIZE, NOTHING, 7, 3, 4, 1, 0, 0, 0xfffffffe, 4, 9, 0xffffff00, 0, 77, 5,
		   0x01020304, 0x05ffffff, 77, 5, 0x01020304, 0x05000000, RBSIZ(2048));
}

static void overlong_value(struct kunit *test)
{
	static const u32 lengths[] = {
		5, 6, 7, 8, 9, 0x1000, 0x7fffffff, 0x80000000, 0xfffffff8,
		0xfffffffc, 0xfffffffd, 0xfffffffe, 0xffffffff,
	};
	static const u32 propids[] = { 1, 2, 3, 0xfffffffe,
				       RDMA2_PROPID_X_NOCHG,
				       RDMA2_PROPID_X_IDENTITY };
	struct message m;
	u32 i, j;

	for (i = 0; i < ARRAY_SIZE(propids); i++) {
		for (j = 0; j < ARRAY_SIZE(lengths); j++) {
			m = MESSAGE(1, 0, 4, 1);
			put_unaligned_be32(propids[i], m.p + 4);
			put_unaligned_be32(lengths[j], m.p + 8);
			EXPECT_EQ(decode(test, m), -EBADMSG);
		}
	}
}

/* The padding belongs to the value: without it the set is cut. */
static void missing_padding(struct kunit *test)
{
	struct message m = MESSAGE(1, 77, 5, 0x01020304, 0x05000000);
	struct message cut;
	u32 len;

	for (len = 0; len <= m.len; len++) {
		cut = message_new(test, m.p, len);
		EXPECT_EQ(decode(test, cut), len == m.len ? (int)len : -EBADMSG);
	}
}

static void invalid_content(struct kunit *test)
{
	u32 i;

	for (i = RDMA2_RVREQSUP_NONE; i <= RDMA2_RVREQSUP_GENL; i++) {
		struct message m = MESSAGE(1, BRS(0));

		put_unaligned_be32(i, m.p + 12);
		EXPECT_EQ(decode(test, m), 16);
		EXPECT_EQ(set.val[RPCRDMA2_BRS], i);
	}
	EXPECT_BAD(1, BRS(3));
	EXPECT_BAD(1, BRS(0xffffffff));
}

static void wrong_size(struct kunit *test)
{
	EXPECT_BAD(1, RDMA2_PROPID_RBSIZ, 1, 0x10000000);
	EXPECT_BAD(1, RDMA2_PROPID_RBSIZ, 2, 0x10000000);
	EXPECT_BAD(1, RDMA2_PROPID_RBSIZ, 3, 0x10000000);
	EXPECT_BAD(1, RDMA2_PROPID_RBSIZ, 5, 0, 4096);
	EXPECT_BAD(1, RDMA2_PROPID_RBSIZ, 8, 0, 4096);
	EXPECT_BAD(1, RDMA2_PROPID_BRS, 1, 0);
	EXPECT_BAD(1, RDMA2_PROPID_BRS, 8, 0, 1);
}

static void duplicates(struct kunit *test)
{
	EXPECT_BAD(2, RBSIZ(4096), RBSIZ(4096));
	EXPECT_BAD(2, BRS(1), BRS(1));
	EXPECT_BAD(2, BRS(1), RDMA2_PROPID_BRS, 0);
	EXPECT_BAD(2, NOCHG(4, 0), NOCHG(4, 0));
	EXPECT_BAD(2, NOCHG(0), NOCHG(4, 0));
	EXPECT_SET(4096, 1, 0, NOTHING, 2, 99, 4, 1, 99, 4, 2);
}

/* One bad value, wherever it is, and nothing is taken over. */
static void all_or_nothing(struct kunit *test)
{
	EXPECT_BAD(2, RBSIZ(16384), BRS(3));
	EXPECT_BAD(2, BRS(3), RBSIZ(16384));
	EXPECT_BAD(3, RBSIZ(16384), BRS(2), 77, 100, 0);
}

static void bytes_behind(struct kunit *test)
{
	EXPECT_EQ(decode(test, MESSAGE(1, RBSIZ(8192), BRS(3), 0xffffffff)), 16);
	expect_content(test, 8192, 1, SIZE, NOTHING);
}

/* Bits count the entries of the set, in the order in which they are there. */
static void nochg_subset(struct kunit *test)
{
	EXPECT_SET(8192, 1, BOTH, SIZE, 3, NOCHG(8, 1, 0x2), RBSIZ(8192), BRS(1));
	EXPECT_SET(8192, 1, BOTH, BIT(RPCRDMA2_BRS), 3, NOCHG(8, 1, 0x4), RBSIZ(8192), BRS(1));
	EXPECT_SET(8192, 1, BOTH, BOTH, 3, BRS(1), RBSIZ(8192), NOCHG(8, 1, 0x3));
	/* an entry that we do not know still counts */
	EXPECT_SET(8192, 1, SIZE, SIZE, 3, 77, 0, RBSIZ(8192), NOCHG(8, 1, 0x2));
	/* no word, surplus words, bits beyond the last entry */
	EXPECT_SET(8192, 1, SIZE, 0, 2, RBSIZ(8192), NOCHG(4, 0));
	EXPECT_SET(8192, 1, SIZE, 0, 2, RBSIZ(8192), NOCHG(12, 2, 0xfffffffe, 0xffffffff));

	/* counts and lengths that do not agree */
	EXPECT_BAD(1, NOCHG(1, 0));
	EXPECT_BAD(1, NOCHG(4, 1));
	EXPECT_BAD(1, NOCHG(4, 0x40000000));
	EXPECT_BAD(1, NOCHG(4, 0xffffffff));
	EXPECT_BAD(1, NOCHG(8, 0, 0));
	EXPECT_BAD(1, NOCHG(8, 2, 0));
	EXPECT_BAD(1, NOCHG(6, 0, 0));
}

/* A set whose entry number @entry is RBSIZ, with these words as subset. */
static u32 far_nochg(struct kunit *test, u32 entry, const u8 *words, u32 len)
{
	struct message m = message_new(test, NULL,
				       4 + entry * 8 + 12 + 8 + len);
	u8 *p = m.p + 4;
	u32 i;

	put_unaligned_be32(entry + 2, m.p);
	for (i = 0; i < entry; i++, p += 8) {
		put_unaligned_be32(1000 + i, p);
		put_unaligned_be32(0, p + 4);
	}
	put_unaligned_be32(RDMA2_PROPID_RBSIZ, p);
	put_unaligned_be32(4, p + 4);
	put_unaligned_be32(8192, p + 8);
	put_unaligned_be32(RDMA2_PROPID_X_NOCHG, p + 12);
	put_unaligned_be32(len, p + 16);
	memcpy(p + 20, words, len);
	EXPECT_EQ(decode(test, m), (int)m.len);
	EXPECT_EQ(set.val[RPCRDMA2_RBSIZ], 8192);
	return set.nochg;
}

/* Entry N is bit N mod 32 of word N div 32. Vector G7 is entry 33. */
static void nochg_far_entry(struct kunit *test)
{
	static const u32 entries[] = { 0, 31, 32, 33, 34, 63, 64 };
	struct message g7 = message_vector(test, VEC_G7);
	u32 i, j, word;
	u8 words[16];

	EXPECT_EQ(far_nochg(test, 33, g7.p, g7.len), BIT(RPCRDMA2_RBSIZ));
	EXPECT_EQ(far_nochg(test, 32, g7.p, g7.len), 0);
	EXPECT_EQ(far_nochg(test, 1, g7.p, g7.len), 0);

	for (i = 0; i < ARRAY_SIZE(entries); i++) {
		for (j = 0; j < ARRAY_SIZE(entries); j++) {
			memset(words, 0, sizeof(words));
			put_unaligned_be32(3, words);
			word = 4 + entries[j] / 32 * 4;
			put_unaligned_be32(1U << entries[j] % 32, words + word);
			EXPECT_EQ(far_nochg(test, entries[i], words, sizeof(words)),
				  i == j ? BIT(RPCRDMA2_RBSIZ) : 0);
		}
	}
}

static int encode_set(const void *what, void *buf, u32 size)
{
	return rpcrdma2_propset_encode(what, buf, size);
}

/* A question, an answer, and every other length */
static void identity(struct kunit *test)
{
	struct message p6 = message_vector(test, VEC_P6);
	struct message p7 = message_vector(test, VEC_P7);
	struct message m;
	u32 len;

	for (len = 0; len <= 40; len++) {
		m = message_new(test, NULL, 12 + len + (-len & 3));
		memset(m.p, 0x5a, m.len);
		put_unaligned_be32(1, m.p);
		put_unaligned_be32(RDMA2_PROPID_X_IDENTITY, m.p + 4);
		put_unaligned_be32(len, m.p + 8);
		EXPECT_EQ(decode(test, m), len && len != 16 ? -EBADMSG : (int)m.len);
		message_free(test, m);
	}
	EXPECT_BAD(2, IDENTITY(0), IDENTITY(0));
	EXPECT_BAD(2, IDENTITY(0), IDENTITY(16, 1, 2, 3, 4));
	EXPECT_SET(8192, 1, SIZE, NOTHING, 1, RBSIZ(8192));
	EXPECT_FALSE(set.x_identity);
	EXPECT_FALSE(set.identified);
	EXPECT_SET(8192, 1, SIZE, NOTHING, 2, IDENTITY(0), RBSIZ(8192));
	EXPECT_TRUE(set.x_identity);
	EXPECT_FALSE(set.identified);
	/* Entries of X_NOCHG count this one */
	EXPECT_SET(8192, 1, SIZE, SIZE, 3, IDENTITY(16, 1, 2, 3, 4), RBSIZ(8192),
		   NOCHG(8, 1, 0x2));
	EXPECT_TRUE(set.x_identity);
	EXPECT_TRUE(set.identified);
	EXPECT_EQ(get_unaligned_be32(set.identity), 1);
	EXPECT_EQ(get_unaligned_be32(set.identity + 12), 4);

	EXPECT_EQ(RDMA2_PROPID_X_IDENTITY, 4294967045U);
	rpcrdma2_propset_init(&set);
	set.x_identity = true;
	expect_encode(test, encode_set, &set, p6.p + 20, p6.len - 20);
	set.identified = true;
	memcpy(set.identity, p7.p + 32, sizeof(set.identity));
	expect_encode(test, encode_set, &set, p7.p + 20, p7.len - 20);
}

static void cut_sets(struct kunit *test)
{
	static const enum vector_id ids[] = { VEC_P1, VEC_P2, VEC_P3, VEC_P7 };
	struct message m, cut;
	u32 i, len;

	for (i = 0; i < ARRAY_SIZE(ids); i++) {
		m = message_vector(test, ids[i]);
		for (len = 0; len < m.len - RPCRDMA2_PREFIX; len++) {
			cut = message_new(test, m.p + RPCRDMA2_PREFIX, len);
			EXPECT_EQ(decode(test, cut), -EBADMSG);
			message_free(test, cut);
		}
	}
}

static void encode_vectors(struct kunit *test)
{
	struct message p1 = message_vector(test, VEC_P1);
	struct message p2 = message_vector(test, VEC_P2);
	struct message g1 = message_vector(test, VEC_G1);
	struct message empty = MESSAGE(0);

	rpcrdma2_propset_init(&set);
	expect_encode(test, encode_set, &set, empty.p, empty.len);

	set.listed = BIT(RPCRDMA2_RBSIZ) | BIT(RPCRDMA2_BRS);
	expect_encode(test, encode_set, &set, p1.p + 20, p1.len - 20);

	set.val[RPCRDMA2_RBSIZ] = 16384;
	set.x_change = true;
	set.nochg = BIT(RPCRDMA2_BRS);
	expect_encode(test, encode_set, &set, p2.p + 20, p2.len - 20);
	EXPECT_EQ(p2.len - 20 + 24, RPCRDMA2_PROPS_MAX);

	rpcrdma2_propset_init(&set);
	set.val[RPCRDMA2_RBSIZ] = 8192;
	set.listed = BIT(RPCRDMA2_RBSIZ);
	expect_encode(test, encode_set, &set, g1.p + 20, g1.len - 20);
}

static void round_trip(struct kunit *test)
{
	struct rpcrdma2_propset set, back;
	u8 buf[RPCRDMA2_PROPS_MAX];
	u32 listed, nochg;
	int len;

	for (listed = 0; listed < 4; listed++) {
		for (nochg = 0; nochg < 4; nochg++) {
			rpcrdma2_propset_init(&set);
			set.listed = listed;
			set.x_change = true;
			set.nochg = nochg & listed;
			if (listed & BIT(RPCRDMA2_RBSIZ))
				set.val[RPCRDMA2_RBSIZ] = 0xffffffff;
			if (listed & BIT(RPCRDMA2_BRS))
				set.val[RPCRDMA2_BRS] = RDMA2_RVREQSUP_NONE;
			len = rpcrdma2_propset_encode(&set, buf, sizeof(buf));
			EXPECT_GE(len, 4);
			EXPECT_EQ(rpcrdma2_propset_decode(buf, len, &back), len);
			EXPECT_MEMEQ(set.val, back.val, sizeof(set.val));
			EXPECT_EQ(set.listed, back.listed);
			EXPECT_EQ(set.nochg, back.nochg);
			EXPECT_TRUE(back.x_change);
		}
	}
}

/* Only the numbers of this version are ever sent (not those of xcharext). */
static void propids_sent(struct kunit *test)
{
	u8 buf[RPCRDMA2_PROPS_MAX];

	EXPECT_EQ(RDMA2_PROPID_RBSIZ, 1);
	EXPECT_EQ(RDMA2_PROPID_BRS, 2);
	EXPECT_EQ(RDMA2_PROPID_X_NOCHG, 4294967041U);

	rpcrdma2_propset_init(&set);
	set.listed = ~0U;
	set.x_change = true;
	set.x_identity = true;
	set.identified = true;
	EXPECT_EQ(rpcrdma2_propset_encode(&set, buf, sizeof(buf)), (int)sizeof(buf));
	EXPECT_EQ(get_unaligned_be32(buf), 4);
	EXPECT_EQ(get_unaligned_be32(buf + 4), 1);
	EXPECT_EQ(get_unaligned_be32(buf + 16), 2);
	EXPECT_EQ(get_unaligned_be32(buf + 28), 0xffffff01);
	EXPECT_EQ(get_unaligned_be32(buf + 44), 0xffffff05);
}

static void first_message_length(struct kunit *test)
{
	u8 buf[RPCRDMA2_PROPS_MAX];
	int len;

	EXPECT_LE(RPCRDMA2_PREFIX + RPCRDMA2_PROPS_MAX, RPCRDMA2_FIRST_MSG_MAX);
	rpcrdma2_propset_init(&set);
	set.listed = BIT(RPCRDMA2_RBSIZ);
	len = rpcrdma2_propset_encode(&set, buf, sizeof(buf));
	EXPECT_GE(len + (int)RPCRDMA2_PREFIX, 32);
}

static struct kunit_case props_cases[] = {
	RPCRDMA2_CASE(defaults, "PROP-21,PROP-2,CONN-14,INL-2"),
	RPCRDMA2_CASE(vectors_decoded,
		      "PROP-1,PROP-2,PROP-4,PROP-5,PROP-6,PROP-8,PROP-14,PROP-20,CONN-1,CONN-10,"
		      "ERR-15,D-4,D-24"),
	RPCRDMA2_CASE(order_has_no_meaning, "PROP-2"),
	RPCRDMA2_CASE(lying_count, "PROP-3,SEC-3"),
	RPCRDMA2_CASE(zero_length_is_default, "PROP-4,PROP-20,CHG-30"),
	RPCRDMA2_CASE(unknown_propids, "PROP-5,PROP-10,PROP-12,PROP-19,EXT-2"),
	RPCRDMA2_CASE(overlong_value, "PROP-6,SEC-3"),
	RPCRDMA2_CASE(missing_padding, "PROP-1,PROP-6"),
	RPCRDMA2_CASE(invalid_content, "PROP-7,PROP-17"),
	RPCRDMA2_CASE(wrong_size, "PROP-8,PROP-9,D-12"),
	RPCRDMA2_CASE(duplicates, "PROP-10,D-12"),
	RPCRDMA2_CASE(all_or_nothing, "PROP-11,ERR-5"),
	RPCRDMA2_CASE(bytes_behind, "CHK-31,D-12"),
	RPCRDMA2_CASE(nochg_subset, "PROP-20,CHG-13,CHG-14,CHG-15,D-24"),
	RPCRDMA2_CASE(nochg_far_entry, "CHG-13,D-24"),
	RPCRDMA2_CASE(identity, "PROP-22,D-53"),
	RPCRDMA2_CASE(cut_sets, "PROP-3,PROP-6,SEC-2"),
	RPCRDMA2_CASE(encode_vectors, "PROP-1,PROP-2,PROP-20,CONN-5,SEC-19"),
	RPCRDMA2_CASE(round_trip, "PROP-1,PROP-20"),
	RPCRDMA2_CASE(propids_sent, "PROP-13,PROP-19,D-3"),
	RPCRDMA2_CASE(first_message_length, "CONN-4,VER-3,VER-4"),
	{}
};

RPCRDMA2_SUITE(props);
