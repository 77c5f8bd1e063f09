// SPDX-License-Identifier: GPL-2.0
/*
 * RPC slots of a requester, their states, and their buffers.
 *
 * A slot is allocated when it is first needed and freed when the requester is idle.
 * From alloc_slot to free_slot it belongs to sunrpc; the slot of a cancelled RPC
 * belongs to the transport until the Reply arrives.
 *
 * Lists of slots are protected by xprt->reserve_lock, process context only.
 */
#include <linux/slab.h>

#include "requester/devmem.h"
#include <trace/events/rpcrdma2.h>

#define SLOT_BYTES	kmalloc_size_roundup(sizeof(struct rpcrdma2_req))

#define TO(state)	BIT(RPCRDMA2_REQ_##state)

static const u8 __maybe_unused req_next_states[] = {
	[RPCRDMA2_REQ_IDLE]	= TO(QUEUED),
	[RPCRDMA2_REQ_QUEUED]	= TO(IDLE) | TO(SENDING),
	[RPCRDMA2_REQ_SENDING]	= TO(IDLE) | TO(QUEUED) | TO(POSTED) | TO(REPLIED) | TO(ANSWERED),
	[RPCRDMA2_REQ_POSTED]	= TO(IDLE) | TO(REPLIED) | TO(ANSWERED) | TO(ORPHAN),
	[RPCRDMA2_REQ_REPLIED]	= TO(IDLE) | TO(QUEUED) | TO(ANSWERED),
	[RPCRDMA2_REQ_ANSWERED]	= TO(IDLE),
	[RPCRDMA2_REQ_ORPHAN]	= TO(IDLE) | TO(ANSWERED),
};

#undef TO

/**
 * rpcrdma2_req_state_changes - check and trace a change of state
 * @req: the RPC
 * @to: its new state
 *
 * The figure in how-it-works.md has the transitions that are allowed. The caller has
 * checked the state under the same lock, so a peer cannot cause any other.
 *
 * Context: queue_lock held.
 */
void rpcrdma2_req_state_changes(const struct rpcrdma2_req *req,
				enum rpcrdma2_req_state to)
{
	lockdep_assert_held(&req->rq->xprt.queue_lock);
	lockdep_assert(req_next_states[req->state] & BIT(to));
	trace_rpcrdma2_req_state(req, to, req->ninv);
}

/**
 * rpcrdma2_req_set_inval - begin or end the local invalidation of an RPC
 * @req: the RPC
 * @ninv: handles to be invalidated, or 0 at the end
 *
 * No other function changes this.
 *
 * Context: queue_lock held.
 */
void rpcrdma2_req_set_inval(struct rpcrdma2_req *req, u32 ninv)
{
	lockdep_assert_held(&req->rq->xprt.queue_lock);
	if (req->ninv == ninv)
		return;
	trace_rpcrdma2_req_state(req, req->state, ninv);
	WRITE_ONCE(req->ninv, ninv);
}

static void slot_free(struct rpcrdma2_req *req)
{
	u32 i;

	for (i = 0; i < req->nbounce; i++)
		__free_page(req->bounce[i]);
	atomic_long_sub(SLOT_BYTES + req->buf_size + i * PAGE_SIZE, &req->rq->bytes);
	kfree(req->buf);
	kfree(req);
}

/* Allocate a slot that num_reqs counts already; correct num_reqs after a failure. */
static struct rpcrdma2_req *slot_new(struct rpcrdma2_requester *rq)
{
	struct rpcrdma2_req *req = kzalloc_obj(*req, rpc_task_gfp_mask());
	struct rpc_xprt *xprt = &rq->xprt;

	guard(spinlock)(&xprt->reserve_lock);
	if (req) {
		req->rq = rq;
		req->args.buf = &req->rqst.rq_snd_buf;
		req->results.buf = &req->rqst.rq_rcv_buf;
		INIT_LIST_HEAD(&req->list);
		INIT_LIST_HEAD(&req->mrs);
		atomic_long_add(SLOT_BYTES, &rq->bytes);
		xprt->stat.max_slots = max_t(unsigned long, xprt->stat.max_slots,
					     xprt->num_reqs);
	} else {
		xprt->num_reqs--;
	}
	return req;
}

/* Give a slot, which is IDLE, to a task that waits for one, or free it. */
static void slot_put(struct rpcrdma2_req *req)
{
	struct rpcrdma2_requester *rq = req->rq;
	struct rpc_xprt *xprt = &rq->xprt;

	/* Reset here: an RPC may end before rpcrdma2_requester_send() */
	req->error = 0;
	if (rpcrdma2_devmem_has_ops()) {
		req->args.devmem = false;
		req->results.devmem = false;
	}
	req->conn_id = 0;
	req->moved = false;
	guard(spinlock)(&xprt->reserve_lock);
	if (!xprt_wake_up_backlog(xprt, &req->rqst)) {
		req->next = rq->free;
		rq->free = req;
	}
}

/**
 * rpcrdma2_req_release - release an RPC that will not be completed
 * @req: cancelled RPC that is not sent or was answered, or any RPC once its connection is
 *	closed; no handle is valid, and no invalidation is under way. Its slot is put if
 *	sunrpc has freed it, or else belongs to sunrpc again
 *
 * Context: queue_lock held. Takes reserve_lock.
 */
