// SPDX-License-Identifier: GPL-2.0
/*
 * Credits: how many Calls of one direction may be unanswered. Forward and
 * reverse direction have an object each (CRED-9).
 *
 * Every function here is pure: no kernel service, no lock, no allocation,
 * any context. The owner serialises the calls on one object.
 */

#include "proto/credits.h"

/* A value taken from a peer or an administrator, made usable. */
static u32 credit_clamp(u32 value, u32 limit)
{
	return clamp_t(u32, value, 1, limit);
}

/**
 * rpcrdma2_window_reset - begin a connection
 * @w: window
 * @asked: credits to ask for in every Call
 *
 * Context: any. Requirements: CRED-11, CRED-19, REC-1.
 */
void rpcrdma2_window_reset(struct rpcrdma2_window *w, u32 asked)
{
	w->asked = credit_clamp(asked, RPCRDMA2_MAX_CREDITS);
	w->granted = 1;
	w->inflight = 0;
}

/**
 * rpcrdma2_window_take - take the credit for a Call
 * @w: window
 *
 * Context: any. Requirements: CRED-2, CRED-3, CRED-4.
 * Return: true if taken, false if the window is closed.
 */
bool rpcrdma2_window_take(struct rpcrdma2_window *w)
{
	if (w->inflight >= w->granted)
		return false;
	w->inflight++;
	return true;
}

/**
 * rpcrdma2_window_put - a Call got its Reply or ERROR
 * @w: window
 *
 * Context: any. Requirements: CRED-2, ERR-8.
 */
void rpcrdma2_window_put(struct rpcrdma2_window *w)
{
	if (w->inflight)
		w->inflight--;
}

/**
 * rpcrdma2_window_grant - take over a grant
 * @w: window
 * @credit: rdma_credit of a message for which rpcrdma2_is_grant() holds
 *
 * It is cut to 1..@w->asked. A lower grant holds at once for new Calls; those
 * in flight stay.
 *
 * Context: any. Requirements: CRED-4, CRED-5, CRED-6.
 */
void rpcrdma2_window_grant(struct rpcrdma2_window *w, u32 credit)
{
	WRITE_ONCE(w->granted, credit_clamp(credit, w->asked));
}

/**
 * rpcrdma2_window_due - number of Replies that need a posted Receive
 * @w: window
 *
 * After a lower grant more Calls may be in flight than are granted.
 *
 * Context: any. Requirements: CRED-8.
 * Return: a number of Replies
 */
u32 rpcrdma2_window_due(const struct rpcrdma2_window *w)
{
	return max(w->granted, w->inflight);
}

/**
 * rpcrdma2_grant_reset - begin a connection
 * @g: grant
 * @initial: first grant
 * @limit: largest grant
 *
 * Context: any. Requirements: CRED-5, CRED-19, REC-1.
 */
void rpcrdma2_grant_reset(struct rpcrdma2_grant *g, u32 initial, u32 limit)
{
	g->limit = credit_clamp(limit, RPCRDMA2_MAX_CREDITS);
	g->current_grant = credit_clamp(initial, g->limit);
	g->first = g->current_grant;
	g->inflight = 0;
	g->high = 0;
	g->quiet = false;
}

/**
 * rpcrdma2_grant_first - the version is settled
 * @g: grant
 * @first: first grant for a peer that asks for as much
 * @requested: rdma_credit of the message that has settled the version
 *
 * Context: any. Requirements: CRED-6.
 * Return: the grant, for rpcrdma2_grant_set()
 */
u32 rpcrdma2_grant_first(struct rpcrdma2_grant *g, u32 first, u32 requested)
{
	g->first = min(credit_clamp(first, g->limit),
		       credit_clamp(requested, g->limit));
	return g->first;
}

/**
 * rpcrdma2_grant_call - a Call arrived
 * @g: grant
 * @requested: its rdma_credit
 *
 * Context: any. Requirements: CRED-1, CRED-7.
 * Return: the grant that suits the load: the present one, or twice that, at most
 * @limit and @requested, when the peer uses more than half of what it has. After a
 * quiet time the grant begins again with @first. The returned grant is in force
 * after rpcrdma2_grant_set(), which the owner calls when the Receives are posted.
 */
u32 rpcrdma2_grant_call(struct rpcrdma2_grant *g, u32 requested)
{
	u32 now = g->current_grant;
	u32 want;

	g->inflight++;
	g->high = max(g->high, g->inflight);
	if (g->quiet) {
		g->quiet = false;
		g->high = g->inflight;
		now = min(now, g->first);
	}
	if (g->high <= now / 2)
		return now;
	want = min3(2 * now, g->limit, requested);
	return max(want, now);
}

/**
 * rpcrdma2_grant_done - a Call was answered, or its connection has ended
 * @g: grant
 *
 * Context: any. Requirements: CRED-2.
 */
void rpcrdma2_grant_done(struct rpcrdma2_grant *g)
{
	if (g->inflight)
		g->inflight--;
}

/**
 * rpcrdma2_grant_set - grant this much from now on
 * @g: grant
 * @value: credits; the Receives for them are posted. Cut to 1..limit
 *
 * Context: any. Requirements: CRED-5, CRED-7.
 */
void rpcrdma2_grant_set(struct rpcrdma2_grant *g, u32 value)
{
	WRITE_ONCE(g->current_grant, credit_clamp(value, g->limit));
	g->high = g->inflight;
}
