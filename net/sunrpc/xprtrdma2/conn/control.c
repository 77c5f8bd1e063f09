// SPDX-License-Identifier: GPL-2.0
/*
 * Control messages to the peer, and the rejection of invalid messages, which are
 * dropped or answered with an RDMA2_ERROR.
 *
 * Nothing in this file waits for the send queue or for memory.
 */
#include <linux/types.h>
#include <linux/nfs.h>
#include <linux/nfs3.h>
#include <linux/sunrpc/msg_prot.h>
#include <linux/sunrpc/xdr.h>

#include "conn/conn.h"
#include "conn/control.h"
#include "conn/inject.h"
#include <trace/events/rpcrdma2.h>

static struct rpcrdma2_send *control_slot(struct rpcrdma2_conn *conn)
{
	if (rpcrdma2_inject(RPCRDMA2_FAULT_CONTROL))
		return NULL;
	return rpcrdma2_send_get_control(conn);
}

/* Post @send with @len bytes, and count it by @stat; a negative @len is the errno of an
 * encoder. @arg is for the trace. Returns 0 or a negative errno.
 */
static int control_send(struct rpcrdma2_send *send, int len, u32 arg,
			enum rpcrdma2_stat stat)
{
	const __be32 *hdr = send->buf;
	u32 xid = be32_to_cpu(hdr[0]), htype = be32_to_cpu(hdr[3]);
	struct rpcrdma2_conn *conn = send->conn;
	int ret = len;

	if (len < 0)
		rpcrdma2_send_put(send);
	else
		ret = rpcrdma2_send_post(send, len, 0, NULL);
	if (!ret)
		atomic_long_inc(&conn->p.stats->v[stat]);
	trace_rpcrdma2_send_control(conn, xid, htype, arg, ret);
	return ret;
}

/* Answer a received message with an RDMA2_ERROR. A message that is itself an ERROR is never
 * answered (HT-4). Without a send slot the ERROR is dropped, so that a flood costs no memory
 * (SEC-14). Before a version is settled the ERROR has that of the message; any codec can
 * encode ERR_VERS. @args may be NULL.
 */
static int send_error(struct rpcrdma2_conn *conn,
		      const struct rpcrdma2_hdr *about, u32 err, const u32 *args,
		      void (*done)(struct rpcrdma2_send *send, int status))
{
	const struct rpcrdma2_codec *codec = conn->codec ?: rpcrdma2_wire_codec(about->vers);
	struct rpcrdma2_send *send;
	int ret;

	if (about->htype == RDMA2_ERROR)
		return -EINVAL;
	send = control_slot(conn);
	if (!send) {
		rpcrdma2_stat_inc(conn->p.stats, send_errors_dropped);
		return -EAGAIN;
	}
	send->done = done;
	ret = rpcrdma2_wire_encode_error(codec ?: &rpcrdma2_codec_v2, about,
					 rpcrdma2_credit_grant(&conn->credit), err, args,
					 send->buf, send->size);
	return control_send(send, ret, err, RPCRDMA2_STAT_tx_error);
}

static void last_error_done(struct rpcrdma2_send *send, int status)
{
	rpcrdma2_conn_kill(send->conn, -EPROTO);
}

/**
 * rpcrdma2_control_err_vers - answer a message of a version that is not spoken
 * @conn: the connection
 * @about: header of the message, with the lowest and the highest version that is spoken
 * @last: give up the connection when the ERROR has been sent, so that the peer sees both
 *
 * Context: process; does not sleep.
 */
void rpcrdma2_control_err_vers(struct rpcrdma2_conn *conn,
			       const struct rpcrdma2_hdr *about, bool last)
{
	int ret = send_error(conn, about, RDMA2_ERR_VERS, about->err_arg,
			     last ? last_error_done : NULL);

	if (ret && last)
		rpcrdma2_conn_kill(conn, -EPROTO);
}

/**
 * rpcrdma2_control_get - begin a control message, or a Call without handle and chunks
 * @conn: the connection
 * @xid: our own value, or the peer's when @response
 * @htype: header type
 * @response: the message answers one of the peer
 *
 * Context: process; does not sleep.
 * Return: a send slot with the header, of RPCRDMA2_PREFIX bytes, in its buffer; or NULL
 * if no slot is free
 */
