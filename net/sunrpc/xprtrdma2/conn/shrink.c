// SPDX-License-Identifier: GPL-2.0
/*
 * An idle connection gives back memory, on either side and with every version: buffers of
 * send slots, unused Receives, and the reserves of its roles. A server lowers its grant
 * with its next Reply or RESPROP, and then needs fewer Receives, as does the client.
 *
 * A posted Receive cannot be withdrawn, and an idle peer may never use it. So an idle client
 * sends empty requests for changes of properties, if the server answers these: each takes
 * one Receive of either side, where each Call of the burst had left one. One request is
 * outstanding at a time, and few are sent per check.
 *
 * An idle client closes a connection that uses less than version 2 with all properties for
 * a reason that may be gone: the next connection negotiates again.
 */
#include <linux/module.h>

#include "conn/conn.h"

static unsigned int adapt_seconds = 60;
module_param(adapt_seconds, uint, 0644);
MODULE_PARM_DESC(adapt_seconds,
		 "seconds of inactivity after which a connection releases memory (0: never)");

/* Requests of an idle client after one check, and checks with requests that the client does
 * not need: for a lower grant, and for Receives of the server that are too many still
 */
#define RPCRDMA2_SHRINK_ROUNDS	32U
#define RPCRDMA2_SHRINK_LEAST	16U
#define RPCRDMA2_SHRINK_ASKS	2

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

/* Let the peer use up posted Receives that are too many. The answer to the first request
 * has a lower grant, unless the server's own check was later.
 */
static void shrink_posted(struct rpcrdma2_conn *conn)
{
	u32 posted = rpcrdma2_recvs_posted(&conn->recvq);
	u32 surplus = posted - min(posted, rpcrdma2_recvs_wanted(&conn->recvq));

	if (!surplus && !conn->shrink_asks)
		return;
	if (conn->shrink_asks)
		conn->shrink_asks--;
	rpcrdma2_props_cycle(conn, clamp(surplus, RPCRDMA2_SHRINK_LEAST,
					 RPCRDMA2_SHRINK_ROUNDS));
}

/**
 * rpcrdma2_shrink_check - give back memory, much of it if the connection is idle
 * @conn: the connection
 *
 * Context: timer of the connection; does not sleep.
 */
void rpcrdma2_shrink_check(struct rpcrdma2_conn *conn)
{
	bool quiet = rpcrdma2_conn_quiet(conn, &conn->shrink_calls);

	if (quiet && rpcrdma2_ver_outdated(conn) &&
	    !rpcrdma2_credit_used(&conn->credit)) {
		rpcrdma2_conn_kill(conn, 0);
		return;
	}
	if (READ_ONCE(adapt_seconds))
		rpcrdma2_recvs_trim(conn);
	if (!quiet) {
		conn->shrink_asks = RPCRDMA2_SHRINK_ASKS;
	} else if (READ_ONCE(adapt_seconds)) {
		rpcrdma2_credit_quiet(&conn->credit);
		conn->p.ops->trim(conn);
		rpcrdma2_sends_trim(conn);
		if (conn->client)
			shrink_posted(conn);
	}
	rpcrdma2_shrink_start(conn);
}
