// SPDX-License-Identifier: GPL-2.0
/*
 * The requester role: RPC slots, the FIFO of Calls that wait for a credit,
 * the choice of chunks, building and posting of Calls, Replies and errors,
 * fencing of memory, cancelled RPCs.
 *
 * An RPC goes IDLE -> QUEUED -> SENDING -> POSTED -> REPLIED -> IDLE. From
 * sunrpc's view it is sent as soon as it is QUEUED; credits, send queue room
 * and MRs are waited for in the FIFO, by nobody's thread (design decision
 * 6). Whatever may have freed one of them runs requester_run().
 *
 * These hold at any time:
 *  R1 An RPC is completed only when every handle it exposed is invalid and
 *     its memory unmapped (RINV-12).
 *  R2 A credit is held from SENDING to the arrival of Reply or ERROR, or to
 *     the end of the connection, whatever becomes of the task (CRED-2).
 *  R3 In states SENDING and REPLIED the rqst is pinned: sunrpc does not
 *     take it away. In all others but IDLE, buf_free ends what goes on.
 *  R4 While rq->conn is set, slots in rq->outstanding may own MRs of its
 *     pool; rpcrdma2_requester_detach() leaves none.
 *
 * State is protected by xprt->queue_lock; see requester.h for the order of
 * locks. Nothing here sleeps but what says so. Sending is done by the
 * sender's thread (with the transport locked by sunrpc), by completions, and
 * by the MR pool's work.
 */
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/sunrpc/auth.h>
#include <linux/sunrpc/clnt.h>

#include "module.h"
#include "mr.h"
#include "requester.h"
#include <trace/events/rpcrdma2.h>

/* A fence that takes longer gives up the connection, which fences, too */
#define RPCRDMA2_FENCE_LIMIT	HZ

static void requester_run(struct rpcrdma2_requester *rq,
			  struct rpcrdma2_send *send);

/* Slots */

static struct rpcrdma2_req *slot_alloc(struct rpcrdma2_requester *rq,
				       gfp_t gfp)
{
	struct rpcrdma2_req *req = kzalloc(sizeof(*req), gfp);

	if (!req)
		return NULL;
	req->rq = rq;
	INIT_LIST_HEAD(&req->list);
	INIT_LIST_HEAD(&req->mrs);
	return req;
}

static void slot_free(struct rpcrdma2_req *req)
{
	u32 i;

	for (i = 0; i < req->nbounce; i++)
		__free_page(req->bounce[i]);
	kfree(req->sbuf);
	kfree(req->rbuf);
	kfree(req);
}

static void slot_add(struct rpcrdma2_requester *rq, struct rpcrdma2_req *req)
{
	lockdep_assert_held(&rq->xprt.reserve_lock);
	list_add(&req->all, &rq->all);
	rq->xprt.stat.max_slots = max_t(unsigned long, rq->xprt.stat.max_slots,
					rq->xprt.num_reqs);
}

/* A slot nobody uses: to a task that waits for one, or to the free list. */
static void slot_put(struct rpcrdma2_req *req)
{
	struct rpcrdma2_requester *rq = req->rq;
	struct rpc_xprt *xprt = &rq->xprt;

	spin_lock(&xprt->reserve_lock);
	if (!xprt_wake_up_backlog(xprt, &req->rqst)) {
		memset(&req->rqst, 0, sizeof(req->rqst));
		list_add(&req->list, &rq->free);
	}
	spin_unlock(&xprt->reserve_lock);
}

/**
 * rpcrdma2_requester_alloc_slot - give a task a slot
 * @xprt: the transport
 * @task: the task; sleeps on the backlog queue if all slots are in use
 *
 * rpc_xprt_ops.alloc_slot
 *
 * Context: process; may sleep for memory as the task allows.
 */
void rpcrdma2_requester_alloc_slot(struct rpc_xprt *xprt,
				   struct rpc_task *task)
{
	struct rpcrdma2_requester *rq = rpcrdma2_requester(xprt);
	struct rpcrdma2_req *req;

	spin_lock(&xprt->reserve_lock);
	req = list_first_entry_or_null(&rq->free, struct rpcrdma2_req, list);
	if (req) {
		list_del_init(&req->list);
		goto out_found;
	}
	if (xprt->num_reqs >= xprt->max_reqs) {
		task->tk_status = -EAGAIN;
		xprt_add_backlog(xprt, task);
		goto out_unlock;
	}
	xprt->num_reqs++;
	spin_unlock(&xprt->reserve_lock);
	req = slot_alloc(rq, rpc_task_gfp_mask());
	spin_lock(&xprt->reserve_lock);
	if (!req) {
		xprt->num_reqs--;
		task->tk_status = -ENOMEM;
		goto out_unlock;
	}
	slot_add(rq, req);
out_found:
	task->tk_rqstp = &req->rqst;
	task->tk_status = 0;
out_unlock:
	spin_unlock(&xprt->reserve_lock);
}

/**
 * rpcrdma2_requester_free_slot - take a slot back
 * @xprt: the transport
 * @rqst: the slot
 *
 * The slot of an RPC that was cancelled with its Reply due stays with the
 * transport until the Reply is here (RINV-18).
 *
 * rpc_xprt_ops.free_slot
 *
 * Context: process; does not sleep.
 */
void rpcrdma2_requester_free_slot(struct rpc_xprt *xprt,
				  struct rpc_rqst *rqst)
{
	struct rpcrdma2_req *req = rpcrdma2_req(rqst);
	bool keep;

	spin_lock(&xprt->queue_lock);
	keep = req->state != RPCRDMA2_REQ_IDLE;
	if (keep) {
		WARN_ON_ONCE(req->state != RPCRDMA2_REQ_ORPHAN);
		req->abandoned = true;
	}
	spin_unlock(&xprt->queue_lock);
	if (!keep)
		slot_put(req);
}

static bool buf_grow(void **buf, size_t *size, size_t need, gfp_t gfp)
{
	void *p;

	if (*size >= need)
		return true;
	need = kmalloc_size_roundup(need);
	p = kmalloc(need, gfp);
	if (!p)
		return false;
	kfree(*buf);
	*buf = p;
	*size = need;
	return true;
}

/**
 * rpcrdma2_requester_buf_alloc - buffers for encoding and decoding
 * @task: the task
 *
 * They stay with the slot, so that in steady state nothing is allocated.
 *
 * rpc_xprt_ops.buf_alloc
 *
 * Context: process; may sleep for memory as the task allows.
 * Return: 0 or -ENOMEM
 */
int rpcrdma2_requester_buf_alloc(struct rpc_task *task)
{
	struct rpc_rqst *rqst = task->tk_rqstp;
	struct rpcrdma2_req *req = rpcrdma2_req(rqst);
	gfp_t gfp = rpc_task_gfp_mask();

	if (!buf_grow(&req->sbuf, &req->sbuf_size, rqst->rq_callsize, gfp) ||
	    !buf_grow(&req->rbuf, &req->rbuf_size, rqst->rq_rcvsize, gfp))
		return -ENOMEM;
	rqst->rq_buffer = req->sbuf;
	rqst->rq_rbuffer = req->rbuf;
	return 0;
}

/**
 * rpcrdma2_requester_reserve - have slots with buffers before they are needed
 * @rq: the requester
 * @slots: slots wanted, cut to the transport's limit
 * @size: bytes of each of their two buffers
 *
 * Context: sleeps (GFP_KERNEL).
 * Return: 0 or -ENOMEM
 */
int rpcrdma2_requester_reserve(struct rpcrdma2_requester *rq,
			       unsigned int slots, size_t size)
{
	struct rpc_xprt *xprt = &rq->xprt;
	struct rpcrdma2_req *req;

	slots = min(slots, xprt->max_reqs);
	while (READ_ONCE(xprt->num_reqs) < slots) {
		req = slot_alloc(rq, GFP_KERNEL);
		if (!req)
			return -ENOMEM;
		if (!buf_grow(&req->sbuf, &req->sbuf_size, size, GFP_KERNEL) ||
		    !buf_grow(&req->rbuf, &req->rbuf_size, size, GFP_KERNEL)) {
			slot_free(req);
			return -ENOMEM;
		}
		spin_lock(&xprt->reserve_lock);
		xprt->num_reqs++;
		slot_add(rq, req);
		spin_unlock(&xprt->reserve_lock);
		slot_put(req);
	}
	return 0;
}

/* Ends of RPCs */

/* End the RPC with req->error, exactly once (ERR-34). sunrpc does not offer
 * a way to plant a status in a task that is not asleep yet; for such a task
 * rpcrdma2_requester_wait() does it.
 */
static void deliver_error(struct rpcrdma2_requester *rq,
			  struct rpcrdma2_req *req)
{
	struct rpc_task *task = req->rqst.rq_task;

	lockdep_assert_held(&rq->xprt.queue_lock);
	rq->xprt.stat.recvs++;
	if (!RPC_IS_QUEUED(task) || task->tk_waitqueue != &rq->xprt.pending)
		return;
	task->tk_status = req->error;
	rpc_wake_up_queued_task(&rq->xprt.pending, task);
}

