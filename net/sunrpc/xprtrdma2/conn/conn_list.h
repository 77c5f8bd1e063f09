/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The list of connections, and counters of ended transports; see conn_list.c.
 */
#ifndef _RPCRDMA2_CONN_LIST_H
#define _RPCRDMA2_CONN_LIST_H

#include <linux/types.h>

#include "conn/stats.h"

struct net;
struct pernet_operations;
struct rpcrdma2_conn;

extern struct pernet_operations rpcrdma2_conn_list_net_ops;

void rpcrdma2_conn_list_add(struct rpcrdma2_conn *conn);
void rpcrdma2_conn_list_remove(struct rpcrdma2_conn *conn);
struct rpcrdma2_conn *rpcrdma2_conn_list_next(const struct net *net, unsigned long *id,
					      unsigned long last);
void rpcrdma2_conn_list_done(struct rpcrdma2_conn *conn);
void rpcrdma2_conn_list_exit(void);
void rpcrdma2_conn_list_ended(const struct net *net,
			      const struct rpcrdma2_stats *stats, bool client);
struct rpcrdma2_stats *rpcrdma2_conn_list_totals(const struct net *net, bool client);

#endif /* _RPCRDMA2_CONN_LIST_H */
