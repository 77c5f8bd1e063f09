// SPDX-License-Identifier: GPL-2.0
/*
 * The server's callback transport: nfsd makes one over a client's
 * connection (XPRT_TRANSPORT_BC) when the client has bound a session to it,
 * and sends its callbacks as reverse direction Calls (REV-4).
 *
 * The requester does the work, without an MR pool: Calls are MSG without
 * chunks (REV-7). Credits of this direction are its own, so callbacks go
 * while the forward window is full (F-1).
 *
 * Lifetime: the struct rpc_xprt has a reference of the struct svc_xprt,
 * which sunrpc drops before the connection is closed, and one of struct
 * rpcrdma2_svc, dropped after that, because Replies arrive in the CQ's work
 * item until then. It may outlive both; nothing here looks at the struct
 * svc_xprt except methods that nfsd calls while it holds a reference to it.
 */
#include <linux/module.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/sunrpc/addr.h>
#include <linux/sunrpc/clnt.h>
#include <linux/sunrpc/svc_xprt.h>
#include <linux/sunrpc/xprt.h>

#include "backchannel.h"
#include "fence.h"
#include "requester.h"
#include "server.h"
#include <trace/events/rpcrdma2.h>

/* Slots to begin with */
#define RPCRDMA2_BC_SLOTS	2

/**
 * struct rpcrdma2_bc - a callback transport
 * @rq: its requester, and the struct rpc_xprt; must be first
 * @late: counters for what happens after the connection is gone
 */
struct rpcrdma2_bc {
	struct rpcrdma2_requester	rq;
	struct rpcrdma2_stats		late;
};

static struct rpcrdma2_bc *bc_of(struct rpc_xprt *xprt)
{
	return container_of(xprt, struct rpcrdma2_bc, rq.xprt);
}

/* The callback transport, if it is complete. */
static struct rpcrdma2_bc *bc_get(struct rpcrdma2_svc *svc)
{
	/* Pairs with the release in bc_publish() */
	return smp_load_acquire(&svc->bc);
}

/* Does the client take reverse direction Calls at all? (REV-6) */
static bool bc_allowed(const struct rpcrdma2_conn *conn)
{
	return !conn->codec->props ||
	       rpcrdma2_props_peer(&conn->props, RPCRDMA2_BRS) !=
			RDMA2_RVREQSUP_NONE;
}

/* Largest RPC message that fits inline now. */
static u32 bc_room(const struct rpcrdma2_conn *conn)
{
	return rpcrdma2_limits_send(&conn->limits) - conn->codec->hdr_min;
}

/**
 * rpcrdma2_bc_reply - a reverse direction Reply arrived
 * @svc: where it arrived
 * @rx: the Reply
 *
 * Context: completion handler; does not sleep.
 */
void rpcrdma2_bc_reply(struct rpcrdma2_svc *svc, struct rpcrdma2_recv *rx)
{
	struct rpcrdma2_bc *bc = bc_get(svc);

	if (bc)
		rpcrdma2_requester_reply(&bc->rq, rx->conn, rx);
	else
		rpcrdma2_stat_inc(&svc->stats, rx_bad_xid);
}

/**
 * rpcrdma2_bc_error - an RDMA2_ERROR for a reverse direction Call arrived
 * @svc: where it arrived
 * @rx: the ERROR
 *
 * Context: completion handler; does not sleep.
 */
void rpcrdma2_bc_error(struct rpcrdma2_svc *svc, struct rpcrdma2_recv *rx)
{
	struct rpcrdma2_bc *bc = bc_get(svc);

	if (bc)
		rpcrdma2_requester_error(&bc->rq, rx->conn, rx);
	else
		rpcrdma2_stat_inc(&svc->stats, rx_bad_xid);
}

/**
 * rpcrdma2_bc_window - the reverse window may have been opened
 * @svc: on whose connection
 *
 * Context: completion handler; does not sleep.
 */
void rpcrdma2_bc_window(struct rpcrdma2_svc *svc)
{
	struct rpcrdma2_bc *bc = bc_get(svc);

	if (bc)
		rpcrdma2_requester_window(&bc->rq);
}

/**
 * rpcrdma2_bc_stop - the connection is about to be closed
 * @svc: its connection is not closed yet
 *
 * Senders of callbacks are not excluded otherwise: they hold only the lock
 * of their own transport.
 *
 * Context: process; sleeps.
 */
void rpcrdma2_bc_stop(struct rpcrdma2_svc *svc)
{
	if (svc->bc)
		rpcrdma2_requester_stop(&svc->bc->rq);
}

/**
 * rpcrdma2_bc_detach - the connection is gone
 * @svc: its connection is closed, not yet freed
 *
 * Context: process; sleeps.
 */
