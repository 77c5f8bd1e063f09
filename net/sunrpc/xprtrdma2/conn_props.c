// SPDX-License-Identifier: GPL-2.0
/*
 * Transport properties of a connection and what changes of them mean: the
 * messages of the property-change extension, the size of Receives and of
 * send slots.
 *
 * change.c knows what may be sent when; this file does it. A value of ours
 * changes when the peer asks for it (REQPROP, answered at once) or when we
 * want it (UPDPROP). What takes time is done by a work item, which
 * rpcrdma2_conn_kick() starts whenever something has happened that it may
 * have waited for: Receives of the old size are used up, send slots have the
 * new size, messages built under the old limit are posted. What we want is up
 * to adapt.c and to the administrator; conn_limits.c makes messages obey.
 *
 * props.lock protects properties and changes, and is held while a message about
 * them is posted, so that their order is that of the changes. Messages that
 * arrive are dealt with where they arrive, before the next one is looked at: who
 * has sent a change obeys it in what it sends next. Nothing that is done with the
 * lock held waits; what takes memory or time is the work item's, without it.
 */
#include <linux/string.h>

#include "conn.h"
#include "control.h"
#include <trace/events/rpcrdma2.h>

/* After a refusal to lower, ask again: so often, at such a distance at first
 * and twice the last one after that
 */
#define RPCRDMA2_LOWER_RETRIES	8U
#define RPCRDMA2_LOWER_FIRST	msecs_to_jiffies(10)

/* No control slot or no memory is free: look again */
#define RPCRDMA2_PROPS_DELAY	msecs_to_jiffies(10)

/* The largest size of ours that the peer may ask for. A client gets no more
 * than what was announced to it before it has been served something that not
 * everybody may have.
 */
static u32 grant_limit(const struct rpcrdma2_conn *conn)
{
	u32 most = conn->p.policy.val[RPCRDMA2_POLICY_RECV_MAX];

	if (conn->client || conn->p.ops->trusted(conn))
		return most;
	return min(most, rpcrdma2_recvs_first(conn->p.pool));
}

/* What messages must obey from now on; @soon: also what the peer is about to be
 * asked for. A client plans for Replies no longer than the server will receive
 * (D-16). Once it asks the server for less it plans for less, so that no Call
 * that follows the request needs a longer one.
 */
static void limits_follow(struct rpcrdma2_conn *conn, bool soon)
{
	struct rpcrdma2_conn_props *props = &conn->props;
	struct rpcrdma2_limits_basis basis = {
		.send	= rpcrdma2_change_limit(&props->change, &props->peer,
						RPCRDMA2_RBSIZ, soon),
		.peer	= props->peer.val[RPCRDMA2_RBSIZ],
		.mine	= min(props->mine.val[RPCRDMA2_RBSIZ],
			      props->told_recv),
		.recv	= RPCRDMA2_INLINE_DEFAULT,
	};

	lockdep_assert_held(&props->lock);
	if (props->peer_seen)
		basis.recv = min3(basis.mine,
				  conn->client ? basis.send : basis.peer,
				  props->plan_recv);
	rpcrdma2_limits_apply(conn, &basis);
}

/* Values of ours */

/* The peer has to be told of a new value. */
static void announce(struct rpcrdma2_conn *conn, enum rpcrdma2_prop prop,
		     u32 value)
{
	WRITE_ONCE(conn->props.mine.val[prop], value);
	rpcrdma2_change_announce(&conn->props.change, prop);
	rpcrdma2_stat_inc(conn->p.stats, props_changed);
	trace_rpcrdma2_prop(conn, "own", prop, value, 0);
	rpcrdma2_conn_changed(conn);
}

/* A server's send slots hold as much as its Receives, because a client takes
 * for granted that it sends what it receives (D-16). They grow before and
 * shrink after it. Those of a client follow its server's size.
 */
static void slots_follow(struct rpcrdma2_conn *conn, u32 size)
{
	if (!conn->client)
		rpcrdma2_sends_resize(conn, size);
}

static const u8 __maybe_unused own_next_sizes[] = {
	[RPCRDMA2_OWN_STEADY]	= BIT(RPCRDMA2_OWN_SLOTS) |
				  BIT(RPCRDMA2_OWN_RECEIVES),
	[RPCRDMA2_OWN_SLOTS]	= BIT(RPCRDMA2_OWN_SLOTS) |
				  BIT(RPCRDMA2_OWN_RECEIVES) |
				  BIT(RPCRDMA2_OWN_STEADY),
	[RPCRDMA2_OWN_RECEIVES]	= BIT(RPCRDMA2_OWN_SLOTS) |
				  BIT(RPCRDMA2_OWN_RECEIVES) |
				  BIT(RPCRDMA2_OWN_STEADY),
};

/* The only place where @own_size changes, and with it the size of Receives to be
 * posted from now on, and on a server that of send slots.
 */
