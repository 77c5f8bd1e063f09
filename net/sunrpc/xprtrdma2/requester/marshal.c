// SPDX-License-Identifier: GPL-2.0
/*
 * Marshal a Call. The plan chooses the form of arguments and results: inline, payload
 * in a chunk, or the whole message in a chunk. The result is in req->plan, in the
 * numbers of segments, and in the layout of the spans. The build then fills bounce
 * pages for ragged ends, maps memory as chunks, and writes header and inline part into
 * a send slot.
 *
 * Runs in the sender of the Call, on an RPC in state SENDING, which no other context
 * touches. Never sleeps; takes no lock but that of the MR pool.
 */
#include <linux/gfp.h>
#include <linux/sunrpc/auth.h>

#include "requester/devmem.h"
#include "requester/marshal.h"
#include <trace/events/rpcrdma2.h>

/* Bytes of the payload's padding, at the start of the tail */
static u32 tail_pad(const struct xdr_buf *buf)
{
	return min_t(u32, xdr_pad_size(buf->page_len), buf->tail[0].iov_len);
}

/* Lay out a whole xdr_buf as a sequence of pages without gaps: whole pages of its page
 * vector are mapped directly, the rest goes through bounce pages. *@next is the first
 * unused bounce page. Returns the number of pages, or -EMSGSIZE.
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
		/* the front must end at the end of a page */
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

/* Results: inline if the largest possible Reply fits, or else the payload of a
 * READ in a Write chunk, or else the whole Reply in a Reply chunk (LNG-3, LNG-4,
 * CHK-16, CHK-20). What must not be copied goes in a Write chunk, or the RPC fails.
 */
static int plan_results(const struct rpcrdma2_conn *conn,
			struct rpcrdma2_req *req, u32 depth, u32 *bounce)
{
	const struct rpc_rqst *rqst = &req->rqst;
	const struct xdr_buf *rcv = &rqst->rq_rcv_buf;
	struct rpcrdma2_plan *plan = &req->plan;
	u32 limit = min(rpcrdma2_msg_size_recv(&conn->limits),
			READ_ONCE(req->rq->max_reply));
	int pages;

	/* A client sends no more than it receives (D-16) */
	if (!conn->client)
		limit = min(limit, rpcrdma2_msg_size_send(&conn->limits));

	plan->results = RPCRDMA2_RES_INLINE;
	plan->res_mrs = 0;
	req->results.nsegs = 0;
	plan->reply_due = conn->codec->hdr_min + rcv->buflen;
	if (plan->reply_due <= limit && !rpcrdma2_devmem_payload(req, rcv))
		return 0;
	if (!depth)
		return -EMSGSIZE;

	if ((rcv->flags & XDRBUF_READ) && rcv->page_len && ddp_allowed(rqst) &&
	    !(READ_ONCE(req->rq->refused) & RPCRDMA2_REFUSED_WRITE)) {
		/* A Reply's header has the form of a Call's header */
		const struct rpcrdma2_call_hdr reply = { .write = &req->results };

		plan->res_mrs = DIV_ROUND_UP(rpcrdma2_vector_pages(rcv), depth);
		req->results.nsegs = plan->res_mrs;
		plan->reply_due = rpcrdma2_call_len(conn->codec, &reply) +
				  rcv->head[0].iov_len + rcv->tail[0].iov_len;
		if (plan->reply_due <= limit) {
			plan->results = RPCRDMA2_RES_WRITE;
			return 0;
		}
	}

	if (rpcrdma2_devmem_payload(req, rcv))
		return rpcrdma2_devmem_refuse();
	pages = span_layout(&req->res_span, rcv, bounce);
	if (pages < 0)
		return pages;
	plan->results = RPCRDMA2_RES_REPLY;
	plan->reply_due = 0;
	plan->res_mrs = DIV_ROUND_UP(pages, depth);
	req->results.nsegs = plan->res_mrs;
	return 0;
}

