// SPDX-License-Identifier: GPL-2.0
/*
 * Listeners take connect requests from the RDMA CM. The requests wait in admission.c for
 * service threads, which accept them (server.c), and fetch connections that were accepted
 * before and now have a Call (admission.c).
 *
 * Contexts: CM events of a listener come with the CM id's handler mutex held. Methods
 * of struct svc_xprt_ops run in service threads, except xpo_free, which may run
 * anywhere, and xpo_detach, which runs in the context that closes the transport and may
 * sleep. sunrpc runs xpo_accept and xpo_detach one at a time.
 */
#include <linux/module.h>
#include <linux/slab.h>

#include "compat.h"
#include "conn/workqueue.h"
#include "xprt/server.h"
#include <trace/events/rpcrdma2.h>

/* Interval between attempts to listen again at a lost address */
#define RPCRDMA2_LISTEN_AGAIN	(5 * HZ)

static unsigned int server_backlog = 1024;
module_param(server_backlog, uint, 0644);
MODULE_PARM_DESC(server_backlog,
		 "largest number of pending connect requests of a listener, 1 to 65535");

static struct rpcrdma2_listener *listener_of(struct svc_xprt *xprt)
{
	return container_of(xprt, struct rpcrdma2_listener, xprt);
}

static unsigned int backlog(void)
{
	return clamp(READ_ONCE(server_backlog), 1U, 65535U);
}

/* If the list is full the CM of InfiniBand and RoCE does not answer (-ENOMEM), so that
 * the client's CM asks again. The CM of iWARP can only refuse.
 */
static int listener_request(struct rpcrdma2_listener *listener,
			    struct rdma_cm_id *cm_id,
			    const struct rdma_conn_param *param)
{
	int ret = rpcrdma2_pending_add(listener, cm_id, param, backlog());

	trace_rpcrdma2_connect_request((struct sockaddr *)
				       &cm_id->route.addr.dst_addr,
				       data_race(listener->npending), /* shown */
				       ret);
	return ret;
}

static int listener_event(struct rdma_cm_id *cm_id, struct rdma_cm_event *event)
{
	struct rpcrdma2_listener *listener = cm_id->context;

	switch (event->event) {
	case RDMA_CM_EVENT_CONNECT_REQUEST:
		/* cm_id is that of the new connection */
		return listener_request(listener, cm_id, &event->param.conn);
	case RDMA_CM_EVENT_ADDR_CHANGE:
	case RDMA_CM_EVENT_DEVICE_REMOVAL:
		/* The handler of a CM id cannot replace it */
		mod_delayed_work(rpcrdma2_memory_wq, &listener->rebuild_work, 0);
		break;
	default:
		break;
	}
	return 0;
}

/* Listen at the address of the transport. */
static int listener_listen(struct rpcrdma2_listener *listener)
{
	struct sockaddr *sap = (struct sockaddr *)&listener->xprt.xpt_local;
	struct rdma_cm_id *cm_id;
	int ret;

	lockdep_assert_held(&listener->mutex);
	cm_id = rdma_create_id(listener->xprt.xpt_net, listener_event,
			       listener, RDMA_PS_TCP, IB_QPT_RC);
	if (IS_ERR(cm_id))
		return PTR_ERR(cm_id);
	/* nfsd makes a listener for IPv4 and one for IPv6 on the same port */
	ret = rdma_set_afonly(cm_id, 1) ?:
	      rdma_bind_addr(cm_id, sap) ?:
	      rdma_listen(cm_id, backlog());
	if (ret) {
		rdma_destroy_id(cm_id);
		return ret;
	}
	listener->cm_id = cm_id;
	return 0;
}

static void listener_destroy_id(struct rpcrdma2_listener *listener)
{
	lockdep_assert_held(&listener->mutex);
	if (listener->cm_id)
		rdma_destroy_id(listener->cm_id);
	listener->cm_id = NULL;
}

/* No event reports that an address or a device is back, so this polls. Logs changes. */
static void listener_rebuild(struct work_struct *work)
{
	struct rpcrdma2_listener *listener =
		container_of(work, struct rpcrdma2_listener, rebuild_work.work);
	const void *addr = &listener->xprt.xpt_local;
	bool had;
	int err;

	guard(mutex)(&listener->mutex);
	if (svc_xprt_is_dead(&listener->xprt))
		return;
	had = listener->cm_id;
	listener_destroy_id(listener);
	err = listener_listen(listener);
	if (err && had)
		pr_err("rpcrdma2: listener at %pISpc lost its address: %d\n", addr, err);
	else if (!err && !had)
		pr_notice("rpcrdma2: listener at %pISpc regained its address\n", addr);
	if (err)
		queue_delayed_work(rpcrdma2_memory_wq, &listener->rebuild_work,
				   RPCRDMA2_LISTEN_AGAIN);
}

/* Refuse pending connect requests, and end connections that have had no Call. The
 * listener is dead for sunrpc, so that listener_rebuild() does nothing any more.
 */
