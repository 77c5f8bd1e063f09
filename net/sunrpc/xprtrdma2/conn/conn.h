/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One RPC-over-RDMA connection, the same object for client and server: CM id,
 * protection domain, CQ and QP, and a part for each file that works on it. Only that
 * file looks into its part; others use the functions of its header.
 *
 *   send_queue.h   sendq      send queue
 *   recv_queue.h   recvq      receive queue
 *   credit.h       credit     credits of both directions
 *   prop_update.h  props      properties of both sides, and their changes
 *                  limits     lengths of messages
 *   negotiate.h    ver        version
 *   keepalive.h    keepalive  probes of the peer
 *   timer.h        timer      deadlines
 *
 * Contexts: completion handlers run in a work item or, on a server, in a service
 * thread, one at a time per connection, and do not sleep; see cq.c and cq.h.
 * Their deferred work runs later, one after the other, beside completions of the same
 * connection; see rpcrdma2_conn_defer().
 */
#ifndef _RPCRDMA2_CONN_H
#define _RPCRDMA2_CONN_H

#include <linux/llist.h>
#include <linux/mutex.h>
#include <linux/refcount.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include <rdma/ib_verbs.h>
#include <rdma/rdma_cm.h>

#include <uapi/linux/rpcrdma2_netlink.h>

#include "conn/keepalive.h"
#include "conn/prop_update.h"
#include "conn/cq.h"
#include "conn/conn_ops.h"
#include "conn/device.h"
#include "conn/negotiate.h"
#include "conn/credit.h"
#include "conn/recv_queue.h"
#include "conn/send_queue.h"
#include "conn/timer.h"
#include "proto/cm_private.h"

/* The last step of the setup, after those of enum rdma_cm_event_type */
#define RPCRDMA2_STEP_NEGOTIATED	256

/**
 * struct rpcrdma2_conn - a connection
 * @refs: references of the owner and of readers. CM events have none, since
 *	rdma_destroy_id() waits for them
 * @id: number for logs and traces, unique since load
 * @client: this side connected (false: it accepted)
 * @may_read: the peer takes RDMA Reads
 * @p: parameters, copied; constant but for the requester of a server
 * @caps: abilities of the device
 * @cm_id: CM id; its device is @cm_id->device once resolved
 * @step: last step of a client's setup, -1 before the first: an event of the CM, or
 *	RPCRDMA2_STEP_NEGOTIATED
 * @cm_mine: our private data for the CM
 * @cm_peer: that of the peer
 * @pd: protection domain, of this connection alone (SEC-4)
 * @lkey: its key for local buffers; a copy, since a prober may hold only a reference
 * @cq: one CQ for both queues
 * @cq_id: its number; remains when the CQ is gone
 * @qp: queue pair
 * @state_lock: protects @state, and negotiation in @ver
 * @state: see rpcrdma2_conn_state(); changed by one function only
 * @state_wq: woken by every change of @state and @step
 * @reason: errno of the first failure, 0 if none
 * @codec: of the version that negotiate.c has settled; NULL before
 * @why: reason for the version
 * @remote_inval: Replies may invalidate handles of the peer (RINV-20, RINV-21)
 * @heard: a sign of life since the last check of keepalive.c
 * @limits: limits of messages
 * @ver: version
 * @poll: context that polls @cq
 * @cids: last number given to a Receive, Send, chain or MR, for traces
 * @xids: last XID of a control message of ours
 * @deferred: struct rpcrdma2_deferred, last one first
 * @sendq: send queue
 * @recvq: receive queue
 * @credit: credits of both directions
 * @props: properties
 * @keepalive: keepalive
 * @shrink_calls: number of Calls at the last check of shrink.c
 * @shrink_asks: checks of shrink.c that may still send requests without need
 * @timer: jobs with deadlines
 * @deferred_mutex: held while those of @deferred run, first one first
 * @deferred_work: runs these, unless the context that polls does
 * @list_mutex: held while netlink looks at the connection, see conn_list.c
 * @listed: in the list of connections; changed under @list_mutex
 *
 * Lock order: state_lock (except for netlink's locks), credit.lock, sendq.lock, recvq.lock
 * and timer.lock are leaves and are never held together; props.lock is outside of them.
 * All are spin locks, and none is taken in interrupt context.
 *
 * Fields that are also read without their lock are written by WRITE_ONCE(), and readers
 * need only the value. For fields that READY publishes see rpcrdma2_conn_state().
 *
 * While a connection is READY, the fields in front of @poll hardly ever change, so all CPUs
 * hold their cache lines. @poll, @sendq, @recvq and @credit change with each message, and the
 * CPU that sends often is not the one that polls. So each of them begins a cache line.
 */
struct rpcrdma2_conn {
	refcount_t			refs;
	u32				id;
	bool				client;
	bool				may_read;
	struct rpcrdma2_conn_params	p;
	struct rpcrdma2_device_caps	caps;

	struct rdma_cm_id		*cm_id;
	int				step;
	struct rpcrdma_cm_private	cm_mine;
	struct rpcrdma_cm_private	cm_peer;
	struct ib_pd			*pd;
	u32				lkey;
	struct ib_cq			*cq;
	u32				cq_id;
	struct ib_qp			*qp;

