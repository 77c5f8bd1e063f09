// SPDX-License-Identifier: GPL-2.0
/*
 * The ground that all of a connection's files stand on: its state, references,
 * its work item, its end.
 *
 * One function changes the state and knows which changes are allowed. Who
 * sees trouble calls rpcrdma2_conn_kill(), which only changes the state and
 * tells the owner; the owner alone tears down, see cm.c.
 */
#include <linux/jhash.h>
#include <linux/once.h>
#include <linux/random.h>
#include <linux/ratelimit.h>
#include <linux/slab.h>
#include <linux/sunrpc/addr.h>
#include <net/ipv6.h>

#include "conn/conn.h"
#include "conn/workqueue.h"
#include <trace/events/rpcrdma2.h>

static const u8 conn_next_states[] = {
	[RPCRDMA2_CONN_NEW]	   = BIT(RPCRDMA2_CONN_RESOLVING) |
				     BIT(RPCRDMA2_CONN_CONNECTING) |
				     BIT(RPCRDMA2_CONN_CLOSING),
	[RPCRDMA2_CONN_RESOLVING]  = BIT(RPCRDMA2_CONN_CONNECTING) |
				     BIT(RPCRDMA2_CONN_CLOSING),
	[RPCRDMA2_CONN_CONNECTING] = BIT(RPCRDMA2_CONN_OPEN) |
				     BIT(RPCRDMA2_CONN_CLOSING),
	[RPCRDMA2_CONN_OPEN]	   = BIT(RPCRDMA2_CONN_READY) |
				     BIT(RPCRDMA2_CONN_CLOSING),
	[RPCRDMA2_CONN_READY]	   = BIT(RPCRDMA2_CONN_CLOSING),
	[RPCRDMA2_CONN_CLOSING]	   = BIT(RPCRDMA2_CONN_CLOSED),
	[RPCRDMA2_CONN_CLOSED]	   = 0,
};

static const struct rpcrdma2_conn_listener *conn_listener __ro_after_init;

/* Calls between two looks below which a connection is quiet */
#define RPCRDMA2_QUIET_CALLS	32U

/**
 * rpcrdma2_conn_listen - be told of all connections from now on
 * @listener: whom to tell
 *
 * Context: module load, before there is a connection.
 */
void __init rpcrdma2_conn_listen(const struct rpcrdma2_conn_listener *listener)
{
	conn_listener = listener;
}

/**
 * rpcrdma2_conn_changed - a property of a connection has another value
 * @conn: the connection
 *
 * Context: any that is no interrupt; does not sleep.
 */
void rpcrdma2_conn_changed(const struct rpcrdma2_conn *conn)
{
	conn_listener->changed(conn);
}

/**
 * rpcrdma2_conn_set_state - the only place where a state changes
 * @conn: the connection
 * @to: new state
 * @reason: errno that explains it, or 0; the first one stays
 *
 * A change that is not allowed is no error: somebody else was faster, most
 * often into CLOSING.
 *
 * Context: process; does not sleep. Takes state_lock.
 * Return: true if the state has changed
 */
bool rpcrdma2_conn_set_state(struct rpcrdma2_conn *conn,
			     enum rpcrdma2_conn_state to, int reason)
{
	enum rpcrdma2_conn_state from;
	bool allowed;

	spin_lock(&conn->state_lock);
	from = conn->state;
	allowed = conn_next_states[from] & BIT(to);
	if (allowed) {
		if (!conn->reason)
			WRITE_ONCE(conn->reason, reason);
		/* Pairs with the acquire in rpcrdma2_conn_state() */
		smp_store_release(&conn->state, to);
		/* Who kills may have a reference and nothing else, but
		 * rpcrdma2_conn_close() takes the lock before the CM id goes.
		 * Events keep the order of states, too.
		 */
		conn_listener->state(conn, to);
	}
	spin_unlock(&conn->state_lock);
	if (!allowed)
		return false;
	trace_rpcrdma2_conn_state(conn, from, to, reason);
	wake_up_all(&conn->state_wq);
	return true;
}

