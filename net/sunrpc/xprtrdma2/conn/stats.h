/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Counters of a transport. They only grow, are updated without locks, and
 * outlive connections. stats_list.h names them.
 */
#ifndef _RPCRDMA2_STATS_H
#define _RPCRDMA2_STATS_H

#include <linux/atomic.h>
#include <linux/cache.h>

enum rpcrdma2_stat {
#define RPCRDMA2_STAT(name, ...)	RPCRDMA2_STAT_##name
#include "conn/stats_list.h"
#undef RPCRDMA2_STAT
	RPCRDMA2_NR_STATS,
};

/**
 * struct rpcrdma2_stats - the counters
 * @v: indexed by enum rpcrdma2_stat
 */
struct rpcrdma2_stats {
	atomic_long_t		v[RPCRDMA2_NR_STATS] ____cacheline_aligned_in_smp;
};

#define rpcrdma2_stat_inc(stats, name)					\
	atomic_long_inc(&(stats)->v[RPCRDMA2_STAT_##name])
#define rpcrdma2_stat_add(stats, name, n)				\
	atomic_long_add((n), &(stats)->v[RPCRDMA2_STAT_##name])
#define rpcrdma2_stat_inc_either(stats, yes, name, other)		\
	atomic_long_inc(&(stats)->v[(yes) ? RPCRDMA2_STAT_##name :	\
					    RPCRDMA2_STAT_##other])
#define rpcrdma2_stat_read(stats, name)					\
	((unsigned long)atomic_long_read(&(stats)->v[RPCRDMA2_STAT_##name]))

#endif /* _RPCRDMA2_STATS_H */
