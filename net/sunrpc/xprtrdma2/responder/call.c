// SPDX-License-Identifier: GPL-2.0
/*
 * Call objects: their life, the credit and the Receive that each has, and who
 * may have pages for RDMA Reads. call.h says who may use a call object.
 *
 * resp->lock protects the list of free call objects, and that of Calls that wait
 * for others to have fewer pages.
 */
#include <linux/mm.h>
#include <linux/slab.h>

#include "conn/buf.h"
#include "responder/call.h"
#include <trace/events/rpcrdma2.h>

static const u16 __maybe_unused call_next_states[] = {
	[RPCRDMA2_CALL_FREE]	    = BIT(RPCRDMA2_CALL_ARRIVED),
	[RPCRDMA2_CALL_ARRIVED]	    = BIT(RPCRDMA2_CALL_WAITING) |
				      BIT(RPCRDMA2_CALL_PULLING) |
				      BIT(RPCRDMA2_CALL_READY) |
				      BIT(RPCRDMA2_CALL_REPLYING) |
				      BIT(RPCRDMA2_CALL_FREE),
	[RPCRDMA2_CALL_WAITING]	    = BIT(RPCRDMA2_CALL_PULLING) |
				      BIT(RPCRDMA2_CALL_FREE),
	[RPCRDMA2_CALL_PULLING]	    = BIT(RPCRDMA2_CALL_WANTS_PAGES) |
				      BIT(RPCRDMA2_CALL_READY) |
				      BIT(RPCRDMA2_CALL_REPLYING) |
				      BIT(RPCRDMA2_CALL_FREE),
	[RPCRDMA2_CALL_WANTS_PAGES] = BIT(RPCRDMA2_CALL_PULLING) |
				      BIT(RPCRDMA2_CALL_FREE),
	[RPCRDMA2_CALL_READY]	    = BIT(RPCRDMA2_CALL_REPLYING) |
				      BIT(RPCRDMA2_CALL_FREE),
	[RPCRDMA2_CALL_REPLYING]    = BIT(RPCRDMA2_CALL_FREE),
};

/**
 * rpcrdma2_call_state_changes - check and trace a change of state
 * @call: the caller's
 * @to: its new state
 *
 * The figure in how-it-works.md has the transitions that are allowed.
 *
 * Context: process; does not sleep.
 */
void rpcrdma2_call_state_changes(const struct rpcrdma2_svc_call *call,
				 enum rpcrdma2_call_state to)
{
	lockdep_assert(call_next_states[call->state] & BIT(to));
	trace_rpcrdma2_call_state(call->conn, call->hdr.xid, call->state, to);
}

/* Is it a Call that is all inline, and within the limits? */
static bool call_is_plain(const struct rpcrdma2_responder *resp,
			  const struct rpcrdma2_hdr *hdr)
{
	return !hdr->read_list &&
	       hdr->write_chunks <= resp->limits.write_chunks &&
	       hdr->max_segs <= resp->limits.segs;
}

/* Begin with a Call whose Receive is in the call object. */
static void call_begin(struct rpcrdma2_svc_call *call)
{
	struct rpcrdma2_responder *resp = call->resp;
	const struct rpcrdma2_hdr *hdr = &call->rx->hdr;

	call->conn = call->rx->conn;
	call->hdr.xid = hdr->xid;
	refcount_set(&call->refs, 1);
	refcount_set(&call->rx_refs, 1);
	call->credited = false;
	call->npayloads = 0;
	call->nreduced = 0;
	call->nchunks = 0;
	call->npages = 0;
	call->pulling = 0;
	call->read_bytes = 0;
	call->err = 0;
	call->inv_handle = 0;
	call->stream = hdr->body_len;
	call->head = call->stream;
	rpcrdma2_call_set_state(call, RPCRDMA2_CALL_ARRIVED);
	if (likely(call_is_plain(resp, hdr)))
		rpcrdma2_call_ready(call, RPCRDMA2_CALL_READY);
	else
		resp->special(call);
}

