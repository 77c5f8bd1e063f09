/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Dispatch of incoming messages; see dispatch.c.
 */
#ifndef _RPCRDMA2_DISPATCH_H
#define _RPCRDMA2_DISPATCH_H

#include <rdma/ib_verbs.h>

struct rpcrdma2_conn;
struct rpcrdma2_memory;

void rpcrdma2_dispatch_recv(struct ib_cq *cq, struct ib_wc *wc);
void rpcrdma2_dispatch_trim(struct rpcrdma2_conn *conn);
void rpcrdma2_dispatch_memory(struct rpcrdma2_conn *conn,
			      struct rpcrdma2_memory *mem);

#endif /* _RPCRDMA2_DISPATCH_H */
