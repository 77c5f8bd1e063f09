// SPDX-License-Identifier: GPL-2.0
/*
 * Local pages against remote memory: the RDMA Reads and Writes of the
 * responder, made by rdma_rw of ib_core.
 *
 * A struct rpcrdma2_rw belongs to one Call, or to a pool. Completion handlers unmap
 * it and give it back; only work items and threads take one and map it. Nothing
 * here waits for the send queue.
 */
#include <linux/mm.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>

#include "buf.h"
#include "rw.h"

/* Neighbouring pages become one SGE up to this many bytes */
#define RPCRDMA2_RW_RUN		SZ_64K

static void rw_free(struct rpcrdma2_rw *rw)
{
	sg_free_table(&rw->big);
	kfree(rw);
}

/**
 * rpcrdma2_rw_pool_init - an empty pool
 * @pool: to be set up
 *
 * Context: any.
 */
void rpcrdma2_rw_pool_init(struct rpcrdma2_rw_pool *pool)
{
	spin_lock_init(&pool->lock);
	INIT_LIST_HEAD(&pool->free);
	pool->count = 0;
}

/**
 * rpcrdma2_rw_pool_trim - free all that are not in use
 * @pool: the pool
 *
 * Context: process; does not sleep. Takes pool->lock.
 */
void rpcrdma2_rw_pool_trim(struct rpcrdma2_rw_pool *pool)
{
	struct rpcrdma2_rw *rw, *tmp;
	LIST_HEAD(list);

	spin_lock(&pool->lock);
	list_splice_init(&pool->free, &list);
	pool->count = 0;
	spin_unlock(&pool->lock);
	list_for_each_entry_safe(rw, tmp, &list, list)
		rw_free(rw);
}

/**
 * rpcrdma2_rw_pool_memory - memory of those that are not in use
 * @pool: the pool
 *
 * Context: process; does not sleep. Takes pool->lock.
 * Return: bytes
 */
size_t rpcrdma2_rw_pool_memory(struct rpcrdma2_rw_pool *pool)
{
	struct rpcrdma2_rw *rw;
	size_t sum = 0;

	spin_lock(&pool->lock);
	list_for_each_entry(rw, &pool->free, list)
		sum += kmalloc_size_roundup(sizeof(*rw)) +
		       rw->big.orig_nents * sizeof(struct scatterlist);
	spin_unlock(&pool->lock);
	return sum;
}

/**
 * rpcrdma2_rw_put - keep one for later, unless there are enough
 * @pool: the pool
 * @rw: not mapped, on no list
 *
 * Context: process; takes pool->lock.
 */
void rpcrdma2_rw_put(struct rpcrdma2_rw_pool *pool, struct rpcrdma2_rw *rw)
{
	bool kept;

	spin_lock(&pool->lock);
	kept = pool->count < RPCRDMA2_RWS_KEPT;
	if (kept) {
		list_add(&rw->list, &pool->free);
		pool->count++;
	}
	spin_unlock(&pool->lock);
	if (!kept)
		rw_free(rw);
}

/**
 * rpcrdma2_rw_get - one with an empty scatterlist
 * @pool: the pool
 * @nents: entries that would be good to have; there may be fewer if this is
 *	more than RPCRDMA2_RW_SGES
 *
 * The caller fills in @dir, @handle and @offset.
 *
 * Context: process; takes pool->lock; sleeps as rpcrdma2_gfp() says.
 * Return: a struct rpcrdma2_rw on no list, or NULL without memory.
 */
struct rpcrdma2_rw *rpcrdma2_rw_get(struct rpcrdma2_rw_pool *pool, u32 nents)
{
	struct rpcrdma2_rw *rw;

	spin_lock(&pool->lock);
	rw = list_first_entry_or_null(&pool->free, struct rpcrdma2_rw, list);
	if (rw) {
		list_del(&rw->list);
		pool->count--;
	}
	spin_unlock(&pool->lock);
	if (!rw) {
		rw = kzalloc_obj(*rw, rpcrdma2_gfp());
		if (!rw)
			return NULL;
		sg_init_table(rw->small, RPCRDMA2_RW_SMALL);
	}

	rw->nwrs = 0;
	rw->nents = 0;
	rw->last = NULL;
	if (nents <= RPCRDMA2_RW_SMALL) {
		rw->sgl = rw->small;
		rw->max_nents = RPCRDMA2_RW_SMALL;
		return rw;
	}
	if (!rw->big.sgl && sg_alloc_table(&rw->big, RPCRDMA2_RW_SGES,
					   rpcrdma2_gfp())) {
		rpcrdma2_rw_put(pool, rw);
		return NULL;
	}
	rw->sgl = rw->big.sgl;
	rw->max_nents = RPCRDMA2_RW_SGES;
	return rw;
}