/**
 * rpcrdma2_requester_wait - let a task wait for its Reply
 * @task: the task
 *
 * rpc_xprt_ops.wait_for_reply_request
 *
 * Context: called with queue_lock held.
 */
void rpcrdma2_requester_wait(struct rpc_task *task)
{
	struct rpcrdma2_req *req = rpcrdma2_req(task->tk_rqstp);

	if (req->error) {
		task->tk_status = req->error;
		return;
	}
	xprt_wait_for_reply_request_def(task);
}

static bool window_take(struct rpcrdma2_conn *conn)
{
	bool taken;

	spin_lock(&conn->credit_lock);
	taken = rpcrdma2_window_take(&conn->window);
	spin_unlock(&conn->credit_lock);
	return taken;
}

static void window_put(struct rpcrdma2_conn *conn)
{
	spin_lock(&conn->credit_lock);
	rpcrdma2_window_put(&conn->window);
	spin_unlock(&conn->credit_lock);
}

static void mrs_put(struct rpcrdma2_requester *rq, struct rpcrdma2_req *req)
{
	if (rq->pool)
		rpcrdma2_mr_put_all(rq->pool, &req->mrs);
}

/* May something be posted on the current connection? */
static bool usable(const struct rpcrdma2_requester *rq)
{
	lockdep_assert_held(&rq->xprt.queue_lock);
	return rq->conn && !rq->stopping && rpcrdma2_conn_ready(rq->conn);
}

static void busy_put(struct rpcrdma2_requester *rq)
{
	lockdep_assert_held(&rq->xprt.queue_lock);
	if (!--rq->busy && rq->stopping)
		wake_up_all(&rq->wq);
}

/* Choice of chunks */

static u32 pages_spanned(u32 offset, u32 len)
{
	return len ? DIV_ROUND_UP(offset + len, PAGE_SIZE) : 0;
}

static u32 vector_pages(const struct xdr_buf *buf)
{
	return pages_spanned(offset_in_page(buf->page_base), buf->page_len);
}

/* How to put a whole xdr_buf into one stretch of pages without gaps: whole
 * pages of its page vector directly, everything else through bounce pages.
 * Returns the number of pages, or -EMSGSIZE. *@next is the first bounce page
 * that is not in use yet.
 */
static int span_layout(struct rpcrdma2_span *span, const struct xdr_buf *buf,
		       u32 *next)
{
	u32 head = buf->head[0].iov_len, tail = buf->tail[0].iov_len;
	u32 base = offset_in_page(buf->page_base), len = buf->page_len;
	u32 front_pages, back_pages, direct_pages = 0;
	u32 first = 0, last = 0;

	if (head && base)
		first = min_t(u32, PAGE_SIZE - base, len);
	if (tail)
		last = min(offset_in_page(base + len), len - first);

	span->buf = buf;
	span->first = *next;
	span->front = head + first;
	span->direct = len - first - last;
	span->back = last + tail;
	span->front_off = 0;
	if (span->direct) {
		/* the front has to end where a page ends */
		span->front_off = offset_in_page(-span->front);
		direct_pages = pages_spanned(offset_in_page(base + first),
					     span->direct);
	} else {
		span->front += span->back;
		span->back = 0;
	}
	front_pages = pages_spanned(span->front_off, span->front);
	back_pages = pages_spanned(0, span->back);
	span->back_first = span->first + front_pages;
	*next = span->back_first + back_pages;
	if (*next > RPCRDMA2_BOUNCE_PAGES)
		return -EMSGSIZE;
	return front_pages + direct_pages + back_pages;
}

static bool ddp_allowed(const struct rpc_rqst *rqst)
{
	/* Nothing is reduced under GSS integrity or privacy (CHK-30) */
	return !test_bit(RPCAUTH_AUTH_DATATOUCH,
			 &rqst->rq_cred->cr_auth->au_flags);
}

/* Padding of the payload at the start of the tail. */
static u32 tail_pad(const struct xdr_buf *buf)
{
	return min_t(u32, xdr_pad_size(buf->page_len), buf->tail[0].iov_len);
}

/* Bytes of a Reply's header if these chunks are offered. It has the form of
 * a Call's header without a Read list.
 */
static u32 reply_header(const struct rpcrdma2_conn *conn,
			const struct rpcrdma2_chunk *write,
			const struct rpcrdma2_chunk *reply)
{
	struct rpcrdma2_call call = {
		.write	= write,
		.reply	= reply,
	};

	return conn->codec->call_len(&call);
}

/* Results: inline if the largest possible Reply fits, else the payload of a
 * READ in a Write chunk, else everything in a Reply chunk (LNG-3, LNG-4,
 * CHK-16, CHK-20).
 */
static int plan_results(const struct rpcrdma2_conn *conn,
			struct rpcrdma2_req *req, u32 depth, u32 *bounce)
{
	const struct rpc_rqst *rqst = &req->rqst;
	const struct xdr_buf *rcv = &rqst->rq_rcv_buf;
	struct rpcrdma2_plan *plan = &req->plan;
	int pages;

	plan->results = RPCRDMA2_RES_INLINE;
	plan->res_mrs = 0;
	req->results.nsegs = 0;
	if (reply_header(conn, NULL, NULL) + rcv->buflen <= conn->inline_recv)
		return 0;
	if (!depth)
		return -EMSGSIZE;

	if ((rcv->flags & XDRBUF_READ) && rcv->page_len && ddp_allowed(rqst)) {
		plan->res_mrs = DIV_ROUND_UP(vector_pages(rcv), depth);
		req->results.nsegs = plan->res_mrs;
		if (reply_header(conn, &req->results, NULL) +
		    rcv->head[0].iov_len + rcv->tail[0].iov_len <=
		    conn->inline_recv) {
			plan->results = RPCRDMA2_RES_WRITE;
			return 0;
		}
	}

	pages = span_layout(&req->res_span, rcv, bounce);
	if (pages < 0)
		return pages;
	plan->results = RPCRDMA2_RES_REPLY;
	plan->res_mrs = DIV_ROUND_UP(pages, depth);
	req->results.nsegs = plan->res_mrs;
	return 0;
}

static void call_header(const struct rpcrdma2_req *req,
			struct rpcrdma2_call *call)
{
	const struct rpcrdma2_plan *plan = &req->plan;

	memset(call, 0, sizeof(*call));
	if (plan->args == RPCRDMA2_ARGS_READ)
		call->read = &req->args;
	if (plan->args == RPCRDMA2_ARGS_PZ)
		call->pz = &req->args;
	if (plan->results == RPCRDMA2_RES_WRITE)
		call->write = &req->results;
	if (plan->results == RPCRDMA2_RES_REPLY)
		call->reply = &req->results;
	call->nomsg = plan->args == RPCRDMA2_ARGS_PZ;
}

/* Would the Call fit inline, planned as it is, with @body bytes behind its
 * header?
 */
static bool call_fits(const struct rpcrdma2_conn *conn,
		      const struct rpcrdma2_req *req, u32 body)
{
	struct rpcrdma2_call call;

	call_header(req, &call);
	return conn->codec->call_len(&call) + body <= conn->inline_send;
}

/* Arguments: inline if the Call fits, else the payload of a WRITE in a Read
 * chunk, else everything in a Position-Zero chunk (MSG-4, MSG-5, CHK-29).
 */
static int plan_args(const struct rpcrdma2_conn *conn,
		     struct rpcrdma2_req *req, u32 depth, u32 *bounce)
{
	const struct rpc_rqst *rqst = &req->rqst;
	const struct xdr_buf *snd = &rqst->rq_snd_buf;
	struct rpcrdma2_plan *plan = &req->plan;
	u32 rest;
	int pages;

	plan->args = RPCRDMA2_ARGS_INLINE;
	plan->arg_mrs = 0;
	req->args.nsegs = 0;
	if (call_fits(conn, req, snd->len))
		return 0;
	if (!depth)
		return -EMSGSIZE;

	if ((snd->flags & XDRBUF_WRITE) && snd->page_len &&
	    !(snd->head[0].iov_len & 3) && ddp_allowed(rqst)) {
		plan->args = RPCRDMA2_ARGS_READ;
		plan->arg_mrs = DIV_ROUND_UP(vector_pages(snd), depth);
		req->args.nsegs = plan->arg_mrs;
		rest = snd->head[0].iov_len + snd->tail[0].iov_len -
		       tail_pad(snd);
		if (call_fits(conn, req, rest))
			return 0;
	}

	pages = span_layout(&req->arg_span, snd, bounce);
	if (pages < 0)
		return pages;
	plan->args = RPCRDMA2_ARGS_PZ;
	plan->arg_mrs = DIV_ROUND_UP(pages, depth);
	req->args.nsegs = plan->arg_mrs;
	return call_fits(conn, req, 0) ? 0 : -EMSGSIZE;
}

static int make_plan(const struct rpcrdma2_conn *conn,
		     struct rpcrdma2_req *req)
{
	const struct rpcrdma2_mr_pool *pool = req->rq->pool;
	u32 depth = pool ? pool->depth : 0;
	u32 bounce = 0;
	int ret;

