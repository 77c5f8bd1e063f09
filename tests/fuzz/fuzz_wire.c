// SPDX-License-Identifier: GPL-2.0
/*
 * Headers of both versions, ERR_VERS and private data.
 *
 * What must hold for a message that is accepted: everything the header
 * points to is inside; the iterators end, after at most one segment per 16
 * bytes. What must hold for one that is not: the ERROR about it is a good
 * ERROR. The encoders of Calls and Replies are compared in tests/spec.
 */

#include "fuzz.h"
#include "../unit/decoded.h"

static void check_accepted(const struct rpcrdma2_hdr *hdr, const u8 *msg,
			   u32 len)
{
	u32 segs = walk(hdr), position;
	struct rpcrdma2_segment seg;
	struct rpcrdma2_cursor c;

	rpcrdma2_read_list_begin(hdr, &c);
	while (rpcrdma2_read_list_next(&c, &position, &seg))
		CHECK(position % 4 == 0);
	CHECK(segs <= len / RPCRDMA2_SEGMENT_BYTES);
	CHECK(hdr->hdr_len + (u64)hdr->body_len <= len);
	CHECK(!hdr->body || (hdr->body >= msg && hdr->body <= msg + len));
	CHECK(hdr->max_segs <= segs);
	CHECK(hdr->read_chunks <= hdr->read_segs);
	CHECK(!hdr->has_pz || hdr->read_segs);
	CHECK(hdr->has_segs == (segs > 0));
	CHECK(hdr->has_segs || (!hdr->only_handle && !hdr->has_inv_handle));
}

static void check_refused(const struct rpcrdma2_codec *codec,
			  const struct rpcrdma2_hdr *hdr, u32 err)
{
	const struct rpcrdma2_codec *theirs = rpcrdma2_wire_codec(hdr->vers);
	static const u32 range[2] = { 1, 2 };
	u8 buf[RPCRDMA2_MAX_ERROR];
	struct rpcrdma2_hdr again;
	u32 low, high;
	int len;

	CHECK(codec->vers != hdr->vers || hdr->htype != RDMA2_ERROR);
	len = rpcrdma2_wire_encode_error(codec, hdr, 1, err, range, buf, sizeof(buf));
	CHECK(len > 0);
	if (err == RDMA2_ERR_VERS) {
		CHECK(len == 28);
		CHECK(rpcrdma2_wire_decode_err_vers(buf, len, &low, &high));
		CHECK(low == 1 && high == 2);
	}
	if (!theirs || (err != RDMA2_ERR_VERS && theirs != codec))
		return;
	CHECK(theirs->decode(buf, len, &again) == RPCRDMA2_OK);
	CHECK(again.xid == hdr->xid && again.htype == RDMA2_ERROR);
	CHECK(again.err == err || codec->vers == RPCRDMA_VERS_1);
}

static void check_codec(const struct rpcrdma2_codec *codec, const u8 *msg,
			u32 len)
{
	struct rpcrdma2_hdr hdr;

	switch (codec->decode(msg, len, &hdr)) {
	case RPCRDMA2_OK:
		CHECK(!too_short(msg, len));
		CHECK(!hdr.undirected);
		check_accepted(&hdr, msg, len);
		break;
	case RPCRDMA2_DROP:
		break;
	case RPCRDMA2_BAD_XDR:
		check_refused(codec, &hdr, RDMA2_ERR_BAD_XDR);
		break;
	case RPCRDMA2_INVAL_HTYPE:
		check_refused(codec, &hdr, RDMA2_ERR_INVAL_HTYPE);
		break;
	case RPCRDMA2_BAD_VERS:
		CHECK(hdr.vers != codec->vers);
		check_refused(codec, &hdr, RDMA2_ERR_VERS);
		break;
	default:
		CHECK(!"a verdict that does not exist");
	}
}

static void check_cm(const u8 *data, u32 len)
{
	struct rpcrdma_cm_private cm, again;
	u8 buf[RPCRDMA_CM_PRIVATE_BYTES];

	rpcrdma_cm_decode(data, len, &cm);
	CHECK(cm.send_size >= 1024 && cm.send_size <= 262144);
	CHECK(cm.recv_size >= 1024 && cm.recv_size <= 262144);
	rpcrdma_cm_encode(&cm, buf);
	rpcrdma_cm_decode(buf, sizeof(buf), &again);
	CHECK(cm.remote_inval == again.remote_inval);
	CHECK(cm.send_size == again.send_size);
	CHECK(cm.recv_size == again.recv_size);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	u8 *msg = exact_copy(data, size);
	u32 low, high;

	check_codec(&rpcrdma2_codec_v1, msg, size);
	check_codec(&rpcrdma2_codec_v2, msg, size);
	rpcrdma2_wire_decode_err_vers(msg, size, &low, &high);
	rpcrdma2_neg_other_draft(msg, size);
	check_cm(msg, size);
	free(msg);
	return 0;
}