/* Begin a Call's header with the chunks planned. */
static void req_chunks(const struct rpcrdma2_req *req,
		       struct rpcrdma2_call_hdr *call)
{
	enum rpcrdma2_results results = req->plan.results;
	enum rpcrdma2_args args = req->plan.args;

	call->nomsg = args == RPCRDMA2_ARGS_PZ;
	call->inv_handle = 0;
	call->pz = args == RPCRDMA2_ARGS_PZ ? &req->args : NULL;
	call->read = args == RPCRDMA2_ARGS_READ ? &req->args : NULL;
	call->write = results == RPCRDMA2_RES_WRITE ? &req->results : NULL;
	call->reply = results == RPCRDMA2_RES_REPLY ? &req->results : NULL;
}

/* Whether the Call fits inline with the chunks planned and @body bytes behind its header */
static bool call_fits(const struct rpcrdma2_conn *conn,
		      const struct rpcrdma2_req *req, u32 body)
{
	struct rpcrdma2_call_hdr call;

	req_chunks(req, &call);
	return rpcrdma2_call_len(conn->codec, &call) + body <= req->plan.inline_send;
}

/* Arguments: inline if the Call fits, or else the payload of a WRITE in a Read
 * chunk, or else the whole Call in a Position-Zero chunk (MSG-4, MSG-5, CHK-29).
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
	if ((plan->results == RPCRDMA2_RES_INLINE ?
	     conn->codec->hdr_min + snd->len <= plan->inline_send :
	     call_fits(conn, req, snd->len)) && !rpcrdma2_devmem_payload(req, snd))
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
		       tail_pad(snd);
		if (call_fits(conn, req, rest))
			return 0;
	}

	if (rpcrdma2_devmem_payload(req, snd))
		return rpcrdma2_devmem_refuse();
	pages = span_layout(&req->arg_span, snd, bounce);
	if (pages < 0)
		return pages;
	plan->args = RPCRDMA2_ARGS_PZ;
	plan->arg_mrs = DIV_ROUND_UP(pages, depth);
	req->args.nsegs = plan->arg_mrs;
	return call_fits(conn, req, 0) ? 0 : -EMSGSIZE;
}

/**
 * rpcrdma2_marshal_plan - choose the form of a Call
 * @conn: connection for the Call
 * @req: RPC in state SENDING; its @plan, spans and numbers of segments are
 *	set
 *
 * Context: process; does not sleep.
 * Return: 0, or -EMSGSIZE if no form fits; -EIO: the payload must not be copied; or
 *	-EOPNOTSUPP: the client takes no callbacks
 */
int rpcrdma2_marshal_plan(const struct rpcrdma2_conn *conn,
			  struct rpcrdma2_req *req)
{
	u32 depth = req->rq->pool.depth;
	u32 bounce = 0;
	int ret;

	/* Also if the client has announced that while the Call waited */
	if (!conn->client && !rpcrdma2_props_takes_calls(conn)) {
		rpcrdma2_stat_inc(conn->p.stats, callbacks_refused);
		return -EOPNOTSUPP;
	}
	/* The limit may change at any time (CONN-13) */
	req->plan.inline_send = rpcrdma2_msg_size_send(&conn->limits);
	ret = plan_results(conn, req, depth, &bounce);
	if (!ret)
		ret = plan_args(conn, req, depth, &bounce);
	/* ERR-25: the limit holds for the rest of the connection */
	if (!ret && max(req->plan.arg_mrs, req->plan.res_mrs) >
		    READ_ONCE(req->rq->max_segs))
		ret = -EMSGSIZE;
	return ret;
}

static int bounce_alloc(struct rpcrdma2_req *req, u32 count)
{
	for (; req->nbounce < count; req->nbounce++) {
		req->bounce[req->nbounce] = alloc_page(RPCRDMA2_GFP_NOWAIT);
		if (!req->bounce[req->nbounce])
			return -ENOMEM;
	}
	return 0;
}

/* Copy @len bytes between @offset of bounce page @first and @pos of the stream. */
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

