// SPDX-License-Identifier: GPL-2.0
/*
 * Memory for messages: contiguous, and not rounded up to a power of two as by
 * kmalloc(). The sizes that the policy asks for are a little more than one.
 *
 * And the rule by which this transport asks for memory, which others wait for
 * it to free (writeback, swap):
 *
 * - A completion handler does not wait for memory (RPCRDMA2_GFP_NOWAIT). What it
 *   cannot have at once is left to a work item.
 * - A work item asks once, and is told if there is none. Where a mount holds
 *   swap it takes from the reserves (rpcrdma2_reclaim_enter()).
 * - A thread that executes RPCs may wait, but does no I/O for it.
 */
#include <linux/mm.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>

#include "conn/buf.h"

/* Does kmalloc() waste a page or more? */
static bool buf_is_pages(u32 size)
{
	return kmalloc_size_roundup(size) >= size + PAGE_SIZE;
}

/**
 * rpcrdma2_buf_bytes - memory that a buffer takes
 * @size: bytes wanted of it
 *
 * Context: any.
 * Return: bytes
 */
size_t rpcrdma2_buf_bytes(u32 size)
{
	return buf_is_pages(size) ? PAGE_ALIGN(size) :
				    kmalloc_size_roundup(size);
}

/**
 * rpcrdma2_buf_gfp - how to ask for memory where that may wait
 *
 * Context: work item or thread.
 * Return: flags that follow the rule at the top of this file
 */
gfp_t rpcrdma2_buf_gfp(void)
{
	if (current->flags & PF_WQ_WORKER)
		return GFP_NOIO | __GFP_NORETRY | __GFP_NOWARN;
	return GFP_NOIO | __GFP_NOWARN;
}

/**
 * rpcrdma2_reclaim_enter - begin what others wait for to get memory
 * @swapping: pages that are swapped out may be among it
 *
 * Until rpcrdma2_reclaim_exit() nobody who is called asks for memory that
 * takes I/O, and if @swapping for none that has to be waited for: the reserves
 * are there for this.
 *
 * Context: process. May be nested.
 * Return: for rpcrdma2_reclaim_exit()
 */
struct rpcrdma2_reclaim rpcrdma2_reclaim_enter(bool swapping)
{
	struct rpcrdma2_reclaim was = { .swapping = swapping };

	was.noio = memalloc_noio_save();
	if (swapping)
		was.noreclaim = memalloc_noreclaim_save();
	return was;
}

/**
 * rpcrdma2_reclaim_exit - end it
 * @was: as from rpcrdma2_reclaim_enter()
 *
 * Context: process.
 */
void rpcrdma2_reclaim_exit(struct rpcrdma2_reclaim was)
{
	if (was.swapping)
		memalloc_noreclaim_restore(was.noreclaim);
	memalloc_noio_restore(was.noio);
}

/**
 * rpcrdma2_buf_alloc - a buffer for messages, contiguous
 * @size: bytes
 * @node: NUMA node, or NUMA_NO_NODE
 * @gfp: rpcrdma2_buf_gfp() or RPCRDMA2_GFP_NOWAIT
 *
 * Context: process; sleeps as @gfp says.
 * Return: the buffer, for rpcrdma2_buf_free(), or NULL
 */
void *rpcrdma2_buf_alloc(u32 size, int node, gfp_t gfp)
{
	unsigned int i, order = get_order(size);
	struct page *page;

	if (!buf_is_pages(size))
		return kmalloc_node(size, gfp, node);
	page = alloc_pages_node(node, gfp, order);
	if (!page)
		return NULL;
	split_page(page, order);
	for (i = PAGE_ALIGN(size) >> PAGE_SHIFT; i < 1U << order; i++)
		__free_page(page + i);
	return page_address(page);
}

/**
 * rpcrdma2_buf_free - give back a buffer
 * @buf: from rpcrdma2_buf_alloc()
 * @size: as told there
 *
 * Context: any.
 */
void rpcrdma2_buf_free(void *buf, u32 size)
{
	if (buf_is_pages(size))
		free_pages_exact(buf, size);
	else
		kfree(buf);
}
