/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Receives, and credits, each of which is the promise of one; see recv_queue.c.
 * No other file looks into struct rpcrdma2_recvq.
 */
#ifndef _RPCRDMA2_RECV_QUEUE_H
#define _RPCRDMA2_RECV_QUEUE_H

#include <linux/list.h>
#include <linux/llist.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>
#include <rdma/ib_verbs.h>

#include "conn/completion.h"
#include "proto/credits.h"
#include "proto/wire.h"

struct rpcrdma2_conn;

#define RPCRDMA2_CONTROL_RESERVE	8	/* Receives per side, D-18 */

/**
 * struct rpcrdma2_recv - one Receive
 * @cqe: completion
 * @wr: the posted work request
 * @sge: its buffer, mapped while it is posted or in use
 * @conn: connection it is mapped for
 * @node: link in the pool's free list
 * @posted: link in the connection's list of posted ones
 * @list: link in a list of the owner of the message
 * @buf: the memory
 * @size: bytes at @buf
 * @len: bytes received
 * @cid: names it in traces
 * @inv_handle: handle that the device invalidated, if @invalidated
 * @invalidated: the completion carried an invalidated handle
 * @early: @deferred handles it, see rpcrdma2_recvs_flow()
 * @deferred: left by the completion handler
 * @hdr: decoded header, points into @buf
 */
struct rpcrdma2_recv {
	struct ib_cqe			cqe;
	struct ib_recv_wr		wr;
	struct ib_sge			sge;
	struct rpcrdma2_conn		*conn;
	struct llist_node		node;
	struct hlist_node		posted;
	struct list_head		list;
	void				*buf;
	u32				size;
	u32				len;
	u32				cid;
	u32				inv_handle;
	bool				invalidated;
	bool				early;
	struct rpcrdma2_deferred		deferred;
	struct rpcrdma2_hdr		hdr;
};

/**
 * struct rpcrdma2_recv_pool - Receives, kept over reconnects
 * @free: those not posted and not in use
 * @lock: serialises removal from it
 * @wanted: capacity of each buffer when a connection begins, bytes
 * @size: capacity that all have, bytes: @wanted, or less if memory is fragmented or
 *	messages are not longer
 * @keep: how many are, besides those in use by Calls
 * @count: buffers in existence
 * @bytes: memory of these buffers
 * @node: NUMA node for new ones
 */
struct rpcrdma2_recv_pool {
	struct llist_head		free;
	spinlock_t			lock;	/* takers */
	u32				wanted;
	u32				size;
	u32				keep;
	atomic_t			count;
	atomic_long_t			bytes;
	int				node;
};

/**
 * struct rpcrdma2_recvq - the receive queue, with the credits of both directions
 * @credit_lock: protects @window and @grant; a leaf
 * @window: our requester role
 * @grant: our responder role
 * @lock: protects the fields up to @flows and orders posting; a leaf
 * @closed: nothing may be posted any more
 * @max: Receives the QP can hold
 * @target: Receives to keep posted
 * @posted: Receives posted now
 * @list: these Receives
 * @early: messages that came early and are not handled yet
 * @flows: messages that come now are handled by the completion handler
 * @is_short: fewer than @target are posted, for want of memory
 * @done: what completes a Receive
 * @refill_work: posts what is missing then
 */
struct rpcrdma2_recvq {
	spinlock_t			credit_lock;	/* see above */
	struct rpcrdma2_window		window;
	struct rpcrdma2_grant		grant;

	spinlock_t			lock;		/* see above */
	bool				closed;
	u32				max;
	u32				target;
	u32				posted;
	struct hlist_head		list;
	u32				early;
	bool				flows;
	bool				is_short;
	void (*done)(struct ib_cq *cq, struct ib_wc *wc);
	struct delayed_work		refill_work;
};

/* Receives that the queue pair has to hold; see rpcrdma2_recvs_plan() */
static inline u32 rpcrdma2_recvs_max(const struct rpcrdma2_recvq *recvq)
{
	return recvq->max;
}

/* Receives that are posted, for display */
static inline u32 rpcrdma2_recvs_posted(const struct rpcrdma2_recvq *recvq)
{
	return data_race(recvq->posted);	/* see above */
}

/* rdma_credit of a message with RESPONSE clear */
static inline u32 rpcrdma2_credit_ask(const struct rpcrdma2_recvq *recvq)
{
	return READ_ONCE(recvq->window.asked);
}

/* Credits that the peer has granted */
static inline u32 rpcrdma2_credit_have(const struct rpcrdma2_recvq *recvq)
{
	return READ_ONCE(recvq->window.granted);
}

/* rdma_credit of a message with RESPONSE set */
static inline u32 rpcrdma2_credit_grant(const struct rpcrdma2_recvq *recvq)
{
	return READ_ONCE(recvq->grant.current_grant);
}

