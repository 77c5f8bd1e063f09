// SPDX-License-Identifier: GPL-2.0
/*
 * Marshal a Call. The plan chooses the form of arguments and results: inline, payload
 * in a chunk, or the whole message in a chunk. The result is in req->args and
 * req->results: the forms, the numbers of segments, and layouts. The build then fills
 * bounce pages for ragged ends, maps memory as chunks, and writes header and inline
 * part into a send slot.
 *
 * Runs in the sender of the Call, on an RPC in state SENDING, which no other context
 * touches. Never sleeps; takes no lock but that of the MR pool.
 */
#include <linux/sunrpc/auth.h>

#include "requester/devmem.h"
#include <trace/events/rpcrdma2.h>

/* Bytes of the payload's padding, at the start of the tail */
static u32 tail_pad(const struct xdr_buf *buf)
{
	return min_t(u32, xdr_pad_size(buf->page_len), buf->tail[0].iov_len);
}

/* Begin the layout of a part with @len bytes of its page vector, behind the first @skip. */
static void part_map_pages(struct rpcrdma2_part *part, u32 skip, u32 len)
{
	u32 base = part->buf->page_base + skip;

	memset(part->regions, 0, sizeof(part->regions));
	part->regions[1].pages = part->buf->pages + (base >> PAGE_SHIFT);
	part->regions[1].offset = offset_in_page(base);
	part->regions[1].len = len;
}

static u32 region_pages(const struct rpcrdma2_region *r)
{
	return rpcrdma2_pages_spanned(r->offset, r->len);
}

/* Lay out a part as a sequence of pages without gaps: whole pages of its page vector are
 * mapped directly, the rest goes through bounce pages. Returns the number of pages, or
 * -EMSGSIZE.
 */
static int part_layout(struct rpcrdma2_req *req, struct rpcrdma2_part *part)
{
	struct rpcrdma2_region *front = &part->regions[0], *direct = front + 1;
	struct rpcrdma2_region *back = front + 2;
	const struct xdr_buf *buf = part->buf;
	u32 head = buf->head[0].iov_len, tail = buf->tail[0].iov_len;
	u32 base = offset_in_page(buf->page_base), len = buf->page_len;
	u32 pages, first = 0, last = 0;

	if (head && base)
		first = min_t(u32, PAGE_SIZE - base, len);
	if (tail)
		last = min(offset_in_page(base + len), len - first);

	part_map_pages(part, first, len - first - last);
	front->len = head + first;
	back->len = last + tail;
	if (direct->len) {
		/* the front must end at the end of a page */
		front->offset = offset_in_page(-front->len);
	} else {
		front->len += back->len;
		back->len = 0;
	}
	front->pages = &req->bounce[req->bounced];
	back->pages = front->pages + region_pages(front);
	pages = region_pages(front) + region_pages(back);
	req->bounced += pages;
	return req->bounced > RPCRDMA2_BOUNCE_PAGES ? -EMSGSIZE :
						      pages + region_pages(direct);
}

static bool ddp_allowed(const struct rpc_rqst *rqst)
{
	/* Nothing is reduced under GSS integrity or privacy (CHK-30) */
	return !test_bit(RPCAUTH_AUTH_DATATOUCH,
			 &rqst->rq_cred->cr_auth->au_flags);
}

static const struct rpcrdma2_chunk *chunk_if(const struct rpcrdma2_part *part,
					     enum rpcrdma2_form form)
{
	return part->form == form ? &part->chunk : NULL;
}

/* Begin a Call's header with the chunks planned. */
static void req_chunks(const struct rpcrdma2_req *req,
		       struct rpcrdma2_call_hdr *call)
{
	call->nomsg = req->args.form == RPCRDMA2_FORM_WHOLE;
	call->inv_handle = 0;
	call->pz = chunk_if(&req->args, RPCRDMA2_FORM_WHOLE);
	call->read = chunk_if(&req->args, RPCRDMA2_FORM_PAYLOAD);
	call->write = chunk_if(&req->results, RPCRDMA2_FORM_PAYLOAD);
	call->reply = chunk_if(&req->results, RPCRDMA2_FORM_WHOLE);
}

/* Bytes of the arguments that go inline */
static u32 args_inline(const struct rpcrdma2_req *req)
{
	const struct xdr_buf *snd = req->args.buf;

	switch (req->args.form) {
	case RPCRDMA2_FORM_INLINE:
		return snd->len;
	case RPCRDMA2_FORM_PAYLOAD:
		return snd->head[0].iov_len + snd->tail[0].iov_len - tail_pad(snd);
	default:
		return 0;
	}
}

