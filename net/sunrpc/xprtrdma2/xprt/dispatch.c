// SPDX-License-Identifier: GPL-2.0
/*
 * Dispatch of incoming messages. The codec of the connection's version decodes them.
 * Calls go to the responder, Replies to the requester, and messages about properties to
 * prop_update.c. Invalid messages are dropped or answered with an RDMA2_ERROR.
 *
 * All functions run in the context that polls for completions. They handle one message at
 * a time, in the order of arrival: the changes by a message, for example of the version or
 * of a property, are in force before the next message is handled.
 */
#include "conn/conn.h"
#include "conn/control.h"
#include "xprt/xprt.h"
#include "requester/requester.h"
#include "responder/responder.h"
#include <trace/events/rpcrdma2.h>

/* A Reply or an ERROR is for the requester. A server may have none. */
static void recv_answer(struct rpcrdma2_conn *conn, struct rpcrdma2_recv *rx)
{
	struct rpcrdma2_requester *rq = rpcrdma2_conn_requester(conn);

	if (likely(rq))
		rpcrdma2_requester_answer(rq, conn, rx);
	else
		rpcrdma2_stat_inc(conn->p.stats, rx_bad_xid);
}

/* A control message may have opened the window. */
static void recv_window(struct rpcrdma2_conn *conn)
{
	struct rpcrdma2_requester *rq = rpcrdma2_conn_requester(conn);

	if (rq)
		rpcrdma2_requester_run(rq);
}

static bool recv_rpc(struct rpcrdma2_conn *conn, struct rpcrdma2_recv *rx)
{
	const struct rpcrdma2_hdr *hdr = &rx->hdr;
	struct rpcrdma2_stats *stats = conn->p.stats;
	bool msg = hdr->htype == RDMA2_MSG;

	rpcrdma2_stat_add(stats, inline_rx_bytes, rx->len);
	if (!hdr->response) {
		rpcrdma2_stat_inc_either(stats, msg, rx_call_msg, rx_call_nomsg);
		return rpcrdma2_responder_call(conn, rx);
	}
	rpcrdma2_stat_inc_either(stats, msg, rx_reply_msg, rx_reply_nomsg);
	recv_answer(conn, rx);
	return false;
}

/* Check whether a message that answers no RPC has invalidated a handle. An RPC has lost
 * its memory then (RINV-14).
 */
static bool stray_invalidation(struct rpcrdma2_conn *conn,
			       const struct rpcrdma2_recv *rx)
{
	if (likely(!rx->invalidated))
		return false;
	rpcrdma2_stat_inc(conn->p.stats, bad_inv_handle);
	rpcrdma2_conn_kill(conn, -EPROTO);
	return true;
}

/* Only an answer to an RPC may invalidate a handle. The requester checks whether the
 * handle belongs to this RPC (RINV-14).
 */
static bool may_invalidate(const struct rpcrdma2_hdr *hdr)
{
	return hdr->response && (hdr->htype == RDMA2_MSG || hdr->htype == RDMA2_NOMSG ||
				 hdr->htype == RDMA2_ERROR);
}

/* Handle a correct message of the settled version. */
static bool recv_correct(struct rpcrdma2_conn *conn, struct rpcrdma2_recv *rx)
{
	if (unlikely(rx->invalidated) && !may_invalidate(&rx->hdr) &&
	    stray_invalidation(conn, rx))
		return false;
	trace_rpcrdma2_recv(conn, rx);
	switch (rx->hdr.htype) {
	case RDMA2_MSG:
	case RDMA2_NOMSG:
		return recv_rpc(conn, rx);
	case RDMA2_ERROR:
		rpcrdma2_stat_inc(conn->p.stats, rx_error);
		if (rpcrdma2_props_error(conn, &rx->hdr))
			stray_invalidation(conn, rx);
		else
			recv_answer(conn, rx);
		return false;
	case RDMA2_CONNPROP:
		rpcrdma2_props_connprop(conn, rx);
		recv_window(conn);
		return false;
	default:
		rpcrdma2_reject_dropped(conn, rx);
		return false;
	}
}