void rpcrdma2_bc_detach(struct rpcrdma2_svc *svc)
{
	struct rpcrdma2_bc *bc = svc->bc;

	if (!bc)
		return;
	rpcrdma2_requester_detach(&bc->rq);
	spin_lock(&bc->rq.xprt.queue_lock);
	bc->rq.stats = &bc->late;
	spin_unlock(&bc->rq.xprt.queue_lock);
	svc->bc = NULL;
	xprt_put(&bc->rq.xprt);
}

static int bc_send_request(struct rpc_rqst *rqst)
{
	struct svc_xprt *sxprt = rqst->rq_xprt->bc_xprt;
	struct rpcrdma2_conn *conn;
	int ret;

	/* This side can't connect again (REV-12) */
	if (svc_xprt_is_dead(sxprt))
		return -ENOTCONN;
	conn = rpcrdma2_svc(sxprt)->conn;
	if (!bc_allowed(conn)) {
		rpcrdma2_stat_inc(conn->p.stats, callbacks_refused);
		ret = -EIO;
	} else if (rqst->rq_snd_buf.len > bc_room(conn)) {
		ret = -EMSGSIZE;
	} else {
		ret = rpcrdma2_requester_send(rqst);
	}
	trace_rpcrdma2_bc_send(conn->id, be32_to_cpu(rqst->rq_xid),
			       rqst->rq_snd_buf.len, ret);
	if (ret == -ENOTCONN)
		svc_xprt_deferred_close(sxprt);
	return ret;
}

/* Only the client can connect: whoever waits for that is told so. */
static void bc_connect(struct rpc_xprt *xprt, struct rpc_task *task)
{
	spin_lock(&xprt->transport_lock);
	xprt_clear_connecting(xprt);
	xprt_wake_pending_tasks(xprt, -ENOTCONN);
	spin_unlock(&xprt->transport_lock);
}

/* From sunrpc when it closes the struct svc_xprt. */
static void bc_close(struct rpc_xprt *xprt)
{
	xprt_disconnect_done(xprt);
}

static void bc_free_addresses(struct rpc_xprt *xprt)
{
	unsigned int i;

	for (i = 0; i < RPC_DISPLAY_MAX; i++) {
		switch (i) {
		case RPC_DISPLAY_PROTO:
		case RPC_DISPLAY_NETID:
			break;
		default:
			kfree(xprt->address_strings[i]);
		}
		xprt->address_strings[i] = NULL;
	}
}

static void bc_destroy(struct rpc_xprt *xprt)
{
	rpcrdma2_requester_destroy(&bc_of(xprt)->rq);
	bc_free_addresses(xprt);
	xprt_free(xprt);
	module_put(THIS_MODULE);
}

static void bc_inject_disconnect(struct rpc_xprt *xprt)
{
	svc_xprt_deferred_close(xprt->bc_xprt);
}

static void bc_print_stats(struct rpc_xprt *xprt, struct seq_file *seq)
{
	seq_printf(seq, "\txprt:\trdma 0 %lu %lu %lu 0 %lu %lu %lu %llu %llu\n",
		   xprt->stat.bind_count, xprt->stat.connect_count,
		   xprt->stat.connect_time / HZ, xprt->stat.sends,
		   xprt->stat.recvs, xprt->stat.bad_xids,
		   xprt->stat.req_u, xprt->stat.bklog_u);
}

static const struct rpc_xprt_ops rpcrdma2_bc_ops = {
	.reserve_xprt		= xprt_reserve_xprt,
	.release_xprt		= xprt_release_xprt,
	.alloc_slot		= rpcrdma2_requester_alloc_slot,
	.free_slot		= rpcrdma2_requester_free_slot,
	.connect		= bc_connect,
	.buf_alloc		= rpcrdma2_requester_buf_alloc,
	.buf_free		= rpcrdma2_requester_buf_free,
	.send_request		= bc_send_request,
	.wait_for_reply_request	= rpcrdma2_requester_wait,
	.close			= bc_close,
	.destroy		= bc_destroy,
	.print_stats		= bc_print_stats,
	.inject_disconnect	= bc_inject_disconnect,
};

static const struct rpc_timeout bc_timeout = {
	.to_initval	= 60 * HZ,
	.to_maxval	= 60 * HZ,
};

