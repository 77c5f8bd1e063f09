// SPDX-License-Identifier: GPL-2.0
/*
 * The send queue of one connection: send slots with mapped buffers, the
 * account of send queue entries, and the FIFO of those who wait for either.
 *
 * A slot's buffer is mapped once and holds header and data of one message,
 * so a Send never touches the caller's pages and most Sends need no
 * completion. Sends complete in order: one signaled Send retires all posted
 * before it. At rest fewer than RPCRDMA2_SIGNAL_EVERY Sends are unretired,
 * and no more than leave room for the longest chain, so a waiter always gets
 * its turn. Pages that RDMA Writes read from wait for the completion of the Send
 * behind them, or of a later one: so many, and so long, and then a Write of no
 * bytes stands in for that.
 *
 * Posted work is on a list until it completes. What is left there at the end
 * of the connection was lost by the device, and what completes without being
 * there was over before: see rpcrdma2_conn_close().
 *
 * sendq.lock protects everything and orders posting; it is a leaf. Process
 * context only.
 */
#include "conn/conn.h"
#include "conn/inject.h"
#include <trace/events/rpcrdma2.h>

/* Slots for RPC messages; more Calls than this may be outstanding, since a
 * slot is only held until its Send has completed.
 */
#define RPCRDMA2_MAX_CALL_SLOTS	64U

/* Entries that no message takes: of a probe, of the drain */
#define RPCRDMA2_KEPT_WRS	2U

/* Entries besides those of RPCs */
#define RPCRDMA2_OTHER_WRS	(RPCRDMA2_CONTROL_RESERVE + RPCRDMA2_KEPT_WRS)

/* Pages that may wait for a later Send, and how long, if there is none: this once or
 * twice. They wait if the last Send with pages was posted a short while ago, so
 * that the next one may be expected: a look, and a Write of no bytes, for each Send
 * would cost more than its own completion.
 */
#define RPCRDMA2_LINGER_PAGES	(SZ_512K >> PAGE_SHIFT)
#define RPCRDMA2_LINGER		msecs_to_jiffies(40)
#define RPCRDMA2_LINGER_PACE	msecs_to_jiffies(10)

/* Entries of most Replies: a Write chunk and the Send */
#define RPCRDMA2_USUAL_REPLY	2U

/* Pages that a Call may register for one chunk: the largest payload, what is
 * around it, and ragged ends
 */
#define RPCRDMA2_CHUNK_PAGES	((SZ_1M >> PAGE_SHIFT) + 5)

/* Entries that RPC messages leave for control messages. */
static bool sq_has_room(const struct rpcrdma2_conn *conn, u32 nwrs,
			bool control)
{
	u32 keep = control ? 0 : RPCRDMA2_CONTROL_RESERVE;

	return conn->sendq.avail >= nwrs + keep;
}

static struct rpcrdma2_send *slot_take(struct rpcrdma2_conn *conn, u32 nwrs,
				       bool control)
{
	struct list_head *free = control ? &conn->sendq.free_control
					 : &conn->sendq.free;
	struct rpcrdma2_send *send;

	lockdep_assert_held(&conn->sendq.lock);
	if (!sq_has_room(conn, nwrs, control))
		return NULL;
	send = list_first_entry_or_null(free, struct rpcrdma2_send, list);
	if (!send)
		return NULL;
	list_del_init(&send->list);
	conn->sendq.avail -= nwrs;
	send->nwrs = nwrs;
	send->on_wire = NULL;
	send->done = NULL;
	send->priv = NULL;
	send->holds = 0;
	return send;
}

/* Serve the FIFO as far as there is room. Never called with sendq.lock held. */
static void sq_run_waiters(struct rpcrdma2_conn *conn)
{
	struct rpcrdma2_sendq_waiter *w;
	struct rpcrdma2_send *send;

	for (;;) {
		send = NULL;
		spin_lock(&conn->sendq.lock);
		w = list_first_entry_or_null(&conn->sendq.waiters,
					     struct rpcrdma2_sendq_waiter, list);
		/* At the end all are told, one after the other, by
		 * rpcrdma2_sends_abort(). Posting fails by then, and a waiter
		 * that gives back what it has would run the next.
		 */
		if (!w || conn->sendq.closed ||
		    rpcrdma2_conn_over(conn))
			break;
		if (w->slot) {
			send = slot_take(conn, w->nwrs, false);
			if (!send && list_empty(&conn->sendq.free) &&
			    rpcrdma2_send_buf_short(&conn->sendq)) {
				spin_unlock(&conn->sendq.lock);
				if (rpcrdma2_send_buf_add(conn))
					continue;
				return;
			}
			if (!send)
				break;
		} else {
			if (!sq_has_room(conn, w->nwrs, false))
				break;
			conn->sendq.avail -= w->nwrs;
		}
		list_del_init(&w->list);
		spin_unlock(&conn->sendq.lock);
		w->ready(w, send, 0);
	}
	spin_unlock(&conn->sendq.lock);
}

