// SPDX-License-Identifier: GPL-2.0
/*
 * Replies and ERRORs: find the RPC, check the message against its Call, and copy the
 * results to their xdr_buf.
 *
 * Runs in completion handlers. Never sleeps.
 */

#include "compat.h"
#include "conn/control.h"
#include "proto/chunk_list.h"
#include "requester/devmem.h"
#include "requester/requester.h"
#include <trace/events/rpcrdma2.h>

/* Whether a returned chunk matches the one offered (CHK-14, CHK-19) */
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
		/* The data have no holes (CHK-15) */
		if (ended && seg.length)
			return false;
		if (seg.length < mine->seg[n].length)
			ended = true;
		*bytes += seg.length;
	}
	return !n || n == mine->nsegs;
}

/* Check a Reply with chunks, or in one, against its Call. Returns the number of bytes in the
 * chunk for the results, or -EPROTO.
 */
static noinline_for_stack int
chunks_bytes(const struct rpcrdma2_req *req, const struct rpcrdma2_hdr *hdr)
{
	static const struct rpcrdma2_chunk none;
	bool write = req->results.form == RPCRDMA2_FORM_PAYLOAD;
	const struct rpcrdma2_chunk *reply = &none;
	struct rpcrdma2_cursor c, segs;
	u32 bytes = 0, in_reply = 0;

	if (hdr->read_segs || hdr->write_chunks > write)	/* CHK-13 */
		return -EPROTO;
	rpcrdma2_write_list_begin(hdr, &c);
	if (rpcrdma2_write_list_next(&c, &segs) &&
	    !chunk_returned(&req->results.chunk, segs, &bytes))
		return -EPROTO;
	if (req->results.form == RPCRDMA2_FORM_WHOLE)
		reply = &req->results.chunk;
	if (hdr->reply_chunk && rpcrdma2_hdr_reply_chunk(hdr, &segs) &&
	    !chunk_returned(reply, segs, &in_reply))
		return -EPROTO;
	if (hdr->htype == RDMA2_NOMSG ? in_reply < 2 * XDR_UNIT :	/* MSG-8 */
					in_reply || hdr->body_len < 2 * XDR_UNIT) /* MSG-3 */
		return -EPROTO;
	return bytes + in_reply;
}

/* The same for any Reply */
static int reply_bytes(const struct rpcrdma2_req *req, const struct rpcrdma2_hdr *hdr)
{
	if (likely(hdr->htype == RDMA2_MSG && !hdr->results_len && !hdr->read_segs &&
		   hdr->body_len >= 2 * XDR_UNIT))
		return 0;
	return chunks_bytes(req, hdr);
}

/* The RPC that a Reply or ERROR belongs to, or NULL. *@wanted: sunrpc waits for the
 * Reply; if not, the RPC was cancelled, maybe is an ORPHAN, or is being encoded again.
 */
static struct rpcrdma2_req *find_req(struct rpcrdma2_requester *rq, u32 xid,
				     bool *wanted)
{
	struct rpcrdma2_req *other, *req = NULL;
	struct rpc_rqst *rqst;

	lockdep_assert_held(&rq->xprt.queue_lock);
	rqst = xprt_lookup_rqst(&rq->xprt, cpu_to_be32(xid));
	*wanted = rqst;
	if (rqst) {
		req = rpcrdma2_req(rqst);
	} else {
		list_for_each_entry(other, &rq->outstanding, list)
			if (other->rqst.rq_xid == cpu_to_be32(xid)) {
				req = other;
				break;
			}
	}
	if (!req)
		return NULL;
	switch (req->state) {
	case RPCRDMA2_REQ_SENDING:
		/* A peer can guess the XID of a Call that is not posted yet */
		return smp_load_acquire(&req->on_wire) ? req : NULL;
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
		/* A local invalidation in progress includes this MR */
		if (!req->ninv && mr->state == RPCRDMA2_MR_VALID)
			mr->state = RPCRDMA2_MR_MAPPED;
		return true;
	}
	return false;
}

/* Record that the device has invalidated a handle for the peer (RINV-11). Returns false
 * for a handle that the peer may not name here: it must belong to the RPC answered or
 * to a cancelled RPC. Any other RPC has lost its memory (RINV-14).
 */
