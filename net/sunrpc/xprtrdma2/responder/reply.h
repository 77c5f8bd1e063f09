/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Replies; see reply.c.
 */
#ifndef _RPCRDMA2_REPLY_H
#define _RPCRDMA2_REPLY_H

#include "responder/call.h"

void rpcrdma2_call_refuse(struct rpcrdma2_svc_call *call, u32 err, u32 arg0);
void rpcrdma2_call_garbage(struct rpcrdma2_svc_call *call);

/* For the executor */
void rpcrdma2_call_payload(struct rpcrdma2_svc_call *call, u32 offset,
			   u32 length);
int rpcrdma2_call_reply(struct rpcrdma2_svc_call *call,
			const struct xdr_buf *res, struct page **pages,
			u32 npages);

#endif /* _RPCRDMA2_REPLY_H */
