// SPDX-License-Identifier: GPL-2.0
/*
 * Version negotiation of the client: what its table of states leaves out, whose rows
 * are tests of their own, and what a transport remembers.
 */

#include "unit.h"

#define NEG_XID		0xc0de0001U	/* XID of vectors P1 and P2 */

/* A client: its memory lives on, its negotiation is one connection. */
static struct client {
	struct kunit			*test;
	struct rpcrdma2_ver_policy	policy;
	struct rpcrdma2_ver_memory	mem;
	struct rpcrdma2_neg		neg;
	struct rpcrdma2_hdr		hdr;
	u64				now;
} c;

static int client_init(struct kunit *test)
{
	memset(&c, 0, sizeof(c));
	c.test = test;
	c.policy.v1 = true;
	c.policy.v2 = true;
	c.policy.remember_min = 60;
	c.policy.remember_max = 600;
	c.now = 1000;
	return 0;
}

static enum rpcrdma2_neg_action client_connect(u32 xid)
{
	return rpcrdma2_neg_connected(&c.neg, &c.policy, &c.mem, xid, c.now);
}

/* A new connection that has sent its CONNPROP */
static void client_wait(u32 xid)
{
	KUNIT_EXPECT_EQ(c.test, client_connect(xid), RPCRDMA2_DO_SEND_CONNPROP);
	KUNIT_EXPECT_EQ(c.test, c.neg.state, RPCRDMA2_NEG_WAIT);
}

/* The same of another client, which knows nothing */
static void client_restart(u32 xid)
{
	client_init(c.test);
	client_wait(xid);
}

static enum rpcrdma2_neg_action client_timeout(void)
{
	return rpcrdma2_neg_timeout(&c.neg, c.now);
}

static enum rpcrdma2_neg_action client_lost(void)
{
	return rpcrdma2_neg_lost(&c.neg, c.now);
}

/* A new connection that has sent its Call, after another without an answer to
 * CONNPROP
 */
static void client_wait_reply(u32 xid)
{
	client_wait(OTHER_XID);
	KUNIT_EXPECT_EQ(c.test, client_timeout(), RPCRDMA2_DO_RECONNECT);
	KUNIT_EXPECT_EQ(c.test, client_connect(xid), RPCRDMA2_DO_SEND_CALL);
	KUNIT_EXPECT_EQ(c.test, c.neg.state, RPCRDMA2_NEG_WAIT_REPLY);
}

/* Nothing at all is answered. */
static void client_silence(void)
{
	client_wait_reply(NEG_XID);
	KUNIT_EXPECT_EQ(c.test, client_timeout(), RPCRDMA2_DO_RECONNECT);
}

static bool client_refused(u32 err, u32 arg0, u32 arg1)
{
	const struct rpcrdma2_hdr hdr = { .err = err, .err_arg = { arg0, arg1 } };

	return rpcrdma2_neg_refused(&c.neg, &hdr, c.now);
}

static enum rpcrdma2_neg_action client_message(struct message m)
{
	return rpcrdma2_neg_message(&c.neg, m.p, m.len, &c.hdr, c.now);
}

static enum rpcrdma2_neg_action client_vector(enum vector_id id)
{
	return client_message(message_vector(c.test, id));
}

static void expect_state(enum rpcrdma2_neg_state state, enum rpcrdma2_why why)
{
	KUNIT_EXPECT_EQ(c.test, c.neg.state, state);
	KUNIT_EXPECT_EQ(c.test, c.neg.why, why);
}

static void expect_remembered(u32 span, enum rpcrdma2_why why)
{
	KUNIT_EXPECT_EQ(c.test, c.mem.begin, RPCRDMA2_BEGIN_V1);
	KUNIT_EXPECT_EQ(c.test, c.mem.until, c.now + span);
	KUNIT_EXPECT_EQ(c.test, c.mem.span, span);
	KUNIT_EXPECT_EQ(c.test, c.mem.why, why);
}

static void expect_nothing_remembered(void)
{
	KUNIT_EXPECT_EQ(c.test, c.mem.until, 0);
	KUNIT_EXPECT_FALSE(c.test, c.mem.next);
}

