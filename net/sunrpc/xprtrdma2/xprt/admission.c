// SPDX-License-Identifier: GPL-2.0
/*
 * Admission of clients. Every connect request is accepted as soon as a thread is
 * free. Connections whose clients have not been served a filehandle are limited by
 * ending one of them for each one too many: the oldest of the client that has most.
 *
 * sunrpc has a limit of its own, and ends the oldest of all, whatever its state. A
 * client whose connect attempt is ended like that is refused, and a mount fails. So
 * sunrpc does not see a connection before there is a Call that a thread has to serve,
 * and never finds as many as it wants to end, unless TCP brings more than a quarter.
 *
 * Lifetime: a connection in stage NEW belongs to the admission, which has
 * the reference that sunrpc gets with rpcrdma2_admit_next(). The admission of a
 * listener lives until the last origin is gone, an origin until the last connect
 * request and the last connection are.
 */
#include <linux/hashtable.h>
#include <linux/jhash.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/sunrpc/svc_xprt.h>
#include <rdma/rdma_cm.h>

#include "xprt/admission.h"
#include "compat.h"
#include "xprt/server.h"
#include "conn/workqueue.h"

/* It takes a client a few round trips to its first Call; a message of the CM that is
 * lost costs about four seconds. A client that takes longer than this may be ended for
 * another one when more than a few are new.
 */
#define RPCRDMA2_ADMIT_TIME	(10 * HZ)
#define RPCRDMA2_ADMIT_FEW	64U

/* What a connection that sends nothing costs, bytes, rounded up; what part of the
 * memory all new ones may take; and how many there may be.
 */
#define RPCRDMA2_ADMIT_BYTES	(512UL << 10)
#define RPCRDMA2_ADMIT_PART	8
#define RPCRDMA2_ADMIT_MOST	1024U

/* A connection that sunrpc has is not ended before the client's device has its first
 * Reply and the client had time to see that, or after so long without a Reply. Of
 * many clients that come within this time those beyond the limit wait.
 */
#define RPCRDMA2_ADMIT_GRACE	max(HZ / 40, 1)
#define RPCRDMA2_ADMIT_REPLY	HZ

/* So many connections are looked at, the oldest ones, to choose one */
#define RPCRDMA2_ADMIT_LOOK	1024U

#define RPCRDMA2_ORIGIN_BITS	6

#define RPCRDMA2_ADMIT_STAGES	(RPCRDMA2_STAGE_UNVERIFIED + 1)

/**
 * struct rpcrdma2_admission - admission to one listener
 * @list: link among all
 * @serv: the service; for comparison only
 * @listener: the listener, NULL when it has ended
 * @users: origins, and the listener
 * @candidates: struct rpcrdma2_svc in each stage, oldest first
 * @nr: how many
 * @calling: new ones that have a Call
 * @again: has a thread look at @calling again
 * @origins: struct rpcrdma2_origin
 */
struct rpcrdma2_admission {
	struct list_head		list;
	const struct svc_serv		*serv;
	struct svc_xprt			*listener;
	unsigned int			users;
	struct list_head		candidates[RPCRDMA2_ADMIT_STAGES];
	unsigned int			nr[RPCRDMA2_ADMIT_STAGES];
	struct list_head		calling;
	struct delayed_work		again;
	DECLARE_HASHTABLE(origins, RPCRDMA2_ORIGIN_BITS);
};

/**
 * struct rpcrdma2_origin - where clients are: a port of a device, or an address
 * @node: link in the table
 * @adm: the admission
 * @gid: see rpcrdma2_conn_peer_gid()
 * @users: connect requests and connections
 * @nr: connections in each stage
 */
struct rpcrdma2_origin {
	struct hlist_node		node;
	struct rpcrdma2_admission	*adm;
	union ib_gid			gid;
	unsigned int			users;
	unsigned int			nr[RPCRDMA2_ADMIT_STAGES];
};

/* For all of the above and struct rpcrdma2_candidate. svc_xprt_enqueue() is called
 * inside.
 */
static DEFINE_SPINLOCK(admission_lock);
static LIST_HEAD(admissions);

