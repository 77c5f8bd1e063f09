/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A Call that is being served, and the responder that it belongs to: what the
 * files of the responder role share. call.c has the call objects, responder.c
 * takes Calls, pull.c pulls Read chunks, reply.c and push.c send Replies,
 * batch.c posts the RDMA of both.
 *
 * Contexts: a Call arrives, and RDMA Reads end, in completion handlers, which
 * leave it to deferred work to map memory for RDMA Reads; the Reply comes from the
 * executor's thread and, if it had to wait for the send queue, goes on in a
 * completion handler.
 *
 * A call object is used by one context at a time, except @refs and @rx_refs:
 * the executor may release the Call while its Reply is still under way. What
 * is under I/O is freed with the last reference; by then no work request
 * of the Call is posted.
 *
 * resp->lock is a leaf, process context only.
 */
#ifndef _RPCRDMA2_CALL_H
#define _RPCRDMA2_CALL_H

#include <linux/list.h>
#include <linux/refcount.h>
#include <linux/spinlock.h>
#include <linux/sunrpc/xdr.h>
#include <linux/tracepoint-defs.h>

#include "conn/buf.h"
#include "conn/conn.h"
#include "responder/rw_ctx.h"

DECLARE_TRACEPOINT(rpcrdma2_call_state);

struct rpcrdma2_responder;
struct rpcrdma2_svc_call;

/* Memory for what RDMA Reads bring, of Calls that no executor has taken yet:
 * so much for a client that is trusted, and for others. A longer message has it
 * alone.
 */
#define RPCRDMA2_PULL_PAGES		((u32)(SZ_8M >> PAGE_SHIFT))
#define RPCRDMA2_PULL_PAGES_FIRST	((u32)(SZ_1M >> PAGE_SHIFT) + 1)

/* So many pages are kept for later */
#define RPCRDMA2_STASH			RPCRDMA2_PULL_PAGES_FIRST

/* The shortest array for pages */
#define RPCRDMA2_CALL_ROOM		32U

/* Upper bounds of the limits below; they size arrays in the call object */
#define RPCRDMA2_READ_CHUNKS_MAX	16U
#define RPCRDMA2_WRITE_CHUNKS_MAX	16U
#define RPCRDMA2_SEGS_MAX		256U

/**
 * struct rpcrdma2_responder_ops - what the executor of Calls provides
 * @ready: @call can be executed, or wants pages. May not sleep; called from
 *	completion handlers, deferred work and threads that gave pages
 * @closed: the connection is closed: calls rpcrdma2_call_release() for each Call
 *	that the executor still has
 * @replied: the first Reply was sent: an RDMA device of the requester has it.
 *	May not sleep; NULL if nobody wants to know
 */
struct rpcrdma2_responder_ops {
	void (*ready)(struct rpcrdma2_responder *resp,
		      struct rpcrdma2_svc_call *call);
	void (*closed)(struct rpcrdma2_responder *resp);
	void (*replied)(struct rpcrdma2_responder *resp);
};

/**
 * struct rpcrdma2_chunk_limits - what a responder takes (CHK-27, ERR-19..24)
 * @read_chunks: Read chunks per Call, the Position-Zero chunk not counted. With 0
 *	no Position-Zero chunk is taken, either
 * @write_chunks: Write chunks per Call, the Reply chunk not counted. With 0 no
 *	Reply chunk is used, either
 * @segs: segments of one chunk
 * @bytes: largest RPC message, chunks included (CHK-24)
 */
struct rpcrdma2_chunk_limits {
	u32				read_chunks;
	u32				write_chunks;
	u32				segs;
	u32				bytes;
};

/**
 * struct rpcrdma2_responder - responder role on one connection
 * @ops: the executor
 * @limits: see there
 * @special: what becomes of a Call that is more than its inline part, or too much
 * @max_pages: pages that a message may need
 * @replied: the first Reply was sent
 * @lock: protects everything below
 * @ncalls: call objects in existence; grows with the grant
 * @calls: free call objects, last used first
 * @room: entries of the arrays of all call objects
 * @unserved: Receives with Calls that wait for a call object
 * @pulling: pages of Calls that no executor has taken yet
 * @ctxs: RDMA contexts that these may use at once. rdma_rw has a memory region
 *	for each, if the device needs that
 * @waiting: Calls that wait because either are too many
 * @stashed: how many pages are in @stash
 * @stash: RPCRDMA2_STASH entries: pages for the next RDMA Reads. NULL if there
 *	are no Read chunks
 */
