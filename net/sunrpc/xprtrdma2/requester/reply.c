// SPDX-License-Identifier: GPL-2.0
/*
 * Replies and ERRORs: to which RPC they belong, whether they fit it, what of
 * them goes where.
 *
 * Runs in completion handlers. Never sleeps.
 */
#include <linux/sunrpc/clnt.h>

#include "compat.h"
#include "proto/chunk_list.h"
#include "requester/marshal.h"
#include "requester/invalidate.h"
#include "requester/requester.h"
#include <trace/events/rpcrdma2.h>

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
	if (hdr->write_chunks) {
		rpcrdma2_write_list_begin(hdr, &c);
		if (rpcrdma2_write_list_next(&c, &segs) &&
		    !chunk_returned(write, segs, &rc->written))
			return false;
	}
	if (hdr->reply_chunk && rpcrdma2_hdr_reply_chunk(hdr, &segs) &&
	    !chunk_returned(reply, segs, &rc->reply))
		return false;
	if (hdr->htype == RDMA2_NOMSG)
		return rc->reply >= 2 * XDR_UNIT;	/* MSG-8 */
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
		/* XIDs can be guessed, and its sender is not done with it */
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
		/* A local invalidation under way takes care of it */
		if (req->inval == RPCRDMA2_LOCAL_INV_NONE &&
		    mr->state == RPCRDMA2_MR_VALID)
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
	if (len <= rcv->head[0].iov_len) {
		memcpy(rcv->head[0].iov_base, hdr->body, len);
	} else {
		write_bytes_to_xdr_buf(rcv, 0, (void *)hdr->body, len);
		rpcrdma2_stat_add(rq->stats, copied_bytes,
				  len - rcv->head[0].iov_len);
	}
	req->copied = len;
}

/* The payload is in the pages already. The inline part has what comes
 * before it, which is at most as long as the head, and what comes after it.
 * The padding between is not transferred, but counts: rpc_decode_header()
 * wants a multiple of four.
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
	/* call_decode() wants them identical */
	memcpy(&req->rqst.rq_private_buf, rcv, sizeof(*rcv));
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

/* A Reply or ERROR of an RPC is here: its credit is free; decide who fences
 * and ends it. Returns true if the caller does.
 */
static bool answer(struct rpcrdma2_requester *rq, struct rpcrdma2_conn *conn,
		   struct rpcrdma2_req *req, bool wanted, bool *put)
{
	lockdep_assert_held(&rq->xprt.queue_lock);
	rpcrdma2_credit_put(&conn->recvq);
	*put = false;
	if (req->state == RPCRDMA2_REQ_ORPHAN) {
		trace_rpcrdma2_orphan_answered(req);
		if (req->inval)
			rpcrdma2_req_set_state(req, RPCRDMA2_REQ_ANSWERED);
		else
			*put = rpcrdma2_inval_release(rq, req);
		return false;
	}
	if (!wanted) {
		rpcrdma2_req_set_state(req, RPCRDMA2_REQ_ANSWERED);
		return false;
	}
	rpcrdma2_req_set_state(req, RPCRDMA2_REQ_REPLIED);
	xprt_pin_rqst(&req->rqst);
	rpcrdma2_inval_begin(req);
	return true;
}

static void dropped(struct rpcrdma2_requester *rq, struct rpcrdma2_conn *conn,
		    const struct rpcrdma2_recv *rx)
{
	rpcrdma2_stat_inc(rq->stats, rx_dropped);
	trace_rpcrdma2_reject_dropped(conn, rx);
}

/**
 * enum remedy - what becomes of an RPC that was answered with an ERROR
 * @FAIL: it ends with -EIO
 * @SEND_AGAIN: it has had no effect and goes once more at once, in another form
 * @RECONNECT: it may have had an effect: it goes once more in another form, on
 *	another connection, where the server expects Calls that it has seen
 *	before and answers them from its reply cache. Or in version 1 (D-34)
 */
