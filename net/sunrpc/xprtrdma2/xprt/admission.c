// SPDX-License-Identifier: GPL-2.0
/*
 * Admission of clients. The next free thread accepts every connect request. Only the
 * number of connections whose clients have not been served a filehandle is limited:
 * for each connection beyond the limit one ends, the oldest of the client with the
 * most connections.
 *
 * sunrpc has its own limit and ends the oldest connection of all, in any state. A
 * client that is still connecting would take this for a refusal, and its mount would
 * fail. So sunrpc does not see a connection before the connection has a Call for a
 * thread, and admission.c ends connections early enough that sunrpc never reaches its
 * limit, unless TCP uses more than a quarter of it.
 *
 * Lifetime: the admission owns the reference of a connection in stage NEW, and
 * passes it to sunrpc with rpcrdma2_admit_next(). Connect requests and connections
 * have references to their origin.
 */
#include <linux/hashtable.h>
#include <linux/jhash.h>
#include <linux/mm.h>
#include <linux/slab.h>

#include "compat.h"
#include "conn/workqueue.h"
#include "xprt/server.h"

/* A client needs a few round trips before its first Call, and a lost message of the CM
 * costs about four seconds. A client that needs longer than this may be ended for
 * another one if more than a few are new.
 */
#define RPCRDMA2_ADMIT_TIME	(10 * HZ)
#define RPCRDMA2_ADMIT_FEW	64U

/* The cost of a connection that sends nothing, in bytes, rounded up; the fraction of
 * memory that all new connections may use; and their maximum number.
 */
#define RPCRDMA2_ADMIT_BYTES	(512UL << 10)
#define RPCRDMA2_ADMIT_PART	8
#define RPCRDMA2_ADMIT_MOST	1024U

/* sunrpc's connections do not end before the client's device has acknowledged the
 * first Reply and the client had time to process it, or before this time has passed
 * without a Reply. Meanwhile other clients beyond the limit wait.
 */
#define RPCRDMA2_ADMIT_GRACE	max(HZ / 40, 1)
#define RPCRDMA2_ADMIT_REPLY	HZ

#define RPCRDMA2_ADMIT_STAGES	(RPCRDMA2_STAGE_UNVERIFIED + 1)

/**
 * struct rpcrdma2_origin - address of clients of a listener: a port of a device, or IP
 * @node: link in the table
 * @serv: the service; for comparison only
 * @listener: the listener, which connections may outlive; see struct rpcrdma2_candidate
 * @gid: see rpcrdma2_conn_peer_gid()
 * @pending: connect requests that wait, oldest first
 * @turn: link in the listener's list of origins with such requests
 * @users: connect requests and connections
 * @requests: connect requests that wait or are being accepted
 * @nr: connections in each stage
 */
struct rpcrdma2_origin {
	struct hlist_node		node;
	const struct svc_serv		*serv;
	struct rpcrdma2_listener	*listener;
	union ib_gid			gid;
	struct list_head		pending;
	struct list_head		turn;
	unsigned int			users;
	unsigned int			requests;
	unsigned int			nr[RPCRDMA2_ADMIT_STAGES];
};

/* Protects everything here, struct rpcrdma2_candidate, and the lists of a listener;
 * svc_xprt_enqueue() is called with this lock held.
 */
static DEFINE_SPINLOCK(admission_lock);
static DEFINE_HASHTABLE(origins, 8);
static struct list_head candidates[RPCRDMA2_ADMIT_STAGES] = {
	[RPCRDMA2_STAGE_NEW] =
		LIST_HEAD_INIT(candidates[RPCRDMA2_STAGE_NEW]),
	[RPCRDMA2_STAGE_UNVERIFIED] =
		LIST_HEAD_INIT(candidates[RPCRDMA2_STAGE_UNVERIFIED]),
};

static void admission_wake(struct rpcrdma2_listener *listener)
{
	lockdep_assert_held(&admission_lock);
	set_bit(XPT_CONN, &listener->xprt.xpt_flags);
	svc_xprt_enqueue(&listener->xprt);
}

/* ---- connect requests ---- */

