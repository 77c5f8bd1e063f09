// SPDX-License-Identifier: GPL-2.0
/*
 * The client's side of the backchannel. A reverse direction Call is copied
 * out of its Receive and given to the callback service of NFS; the Reply
 * comes back through rpc_xprt_ops.send_request and passes by the FIFO of
 * the forward direction, so that neither direction holds up the other
 * (REV-10). Everything is inline (BRS INLINE).
 *
 * NFS points xprt->bc_serv to its service and never takes it back. The
 * pointer is used only with bc_pa_lock held and callbacks reserved, and
 * rpc_xprt_ops.bc_destroy, which NFS calls before it ends the service,
 * clears it with that lock held and waits for the callbacks in progress.
 *
 * bc_pa_lock protects the slots, too. It is a leaf but for the wake-up of a
 * service thread; process context only.
 */
#include <linux/slab.h>
#include <linux/sunrpc/bc_xprt.h>
#include <linux/sunrpc/svc.h>
#include <linux/sunrpc/xprt.h>

#include "buf.h"
#include "callback.h"
#include "compat.h"
#include "control.h"
#include <trace/events/rpcrdma2.h>

/* A Reply chunk as it comes: a count and segments */
#define RPCRDMA2_CB_CHUNK	(XDR_UNIT + RPCRDMA2_MAX_SEGS * \
				 RPCRDMA2_SEGMENT_BYTES)

/* Wait for callbacks in progress when the backchannel ends */
#define RPCRDMA2_CB_DRAIN	(5 * HZ)

/**
 * struct rpcrdma2_cb - one callback slot
 * @rqst: what sunrpc sees
 * @conn_id: connection the Call came on; the Reply takes no other (REV-15)
 * @hdr: of the Call, as far as its Reply needs it
 * @chunk: copy of its Reply chunk, as it came
 * @size: bytes at @call
 * @call: copy of the Call
 * @reply: page for the Reply
 */
struct rpcrdma2_cb {
	struct rpc_rqst			rqst;
	u32				conn_id;
	struct rpcrdma2_hdr		hdr;
	u8				chunk[RPCRDMA2_CB_CHUNK];
	u32				size;
	void				*call;
	void				*reply;
};

static struct rpcrdma2_cb *cb_of(struct rpc_rqst *rqst)
{
	return container_of(rqst, struct rpcrdma2_cb, rqst);
}

static void cb_free(struct rpcrdma2_cb *cb)
{
	kfree(cb->call);
	free_page((unsigned long)cb->reply);
	kfree(cb);
}

static struct rpcrdma2_cb *cb_alloc(struct rpcrdma2_client *client)
{
	struct rpcrdma2_cb *cb = kzalloc_obj(*cb, GFP_KERNEL);

	if (!cb)
		return NULL;
	cb->size = rpcrdma2_bc_maxpayload(&client->rq.xprt);
	cb->call = kmalloc(cb->size, GFP_KERNEL);
	cb->reply = (void *)__get_free_page(GFP_KERNEL);
	if (!cb->call || !cb->reply) {
		cb_free(cb);
		return NULL;
	}
	cb->rqst.rq_xprt = &client->rq.xprt;
	INIT_LIST_HEAD(&cb->rqst.rq_bc_pa_list);
	return cb;
}

/**
 * rpcrdma2_callback_init - prepare the backchannel of a transport
 * @client: the transport
 *
 * Context: any.
 */
void rpcrdma2_callback_init(struct rpcrdma2_client *client)
{
	init_waitqueue_head(&client->cb_wq);
}

/* Free slots nobody uses. */
static void cb_free_list(struct rpcrdma2_client *client)
{
	struct rpc_xprt *xprt = &client->rq.xprt;
	struct rpc_rqst *rqst, *tmp;
	LIST_HEAD(list);

	spin_lock(&xprt->bc_pa_lock);
	list_splice_init(&xprt->bc_pa_list, &list);
	list_for_each_entry(rqst, &list, rq_bc_pa_list)
		client->cb_count--;
	spin_unlock(&xprt->bc_pa_lock);
	list_for_each_entry_safe(rqst, tmp, &list, rq_bc_pa_list)
		cb_free(cb_of(rqst));
}

