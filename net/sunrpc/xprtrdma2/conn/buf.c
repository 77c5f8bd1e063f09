// SPDX-License-Identifier: GPL-2.0
/*
 * Memory for messages: contiguous, and not rounded up to a power of two as by
 * kmalloc(). The sizes that the policy asks for are a little more than one.
 *
 * Writeback and swap wait for this transport, so its allocations follow these rules:
 *
 * - A completion handler does not wait for memory (RPCRDMA2_GFP_NOWAIT). If an allocation
 *   fails, a work item repeats it.
 * - A work item does not retry long, and handles failure. Where a mount holds swap, it
 *   takes from the reserves (rpcrdma2_reclaim_enter()).
 * - A thread that executes RPCs may wait, but without I/O.
 */
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include "conn/buf.h"

/* Pages are used where kmalloc() would waste a page or more. */
static bool buf_is_pages(u32 size)
{
	return kmalloc_size_roundup(size) >= size + PAGE_SIZE;
}

/**
 * rpcrdma2_buf_bytes - get the memory that a buffer takes
 * @size: size of the buffer, bytes
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
 * rpcrdma2_buf_gfp - get flags for an allocation that may wait
 *
 * Context: work item or thread.
 * Return: flags that follow the rule at the top of this file
 */
gfp_t rpcrdma2_buf_gfp(void)
{
	return GFP_NOIO | __GFP_NOWARN |
	       (current->flags & PF_WQ_WORKER ? __GFP_NORETRY : 0);
}

/**
 * rpcrdma2_reclaim_enter - begin work that memory reclaim may wait for
 * @swapping: the work may include pages that are swapped out
 *
 * Until rpcrdma2_reclaim_exit() no allocation does I/O, and if @swapping none waits: they
 * take from the reserves.
 *
 * Context: process. May be nested.
 * Return: flags of the task, for rpcrdma2_reclaim_exit()
 */
unsigned int rpcrdma2_reclaim_enter(bool swapping)
{
	unsigned int was = current->flags;

	current->flags |= PF_MEMALLOC_NOIO | (swapping ? PF_MEMALLOC : 0);
	return was;
}

/**
 * rpcrdma2_reclaim_exit - end such work
 * @was: from rpcrdma2_reclaim_enter()
 *
 * Context: process.
 */
void rpcrdma2_reclaim_exit(unsigned int was)
{
	current_restore_flags(was, PF_MEMALLOC_NOIO | PF_MEMALLOC);
}

/**
 * rpcrdma2_buf_alloc - allocate a contiguous buffer for messages
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
 * rpcrdma2_buf_free - free a buffer
 * @buf: from rpcrdma2_buf_alloc()
 * @size: as passed there
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
