/* SPDX-License-Identifier: GPL-2.0 */
/*
 * When to ask for changes; see adapt.c. Nobody else looks into
 * struct rpcrdma2_adapt.
 */
#ifndef _RPCRDMA2_ADAPT_H
#define _RPCRDMA2_ADAPT_H

#include <linux/atomic.h>
#include <linux/types.h>

struct rpcrdma2_stats;

/**
 * struct rpcrdma2_adapt - what the policy knows of a connection
 * @missed: Calls that had to use a chunk since @since and would not with a
 *	larger Receive Buffer Size of the server
 * @since: jiffies
 * @size: the largest of them, bytes
 * @grow_at: jiffies when more may be asked for because of that
 * @grow_delay: distance to the time after that
 * @period_end: end of the period in which Calls are counted
 * @calls: their number when it began
 * @counted: there was a period before
 */
struct rpcrdma2_adapt {
	atomic_t			missed;
	unsigned long			since;
	u32				size;
	unsigned long			grow_at;
	unsigned long			grow_delay;
	unsigned long			period_end;
	unsigned long			calls;
	bool				counted;
};

void rpcrdma2_adapt_setup(struct rpcrdma2_adapt *a);
bool rpcrdma2_adapt_missed(struct rpcrdma2_adapt *a, u32 size);
bool rpcrdma2_adapt_grow(struct rpcrdma2_adapt *a, u32 now, u32 *want);
bool rpcrdma2_adapt_idle(struct rpcrdma2_adapt *a,
			 const struct rpcrdma2_stats *stats, bool client,
			 unsigned long *delay);
void rpcrdma2_adapt_shrunk(struct rpcrdma2_adapt *a);
unsigned long rpcrdma2_adapt_period(void);
bool rpcrdma2_adapt_quiet(const struct rpcrdma2_stats *stats, bool client,
			  unsigned long *seen);

#endif /* _RPCRDMA2_ADAPT_H */
