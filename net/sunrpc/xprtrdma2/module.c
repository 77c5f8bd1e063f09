// SPDX-License-Identifier: GPL-2.0
/*
 * Load and unload: what client and server share exists before sunrpc hears
 * of the transport, see names.c, and as long as sunrpc knows of it.
 *
 * sunrpc holds a reference to the module for every transport, so unloading
 * is refused while a mount or a listener exists.
 */
#include <linux/module.h>

#include "inject.h"
#include "module.h"
#include "names.h"
#include "observe.h"
#include "server.h"

struct rpcrdma2_ver_policy rpcrdma2_client_policy = {
	.v1		= true,
	.v2		= true,
	.remember_min	= 60,
	.remember_max	= 600,
};

struct rpcrdma2_ver_policy rpcrdma2_server_policy = {
	.v1		= true,
	.v2		= true,
};

module_param_named(client_v1, rpcrdma2_client_policy.v1, bool, 0644);
MODULE_PARM_DESC(client_v1,
		 "mounts may fall back to version 1 (N: insist on version 2)");
module_param_named(client_v2, rpcrdma2_client_policy.v2, bool, 0644);
MODULE_PARM_DESC(client_v2, "mounts offer version 2");
module_param_named(server_v1, rpcrdma2_server_policy.v1, bool, 0644);
MODULE_PARM_DESC(server_v1, "listeners serve clients of version 1");
module_param_named(server_v2, rpcrdma2_server_policy.v2, bool, 0644);
MODULE_PARM_DESC(server_v2, "listeners serve clients of version 2");
module_param_named(remember_min, rpcrdma2_client_policy.remember_min, uint,
		   0644);
MODULE_PARM_DESC(remember_min,
		 "seconds to remember a server that did not answer to version 2");
module_param_named(remember_max, rpcrdma2_client_policy.remember_max, uint,
		   0644);
MODULE_PARM_DESC(remember_max, "longest such time; it doubles each time");

unsigned int rpcrdma2_negotiate_ms = 2000;
module_param_named(negotiate_ms, rpcrdma2_negotiate_ms, uint, 0644);
MODULE_PARM_DESC(negotiate_ms,
		 "milliseconds to wait for the answer to a first message");

struct workqueue_struct *rpcrdma2_wq;

static int __init rpcrdma2_init(void)
{
	int ret;

	rpcrdma2_wq = alloc_workqueue("rpcrdma2", WQ_MEM_RECLAIM | WQ_UNBOUND,
				      0);
	if (!rpcrdma2_wq)
		return -ENOMEM;
	rpcrdma2_observe_init();
	rpcrdma2_inject_init();

	ret = rpcrdma2_server_init();
	if (ret)
		goto out_observe;
	ret = rpcrdma2_names_register();
	if (ret)
		goto out_server;
	return 0;

out_server:
	rpcrdma2_server_exit();
out_observe:
	rpcrdma2_inject_exit();
	rpcrdma2_observe_exit();
	destroy_workqueue(rpcrdma2_wq);
	return ret;
}

static void __exit rpcrdma2_exit(void)
{
	rpcrdma2_names_unregister();
	rpcrdma2_server_exit();
	rpcrdma2_inject_exit();
	rpcrdma2_observe_exit();
	destroy_workqueue(rpcrdma2_wq);
}

MODULE_DESCRIPTION("RPC-over-RDMA version 2, client and server");
MODULE_LICENSE("GPL");
MODULE_ALIAS("xprtrdma2");
MODULE_ALIAS("svcrdma2");

module_init(rpcrdma2_init);
module_exit(rpcrdma2_exit);