/* Handle a message of the settled version by the verdict of the codec. */
static bool recv_judged(struct rpcrdma2_conn *conn, struct rpcrdma2_recv *rx,
			enum rpcrdma2_verdict verdict)
{
	if (verdict == RPCRDMA2_OK)
		return recv_correct(conn, rx);
	/* A requester sends no ERROR about a possible Reply (V1-3) */
	if (conn->client && rx->hdr.undirected)
		verdict = RPCRDMA2_DROP;
	if (stray_invalidation(conn, rx))
		return false;
	if (verdict == RPCRDMA2_BAD_VERS) {
		/* Another version in mid-connection (HDR-12, D-14) */
		rpcrdma2_stat_inc(conn->p.stats, rx_bad_vers);
		rpcrdma2_conn_kill(conn, -EPROTO);
	} else {
		rpcrdma2_reject(conn, rx, verdict);
	}
	return false;
}

/* Handle a message that is not a correct one of the settled version. */
static noinline_for_stack bool
recv_unusual(struct rpcrdma2_conn *conn, struct rpcrdma2_recv *rx,
	     enum rpcrdma2_verdict verdict)
{
	if (verdict == RPCRDMA2_BAD_VERS) {
		if (!conn->client && !rpcrdma2_ver_message(conn, rx, &verdict))
			return false;
	} else if (rpcrdma2_props_receive(conn, rx)) {
		recv_window(conn);
		stray_invalidation(conn, rx);
		return false;
	}
	return recv_judged(conn, rx, verdict);
}

/* Handle a message while the connection is not READY. Those of a lost one still count for
 * negotiation.
 */
static noinline_for_stack bool
recv_unsettled(struct rpcrdma2_conn *conn, struct rpcrdma2_recv *rx)
{
	enum rpcrdma2_verdict verdict;

	if (rpcrdma2_conn_over(conn) && !(conn->client && !READ_ONCE(conn->codec)))
		return false;
	return rpcrdma2_ver_message(conn, rx, &verdict) && recv_judged(conn, rx, verdict);
}

/**
 * rpcrdma2_dispatch_recv - handle a message
 * @conn: its connection
 * @rx: the Receive with the message
 *
 * Context: completion handler.
 * Return: true if the responder has taken over @rx
 */
bool rpcrdma2_dispatch_recv(struct rpcrdma2_conn *conn, struct rpcrdma2_recv *rx)
{
	enum rpcrdma2_verdict verdict;

	if (unlikely(!rpcrdma2_conn_ready(conn)))
		return recv_unsettled(conn, rx);
	verdict = conn->codec->decode(rx->buf, rx->len, &rx->hdr);
	if (unlikely(verdict != RPCRDMA2_OK))
		return recv_unusual(conn, rx, verdict);
	if (unlikely(!rpcrdma2_ver_proved(&conn->ver)))
		rpcrdma2_ver_works(conn);
	return recv_correct(conn, rx);
}

/**
 * rpcrdma2_dispatch_trim - free unused memory of the roles of an idle connection
 * @conn: the connection
 *
 * Context: process; does not sleep.
 */
void rpcrdma2_dispatch_trim(struct rpcrdma2_conn *conn)
{
	struct rpcrdma2_requester *rq = rpcrdma2_conn_requester(conn);

	/* Granted credits need no new memory */
	rpcrdma2_calls_trim(conn->p.responder,
			    rpcrdma2_credit_grant(&conn->credit) +
			    RPCRDMA2_CONTROL_RESERVE);
	if (!rq)
		return;
	rpcrdma2_requester_trim(rq, RPCRDMA2_LEAST_SLOTS);
	if (!rpcrdma2_conn_swapping(conn))
		rpcrdma2_mr_pool_idle(&rq->pool);
}

/**
 * rpcrdma2_dispatch_memory - memory used by the roles of a connection
 * @conn: the connection
 * @mem: filled in
 *
 * Context: sleeps.
 */
void rpcrdma2_dispatch_memory(struct rpcrdma2_conn *conn, struct rpcrdma2_memory *mem)
{
	struct rpcrdma2_requester *rq = rpcrdma2_conn_requester(conn);

	mem->rpcs = rpcrdma2_responder_memory(conn->p.responder);
	mem->mrs = 0;
	if (!rq)
		return;
	mem->rpcs += atomic_long_read(&rq->bytes);
	mem->mrs = rpcrdma2_mr_pool_memory(&rq->pool);
}