static struct rpcrdma2_svc *svc_of(struct rpcrdma2_candidate *cand)
{
	return container_of(cand, struct rpcrdma2_svc, cand);
}

/* ---- admissions and origins ---- */

static void admission_wake(struct rpcrdma2_admission *adm)
{
	lockdep_assert_held(&admission_lock);
	if (!adm->listener || list_empty(&adm->calling))
		return;
	set_bit(XPT_CONN, &adm->listener->xpt_flags);
	svc_xprt_enqueue(adm->listener);
}

static void admission_again(struct work_struct *work)
{
	struct rpcrdma2_admission *adm =
		container_of(work, struct rpcrdma2_admission, again.work);

	spin_lock(&admission_lock);
	admission_wake(adm);
	spin_unlock(&admission_lock);
}

/**
 * rpcrdma2_admission_create - a listener begins
 * @listener: the listener; may not be initialized yet
 * @serv: its service
 *
 * Context: sleeps.
 * Return: its admission, or NULL without memory
 */
struct rpcrdma2_admission *
rpcrdma2_admission_create(struct svc_xprt *listener,
			  const struct svc_serv *serv)
{
	struct rpcrdma2_admission *adm;
	int i;

	adm = kzalloc_obj(*adm, GFP_KERNEL);
	if (!adm)
		return NULL;
	adm->serv = serv;
	adm->listener = listener;
	adm->users = 1;
	for (i = 0; i < RPCRDMA2_ADMIT_STAGES; i++)
		INIT_LIST_HEAD(&adm->candidates[i]);
	INIT_LIST_HEAD(&adm->calling);
	INIT_DELAYED_WORK(&adm->again, admission_again);
	hash_init(adm->origins);
	spin_lock(&admission_lock);
	list_add_tail(&adm->list, &admissions);
	spin_unlock(&admission_lock);
	return adm;
}

static void admission_put(struct rpcrdma2_admission *adm)
{
	lockdep_assert_held(&admission_lock);
	if (--adm->users)
		return;
	list_del(&adm->list);
	kfree(adm);
}

/**
 * rpcrdma2_admission_put - the listener is freed
 * @adm: its admission, stopped
 *
 * Context: sleeps.
 */
void rpcrdma2_admission_put(struct rpcrdma2_admission *adm)
{
	cancel_delayed_work_sync(&adm->again);
	spin_lock(&admission_lock);
	admission_put(adm);
	spin_unlock(&admission_lock);
}

static struct rpcrdma2_origin *
origin_find(struct rpcrdma2_admission *adm, const union ib_gid *gid, u32 key)
{
	struct rpcrdma2_origin *origin;

	lockdep_assert_held(&admission_lock);
	hash_for_each_possible(adm->origins, origin, node, key)
		if (!memcmp(&origin->gid, gid, sizeof(*gid)))
			return origin;
	return NULL;
}

/**
 * rpcrdma2_origin_get - where does a client come from?
 * @adm: admission of the listener
 * @cm_id: the client's connect request
 *
 * Context: sleeps.
 * Return: the origin, to be put, or NULL without memory
 */
struct rpcrdma2_origin *rpcrdma2_origin_get(struct rpcrdma2_admission *adm,
					    const struct rdma_cm_id *cm_id)
{
	struct rpcrdma2_origin *origin, *spare;
	union ib_gid gid;
	u32 key;

	rpcrdma2_conn_peer_gid(cm_id, &gid);
	key = jhash(&gid, sizeof(gid), 0);
	spare = kzalloc_obj(*spare, GFP_KERNEL);
	spin_lock(&admission_lock);
	origin = origin_find(adm, &gid, key);
	if (!origin && spare) {
		origin = spare;
		spare = NULL;
		origin->adm = adm;
		origin->gid = gid;
		hash_add(adm->origins, &origin->node, key);
		adm->users++;
	}
	if (origin)
		origin->users++;
	spin_unlock(&admission_lock);
	kfree(spare);
	return origin;
}

