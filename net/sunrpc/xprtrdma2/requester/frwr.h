/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Memory registration by work request (FRWR): the MRs of one connection,
 * kept in a pool and used again and again.
 *
 * An MR belongs to the pool or to one RPC (struct rpcrdma2_req), never to
 * both. Who owns it needs no lock; pool->lock protects the pool's list and
 * is a leaf below xprt->queue_lock, process context only.
 */
#ifndef _RPCRDMA2_FRWR_H
#define _RPCRDMA2_FRWR_H

#include <linux/list.h>
#include <linux/scatterlist.h>
#include <linux/workqueue.h>
#include <rdma/ib_verbs.h>

#include "conn/conn.h"

/* Delay before a retry after an allocation failed, milliseconds */
#define RPCRDMA2_MR_RETRY_MS	100U
/* Time after use in which rxe may repeat a registration, see devices.md */
#define RPCRDMA2_MR_REST	(5 * HZ)
/* An RPC whose memory the device cannot map for this time fails */
#define RPCRDMA2_MAP_LIMIT	(5 * HZ)
/* MRs of a new connection and of an idle one; the same while the mount holds swap */
#define RPCRDMA2_FIRST_MRS	16U
#define RPCRDMA2_SWAP_MRS	32U

/**
 * enum rpcrdma2_mr_state - whether the peer can access the memory of an MR
 * @RPCRDMA2_MR_FREE: no; the MR describes no memory
 * @RPCRDMA2_MR_MAPPED: not yet, or not any more; the memory is mapped for DMA
 * @RPCRDMA2_MR_VALID: yes; the registration was posted
 */
enum rpcrdma2_mr_state {
	RPCRDMA2_MR_FREE = 0,
	RPCRDMA2_MR_MAPPED,
	RPCRDMA2_MR_VALID,
};

/**
 * struct rpcrdma2_mr - one memory region
 * @list: link in the pool's free list or in rpcrdma2_req.mrs
 * @pool: its pool
 * @state: see enum rpcrdma2_mr_state
 * @ibmr: the device's object
 * @cid: its id in trace events
 * @sgt: scatterlist with an entry for each run of pages, room for one per page
 * @nents: entries used, one for each run
 * @dir: DMA direction
 * @skip_sync: the CPU has written to the memory and the peer has not, so unmapping must
 *	not copy from a bounce buffer
 * @held: the MR has a reference to each of its pages
 * @devmem: mapped by the operations of another driver, see devmem.c
 * @seg: handle, length, offset for the peer
 * @reg: registration
 * @inv: local invalidation
 */
struct rpcrdma2_mr {
	struct list_head		list;
	struct rpcrdma2_mr_pool		*pool;
	enum rpcrdma2_mr_state		state;
	struct ib_mr			*ibmr;
	u32				cid;
	struct sg_table			sgt;
	unsigned int			nents;
	enum dma_data_direction		dir;
	bool				skip_sync;
	bool				held;
	bool				devmem;
	struct rpcrdma2_segment		seg;
	struct ib_reg_wr		reg;
	struct ib_send_wr		inv;
};

/**
 * struct rpcrdma2_mr_pool - the MRs of a connection
 * @lock: protects @free and @count
 * @free: MRs that no RPC uses
 * @count: MRs in existence
 * @need: free MRs that the first waiting Call needs
 * @max: limit of @count
 * @used_at: when MRs were returned last, jiffies; @lock
 * @depth: pages per MR; 0 if the requester never registers memory
 * @ready: called when there are MRs again after the pool ran out
 * @conn: connection the MRs belong to, while the pool is open
 * @cqe: completion of work requests that are not signaled, which occurs only after an
 *	error. A device may report that long after the MR is free, or gone
 * @refill: allocates MRs, and frees those of an idle connection
 */
struct rpcrdma2_mr_pool {
	spinlock_t			lock;	/* leaf, see above */
	struct list_head		free;
	u32				count;
	u32				need;
	u32				max;
	unsigned long			used_at;
	u32				depth;
	void (*ready)(struct rpcrdma2_mr_pool *pool);
	struct rpcrdma2_conn		*conn;
	struct ib_cqe			cqe;
	struct delayed_work		refill;
};

/* Regions of a chunk: bounce pages, pages of the RPC, bounce pages. Only the first page has
 * an offset, and only the last one is short, see part_layout().
 */
#define RPCRDMA2_REGIONS	3U

/**
 * struct rpcrdma2_region - memory that is contiguous in a page vector
 * @pages: first page
 * @offset: of the first byte in the first page
 * @len: bytes
 */
struct rpcrdma2_region {
	struct page			**pages;
	u32				offset;
	u32				len;
};

void rpcrdma2_mr_pool_init(struct rpcrdma2_mr_pool *pool,
			   void (*ready)(struct rpcrdma2_mr_pool *pool));
int rpcrdma2_mr_pool_open(struct rpcrdma2_mr_pool *pool,
			  struct rpcrdma2_conn *conn, u32 max);
void rpcrdma2_mr_pool_stop(struct rpcrdma2_mr_pool *pool);
void rpcrdma2_mr_pool_close(struct rpcrdma2_mr_pool *pool);
void rpcrdma2_mr_pool_grow(struct rpcrdma2_mr_pool *pool, u32 count);
void rpcrdma2_mr_pool_refill(struct rpcrdma2_mr_pool *pool, u32 need, u32 ms);
void rpcrdma2_mr_pool_idle(struct rpcrdma2_mr_pool *pool);
size_t rpcrdma2_mr_pool_memory(const struct rpcrdma2_mr_pool *pool);

void rpcrdma2_mr_put_all(struct rpcrdma2_mr_pool *pool,
			 struct list_head *mrs);
struct rpcrdma2_mr *rpcrdma2_mr_map(struct rpcrdma2_mr_pool *pool, struct list_head *mrs,
				    struct rpcrdma2_region *regions,
				    enum dma_data_direction dir, u32 xid, bool devmem);
void rpcrdma2_mr_hold(struct rpcrdma2_mr *mr);
void rpcrdma2_mr_unmap(struct rpcrdma2_mr *mr);
struct ib_send_wr *rpcrdma2_mr_reg_wr(struct rpcrdma2_mr *mr,
				      struct ib_send_wr *next);
struct ib_send_wr *rpcrdma2_mr_inv_wr(struct rpcrdma2_mr *mr,
				      struct ib_send_wr *next, struct ib_cqe *cqe);

#endif /* _RPCRDMA2_FRWR_H */
