/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Setup and end of connections, for their owners; see cm.c.
 */
#ifndef _RPCRDMA2_CM_H
#define _RPCRDMA2_CM_H

#include "conn/conn.h"

struct rpcrdma2_conn *
rpcrdma2_conn_connect(struct net *net, const struct sockaddr *src,
		      const struct sockaddr *dst,
		      const struct rpcrdma2_conn_params *p);
int rpcrdma2_conn_probe(struct net *net, const struct sockaddr *src,
			const struct sockaddr *dst, const struct rpcrdma2_conn_params *p);
struct rpcrdma2_conn *
rpcrdma2_conn_incoming(struct rdma_cm_id *cm_id,
		       const struct rpcrdma2_conn_params *p);
int rpcrdma2_conn_accept(struct rpcrdma2_conn *conn,
			 const struct rdma_conn_param *req);
void rpcrdma2_conn_refuse(struct rdma_cm_id *cm_id, int err);
void rpcrdma2_conn_close(struct rpcrdma2_conn *conn);
void rpcrdma2_conn_free(struct rpcrdma2_conn *conn);

#endif /* _RPCRDMA2_CM_H */
