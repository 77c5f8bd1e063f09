// SPDX-License-Identifier: GPL-2.0
/*
 * What a connection keeps for later it gives back when it is idle, in either role
 * and with every version: buffers of send slots, and what its owner keeps. What the
 * peer has to agree to, sizes and credits, is up to adapt.c.
 */
#include "conn.h"
#include "module.h"

/* How often to look, if it is not now that memory is to be given back */
#define RPCRDMA2_IDLE_LOOK	(60 * HZ)

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
				 &conn->idle.calls) &&
	    rpcrdma2_adapt_period()) {
		conn->p.ops->idle(conn);
		rpcrdma2_sends_trim(conn);
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
	INIT_DELAYED_WORK(&conn->idle.work, idle_worker);
}

/**
 * rpcrdma2_idle_start - look from time to time
 * @conn: connection that was made or accepted
 *
 * Context: any.
 */
void rpcrdma2_idle_start(struct rpcrdma2_conn *conn)
{
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
	cancel_delayed_work_sync(&conn->idle.work);
}
