// SPDX-License-Identifier: GPL-2.0
/*
 * Completion queue of a connection, one for both queues of the QP.
 *
 * A wake-up costs more than all work of a completion handler, so the thread that
 * continues an RPC polls if possible.
 *
 * A work item polls a client's queue. Its workqueue is of the kind of rpciod, so the thread
 * that has polled goes on with the asynchronous RPCs that it has completed. A workqueue of
 * ib_core (IB_POLL_WORKQUEUE) is of another kind, and would need one thread more.
 *
 * The service threads that execute Calls poll a server's queue. The device's event wakes
 * an idle thread (ops->completions()), which polls the queue in xpo_recvfrom and executes
 * the Call that it finds there. A work item polls if no thread is idle, if none has polled
 * within RPCRDMA2_POLL_LATE, and once the connection is over: messages other than Calls,
 * RDMA Reads, and the end of the connection must not wait for threads that all wait for a
 * disk.
 *
 * Handlers of one connection run one at a time, with poll.lock held.
 *
 * Contexts: the device may report an event in hard interrupt context.
 */
#include "compat.h"
#include "conn/conn.h"
#include "conn/cq.h"
#include "conn/inject.h"
#include "conn/workqueue.h"

/* Time for a thread to begin polling, which it does unless another connection keeps it busy. Calls
 * need a thread anyway, so only other messages wait for this. Each connection in use has a timer
 * of this length. An event, or a thread that leaves completions behind, starts the timer if it
 * does not run.
 */
#define RPCRDMA2_POLL_LATE	(HZ / 10)

/* Completions handled without a pause, with preemption off. A handler may unmap a megabyte
 * from bounce buffers.
 */
#define RPCRDMA2_POLL_BUDGET	16

/**
 * rpcrdma2_cq_poll_soon - let the work item poll
 * @conn: connection whose completion queue was created
 *
 * Context: any; does not sleep.
 */
void rpcrdma2_cq_poll_soon(struct rpcrdma2_conn *conn)
{
	queue_work(rpcrdma2_poll_wq, &conn->poll.work);
}

/* Leave pending completions to a thread, and to the work item if none has polled within
 * RPCRDMA2_POLL_LATE.
 */
static void cq_watch(struct rpcrdma2_poll *poll)
{
	if (!timer_pending(&poll->late))
		mod_timer(&poll->late, jiffies + RPCRDMA2_POLL_LATE);
}

static void cq_event(struct ib_cq *cq, void *context)
{
	struct rpcrdma2_conn *conn = context;
	struct rpcrdma2_poll *poll = &conn->poll;

	WRITE_ONCE(poll->pending, true);
	/* Pairs with the barriers in svc_next_call() and cq_late() */
	smp_mb();
	if (rpcrdma2_conn_over(conn) || !conn->p.ops->completions ||
	    !conn->p.ops->completions(conn))
		rpcrdma2_cq_poll_soon(conn);
	else
		cq_watch(poll);
}

/* Let the work item poll if no thread has polled since the last event. */
static void cq_late(struct timer_list *timer)
{
	struct rpcrdma2_conn *conn = container_of(timer, struct rpcrdma2_conn, poll.late);

	/* Pairs with the barriers in cq_event() and cq_poll_by(), which find that the timer has
	 * expired unless this finds their completions
	 */
	smp_mb();
	if (READ_ONCE(conn->poll.pending))
		rpcrdma2_cq_poll_soon(conn);
}

/* For a test: a thread polls until cq_late() has run, and has found nothing. */
static bool cq_pretend_full(struct rpcrdma2_poll *poll)
{
	if (!poll->polling || !rpcrdma2_pretend(full))
		return false;
	while (timer_pending(&poll->late))
		cpu_relax();
	return true;
}

