/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Abilities of a device; see device.c.
 */
#ifndef _RPCRDMA2_DEVICE_H
#define _RPCRDMA2_DEVICE_H

#include <rdma/ib_verbs.h>

/* Neighbouring pages share an entry of a scatterlist of at most this many bytes, which any
 * device takes
 */
#define RPCRDMA2_SG_RUN			SZ_64K

/**
 * struct rpcrdma2_device_caps - abilities of a device
 * @max_send_sge: SGEs per Send and RDMA Write, at most 32
 * @max_read_sge: SGEs per RDMA Read
 * @mr_depth: pages one MR can hold
 * @max_qp_wr: deepest send or receive queue
 * @max_cqe: deepest completion queue
 * @copies_signaled: the device needs the memory of an unsignaled Send of a page or more
 *	for longer than until a later Send completes (siw)
 */
struct rpcrdma2_device_caps {
	u32				max_send_sge;
	u32				max_read_sge;
	u32				mr_depth;
	u32				max_qp_wr;
	u32				max_cqe;
	bool				copies_signaled;
};

int rpcrdma2_device_query(struct ib_device *device,
			  struct rpcrdma2_device_caps *caps);

#endif /* _RPCRDMA2_DEVICE_H */
