// SPDX-License-Identifier: GPL-2.0
/*
 * Setup and end of connections: resolve and connect, or accept; close and free.
 *
 * Only the owner tears down, in exact reverse order of the setup. CM events arrive in the
 * CM's work item, which holds no lock of ours when it calls the owner.
 */
#include <linux/delay.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <rdma/ib_cm.h>

#include "conn/buf.h"
#include "conn/cm.h"
#include "conn/inject.h"
#include "conn/conn_list.h"
#include "conn/paths.h"
#include <trace/events/rpcrdma2.h>

#define RPCRDMA2_RESOLVE_MS	5000U

/* Credits ensure that a message finds a Receive. But rxe also reports RNR when it has no
 * memory for the answer to an RDMA Read, and the peer may lack memory for a moment. With
 * the CM's timer of 0.66 s, 6 retries are about four seconds; 7 would mean for ever. The
 * value is for the peer's queue pair. The peer sets the retries of ours, so keepalive.c
 * does not rely on them.
 */
#define RPCRDMA2_RNR_RETRIES	6

/* Attempts of one connect: v2, v2 again after a loss, v2 with a Call after silence, v1,
 * and one more for an ERR_VERS followed by a loss.
 */
#define RPCRDMA2_ATTEMPTS	5

static atomic_t rpcrdma2_conn_ids;

static void conn_deferred_worker(struct work_struct *work)
{
	rpcrdma2_conn_run_deferred(container_of(work, struct rpcrdma2_conn,
						deferred_work));
}

static const rpcrdma2_timer_run conn_timer_jobs[RPCRDMA2_NR_TIMER_JOBS] = {
	[RPCRDMA2_TIMER_KEEPALIVE]	= rpcrdma2_keepalive_check,
	[RPCRDMA2_TIMER_SHRINK]		= rpcrdma2_shrink_check,
	[RPCRDMA2_TIMER_SETTLE]		= rpcrdma2_sends_settle,
	[RPCRDMA2_TIMER_PROPS]		= rpcrdma2_props_work,
};

static struct rpcrdma2_conn *conn_alloc(const struct rpcrdma2_conn_params *p,
					bool client)
{
	struct rpcrdma2_conn *conn;

	conn = kzalloc_obj(*conn, rpcrdma2_buf_gfp());
	if (!conn)
		return NULL;
	refcount_set(&conn->refs, 1);
	conn->id = atomic_inc_return(&rpcrdma2_conn_ids);
	conn->client = client;
	conn->heard = true;
	conn->p = *p;
	spin_lock_init(&conn->state_lock);
	init_waitqueue_head(&conn->state_wq);
	init_llist_head(&conn->deferred);
	mutex_init(&conn->deferred_mutex);
	mutex_init(&conn->list_mutex);
	INIT_WORK(&conn->deferred_work, conn_deferred_worker);
	atomic_set(&conn->xids, get_random_u32());
	rpcrdma2_sends_setup(conn);
	rpcrdma2_recvs_setup(conn);
	rpcrdma2_ver_setup(conn);
	rpcrdma2_timer_setup(conn, conn_timer_jobs);
	conn->step = -1;
	return conn;
}

/* Asynchronous errors of the QP are reported in interrupt context: the work item that polls
 * gives up the connection.
 */
static void conn_qp_event(struct ib_event *event, void *context)
{
	struct rpcrdma2_conn *conn = context;

	if (event->event == IB_EVENT_COMM_EST ||
	    event->event == IB_EVENT_QP_LAST_WQE_REACHED)
		return;
	WRITE_ONCE(conn->poll.failed, true);
	rpcrdma2_cq_poll_soon(conn);
}

/* Log that the queues of a device are too short for any connection. */
static int conn_too_small(const struct rpcrdma2_conn *conn, const char *what,
			  u32 have)
{
	pr_notice_ratelimited("rpcrdma2: %s has %s of only %u entries, too few\n",
			      dev_name(&conn->cm_id->device->dev), what, have);
	return -EPROTO;
}

