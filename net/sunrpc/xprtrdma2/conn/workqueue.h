/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The workqueues of the module; see workqueue.c for the difference. Writeback waits for
 * all of them but the last.
 */
#ifndef _RPCRDMA2_WORKQUEUE_H
#define _RPCRDMA2_WORKQUEUE_H

#include <linux/workqueue.h>

extern struct workqueue_struct *rpcrdma2_wq;
extern struct workqueue_struct *rpcrdma2_memory_wq;
extern struct workqueue_struct *rpcrdma2_serve_wq;
extern struct workqueue_struct *rpcrdma2_connect_wq;
extern struct workqueue_struct *rpcrdma2_poll_wq;
extern struct workqueue_struct *rpcrdma2_free_wq;

int rpcrdma2_workqueues_create(void);
void rpcrdma2_workqueues_destroy(void);

#endif /* _RPCRDMA2_WORKQUEUE_H */