/* Length of the message with the Call in the form planned */
static u32 call_len(const struct rpcrdma2_codec *codec, const struct rpcrdma2_req *req)
{
	struct rpcrdma2_call_hdr call;

	req_chunks(req, &call);
	return rpcrdma2_call_len(codec, &call) + args_inline(req);
}

/* Length of the longest Reply that may come inline; 0 if the Call has a Reply chunk */
static u32 reply_len(const struct rpcrdma2_codec *codec, const struct rpcrdma2_req *req)
{
	/* A Reply's header has the form of a Call's header */
	const struct rpcrdma2_call_hdr reply = { .write = &req->results.chunk };
	const struct xdr_buf *rcv = req->results.buf;

	switch (req->results.form) {
	case RPCRDMA2_FORM_INLINE:
		return codec->hdr_min + rcv->buflen;
	case RPCRDMA2_FORM_PAYLOAD:
		return rpcrdma2_call_len(codec, &reply) +
		       rcv->head[0].iov_len + rcv->tail[0].iov_len;
	default:
		return 0;
	}
}

/* Choose the form of a part: inline if its message, of @len() bytes, is no longer than
 * @limit, or else the payload of a READ or WRITE in a chunk, or else all in a chunk
 * (MSG-4, MSG-5, LNG-3, LNG-4, CHK-16, CHK-20, CHK-29). What must not be copied goes in a
 * chunk of its own, or the RPC fails.
 */
static int part_plan(const struct rpcrdma2_conn *conn, struct rpcrdma2_req *req,
		     struct rpcrdma2_part *part, u32 limit,
		     u32 (*len)(const struct rpcrdma2_codec *codec,
				const struct rpcrdma2_req *req))
{
	const struct xdr_buf *buf = part->buf;
	u32 depth = req->rq->pool.depth;
	int pages;

	if (len(conn->codec, req) <= limit && !rpcrdma2_devmem_payload(part))
		return 0;
	if (!depth)
		return -EMSGSIZE;

	if ((buf->flags & (XDRBUF_READ | XDRBUF_WRITE) & ~READ_ONCE(req->rq->refused)) &&
	    buf->page_len && !(buf->head[0].iov_len & 3) && ddp_allowed(&req->rqst)) {
		part->form = RPCRDMA2_FORM_PAYLOAD;
		part_map_pages(part, 0, buf->page_len);
		part->chunk.nsegs = DIV_ROUND_UP(rpcrdma2_vector_pages(buf), depth);
		if (len(conn->codec, req) <= limit)
			return 0;
	}

	if (rpcrdma2_devmem_payload(part))
		return rpcrdma2_devmem_refuse();
	pages = part_layout(req, part);
	if (pages < 0)
		return pages;
	part->form = RPCRDMA2_FORM_WHOLE;
	part->chunk.nsegs = DIV_ROUND_UP(pages, depth);
	return len(conn->codec, req) <= limit ? 0 : -EMSGSIZE;
}

/* Plan a Call if not all of it and of its Reply may go inline. Both parts are inline so far. */
static noinline_for_stack int
chunks_plan(const struct rpcrdma2_conn *conn, struct rpcrdma2_req *req, u32 limit)
{
	int ret;

	ret = part_plan(conn, req, &req->results, limit, reply_len) ?:
	      part_plan(conn, req, &req->args, req->inline_send, call_len);
	req->reply_due = reply_len(conn->codec, req);
	/* ERR-25: the limit holds for the rest of the connection */
	if (!ret && max(req->args.chunk.nsegs, req->results.chunk.nsegs) >
		    READ_ONCE(req->rq->max_segs))
		ret = -EMSGSIZE;
	return ret;
}

/* Begin a plan with all inline. Most parts are inline already, from the last RPC of the slot.
 * Without a store all CPUs keep the cache line.
 */
static void part_reset(struct rpcrdma2_part *part)
{
	if (part->form == RPCRDMA2_FORM_INLINE)
		return;
	part->form = RPCRDMA2_FORM_INLINE;
	part->chunk.nsegs = 0;
}

/**
 * rpcrdma2_marshal_plan - choose the form of a Call
 * @conn: connection for the Call
 * @req: RPC in state SENDING; its @args and @results are set, but for handles
 *
 * Context: process; does not sleep.
 * Return: 0, or -EMSGSIZE if no form fits; -EIO: the payload must not be copied; or
 *	-EOPNOTSUPP: the client takes no callbacks
 */
