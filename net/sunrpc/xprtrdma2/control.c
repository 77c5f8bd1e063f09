// SPDX-License-Identifier: GPL-2.0
/*
 * Messages as they arrive, and control messages: which version judges them,
 * what is dropped or answered with an RDMA2_ERROR, CONNPROP in both
 * directions. RPC messages go on to the connection's owner.
 *
 * Everything runs in the CQ's work item, one message at a time, except the
 * senders, which may be called from process context in general.
 */
#include <linux/types.h>
#include <linux/nfs.h>
#include <linux/nfs3.h>
#include <linux/sunrpc/addr.h>
#include <linux/sunrpc/msg_prot.h>
#include <linux/sunrpc/xdr.h>

#include "conn.h"
#include "inject.h"
#include <trace/events/rpcrdma2.h>

/* Before a version is settled an ERROR has the version of what it is about;
 * any codec can write ERR_VERS.
 */
static const struct rpcrdma2_codec *
error_codec(const struct rpcrdma2_conn *conn, const struct rpcrdma2_hdr *about)
{
	if (conn->codec)
		return conn->codec;
	return rpcrdma2_codec_of(about->vers) ?: &rpcrdma2_codec_v2;
}

static int send_error(struct rpcrdma2_conn *conn,
		      const struct rpcrdma2_hdr *about, u32 err,
		      const u32 args[2],
		      void (*done)(struct rpcrdma2_send *send, int status))
{
	const struct rpcrdma2_codec *codec = error_codec(conn, about);
	struct rpcrdma2_send *send;
	int ret;

	if (about->htype == RDMA2_ERROR)
		return -EINVAL;
	send = rpcrdma2_inject_room() ? NULL :
	       rpcrdma2_send_get(conn, 1, NULL, true);
	if (!send) {
		rpcrdma2_stat_inc(conn->p.stats, send_errors_dropped);
		return -EAGAIN;
	}
	ret = codec->encode_error(about, rpcrdma2_conn_credit_grant(conn),
				  err, args, send->buf, send->size);
	if (ret < 0) {
		rpcrdma2_send_put(send);
		return ret;
	}
	send->done = done;
	rpcrdma2_send_prepare(send, ret, 0);
	ret = rpcrdma2_send_post(send, NULL);
	trace_rpcrdma2_send_control(conn, about->xid, RDMA2_ERROR, err, ret);
	if (!ret)
		rpcrdma2_stat_inc(conn->p.stats, tx_error);
	return ret;
}

/**
 * rpcrdma2_send_error - answer a received message with an RDMA2_ERROR
 * @conn: the connection
 * @about: header of the message
 * @err: error code
 * @arg0: first argument, if the code has one
 * @arg1: second argument
 *
 * A message that is itself an ERROR is never answered (HT-4). Without room
 * in the send queue the ERROR is dropped, so that a flood costs no memory
 * (SEC-14).
 *
 * Context: process; does not sleep.
 */
void rpcrdma2_send_error(struct rpcrdma2_conn *conn,
			 const struct rpcrdma2_hdr *about, u32 err,
			 u32 arg0, u32 arg1)
{
	const u32 args[2] = { arg0, arg1 };

	send_error(conn, about, err, args, NULL);
}

static void last_error_done(struct rpcrdma2_send *send, int status)
{
	rpcrdma2_conn_kill(send->conn, -EPROTO);
}

/**
 * rpcrdma2_send_last_error - answer with an RDMA2_ERROR, then close
 * @conn: the connection
 * @about: header of the message
 * @err: error code
 * @arg0: first argument
 * @arg1: second argument
 *
 * The connection is given up when the ERROR is out, so that the peer sees
 * both.
 *
 * Context: process; does not sleep.
 */
void rpcrdma2_send_last_error(struct rpcrdma2_conn *conn,
			      const struct rpcrdma2_hdr *about, u32 err,
			      u32 arg0, u32 arg1)
{
	const u32 args[2] = { arg0, arg1 };

	if (send_error(conn, about, err, args, last_error_done))
		rpcrdma2_conn_kill(conn, -EPROTO);
}

/**
 * rpcrdma2_send_connprop - send our CONNPROP
 * @conn: the connection; its Receives are posted already (CONN-12)
 * @xid: our own value, or the peer's when @response
 * @response: it answers the peer's CONNPROP (CONN-10)
 *
 * Context: process; does not sleep.
 * Return: 0, -EAGAIN without room, or -ENOTCONN
 */
