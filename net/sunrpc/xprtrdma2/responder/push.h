/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Write chunks and the Reply chunk; see push.c.
 */
#ifndef _RPCRDMA2_PUSH_H
#define _RPCRDMA2_PUSH_H

#include "responder/call.h"

/* End of the bytes that a reduced result takes out of the stream: its
 * padding goes with it (LNG-10).
 */
static inline u32 rpcrdma2_reduced_end(const struct rpcrdma2_payload *p,
				       u32 len)
{
	return min_t(u32, p->offset + xdr_align_size(p->length), len);
}

int rpcrdma2_reply_ranges(const struct rpcrdma2_svc_call *call,
			  const struct xdr_buf *xdr,
			  int (*fn)(void *priv, u32 pos, u32 len), void *priv);
int rpcrdma2_reply_push_results(struct rpcrdma2_svc_call *call,
				const struct xdr_buf *xdr);
int rpcrdma2_reply_push_stream(struct rpcrdma2_svc_call *call,
			       const struct xdr_buf *xdr);

#endif /* _RPCRDMA2_PUSH_H */
