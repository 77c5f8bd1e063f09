// SPDX-License-Identifier: GPL-2.0
/*
 * Life of one connection: made, connected or accepted, settled, closed.
 *
 * One function changes the state and knows which changes are allowed. Who
 * sees trouble calls rpcrdma2_conn_kill(), which only changes the state and
 * tells the owner; the owner alone tears down, in exact reverse order of
 * setting up. CM events come in the CM's work item, completions in the
 * CQ's; both hold no lock of ours when they call up.
 */
#include <linux/random.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/sunrpc/addr.h>
#include <rdma/ib_cm.h>

#include "conn.h"
#include "inject.h"
#include "module.h"
#include "observe.h"
#include <trace/events/rpcrdma2.h>

#define RPCRDMA2_RESOLVE_MS	5000
#define RPCRDMA2_CONNECT_MS	15000
#define RPCRDMA2_NUDGE_MS	500	/* is the silent peer still there? */

/* Credits forbid that a message finds no Receive. But rxe says so, too, when it
 * has no memory for the answer to an RDMA Read, and the peer may be short of it
 * for a moment. With the CM's timer of 0.66 s this is some four seconds; 7 would
 * be for ever.
 */
#define RPCRDMA2_RNR_RETRIES	6

/* Slots for RPC messages; more Calls than this may be outstanding, since a
 * slot is only held until its Send has completed.
 */
#define RPCRDMA2_MAX_CALL_SLOTS	64U

/* Attempts inside one connect: v2, v2 again after a loss, v2 with a Call after
 * silence, v1, and one more for an ERR_VERS followed by a loss.
 */
#define RPCRDMA2_ATTEMPTS	5

static atomic_t rpcrdma2_conn_ids;

static const u8 conn_next_states[] = {
	[RPCRDMA2_CONN_NEW]	   = BIT(RPCRDMA2_CONN_RESOLVING) |
				     BIT(RPCRDMA2_CONN_CONNECTING) |
				     BIT(RPCRDMA2_CONN_CLOSING),
	[RPCRDMA2_CONN_RESOLVING]  = BIT(RPCRDMA2_CONN_CONNECTING) |
				     BIT(RPCRDMA2_CONN_CLOSING),
	[RPCRDMA2_CONN_CONNECTING] = BIT(RPCRDMA2_CONN_OPEN) |
				     BIT(RPCRDMA2_CONN_CLOSING),
	[RPCRDMA2_CONN_OPEN]	   = BIT(RPCRDMA2_CONN_READY) |
				     BIT(RPCRDMA2_CONN_CLOSING),
	[RPCRDMA2_CONN_READY]	   = BIT(RPCRDMA2_CONN_CLOSING),
	[RPCRDMA2_CONN_CLOSING]	   = BIT(RPCRDMA2_CONN_CLOSED),
	[RPCRDMA2_CONN_CLOSED]	   = 0,
};

/* The only place where a state changes. A change that is not allowed is no
 * error: somebody else was faster, most often into CLOSING.
 */
static bool conn_set_state(struct rpcrdma2_conn *conn,
			   enum rpcrdma2_conn_state to, int reason)
{
	enum rpcrdma2_conn_state from;
	bool allowed;

	spin_lock(&conn->state_lock);
	from = conn->state;
	allowed = conn_next_states[from] & BIT(to);
	if (allowed) {
		if (!conn->reason)
			WRITE_ONCE(conn->reason, reason);
		/* Pairs with the acquire in rpcrdma2_conn_state() */
		smp_store_release(&conn->state, to);
	}
	spin_unlock(&conn->state_lock);
	if (!allowed)
		return false;
	trace_rpcrdma2_conn_state(conn, from, to, reason);
	wake_up_all(&conn->state_wq);
	return true;
}

/**
 * rpcrdma2_conn_kill - give up a connection
 * @conn: the connection
 * @err: reason, a negative errno
 *
 * Context: process; does not wait. May be called any number of times.
 */
void rpcrdma2_conn_kill(struct rpcrdma2_conn *conn, int err)
{
	if (!conn_set_state(conn, RPCRDMA2_CONN_CLOSING, err))
		return;
	if (!xchg(&conn->told, true))
		conn->p.ops->lost(conn);
}

static void conn_kill_worker(struct work_struct *work)
{
	struct rpcrdma2_conn *conn = container_of(work, struct rpcrdma2_conn,
						  kill_work);

	rpcrdma2_conn_kill(conn, -ENOTCONN);
}

static void conn_release(struct kref *kref)
{
	kfree(container_of(kref, struct rpcrdma2_conn, kref));
}

/**
 * rpcrdma2_conn_get - take a reference to the object (not its resources)
 * @conn: the connection
 *
 * Context: any.
 * Return: @conn
 */
struct rpcrdma2_conn *rpcrdma2_conn_get(struct rpcrdma2_conn *conn)
{
	kref_get(&conn->kref);
	return conn;
}

/**
 * rpcrdma2_conn_put - drop a reference
 * @conn: the connection
 *
 * Context: any.
 */
void rpcrdma2_conn_put(struct rpcrdma2_conn *conn)
{
	kref_put(&conn->kref, conn_release);
}

