// SPDX-License-Identifier: GPL-2.0
/*
 * The codec of version 2. An extension adds header types to a table, and errors with
 * arguments to v2_error_nargs().
 *
 * Pure: see wire.c.
 */

#include "proto/wire_impl.h"

/* Answer to a fault: RESPONSE decides whether there is one (FLG-11). */
static enum rpcrdma2_verdict v2_fault(const struct rpcrdma2_hdr *hdr,
				      enum rpcrdma2_verdict answer)
{
	return hdr->response ? RPCRDMA2_DROP : answer;
}

/* MSG and NOMSG */
static enum rpcrdma2_verdict v2_decode_rpc(struct rpcrdma2_reader *r,
					   struct rpcrdma2_hdr *hdr)
{
	u32 msg_type = hdr->response;

	if (!rpcrdma2_rd_u32(r, &hdr->inv_handle) ||
	    !rpcrdma2_chunk_decode(r, hdr) ||
	    !rpcrdma2_wire_body(r, hdr, &msg_type) ||
	    msg_type != hdr->response ||		/* FLG-4, FLG-5 */
	    !rpcrdma2_wire_shape_ok(hdr))
		return v2_fault(hdr, RPCRDMA2_BAD_XDR);
	if (hdr->response)
		hdr->inv_handle = 0;			/* RINV-10 */
	return RPCRDMA2_OK;
}

static void v2_control_body(const struct rpcrdma2_reader *r,
			    struct rpcrdma2_hdr *hdr)
{
	hdr->hdr_len = RPCRDMA2_PREFIX;
	hdr->body = r->p;
	hdr->body_len = r->left;
}

/*
 * The caller decodes the property set. A body that is too short for one is
 * reported whatever the RESPONSE flag says (ERR-1).
 */
static enum rpcrdma2_verdict v2_decode_connprop(struct rpcrdma2_reader *r,
						struct rpcrdma2_hdr *hdr)
{
	u32 count;

	v2_control_body(r, hdr);
	return rpcrdma2_rd_u32(r, &count) ? RPCRDMA2_OK : RPCRDMA2_BAD_XDR;
}

/* Argument words of an error; other codes have none (ERR-10, EXT-3). */
static u32 v2_error_nargs(u32 err)
{
	switch (err) {
	case RDMA2_ERR_VERS:
	case RDMA2_ERR_WRITE_RESOURCE:
		return 2;
	case RDMA2_ERR_READ_CHUNKS:
	case RDMA2_ERR_WRITE_CHUNKS:
	case RDMA2_ERR_SEGMENTS:
	case RDMA2_ERR_REPLY_RESOURCE:
		return 1;
	default:
		return 0;
	}
}

/* Whatever is wrong with an error, it is not answered (HT-4, ERR-9). */
static enum rpcrdma2_verdict v2_decode_error(struct rpcrdma2_reader *r,
					     struct rpcrdma2_hdr *hdr)
{
	u32 i, nargs;

	if (!hdr->response)				/* FLG-9 */
		return RPCRDMA2_DROP;
	v2_control_body(r, hdr);
	if (rpcrdma2_wire_decode_err_vers(r->msg, r->len, &hdr->err_arg[0],
					  &hdr->err_arg[1])) {
		hdr->err = RDMA2_ERR_VERS;
		return RPCRDMA2_OK;
	}

	if (!rpcrdma2_rd_u32(r, &hdr->err))
		return RPCRDMA2_DROP;
	nargs = v2_error_nargs(hdr->err);
	for (i = 0; i < nargs; i++)
		if (!rpcrdma2_rd_u32(r, &hdr->err_arg[i]))
			return RPCRDMA2_DROP;
	return RPCRDMA2_OK;
}

/*
 * The header types we know. Other types are answered with INVAL_HTYPE; an
 * extension adds a line (EXT-5, HT-2).
 */
static const struct v2_type {
	u32	htype;
	enum rpcrdma2_verdict (*decode)(struct rpcrdma2_reader *r,
					struct rpcrdma2_hdr *hdr);
} v2_types[] = {
	{ RDMA2_MSG,		v2_decode_rpc },
	{ RDMA2_NOMSG,		v2_decode_rpc },
	{ RDMA2_ERROR,		v2_decode_error },
	{ RDMA2_CONNPROP,	v2_decode_connprop },
};

static const struct v2_type *v2_find_type(u32 htype)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(v2_types); i++)
		if (v2_types[i].htype == htype)
			return &v2_types[i];
	return NULL;
}

/**
 * rpcrdma2_wire_v2_prefix - begin to decode a message of version 2
 * @r: reader, set to the first byte after the flags
 * @msg: received message
 * @len: bytes received
 * @hdr: header, cleared and filled as by rpcrdma2_wire_peek(), and the direction
 * @flags: flags, as received
 *
 * Context: any. Requirements: HDR-1, HDR-5, FLG-11.
 * Return: RPCRDMA2_OK, or the verdict on the message.
 */