/* The next connection of the same attempt starts with v1 and says why. */
static void expect_v1_next(enum rpcrdma2_why why)
{
	KUNIT_EXPECT_EQ(c.test, client_connect(NEG_XID), RPCRDMA2_DO_SETTLE);
	expect_state(RPCRDMA2_NEG_V1, why);
}

/* What the client does now */
#define EXPECT_DO(action, now)	EXPECT_EQ(now, RPCRDMA2_DO_##action)
/* The same, the state that this leads to, and why */
#define EXPECT_TO(to, reason, action, now)				\
do {									\
	EXPECT_DO(action, now);						\
	expect_state(RPCRDMA2_NEG_##to, RPCRDMA2_WHY_##reason);		\
} while (0)

/* wait: ERR_VERS with a range of which 1 is only a part */
static void row_wait_err_vers(struct kunit *test)
{
	client_wait(XID);
	c.mem.losses = 1;
	EXPECT_DO(SETTLE, client_message(MESSAGE(XID, 2, 0, 4, 1, 0, 7)));
	EXPECT_EQ(c.mem.losses, 0);
	EXPECT_FALSE(rpcrdma2_is_grant(&c.hdr));
}

/* wait: ERR_VERS without a usable version */
static void row_wait_err_vers_useless(struct kunit *test)
{
	static const struct {
		u32			low, high;
		enum rpcrdma2_why	why;
	} rows[] = {
		{ 3, 4, RPCRDMA2_WHY_NO_COMMON },
		{ 2, 1, RPCRDMA2_WHY_NO_COMMON },
		{ 0, 0, RPCRDMA2_WHY_NO_COMMON },
		{ 0xffffffff, 0, RPCRDMA2_WHY_NO_COMMON },
		{ 2, 2, RPCRDMA2_WHY_PEER_ERROR },
		{ 2, 9, RPCRDMA2_WHY_PEER_ERROR },
	};
	struct message m;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		client_restart(XID);
		m = message_vector(test, VEC_E1c);
		put_unaligned_be32(rows[i].low, m.p + 20);
		put_unaligned_be32(rows[i].high, m.p + 24);
		EXPECT_DO(FAIL, client_message(m));
		expect_state(RPCRDMA2_NEG_FAILED, rows[i].why);
		expect_nothing_remembered();
	}
}

/* wait: other ERROR with our XID */
static void row_wait_other_error(struct kunit *test)
{
	u32 i;

	/* with a word behind it that makes it as long as ERR_VERS */
	for (i = 2; i < 10; i++) {
		struct message m = MESSAGE(XID, 2, 0, 4, 1, 0, 5);

		if (i == RDMA2_ERR_WRITE_RESOURCE)	/* cut: no ERROR */
			continue;
		put_unaligned_be32(i, m.p + 20);
		client_restart(XID);
		EXPECT_DO(RECONNECT, client_message(m));
		expect_v1_next(RPCRDMA2_WHY_OTHER_ERROR);
	}
	/* a code that nobody knows yet is an answer, too */
	client_restart(XID);
	EXPECT_DO(RECONNECT, client_message(MESSAGE(V2_ERROR, 77)));
}

/* An ERR_CHUNK is known by its length when the version does not tell. */
static void err_chunk_rule(struct kunit *test)
{
	struct message chunk = message_vector(test, VEC_V2);
	struct message cut;
	u32 len;

	client_wait(XID);
	for (len = 0; len < chunk.len; len++) {
		cut = message_new(test, chunk.p, len);
		EXPECT_DO(NOTHING, client_message(cut));
	}
	/* version 2: longer ones are v2 errors without RESPONSE */
	cut = message_new(test, NULL, 21);
	memset(cut.p, 0, cut.len);
	memcpy(cut.p, chunk.p, 20);
	put_unaligned_be32(2, cut.p + 4);
	EXPECT_DO(NOTHING, client_message(cut));
	EXPECT_DO(NOTHING, client_message(MESSAGE(XID, 2, 0, 4, 2, 2)));
	EXPECT_DO(NOTHING, client_message(MESSAGE(XID, 3, 0, 4, 2)));
	EXPECT_TO(WAIT, NONE, NOTHING, client_message(MESSAGE(XID, 1, 0, 4, 3)));
	/* version 1: length does not matter */
	EXPECT_DO(RECONNECT, client_message(MESSAGE(XID, 1, 0, 4, 2, 9, 9, 9)));
}

