// SPDX-License-Identifier: GPL-2.0
/*
 * The unit tests as KUnit suites.
 */

#include <linux/module.h>

#include "unit.h"

kunit_test_suites(&rpcrdma2_wire_suite,
		  &rpcrdma2_shape_suite,
		  &rpcrdma2_encode_suite,
		  &rpcrdma2_error_suite,
		  &rpcrdma2_props_suite,
		  &rpcrdma2_credits_suite,
		  &rpcrdma2_client_version_suite,
		  &rpcrdma2_server_version_suite,
		  &rpcrdma2_cm_suite,
		  &rpcrdma2_change_suite,
		  &rpcrdma2_extend_suite);

MODULE_DESCRIPTION("RPC-over-RDMA version 2 unit tests");
MODULE_LICENSE("GPL");
