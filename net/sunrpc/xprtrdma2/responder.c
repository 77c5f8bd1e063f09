// SPDX-License-Identifier: GPL-2.0
/*
 * The responder role: its life, and what happens to a Call that arrives: credits
 * and limits. call.c has the call objects, reads.c pulls Read chunks, reply.c
 * and writes.c send the Reply.
 */
#include <linux/gfp.h>
#include <linux/mm.h>
#include <linux/slab.h>

#include "buf.h"
#include "reads.h"
#include "reply.h"
#include "responder.h"
#include <trace/events/rpcrdma2.h>

/* What this responder does not take is refused before anything is allocated
 * for it (ERR-19..24, CHK-24). Returns false if the Call was answered.
 */
static bool call_check_limits(struct rpcrdma2_call_ctx *call)
{
	const struct rpcrdma2_limits *limits = &call->resp->limits;
	const struct rpcrdma2_hdr *hdr = &call->rx->hdr;

	if (hdr->read_chunks > limits->read_chunks) {
		rpcrdma2_call_refuse(call, RDMA2_ERR_READ_CHUNKS,
				     limits->read_chunks);
		return false;
	}
	if (hdr->write_chunks > limits->write_chunks) {
		rpcrdma2_call_refuse(call, RDMA2_ERR_WRITE_CHUNKS,
				     limits->write_chunks);
		return false;
	}
	if (hdr->max_segs > limits->segs) {
		rpcrdma2_call_refuse(call, RDMA2_ERR_SEGMENTS, limits->segs);
		return false;
	}
	return true;
}

/* The same for its Read list. */
static bool call_check_reads(struct rpcrdma2_call_ctx *call)
{
	if (!rpcrdma2_call_sort_reads(call)) {
		rpcrdma2_call_refuse(call, RDMA2_ERR_SYSTEM, 0);
		return false;
	}
	if (!rpcrdma2_call_lay_out(call)) {
		call->npages = 0;
		rpcrdma2_call_garbage(call);
		return false;
	}
	if (call->stream > call->resp->limits.bytes ||
	    call->npages > call->resp->max_pages) {
		call->npages = 0;
		rpcrdma2_call_refuse(call, RDMA2_ERR_SYSTEM, 0);
		return false;
	}
	return true;
}

static void call_has_reads(struct rpcrdma2_chore *chore)
{
	struct rpcrdma2_call_ctx *call =
		container_of(chore, struct rpcrdma2_call_ctx, chore);

	if (call_check_reads(call))
		rpcrdma2_call_start_pull(call);
}

static void call_begin(struct rpcrdma2_call_ctx *call)
{
	call->conn = call->rx->conn;
	call->hdr.xid = call->rx->hdr.xid;
	refcount_set(&call->refs, 1);
	refcount_set(&call->rx_refs, 1);
	call->credited = false;
	call->npayloads = 0;
	call->nreduced = 0;
	call->nchunks = 0;
	call->npages = 0;
	call->pulling = 0;
	call->read_bytes = 0;
	call->err = 0;
	call->inv_handle = 0;
	call->stream = call->rx->hdr.body_len;
	call->head = call->stream;
	rpcrdma2_call_set_state(call, RPCRDMA2_CALL_ARRIVED);
	if (!call_check_limits(call))
		return;
	if (!call->rx->hdr.read_list) {
		rpcrdma2_call_ready(call, RPCRDMA2_CALL_READY);
		return;
	}
	call->chore.run = call_has_reads;
	rpcrdma2_conn_leave(call->conn, &call->chore);
}

static void call_begin_late(struct rpcrdma2_chore *chore)
{
	call_begin(container_of(chore, struct rpcrdma2_call_ctx, chore));
}

/* Credits: count the Call; grant more if the peer makes use of it, after
 * the Receives for it are posted (CRED-7), or less if it has made little use
 * of it lately. Returns false if the peer sends far more than it may; memory
 * must not depend on its mercy (SEC-3).
 */
static bool responder_grant(struct rpcrdma2_responder *resp,
			    struct rpcrdma2_conn *conn, u32 asked)
{
	u32 want = rpcrdma2_credit_called(conn, asked);
	u32 now = rpcrdma2_credit_grant(&conn->rq);

	/* Some more, for Calls whose Reply is posted but not completed */
	if (want > now &&
	    rpcrdma2_calls_provide(resp, want + RPCRDMA2_CONTROL_RESERVE,
				   RPCRDMA2_GFP_NOWAIT))
		rpcrdma2_credit_raise(conn, want);
	else if (unlikely(want && want < now))
		rpcrdma2_credit_lower(conn, want);
	return want;
}

