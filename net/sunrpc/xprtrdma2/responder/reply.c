// SPDX-License-Identifier: GPL-2.0
/*
 * Replies: decide on their form, build and send them.
 *
 * Contexts: the executor's thread begins. A Reply that has to wait for the send queue
 * keeps the executor's pages and continues in a completion handler. No thread waits
 * for the send queue.
 *
 * A Reply that waits, or whose completion is needed, has its own reference to the Call, see
 * responder.h. No locks are taken here.
 */
#include <linux/types.h>
#include <linux/sunrpc/msg_prot.h>

#include "responder/responder_impl.h"
#include <trace/events/rpcrdma2.h>

/* End of a reduced result in the stream. Its padding is removed, too (LNG-10). */
static u32 reduced_end(const struct rpcrdma2_item *p, u32 len)
{
	return min_t(u32, p->position + xdr_align_size(p->length), len);
}

/**
 * struct reply_range - a part of a Reply without reduced results
 * @pos: place in the Reply
 * @len: bytes
 * @next: number of reduced results in front of the next range
 */
struct reply_range {
	u32			pos;
	u32			len;
	u32			next;
};

/* Go to the next range of the Reply @xdr, first from { }. Returns false at the end. */
static bool range_next(struct reply_range *range, const struct rpcrdma2_svc_call *call,
		       const struct xdr_buf *xdr)
{
	const struct rpcrdma2_item *p = call->results;
	u32 i, end;

	do {
		i = range->next++;
		if (i > call->nresults)
			return false;
		range->pos = i ? reduced_end(&p[i - 1], xdr->len) : 0;
		end = i < call->nresults ? p[i].position : xdr->len;
	} while (end <= range->pos);
	range->len = end - range->pos;
	return true;
}

static bool reply_has_word(const struct xdr_buf *xdr, u32 pos, u32 want)
{
	__be32 word;

	return !rpcrdma2_xdr_read(xdr, pos, &word, sizeof(word)) &&
	       be32_to_cpu(word) == want;
}

/* Settle the place of a recorded result. The record may be stale, if the upper layer has
 * removed the result from the Reply; then its length word is not in front of it.
 * For the link text of an NFSv4 READLINK nfsd reports the place of the length word
 * instead. Returns false for a stale record.
 */
static bool payload_settle(const struct xdr_buf *xdr, u32 from, struct rpcrdma2_item *p)
{
	u32 off = p->position, len = p->length;

	if (off < sizeof(u32) || off > xdr->len)
		return false;
	if (!reply_has_word(xdr, off - sizeof(u32), len)) {
		if (xdr->len - off < sizeof(u32) || !reply_has_word(xdr, off, len))
			return false;
		off += sizeof(u32);
	}
	if (off < from || len > xdr->len - off)
		return false;
	p->position = off;
	return true;
}

static void reply_set_error(struct rpcrdma2_svc_call *call, u32 err, u32 arg0, u32 arg1)
{
	call->err = err;
	call->err_arg[0] = arg0;
	call->err_arg[1] = arg1;
}

/* Assign results to Write chunks in order (CHK-16, CHK-17, CHK-18, CHK-22). Returns
 * false if a chunk is too short (ERR-26).
 */
static bool reply_reduce(struct rpcrdma2_svc_call *call, const struct xdr_buf *xdr)
{
	struct rpcrdma2_cursor list, segs;
	u32 i, from = 0, chunk = 0, n = call->nresults;
	struct rpcrdma2_item p;

	call->nresults = 0;
	rpcrdma2_write_list_begin(call->hdr.call, &list);
	for (i = 0; i < n; i++) {
		p = call->results[i];
		if (!payload_settle(xdr, from, &p))
			continue;
		if (!rpcrdma2_write_list_next(&list, &segs))
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
		call->results[call->nresults++] = p;
		from = reduced_end(&p, xdr->len);
		call->reply_bytes -= from - p.position;
	}
	call->hdr.nwritten = chunk;
	return true;
}

/* Handle for the Send to invalidate: RINV-5 to RINV-9, RINV-21 */
static u32 reply_inv_handle(struct rpcrdma2_conn *conn, const struct rpcrdma2_hdr *hdr)
{
	if (!conn->remote_inval)
		return 0;
	if (!conn->codec->inv_by_handle)
		return hdr->only_handle;
	if (!hdr->inv_handle || hdr->has_inv_handle)
		return hdr->inv_handle;
	rpcrdma2_stat_inc(conn->p.stats, bad_inv_handle);
	return 0;
}