static void origin_init(struct rpcrdma2_origin *origin,
			struct rpcrdma2_listener *listener,
			const union ib_gid *gid, u32 key)
{
	lockdep_assert_held(&admission_lock);
	origin->serv = listener->xprt.xpt_server;
	origin->listener = listener;
	origin->gid = *gid;
	INIT_LIST_HEAD(&origin->pending);
	INIT_LIST_HEAD(&origin->turn);
	hash_add(origins, &origin->node, key);
}

static struct rpcrdma2_origin *origin_find(const struct rpcrdma2_listener *listener,
					   const union ib_gid *gid, u32 key)
{
	struct rpcrdma2_origin *origin;

	lockdep_assert_held(&admission_lock);
	hash_for_each_possible(origins, origin, node, key)
		if (origin->listener == listener &&
		    origin->serv == listener->xprt.xpt_server &&
		    !memcmp(&origin->gid, gid, sizeof(*gid)))
			return origin;
	return NULL;
}

static void origin_put(struct rpcrdma2_origin *origin)
{
	lockdep_assert_held(&admission_lock);
	if (--origin->users)
		return;
	hash_del(&origin->node);
	kfree(origin);
}

/**
 * rpcrdma2_pending_free - free a connect request
 * @req: removed from the list; the CM id has another owner, or is gone
 *
 * Context: does not sleep.
 */
void rpcrdma2_pending_free(struct rpcrdma2_pending *req)
{
	scoped_guard(spinlock, &admission_lock) {
		req->origin->requests--;
		origin_put(req->origin);
	}
	kfree(req);
}

/* The request does not wait any more. */
static void pending_remove(struct rpcrdma2_pending *req)
{
	lockdep_assert_held(&admission_lock);
	list_del_init(&req->list);
	if (list_empty(&req->origin->pending))
		list_del_init(&req->origin->turn);
	req->listener->npending--;
}

/* An event of a connection that no thread has accepted yet: the client, the device or
 * the address is gone. After a return value other than 0 the CM destroys the CM id.
 */
static int pending_event(struct rdma_cm_id *cm_id, struct rdma_cm_event *event)
{
	struct rpcrdma2_pending *req = cm_id->context;

	scoped_guard(spinlock, &admission_lock) {
		/* If a thread has the request already, accepting it will fail */
		if (list_empty(&req->list))
			return 0;
		pending_remove(req);
	}
	rpcrdma2_pending_free(req);
	return 1;
}

/**
 * rpcrdma2_pending_add - let a connect request wait for a thread
 * @listener: the listener
 * @cm_id: CM id of the new connection
 * @param: parameters of the request
 * @most: maximum number of requests that wait
 *
 * Addresses take turns, so a client with many requests delays only its own. A client that
 * has neither another request nor an unverified connection has space in the list when it is
 * full for others.
 *
 * Context: sleeps.
 * Return: 0 or -ENOMEM
 */
int rpcrdma2_pending_add(struct rpcrdma2_listener *listener, struct rdma_cm_id *cm_id,
			 const struct rdma_conn_param *param, unsigned int most)
{
	struct rpcrdma2_pending *req = kzalloc_obj(*req, GFP_KERNEL);
	struct rpcrdma2_origin *origin, *spare = kzalloc_obj(*spare, GFP_KERNEL);
	union ib_gid gid;
	bool first;
	u32 key;

	if (!req || !spare)
		goto out_free;
	req->listener = listener;
	req->cm_id = cm_id;
	req->param = *param;
	if (param->private_data)
		memcpy(req->private, param->private_data, param->private_data_len);
	req->param.private_data = req->private;
	rpcrdma2_conn_peer_gid(cm_id, &gid);
	key = jhash(&gid, sizeof(gid), 0);

	spin_lock(&admission_lock);
	origin = origin_find(listener, &gid, key);
	first = !origin || !(origin->requests + origin->nr[RPCRDMA2_STAGE_NEW] +
			     origin->nr[RPCRDMA2_STAGE_UNVERIFIED]);
	if (listener->npending >= (first ? 2 * most : most)) {
		spin_unlock(&admission_lock);
		goto out_free;
	}
	if (!origin) {
		swap(origin, spare);
		origin_init(origin, listener, &gid, key);
	}
	origin->users++;
	origin->requests++;
	req->origin = origin;
	cm_id->context = req;
	cm_id->event_handler = pending_event;
	list_add_tail(&req->list, &origin->pending);
	if (list_empty(&origin->turn))
		list_add_tail(&origin->turn, &listener->pending);
	listener->npending++;
	admission_wake(listener);
	spin_unlock(&admission_lock);
	kfree(spare);
	return 0;

out_free:
	kfree(spare);
	kfree(req);
	return -ENOMEM;
}

