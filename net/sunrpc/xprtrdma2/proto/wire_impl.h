/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the codecs share: a bounded reader, a bounded writer, and the parts of
 * a header that are the same in both versions.
 *
 * Pure (see portable.h). Every read of a received message and every write
 * of a header to be sent goes through the two structures below, so there is
 * one place where a bound can be wrong.
 */
#ifndef _RPCRDMA2_WIRE_IMPL_H
#define _RPCRDMA2_WIRE_IMPL_H

#include "proto/wire.h"

/* Words of the chunk lists */
#define LIST_END		0U
#define LIST_ENTRY		1U

#define EMPTY_LISTS		12U	/* bytes: LIST_END three times */
#define EMPTY_RESULTS		8U	/* bytes: LIST_END twice */

#define RPC_MSG_MIN		8U	/* bytes: XID and msg_type */

/**
 * struct rpcrdma2_reader - the unread rest of a received message
 * @p: next byte
 * @left: bytes from @p to the end of what was received
 * @msg: first byte of the message
 * @len: bytes received
 */
struct rpcrdma2_reader {
	const u8		*p;
	u32			left;
	const void		*msg;
	u32			len;
};

static inline bool rpcrdma2_rd_skip(struct rpcrdma2_reader *r, u32 bytes)
{
	if (r->left < bytes)
		return false;
	r->p += bytes;
	r->left -= bytes;
	return true;
}

static inline bool rpcrdma2_rd_u32(struct rpcrdma2_reader *r, u32 *v)
{
	const u8 *p = r->p;

	if (!rpcrdma2_rd_skip(r, sizeof(*v)))
		return false;
	*v = get_unaligned_be32(p);
	return true;
}

/* What is left of a message is its body: bytes after the prefix, or an RPC message. */
static inline void rpcrdma2_rd_body(const struct rpcrdma2_reader *r,
				    struct rpcrdma2_hdr *hdr)
{
	hdr->hdr_len = r->len - r->left;
	hdr->body = r->p;
	hdr->body_len = r->left;
}

/* The verdict on a fault: its direction decides whether the message gets @answer. */
static inline enum rpcrdma2_verdict rpcrdma2_hdr_fault(const struct rpcrdma2_hdr *hdr,
						       enum rpcrdma2_verdict answer)
{
	return hdr->response ? RPCRDMA2_DROP : answer;
}

/**
 * struct rpcrdma2_writer - the unused rest of an output buffer
 * @p: next byte
 * @left: bytes from @p to the end of the buffer
 * @overflow: something did not fit; nothing was written since
 */
struct rpcrdma2_writer {
	u8			*p;
	u32			left;
	bool			overflow;
};

/* The next @bytes bytes of the buffer, or NULL */
static inline u8 *rpcrdma2_wr_room(struct rpcrdma2_writer *w, u32 bytes)
{
	u8 *p = w->p;

	if (w->overflow || w->left < bytes) {
		w->overflow = true;
		return NULL;
	}
	w->p += bytes;
	w->left -= bytes;
	return p;
}

static inline void rpcrdma2_wr_u32(struct rpcrdma2_writer *w, u32 v)
{
	u8 *p = rpcrdma2_wr_room(w, sizeof(v));

	if (p)
		put_unaligned_be32(v, p);
}

/* Bytes written into a buffer of @size bytes, or -EMSGSIZE. */
static inline int rpcrdma2_wr_result(const struct rpcrdma2_writer *w, u32 size)
{
	return w->overflow ? -EMSGSIZE : (int)(size - w->left);
}

/* Segments on the wire. The caller has checked that 16 bytes are there. */
static inline void rpcrdma2_get_segment(const u8 *p,
					struct rpcrdma2_segment *seg)
{
	seg->handle = get_unaligned_be32(p);
	seg->length = get_unaligned_be32(p + 4);
	seg->offset = get_unaligned_be64(p + 8);
}

/* wire.c */
bool rpcrdma2_wire_prefix(struct rpcrdma2_reader *r, const void *msg, u32 len,
			  struct rpcrdma2_hdr *hdr);
bool rpcrdma2_wire_body(const struct rpcrdma2_reader *r,
			struct rpcrdma2_hdr *hdr, u32 *msg_type);
bool rpcrdma2_wire_shape_ok(const struct rpcrdma2_hdr *hdr);
u32 rpcrdma2_wire_error_nargs(u32 err);

/* wire_v2.c */
enum rpcrdma2_verdict rpcrdma2_wire_v2_prefix(struct rpcrdma2_reader *r,
					      const void *msg, u32 len,
					      struct rpcrdma2_hdr *hdr,
					      u32 *flags);

/* chunk_decode.c */
bool rpcrdma2_chunk_decode(struct rpcrdma2_reader *r, struct rpcrdma2_hdr *hdr);

/* chunk_encode.c */
bool rpcrdma2_call_chunks_ok(const struct rpcrdma2_call_hdr *call);
void rpcrdma2_call_chunks_put(struct rpcrdma2_writer *w,
			      const struct rpcrdma2_call_hdr *call);
bool rpcrdma2_reply_chunks_put(struct rpcrdma2_writer *w,
			       const struct rpcrdma2_reply_hdr *reply);

#endif /* _RPCRDMA2_WIRE_IMPL_H */
