// SPDX-License-Identifier: GPL-2.0
/*
 * The workqueues of the module. Without memory for more threads a workqueue has one,
 * which runs one work item after the other. Work that ends a wait must not queue behind
 * work that waits, hence six of them:
 *
 *   rpcrdma2_wq		work that does not wait
 *   rpcrdma2_memory_wq		work that may wait for memory
 *   rpcrdma2_serve_wq		deferred work of a server, which may wait for memory
 *   rpcrdma2_connect_wq	work that waits for a peer
 *   rpcrdma2_poll_wq		completions
 *   rpcrdma2_free_wq		teardown of a server's transports, outside of nfsd's threads
 */
#include <linux/init.h>

#include "conn/workqueue.h"

struct workqueue_struct *rpcrdma2_wq;
struct workqueue_struct *rpcrdma2_memory_wq;
struct workqueue_struct *rpcrdma2_serve_wq;
struct workqueue_struct *rpcrdma2_connect_wq;
struct workqueue_struct *rpcrdma2_poll_wq;
struct workqueue_struct *rpcrdma2_free_wq;

/* The flags of rpciod, so that all share their threads: a thread goes on with the work that
 * its work item has queued. Administrators can change priority and CPUs in
 * /sys/devices/virtual/workqueue.
 */
#define WORKQUEUE_FLAGS		(WQ_MEM_RECLAIM | WQ_UNBOUND | WQ_SYSFS)

static const struct {
	struct workqueue_struct	**wq;
	const char		*name;
} workqueues[] = {
	{ &rpcrdma2_wq,		"rpcrdma2" },
	{ &rpcrdma2_memory_wq,	"rpcrdma2_memory" },
	{ &rpcrdma2_serve_wq,	"rpcrdma2_serve" },
	{ &rpcrdma2_connect_wq,	"rpcrdma2_connect" },
	{ &rpcrdma2_poll_wq,	"rpcrdma2_poll" },
	{ &rpcrdma2_free_wq,	"rpcrdma2_free" },
};

/**
 * rpcrdma2_workqueues_destroy - reverse of rpcrdma2_workqueues_create()
 *
 * Context: module load and unload; sleeps. Nothing queues work any more.
 */
void rpcrdma2_workqueues_destroy(void)
{
	int i;

	for (i = ARRAY_SIZE(workqueues) - 1; i >= 0; i--)
		if (*workqueues[i].wq)
			destroy_workqueue(*workqueues[i].wq);
}

/**
 * rpcrdma2_workqueues_create - create the workqueues
 *
 * Context: module load; sleeps.
 * Return: 0 or -ENOMEM
 */
int __init rpcrdma2_workqueues_create(void)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(workqueues); i++) {
		*workqueues[i].wq = alloc_workqueue("%s", WORKQUEUE_FLAGS, 0,
						    workqueues[i].name);
		if (!*workqueues[i].wq) {
			rpcrdma2_workqueues_destroy();
			return -ENOMEM;
		}
	}
	return 0;
}
