// SPDX-License-Identifier: GPL-2.0
/*
 * Pull: fetches the Read chunks of a Call and assembles its argument.
 *
 * Contexts: deferred work allocates and maps memory for RDMA Reads, and posts them
 * (batch.c). They end in a completion handler, which leaves the next ones to deferred
 * work. Nothing here waits for the send queue. If deferred work finds no memory, a
 * thread of the executor takes the step with pages of its own (rpcrdma2_call_pull()),
 * so that a WRITE does not depend on new memory.
 *
 * resp->lock protects the stash of pages.
 */
#include <linux/mm.h>
#include <linux/sunrpc/msg_prot.h>

#include "compat.h"
#include "responder/responder_impl.h"
#include <trace/events/rpcrdma2.h>

/* For runs of pages, in whose place single pages do as well: no memory is reclaimed or compacted,
 * none comes from reserves, and none from another node
 */
#define PULL_GFP_RUN	(__GFP_NOWARN | __GFP_NOMEMALLOC | __GFP_THISNODE)

/* Minimum length of a WRITE of NFSv4 with one byte of data */
#define RPCRDMA2_WRITE_OP	40U

/* Index of the Read chunk at @position; -E2BIG if there are too many. */
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

/* Sort the segments of the Read list, which come in any order (CHK-11, CHK-12), into
 * chunks. Sets @nchunks, @chunks, @pz_len, @read_bytes and @ctxs. Returns false if there
 * are more bytes than a message may have, or too many chunks.
 */
static bool call_sort_reads(struct rpcrdma2_svc_call *call)
{
	struct rpcrdma2_segment seg;
	struct rpcrdma2_cursor c;
	u32 position, segs = 0;
	u64 total = 0;
	int i;

	call->pz_len = 0;
	call->nchunks = 0;
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
	/* A long segment needs more than one context */
	segs += (u32)total / (RPCRDMA2_RW_PAGES * PAGE_SIZE);
	call->ctxs = clamp(segs, 1U, call->conn->p.rw_ctxs);
	return true;
}

/* Number of bytes of the stream that can stay in the Receive: those in front of the
 * only chunk, if the length in front of the chunk is that of the chunk, and the rest
 * is too short for another WRITE. Before Linux 7, nfsd finds a payload only in the
 * head and at the beginning of a page.
 */
static u32 call_head(const struct rpcrdma2_svc_call *call)
{
	const struct rpcrdma2_hdr *hdr = &call->rx->hdr;
	const struct rpcrdma2_item *chunk = &call->chunks[0];
	u32 length;

	if (hdr->has_pz || call->nchunks != 1 ||
	    hdr->body_len - chunk->position >= RPCRDMA2_WRITE_OP)
		return 0;
	length = get_unaligned_be32(hdr->body + chunk->position - sizeof(length));
	return xdr_align_size(length) == xdr_align_size((u64)chunk->length) ?
	       chunk->position : 0;
}

/* Decide on the layout of the argument: set @stream, @head and @npages. Their size is
 * not checked here. Returns false if a Position is not within the stream.
 *
 * The un-reduced stream is the inline part or the Position-Zero chunk with the other
 * chunks inserted; the pages have all of it but the head. The payload of a WRITE begins
 * at a page boundary: nfsd needs that for direct I/O, and copies each page from one page.
 * The rest of the stream follows in the same pages without a gap: nfsd ignores the tail
 * of an xdr_buf, and as a chunk may be shorter than the count in front of it, nfsd would
 * read beyond the pages if the rest were in the tail.
 */
static bool call_lay_out(struct rpcrdma2_svc_call *call)
{
	const struct rpcrdma2_hdr *hdr = &call->rx->hdr;
	u32 left = hdr->has_pz ? call->pz_len : hdr->body_len;
	u64 pos = 0;
	u32 i;

	for (i = 0; i < call->nchunks; i++) {
		const struct rpcrdma2_item *chunk = &call->chunks[i];

		if (chunk->position < pos || chunk->position - pos > left)
			return false;
		left -= chunk->position - pos;
		pos = chunk->position + xdr_align_size((u64)chunk->length);
	}
	pos += left;
	call->stream = min_t(u64, pos, U32_MAX);
	call->head = call_head(call);
	call->npages = DIV_ROUND_UP(call->stream - call->head, PAGE_SIZE);
	return true;
}

/* RDMA Reads of @len bytes of the chunk at @position, without its first @skip bytes,
 * to @pos of the stream
 */