int rpcrdma2_send_connprop(struct rpcrdma2_conn *conn, u32 xid, bool response)
{
	struct rpcrdma2_send *send;
	int hdr, body, ret;
	u32 credit;

	send = rpcrdma2_send_get(conn, 1, NULL, true);
	if (!send)
		return -EAGAIN;
	credit = response ? rpcrdma2_conn_credit_grant(conn) :
			    rpcrdma2_conn_credit_ask(conn);
	hdr = rpcrdma2_encode_control(xid, credit, RDMA2_CONNPROP, response,
				      send->buf, send->size);
	body = hdr < 0 ? hdr :
	       rpcrdma2_props_encode(&conn->mine, send->buf + hdr,
				     send->size - hdr);
	if (body < 0) {
		rpcrdma2_send_put(send);
		return body;
	}
	rpcrdma2_send_prepare(send, hdr + body, 0);
	ret = rpcrdma2_send_post(send, NULL);
	trace_rpcrdma2_send_control(conn, xid, RDMA2_CONNPROP, response, ret);
	if (!ret)
		rpcrdma2_stat_inc(conn->p.stats, tx_connprop);
	return ret;
}

/**
 * rpcrdma2_send_null - ask with a Call whether the server speaks version 2
 * @conn: client's connection on which nothing was sent
 * @xid: our own value
 *
 * Every server answers a Call to the NULL procedure, that of a program that it
 * does not know included, and needs no credentials for that.
 *
 * Context: process; does not sleep.
 * Return: 0, -EAGAIN without room, or -ENOTCONN
 */
int rpcrdma2_send_null(struct rpcrdma2_conn *conn, u32 xid)
{
	const __be32 rpc[] = {
		cpu_to_be32(xid), rpc_call, cpu_to_be32(RPC_VERSION),
		cpu_to_be32(NFS_PROGRAM), cpu_to_be32(NFS3_VERSION),
		cpu_to_be32(NFS3PROC_NULL),
		rpc_auth_null, 0, rpc_auth_null, 0,
	};
	const struct rpcrdma2_call call = {
		.xid	= xid,
		.credit	= rpcrdma2_conn_credit_ask(conn),
	};
	struct rpcrdma2_send *send;
	int ret;

	send = rpcrdma2_send_get(conn, 1, NULL, true);
	if (!send)
		return -EAGAIN;
	ret = rpcrdma2_codec_v2.encode_call(&call, send->buf,
					    send->size - sizeof(rpc));
	if (ret < 0) {
		rpcrdma2_send_put(send);
		return ret;
	}
	memcpy(send->buf + ret, rpc, sizeof(rpc));
	rpcrdma2_send_prepare(send, ret + sizeof(rpc), 0);
	ret = rpcrdma2_send_post(send, NULL);
	trace_rpcrdma2_send_control(conn, xid, RDMA2_MSG, 0, ret);
	if (!ret)
		rpcrdma2_stat_inc(conn->p.stats, tx_call_msg);
	return ret;
}

/* Is the peer one of another protocol called version 2? It is treated as any
 * that does not conform; the log says once what is behind that (VER-23).
 */
static void note_other_draft(struct rpcrdma2_conn *conn,
			     const struct rpcrdma2_recv *rx)
{
	if (likely(!rpcrdma2_other_draft(rx->buf, rx->len)))
		return;
	rpcrdma2_stat_inc(conn->p.stats, rx_other_draft);
	pr_notice_once("rpcrdma2: %pISpc speaks another draft of version 2\n",
		       &conn->cm_id->route.addr.dst_addr);
}

static void recv_dropped(struct rpcrdma2_conn *conn,
			 const struct rpcrdma2_recv *rx)
{
	note_other_draft(conn, rx);
	rpcrdma2_stat_inc(conn->p.stats, rx_dropped);
	trace_rpcrdma2_recv_dropped(conn, rx);
}

static void recv_malformed(struct rpcrdma2_conn *conn,
			   const struct rpcrdma2_recv *rx)
{
	note_other_draft(conn, rx);
	rpcrdma2_stat_inc(conn->p.stats, rx_malformed);
	trace_rpcrdma2_recv_malformed(conn, rx);
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
	recv_malformed(conn, rx);
	rpcrdma2_send_error(conn, &rx->hdr, RDMA2_ERR_BAD_XDR, 0, 0);
	return false;
}