/* Slots that were in use become free: all of the list at once, of which slots for
 * control messages then go to their own. The end of a trim is in the same critical
 * section: no message may come in between, find more than one buffer free, and be
 * posted unsignaled.
 */
static void slots_put(struct rpcrdma2_conn *conn, struct list_head *slots)
{
	struct rpcrdma2_send *pos, *tmp;

	spin_lock(&conn->sendq.lock);
	list_for_each_entry_safe(pos, tmp, slots, list) {
		conn->sendq.avail += pos->nwrs;
		pos->nwrs = 0;
		if (rpcrdma2_send_is_control(&conn->sendq, pos))
			list_move(&pos->list, &conn->sendq.free_control);
	}
	list_splice(slots, &conn->sendq.free);
	if (unlikely(conn->sendq.trimming) && list_empty(&conn->sendq.posted)) {
		conn->sendq.trimming = false;
		rpcrdma2_send_buf_trim(conn);
	}
	spin_unlock(&conn->sendq.lock);
	sq_run_waiters(conn);
}

/* A Send completed: it and all Sends posted before it are done. */
static void send_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct rpcrdma2_send *pos, *send =
		container_of(wc->wr_cqe, struct rpcrdma2_send, cqe);
	struct rpcrdma2_conn *conn = cq->cq_context;
	LIST_HEAD(retired);
	int status = 0;

	guard(rpcrdma2_completion)();
	rpcrdma2_stat_inc(conn->p.stats, send_completions);
	trace_rpcrdma2_wc_send(conn, send->cid, wc);
	if (likely(wc->status == IB_WC_SUCCESS)) {
		rpcrdma2_conn_activity(conn);
	} else {
		rpcrdma2_conn_wc_failed(conn, "send", send->cid, wc);
		rpcrdma2_conn_kill(conn, -ENOTCONN);
		status = -ENOTCONN;
	}

	spin_lock(&conn->sendq.lock);
	if (send->posted)
		list_cut_position(&retired, &conn->sendq.posted, &send->list);
	list_for_each_entry(pos, &retired, list) {
		pos->posted = false;
		conn->sendq.lingering -= pos->holds;
	}
	spin_unlock(&conn->sendq.lock);
	if (list_empty(&retired)) {
		rpcrdma2_stat_inc(conn->p.stats, stray_completions);
		return;
	}
	list_for_each_entry(pos, &retired, list)
		if (pos->done)
			pos->done(pos, status);
	slots_put(conn, &retired);
}

/* Returns 0; -ENOTCONN: nothing was posted; or 1: not all of it, but perhaps
 * some. That counts as posted, on a connection to be given up: what the device
 * has taken may use memory until the queue is drained.
 */
static int sq_post(struct rpcrdma2_conn *conn, const struct ib_send_wr *first)
{
	const struct ib_send_wr *bad = NULL;
	int ret;

	lockdep_assert_held(&conn->sendq.lock);
	if (conn->sendq.closed || rpcrdma2_inject(RPCRDMA2_FAULT_POST))
		return -ENOTCONN;
	ret = ib_post_send(conn->qp, first, &bad);
	if (likely(!ret) && !rpcrdma2_inject(RPCRDMA2_FAULT_POST_LATE))
		return 0;
	return bad == first ? -ENOTCONN : 1;
}

static void settle_done(struct rpcrdma2_send *send, int status)
{
	struct rpcrdma2_conn *conn = send->conn;

	spin_lock(&conn->sendq.lock);
	conn->sendq.settling = false;
	spin_unlock(&conn->sendq.lock);
}