static struct rpcrdma2_conn *conn_alloc(const struct rpcrdma2_conn_params *p,
					bool client)
{
	struct rpcrdma2_conn *conn;

	conn = kzalloc_obj(*conn, rpcrdma2_gfp());
	if (!conn)
		return NULL;
	kref_init(&conn->kref);
	conn->id = atomic_inc_return(&rpcrdma2_conn_ids);
	conn->client = client;
	conn->p = *p;
	spin_lock_init(&conn->state_lock);
	init_waitqueue_head(&conn->state_wq);
	spin_lock_init(&conn->credit_lock);
	spin_lock_init(&conn->sq_lock);
	INIT_LIST_HEAD(&conn->sq_free);
	INIT_LIST_HEAD(&conn->sq_bare);
	INIT_LIST_HEAD(&conn->sq_free_control);
	INIT_LIST_HEAD(&conn->sq_posted);
	INIT_LIST_HEAD(&conn->sq_chains);
	INIT_LIST_HEAD(&conn->sq_waiters);
	rpcrdma2_recvs_setup(conn);
	INIT_WORK(&conn->kill_work, conn_kill_worker);
	atomic_set(&conn->control_xid, get_random_u32());
	rpcrdma2_window_reset(&conn->window, p->calls);
	/* A server is told more than one thing only after it has answered */
	rpcrdma2_grant_reset(&conn->grant, client ? p->serves_initial : 1,
			     p->serves);
	rpcrdma2_props_setup(conn);
	rpcrdma2_watch_setup(conn);
	rpcrdma_cm_decode(NULL, 0, &conn->cm_peer);
	conn->cm_step = -1;
	return conn;
}

/* Asynchronous errors of the QP come in interrupt context. */
static void conn_qp_event(struct ib_event *event, void *context)
{
	struct rpcrdma2_conn *conn = context;

	if (event->event == IB_EVENT_COMM_EST ||
	    event->event == IB_EVENT_QP_LAST_WQE_REACHED)
		return;
	queue_work(rpcrdma2_wq, &conn->kill_work);
}

/**
 * rpcrdma2_wc_failed - a work request has failed
 * @conn: the connection, about to be given up
 * @what: what it was
 * @cid: its number, 0 if it has none
 * @wc: its completion
 *
 * Those that are flushed because the connection ends are no failures.
 *
 * Context: CQ work item.
 */
void rpcrdma2_wc_failed(struct rpcrdma2_conn *conn, const char *what, u32 cid,
			const struct ib_wc *wc)
{
	trace_rpcrdma2_wc_error(conn, what, cid, wc);
	if (wc->status == IB_WC_WR_FLUSH_ERR)
		return;
	rpcrdma2_stat_inc(conn->p.stats, wc_errors);
	pr_notice_ratelimited("rpcrdma2: %pISpc: connection lost, %s: %s (%d)\n",
			      &conn->cm_id->route.addr.dst_addr, what,
			      ib_wc_status_msg(wc->status), wc->status);
}

/* Entries besides those of RPCs: control messages, a probe, the drain */
#define RPCRDMA2_OTHER_WRS	(RPCRDMA2_CONTROL_RESERVE + 2)

/* Pages that a Call may register for one chunk: the largest payload, what is
 * around it, and ragged ends
 */
#define RPCRDMA2_CHUNK_PAGES	((SZ_1M >> PAGE_SHIFT) + 5)

/* Entries of the longest chain in a send queue of @depth entries. A client may
 * register memory for a chunk in each direction, and invalidates it later; a
 * server posts in parts what is longer than this.
 */
static u32 conn_sq_most(const struct rpcrdma2_conn *conn, u32 depth)
{
	u32 segs = DIV_ROUND_UP(RPCRDMA2_CHUNK_PAGES, conn->caps.mr_depth);

	if (conn->client)
		return 1 + 2 * min(segs, RPCRDMA2_MAX_SEGS);
	return min(conn->p.reply_wrs, max(depth / 2, 4U));
}

/* Is there room for every message, if nothing else is under way? */
static bool conn_sq_suffices(const struct rpcrdma2_conn *conn, u32 depth)
{
	return depth >= conn_sq_most(conn, depth) + RPCRDMA2_OTHER_WRS;
}

/* Entries for everything that may be posted at once, or for as many Sends as
 * are retired at once and the longest chain, if that is more.
 */
static u32 conn_sq_depth(const struct rpcrdma2_conn *conn)
{
	const struct rpcrdma2_conn_params *p = &conn->p;
	u32 depth = p->calls * p->call_wrs + p->serves * p->reply_wrs;
	u32 least = max(p->call_wrs, p->reply_wrs) * RPCRDMA2_SIGNAL_EVERY +
		    conn_sq_most(conn, U32_MAX);

	return min(max(depth, least) + RPCRDMA2_OTHER_WRS,
		   conn->caps.max_qp_wr);
}

/* A device cannot do what every connection needs. */
static int conn_too_small(const struct rpcrdma2_conn *conn, const char *what,
			  u32 have)
{
	pr_notice_ratelimited("rpcrdma2: %s has %s of only %u entries, too few\n",
			      dev_name(&conn->cm_id->device->dev), what, have);
	return -EPROTO;
}

/* Sizes of the queues. Receives are posted one batch ahead, and for control
 * messages: what remains is for credits.
 */
static int conn_plan_queues(struct rpcrdma2_conn *conn)
{
	const struct rpcrdma2_conn_params *p = &conn->p;
	u32 extra, most = conn->caps.max_qp_wr;

	conn->sq_depth = conn_sq_depth(conn);
	if (!conn_sq_suffices(conn, conn->sq_depth))
		return conn_too_small(conn, "send queues", most);
	conn->recv_max = min(p->calls + p->serves + 64, most - 1);
	extra = rpcrdma2_recvs_extra() + 1;
	if (conn->recv_max <= extra)
		return conn_too_small(conn, "receive queues", most);
	if (conn->grant.current_grant > conn->recv_max - extra)
		rpcrdma2_grant_set(&conn->grant, conn->recv_max - extra);
	conn->nslots = min(p->calls, RPCRDMA2_MAX_CALL_SLOTS) +
		       min(p->serves, RPCRDMA2_MAX_CALL_SLOTS);
	return 0;
}

