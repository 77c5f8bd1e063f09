// SPDX-License-Identifier: GPL-2.0
/*
 * The requester role: setup and teardown, the FIFO of Calls that wait for a credit,
 * sending, and the watchdog over Calls that were sent.
 *
 * An RPC goes IDLE -> QUEUED -> SENDING -> POSTED -> REPLIED -> IDLE. To sunrpc an
 * RPC is sent as soon as it is QUEUED. It waits in the FIFO for a credit, send queue
 * entries and MRs, and no thread waits with it. Code that frees one of these calls
 * rpcrdma2_requester_run(). A Call that gets a credit while no other Call waits does
 * not enter the FIFO.
 *
 * See rpc_slot.h for invariants and contexts. A function of this file sleeps only if
 * its Context section says so.
 */
#include "compat.h"
#include "requester/devmem.h"
#include "requester/requester.h"
#include "conn/workqueue.h"
#include <trace/events/rpcrdma2.h>

/* Half of the window of sequence numbers that Linux servers have */
#define RPCRDMA2_MAY_PASS	64U

/* How long a Call waits that the server may have dropped, the first time */
#define RPCRDMA2_RESEND		(5UL * HZ)

/**
 * rpcrdma2_req_fail - end an RPC with req->error, exactly once (ERR-34)
 * @req: the RPC, IDLE
 *
 * Only the task itself writes its status, or another context under the lock of the
 * queue on which the task sleeps. A task that does not sleep yet, or is just woken by
 * its timer, finds the error when it tries to send or to wait: @req->error stays until
 * the slot goes to another RPC.
 *
 * Context: queue_lock held.
 */
void rpcrdma2_req_fail(struct rpcrdma2_req *req)
{
	struct rpcrdma2_requester *rq = req->rq;
	struct rpc_wait_queue *pending = &rq->xprt.pending;
	struct rpc_task *task = req->rqst.rq_task;

	lockdep_assert_held(&rq->xprt.queue_lock);
	rq->xprt.stat.recvs++;
	scoped_guard(spinlock, &pending->lock)
		if (RPC_IS_QUEUED(task) && task->tk_waitqueue == pending)
			task->tk_status = req->error;
	rpc_wake_up_queued_task(pending, task);
}

/**
 * rpcrdma2_requester_wait - let a task wait for its Reply
 * @task: the task
 *
 * rpc_xprt_ops.wait_for_reply_request
 *
 * Context: called with queue_lock held.
 */
void rpcrdma2_requester_wait(struct rpc_task *task)
{
	struct rpcrdma2_req *req = rpcrdma2_req(task->tk_rqstp);

	if (req->error)
		task->tk_status = req->error;
	else
		xprt_wait_for_reply_request_def(task);
}

/**
 * rpcrdma2_requester_busy_put - end a use of the connection
 * @rq: the requester
 *
 * Drops the count that the caller added to rq->busy.
 *
 * Context: queue_lock held.
 */
void rpcrdma2_requester_busy_put(struct rpcrdma2_requester *rq)
{
	lockdep_assert_held(&rq->xprt.queue_lock);
	if (!--rq->busy && rq->stopping)
		wake_up_all(&rq->wq);
}

static void busy_end(struct rpcrdma2_requester *rq)
{
	guard(spinlock)(&rq->xprt.queue_lock);
	rpcrdma2_requester_busy_put(rq);
}

static void send_done_nothing(struct rpcrdma2_send *send, int status)
{
}

/* Post the registrations and the Send. The slot is consumed. After a failure the
 * connection is lost.
 */
static void post_call(struct rpcrdma2_requester *rq, struct rpcrdma2_req *req,
		      struct rpcrdma2_send *send, u32 len)
{
	struct rpcrdma2_conn *conn = send->conn;
	unsigned int instance = req->sends;
	struct ib_send_wr *wr = &send->wr;
	struct rpcrdma2_mr *mr;
	int ret;