/**
 * rpcrdma2_marshal_bounce - copy the ragged ends of a chunk
 * @req: owner of the bounce pages, which are not mapped
 * @span: layout of the Position-Zero or Reply chunk
 * @len: bytes of the stream that there are
 * @out: from the bounce pages to the xdr_buf; otherwise the other way
 *
 * Context: process; does not sleep.
 * Return: 0, or -EIO if the stream is longer than its xdr_buf
 */
int rpcrdma2_marshal_bounce(struct rpcrdma2_req *req,
			    const struct rpcrdma2_span *span, u32 len, bool out)
{
	u32 behind = span->front + span->direct;
	int ret;

	ret = bounce_copy(req, span->first, span->front_off, span->buf, 0,
			  min(len, span->front), out);
	if (ret || len <= behind)
		return ret;
	return bounce_copy(req, span->back_first, 0, span->buf, behind,
			   len - behind, out);
}

/* Map regions as one chunk. The pages of a WRITE stay until the RPC ends, so until its
 * handles are invalid. Pages that sec=krb5p encrypts into need a reference: sunrpc frees
 * them when it encodes the Call again, for a retransmission, while the first instance is
 * still outstanding.
 */
static int chunk_map(struct rpcrdma2_req *req, struct rpcrdma2_chunk *chunk,
		     struct rpcrdma2_region *r, unsigned int nregions,
		     enum dma_data_direction dir)
{
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
		mr = rpcrdma2_mr_get(&req->rq->pool, &req->mrs);
		if (!mr)
			return -EAGAIN;
		ret = rpcrdma2_mr_map(mr, r, nregions, dir, xid, &req->devmem);
		if (ret < 0)
			return ret;
		if (dir == DMA_TO_DEVICE && req->rqst.rq_release_snd_buf)
			rpcrdma2_mr_hold(mr);
		trace_rpcrdma2_mr_map(req, mr);
		chunk->seg[chunk->nsegs++] = mr->seg;
		bytes += ret;
	}
}

/* Map the payload of @buf as a chunk, or the whole of it if @span has its layout. */
static int chunk_map_buf(struct rpcrdma2_req *req, struct rpcrdma2_chunk *chunk,
			 const struct xdr_buf *buf, const struct rpcrdma2_span *span,
			 enum dma_data_direction dir)
{
	struct rpcrdma2_region regions[3] = { };
	u32 base = buf->page_base;
	int ret;

	regions[1].len = buf->page_len;
	if (span) {
		ret = bounce_alloc(req, span->back_first +
					rpcrdma2_pages_spanned(0, span->back));
		if (ret)
			return ret;
		/* Skip the bytes of the vector that are in the front */
		base += span->direct ? span->front - buf->head[0].iov_len : 0;
		regions[0].pages = &req->bounce[span->first];
		regions[0].offset = span->front_off;
		regions[0].len = span->front;
		regions[1].len = span->direct;
		regions[2].pages = &req->bounce[span->back_first];
		regions[2].len = span->back;
	}
	regions[1].pages = buf->pages + (base >> PAGE_SHIFT);
	regions[1].offset = offset_in_page(base);
	if (span && dir == DMA_TO_DEVICE) {
		ret = rpcrdma2_marshal_bounce(req, span, span->front +
					      span->direct + span->back, false);
		if (ret)
			return ret;
	}
	return chunk_map(req, chunk, regions, ARRAY_SIZE(regions), dir);
}

/* The handle of the largest MR, whose remote invalidation saves most. All MRs of an RPC
 * are registered for this RPC only (RINV-1..4).
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

/* Write header and inline part of a Call with mapped chunks into a send slot. Returns
 * the length in bytes; -ESTALE: too long, because the limit has changed since the plan;
 * -EMSGSIZE: too long; or -EIO.
 */
