/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The address of a transport as text; see addr.c.
 */
#ifndef _RPCRDMA2_ADDR_H
#define _RPCRDMA2_ADDR_H

struct rpc_xprt;

int rpcrdma2_addr_format(struct rpc_xprt *xprt);
int rpcrdma2_addr_format_port(struct rpc_xprt *xprt);
void rpcrdma2_addr_free(struct rpc_xprt *xprt);

#endif /* _RPCRDMA2_ADDR_H */
