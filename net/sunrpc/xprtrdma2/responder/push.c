// SPDX-License-Identifier: GPL-2.0
/*
 * Push: makes RDMA Writes for the results of a Reply that go to Write chunks, and for
 * the stream that goes to the Reply chunk. reply.c has decided on both before; batch.c
 * posts RDMA Writes that do not fit into one post.
 *
 * Process context, the executor's thread. The Call belongs to the caller, so
 * there is nothing to lock.
 */
#include <linux/mm.h>

#include "proto/chunk_list.h"
#include "responder/responder_impl.h"

/**
 * struct gather - RDMA Writes of ranges of the Reply
 * @call: has them on its @todo
 * @xdr: the Reply
 * @segs: segments not begun
 * @seg: current segment; @seg.length bytes of it are left
 * @rw: current RDMA Write, the last one on @todo; or NULL
 * @left: remaining bytes, a hint for the size of @rw
 */
struct gather {
	struct rpcrdma2_svc_call	*call;
	const struct xdr_buf		*xdr;
	struct rpcrdma2_cursor		segs;
	struct rpcrdma2_segment		seg;
	struct rpcrdma2_rw		*rw;
	u32				left;
};

static int gather_close(struct gather *g)
{
	struct rpcrdma2_rw *rw = g->rw;
	int ret;

	if (!rw)
		return 0;
	g->rw = NULL;
	ret = rpcrdma2_rw_map(g->call->conn, rw);
	if (ret)
		return ret;
	g->call->nwrs += rw->nwrs;
	return rw->nwrs < rpcrdma2_sendq_most(&g->call->conn->sendq) ? 0 : -EMSGSIZE;
}

/* Maximum number of pages of one RDMA Write, such that its work requests fit into one
 * post
 */
static u32 push_max_pages(const struct rpcrdma2_conn *conn)
{
	return min(RPCRDMA2_RW_PAGES, (rpcrdma2_sendq_most(&conn->sendq) - 1) *
				      conn->caps.max_send_sge);
}

static struct rpcrdma2_rw *gather_open(const struct gather *g)
{
	u32 pages = (min(g->left, g->seg.length) >> PAGE_SHIFT) + 3;

	return rpcrdma2_rw_new(g->call, DMA_TO_DEVICE, g->seg.handle, g->seg.offset,
			       min(pages, push_max_pages(g->call->conn)));
}

/* The capacity of the segments was checked before (CHK-23). */
static int gather_pages(struct gather *g, struct page **pages, u32 off, u32 len)
{
	u32 n, want;
	int ret;

	for (; len; len -= n) {
		while (!g->seg.length) {
			ret = gather_close(g);
			if (ret)
				return ret;
			if (!rpcrdma2_segs_next(&g->segs, &g->seg))
				return -EMSGSIZE;
		}
		if (!g->rw)
			g->rw = gather_open(g);
		if (!g->rw)
			return -ENOMEM;
		want = min(len, g->seg.length);
		n = rpcrdma2_rw_add(g->rw, pages, off, want);
		ret = n < want ? gather_close(g) : 0;
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

static int gather_kvec(struct gather *g, const struct kvec *vec)
{
	u32 n, off, done = 0;
	struct page *page;
	int ret;

	for (; done < vec->iov_len; done += n) {
		page = virt_to_page(vec->iov_base + done);
		off = offset_in_page(vec->iov_base + done);
		n = min_t(u32, vec->iov_len - done, PAGE_SIZE - off);
		ret = gather_pages(g, &page, off, n);
		if (ret)
			return ret;
	}
	return 0;
}

static int gather_range(struct gather *g, u32 pos, u32 len)
{
	struct xdr_buf range;
	int ret;

	if (xdr_buf_subsegment(g->xdr, &range, pos, len))
		return -EMSGSIZE;
	ret = gather_kvec(g, &range.head[0]);
	if (!ret)
		ret = gather_pages(g, range.pages + (range.page_base >> PAGE_SHIFT),
				   offset_in_page(range.page_base), range.page_len);
	return ret ?: gather_kvec(g, &range.tail[0]);
}

static void gather_begin(struct gather *g, struct rpcrdma2_svc_call *call,
			 const struct xdr_buf *xdr,
			 struct rpcrdma2_cursor segs, u32 bytes)
{
	*g = (struct gather) {
		.call	= call,
		.xdr	= xdr,
		.segs	= segs,
		.left	= bytes,
	};
}

/**
 * rpcrdma2_reply_push_results - RDMA Writes for the reduced results
 * @call: the Call, with @written and @results set. The RDMA Writes are added to @todo
 *	and their work requests to @nwrs
 * @xdr: the Reply
 *
 * CHK-15, CHK-16, LNG-13.
 *
 * Context: process; may sleep for memory.
 * Return: 0, -EMSGSIZE if the Reply does not fit the chunks, or another negative
 * errno. The caller releases @todo after an error.
 */
int rpcrdma2_reply_push_results(struct rpcrdma2_svc_call *call,
				const struct xdr_buf *xdr)
{
	struct rpcrdma2_stats *stats = call->conn->p.stats;
	struct rpcrdma2_cursor list, segs;
	u32 chunk, i = 0;
	struct gather g;
	int ret;

	rpcrdma2_write_list_begin(call->hdr.call, &list);
	for (chunk = 0; chunk < call->hdr.nwritten; chunk++) {
		if (!rpcrdma2_write_list_next(&list, &segs))
			return -EMSGSIZE;
		if (!call->written[chunk])
			continue;
		gather_begin(&g, call, xdr, segs, call->written[chunk]);
		ret = gather_range(&g, call->results[i].position,
				   call->results[i].length);
		if (!ret)
			ret = gather_close(&g);
		if (ret)
			return ret;
		rpcrdma2_stat_inc(stats, write_chunks);
		rpcrdma2_stat_add(stats, write_bytes, call->written[chunk]);
		i++;
	}
	return 0;
}

/**
 * rpcrdma2_reply_push_stream - RDMA Writes for the Reply chunk
 * @call: the Call. The RDMA Writes are added to @todo and their work requests to @nwrs
 * @xdr: the Reply; the stream without reduced results is written
 *
 * LNG-2, LNG-5, LNG-8.
 *
 * Context: process; may sleep for memory.
 * Return: 0, -EMSGSIZE if the Reply does not fit the chunks, or another negative
 * errno. The caller releases @todo after an error.
 */
int rpcrdma2_reply_push_stream(struct rpcrdma2_svc_call *call,
			       const struct xdr_buf *xdr)
{
	struct rpcrdma2_range range = { };
	struct rpcrdma2_cursor segs;
	struct gather g;
	int ret = 0;

	if (!rpcrdma2_hdr_reply_chunk(call->hdr.call, &segs))
		return -EMSGSIZE;
	gather_begin(&g, call, xdr, segs, call->reply_bytes);
	while (!ret && rpcrdma2_range_next(&range, call, xdr))
		ret = gather_range(&g, range.pos, range.len);
	if (!ret)
		ret = gather_close(&g);
	if (ret)
		return ret;
	rpcrdma2_stat_inc(call->conn->p.stats, reply_chunks);
	rpcrdma2_stat_add(call->conn->p.stats, reply_chunk_bytes,
			  call->reply_bytes);
	return 0;
}
