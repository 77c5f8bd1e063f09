// SPDX-License-Identifier: GPL-2.0
/*
 * Keepalive, on both sides and in every version, with or without RPCs: a peer that is gone
 * costs its connection, a slow peer does not (CRED-17).
 *
 * The peer's device proves that the peer is there, because it answers however busy the
 * peer is: the probe is a zero-length RDMA Read, which needs neither a credit nor a handle
 * nor a Receive. An RDMA Write, or a Send, proves as much only where the other device
 * acknowledges it, which iWARP devices do not (see Documentation/devices.md).
 *
 * Every completion of the send queue that a dead peer would prevent is a sign of life. A
 * message from the peer is not: a peer that sends, but never takes messages, would keep
 * all waiting messages in the send queue. Its connect request has told the CM how often,
 * and how long, our device is to try.
 *
 * The timer checks for a sign four times in silence_seconds, and sixteen times if the
 * connection is in use: the peer may have lost its own queue pair with a Reply that did not
 * arrive, and then nothing in our send queue would find out. Without a sign the probe is
 * posted. If the probe is not answered for half of silence_seconds, or two thirds if the
 * connection is in use, the connection is given up. This file counts its own turns, not the
 * time, because the clock leaps in a machine that was stopped for a while.
 */
#include <linux/module.h>

#include "conn/conn.h"
#include "conn/paths.h"
#include <trace/events/rpcrdma2.h>

/* An idle connection: death, 4 turns, check, 4 turns, probe, 8 turns, end; one in use:
 * death, 1, check, 1, probe, 11, end. The end comes when the next check would be too late.
 */
#define RPCRDMA2_KEEPALIVE_TURNS	16U
#define RPCRDMA2_KEEPALIVE_IDLE	4U
#define RPCRDMA2_KEEPALIVE_SILENT	12U
#define RPCRDMA2_KEEPALIVE_MAX	86400U	/* seconds */
/* Seconds if there is another path: noticing that this one is gone, and a connection by the
 * other one, take less than that.
 */
#define RPCRDMA2_KEEPALIVE_HASTE	3U

static unsigned int silence_seconds = 50;
module_param(silence_seconds, uint, 0644);
MODULE_PARM_DESC(silence_seconds,
		 "seconds without a response after which a connection is closed (0: never)");

static void probe_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct rpcrdma2_conn *conn = cq->cq_context;

	guard(rpcrdma2_completion)();
	trace_rpcrdma2_wc_probe(conn, 0, wc);
	if (!atomic_xchg(&conn->keepalive.probing, 0))
		rpcrdma2_stat_inc(conn->p.stats, stray_completions);
	if (wc->status == IB_WC_SUCCESS) {
		rpcrdma2_conn_activity(conn);
		return;
	}
	rpcrdma2_conn_wc_failed(conn, "probe", 0, wc);
	/* The other errors say nothing about silence: see devices.md about siw */
	rpcrdma2_conn_kill(conn, wc->status == IB_WC_RETRY_EXC_ERR ? -ETIMEDOUT : -ENOTCONN);
}

/**
 * rpcrdma2_keepalive_probe - request a sign of life from the peer's device
 * @conn: a connection in state OPEN or READY; else nothing happens
 *
 * Posts a zero-length RDMA Read, or a zero-length RDMA Write if the peer takes
 * no Reads, as the kernel's own server of version 1. The probe has a reserved entry of the
 * send queue, because a dead peer leaves a queue full of messages behind.
 *
 * Context: process; does not sleep. Requirements: CRED-17.
 */
void rpcrdma2_keepalive_probe(struct rpcrdma2_conn *conn)
{
	enum rpcrdma2_conn_state state = rpcrdma2_conn_state(conn);
	struct ib_sge nothing = {
		.lkey		= conn->lkey,
	};
	struct ib_rdma_wr wr = {
		.wr.wr_cqe	= &conn->keepalive.cqe,
		.wr.opcode	= IB_WR_RDMA_WRITE,
		.wr.send_flags	= IB_SEND_SIGNALED,
	};

	if (state < RPCRDMA2_CONN_OPEN || state >= RPCRDMA2_CONN_CLOSING ||
	    atomic_cmpxchg(&conn->keepalive.probing, 0, 1))
		return;
	conn->keepalive.cqe.done = probe_done;
	if (conn->may_read) {
		wr.wr.opcode = IB_WR_RDMA_READ;
		wr.wr.sg_list = &nothing;
		wr.wr.num_sge = 1;
	}
	rpcrdma2_stat_inc(conn->p.stats, probes);
	if (rpcrdma2_sendq_post(conn, NULL, &wr.wr))
		atomic_set(&conn->keepalive.probing, 0);
}

/**
 * rpcrdma2_keepalive_probing - check for an outstanding probe
 * @conn: the connection
 *
 * Context: any.
 * Return: true if one is posted and has not completed
 */
bool rpcrdma2_keepalive_probing(const struct rpcrdma2_conn *conn)
{
	return atomic_read(&conn->keepalive.probing);
}

static void keepalive_next(struct rpcrdma2_conn *conn)
{
	u32 most = rpcrdma2_paths_impatient(conn->p.policy.paths) ?
		   RPCRDMA2_KEEPALIVE_HASTE : RPCRDMA2_KEEPALIVE_MAX;
	unsigned long seconds = min(READ_ONCE(silence_seconds), most);
	bool in_use = !rpcrdma2_conn_quiet(conn, &conn->keepalive.calls) ||
		      rpcrdma2_credit_used(&conn->credit);

	if (!seconds)
		return;
	conn->keepalive.turns = in_use ? 1 : RPCRDMA2_KEEPALIVE_IDLE;
	rpcrdma2_timer_set(conn, RPCRDMA2_TIMER_KEEPALIVE,
			   seconds * HZ * conn->keepalive.turns /
			   RPCRDMA2_KEEPALIVE_TURNS);
}

/**
 * rpcrdma2_keepalive_check - check for a sign of life
 * @conn: the connection
 *
 * Context: timer of the connection; does not sleep.
 */
void rpcrdma2_keepalive_check(struct rpcrdma2_conn *conn)
{
	if (READ_ONCE(conn->heard)) {
		WRITE_ONCE(conn->heard, false);
		conn->keepalive.silent = 0;
	} else if (!atomic_read(&conn->keepalive.probing)) {
		rpcrdma2_keepalive_probe(conn);
	} else {
		conn->keepalive.silent += conn->keepalive.turns;
	}
	if (conn->keepalive.silent + conn->keepalive.turns >=
	    RPCRDMA2_KEEPALIVE_SILENT) {
		rpcrdma2_stat_inc(conn->p.stats, silent_peers);
		if (rpcrdma2_conn_may_log(conn))
			pr_notice("rpcrdma2: %pISpc does not respond, connection closed\n",
				  &conn->cm_id->route.addr.dst_addr);
		rpcrdma2_conn_kill(conn, -ETIMEDOUT);
		return;
	}
	keepalive_next(conn);
}

/**
 * rpcrdma2_keepalive_start - start the checks
 * @conn: connection that was made or accepted
 *
 * There are none if the completion of a probe would not prove that the peer has seen it.
 *
 * Context: process. Requirements: CRED-17.
 */
void rpcrdma2_keepalive_start(struct rpcrdma2_conn *conn)
{
	const struct rdma_cm_id *id = conn->cm_id;

	if (conn->may_read || !rdma_protocol_iwarp(id->device, id->port_num))
		keepalive_next(conn);
}