/**
 * rpcrdma2_callback_destroy - free what is left of the backchannel
 * @client: the transport, unused and unconnected
 *
 * Context: may sleep.
 */
void rpcrdma2_callback_destroy(struct rpcrdma2_client *client)
{
	cb_free_list(client);
	WARN_ON_ONCE(client->cb_count);
}

/* While the server may call back it needs the connection, idle or not: a
 * lease may be longer than the time after which an unused one is closed
 * (REV-13).
 */
static void cb_keep_connection(struct rpcrdma2_client *client, bool keep)
{
	struct rpc_xprt *xprt = &client->rq.xprt;

	spin_lock(&xprt->transport_lock);
	if (!keep && client->idle_timeout) {
		xprt->idle_timeout = client->idle_timeout;
		client->idle_timeout = 0;
	} else if (keep && xprt->idle_timeout) {
		client->idle_timeout = xprt->idle_timeout;
		xprt->idle_timeout = 0;
		timer_delete(&xprt->timer);
	}
	spin_unlock(&xprt->transport_lock);
}

/**
 * rpcrdma2_bc_setup - have what it takes to serve callbacks
 * @xprt: the transport
 * @min_reqs: callbacks that the upper layer expects at once
 *
 * rpc_xprt_ops.bc_setup. NFS calls it before it tells the server of the
 * backchannel.
 *
 * Context: sleeps.
 * Return: 0 or -ENOMEM
 */
int rpcrdma2_bc_setup(struct rpc_xprt *xprt, unsigned int min_reqs)
{
	struct rpcrdma2_client *client = rpcrdma2_client(xprt);
	struct rpcrdma2_cb *cb;
	bool enough;

	for (;;) {
		cb = cb_alloc(client);
		if (!cb)
			return -ENOMEM;
		spin_lock(&xprt->bc_pa_lock);
		enough = client->cb_count >= RPCRDMA2_CB_SLOTS;
		if (!enough) {
			client->cb_count++;
			list_add(&cb->rqst.rq_bc_pa_list, &xprt->bc_pa_list);
			cb = NULL;
		} else {
			client->cb_reserved += min_reqs;
		}
		spin_unlock(&xprt->bc_pa_lock);
		if (enough)
			break;
	}
	cb_free(cb);
	cb_keep_connection(client, true);
	trace_rpcrdma2_op_bc_setup(xprt, 0, min_reqs);
	return 0;
}

/**
 * rpcrdma2_bc_maxpayload - largest callback, Call or Reply
 * @xprt: the transport
 *
 * The upper layer agrees on it with the server for the life of a session,
 * which outlives connections. So it is constant, and small enough for the
 * smallest threshold that any connection of this transport can have:
 * version 1 without private data, or a server that announces the smallest
 * Receive Buffer Size (REV-7).
 *
 * rpc_xprt_ops.bc_maxpayload
 *
 * Context: any.
 * Return: bytes
 */
size_t rpcrdma2_bc_maxpayload(struct rpc_xprt *xprt)
{
	BUILD_BUG_ON(RPCRDMA1_INLINE_DEFAULT > RPCRDMA2_RBSIZ_MIN);
	BUILD_BUG_ON(RPCRDMA1_HDR_MIN > RPCRDMA2_HDR_MIN);
	return RPCRDMA1_INLINE_DEFAULT - RPCRDMA2_HDR_MIN;
}

/**
 * rpcrdma2_bc_num_slots - callbacks served at once
 * @xprt: the transport
 *
 * rpc_xprt_ops.bc_num_slots
 *
 * Context: any.
 * Return: their number
 */
