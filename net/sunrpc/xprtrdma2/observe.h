/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What an administrator can read: /sys/kernel/debug/rpcrdma2/.
 */
#ifndef _RPCRDMA2_OBSERVE_H
#define _RPCRDMA2_OBSERVE_H

#include <linux/types.h>

struct rpcrdma2_conn;
struct rpcrdma2_stats;

int rpcrdma2_observe_init(void);
void rpcrdma2_observe_exit(void);
void rpcrdma2_observe_add(struct rpcrdma2_conn *conn);
void rpcrdma2_observe_remove(struct rpcrdma2_conn *conn);
void rpcrdma2_observe_ended(const struct rpcrdma2_stats *stats, bool client);

#endif /* _RPCRDMA2_OBSERVE_H */
