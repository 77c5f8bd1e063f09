// SPDX-License-Identifier: GPL-2.0
/*
 * The workqueues of the module. Without memory for more threads a workqueue has one,
 * which runs one work item after the other. Work that ends a wait may not queue behind
 * work that waits, hence six of them:
 *
 *   rpcrdma2_wq		work that does not wait
 *   rpcrdma2_memory_wq		work that may wait for memory
 *   rpcrdma2_deferred_wq		deferred work of a client, which may wait for the connect
 *				path
 *   rpcrdma2_serve_wq		deferred work of a server, which may wait for memory
 *   rpcrdma2_connect_wq	work that waits for a peer
 *   rpcrdma2_poll_wq		completions
 */
#include <linux/init.h>

#include "compat.h"
#include "conn/workqueue.h"

struct workqueue_struct *rpcrdma2_wq;
struct workqueue_struct *rpcrdma2_memory_wq;
struct workqueue_struct *rpcrdma2_deferred_wq;
struct workqueue_struct *rpcrdma2_serve_wq;
struct workqueue_struct *rpcrdma2_connect_wq;
struct workqueue_struct *rpcrdma2_poll_wq;

/**
 * rpcrdma2_workqueues_destroy - reverse of rpcrdma2_workqueues_create()
 *
 * Context: module load and unload; sleeps. Nothing queues work any more.
 */
void rpcrdma2_workqueues_destroy(void)
{
	if (rpcrdma2_poll_wq)
		destroy_workqueue(rpcrdma2_poll_wq);
	if (rpcrdma2_connect_wq)
		destroy_workqueue(rpcrdma2_connect_wq);
	if (rpcrdma2_serve_wq)
		destroy_workqueue(rpcrdma2_serve_wq);
	if (rpcrdma2_deferred_wq)
		destroy_workqueue(rpcrdma2_deferred_wq);
	if (rpcrdma2_memory_wq)
		destroy_workqueue(rpcrdma2_memory_wq);
	if (rpcrdma2_wq)
		destroy_workqueue(rpcrdma2_wq);
}

/**
 * rpcrdma2_workqueues_create - create the workqueues
 *
 * Context: module load; sleeps.
 * Return: 0 or -ENOMEM
 */
int __init rpcrdma2_workqueues_create(void)
{
	const unsigned int flags = WQ_MEM_RECLAIM | WQ_UNBOUND;
	/* In the thread of the CQ's work item, as a rule, right behind that */
	const unsigned int behind = WQ_MEM_RECLAIM | WQ_PERCPU | WQ_HIGHPRI;

	rpcrdma2_wq = alloc_workqueue("rpcrdma2", flags, 0);
	rpcrdma2_memory_wq = alloc_workqueue("rpcrdma2_memory", flags, 0);
	rpcrdma2_deferred_wq = alloc_workqueue("rpcrdma2_deferred", behind, 0);
	rpcrdma2_serve_wq = alloc_workqueue("rpcrdma2_serve", behind, 0);
	rpcrdma2_connect_wq = alloc_workqueue("rpcrdma2_connect", flags, 0);
	rpcrdma2_poll_wq = alloc_workqueue("rpcrdma2_poll",
					   WQ_MEM_RECLAIM | WQ_PERCPU |
					   WQ_HIGHPRI, 0);
	if (rpcrdma2_wq && rpcrdma2_memory_wq && rpcrdma2_deferred_wq &&
	    rpcrdma2_serve_wq && rpcrdma2_connect_wq && rpcrdma2_poll_wq)
		return 0;
	rpcrdma2_workqueues_destroy();
	return -ENOMEM;
}