/* A QP with the send queue that was planned. A client sends from one buffer;
 * every further SGE makes all entries of the queue larger.
 */
static int conn_try_qp(struct rpcrdma2_conn *conn)
{
	struct ib_qp_init_attr attr = {
		.event_handler	= conn_qp_event,
		.qp_context	= conn,
		.send_cq	= conn->cq,
		.recv_cq	= conn->cq,
		.sq_sig_type	= IB_SIGNAL_REQ_WR,
		.qp_type	= IB_QPT_RC,
		.port_num	= conn->cm_id->port_num,
		.cap = {
			.max_send_wr	 = conn->sq_depth,
			.max_recv_wr	 = conn->recv_max + 1,
			.max_send_sge	 = conn->client ? 1 :
					   conn->caps.max_send_sge,
			.max_recv_sge	 = 1,
			.max_rdma_ctxs	 = conn->p.rw_ctxs,
		},
	};
	int ret;

	ret = rdma_create_qp(conn->cm_id, conn->pd, &attr);
	if (ret)
		return ret;
	conn->qp = conn->cm_id->qp;
	/* What was granted; rdma_rw added to max_send_wr what it needs. No
	 * more than was asked for: that is what the CQ has room for. One entry
	 * is for the drain, one for a probe.
	 */
	conn->caps.max_send_sge = min(conn->caps.max_send_sge,
				      attr.cap.max_send_sge);
	conn->sq_depth = min(attr.cap.max_send_wr, conn->sq_depth) - 2;
	conn->sq_avail = conn->sq_depth;
	conn->sq_most = conn_sq_most(conn, conn->sq_depth);
	return 0;
}

/* What a device holds depends on the size of an entry, which only it knows:
 * max_qp_wr is for small ones. With a shorter queue messages wait more often.
 */
static int conn_create_qp(struct rpcrdma2_conn *conn)
{
	int ret;

	for (;;) {
		ret = conn_try_qp(conn);
		if ((ret != -ENOMEM && ret != -EINVAL) ||
		    !conn_sq_suffices(conn, conn->sq_depth / 2))
			return ret;
		conn->sq_depth /= 2;
	}
}

/* A device that says no, and not for want of memory or because it goes away,
 * will not say anything else the next time.
 */
static int conn_refused(const struct rpcrdma2_conn *conn, const char *what,
			int err)
{
	if ((err != -EINVAL && err != -EOPNOTSUPP) ||
	    rpcrdma2_conn_state(conn) >= RPCRDMA2_CONN_CLOSING)
		return err;
	pr_notice_ratelimited("rpcrdma2: %s refuses a %s (%d)\n",
			      dev_name(&conn->cm_id->device->dev), what, err);
	return -EPROTO;
}

/* PD, CQ, QP, control slots and first Receives, in this order. Whatever
 * exists after an error is undone by rpcrdma2_conn_close() and _free().
 */
static int conn_setup(struct rpcrdma2_conn *conn)
{
	struct ib_device *device = conn->cm_id->device;
	const struct rpcrdma2_conn_params *p = &conn->p;
	u32 cqes;
	int ret;

	ret = rpcrdma2_device_query(device, &conn->caps);
	if (ret)
		return ret;
	ret = conn_plan_queues(conn);
	if (ret)
		return ret;
	/* rdma_rw may triple its contexts; both drains take one more each */
	cqes = conn->sq_depth + 3 * p->rw_ctxs + conn->recv_max + 3;
	if (cqes > conn->caps.max_cqe)
		return conn_too_small(conn, "completion queues",
				      conn->caps.max_cqe);

	conn->pd = ib_alloc_pd(device, 0);
	if (IS_ERR(conn->pd)) {
		ret = PTR_ERR(conn->pd);
		conn->pd = NULL;
		return conn_refused(conn, "protection domain", ret);
	}
	conn->probe_lkey = conn->pd->local_dma_lkey;
	conn->cq = ib_alloc_cq_any(device, conn, cqes, IB_POLL_WORKQUEUE);
	if (IS_ERR(conn->cq)) {
		ret = PTR_ERR(conn->cq);
		conn->cq = NULL;
		return conn_refused(conn, "completion queue", ret);
	}
	conn->cq_id = conn->cq->res.id;
	rpcrdma2_buf_note_cq(conn->cq);
	ret = conn_create_qp(conn);
	if (ret)
		return conn_refused(conn, "queue pair", ret);
	ret = rpcrdma2_sends_create(conn);
	if (ret)
		return ret;
	ret = rpcrdma2_recvs_create(conn);
	if (ret)
		return ret;

	rpcrdma2_props_begin(conn);
	return 0;
}

/* The private data of version 1, also with version 2 (CM-14). */
static void conn_cm_private(struct rpcrdma2_conn *conn, u8 *buf)
{
	struct rpcrdma_cm_private cm = {
		.remote_inval	= conn->caps.remote_inval,
		.send_size	= conn->p.send_size,
		.recv_size	= conn->p.pool->size,
	};

	rpcrdma_cm_encode(&cm, buf);
}

/* Thresholds and invalidation by the rules of the settled version: INL-8,
 * RINV-20, RINV-21.
 */
static void conn_apply_limits(struct rpcrdma2_conn *conn)
{
	const struct rpcrdma_cm_private *cm = &conn->cm_peer;

	conn->remote_inval = conn->caps.remote_inval;
	if (conn->codec->props) {
		rpcrdma2_conn_apply_props(conn);
		return;
	}
	conn->inline_send = min(conn->p.send_size, cm->recv_size);
	conn->inline_recv = min(conn->mine.val[RPCRDMA2_RBSIZ],
				cm->send_size);
	conn->remote_inval &= cm->remote_inval;
}