/**
 * rpcrdma2_conn_kill - give up a connection
 * @conn: the connection
 * @err: reason, a negative errno
 *
 * The owner hears of it by ops->lost() and calls rpcrdma2_conn_close(), which
 * disconnects.
 *
 * Context: process; does not wait. May be called any number of times.
 */
void rpcrdma2_conn_kill(struct rpcrdma2_conn *conn, int err)
{
	if (!rpcrdma2_conn_set_state(conn, RPCRDMA2_CONN_CLOSING, err))
		return;
	if (!xchg(&conn->told, true))
		conn->p.ops->lost(conn);
}

/**
 * rpcrdma2_conn_first_message - a server's connection has its first message
 * @conn: the connection
 *
 * A client sends as soon as it has accepted the connection, and the message may be
 * faster than the one by which the CM says so, or that one may be lost. Until the CM
 * knows better, it would tell a client that loses its connection that it was refused.
 *
 * Context: process; does not sleep.
 */
void rpcrdma2_conn_first_message(struct rpcrdma2_conn *conn)
{
	if (rpcrdma2_conn_set_state(conn, RPCRDMA2_CONN_OPEN, 0))
		rdma_notify(conn->cm_id, IB_EVENT_COMM_EST);
}

static unsigned long calls_so_far(const struct rpcrdma2_conn *conn)
{
	const struct rpcrdma2_stats *stats = conn->p.stats;

	if (conn->client)
		return rpcrdma2_stat_read(stats, tx_call_msg) +
		       rpcrdma2_stat_read(stats, tx_call_nomsg);
	return rpcrdma2_stat_read(stats, rx_call_msg) +
	       rpcrdma2_stat_read(stats, rx_call_nomsg);
}

/**
 * rpcrdma2_conn_quiet - were there hardly any Calls since the last look?
 * @conn: the connection; the Calls of a client count
 * @seen: number of Calls at that time; updated
 *
 * Context: any.
 * Return: true if so
 */
bool rpcrdma2_conn_quiet(const struct rpcrdma2_conn *conn, unsigned long *seen)
{
	unsigned long calls = calls_so_far(conn);
	unsigned long more = calls - *seen;

	*seen = calls;
	return more < RPCRDMA2_QUIET_CALLS;
}

static void conn_release(struct kref *kref)
{
	kfree(container_of(kref, struct rpcrdma2_conn, kref));
}

/**
 * rpcrdma2_conn_get - take a reference to the object (not its resources)
 * @conn: the connection
 *
 * Context: any.
 * Return: @conn
 */
struct rpcrdma2_conn *rpcrdma2_conn_get(struct rpcrdma2_conn *conn)
{
	kref_get(&conn->kref);
	return conn;
}

/**
 * rpcrdma2_conn_put - drop a reference
 * @conn: the connection
 *
 * Context: any.
 */
void rpcrdma2_conn_put(struct rpcrdma2_conn *conn)
{
	kref_put(&conn->kref, conn_release);
}

/**
 * rpcrdma2_conn_peer_gid - who is the peer, for counting
 * @cm_id: CM id of the peer's connect request, or resolved by us
 * @gid: filled in
 *
 * InfiniBand and RoCE: the port that the CM's answers go to. A peer may claim any
 * address of its network, but gets no connection from a port that is not its own.
 * iWARP: the address, which TCP has proved.
 *
 * Context: any.
 */
void rpcrdma2_conn_peer_gid(const struct rdma_cm_id *cm_id, union ib_gid *gid)
{
	const struct sockaddr_storage *sa = &cm_id->route.addr.dst_addr;

	if (cm_id->route.path_rec)
		*gid = cm_id->route.path_rec->dgid;
	else if (sa->ss_family == AF_INET6)
		memcpy(gid, &((const struct sockaddr_in6 *)sa)->sin6_addr,
		       sizeof(*gid));
	else
		ipv6_addr_set_v4mapped(((const struct sockaddr_in *)
					sa)->sin_addr.s_addr,
				       (struct in6_addr *)gid);
}