/* Choose between inline, Reply chunk and error: MSG-4, MSG-5, LNG-5 to LNG-7. */
static void reply_choose(struct rpcrdma2_svc_call *call)
{
	const struct rpcrdma2_codec *codec = call->conn->codec;
	u32 max = rpcrdma2_msg_size_send(&call->conn->limits);
	struct rpcrdma2_cursor segs;
	u32 hdr_len;
	bool fits;

	call->hdr.nomsg = false;
	call->hdr.reply_written = 0;
	hdr_len = rpcrdma2_reply_len(codec, &call->hdr);
	fits = hdr_len <= max && call->reply_bytes <= max - hdr_len;
	if (fits && codec->inline_reply_first)
		return;
	if (!call->resp->limits.write_chunks ||
	    !rpcrdma2_hdr_reply_chunk(call->hdr.call, &segs) ||
	    rpcrdma2_segs_bytes(segs) < call->reply_bytes) {
		if (!fits)
			reply_set_error(call, RDMA2_ERR_REPLY_RESOURCE,
					call->reply_bytes, 0);
		return;
	}

	call->hdr.nomsg = true;
	call->hdr.reply_written = call->reply_bytes;
	if (rpcrdma2_reply_len(codec, &call->hdr) > max)
		reply_set_error(call, RDMA2_ERR_SYSTEM, 0, 0);
}

static int gather_kvec(struct rpcrdma2_gather *g, const struct kvec *vec)
{
	u32 n, off, done = 0;
	struct page *page;
	int ret;

	for (; done < vec->iov_len; done += n) {
		page = virt_to_page(vec->iov_base + done);
		off = offset_in_page(vec->iov_base + done);
		n = min_t(u32, vec->iov_len - done, PAGE_SIZE - off);
		ret = rpcrdma2_rws_add(g, &page, off, n);
		if (ret)
			return ret;
	}
	return 0;
}

static int gather_range(struct rpcrdma2_gather *g, const struct xdr_buf *xdr,
			u32 pos, u32 len)
{
	struct xdr_buf range;

	if (xdr_buf_subsegment(xdr, &range, pos, len))
		return -EMSGSIZE;
	return gather_kvec(g, &range.head[0]) ?:
	       rpcrdma2_rws_add(g, range.pages + (range.page_base >> PAGE_SHIFT),
				offset_in_page(range.page_base), range.page_len) ?:
	       gather_kvec(g, &range.tail[0]);
}

/* Make RDMA Writes for the reduced results, each of which has a Write chunk (CHK-15, CHK-16,
 * LNG-13): they are added to @todo and their work requests to @nwrs. After an error the
 * caller releases @todo; -EMSGSIZE if the Reply does not fit the chunks.
 */
static int reply_push_results(struct rpcrdma2_svc_call *call, const struct xdr_buf *xdr)
{
	struct rpcrdma2_stats *stats = call->conn->p.stats;
	const struct rpcrdma2_item *result = call->results;
	struct rpcrdma2_cursor list;
	u32 chunk;
	int ret;

	rpcrdma2_write_list_begin(call->hdr.call, &list);
	for (chunk = 0; chunk < call->hdr.nwritten; chunk++) {
		struct rpcrdma2_gather g = {
			.call	= call,
			.dir	= DMA_TO_DEVICE,
			.left	= call->written[chunk],
		};

		rpcrdma2_write_list_next(&list, &g.segs);
		if (!call->written[chunk])
			continue;
		ret = gather_range(&g, xdr, result->position, result->length) ?:
		      rpcrdma2_rws_close(&g);
		if (ret)
			return ret;
		rpcrdma2_stat_inc(stats, write_chunks);
		rpcrdma2_stat_add(stats, write_bytes, call->written[chunk]);
		result++;
	}
	return 0;
}

/* The same for the Reply chunk, which gets the stream without reduced results (LNG-2, LNG-5,
 * LNG-8)
 */