/**
 * rpcrdma2_responder_call - a Call arrived
 * @resp: the responder
 * @conn: the connection, READY
 * @rx: the Receive with the Call, header decoded
 *
 * Context: completion handler; does not sleep.
 * Return: true if @rx was taken over.
 */
bool rpcrdma2_responder_call(struct rpcrdma2_responder *resp,
			     struct rpcrdma2_conn *conn,
			     struct rpcrdma2_recv *rx)
{
	struct rpcrdma2_call_ctx *call;

	if (!responder_grant(resp, conn, rx->hdr.credit)) {
		rpcrdma2_stat_inc(conn->p.stats, over_credit);
		rpcrdma2_conn_kill(conn, -EPROTO);
		return false;
	}
	call = rpcrdma2_call_get(resp, rx);
	if (likely(call))
		call_begin(call);
	return true;
}

/**
 * rpcrdma2_responder_wrs - send queue entries that one Reply may take
 * @caps: of the device
 * @bytes: largest message
 *
 * Enough for @bytes in one Write chunk and the Send. A Reply that needs
 * more, because its chunks are in many pieces, is posted in parts.
 *
 * Context: any.
 * Return: a number of work requests.
 */
u32 rpcrdma2_responder_wrs(const struct rpcrdma2_device_caps *caps, u32 bytes)
{
	u32 pages = DIV_ROUND_UP(bytes, PAGE_SIZE) + 1;
	u32 sges = max(caps->max_send_sge, 1U);

	return clamp(DIV_ROUND_UP(pages, sges) + 3, 8U, 48U);
}

/**
 * rpcrdma2_responder_init - responder role for one connection
 * @resp: to be set up
 * @ops: the executor
 * @limits: what it takes; copied, values out of range are cut
 *
 * Context: may sleep.
 * Return: 0 or -ENOMEM; rpcrdma2_responder_destroy() cleans up after both.
 */
int rpcrdma2_responder_init(struct rpcrdma2_responder *resp,
			    const struct rpcrdma2_responder_ops *ops,
			    const struct rpcrdma2_limits *limits)
{
	resp->ops = ops;
	resp->begin = call_begin_late;
	resp->limits = *limits;
	resp->limits.read_chunks = clamp(limits->read_chunks, 1U,
					 RPCRDMA2_READ_CHUNKS_MAX);
	resp->limits.write_chunks = clamp(limits->write_chunks, 1U,
					  RPCRDMA2_WRITE_CHUNKS_MAX);
	resp->limits.segs = clamp(limits->segs, 1U, RPCRDMA2_SEGS_MAX);
	/* A Reply may have two pages more than a Call, and ragged ends */
	resp->max_pages = DIV_ROUND_UP(limits->bytes, PAGE_SIZE) + 3;

	spin_lock_init(&resp->lock);
	INIT_LIST_HEAD(&resp->calls);
	INIT_LIST_HEAD(&resp->unserved);
	INIT_LIST_HEAD(&resp->waiting);
	resp->pulling = 0;
	resp->ctxs = 0;
	resp->ncalls = 0;
	resp->room = 0;
	resp->stashed = 0;
	return rpcrdma2_calls_provide(resp, 1, GFP_KERNEL) ? 0 : -ENOMEM;
}

/**
 * rpcrdma2_responder_destroy - free what a responder holds
 * @resp: its connection is closed, the executor released all its Calls
 *
 * Context: may sleep.
 */
void rpcrdma2_responder_destroy(struct rpcrdma2_responder *resp)
{
	struct rpcrdma2_call_ctx *call, *tmp;
	struct rpcrdma2_recv *rx, *next;

	list_for_each_entry_safe(call, tmp, &resp->waiting, list) {
		list_del_init(&call->list);
		rpcrdma2_call_release(call);
	}
	list_for_each_entry_safe(rx, next, &resp->unserved, list) {
		list_del_init(&rx->list);
		rpcrdma2_recv_put(rx);
	}
	rpcrdma2_calls_trim(resp, 0);
}

/**
 * rpcrdma2_responder_memory - memory that a responder keeps
 * @resp: the responder
 *
 * Call objects, and the pages that no Call uses now.
 *
 * Context: process; does not sleep.
 * Return: bytes
 */
size_t rpcrdma2_responder_memory(struct rpcrdma2_responder *resp)
{
	size_t sum;

	spin_lock(&resp->lock);
	sum = resp->ncalls * kmalloc_size_roundup(sizeof(struct rpcrdma2_call_ctx));
	sum += resp->room * sizeof(struct page *);
	sum += resp->stashed * PAGE_SIZE;
	spin_unlock(&resp->lock);
	return sum;
}
