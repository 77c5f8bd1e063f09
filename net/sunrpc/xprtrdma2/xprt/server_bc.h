/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The server's callback transport: reverse direction Calls over a client's
 * connection.
 */
#ifndef _RPCRDMA2_SERVER_BC_H
#define _RPCRDMA2_SERVER_BC_H

struct rpc_xprt;
struct xprt_class;
struct xprt_create;

struct rpc_xprt *rpcrdma2_server_bc_setup(struct xprt_class *class,
					  struct xprt_create *args);

#endif /* _RPCRDMA2_SERVER_BC_H */
