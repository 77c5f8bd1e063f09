// SPDX-License-Identifier: GPL-2.0
/*
 * MRs of one connection: allocated in batches, mapped, registered, invalidated,
 * unmapped, used again; freed when the connection is closed and drained.
 *
 * Registration and local invalidation are work requests that the requester
 * chains and posts. An MR whose invalidation is uncertain returns to the pool only
 * after the end of the connection (RINV-18).
 *
 * A function sleeps only if its Context section says so. pool->lock is a leaf.
 */
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/slab.h>

#include "conn/buf.h"
#include "conn/inject.h"
#include "requester/devmem.h"
#include "requester/frwr.h"
#include "conn/workqueue.h"
#include <trace/events/rpcrdma2.h>

/* MRs allocated at a time when the pool has run out */
#define RPCRDMA2_MR_BATCH	16U

static void mr_free(struct rpcrdma2_mr *mr)
{
	if (!IS_ERR_OR_NULL(mr->ibmr))
		ib_dereg_mr(mr->ibmr);
	sg_free_table(&mr->sgt);
	kfree(mr);
}

static void mrs_free(struct list_head *mrs)
{
	struct rpcrdma2_mr *mr, *tmp;

	list_for_each_entry_safe(mr, tmp, mrs, list)
		mr_free(mr);
}

static struct rpcrdma2_mr *mr_alloc(struct rpcrdma2_mr_pool *pool)
{
	struct rpcrdma2_conn *conn = pool->conn;
	struct rpcrdma2_mr *mr;

	mr = kzalloc_obj(*mr, rpcrdma2_buf_gfp());
	if (!mr)
		return NULL;
	if (!sg_alloc_table(&mr->sgt, pool->depth, rpcrdma2_buf_gfp()))
		mr->ibmr = ib_alloc_mr(conn->pd, IB_MR_TYPE_MEM_REG, pool->depth);
	if (IS_ERR_OR_NULL(mr->ibmr)) {
		mr_free(mr);
		return NULL;
	}
	mr->pool = pool;
	mr->cid = rpcrdma2_conn_cid(conn);
	mr->reg.wr.wr_cqe = &pool->cqe;
	mr->reg.wr.opcode = IB_WR_REG_MR;
	mr->reg.mr = mr->ibmr;
	mr->inv.opcode = IB_WR_LOCAL_INV;
	return mr;
}

/**
 * rpcrdma2_mr_pool_grow - allocate MRs until there are @count
 * @pool: an open pool
 * @count: MRs wanted, cut to the pool's limit
 *
 * Context: sleeps for memory, between rpcrdma2_reclaim_enter() and _exit(). One
 * caller at a time, see rpcrdma2_mr_pool_open() and the refill work.
 */
void rpcrdma2_mr_pool_grow(struct rpcrdma2_mr_pool *pool, u32 count)
{
	u32 limit = min(count, pool->max);
	struct rpcrdma2_mr *mr;

	while (READ_ONCE(pool->count) < limit) {
		mr = mr_alloc(pool);
		if (!mr)
			break;
		spin_lock(&pool->lock);
		list_add(&mr->list, &pool->free);
		WRITE_ONCE(pool->count, pool->count + 1);
		spin_unlock(&pool->lock);
		rpcrdma2_stat_inc(pool->conn->p.stats, mrs_allocated);
	}
	trace_rpcrdma2_mrs_made(pool->conn, READ_ONCE(pool->count),
				READ_ONCE(pool->count) < limit ? -ENOMEM : 0);
}

/* MRs of a new connection and of an idle one */
static u32 pool_least(const struct rpcrdma2_mr_pool *pool)
{
	return rpcrdma2_conn_swapping(pool->conn) ? RPCRDMA2_SWAP_MRS :
						    RPCRDMA2_FIRST_MRS;
}

/* MRs that are missing for the Call that waits */
static u32 pool_missing(struct rpcrdma2_mr_pool *pool)
{
	u32 missing = READ_ONCE(pool->need);
	struct list_head *pos;

	guard(spinlock)(&pool->lock);
	list_for_each(pos, &pool->free)
		if (!missing--)
			return 0;
	return missing;
}

