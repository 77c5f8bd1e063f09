// SPDX-License-Identifier: GPL-2.0
/*
 * The server. A service thread accepts a connect request of a listener (listener.c),
 * which makes a struct rpcrdma2_svc with a connection and a responder. From then on
 * this file only adapts the responder's Calls to struct svc_rqst.
 *
 * Service threads poll the completion queue when they ask for a Call (cq.c).
 *
 * Contexts: methods of struct svc_xprt_ops run in service threads, except xpo_free,
 * which may run anywhere and only queues work, and xpo_detach, which runs in the
 * context that closes the transport and may sleep. Calls become ready in completion
 * handlers and deferred work.
 *
 * Lifetime: completions and CM events may use a struct rpcrdma2_svc without
 * references, because the connection is closed only by the work that frees the struct.
 * sunrpc leaves XPT_BUSY set on such a transport, so that a late svc_xprt_enqueue()
 * does nothing.
 *
 * Waking: nfsd is woken once per Call. resp.lock covers the list of Calls and XPT_DATA
 * together, so the thread that takes the last Call clears the flag before it releases
 * the transport, and no other thread wakes up needlessly. The event of a completion
 * sets the flag without the lock, so svc_next_call() checks again after clearing it.
 */
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/sunrpc/addr.h>
#include <net/addrconf.h>
#include <net/route.h>

#include "compat.h"
#include "conn/cm.h"
#include "conn/conn_list.h"
#include "conn/inject.h"
#include "requester/requester.h"
#include "xprt/server.h"
#include "xprt/xprt.h"
#include "conn/workqueue.h"
#include <trace/events/rpcrdma2.h>

/* RDMA Reads and Writes for which rdma_rw reserves resources of each connection: send
 * queue entries, and memory regions if the device needs them. Others wait.
 */
#define RPCRDMA2_RW_CTXS	16U

static unsigned int server_first_credits = 8;
module_param(server_first_credits, uint, 0644);
MODULE_PARM_DESC(server_first_credits,
		 "initial credit grant of a connection, which grows with use");

static unsigned int server_read_chunks = 4;
module_param(server_read_chunks, uint, 0644);
MODULE_PARM_DESC(server_read_chunks, "Read chunks accepted in a Call, 1 to 16");

static unsigned int server_write_chunks = 4;
module_param(server_write_chunks, uint, 0644);
MODULE_PARM_DESC(server_write_chunks, "Write chunks accepted in a Call, 1 to 16");

static unsigned int server_segments = RPCRDMA2_MAX_SEGS;
module_param(server_segments, uint, 0644);
MODULE_PARM_DESC(server_segments, "segments accepted in one chunk, 1 to 256");

static const struct svc_xprt_ops rpcrdma2_svc_ops;

/* Check whether the client is on this host: its writeback must not wait for nfsd then. */
static bool svc_peer_is_local(struct net *net, const struct sockaddr *remote)
{
	const struct sockaddr_in6 *sin6 = (const struct sockaddr_in6 *)remote;
	const struct sockaddr_in *sin = (const struct sockaddr_in *)remote;

	if (remote->sa_family == AF_INET)
		return inet_addr_type(net, sin->sin_addr.s_addr) == RTN_LOCAL;
	return IS_ENABLED(CONFIG_IPV6) && remote->sa_family == AF_INET6 &&
	       ipv6_chk_addr(net, &sin6->sin6_addr, NULL, 0);
}

static void svc_set_addresses(struct svc_xprt *xprt, const struct rdma_cm_id *cm_id)
{
	const struct sockaddr *local, *remote;

	local = (const struct sockaddr *)&cm_id->route.addr.src_addr;
	remote = (const struct sockaddr *)&cm_id->route.addr.dst_addr;
	svc_xprt_set_local(xprt, local, svc_addr_len(local));
	svc_xprt_set_remote(xprt, remote, svc_addr_len(remote));
	snprintf(xprt->xpt_remotebuf, sizeof(xprt->xpt_remotebuf), "%pISc", remote);
	/* The client's port changes with each connection: the duplicate
	 * request cache must ignore it
	 */
	rpc_set_port((struct sockaddr *)&xprt->xpt_remote, 0);

	if (svc_peer_is_local(xprt->xpt_net, remote))
		set_bit(XPT_LOCAL, &xprt->xpt_flags);
}