struct rpcrdma2_responder {
	const struct rpcrdma2_responder_ops *ops;
	struct rpcrdma2_chunk_limits		limits;
	void (*special)(struct rpcrdma2_svc_call *call);
	u32				max_pages;
	bool				replied;

	spinlock_t			lock;		/* everything below */
	u32				ncalls;
	struct list_head		calls;
	u32				room;
	struct list_head		unserved;
	u32				pulling;
	u32				ctxs;
	struct list_head		waiting;
	u32				stashed;
	struct page			**stash;
};

/**
 * struct rpcrdma2_read_chunk - a Read chunk of a Call being pulled
 * @position: place in the un-reduced stream
 * @length: bytes
 */
struct rpcrdma2_read_chunk {
	u32				position;
	u32				length;
};

/**
 * struct rpcrdma2_payload - a result that may travel in a Write chunk
 * @offset: place in the Reply
 * @length: bytes, padding not counted
 */
struct rpcrdma2_payload {
	u32				offset;
	u32				length;
};

/**
 * enum rpcrdma2_call_state - who is to do something for a Call
 * @RPCRDMA2_CALL_FREE: nobody, the object has no Call
 * @RPCRDMA2_CALL_ARRIVED: we are: its header is being looked at
 * @RPCRDMA2_CALL_WAITING: other Calls, which have the pages or the RDMA contexts
 * @RPCRDMA2_CALL_PULLING: the device, or deferred work that posts more RDMA Reads
 * @RPCRDMA2_CALL_WANTS_PAGES: the executor: rpcrdma2_call_pull()
 * @RPCRDMA2_CALL_READY: the executor: it executes the Call
 * @RPCRDMA2_CALL_REPLYING: the device, or those before in the send queue
 */
enum rpcrdma2_call_state {
	RPCRDMA2_CALL_FREE = 0,
	RPCRDMA2_CALL_ARRIVED,
	RPCRDMA2_CALL_WAITING,
	RPCRDMA2_CALL_PULLING,
	RPCRDMA2_CALL_WANTS_PAGES,
	RPCRDMA2_CALL_READY,
	RPCRDMA2_CALL_REPLYING,
};

/**
 * enum rpcrdma2_reply_kind - what goes out
 * @RPCRDMA2_REPLY_MSG: the (reduced) Reply inline
 * @RPCRDMA2_REPLY_NOMSG: the (reduced) Reply in the Reply chunk
 * @RPCRDMA2_REPLY_ERROR: an RDMA2_ERROR instead
 */
enum rpcrdma2_reply_kind {
	RPCRDMA2_REPLY_MSG = 0,
	RPCRDMA2_REPLY_NOMSG,
	RPCRDMA2_REPLY_ERROR,
};

/**
 * struct rpcrdma2_svc_call - one Call that is being served
 * @list: @calls or @waiting of the responder, or the executor's own
 * @resp: its responder
 * @conn: connection it came over
 * @state: see enum rpcrdma2_call_state; changed by one function only
 * @refs: one for the executor; one for a Reply that is under way
 * @rx: the Receive
 * @rx_refs: one for the executor; one for a Reply not encoded yet
 * @credited: the credit was given back
 * @nchunks: used entries of @chunks
 * @chunks: Read chunks other than Position-Zero, in ascending Position
 * @pz_len: bytes in the Position-Zero chunk
 * @stream: bytes of the un-reduced RPC message
 * @head: bytes of it that stay in the Receive; the others go to @pages
 * @read_bytes: bytes to be pulled
 * @pulling: its share of the responder's @pulling, 0 if it has none
 * @ctxs: RDMA contexts that it may use for RDMA Reads at once
 * @todo: struct rpcrdma2_rw not posted yet
 * @posted: struct rpcrdma2_rw posted, alone or in front of the Send
 * @nwrs: send queue entries of @todo, of a Reply
 * @deferred: its next step, if that takes memory
 * @cqe: completion of a batch
 * @batch_done: what to do then
 * @waiter: waits for room in the send queue
 * @npayloads: used entries of @payloads
 * @payloads: recorded results in ascending offset
 * @kind: kind of Reply
 * @hdr: header of the Reply
 * @written: bytes that go to each Write chunk
 * @nreduced: used entries of @reduced
 * @reduced: results that are left out of the stream
 * @reply_bytes: bytes of the reduced stream
 * @msg_len: length of the Reply's message, if it is no error; bytes
 * @inv_handle: handle to be invalidated with the Send, or 0
 * @err: code of an RDMA2_ERROR
 * @err_arg: its arguments
 * @res: the Reply, while it waits
 * @fixed: a Reply made here
 * @first_page: first used entry of @pages
 * @npages: end of the used entries of @pages
 * @room: entries of @pages, see rpcrdma2_call_room()
 * @pages: pages for RDMA Reads; later, pages of the Reply under I/O
 * @page: @pages, if one is enough
 */