/* Free MRs that no RPC has used for a while. Soft-RoCE may execute a registration again whose
 * RPC has ended.
 */
static void pool_trim(struct rpcrdma2_mr_pool *pool)
{
	u32 least = pool_least(pool);
	LIST_HEAD(spare);

	spin_lock(&pool->lock);
	if (time_before_eq(jiffies, pool->used_at + RPCRDMA2_MR_REST))
		least = pool->max;
	while (pool->count > least && !list_empty(&pool->free)) {
		list_move(pool->free.prev, &spare);
		WRITE_ONCE(pool->count, pool->count - 1);
	}
	spin_unlock(&pool->lock);
	mrs_free(&spare);
}

/* A device may sleep to free an MR, and may allocate memory for that. ready() retries Calls,
 * which allocate bounce pages: with swap on the mount, these may come from the reserves as
 * well. Only there rpcrdma2_devmem_map() maps memory.
 */
static void pool_refill_worker(struct work_struct *work)
{
	struct rpcrdma2_mr_pool *pool = container_of(to_delayed_work(work),
						     struct rpcrdma2_mr_pool,
						     refill);
	unsigned int was =
		rpcrdma2_reclaim_enter(rpcrdma2_conn_swapping(pool->conn));
	u32 want = pool_least(pool), missing = pool_missing(pool);

	if (missing)
		want = max(want, READ_ONCE(pool->count) +
				 max(missing, RPCRDMA2_MR_BATCH));
	else
		pool_trim(pool);
	rpcrdma2_mr_pool_grow(pool, want);

	/* Without memory, or at the limit, wait for MRs that are in use */
	if (pool_missing(pool))
		rpcrdma2_mr_pool_refill(pool, READ_ONCE(pool->need),
					RPCRDMA2_MR_RETRY_MS);
	else
		pool->ready(pool);
	rpcrdma2_reclaim_exit(was);
}

/**
 * rpcrdma2_mr_pool_refill - schedule the work that allocates and frees MRs
 * @pool: an open pool
 * @need: free MRs that a Call waits for; 0 if the mount has begun to hold swap, or for
 *	unused MRs to be freed
 * @ms: delay, milliseconds
 *
 * The work calls @pool->ready() when there are @need free MRs. If a Call waits while @need
 * is set to 0, the Call only tries too early.
 *
 * Context: any; does not sleep.
 */
void rpcrdma2_mr_pool_refill(struct rpcrdma2_mr_pool *pool, u32 need, u32 ms)
{
	WRITE_ONCE(pool->need, need);
	queue_delayed_work(rpcrdma2_memory_wq, &pool->refill,
			   msecs_to_jiffies(ms));
}

/* A registration is not signaled, and neither is a local invalidation but the last of an
 * RPC, so this is an error or a flush.
 */
static void mr_failed(struct ib_cq *cq, struct ib_wc *wc)
{
	struct rpcrdma2_conn *conn = cq->cq_context;

	guard(rpcrdma2_completion)();
	if (wc->status == IB_WC_SUCCESS)
		return;
	rpcrdma2_conn_wc_failed(conn, "reg or inv", 0, wc);
	rpcrdma2_conn_kill(conn, -ENOTCONN);
}

/**
 * rpcrdma2_mr_pool_init - prepare a pool
 * @pool: zeroed memory
 * @ready: called when there are as many free MRs as rpcrdma2_mr_pool_refill()
 *	requested; does not sleep
 *
 * Context: any.
 */
void rpcrdma2_mr_pool_init(struct rpcrdma2_mr_pool *pool,
			   void (*ready)(struct rpcrdma2_mr_pool *pool))
{
	spin_lock_init(&pool->lock);
	INIT_LIST_HEAD(&pool->free);
	INIT_DELAYED_WORK(&pool->refill, pool_refill_worker);
	pool->cqe.done = mr_failed;
	pool->ready = ready;
}

