// SPDX-License-Identifier: GPL-2.0
/*
 * Batches of RDMA: the RDMA Reads that pull the chunks of a Call and the RDMA Writes
 * that push its results. One post, limited by the send queue, is a batch.
 *
 * Contexts: deferred work or a thread makes a batch, since mapping memory may sleep;
 * any context if the memory is mapped already. A batch ends in a completion handler.
 * Nothing here waits for the send queue.
 *
 * The Call belongs to the caller. No locks are taken here.
 */
#include "responder/responder_impl.h"

/* All work requests of the batch have completed. */
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
	int status = 0;

	guard(rpcrdma2_completion)();
	if (!rpcrdma2_sendq_done(conn, &call->waiter, wc))
		return;
	if (likely(wc->status == IB_WC_SUCCESS)) {
		rpcrdma2_conn_activity(conn);
	} else {
		rpcrdma2_conn_wc_failed(conn, call->state == RPCRDMA2_CALL_PULLING ?
					"read" : "write", call->waiter.cid, wc);
		rpcrdma2_conn_kill(conn, -ENOTCONN);
		status = -ENOTCONN;
	}
	batch_over(call, status);
}

static void batch_ready(struct rpcrdma2_sendq_waiter *w,
			struct rpcrdma2_send *send, int status)
{
	struct rpcrdma2_svc_call *call =
		container_of(w, struct rpcrdma2_svc_call, waiter);
	struct rpcrdma2_conn *conn = call->conn;
	struct ib_send_wr *wr;

	if (!status) {
		call->cqe.done = batch_completed;
		wr = rpcrdma2_rws_chain(conn, &call->posted, &call->cqe, NULL);
		status = rpcrdma2_sendq_post(conn, w, wr);
		if (!status)
			return;
		rpcrdma2_sendq_put(conn, w->nwrs);
	}
	batch_over(call, status);
}

/**
 * rpcrdma2_batch_map - make the next batch of a Call and map its memory
 * @call: its @todo is not empty, its @posted is
 * @most: maximum number of RDMA contexts
 *
 * Context: work item or thread; may sleep for memory. Any context if all of
 * @todo is mapped.
 * Return: send queue entries of the batch, which is on @posted, or a negative
 * errno if no memory could be mapped
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
 * rpcrdma2_batch_post - post a batch as soon as the send queue has space
 * @call: its batch is on @posted
 * @nwrs: from rpcrdma2_batch_map()
 * @done: called once when the batch has completed, possibly before this function
 *	returns: with 0, or with a negative errno when the connection is closed.
 *	Must not sleep
 *
 * Context: process; does not sleep. @call may be gone on return.
 */
void rpcrdma2_batch_post(struct rpcrdma2_svc_call *call, u32 nwrs,
			 void (*done)(struct rpcrdma2_svc_call *call,
				      int status))
{
	call->batch_done = done;
	call->waiter.ready = batch_ready;
	if (rpcrdma2_sendq_get(call->conn, nwrs, &call->waiter, NULL))
		batch_ready(&call->waiter, NULL, 0);
}
