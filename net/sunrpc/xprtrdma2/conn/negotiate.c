// SPDX-License-Identifier: GPL-2.0
/*
 * Negotiation of the version: version.c decides, this file sends, receives and waits.
 * The client offers versions in its connect path; the first valid message of a
 * supported version settles the version for the server.
 *
 * state_lock protects a client's negotiation. A server's is used only by the handler of
 * messages, which runs one at a time (dispatch.c).
 */
#include <linux/module.h>

#include "conn/conn.h"
#include "conn/control.h"
#include <trace/events/rpcrdma2.h>

#define RPCRDMA2_NUDGE_MS	500	/* period of probes while the peer is silent */
#define RPCRDMA2_SLOW_LINK_MS	15000U	/* upper limit of the wait, for any reason */

static unsigned int remember_min = 60;
module_param(remember_min, uint, 0644);
MODULE_PARM_DESC(remember_min,
		 "seconds to remember that a server did not answer to version 2");

static unsigned int remember_max = 600;
module_param(remember_max, uint, 0644);
MODULE_PARM_DESC(remember_max, "upper limit, in seconds; the time doubles at each repetition");

/**
 * rpcrdma2_ver_setup - prepare a new connection
 * @conn: the connection
 *
 * Context: any.
 */
void rpcrdma2_ver_setup(struct rpcrdma2_conn *conn)
{
	u32 versions = conn->p.policy.val[RPCRDMA2_A_POLICY_VERSIONS];

	conn->ver.policy = (struct rpcrdma2_ver_policy) {
		.v1		= versions != RPCRDMA2_VERSIONS_V2,
		.v2		= versions != RPCRDMA2_VERSIONS_V1,
		.remember_min	= READ_ONCE(remember_min),
		.remember_max	= READ_ONCE(remember_max),
	};
	conn->ver.proved = !conn->client;
}

/* Each reason has a counter (stats_list.h), but for NONE, with which nothing is settled. */
static void ver_count_why(const struct rpcrdma2_conn *conn,
			  enum rpcrdma2_why why)
{
	BUILD_BUG_ON(RPCRDMA2_STAT_why_reply -
		     RPCRDMA2_STAT_why_connprop != RPCRDMA2_NR_WHY - 2);
	atomic_long_inc(&conn->p.stats->v[RPCRDMA2_STAT_why_connprop + why - 1]);
}

/* Apply the rules of the settled version for thresholds and invalidation: INL-8,
 * RINV-20, RINV-21.
 */
static void ver_apply_limits(struct rpcrdma2_conn *conn)
{
	const struct rpcrdma_cm_private *mine = &conn->cm_mine, *peer = &conn->cm_peer;
	bool props = conn->codec->props;
	u32 recv;

	conn->remote_inval = mine->remote_inval && (props || peer->remote_inval);
	if (props) {
		rpcrdma2_props_apply(conn);
		return;
	}
	/* Thresholds of version 1 hold for the life of the connection, so Receives need
	 * not be larger. A peer without private data may expect a page.
	 */
	recv = rpcrdma_cm_threshold(peer, mine);
	rpcrdma2_props_limits(conn, rpcrdma_cm_threshold(mine, peer), recv);
	rpcrdma2_recvs_limit(conn, max(recv, RPCRDMA2_INLINE_DEFAULT));
}

/* Make a connection READY when its version is known. The state is OPEN, and the peer's
 * properties are known if it has sent them. The handler of the message that settles the
 * version calls this, so that the next message already finds the version in force; or the
 * connect path, if no message is needed. Returns false if the connection is lost.
 */
static bool ver_settle(struct rpcrdma2_conn *conn,
		       const struct rpcrdma2_codec *codec,
		       enum rpcrdma2_why why)
{
	WRITE_ONCE(conn->codec, codec);
	conn->why = why;
	ver_apply_limits(conn);
	if (!rpcrdma2_conn_set_state(conn, RPCRDMA2_CONN_READY, 0))
		return false;
	trace_rpcrdma2_settled(conn);
	rpcrdma2_stat_inc(conn->p.stats, connects);
	ver_count_why(conn, why);
	return true;
}

/* Client */

