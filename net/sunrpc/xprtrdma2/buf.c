// SPDX-License-Identifier: GPL-2.0
/*
 * Memory for messages: contiguous, and not rounded up to a power of two as by
 * kmalloc(). The sizes that the policy asks for are a little more than one.
 */
#include <linux/gfp.h>
#include <linux/mm.h>
#include <linux/slab.h>

#include "conn.h"

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
 * rpcrdma2_buf_alloc - a buffer for messages, contiguous
 * @size: bytes
 * @gfp: as for kmalloc()
 * @node: NUMA node, or NUMA_NO_NODE
 *
 * Context: as @gfp allows.
 * Return: the buffer, for rpcrdma2_buf_free(), or NULL
 */
void *rpcrdma2_buf_alloc(u32 size, gfp_t gfp, int node)
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
