/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the parts of the module share with module.c: the version policy that
 * module parameters set, and the workqueues.
 */
#ifndef _RPCRDMA2_MODULE_H
#define _RPCRDMA2_MODULE_H

#include <linux/workqueue.h>

#include "version.h"

extern struct rpcrdma2_ver_policy rpcrdma2_client_policy;
extern struct rpcrdma2_ver_policy rpcrdma2_server_policy;
extern unsigned int rpcrdma2_negotiate_ms;

/* Writeback waits for all of them; see module.c for the difference. */
extern struct workqueue_struct *rpcrdma2_wq;
extern struct workqueue_struct *rpcrdma2_memory_wq;
extern struct workqueue_struct *rpcrdma2_connect_wq;

#endif /* _RPCRDMA2_MODULE_H */
