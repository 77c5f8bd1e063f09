/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Credits of both directions; see credit.c. No other file looks into struct
 * rpcrdma2_credit.
 */
#ifndef _RPCRDMA2_CREDIT_H
#define _RPCRDMA2_CREDIT_H

#include <linux/spinlock.h>

#include "proto/credits.h"

struct rpcrdma2_conn;

/**
 * struct rpcrdma2_credit - credits of both directions
 * @lock: protects all that follows; a leaf
 * @window: of our requester
 * @grant: of our responder
 */
struct rpcrdma2_credit {
	spinlock_t			lock;		/* see above */
	struct rpcrdma2_window		window;
	struct rpcrdma2_grant		grant;
};

/* rdma_credit of a message with RESPONSE clear */
static inline u32 rpcrdma2_credit_ask(const struct rpcrdma2_credit *c)
{
	return READ_ONCE(c->window.asked);
}

/* Credits that the peer has granted */
static inline u32 rpcrdma2_credit_have(const struct rpcrdma2_credit *c)
{
	return READ_ONCE(c->window.granted);
}

/* rdma_credit of a message with RESPONSE set */
static inline u32 rpcrdma2_credit_grant(const struct rpcrdma2_credit *c)
{
	return READ_ONCE(c->grant.current_grant);
}

/* Calls without a Reply, a snapshot */
static inline u32 rpcrdma2_credit_used(const struct rpcrdma2_credit *c)
{
	return data_race(c->window.inflight);	/* see above */
}

/* Calls of the peer that are being served, a snapshot */
static inline u32 rpcrdma2_credit_serving(const struct rpcrdma2_credit *c)
{
	return data_race(c->grant.inflight);	/* see above */
}

/* Take a credit for a Call of ours. Returns false if none is free. */
static inline bool rpcrdma2_credit_take(struct rpcrdma2_credit *c)
{
	bool taken;

	spin_lock(&c->lock);
	taken = rpcrdma2_window_take(&c->window);
	spin_unlock(&c->lock);
	return taken;
}

/* Give back a credit. */
static inline void rpcrdma2_credit_put(struct rpcrdma2_credit *c)
{
	spin_lock(&c->lock);
	rpcrdma2_window_put(&c->window);
	spin_unlock(&c->lock);
}

/* Note that the peer has sent hardly a Call for a while. Its next Call or request lowers
 * the grant to the first one: the completion handler alone changes the grant.
 */
static inline void rpcrdma2_credit_quiet(struct rpcrdma2_credit *c)
{
	guard(spinlock)(&c->lock);
	c->grant.quiet = true;
}

/* Count a Call of the peer that asks for @asked credits. Returns the grant that suits the
 * load, for rpcrdma2_credit_raise() or rpcrdma2_credit_lower(); 0 if more than @most Calls
 * are being served.
 */
static inline u32 rpcrdma2_credit_called(struct rpcrdma2_credit *c, u32 asked,
					 u32 most)
{
	u32 want;

	spin_lock(&c->lock);
	want = rpcrdma2_grant_call(&c->grant, asked);
	if (unlikely(c->grant.inflight > most))
		want = 0;
	spin_unlock(&c->lock);
	return want;
}

/* End a Call of the peer: its credit is free (CRED-2). */
static inline void rpcrdma2_credit_served(struct rpcrdma2_credit *c)
{
	spin_lock(&c->lock);
	rpcrdma2_grant_done(&c->grant);
	spin_unlock(&c->lock);
}

void rpcrdma2_credit_setup(struct rpcrdma2_conn *conn, u32 most);
void rpcrdma2_credit_granted(struct rpcrdma2_conn *conn, u32 credit);
void rpcrdma2_credit_first(struct rpcrdma2_conn *conn, u32 asked);
void rpcrdma2_credit_raise(struct rpcrdma2_conn *conn, u32 want);
void rpcrdma2_credit_lower(struct rpcrdma2_conn *conn, u32 want);
void rpcrdma2_credit_rest(struct rpcrdma2_conn *conn);
bool rpcrdma2_credit_unused(struct rpcrdma2_credit *c);

#endif /* _RPCRDMA2_CREDIT_H */
