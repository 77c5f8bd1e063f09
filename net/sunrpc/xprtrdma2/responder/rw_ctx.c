// SPDX-License-Identifier: GPL-2.0
/*
 * RDMA contexts: local pages and remote memory, for the RDMA Reads and Writes of the
 * responder, which rdma_rw of ib_core makes.
 *
 * Life: rpcrdma2_rws_add(), rpcrdma2_rws_close(), rpcrdma2_rw_map(), rpcrdma2_rws_chain()
 * and a post; after its completion rpcrdma2_rws_release().
 *
 * A struct rpcrdma2_rw belongs to one Call. Completion handlers unmap and free it;
 * only work items and threads make one and map it. Nothing here waits for the send
 * queue.
 */
#include <linux/sched/mm.h>
#include <linux/slab.h>

#include "responder/responder_impl.h"

/* Maximum number of pages of one context, such that its work requests fit into one post */
static u32 rw_max_pages(const struct rpcrdma2_conn *conn, enum dma_data_direction dir)
{
	u32 pages = RPCRDMA2_RW_PAGES, sges = conn->caps.max_send_sge;

	if (dir == DMA_FROM_DEVICE) {
		pages = min(pages, conn->caps.mr_depth);
		sges = clamp(conn->caps.max_read_sge, 1U, sges);
		/* One memory region holds all */
		if (rdma_protocol_iwarp(conn->cm_id->device, conn->cm_id->port_num))
			return pages;
	}
	return min(pages, (rpcrdma2_sendq_most(&conn->sendq) - 1) * sges);
}

/* Append a context without pages to the @todo of the Call. */
static struct rpcrdma2_rw *rw_new(const struct rpcrdma2_gather *g)
{
	u32 max = min((min(g->left, g->seg.length) >> PAGE_SHIFT) + 3,
		      rw_max_pages(g->call->conn, g->dir));
	struct rpcrdma2_rw *rw;

	rw = kmalloc(struct_size(rw, sg, max), rpcrdma2_buf_gfp());
	if (!rw)
		return NULL;
	rw->dir = g->dir;
	rw->seg = g->seg;
	rw->nwrs = 0;
	rw->next_pfn = ULONG_MAX;
	rw->nents = 0;
	rw->max = max;
	sg_init_table(rw->sg, max);
	list_add_tail(&rw->list, &g->call->todo);
	return rw;
}

/* Append pages to a context that is not mapped yet; neighbours share an entry. For each page
 * that shares one, a context for RDMA Reads gives up another entry, because rdma_rw may need a
 * memory region for them, whose limit is a number of pages. Returns the number of bytes
 * appended: fewer than @len if there are not enough entries.
 */
static u32 rw_add(struct rpcrdma2_rw *rw, struct page **pages, u32 off, u32 len)
{
	struct scatterlist *sg = rw->sg + rw->nents, *end = rw->sg + rw->max;
	unsigned long pfn, next = rw->next_pfn;
	bool read = rw->dir == DMA_FROM_DEVICE;
	u32 n, left;

	for (left = len; left && sg < end; left -= n, off = 0) {
		n = min_t(u32, left, PAGE_SIZE - off);
		pfn = page_to_pfn(*pages);
		if (pfn == next && !off && !offset_in_page(sg[-1].offset + sg[-1].length) &&
		    sg[-1].length + n <= RPCRDMA2_SG_RUN) {
			sg[-1].length += n;
			end -= read;
		} else {
			sg_set_page(sg++, *pages, n, off);
		}
		next = pfn + 1;
		pages++;
	}
	rw->nents = sg - rw->sg;
	rw->max = end - rw->sg;
	rw->next_pfn = next;
	return len - left;
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
			       rw->sg, rw->nents, 0, rw->seg.offset,
			       rw->seg.handle, rw->dir);
	memalloc_noio_restore(noio);
	if (ret < 0)
		return ret;
	rw->nwrs = ret;
	return 0;
}

/**
 * rpcrdma2_rws_close - end the current context
 * @g: the next page begins another context
 *
 * Maps an RDMA Write, so that nothing can fail after the decision for it, and adds its
 * work requests to @nwrs of the Call. batch.c maps RDMA Reads, which may have to wait.
 *
 * Context: work item or thread; may sleep for memory.
 * Return: 0, -EMSGSIZE if the context is too large for a post, or another negative errno
 */
int rpcrdma2_rws_close(struct rpcrdma2_gather *g)
{
	struct rpcrdma2_svc_call *call = g->call;
	struct rpcrdma2_rw *rw = g->rw;
	int ret;

	g->rw = NULL;
	if (!rw || g->dir == DMA_FROM_DEVICE)
		return 0;
	ret = rpcrdma2_rw_map(call->conn, rw);
	if (ret)
		return ret;
	call->nwrs += rw->nwrs;
	return rw->nwrs < rpcrdma2_sendq_most(&call->conn->sendq) ? 0 : -EMSGSIZE;
}

/**
 * rpcrdma2_rws_add - add pages to the contexts of a Call
 * @g: with @call, @dir, segments and @left set
 * @pages: the pages
 * @off: offset of the first byte in the first page
 * @len: bytes. The capacity of the segments was checked before (CHK-23)
 *
 * Context: work item or thread; may sleep for memory.
 * Return: 0, -EMSGSIZE if a context is too large for a post or the segments are too
 * short, or another negative errno. The caller releases @todo after an error.
 */
int rpcrdma2_rws_add(struct rpcrdma2_gather *g, struct page **pages, u32 off, u32 len)
{
	u32 n, want;
	int ret;

	for (; len; len -= n) {
		while (!g->seg.length) {
			ret = rpcrdma2_rws_close(g);
			if (ret)
				return ret;
			if (!rpcrdma2_segs_next(&g->segs, &g->seg))
				return -EMSGSIZE;
		}
		if (!g->rw)
			g->rw = rw_new(g);
		if (!g->rw)
			return -ENOMEM;
		want = min(len, g->seg.length);
		n = rw_add(g->rw, pages, off, want);
		ret = n < want ? rpcrdma2_rws_close(g) : 0;
		if (ret)
			return ret;
		g->seg.offset += n;
		g->seg.length -= n;
		g->left -= n;
		off += n;
		pages += off >> PAGE_SHIFT;
		off = offset_in_page(off);
	}
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
