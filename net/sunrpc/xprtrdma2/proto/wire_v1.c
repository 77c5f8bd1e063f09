// SPDX-License-Identifier: GPL-2.0
/*
 * The codec of version 1 (RFC 8166), for peers that know nothing newer.
 *
 * Version 1 has no direction flag. The direction is that of the RPC message
 * when it is inline, and is inferred from the chunks when it is not. A
 * malformed message whose direction is unknown is marked as undirected.
 *
 * Pure: see wire.c.
 */

#include "proto/wire_impl.h"

#define RPCRDMA1_MSGP_PAD	8U	/* rdma_align, rdma_thresh */

#define RPC_REPLY		1U

static void v1_direct(struct rpcrdma2_hdr *hdr, bool response)
{
	hdr->response = response;
	hdr->undirected = false;
}

static enum rpcrdma2_verdict v1_judge(const struct rpcrdma2_hdr *hdr)
{
	if (rpcrdma2_wire_shape_ok(hdr))
		return RPCRDMA2_OK;
	return hdr->response ? RPCRDMA2_DROP : RPCRDMA2_BAD_XDR;
}

static enum rpcrdma2_verdict v1_decode_msg(struct rpcrdma2_reader *r,
					   struct rpcrdma2_hdr *hdr)
{
	u32 msg_type = ~0U;
	bool same_xid;

	if (!rpcrdma2_chunk_decode(r, hdr))
		return RPCRDMA2_BAD_XDR;
	same_xid = rpcrdma2_wire_body(r, hdr, &msg_type);
	if (msg_type > RPC_REPLY)
		return RPCRDMA2_BAD_XDR;
	v1_direct(hdr, msg_type == RPC_REPLY);
	if (!same_xid)
		return hdr->response ? RPCRDMA2_DROP : RPCRDMA2_BAD_XDR;
	return v1_judge(hdr);
}

static enum rpcrdma2_verdict v1_decode_nomsg(struct rpcrdma2_reader *r,
					     struct rpcrdma2_hdr *hdr)
{
	u32 unused;

	if (!rpcrdma2_chunk_decode(r, hdr))
		return RPCRDMA2_BAD_XDR;
	rpcrdma2_wire_body(r, hdr, &unused);
	v1_direct(hdr, hdr->reply_chunk && !hdr->read_segs);
	return v1_judge(hdr);
}

/* Never accepted; parsed only to learn whether it may be answered (V1-5). */
static enum rpcrdma2_verdict v1_decode_msgp(struct rpcrdma2_reader *r,
					    struct rpcrdma2_hdr *hdr)
{
	if (!rpcrdma2_rd_skip(r, RPCRDMA1_MSGP_PAD))
		return RPCRDMA2_BAD_XDR;
	v1_decode_msg(r, hdr);
	return hdr->response ? RPCRDMA2_DROP : RPCRDMA2_BAD_XDR;
}

/* Whatever is wrong with an error, it is not answered (HT-4, ERR-9). */
static enum rpcrdma2_verdict v1_decode_error(struct rpcrdma2_reader *r,
					     struct rpcrdma2_hdr *hdr)
{
	v1_direct(hdr, true);
	hdr->hdr_len = RPCRDMA_COMMON_PREFIX;
	hdr->body = r->p;
	hdr->body_len = r->left;
	if (!rpcrdma2_rd_u32(r, &hdr->err))
		return RPCRDMA2_DROP;
	if (hdr->err != RDMA2_ERR_VERS)
		return RPCRDMA2_OK;
	if (!rpcrdma2_rd_u32(r, &hdr->err_arg[0]) ||
	    !rpcrdma2_rd_u32(r, &hdr->err_arg[1]))
		return RPCRDMA2_DROP;
	return RPCRDMA2_OK;
}

static enum rpcrdma2_verdict v1_decode(const void *msg, u32 len,
				       struct rpcrdma2_hdr *hdr)
{
	struct rpcrdma2_reader r;

	if (!rpcrdma2_wire_prefix(&r, msg, len, hdr))
		return RPCRDMA2_DROP;
	if (hdr->vers != RPCRDMA_VERS_1)
		return RPCRDMA2_BAD_VERS;

	hdr->undirected = true;
	switch (hdr->htype) {
	case RDMA2_MSG:
		return v1_decode_msg(&r, hdr);
	case RDMA2_NOMSG:
		return v1_decode_nomsg(&r, hdr);
	case RDMA1_MSGP:
		return v1_decode_msgp(&r, hdr);
	case RDMA1_DONE:
		return RPCRDMA2_DROP;	/* V1-4 */
	case RDMA2_ERROR:
		return v1_decode_error(&r, hdr);
	default:
		return RPCRDMA2_INVAL_HTYPE;
	}
}

static int v1_encode_call(const struct rpcrdma2_call_hdr *call, void *buf,
			  u32 size)
{
	struct rpcrdma2_writer w = { .p = buf, .left = size };

	if (!rpcrdma2_call_chunks_ok(call))
		return -EINVAL;
	rpcrdma2_wire_put_prefix(&w, call->xid, RPCRDMA_VERS_1, call->credit,
				 call->nomsg ? RDMA2_NOMSG : RDMA2_MSG);
	rpcrdma2_call_chunks_put(&w, call);
	return rpcrdma2_wr_result(&w, size);
}

static int v1_encode_reply(const struct rpcrdma2_reply_hdr *reply, void *buf,
			   u32 size)
{
	struct rpcrdma2_writer w = { .p = buf, .left = size };

	rpcrdma2_wire_put_prefix(&w, reply->xid, RPCRDMA_VERS_1, reply->credit,
				 reply->nomsg ? RDMA2_NOMSG : RDMA2_MSG);
	if (!rpcrdma2_reply_chunks_put(&w, reply))
		return -EINVAL;
	return rpcrdma2_wr_result(&w, size);
}

/* V1-2: there are two errors, and the second one means everything else. */
static int v1_encode_error(const struct rpcrdma2_hdr *msg, u32 credit,
			   u32 err, const u32 arg[2], void *buf, u32 size)
{
	struct rpcrdma2_writer w = { .p = buf, .left = size };

	if (err == RDMA2_ERR_VERS)
		return rpcrdma2_wire_put_err_vers(msg, credit, arg, buf, size);
	rpcrdma2_wire_put_prefix(&w, msg->xid, msg->vers, credit, RDMA2_ERROR);
	rpcrdma2_wr_u32(&w, RDMA2_ERR_BAD_XDR);
	return rpcrdma2_wr_result(&w, size);
}

const struct rpcrdma2_codec rpcrdma2_codec_v1 = {
	.vers			= RPCRDMA_VERS_1,
	.hdr_min		= RPCRDMA1_HDR_MIN,
	.inline_default		= RPCRDMA1_INLINE_DEFAULT,
	.inv_by_handle		= false,
	.props			= false,
	.inline_reply_first	= false,
	.decode			= v1_decode,
	.encode_call		= v1_encode_call,
	.encode_reply		= v1_encode_reply,
	.encode_error		= v1_encode_error,
};
