/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The responder role: receives Calls with their chunks and sends Replies.
 *
 * The responder works on call objects, plain xdr_bufs and page arrays. The executor of
 * Calls only adapts these: server.c for threads of nfsd, and client_bc.c for the
 * callback service of NFS.
 *
 * Life of a Call:
 *   rpcrdma2_responder_call()	a Call arrived: limits are checked, and deferred
 *				work posts RDMA Reads, without a thread
 *   ops->ready()		the argument is complete; or memory is short and a
 *				thread must provide pages: the state is
 *				RPCRDMA2_CALL_WANTS_PAGES
 *   rpcrdma2_call_arg()	the argument, for the executor
 *   rpcrdma2_call_payload()	results that may travel in Write chunks
 *   rpcrdma2_call_reply()	the Reply; does not wait for the send queue
 *   rpcrdma2_call_release()	the executor has finished, with or without a Reply
 *
 * Contexts: a Call arrives, and RDMA Reads complete, in completion handlers. These
 * leave it to deferred work to map memory for RDMA Reads. The Reply comes from the
 * executor's thread; if it has to wait for the send queue it continues in a
 * completion handler.
 *
 * Only one context uses a call object at a time, except for @refs and @rx_refs: the
 * executor may release the Call while its Reply is in progress. The last reference
 * frees memory that was under I/O; no work request of the Call is posted by then.
 *
 * resp->lock is a leaf, process context only.
 */
#ifndef _RPCRDMA2_RESPONDER_H
#define _RPCRDMA2_RESPONDER_H

#include <linux/list.h>
#include <linux/refcount.h>
#include <linux/spinlock.h>
#include <linux/sunrpc/xdr.h>

#include "conn/conn.h"

struct rpcrdma2_responder;
struct rpcrdma2_svc_call;

/* Maximum number of pages in struct rpcrdma2_responder.stash, which is enough for the
 * RDMA Reads of an untrusted client
 */
#define RPCRDMA2_STASH			((u32)(SZ_1M >> PAGE_SHIFT) + 1)

/* Upper bounds of the limits below: sizes of arrays in the call object */
#define RPCRDMA2_READ_CHUNKS_MAX	16U
#define RPCRDMA2_WRITE_CHUNKS_MAX	16U
#define RPCRDMA2_SEGS_MAX		256U

/**
 * struct rpcrdma2_responder_ops - what the executor of Calls provides
 * @ready: @call can be executed, or wants pages. Must not sleep; called from
 *	completion handlers, deferred work and threads that provided pages
 * @closed: the connection is closed: calls rpcrdma2_call_release() for each Call
 *	of the executor that is not in rpcrdma2_responder.ready. May be NULL
 * @replied: the requester's device has acknowledged the first Reply. Must not
 *	sleep; may be NULL
 */
struct rpcrdma2_responder_ops {
	void (*ready)(struct rpcrdma2_svc_call *call);
	void (*closed)(struct rpcrdma2_responder *resp);
	void (*replied)(struct rpcrdma2_responder *resp);
};

/**
 * struct rpcrdma2_chunk_limits - limits of a Call (CHK-27, ERR-19..24)
 * @read_chunks: Read chunks per Call, not counting the Position-Zero chunk. 0 also
 *	excludes that
 * @write_chunks: Write chunks per Call, not counting the Reply chunk. With 0 the
 *	Reply chunk is not used either
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
 * @begin: begins with a Call that has waited for a call object
 * @max_pages: maximum number of pages of a message
 * @replied: the requester's device has acknowledged a Reply
 * @lock: protects all members below
 * @ncalls: number of call objects; grows with the grant
 * @calls: free call objects, last used first
 * @entries: number of entries in page arrays, without the first of each call object
 * @unserved: Receives with Calls that wait for a call object
 * @pulling: pages of Calls that the executor has not taken yet
 * @ctxs: RDMA contexts that these Calls may use at once. rdma_rw has a memory
 *	region for each, if the device needs one
 * @waiting: Calls that wait for @pulling or @ctxs to become smaller
 * @ready: Calls that ops->ready() has left for a thread
 * @stashed: number of pages in @stash
 * @stash: RPCRDMA2_STASH entries: pages for the next RDMA Reads. NULL if there
 *	are no Read chunks
 */
struct rpcrdma2_responder {
	const struct rpcrdma2_responder_ops *ops;
	struct rpcrdma2_chunk_limits		limits;
	void (*begin)(struct rpcrdma2_deferred *deferred);
	u32				max_pages;
	bool				replied;

	spinlock_t			lock;		/* members below */
	u32				ncalls;
	struct list_head		calls;
	u32				entries;
	struct list_head		unserved;
	u32				pulling;
	u32				ctxs;
	struct list_head		waiting;
	struct list_head		ready;
	u32				stashed;
	struct page			**stash;
};

/**
 * struct rpcrdma2_item - a part of an RPC message that travels in a chunk of its own
 * @position: place in the un-reduced stream
 * @length: bytes, padding not counted
 */
struct rpcrdma2_item {
	u32				position;
	u32				length;
};

