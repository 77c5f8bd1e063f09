// SPDX-License-Identifier: GPL-2.0
/*
 * Lengths of messages. The builder of a message reads the limit once;
 * rpcrdma2_send_post() checks the message again.
 *
 * props.lock serializes changes. Process context.
 */
#include "conn/conn.h"
#include <trace/events/rpcrdma2.h>

/**
 * rpcrdma2_msg_size_inval - set whether messages may invalidate handles
 * @conn: connection that is not READY yet
 * @allowed: both sides can
 *
 * Context: any. Requirements: RINV-20, RINV-21.
 */
void rpcrdma2_msg_size_inval(struct rpcrdma2_conn *conn, bool allowed)
{
	conn->limits.remote_inval = allowed;
}

/**
 * rpcrdma2_msg_size_set - set the limits of messages
 * @conn: the connection
 * @send: bytes of the largest message that the peer takes; no more than fits into a
 *	send slot counts
 * @recv: bytes of the largest message that the peer may send
 *
 * Context: props.lock held, or before READY; does not sleep. Requirements: INL-2, INL-3,
 * INL-8.
 */
void rpcrdma2_msg_size_set(struct rpcrdma2_conn *conn, u32 send, u32 recv)
{
	struct rpcrdma2_msg_size *l = &conn->limits;

	send = min(send, rpcrdma2_sends_size(&conn->sendq) ?: conn->p.send_size);
	if (send == l->send && recv == l->recv)
		return;
	WRITE_ONCE(l->send, send);
	WRITE_ONCE(l->recv, recv);
	trace_rpcrdma2_limits(conn);
}
