#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A device that this transport can't use is refused, once and for all: the mount
# fails soon, and the kernel's log has one line that says why.
#
# flavours: qemu-hw
. /lab/lib/lab.sh

SOON=20		# seconds; a mount over a device that works takes less than two

lines() { dmesg | grep -cE "rpcrdma2: rxe0.*$1" || true; }

refused() { # LINE VERS PROFILE [PARAMETER=VALUE...]
	local line=$1 vers=$2 before start

	! has rxe || rdma link delete rxe0
	HW_PROFILE="${*:3}"
	lab_net
	before=$(lines "$line")
	start=$SECONDS
	not nfs rxe "$vers" retry=0
	[ $((SECONDS - start)) -le $SOON ]
	[ "$(lines "$line")" = $((before + 1)) ]
	not nfs_mounted
	none_left
}

fs_start
ktap_run "no fast registration (D1)" refused \
	"no fast memory registration" 4.2 efa
ktap_run "NFSv3 no fast registration (D1)" refused \
	"no fast memory registration" 3 efa
ktap_run "too few pages in a region (D1)" refused \
	"only 16 pages at a time" 4.2 mlx5 fr_pages=16
ktap_run "no reliable connections (D1)" refused \
	"queue pair" 4.2 efa mem_mgt=Y
ktap_run "send queues too short (D2)" refused \
	"send queues of only 32 entries" 4.2 least max_qp_wr=32
ktap_run "completion queues too short (D3)" refused \
	"completion queues of only 128 entries" 4.2 mlx5 max_cqe=128
ktap_run "no room for a queue (D1)" refused \
	"queue pair" 4.2 mlx5 hw_sq_bytes=512