/**
 * rpcrdma2_mr_pool_open - allocate the first MRs for a connection
 * @pool: a closed pool
 * @conn: connection in state READY; freed only after the pool was closed
 * @max: limit of MRs
 *
 * Context: sleeps for memory, between rpcrdma2_reclaim_enter() and _exit().
 * Return: 0, also with fewer MRs than a new connection should have; or -ENOBUFS without any.
 */
int rpcrdma2_mr_pool_open(struct rpcrdma2_mr_pool *pool,
			  struct rpcrdma2_conn *conn, u32 max)
{
	pool->conn = conn;
	pool->depth = conn->caps.mr_depth;
	pool->max = max;
	pool->need = 0;
	pool->used_at = jiffies;
	rpcrdma2_mr_pool_grow(pool, pool_least(pool));
	return pool->count ? 0 : -ENOBUFS;
}

/**
 * rpcrdma2_mr_pool_stop - stop allocating and freeing MRs
 * @pool: the pool, open or closed
 *
 * Context: sleeps. The requester's connection takes no more Calls.
 */
void rpcrdma2_mr_pool_stop(struct rpcrdma2_mr_pool *pool)
{
	cancel_delayed_work_sync(&pool->refill);
}

/**
 * rpcrdma2_mr_pool_close - free every MR
 * @pool: stopped pool; no RPC has an MR any more
 *
 * Context: sleeps. The connection's PD and device still exist.
 */
void rpcrdma2_mr_pool_close(struct rpcrdma2_mr_pool *pool)
{
	mrs_free(&pool->free);
	INIT_LIST_HEAD(&pool->free);
	pool->count = 0;
}

/**
 * rpcrdma2_mr_put_all - unmap MRs and give them back
 * @pool: the pool
 * @mrs: MRs that are invalid or were never registered. Empty afterwards
 *
 * Context: process; does not sleep.
 */
void rpcrdma2_mr_put_all(struct rpcrdma2_mr_pool *pool, struct list_head *mrs)
{
	struct rpcrdma2_mr *mr;

	if (list_empty(mrs))
		return;
	list_for_each_entry(mr, mrs, list) {
		WARN_ON_ONCE(mr->state == RPCRDMA2_MR_VALID);
		rpcrdma2_mr_unmap(mr);
	}
	guard(spinlock)(&pool->lock);
	pool->used_at = jiffies;
	/* The most recently used first: their tables are in the cache */
	list_splice_init(mrs, &pool->free);
}

/**
 * rpcrdma2_mr_pool_idle - free MRs of a connection that is idle
 * @pool: the pool, open or closed
 *
 * Context: the timer of the connection, which ends before the pool is closed; does not
 * sleep.
 */
void rpcrdma2_mr_pool_idle(struct rpcrdma2_mr_pool *pool)
{
	if (READ_ONCE(pool->count) > RPCRDMA2_FIRST_MRS)
		rpcrdma2_mr_pool_refill(pool, 0, 0);
}

/* Fill the MR's scatterlist from the regions, which have no gaps, as far as the MR has pages.
 * Neighbouring pages share an entry, except for memory of a device: it has a driver or a
 * window of its own. Advances the regions. Returns the number of entries.
 */
static unsigned int mr_fill(struct rpcrdma2_mr *mr, struct rpcrdma2_region *r, bool devmem)
{
	const struct rpcrdma2_region *end = r + RPCRDMA2_REGIONS;
	u32 len, run = devmem ? 0 : RPCRDMA2_SG_RUN;
	unsigned int n = 0, left = mr->pool->depth;
	unsigned long pfn, next = ULONG_MAX;
	struct scatterlist *sg = NULL;
	struct rpcrdma2_region rest;

	for (; r < end; r++) {
		rest = *r;
		/* A gap ends an entry, so that ib_map_mr_sg() finds it */
		if (rest.offset || (sg && offset_in_page(sg->offset + sg->length)))
			next = ULONG_MAX;
		for (; rest.len && left; left--) {
			len = min_t(u32, PAGE_SIZE - rest.offset, rest.len);
			pfn = page_to_pfn(*rest.pages);
			if (pfn == next && sg->length + len <= run &&
			    !rpcrdma2_devmem_is_p2pdma(*rest.pages) &&
			    !rpcrdma2_devmem_is_p2pdma(sg_page(sg))) {
				sg->length += len;
			} else {
				sg = n++ ? sg_next(sg) : mr->sgt.sgl;
				sg_set_page(sg, *rest.pages, len, rest.offset);
			}
			next = pfn + 1;
			rest.pages++;
			rest.len -= len;
			rest.offset = 0;
		}
		*r = rest;
	}
	return n;
}