	ret = plan_results(conn, req, depth, &bounce);
	if (!ret)
		ret = plan_args(conn, req, depth, &bounce);
	if (!ret && max(req->plan.arg_mrs, req->plan.res_mrs) >
		    RPCRDMA2_MAX_SEGS)
		ret = -EMSGSIZE;
	return ret;
}

/* Building a Call */

static int bounce_alloc(struct rpcrdma2_req *req, u32 count)
{
	gfp_t gfp = GFP_NOWAIT | __GFP_NOWARN;

	while (req->nbounce < count) {
		struct page *page = alloc_page(gfp);

		if (!page)
			return -ENOMEM;
		req->bounce[req->nbounce++] = page;
	}
	return 0;
}

/* Copy between the bounce pages from @first on and bytes @pos and following
 * of the stream.
 */
static int bounce_copy(struct rpcrdma2_req *req, u32 first, u32 offset,
		       const struct xdr_buf *buf, u32 pos, u32 len, bool out)
{
	struct page **page = &req->bounce[first];
	int ret = 0;

	while (len && !ret) {
		u32 n = min_t(u32, PAGE_SIZE - offset, len);
		void *p = page_address(*page) + offset;

		ret = out ? write_bytes_to_xdr_buf(buf, pos, p, n) :
			    read_bytes_from_xdr_buf(buf, pos, p, n);
		pos += n;
		len -= n;
		offset = 0;
		page++;
	}
	return ret ? -EIO : 0;
}

static int span_copy_in(struct rpcrdma2_req *req,
			const struct rpcrdma2_span *span)
{
	int ret;

	ret = bounce_copy(req, span->first, span->front_off, span->buf, 0,
			  span->front, false);
	if (ret || !span->back)
		return ret;
	return bounce_copy(req, span->back_first, 0, span->buf,
			   span->front + span->direct, span->back, false);
}

/* The first @len bytes of the stream have arrived. */
static int span_copy_out(struct rpcrdma2_req *req,
			 const struct rpcrdma2_span *span, u32 len)
{
	u32 behind = span->front + span->direct;
	int ret;

	ret = bounce_copy(req, span->first, span->front_off, span->buf, 0,
			  min(len, span->front), true);
	if (ret || len <= behind)
		return ret;
	return bounce_copy(req, span->back_first, 0, span->buf, behind,
			   len - behind, true);
}

/* Register regions as one chunk. */
static int chunk_map(struct rpcrdma2_req *req, struct rpcrdma2_chunk *chunk,
		     struct rpcrdma2_region *r, unsigned int nregions,
		     enum dma_data_direction dir)
{
	struct rpcrdma2_mr_pool *pool = req->rq->pool;
	u32 xid = be32_to_cpu(req->rqst.rq_xid);
	struct rpcrdma2_mr *mr;
	int ret, bytes = 0;

	chunk->nsegs = 0;
	chunk->position = 0;
	for (;;) {
		while (nregions && !r->len) {
			r++;
			nregions--;
		}
		if (!nregions)
			return bytes;
		if (chunk->nsegs == RPCRDMA2_MAX_SEGS)
			return -EMSGSIZE;
		mr = rpcrdma2_mr_get(pool, req);
		if (!mr)
			return -EAGAIN;
		ret = rpcrdma2_mr_map(mr, r, nregions, dir, xid);
		if (ret < 0)
			return ret;
		trace_rpcrdma2_mr_map(req, mr);
		chunk->seg[chunk->nsegs++] = mr->seg;
		bytes += ret;
	}
}

static int chunk_map_vector(struct rpcrdma2_req *req,
			    struct rpcrdma2_chunk *chunk,
			    const struct xdr_buf *buf,
			    enum dma_data_direction dir)
{
	struct rpcrdma2_region region = {
		.pages	= buf->pages + (buf->page_base >> PAGE_SHIFT),
		.offset	= offset_in_page(buf->page_base),
		.len	= buf->page_len,
	};

	return chunk_map(req, chunk, &region, 1, dir);
}

static int chunk_map_span(struct rpcrdma2_req *req,
			  struct rpcrdma2_chunk *chunk,
			  const struct rpcrdma2_span *span,
			  enum dma_data_direction dir)
{
	const struct xdr_buf *buf = span->buf;
	u32 base = buf->page_base;
	struct rpcrdma2_region regions[3];
	u32 end;
	int ret;

	end = span->back_first + pages_spanned(0, span->back);
	ret = bounce_alloc(req, end);
	if (ret)
		return ret;
	/* Bytes of the vector that went to the front */
	base += span->direct ? span->front - buf->head[0].iov_len : 0;
	regions[0].pages = &req->bounce[span->first];
	regions[0].offset = span->front_off;
	regions[0].len = span->front;
	regions[1].pages = buf->pages + (base >> PAGE_SHIFT);
	regions[1].offset = offset_in_page(base);
	regions[1].len = span->direct;
	regions[2].pages = &req->bounce[span->back_first];
	regions[2].offset = 0;
	regions[2].len = span->back;
	if (dir == DMA_TO_DEVICE) {
		ret = span_copy_in(req, span);
		if (ret)
			return ret;
	}
	return chunk_map(req, chunk, regions, ARRAY_SIZE(regions), dir);
}

static int map_args(struct rpcrdma2_requester *rq, struct rpcrdma2_req *req)
{
	const struct xdr_buf *snd = &req->rqst.rq_snd_buf;
	int ret;

	switch (req->plan.args) {
	case RPCRDMA2_ARGS_READ:
		/* Without padding (LNG-11) */
		ret = chunk_map_vector(req, &req->args, snd, DMA_TO_DEVICE);
		if (ret < 0)
			return ret;
		req->args.position = snd->head[0].iov_len;
		rpcrdma2_stat_inc(rq->stats, read_chunks);
		rpcrdma2_stat_add(rq->stats, read_bytes, ret);
		return 0;
	case RPCRDMA2_ARGS_PZ:
		ret = chunk_map_span(req, &req->args, &req->arg_span,
				     DMA_TO_DEVICE);
		if (ret < 0)
			return ret;
		rpcrdma2_stat_inc(rq->stats, pz_chunks);
		rpcrdma2_stat_add(rq->stats, read_bytes, ret);
		return 0;
	default:
		return 0;
	}
}

static int map_results(struct rpcrdma2_requester *rq,
		       struct rpcrdma2_req *req)
{
	const struct xdr_buf *rcv = &req->rqst.rq_rcv_buf;
	int ret;

	switch (req->plan.results) {
	case RPCRDMA2_RES_WRITE:
		/* Exactly what was asked for, no room for padding (LNG-14) */
		ret = chunk_map_vector(req, &req->results, rcv,
				       DMA_FROM_DEVICE);
		if (ret < 0)
			return ret;
		rpcrdma2_stat_inc(rq->stats, write_chunks);
		break;
	case RPCRDMA2_RES_REPLY:
		ret = chunk_map_span(req, &req->results, &req->res_span,
				     DMA_FROM_DEVICE);
		if (ret < 0)
			return ret;
		rpcrdma2_stat_inc(rq->stats, reply_chunks);
		break;
	default:
		return 0;
	}
	atomic_long_add(ret, &rq->offered);
	return 0;
}

/* The handle whose remote invalidation saves most: that of the largest MR.
 * All MRs of an RPC are registered for it alone (RINV-1..4).
 */
static u32 pick_inv_handle(const struct rpcrdma2_conn *conn,
			   const struct rpcrdma2_req *req)
{
	const struct rpcrdma2_mr *mr;
	u32 handle = 0, most = 0;

	if (!conn->remote_inval)
		return 0;
	list_for_each_entry(mr, &req->mrs, list) {
		if (mr->seg.handle && mr->nents > most) {
			handle = mr->seg.handle;
			most = mr->nents;
		}
	}
	return handle;
}

/* Header and inline part of the Call into the send slot. Returns bytes. */
static int write_call(struct rpcrdma2_requester *rq,
		      struct rpcrdma2_conn *conn, struct rpcrdma2_req *req,
		      struct rpcrdma2_send *send)
{
	const struct xdr_buf *snd = &req->rqst.rq_snd_buf;
	u32 size = min(send->size, READ_ONCE(conn->inline_send));
	u32 head = snd->head[0].iov_len, pad, body = 0;
	struct rpcrdma2_call call;
	void *p;
	int hdr;

	call_header(req, &call);
	call.xid = be32_to_cpu(req->rqst.rq_xid);
	call.credit = rpcrdma2_conn_credit_ask(conn);
	call.inv_handle = pick_inv_handle(conn, req);
	hdr = conn->codec->encode_call(&call, send->buf, size);
	if (hdr < 0)
		return hdr;
	p = send->buf + hdr;

	switch (req->plan.args) {
	case RPCRDMA2_ARGS_INLINE:
		body = snd->len;
		if (hdr + body > size)
			return -EMSGSIZE;
		if (read_bytes_from_xdr_buf(snd, 0, p, body))
			return -EIO;
		rpcrdma2_stat_add(rq->stats, pullup_bytes, snd->page_len);
		break;
	case RPCRDMA2_ARGS_READ:
		/* The item after a reduced one follows directly (LNG-10) */
		pad = tail_pad(snd);
		body = head + snd->tail[0].iov_len - pad;
		if (hdr + body > size)
			return -EMSGSIZE;
		memcpy(p, snd->head[0].iov_base, head);
		memcpy(p + head, snd->tail[0].iov_base + pad, body - head);
		break;
	case RPCRDMA2_ARGS_PZ:
		break;
	}
	rpcrdma2_stat_add(rq->stats, inline_tx_bytes, hdr + body);
	return hdr + body;
}