static bool take_invalidated(struct rpcrdma2_requester *rq,
			     struct rpcrdma2_req *req,
			     const struct rpcrdma2_recv *rx)
{
	struct rpcrdma2_stats *stats = rx->conn->p.stats;
	struct rpcrdma2_req *other;

	lockdep_assert_held(&rq->xprt.queue_lock);
	if (!rx->invalidated)
		return true;
	if (req && mark_invalid(req, rx->inv_handle)) {
		rpcrdma2_stat_inc(stats, remote_invalidations);
		return true;
	}
	list_for_each_entry(other, &rq->outstanding, list)
		if ((other->state == RPCRDMA2_REQ_ORPHAN ||
		     other->state == RPCRDMA2_REQ_ANSWERED) &&
		    mark_invalid(other, rx->inv_handle))
			return true;
	rpcrdma2_stat_inc(stats, bad_inv_handle);
	return false;
}

/* Copy an RPC message that is inline to head, pages and tail, as from a socket. Bytes
 * that do not fit are cut off, which decoding detects.
 */
static void copy_inline(struct rpcrdma2_stats *stats, struct rpcrdma2_req *req,
			const struct rpcrdma2_hdr *hdr)
{
	struct xdr_buf *rcv = &req->rqst.rq_rcv_buf;
	u32 avail = rcv->head[0].iov_len + rcv->page_len +
		   rcv->tail[0].iov_len;
	u32 len = round_down(min(hdr->body_len, avail), XDR_UNIT);
	struct rpcrdma2_mr *mr;

	/* Unmap without a sync to the CPU: the peer has written nothing to the memory */
	list_for_each_entry(mr, &req->mrs, list)
		if (mr->dir == DMA_FROM_DEVICE)
			mr->skip_sync = true;
	if (len <= rcv->head[0].iov_len) {
		memcpy(rcv->head[0].iov_base, hdr->body, len);
	} else {
		write_bytes_to_xdr_buf(rcv, 0, (void *)hdr->body, len);
		rpcrdma2_stat_add(stats, copied_bytes,
				  len - rcv->head[0].iov_len);
	}
	req->copied = len;
}

/* Copy the inline part around a payload that is in the pages already. The part before
 * the payload is at most as long as the head. Padding is not transferred, but counts
 * in the length: rpc_decode_header() requires a multiple of four.
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
		/* The tail begins at the end of the payload as written */
		rcv->buflen -= rcv->page_len - written;
		rcv->page_len = written;
		after = pad > tail->iov_len ? 0 :
			min_t(u32, after, tail->iov_len - pad);
		memset(tail->iov_base, 0, min_t(u32, pad, tail->iov_len));
		memcpy(tail->iov_base + pad, hdr->body + before, after);
	}
	req->copied = round_down(before + written + pad + after, XDR_UNIT);
	/* call_decode() requires them to be identical */
	memcpy(&req->rqst.rq_private_buf, rcv, sizeof(*rcv));
}

static void take_reply(struct rpcrdma2_stats *stats, struct rpcrdma2_req *req,
		       const struct rpcrdma2_hdr *hdr, u32 bytes)
{
	req->nomsg = hdr->htype == RDMA2_NOMSG;
	if (req->nomsg) {
		/* In place, or in bounce pages */
		rpcrdma2_stat_add(stats, reply_chunk_bytes, bytes);
		req->copied = bytes;
	} else if (bytes) {
		rpcrdma2_stat_add(stats, write_bytes, bytes);
		copy_around_payload(req, hdr, bytes);
	} else if (req->results.form == RPCRDMA2_FORM_PAYLOAD &&
		   hdr->body_len > req->rqst.rq_rcv_buf.head[0].iov_len &&
		   rpcrdma2_devmem_payload(&req->results)) {
		/* The payload is inline: the server has not used the Write chunk */
		guard(spinlock)(&req->rq->xprt.queue_lock);
		req->error = rpcrdma2_devmem_refuse();
	} else {
		copy_inline(stats, req, hdr);
	}
}

/* Account for the Reply or ERROR of an RPC: its credit is free again. Returns true if
 * the caller has to invalidate the memory of the RPC and complete it.
 */
