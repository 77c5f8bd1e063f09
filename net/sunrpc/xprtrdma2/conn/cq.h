/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Completion queue of a connection, and the context that polls it; see cq.c.
 *
 * Completion handlers never sleep. A completion handler
 *
 * - takes only spin locks;
 * - allocates only with RPCRDMA2_GFP_NOWAIT, and copes with failure;
 * - leaves all other work to a work item of the connection: rpcrdma2_conn_defer() for
 *   messages and RPCs, the refill work for Receives. This includes rdma_rw, whose work
 *   requests need memory.
 *
 * Each handler begins with guard(rpcrdma2_completion)(), which make lint checks. A kernel
 * with CONFIG_DEBUG_ATOMIC_SLEEP then warns if a handler calls a function that may sleep,
 * even if that function would not have slept this time.
 */
#ifndef _RPCRDMA2_CQ_H
#define _RPCRDMA2_CQ_H

#include <linux/cleanup.h>
#include <linux/kernel.h>
#include <linux/llist.h>
#include <linux/sched.h>
#include <linux/spinlock.h>
#include <linux/timer.h>
#include <linux/workqueue.h>

#include "conn/inject.h"

struct rpcrdma2_conn;

static inline void rpcrdma2_completion_begin(void)
{
	non_block_start();
	if (rpcrdma2_pretend(sleep))
		might_sleep();
}

DEFINE_LOCK_GUARD_0(rpcrdma2_completion, rpcrdma2_completion_begin(),
		    non_block_end())

/**
 * struct rpcrdma2_deferred - work that a completion handler defers
 * @node: link in the connection's list of deferred work
 * @run: does the work; may sleep for memory. This object may be gone on return
 */
struct rpcrdma2_deferred {
	struct llist_node		node;
	void (*run)(struct rpcrdma2_deferred *deferred);
};

/**
 * struct rpcrdma2_poll - which context polls a completion queue
 * @lock: held while the queue is polled
 * @pending: the device has reported completions that were not polled yet
 * @polling: a thread polls, which runs the deferred work afterwards
 * @failed: the QP has reported an asynchronous error
 * @work: polls when no thread does
 * @late: queues @work if completions were left to a thread, and none has polled
 */
struct rpcrdma2_poll {
	spinlock_t			lock;	/* see above */
	bool				pending;
	bool				polling;
	bool				failed;
	struct work_struct		work;
	struct timer_list		late;
};

int rpcrdma2_cq_create(struct rpcrdma2_conn *conn, u32 entries);
void rpcrdma2_cq_poll(struct rpcrdma2_conn *conn);
void rpcrdma2_cq_poll_soon(struct rpcrdma2_conn *conn);
void rpcrdma2_cq_destroy(struct rpcrdma2_conn *conn);

#endif /* _RPCRDMA2_CQ_H */