/* Let the kernel map the memory of an MR. It does not check whether a device that is
 * software can access P2PDMA. Returns the number of entries, or an errno.
 */
static int mr_dma_map(struct rpcrdma2_mr *mr, struct ib_device *device)
{
	struct sg_table sgt = { .sgl = mr->sgt.sgl, .orig_nents = mr->nents };
	int ret = -EREMOTEIO;

	if (rpcrdma2_inject(RPCRDMA2_FAULT_MAP_MR))
		ret = -EIO;
	else if (likely(!rpcrdma2_devmem_is_p2pdma(sg_page(sgt.sgl))) ||
		 ib_dma_pci_p2p_dma_supported(device))
		ret = ib_dma_map_sgtable_attrs(device, &sgt, mr->dir, 0);
	if (!ret)
		return sgt.nents;
	rpcrdma2_stat_inc(mr->pool->conn->p.stats, map_failures);
	/* As the kernel says if the device cannot reach P2PDMA memory */
	if (ret == -EREMOTEIO) {
		pr_warn_ratelimited("rpcrdma2: %s cannot access the memory of another device (P2PDMA): an RPC failed\n",
				    dev_name(&device->dev));
		return -EIO;
	}
	/* No other error says whether to retry: a device without free bounce buffers
	 * returns -EIO.
	 */
	return -EBUSY;
}

/**
 * rpcrdma2_mr_map - map memory for an RPC by an MR of the pool
 * @pool: the pool
 * @mrs: MRs of the RPC; the MR is added, also after an error
 * @regions: the memory, RPCRDMA2_REGIONS entries, advanced past what fits
 * @dir: DMA_TO_DEVICE for the peer to read, DMA_FROM_DEVICE to write
 * @xid: XID of the RPC; becomes part of the offset, for traces
 * @devmem: the memory has to be mapped by rpcrdma2_devmem_map()
 *
 * Context: process; does not sleep, except for rpcrdma2_devmem_map() in the pool's work.
 * Return: the MR in state MAPPED, or an ERR_PTR: -EBUSY: the device cannot map the memory,
 * perhaps only for the moment; -EAGAIN: no MR is free, or only the pool's work can map the
 * memory; or -EIO.
 */
struct rpcrdma2_mr *rpcrdma2_mr_map(struct rpcrdma2_mr_pool *pool, struct list_head *mrs,
				    struct rpcrdma2_region *regions,
				    enum dma_data_direction dir, u32 xid, bool devmem)
{
	struct rpcrdma2_conn *conn = pool->conn;
	struct rpcrdma2_mr *mr;
	struct ib_mr *ibmr;
	int n;

	scoped_guard(spinlock, &pool->lock) {
		mr = list_first_entry_or_null(&pool->free, struct rpcrdma2_mr, list);
		if (!mr)
			return ERR_PTR(-EAGAIN);
		list_move_tail(&mr->list, mrs);
	}
	ibmr = mr->ibmr;
	mr->nents = mr_fill(mr, regions, devmem);
	mr->dir = dir;
	mr->skip_sync = false;
	n = rpcrdma2_devmem_has_ops() && devmem ? rpcrdma2_devmem_map(mr) :
						  mr_dma_map(mr, conn->cm_id->device);
	if (n < 0)
		return ERR_PTR(n);
	mr->state = RPCRDMA2_MR_MAPPED;
	if (ib_map_mr_sg(ibmr, mr->sgt.sgl, n, NULL, PAGE_SIZE) != n)
		return ERR_PTR(-EIO);
	if (mr->devmem)
		rpcrdma2_stat_add(conn->p.stats, gpudirect_bytes, ibmr->length);

