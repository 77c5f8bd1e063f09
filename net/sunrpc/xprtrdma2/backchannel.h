/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The server's callback transport: reverse direction Calls over a client's
 * connection.
 */
#ifndef _RPCRDMA2_BACKCHANNEL_H
#define _RPCRDMA2_BACKCHANNEL_H

#include "conn.h"

struct rpc_xprt;
struct rpcrdma2_svc;
struct xprt_create;

struct rpc_xprt *rpcrdma2_backchannel_setup(struct xprt_class *class,
					    struct xprt_create *args);

void rpcrdma2_bc_reply(struct rpcrdma2_svc *svc, struct rpcrdma2_recv *rx);
void rpcrdma2_bc_error(struct rpcrdma2_svc *svc, struct rpcrdma2_recv *rx);
void rpcrdma2_bc_window(struct rpcrdma2_svc *svc);
void rpcrdma2_bc_stop(struct rpcrdma2_svc *svc);
void rpcrdma2_bc_detach(struct rpcrdma2_svc *svc);

#endif /* _RPCRDMA2_BACKCHANNEL_H */
