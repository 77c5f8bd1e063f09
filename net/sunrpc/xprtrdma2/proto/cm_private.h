/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The RDMA-CM private data of version 1 (CM-*).
 *
 * Pure (see portable.h).
 */
#ifndef _RPCRDMA2_CM_PRIVATE_H
#define _RPCRDMA2_CM_PRIVATE_H

#include "proto/portable.h"

#define RPCRDMA_CM_PRIVATE_BYTES	8U

/**
 * struct rpcrdma_cm_private - what the private data says
 * @remote_inval: the sender supports remote invalidation
 * @send_size: largest message it sends, bytes
 * @recv_size: largest message it receives, bytes
 */
struct rpcrdma_cm_private {
	bool			remote_inval;
	u32			send_size;
	u32			recv_size;
};

void rpcrdma_cm_encode(const struct rpcrdma_cm_private *cm, u8 *buf);
void rpcrdma_cm_decode(const void *buf, u32 len,
		       struct rpcrdma_cm_private *cm);
u32 rpcrdma_cm_threshold(const struct rpcrdma_cm_private *sender,
			 const struct rpcrdma_cm_private *receiver);

#endif /* _RPCRDMA2_CM_PRIVATE_H */