static struct message reply_to(struct kunit *test, u32 xid)
{
	struct message m = MESSAGE(XID, 2, 16, 0, 1, 0, 0, 0, 0,
				   XID, 1, 0, 0, 0, 0);

	put_unaligned_be32(xid, m.p);
	put_unaligned_be32(xid, m.p + 36);
	return m;
}

/* wait_reply: the Reply, and what is none */
static void row_reply_answer(struct kunit *test)
{
	struct message m;

	client_wait_reply(NEG_XID);
	c.mem.losses = 1;
	/* a Call; no RPC; NOMSG; version 1 */
	m = reply_to(test, NEG_XID);
	put_unaligned_be32(0, m.p + 16);
	EXPECT_DO(NOTHING, client_message(m));
	m = reply_to(test, NEG_XID);
	EXPECT_EQ(client_message(message_new(test, m.p, 40)), RPCRDMA2_DO_NOTHING);
	put_unaligned_be32(1, m.p + 12);
	EXPECT_DO(NOTHING, client_message(m));
	m = reply_to(test, NEG_XID);
	put_unaligned_be32(1, m.p + 4);
	EXPECT_TO(WAIT_REPLY, NONE, NOTHING, client_message(m));

	EXPECT_TO(V2, REPLY, SETTLE, client_message(reply_to(test, NEG_XID)));
	EXPECT_TRUE(rpcrdma2_is_grant(&c.hdr));
	EXPECT_EQ(c.hdr.credit, 16);
	EXPECT_EQ(c.mem.losses, 0);
}

/* Connections of the next minute begin with a Call; later ones ask again. */
static void memory_of_a_call(struct kunit *test)
{
	static const u32 spans[] = { 60, 120, 240, 480, 600, 600 };
	u32 i;

	for (i = 0; i < ARRAY_SIZE(spans); i++) {
		client_wait_reply(NEG_XID);
		client_message(reply_to(test, NEG_XID));
		rpcrdma2_neg_proved(&c.neg);
		EXPECT_EQ(c.mem.span, spans[i]);
		client_lost();
		c.now += spans[i] - 1;
		EXPECT_DO(SEND_CALL, client_connect(NEG_XID));
		c.mem.losses = 1;
		client_message(reply_to(test, NEG_XID));
		EXPECT_EQ(c.mem.span, spans[i]);
		EXPECT_EQ(c.mem.losses, 0);
		client_lost();
		c.now++;
	}
	/* CONNPROP answered: nothing to remember any more */
	client_wait(NEG_XID);
	client_vector(VEC_P2);
	expect_nothing_remembered();
}

/* wait: connection lost, second time in a row */
static void row_wait_lost_twice(struct kunit *test)
{
	client_wait(NEG_XID);
	client_lost();
	client_wait(NEG_XID);
	EXPECT_DO(RECONNECT, client_lost());
	expect_remembered(60, RPCRDMA2_WHY_LOST);
	EXPECT_EQ(c.mem.losses, 0);
	expect_v1_next(RPCRDMA2_WHY_LOST);
}

/* An answer in between: not in a row. */
static void lost_with_answer_between(struct kunit *test)
{
	client_wait(NEG_XID);
	client_lost();
	client_wait(NEG_XID);
	client_vector(VEC_P2);
	client_lost();
	client_wait(NEG_XID);
	client_lost();
	client_wait(XID);
	client_vector(VEC_E1b);
	rpcrdma2_neg_proved(&c.neg);
	client_lost();
	client_wait(NEG_XID);
	client_lost();
	expect_nothing_remembered();
	client_wait(NEG_XID);
}

