// SPDX-License-Identifier: GPL-2.0
/*
 * The policy that uses property changes: connections grow when the sizes of
 * their RPCs show that it pays, and give memory back when they are idle.
 *
 * What pays is the server's Receive Buffer Size: a WRITE that goes inline
 * needs no registration and no RDMA Read, and a server sends inline what it
 * would receive (D-16). So it is the client that asks for more, and for less
 * when it has no use for it. The server takes back credits in its next Reply.
 *
 * This file knows nothing of a connection: it counts and says what it wishes,
 * conn_props.c does it. props.lock protects struct rpcrdma2_adapt, but for the
 * counters of misses, which may lose one now and then.
 */
#include <linux/jiffies.h>
#include <linux/module.h>

#include "adapt.h"
#include "stats.h"
#include "wire.h"

/* Calls within so much time that a larger Receive Buffer Size would have let
 * go without a chunk, before it is asked for; distances between requests
 */
#define RPCRDMA2_GROW_MISSES	32U
#define RPCRDMA2_GROW_WINDOW	(10 * HZ)
#define RPCRDMA2_GROW_FIRST	HZ
#define RPCRDMA2_GROW_LAST	(600 * HZ)

/* Calls in a period below which a connection is idle */
#define RPCRDMA2_IDLE_CALLS	32U

static unsigned int adapt_size = SZ_16K + SZ_4K;
module_param(adapt_size, uint, 0644);
MODULE_PARM_DESC(adapt_size,
		 "largest Receive Buffer Size, in bytes, that a client requests from a server automatically (0: never)");

static unsigned int adapt_seconds = 60;
module_param(adapt_seconds, uint, 0644);
MODULE_PARM_DESC(adapt_seconds,
		 "seconds of inactivity after which a connection releases memory (0: never)");

/**
 * rpcrdma2_adapt_setup - a new connection
 * @a: to be set up
 *
 * Context: any.
 */
void rpcrdma2_adapt_setup(struct rpcrdma2_adapt *a)
{
	a->since = jiffies;
	a->grow_at = jiffies;
	a->period_end = jiffies;
}

/**
 * rpcrdma2_adapt_missed - a Call needs a chunk
 * @a: policy of a client's connection
 * @size: Receive Buffer Size of both ends with which it would not, bytes
 *
 * Context: any.
 * Return: true if there were so many that rpcrdma2_adapt_grow() is of use
 */
bool rpcrdma2_adapt_missed(struct rpcrdma2_adapt *a, u32 size)
{
	if (size > READ_ONCE(adapt_size))
		return false;
	if (time_after(jiffies, READ_ONCE(a->since) + RPCRDMA2_GROW_WINDOW)) {
		WRITE_ONCE(a->since, jiffies);
		WRITE_ONCE(a->size, 0);
		atomic_set(&a->missed, 0);
	}
	if (size > READ_ONCE(a->size))
		WRITE_ONCE(a->size, size);
	return atomic_inc_return(&a->missed) == RPCRDMA2_GROW_MISSES;
}

/**
 * rpcrdma2_adapt_grow - would the last seconds' Calls have used more?
 * @a: policy of a client's connection
 * @now: the smaller Receive Buffer Size of the two ends, bytes
 * @want: set to a better one
 *
 * Context: props.lock held.
 * Return: true if @want is of use to both
 */
bool rpcrdma2_adapt_grow(struct rpcrdma2_adapt *a, u32 now, u32 *want)
{
	*want = round_up(READ_ONCE(a->size), SZ_1K);
	if (atomic_read(&a->missed) < RPCRDMA2_GROW_MISSES ||
	    time_before(jiffies, a->grow_at))
		return false;
	atomic_set(&a->missed, 0);
	WRITE_ONCE(a->size, 0);
	if (*want <= now)
		return false;
	/* Not again soon, whatever comes of it */
	a->grow_delay = clamp_t(unsigned long, 2 * a->grow_delay,
				RPCRDMA2_GROW_FIRST, RPCRDMA2_GROW_LAST);
	a->grow_at = jiffies + a->grow_delay;
	return true;
}

static unsigned long calls_so_far(const struct rpcrdma2_stats *stats,
				  bool client)
{
	if (client)
		return rpcrdma2_stat_read(stats, tx_call_msg) +
		       rpcrdma2_stat_read(stats, tx_call_nomsg);
	return rpcrdma2_stat_read(stats, rx_call_msg) +
	       rpcrdma2_stat_read(stats, rx_call_nomsg);
}

/**
 * rpcrdma2_adapt_period - how long a connection has to be idle
 *
 * Context: any.
 * Return: jiffies, 0 if nothing happens then
 */
unsigned long rpcrdma2_adapt_period(void)
{
	return READ_ONCE(adapt_seconds) * HZ;
}

/**
 * rpcrdma2_adapt_quiet - have hardly any Calls come since the last look?
 * @stats: counters of the connection
 * @client: whose Calls: ours (true) or the peer's
 * @seen: number of Calls at that time; updated
 *
 * Context: any.
 * Return: true if so
 */
bool rpcrdma2_adapt_quiet(const struct rpcrdma2_stats *stats, bool client,
			  unsigned long *seen)
{
	unsigned long calls = calls_so_far(stats, client);
	unsigned long more = calls - *seen;

	*seen = calls;
	return more < RPCRDMA2_IDLE_CALLS;
}

/**
 * rpcrdma2_adapt_idle - is a connection idle?
 * @a: its policy
 * @stats: its counters
 * @client: it is a client's
 * @delay: jiffies after which to ask again, 0: never
 *
 * Context: props.lock held.
 * Return: true if so
 */
bool rpcrdma2_adapt_idle(struct rpcrdma2_adapt *a,
			 const struct rpcrdma2_stats *stats, bool client,
			 unsigned long *delay)
{
	bool idle;

	*delay = rpcrdma2_adapt_period();
	if (!*delay)
		return false;
	if (time_before(jiffies, a->period_end)) {
		*delay = a->period_end - jiffies;
		return false;
	}
	idle = rpcrdma2_adapt_quiet(stats, client, &a->calls) && a->counted;
	a->counted = true;
	a->period_end = jiffies + *delay;
	return idle;
}

/**
 * rpcrdma2_adapt_shrunk - less was asked for
 * @a: policy of a client's connection
 *
 * More may be asked for as soon as it is of use.
 *
 * Context: props.lock held.
 */
void rpcrdma2_adapt_shrunk(struct rpcrdma2_adapt *a)
{
	a->grow_delay = 0;
	a->grow_at = jiffies;
}
