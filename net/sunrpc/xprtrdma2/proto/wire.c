// SPDX-License-Identifier: GPL-2.0
/*
 * The parts of a header that all versions share: the first four words, the
 * body, and ERR_VERS; and encoding, which differs in few words. Decoding is in wire_v1.c
 * and wire_v2.c, the chunk lists in chunk_*.c.
 *
 * Every function here is pure: no kernel service, no lock, no allocation,
 * any context.
 */

#include "proto/chunk_list.h"
#include "proto/wire_impl.h"

/* Decoding: first words */

/**
 * rpcrdma2_wire_peek - read the four words that all versions share
 * @msg: received message
 * @len: bytes received
 * @hdr: where to put xid, vers, credit and htype; other members are left
 *
 * For the time before the version of a connection is settled.
 *
 * Context: any. Requirements: HDR-2, HDR-4, EXT-9.
 * Return: false if the message is shorter than 16 bytes.
 */
bool rpcrdma2_wire_peek(const void *msg, u32 len, struct rpcrdma2_hdr *hdr)
{
	const u8 *p = msg;

	if (len < RPCRDMA_COMMON_PREFIX)
		return false;
	hdr->xid = get_unaligned_be32(p);
	hdr->vers = get_unaligned_be32(p + 4);
	hdr->credit = get_unaligned_be32(p + 8);
	hdr->htype = get_unaligned_be32(p + 12);
	return true;
}

/* Bytes of the shortest message that has these first words */
static u32 least_len(const struct rpcrdma2_hdr *hdr)
{
	if (hdr->vers == RPCRDMA_VERS_2)
		return RPCRDMA2_PREFIX;
	if (hdr->vers == RPCRDMA_VERS_1 && hdr->htype != RDMA2_ERROR)
		return RPCRDMA1_HDR_MIN;
	return RPCRDMA_COMMON_PREFIX;
}

/**
 * rpcrdma2_wire_prefix - begin to decode a message
 * @r: reader, set to the first byte after the common prefix
 * @msg: received message
 * @len: bytes received
 * @hdr: header, cleared and filled as by rpcrdma2_wire_peek()
 *
 * Below a length that depends on the version the XID cannot be trusted. A longer message
 * that is too short for its type is answered.
 *
 * Context: any. Requirements: HDR-1, HDR-5, D-9.
 * Return: false if the message is so short that it must not be answered.
 */
bool rpcrdma2_wire_prefix(struct rpcrdma2_reader *r, const void *msg, u32 len,
			  struct rpcrdma2_hdr *hdr)
{
	memset(hdr, 0, sizeof(*hdr));
	if (!rpcrdma2_wire_peek(msg, len, hdr) || len < least_len(hdr))
		return false;

	r->p = msg;
	r->left = len;
	r->msg = msg;
	r->len = len;
	return rpcrdma2_rd_skip(r, RPCRDMA_COMMON_PREFIX);
}

/**
 * rpcrdma2_wire_body - take what follows the lists as the body
 * @r: reader behind the lists
 * @hdr: header to fill; xid and htype are set
 * @msg_type: MSG: where to put the msg_type of the RPC message
 *
 * Only MSG has a body here; bytes behind a NOMSG are ignored (CHK-31).
 *
 * Context: any. Requirements: HDR-6, HDR-7, HT-5, MSG-1.
 * Return: false if the body of a MSG is too short to be an RPC message or
 * has another XID than the header.
 */
bool rpcrdma2_wire_body(const struct rpcrdma2_reader *r,
			struct rpcrdma2_hdr *hdr, u32 *msg_type)
{
	if (hdr->htype == RDMA2_NOMSG) {
		hdr->hdr_len = r->len - r->left;
		return true;
	}
	rpcrdma2_rd_body(r, hdr);
	if (r->left < RPC_MSG_MIN)
		return false;
	*msg_type = get_unaligned_be32(r->p + 4);
	return get_unaligned_be32(r->p) == hdr->xid;
}

/**
 * rpcrdma2_wire_shape_ok - do the chunks suit the kind of message?
 * @hdr: MSG or NOMSG with its lists decoded and its direction known
 *
 * Context: any. Requirements: CHK-13, MSG-2, MSG-3, MSG-8.
 * Return: false if a Call of this shape is to be refused with BAD_XDR, or
 * a Reply of this shape is to be dropped.
 */
bool rpcrdma2_wire_shape_ok(const struct rpcrdma2_hdr *hdr)
{
	if (!hdr->response)
		return hdr->has_pz == (hdr->htype == RDMA2_NOMSG);
	if (hdr->read_segs)
		return false;
	if (hdr->htype == RDMA2_NOMSG)
		return hdr->reply_chunk;
	return !hdr->reply_chunk || !rpcrdma2_hdr_reply_chunk_bytes(hdr);
}