static void own_size_set(struct rpcrdma2_conn *conn, enum rpcrdma2_own_size to,
			 u32 size)
{
	enum rpcrdma2_own_size from = conn->props.own_size;

	lockdep_assert_held(&conn->props.lock);
	lockdep_assert(from == to || own_next_sizes[from] & BIT(to));
	trace_rpcrdma2_own_size(conn, from, to, size);
	conn->props.own_size = to;
	rpcrdma2_recvs_resize(conn, size);
	slots_follow(conn, size);
}

/* How far has a raise come? Returns true if the peer may be told of it now. */
static bool raise_complete(struct rpcrdma2_conn *conn)
{
	u32 size = rpcrdma2_recvs_goal(conn->p.pool);

	if (conn->props.own_size == RPCRDMA2_OWN_SLOTS &&
	    rpcrdma2_sends_size(&conn->sq) >= size)
		own_size_set(conn, RPCRDMA2_OWN_RECEIVES, size);
	if (conn->props.own_size != RPCRDMA2_OWN_RECEIVES ||
	    !rpcrdma2_recvs_announce(conn))
		return false;
	own_size_set(conn, RPCRDMA2_OWN_STEADY, size);
	return true;
}

/* Begin to raise it. */
static void raise_begin(struct rpcrdma2_conn *conn, u32 size)
{
	enum rpcrdma2_own_size to = conn->client ? RPCRDMA2_OWN_RECEIVES :
						   RPCRDMA2_OWN_SLOTS;

	conn->props.plan_recv = U32_MAX;
	if (rpcrdma2_recvs_goal(conn->p.pool) == size)
		return;
	/* The value that the peer knows: an earlier raise is given up */
	if (size == conn->props.mine.val[RPCRDMA2_RBSIZ])
		to = RPCRDMA2_OWN_STEADY;
	own_size_set(conn, to, size);
	rpcrdma2_conn_kick(conn);
}

/* Lower it as far as Calls allow that were sent without a Reply chunk under
 * the present value (CHG-27). New ones are planned for the lower value in any
 * case, so that the peer gets more when it asks again.
 */
static u32 lower(struct rpcrdma2_conn *conn, u32 wanted)
{
	u32 now = conn->props.mine.val[RPCRDMA2_RBSIZ];
	u32 due, value;

	conn->props.plan_recv = wanted;
	limits_follow(conn, false);
	due = conn->p.ops->replies_due(conn);
	if (due >= now)
		return now;
	value = min(now, max(wanted, round_up(due, SZ_1K)));
	if (value == now)
		return now;
	WRITE_ONCE(conn->props.mine.val[RPCRDMA2_RBSIZ], value);
	own_size_set(conn, RPCRDMA2_OWN_STEADY, value);
	if (value == wanted)
		conn->props.plan_recv = U32_MAX;
	return value;
}

/*
 * What a property is to a connection, one entry for each entry of
 * props_list.h:
 * @grant: the peer asks for a value of ours. Returns our value now in force
 * @applied: the peer's value has changed
 */
struct prop_apply {
	u32	(*grant)(struct rpcrdma2_conn *conn, u32 wanted);
	void	(*applied)(struct rpcrdma2_conn *conn);
};

static u32 rbsiz_grant(struct rpcrdma2_conn *conn, u32 wanted)
{
	u32 now = conn->props.mine.val[RPCRDMA2_RBSIZ];

	/* Never below the default, thus never below what callbacks need */
	wanted = clamp(wanted, RPCRDMA2_INLINE_DEFAULT,
		       max(grant_limit(conn), now));
	if (wanted < now) {
		now = lower(conn, wanted);
	} else if (wanted == now) {
		conn->props.plan_recv = U32_MAX;
		own_size_set(conn, RPCRDMA2_OWN_STEADY, now);
	} else {
		raise_begin(conn, wanted);
		if (raise_complete(conn)) {
			now = wanted;
			WRITE_ONCE(conn->props.mine.val[RPCRDMA2_RBSIZ], now);
		}
	}
	/* The answer tells it */
	rpcrdma2_change_answered(&conn->props.change, RPCRDMA2_RBSIZ);
	return now;
}

static void rbsiz_applied(struct rpcrdma2_conn *conn)
{
	u32 peer = conn->props.peer.val[RPCRDMA2_RBSIZ];

	if (peer < RPCRDMA2_RBSIZ_MIN) {
		/* It cannot carry the protocol (PROP-16, D-27) */
		rpcrdma2_conn_kill(conn, -EPROTO);
		return;
	}
	/* What we went round for */
	if (!conn->props.go_round &&
	    peer >= conn->props.change.value[RPCRDMA2_RBSIZ])
		conn->props.change.cycles = 0;
	rpcrdma2_conn_kick(conn);
}

/* Whether callbacks are served is not the server's to decide. */
static u32 brs_grant(struct rpcrdma2_conn *conn, u32 wanted)
{
	return conn->props.mine.val[RPCRDMA2_BRS];
}

/* The server looks at the value before each Call (REV-6). */
static void brs_applied(struct rpcrdma2_conn *conn)
{
	rpcrdma2_conn_kick(conn);
}

static const struct prop_apply prop_apply[RPCRDMA2_NR_PROPS] = {
	[RPCRDMA2_RBSIZ] = { rbsiz_grant, rbsiz_applied },
	[RPCRDMA2_BRS]	 = { brs_grant, brs_applied },
};