/**
 * rpcrdma2_pending_next - take the oldest connect request of the next origin
 * @listener: the listener
 *
 * Context: does not sleep.
 * Return: the request, or NULL
 */
struct rpcrdma2_pending *rpcrdma2_pending_next(struct rpcrdma2_listener *listener)
{
	struct rpcrdma2_origin *origin;
	struct rpcrdma2_pending *req;

	guard(spinlock)(&admission_lock);
	origin = list_first_entry_or_null(&listener->pending, struct rpcrdma2_origin, turn);
	if (!origin)
		return NULL;
	list_move_tail(&origin->turn, &listener->pending);
	req = list_first_entry(&origin->pending, struct rpcrdma2_pending, list);
	pending_remove(req);
	return req;
}

/* ---- stages of a connection ---- */

static void set_stage(struct rpcrdma2_svc *svc, enum rpcrdma2_stage to)
{
	struct rpcrdma2_candidate *cand = &svc->cand;

	lockdep_assert_held(&admission_lock);
	if (!list_empty(&cand->list))
		cand->origin->nr[cand->stage]--;
	list_del_init(&cand->calling);
	list_del_init(&cand->list);
	/* sunrpc never gets this transport, and may free the service before it */
	if (to == RPCRDMA2_STAGE_KNOWN && cand->stage < RPCRDMA2_STAGE_UNVERIFIED)
		set_bit(XPT_DEAD, &svc->xprt.xpt_flags);
	/* Pairs with svc_is_admitted() */
	smp_store_release(&cand->stage, to);
	if (to == RPCRDMA2_STAGE_KNOWN)
		return;
	list_add_tail(&cand->list, &candidates[to]);
	cand->origin->nr[to]++;
}

/* Count the connections of a service in a stage; *@victim is the one to be ended if they
 * are too many: the oldest of the origin with the most. Connections that were verified
 * meanwhile stop counting.
 */
static unsigned int count_stage(const struct svc_serv *serv, enum rpcrdma2_stage stage,
				struct rpcrdma2_svc **victim)
{
	struct rpcrdma2_svc *svc, *next;
	unsigned int n = 0;

	lockdep_assert_held(&admission_lock);
	*victim = NULL;
	list_for_each_entry_safe(svc, next, &candidates[stage], cand.list) {
		if (svc->cand.origin->serv != serv)
			continue;
		if (compat_svc_peer_valid(&svc->xprt)) {
			set_stage(svc, RPCRDMA2_STAGE_KNOWN);
			continue;
		}
		n++;
		if (!*victim ||
		    svc->cand.origin->nr[stage] > (*victim)->cand.origin->nr[stage])
			*victim = svc;
	}
	return n;
}

static bool is_protected(const struct rpcrdma2_svc *svc)
{
	return time_before(jiffies, READ_ONCE(svc->cand.until));
}

/**
 * rpcrdma2_admit_init - a connect request is being accepted
 * @svc: the new connection, which gets a reference to the origin
 * @req: the request
 *
 * Context: any.
 */
void rpcrdma2_admit_init(struct rpcrdma2_svc *svc, const struct rpcrdma2_pending *req)
{
	INIT_LIST_HEAD(&svc->cand.list);
	INIT_LIST_HEAD(&svc->cand.calling);
	svc->cand.origin = req->origin;
	guard(spinlock)(&admission_lock);
	req->origin->users++;
}