int rpcrdma2_marshal_plan(const struct rpcrdma2_conn *conn,
			  struct rpcrdma2_req *req)
{
	u32 limit = min(rpcrdma2_msg_size_recv(&conn->limits),
			READ_ONCE(req->rq->max_reply));
	u32 hdr = conn->codec->hdr_min;

	/* Also if the client has announced that while the Call waited */
	if (!conn->client && !rpcrdma2_props_takes_calls(conn)) {
		rpcrdma2_stat_inc(conn->p.stats, callbacks_refused);
		return -EOPNOTSUPP;
	}
	/* The limit may change at any time (CONN-13) */
	req->inline_send = rpcrdma2_msg_size_send(&conn->limits);
	/* A client sends no more than it receives (D-16) */
	if (!conn->client)
		limit = min(limit, req->inline_send);
	req->bounced = 0;
	part_reset(&req->args);
	part_reset(&req->results);
	req->reply_due = hdr + req->results.buf->buflen;
	if (likely(req->reply_due <= limit && hdr + req->args.buf->len <= req->inline_send) &&
	    !rpcrdma2_devmem_payload(&req->results) && !rpcrdma2_devmem_payload(&req->args))
		return 0;
	return chunks_plan(conn, req, limit);
}

static int bounce_alloc(struct rpcrdma2_req *req)
{
	for (; req->nbounce < req->bounced; req->nbounce++) {
		req->bounce[req->nbounce] = alloc_page(RPCRDMA2_GFP_NOWAIT);
		if (!req->bounce[req->nbounce])
			return -ENOMEM;
		atomic_long_add(PAGE_SIZE, &req->rq->bytes);
	}
	return 0;
}

/* Copy @len bytes between the bounce pages of @r and @pos of @buf. */
static int bounce_copy(const struct rpcrdma2_region *r, const struct xdr_buf *buf, u32 pos,
		       u32 len, bool out)
{
	struct page **page = r->pages;
	u32 offset = r->offset;
	int ret = 0;

	while (len && !ret) {
		u32 n = min_t(u32, PAGE_SIZE - offset, len);
		void *p = page_address(*page++) + offset;

		ret = out ? write_bytes_to_xdr_buf(buf, pos, p, n) :
			    read_bytes_from_xdr_buf(buf, pos, p, n);
		pos += n;
		len -= n;
		offset = 0;
	}
	return ret ? -EIO : 0;
}

/**
 * rpcrdma2_marshal_bounce - copy the ragged ends of a Position-Zero or Reply chunk
 * @part: FORM_WHOLE; its bounce pages are not mapped
 * @len: bytes that there are
 * @out: from the bounce pages to the xdr_buf; otherwise the other way
 *
 * Context: process; does not sleep.
 * Return: 0, or -EIO if the part is longer than its xdr_buf
 */
int rpcrdma2_marshal_bounce(const struct rpcrdma2_part *part, u32 len, bool out)
{
	const struct rpcrdma2_region *r = part->regions;
	u32 behind = r[0].len + r[1].len;
	int ret;

	ret = bounce_copy(&r[0], part->buf, 0, min(len, r[0].len), out);
	if (ret || len <= behind)
		return ret;
	return bounce_copy(&r[2], part->buf, behind, len - behind, out);
}

/* Map the memory of a part as a chunk. The pages of a WRITE stay until the RPC ends, so
 * until its handles are invalid. Pages that sec=krb5p encrypts into need a reference:
 * sunrpc frees them when it encodes the Call again, for a retransmission, while the first
 * instance is still outstanding. Ragged ends of the arguments are copied to bounce pages.
 * Returns the number of bytes, or an errno.
 */