/* Build the Call. Returns its length, -EAGAIN or -ENOMEM (later), or a
 * permanent error. The MRs of a failed attempt are in req->mrs.
 */
static int build_call(struct rpcrdma2_requester *rq,
		      struct rpcrdma2_conn *conn, struct rpcrdma2_req *req,
		      struct rpcrdma2_send *send)
{
	int ret;

	ret = map_args(rq, req);
	if (ret)
		return ret;
	ret = map_results(rq, req);
	if (ret)
		return ret;
	return write_call(rq, conn, req, send);
}

static void count_call(struct rpcrdma2_requester *rq,
		       const struct rpcrdma2_req *req)
{
	if (req->plan.args == RPCRDMA2_ARGS_PZ)
		rpcrdma2_stat_inc(rq->stats, tx_call_nomsg);
	else
		rpcrdma2_stat_inc(rq->stats, tx_call_msg);
}

static void send_done_nothing(struct rpcrdma2_send *send, int status)
{
}

/* Post the registrations and the Send. The slot is used up, and a failure
 * means that the connection is lost.
 */
static void post_call(struct rpcrdma2_requester *rq,
		      struct rpcrdma2_conn *conn, struct rpcrdma2_req *req,
		      struct rpcrdma2_send *send, u32 len)
{
	struct rpcrdma2_mr *mr;
	struct ib_send_wr *wr;
	u32 regs = 0;
	int ret;

	req->conn_id = conn->id;
	wr = rpcrdma2_send_prepare(send, len, 0);
	list_for_each_entry(mr, &req->mrs, list) {
		wr = rpcrdma2_mr_reg_wr(mr, wr);
		regs++;
	}
	rpcrdma2_stat_add(rq->stats, registrations, regs);
	/* The send queue is sized for ordinary Calls to retire in batches */
	if (send->nwrs > conn->p.call_wrs)
		send->done = send_done_nothing;
	count_call(rq, req);
	trace_rpcrdma2_call(conn, req, len);
	ret = rpcrdma2_send_post(send, wr);

	spin_lock(&rq->xprt.queue_lock);
	if (ret)
		trace_rpcrdma2_call_failed(req, ret);
	/* unless the Reply was faster */
	if (req->state == RPCRDMA2_REQ_SENDING)
		req->state = RPCRDMA2_REQ_POSTED;
	xprt_unpin_rqst(&req->rqst);
	busy_put(rq);
	spin_unlock(&rq->xprt.queue_lock);
}

/* Take the first Call of the FIFO and a credit for it. */
static struct rpcrdma2_req *fifo_take(struct rpcrdma2_requester *rq,
				      struct rpcrdma2_conn **pconn)
{
	struct rpc_xprt *xprt = &rq->xprt;
	struct rpcrdma2_conn *conn;
	struct rpcrdma2_req *req;

	spin_lock(&xprt->queue_lock);
	conn = rq->conn;
	if (!usable(rq) || rq->sq_wait || rq->mr_wait)
		goto out_none;
	for (;;) {
		req = list_first_entry_or_null(&rq->fifo, struct rpcrdma2_req,
					       list);
		if (!req)
			goto out_none;
		/* Being encoded again, or about to be cancelled? It will
		 * come back, or never.
		 */
		if (test_bit(RPC_TASK_NEED_RECV,
			     &req->rqst.rq_task->tk_runstate))
			break;
		list_del_init(&req->list);
		req->state = RPCRDMA2_REQ_IDLE;
	}
	if (!window_take(conn))
		goto out_none;
	list_move_tail(&req->list, &rq->outstanding);
	req->state = RPCRDMA2_REQ_SENDING;
	xprt_pin_rqst(&req->rqst);
	rq->busy++;
	spin_unlock(&xprt->queue_lock);
	*pconn = conn;
	return req;

out_none:
	spin_unlock(&xprt->queue_lock);
	return NULL;
}

/* The Call stays the first of the FIFO. One of the flags tells the others
 * not to try.
 */
static void fifo_return(struct rpcrdma2_requester *rq,
			struct rpcrdma2_conn *conn, struct rpcrdma2_req *req,
			bool *flag)
{
	mrs_put(rq, req);
	window_put(conn);
	spin_lock(&rq->xprt.queue_lock);
	list_move(&req->list, &rq->fifo);
	req->state = RPCRDMA2_REQ_QUEUED;
	*flag = true;
	xprt_unpin_rqst(&req->rqst);
	busy_put(rq);
	spin_unlock(&rq->xprt.queue_lock);
}

/* The Call cannot be sent, now or ever. */
static void fail_call(struct rpcrdma2_requester *rq,
		      struct rpcrdma2_conn *conn, struct rpcrdma2_req *req,
		      int err)
{
	trace_rpcrdma2_call_failed(req, err);
	atomic_long_inc(&rq->unbuildable);
	mrs_put(rq, req);
	window_put(conn);
	spin_lock(&rq->xprt.queue_lock);
	list_del_init(&req->list);
	req->state = RPCRDMA2_REQ_IDLE;
	req->error = -EIO;
	deliver_error(rq, req);
	xprt_unpin_rqst(&req->rqst);
	busy_put(rq);
	spin_unlock(&rq->xprt.queue_lock);
}

/* No room in the send queue: queue for it, with the Call back in the FIFO.
 * Returns true if there is room after all.
 */
static bool wait_for_room(struct rpcrdma2_requester *rq,
			  struct rpcrdma2_conn *conn,
			  struct rpcrdma2_req *req, u32 nwrs)
{
	struct rpcrdma2_send *send;

	spin_lock(&rq->xprt.queue_lock);
	rq->busy++;
	spin_unlock(&rq->xprt.queue_lock);
	fifo_return(rq, conn, req, &rq->sq_wait);
	send = rpcrdma2_send_get(conn, nwrs, &rq->sq_waiter, false);
	if (send)
		rpcrdma2_send_put(send);
	spin_lock(&rq->xprt.queue_lock);
	if (send)
		rq->sq_wait = false;
	busy_put(rq);
	spin_unlock(&rq->xprt.queue_lock);
	return send;
}

static void requester_room(struct rpcrdma2_sq_waiter *w,
			   struct rpcrdma2_send *send, int status)
{
	struct rpcrdma2_requester *rq =
		container_of(w, struct rpcrdma2_requester, sq_waiter);

	spin_lock(&rq->xprt.queue_lock);
	rq->sq_wait = false;
	rq->busy++;
	spin_unlock(&rq->xprt.queue_lock);
	if (!status)
		requester_run(rq, send);
	spin_lock(&rq->xprt.queue_lock);
	busy_put(rq);
	spin_unlock(&rq->xprt.queue_lock);
}

/* Wait for MRs or bounce pages. Those that are in use come back by
 * themselves, more are made in the background.
 */
static void wait_for_memory(struct rpcrdma2_requester *rq,
			    struct rpcrdma2_conn *conn,
			    struct rpcrdma2_req *req, int why)
{
	fifo_return(rq, conn, req, &rq->mr_wait);
	rpcrdma2_mr_pool_refill(rq->pool,
				why == -ENOMEM ? RPCRDMA2_MR_RETRY_MS : 0);
}

static void slot_drop(struct rpcrdma2_send **send)
{
	if (*send)
		rpcrdma2_send_put(*send);
	*send = NULL;
}

/* Send Calls of the FIFO as far as credits and resources go. @send is a slot
 * taken already by a caller who counts as busy, or NULL. A slot taken here
 * is never held without a Call, whose sender counts as busy.
 */
static void requester_run(struct rpcrdma2_requester *rq,
			  struct rpcrdma2_send *send)
{
	struct rpcrdma2_conn *conn;
	struct rpcrdma2_req *req;
	int ret;
	u32 nwrs;

	/* The look without the lock misses nothing: what opens the window or
	 * frees a resource does so under queue_lock or credit_lock, which the
	 * sender takes after it has queued its Call.
	 */
	while (!list_empty(&rq->fifo) && (req = fifo_take(rq, &conn))) {
		ret = make_plan(conn, req);
		if (ret) {
			fail_call(rq, conn, req, ret);
			continue;
		}
		nwrs = 1 + req->plan.arg_mrs + req->plan.res_mrs;
		if (send && send->nwrs < nwrs)
			slot_drop(&send);
		if (!send)
			send = rpcrdma2_send_get(conn, nwrs, NULL, false);
		if (!send) {
			if (!wait_for_room(rq, conn, req, nwrs))
				return;
			continue;
		}
		ret = build_call(rq, conn, req, send);
		if (ret > 0) {
			post_call(rq, conn, req, send, ret);
			send = NULL;
			continue;
		}
		slot_drop(&send);
		if (ret == -EAGAIN || ret == -ENOMEM) {
			wait_for_memory(rq, conn, req, ret);
			return;
		}
		fail_call(rq, conn, req, ret);
	}
	slot_drop(&send);
}

