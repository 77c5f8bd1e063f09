// SPDX-License-Identifier: GPL-2.0
/*
 * Transport properties of a connection and the effect of their changes: the messages of
 * the property-change extension, and the limits of messages.
 *
 * prop_change.c decides which message may be sent when; this file sends it. A value of
 * ours changes when the peer asks for the change (REQPROP, answered at once) or when an
 * administrator wants it (UPDPROP). Receives and send slots have a capacity for as long
 * as the connection lives, and the Receive Buffer Size is a number within it: every
 * change takes effect at once. The peer is asked only for larger values, so that no
 * limit has to be obeyed before the peer has agreed to it (CHG-26).
 *
 * props.lock protects properties and changes, and is held while a message about them is
 * posted, so that messages have the order of the changes. Received messages are handled
 * by the completion handler before the next one: a peer that has sent a change obeys it
 * in the messages that follow. Nothing waits while the lock is held. A message for
 * which no control slot is free is sent by the timer of the connection.
 */
#include <linux/string.h>

#include "conn/conn.h"
#include "conn/control.h"
#include <trace/events/rpcrdma2.h>

/* Time until the next attempt if no control slot is free */
#define RPCRDMA2_PROPS_DELAY	msecs_to_jiffies(10)

/**
 * rpcrdma2_props_limits - set the limits of messages
 * @conn: the connection
 * @send: bytes of the largest message that the peer takes; no more than fits into a
 *	send slot counts
 * @recv: bytes of the largest message that the peer may send
 *
 * The builder of a message reads the limit once; rpcrdma2_send_post() checks the message
 * again.
 *
 * Context: props.lock held, or before READY; does not sleep. Requirements: INL-2, INL-3,
 * INL-8.
 */
void rpcrdma2_props_limits(struct rpcrdma2_conn *conn, u32 send, u32 recv)
{
	struct rpcrdma2_msg_size *l = &conn->limits;

	send = min(send, rpcrdma2_sends_size(&conn->sendq));
	if (send == l->send && recv == l->recv)
		return;
	WRITE_ONCE(l->send, send);
	WRITE_ONCE(l->recv, recv);
	trace_rpcrdma2_limits(conn);
}

/* Recompute the limits of messages. A client plans for Replies no longer than the server
 * will receive, and counts on no more than it has announced to the server (D-16).
 */
static void limits_follow(struct rpcrdma2_conn *conn)
{
	struct rpcrdma2_conn_props *props = &conn->props;
	u32 send = rpcrdma2_prop_change_limit(&props->change, &props->peer,
					      RPCRDMA2_RBSIZ);
	u32 recv = RPCRDMA2_INLINE_DEFAULT;

	lockdep_assert_held(&props->lock);
	if (props->peer_seen)
		recv = min(props->mine.val[RPCRDMA2_RBSIZ], props->told_recv);
	if (conn->client)
		recv = min(recv, send);
	rpcrdma2_props_limits(conn, send, recv);
}

/* A value within the capacity is granted at once. But no lower one while a Call is
 * outstanding, since its Reply may be as long as the present value (CHG-27). Calls
 * that take their credit after the check are planned for the lower value.
 */
static u32 rbsiz_grant(struct rpcrdma2_conn *conn, u32 wanted)
{
	struct rpcrdma2_conn_props *props = &conn->props;
	u32 now = props->mine.val[RPCRDMA2_RBSIZ];

	/* Never below the default, thus never below what callbacks need */
	wanted = max(wanted, RPCRDMA2_INLINE_DEFAULT);
	if (wanted > props->capacity)
		return now;
	WRITE_ONCE(props->mine.val[RPCRDMA2_RBSIZ], wanted);
	if (wanted >= now)
		return wanted;
	limits_follow(conn);
	if (rpcrdma2_credit_unused(&conn->credit))
		return wanted;
	WRITE_ONCE(props->mine.val[RPCRDMA2_RBSIZ], now);
	limits_follow(conn);
	return now;
}

/* Properties of ours whose values may change */
static u32 changeable(const struct rpcrdma2_conn_props *props)
{
	return props->mine.listed & ~props->mine.nochg;
}

/* Both sides have announced that they change properties. */
static bool is_extended(const struct rpcrdma2_conn_props *props)
{
	return props->mine.x_change && props->peer.x_change;
}

