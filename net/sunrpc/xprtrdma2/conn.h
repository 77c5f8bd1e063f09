/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One RPC-over-RDMA connection, the same object for client and server:
 * CM id, protection domain, CQ and QP, receive pool, send ring, the settled
 * version with its thresholds, and the credits of both directions.
 *
 * Layers: client.c and server.c own a connection; requester.c and
 * responder.c send and receive RPC messages through it; conn.c, recv.c,
 * send.c and control.c implement it. Data goes down by calls and comes up
 * through struct rpcrdma2_conn_ops.
 *
 * Contexts: all completions run in the CQ's work item (IB_POLL_WORKQUEUE),
 * one at a time per connection; they may sleep, but must not wait for
 * another completion of the same connection.
 */
#ifndef _RPCRDMA2_CONN_H
#define _RPCRDMA2_CONN_H

#include <linux/completion.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/llist.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include <rdma/ib_verbs.h>
#include <rdma/rdma_cm.h>

#include "change.h"
#include "credits.h"
#include "props.h"
#include "stats.h"
#include "version.h"
#include "wire.h"

struct rpcrdma2_conn;
struct rpcrdma2_view;

#define RPCRDMA2_CONTROL_RESERVE	8	/* Receives per side, D-18 */
#define RPCRDMA2_SIGNAL_EVERY		16	/* one Send in so many */
#define RPCRDMA2_LOOK_MS		250	/* is a connection still wanted? */
#define RPCRDMA2_PORT			20049

/**
 * enum rpcrdma2_conn_state - life of a connection
 * @RPCRDMA2_CONN_NEW: the object exists, the CM has not been asked
 * @RPCRDMA2_CONN_RESOLVING: client: address and route are being resolved
 * @RPCRDMA2_CONN_CONNECTING: QP and Receives exist, connect or accept sent
 * @RPCRDMA2_CONN_OPEN: established; the version is not settled
 * @RPCRDMA2_CONN_READY: the version is settled, RPCs flow
 * @RPCRDMA2_CONN_CLOSING: nothing new is posted; the owner must call
 *	rpcrdma2_conn_close()
 * @RPCRDMA2_CONN_CLOSED: the QP is drained and gone: no peer can touch
 *	memory any more
 */
enum rpcrdma2_conn_state {
	RPCRDMA2_CONN_NEW = 0,
	RPCRDMA2_CONN_RESOLVING,
	RPCRDMA2_CONN_CONNECTING,
	RPCRDMA2_CONN_OPEN,
	RPCRDMA2_CONN_READY,
	RPCRDMA2_CONN_CLOSING,
	RPCRDMA2_CONN_CLOSED,
};

/**
 * struct rpcrdma2_recv - one Receive
 * @cqe: completion
 * @wr: the posted work request
 * @sge: its buffer, mapped while it is posted or in use
 * @conn: connection it is mapped for
 * @node: link in the pool's free list
 * @list: link in the connection's list of posted ones
 * @buf: the memory
 * @size: bytes at @buf
 * @len: bytes received
 * @cid: names it in traces
 * @inv_handle: handle that the device invalidated, if @invalidated
 * @invalidated: the completion carried an invalidated handle
 * @hdr: decoded header, points into @buf
 */
struct rpcrdma2_recv {
	struct ib_cqe			cqe;
	struct ib_recv_wr		wr;
	struct ib_sge			sge;
	struct rpcrdma2_conn		*conn;
	struct llist_node		node;
	struct list_head		list;
	void				*buf;
	u32				size;
	u32				len;
	u32				cid;
	u32				inv_handle;
	bool				invalidated;
	struct rpcrdma2_hdr		hdr;
};

/**
 * struct rpcrdma2_recv_pool - Receives, kept over reconnects
 * @free: those not posted and not in use
 * @lock: serialises removal from @free
 * @first_size: bytes of each buffer when a connection begins
 * @size: bytes of new buffers, and the least that is of use
 * @most: bytes of the largest worth keeping
 * @keep: how many are, besides those in use by Calls
 * @count: buffers in existence
 * @bytes: memory of these buffers
 * @node: NUMA node for new ones
 */
struct rpcrdma2_recv_pool {
	struct llist_head		free;
	spinlock_t			lock;	/* takers of @free */
	u32				first_size;
	u32				size;
	u32				most;
	u32				keep;
	atomic_t			count;
	atomic_long_t			bytes;
	int				node;
};

void rpcrdma2_recv_pool_init(struct rpcrdma2_recv_pool *pool, u32 size);
void rpcrdma2_recv_pool_destroy(struct rpcrdma2_recv_pool *pool);

struct rpcrdma2_send;