static int conn_create_pd(struct rpcrdma2_conn *conn)
{
	struct ib_pd *pd = rpcrdma2_inject_refuse(RPCRDMA2_REFUSE_PD) ?:
			   ib_alloc_pd(conn->cm_id->device, 0);

	if (IS_ERR(pd))
		return PTR_ERR(pd);
	conn->pd = pd;
	conn->lkey = pd->local_dma_lkey;
	return 0;
}

/* Create a QP with the planned send queue. A client sends from one buffer; every further
 * SGE makes all entries of the queue larger.
 */
static int conn_try_qp(struct rpcrdma2_conn *conn)
{
	struct ib_qp_init_attr attr = {
		.event_handler	= conn_qp_event,
		.qp_context	= conn,
		.send_cq	= conn->cq,
		.recv_cq	= conn->cq,
		.sq_sig_type	= IB_SIGNAL_REQ_WR,
		.qp_type	= IB_QPT_RC,
		.port_num	= conn->cm_id->port_num,
		.cap = {
			.max_send_wr	 = rpcrdma2_sendq_depth(&conn->sendq),
			.max_recv_wr	 = rpcrdma2_recvs_max(&conn->recvq) + 1,
			.max_send_sge	 = conn->client ? 1 :
					   conn->caps.max_send_sge,
			.max_recv_sge	 = 1,
			.max_rdma_ctxs	 = conn->p.rw_ctxs,
		},
	};
	int ret;

	ret = PTR_ERR_OR_ZERO(rpcrdma2_inject_refuse(RPCRDMA2_REFUSE_QP)) ?:
	      rdma_create_qp(conn->cm_id, conn->pd, &attr);
	if (ret)
		return ret;
	conn->qp = conn->cm_id->qp;
	conn->caps.max_send_sge = min(conn->caps.max_send_sge,
				      attr.cap.max_send_sge);
	rpcrdma2_sends_granted(conn, attr.cap.max_send_wr);
	return 0;
}

static int conn_create_qp(struct rpcrdma2_conn *conn)
{
	int ret;

	do {
		ret = conn_try_qp(conn);
	} while ((ret == -ENOMEM || ret == -EINVAL) &&
		 rpcrdma2_sends_halve(conn));
	return ret;
}

/* Log the error of a request for an object, unless 0, and return the error for the owner. A
 * device that refuses a request, and neither lacks memory nor is being removed, will
 * refuse it again. Some devices report a lack of memory when a queue is too long for them.
 * The errors look the same, so there is another attempt later.
 */
static int conn_created(const struct rpcrdma2_conn *conn, const char *what, int err)
{
	bool later = err == -ENOMEM;

	if ((!later && err != -EINVAL && err != -EOPNOTSUPP) ||
	    rpcrdma2_conn_over(conn))
		return err;
	pr_notice_ratelimited("rpcrdma2: %s %s a %s (%d)\n",
			      dev_name(&conn->cm_id->device->dev),
			      later ? "has no memory for" : "refuses", what,
			      err);
	return later ? err : -EPROTO;
}

/* Create PD, CQ, QP, send slots and first Receives, in this order. After an error
 * rpcrdma2_conn_close() and rpcrdma2_conn_free() undo the steps that succeeded.
 */
static int conn_setup(struct rpcrdma2_conn *conn)
{
	u32 cqes, credits;
	int ret;

	ret = rpcrdma2_device_query(conn->cm_id->device, &conn->caps);
	if (ret)
		return ret;
	if (!rpcrdma2_sends_plan(conn))
		return conn_too_small(conn, "send queues", conn->caps.max_qp_wr);
	credits = rpcrdma2_recvs_plan(conn);
	if (!credits)
		return conn_too_small(conn, "receive queues",
				      conn->caps.max_qp_wr);
	rpcrdma2_credit_setup(conn, credits);
	/* rdma_rw may triple its contexts; both drains take one more each */
	cqes = rpcrdma2_sendq_depth(&conn->sendq) + 3 * conn->p.rw_ctxs +
	       rpcrdma2_recvs_max(&conn->recvq) + 3;
	if (cqes > conn->caps.max_cqe)
		return conn_too_small(conn, "completion queues", conn->caps.max_cqe);

	ret = conn_created(conn, "protection domain", conn_create_pd(conn)) ?:
	      conn_created(conn, "completion queue", rpcrdma2_cq_create(conn, cqes)) ?:
	      conn_created(conn, "queue pair", conn_create_qp(conn)) ?:
	      rpcrdma2_sends_create(conn) ?:
	      rpcrdma2_recvs_create(conn);
	if (!ret)
		rpcrdma2_props_begin(conn);
	return ret;
}

