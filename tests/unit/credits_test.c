// SPDX-License-Identifier: GPL-2.0
/*
 * Credits of one direction, seen from both sides.
 */

#include "unit.h"

static struct rpcrdma2_window w;
static struct rpcrdma2_grant g;

static u32 take_all(struct rpcrdma2_window *from)
{
	u32 n = 0;

	while (rpcrdma2_window_take(from))
		n++;
	return n;
}

/* Another Call may be sent. */
static bool window_open(void)
{
	return w.inflight < w.granted;
}

static void new_connection(struct kunit *test)
{
	rpcrdma2_window_reset(&w, 32);
	EXPECT_EQ(w.asked, 32);
	EXPECT_EQ(take_all(&w), 1);
	EXPECT_FALSE(window_open());
	EXPECT_FALSE(rpcrdma2_window_take(&w));
	EXPECT_EQ(w.inflight, 1);

	/* and again after every loss, whatever there was */
	rpcrdma2_window_grant(&w, 16);
	take_all(&w);
	rpcrdma2_window_reset(&w, 32);
	EXPECT_EQ(take_all(&w), 1);
}

static void window_is_the_grant(struct kunit *test)
{
	rpcrdma2_window_reset(&w, 32);
	rpcrdma2_window_grant(&w, 3);
	EXPECT_TRUE(window_open());
	EXPECT_EQ(take_all(&w), 3);
	rpcrdma2_window_put(&w);
	EXPECT_EQ(take_all(&w), 1);
	/* one transaction, one credit, whatever was granted meanwhile */
	rpcrdma2_window_put(&w);
	rpcrdma2_window_grant(&w, 3);
	EXPECT_TRUE(window_open());
	EXPECT_EQ(take_all(&w), 1);
}

static void lower_grant(struct kunit *test)
{
	u32 i;

	rpcrdma2_window_reset(&w, 32);
	rpcrdma2_window_grant(&w, 16);
	EXPECT_EQ(take_all(&w), 16);
	rpcrdma2_window_grant(&w, 2);
	EXPECT_FALSE(window_open());
	EXPECT_EQ(w.inflight, 16);
	for (i = 16; i > 2; i--) {
		EXPECT_EQ(rpcrdma2_window_due(&w), i);
		EXPECT_FALSE(window_open());
		rpcrdma2_window_put(&w);
	}
	EXPECT_FALSE(window_open());
	rpcrdma2_window_put(&w);
	EXPECT_TRUE(window_open());
	EXPECT_EQ(rpcrdma2_window_due(&w), 2);
	rpcrdma2_window_grant(&w, 16);
	EXPECT_TRUE(window_open());
	EXPECT_EQ(rpcrdma2_window_due(&w), 16);
	EXPECT_EQ(take_all(&w), 15);
}

static void zero_grant(struct kunit *test)
{
	rpcrdma2_window_reset(&w, 32);
	rpcrdma2_window_grant(&w, 0);
	EXPECT_TRUE(window_open());
	EXPECT_EQ(take_all(&w), 1);
	rpcrdma2_window_grant(&w, 0);
	EXPECT_FALSE(window_open());
	rpcrdma2_window_put(&w);
	EXPECT_EQ(take_all(&w), 1);
}

static void exaggerated_grant(struct kunit *test)
{
	rpcrdma2_window_reset(&w, 32);
	rpcrdma2_window_grant(&w, 33);
	EXPECT_EQ(w.granted, 32);
	rpcrdma2_window_grant(&w, 0xffffffff);
	EXPECT_EQ(w.granted, 32);
	EXPECT_EQ(take_all(&w), 32);
}

static void surplus_put(struct kunit *test)
{
	rpcrdma2_window_reset(&w, 4);
	rpcrdma2_window_put(&w);
	EXPECT_EQ(w.inflight, 0);
	EXPECT_EQ(take_all(&w), 1);
}