/**
 * struct rpcrdma2_sq_waiter - somebody who uses the send queue
 * @list: link in the connection's FIFO, or in its list of posted chains
 * @nwrs: send queue entries needed or taken, the Send included
 * @cid: names what was posted in traces
 * @slot: a send slot is needed too
 * @ready: called once for a wait, from a completion or from
 *	rpcrdma2_conn_close(), with the resources (@status 0; @send only if
 *	@slot) or with -ENOTCONN and nothing. Called with -ENOTCONN, too, for
 *	a chain that was posted and never completed. Must not sleep for long;
 *	may post
 */
struct rpcrdma2_sq_waiter {
	struct list_head		list;
	u32				nwrs;
	u32				cid;
	bool				slot;
	void (*ready)(struct rpcrdma2_sq_waiter *w,
		      struct rpcrdma2_send *send, int status);
};

/**
 * struct rpcrdma2_send - a send slot: one Send with its own mapped buffer
 * @cqe: completion
 * @wr: the Send; chain earlier work requests in front of it
 * @sge: describes @buf
 * @conn: its connection
 * @list: free list, or the list of posted slots in posting order
 * @buf: mapped memory for header and pulled-up data; @size bytes
 * @size: bytes at @buf; the largest message this side sends
 * @nwrs: send queue entries it holds
 * @cid: names it in traces
 * @posted: it is on the list of posted slots
 * @on_wire: set before it is posted, unless NULL
 * @done: called from the completion (also when flushed, @status < 0).
 *	A slot with @done is always signaled; without, one in
 *	RPCRDMA2_SIGNAL_EVERY is
 * @priv: for @done
 */