/**
 * rpcrdma2_conn_opened - a message proves that the connection stands
 * @conn: server's connection; no change if its state is past CONNECTING
 *
 * Context: process; does not sleep.
 */
void rpcrdma2_conn_opened(struct rpcrdma2_conn *conn)
{
	conn_set_state(conn, RPCRDMA2_CONN_OPEN, 0);
}

/* One counter for each reason (stats_list.h) */
static void conn_count_why(const struct rpcrdma2_conn *conn,
			   enum rpcrdma2_why why)
{
	BUILD_BUG_ON(RPCRDMA2_STAT_why_reply -
		     RPCRDMA2_STAT_why_connprop != RPCRDMA2_NR_WHY - 2);
	if (why != RPCRDMA2_WHY_NONE)
		atomic_long_inc(&conn->p.stats->v[RPCRDMA2_STAT_why_connprop +
						  why - 1]);
}

/* Server: the first grant that the client is told of, if there is memory. */
static void conn_first_grant(struct rpcrdma2_conn *conn)
{
	u32 window = conn->window.granted;
	u32 got = rpcrdma2_recv_target(conn, conn->p.serves_initial + window);

	if (got <= window)
		return;
	spin_lock(&conn->credit_lock);
	rpcrdma2_grant_set(&conn->grant, got - window);
	spin_unlock(&conn->credit_lock);
}

/**
 * rpcrdma2_conn_settle - the version is known, make the connection READY
 * @conn: connection in state OPEN; conn->peer holds the peer's properties
 * @codec: the version
 * @why: why this one
 *
 * Context: may sleep (GFP_NOIO). Connect path of the client, CQ work item
 * of the server.
 * Return: 0, -ENOBUFS without memory, -ENOTCONN if the connection is lost.
 */
int rpcrdma2_conn_settle(struct rpcrdma2_conn *conn,
			 const struct rpcrdma2_codec *codec,
			 enum rpcrdma2_why why)
{
	u32 want;
	int size;

	WRITE_ONCE(conn->codec, codec);
	conn->why = why;
	conn_apply_limits(conn);
	/* A CONNPROP that comes late may allow more (CONN-9) */
	want = conn->inline_send;
	if (codec->props && conn->peer_props_seen)
		rpcrdma2_props_ready(conn);
	/* ... and a client's may change at any time (D-16) */
	if (codec->props && (!conn->peer_props_seen ||
			     (conn->extended && !conn->client)))
		want = conn->p.send_size;
	size = rpcrdma2_sends_grow(conn, want, min(conn->inline_send,
						   codec->inline_default));
	if (size < 0)
		return -ENOBUFS;
	conn->slot_size = size;
	conn->slot_asked = size;
	conn->slot_want = size;
	conn->slot_shrink_at = jiffies;
	conn->inline_send = min_t(u32, conn->inline_send, size);
	if (!conn->client)
		conn_first_grant(conn);
	if (!conn_set_state(conn, RPCRDMA2_CONN_READY, 0))
		return -ENOTCONN;
	trace_rpcrdma2_settled(conn);
	rpcrdma2_stat_inc(conn->p.stats, connects);
	conn_count_why(conn, why);
	if (READ_ONCE(conn->extended))
		rpcrdma2_props_kick(conn);
	return 0;
}

/**
 * rpcrdma2_conn_granted - a grant arrived
 * @conn: the connection
 * @credit: rdma_credit of a non-ERROR message with RESPONSE set
 *
 * Context: may sleep.
 * Return: true if the window is open.
 */
bool rpcrdma2_conn_granted(struct rpcrdma2_conn *conn, u32 credit)
{
	struct rpcrdma2_window *w = &conn->window;
	u32 have, want;
	bool open;

	spin_lock(&conn->credit_lock);
	have = w->granted;
	spin_unlock(&conn->credit_lock);

	/* Peers of version 1 grant what they have, whatever is asked for */
	if ((!credit || credit > w->asked) &&
	    conn->codec != &rpcrdma2_codec_v1)
		rpcrdma2_stat_inc(conn->p.stats, odd_grants);

	/* A Receive for every Reply before its Call may go (CRED-8) */
	want = min(credit, conn->p.calls);
	if (want > have) {
		u32 other = conn->grant.current_grant;
		u32 got = rpcrdma2_recv_target(conn, want + other);

		credit = got > other ? max(got - other, have) : have;
	}

	spin_lock(&conn->credit_lock);
	open = rpcrdma2_window_grant(w, credit);
	spin_unlock(&conn->credit_lock);
	return open;
}

/**
 * rpcrdma2_conn_credit_ask - credits to ask for
 * @conn: the connection
 *
 * Context: any.
 * Return: rdma_credit of a message with RESPONSE clear
 */
u32 rpcrdma2_conn_credit_ask(struct rpcrdma2_conn *conn)
{
	return READ_ONCE(conn->window.asked);
}

/**
 * rpcrdma2_conn_credit_grant - credits that are granted now
 * @conn: the connection
 *
 * Context: any.
 * Return: rdma_credit of a message with RESPONSE set
 */
u32 rpcrdma2_conn_credit_grant(struct rpcrdma2_conn *conn)
{
	return READ_ONCE(conn->grant.current_grant);
}

static void conn_cm_step(struct rpcrdma2_conn *conn, int event)
{
	/* With the device that was found: see conn_wait_step() */
	smp_store_release(&conn->cm_step, event);
	wake_up_all(&conn->state_wq);
}

