/* SPDX-License-Identifier: GPL-2.0 */
/*
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
#ifndef _RPCRDMA2_COMPLETION_H
#define _RPCRDMA2_COMPLETION_H

#include <linux/cleanup.h>
#include <linux/kernel.h>
#include <linux/llist.h>
#include <linux/sched.h>

#include "conn/inject.h"

static inline void rpcrdma2_completion_begin(void)
{
	non_block_start();
	if (rpcrdma2_inject(RPCRDMA2_FAULT_SLEEP))
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

#endif /* _RPCRDMA2_COMPLETION_H */
