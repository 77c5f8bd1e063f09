// SPDX-License-Identifier: GPL-2.0
/*
 * Local pages against remote memory: the RDMA Reads and Writes of the
 * responder, made by rdma_rw of ib_core.
 *
 * A struct rpcrdma2_rw belongs to one Call. Completion handlers unmap and free it;
 * only work items and threads make one and map it. Nothing here waits for the send
 * queue.
 */
#include <linux/mm.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>

#include "conn/buf.h"
#include "responder/rw_ctx.h"

/**
 * rpcrdma2_rw_alloc - an RDMA context with an empty scatterlist
 * @nents: entries of the scatterlist
 *
 * The caller fills in @dir, @handle and @offset.
 *
 * Context: work item or thread; sleeps as rpcrdma2_buf_gfp() says.
 * Return: a struct rpcrdma2_rw on no list, or NULL without memory.
 */
struct rpcrdma2_rw *rpcrdma2_rw_alloc(u32 nents)
{
	struct rpcrdma2_rw *rw;

	rw = kzalloc_obj(*rw, rpcrdma2_buf_gfp());
	if (rw && sg_alloc_table(&rw->table, nents, rpcrdma2_buf_gfp())) {
		kfree(rw);
		rw = NULL;
	}
	return rw;
}

/**
 * rpcrdma2_rw_append - append an SGE to the local memory
 * @rw: not mapped
 * @page: the first page; stays the caller's
 * @off: first byte in @page
 * @len: bytes, which may go on in the pages that follow @page in memory
 *
 * Context: any; takes no locks.
 * Return: false if there is no room; nothing was appended then.
 */
bool rpcrdma2_rw_append(struct rpcrdma2_rw *rw, struct page *page, u32 off,
			u32 len)
{
	if (rw->nents == rw->table.orig_nents)
		return false;
	rw->last = rw->last ? sg_next(rw->last) : rw->table.sgl;
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
			       rw->table.sgl, rw->nents, 0, rw->offset, rw->handle,
			       rw->dir);
	memalloc_noio_restore(noio);
	if (ret < 0)
		return ret;
	rw->nwrs = ret;
	return 0;
}

/**
 * rpcrdma2_rws_release - unmap and free what is on a list
 * @conn: the connection that they were mapped for
 * @list: empty afterwards. No work request of it is posted any more
 *
 * Context: process; does not sleep.
 */
void rpcrdma2_rws_release(struct rpcrdma2_conn *conn, struct list_head *list)
{
	struct rpcrdma2_rw *rw, *tmp;

	list_for_each_entry_safe(rw, tmp, list, list) {
		list_del(&rw->list);
		if (rw->nwrs)
			rdma_rw_ctx_destroy(&rw->ctx, conn->qp,
					    conn->cm_id->port_num,
					    rw->table.sgl, rw->nents, rw->dir);
		sg_free_table(&rw->table);
		kfree(rw);
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
	return min(nents, (rpcrdma2_sendq_most(&conn->sendq) - 1) * sges);
}