struct rpcrdma2_send {
	struct ib_cqe			cqe;
	struct ib_send_wr		wr;
	struct ib_sge			sge;
	struct rpcrdma2_conn		*conn;
	struct list_head		list;
	void				*buf;
	u32				size;
	u32				nwrs;
	u32				cid;
	bool				posted;
	bool				*on_wire;
	void (*done)(struct rpcrdma2_send *send, int status);
	void				*priv;
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

/**
 * struct rpcrdma2_memory - what the owner of a connection keeps for it
 * @mrs: memory regions, bytes
 * @rpcs: state of RPCs, with the buffers that stay with it, bytes
 */
struct rpcrdma2_memory {
	size_t				mrs;
	size_t				rpcs;
};

/**
 * struct rpcrdma2_conn_ops - what comes up from a connection to its owner
 * @recv_call: a well-formed MSG or NOMSG with RESPONSE clear. Returns true
 *	if the owner keeps @rx and will call rpcrdma2_recv_put()
 * @recv_reply: a well-formed MSG or NOMSG with RESPONSE set; @rx is only
 *	good during the call
 * @recv_error: an RDMA2_ERROR that is not about a control message; as
 *	@recv_reply. hdr.err and hdr.err_arg are valid
 * @window: the window may have been opened by a control message
 * @replies_due: bytes of the longest Reply that may come inline for a Call
 *	of ours without a Reply chunk; U32_MAX if that can't be told now
 * @trusted: server: has this client been served anything that not everybody
 *	may have? May not sleep
 * @lost: the connection went to CLOSING (CM event, QP error, device
 *	removal, protocol fault, rpcrdma2_conn_kill()). Called once, from any
 *	context that may not sleep; arranges for rpcrdma2_conn_close()
 *
 * @memory: fills in what the owner keeps; sleeps
 * @wanted: client: does anybody still want a connection that is being made?
 *	Asked from time to time while rpcrdma2_conn_connect() waits
 *
 * Before READY the owner gets nothing but @lost and @wanted.
 */
struct rpcrdma2_conn_ops {
	bool (*recv_call)(struct rpcrdma2_conn *conn,
			  struct rpcrdma2_recv *rx);
	void (*recv_reply)(struct rpcrdma2_conn *conn,
			   struct rpcrdma2_recv *rx);
	void (*recv_error)(struct rpcrdma2_conn *conn,
			   struct rpcrdma2_recv *rx);
	void (*window)(struct rpcrdma2_conn *conn);
	u32 (*replies_due)(struct rpcrdma2_conn *conn);
	bool (*trusted)(const struct rpcrdma2_conn *conn);
	void (*lost)(struct rpcrdma2_conn *conn);
	void (*memory)(struct rpcrdma2_conn *conn, struct rpcrdma2_memory *mem);
	bool (*wanted)(const struct rpcrdma2_conn *conn);
};

/**
 * struct rpcrdma2_conn_params - what the owner wants of a connection
 * @ops: the owner's functions
 * @owner: the owner's object
 * @stats: counters, usually of the transport, outlive the connection
 * @pool: Receives
 * @policy: versions allowed
 * @mem: client: negotiation memory of the transport
 * @recv_size: Receive Buffer Size to announce, bytes, at least 4096
 * @send_size: largest message we will send, bytes
 * @calls: Calls we want outstanding in our requester role
 * @serves: Calls of the peer we are ready to serve at once
 * @serves_initial: how many of them to grant at first
 * @call_wrs: send queue entries a Call of ours may need, the Send and
 *	local invalidation included
 * @reply_wrs: entries a Reply of ours may need, RDMA Writes included
 * @rw_ctxs: size for rdma_rw: RDMA contexts in use at once (0 = no rdma_rw)
 * @brs: Reverse Request Support to announce
 * @negotiate_ms: client: time limit for the answer to a first message
 * @swapper: client: not zero while the mount holds swap
 */
struct rpcrdma2_conn_params {
	const struct rpcrdma2_conn_ops	*ops;
	void				*owner;
	struct rpcrdma2_stats		*stats;
	struct rpcrdma2_recv_pool	*pool;
	const struct rpcrdma2_ver_policy *policy;
	struct rpcrdma2_ver_memory	*mem;
	u32				recv_size;
	u32				send_size;
	u32				calls;
	u32				serves;
	u32				serves_initial;
	u32				call_wrs;
	u32				reply_wrs;
	u32				rw_ctxs;
	u32				brs;
	u32				negotiate_ms;
	const atomic_t			*swapper;
};

/**
 * struct rpcrdma2_device_caps - what a device can do for us
 * @max_send_sge: SGEs per Send and RDMA Write, at most 32
 * @max_read_sge: SGEs per RDMA Read
 * @mr_type: type for ib_alloc_mr()
 * @mr_depth: pages one MR can hold
 * @remote_inval: Send With Invalidate works both ways
 * @max_qp_wr: deepest send or receive queue
 * @max_cqe: deepest completion queue
 * @copies_signaled: needs the memory of an unsignaled Send of a page or more
 *	longer than until a later one completes (siw)
 */
struct rpcrdma2_device_caps {
	u32				max_send_sge;
	u32				max_read_sge;
	enum ib_mr_type			mr_type;
	u32				mr_depth;
	bool				remote_inval;
	u32				max_qp_wr;
	u32				max_cqe;
	bool				copies_signaled;
};

/* -ENODEV (and a logged reason) if the device lacks fast registration. */
int rpcrdma2_device_query(struct ib_device *device,
			  struct rpcrdma2_device_caps *caps);

/**
 * struct rpcrdma2_adapt - what the policy knows of a connection
 * @missed: Calls that had to use a chunk since @since and would not with a
 *	larger Receive Buffer Size of the server
 * @since: jiffies
 * @size: the largest of them, bytes
 * @grow_at: jiffies when more may be asked for because of that
 * @grow_delay: distance to the time after that
 * @period_end: end of the period in which Calls are counted
 * @calls: their number when it began
 * @counted: there was a period before
 * @idle: periods in a row with hardly any
 */
struct rpcrdma2_adapt {
	atomic_t			missed;
	unsigned long			since;
	u32				size;
	unsigned long			grow_at;
	unsigned long			grow_delay;
	unsigned long			period_end;
	unsigned long			calls;
	bool				counted;
	u32				idle;
};

/**
 * struct rpcrdma2_conn - a connection
 * @kref: one for the owner, one for the CM id while it can deliver events
 * @id: for logs and traces, unique since load
 * @client: we connected (false: we accepted)
 * @p: parameters, copied
 * @caps: of the device
 * @cm_id: CM id; its device is @cm_id->device once resolved
 * @pd: protection domain, of this connection alone (SEC-4)
 * @cq: one CQ for both queues
 * @cq_id: its number; stays when it is gone
 * @qp: queue pair
 * @state_lock: protects @state
 * @state: see enum rpcrdma2_conn_state; changed by one function only
 * @state_wq: woken by every change of @state and of negotiation
 * @reason: errno of the first failure, 0 if none
 * @codec: settled codec; valid from READY on
 * @why: why that version
 * @cm_step: last event of resolving, -1 before the first
 * @told: the owner knows that the connection is lost, or is not to hear of it
 * @neg: client: negotiation; protected by @state_lock
 * @neg_action: client: what came of it, for the connect path
 * @neg_proved: client: a good message came after the version was settled
 * @srv_ver: server: the version; CQ work item only
 * @cm_peer: the peer's private data
 * @mine: properties we announce; from READY on changed under @props_lock
 * @peer: properties of the peer (defaults until its CONNPROP); likewise
 * @peer_props_seen: its CONNPROP has come
 * @props_lock: protects @change and all changes of properties, and keeps
 *	the messages about them in order
 * @change: property changes under way
 * @extended: both sides have announced that they change properties
 * @told_recv: Receive Buffer Size that the peer has been told last
 * @want_recv: Receive Buffer Size we would like to have, bytes
 * @want_send: largest message we would like to send, bytes
 * @plan_recv: Calls are planned for Replies of so many bytes, because the
 *	peer has asked for a smaller Receive Buffer Size
 * @own_cycles: empty requests that may still be sent to use up Receives
 * @go_round: the peer's Receives may be used up for a raise
 * @retries: how often a lower value may still be asked for
 * @retry_at: jiffies when it may
 * @retry_delay: jiffies from a refusal to that
 * @adapt: policy
 * @props_work: does what is to be done about property changes
 * @tx_lock: protects the fields up to @tx_draining
 * @tx_users: messages being built, under the limits before and after the
 *	last time that these were lowered
 * @tx_epoch: which of the two counts new ones
 * @tx_draining: those of the other are waited for, with the limit for a
 *	REQPROP in force already
 * @held_send: largest message before that limit, or 0: Replies that need
 *	it wait
 * @tx_held: struct rpcrdma2_tx_held; protected by @tx_lock
 * @tx_held_since: jiffies when the first of them came
 * @control_xid: last XID of a control message of ours
 * @inline_send: largest message we may send now, bytes (INL-3)
 * @reply_send: largest Reply that an earlier Call may count on, bytes; if it
 *	is more than @inline_send a send slot is made larger for it
 * @reply_most: the same without the peer's limit
 * @inline_recv: largest message the peer may send now, bytes
 * @remote_inval: a Reply may invalidate a handle of ours, and the other way
 * @credit_lock: protects @window and @grant
 * @window: our requester role
 * @grant: our responder role
 * @sq_lock: protects the fields up to @sq_waiters and orders posting
 * @sq_closed: nothing may be posted any more
 * @sq_depth: send queue entries in all
 * @sq_avail: free ones
 * @sq_most: the most that one chain may take
 * @sq_unsignaled: Sends posted since the last signaled one
 * @sq_free: free send slots for RPC messages
 * @sq_bare: those that have no buffer
 * @sq_buffers: how many have one, free or not
 * @sq_free_control: free send slots for control messages (D-18)
 * @sq_posted: posted slots of both kinds in order
 * @sq_chains: struct rpcrdma2_sq_waiter of posted chains without a Send
 * @sq_waiters: FIFO of struct rpcrdma2_sq_waiter
 * @slots: slots for RPC messages, an array of @nslots; they exist from
 *	READY on, when the size of the largest message is known
 * @nslots: how many
 * @slot_size: bytes that each can hold which has a buffer, 0 before they exist
 * @slot_asked: bytes that each was to hold, last
 * @slot_want: the same, or less if there was no memory
 * @slot_shrink_at: jiffies from when on larger ones are not kept
 * @slot_changing: some may have a buffer of another size
 * @control_slots: RPCRDMA2_CONTROL_RESERVE slots, exist with the QP
 * @recv_lock: protects the fields up to @recv_list and orders posting
 * @recv_closed: nothing may be posted any more
 * @recv_max: Receives the QP can hold
 * @recv_target: Receives to keep posted
 * @recv_posted: Receives posted now
 * @recv_list: these Receives, in the order of posting
 * @recv_size: bytes of the smallest that may be posted: what is announced
 * @recv_short: fewer than @recv_target are posted, for want of memory
 * @refill_work: posts what is missing then
 * @cids: last number given to a Receive, Send, chain or MR, for traces
 * @may_read: the peer takes RDMA Reads
 * @probe_cqe: completion of the credit-free probe
 * @probe_lkey: its key; a copy, because who probes may have no more than a
 *	reference to the object
 * @probing: a probe is posted
 * @heard: there was a sign of life since the watch looked last
 * @silent: turns of the watch that a probe was not answered
 * @watch_work: the watch, see alive.c
 * @view: its files in debugfs, see observe.c
 * @kill_work: gives up the connection from interrupt context
 *
 * Lock order: state_lock, credit_lock, sq_lock, recv_lock and tx_lock are
 * leaves and are never held together; props_lock, a mutex, is outside of
 * them and of xprt->queue_lock. None is taken in interrupt context.
 *
 * What is also read without its lock is written by WRITE_ONCE(), and its readers
 * need nothing but the value. What READY publishes is read by whoever has seen
 * the state, see rpcrdma2_conn_state().
 */
struct rpcrdma2_conn {
	struct kref			kref;
	u32				id;
	bool				client;
	struct rpcrdma2_conn_params	p;
	struct rpcrdma2_device_caps	caps;