static void peer_changed(struct rpcrdma2_conn *conn, u32 mask)
{
	struct rpcrdma2_change *c = &conn->props.change;
	enum rpcrdma2_prop i;

	for (i = 0; i < RPCRDMA2_NR_PROPS; i++) {
		if (!(mask & BIT(i)))
			continue;
		rpcrdma2_stat_inc(conn->p.stats, peer_props_changed);
		trace_rpcrdma2_prop(conn, "peer", i, conn->props.peer.val[i],
				    c->result[i]);
		rpcrdma2_conn_changed(conn);
		/* "Not now", and here it is */
		if (c->result[i] == RPCRDMA2_CHANGE_REJECTED &&
		    conn->props.peer.val[i] == c->value[i])
			c->result[i] = RPCRDMA2_CHANGE_DONE;
	}
	limits_follow(conn, rpcrdma2_tx_draining(&conn->limits));
	for (i = 0; i < RPCRDMA2_NR_PROPS; i++)
		if (mask & BIT(i))
			prop_apply[i].applied(conn);
}

/* Messages to the peer */

static void send_reqprop(struct rpcrdma2_conn *conn)
{
	u32 xid = atomic_inc_return(&conn->xids);
	struct rpcrdma2_send *send;
	int hdr, body;

	send = rpcrdma2_control_get(conn, xid, RDMA2_X_REQPROP, false, &hdr);
	if (!send) {
		rpcrdma2_conn_kick_later(conn, RPCRDMA2_PROPS_DELAY);
		return;
	}
	body = rpcrdma2_change_put_reqprop(&conn->props.change, xid,
					   send->buf + hdr, send->size - hdr);
	rpcrdma2_tx_resume(conn);
	limits_follow(conn, false);
	if (!rpcrdma2_control_post(conn, send, xid, RDMA2_X_REQPROP, hdr, body))
		rpcrdma2_stat_inc(conn->p.stats, tx_reqprop);
}

static void send_updprop(struct rpcrdma2_conn *conn)
{
	u32 xid = atomic_inc_return(&conn->xids);
	struct rpcrdma2_send *send;
	int hdr, body;

	send = rpcrdma2_control_get(conn, xid, RDMA2_X_UPDPROP, false, &hdr);
	if (!send) {
		rpcrdma2_conn_kick_later(conn, RPCRDMA2_PROPS_DELAY);
		return;
	}
	body = rpcrdma2_change_put_updprop(&conn->props.change, xid,
					   &conn->props.mine, send->buf + hdr,
					   send->size - hdr);
	if (rpcrdma2_control_post(conn, send, xid, RDMA2_X_UPDPROP, hdr, body))
		return;
	rpcrdma2_stat_inc(conn->p.stats, tx_updprop);
	/* Replies to Calls after this may be as long */
	conn->props.told_recv = conn->props.mine.val[RPCRDMA2_RBSIZ];
	limits_follow(conn, rpcrdma2_tx_draining(&conn->limits));
}

/* Send what is to be sent, unless it has to wait. */
static void send_next(struct rpcrdma2_conn *conn)
{
	struct rpcrdma2_change *c = &conn->props.change;

	if (rpcrdma2_change_next(c) == RPCRDMA2_CHANGE_UPDPROP)
		send_updprop(conn);
	if (rpcrdma2_change_next(c) != RPCRDMA2_CHANGE_REQPROP)
		return;
	/* Our own Sends obey a lower value before it is asked for (CHG-26) */
	if (rpcrdma2_change_limit(c, &conn->props.peer, RPCRDMA2_RBSIZ, true) <
	    rpcrdma2_change_limit(c, &conn->props.peer, RPCRDMA2_RBSIZ, false)) {
		limits_follow(conn, true);
		if (!rpcrdma2_tx_drained(conn))
			return;
	}
	send_reqprop(conn);
}

/* A raise goes on, or is complete. */
static void raise_progress(struct rpcrdma2_conn *conn)
{
	struct rpcrdma2_change *c = &conn->props.change;
	u32 size = rpcrdma2_recvs_goal(conn->p.pool);

	if (conn->props.own_size == RPCRDMA2_OWN_STEADY)
		return;
	if (raise_complete(conn)) {
		announce(conn, RPCRDMA2_RBSIZ, size);
		return;
	}
	if (!conn->client && rpcrdma2_sends_goal(&conn->sq) < size) {
		/* No memory for the slots */
		own_size_set(conn, RPCRDMA2_OWN_STEADY,
			     conn->props.mine.val[RPCRDMA2_RBSIZ]);
		return;
	}
	/* Our own wish: each answer to an empty request takes a Receive of
	 * the old size (D-32)
	 */
	if (conn->props.want_recv == size && conn->props.own_cycles) {
		conn->props.own_cycles--;
		if (!c->cycles)
			c->cycles = 1;
	}
}