unsigned int rpcrdma2_bc_num_slots(struct rpc_xprt *xprt)
{
	return RPCRDMA2_CB_SLOTS;
}

/**
 * rpcrdma2_bc_free_rqst - a callback is over, answered or not
 * @rqst: its slot
 *
 * rpc_xprt_ops.bc_free_rqst
 *
 * Context: process; does not sleep. May drop the last reference to the
 * transport.
 */
void rpcrdma2_bc_free_rqst(struct rpc_rqst *rqst)
{
	struct rpc_xprt *xprt = rqst->rq_xprt;
	struct rpcrdma2_client *client = rpcrdma2_client(xprt);
	struct rpcrdma2_cb *cb = cb_of(rqst);

	spin_lock(&xprt->queue_lock);
	if (client->rq.conn && client->rq.conn->id == cb->conn_id)
		rpcrdma2_credit_served(&client->rq.conn->rq);
	spin_unlock(&xprt->queue_lock);

	clear_bit(RPC_BC_PA_IN_USE, &rqst->rq_bc_pa_state);
	spin_lock(&xprt->bc_pa_lock);
	client->cb_busy--;
	if (client->cb_reserved) {
		list_add(&rqst->rq_bc_pa_list, &xprt->bc_pa_list);
		cb = NULL;
	} else {
		client->cb_count--;
	}
	if (!client->cb_busy)
		wake_up_all(&client->cb_wq);
	spin_unlock(&xprt->bc_pa_lock);
	if (cb)
		cb_free(cb);
	xprt_put(xprt);
}

static bool cb_idle(struct rpcrdma2_client *client)
{
	struct rpc_xprt *xprt = &client->rq.xprt;
	bool idle;

	spin_lock(&xprt->bc_pa_lock);
	idle = !client->cb_busy;
	spin_unlock(&xprt->bc_pa_lock);
	return idle;
}

/**
 * rpcrdma2_bc_destroy - the upper layer needs the backchannel no more
 * @xprt: the transport
 * @max_reqs: callbacks that it had reserved
 *
 * rpc_xprt_ops.bc_destroy
 *
 * Context: sleeps, until the callbacks in progress are over.
 */
void rpcrdma2_bc_destroy(struct rpc_xprt *xprt, unsigned int max_reqs)
{
	struct rpcrdma2_client *client = rpcrdma2_client(xprt);
	bool last;

	spin_lock(&xprt->bc_pa_lock);
	client->cb_reserved -= min(max_reqs, client->cb_reserved);
	last = !client->cb_reserved;
	if (last)
		xprt->bc_serv = NULL;
	spin_unlock(&xprt->bc_pa_lock);
	if (!last)
		return;
	/* The service will end; it must not be left with a Call queued */
	wait_event_timeout(client->cb_wq, cb_idle(client), RPCRDMA2_CB_DRAIN);
	cb_free_list(client);
	cb_keep_connection(client, false);
}

/* Is the Call one that we can serve? If not it is answered here (REV-9,
 * D-31). A Reply chunk is only repeated, unused: our Replies fit inline.
 */
static bool cb_is_inline(struct rpcrdma2_conn *conn,
			 const struct rpcrdma2_hdr *hdr)
{
	if (hdr->read_segs) {
		rpcrdma2_send_error(conn, hdr, RDMA2_ERR_READ_CHUNKS, 0, 0);
		return false;
	}
	if (hdr->write_chunks) {
		rpcrdma2_send_error(conn, hdr, RDMA2_ERR_REPLY_RESOURCE, 0, 0);
		return false;
	}
	if (hdr->max_segs > RPCRDMA2_MAX_SEGS) {
		rpcrdma2_send_error(conn, hdr, RDMA2_ERR_SEGMENTS,
				    RPCRDMA2_MAX_SEGS, 0);
		return false;
	}
	return true;
}

