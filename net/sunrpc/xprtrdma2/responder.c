// SPDX-License-Identifier: GPL-2.0
/*
 * The responder role: pull Read chunks, push Write and Reply chunks, send
 * the Reply. All RDMA goes through rdma_rw of ib_core.
 *
 * Contexts: a Call arrives, and RDMA Reads end, in the CQ's work item; the
 * Reply comes from the executor's thread and, if it had to wait for the
 * send queue, goes on in the CQ's work item. Nothing here waits. A step that
 * finds no memory in the work item is taken again by a thread of the
 * executor, which gives pages of its own (rpcrdma2_call_pull()), so that
 * the path of a WRITE does not depend on new memory.
 *
 * A call object is used by one context at a time, except @refs and @rx_refs:
 * the executor may release the Call while its Reply is still under way. What
 * is under I/O is freed with the last reference; by then no work request
 * of the Call is posted.
 *
 * resp->lock is a leaf, process context only.
 */
#include <linux/gfp.h>
#include <linux/mm.h>
#include <linux/pagemap.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/sunrpc/msg_prot.h>
#include <rdma/rw.h>

#include "responder.h"
#include <trace/events/rpcrdma2.h>

/* Pages of one struct rpcrdma2_rw; what rdma_rw puts into one MR */
#define RPCRDMA2_RW_PAGES	256U
#define RPCRDMA2_RW_SGES	(RPCRDMA2_RW_PAGES + 2)
#define RPCRDMA2_RW_SMALL	16U

/* Neighbouring pages become one SGE up to this many bytes */
#define RPCRDMA2_RW_RUN		SZ_64K

/* In the CQ's work item: no recursion into writeback, no waiting */
#define RPCRDMA2_GFP_CQ		(GFP_NOIO | __GFP_NORETRY | __GFP_NOWARN)
#define RPCRDMA2_GFP_THREAD	(GFP_NOIO | __GFP_NOWARN)

/**
 * struct rpcrdma2_rw - local pages against one piece of remote memory
 * @list: free list, or todo or posted list of a Call
 * @ctx: rdma_rw's part, valid if @nwrs
 * @dir: DMA_FROM_DEVICE for RDMA Read, DMA_TO_DEVICE for RDMA Write
 * @handle: remote memory
 * @offset: remote memory
 * @length: bytes
 * @sink: RDMA Read: place in the Call's pages
 * @nwrs: work requests; 0 while not mapped
 * @sgl: local memory
 * @last: last used entry of @sgl
 * @nents: used entries of @sgl
 * @max_nents: entries of @sgl
 * @big: many entries, kept once they were needed
 * @small: few entries
 */
struct rpcrdma2_rw {
	struct list_head	list;
	struct rdma_rw_ctx	ctx;
	enum dma_data_direction	dir;
	u32			handle;
	u64			offset;
	u32			length;
	u32			sink;
	u32			nwrs;
	struct scatterlist	*sgl;
	struct scatterlist	*last;
	u32			nents;
	u32			max_nents;
	struct sg_table		big;
	struct scatterlist	small[RPCRDMA2_RW_SMALL];
};

/* ---- struct rpcrdma2_rw ---- */

static void rw_free(struct rpcrdma2_rw *rw)
{
	sg_free_table(&rw->big);
	kfree(rw);
}

static void rw_put(struct rpcrdma2_responder *resp, struct rpcrdma2_rw *rw)
{
	spin_lock(&resp->lock);
	list_add(&rw->list, &resp->rws);
	spin_unlock(&resp->lock);
}