/* A timeout is an event like a message (see version.c). */
static enum rpcrdma2_neg_action ver_timeout(struct rpcrdma2_conn *conn)
{
	guard(spinlock)(&conn->state_lock);
	if (rpcrdma2_conn_over(conn))
		return RPCRDMA2_DO_NOTHING;
	/* Later messages find that the negotiation is over */
	return rpcrdma2_neg_timeout(&conn->ver.neg, ktime_get_boottime_seconds());
}

/* Wait for the result of the negotiation, which is its state. A timeout is an event like a
 * message (see version.c). If the connection is lost, rpcrdma2_ver_lost() draws the
 * conclusion when the connection is closed, since an answer may still be among the
 * completions.
 *
 * While the server's device has not answered a probe, the link is slow or repeats a lost
 * packet. That time does not count against the server.
 */
static void ver_await_answer(struct rpcrdma2_conn *conn)
{
	u32 ms = conn->p.negotiate_ms, slice;
	u32 most = max(ms, RPCRDMA2_SLOW_LINK_MS);
	int ret;

	for (;;) {
		slice = min3(ms, most, (u32)RPCRDMA2_NUDGE_MS);
		ret = rpcrdma2_conn_wait(conn, RPCRDMA2_STEP_NEGOTIATED, slice);
		most -= slice;
		if (!rpcrdma2_keepalive_probing(conn))
			ms -= slice;
		if (ret != -ETIMEDOUT || !ms || !most)
			break;
		/* Tells a dead server from a silent one. Besides, siw may not deliver
		 * the first message before more data arrives.
		 */
		rpcrdma2_keepalive_probe(conn);
	}
	if (ret == -ETIMEDOUT && ver_timeout(conn) == RPCRDMA2_DO_NOTHING)
		/* A message has just ended the negotiation, and is being handled */
		rpcrdma2_conn_wait(conn, RPCRDMA2_STEP_NEGOTIATED, RPCRDMA2_SLOW_LINK_MS);
}

static void ver_ask(struct rpcrdma2_conn *conn)
{
	struct rpcrdma2_neg *neg = &conn->ver.neg;
	enum rpcrdma2_neg_action action;
	int ret;

	scoped_guard(spinlock, &conn->state_lock)
		action = rpcrdma2_neg_connected(neg, &conn->ver.policy, conn->p.mem,
						atomic_inc_return(&conn->xids),
						ktime_get_boottime_seconds());
	switch (action) {
	case RPCRDMA2_DO_SEND_CONNPROP:
		ret = rpcrdma2_props_send(conn, neg->xid, RDMA2_CONNPROP, false);
		break;
	case RPCRDMA2_DO_SEND_CALL:
		ret = rpcrdma2_control_null(conn, neg->xid);
		break;
	case RPCRDMA2_DO_SETTLE:
		ver_settle(conn, &rpcrdma2_codec_v1, neg->why);
		return;
	default:
		return;
	}
	if (ret)
		rpcrdma2_conn_kill(conn, -ENOTCONN);
	ver_await_answer(conn);
}

/**
 * rpcrdma2_ver_offer - negotiate the version with the server
 * @conn: client's connection in state OPEN
 *
 * Implements VER-1..5, VER-10, VER-14, VER-15 by way of version.c.
 *
 * Context: sleeps, p.negotiate_ms as a rule, RPCRDMA2_SLOW_LINK_MS at most.
 * Return: 0, the state is READY; -EPROTO: no common version; -ENOTCONN: rpcrdma2_ver_ended()
 * tells whether to connect once more
 */
int rpcrdma2_ver_offer(struct rpcrdma2_conn *conn)
{
	struct rpcrdma2_neg neg;

	ver_ask(conn);
	scoped_guard(spinlock, &conn->state_lock)
		neg = conn->ver.neg;
	trace_rpcrdma2_negotiated(conn, neg.state, neg.why);
	/* Lost behind the message that settled the version: as if before */
	if (!rpcrdma2_conn_ready(conn))
		return neg.state == RPCRDMA2_NEG_FAILED ? -EPROTO : -ENOTCONN;
	if (conn->codec == &rpcrdma2_codec_v1)
		rpcrdma2_stat_inc(conn->p.stats, fallbacks);
	return 0;
}

/**
 * rpcrdma2_ver_lost - draw conclusions from a loss for the next connection
 * @conn: client's connection that is lost; every message that arrived before has been
 *	handled
 *
 * Context: process; does not sleep. Requirements: VER-13, VER-15.
 */