/* Peers share a limit of the log only by chance, and cannot choose with whom. */
static struct ratelimit_state conn_log_limits[16] = {
	[0 ... 15] = RATELIMIT_STATE_INIT(conn_log_limits,
					  DEFAULT_RATELIMIT_INTERVAL, 4),
};

/**
 * rpcrdma2_conn_may_log - may a line about this connection go to the log?
 * @conn: the connection
 *
 * Context: any that is no interrupt.
 * Return: false if there were too many about this peer
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
 * rpcrdma2_conn_wc_failed - a work request has failed
 * @conn: the connection, about to be given up
 * @what: what it was
 * @cid: its number, 0 if it has none
 * @wc: its completion
 *
 * Those that are flushed because the connection ends are no failures.
 *
 * Context: completion handler; does not sleep.
 */
void rpcrdma2_conn_wc_failed(struct rpcrdma2_conn *conn, const char *what, u32 cid,
			     const struct ib_wc *wc)
{
	trace_rpcrdma2_wc_error(conn, what, cid, wc);
	if (wc->status == IB_WC_WR_FLUSH_ERR)
		return;
	rpcrdma2_stat_inc(conn->p.stats, wc_errors);
	if (rpcrdma2_conn_may_log(conn))
		pr_notice("rpcrdma2: %pISpc: connection lost, %s: %s (%d)\n",
			  &conn->cm_id->route.addr.dst_addr, what,
			  ib_wc_status_msg(wc->status), wc->status);
}

/**
 * rpcrdma2_conn_wait - one step of making a connection
 * @conn: client's connection
 * @cond: what is waited for; does not sleep
 * @arg: for @cond
 * @ms: milliseconds to wait at the most
 *
 * A connection that nobody wants any more is given up meanwhile.
 *
 * Context: sleeps. Nothing that wakes it needs sunrpc's locks: CM events, QP
 * errors and device removal change the state.
 * Return: 0, -ETIMEDOUT, or -ENOTCONN if the connection is over
 */
int rpcrdma2_conn_wait(struct rpcrdma2_conn *conn,
		       bool (*cond)(const struct rpcrdma2_conn *conn, int arg),
		       int arg, u32 ms)
{
	u32 slice;
	long left;

	do {
		slice = min_t(u32, ms, RPCRDMA2_LOOK_MS);
		left = wait_event_timeout(conn->state_wq,
					  cond(conn, arg) ||
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
 * rpcrdma2_conn_defer - have something done that a completion handler must not do
 * @conn: the connection; rpcrdma2_conn_close() waits until it is done
 * @deferred: on no list
 *
 * Chores are done one after the other, in the order in which they were left.
 *
 * Context: any.
 */
void rpcrdma2_conn_defer(struct rpcrdma2_conn *conn,
			 struct rpcrdma2_deferred *deferred)
{
	/* llist_add() is a full barrier: a thread that polls clears @polling first and
	 * looks at the list after that.
	 */
	if (llist_add(&deferred->node, &conn->deferred) &&
	    !READ_ONCE(conn->poll.polling))
		queue_work(conn->client ? rpcrdma2_deferred_wq : rpcrdma2_serve_wq,
			   &conn->deferred_work);
}

/**
 * rpcrdma2_conn_run_deferred - do what completion handlers have deferred
 * @conn: the connection
 *
 * Everything that was deferred before has been done on return.
 *
 * Context: process; may sleep for memory.
 */
void rpcrdma2_conn_run_deferred(struct rpcrdma2_conn *conn)
{
	struct rpcrdma2_deferred *deferred, *next;
	struct llist_node *all;

	mutex_lock(&conn->deferred_mutex);
	all = llist_del_all(&conn->deferred);
	llist_for_each_entry_safe(deferred, next, llist_reverse_order(all), node)
		deferred->run(deferred);
	mutex_unlock(&conn->deferred_mutex);
}