static void origin_put(struct rpcrdma2_origin *origin)
{
	lockdep_assert_held(&admission_lock);
	if (--origin->users)
		return;
	hash_del(&origin->node);
	admission_put(origin->adm);
	kfree(origin);
}

/**
 * rpcrdma2_origin_put - a connect request will not be accepted
 * @origin: where it came from
 *
 * Context: does not sleep.
 */
void rpcrdma2_origin_put(struct rpcrdma2_origin *origin)
{
	spin_lock(&admission_lock);
	origin_put(origin);
	spin_unlock(&admission_lock);
}

/**
 * rpcrdma2_origin_is_new - does an origin have no unverified connection?
 * @origin: the origin
 *
 * Context: any.
 * Return: true if it has none, a moment ago
 */
bool rpcrdma2_origin_is_new(const struct rpcrdma2_origin *origin)
{
	return !READ_ONCE(origin->nr[RPCRDMA2_STAGE_NEW]) &&
	       !READ_ONCE(origin->nr[RPCRDMA2_STAGE_UNVERIFIED]);
}

/* ---- stages of a connection ---- */

static bool stage_counts(enum rpcrdma2_stage stage)
{
	return stage == RPCRDMA2_STAGE_NEW ||
	       stage == RPCRDMA2_STAGE_UNVERIFIED;
}

static void set_stage(struct rpcrdma2_candidate *cand,
		      enum rpcrdma2_stage to)
{
	struct rpcrdma2_origin *origin = cand->origin;
	struct rpcrdma2_admission *adm = origin->adm;
	enum rpcrdma2_stage from = cand->stage;

	lockdep_assert_held(&admission_lock);
	list_del_init(&cand->calling);
	list_del_init(&cand->list);
	if (stage_counts(from)) {
		adm->nr[from]--;
		WRITE_ONCE(origin->nr[from], origin->nr[from] - 1);
	}
	WRITE_ONCE(cand->stage, to);
	cand->since = jiffies;
	if (stage_counts(to)) {
		list_add_tail(&cand->list, &adm->candidates[to]);
		adm->nr[to]++;
		WRITE_ONCE(origin->nr[to], origin->nr[to] + 1);
	}
}

/* How many are in a stage, at all listeners of the service? */
static unsigned int count(const struct svc_serv *serv, enum rpcrdma2_stage stage)
{
	const struct rpcrdma2_admission *adm;
	unsigned int n = 0;

	lockdep_assert_held(&admission_lock);
	list_for_each_entry(adm, &admissions, list)
		if (adm->serv == serv)
			n += adm->nr[stage];
	return n;
}

/* The oldest one of the origin that has most in this stage, at one listener, or @best
 * if that has no less. Those that are found to be verified do not count any more.
 */
static struct rpcrdma2_candidate *choose_from(struct rpcrdma2_admission *adm,
					      enum rpcrdma2_stage stage,
					      struct rpcrdma2_candidate *best)
{
	struct rpcrdma2_candidate *cand, *next;
	unsigned int n = 0;

	list_for_each_entry_safe(cand, next, &adm->candidates[stage], list) {
		if (n++ == RPCRDMA2_ADMIT_LOOK)
			break;
		if (compat_svc_peer_valid(&svc_of(cand)->xprt))
			set_stage(cand, RPCRDMA2_STAGE_KNOWN);
		else if (!best ||
			 cand->origin->nr[stage] > best->origin->nr[stage])
			best = cand;
	}
	return best;
}

static struct rpcrdma2_candidate *choose(const struct svc_serv *serv,
					 enum rpcrdma2_stage stage)
{
	struct rpcrdma2_candidate *best = NULL;
	struct rpcrdma2_admission *adm;

	lockdep_assert_held(&admission_lock);
	list_for_each_entry(adm, &admissions, list)
		if (adm->serv == serv)
			best = choose_from(adm, stage, best);
	return best;
}

/**
 * rpcrdma2_admit_init - a connect request is being accepted
 * @svc: the new connection
 * @origin: where the request came from; the connection has it from now on
 *
 * Context: any.
 */
