/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Properties of a connection and their changes; see conn_props.c. Nobody else
 * looks into struct rpcrdma2_conn_props.
 */
#ifndef _RPCRDMA2_CONN_PROPS_H
#define _RPCRDMA2_CONN_PROPS_H

#include <linux/spinlock.h>

#include "adapt.h"
#include "change.h"
#include "props.h"
#include "recv.h"

struct rpcrdma2_conn;
struct rpcrdma2_hdr;
struct rpcrdma2_recv;

/**
 * enum rpcrdma2_own_size - a raise of our Receive Buffer Size (CHG-23, CHG-24)
 * @RPCRDMA2_OWN_STEADY: none is under way
 * @RPCRDMA2_OWN_SLOTS: server: send slots grow
 * @RPCRDMA2_OWN_RECEIVES: Receives of the old size are being used up
 */
enum rpcrdma2_own_size {
	RPCRDMA2_OWN_STEADY = 0,
	RPCRDMA2_OWN_SLOTS,
	RPCRDMA2_OWN_RECEIVES,
};

/**
 * struct rpcrdma2_conn_props - properties of both sides
 * @lock: protects all that follows, and keeps the messages about changes in
 *	order
 * @mine: what we announce
 * @peer: what the peer announces; defaults until its CONNPROP
 * @peer_seen: its CONNPROP has come
 * @change: changes under way
 * @extended: both sides have announced that they change properties
 * @own_size: see enum rpcrdma2_own_size
 * @told_recv: Receive Buffer Size that the peer has been told last
 * @want_recv: Receive Buffer Size we would like to have, bytes
 * @want_send: largest message we would like to send, bytes
 * @plan_recv: Calls are planned for Replies of so many bytes, because the
 *	peer has asked for a smaller Receive Buffer Size
 * @own_cycles: empty requests that may still be sent to use up Receives
 * @unanswered: @request waits until its answer has room
 * @request: the peer's last REQPROP
 * @request_xid: its XID
 * @go_round: the peer's Receives may be used up for a raise
 * @retries: how often a lower value may still be asked for
 * @retry_at: jiffies when it may
 * @retry_delay: jiffies from a refusal to that
 * @adapt: policy
 */
struct rpcrdma2_conn_props {
	spinlock_t			lock;		/* see above */
	struct rpcrdma2_propset		mine;
	struct rpcrdma2_propset		peer;
	bool				peer_seen;
	struct rpcrdma2_change		change;
	bool				extended;
	enum rpcrdma2_own_size		own_size;
	u32				told_recv;
	u32				want_recv;
	u32				want_send;
	u32				plan_recv;
	u32				own_cycles;
	bool				unanswered;
	struct rpcrdma2_reqprop		request;
	u32				request_xid;
	bool				go_round;
	u32				retries;
	unsigned long			retry_at;
	unsigned long			retry_delay;
	struct rpcrdma2_adapt		adapt;
};

/**
 * struct rpcrdma2_props_shown - properties for display
 * @mine: ours
 * @peer: the peer's
 * @change: changes under way
 * @requesting: the peer is asked for something, or will be
 */
struct rpcrdma2_props_shown {
	struct rpcrdma2_propset		mine;
	struct rpcrdma2_propset		peer;
	struct rpcrdma2_change		change;
	bool				requesting;
};

/* A value of ours, as it is now */
static inline u32 rpcrdma2_props_mine(const struct rpcrdma2_conn_props *props,
				      enum rpcrdma2_prop prop)
{
	return READ_ONCE(props->mine.val[prop]);
}

/* A value of the peer's, as it is now */
static inline u32 rpcrdma2_props_peer(const struct rpcrdma2_conn_props *props,
				      enum rpcrdma2_prop prop)
{
	return READ_ONCE(props->peer.val[prop]);
}

/* Receive Buffer Size that ours is, or becomes when Replies need it */
static inline u32 rpcrdma2_props_most(const struct rpcrdma2_conn_props *props,
				      const struct rpcrdma2_recv_pool *pool)
{
	return max(rpcrdma2_props_mine(props, RPCRDMA2_RBSIZ),
		   rpcrdma2_recvs_first(pool));
}

/* Has its CONNPROP come? For who handles messages */
static inline bool
rpcrdma2_props_known(const struct rpcrdma2_conn_props *props)
{
	return props->peer_seen;
}

/* May properties change? */
static inline bool
rpcrdma2_props_extended(const struct rpcrdma2_conn_props *props)
{
	return READ_ONCE(props->extended);
}

/* Life */
void rpcrdma2_props_setup(struct rpcrdma2_conn *conn);
void rpcrdma2_props_begin(struct rpcrdma2_conn *conn);
void rpcrdma2_props_ready(struct rpcrdma2_conn *conn);
void rpcrdma2_props_apply(struct rpcrdma2_conn *conn);

/* Messages */
int rpcrdma2_props_send(struct rpcrdma2_conn *conn, u32 xid, bool response);
bool rpcrdma2_props_take(struct rpcrdma2_conn *conn, struct rpcrdma2_recv *rx);
void rpcrdma2_props_connprop(struct rpcrdma2_conn *conn,
			     struct rpcrdma2_recv *rx, bool settles);
bool rpcrdma2_props_receive(struct rpcrdma2_conn *conn,
			    struct rpcrdma2_recv *rx);
bool rpcrdma2_props_error(struct rpcrdma2_conn *conn,
			  const struct rpcrdma2_hdr *hdr);

/* From outside */
void rpcrdma2_props_missed(struct rpcrdma2_conn *conn, u32 size);
int rpcrdma2_props_request(struct rpcrdma2_conn *conn, bool own,
			   enum rpcrdma2_prop prop, u32 value);
int rpcrdma2_props_cycle(struct rpcrdma2_conn *conn, u32 messages);
void rpcrdma2_props_show(struct rpcrdma2_conn *conn,
			 struct rpcrdma2_props_shown *shown);

#endif /* _RPCRDMA2_CONN_PROPS_H */