static int reply_push_stream(struct rpcrdma2_svc_call *call, const struct xdr_buf *xdr)
{
	struct rpcrdma2_gather g = {
		.call	= call,
		.dir	= DMA_TO_DEVICE,
		.left	= call->reply_bytes,
	};
	struct reply_range range = { };
	int ret = 0;

	rpcrdma2_hdr_reply_chunk(call->hdr.call, &g.segs);
	while (!ret && range_next(&range, call, xdr))
		ret = gather_range(&g, xdr, range.pos, range.len);
	ret = ret ?: rpcrdma2_rws_close(&g);
	if (ret)
		return ret;
	rpcrdma2_stat_inc(call->conn->p.stats, reply_chunks);
	rpcrdma2_stat_add(call->conn->p.stats, reply_chunk_bytes, call->reply_bytes);
	return 0;
}

/* Decide on the form of the Reply to a Call with chunks for it, and build its RDMA Writes.
 * Without memory for these the connection has to be closed: the Call was executed, and the
 * client may send it again only after a reconnect.
 */
static noinline_for_stack int
reply_plan_chunks(struct rpcrdma2_svc_call *call, const struct xdr_buf *xdr)
{
	struct rpcrdma2_conn *conn = call->conn;
	int ret;

	call->hdr.written = call->written;
	call->hdr.nwritten = 0;
	if (!reply_reduce(call, xdr))
		return 0;
	reply_choose(call);
	if (call->err)
		return 0;

	ret = call->nresults ? reply_push_results(call, xdr) : 0;
	if (!ret && call->hdr.nomsg)
		ret = reply_push_stream(call, xdr);
	if (ret) {
		rpcrdma2_rws_release(call->conn, &call->todo);
		call->nwrs = 0;
		if (ret != -EMSGSIZE)
			return ret;
		reply_set_error(call, RDMA2_ERR_SYSTEM, 0, 0);
		return 0;
	}
	call->inv_handle = reply_inv_handle(conn, call->hdr.call);
	return 0;
}

/* Plan the Reply: inline if its Call has no chunks for it, or else see reply_plan_chunks(). */
static int reply_plan(struct rpcrdma2_svc_call *call, const struct xdr_buf *xdr)
{
	const struct rpcrdma2_hdr *hdr = &call->rx->hdr;
	struct rpcrdma2_conn *conn = call->conn;

	call->nwrs = 0;
	call->reply_bytes = xdr->len;
	call->hdr.call = hdr;
	if (hdr->results_len)
		return reply_plan_chunks(call, xdr);
	call->nresults = 0;
	call->hdr.nomsg = false;
	if (conn->codec->hdr_min + xdr->len <= rpcrdma2_msg_size_send(&conn->limits))
		call->inv_handle = reply_inv_handle(conn, hdr);
	else
		reply_set_error(call, RDMA2_ERR_REPLY_RESOURCE, xdr->len, 0);
	return 0;
}

/* Check whether an RDMA Write uses the page that holds head and tail. */
static bool reply_writes_head(const struct rpcrdma2_svc_call *call,
			      const struct xdr_buf *xdr)
{
	u32 head = xdr->head[0].iov_len;
	u32 i;

	if (call->hdr.nomsg)
		return true;
	for (i = 0; i < call->nresults; i++) {
		const struct rpcrdma2_item *p = &call->results[i];

		if (p->position < head ||
		    p->position + p->length > head + xdr->page_len)
			return true;
	}
	return false;
}

/* Take the executor's pages from @first on, but for those from @end on, and make the Reply
 * use them, so that the executor can continue while they are under I/O. The executor gets
 * its own pages back where rpcrdma2_call_hold_pages() has held them, else NULL.
 */
static int reply_take_pages(struct rpcrdma2_svc_call *call,
			    const struct xdr_buf *xdr, struct page **pages,
			    u32 npages, u32 first, u32 end)
{
	struct page **array;
	int ret;
	u32 i;

	if (npages > call->resp->max_pages)
		return -EIO;
	if (xdr->page_len &&
	    (xdr->pages < pages ||
	     xdr->pages + DIV_ROUND_UP(xdr->page_base + xdr->page_len,
				       PAGE_SIZE) > pages + npages))
		return -EIO;
	if (npages > call->entries)
		rpcrdma2_call_release_pages(call, 0);
	ret = rpcrdma2_call_have_array(call, npages);
	if (ret)
		return ret;

	array = call->pages;
	call->res = *xdr;
	if (xdr->page_len)
		call->res.pages = array + (xdr->pages - pages);
	for (i = first; i < end; i++) {
		/* A result that was copied into the executor's own page */
		if (array[i] == pages[i] && pages[i]) {
			put_page(pages[i]);
			array[i] = NULL;
		}
		swap(array[i], pages[i]);
	}
	if (npages > call->npages)
		call->npages = npages;
	return 0;
}

