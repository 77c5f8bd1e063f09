// SPDX-License-Identifier: GPL-2.0
/*
 * The client's side of the backchannel. The responder receives reverse direction Calls
 * as on a server. This file passes each Call to the callback service of NFS, in a slot
 * that is a struct rpc_rqst. The Reply comes back through rpc_xprt_ops.send_request and
 * bypasses the FIFO of the forward direction, so that neither direction blocks the
 * other (REV-10). All messages are inline (BRS INLINE): the responder's limits allow
 * no chunks.
 *
 * A callback may outlive its connection, which cannot wait for callbacks: the service
 * may be unable to send its Reply before the connection has ended. So the slot has a
 * copy of the Call, and the end of the connection takes the responder's Call from the
 * slot, whose Reply is then dropped (REV-15).
 *
 * NFS sets xprt->bc_serv to its service and never clears it. The pointer is used only
 * with bc_pa_lock held and callbacks reserved. rpc_xprt_ops.bc_destroy, which NFS calls
 * before it ends the service, clears it with that lock held and waits for the callbacks
 * in progress.
 *
 * bc_pa_lock also protects the slots, their number (xprt->bc_alloc_count), and the number
 * of callbacks that NFS has reserved (xprt->bc_alloc_max). Code that releases the Call of
 * a slot holds the lock, so that the connection is not freed meanwhile. The connection's
 * locks nest inside; process context only.
 */
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/sunrpc/svc.h>

#include "compat.h"
#include "xprt/client.h"
#include <trace/events/rpcrdma2.h>

/* Maximum wait for callbacks in progress when the backchannel ends */
#define RPCRDMA2_CB_DRAIN	(5 * HZ)

/* Largest callback, see rpcrdma2_client_bc_maxpayload() */
#define RPCRDMA2_CB_BYTES	(RPCRDMA1_INLINE_DEFAULT - RPCRDMA2_HDR_MIN)

/**
 * struct rpcrdma2_cb - one callback slot
 * @rqst: sunrpc's part
 * @call: the responder's Call, or NULL if its connection is gone. The Reply uses no
 *	other connection (REV-15). bc_pa_lock; stable while the transport is locked
 * @reply: page for the Reply; a Reply that waits for the send queue has a reference
 * @args: copy of the RPC message
 */
struct rpcrdma2_cb {
	struct rpc_rqst			rqst;
	struct rpcrdma2_svc_call	*call;
	void				*reply;
	u8				args[RPCRDMA2_CB_BYTES];
};

static struct rpcrdma2_cb *cb_of(struct rpc_rqst *rqst)
{
	return container_of(rqst, struct rpcrdma2_cb, rqst);
}

/* While the server may call back it needs the connection even if that is idle: a lease
 * may be longer than the idle timeout (REV-13).
 */
static void cb_keep_connection(struct rpc_xprt *xprt, bool keep)
{
	struct rpcrdma2_callback *callback = &rpcrdma2_client(xprt)->callback;

	guard(spinlock)(&xprt->transport_lock);
	if (keep == !!xprt->idle_timeout)
		swap(xprt->idle_timeout, callback->idle_timeout);
	if (keep)
		timer_delete(&xprt->timer);
}

/**
 * rpcrdma2_client_bc_setup - prepare to serve callbacks
 * @xprt: the transport
 * @min_reqs: callbacks that the upper layer expects at once
 *
 * rpc_xprt_ops.bc_setup. NFS calls it before it announces the backchannel to the
 * server.
 *
 * Allocates a call object and all slots. If several callbacks arrive at once the
 * responder allocates more call objects, memory permitting. Two concurrent callers may
 * make one slot too many.
 *
 * Context: sleeps.
 * Return: 0 or -ENOMEM
 */
