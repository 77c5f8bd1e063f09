/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Properties of a connection, their changes, and the lengths of messages; see
 * prop_update.c. No other file looks into struct rpcrdma2_conn_props, or into struct
 * rpcrdma2_msg_size.
 */
#ifndef _RPCRDMA2_PROP_UPDATE_H
#define _RPCRDMA2_PROP_UPDATE_H

#include <linux/spinlock.h>

#include "proto/prop_change.h"
#include "proto/props.h"
#include "conn/recv_queue.h"

struct rpcrdma2_conn;

/**
 * struct rpcrdma2_conn_props - properties of both sides
 * @lock: protects all that follows, and keeps the messages about changes in
 *	order
 * @mine: our values
 * @peer: the peer's values; defaults until its CONNPROP arrives
 * @peer_seen: its CONNPROP has arrived
 * @change: changes under way
 * @capacity: largest Receive Buffer Size of ours, bytes
 * @told_recv: Receive Buffer Size that was announced to the peer last
 * @unanswered: @request waits until a slot is free for its answer
 * @request: the peer's last REQPROP
 * @request_xid: its XID
 */
struct rpcrdma2_conn_props {
	spinlock_t			lock;		/* see above */
	struct rpcrdma2_propset		mine;
	struct rpcrdma2_propset		peer;
	bool				peer_seen;
	struct rpcrdma2_change		change;
	u32				capacity;
	u32				told_recv;
	bool				unanswered;
	struct rpcrdma2_propset		request;
	u32				request_xid;
};

/**
 * struct rpcrdma2_msg_size - limits of messages
 * @send: largest message we may send, bytes (INL-3)
 * @recv: largest message the peer may send, bytes
 */
struct rpcrdma2_msg_size {
	u32				send;
	u32				recv;
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

/**
 * struct rpcrdma2_props_shown - properties for display
 * @mine: ours
 * @peer: the peer's
 * @change: changes under way
 */
struct rpcrdma2_props_shown {
	struct rpcrdma2_propset		mine;
	struct rpcrdma2_propset		peer;
	struct rpcrdma2_change		change;
};

/* Life */
void rpcrdma2_props_begin(struct rpcrdma2_conn *conn);
void rpcrdma2_props_apply(struct rpcrdma2_conn *conn);
void rpcrdma2_props_limits(struct rpcrdma2_conn *conn, u32 send, u32 recv);

/* Messages */
int rpcrdma2_props_send(struct rpcrdma2_conn *conn, u32 xid, u32 htype, bool response);
bool rpcrdma2_props_take(struct rpcrdma2_conn *conn, struct rpcrdma2_recv *rx);
void rpcrdma2_props_connprop(struct rpcrdma2_conn *conn, struct rpcrdma2_recv *rx);
bool rpcrdma2_props_receive(struct rpcrdma2_conn *conn,
			    struct rpcrdma2_recv *rx);
bool rpcrdma2_props_error(struct rpcrdma2_conn *conn,
			  const struct rpcrdma2_hdr *hdr);
void rpcrdma2_props_work(struct rpcrdma2_conn *conn);
const u8 *rpcrdma2_props_identity(struct rpcrdma2_conn *conn, u8 buf[RPCRDMA2_IDENTITY_BYTES]);
bool rpcrdma2_props_takes_calls(const struct rpcrdma2_conn *conn);
void rpcrdma2_props_cycle(struct rpcrdma2_conn *conn, u32 rounds);

/* Administration */
int rpcrdma2_props_request(struct rpcrdma2_conn *conn, bool own,
			   enum rpcrdma2_prop prop, u32 value);
void rpcrdma2_props_show(struct rpcrdma2_conn *conn,
			 struct rpcrdma2_props_shown *shown);

#endif /* _RPCRDMA2_PROP_UPDATE_H */
