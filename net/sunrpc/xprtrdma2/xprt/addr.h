/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Addresses of transports; see addr.c.
 */
#ifndef _RPCRDMA2_ADDR_H
#define _RPCRDMA2_ADDR_H

struct rpc_xprt;
struct xprt_create;

int rpcrdma2_addr_init(struct rpc_xprt *xprt, const struct xprt_create *args);
int rpcrdma2_addr_format_port(struct rpc_xprt *xprt);
void rpcrdma2_addr_free(struct rpc_xprt *xprt);

#endif /* _RPCRDMA2_ADDR_H */