static void listener_stop(struct svc_xprt *xprt)
{
	struct rpcrdma2_listener *listener = listener_of(xprt);
	struct rpcrdma2_pending *req;

	rpcrdma2_admission_stop(listener);
	scoped_guard(mutex, &listener->mutex)
		listener_destroy_id(listener);

	while ((req = rpcrdma2_pending_next(listener))) {
		rdma_destroy_id(req->cm_id);
		rpcrdma2_pending_free(req);
	}
	cancel_delayed_work_sync(&listener->rebuild_work);
}

/* Pass a connection with a Call to sunrpc, or else accept a connect request. sunrpc has
 * taken a module reference for a new transport, and drops it without one. But each
 * struct rpcrdma2_svc has its own reference from the beginning, which svc_xprt_put()
 * drops.
 */
static struct svc_xprt *listener_xpo_accept(struct svc_xprt *xprt)
{
	struct rpcrdma2_listener *listener = listener_of(xprt);
	struct rpcrdma2_pending *req = NULL;
	struct rpcrdma2_svc *svc;

	clear_bit(XPT_CONN, &xprt->xpt_flags);
	smp_mb__after_atomic();	/* others add to a list, then set the flag */
	svc = rpcrdma2_admit_next(listener);
	if (!svc)
		req = rpcrdma2_pending_next(listener);
	if (req) {
		rpcrdma2_admit_limit(xprt->xpt_server);
		rpcrdma2_server_accept(req);
		rpcrdma2_pending_free(req);
	}
	if (svc || req)	/* there may be more */
		set_bit(XPT_CONN, &xprt->xpt_flags);
	if (!svc)
		return NULL;
	module_put(THIS_MODULE);
	return &svc->xprt;
}

static void listener_xpo_free(struct svc_xprt *xprt)
{
	mutex_destroy(&listener_of(xprt)->mutex);
	kfree(listener_of(xprt));
}

static void listener_xpo_release_ctxt(struct svc_xprt *xprt, void *ctxt)
{
}

/* A listener has no data and is not temporary: sunrpc calls no other method. */
static const struct svc_xprt_ops listener_ops = {
	.xpo_accept		= listener_xpo_accept,
	.xpo_release_ctxt	= listener_xpo_release_ctxt,
	.xpo_detach		= listener_stop,
	.xpo_free		= listener_xpo_free,
};

/* The identity of the service: that of its other listeners in the namespace, or, when it has
 * none, a new one. nfsd creates and destroys listeners one at a time.
 */
static void listener_identify(struct rpcrdma2_listener *listener)
{
	struct svc_serv *serv = listener->xprt.xpt_server;
	struct svc_xprt *other;

	get_random_bytes(listener->identity, sizeof(listener->identity));
	spin_lock_bh(&serv->sv_lock);
	list_for_each_entry(other, &serv->sv_permsocks, xpt_list)
		if (other->xpt_ops == &listener_ops && other->xpt_net == listener->xprt.xpt_net)
			memcpy(listener->identity, listener_of(other)->identity,
			       RPCRDMA2_IDENTITY_BYTES);
	spin_unlock_bh(&serv->sv_lock);
}

/**
 * rpcrdma2_listener_create - make a listener
 * @xcl: class of the listener and of its connections
 * @serv: the service
 * @net: namespace to listen in
 * @sa: address to listen at
 * @salen: length of @sa
 *
 * After an error, the caller of svc_xprt_ops.xpo_create and svc_xprt_put() drop one
 * module reference each.
 *
 * Context: process; sleeps.
 * Return: the listener, or an ERR_PTR.
 */
struct svc_xprt *rpcrdma2_listener_create(struct svc_xprt_class *xcl,
					  struct svc_serv *serv, struct net *net,
					  struct sockaddr *sa, int salen)
{
	struct rpcrdma2_listener *listener;
	int ret;

	if (sa->sa_family != AF_INET && sa->sa_family != AF_INET6)
		return ERR_PTR(-EAFNOSUPPORT);
	listener = kzalloc_obj(*listener, GFP_KERNEL);
	if (!listener)
		return ERR_PTR(-ENOMEM);
	svc_xprt_init(net, xcl, &listener->xprt, serv);
	listener->xprt.xpt_ops = &listener_ops;
	set_bit(XPT_LISTENER, &listener->xprt.xpt_flags);
	set_bit(XPT_CONG_CTRL, &listener->xprt.xpt_flags);
	strscpy(listener->xprt.xpt_remotebuf, "listener",
		sizeof(listener->xprt.xpt_remotebuf));
	svc_xprt_set_local(&listener->xprt, sa, salen);
	listener_identify(listener);
	rpcrdma2_admission_init(listener);
	mutex_init(&listener->mutex);
	INIT_DELAYED_WORK(&listener->rebuild_work, listener_rebuild);

	scoped_guard(mutex, &listener->mutex) {
		ret = listener_listen(listener);
		if (!ret)
			/* The port may have been 0 */
			svc_xprt_set_local(&listener->xprt, (struct sockaddr *)
					   &listener->cm_id->route.addr.src_addr,
					   salen);
	}
	if (ret) {
		set_bit(XPT_CLOSE, &listener->xprt.xpt_flags);
		listener_stop(&listener->xprt);
		__module_get(THIS_MODULE);
		svc_xprt_put(&listener->xprt);
		return ERR_PTR(ret);
	}
	return &listener->xprt;
}
