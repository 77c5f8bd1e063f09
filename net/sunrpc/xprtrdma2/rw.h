/* SPDX-License-Identifier: GPL-2.0 */
/*
 * RDMA Reads and Writes of the responder: local pages against one piece of
 * remote memory, by rdma_rw of ib_core.
 *
 * Life: rpcrdma2_rw_get(), rpcrdma2_rw_append() as often as needed,
 * rpcrdma2_rw_map(), rpcrdma2_rws_chain() and a post; after its completion
 * rpcrdma2_rws_release().
 */
#ifndef _RPCRDMA2_RW_H
#define _RPCRDMA2_RW_H

#include <linux/dma-direction.h>
#include <linux/list.h>
#include <linux/scatterlist.h>
#include <rdma/rw.h>

#include "conn.h"

/* RDMA contexts that are kept for later; one for each Call, as a rule */
#define RPCRDMA2_RWS_KEPT	64U

/* Pages of one struct rpcrdma2_rw; what rdma_rw puts into one MR */
#define RPCRDMA2_RW_PAGES	256U
#define RPCRDMA2_RW_SGES	(RPCRDMA2_RW_PAGES + 2)
/* 64 KiB that begin anywhere in a page */
#define RPCRDMA2_RW_SMALL	17U

/**
 * struct rpcrdma2_rw - local pages against one piece of remote memory
 * @list: free list, or todo or posted list of a Call
 * @ctx: rdma_rw's part, valid if @nwrs
 * @dir: DMA_FROM_DEVICE for RDMA Read, DMA_TO_DEVICE for RDMA Write
 * @handle: remote memory
 * @offset: remote memory
 * @nwrs: work requests; 0 while not mapped
 * @sgl: local memory
 * @last: last used entry of @sgl
 * @nents: used entries of @sgl
 * @max_nents: entries of @sgl
 * @big: many entries, kept once they were needed
 * @small: few entries
 */
struct rpcrdma2_rw {
	struct list_head	list;
	struct rdma_rw_ctx	ctx;
	enum dma_data_direction	dir;
	u32			handle;
	u64			offset;
	u32			length;
	u32			sink;
	u32			nwrs;
	struct scatterlist	*sgl;
	struct scatterlist	*last;
	u32			nents;
	u32			max_nents;
	struct sg_table		big;
	struct scatterlist	small[RPCRDMA2_RW_SMALL];
};

/**
 * struct rpcrdma2_rw_pool - those that are not in use
 * @lock: protects the others; a leaf, process context only
 * @free: last used first
 * @count: how many; at most RPCRDMA2_RWS_KEPT
 */
struct rpcrdma2_rw_pool {
	spinlock_t		lock;		/* see above */
	struct list_head	free;
	u32			count;
};

void rpcrdma2_rw_pool_init(struct rpcrdma2_rw_pool *pool);
void rpcrdma2_rw_pool_trim(struct rpcrdma2_rw_pool *pool);
size_t rpcrdma2_rw_pool_memory(struct rpcrdma2_rw_pool *pool);

struct rpcrdma2_rw *rpcrdma2_rw_get(struct rpcrdma2_rw_pool *pool, u32 nents);
void rpcrdma2_rw_put(struct rpcrdma2_rw_pool *pool, struct rpcrdma2_rw *rw);
bool rpcrdma2_rw_append(struct rpcrdma2_rw *rw, struct page *page, u32 off,
			u32 len);
int rpcrdma2_rw_map(struct rpcrdma2_conn *conn, struct rpcrdma2_rw *rw);
struct ib_send_wr *rpcrdma2_rws_chain(struct rpcrdma2_conn *conn,
				      struct list_head *list,
				      struct ib_cqe *cqe,
				      struct ib_send_wr *tail);
void rpcrdma2_rws_release(struct rpcrdma2_rw_pool *pool,
			  struct rpcrdma2_conn *conn, struct list_head *list);
u32 rpcrdma2_rw_max_nents(const struct rpcrdma2_conn *conn,
			  enum dma_data_direction dir);

#endif /* _RPCRDMA2_RW_H */