/* The Receive is used again before the Reply is built. */
static void cb_keep_header(struct rpcrdma2_cb *cb,
			   const struct rpcrdma2_hdr *hdr)
{
	struct rpcrdma2_cursor segs;

	cb->hdr = (struct rpcrdma2_hdr) {
		.xid	= hdr->xid,
		.vers	= hdr->vers,
		.htype	= hdr->htype,
	};
	if (!rpcrdma2_reply_chunk(hdr, &segs))
		return;
	memcpy(cb->chunk, hdr->reply_chunk,
	       XDR_UNIT + segs.left * RPCRDMA2_SEGMENT_BYTES);
	cb->hdr.reply_chunk = cb->chunk;
}

/* Fill a slot with the Call. */
static void cb_fill(struct rpcrdma2_cb *cb, const struct rpcrdma2_conn *conn,
		    const struct rpcrdma2_hdr *hdr)
{
	struct rpc_rqst *rqst = &cb->rqst;
	u32 len = min(hdr->body_len, cb->size);

	cb->conn_id = conn->id;
	cb_keep_header(cb, hdr);
	memcpy(cb->call, hdr->body, len);
	rqst->rq_xid = cpu_to_be32(hdr->xid);
	rqst->rq_reply_bytes_recvd = 0;
	rqst->rq_bytes_sent = 0;
	xdr_buf_init(&rqst->rq_rcv_buf, cb->call, len);
	rqst->rq_rcv_buf.len = len;
	rqst->rq_private_buf = rqst->rq_rcv_buf;
	xdr_buf_init(&rqst->rq_snd_buf, cb->reply, PAGE_SIZE);
	set_bit(RPC_BC_PA_IN_USE, &rqst->rq_bc_pa_state);
}

/**
 * rpcrdma2_callback_call - a reverse direction Call arrived
 * @conn: the connection; its owner is a struct rpcrdma2_client
 * @rx: well-formed MSG or NOMSG with RESPONSE clear
 *
 * struct rpcrdma2_conn_ops.recv_call
 *
 * Context: completion handler; does not sleep.
 * Return: false: @rx is not kept
 */
bool rpcrdma2_callback_call(struct rpcrdma2_conn *conn,
			    struct rpcrdma2_recv *rx)
{
	struct rpcrdma2_client *client = conn->p.owner;
	struct rpc_xprt *xprt = &client->rq.xprt;
	const struct rpcrdma2_hdr *hdr = &rx->hdr;
	struct rpc_rqst *rqst = NULL;
	int ret = -ENOENT;

	if (!cb_is_inline(conn, hdr))
		return false;

	rpcrdma2_credit_called(conn, hdr->credit);

	spin_lock(&xprt->bc_pa_lock);
	if (xprt->bc_serv && client->cb_reserved) {
		ret = -EBUSY;
		rqst = list_first_entry_or_null(&xprt->bc_pa_list,
						struct rpc_rqst,
						rq_bc_pa_list);
	}
	/* No reference is dropped here: the last one waits for XPRT_LOCKED,
	 * whose owner may be draining the CQ
	 */
	if (rqst && !xprt_get(xprt)) {
		ret = -ENOENT;
		rqst = NULL;
	}
	if (rqst) {
		ret = 0;
		list_del_init(&rqst->rq_bc_pa_list);
		client->cb_busy++;
		cb_fill(cb_of(rqst), conn, hdr);
		/* svc_process_bc() takes one off */
		atomic_inc(&xprt->bc_slot_count);
		compat_svc_enqueue_bc(xprt->bc_serv, rqst);
	}
	spin_unlock(&xprt->bc_pa_lock);

