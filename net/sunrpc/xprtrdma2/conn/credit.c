// SPDX-License-Identifier: GPL-2.0
/*
 * Credits of both directions, each of which is the promise of a Receive.
 *
 * credits.c has the arithmetic; this file posts Receives before a credit is used or
 * granted.
 *
 * credit.lock protects both counts and is a leaf. Process context only.
 */
#include "conn/conn.h"

/**
 * rpcrdma2_credit_setup - prepare a new connection
 * @conn: connection without posted Receives
 * @most: limit of the first grant: Receives that can be posted, at least 1
 *
 * Context: any.
 */
void rpcrdma2_credit_setup(struct rpcrdma2_conn *conn, u32 most)
{
	const struct rpcrdma2_conn_params *p = &conn->p;
	struct rpcrdma2_credit *c = &conn->credit;

	spin_lock_init(&c->lock);
	rpcrdma2_window_reset(&c->window, p->calls);
	/* A client sends a single message until the server has answered */
	rpcrdma2_grant_reset(&c->grant, conn->client ? min(p->serves_initial, most) : 1,
			     p->serves);
}

/* Replies that are due or may become due, see rpcrdma2_window_due() */
static u32 credit_replies(struct rpcrdma2_credit *c)
{
	guard(spinlock)(&c->lock);
	return rpcrdma2_window_due(&c->window);
}

/* Lower the number of Receives: less is granted, or a Call from before the window was
 * lowered has got its Reply. Receives for messages in flight stay posted, since Receives
 * are only not posted again until fewer than the new number are left.
 */
static void credit_need(struct rpcrdma2_conn *conn)
{
	rpcrdma2_recvs_target(conn, credit_replies(&conn->credit) +
				    rpcrdma2_credit_grant(&conn->credit));
	rpcrdma2_recvs_trim(conn);
}

/**
 * rpcrdma2_credit_granted - obey a grant of the peer
 * @conn: the connection
 * @credit: rdma_credit of a non-ERROR message with RESPONSE set
 *
 * Receives for the Replies are posted first, then the window is opened. With a lower
 * grant fewer are posted again.
 *
 * Context: completion handler; does not sleep. Requirements: CRED-8.
 */
void rpcrdma2_credit_granted(struct rpcrdma2_conn *conn, u32 credit)
{
	u32 have = rpcrdma2_credit_have(&conn->credit);
	u32 other = rpcrdma2_credit_grant(&conn->credit);
	struct rpcrdma2_window *w = &conn->credit.window;
	u32 want, due = credit_replies(&conn->credit);

	/* Peers of version 1 grant all they have, regardless of the request */
	if ((!credit || credit > w->asked) &&
	    conn->codec != &rpcrdma2_codec_v1)
		rpcrdma2_stat_inc(conn->p.stats, odd_grants);

	/* A Receive for every Reply before its Call is sent (CRED-8) */
	want = min(credit, conn->p.calls);
	if (want > have) {
		u32 got = rpcrdma2_recvs_target(conn, max(want, due) + other);

		credit = clamp(max(got, other) - other, have, want);
	}

	spin_lock(&conn->credit.lock);
	rpcrdma2_window_grant(w, credit);
	due = rpcrdma2_window_due(w);
	spin_unlock(&conn->credit.lock);
	if (want <= have && unlikely(due + other + RPCRDMA2_RECV_EXTRA <
				     rpcrdma2_recvs_wanted(&conn->recvq)))
		credit_need(conn);
}

/**
 * rpcrdma2_credit_unused - check that no Call of ours is outstanding
 * @c: credits of the connection
 *
 * A later taker of a credit sees all earlier stores of the caller.
 *
 * Context: process; does not sleep. Takes c->lock.
 * Return: true if none is
 */
bool rpcrdma2_credit_unused(struct rpcrdma2_credit *c)
{
	guard(spinlock)(&c->lock);
	return !c->window.inflight;
}

/**
 * rpcrdma2_credit_raise - grant the peer more
 * @conn: the connection
 * @want: credits; no more than Receives can be posted are granted (CRED-7)
 *
 * Context: completion handler; does not sleep.
 */
void rpcrdma2_credit_raise(struct rpcrdma2_conn *conn, u32 want)
{
	struct rpcrdma2_credit *c = &conn->credit;
	u32 replies = credit_replies(c);
	u32 got = rpcrdma2_recvs_target(conn, want + replies);

	if (got <= replies + rpcrdma2_credit_grant(c))
		return;
	guard(spinlock)(&c->lock);
	rpcrdma2_grant_set(&c->grant, got - replies);
}

/**
 * rpcrdma2_credit_first - set the first grant of a server
 * @conn: connection whose version is settled
 * @asked: rdma_credit of the message that has settled it
 *
 * Context: deferred work; does not sleep. Requirements: CRED-6.
 */
void rpcrdma2_credit_first(struct rpcrdma2_conn *conn, u32 asked)
{
	u32 want;

	scoped_guard(spinlock, &conn->credit.lock)
		want = rpcrdma2_grant_first(&conn->credit.grant,
					    conn->p.serves_initial, asked);
	rpcrdma2_credit_raise(conn, want);
}

/**
 * rpcrdma2_credit_lower - withdraw credits that were granted on demand
 * @conn: the connection
 * @want: credits that remain
 *
 * The next message with RESPONSE set, of either version, announces this to the peer.
 * Receives for earlier credits stay posted until they are used up.
 *
 * Context: completion handler; does not sleep.
 */
void rpcrdma2_credit_lower(struct rpcrdma2_conn *conn, u32 want)
{
	struct rpcrdma2_credit *c = &conn->credit;

	scoped_guard(spinlock, &c->lock)
		if (c->grant.current_grant > want)
			rpcrdma2_grant_set(&c->grant, want);
	credit_need(conn);
}

/**
 * rpcrdma2_credit_rest - lower the grant to the first one after a quiet time
 * @conn: the connection
 *
 * Context: completion handler; does not sleep.
 */
void rpcrdma2_credit_rest(struct rpcrdma2_conn *conn)
{
	struct rpcrdma2_credit *c = &conn->credit;
	bool quiet;

	scoped_guard(spinlock, &c->lock) {
		quiet = c->grant.quiet;
		c->grant.quiet = false;
	}
	if (quiet)
		rpcrdma2_credit_lower(conn, c->grant.first);
}