static void conn_established(struct rpcrdma2_conn *conn,
			     const struct rdma_conn_param *param)
{
	if (conn->client) {
		rpcrdma_cm_decode(param->private_data,
				  param->private_data_len, &conn->cm_peer);
		/* Which of the two is meant depends on the driver (iWARP) */
		conn->may_read = param->initiator_depth &&
				 param->responder_resources;
	}
	/* Not if a message was faster than this event */
	conn_set_state(conn, RPCRDMA2_CONN_OPEN, 0);
}

static int conn_cm_event(struct rdma_cm_id *cm_id, struct rdma_cm_event *event)
{
	struct rpcrdma2_conn *conn = cm_id->context;

	trace_rpcrdma2_cm_event(conn, event->event, event->status);
	switch (event->event) {
	case RDMA_CM_EVENT_ADDR_RESOLVED:
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
		conn_cm_step(conn, event->event);
		break;
	case RDMA_CM_EVENT_ESTABLISHED:
		conn_established(conn, &event->param.conn);
		break;
	case RDMA_CM_EVENT_ADDR_ERROR:
	case RDMA_CM_EVENT_ROUTE_ERROR:
		rpcrdma2_conn_kill(conn, -EHOSTUNREACH);
		break;
	case RDMA_CM_EVENT_UNREACHABLE:
		rpcrdma2_conn_kill(conn, -ENETUNREACH);
		break;
	case RDMA_CM_EVENT_REJECTED:
		rpcrdma2_conn_kill(conn,
				   event->status == IB_CM_REJ_STALE_CONN ?
				   -ENOTCONN : -ECONNREFUSED);
		break;
	case RDMA_CM_EVENT_CONNECT_ERROR:
	case RDMA_CM_EVENT_DISCONNECTED:
	case RDMA_CM_EVENT_ADDR_CHANGE:
	case RDMA_CM_EVENT_DEVICE_REMOVAL:
		/* The CM waits for rdma_destroy_id() when a device goes */
		rpcrdma2_conn_kill(conn, -ENOTCONN);
		break;
	default:
		break;
	}
	return 0;
}

static u64 now_seconds(void)
{
	return ktime_get_boottime_seconds();
}

/**
 * rpcrdma2_conn_refused - the server does not know MSG or NOMSG
 * @conn: client's connection of version 2
 *
 * It says so with INVAL_HTYPE about a Call: no conforming peer of version 2. If
 * version 1 may be spoken the next connection does, and the caller gives up
 * this one.
 *
 * Context: process; does not sleep. Requirements: ERR-18, D-34.
 * Return: false if it may not; then nothing has changed.
 */
bool rpcrdma2_conn_refused(struct rpcrdma2_conn *conn)
{
	bool refused;

	spin_lock(&conn->state_lock);
	refused = rpcrdma2_neg_refused(&conn->neg, now_seconds());
	spin_unlock(&conn->state_lock);
	return refused;
}

/* The connection of a client was lost, and every message that came before
 * has been seen: what does it mean for the next one (VER-13, VER-15)?
 */
static void conn_negotiation_lost(struct rpcrdma2_conn *conn)
{
	spin_lock(&conn->state_lock);
	switch (conn->neg.state) {
	case RPCRDMA2_NEG_WAIT:
	case RPCRDMA2_NEG_WAIT_REPLY:
	case RPCRDMA2_NEG_V1:
	case RPCRDMA2_NEG_V2:
		conn->neg_action = rpcrdma2_neg_lost(&conn->neg,
						     now_seconds());
		/* Try again at once, unless that is of no use */
		if (conn->neg_action == RPCRDMA2_DO_NOTHING)
			conn->neg_action = RPCRDMA2_DO_RECONNECT;
		break;
	default:
		break;
	}
	spin_unlock(&conn->state_lock);
}

/**
 * rpcrdma2_conn_close - end a connection
 * @conn: the connection
 *
 * Afterwards every posted work request has completed or was given up, every
 * waiter was told, and no peer can reach memory. Device, PD and CM id remain
 * until rpcrdma2_conn_free().
 *
 * A device may lose the completion of posted work when a connection breaks
 * (siw does, see Documentation/devices.md). Nobody may wait for it for ever,
 * so what is left is ended here, in two steps. Work of the send queue after
 * the drain and before the QP goes: the QP is in the error state and carries
 * out nothing any more, and the RDMA contexts have to give their memory
 * regions back to the QP. Memory that a late completion would look at, send
 * slots and Receives, only when there is no CQ left to report one.
 *
 * Context: owner only, once; sleeps. Not from a completion or a CM event.
 */
void rpcrdma2_conn_close(struct rpcrdma2_conn *conn)
{
	WRITE_ONCE(conn->told, true);	/* the owner knows */
	conn_set_state(conn, RPCRDMA2_CONN_CLOSING, 0);
	rpcrdma2_observe_remove(conn);

	rpcrdma2_watch_stop(conn);
	rpcrdma2_sends_stop(conn);
	rpcrdma2_recvs_stop(conn);
	/* It runs waiters and held Replies, and these use the QP */
	rpcrdma2_props_stop(conn);

	if (conn->qp) {
		rdma_disconnect(conn->cm_id);
		ib_drain_qp(conn->qp);
	}
	if (conn->client && conn->reason)
		conn_negotiation_lost(conn);
	rpcrdma2_sends_abort(conn);
	if (conn->qp) {
		rdma_destroy_qp(conn->cm_id);
		conn->qp = NULL;
	}
	if (conn->cq) {
		ib_free_cq(conn->cq);
		conn->cq = NULL;
	}
	/* Once more, for a kick that came when the state changed */
	rpcrdma2_props_stop(conn);
	rpcrdma2_tx_abort(conn);
	rpcrdma2_sends_destroy(conn);
	rpcrdma2_recvs_reclaim(conn);
	cancel_work_sync(&conn->kill_work);
	conn_set_state(conn, RPCRDMA2_CONN_CLOSED, 0);
}

