// SPDX-License-Identifier: GPL-2.0
/*
 * Lengths of messages. The builder of a message reads the limit once; what is
 * posted is looked at again, see rpcrdma2_send_post().
 *
 * props.lock serialises changes. Process context.
 */
#include "conn/conn.h"
#include <trace/events/rpcrdma2.h>

/**
 * rpcrdma2_msg_size_fix - limits that do not change any more
 * @conn: connection of version 1, not READY yet
 * @send: bytes of the largest message that may be sent
 * @recv: bytes of the largest message that may come
 *
 * Context: any. Requirements: INL-8.
 */
void rpcrdma2_msg_size_fix(struct rpcrdma2_conn *conn, u32 send, u32 recv)
{
	conn->limits.send = send;
	conn->limits.recv = recv;
}

/**
 * rpcrdma2_msg_size_cut - send slots are smaller than the peer would allow
 * @conn: connection that is not READY yet
 * @size: bytes of a slot
 *
 * Context: any.
 */
void rpcrdma2_msg_size_cut(struct rpcrdma2_conn *conn, u32 size)
{
	conn->limits.send = min(conn->limits.send, size);
}

/**
 * rpcrdma2_msg_size_inval - may messages invalidate handles?
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
 * rpcrdma2_msg_size_apply - what messages must obey from now on
 * @conn: the connection
 * @send: bytes of the largest message that the peer takes
 * @recv: bytes of the largest message that it may send
 *
 * Context: props.lock held; does not sleep. Requirements: INL-2, INL-3.
 */
void rpcrdma2_msg_size_apply(struct rpcrdma2_conn *conn, u32 send, u32 recv)
{
	struct rpcrdma2_msg_size *l = &conn->limits;

	send = min(send, rpcrdma2_sends_size(&conn->sendq) ?: conn->p.send_size);
	if (send == l->send && recv == l->recv)
		return;
	WRITE_ONCE(l->send, send);
	WRITE_ONCE(l->recv, recv);
	trace_rpcrdma2_limits(conn);
}
