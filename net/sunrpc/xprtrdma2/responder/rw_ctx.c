// SPDX-License-Identifier: GPL-2.0
/*
 * RDMA contexts: local pages and remote memory, for the RDMA Reads and Writes of the
 * responder, which rdma_rw of ib_core makes.
 *
 * Life: rpcrdma2_rw_new(), rpcrdma2_rw_add(), rpcrdma2_rw_map(), rpcrdma2_rws_chain() and
 * a post; after its completion rpcrdma2_rws_release().
 *
 * A struct rpcrdma2_rw belongs to one Call. Completion handlers unmap and free it;
 * only work items and threads make one and map it. Nothing here waits for the send
 * queue.
 */
#include <linux/sched/mm.h>
#include <linux/slab.h>

#include "responder/responder_impl.h"

/* Neighbouring pages become one SGE of an RDMA Write, of at most this many bytes */
#define RPCRDMA2_RW_RUN		SZ_64K

/**
 * rpcrdma2_rw_new - append an RDMA context without pages to the @todo of a Call
 * @call: the Call
 * @dir: DMA_FROM_DEVICE for RDMA Read, DMA_TO_DEVICE for RDMA Write
 * @handle: remote memory
 * @offset: remote memory
 * @max: maximum number of pages, at most RPCRDMA2_RW_PAGES
 *
 * Context: work item or thread; sleeps as rpcrdma2_buf_gfp() says.
 * Return: a struct rpcrdma2_rw, or NULL without memory
 */
struct rpcrdma2_rw *rpcrdma2_rw_new(struct rpcrdma2_svc_call *call,
				    enum dma_data_direction dir, u32 handle,
				    u64 offset, u32 max)
{
	struct rpcrdma2_rw *rw;

	rw = kmalloc(struct_size(rw, sg, max), rpcrdma2_buf_gfp());
	if (!rw)
		return NULL;
	rw->dir = dir;
	rw->handle = handle;
	rw->offset = offset;
	rw->nwrs = 0;
	rw->next_pfn = 0;
	rw->nents = 0;
	rw->max = max;
	sg_init_table(rw->sg, max);
	list_add_tail(&rw->list, &call->todo);
	return rw;
}

/**
 * rpcrdma2_rw_add - append pages to an RDMA context that is not mapped yet
 * @rw: the context
 * @pages: the pages
 * @off: offset of the first byte in the first page
 * @len: bytes
 *
 * Context: any.
 * Return: the number of bytes appended: fewer than @len if there are not enough entries
 */
u32 rpcrdma2_rw_add(struct rpcrdma2_rw *rw, struct page **pages, u32 off, u32 len)
{
	u32 n, run = rw->dir == DMA_TO_DEVICE ? RPCRDMA2_RW_RUN : 0, done;
	struct scatterlist *sg = rw->sg + rw->nents;
	unsigned long pfn;

	for (done = 0; done < len; done += n, off = 0) {
		n = min_t(u32, len - done, PAGE_SIZE - off);
		pfn = page_to_pfn(*pages);
		if (rw->next_pfn && pfn == rw->next_pfn && !off &&
		    sg[-1].length + n <= run)
			sg[-1].length += n;
		else if (rw->nents < rw->max)
			sg_set_page(&rw->sg[rw->nents++], *pages, n, off);
		else
			break;
		sg = rw->sg + rw->nents;
		rw->next_pfn = off + n == PAGE_SIZE ? pfn + 1 : 0;
		pages++;
	}
	return done;
}

/**
 * rpcrdma2_rw_map - map the pages for the device and make the work requests
 * @conn: the connection, its QP exists
 * @rw: its table is complete; may be mapped already
 *
 * rdma_rw has no parameter for the kind of allocation: a work item waits here, too.
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
			       rw->sg, rw->nents, 0, rw->offset,
			       rw->handle, rw->dir);
	memalloc_noio_restore(noio);
	if (ret < 0)
		return ret;
	rw->nwrs = ret;
	return 0;
}

/**
 * rpcrdma2_rws_release - unmap and free a list of RDMA contexts
 * @conn: the connection for which they were mapped
 * @list: struct rpcrdma2_rw, none of them posted any more; empty afterwards
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
					    rw->sg, rw->nents,
					    rw->dir);
		kfree(rw);
	}
}

/**
 * rpcrdma2_rws_chain - chain the work requests of a list, in order
 * @conn: the connection
 * @list: struct rpcrdma2_rw, all of them mapped
 * @cqe: completion of the last work request, if there is no @tail
 * @tail: the work requests that follow, or NULL
 *
 * Context: process; takes no locks.
 * Return: the first work request
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