/**
 * rpcrdma2_call_hold_pages - hold the executor's pages that a result may replace
 * @call: a Call whose argument the executor has
 * @pages: pages of the executor for the Reply, all of them
 * @npages: how many
 *
 * nfsd replaces these pages by pages of the page cache and releases them. As they are held,
 * the Reply can return them, and no others have to be allocated and cleared. The first page
 * is not replaced. The executor calls rpcrdma2_call_release_pages() for those that the Reply
 * does not use.
 *
 * Context: process; sleeps only for memory.
 */
void rpcrdma2_call_hold_pages(struct rpcrdma2_svc_call *call, struct page **pages,
			      u32 npages)
{
	struct rpcrdma2_cursor list, segs;
	u32 i;

	if (!call->rx->hdr.write_chunks)
		return;
	rpcrdma2_write_list_begin(&call->rx->hdr, &list);
	rpcrdma2_write_list_next(&list, &segs);
	/* Three more for head, tail, and a ragged end of the Reply */
	npages = min_t(u64, npages, 3 + DIV_ROUND_UP_ULL(rpcrdma2_segs_bytes(segs), PAGE_SIZE));
	if (npages > call->resp->max_pages)
		return;
	if (rpcrdma2_call_have_array(call, npages))
		return;
	for (i = 1; i < npages; i++) {
		get_page(pages[i]);
		call->pages[i] = pages[i];
	}
	call->npages = npages;
}

/* Copy a Reply without its reduced results. */
static noinline_for_stack int
copy_ranges(const struct rpcrdma2_svc_call *call, const struct xdr_buf *xdr, void *p)
{
	struct reply_range range = { };

	for (; range_next(&range, call, xdr); p += range.len)
		if (rpcrdma2_xdr_read(xdr, range.pos, p, range.len))
			return -EIO;
	return 0;
}

/* Write the message into the send buffer. Returns its length. */
static int reply_encode(struct rpcrdma2_svc_call *call,
			struct rpcrdma2_send *send, const struct xdr_buf *xdr)
{
	struct rpcrdma2_conn *conn = call->conn;
	u32 credit = rpcrdma2_credit_grant(&conn->credit);
	int len, ret;

	if (unlikely(call->err))
		return rpcrdma2_wire_encode_error(conn->codec, &call->rx->hdr, credit,
						  call->err, call->err_arg, send->buf,
						  send->size);

	call->hdr.credit = credit;
	len = call->hdr.call->results_len ?
	      rpcrdma2_wire_encode_reply(conn->codec, &call->hdr, send->buf, send->size) :
	      rpcrdma2_wire_encode_plain(conn->codec, call->hdr.xid, credit,
					 RPCRDMA2_F_RESPONSE, send->buf, send->size);
	if (len < 0 || call->hdr.nomsg)
		return len;
	if (call->reply_bytes > send->size - len)
		return -EMSGSIZE;
	ret = call->nresults ? copy_ranges(call, xdr, send->buf + len) :
	      rpcrdma2_xdr_read(xdr, 0, send->buf + len, xdr->len);
	return ret ? -EIO : len + call->reply_bytes;
}

static void reply_count(const struct rpcrdma2_svc_call *call, u32 len)
{
	struct rpcrdma2_stats *stats = call->conn->p.stats;

	if (unlikely(call->err)) {
		rpcrdma2_stat_inc(stats, tx_error);
		return;
	}
	if (call->hdr.nomsg) {
		rpcrdma2_stat_inc(stats, tx_reply_nomsg);
	} else {
		rpcrdma2_stat_inc(stats, tx_reply_msg);
		rpcrdma2_stat_add(stats, pullup_bytes, call->reply_bytes);
	}
	rpcrdma2_stat_add(stats, inline_tx_bytes, len);
	if (call->inv_handle)
		rpcrdma2_stat_inc(stats, remote_invalidations);
}