void rpcrdma2_admit_init(struct rpcrdma2_svc *svc,
			 struct rpcrdma2_origin *origin)
{
	INIT_LIST_HEAD(&svc->cand.list);
	INIT_LIST_HEAD(&svc->cand.calling);
	svc->cand.origin = origin;
}

/* As many may be new at a time */
static unsigned int new_most(void)
{
	unsigned long pages = totalram_pages() / RPCRDMA2_ADMIT_PART;

	return clamp_t(unsigned long,
		       pages / (RPCRDMA2_ADMIT_BYTES / PAGE_SIZE),
		       RPCRDMA2_ADMIT_FEW, RPCRDMA2_ADMIT_MOST);
}

/**
 * rpcrdma2_admit_room - see to it that another connection may be accepted
 * @adm: admission of the listener
 *
 * Context: process; does not sleep.
 */
void rpcrdma2_admit_room(struct rpcrdma2_admission *adm)
{
	struct rpcrdma2_candidate *victim = NULL;
	unsigned int n, most = new_most();

	spin_lock(&admission_lock);
	n = count(adm->serv, RPCRDMA2_STAGE_NEW);
	if (n >= RPCRDMA2_ADMIT_FEW)
		victim = choose(adm->serv, RPCRDMA2_STAGE_NEW);
	if (victim && n < most &&
	    time_before(jiffies, victim->since + RPCRDMA2_ADMIT_TIME))
		victim = NULL;
	if (victim)
		svc_xprt_get(&svc_of(victim)->xprt);
	spin_unlock(&admission_lock);
	if (!victim)
		return;
	rpcrdma2_conn_kill(svc_of(victim)->conn, -ENOBUFS);
	svc_xprt_put(&svc_of(victim)->xprt);
}

/**
 * rpcrdma2_admit - a connect request was accepted
 * @svc: the new connection; the caller's reference is the admission's from now on
 *
 * The caller sees to rpcrdma2_admit_call() and rpcrdma2_admit_lost() for what has
 * happened before.
 *
 * Context: process; does not sleep.
 * Return: false if the listener has ended
 */
bool rpcrdma2_admit(struct rpcrdma2_svc *svc)
{
	bool listening;

	spin_lock(&admission_lock);
	listening = svc->cand.origin->adm->listener;
	if (listening)
		set_stage(&svc->cand, RPCRDMA2_STAGE_NEW);
	spin_unlock(&admission_lock);
	return listening;
}

/**
 * rpcrdma2_admit_call - a new connection has a Call for a thread
 * @svc: the connection
 *
 * Has a thread take the connection first.
 *
 * Context: process; does not sleep.
 */
void rpcrdma2_admit_call(struct rpcrdma2_svc *svc)
{
	struct rpcrdma2_candidate *cand = &svc->cand;
	struct rpcrdma2_admission *adm;

	spin_lock(&admission_lock);
	if (cand->stage == RPCRDMA2_STAGE_NEW &&
	    list_empty(&cand->calling)) {
		adm = cand->origin->adm;
		/* As with connect requests: who has nothing yet is first */
		if (READ_ONCE(cand->origin->nr[RPCRDMA2_STAGE_UNVERIFIED]))
			list_add_tail(&cand->calling, &adm->calling);
		else
			list_add(&cand->calling, &adm->calling);
		admission_wake(adm);
	}
	spin_unlock(&admission_lock);
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
	bool ours;

	spin_lock(&admission_lock);
	ours = svc->cand.stage == RPCRDMA2_STAGE_NEW;
	if (ours)
		set_stage(&svc->cand, RPCRDMA2_STAGE_KNOWN);
	spin_unlock(&admission_lock);
	return ours;
}

/* A quarter of what sunrpc allows is left to TCP, with which it counts us together. */
static unsigned int unverified_most(const struct svc_serv *serv)
{
	unsigned int limit = compat_svc_conn_limit(serv);

	return max(limit - limit / 4, 1U);
}

/* Which one is too many, if there is another one? */
static struct rpcrdma2_candidate *unverified_surplus(const struct svc_serv *serv)
{
	unsigned int most = unverified_most(serv);
	struct rpcrdma2_candidate *victim;