/* nfsd has served the client a filehandle. */
static bool svc_trusted(const struct rpcrdma2_conn *conn)
{
	const struct rpcrdma2_svc *svc = conn->p.owner;

	return compat_svc_peer_valid(&svc->xprt);
}

/* sunrpc has the transport, or will never get it: then XPT_DEAD is set. No thread handles
 * the transport before.
 */
static bool svc_is_admitted(const struct rpcrdma2_svc *svc)
{
	/* Pairs with set_stage() */
	return smp_load_acquire(&svc->cand.stage) >= RPCRDMA2_STAGE_UNVERIFIED;
}

/* Make an idle thread poll. Without an idle thread return false: a transport that waits
 * for a thread could not be closed (S11). sunrpc keeps XPT_BUSY set until it has added
 * the transport, and then checks XPT_DATA.
 */
static bool svc_completions(struct rpcrdma2_conn *conn)
{
	struct rpcrdma2_svc *svc = conn->p.owner;

	if (!svc_is_admitted(svc) || svc_xprt_is_dead(&svc->xprt) ||
	    !(compat_svc_idle_thread(svc->xprt.xpt_server) || rpcrdma2_pretend(idle)))
		return false;
	set_bit(XPT_DATA, &svc->xprt.xpt_flags);
	svc_xprt_enqueue(&svc->xprt);
	return true;
}

/* sunrpc deletes a transport that no thread uses. */
static void svc_close(struct work_struct *work)
{
	struct rpcrdma2_svc *svc = container_of(work, struct rpcrdma2_svc, close_work);

	svc_xprt_close(&svc->xprt);
	svc_xprt_put(&svc->xprt);
}

/* All threads may be blocked for any time. The removal of a device waits for its
 * connections, and must not depend on a thread: a work item closes them.
 * rpcrdma2_admit() finds a connection that was lost before. There may be no transport yet.
 */
static void svc_lost(struct rpcrdma2_conn *conn)
{
	struct rpcrdma2_svc *svc = conn->p.owner;

	if (rpcrdma2_admit_lost(svc))
		svc_xprt_put(&svc->xprt);
	else if (svc_is_admitted(svc) && !test_bit(XPT_DEAD, &svc->xprt.xpt_flags) &&
		 kref_get_unless_zero(&svc->xprt.xpt_ref))
		queue_work(rpcrdma2_memory_wq, &svc->close_work);
}

static const struct rpcrdma2_conn_ops svc_conn_ops = {
	.recv		= rpcrdma2_dispatch_recv,
	.closing	= rpcrdma2_responder_stop,
	.closed		= rpcrdma2_responder_closed,
	.trim		= rpcrdma2_dispatch_trim,
	.memory		= rpcrdma2_dispatch_memory,
	.trusted	= svc_trusted,
	.completions	= svc_completions,
	.lost		= svc_lost,
};

static void svc_call_ready(struct rpcrdma2_svc_call *call)
{
	struct rpcrdma2_svc *svc = container_of(call->resp, struct rpcrdma2_svc, resp);

	spin_lock(&svc->resp.lock);
	list_add_tail(&call->list, &svc->resp.ready);
	set_bit(XPT_DATA, &svc->xprt.xpt_flags);
	spin_unlock(&svc->resp.lock);
	if (unlikely(!svc_is_admitted(svc)))
		rpcrdma2_admit_call(svc);
	svc_xprt_enqueue(&svc->xprt);
}

static const struct rpcrdma2_responder_ops svc_responder_ops = {
	.ready		= svc_call_ready,
	.replied	= rpcrdma2_admit_replied,
};

