/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The send queue of one connection; see send_queue.c, send_buf.c and send_depth.c. No
 * other file looks into struct rpcrdma2_sendq.
 */
#ifndef _RPCRDMA2_SEND_QUEUE_H
#define _RPCRDMA2_SEND_QUEUE_H

#include <linux/list.h>
#include <linux/spinlock.h>
#include <rdma/ib_verbs.h>

#include "conn/recv_queue.h"

struct rpcrdma2_conn;
struct rpcrdma2_send;

#define RPCRDMA2_SIGNAL_EVERY		16	/* one Send in this number */

/* Buffers that an idle connection keeps. One would do, since a Send that takes the last
 * is signaled.
 */
#define RPCRDMA2_LEAST_BUFFERS		2U
/* Sends after a quiet time that are signaled, so that these buffers are enough */
#define RPCRDMA2_QUIET_SENDS		32U

/**
 * struct rpcrdma2_sendq - the send queue
 * @lock: protects the fields up to @held_at and orders posting; a leaf
 * @closed: nothing may be posted any more
 * @flushing: a zero-length Write that retires all Sends is posted
 * @retire: one is wanted, because the connection is idle
 * @avail: free entries
 * @most: the most entries that one chain may take
 * @unsignaled: Sends posted since the last signaled one
 * @quiet: number of the next Sends that are signaled because the connection was idle
 * @free: free send slots for RPC messages
 * @posted: posted slots of both kinds in order
 * @posted_end: where the next one is linked
 * @waiters: FIFO of struct rpcrdma2_sendq_waiter
 * @bare: free send slots without a buffer
 * @buffers: number of slots for RPC messages with a buffer, free or not
 * @free_control: free send slots for control messages (D-18)
 * @chains: struct rpcrdma2_sendq_waiter of posted chains without a Send
 * @lingering: pages that unsignaled Sends hold
 * @held_at: time of posting of the last Send that holds pages, jiffies
 * @depth: number of entries
 * @done: completion handler of Sends
 * @slots: all slots, an array of @nslots, which exists with the QP; the first
 *	RPCRDMA2_CONTROL_RESERVE are for control messages
 * @nslots: their number
 * @slot_size: capacity of a slot for RPC messages, bytes
 *
 * The fields up to @waiters, which each Send needs, share a cache line.
 */
struct rpcrdma2_sendq {
	spinlock_t			lock;		/* see above */
	bool				closed;
	bool				flushing;
	bool				retire;
	u32				avail;
	u32				most;
	u32				unsignaled;
	u32				quiet;
	struct rpcrdma2_send		*free;
	struct rpcrdma2_send		*posted;
	struct rpcrdma2_send		**posted_end;
	struct list_head		waiters;

	struct rpcrdma2_send		*bare;
	u32				buffers;
	struct rpcrdma2_send		*free_control;
	struct list_head		chains;
	u32				lingering;
	unsigned long			held_at;
	u32				depth;
	void (*done)(struct ib_cq *cq, struct ib_wc *wc);
	struct rpcrdma2_send		*slots;
	u32				nslots;
	u32				slot_size;
};

/**
 * struct rpcrdma2_sendq_waiter - a user of the send queue
 * @list: link in the connection's FIFO, or in its list of posted chains
 * @nwrs: send queue entries needed or taken, the Send included
 * @cid: identifies posted work in traces
 * @slot: a send slot is needed as well
 * @ready: called once for a wait, from a completion or from
 *	rpcrdma2_conn_close(), with the resources (@status 0; @send only if
 *	@slot), or with -ENOTCONN and nothing. Also called with -ENOTCONN for a posted
 *	chain that never completed. May post; must not sleep for long
 */
struct rpcrdma2_sendq_waiter {
	struct list_head		list;
	u32				nwrs;
	u32				cid;
	bool				slot;
	void (*ready)(struct rpcrdma2_sendq_waiter *w,
		      struct rpcrdma2_send *send, int status);
};

/**
 * struct rpcrdma2_send - a send slot: one Send with its own mapped buffer
 * @cqe: completion
 * @wr: the Send; chain earlier work requests in front of it
 * @sge: describes @buf
 * @conn: its connection
 * @next: link in a list of free slots, last used first, or of posted ones, in this order
 * @buf: mapped memory for header and pulled-up data; @size bytes
 * @size: bytes at @buf
 * @nwrs: send queue entries of the message
 * @cid: identifies the Send in traces
 * @holds: number of pages that @done frees, which may wait until a later Send completes;
 *	or 0
 * @posted: on the list of posted slots
 * @on_wire: set before the Send is posted, unless NULL
 * @done: called from the completion (also when flushed, @status < 0). A Send with @done
 *	is always signaled unless it @holds pages; of others, one in
 *	RPCRDMA2_SIGNAL_EVERY is
 * @priv: for @done, set with it
 */
