/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The receive queue of a connection, see recv_queue.c, and the pool of Receives that
 * outlives connections, see recv_pool.c. No other file looks into struct rpcrdma2_recvq.
 */
#ifndef _RPCRDMA2_RECV_QUEUE_H
#define _RPCRDMA2_RECV_QUEUE_H

#include <linux/list.h>
#include <linux/llist.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>
#include <rdma/ib_verbs.h>

#include "proto/wire.h"

struct rpcrdma2_conn;

#define RPCRDMA2_CONTROL_RESERVE	8	/* Receives per side, D-18 */
#define RPCRDMA2_RECV_BATCH		6U

/* Posted Receives that are not for credits: those for control messages, and one batch,
 * because Receives are posted in batches
 */
#define RPCRDMA2_RECV_EXTRA	(RPCRDMA2_CONTROL_RESERVE + RPCRDMA2_RECV_BATCH)

/**
 * struct rpcrdma2_recv - one Receive
 * @cqe: completion
 * @wr: the posted work request
 * @node: link in the pool's free list
 * @size: bytes at @buf
 * @len: bytes received
 * @cid: identifies the Receive in traces
 * @posted: posted and not completed; set before it is posted, cleared by the completion,
 *	which poll.lock serializes
 * @invalidated: the completion carried an invalidated handle
 * @conn: connection it is mapped for
 * @sge: its buffer, mapped while it is posted or in use
 * @mapped: link in the list of @conn
 * @list: link in a list of the owner of the message
 * @buf: the memory
 * @hdr: decoded header, points into @buf
 * @inv_handle: handle that the device invalidated, if @invalidated
 *
 * The fields up to @invalidated, and those from @hdr on, change with each message. The cache
 * line between them hardly ever does, so all CPUs hold it.
 */
struct rpcrdma2_recv {
	struct ib_cqe			cqe;
	struct ib_recv_wr		wr;
	struct llist_node		node;
	u32				size;
	u32				len;
	u32				cid;
	bool				posted;
	bool				invalidated;

	struct rpcrdma2_conn		*conn ____cacheline_aligned_in_smp;
	struct ib_sge			sge;
	struct hlist_node		mapped;
	struct list_head		list;
	void				*buf;

	struct rpcrdma2_hdr		hdr ____cacheline_aligned_in_smp;
	u32				inv_handle;
};

/**
 * struct rpcrdma2_recv_pool - Receives, kept over reconnects
 * @size: capacity that all have, bytes: that of the policy for the connection, or less if
 *	memory is fragmented or messages are not longer
 * @count: number of Receives in existence
 * @bytes: memory of their buffers
 * @node: NUMA node for new ones; the owner sets it, all else begins as zeros
 * @free: Receives that are neither posted nor in use
 * @ready: more of them, which a connection posts next; recvq.lock
 */
struct rpcrdma2_recv_pool {
	u32				size;
	atomic_t			count;
	atomic_long_t			bytes;
	int				node;
	struct llist_head		free ____cacheline_aligned_in_smp;
	struct llist_node		*ready;
};

/* Put a Receive on the free list, without a check whether there are enough. */
static inline void rpcrdma2_recv_pool_free(struct rpcrdma2_recv_pool *pool,
					   struct rpcrdma2_recv *rx)
{
	llist_add(&rx->node, &pool->free);
}

/**
 * struct rpcrdma2_recvq - the receive queue
 * @lock: protects the fields up to @list, orders posting, and serializes takers of free
 *	Receives; a leaf
 * @max: Receives the QP can hold
 * @target: Receives to keep posted
 * @posted: Receives posted now; completions reduce it without @lock
 * @list: Receives that are mapped for this connection, posted or not
 * @is_short: fewer than @target are posted, for lack of memory
 * @refill_work: posts the missing Receives
 */
struct rpcrdma2_recvq {
	spinlock_t			lock;		/* see above */
	u32				max;
	u32				target;
	atomic_t			posted;
	struct hlist_head		list;
	bool				is_short;
	struct delayed_work		refill_work;
};

/* Take a free Receive, if there is one. It is mapped for the connection or not at all. */
static inline struct rpcrdma2_recv *
rpcrdma2_recv_pool_take(struct rpcrdma2_recv_pool *pool, const struct rpcrdma2_recvq *recvq)
{
	struct llist_node *node = pool->ready ?: llist_del_all(&pool->free);

	lockdep_assert_held(&recvq->lock);
	if (!node)
		return NULL;
	WRITE_ONCE(pool->ready, node->next);
	return llist_entry(node, struct rpcrdma2_recv, node);
}

/* Receives that the queue pair must hold; see rpcrdma2_recvs_plan() */
static inline u32 rpcrdma2_recvs_max(const struct rpcrdma2_recvq *recvq)
{
	return recvq->max;
}

/* Receives to keep posted */
static inline u32 rpcrdma2_recvs_wanted(const struct rpcrdma2_recvq *recvq)
{
	return READ_ONCE(recvq->target);
}

/* Receives that are posted, for display */
static inline u32 rpcrdma2_recvs_posted(const struct rpcrdma2_recvq *recvq)
{
	return atomic_read(&recvq->posted);
}

/* Life */
void rpcrdma2_recvs_setup(struct rpcrdma2_conn *conn);
u32 rpcrdma2_recvs_plan(struct rpcrdma2_conn *conn);
int rpcrdma2_recvs_create(struct rpcrdma2_conn *conn);
u32 rpcrdma2_recvs_target(struct rpcrdma2_conn *conn, u32 target);
void rpcrdma2_recvs_trim(struct rpcrdma2_conn *conn);
void rpcrdma2_recvs_limit(struct rpcrdma2_conn *conn, u32 size);
void rpcrdma2_recvs_stop(struct rpcrdma2_conn *conn);
void rpcrdma2_recvs_reclaim(struct rpcrdma2_conn *conn);

void rpcrdma2_recv_put(struct rpcrdma2_recv *rx);

/* Pool */
void rpcrdma2_recv_pool_empty(struct rpcrdma2_recv_pool *pool);
int rpcrdma2_recv_pool_fill(struct rpcrdma2_recv_pool *pool, u32 count, u32 size);
bool rpcrdma2_recv_pool_provide(struct rpcrdma2_recv_pool *pool, gfp_t gfp);
struct rpcrdma2_recv *rpcrdma2_recv_pool_map(struct rpcrdma2_conn *conn,
					     struct rpcrdma2_recv *rx);
struct rpcrdma2_recv *rpcrdma2_recv_pool_fit(struct rpcrdma2_recv_pool *pool,
					     struct rpcrdma2_recv *rx);
void rpcrdma2_recv_pool_trim(struct rpcrdma2_conn *conn, u32 keep);
void rpcrdma2_recv_pool_unmap(struct rpcrdma2_conn *conn);

#endif /* _RPCRDMA2_RECV_QUEUE_H */
