// SPDX-License-Identifier: GPL-2.0
/*
 * The end of an RPC: its handles are invalidated, then the RPC is completed. An RPC
 * that is cancelled while its Reply is outstanding becomes an orphan, which belongs to
 * the transport until the Reply arrives.
 *
 * Runs in completion handlers and, for a cancelled RPC, in the thread that cancels.
 * Only the latter may sleep.
 */
#include "requester/requester.h"
#include "conn/workqueue.h"
#include <trace/events/rpcrdma2.h>

/* Send a refused Call, whose handles are invalid, again in another form (ERR-30), before
 * all Calls that wait.
 */
static void send_again(struct rpcrdma2_requester *rq,
		       struct rpcrdma2_req *req)
{
	guard(spinlock)(&rq->xprt.queue_lock);
	list_splice_init(&rq->starved, &rq->fifo);
	list_move(&req->list, &rq->fifo);
	rpcrdma2_req_set_state(req, RPCRDMA2_REQ_QUEUED);
	req->again = false;
	xprt_unpin_rqst(&req->rqst);
}

/**
 * rpcrdma2_inval_redo - let an RPC wait for the end of its connection
 * @req: the RPC; its Reply is discarded, or its local invalidation has failed
 *
 * The connection is given up. Its end invalidates the handles (RINV-15); then sunrpc
 * sends the RPC again on another one.
 *
 * Context: process; does not sleep.
 */
void rpcrdma2_inval_redo(struct rpcrdma2_req *req)
{
	guard(spinlock)(&req->rq->xprt.queue_lock);
	if (req->state == RPCRDMA2_REQ_REPLIED) {
		rpcrdma2_req_set_state(req, RPCRDMA2_REQ_ANSWERED);
		xprt_unpin_rqst(&req->rqst);
	}
}

/* Whether the Reply chunk holds the Reply to this RPC (HDR-7) */
static bool is_own_reply(const struct rpcrdma2_req *req)
{
	const __be32 *p = req->rqst.rq_rcv_buf.head[0].iov_base;

	return p[0] == req->rqst.rq_xid && p[1] == rpc_reply;
}

/* Complete an RPC whose handles are invalid. Afterwards the slot belongs to sunrpc. The
 * caller runs the FIFO.
 */
static void finish(struct rpcrdma2_req *req)
{
	struct rpcrdma2_requester *rq = req->rq;
	struct rpcrdma2_conn *conn = READ_ONCE(rq->conn);
	struct rpc_rqst *rqst = &req->rqst;
	int error = req->error;

	rpcrdma2_mr_put_all(&rq->pool, &req->mrs);
	if (req->again) {
		send_again(rq, req);
		return;
	}
	if (req->nomsg && !error) {
		if (rpcrdma2_marshal_bounce(&req->results, req->copied, true)) {
			error = -EIO;
		} else if (!is_own_reply(req)) {
			atomic_long_inc(&rq->bad_replies);
			rpcrdma2_stat_inc(conn->p.stats, rx_dropped);
			rpcrdma2_conn_kill(conn, -EPROTO);
			rpcrdma2_inval_redo(req);
			return;
		}
	}

	guard(spinlock)(&rq->xprt.queue_lock);
	req->error = error;
	trace_rpcrdma2_completed(req);
	list_del_init(&req->list);
	rpcrdma2_req_set_state(req, RPCRDMA2_REQ_IDLE);
	list_splice_init(&rq->starved, &rq->fifo);
	if (req->error) {
		rpcrdma2_req_fail(req);
	} else {
		rq->replies++;
		if (unlikely(rq->lesson_new) && rpcrdma2_requester_usable(rq))
			rq->lesson_new = false;
		xprt_complete_rqst(rqst->rq_task, req->copied);
	}
	xprt_unpin_rqst(rqst);
}

