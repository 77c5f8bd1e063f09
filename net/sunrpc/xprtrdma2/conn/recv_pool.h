/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Receives, and the pool of them that outlives connections; see recv_pool.c.
 */
#ifndef _RPCRDMA2_RECV_POOL_H
#define _RPCRDMA2_RECV_POOL_H

#include <linux/list.h>
#include <linux/llist.h>
#include <rdma/ib_verbs.h>

#include "proto/wire.h"

struct rpcrdma2_conn;

/**
 * struct rpcrdma2_recv - one Receive
 * @cqe: completion
 * @wr: the posted work request
 * @sge: its buffer, mapped while it is posted or in use
 * @conn: connection it is mapped for
 * @node: link in the pool's free list
 * @posted: link in the connection's list of posted Receives
 * @list: link in a list of the owner of the message
 * @buf: the memory
 * @size: bytes at @buf
 * @len: bytes received
 * @cid: identifies the Receive in traces
 * @inv_handle: handle that the device invalidated, if @invalidated
 * @invalidated: the completion carried an invalidated handle
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
	struct rpcrdma2_hdr		hdr;
};

/**
 * struct rpcrdma2_recv_pool - Receives, kept over reconnects
 * @free: Receives that are neither posted nor in use
 * @size: capacity that all have, bytes: that of the policy for the connection, or less if
 *	memory is fragmented or messages are not longer
 * @count: number of Receives in existence
 * @bytes: memory of their buffers
 * @node: NUMA node for new ones
 */
struct rpcrdma2_recv_pool {
	struct llist_head		free;
	u32				size;
	atomic_t			count;
	atomic_long_t			bytes;
	int				node;
};

/* Put a Receive on the free list, without a check whether there are enough. */
static inline void rpcrdma2_recv_pool_free(struct rpcrdma2_recv_pool *pool,
					   struct rpcrdma2_recv *rx)
{
	llist_add(&rx->node, &pool->free);
}

void rpcrdma2_recv_pool_init(struct rpcrdma2_recv_pool *pool);
void rpcrdma2_recv_pool_empty(struct rpcrdma2_recv_pool *pool);
int rpcrdma2_recv_pool_fill(struct rpcrdma2_recv_pool *pool, u32 count, u32 size);
bool rpcrdma2_recv_pool_provide(struct rpcrdma2_recv_pool *pool, gfp_t gfp);
struct rpcrdma2_recv *rpcrdma2_recv_pool_get(struct rpcrdma2_conn *conn);
void rpcrdma2_recv_pool_put(struct rpcrdma2_recv_pool *pool, struct rpcrdma2_recv *rx);
void rpcrdma2_recv_pool_trim(struct rpcrdma2_recv_pool *pool, u32 keep);
void rpcrdma2_recv_pool_unmap(struct rpcrdma2_conn *conn);

#endif /* _RPCRDMA2_RECV_POOL_H */