static int part_map(struct rpcrdma2_req *req, struct rpcrdma2_part *part)
{
	enum dma_data_direction dir = part == &req->args ? DMA_TO_DEVICE : DMA_FROM_DEVICE;
	struct rpcrdma2_region r[RPCRDMA2_REGIONS] = {
		part->regions[0], part->regions[1], part->regions[2],
	};
	u32 xid = be32_to_cpu(req->rqst.rq_xid), n = 0;
	int left, bytes = r[0].len + r[1].len + r[2].len, ret;
	struct rpcrdma2_mr *mr;

	if (part->form == RPCRDMA2_FORM_WHOLE) {
		ret = bounce_alloc(req);
		if (!ret && part == &req->args)
			ret = rpcrdma2_marshal_bounce(part, bytes, false);
		if (ret)
			return ret;
	}
	for (left = bytes; left > 0; left -= mr->seg.length) {
		if (n == part->chunk.nsegs)
			return -EMSGSIZE;
		mr = rpcrdma2_mr_map(&req->rq->pool, &req->mrs, r, dir, xid,
				     part->devmem);
		if (IS_ERR(mr))
			return PTR_ERR(mr);
		if (dir == DMA_TO_DEVICE && req->rqst.rq_release_snd_buf)
			rpcrdma2_mr_hold(mr);
		trace_rpcrdma2_mr_map(req, mr);
		part->chunk.seg[n++] = mr->seg;
	}
	part->chunk.nsegs = n;
	return bytes;
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
		if (mr->seg.handle && mr->seg.length > most) {
			handle = mr->seg.handle;
			most = mr->seg.length;
		}
	}
	return handle;
}

/* Write the header of a Call with mapped chunks. Returns the length or an errno. */
static noinline_for_stack int
encode_chunks(const struct rpcrdma2_conn *conn, const struct rpcrdma2_req *req, u32 xid,
	      u32 credit, void *buf, u32 size)
{
	struct rpcrdma2_call_hdr call;

	req_chunks(req, &call);
	call.xid = xid;
	call.credit = credit;
	call.inv_handle = pick_inv_handle(conn, req);
	return rpcrdma2_wire_encode_call(conn->codec, &call, buf, size);
}

/* Write header and inline part of a Call with mapped chunks into a send slot. Returns
 * the length in bytes; -ESTALE: too long, because the limit has changed since the plan;
 * -EMSGSIZE: too long; or -EIO.
 */
static int req_encode(struct rpcrdma2_conn *conn, struct rpcrdma2_req *req,
		      struct rpcrdma2_send *send)
{
	const struct xdr_buf *snd = req->args.buf;
	u32 size = rpcrdma2_msg_size_send(&conn->limits), body = args_inline(req);
	u32 xid = be32_to_cpu(req->rqst.rq_xid), head = snd->head[0].iov_len;
	u32 credit = rpcrdma2_credit_ask(&conn->credit);
	void *p;
	int hdr;

	if (req->args.form == RPCRDMA2_FORM_INLINE && req->results.form == RPCRDMA2_FORM_INLINE)
		hdr = rpcrdma2_wire_encode_plain(conn->codec, xid, credit, 0, send->buf, size);
	else
		hdr = encode_chunks(conn, req, xid, credit, send->buf, size);
	/* The limit may have become smaller since the plan */
	if (hdr < 0 || hdr + body > size)
		return size == req->inline_send ? -EMSGSIZE : -ESTALE;
	p = send->buf + hdr;
	if (req->args.form == RPCRDMA2_FORM_INLINE) {
		if (rpcrdma2_xdr_read(snd, 0, p, body))
			return -EIO;
		rpcrdma2_stat_add(conn->p.stats, pullup_bytes, snd->page_len);
	} else if (req->args.form == RPCRDMA2_FORM_PAYLOAD) {
		/* The item after a reduced one follows directly (LNG-10) */
		memcpy(p, snd->head[0].iov_base, head);
		memcpy(p + head, snd->tail[0].iov_base + tail_pad(snd), body - head);
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
	struct rpcrdma2_stats *stats = conn->p.stats;
	int ret;

	/* A Read chunk has no padding (LNG-11) */
	if (req->args.form != RPCRDMA2_FORM_INLINE) {
		ret = part_map(req, &req->args);
		if (ret < 0)
			return ret;
		req->args.chunk.position = req->args.buf->head[0].iov_len;
		rpcrdma2_stat_inc_either(stats, req->args.form == RPCRDMA2_FORM_WHOLE,
					 pz_chunks, read_chunks);
		rpcrdma2_stat_add(stats, read_bytes, ret);
	}
	/* A Write chunk has exactly the requested length, without padding (LNG-14) */
	if (req->results.form != RPCRDMA2_FORM_INLINE) {
		ret = part_map(req, &req->results);
		if (ret < 0)
			return ret;
		rpcrdma2_stat_inc_either(stats, req->results.form == RPCRDMA2_FORM_WHOLE,
					 reply_chunks, write_chunks);
		atomic_long_add(ret, &req->rq->offered);
	}
	return req_encode(conn, req, send);
}