enum remedy {
	FAIL,
	SEND_AGAIN,
	RECONNECT,
};

/* All registrations are as large as the device can make them, and so no chunk
 * can do with fewer segments. To know it saves later RPCs the round trip.
 */
static enum remedy segments_refused(struct rpcrdma2_requester *rq, u32 limit)
{
	if (!limit || limit >= rq->max_segs)
		return FAIL;
	WRITE_ONCE(rq->max_segs, limit);
	pr_notice_ratelimited("rpcrdma2: server %s takes chunks of at most %u segments: transfers above %lu KiB fail, mount with smaller rsize and wsize\n",
			      rq->xprt.servername, limit,
			      (limit * rq->pool->depth - 1) * (PAGE_SIZE >> 10));
	return FAIL;
}

/* A Reply did not fit inline. Either the responder sends less than it receives,
 * which D-16 takes for granted, or it has no use for Write chunks and must say
 * so in this way. Only a READ or the like has a Write chunk (RFC 8267), so that
 * it can be sent again at once; a GSS Call can't, its sequence number is used.
 */
static enum remedy reply_refused(struct rpcrdma2_requester *rq,
				 const struct rpcrdma2_req *req)
{
	bool read = req->plan.results == RPCRDMA2_RES_WRITE;

	if (req->plan.results == RPCRDMA2_RES_REPLY)
		return FAIL;
	if (req->plan.reply_due > RPCRDMA2_INLINE_DEFAULT)
		WRITE_ONCE(rq->max_reply, RPCRDMA2_INLINE_DEFAULT);
	else if (read)
		WRITE_ONCE(rq->refused, rq->refused | RPCRDMA2_REFUSED_WRITE);
	else
		return FAIL;
	if (!read || compat_rqst_has_seqno(&req->rqst))
		return RECONNECT;
	return SEND_AGAIN;
}

/* Has the responder refused the form of a Call, not the Call? What it says is
 * remembered and obeyed by all Calls that are sent from now on, so that none is
 * refused twice for the same reason (ERR-20, ERR-23, ERR-25, ERR-30, SEC-15).
 */
static enum remedy error_remedy(struct rpcrdma2_requester *rq,
				struct rpcrdma2_conn *conn,
				const struct rpcrdma2_req *req,
				const struct rpcrdma2_hdr *hdr)
{
	lockdep_assert_held(&rq->xprt.queue_lock);
	/* Without a pool there are no other forms */
	if (conn->codec->vers != RPCRDMA_VERS_2 || !rq->pool)
		return FAIL;
	switch (hdr->err) {
	case RDMA2_ERR_READ_CHUNKS:
		if (req->plan.args != RPCRDMA2_ARGS_READ)
			return FAIL;
		WRITE_ONCE(rq->refused, rq->refused | RPCRDMA2_REFUSED_READ);
		return SEND_AGAIN;
	case RDMA2_ERR_WRITE_CHUNKS:
		if (req->plan.results != RPCRDMA2_RES_WRITE)
			return FAIL;
		WRITE_ONCE(rq->refused, rq->refused | RPCRDMA2_REFUSED_WRITE);
		return SEND_AGAIN;
	case RDMA2_ERR_SEGMENTS:
		return segments_refused(rq, hdr->err_arg[0]);
	case RDMA2_ERR_REPLY_RESOURCE:
		return reply_refused(rq, req);
	case RDMA2_ERR_INVAL_HTYPE:
		return rpcrdma2_ver_refused(conn) ? RECONNECT : FAIL;
	default:
		return FAIL;
	}
}

static void learned(struct rpcrdma2_requester *rq, enum remedy remedy)
{
	lockdep_assert_held(&rq->xprt.queue_lock);
	if (remedy == RECONNECT)
		rq->lesson = RPCRDMA2_LESSON_NEXT;
	else if (remedy != FAIL && rq->lesson == RPCRDMA2_LESSON_USED)
		rq->lesson = RPCRDMA2_LESSON_NEW;
}

