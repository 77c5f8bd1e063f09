/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Receives; see recv_queue.c. No other file looks into struct rpcrdma2_recvq.
 */
#ifndef _RPCRDMA2_RECV_QUEUE_H
#define _RPCRDMA2_RECV_QUEUE_H

#include <linux/list.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>
#include <rdma/ib_verbs.h>

#include "conn/recv_pool.h"

struct rpcrdma2_conn;

#define RPCRDMA2_CONTROL_RESERVE	8	/* Receives per side, D-18 */
#define RPCRDMA2_RECV_BATCH		6U

/* Posted Receives that are not for credits: those for control messages, and one batch,
 * because Receives are posted in batches
 */
#define RPCRDMA2_RECV_EXTRA	(RPCRDMA2_CONTROL_RESERVE + RPCRDMA2_RECV_BATCH)

/**
 * struct rpcrdma2_recvq - the receive queue
 * @lock: protects the fields up to @list, orders posting, and serializes takers of free
 *	Receives; a leaf
 * @max: Receives the QP can hold
 * @target: Receives to keep posted
 * @posted: Receives posted now
 * @list: these Receives
 * @is_short: fewer than @target are posted, for lack of memory
 * @refill_work: posts the missing Receives
 */
struct rpcrdma2_recvq {
	spinlock_t			lock;		/* see above */
	u32				max;
	u32				target;
	u32				posted;
	struct hlist_head		list;
	bool				is_short;
	struct delayed_work		refill_work;
};

/* Receives that the queue pair must hold; see rpcrdma2_recvs_plan() */
static inline u32 rpcrdma2_recvs_max(const struct rpcrdma2_recvq *recvq)
{
	return recvq->max;
}

/* Receives to keep posted */
static inline u32 rpcrdma2_recvs_wanted(const struct rpcrdma2_recvq *recvq)
{
	return READ_ONCE(recvq->target);
}

/* Receives that are posted, for display */
static inline u32 rpcrdma2_recvs_posted(const struct rpcrdma2_recvq *recvq)
{
	return data_race(recvq->posted);	/* see above */
}

/* Life */
void rpcrdma2_recvs_setup(struct rpcrdma2_conn *conn);
u32 rpcrdma2_recvs_plan(struct rpcrdma2_conn *conn);
int rpcrdma2_recvs_create(struct rpcrdma2_conn *conn);
u32 rpcrdma2_recvs_target(struct rpcrdma2_conn *conn, u32 target);
void rpcrdma2_recvs_trim(struct rpcrdma2_conn *conn);
void rpcrdma2_recvs_limit(struct rpcrdma2_conn *conn, u32 size);
void rpcrdma2_recvs_stop(struct rpcrdma2_conn *conn);
void rpcrdma2_recvs_reclaim(struct rpcrdma2_conn *conn);

/* Receives that have completed */
bool rpcrdma2_recv_take(struct rpcrdma2_conn *conn, struct rpcrdma2_recv *rx,
			const struct ib_wc *wc);
void rpcrdma2_recv_replace(struct rpcrdma2_conn *conn,
			   struct rpcrdma2_recv *rx);
void rpcrdma2_recv_put(struct rpcrdma2_recv *rx);

#endif /* _RPCRDMA2_RECV_QUEUE_H */
