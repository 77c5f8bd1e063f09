// SPDX-License-Identifier: GPL-2.0
/*
 * Call objects: their life, their credits and Receives, and the pages for their RDMA
 * Reads. responder.h describes the contexts that use a call object.
 *
 * resp->lock protects the lists of free call objects, of Calls that wait for pages, and of
 * Calls that wait for a thread.
 */
#include <linux/mm.h>
#include <linux/slab.h>

#include "responder/responder_impl.h"
#include <trace/events/rpcrdma2.h>

/* Maximum number of pages for RDMA Reads of Calls that the executor has not taken yet,
 * of a trusted client; RPCRDMA2_STASH for others. A longer message gets them alone.
 */
#define RPCRDMA2_PULL_PAGES		((u32)(SZ_8M >> PAGE_SHIFT))

/* Minimum size of a page array that is allocated */
#define RPCRDMA2_CALL_PAGES		32U

#define TO(state)	BIT(RPCRDMA2_CALL_##state)

static const u16 __maybe_unused call_next_states[] = {
	[RPCRDMA2_CALL_FREE]	    = TO(ARRIVED),
	[RPCRDMA2_CALL_ARRIVED]	    = TO(WAITING) | TO(PULLING) | TO(READY) | TO(REPLYING) |
				      TO(FREE),
	[RPCRDMA2_CALL_WAITING]	    = TO(PULLING) | TO(FREE),
	[RPCRDMA2_CALL_PULLING]	    = TO(WANTS_PAGES) | TO(READY) | TO(REPLYING) | TO(FREE),
	[RPCRDMA2_CALL_WANTS_PAGES] = TO(PULLING) | TO(FREE),
	[RPCRDMA2_CALL_READY]	    = TO(REPLYING) | TO(FREE),
	[RPCRDMA2_CALL_REPLYING]    = TO(FREE),
};

#undef TO

/**
 * rpcrdma2_call_state_changes - check and trace a change of state
 * @call: the Call; the caller is its user
 * @to: its new state
 *
 * how-it-works.md has a figure of the allowed changes.
 *
 * Context: process; does not sleep.
 */
void rpcrdma2_call_state_changes(const struct rpcrdma2_svc_call *call,
				 enum rpcrdma2_call_state to)
{
	lockdep_assert(call_next_states[call->state] & BIT(to));
	trace_rpcrdma2_call_state(call->conn, call->hdr.xid, call->state, to);
}

/* Use a call object for the Call in @rx. */
static void call_fill(struct rpcrdma2_svc_call *call, struct rpcrdma2_recv *rx)
{
	call->rx = rx;
	call->conn = rx->conn;
	call->hdr.xid = rx->hdr.xid;
	refcount_set(&call->refs, 1);
	refcount_set(&call->rx_refs, 1);
	call->credited = false;
	call->nresults = 0;
	call->read_bytes = 0;
	call->err = 0;
	call->inv_handle = 0;
	call->stream = rx->hdr.body_len;
	call->head = call->stream;
	rpcrdma2_call_set_state(call, RPCRDMA2_CALL_ARRIVED);
}

/* Use a call object for a Call that waits for one, or add it to the free ones. */
static void call_free(struct rpcrdma2_responder *resp, struct rpcrdma2_svc_call *call)
{
	struct rpcrdma2_recv *rx;

	guard(spinlock)(&resp->lock);
	rx = list_first_entry_or_null(&resp->unserved, struct rpcrdma2_recv, list);
	if (likely(!rx) || !rpcrdma2_conn_ready(rx->conn)) {
		list_add(&call->list, &resp->calls);
		return;
	}
	list_del_init(&rx->list);
	call_fill(call, rx);
	call->deferred.run = resp->begin;
	/* With the lock, see rpcrdma2_responder_stop() */
	rpcrdma2_conn_defer(rx->conn, &call->deferred);
}

/**
 * rpcrdma2_calls_provide - allocate call objects
 * @resp: the responder
 * @count: minimum number, including existing ones
 * @gfp: flags for the allocation
 *
 * Context: as @gfp says. Takes resp->lock.
 * Return: false if memory is short
 */
bool rpcrdma2_calls_provide(struct rpcrdma2_responder *resp, u32 count, gfp_t gfp)
{
	struct rpcrdma2_svc_call *call;

	while (READ_ONCE(resp->ncalls) < count) {
		call = kzalloc_obj(*call, gfp);
		if (!call)
			return false;
		call->resp = resp;
		INIT_LIST_HEAD(&call->list);
		INIT_LIST_HEAD(&call->todo);
		INIT_LIST_HEAD(&call->posted);
		call->pages = &call->page;
		call->entries = 1;
		scoped_guard(spinlock, &resp->lock)
			resp->ncalls++;
		call_free(resp, call);
	}
	return true;
}