struct rpcrdma2_send {
	struct ib_cqe			cqe;
	struct ib_send_wr		wr;
	struct ib_sge			sge;
	struct rpcrdma2_conn		*conn;
	struct rpcrdma2_send		*next;
	void				*buf;
	u32				size;
	u32				nwrs;
	u32				cid;
	u16				holds;
	bool				posted;
	bool				*on_wire;
	void (*done)(struct rpcrdma2_send *send, int status);
	void				*priv;
};

/* Neighbours in the array share no cache line. */
static_assert(sizeof(struct rpcrdma2_send) == 128);

/* Number of entries, see rpcrdma2_sends_plan() */
static inline u32 rpcrdma2_sendq_depth(const struct rpcrdma2_sendq *sendq)
{
	return sendq->depth;
}

/* Free entries, for display */
static inline u32 rpcrdma2_sendq_avail(const struct rpcrdma2_sendq *sendq)
{
	return data_race(sendq->avail);	/* see above */
}

/* The most entries that one chain may take: 4 or more, unless the parameters of the
 * connection ask for less
 */
static inline u32 rpcrdma2_sendq_most(const struct rpcrdma2_sendq *sendq)
{
	return sendq->most;
}

/* The slot is one for control messages. */
static inline bool rpcrdma2_send_is_control(const struct rpcrdma2_sendq *sendq,
					    const struct rpcrdma2_send *send)
{
	return send < sendq->slots + RPCRDMA2_CONTROL_RESERVE;
}

/* Add a slot to a list of free ones. */
static inline void rpcrdma2_send_push(struct rpcrdma2_send *send, struct rpcrdma2_send **slots)
{
	send->next = *slots;
	*slots = send;
}

/* Capacity of each slot for RPC messages, bytes */
static inline u32 rpcrdma2_sends_size(const struct rpcrdma2_sendq *sendq)
{
	return sendq->slot_size;
}

/* Slots and buffers, see send_buf.c */
int rpcrdma2_sends_create(struct rpcrdma2_conn *conn);
void rpcrdma2_sends_destroy(struct rpcrdma2_conn *conn);
size_t rpcrdma2_sends_memory(const struct rpcrdma2_conn *conn);
bool rpcrdma2_send_buf_add(struct rpcrdma2_conn *conn, gfp_t gfp);
void rpcrdma2_send_buf_trim(struct rpcrdma2_conn *conn);

/* Depth, see send_depth.c */
bool rpcrdma2_sends_plan(struct rpcrdma2_conn *conn);
bool rpcrdma2_sends_halve(struct rpcrdma2_conn *conn);
void rpcrdma2_sends_granted(struct rpcrdma2_conn *conn, u32 depth);

/* Life */
void rpcrdma2_sends_setup(struct rpcrdma2_conn *conn);
void rpcrdma2_sends_stop(struct rpcrdma2_conn *conn);
void rpcrdma2_sends_abort(struct rpcrdma2_conn *conn);

/* Memory */
void rpcrdma2_sends_trim(struct rpcrdma2_conn *conn);
void rpcrdma2_sends_settle(struct rpcrdma2_conn *conn);

/* Messages */
struct rpcrdma2_send *rpcrdma2_send_get(struct rpcrdma2_conn *conn, u32 nwrs);
struct rpcrdma2_send *rpcrdma2_send_get_control(struct rpcrdma2_conn *conn);
void rpcrdma2_send_put(struct rpcrdma2_send *send);
int rpcrdma2_send_post(struct rpcrdma2_send *send, u32 len, u32 inv_handle,
		       struct ib_send_wr *first);

/* Messages that wait, and work requests without a message: local invalidation, RDMA Read */
bool rpcrdma2_sendq_get(struct rpcrdma2_conn *conn, u32 nwrs,
			struct rpcrdma2_sendq_waiter *w, struct rpcrdma2_send **send);
void rpcrdma2_sendq_put(struct rpcrdma2_conn *conn, u32 nwrs);
int rpcrdma2_sendq_post(struct rpcrdma2_conn *conn, struct rpcrdma2_sendq_waiter *w,
			struct ib_send_wr *first);
bool rpcrdma2_sendq_done(struct rpcrdma2_conn *conn, struct rpcrdma2_sendq_waiter *w,
			 const struct ib_wc *wc);

#endif /* _RPCRDMA2_SEND_QUEUE_H */