/* A client's slots are as large as what it may send. */
static void client_slots(struct rpcrdma2_conn *conn)
{
	if (!conn->client || rpcrdma2_tx_draining(&conn->limits) ||
	    conn->props.change.pending)
		return;
	rpcrdma2_sends_resize(conn, min(max(conn->p.send_size,
					    conn->props.want_send),
					conn->props.peer.val[RPCRDMA2_RBSIZ]));
}

/* Time to ask again for a lower value? */
static void retry_lower(struct rpcrdma2_conn *conn)
{
	struct rpcrdma2_change *c = &conn->props.change;

	if (!conn->props.retries || c->pending || c->want & BIT(RPCRDMA2_RBSIZ))
		return;
	if (time_before(jiffies, conn->props.retry_at)) {
		rpcrdma2_conn_kick_later(conn, conn->props.retry_at - jiffies);
		return;
	}
	conn->props.retries--;
	conn->props.retry_delay *= 2;
	rpcrdma2_change_ask(c, &conn->props.peer, RPCRDMA2_RBSIZ,
			    c->value[RPCRDMA2_RBSIZ]);
}

/* Use up the peer's Receives of an old size: empty requests take those for our
 * Calls, those for Replies to its own, and those of its reserve, of which peers
 * may have several times as many as we do (CHG-24).
 */
static void go_round(struct rpcrdma2_conn *conn)
{
	lockdep_assert_held(&conn->props.lock);
	conn->props.change.cycles = rpcrdma2_credit_have(&conn->rq) +
				    rpcrdma2_credit_grant(&conn->rq) +
				    4 * RPCRDMA2_CONTROL_RESERVE;
}

/* Ask the peer for a value of its own; the work item sends it. A request to lower
 * that is refused is repeated for a while. Returns 0; -ERANGE; -EPERM if the
 * value can't be changed, -EOPNOTSUPP if no value can.
 */
static int props_ask(struct rpcrdma2_conn *conn, enum rpcrdma2_prop prop,
		     u32 value)
{
	int ret;

	lockdep_assert_held(&conn->props.lock);
	if (prop == RPCRDMA2_RBSIZ &&
	    (value < RPCRDMA2_INLINE_DEFAULT || value > SZ_256K))
		return -ERANGE;
	ret = rpcrdma2_change_ask(&conn->props.change, &conn->props.peer, prop,
				  value);
	if (ret)
		return ret;
	if (prop == RPCRDMA2_RBSIZ) {
		conn->props.go_round = true;
		conn->props.retries = RPCRDMA2_LOWER_RETRIES;
		conn->props.retry_at = jiffies;
		conn->props.retry_delay = RPCRDMA2_LOWER_FIRST;
		conn->props.want_send = min_t(u32, value, SZ_64K);
	}
	trace_rpcrdma2_prop(conn, "ask", prop, value, 0);
	return 0;
}

static int raise_own(struct rpcrdma2_conn *conn, u32 size)
{
	if (size > conn->p.policy.val[RPCRDMA2_POLICY_RECV_MAX])
		return -ERANGE;
	/* Only on the peer's request (CHG-25) */
	if (size < conn->props.mine.val[RPCRDMA2_RBSIZ])
		return -EPERM;
	conn->props.want_recv = size;
	conn->props.own_cycles = 2 * rpcrdma2_recvs_max(&conn->rq);
	raise_begin(conn, size);
	return 0;
}

/* What the policy wants; returns jiffies until its next time, or 0. */
static unsigned long follow_policy(struct rpcrdma2_conn *conn)
{
	struct rpcrdma2_adapt *adapt = &conn->props.adapt;
	u32 peer = conn->props.peer.val[RPCRDMA2_RBSIZ];
	u32 mine = conn->props.mine.val[RPCRDMA2_RBSIZ], want;
	unsigned long delay;

	if (conn->client &&
	    rpcrdma2_adapt_grow(adapt, min(peer, mine), &want)) {
		trace_rpcrdma2_prop(conn, "grow", RPCRDMA2_RBSIZ, want, 0);
		if (want > peer)
			props_ask(conn, RPCRDMA2_RBSIZ, want);
		/* An idle server has asked for less than we began with */
		if (mine < min(want, rpcrdma2_recvs_first(conn->p.pool)))
			raise_own(conn, rpcrdma2_recvs_first(conn->p.pool));
	}
	if (rpcrdma2_adapt_idle(adapt, conn->p.stats, conn->client, &delay) &&
	    peer > RPCRDMA2_INLINE_DEFAULT) {
		want = RPCRDMA2_INLINE_DEFAULT;
		trace_rpcrdma2_prop(conn, "idle", RPCRDMA2_RBSIZ, want, 0);
		if (!props_ask(conn, RPCRDMA2_RBSIZ, want)) {
			go_round(conn);
			rpcrdma2_adapt_shrunk(adapt);
		}
	}
	return delay;
}

/* Grant what can be granted, and tell so (CHG-6). Without room for the answer
 * nothing is granted yet: returns false then.
 */
