/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Questions about a received message that unit tests and fuzzers ask, and the module does
 * not.
 */
#ifndef _RPCRDMA2_DECODED_H
#define _RPCRDMA2_DECODED_H

#include "../../net/sunrpc/xprtrdma2/proto/chunk_list.h"
#include "../../net/sunrpc/xprtrdma2/proto/wire_impl.h"

/* The message must not be answered, however it goes on. */
static inline bool too_short(const void *msg, u32 len)
{
	struct rpcrdma2_reader r;
	struct rpcrdma2_hdr hdr;

	return !rpcrdma2_wire_prefix(&r, msg, len, &hdr);
}

/* Bytes that a responder put into Write chunk @index; 0 if there is none */
static inline u64 write_list_bytes(const struct rpcrdma2_hdr *reply, u32 index)
{
	struct rpcrdma2_cursor writes, segs;

	rpcrdma2_write_list_begin(reply, &writes);
	do {
		if (!rpcrdma2_write_list_next(&writes, &segs))
			return 0;
	} while (index--);
	return rpcrdma2_segs_bytes(segs);
}

#endif /* _RPCRDMA2_DECODED_H */
