// SPDX-License-Identifier: GPL-2.0
/*
 * The object of a connection, which all files of this directory use: its state,
 * references, and deferred work.
 *
 * One function changes the state and knows which changes are allowed. After a failure any
 * file calls rpcrdma2_conn_kill(), which only changes the state and notifies the owner;
 * the owner alone tears down, see cm.c.
 */
#include <linux/jhash.h>
#include <linux/once.h>
#include <linux/random.h>
#include <linux/ratelimit.h>
#include <linux/slab.h>
#include <rdma/ib_addr.h>

#include "conn/conn.h"
#include "conn/workqueue.h"
#include <trace/events/rpcrdma2.h>

void (*rpcrdma2_conn_notify)(const struct rpcrdma2_conn *conn,
			     enum rpcrdma2_event event) __ro_after_init;

/* Calls between two checks below which a connection is quiet */
#define RPCRDMA2_QUIET_CALLS	32U

/* States follow each other in the order of their numbers. A server's connection is not
 * RESOLVING, and each may go to CLOSING.
 */
static bool conn_may_become(enum rpcrdma2_conn_state from, enum rpcrdma2_conn_state to)
{
	if (to == RPCRDMA2_CONN_CLOSING)
		return from < to;
	return to == from + 1 ||
	       (from == RPCRDMA2_CONN_NEW && to == RPCRDMA2_CONN_CONNECTING);
}

/* Events from OPEN to CLOSING */
static const enum rpcrdma2_event conn_events[] = {
	[RPCRDMA2_CONN_OPEN]	= RPCRDMA2_EVENT_CONNECTED,
	[RPCRDMA2_CONN_READY]	= RPCRDMA2_EVENT_SETTLED,
	[RPCRDMA2_CONN_CLOSING]	= RPCRDMA2_EVENT_LOST,
};

/**
 * rpcrdma2_conn_set_state - change the state of a connection
 * @conn: the connection
 * @to: new state
 * @reason: errno that explains it, or 0; the first one stays
 *
 * A change that is not allowed is not an error: another caller was faster, usually with
 * CLOSING. No other function changes the state.
 *
 * Context: process; does not sleep. Takes state_lock.
 * Return: true if the state has changed
 */
bool rpcrdma2_conn_set_state(struct rpcrdma2_conn *conn,
			     enum rpcrdma2_conn_state to, int reason)
{
	enum rpcrdma2_conn_state from;

	scoped_guard(spinlock, &conn->state_lock) {
		from = conn->state;
		if (!conn_may_become(from, to))
			return false;
		if (!conn->reason)
			WRITE_ONCE(conn->reason, reason);
		/* Pairs with the acquire in rpcrdma2_conn_state() */
		smp_store_release(&conn->state, to);
		/* Under the lock: the caller may hold only a reference, but
		 * rpcrdma2_conn_close() takes the lock before the CM id is destroyed.
		 * Besides, events have the order of states.
		 */
		if (to >= RPCRDMA2_CONN_OPEN && to < ARRAY_SIZE(conn_events))
			rpcrdma2_conn_notify(conn, conn_events[to]);
	}
	trace_rpcrdma2_conn_state(conn, from, to, reason);
	wake_up_all(&conn->state_wq);
	return true;
}

/**
 * rpcrdma2_conn_kill - give up a connection
 * @conn: the connection
 * @err: reason, a negative errno
 *
 * ops->lost() notifies the owner, which calls rpcrdma2_conn_close() to disconnect.
 *
 * Context: process; does not wait. May be called any number of times.
 */
void rpcrdma2_conn_kill(struct rpcrdma2_conn *conn, int err)
{
	if (rpcrdma2_conn_set_state(conn, RPCRDMA2_CONN_CLOSING, err))
		conn->p.ops->lost(conn);
}

/**
 * rpcrdma2_conn_quiet - check for few Calls since the last check
 * @conn: the connection
 * @seen: number of Calls at the last check; updated
 *
 * Context: any.
 * Return: true if there were hardly any
 */
bool rpcrdma2_conn_quiet(const struct rpcrdma2_conn *conn, unsigned long *seen)
{
	const struct rpcrdma2_stats *stats = conn->p.stats;
	unsigned long calls, before = *seen;

	/* Few of them are in the reverse direction */
	calls = rpcrdma2_stat_read(stats, tx_call_msg) +
		rpcrdma2_stat_read(stats, tx_call_nomsg) +
		rpcrdma2_stat_read(stats, rx_call_msg) +
		rpcrdma2_stat_read(stats, rx_call_nomsg);
	*seen = calls;
	return calls - before < RPCRDMA2_QUIET_CALLS;
}

/**
 * rpcrdma2_conn_get - take a reference to the object (not its resources)
 * @conn: the connection
 *
 * Context: any.
 */
void rpcrdma2_conn_get(struct rpcrdma2_conn *conn)
{
	refcount_inc(&conn->refs);
}

/**
 * rpcrdma2_conn_put - drop a reference
 * @conn: the connection
 *
 * Context: any.
 */
void rpcrdma2_conn_put(struct rpcrdma2_conn *conn)
{
	if (refcount_dec_and_test(&conn->refs))
		kfree(conn);
}

/**
 * rpcrdma2_conn_peer_gid - get an identity of the peer, for limits by peer
 * @cm_id: CM id of the peer's connect request, or resolved by us
 * @gid: filled in
 *
 * InfiniBand: the port to which the CM sends its answers. RoCE: the GID, although the CM answers
 * to the MAC address of the request: a host may claim other GIDs of its own segment.
 * iWARP: the address, which TCP has verified.
 *
 * Context: any.
 */
