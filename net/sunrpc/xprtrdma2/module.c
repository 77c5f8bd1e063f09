// SPDX-License-Identifier: GPL-2.0
/*
 * Load and unload: what client and server share exists before sunrpc hears
 * of the transport, see names.c, and as long as sunrpc knows of it.
 *
 * sunrpc holds a reference to the module for every transport, so unloading
 * is refused while a mount or a listener exists.
 */
#include <linux/module.h>

#include "compat.h"
#include "inject.h"
#include "module.h"
#include "names.h"
#include "netlink.h"
#include "observe.h"
#include "policy.h"
#include "server.h"
#ifdef RPCRDMA2_PROBES
#include "rpcrdma2_build.h"
#endif

unsigned int rpcrdma2_negotiate_ms = 2000;
module_param_named(negotiate_ms, rpcrdma2_negotiate_ms, uint, 0644);
MODULE_PARM_DESC(negotiate_ms,
		 "milliseconds to wait for the answer to a first message");

/* Without memory for more threads a workqueue has one, which does one thing
 * after the other. What ends a wait may not queue behind what waits, hence
 * six of them: for completions, for what waits for nothing, for what may wait for
 * memory, for what completion handlers of a client defer, which may wait for the
 * connect path, for what those of a server defer, which may wait for memory, and for
 * what waits for a peer.
 */
struct workqueue_struct *rpcrdma2_wq;
struct workqueue_struct *rpcrdma2_memory_wq;
struct workqueue_struct *rpcrdma2_chore_wq;
struct workqueue_struct *rpcrdma2_serve_wq;
struct workqueue_struct *rpcrdma2_connect_wq;
struct workqueue_struct *rpcrdma2_poll_wq;

static void wqs_destroy(void)
{
	if (rpcrdma2_poll_wq)
		destroy_workqueue(rpcrdma2_poll_wq);
	if (rpcrdma2_connect_wq)
		destroy_workqueue(rpcrdma2_connect_wq);
	if (rpcrdma2_serve_wq)
		destroy_workqueue(rpcrdma2_serve_wq);
	if (rpcrdma2_chore_wq)
		destroy_workqueue(rpcrdma2_chore_wq);
	if (rpcrdma2_memory_wq)
		destroy_workqueue(rpcrdma2_memory_wq);
	if (rpcrdma2_wq)
		destroy_workqueue(rpcrdma2_wq);
}

static int __init wqs_create(void)
{
	const unsigned int flags = WQ_MEM_RECLAIM | WQ_UNBOUND;
	/* In the thread of the CQ's work item, as a rule, right behind that */
	const unsigned int behind = WQ_MEM_RECLAIM | WQ_PERCPU | WQ_HIGHPRI;

	rpcrdma2_wq = alloc_workqueue("rpcrdma2", flags, 0);
	rpcrdma2_memory_wq = alloc_workqueue("rpcrdma2_memory", flags, 0);
	rpcrdma2_chore_wq = alloc_workqueue("rpcrdma2_chore", behind, 0);
	rpcrdma2_serve_wq = alloc_workqueue("rpcrdma2_serve", behind, 0);
	rpcrdma2_connect_wq = alloc_workqueue("rpcrdma2_connect", flags, 0);
	rpcrdma2_poll_wq = alloc_workqueue("rpcrdma2_poll",
					   WQ_MEM_RECLAIM | WQ_PERCPU |
					   WQ_HIGHPRI, 0);
	if (rpcrdma2_wq && rpcrdma2_memory_wq && rpcrdma2_chore_wq &&
	    rpcrdma2_serve_wq && rpcrdma2_connect_wq && rpcrdma2_poll_wq)
		return 0;
	wqs_destroy();
	return -ENOMEM;
}

static int __init rpcrdma2_init(void)
{
	int ret;

	ret = wqs_create();
	if (ret)
		return ret;
	ret = rpcrdma2_policy_init();
	if (ret)
		goto out_wqs;
	ret = rpcrdma2_observe_init();
	if (ret)
		goto out_policy;
	rpcrdma2_inject_init();
	ret = rpcrdma2_netlink_init();
	if (ret)
		goto out_observe;
	ret = rpcrdma2_server_init();
	if (ret)
		goto out_netlink;
	ret = rpcrdma2_names_register();
	if (ret)
		goto out_server;
	return 0;

out_server:
	rpcrdma2_server_exit();
out_netlink:
	rpcrdma2_netlink_exit();
out_observe:
	rpcrdma2_inject_exit();
	rpcrdma2_observe_exit();
out_policy:
	rpcrdma2_policy_exit();
out_wqs:
	wqs_destroy();
	return ret;
}

static void __exit rpcrdma2_exit(void)
{
	rpcrdma2_names_unregister();
	rpcrdma2_server_exit();
	rpcrdma2_netlink_exit();
	rpcrdma2_inject_exit();
	rpcrdma2_observe_exit();
	rpcrdma2_policy_exit();
	wqs_destroy();
}

MODULE_DESCRIPTION("RPC-over-RDMA version 2, client and server");
MODULE_LICENSE("GPL");
MODULE_ALIAS("xprtrdma2");
MODULE_ALIAS("svcrdma2");
/* In a kernel tree the version is that of the kernel. */
#ifdef RPCRDMA2_PROBES
MODULE_VERSION(RPCRDMA2_VERSION);
MODULE_INFO(build, RPCRDMA2_BUILD);
#endif

module_init(rpcrdma2_init);
module_exit(rpcrdma2_exit);