/* Sending */

/* NFSv3 GETACL and others leave it to the transport to provide pages. */
static int alloc_sparse_pages(struct xdr_buf *buf)
{
	gfp_t gfp = rpc_task_gfp_mask() | __GFP_NOWARN;
	struct page **page = buf->pages + (buf->page_base >> PAGE_SHIFT);
	u32 count = vector_pages(buf);

	for (; count; count--, page++) {
		if (!*page)
			*page = alloc_page(gfp);
		if (!*page)
			return -ENOBUFS;
	}
	return 0;
}

static void oneway_done(struct rpcrdma2_send *send, int status)
{
	rpcrdma2_conn_kill(send->conn, -ENOTCONN);
}

/* A Call without Reply: no chunks (MSG-12), and since its credit never
 * returns, the connection is replaced when it is out (CRED-16).
 */
static int send_oneway(struct rpcrdma2_requester *rq,
		       struct rpcrdma2_req *req)
{
	struct rpc_rqst *rqst = &req->rqst;
	struct rpcrdma2_send *send = NULL;
	struct rpcrdma2_conn *conn = NULL;
	int ret = -ENOBUFS;
	bool credit = false;

	spin_lock(&rq->xprt.queue_lock);
	if (usable(rq)) {
		conn = rq->conn;
		credit = window_take(conn);
		rq->busy++;
	}
	spin_unlock(&rq->xprt.queue_lock);
	if (!conn)
		return -ENOTCONN;

	memset(&req->plan, 0, sizeof(req->plan));
	if (credit)
		send = rpcrdma2_send_get(conn, 1, NULL, false);
	if (send) {
		ret = write_call(rq, conn, req, send);
		if (ret < 0)
			rpcrdma2_send_put(send);
	}
	if (ret >= 0) {
		send->done = oneway_done;
		rpcrdma2_send_prepare(send, ret, 0);
		rqst->rq_xtime = ktime_get();
		rqst->rq_xmit_bytes_sent += rqst->rq_snd_buf.len;
		count_call(rq, req);
		ret = rpcrdma2_send_post(send, NULL);
	} else if (credit) {
		window_put(conn);
	}

	spin_lock(&rq->xprt.queue_lock);
	busy_put(rq);
	spin_unlock(&rq->xprt.queue_lock);
	return ret;
}

/* May a Call that is outstanding already be left to its first instance?
 * After a minor timeout, yes: the connection is reliable and the peer just
 * slow; the timer has sent a probe (CRED-17). A GSS Call has a new sequence
 * number, so the Reply to the first instance would not be accepted.
 */
static bool resend_is_needless(const struct rpc_rqst *rqst)
{
	return rqst->rq_retries && !rqst->rq_seqno;
}

/**
 * rpcrdma2_requester_send - send a Call, or queue it to be sent
 * @rqst: an encoded Call
 *
 * rpc_xprt_ops.send_request, for everything but Replies of a backchannel.
 * In either case the Call is sent as far as sunrpc is concerned: it is not
 * transmitted a second time on this connection while the first instance is
 * unanswered (CRED-15).
 *
 * Context: process, transport locked by sunrpc. Does not sleep but for
 * sparse pages.
 * Return: 0; -ENOTCONN: send again on another connection; -ENOBUFS: later
 */
int rpcrdma2_requester_send(struct rpc_rqst *rqst)
{
	struct rpcrdma2_req *req = rpcrdma2_req(rqst);
	struct rpcrdma2_requester *rq = req->rq;
	struct rpc_xprt *xprt = &rq->xprt;
	struct rpcrdma2_conn *conn;
	bool replace = false;
	int ret;

	if (!rpc_reply_expected(rqst->rq_task))
		return send_oneway(rq, req);
	if (rqst->rq_rcv_buf.flags & XDRBUF_SPARSE_PAGES) {
		ret = alloc_sparse_pages(&rqst->rq_rcv_buf);
		if (ret)
			return ret;
	}

	ret = -ENOTCONN;
	spin_lock(&xprt->queue_lock);
	conn = rq->conn;
	if (!usable(rq))
		goto out_unlock;
	switch (req->state) {
	case RPCRDMA2_REQ_IDLE:
		req->error = 0;
		req->state = RPCRDMA2_REQ_QUEUED;
		list_add_tail(&req->list, &rq->fifo);
		rqst->rq_xtime = ktime_get();
		rqst->rq_xmit_bytes_sent += rqst->rq_snd_buf.len;
		trace_rpcrdma2_queued(req);
		ret = 0;
		break;
	case RPCRDMA2_REQ_QUEUED:
		ret = 0;
		break;
	case RPCRDMA2_REQ_POSTED:
		if (resend_is_needless(rqst))
			ret = 0;
		else
			replace = true;
		break;
	default:
		replace = true;
		break;
	}
out_unlock:
	if (replace)
		rpcrdma2_conn_get(conn);
	spin_unlock(&xprt->queue_lock);

	if (!ret) {
		requester_run(rq, NULL);
		if (READ_ONCE(req->state) == RPCRDMA2_REQ_QUEUED)
			rpcrdma2_stat_inc(rq->stats, window_waits);
	}
	if (replace) {
		rpcrdma2_conn_kill(conn, -ETIMEDOUT);
		rpcrdma2_conn_put(conn);
	}
	return ret;
}

/* Replies */

/* What a Reply says about the chunks of its Call */
struct reply_chunks {
	u32 written;	/* bytes in the Write chunk */
	u32 reply;	/* bytes in the Reply chunk */
};

/* Compare a returned chunk with the one offered (CHK-14, CHK-19). */
static bool chunk_returned(const struct rpcrdma2_chunk *mine,
			   struct rpcrdma2_cursor segs, u32 *bytes)
{
	struct rpcrdma2_segment seg;
	bool ended = false;
	u32 n;

	*bytes = 0;
	for (n = 0; rpcrdma2_segs_next(&segs, &seg); n++) {
		if (n == mine->nsegs || seg.handle != mine->seg[n].handle ||
		    seg.length > mine->seg[n].length)
			return false;
		/* One stretch of data, no holes (CHK-15) */
		if (ended && seg.length)
			return false;
		if (seg.length < mine->seg[n].length)
			ended = true;
		*bytes += seg.length;
	}
	return !n || n == mine->nsegs;
}

/* Does the Reply fit its Call? */
static bool reply_is_sane(const struct rpcrdma2_req *req,
			  const struct rpcrdma2_hdr *hdr,
			  struct reply_chunks *rc)
{
	static const struct rpcrdma2_chunk none;
	const struct rpcrdma2_chunk *write = &none, *reply = &none;
	struct rpcrdma2_cursor c, segs;

	if (req->plan.results == RPCRDMA2_RES_WRITE)
		write = &req->results;
	if (req->plan.results == RPCRDMA2_RES_REPLY)
		reply = &req->results;

	rc->written = 0;
	rc->reply = 0;
	if (hdr->read_segs)				/* CHK-13 */
		return false;
	if (hdr->write_chunks > (write == &none ? 0 : 1))
		return false;
	rpcrdma2_writes_begin(hdr, &c);
	if (rpcrdma2_writes_next(&c, &segs) &&
	    !chunk_returned(write, segs, &rc->written))
		return false;
	if (rpcrdma2_reply_chunk(hdr, &segs) &&
	    !chunk_returned(reply, segs, &rc->reply))
		return false;
	if (hdr->htype == RDMA2_NOMSG)
		return rc->reply;			/* MSG-8 */
	return !rc->reply && hdr->body_len >= 2 * XDR_UNIT; /* MSG-3 */
}

static struct rpcrdma2_req *
find_outstanding(struct rpcrdma2_requester *rq, __be32 xid)
{
	struct rpcrdma2_req *req;

	lockdep_assert_held(&rq->xprt.queue_lock);
	list_for_each_entry(req, &rq->outstanding, list)
		if (req->rqst.rq_xid == xid)
			return req;
	return NULL;
}

/* The RPC that a Reply or ERROR belongs to. *@wanted: sunrpc waits for it;
 * otherwise it was cancelled or is just being encoded again.
 */
static struct rpcrdma2_req *find_req(struct rpcrdma2_requester *rq, u32 xid,
				     bool *wanted)
{
	struct rpcrdma2_req *req;
	struct rpc_rqst *rqst;

	lockdep_assert_held(&rq->xprt.queue_lock);
	rqst = xprt_lookup_rqst(&rq->xprt, cpu_to_be32(xid));
	*wanted = rqst;
	req = rqst ? rpcrdma2_req(rqst) :
		     find_outstanding(rq, cpu_to_be32(xid));
	if (!req)
		return NULL;
	switch (req->state) {
	case RPCRDMA2_REQ_SENDING:
	case RPCRDMA2_REQ_POSTED:
	case RPCRDMA2_REQ_ORPHAN:
		return req;
	default:
		return NULL;
	}
}