static bool answer_request(struct rpcrdma2_conn *conn)
{
	const struct rpcrdma2_reqprop *req = &conn->props.request;
	u32 done = 0, other = 0, known, old, now;
	u32 xid = conn->props.request_xid;
	struct rpcrdma2_send *send;
	enum rpcrdma2_prop i;
	int hdr, body;

	send = rpcrdma2_control_get(conn, xid, RDMA2_X_RESPROP, true, &hdr);
	if (!send)
		return false;
	conn->props.unanswered = false;
	known = rpcrdma2_change_known(req) &
		rpcrdma2_props_changeable(conn->client);
	for (i = 0; i < RPCRDMA2_NR_PROPS; i++) {
		if (!(known & BIT(i)))
			continue;
		old = conn->props.mine.val[i];
		now = prop_apply[i].grant(conn, req->set.val[i]);
		if (now == req->set.val[i])
			done |= BIT(i);
		else if (now != old)
			other |= BIT(i);
		if (now != old)
			rpcrdma2_stat_inc(conn->p.stats, props_changed);
		trace_rpcrdma2_prop(conn, "asked", i, req->set.val[i], now);
	}
	body = rpcrdma2_change_put_resprop(req, done, other, &conn->props.mine,
					   send->buf + hdr, send->size - hdr);
	if (rpcrdma2_control_post(conn, send, xid, RDMA2_X_RESPROP, hdr, body))
		return true;
	rpcrdma2_stat_inc(conn->p.stats, tx_resprop);
	/* What was raised may be used by messages after the answer */
	if ((done | other) & BIT(RPCRDMA2_RBSIZ))
		conn->props.told_recv = conn->props.mine.val[RPCRDMA2_RBSIZ];
	limits_follow(conn, rpcrdma2_tx_draining(&conn->limits));
	return true;
}

static void props_worker(struct work_struct *work)
{
	struct rpcrdma2_conn *conn = container_of(work, struct rpcrdma2_conn,
						  work.work);
	unsigned long delay = 0, adjust;

	/* Takes memory, hence without the lock */
	adjust = rpcrdma2_sends_adjust(conn);
	spin_lock(&conn->props.lock);
	if (rpcrdma2_conn_ready(conn) && conn->props.extended) {
		if (conn->props.unanswered && !answer_request(conn))
			rpcrdma2_conn_kick_later(conn, RPCRDMA2_PROPS_DELAY);
		raise_progress(conn);
		client_slots(conn);
		limits_follow(conn, rpcrdma2_tx_draining(&conn->limits));
		retry_lower(conn);
		delay = follow_policy(conn);
		send_next(conn);
		delay = min_not_zero(delay, adjust);
	}
	spin_unlock(&conn->props.lock);
	if (!rpcrdma2_conn_ready(conn))
		return;
	/* A higher limit is of use at once */
	adjust = rpcrdma2_tx_unhold(conn);
	if (adjust)
		delay = min_not_zero(delay, min_t(unsigned long, adjust, HZ));
	/* unless it is to be tried again sooner */
	if (delay)
		rpcrdma2_conn_kick_later(conn, delay);
}

/* Messages from the peer */

/* A client that asks for smaller Receives is idle. It keeps no credits that it was
 * granted on demand, so that the Receives for these are not replaced, either.
 */
static bool asks_for_less(const struct rpcrdma2_conn *conn,
			  const struct rpcrdma2_reqprop *req)
{
	return rpcrdma2_change_known(req) & BIT(RPCRDMA2_RBSIZ) &&
	       req->set.val[RPCRDMA2_RBSIZ] <
	       conn->props.mine.val[RPCRDMA2_RBSIZ];
}

/* One request is kept until the answer has room. A second one then comes from a
 * peer that asks for more than one thing at a time and does not take the answers;
 * without an answer it would wait for ever.
 */
static void recv_reqprop(struct rpcrdma2_conn *conn, struct rpcrdma2_recv *rx)
{
	struct rpcrdma2_reqprop req;

	rpcrdma2_stat_inc(conn->p.stats, rx_reqprop);
	if (rpcrdma2_change_requested(&rx->hdr, &req)) {
		rpcrdma2_recv_bad_xdr(conn, rx);
		return;
	}
	/* Grants change in completions only, hence here. */
	if (!conn->client && asks_for_less(conn, &req))
		rpcrdma2_credit_lower(conn, conn->p.serves_initial);
	if (conn->props.unanswered) {
		rpcrdma2_stat_inc(conn->p.stats, resprops_dropped);
		rpcrdma2_conn_kill(conn, -ENOBUFS);
		return;
	}
	conn->props.request = req;
	conn->props.request_xid = rx->hdr.xid;
	conn->props.unanswered = true;
	if (!answer_request(conn))
		rpcrdma2_conn_kick(conn);
}

/* Our request is answered. What is not granted yet may be later. */
static void request_ended(struct rpcrdma2_conn *conn, u32 asked)
{
	struct rpcrdma2_change *c = &conn->props.change;
	u32 wanted = c->value[RPCRDMA2_RBSIZ];
	u32 now = conn->props.peer.val[RPCRDMA2_RBSIZ];

	if (!(asked & BIT(RPCRDMA2_RBSIZ)) ||
	    c->result[RPCRDMA2_RBSIZ] == RPCRDMA2_CHANGE_WAITING)
		return;
	if (wanted > now && conn->props.go_round) {
		conn->props.go_round = false;
		go_round(conn);
	} else if (wanted < now && conn->props.retries) {
		conn->props.retry_at = jiffies + conn->props.retry_delay;
	} else {
		conn->props.retries = 0;
	}
}