/**
 * enum rpcrdma2_call_state - progress of a Call
 * @RPCRDMA2_CALL_FREE: the object has no Call
 * @RPCRDMA2_CALL_ARRIVED: the responder examines the header
 * @RPCRDMA2_CALL_WAITING: other Calls use the pages or RDMA contexts
 * @RPCRDMA2_CALL_PULLING: RDMA Reads are posted, or deferred work posts more
 * @RPCRDMA2_CALL_WANTS_PAGES: the executor must call rpcrdma2_call_pull()
 * @RPCRDMA2_CALL_READY: the executor has the Call
 * @RPCRDMA2_CALL_REPLYING: the Reply is posted, or waits for the send queue
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
 * struct rpcrdma2_svc_call - one Call that is being served
 * @list: @calls, @waiting or @ready of the responder
 * @resp: its responder
 * @conn: its connection
 * @rx: the Receive
 * @state: see enum rpcrdma2_call_state; changed only by rpcrdma2_call_set_state()
 * @refs: one for the executor; one for a Reply that waits; one for its completion, if that
 *	is needed
 * @rx_refs: one for the executor; one for a Reply not encoded yet
 * @credited: the credit was given back
 * @stream: bytes of the un-reduced RPC message
 * @head: number of its bytes that stay in the Receive; the others go to @pages
 * @read_bytes: bytes to be pulled
 * @nresults: used entries of @results
 * @reply_bytes: bytes of the stream without @results
 * @err: code of the RDMA2_ERROR that is sent instead of a Reply, or 0
 * @inv_handle: handle for the Send to invalidate, or 0
 * @npages: used entries of @pages; some may be NULL
 * @nwrs: send queue entries for @todo of a Reply
 * @entries: size of @pages, see rpcrdma2_call_have_array()
 * @pages: pages for RDMA Reads; later, pages of the Reply under I/O
 * @hdr: header of the Reply, which has the (reduced) Reply in the Reply chunk if @hdr.nomsg
 * @nchunks: used entries of @chunks
 * @pz_len: bytes in the Position-Zero chunk
 * @pulling: its share of the responder's @pulling, or 0
 * @ctxs: maximum number of RDMA contexts for RDMA Reads at once
 * @todo: struct rpcrdma2_rw not posted yet
 * @posted: struct rpcrdma2_rw posted, alone or in front of the Send
 * @deferred: its next step, if that takes memory
 * @cqe: completion of a batch
 * @batch_done: called after the completion of a batch
 * @waiter: waits for space in the send queue
 * @err_arg: arguments of the RDMA2_ERROR
 * @res: the Reply, while it waits or RDMA Writes use it
 * @fixed: a Reply made by the responder
 * @page: array of one entry
 * @chunks: Read chunks other than Position-Zero, in ascending Position; these and the following
 *	arrays are at the end, as most Calls do not need them
 * @results: results that may travel in Write chunks, in ascending Position; from
 *	rpcrdma2_call_reply() on those that do
 * @written: bytes for each Write chunk
 *
 * Successive Calls are executed on different CPUs. The fields up to @hdr, which every Call
 * needs, are in three cache lines.
 */
struct rpcrdma2_svc_call {
	struct list_head		list;
	struct rpcrdma2_responder	*resp;
	struct rpcrdma2_conn		*conn;
	struct rpcrdma2_recv		*rx;
	enum rpcrdma2_call_state	state;
	refcount_t			refs;
	refcount_t			rx_refs;
	bool				credited;
	u32				stream;
	u32				head;

	u32				read_bytes;
	u32				nresults;
	u32				reply_bytes;
	u32				err;
	u32				inv_handle;
	u32				npages;
	u32				nwrs;
	u32				entries;
	struct page			**pages;
	struct rpcrdma2_reply_hdr	hdr;

	u32				nchunks;
	u32				pz_len;
	u32				pulling;
	u32				ctxs;
	struct list_head		todo;
	struct list_head		posted;
	struct rpcrdma2_deferred	deferred;
	struct ib_cqe			cqe;
	void				(*batch_done)(struct rpcrdma2_svc_call *call,
						      int status);
	struct rpcrdma2_sendq_waiter	waiter;
	u32				err_arg[2];
	struct xdr_buf			res;
	__be32				fixed[6];
	struct page			*page;

	struct rpcrdma2_item		chunks[RPCRDMA2_READ_CHUNKS_MAX];
	struct rpcrdma2_item		results[RPCRDMA2_WRITE_CHUNKS_MAX];
	u32				written[RPCRDMA2_WRITE_CHUNKS_MAX];
};

/* The life of a responder */
void rpcrdma2_responder_init(struct rpcrdma2_responder *resp,
			     const struct rpcrdma2_responder_ops *ops,
			     const struct rpcrdma2_chunk_limits *limits,
			     struct page **stash);
bool rpcrdma2_calls_provide(struct rpcrdma2_responder *resp, u32 count, gfp_t gfp);
void rpcrdma2_calls_trim(struct rpcrdma2_responder *resp, u32 count);

/* For a connection */
bool rpcrdma2_responder_call(struct rpcrdma2_conn *conn, struct rpcrdma2_recv *rx);
void rpcrdma2_responder_stop(struct rpcrdma2_conn *conn);
void rpcrdma2_responder_closed(struct rpcrdma2_conn *conn);
size_t rpcrdma2_responder_memory(struct rpcrdma2_responder *resp);

/* For the executor */
void rpcrdma2_call_pull(struct rpcrdma2_svc_call *call, struct page **pages);
u32 rpcrdma2_call_arg(struct rpcrdma2_svc_call *call, struct xdr_buf *arg,
		      struct page **pages);
void rpcrdma2_call_hold_pages(struct rpcrdma2_svc_call *call, struct page **pages,
			      u32 npages);
void rpcrdma2_call_release_pages(struct rpcrdma2_svc_call *call, u32 first);
void rpcrdma2_call_payload(struct rpcrdma2_svc_call *call, u32 offset, u32 length);
int rpcrdma2_call_reply(struct rpcrdma2_svc_call *call,
			const struct xdr_buf *res, struct page **pages,
			u32 npages);
void rpcrdma2_call_refuse(struct rpcrdma2_svc_call *call, u32 err, u32 arg0);
void rpcrdma2_call_release(struct rpcrdma2_svc_call *call);

#endif /* _RPCRDMA2_RESPONDER_H */