	req->moved |= req->conn_id && req->conn_id != conn->id;
	req->conn_id = conn->id;
	list_for_each_entry(mr, &req->mrs, list) {
		wr = rpcrdma2_mr_reg_wr(mr, wr);
		rpcrdma2_stat_inc(conn->p.stats, registrations);
	}
	/* The send queue is sized for ordinary Calls to retire in batches */
	if (send->nwrs > conn->p.call_wrs)
		send->done = send_done_nothing;
	send->on_wire = &req->on_wire;
	rpcrdma2_stat_inc_either(conn->p.stats, req->args.form == RPCRDMA2_FORM_WHOLE,
				 tx_call_nomsg, tx_call_msg);
	trace_rpcrdma2_call(conn, req, len);
	ret = rpcrdma2_send_post(send, len, 0, wr);

	guard(spinlock)(&rq->xprt.queue_lock);
	if (ret)
		trace_rpcrdma2_call_failed(conn, req, ret);
	/* A Reply or an ERROR may have come first, and the Call may be sent again */
	if (req->state == RPCRDMA2_REQ_SENDING && req->sends == instance)
		rpcrdma2_req_set_state(req, RPCRDMA2_REQ_POSTED);
	xprt_unpin_rqst(&req->rqst);
	rpcrdma2_requester_busy_put(rq);
}

/* Whether later Calls must stay behind the first Call that waits for MRs. A server
 * silently drops a Call with an RPCSEC_GSS sequence number that is older than its
 * window, and the window of a Linux server is 128.
 */
static bool must_not_pass(struct rpcrdma2_requester *rq)
{
	struct rpcrdma2_req *first;

	first = list_first_entry_or_null(&rq->starved, struct rpcrdma2_req,
					 list);
	return first && compat_rqst_has_seqno(&first->rqst) &&
	       rq->taken - first->turn >= RPCRDMA2_MAY_PASS;
}

/* Take a credit for a Call that waits or is new. */
static bool call_take(struct rpcrdma2_requester *rq, struct rpcrdma2_req *req)
{
	lockdep_assert_held(&rq->xprt.queue_lock);
	if (!rpcrdma2_credit_take(&rq->conn->credit))
		return false;
	rpcrdma2_req_set_state(req, RPCRDMA2_REQ_SENDING);
	if (!req->turn)
		req->turn = ++rq->taken;
	req->sends++;
	req->on_wire = false;
	/* sunrpc counts the time before this as queue time, the rest as RTT */
	req->rqst.rq_xtime = ktime_get();
	xprt_pin_rqst(&req->rqst);
	rq->busy++;
	return true;
}

/* Whether the Call is being encoded again or cancelled */
static bool call_is_unwanted(const struct rpcrdma2_req *req)
{
	return !test_bit(RPC_TASK_NEED_RECV,
			 &req->rqst.rq_task->tk_runstate);
}

/* Take the first Call of the FIFO and a credit for it. */
static struct rpcrdma2_req *fifo_take(struct rpcrdma2_requester *rq)
{
	struct rpcrdma2_req *req, *tmp;

	guard(spinlock)(&rq->xprt.queue_lock);
	if (!rpcrdma2_requester_usable(rq) || rq->sq_wait || must_not_pass(rq))
		return NULL;
	list_for_each_entry_safe(req, tmp, &rq->fifo, list) {
		if (!call_is_unwanted(req)) {
			if (!call_take(rq, req))
				return NULL;
			list_move_tail(&req->list, &rq->outstanding);
			return req;
		}
		/* sunrpc sends it again, or cancels it */
		list_del_init(&req->list);
		rpcrdma2_req_set_state(req, RPCRDMA2_REQ_IDLE);
	}
	return NULL;
}

/* Release credit, MRs and pin of a Call that cannot be sent. */
static void call_put_back(struct rpcrdma2_requester *rq, struct rpcrdma2_req *req,
			  enum rpcrdma2_req_state to)
{
	lockdep_assert_held(&rq->xprt.queue_lock);
	rpcrdma2_mr_put_all(&rq->pool, &req->mrs);
	rpcrdma2_credit_put(&rq->conn->credit);
	rpcrdma2_req_set_state(req, to);
	xprt_unpin_rqst(&req->rqst);
}