/* ---- life of a transport ---- */

/* Reverse of rpcrdma2_server_accept(). There are no references any more. */
static void svc_free(struct work_struct *work)
{
	struct rpcrdma2_svc *svc = container_of(work, struct rpcrdma2_svc, free_work);
	struct rpcrdma2_requester *rq = rpcrdma2_conn_requester(svc->conn);

	rpcrdma2_admit_end(svc);
	if (rq)
		rpcrdma2_requester_stop(rq);
	rpcrdma2_conn_close(svc->conn);
	if (rq) {
		rpcrdma2_requester_detach(rq);
		xprt_put(&rq->xprt);
	}
	/* The connection's CM id holds the namespace */
	rpcrdma2_conn_list_ended(rpcrdma2_conn_net(svc->conn), &svc->stats, false);
	rpcrdma2_conn_free(svc->conn);
	rpcrdma2_calls_trim(&svc->resp, 0);
	rpcrdma2_recv_pool_empty(&svc->pool);
	kfree(svc);
}

/* Make the connection. */
static bool svc_connect(struct rpcrdma2_svc *svc, const struct rpcrdma2_pending *req)
{
	const struct rdma_addr *addr = &req->cm_id->route.addr;
	struct rpcrdma2_conn_params p = {
		.ops		= &svc_conn_ops,
		.owner		= svc,
		.identity	= req->listener->identity,
		.responder	= &svc->resp,
		.stats		= &svc->stats,
		.pool		= &svc->pool,
		.calls		= RPCRDMA2_BC_CALLS,
		.call_wrs	= 1,
		.brs		= RDMA2_RVREQSUP_INLINE,
		.reply_bytes	= svc->resp.limits.bytes,
	};

	rpcrdma2_policy_peer(req->listener->xprt.xpt_net, false,
			     (const struct sockaddr *)&addr->dst_addr,
			     rpc_get_port((const struct sockaddr *)&addr->src_addr),
			     &p.policy);
	p.send_size = rpcrdma2_policy_capacity(&p.policy);	/* D-16 */
	p.serves = p.policy.val[RPCRDMA2_A_POLICY_CREDITS];
	p.serves_initial = clamp(server_first_credits, 1U, p.serves);
	p.rw_ctxs = min(p.serves, RPCRDMA2_RW_CTXS);
	svc->conn = rpcrdma2_conn_incoming(req->cm_id, &p);
	return svc->conn;
}

/* A new transport with a connection, which takes over the CM id */
static struct rpcrdma2_svc *svc_alloc(const struct rpcrdma2_pending *req)
{
	int node = ibdev_to_node(req->cm_id->device);
	struct svc_xprt *listener = &req->listener->xprt;
	const struct rpcrdma2_chunk_limits limits = {
		.read_chunks	= clamp(server_read_chunks, 1U, RPCRDMA2_READ_CHUNKS_MAX),
		.write_chunks	= clamp(server_write_chunks, 1U, RPCRDMA2_WRITE_CHUNKS_MAX),
		.segs		= clamp(server_segments, 1U, RPCRDMA2_SEGS_MAX),
		.bytes		= listener->xpt_server->sv_max_mesg,
	};
	struct rpcrdma2_svc *svc;

	svc = kzalloc_node(sizeof(*svc), GFP_KERNEL, node);
	if (!svc)
		return NULL;
	svc->pool.node = node;
	INIT_WORK(&svc->close_work, svc_close);
	INIT_WORK(&svc->free_work, svc_free);
	rpcrdma2_responder_init(&svc->resp, &svc_responder_ops, &limits, svc->stash);
	if (!rpcrdma2_calls_provide(&svc->resp, 1, GFP_KERNEL) || !svc_connect(svc, req)) {
		rpcrdma2_calls_trim(&svc->resp, 0);
		kfree(svc);
		return NULL;
	}
	rpcrdma2_admit_init(svc, req);
	__module_get(THIS_MODULE);
	svc_xprt_init(listener->xpt_net, listener->xpt_class, &svc->xprt,
		      listener->xpt_server);
	svc->xprt.xpt_ops = &rpcrdma2_svc_ops;
	set_bit(XPT_CONG_CTRL, &svc->xprt.xpt_flags);
	compat_svc_peer_watch(&svc->xprt);
	svc_set_addresses(&svc->xprt, req->cm_id);
	return svc;
}

