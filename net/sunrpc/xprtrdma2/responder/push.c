// SPDX-License-Identifier: GPL-2.0
/*
 * Push: makes RDMA Writes for the results of a Reply that go to Write chunks, and for
 * the stream that goes to the Reply chunk. reply.c has decided on both before; batch.c
 * posts RDMA Writes that do not fit into one post.
 *
 * Process context, the executor's thread. The Call belongs to the caller, so
 * there is nothing to lock.
 */
#include <linux/mm.h>

#include "responder/responder_impl.h"

static int gather_kvec(struct rpcrdma2_gather *g, const struct kvec *vec)
{
	u32 n, off, done = 0;
	struct page *page;
	int ret;

	for (; done < vec->iov_len; done += n) {
		page = virt_to_page(vec->iov_base + done);
		off = offset_in_page(vec->iov_base + done);
		n = min_t(u32, vec->iov_len - done, PAGE_SIZE - off);
		ret = rpcrdma2_rws_add(g, &page, off, n);
		if (ret)
			return ret;
	}
	return 0;
}

static int gather_range(struct rpcrdma2_gather *g, const struct xdr_buf *xdr,
			u32 pos, u32 len)
{
	struct xdr_buf range;

	if (xdr_buf_subsegment(xdr, &range, pos, len))
		return -EMSGSIZE;
	return gather_kvec(g, &range.head[0]) ?:
	       rpcrdma2_rws_add(g, range.pages + (range.page_base >> PAGE_SHIFT),
				offset_in_page(range.page_base), range.page_len) ?:
	       gather_kvec(g, &range.tail[0]);
}

/**
 * rpcrdma2_reply_push_results - RDMA Writes for the reduced results
 * @call: the Call, with @written and @results set. The RDMA Writes are added to @todo
 *	and their work requests to @nwrs
 * @xdr: the Reply
 *
 * CHK-15, CHK-16, LNG-13.
 *
 * Context: process; may sleep for memory.
 * Return: 0, -EMSGSIZE if the Reply does not fit the chunks, or another negative
 * errno. The caller releases @todo after an error.
 */
int rpcrdma2_reply_push_results(struct rpcrdma2_svc_call *call,
				const struct xdr_buf *xdr)
{
	struct rpcrdma2_stats *stats = call->conn->p.stats;
	const struct rpcrdma2_item *result = call->results;
	struct rpcrdma2_cursor list;
	u32 chunk;
	int ret;

	rpcrdma2_write_list_begin(call->hdr.call, &list);
	for (chunk = 0; chunk < call->hdr.nwritten; chunk++) {
		struct rpcrdma2_gather g = {
			.call	= call,
			.dir	= DMA_TO_DEVICE,
			.left	= call->written[chunk],
		};

		if (!rpcrdma2_write_list_next(&list, &g.segs))
			return -EMSGSIZE;
		if (!call->written[chunk])
			continue;
		ret = gather_range(&g, xdr, result->position, result->length) ?:
		      rpcrdma2_rws_close(&g);
		if (ret)
			return ret;
		rpcrdma2_stat_inc(stats, write_chunks);
		rpcrdma2_stat_add(stats, write_bytes, call->written[chunk]);
		result++;
	}
	return 0;
}

/**
 * rpcrdma2_reply_push_stream - RDMA Writes for the Reply chunk
 * @call: the Call. The RDMA Writes are added to @todo and their work requests to @nwrs
 * @xdr: the Reply; the stream without reduced results is written
 *
 * LNG-2, LNG-5, LNG-8.
 *
 * Context: process; may sleep for memory.
 * Return: 0, -EMSGSIZE if the Reply does not fit the chunks, or another negative
 * errno. The caller releases @todo after an error.
 */
int rpcrdma2_reply_push_stream(struct rpcrdma2_svc_call *call,
			       const struct xdr_buf *xdr)
{
	struct rpcrdma2_gather g = {
		.call	= call,
		.dir	= DMA_TO_DEVICE,
		.left	= call->reply_bytes,
	};
	struct rpcrdma2_range range = { };
	int ret = 0;

	if (!rpcrdma2_hdr_reply_chunk(call->hdr.call, &g.segs))
		return -EMSGSIZE;
	while (!ret && rpcrdma2_range_next(&range, call, xdr))
		ret = gather_range(&g, xdr, range.pos, range.len);
	ret = ret ?: rpcrdma2_rws_close(&g);
	if (ret)
		return ret;
	rpcrdma2_stat_inc(call->conn->p.stats, reply_chunks);
	rpcrdma2_stat_add(call->conn->p.stats, reply_chunk_bytes, call->reply_bytes);
	return 0;
}
