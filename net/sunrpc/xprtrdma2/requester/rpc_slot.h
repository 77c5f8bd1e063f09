/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Private header of the requester role: the RPC and the requester. rpc_slot.c has the
 * slots, marshal.c builds a Call, requester.c sends Calls, reply.c handles Replies and
 * ERRORs, invalidate.c ends an RPC.
 *
 * Invariants:
 *  R1 An RPC is completed only when every handle it exposed is invalid and
 *     its memory unmapped (RINV-12).
 *  R2 A credit is held from SENDING to the arrival of Reply or ERROR, or to
 *     the end of the connection, even if the task ends (CRED-2).
 *  R3 In states SENDING and REPLIED the rqst is pinned: sunrpc does not
 *     free it. In all others but IDLE, buf_free ends the use of its memory.
 *  R4 While rq->conn is set, slots in rq->outstanding may own MRs of its
 *     pool; rpcrdma2_requester_detach() leaves none.
 *
 * State is protected by xprt->queue_lock, a plain spinlock that is taken in
 * process and workqueue context only. Order: queue_lock, then reserve_lock, the
 * connection's leaf locks or the MR pool's lock.
 */
#ifndef _RPCRDMA2_RPC_SLOT_H
#define _RPCRDMA2_RPC_SLOT_H

#include <linux/list.h>
#include <linux/sunrpc/clnt.h>
#include <linux/sunrpc/xprt.h>
#include <linux/tracepoint-defs.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include "conn/buf.h"
#include "conn/conn.h"
#include "requester/frwr.h"

DECLARE_TRACEPOINT(rpcrdma2_req_state);

/* Slots that an idle requester keeps, which writeback and swap can use without new memory */
#define RPCRDMA2_LEAST_SLOTS		4U
/* Pages for the ragged ends of one Position-Zero or Reply chunk */
#define RPCRDMA2_BOUNCE_PAGES		18U

/**
 * enum rpcrdma2_req_state - state of an RPC in the transport
 * @RPCRDMA2_REQ_IDLE: not in the transport
 * @RPCRDMA2_REQ_QUEUED: in the FIFO; waits for a credit, for the send queue
 *	or for MRs. Holds nothing
 * @RPCRDMA2_REQ_SENDING: holds a credit, is being built and posted; pinned
 * @RPCRDMA2_REQ_POSTED: sent, its Reply is outstanding
 * @RPCRDMA2_REQ_REPLIED: the Reply has arrived, its handles are being invalidated;
 *	pinned
 * @RPCRDMA2_REQ_ANSWERED: the Reply arrived while sunrpc did not wait for it (the
 *	RPC is being encoded again or cancelled); handles may be valid
 * @RPCRDMA2_REQ_ORPHAN: cancelled with its Reply outstanding: keeps credit, XID and
 *	MRs until the Reply or the end of the connection (RINV-18)
 */
enum rpcrdma2_req_state {
	RPCRDMA2_REQ_IDLE = 0,
	RPCRDMA2_REQ_QUEUED,
	RPCRDMA2_REQ_SENDING,
	RPCRDMA2_REQ_POSTED,
	RPCRDMA2_REQ_REPLIED,
	RPCRDMA2_REQ_ANSWERED,
	RPCRDMA2_REQ_ORPHAN,
};

/**
 * enum rpcrdma2_form - form in which the arguments or the results of an RPC travel
 * @RPCRDMA2_FORM_INLINE: in the message, behind the header
 * @RPCRDMA2_FORM_PAYLOAD: the payload in a Read or Write chunk, the rest inline
 * @RPCRDMA2_FORM_WHOLE: all in a Position-Zero or Reply chunk
 */
enum rpcrdma2_form {
	RPCRDMA2_FORM_INLINE = 0,
	RPCRDMA2_FORM_PAYLOAD,
	RPCRDMA2_FORM_WHOLE,
};

/**
 * struct rpcrdma2_part - the arguments or the results of an RPC
 * @buf: their place in memory
 * @form: see enum rpcrdma2_form
 * @devmem: pages of the payload stand for the memory of a device
 * @chunk: the chunk; first with as many segments as planned, then as sent
 * @regions: its memory: a front in bounce pages, pages of @buf, and a back in bounce pages
 */
struct rpcrdma2_part {
	const struct xdr_buf	*buf;
	enum rpcrdma2_form	form;
	bool			devmem;
	struct rpcrdma2_chunk	chunk;
	struct rpcrdma2_region	regions[RPCRDMA2_REGIONS];
};

