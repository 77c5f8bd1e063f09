// SPDX-License-Identifier: GPL-2.0
/*
 * Receives: the pool that outlives connections, and the receive queue of
 * one connection. And credits, of both directions, each of which is the promise
 * of a Receive.
 *
 * A Receive is mapped when a connection first uses it and stays mapped
 * until that connection is gone; in between it is posted, in use by a Call,
 * or free. Receives are posted in batches; the target includes one batch
 * more than the credits promise, so a promise is always kept (CRED-7).
 *
 * A completion does not wait for memory. If it finds none the Receives that
 * are missing are posted as others come back, or by the refill work, one at a
 * time. What was promised needs none: a Receive exists for each credit before
 * it is granted, and is posted again before its credit is.
 *
 * All Receives of a connection have the same capacity, or more, for as long as
 * it lives. The Receive Buffer Size that is announced is a number within that, so
 * it may change at any time: no message on its way is too long (CHG-23, CHG-24).
 * Only version 1 needs less than was there for the first messages. Larger Receives
 * are then replaced by smaller ones as they come back.
 *
 * The pool keeps as many as the last connection needed, so that the next one
 * can be had without memory. A client that has had no connection for a while
 * gives them back, unless there is swap on the mount.
 *
 * recvq.lock orders posting and protects the counts; pool->lock serialises takers
 * of the free list; recvq.credit_lock protects credits. Process context only. Leaves
 * all, but recvq.lock may be taken under pool->lock.
 */
#include <linux/slab.h>

#include "conn/buf.h"
#include "conn/conn.h"
#include "conn/inject.h"
#include "conn/workqueue.h"
#include <trace/events/rpcrdma2.h>

#define RPCRDMA2_RECV_BATCH	6U

/* Receives that are posted and not for credits: those for control messages, and
 * a batch because they are posted in batches
 */
#define RPCRDMA2_RECV_EXTRA	(RPCRDMA2_CONTROL_RESERVE + RPCRDMA2_RECV_BATCH)

/* No memory, or no mapping, for a Receive: look again */
#define RPCRDMA2_REFILL_DELAY	msecs_to_jiffies(20)
/* A connection that gets none for its first Receives is given up after that */
#define RPCRDMA2_FIRST_TRIES	25

/**
 * rpcrdma2_recv_pool_init - an empty pool
 * @pool: to be set up
 * @size: bytes of each Receive
 */
void rpcrdma2_recv_pool_init(struct rpcrdma2_recv_pool *pool, u32 size)
{
	init_llist_head(&pool->free);
	spin_lock_init(&pool->lock);
	atomic_set(&pool->count, 0);
	atomic_long_set(&pool->bytes, 0);
	pool->wanted = size;
	pool->size = size;
	pool->keep = 0;
	pool->node = NUMA_NO_NODE;
}

/**
 * rpcrdma2_recv_pool_begin - another capacity for the next connection
 * @pool: a pool of which no connection takes any
 * @size: bytes of each Receive
 *
 * Context: any.
 */
void rpcrdma2_recv_pool_begin(struct rpcrdma2_recv_pool *pool, u32 size)
{
	pool->wanted = size;
}

static void recv_free(struct rpcrdma2_recv_pool *pool,
		      struct rpcrdma2_recv *rx)
{
	atomic_dec(&pool->count);
	atomic_long_sub(rpcrdma2_buf_bytes(rx->size), &pool->bytes);
	rpcrdma2_buf_free(rx->buf, rx->size);
	kfree(rx);
}

/**
 * rpcrdma2_recv_pool_empty - free the Receives of a pool
 * @pool: a pool without a connection: all its Receives were given back and unmapped
 *
 * Context: may sleep.
 */
void rpcrdma2_recv_pool_empty(struct rpcrdma2_recv_pool *pool)
{
	struct rpcrdma2_recv *rx, *tmp;

	pool->keep = 0;
	llist_for_each_entry_safe(rx, tmp, llist_del_all(&pool->free), node)
		recv_free(pool, rx);
}

/**
 * rpcrdma2_recv_pool_destroy - a pool is not used any more
 * @pool: as for rpcrdma2_recv_pool_empty()
 *
 * Context: may sleep.
 */
