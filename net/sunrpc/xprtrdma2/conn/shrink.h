/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Memory that connections do not need; see shrink.c. No other file looks into
 * struct rpcrdma2_shrink.
 */
#ifndef _RPCRDMA2_SHRINK_H
#define _RPCRDMA2_SHRINK_H

#include <linux/types.h>
#include <linux/workqueue.h>

struct rpcrdma2_conn;

/**
 * struct rpcrdma2_shrink - is a connection idle?
 * @work: looks from time to time
 * @calls: Calls when it looked last
 */
struct rpcrdma2_shrink {
	struct delayed_work		work;
	unsigned long			calls;
};

unsigned long rpcrdma2_shrink_period(void);
void rpcrdma2_shrink_setup(struct rpcrdma2_conn *conn);
void rpcrdma2_shrink_start(struct rpcrdma2_conn *conn);
void rpcrdma2_shrink_stop(struct rpcrdma2_conn *conn);

#endif /* _RPCRDMA2_SHRINK_H */
