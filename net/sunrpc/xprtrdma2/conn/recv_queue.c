// SPDX-License-Identifier: GPL-2.0
/*
 * The receive queue of one connection.
 *
 * Receives are posted in batches. The target includes one batch more than the credits
 * promise, so a promise is always kept (CRED-7).
 *
 * A completion handler does not wait for memory. Without memory the missing Receives are
 * posted as others become free, or by the refill work, one at a time. A promised Receive
 * needs no memory: it exists before its credit is granted, and is posted again before the
 * credit can be used again.
 *
 * recvq.lock orders posting and protects the counts; it is a leaf, but may be taken
 * under pool->lock. Process context only.
 */
#include "conn/buf.h"
#include "conn/conn.h"
#include "conn/workqueue.h"
#include <trace/events/rpcrdma2.h>

/* Time until the next attempt without memory, or mapping, for a Receive */
#define RPCRDMA2_REFILL_DELAY	msecs_to_jiffies(20)
/* Attempts to get the first Receives of a connection */
#define RPCRDMA2_FIRST_TRIES	25

/* Number of Receives to post. A hint without the lock: chain_cut() checks again, and a
 * caller that changes one of these numbers checks afterwards.
 */
static u32 recv_missing(struct rpcrdma2_conn *conn)
{
	u32 posted = READ_ONCE(conn->recvq.posted);
	u32 target = READ_ONCE(conn->recvq.target);

	if (rpcrdma2_conn_over(conn))
		return 0;
	return target - min(target, posted);
}

static void chain_free(struct rpcrdma2_conn *conn, struct ib_recv_wr *wr)
{
	struct rpcrdma2_recv *rx;

	while (wr) {
		rx = container_of(wr, struct rpcrdma2_recv, wr);
		wr = wr->next;
		rpcrdma2_recv_pool_free(conn->p.pool, rx);
	}
}

/* Cut a chain to the number that is missing: others may have posted meanwhile. Returns
 * the length that remains.
 */
static u32 chain_cut(struct rpcrdma2_conn *conn, struct ib_recv_wr **first)
{
	u32 n, missing = recv_missing(conn);
	struct ib_recv_wr **link = first;

	lockdep_assert_held(&conn->recvq.lock);
	for (n = 0; *link && n < missing; n++)
		link = &(*link)->next;
	chain_free(conn, *link);
	*link = NULL;
	return n;
}

/* Count a chain of Receives as posted, or as not posted after all. */
static u32 recvs_count(struct rpcrdma2_conn *conn, const struct ib_recv_wr *wr,
		       bool posted)
{
	struct rpcrdma2_recv *rx;
	u32 n;

	lockdep_assert_held(&conn->recvq.lock);
	for (n = 0; wr; wr = wr->next, n++) {
		rx = container_of(wr, struct rpcrdma2_recv, wr);
		if (posted) {
			hlist_add_head(&rx->posted, &conn->recvq.list);
			trace_rpcrdma2_post_recv(conn, rx);
		} else {
			hlist_del_init(&rx->posted);
		}
	}
	WRITE_ONCE(conn->recvq.posted, conn->recvq.posted + (posted ? n : -n));
	return n;
}

/* Post up to @count Receives; fewer without memory. Returns the number. */
static u32 recv_post(struct rpcrdma2_conn *conn, u32 count, gfp_t gfp)
{
	struct ib_recv_wr *first = NULL;
	const struct ib_recv_wr *bad;
	struct rpcrdma2_recv *rx;
	int ret = 0;
	u32 n;

	for (n = 0; n < count; n++) {
		rx = rpcrdma2_recv_pool_get(conn, gfp);
		if (!rx)
			break;
		rx->cqe.done = conn->p.ops->recv;
		rx->wr.next = first;
		first = &rx->wr;
	}
	if (!n)
		return 0;

	spin_lock(&conn->recvq.lock);
	n = chain_cut(conn, &first);
	bad = first;
	if (first) {
		/* Completions may run before ib_post_recv() returns */
		recvs_count(conn, first, true);
		ret = ib_post_recv(conn->qp, first, &bad);
		if (ret)
			n -= recvs_count(conn, bad, false);
	}
	spin_unlock(&conn->recvq.lock);
	rpcrdma2_stat_inc(conn->p.stats, recv_posts);
	trace_rpcrdma2_post_recvs(conn, n, ret);
	if (!ret)
		return n;
	chain_free(conn, (struct ib_recv_wr *)bad);
	rpcrdma2_conn_kill(conn, -ENOTCONN);
	return 0;
}