/* Put a Call that was taken back among those that wait, in the order in which they were
 * taken: another Call may have been taken by another thread, and have come back first.
 */
static void fifo_put_back(struct rpcrdma2_requester *rq, struct rpcrdma2_req *req,
			  struct list_head *fifo)
{
	struct rpcrdma2_req *other;

	call_put_back(rq, req, RPCRDMA2_REQ_QUEUED);
	list_for_each_entry_reverse(other, fifo, list)
		if (other->turn && (s32)(other->turn - req->turn) < 0)
			break;
	list_move(&req->list, &other->list);
}

static void slot_drop(struct rpcrdma2_send *send)
{
	if (send)
		rpcrdma2_send_put(send);
}

/* End a Call that can never be sent. */
static void fail_call(struct rpcrdma2_requester *rq, struct rpcrdma2_req *req, int err)
{
	trace_rpcrdma2_call_failed(rq->conn, req, err);
	atomic_long_inc(&rq->unbuildable);
	guard(spinlock)(&rq->xprt.queue_lock);
	call_put_back(rq, req, RPCRDMA2_REQ_IDLE);
	list_del_init(&req->list);
	req->error = -EIO;
	rpcrdma2_req_fail(req);
}

/* Wait for send queue entries, with the Call back at the head of the FIFO. Meanwhile no Call
 * is taken from there. If there are entries after all, the caller's next look at the FIFO
 * finds the Call.
 */
static noinline_for_stack void
wait_for_sendq(struct rpcrdma2_requester *rq, struct rpcrdma2_req *req, u32 nwrs)
{
	struct rpcrdma2_send *send;
	bool first;

	scoped_guard(spinlock, &rq->xprt.queue_lock) {
		fifo_put_back(rq, req, &rq->fifo);
		first = !rq->sq_wait;
		rq->sq_wait = true;
	}
	/* One waiter serves all Calls */
	if (!first || !rpcrdma2_sendq_get(rq->conn, nwrs, &rq->sq_waiter, &send))
		return;
	rpcrdma2_send_put(send);
	guard(spinlock)(&rq->xprt.queue_lock);
	rq->sq_wait = false;
}

static void requester_sendq_ready(struct rpcrdma2_sendq_waiter *w,
				  struct rpcrdma2_send *send, int status)
{
	struct rpcrdma2_requester *rq =
		container_of(w, struct rpcrdma2_requester, sq_waiter);

	scoped_guard(spinlock, &rq->xprt.queue_lock) {
		rq->sq_wait = false;
		rq->busy++;
	}
	if (!status)
		rpcrdma2_requester_run_fifo(rq, send);
	busy_end(rq);
}

/* Whether to try again to map memory. Mappings that other RPCs hold become free again,
 * however long a server takes; the memory of orphans is unmapped. Memory that the device
 * cannot map for RPCRDMA2_MAP_LIMIT, while no other RPC holds mappings, is never mapped.
 */
static bool may_map_later(struct rpcrdma2_requester *rq, struct rpcrdma2_req *req)
{
	const struct rpcrdma2_req *other;

	if (!req->unmapped)
		req->unmapped = jiffies ?: 1;
	guard(spinlock)(&rq->xprt.queue_lock);
	list_for_each_entry(other, &rq->outstanding, list) {
		if (other != req && other->state != RPCRDMA2_REQ_ORPHAN &&
		    !list_empty(&other->mrs)) {
			req->unmapped = 0;
			return true;
		}
	}
	return time_before(jiffies, req->unmapped + RPCRDMA2_MAP_LIMIT);
}

/* Wait for MRs, bounce pages or mappings, which were missing with the error @why, behind the
 * Calls that wait already. Other RPCs return theirs when they end; the refill work allocates
 * more MRs. Returns false if the Call can never be sent.
 */
