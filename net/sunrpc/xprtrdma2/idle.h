/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Memory that connections do not need; see idle.c. Nobody else looks into
 * struct rpcrdma2_idle.
 */
#ifndef _RPCRDMA2_IDLE_H
#define _RPCRDMA2_IDLE_H

#include <linux/list.h>
#include <linux/workqueue.h>

struct rpcrdma2_conn;

/**
 * struct rpcrdma2_idle - is a connection idle?
 * @all: link in the list of all connections
 * @work: looks from time to time
 * @calls: Calls when it looked last
 */
struct rpcrdma2_idle {
	struct list_head		all;
	struct delayed_work		work;
	unsigned long			calls;
};

int rpcrdma2_idle_init(void);
void rpcrdma2_idle_exit(void);

void rpcrdma2_idle_setup(struct rpcrdma2_conn *conn);
void rpcrdma2_idle_start(struct rpcrdma2_conn *conn);
void rpcrdma2_idle_stop(struct rpcrdma2_conn *conn);

#endif /* _RPCRDMA2_IDLE_H */
