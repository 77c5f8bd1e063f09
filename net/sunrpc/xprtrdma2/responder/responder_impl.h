/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Private to the responder role. call.c has the call objects, responder.c checks
 * arriving Calls, pull.c pulls Read chunks, reply.c sends Replies, batch.c posts their
 * RDMA, and rw_ctx.c has RDMA contexts.
 */
#ifndef _RPCRDMA2_RESPONDER_IMPL_H
#define _RPCRDMA2_RESPONDER_IMPL_H

#include <linux/dma-direction.h>
#include <linux/scatterlist.h>
#include <linux/tracepoint-defs.h>
#include <rdma/rw.h>

#include "conn/buf.h"
#include "proto/chunk_list.h"
#include "responder/responder.h"

DECLARE_TRACEPOINT(rpcrdma2_call_state);

/* Maximum number of pages of a struct rpcrdma2_rw: no more than one MR of rdma_rw has, and
 * no allocation of more than 8 KiB
 */
#define RPCRDMA2_RW_PAGES	240U

/**
 * struct rpcrdma2_rw - local pages and one piece of remote memory
 * @list: todo or posted list of a Call
 * @ctx: rdma_rw's part, valid if @nwrs
 * @dir: DMA_FROM_DEVICE for RDMA Read, DMA_TO_DEVICE for RDMA Write
 * @seg: remote memory
 * @nwrs: work requests; 0 while not mapped
 * @next_pfn: page frame behind the last page of @sg, or ULONG_MAX
 * @nents: used entries of @sg
 * @max: entries of @sg that may be used
 * @sg: local memory
 */
struct rpcrdma2_rw {
	struct list_head	list;
	struct rdma_rw_ctx	ctx;
	enum dma_data_direction	dir;
	struct rpcrdma2_segment	seg;
	u32			nwrs;
	unsigned long		next_pfn;
	u32			nents;
	u32			max;
	struct scatterlist	sg[] __counted_by(max);
};

/**
 * struct rpcrdma2_gather - makes RDMA contexts of local pages and segments
 * @call: has the contexts on its @todo
 * @dir: DMA_FROM_DEVICE for RDMA Read, DMA_TO_DEVICE for RDMA Write
 * @segs: segments not begun
 * @seg: current segment; @seg.length bytes of it are left
 * @rw: current context, the last one on @todo; or NULL
 * @left: remaining bytes, a hint for the size of @rw
 */
struct rpcrdma2_gather {
	struct rpcrdma2_svc_call	*call;
	enum dma_data_direction		dir;
	struct rpcrdma2_cursor		segs;
	struct rpcrdma2_segment		seg;
	struct rpcrdma2_rw		*rw;
	u32				left;
};

/* call.c */
struct rpcrdma2_svc_call *rpcrdma2_call_arrived(struct rpcrdma2_responder *resp,
						struct rpcrdma2_recv *rx);
int rpcrdma2_call_have_array(struct rpcrdma2_svc_call *call, u32 count);
void rpcrdma2_call_state_changes(const struct rpcrdma2_svc_call *call,
				 enum rpcrdma2_call_state to);

/* Change the state of a Call, of which the caller is the user. No other function does. */
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
void rpcrdma2_call_release_pages(struct rpcrdma2_svc_call *call);
void rpcrdma2_call_put(struct rpcrdma2_svc_call *call);
bool rpcrdma2_call_begin_pull(struct rpcrdma2_svc_call *call);
void rpcrdma2_call_end_pull(struct rpcrdma2_svc_call *call);

/* pull.c */
void rpcrdma2_call_start_pull(struct rpcrdma2_deferred *deferred);

/* reply.c */
void rpcrdma2_call_garbage(struct rpcrdma2_svc_call *call);

/* batch.c */
int rpcrdma2_batch_map(struct rpcrdma2_svc_call *call, u32 most);
void rpcrdma2_batch_post(struct rpcrdma2_svc_call *call, u32 nwrs,
			 void (*done)(struct rpcrdma2_svc_call *call,
				      int status));

/* rw_ctx.c */
int rpcrdma2_rws_add(struct rpcrdma2_gather *g, struct page **pages, u32 off, u32 len);
int rpcrdma2_rws_close(struct rpcrdma2_gather *g);
int rpcrdma2_rw_map(struct rpcrdma2_conn *conn, struct rpcrdma2_rw *rw);
struct ib_send_wr *rpcrdma2_rws_chain(struct rpcrdma2_conn *conn,
				      struct list_head *list,
				      struct ib_cqe *cqe,
				      struct ib_send_wr *tail);
void rpcrdma2_rws_release(struct rpcrdma2_conn *conn, struct list_head *list);

#endif /* _RPCRDMA2_RESPONDER_IMPL_H */