	spinlock_t			state_lock;	/* see above */
	enum rpcrdma2_conn_state	state;
	wait_queue_head_t		state_wq;
	int				reason;
	const struct rpcrdma2_codec	*codec;
	enum rpcrdma2_why		why;
	bool				remote_inval;
	bool				heard;
	struct rpcrdma2_msg_size	limits;
	struct rpcrdma2_conn_ver	ver;

	struct rpcrdma2_poll		poll ____cacheline_aligned_in_smp;
	atomic_t			cids;
	atomic_t			xids;
	struct llist_head		deferred;
	struct rpcrdma2_sendq		sendq ____cacheline_aligned_in_smp;
	struct rpcrdma2_recvq		recvq ____cacheline_aligned_in_smp;
	struct rpcrdma2_credit		credit ____cacheline_aligned_in_smp;

	struct rpcrdma2_conn_props	props;
	struct rpcrdma2_keepalive	keepalive;
	unsigned long			shrink_calls;
	u32				shrink_asks;
	struct rpcrdma2_timer		timer;

	struct mutex			deferred_mutex;	/* see above */
	struct work_struct		deferred_work;
	struct mutex			list_mutex;	/* see above */
	bool				listed;
};

/* The state, see enum rpcrdma2_conn_state of the specification for netlink. It begins with
 * NEW. From CONNECTING on the QP and Receives exist. In CLOSING nothing new is posted, and the
 * owner must call rpcrdma2_conn_close(). In CLOSED the QP is drained and gone.
 *
 * It publishes the fields that were set before: the device with CONNECTING, the
 * peer's private data with OPEN, version, limits and send slots with READY, the reason with
 * CLOSING. Pairs with the release in rpcrdma2_conn_set_state().
 */
static inline enum rpcrdma2_conn_state
rpcrdma2_conn_state(const struct rpcrdma2_conn *conn)
{
	return smp_load_acquire(&conn->state);	/* see above */
}

static inline bool rpcrdma2_conn_ready(const struct rpcrdma2_conn *conn)
{
	return rpcrdma2_conn_state(conn) == RPCRDMA2_CONN_READY;
}

static inline bool rpcrdma2_conn_over(const struct rpcrdma2_conn *conn)
{
	return rpcrdma2_conn_state(conn) >= RPCRDMA2_CONN_CLOSING;
}

static inline bool rpcrdma2_conn_swapping(const struct rpcrdma2_conn *conn)
{
	return conn->p.swapper && atomic_read(conn->p.swapper);
}

static inline struct net *rpcrdma2_conn_net(const struct rpcrdma2_conn *conn)
{
	return conn->cm_id->route.addr.dev_addr.net;
}

/* Note a completion of the send queue that a dead peer would prevent, see keepalive.c.
 * Any context; only the first one after a check is a store.
 */
static inline void rpcrdma2_conn_activity(struct rpcrdma2_conn *conn)
{
	if (!READ_ONCE(conn->heard))
		WRITE_ONCE(conn->heard, true);
}

/* The device has reported completions that were not polled yet. */
static inline bool rpcrdma2_cq_pending(const struct rpcrdma2_conn *conn)
{
	return READ_ONCE(conn->poll.pending);
}

/* Get a number that identifies posted work in traces. Any context. */
static inline u32 rpcrdma2_conn_cid(struct rpcrdma2_conn *conn)
{
	return atomic_inc_return(&conn->cids);
}

/* Receives events of all connections, from module load on. Must not sleep: the caller holds
 * state_lock if the state has changed, props.lock if a property has.
 */
extern void (*rpcrdma2_conn_notify)(const struct rpcrdma2_conn *conn,
				    enum rpcrdma2_event event);

void rpcrdma2_conn_peer_gid(const struct rdma_cm_id *cm_id, union ib_gid *gid);
bool rpcrdma2_conn_may_log(const struct rpcrdma2_conn *conn);
void rpcrdma2_conn_get(struct rpcrdma2_conn *conn);
void rpcrdma2_conn_put(struct rpcrdma2_conn *conn);
bool rpcrdma2_conn_set_state(struct rpcrdma2_conn *conn,
			     enum rpcrdma2_conn_state to, int reason);
bool rpcrdma2_conn_quiet(const struct rpcrdma2_conn *conn, unsigned long *seen);
void rpcrdma2_conn_kill(struct rpcrdma2_conn *conn, int err);
void rpcrdma2_conn_step(struct rpcrdma2_conn *conn, int step);
int rpcrdma2_conn_wait(struct rpcrdma2_conn *conn, int step, u32 ms);
void rpcrdma2_conn_defer(struct rpcrdma2_conn *conn,
			 struct rpcrdma2_deferred *deferred);
void rpcrdma2_conn_run_deferred(struct rpcrdma2_conn *conn);
void rpcrdma2_conn_wc_failed(struct rpcrdma2_conn *conn, const char *what, u32 cid,
			     const struct ib_wc *wc);

/* Memory of an idle connection, see shrink.c */
void rpcrdma2_shrink_start(struct rpcrdma2_conn *conn);
void rpcrdma2_shrink_check(struct rpcrdma2_conn *conn);

#endif /* _RPCRDMA2_CONN_H */
