/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the parts of the module share with module.c: the workqueues, and how long
 * a client waits for an answer.
 */
#ifndef _RPCRDMA2_MODULE_H
#define _RPCRDMA2_MODULE_H

#include <linux/workqueue.h>

extern unsigned int rpcrdma2_negotiate_ms;

/* Writeback waits for all of them; see module.c for the difference. */
extern struct workqueue_struct *rpcrdma2_wq;
extern struct workqueue_struct *rpcrdma2_memory_wq;
extern struct workqueue_struct *rpcrdma2_chore_wq;
extern struct workqueue_struct *rpcrdma2_serve_wq;
extern struct workqueue_struct *rpcrdma2_connect_wq;
extern struct workqueue_struct *rpcrdma2_poll_wq;

#endif /* _RPCRDMA2_MODULE_H */
