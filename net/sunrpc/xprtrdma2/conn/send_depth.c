// SPDX-License-Identifier: GPL-2.0
/*
 * The depth of the send queue, and the number of send slots: planned for a device before
 * the QP is created. Nothing is posted yet, so there is no lock.
 */
#include <linux/log2.h>

#include "conn/conn.h"

/* Slots for RPC messages. More Calls than this may be outstanding, since a slot is held
 * only until its Send has completed.
 */
#define RPCRDMA2_MAX_CALL_SLOTS	64U

/* Entries that no message takes: of a probe, of the drain */
#define RPCRDMA2_KEPT_WRS	2U

/* Entries besides those of RPCs */
#define RPCRDMA2_OTHER_WRS	(RPCRDMA2_CONTROL_RESERVE + RPCRDMA2_KEPT_WRS)

/* Entries of most Replies of a server: a Write chunk and the Send */
#define RPCRDMA2_USUAL_REPLY	2U

/* Pages that a Call may register for one chunk: the largest payload, what is
 * around it, and ragged ends
 */
#define RPCRDMA2_CHUNK_PAGES	((SZ_1M >> PAGE_SHIFT) + 5)

/* Entries of the longest chain in a send queue of @depth entries. A client may
 * register memory for a chunk in each direction, and invalidates it later. For a server
 * they are enough for the largest payload in one Write chunk, and the Send; a Reply whose
 * chunks have many segments is posted in parts.
 */
static u32 sq_longest(const struct rpcrdma2_conn *conn, u32 depth)
{
	u32 segs = DIV_ROUND_UP(RPCRDMA2_CHUNK_PAGES, conn->caps.mr_depth);
	u32 pages = DIV_ROUND_UP(conn->p.reply_bytes, PAGE_SIZE) + 1;
	u32 writes = DIV_ROUND_UP(pages, max(conn->caps.max_send_sge, 1U));

	if (conn->client)
		return 1 + 2 * min(segs, RPCRDMA2_MAX_SEGS);
	return min(clamp(writes + 3, 8U, 48U), max(depth / 2, 4U));
}

/* Every message must fit into an empty queue. */
static bool sq_suffices(const struct rpcrdma2_conn *conn, u32 depth)
{
	return depth >= sq_longest(conn, depth) + RPCRDMA2_OTHER_WRS;
}

/* Entries for all Calls and for Replies of usual length; or for as many Sends as are
 * retired at once and two of the longest chains, if that is more. Other messages wait.
 * Each entry can hold all SGEs, and every connection pays for it: devices round up to a
 * power of two, rings that leave an entry free to the next one, and rdma_rw adds to the
 * queue. So the depth stays below a power of two.
 */
static u32 sq_wanted_depth(const struct rpcrdma2_conn *conn)
{
	const struct rpcrdma2_conn_params *p = &conn->p;
	u32 depth = p->calls * p->call_wrs +
		    p->serves * (conn->client ? 1 : RPCRDMA2_USUAL_REPLY) +
		    RPCRDMA2_OTHER_WRS + p->rw_ctxs;
	u32 least = 2 * (RPCRDMA2_SIGNAL_EVERY + sq_longest(conn, U32_MAX)) +
		    RPCRDMA2_OTHER_WRS;

	depth = rounddown_pow_of_two(depth + 1) - 1 - p->rw_ctxs;
	return min(max(depth, least), conn->caps.max_qp_wr);
}

/**
 * rpcrdma2_sends_plan - choose the depth of the send queue and the number of slots
 * @conn: connection with known device
 *
 * Context: any.
 * Return: false if the device's queues are too short for every message
 */
bool rpcrdma2_sends_plan(struct rpcrdma2_conn *conn)
{
	const struct rpcrdma2_conn_params *p = &conn->p;

	conn->sendq.depth = sq_wanted_depth(conn);
	conn->sendq.nslots = RPCRDMA2_CONTROL_RESERVE +
			     min(p->calls, RPCRDMA2_MAX_CALL_SLOTS) +
			     min(p->serves, RPCRDMA2_MAX_CALL_SLOTS);
	return sq_suffices(conn, conn->sendq.depth);
}

/**
 * rpcrdma2_sends_halve - plan a send queue of half the depth
 * @conn: connection without QP
 *
 * The limit of a device depends on the size of an entry, which only the driver knows:
 * max_qp_wr is for small ones. With a shorter queue messages wait more often.
 *
 * Context: any.
 * Return: false if the queue would be too short; then nothing has changed
 */
bool rpcrdma2_sends_halve(struct rpcrdma2_conn *conn)
{
	if (!sq_suffices(conn, conn->sendq.depth / 2))
		return false;
	conn->sendq.depth /= 2;
	return true;
}

/**
 * rpcrdma2_sends_granted - set the depth of the send queue that was created
 * @conn: connection with a new QP
 * @depth: entries of the queue, with those that rdma_rw has added. No more are used than
 *	were planned, since the CQ has space only for these
 *
 * Context: any.
 */
void rpcrdma2_sends_granted(struct rpcrdma2_conn *conn, u32 depth)
{
	conn->sendq.depth = min(depth, conn->sendq.depth) - RPCRDMA2_KEPT_WRS;
	conn->sendq.avail = conn->sendq.depth;
	conn->sendq.most = sq_longest(conn, conn->sendq.depth);
}
