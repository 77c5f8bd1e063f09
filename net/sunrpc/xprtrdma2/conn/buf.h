/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Memory for messages, and rules for allocations; see buf.c.
 */
#ifndef _RPCRDMA2_BUF_H
#define _RPCRDMA2_BUF_H

#include <linux/gfp.h>
#include <linux/sunrpc/xdr.h>

/* For a completion handler, which must cope with failure */
#define RPCRDMA2_GFP_NOWAIT	(GFP_NOWAIT | __GFP_NOWARN)

void *rpcrdma2_buf_alloc(u32 size, int node, gfp_t gfp);
void rpcrdma2_buf_free(void *buf, u32 size);
size_t rpcrdma2_buf_bytes(u32 size);

gfp_t rpcrdma2_buf_gfp(void);

/* Pages that @len bytes touch if the first is at @offset in its page. */
static inline u32 rpcrdma2_pages_spanned(u32 offset, u32 len)
{
	return len ? DIV_ROUND_UP(offset + len, PAGE_SIZE) : 0;
}

/* A faster read_bytes_from_xdr_buf(), which takes a hundred instructions: most messages
 * are only a head.
 */
static inline int rpcrdma2_xdr_read(const struct xdr_buf *xdr, u32 pos,
				    void *to, u32 len)
{
	if (pos + len > xdr->head[0].iov_len)
		return read_bytes_from_xdr_buf(xdr, pos, to, len);
	memcpy(to, xdr->head[0].iov_base + pos, len);
	return 0;
}

unsigned int rpcrdma2_reclaim_enter(bool swapping);
void rpcrdma2_reclaim_exit(unsigned int was);

#endif /* _RPCRDMA2_BUF_H */