static void recv_resprop(struct rpcrdma2_conn *conn, struct rpcrdma2_recv *rx,
			 bool readable)
{
	struct rpcrdma2_propset old = conn->props.peer;
	u32 asked = conn->props.change.asked, mask = 0;
	enum rpcrdma2_prop i;
	bool malformed;

	rpcrdma2_stat_inc(conn->p.stats, rx_resprop);
	if (!readable)
		rx->hdr.body_len = 0;	/* everything is rejected (CHG-29) */
	if (!rpcrdma2_change_response(&conn->props.change, &rx->hdr,
				      &conn->props.peer, &malformed)) {
		rpcrdma2_recv_dropped(conn, rx);
		return;
	}
	if (malformed)
		rpcrdma2_recv_malformed(conn, rx);
	for (i = 0; i < RPCRDMA2_NR_PROPS; i++) {
		if (old.val[i] != conn->props.peer.val[i])
			mask |= BIT(i);
		if (asked & BIT(i))
			trace_rpcrdma2_prop(conn, "answer", i,
					    conn->props.peer.val[i],
					    conn->props.change.result[i]);
	}
	request_ended(conn, asked);
	peer_changed(conn, mask);
	rpcrdma2_conn_kick(conn);
}

static void recv_updprop(struct rpcrdma2_conn *conn, struct rpcrdma2_recv *rx)
{
	struct rpcrdma2_update upd;

	rpcrdma2_stat_inc(conn->p.stats, rx_updprop);
	if (rpcrdma2_change_update(&rx->hdr, &conn->props.peer, &upd)) {
		rpcrdma2_recv_bad_xdr(conn, rx);
		return;
	}
	if (upd.unasked)
		rpcrdma2_stat_inc(conn->p.stats, props_unasked);
	if (upd.ignored)
		rpcrdma2_stat_inc(conn->p.stats, props_ignored);
	peer_changed(conn, upd.changed);
}

/**
 * rpcrdma2_props_ready - both peers' properties are known
 * @conn: the connection
 *
 * Context: process; does not sleep. Takes props.lock.
 */
void rpcrdma2_props_ready(struct rpcrdma2_conn *conn)
{
	spin_lock(&conn->props.lock);
	rpcrdma2_change_init(&conn->props.change, &conn->props.mine,
			     &conn->props.peer);
	WRITE_ONCE(conn->props.extended, conn->props.change.on);
	spin_unlock(&conn->props.lock);
}

/**
 * rpcrdma2_props_apply - thresholds by the properties of both peers
 * @conn: connection of version 2
 *
 * Obeyed by messages that are built from now on (CONN-13).
 *
 * Context: process; does not sleep. Takes props.lock.
 */
void rpcrdma2_props_apply(struct rpcrdma2_conn *conn)
{
	spin_lock(&conn->props.lock);
	limits_follow(conn, false);
	spin_unlock(&conn->props.lock);
}

/* Read the peer's properties. What can't be read is reported, whatever its
 * RESPONSE flag says (ERR-1, D-6).
 */
static bool connprop_read(struct rpcrdma2_conn *conn, struct rpcrdma2_recv *rx,
			  struct rpcrdma2_propset *set)
{
	rpcrdma2_props_init(set);
	if (rpcrdma2_props_decode(rx->hdr.body, rx->hdr.body_len, set) >= 0)
		return true;
	rpcrdma2_recv_bad_xdr(conn, rx);
	return false;
}

/**
 * rpcrdma2_props_take - take over the peer's properties
 * @conn: the connection
 * @rx: a CONNPROP
 *
 * Context: completion handler; does not sleep. Takes props.lock.
 * Return: false if they are no good; then none is taken
 */
bool rpcrdma2_props_take(struct rpcrdma2_conn *conn, struct rpcrdma2_recv *rx)
{
	struct rpcrdma2_propset set;

	if (!connprop_read(conn, rx, &set))
		return false;
	if (set.val[RPCRDMA2_RBSIZ] < RPCRDMA2_RBSIZ_MIN) {
		/* It cannot carry the protocol (PROP-16, D-27) */
		rpcrdma2_recv_malformed(conn, rx);
		rpcrdma2_conn_kill(conn, -EPROTO);
		return false;
	}
	spin_lock(&conn->props.lock);
	conn->props.peer = set;
	conn->props.peer_seen = true;
	spin_unlock(&conn->props.lock);
	return true;
}

/**
 * rpcrdma2_props_send - send our CONNPROP
 * @conn: the connection; its Receives are posted already (CONN-12)
 * @xid: our own value, or the peer's when @response
 * @response: it answers the peer's CONNPROP (CONN-10)
 *
 * Context: process; does not sleep.
 * Return: 0, -EAGAIN without room, or -ENOTCONN
 */
