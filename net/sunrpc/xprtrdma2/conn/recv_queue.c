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
 * recvq.lock orders posting, and protects the target, the list of mapped Receives, and the
 * free ones of the pool against other takers; it is a leaf. A completion takes its Receive
 * without recvq.lock: poll.lock lets one completion run at a time. Process context only.
 */
#include "conn/buf.h"
#include "conn/conn.h"
#include "conn/workqueue.h"
#include <trace/events/rpcrdma2.h>

/* Time until the next attempt without memory, or mapping, for a Receive */
#define RPCRDMA2_REFILL_DELAY	msecs_to_jiffies(20)
/* Attempts to get the first Receives of a connection */
#define RPCRDMA2_FIRST_TRIES	25

static void recv_done(struct ib_cq *cq, struct ib_wc *wc);

/* Number of Receives to post. A hint without the lock: recv_post() checks again, and a
 * caller that changes one of these numbers checks afterwards.
 */
static u32 recv_missing(struct rpcrdma2_conn *conn)
{
	u32 posted = atomic_read(&conn->recvq.posted);
	u32 target = READ_ONCE(conn->recvq.target);

	if (rpcrdma2_conn_over(conn))
		return 0;
	return target - min(target, posted);
}

/* If Receives are missing for lack of memory, post them when there may be memory. */
static void recv_set_short(struct rpcrdma2_conn *conn, bool is_short)
{
	lockdep_assert_held(&conn->recvq.lock);
	if (is_short) {
		if (!conn->recvq.is_short)
			rpcrdma2_stat_inc(conn->p.stats, recv_shortages);
		queue_delayed_work(rpcrdma2_memory_wq, &conn->recvq.refill_work,
				   RPCRDMA2_REFILL_DELAY);
	}
	WRITE_ONCE(conn->recvq.is_short, is_short);
}

/* Post the missing Receives if there are @least of them. Without memory for all of them the
 * refill work continues. If the device refuses any, the connection is given up, and
 * rpcrdma2_recvs_reclaim() takes them back. Returns false if there was none to post.
 */
static bool recv_post(struct rpcrdma2_conn *conn, u32 least)
{
	struct rpcrdma2_recvq *recvq = &conn->recvq;
	struct ib_recv_wr *first = NULL;
	struct rpcrdma2_recv *rx;
	u32 missing, n = 0;
	int ret = 0;

	if (recv_missing(conn) < least)
		return false;
	spin_lock(&recvq->lock);
	for (missing = recv_missing(conn); n < missing; n++) {
		rx = rpcrdma2_recv_pool_take(conn->p.pool, recvq);
		if (unlikely(!rx || !rx->conn)) {
			rx = rpcrdma2_recv_pool_map(conn, rx);
			if (!rx)
				break;
			rx->cqe.done = recv_done;
		}
		ib_dma_sync_single_for_device(conn->cm_id->device, rx->sge.addr, rx->size,
					      DMA_FROM_DEVICE);
		rx->wr.next = first;
		first = &rx->wr;
		rx->posted = true;
		trace_rpcrdma2_post_recv(conn, rx);
	}
	if (first) {
		/* Completions may run before ib_post_recv() returns */
		atomic_add(n, &recvq->posted);
		ret = ib_post_recv(conn->qp, first, NULL);
		rpcrdma2_stat_inc(conn->p.stats, recv_posts);
		trace_rpcrdma2_post_recvs(conn, n, ret);
	}
	recv_set_short(conn, n < missing);
	spin_unlock(&recvq->lock);
	if (ret)
		rpcrdma2_conn_kill(conn, -ENOTCONN);
	return n;
}