/* Can @page be reached by the SGE that ends with @sg? */
static bool rw_joins(const struct scatterlist *sg, const struct page *page,
		     u32 off, u32 len)
{
	u32 end = sg->offset + sg->length;

	return !off && PAGE_ALIGNED(end) &&
	       page_to_pfn(sg_page((struct scatterlist *)sg)) +
			(end >> PAGE_SHIFT) == page_to_pfn(page) &&
	       sg->length + len <= RPCRDMA2_RW_RUN;
}

/**
 * rpcrdma2_rw_append - append a part of a page to the local memory
 * @rw: not mapped, @dir set
 * @page: stays the caller's
 * @off: first byte in @page
 * @len: bytes
 *
 * Context: any; takes no locks.
 * Return: false if there is no room; nothing was appended then.
 */
bool rpcrdma2_rw_append(struct rpcrdma2_rw *rw, struct page *page, u32 off,
			u32 len)
{
	if (rw->last && rw->dir == DMA_TO_DEVICE &&
	    rw_joins(rw->last, page, off, len)) {
		rw->last->length += len;
		return true;
	}
	if (rw->nents == rw->max_nents)
		return false;
	rw->last = rw->last ? sg_next(rw->last) : rw->sgl;
	sg_set_page(rw->last, page, len, off);
	rw->nents++;
	return true;
}

/**
 * rpcrdma2_rw_map - give the memory to the device and make the work requests
 * @conn: the connection, its QP exists
 * @rw: its local memory is complete; may be mapped already
 *
 * rdma_rw cannot be told to ask for memory once: a work item waits here, too.
 *
 * Context: work item or thread; may sleep, also for memory (no I/O). No locks
 * held.
 * Return: 0, -EAGAIN if the QP has no memory region left, or another negative
 * errno.
 */
int rpcrdma2_rw_map(struct rpcrdma2_conn *conn, struct rpcrdma2_rw *rw)
{
	unsigned int noio;
	int ret;

	if (rw->nwrs)
		return 0;
	noio = memalloc_noio_save();
	ret = rdma_rw_ctx_init(&rw->ctx, conn->qp, conn->cm_id->port_num,
			       rw->sgl, rw->nents, 0, rw->offset, rw->handle,
			       rw->dir);
	memalloc_noio_restore(noio);
	if (ret < 0)
		return ret;
	rw->nwrs = ret;
	return 0;
}

static void rw_unmap(struct rpcrdma2_conn *conn, struct rpcrdma2_rw *rw)
{
	if (!rw->nwrs)
		return;
	rdma_rw_ctx_destroy(&rw->ctx, conn->qp, conn->cm_id->port_num,
			    rw->sgl, rw->nents, rw->dir);
	rw->nwrs = 0;
}

/**
 * rpcrdma2_rws_release - unmap and keep for later what is on a list
 * @pool: where they come from
 * @conn: the connection that they were mapped for
 * @list: empty afterwards. No work request of it is posted any more
 *
 * Context: process; takes pool->lock.
 */
void rpcrdma2_rws_release(struct rpcrdma2_rw_pool *pool,
			  struct rpcrdma2_conn *conn, struct list_head *list)
{
	struct rpcrdma2_rw *rw, *tmp;

	list_for_each_entry_safe(rw, tmp, list, list) {
		list_del(&rw->list);
		rw_unmap(conn, rw);
		rpcrdma2_rw_put(pool, rw);
	}
}

/**
 * rpcrdma2_rws_chain - the work requests of a list, in order
 * @conn: the connection
 * @list: struct rpcrdma2_rw, all of them mapped
 * @cqe: completion of the last one, if there is no @tail
 * @tail: what comes behind them, or NULL
 *
 * Context: process; takes no locks.
 * Return: the first work request.
 */
struct ib_send_wr *rpcrdma2_rws_chain(struct rpcrdma2_conn *conn,
				      struct list_head *list,
				      struct ib_cqe *cqe,
				      struct ib_send_wr *tail)
{
	struct rpcrdma2_rw *rw;

	list_for_each_entry_reverse(rw, list, list)
		tail = rdma_rw_ctx_wrs(&rw->ctx, conn->qp,
				       conn->cm_id->port_num,
				       tail ? NULL : cqe, tail);
	return tail;
}

/**
 * rpcrdma2_rw_max_nents - largest scatterlist that one post can carry
 * @conn: the connection
 * @dir: DMA_FROM_DEVICE for RDMA Read, DMA_TO_DEVICE for RDMA Write
 *
 * Context: any.
 * Return: entries such that their work requests fit into one post.
 */
u32 rpcrdma2_rw_max_nents(const struct rpcrdma2_conn *conn,
			  enum dma_data_direction dir)
{
	u32 sges = conn->caps.max_send_sge, nents = RPCRDMA2_RW_PAGES;

	if (dir == DMA_FROM_DEVICE) {
		/* One memory region is to hold them all, if there are any */
		nents = min(nents, conn->caps.mr_depth);
		if (rdma_protocol_iwarp(conn->cm_id->device,
					conn->cm_id->port_num))
			return nents;
		sges = clamp(conn->caps.max_read_sge, 1U, sges);
	}
	return min(nents, (rpcrdma2_sq_most(&conn->sq) - 1) * sges);
}