void rpcrdma2_recv_pool_destroy(struct rpcrdma2_recv_pool *pool)
{
	rpcrdma2_recv_pool_empty(pool);
	WARN_ON_ONCE(atomic_read(&pool->count));
}

static struct rpcrdma2_recv *pool_get(struct rpcrdma2_recv_pool *pool)
{
	struct llist_node *node;

	spin_lock(&pool->lock);
	node = llist_del_first(&pool->free);
	spin_unlock(&pool->lock);
	return node ? llist_entry(node, struct rpcrdma2_recv, node) : NULL;
}

static struct rpcrdma2_recv *recv_alloc(struct rpcrdma2_recv_pool *pool,
					u32 size, gfp_t gfp)
{
	struct rpcrdma2_recv *rx;

	rx = kzalloc_node(sizeof(*rx), gfp, pool->node);
	if (!rx)
		return NULL;
	rx->size = size;
	rx->buf = rpcrdma2_buf_alloc(rx->size, pool->node, gfp);
	if (!rx->buf) {
		kfree(rx);
		return NULL;
	}
	INIT_HLIST_NODE(&rx->posted);
	INIT_LIST_HEAD(&rx->list);
	atomic_inc(&pool->count);
	atomic_long_add(rpcrdma2_buf_bytes(size), &pool->bytes);
	return rx;
}

static void recv_unmap(struct rpcrdma2_recv *rx)
{
	if (!rx->conn)
		return;
	ib_dma_unmap_single(rx->conn->cm_id->device, rx->sge.addr, rx->size,
			    DMA_FROM_DEVICE);
	rx->conn = NULL;
}

static int recv_map(struct rpcrdma2_conn *conn, struct rpcrdma2_recv *rx)
{
	struct ib_device *device = conn->cm_id->device;

	if (rx->conn == conn)
		return 0;
	if (rpcrdma2_inject_map(RPCRDMA2_MAP_RECV))
		return -ENOMEM;
	rx->sge.addr = ib_dma_map_single(device, rx->buf, rx->size,
					 DMA_FROM_DEVICE);
	if (ib_dma_mapping_error(device, rx->sge.addr))
		return -ENOMEM;
	rx->conn = conn;
	rx->cid = rpcrdma2_conn_cid(conn);
	rx->sge.length = rx->size;
	rx->sge.lkey = conn->pd->local_dma_lkey;
	rx->cqe.done = conn->recvq.done;
	rx->wr.wr_cqe = &rx->cqe;
	rx->wr.sg_list = &rx->sge;
	rx->wr.num_sge = 1;
	return 0;
}

/* A look without the lock: chain_cut() looks again before anything is posted, and
 * who changes any of this looks afterwards.
 */
static u32 recv_missing(struct rpcrdma2_conn *conn)
{
	u32 posted = READ_ONCE(conn->recvq.posted);
	u32 target = READ_ONCE(conn->recvq.target);

	if (READ_ONCE(conn->recvq.closed))
		return 0;
	return target - min(target, posted);
}

static void recv_drop(struct rpcrdma2_recv_pool *pool, struct rpcrdma2_recv *rx)
{
	recv_unmap(rx);
	recv_free(pool, rx);
}

/* More than those posted, and those in use by Calls */
static bool recv_has_enough(const struct rpcrdma2_conn *conn)
{
	const struct rpcrdma2_recv_pool *pool = conn->p.pool;

	return atomic_read(&pool->count) >
	       READ_ONCE(pool->keep) + RPCRDMA2_RECV_BATCH +
	       READ_ONCE(conn->recvq.grant.current_grant);
}

/* Replace a Receive that is larger than this connection needs, if there is memory
 * for a smaller one.
 */
static struct rpcrdma2_recv *recv_fit(struct rpcrdma2_recv_pool *pool,
				      struct rpcrdma2_recv *rx)
{
	struct rpcrdma2_recv *fit;

	fit = recv_alloc(pool, READ_ONCE(pool->size), RPCRDMA2_GFP_NOWAIT);
	if (!fit)
		return rx;
	recv_drop(pool, rx);
	return fit;
}