static void peer_changed(struct rpcrdma2_conn *conn, unsigned long mask)
{
	struct rpcrdma2_change *c = &conn->props.change;
	u32 i;

	for_each_set_bit(i, &mask, RPCRDMA2_NR_PROPS) {
		rpcrdma2_stat_inc(conn->p.stats, peer_props_changed);
		trace_rpcrdma2_prop(conn, "peer", i, conn->props.peer.val[i],
				    c->result[i]);
		rpcrdma2_conn_notify(conn, RPCRDMA2_EVENT_CHANGED);
		rpcrdma2_prop_change_met(c, &conn->props.peer, i);
	}
	limits_follow(conn);
	/* A smaller value cannot carry the protocol (PROP-16, D-27) */
	if (conn->props.peer.val[RPCRDMA2_RBSIZ] < RPCRDMA2_RBSIZ_MIN)
		rpcrdma2_conn_kill(conn, -EPROTO);
}

/* Messages to the peer */

/* Grant as much as possible of the peer's request, and write the body of the answer (CHG-6)
 * to @buf. @told gets the properties whose values the answer announces. Returns bytes, or a
 * negative errno.
 */
static int put_answer(struct rpcrdma2_conn *conn, void *buf, u32 size, u32 *told)
{
	struct rpcrdma2_conn_props *props = &conn->props;
	const struct rpcrdma2_propset *req = &props->request;
	unsigned long asked = req->listed & changeable(props);
	u32 i, done = 0, other = 0, old, now;

	props->unanswered = false;
	for_each_set_bit(i, &asked, RPCRDMA2_NR_PROPS) {
		old = props->mine.val[i];
		/* No other property changes on request */
		now = i == RPCRDMA2_RBSIZ ? rbsiz_grant(conn, req->val[i]) : old;
		if (now == req->val[i])
			done |= BIT(i);
		else if (now != old)
			other |= BIT(i);
		if (now != old)
			rpcrdma2_stat_inc(conn->p.stats, props_changed);
		trace_rpcrdma2_prop(conn, "asked", i, req->val[i], now);
	}
	*told = done | other;
	return rpcrdma2_prop_change_put_resprop(&props->change, req, done, other,
						&props->mine, buf, size);
}

/**
 * rpcrdma2_props_send - send a message about properties
 * @conn: the connection; its Receives are posted already (CONN-12)
 * @xid: our own value, or the peer's when @response
 * @htype: header type
 * @response: the message answers one of the peer (CONN-10)
 *
 * Without a send slot nothing changes.
 *
 * Context: process; does not sleep. props.lock held, except for a CONNPROP.
 * Return: 0, -EAGAIN without a send slot, -ENOTCONN, or an errno of the encoder
 */
int rpcrdma2_props_send(struct rpcrdma2_conn *conn, u32 xid, u32 htype, bool response)
{
	struct rpcrdma2_send *send = rpcrdma2_control_get(conn, xid, htype, response);
	struct rpcrdma2_conn_props *props = &conn->props;
	enum rpcrdma2_stat stat;
	u32 size, told = 0;
	void *buf;
	int ret;

	if (!send)
		return -EAGAIN;
	buf = send->buf + RPCRDMA2_PREFIX;
	size = send->size - RPCRDMA2_PREFIX;
	if (htype == RDMA2_CONNPROP) {
		stat = RPCRDMA2_STAT_tx_connprop;
		ret = rpcrdma2_propset_encode(&props->mine, buf, size);
	} else if (htype == RDMA2_X_REQPROP) {
		stat = RPCRDMA2_STAT_tx_reqprop;
		ret = rpcrdma2_prop_change_put_reqprop(&props->change, xid, buf, size);
	} else if (htype == RDMA2_X_RESPROP) {
		stat = RPCRDMA2_STAT_tx_resprop;
		ret = put_answer(conn, buf, size, &told);
	} else {
		stat = RPCRDMA2_STAT_tx_updprop;
		told = props->change.dirty;
		ret = rpcrdma2_prop_change_put_updprop(&props->change, xid, &props->mine,
						       buf, size);
	}
	ret = rpcrdma2_control_post(send, ret, stat);
	if (ret)
		return ret;
	/* Messages of the peer that follow may be as long as a raised value */
	if (told & BIT(RPCRDMA2_RBSIZ)) {
		props->told_recv = props->mine.val[RPCRDMA2_RBSIZ];
		limits_follow(conn);
	}
	return 0;
}

