/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How long messages may be; see conn_limits.c. Nobody else looks into
 * struct rpcrdma2_conn_limits.
 */
#ifndef _RPCRDMA2_CONN_LIMITS_H
#define _RPCRDMA2_CONN_LIMITS_H

#include <linux/list.h>
#include <linux/spinlock.h>

struct rpcrdma2_conn;

/**
 * struct rpcrdma2_conn_limits - what messages obey now
 * @send: largest message we may send, bytes (INL-3)
 * @recv: largest message the peer may send, bytes
 * @reply: largest Reply that an earlier Call may count on, bytes; if it is
 *	more than @send a send slot is made larger for it
 * @reply_most: the same without the peer's limit
 * @held: largest message before the limit for a REQPROP came in force, or 0:
 *	Replies that need it wait
 * @remote_inval: a Reply may invalidate a handle of ours, and the other way
 * @lock: protects all that follows; a leaf
 * @users: messages being built, under the limits before and after the last
 *	time that these were lowered
 * @epoch: which of the two counts new ones
 * @draining: those of the other are waited for, with the limit for a REQPROP
 *	in force already
 * @waiting: struct rpcrdma2_tx_held
 * @waiting_since: jiffies when the first of them came
 */
struct rpcrdma2_conn_limits {
	u32				send;
	u32				recv;
	u32				reply;
	u32				reply_most;
	u32				held;
	bool				remote_inval;

	spinlock_t			lock;		/* see above */
	u32				users[2];
	u32				epoch;
	bool				draining;
	struct list_head		waiting;
	unsigned long			waiting_since;
};

/**
 * struct rpcrdma2_limits_basis - what limits are made of, bytes
 * @send: the peer receives no larger messages, or will not any more
 * @peer: its Receive Buffer Size
 * @mine: ours, as far as the peer has been told
 * @recv: it may send no larger messages
 */
struct rpcrdma2_limits_basis {
	u32				send;
	u32				peer;
	u32				mine;
	u32				recv;
};

/**
 * struct rpcrdma2_tx_held - a message that waits for a limit to be known
 * @list: link in the connection's list of these
 * @ready: called once: it may be built now (@status 0), or the connection ends
 *	(-ENOTCONN). May sleep; may wait again
 */
struct rpcrdma2_tx_held {
	struct list_head		list;
	void (*ready)(struct rpcrdma2_tx_held *held, int status);
};

/* Bytes of the largest message that may be sent */
static inline u32 rpcrdma2_limits_send(const struct rpcrdma2_conn_limits *l)
{
	return READ_ONCE(l->send);
}

/* Bytes of the largest message that may come */
static inline u32 rpcrdma2_limits_recv(const struct rpcrdma2_conn_limits *l)
{
	return READ_ONCE(l->recv);
}

/* Bytes of the largest Reply to an earlier Call */
static inline u32 rpcrdma2_limits_reply(const struct rpcrdma2_conn_limits *l)
{
	return READ_ONCE(l->reply);
}

/* Bytes of the largest Reply that waits for the peer's answer, or 0 */
static inline u32 rpcrdma2_limits_held(const struct rpcrdma2_conn_limits *l)
{
	return READ_ONCE(l->held);
}

/* May a Send invalidate a handle? Settled with the version */
static inline bool
rpcrdma2_limits_remote_inval(const struct rpcrdma2_conn_limits *l)
{
	return l->remote_inval;
}

/* Is a lower limit obeyed before the peer is asked for it? props.lock */
static inline bool rpcrdma2_tx_draining(const struct rpcrdma2_conn_limits *l)
{
	return l->draining;
}

void rpcrdma2_limits_setup(struct rpcrdma2_conn *conn);
void rpcrdma2_limits_fix(struct rpcrdma2_conn *conn, u32 send, u32 recv);
void rpcrdma2_limits_apply(struct rpcrdma2_conn *conn,
			   const struct rpcrdma2_limits_basis *basis);
void rpcrdma2_limits_cut(struct rpcrdma2_conn *conn, u32 size);
void rpcrdma2_limits_inval(struct rpcrdma2_conn *conn, bool allowed);

/* Messages being built */
u32 rpcrdma2_tx_begin(struct rpcrdma2_conn *conn);
void rpcrdma2_tx_end(struct rpcrdma2_conn *conn, u32 epoch);
bool rpcrdma2_tx_drained(struct rpcrdma2_conn *conn);
void rpcrdma2_tx_resume(struct rpcrdma2_conn *conn);

/* Messages that wait */
void rpcrdma2_tx_hold(struct rpcrdma2_conn *conn,
		      struct rpcrdma2_tx_held *held);
unsigned long rpcrdma2_tx_unhold(struct rpcrdma2_conn *conn);
void rpcrdma2_tx_abort(struct rpcrdma2_conn *conn);

#endif /* _RPCRDMA2_CONN_LIMITS_H */