/* wait: anything else */
static void row_wait_anything_else(struct kunit *test)
{
	static const enum vector_id ids[] = {
		VEC_T1, VEC_T3, VEC_T4, VEC_T5, VEC_T6, VEC_G1, VEC_G2, VEC_G7,
		VEC_C1, VEC_E2, VEC_V2,
	};
	struct message p2 = message_vector(test, VEC_P2);
	struct message cut;
	u32 i;

	client_wait(OTHER_XID);
	for (i = 0; i < ARRAY_SIZE(ids); i++)
		EXPECT_DO(NOTHING, client_vector(ids[i]));
	/* an ERROR in the layout of v2 without RESPONSE, or cut */
	EXPECT_DO(NOTHING, client_message(MESSAGE(OTHER_XID, 2, 0, 4, 0, 2)));
	EXPECT_DO(NOTHING, client_message(MESSAGE(OTHER_XID, 2, 0, 4, 1, 4)));
	EXPECT_DO(NOTHING, client_message(MESSAGE(OTHER_XID, 1, 0, 4, 77)));
	/* CONNPROP of another version, or with a reserved flag */
	EXPECT_DO(NOTHING, client_message(MESSAGE(OTHER_XID, 3, 0, 5, 1, 0)));
	EXPECT_DO(NOTHING, client_message(MESSAGE(OTHER_XID, 2, 0, 5, 3, 0)));
	for (i = 0; i < RPCRDMA2_PREFIX; i++) {
		cut = message_new(test, p2.p, i);
		EXPECT_DO(NOTHING, client_message(cut));
	}
	expect_state(RPCRDMA2_NEG_WAIT, RPCRDMA2_WHY_NONE);
	expect_nothing_remembered();
}

/* wait: a CONNPROP that cannot be decoded is reported, whatever its flag. */
static void malformed_connprop(struct kunit *test)
{
	struct message m, cut;
	u32 flags, len;

	client_wait(NEG_XID);
	for (flags = 0; flags < 2; flags++) {
		m = message_vector(test, VEC_P4);
		put_unaligned_be32(flags, m.p + 16);
		EXPECT_DO(BAD_XDR, client_message(m));
		EXPECT_EQ(c.hdr.xid, NEG_XID);
		EXPECT_EQ(c.hdr.vers, 2);
	}
	m = message_vector(test, VEC_P2);
	for (len = RPCRDMA2_PREFIX; len < m.len; len++) {
		cut = message_new(test, m.p, len);
		EXPECT_DO(BAD_XDR, client_message(cut));
	}
	expect_state(RPCRDMA2_NEG_WAIT, RPCRDMA2_WHY_NONE);
	/* a good one still counts */
	EXPECT_DO(SETTLE, client_message(m));
}

/* wait: a CONNPROP of a server whose Receives are too small for the protocol */
static void tiny_receives(struct kunit *test)
{
	struct message m = message_vector(test, VEC_P2);

	client_wait(NEG_XID);
	put_unaligned_be32(1023, m.p + 32);
	EXPECT_TO(FAILED, PEER_ERROR, FAIL, client_message(m));
	expect_nothing_remembered();
	client_wait(NEG_XID);
	put_unaligned_be32(1024, m.p + 32);
	EXPECT_TO(V2, CONNPROP, SETTLE, client_message(m));
}

/* v2: INVAL_HTYPE about a Call */
static void row_v2_refused(struct kunit *test)
{
	client_wait(NEG_XID);
	EXPECT_FALSE(client_refused(RDMA2_ERR_INVAL_HTYPE, 0, 0));
	client_vector(VEC_P2);
	EXPECT_FALSE(client_refused(RDMA2_ERR_SYSTEM, 0, 0));
	EXPECT_FALSE(client_refused(RDMA2_ERR_VERS, 2, 2));
	EXPECT_TRUE(client_refused(RDMA2_ERR_INVAL_HTYPE, 0, 0));
	expect_remembered(60, RPCRDMA2_WHY_OTHER_ERROR);
	client_lost();
	expect_v1_next(RPCRDMA2_WHY_OTHER_ERROR);
	EXPECT_FALSE(client_refused(RDMA2_ERR_INVAL_HTYPE, 0, 0));

	client_init(test);
	c.policy.v1 = false;
	client_wait(NEG_XID);
	client_vector(VEC_P2);
	EXPECT_FALSE(client_refused(RDMA2_ERR_INVAL_HTYPE, 0, 0));
	expect_nothing_remembered();
}