/* Send the messages that are due. Without a slot the timer tries again. */
static void send_pending(struct rpcrdma2_conn *conn)
{
	struct rpcrdma2_conn_props *props = &conn->props;
	int ret = 0;
	u32 htype;

	while (!ret) {
		htype = rpcrdma2_prop_change_next(&props->change);
		if (props->unanswered)
			ret = rpcrdma2_props_send(conn, props->request_xid,
						  RDMA2_X_RESPROP, true);
		else if (htype)
			ret = rpcrdma2_props_send(conn, atomic_inc_return(&conn->xids),
						  htype, false);
		else
			return;
	}
	if (ret == -EAGAIN)
		rpcrdma2_timer_set(conn, RPCRDMA2_TIMER_PROPS, RPCRDMA2_PROPS_DELAY);
}

/**
 * rpcrdma2_props_work - send pending messages about properties
 * @conn: the connection
 *
 * Context: timer of the connection; does not sleep. Takes props.lock.
 */
void rpcrdma2_props_work(struct rpcrdma2_conn *conn)
{
	guard(spinlock)(&conn->props.lock);
	if (rpcrdma2_conn_ready(conn) && is_extended(&conn->props))
		send_pending(conn);
}

/**
 * rpcrdma2_props_cycle - exchange empty requests and answers with the peer
 * @conn: connection in state READY
 * @rounds: number of requests, one after the other; none if the peer does not answer them
 *
 * Each round takes a posted Receive of either side, and the answer has the present grant
 * of the peer.
 *
 * Context: process; does not sleep. Takes props.lock. Requirements: CHG-24, CHG-31.
 */
void rpcrdma2_props_cycle(struct rpcrdma2_conn *conn, u32 rounds)
{
	scoped_guard(spinlock, &conn->props.lock)
		conn->props.change.rounds = rounds;
	rpcrdma2_timer_set(conn, RPCRDMA2_TIMER_PROPS, 0);
}

/* Messages from the peer */

/* One request is kept until a slot is free for its answer. A peer that sends another
 * one meanwhile does not follow the protocol, and would wait for ever for the answer.
 */
static void recv_reqprop(struct rpcrdma2_conn *conn, struct rpcrdma2_recv *rx)
{
	struct rpcrdma2_propset req;

	rpcrdma2_stat_inc(conn->p.stats, rx_reqprop);
	if (rpcrdma2_prop_change_requested(&rx->hdr, &req)) {
		rpcrdma2_reject(conn, rx, RPCRDMA2_BAD_XDR);
		return;
	}
	if (conn->props.unanswered) {
		rpcrdma2_stat_inc(conn->p.stats, resprops_dropped);
		rpcrdma2_conn_kill(conn, -ENOBUFS);
		return;
	}
	conn->props.request = req;
	conn->props.request_xid = rx->hdr.xid;
	conn->props.unanswered = true;
	send_pending(conn);
}

/* If the message cannot be decoded its body is empty: everything is rejected (CHG-29). */
static void recv_resprop(struct rpcrdma2_conn *conn, struct rpcrdma2_recv *rx)
{
	struct rpcrdma2_propset old = conn->props.peer;
	u32 asked = conn->props.change.asked, mask = 0;
	enum rpcrdma2_prop i;
	bool malformed;

	rpcrdma2_stat_inc(conn->p.stats, rx_resprop);
	if (!rpcrdma2_prop_change_response(&conn->props.change, &rx->hdr,
					   &conn->props.peer, &malformed)) {
		rpcrdma2_reject_dropped(conn, rx);
		return;
	}
	if (malformed)
		rpcrdma2_reject(conn, rx, RPCRDMA2_DROP);
	for (i = 0; i < RPCRDMA2_NR_PROPS; i++) {
		if (old.val[i] != conn->props.peer.val[i])
			mask |= BIT(i);
		if (asked & BIT(i))
			trace_rpcrdma2_prop(conn, "answer", i,
					    conn->props.peer.val[i],
					    conn->props.change.result[i]);
	}
	peer_changed(conn, mask);
	rpcrdma2_timer_set(conn, RPCRDMA2_TIMER_PROPS, 0);
}

