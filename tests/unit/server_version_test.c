// SPDX-License-Identifier: GPL-2.0
/*
 * How the server settles the version of a connection: what its table
 * of states leaves out, whose rows are tests of their own.
 */

#include "unit.h"

/* A server; @codec is that of the version that is settled, or NULL. */
static struct server {
	struct kunit			*test;
	struct rpcrdma2_ver_policy	policy;
	const struct rpcrdma2_codec	*codec;
	struct rpcrdma2_hdr		hdr;
	enum rpcrdma2_verdict		verdict;
} s;

static int server_init(struct kunit *test)
{
	memset(&s, 0, sizeof(s));
	s.test = test;
	s.policy.v1 = true;
	s.policy.v2 = true;
	return 0;
}

static enum rpcrdma2_srv_action server_message(struct message m)
{
	enum rpcrdma2_srv_action action;

	memset(&s.hdr, 0xa5, sizeof(s.hdr));
	s.verdict = RPCRDMA2_OK;
	action = rpcrdma2_srv_ver_message(&s.policy, s.codec, m.p, m.len, &s.hdr,
					  &s.verdict);
	if (action == RPCRDMA2_SRV_SETTLE) {
		KUNIT_EXPECT_NULL(s.test, s.codec);
		KUNIT_EXPECT_EQ(s.test, s.verdict, RPCRDMA2_OK);
		s.codec = rpcrdma2_wire_codec(s.hdr.vers);
		action = RPCRDMA2_SRV_PASS;
	}
	return action;
}

static enum rpcrdma2_srv_action server_vector(enum vector_id id)
{
	return server_message(message_vector(s.test, id));
}

static void expect_pass(enum vector_id id, const struct rpcrdma2_codec *codec)
{
	KUNIT_EXPECT_EQ(s.test, server_vector(id), RPCRDMA2_SRV_PASS);
	KUNIT_EXPECT_EQ(s.test, s.verdict, RPCRDMA2_OK);
	KUNIT_EXPECT_PTR_EQ(s.test, s.codec, codec);
}

static void expect_refused(struct message m,
			   enum rpcrdma2_srv_action action, u32 low, u32 high)
{
	KUNIT_EXPECT_EQ(s.test, server_message(m), action);
	KUNIT_EXPECT_EQ(s.test, s.verdict, RPCRDMA2_BAD_VERS);
	KUNIT_EXPECT_EQ(s.test, s.hdr.err_arg[0], low);
	KUNIT_EXPECT_EQ(s.test, s.hdr.err_arg[1], high);
	KUNIT_EXPECT_EQ(s.test, s.hdr.xid, get_unaligned_be32(m.p));
	KUNIT_EXPECT_EQ(s.test, s.hdr.vers, get_unaligned_be32(m.p + 4));
	KUNIT_EXPECT_FALSE(s.test, s.hdr.response);
	KUNIT_EXPECT_NULL(s.test, s.hdr.body);
}

/* A Call as vector T1, of another version */
static struct message call_of(struct kunit *test, u32 vers)
{
	struct message m = message_vector(test, VEC_T1);

	put_unaligned_be32(vers, m.p + 4);
	return m;
}