/* v1 after two losses: ERR_VERS about a Call */
static void row_v1_refused(struct kunit *test)
{
	client_wait(NEG_XID);
	EXPECT_FALSE(client_refused(RDMA2_ERR_VERS, 2, 2));
	client_lost();
	client_connect(NEG_XID);
	client_lost();
	client_connect(NEG_XID);
	expect_state(RPCRDMA2_NEG_V1, RPCRDMA2_WHY_LOST);
	EXPECT_FALSE(client_refused(RDMA2_ERR_VERS, 1, 1));
	EXPECT_FALSE(client_refused(RDMA2_ERR_VERS, 3, 4));
	EXPECT_FALSE(client_refused(RDMA2_ERR_BAD_XDR, 2, 2));
	expect_remembered(60, RPCRDMA2_WHY_LOST);
	EXPECT_TRUE(client_refused(RDMA2_ERR_VERS, 2, 2));
	expect_nothing_remembered();
	EXPECT_TRUE(client_refused(RDMA2_ERR_VERS, 2, 3));

	/* A server that has refused version 2 as well */
	client_restart(NEG_XID);
	client_vector(VEC_E1b);
	EXPECT_FALSE(client_refused(RDMA2_ERR_VERS, 2, 2));

	client_init(test);
	c.policy.v2 = false;
	client_connect(NEG_XID);
	EXPECT_FALSE(client_refused(RDMA2_ERR_VERS, 2, 2));
}

/* v2, v1: a Reply, then the connection is lost */
static void row_settled_lost(struct kunit *test)
{
	client_wait(NEG_XID);
	client_vector(VEC_P2);
	c.mem.losses = 1;
	rpcrdma2_neg_proved(&c.neg);
	EXPECT_EQ(c.mem.losses, 0);

	/* v1 after ERR_VERS: v2 is tried again */
	client_wait(XID);
	client_vector(VEC_E1b);
	rpcrdma2_neg_proved(&c.neg);
	client_lost();
	EXPECT_EQ(c.neg.state, RPCRDMA2_NEG_START);
	expect_nothing_remembered();
	client_wait(NEG_XID);

	/* nothing happens to one that never began */
	memset(&c.neg, 0, sizeof(c.neg));
	EXPECT_DO(NOTHING, client_lost());
}

/* 60 s doubling to 600 s while it keeps failing; then shortest again. */
static void memory_grows(struct kunit *test)
{
	static const u32 spans[] = { 60, 120, 240, 480, 600, 600 };
	u32 i;

	for (i = 0; i < ARRAY_SIZE(spans); i++) {
		client_silence();
		expect_remembered(spans[i], RPCRDMA2_WHY_SILENCE);
		expect_v1_next(RPCRDMA2_WHY_SILENCE);
		rpcrdma2_neg_proved(&c.neg);
		client_lost();
		/* within the time: v1, and the time does not grow */
		c.now += spans[i] - 1;
		expect_v1_next(RPCRDMA2_WHY_REMEMBERED);
		EXPECT_EQ(c.mem.span, spans[i]);
		EXPECT_FALSE(rpcrdma2_neg_outdated(&c.neg, c.now));
		EXPECT_TRUE(rpcrdma2_neg_outdated(&c.neg, c.now + 1));
		rpcrdma2_neg_proved(&c.neg);
		client_lost();
		/* after it: v2 again */
		c.now++;
	}
	client_wait(NEG_XID);
	client_vector(VEC_P2);
	EXPECT_FALSE(rpcrdma2_neg_outdated(&c.neg, c.now));
	client_lost();
	client_silence();
	expect_remembered(60, RPCRDMA2_WHY_SILENCE);
}

/* ERR_VERS and close, each time: grows. ERR_VERS and on: does not. */
static void memory_of_closing_server(struct kunit *test)
{
	client_wait(XID);
	client_vector(VEC_E1b);
	client_lost();
	expect_remembered(60, RPCRDMA2_WHY_ERR_VERS_LOST);
	client_lost();
	expect_remembered(60, RPCRDMA2_WHY_ERR_VERS_LOST);
	expect_v1_next(RPCRDMA2_WHY_ERR_VERS_LOST);
	client_lost();
	EXPECT_EQ(c.mem.span, 60);
	c.now += 60;
	client_wait(XID);
	client_vector(VEC_E1b);
	client_lost();
	expect_remembered(120, RPCRDMA2_WHY_ERR_VERS_LOST);
	c.now += 120;
	c.mem.next = false;
	client_wait(XID);
	client_vector(VEC_E1b);
	rpcrdma2_neg_proved(&c.neg);
	EXPECT_EQ(c.mem.span, 0);
}

