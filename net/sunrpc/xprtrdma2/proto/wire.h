/* SPDX-License-Identifier: GPL-2.0 */
/*
 * RPC-over-RDMA headers on the wire: encode and decode.
 *
 * Pure (see portable.h). A decoded header does not copy chunk lists: it
 * holds spans of the received message that were validated once, word by
 * word, against the number of bytes really received. Iterators walk the
 * spans (chunk_list.h). Nothing is allocated, so nothing is ever sized by the wire.
 */
#ifndef _RPCRDMA2_WIRE_H
#define _RPCRDMA2_WIRE_H

#include "proto/portable.h"

#define RPCRDMA_VERS_1			1U
#define RPCRDMA_VERS_2			2U

/* Header types, version 2; MSG, NOMSG and ERROR have the same codes in
 * version 1, which also knows MSGP and DONE.
 */
#define RDMA2_MSG			0U
#define RDMA2_NOMSG			1U
#define RDMA1_MSGP			2U
#define RDMA1_DONE			3U
#define RDMA2_ERROR			4U
#define RDMA2_CONNPROP			5U
#define RDMA2_X_REQPROP			0xffffff02U
#define RDMA2_X_RESPROP			0xffffff03U
#define RDMA2_X_UPDPROP			0xffffff04U

#define RPCRDMA2_F_RESPONSE		0x00000001U

#define RDMA2_ERR_VERS			1U
#define RDMA2_ERR_BAD_XDR		2U	/* v1: ERR_CHUNK */
#define RDMA2_ERR_INVAL_HTYPE		3U
#define RDMA2_ERR_READ_CHUNKS		4U
#define RDMA2_ERR_WRITE_CHUNKS		5U
#define RDMA2_ERR_SEGMENTS		6U
#define RDMA2_ERR_WRITE_RESOURCE	7U
#define RDMA2_ERR_REPLY_RESOURCE	8U
#define RDMA2_ERR_SYSTEM		9U

#define RPCRDMA_COMMON_PREFIX		16U	/* bytes, every version */
#define RPCRDMA2_PREFIX			20U
#define RPCRDMA1_HDR_MIN		28U
#define RPCRDMA2_HDR_MIN		36U
#define RPCRDMA2_SEGMENT_BYTES		16U
#define RPCRDMA2_READ_ENTRY_BYTES	24U
#define RPCRDMA2_MAX_ERROR		32U	/* longest RDMA2_ERROR */

#define RPCRDMA1_INLINE_DEFAULT		1024U
#define RPCRDMA2_INLINE_DEFAULT		4096U
#define RPCRDMA2_FIRST_MSG_MAX		1024U

/* Most segments that our requester puts into one chunk; every responder
 * accepts this many (CHK-27).
 */
#define RPCRDMA2_MAX_SEGS		16U

/**
 * struct rpcrdma2_segment - one piece of registered memory
 * @handle: steering tag
 * @length: bytes
 * @offset: address in the requester's space
 */
struct rpcrdma2_segment {
	u32			handle;
	u32			length;
	u64			offset;
};

/**
 * struct rpcrdma2_chunk - one chunk, as a requester builds it
 * @position: Read chunks only: place in the un-reduced stream, in bytes
 * @nsegs: used entries of @seg
 * @seg: the segments in the order of the data
 */
struct rpcrdma2_chunk {
	u32			position;
	u32			nsegs;
	struct rpcrdma2_segment	seg[RPCRDMA2_MAX_SEGS];
};

