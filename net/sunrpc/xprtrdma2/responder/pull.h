/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Read chunks of a Call; see pull.c.
 */
#ifndef _RPCRDMA2_PULL_H
#define _RPCRDMA2_PULL_H

#include "responder/call.h"

bool rpcrdma2_call_sort_reads(struct rpcrdma2_svc_call *call);
bool rpcrdma2_call_lay_out(struct rpcrdma2_svc_call *call);
void rpcrdma2_call_start_pull(struct rpcrdma2_svc_call *call);

/* For the executor */
void rpcrdma2_call_pull(struct rpcrdma2_svc_call *call, struct page **pages);
u32 rpcrdma2_call_arg(struct rpcrdma2_svc_call *call, struct xdr_buf *arg,
		      struct page **pages);

#endif /* _RPCRDMA2_PULL_H */
