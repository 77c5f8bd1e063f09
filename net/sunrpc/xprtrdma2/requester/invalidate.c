// SPDX-License-Identifier: GPL-2.0
/*
 * The end of an RPC: its memory is put out of the peer's reach, then it is
 * completed. Also of those that were cancelled with their Reply due, which
 * are the transport's until the Reply is here: orphans.
 *
 * Runs in completion handlers, cancelling in the thread of sunrpc that cancels.
 * Only the latter may sleep.
 */
#include <linux/sunrpc/clnt.h>

#include "requester/marshal.h"
#include "requester/invalidate.h"
#include "requester/requester.h"
#include "conn/workqueue.h"
#include <trace/events/rpcrdma2.h>

/* The Call was refused before it was executed, and is fenced: the same once
 * more in another form (ERR-30), before all that wait.
 */
static void send_again(struct rpcrdma2_requester *rq,
		       struct rpcrdma2_req *req)
{
	spin_lock(&rq->xprt.queue_lock);
	list_move(&req->list, &rq->fifo);
	rpcrdma2_req_set_state(req, RPCRDMA2_REQ_QUEUED);
	req->again = false;
	rpcrdma2_req_set_inval(req, RPCRDMA2_LOCAL_INV_NONE);
	WRITE_ONCE(rq->mr_wait, false);
	xprt_unpin_rqst(&req->rqst);
	spin_unlock(&rq->xprt.queue_lock);
}

/**
 * rpcrdma2_inval_redo - what was taken for the answer to an RPC is none
 * @rq: the requester
 * @req: the RPC
 *
 * It waits for the end of the connection, which the caller gives up; sunrpc
 * sends it again on another one.
 *
 * Context: process; does not sleep.
 */
void rpcrdma2_inval_redo(struct rpcrdma2_requester *rq, struct rpcrdma2_req *req)
{
	spin_lock(&rq->xprt.queue_lock);
	if (req->state == RPCRDMA2_REQ_REPLIED) {
		rpcrdma2_req_set_state(req, RPCRDMA2_REQ_ANSWERED);
		xprt_unpin_rqst(&req->rqst);
	}
	rpcrdma2_req_set_inval(req, RPCRDMA2_LOCAL_INV_LOST);
	spin_unlock(&rq->xprt.queue_lock);
}

/* What came through the Reply chunk: is it the Reply to this RPC (HDR-7)? */
static bool is_own_reply(const struct rpcrdma2_req *req)
{
	const __be32 *p = req->rqst.rq_rcv_buf.head[0].iov_base;

	return p[0] == req->rqst.rq_xid && p[1] == rpc_reply;
}

/* The RPC is fenced: complete it. The slot is sunrpc's afterwards. The
 * caller runs the FIFO.
 */
static void finish(struct rpcrdma2_requester *rq, struct rpcrdma2_req *req)
{
	struct rpc_rqst *rqst = &req->rqst;
	int error = req->error;

	rpcrdma2_req_mrs_put(rq, req);
	if (req->again) {
		send_again(rq, req);
		return;
	}
	if (req->nomsg && !error) {
		if (rpcrdma2_marshal_copy_out(req, &req->res_span, req->copied)) {
			error = -EIO;
		} else if (!is_own_reply(req)) {
			atomic_long_inc(&rq->bad_replies);
			rpcrdma2_stat_inc(rq->stats, rx_dropped);
			rpcrdma2_conn_kill(READ_ONCE(rq->conn), -EPROTO);
			rpcrdma2_inval_redo(rq, req);
			return;
		}
	}

	spin_lock(&rq->xprt.queue_lock);
	req->error = error;
	trace_rpcrdma2_completed(req);
	list_del_init(&req->list);
	rpcrdma2_req_set_state(req, RPCRDMA2_REQ_IDLE);
	rpcrdma2_req_set_inval(req, RPCRDMA2_LOCAL_INV_NONE);
	WRITE_ONCE(rq->mr_wait, false);
	if (req->error) {
		rpcrdma2_req_fail(rq, req);
	} else {
		rq->replies++;
		if (rq->lesson == RPCRDMA2_LESSON_NEW)
			rq->lesson = RPCRDMA2_LESSON_USED;
		xprt_complete_rqst(rqst->rq_task, req->copied);
	}
	xprt_unpin_rqst(rqst);
	spin_unlock(&rq->xprt.queue_lock);
}

