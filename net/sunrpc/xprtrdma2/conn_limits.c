// SPDX-License-Identifier: GPL-2.0
/*
 * How long messages may be now, and when a new limit is obeyed.
 *
 * Limits change while messages are built: builders bracket their work with
 * rpcrdma2_tx_begin() and rpcrdma2_tx_end(), and read the limits in between.
 * Before the peer is asked to receive less, what was begun under the present
 * limit is waited for.
 *
 * props.lock serialises changes of limits, limits.lock, a leaf, the count of
 * builders. Process context.
 */
#include <linux/jiffies.h>

#include "conn.h"
#include <trace/events/rpcrdma2.h>

/* A peer that does not answer a REQPROP in this time while Replies wait for
 * the answer is given up: they hold memory.
 */
#define RPCRDMA2_HOLD_LIMIT	(30 * HZ)

/**
 * rpcrdma2_tx_begin - a message is about to be built
 * @conn: the connection
 *
 * Context: process; does not sleep. Requirements: CHG-26.
 * Return: for rpcrdma2_tx_end()
 */
u32 rpcrdma2_tx_begin(struct rpcrdma2_conn *conn)
{
	u32 epoch;

	/* Limits of version 1 stay as they are. */
	if (!conn->codec->props)
		return 0;
	spin_lock(&conn->limits.lock);
	epoch = conn->limits.epoch;
	conn->limits.users[epoch]++;
	spin_unlock(&conn->limits.lock);
	return epoch;
}

/**
 * rpcrdma2_tx_end - a message was posted or given up
 * @conn: the connection
 * @epoch: as from rpcrdma2_tx_begin()
 *
 * Context: process; does not sleep.
 */
void rpcrdma2_tx_end(struct rpcrdma2_conn *conn, u32 epoch)
{
	bool drained;

	if (!conn->codec->props)
		return;
	spin_lock(&conn->limits.lock);
	drained = !--conn->limits.users[epoch] && epoch != conn->limits.epoch;
	spin_unlock(&conn->limits.lock);
	if (unlikely(drained))
		rpcrdma2_conn_kick(conn);
}

/**
 * rpcrdma2_tx_drained - is every message posted that an earlier limit allowed?
 * @conn: the connection
 *
 * The first call begins to count; rpcrdma2_conn_kick() is called when it is
 * time to ask again. rpcrdma2_tx_resume() ends it. Both under props.lock.
 *
 * Context: process; does not sleep. Requirements: CHG-26.
 * Return: true if so
 */
bool rpcrdma2_tx_drained(struct rpcrdma2_conn *conn)
{
	bool drained;

	spin_lock(&conn->limits.lock);
	drained = !conn->limits.users[!conn->limits.epoch];
	if (drained && !conn->limits.draining) {
		conn->limits.draining = true;
		conn->limits.epoch = !conn->limits.epoch;
		drained = !conn->limits.users[!conn->limits.epoch];
	}
	spin_unlock(&conn->limits.lock);
	return drained;
}

/**
 * rpcrdma2_tx_resume - what was waited for is done
 * @conn: the connection
 *
 * Context: process; does not sleep.
 */
void rpcrdma2_tx_resume(struct rpcrdma2_conn *conn)
{
	spin_lock(&conn->limits.lock);
	conn->limits.draining = false;
	spin_unlock(&conn->limits.lock);
}

/**
 * rpcrdma2_tx_hold - a message waits until it is known whether it may go
 * @conn: the connection
 * @held: is told, by the work item of the connection
 *
 * Context: process; does not sleep. Requirements: CHG-26, CHG-27.
 */
void rpcrdma2_tx_hold(struct rpcrdma2_conn *conn, struct rpcrdma2_tx_held *held)
{
	rpcrdma2_stat_inc(conn->p.stats, replies_held);
	spin_lock(&conn->limits.lock);
	if (list_empty(&conn->limits.waiting))
		conn->limits.waiting_since = jiffies;
	list_add_tail(&held->list, &conn->limits.waiting);
	spin_unlock(&conn->limits.lock);
	/* The answer may have come just now */
	rpcrdma2_conn_kick(conn);
}