static void recv_updprop(struct rpcrdma2_conn *conn, struct rpcrdma2_recv *rx)
{
	struct rpcrdma2_update upd;

	rpcrdma2_stat_inc(conn->p.stats, rx_updprop);
	if (rpcrdma2_prop_change_update(&rx->hdr, &conn->props.peer, &upd)) {
		rpcrdma2_reject(conn, rx, RPCRDMA2_BAD_XDR);
		return;
	}
	if (upd.unasked)
		rpcrdma2_stat_inc(conn->p.stats, props_unasked);
	if (upd.ignored)
		rpcrdma2_stat_inc(conn->p.stats, props_ignored);
	peer_changed(conn, upd.changed);
}

/**
 * rpcrdma2_props_apply - derive limits and possible changes from both sides' properties
 * @conn: connection of version 2
 *
 * Messages that are built from now on obey the limits (CONN-13).
 *
 * Context: process; does not sleep. Takes props.lock.
 */
void rpcrdma2_props_apply(struct rpcrdma2_conn *conn)
{
	struct rpcrdma2_conn_props *props = &conn->props;

	guard(spinlock)(&props->lock);
	if (props->peer_seen)
		rpcrdma2_prop_change_init(&props->change, &props->mine, &props->peer);
	limits_follow(conn);
}

/**
 * rpcrdma2_props_take - store the peer's properties
 * @conn: the connection
 * @rx: a CONNPROP; ignored if it is not the first
 *
 * A message that cannot be decoded is answered with an ERROR, whatever its RESPONSE flag
 * is (ERR-1, D-6).
 *
 * Context: completion handler; does not sleep. Takes props.lock.
 * Return: false if they are invalid; then none is stored
 */
bool rpcrdma2_props_take(struct rpcrdma2_conn *conn, struct rpcrdma2_recv *rx)
{
	struct rpcrdma2_propset set;

	if (rpcrdma2_propset_decode(rx->hdr.body, rx->hdr.body_len, &set) < 0) {
		rpcrdma2_reject(conn, rx, RPCRDMA2_BAD_XDR);
		return false;
	}
	if (conn->props.peer_seen) {
		rpcrdma2_reject_dropped(conn, rx);
		return true;
	}
	if (set.val[RPCRDMA2_RBSIZ] < RPCRDMA2_RBSIZ_MIN) {
		/* It cannot carry the protocol (PROP-16, D-27) */
		rpcrdma2_reject(conn, rx, RPCRDMA2_DROP);
		rpcrdma2_conn_kill(conn, -EPROTO);
		return false;
	}
	guard(spinlock)(&conn->props.lock);
	conn->props.peer = set;
	conn->props.peer_seen = true;
	/* A server says who it is if it was asked (PROP-22) */
	if (!conn->client)
		conn->props.mine.x_identity = set.x_identity && conn->p.identity;
	return true;
}

/**
 * rpcrdma2_props_connprop - handle a CONNPROP
 * @conn: connection whose version is settled
 * @rx: the CONNPROP
 *
 * In a second CONNPROP only the grant counts, as in every message (CONN-8, CRED-14,
 * D-25): a server may have sent one of its own before it answers ours.
 *
 * Context: completion handler; does not sleep. Takes props.lock.
 */
void rpcrdma2_props_connprop(struct rpcrdma2_conn *conn, struct rpcrdma2_recv *rx)
{
	bool second = conn->props.peer_seen;

	rpcrdma2_stat_inc(conn->p.stats, rx_connprop);
	if (!rpcrdma2_props_take(conn, rx))
		return;
	if (!second)
		rpcrdma2_props_apply(conn);
	if (rx->hdr.response) {
		rpcrdma2_credit_granted(conn, rx->hdr.credit);
	} else if (!second && !conn->client &&
		   rpcrdma2_props_send(conn, rx->hdr.xid, RDMA2_CONNPROP, true) ==
		   -EAGAIN) {
		rpcrdma2_conn_kill(conn, -ENOBUFS);
	}
}

/**
 * rpcrdma2_props_receive - handle a message of the property-change extension
 * @conn: the connection
 * @rx: a message that the codec has not accepted, though its version is the right one
 *
 * Context: completion handler; does not sleep. Takes props.lock.
 * Return: true if the message was one of the extension, and has been handled
 */
bool rpcrdma2_props_receive(struct rpcrdma2_conn *conn,
			    struct rpcrdma2_recv *rx)
{
	struct rpcrdma2_hdr *hdr = &rx->hdr;
	enum rpcrdma2_verdict verdict;