void rpcrdma2_conn_peer_gid(const struct rdma_cm_id *cm_id, union ib_gid *gid)
{
	if (cm_id->route.path_rec)
		*gid = cm_id->route.path_rec->dgid;
	else
		rdma_ip2gid((struct sockaddr *)&cm_id->route.addr.dst_addr, gid);
}

/* Limits of the log. Peers share one only by chance, and cannot choose the other peer. */
static struct ratelimit_state conn_log_limits[16] = {
	[0 ... 15] = RATELIMIT_STATE_INIT(conn_log_limits,
					  DEFAULT_RATELIMIT_INTERVAL, 4),
};

/**
 * rpcrdma2_conn_may_log - check the limit of log lines about a peer
 * @conn: the connection
 *
 * Context: process.
 * Return: false if there were too many
 */
bool rpcrdma2_conn_may_log(const struct rpcrdma2_conn *conn)
{
	static u32 seed;
	union ib_gid gid;
	u32 n;

	get_random_once(&seed, sizeof(seed));
	rpcrdma2_conn_peer_gid(conn->cm_id, &gid);
	n = jhash(&gid, sizeof(gid), seed) % ARRAY_SIZE(conn_log_limits);
	return __ratelimit(&conn_log_limits[n]);
}

/**
 * rpcrdma2_conn_wc_failed - count and log a failed work request
 * @conn: the connection, about to be given up
 * @what: kind of the work request
 * @cid: its number, 0 if it has none
 * @wc: its completion
 *
 * Work requests that are flushed because the connection ends are only traced.
 *
 * Context: completion handler; does not sleep.
 */
void rpcrdma2_conn_wc_failed(struct rpcrdma2_conn *conn, const char *what, u32 cid,
			     const struct ib_wc *wc)
{
	trace_rpcrdma2_wc_error(conn, cid, wc);
	if (wc->status == IB_WC_WR_FLUSH_ERR)
		return;
	rpcrdma2_stat_inc(conn->p.stats, wc_errors);
	if (rpcrdma2_conn_may_log(conn))
		pr_notice("rpcrdma2: %pISpc: connection lost, %s: %s (%d)\n",
			  &conn->cm_id->route.addr.dst_addr, what,
			  ib_wc_status_msg(wc->status), wc->status);
}

/**
 * rpcrdma2_conn_step - note a step of the setup of a connection
 * @conn: the connection
 * @step: the step
 *
 * Publishes the results of the step, for example the device.
 *
 * Context: process; does not sleep.
 */
void rpcrdma2_conn_step(struct rpcrdma2_conn *conn, int step)
{
	/* Pairs with the acquire in rpcrdma2_conn_wait() */
	smp_store_release(&conn->step, step);
	wake_up_all(&conn->state_wq);
}

/**
 * rpcrdma2_conn_wait - wait for a step of the setup of a connection
 * @conn: client's connection
 * @step: the step
 * @ms: upper limit of the wait, milliseconds
 *
 * Gives up the connection if it is not wanted any more.
 *
 * Context: sleeps. Nothing that ends the wait needs sunrpc's locks: CM events, QP errors
 * and device removal change the state.
 * Return: 0, -ETIMEDOUT, or -ENOTCONN if the connection is over
 */
int rpcrdma2_conn_wait(struct rpcrdma2_conn *conn, int step, u32 ms)
{
	u32 slice;
	long left;

	do {
		slice = min_t(u32, ms, RPCRDMA2_LOOK_MS);
		left = wait_event_timeout(conn->state_wq,
					  /* Pairs with rpcrdma2_conn_step() */
					  smp_load_acquire(&conn->step) == step ||
					  rpcrdma2_conn_over(conn),
					  msecs_to_jiffies(slice));
		if (!left && !conn->p.ops->wanted(conn))
			rpcrdma2_conn_kill(conn, -ENOTCONN);
		ms -= slice;
	} while (!left && ms);
	if (rpcrdma2_conn_over(conn))
		return -ENOTCONN;
	return left ? 0 : -ETIMEDOUT;
}

/**
 * rpcrdma2_conn_defer - defer work that a completion handler must not do
 * @conn: the connection; rpcrdma2_conn_close() waits for the work
 * @deferred: the work, on no list
 *
 * Deferred work runs one after the other, in the order of these calls.
 *
 * Context: any.
 */
void rpcrdma2_conn_defer(struct rpcrdma2_conn *conn,
			 struct rpcrdma2_deferred *deferred)
{
	/* llist_add() is a full barrier: a thread that polls clears @polling first and
	 * reads the list afterwards.
	 */
	if (llist_add(&deferred->node, &conn->deferred) &&
	    !READ_ONCE(conn->poll.polling))
		queue_work(conn->client ? rpcrdma2_wq : rpcrdma2_serve_wq,
			   &conn->deferred_work);
}

/**
 * rpcrdma2_conn_run_deferred - run the work that completion handlers have deferred
 * @conn: the connection
 *
 * All work that was deferred before the call has been done on return.
 *
 * Context: process; may sleep for memory.
 */
void rpcrdma2_conn_run_deferred(struct rpcrdma2_conn *conn)
{
	struct rpcrdma2_deferred *deferred, *next;
	struct llist_node *all;

	guard(mutex)(&conn->deferred_mutex);
	all = llist_del_all(&conn->deferred);
	llist_for_each_entry_safe(deferred, next, llist_reverse_order(all), node)
		deferred->run(deferred);
}