/* An ERROR has come for an RPC that was not cancelled. */
static enum remedy take_error(struct rpcrdma2_requester *rq,
			      struct rpcrdma2_conn *conn,
			      struct rpcrdma2_req *req,
			      const struct rpcrdma2_hdr *hdr, bool wanted)
{
	enum remedy remedy = error_remedy(rq, conn, req, hdr);

	learned(rq, remedy);
	/* Also if it is just being encoded again */
	req->error = remedy == FAIL ? -EIO : 0;
	req->again = wanted && remedy == SEND_AGAIN;
	return remedy;
}

/**
 * rpcrdma2_requester_answer - a Reply arrived, or an RDMA2_ERROR
 * @rq: the requester
 * @conn: its connection
 * @rx: well-formed MSG or NOMSG with RESPONSE set, or ERROR that is not about a
 *	control message; not kept
 *
 * A Reply that contradicts its Call is dropped (MSG-3, MSG-8, CHK-13, HDR-7). Since
 * another one will hardly follow, the connection is given up, and the RPC is
 * sent again on a new one, at growing distances (REC-5).
 *
 * After an ERROR the RPC ends with -EIO, when its memory is fenced (ERR-8, ERR-10,
 * ERR-16, ERR-27, ERR-29, ERR-32), unless the code asks for another form of the Call
 * and there is one. INVAL_HTYPE ends the connection instead, if version 1 may
 * be spoken: the RPC was not executed and is sent again (ERR-18, D-34). The
 * credit field means nothing (ERR-3).
 *
 * Context: completion handler; does not sleep.
 */
void rpcrdma2_requester_answer(struct rpcrdma2_requester *rq,
			       struct rpcrdma2_conn *conn,
			       struct rpcrdma2_recv *rx)
{
	bool wanted, fair, sane = true, end = false, put = false;
	const struct rpcrdma2_hdr *hdr = &rx->hdr;
	bool error = hdr->htype == RDMA2_ERROR;
	struct reply_chunks rc = { };
	enum remedy remedy = FAIL;
	struct rpcrdma2_req *req;

	spin_lock(&rq->xprt.queue_lock);
	req = find_req(rq, hdr->xid, &wanted);
	fair = take_invalidated(rq, req, rx);
	if (req && fair) {
		if (req->state == RPCRDMA2_REQ_ORPHAN)
			;	/* only its end is of interest */
		else if (unlikely(error))
			remedy = take_error(rq, conn, req, hdr, wanted);
		else
			sane = reply_is_sane(req, hdr, &rc);
		if (sane)
			end = answer(rq, conn, req, wanted, &put);
	}
	spin_unlock(&rq->xprt.queue_lock);

	if (!fair) {
		rpcrdma2_conn_kill(conn, -EPROTO);
		return;
	}
	/* A grant is valid in any Reply (CRED-14) */
	if (!error && hdr->credit != rpcrdma2_credit_have(&conn->recvq))
		rpcrdma2_credit_granted(conn, hdr->credit);
	if (unlikely(remedy == RECONNECT))
		rpcrdma2_conn_kill(conn, -EMSGSIZE);
	if (end) {
		if (unlikely(error)) {
			trace_rpcrdma2_call_error(conn, req, hdr);
			req->nomsg = false;
		} else {
			take_reply(rq, req, hdr, &rc);
			trace_rpcrdma2_reply(conn, req, hdr);
		}
		if (unlikely(remedy == RECONNECT))
			rpcrdma2_inval_redo(rq, req);
		else
			rpcrdma2_inval_end(rq, conn, req);
	} else if (put) {
		rpcrdma2_slot_put(req);
	} else if (!req) {
		rpcrdma2_stat_inc(rq->stats, rx_bad_xid);
		dropped(rq, conn, rx);
	} else if (!sane) {
		atomic_long_inc(&rq->bad_replies);
		dropped(rq, conn, rx);
		rpcrdma2_conn_kill(conn, -EPROTO);
	}
	rpcrdma2_requester_run(rq, NULL);
}