/* Post the missing Receives when there may be memory. */
static void recv_refill_later(struct rpcrdma2_conn *conn)
{
	guard(spinlock)(&conn->recvq.lock);
	if (rpcrdma2_conn_over(conn))
		return;
	if (!conn->recvq.is_short)
		rpcrdma2_stat_inc(conn->p.stats, recv_shortages);
	WRITE_ONCE(conn->recvq.is_short, true);
	queue_delayed_work(rpcrdma2_memory_wq, &conn->recvq.refill_work,
			   RPCRDMA2_REFILL_DELAY);
}

/* Post the missing Receives if there are @least of them. */
static void recv_refill(struct rpcrdma2_conn *conn, u32 least)
{
	u32 missing = recv_missing(conn);

	if (missing < least ||
	    recv_post(conn, missing, RPCRDMA2_GFP_NOWAIT) == missing)
		return;
	/* Unless others have posted meanwhile */
	if (recv_missing(conn))
		recv_refill_later(conn);
}

static void recv_refill_worker(struct work_struct *work)
{
	struct rpcrdma2_conn *conn = container_of(to_delayed_work(work),
						  struct rpcrdma2_conn,
						  recvq.refill_work);
	unsigned int was = rpcrdma2_reclaim_enter(rpcrdma2_conn_swapping(conn));
	u32 missing;

	/* One at a time: each is useful at once */
	while ((missing = recv_missing(conn)) &&
	       recv_post(conn, 1, rpcrdma2_buf_gfp()))
		cond_resched();
	rpcrdma2_reclaim_exit(was);
	if (missing)
		recv_refill_later(conn);
	else
		WRITE_ONCE(conn->recvq.is_short, false);
}

/**
 * rpcrdma2_recvs_setup - prepare a new connection
 * @conn: the connection
 *
 * Context: any.
 */
void rpcrdma2_recvs_setup(struct rpcrdma2_conn *conn)
{
	struct rpcrdma2_recvq *recvq = &conn->recvq;

	spin_lock_init(&recvq->lock);
	INIT_HLIST_HEAD(&recvq->list);
	INIT_DELAYED_WORK(&recvq->refill_work, recv_refill_worker);
}

/**
 * rpcrdma2_recvs_plan - choose the length of the receive queue
 * @conn: connection with known device
 *
 * Context: any.
 * Return: false if the device's queues are too short to grant any credit
 */
bool rpcrdma2_recvs_plan(struct rpcrdma2_conn *conn)
{
	const struct rpcrdma2_conn_params *p = &conn->p;
	struct rpcrdma2_recvq *recvq = &conn->recvq;

	recvq->max = min(p->calls + p->serves + 64, conn->caps.max_qp_wr - 1);
	return recvq->max > RPCRDMA2_RECV_EXTRA + 1;
}

/**
 * rpcrdma2_recvs_stop - wait until no Receive is posted any more
 * @conn: connection in state CLOSING, about to be drained
 *
 * Context: may sleep.
 */
void rpcrdma2_recvs_stop(struct rpcrdma2_conn *conn)
{
	/* Holders of the lock have posted or will see the state. */
	spin_lock(&conn->recvq.lock);
	spin_unlock(&conn->recvq.lock);
	cancel_delayed_work_sync(&conn->recvq.refill_work);
}

/**
 * rpcrdma2_recv_take - take over a Receive that has completed
 * @conn: the connection
 * @rx: the Receive
 * @wc: its completion
 *
 * Context: completion handler; does not sleep.
 * Return: true if the Receive has a message. It then belongs to the caller, which calls
 * rpcrdma2_recv_replace()
 */
bool rpcrdma2_recv_take(struct rpcrdma2_conn *conn, struct rpcrdma2_recv *rx,
			const struct ib_wc *wc)
{
	struct rpcrdma2_recvq *recvq = &conn->recvq;
	bool posted;

	spin_lock(&recvq->lock);
	posted = !hlist_unhashed(&rx->posted);
	if (posted) {
		hlist_del_init(&rx->posted);
		WRITE_ONCE(recvq->posted, recvq->posted - 1);
	}
	spin_unlock(&recvq->lock);
	if (unlikely(!posted)) {
		rpcrdma2_stat_inc(conn->p.stats, stray_completions);
		return false;
	}

	trace_rpcrdma2_wc_recv(conn, rx->cid, wc);
	if (unlikely(wc->status != IB_WC_SUCCESS)) {
		rpcrdma2_conn_wc_failed(conn, "recv", rx->cid, wc);
		/* If a QP is flushed while the client still connects, the CM has ended it.
		 * The CM's event will give the reason: a refusal is not a loss (ERR-13).
		 * The wait for it is bounded.
		 */
		if (wc->status != IB_WC_WR_FLUSH_ERR || !conn->client ||
		    rpcrdma2_conn_state(conn) != RPCRDMA2_CONN_CONNECTING)
			rpcrdma2_conn_kill(conn, -ENOTCONN);
		rpcrdma2_recv_pool_free(conn->p.pool, rx);
		return false;
	}

	rx->len = wc->byte_len;
	rx->invalidated = wc->wc_flags & IB_WC_WITH_INVALIDATE;
	rx->inv_handle = rx->invalidated ? wc->ex.invalidate_rkey : 0;
	ib_dma_sync_single_for_cpu(conn->cm_id->device, rx->sge.addr, rx->len,
				   DMA_FROM_DEVICE);
	return true;
}

