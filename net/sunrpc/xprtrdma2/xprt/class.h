/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Registration with sunrpc.
 */
#ifndef _RPCRDMA2_CLASS_H
#define _RPCRDMA2_CLASS_H

#include <linux/types.h>

/* Exported to fs/nfs while the transport is registered. */
extern const unsigned int xprt_rdma2_ident;

int rpcrdma2_class_register(bool replace);
void rpcrdma2_class_unregister(void);

#endif /* _RPCRDMA2_CLASS_H */
