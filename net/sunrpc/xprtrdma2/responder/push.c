// SPDX-License-Identifier: GPL-2.0
/*
 * Push: turns the results of a Reply that go to Write chunks, and the stream
 * that goes to the Reply chunk, into RDMA Writes. What goes where was decided
 * before (reply.c); what does not fit into one post is batch.c's.
 *
 * Process context, the executor's thread. The Call belongs to the caller, so
 * there is nothing to lock.
 */
#include <linux/mm.h>

#include "conn/buf.h"
#include "proto/chunk_list.h"
#include "responder/push.h"

/* Neighbouring pages become one SGE up to this many bytes */
#define RPCRDMA2_RW_RUN		SZ_64K

/**
 * rpcrdma2_reply_ranges - go through what remains after reduction
 * @call: the Call; @reduced says what is left out
 * @xdr: the Reply
 * @fn: called for each range with its place in @xdr and its bytes; another
 *	return value than 0 ends it
 * @priv: for @fn
 *
 * Context: that of @fn.
 * Return: 0, or what @fn returned.
 */
int rpcrdma2_reply_ranges(const struct rpcrdma2_svc_call *call,
			  const struct xdr_buf *xdr,
			  int (*fn)(void *priv, u32 pos, u32 len), void *priv)
{
	u32 i, end, pos = 0;
	int ret;

	for (i = 0; i <= call->nreduced; i++) {
		end = i < call->nreduced ? call->reduced[i].offset : xdr->len;
		if (end > pos) {
			ret = fn(priv, pos, end - pos);
			if (ret)
				return ret;
		}
		if (i < call->nreduced)
			pos = rpcrdma2_reduced_end(&call->reduced[i], xdr->len);
	}
	return 0;
}

/* Bytes from @off of the first page on that neighbouring pages hold, at most @len: the
 * device takes them as one SGE.
 */
static u32 pages_run(struct page **pages, u32 off, u32 len)
{
	unsigned long pfn = page_to_pfn(*pages);
	u32 n = PAGE_SIZE - off;

	while (n < len && page_to_pfn(*++pages) == ++pfn)
		n += PAGE_SIZE;
	return min(n, len);
}

/* A part of @xdr that is contiguous in memory: at most @len bytes from @pos on. */
static u32 xdr_piece(const struct xdr_buf *xdr, u32 pos, u32 len,
		     struct page **page, u32 *off)
{
	const struct kvec *vec = &xdr->head[0];
	struct page **pages;
	char *p;

	len = min_t(u32, len, RPCRDMA2_RW_RUN);
	if (pos >= vec->iov_len) {
		pos -= vec->iov_len;
		if (pos < xdr->page_len) {
			len = min(len, xdr->page_len - pos);
			pos += xdr->page_base;
			pages = &xdr->pages[pos >> PAGE_SHIFT];
			*page = *pages;
			*off = offset_in_page(pos);
			return pages_run(pages, *off, len);
		}
		pos -= xdr->page_len;
		vec = &xdr->tail[0];
	}
	if (pos >= vec->iov_len)
		return 0;
	p = vec->iov_base + pos;
	*page = virt_to_page(p);
	*off = offset_in_page(p);
	return min_t(u32, len, vec->iov_len - pos);
}

/**
 * struct gather - turns ranges of the Reply into RDMA Writes
 * @call: gets them on its @todo
 * @xdr: the Reply
 * @segs: segments not begun
 * @seg: segment being filled; @seg.length bytes of it are left
 * @rw: being filled, the last one on @todo; or NULL
 * @left: bytes still to come, a hint for the size of @rw
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

static int gather_open(struct gather *g)
{
	struct rpcrdma2_conn *conn = g->call->conn;
	struct rpcrdma2_rw *rw;
	u32 nents;

	nents = (min(g->left, g->seg.length) >> PAGE_SHIFT) + 3;
	rw = rpcrdma2_rw_alloc(min(nents, rpcrdma2_rw_max_nents(conn,
								DMA_TO_DEVICE)));
	if (!rw)
		return -ENOMEM;
	rw->dir = DMA_TO_DEVICE;
	rw->handle = g->seg.handle;
	rw->offset = g->seg.offset;
	list_add_tail(&rw->list, &g->call->todo);
	g->rw = rw;
	return 0;
}

/* Next segment with room; the capacity was checked before (CHK-23). */
static int gather_next_seg(struct gather *g)
{
	int ret;

	ret = gather_close(g);
	if (ret)
		return ret;
	do {
		if (!rpcrdma2_segs_next(&g->segs, &g->seg))
			return -EMSGSIZE;
	} while (!g->seg.length);
	return 0;
}