/**
 * rpcrdma2_call_arrived - get a call object for a Call that arrived
 * @resp: the responder
 * @rx: the Receive with the Call; taken over
 *
 * If there is no call object and no memory for another, @rx waits until an earlier Call
 * has ended; then @resp->begin is called. There is at least one call object: the owner of
 * the responder provides it, and rpcrdma2_calls_trim() keeps it.
 *
 * Context: completion handler; does not sleep. Takes resp->lock.
 * Return: the Call, or NULL if @rx waits
 */
struct rpcrdma2_svc_call *rpcrdma2_call_arrived(struct rpcrdma2_responder *resp,
						struct rpcrdma2_recv *rx)
{
	struct rpcrdma2_svc_call *call;

	if (list_empty(&resp->calls))
		rpcrdma2_calls_provide(resp, READ_ONCE(resp->ncalls) + 1,
				       RPCRDMA2_GFP_NOWAIT);
	guard(spinlock)(&resp->lock);
	call = list_first_entry_or_null(&resp->calls, struct rpcrdma2_svc_call, list);
	if (likely(call)) {
		list_del_init(&call->list);
		call_fill(call, rx);
	} else {
		list_add_tail(&rx->list, &resp->unserved);
	}
	return call;
}

/* Use @pages as the array of a Call, instead of one that is empty. */
static void call_set_array(struct rpcrdma2_svc_call *call, struct page **pages, u32 count)
{
	lockdep_assert_held(&call->resp->lock);
	call->resp->entries += count - call->entries;
	if (call->pages != &call->page)
		kfree(call->pages);
	call->pages = pages;
	call->entries = count;
}

/**
 * rpcrdma2_call_have_array - allocate an array for pages
 * @call: the Call
 * @count: minimum number of entries; a smaller array must be empty
 *
 * The array stays with the call object until the connection is idle. An array of one
 * entry, enough for the Reply to a callback, is part of the call object.
 *
 * Context: work item or thread; may sleep for memory, on a server.
 * Return: 0 or -ENOMEM
 */
int rpcrdma2_call_have_array(struct rpcrdma2_svc_call *call, u32 count)
{
	struct page **pages;

	if (likely(count <= call->entries))
		return 0;
	count = roundup_pow_of_two(max(count, RPCRDMA2_CALL_PAGES));
	/* A client's transport is locked while it sends a Reply, and with it the RPCs that
	 * free memory
	 */
	pages = kcalloc(count, sizeof(*pages), call->conn->client ?
			RPCRDMA2_GFP_NOWAIT : rpcrdma2_buf_gfp());
	if (!pages)
		return -ENOMEM;
	guard(spinlock)(&call->resp->lock);
	call_set_array(call, pages, count);
	return 0;
}

/**
 * rpcrdma2_calls_trim - free unused call objects, arrays and pages
 * @resp: the responder
 * @count: number of call objects that remain, including those in use
 *
 * Context: any but interrupt; does not sleep. Takes resp->lock.
 */
void rpcrdma2_calls_trim(struct rpcrdma2_responder *resp, u32 count)
{
	struct rpcrdma2_svc_call *call, *tmp;

	guard(spinlock)(&resp->lock);
	list_for_each_entry_safe(call, tmp, &resp->calls, list) {
		call_set_array(call, &call->page, 1);
		if (resp->ncalls <= count)
			continue;
		list_del(&call->list);
		kfree(call);
		resp->ncalls--;
	}
	while (resp->stashed)
		put_page(resp->stash[--resp->stashed]);
}

/**
 * rpcrdma2_call_credit - give back the credit of a Call
 * @call: the Call; nothing happens the second time
 *
 * CRED-2: the Reply frees the credit, not its completion.
 *
 * Context: process; takes credit.lock.
 */
void rpcrdma2_call_credit(struct rpcrdma2_svc_call *call)
{
	if (call->credited)
		return;
	call->credited = true;
	rpcrdma2_credit_served(&call->conn->credit);
}

/**
 * rpcrdma2_call_rx_put - drop a reference to the Receive of a Call
 * @call: the Call; drops one of its @rx_refs
 *
 * Context: process; may post the Receive anew.
 */
void rpcrdma2_call_rx_put(struct rpcrdma2_svc_call *call)
{
	struct rpcrdma2_recv *rx = call->rx;

	if (!refcount_dec_and_test(&call->rx_refs))
		return;
	call->rx = NULL;
	rpcrdma2_recv_put(rx);
}

/**
 * rpcrdma2_call_release_pages - drop references to pages of a call object
 * @call: the Call
 * @first: entry of the first of these pages; no work request uses them
 *
 * Context: process.
 */
void rpcrdma2_call_release_pages(struct rpcrdma2_svc_call *call, u32 first)
{
	/* The array may not have been allocated yet */
	u32 i, n = min(call->npages, call->entries);

	for (i = first; i < n; i++) {
		if (call->pages[i])
			put_page(call->pages[i]);
		call->pages[i] = NULL;
	}
	call->npages = min(call->npages, first);
}

