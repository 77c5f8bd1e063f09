// SPDX-License-Identifier: GPL-2.0
/*
 * Pull: brings the Read chunks of a Call over and puts its argument together.
 *
 * Contexts: deferred work finds and maps memory for RDMA Reads, and posts them (batch.c).
 * They end in a completion handler, which leaves the next ones to deferred work again. Nothing
 * here waits for the send queue. A step for which deferred work finds no memory is taken
 * by a thread of the executor, which gives pages of its own
 * (rpcrdma2_call_pull()), so that the path of a WRITE does not depend on new memory.
 *
 * resp->lock protects the stash of pages.
 */
#include <linux/gfp.h>
#include <linux/mm.h>
#include <linux/sunrpc/msg_prot.h>

#include "responder/batch.h"
#include "conn/buf.h"
#include "proto/chunk_list.h"
#include "compat.h"
#include "responder/pull.h"
#include "responder/reply.h"
#include <trace/events/rpcrdma2.h>

/* The least that a WRITE of NFSv4 with a byte of data takes */
#define RPCRDMA2_WRITE_OP	40U

/* Where the Read chunk at @position belongs; -E2BIG if there are too many. */
static int chunk_at(struct rpcrdma2_svc_call *call, u32 position)
{
	u32 i, n = call->nchunks;

	for (i = 0; i < n; i++) {
		if (call->chunks[i].position == position)
			return i;
		if (call->chunks[i].position > position)
			break;
	}
	if (n == ARRAY_SIZE(call->chunks))
		return -E2BIG;
	memmove(&call->chunks[i + 1], &call->chunks[i],
		(n - i) * sizeof(call->chunks[0]));
	call->chunks[i].position = position;
	call->chunks[i].length = 0;
	call->nchunks++;
	return i;
}

/**
 * rpcrdma2_call_sort_reads - sort the Read list of a Call into chunks
 * @call: the Call; @chunks, @pz_len, @read_bytes and @ctxs are set
 *
 * The segments may come in any order (CHK-11, CHK-12).
 *
 * Context: process; takes no locks.
 * Return: false if there is more than a message may be, or too many chunks.
 */
bool rpcrdma2_call_sort_reads(struct rpcrdma2_svc_call *call)
{
	struct rpcrdma2_segment seg;
	struct rpcrdma2_cursor c;
	u32 position, segs = 0;
	u64 total = 0;
	int i;

	call->nchunks = 0;
	call->pz_len = 0;
	rpcrdma2_read_list_begin(&call->rx->hdr, &c);
	while (rpcrdma2_read_list_next(&c, &position, &seg)) {
		total += seg.length;
		if (total > call->resp->limits.bytes)
			return false;
		segs++;
		if (!position) {
			call->pz_len += seg.length;
			continue;
		}
		i = chunk_at(call, position);
		if (i < 0)
			return false;
		call->chunks[i].length += seg.length;
	}
	call->read_bytes = total;
	/* More than one for what does not fit into one */
	segs += (u32)total / (RPCRDMA2_RW_PAGES * PAGE_SIZE);
	call->ctxs = clamp(segs, 1U, call->conn->p.rw_ctxs);
	return true;
}

/* Where in the pages the byte at @pos of the stream belongs. */
static u32 call_place(const struct rpcrdma2_svc_call *call, u32 pos)
{
	return pos - call->head;
}

/* Where in its page the first payload begins. */
static u32 call_payload_offset(const struct rpcrdma2_svc_call *call)
{
	u32 pos = call->nchunks ? call->chunks[0].position : 0;

	return offset_in_page(call_place(call, pos));
}

/* How many bytes of the stream can stay in the Receive? Those in front of the only
 * chunk, if the length in front of the chunk is that of the chunk, and what follows
 * is too short for another WRITE: before Linux 7, nfsd finds a payload only in the
 * head and at the beginning of a page.
 */
static u32 call_head(const struct rpcrdma2_svc_call *call)
{
	const struct rpcrdma2_hdr *hdr = &call->rx->hdr;
	const struct rpcrdma2_read_chunk *chunk = &call->chunks[0];
	u32 length;

	if (hdr->has_pz || call->nchunks != 1 ||
	    hdr->body_len - chunk->position >= RPCRDMA2_WRITE_OP)
		return 0;
	length = get_unaligned_be32(hdr->body + chunk->position - sizeof(length));
	return xdr_align_size(length) == xdr_align_size((u64)chunk->length) ?
	       chunk->position : 0;
}