/**
 * struct rpcrdma2_req - one RPC slot
 * @rqst: what sunrpc sees
 * @rq: its requester
 * @state: see enum rpcrdma2_req_state; queue_lock
 * @error: errno to end the RPC with, 0 if none; stays with the RPC
 * @next: link in the requester's @free
 * @list: link in the requester's @fifo, @starved or @outstanding
 * @unmapped: time of the first failure to map its memory, jiffies, or 0
 * @turn: rq->taken when it was first taken from the FIFO, or 0
 * @sends: number of times it was taken from the FIFO
 * @conn_id: connection it was last sent on, or 0
 * @copied: length of the Reply, for xprt_complete_rqst()
 * @inline_send: largest message at the time of the plan, bytes
 * @reply_due: length of the longest Reply that may come inline
 * @bounced: bounce pages that the plan uses
 * @abandoned: sunrpc has freed the slot, the transport has not
 * @again: back to the FIFO instead of the end, once its handles are invalid
 * @on_wire: the Call was posted, or failed to be posted, since it was last taken
 *	from the FIFO: a Reply may arrive
 * @nomsg: the Reply is in the Reply chunk
 * @moved: it was sent on another connection before
 * @ninv: handles that may be valid, while a local invalidation of them is under way; the
 *	end of the connection ends one that fails; queue_lock
 * @inval_start: start of the local invalidation, jiffies
 * @lost_at: ORPHAN: time at which the Reply is overdue, jiffies
 * @mrs: MRs of all chunks, struct rpcrdma2_mr.list
 * @args: arguments, with the Read or Position-Zero chunk
 * @results: results, with the Write or Reply chunk
 * @inv_waiter: waits for send queue entries for local invalidations
 * @inv_cqe: completion of the last of them
 * @nbounce: pages at @bounce
 * @bounce: memory for ragged ends, kept with the slot
 * @buf: rq_buffer and rq_rbuffer, kept with the slot
 * @buf_size: bytes of @buf
 *
 * A slot is used on up to three CPUs: by a task, by the completion of the Reply, and by the
 * next task. An RPC without chunks changes the fields up to @moved only.
 */
struct rpcrdma2_req {
	struct rpc_rqst			rqst;
	struct rpcrdma2_requester	*rq;
	enum rpcrdma2_req_state		state;
	int				error;
	struct rpcrdma2_req		*next;
	struct list_head		list;

	unsigned long			unmapped;
	u32				turn;
	unsigned int			sends;
	u32				conn_id;
	u32				copied;
	u32				inline_send;
	u32				reply_due;
	u32				bounced;
	bool				abandoned;
	bool				again;
	bool				on_wire;
	bool				nomsg;
	bool				moved;

	u32				ninv;
	unsigned long			inval_start;
	unsigned long			lost_at;
	struct list_head		mrs;
	struct rpcrdma2_part		args;
	struct rpcrdma2_part		results;

	struct rpcrdma2_sendq_waiter	inv_waiter;
	struct ib_cqe			inv_cqe;
	u32				nbounce;
	struct page			*bounce[RPCRDMA2_BOUNCE_PAGES];
	void				*buf;
	size_t				buf_size;
};

/**
 * struct rpcrdma2_requester - requester role of a transport
 * @xprt: the transport; must be first
 * @pool: MRs, closed if this requester never registers memory
 * @free: free slots, last used first; xprt->reserve_lock
 * @bytes: memory of all slots and their buffers
 * @conn: current connection or NULL; queue_lock
 * @fifo: Calls that wait, in order of arrival
 * @outstanding: Calls sent and not ended, orphans included
 * @taken: Calls that were taken from @fifo, each counted once
 * @busy: users of @conn, its send slots and MRs without a lock, except
 *	completions; stopping waits for them
 * @sq_wait: @sq_waiter is queued; no Call is taken from @fifo
 * @stopping: @conn is about to be closed: nothing new is posted
 * @lesson_new: no RPC was completed since an ERROR set @refused, @max_segs or @max_reply, except
 *	on the connection that has ended because of that; queue_lock
 * @replies: Replies that completed an RPC on this connection
 * @starved: Calls that need MRs, while the first of them waits for MRs. When there may be
 *	some, all go to the head of @fifo
 * @refused: payloads that the responder does not take in a chunk (ERR-30): XDRBUF_WRITE
 *	stands for Read chunks, XDRBUF_READ for Write chunks
 * @max_segs: segments per chunk that the responder accepts, as far as known
 * @max_reply: longest message that it sends, bytes, as far as known
 * @sq_waiter: waits for send queue entries for the first of @fifo
 * @wq: woken when an invalidation is complete or @busy becomes 0
 * @watchdog: checks for invalidations that take too long
 * @offered: bytes of Write and Reply chunks offered; statistics
 * @unbuildable: Calls that could not be built; statistics
 * @bad_replies: Replies that contradict their Call; statistics
 *
 * The fields from @conn to @replies, which each RPC uses under queue_lock, share a cache line.
 * RPCs without chunks only read those behind.
 */
