// SPDX-License-Identifier: GPL-2.0
/*
 * The RDMA-CM private data of version 1 (RFC 8797).
 *
 * Every function here is pure: no kernel service, no lock, no allocation,
 * any context.
 */

#include "proto/cm_private.h"
#include "proto/wire.h"

#define CM_MAGIC		0xf6ab0e18U
#define CM_VERSION		1U
#define CM_REMOTE_INVAL		0x01U
#define CM_SIZE_UNIT		1024U
#define CM_SIZE_MAX		(256U * CM_SIZE_UNIT)

static u8 cm_size_code(u32 bytes)
{
	bytes = clamp_t(u32, bytes, CM_SIZE_UNIT, CM_SIZE_MAX);
	return bytes / CM_SIZE_UNIT - 1;
}

static u32 cm_size_bytes(u8 code)
{
	return (code + 1U) * CM_SIZE_UNIT;
}

/**
 * rpcrdma_cm_encode - write the private data
 * @cm: what it is to say; sizes are rounded down to what can be said
 * @buf: RPCRDMA_CM_PRIVATE_BYTES bytes
 *
 * Context: any. Requirements: CM-1, CM-3, CM-4, CM-5.
 */
void rpcrdma_cm_encode(const struct rpcrdma_cm_private *cm, u8 *buf)
{
	put_unaligned_be32(CM_MAGIC, buf);
	buf[4] = CM_VERSION;
	buf[5] = cm->remote_inval ? CM_REMOTE_INVAL : 0;
	buf[6] = cm_size_code(cm->send_size);
	buf[7] = cm_size_code(cm->recv_size);
}

/**
 * rpcrdma_cm_decode - read the private data of a peer
 * @buf: private data as received; may be NULL if @len is 0
 * @len: its length, often padded
 * @cm: what it says; defaults if it says nothing usable
 *
 * The first occurrence of the magic decides: other layers may have put
 * their own data in front.
 *
 * Context: any. Requirements: CM-4, CM-6, CM-9, CM-10, CM-11, CM-15.
 */
void rpcrdma_cm_decode(const void *buf, u32 len,
		       struct rpcrdma_cm_private *cm)
{
	const u8 *p = buf;

	cm->remote_inval = false;
	cm->send_size = RPCRDMA1_INLINE_DEFAULT;
	cm->recv_size = RPCRDMA1_INLINE_DEFAULT;

	for (; len >= RPCRDMA_CM_PRIVATE_BYTES; p++, len--) {
		if (get_unaligned_be32(p) != CM_MAGIC)
			continue;
		if (p[4] != CM_VERSION)
			return;
		cm->remote_inval = p[5] & CM_REMOTE_INVAL;
		cm->send_size = cm_size_bytes(p[6]);
		cm->recv_size = cm_size_bytes(p[7]);
		return;
	}
}

/**
 * rpcrdma_cm_threshold - inline threshold of one direction in version 1
 * @sender: private data of the side that sends
 * @receiver: private data of the side that receives
 *
 * Context: any. Requirements: CM-7.
 * Return: bytes.
 */
u32 rpcrdma_cm_threshold(const struct rpcrdma_cm_private *sender,
			 const struct rpcrdma_cm_private *receiver)
{
	return min(sender->send_size, receiver->recv_size);
}