int rpcrdma2_client_bc_setup(struct rpc_xprt *xprt, unsigned int min_reqs)
{
	struct rpcrdma2_responder *resp = &rpcrdma2_client(xprt)->callback.resp;
	struct rpcrdma2_cb *cb;

	while (READ_ONCE(xprt->bc_alloc_count) < RPCRDMA2_CB_SLOTS) {
		cb = kzalloc_obj(*cb, GFP_KERNEL);
		if (!cb)
			return -ENOMEM;
		cb->reply = (void *)__get_free_page(GFP_KERNEL);
		if (!cb->reply) {
			kfree(cb);
			return -ENOMEM;
		}
		cb->rqst.rq_xprt = xprt;
		set_bit(RPC_BC_PA_IN_USE, &cb->rqst.rq_bc_pa_state);
		guard(spinlock)(&xprt->bc_pa_lock);
		WRITE_ONCE(xprt->bc_alloc_count, xprt->bc_alloc_count + 1);
		list_add(&cb->rqst.rq_bc_pa_list, &xprt->bc_pa_list);
	}
	if (!rpcrdma2_calls_provide(resp, 1, GFP_KERNEL))
		return -ENOMEM;
	scoped_guard(spinlock, &xprt->bc_pa_lock)
		xprt->bc_alloc_max += min_reqs;
	cb_keep_connection(xprt, true);
	trace_rpcrdma2_op_bc_setup(xprt, 0, min_reqs);
	return 0;
}

/**
 * rpcrdma2_client_bc_maxpayload - largest callback, Call or Reply
 * @xprt: the transport
 *
 * The upper layer negotiates it with the server for the life of a session, which
 * outlives connections. So it is constant, and fits the smallest threshold of any
 * connection of this transport: version 1 without private data, or a server that
 * announces the smallest Receive Buffer Size (REV-7).
 *
 * rpc_xprt_ops.bc_maxpayload
 *
 * Context: any.
 * Return: bytes
 */
size_t rpcrdma2_client_bc_maxpayload(struct rpc_xprt *xprt)
{
	BUILD_BUG_ON(RPCRDMA1_INLINE_DEFAULT > RPCRDMA2_RBSIZ_MIN);
	BUILD_BUG_ON(RPCRDMA1_HDR_MIN > RPCRDMA2_HDR_MIN);
	return RPCRDMA2_CB_BYTES;
}

/**
 * rpcrdma2_client_bc_num_slots - callbacks served at once
 * @xprt: the transport
 *
 * rpc_xprt_ops.bc_num_slots
 *
 * Context: any.
 * Return: their number
 */
unsigned int rpcrdma2_client_bc_num_slots(struct rpc_xprt *xprt)
{
	return RPCRDMA2_CB_SLOTS;
}

/* Release the Call of a slot. */
static void cb_drop_call(struct rpcrdma2_cb *cb)
{
	lockdep_assert_held(&cb->rqst.rq_xprt->bc_pa_lock);
	if (cb->call)
		rpcrdma2_call_release(cb->call);
	WRITE_ONCE(cb->call, NULL);
}

/**
 * rpcrdma2_client_bc_free_rqst - a callback has ended, answered or not
 * @rqst: its slot
 *
 * rpc_xprt_ops.bc_free_rqst
 *
 * Context: process; does not sleep. May drop the last reference to the
 * transport.
 */
void rpcrdma2_client_bc_free_rqst(struct rpc_rqst *rqst)
{
	struct rpc_xprt *xprt = rqst->rq_xprt;
	struct rpcrdma2_callback *callback = &rpcrdma2_client(xprt)->callback;

	spin_lock(&xprt->bc_pa_lock);
	cb_drop_call(cb_of(rqst));
	list_move(&rqst->rq_bc_pa_list, &xprt->bc_pa_list);
	if (list_empty(&callback->busy))
		wake_up_all(&callback->wq);
	spin_unlock(&xprt->bc_pa_lock);
	xprt_put(xprt);
}

/**
 * rpcrdma2_client_bc_destroy - the upper layer stops using the backchannel
 * @xprt: the transport
 * @max_reqs: callbacks that it had reserved
 *
 * rpc_xprt_ops.bc_destroy
 *
 * Context: sleeps until the callbacks in progress have ended.
 */
