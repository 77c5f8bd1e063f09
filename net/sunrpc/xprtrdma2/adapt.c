// SPDX-License-Identifier: GPL-2.0
/*
 * The policy that uses property changes: connections grow when the sizes of
 * their RPCs show that it pays, and give memory back when they are idle.
 *
 * What pays is the server's Receive Buffer Size: a WRITE that goes inline
 * needs no registration and no RDMA Read, and a server sends inline what it
 * would receive (D-16). So it is the client that asks for more, and for less
 * when it has no use for it. The server takes back credits.
 *
 * props_lock protects struct rpcrdma2_adapt, but for the counters of misses,
 * which may lose one now and then. Process context.
 */
#include <linux/jiffies.h>
#include <linux/module.h>

#include "conn.h"
#include <trace/events/rpcrdma2.h>

/* Calls within so much time that a larger Receive Buffer Size would have let
 * go without a chunk, before it is asked for; distances between requests
 */
#define RPCRDMA2_GROW_MISSES	32U
#define RPCRDMA2_GROW_WINDOW	(10 * HZ)
#define RPCRDMA2_GROW_FIRST	HZ
#define RPCRDMA2_GROW_LAST	(600 * HZ)

/* Calls in a period below which a connection is idle; idle periods in which
 * the server hears of it
 */
#define RPCRDMA2_IDLE_CALLS	32U
#define RPCRDMA2_IDLE_HINTS	3U

static unsigned int adapt_size = SZ_16K + SZ_4K;
module_param(adapt_size, uint, 0644);
MODULE_PARM_DESC(adapt_size,
		 "clients ask servers for a Receive Buffer Size of up to so many bytes if RPCs would use it (0: never)");

static unsigned int adapt_seconds = 60;
module_param(adapt_seconds, uint, 0644);
MODULE_PARM_DESC(adapt_seconds,
		 "connections that are idle for so long give back memory (0: never)");

/**
 * rpcrdma2_adapt_setup - a new connection
 * @conn: the connection
 *
 * Context: any.
 */
void rpcrdma2_adapt_setup(struct rpcrdma2_conn *conn)
{
	conn->adapt.since = jiffies;
	conn->adapt.grow_at = jiffies;
	conn->adapt.period_end = jiffies;
}

/**
 * rpcrdma2_adapt_missed - a Call needs a chunk
 * @conn: client's connection
 * @size: Receive Buffer Size of the server with which it would not, bytes
 *
 * Context: process; does not sleep.
 */
void rpcrdma2_adapt_missed(struct rpcrdma2_conn *conn, u32 size)
{
	struct rpcrdma2_adapt *a = &conn->adapt;

	if (!READ_ONCE(conn->extended) || size > READ_ONCE(adapt_size))
		return;
	if (time_after(jiffies, READ_ONCE(a->since) + RPCRDMA2_GROW_WINDOW)) {
		WRITE_ONCE(a->since, jiffies);
		WRITE_ONCE(a->size, 0);
		atomic_set(&a->missed, 0);
	}
	if (size > READ_ONCE(a->size))
		WRITE_ONCE(a->size, size);
	if (atomic_inc_return(&a->missed) == RPCRDMA2_GROW_MISSES)
		rpcrdma2_props_kick(conn);
}

/* Ask for more if the last seconds' Calls would have used it. */
static void grow(struct rpcrdma2_conn *conn)
{
	struct rpcrdma2_adapt *a = &conn->adapt;
	u32 want = round_up(READ_ONCE(a->size), SZ_1K);

	if (atomic_read(&a->missed) < RPCRDMA2_GROW_MISSES ||
	    time_before(jiffies, a->grow_at))
		return;
	atomic_set(&a->missed, 0);
	WRITE_ONCE(a->size, 0);
	if (want <= conn->peer.val[RPCRDMA2_RBSIZ])
		return;
	/* Not again soon, whatever comes of it */
	a->grow_delay = clamp_t(unsigned long, 2 * a->grow_delay,
				RPCRDMA2_GROW_FIRST, RPCRDMA2_GROW_LAST);
	a->grow_at = jiffies + a->grow_delay;
	trace_rpcrdma2_prop(conn, "grow", RPCRDMA2_RBSIZ, want, 0);
	rpcrdma2_props_ask(conn, RPCRDMA2_RBSIZ, want);
}