/* The Send of a Reply has completed, and so have its RDMA Writes. */
static void reply_done(struct rpcrdma2_send *send, int status)
{
	struct rpcrdma2_svc_call *call = send->priv;
	struct rpcrdma2_responder *resp = call->resp;

	/* An ERROR may precede the admission of the connection, a Reply does not */
	if (unlikely(!READ_ONCE(resp->replied)) && status >= 0 && !call->err) {
		WRITE_ONCE(resp->replied, true);
		resp->ops->replied(resp);
	}
	rpcrdma2_call_put(call);
}

/* Post the encoded message with the RDMA Writes in front of it. The completion, if one
 * is requested, has a reference.
 */
static void reply_post(struct rpcrdma2_svc_call *call,
		       struct rpcrdma2_send *send, int len)
{
	const struct rpcrdma2_responder *resp = call->resp;
	struct rpcrdma2_conn *conn = call->conn;
	struct ib_send_wr *first = NULL;
	bool io = !list_empty(&call->todo);
	bool replied = READ_ONCE(resp->replied), wait = io || !replied;

	if (len < 0) {
		/* The requester must learn that no Reply will come (MSG-11) */
		rpcrdma2_conn_kill(conn, -EIO);
		rpcrdma2_send_put(send);
		return;
	}
	rpcrdma2_call_credit(call);
	reply_count(call, len);
	trace_rpcrdma2_reply_send(conn, call->hdr.xid, call->hdr.nomsg, len, call->nwrs,
				  call->inv_handle, call->err);
	if (wait) {
		send->done = reply_done;
		send->priv = call;
		refcount_inc(&call->refs);
	}
	if (io) {
		first = rpcrdma2_rws_chain(conn, &call->todo, NULL, &send->wr);
		/* A Reply may keep its call object until a later Send completes if others
		 * are free, or if there are fewer than Sends of one completion.
		 */
		if (replied && (!list_empty(&resp->calls) ||
				READ_ONCE(resp->ncalls) < RPCRDMA2_SIGNAL_EVERY))
			send->holds = call->npages;
	}
	if (rpcrdma2_send_post(send, len, call->inv_handle, first) && wait)
		rpcrdma2_call_put(call);
}

static void reply_ready(struct rpcrdma2_sendq_waiter *w,
			struct rpcrdma2_send *send, int status)
{
	struct rpcrdma2_svc_call *call =
		container_of(w, struct rpcrdma2_svc_call, waiter);
	int len;

	if (status) {
		rpcrdma2_call_release(call);
		return;
	}
	len = reply_encode(call, send, &call->res);
	rpcrdma2_call_rx_put(call);
	reply_post(call, send, len);
	rpcrdma2_call_put(call);
}

static void reply_next(struct rpcrdma2_svc_call *call);

static void reply_batch_done(struct rpcrdma2_svc_call *call, int status)
{
	if (status)
		rpcrdma2_call_release(call);
	else
		reply_next(call);
}

/* Next step of a Reply that waits: the Send, or some of its RDMA Writes if one post is
 * not enough for all.
 */
static void reply_next(struct rpcrdma2_svc_call *call)
{
	struct rpcrdma2_conn *conn = call->conn;
	struct rpcrdma2_send *send;
	int nwrs;

	if (call->nwrs + 1 <= rpcrdma2_sendq_most(&conn->sendq)) {
		call->waiter.ready = reply_ready;
		if (rpcrdma2_sendq_get(conn, call->nwrs + 1, &call->waiter, &send))
			reply_ready(&call->waiter, send, 0);
		return;
	}

	/* This does not fail: all memory is mapped */
	nwrs = rpcrdma2_batch_map(call, U32_MAX);
	call->nwrs -= nwrs;
	rpcrdma2_batch_post(call, nwrs, reply_batch_done);
}

/* Send the planned message, which may have a part of @res, if the send queue has space now.
 * Inlined, because each caller sends most of its messages here.
 */
static __always_inline bool reply_now(struct rpcrdma2_svc_call *call,
				      const struct xdr_buf *res)
{
	struct rpcrdma2_conn *conn = call->conn;
	struct rpcrdma2_send *send = NULL;

	if (call->nwrs + 1 <= rpcrdma2_sendq_most(&conn->sendq))
		send = rpcrdma2_send_get(conn, call->nwrs + 1);
	if (send)
		reply_post(call, send, reply_encode(call, send, res));
	return send;
}

