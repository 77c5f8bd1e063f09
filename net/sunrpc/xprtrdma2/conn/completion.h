/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Completions never sleep. A completion handler
 *
 * - takes spin locks and no others;
 * - allocates with RPCRDMA2_GFP_NOWAIT only, and can do without;
 * - leaves everything else to a work item of the connection: rpcrdma2_conn_defer()
 *   for what concerns a message or an RPC, the refill work for Receives. rdma_rw is
 *   among what is left: making its work requests takes memory.
 *
 * Each handler begins with guard(rpcrdma2_completion)(), which make lint looks for.
 * A kernel with CONFIG_DEBUG_ATOMIC_SLEEP then says so if one calls what may sleep,
 * also if nothing would have slept this time.
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
 * struct rpcrdma2_deferred - what a completion handler leaves to a work item
 * @node: link in the connection's list of deferred work
 * @run: does it; may sleep for memory. The deferred work may be gone on return
 */
struct rpcrdma2_deferred {
	struct llist_node		node;
	void (*run)(struct rpcrdma2_deferred *deferred);
};

#endif /* _RPCRDMA2_COMPLETION_H */
