// SPDX-License-Identifier: GPL-2.0
/*
 * The pool of Receives, which outlives connections.
 *
 * A Receive is mapped when a connection first uses it, and stays mapped until that
 * connection is gone. Meanwhile it is posted, in use by a Call, or free.
 *
 * All Receives of a connection have the same capacity, or more, as long as the connection
 * lives. The announced Receive Buffer Size is a number within the capacity, so it may
 * change at any time: no message in flight is too long (CHG-23, CHG-24). Only version 1
 * needs less than the first messages did. Smaller Receives then replace larger ones as
 * these become free.
 *
 * The pool keeps the Receives of a connection that has ended, so that the next one needs
 * no memory for them. A client frees them when sunrpc closes its unused connection, unless
 * the mount holds swap. An idle connection frees those that it does not need.
 *
 * recvq.lock of the connection serializes takers of free Receives, and protects the list of
 * mapped ones. Anyone may add a free Receive without it. Process context only.
 */
#include <linux/slab.h>

#include "conn/buf.h"
#include "conn/conn.h"
#include "conn/inject.h"

static void recv_unmap(struct rpcrdma2_recv *rx)
{
	if (!rx->conn)
		return;
	lockdep_assert_held(&rx->conn->recvq.lock);
	hlist_del(&rx->mapped);
	ib_dma_unmap_single(rx->conn->cm_id->device, rx->sge.addr, rx->size,
			    DMA_FROM_DEVICE);
	rx->conn = NULL;
}

/* Take all free Receives of a pool from which nobody else takes any. */
static struct llist_node *pool_take_all(struct rpcrdma2_recv_pool *pool)
{
	struct llist_node *all = llist_del_all(&pool->free), **end = &all;

	while (*end)
		end = &(*end)->next;
	*end = pool->ready;
	WRITE_ONCE(pool->ready, NULL);
	return all;
}

static void recv_free(struct rpcrdma2_recv_pool *pool, struct rpcrdma2_recv *rx)
{
	recv_unmap(rx);
	atomic_dec(&pool->count);
	atomic_long_sub(rpcrdma2_buf_bytes(rx->size), &pool->bytes);
	rpcrdma2_buf_free(rx->buf, rx->size);
	kfree(rx);
}

/**
 * rpcrdma2_recv_pool_empty - free the Receives of a pool
 * @pool: a pool without a connection: all its Receives are free and unmapped
 *
 * Context: may sleep.
 */
void rpcrdma2_recv_pool_empty(struct rpcrdma2_recv_pool *pool)
{
	struct rpcrdma2_recv *rx, *tmp;

	llist_for_each_entry_safe(rx, tmp, pool_take_all(pool), node)
		recv_free(pool, rx);
	WARN_ON_ONCE(atomic_read(&pool->count));
}

static struct rpcrdma2_recv *recv_alloc(struct rpcrdma2_recv_pool *pool, gfp_t gfp)
{
	struct rpcrdma2_recv *rx;

	rx = kzalloc_node(sizeof(*rx), gfp, pool->node);
	if (!rx)
		return NULL;
	rx->size = READ_ONCE(pool->size);
	rx->buf = rpcrdma2_buf_alloc(rx->size, pool->node, gfp);
	if (!rx->buf) {
		kfree(rx);
		return NULL;
	}
	INIT_LIST_HEAD(&rx->list);
	atomic_inc(&pool->count);
	atomic_long_add(rpcrdma2_buf_bytes(rx->size), &pool->bytes);
	return rx;
}

/* Make a free Receive. Returns false without memory. */
static bool recv_add(struct rpcrdma2_recv_pool *pool, gfp_t gfp)
{
	struct rpcrdma2_recv *rx = recv_alloc(pool, gfp);

	if (rx)
		rpcrdma2_recv_pool_free(pool, rx);
	return rx;
}

/**
 * rpcrdma2_recv_pool_provide - make a Receive unless one is free
 * @pool: the pool
 * @gfp: how to ask for memory
 *
 * Context: process; sleeps as @gfp says.
 * Return: false if none is free
 */
bool rpcrdma2_recv_pool_provide(struct rpcrdma2_recv_pool *pool, gfp_t gfp)
{
	return READ_ONCE(pool->ready) || !llist_empty(&pool->free) || recv_add(pool, gfp);
}

static int recv_map(struct rpcrdma2_conn *conn, struct rpcrdma2_recv *rx)
{
	struct ib_device *device = conn->cm_id->device;

	if (rpcrdma2_inject(RPCRDMA2_FAULT_MAP_RECV))
		return -ENOMEM;
	rx->sge.addr = ib_dma_map_single(device, rx->buf, rx->size,
					 DMA_FROM_DEVICE);
	if (ib_dma_mapping_error(device, rx->sge.addr))
		return -ENOMEM;
	rx->conn = conn;
	rx->cid = rpcrdma2_conn_cid(conn);
	rx->sge.length = rx->size;
	rx->sge.lkey = conn->lkey;
	rx->wr.wr_cqe = &rx->cqe;
	rx->wr.sg_list = &rx->sge;
	rx->wr.num_sge = 1;
	hlist_add_head(&rx->mapped, &conn->recvq.list);
	return 0;
}

