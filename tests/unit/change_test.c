// SPDX-License-Identifier: GPL-2.0
/*
 * Changing transport properties: the three messages, and what the side that
 * asks and the side that is asked make of them.
 */

#include "unit.h"

#define RBSIZ(v)	RDMA2_PROPID_RBSIZ, 4, v
#define BRS(v)		RDMA2_PROPID_BRS, 4, v
#define UNKNOWN(id)	id, 0
#define REQPROP(xid)	xid, 2, 32, RDMA2_X_REQPROP, 0
#define RESPROP(xid)	xid, 2, 16, RDMA2_X_RESPROP, 1
#define UPDPROP(xid)	xid, 2, 32, RDMA2_X_UPDPROP, 0
#define NO_VALUES	0
#define GXID		0xc0de0002U		/* of G1 to G5 */
#define OLD		4096
#define ALL		(BIT(RPCRDMA2_RBSIZ) | BIT(RPCRDMA2_BRS))

/* A peer of ours: changes under way, its properties, its last UPDPROP */
static struct asker {
	struct rpcrdma2_change		c;
	struct rpcrdma2_propset		peer;
	struct rpcrdma2_update		upd;
} a;

/* Both sides announce everything, and that all may change. */
static void asker_init(u32 rbsiz)
{
	struct rpcrdma2_propset mine;

	rpcrdma2_propset_init(&mine);
	mine.x_change = true;
	mine.listed = ALL;
	a.peer = mine;
	a.peer.val[RPCRDMA2_RBSIZ] = rbsiz;
	rpcrdma2_prop_change_init(&a.c, &mine, &a.peer);
}

static int change_init(struct kunit *test)
{
	asker_init(OLD);
	return 0;
}

static int ask(enum rpcrdma2_prop prop, u32 value)
{
	return rpcrdma2_prop_change_ask(&a.c, &a.peer, prop, value);
}

static int post(u32 xid)
{
	u8 buf[RPCRDMA2_PROPS_MAX];

	return rpcrdma2_prop_change_put_reqprop(&a.c, xid, buf, sizeof(buf));
}

/* A request for another size is on its way. */
static void asked(u32 rbsiz, u32 wanted)
{
	asker_init(rbsiz);
	ask(RPCRDMA2_RBSIZ, wanted);
	post(XID);
}

static int announce(u32 xid, const struct rpcrdma2_propset *mine)
{
	u8 buf[RPCRDMA2_PROPS_MAX];

	return rpcrdma2_prop_change_put_updprop(&a.c, xid, mine, buf, sizeof(buf));
}

static bool error(u32 xid, u32 err)
{
	return rpcrdma2_prop_change_error(&a.c, &a.peer, xid, err);
}

static u32 limit(void)
{
	return rpcrdma2_prop_change_limit(&a.c, &a.peer, RPCRDMA2_RBSIZ);
}

static struct rpcrdma2_hdr decoded(struct kunit *test, struct message m)
{
	struct rpcrdma2_hdr hdr;

	memset(&hdr, 0, sizeof(hdr));
	EXPECT_EQ(rpcrdma2_prop_change_decode(m.p, m.len, &hdr), RPCRDMA2_OK);
	return hdr;
}

/* Returns 1: answers ours, 2: and is malformed, 0: does not answer ours */
static int answer(struct kunit *test, struct message m)
{
	struct rpcrdma2_hdr hdr = decoded(test, m);
	bool malformed = true, mine;

	mine = rpcrdma2_prop_change_response(&a.c, &hdr, &a.peer, &malformed);
	EXPECT_TRUE(mine || !malformed);
	return mine ? 1 + malformed : 0;
}

static int update(struct kunit *test, struct message m)
{
	struct rpcrdma2_hdr hdr = decoded(test, m);

	return rpcrdma2_prop_change_update(&hdr, &a.peer, &a.upd);
}

#define EXPECT_ANSWER(result, ...)					\
	EXPECT_EQ(answer(test, MESSAGE(__VA_ARGS__)), result)
