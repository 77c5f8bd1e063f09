// SPDX-License-Identifier: GPL-2.0
/*
 * The send queue of one connection: the account of its entries, posting, completion, and
 * the FIFO of users that wait for entries or for a send slot (send_buf.c).
 *
 * A slot's buffer is mapped once and holds header and data of one message,
 * so a Send never touches the caller's pages and most Sends need no
 * completion. Sends complete in order: one signaled Send retires all posted
 * before it. At rest fewer than RPCRDMA2_SIGNAL_EVERY Sends are unretired, and the
 * longest chain still fits, so every waiter gets its turn. Pages that RDMA Writes read
 * from are held until the Send behind them, or a later one, has completed. Their number
 * and time have limits, after which a zero-length Write replaces the later Send.
 *
 * Posted work is on a list until it completes. Work that remains there at the end of the
 * connection was lost by the device, and a completion of work that is not there is
 * stray: see rpcrdma2_conn_close().
 *
 * sendq.lock protects everything and orders posting; it is a leaf. Process
 * context only.
 */
#include "conn/buf.h"
#include "conn/conn.h"
#include "conn/inject.h"
#include <trace/events/rpcrdma2.h>

/* Upper bound on pages held by unsignaled Sends. If no later Send completes, a
 * zero-length Write releases them after one or two periods. They are held only if the
 * last Send with pages was posted recently, so that another one can be expected: a check
 * and a Write for each Send would cost more than the completion of the Send.
 */
#define RPCRDMA2_LINGER_PAGES	(SZ_512K >> PAGE_SHIFT)
#define RPCRDMA2_LINGER		msecs_to_jiffies(40)
#define RPCRDMA2_LINGER_PACE	msecs_to_jiffies(20)

/* Take a free slot of a list, for a message, and the @nwrs entries of this message. Returns
 * NULL if no slot is free.
 */
static struct rpcrdma2_send *slot_take(struct rpcrdma2_sendq *sendq,
				       struct rpcrdma2_send **slots, u32 nwrs)
{
	struct rpcrdma2_send *send = *slots;

	if (!send)
		return NULL;
	/* Most slots were last used by another CPU. A load first would ask for the cache line
	 * twice: to read, then to write.
	 */
	send->nwrs = nwrs;
	send->on_wire = NULL;
	send->done = NULL;
	send->holds = 0;
	*slots = send->next;
	sendq->avail -= nwrs;
	return send;
}

/* Take @nwrs entries, and a slot unless @send is NULL. Returns false if not all is free: some
 * entries are left for control messages. Another buffer is added when the last one is
 * taken. Inlined, since each caller knows whether @send is NULL.
 */
static __always_inline bool sq_take(struct rpcrdma2_conn *conn, u32 nwrs,
				    struct rpcrdma2_send **send)
{
	struct rpcrdma2_sendq *sendq = &conn->sendq;

	lockdep_assert_held(&sendq->lock);
	if (sendq->avail < nwrs + RPCRDMA2_CONTROL_RESERVE)
		return false;
	if (!send) {
		sendq->avail -= nwrs;
		return true;
	}
	*send = slot_take(sendq, &sendq->free, nwrs);
	if (unlikely(!sendq->free) && sendq->bare &&
	    rpcrdma2_send_buf_add(conn, RPCRDMA2_GFP_NOWAIT) && !*send)
		*send = slot_take(sendq, &sendq->free, nwrs);
	return *send;
}

/* Serve the FIFO as far as resources are free. Never called with sendq.lock held. */
static void sq_run_waiters(struct rpcrdma2_conn *conn)
{
	struct rpcrdma2_sendq *sendq = &conn->sendq;
	struct rpcrdma2_sendq_waiter *w;
	struct rpcrdma2_send *send;

	for (;;) {
		send = NULL;
		spin_lock(&sendq->lock);
		w = list_first_entry_or_null(&sendq->waiters,
					     struct rpcrdma2_sendq_waiter, list);
		/* At the end rpcrdma2_sends_abort() calls all of them, one after the
		 * other. Posting fails by then, and a waiter that gives back its
		 * resources would run the next.
		 */
		if (!w || sendq->closed || rpcrdma2_conn_over(conn) ||
		    !sq_take(conn, w->nwrs, w->slot ? &send : NULL))
			break;
		list_del_init(&w->list);
		spin_unlock(&sendq->lock);
		w->ready(w, send, 0);
	}
	spin_unlock(&sendq->lock);
}