static int req_encode(struct rpcrdma2_conn *conn, struct rpcrdma2_req *req,
		      struct rpcrdma2_send *send)
{
	const struct xdr_buf *snd = &req->rqst.rq_snd_buf;
	u32 size = rpcrdma2_msg_size_send(&conn->limits);
	u32 head = snd->head[0].iov_len, pad, body = 0;
	struct rpcrdma2_call_hdr call;
	int hdr, too_long;
	void *p;

	/* The limit may have become smaller since the plan */
	too_long = size == req->plan.inline_send ? -EMSGSIZE : -ESTALE;
	req_chunks(req, &call);
	call.xid = be32_to_cpu(req->rqst.rq_xid);
	call.credit = rpcrdma2_credit_ask(&conn->credit);
	call.inv_handle = pick_inv_handle(conn, req);
	hdr = rpcrdma2_wire_encode_call(conn->codec, &call, send->buf, size);
	if (hdr < 0)
		return too_long;
	p = send->buf + hdr;

	switch (req->plan.args) {
	case RPCRDMA2_ARGS_INLINE:
		body = snd->len;
		if (hdr + body > size)
			return too_long;
		if (rpcrdma2_xdr_read(snd, 0, p, body))
			return -EIO;
		rpcrdma2_stat_add(conn->p.stats, pullup_bytes, snd->page_len);
		break;
	case RPCRDMA2_ARGS_READ:
		/* The item after a reduced one follows directly (LNG-10) */
		pad = tail_pad(snd);
		body = head + snd->tail[0].iov_len - pad;
		if (hdr + body > size)
			return too_long;
		memcpy(p, snd->head[0].iov_base, head);
		memcpy(p + head, snd->tail[0].iov_base + pad, body - head);
		break;
	case RPCRDMA2_ARGS_PZ:
		break;
	}
	rpcrdma2_stat_add(conn->p.stats, inline_tx_bytes, hdr + body);
	return hdr + body;
}

/**
 * rpcrdma2_marshal_build - map the chunks of a Call and write its message
 * @conn: the connection
 * @req: RPC with a plan; owns the MRs, also after an error
 * @send: send slot for header and inline part
 *
 * Context: process; does not sleep.
 * Return: length in bytes; -EAGAIN: no MR now; -ENOMEM: no memory now;
 *	-ESTALE: the caller has to plan again; or a permanent error
 */
int rpcrdma2_marshal_build(struct rpcrdma2_conn *conn, struct rpcrdma2_req *req,
			   struct rpcrdma2_send *send)
{
	bool pz = req->plan.args == RPCRDMA2_ARGS_PZ, whole;
	struct rpcrdma2_stats *stats = conn->p.stats;
	const struct xdr_buf *snd = &req->rqst.rq_snd_buf;
	int ret;

	/* A Read chunk has no padding (LNG-11) */
	if (req->plan.args != RPCRDMA2_ARGS_INLINE) {
		ret = chunk_map_buf(req, &req->args, snd, pz ? &req->arg_span : NULL,
				    DMA_TO_DEVICE);
		if (ret < 0)
			return ret;
		if (pz) {
			rpcrdma2_stat_inc(stats, pz_chunks);
		} else {
			req->args.position = snd->head[0].iov_len;
			rpcrdma2_stat_inc(stats, read_chunks);
		}
		rpcrdma2_stat_add(stats, read_bytes, ret);
	}
	/* A Write chunk has exactly the requested length, without padding (LNG-14) */
	if (req->plan.results != RPCRDMA2_RES_INLINE) {
		whole = req->plan.results == RPCRDMA2_RES_REPLY;
		ret = chunk_map_buf(req, &req->results, &req->rqst.rq_rcv_buf,
				    whole ? &req->res_span : NULL, DMA_FROM_DEVICE);
		if (ret < 0)
			return ret;
		if (whole)
			rpcrdma2_stat_inc(stats, reply_chunks);
		else
			rpcrdma2_stat_inc(stats, write_chunks);
		atomic_long_add(ret, &req->rq->offered);
	}
	return req_encode(conn, req, send);
}