	if (!is_extended(&conn->props) || !rpcrdma2_prop_change_type(hdr->htype))
		return false;
	verdict = rpcrdma2_prop_change_decode(rx->buf, rx->len, hdr);
	if (verdict == RPCRDMA2_OK) {
		trace_rpcrdma2_recv(conn, rx);
	} else {
		rpcrdma2_reject(conn, rx, verdict);
		if (verdict != RPCRDMA2_DROP || hdr->htype != RDMA2_X_RESPROP)
			return true;
	}

	/* Only the answer to a request tells the peer of a lower grant */
	if (hdr->htype == RDMA2_X_REQPROP)
		rpcrdma2_credit_rest(conn);
	scoped_guard(spinlock, &conn->props.lock) {
		if (hdr->htype == RDMA2_X_REQPROP)
			recv_reqprop(conn, rx);
		else if (hdr->htype == RDMA2_X_RESPROP)
			recv_resprop(conn, rx);
		else
			recv_updprop(conn, rx);
	}
	if (verdict == RPCRDMA2_OK && rpcrdma2_is_grant(hdr))
		rpcrdma2_credit_granted(conn, hdr->credit);
	return true;
}

/**
 * rpcrdma2_props_error - handle an RDMA2_ERROR about a property change of ours
 * @conn: the connection
 * @hdr: its header
 *
 * Context: completion handler; does not sleep. Takes props.lock. Requirements:
 * HT-9, CHG-17.
 * Return: true if the ERROR was about one, and has been handled
 */
bool rpcrdma2_props_error(struct rpcrdma2_conn *conn,
			  const struct rpcrdma2_hdr *hdr)
{
	guard(spinlock)(&conn->props.lock);
	if (!rpcrdma2_prop_change_error(&conn->props.change, &conn->props.peer,
					hdr->xid, hdr->err))
		return false;
	limits_follow(conn);
	rpcrdma2_timer_set(conn, RPCRDMA2_TIMER_PROPS, 0);
	return true;
}

/* Life */

/**
 * rpcrdma2_props_begin - set the properties that a connection announces
 * @conn: connection whose Receives and send slots exist
 *
 * The private data for the CM say the same to a peer of version 1. Clients count on a server
 * to send as much as it receives (D-16).
 *
 * Context: any. Requirements: CONN-5, PROP-20, HT-8.
 */
void rpcrdma2_props_begin(struct rpcrdma2_conn *conn)
{
	struct rpcrdma2_conn_props *props = &conn->props;
	struct rpcrdma2_propset *mine = &props->mine;
	const u32 *policy = conn->p.policy.val;

	spin_lock_init(&props->lock);
	rpcrdma2_propset_init(mine);
	rpcrdma2_propset_init(&props->peer);
	props->capacity = conn->p.pool->size;
	if (!conn->client)
		props->capacity = min(props->capacity, rpcrdma2_sends_size(&conn->sendq));
	props->told_recv = min(props->capacity, policy[RPCRDMA2_A_POLICY_RECV_SIZE]);
	mine->val[RPCRDMA2_RBSIZ] = props->told_recv;
	mine->val[RPCRDMA2_BRS] = conn->p.brs;
	mine->listed = BIT(RPCRDMA2_NR_PROPS) - 1;
	mine->x_change = policy[RPCRDMA2_A_POLICY_PROPERTY_CHANGE];
	if (mine->x_change)
		mine->nochg = mine->listed &
			      ~rpcrdma2_propset_with(conn->client ? RPCRDMA2_CHG_CLIENT :
								    RPCRDMA2_CHG_SERVER);
	mine->x_identity = conn->p.policy.paths;
	mine->identified = conn->p.identity;
	if (conn->p.identity)
		memcpy(mine->identity, conn->p.identity, sizeof(mine->identity));
	conn->cm_mine = (struct rpcrdma_cm_private) {
		.remote_inval	= policy[RPCRDMA2_A_POLICY_REMOTE_INVALIDATION],
		.send_size	= rpcrdma2_sends_size(&conn->sendq),
		.recv_size	= props->told_recv,
	};
}

/**
 * rpcrdma2_props_identity - get the identity that the server has told
 * @conn: a client's connection in state READY
 * @buf: filled in
 *
 * Context: process; does not sleep. Requirements: PROP-22.
 * Return: @buf; or NULL if the server has told none
 */
const u8 *rpcrdma2_props_identity(struct rpcrdma2_conn *conn, u8 buf[RPCRDMA2_IDENTITY_BYTES])
{
	guard(spinlock)(&conn->props.lock);
	memcpy(buf, conn->props.peer.identity, RPCRDMA2_IDENTITY_BYTES);
	return conn->props.peer.identified ? buf : NULL;
}