static void recv_refill_worker(struct work_struct *work)
{
	struct rpcrdma2_conn *conn = container_of(to_delayed_work(work),
						  struct rpcrdma2_conn,
						  recvq.refill_work);
	unsigned int was = rpcrdma2_reclaim_enter(rpcrdma2_conn_swapping(conn));

	/* One at a time: each is useful at once */
	while (recv_missing(conn) &&
	       rpcrdma2_recv_pool_provide(conn->p.pool, rpcrdma2_buf_gfp()) &&
	       recv_post(conn, 1))
		cond_resched();
	rpcrdma2_reclaim_exit(was);
	guard(spinlock)(&conn->recvq.lock);
	recv_set_short(conn, recv_missing(conn));
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
 * Return: number of credits that may be granted at first; 0 if the device's queues are too
 * short
 */
u32 rpcrdma2_recvs_plan(struct rpcrdma2_conn *conn)
{
	const struct rpcrdma2_conn_params *p = &conn->p;
	/* One is for the message that settles the version */
	const u32 others = RPCRDMA2_RECV_EXTRA + 1;

	conn->recvq.max = min(p->calls + p->serves + 64, conn->caps.max_qp_wr - 1);
	return max(conn->recvq.max, others) - others;
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

/* Take over a Receive that has completed. Returns true if it has a message; it then belongs
 * to the caller.
 */
static bool recv_take(struct rpcrdma2_conn *conn, struct rpcrdma2_recv *rx,
		      const struct ib_wc *wc)
{
	/* Two completions of one Receive do not both find it posted */
	lockdep_assert_held(&conn->poll.lock);
	if (unlikely(!rx->posted)) {
		rpcrdma2_stat_inc(conn->p.stats, stray_completions);
		return false;
	}
	rx->posted = false;
	atomic_dec(&conn->recvq.posted);

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

/* Give back a Receive. If it is larger than its connection needs, and there is memory for a
 * smaller one, that replaces it.
 */
static void recv_give_back(struct rpcrdma2_conn *conn, struct rpcrdma2_recv *rx)
{
	struct rpcrdma2_recv_pool *pool = conn->p.pool;

	if (unlikely(rx->size > READ_ONCE(pool->size))) {
		guard(spinlock)(&conn->recvq.lock);
		rx = rpcrdma2_recv_pool_fit(pool, rx);
	}
	rpcrdma2_recv_pool_free(pool, rx);
}

/* Handle the message of a Receive, and post Receives when enough are used up. */
static void recv_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct rpcrdma2_recv *rx = container_of(wc->wr_cqe, struct rpcrdma2_recv, cqe);
	struct rpcrdma2_conn *conn = cq->cq_context;

	guard(rpcrdma2_completion)();
	if (!recv_take(conn, rx, wc))
		return;
	if (!conn->p.ops->recv(conn, rx))
		recv_give_back(conn, rx);
	recv_post(conn, RPCRDMA2_RECV_BATCH);
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

	recv_give_back(conn, rx);
	/* Only if memory was short when the completion handler tried. This Receive is
	 * posted before the credit of its Call is given back.
	 */
	if (unlikely(READ_ONCE(conn->recvq.is_short)))
		recv_post(conn, 1);
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
	struct rpcrdma2_recvq *recvq = &conn->recvq;

	target = min(target + RPCRDMA2_RECV_EXTRA, recvq->max);
	scoped_guard(spinlock, &recvq->lock)
		WRITE_ONCE(recvq->target, target);
	recv_post(conn, 1);
	return max(min_t(u32, atomic_read(&recvq->posted), target), RPCRDMA2_RECV_EXTRA) -
	       RPCRDMA2_RECV_EXTRA;
}

/**
 * rpcrdma2_recvs_trim - free the Receives that are too many or too large
 * @conn: a connection with little work: besides those to be posted, none is kept for Calls
 *
 * Context: process; does not sleep. Takes recvq.lock.
 */
void rpcrdma2_recvs_trim(struct rpcrdma2_conn *conn)
{
	guard(spinlock)(&conn->recvq.lock);
	rpcrdma2_recv_pool_trim(conn, conn->recvq.target);
}

/**
 * rpcrdma2_recvs_limit - set a smaller capacity
 * @conn: connection of version 1, not READY yet
 * @size: bytes of the largest message from now on
 *
 * Smaller Receives replace larger ones as these become free.
 *
 * Context: process; does not sleep. Takes recvq.lock. Requirements: INL-8.
 */
void rpcrdma2_recvs_limit(struct rpcrdma2_conn *conn, u32 size)
{
	struct rpcrdma2_recv_pool *pool = conn->p.pool;

	WRITE_ONCE(pool->size, min(pool->size, size));
	rpcrdma2_recvs_trim(conn);
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
	/* The refill work continues with those that cannot be mapped at once */
	for (tries = 0; !ret && tries < RPCRDMA2_FIRST_TRIES; tries++) {
		if (rpcrdma2_recvs_target(conn, first) == first)
			return 0;
		if (rpcrdma2_conn_over(conn))
			return -ENOTCONN;
		schedule_timeout_uninterruptible(RPCRDMA2_REFILL_DELAY);
	}
	pr_notice_ratelimited("rpcrdma2: %s: cannot allocate or map Receives, connection not made\n",
			      dev_name(&conn->cm_id->device->dev));
	return -ENOMEM;
}

/**
 * rpcrdma2_recvs_reclaim - return Receives that never completed to the pool
 * @conn: connection without QP and CQ
 *
 * The callback service of a client may still give Receives back, and free them.
 *
 * Context: process; does not sleep. Takes recvq.lock.
 */
void rpcrdma2_recvs_reclaim(struct rpcrdma2_conn *conn)
{
	struct rpcrdma2_recv *rx;

	guard(spinlock)(&conn->recvq.lock);
	hlist_for_each_entry(rx, &conn->recvq.list, mapped) {
		if (!rx->posted)
			continue;
		rx->posted = false;
		rpcrdma2_recv_pool_free(conn->p.pool, rx);
		rpcrdma2_stat_inc(conn->p.stats, lost_completions);
	}
}