/* The maximum number of new connections */
static unsigned int new_most(void)
{
	unsigned long pages = totalram_pages() / RPCRDMA2_ADMIT_PART;

	return clamp_t(unsigned long,
		       pages / (RPCRDMA2_ADMIT_BYTES / PAGE_SIZE),
		       RPCRDMA2_ADMIT_FEW, RPCRDMA2_ADMIT_MOST);
}

/**
 * rpcrdma2_admit_limit - end a new connection if another one would be too many
 * @serv: the service
 *
 * Context: process; does not sleep.
 */
void rpcrdma2_admit_limit(const struct svc_serv *serv)
{
	struct rpcrdma2_svc *victim;
	unsigned int n;

	scoped_guard(spinlock, &admission_lock) {
		n = count_stage(serv, RPCRDMA2_STAGE_NEW, &victim);
		if (n < RPCRDMA2_ADMIT_FEW || (n < new_most() && is_protected(victim)))
			return;
		svc_xprt_get(&victim->xprt);
	}
	rpcrdma2_conn_kill(victim->conn, -ENOBUFS);
	svc_xprt_put(&victim->xprt);
}

/* A thread of the listener takes new connections with a Call first, before connect requests. */
static void candidate_calls(struct rpcrdma2_candidate *cand)
{
	lockdep_assert_held(&admission_lock);
	if (cand->stage != RPCRDMA2_STAGE_NEW || !list_empty(&cand->calling))
		return;
	list_add_tail(&cand->calling, &cand->origin->listener->calling);
	admission_wake(cand->origin->listener);
}

/* The oldest connection of a client without an unverified one, or else of any */
static struct rpcrdma2_svc *next_calling(struct rpcrdma2_listener *listener)
{
	struct rpcrdma2_svc *svc;

	lockdep_assert_held(&admission_lock);
	list_for_each_entry(svc, &listener->calling, cand.calling)
		if (!svc->cand.origin->nr[RPCRDMA2_STAGE_UNVERIFIED])
			return svc;
	return list_first_entry_or_null(&listener->calling, struct rpcrdma2_svc,
					cand.calling);
}

/**
 * rpcrdma2_admit - a connect request was accepted
 * @svc: the new connection; the admission takes over the caller's reference
 *
 * Context: process; does not sleep.
 * Return: false if the connection is lost already; the caller keeps the reference
 */
bool rpcrdma2_admit(struct rpcrdma2_svc *svc)
{
	guard(spinlock)(&admission_lock);
	if (rpcrdma2_conn_over(svc->conn))
		return false;
	svc->cand.until = jiffies + RPCRDMA2_ADMIT_TIME;
	set_stage(svc, RPCRDMA2_STAGE_NEW);
	if (test_bit(XPT_DATA, &svc->xprt.xpt_flags))
		candidate_calls(&svc->cand);
	return true;
}

/**
 * rpcrdma2_admit_call - a connection has a Call for a thread
 * @svc: the connection; XPT_DATA is set
 *
 * If it is new, wakes a thread that passes it to sunrpc.
 *
 * Context: process; does not sleep.
 */
void rpcrdma2_admit_call(struct rpcrdma2_svc *svc)
{
	guard(spinlock)(&admission_lock);
	candidate_calls(&svc->cand);
}

/**
 * rpcrdma2_admit_lost - a connection was lost
 * @svc: the connection
 *
 * Context: process; does not sleep.
 * Return: true if sunrpc will not get it: the caller has the reference
 */
bool rpcrdma2_admit_lost(struct rpcrdma2_svc *svc)
{
	guard(spinlock)(&admission_lock);
	if (svc->cand.stage != RPCRDMA2_STAGE_NEW)
		return false;
	set_stage(svc, RPCRDMA2_STAGE_KNOWN);
	return true;
}

/* sunrpc counts RDMA and TCP together: a quarter of its limit is for TCP. */
static unsigned int unverified_most(const struct svc_serv *serv)
{
	unsigned int limit = compat_svc_conn_limit(serv);

	return max(limit - limit / 4, 1U);
}

/**
 * rpcrdma2_admit_next - the next connection for sunrpc
 * @listener: the listener
 *
 * If the connection is one too many, another one ends before sunrpc counts this one.
 *
 * Context: process; sleeps.
 * Return: a connection with the reference for sunrpc, or NULL
 */