/* Make slots free that were in use; those for control messages have a list of their own. */
static void slots_put(struct rpcrdma2_conn *conn, struct rpcrdma2_send *slots)
{
	struct rpcrdma2_sendq *sendq = &conn->sendq;
	struct rpcrdma2_send *next;

	spin_lock(&sendq->lock);
	for (; slots; slots = next) {
		next = slots->next;
		sendq->avail += slots->nwrs;
		rpcrdma2_send_push(slots, rpcrdma2_send_is_control(sendq, slots) ?
					  &sendq->free_control : &sendq->free);
	}
	spin_unlock(&sendq->lock);
	sq_run_waiters(conn);
}

/* Take the posted Sends up to @last, or all if that is NULL. */
static struct rpcrdma2_send *posted_cut(struct rpcrdma2_sendq *sendq,
					struct rpcrdma2_send *last)
{
	struct rpcrdma2_send *pos, *first = sendq->posted;

	lockdep_assert_held(&sendq->lock);
	sendq->posted = last ? last->next : NULL;
	if (!sendq->posted)
		sendq->posted_end = &sendq->posted;
	if (last)
		last->next = NULL;
	for (pos = first; pos; pos = pos->next) {
		pos->posted = false;
		if (pos->holds)
			sendq->lingering -= pos->holds;
	}
	return first;
}

/* Retire a Send that has completed and all Sends that were posted before. */
static void send_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct rpcrdma2_send *pos, *send =
		container_of(wc->wr_cqe, struct rpcrdma2_send, cqe);
	struct rpcrdma2_conn *conn = cq->cq_context;
	struct rpcrdma2_send *retired = NULL;
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
		retired = posted_cut(&conn->sendq, send);
	spin_unlock(&conn->sendq.lock);
	if (!retired) {
		rpcrdma2_stat_inc(conn->p.stats, stray_completions);
		return;
	}
	for (pos = retired; pos; pos = pos->next)
		if (pos->done)
			pos->done(pos, status);
	slots_put(conn, retired);
}

/* Returns 0; -ENOTCONN: nothing was posted; or 1: only a part of the chain was posted.
 * That counts as posted, on a connection that is to be given up: the device may use the
 * memory of that part until the queue is drained.
 */
static __always_inline int sq_post(struct rpcrdma2_conn *conn,
				   const struct ib_send_wr *first)
{
	bool fail = rpcrdma2_inject(RPCRDMA2_FAULT_POST);
	const struct ib_send_wr *bad = NULL;
	int ret;

	lockdep_assert_held(&conn->sendq.lock);
	if (conn->sendq.closed || (fail && !rpcrdma2_pretend(late)))
		return -ENOTCONN;
	ret = ib_post_send(conn->qp, first, &bad);
	if (likely(!ret) && !fail)
		return 0;
	return bad == first ? -ENOTCONN : 1;
}

static void settle_later(struct rpcrdma2_conn *conn)
{
	rpcrdma2_timer_set(conn, RPCRDMA2_TIMER_SETTLE, RPCRDMA2_LINGER);
}

static void flush_done(struct rpcrdma2_send *send, int status)
{
	guard(spinlock)(&send->conn->sendq.lock);
	send->conn->sendq.flushing = false;
}

/* Retire all posted Sends: post a signaled zero-length RDMA Write behind them in a slot for
 * control messages. The Write needs neither a handle nor a credit.
 */
static void sends_flush(struct rpcrdma2_conn *conn)
{
	struct rpcrdma2_send *send = rpcrdma2_send_get_control(conn);
	struct ib_rdma_wr wr = {
		.wr.opcode	= IB_WR_RDMA_WRITE,
		.wr.send_flags	= IB_SEND_SIGNALED,
	};

	if (!send)
		return;
	conn->sendq.retire = false;
	WRITE_ONCE(conn->sendq.flushing, true);
	wr.wr.wr_cqe = &send->cqe;
	send->done = flush_done;
	rpcrdma2_send_post(send, 0, 0, &wr.wr);
}

