/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The end of an RPC; see invalidate.c.
 */
#ifndef _RPCRDMA2_INVALIDATE_H
#define _RPCRDMA2_INVALIDATE_H

#include "requester/rpc_slot.h"

void rpcrdma2_inval_begin(struct rpcrdma2_req *req);
bool rpcrdma2_inval_release(struct rpcrdma2_requester *rq,
			    struct rpcrdma2_req *req);
void rpcrdma2_inval_redo(struct rpcrdma2_req *req);
void rpcrdma2_inval_end(struct rpcrdma2_requester *rq, struct rpcrdma2_conn *conn,
			struct rpcrdma2_req *req);

/* Method for struct rpc_xprt_ops */
void rpcrdma2_inval_buf_free(struct rpc_task *task);

#endif /* _RPCRDMA2_INVALIDATE_H */