/* Take over the peer's properties. Applies nothing unless all is good. */
static bool connprop_apply(struct rpcrdma2_conn *conn,
			   struct rpcrdma2_recv *rx)
{
	struct rpcrdma2_propset set;

	if (!connprop_read(conn, rx, &set))
		return false;
	if (set.val[RPCRDMA2_RBSIZ] < RPCRDMA2_RBSIZ_MIN) {
		/* It cannot carry the protocol (PROP-16, D-27) */
		recv_malformed(conn, rx);
		rpcrdma2_conn_kill(conn, -EPROTO);
		return false;
	}
	mutex_lock(&conn->props_lock);
	conn->peer = set;
	conn->peer_props_seen = true;
	mutex_unlock(&conn->props_lock);
	return true;
}

/* A CONNPROP on a connection whose version is settled. Of a second one only
 * the grant counts, as of every message (CONN-8, CRED-14, D-25): a server may
 * have sent one of its own before it answers ours.
 */
static void recv_connprop(struct rpcrdma2_conn *conn,
			  struct rpcrdma2_recv *rx, bool settles)
{
	bool second = !settles && conn->peer_props_seen;
	struct rpcrdma2_propset set;

	rpcrdma2_stat_inc(conn->p.stats, rx_connprop);
	if (second) {
		if (!connprop_read(conn, rx, &set))
			return;
		recv_dropped(conn, rx);
	} else if (!settles) {
		if (!connprop_apply(conn, rx))
			return;
		rpcrdma2_props_ready(conn);
		rpcrdma2_conn_apply_props(conn);
	}
	if (rx->hdr.response) {
		if (rpcrdma2_conn_granted(conn, rx->hdr.credit))
			conn->p.ops->window(conn);
	} else if (!second && !conn->client &&
		   rpcrdma2_send_connprop(conn, rx->hdr.xid, true) == -EAGAIN) {
		rpcrdma2_conn_kill(conn, -ENOBUFS);
	}
}

/* The message that has settled version 2: a CONNPROP, or the Reply to our Call.
 * False if there can be no connection with such properties.
 */
static bool take_answer(struct rpcrdma2_conn *conn, struct rpcrdma2_recv *rx)
{
	if (rx->hdr.htype == RDMA2_CONNPROP) {
		rpcrdma2_stat_inc(conn->p.stats, rx_connprop);
		if (!connprop_apply(conn, rx))
			return false;
	} else {
		rpcrdma2_stat_inc(conn->p.stats, rx_reply_msg);
	}
	if (rx->hdr.response)
		rpcrdma2_conn_granted(conn, rx->hdr.credit);
	return true;
}

/* Client, version not settled: every message goes to the negotiation. */
static void recv_negotiating(struct rpcrdma2_conn *conn,
			     struct rpcrdma2_recv *rx)
{
	enum rpcrdma2_neg_action action;
	u64 now = ktime_get_boottime_seconds();

	spin_lock(&conn->state_lock);
	action = conn->neg_action;
	if (action == RPCRDMA2_DO_NOTHING)
		action = rpcrdma2_neg_message(&conn->neg, rx->buf, rx->len,
					      &rx->hdr, now);
	else
		action = RPCRDMA2_DO_NOTHING;
	spin_unlock(&conn->state_lock);

	trace_rpcrdma2_recv(conn, rx);
	if (action == RPCRDMA2_DO_NOTHING) {
		recv_dropped(conn, rx);
		return;
	}
	if (action == RPCRDMA2_DO_BAD_XDR) {		/* and wait on */
		recv_malformed(conn, rx);
		rpcrdma2_send_error(conn, &rx->hdr, RDMA2_ERR_BAD_XDR, 0, 0);
		return;
	}
	if (action == RPCRDMA2_DO_SETTLE &&
	    conn->neg.state == RPCRDMA2_NEG_V2 && !take_answer(conn, rx))
		action = RPCRDMA2_DO_FAIL;
	/* The connect path does the rest */
	smp_store_release(&conn->neg_action, action);
	wake_up_all(&conn->state_wq);
}

