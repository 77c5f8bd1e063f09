// SPDX-License-Identifier: GPL-2.0
/*
 * Abilities of a device. Nothing is kept per device: a connection asks once, before it
 * creates its QP.
 */
#include <linux/minmax.h>

#include "conn/device.h"
#include "conn/inject.h"

/* A payload of 64 KiB at any alignment, and its header, in one entry: 512 bytes of a send
 * queue with rxe as well as with mlx5. More SGEs make entries longer, and the gain for
 * longer payloads is not measurable.
 */
#define RPCRDMA2_MAX_SGES	18

/* One MR for a payload of 1 MiB that does not begin on a page boundary */
#define RPCRDMA2_MR_PAGES	((SZ_1M >> PAGE_SHIFT) + 1)

/**
 * rpcrdma2_device_query - get the abilities of a device
 * @device: device that a connection is about to use
 * @caps: filled in
 *
 * Context: any.
 * Return: 0, or -EPROTO if the device cannot register memory by work
 * requests, which this transport depends on (RINV-3, RINV-9)
 */
int rpcrdma2_device_query(struct ib_device *device,
			  struct rpcrdma2_device_caps *caps)
{
	const struct ib_device_attr *attrs = &device->attrs;

	if (!(attrs->device_cap_flags & IB_DEVICE_MEM_MGT_EXTENSIONS) ||
	    !attrs->max_fast_reg_page_list_len) {
		pr_notice_ratelimited("rpcrdma2: %s has no fast memory registration\n",
				      dev_name(&device->dev));
		return -EPROTO;
	}

	caps->max_send_sge = min_t(u32, attrs->max_send_sge, RPCRDMA2_MAX_SGES);
	caps->max_read_sge = min_t(u32, attrs->max_sge_rd, RPCRDMA2_MAX_SGES);
	caps->mr_depth = min_t(u32, attrs->max_fast_reg_page_list_len,
			       RPCRDMA2_MR_PAGES);
	caps->copies_signaled = device->ops.driver_id == RDMA_DRIVER_SIW;
	caps->max_qp_wr = min_not_zero(rpcrdma2_pretend(max_qp_wr), (u32)attrs->max_qp_wr);
	caps->max_cqe = min_not_zero(rpcrdma2_pretend(max_cqe), (u32)attrs->max_cqe);
	return 0;
}