static void tell_held(struct rpcrdma2_conn *conn, int status)
{
	struct rpcrdma2_tx_held *held, *tmp;
	LIST_HEAD(list);

	spin_lock(&conn->limits.lock);
	list_splice_init(&conn->limits.waiting, &list);
	spin_unlock(&conn->limits.lock);
	list_for_each_entry_safe(held, tmp, &list, list) {
		list_del_init(&held->list);
		held->ready(held, status);
	}
}

/**
 * rpcrdma2_tx_unhold - tell those who wait, if it is time
 * @conn: connection in state READY
 *
 * Context: the work item of the connection, without locks; sleeps.
 * Return: jiffies after which to call it again, 0: only after
 * rpcrdma2_conn_kick()
 */
unsigned long rpcrdma2_tx_unhold(struct rpcrdma2_conn *conn)
{
	unsigned long end;
	bool none;

	spin_lock(&conn->limits.lock);
	none = list_empty(&conn->limits.waiting);
	end = conn->limits.waiting_since + RPCRDMA2_HOLD_LIMIT;
	spin_unlock(&conn->limits.lock);
	if (likely(none))
		return 0;
	if (!READ_ONCE(conn->limits.held)) {
		tell_held(conn, 0);
		return 0;
	}
	if (time_before(jiffies, end))
		return end - jiffies;
	rpcrdma2_conn_kill(conn, -ETIMEDOUT);
	return 0;
}

/**
 * rpcrdma2_tx_abort - tell those who wait that the connection ends
 * @conn: connection in state CLOSING; the work item of the connection does
 *	not run any more
 *
 * Context: sleeps.
 */
void rpcrdma2_tx_abort(struct rpcrdma2_conn *conn)
{
	tell_held(conn, -ENOTCONN);
}

/**
 * rpcrdma2_limits_setup - a new connection
 * @conn: the connection
 *
 * Context: any.
 */
void rpcrdma2_limits_setup(struct rpcrdma2_conn *conn)
{
	spin_lock_init(&conn->limits.lock);
	INIT_LIST_HEAD(&conn->limits.waiting);
}

/**
 * rpcrdma2_limits_fix - limits that do not change any more
 * @conn: connection of version 1, not READY yet
 * @send: bytes of the largest message that may be sent
 * @recv: bytes of the largest message that may come
 *
 * Context: any. Requirements: INL-8.
 */
void rpcrdma2_limits_fix(struct rpcrdma2_conn *conn, u32 send, u32 recv)
{
	conn->limits.send = send;
	conn->limits.recv = recv;
}

/**
 * rpcrdma2_limits_cut - send slots are smaller than the peer would allow
 * @conn: connection that is not READY yet
 * @size: bytes of a slot
 *
 * Context: any.
 */
void rpcrdma2_limits_cut(struct rpcrdma2_conn *conn, u32 size)
{
	conn->limits.send = min(conn->limits.send, size);
}

/**
 * rpcrdma2_limits_inval - may messages invalidate handles?
 * @conn: connection that is not READY yet
 * @allowed: both sides can
 *
 * Context: any. Requirements: RINV-20, RINV-21.
 */
void rpcrdma2_limits_inval(struct rpcrdma2_conn *conn, bool allowed)
{
	conn->limits.remote_inval = allowed;
}

/**
 * rpcrdma2_limits_apply - what messages must obey from now on
 * @conn: the connection
 * @basis: what it follows from
 *
 * Replies to earlier Calls may be longer than a server's send slots have become.
 *
 * Context: props.lock held; does not sleep. Requirements: INL-2, INL-3, CHG-26.
 */
void rpcrdma2_limits_apply(struct rpcrdma2_conn *conn,
			   const struct rpcrdma2_limits_basis *basis)
{
	struct rpcrdma2_conn_limits *l = &conn->limits;
	u32 size = rpcrdma2_sends_size(&conn->sq) ?: conn->p.send_size;
	u32 now = min(size, basis->send);
	u32 reply, held = 0;

	l->reply_most = max3(l->reply_most, size, basis->mine);
	reply = min(l->reply_most, basis->peer);
	if (basis->send < reply) {
		held = reply;
		reply = basis->send;
	}
	WRITE_ONCE(l->recv, basis->recv);
	if (now == l->send && reply == l->reply && held == l->held)
		return;
	WRITE_ONCE(l->send, now);
	WRITE_ONCE(l->reply, reply);
	WRITE_ONCE(l->held, held);
	trace_rpcrdma2_limits(conn);
	if (!held)
		rpcrdma2_conn_kick(conn);
}