/**
 * rpcrdma2_server_accept - make a transport of a connect request
 * @req: the request; its CM id is taken over
 *
 * Context: process; sleeps.
 */
void rpcrdma2_server_accept(const struct rpcrdma2_pending *req)
{
	struct rpcrdma2_svc *svc = svc_alloc(req);
	int ret;

	if (!svc) {
		rpcrdma2_conn_refuse(req->cm_id, -ENOMEM);
		rdma_destroy_id(req->cm_id);
		return;
	}
	ret = rpcrdma2_conn_accept(svc->conn, &req->param);
	trace_rpcrdma2_accept(svc->conn->id, (struct sockaddr *)&svc->xprt.xpt_remote,
			      test_bit(XPT_LOCAL, &svc->xprt.xpt_flags), ret);
	if (ret || !rpcrdma2_admit(svc))
		svc_xprt_put(&svc->xprt);
}

/* Stop sending and receiving; threads that still have a Call notice this. */
static void svc_xpo_detach(struct svc_xprt *xprt)
{
	struct rpcrdma2_svc *svc = rpcrdma2_svc(xprt);

	rpcrdma2_conn_kill(svc->conn, -ENOTCONN);
	/* Notify the client now, not after the last thread */
	rdma_disconnect(svc->conn->cm_id);
}

static void svc_xpo_free(struct svc_xprt *xprt)
{
	queue_work(rpcrdma2_free_wq, &rpcrdma2_svc(xprt)->free_work);
}

static int svc_xpo_has_wspace(struct svc_xprt *xprt)
{
	/* Credits limit the number of Calls, and no Reply waits in a thread */
	return 1;
}

static void svc_xpo_kill_temp_xprt(struct svc_xprt *xprt)
{
}

static void svc_xpo_release_ctxt(struct svc_xprt *xprt, void *ctxt)
{
	if (ctxt)
		rpcrdma2_call_release(ctxt);
}

/* Take the next Call, and with the last one clear XPT_DATA. */
static struct rpcrdma2_svc_call *svc_next_call(struct rpcrdma2_svc *svc)
{
	struct rpcrdma2_svc_call *call;

	guard(spinlock)(&svc->resp.lock);
	call = list_first_entry_or_null(&svc->resp.ready, struct rpcrdma2_svc_call, list);
	if (call)
		list_del_init(&call->list);
	if (list_empty(&svc->resp.ready)) {
		clear_bit(XPT_DATA, &svc->xprt.xpt_flags);
		/* The event of a completion takes no lock */
		smp_mb__after_atomic();
		if (rpcrdma2_cq_pending(svc->conn))
			set_bit(XPT_DATA, &svc->xprt.xpt_flags);
	}
	return call;
}