/* Back to the pool, or freed if there are enough. */
static void recv_recycle(struct rpcrdma2_conn *conn, struct rpcrdma2_recv *rx)
{
	struct rpcrdma2_recv_pool *pool = conn->p.pool;

	if (recv_has_enough(conn)) {
		recv_drop(pool, rx);
		return;
	}
	if (unlikely(rx->size > READ_ONCE(pool->size)))
		rx = recv_fit(pool, rx);
	llist_add(&rx->node, &pool->free);
}

/* Fewer are needed, or smaller ones: free what is not in use. Nobody finds the pool
 * empty meanwhile.
 */
static void recv_trim(struct rpcrdma2_conn *conn)
{
	struct rpcrdma2_recv_pool *pool = conn->p.pool;
	struct rpcrdma2_recv *rx, *tmp;

	spin_lock(&pool->lock);
	llist_for_each_entry_safe(rx, tmp, llist_del_all(&pool->free), node)
		recv_recycle(conn, rx);
	spin_unlock(&pool->lock);
}

/* A mapped one. */
static struct rpcrdma2_recv *recv_get(struct rpcrdma2_conn *conn, gfp_t gfp)
{
	struct rpcrdma2_recv_pool *pool = conn->p.pool;
	struct rpcrdma2_recv *rx = pool_get(pool);

	if (!rx)
		rx = recv_alloc(pool, READ_ONCE(pool->size), gfp);
	if (!rx)
		return NULL;
	if (recv_map(conn, rx)) {
		rpcrdma2_stat_inc(conn->p.stats, map_failures);
		llist_add(&rx->node, &pool->free);
		return NULL;
	}
	ib_dma_sync_single_for_device(conn->cm_id->device, rx->sge.addr,
				      rx->size, DMA_FROM_DEVICE);
	return rx;
}

static void chain_free(struct rpcrdma2_conn *conn, struct ib_recv_wr *wr)
{
	struct rpcrdma2_recv *rx;

	while (wr) {
		rx = container_of(wr, struct rpcrdma2_recv, wr);
		wr = wr->next;
		llist_add(&rx->node, &conn->p.pool->free);
	}
}

/* Cut a chain to what the queue has room for, which is the target: others may have
 * posted meanwhile. Returns the length that remains.
 */
static u32 chain_cut(struct rpcrdma2_conn *conn, struct ib_recv_wr **first)
{
	u32 room = conn->recvq.target - min(conn->recvq.target, conn->recvq.posted);
	struct ib_recv_wr **link = first;
	u32 n;

	lockdep_assert_held(&conn->recvq.lock);
	for (n = 0; *link && n < room; n++)
		link = &(*link)->next;
	chain_free(conn, *link);
	*link = NULL;
	return n;
}

/* A chain of Receives becomes posted, or was not posted after all. */
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

