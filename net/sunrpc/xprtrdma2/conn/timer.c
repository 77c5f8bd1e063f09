// SPDX-License-Identifier: GPL-2.0
/*
 * The timer of a connection: one delayed work for all jobs that are due at some time,
 * each with a deadline of its own. The table of jobs is in cm.c.
 *
 * The work item is on rpcrdma2_wq, so no job may sleep. The refill of Receives waits for
 * memory (recv_queue.c), and completions must not wait for the jobs (cq.c); these two have
 * work items of their own.
 *
 * timer.lock protects the deadlines; it is a leaf, taken in process context only.
 */
#include <linux/jiffies.h>

#include "conn/conn.h"
#include "conn/workqueue.h"

/* Let the work item run at the earliest deadline. */
static void timer_arm(struct rpcrdma2_timer *t)
{
	unsigned long job;
	long delay = LONG_MAX;

	lockdep_assert_held(&t->lock);
	for_each_set_bit(job, &t->armed, RPCRDMA2_NR_TIMER_JOBS)
		delay = min(delay, (long)(t->due[job] - jiffies));
	if (t->armed)
		mod_delayed_work(rpcrdma2_wq, &t->work, max(delay, 0L));
}

static void timer_worker(struct work_struct *work)
{
	struct rpcrdma2_conn *conn = container_of(work, struct rpcrdma2_conn,
						  timer.work.work);
	struct rpcrdma2_timer *t = &conn->timer;
	unsigned long job, due = 0;

	spin_lock(&t->lock);
	for_each_set_bit(job, &t->armed, RPCRDMA2_NR_TIMER_JOBS)
		if (time_after_eq(jiffies, t->due[job]))
			due |= BIT(job);
	t->armed &= ~due;
	timer_arm(t);
	spin_unlock(&t->lock);
	for_each_set_bit(job, &due, RPCRDMA2_NR_TIMER_JOBS)
		if (!rpcrdma2_conn_over(conn))
			t->run[job](conn);
}

/**
 * rpcrdma2_timer_setup - prepare a new connection
 * @conn: the connection
 * @run: functions by enum rpcrdma2_timer_job
 *
 * Context: any.
 */
void rpcrdma2_timer_setup(struct rpcrdma2_conn *conn, const rpcrdma2_timer_run *run)
{
	spin_lock_init(&conn->timer.lock);
	conn->timer.run = run;
	INIT_DELAYED_WORK(&conn->timer.work, timer_worker);
}

/**
 * rpcrdma2_timer_set - set the deadline of a job
 * @conn: the connection; nothing happens once it is over
 * @job: the job, which runs once
 * @delay: jiffies from now; an earlier deadline remains
 *
 * Context: process; does not sleep. Takes timer.lock.
 */
void rpcrdma2_timer_set(struct rpcrdma2_conn *conn, enum rpcrdma2_timer_job job,
			unsigned long delay)
{
	struct rpcrdma2_timer *t = &conn->timer;
	unsigned long due = jiffies + delay;

	guard(spinlock)(&t->lock);
	if (rpcrdma2_conn_over(conn) ||
	    (t->armed & BIT(job) && !time_before(due, t->due[job])))
		return;
	t->armed |= BIT(job);
	t->due[job] = due;
	timer_arm(t);
}

/**
 * rpcrdma2_timer_stop - wait until no job runs, now or later
 * @conn: connection in state CLOSING
 *
 * Context: sleeps.
 */
void rpcrdma2_timer_stop(struct rpcrdma2_conn *conn)
{
	/* rpcrdma2_timer_set() has either armed the timer or will see the state. */
	spin_lock(&conn->timer.lock);
	spin_unlock(&conn->timer.lock);
	cancel_delayed_work_sync(&conn->timer.work);
}
