// SPDX-License-Identifier: GPL-2.0
/*
 * The responder role: its life, and the credits and limits of a Call that arrives.
 */
#include <linux/slab.h>

#include "responder/responder_impl.h"
#include <trace/events/rpcrdma2.h>

/* Begin with a Call: refuse it beyond the limits, before anything is allocated for it
 * (ERR-19..24, CHK-24). Without a Read list the executor gets the Call at once.
 */
static void call_begin(struct rpcrdma2_deferred *deferred)
{
	struct rpcrdma2_svc_call *call =
		container_of(deferred, struct rpcrdma2_svc_call, deferred);
	const struct rpcrdma2_chunk_limits *limits = &call->resp->limits;
	const struct rpcrdma2_hdr *hdr = &call->rx->hdr;

	if (hdr->read_list &&
	    (!limits->read_chunks || hdr->read_chunks > limits->read_chunks)) {
		rpcrdma2_call_refuse(call, RDMA2_ERR_READ_CHUNKS, limits->read_chunks);
	} else if (hdr->write_chunks > limits->write_chunks) {
		rpcrdma2_call_refuse(call, limits->write_chunks ?
				     RDMA2_ERR_WRITE_CHUNKS : RDMA2_ERR_REPLY_RESOURCE,
				     limits->write_chunks);
	} else if (hdr->max_segs > limits->segs) {
		rpcrdma2_call_refuse(call, RDMA2_ERR_SEGMENTS, limits->segs);
	} else if (hdr->read_list) {
		deferred->run = rpcrdma2_call_start_pull;
		rpcrdma2_conn_defer(call->conn, deferred);
	} else {
		rpcrdma2_call_ready(call, RPCRDMA2_CALL_READY);
	}
}

/**
 * rpcrdma2_responder_call - a Call arrived
 * @conn: the connection, READY
 * @rx: the Receive with the Call, header decoded
 *
 * Grants more credits if the peer uses them, after the Receives for them are posted
 * (CRED-7), or fewer if the peer has used few lately. A peer that sends far more Calls
 * than it may is refused: memory must not depend on the peer (SEC-3).
 *
 * Context: completion handler; does not sleep.
 * Return: true if @rx was taken over
 */
bool rpcrdma2_responder_call(struct rpcrdma2_conn *conn, struct rpcrdma2_recv *rx)
{
	struct rpcrdma2_responder *resp = conn->p.responder;
	struct rpcrdma2_svc_call *call;
	u32 want = rpcrdma2_credit_called(&conn->credit, rx->hdr.credit, conn->p.serves +
						   RPCRDMA2_CONTROL_RESERVE);
	u32 now = rpcrdma2_credit_grant(&conn->credit);

	if (unlikely(!want)) {
		rpcrdma2_stat_inc(conn->p.stats, over_credit);
		rpcrdma2_conn_kill(conn, -EPROTO);
		return false;
	}
	/* With some for Calls whose Reply is posted but not completed */
	if (want > now &&
	    rpcrdma2_calls_provide(resp, want + RPCRDMA2_CONTROL_RESERVE,
				   RPCRDMA2_GFP_NOWAIT))
		rpcrdma2_credit_raise(conn, want);
	else if (unlikely(want < now))
		rpcrdma2_credit_lower(conn, want);
	call = rpcrdma2_call_arrived(resp, rx);
	if (likely(call))
		call_begin(&call->deferred);
	return true;
}

/**
 * rpcrdma2_responder_init - responder role for one connection at a time
 * @resp: zeroed memory
 * @ops: the executor
 * @limits: copied; no more than sizes of arrays allow
 * @stash: an array of RPCRDMA2_STASH entries, or NULL if no Read chunks are accepted
 *
 * It has no call objects yet, see rpcrdma2_calls_provide().
 *
 * Context: any.
 */
void rpcrdma2_responder_init(struct rpcrdma2_responder *resp,
			     const struct rpcrdma2_responder_ops *ops,
			     const struct rpcrdma2_chunk_limits *limits,
			     struct page **stash)
{
	resp->ops = ops;
	resp->begin = call_begin;
	resp->replied = !ops->replied;
	resp->limits = *limits;
	/* A Reply may have two pages more than a Call, and ragged ends */
	resp->max_pages = DIV_ROUND_UP(limits->bytes, PAGE_SIZE) + 3;

	spin_lock_init(&resp->lock);
	INIT_LIST_HEAD(&resp->calls);
	INIT_LIST_HEAD(&resp->unserved);
	INIT_LIST_HEAD(&resp->waiting);
	INIT_LIST_HEAD(&resp->ready);
	resp->stash = stash;
}

/**
 * rpcrdma2_responder_stop - the connection is about to be closed
 * @conn: the connection, in state CLOSING
 *
 * Once resp->lock was free, no Call that waits begins: the code that frees what the Call
 * waits for checks the state with the lock held. An executor may free that at any time
 * until rpcrdma2_responder_closed().
 *
 * Context: process; takes resp->lock.
 */
void rpcrdma2_responder_stop(struct rpcrdma2_conn *conn)
{
	guard(spinlock)(&conn->p.responder->lock);
}

/**
 * rpcrdma2_responder_closed - the connection is closed
 * @conn: the connection; no completion handler or deferred work uses its responder any
 *	more
 *
 * Releases all Calls, and with them the connection's Receives.
 *
 * Context: may sleep.
 */
void rpcrdma2_responder_closed(struct rpcrdma2_conn *conn)
{
	struct rpcrdma2_responder *resp = conn->p.responder;
	struct rpcrdma2_svc_call *call, *tmp;
	struct rpcrdma2_recv *rx, *next;
	LIST_HEAD(unserved);
	u32 calls = 0;

	if (resp->ops->closed)
		resp->ops->closed(resp);
	list_splice_init(&resp->ready, &resp->waiting);
	list_for_each_entry_safe(call, tmp, &resp->waiting, list) {
		list_del_init(&call->list);
		rpcrdma2_call_release(call);
		calls++;
	}
	trace_rpcrdma2_responder_closed(conn->id, calls);
	/* A client may be making a call object meanwhile */
	scoped_guard(spinlock, &resp->lock)
		list_splice_init(&resp->unserved, &unserved);
	list_for_each_entry_safe(rx, next, &unserved, list) {
		list_del_init(&rx->list);
		rpcrdma2_recv_put(rx);
	}
}

/**
 * rpcrdma2_responder_memory - memory of call objects and of unused pages
 * @resp: the responder
 *
 * Context: process; does not sleep.
 * Return: bytes
 */
size_t rpcrdma2_responder_memory(struct rpcrdma2_responder *resp)
{
	guard(spinlock)(&resp->lock);
	return resp->ncalls * kmalloc_size_roundup(sizeof(struct rpcrdma2_svc_call)) +
	       resp->entries * sizeof(struct page *) + resp->stashed * PAGE_SIZE;
}