/**
 * rpcrdma2_recv_replace - post Receives when enough are used up
 * @conn: the connection
 * @rx: a Receive of rpcrdma2_recv_take() that is not needed any more, or NULL
 *
 * Context: completion handler; does not sleep.
 */
void rpcrdma2_recv_replace(struct rpcrdma2_conn *conn,
			   struct rpcrdma2_recv *rx)
{
	if (rx)
		rpcrdma2_recv_pool_put(conn, rx);
	recv_refill(conn, RPCRDMA2_RECV_BATCH);
}

/**
 * rpcrdma2_recv_put - give back a Receive that a Call had taken over
 * @rx: the Receive
 *
 * Context: process; does not sleep.
 */
void rpcrdma2_recv_put(struct rpcrdma2_recv *rx)
{
	struct rpcrdma2_conn *conn = rx->conn;

	rpcrdma2_recv_pool_put(conn, rx);
	/* Only if memory was short when the completion handler tried. This Receive is
	 * posted before the credit of its Call is given back.
	 */
	if (unlikely(READ_ONCE(conn->recvq.is_short)) && recv_missing(conn))
		recv_post(conn, 1, RPCRDMA2_GFP_NOWAIT);
}

/**
 * rpcrdma2_recvs_target - keep enough Receives posted
 * @conn: the connection
 * @target: messages that the peer may send without a further credit, control messages
 *	not counted
 *
 * Does not wait for memory: missing Receives are posted later, without notice.
 *
 * Context: process; does not sleep. Takes recvq.lock.
 * Return: number of messages that posted Receives can take now, at most @target
 */
u32 rpcrdma2_recvs_target(struct rpcrdma2_conn *conn, u32 target)
{
	const u32 extra = RPCRDMA2_RECV_EXTRA;
	u32 posted;

	target = min(target + extra, conn->recvq.max);
	scoped_guard(spinlock, &conn->recvq.lock)
		WRITE_ONCE(conn->recvq.target, target);

	recv_refill(conn, 1);

	scoped_guard(spinlock, &conn->recvq.lock)
		posted = min(conn->recvq.posted, target);
	return posted > extra ? posted - extra : 0;
}

/**
 * rpcrdma2_recvs_create - post Receives for the first credits
 * @conn: connection whose QP exists
 *
 * The capacity of the pool may become smaller.
 *
 * Context: may sleep, for memory half a second at most.
 * Return: 0, -ENOMEM or -ENOTCONN. rpcrdma2_recv_pool_unmap() cleans up after each
 */
int rpcrdma2_recvs_create(struct rpcrdma2_conn *conn)
{
	u32 first = rpcrdma2_credit_grant(&conn->credit) + 1, tries;
	int ret;

	ret = rpcrdma2_recv_pool_fill(conn->p.pool, first + RPCRDMA2_RECV_EXTRA,
				      rpcrdma2_policy_capacity(&conn->p.policy));
	if (ret)
		goto out_none;
	/* The refill work continues with those that cannot be mapped at once */
	for (tries = 0; tries < RPCRDMA2_FIRST_TRIES; tries++) {
		if (rpcrdma2_recvs_target(conn, first) == first)
			return 0;
		if (rpcrdma2_conn_over(conn))
			return -ENOTCONN;
		schedule_timeout_uninterruptible(RPCRDMA2_REFILL_DELAY);
	}
out_none:
	pr_notice_ratelimited("rpcrdma2: %s: cannot allocate or map Receives, connection not made\n",
			      dev_name(&conn->cm_id->device->dev));
	return -ENOMEM;
}

/**
 * rpcrdma2_recvs_reclaim - return Receives that never completed to the pool
 * @conn: connection without QP and CQ
 *
 * Context: may sleep.
 */
void rpcrdma2_recvs_reclaim(struct rpcrdma2_conn *conn)
{
	struct rpcrdma2_recv *rx;
	struct hlist_node *tmp;

	hlist_for_each_entry_safe(rx, tmp, &conn->recvq.list, posted) {
		hlist_del_init(&rx->posted);
		rpcrdma2_recv_pool_free(conn->p.pool, rx);
		rpcrdma2_stat_inc(conn->p.stats, lost_completions);
	}
}
