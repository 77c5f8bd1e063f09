/* SPDX-License-Identifier: GPL-2.0 */
/*
 * RDMA Reads and Writes of the responder: local pages against one piece of
 * remote memory, by rdma_rw of ib_core.
 *
 * Life: rpcrdma2_rw_alloc(), rpcrdma2_rw_append() as often as needed,
 * rpcrdma2_rw_map(), rpcrdma2_rws_chain() and a post; after its completion
 * rpcrdma2_rws_release().
 */
#ifndef _RPCRDMA2_RW_CTX_H
#define _RPCRDMA2_RW_CTX_H

#include <linux/dma-direction.h>
#include <linux/list.h>
#include <linux/scatterlist.h>
#include <rdma/rw.h>

#include "conn/conn.h"

/* Pages of one struct rpcrdma2_rw; what rdma_rw puts into one MR */
#define RPCRDMA2_RW_PAGES	256U

/**
 * struct rpcrdma2_rw - local pages against one piece of remote memory
 * @list: todo or posted list of a Call
 * @ctx: rdma_rw's part, valid if @nwrs
 * @dir: DMA_FROM_DEVICE for RDMA Read, DMA_TO_DEVICE for RDMA Write
 * @handle: remote memory
 * @offset: remote memory
 * @nwrs: work requests; 0 while not mapped
 * @table: local memory
 * @last: last used entry of @table
 * @nents: used entries of @table
 */
struct rpcrdma2_rw {
	struct list_head	list;
	struct rdma_rw_ctx	ctx;
	enum dma_data_direction	dir;
	u32			handle;
	u64			offset;
	u32			nwrs;
	struct sg_table		table;
	struct scatterlist	*last;
	u32			nents;
};

struct rpcrdma2_rw *rpcrdma2_rw_alloc(u32 nents);
bool rpcrdma2_rw_append(struct rpcrdma2_rw *rw, struct page *page, u32 off,
			u32 len);
int rpcrdma2_rw_map(struct rpcrdma2_conn *conn, struct rpcrdma2_rw *rw);
struct ib_send_wr *rpcrdma2_rws_chain(struct rpcrdma2_conn *conn,
				      struct list_head *list,
				      struct ib_cqe *cqe,
				      struct ib_send_wr *tail);
void rpcrdma2_rws_release(struct rpcrdma2_conn *conn, struct list_head *list);
u32 rpcrdma2_rw_max_nents(const struct rpcrdma2_conn *conn,
			  enum dma_data_direction dir);

#endif /* _RPCRDMA2_RW_CTX_H */
