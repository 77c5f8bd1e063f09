// SPDX-License-Identifier: GPL-2.0
/*
 * How long messages may be now, and when a new limit is obeyed.
 *
 * Limits change while messages are built: builders bracket their work with
 * rpcrdma2_tx_begin() and rpcrdma2_tx_end(), and read the limits in between.
 * Before the peer is asked to receive less, what was begun under the present
 * limit is waited for.
 *
 * props_lock serialises changes of limits, tx_lock, a leaf, the count of
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

	spin_lock(&conn->tx_lock);
	epoch = conn->tx_epoch;
	conn->tx_users[epoch]++;
	spin_unlock(&conn->tx_lock);
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

	spin_lock(&conn->tx_lock);
	drained = !--conn->tx_users[epoch] && epoch != conn->tx_epoch;
	spin_unlock(&conn->tx_lock);
	if (unlikely(drained))
		rpcrdma2_props_kick(conn);
}

/**
 * rpcrdma2_tx_drained - is every message posted that an earlier limit allowed?
 * @conn: the connection
 *
 * The first call begins to count; rpcrdma2_props_kick() is called when it is
 * time to ask again. rpcrdma2_tx_resume() ends it.
 *
 * Context: process; does not sleep. Requirements: CHG-26.
 * Return: true if so
 */
bool rpcrdma2_tx_drained(struct rpcrdma2_conn *conn)
{
	bool drained;

	lockdep_assert_held(&conn->props_lock);
	spin_lock(&conn->tx_lock);
	drained = !conn->tx_users[!conn->tx_epoch];
	if (drained && !conn->tx_draining) {
		conn->tx_draining = true;
		conn->tx_epoch = !conn->tx_epoch;
		drained = !conn->tx_users[!conn->tx_epoch];
	}
	spin_unlock(&conn->tx_lock);
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
	lockdep_assert_held(&conn->props_lock);
	spin_lock(&conn->tx_lock);
	conn->tx_draining = false;
	spin_unlock(&conn->tx_lock);
}

/**
 * rpcrdma2_tx_hold - a message waits until it is known whether it may go
 * @conn: the connection
 * @held: is told, by the work item of property changes
 *
 * Context: process; does not sleep. Requirements: CHG-26, CHG-27.
 */
void rpcrdma2_tx_hold(struct rpcrdma2_conn *conn, struct rpcrdma2_tx_held *held)
{
	rpcrdma2_stat_inc(conn->p.stats, replies_held);
	spin_lock(&conn->tx_lock);
	if (list_empty(&conn->tx_held))
		conn->tx_held_since = jiffies;
	list_add_tail(&held->list, &conn->tx_held);
	spin_unlock(&conn->tx_lock);
	/* The answer may have come just now */
	rpcrdma2_props_kick(conn);
}

static void tell_held(struct rpcrdma2_conn *conn, int status)
{
	struct rpcrdma2_tx_held *held, *tmp;
	LIST_HEAD(list);

	spin_lock(&conn->tx_lock);
	list_splice_init(&conn->tx_held, &list);
	spin_unlock(&conn->tx_lock);
	list_for_each_entry_safe(held, tmp, &list, list) {
		list_del_init(&held->list);
		held->ready(held, status);
	}
}

/**
 * rpcrdma2_tx_unhold - tell those who wait, if it is time
 * @conn: connection in state READY
 *
 * Context: the work item of property changes, without locks; sleeps.
 * Return: jiffies after which to call it again, 0: only after
 * rpcrdma2_props_kick()
 */
unsigned long rpcrdma2_tx_unhold(struct rpcrdma2_conn *conn)
{
	unsigned long end;
	bool none;

	spin_lock(&conn->tx_lock);
	none = list_empty(&conn->tx_held);
	end = conn->tx_held_since + RPCRDMA2_HOLD_LIMIT;
	spin_unlock(&conn->tx_lock);
	if (likely(none))
		return 0;
	if (!READ_ONCE(conn->held_send)) {
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
 * @conn: connection in state CLOSING; the work item of property changes does
 *	not run any more
 *
 * Context: sleeps.
 */
void rpcrdma2_tx_abort(struct rpcrdma2_conn *conn)
{
	tell_held(conn, -ENOTCONN);
}

/**
 * rpcrdma2_limits_apply - what messages must obey from now on
 * @conn: the connection
 * @soon: also what the peer is about to be asked for
 *
 * A client plans for Replies no longer than the server will receive (D-16).
 * Once it asks the server for less it plans for less, so that no Call that
 * follows the request needs a longer one. Replies to earlier Calls may be
 * longer than a server's send slots have become.
 *
 * Context: process; does not sleep. Requirements: INL-2, INL-3, CHG-26.
 */
void rpcrdma2_limits_apply(struct rpcrdma2_conn *conn, bool soon)
{
	u32 mine = min(conn->mine.val[RPCRDMA2_RBSIZ], conn->told_recv);
	u32 peer = conn->peer.val[RPCRDMA2_RBSIZ];
	u32 size = READ_ONCE(conn->slot_size) ?: conn->p.send_size;
	u32 limit = rpcrdma2_change_limit(&conn->change, &conn->peer,
					  RPCRDMA2_RBSIZ, soon);
	u32 now = min(size, limit), recv = RPCRDMA2_INLINE_DEFAULT;
	u32 reply, held = 0;

	lockdep_assert_held(&conn->props_lock);
	conn->reply_most = max3(conn->reply_most, size, mine);
	reply = min(conn->reply_most, peer);
	if (limit < reply) {
		held = reply;
		reply = limit;
	}
	if (conn->peer_props_seen)
		recv = min3(mine, conn->client ? limit : peer,
			    conn->plan_recv);
	WRITE_ONCE(conn->inline_recv, recv);
	if (now == conn->inline_send && reply == conn->reply_send &&
	    held == conn->held_send)
		return;
	WRITE_ONCE(conn->inline_send, now);
	WRITE_ONCE(conn->reply_send, reply);
	WRITE_ONCE(conn->held_send, held);
	trace_rpcrdma2_limits(conn);
	if (!held)
		rpcrdma2_props_kick(conn);
}

/**
 * rpcrdma2_conn_apply_props - thresholds by the properties of both peers
 * @conn: connection of version 2
 *
 * Obeyed by messages that are built from now on (CONN-13).
 *
 * Context: connect path or CQ work item; sleeps.
 */
void rpcrdma2_conn_apply_props(struct rpcrdma2_conn *conn)
{
	mutex_lock(&conn->props_lock);
	rpcrdma2_limits_apply(conn, false);
	mutex_unlock(&conn->props_lock);
}
