/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Lengths of messages; see msg_size.c. No other file looks into struct
 * rpcrdma2_msg_size.
 */
#ifndef _RPCRDMA2_MSG_SIZE_H
#define _RPCRDMA2_MSG_SIZE_H

#include <linux/compiler.h>
#include <linux/types.h>

struct rpcrdma2_conn;

/**
 * struct rpcrdma2_msg_size - limits of messages
 * @send: largest message we may send, bytes (INL-3)
 * @recv: largest message the peer may send, bytes
 * @remote_inval: Replies of either side may invalidate a handle of the other
 */
struct rpcrdma2_msg_size {
	u32				send;
	u32				recv;
	bool				remote_inval;
};

/* Bytes of the largest message that may be sent */
static inline u32 rpcrdma2_msg_size_send(const struct rpcrdma2_msg_size *l)
{
	return READ_ONCE(l->send);
}

/* Bytes of the largest message that the peer may send */
static inline u32 rpcrdma2_msg_size_recv(const struct rpcrdma2_msg_size *l)
{
	return READ_ONCE(l->recv);
}

/* A Send may invalidate a handle; known when the version is. */
static inline bool
rpcrdma2_msg_size_remote_inval(const struct rpcrdma2_msg_size *l)
{
	return l->remote_inval;
}

void rpcrdma2_msg_size_set(struct rpcrdma2_conn *conn, u32 send, u32 recv);
void rpcrdma2_msg_size_inval(struct rpcrdma2_conn *conn, bool allowed);

#endif /* _RPCRDMA2_MSG_SIZE_H */