/**
 * rpcrdma2_inval_begin - count the handles that must be invalidated
 * @req: the RPC; @ninv is 0. If the peer may still use any handle, the invalidation is
 *	under way afterwards
 *
 * Context: queue_lock held.
 */
void rpcrdma2_inval_begin(struct rpcrdma2_req *req)
{
	const struct rpcrdma2_mr *mr;
	u32 ninv = 0;

	list_for_each_entry(mr, &req->mrs, list)
		ninv += mr->state == RPCRDMA2_MR_VALID;
	if (!ninv)
		return;
	req->inval_start = jiffies;
	rpcrdma2_req_set_inval(req, ninv);
}

static void inval_complete(struct rpcrdma2_req *req)
{
	struct rpcrdma2_requester *rq = req->rq;
	struct rpcrdma2_mr *mr;

	list_for_each_entry(mr, &req->mrs, list)
		if (mr->state == RPCRDMA2_MR_VALID)
			mr->state = RPCRDMA2_MR_MAPPED;

	spin_lock(&rq->xprt.queue_lock);
	rpcrdma2_req_set_inval(req, 0);
	if (req->state == RPCRDMA2_REQ_REPLIED) {
		spin_unlock(&rq->xprt.queue_lock);
		finish(req);
		rpcrdma2_requester_run(rq);
		return;
	}
	/* Cancelled: the owner waits and will reuse the memory. The MRs stay
	 * with the RPC until the Reply.
	 */
	rpcrdma2_req_unmap(req);
	wake_up_all(&rq->wq);
	spin_unlock(&rq->xprt.queue_lock);
}

/* The last local invalidation of an RPC completed, so all have completed. */
static void inval_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct rpcrdma2_req *req = container_of(wc->wr_cqe, struct rpcrdma2_req,
						inv_cqe);
	struct rpcrdma2_conn *conn = cq->cq_context;

	guard(rpcrdma2_completion)();
	/* Check this first: the slot may soon belong to another RPC */
	if (!rpcrdma2_sendq_done(conn, &req->inv_waiter, wc))
		return;
	if (likely(wc->status == IB_WC_SUCCESS)) {
		inval_complete(req);
	} else {
		rpcrdma2_conn_wc_failed(conn, "inv", req->inv_waiter.cid, wc);
		rpcrdma2_conn_kill(conn, -ENOTCONN);
		rpcrdma2_inval_redo(req);
	}
}

static void inval_post(struct rpcrdma2_req *req, struct rpcrdma2_conn *conn)
{
	struct ib_send_wr *wr = NULL;
	struct rpcrdma2_mr *mr;

	req->inv_cqe.done = inval_done;
	/* The chain is built from its end */
	list_for_each_entry(mr, &req->mrs, list)
		if (mr->state == RPCRDMA2_MR_VALID)
			wr = rpcrdma2_mr_inv_wr(mr, wr, wr ? NULL : &req->inv_cqe);
	rpcrdma2_stat_add(conn->p.stats, local_invalidations, req->ninv);
	trace_rpcrdma2_inval(req);
	if (!rpcrdma2_sendq_post(conn, &req->inv_waiter, wr))
		return;
	rpcrdma2_sendq_put(conn, req->ninv);
	rpcrdma2_inval_redo(req);
}

static void inval_sendq_ready(struct rpcrdma2_sendq_waiter *w,
			      struct rpcrdma2_send *send, int status)
{
	struct rpcrdma2_req *req = container_of(w, struct rpcrdma2_req,
						inv_waiter);

	if (status)
		rpcrdma2_inval_redo(req);
	else
		inval_post(req, READ_ONCE(req->rq->conn));
}

/* Invalidate the handles that rpcrdma2_inval_begin() has counted. Ends in
 * inval_complete() or rpcrdma2_inval_redo().
 */