static bool mark_invalid(struct rpcrdma2_req *req, u32 handle)
{
	struct rpcrdma2_mr *mr;

	list_for_each_entry(mr, &req->mrs, list) {
		if (mr->seg.handle != handle)
			continue;
		/* A local invalidation under way takes care of it */
		if (!req->fencing && mr->state == RPCRDMA2_MR_VALID)
			mr->state = RPCRDMA2_MR_INVALID;
		return true;
	}
	return false;
}

/* The device has invalidated a handle on the peer's behalf (RINV-11). Is it
 * one that the peer may name here: of the RPC answered, or of a cancelled
 * one? Any other means that an RPC has lost its memory (RINV-14).
 */
static bool take_invalidated(struct rpcrdma2_requester *rq,
			     struct rpcrdma2_req *req,
			     const struct rpcrdma2_recv *rx)
{
	struct rpcrdma2_req *other;

	lockdep_assert_held(&rq->xprt.queue_lock);
	if (!rx->invalidated)
		return true;
	if (req && mark_invalid(req, rx->inv_handle)) {
		rpcrdma2_stat_inc(rq->stats, remote_invalidations);
		return true;
	}
	list_for_each_entry(other, &rq->outstanding, list)
		if ((other->state == RPCRDMA2_REQ_ORPHAN ||
		     other->state == RPCRDMA2_REQ_ANSWERED) &&
		    mark_invalid(other, rx->inv_handle))
			return true;
	rpcrdma2_stat_inc(rq->stats, bad_inv_handle);
	return false;
}

/* The CPU has written to, or owns, memory that is still mapped for the
 * peer's Writes, of which there were none.
 */
static void keep_cpu_data(struct rpcrdma2_req *req)
{
	struct rpcrdma2_mr *mr;

	list_for_each_entry(mr, &req->mrs, list)
		if (mr->dir == DMA_FROM_DEVICE)
			mr->skip_sync = true;
}

/* The whole RPC message is inline: as from a socket, head first, then pages,
 * then tail. What is too long is cut off; decoding will tell.
 */
static void copy_inline(struct rpcrdma2_requester *rq,
			struct rpcrdma2_req *req,
			const struct rpcrdma2_hdr *hdr)
{
	struct xdr_buf *rcv = &req->rqst.rq_rcv_buf;
	u32 room = rcv->head[0].iov_len + rcv->page_len +
		   rcv->tail[0].iov_len;
	u32 len = round_down(min(hdr->body_len, room), XDR_UNIT);

	keep_cpu_data(req);
	write_bytes_to_xdr_buf(rcv, 0, (void *)hdr->body, len);
	if (len > rcv->head[0].iov_len)
		rpcrdma2_stat_add(rq->stats, copied_bytes,
				  len - rcv->head[0].iov_len);
	req->copied = len;
}

/* The payload is in the pages already. The inline part has what comes
 * before it, which is at most as long as the head, and what comes after it.
 * The padding between is not transferred, but counts (2.5a of the notes:
 * rpc_decode_header() wants a multiple of four).
 */
static void copy_around_payload(struct rpcrdma2_req *req,
				const struct rpcrdma2_hdr *hdr, u32 written)
{
	struct xdr_buf *rcv = &req->rqst.rq_rcv_buf;
	struct kvec *head = &rcv->head[0], *tail = &rcv->tail[0];
	u32 before = min_t(u32, hdr->body_len, head->iov_len);
	u32 after = hdr->body_len - before;
	u32 pad = xdr_pad_size(written);

	memcpy(head->iov_base, hdr->body, before);
	rcv->buflen -= head->iov_len - before;
	head->iov_len = before;
	if (after) {
		/* The tail begins where the payload really ends */
		rcv->buflen -= rcv->page_len - written;
		rcv->page_len = written;
		after = pad > tail->iov_len ? 0 :
			min_t(u32, after, tail->iov_len - pad);
		memset(tail->iov_base, 0, min_t(u32, pad, tail->iov_len));
		memcpy(tail->iov_base + pad, hdr->body + before, after);
	}
	req->copied = round_down(before + written + pad + after, XDR_UNIT);
}

static void take_reply(struct rpcrdma2_requester *rq,
		       struct rpcrdma2_req *req,
		       const struct rpcrdma2_hdr *hdr,
		       const struct reply_chunks *rc)
{
	req->nomsg = hdr->htype == RDMA2_NOMSG;
	if (req->nomsg) {
		/* In place, or to be copied from the bounce pages */
		rpcrdma2_stat_add(rq->stats, reply_chunk_bytes, rc->reply);
		req->copied = rc->reply;
	} else if (rc->written) {
		rpcrdma2_stat_add(rq->stats, write_bytes, rc->written);
		copy_around_payload(req, hdr, rc->written);
	} else {
		copy_inline(rq, req, hdr);
	}
}

/* The RPC is fenced: complete it. The slot is sunrpc's afterwards. */
static void finish(struct rpcrdma2_requester *rq, struct rpcrdma2_req *req)
{
	struct rpc_rqst *rqst = &req->rqst;

	mrs_put(rq, req);
	if (req->nomsg && !req->error &&
	    span_copy_out(req, &req->res_span, req->copied))
		req->error = -EIO;

	spin_lock(&rq->xprt.queue_lock);
	trace_rpcrdma2_completed(req);
	list_del_init(&req->list);
	req->state = RPCRDMA2_REQ_IDLE;
	req->fencing = false;
	rq->mr_wait = false;
	if (req->error) {
		deliver_error(rq, req);
	} else {
		rq->replies++;
		/* call_decode() wants them identical */
		memcpy(&rqst->rq_private_buf, &rqst->rq_rcv_buf,
		       sizeof(rqst->rq_private_buf));
		xprt_complete_rqst(rqst->rq_task, req->copied);
	}
	xprt_unpin_rqst(rqst);
	spin_unlock(&rq->xprt.queue_lock);
}

/* Fencing */

static u32 count_valid(const struct rpcrdma2_req *req)
{
	const struct rpcrdma2_mr *mr;
	u32 n = 0;

	list_for_each_entry(mr, &req->mrs, list)
		if (mr->state == RPCRDMA2_MR_VALID)
			n++;
	return n;
}

/* The transport is done with a cancelled RPC. Returns true if the slot is
 * to be put.
 */
static bool release_orphan(struct rpcrdma2_requester *rq,
			   struct rpcrdma2_req *req)
{
	bool abandoned = req->abandoned;

	lockdep_assert_held(&rq->xprt.queue_lock);
	mrs_put(rq, req);
	list_del_init(&req->list);
	req->state = RPCRDMA2_REQ_IDLE;
	req->abandoned = false;
	rq->mr_wait = false;
	return abandoned;
}

static void fence_complete(struct rpcrdma2_req *req)
{
	struct rpcrdma2_requester *rq = req->rq;
	struct rpcrdma2_mr *mr;

	list_for_each_entry(mr, &req->mrs, list)
		if (mr->state == RPCRDMA2_MR_VALID)
			mr->state = RPCRDMA2_MR_INVALID;

	spin_lock(&rq->xprt.queue_lock);
	if (req->state == RPCRDMA2_REQ_REPLIED) {
		spin_unlock(&rq->xprt.queue_lock);
		finish(rq, req);
		requester_run(rq, NULL);
		return;
	}
	/* Cancelled: its owner waits, and will reuse the memory. The MRs
	 * themselves stay here until the Reply.
	 */
	list_for_each_entry(mr, &req->mrs, list)
		rpcrdma2_mr_unmap(mr);
	req->fencing = false;
	wake_up_all(&rq->wq);
	spin_unlock(&rq->xprt.queue_lock);
}

/* The connection is lost; only its end fences (RINV-15). sunrpc will send
 * the RPC again.
 */
static void fence_failed(struct rpcrdma2_req *req)
{
	struct rpcrdma2_requester *rq = req->rq;

	spin_lock(&rq->xprt.queue_lock);
	if (req->state == RPCRDMA2_REQ_REPLIED) {
		req->state = RPCRDMA2_REQ_ANSWERED;
		xprt_unpin_rqst(&req->rqst);
	}
	spin_unlock(&rq->xprt.queue_lock);
}

/* The last local invalidation of an RPC completed, so all are done. */
static void fence_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct rpcrdma2_mr *mr = container_of(wc->wr_cqe, struct rpcrdma2_mr,
					      inv_cqe);
	struct rpcrdma2_conn *conn = cq->cq_context;
	struct rpcrdma2_req *req = mr->req;
	u32 ninv = req->ninv;

	if (likely(wc->status == IB_WC_SUCCESS)) {
		fence_complete(req);
	} else {
		trace_rpcrdma2_wc_error(conn, "inv", wc->status,
					wc->vendor_err);
		rpcrdma2_conn_kill(conn, -ENOTCONN);
		fence_failed(req);
	}
	rpcrdma2_sq_put(conn, ninv);
}