int rpcrdma2_props_send(struct rpcrdma2_conn *conn, u32 xid, bool response)
{
	struct rpcrdma2_send *send;
	int hdr, body, ret;

	send = rpcrdma2_control_get(conn, xid, RDMA2_CONNPROP, response, &hdr);
	if (!send)
		return -EAGAIN;
	body = hdr < 0 ? hdr :
	       rpcrdma2_props_encode(&conn->props.mine, send->buf + hdr,
				     send->size - hdr);
	ret = rpcrdma2_control_post(conn, send, xid, RDMA2_CONNPROP, hdr,
				    body);
	if (!ret)
		rpcrdma2_stat_inc(conn->p.stats, tx_connprop);
	return ret;
}

/**
 * rpcrdma2_props_connprop - a CONNPROP has arrived
 * @conn: connection whose version is settled
 * @rx: the CONNPROP
 * @settles: it has settled the version, and was taken over already
 *
 * Of a second one only the grant counts, as of every message (CONN-8, CRED-14,
 * D-25): a server may have sent one of its own before it answers ours.
 *
 * Context: completion handler; does not sleep. Takes props.lock.
 */
void rpcrdma2_props_connprop(struct rpcrdma2_conn *conn,
			     struct rpcrdma2_recv *rx, bool settles)
{
	bool second = !settles && conn->props.peer_seen;
	struct rpcrdma2_propset set;

	rpcrdma2_stat_inc(conn->p.stats, rx_connprop);
	if (second) {
		if (!connprop_read(conn, rx, &set))
			return;
		rpcrdma2_recv_dropped(conn, rx);
	} else if (!settles) {
		if (!rpcrdma2_props_take(conn, rx))
			return;
		rpcrdma2_props_ready(conn);
		rpcrdma2_props_apply(conn);
	}
	if (rx->hdr.response) {
		rpcrdma2_credit_granted(conn, rx->hdr.credit);
	} else if (!second && !conn->client &&
		   rpcrdma2_props_send(conn, rx->hdr.xid, true) == -EAGAIN) {
		rpcrdma2_conn_kill(conn, -ENOBUFS);
	}
}

/**
 * rpcrdma2_props_receive - a message of the property-change extension?
 * @conn: the connection
 * @rx: a message
 *
 * Context: completion handler; does not sleep. Takes props.lock.
 * Return: true if it was one, and is dealt with
 */
bool rpcrdma2_props_receive(struct rpcrdma2_conn *conn,
			    struct rpcrdma2_recv *rx)
{
	struct rpcrdma2_hdr *hdr = &rx->hdr;
	enum rpcrdma2_verdict verdict;

	if (!conn->props.extended || !rpcrdma2_peek(rx->buf, rx->len, hdr) ||
	    !rpcrdma2_change_type(hdr->htype))
		return false;
	memset(hdr, 0, sizeof(*hdr));
	verdict = rpcrdma2_change_decode(rx->buf, rx->len, hdr);
	switch (verdict) {
	case RPCRDMA2_OK:
		trace_rpcrdma2_recv(conn, rx);
		break;
	case RPCRDMA2_BAD_VERS:
		return false;
	case RPCRDMA2_DROP:
		rpcrdma2_recv_malformed(conn, rx);
		if (hdr->htype != RDMA2_X_RESPROP)
			return true;
		break;
	default:
		rpcrdma2_recv_bad_xdr(conn, rx);
		return true;
	}

	spin_lock(&conn->props.lock);
	switch (hdr->htype) {
	case RDMA2_X_REQPROP:
		recv_reqprop(conn, rx);
		break;
	case RDMA2_X_RESPROP:
		recv_resprop(conn, rx, verdict == RPCRDMA2_OK);
		break;
	case RDMA2_X_UPDPROP:
		recv_updprop(conn, rx);
		break;
	}
	spin_unlock(&conn->props.lock);
	if (verdict == RPCRDMA2_OK && rpcrdma2_is_grant(hdr))
		rpcrdma2_credit_granted(conn, hdr->credit);
	return true;
}

/**
 * rpcrdma2_props_error - is an RDMA2_ERROR about a property change of ours?
 * @conn: the connection
 * @hdr: its header
 *
 * Context: completion handler; does not sleep. Takes props.lock. Requirements:
 * HT-9, CHG-17.
 * Return: true if so; it is dealt with
 */
bool rpcrdma2_props_error(struct rpcrdma2_conn *conn,
			  const struct rpcrdma2_hdr *hdr)
{
	bool mine;

	if (!conn->props.extended)
		return false;
	spin_lock(&conn->props.lock);
	mine = rpcrdma2_change_error(&conn->props.change, hdr->xid, hdr->err);
	if (mine) {
		conn->props.retries = 0;
		limits_follow(conn, rpcrdma2_tx_draining(&conn->limits));
		rpcrdma2_conn_kick(conn);
	}
	spin_unlock(&conn->props.lock);
	return mine;
}

/* Life */

/**
 * rpcrdma2_props_setup - a new connection
 * @conn: the connection
 *
 * Context: any.
 */