static void settle_later(struct rpcrdma2_conn *conn)
{
	rpcrdma2_timer_set(conn, RPCRDMA2_TIMER_SETTLE, RPCRDMA2_LINGER);
}

/**
 * rpcrdma2_sends_settle - retire the last Sends of a connection
 * @conn: the connection
 *
 * If no Send has followed those that hold pages, or buffers of an idle connection, a
 * signaled zero-length RDMA Write is posted behind them in a slot for control messages,
 * one at a time. It needs neither a handle nor a credit.
 *
 * Context: timer of the connection; does not sleep.
 */
void rpcrdma2_sends_settle(struct rpcrdma2_conn *conn)
{
	struct ib_rdma_wr wr = {
		.wr.opcode	= IB_WR_RDMA_WRITE,
		.wr.send_flags	= IB_SEND_SIGNALED,
	};
	struct rpcrdma2_send *send = NULL;
	bool waits, due;

	spin_lock(&conn->sendq.lock);
	waits = (conn->sendq.lingering || conn->sendq.trimming) &&
		!conn->sendq.closed;
	due = waits && conn->sendq.unsignaled && !conn->sendq.settling &&
	      (conn->sendq.trimming ||
	       time_after_eq(jiffies, conn->sendq.held_at + RPCRDMA2_LINGER));
	spin_unlock(&conn->sendq.lock);
	if (due)
		send = rpcrdma2_send_get(conn, 1, NULL, true);
	if (send) {
		WRITE_ONCE(conn->sendq.settling, true);
		wr.wr.wr_cqe = &send->cqe;
		send->sge.length = 0;
		send->done = settle_done;
		rpcrdma2_send_post(send, &wr.wr);
	}
	if (waits)
		settle_later(conn);
}

/* Entries of the longest chain in a send queue of @depth entries. A client may
 * register memory for a chunk in each direction, and invalidates it later; a
 * server posts in parts what is longer than this.
 */
static u32 sq_longest(const struct rpcrdma2_conn *conn, u32 depth)
{
	u32 segs = DIV_ROUND_UP(RPCRDMA2_CHUNK_PAGES, conn->caps.mr_depth);

	if (conn->client)
		return 1 + 2 * min(segs, RPCRDMA2_MAX_SEGS);
	return min(conn->p.reply_wrs, max(depth / 2, 4U));
}

/* Is there room for every message, if nothing else is under way? */
static bool sq_suffices(const struct rpcrdma2_conn *conn, u32 depth)
{
	return depth >= sq_longest(conn, depth) + RPCRDMA2_OTHER_WRS;
}

/* Entries for all Calls and for Replies of usual length, or for as many Sends as are
 * retired at once and two of the longest chains, if that is more. Who finds no room
 * waits. Each entry has room for all SGEs, and every connection pays for it: devices
 * round up to a power of two, rings that leave an entry free to the next one, and
 * rdma_rw adds to the queue. So it takes what fits below a power of two.
 */
static u32 sq_wanted_depth(const struct rpcrdma2_conn *conn)
{
	const struct rpcrdma2_conn_params *p = &conn->p;
	u32 depth = p->calls * p->call_wrs +
		    p->serves * min(p->reply_wrs, RPCRDMA2_USUAL_REPLY) +
		    RPCRDMA2_OTHER_WRS + p->rw_ctxs;
	u32 least = 2 * (RPCRDMA2_SIGNAL_EVERY + sq_longest(conn, U32_MAX)) +
		    RPCRDMA2_OTHER_WRS;

	depth = rounddown_pow_of_two(depth + 1) - 1 - p->rw_ctxs;
	return min(max(depth, least), conn->caps.max_qp_wr);
}

/**
 * rpcrdma2_sends_plan - how deep a send queue, how many slots?
 * @conn: connection with known device
 *
 * Context: any.
 * Return: false if the device's queues are too short for every message
 */
bool rpcrdma2_sends_plan(struct rpcrdma2_conn *conn)
{
	const struct rpcrdma2_conn_params *p = &conn->p;

	conn->sendq.depth = sq_wanted_depth(conn);
	conn->sendq.nslots = min(p->calls, RPCRDMA2_MAX_CALL_SLOTS) +
			  min(p->serves, RPCRDMA2_MAX_CALL_SLOTS);
	return sq_suffices(conn, conn->sendq.depth);
}

