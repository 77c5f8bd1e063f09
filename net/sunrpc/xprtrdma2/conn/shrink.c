// SPDX-License-Identifier: GPL-2.0
/*
 * An idle connection gives back memory, on either side and with every version: buffers of
 * send slots, and the reserves of its roles. A server lowers its grant with the next
 * Reply, and then needs fewer Receives. An idle client closes a connection that uses less
 * than version 2 with all properties for a reason that may be gone: the next connection
 * negotiates again.
 */
#include <linux/module.h>

#include "conn/conn.h"
#include "conn/shrink.h"

static unsigned int adapt_seconds = 60;
module_param(adapt_seconds, uint, 0644);
MODULE_PARM_DESC(adapt_seconds,
		 "seconds of inactivity after which a connection releases memory (0: never)");

/* Period of checks while adapt_seconds is 0 */
#define RPCRDMA2_IDLE_CHECK	(60 * HZ)

/**
 * rpcrdma2_shrink_start - schedule the next check for an idle connection
 * @conn: connection that was made or accepted
 *
 * Context: process; does not sleep.
 */
void rpcrdma2_shrink_start(struct rpcrdma2_conn *conn)
{
	rpcrdma2_timer_set(conn, RPCRDMA2_TIMER_SHRINK,
			   READ_ONCE(adapt_seconds) * HZ ?: RPCRDMA2_IDLE_CHECK);
}

/**
 * rpcrdma2_shrink_check - give back memory if the connection is idle
 * @conn: the connection
 *
 * Context: timer of the connection; does not sleep.
 */
void rpcrdma2_shrink_check(struct rpcrdma2_conn *conn)
{
	if (rpcrdma2_conn_quiet(conn, &conn->shrink_calls)) {
		if (rpcrdma2_ver_outdated(conn) &&
		    !rpcrdma2_credit_used(&conn->credit)) {
			rpcrdma2_conn_kill(conn, 0);
			return;
		}
		if (READ_ONCE(adapt_seconds)) {
			rpcrdma2_credit_quiet(&conn->credit);
			conn->p.ops->trim(conn);
			rpcrdma2_sends_trim(conn);
		}
	}
	rpcrdma2_shrink_start(conn);
}