/**
 * rpcrdma2_sends_settle - retire the last Sends that hold pages, or buffers when idle
 * @conn: the connection
 *
 * Context: timer of the connection; does not sleep.
 */
void rpcrdma2_sends_settle(struct rpcrdma2_conn *conn)
{
	struct rpcrdma2_sendq *sendq = &conn->sendq;
	bool due;

	scoped_guard(spinlock, &sendq->lock) {
		/* A Write that is posted already does not retire the Sends behind it */
		sendq->retire = sendq->retire && sendq->unsignaled;
		if ((!sendq->lingering && !sendq->retire) || sendq->closed)
			return;
		due = sendq->unsignaled && !sendq->flushing &&
		      (sendq->retire ||
		       time_after_eq(jiffies, sendq->held_at + RPCRDMA2_LINGER));
	}
	if (due)
		sends_flush(conn);
	settle_later(conn);
}

/**
 * rpcrdma2_sends_setup - prepare a new connection
 * @conn: the connection
 *
 * Context: any.
 */
void rpcrdma2_sends_setup(struct rpcrdma2_conn *conn)
{
	struct rpcrdma2_sendq *sendq = &conn->sendq;

	spin_lock_init(&sendq->lock);
	sendq->posted_end = &sendq->posted;
	INIT_LIST_HEAD(&sendq->chains);
	INIT_LIST_HEAD(&sendq->waiters);
	sendq->done = send_done;
}

/**
 * rpcrdma2_sends_trim - free surplus buffers of an idle connection
 * @conn: connection in state READY
 *
 * Buffers of Sends that are not retired are freed at the next check. If no other is left,
 * and there is no memory, the next message waits until these Sends are retired. The timer
 * retires any a little later, apart from a probe that the same check may have posted.
 *
 * Context: process; does not sleep.
 */
void rpcrdma2_sends_trim(struct rpcrdma2_conn *conn)
{
	scoped_guard(spinlock, &conn->sendq.lock) {
		rpcrdma2_send_buf_trim(conn);
		conn->sendq.quiet = RPCRDMA2_QUIET_SENDS;
		conn->sendq.retire = conn->sendq.unsignaled;
	}
	settle_later(conn);
}

/**
 * rpcrdma2_sends_stop - close the send queue
 * @conn: connection about to be drained
 *
 * Context: process; does not sleep.
 */
void rpcrdma2_sends_stop(struct rpcrdma2_conn *conn)
{
	guard(spinlock)(&conn->sendq.lock);
	conn->sendq.closed = true;
}

/* End the waits of a list of struct rpcrdma2_sendq_waiter; returns their number. */
static u32 sq_end_waits(struct rpcrdma2_conn *conn, struct list_head *list)
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
 * rpcrdma2_sends_abort - end all waits, and work that never completed
 * @conn: connection whose send queue is stopped and drained, QP in the error
 *	state
 *
 * Sends without a done function need no completion, and some of them usually have none.
 *
 * Context: may sleep. The CQ still exists.
 */
void rpcrdma2_sends_abort(struct rpcrdma2_conn *conn)
{
	struct rpcrdma2_send *send;
	u32 lost;

	sq_end_waits(conn, &conn->sendq.waiters);
	lost = sq_end_waits(conn, &conn->sendq.chains);

	scoped_guard(spinlock, &conn->sendq.lock)
		send = posted_cut(&conn->sendq, NULL);
	for (; send; send = send->next) {
		if (!send->done)
			continue;
		send->done(send, -ENOTCONN);
		lost++;
	}
	if (lost)
		rpcrdma2_stat_add(conn->p.stats, lost_completions, lost);
}

/**
 * rpcrdma2_sendq_get - take send queue entries, or wait if not all is free
 * @conn: connection
 * @nwrs: entries; for a message the Send included
 * @w: waits
 * @send: NULL, or gets a send slot for an RPC message
 *
 * A result of false means that @w->ready() is called exactly once: later with the
 * resources, or with -ENOTCONN, possibly before this function returns.
 *
 * Context: process; does not sleep. Takes sendq.lock.
 * Return: true if all is taken.
 */
