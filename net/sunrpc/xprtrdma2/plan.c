// SPDX-License-Identifier: GPL-2.0
/*
 * The choice of chunks for a Call: inline, reduced, or as a whole in a
 * chunk. Nothing is allocated, mapped or posted; the outcome is in
 * req->plan, in the numbers of segments, and in the layout of the spans.
 *
 * Runs where Calls are sent, on an RPC in state SENDING. Never sleeps, takes
 * no locks.
 */
#include <linux/sunrpc/auth.h>
#include <linux/sunrpc/clnt.h>

#include "mr.h"
#include "requester_impl.h"

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
		base = offset_in_page(base + first);
		direct_pages = rpcrdma2_pages_spanned(base, span->direct);
	} else {
		span->front += span->back;
		span->back = 0;
	}
	front_pages = rpcrdma2_pages_spanned(span->front_off, span->front);
	back_pages = rpcrdma2_pages_spanned(0, span->back);
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
	u32 limit = min(rpcrdma2_limits_recv(&conn->limits),
			READ_ONCE(req->rq->max_reply));
	int pages;

	plan->results = RPCRDMA2_RES_INLINE;
	plan->res_mrs = 0;
	req->results.nsegs = 0;
	plan->res_bytes = reply_header(conn, NULL, NULL) + rcv->buflen;
	plan->reply_due = plan->res_bytes;
	if (plan->reply_due <= limit)
		return 0;
	if (!depth)
		return -EMSGSIZE;

	if ((rcv->flags & XDRBUF_READ) && rcv->page_len && ddp_allowed(rqst) &&
	    !(READ_ONCE(req->rq->refused) & RPCRDMA2_REFUSED_WRITE)) {
		plan->res_mrs = DIV_ROUND_UP(rpcrdma2_vector_pages(rcv), depth);
		req->results.nsegs = plan->res_mrs;
		plan->reply_due = reply_header(conn, &req->results, NULL) +
				  rcv->head[0].iov_len + rcv->tail[0].iov_len;
		if (plan->reply_due <= limit) {
			plan->results = RPCRDMA2_RES_WRITE;
			return 0;
		}
	}

	pages = span_layout(&req->res_span, rcv, bounce);
	if (pages < 0)
		return pages;
	plan->results = RPCRDMA2_RES_REPLY;
	plan->reply_due = 0;
	plan->res_mrs = DIV_ROUND_UP(pages, depth);
	req->results.nsegs = plan->res_mrs;
	return 0;
}

/**
 * rpcrdma2_req_chunks - begin a Call's header with the chunks planned
 * @req: RPC with a plan
 * @call: cleared; gets the chunks and the type of the message
 *
 * Context: any; does not sleep.
 */
void rpcrdma2_req_chunks(const struct rpcrdma2_req *req,
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

/* Bytes of the Call, planned as it is, with @body bytes behind its header. */
static u32 call_bytes(const struct rpcrdma2_conn *conn,
		      const struct rpcrdma2_req *req, u32 body)
{
	struct rpcrdma2_call call;

	rpcrdma2_req_chunks(req, &call);
	return conn->codec->call_len(&call) + body;
}

/* Does it fit inline? */
static bool call_fits(const struct rpcrdma2_conn *conn,
		      const struct rpcrdma2_req *req, u32 body)
{
	return call_bytes(conn, req, body) <= req->plan.inline_send;
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
	plan->arg_bytes = call_bytes(conn, req, snd->len);
	if (plan->arg_bytes <= plan->inline_send)
		return 0;
	if (!depth)
		return -EMSGSIZE;

	if ((snd->flags & XDRBUF_WRITE) && snd->page_len &&
	    !(snd->head[0].iov_len & 3) && ddp_allowed(rqst) &&
	    !(READ_ONCE(req->rq->refused) & RPCRDMA2_REFUSED_READ)) {
		plan->args = RPCRDMA2_ARGS_READ;
		plan->arg_mrs = DIV_ROUND_UP(rpcrdma2_vector_pages(snd), depth);
		req->args.nsegs = plan->arg_mrs;
		rest = snd->head[0].iov_len + snd->tail[0].iov_len -
		       rpcrdma2_tail_pad(snd);
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

/**
 * rpcrdma2_req_plan - choose how a Call is sent
 * @conn: connection it will be sent on
 * @req: RPC in state SENDING; its @plan, spans and numbers of segments are
 *	set
 * @room: bytes that the message may have, in addition to other limits
 *
 * Context: process; does not sleep.
 * Return: 0, or -EMSGSIZE if there is no way to send it
 */
int rpcrdma2_req_plan(const struct rpcrdma2_conn *conn,
		      struct rpcrdma2_req *req, u32 room)
{
	const struct rpcrdma2_mr_pool *pool = req->rq->pool;
	u32 depth = pool ? pool->depth : 0;
	u32 bounce = 0;
	int ret;

	/* Calls that had waited when a client said so, too (REV-6) */
	if (!conn->client && conn->codec->props &&
	    rpcrdma2_props_peer(&conn->props, RPCRDMA2_BRS) == RDMA2_RVREQSUP_NONE) {
		rpcrdma2_stat_inc(conn->p.stats, callbacks_refused);
		return -EOPNOTSUPP;
	}
	/* It may change at any time (CONN-13) */
	req->plan.inline_send = min(rpcrdma2_limits_send(&conn->limits), room);
	ret = plan_results(conn, req, depth, &bounce);
	if (!ret)
		ret = plan_args(conn, req, depth, &bounce);
	/* ERR-25: that many for the rest of the connection */
	if (!ret && max(req->plan.arg_mrs, req->plan.res_mrs) >
		    READ_ONCE(req->rq->max_segs))
		ret = -EMSGSIZE;
	return ret;
}