static int bc_format_addresses(struct rpc_xprt *xprt)
{
	struct sockaddr *sap = (struct sockaddr *)&xprt->addr;
	const char **strings = xprt->address_strings;
	char buf[INET6_ADDRSTRLEN + 16];

	switch (sap->sa_family) {
	case AF_INET:
		snprintf(buf, sizeof(buf), "%08x",
			 ntohl(((struct sockaddr_in *)sap)->sin_addr.s_addr));
		strings[RPC_DISPLAY_NETID] = "rdma";
		break;
	case AF_INET6:
		snprintf(buf, sizeof(buf), "%pi6",
			 &((struct sockaddr_in6 *)sap)->sin6_addr);
		strings[RPC_DISPLAY_NETID] = "rdma6";
		break;
	default:
		return -EAFNOSUPPORT;
	}
	strings[RPC_DISPLAY_PROTO] = "rdma";
	strings[RPC_DISPLAY_HEX_ADDR] = kstrdup(buf, GFP_KERNEL);
	rpc_ntop(sap, buf, sizeof(buf));
	strings[RPC_DISPLAY_ADDR] = kstrdup(buf, GFP_KERNEL);
	snprintf(buf, sizeof(buf), "%u", rpc_get_port(sap));
	strings[RPC_DISPLAY_PORT] = kstrdup(buf, GFP_KERNEL);
	snprintf(buf, sizeof(buf), "%4hx", rpc_get_port(sap));
	strings[RPC_DISPLAY_HEX_PORT] = kstrdup(buf, GFP_KERNEL);

	if (strings[RPC_DISPLAY_HEX_ADDR] && strings[RPC_DISPLAY_ADDR] &&
	    strings[RPC_DISPLAY_PORT] && strings[RPC_DISPLAY_HEX_PORT])
		return 0;
	return -ENOMEM;
}

/* Publish the transport, unless another client of nfsd on the same
 * connection was faster. References: of the struct svc_xprt and of @svc.
 */
static int bc_publish(struct rpcrdma2_svc *svc, struct rpcrdma2_bc *bc)
{
	struct rpc_xprt *xprt = &bc->rq.xprt;
	int ret = 0;

	spin_lock(&svc->lock);
	if (svc->bc) {
		ret = -EEXIST;
	} else {
		xprt_get(xprt);
		svc->xprt.xpt_bc_xprt = xprt;
		xprt_get(xprt);
		/* Pairs with the acquire in bc_get() */
		smp_store_release(&svc->bc, bc);
	}
	spin_unlock(&svc->lock);
	return ret;
}

/**
 * rpcrdma2_backchannel_setup - xprt_class.setup: make a callback transport
 * @class: to which it belongs
 * @args: @args->bc_xprt is the client's connection
 *
 * Context: process; sleeps.
 * Return: the transport, or an ERR_PTR.
 */
struct rpc_xprt *rpcrdma2_backchannel_setup(struct xprt_class *class,
					    struct xprt_create *args)
{
	struct rpcrdma2_svc *svc = rpcrdma2_svc(args->bc_xprt);
	struct rpcrdma2_conn *conn = svc->conn;
	struct rpc_xprt *xprt;
	struct rpcrdma2_bc *bc;
	int ret;

	if (args->addrlen > sizeof(xprt->addr))
		return ERR_PTR(-EBADF);
	if (!rpcrdma2_conn_ready(conn))
		return ERR_PTR(-ENOTCONN);
	if (!bc_allowed(conn))
		return ERR_PTR(-EOPNOTSUPP);
	xprt = xprt_alloc(args->net, sizeof(*bc), 0, RPCRDMA2_BC_CALLS);
	if (!xprt)
		return ERR_PTR(-ENOMEM);
	bc = bc_of(xprt);

	xprt->timeout = &bc_timeout;
	xprt->bind_timeout = 0;
	xprt->reestablish_timeout = 0;
	xprt->idle_timeout = 0;
	xprt->prot = args->ident;
	xprt->ops = &rpcrdma2_bc_ops;
	xprt->xprt_class = class;
	xprt->resvport = 0;
	xprt->max_payload = bc_room(conn);
	xprt->bc_xprt = args->bc_xprt;
	memcpy(&xprt->addr, args->dstaddr, args->addrlen);
	xprt->addrlen = args->addrlen;
	ret = rpcrdma2_requester_init(&bc->rq, &svc->stats, NULL,
				      RPCRDMA2_BC_SLOTS);
	if (!ret)
		ret = bc_format_addresses(xprt);
	if (ret)
		goto out_free;

	/* There are no connections of its own to wait for */
	xprt_set_bound(xprt);
	xprt_set_connected(xprt);
	rpcrdma2_requester_attach(&bc->rq, conn);
	ret = bc_publish(svc, bc);
	if (ret) {
		rpcrdma2_requester_detach(&bc->rq);
		goto out_free;
	}
	__module_get(THIS_MODULE);
	trace_rpcrdma2_bc_setup(conn->id, RPCRDMA2_BC_CALLS, 0);
	return xprt;

out_free:
	trace_rpcrdma2_bc_setup(conn->id, RPCRDMA2_BC_CALLS, ret);
	rpcrdma2_requester_destroy(&bc->rq);
	bc_free_addresses(xprt);
	xprt_free(xprt);
	return ERR_PTR(ret);
}