static void fence_post(struct rpcrdma2_req *req, struct rpcrdma2_conn *conn)
{
	u32 ninv = req->ninv;
	struct ib_send_wr *wr = NULL;
	struct rpcrdma2_mr *mr;

	/* From the last one to the first */
	list_for_each_entry(mr, &req->mrs, list)
		if (mr->state == RPCRDMA2_MR_VALID)
			wr = rpcrdma2_mr_inv_wr(mr, wr,
						wr ? NULL : fence_done);
	rpcrdma2_stat_add(req->rq->stats, local_invalidations, ninv);
	trace_rpcrdma2_fence(req);
	if (!rpcrdma2_sq_post(conn, wr))
		return;
	fence_failed(req);
	rpcrdma2_sq_put(conn, ninv);
}

static void fence_room(struct rpcrdma2_sq_waiter *w,
		       struct rpcrdma2_send *send, int status)
{
	struct rpcrdma2_req *req = container_of(w, struct rpcrdma2_req,
						inv_waiter);

	if (status)
		fence_failed(req);
	else
		fence_post(req, READ_ONCE(req->rq->conn));
}

/* Invalidate what is still valid. Ends in fence_complete() or
 * fence_failed(). The caller has set req->fencing.
 */
static void fence(struct rpcrdma2_req *req, struct rpcrdma2_conn *conn)
{
	req->inv_waiter.ready = fence_room;
	queue_delayed_work(rpcrdma2_wq, &req->rq->watchdog,
			   RPCRDMA2_FENCE_LIMIT + 1);
	if (rpcrdma2_sq_get(conn, req->ninv, &req->inv_waiter))
		fence_post(req, conn);
}

static void requester_watchdog(struct work_struct *work)
{
	struct rpcrdma2_requester *rq = container_of(to_delayed_work(work),
						     struct rpcrdma2_requester,
						     watchdog);
	struct rpcrdma2_conn *late = NULL;
	struct rpcrdma2_req *req;
	bool any = false;

	spin_lock(&rq->xprt.queue_lock);
	list_for_each_entry(req, &rq->outstanding, list) {
		if (!req->fencing || !rq->conn)
			continue;
		any = true;
		if (time_before(jiffies, req->fence_start +
					 RPCRDMA2_FENCE_LIMIT))
			continue;
		late = rpcrdma2_conn_get(rq->conn);
		break;
	}
	spin_unlock(&rq->xprt.queue_lock);
	if (late) {
		rpcrdma2_conn_kill(late, -ETIMEDOUT);
		rpcrdma2_conn_put(late);
	} else if (any) {
		queue_delayed_work(rpcrdma2_wq, &rq->watchdog,
				   RPCRDMA2_FENCE_LIMIT / 2);
	}
}

/* A Reply or ERROR of an RPC is here: its credit is free; decide who fences
 * and ends it. Returns true if the caller does.
 */
static bool answer(struct rpcrdma2_requester *rq, struct rpcrdma2_conn *conn,
		   struct rpcrdma2_req *req, bool wanted, bool *put)
{
	lockdep_assert_held(&rq->xprt.queue_lock);
	window_put(conn);
	*put = false;
	if (req->state == RPCRDMA2_REQ_ORPHAN) {
		trace_rpcrdma2_orphan_answered(req);
		if (req->fencing)
			req->state = RPCRDMA2_REQ_ANSWERED;
		else
			*put = release_orphan(rq, req);
		return false;
	}
	if (!wanted) {
		req->state = RPCRDMA2_REQ_ANSWERED;
		return false;
	}
	req->state = RPCRDMA2_REQ_REPLIED;
	xprt_pin_rqst(&req->rqst);
	req->ninv = count_valid(req);
	req->fencing = req->ninv;
	req->fence_start = jiffies;
	return true;
}

static void end_rpc(struct rpcrdma2_requester *rq, struct rpcrdma2_conn *conn,
		    struct rpcrdma2_req *req)
{
	if (req->ninv)
		fence(req, conn);
	else
		finish(rq, req);
}

static void dropped(struct rpcrdma2_requester *rq, struct rpcrdma2_conn *conn,
		    const struct rpcrdma2_recv *rx)
{
	rpcrdma2_stat_inc(rq->stats, rx_dropped);
	trace_rpcrdma2_recv_dropped(conn, &rx->hdr, rx->len);
}

/**
 * rpcrdma2_requester_reply - a Reply arrived
 * @rq: the requester
 * @conn: its connection
 * @rx: well-formed MSG or NOMSG with RESPONSE set; not kept
 *
 * Context: CQ work item of @conn.
 */
void rpcrdma2_requester_reply(struct rpcrdma2_requester *rq,
			      struct rpcrdma2_conn *conn,
			      struct rpcrdma2_recv *rx)
{
	const struct rpcrdma2_hdr *hdr = &rx->hdr;
	bool wanted, sane = false, end = false, put = false, fair;
	struct reply_chunks rc = { };
	struct rpcrdma2_req *req;

	spin_lock(&rq->xprt.queue_lock);
	req = find_req(rq, hdr->xid, &wanted);
	fair = take_invalidated(rq, req, rx);
	if (req && fair) {
		sane = req->state == RPCRDMA2_REQ_ORPHAN ||
		       reply_is_sane(req, hdr, &rc);
		if (sane)
			end = answer(rq, conn, req, wanted, &put);
	}
	spin_unlock(&rq->xprt.queue_lock);

	if (!fair) {
		rpcrdma2_conn_kill(conn, -EPROTO);
		return;
	}
	/* A grant is valid in any Reply (CRED-14) */
	if (hdr->credit != READ_ONCE(conn->window.granted))
		rpcrdma2_conn_granted(conn, hdr->credit);
	if (end) {
		take_reply(rq, req, hdr, &rc);
		trace_rpcrdma2_reply(conn, req, hdr);
		end_rpc(rq, conn, req);
	} else if (put) {
		slot_put(req);
	} else if (!req) {
		rpcrdma2_stat_inc(rq->stats, rx_bad_xid);
		dropped(rq, conn, rx);
	} else if (!sane) {
		atomic_long_inc(&rq->bad_replies);
		dropped(rq, conn, rx);
	}
	requester_run(rq, NULL);
}

/**
 * rpcrdma2_requester_error - an RDMA2_ERROR arrived
 * @rq: the requester
 * @conn: its connection
 * @rx: well-formed ERROR, not about a control message; not kept
 *
 * Whatever the code, the RPC ends with -EIO, after its memory is fenced
 * (ERR-8, ERR-10, ERR-16, ERR-27, ERR-29, ERR-32). The codes that ask for
 * another form of the Call are treated alike, since this requester already
 * stays within what every responder must take (CHK-27). The credit field
 * means nothing (ERR-3).
 *
 * Context: CQ work item of @conn.
 */
void rpcrdma2_requester_error(struct rpcrdma2_requester *rq,
			      struct rpcrdma2_conn *conn,
			      struct rpcrdma2_recv *rx)
{
	const struct rpcrdma2_hdr *hdr = &rx->hdr;
	bool wanted, end = false, put = false, fair;
	struct rpcrdma2_req *req;

	spin_lock(&rq->xprt.queue_lock);
	req = find_req(rq, hdr->xid, &wanted);
	fair = take_invalidated(rq, req, rx);
	if (req && fair)
		end = answer(rq, conn, req, wanted, &put);
	if (end)
		req->error = -EIO;
	spin_unlock(&rq->xprt.queue_lock);

	if (!fair) {
		rpcrdma2_conn_kill(conn, -EPROTO);
		return;
	}
	if (end) {
		req->nomsg = false;
		trace_rpcrdma2_call_error(conn, req, hdr);
		end_rpc(rq, conn, req);
	} else if (put) {
		slot_put(req);
	} else if (!req) {
		rpcrdma2_stat_inc(rq->stats, rx_bad_xid);
		dropped(rq, conn, rx);
	}
	requester_run(rq, NULL);
}

/**
 * rpcrdma2_requester_window - the window may have been opened
 * @rq: the requester
 *
 * Context: process; does not sleep.
 */
void rpcrdma2_requester_window(struct rpcrdma2_requester *rq)
{
	requester_run(rq, NULL);
}

/**
 * rpcrdma2_requester_mrs_ready - there are MRs again
 * @rq: the requester
 *
 * Context: process; does not sleep.
 */
void rpcrdma2_requester_mrs_ready(struct rpcrdma2_requester *rq)
{
	spin_lock(&rq->xprt.queue_lock);
	rq->mr_wait = false;
	spin_unlock(&rq->xprt.queue_lock);
	requester_run(rq, NULL);
}

/**
 * rpcrdma2_requester_want_mrs - have so many MRs soon
 * @rq: the requester
 * @count: how many; cut to the limit of the pool
 *
 * Context: process; does not sleep.
 */
void rpcrdma2_requester_want_mrs(struct rpcrdma2_requester *rq, u32 count)
{
	spin_lock(&rq->xprt.queue_lock);
	if (usable(rq) && rq->pool) {
		WRITE_ONCE(rq->pool->min, count);
		rpcrdma2_mr_pool_refill(rq->pool, 0);
	}
	spin_unlock(&rq->xprt.queue_lock);
}

/* Cancelling */

/* Wait until the memory is out of the peer's reach: soon by invalidation,
 * or by the end of the connection, which detaching announces.
 */