static bool wait_for_memory(struct rpcrdma2_requester *rq, struct rpcrdma2_req *req,
			    int why)
{
	u32 need = rpcrdma2_req_mrs(req);
	bool first;

	if (why == -EBUSY && !may_map_later(rq, req))
		return false;
	if (why != -EBUSY && why != -EAGAIN && why != -ENOMEM)
		return false;
	scoped_guard(spinlock, &rq->xprt.queue_lock) {
		first = list_empty(&rq->starved);
		fifo_put_back(rq, req, &rq->starved);
	}
	if (first)
		rpcrdma2_mr_pool_refill(&rq->pool, need,
					why == -EAGAIN ? 0 : RPCRDMA2_MR_RETRY_MS);
	return true;
}

/* Send a Call that has a credit, or put it back. @slot, if there is one, is used for
 * it, or put. The Call counts as busy until it is posted or this function returns, so the
 * connection stays. Returns false if the Call was put back, or failed.
 */
static bool call_send(struct rpcrdma2_requester *rq, struct rpcrdma2_req *req,
		      struct rpcrdma2_send *slot)
{
	struct rpcrdma2_conn *conn = rq->conn;
	u32 nwrs;
	int ret;

plan:
	ret = rpcrdma2_marshal_plan(conn, req);
	/* Calls that need no MRs pass those that wait for some */
	if (!ret && unlikely(!list_empty(&rq->starved)) && rpcrdma2_req_mrs(req))
		ret = -EAGAIN;
	if (ret)
		goto out_drop;
	nwrs = 1 + rpcrdma2_req_mrs(req);
	if (slot && slot->nwrs < nwrs) {
		slot_drop(slot);
		slot = NULL;
	}
	slot = slot ?: rpcrdma2_send_get(conn, nwrs);
	if (!slot) {
		wait_for_sendq(rq, req, nwrs);
		goto out_busy;
	}
	ret = rpcrdma2_marshal_build(conn, req, slot);
	if (ret > 0) {
		req->unmapped = 0;
		post_call(rq, req, slot, ret);
		return true;
	}
	/* The limit has changed since the plan */
	if (ret == -ESTALE) {
		rpcrdma2_mr_put_all(&rq->pool, &req->mrs);
		goto plan;
	}
out_drop:
	slot_drop(slot);
	if (!wait_for_memory(rq, req, ret))
		fail_call(rq, req, ret);
out_busy:
	busy_end(rq);
	return false;
}

/**
 * rpcrdma2_requester_run_fifo - send Calls of the FIFO
 * @rq: the requester
 * @send: send slot of a caller that counts as busy, or NULL
 *
 * Sends as many Calls as there are credits and resources for. A send slot that
 * this function takes always has a Call, whose sender counts as busy.
 *
 * Context: process; does not sleep. No locks held.
 */
void rpcrdma2_requester_run_fifo(struct rpcrdma2_requester *rq,
				 struct rpcrdma2_send *send)
{
	struct rpcrdma2_req *req;

	while (rpcrdma2_requester_has_queued(rq) && (req = fifo_take(rq))) {
		call_send(rq, req, send);
		send = NULL;
	}
	slot_drop(send);
}

/* The transport provides the pages for the Reply to an NFSv3 GETACL. Waiting for
 * memory here would keep the transport locked and so block WRITEs that free memory.
 */
static int alloc_sparse_pages(struct xdr_buf *buf)
{
	struct page **page = buf->pages + (buf->page_base >> PAGE_SHIFT);
	u32 count = buf->flags & XDRBUF_SPARSE_PAGES ? rpcrdma2_vector_pages(buf) : 0;

	for (; count; count--, page++) {
		if (!*page)
			*page = alloc_page(RPCRDMA2_GFP_NOWAIT);
		if (!*page)
			return -ENOBUFS;
	}
	return 0;
}

/* Whether the first instance of a Call suffices. If the Call is outstanding, it does after
 * a minor timeout: the connection is reliable, the peer is slow, and the timer has sent a
 * probe (CRED-17). A GSS Call has a new sequence number, so sunrpc would not accept
 * the Reply to the first instance. A Call that was sent on an earlier connection as
 * well may have been dropped by a server that was still executing its first instance.
 */
