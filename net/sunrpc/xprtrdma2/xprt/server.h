/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The server: connections as struct svc_xprt, for nfsd and any other sunrpc
 * service.
 */
#ifndef _RPCRDMA2_SERVER_H
#define _RPCRDMA2_SERVER_H

#include <linux/list.h>
#include <linux/spinlock.h>
#include <linux/sunrpc/svc_xprt.h>
#include <linux/sunrpc/xprt.h>
#include <linux/workqueue.h>

#include "xprt/admission.h"
#include "conn/conn.h"
#include "responder/responder.h"

/* Callbacks that may be outstanding on a connection */
#define RPCRDMA2_BC_CALLS	16U

/**
 * struct rpcrdma2_svc - a client's connection
 * @xprt: sunrpc's part; must be first
 * @conn: the connection, NULL only while it is being accepted
 * @stats: its counters
 * @pool: its Receives
 * @resp: its responder role
 * @stash: pages for the responder's next RDMA Reads
 * @lock: protects @ready together with XPT_DATA
 * @ready: struct rpcrdma2_svc_call for a thread
 * @cand: admission.c's part
 * @close_work: makes sunrpc close the transport
 * @free_work: tears everything down
 */
struct rpcrdma2_svc {
	struct svc_xprt			xprt;
	struct rpcrdma2_conn		*conn;
	struct rpcrdma2_stats		stats;
	struct rpcrdma2_recv_pool	pool;
	struct rpcrdma2_responder	resp;
	struct page			*stash[RPCRDMA2_STASH];
	spinlock_t			lock;	/* @ready */
	struct list_head		ready;
	struct rpcrdma2_candidate	cand;
	struct work_struct		close_work;
	struct work_struct		free_work;
};

static inline struct rpcrdma2_svc *rpcrdma2_svc(struct svc_xprt *xprt)
{
	return container_of(xprt, struct rpcrdma2_svc, xprt);
}

void rpcrdma2_server_accept(struct rpcrdma2_admission *adm,
			    struct rdma_cm_id *cm_id,
			    const struct rdma_conn_param *param,
			    struct rpcrdma2_origin *origin);

/* listener.c */
struct svc_xprt *rpcrdma2_listener_create(struct svc_xprt_class *xcl,
					  struct svc_serv *serv,
					  struct net *net,
					  struct sockaddr *sa, int salen);

/* server_bc.c */
struct rpc_xprt *rpcrdma2_server_bc_setup(struct xprt_class *class,
					  struct xprt_create *args);

#endif /* _RPCRDMA2_SERVER_H */