/* Returns true if more completions may be there. */
static bool cq_poll(struct rpcrdma2_conn *conn)
{
	struct ib_cq *cq = conn->cq;
	int done = 0;

	lockdep_assert_held(&conn->poll.lock);
	do {
		done += ib_process_cq_direct(cq, RPCRDMA2_POLL_BUDGET - done);
		if (done >= RPCRDMA2_POLL_BUDGET || cq_pretend_full(&conn->poll))
			return true;
	} while (ib_req_notify_cq(cq, IB_CQ_NEXT_COMP |
				  IB_CQ_REPORT_MISSED_EVENTS) > 0);
	return false;
}

/* Poll. A @thread runs the deferred work of the handlers afterwards. A work item must not,
 * because deferred work may wait for memory that depends on other completions.
 */
static void cq_poll_by(struct rpcrdma2_conn *conn, bool thread)
{
	struct rpcrdma2_poll *poll = &conn->poll;

	spin_lock(&poll->lock);
	WRITE_ONCE(poll->pending, false);
	if (conn->cq) {
		WRITE_ONCE(poll->polling, thread);
		if (cq_poll(conn)) {
			WRITE_ONCE(poll->pending, true);
			/* Pairs with the barrier in cq_late(): no event comes for the rest, and
			 * this thread may now sleep, or execute a Call
			 */
			smp_mb();
			if (thread)
				cq_watch(poll);
		}
		WRITE_ONCE(poll->polling, false);
	}
	spin_unlock(&poll->lock);
}

/**
 * rpcrdma2_cq_poll - handle completions, and run the work that they defer
 * @conn: connection of a server
 *
 * Context: a service thread; may sleep for memory.
 */
void rpcrdma2_cq_poll(struct rpcrdma2_conn *conn)
{
	cq_poll_by(conn, true);
	/* Pairs with llist_add() in rpcrdma2_conn_defer() */
	smp_mb();
	if (!llist_empty(&conn->deferred))
		rpcrdma2_conn_run_deferred(conn);
}

static void cq_poll_worker(struct work_struct *work)
{
	struct rpcrdma2_conn *conn = container_of(work, struct rpcrdma2_conn, poll.work);

	if (READ_ONCE(conn->poll.failed))
		rpcrdma2_conn_kill(conn, -ENOTCONN);
	cq_poll_by(conn, false);
	if (rpcrdma2_cq_pending(conn))
		rpcrdma2_cq_poll_soon(conn);
}

/**
 * rpcrdma2_cq_create - create the completion queue
 * @conn: connection with a device
 * @entries: completions that it holds
 *
 * The device reports completions from here on.
 *
 * Context: process; sleeps.
 * Return: 0 or a negative errno
 */
int rpcrdma2_cq_create(struct rpcrdma2_conn *conn, u32 entries)
{
	struct ib_device *device = conn->cm_id->device;
	struct ib_cq_init_attr attr = {
		.cqe		= entries,
		.comp_vector	= conn->id % max(device->num_comp_vectors, 1),
	};
	struct ib_cq *cq;

	spin_lock_init(&conn->poll.lock);
	INIT_WORK(&conn->poll.work, cq_poll_worker);
	timer_setup(&conn->poll.late, cq_late, 0);
	cq = rpcrdma2_inject_refuse(RPCRDMA2_REFUSE_CQ) ?:
	     ib_create_cq(device, cq_event, NULL, conn, &attr);
	if (IS_ERR(cq))
		return PTR_ERR(cq);
	ib_req_notify_cq(cq, IB_CQ_NEXT_COMP);
	conn->cq = cq;
	conn->cq_id = cq->res.id;
	return 0;
}

/**
 * rpcrdma2_cq_destroy - reverse of rpcrdma2_cq_create()
 * @conn: connection without a queue pair
 *
 * No handler runs afterwards.
 *
 * Context: process; sleeps.
 */
void rpcrdma2_cq_destroy(struct rpcrdma2_conn *conn)
{
	struct ib_cq *cq = conn->cq;

	if (!cq)
		return;
	scoped_guard(spinlock, &conn->poll.lock)
		conn->cq = NULL;
	ib_destroy_cq(cq);
	timer_delete_sync(&conn->poll.late);
	cancel_work_sync(&conn->poll.work);
}