/* Parameters of a connect request, or of its answer: RDMA Reads of the peer and of ours that
 * may be outstanding, and the private data of version 1, also with version 2 (CM-14)
 */
static void conn_cm_param(struct rpcrdma2_conn *conn, struct rdma_conn_param *param,
			  u8 *private, u8 responder, u8 initiator)
{
	const struct ib_device_attr *attrs = &conn->cm_id->device->attrs;

	rpcrdma_cm_encode(&conn->cm_mine, private);
	*param = (struct rdma_conn_param) {
		.private_data	     = private,
		.private_data_len    = RPCRDMA_CM_PRIVATE_BYTES,
		.retry_count	     = 6,
		.rnr_retry_count     = RPCRDMA2_RNR_RETRIES,
		.responder_resources = min_t(int, attrs->max_qp_rd_atom, responder),
		.initiator_depth     = min_t(int, attrs->max_qp_init_rd_atom, initiator),
	};
}

static void conn_established(struct rpcrdma2_conn *conn,
			     const struct rdma_conn_param *param)
{
	if (conn->client) {
		rpcrdma_cm_decode(param->private_data,
				  param->private_data_len, &conn->cm_peer);
		/* Drivers of iWARP do not agree on which of the two counts */
		conn->may_read = param->initiator_depth &&
				 param->responder_resources;
	}
	/* Fails if a message was faster: see server_settle() */
	rpcrdma2_conn_set_state(conn, RPCRDMA2_CONN_OPEN, 0);
}

static int conn_cm_event(struct rdma_cm_id *cm_id, struct rdma_cm_event *event)
{
	struct rpcrdma2_conn *conn = cm_id->context;

	trace_rpcrdma2_cm_event(conn, event->event, event->status);
	switch (event->event) {
	case RDMA_CM_EVENT_ESTABLISHED:
		conn_established(conn, &event->param.conn);
		fallthrough;
	case RDMA_CM_EVENT_ADDR_RESOLVED:
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
		rpcrdma2_conn_step(conn, event->event);
		break;
	case RDMA_CM_EVENT_ADDR_ERROR:
	case RDMA_CM_EVENT_ROUTE_ERROR:
		rpcrdma2_conn_kill(conn, -EHOSTUNREACH);
		break;
	case RDMA_CM_EVENT_UNREACHABLE:
		rpcrdma2_conn_kill(conn, -ENETUNREACH);
		break;
	case RDMA_CM_EVENT_REJECTED:
		rpcrdma2_conn_kill(conn,
				   event->status == IB_CM_REJ_STALE_CONN ?
				   -ENOTCONN : -ECONNREFUSED);
		break;
	case RDMA_CM_EVENT_CONNECT_ERROR:
	case RDMA_CM_EVENT_DISCONNECTED:
	case RDMA_CM_EVENT_ADDR_CHANGE:
	case RDMA_CM_EVENT_DEVICE_REMOVAL:
		/* When a device is removed the CM waits for rdma_destroy_id() */
		rpcrdma2_conn_kill(conn, -ENOTCONN);
		break;
	default:
		break;
	}
	return 0;
}

/**
 * rpcrdma2_conn_close - end a connection
 * @conn: the connection
 *
 * Afterwards every posted work request has completed or was given up, every wait has
 * ended, no Call uses the connection, and no peer can access memory. Device, PD and CM id
 * remain until rpcrdma2_conn_free().
 *
 * A device may lose the completion of posted work when a connection breaks (siw does, see
 * Documentation/devices.md). Nothing may wait for such a completion for ever, so the work
 * is ended here, in two steps. Work of the send queue ends after the drain and before the
 * QP is destroyed: the QP is in the error state and executes nothing any more, and the RDMA
 * contexts must give their memory regions back to the QP. Send slots and Receives, which a
 * late completion would access, are freed only when no CQ is left to report one.
 *
 * Context: owner only, once; sleeps. Not from a completion or a CM event.
 */