struct rpcrdma2_requester {
	struct rpc_xprt			xprt;
	struct rpcrdma2_mr_pool		pool ____cacheline_aligned_in_smp;
	struct rpcrdma2_req		*free;
	atomic_long_t			bytes;

	struct rpcrdma2_conn		*conn ____cacheline_aligned_in_smp;
	struct list_head		fifo;
	struct list_head		outstanding;
	u32				taken;
	unsigned int			busy;
	bool				sq_wait;
	bool				stopping;
	bool				lesson_new;
	unsigned long			replies;

	struct list_head		starved;
	unsigned int			refused;
	u32				max_segs;
	u32				max_reply;
	struct rpcrdma2_sendq_waiter	sq_waiter;
	wait_queue_head_t		wq;
	struct delayed_work		watchdog;
	atomic_long_t			offered;
	atomic_long_t			unbuildable;
	atomic_long_t			bad_replies;
};

static inline struct rpcrdma2_requester *
rpcrdma2_requester(struct rpc_xprt *xprt)
{
	return container_of(xprt, struct rpcrdma2_requester, xprt);
}

static inline struct rpcrdma2_req *rpcrdma2_req(struct rpc_rqst *rqst)
{
	return container_of(rqst, struct rpcrdma2_req, rqst);
}

/* Pages of the page vector of @buf that hold data */
static inline u32 rpcrdma2_vector_pages(const struct xdr_buf *buf)
{
	return rpcrdma2_pages_spanned(offset_in_page(buf->page_base), buf->page_len);
}

/* MRs that a Call needs by its plan */
static inline u32 rpcrdma2_req_mrs(const struct rpcrdma2_req *req)
{
	return req->args.chunk.nsegs + req->results.chunk.nsegs;
}

/* Unmap the memory of an RPC whose handles are invalid. The MRs stay with the RPC. */
static inline void rpcrdma2_req_unmap(struct rpcrdma2_req *req)
{
	struct rpcrdma2_mr *mr;

	list_for_each_entry(mr, &req->mrs, list)
		rpcrdma2_mr_unmap(mr);
}

/* Whether a Call may be posted on the current connection */
static inline bool
rpcrdma2_requester_usable(const struct rpcrdma2_requester *rq)
{
	lockdep_assert_held(&rq->xprt.queue_lock);
	return rq->conn && !rq->stopping && rpcrdma2_conn_ready(rq->conn);
}

void rpcrdma2_req_state_changes(const struct rpcrdma2_req *req,
				enum rpcrdma2_req_state to);

/* The only function that changes the state of an RPC; queue_lock held */
static inline void rpcrdma2_req_set_state(struct rpcrdma2_req *req,
					  enum rpcrdma2_req_state to)
{
	if (IS_ENABLED(CONFIG_LOCKDEP) || tracepoint_enabled(rpcrdma2_req_state))
		rpcrdma2_req_state_changes(req, to);
	/* Pairs with rpcrdma2_req_is_idle() */
	smp_store_release(&req->state, to);
}

/* No lock is needed: the slot is sunrpc's alone then. */
static inline bool rpcrdma2_req_is_idle(const struct rpcrdma2_req *req)
{
	/* Pairs with rpcrdma2_req_set_state() */
	return smp_load_acquire(&req->state) == RPCRDMA2_REQ_IDLE;
}

void rpcrdma2_req_set_inval(struct rpcrdma2_req *req, u32 ninv);

/* Slots */
void rpcrdma2_requester_trim(struct rpcrdma2_requester *rq, u32 least);
void rpcrdma2_req_release(struct rpcrdma2_req *req);

/* The form of a Call and its message: marshal.c */
int rpcrdma2_marshal_plan(const struct rpcrdma2_conn *conn, struct rpcrdma2_req *req);
int rpcrdma2_marshal_build(struct rpcrdma2_conn *conn, struct rpcrdma2_req *req,
			   struct rpcrdma2_send *send);
int rpcrdma2_marshal_bounce(const struct rpcrdma2_part *part, u32 len, bool out);

/* Methods for struct rpc_xprt_ops */
void rpcrdma2_requester_alloc_slot(struct rpc_xprt *xprt,
				   struct rpc_task *task);
void rpcrdma2_requester_free_slot(struct rpc_xprt *xprt,
				  struct rpc_rqst *rqst);
int rpcrdma2_requester_buf_alloc(struct rpc_task *task);

#endif /* _RPCRDMA2_RPC_SLOT_H */