/**
 * rpcrdma2_conn_free - free what rpcrdma2_conn_close() left
 * @conn: a closed connection; its MRs are freed, its Receives given back
 *
 * Context: owner only, once; sleeps. Not from a CM event.
 */
void rpcrdma2_conn_free(struct rpcrdma2_conn *conn)
{
	rpcrdma2_recvs_unmap(conn);
	if (conn->pd)
		ib_dealloc_pd(conn->pd);
	if (conn->cm_id)
		rdma_destroy_id(conn->cm_id);
	rpcrdma2_conn_put(conn);
}

static bool conn_is_over(const struct rpcrdma2_conn *conn)
{
	return rpcrdma2_conn_state(conn) >= RPCRDMA2_CONN_CLOSING;
}

/* One step of making a connection: until @cond is true, the connection is
 * over, or @ms have passed. A connection that nobody wants any more is given
 * up. Returns 0 when the time is up.
 */
#define conn_wait(conn, cond, ms)					\
({									\
	struct rpcrdma2_conn *__conn = (conn);				\
	u32 __ms = (ms), __slice;					\
	long __left;							\
									\
	do {								\
		__slice = min_t(u32, __ms, RPCRDMA2_LOOK_MS);		\
		__left = wait_event_timeout(__conn->state_wq,		\
				(cond) || conn_is_over(__conn),		\
				msecs_to_jiffies(__slice));		\
		if (!__left && !__conn->p.ops->wanted(__conn))		\
			rpcrdma2_conn_kill(__conn, -ENOTCONN);		\
		__ms -= __slice;					\
	} while (!__left && __ms);					\
	__left;								\
})

/* What a wait for this connection has come to; @left as from conn_wait(). */
static int conn_waited(const struct rpcrdma2_conn *conn, long left)
{
	if (conn_is_over(conn))
		return -ENOTCONN;
	return left ? 0 : -ETIMEDOUT;
}

static int conn_wait_step(struct rpcrdma2_conn *conn, int step)
{
	long left;

	/* Pairs with the release in conn_cm_step() */
	left = conn_wait(conn, smp_load_acquire(&conn->cm_step) == step,
			 RPCRDMA2_RESOLVE_MS);
	return conn_waited(conn, left);
}

static int conn_resolve(struct rpcrdma2_conn *conn,
			const struct sockaddr *src, const struct sockaddr *dst)
{
	int ret;

	if (!conn_set_state(conn, RPCRDMA2_CONN_RESOLVING, 0))
		return -ENOTCONN;
	ret = rdma_resolve_addr(conn->cm_id, (struct sockaddr *)src, dst,
				RPCRDMA2_RESOLVE_MS);
	if (ret)
		return ret;
	ret = conn_wait_step(conn, RDMA_CM_EVENT_ADDR_RESOLVED);
	if (ret)
		return ret;
	ret = rdma_resolve_route(conn->cm_id, RPCRDMA2_RESOLVE_MS);
	if (ret)
		return ret;
	return conn_wait_step(conn, RDMA_CM_EVENT_ROUTE_RESOLVED);
}

static int conn_request(struct rpcrdma2_conn *conn)
{
	const struct ib_device_attr *attrs = &conn->cm_id->device->attrs;
	struct rdma_conn_param param = {
		.retry_count	     = 6,
		.rnr_retry_count     = RPCRDMA2_RNR_RETRIES,
		/* The server reads from us; our only Reads are probes */
		.responder_resources = min_t(int, attrs->max_qp_rd_atom, U8_MAX),
		.initiator_depth     = min_t(int, attrs->max_qp_init_rd_atom, 1),
	};
	u8 private[RPCRDMA_CM_PRIVATE_BYTES];
	long left;
	int ret;

	conn_cm_private(conn, private);
	param.private_data = private;
	param.private_data_len = sizeof(private);
	if (!conn_set_state(conn, RPCRDMA2_CONN_CONNECTING, 0))
		return -ENOTCONN;
	ret = rdma_connect(conn->cm_id, &param);
	if (ret)
		return ret;
	left = conn_wait(conn, rpcrdma2_conn_state(conn) >= RPCRDMA2_CONN_OPEN,
			 RPCRDMA2_CONNECT_MS);
	return conn_waited(conn, left);
}

/* What came of the negotiation; the timer is an event like a message (see
 * version.c). NOTHING: the connection is lost. What that means is told when it
 * is closed, since an answer may still be among the completions.
 */
static enum rpcrdma2_neg_action conn_await_answer(struct rpcrdma2_conn *conn)
{
	u32 ms = conn->p.negotiate_ms, slice;
	enum rpcrdma2_neg_action action;
	long left;

	for (;;) {
		slice = min_t(u32, ms, RPCRDMA2_NUDGE_MS);
		left = conn_wait(conn, READ_ONCE(conn->neg_action) !=
				       RPCRDMA2_DO_NOTHING, slice);
		ms -= slice;
		if (left || !ms)
			break;
		/* A server that is dead is not one that is silent. And siw
		 * may leave the first message where it is until more arrives.
		 */
		rpcrdma2_conn_probe(conn);
	}
	spin_lock(&conn->state_lock);
	/* With the peer's properties: pairs with recv_negotiating() */
	action = smp_load_acquire(&conn->neg_action);
	if (action == RPCRDMA2_DO_NOTHING &&
	    conn_waited(conn, left) == -ETIMEDOUT) {
		/* later messages find the negotiation over */
		action = rpcrdma2_neg_timeout(&conn->neg, now_seconds());
		WRITE_ONCE(conn->neg_action, action);
	}
	spin_unlock(&conn->state_lock);
	return action;
}

