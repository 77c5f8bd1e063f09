/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A Call is made of an RPC; see marshal.c.
 */
#ifndef _RPCRDMA2_MARSHAL_H
#define _RPCRDMA2_MARSHAL_H

#include "conn/buf.h"
#include "requester/rpc_slot.h"

/* Pages of the page vector of @buf that hold data. */
static inline u32 rpcrdma2_vector_pages(const struct xdr_buf *buf)
{
	return rpcrdma2_pages_spanned(offset_in_page(buf->page_base),
				      buf->page_len);
}

int rpcrdma2_marshal_plan(const struct rpcrdma2_conn *conn,
			  struct rpcrdma2_req *req);
int rpcrdma2_marshal_build(struct rpcrdma2_conn *conn, struct rpcrdma2_req *req,
			   struct rpcrdma2_send *send);
int rpcrdma2_marshal_bounce(struct rpcrdma2_req *req,
			    const struct rpcrdma2_span *span, u32 len, bool out);

#endif /* _RPCRDMA2_MARSHAL_H */
