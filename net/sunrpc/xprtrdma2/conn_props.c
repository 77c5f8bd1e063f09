// SPDX-License-Identifier: GPL-2.0
/*
 * Transport properties of a connection and what changes of them mean: the
 * messages of the property-change extension, the size of Receives and of
 * send slots.
 *
 * change.c knows what may be sent when; this file does it. A value of ours
 * changes when the peer asks for it (REQPROP, answered at once) or when we
 * want it (UPDPROP). What takes time is done by a work item, which
 * rpcrdma2_props_kick() starts whenever something has happened that it may
 * have waited for: Receives of the old size are used up, send slots have the
 * new size, messages built under the old limit are posted. What we want is up
 * to adapt.c and to the administrator; limits.c makes messages obey.
 *
 * props_lock, a mutex, protects properties and changes, and is held while a
 * message about them is posted, so that their order is that of the changes.
 * Holders do not wait for completions. Process context.
 */
#include <linux/module.h>
#include <linux/string.h>
#include <linux/workqueue.h>

#include "conn.h"
#include "module.h"
#include <trace/events/rpcrdma2.h>

/* After a refusal to lower, ask again: so often, at such a distance at first
 * and twice the last one after that
 */
#define RPCRDMA2_LOWER_RETRIES	8U
#define RPCRDMA2_LOWER_FIRST	msecs_to_jiffies(10)

/* No control slot or no memory is free: look again */
#define RPCRDMA2_PROPS_DELAY	msecs_to_jiffies(10)

bool rpcrdma2_property_change = true;
module_param_named(property_change, rpcrdma2_property_change, bool, 0644);
MODULE_PARM_DESC(property_change,
		 "offer to change properties while a connection lives");

static unsigned int recv_max = SZ_64K;
module_param(recv_max, uint, 0644);
MODULE_PARM_DESC(recv_max,
		 "largest Receive Buffer Size a peer may ask for, 4096 to 262144 bytes");

static u32 recv_limit(void)
{
	return clamp(READ_ONCE(recv_max), RPCRDMA2_INLINE_DEFAULT, SZ_256K);
}

/* The largest size of ours that the peer may ask for. A client gets no more
 * than what was announced to it before it has been served something that not
 * everybody may have.
 */
static u32 grant_limit(const struct rpcrdma2_conn *conn)
{
	if (conn->client || conn->p.ops->trusted(conn))
		return recv_limit();
	return min(recv_limit(), conn->p.recv_size);
}

/**
 * rpcrdma2_props_kick - something has happened that a change may wait for
 * @conn: the connection
 *
 * Context: any.
 */
void rpcrdma2_props_kick(struct rpcrdma2_conn *conn)
{
	if (rpcrdma2_conn_ready(conn))
		mod_delayed_work(rpcrdma2_memory_wq, &conn->props_work, 0);
}

static void props_later(struct rpcrdma2_conn *conn, unsigned long delay)
{
	if (rpcrdma2_conn_ready(conn))
		queue_delayed_work(rpcrdma2_memory_wq, &conn->props_work, delay);
}

/* Values of ours */

