// SPDX-License-Identifier: GPL-2.0
/*
 * The unit tests as KUnit suites.
 */

#include <linux/module.h>

#include "unit.h"

kunit_test_suites(RPCRDMA2_SUITES(RPCRDMA2_POINTER));

MODULE_DESCRIPTION("RPC-over-RDMA version 2 unit tests");
MODULE_LICENSE("GPL");