/* A reason that is remembered expires, and with it the version of the connection. */
static void memory_of_each_reason(struct kunit *test)
{
	static const bool expires[RPCRDMA2_NR_WHY] = {
		[RPCRDMA2_WHY_OTHER_ERROR]	= true,
		[RPCRDMA2_WHY_SILENCE]		= true,
		[RPCRDMA2_WHY_LOST]		= true,
		[RPCRDMA2_WHY_ERR_VERS_LOST]	= true,
		[RPCRDMA2_WHY_REMEMBERED]	= true,
		[RPCRDMA2_WHY_REPLY]		= true,
	};

	client_wait(XID);
	for (c.neg.why = 0; c.neg.why < RPCRDMA2_NR_WHY; c.neg.why++)
		EXPECT_EQ(rpcrdma2_neg_outdated(&c.neg, c.now), expires[c.neg.why]);
}

/* Even without any memory the attempt ends with v1, not in a circle. */
static void memory_of_no_time(struct kunit *test)
{
	c.policy.remember_min = 0;
	c.policy.remember_max = 0;
	client_silence();
	expect_v1_next(RPCRDMA2_WHY_SILENCE);
	client_lost();
	client_wait_reply(NEG_XID);
	client_message(reply_to(test, NEG_XID));
	client_lost();
	client_wait(NEG_XID);
}

static void memory_can_be_cleared(struct kunit *test)
{
	client_silence();
	rpcrdma2_neg_forget(&c.mem);
	expect_nothing_remembered();
	client_wait(NEG_XID);
}

static void reasons(struct kunit *test)
{
	u32 i;

	for (i = 0; i <= RPCRDMA2_NR_WHY; i++) {
		EXPECT_NOT_NULL(rpcrdma2_neg_why_name(i));
		EXPECT_NE(rpcrdma2_neg_why_name(i)[0], 0);
	}
}

static struct kunit_case client_version_cases[] = {
	RPCRDMA2_CASE(row_wait_err_vers,
		      "8.1,VER-10,VER-13,ERR-12,CRED-12,V1-11"),
	RPCRDMA2_CASE(row_wait_err_vers_useless, "8.1,ERR-13"),
	RPCRDMA2_CASE(row_wait_other_error, "8.1,VER-18,ERR-18,D-22"),
	RPCRDMA2_CASE(err_chunk_rule, "VER-18,D-9"),
	RPCRDMA2_CASE(row_reply_answer, "8.1,VER-14,D-10,D-22"),
	RPCRDMA2_CASE(memory_of_a_call, "VER-16,VER-17,D-22"),
	RPCRDMA2_CASE(row_wait_lost_twice, "8.1,VER-15,V1-10"),
	RPCRDMA2_CASE(lost_with_answer_between, "VER-15,VER-17"),
	RPCRDMA2_CASE(row_wait_anything_else, "8.1,ERR-6,VER-2"),
	RPCRDMA2_CASE(malformed_connprop, "ERR-1,ERR-5,PROP-11"),
	RPCRDMA2_CASE(tiny_receives, "PROP-16,SEC-11,D-27"),
	RPCRDMA2_CASE(row_v2_refused, "8.1,ERR-18,VER-16,D-34"),
	RPCRDMA2_CASE(row_v1_refused, "VER-10,VER-15,VER-16,D-22"),
	RPCRDMA2_CASE(row_settled_lost, "8.1,REC-1,VER-13"),
	RPCRDMA2_CASE(memory_grows, "VER-16,VER-17,D-22"),
	RPCRDMA2_CASE(memory_of_closing_server, "VER-13,VER-16"),
	RPCRDMA2_CASE(memory_of_each_reason, "VER-16"),
	RPCRDMA2_CASE(memory_of_no_time, "VER-14"),
	RPCRDMA2_CASE(memory_can_be_cleared, "VER-16"),
	RPCRDMA2_CASE(reasons, "SEC-11"),
	{}
};

RPCRDMA2_SUITE(client_version, .init = client_init);