/* Encoding */

static void put_prefix(struct rpcrdma2_writer *w, u32 xid, u32 vers, u32 credit, u32 htype)
{
	u8 *p = rpcrdma2_wr_room(w, RPCRDMA_COMMON_PREFIX);

	if (!p)
		return;
	put_unaligned_be32(xid, p);
	put_unaligned_be32(vers, p + 4);
	put_unaligned_be32(credit, p + 8);
	put_unaligned_be32(htype, p + 12);
}

/* The words of a MSG or NOMSG in front of its chunk lists */
static void put_rpc_prefix(struct rpcrdma2_writer *w, u32 vers, u32 xid, u32 credit,
			   bool nomsg, u32 flags, u32 inv_handle)
{
	put_prefix(w, xid, vers, credit, nomsg ? RDMA2_NOMSG : RDMA2_MSG);
	if (vers == RPCRDMA_VERS_1)
		return;
	rpcrdma2_wr_u32(w, flags);
	rpcrdma2_wr_u32(w, inv_handle);
}

/**
 * rpcrdma2_wire_encode_plain - write the header of a MSG without chunks and handles
 * @codec: the version
 * @xid: XID of the RPC message
 * @credit: credits asked for, or granted
 * @flags: of version 2
 * @buf: where to write
 * @size: bytes at @buf
 *
 * The encoders below write the same for such a message, by more instructions.
 *
 * Context: any. Requirements: HDR-1, HDR-10.
 * Return: @codec->hdr_min, or -EMSGSIZE.
 */
int rpcrdma2_wire_encode_plain(const struct rpcrdma2_codec *codec, u32 xid, u32 credit,
			       u32 flags, void *buf, u32 size)
{
	bool v1 = codec->vers == RPCRDMA_VERS_1;
	u32 len = v1 ? RPCRDMA1_HDR_MIN : RPCRDMA2_HDR_MIN;
	u8 *p = buf;

	if (size < len)
		return -EMSGSIZE;
	put_unaligned_be32(xid, p);
	put_unaligned_be32(codec->vers, p + 4);
	put_unaligned_be32(credit, p + 8);
	put_unaligned_be32(RDMA2_MSG, p + 12);
	put_unaligned_be32(v1 ? LIST_END : flags, p + 16);
	put_unaligned_be64(LIST_END, p + 20);
	if (!v1)
		put_unaligned_be64(LIST_END, p + 28);
	return len;
}

/**
 * rpcrdma2_wire_encode_call - write the header of a Call
 * @codec: the version
 * @call: the header
 * @buf: where to write
 * @size: bytes at @buf
 *
 * Context: any. Requirements: HDR-1, HDR-10, MSG-2, MSG-8.
 * Return: bytes written; -EMSGSIZE if @size is too small; -EINVAL if the chunks do not
 * suit the Call (a mistake of the caller)
 */
int rpcrdma2_wire_encode_call(const struct rpcrdma2_codec *codec,
			      const struct rpcrdma2_call_hdr *call, void *buf, u32 size)
{
	struct rpcrdma2_writer w = { .p = buf, .left = size };

	if (!rpcrdma2_call_chunks_ok(call))
		return -EINVAL;
	put_rpc_prefix(&w, codec->vers, call->xid, call->credit, call->nomsg, 0,
		       call->inv_handle);
	rpcrdma2_call_chunks_put(&w, call);
	return rpcrdma2_wr_result(&w, size);
}

/**
 * rpcrdma2_wire_encode_reply - write the header of a Reply
 * @codec: the version
 * @reply: the header
 * @buf: where to write
 * @size: bytes at @buf
 *
 * Context: any. Requirements: HDR-1, HDR-10, RINV-10.
 * Return: as rpcrdma2_wire_encode_call(); -EINVAL if more was written than a chunk
 * holds, or into the Reply chunk of a MSG
 */
int rpcrdma2_wire_encode_reply(const struct rpcrdma2_codec *codec,
			       const struct rpcrdma2_reply_hdr *reply, void *buf, u32 size)
{
	struct rpcrdma2_writer w = { .p = buf, .left = size };

	put_rpc_prefix(&w, codec->vers, reply->xid, reply->credit, reply->nomsg,
		       RPCRDMA2_F_RESPONSE, 0);
	if (!rpcrdma2_reply_chunks_put(&w, reply))
		return -EINVAL;
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

	put_prefix(&w, xid, RPCRDMA_VERS_2, credit, htype);
	rpcrdma2_wr_u32(&w, response ? RPCRDMA2_F_RESPONSE : 0);
	return rpcrdma2_wr_result(&w, size);
}