	/* The top bit stays clear: offset + length must not wrap (CHK-25) */
	ibmr->iova = lower_32_bits(ibmr->iova) |
		     ((u64)(xid & 0x7fffffff) << 32);
	ib_update_fast_reg_key(ibmr, (u8)(ibmr->rkey + 1));
	mr->seg.handle = ibmr->rkey;
	mr->seg.length = ibmr->length;
	mr->seg.offset = ibmr->iova;
	return mr;
}

/**
 * rpcrdma2_mr_hold - take a reference to each page of an MR
 * @mr: an MR in state MAPPED
 *
 * For pages that their owner may free while the peer can still access them (SEC-7). The
 * references are dropped when the MR is unmapped.
 *
 * Context: process; does not sleep.
 */
void rpcrdma2_mr_hold(struct rpcrdma2_mr *mr)
{
	struct sg_page_iter pages;

	for_each_sg_page(mr->sgt.sgl, &pages, mr->nents, 0)
		get_page(sg_page_iter_page(&pages));
	mr->held = true;
}

/**
 * rpcrdma2_mr_unmap - unmap the memory of an MR
 * @mr: an MR that is invalid or was never registered
 *
 * Context: process; does not sleep.
 */
void rpcrdma2_mr_unmap(struct rpcrdma2_mr *mr)
{
	struct sg_page_iter pages;

	if (mr->state == RPCRDMA2_MR_FREE)
		return;
	if (rpcrdma2_devmem_has_ops() && mr->devmem)
		rpcrdma2_devmem_unmap(mr);
	else
		ib_dma_unmap_sg_attrs(mr->pool->conn->cm_id->device, mr->sgt.sgl,
				      mr->nents, mr->dir,
				      mr->skip_sync ? DMA_ATTR_SKIP_CPU_SYNC : 0);
	if (mr->held)
		for_each_sg_page(mr->sgt.sgl, &pages, mr->nents, 0)
			put_page(sg_page_iter_page(&pages));
	mr->held = false;
	mr->state = RPCRDMA2_MR_FREE;
}

/**
 * rpcrdma2_mr_reg_wr - build the registration of a mapped MR
 * @mr: MR in state MAPPED; VALID afterwards
 * @next: work request behind it
 *
 * Context: any.
 * Return: the work request, first of the chain.
 */
struct ib_send_wr *rpcrdma2_mr_reg_wr(struct rpcrdma2_mr *mr,
				      struct ib_send_wr *next)
{
	struct ib_reg_wr *reg = &mr->reg;

	reg->wr.next = next;
	reg->key = mr->ibmr->rkey;
	reg->access = mr->dir == DMA_TO_DEVICE ? IB_ACCESS_REMOTE_READ :
		      IB_ACCESS_REMOTE_WRITE | IB_ACCESS_LOCAL_WRITE;
	mr->state = RPCRDMA2_MR_VALID;
	return &reg->wr;
}

/**
 * rpcrdma2_mr_inv_wr - build the local invalidation of a valid MR
 * @mr: MR in state VALID
 * @next: work request behind it, NULL if this is the last
 * @cqe: completion, NULL for a work request that is not signaled
 *
 * Context: any.
 * Return: the work request, first of the chain.
 */
struct ib_send_wr *rpcrdma2_mr_inv_wr(struct rpcrdma2_mr *mr,
				      struct ib_send_wr *next, struct ib_cqe *cqe)
{
	struct ib_send_wr *inv = &mr->inv;

	inv->next = next;
	inv->wr_cqe = cqe ?: &mr->pool->cqe;
	inv->send_flags = cqe ? IB_SEND_SIGNALED : 0;
	inv->ex.invalidate_rkey = mr->seg.handle;
	return inv;
}

/**
 * rpcrdma2_mr_pool_memory - memory that a pool uses
 * @pool: the pool
 *
 * Context: any.
 * Return: bytes
 */
size_t rpcrdma2_mr_pool_memory(const struct rpcrdma2_mr_pool *pool)
{
	size_t each = kmalloc_size_roundup(sizeof(struct rpcrdma2_mr));

	/* For display: the pool may just be opened */
	return data_race(pool->count * (each + pool->depth *
					sizeof(struct scatterlist)));
}