static void inval_run(struct rpcrdma2_req *req, struct rpcrdma2_conn *conn)
{
	req->inv_waiter.ready = inval_sendq_ready;
	queue_delayed_work(rpcrdma2_wq, &req->rq->watchdog, RPCRDMA2_REQUESTER_LOOK);
	if (rpcrdma2_sendq_get(conn, req->ninv, &req->inv_waiter, NULL))
		inval_post(req, conn);
}

/**
 * rpcrdma2_inval_end - invalidate the handles of an answered RPC and complete it
 * @conn: its connection
 * @req: RPC in state REPLIED, pinned, after
 *	rpcrdma2_inval_begin()
 *
 * Context: completion handler; does not sleep.
 */
void rpcrdma2_inval_end(struct rpcrdma2_conn *conn, struct rpcrdma2_req *req)
{
	if (req->ninv)
		inval_run(req, conn);
	else
		finish(req);
}

/* End the use of the buffers of an RPC that is cancelled. */
static noinline_for_stack void
inval_cancel(struct rpc_task *task)
{
	struct rpcrdma2_req *req = rpcrdma2_req(task->tk_rqstp);
	struct rpcrdma2_requester *rq = req->rq;

	spin_lock(&rq->xprt.queue_lock);
	switch (req->state) {
	case RPCRDMA2_REQ_IDLE:
		goto out_unlock;
	case RPCRDMA2_REQ_QUEUED:
		rpcrdma2_req_release(req);
		goto out_unlock;
	case RPCRDMA2_REQ_POSTED:
		rpcrdma2_stat_inc(rq->conn->p.stats, orphans);
		rpcrdma2_req_set_state(req, RPCRDMA2_REQ_ORPHAN);
		req->lost_at = jiffies +
			       task->tk_client->cl_timeout->to_initval;
		/* rpcrdma2_requester_stop() cancels the watchdog for good */
		if (!rq->stopping)
			queue_delayed_work(rpcrdma2_wq, &rq->watchdog,
					   RPCRDMA2_REQUESTER_LOOK);
		break;
	case RPCRDMA2_REQ_ANSWERED:
		break;
	default:
		WARN_ON_ONCE(1);
		goto out_unlock;
	}
	trace_rpcrdma2_cancelled(req);

	if (!req->ninv) {
		rpcrdma2_inval_begin(req);
		if (req->ninv && !rq->stopping) {
			rq->busy++;
			spin_unlock(&rq->xprt.queue_lock);
			inval_run(req, rq->conn);
			spin_lock(&rq->xprt.queue_lock);
			rpcrdma2_requester_busy_put(rq);
		}
	}
	if (req->ninv) {
		spin_unlock(&rq->xprt.queue_lock);
		wait_event(rq->wq, !READ_ONCE(req->ninv));
		spin_lock(&rq->xprt.queue_lock);
	} else {
		/* MRs that the peer invalidated are still mapped */
		rpcrdma2_req_unmap(req);
	}
	if (req->state == RPCRDMA2_REQ_ANSWERED)
		rpcrdma2_req_release(req);
out_unlock:
	spin_unlock(&rq->xprt.queue_lock);
}

/**
 * rpcrdma2_inval_buf_free - make the buffers of an RPC inaccessible to the peer
 * @task: the task
 *
 * rpc_xprt_ops.buf_free. For an RPC that has been completed there is nothing to do. If
 * an RPC is cancelled while its Reply is outstanding, its handles are invalidated here,
 * before sunrpc reuses the memory, and the RPC becomes an orphan (RINV-18).
 *
 * Context: process; may sleep for the invalidation: usually well below a second, at
 * most until requester_watchdog() has given up the connection and
 * rpcrdma2_requester_detach() wakes this thread.
 */
void rpcrdma2_inval_buf_free(struct rpc_task *task)
{
	/* sunrpc does not send this RPC again, so the state stays IDLE */
	if (unlikely(!rpcrdma2_req_is_idle(rpcrdma2_req(task->tk_rqstp))))
		inval_cancel(task);
}