/* Post @count Receives, or as many as memory gives. */
static u32 recv_post(struct rpcrdma2_conn *conn, u32 count, gfp_t gfp)
{
	struct ib_recv_wr *first = NULL;
	const struct ib_recv_wr *bad;
	struct rpcrdma2_recv *rx;
	int ret = -ENOTCONN;
	u32 n;

	for (n = 0; n < count; n++) {
		rx = recv_get(conn, gfp);
		if (!rx)
			break;
		rx->wr.next = first;
		first = &rx->wr;
	}
	if (!n)
		return 0;

	spin_lock(&conn->recvq.lock);
	n = chain_cut(conn, &first);
	bad = first;
	if (!first) {
		ret = 0;
	} else if (!conn->recvq.closed) {
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

/* Memory was short: the rest when there is some. */
static void recv_refill_later(struct rpcrdma2_conn *conn)
{
	spin_lock(&conn->recvq.lock);
	if (!conn->recvq.closed &&
	    !rpcrdma2_conn_over(conn)) {
		if (!conn->recvq.is_short)
			rpcrdma2_stat_inc(conn->p.stats, recv_shortages);
		WRITE_ONCE(conn->recvq.is_short, true);
		queue_delayed_work(rpcrdma2_memory_wq, &conn->recvq.refill_work,
				   RPCRDMA2_REFILL_DELAY);
	}
	spin_unlock(&conn->recvq.lock);
}

static void recv_refill(struct rpcrdma2_conn *conn, u32 least)
{
	u32 missing = recv_missing(conn);

	if (missing < least ||
	    recv_post(conn, missing, RPCRDMA2_GFP_NOWAIT) == missing)
		return;
	/* unless somebody else was faster */
	if (recv_missing(conn))
		recv_refill_later(conn);
}

static void recv_refill_worker(struct work_struct *work)
{
	struct rpcrdma2_conn *conn = container_of(to_delayed_work(work),
						  struct rpcrdma2_conn,
						  recvq.refill_work);
	struct rpcrdma2_reclaim was =
		rpcrdma2_reclaim_enter(rpcrdma2_conn_swapping(conn));
	u32 missing;

	/* One at a time: each is of use as soon as it exists */
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
 * rpcrdma2_recvs_setup - a new connection
 * @conn: the connection
 * @done: is called when a Receive completes, and calls rpcrdma2_recv_take()
 *
 * Context: any.
 */
void rpcrdma2_recvs_setup(struct rpcrdma2_conn *conn,
			  void (*done)(struct ib_cq *cq, struct ib_wc *wc))
{
	const struct rpcrdma2_conn_params *p = &conn->p;
	struct rpcrdma2_recvq *recvq = &conn->recvq;

	spin_lock_init(&recvq->lock);
	INIT_HLIST_HEAD(&recvq->list);
	INIT_DELAYED_WORK(&recvq->refill_work, recv_refill_worker);
	recvq->done = done;
	spin_lock_init(&recvq->credit_lock);
	rpcrdma2_window_reset(&recvq->window, p->calls);
	/* A server is told more than one thing only after it has answered */
	rpcrdma2_grant_reset(&recvq->grant, conn->client ? p->serves_initial : 1,
			     p->serves);
}

/**
 * rpcrdma2_recvs_plan - how many Receives can be posted at once?
 * @conn: connection with known device
 *
 * What remains besides those that are always posted is for credits.
 *
 * Context: any.
 * Return: false if nothing remains
 */
bool rpcrdma2_recvs_plan(struct rpcrdma2_conn *conn)
{
	const struct rpcrdma2_conn_params *p = &conn->p;
	const u32 extra = RPCRDMA2_RECV_EXTRA + 1;
	struct rpcrdma2_recvq *recvq = &conn->recvq;

	recvq->max = min(p->calls + p->serves + 64, conn->caps.max_qp_wr - 1);
	if (recvq->max <= extra)
		return false;
	if (recvq->grant.current_grant > recvq->max - extra)
		rpcrdma2_grant_set(&recvq->grant, recvq->max - extra);
	return true;
}

/**
 * rpcrdma2_recvs_stop - no Receive is posted any more
 * @conn: connection about to be drained
 *
 * Context: may sleep.
 */
void rpcrdma2_recvs_stop(struct rpcrdma2_conn *conn)
{
	spin_lock(&conn->recvq.lock);
	WRITE_ONCE(conn->recvq.closed, true);
	spin_unlock(&conn->recvq.lock);
	cancel_delayed_work_sync(&conn->recvq.refill_work);
}

/* A QP that is flushed while the CM still connects was ended by the CM, whose
 * event, on its way too, says why: a refusal is not a loss (ERR-13). The wait
 * for it is bounded.
 */
static bool recv_cm_tells(const struct rpcrdma2_conn *conn,
			  const struct ib_wc *wc)
{
	return wc->status == IB_WC_WR_FLUSH_ERR && conn->client &&
	       rpcrdma2_conn_state(conn) == RPCRDMA2_CONN_CONNECTING;
}

/**
 * rpcrdma2_recv_take - a Receive has completed
 * @conn: the connection
 * @rx: the Receive
 * @wc: its completion
 *
 * Context: completion handler; does not sleep.
 * Return: true if there is a message in it. The caller, whose it is now, calls
 * rpcrdma2_recv_replace().
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
		rx->early = !recvq->flows && wc->status == IB_WC_SUCCESS;
		recvq->early += rx->early;
	}
	spin_unlock(&recvq->lock);
	if (unlikely(!posted)) {
		rpcrdma2_stat_inc(conn->p.stats, stray_completions);
		return false;
	}

	trace_rpcrdma2_wc_recv(conn, rx->cid, wc);
	if (unlikely(wc->status != IB_WC_SUCCESS)) {
		rpcrdma2_conn_wc_failed(conn, "recv", rx->cid, wc);
		if (!recv_cm_tells(conn, wc))
			rpcrdma2_conn_kill(conn, -ENOTCONN);
		llist_add(&rx->node, &conn->p.pool->free);
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
 * rpcrdma2_recvs_flow - may completion handlers handle messages themselves?
 * @conn: the connection
 * @handled: messages that came early and were handled just now
 *
 * Until the connection is READY messages are about negotiation, which takes memory;
 * deferred work handles each. That goes on until none is left, and so all messages are
 * handled one at a time and in the order in which they came: deferred work are done in
 * that order, and only a message that comes when all before it were handled does
 * without. Whoever takes a message that flows has seen what these have done, by
 * recvq.lock.
 *
 * Context: process; does not sleep. Takes recvq.lock.
 */
void rpcrdma2_recvs_flow(struct rpcrdma2_conn *conn, u32 handled)
{
	struct rpcrdma2_recvq *recvq = &conn->recvq;

	spin_lock(&recvq->lock);
	recvq->early -= handled;
	if (!recvq->early && rpcrdma2_conn_state(conn) >= RPCRDMA2_CONN_READY)
		recvq->flows = true;
	spin_unlock(&recvq->lock);
}

/**
 * rpcrdma2_recv_replace - post others when enough Receives are used up
 * @conn: the connection
 * @rx: one that is not needed any more, from rpcrdma2_recv_take(), or NULL
 *
 * Context: completion handler; does not sleep.
 */
void rpcrdma2_recv_replace(struct rpcrdma2_conn *conn,
			   struct rpcrdma2_recv *rx)
{
	if (rx)
		recv_recycle(conn, rx);
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

	recv_recycle(conn, rx);
	/* Only if memory was short when the completion tried. This one is
	 * posted before the credit of its Call is given back.
	 */
	if (unlikely(READ_ONCE(conn->recvq.is_short)) && recv_missing(conn))
		recv_post(conn, 1, RPCRDMA2_GFP_NOWAIT);
}

/* Keep enough Receives posted for @target messages that the peer may send without
 * a further credit, control messages not counted. This does not wait for memory:
 * what is missing is posted later, without a word. Returns the number of messages
 * that posted Receives can take now, at most @target.
 */
static u32 recv_target(struct rpcrdma2_conn *conn, u32 target)
{
	const u32 extra = RPCRDMA2_RECV_EXTRA;
	struct rpcrdma2_recv_pool *pool = conn->p.pool;
	u32 posted;

	spin_lock(&conn->recvq.lock);
	target = min(target + extra, conn->recvq.max);
	/* A new connection does not take away what the last one needed */
	if (target < conn->recvq.target || target > pool->keep)
		WRITE_ONCE(pool->keep, target);
	WRITE_ONCE(conn->recvq.target, target);
	spin_unlock(&conn->recvq.lock);

	recv_refill(conn, 1);

	spin_lock(&conn->recvq.lock);
	posted = conn->recvq.posted;
	spin_unlock(&conn->recvq.lock);
	posted = min(posted, target);
	return posted > extra ? posted - extra : 0;
}

/* Replies that are due or may become due, see rpcrdma2_window_due() */
static u32 recv_replies(struct rpcrdma2_recvq *recvq)
{
	u32 due;

	spin_lock(&recvq->credit_lock);
	due = rpcrdma2_window_due(&recvq->window);
	spin_unlock(&recvq->credit_lock);
	return due;
}

/* Fewer Receives are needed now: less is granted, or a Reply has come to a Call
 * from before the window was lowered. Receives are not posted again until fewer
 * than these are left. So the Receives for messages under way stay posted.
 */
static void recv_need(struct rpcrdma2_conn *conn)
{
	recv_target(conn, recv_replies(&conn->recvq) +
			  rpcrdma2_credit_grant(&conn->recvq));
	recv_trim(conn);
}

/**
 * rpcrdma2_credit_granted - a grant arrived
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
	u32 have, want, due, other = rpcrdma2_credit_grant(&conn->recvq);
	struct rpcrdma2_window *w = &conn->recvq.window;

	spin_lock(&conn->recvq.credit_lock);
	have = w->granted;
	due = rpcrdma2_window_due(w);
	spin_unlock(&conn->recvq.credit_lock);

	/* Peers of version 1 grant what they have, whatever is asked for */
	if ((!credit || credit > w->asked) &&
	    conn->codec != &rpcrdma2_codec_v1)
		rpcrdma2_stat_inc(conn->p.stats, odd_grants);

	/* A Receive for every Reply before its Call may go (CRED-8) */
	want = min(credit, conn->p.calls);
	if (want > have) {
		u32 got = recv_target(conn, max(want, due) + other);

		credit = clamp(max(got, other) - other, have, want);
	}

	spin_lock(&conn->recvq.credit_lock);
	rpcrdma2_window_grant(w, credit);
	due = rpcrdma2_window_due(w);
	spin_unlock(&conn->recvq.credit_lock);
	if (want <= have &&
	    unlikely(due + other + RPCRDMA2_RECV_EXTRA <
		     READ_ONCE(conn->recvq.target)))
		recv_need(conn);
}

/**
 * rpcrdma2_credit_left - may another Call of ours go?
 * @recvq: receive queue of the connection
 *
 * Context: process; does not sleep. Takes recvq->credit_lock.
 * Return: true if so
 */
bool rpcrdma2_credit_left(struct rpcrdma2_recvq *recvq)
{
	bool open;

	spin_lock(&recvq->credit_lock);
	open = rpcrdma2_window_open(&recvq->window);
	spin_unlock(&recvq->credit_lock);
	return open;
}

/**
 * rpcrdma2_credit_unused - is no Call of ours outstanding?
 * @recvq: receive queue of the connection
 *
 * Whoever takes a credit after that sees what the caller did before.
 *
 * Context: process; does not sleep. Takes recvq->credit_lock.
 * Return: true if so
 */
bool rpcrdma2_credit_unused(struct rpcrdma2_recvq *recvq)
{
	bool unused;

	spin_lock(&recvq->credit_lock);
	unused = !recvq->window.inflight;
	spin_unlock(&recvq->credit_lock);
	return unused;
}

/**
 * rpcrdma2_credit_raise - grant the peer more
 * @conn: the connection
 * @want: credits; as many as there are Receives for (CRED-7)
 *
 * Context: completion handler; does not sleep.
 */
void rpcrdma2_credit_raise(struct rpcrdma2_conn *conn, u32 want)
{
	struct rpcrdma2_recvq *recvq = &conn->recvq;
	u32 replies = recv_replies(recvq);
	u32 got = recv_target(conn, want + replies);

	if (got <= replies + rpcrdma2_credit_grant(recvq))
		return;
	spin_lock(&recvq->credit_lock);
	rpcrdma2_grant_set(&recvq->grant, got - replies);
	spin_unlock(&recvq->credit_lock);
}

/**
 * rpcrdma2_credit_first - the first grant of a server
 * @conn: connection whose version is settled
 * @asked: rdma_credit of the message that has settled it
 *
 * Context: deferred work; does not sleep. Requirements: CRED-6.
 */
void rpcrdma2_credit_first(struct rpcrdma2_conn *conn, u32 asked)
{
	u32 want;

	spin_lock(&conn->recvq.credit_lock);
	want = rpcrdma2_grant_first(&conn->recvq.grant, conn->p.serves_initial,
				    asked);
	spin_unlock(&conn->recvq.credit_lock);
	rpcrdma2_credit_raise(conn, want);
}

/**
 * rpcrdma2_credit_lower - take back what was granted on demand
 * @conn: the connection
 * @want: credits that remain
 *
 * The next message with RESPONSE set, of either version, tells the peer. Receives
 * for what was granted before are posted until they are used up.
 *
 * Context: completion handler; does not sleep.
 */
void rpcrdma2_credit_lower(struct rpcrdma2_conn *conn, u32 want)
{
	struct rpcrdma2_recvq *recvq = &conn->recvq;

	spin_lock(&recvq->credit_lock);
	if (recvq->grant.current_grant > want)
		rpcrdma2_grant_set(&recvq->grant, want);
	spin_unlock(&recvq->credit_lock);
	recv_need(conn);
}

/**
 * rpcrdma2_credit_show - credits of both directions, for display
 * @recvq: receive queue of a connection
 * @window: filled in
 * @grant: filled in
 *
 * Context: process; does not sleep. Takes recvq->credit_lock.
 */
void rpcrdma2_credit_show(struct rpcrdma2_recvq *recvq,
			  struct rpcrdma2_window *window,
			  struct rpcrdma2_grant *grant)
{
	spin_lock(&recvq->credit_lock);
	*window = recvq->window;
	*grant = recvq->grant;
	spin_unlock(&recvq->credit_lock);
}

/* How many free Receives have at least the size of the pool? Frees the others if
 * they are not @kept.
 */
static u32 pool_count(struct rpcrdma2_recv_pool *pool, bool kept)
{
	struct rpcrdma2_recv *rx, *tmp;
	u32 n = 0;

	llist_for_each_entry_safe(rx, tmp, llist_del_all(&pool->free), node) {
		if (rx->size >= pool->size && rx->size <= pool->wanted) {
			n++;
		} else if (!kept) {
			recv_free(pool, rx);
			continue;
		}
		llist_add(&rx->node, &pool->free);
	}
	return n;
}

/* Have @count free Receives before any is posted. What an earlier connection
 * has left is good if it is large enough. When memory is fragmented all
 * have less capacity: the connection comes up, down to the size that every peer of
 * version 2 assumes.
 */
static int pool_fill(struct rpcrdma2_recv_pool *pool, u32 count)
{
	struct rpcrdma2_recv *rx;
	u32 have;

	pool->size = pool->wanted;
	have = pool_count(pool, true);
	while (have < count) {
		rx = recv_alloc(pool, pool->size, rpcrdma2_buf_gfp());
		if (rx) {
			llist_add(&rx->node, &pool->free);
			have++;
			continue;
		}
		if (pool->size <= RPCRDMA2_INLINE_DEFAULT)
			return -ENOMEM;
		pool->size = max(pool->size / 2, RPCRDMA2_INLINE_DEFAULT);
		have = pool_count(pool, true);
	}
	pool_count(pool, false);
	return 0;
}

/**
 * rpcrdma2_recvs_create - Receives for a new QP
 * @conn: connection whose QP exists
 *
 * Posts what the first credits need. The capacity of the pool may have become
 * smaller here.
 *
 * Context: may sleep, for memory half a second at the most.
 * Return: 0, -ENOMEM or -ENOTCONN. rpcrdma2_recvs_unmap() cleans up after
 * each.
 */
int rpcrdma2_recvs_create(struct rpcrdma2_conn *conn)
{
	u32 first = conn->recvq.grant.current_grant + 1, tries;
	int ret;

	ret = pool_fill(conn->p.pool, first + RPCRDMA2_RECV_EXTRA);
	if (ret)
		goto out_none;
	/* The refill work goes on with what cannot be mapped at once */
	for (tries = 0; tries < RPCRDMA2_FIRST_TRIES; tries++) {
		if (recv_target(conn, first) == first)
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
 * rpcrdma2_recvs_settle - no message will be longer than this
 * @conn: connection of version 1, not READY yet
 * @size: bytes
 *
 * Smaller Receives replace those of the pool as these come back.
 *
 * Context: process; does not sleep. Requirements: INL-8.
 */
void rpcrdma2_recvs_settle(struct rpcrdma2_conn *conn, u32 size)
{
	if (size >= rpcrdma2_recvs_size(conn->p.pool))
		return;
	WRITE_ONCE(conn->p.pool->size, size);
	recv_trim(conn);
}

/**
 * rpcrdma2_recvs_reclaim - take back Receives that never completed
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
		llist_add(&rx->node, &conn->p.pool->free);
		rpcrdma2_stat_inc(conn->p.stats, lost_completions);
	}
}

/**
 * rpcrdma2_recvs_unmap - the connection no longer uses its Receives
 * @conn: connection, drained, every Receive given back
 *
 * Context: may sleep.
 */
void rpcrdma2_recvs_unmap(struct rpcrdma2_conn *conn)
{
	struct rpcrdma2_recv_pool *pool = conn->p.pool;
	struct rpcrdma2_recv *rx;

	llist_for_each_entry(rx, pool->free.first, node)
		recv_unmap(rx);
}