static unsigned long calls_so_far(const struct rpcrdma2_conn *conn)
{
	const struct rpcrdma2_stats *stats = conn->p.stats;

	if (conn->client)
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
 * @conn: the connection
 * @seen: number of Calls at that time; updated
 *
 * Context: any.
 * Return: true if so
 */
bool rpcrdma2_adapt_quiet(const struct rpcrdma2_conn *conn,
			  unsigned long *seen)
{
	unsigned long calls = calls_so_far(conn), more = calls - *seen;

	*seen = calls;
	return more < RPCRDMA2_IDLE_CALLS;
}

static void shrink(struct rpcrdma2_conn *conn)
{
	struct rpcrdma2_adapt *a = &conn->adapt;

	if (conn->peer.val[RPCRDMA2_RBSIZ] <= RPCRDMA2_INLINE_DEFAULT) {
		/* The server's period may have ended after our request */
		if (a->idle <= RPCRDMA2_IDLE_HINTS && !conn->change.cycles)
			conn->change.cycles = 1;
		return;
	}
	trace_rpcrdma2_prop(conn, "idle", RPCRDMA2_RBSIZ,
			    RPCRDMA2_INLINE_DEFAULT, 0);
	if (rpcrdma2_props_ask(conn, RPCRDMA2_RBSIZ, RPCRDMA2_INLINE_DEFAULT))
		return;
	rpcrdma2_props_go_round(conn);
	a->grow_delay = 0;
	a->grow_at = jiffies;
}

/**
 * rpcrdma2_adapt_run - ask for what the last Calls have shown to be right
 * @conn: connection in state READY whose peer knows the extension
 *
 * Context: process; does not sleep.
 * Return: jiffies after which to call it again; 0: only after
 *	rpcrdma2_props_kick()
 */
unsigned long rpcrdma2_adapt_run(struct rpcrdma2_conn *conn)
{
	unsigned long period = rpcrdma2_adapt_period();
	struct rpcrdma2_adapt *a = &conn->adapt;

	lockdep_assert_held(&conn->props_lock);
	if (conn->client)
		grow(conn);
	if (!period)
		return 0;
	if (time_before(jiffies, a->period_end))
		return a->period_end - jiffies;
	if (rpcrdma2_adapt_quiet(conn, &a->calls) && a->counted) {
		a->idle++;
		if (conn->client)
			shrink(conn);
	} else {
		a->idle = 0;
	}
	a->counted = true;
	a->period_end = jiffies + period;
	return period;
}

/**
 * rpcrdma2_adapt_asked - a client has sent a REQPROP
 * @conn: server's connection
 *
 * If it is idle it loses the credits that it was granted on demand. Receives
 * are not posted again until fewer than for the new grant are left, so those
 * that the client may still use are there. Grants change in the CQ work item
 * only, so this has to wait for the client's request.
 *
 * Context: CQ work item; sleeps.
 */
void rpcrdma2_adapt_asked(struct rpcrdma2_conn *conn)
{
	u32 first = conn->p.serves_initial;

	lockdep_assert_held(&conn->props_lock);
	if (conn->client || !conn->adapt.idle)
		return;
	conn->adapt.idle = 0;
	spin_lock(&conn->credit_lock);
	if (conn->grant.current_grant > first)
		rpcrdma2_grant_set(&conn->grant, first);
	spin_unlock(&conn->credit_lock);
	rpcrdma2_recv_target(conn, first + conn->window.granted);
}