/**
 * rpcrdma2_inval_begin - the memory of an RPC has to be fenced
 * @req: the RPC; @ninv is set to the number of handles that the peer may still
 *	use. If there are any the fence is under way
 *
 * Context: queue_lock held.
 */
void rpcrdma2_inval_begin(struct rpcrdma2_req *req)
{
	const struct rpcrdma2_mr *mr;

	req->ninv = 0;
	list_for_each_entry(mr, &req->mrs, list)
		req->ninv += mr->state == RPCRDMA2_MR_VALID;
	if (!req->ninv)
		return;
	req->inval_start = jiffies;
	rpcrdma2_req_set_inval(req, RPCRDMA2_LOCAL_INV_UNDERWAY);
}

/**
 * rpcrdma2_inval_release - the transport is done with a cancelled RPC
 * @rq: the requester
 * @req: RPC that was cancelled, answered, not being fenced
 *
 * Context: queue_lock held.
 * Return: true if the slot is to be put, without the lock
 */
bool rpcrdma2_inval_release(struct rpcrdma2_requester *rq,
			    struct rpcrdma2_req *req)
{
	bool abandoned = req->abandoned;

	lockdep_assert_held(&rq->xprt.queue_lock);
	rpcrdma2_req_mrs_put(rq, req);
	list_del_init(&req->list);
	rpcrdma2_req_set_state(req, RPCRDMA2_REQ_IDLE);
	req->abandoned = false;
	WRITE_ONCE(rq->mr_wait, false);
	return abandoned;
}

static void inval_complete(struct rpcrdma2_req *req)
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
		rpcrdma2_requester_run(rq);
		return;
	}
	/* Cancelled: its owner waits, and will reuse the memory. The MRs
	 * themselves stay here until the Reply.
	 */
	list_for_each_entry(mr, &req->mrs, list)
		rpcrdma2_mr_unmap(mr);
	rpcrdma2_req_set_inval(req, RPCRDMA2_LOCAL_INV_NONE);
	wake_up_all(&rq->wq);
	spin_unlock(&rq->xprt.queue_lock);
}

/* The connection is lost; only its end fences (RINV-15). */
static void inval_failed(struct rpcrdma2_req *req)
{
	rpcrdma2_inval_redo(req->rq, req);
}

/* The last local invalidation of an RPC completed, so all are done. */
static void inval_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct rpcrdma2_mr *mr = container_of(wc->wr_cqe, struct rpcrdma2_mr,
					      inv_cqe);
	struct rpcrdma2_conn *conn = cq->cq_context;
	struct rpcrdma2_req *req = mr->req;

	guard(rpcrdma2_completion)();
	/* First of all: the slot may soon belong to another RPC */
	if (!req || !rpcrdma2_sendq_done(conn, &req->inv_waiter, wc))
		return;
	if (likely(wc->status == IB_WC_SUCCESS)) {
		inval_complete(req);
	} else {
		rpcrdma2_conn_wc_failed(conn, "inv", req->inv_waiter.cid, wc);
		rpcrdma2_conn_kill(conn, -ENOTCONN);
		inval_failed(req);
	}
}

static void inval_post(struct rpcrdma2_req *req, struct rpcrdma2_conn *conn)
{
	u32 ninv = req->ninv;
	struct ib_send_wr *wr = NULL;
	struct rpcrdma2_mr *mr;

	/* From the last one to the first */
	list_for_each_entry(mr, &req->mrs, list)
		if (mr->state == RPCRDMA2_MR_VALID)
			wr = rpcrdma2_mr_inv_wr(mr, wr,
						wr ? NULL : inval_done);
	rpcrdma2_stat_add(req->rq->stats, local_invalidations, ninv);
	trace_rpcrdma2_inval(req);
	if (!rpcrdma2_sendq_post(conn, &req->inv_waiter, wr))
		return;
	inval_failed(req);
	rpcrdma2_sendq_put(conn, ninv);
}

static void inval_room(struct rpcrdma2_sendq_waiter *w,
		       struct rpcrdma2_send *send, int status)
{
	struct rpcrdma2_req *req = container_of(w, struct rpcrdma2_req,
						inv_waiter);

	if (status)
		inval_failed(req);
	else
		inval_post(req, READ_ONCE(req->rq->conn));
}

/* Invalidate what is still valid. Ends in inval_complete() or
 * inval_failed(). Follows rpcrdma2_inval_begin().
 */