void rpcrdma2_ver_lost(struct rpcrdma2_conn *conn)
{
	guard(spinlock)(&conn->state_lock);
	rpcrdma2_neg_lost(&conn->ver.neg, ktime_get_boottime_seconds());
}

/**
 * rpcrdma2_ver_ended - decide how the attempt to connect continues
 * @conn: client's connection that did not become READY, closed
 * @dst: the server, for the log
 * @err: the reason
 *
 * Context: process.
 * Return: -EAGAIN: make another connection; -EPROTO: give up; or @err
 */
int rpcrdma2_ver_ended(struct rpcrdma2_conn *conn, const struct sockaddr *dst, int err)
{
	const struct rpcrdma2_neg *neg = &conn->ver.neg;

	if (neg->state == RPCRDMA2_NEG_FAILED) {
		/* A mount reports nothing but the errno */
		ver_count_why(conn, neg->why);
		pr_notice_ratelimited("rpcrdma2: %pISpc: not connected, %s (reason %u)\n",
				      dst, rpcrdma2_neg_why_name(neg->why), neg->why);
		return -EPROTO;
	}
	/* Lost, or to be replaced, after the negotiation has begun: again at once */
	return err == -ENOTCONN && neg->policy && conn->p.ops->wanted(conn) ? -EAGAIN : err;
}

/**
 * rpcrdma2_ver_refused - handle an ERROR about a Call of the settled version
 * @conn: client's connection
 * @error: header of the ERROR
 *
 * A server may not know MSG or NOMSG, and so not conform to version 2. Or version 1 was
 * chosen after losses or silence, and the server offers version 2. The next connection then
 * uses, or offers, the other version, if allowed, and the caller gives up this connection.
 *
 * Context: process; does not sleep. Requirements: ERR-18, VER-10, D-22, D-34.
 * Return: false if another connection would not help; then nothing has changed
 */
bool rpcrdma2_ver_refused(struct rpcrdma2_conn *conn, const struct rpcrdma2_hdr *error)
{
	guard(spinlock)(&conn->state_lock);
	return rpcrdma2_neg_refused(&conn->ver.neg, error, ktime_get_boottime_seconds());
}

/* Process the message that has settled version 2: a CONNPROP, or the Reply to our Call. */
static void client_take_answer(struct rpcrdma2_conn *conn,
			       struct rpcrdma2_recv *rx)
{
	if (rx->hdr.htype == RDMA2_CONNPROP) {
		rpcrdma2_stat_inc(conn->p.stats, rx_connprop);
		/* The negotiation has checked the properties already */
		rpcrdma2_props_take(conn, rx);
	} else {
		rpcrdma2_stat_inc(conn->p.stats, rx_reply_msg);
	}
	if (rx->hdr.response)
		rpcrdma2_credit_granted(conn, rx->hdr.credit);
}

/* Hand a message to the negotiation, before the version is settled. */
static void client_negotiate(struct rpcrdma2_conn *conn,
			     struct rpcrdma2_recv *rx)
{
	enum rpcrdma2_neg_action action;

	scoped_guard(spinlock, &conn->state_lock)
		action = rpcrdma2_neg_message(&conn->ver.neg, rx->buf, rx->len, &rx->hdr,
					      ktime_get_boottime_seconds());

	trace_rpcrdma2_recv(conn, rx);
	if (action == RPCRDMA2_DO_NOTHING) {
		rpcrdma2_reject_dropped(conn, rx);
		return;
	}
	if (action == RPCRDMA2_DO_BAD_XDR) {		/* keep waiting */
		rpcrdma2_reject(conn, rx, RPCRDMA2_BAD_XDR);
		return;
	}
	if (action == RPCRDMA2_DO_SETTLE) {
		bool v2 = conn->ver.neg.state == RPCRDMA2_NEG_V2;

		if (v2)
			client_take_answer(conn, rx);
		if (!ver_settle(conn, v2 ? &rpcrdma2_codec_v2 : &rpcrdma2_codec_v1,
				conn->ver.neg.why))
			return;		/* the connection is lost */
	}
	/* The connect path does the rest */
	rpcrdma2_conn_step(conn, RPCRDMA2_STEP_NEGOTIATED);
}

/**
 * rpcrdma2_ver_works - note that a valid message of the settled version has arrived
 * @conn: the connection
 *
 * Once is enough, see rpcrdma2_ver_proved().
 *
 * Context: completion handler; does not sleep. Takes state_lock.
 */
