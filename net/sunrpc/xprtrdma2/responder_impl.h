/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the files of the responder role share: responder.c (life, credits,
 * limits), reads.c (pull), reply.c and writes.c (push and send). Others use
 * responder.h.
 *
 * Contexts: a Call arrives, and RDMA Reads end, in the CQ's work item; the
 * Reply comes from the executor's thread and, if it had to wait for the
 * send queue, goes on in the CQ's work item.
 *
 * A call object is used by one context at a time, except @refs and @rx_refs:
 * the executor may release the Call while its Reply is still under way. What
 * is under I/O is freed with the last reference; by then no work request
 * of the Call is posted.
 *
 * resp->lock is a leaf, process context only.
 */
#ifndef _RPCRDMA2_RESPONDER_IMPL_H
#define _RPCRDMA2_RESPONDER_IMPL_H

#include <linux/gfp.h>

#include "responder.h"
#include "rw.h"

/* In the CQ's work item: no waiting (see buf.c) */
#define RPCRDMA2_GFP_CQ		(GFP_NOWAIT | __GFP_NOWARN)
#define RPCRDMA2_GFP_THREAD	(GFP_NOIO | __GFP_NOWARN)

/* responder.c */
void rpcrdma2_call_ready(struct rpcrdma2_call_ctx *call);
void rpcrdma2_call_credit(struct rpcrdma2_call_ctx *call);
void rpcrdma2_call_rx_put(struct rpcrdma2_call_ctx *call);
void rpcrdma2_call_put(struct rpcrdma2_call_ctx *call);

/* reads.c */
bool rpcrdma2_call_sort_reads(struct rpcrdma2_call_ctx *call);
bool rpcrdma2_call_lay_out(struct rpcrdma2_call_ctx *call);
void rpcrdma2_call_start_pull(struct rpcrdma2_call_ctx *call);
void rpcrdma2_call_end_pull(struct rpcrdma2_call_ctx *call);

/* reply.c */
int rpcrdma2_reply_ranges(const struct rpcrdma2_call_ctx *call,
			  const struct xdr_buf *xdr,
			  int (*fn)(void *priv, u32 pos, u32 len), void *priv);
void rpcrdma2_call_refuse(struct rpcrdma2_call_ctx *call, u32 err, u32 arg0);
void rpcrdma2_call_garbage(struct rpcrdma2_call_ctx *call);

/* writes.c */
int rpcrdma2_reply_push_results(struct rpcrdma2_call_ctx *call,
				const struct xdr_buf *xdr);
int rpcrdma2_reply_push_stream(struct rpcrdma2_call_ctx *call,
			       const struct xdr_buf *xdr);

#endif /* _RPCRDMA2_RESPONDER_IMPL_H */