/**
 * rpcrdma2_call_lay_out - decide where the argument of a Call will be
 * @call: sorted by rpcrdma2_call_sort_reads(); @stream, @head and @npages are set
 *
 * The un-reduced stream is the inline part or the Position-Zero chunk with
 * the other chunks put in. Its size is not checked here.
 *
 * The payload of a WRITE begins at a page boundary: nfsd needs that for direct
 * I/O, and copies each page from one page. Everything behind the payload follows
 * in the same pages without a gap. nfsd does not look at the tail of an xdr_buf,
 * and a chunk may be shorter than the count in front of the chunk: nfsd would
 * read beyond the pages if the rest of the stream were in the tail.
 *
 * Context: process; takes no locks.
 * Return: false if a Position is not within the stream.
 */
bool rpcrdma2_call_lay_out(struct rpcrdma2_svc_call *call)
{
	const struct rpcrdma2_hdr *hdr = &call->rx->hdr;
	u32 left = hdr->has_pz ? call->pz_len : hdr->body_len;
	u64 pos = 0;
	u32 i;

	for (i = 0; i < call->nchunks; i++) {
		const struct rpcrdma2_read_chunk *chunk = &call->chunks[i];

		if (chunk->position < pos || chunk->position - pos > left)
			return false;
		left -= chunk->position - pos;
		pos = chunk->position + xdr_align_size((u64)chunk->length);
	}
	pos += left;
	/* call_check_reads() sees whether this is too much */
	call->stream = min_t(u64, pos, U32_MAX);

	call->head = call_head(call);
	call->npages = DIV_ROUND_UP(call->stream - call->head, PAGE_SIZE);
	call->first_page = 0;
	return true;
}

static void rw_set_sink(struct rpcrdma2_rw *rw, struct page **pages, u32 sink,
			u32 len)
{
	u32 n;

	while (len) {
		n = min_t(u32, len, PAGE_SIZE - offset_in_page(sink));
		rpcrdma2_rw_append(rw, pages[sink >> PAGE_SHIFT],
				   offset_in_page(sink), n);
		sink += n;
		len -= n;
	}
}

/* RDMA Reads of @len bytes at @seg into the pages from @sink on. */
static int call_read_seg(struct rpcrdma2_svc_call *call,
			 const struct rpcrdma2_segment *seg, u32 skip,
			 u32 len, u32 sink)
{
	u32 max = rpcrdma2_rw_max_nents(call->conn, DMA_FROM_DEVICE);
	struct rpcrdma2_rw *rw;
	u32 n, nents;

	while (len) {
		n = min_t(u32, len, (max << PAGE_SHIFT) - offset_in_page(sink));
		nents = DIV_ROUND_UP(offset_in_page(sink) + n, PAGE_SIZE);
		rw = rpcrdma2_rw_alloc(nents);
		if (!rw)
			return -ENOMEM;
		rw->dir = DMA_FROM_DEVICE;
		rw->handle = seg->handle;
		rw->offset = seg->offset + skip;
		rw_set_sink(rw, call->pages, sink, n);
		list_add_tail(&rw->list, &call->todo);
		skip += n;
		sink += n;
		len -= n;
	}
	return 0;
}

/* RDMA Reads of @len bytes of the chunk at @position, the first @skip bytes
 * left out.
 */
static int call_read_chunk(struct rpcrdma2_svc_call *call, u32 position,
			   u32 skip, u32 len, u32 sink)
{
	struct rpcrdma2_segment seg;
	struct rpcrdma2_cursor c;
	u32 at, n;
	int ret;

	rpcrdma2_read_list_begin(&call->rx->hdr, &c);
	while (len && rpcrdma2_read_list_next(&c, &at, &seg)) {
		if (at != position)
			continue;
		if (skip >= seg.length) {
			skip -= seg.length;
			continue;
		}
		n = min(len, seg.length - skip);
		ret = call_read_seg(call, &seg, skip, n, sink);
		if (ret)
			return ret;
		skip = 0;
		sink += n;
		len -= n;
	}
	return 0;
}

/* All RDMA Reads of the Call, not mapped yet. */
static int call_build_reads(struct rpcrdma2_svc_call *call)
{
	bool pz = call->rx->hdr.has_pz;
	u32 i, gap, pos = call->head, used = call->head;
	int ret = 0;

	for (i = 0; i < call->nchunks; i++) {
		const struct rpcrdma2_read_chunk *chunk = &call->chunks[i];

		gap = chunk->position - pos;
		if (pz && gap)
			ret = call_read_chunk(call, 0, used, gap,
					      call_place(call, pos));
		if (!ret)
			ret = call_read_chunk(call, chunk->position, 0,
					      chunk->length,
					      call_place(call, chunk->position));
		if (ret)
			return ret;
		used += gap;
		pos = chunk->position + xdr_align_size(chunk->length);
	}
	if (pz)
		ret = call_read_chunk(call, 0, used, call->pz_len - used,
				      call_place(call, pos));
	return ret;
}