void rpcrdma2_conn_close(struct rpcrdma2_conn *conn)
{
	rpcrdma2_conn_set_state(conn, RPCRDMA2_CONN_CLOSING, 0);
	conn->p.ops->closing(conn);
	rpcrdma2_conn_list_remove(conn);

	rpcrdma2_timer_stop(conn);
	rpcrdma2_sends_stop(conn);
	rpcrdma2_recvs_stop(conn);

	if (conn->qp) {
		/* An earlier event may have called for a thread that does not come */
		rpcrdma2_cq_poll_soon(conn);
		rdma_disconnect(conn->cm_id);
		ib_drain_qp(conn->qp);
	}
	/* Messages of the negotiation count until the last one is handled */
	if (conn->client && conn->reason)
		rpcrdma2_ver_lost(conn);
	rpcrdma2_conn_run_deferred(conn);
	rpcrdma2_sends_abort(conn);
	/* Deferred work that began before the loss may have deferred more, which defers
	 * nothing and unmaps memory by the QP.
	 */
	rpcrdma2_conn_run_deferred(conn);
	if (conn->qp) {
		rdma_destroy_qp(conn->cm_id);
		conn->qp = NULL;
	}
	rpcrdma2_cq_destroy(conn);
	cancel_work_sync(&conn->deferred_work);
	rpcrdma2_sends_destroy(conn);
	rpcrdma2_recvs_reclaim(conn);
	conn->p.ops->closed(conn);
	rpcrdma2_conn_set_state(conn, RPCRDMA2_CONN_CLOSED, 0);
}

/**
 * rpcrdma2_conn_free - free the rest of a closed connection
 * @conn: a closed connection; its MRs are freed, its Receives given back
 *
 * Context: owner only, once; sleeps. Not from a CM event.
 */
void rpcrdma2_conn_free(struct rpcrdma2_conn *conn)
{
	rpcrdma2_recv_pool_unmap(conn);
	if (conn->pd)
		ib_dealloc_pd(conn->pd);
	if (conn->cm_id)
		rdma_destroy_id(conn->cm_id);
	rpcrdma2_conn_put(conn);
}

static int conn_resolve(struct rpcrdma2_conn *conn,
			const struct sockaddr *src, const struct sockaddr *dst)
{
	struct sockaddr *from = src->sa_family ? (struct sockaddr *)src : NULL;
	u32 ms = rpcrdma2_paths_impatient(conn->p.policy.paths) ? conn->p.connect_ms :
								  RPCRDMA2_RESOLVE_MS;

	if (!rpcrdma2_conn_set_state(conn, RPCRDMA2_CONN_RESOLVING, 0))
		return -ENOTCONN;
	return rdma_resolve_addr(conn->cm_id, from, dst, ms) ?:
	       rpcrdma2_conn_wait(conn, RDMA_CM_EVENT_ADDR_RESOLVED, ms) ?:
	       rdma_resolve_route(conn->cm_id, ms) ?:
	       rpcrdma2_conn_wait(conn, RDMA_CM_EVENT_ROUTE_RESOLVED, ms);
}

static int conn_request(struct rpcrdma2_conn *conn)
{
	u8 private[RPCRDMA_CM_PRIVATE_BYTES];
	struct rdma_conn_param param;

	/* The server reads from us; our only Reads are probes */
	conn_cm_param(conn, &param, private, U8_MAX, 1);
	if (!rpcrdma2_conn_set_state(conn, RPCRDMA2_CONN_CONNECTING, 0))
		return -ENOTCONN;
	return rdma_connect(conn->cm_id, &param) ?:
	       rpcrdma2_conn_wait(conn, RDMA_CM_EVENT_ESTABLISHED,
				  conn->p.connect_ms);
}

