/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Listeners; see listener.c.
 */
#ifndef _RPCRDMA2_LISTENER_H
#define _RPCRDMA2_LISTENER_H

struct net;
struct sockaddr;
struct svc_serv;
struct svc_xprt;
struct svc_xprt_class;

struct svc_xprt *rpcrdma2_listener_create(struct svc_xprt_class *xcl,
					  struct svc_serv *serv,
					  struct net *net,
					  struct sockaddr *sa, int salen);

#endif /* _RPCRDMA2_LISTENER_H */