	struct rdma_cm_id		*cm_id;
	struct ib_pd			*pd;
	struct ib_cq			*cq;
	u32				cq_id;
	struct ib_qp			*qp;

	spinlock_t			state_lock;	/* @state, negotiation */
	enum rpcrdma2_conn_state	state;
	wait_queue_head_t		state_wq;
	int				reason;

	const struct rpcrdma2_codec	*codec;
	enum rpcrdma2_why		why;
	int				cm_step;	/* last CM event passed, or -1 */
	bool				told;		/* ops->lost() called */
	struct rpcrdma2_neg		neg;		/* client */
	enum rpcrdma2_neg_action	neg_action;	/* client, for the waiter */
	bool				neg_proved;	/* client, CQ work only */
	struct rpcrdma2_srv_ver		srv_ver;	/* server */
	struct rpcrdma_cm_private	cm_peer;
	struct rpcrdma2_propset		mine;
	struct rpcrdma2_propset		peer;
	bool				peer_props_seen;
	struct mutex			props_lock;	/* @change ... @adapt */
	struct rpcrdma2_change		change;
	bool				extended;
	u32				told_recv;
	u32				want_recv;
	u32				want_send;
	u32				plan_recv;
	u32				own_cycles;
	bool				go_round;
	u32				retries;
	unsigned long			retry_at;
	unsigned long			retry_delay;
	struct rpcrdma2_adapt		adapt;
	struct delayed_work		props_work;
	spinlock_t			tx_lock;	/* @tx_* */
	u32				tx_users[2];
	u32				tx_epoch;
	bool				tx_draining;
	u32				held_send;
	struct list_head		tx_held;
	unsigned long			tx_held_since;
	atomic_t			control_xid;
	u32				inline_send;
	u32				reply_send;
	u32				reply_most;
	u32				inline_recv;
	bool				remote_inval;