/**
 * rpcrdma2_wire_error_nargs - number of argument words of an error of version 2
 * @err: the code; codes that are not known have none (ERR-10, EXT-3)
 *
 * Context: any.
 * Return: at most 2
 */
u32 rpcrdma2_wire_error_nargs(u32 err)
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

/**
 * rpcrdma2_wire_encode_error - write an ERROR
 * @codec: the version
 * @msg: prefix of the message that is refused
 * @credit: credits granted
 * @err: the code. Version 1 has only ERR_VERS and ERR_CHUNK, which stands for all others
 *	(V1-2)
 * @arg: arguments, used as far as the code has any; NULL for zeros
 * @buf: where to write
 * @size: bytes at @buf
 *
 * Every version can read ERR_VERS, which has no flags: always the fixed form of 28 bytes.
 *
 * Context: any. Requirements: ERR-2, ERR-11, FLG-8, D-8.
 * Return: bytes written or -EMSGSIZE.
 */
int rpcrdma2_wire_encode_error(const struct rpcrdma2_codec *codec,
			       const struct rpcrdma2_hdr *msg, u32 credit, u32 err,
			       const u32 arg[2], void *buf, u32 size)
{
	struct rpcrdma2_writer w = { .p = buf, .left = size };
	u32 i, nargs;

	put_prefix(&w, msg->xid, msg->vers, credit, RDMA2_ERROR);
	if (err != RDMA2_ERR_VERS) {
		if (codec->vers == RPCRDMA_VERS_1)
			err = RDMA2_ERR_BAD_XDR;
		else
			rpcrdma2_wr_u32(&w, RPCRDMA2_F_RESPONSE);
	}
	rpcrdma2_wr_u32(&w, err);
	nargs = rpcrdma2_wire_error_nargs(err);
	for (i = 0; i < nargs; i++)
		rpcrdma2_wr_u32(&w, arg ? arg[i] : 0);
	return rpcrdma2_wr_result(&w, size);
}

/* ERR_VERS, which every version can read */

/**
 * rpcrdma2_wire_decode_err_vers - recognise an ERR_VERS of any sender
 * @msg: received message
 * @len: bytes received
 * @low: where to put the lowest version the peer supports
 * @high: where to put the highest
 *
 * Word 4 is 1 both in the fixed form (the error code) and in a version 2
 * error (the RESPONSE flag), and servers copy our version number into
 * errors of their own version: only the length and words 5 and 6 tell. An
 * error of version 2 may have that length because a word follows it that does
 * not belong to it, or because it was cut.
 *
 * Context: any. Requirements: ERR-12, V1-11, D-8.
 * Return: true for an ERR_VERS; @low and @high are untouched otherwise.
 */
bool rpcrdma2_wire_decode_err_vers(const void *msg, u32 len, u32 *low, u32 *high)
{
	struct rpcrdma2_hdr hdr;
	const u8 *p = msg;
	u32 word5, word6;

	if (len < 28 || !rpcrdma2_wire_peek(msg, len, &hdr) ||
	    hdr.htype != RDMA2_ERROR ||
	    get_unaligned_be32(p + 16) != RDMA2_ERR_VERS)
		return false;

	word5 = get_unaligned_be32(p + 20);
	word6 = get_unaligned_be32(p + 24);
	/* A peer that refuses version 2 offers an older one. In any other error of
	 * version 2 the first of these words is the code, which is at least 2.
	 */
	if (hdr.vers == RPCRDMA_VERS_1 ||
	    (len == 28 && (hdr.vers != RPCRDMA_VERS_2 ||
			   (word5 < RPCRDMA_VERS_2 && word5 <= word6)))) {
		*low = word5;
		*high = word6;
		return true;
	}
	if (len >= 32 && word5 == RDMA2_ERR_VERS) {
		*low = word6;
		*high = get_unaligned_be32(p + 28);
		return true;
	}
	return false;
}

/**
 * rpcrdma2_wire_codec - the codec of a version
 * @vers: rdma_vers
 *
 * Context: any.
 * Return: the codec, NULL if there is none.
 */
const struct rpcrdma2_codec *rpcrdma2_wire_codec(u32 vers)
{
	if (vers == RPCRDMA_VERS_2)
		return &rpcrdma2_codec_v2;
	return vers == RPCRDMA_VERS_1 ? &rpcrdma2_codec_v1 : NULL;
}