bool rpcrdma2_sendq_get(struct rpcrdma2_conn *conn, u32 nwrs,
			struct rpcrdma2_sendq_waiter *w, struct rpcrdma2_send **send)
{
	struct rpcrdma2_sendq *sendq = &conn->sendq;
	bool closed, taken;

	w->nwrs = nwrs;
	w->slot = send;
	spin_lock(&sendq->lock);
	closed = sendq->closed;
	taken = !closed && list_empty(&sendq->waiters) && sq_take(conn, nwrs, send);
	if (!taken && !closed) {
		list_add_tail(&w->list, &sendq->waiters);
		rpcrdma2_stat_inc(conn->p.stats, sq_waits);
	}
	spin_unlock(&sendq->lock);
	if (closed)
		w->ready(w, NULL, -ENOTCONN);
	return taken;
}

/**
 * rpcrdma2_send_get - take a send slot and send queue entries for an RPC message
 * @conn: connection
 * @nwrs: entries, the Send included
 *
 * Context: process; does not sleep. Takes sendq.lock.
 * Return: a slot; NULL if not all is free or others wait.
 */
struct rpcrdma2_send *rpcrdma2_send_get(struct rpcrdma2_conn *conn, u32 nwrs)
{
	struct rpcrdma2_sendq *sendq = &conn->sendq;
	struct rpcrdma2_send *send = NULL;

	spin_lock(&sendq->lock);
	if (likely(!sendq->closed && list_empty(&sendq->waiters)))
		sq_take(conn, nwrs, &send);
	spin_unlock(&sendq->lock);
	return send;
}

/**
 * rpcrdma2_send_get_control - take a send slot and an entry for a control message
 * @conn: connection
 *
 * Control messages overtake RPC messages that wait.
 *
 * Context: process; does not sleep. Takes sendq.lock.
 * Return: a slot or NULL.
 */
struct rpcrdma2_send *rpcrdma2_send_get_control(struct rpcrdma2_conn *conn)
{
	struct rpcrdma2_sendq *sendq = &conn->sendq;

	guard(spinlock)(&sendq->lock);
	if (sendq->closed || !sendq->avail)
		return NULL;
	return slot_take(sendq, &sendq->free_control, 1);
}

/**
 * rpcrdma2_send_put - give back a slot that was not posted
 * @send: the slot
 *
 * Context: process; does not sleep.
 */
void rpcrdma2_send_put(struct rpcrdma2_send *send)
{
	send->next = NULL;
	slots_put(send->conn, send);
}

/* Fill in what differs from Send to Send. */
static void send_prepare(struct rpcrdma2_send *send, u32 len, u32 inv_handle)
{
	struct ib_send_wr *wr = &send->wr;

	/* A store first, see slot_take() */
	send->sge.length = len;
	ib_dma_sync_single_for_device(send->conn->cm_id->device,
				      send->sge.addr, len, DMA_TO_DEVICE);
	wr->next = NULL;
	wr->send_flags = 0;
	wr->opcode = inv_handle ? IB_WR_SEND_WITH_INV : IB_WR_SEND;
	wr->ex.invalidate_rkey = inv_handle;
}

/* The pages of a Send may wait for the completion of a later one. */
static bool send_may_linger(const struct rpcrdma2_conn *conn,
			    const struct rpcrdma2_send *send)
{
	return send->holds &&
	       conn->sendq.lingering + send->holds <= RPCRDMA2_LINGER_PAGES &&
	       time_before_eq(jiffies,
			      conn->sendq.held_at + RPCRDMA2_LINGER_PACE);
}

/* These Sends are signaled: those after a quiet time, whose buffers are few; those with a
 * done function that cannot wait; one in RPCRDMA2_SIGNAL_EVERY; every Send while a user
 * waits, entries are short or the last slot is taken, so that nothing waits for Sends at
 * rest; control messages, which have few slots and no steady flow that would retire them;
 * and Sends whose buffer the device uses for longer than until a later one completes.
 */