/* Word 2 stays below 65536 and is never 0, whatever is configured. */
static void limits(struct kunit *test)
{
	rpcrdma2_window_reset(&w, 0);
	EXPECT_EQ(w.asked, 1);
	rpcrdma2_window_reset(&w, 0xffffffff);
	EXPECT_EQ(w.asked, 65535);
	rpcrdma2_grant_reset(&g, 0, 0);
	EXPECT_EQ(g.current_grant, 1);
	EXPECT_EQ(g.limit, 1);
	rpcrdma2_grant_reset(&g, 0xffffffff, 0xffffffff);
	EXPECT_EQ(g.current_grant, 65535);
	EXPECT_EQ(rpcrdma2_grant_call(&g, 0xffffffff), 65535);
	rpcrdma2_grant_reset(&g, 100, 10);
	EXPECT_EQ(g.current_grant, 10);
	rpcrdma2_grant_set(&g, 0);
	EXPECT_EQ(g.current_grant, 1);
	rpcrdma2_grant_set(&g, 11);
	EXPECT_EQ(g.current_grant, 10);
}

static void grant_grows_with_use(struct kunit *test)
{
	u32 i;

	rpcrdma2_grant_reset(&g, 8, 64);
	/* half of it in use: no reason to grow */
	for (i = 0; i < 4; i++)
		EXPECT_EQ(rpcrdma2_grant_call(&g, 128), 8);
	/* more than half: doubled, but in force only when set */
	EXPECT_EQ(rpcrdma2_grant_call(&g, 128), 16);
	EXPECT_EQ(g.current_grant, 8);
	rpcrdma2_grant_set(&g, 16);
	EXPECT_EQ(g.current_grant, 16);
	EXPECT_EQ(rpcrdma2_grant_call(&g, 128), 16);

	/* a new connection knows nothing of it */
	memset(&g, 0xa5, sizeof(g));
	rpcrdma2_grant_reset(&g, 8, 64);
	EXPECT_FALSE(g.quiet);
	EXPECT_EQ(g.first, 8);
	EXPECT_EQ(rpcrdma2_grant_call(&g, 128), 8);

	/* a burst that is over still shows what is needed */
	rpcrdma2_grant_reset(&g, 4, 64);
	for (i = 0; i < 3; i++)
		rpcrdma2_grant_call(&g, 128);
	for (i = 0; i < 3; i++)
		rpcrdma2_grant_done(&g);
	EXPECT_EQ(rpcrdma2_grant_call(&g, 128), 8);
	rpcrdma2_grant_set(&g, 8);
	EXPECT_EQ(rpcrdma2_grant_call(&g, 128), 8);

	/* but not what was needed before the grant was set, even to less */
	for (i = 0; i < 4; i++)
		rpcrdma2_grant_call(&g, 128);
	while (g.inflight)
		rpcrdma2_grant_done(&g);
	rpcrdma2_grant_set(&g, 4);
	EXPECT_EQ(rpcrdma2_grant_call(&g, 128), 4);
}

/* The first grant is never more than what the peer asks for, nor 0. */
static void first_grant(struct kunit *test)
{
	rpcrdma2_grant_reset(&g, 1, 64);
	EXPECT_EQ(rpcrdma2_grant_first(&g, 8, 128), 8);
	EXPECT_EQ(g.current_grant, 1);
	EXPECT_EQ(rpcrdma2_grant_first(&g, 8, 7), 7);
	EXPECT_EQ(rpcrdma2_grant_first(&g, 8, 0), 1);
	EXPECT_EQ(rpcrdma2_grant_first(&g, 100, 128), 64);
}

/* After a quiet time the grant is that of a new connection, until the load says
 * otherwise.
 */
