// SPDX-License-Identifier: GPL-2.0
/*
 * What it takes to add a property: the entry below, and nothing else. This
 * file has its own copy of the files that know properties, built with one
 * more; it is negotiated, asked for, granted in part and announced.
 */

#define RPCRDMA2_MORE_PROPS						\
	RPCRDMA2_PROP(X_TEST, 0xffffff7eU, 7U, 100U,			\
		      RPCRDMA2_CHG_SERVER)

#define rpcrdma2_propset_init		extend_props_init
#define rpcrdma2_propset_with		extend_props_with
#define rpcrdma2_propset_subset_has		extend_subset_has
#define rpcrdma2_propset_decode		extend_props_decode
#define rpcrdma2_propset_encode		extend_props_encode
#define rpcrdma2_prop_change_decode		extend_change_decode
#define rpcrdma2_prop_change_init		extend_change_init
#define rpcrdma2_prop_change_ask		extend_change_ask
#define rpcrdma2_prop_change_next		extend_change_next
#define rpcrdma2_prop_change_put_reqprop	extend_change_put_reqprop
#define rpcrdma2_prop_change_put_updprop	extend_change_put_updprop
#define rpcrdma2_prop_change_limit		extend_change_limit
#define rpcrdma2_prop_change_met		extend_change_met
#define rpcrdma2_prop_change_response	extend_change_response
#define rpcrdma2_prop_change_error		extend_change_error
#define rpcrdma2_prop_change_requested	extend_change_requested
#define rpcrdma2_prop_change_put_resprop	extend_change_put_resprop
#define rpcrdma2_prop_change_update		extend_change_update

#include "unit.h"
#include "../../net/sunrpc/xprtrdma2/proto/props.c"
#include "../../net/sunrpc/xprtrdma2/proto/prop_change.c"

#define X_TEST_BIT	BIT(RPCRDMA2_X_TEST)

static void announced(struct kunit *test, struct rpcrdma2_propset *set)
{
	u8 buf[RPCRDMA2_PROPS_MAX];
	struct rpcrdma2_propset mine;
	int len;

	rpcrdma2_propset_init(&mine);
	EXPECT_EQ(mine.val[RPCRDMA2_X_TEST], 7);
	mine.val[RPCRDMA2_X_TEST] = 50;
	mine.listed = BIT(RPCRDMA2_NR_PROPS) - 1;
	mine.nochg = mine.listed & ~rpcrdma2_propset_with(RPCRDMA2_CHG_SERVER);
	mine.x_change = true;
	mine.x_identity = true;
	mine.identified = true;
	len = rpcrdma2_propset_encode(&mine, buf, sizeof(buf));
	EXPECT_EQ(len, (int)sizeof(buf));
	EXPECT_EQ(rpcrdma2_propset_decode(buf, len, set), len);
	EXPECT_EQ(set->val[RPCRDMA2_X_TEST], 50);
	EXPECT_EQ(set->nochg, BIT(RPCRDMA2_BRS));
}

static void one_more_property(struct kunit *test)
{
	u8 buf[RPCRDMA2_RESPROP_MAX];
	struct rpcrdma2_hdr hdr = { .body = buf };
	struct rpcrdma2_propset mine, peer;
	/* Not on the stack, which KASAN makes larger */
	static struct rpcrdma2_propset req;
	static struct rpcrdma2_update upd;
	static struct rpcrdma2_change c;
	bool malformed;

	announced(test, &peer);
	mine = peer;
	rpcrdma2_prop_change_init(&c, &mine, &peer);
	EXPECT_EQ(rpcrdma2_prop_change_ask(&c, &peer, RPCRDMA2_X_TEST, 90), 0);
	EXPECT_EQ(rpcrdma2_prop_change_ask(&c, &peer, RPCRDMA2_BRS, 0), -EPERM);

	/* the request, as the other side sees it */
	hdr.body_len = rpcrdma2_prop_change_put_reqprop(&c, 5, buf, sizeof(buf));
	EXPECT_EQ(rpcrdma2_prop_change_requested(&hdr, &req), 0);
	EXPECT_EQ(req.listed, X_TEST_BIT);
	EXPECT_EQ(req.val[RPCRDMA2_X_TEST], 90);

	/* granted in part */
	mine.val[RPCRDMA2_X_TEST] = 60;
	hdr.body_len = rpcrdma2_prop_change_put_resprop(&c, &req, 0, X_TEST_BIT, &mine,
							buf, sizeof(buf));
	hdr.xid = 5;
	EXPECT_TRUE(rpcrdma2_prop_change_response(&c, &hdr, &peer, &malformed));
	EXPECT_FALSE(malformed);
	EXPECT_EQ(peer.val[RPCRDMA2_X_TEST], 60);
	EXPECT_EQ(c.result[RPCRDMA2_X_TEST], RPCRDMA2_CHANGE_OTHER);

	/* and announced */
	mine.val[RPCRDMA2_X_TEST] = 70;
	c.dirty |= BIT(RPCRDMA2_X_TEST);
	hdr.body_len = rpcrdma2_prop_change_put_updprop(&c, 6, &mine, buf,
							sizeof(buf));
	EXPECT_EQ(rpcrdma2_prop_change_update(&hdr, &peer, &upd), 0);
	EXPECT_EQ(upd.changed, X_TEST_BIT);
	EXPECT_EQ(peer.val[RPCRDMA2_X_TEST], 70);

	/* a value out of range is no value of this property */
	put_unaligned_be32(101, buf + 12);
	EXPECT_EQ(rpcrdma2_prop_change_update(&hdr, &peer, &upd), -EBADMSG);
}

static struct kunit_case extend_cases[] = {
	RPCRDMA2_CASE(one_more_property, "EXT-2,EXT-5,PROP-12,PROP-13,PROP-20"),
	{}
};

RPCRDMA2_SUITE(extend);