void rpcrdma2_props_setup(struct rpcrdma2_conn *conn)
{
	spin_lock_init(&conn->props.lock);
	INIT_DELAYED_WORK(&conn->work, props_worker);
	conn->props.plan_recv = U32_MAX;
	rpcrdma2_adapt_setup(&conn->props.adapt);
	rpcrdma2_props_init(&conn->props.mine);
	rpcrdma2_props_init(&conn->props.peer);
}

/**
 * rpcrdma2_props_begin - what this connection announces
 * @conn: connection whose Receives exist
 *
 * Context: any. Requirements: CONN-5, PROP-20, HT-8.
 */
void rpcrdma2_props_begin(struct rpcrdma2_conn *conn)
{
	conn->props.mine.val[RPCRDMA2_RBSIZ] = rpcrdma2_recvs_goal(conn->p.pool);
	conn->props.mine.val[RPCRDMA2_BRS] = conn->p.brs;
	conn->props.told_recv = rpcrdma2_recvs_goal(conn->p.pool);
	conn->props.mine.listed = BIT(RPCRDMA2_NR_PROPS) - 1;
	conn->props.mine.x_change =
		conn->p.policy.val[RPCRDMA2_POLICY_PROPERTY_CHANGE];
	if (conn->props.mine.x_change)
		conn->props.mine.nochg = conn->props.mine.listed &
				   ~rpcrdma2_props_changeable(conn->client);
}

/**
 * rpcrdma2_props_missed - a Call needs a chunk
 * @conn: client's connection
 * @size: Receive Buffer Size of the server with which it would not, bytes
 *
 * Context: process; does not sleep.
 */
void rpcrdma2_props_missed(struct rpcrdma2_conn *conn, u32 size)
{
	if (rpcrdma2_props_extended(&conn->props) &&
	    rpcrdma2_adapt_missed(&conn->props.adapt, size))
		rpcrdma2_conn_kick(conn);
}

/**
 * rpcrdma2_props_show - properties, for display
 * @conn: the connection
 * @shown: filled in
 *
 * Context: process; does not sleep. Takes props.lock.
 */
void rpcrdma2_props_show(struct rpcrdma2_conn *conn,
			 struct rpcrdma2_props_shown *shown)
{
	struct rpcrdma2_conn_props *props = &conn->props;
	const struct rpcrdma2_change *c = &props->change;

	spin_lock(&props->lock);
	shown->mine = props->mine;
	shown->peer = props->peer;
	shown->change = *c;
	shown->requesting = c->pending || c->want || c->cycles ||
			    props->retries;
	spin_unlock(&props->lock);
}

/* Requests by hand */

static int set_own_brs(struct rpcrdma2_conn *conn, u32 value)
{
	if (!(rpcrdma2_props_changeable(conn->client) & BIT(RPCRDMA2_BRS)))
		return -EPERM;
	if (value != RDMA2_RVREQSUP_NONE && value != RDMA2_RVREQSUP_INLINE)
		return -EINVAL;
	if (value != conn->props.mine.val[RPCRDMA2_BRS])
		announce(conn, RPCRDMA2_BRS, value);
	return 0;
}

static int set_own(struct rpcrdma2_conn *conn, enum rpcrdma2_prop prop,
		   u32 value)
{
	return prop == RPCRDMA2_RBSIZ ? raise_own(conn, value) :
					set_own_brs(conn, value);
}

/**
 * rpcrdma2_props_request - change a property because an administrator says so
 * @conn: the connection
 * @own: a property of ours; otherwise the peer is asked for one of its own
 * @prop: property
 * @value: value
 *
 * Context: process; does not sleep. Takes props.lock.
 * Return: 0; -EOPNOTSUPP: not with this peer; -EPERM: may not change; -EINVAL
 * or -ERANGE; -ENOTCONN
 */
int rpcrdma2_props_request(struct rpcrdma2_conn *conn, bool own,
			   enum rpcrdma2_prop prop, u32 value)
{
	int ret = -EOPNOTSUPP;

	if (!rpcrdma2_conn_ready(conn))
		return -ENOTCONN;
	spin_lock(&conn->props.lock);
	if (conn->props.change.on)
		ret = own ? set_own(conn, prop, value) :
			    props_ask(conn, prop, value);
	spin_unlock(&conn->props.lock);
	if (!ret)
		rpcrdma2_conn_kick(conn);
	return ret;
}

/**
 * rpcrdma2_props_cycle - have the peer use up Receives
 * @conn: the connection
 * @messages: how many empty requests to send
 *
 * Context: process; does not sleep. Takes props.lock.
 * Return: 0; -EOPNOTSUPP: not with this peer; -ENOTCONN
 */
int rpcrdma2_props_cycle(struct rpcrdma2_conn *conn, u32 messages)
{
	int ret = -EOPNOTSUPP;

	if (!rpcrdma2_conn_ready(conn))
		return -ENOTCONN;
	spin_lock(&conn->props.lock);
	if (conn->props.change.on) {
		conn->props.change.cycles = messages;
		ret = 0;
	}
	spin_unlock(&conn->props.lock);
	if (!ret)
		rpcrdma2_conn_kick(conn);
	return ret;
}