#define EXPECT_RESULT(prop, res)					\
	EXPECT_EQ(a.c.result[RPCRDMA2_##prop], RPCRDMA2_CHANGE_##res)
#define EXPECT_PEER(prop, value)					\
	EXPECT_EQ(a.peer.val[RPCRDMA2_##prop], value)

/* What is to be sent now */
#define EXPECT_NEXT(what)						\
	EXPECT_EQ(rpcrdma2_prop_change_next(&a.c), what)

/* Encoding of what follows the prefix; a message that does not fit was not made. */

static int encode_g1(const void *what, void *buf, u32 size)
{
	int len;

	asker_init(OLD);
	ask(RPCRDMA2_RBSIZ, 8192);
	len = rpcrdma2_prop_change_put_reqprop(&a.c, GXID, buf, size);
	return len < 0 && a.c.pending ? -EIO : len;
}

static int encode_g6(const void *what, void *buf, u32 size)
{
	struct rpcrdma2_propset mine;
	int len;

	asker_init(OLD);
	mine = a.peer;
	mine.val[RPCRDMA2_RBSIZ] = 16384;
	a.c.dirty |= BIT(RPCRDMA2_RBSIZ);
	len = rpcrdma2_prop_change_put_updprop(&a.c, 1, &mine, buf, size);
	if (len < 0 && (!a.c.dirty || a.c.announcement != RPCRDMA2_ANN_NONE))
		return -EIO;
	return len;
}

/* What is answered to G1 */
struct g1_answer {
	u32	done;
	u32	other;
	u32	rbsiz;
};

static int encode_answer(const void *what, void *buf, u32 size)
{
	const struct g1_answer *answer = what;
	struct rpcrdma2_propset req = {
		.listed	= BIT(RPCRDMA2_RBSIZ),
		.count	= 1,
	};
	struct rpcrdma2_change c = {};
	struct rpcrdma2_propset mine;

	rpcrdma2_propset_init(&mine);
	mine.val[RPCRDMA2_RBSIZ] = answer->rbsiz;
	return rpcrdma2_prop_change_put_resprop(&c, &req, answer->done, answer->other, &mine,
						buf, size);
}

static void encode_vectors(struct kunit *test)
{
	static const struct {
		enum vector_id		id;
		encode_fn		encode;
		struct g1_answer	answer;
	} rows[] = {
		{ VEC_G1, encode_g1 },
		{ VEC_G2, encode_answer, { BIT(RPCRDMA2_RBSIZ), 0, 8192 } },
		{ VEC_G3, encode_answer, { 0, 0, OLD } },
		{ VEC_G4, encode_answer, { 0, BIT(RPCRDMA2_RBSIZ), 6144 } },
		{ VEC_G6, encode_g6 },
	};
	struct message m;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		m = message_vector(test, rows[i].id);
		expect_encode(test, rows[i].encode, &rows[i].answer, m.p + RPCRDMA2_PREFIX,
			      m.len - RPCRDMA2_PREFIX);
	}
}

/* The side that asks */

static void answers_foreign(struct kunit *test)
{
	/* unasked */
	asker_init(OLD);
	EXPECT_ANSWER(0, RESPROP(0), 1, 1, 0, NO_VALUES);
	EXPECT_ANSWER(0, RESPROP(0), 0, 0, 1, RBSIZ(16384));
	EXPECT_PEER(RBSIZ, OLD);

	/* wrong XID, then the right one, then that again */
	ask(RPCRDMA2_RBSIZ, 8192);
	post(XID);
	EXPECT_ANSWER(0, RESPROP(XID + 1), 1, 1, 0, NO_VALUES);
	EXPECT_TRUE(a.c.pending);
	EXPECT_PEER(RBSIZ, OLD);
	EXPECT_ANSWER(1, RESPROP(XID), 1, 1, 0, NO_VALUES);
	EXPECT_ANSWER(0, RESPROP(XID), 0, 0, 1, RBSIZ(16384));
	EXPECT_PEER(RBSIZ, 8192);
}

/* Empty requests: as many as are wanted, one at a time, and others count as well */
static void empty_rounds(struct kunit *test)
{
	asker_init(OLD);
	a.c.rounds = 2;
	EXPECT_NEXT(RDMA2_X_REQPROP);
	EXPECT_EQ(post(XID), 4);
	EXPECT_NEXT(0);
	EXPECT_ANSWER(1, RESPROP(XID), 0, 0, NO_VALUES);
	EXPECT_NEXT(RDMA2_X_REQPROP);
	ask(RPCRDMA2_RBSIZ, 8192);
	EXPECT_EQ(post(XID), 16);
	EXPECT_ANSWER(1, RESPROP(XID), 1, 1, 0, NO_VALUES);
	EXPECT_NEXT(0);
}

/* One at a time; a wish that comes meanwhile is next, the last one counts. */
static void one_outstanding(struct kunit *test)
{
	EXPECT_NEXT(0);
	ask(RPCRDMA2_RBSIZ, 8192);
	EXPECT_NEXT(RDMA2_X_REQPROP);
	post(1);
	EXPECT_NEXT(0);
	ask(RPCRDMA2_RBSIZ, 10240);
	ask(RPCRDMA2_RBSIZ, 12288);
	EXPECT_NEXT(0);
	EXPECT_EQ(post(2), -EBUSY);

	/* done is about what was asked, not about what is wished since */
	EXPECT_ANSWER(1, RESPROP(1), 1, 1, 0, NO_VALUES);
	EXPECT_PEER(RBSIZ, 8192);
	EXPECT_RESULT(RBSIZ, WAITING);
	EXPECT_NEXT(RDMA2_X_REQPROP);
	post(2);
	EXPECT_ANSWER(1, RESPROP(2), 1, 1, 0, NO_VALUES);
	EXPECT_PEER(RBSIZ, 12288);
	EXPECT_NEXT(0);
}

/* A value that was refused comes later; one that is not asked for yet is there. */
static void met_later(struct kunit *test)
{
#define UPDATED(size)							\
do {									\
	EXPECT_EQ(update(test, MESSAGE(UPDPROP(1), 1, RBSIZ(size))), 0); \
	rpcrdma2_prop_change_met(&a.c, &a.peer, RPCRDMA2_RBSIZ);	\
} while (0)
#define ASKED_TWICE()							\
do {									\
	asked(OLD, 8192);						\
	ask(RPCRDMA2_RBSIZ, 16384);					\
	UPDATED(16384);							\
} while (0)

	asked(OLD, 8192);
	EXPECT_ANSWER(1, RESPROP(XID), 0, 1, 1, NO_VALUES);
	EXPECT_RESULT(RBSIZ, REJECTED);
	UPDATED(6144);
	EXPECT_RESULT(RBSIZ, REJECTED);
	UPDATED(9216);
	EXPECT_RESULT(RBSIZ, REJECTED);
	UPDATED(8192);
	EXPECT_RESULT(RBSIZ, DONE);

	/* Without that the request would be one for less (CHG-26) */
	ask(RPCRDMA2_RBSIZ, 10240);
	UPDATED(9216);
	EXPECT_NEXT(RDMA2_X_REQPROP);
	EXPECT_RESULT(RBSIZ, WAITING);
	UPDATED(12288);
	EXPECT_NEXT(0);
	EXPECT_RESULT(RBSIZ, DONE);
	ask(RPCRDMA2_RBSIZ, 16384);
	UPDATED(16384);
	EXPECT_NEXT(0);
	EXPECT_RESULT(RBSIZ, DONE);

	/* The pending request may lower the value again */
	ASKED_TWICE();
	EXPECT_ANSWER(1, RESPROP(XID), 1, 1, 0, NO_VALUES);
	EXPECT_PEER(RBSIZ, 8192);
	EXPECT_RESULT(RBSIZ, WAITING);
	EXPECT_NEXT(RDMA2_X_REQPROP);

	/* If it does not, the queued one is not needed */
	ASKED_TWICE();
	EXPECT_ANSWER(1, RESPROP(XID), 0, 1, 1, NO_VALUES);
	EXPECT_RESULT(RBSIZ, DONE);
	EXPECT_NEXT(0);
	ASKED_TWICE();
	EXPECT_TRUE(error(XID, RDMA2_ERR_SYSTEM));
	EXPECT_RESULT(RBSIZ, DONE);
	EXPECT_NEXT(0);

	/* What limits nothing is asked for all the same */
	ask(RPCRDMA2_BRS, 0);
	rpcrdma2_prop_change_met(&a.c, &a.peer, RPCRDMA2_BRS);
	EXPECT_NEXT(RDMA2_X_REQPROP);
#undef UPDATED
#undef ASKED_TWICE
}

static void not_to_be_asked(struct kunit *test)
{
	struct rpcrdma2_propset mine;

	mine = a.peer;
	a.peer.nochg = BIT(RPCRDMA2_BRS);
	EXPECT_EQ(ask(RPCRDMA2_BRS, 0), -EPERM);
	a.peer.nochg = 0;
	a.peer.listed = BIT(RPCRDMA2_RBSIZ);
	EXPECT_EQ(ask(RPCRDMA2_BRS, 0), -EPERM);
	EXPECT_EQ(ask(RPCRDMA2_NR_PROPS, 0), -EINVAL);

	/* off unless both sides have announced it */
	a.peer.x_change = false;
	rpcrdma2_prop_change_init(&a.c, &mine, &a.peer);
	EXPECT_EQ(ask(RPCRDMA2_RBSIZ, 8192), -EOPNOTSUPP);
	a.c.dirty |= BIT(RPCRDMA2_RBSIZ);
	EXPECT_NEXT(0);
	a.peer.x_change = true;
	mine.x_change = false;
	rpcrdma2_prop_change_init(&a.c, &mine, &a.peer);
	EXPECT_EQ(ask(RPCRDMA2_RBSIZ, 8192), -EOPNOTSUPP);
	EXPECT_EQ(post(1), -EBUSY);
}

/* What state table 8.3 leaves out, whose rows are tests of their own */
static void send_limit(struct kunit *test)
{
	/* a request for something else, or for what is no limit */
	asker_init(16384);
	ask(RPCRDMA2_BRS, 0);
	post(XID);
	EXPECT_EQ(limit(), 16384);
	EXPECT_EQ(rpcrdma2_prop_change_limit(&a.c, &a.peer, RPCRDMA2_BRS), 1);
}

static void errors(struct kunit *test)
{
	const u32 err = RDMA2_ERR_INVAL_HTYPE;

	EXPECT_FALSE(error(0, err));
	ask(RPCRDMA2_RBSIZ, 8192);
	post(XID);
	EXPECT_FALSE(error(XID + 1, err));
	EXPECT_TRUE(a.c.pending);
	ask(RPCRDMA2_BRS, 0);
	EXPECT_TRUE(error(XID, err));
	/* never again on this connection */
	EXPECT_RESULT(RBSIZ, REJECTED);
	EXPECT_RESULT(BRS, REJECTED);
	EXPECT_NEXT(0);
	EXPECT_EQ(ask(RPCRDMA2_RBSIZ, 8192), -EOPNOTSUPP);

	/* whichever is pending, whichever waits */
	asker_init(OLD);
	ask(RPCRDMA2_BRS, 0);
	post(XID);
	ask(RPCRDMA2_RBSIZ, 8192);
	EXPECT_TRUE(error(XID, err));
	EXPECT_RESULT(RBSIZ, REJECTED);
	EXPECT_RESULT(BRS, REJECTED);

	/* other errors do not turn it off */
	asked(OLD, 8192);
	error(XID, 77);
	EXPECT_EQ(ask(RPCRDMA2_RBSIZ, 8192), 0);
}

/* Whatever may come back for one of our types is understood: its answer, and
 * every ERROR. Nothing is left waiting after any of them.
 */
static void ready_for_answers(struct kunit *test)
{
	static const u32 codes[] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 77 };
	bool on;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(codes); i++) {
		on = codes[i] != RDMA2_ERR_INVAL_HTYPE;

		asked(OLD, 8192);
		EXPECT_TRUE(error(XID, codes[i]));
		EXPECT_FALSE(a.c.pending);
		EXPECT_RESULT(RBSIZ, REJECTED);
		EXPECT_PEER(RBSIZ, OLD);
		/* a second one is about nothing */
		EXPECT_FALSE(error(XID, codes[i]));
		EXPECT_EQ(ask(RPCRDMA2_RBSIZ, 8192), on ? 0 : -EOPNOTSUPP);

		/* the same for what is not answered otherwise */
		asker_init(OLD);
		a.c.dirty |= BIT(RPCRDMA2_RBSIZ);
		EXPECT_GE(announce(XID, &a.peer), 4);
		EXPECT_TRUE(error(XID, codes[i]));
		EXPECT_EQ(ask(RPCRDMA2_RBSIZ, 8192), on ? 0 : -EOPNOTSUPP);
	}

	asked(OLD, 8192);
	EXPECT_ANSWER(1, RESPROP(XID), 1, 1, 0, NO_VALUES);
	EXPECT_FALSE(a.c.pending);
	EXPECT_FALSE(error(XID, 9));
}

/* The side that announces */

static void one_announcement(struct kunit *test)
{
	ask(RPCRDMA2_RBSIZ, 8192);
	post(1);

	/* may go while a request is pending */
	a.c.dirty |= BIT(RPCRDMA2_RBSIZ);
	EXPECT_NEXT(RDMA2_X_UPDPROP);
	EXPECT_EQ(announce(2, &a.peer), 16);
	/* not the next one, and the answer to what was sent before is no
	 * proof that it has arrived
	 */
	a.c.dirty |= BIT(RPCRDMA2_BRS);
	EXPECT_NEXT(0);
	EXPECT_EQ(announce(3, &a.peer), -EBUSY);
	EXPECT_ANSWER(1, RESPROP(1), 1, 1, 0, NO_VALUES);
	/* an empty request is the barrier */
	EXPECT_NEXT(RDMA2_X_REQPROP);
	EXPECT_EQ(post(4), 4);
	EXPECT_NEXT(0);
	EXPECT_ANSWER(1, RESPROP(4), 0, 0, NO_VALUES);
	EXPECT_NEXT(RDMA2_X_UPDPROP);
	announce(5, &a.peer);

	/* an ERROR about it is an answer, too */
	EXPECT_TRUE(error(5, RDMA2_ERR_BAD_XDR));
	EXPECT_NEXT(0);
}

/* A RESPROP that tells the value of a property */
static void answered(struct kunit *test, enum rpcrdma2_prop prop)
{
	const struct rpcrdma2_propset req = {
		.listed	= BIT(prop),
		.count	= 1,
	};
	u8 buf[RPCRDMA2_RESPROP_MAX];

	EXPECT_GE(rpcrdma2_prop_change_put_resprop(&a.c, &req, BIT(prop), 0, &a.peer,
						   buf, sizeof(buf)), 12);
}

/* What a RESPROP has told need not be announced. */
static void answer_instead_of_update(struct kunit *test)
{
	u8 buf[RPCRDMA2_PROPS_MAX];

	a.c.dirty |= BIT(RPCRDMA2_RBSIZ);
	answered(test, RPCRDMA2_RBSIZ);
	EXPECT_NEXT(0);

	/* what it has not told is left */
	a.c.dirty |= BIT(RPCRDMA2_RBSIZ);
	a.c.dirty |= BIT(RPCRDMA2_BRS);
	answered(test, RPCRDMA2_RBSIZ);
	EXPECT_NEXT(RDMA2_X_UPDPROP);
	EXPECT_EQ(rpcrdma2_prop_change_put_updprop(&a.c, 1, &a.peer, buf, sizeof(buf)),
		  16);
	EXPECT_EQ(get_unaligned_be32(buf + 4), RDMA2_PROPID_BRS);

	/* what is on its way is not known to have arrived by that */
	answered(test, RPCRDMA2_BRS);
	EXPECT_NEXT(RDMA2_X_REQPROP);
}

static void updates(struct kunit *test)
{
	asker_init(8192);
	EXPECT_EQ(update(test, message_vector(test, VEC_G6)), 0);
	EXPECT_PEER(RBSIZ, 16384);
	EXPECT_EQ(a.upd.changed, BIT(RPCRDMA2_RBSIZ));
	EXPECT_EQ(a.upd.ignored | a.upd.unasked, 0);

	/* both, one as zero bytes, with unknown ones between */
	update(test, MESSAGE(UPDPROP(1), 4, UNKNOWN(77), BRS(0), UNKNOWN(0xffffff01),
			     RDMA2_PROPID_RBSIZ, 0));
	EXPECT_PEER(RBSIZ, 4096);
	EXPECT_PEER(BRS, 0);
	EXPECT_EQ(a.upd.changed, ALL);
	/* RBSIZ went down unasked: obeyed */
	EXPECT_EQ(a.upd.unasked, BIT(RPCRDMA2_RBSIZ));

	/* no news */
	update(test, MESSAGE(UPDPROP(1), 2, BRS(0), RBSIZ(4096)));
	EXPECT_EQ(a.upd.changed | a.upd.ignored | a.upd.unasked, 0);
	update(test, MESSAGE(UPDPROP(1), NO_VALUES));
	EXPECT_EQ(a.upd.changed | a.upd.ignored | a.upd.unasked, 0);

	/* not listed: ignored; said not to change: only downwards */
	asker_init(8192);
	a.peer.listed = BIT(RPCRDMA2_RBSIZ);
	a.peer.nochg = BIT(RPCRDMA2_RBSIZ);
	update(test, MESSAGE(UPDPROP(1), 2, BRS(0), RBSIZ(16384)));
	EXPECT_EQ(a.upd.ignored, ALL);
	EXPECT_EQ(a.upd.changed, 0);
	EXPECT_PEER(RBSIZ, 8192);
	EXPECT_PEER(BRS, 1);
	update(test, MESSAGE(UPDPROP(1), 1, RBSIZ(4096)));
	EXPECT_EQ(a.upd.changed, BIT(RPCRDMA2_RBSIZ));
	EXPECT_PEER(RBSIZ, 4096);
	/* and not even that if it is no limit */
	asker_init(8192);
	a.peer.nochg = ALL;
	update(test, MESSAGE(UPDPROP(1), 1, BRS(0)));
	EXPECT_EQ(a.upd.ignored, BIT(RPCRDMA2_BRS));
	EXPECT_PEER(BRS, 1);
}

/* The side that is asked */

static int request(struct kunit *test, struct message m,
		   struct rpcrdma2_propset *req)
{
	struct rpcrdma2_hdr hdr = decoded(test, m);

	return rpcrdma2_prop_change_requested(&hdr, req);
}

/* A REQPROP whose entry @at is RBSIZ and all others are unknown. */
static struct message wide_request(struct kunit *test, u32 count, u32 at)
{
	u32 *words, n = 6, i;
	struct message m;

	words = kunit_kmalloc(test, (7 + count * 2) * sizeof(u32), GFP_KERNEL);
	words[0] = XID;
	words[1] = 2;
	words[2] = 32;
	words[3] = RDMA2_X_REQPROP;
	words[4] = 0;
	words[5] = count;
	for (i = 0; i < count; i++) {
		words[n++] = i == at ? RDMA2_PROPID_RBSIZ : 1000 + i;
		words[n++] = i == at ? 4 : 0;
		if (i == at)
			words[n++] = 8192;
	}
	m = message_words(test, words, n);
	kunit_kfree(test, words);
	return m;
}

/* Every entry but one is unknown: its bit is set in "rejected". */
static void response_bits(struct kunit *test)
{
	static const u32 places[] = { 0, 1, 31, 32, 33, 63, 64, 255 };
	struct rpcrdma2_change c = {};
	struct rpcrdma2_propset mine;
	u8 buf[RPCRDMA2_RESPROP_MAX];
	struct rpcrdma2_propset req;
	u32 i, j, at, d, r, len;
	bool rejected;

	rpcrdma2_propset_init(&mine);
	for (i = 0; i < ARRAY_SIZE(places); i++) {
		at = places[i];
		EXPECT_EQ(request(test, wide_request(test, at + 2, at), &req), 0);
		EXPECT_EQ(req.listed, BIT(RPCRDMA2_RBSIZ));
		len = rpcrdma2_prop_change_put_resprop(&c, &req, BIT(RPCRDMA2_RBSIZ), 0,
						       &mine, buf, sizeof(buf));
		d = get_unaligned_be32(buf);
		EXPECT_EQ(d, at / 32 + 1);
		r = get_unaligned_be32(buf + 4 + d * 4);
		EXPECT_EQ(len, (d + r + 3) * 4);
		for (j = 0; j < at + 2; j++) {
			EXPECT_EQ(rpcrdma2_propset_subset_has(buf + 4, d, j), j == at);
			rejected = rpcrdma2_propset_subset_has(buf + 8 + d * 4, r, j);
			EXPECT_EQ(rejected, j != at && j < 256);
		}
	}
}

/* An entry whose bit has no room is in none of the parts: rejected. */
static void response_bounds(struct kunit *test)
{
	struct rpcrdma2_change c = {};
	struct rpcrdma2_propset mine;
	u8 buf[RPCRDMA2_RESPROP_MAX];
	struct rpcrdma2_propset req;
	int len;

	rpcrdma2_propset_init(&mine);
	request(test, wide_request(test, 2000, 256), &req);
	EXPECT_EQ(req.listed, 0);
	len = rpcrdma2_prop_change_put_resprop(&c, &req, BIT(RPCRDMA2_RBSIZ), 0, &mine,
					       buf, sizeof(buf));
	EXPECT_EQ(len, 4 + 4 + 32 + 4);
	EXPECT_EQ(get_unaligned_be32(buf), 0);

	/* the answer to an empty request is empty */
	request(test, MESSAGE(REQPROP(1), NO_VALUES), &req);
	len = rpcrdma2_prop_change_put_resprop(&c, &req, ALL, ALL, &mine, buf,
					       sizeof(buf));
	EXPECT_EQ(len, 12);
	EXPECT_EQ(get_unaligned_be32(buf + 8), 0);

	/* nothing is said of what was not asked for */
	request(test, MESSAGE(REQPROP(1), 1, BRS(0)), &req);
	len = rpcrdma2_prop_change_put_resprop(&c, &req, BIT(RPCRDMA2_RBSIZ),
					       BIT(RPCRDMA2_RBSIZ), &mine, buf,
					       sizeof(buf));
	EXPECT_EQ(len, 16);
	EXPECT_EQ(get_unaligned_be32(buf + 8), 1);
}

/* Who may change what; a client announces so. */
static void rules(struct kunit *test)
{
	EXPECT_EQ(rpcrdma2_propset_with(RPCRDMA2_CHG_CLIENT), ALL);
	EXPECT_EQ(rpcrdma2_propset_with(RPCRDMA2_CHG_SERVER), BIT(RPCRDMA2_RBSIZ));
	EXPECT_EQ(rpcrdma2_propset_with(RPCRDMA2_CHG_LIMIT), BIT(RPCRDMA2_RBSIZ));
	EXPECT_EQ(rpcrdma2_propset_with(0), 0);
}

static struct kunit_case change_cases[] = {
	RPCRDMA2_CASE(encode_vectors,
		      "CHG-1,CHG-4,CHG-6,CHG-8,CHG-14,CHG-19,HT-6"),
	RPCRDMA2_CASE(answers_foreign, "CHG-16"),
	RPCRDMA2_CASE(one_outstanding, "CHG-17"),
	RPCRDMA2_CASE(met_later, "CHG-7,CHG-26"),
	RPCRDMA2_CASE(not_to_be_asked, "CHG-3,CHG-5,CONN-6,EXT-8,HT-8"),
	RPCRDMA2_CASE(send_limit, "CHG-26"),
	RPCRDMA2_CASE(errors, "HT-9,CHG-17"),
	RPCRDMA2_CASE(ready_for_answers, "HT-10,ERR-16"),
	RPCRDMA2_CASE(one_announcement, "CHG-21,CHG-31"),
	RPCRDMA2_CASE(empty_rounds, "CHG-17,CHG-24,CHG-31"),
	RPCRDMA2_CASE(answer_instead_of_update, "CHG-6,CHG-19"),
	RPCRDMA2_CASE(updates, "CHG-19,CHG-22,CHG-28,CHG-30,CONN-6"),
	RPCRDMA2_CASE(response_bits, "CHG-7,CHG-13,CHG-14"),
	RPCRDMA2_CASE(response_bounds, "CHG-6,CHG-11,CHG-12,CHG-31"),
	RPCRDMA2_CASE(rules, "CHG-20,CHG-25,PROP-20"),
	{}
};

RPCRDMA2_SUITE(change, .init = change_init);