void rpcrdma2_ver_works(struct rpcrdma2_conn *conn)
{
	conn->ver.proved = true;
	guard(spinlock)(&conn->state_lock);
	rpcrdma2_neg_proved(&conn->ver.neg);
}

/* Server */

/* Settle the version by the first valid message of a supported version (VER-20). What it
 * says is still to be handled, the properties in a CONNPROP included.
 *
 * A client sends as soon as it has accepted the connection, and its message may overtake
 * the one by which its CM reports that, which may also be lost. Without the notification
 * the CM would report a refusal to a client that loses its connection.
 */
static bool server_settle(struct rpcrdma2_conn *conn, struct rpcrdma2_recv *rx)
{
	if (rpcrdma2_conn_set_state(conn, RPCRDMA2_CONN_OPEN, 0))
		rdma_notify(conn->cm_id, IB_EVENT_COMM_EST);
	if (!ver_settle(conn, rpcrdma2_wire_codec(rx->hdr.vers),
			rx->hdr.htype == RDMA2_CONNPROP ? RPCRDMA2_WHY_CONNPROP :
							  RPCRDMA2_WHY_CALL))
		return false;
	rpcrdma2_credit_first(conn, rx->hdr.credit);
	return true;
}

static bool server_message(struct rpcrdma2_conn *conn, struct rpcrdma2_recv *rx,
			   enum rpcrdma2_verdict *verdict)
{
	enum rpcrdma2_srv_action action;

	action = rpcrdma2_srv_ver_message(&conn->ver.policy, conn->codec, rx->buf,
					  rx->len, &rx->hdr, verdict);
	if (*verdict == RPCRDMA2_BAD_VERS && action != RPCRDMA2_SRV_DROP)
		rpcrdma2_stat_inc(conn->p.stats, rx_bad_vers);
	switch (action) {
	case RPCRDMA2_SRV_PASS:
		return true;
	case RPCRDMA2_SRV_SETTLE:
		return server_settle(conn, rx);
	case RPCRDMA2_SRV_DROP:
		rpcrdma2_reject(conn, rx, RPCRDMA2_DROP);
		break;
	case RPCRDMA2_SRV_ERR_VERS:
	case RPCRDMA2_SRV_ERR_VERS_CLOSE:
		rpcrdma2_control_err_vers(conn, &rx->hdr,
					  action == RPCRDMA2_SRV_ERR_VERS_CLOSE);
		break;
	case RPCRDMA2_SRV_CLOSE:
		rpcrdma2_conn_kill(conn, -EPROTO);
		break;
	}
	return false;
}

/* Both */

/**
 * rpcrdma2_ver_message - hand a message to the negotiation
 * @conn: connection that is not READY; or a server's, and the message has another version
 * @rx: holds the message; its header is decoded
 * @verdict: server: the codec's verdict on the message
 *
 * Context: completion handler; does not sleep.
 * Return: false if the message has been handled
 */
bool rpcrdma2_ver_message(struct rpcrdma2_conn *conn, struct rpcrdma2_recv *rx,
			  enum rpcrdma2_verdict *verdict)
{
	if (!conn->client)
		return server_message(conn, rx, verdict);
	client_negotiate(conn, rx);
	return false;
}

/**
 * rpcrdma2_ver_outdated - tell whether another connection would offer more
 * @conn: the connection
 *
 * A connection keeps its version. If silence, a loss or an error was the reason for that
 * version, the connection is not to outlive the memory of that reason (VER-16).
 *
 * Context: process; does not sleep.
 * Return: true if another connection would offer all of version 2
 */
bool rpcrdma2_ver_outdated(struct rpcrdma2_conn *conn)
{
	if (!conn->client)
		return false;
	guard(spinlock)(&conn->state_lock);
	return rpcrdma2_neg_outdated(&conn->ver.neg, ktime_get_boottime_seconds());
}

/**
 * rpcrdma2_ver_relearn - have the next connection offer version 2 again (VER-16)
 * @conn: a connection of the transport whose memory is cleared
 *
 * Context: process; does not sleep.
 * Return: 0; -EINVAL: this is the server's end
 */
int rpcrdma2_ver_relearn(struct rpcrdma2_conn *conn)
{
	if (!conn->client)
		return -EINVAL;
	guard(spinlock)(&conn->state_lock);
	rpcrdma2_neg_forget(conn->p.mem);
	return 0;
}