static void call_begin_late(struct rpcrdma2_deferred *deferred)
{
	call_begin(container_of(deferred, struct rpcrdma2_svc_call, deferred));
}

/* @call is free for a Call that waits for one, or for the next. */
static void call_free(struct rpcrdma2_responder *resp,
		      struct rpcrdma2_svc_call *call)
{
	struct rpcrdma2_recv *rx;

	spin_lock(&resp->lock);
	rx = list_first_entry_or_null(&resp->unserved, struct rpcrdma2_recv,
				      list);
	if (likely(!rx) || !rpcrdma2_conn_ready(rx->conn)) {
		list_add(&call->list, &resp->calls);
		spin_unlock(&resp->lock);
		return;
	}
	list_del_init(&rx->list);
	call->rx = rx;
	call->deferred.run = call_begin_late;
	/* With the lock, see rpcrdma2_responder_stop() */
	rpcrdma2_conn_defer(rx->conn, &call->deferred);
	spin_unlock(&resp->lock);
}

/* One more call object. */
static struct rpcrdma2_svc_call *call_new(struct rpcrdma2_responder *resp,
					  gfp_t gfp)
{
	struct rpcrdma2_svc_call *call;

	call = kzalloc_obj(*call, gfp);
	if (!call)
		return NULL;
	call->resp = resp;
	INIT_LIST_HEAD(&call->list);
	INIT_LIST_HEAD(&call->todo);
	INIT_LIST_HEAD(&call->posted);
	spin_lock(&resp->lock);
	resp->ncalls++;
	spin_unlock(&resp->lock);
	return call;
}

/**
 * rpcrdma2_calls_provide - have call objects
 * @resp: the responder
 * @count: so many, at least
 * @gfp: how to ask for memory
 *
 * Context: as @gfp says. Takes resp->lock.
 * Return: false if memory is short
 */
bool rpcrdma2_calls_provide(struct rpcrdma2_responder *resp, u32 count,
			    gfp_t gfp)
{
	struct rpcrdma2_svc_call *call;

	while (READ_ONCE(resp->ncalls) < count) {
		call = call_new(resp, gfp);
		if (!call)
			return false;
		call_free(resp, call);
	}
	return true;
}

/**
 * rpcrdma2_call_may_linger - may a Reply keep its call object until a later Send
 *	completes?
 * @call: the Call
 *
 * Context: any.
 * Return: true if others are free, or would be as few as Sends complete at once
 */
bool rpcrdma2_call_may_linger(const struct rpcrdma2_svc_call *call)
{
	return !list_empty(&call->resp->calls) ||
	       READ_ONCE(call->resp->ncalls) < RPCRDMA2_SIGNAL_EVERY;
}

/**
 * rpcrdma2_call_arrived - a call object for a Call that arrived
 * @resp: the responder
 * @rx: the Receive with the Call; taken over
 *
 * The executor gets the Call if it is all inline, else the responder looks at it.
 * Without a call object and memory for another, @rx waits until a Call before it
 * has ended. Who executes Calls has one always: the owner of the responder begins
 * with one, and one at least remains.
 *
 * Context: completion handler; does not sleep. Takes resp->lock.
 */
void rpcrdma2_call_arrived(struct rpcrdma2_responder *resp,
			   struct rpcrdma2_recv *rx)
{
	struct rpcrdma2_svc_call *call, *fresh = NULL;

	if (list_empty(&resp->calls))
		fresh = call_new(resp, RPCRDMA2_GFP_NOWAIT);
	spin_lock(&resp->lock);
	call = fresh ?: list_first_entry_or_null(&resp->calls,
						 struct rpcrdma2_svc_call, list);
	if (call)
		list_del_init(&call->list);
	else
		list_add_tail(&rx->list, &resp->unserved);
	spin_unlock(&resp->lock);
	if (unlikely(!call))
		return;
	call->rx = rx;
	call_begin(call);
}