/**
 * rpcrdma2_call_put - drop a reference to a call object
 * @call: the Call; drops one of its @refs. The last one unmaps RDMA, frees pages and
 *	gives back the credit
 *
 * Context: process; takes resp->lock and credit.lock. No work request of @call is
 * posted when the last reference is dropped.
 */
void rpcrdma2_call_put(struct rpcrdma2_svc_call *call)
{
	struct rpcrdma2_responder *resp = call->resp;

	if (!refcount_dec_and_test(&call->refs))
		return;
	if (unlikely(!list_empty(&call->todo)))
		rpcrdma2_rws_release(call->conn, &call->todo);
	if (call->npages)
		rpcrdma2_call_release_pages(call, 0);
	if (unlikely(call->pulling))
		rpcrdma2_call_end_pull(call);
	rpcrdma2_call_credit(call);
	rpcrdma2_call_set_state(call, RPCRDMA2_CALL_FREE);
	call_free(resp, call);
}

/**
 * rpcrdma2_call_release - the executor has finished with a Call
 * @call: answered or dropped; must not be used any more
 *
 * Context: process; does not sleep.
 */
void rpcrdma2_call_release(struct rpcrdma2_svc_call *call)
{
	rpcrdma2_call_rx_put(call);
	rpcrdma2_call_put(call);
}

/**
 * rpcrdma2_call_ready - hand a Call to the executor
 * @call: the Call
 * @state: READY, its argument is complete; or WANTS_PAGES
 *
 * Context: process; does not sleep. @call may be gone on return.
 */
void rpcrdma2_call_ready(struct rpcrdma2_svc_call *call, enum rpcrdma2_call_state state)
{
	trace_rpcrdma2_call_ready(call->conn, call->hdr.xid, call->stream,
				  call->read_bytes);
	rpcrdma2_call_set_state(call, state);
	call->resp->ops->ready(call);
}

/* Check whether a Call may use its pages and RDMA contexts now. The first always may. */
static bool pull_fits(const struct rpcrdma2_svc_call *call)
{
	const struct rpcrdma2_responder *resp = call->resp;
	u32 most = RPCRDMA2_PULL_PAGES;

	lockdep_assert_held(&resp->lock);
	if (!call->conn->p.ops->trusted(call->conn))
		most = min(resp->max_pages, RPCRDMA2_STASH);
	return !resp->pulling ||
	       (resp->pulling + call->npages <= most &&
		resp->ctxs + call->ctxs <= call->conn->p.rw_ctxs);
}

static void pull_begin(struct rpcrdma2_svc_call *call)
{
	lockdep_assert_held(&call->resp->lock);
	rpcrdma2_call_set_state(call, RPCRDMA2_CALL_PULLING);
	/* At least one page, so that the Call counts */
	call->pulling = max(call->npages, 1U);
	call->resp->pulling += call->pulling;
	call->resp->ctxs += call->ctxs;
}

/**
 * rpcrdma2_call_begin_pull - reserve pages and contexts for RDMA Reads
 * @call: the Call, with @npages and @ctxs set
 *
 * If earlier Calls have left too few, the Call waits, and its deferred work runs when
 * they have ended.
 *
 * Context: process; does not sleep. Takes resp->lock.
 * Return: true if the Call has them. If false, @call may be gone.
 */
bool rpcrdma2_call_begin_pull(struct rpcrdma2_svc_call *call)
{
	struct rpcrdma2_responder *resp = call->resp;

	guard(spinlock)(&resp->lock);
	if (list_empty(&resp->waiting) && pull_fits(call)) {
		pull_begin(call);
		return true;
	}
	rpcrdma2_call_set_state(call, RPCRDMA2_CALL_WAITING);
	list_add_tail(&call->list, &resp->waiting);
	return false;
}

/**
 * rpcrdma2_call_end_pull - release the pages and contexts for RDMA Reads
 * @call: the Call, which has some
 *
 * Calls that wait may begin; on a lost connection they wait for
 * rpcrdma2_responder_closed().
 *
 * Context: process; does not sleep. Takes resp->lock.
 */
void rpcrdma2_call_end_pull(struct rpcrdma2_svc_call *call)
{
	struct rpcrdma2_responder *resp = call->resp;
	struct rpcrdma2_svc_call *next, *tmp;

	guard(spinlock)(&resp->lock);
	resp->pulling -= call->pulling;
	resp->ctxs -= call->ctxs;
	call->pulling = 0;
	list_for_each_entry_safe(next, tmp, &resp->waiting, list) {
		if (!rpcrdma2_conn_ready(next->conn) || !pull_fits(next))
			break;
		list_del_init(&next->list);
		pull_begin(next);
		/* With the lock, see rpcrdma2_responder_stop() */
		rpcrdma2_conn_defer(next->conn, &next->deferred);
	}
}