static bool answer(struct rpcrdma2_conn *conn, struct rpcrdma2_req *req, bool wanted)
{
	rpcrdma2_credit_put(&conn->credit);
	if (req->state == RPCRDMA2_REQ_ORPHAN) {
		trace_rpcrdma2_orphan_answered(req);
		if (!req->ninv) {
			rpcrdma2_req_release(req);
			return false;
		}
	}
	rpcrdma2_req_set_state(req, wanted ? RPCRDMA2_REQ_REPLIED :
					     RPCRDMA2_REQ_ANSWERED);
	if (!wanted)
		return false;
	xprt_pin_rqst(&req->rqst);
	if (!list_empty(&req->mrs))
		rpcrdma2_inval_begin(req);
	return true;
}

/**
 * enum remedy - what to do with an RPC that was answered with an ERROR
 * @FAIL: end the RPC with -EIO
 * @SEND_AGAIN: send the Call again at once, in another form: the server has not
 *	executed the Call
 * @RECONNECT: send the Call again on another connection, in another form or in
 *	version 1 (D-34). The server may have executed the Call; on a new connection
 *	it expects retransmissions and answers them from its reply cache
 */
enum remedy {
	FAIL,
	SEND_AGAIN,
	RECONNECT,
};

/* The server takes fewer segments. All registrations are as large as the device allows,
 * so no chunk can have fewer segments. The limit saves later RPCs the round trip.
 */
static enum remedy segments_refused(struct rpcrdma2_requester *rq, u32 limit)
{
	if (!limit || limit >= rq->max_segs)
		return FAIL;
	WRITE_ONCE(rq->max_segs, limit);
	pr_notice_ratelimited("rpcrdma2: server %s takes chunks of at most %u segments: transfers above %lu KiB fail, mount with smaller rsize and wsize\n",
			      rq->xprt.servername, limit,
			      (limit * rq->pool.depth - 1) * (PAGE_SIZE >> 10));
	return FAIL;
}

/* A Reply did not fit inline. The responder sends shorter messages than it receives,
 * though D-16 assumes that it does not, or it does not use Write chunks and can say
 * so only in this way. Only READs and the like have a Write chunk (RFC 8267), which
 * can be sent again at once, but not with GSS: the sequence number is used.
 */
static enum remedy reply_refused(struct rpcrdma2_requester *rq,
				 const struct rpcrdma2_req *req)
{
	bool read = req->results.form == RPCRDMA2_FORM_PAYLOAD;

	if (req->results.form == RPCRDMA2_FORM_WHOLE)
		return FAIL;
	if (req->reply_due > RPCRDMA2_INLINE_DEFAULT)
		WRITE_ONCE(rq->max_reply, RPCRDMA2_INLINE_DEFAULT);
	else if (read)
		WRITE_ONCE(rq->refused, rq->refused | XDRBUF_READ);
	else
		return FAIL;
	if (!read || compat_rqst_has_seqno(&req->rqst))
		return RECONNECT;
	return SEND_AGAIN;
}

/* Choose a remedy for an ERROR. If the responder refuses the form of a Call, not the
 * Call, no later Call has this form, so that none is refused twice for the same reason
 * (ERR-20, ERR-23, ERR-25, ERR-30, SEC-15).
 */
static enum remedy error_remedy(struct rpcrdma2_requester *rq,
				struct rpcrdma2_conn *conn,
				const struct rpcrdma2_req *req,
				const struct rpcrdma2_hdr *hdr)
{
	lockdep_assert_held(&rq->xprt.queue_lock);
	if (conn->client && rpcrdma2_ver_refused(conn, hdr))
		return RECONNECT;
	/* Without MRs there is no other form */
	if (conn->codec->vers != RPCRDMA_VERS_2 || !rq->pool.depth)
		return FAIL;
	switch (hdr->err) {
	case RDMA2_ERR_READ_CHUNKS:
		if (req->args.form != RPCRDMA2_FORM_PAYLOAD)
			return FAIL;
		WRITE_ONCE(rq->refused, rq->refused | XDRBUF_WRITE);
		return SEND_AGAIN;
	case RDMA2_ERR_WRITE_CHUNKS:
		if (req->results.form != RPCRDMA2_FORM_PAYLOAD)
			return FAIL;
		WRITE_ONCE(rq->refused, rq->refused | XDRBUF_READ);
		return SEND_AGAIN;
	case RDMA2_ERR_SEGMENTS:
		return segments_refused(rq, hdr->err_arg[0]);
	case RDMA2_ERR_REPLY_RESOURCE:
		return reply_refused(rq, req);
	default:
		return FAIL;
	}
}

