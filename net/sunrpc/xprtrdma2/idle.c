// SPDX-License-Identifier: GPL-2.0
/*
 * What a connection keeps for later it gives back when it is idle, or when the
 * kernel is short of memory, in either role and with every version: buffers of
 * send slots, and what its owner keeps. What the peer has to agree to, sizes and
 * credits, is up to adapt.c. A client's that speaks less than version 2 with all
 * properties, for a reason that may be over, is closed when it is idle: the next one
 * finds out.
 */
#include <linux/gfp.h>
#include <linux/list.h>
#include <linux/shrinker.h>

#include "compat.h"
#include "conn.h"
#include "module.h"

/* How often to look, if it is not now that memory is to be given back */
#define RPCRDMA2_IDLE_LOOK	(60 * HZ)

static LIST_HEAD(idle_conns);
static DEFINE_SPINLOCK(idle_lock);	/* idle_conns; outside of what trims */
static struct shrinker *idle_shrinker;

static u32 conn_trim(struct rpcrdma2_conn *conn, bool idle)
{
	return conn->p.ops->trim(conn, idle) + rpcrdma2_sends_trim(conn);
}

static unsigned long idle_count(struct shrinker *shrinker,
				struct shrink_control *sc)
{
	const struct rpcrdma2_conn *conn;
	unsigned long n = 0;

	spin_lock(&idle_lock);
	list_for_each_entry(conn, &idle_conns, idle.all)
		n += conn->p.ops->spare(conn) + rpcrdma2_sends_spare(conn);
	spin_unlock(&idle_lock);
	return n ?: SHRINK_EMPTY;
}

/* Those that were looked at go to the end of the list. */
static unsigned long idle_scan(struct shrinker *shrinker,
			       struct shrink_control *sc)
{
	struct rpcrdma2_conn *conn, *last;
	unsigned long n = 0;

	spin_lock(&idle_lock);
	if (!list_empty(&idle_conns)) {
		last = list_last_entry(&idle_conns, struct rpcrdma2_conn,
				       idle.all);
		do {
			conn = list_first_entry(&idle_conns,
						struct rpcrdma2_conn, idle.all);
			n += conn_trim(conn, false);
			list_move_tail(&conn->idle.all, &idle_conns);
		} while (conn != last && n < sc->nr_to_scan);
	}
	spin_unlock(&idle_lock);
	return n ?: SHRINK_STOP;
}

static void idle_next(struct rpcrdma2_conn *conn)
{
	queue_delayed_work(rpcrdma2_wq, &conn->idle.work,
			   rpcrdma2_adapt_period() ?: RPCRDMA2_IDLE_LOOK);
}

static void idle_worker(struct work_struct *work)
{
	struct rpcrdma2_conn *conn = container_of(work, struct rpcrdma2_conn,
						  idle.work.work);

	if (rpcrdma2_conn_over(conn))
		return;
	if (rpcrdma2_adapt_quiet(conn->p.stats, conn->client,
				 &conn->idle.calls)) {
		if (rpcrdma2_ver_outdated(conn) &&
		    !rpcrdma2_credit_used(&conn->rq)) {
			rpcrdma2_conn_kill(conn, 0);
			return;
		}
		if (rpcrdma2_adapt_period()) {
			rpcrdma2_credit_quiet(&conn->rq);
			conn_trim(conn, true);
		}
	}
	idle_next(conn);
}

/**
 * rpcrdma2_idle_setup - a new connection
 * @conn: the connection
 *
 * Context: any.
 */
void rpcrdma2_idle_setup(struct rpcrdma2_conn *conn)
{
	INIT_LIST_HEAD(&conn->idle.all);
	INIT_DELAYED_WORK(&conn->idle.work, idle_worker);
}

/**
 * rpcrdma2_idle_start - the connection may have memory to give back
 * @conn: connection that was made or accepted
 *
 * Context: any.
 */
void rpcrdma2_idle_start(struct rpcrdma2_conn *conn)
{
	spin_lock(&idle_lock);
	list_add_tail(&conn->idle.all, &idle_conns);
	spin_unlock(&idle_lock);
	idle_next(conn);
}

/**
 * rpcrdma2_idle_stop - reverse of rpcrdma2_idle_start()
 * @conn: connection in state CLOSING
 *
 * Context: sleeps.
 */
void rpcrdma2_idle_stop(struct rpcrdma2_conn *conn)
{
	spin_lock(&idle_lock);
	list_del_init(&conn->idle.all);
	spin_unlock(&idle_lock);
	cancel_delayed_work_sync(&conn->idle.work);
}

/**
 * rpcrdma2_idle_init - have the kernel ask for memory when it is short
 *
 * Context: module load.
 * Return: 0 or -ENOMEM.
 */
int rpcrdma2_idle_init(void)
{
	idle_shrinker = shrinker_alloc(0, "rpcrdma2");
	if (!idle_shrinker)
		return -ENOMEM;
	idle_shrinker->count_objects = idle_count;
	idle_shrinker->scan_objects = idle_scan;
	shrinker_register(idle_shrinker);
	return 0;
}

/**
 * rpcrdma2_idle_exit - reverse of rpcrdma2_idle_init()
 *
 * Context: module unload; there are no connections.
 */
void rpcrdma2_idle_exit(void)
{
	shrinker_free(idle_shrinker);
}
