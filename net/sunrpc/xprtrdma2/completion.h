/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What completion handlers leave to others: see rpcrdma2_conn_leave().
 */
#ifndef _RPCRDMA2_COMPLETION_H
#define _RPCRDMA2_COMPLETION_H

#include <linux/llist.h>

/**
 * struct rpcrdma2_chore - what a completion handler leaves to a work item
 * @node: link in the connection's list of chores
 * @run: does it; may sleep for memory. The chore may be gone on return
 */
struct rpcrdma2_chore {
	struct llist_node		node;
	void (*run)(struct rpcrdma2_chore *chore);
};

#endif /* _RPCRDMA2_COMPLETION_H */
