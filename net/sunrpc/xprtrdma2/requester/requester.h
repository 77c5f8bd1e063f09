/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The requester role: Calls go out, Replies come back. Serves both
 * directions: the client's transport forward, the server's callback
 * transport in reverse (without an MR pool, so inline only).
 *
 * struct rpcrdma2_requester begins with a struct rpc_xprt and is itself the
 * first member of the owner's transport object, which comes from
 * xprt_alloc(). Many of the functions below are therefore used directly as
 * methods in struct rpc_xprt_ops.
 *
 * How an owner uses it:
 *   rpcrdma2_requester_init()	once, after xprt_alloc()
 *   rpcrdma2_requester_attach()	a connection is READY
 *   rpcrdma2_requester_send()	from ops->send_request
 *   rpcrdma2_requester_answer(), _run()
 *				by the connection, see dispatch.c
 *   rpcrdma2_requester_stop()	before rpcrdma2_conn_close()
 *   rpcrdma2_requester_detach()	after rpcrdma2_conn_close(), before
 *				rpcrdma2_conn_free()
 *   rpcrdma2_requester_destroy()	from ops->destroy
 */
#ifndef _RPCRDMA2_REQUESTER_H
#define _RPCRDMA2_REQUESTER_H

#include "requester/rpc_slot.h"

/* If a local invalidation takes longer, the connection is given up, which also ends the
 * peer's access. A device completes in order, so an invalidation waits for Sends that
 * were lost on the way. Over RoCE with the CM's defaults the device detects a loss
 * after 0.5 to 4 seconds and gives up after seven losses, in 4 to 30 seconds. TCP
 * survives seven losses in a row in this time.
 */
#define RPCRDMA2_LOCAL_INV_LIMIT	(30 * HZ)
/* Interval of the check for late invalidations, and for orphans that block other RPCs */
#define RPCRDMA2_REQUESTER_LOOK	HZ

/* The requester role of a connection, or NULL: a server has none until nfsd creates a
 * callback transport. Pairs with the release in rpcrdma2_server_bc_setup().
 */
static inline struct rpcrdma2_requester *
rpcrdma2_conn_requester(const struct rpcrdma2_conn *conn)
{
	return smp_load_acquire(&conn->p.requester);	/* see above */
}

/* This check without a lock does not miss a Call: code that opens the window or frees
 * a resource does so under queue_lock or credit.lock, and a sender takes these
 * locks after it has queued its Call.
 */
static inline bool
rpcrdma2_requester_has_queued(const struct rpcrdma2_requester *rq)
{
	return !list_empty(&rq->fifo) || !list_empty(&rq->starved);
}

/* Life of a requester */
void rpcrdma2_requester_init(struct rpcrdma2_requester *rq);
void rpcrdma2_requester_destroy(struct rpcrdma2_requester *rq);
void rpcrdma2_requester_attach(struct rpcrdma2_requester *rq,
			       struct rpcrdma2_conn *conn);
void rpcrdma2_requester_stop(struct rpcrdma2_requester *rq);
void rpcrdma2_requester_detach(struct rpcrdma2_requester *rq);

/* Methods for struct rpc_xprt_ops */
int rpcrdma2_requester_send(struct rpc_rqst *rqst);
void rpcrdma2_requester_wait(struct rpc_task *task);
void rpcrdma2_inval_buf_free(struct rpc_task *task);

/* From the connection */
void rpcrdma2_requester_run_fifo(struct rpcrdma2_requester *rq,
				 struct rpcrdma2_send *send);
void rpcrdma2_requester_answer(struct rpcrdma2_requester *rq,
			       struct rpcrdma2_conn *conn,
			       struct rpcrdma2_recv *rx);

/* Send Calls of the FIFO, if any wait; called after a credit or a resource was freed */
static inline void rpcrdma2_requester_run(struct rpcrdma2_requester *rq)
{
	if (unlikely(rpcrdma2_requester_has_queued(rq)))
		rpcrdma2_requester_run_fifo(rq, NULL);
}

/* The end of an RPC, see invalidate.c */
void rpcrdma2_inval_begin(struct rpcrdma2_req *req);
void rpcrdma2_inval_redo(struct rpcrdma2_req *req);
void rpcrdma2_inval_end(struct rpcrdma2_conn *conn, struct rpcrdma2_req *req);

/* For reply.c and invalidate.c */
void rpcrdma2_req_fail(struct rpcrdma2_req *req);
void rpcrdma2_requester_busy_put(struct rpcrdma2_requester *rq);

#endif /* _RPCRDMA2_REQUESTER_H */