static void call_free_array(struct rpcrdma2_svc_call *call)
{
	if (call->pages != &call->page)
		kfree(call->pages);
}

/**
 * rpcrdma2_call_room - have an array for pages
 * @call: the Call; it has no pages
 * @count: so many entries, at least
 *
 * The array stays with the call object until the connection is idle. An array of one
 * entry, which is what a callback's Reply needs, takes no memory.
 *
 * Context: work item or thread; may sleep for memory, on a server.
 * Return: 0 or -ENOMEM
 */
int rpcrdma2_call_room(struct rpcrdma2_svc_call *call, u32 count)
{
	struct rpcrdma2_responder *resp = call->resp;
	struct page **pages;

	if (likely(count <= call->room))
		return 0;
	if (count == 1) {
		pages = &call->page;
	} else {
		count = roundup_pow_of_two(max(count, RPCRDMA2_CALL_ROOM));
		pages = kcalloc(count, sizeof(*pages), rpcrdma2_call_gfp(call));
	}
	if (!pages)
		return -ENOMEM;
	spin_lock(&resp->lock);
	resp->room += count - call->room;
	spin_unlock(&resp->lock);
	call_free_array(call);
	call->pages = pages;
	call->room = count;
	return 0;
}

static void call_drop_room(struct rpcrdma2_svc_call *call)
{
	lockdep_assert_held(&call->resp->lock);
	call->resp->room -= call->room;
	call->room = 0;
	call_free_array(call);
	call->pages = NULL;
}

/**
 * rpcrdma2_calls_trim - free call objects that are not in use, their arrays, and
 *	pages
 * @resp: the responder
 * @count: call objects that remain, those in use included
 *
 * Context: any but interrupt; does not sleep. Takes resp->lock.
 */
void rpcrdma2_calls_trim(struct rpcrdma2_responder *resp, u32 count)
{
	struct rpcrdma2_svc_call *call, *tmp;

	spin_lock(&resp->lock);
	list_for_each_entry_safe(call, tmp, &resp->calls, list) {
		call_drop_room(call);
		if (resp->ncalls <= count)
			continue;
		list_del(&call->list);
		kfree(call);
		resp->ncalls--;
	}
	while (resp->stashed)
		put_page(resp->stash[--resp->stashed]);
	spin_unlock(&resp->lock);
}

/**
 * rpcrdma2_call_credit - the transaction is over as far as credits go
 * @call: the Call; nothing happens if this was said before
 *
 * CRED-2: the credit is free again with the Reply, not with its completion.
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
 * rpcrdma2_call_rx_put - the header and inline part are not needed any more
 * @call: the caller gives up one of its @rx_refs
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

static void call_release_pages(struct rpcrdma2_svc_call *call)
{
	/* There may be no array for them yet */
	u32 i, end = min(call->npages, call->room);

	for (i = call->first_page; i < end; i++) {
		if (call->pages[i])
			put_page(call->pages[i]);
		call->pages[i] = NULL;
	}
	call->first_page = 0;
	call->npages = 0;
}

/**
 * rpcrdma2_call_put - give up a reference to a call object
 * @call: the caller gives up one of its @refs. With the last one its RDMA is
 *	unmapped, its pages are freed and its credit is given back
 *
 * Context: process; takes resp->lock and credit.lock. No work request
 * of @call is posted when the last reference goes.
 */
void rpcrdma2_call_put(struct rpcrdma2_svc_call *call)
{
	struct rpcrdma2_responder *resp = call->resp;

	if (!refcount_dec_and_test(&call->refs))
		return;
	rpcrdma2_rws_release(call->conn, &call->todo);
	call_release_pages(call);
	rpcrdma2_call_end_pull(call);
	rpcrdma2_call_credit(call);
	rpcrdma2_call_set_state(call, RPCRDMA2_CALL_FREE);
	call->conn = NULL;
	call_free(resp, call);
}

