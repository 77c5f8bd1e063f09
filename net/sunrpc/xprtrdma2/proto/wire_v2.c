// SPDX-License-Identifier: GPL-2.0
/*
 * Version 2. An extension adds header types to v2_decode_rest(), and errors with
 * arguments to rpcrdma2_wire_error_nargs().
 *
 * Pure: see wire.c.
 */

#include "proto/wire_impl.h"

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
		return rpcrdma2_hdr_fault(hdr, RPCRDMA2_BAD_XDR);
	if (hdr->response)
		hdr->inv_handle = 0;			/* RINV-10 */
	return RPCRDMA2_OK;
}

/* Whatever is wrong with an error, it is not answered (HT-4, ERR-9). */
static enum rpcrdma2_verdict v2_decode_error(struct rpcrdma2_reader *r,
					     struct rpcrdma2_hdr *hdr)
{
	u32 i, nargs;

	if (!hdr->response)				/* FLG-9 */
		return RPCRDMA2_DROP;
	rpcrdma2_rd_body(r, hdr);
	if (rpcrdma2_wire_decode_err_vers(r->msg, r->len, &hdr->err_arg[0],
					  &hdr->err_arg[1])) {
		hdr->err = RDMA2_ERR_VERS;
		return RPCRDMA2_OK;
	}

	if (!rpcrdma2_rd_u32(r, &hdr->err))
		return RPCRDMA2_DROP;
	nargs = rpcrdma2_wire_error_nargs(hdr->err);
	for (i = 0; i < nargs; i++)
		if (!rpcrdma2_rd_u32(r, &hdr->err_arg[i]))
			return RPCRDMA2_DROP;
	return RPCRDMA2_OK;
}

/* By the header type. An extension adds a case (EXT-5, HT-2). */
static enum rpcrdma2_verdict v2_decode_rest(struct rpcrdma2_reader *r,
					    struct rpcrdma2_hdr *hdr)
{
	switch (hdr->htype) {
	case RDMA2_MSG:
	case RDMA2_NOMSG:
		return v2_decode_rpc(r, hdr);
	case RDMA2_ERROR:
		return v2_decode_error(r, hdr);
	case RDMA2_CONNPROP:
		/* The caller decodes the property set. A body that is too short for one
		 * is reported whatever the RESPONSE flag says (ERR-1).
		 */
		rpcrdma2_rd_body(r, hdr);
		return r->left < sizeof(u32) ? RPCRDMA2_BAD_XDR : RPCRDMA2_OK;
	}
	return rpcrdma2_hdr_fault(hdr, RPCRDMA2_INVAL_HTYPE);
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

/* A few words tell whether a message is the usual one: a MSG without chunks and without a
 * fault. Returns false for any other message.
 */
static bool v2_decode_plain(const u8 *p, u32 len, struct rpcrdma2_hdr *hdr)
{
	u32 flags;

	if (len < RPCRDMA2_HDR_MIN + RPC_MSG_MIN ||
	    get_unaligned_be32(p + 4) != RPCRDMA_VERS_2 ||
	    get_unaligned_be32(p + 12) != RDMA2_MSG ||
	    get_unaligned_be64(p + 24) || get_unaligned_be32(p + 32) ||
	    get_unaligned_be32(p) != get_unaligned_be32(p + RPCRDMA2_HDR_MIN))
		return false;
	flags = get_unaligned_be32(p + 16);
	/* RESPONSE is 1, as msg_type of a Reply is (FLG-4, FLG-5) */
	if (flags > RPCRDMA2_F_RESPONSE ||
	    get_unaligned_be32(p + RPCRDMA2_HDR_MIN + 4) != flags)
		return false;

	memset(hdr, 0, sizeof(*hdr));
	hdr->xid = get_unaligned_be32(p);
	hdr->vers = RPCRDMA_VERS_2;
	hdr->credit = get_unaligned_be32(p + 8);
	hdr->htype = RDMA2_MSG;
	hdr->response = flags;
	if (!flags)					/* RINV-10 */
		hdr->inv_handle = get_unaligned_be32(p + 20);
	hdr->body = p + RPCRDMA2_HDR_MIN;
	hdr->body_len = len - RPCRDMA2_HDR_MIN;
	hdr->hdr_len = RPCRDMA2_HDR_MIN;
	return true;
}

/* Length, version, type, flags, body: the first failure decides (FLG-11). */
static noinline_for_stack enum rpcrdma2_verdict
v2_decode_any(const void *msg, u32 len, struct rpcrdma2_hdr *hdr)
{
	enum rpcrdma2_verdict verdict;
	struct rpcrdma2_reader r;
	u32 flags;

	verdict = rpcrdma2_wire_v2_prefix(&r, msg, len, hdr, &flags);
	if (verdict != RPCRDMA2_OK)
		return verdict;
	verdict = v2_decode_rest(&r, hdr);
	if (!(flags & ~RPCRDMA2_F_RESPONSE) || verdict == RPCRDMA2_INVAL_HTYPE)
		return verdict;
	/* FLG-3 */
	return hdr->htype == RDMA2_ERROR ? RPCRDMA2_DROP :
					   rpcrdma2_hdr_fault(hdr, RPCRDMA2_BAD_XDR);
}

static enum rpcrdma2_verdict v2_decode(const void *msg, u32 len,
				       struct rpcrdma2_hdr *hdr)
{
	if (v2_decode_plain(msg, len, hdr))
		return RPCRDMA2_OK;
	return v2_decode_any(msg, len, hdr);
}

const struct rpcrdma2_codec rpcrdma2_codec_v2 = {
	.vers			= RPCRDMA_VERS_2,
	.hdr_min		= RPCRDMA2_HDR_MIN,
	.inv_by_handle		= true,
	.props			= true,
	.inline_reply_first	= true,
	.decode			= v2_decode,
};