/* Let the planned message wait for the send queue, without the executor. */
static void reply_later(struct rpcrdma2_svc_call *call)
{
	trace_rpcrdma2_reply_waits(call->conn, call->hdr.xid, call->nwrs + 1);
	refcount_inc(&call->refs);
	refcount_inc(&call->rx_refs);
	reply_next(call);
}

/* Send the planned Reply. Returns 1 if pages were taken, 0 if not, or a negative errno if
 * they could not be taken.
 */
static int reply_go(struct rpcrdma2_svc_call *call, const struct xdr_buf *xdr,
		    struct page **pages, u32 npages)
{
	bool taken = !list_empty(&call->todo);
	u32 first = npages;
	int ret;

	if (taken) {
		first = reply_writes_head(call, xdr) ? 0 : 1;
		ret = reply_take_pages(call, xdr, pages, npages, first, npages);
		if (ret)
			return ret;
	}
	if (reply_now(call, taken ? &call->res : xdr))
		return taken;
	if (!call->err) {
		ret = reply_take_pages(call, xdr, pages, npages, 0, first);
		if (ret)
			return ret;
		taken = true;
	}
	reply_later(call);
	return taken;
}

/**
 * rpcrdma2_call_reply - send the Reply to a Call
 * @call: the Call
 * @res: the RPC Reply message, @res->len set
 * @pages: the executor's pages, in which all of @res lies
 * @npages: how many
 *
 * The call object takes the pages that RDMA Writes need, or all pages if the Reply has
 * to wait for the send queue; their entries in @pages become the executor's own pages again,
 * or NULL. The inline part is copied.
 *
 * Context: process; sleeps only for memory, on a server.
 * Return: 0 if no pages were taken, 1 if some were, or a negative errno if the
 * connection is lost or was closed. The caller calls rpcrdma2_call_release() in every
 * case.
 */
int rpcrdma2_call_reply(struct rpcrdma2_svc_call *call,
			const struct xdr_buf *res, struct page **pages,
			u32 npages)
{
	struct rpcrdma2_conn *conn = call->conn;
	int ret;

	if (!rpcrdma2_conn_ready(conn))
		return -ENOTCONN;
	rpcrdma2_call_set_state(call, RPCRDMA2_CALL_REPLYING);
	ret = reply_plan(call, res) ?: reply_go(call, res, pages, npages);
	if (ret < 0)
		rpcrdma2_conn_kill(conn, ret);
	return ret;
}

/**
 * rpcrdma2_call_payload - a result that may travel in a Write chunk
 * @call: the Call
 * @offset: place of the result in the Reply
 * @length: its length without padding
 *
 * This only records the result; rpcrdma2_call_reply() decides (ERR-26). Results come in
 * ascending order; a smaller offset means that the Reply was begun again.
 *
 * Context: any.
 */
void rpcrdma2_call_payload(struct rpcrdma2_svc_call *call, u32 offset, u32 length)
{
	u32 n = call->nresults;

	while (n && call->results[n - 1].position >= offset)
		n--;
	if (n < ARRAY_SIZE(call->results)) {
		call->results[n].position = offset;
		call->results[n].length = length;
		n++;
	}
	call->nresults = n;
}

/**
 * rpcrdma2_call_refuse - answer with an RDMA2_ERROR instead of executing
 * @call: unknown to the executor; released
 * @err: error code of the protocol
 * @arg0: its first argument, in the unit of that error
 *
 * Context: process; does not sleep.
 */
void rpcrdma2_call_refuse(struct rpcrdma2_svc_call *call, u32 err, u32 arg0)
{
	call->nwrs = 0;
	rpcrdma2_call_set_state(call, RPCRDMA2_CALL_REPLYING);
	reply_set_error(call, err, arg0, 0);
	if (!reply_now(call, NULL))
		reply_later(call);
	rpcrdma2_call_release(call);
}

/**
 * rpcrdma2_call_garbage - answer a Call whose argument cannot be assembled
 * @call: unknown to the executor; released
 *
 * The header is correct, so the RPC layer has to report this: GARBAGE_ARGS (MSG-10).
 *
 * Context: deferred work; may sleep for memory, not for the send queue.
 */
void rpcrdma2_call_garbage(struct rpcrdma2_svc_call *call)
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
