// SPDX-License-Identifier: GPL-2.0
/*
 * The server's callback transport. nfsd makes one over a client's connection
 * (XPRT_TRANSPORT_BC) when the client has bound a session to the connection, and
 * sends its callbacks as reverse direction Calls (REV-4).
 *
 * The transport is only a struct rpcrdma2_requester, without an MR pool: Calls are MSG
 * without chunks (REV-7). This direction has its own credits, so that callbacks do not
 * wait for the forward window (F-1).
 *
 * Lifetime: the struct svc_xprt has a reference to the transport, which sunrpc drops
 * before the connection is closed. The connection has another, dropped afterwards,
 * because Replies arrive until then. The transport may outlive both: only methods that
 * nfsd calls while it holds a reference to the struct svc_xprt use that.
 */
#include "requester/requester.h"
#include "xprt/server.h"
#include "xprt/xprt.h"
#include <trace/events/rpcrdma2.h>

/* The plan of the Call refuses what the client does not accept (REV-6, REV-7). */
static int bc_send_request(struct rpc_rqst *rqst)
{
	struct svc_xprt *sxprt = rqst->rq_xprt->bc_xprt;
	int ret;

	/* The server cannot connect again (REV-12) */
	if (svc_xprt_is_dead(sxprt))
		return -ENOTCONN;
	ret = rpcrdma2_requester_send(rqst);
	trace_rpcrdma2_bc_send(rqst->rq_xprt, rpcrdma2_svc(sxprt)->conn->id,
			       be32_to_cpu(rqst->rq_xid), rqst->rq_snd_buf.len, ret);
	if (ret == -ENOTCONN)
		svc_xprt_deferred_close(sxprt);
	return ret;
}

/* Only the client can connect: wake all tasks that wait for a connection. */
static void bc_connect(struct rpc_xprt *xprt, struct rpc_task *task)
{
	guard(spinlock)(&xprt->transport_lock);
	xprt_clear_connecting(xprt);
	xprt_wake_pending_tasks(xprt, -ENOTCONN);
}

static void bc_inject_disconnect(struct rpc_xprt *xprt)
{
	svc_xprt_deferred_close(xprt->bc_xprt);
}

static const struct rpc_xprt_ops rpcrdma2_bc_ops = {
	.reserve_xprt		= xprt_reserve_xprt,
	.release_xprt		= xprt_release_xprt,
	.alloc_slot		= rpcrdma2_requester_alloc_slot,
	.free_slot		= rpcrdma2_requester_free_slot,
	.connect		= bc_connect,
	.buf_alloc		= rpcrdma2_requester_buf_alloc,
	.buf_free		= rpcrdma2_inval_buf_free,
	.send_request		= bc_send_request,
	.wait_for_reply_request	= rpcrdma2_requester_wait,
	.close			= xprt_disconnect_done,
	.destroy		= rpcrdma2_xprt_free,
	.inject_disconnect	= bc_inject_disconnect,
};

/**
 * rpcrdma2_server_bc_setup - xprt_class.setup: make a callback transport
 * @class: its class
 * @args: @args->bc_xprt is the client's connection
 *
 * Context: process; sleeps.
 * Return: the transport, or an ERR_PTR.
 */
struct rpc_xprt *rpcrdma2_server_bc_setup(struct xprt_class *class,
					  struct xprt_create *args)
{
	struct rpcrdma2_svc *svc = rpcrdma2_svc(args->bc_xprt);
	struct rpcrdma2_conn *conn = svc->conn;
	struct rpcrdma2_requester *rq;
	struct rpc_xprt *xprt;
	int ret;

	if (!rpcrdma2_conn_ready(conn))
		return ERR_PTR(-ENOTCONN);
	/* nfsd does not probe: a transport that exists is one that works */
	if (!rpcrdma2_props_takes_calls(conn))
		return ERR_PTR(-EOPNOTSUPP);
	xprt = rpcrdma2_xprt_alloc(class, args, &rpcrdma2_bc_ops, sizeof(*rq),
				   RPCRDMA2_BC_CALLS);
	if (IS_ERR(xprt))
		return xprt;
	rq = rpcrdma2_requester(xprt);
	xprt->prot = args->ident;
	xprt->max_payload = rpcrdma2_msg_size_send(&conn->limits) - conn->codec->hdr_min;
	xprt->bc_xprt = args->bc_xprt;
	/* It makes no connections of its own */
	xprt_set_bound(xprt);
	xprt_set_connected(xprt);
	rpcrdma2_requester_attach(rq, conn);
	/* A reference for the connection. Pairs with the acquire in rpcrdma2_conn_requester() */
	xprt_get(xprt);
	ret = cmpxchg_release(&conn->p.requester, NULL, rq) ? -EEXIST : 0;
	trace_rpcrdma2_server_bc_setup(xprt, conn->id, ret);
	if (ret) {
		rpcrdma2_requester_detach(rq);
		rpcrdma2_xprt_free(xprt);
		return ERR_PTR(ret);
	}
	xprt_get(xprt);
	svc->xprt.xpt_bc_xprt = xprt;
	return xprt;
}
