// SPDX-License-Identifier: GPL-2.0
/*
 * RDMA of a Call: the RDMA Reads that pull its chunks and the RDMA Writes that push
 * its results, posted in batches. A batch is what one post may take of the send
 * queue.
 *
 * Contexts: a batch is put together by deferred work or a thread, since mapping memory
 * may sleep, unless it is mapped already. It ends in a completion handler. Nothing
 * here waits for the send queue.
 *
 * The Call belongs to the caller. No locks are taken here.
 */
#include "responder/batch.h"

/* No work request of the batch is posted any more. */
static void batch_over(struct rpcrdma2_svc_call *call, int status)
{
	rpcrdma2_rws_release(call->conn, &call->posted);
	call->batch_done(call, status);
}

static void batch_completed(struct ib_cq *cq, struct ib_wc *wc)
{
	struct rpcrdma2_svc_call *call =
		container_of(wc->wr_cqe, struct rpcrdma2_svc_call, cqe);
	struct rpcrdma2_conn *conn = cq->cq_context;
	bool reads;

	guard(rpcrdma2_completion)();
	if (!rpcrdma2_sendq_done(conn, &call->waiter, wc))
		return;
	if (likely(wc->status == IB_WC_SUCCESS)) {
		rpcrdma2_conn_activity(conn);
		batch_over(call, 0);
		return;
	}
	reads = call->state == RPCRDMA2_CALL_PULLING;
	rpcrdma2_conn_wc_failed(conn, reads ? "read" : "write", call->waiter.cid,
				wc);
	rpcrdma2_conn_kill(conn, -ENOTCONN);
	batch_over(call, -ENOTCONN);
}

static void batch_ready(struct rpcrdma2_sendq_waiter *w,
			struct rpcrdma2_send *send, int status)
{
	struct rpcrdma2_svc_call *call =
		container_of(w, struct rpcrdma2_svc_call, waiter);
	struct rpcrdma2_conn *conn = call->conn;
	u32 nwrs = w->nwrs;
	struct ib_send_wr *wr;

	if (!status) {
		call->cqe.done = batch_completed;
		wr = rpcrdma2_rws_chain(conn, &call->posted, &call->cqe, NULL);
		status = rpcrdma2_sendq_post(conn, w, wr);
		if (!status)
			return;
		rpcrdma2_sendq_put(conn, nwrs);
	}
	batch_over(call, status);
}

/**
 * rpcrdma2_batch_map - put together the next batch of a Call
 * @call: its @todo is not empty, nothing is on @posted
 * @most: RDMA contexts that it may have at once
 *
 * What is not mapped yet is mapped.
 *
 * Context: work item or thread; may sleep for memory. Any context if all of
 * @todo is mapped.
 * Return: send queue entries of the batch, which is on @posted, or a negative
 * errno if nothing could be mapped.
 */
int rpcrdma2_batch_map(struct rpcrdma2_svc_call *call, u32 most)
{
	u32 limit = rpcrdma2_sendq_most(&call->conn->sendq), nwrs = 0;
	struct rpcrdma2_rw *rw, *tmp;
	int ret;

	list_for_each_entry_safe(rw, tmp, &call->todo, list) {
		if (!most--)
			break;
		ret = rpcrdma2_rw_map(call->conn, rw);
		if (ret)
			return nwrs ?: ret;
		if (nwrs && nwrs + rw->nwrs > limit)
			break;
		nwrs += rw->nwrs;
		list_move_tail(&rw->list, &call->posted);
	}
	return nwrs;
}

/**
 * rpcrdma2_batch_post - post a batch, as soon as the send queue has room
 * @call: its batch is on @posted
 * @nwrs: from rpcrdma2_batch_map()
 * @done: called once when the batch is over, possibly before this function
 *	returns: with 0, or with a negative errno when the connection is given up.
 *	May not sleep
 *
 * Context: process; does not sleep. @call may be gone on return.
 */
void rpcrdma2_batch_post(struct rpcrdma2_svc_call *call, u32 nwrs,
			 void (*done)(struct rpcrdma2_svc_call *call,
				      int status))
{
	call->batch_done = done;
	call->waiter.ready = batch_ready;
	if (rpcrdma2_sendq_get(call->conn, nwrs, &call->waiter))
		batch_ready(&call->waiter, NULL, 0);
}
