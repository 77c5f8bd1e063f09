/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Functions that transports of clients and servers share, and registration with sunrpc.
 */
#ifndef _RPCRDMA2_XPRT_H
#define _RPCRDMA2_XPRT_H

#include <linux/sunrpc/xprt.h>

struct rpcrdma2_conn;
struct rpcrdma2_memory;
struct rpcrdma2_recv;

/* class.c. The number is exported to fs/nfs while the transport is registered. */
extern const unsigned int xprt_rdma2_ident;

int rpcrdma2_class_register(bool replace);
void rpcrdma2_class_unregister(void);

/* dispatch.c */
bool rpcrdma2_dispatch_recv(struct rpcrdma2_conn *conn, struct rpcrdma2_recv *rx);
void rpcrdma2_dispatch_trim(struct rpcrdma2_conn *conn);
void rpcrdma2_dispatch_memory(struct rpcrdma2_conn *conn, struct rpcrdma2_memory *mem);

/* xprt.c */
struct rpc_xprt *rpcrdma2_xprt_alloc(struct xprt_class *class,
				     const struct xprt_create *args,
				     const struct rpc_xprt_ops *ops, size_t size,
				     unsigned int slots);
int rpcrdma2_xprt_format_port(struct rpc_xprt *xprt);
void rpcrdma2_xprt_free(struct rpc_xprt *xprt);

#endif /* _RPCRDMA2_XPRT_H */