/**
 * rpcrdma2_sends_halve - a shorter send queue than planned
 * @conn: connection without QP
 *
 * What a device holds depends on the size of an entry, which only it knows:
 * max_qp_wr is for small ones. With a shorter queue messages wait more often.
 *
 * Context: any.
 * Return: false if it would be too short; then nothing has changed
 */
bool rpcrdma2_sends_halve(struct rpcrdma2_conn *conn)
{
	if (!sq_suffices(conn, conn->sendq.depth / 2))
		return false;
	conn->sendq.depth /= 2;
	return true;
}

/**
 * rpcrdma2_sends_granted - the send queue exists
 * @conn: connection with a new QP
 * @depth: its entries. rdma_rw has added what it needs; no more is used than
 *	was asked for, since that is what the CQ has room for
 *
 * Context: any.
 */
void rpcrdma2_sends_granted(struct rpcrdma2_conn *conn, u32 depth)
{
	conn->sendq.depth = min(depth, conn->sendq.depth) - RPCRDMA2_KEPT_WRS;
	conn->sendq.avail = conn->sendq.depth;
	conn->sendq.most = sq_longest(conn, conn->sendq.depth);
}

/**
 * rpcrdma2_sends_setup - a new connection
 * @conn: the connection
 *
 * Context: any.
 */
void rpcrdma2_sends_setup(struct rpcrdma2_conn *conn)
{
	struct rpcrdma2_sendq *sendq = &conn->sendq;

	spin_lock_init(&sendq->lock);
	INIT_LIST_HEAD(&sendq->free);
	INIT_LIST_HEAD(&sendq->bare);
	INIT_LIST_HEAD(&sendq->free_control);
	INIT_LIST_HEAD(&sendq->posted);
	INIT_LIST_HEAD(&sendq->chains);
	INIT_LIST_HEAD(&sendq->waiters);
	sendq->done = send_done;
}

/**
 * rpcrdma2_sends_trim - give back the buffers that an idle connection has too
 *	many
 * @conn: connection in state READY
 *
 * Those of Sends that are not retired yet are given back when they are, which the
 * settle work sees to.
 *
 * Context: process; does not sleep.
 */
void rpcrdma2_sends_trim(struct rpcrdma2_conn *conn)
{
	bool more;

	spin_lock(&conn->sendq.lock);
	rpcrdma2_send_buf_trim(conn);
	more = !list_empty(&conn->sendq.posted) &&
	       conn->sendq.buffers > RPCRDMA2_LEAST_BUFFERS;
	conn->sendq.trimming = more;
	spin_unlock(&conn->sendq.lock);
	if (more)
		settle_later(conn);
}

/**
 * rpcrdma2_sends_stop - nothing more is posted to the send queue
 * @conn: connection about to be drained
 *
 * Context: process; does not sleep.
 */
void rpcrdma2_sends_stop(struct rpcrdma2_conn *conn)
{
	spin_lock(&conn->sendq.lock);
	conn->sendq.closed = true;
	spin_unlock(&conn->sendq.lock);
}

/* Tell everybody on a list of struct rpcrdma2_sendq_waiter; returns how many. */
static u32 sq_tell_all(struct rpcrdma2_conn *conn, struct list_head *list)
{
	struct rpcrdma2_sendq_waiter *w;
	u32 n = 0;

	for (;;) {
		spin_lock(&conn->sendq.lock);
		w = list_first_entry_or_null(list, struct rpcrdma2_sendq_waiter,
					     list);
		if (w)
			list_del_init(&w->list);
		spin_unlock(&conn->sendq.lock);
		if (!w)
			return n;
		w->ready(w, NULL, -ENOTCONN);
		n++;
	}
}

/**
 * rpcrdma2_sends_abort - tell all waiters, end what never completed
 * @conn: connection whose send queue is stopped and drained, QP in the error
 *	state
 *
 * Sends without a done function need no completion, and as a rule some of
 * them have none.
 *
 * Context: may sleep. The CQ still exists.
 */