static int svc_xpo_recvfrom(struct svc_rqst *rqstp)
{
	struct svc_xprt *xprt = rqstp->rq_xprt;
	struct rpcrdma2_svc_call *call;
	u32 n;

	/* Nothing to release if there is no Call */
	compat_svc_args_end(rqstp, 0);
	rqstp->rq_next_page = rqstp->rq_respages;
	rqstp->rq_xprt_ctxt = NULL;

	rpcrdma2_cq_poll(rpcrdma2_svc(xprt)->conn);
	call = svc_next_call(rpcrdma2_svc(xprt));
	svc_xprt_received(xprt);
	if (!call)
		return 0;
	if (unlikely(call->state == RPCRDMA2_CALL_WANTS_PAGES)) {
		compat_svc_args_taken(rqstp, call->npages);
		rpcrdma2_call_pull(call, rqstp->rq_pages);
		return 0;
	}

	n = rpcrdma2_call_arg(call, &rqstp->rq_arg, rqstp->rq_pages);
	compat_svc_args_end(rqstp, n);
	rqstp->rq_next_page = rqstp->rq_respages + 1;
	rqstp->rq_xprt_ctxt = call;
	if (compat_svc_peer_valid(xprt))
		rpcrdma2_call_hold_pages(call, rqstp->rq_respages,
					 rqstp->rq_page_end - rqstp->rq_respages);
	rqstp->rq_prot = IPPROTO_MAX;
	svc_xprt_copy_addrs(rqstp, xprt);
	set_bit(RQ_SECURE, &rqstp->rq_flags);
	assign_bit(RQ_LOCAL, &rqstp->rq_flags, test_bit(XPT_LOCAL, &xprt->xpt_flags));
	return rqstp->rq_arg.len;
}

/* Count the pages of the Reply again: after nfsd had counted them, RPCSEC_GSS may have
 * appended a checksum that needs another page.
 */
static void svc_count_pages(struct svc_rqst *rqstp)
{
	const struct xdr_buf *res = &rqstp->rq_res;
	u32 n = DIV_ROUND_UP(res->page_base + res->page_len, PAGE_SIZE);

	if (res->page_len && res->pages + n > rqstp->rq_next_page)
		rqstp->rq_next_page = res->pages + n;
}

static int svc_xpo_sendto(struct svc_rqst *rqstp)
{
	struct rpcrdma2_svc_call *call = rqstp->rq_xprt_ctxt;
	struct svc_xprt *xprt = rqstp->rq_xprt;
	u32 npages;
	int ret;

	if (svc_xprt_is_dead(xprt))
		return -ENOTCONN;
	svc_count_pages(rqstp);
	npages = rqstp->rq_next_page - rqstp->rq_respages;
	/* Release the pages that the Reply does not use, or all if they are those of a thread
	 * that deferred the Call, because that thread still uses them.
	 */
	if (call->npages)
		rpcrdma2_call_release_pages(call, rqstp->rq_deferred ? 0 : npages);
	ret = rpcrdma2_call_reply(call, &rqstp->rq_res, rqstp->rq_respages, npages);
	if (ret < 0) {
		svc_xprt_deferred_close(xprt);
		return -ENOTCONN;
	}
	/* svc_recv() releases the pages before rq_next_page, and fills entries that are NULL
	 * again. Pages that the thread has got back, and a first page that was used alone,
	 * can serve the next Reply; other pages may belong to the page cache.
	 */
	while (ret && npages && rqstp->rq_respages[npages - 1])
		npages--;
	rqstp->rq_next_page = rqstp->rq_respages + npages;
	if (ret)
		compat_svc_res_taken(rqstp);
	else if (npages <= 1)
		rqstp->rq_next_page = rqstp->rq_respages;
	return 0;
}

static int svc_xpo_result_payload(struct svc_rqst *rqstp, unsigned int offset,
				  unsigned int length)
{
	/* An error from here would become part of the Reply (ERR-26) */
	if (rqstp->rq_xprt_ctxt)	/* not if the Call was deferred */
		rpcrdma2_call_payload(rqstp->rq_xprt_ctxt, offset, length);
	return 0;
}

static const struct svc_xprt_ops rpcrdma2_svc_ops = {
	COMPAT_SVC_SECURE_PORT
	.xpo_recvfrom		= svc_xpo_recvfrom,
	.xpo_sendto		= svc_xpo_sendto,
	.xpo_result_payload	= svc_xpo_result_payload,
	.xpo_release_ctxt	= svc_xpo_release_ctxt,
	.xpo_detach		= svc_xpo_detach,
	.xpo_free		= svc_xpo_free,
	.xpo_has_wspace		= svc_xpo_has_wspace,
	.xpo_kill_temp_xprt	= svc_xpo_kill_temp_xprt,
};