struct rpcrdma2_svc *rpcrdma2_admit_next(struct rpcrdma2_listener *listener)
{
	const struct svc_serv *serv = listener->xprt.xpt_server;
	struct rpcrdma2_svc *svc, *victim;
	unsigned int n;

	scoped_guard(spinlock, &admission_lock) {
		svc = next_calling(listener);
		if (!svc)
			return NULL;
		n = count_stage(serv, RPCRDMA2_STAGE_UNVERIFIED, &victim);
		if (n < unverified_most(serv))
			victim = NULL;
		if (victim && is_protected(victim)) {
			queue_delayed_work(rpcrdma2_memory_wq, &listener->again,
					   RPCRDMA2_ADMIT_GRACE);
			return NULL;
		}
		if (victim) {
			set_stage(victim, RPCRDMA2_STAGE_KNOWN);
			if (!kref_get_unless_zero(&victim->xprt.xpt_ref))
				victim = NULL;
		}
		WRITE_ONCE(svc->cand.until, jiffies + RPCRDMA2_ADMIT_REPLY);
		set_stage(svc, RPCRDMA2_STAGE_UNVERIFIED);
	}
	if (victim) {
		svc_xprt_close(&victim->xprt);
		svc_xprt_put(&victim->xprt);
	}
	return svc;
}

/**
 * rpcrdma2_admit_replied - the client's device has the first Reply
 * @resp: responder of the connection
 *
 * Context: any.
 */
void rpcrdma2_admit_replied(struct rpcrdma2_responder *resp)
{
	struct rpcrdma2_svc *svc = container_of(resp, struct rpcrdma2_svc, resp);

	if (READ_ONCE(svc->cand.stage) == RPCRDMA2_STAGE_UNVERIFIED)
		WRITE_ONCE(svc->cand.until, jiffies + RPCRDMA2_ADMIT_GRACE);
}

/**
 * rpcrdma2_admit_end - a connection is freed
 * @svc: the connection
 *
 * Context: does not sleep.
 */
void rpcrdma2_admit_end(struct rpcrdma2_svc *svc)
{
	guard(spinlock)(&admission_lock);
	set_stage(svc, RPCRDMA2_STAGE_KNOWN);
	origin_put(svc->cand.origin);
}

/* ---- listeners ---- */

static void admission_again(struct work_struct *work)
{
	struct rpcrdma2_listener *listener =
		container_of(work, struct rpcrdma2_listener, again.work);

	guard(spinlock)(&admission_lock);
	if (!list_empty(&listener->calling))
		admission_wake(listener);
}

/**
 * rpcrdma2_admission_init - prepare a listener
 * @listener: the listener
 *
 * Context: any.
 */
void rpcrdma2_admission_init(struct rpcrdma2_listener *listener)
{
	INIT_LIST_HEAD(&listener->pending);
	INIT_LIST_HEAD(&listener->calling);
	INIT_DELAYED_WORK(&listener->again, admission_again);
}

/**
 * rpcrdma2_admission_stop - a listener ends
 * @listener: the listener
 *
 * Ends the connections of the listener that sunrpc does not know of. No thread accepts
 * another one meanwhile, or later.
 *
 * Context: process; sleeps.
 */
void rpcrdma2_admission_stop(struct rpcrdma2_listener *listener)
{
	struct rpcrdma2_svc *svc, *next;
	LIST_HEAD(ended);

	cancel_delayed_work_sync(&listener->again);
	scoped_guard(spinlock, &admission_lock) {
		list_for_each_entry_safe(svc, next, &candidates[RPCRDMA2_STAGE_NEW],
					 cand.list) {
			if (svc->cand.origin->listener != listener)
				continue;
			set_stage(svc, RPCRDMA2_STAGE_KNOWN);
			list_add(&svc->cand.list, &ended);
		}
	}
	/* No other code uses the links of a connection in this stage */
	while ((svc = list_first_entry_or_null(&ended, struct rpcrdma2_svc, cand.list))) {
		list_del_init(&svc->cand.list);
		svc_xprt_put(&svc->xprt);
	}
}