/* Make one connection, up to OPEN. */
static int conn_reach(struct rpcrdma2_conn *conn, struct net *net,
		      const struct sockaddr *src, const struct sockaddr *dst)
{
	struct rdma_cm_id *cm_id;
	int ret;

	cm_id = rdma_create_id(net, conn_cm_event, conn, RDMA_PS_TCP,
			       IB_QPT_RC);
	if (IS_ERR(cm_id))
		return PTR_ERR(cm_id);
	conn->cm_id = cm_id;
	if (conn->p.policy.val[RPCRDMA2_A_POLICY_TOS])
		rdma_set_service_type(cm_id, conn->p.policy.val[RPCRDMA2_A_POLICY_TOS]);
	ret = conn_resolve(conn, src, dst) ?: conn_setup(conn) ?: conn_request(conn);
	return ret ? READ_ONCE(conn->reason) ?: ret : 0;
}

/* Other errors than these would end hard-mounted RPCs (ERR-13). sunrpc retries after all
 * of these; refusals and -EPROTO end soft RPCs, such as those of a mount.
 */
static int conn_errno(int err)
{
	switch (err) {
	case -EPROTO:
	case -ECONNREFUSED:
	case -EHOSTUNREACH:
	case -ENETUNREACH:
	case -ENOTCONN:
	case -ETIMEDOUT:
	case -ENOBUFS:
		return err;
	case -ENOMEM:
		return -ENOBUFS;
	default:
		return -ENOTCONN;
	}
}

static void conn_begin(struct rpcrdma2_conn *conn)
{
	rpcrdma2_conn_list_add(conn);
	rpcrdma2_keepalive_start(conn);
	rpcrdma2_shrink_start(conn);
}

/**
 * rpcrdma2_conn_connect - make a client's connection
 * @net: network namespace
 * @src: local address to use, AF_UNSPEC for any
 * @dst: the server
 * @p: parameters of the connection
 *
 * Implements VER-1..5, VER-10, VER-14, VER-15 by version.c.
 *
 * Context: sleeps, at most about 30 s per attempt; between rpcrdma2_reclaim_enter() and
 * _exit(). Nothing here needs sunrpc's locks: CM events, QP errors and device removal end
 * every wait through the connection's state.
 * Return: a connection in state READY, or lost since then; or ERR_PTR of -EPROTO,
 * -ECONNREFUSED, -EHOSTUNREACH, -ENETUNREACH, -ENOTCONN, -ETIMEDOUT or -ENOBUFS
 */
struct rpcrdma2_conn *
rpcrdma2_conn_connect(struct net *net, const struct sockaddr *src,
		      const struct sockaddr *dst,
		      const struct rpcrdma2_conn_params *p)
{
	struct rpcrdma2_conn *conn = NULL;
	int attempt, ret = -EAGAIN;

	for (attempt = 0; attempt < RPCRDMA2_ATTEMPTS && ret == -EAGAIN;
	     attempt++) {
		conn = conn_alloc(p, true);
		if (!conn) {
			ret = -ENOMEM;
			break;
		}
		ret = conn_reach(conn, net, src, dst) ?: rpcrdma2_ver_offer(conn);
		if (!ret)
			break;
		rpcrdma2_conn_kill(conn, ret);
		rpcrdma2_conn_close(conn);
		ret = rpcrdma2_ver_ended(conn, dst, ret);
		rpcrdma2_conn_free(conn);
	}
	if (ret) {
		/* A server that has gone away is probably restarting: earlier losses say
		 * nothing about its versions (VER-15, VER-17).
		 */
		if (ret == -ECONNREFUSED || ret == -EHOSTUNREACH || ret == -ENETUNREACH)
			p->mem->losses = 0;
		rpcrdma2_stat_inc(p->stats, connect_failures);
		return ERR_PTR(conn_errno(ret));
	}

	conn_begin(conn);
	return conn;
}

/**
 * rpcrdma2_conn_probe - check whether a server takes connections
 * @net: network namespace
 * @src: local address to use, AF_UNSPEC for any
 * @dst: the server
 * @p: parameters; the connection sends no message
 *
 * Context: as rpcrdma2_conn_connect().
 * Return: 0, or an error of rpcrdma2_conn_connect()
 */