void rpcrdma2_client_bc_destroy(struct rpc_xprt *xprt, unsigned int max_reqs)
{
	struct rpcrdma2_callback *callback = &rpcrdma2_client(xprt)->callback;

	scoped_guard(spinlock, &xprt->bc_pa_lock) {
		xprt->bc_alloc_max -= min(max_reqs, xprt->bc_alloc_max);
		if (xprt->bc_alloc_max)
			return;
		xprt->bc_serv = NULL;
	}
	/* The service will end and must have no Call queued then */
	wait_event_timeout(callback->wq, list_empty(&callback->busy),
			   RPCRDMA2_CB_DRAIN);
	cb_keep_connection(xprt, false);
}

/* Find a free slot whose page has no Reply that still waits. There is one for a server
 * that respects its credits, because the Call of such a Reply has not given back its
 * credit.
 */
static struct rpcrdma2_cb *cb_find(struct rpc_xprt *xprt)
{
	struct rpc_rqst *rqst;

	lockdep_assert_held(&xprt->bc_pa_lock);
	list_for_each_entry(rqst, &xprt->bc_pa_list, rq_bc_pa_list)
		if (page_count(virt_to_page(cb_of(rqst)->reply)) == 1)
			return cb_of(rqst);
	return NULL;
}

/* Fill a slot with the Call. */
static void cb_fill(struct rpcrdma2_cb *cb, struct rpcrdma2_svc_call *call)
{
	const struct rpcrdma2_hdr *hdr = &call->rx->hdr;
	struct rpc_rqst *rqst = &cb->rqst;
	u32 len = min_t(u32, hdr->body_len, sizeof(cb->args));

	cb->call = call;
	memcpy(cb->args, hdr->body, len);
	rqst->rq_xid = cpu_to_be32(hdr->xid);
	rqst->rq_reply_bytes_recvd = 0;
	rqst->rq_bytes_sent = 0;
	xdr_buf_init(&rqst->rq_rcv_buf, cb->args, len);
	rqst->rq_rcv_buf.len = len;
	rqst->rq_private_buf = rqst->rq_rcv_buf;
	xdr_buf_init(&rqst->rq_snd_buf, cb->reply, PAGE_SIZE);
}

/* A Call arrived. May be called by a completion handler. */
static void cb_ready(struct rpcrdma2_svc_call *call)
{
	struct rpcrdma2_client *client =
		container_of(call->resp, struct rpcrdma2_client, callback.resp);
	struct rpcrdma2_callback *callback = &client->callback;
	struct rpc_xprt *xprt = &client->rq.xprt;
	struct rpcrdma2_cb *cb = NULL;
	int ret = -ENOENT;

	spin_lock(&xprt->bc_pa_lock);
	if (xprt->bc_serv && xprt->bc_alloc_max) {
		cb = cb_find(xprt);
		ret = cb ? 0 : -EBUSY;
	}
	/* Do not drop a reference here: dropping the last one waits for
	 * XPRT_LOCKED, whose owner may be draining the CQ
	 */
	if (cb && !xprt_get(xprt))
		ret = -ENOENT;
	trace_rpcrdma2_cb_call(xprt, call->conn->id, call->hdr.xid, call->stream, ret);
	if (!ret) {
		list_move(&cb->rqst.rq_bc_pa_list, &callback->busy);
		cb_fill(cb, call);
		/* svc_process_bc() decrements it */
		atomic_inc(&xprt->bc_slot_count);
		compat_svc_enqueue_bc(xprt->bc_serv, &cb->rqst);
	}
	spin_unlock(&xprt->bc_pa_lock);

	if (ret == -EBUSY) {
		/* The server exceeds its credits, or callbacks of an earlier
		 * connection are still in progress
		 */
		rpcrdma2_call_refuse(call, RDMA2_ERR_SYSTEM, 0);
	} else if (ret) {
		/* No service for it (REV-11) */
		rpcrdma2_stat_inc(call->conn->p.stats, rx_dropped);
		rpcrdma2_call_release(call);
	}
}