static void inval_run(struct rpcrdma2_req *req, struct rpcrdma2_conn *conn)
{
	req->inv_waiter.ready = inval_room;
	queue_delayed_work(rpcrdma2_wq, &req->rq->watchdog,
			   RPCRDMA2_LOCAL_INV_LOOK);
	if (rpcrdma2_sendq_get(conn, req->ninv, &req->inv_waiter))
		inval_post(req, conn);
}

/**
 * rpcrdma2_inval_end - fence and complete an RPC that is answered
 * @rq: the requester
 * @conn: its connection
 * @req: RPC in state REPLIED, pinned, after
 *	rpcrdma2_inval_begin()
 *
 * Context: completion handler; does not sleep.
 */
void rpcrdma2_inval_end(struct rpcrdma2_requester *rq, struct rpcrdma2_conn *conn,
			struct rpcrdma2_req *req)
{
	if (req->ninv)
		inval_run(req, conn);
	else
		finish(rq, req);
}

static bool inval_over(struct rpcrdma2_requester *rq,
		       const struct rpcrdma2_req *req)
{
	bool over;

	spin_lock(&rq->xprt.queue_lock);
	over = req->inval == RPCRDMA2_LOCAL_INV_NONE;
	spin_unlock(&rq->xprt.queue_lock);
	return over;
}

/* Wait until the memory is out of the peer's reach: soon by invalidation,
 * or by the end of the connection, which detaching announces.
 */
static void wait_for_fence(struct rpcrdma2_requester *rq,
			   struct rpcrdma2_req *req,
			   struct rpcrdma2_conn *conn)
{
	if (wait_event_timeout(rq->wq, inval_over(rq, req), RPCRDMA2_LOCAL_INV_LIMIT))
		return;
	if (conn)
		rpcrdma2_conn_kill(conn, -ETIMEDOUT);
	wait_event(rq->wq, inval_over(rq, req));
}

/**
 * rpcrdma2_inval_buf_free - sunrpc is done with an RPC's buffers
 * @task: the task
 *
 * The end of an ordinary RPC finds nothing to do. An RPC that is cancelled
 * with its Reply due is fenced here, before its memory is used for something
 * else, and becomes an orphan (RINV-18).
 *
 * rpc_xprt_ops.buf_free
 *
 * Context: process; may sleep to fence: as a rule well below a second, at
 * worst for RPCRDMA2_LOCAL_INV_LIMIT and until the connection is closed.
 */
void rpcrdma2_inval_buf_free(struct rpc_task *task)
{
	struct rpcrdma2_req *req = rpcrdma2_req(task->tk_rqstp);
	struct rpcrdma2_requester *rq = req->rq;
	struct rpcrdma2_conn *conn = NULL;
	bool post = false;

	/* sunrpc sends this RPC no more, so the state stays IDLE */
	if (likely(READ_ONCE(req->state) == RPCRDMA2_REQ_IDLE))
		return;
	spin_lock(&rq->xprt.queue_lock);
	switch (req->state) {
	case RPCRDMA2_REQ_IDLE:
		goto out_unlock;
	case RPCRDMA2_REQ_QUEUED:
		list_del_init(&req->list);
		rpcrdma2_req_set_state(req, RPCRDMA2_REQ_IDLE);
		goto out_unlock;
	case RPCRDMA2_REQ_POSTED:
		rpcrdma2_stat_inc(rq->stats, orphans);
		rpcrdma2_req_set_state(req, RPCRDMA2_REQ_ORPHAN);
		req->lost_at = jiffies +
			       task->tk_client->cl_timeout->to_initval;
		queue_delayed_work(rpcrdma2_wq, &rq->watchdog,
				   RPCRDMA2_ORPHAN_LOOK);
		break;
	case RPCRDMA2_REQ_ANSWERED:
		break;
	default:
		WARN_ON_ONCE(1);
		goto out_unlock;
	}
	trace_rpcrdma2_cancelled(req);

	if (req->inval == RPCRDMA2_LOCAL_INV_NONE) {
		rpcrdma2_inval_begin(req);
		post = req->inval && rq->conn && !rq->stopping;
	}
	if (req->inval) {
		if (rq->conn)
			conn = rpcrdma2_conn_get(rq->conn);
		if (post)
			rq->busy++;
		spin_unlock(&rq->xprt.queue_lock);

		if (post) {
			inval_run(req, conn);
			spin_lock(&rq->xprt.queue_lock);
			rpcrdma2_requester_busy_put(rq);
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
		rpcrdma2_inval_release(rq, req);
out_unlock:
	spin_unlock(&rq->xprt.queue_lock);
}