void rpcrdma2_req_release(struct rpcrdma2_req *req)
{
	struct rpcrdma2_requester *rq = req->rq;
	bool abandoned = req->abandoned;

	lockdep_assert_held(&rq->xprt.queue_lock);
	rpcrdma2_mr_put_all(&rq->pool, &req->mrs);
	list_del_init(&req->list);
	req->abandoned = false;
	rpcrdma2_req_set_state(req, RPCRDMA2_REQ_IDLE);
	list_splice_init(&rq->starved, &rq->fifo);
	if (abandoned)
		slot_put(req);
}

/**
 * rpcrdma2_requester_alloc_slot - allocate a slot for a task
 * @xprt: the transport
 * @task: the task; sleeps on the backlog queue if all slots are in use
 *
 * rpc_xprt_ops.alloc_slot
 *
 * Context: process; may sleep for memory as the task allows.
 */
void rpcrdma2_requester_alloc_slot(struct rpc_xprt *xprt,
				   struct rpc_task *task)
{
	struct rpcrdma2_requester *rq = rpcrdma2_requester(xprt);
	struct rpcrdma2_req *req;

	scoped_guard(spinlock, &xprt->reserve_lock) {
		req = rq->free;
		if (req) {
			rq->free = req->next;
		} else if (xprt->num_reqs < xprt->max_reqs) {
			xprt->num_reqs++;
		} else {
			task->tk_status = -EAGAIN;
			xprt_add_backlog(xprt, task);
			return;
		}
	}
	/* xprt_wake_up_backlog() clears the slot of a task that has waited */
	if (req)
		memset(&req->rqst, 0, sizeof(req->rqst));
	else
		req = slot_new(rq);
	task->tk_status = req ? 0 : -ENOMEM;
	if (req)
		task->tk_rqstp = &req->rqst;
}

/**
 * rpcrdma2_requester_free_slot - take a slot back from sunrpc
 * @xprt: the transport
 * @rqst: the slot
 *
 * The slot of an RPC that was cancelled with its Reply outstanding stays in use until
 * the Reply arrives (RINV-18).
 *
 * rpc_xprt_ops.free_slot
 *
 * Context: process; does not sleep.
 */
void rpcrdma2_requester_free_slot(struct rpc_xprt *xprt,
				  struct rpc_rqst *rqst)
{
	struct rpcrdma2_req *req = rpcrdma2_req(rqst);
	bool keep = !rpcrdma2_req_is_idle(req);

	if (unlikely(keep)) {
		guard(spinlock)(&xprt->queue_lock);
		keep = req->state != RPCRDMA2_REQ_IDLE;
		WARN_ON_ONCE(keep && req->state != RPCRDMA2_REQ_ORPHAN);
		req->abandoned = keep;
	}
	if (!keep)
		slot_put(req);
}

/**
 * rpcrdma2_requester_buf_alloc - provide buffers for encoding and decoding
 * @task: the task
 *
 * rpc_xprt_ops.buf_alloc
 *
 * The memory stays with the slot, so that in steady state nothing is allocated.
 *
 * A Call without a Reply would never return its credit, so such Calls are refused
 * here, in the first method that sunrpc calls for an RPC (CRED-16, MSG-12, RINV-16).
 *
 * Context: process; may sleep for memory as the task allows.
 * Return: 0, -ENOMEM, or -EOPNOTSUPP: no Reply is expected
 */
int rpcrdma2_requester_buf_alloc(struct rpc_task *task)
{
	struct rpc_rqst *rqst = task->tk_rqstp;
	struct rpcrdma2_req *req = rpcrdma2_req(rqst);
	size_t need = rqst->rq_callsize + rqst->rq_rcvsize;
	void *buf;

	if (!rpc_reply_expected(task))
		return -EOPNOTSUPP;
	if (req->buf_size < need) {
		need = kmalloc_size_roundup(need);
		buf = kmalloc(need, rpc_task_gfp_mask());
		if (!buf)
			return -ENOMEM;
		kfree(req->buf);
		req->buf = buf;
		atomic_long_add(need - req->buf_size, &req->rq->bytes);
		req->buf_size = need;
	}
	rqst->rq_buffer = req->buf;
	rqst->rq_rbuffer = req->buf + rqst->rq_callsize;
	return 0;
}

/**
 * rpcrdma2_requester_trim - free the slots that are not in use
 * @rq: the requester
 * @least: number of slots that remain, including those in use
 *
 * Context: process; does not sleep. Takes reserve_lock.
 */
void rpcrdma2_requester_trim(struct rpcrdma2_requester *rq, u32 least)
{
	struct rpc_xprt *xprt = &rq->xprt;
	struct rpcrdma2_req *req;

	for (;;) {
		scoped_guard(spinlock, &xprt->reserve_lock) {
			req = xprt->num_reqs > least ? rq->free : NULL;
			if (!req)
				return;
			rq->free = req->next;
			xprt->num_reqs--;
		}
		slot_free(req);
	}
}