void rpcrdma2_sends_abort(struct rpcrdma2_conn *conn)
{
	struct rpcrdma2_send *send;
	LIST_HEAD(posted);
	u32 lost;

	sq_tell_all(conn, &conn->sendq.waiters);
	lost = sq_tell_all(conn, &conn->sendq.chains);

	spin_lock(&conn->sendq.lock);
	list_splice_init(&conn->sendq.posted, &posted);
	list_for_each_entry(send, &posted, list)
		send->posted = false;
	conn->sendq.lingering = 0;
	spin_unlock(&conn->sendq.lock);
	list_for_each_entry(send, &posted, list) {
		if (!send->done)
			continue;
		send->done(send, -ENOTCONN);
		lost++;
	}
	if (lost)
		rpcrdma2_stat_add(conn->p.stats, lost_completions, lost);
}

/* Queue @w, or refuse because the queue is closed. */
static void sq_wait(struct rpcrdma2_conn *conn, struct rpcrdma2_sendq_waiter *w,
		    u32 nwrs, bool slot)
{
	lockdep_assert_held(&conn->sendq.lock);
	w->nwrs = nwrs;
	w->slot = slot;
	list_add_tail(&w->list, &conn->sendq.waiters);
	rpcrdma2_stat_inc(conn->p.stats, sq_waits);
}

/**
 * rpcrdma2_send_get - take a send slot and send queue entries
 * @conn: connection
 * @nwrs: entries, the Send included
 * @w: waits if there is no room; NULL: do not wait
 * @control: for a control message
 *
 * With @w, a result of NULL means that @w->ready() is called exactly once:
 * later with the resources, or with -ENOTCONN, possibly before this
 * function returns.
 *
 * Context: process; does not sleep.
 * Return: a slot or NULL.
 */
struct rpcrdma2_send *rpcrdma2_send_get(struct rpcrdma2_conn *conn, u32 nwrs,
					struct rpcrdma2_sendq_waiter *w,
					bool control)
{
	struct rpcrdma2_send *send = NULL;
	bool closed;

	/* Those who wait are the first to get another buffer */
	if (!control && unlikely(rpcrdma2_send_buf_short(&conn->sendq)) &&
	    list_empty(&conn->sendq.waiters))
		rpcrdma2_send_buf_add(conn);
	spin_lock(&conn->sendq.lock);
	closed = conn->sendq.closed;
	if (!closed) {
		/* RPC messages go in turn; control messages pass by */
		if (control || list_empty(&conn->sendq.waiters))
			send = slot_take(conn, nwrs, control);
		if (!send && w)
			sq_wait(conn, w, nwrs, true);
	}
	spin_unlock(&conn->sendq.lock);
	if (closed && w)
		w->ready(w, NULL, -ENOTCONN);
	return send;
}

/**
 * rpcrdma2_send_put - give back a slot that was not posted
 * @send: the slot
 *
 * Context: process; does not sleep.
 */
void rpcrdma2_send_put(struct rpcrdma2_send *send)
{
	struct rpcrdma2_conn *conn = send->conn;
	LIST_HEAD(slots);

	list_add(&send->list, &slots);
	slots_put(conn, &slots);
}

/**
 * rpcrdma2_send_prepare - fill in the Send of a slot
 * @send: the slot, message in send->buf
 * @len: bytes of the message, at most send->size
 * @inv_handle: handle to be invalidated at the receiver, 0 for a plain Send
 *
 * Context: any.
 * Return: the work request; others may be chained in front of it.
 */
struct ib_send_wr *rpcrdma2_send_prepare(struct rpcrdma2_send *send, u32 len,
					 u32 inv_handle)
{
	struct ib_send_wr *wr = &send->wr;

	/* No more than the peer is known to take fits into a slot (INL-7) */
	if (WARN_ON_ONCE(len > send->size))
		len = send->size;
	ib_dma_sync_single_for_device(send->conn->cm_id->device,
				      send->sge.addr, len, DMA_TO_DEVICE);
	send->sge.length = len;
	wr->next = NULL;
	wr->wr_cqe = &send->cqe;
	wr->sg_list = &send->sge;
	wr->num_sge = 1;
	wr->send_flags = 0;
	if (inv_handle) {
		wr->opcode = IB_WR_SEND_WITH_INV;
		wr->ex.invalidate_rkey = inv_handle;
	} else {
		wr->opcode = IB_WR_SEND;
		wr->ex.imm_data = 0;
	}
	return wr;
}