/* What is to be done with a message, and its verdict */
#define EXPECT_SRV(action, result, now)					\
do {									\
	EXPECT_EQ(now, RPCRDMA2_SRV_##action);				\
	EXPECT_EQ(s.verdict, RPCRDMA2_##result);			\
} while (0)

/* open: other version: refused, nothing fixed, any number of times */
static void row_open_other_version(struct kunit *test)
{
	static const u32 versions[] = { 0, 3, 4, 0x7fffffff, 0xffffffff };
	u32 i;

	for (i = 0; i < ARRAY_SIZE(versions); i++) {
		expect_refused(call_of(test, versions[i]),
			       RPCRDMA2_SRV_ERR_VERS, 1, 2);
		EXPECT_NULL(s.codec);
	}
	/* then the right one */
	expect_pass(VEC_P1, &rpcrdma2_codec_v2);
}

/* open: a disabled version */
static void row_open_disabled_version(struct kunit *test)
{
	s.policy.v2 = false;
	expect_refused(call_of(test, 3), RPCRDMA2_SRV_ERR_VERS, 1, 1);
	expect_pass(VEC_V1, &rpcrdma2_codec_v1);

	server_init(test);
	s.policy.v1 = false;
	expect_refused(call_of(test, 3), RPCRDMA2_SRV_ERR_VERS, 2, 2);
	expect_pass(VEC_T1, &rpcrdma2_codec_v2);
}

/* open: shorter than allowed */
static void row_open_short(struct kunit *test)
{
	static const struct {
		enum vector_id	id;
		u32		min;
	} rows[] = {
		{ VEC_T1, 20 }, { VEC_P1, 20 }, { VEC_V1, 28 },
	};
	struct message m, cut;
	u32 i, len;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		m = message_vector(test, rows[i].id);
		for (len = 0; len < rows[i].min; len++) {
			cut = message_new(test, m.p, len);
			EXPECT_SRV(DROP, DROP, server_message(cut));
		}
	}
	m = call_of(test, 3);
	for (len = 0; len < 16; len++) {
		cut = message_new(test, m.p, len);
		EXPECT_EQ(server_message(cut), RPCRDMA2_SRV_DROP);
	}
	cut = message_new(test, m.p, 16);
	expect_refused(cut, RPCRDMA2_SRV_ERR_VERS, 1, 2);
	EXPECT_NULL(s.codec);
}

/* Settled: other versions */
static void row_other_version(struct kunit *test)
{
	server_vector(VEC_P1);
	expect_refused(call_of(test, 3), RPCRDMA2_SRV_ERR_VERS_CLOSE, 2, 2);
	EXPECT_PTR_EQ(s.codec, &rpcrdma2_codec_v2);
	server_init(test);
	server_vector(VEC_V1);
	expect_refused(message_vector(test, VEC_T1), RPCRDMA2_SRV_ERR_VERS_CLOSE, 1, 1);
	expect_refused(message_vector(test, VEC_T2), RPCRDMA2_SRV_CLOSE, 1, 1);
}

/* Neither an ERROR nor a Reply can be the first message: there was no Call. */
static void first_message_answers(struct kunit *test)
{
	u32 id;

	for (id = VEC_E1a; id <= VEC_E9; id++)
		EXPECT_EQ(server_vector(id), RPCRDMA2_SRV_DROP);
	EXPECT_EQ(server_vector(VEC_V2), RPCRDMA2_SRV_DROP);
	EXPECT_EQ(server_message(MESSAGE(V1_MSG, NO_CHUNKS, RPC_REPLY)),
		  RPCRDMA2_SRV_DROP);
	EXPECT_NULL(s.codec);
}

/* Faults are answered in the version of the message but settle nothing. */
static void faults_settle_nothing(struct kunit *test)
{
	EXPECT_SRV(PASS, BAD_XDR, server_message(MESSAGE(V2_CALL, NO_INV, 7)));
	EXPECT_EQ(s.hdr.vers, 2);
	EXPECT_SRV(PASS, INVAL_HTYPE, server_vector(VEC_G1));
	EXPECT_SRV(PASS, BAD_XDR, server_vector(VEC_P4));
	EXPECT_SRV(PASS, BAD_XDR, server_vector(VEC_P5));
	EXPECT_SRV(PASS, BAD_XDR, server_message(MESSAGE(V1_MSG, 7, 0, 0)));
	EXPECT_EQ(s.hdr.vers, 1);
	EXPECT_NULL(s.codec);
	expect_pass(VEC_V1, &rpcrdma2_codec_v1);
}

static void other_drafts(struct kunit *test)
{
	struct message m;
	u32 htype;

	/* GRANT of a later draft: a prefix of four words, and nothing else */
	m = MESSAGE(XID, 2, 16, 5);
	EXPECT_TRUE(rpcrdma2_neg_other_draft(m.p, m.len));
	for (htype = 0; htype < 20; htype++) {
		m = MESSAGE(XID, 2, 16, 0, 0, 0);
		put_unaligned_be32(htype, m.p + 12);
		EXPECT_EQ(rpcrdma2_neg_other_draft(m.p, m.len),
			  htype >= 6 && htype <= 13);
		EXPECT_FALSE(rpcrdma2_neg_other_draft(m.p, 15));
		put_unaligned_be32(1, m.p + 4);
		EXPECT_FALSE(rpcrdma2_neg_other_draft(m.p, m.len));
	}
}

static struct kunit_case server_version_cases[] = {
	RPCRDMA2_CASE(row_open_other_version, "8.2,ERR-11,VER-9,VER-21"),
	RPCRDMA2_CASE(row_open_disabled_version, "8.2,ERR-11,VER-9,VER-24"),
	RPCRDMA2_CASE(row_open_short, "8.2,HDR-5,D-9"),
	RPCRDMA2_CASE(row_other_version, "8.2,HDR-11,HDR-12,D-14"),
	RPCRDMA2_CASE(first_message_answers, "8.2,VER-20,HT-4,V1-3"),
	RPCRDMA2_CASE(faults_settle_nothing, "VER-20,ERR-5,ERR-15,ERR-17"),
	RPCRDMA2_CASE(other_drafts, "VER-23,D-33"),
	{}
};

RPCRDMA2_SUITE(server_version, .init = server_init);