static bool first_suffices(const struct rpcrdma2_req *req)
{
	if (req->state == RPCRDMA2_REQ_QUEUED)
		return true;
	if (compat_rqst_has_seqno(&req->rqst))
		return false;
	return req->state == RPCRDMA2_REQ_REPLIED ||
	       (req->state == RPCRDMA2_REQ_POSTED && req->rqst.rq_retries && !req->moved);
}

/* Queue a new Call, or take a credit for it, unless others wait. Returns true if the
 * Call can be sent at once.
 */
static bool call_queue(struct rpcrdma2_requester *rq, struct rpcrdma2_req *req)
{
	bool first;

	req->unmapped = 0;
	req->again = false;
	req->turn = 0;
	rpcrdma2_req_set_state(req, RPCRDMA2_REQ_QUEUED);
	req->rqst.rq_xmit_bytes_sent += req->rqst.rq_snd_buf.len;
	/* While the Call waits, the driver that knows its pages may go */
	if (rpcrdma2_devmem_has_ops()) {
		rpcrdma2_devmem_claim(&req->args);
		rpcrdma2_devmem_claim(&req->results);
	}
	trace_rpcrdma2_queued(req);
	first = !rpcrdma2_requester_has_queued(rq) && !rq->sq_wait &&
		!call_is_unwanted(req) && call_take(rq, req);
	list_add_tail(&req->list, first ? &rq->outstanding : &rq->fifo);
	return first;
}

/**
 * rpcrdma2_requester_send - send a Call, or queue it to be sent
 * @rqst: an encoded Call
 *
 * rpc_xprt_ops.send_request, for everything but Replies of a backchannel.
 * To sunrpc the Call is sent in both cases: sunrpc does not transmit the Call again on
 * this connection before the first instance is answered (CRED-15).
 *
 * Context: process; does not sleep. The connection is not freed: sunrpc has locked a
 * client's transport, and nfsd holds the connection of a callback transport.
 * Return: 0; -ENOTCONN: send again on another connection; -ENOBUFS: later
 */
int rpcrdma2_requester_send(struct rpc_rqst *rqst)
{
	struct rpcrdma2_req *req = rpcrdma2_req(rqst);
	struct rpcrdma2_requester *rq = req->rq;
	struct rpc_xprt *xprt = &rq->xprt;
	bool first = false, useless = false;
	struct rpcrdma2_conn *conn;
	int ret;

	ret = alloc_sparse_pages(&rqst->rq_rcv_buf);
	if (ret)
		return ret;

	spin_lock(&xprt->queue_lock);
	conn = rq->conn;
	if (req->error) {
		/* The RPC failed while its task did not wait: rpcrdma2_requester_wait()
		 * ends it. sunrpc could take an error from here for that of another task.
		 */
	} else if (!rpcrdma2_requester_usable(rq)) {
		ret = -ENOTCONN;
	} else if (req->state == RPCRDMA2_REQ_IDLE) {
		/* A server that still executes a Call of NFSv3 drops it if it comes by another
		 * path. sunrpc's timeout is a minute, which the Call approaches by and by.
		 */
		if (conn->p.policy.paths && req->conn_id && req->conn_id != conn->id &&
		    !(rqst->rq_task->tk_flags & RPC_TASK_NO_RETRANS_TIMEOUT))
			rqst->rq_timeout = !req->moved ? min(rqst->rq_timeout, RPCRDMA2_RESEND) :
					   min(2 * rqst->rq_timeout, 12 * RPCRDMA2_RESEND);
		first = call_queue(rq, req);
	} else if (!first_suffices(req)) {
		ret = -ENOTCONN;
		useless = true;
	}
	spin_unlock(&xprt->queue_lock);

	if (first && call_send(rq, req, NULL))
		return 0;
	if (!ret) {
		/* The Call may be back in the FIFO, with entries free again */
		rpcrdma2_requester_run(rq);
		/* A counter, which may be wrong by one */
		if (conn && data_race(req->state) == RPCRDMA2_REQ_QUEUED)
			rpcrdma2_stat_inc(conn->p.stats, window_waits);
	}
	if (useless)
		rpcrdma2_conn_kill(conn, -ETIMEDOUT);
	return ret;
}