enum rpcrdma2_verdict rpcrdma2_wire_v2_prefix(struct rpcrdma2_reader *r,
					      const void *msg, u32 len,
					      struct rpcrdma2_hdr *hdr,
					      u32 *flags)
{
	if (!rpcrdma2_wire_prefix(r, msg, len, hdr))
		return RPCRDMA2_DROP;
	if (hdr->vers != RPCRDMA_VERS_2)
		return RPCRDMA2_BAD_VERS;
	if (!rpcrdma2_rd_u32(r, flags))
		return RPCRDMA2_DROP;
	hdr->response = *flags & RPCRDMA2_F_RESPONSE;
	return RPCRDMA2_OK;
}

/* Length, version, type, flags, body: the first failure decides (FLG-11). */
static enum rpcrdma2_verdict v2_decode(const void *msg, u32 len,
				       struct rpcrdma2_hdr *hdr)
{
	const struct v2_type *type;
	enum rpcrdma2_verdict verdict;
	struct rpcrdma2_reader r;
	u32 flags;

	verdict = rpcrdma2_wire_v2_prefix(&r, msg, len, hdr, &flags);
	if (verdict != RPCRDMA2_OK)
		return verdict;

	type = v2_find_type(hdr->htype);
	if (!type)
		return v2_fault(hdr, RPCRDMA2_INVAL_HTYPE);
	if (flags & ~RPCRDMA2_F_RESPONSE) {		/* FLG-3 */
		if (hdr->htype == RDMA2_ERROR)
			return RPCRDMA2_DROP;
		return v2_fault(hdr, RPCRDMA2_BAD_XDR);
	}
	return type->decode(&r, hdr);
}

static void v2_put_prefix(struct rpcrdma2_writer *w, u32 xid, u32 credit,
			  u32 htype, bool response)
{
	rpcrdma2_wire_put_prefix(w, xid, RPCRDMA_VERS_2, credit, htype);
	rpcrdma2_wr_u32(w, response ? RPCRDMA2_F_RESPONSE : 0);
}

static int v2_encode_call(const struct rpcrdma2_call_hdr *call, void *buf,
			  u32 size)
{
	struct rpcrdma2_writer w = { .p = buf, .left = size };

	if (!rpcrdma2_call_chunks_ok(call))
		return -EINVAL;
	v2_put_prefix(&w, call->xid, call->credit,
		      call->nomsg ? RDMA2_NOMSG : RDMA2_MSG, false);
	rpcrdma2_wr_u32(&w, call->inv_handle);
	rpcrdma2_call_chunks_put(&w, call);
	return rpcrdma2_wr_result(&w, size);
}

static int v2_encode_reply(const struct rpcrdma2_reply_hdr *reply, void *buf,
			   u32 size)
{
	struct rpcrdma2_writer w = { .p = buf, .left = size };

	v2_put_prefix(&w, reply->xid, reply->credit,
		      reply->nomsg ? RDMA2_NOMSG : RDMA2_MSG, true);
	rpcrdma2_wr_u32(&w, 0);				/* RINV-10 */
	if (!rpcrdma2_reply_chunks_put(&w, reply))
		return -EINVAL;
	return rpcrdma2_wr_result(&w, size);
}

/* ERR-2, FLG-8 */
static int v2_encode_error(const struct rpcrdma2_hdr *msg, u32 credit,
			   u32 err, const u32 arg[2], void *buf, u32 size)
{
	struct rpcrdma2_writer w = { .p = buf, .left = size };
	u32 i, nargs;

	if (err == RDMA2_ERR_VERS)
		return rpcrdma2_wire_put_err_vers(msg, credit, arg, buf, size);
	rpcrdma2_wire_put_prefix(&w, msg->xid, msg->vers, credit, RDMA2_ERROR);
	rpcrdma2_wr_u32(&w, RPCRDMA2_F_RESPONSE);
	rpcrdma2_wr_u32(&w, err);
	nargs = v2_error_nargs(err);
	for (i = 0; i < nargs; i++)
		rpcrdma2_wr_u32(&w, arg ? arg[i] : 0);
	return rpcrdma2_wr_result(&w, size);
}

/**
 * rpcrdma2_wire_encode_control - write the prefix of a control message
 * @xid: own pairing value, or the one of the message that is answered
 * @credit: request, or grant if @response
 * @htype: RDMA2_CONNPROP, RDMA2_X_REQPROP, ...
 * @response: the message answers one of the peer's
 * @buf: where to write
 * @size: bytes at @buf
 *
 * Context: any. Requirements: HDR-8, FLG-7, CONN-1, CONN-10.
 * Return: RPCRDMA2_PREFIX, or -EMSGSIZE.
 */
int rpcrdma2_wire_encode_control(u32 xid, u32 credit, u32 htype, bool response,
				 void *buf, u32 size)
{
	struct rpcrdma2_writer w = { .p = buf, .left = size };

	v2_put_prefix(&w, xid, credit, htype, response);
	return rpcrdma2_wr_result(&w, size);
}

const struct rpcrdma2_codec rpcrdma2_codec_v2 = {
	.vers			= RPCRDMA_VERS_2,
	.hdr_min		= RPCRDMA2_HDR_MIN,
	.inline_default		= RPCRDMA2_INLINE_DEFAULT,
	.inv_by_handle		= true,
	.props			= true,
	.inline_reply_first	= true,
	.decode			= v2_decode,
	.encode_call		= v2_encode_call,
	.encode_reply		= v2_encode_reply,
	.encode_error		= v2_encode_error,
};