static void wait_for_fence(struct rpcrdma2_requester *rq,
			   struct rpcrdma2_req *req,
			   struct rpcrdma2_conn *conn)
{
	if (wait_event_timeout(rq->wq, !READ_ONCE(req->fencing),
			       RPCRDMA2_FENCE_LIMIT))
		return;
	if (conn)
		rpcrdma2_conn_kill(conn, -ETIMEDOUT);
	wait_event(rq->wq, !READ_ONCE(req->fencing));
}

/**
 * rpcrdma2_requester_buf_free - sunrpc is done with an RPC's buffers
 * @task: the task
 *
 * The end of an ordinary RPC finds nothing to do. An RPC that is cancelled
 * with its Reply due is fenced here, before its memory is used for something
 * else, and becomes an orphan (RINV-18).
 *
 * rpc_xprt_ops.buf_free
 *
 * Context: process; may sleep to fence: as a rule well below a second, at
 * worst until the connection is closed.
 */
void rpcrdma2_requester_buf_free(struct rpc_task *task)
{
	struct rpcrdma2_req *req = rpcrdma2_req(task->tk_rqstp);
	struct rpcrdma2_requester *rq = req->rq;
	struct rpcrdma2_conn *conn = NULL;
	bool post = false;

	spin_lock(&rq->xprt.queue_lock);
	switch (req->state) {
	case RPCRDMA2_REQ_IDLE:
		goto out_unlock;
	case RPCRDMA2_REQ_QUEUED:
		list_del_init(&req->list);
		req->state = RPCRDMA2_REQ_IDLE;
		goto out_unlock;
	case RPCRDMA2_REQ_POSTED:
		rpcrdma2_stat_inc(rq->stats, orphans);
		req->state = RPCRDMA2_REQ_ORPHAN;
		break;
	case RPCRDMA2_REQ_ANSWERED:
		break;
	default:
		WARN_ON_ONCE(1);
		goto out_unlock;
	}
	trace_rpcrdma2_cancelled(req);

	if (!req->fencing) {
		req->ninv = count_valid(req);
		req->fencing = req->ninv;
		req->fence_start = jiffies;
		post = req->ninv && rq->conn && !rq->stopping;
	}
	if (req->fencing) {
		if (rq->conn)
			conn = rpcrdma2_conn_get(rq->conn);
		if (post)
			rq->busy++;
		spin_unlock(&rq->xprt.queue_lock);

		if (post) {
			fence(req, conn);
			spin_lock(&rq->xprt.queue_lock);
			busy_put(rq);
			spin_unlock(&rq->xprt.queue_lock);
		}
		wait_for_fence(rq, req, conn);
		if (conn)
			rpcrdma2_conn_put(conn);
		spin_lock(&rq->xprt.queue_lock);
	} else {
		/* What was invalidated remotely is still mapped */
		struct rpcrdma2_mr *mr;

		list_for_each_entry(mr, &req->mrs, list)
			rpcrdma2_mr_unmap(mr);
	}
	if (req->state == RPCRDMA2_REQ_ANSWERED)
		release_orphan(rq, req);
out_unlock:
	spin_unlock(&rq->xprt.queue_lock);
}

/* Life of a requester */

/**
 * rpcrdma2_requester_init - set up a requester
 * @rq: zeroed memory from xprt_alloc(), which has set the limits of the slot
 *	table
 * @stats: counters to use
 * @pool: MR pool to use; NULL: this requester never registers memory
 * @min_slots: slots to make now
 *
 * Context: sleeps.
 * Return: 0 or -ENOMEM; rpcrdma2_requester_destroy() cleans up after both.
 */
int rpcrdma2_requester_init(struct rpcrdma2_requester *rq,
			    struct rpcrdma2_stats *stats,
			    struct rpcrdma2_mr_pool *pool,
			    unsigned int min_slots)
{
	BUILD_BUG_ON(offsetof(struct rpcrdma2_requester, xprt));
	rq->stats = stats;
	rq->pool = pool;
	INIT_LIST_HEAD(&rq->free);
	INIT_LIST_HEAD(&rq->all);
	INIT_LIST_HEAD(&rq->fifo);
	INIT_LIST_HEAD(&rq->outstanding);
	rq->sq_waiter.ready = requester_room;
	init_waitqueue_head(&rq->wq);
	INIT_DELAYED_WORK(&rq->watchdog, requester_watchdog);
	if (pool)
		rpcrdma2_mr_pool_init(pool, rq);
	return rpcrdma2_requester_reserve(rq, min_slots, 0);
}

/**
 * rpcrdma2_requester_destroy - free the slots
 * @rq: the requester, detached, without tasks
 *
 * Context: sleeps.
 */
void rpcrdma2_requester_destroy(struct rpcrdma2_requester *rq)
{
	struct rpcrdma2_req *req, *tmp;

	cancel_delayed_work_sync(&rq->watchdog);
	list_for_each_entry_safe(req, tmp, &rq->all, all) {
		WARN_ON_ONCE(req->state != RPCRDMA2_REQ_IDLE);
		slot_free(req);
	}
	INIT_LIST_HEAD(&rq->all);
	INIT_LIST_HEAD(&rq->free);
}

/**
 * rpcrdma2_requester_attach - from now on use a connection
 * @rq: a requester without connection
 * @conn: connection in state READY or lost again; not freed before
 *	rpcrdma2_requester_detach()
 *
 * Context: process; does not sleep.
 */
void rpcrdma2_requester_attach(struct rpcrdma2_requester *rq,
			       struct rpcrdma2_conn *conn)
{
	spin_lock(&rq->xprt.queue_lock);
	WARN_ON_ONCE(rq->conn || !list_empty(&rq->outstanding));
	rq->replies = 0;
	rq->stopping = false;
	WRITE_ONCE(rq->conn, conn);
	spin_unlock(&rq->xprt.queue_lock);
}

/**
 * rpcrdma2_requester_stop - the connection is about to be closed
 * @rq: the requester
 *
 * Nothing is posted any more, and nobody but completions uses the
 * connection afterwards. Must come before rpcrdma2_conn_close().
 *
 * Context: sleeps. May be called more than once.
 */
void rpcrdma2_requester_stop(struct rpcrdma2_requester *rq)
{
	spin_lock(&rq->xprt.queue_lock);
	rq->stopping = true;
	spin_unlock(&rq->xprt.queue_lock);
	wait_event(rq->wq, !READ_ONCE(rq->busy));
	if (rq->pool)
		rpcrdma2_mr_pool_stop(rq->pool);
	cancel_delayed_work_sync(&rq->watchdog);
}

/**
 * rpcrdma2_requester_detach - the connection is closed
 * @rq: the requester
 *
 * Between rpcrdma2_conn_close() and rpcrdma2_conn_free(). No memory is
 * reachable any more: everything that belonged to the connection is undone;
 * orphans and their slots become free. sunrpc will send the RPCs again that
 * wait for Replies (REC-2).
 *
 * Context: sleeps. Nobody attaches at the same time.
 */
void rpcrdma2_requester_detach(struct rpcrdma2_requester *rq)
{
	struct rpcrdma2_req *req, *tmp;
	LIST_HEAD(abandoned);

	/* Completions may have asked for more MRs or for the watchdog */
	rpcrdma2_requester_stop(rq);

	spin_lock(&rq->xprt.queue_lock);
	WRITE_ONCE(rq->conn, NULL);
	rq->sq_wait = false;
	rq->mr_wait = false;
	list_for_each_entry_safe(req, tmp, &rq->fifo, list) {
		list_del_init(&req->list);
		req->state = RPCRDMA2_REQ_IDLE;
	}
	list_for_each_entry_safe(req, tmp, &rq->outstanding, list) {
		struct rpcrdma2_mr *mr;

		/* The pool frees them, and has them in its own list */
		list_for_each_entry(mr, &req->mrs, list)
			rpcrdma2_mr_unmap(mr);
		INIT_LIST_HEAD(&req->mrs);
		WARN_ON_ONCE(req->state == RPCRDMA2_REQ_SENDING ||
			     req->state == RPCRDMA2_REQ_REPLIED);
		req->state = RPCRDMA2_REQ_IDLE;
		req->fencing = false;
		list_del_init(&req->list);
		if (req->abandoned) {
			req->abandoned = false;
			list_add(&req->list, &abandoned);
		}
	}
	wake_up_all(&rq->wq);
	spin_unlock(&rq->xprt.queue_lock);

	if (rq->pool)
		rpcrdma2_mr_pool_close(rq->pool);
	list_for_each_entry_safe(req, tmp, &abandoned, list) {
		list_del_init(&req->list);
		slot_put(req);
	}
}

/**
 * rpcrdma2_requester_conn_get - the connection, for a moment
 * @rq: the requester
 *
 * Context: process; does not sleep.
 * Return: a reference to the connection's object, or NULL.
 */
struct rpcrdma2_conn *
rpcrdma2_requester_conn_get(struct rpcrdma2_requester *rq)
{
	struct rpcrdma2_conn *conn = NULL;

	spin_lock(&rq->xprt.queue_lock);
	if (rq->conn)
		conn = rpcrdma2_conn_get(rq->conn);
	spin_unlock(&rq->xprt.queue_lock);
	return conn;
}