/* Run the FIFO: MRs are available again. */
static void requester_mrs_ready(struct rpcrdma2_mr_pool *pool)
{
	struct rpcrdma2_requester *rq =
		container_of(pool, struct rpcrdma2_requester, pool);

	scoped_guard(spinlock, &rq->xprt.queue_lock)
		list_splice_init(&rq->starved, &rq->fifo);
	rpcrdma2_requester_run(rq);
}

/* Whether the server has had this Call for longer than its task waits, or would have
 * waited, for the Reply
 */
static bool reply_is_overdue(const struct rpcrdma2_req *req)
{
	const struct rpc_rqst *rqst = &req->rqst;
	unsigned long major;

	if (req->state == RPCRDMA2_REQ_ORPHAN)
		return time_after_eq(jiffies, req->lost_at);
	if (req->state != RPCRDMA2_REQ_POSTED)
		return false;
	major = rqst->rq_task->tk_client->cl_timeout->to_maxval;
	return ktime_ms_delta(ktime_get(), rqst->rq_xtime) >
	       jiffies_to_msecs(major);
}

/* Give up a connection without progress: a local invalidation does not complete, or
 * orphans block other RPCs (RINV-18): tasks wait for a slot or Calls for a credit, while
 * every outstanding Reply is overdue. The server has lost these Calls, so only the end of
 * the connection returns slots and credits. Callbacks do not count: their credits do not
 * affect forward traffic (REV-10), and a client may drop all of them (REV-11).
 */
static void requester_watchdog(struct work_struct *work)
{
	struct rpcrdma2_requester *rq = container_of(to_delayed_work(work),
						     struct rpcrdma2_requester,
						     watchdog);
	bool stuck = false, overdue = true, watched = false, orphans = false;
	struct rpcrdma2_conn *conn;
	struct rpcrdma2_req *req;

	spin_lock(&rq->xprt.queue_lock);
	conn = rq->conn;
	list_for_each_entry(req, &rq->outstanding, list) {
		orphans |= req->state == RPCRDMA2_REQ_ORPHAN;
		watched |= req->ninv || orphans;
		overdue &= reply_is_overdue(req);
		stuck |= req->ninv &&
			 time_after_eq(jiffies, req->inval_start + RPCRDMA2_LOCAL_INV_LIMIT);
	}
	if (orphans && overdue && conn->client)
		stuck |= READ_ONCE(rq->xprt.backlog.qlen) ||
			 rpcrdma2_requester_has_queued(rq);
	spin_unlock(&rq->xprt.queue_lock);
	/* rpcrdma2_requester_detach() waits for this */
	if (stuck)
		rpcrdma2_conn_kill(conn, -ETIMEDOUT);
	else if (watched)
		queue_delayed_work(rpcrdma2_wq, &rq->watchdog, RPCRDMA2_REQUESTER_LOOK);
}

/* Forget what ERRORs said about the responder. */
static void forget(struct rpcrdma2_requester *rq)
{
	rq->refused = 0;
	rq->max_segs = RPCRDMA2_MAX_SEGS;
	WRITE_ONCE(rq->max_reply, U32_MAX);
}

/**
 * rpcrdma2_requester_init - set up a requester
 * @rq: zeroed memory from xprt_alloc(), which has set the limits of the slot
 *	table
 *
 * Context: any.
 */
void rpcrdma2_requester_init(struct rpcrdma2_requester *rq)
{
	BUILD_BUG_ON(offsetof(struct rpcrdma2_requester, xprt));
	INIT_LIST_HEAD(&rq->fifo);
	INIT_LIST_HEAD(&rq->starved);
	INIT_LIST_HEAD(&rq->outstanding);
	rq->sq_waiter.ready = requester_sendq_ready;
	forget(rq);
	init_waitqueue_head(&rq->wq);
	INIT_DELAYED_WORK(&rq->watchdog, requester_watchdog);
	rpcrdma2_mr_pool_init(&rq->pool, requester_mrs_ready);
}