/**
 * rpcrdma2_props_takes_calls - check whether the client takes reverse direction Calls
 * @conn: a server's connection in state READY
 *
 * The client may announce another value at any time.
 *
 * Context: any. Requirements: REV-6.
 * Return: false if not
 */
bool rpcrdma2_props_takes_calls(const struct rpcrdma2_conn *conn)
{
	return !conn->codec->props ||
	       READ_ONCE(conn->props.peer.val[RPCRDMA2_BRS]) != RDMA2_RVREQSUP_NONE;
}

/**
 * rpcrdma2_props_show - get properties for display
 * @conn: the connection
 * @shown: filled in
 *
 * Context: process; does not sleep. Takes props.lock.
 */
void rpcrdma2_props_show(struct rpcrdma2_conn *conn,
			 struct rpcrdma2_props_shown *shown)
{
	struct rpcrdma2_conn_props *props = &conn->props;

	guard(spinlock)(&props->lock);
	shown->mine = props->mine;
	shown->peer = props->peer;
	shown->change = props->change;
}

/* Requests of an administrator */

/* Ask the peer for a value of its own; the timer sends the request. But not for a
 * smaller Receive Buffer Size, which we would have to obey before the peer has agreed
 * (CHG-26). Returns 0; -ERANGE; -EPERM if the value cannot be changed, -EOPNOTSUPP if
 * no value can.
 */
static int ask_peer(struct rpcrdma2_conn *conn, enum rpcrdma2_prop prop, u32 value)
{
	struct rpcrdma2_conn_props *props = &conn->props;
	int ret;

	if (prop == RPCRDMA2_RBSIZ) {
		if (value < RPCRDMA2_INLINE_DEFAULT || value > SZ_256K)
			return -ERANGE;
		if (value < props->peer.val[RPCRDMA2_RBSIZ])
			return -EPERM;
	}
	ret = rpcrdma2_prop_change_ask(&props->change, &props->peer, prop, value);
	if (!ret)
		trace_rpcrdma2_prop(conn, "ask", prop, value, 0);
	return ret;
}

/* Change a value of ours; the timer announces it to the peer. */
static int set_own(struct rpcrdma2_conn *conn, enum rpcrdma2_prop prop, u32 value)
{
	struct rpcrdma2_conn_props *props = &conn->props;
	u32 now = props->mine.val[prop];

	if (prop == RPCRDMA2_RBSIZ) {
		if (value > props->capacity)
			return -ERANGE;
		/* Only on the peer's request (CHG-25) */
		if (value < now)
			return -EPERM;
	} else if (!(changeable(props) & BIT(prop))) {
		return -EPERM;
	} else if (value != RDMA2_RVREQSUP_NONE && value != RDMA2_RVREQSUP_INLINE) {
		return -EINVAL;
	}
	if (value == now)
		return 0;
	WRITE_ONCE(props->mine.val[prop], value);
	props->change.dirty |= BIT(prop);
	rpcrdma2_stat_inc(conn->p.stats, props_changed);
	trace_rpcrdma2_prop(conn, "own", prop, value, 0);
	rpcrdma2_conn_notify(conn, RPCRDMA2_EVENT_CHANGED);
	return 0;
}

/**
 * rpcrdma2_props_request - change a property as an administrator requests
 * @conn: the connection
 * @own: change a property of ours; otherwise ask the peer for one of its own
 * @prop: property
 * @value: value
 *
 * Context: process; does not sleep. Takes props.lock.
 * Return: 0; -EOPNOTSUPP: the peer does not take part in changes; -EPERM: the property
 * may not change; -EINVAL or -ERANGE; -ENOTCONN
 */
int rpcrdma2_props_request(struct rpcrdma2_conn *conn, bool own,
			   enum rpcrdma2_prop prop, u32 value)
{
	int ret;

	if (!rpcrdma2_conn_ready(conn))
		return -ENOTCONN;
	guard(spinlock)(&conn->props.lock);
	if (!conn->props.change.on)
		return -EOPNOTSUPP;
	ret = own ? set_own(conn, prop, value) : ask_peer(conn, prop, value);
	if (!ret)
		rpcrdma2_timer_set(conn, RPCRDMA2_TIMER_PROPS, 0);
	return ret;
}