/**
 * struct rpcrdma2_hdr - a header that was received and found well-formed
 * @xid: rdma_xid
 * @vers: rdma_vers
 * @credit: rdma_credit, uninterpreted
 * @htype: rdma_htype (v1: rdma_proc)
 * @response: the message answers one of ours. v2: the RESPONSE flag.
 *	v1: derived from msg_type of an inline RPC message; a v1 NOMSG is
 *	a response if it has a Reply chunk and no Read list
 * @undirected: v1 only: the message is malformed and its direction unknown;
 *	its credit means nothing (CRED-18)
 * @inv_handle: rdma_inv_handle, 0 in v1 and in Replies
 * @read_list: first Read list entry, NULL if the list is empty
 * @read_segs: entries of the Read list
 * @read_chunks: distinct Positions other than zero
 * @has_pz: there is a Position-Zero chunk
 * @write_list: first Write list entry, NULL if empty
 * @write_chunks: entries of the Write list
 * @reply_chunk: the count word of the Reply chunk, NULL if absent
 * @results_len: bytes of Write list and Reply chunk beyond the two words that say there
 *	are none; the Reply repeats these bytes
 * @max_segs: segments of the largest chunk of any kind
 * @has_segs: there are segments
 * @only_handle: handle of all segments; 0 without segments, or if their handles differ
 * @has_inv_handle: some segment has @inv_handle (RINV-1, RINV-8)
 * @err: ERROR: the code
 * @err_arg: ERROR: its arguments, zero where the code has none. A message that a server
 *	refuses for its version: the arguments of the answer
 * @body: MSG: the inline RPC message. Control messages: the bytes after
 *	the prefix. Points into the message
 * @body_len: bytes at @body
 * @hdr_len: bytes in front of @body
 */
struct rpcrdma2_hdr {
	u32			xid;
	u32			vers;
	u32			credit;
	u32			htype;
	bool			response;
	bool			undirected;
	u32			inv_handle;

	const u8		*read_list;
	u32			read_segs;
	u32			read_chunks;
	bool			has_pz;
	const u8		*write_list;
	u32			write_chunks;
	const u8		*reply_chunk;
	u32			results_len;
	u32			max_segs;
	bool			has_segs;
	u32			only_handle;
	bool			has_inv_handle;

	u32			err;
	u32			err_arg[2];

	const u8		*body;
	u32			body_len;
	u32			hdr_len;
};

/**
 * enum rpcrdma2_verdict - how to handle a received message
 * @RPCRDMA2_OK: well-formed; the header is filled in
 * @RPCRDMA2_DROP: do not answer, count
 * @RPCRDMA2_BAD_XDR: answer BAD_XDR (v1: ERR_CHUNK)
 * @RPCRDMA2_INVAL_HTYPE: answer INVAL_HTYPE
 * @RPCRDMA2_BAD_VERS: not this codec's version; the caller decides by the
 *	state of the connection (ERR_VERS, close, or fallback)
 *
 * With every verdict but DROP, @xid, @vers, @credit and @htype of the
 * header are valid.
 *
 * Version 1 has no direction flag. A malformed message whose direction is
 * unknown gives BAD_XDR or INVAL_HTYPE with @undirected set. It is probably a
 * Call for a server, which answers, and a Reply for a client, which drops it
 * (V1-3).
 */
enum rpcrdma2_verdict {
	RPCRDMA2_OK = 0,
	RPCRDMA2_DROP,
	RPCRDMA2_BAD_XDR,
	RPCRDMA2_INVAL_HTYPE,
	RPCRDMA2_BAD_VERS,
};

/**
 * struct rpcrdma2_call_hdr - the header of a Call to be sent (MSG or NOMSG)
 * @xid: XID of the RPC message
 * @credit: credits asked for
 * @nomsg: the RPC message is in @pz, nothing follows the header. MSG has
 *	no @pz, NOMSG has one of at least one segment
 * @inv_handle: handle offered for remote invalidation, 0 for none;
 *	ignored by version 1
 * @pz: Position-Zero chunk or NULL
 * @read: the other Read chunk or NULL; Position not 0, a multiple of 4
 * @write: the Write chunk or NULL
 * @reply: the Reply chunk or NULL
 */
struct rpcrdma2_call_hdr {
	u32				xid;
	u32				credit;
	bool				nomsg;
	u32				inv_handle;
	const struct rpcrdma2_chunk	*pz;
	const struct rpcrdma2_chunk	*read;
	const struct rpcrdma2_chunk	*write;
	const struct rpcrdma2_chunk	*reply;
};