/**
 * rpcrdma2_call_release - the executor is done with a Call
 * @call: answered or dropped; not to be used any more
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
void rpcrdma2_call_ready(struct rpcrdma2_svc_call *call,
			 enum rpcrdma2_call_state state)
{
	trace_rpcrdma2_call_ready(call->conn, call->hdr.xid, call->stream,
				  call->read_bytes);
	rpcrdma2_call_set_state(call, state);
	call->resp->ops->ready(call->resp, call);
}

/* May another Call have its pages and RDMA contexts now? One always may. */
static bool pull_has_room(const struct rpcrdma2_svc_call *call)
{
	const struct rpcrdma2_responder *resp = call->resp;
	u32 most = RPCRDMA2_PULL_PAGES;

	lockdep_assert_held(&resp->lock);
	if (!call->conn->p.ops->trusted(call->conn))
		most = min(resp->max_pages, RPCRDMA2_PULL_PAGES_FIRST);
	return !resp->pulling ||
	       (resp->pulling + call->npages <= most &&
		resp->ctxs + call->ctxs <= call->conn->p.rw_ctxs);
}

static void pull_begin(struct rpcrdma2_svc_call *call)
{
	lockdep_assert_held(&call->resp->lock);
	rpcrdma2_call_set_state(call, RPCRDMA2_CALL_PULLING);
	/* One page at least, so that the Call counts */
	call->pulling = max(call->npages, 1U);
	call->resp->pulling += call->pulling;
	call->resp->ctxs += call->ctxs;
}

/**
 * rpcrdma2_call_begin_pull - may a Call have its pages and contexts for RDMA Reads?
 * @call: laid out by rpcrdma2_call_lay_out()
 *
 * If those before it have left too little it waits, and its deferred work is done when
 * they have ended.
 *
 * Context: process; does not sleep. Takes resp->lock.
 * Return: true if so. If not, @call may be gone.
 */
bool rpcrdma2_call_begin_pull(struct rpcrdma2_svc_call *call)
{
	struct rpcrdma2_responder *resp = call->resp;
	bool now;

	spin_lock(&resp->lock);
	now = list_empty(&resp->waiting) && pull_has_room(call);
	if (now) {
		pull_begin(call);
	} else {
		rpcrdma2_call_set_state(call, RPCRDMA2_CALL_WAITING);
		list_add_tail(&call->list, &resp->waiting);
	}
	spin_unlock(&resp->lock);
	return now;
}

/**
 * rpcrdma2_call_end_pull - a Call has no pages or contexts for RDMA Reads any more
 * @call: the Call; nothing happens if it had none
 *
 * Others may begin. On a lost connection they are let go.
 *
 * Context: process; does not sleep. Takes resp->lock.
 */
void rpcrdma2_call_end_pull(struct rpcrdma2_svc_call *call)
{
	struct rpcrdma2_responder *resp = call->resp;
	struct rpcrdma2_svc_call *next;
	u32 pages = call->pulling;

	if (!pages)
		return;
	call->pulling = 0;
	spin_lock(&resp->lock);
	resp->pulling -= pages;
	resp->ctxs -= call->ctxs;
	while ((next = list_first_entry_or_null(&resp->waiting,
						struct rpcrdma2_svc_call,
						list))) {
		bool ready = rpcrdma2_conn_ready(next->conn);

		if (ready && !pull_has_room(next))
			break;
		list_del_init(&next->list);
		if (ready)
			pull_begin(next);
		spin_unlock(&resp->lock);
		if (ready)
			rpcrdma2_conn_defer(next->conn, &next->deferred);
		else
			rpcrdma2_call_release(next);
		spin_lock(&resp->lock);
	}
	spin_unlock(&resp->lock);
}