static int call_read_chunk(struct rpcrdma2_svc_call *call, u32 position,
			   u32 skip, u32 len, u32 pos)
{
	struct rpcrdma2_gather g = { .call = call, .dir = DMA_FROM_DEVICE };
	struct rpcrdma2_segment seg;
	struct rpcrdma2_cursor c;
	u32 at, n, place;
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
		g.seg = seg;
		g.seg.offset += skip;
		g.seg.length = n;
		g.left = n;
		place = pos - call->head;
		ret = rpcrdma2_rws_add(&g, call->pages + (place >> PAGE_SHIFT),
				       offset_in_page(place), n) ?:
		      rpcrdma2_rws_close(&g);
		if (ret)
			return ret;
		skip = 0;
		pos += n;
		len -= n;
	}
	return 0;
}

static void call_copy(struct rpcrdma2_svc_call *call, u32 pos, const u8 *src, u32 len)
{
	u32 n, place = pos - call->head;

	while (len) {
		n = min_t(u32, len, PAGE_SIZE - offset_in_page(place));
		memcpy(page_address(call->pages[place >> PAGE_SHIFT]) +
		       offset_in_page(place), src, n);
		place += n;
		src += n;
		len -= n;
	}
}

/* Make all RDMA Reads of the Call, not mapped yet, and put the inline part and the
 * padding into the pages.
 */
static int call_build_reads(struct rpcrdma2_svc_call *call)
{
	static const u8 padding[XDR_UNIT];
	const struct rpcrdma2_hdr *hdr = &call->rx->hdr;
	u32 i, end, gap, pos = call->head, used = call->head;
	const struct rpcrdma2_item *chunk;
	int ret = 0;

	for (i = 0; i <= call->nchunks; i++) {
		chunk = &call->chunks[i];
		end = i < call->nchunks ? chunk->position : call->stream;
		gap = end - pos;
		if (hdr->has_pz)
			ret = call_read_chunk(call, 0, used, gap, pos);
		else
			call_copy(call, pos, hdr->body + used, gap);
		if (ret || i == call->nchunks)
			break;
		used += gap;
		ret = call_read_chunk(call, end, 0, chunk->length, end);
		if (ret)
			break;
		call_copy(call, end + chunk->length, padding,
			  xdr_pad_size(chunk->length));
		pos = end + xdr_align_size(chunk->length);
	}
	return ret;
}

/* Fill the entries of @pages that are NULL, as far as there are pages. From the end, which
 * keeps pages that are neighbours in memory next to each other, see rw_add().
 */
static void stash_take(struct rpcrdma2_responder *resp, struct page **pages, u32 count)
{
	u32 i;

	guard(spinlock)(&resp->lock);
	for (i = count; i-- && resp->stashed; )
		if (!pages[i])
			pages[i] = resp->stash[--resp->stashed];
}

static void stash_put(struct rpcrdma2_responder *resp, struct page **pages, u32 count)
{
	u32 n = 0, most = min(resp->max_pages, RPCRDMA2_STASH);

	spin_lock(&resp->lock);
	while (n < count && resp->stashed < most)
		resp->stash[resp->stashed++] = pages[n++];
	spin_unlock(&resp->lock);
	while (n < count)
		put_page(pages[n++]);
}

/* Fill empty entries with runs of neighbouring pages, which share an SGE of an RDMA Read, as far
 * as such memory is at hand.
 */
static void pages_take_runs(struct page **pages, u32 count)
{
	const unsigned int order = get_order(RPCRDMA2_SG_RUN);
	const u32 n = 1U << order;
	struct page *run;
	u32 i;

	for (; count >= n; pages += n, count -= n) {
		if (memchr_inv(pages, 0, n * sizeof(*pages)))
			continue;
		run = alloc_pages(PULL_GFP_RUN, order);
		if (!run)
			return;
		split_page(run, order);
		for (i = 0; i < n; i++)
			pages[i] = run + i;
	}
}

/* Get memory for the RDMA Reads: pages of a thread, if @pages is not NULL, those of the stash,
 * and new ones. After -ENOMEM the Call keeps the pages that it has got.
 */
static int call_get_memory(struct rpcrdma2_svc_call *call, struct page **pages)
{
	int ret;
	u32 i;

	ret = rpcrdma2_call_have_array(call, call->npages);
	if (ret)
		return ret;
	for (i = 0; pages && i < call->npages; i++)
		if (!call->pages[i])
			swap(call->pages[i], pages[i]);
	stash_take(call->resp, call->pages, call->npages);
	pages_take_runs(call->pages, call->npages);
	if (alloc_pages_bulk(rpcrdma2_buf_gfp(), call->npages, call->pages) <
			call->npages)
		return -ENOMEM;
	if (!list_empty(&call->todo))
		return 0;
	ret = call_build_reads(call);
	if (ret)
		rpcrdma2_rws_release(call->conn, &call->todo);
	return ret;
}

