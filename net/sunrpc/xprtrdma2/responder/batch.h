/* SPDX-License-Identifier: GPL-2.0 */
/*
 * RDMA of a Call, in batches; see batch.c.
 */
#ifndef _RPCRDMA2_BATCH_H
#define _RPCRDMA2_BATCH_H

#include "responder/call.h"

int rpcrdma2_batch_map(struct rpcrdma2_svc_call *call, u32 most);
void rpcrdma2_batch_post(struct rpcrdma2_svc_call *call, u32 nwrs,
			 void (*done)(struct rpcrdma2_svc_call *call,
				      int status));

#endif /* _RPCRDMA2_BATCH_H */
