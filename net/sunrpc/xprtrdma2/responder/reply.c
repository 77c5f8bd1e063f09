// SPDX-License-Identifier: GPL-2.0
/*
 * The Reply: decide how it travels, build it, send it.
 *
 * Contexts: begun by the executor's thread. A Reply that has to wait for the
 * send queue takes the executor's pages along and goes on in a completion
 * handler. Nothing here waits for the send queue.
 *
 * A Reply under way has a reference to the Call of its own, see
 * call.h. No locks are taken here.
 */
#include <linux/mm.h>
#include <linux/sunrpc/msg_prot.h>

#include "responder/batch.h"
#include "conn/buf.h"
#include "proto/chunk_list.h"
#include "responder/reply.h"
#include "responder/push.h"
#include <trace/events/rpcrdma2.h>

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

static void reply_set_error(struct rpcrdma2_svc_call *call, u32 err, u32 arg0,
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
static bool reply_reduce(struct rpcrdma2_svc_call *call,
			 const struct xdr_buf *xdr)
{
	struct rpcrdma2_cursor list, segs;
	struct rpcrdma2_payload p;
	u32 i, from = 0, chunk = 0;

	call->nreduced = 0;
	rpcrdma2_write_list_begin(call->hdr.call, &list);
	for (i = 0; i < call->npayloads; i++) {
		p = call->payloads[i];
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
		call->reduced[call->nreduced++] = p;
		from = rpcrdma2_reduced_end(&p, xdr->len);
		call->reply_bytes -= from - p.offset;
	}
	call->hdr.nwritten = chunk;
	return true;
}

/* The handle that goes with the Send: RINV-5 to RINV-9, RINV-21. */
static u32 reply_inv_handle(struct rpcrdma2_conn *conn,
			    const struct rpcrdma2_hdr *hdr)
{
	if (!rpcrdma2_msg_size_remote_inval(&conn->limits))
		return 0;
	if (!conn->codec->inv_by_handle)
		return rpcrdma2_hdr_only_handle(hdr);
	if (!hdr->inv_handle || rpcrdma2_hdr_has_handle(hdr, hdr->inv_handle))
		return hdr->inv_handle;
	rpcrdma2_stat_inc(conn->p.stats, bad_inv_handle);
	return 0;
}

/* Inline, by Reply chunk, or not at all: MSG-4, MSG-5, LNG-5 to LNG-7. */
static void reply_choose(struct rpcrdma2_svc_call *call)
{
	const struct rpcrdma2_codec *codec = call->conn->codec;
	u32 room = rpcrdma2_msg_size_send(&call->conn->limits);
	struct rpcrdma2_cursor segs;
	u64 capacity = 0;
	bool given, fits;
	u32 hdr_len;

	call->kind = RPCRDMA2_REPLY_MSG;
	call->hdr.nomsg = false;
	call->hdr.reply_written = 0;
	hdr_len = codec->reply_len(&call->hdr);
	call->msg_len = hdr_len + call->reply_bytes;
	fits = hdr_len <= room && call->reply_bytes <= room - hdr_len;
	given = call->resp->limits.write_chunks &&
		rpcrdma2_hdr_reply_chunk(call->hdr.call, &segs);
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
	call->msg_len = codec->reply_len(&call->hdr);
	if (call->msg_len > room)
		reply_set_error(call, RDMA2_ERR_SYSTEM, 0, 0);
}

/* Decide everything about the Reply and build its RDMA Writes. Without memory
 * for these the connection has to go: the Call was executed, and only after
 * a reconnect may the client send it again.
 */
static int reply_plan(struct rpcrdma2_svc_call *call,
		      const struct xdr_buf *xdr)
{
	struct rpcrdma2_conn *conn = call->conn;
	int ret;

	call->nwrs = 0;
	call->reply_bytes = xdr->len;
	call->hdr.call = &call->rx->hdr;
	call->hdr.written = call->written;
	call->hdr.nwritten = 0;
	if (!reply_reduce(call, xdr))
		return 0;
	reply_choose(call);
	if (call->kind == RPCRDMA2_REPLY_ERROR)
		return 0;

	ret = call->nreduced ? rpcrdma2_reply_push_results(call, xdr) : 0;
	if (!ret && call->kind == RPCRDMA2_REPLY_NOMSG)
		ret = rpcrdma2_reply_push_stream(call, xdr);
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

/* Does an RDMA Write read from the page that holds head and tail? */
static bool reply_writes_head(const struct rpcrdma2_svc_call *call,
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
static int reply_take_pages(struct rpcrdma2_svc_call *call,
			    const struct xdr_buf *xdr, struct page **pages,
			    u32 npages, u32 first)
{
	int ret;
	u32 i;

	if (npages > call->resp->max_pages)
		return -EIO;
	if (xdr->page_len &&
	    (xdr->pages < pages ||
	     xdr->pages + DIV_ROUND_UP(xdr->page_base + xdr->page_len,
				       PAGE_SIZE) > pages + npages))
		return -EIO;
	ret = rpcrdma2_call_room(call, npages);
	if (ret)
		return ret;

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

	if (rpcrdma2_xdr_read(copy->xdr, pos, copy->p, len))
		return -EIO;
	copy->p += len;
	return 0;
}

/* Write the message into the slot. Returns the length. */
static int reply_encode(struct rpcrdma2_svc_call *call,
			struct rpcrdma2_send *send, const struct xdr_buf *xdr)
{
	struct rpcrdma2_conn *conn = call->conn;
	struct reply_copy copy;
	int len, ret;

	if (call->kind == RPCRDMA2_REPLY_ERROR)
		return conn->codec->encode_error(&call->rx->hdr,
				rpcrdma2_credit_grant(&conn->credit), call->err,
				call->err_arg, send->buf, send->size);

	call->hdr.credit = rpcrdma2_credit_grant(&conn->credit);
	len = conn->codec->encode_reply(&call->hdr, send->buf, send->size);
	if (len < 0 || call->kind == RPCRDMA2_REPLY_NOMSG)
		return len;
	if (call->reply_bytes > send->size - len)
		return -EMSGSIZE;
	copy.xdr = xdr;
	copy.p = send->buf + len;
	ret = rpcrdma2_reply_ranges(call, xdr, reply_copy_range, &copy);
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

/* The Send of a Reply completed, and so did its RDMA Writes. */
static void reply_done(struct rpcrdma2_send *send, int status)
{
	struct rpcrdma2_svc_call *call = send->priv;
	struct rpcrdma2_responder *resp = call->resp;

	if (unlikely(!READ_ONCE(resp->replied)) && status >= 0) {
		WRITE_ONCE(resp->replied, true);
		resp->ops->replied(resp);
	}
	rpcrdma2_call_put(call);
}

/* Post the encoded message with the RDMA Writes in front of it. The
 * Reply's reference goes to the completion, if there is to be one.
 */
static void reply_post(struct rpcrdma2_svc_call *call,
		       struct rpcrdma2_send *send, int len)
{
	enum rpcrdma2_reply_kind kind = call->kind;
	struct rpcrdma2_conn *conn = call->conn;
	struct ib_send_wr *wr, *first = NULL;
	bool io = !list_empty(&call->todo);
	bool replied = READ_ONCE(call->resp->replied);
	u32 inv = call->inv_handle;
	u32 copied = call->reply_bytes;
	int ret;

	if (len < 0) {
		/* Neither Reply nor error: the requester must learn (MSG-11) */
		rpcrdma2_conn_kill(conn, -EIO);
		rpcrdma2_send_put(send);
		rpcrdma2_call_put(call);
		return;
	}
	if (kind == RPCRDMA2_REPLY_ERROR)
		inv = 0;
	rpcrdma2_call_credit(call);
	wr = rpcrdma2_send_prepare(send, len, inv);
	if (io || !replied) {
		send->done = reply_done;
		send->priv = call;
	}
	if (io) {
		first = rpcrdma2_rws_chain(conn, &call->todo, NULL, wr);
		if (replied && rpcrdma2_call_may_linger(call))
			send->holds = call->npages - call->first_page;
	}
	trace_rpcrdma2_reply_send(conn, call->hdr.xid, kind, len, call->nwrs,
				  inv, call->err);
	ret = rpcrdma2_send_post(send, first);
	if (ret) {
		rpcrdma2_call_put(call);
		return;
	}
	reply_count(conn, kind, inv, len, copied);
	if (!io && replied)
		rpcrdma2_call_put(call);
}

/* A Reply that waited is given up; the connection is gone. */
static void reply_drop(struct rpcrdma2_svc_call *call)
{
	rpcrdma2_call_rx_put(call);
	rpcrdma2_call_put(call);
}

static void reply_ready(struct rpcrdma2_sendq_waiter *w,
			struct rpcrdma2_send *send, int status)
{
	struct rpcrdma2_svc_call *call =
		container_of(w, struct rpcrdma2_svc_call, waiter);
	int len;

	if (status) {
		reply_drop(call);
		return;
	}
	len = reply_encode(call, send, &call->res);
	rpcrdma2_call_rx_put(call);
	reply_post(call, send, len);
}

static void reply_next(struct rpcrdma2_svc_call *call);

static void reply_batch_done(struct rpcrdma2_svc_call *call, int status)
{
	if (status)
		reply_drop(call);
	else
		reply_next(call);
}

/* Next step of a Reply that waits: the Send, or some of its RDMA Writes if
 * all of them do not fit into one post.
 */
static void reply_next(struct rpcrdma2_svc_call *call)
{
	struct rpcrdma2_conn *conn = call->conn;
	struct rpcrdma2_send *send;
	int nwrs;

	if (call->nwrs + 1 <= rpcrdma2_sendq_most(&conn->sendq)) {
		call->waiter.ready = reply_ready;
		send = rpcrdma2_send_get(conn, call->nwrs + 1, &call->waiter,
					 false);
		if (send)
			reply_ready(&call->waiter, send, 0);
		return;
	}

	/* All is mapped: this does not fail */
	nwrs = rpcrdma2_batch_map(call, U32_MAX);
	call->nwrs -= nwrs;
	rpcrdma2_batch_post(call, nwrs, reply_batch_done);
}

/* Send what was planned. Returns 1 if pages were taken, 0 if not. */
static int reply_go(struct rpcrdma2_svc_call *call, const struct xdr_buf *xdr,
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
	if (call->nwrs + 1 <= rpcrdma2_sendq_most(&conn->sendq))
		send = rpcrdma2_send_get(conn, call->nwrs + 1, NULL, false);
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
	trace_rpcrdma2_reply_waits(conn, call->hdr.xid, call->nwrs + 1);
	refcount_inc(&call->rx_refs);
	reply_next(call);
	return taken;

out_kill:
	rpcrdma2_conn_kill(conn, ret);
	rpcrdma2_call_put(call);
	return ret;
}

/**
 * rpcrdma2_call_reply - send the Reply to a Call
 * @call: the Call
 * @res: the RPC Reply message, @res->len set
 * @pages: the executor's pages, in which all of @res lies
 * @npages: how many
 *
 * Pages that RDMA Writes need, or all of them if the Reply has to wait, are
 * moved into the call object; their entries in @pages become NULL. What is sent
 * inline is copied. It may have to wait for room in the send queue.
 *
 * Context: process; may sleep for memory, on a server, and for nothing else.
 * Return: 0 if @pages was left alone, 1 if pages were taken, or a negative
 * errno if the connection is lost or given up. The caller calls
 * rpcrdma2_call_release() in every case.
 */
int rpcrdma2_call_reply(struct rpcrdma2_svc_call *call,
			const struct xdr_buf *res, struct page **pages,
			u32 npages)
{
	struct rpcrdma2_conn *conn = call->conn;
	int ret;

	if (!rpcrdma2_conn_ready(conn))
		return -ENOTCONN;
	ret = reply_plan(call, res);
	if (ret) {
		rpcrdma2_conn_kill(conn, ret);
		return ret;
	}
	refcount_inc(&call->refs);
	rpcrdma2_call_set_state(call, RPCRDMA2_CALL_REPLYING);
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
void rpcrdma2_call_payload(struct rpcrdma2_svc_call *call, u32 offset,
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

/**
 * rpcrdma2_call_refuse - answer with an RDMA2_ERROR instead of executing
 * @call: not seen by the executor; released
 * @err: error code of the protocol
 * @arg0: its first argument, in the unit of that error
 *
 * Context: process; does not sleep.
 */
void rpcrdma2_call_refuse(struct rpcrdma2_svc_call *call, u32 err, u32 arg0)
{
	refcount_inc(&call->refs);
	call->nwrs = 0;
	rpcrdma2_call_set_state(call, RPCRDMA2_CALL_REPLYING);
	reply_set_error(call, err, arg0, 0);
	reply_go(call, NULL, NULL, 0);
	rpcrdma2_call_release(call);
}

/**
 * rpcrdma2_call_garbage - answer a Call whose arguments can't be put together
 * @call: not seen by the executor; released
 *
 * The header is good, so this is for the RPC layer to report: GARBAGE_ARGS
 * (MSG-10).
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