/* Calls without a Reply. A number that is right at any time */
static inline u32 rpcrdma2_credit_used(const struct rpcrdma2_recvq *recvq)
{
	return data_race(recvq->window.inflight);	/* see above */
}

/* Take a credit for a Call of ours. Returns false if there is none. */
static inline bool rpcrdma2_credit_take(struct rpcrdma2_recvq *recvq)
{
	bool taken;

	spin_lock(&recvq->credit_lock);
	taken = rpcrdma2_window_take(&recvq->window);
	spin_unlock(&recvq->credit_lock);
	return taken;
}

/* Give it back. */
static inline void rpcrdma2_credit_put(struct rpcrdma2_recvq *recvq)
{
	spin_lock(&recvq->credit_lock);
	rpcrdma2_window_put(&recvq->window);
	spin_unlock(&recvq->credit_lock);
}

/* The peer has sent hardly a Call for a while. */
static inline void rpcrdma2_credit_quiet(struct rpcrdma2_recvq *recvq)
{
	spin_lock(&recvq->credit_lock);
	recvq->grant.quiet = true;
	spin_unlock(&recvq->credit_lock);
}

/* A Call of the peer has come that asks for so much. Returns the grant that suits the
 * load, for rpcrdma2_credit_raise() or rpcrdma2_credit_lower(); 0 if more than @most
 * are being served.
 */
static inline u32 rpcrdma2_credit_called(struct rpcrdma2_recvq *recvq, u32 asked,
					 u32 most)
{
	u32 want;

	spin_lock(&recvq->credit_lock);
	want = rpcrdma2_grant_call(&recvq->grant, asked);
	if (unlikely(recvq->grant.inflight > most))
		want = 0;
	spin_unlock(&recvq->credit_lock);
	return want;
}

/* A Call of the peer is over: its credit is free (CRED-2). */
static inline void rpcrdma2_credit_served(struct rpcrdma2_recvq *recvq)
{
	spin_lock(&recvq->credit_lock);
	rpcrdma2_grant_done(&recvq->grant);
	spin_unlock(&recvq->credit_lock);
}

/* Bytes that every Receive can hold */
static inline u32 rpcrdma2_recvs_size(const struct rpcrdma2_recv_pool *pool)
{
	return READ_ONCE(pool->size);
}

/* Bytes that a pool and those who use its Receives hold */
static inline unsigned long
rpcrdma2_recvs_memory(const struct rpcrdma2_recv_pool *pool)
{
	return atomic_long_read(&pool->bytes);
}

/* Credits */
void rpcrdma2_credit_show(struct rpcrdma2_recvq *recvq,
			  struct rpcrdma2_window *window,
			  struct rpcrdma2_grant *grant);
void rpcrdma2_credit_granted(struct rpcrdma2_conn *conn, u32 credit);
void rpcrdma2_credit_first(struct rpcrdma2_conn *conn, u32 asked);
void rpcrdma2_credit_raise(struct rpcrdma2_conn *conn, u32 want);
void rpcrdma2_credit_lower(struct rpcrdma2_conn *conn, u32 want);
bool rpcrdma2_credit_left(struct rpcrdma2_recvq *recvq);
bool rpcrdma2_credit_unused(struct rpcrdma2_recvq *recvq);

/* Receives that outlive connections */
void rpcrdma2_recv_pool_init(struct rpcrdma2_recv_pool *pool, u32 size);
void rpcrdma2_recv_pool_begin(struct rpcrdma2_recv_pool *pool, u32 size);
void rpcrdma2_recv_pool_empty(struct rpcrdma2_recv_pool *pool);
void rpcrdma2_recv_pool_destroy(struct rpcrdma2_recv_pool *pool);

/* Life */
void rpcrdma2_recvs_setup(struct rpcrdma2_conn *conn,
			  void (*done)(struct ib_cq *cq, struct ib_wc *wc));
bool rpcrdma2_recvs_plan(struct rpcrdma2_conn *conn);
int rpcrdma2_recvs_create(struct rpcrdma2_conn *conn);
void rpcrdma2_recvs_settle(struct rpcrdma2_conn *conn, u32 size);
void rpcrdma2_recvs_stop(struct rpcrdma2_conn *conn);
void rpcrdma2_recvs_reclaim(struct rpcrdma2_conn *conn);
void rpcrdma2_recvs_unmap(struct rpcrdma2_conn *conn);

/* One that has completed */
bool rpcrdma2_recv_take(struct rpcrdma2_conn *conn, struct rpcrdma2_recv *rx,
			const struct ib_wc *wc);
void rpcrdma2_recvs_flow(struct rpcrdma2_conn *conn, u32 handled);
void rpcrdma2_recv_replace(struct rpcrdma2_conn *conn,
			   struct rpcrdma2_recv *rx);
void rpcrdma2_recv_put(struct rpcrdma2_recv *rx);

#endif /* _RPCRDMA2_RECV_QUEUE_H */
