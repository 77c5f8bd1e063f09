/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Completion queue of a connection, and the context that polls it; see cq.c.
 */
#ifndef _RPCRDMA2_CQ_H
#define _RPCRDMA2_CQ_H

#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/workqueue.h>

struct rpcrdma2_conn;

/**
 * struct rpcrdma2_poll - which context polls a completion queue
 * @lock: held while the queue is polled
 * @pending: the device has reported completions that were not polled yet
 * @polling: a thread polls, which runs the deferred work afterwards
 * @work: polls when no thread does
 */
struct rpcrdma2_poll {
	spinlock_t			lock;	/* see above */
	bool				pending;
	bool				polling;
	struct delayed_work		work;
};

int rpcrdma2_cq_create(struct rpcrdma2_conn *conn, u32 entries);
void rpcrdma2_cq_poll(struct rpcrdma2_conn *conn);
bool rpcrdma2_cq_pending(const struct rpcrdma2_conn *conn);
void rpcrdma2_cq_kick(struct rpcrdma2_conn *conn);
void rpcrdma2_cq_destroy(struct rpcrdma2_conn *conn);

#endif /* _RPCRDMA2_CQ_H */