static struct rpcrdma2_rw *rw_get(struct rpcrdma2_responder *resp, u32 nents,
				  gfp_t gfp)
{
	struct rpcrdma2_rw *rw;

	spin_lock(&resp->lock);
	rw = list_first_entry_or_null(&resp->rws, struct rpcrdma2_rw, list);
	if (rw)
		list_del(&rw->list);
	spin_unlock(&resp->lock);
	if (!rw) {
		rw = kzalloc(sizeof(*rw), gfp);
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
	if (!rw->big.sgl && sg_alloc_table(&rw->big, RPCRDMA2_RW_SGES, gfp)) {
		rw_put(resp, rw);
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

/* Append a part of a page; false if there is no room. */
static bool rw_append(struct rpcrdma2_rw *rw, struct page *page, u32 off,
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

/* Give the memory to the device and have the work requests made. */
static int rw_map(struct rpcrdma2_conn *conn, struct rpcrdma2_rw *rw)
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

static void rws_release(struct rpcrdma2_call_ctx *call, struct list_head *list)
{
	struct rpcrdma2_rw *rw, *tmp;

	list_for_each_entry_safe(rw, tmp, list, list) {
		list_del(&rw->list);
		rw_unmap(call->conn, rw);
		rw_put(call->resp, rw);
	}
}

/* The work requests of @list, in order, in front of @tail or ending with
 * one that completes through @cqe.
 */
static struct ib_send_wr *rws_chain(struct rpcrdma2_conn *conn,
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

/* Send queue entries that one post may take. */
static u32 post_limit(const struct rpcrdma2_conn *conn)
{
	return min(conn->p.reply_wrs, max(conn->sq_depth / 2, 4U));
}

/* Entries of a scatterlist so that its work requests fit into one post. */
static u32 rw_max_nents(const struct rpcrdma2_conn *conn,
			enum dma_data_direction dir)
{
	u32 sges = conn->caps.max_send_sge;

	if (dir == DMA_FROM_DEVICE) {
		/* one memory region holds them all */
		if (rdma_protocol_iwarp(conn->cm_id->device,
					conn->cm_id->port_num))
			return RPCRDMA2_RW_PAGES;
		sges = clamp(conn->caps.max_read_sge, 1U, sges);
	}
	return min(RPCRDMA2_RW_PAGES, (post_limit(conn) - 1) * sges);
}

/* ---- the call object ---- */

static struct rpcrdma2_call_ctx *call_alloc(struct rpcrdma2_responder *resp,
					    gfp_t gfp)
{
	struct rpcrdma2_call_ctx *call;

	call = kzalloc(struct_size(call, pages, resp->max_pages), gfp);
	if (!call)
		return NULL;
	call->resp = resp;
	INIT_LIST_HEAD(&call->list);
	INIT_LIST_HEAD(&call->todo);
	INIT_LIST_HEAD(&call->posted);
	return call;
}

static void call_free(struct rpcrdma2_responder *resp,
		      struct rpcrdma2_call_ctx *call)
{
	spin_lock(&resp->lock);
	list_add(&call->list, &resp->calls);
	spin_unlock(&resp->lock);
}

/* Call objects for @count credits, and some whose Reply is answered but not
 * completed. Returns false if memory is short.
 */
static bool calls_provide(struct rpcrdma2_responder *resp, u32 count,
			  gfp_t gfp)
{
	struct rpcrdma2_call_ctx *call;

	count += RPCRDMA2_CONTROL_RESERVE;
	while (resp->ncalls < count) {
		call = call_alloc(resp, gfp);
		if (!call)
			return false;
		call_free(resp, call);
		resp->ncalls++;
	}
	return true;
}

static struct rpcrdma2_call_ctx *call_get(struct rpcrdma2_responder *resp)
{
	struct rpcrdma2_call_ctx *call;

	spin_lock(&resp->lock);
	call = list_first_entry_or_null(&resp->calls,
					struct rpcrdma2_call_ctx, list);
	if (call)
		list_del_init(&call->list);
	spin_unlock(&resp->lock);
	if (unlikely(!call)) {
		call = call_alloc(resp, RPCRDMA2_GFP_THREAD);
		if (call)
			resp->ncalls++;
	}
	return call;
}

/* The transaction is over as far as credits go (CRED-2). */
static void call_credit(struct rpcrdma2_call_ctx *call)
{
	struct rpcrdma2_conn *conn = call->conn;

	if (call->credited)
		return;
	call->credited = true;
	spin_lock(&conn->credit_lock);
	rpcrdma2_grant_done(&conn->grant);
	spin_unlock(&conn->credit_lock);
}

static void call_rx_put(struct rpcrdma2_call_ctx *call)
{
	struct rpcrdma2_recv *rx = call->rx;

	if (!refcount_dec_and_test(&call->rx_refs))
		return;
	call->rx = NULL;
	rpcrdma2_recv_put(rx);
}

static void call_release_pages(struct rpcrdma2_call_ctx *call)
{
	u32 i;

	for (i = call->first_page; i < call->npages; i++) {
		if (call->pages[i])
			put_page(call->pages[i]);
		call->pages[i] = NULL;
	}
	call->first_page = 0;
	call->npages = 0;
}

static void call_put(struct rpcrdma2_call_ctx *call)
{
	struct rpcrdma2_responder *resp = call->resp;

	if (!refcount_dec_and_test(&call->refs))
		return;
	rws_release(call, &call->posted);
	rws_release(call, &call->todo);
	call_release_pages(call);
	call_credit(call);
	call->conn = NULL;
	call_free(resp, call);
}

/**
 * rpcrdma2_call_release - the executor is done with a Call
 * @call: answered or dropped; not to be used any more
 *
 * Context: process; may sleep.
 */
void rpcrdma2_call_release(struct rpcrdma2_call_ctx *call)
{
	call_rx_put(call);
	call_put(call);
}

/* ---- the Reply ---- */

/* A part of @xdr that lies in one page: at most @len bytes from @pos on. */
static u32 xdr_piece(const struct xdr_buf *xdr, u32 pos, u32 len,
		     struct page **page, u32 *off)
{
	const struct kvec *vec = &xdr->head[0];
	char *p;

	if (pos >= vec->iov_len) {
		pos -= vec->iov_len;
		if (pos < xdr->page_len) {
			len = min(len, xdr->page_len - pos);
			pos += xdr->page_base;
			*page = xdr->pages[pos >> PAGE_SHIFT];
			*off = offset_in_page(pos);
			return min_t(u32, len, PAGE_SIZE - *off);
		}
		pos -= xdr->page_len;
		vec = &xdr->tail[0];
	}
	if (pos >= vec->iov_len)
		return 0;
	p = vec->iov_base + pos;
	*page = virt_to_page(p);
	*off = offset_in_page(p);
	len = min_t(u32, len, vec->iov_len - pos);
	return min_t(u32, len, PAGE_SIZE - *off);
}

/**
 * struct gather - turns ranges of the Reply into RDMA Writes
 * @call: gets them on its @todo
 * @xdr: the Reply
 * @segs: segments not begun
 * @seg: segment being filled; @seg.length bytes of it are left
 * @rw: being filled, or NULL
 * @left: bytes still to come, a hint for the size of @rw
 */
struct gather {
	struct rpcrdma2_call_ctx	*call;
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
	list_add_tail(&rw->list, &g->call->todo);
	ret = rw_map(g->call->conn, rw);
	if (ret)
		return ret;
	g->call->batch += rw->nwrs;
	return rw->nwrs < post_limit(g->call->conn) ? 0 : -EMSGSIZE;
}

static int gather_open(struct gather *g)
{
	struct rpcrdma2_conn *conn = g->call->conn;
	struct rpcrdma2_rw *rw;
	u32 nents;

	nents = (min(g->left, g->seg.length) >> PAGE_SHIFT) + 3;
	rw = rw_get(g->call->resp, nents, RPCRDMA2_GFP_THREAD);
	if (!rw)
		return -ENOMEM;
	rw->dir = DMA_TO_DEVICE;
	rw->handle = g->seg.handle;
	rw->offset = g->seg.offset;
	rw->length = 0;
	rw->max_nents = min(rw->max_nents, rw_max_nents(conn, rw->dir));
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
		if (!rw_append(g->rw, page, off, n)) {
			ret = gather_close(g);
			if (ret)
				return ret;
			continue;
		}
		g->rw->length += n;
		g->seg.offset += n;
		g->seg.length -= n;
		g->left -= n;
		off += n;
		len -= n;
	}
	return 0;
}

static int gather_range(struct gather *g, u32 pos, u32 len)
{
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

static void gather_begin(struct gather *g, struct rpcrdma2_call_ctx *call,
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

/* End of the bytes that a reduced result takes out of the stream: its
 * padding goes with it (LNG-10).
 */
static u32 reduced_end(const struct rpcrdma2_payload *p, u32 len)
{
	return min_t(u32, p->offset + xdr_align_size(p->length), len);
}

/* Call @fn for each range of @xdr that remains after reduction. */
static int reply_ranges(const struct rpcrdma2_call_ctx *call,
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
			pos = reduced_end(&call->reduced[i], xdr->len);
	}
	return 0;
}

static int reply_gather_range(void *priv, u32 pos, u32 len)
{
	return gather_range(priv, pos, len);
}

/* RDMA Writes for the reduced results (CHK-15, CHK-16, LNG-13). */
static int reply_write_chunks(struct rpcrdma2_call_ctx *call,
			      const struct xdr_buf *xdr)
{
	struct rpcrdma2_stats *stats = call->conn->p.stats;
	struct rpcrdma2_cursor list, segs;
	u32 chunk, i = 0;
	struct gather g;
	int ret;

	rpcrdma2_writes_begin(call->hdr.call, &list);
	for (chunk = 0; chunk < call->hdr.nwritten; chunk++) {
		if (!rpcrdma2_writes_next(&list, &segs))
			return -EMSGSIZE;
		if (!call->written[chunk])
			continue;
		gather_begin(&g, call, xdr, segs, call->written[chunk]);
		ret = gather_range(&g, call->reduced[i].offset,
				   call->reduced[i].length);
		if (!ret)
			ret = gather_close(&g);
		else if (g.rw)
			rw_put(call->resp, g.rw);
		if (ret)
			return ret;
		rpcrdma2_stat_inc(stats, write_chunks);
		rpcrdma2_stat_add(stats, write_bytes, call->written[chunk]);
		i++;
	}
	return 0;
}

/* RDMA Writes for the stream (LNG-2, LNG-5, LNG-8). */
static int reply_reply_chunk(struct rpcrdma2_call_ctx *call,
			     const struct xdr_buf *xdr)
{
	struct rpcrdma2_cursor segs;
	struct gather g;
	int ret;

	if (!rpcrdma2_reply_chunk(call->hdr.call, &segs))
		return -EMSGSIZE;
	gather_begin(&g, call, xdr, segs, call->reply_bytes);
	ret = reply_ranges(call, xdr, reply_gather_range, &g);
	if (!ret)
		ret = gather_close(&g);
	else if (g.rw)
		rw_put(call->resp, g.rw);
	if (ret)
		return ret;
	rpcrdma2_stat_inc(call->conn->p.stats, reply_chunks);
	rpcrdma2_stat_add(call->conn->p.stats, reply_chunk_bytes,
			  call->reply_bytes);
	return 0;
}

static u32 xdr_word(const struct xdr_buf *xdr, u32 pos)
{
	__be32 word;

	if (read_bytes_from_xdr_buf(xdr, pos, &word, sizeof(word)))
		return 0;
	return be32_to_cpu(word);
}

/* A recorded result may be stale: the upper layer may have dropped it from
 * the Reply afterwards. It is one only if its length word is in front of it.
 * nfsd reports the link text of an NFSv4 READLINK with the place of the
 * length word instead.
 */
static bool payload_settle(const struct xdr_buf *xdr, u32 from,
			   struct rpcrdma2_payload *p)
{
	u32 off = p->offset, len = p->length;

	if (off < sizeof(u32) || off > xdr->len)
		return false;
	if (xdr_word(xdr, off - sizeof(u32)) != len) {
		if (xdr->len - off < sizeof(u32) || xdr_word(xdr, off) != len)
			return false;
		off += sizeof(u32);
	}
	if (off < from || len > xdr->len - off)
		return false;
	p->offset = off;
	return true;
}

static void reply_set_error(struct rpcrdma2_call_ctx *call, u32 err, u32 arg0,
			    u32 arg1)
{
	call->kind = RPCRDMA2_REPLY_ERROR;
	call->err = err;
	call->err_arg[0] = arg0;
	call->err_arg[1] = arg1;
}

/* Which result goes into which Write chunk: in turn (CHK-16, CHK-17, CHK-18,
 * CHK-22). Returns false if a chunk is too short (ERR-26).
 */
static bool reply_reduce(struct rpcrdma2_call_ctx *call,
			 const struct xdr_buf *xdr)
{
	struct rpcrdma2_cursor list, segs;
	struct rpcrdma2_payload p;
	u32 i, from = 0, chunk = 0;

	call->nreduced = 0;
	rpcrdma2_writes_begin(call->hdr.call, &list);
	for (i = 0; i < call->npayloads; i++) {
		p = call->payloads[i];
		if (!payload_settle(xdr, from, &p))
			continue;
		if (!rpcrdma2_writes_next(&list, &segs))
			break;
		call->written[chunk++] = 0;
		if (!p.length || !segs.left)
			continue;
		if (p.length > rpcrdma2_segs_bytes(segs)) {
			reply_set_error(call, RDMA2_ERR_WRITE_RESOURCE, chunk,
					p.length);
			return false;
		}
		call->written[chunk - 1] = p.length;
		call->reduced[call->nreduced++] = p;
		from = reduced_end(&p, xdr->len);
		call->reply_bytes -= from - p.offset;
	}
	call->hdr.nwritten = chunk;
	return true;
}

/* The handle that goes with the Send: RINV-5 to RINV-9, RINV-21. */
static u32 reply_inv_handle(struct rpcrdma2_conn *conn,
			    const struct rpcrdma2_hdr *hdr)
{
	if (!conn->remote_inval)
		return 0;
	if (!conn->codec->inv_by_handle)
		return rpcrdma2_only_handle(hdr);
	if (!hdr->inv_handle || rpcrdma2_names_handle(hdr, hdr->inv_handle))
		return hdr->inv_handle;
	rpcrdma2_stat_inc(conn->p.stats, bad_inv_handle);
	return 0;
}

/* Inline, by Reply chunk, or not at all: MSG-4, MSG-5, LNG-5 to LNG-7. */
static void reply_choose(struct rpcrdma2_call_ctx *call)
{
	const struct rpcrdma2_codec *codec = call->conn->codec;
	u32 room = READ_ONCE(call->conn->inline_send);
	struct rpcrdma2_cursor segs;
	u64 capacity = 0;
	bool given, fits;
	u32 hdr_len;

	call->kind = RPCRDMA2_REPLY_MSG;
	call->hdr.nomsg = false;
	call->hdr.reply_written = 0;
	hdr_len = codec->reply_len(&call->hdr);
	fits = hdr_len <= room && call->reply_bytes <= room - hdr_len;
	given = rpcrdma2_reply_chunk(call->hdr.call, &segs);
	if (given)
		capacity = rpcrdma2_segs_bytes(segs);
	given = given && capacity >= call->reply_bytes;
	if (fits && (codec->inline_reply_first || !given))
		return;
	if (!given) {
		reply_set_error(call, RDMA2_ERR_REPLY_RESOURCE,
				call->reply_bytes, 0);
		return;
	}

	call->kind = RPCRDMA2_REPLY_NOMSG;
	call->hdr.nomsg = true;
	call->hdr.reply_written = call->reply_bytes;
	if (codec->reply_len(&call->hdr) > room)
		reply_set_error(call, RDMA2_ERR_SYSTEM, 0, 0);
}

/* Decide everything about the Reply and build its RDMA Writes. Without memory
 * for these the connection has to go: the Call was executed, and only after
 * a reconnect may the client send it again.
 */
static int reply_plan(struct rpcrdma2_call_ctx *call,
		      const struct xdr_buf *xdr)
{
	struct rpcrdma2_conn *conn = call->conn;
	int ret;

	call->batch = 0;
	call->reply_bytes = xdr->len;
	call->hdr.xid = call->rx->hdr.xid;
	call->hdr.call = &call->rx->hdr;
	call->hdr.written = call->written;
	call->hdr.nwritten = 0;
	if (!reply_reduce(call, xdr))
		return 0;
	reply_choose(call);
	if (call->kind == RPCRDMA2_REPLY_ERROR)
		return 0;

	ret = reply_write_chunks(call, xdr);
	if (!ret && call->kind == RPCRDMA2_REPLY_NOMSG)
		ret = reply_reply_chunk(call, xdr);
	if (ret) {
		rws_release(call, &call->todo);
		call->batch = 0;
		if (ret != -EMSGSIZE)
			return ret;
		reply_set_error(call, RDMA2_ERR_SYSTEM, 0, 0);
		return 0;
	}
	call->inv_handle = reply_inv_handle(conn, call->hdr.call);
	return 0;
}

/* Does an RDMA Write read from the page that holds head and tail? */
static bool reply_writes_head(const struct rpcrdma2_call_ctx *call,
			      const struct xdr_buf *xdr)
{
	u32 head = xdr->head[0].iov_len;
	u32 i;

	if (call->kind == RPCRDMA2_REPLY_NOMSG)
		return true;
	for (i = 0; i < call->nreduced; i++) {
		const struct rpcrdma2_payload *p = &call->reduced[i];

		if (p->offset < head ||
		    p->offset + p->length > head + xdr->page_len)
			return true;
	}
	return false;
}

/* Take the executor's pages from @first on, so that it can go on while they
 * are in use, and redirect the Reply to the call object's array.
 */
static int reply_take_pages(struct rpcrdma2_call_ctx *call,
			    const struct xdr_buf *xdr, struct page **pages,
			    u32 npages, u32 first)
{
	u32 i;

	if (npages > call->resp->max_pages)
		return -EIO;
	if (xdr->page_len &&
	    (xdr->pages < pages ||
	     xdr->pages + DIV_ROUND_UP(xdr->page_base + xdr->page_len,
				       PAGE_SIZE) > pages + npages))
		return -EIO;

	call->res = *xdr;
	if (xdr->page_len)
		call->res.pages = call->pages + (xdr->pages - pages);
	for (i = first; i < npages; i++) {
		if (!pages[i])
			continue;
		call->pages[i] = pages[i];
		pages[i] = NULL;
	}
	call->first_page = first;
	call->npages = npages;
	return 0;
}

struct reply_copy {
	const struct xdr_buf	*xdr;
	u8			*p;
};

static int reply_copy_range(void *priv, u32 pos, u32 len)
{
	struct reply_copy *copy = priv;

	if (read_bytes_from_xdr_buf(copy->xdr, pos, copy->p, len))
		return -EIO;
	copy->p += len;
	return 0;
}

/* Write the message into the slot. Returns its length. */
static int reply_encode(struct rpcrdma2_call_ctx *call,
			struct rpcrdma2_send *send, const struct xdr_buf *xdr)
{
	struct rpcrdma2_conn *conn = call->conn;
	struct reply_copy copy;
	int len, ret;

	if (call->kind == RPCRDMA2_REPLY_ERROR)
		return conn->codec->encode_error(&call->rx->hdr,
				rpcrdma2_conn_credit_grant(conn), call->err,
				call->err_arg, send->buf, send->size);

	call->hdr.credit = rpcrdma2_conn_credit_grant(conn);
	len = conn->codec->encode_reply(&call->hdr, send->buf, send->size);
	if (len < 0 || call->kind == RPCRDMA2_REPLY_NOMSG)
		return len;
	if (call->reply_bytes > send->size - len)
		return -EMSGSIZE;
	copy.xdr = xdr;
	copy.p = send->buf + len;
	ret = reply_ranges(call, xdr, reply_copy_range, &copy);
	if (ret)
		return ret;
	return len + call->reply_bytes;
}

static void reply_count(struct rpcrdma2_conn *conn,
			enum rpcrdma2_reply_kind kind, u32 inv_handle, u32 len,
			u32 copied)
{
	struct rpcrdma2_stats *stats = conn->p.stats;

	switch (kind) {
	case RPCRDMA2_REPLY_MSG:
		rpcrdma2_stat_inc(stats, tx_reply_msg);
		rpcrdma2_stat_add(stats, pullup_bytes, copied);
		break;
	case RPCRDMA2_REPLY_NOMSG:
		rpcrdma2_stat_inc(stats, tx_reply_nomsg);
		break;
	case RPCRDMA2_REPLY_ERROR:
		rpcrdma2_stat_inc(stats, tx_error);
		return;
	}
	rpcrdma2_stat_add(stats, inline_tx_bytes, len);
	if (inv_handle)
		rpcrdma2_stat_inc(stats, remote_invalidations);
}

/* The Send of a Reply with RDMA Writes completed, and so did the Writes. */
static void reply_done(struct rpcrdma2_send *send, int status)
{
	call_put(send->priv);
}

/* Post the encoded message with the RDMA Writes in front of it. The
 * Reply's reference goes to the completion, if there is to be one.
 */
static void reply_post(struct rpcrdma2_call_ctx *call,
		       struct rpcrdma2_send *send, int len)
{
	enum rpcrdma2_reply_kind kind = call->kind;
	struct rpcrdma2_conn *conn = call->conn;
	struct ib_send_wr *wr, *first = NULL;
	bool io = !list_empty(&call->todo);
	u32 inv = call->inv_handle;
	u32 copied = call->reply_bytes;

	if (len < 0) {
		/* Neither Reply nor error: the requester must learn (MSG-11) */
		rpcrdma2_send_put(send);
		rpcrdma2_conn_kill(conn, -EIO);
		call_put(call);
		return;
	}
	if (kind == RPCRDMA2_REPLY_ERROR)
		inv = 0;
	call_credit(call);
	wr = rpcrdma2_send_prepare(send, len, inv);
	if (io) {
		first = rws_chain(conn, &call->todo, NULL, wr);
		send->done = reply_done;
		send->priv = call;
	}
	trace_rpcrdma2_reply_send(conn, call->hdr.xid, kind, len, call->batch,
				  inv, call->err);
	if (rpcrdma2_send_post(send, first)) {
		call_put(call);
		return;
	}
	reply_count(conn, kind, inv, len, copied);
	if (!io)
		call_put(call);
}

/* A Reply that waited is given up; the connection is gone. */
static void reply_drop(struct rpcrdma2_call_ctx *call)
{
	call_rx_put(call);
	call_put(call);
}

static void reply_ready(struct rpcrdma2_sq_waiter *w,
			struct rpcrdma2_send *send, int status)
{
	struct rpcrdma2_call_ctx *call =
		container_of(w, struct rpcrdma2_call_ctx, waiter);
	int len;

	if (status) {
		reply_drop(call);
		return;
	}
	len = reply_encode(call, send, &call->res);
	call_rx_put(call);
	reply_post(call, send, len);
}

static void reply_next(struct rpcrdma2_call_ctx *call);

static void reply_batch_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct rpcrdma2_call_ctx *call =
		container_of(wc->wr_cqe, struct rpcrdma2_call_ctx, cqe);
	struct rpcrdma2_conn *conn = call->conn;
	struct rpcrdma2_rw *rw;
	u32 nwrs = 0;

	list_for_each_entry(rw, &call->posted, list)
		nwrs += rw->nwrs;
	rws_release(call, &call->posted);
	rpcrdma2_sq_put(conn, nwrs);
	if (wc->status != IB_WC_SUCCESS) {
		trace_rpcrdma2_wc_error(conn, "write", wc->status,
					wc->vendor_err);
		rpcrdma2_conn_kill(conn, -ENOTCONN);
		reply_drop(call);
		return;
	}
	reply_next(call);
}

static void reply_batch_ready(struct rpcrdma2_sq_waiter *w,
			      struct rpcrdma2_send *send, int status)
{
	struct rpcrdma2_call_ctx *call =
		container_of(w, struct rpcrdma2_call_ctx, waiter);
	struct rpcrdma2_conn *conn = call->conn;
	u32 nwrs = w->nwrs;

	if (status) {
		reply_drop(call);
		return;
	}
	call->cqe.done = reply_batch_done;
	if (rpcrdma2_sq_post(conn, rws_chain(conn, &call->posted, &call->cqe,
					     NULL))) {
		rpcrdma2_sq_put(conn, nwrs);
		reply_drop(call);
	}
}

/* Next step of a Reply that waits: the Send, or some of its RDMA Writes if
 * all of them do not fit into one post.
 */
static void reply_next(struct rpcrdma2_call_ctx *call)
{
	struct rpcrdma2_conn *conn = call->conn;
	u32 limit = post_limit(conn);
	struct rpcrdma2_rw *rw, *tmp;
	struct rpcrdma2_send *send;
	u32 nwrs = 0;

	if (call->batch + 1 <= limit) {
		call->waiter.ready = reply_ready;
		send = rpcrdma2_send_get(conn, call->batch + 1, &call->waiter,
					 false);
		if (send)
			reply_ready(&call->waiter, send, 0);
		return;
	}

	list_for_each_entry_safe(rw, tmp, &call->todo, list) {
		if (nwrs + rw->nwrs > limit)
			break;
		nwrs += rw->nwrs;
		list_move_tail(&rw->list, &call->posted);
	}
	call->batch -= nwrs;
	call->waiter.ready = reply_batch_ready;
	call->waiter.nwrs = nwrs;
	if (rpcrdma2_sq_get(conn, nwrs, &call->waiter))
		reply_batch_ready(&call->waiter, NULL, 0);
}

/* Send what was planned. Returns 1 if pages were taken, 0 if not. */
static int reply_go(struct rpcrdma2_call_ctx *call, const struct xdr_buf *xdr,
		    struct page **pages, u32 npages)
{
	bool io = !list_empty(&call->todo), taken = false;
	struct rpcrdma2_conn *conn = call->conn;
	struct rpcrdma2_send *send = NULL;
	u32 first = 0;
	int ret;

	if (io) {
		first = reply_writes_head(call, xdr) ? 0 : 1;
		ret = reply_take_pages(call, xdr, pages, npages, first);
		if (ret)
			goto out_kill;
		xdr = &call->res;
		taken = true;
	}
	if (call->batch + 1 <= post_limit(conn))
		send = rpcrdma2_send_get(conn, call->batch + 1, NULL, false);
	if (send) {
		reply_post(call, send, reply_encode(call, send, xdr));
		return taken;
	}

	/* Wait in line, without the executor */
	if (taken) {
		if (first && npages) {
			call->pages[0] = pages[0];
			pages[0] = NULL;
			call->first_page = 0;
		}
	} else if (call->kind != RPCRDMA2_REPLY_ERROR) {
		ret = reply_take_pages(call, xdr, pages, npages, 0);
		if (ret)
			goto out_kill;
		taken = true;
	}
	trace_rpcrdma2_reply_waits(conn, call->hdr.xid, call->batch + 1);
	refcount_inc(&call->rx_refs);
	reply_next(call);
	return taken;

out_kill:
	rpcrdma2_conn_kill(conn, ret);
	call_put(call);
	return ret;
}

/**
 * rpcrdma2_call_reply - send the Reply to a Call
 * @call: the Call
 * @res: the RPC Reply message, @res->len set
 * @pages: the executor's pages, in which all of @res lies
 * @npages: how many
 *
 * Pages that RDMA Writes need, or all of them if the Reply has to wait for
 * room in the send queue, are moved into the call object; their entries in
 * @pages become NULL. What is sent inline is copied.
 *
 * Context: process; may sleep for memory, not for the send queue.
 * Return: 0 if @pages was left alone, 1 if pages were taken, or a negative
 * errno if the connection is lost or given up. The caller calls
 * rpcrdma2_call_release() in every case.
 */
int rpcrdma2_call_reply(struct rpcrdma2_call_ctx *call,
			const struct xdr_buf *res, struct page **pages,
			u32 npages)
{
	int ret;

	if (!rpcrdma2_conn_ready(call->conn))
		return -ENOTCONN;
	ret = reply_plan(call, res);
	if (ret) {
		rpcrdma2_conn_kill(call->conn, ret);
		return ret;
	}
	refcount_inc(&call->refs);
	return reply_go(call, res, pages, npages);
}

/**
 * rpcrdma2_call_payload - a result that may travel in a Write chunk
 * @call: the Call
 * @offset: place of the result in the Reply
 * @length: its length without padding
 *
 * Only recorded here; rpcrdma2_call_reply() decides (ERR-26). Results come
 * in ascending order; one that does not begins the Reply anew.
 *
 * Context: any.
 */
void rpcrdma2_call_payload(struct rpcrdma2_call_ctx *call, u32 offset,
			   u32 length)
{
	u32 n = call->npayloads;

	while (n && call->payloads[n - 1].offset >= offset)
		n--;
	if (n < ARRAY_SIZE(call->payloads)) {
		call->payloads[n].offset = offset;
		call->payloads[n].length = length;
		n++;
	}
	call->npayloads = n;
}

/* Answer with an RDMA2_ERROR instead of executing the Call. */
static void call_refuse(struct rpcrdma2_call_ctx *call, u32 err, u32 arg0)
{
	refcount_inc(&call->refs);
	call->batch = 0;
	call->hdr.xid = call->rx->hdr.xid;
	reply_set_error(call, err, arg0, 0);
	reply_go(call, NULL, NULL, 0);
	rpcrdma2_call_release(call);
}

/* The header is good, the arguments can't be put together (MSG-10). */
static void call_garbage(struct rpcrdma2_call_ctx *call)
{
	struct xdr_buf xdr = {
		.head[0].iov_base	= call->fixed,
		.head[0].iov_len	= sizeof(call->fixed),
		.len			= sizeof(call->fixed),
	};

	call->fixed[0] = cpu_to_be32(call->rx->hdr.xid);
	call->fixed[1] = rpc_reply;
	call->fixed[2] = rpc_msg_accepted;
	call->fixed[3] = rpc_auth_null;
	call->fixed[4] = xdr_zero;
	call->fixed[5] = rpc_garbage_args;
	rpcrdma2_call_reply(call, &xdr, NULL, 0);
	rpcrdma2_call_release(call);
}

/* ---- the Call ---- */

static void call_ready(struct rpcrdma2_call_ctx *call)
{
	trace_rpcrdma2_call_ready(call->conn, call->rx->hdr.xid, call->stream,
				  call->read_bytes, call->wants_pages);
	call->resp->ops->ready(call->resp, call);
}

/* Where the Read chunk at @position belongs; -E2BIG if there are too many. */
static int chunk_at(struct rpcrdma2_call_ctx *call, u32 position)
{
	u32 i, n = call->nchunks;

	for (i = 0; i < n; i++) {
		if (call->chunks[i].position == position)
			return i;
		if (call->chunks[i].position > position)
			break;
	}
	if (n == ARRAY_SIZE(call->chunks))
		return -E2BIG;
	memmove(&call->chunks[i + 1], &call->chunks[i],
		(n - i) * sizeof(call->chunks[0]));
	call->chunks[i].position = position;
	call->chunks[i].length = 0;
	call->nchunks++;
	return i;
}

/* Sort the Read list, which may come in any order (CHK-11, CHK-12). Returns
 * false if it is larger than a message may be.
 */
static bool call_sort_reads(struct rpcrdma2_call_ctx *call)
{
	struct rpcrdma2_segment seg;
	struct rpcrdma2_cursor c;
	u64 total = 0;
	u32 position;
	int i;

	call->nchunks = 0;
	call->pz_len = 0;
	rpcrdma2_reads_begin(&call->rx->hdr, &c);
	while (rpcrdma2_reads_next(&c, &position, &seg)) {
		total += seg.length;
		if (total > call->resp->limits.bytes)
			return false;
		if (!position) {
			call->pz_len += seg.length;
			continue;
		}
		i = chunk_at(call, position);
		if (i < 0)
			return false;
		call->chunks[i].length += seg.length;
	}
	call->read_bytes = total;
	return true;
}

/* The un-reduced stream: inline part or Position-Zero chunk with the other
 * chunks put in. Returns false if a Position is not within it.
 */
static bool call_lay_out(struct rpcrdma2_call_ctx *call)
{
	const struct rpcrdma2_hdr *hdr = &call->rx->hdr;
	u32 left = hdr->has_pz ? call->pz_len : hdr->body_len;
	u64 pos = 0;
	u32 i;

	for (i = 0; i < call->nchunks; i++) {
		const struct rpcrdma2_read_chunk *chunk = &call->chunks[i];

		if (chunk->position < pos || chunk->position - pos > left)
			return false;
		left -= chunk->position - pos;
		pos = chunk->position + xdr_align_size((u64)chunk->length);
	}
	pos += left;
	/* call_check() sees whether this is too much */
	call->stream = min_t(u64, pos, U32_MAX);

	call->shape = RPCRDMA2_ARG_PAGES;
	call->npages = DIV_ROUND_UP(call->stream, PAGE_SIZE);
	if (!hdr->has_pz && call->nchunks == 1) {
		call->shape = RPCRDMA2_ARG_SPLIT;
		call->npages = DIV_ROUND_UP(call->chunks[0].length, PAGE_SIZE);
	}
	call->first_page = 0;
	return true;
}

/* RDMA Reads of @len bytes at @seg into the pages from @sink on. */
static int call_read_seg(struct rpcrdma2_call_ctx *call,
			 const struct rpcrdma2_segment *seg, u32 skip,
			 u32 len, u32 sink, gfp_t gfp)
{
	u32 max = rw_max_nents(call->conn, DMA_FROM_DEVICE);
	struct rpcrdma2_rw *rw;
	u32 n, nents;

	while (len) {
		n = min_t(u32, len, (max << PAGE_SHIFT) - offset_in_page(sink));
		nents = DIV_ROUND_UP(offset_in_page(sink) + n, PAGE_SIZE);
		rw = rw_get(call->resp, nents, gfp);
		if (!rw)
			return -ENOMEM;
		rw->dir = DMA_FROM_DEVICE;
		rw->handle = seg->handle;
		rw->offset = seg->offset + skip;
		rw->length = n;
		rw->sink = sink;
		list_add_tail(&rw->list, &call->todo);
		skip += n;
		sink += n;
		len -= n;
	}
	return 0;
}

/* RDMA Reads of @len bytes of the chunk at @position, the first @skip bytes
 * left out.
 */
static int call_read_chunk(struct rpcrdma2_call_ctx *call, u32 position,
			   u32 skip, u32 len, u32 sink, gfp_t gfp)
{
	struct rpcrdma2_segment seg;
	struct rpcrdma2_cursor c;
	u32 at, n;
	int ret;

	rpcrdma2_reads_begin(&call->rx->hdr, &c);
	while (len && rpcrdma2_reads_next(&c, &at, &seg)) {
		if (at != position)
			continue;
		if (skip >= seg.length) {
			skip -= seg.length;
			continue;
		}
		n = min(len, seg.length - skip);
		ret = call_read_seg(call, &seg, skip, n, sink, gfp);
		if (ret)
			return ret;
		skip = 0;
		sink += n;
		len -= n;
	}
	return 0;
}

/* All RDMA Reads of the Call, not mapped yet. */
static int call_build_reads(struct rpcrdma2_call_ctx *call, gfp_t gfp)
{
	bool pz = call->rx->hdr.has_pz;
	u32 i, gap, pos = 0, used = 0;
	int ret = 0;

	if (call->shape == RPCRDMA2_ARG_SPLIT)
		return call_read_chunk(call, call->chunks[0].position, 0,
				       call->chunks[0].length, 0, gfp);

	for (i = 0; i < call->nchunks; i++) {
		const struct rpcrdma2_read_chunk *chunk = &call->chunks[i];

		gap = chunk->position - pos;
		if (pz && gap)
			ret = call_read_chunk(call, 0, used, gap, pos, gfp);
		if (!ret)
			ret = call_read_chunk(call, chunk->position, 0,
					      chunk->length, chunk->position,
					      gfp);
		if (ret)
			return ret;
		used += gap;
		pos = chunk->position + xdr_align_size(chunk->length);
	}
	if (pz)
		ret = call_read_chunk(call, 0, used, call->pz_len - used, pos,
				      gfp);
	return ret;
}

static u32 stash_take(struct rpcrdma2_responder *resp, struct page **pages,
		      u32 count)
{
	u32 n = 0;

	spin_lock(&resp->lock);
	while (n < count && resp->stashed)
		pages[n++] = resp->stash[--resp->stashed];
	spin_unlock(&resp->lock);
	return n;
}

static void stash_put(struct rpcrdma2_responder *resp, struct page **pages,
		      u32 count)
{
	u32 n = 0;

	spin_lock(&resp->lock);
	while (n < count && resp->stashed < resp->max_pages)
		resp->stash[resp->stashed++] = pages[n++];
	spin_unlock(&resp->lock);
	while (n < count)
		put_page(pages[n++]);
}

/* Memory for the RDMA Reads. Returns -ENOMEM with what could be had. */
static int call_get_memory(struct rpcrdma2_call_ctx *call, gfp_t gfp)
{
	u32 have = 0;
	int ret;

	if (list_empty(&call->todo)) {
		ret = call_build_reads(call, gfp);
		if (ret) {
			rws_release(call, &call->todo);
			return ret;
		}
	}
	while (have < call->npages && call->pages[have])
		have++;
	have += stash_take(call->resp, call->pages + have,
			   call->npages - have);
	if (have < call->npages)
		have = alloc_pages_bulk_array(gfp, call->npages, call->pages);
	return have < call->npages ? -ENOMEM : 0;
}

static void rw_set_sink(struct rpcrdma2_rw *rw, struct page **pages)
{
	u32 n, len = rw->length, sink = rw->sink;

	while (len) {
		n = min_t(u32, len, PAGE_SIZE - offset_in_page(sink));
		rw_append(rw, pages[sink >> PAGE_SHIFT], offset_in_page(sink),
			  n);
		sink += n;
		len -= n;
	}
}

/* Map as many RDMA Reads as one post takes. */
static int reads_map(struct rpcrdma2_call_ctx *call)
{
	u32 limit = post_limit(call->conn);
	struct rpcrdma2_rw *rw, *tmp;
	int ret;

	call->batch = 0;
	list_for_each_entry_safe(rw, tmp, &call->todo, list) {
		if (!rw->nents)
			rw_set_sink(rw, call->pages);
		ret = rw_map(call->conn, rw);
		if (ret)
			return ret;
		if (call->batch && call->batch + rw->nwrs > limit)
			break;
		call->batch += rw->nwrs;
		list_move_tail(&rw->list, &call->posted);
	}
	return 0;
}

static int reads_next(struct rpcrdma2_call_ctx *call);

/* Not now: a thread of the executor shall try again. */
static void call_defer(struct rpcrdma2_call_ctx *call)
{
	call->wants_pages = true;
	call_ready(call);
}

static void reads_resume(struct rpcrdma2_call_ctx *call)
{
	if (reads_next(call))
		call_defer(call);
}

/* A batch of RDMA Reads ended: its memory regions are free for others. */
static void reads_ended(struct rpcrdma2_responder *resp)
{
	struct rpcrdma2_call_ctx *next;

	spin_lock(&resp->lock);
	resp->reading--;
	resp->batches++;
	next = list_first_entry_or_null(&resp->starved,
					struct rpcrdma2_call_ctx, list);
	if (next)
		list_del_init(&next->list);
	spin_unlock(&resp->lock);
	if (next)
		reads_resume(next);
}

static void call_zero(struct rpcrdma2_call_ctx *call, u32 pos, u32 len)
{
	/* XDR padding never crosses a page */
	if (len)
		memset(page_address(call->pages[pos >> PAGE_SHIFT]) +
		       offset_in_page(pos), 0, len);
}

static void call_copy(struct rpcrdma2_call_ctx *call, u32 pos, const u8 *src,
		      u32 len)
{
	u32 n;

	while (len) {
		n = min_t(u32, len, PAGE_SIZE - offset_in_page(pos));
		memcpy(page_address(call->pages[pos >> PAGE_SHIFT]) +
		       offset_in_page(pos), src, n);
		pos += n;
		src += n;
		len -= n;
	}
}

/* Put in what RDMA Reads did not bring: the inline parts, the padding. */
static void call_fill(struct rpcrdma2_call_ctx *call)
{
	const struct rpcrdma2_hdr *hdr = &call->rx->hdr;
	u32 i, gap, pos = 0, used = 0;

	if (call->shape == RPCRDMA2_ARG_SPLIT) {
		call_zero(call, call->chunks[0].length,
			  xdr_pad_size(call->chunks[0].length));
		return;
	}
	for (i = 0; i < call->nchunks; i++) {
		const struct rpcrdma2_read_chunk *chunk = &call->chunks[i];

		gap = chunk->position - pos;
		if (!hdr->has_pz)
			call_copy(call, pos, hdr->body + used, gap);
		used += gap;
		pos = chunk->position + chunk->length;
		call_zero(call, pos, xdr_pad_size(chunk->length));
		pos = chunk->position + xdr_align_size(chunk->length);
	}
	if (!hdr->has_pz)
		call_copy(call, pos, hdr->body + used, hdr->body_len - used);
}

/* The header's word about the message in a Position-Zero chunk was not
 * proved when it was decoded (HDR-6, HDR-7, FLG-5).
 */
static bool call_pz_is_call(const struct rpcrdma2_call_ctx *call)
{
	const __be32 *p;

	if (call->stream < 2 * sizeof(*p))
		return false;
	p = page_address(call->pages[0]);
	return be32_to_cpu(p[0]) == call->rx->hdr.xid && p[1] == rpc_call;
}

/* Everything is here. */
static void call_complete(struct rpcrdma2_call_ctx *call)
{
	struct rpcrdma2_stats *stats = call->conn->p.stats;

	call_fill(call);
	if (call->rx->hdr.has_pz) {
		rpcrdma2_stat_inc(stats, pz_chunks);
		if (!call_pz_is_call(call)) {
			rpcrdma2_stat_inc(stats, rx_malformed);
			call_refuse(call, RDMA2_ERR_BAD_XDR, 0);
			return;
		}
	}
	rpcrdma2_stat_add(stats, read_chunks, call->nchunks);
	rpcrdma2_stat_add(stats, read_bytes, call->read_bytes);
	call_ready(call);
}

static void reads_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct rpcrdma2_call_ctx *call =
		container_of(wc->wr_cqe, struct rpcrdma2_call_ctx, cqe);
	struct rpcrdma2_conn *conn = call->conn;

	rws_release(call, &call->posted);
	reads_ended(call->resp);
	rpcrdma2_sq_put(conn, call->batch);
	if (wc->status != IB_WC_SUCCESS) {
		trace_rpcrdma2_wc_error(conn, "read", wc->status,
					wc->vendor_err);
		rpcrdma2_conn_kill(conn, -ENOTCONN);
		rpcrdma2_call_release(call);
		return;
	}
	if (list_empty(&call->todo))
		call_complete(call);
	else
		reads_resume(call);
}

static void reads_ready(struct rpcrdma2_sq_waiter *w,
			struct rpcrdma2_send *send, int status)
{
	struct rpcrdma2_call_ctx *call =
		container_of(w, struct rpcrdma2_call_ctx, waiter);
	struct rpcrdma2_responder *resp = call->resp;
	struct rpcrdma2_conn *conn = call->conn;

	if (!status) {
		call->cqe.done = reads_done;
		status = rpcrdma2_sq_post(conn, rws_chain(conn, &call->posted,
							  &call->cqe, NULL));
		if (!status)
			return;
		rpcrdma2_sq_put(conn, call->batch);
	}
	rpcrdma2_call_release(call);
	reads_ended(resp);
}

/* No memory region to be had. Returns 1 if a Call that has some will wake
 * this one, 0 if it is worth trying again, -ENOMEM if nobody has any.
 */
static int reads_park(struct rpcrdma2_call_ctx *call, u32 batches)
{
	struct rpcrdma2_responder *resp = call->resp;
	int ret = 0;

	spin_lock(&resp->lock);
	if (resp->batches == batches) {
		ret = resp->reading ? 1 : -ENOMEM;
		if (resp->reading)
			list_add_tail(&call->list, &resp->starved);
	}
	spin_unlock(&resp->lock);
	return ret;
}

/* Post the next RDMA Reads, or wait for the means to do so. After an error
 * nothing is posted or mapped.
 */
static int reads_next(struct rpcrdma2_call_ctx *call)
{
	struct rpcrdma2_responder *resp = call->resp;
	struct rpcrdma2_conn *conn = call->conn;
	u32 batches;
	int ret;

	for (;;) {
		batches = READ_ONCE(resp->batches);
		ret = reads_map(call);
		if (!list_empty(&call->posted))
			break;
		if (ret != -EAGAIN)
			return ret;
		ret = reads_park(call, batches);
		if (ret)
			return ret < 0 ? ret : 0;
	}

	spin_lock(&resp->lock);
	resp->reading++;
	spin_unlock(&resp->lock);
	trace_rpcrdma2_call_reads(conn, call->rx->hdr.xid, call->read_bytes,
				  call->batch);
	call->waiter.ready = reads_ready;
	if (rpcrdma2_sq_get(conn, call->batch, &call->waiter))
		reads_ready(&call->waiter, NULL, 0);
	return 0;
}

/**
 * rpcrdma2_call_pull - pull the Read chunks with a thread's help
 * @call: a Call for which rpcrdma2_call_wants_pages() is true
 * @pages: the thread's pages, at least the responder's limit of bytes; some
 *	are taken and their entries become NULL
 *
 * ops->ready() is called again when the argument is complete. If even a
 * thread gets no memory the connection is given up, so that the client sends
 * the Call again later instead of failing it.
 *
 * Context: process; may sleep for memory.
 */
void rpcrdma2_call_pull(struct rpcrdma2_call_ctx *call, struct page **pages)
{
	u32 i;
	int ret;

	call->wants_pages = false;
	for (i = 0; i < call->npages; i++)
		if (!call->pages[i])
			swap(call->pages[i], pages[i]);
	ret = call_get_memory(call, RPCRDMA2_GFP_THREAD);
	if (!ret)
		ret = reads_next(call);
	if (ret) {
		rpcrdma2_conn_kill(call->conn, ret);
		rpcrdma2_call_release(call);
	}
}

/* What this responder does not take is refused before anything is allocated
 * for it (ERR-19..24, CHK-24). Returns false if the Call was answered.
 */
static bool call_check(struct rpcrdma2_call_ctx *call)
{
	const struct rpcrdma2_limits *limits = &call->resp->limits;
	const struct rpcrdma2_hdr *hdr = &call->rx->hdr;

	if (hdr->read_chunks > limits->read_chunks) {
		call_refuse(call, RDMA2_ERR_READ_CHUNKS, limits->read_chunks);
		return false;
	}
	if (hdr->write_chunks > limits->write_chunks) {
		call_refuse(call, RDMA2_ERR_WRITE_CHUNKS,
			    limits->write_chunks);
		return false;
	}
	if (hdr->max_segs > limits->segs) {
		call_refuse(call, RDMA2_ERR_SEGMENTS, limits->segs);
		return false;
	}
	if (!hdr->read_list)
		return true;
	if (!call_sort_reads(call)) {
		call_refuse(call, RDMA2_ERR_SYSTEM, 0);
		return false;
	}
	if (!call_lay_out(call)) {
		call->npages = 0;
		call_garbage(call);
		return false;
	}
	if (call->stream > limits->bytes ||
	    call->npages > call->resp->max_pages) {
		call->npages = 0;
		call_refuse(call, RDMA2_ERR_SYSTEM, 0);
		return false;
	}
	return true;
}

static void call_start(struct rpcrdma2_call_ctx *call)
{
	call->shape = RPCRDMA2_ARG_INLINE;
	call->stream = call->rx->hdr.body_len;
	if (!call_check(call))
		return;
	if (!call->rx->hdr.read_list) {
		call_ready(call);
		return;
	}
	if (call_get_memory(call, RPCRDMA2_GFP_CQ))
		call_defer(call);
	else if (list_empty(&call->todo))
		call_complete(call);	/* nothing but empty segments */
	else
		reads_resume(call);
}

/* Credits: count the Call; grant more if the peer makes use of it, after
 * the Receives for it are posted (CRED-7). Returns false if the peer sends
 * far more than it may; memory must not depend on its mercy (SEC-3).
 */
static bool responder_grant(struct rpcrdma2_responder *resp,
			    struct rpcrdma2_conn *conn, u32 asked)
{
	u32 now, want, window, inflight, got;

	spin_lock(&conn->credit_lock);
	now = conn->grant.current_grant;
	want = rpcrdma2_grant_call(&conn->grant, asked);
	inflight = conn->grant.inflight;
	window = conn->window.granted;
	spin_unlock(&conn->credit_lock);
	if (unlikely(inflight > conn->p.serves + RPCRDMA2_CONTROL_RESERVE))
		return false;
	if (want <= now || !calls_provide(resp, want, RPCRDMA2_GFP_CQ))
		return true;

	got = rpcrdma2_recv_target(conn, want + window);
	if (got <= now + window)
		return true;
	spin_lock(&conn->credit_lock);
	rpcrdma2_grant_set(&conn->grant, got - window);
	spin_unlock(&conn->credit_lock);
	return true;
}

/**
 * rpcrdma2_responder_call - a Call arrived
 * @resp: the responder
 * @conn: the connection, READY
 * @rx: the Receive with the Call, header decoded
 *
 * Context: the CQ's work item; may sleep for memory (GFP_NOIO).
 * Return: true if @rx was taken over.
 */
bool rpcrdma2_responder_call(struct rpcrdma2_responder *resp,
			     struct rpcrdma2_conn *conn,
			     struct rpcrdma2_recv *rx)
{
	struct rpcrdma2_call_ctx *call;

	if (!responder_grant(resp, conn, rx->hdr.credit)) {
		rpcrdma2_conn_kill(conn, -EPROTO);
		return false;
	}
	call = call_get(resp);
	if (!call) {
		rpcrdma2_send_error(conn, &rx->hdr, RDMA2_ERR_SYSTEM, 0, 0);
		spin_lock(&conn->credit_lock);
		rpcrdma2_grant_done(&conn->grant);
		spin_unlock(&conn->credit_lock);
		return false;
	}

	call->conn = conn;
	call->rx = rx;
	refcount_set(&call->refs, 1);
	refcount_set(&call->rx_refs, 1);
	call->credited = false;
	call->wants_pages = false;
	call->npayloads = 0;
	call->nreduced = 0;
	call->nchunks = 0;
	call->read_bytes = 0;
	call->err = 0;
	call->inv_handle = 0;
	call_start(call);
	return true;
}

/**
 * rpcrdma2_call_arg - the argument of a Call
 * @call: a Call that is ready
 * @arg: filled in
 * @pages: pages of the thread that executes the Call. The first ones are
 *	exchanged for those that hold the argument
 *
 * Context: process.
 * Return: entries of @pages that belong to the argument.
 */
u32 rpcrdma2_call_arg(struct rpcrdma2_call_ctx *call, struct xdr_buf *arg,
		      struct page **pages)
{
	const struct rpcrdma2_hdr *hdr = &call->rx->hdr;
	u32 i, at, n = call->npages;

	for (i = 0; i < n; i++)
		swap(call->pages[i], pages[i]);

	memset(arg, 0, sizeof(*arg));
	arg->pages = pages;
	switch (call->shape) {
	case RPCRDMA2_ARG_INLINE:
		arg->head[0].iov_base = (void *)hdr->body;
		arg->head[0].iov_len = hdr->body_len;
		break;
	case RPCRDMA2_ARG_SPLIT:
		at = call->chunks[0].position;
		arg->head[0].iov_base = (void *)hdr->body;
		arg->head[0].iov_len = at;
		arg->page_len = xdr_align_size(call->chunks[0].length);
		arg->tail[0].iov_base = (void *)hdr->body + at;
		arg->tail[0].iov_len = hdr->body_len - at;
		break;
	case RPCRDMA2_ARG_PAGES:
		arg->head[0].iov_base = page_address(pages[0]);
		arg->head[0].iov_len = min_t(u32, call->stream, PAGE_SIZE);
		arg->pages = pages + 1;
		arg->page_len = call->stream - arg->head[0].iov_len;
		break;
	}
	arg->len = arg->head[0].iov_len + arg->page_len +
		   arg->tail[0].iov_len;
	arg->buflen = arg->len;

	if (n) {
		stash_put(call->resp, call->pages, n);
		memset(call->pages, 0, n * sizeof(call->pages[0]));
		call->npages = 0;
	}
	return n;
}

/**
 * rpcrdma2_responder_wrs - send queue entries that one Reply may take
 * @caps: of the device
 * @bytes: largest message
 *
 * Enough for @bytes in one Write chunk and the Send. A Reply that needs
 * more, because its chunks are in many pieces, is posted in parts.
 *
 * Context: any.
 */
u32 rpcrdma2_responder_wrs(const struct rpcrdma2_device_caps *caps, u32 bytes)
{
	u32 pages = DIV_ROUND_UP(bytes, PAGE_SIZE) + 1;
	u32 sges = max(caps->max_send_sge, 1U);

	return clamp(DIV_ROUND_UP(pages, sges) + 3, 8U, 48U);
}

/**
 * rpcrdma2_responder_init - responder role for one connection
 * @resp: to be set up
 * @ops: the executor
 * @limits: what it takes; copied, values out of range are cut
 * @first: Calls to be ready for at once
 *
 * Context: may sleep.
 * Return: 0 or -ENOMEM; rpcrdma2_responder_destroy() cleans up after both.
 */
int rpcrdma2_responder_init(struct rpcrdma2_responder *resp,
			    const struct rpcrdma2_responder_ops *ops,
			    const struct rpcrdma2_limits *limits, u32 first)
{
	resp->ops = ops;
	resp->limits = *limits;
	resp->limits.read_chunks = clamp(limits->read_chunks, 1U,
					 RPCRDMA2_READ_CHUNKS_MAX);
	resp->limits.write_chunks = clamp(limits->write_chunks, 1U,
					  RPCRDMA2_WRITE_CHUNKS_MAX);
	resp->limits.segs = clamp(limits->segs, 1U, RPCRDMA2_SEGS_MAX);
	/* A Reply may have two pages more than a Call, and ragged ends */
	resp->max_pages = DIV_ROUND_UP(limits->bytes, PAGE_SIZE) + 3;

	spin_lock_init(&resp->lock);
	INIT_LIST_HEAD(&resp->calls);
	INIT_LIST_HEAD(&resp->rws);
	INIT_LIST_HEAD(&resp->starved);
	resp->ncalls = 0;
	resp->reading = 0;
	resp->batches = 0;
	resp->stashed = 0;
	resp->stash = kcalloc(resp->max_pages, sizeof(*resp->stash),
			      GFP_KERNEL);
	if (!resp->stash || !calls_provide(resp, first, GFP_KERNEL))
		return -ENOMEM;
	return 0;
}

/**
 * rpcrdma2_responder_destroy - free what a responder holds
 * @resp: its connection is closed, the executor released all its Calls
 *
 * Context: may sleep.
 */
void rpcrdma2_responder_destroy(struct rpcrdma2_responder *resp)
{
	struct rpcrdma2_call_ctx *call, *ctmp;
	struct rpcrdma2_rw *rw, *rtmp;

	list_for_each_entry_safe(call, ctmp, &resp->starved, list) {
		list_del_init(&call->list);
		rpcrdma2_call_release(call);
	}
	list_for_each_entry_safe(call, ctmp, &resp->calls, list) {
		list_del(&call->list);
		kfree(call);
	}
	list_for_each_entry_safe(rw, rtmp, &resp->rws, list) {
		list_del(&rw->list);
		rw_free(rw);
	}
	while (resp->stashed)
		put_page(resp->stash[--resp->stashed]);
	kfree(resp->stash);
	resp->stash = NULL;
}
