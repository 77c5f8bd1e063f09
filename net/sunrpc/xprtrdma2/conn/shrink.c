// SPDX-License-Identifier: GPL-2.0
/*
 * An idle connection gives back what it keeps for later, in either role and with
 * every version: buffers of send slots, and what its roles keep. A server lowers its
 * grant with the next Reply, and needs fewer Receives then. An idle client closes a
 * connection that speaks less than version 2 with all properties for a reason that
 * may be over: the next connection negotiates again.
 */
#include <linux/module.h>

#include "conn/conn.h"
#include "conn/workqueue.h"

static unsigned int adapt_seconds = 60;
module_param(adapt_seconds, uint, 0644);
MODULE_PARM_DESC(adapt_seconds,
		 "seconds of inactivity after which a connection releases memory (0: never)");

/* How often to look whether adapt_seconds is set */
#define RPCRDMA2_IDLE_LOOK	(60 * HZ)

/**
 * rpcrdma2_shrink_period - how long a connection has to be idle
 *
 * Context: any.
 * Return: jiffies, 0 if nothing happens then
 */
unsigned long rpcrdma2_shrink_period(void)
{
	return READ_ONCE(adapt_seconds) * HZ;
}

static void idle_next(struct rpcrdma2_conn *conn)
{
	queue_delayed_work(rpcrdma2_wq, &conn->shrink.work,
			   rpcrdma2_shrink_period() ?: RPCRDMA2_IDLE_LOOK);
}

static void idle_worker(struct work_struct *work)
{
	struct rpcrdma2_conn *conn = container_of(work, struct rpcrdma2_conn,
						  shrink.work.work);

	if (rpcrdma2_conn_over(conn))
		return;
	if (rpcrdma2_conn_quiet(conn, &conn->shrink.calls)) {
		if (rpcrdma2_ver_outdated(conn) &&
		    !rpcrdma2_credit_used(&conn->credit)) {
			rpcrdma2_conn_kill(conn, 0);
			return;
		}
		if (rpcrdma2_shrink_period()) {
			rpcrdma2_credit_quiet(&conn->credit);
			conn->p.ops->trim(conn);
			rpcrdma2_sends_trim(conn);
		}
	}
	idle_next(conn);
}

/**
 * rpcrdma2_shrink_setup - a new connection
 * @conn: the connection
 *
 * Context: any.
 */
void rpcrdma2_shrink_setup(struct rpcrdma2_conn *conn)
{
	INIT_DELAYED_WORK(&conn->shrink.work, idle_worker);
}

/**
 * rpcrdma2_shrink_start - the connection may have memory to give back
 * @conn: connection that was made or accepted
 *
 * Context: any.
 */
void rpcrdma2_shrink_start(struct rpcrdma2_conn *conn)
{
	idle_next(conn);
}

/**
 * rpcrdma2_shrink_stop - reverse of rpcrdma2_shrink_start()
 * @conn: connection in state CLOSING
 *
 * Context: sleeps.
 */
void rpcrdma2_shrink_stop(struct rpcrdma2_conn *conn)
{
	cancel_delayed_work_sync(&conn->shrink.work);
}