static bool send_wants_signal(const struct rpcrdma2_conn *conn,
			      const struct rpcrdma2_send *send, bool control)
{
	const struct rpcrdma2_sendq *sendq = &conn->sendq;

	lockdep_assert_held(&sendq->lock);
	if (control || sendq->quiet || (send->done && !send_may_linger(conn, send)) ||
	    !list_empty(&sendq->waiters) || !sendq->free)
		return true;
	/* Another Send could leave too few entries for the longest chain */
	if (sendq->avail < sendq->most + RPCRDMA2_CONTROL_RESERVE)
		return true;
	if (conn->caps.copies_signaled && send->sge.length >= PAGE_SIZE)
		return true;
	return sendq->unsignaled + 1 >= RPCRDMA2_SIGNAL_EVERY;
}

/**
 * rpcrdma2_send_post - post a Send and the work requests chained in front of it
 * @send: the slot, message in send->buf
 * @len: bytes of the message, at most send->size
 * @inv_handle: handle to be invalidated at the receiver, 0 for a plain Send
 * @first: first work request of the chain, which ends with send->wr, or with a signaled
 *	work request that stands for the Send; NULL for the Send alone
 *
 * After success the slot belongs to its completion and must not be touched.
 *
 * A peer that lowers its limit without a request gets nothing longer after the answer to
 * its next message, which is posted under the same lock. A longer message that was built
 * before is not posted, and the connection is given up.
 *
 * Context: process; does not sleep. Requirements: CHG-28.
 * Return: 0, or -ENOTCONN: nothing of the chain completes, the slot was
 * given back without calling send->done, the connection is given up.
 */
int rpcrdma2_send_post(struct rpcrdma2_send *send, u32 len, u32 inv_handle,
		       struct ib_send_wr *first)
{
	struct rpcrdma2_conn *conn = send->conn;
	struct rpcrdma2_sendq *sendq = &conn->sendq;
	bool control = rpcrdma2_send_is_control(sendq, send);
	struct rpcrdma2_send **before;
	int ret = -ENOTCONN;
	u32 holds;

	/* The limit of messages is never more than fits into a slot */
	if (WARN_ON_ONCE(len > send->size))
		len = send->size;
	send_prepare(send, len, inv_handle);
	rpcrdma2_stat_inc(conn->p.stats, send_posts);
	spin_lock(&sendq->lock);
	holds = send->holds;
	if (send_wants_signal(conn, send, control)) {
		send->wr.send_flags = IB_SEND_SIGNALED;
		send->holds = 0;
	}
	if (unlikely(sendq->quiet) && !control)
		sendq->quiet--;
	before = sendq->posted_end;
	*before = send;
	send->next = NULL;
	send->posted = true;
	if (send->on_wire) {
		/* Work that a Reply causes (find_req()) is posted behind this */
		smp_store_release(send->on_wire, true);
	}
	if (likely(len <= rpcrdma2_msg_size_send(&conn->limits) || control))
		ret = sq_post(conn, first ?: &send->wr);
	if (likely(ret >= 0)) {
		sendq->posted_end = &send->next;
		sendq->unsignaled = send->wr.send_flags ? 0 : sendq->unsignaled + 1;
		if (unlikely(holds)) {
			sendq->held_at = jiffies;
			holds = send->holds;
			sendq->lingering += holds;
		}
	} else {
		*before = NULL;
		send->posted = false;
	}
	trace_rpcrdma2_post_send(send, ret);
	spin_unlock(&sendq->lock);
	if (unlikely(ret))
		rpcrdma2_conn_kill(conn, -ENOTCONN);
	if (unlikely(ret < 0))
		rpcrdma2_send_put(send);
	else if (unlikely(holds))
		settle_later(conn);
	return min(ret, 0);
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
 * @w: gets -ENOTCONN if the chain has not completed when the connection ends; the same
 *	as passed to rpcrdma2_sendq_get(). NULL if nothing depends on the completion
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
 * rpcrdma2_sendq_done - end a chain whose last work request has completed
 * @conn: connection
 * @w: as passed to rpcrdma2_sendq_post(); may be used again on return
 * @wc: the completion
 *
 * Gives back the entries of the chain.
 *
 * Context: completion handler, before it uses anything of the chain; does not sleep.
 * Return: false if the chain had ended before, so that its owner may use its memory for
 * something else. Such a completion is to be ignored.
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