/* The peer has to be told of a new value. */
static void announce(struct rpcrdma2_conn *conn, enum rpcrdma2_prop prop,
		     u32 value)
{
	WRITE_ONCE(conn->mine.val[prop], value);
	conn->change.dirty |= BIT(prop);
	rpcrdma2_stat_inc(conn->p.stats, props_changed);
	trace_rpcrdma2_prop(conn, "own", prop, value, 0);
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

/* Is a raise of our Receive Buffer Size complete (CHG-23, CHG-24)? */
static bool raise_complete(struct rpcrdma2_conn *conn)
{
	u32 size = conn->p.pool->size;

	if (size <= conn->mine.val[RPCRDMA2_RBSIZ])
		return false;
	return (conn->client || READ_ONCE(conn->slot_size) >= size) &&
	       rpcrdma2_recvs_announce(conn);
}

/* Begin to raise it. */
static void raise_begin(struct rpcrdma2_conn *conn, u32 size)
{
	conn->plan_recv = U32_MAX;
	if (conn->p.pool->size == size)
		return;
	trace_rpcrdma2_prop(conn, "raise", RPCRDMA2_RBSIZ, size, 0);
	rpcrdma2_recvs_resize(conn, size);
	slots_follow(conn, size);
	rpcrdma2_props_kick(conn);
}

/* Lower it as far as Calls allow that were sent without a Reply chunk under
 * the present value (CHG-27). New ones are planned for the lower value in any
 * case, so that the peer gets more when it asks again.
 */
static u32 lower(struct rpcrdma2_conn *conn, u32 wanted)
{
	u32 now = conn->mine.val[RPCRDMA2_RBSIZ];
	u32 due, value;

	conn->plan_recv = wanted;
	rpcrdma2_limits_apply(conn, false);
	due = conn->p.ops->replies_due(conn);
	if (due >= now)
		return now;
	value = min(now, max(wanted, round_up(due, SZ_1K)));
	if (value == now)
		return now;
	WRITE_ONCE(conn->mine.val[RPCRDMA2_RBSIZ], value);
	rpcrdma2_recvs_resize(conn, value);
	slots_follow(conn, value);
	if (value == wanted)
		conn->plan_recv = U32_MAX;
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
	u32 now = conn->mine.val[RPCRDMA2_RBSIZ];

	/* Never below the default, thus never below what callbacks need */
	wanted = clamp(wanted, RPCRDMA2_INLINE_DEFAULT,
		       max(grant_limit(conn), now));
	if (wanted < now) {
		now = lower(conn, wanted);
	} else if (wanted == now) {
		conn->plan_recv = U32_MAX;
		rpcrdma2_recvs_resize(conn, now);
	} else {
		raise_begin(conn, wanted);
		if (raise_complete(conn)) {
			now = wanted;
			WRITE_ONCE(conn->mine.val[RPCRDMA2_RBSIZ], now);
		}
	}
	/* The answer tells it */
	conn->change.dirty &= ~BIT(RPCRDMA2_RBSIZ);
	return now;
}

static void rbsiz_applied(struct rpcrdma2_conn *conn)
{
	u32 peer = conn->peer.val[RPCRDMA2_RBSIZ];

	if (peer < RPCRDMA2_RBSIZ_MIN) {
		/* It cannot carry the protocol (PROP-16, D-27) */
		rpcrdma2_conn_kill(conn, -EPROTO);
		return;
	}
	/* What we went round for */
	if (!conn->go_round && peer >= conn->change.value[RPCRDMA2_RBSIZ])
		conn->change.cycles = 0;
	rpcrdma2_props_kick(conn);
}

/* Whether callbacks are served is not the server's to decide. */
static u32 brs_grant(struct rpcrdma2_conn *conn, u32 wanted)
{
	return conn->mine.val[RPCRDMA2_BRS];
}

/* The server looks at the value before each Call (REV-6). */
static void brs_applied(struct rpcrdma2_conn *conn)
{
	rpcrdma2_props_kick(conn);
}

static const struct prop_apply prop_apply[RPCRDMA2_NR_PROPS] = {
	[RPCRDMA2_RBSIZ] = { rbsiz_grant, rbsiz_applied },
	[RPCRDMA2_BRS]	 = { brs_grant, brs_applied },
};

static void peer_changed(struct rpcrdma2_conn *conn, u32 mask)
{
	struct rpcrdma2_change *c = &conn->change;
	enum rpcrdma2_prop i;

	for (i = 0; i < RPCRDMA2_NR_PROPS; i++) {
		if (!(mask & BIT(i)))
			continue;
		rpcrdma2_stat_inc(conn->p.stats, peer_props_changed);
		trace_rpcrdma2_prop(conn, "peer", i, conn->peer.val[i],
				    c->result[i]);
		/* "Not now", and here it is */
		if (c->result[i] == RPCRDMA2_CHANGE_REJECTED &&
		    conn->peer.val[i] == c->value[i])
			c->result[i] = RPCRDMA2_CHANGE_DONE;
	}
	rpcrdma2_limits_apply(conn, conn->tx_draining);
	for (i = 0; i < RPCRDMA2_NR_PROPS; i++)
		if (mask & BIT(i))
			prop_apply[i].applied(conn);
}

/* Messages to the peer */

static struct rpcrdma2_send *control_get(struct rpcrdma2_conn *conn, u32 xid,
					 u32 htype, bool response, int *hdr)
{
	u32 credit = response ? rpcrdma2_conn_credit_grant(conn) :
				rpcrdma2_conn_credit_ask(conn);
	struct rpcrdma2_send *send = rpcrdma2_send_get(conn, 1, NULL, true);

	if (!send)
		return NULL;
	*hdr = rpcrdma2_encode_control(xid, credit, htype, response,
				       send->buf, send->size);
	return send;
}

static int control_post(struct rpcrdma2_conn *conn, struct rpcrdma2_send *send,
			u32 xid, u32 htype, int hdr, int body)
{
	int ret = hdr < 0 ? hdr : body;

	if (ret < 0) {
		rpcrdma2_send_put(send);
	} else {
		rpcrdma2_send_prepare(send, hdr + body, 0);
		ret = rpcrdma2_send_post(send, NULL);
	}
	trace_rpcrdma2_send_control(conn, xid, htype, hdr + body, ret);
	return ret;
}

static void send_reqprop(struct rpcrdma2_conn *conn)
{
	u32 xid = atomic_inc_return(&conn->control_xid);
	struct rpcrdma2_send *send;
	int hdr, body;

	send = control_get(conn, xid, RDMA2_X_REQPROP, false, &hdr);
	if (!send) {
		props_later(conn, RPCRDMA2_PROPS_DELAY);
		return;
	}
	body = rpcrdma2_change_put_reqprop(&conn->change, xid, send->buf + hdr,
					   send->size - hdr);
	rpcrdma2_tx_resume(conn);
	rpcrdma2_limits_apply(conn, false);
	if (!control_post(conn, send, xid, RDMA2_X_REQPROP, hdr, body))
		rpcrdma2_stat_inc(conn->p.stats, tx_reqprop);
}

static void send_updprop(struct rpcrdma2_conn *conn)
{
	u32 xid = atomic_inc_return(&conn->control_xid);
	struct rpcrdma2_send *send;
	int hdr, body;

	send = control_get(conn, xid, RDMA2_X_UPDPROP, false, &hdr);
	if (!send) {
		props_later(conn, RPCRDMA2_PROPS_DELAY);
		return;
	}
	body = rpcrdma2_change_put_updprop(&conn->change, xid, &conn->mine,
					   send->buf + hdr, send->size - hdr);
	if (control_post(conn, send, xid, RDMA2_X_UPDPROP, hdr, body))
		return;
	rpcrdma2_stat_inc(conn->p.stats, tx_updprop);
	/* Replies to Calls after this may be as long */
	conn->told_recv = conn->mine.val[RPCRDMA2_RBSIZ];
	rpcrdma2_limits_apply(conn, conn->tx_draining);
}

/* Send what is to be sent, unless it has to wait. */
static void send_next(struct rpcrdma2_conn *conn)
{
	struct rpcrdma2_change *c = &conn->change;

	if (rpcrdma2_change_next(c) == RPCRDMA2_CHANGE_UPDPROP)
		send_updprop(conn);
	if (rpcrdma2_change_next(c) != RPCRDMA2_CHANGE_REQPROP)
		return;
	/* Our own Sends obey a lower value before it is asked for (CHG-26) */
	if (rpcrdma2_change_limit(c, &conn->peer, RPCRDMA2_RBSIZ, true) <
	    rpcrdma2_change_limit(c, &conn->peer, RPCRDMA2_RBSIZ, false)) {
		rpcrdma2_limits_apply(conn, true);
		if (!rpcrdma2_tx_drained(conn))
			return;
	}
	send_reqprop(conn);
}

/* A raise goes on, or is complete. */
static void raise_progress(struct rpcrdma2_conn *conn)
{
	struct rpcrdma2_change *c = &conn->change;
	u32 size = conn->p.pool->size;

	if (size <= conn->mine.val[RPCRDMA2_RBSIZ])
		return;
	if (raise_complete(conn)) {
		announce(conn, RPCRDMA2_RBSIZ, size);
		return;
	}
	if (!conn->client && READ_ONCE(conn->slot_want) < size) {
		/* No memory for the slots */
		size = conn->mine.val[RPCRDMA2_RBSIZ];
		rpcrdma2_recvs_resize(conn, size);
		slots_follow(conn, size);
		return;
	}
	/* Our own wish: each answer to an empty request takes a Receive of
	 * the old size (D-32)
	 */
	if (conn->want_recv == size && conn->own_cycles) {
		conn->own_cycles--;
		if (!c->cycles)
			c->cycles = 1;
	}
}

/* A client's slots are as large as what it may send. */
static void client_slots(struct rpcrdma2_conn *conn)
{
	if (!conn->client || conn->tx_draining || conn->change.pending)
		return;
	rpcrdma2_sends_resize(conn, min(max(conn->p.send_size,
					    conn->want_send),
					conn->peer.val[RPCRDMA2_RBSIZ]));
}

/* Time to ask again for a lower value? */
static void retry_lower(struct rpcrdma2_conn *conn)
{
	struct rpcrdma2_change *c = &conn->change;

	if (!conn->retries || c->pending || c->want & BIT(RPCRDMA2_RBSIZ))
		return;
	if (time_before(jiffies, conn->retry_at)) {
		props_later(conn, conn->retry_at - jiffies);
		return;
	}
	conn->retries--;
	conn->retry_delay *= 2;
	rpcrdma2_change_ask(c, &conn->peer, RPCRDMA2_RBSIZ,
			    c->value[RPCRDMA2_RBSIZ]);
}

static void props_worker(struct work_struct *work)
{
	struct rpcrdma2_conn *conn = container_of(work, struct rpcrdma2_conn,
						  props_work.work);
	unsigned long delay = 0, adjust;

	/* Memory without the lock, for which the CQ's work item waits */
	adjust = rpcrdma2_sends_adjust(conn);
	mutex_lock(&conn->props_lock);
	if (rpcrdma2_conn_ready(conn) && conn->extended) {
		raise_progress(conn);
		client_slots(conn);
		rpcrdma2_limits_apply(conn, conn->tx_draining);
		retry_lower(conn);
		delay = rpcrdma2_adapt_run(conn);
		send_next(conn);
		delay = min_not_zero(delay, adjust);
	}
	mutex_unlock(&conn->props_lock);
	if (!rpcrdma2_conn_ready(conn))
		return;
	/* A higher limit is of use at once */
	adjust = rpcrdma2_tx_unhold(conn);
	if (adjust)
		delay = min_not_zero(delay, min_t(unsigned long, adjust, HZ));
	/* unless it is to be tried again sooner */
	if (delay)
		props_later(conn, delay);
	conn->p.ops->window(conn);
}

/* Messages from the peer */

static void bad_xdr(struct rpcrdma2_conn *conn, struct rpcrdma2_recv *rx)
{
	rpcrdma2_stat_inc(conn->p.stats, rx_malformed);
	trace_rpcrdma2_recv_malformed(conn, rx);
	rpcrdma2_send_error(conn, &rx->hdr, RDMA2_ERR_BAD_XDR, 0, 0);
}

/* Grant what can be granted and answer at once (CHG-6). */
static void recv_reqprop(struct rpcrdma2_conn *conn, struct rpcrdma2_recv *rx)
{
	u32 done = 0, other = 0, known, old, now, xid = rx->hdr.xid;
	struct rpcrdma2_reqprop req;
	struct rpcrdma2_send *send;
	enum rpcrdma2_prop i;
	int hdr, body;

	rpcrdma2_stat_inc(conn->p.stats, rx_reqprop);
	if (rpcrdma2_change_requested(&rx->hdr, &req)) {
		bad_xdr(conn, rx);
		return;
	}
	rpcrdma2_adapt_asked(conn);
	/* What is granted must be told: first the room to tell it. Without an
	 * answer the peer would wait for ever; it has asked for more than one
	 * thing at a time, and does not take the answers.
	 */
	send = control_get(conn, xid, RDMA2_X_RESPROP, true, &hdr);
	if (!send) {
		rpcrdma2_stat_inc(conn->p.stats, resprops_dropped);
		rpcrdma2_conn_kill(conn, -ENOBUFS);
		return;
	}
	known = rpcrdma2_change_known(&req) &
		rpcrdma2_props_changeable(conn->client);
	for (i = 0; i < RPCRDMA2_NR_PROPS; i++) {
		if (!(known & BIT(i)))
			continue;
		old = conn->mine.val[i];
		now = prop_apply[i].grant(conn, req.set.val[i]);
		if (now == req.set.val[i])
			done |= BIT(i);
		else if (now != old)
			other |= BIT(i);
		if (now != old)
			rpcrdma2_stat_inc(conn->p.stats, props_changed);
		trace_rpcrdma2_prop(conn, "asked", i, req.set.val[i], now);
	}
	body = rpcrdma2_change_put_resprop(&req, done, other, &conn->mine,
					   send->buf + hdr, send->size - hdr);
	if (control_post(conn, send, xid, RDMA2_X_RESPROP, hdr, body))
		return;
	rpcrdma2_stat_inc(conn->p.stats, tx_resprop);
	/* What was raised may be used by messages after the answer */
	if ((done | other) & BIT(RPCRDMA2_RBSIZ))
		conn->told_recv = conn->mine.val[RPCRDMA2_RBSIZ];
	rpcrdma2_limits_apply(conn, conn->tx_draining);
}

/* Our request is answered. What is not granted yet may be later. */
static void request_ended(struct rpcrdma2_conn *conn, u32 asked)
{
	struct rpcrdma2_change *c = &conn->change;
	u32 wanted = c->value[RPCRDMA2_RBSIZ];
	u32 now = conn->peer.val[RPCRDMA2_RBSIZ];

	if (!(asked & BIT(RPCRDMA2_RBSIZ)) ||
	    c->result[RPCRDMA2_RBSIZ] == RPCRDMA2_CHANGE_WAITING)
		return;
	if (wanted > now && conn->go_round) {
		conn->go_round = false;
		rpcrdma2_props_go_round(conn);
	} else if (wanted < now && conn->retries) {
		conn->retry_at = jiffies + conn->retry_delay;
	} else {
		conn->retries = 0;
	}
}

static void recv_resprop(struct rpcrdma2_conn *conn, struct rpcrdma2_recv *rx,
			 bool readable)
{
	struct rpcrdma2_propset old = conn->peer;
	u32 asked = conn->change.asked, mask = 0;
	enum rpcrdma2_prop i;
	bool malformed;

	rpcrdma2_stat_inc(conn->p.stats, rx_resprop);
	if (!readable)
		rx->hdr.body_len = 0;	/* everything is rejected (CHG-29) */
	if (!rpcrdma2_change_response(&conn->change, &rx->hdr, &conn->peer,
				      &malformed)) {
		rpcrdma2_stat_inc(conn->p.stats, rx_dropped);
		trace_rpcrdma2_recv_dropped(conn, rx);
		return;
	}
	if (malformed) {
		rpcrdma2_stat_inc(conn->p.stats, rx_malformed);
		trace_rpcrdma2_recv_malformed(conn, rx);
	}
	for (i = 0; i < RPCRDMA2_NR_PROPS; i++) {
		if (old.val[i] != conn->peer.val[i])
			mask |= BIT(i);
		if (asked & BIT(i))
			trace_rpcrdma2_prop(conn, "answer", i,
					    conn->peer.val[i],
					    conn->change.result[i]);
	}
	request_ended(conn, asked);
	peer_changed(conn, mask);
	rpcrdma2_props_kick(conn);
}

static void recv_updprop(struct rpcrdma2_conn *conn, struct rpcrdma2_recv *rx)
{
	struct rpcrdma2_update upd;

	rpcrdma2_stat_inc(conn->p.stats, rx_updprop);
	if (rpcrdma2_change_update(&rx->hdr, &conn->peer, &upd)) {
		bad_xdr(conn, rx);
		return;
	}
	if (upd.unasked)
		rpcrdma2_stat_inc(conn->p.stats, props_unasked);
	if (upd.ignored)
		rpcrdma2_stat_inc(conn->p.stats, props_ignored);
	peer_changed(conn, upd.changed);
}

/**
 * rpcrdma2_props_receive - a message of the property-change extension?
 * @conn: the connection
 * @rx: a message
 *
 * Context: CQ work item; sleeps.
 * Return: true if it was one, and is dealt with
 */
bool rpcrdma2_props_receive(struct rpcrdma2_conn *conn,
			    struct rpcrdma2_recv *rx)
{
	struct rpcrdma2_hdr *hdr = &rx->hdr;
	enum rpcrdma2_verdict verdict;

	if (!conn->extended || !rpcrdma2_peek(rx->buf, rx->len, hdr) ||
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
		rpcrdma2_stat_inc(conn->p.stats, rx_malformed);
		trace_rpcrdma2_recv_malformed(conn, rx);
		if (hdr->htype != RDMA2_X_RESPROP)
			return true;
		break;
	default:
		bad_xdr(conn, rx);
		return true;
	}

	mutex_lock(&conn->props_lock);
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
	mutex_unlock(&conn->props_lock);
	if (verdict == RPCRDMA2_OK && rpcrdma2_is_grant(hdr) &&
	    rpcrdma2_conn_granted(conn, hdr->credit))
		conn->p.ops->window(conn);
	return true;
}

/**
 * rpcrdma2_props_error - is an RDMA2_ERROR about a property change of ours?
 * @conn: the connection
 * @hdr: its header
 *
 * Context: CQ work item; sleeps. Requirements: HT-9, CHG-17.
 * Return: true if so; it is dealt with
 */
bool rpcrdma2_props_error(struct rpcrdma2_conn *conn,
			  const struct rpcrdma2_hdr *hdr)
{
	bool mine;

	if (!conn->extended)
		return false;
	mutex_lock(&conn->props_lock);
	mine = rpcrdma2_change_error(&conn->change, hdr->xid, hdr->err);
	if (mine) {
		conn->retries = 0;
		rpcrdma2_limits_apply(conn, conn->tx_draining);
		rpcrdma2_props_kick(conn);
	}
	mutex_unlock(&conn->props_lock);
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
	mutex_init(&conn->props_lock);
	spin_lock_init(&conn->tx_lock);
	INIT_LIST_HEAD(&conn->tx_held);
	INIT_DELAYED_WORK(&conn->props_work, props_worker);
	conn->plan_recv = U32_MAX;
	rpcrdma2_adapt_setup(conn);
	rpcrdma2_props_init(&conn->mine);
	rpcrdma2_props_init(&conn->peer);
}

/**
 * rpcrdma2_props_begin - what this connection announces
 * @conn: connection whose Receives exist
 *
 * Context: any. Requirements: CONN-5, PROP-20, HT-8.
 */
void rpcrdma2_props_begin(struct rpcrdma2_conn *conn)
{
	conn->mine.val[RPCRDMA2_RBSIZ] = conn->p.pool->size;
	conn->mine.val[RPCRDMA2_BRS] = conn->p.brs;
	conn->told_recv = conn->p.pool->size;
	conn->mine.listed = BIT(RPCRDMA2_NR_PROPS) - 1;
	conn->mine.x_change = READ_ONCE(rpcrdma2_property_change);
	if (conn->mine.x_change)
		conn->mine.nochg = conn->mine.listed &
				   ~rpcrdma2_props_changeable(conn->client);
}

/**
 * rpcrdma2_props_ready - both peers' properties are known
 * @conn: the connection
 *
 * Context: process; sleeps.
 */
void rpcrdma2_props_ready(struct rpcrdma2_conn *conn)
{
	mutex_lock(&conn->props_lock);
	rpcrdma2_change_init(&conn->change, &conn->mine, &conn->peer);
	WRITE_ONCE(conn->extended, conn->change.on);
	mutex_unlock(&conn->props_lock);
}

/**
 * rpcrdma2_props_stop - the connection ends
 * @conn: connection in state CLOSING, without users
 *
 * Context: sleeps.
 */
void rpcrdma2_props_stop(struct rpcrdma2_conn *conn)
{
	cancel_delayed_work_sync(&conn->props_work);
}

/**
 * rpcrdma2_props_go_round - use up the peer's Receives of an old size
 * @conn: connection whose peer knows the extension
 *
 * Empty requests take those for our Calls and those of its reserve, of which
 * peers may have several times as many as we do (CHG-24).
 *
 * Context: process; does not sleep. rpcrdma2_props_kick() sends them.
 */
void rpcrdma2_props_go_round(struct rpcrdma2_conn *conn)
{
	lockdep_assert_held(&conn->props_lock);
	conn->change.cycles = READ_ONCE(conn->window.granted) +
			      4 * RPCRDMA2_CONTROL_RESERVE;
}

/**
 * rpcrdma2_props_ask - ask the peer for a value of its own
 * @conn: connection whose peer knows the extension
 * @prop: property
 * @value: value
 *
 * A request to lower that is refused is repeated for a while.
 *
 * Context: process; does not sleep. rpcrdma2_props_kick() sends it.
 * Return: 0; -ERANGE; -EPERM: it can't be changed
 */
int rpcrdma2_props_ask(struct rpcrdma2_conn *conn, enum rpcrdma2_prop prop,
		       u32 value)
{
	int ret;

	lockdep_assert_held(&conn->props_lock);
	if (prop == RPCRDMA2_RBSIZ &&
	    (value < RPCRDMA2_INLINE_DEFAULT || value > SZ_256K))
		return -ERANGE;
	ret = rpcrdma2_change_ask(&conn->change, &conn->peer, prop, value);
	if (ret)
		return ret;
	if (prop == RPCRDMA2_RBSIZ) {
		conn->go_round = true;
		conn->retries = RPCRDMA2_LOWER_RETRIES;
		conn->retry_at = jiffies;
		conn->retry_delay = RPCRDMA2_LOWER_FIRST;
		conn->want_send = min_t(u32, value, SZ_64K);
	}
	trace_rpcrdma2_prop(conn, "ask", prop, value, 0);
	return 0;
}

/* Requests by hand */

static int raise_own(struct rpcrdma2_conn *conn, u32 size)
{
	if (size > recv_limit())
		return -ERANGE;
	/* Only on the peer's request (CHG-25) */
	if (size < conn->mine.val[RPCRDMA2_RBSIZ])
		return -EPERM;
	conn->want_recv = size;
	conn->own_cycles = 2 * conn->recv_max;
	raise_begin(conn, size);
	return 0;
}

static int set_own_brs(struct rpcrdma2_conn *conn, const char *word)
{
	u32 value;

	if (!(rpcrdma2_props_changeable(conn->client) & BIT(RPCRDMA2_BRS)))
		return -EPERM;
	if (!strcmp(word, "none"))
		value = RDMA2_RVREQSUP_NONE;
	else if (!strcmp(word, "inline"))
		value = RDMA2_RVREQSUP_INLINE;
	else
		return -EINVAL;
	if (value != conn->mine.val[RPCRDMA2_BRS])
		announce(conn, RPCRDMA2_BRS, value);
	return 0;
}

static int command(struct rpcrdma2_conn *conn, char *line)
{
	char *word = strsep(&line, " "), *arg;
	bool own = !strcmp(word, "own");
	u32 value;
	int ret;

	if (own)
		word = strsep(&line, " ");
	arg = strsep(&line, " ");
	if (!word || !arg || line)
		return -EINVAL;
	if (own && !strcmp(word, "brs"))
		return set_own_brs(conn, arg);
	ret = kstrtou32(arg, 0, &value);
	if (ret)
		return ret;
	if (!strcmp(word, "rbsiz"))
		return own ? raise_own(conn, value) :
			     rpcrdma2_props_ask(conn, RPCRDMA2_RBSIZ, value);
	if (own)
		return -EINVAL;
	if (!strcmp(word, "brs"))
		return rpcrdma2_props_ask(conn, RPCRDMA2_BRS, value);
	if (strcmp(word, "cycle") || value > SZ_1K)
		return -EINVAL;
	conn->change.cycles = value;
	return 0;
}

/**
 * rpcrdma2_props_command - what an administrator asks for
 * @conn: the connection
 * @line: one line without its end; changed
 *
 * Context: sleeps.
 * Return: 0; -EOPNOTSUPP: not with this peer; -EPERM: may not change; -EINVAL
 * or -ERANGE; -ENOTCONN
 */
int rpcrdma2_props_command(struct rpcrdma2_conn *conn, char *line)
{
	int ret = -EOPNOTSUPP;

	if (!rpcrdma2_conn_ready(conn))
		return -ENOTCONN;
	mutex_lock(&conn->props_lock);
	if (conn->change.on)
		ret = command(conn, line);
	mutex_unlock(&conn->props_lock);
	if (!ret)
		rpcrdma2_props_kick(conn);
	return ret;
}