static u32 stash_take(struct rpcrdma2_responder *resp, struct page **pages,
		      u32 count)
{
	u32 n = 0;

	spin_lock(&resp->lock);
	while (n < count && resp->stashed)
		pages[n++] = resp->stash[--resp->stashed];
	spin_unlock(&resp->lock);
	return n;
}

static void stash_put(struct rpcrdma2_responder *resp, struct page **pages,
		      u32 count)
{
	u32 n = 0, most = min(resp->max_pages, RPCRDMA2_STASH);

	spin_lock(&resp->lock);
	while (n < count && resp->stashed < most)
		resp->stash[resp->stashed++] = pages[n++];
	spin_unlock(&resp->lock);
	while (n < count)
		put_page(pages[n++]);
}

/* Memory for the RDMA Reads. Returns -ENOMEM with what could be had. */
static int call_get_memory(struct rpcrdma2_svc_call *call)
{
	u32 have = 0;
	int ret;

	ret = rpcrdma2_call_room(call, call->npages);
	if (ret)
		return ret;
	while (have < call->npages && call->pages[have])
		have++;
	have += stash_take(call->resp, call->pages + have,
			   call->npages - have);
	if (have < call->npages &&
	    alloc_pages_bulk(rpcrdma2_buf_gfp(), call->npages, call->pages) <
			call->npages)
		return -ENOMEM;
	if (!list_empty(&call->todo))
		return 0;
	ret = call_build_reads(call);
	if (ret)
		rpcrdma2_rws_release(call->conn, &call->todo);
	return ret;
}

static void *call_byte(const struct rpcrdma2_svc_call *call, u32 pos)
{
	u32 place = call_place(call, pos);

	return page_address(call->pages[place >> PAGE_SHIFT]) +
	       offset_in_page(place);
}

static void call_zero(struct rpcrdma2_svc_call *call, u32 pos, u32 len)
{
	/* XDR padding never crosses a page */
	if (len)
		memset(call_byte(call, pos), 0, len);
}

static void call_copy(struct rpcrdma2_svc_call *call, u32 pos, const u8 *src,
		      u32 len)
{
	u32 n;

	while (len) {
		n = min_t(u32, len,
			  PAGE_SIZE - offset_in_page(call_place(call, pos)));
		memcpy(call_byte(call, pos), src, n);
		pos += n;
		src += n;
		len -= n;
	}
}

/* Put in what RDMA Reads did not bring: the inline parts, the padding. */
static void call_fill(struct rpcrdma2_svc_call *call)
{
	const struct rpcrdma2_hdr *hdr = &call->rx->hdr;
	u32 i, gap, pos = call->head, used = call->head;

	for (i = 0; i < call->nchunks; i++) {
		const struct rpcrdma2_read_chunk *chunk = &call->chunks[i];

		gap = chunk->position - pos;
		if (!hdr->has_pz)
			call_copy(call, pos, hdr->body + used, gap);
		used += gap;
		pos = chunk->position + chunk->length;
		call_zero(call, pos, xdr_pad_size(chunk->length));
		pos = chunk->position + xdr_align_size(chunk->length);
	}
	if (!hdr->has_pz)
		call_copy(call, pos, hdr->body + used, hdr->body_len - used);
}

/* The header's word about the message in a Position-Zero chunk was not
 * proved when it was decoded (HDR-6, HDR-7, FLG-5).
 */
static bool call_pz_is_call(const struct rpcrdma2_svc_call *call)
{
	const __be32 *p;

	if (call->stream < 2 * sizeof(*p))
		return false;
	p = page_address(call->pages[0]);
	return be32_to_cpu(p[0]) == call->rx->hdr.xid && p[1] == rpc_call;
}

/* Everything is here. */
static void call_complete(struct rpcrdma2_svc_call *call)
{
	struct rpcrdma2_stats *stats = call->conn->p.stats;

	call_fill(call);
	if (call->rx->hdr.has_pz) {
		rpcrdma2_stat_inc(stats, pz_chunks);
		if (!call_pz_is_call(call)) {
			rpcrdma2_stat_inc(stats, rx_malformed);
			rpcrdma2_call_refuse(call, RDMA2_ERR_BAD_XDR, 0);
			return;
		}
	}
	rpcrdma2_stat_add(stats, read_chunks, call->nchunks);
	rpcrdma2_stat_add(stats, read_bytes, call->read_bytes);
	rpcrdma2_call_ready(call, RPCRDMA2_CALL_READY);
}

