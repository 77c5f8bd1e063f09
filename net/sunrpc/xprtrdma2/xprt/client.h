/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The client's transport, struct rpc_xprt of a mount, and its side of the backchannel.
 */
#ifndef _RPCRDMA2_CLIENT_H
#define _RPCRDMA2_CLIENT_H

#include <linux/ratelimit.h>

#include "conn/paths.h"
#include "requester/requester.h"
#include "responder/responder.h"

/* Callbacks served at once. Their slots exist before the server learns of the
 * backchannel (REV-5).
 */
#define RPCRDMA2_CB_SLOTS		8U
#define RPCRDMA2_CB_FIRST		2U	/* granted at first */

/**
 * struct rpcrdma2_callback - the backchannel of a client's transport
 * @resp: its responder
 * @idle_timeout: xprt->idle_timeout for the time after the backchannel, 0 without
 *	a backchannel; transport_lock
 * @busy: slots in use by the callback service; bc_pa_lock. Free ones are in
 *	xprt->bc_pa_list
 * @wq: woken when @busy becomes empty
 */
struct rpcrdma2_callback {
	struct rpcrdma2_responder	resp;
	unsigned long			idle_timeout;
	struct list_head		busy;
	wait_queue_head_t		wq;
};

/**
 * struct rpcrdma2_client - a client's transport
 * @rq: requester role, begins with the struct rpc_xprt; must be first
 * @callback: responder role
 * @stats: counters
 * @recvs: Receives, kept over reconnects, but not without use
 * @mem: results of earlier version negotiation
 * @policy: settings of the last attempt to connect, with a reference to their paths; like
 *	@path, changed by the owner of XPRT_LOCKED under queue_lock
 * @path: that of the connection, or attempt to connect; NULL without one, or without paths
 * @joined: it was accepted; transport locked
 * @pause: jiffies to wait before the next attempt; transport locked
 * @used: address of this machine of the last connection, or zero; queue_lock
 * @paths_work: probes paths, and moves the connection; as long as there is one by a path
 * @counted: bytes that were counted for paths
 * @connect_work: makes a connection; owns XPRT_LOCKED
 * @connect_at: jiffies when @connect_work connects, unless the transport is unused then
 * @fail_work: ends RPCs of soft mounts after fail_after without a connection
 * @down_at: jiffies of the first attempt without a connection, for @fail_work; 0: it has
 *	nothing to do, as when there is a connection; queue_lock
 * @failing: @fail_work has ended RPCs since then; queue_lock
 * @srcaddr: local address to use, AF_UNSPEC for any
 * @timeout: xprt->timeout after rpc_xprt_ops.set_connect_timeout
 * @attached_at: jiffies when the last connection was made
 * @connect_ms: how long the next attempt waits for the server's answer; transport
 *	locked
 * @report_refusal: report a refused attempt to the RPC that asked for the connection;
 *	transport locked
 * @timed_out: connections in a row that were replaced because a Reply had not come,
 *	up to RPCRDMA2_TIMED_OUT_MAX; queue_lock
 * @timed_out_at: jiffies of the last time
 * @logged_version: version of the server in the log, or 0
 * @log_limit: rate limit of these lines
 */
struct rpcrdma2_client {
	struct rpcrdma2_requester	rq;
	struct rpcrdma2_callback	callback;
	struct rpcrdma2_stats		stats;
	struct rpcrdma2_recv_pool	recvs;
	struct rpcrdma2_ver_memory	mem;
	struct rpcrdma2_policy		policy;
	struct rpcrdma2_path		*path;
	bool				joined;
	unsigned long			pause;
	struct in6_addr			used;
	struct delayed_work		paths_work;
	atomic_long_t			counted;
	struct delayed_work		connect_work;
	unsigned long			connect_at;
	struct delayed_work		fail_work;
	unsigned long			down_at;
	bool				failing;
	struct sockaddr_storage		srcaddr;
	struct rpc_timeout		timeout;
	unsigned long			attached_at;
	unsigned int			connect_ms;
	bool				report_refusal;
	unsigned int			timed_out;
	unsigned long			timed_out_at;
	u32				logged_version;
	struct ratelimit_state		log_limit;
};

static inline struct rpcrdma2_client *rpcrdma2_client(struct rpc_xprt *xprt)
{
	return container_of(xprt, struct rpcrdma2_client, rq.xprt);
}

struct rpc_xprt *rpcrdma2_client_setup(struct xprt_class *class,
				       struct xprt_create *args);

/* Paths to the server: client_paths.c */
bool rpcrdma2_client_paths_next(struct rpcrdma2_client *client, u32 *tried,
				struct sockaddr_storage *src, struct sockaddr_storage *dst);
int rpcrdma2_client_paths_joined(struct rpcrdma2_client *client,
				 struct rpcrdma2_conn *conn);
void rpcrdma2_client_paths_left(struct rpcrdma2_client *client, int err);
void rpcrdma2_client_paths_worker(struct work_struct *work);

/* The backchannel: client_bc.c */
void rpcrdma2_client_bc_init(struct rpc_xprt *xprt);
void rpcrdma2_client_bc_destroy_slots(struct rpc_xprt *xprt);
int rpcrdma2_client_bc_reply(struct rpc_rqst *rqst);

/* Methods for struct rpc_xprt_ops */
int rpcrdma2_client_bc_setup(struct rpc_xprt *xprt, unsigned int min_reqs);
size_t rpcrdma2_client_bc_maxpayload(struct rpc_xprt *xprt);
unsigned int rpcrdma2_client_bc_num_slots(struct rpc_xprt *xprt);
void rpcrdma2_client_bc_free_rqst(struct rpc_rqst *rqst);
void rpcrdma2_client_bc_destroy(struct rpc_xprt *xprt, unsigned int max_reqs);

#endif /* _RPCRDMA2_CLIENT_H */
