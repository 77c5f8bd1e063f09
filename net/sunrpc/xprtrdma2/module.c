// SPDX-License-Identifier: GPL-2.0
/*
 * Load and unload. Resources that client and server share are created before the
 * transport is registered with sunrpc (class.c), and released after the transport
 * has been unregistered.
 *
 * sunrpc holds a reference to the module for every transport, so the module cannot
 * be unloaded while a mount or a listener exists.
 */
#include <linux/module.h>
#include <net/net_namespace.h>

#include "conn/inject.h"
#include "requester/devmem.h"
#include "xprt/xprt.h"
#include "admin/netlink.h"
#include "conn/conn_list.h"
#include "conn/peer_policy.h"
#include "conn/workqueue.h"
#ifdef RPCRDMA2_PROBES
#include "rpcrdma2_build.h"
#endif

static bool replace;
module_param(replace, bool, 0444);
MODULE_PARM_DESC(replace, "also take the place of the stock transport, rpcrdma");

#ifdef RPCRDMA2_PROBES
/**
 * rpcrdma2_module_replaces - check whether the module replaces the stock one
 *
 * Context: any.
 * Return: the parameter replace
 */
bool rpcrdma2_module_replaces(void)
{
	return replace;
}
EXPORT_SYMBOL_GPL(rpcrdma2_module_replaces);
#endif

static int __init rpcrdma2_init(void)
{
	int ret;

	ret = rpcrdma2_workqueues_create();
	if (ret)
		return ret;
	ret = register_pernet_subsys(&rpcrdma2_policy_net_ops);
	if (ret)
		goto out_workqueues;
	ret = register_pernet_subsys(&rpcrdma2_conn_list_net_ops);
	if (ret)
		goto out_policy;
	if (RPCRDMA2_INJECTS)
		rpcrdma2_inject_init();
	ret = rpcrdma2_netlink_init(replace);
	if (ret)
		goto out_conn_list;
	ret = rpcrdma2_class_register(replace);
	if (ret)
		goto out_netlink;
	return 0;

out_netlink:
	rpcrdma2_netlink_exit();
out_conn_list:
	if (RPCRDMA2_INJECTS)
		rpcrdma2_inject_exit();
	unregister_pernet_subsys(&rpcrdma2_conn_list_net_ops);
out_policy:
	unregister_pernet_subsys(&rpcrdma2_policy_net_ops);
out_workqueues:
	rpcrdma2_workqueues_destroy();
	return ret;
}

static void __exit rpcrdma2_exit(void)
{
	rpcrdma2_class_unregister();
	/* Transports may still be torn down */
	flush_workqueue(rpcrdma2_free_wq);
	rpcrdma2_netlink_exit();
	if (RPCRDMA2_INJECTS)
		rpcrdma2_inject_exit();
	unregister_pernet_subsys(&rpcrdma2_conn_list_net_ops);
	rpcrdma2_conn_list_exit();
	unregister_pernet_subsys(&rpcrdma2_policy_net_ops);
	rpcrdma2_workqueues_destroy();
}

MODULE_DESCRIPTION("RPC-over-RDMA version 2, client and server");
MODULE_LICENSE("GPL");
MODULE_ALIAS("xprtrdma2");
MODULE_ALIAS("svcrdma2");
/* A module built in a kernel tree has the version of the kernel. */
#ifdef RPCRDMA2_PROBES
MODULE_VERSION(RPCRDMA2_VERSION);
MODULE_INFO(build, RPCRDMA2_BUILD);
#endif

module_init(rpcrdma2_init);
module_exit(rpcrdma2_exit);