static void quiet_lowers(struct kunit *test)
{
	u32 i;

	rpcrdma2_grant_reset(&g, 1, 64);
	rpcrdma2_grant_set(&g, rpcrdma2_grant_first(&g, 8, 128));
	rpcrdma2_grant_set(&g, 64);
	for (i = 0; i < 40; i++)
		rpcrdma2_grant_call(&g, 128);
	while (g.inflight)
		rpcrdma2_grant_done(&g);
	EXPECT_EQ(rpcrdma2_grant_call(&g, 128), 64);
	rpcrdma2_grant_done(&g);
	g.quiet = true;
	EXPECT_EQ(rpcrdma2_grant_call(&g, 128), 8);
	rpcrdma2_grant_set(&g, 8);
	/* once for each quiet time */
	EXPECT_FALSE(g.quiet);
	for (i = 0; i < 3; i++)
		EXPECT_EQ(rpcrdma2_grant_call(&g, 128), 8);
	EXPECT_EQ(rpcrdma2_grant_call(&g, 128), 16);

	/* nothing is taken from a peer that was slow, but busy */
	rpcrdma2_grant_reset(&g, 8, 64);
	rpcrdma2_grant_set(&g, 16);
	for (i = 0; i < 10; i++)
		rpcrdma2_grant_call(&g, 128);
	g.quiet = true;
	EXPECT_EQ(rpcrdma2_grant_call(&g, 128), 16);
}

static void grant_is_bounded(struct kunit *test)
{
	/* by our limit */
	rpcrdma2_grant_reset(&g, 6, 8);
	g.high = 6;
	EXPECT_EQ(rpcrdma2_grant_call(&g, 128), 8);
	/* by what is asked for */
	rpcrdma2_grant_reset(&g, 6, 64);
	g.high = 6;
	EXPECT_EQ(rpcrdma2_grant_call(&g, 7), 7);
	/* a small request does not shrink it */
	EXPECT_EQ(rpcrdma2_grant_call(&g, 1), 6);
	EXPECT_EQ(rpcrdma2_grant_call(&g, 0), 6);
}

static void grant_done_is_bounded(struct kunit *test)
{
	rpcrdma2_grant_reset(&g, 4, 4);
	rpcrdma2_grant_done(&g);
	EXPECT_EQ(g.inflight, 0);
	rpcrdma2_grant_call(&g, 4);
	EXPECT_EQ(g.inflight, 1);
}

/* Two directions have two objects; one does not move the other. */
static void directions_apart(struct kunit *test)
{
	struct rpcrdma2_window forward, reverse;

	rpcrdma2_window_reset(&forward, 32);
	rpcrdma2_window_reset(&reverse, 2);
	rpcrdma2_window_grant(&forward, 16);
	rpcrdma2_window_grant(&reverse, 1);
	EXPECT_EQ(take_all(&reverse), 1);
	EXPECT_EQ(take_all(&forward), 16);
}

static struct kunit_case credits_cases[] = {
	RPCRDMA2_CASE(new_connection, "CRED-11,VER-2,V1-7,REC-1"),
	RPCRDMA2_CASE(window_is_the_grant, "CRED-2,CRED-3"),
	RPCRDMA2_CASE(lower_grant, "CRED-3,CRED-4"),
	RPCRDMA2_CASE(zero_grant, "CRED-5,V1-8"),
	RPCRDMA2_CASE(exaggerated_grant, "CRED-3,CRED-6,SEC-3"),
	RPCRDMA2_CASE(surplus_put, "CRED-2"),
	RPCRDMA2_CASE(limits, "CRED-5,CRED-19"),
	RPCRDMA2_CASE(grant_grows_with_use, "CRED-7,V1-12"),
	RPCRDMA2_CASE(first_grant, "CRED-5,CRED-6"),
	RPCRDMA2_CASE(quiet_lowers, "CRED-4,CRED-7"),
	RPCRDMA2_CASE(grant_is_bounded, "CRED-1,CRED-6,SEC-3"),
	RPCRDMA2_CASE(grant_done_is_bounded, "CRED-2"),
	RPCRDMA2_CASE(directions_apart, "CRED-9"),
	{}
};

RPCRDMA2_SUITE(credits);