/**
 * struct rpcrdma2_reply_hdr - the header of a Reply to be sent (MSG or NOMSG)
 * @xid: XID of the Call
 * @credit: credits granted
 * @nomsg: the RPC message was written to the Reply chunk
 * @call: decoded header of the Call; its Write list and Reply chunk are
 *	repeated with new lengths (CHK-14). Must still be readable
 * @written: bytes put into each Write chunk, in list order
 * @nwritten: entries of @written; Write chunks beyond are unused
 * @reply_written: bytes put into the Reply chunk
 */
struct rpcrdma2_reply_hdr {
	u32				xid;
	u32				credit;
	bool				nomsg;
	const struct rpcrdma2_hdr	*call;
	const u32			*written;
	u32				nwritten;
	u32				reply_written;
};

/**
 * struct rpcrdma2_codec - one version of the protocol
 * @vers: the version it encodes
 * @hdr_min: bytes of a MSG header without chunks
 * @inv_by_handle: Calls carry the handle to be invalidated in the header
 * @props: CONNPROP exists
 * @inline_reply_first: a Reply that fits inline goes inline even when a
 *	Reply chunk was given (LNG-6)
 * @decode: read @len bytes at @msg into @hdr. Order of the checks is that
 *	of FLG-11. XID mismatch between header and inline RPC message, and
 *	RESPONSE against msg_type, are checked here too (HDR-7, FLG-5)
 *
 * These are the only differences, beside the words of a header that the encoders know. All
 * functions may be called in any context.
 */
struct rpcrdma2_codec {
	u32		vers;
	u32		hdr_min;
	bool		inv_by_handle;
	bool		props;
	bool		inline_reply_first;
	enum rpcrdma2_verdict (*decode)(const void *msg, u32 len,
					struct rpcrdma2_hdr *hdr);
};

extern const struct rpcrdma2_codec rpcrdma2_codec_v1;
extern const struct rpcrdma2_codec rpcrdma2_codec_v2;

const struct rpcrdma2_codec *rpcrdma2_wire_codec(u32 vers);

u32 rpcrdma2_call_chunks_len(const struct rpcrdma2_call_hdr *call);

/* Bytes of the header that rpcrdma2_wire_encode_call() will write */
static inline u32 rpcrdma2_call_len(const struct rpcrdma2_codec *codec,
				    const struct rpcrdma2_call_hdr *call)
{
	return codec->hdr_min + rpcrdma2_call_chunks_len(call);
}

/* Bytes of the header that rpcrdma2_wire_encode_reply() will write */
static inline u32 rpcrdma2_reply_len(const struct rpcrdma2_codec *codec,
				     const struct rpcrdma2_reply_hdr *reply)
{
	return codec->hdr_min + reply->call->results_len;
}

bool rpcrdma2_wire_peek(const void *msg, u32 len, struct rpcrdma2_hdr *hdr);

bool rpcrdma2_wire_decode_err_vers(const void *msg, u32 len, u32 *low, u32 *high);

int rpcrdma2_wire_encode_plain(const struct rpcrdma2_codec *codec, u32 xid, u32 credit,
			       u32 flags, void *buf, u32 size);
int rpcrdma2_wire_encode_call(const struct rpcrdma2_codec *codec,
			      const struct rpcrdma2_call_hdr *call, void *buf, u32 size);
int rpcrdma2_wire_encode_reply(const struct rpcrdma2_codec *codec,
			       const struct rpcrdma2_reply_hdr *reply, void *buf, u32 size);
int rpcrdma2_wire_encode_error(const struct rpcrdma2_codec *codec,
			       const struct rpcrdma2_hdr *msg, u32 credit, u32 err,
			       const u32 arg[2], void *buf, u32 size);
int rpcrdma2_wire_encode_control(u32 xid, u32 credit, u32 htype, bool response,
				 void *buf, u32 size);

/* May @hdr's credit be taken as a grant? Otherwise it is a request, or, in
 * an ERROR, nothing (CRED-1, CRED-14, ERR-3, FLG-7).
 */
static inline bool rpcrdma2_is_grant(const struct rpcrdma2_hdr *hdr)
{
	return hdr->response && hdr->htype != RDMA2_ERROR;
}

#endif /* _RPCRDMA2_WIRE_H */