static int gather_piece(struct gather *g, struct page *page, u32 off, u32 len)
{
	u32 n;
	int ret;

	while (len) {
		if (!g->seg.length) {
			ret = gather_next_seg(g);
			if (ret)
				return ret;
		}
		if (!g->rw) {
			ret = gather_open(g);
			if (ret)
				return ret;
		}
		n = min(len, g->seg.length);
		if (!rpcrdma2_rw_append(g->rw, page, off, n)) {
			ret = gather_close(g);
			if (ret)
				return ret;
			continue;
		}
		g->seg.offset += n;
		g->seg.length -= n;
		g->left -= n;
		off += n;
		len -= n;
	}
	return 0;
}

static int gather_range(void *priv, u32 pos, u32 len)
{
	struct gather *g = priv;
	struct page *page;
	u32 off, n;
	int ret;

	while (len) {
		n = xdr_piece(g->xdr, pos, len, &page, &off);
		if (!n)
			return -EMSGSIZE;
		ret = gather_piece(g, page, off, n);
		if (ret)
			return ret;
		pos += n;
		len -= n;
	}
	return 0;
}

static void gather_begin(struct gather *g, struct rpcrdma2_svc_call *call,
			 const struct xdr_buf *xdr,
			 struct rpcrdma2_cursor segs, u32 bytes)
{
	g->call = call;
	g->xdr = xdr;
	g->segs = segs;
	g->seg.length = 0;
	g->rw = NULL;
	g->left = bytes;
}

/**
 * rpcrdma2_reply_push_results - RDMA Writes for the reduced results
 * @call: the Call, its Write chunks given out (@written, @reduced); gets the
 *	RDMA Writes on its @todo and their work requests counted in @nwrs
 * @xdr: the Reply
 *
 * CHK-15, CHK-16, LNG-13.
 *
 * Context: process; may sleep for memory.
 * Return: 0, -EMSGSIZE if the Reply does not fit what was decided, or another
 * negative errno. The caller releases @todo after an error.
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
		ret = gather_range(&g, call->reduced[i].offset,
				   call->reduced[i].length);
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
 * @call: the Call; gets the RDMA Writes on its @todo and their work requests
 *	counted in @nwrs
 * @xdr: the Reply, of which what was not reduced is written
 *
 * LNG-2, LNG-5, LNG-8.
 *
 * Context: process; may sleep for memory.
 * Return: 0, -EMSGSIZE if the Reply does not fit what was decided, or another
 * negative errno. The caller releases @todo after an error.
 */
int rpcrdma2_reply_push_stream(struct rpcrdma2_svc_call *call,
			       const struct xdr_buf *xdr)
{
	struct rpcrdma2_cursor segs;
	struct gather g;
	int ret;

	if (!rpcrdma2_hdr_reply_chunk(call->hdr.call, &segs))
		return -EMSGSIZE;
	gather_begin(&g, call, xdr, segs, call->reply_bytes);
	ret = rpcrdma2_reply_ranges(call, xdr, gather_range, &g);
	if (!ret)
		ret = gather_close(&g);
	if (ret)
		return ret;
	rpcrdma2_stat_inc(call->conn->p.stats, reply_chunks);
	rpcrdma2_stat_add(call->conn->p.stats, reply_chunk_bytes,
			  call->reply_bytes);
	return 0;
}