/**
 * rpcrdma2_requester_destroy - free the slots
 * @rq: the requester, detached, without tasks
 *
 * Context: sleeps.
 */
void rpcrdma2_requester_destroy(struct rpcrdma2_requester *rq)
{
	cancel_delayed_work_sync(&rq->watchdog);
	rpcrdma2_requester_trim(rq, 0);
	WARN_ON_ONCE(rq->xprt.num_reqs);
}

/**
 * rpcrdma2_requester_attach - begin to use a connection
 * @rq: a requester without connection
 * @conn: connection in state READY or lost again; not freed before
 *	rpcrdma2_requester_detach()
 *
 * Context: process; does not sleep.
 */
void rpcrdma2_requester_attach(struct rpcrdma2_requester *rq,
			       struct rpcrdma2_conn *conn)
{
	guard(spinlock)(&rq->xprt.queue_lock);
	WARN_ON_ONCE(rq->conn || !list_empty(&rq->outstanding));
	rq->replies = 0;
	rq->stopping = false;
	WRITE_ONCE(rq->conn, conn);
}

/* Read under the lock, so that the caller sees what the users of the connection did. */
static bool requester_idle(struct rpcrdma2_requester *rq)
{
	guard(spinlock)(&rq->xprt.queue_lock);
	return !rq->busy;
}

/**
 * rpcrdma2_requester_stop - stop using a connection before it is closed
 * @rq: the requester
 *
 * Afterwards nothing is posted, and only completions use the connection. Call this
 * before rpcrdma2_conn_close().
 *
 * Context: sleeps. May be called more than once.
 */
void rpcrdma2_requester_stop(struct rpcrdma2_requester *rq)
{
	scoped_guard(spinlock, &rq->xprt.queue_lock)
		rq->stopping = true;
	wait_event(rq->wq, requester_idle(rq));
	rpcrdma2_mr_pool_stop(&rq->pool);
	cancel_delayed_work_sync(&rq->watchdog);
}

/**
 * rpcrdma2_requester_detach - release what belongs to a closed connection
 * @rq: the requester
 *
 * Call this between rpcrdma2_conn_close() and rpcrdma2_conn_free(). The peer cannot
 * reach any memory at this point. Orphans and their slots become free. sunrpc sends
 * RPCs that wait for Replies again (REC-2). What ERRORs said about the responder is
 * forgotten, because another one may answer next time, unless no RPC has used it yet:
 * that may be why the connection was replaced, or the responder may close each
 * connection together with such an ERROR.
 *
 * Context: sleeps. Nobody attaches at the same time.
 */
void rpcrdma2_requester_detach(struct rpcrdma2_requester *rq)
{
	struct rpcrdma2_req *req, *tmp;

	/* Completions may have queued the refill work or the watchdog */
	rpcrdma2_requester_stop(rq);

	spin_lock(&rq->xprt.queue_lock);
	if (!rq->lesson_new)
		forget(rq);
	WRITE_ONCE(rq->conn, NULL);
	rq->sq_wait = false;
	list_splice_init(&rq->starved, &rq->outstanding);
	list_splice_init(&rq->fifo, &rq->outstanding);
	list_for_each_entry_safe(req, tmp, &rq->outstanding, list) {
		WARN_ON_ONCE(req->state == RPCRDMA2_REQ_SENDING ||
			     req->state == RPCRDMA2_REQ_REPLIED);
		rpcrdma2_req_unmap(req);
		rpcrdma2_req_set_inval(req, 0);
		rpcrdma2_req_release(req);
	}
	wake_up_all(&rq->wq);
	spin_unlock(&rq->xprt.queue_lock);
	rpcrdma2_mr_pool_close(&rq->pool);
}