static bool recv_rpc(struct rpcrdma2_conn *conn, struct rpcrdma2_recv *rx)
{
	const struct rpcrdma2_hdr *hdr = &rx->hdr;
	struct rpcrdma2_stats *stats = conn->p.stats;
	bool msg = hdr->htype == RDMA2_MSG;

	rpcrdma2_stat_add(stats, inline_rx_bytes, rx->len);
	if (!hdr->response) {
		if (msg)
			rpcrdma2_stat_inc(stats, rx_call_msg);
		else
			rpcrdma2_stat_inc(stats, rx_call_nomsg);
		return conn->p.ops->recv_call(conn, rx);
	}
	if (msg)
		rpcrdma2_stat_inc(stats, rx_reply_msg);
	else
		rpcrdma2_stat_inc(stats, rx_reply_nomsg);
	conn->p.ops->recv_reply(conn, rx);
	return false;
}

/* Has a message that answers no RPC invalidated a handle? Then an RPC has lost
 * its memory (RINV-14).
 */
static bool stray_invalidation(struct rpcrdma2_conn *conn,
			       const struct rpcrdma2_recv *rx)
{
	if (likely(!rx->invalidated))
		return false;
	rpcrdma2_stat_inc(conn->p.stats, bad_inv_handle);
	rpcrdma2_conn_kill(conn, -EPROTO);
	return true;
}

static bool recv_good(struct rpcrdma2_conn *conn, struct rpcrdma2_recv *rx,
		      bool settles)
{
	switch (rx->hdr.htype) {
	case RDMA2_MSG:
	case RDMA2_NOMSG:
		return recv_rpc(conn, rx);
	case RDMA2_ERROR:
		rpcrdma2_stat_inc(conn->p.stats, rx_error);
		if (rpcrdma2_props_error(conn, &rx->hdr)) {
			stray_invalidation(conn, rx);
			return false;
		}
		conn->p.ops->recv_error(conn, rx);
		return false;
	case RDMA2_CONNPROP:
		recv_connprop(conn, rx, settles);
		return false;
	default:
		recv_dropped(conn, rx);
		return false;
	}
}

/* Only what answers an RPC may have invalidated a handle. Whether it is one of
 * that RPC's, who knows the RPC finds out (RINV-14).
 */
static bool may_invalidate(const struct rpcrdma2_recv *rx,
			   enum rpcrdma2_verdict verdict)
{
	const struct rpcrdma2_hdr *hdr = &rx->hdr;

	return verdict == RPCRDMA2_OK && hdr->response &&
	       (hdr->htype == RDMA2_MSG || hdr->htype == RDMA2_NOMSG ||
		hdr->htype == RDMA2_ERROR);
}

/* A message of the settled version, or what the codec thinks of it. */
static bool recv_judged(struct rpcrdma2_conn *conn, struct rpcrdma2_recv *rx,
			enum rpcrdma2_verdict verdict, bool settles)
{
	/* A requester says nothing about what may be a Reply (V1-3) */
	if (conn->client && rx->hdr.undirected && verdict != RPCRDMA2_OK)
		verdict = RPCRDMA2_DROP;
	if (!may_invalidate(rx, verdict) && stray_invalidation(conn, rx))
		return false;

	switch (verdict) {
	case RPCRDMA2_OK:
		trace_rpcrdma2_recv(conn, rx);
		return recv_good(conn, rx, settles);
	case RPCRDMA2_DROP:
		recv_malformed(conn, rx);
		return false;
	case RPCRDMA2_BAD_XDR:
		recv_malformed(conn, rx);
		rpcrdma2_send_error(conn, &rx->hdr, RDMA2_ERR_BAD_XDR, 0, 0);
		return false;
	case RPCRDMA2_INVAL_HTYPE:
		note_other_draft(conn, rx);
		rpcrdma2_stat_inc(conn->p.stats, rx_unknown_type);
		trace_rpcrdma2_recv_malformed(conn, rx);
		rpcrdma2_send_error(conn, &rx->hdr, RDMA2_ERR_INVAL_HTYPE,
				    0, 0);
		return false;
	case RPCRDMA2_BAD_VERS:
		/* Another version in mid-connection (HDR-12, D-14) */
		rpcrdma2_stat_inc(conn->p.stats, rx_bad_vers);
		rpcrdma2_conn_kill(conn, -EPROTO);
		return false;
	}
	return false;
}

static bool recv_client(struct rpcrdma2_conn *conn, struct rpcrdma2_recv *rx)
{
	enum rpcrdma2_verdict verdict;

	if (!rpcrdma2_conn_ready(conn)) {
		recv_negotiating(conn, rx);
		return false;
	}
	verdict = conn->codec->decode(rx->buf, rx->len, &rx->hdr);
	if (verdict == RPCRDMA2_OK && unlikely(!conn->neg_proved)) {
		conn->neg_proved = true;
		spin_lock(&conn->state_lock);
		rpcrdma2_neg_proved(&conn->neg);
		spin_unlock(&conn->state_lock);
	}
	return recv_judged(conn, rx, verdict, false);
}

