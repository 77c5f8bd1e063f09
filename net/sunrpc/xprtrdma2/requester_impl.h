/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the files of the requester role share: requester.c (life, FIFO,
 * sending), slots.c, plan.c (choice of chunks), call.c (building a Call),
 * answer.c (Replies and ERRORs) and fence.c (the end of an RPC, cancelled
 * ones). Others use requester.h.
 *
 * These hold at any time:
 *  R1 An RPC is completed only when every handle it exposed is invalid and
 *     its memory unmapped (RINV-12).
 *  R2 A credit is held from SENDING to the arrival of Reply or ERROR, or to
 *     the end of the connection, whatever becomes of the task (CRED-2).
 *  R3 In states SENDING and REPLIED the rqst is pinned: sunrpc does not
 *     take it away. In all others but IDLE, buf_free ends what goes on.
 *  R4 While rq->conn is set, slots in rq->outstanding may own MRs of its
 *     pool; rpcrdma2_requester_detach() leaves none.
 *
 * State is protected by xprt->queue_lock; see requester.h for the order of
 * locks. Sending is done by the sender's thread (with the transport locked
 * by sunrpc), by completions, and by the MR pool's work.
 */
#ifndef _RPCRDMA2_REQUESTER_IMPL_H
#define _RPCRDMA2_REQUESTER_IMPL_H

#include "mr.h"
#include "requester.h"

/* Pages that @len bytes touch if the first is at @offset in its page. */
static inline u32 rpcrdma2_pages_spanned(u32 offset, u32 len)
{
	return len ? DIV_ROUND_UP(offset + len, PAGE_SIZE) : 0;
}

/* Pages of the page vector of @buf that hold data. */
static inline u32 rpcrdma2_vector_pages(const struct xdr_buf *buf)
{
	return rpcrdma2_pages_spanned(offset_in_page(buf->page_base),
				      buf->page_len);
}

/* Padding of the payload at the start of the tail. */
static inline u32 rpcrdma2_tail_pad(const struct xdr_buf *buf)
{
	return min_t(u32, xdr_pad_size(buf->page_len), buf->tail[0].iov_len);
}

/* Give the MRs of an RPC back to the pool. They are not valid any more, or
 * were never posted.
 */
static inline void rpcrdma2_req_mrs_put(struct rpcrdma2_requester *rq,
					struct rpcrdma2_req *req)
{
	if (rq->pool)
		rpcrdma2_mr_put_all(rq->pool, &req->mrs);
}

/* May something be posted on the current connection? */
static inline bool
rpcrdma2_requester_usable(const struct rpcrdma2_requester *rq)
{
	lockdep_assert_held(&rq->xprt.queue_lock);
	return rq->conn && !rq->stopping && rpcrdma2_conn_ready(rq->conn);
}

/* requester.c */
void rpcrdma2_req_fail(struct rpcrdma2_requester *rq,
		       struct rpcrdma2_req *req);
void rpcrdma2_requester_busy_put(struct rpcrdma2_requester *rq);
void rpcrdma2_requester_run(struct rpcrdma2_requester *rq,
			    struct rpcrdma2_send *send);

/* slots.c */
void rpcrdma2_slot_free(struct rpcrdma2_req *req);
void rpcrdma2_slot_put(struct rpcrdma2_req *req);

/* plan.c */
void rpcrdma2_req_chunks(const struct rpcrdma2_req *req,
			 struct rpcrdma2_call *call);
int rpcrdma2_req_plan(const struct rpcrdma2_conn *conn,
		      struct rpcrdma2_req *req, u32 room);

/* call.c */
int rpcrdma2_span_copy_out(struct rpcrdma2_req *req,
			   const struct rpcrdma2_span *span, u32 len);
int rpcrdma2_req_encode(struct rpcrdma2_requester *rq,
			struct rpcrdma2_conn *conn, struct rpcrdma2_req *req,
			struct rpcrdma2_send *send);
int rpcrdma2_req_build(struct rpcrdma2_requester *rq,
		       struct rpcrdma2_conn *conn, struct rpcrdma2_req *req,
		       struct rpcrdma2_send *send);

/* answer.c has only what requester.h declares */

/* fence.c */
u32 rpcrdma2_req_valid_mrs(const struct rpcrdma2_req *req);
bool rpcrdma2_req_release(struct rpcrdma2_requester *rq,
			  struct rpcrdma2_req *req);
void rpcrdma2_req_redo(struct rpcrdma2_requester *rq, struct rpcrdma2_req *req);
void rpcrdma2_requester_watchdog(struct work_struct *work);
void rpcrdma2_req_end(struct rpcrdma2_requester *rq, struct rpcrdma2_conn *conn,
		      struct rpcrdma2_req *req);

#endif /* _RPCRDMA2_REQUESTER_IMPL_H */