	lockdep_assert_held(&admission_lock);
	if (count(serv, RPCRDMA2_STAGE_UNVERIFIED) < most)
		return NULL;
	victim = choose(serv, RPCRDMA2_STAGE_UNVERIFIED);
	if (count(serv, RPCRDMA2_STAGE_UNVERIFIED) < most)
		return NULL;
	return victim;
}

/* Has the client had its first Reply, or long enough? */
static bool may_end(struct rpcrdma2_candidate *cand)
{
	unsigned long replied = READ_ONCE(cand->replied);

	return time_after_eq(jiffies, replied ? replied + RPCRDMA2_ADMIT_GRACE :
					cand->since + RPCRDMA2_ADMIT_REPLY);
}

/* Counts it no more. Returns it with a reference, or NULL if it goes anyway. */
static struct rpcrdma2_svc *take_surplus(struct rpcrdma2_candidate *victim)
{
	lockdep_assert_held(&admission_lock);
	set_stage(victim, RPCRDMA2_STAGE_KNOWN);
	if (!kref_get_unless_zero(&svc_of(victim)->xprt.xpt_ref))
		return NULL;
	return svc_of(victim);
}

/**
 * rpcrdma2_admit_next - the next connection for sunrpc
 * @adm: admission of the listener
 *
 * One that is too many then is ended before sunrpc counts the new one.
 *
 * Context: process; sleeps.
 * Return: a connection with the reference that is sunrpc's, or NULL
 */
struct rpcrdma2_svc *rpcrdma2_admit_next(struct rpcrdma2_admission *adm)
{
	struct rpcrdma2_candidate *cand, *surplus = NULL;
	struct rpcrdma2_svc *svc = NULL, *victim = NULL;

	spin_lock(&admission_lock);
	cand = list_first_entry_or_null(&adm->calling,
					struct rpcrdma2_candidate, calling);
	if (cand)
		surplus = unverified_surplus(adm->serv);
	if (surplus && !may_end(surplus)) {
		queue_delayed_work(rpcrdma2_memory_wq, &adm->again,
				   RPCRDMA2_ADMIT_GRACE);
		cand = NULL;
		surplus = NULL;
	}
	if (surplus)
		victim = take_surplus(surplus);
	if (cand) {
		svc = svc_of(cand);
		set_stage(cand, RPCRDMA2_STAGE_UNVERIFIED);
	}
	spin_unlock(&admission_lock);
	if (victim) {
		svc_xprt_close(&victim->xprt);
		svc_xprt_put(&victim->xprt);
	}
	return svc;
}

/**
 * rpcrdma2_admit_replied - the client's device has the first Reply
 * @svc: the connection
 *
 * Context: any.
 */
void rpcrdma2_admit_replied(struct rpcrdma2_svc *svc)
{
	WRITE_ONCE(svc->cand.replied, jiffies ?: 1);
}

/**
 * rpcrdma2_admit_end - a connection is freed
 * @svc: the connection
 *
 * Context: does not sleep.
 */
void rpcrdma2_admit_end(struct rpcrdma2_svc *svc)
{
	spin_lock(&admission_lock);
	set_stage(&svc->cand, RPCRDMA2_STAGE_KNOWN);
	origin_put(svc->cand.origin);
	spin_unlock(&admission_lock);
}

/**
 * rpcrdma2_admission_stop - a listener ends
 * @adm: its admission
 *
 * Ends the connections that sunrpc does not know of. May be called again.
 *
 * Context: process; does not sleep.
 */
void rpcrdma2_admission_stop(struct rpcrdma2_admission *adm)
{
	struct list_head *all = &adm->candidates[RPCRDMA2_STAGE_NEW];
	struct rpcrdma2_candidate *cand;

	do {
		spin_lock(&admission_lock);
		adm->listener = NULL;
		cand = list_first_entry_or_null(all, struct rpcrdma2_candidate,
						list);
		if (cand)
			set_stage(cand, RPCRDMA2_STAGE_KNOWN);
		spin_unlock(&admission_lock);
		if (cand)
			svc_xprt_put(&svc_of(cand)->xprt);
	} while (cand);
}
