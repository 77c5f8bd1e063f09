// SPDX-License-Identifier: GPL-2.0
/*
 * Version 1 (RFC 8166), for peers that know nothing newer.
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

static enum rpcrdma2_verdict v1_decode_rpc(struct rpcrdma2_reader *r,
					   struct rpcrdma2_hdr *hdr)
{
	u32 msg_type = ~0U;
	bool same_xid;

	if (!rpcrdma2_chunk_decode(r, hdr))
		return RPCRDMA2_BAD_XDR;
	same_xid = rpcrdma2_wire_body(r, hdr, &msg_type);
	if (hdr->htype == RDMA2_NOMSG)
		msg_type = hdr->reply_chunk && !hdr->read_segs;
	if (msg_type > RPC_REPLY)
		return RPCRDMA2_BAD_XDR;
	v1_direct(hdr, msg_type == RPC_REPLY);
	if (same_xid && rpcrdma2_wire_shape_ok(hdr))
		return RPCRDMA2_OK;
	return rpcrdma2_hdr_fault(hdr, RPCRDMA2_BAD_XDR);
}

/* Whatever is wrong with an error, it is not answered (HT-4, ERR-9). */
static enum rpcrdma2_verdict v1_decode_error(struct rpcrdma2_reader *r,
					     struct rpcrdma2_hdr *hdr)
{
	v1_direct(hdr, true);
	rpcrdma2_rd_body(r, hdr);
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
	case RDMA2_NOMSG:
		return v1_decode_rpc(&r, hdr);
	case RDMA1_MSGP:
		/* Never accepted; parsed only to learn whether it may be answered (V1-5) */
		if (rpcrdma2_rd_skip(&r, RPCRDMA1_MSGP_PAD))
			v1_decode_rpc(&r, hdr);
		return rpcrdma2_hdr_fault(hdr, RPCRDMA2_BAD_XDR);
	case RDMA1_DONE:
		return RPCRDMA2_DROP;	/* V1-4 */
	case RDMA2_ERROR:
		return v1_decode_error(&r, hdr);
	default:
		return RPCRDMA2_INVAL_HTYPE;
	}
}

const struct rpcrdma2_codec rpcrdma2_codec_v1 = {
	.vers			= RPCRDMA_VERS_1,
	.hdr_min		= RPCRDMA1_HDR_MIN,
	.decode			= v1_decode,
};