struct rpcrdma2_send *rpcrdma2_control_get(struct rpcrdma2_conn *conn, u32 xid,
					   u32 htype, bool response)
{
	u32 credit = response ? rpcrdma2_credit_grant(&conn->credit) :
				rpcrdma2_credit_ask(&conn->credit);
	struct rpcrdma2_send *send = control_slot(conn);

	if (send)
		rpcrdma2_wire_encode_control(xid, credit, htype, response,
					     send->buf, send->size);
	return send;
}

/**
 * rpcrdma2_control_post - send a control message
 * @send: from rpcrdma2_control_get(); the caller loses it
 * @body: bytes of the body, which is behind the header; or a negative errno
 * @stat: counter of these messages
 *
 * Context: process; does not sleep.
 * Return: 0, -ENOTCONN, or @body if negative
 */
int rpcrdma2_control_post(struct rpcrdma2_send *send, int body, enum rpcrdma2_stat stat)
{
	int len = body < 0 ? body : (int)RPCRDMA2_PREFIX + body;

	return control_send(send, len, len, stat);
}

/**
 * rpcrdma2_control_null - ask with a Call whether the server speaks version 2
 * @conn: client's connection on which nothing was sent
 * @xid: our own value
 *
 * Every server answers a Call of the NULL procedure, even of a program that it does not
 * know, and needs no credentials for that.
 *
 * Context: process; does not sleep.
 * Return: 0, -EAGAIN without a send slot, or -ENOTCONN
 */
int rpcrdma2_control_null(struct rpcrdma2_conn *conn, u32 xid)
{
	const __be32 body[] = {
		/* No handle, no chunks */
		0, 0, 0, 0,
		cpu_to_be32(xid), rpc_call, cpu_to_be32(RPC_VERSION),
		cpu_to_be32(NFS_PROGRAM), cpu_to_be32(NFS3_VERSION),
		cpu_to_be32(NFS3PROC_NULL),
		rpc_auth_null, 0, rpc_auth_null, 0,
	};
	struct rpcrdma2_send *send = rpcrdma2_control_get(conn, xid, RDMA2_MSG, false);

	if (!send)
		return -EAGAIN;
	memcpy(send->buf + RPCRDMA2_PREFIX, body, sizeof(body));
	return rpcrdma2_control_post(send, sizeof(body), RPCRDMA2_STAT_tx_call_msg);
}

/* Count a rejected message. Also count a peer that speaks another draft of version 2, and
 * log the first one; such a peer is treated like any other that does not conform (VER-23).
 */
static void reject_count(struct rpcrdma2_conn *conn, const struct rpcrdma2_recv *rx,
			 enum rpcrdma2_stat stat)
{
	atomic_long_inc(&conn->p.stats->v[stat]);
	if (likely(!rpcrdma2_neg_other_draft(rx->buf, rx->len)))
		return;
	rpcrdma2_stat_inc(conn->p.stats, rx_other_draft);
	pr_notice_once("rpcrdma2: %pISpc speaks another draft of version 2\n",
		       &conn->cm_id->route.addr.dst_addr);
}

/**
 * rpcrdma2_reject_dropped - count a message that is well-formed, but ignored
 * @conn: the connection
 * @rx: holds the message
 *
 * Context: completion handler; does not sleep.
 */
void rpcrdma2_reject_dropped(struct rpcrdma2_conn *conn, const struct rpcrdma2_recv *rx)
{
	reject_count(conn, rx, RPCRDMA2_STAT_rx_dropped);
	trace_rpcrdma2_reject_dropped(conn, rx);
}

/**
 * rpcrdma2_reject - reject a message that cannot be decoded
 * @conn: the connection
 * @rx: holds the message
 * @verdict: RPCRDMA2_DROP, or the ERROR to answer with: RPCRDMA2_BAD_XDR or
 *	RPCRDMA2_INVAL_HTYPE
 *
 * Context: completion handler; does not sleep. Requirements: ERR-1.
 */
void rpcrdma2_reject(struct rpcrdma2_conn *conn, const struct rpcrdma2_recv *rx,
		     enum rpcrdma2_verdict verdict)
{
	bool unknown = verdict == RPCRDMA2_INVAL_HTYPE;

	reject_count(conn, rx, unknown ? RPCRDMA2_STAT_rx_unknown_type :
					 RPCRDMA2_STAT_rx_malformed);
	trace_rpcrdma2_reject_malformed(conn, rx);
	if (verdict != RPCRDMA2_DROP)
		send_error(conn, &rx->hdr, unknown ? RDMA2_ERR_INVAL_HTYPE :
						     RDMA2_ERR_BAD_XDR, NULL, NULL);
}