/* Handle an ERROR for an RPC that was not cancelled. */
static enum remedy take_error(struct rpcrdma2_requester *rq,
			      struct rpcrdma2_conn *conn,
			      struct rpcrdma2_req *req,
			      const struct rpcrdma2_hdr *hdr, bool wanted)
{
	enum remedy remedy = error_remedy(rq, conn, req, hdr);

	rq->lesson_new |= remedy != FAIL;
	/* Also while the RPC is being encoded again */
	req->error = remedy == FAIL ? -EIO : 0;
	req->again = wanted && remedy == SEND_AGAIN;
	return remedy;
}

/**
 * rpcrdma2_requester_answer - handle a Reply or an RDMA2_ERROR
 * @rq: the requester
 * @conn: its connection
 * @rx: well-formed MSG or NOMSG with RESPONSE set, or ERROR that is not about a
 *	control message; not kept
 *
 * A Reply that contradicts its Call is dropped (MSG-3, MSG-8, CHK-13, HDR-7). A second
 * Reply is unlikely, so the connection is given up, and sunrpc sends the RPC again on a
 * new one, with a growing delay (REC-5).
 *
 * After an ERROR the RPC ends with -EIO as soon as its handles are invalid (ERR-8,
 * ERR-10, ERR-16, ERR-27, ERR-29, ERR-32), unless the error code asks for another form
 * of the Call and there is one. INVAL_HTYPE ends the connection instead, if version 1 is
 * allowed, and so does ERR_VERS from a server that takes version 2 only: the RPC was not
 * executed and is sent again (ERR-18, D-22, D-34). The credit
 * field of an ERROR has no meaning (ERR-3).
 *
 * Context: completion handler; does not sleep.
 */
void rpcrdma2_requester_answer(struct rpcrdma2_requester *rq,
			       struct rpcrdma2_conn *conn,
			       struct rpcrdma2_recv *rx)
{
	bool wanted, fair, end = false;
	const struct rpcrdma2_hdr *hdr = &rx->hdr;
	bool error = hdr->htype == RDMA2_ERROR;
	enum remedy remedy = FAIL;
	struct rpcrdma2_req *req;
	int bytes = 0;

	spin_lock(&rq->xprt.queue_lock);
	req = find_req(rq, hdr->xid, &wanted);
	fair = take_invalidated(rq, req, rx);
	if (req && fair) {
		if (req->state == RPCRDMA2_REQ_ORPHAN)
			;	/* the Reply only ends it */
		else if (unlikely(error))
			remedy = take_error(rq, conn, req, hdr, wanted);
		else
			bytes = reply_bytes(req, hdr);
		if (bytes >= 0)
			end = answer(conn, req, wanted);
	}
	spin_unlock(&rq->xprt.queue_lock);

	if (!fair) {
		rpcrdma2_conn_kill(conn, -EPROTO);
		return;
	}
	/* A grant is valid in every Reply (CRED-14) */
	if (!error && hdr->credit != rpcrdma2_credit_have(&conn->credit))
		rpcrdma2_credit_granted(conn, hdr->credit);
	if (unlikely(remedy == RECONNECT))
		rpcrdma2_conn_kill(conn, -EMSGSIZE);
	if (end) {
		if (unlikely(error)) {
			trace_rpcrdma2_call_error(conn, req, hdr);
			req->nomsg = false;
		} else {
			take_reply(conn->p.stats, req, hdr, bytes);
			trace_rpcrdma2_reply(conn, req, hdr);
		}
		if (unlikely(remedy == RECONNECT))
			rpcrdma2_inval_redo(req);
		else
			rpcrdma2_inval_end(conn, req);
	} else if (!req) {
		rpcrdma2_stat_inc(conn->p.stats, rx_bad_xid);
		rpcrdma2_reject_dropped(conn, rx);
	} else if (bytes < 0) {
		atomic_long_inc(&rq->bad_replies);
		rpcrdma2_reject_dropped(conn, rx);
		rpcrdma2_conn_kill(conn, -EPROTO);
	}
	rpcrdma2_requester_run(rq);
}