/* The decoder could not check that a Position-Zero chunk has the message that the
 * header describes (HDR-6, HDR-7, FLG-5).
 */
static bool call_pz_is_call(const struct rpcrdma2_svc_call *call)
{
	const __be32 *p;

	if (call->stream < 2 * sizeof(*p))
		return false;
	p = page_address(call->pages[0]);
	return be32_to_cpu(p[0]) == call->rx->hdr.xid && p[1] == rpc_call;
}

/* The argument is complete. */
static void call_complete(struct rpcrdma2_svc_call *call)
{
	struct rpcrdma2_stats *stats = call->conn->p.stats;

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

/* Post the next RDMA Reads as soon as the send queue has space. After an error none
 * are posted or mapped.
 */
static int call_pull_step(struct rpcrdma2_svc_call *call, struct page **pages)
{
	u32 payload = call->nchunks ? call->chunks[0].position : 0;
	int ret;

	ret = call_get_memory(call, pages);
	if (ret)
		return ret;
	if (list_empty(&call->todo)) {
		call_complete(call);	/* all segments are empty */
		return 0;
	}
	ret = rpcrdma2_batch_map(call, call->ctxs);
	if (ret < 0)
		return ret;
	trace_rpcrdma2_call_reads(call->conn, call->rx->hdr.xid,
				  call->read_bytes, ret,
				  offset_in_page(payload - call->head));
	rpcrdma2_batch_post(call, ret, reads_done);
	return 0;
}

/**
 * rpcrdma2_call_pull - pull the Read chunks with a thread's help
 * @call: a Call in state WANTS_PAGES
 * @pages: the thread's pages, at least the responder's limit of bytes; some
 *	are taken and their entries become NULL
 *
 * ops->ready() is called again when the argument is complete. If even a thread gets no
 * memory the connection is closed, so that the client sends the Call again later and
 * does not fail it.
 *
 * Context: process; may sleep for memory.
 */
void rpcrdma2_call_pull(struct rpcrdma2_svc_call *call, struct page **pages)
{
	int ret;

	rpcrdma2_call_set_state(call, RPCRDMA2_CALL_PULLING);
	ret = call_pull_step(call, pages);
	if (ret) {
		rpcrdma2_conn_kill(call->conn, ret);
		rpcrdma2_call_release(call);
	}
}

static void call_pull_deferred(struct rpcrdma2_deferred *deferred)
{
	struct rpcrdma2_svc_call *call =
		container_of(deferred, struct rpcrdma2_svc_call, deferred);

	/* Without memory, a thread of the executor tries again */
	if (call_pull_step(call, NULL))
		rpcrdma2_call_ready(call, RPCRDMA2_CALL_WANTS_PAGES);
}

/**
 * rpcrdma2_call_start_pull - pull the Read chunks of a Call that arrived
 * @deferred: member of the Call, whose header is within the limits
 *
 * rpcrdma2_call_ready() follows when the argument is complete, or when memory is short
 * and a thread has to help. The Call first waits until earlier ones have left enough
 * memory.
 *
 * Context: deferred work. The Call may be gone on return.
 */
void rpcrdma2_call_start_pull(struct rpcrdma2_deferred *deferred)
{
	struct rpcrdma2_svc_call *call =
		container_of(deferred, struct rpcrdma2_svc_call, deferred);
	const struct rpcrdma2_responder *resp = call->resp;

	if (!call_sort_reads(call)) {
		rpcrdma2_call_refuse(call, RDMA2_ERR_SYSTEM, 0);
	} else if (!call_lay_out(call)) {
		rpcrdma2_call_garbage(call);
	} else if (call->stream > resp->limits.bytes ||
		   call->npages > resp->max_pages) {
		call->npages = 0;
		rpcrdma2_call_refuse(call, RDMA2_ERR_SYSTEM, 0);
	} else {
		deferred->run = call_pull_deferred;
		if (rpcrdma2_call_begin_pull(call))
			call_pull_deferred(deferred);
	}
}

/**
 * rpcrdma2_call_arg - the argument of a Call
 * @call: a Call that is ready
 * @arg: filled in. The bytes in front of the only Read chunk, and a Call without Read
 *	chunks, stay in the Receive until rpcrdma2_call_release()
 * @pages: pages of the thread that executes the Call. The first ones are exchanged for
 *	those of the argument
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
	if (call->pulling)
		rpcrdma2_call_end_pull(call);
	return n;
}