/* The first good message of a supported version settles it (VER-20). A
 * CONNPROP whose properties are no good is not such a message.
 */
static bool server_settle(struct rpcrdma2_conn *conn, struct rpcrdma2_recv *rx)
{
	struct rpcrdma2_srv_ver *ver = &conn->srv_ver;

	/* A message may be faster than the ESTABLISHED event */
	rpcrdma2_conn_opened(conn);
	if (rx->hdr.htype == RDMA2_CONNPROP && ver->codec->props &&
	    !connprop_apply(conn, rx)) {
		rpcrdma2_srv_ver_init(ver, ver->policy);
		return false;
	}
	if (rpcrdma2_conn_settle(conn, ver->codec, ver->why)) {
		rpcrdma2_conn_kill(conn, -ENOBUFS);
		return false;
	}
	return true;
}

static void refuse_version(struct rpcrdma2_conn *conn,
			   const struct rpcrdma2_recv *rx,
			   enum rpcrdma2_srv_action action, u32 low, u32 high)
{
	switch (action) {
	case RPCRDMA2_SRV_ERR_VERS:
		rpcrdma2_send_error(conn, &rx->hdr, RDMA2_ERR_VERS, low, high);
		break;
	case RPCRDMA2_SRV_ERR_VERS_CLOSE:
		rpcrdma2_send_last_error(conn, &rx->hdr, RDMA2_ERR_VERS, low,
					 high);
		break;
	default:
		rpcrdma2_conn_kill(conn, -EPROTO);
		break;
	}
}

static bool recv_server(struct rpcrdma2_conn *conn, struct rpcrdma2_recv *rx)
{
	bool settled = conn->srv_ver.codec;
	enum rpcrdma2_verdict verdict;
	enum rpcrdma2_srv_action action;
	u32 low = 0, high = 0;

	action = rpcrdma2_srv_message(&conn->srv_ver, rx->buf, rx->len,
				      &rx->hdr, &verdict, &low, &high);
	switch (action) {
	case RPCRDMA2_SRV_PASS:
		break;
	case RPCRDMA2_SRV_DROP:
		recv_malformed(conn, rx);
		return false;
	case RPCRDMA2_SRV_ERR_VERS:
	case RPCRDMA2_SRV_ERR_VERS_CLOSE:
	case RPCRDMA2_SRV_CLOSE:
		rpcrdma2_stat_inc(conn->p.stats, rx_bad_vers);
		refuse_version(conn, rx, action, low, high);
		return false;
	}

	if (!settled && conn->srv_ver.codec && !server_settle(conn, rx))
		return false;
	return recv_judged(conn, rx, verdict, !settled);
}

/* What follows the message that settles the version may be here before the
 * connect path has made the connection READY. It does so without us.
 */
static void await_settled(struct rpcrdma2_conn *conn)
{
	/* With recv_negotiating(), or with the connect path for version 1 */
	if (smp_load_acquire(&conn->neg_action) == RPCRDMA2_DO_SETTLE)
		wait_event(conn->state_wq, rpcrdma2_conn_state(conn) !=
					   RPCRDMA2_CONN_OPEN);
}

/**
 * rpcrdma2_receive - a message has arrived
 * @conn: the connection
 * @rx: the Receive that holds it
 *
 * Context: the CQ's work item; may sleep.
 * Return: true if the owner took @rx over.
 */
bool rpcrdma2_receive(struct rpcrdma2_conn *conn, struct rpcrdma2_recv *rx)
{
	if (conn->client && unlikely(!rpcrdma2_conn_ready(conn)))
		await_settled(conn);
	/* What a lost connection still has to say counts for negotiation */
	if (rpcrdma2_conn_state(conn) >= RPCRDMA2_CONN_CLOSING &&
	    !(conn->client && !READ_ONCE(conn->codec)))
		return false;
	if (rpcrdma2_conn_ready(conn) && rpcrdma2_props_receive(conn, rx)) {
		stray_invalidation(conn, rx);
		return false;
	}
	return conn->client ? recv_client(conn, rx) : recv_server(conn, rx);
}