static void reads_done(struct rpcrdma2_svc_call *call, int status)
{
	if (status)
		rpcrdma2_call_release(call);
	else if (list_empty(&call->todo))
		call_complete(call);
	else
		rpcrdma2_conn_defer(call->conn, &call->deferred);
}

/* Post the next RDMA Reads, as soon as the send queue has room. After an error
 * nothing is posted or mapped.
 */
static int call_pull_step(struct rpcrdma2_svc_call *call)
{
	int ret;

	ret = call_get_memory(call);
	if (ret)
		return ret;
	if (list_empty(&call->todo)) {
		call_complete(call);	/* nothing but empty segments */
		return 0;
	}
	ret = rpcrdma2_batch_map(call, call->ctxs);
	if (ret < 0)
		return ret;
	trace_rpcrdma2_call_reads(call->conn, call->rx->hdr.xid,
				  call->read_bytes, ret,
				  call_payload_offset(call));
	rpcrdma2_batch_post(call, ret, reads_done);
	return 0;
}

/**
 * rpcrdma2_call_pull - pull the Read chunks with a thread's help
 * @call: a Call for which rpcrdma2_call_wants_pages() is true
 * @pages: the thread's pages, at least the responder's limit of bytes; some
 *	are taken and their entries become NULL
 *
 * ops->ready() is called again when the argument is complete. If even a
 * thread gets no memory the connection is given up, so that the client sends
 * the Call again later instead of failing it.
 *
 * Context: process; may sleep for memory.
 */
void rpcrdma2_call_pull(struct rpcrdma2_svc_call *call, struct page **pages)
{
	u32 i;
	int ret;

	rpcrdma2_call_set_state(call, RPCRDMA2_CALL_PULLING);
	ret = rpcrdma2_call_room(call, call->npages);
	for (i = 0; !ret && i < call->npages; i++)
		if (!call->pages[i])
			swap(call->pages[i], pages[i]);
	if (!ret)
		ret = call_pull_step(call);
	if (ret) {
		rpcrdma2_conn_kill(call->conn, ret);
		rpcrdma2_call_release(call);
	}
}

/* Begin to pull the Read chunks of a Call, or go on. */
static void call_pull_deferred(struct rpcrdma2_deferred *deferred)
{
	struct rpcrdma2_svc_call *call =
		container_of(deferred, struct rpcrdma2_svc_call, deferred);

	/* Without memory, a thread of the executor tries again */
	if (call_pull_step(call))
		rpcrdma2_call_ready(call, RPCRDMA2_CALL_WANTS_PAGES);
}

/**
 * rpcrdma2_call_start_pull - pull the Read chunks of a Call that arrived
 * @call: laid out by rpcrdma2_call_lay_out(), within the limits
 *
 * rpcrdma2_call_ready() follows when the argument is complete, or when a
 * thread has to help because memory is short. It begins when those before it
 * have left it enough memory.
 *
 * Context: deferred work. @call may be gone on return.
 */
void rpcrdma2_call_start_pull(struct rpcrdma2_svc_call *call)
{
	call->deferred.run = call_pull_deferred;
	if (rpcrdma2_call_begin_pull(call))
		call_pull_deferred(&call->deferred);
}

/**
 * rpcrdma2_call_arg - the argument of a Call
 * @call: a Call that is ready
 * @arg: filled in; what was inline in front of the only Read chunk, and a Call
 *	without Read chunks, stays in the Receive until rpcrdma2_call_release()
 * @pages: pages of the thread that executes the Call. The first ones are
 *	exchanged for those that hold the argument
 *
 * Context: process.
 * Return: entries of @pages that belong to the argument.
 */
u32 rpcrdma2_call_arg(struct rpcrdma2_svc_call *call, struct xdr_buf *arg,
		      struct page **pages)
{
	u32 i, n = call->npages;

	for (i = 0; i < n; i++)
		swap(call->pages[i], pages[i]);

	memset(arg, 0, sizeof(*arg));
	arg->pages = pages;
	arg->head[0].iov_base = (void *)call->rx->hdr.body;
	arg->head[0].iov_len = call->head;
	if (n && !call->head) {
		arg->head[0].iov_base = page_address(pages[0]);
		arg->head[0].iov_len = min_t(u32, call->stream, PAGE_SIZE);
		arg->pages++;
	}
	arg->page_len = call->stream - arg->head[0].iov_len;
	arg->len = call->stream;
	arg->buflen = arg->len;

	if (n) {
		stash_put(call->resp, call->pages, n);
		memset(call->pages, 0, n * sizeof(call->pages[0]));
		call->npages = 0;
	}
	rpcrdma2_call_end_pull(call);
	return n;
}