struct rpcrdma2_svc_call {
	struct list_head		list;
	struct rpcrdma2_responder	*resp;
	struct rpcrdma2_conn		*conn;
	enum rpcrdma2_call_state	state;
	refcount_t			refs;
	struct rpcrdma2_recv		*rx;
	refcount_t			rx_refs;
	bool				credited;

	u32				nchunks;
	struct rpcrdma2_read_chunk	chunks[RPCRDMA2_READ_CHUNKS_MAX];
	u32				pz_len;
	u32				stream;
	u32				head;
	u32				read_bytes;
	u32				pulling;
	u32				ctxs;

	struct list_head		todo;
	struct list_head		posted;
	u32				nwrs;
	struct rpcrdma2_deferred		deferred;
	struct ib_cqe			cqe;
	void				(*batch_done)(struct rpcrdma2_svc_call *call,
						      int status);
	struct rpcrdma2_sendq_waiter	waiter;

	u32				npayloads;
	struct rpcrdma2_payload		payloads[RPCRDMA2_WRITE_CHUNKS_MAX];

	enum rpcrdma2_reply_kind	kind;
	struct rpcrdma2_reply_hdr		hdr;
	u32				written[RPCRDMA2_WRITE_CHUNKS_MAX];
	u32				nreduced;
	struct rpcrdma2_payload		reduced[RPCRDMA2_WRITE_CHUNKS_MAX];
	u32				reply_bytes;
	u32				msg_len;
	u32				inv_handle;
	u32				err;
	u32				err_arg[2];
	struct xdr_buf			res;
	__be32				fixed[6];

	u32				first_page;
	u32				npages;
	u32				room;
	struct page			**pages;
	struct page			*page;
};

static inline bool
rpcrdma2_call_wants_pages(const struct rpcrdma2_svc_call *call)
{
	return call->state == RPCRDMA2_CALL_WANTS_PAGES;
}

/* How to ask for memory. What sends a client's Reply keeps its transport locked, and
 * with it the RPCs that free memory.
 */
static inline gfp_t rpcrdma2_call_gfp(const struct rpcrdma2_svc_call *call)
{
	return call->conn->client ? RPCRDMA2_GFP_NOWAIT : rpcrdma2_buf_gfp();
}

bool rpcrdma2_call_may_linger(const struct rpcrdma2_svc_call *call);
void rpcrdma2_call_arrived(struct rpcrdma2_responder *resp,
			   struct rpcrdma2_recv *rx);
int rpcrdma2_call_room(struct rpcrdma2_svc_call *call, u32 count);
bool rpcrdma2_calls_provide(struct rpcrdma2_responder *resp, u32 count,
			    gfp_t gfp);
void rpcrdma2_calls_trim(struct rpcrdma2_responder *resp, u32 count);

void rpcrdma2_call_state_changes(const struct rpcrdma2_svc_call *call,
				 enum rpcrdma2_call_state to);

/* The only function that changes the state of a Call; the caller holds the Call */
static inline void rpcrdma2_call_set_state(struct rpcrdma2_svc_call *call,
					   enum rpcrdma2_call_state to)
{
	if (IS_ENABLED(CONFIG_LOCKDEP) || tracepoint_enabled(rpcrdma2_call_state))
		rpcrdma2_call_state_changes(call, to);
	call->state = to;
}

void rpcrdma2_call_ready(struct rpcrdma2_svc_call *call,
			 enum rpcrdma2_call_state state);
void rpcrdma2_call_credit(struct rpcrdma2_svc_call *call);
void rpcrdma2_call_rx_put(struct rpcrdma2_svc_call *call);
void rpcrdma2_call_put(struct rpcrdma2_svc_call *call);
void rpcrdma2_call_release(struct rpcrdma2_svc_call *call);

bool rpcrdma2_call_begin_pull(struct rpcrdma2_svc_call *call);
void rpcrdma2_call_end_pull(struct rpcrdma2_svc_call *call);

#endif /* _RPCRDMA2_CALL_H */