/**
 * rpcrdma2_recv_pool_map - map a Receive
 * @conn: the connection for which it is mapped
 * @rx: the Receive, not mapped; NULL: make one
 *
 * Context: process, recvq.lock held; does not sleep.
 * Return: the Receive, or NULL without memory or mapping; @rx is then free again
 */
struct rpcrdma2_recv *rpcrdma2_recv_pool_map(struct rpcrdma2_conn *conn,
					     struct rpcrdma2_recv *rx)
{
	struct rpcrdma2_recv_pool *pool = conn->p.pool;

	lockdep_assert_held(&conn->recvq.lock);
	WARN_ON_ONCE(rx && rx->conn);
	if (!rx)
		rx = recv_alloc(pool, RPCRDMA2_GFP_NOWAIT);
	if (!rx || !recv_map(conn, rx))
		return rx;
	rpcrdma2_stat_inc(conn->p.stats, map_failures);
	rpcrdma2_recv_pool_free(pool, rx);
	return NULL;
}

/**
 * rpcrdma2_recv_pool_fit - replace a Receive by a smaller one, if it is too large
 * @pool: the pool
 * @rx: the Receive, neither posted nor in use
 *
 * Context: process, recvq.lock held; does not sleep.
 * Return: a smaller one; or @rx, if that is not too large or there is no memory
 */
struct rpcrdma2_recv *rpcrdma2_recv_pool_fit(struct rpcrdma2_recv_pool *pool,
					     struct rpcrdma2_recv *rx)
{
	struct rpcrdma2_recv *fit;

	fit = unlikely(rx->size > READ_ONCE(pool->size)) ?
	      recv_alloc(pool, RPCRDMA2_GFP_NOWAIT) : NULL;
	if (!fit)
		return rx;
	recv_free(pool, rx);
	return fit;
}

/**
 * rpcrdma2_recv_pool_trim - free the Receives that are too many or too large
 * @conn: the connection that uses the pool
 * @keep: number of Receives that the pool keeps, posted or not
 *
 * Receives in use are checked at the next time. The list begins with those used last, so
 * these are freed.
 *
 * Context: process, recvq.lock held, so that the pool is never seen empty meanwhile; does
 * not sleep.
 */
void rpcrdma2_recv_pool_trim(struct rpcrdma2_conn *conn, u32 keep)
{
	struct rpcrdma2_recv_pool *pool = conn->p.pool;
	struct rpcrdma2_recv *rx, *tmp;

	lockdep_assert_held(&conn->recvq.lock);
	llist_for_each_entry_safe(rx, tmp, pool_take_all(pool), node)
		if (atomic_read(&pool->count) > keep)
			recv_free(pool, rx);
		else
			rpcrdma2_recv_pool_free(pool, rpcrdma2_recv_pool_fit(pool, rx));
}

/* Count the free Receives that have at least the size of the pool, and at most @largest.
 * Free the others unless they are to be @kept.
 */
static u32 pool_count(struct rpcrdma2_recv_pool *pool, u32 largest, bool kept)
{
	struct rpcrdma2_recv *rx, *tmp;
	u32 n = 0;

	llist_for_each_entry_safe(rx, tmp, pool_take_all(pool), node) {
		if (rx->size >= pool->size && rx->size <= largest) {
			n++;
		} else if (!kept) {
			recv_free(pool, rx);
			continue;
		}
		rpcrdma2_recv_pool_free(pool, rx);
	}
	return n;
}

/**
 * rpcrdma2_recv_pool_fill - allocate Receives before any is posted
 * @pool: a pool that no connection uses
 * @count: number of free Receives wanted
 * @size: capacity of each, bytes
 *
 * Receives of an earlier connection are kept if they are large enough. When memory is
 * fragmented all have less capacity: the connection comes up, down to the size that
 * every peer of version 2 assumes.
 *
 * Context: may sleep.
 * Return: 0 or -ENOMEM
 */
int rpcrdma2_recv_pool_fill(struct rpcrdma2_recv_pool *pool, u32 count, u32 size)
{
	pool->size = size;
	while (pool_count(pool, size, true) < count) {
		if (recv_add(pool, rpcrdma2_buf_gfp()))
			continue;
		if (pool->size <= RPCRDMA2_INLINE_DEFAULT)
			return -ENOMEM;
		pool->size = max(pool->size / 2, RPCRDMA2_INLINE_DEFAULT);
	}
	pool_count(pool, size, false);
	return 0;
}

/**
 * rpcrdma2_recv_pool_unmap - unmap the Receives of a connection
 * @conn: connection, drained, every Receive given back
 *
 * Context: process; does not sleep. Takes recvq.lock.
 */
void rpcrdma2_recv_pool_unmap(struct rpcrdma2_conn *conn)
{
	struct rpcrdma2_recv *rx;
	struct hlist_node *tmp;

	guard(spinlock)(&conn->recvq.lock);
	hlist_for_each_entry_safe(rx, tmp, &conn->recvq.list, mapped)
		recv_unmap(rx);
}
