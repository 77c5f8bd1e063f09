/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The timer of a connection; see timer.c.
 */
#ifndef _RPCRDMA2_TIMER_H
#define _RPCRDMA2_TIMER_H

#include <linux/spinlock.h>
#include <linux/workqueue.h>

struct rpcrdma2_conn;

/**
 * enum rpcrdma2_timer_job - jobs of a timer
 * @RPCRDMA2_TIMER_KEEPALIVE: check that the peer is alive, see keepalive.c
 * @RPCRDMA2_TIMER_SHRINK: check whether the connection is idle, see shrink.c
 * @RPCRDMA2_TIMER_SETTLE: retire the last Sends, see send_queue.c
 * @RPCRDMA2_TIMER_PROPS: send pending messages about properties, see prop_update.c
 * @RPCRDMA2_NR_TIMER_JOBS: number of jobs
 */
enum rpcrdma2_timer_job {
	RPCRDMA2_TIMER_KEEPALIVE = 0,
	RPCRDMA2_TIMER_SHRINK,
	RPCRDMA2_TIMER_SETTLE,
	RPCRDMA2_TIMER_PROPS,
	RPCRDMA2_NR_TIMER_JOBS,
};

/* Runs a job; must not sleep. */
typedef void (*rpcrdma2_timer_run)(struct rpcrdma2_conn *conn);

/**
 * struct rpcrdma2_timer - the timer of a connection
 * @lock: protects @armed and @due; a leaf
 * @armed: jobs with a deadline, one bit each
 * @due: deadlines, jiffies
 * @run: functions of the jobs
 * @work: runs at the earliest deadline
 */
struct rpcrdma2_timer {
	spinlock_t			lock;		/* see above */
	unsigned long			armed;
	unsigned long			due[RPCRDMA2_NR_TIMER_JOBS];
	const rpcrdma2_timer_run	*run;
	struct delayed_work		work;
};

void rpcrdma2_timer_setup(struct rpcrdma2_conn *conn, const rpcrdma2_timer_run *run);
void rpcrdma2_timer_set(struct rpcrdma2_conn *conn, enum rpcrdma2_timer_job job,
			unsigned long delay);
void rpcrdma2_timer_stop(struct rpcrdma2_conn *conn);

#endif /* _RPCRDMA2_TIMER_H */
