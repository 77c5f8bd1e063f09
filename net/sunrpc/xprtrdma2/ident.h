/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How sunrpc and its users name this transport.
 */
#ifndef _RPCRDMA2_IDENT_H
#define _RPCRDMA2_IDENT_H

#include <linux/sunrpc/xprt.h>

/* xprt_class.ident: any number that sunrpc does not use itself. It must fit
 * the unsigned short in which fs/nfs keeps a transport protocol. ASCII "R2".
 */
#define RPCRDMA2_XPRT_IDENT		0x5232

/* The transport nfsd makes for callbacks over a client's connection; nfsd
 * derives it from the ident of the server's class.
 */
#define RPCRDMA2_XPRT_IDENT_BC		(RPCRDMA2_XPRT_IDENT | XPRT_TRANSPORT_BC)

/* Exported to fs/nfs for as long as the transport is registered. */
extern const unsigned int xprt_rdma2_ident;

#endif /* _RPCRDMA2_IDENT_H */