/* May what a Send holds wait for a later one? */
static bool send_may_linger(const struct rpcrdma2_conn *conn,
			    const struct rpcrdma2_send *send)
{
	return send->holds &&
	       conn->sendq.lingering + send->holds <= RPCRDMA2_LINGER_PAGES &&
	       time_before_eq(jiffies,
			      conn->sendq.held_at + RPCRDMA2_LINGER_PACE);
}

/* Must this Send be signaled? Those with a done function that cannot wait, one in so
 * many, any when somebody waits for room, room is short or the last slot is taken, so
 * that nobody has to wait for what is at rest, and control messages, of which
 * there are few slots and no steady flow that would retire them. And any of
 * which the device would use the buffer for longer than until a later one
 * completes.
 */
static bool send_wants_signal(struct rpcrdma2_conn *conn,
			      const struct rpcrdma2_send *send)
{
	lockdep_assert_held(&conn->sendq.lock);
	if ((send->done && !send_may_linger(conn, send)) ||
	    rpcrdma2_send_is_control(&conn->sendq, send) ||
	    !list_empty(&conn->sendq.waiters) || list_empty(&conn->sendq.free))
		return true;
	/* Was that the last one that leaves room for every other message? */
	if (conn->sendq.avail < conn->sendq.most + RPCRDMA2_CONTROL_RESERVE)
		return true;
	if (conn->caps.copies_signaled && send->sge.length >= PAGE_SIZE)
		return true;
	return conn->sendq.unsignaled + 1 >= RPCRDMA2_SIGNAL_EVERY;
}

/**
 * rpcrdma2_send_post - post a Send and what is chained in front of it
 * @send: prepared slot
 * @first: first work request of the chain, NULL for the Send alone
 *
 * After success the slot belongs to its completion and must not be touched.
 *
 * A peer that lowers its limit unasked gets nothing longer behind the answer to
 * what it sends next: that is posted under the same lock. A message that was
 * built before is not posted any more, and the connection is given up.
 *
 * Context: process; does not sleep. Requirements: CHG-28.
 * Return: 0, or -ENOTCONN: nothing of the chain completes, the slot was
 * given back without calling send->done, the connection is given up.
 */
int rpcrdma2_send_post(struct rpcrdma2_send *send, struct ib_send_wr *first)
{
	struct rpcrdma2_conn *conn = send->conn;
	u32 len = send->sge.length, nwrs = send->nwrs, cid = send->cid, holds;
	u32 inv = send->wr.opcode == IB_WR_SEND_WITH_INV ?
			send->wr.ex.invalidate_rkey : 0;
	bool signaled;
	int ret;

	rpcrdma2_stat_inc(conn->p.stats, send_posts);
	spin_lock(&conn->sendq.lock);
	signaled = send_wants_signal(conn, send);
	if (send->holds)
		conn->sendq.held_at = jiffies;
	/* Not idle any more: the next quiet look begins again */
	if (unlikely(conn->sendq.trimming) && !rpcrdma2_send_is_control(&conn->sendq, send))
		conn->sendq.trimming = false;
	if (signaled) {
		send->wr.send_flags = IB_SEND_SIGNALED;
		send->holds = 0;
	}
	holds = send->holds;
	conn->sendq.lingering += holds;
	list_add_tail(&send->list, &conn->sendq.posted);
	send->posted = true;
	if (send->on_wire) {
		/* What find_req() leads to is posted behind this */
		smp_store_release(send->on_wire, true);
	}
	ret = -ENOTCONN;
	if (likely(len <= rpcrdma2_msg_size_send(&conn->limits) ||
		   rpcrdma2_send_is_control(&conn->sendq, send)))
		ret = sq_post(conn, first ?: &send->wr);
	if (likely(ret >= 0)) {
		conn->sendq.unsignaled = signaled ? 0 : conn->sendq.unsignaled + 1;
		spin_unlock(&conn->sendq.lock);
		trace_rpcrdma2_post_send(conn, cid, len, nwrs, inv, signaled,
					 ret);
		if (holds)
			settle_later(conn);
		if (unlikely(ret))
			rpcrdma2_conn_kill(conn, -ENOTCONN);
		return 0;
	}
	list_del_init(&send->list);
	send->posted = false;
	conn->sendq.lingering -= holds;
	spin_unlock(&conn->sendq.lock);
	trace_rpcrdma2_post_send(conn, cid, len, nwrs, inv, signaled, ret);
	rpcrdma2_conn_kill(conn, -ENOTCONN);
	rpcrdma2_send_put(send);
	return -ENOTCONN;
}

