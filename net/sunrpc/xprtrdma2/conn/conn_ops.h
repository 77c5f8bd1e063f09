/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Functions and parameters that an owner, client.c or server.c, gives to a connection.
 */
#ifndef _RPCRDMA2_CONN_OPS_H
#define _RPCRDMA2_CONN_OPS_H

#include <linux/types.h>

#include "conn/peer_policy.h"
#include "conn/stats.h"
#include "proto/version.h"

struct rpcrdma2_conn;
struct rpcrdma2_recv;
struct rpcrdma2_recv_pool;
struct rpcrdma2_requester;
struct rpcrdma2_responder;

#define RPCRDMA2_LOOK_MS	250	/* period of the check ops->wanted() */

/**
 * struct rpcrdma2_memory - memory of the roles of a connection
 * @mrs: memory regions, bytes
 * @rpcs: state of RPCs, with the buffers that stay with it, bytes
 */
struct rpcrdma2_memory {
	size_t				mrs;
	size_t				rpcs;
};

/**
 * struct rpcrdma2_conn_ops - functions of the owner that a connection calls
 * @recv: handles a message, in a completion handler. Returns true if it keeps the Receive,
 *	for rpcrdma2_recv_put()
 * @closing: the state is CLOSING: no Call begins any more; does not sleep
 * @closed: the connection is closed: Calls in progress lose it; may sleep
 * @trim: the connection is idle: roles free their reserves; does not sleep
 * @memory: fills in the memory of the roles; sleeps
 * @trusted: server: returns true if this client has been served data that not every
 *	client may have; must not sleep
 * @completions: server: the device has reported completions. Returns true if a thread
 *	will call rpcrdma2_cq_poll(). Any context, also hard interrupts; no locks.
 *	NULL for a client: a work item polls
 * @lost: the connection went to CLOSING (CM event, QP error, device
 *	removal, protocol fault, rpcrdma2_conn_kill()), unless rpcrdma2_conn_close() was
 *	the reason. Called once, from any context that may not sleep; arranges for
 *	rpcrdma2_conn_close(), or does nothing if the owner has not taken over the
 *	connection yet, or closes it already
 * @wanted: client: returns true if a connection that is being made is still wanted.
 *	Called from time to time while rpcrdma2_conn_connect() waits
 *
 * Before READY only @recv, @lost and @wanted are called.
 */
struct rpcrdma2_conn_ops {
	bool (*recv)(struct rpcrdma2_conn *conn, struct rpcrdma2_recv *rx);
	void (*closing)(struct rpcrdma2_conn *conn);
	void (*closed)(struct rpcrdma2_conn *conn);
	void (*trim)(struct rpcrdma2_conn *conn);
	void (*memory)(struct rpcrdma2_conn *conn, struct rpcrdma2_memory *mem);
	bool (*trusted)(const struct rpcrdma2_conn *conn);
	bool (*completions)(struct rpcrdma2_conn *conn);
	void (*lost)(struct rpcrdma2_conn *conn);
	bool (*wanted)(const struct rpcrdma2_conn *conn);
};

/**
 * struct rpcrdma2_conn_params - parameters of a connection
 * @ops: the owner's functions
 * @owner: the owner's object
 * @requester: sends Calls and takes Replies, see rpcrdma2_conn_requester(); a server sets this
 *	later, or never
 * @responder: takes Calls and sends Replies
 * @stats: counters, usually of the transport, outlive the connection
 * @pool: Receives
 * @policy: settings of the administrator for this peer
 * @mem: client: negotiation memory of the transport
 * @send_size: largest message we will send, bytes
 * @calls: Calls that our requester wants outstanding
 * @serves: Calls of the peer that our responder serves at once
 * @serves_initial: number of them to grant at first
 * @call_wrs: send queue entries a Call of ours may need, the Send and
 *	local invalidation included
 * @reply_bytes: server: largest payload of a Reply
 * @rw_ctxs: size for rdma_rw: RDMA contexts in use at once (0 = no rdma_rw)
 * @identity: server: who it is, if it says that; used only until the first messages
 * @brs: Reverse Request Support to announce
 * @connect_ms: client: time limit for the answer to a connect request
 * @negotiate_ms: client: time limit for the answer to a first message
 * @swapper: client: not zero while the mount holds swap
 */
struct rpcrdma2_conn_params {
	const struct rpcrdma2_conn_ops	*ops;
	void				*owner;
	struct rpcrdma2_requester	*requester;
	struct rpcrdma2_responder	*responder;
	struct rpcrdma2_stats		*stats;
	struct rpcrdma2_recv_pool	*pool;
	struct rpcrdma2_policy		policy;
	struct rpcrdma2_ver_memory	*mem;
	u32				send_size;
	u32				calls;
	u32				serves;
	u32				serves_initial;
	u32				call_wrs;
	u32				reply_bytes;
	u32				rw_ctxs;
	const u8			*identity;
	u32				brs;
	u32				connect_ms;
	u32				negotiate_ms;
	const atomic_t			*swapper;
};

#endif /* _RPCRDMA2_CONN_OPS_H */