	trace_rpcrdma2_cb_call(xprt, conn->id, hdr->xid, hdr->body_len, ret);
	if (!ret)
		return false;
	rpcrdma2_credit_served(&conn->rq);
	if (ret == -EBUSY) {
		/* Beyond its credits, or callbacks of an earlier connection
		 * are still in progress
		 */
		rpcrdma2_send_error(conn, hdr, RDMA2_ERR_SYSTEM, 0, 0);
		return false;
	}
	/* Nobody there to serve it (REV-11) */
	rpcrdma2_stat_inc(&client->stats, rx_dropped);
	return false;
}

/* Room for a Reply: its own, or what is kept for control messages, which a
 * callback is about as important as.
 */
static struct rpcrdma2_send *cb_send_get(struct rpcrdma2_conn *conn, u32 len)
{
	struct rpcrdma2_send *send;

	send = rpcrdma2_send_get(conn, 1, NULL, false);
	if (!send)
		send = rpcrdma2_send_get(conn, 1, NULL, true);
	if (!send || send->size >= len)
		return send;
	rpcrdma2_send_put(send);
	return NULL;
}

static int cb_send_reply(struct rpcrdma2_client *client,
			 struct rpcrdma2_conn *conn, struct rpc_rqst *rqst)
{
	const struct rpcrdma2_hdr *call = &cb_of(rqst)->hdr;
	const struct xdr_buf *snd = &rqst->rq_snd_buf;
	struct rpcrdma2_reply reply = {
		.xid	= be32_to_cpu(rqst->rq_xid),
		.credit	= rpcrdma2_credit_grant(&conn->rq),
		.call	= call,
	};
	struct rpcrdma2_send *send;
	u32 len;
	int ret;

	len = conn->codec->reply_len(&reply) + snd->len;
	if (len > rpcrdma2_limits_send(&conn->limits)) {
		rpcrdma2_send_error(conn, call, RDMA2_ERR_REPLY_RESOURCE,
				    snd->len, 0);
		return -EMSGSIZE;
	}
	send = cb_send_get(conn, len);
	if (!send)
		return rpcrdma2_conn_ready(conn) ? -ENOBUFS : -ENOTCONN;
	ret = conn->codec->encode_reply(&reply, send->buf, send->size);
	if (ret < 0 || rpcrdma2_xdr_read(snd, 0, send->buf + ret,
					 snd->len)) {
		rpcrdma2_send_put(send);
		return -EIO;
	}
	rpcrdma2_stat_inc(&client->stats, tx_reply_msg);
	rpcrdma2_stat_add(&client->stats, inline_tx_bytes, ret + snd->len);
	rpcrdma2_send_prepare(send, ret + snd->len, 0);
	return rpcrdma2_send_post(send, NULL);
}

/**
 * rpcrdma2_callback_reply - send the Reply of a callback
 * @rqst: slot of the callback; Reply in rq_snd_buf
 *
 * rpc_xprt_ops.send_request for slots with bc_prealloc() set. A Reply that
 * cannot be sent is dropped, and the server calls again: its connection is gone
 * (REV-15), it is too long, or the send queue is full, control messages included.
 * sunrpc would give an error to the RPC whose task happens to send for all, and
 * have the Reply block the forward direction (REV-10).
 *
 * Context: process, transport locked by sunrpc; does not sleep.
 * Return: 0
 */
int rpcrdma2_callback_reply(struct rpc_rqst *rqst)
{
	struct rpcrdma2_client *client = rpcrdma2_client(rqst->rq_xprt);
	struct rpcrdma2_conn *conn = READ_ONCE(client->rq.conn);
	int ret = -ENOTCONN;

	if (conn && conn->id == cb_of(rqst)->conn_id &&
	    rpcrdma2_conn_ready(conn))
		ret = cb_send_reply(client, conn, rqst);
	trace_rpcrdma2_cb_reply(rqst->rq_xprt, cb_of(rqst)->conn_id,
				be32_to_cpu(rqst->rq_xid),
				rqst->rq_snd_buf.len, ret);
	if (ret)
		rpcrdma2_stat_inc(&client->stats, callback_replies_dropped);
	return 0;
}