/**
 * rpcrdma2_sendq_get - take send queue entries without a slot
 * @conn: connection
 * @nwrs: entries
 * @w: as for rpcrdma2_send_get()
 *
 * Context: process; does not sleep.
 * Return: true if the entries are taken.
 */
bool rpcrdma2_sendq_get(struct rpcrdma2_conn *conn, u32 nwrs,
			struct rpcrdma2_sendq_waiter *w)
{
	bool closed, taken = false;

	if (w)
		w->nwrs = nwrs;
	spin_lock(&conn->sendq.lock);
	closed = conn->sendq.closed;
	if (!closed) {
		if (list_empty(&conn->sendq.waiters) &&
		    sq_has_room(conn, nwrs, false)) {
			conn->sendq.avail -= nwrs;
			taken = true;
		} else if (w) {
			sq_wait(conn, w, nwrs, false);
		}
	}
	spin_unlock(&conn->sendq.lock);
	if (closed && w)
		w->ready(w, NULL, -ENOTCONN);
	return taken;
}

/**
 * rpcrdma2_sendq_put - give back entries taken by rpcrdma2_sendq_get()
 * @conn: connection
 * @nwrs: entries
 *
 * Context: process; does not sleep.
 */
void rpcrdma2_sendq_put(struct rpcrdma2_conn *conn, u32 nwrs)
{
	spin_lock(&conn->sendq.lock);
	conn->sendq.avail += nwrs;
	spin_unlock(&conn->sendq.lock);
	sq_run_waiters(conn);
}

/**
 * rpcrdma2_sendq_post - post a chain without a Send
 * @conn: connection
 * @w: whom to tell -ENOTCONN if the chain has not completed when the
 *	connection ends; the one that rpcrdma2_sendq_get() was called with. NULL
 *	if nothing depends on the completion
 * @first: the chain; its last work request must be signaled
 *
 * Context: process; does not sleep.
 * Return: 0, or -ENOTCONN: nothing of the chain completes, the entries stay
 * with the caller, the connection is given up.
 */
int rpcrdma2_sendq_post(struct rpcrdma2_conn *conn, struct rpcrdma2_sendq_waiter *w,
			struct ib_send_wr *first)
{
	u32 cid = 0, nwrs = 1;
	int ret;

	rpcrdma2_stat_inc(conn->p.stats, send_posts);
	spin_lock(&conn->sendq.lock);
	if (w) {
		w->cid = rpcrdma2_conn_cid(conn);
		cid = w->cid;
		nwrs = w->nwrs;
		list_add_tail(&w->list, &conn->sendq.chains);
	}
	ret = sq_post(conn, first);
	if (ret < 0 && w)
		list_del_init(&w->list);
	spin_unlock(&conn->sendq.lock);
	trace_rpcrdma2_post_chain(conn, cid, nwrs, ret);
	if (likely(!ret))
		return 0;
	rpcrdma2_conn_kill(conn, -ENOTCONN);
	return min(ret, 0);
}

/**
 * rpcrdma2_sendq_done - the last work request of a chain completed
 * @conn: connection
 * @w: the chain was posted with it; may be used again on return
 * @wc: the completion
 *
 * Gives back the entries of the chain.
 *
 * Context: completion handler, before anything that belongs to the chain is
 * looked at; does not sleep.
 * Return: false if the chain was over before, so that its owner may be using
 * its memory for something else. Such a completion is to be ignored.
 */
bool rpcrdma2_sendq_done(struct rpcrdma2_conn *conn, struct rpcrdma2_sendq_waiter *w,
			 const struct ib_wc *wc)
{
	bool posted;

	spin_lock(&conn->sendq.lock);
	posted = !list_empty(&w->list);
	if (posted) {
		trace_rpcrdma2_wc_chain(conn, w->cid, wc);
		list_del_init(&w->list);
		conn->sendq.avail += w->nwrs;
	}
	spin_unlock(&conn->sendq.lock);
	if (unlikely(!posted)) {
		rpcrdma2_stat_inc(conn->p.stats, stray_completions);
		return false;
	}
	sq_run_waiters(conn);
	return true;
}