	spinlock_t			credit_lock;	/* @window, @grant */
	struct rpcrdma2_window		window;
	struct rpcrdma2_grant		grant;

	spinlock_t			sq_lock;	/* send queue */
	bool				sq_closed;
	u32				sq_depth;
	u32				sq_avail;
	u32				sq_most;
	u32				sq_unsignaled;
	struct list_head		sq_free;
	struct list_head		sq_bare;
	u32				sq_buffers;
	struct list_head		sq_free_control;
	struct list_head		sq_posted;
	struct list_head		sq_chains;
	struct list_head		sq_waiters;
	struct rpcrdma2_send		*slots;
	u32				nslots;
	u32				slot_size;
	u32				slot_asked;
	u32				slot_want;
	unsigned long			slot_shrink_at;
	bool				slot_changing;
	struct rpcrdma2_send		*control_slots;

	spinlock_t			recv_lock;	/* receive queue */
	bool				recv_closed;
	u32				recv_max;
	u32				recv_target;
	u32				recv_posted;
	struct list_head		recv_list;
	u32				recv_size;
	bool				recv_short;
	struct delayed_work		refill_work;

	atomic_t			cids;
	bool				may_read;
	struct ib_cqe			probe_cqe;
	u32				probe_lkey;
	atomic_t			probing;
	bool				heard;
	u32				silent;
	struct delayed_work		watch_work;
	struct work_struct		kill_work;

