/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The connections that can be seen from outside, and what has ended.
 */
#ifndef _RPCRDMA2_OBSERVE_H
#define _RPCRDMA2_OBSERVE_H

#include <linux/types.h>

#include "conn/stats.h"

struct net;
struct rpcrdma2_conn;

int rpcrdma2_observe_init(void);
void rpcrdma2_observe_exit(void);
void rpcrdma2_observe_add(struct rpcrdma2_conn *conn);
void rpcrdma2_observe_remove(struct rpcrdma2_conn *conn);
int rpcrdma2_observe(const struct net *net, u32 id,
		     int (*look)(struct rpcrdma2_conn *conn, void *arg),
		     void *arg);
int rpcrdma2_observe_next(const struct net *net, unsigned long *id,
			  int (*look)(struct rpcrdma2_conn *conn, void *arg),
			  void *arg);
void rpcrdma2_observe_ended(const struct net *net,
			    const struct rpcrdma2_stats *stats, bool client);
const struct rpcrdma2_stats *rpcrdma2_observe_totals(const struct net *net,
						     bool client);

#endif /* _RPCRDMA2_OBSERVE_H */
