// SPDX-License-Identifier: GPL-2.0
/*
 * Transport properties: defaults, and sets as we encode them. What a set that arrives
 * means, and what makes it malformed, is compared with the XDR in tests/spec.
 */

#include "unit.h"

/* To be encoded */
static struct rpcrdma2_propset set;

static void defaults(struct kunit *test)
{
	memset(&set, 0xa5, sizeof(set));
	rpcrdma2_propset_init(&set);
	EXPECT_EQ(set.val[RPCRDMA2_RBSIZ], 4096);
	EXPECT_EQ(set.val[RPCRDMA2_BRS], RDMA2_RVREQSUP_INLINE);
	EXPECT_EQ(set.listed, 0);
	EXPECT_EQ(set.nochg, 0);
	EXPECT_FALSE(set.x_change);
	EXPECT_FALSE(set.x_identity);
	EXPECT_FALSE(set.identified);
}

static int encode_set(const void *what, void *buf, u32 size)
{
	return rpcrdma2_propset_encode(what, buf, size);
}

/* A question and an answer */
static void identity(struct kunit *test)
{
	struct message p6 = message_vector(test, VEC_P6);
	struct message p7 = message_vector(test, VEC_P7);

	EXPECT_EQ(RDMA2_PROPID_X_IDENTITY, 4294967045U);
	rpcrdma2_propset_init(&set);
	set.x_identity = true;
	expect_encode(test, encode_set, &set, p6.p + 20, p6.len - 20);
	set.identified = true;
	memcpy(set.identity, p7.p + 32, sizeof(set.identity));
	expect_encode(test, encode_set, &set, p7.p + 20, p7.len - 20);
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
	RPCRDMA2_CASE(identity, "PROP-22,D-53"),
	RPCRDMA2_CASE(encode_vectors, "PROP-1,PROP-2,PROP-20,CONN-5,SEC-19"),
	RPCRDMA2_CASE(propids_sent, "PROP-13,PROP-19,D-3"),
	RPCRDMA2_CASE(first_message_length, "CONN-4,VER-3,VER-4"),
	{}
};

RPCRDMA2_SUITE(props);