	struct rpcrdma2_view		*view;
};

/* conn.c */
/* Client: resolve, connect and settle the version, all inside one call
 * (fallback reconnects included). Sleeps, bounded by time limits. Returns a
 * connection in state READY, or an ERR_PTR that sunrpc retries.
 */
struct rpcrdma2_conn *
rpcrdma2_conn_connect(struct net *net, const struct sockaddr *src,
		      const struct sockaddr *dst,
		      const struct rpcrdma2_conn_params *p);
struct rpcrdma2_conn *
rpcrdma2_conn_incoming(struct rdma_cm_id *cm_id,
		       const struct rpcrdma2_conn_params *p);
int rpcrdma2_conn_accept(struct rpcrdma2_conn *conn,
			 const struct rdma_conn_param *req);
/* Give up the connection: state CLOSING. @err is the reason. Any context
 * that is not hard or soft interrupt; does not wait. The owner hears of it
 * by ops->lost() and calls rpcrdma2_conn_close(), which disconnects.
 */
void rpcrdma2_conn_kill(struct rpcrdma2_conn *conn, int err);
/* Disconnect, drain, run every outstanding completion (flushed), call every
 * waiter. Afterwards the state is CLOSED: no memory is reachable by the
 * peer. Owner only, once; sleeps. cm_id, pd and device stay usable for DMA
 * unmapping and ib_dereg_mr() until rpcrdma2_conn_free().
 */
void rpcrdma2_conn_close(struct rpcrdma2_conn *conn);
/* After rpcrdma2_conn_close() and after the owner freed its MRs: frees PD
 * and CM id and drops the owner's reference. Owner only; sleeps.
 */
void rpcrdma2_conn_free(struct rpcrdma2_conn *conn);

struct rpcrdma2_conn *rpcrdma2_conn_get(struct rpcrdma2_conn *conn);
void rpcrdma2_conn_put(struct rpcrdma2_conn *conn);

/* The state, with all that was set up before it: the device with CONNECTING, the
 * peer's private data with OPEN, version, limits and send slots with READY, the
 * reason with CLOSING. Pairs with the release in conn_set_state().
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

/* Server: the connection is established, as its first message proves. */
void rpcrdma2_conn_opened(struct rpcrdma2_conn *conn);
/* What the settled version and the peer's properties mean for messages;
 * makes the RPC send slots and moves the state to READY. Sleeps. Called by
 * the client's connect path and by the server's first message.
 */
int rpcrdma2_conn_settle(struct rpcrdma2_conn *conn,
			 const struct rpcrdma2_codec *codec,
			 enum rpcrdma2_why why);
/* A grant arrived in a non-ERROR message with RESPONSE set: posts Receives
 * for the Replies first, then opens the window. Sleeps. Returns true if
 * Calls may go now.
 */
bool rpcrdma2_conn_granted(struct rpcrdma2_conn *conn, u32 credit);

/* A Call of ours is answered with INVAL_HTYPE. True: give up the connection. */
bool rpcrdma2_conn_refused(struct rpcrdma2_conn *conn);

/* Credit values for the headers of outgoing messages. */
u32 rpcrdma2_conn_credit_ask(struct rpcrdma2_conn *conn);
u32 rpcrdma2_conn_credit_grant(struct rpcrdma2_conn *conn);

void rpcrdma2_wc_failed(struct rpcrdma2_conn *conn, const char *what, u32 cid,
			const struct ib_wc *wc);

static inline bool rpcrdma2_conn_swapping(const struct rpcrdma2_conn *conn)
{
	return conn->p.swapper && atomic_read(conn->p.swapper);
}

/* A number for something that will be posted, to be found again in traces when
 * it completes. Any context.
 */
static inline u32 rpcrdma2_conn_cid(struct rpcrdma2_conn *conn)
{
	return atomic_inc_return(&conn->cids);
}

/* alive.c */
void rpcrdma2_watch_setup(struct rpcrdma2_conn *conn);
void rpcrdma2_watch_start(struct rpcrdma2_conn *conn);
void rpcrdma2_watch_stop(struct rpcrdma2_conn *conn);
/* Ask the peer's device for a sign of life. Does not wait. */
void rpcrdma2_conn_probe(struct rpcrdma2_conn *conn);

/* Something has completed that a dead peer would not bring for long. Any
 * context; a store only for the first one between two turns of the watch.
 */
static inline void rpcrdma2_conn_heard(struct rpcrdma2_conn *conn)
{
	if (!READ_ONCE(conn->heard))
		WRITE_ONCE(conn->heard, true);
}

/* buf.c */
void *rpcrdma2_buf_alloc(u32 size, int node);
void rpcrdma2_buf_free(void *buf, u32 size);
size_t rpcrdma2_buf_bytes(u32 size);
void rpcrdma2_buf_note_cq(const struct ib_cq *cq);
bool rpcrdma2_in_completion(void);
gfp_t rpcrdma2_gfp(void);

/* What was in force before rpcrdma2_reclaim_enter() */
struct rpcrdma2_reclaim {
	unsigned int			noio;
	unsigned int			noreclaim;
	bool				swapping;
};

struct rpcrdma2_reclaim rpcrdma2_reclaim_enter(bool swapping);
void rpcrdma2_reclaim_exit(struct rpcrdma2_reclaim was);

/* recv.c */
void rpcrdma2_recvs_setup(struct rpcrdma2_conn *conn);
u32 rpcrdma2_recvs_extra(void);
/* Make the Receives of a new QP and post the first ones. Sleeps. */
int rpcrdma2_recvs_create(struct rpcrdma2_conn *conn);
/* Changing the size of Receives: post others from now on; is there any
 * smaller one left; the peer is to be told that there is none.
 */
void rpcrdma2_recvs_resize(struct rpcrdma2_conn *conn, u32 size);
bool rpcrdma2_recvs_raised(struct rpcrdma2_conn *conn);
bool rpcrdma2_recvs_announce(struct rpcrdma2_conn *conn);
/* The QP and the CQ are gone: take back what never completed. */
void rpcrdma2_recvs_reclaim(struct rpcrdma2_conn *conn);
/* After the QP is drained and every Receive was given back: unmap. */
void rpcrdma2_recvs_unmap(struct rpcrdma2_conn *conn);
/* Give back a Receive taken over in recv_call; posts Receives as needed. */
void rpcrdma2_recv_put(struct rpcrdma2_recv *rx);
/* Nothing may be posted any more. */
void rpcrdma2_recvs_stop(struct rpcrdma2_conn *conn);
/* Change the number of Receives kept posted and post up to it now, as far as
 * memory goes. Returns how many are posted.
 */
u32 rpcrdma2_recv_target(struct rpcrdma2_conn *conn, u32 target);

/* send.c */
/* Slots for control messages; with the QP. */
int rpcrdma2_sends_create(struct rpcrdma2_conn *conn);
/* Slots for RPC messages; a size that memory can give, at least @min bytes
 * of the @size wanted. Returns the size or -ENOMEM.
 */
int rpcrdma2_sends_grow(struct rpcrdma2_conn *conn, u32 size, u32 min);
void rpcrdma2_sends_resize(struct rpcrdma2_conn *conn, u32 size);
unsigned long rpcrdma2_sends_adjust(struct rpcrdma2_conn *conn);
u32 rpcrdma2_sends_trim(struct rpcrdma2_conn *conn);
u32 rpcrdma2_sends_spare(const struct rpcrdma2_conn *conn);
/* Bytes held for messages. */
size_t rpcrdma2_sends_memory(const struct rpcrdma2_conn *conn);
/* Nothing may be posted any more. */
void rpcrdma2_sends_stop(struct rpcrdma2_conn *conn);
/* After the drain: tells waiters, ends what never completed. */
void rpcrdma2_sends_abort(struct rpcrdma2_conn *conn);
/* The QP and the CQ are gone: frees the slots. */
void rpcrdma2_sends_destroy(struct rpcrdma2_conn *conn);
/* Take @nwrs send queue entries and a send slot. Without @w: NULL if there
 * is no room. With @w: NULL means that @w is queued behind earlier waiters
 * (or @w->ready was already told -ENOTCONN: it is called exactly once in
 * either case). @control may dip into the reserve for control messages.
 * Does not sleep.
 */
struct rpcrdma2_send *rpcrdma2_send_get(struct rpcrdma2_conn *conn, u32 nwrs,
					struct rpcrdma2_sq_waiter *w,
					bool control);
/* A message needs @len bytes: a larger buffer if need be, until the slot is
 * free again. Sleeps. 0 or -ENOMEM
 */
int rpcrdma2_send_fit(struct rpcrdma2_send *send, u32 len);
/* Give back an unposted slot with its entries. */
void rpcrdma2_send_put(struct rpcrdma2_send *send);
/* Fill in the work request: @len bytes from send->buf; @inv_handle ≠ 0:
 * Send With Invalidate. Returns it, for chaining others in front.
 */
struct ib_send_wr *rpcrdma2_send_prepare(struct rpcrdma2_send *send, u32 len,
					 u32 inv_handle);
/* Post the chain from @first that ends in send->wr (@first NULL: the Send
 * alone). On error (-ENOTCONN) the connection is being killed, the slot is
 * given back without calling done, and nothing of the chain will complete.
 */
int rpcrdma2_send_post(struct rpcrdma2_send *send, struct ib_send_wr *first);

/* Entries for work requests without a Send (local invalidation, RDMA Read):
 * as rpcrdma2_send_get() without a slot; returns true when they are taken.
 * Whoever took them gives them back when the signaled last one completes:
 * rpcrdma2_sq_done() if they were posted with a waiter.
 */
bool rpcrdma2_sq_get(struct rpcrdma2_conn *conn, u32 nwrs,
		     struct rpcrdma2_sq_waiter *w);
void rpcrdma2_sq_put(struct rpcrdma2_conn *conn, u32 nwrs);
/* Post a chain whose entries were taken. Errors as rpcrdma2_send_post();
 * the entries remain with the caller. If the chain never completes @w is told
 * -ENOTCONN.
 */
int rpcrdma2_sq_post(struct rpcrdma2_conn *conn, struct rpcrdma2_sq_waiter *w,
		     struct ib_send_wr *first);
/* The chain posted with @w completed: gives back its entries. False: it was
 * over before, the completion is to be ignored.
 */
bool rpcrdma2_sq_done(struct rpcrdma2_conn *conn, struct rpcrdma2_sq_waiter *w,
		      const struct ib_wc *wc);

/* control.c */
/* A message has arrived in @rx. Returns true if @rx was taken over. */
bool rpcrdma2_receive(struct rpcrdma2_conn *conn, struct rpcrdma2_recv *rx);
/* Send our CONNPROP (D-10). -ENOTCONN, -EAGAIN (no room) */
int rpcrdma2_send_connprop(struct rpcrdma2_conn *conn, u32 xid,
			   bool response);
/* Send a NULL Call of version 2 as first message. Errors as above */
int rpcrdma2_send_null(struct rpcrdma2_conn *conn, u32 xid);
/* Answer a received message with an RDMA2_ERROR. Dropped and counted if
 * there is no room (SEC-14). Does not sleep.
 */
void rpcrdma2_send_error(struct rpcrdma2_conn *conn,
			 const struct rpcrdma2_hdr *about, u32 err,
			 u32 arg0, u32 arg1);
/* As rpcrdma2_send_error(), and give up the connection when it is out. */
void rpcrdma2_send_last_error(struct rpcrdma2_conn *conn,
			      const struct rpcrdma2_hdr *about, u32 err,
			      u32 arg0, u32 arg1);

/* conn_props.c */
extern bool rpcrdma2_property_change;

/* A new connection. */
void rpcrdma2_props_setup(struct rpcrdma2_conn *conn);
/* What to announce; before the first message. */
void rpcrdma2_props_begin(struct rpcrdma2_conn *conn);
/* Both CONNPROPs are known. */
void rpcrdma2_props_ready(struct rpcrdma2_conn *conn);
/* A message of one of the types of the extension has arrived. Returns false
 * if these types are unknown on this connection.
 */
bool rpcrdma2_props_receive(struct rpcrdma2_conn *conn,
			    struct rpcrdma2_recv *rx);
/* Is this RDMA2_ERROR about a request or an announcement of ours? */
bool rpcrdma2_props_error(struct rpcrdma2_conn *conn,
			  const struct rpcrdma2_hdr *hdr);
/* Something has happened that a change may have waited for. Any context. */
void rpcrdma2_props_kick(struct rpcrdma2_conn *conn);
/* Ask the peer for a value of its own; props_lock is held. */
int rpcrdma2_props_ask(struct rpcrdma2_conn *conn, enum rpcrdma2_prop prop,
		       u32 value);
/* Make it use up the Receives it has posted; props_lock is held. */
void rpcrdma2_props_go_round(struct rpcrdma2_conn *conn);
/* The connection ends: nothing of this runs any more. Sleeps. */
void rpcrdma2_props_stop(struct rpcrdma2_conn *conn);
/* An administrator's word, see Documentation/administration.md. Returns 0 or
 * a negative errno. Sleeps.
 */
int rpcrdma2_props_command(struct rpcrdma2_conn *conn, char *line);

/* adapt.c */
void rpcrdma2_adapt_setup(struct rpcrdma2_conn *conn);
/* A Call needs a chunk; a server that receives @size would have made it do
 * without.
 */
void rpcrdma2_adapt_missed(struct rpcrdma2_conn *conn, u32 size);
/* What does the policy want now? Returns jiffies until the next time or 0. */
unsigned long rpcrdma2_adapt_run(struct rpcrdma2_conn *conn);
/* The client has asked for something. */
void rpcrdma2_adapt_asked(struct rpcrdma2_conn *conn);
unsigned long rpcrdma2_adapt_period(void);
bool rpcrdma2_adapt_quiet(const struct rpcrdma2_conn *conn,
			  unsigned long *seen);

/* limits.c */
/* Building a message that may be longer than any limit that is wanted later:
 * between these the limits read from the connection hold. _begin() returns
 * what _end() needs. Do not sleep.
 */
u32 rpcrdma2_tx_begin(struct rpcrdma2_conn *conn);
void rpcrdma2_tx_end(struct rpcrdma2_conn *conn, u32 epoch);
void rpcrdma2_tx_hold(struct rpcrdma2_conn *conn,
		      struct rpcrdma2_tx_held *held);
unsigned long rpcrdma2_tx_unhold(struct rpcrdma2_conn *conn);
void rpcrdma2_tx_abort(struct rpcrdma2_conn *conn);
/* Before the peer is asked for less: is everything posted that was built
 * before the first call of this? It has been asked. props_lock is held.
 */
bool rpcrdma2_tx_drained(struct rpcrdma2_conn *conn);
void rpcrdma2_tx_resume(struct rpcrdma2_conn *conn);
/* Something has changed that limits depend on; props_lock is held. @soon: the
 * peer is about to be asked for less.
 */
void rpcrdma2_limits_apply(struct rpcrdma2_conn *conn, bool soon);
void rpcrdma2_conn_apply_props(struct rpcrdma2_conn *conn);

#endif /* _RPCRDMA2_CONN_H */