int rpcrdma2_conn_probe(struct net *net, const struct sockaddr *src,
			const struct sockaddr *dst, const struct rpcrdma2_conn_params *p)
{
	struct rpcrdma2_conn *conn = conn_alloc(p, true);
	int ret;

	if (!conn)
		return -ENOBUFS;
	ret = conn_reach(conn, net, src, dst);
	rpcrdma2_conn_close(conn);
	rpcrdma2_conn_free(conn);
	return ret ? conn_errno(ret) : 0;
}

static int conn_accept(struct rpcrdma2_conn *conn,
		       const struct rdma_conn_param *req)
{
	u8 private[RPCRDMA_CM_PRIVATE_BYTES];
	struct rdma_conn_param param;
	int ret;

	/* Without RDMA Reads no Read chunk can be served */
	conn->may_read = req->initiator_depth &&
			 conn->cm_id->device->attrs.max_qp_init_rd_atom > 0;
	if (!conn->may_read)
		return -EINVAL;
	rpcrdma_cm_decode(req->private_data, req->private_data_len,
			  &conn->cm_peer);
	ret = conn_setup(conn);
	if (ret)
		return ret;
	conn_cm_param(conn, &param, private, req->responder_resources,
		      req->initiator_depth);
	if (!rpcrdma2_conn_set_state(conn, RPCRDMA2_CONN_CONNECTING, 0))
		return -ENOTCONN;
	rdma_lock_handler(conn->cm_id);
	ret = rdma_accept(conn->cm_id, &param);
	rdma_unlock_handler(conn->cm_id);
	return ret;
}

/**
 * rpcrdma2_conn_refuse - refuse a connect request
 * @cm_id: of the request, which was not accepted
 * @err: reason; after -ENOMEM the client is to try again
 *
 * Linux clients report -ENOTCONN, and connect again, for one reason only, a stale
 * connection. All others become -ECONNREFUSED, which ends a mount. iWARP has no reasons.
 *
 * Context: process.
 */
void rpcrdma2_conn_refuse(struct rdma_cm_id *cm_id, int err)
{
	rdma_reject(cm_id, NULL, 0, err == -ENOMEM ? IB_CM_REJ_STALE_CONN :
						     IB_CM_REJ_CONSUMER_DEFINED);
}

/**
 * rpcrdma2_conn_incoming - allocate a connection for a client's connect request
 * @cm_id: of the request; owned by the connection from now on
 * @p: parameters of the connection
 *
 * Context: sleeps.
 * Return: a connection in state NEW, or NULL without memory
 */
struct rpcrdma2_conn *
rpcrdma2_conn_incoming(struct rdma_cm_id *cm_id,
		       const struct rpcrdma2_conn_params *p)
{
	struct rpcrdma2_conn *conn = conn_alloc(p, false);

	if (!conn)
		return NULL;
	rdma_lock_handler(cm_id);
	conn->cm_id = cm_id;
	cm_id->context = conn;
	cm_id->event_handler = conn_cm_event;
	rdma_unlock_handler(cm_id);
	return conn;
}

/**
 * rpcrdma2_conn_accept - accept a client's connection
 * @conn: from rpcrdma2_conn_incoming()
 * @req: parameters of the request; private data included
 *
 * Calls of a fast client may reach the responder before this function returns, even if it
 * fails. In either case the owner ends the connection with rpcrdma2_conn_close() and
 * rpcrdma2_conn_free().
 *
 * Context: sleeps.
 * Return: 0, the state is CONNECTING or later; or a negative errno, and the
 * request is refused
 */
int rpcrdma2_conn_accept(struct rpcrdma2_conn *conn,
			 const struct rdma_conn_param *req)
{
	u32 late = rpcrdma2_pretend(accept_ms);
	int ret = conn_accept(conn, req);

	if (!ret && late) {
		msleep(late);
		ret = -EIO;
	}
	if (!ret)
		conn_begin(conn);
	else if (ret != -ENOTCONN)
		rpcrdma2_conn_refuse(conn->cm_id, ret);
	return ret;
}