static enum rpcrdma2_neg_action conn_negotiate(struct rpcrdma2_conn *conn)
{
	enum rpcrdma2_neg_action action;
	int ret;

	spin_lock(&conn->state_lock);
	rpcrdma2_neg_init(&conn->neg, conn->p.policy, conn->p.mem,
			  atomic_inc_return(&conn->control_xid));
	action = rpcrdma2_neg_connected(&conn->neg, now_seconds());
	spin_unlock(&conn->state_lock);
	switch (action) {
	case RPCRDMA2_DO_SEND_CONNPROP:
		ret = rpcrdma2_send_connprop(conn, conn->neg.xid, false);
		break;
	case RPCRDMA2_DO_SEND_CALL:
		ret = rpcrdma2_send_null(conn, conn->neg.xid);
		break;
	default:
		return action;
	}
	if (ret)
		rpcrdma2_conn_kill(conn, -ENOTCONN);
	return conn_await_answer(conn);
}

static const struct rpcrdma2_codec *neg_codec(const struct rpcrdma2_neg *neg)
{
	return neg->state == RPCRDMA2_NEG_V2 ? &rpcrdma2_codec_v2 :
					       &rpcrdma2_codec_v1;
}

/* Version 2 was offered and is not what is spoken: the log says why (SEC-11).
 * Peers cannot make it say more than the limit.
 */
static void conn_note_fallback(const struct rpcrdma2_conn *conn,
			       const struct sockaddr *dst)
{
	if (conn->codec != &rpcrdma2_codec_v1)
		return;
	rpcrdma2_stat_inc(conn->p.stats, fallbacks);
	if (conn->why != RPCRDMA2_WHY_ADMIN)
		pr_notice_ratelimited("rpcrdma2: %pISpc: version 1, %s (reason %u)\n",
				      dst, rpcrdma2_why_name(conn->why),
				      conn->why);
}

/* Negotiation has failed: what a mount tells by -EPROTO only. */
static void conn_note_failure(const struct rpcrdma2_conn *conn,
			      const struct sockaddr *dst,
			      enum rpcrdma2_why why)
{
	conn_count_why(conn, why);
	pr_notice_ratelimited("rpcrdma2: %pISpc: not connected, %s (reason %u)\n",
			      dst, rpcrdma2_why_name(why), why);
}

/* One connection from nothing to READY. -EAGAIN: connect once more. */
static int conn_attempt(struct rpcrdma2_conn *conn, struct net *net,
			const struct sockaddr *src, const struct sockaddr *dst)
{
	enum rpcrdma2_neg_action action;
	struct rdma_cm_id *cm_id;
	enum rpcrdma2_why why;
	int ret;

	cm_id = rdma_create_id(net, conn_cm_event, conn, RDMA_PS_TCP,
			       IB_QPT_RC);
	if (IS_ERR(cm_id))
		return PTR_ERR(cm_id);
	conn->cm_id = cm_id;
	ret = conn_resolve(conn, src, dst);
	if (!ret)
		ret = conn_setup(conn);
	if (!ret)
		ret = conn_request(conn);
	if (ret)
		return READ_ONCE(conn->reason) ?: ret;

	action = conn_negotiate(conn);
	why = conn->neg.why;
	/* A version is settled, but with properties that are no good */
	if (action == RPCRDMA2_DO_FAIL &&
	    conn->neg.state != RPCRDMA2_NEG_FAILED)
		why = RPCRDMA2_WHY_PEER_ERROR;
	trace_rpcrdma2_negotiated(conn, action, why);
	switch (action) {
	case RPCRDMA2_DO_SETTLE:
		return rpcrdma2_conn_settle(conn, neg_codec(&conn->neg),
					    conn->neg.why);
	case RPCRDMA2_DO_RECONNECT:
		return -EAGAIN;
	case RPCRDMA2_DO_NOTHING:
		return -ENOTCONN;
	default:
		conn_note_failure(conn, dst, why);
		return -EPROTO;
	}
}

/* Others than these end hard-mounted RPCs (ERR-13). sunrpc retries after
 * all of them; the refusals, and -EPROTO, end RPCs that want to know soon,
 * such as those of a mount.
 */
static int conn_errno(int err)
{
	switch (err) {
	case -EPROTO:
	case -ECONNREFUSED:
	case -EHOSTUNREACH:
	case -ENETUNREACH:
	case -ENOTCONN:
	case -ETIMEDOUT:
	case -ENOBUFS:
		return err;
	case -ENOMEM:
		return -ENOBUFS;
	default:
		return -ENOTCONN;
	}
}

static bool conn_server_absent(int err)
{
	return err == -ECONNREFUSED || err == -EHOSTUNREACH ||
	       err == -ENETUNREACH;
}

/**
 * rpcrdma2_conn_connect - make a client's connection
 * @net: network namespace
 * @src: local address to use, or NULL
 * @dst: the server
 * @p: what the connection is to be like
 *
 * Implements VER-1..5, VER-10, VER-14, VER-15 by way of version.c.
 *
 * Context: sleeps, at most about 30 s an attempt. Nothing in here needs
 * sunrpc's locks: CM events, QP errors and device removal end every wait
 * through the connection's state.
 * Return: a connection in state READY, or ERR_PTR of -EPROTO, -ECONNREFUSED,
 * -EHOSTUNREACH, -ENETUNREACH, -ENOTCONN, -ETIMEDOUT or -ENOBUFS
 */