/* The connection is closed: callbacks in progress lose their Calls. */
static void cb_closed(struct rpcrdma2_responder *resp)
{
	struct rpcrdma2_client *client =
		container_of(resp, struct rpcrdma2_client, callback.resp);
	struct rpc_rqst *rqst;

	guard(spinlock)(&client->rq.xprt.bc_pa_lock);
	list_for_each_entry(rqst, &client->callback.busy, rq_bc_pa_list)
		cb_drop_call(cb_of(rqst));
}

/**
 * rpcrdma2_client_bc_reply - send the Reply of a callback
 * @rqst: slot of the callback; Reply in rq_snd_buf
 *
 * rpc_xprt_ops.send_request for slots with bc_prealloc() set. If its connection is gone
 * the Reply is dropped, and the server calls again (REV-15). sunrpc would pass an error
 * to the RPC whose task sends for all at the moment, and the Reply would block the
 * forward direction (REV-10).
 *
 * Context: process, with the transport locked by sunrpc, which excludes closing of the
 * connection; does not sleep.
 * Return: 0
 */
int rpcrdma2_client_bc_reply(struct rpc_rqst *rqst)
{
	struct rpcrdma2_cb *cb = cb_of(rqst);
	struct rpcrdma2_svc_call *call = READ_ONCE(cb->call);
	struct page *page = virt_to_page(cb->reply);
	u32 conn_id = call ? call->conn->id : 0;
	int ret = -ENOTCONN;

	if (call) {
		get_page(page);
		ret = rpcrdma2_call_reply(call, &rqst->rq_snd_buf, &page, 1);
		if (page)
			put_page(page);
		/* The Reply is lost with the connection, or if posting failed */
		if (ret >= 0 && !rpcrdma2_conn_ready(call->conn))
			ret = -ENOTCONN;
	}
	trace_rpcrdma2_cb_reply(rqst->rq_xprt, conn_id,
				be32_to_cpu(rqst->rq_xid),
				rqst->rq_snd_buf.len, min(ret, 0));
	if (ret < 0)
		rpcrdma2_stat_inc(&rpcrdma2_client(rqst->rq_xprt)->stats,
				  callback_replies_dropped);
	return 0;
}

static const struct rpcrdma2_responder_ops cb_responder_ops = {
	.ready		= cb_ready,
	.closed		= cb_closed,
};

/**
 * rpcrdma2_client_bc_init - prepare the backchannel of a transport
 * @xprt: the transport, whose part for callbacks is zeroed
 *
 * Context: any.
 */
void rpcrdma2_client_bc_init(struct rpc_xprt *xprt)
{
	struct rpcrdma2_callback *callback = &rpcrdma2_client(xprt)->callback;
	const struct rpcrdma2_chunk_limits limits = {
		.segs	= RPCRDMA2_MAX_SEGS,
		.bytes	= RPCRDMA2_CB_BYTES,
	};

	rpcrdma2_responder_init(&callback->resp, &cb_responder_ops, &limits, NULL);
	INIT_LIST_HEAD(&callback->busy);
	init_waitqueue_head(&callback->wq);
}

/**
 * rpcrdma2_client_bc_destroy_slots - free the slots of the backchannel
 * @xprt: the transport, which is unused and unconnected
 *
 * Context: may sleep.
 */
void rpcrdma2_client_bc_destroy_slots(struct rpc_xprt *xprt)
{
	struct rpc_rqst *rqst, *tmp;

	list_for_each_entry_safe(rqst, tmp, &xprt->bc_pa_list, rq_bc_pa_list) {
		free_page((unsigned long)cb_of(rqst)->reply);
		kfree(cb_of(rqst));
	}
	rpcrdma2_calls_trim(&rpcrdma2_client(xprt)->callback.resp, 0);
}