struct rpcrdma2_conn *
rpcrdma2_conn_connect(struct net *net, const struct sockaddr *src,
		      const struct sockaddr *dst,
		      const struct rpcrdma2_conn_params *p)
{
	unsigned int noio = memalloc_noio_save();
	struct rpcrdma2_conn *conn = NULL;
	int attempt, ret = -EAGAIN;

	for (attempt = 0; attempt < RPCRDMA2_ATTEMPTS && ret == -EAGAIN;
	     attempt++) {
		conn = conn_alloc(p, true);
		if (!conn) {
			ret = -ENOMEM;
			break;
		}
		WRITE_ONCE(conn->told, true);	/* not before READY */
		ret = conn_attempt(conn, net, src, dst);
		if (!ret)
			break;
		rpcrdma2_conn_kill(conn, ret);
		rpcrdma2_conn_close(conn);
		if (ret == -ENOTCONN && p->ops->wanted(conn) &&
		    conn->neg_action == RPCRDMA2_DO_RECONNECT)
			ret = -EAGAIN;
		else if (conn->neg_action == RPCRDMA2_DO_FAIL)
			ret = -EPROTO;
		rpcrdma2_conn_free(conn);
	}
	memalloc_noio_restore(noio);
	if (ret) {
		if (conn_server_absent(ret))
			rpcrdma2_ver_absent(p->mem);
		rpcrdma2_stat_inc(p->stats, connect_failures);
		return ERR_PTR(ret == -EAGAIN ? -ENOTCONN : conn_errno(ret));
	}

	conn_note_fallback(conn, dst);
	rpcrdma2_observe_add(conn);
	rpcrdma2_watch_start(conn);
	/* From here on the owner hears of a loss, even of an earlier one: either
	 * we see the state that rpcrdma2_conn_kill() has set, or its xchg() sees
	 * this.
	 */
	smp_store_mb(conn->told, false);
	if (!rpcrdma2_conn_ready(conn) && !xchg(&conn->told, true))
		p->ops->lost(conn);
	return conn;
}

static int conn_accept(struct rpcrdma2_conn *conn,
		       const struct rdma_conn_param *req)
{
	const struct ib_device_attr *attrs = &conn->cm_id->device->attrs;
	struct rdma_conn_param param = {
		.rnr_retry_count     = RPCRDMA2_RNR_RETRIES,
		.responder_resources = min_t(int, attrs->max_qp_rd_atom,
					     req->responder_resources),
		.initiator_depth     = min_t(int, attrs->max_qp_init_rd_atom,
					     req->initiator_depth),
	};
	u8 private[RPCRDMA_CM_PRIVATE_BYTES];
	int ret;

	/* Without RDMA Reads no Read chunk can be served */
	conn->may_read = param.initiator_depth;
	if (!conn->may_read)
		return -EINVAL;
	rpcrdma_cm_decode(req->private_data, req->private_data_len,
			  &conn->cm_peer);
	ret = conn_setup(conn);
	if (ret)
		return ret;
	rpcrdma2_srv_ver_init(&conn->srv_ver, conn->p.policy);
	conn_cm_private(conn, private);
	param.private_data = private;
	param.private_data_len = sizeof(private);
	if (!conn_set_state(conn, RPCRDMA2_CONN_CONNECTING, 0))
		return -ENOTCONN;
	rdma_lock_handler(conn->cm_id);
	ret = rdma_accept(conn->cm_id, &param);
	rdma_unlock_handler(conn->cm_id);
	return ret;
}

/**
 * rpcrdma2_conn_incoming - a connection for a client's connect request
 * @cm_id: of the request; owned by the connection from now on
 * @p: what the connection is to be like
 *
 * Context: sleeps.
 * Return: a connection in state NEW, or NULL without memory
 */
struct rpcrdma2_conn *
rpcrdma2_conn_incoming(struct rdma_cm_id *cm_id,
		       const struct rpcrdma2_conn_params *p)
{
	struct rpcrdma2_conn *conn = conn_alloc(p, false);

	if (!conn)
		return NULL;
	rdma_lock_handler(cm_id);
	conn->cm_id = cm_id;
	cm_id->context = conn;
	cm_id->event_handler = conn_cm_event;
	rdma_unlock_handler(cm_id);
	return conn;
}

/**
 * rpcrdma2_conn_accept - accept a client's connection
 * @conn: from rpcrdma2_conn_incoming()
 * @req: parameters of the request; private data included
 *
 * The client may be faster than this, also if it fails: its Calls may have
 * been handed up already. Either way the owner ends the connection with
 * rpcrdma2_conn_close() and rpcrdma2_conn_free().
 *
 * Context: sleeps.
 * Return: 0, the state is CONNECTING or later; or a negative errno, and the
 * request is refused
 */
int rpcrdma2_conn_accept(struct rpcrdma2_conn *conn,
			 const struct rdma_conn_param *req)
{
	int ret;

	ret = conn_accept(conn, req);
	if (!ret)
		ret = rpcrdma2_inject_accept();
	if (ret) {
		WRITE_ONCE(conn->told, true);
		if (ret != -ENOTCONN)
			rdma_reject(conn->cm_id, NULL, 0,
				    IB_CM_REJ_CONSUMER_DEFINED);
		return ret;
	}
	rpcrdma2_observe_add(conn);
	rpcrdma2_watch_start(conn);
	return 0;
}
