/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The client's side of the backchannel: what executes reverse direction Calls; see
 * client_bc.c.
 */
#ifndef _RPCRDMA2_CLIENT_BC_H
#define _RPCRDMA2_CLIENT_BC_H

#include <linux/wait.h>

#include "responder/responder.h"

struct rpc_rqst;
struct rpc_xprt;

/* Callbacks served at once; they have slots before the server hears of the
 * backchannel (REV-5).
 */
#define RPCRDMA2_CB_SLOTS		8U

/**
 * struct rpcrdma2_callback - the backchannel of a client's transport
 * @resp: its responder
 * @xprt: the transport
 * @idle_timeout: xprt->idle_timeout for the time after the backchannel, 0 if
 *	it is in force; transport_lock
 * @reserved: callbacks asked for by rpc_xprt_ops.bc_setup; bc_pa_lock
 * @count: callback slots in existence; bc_pa_lock. Free ones are in
 *	xprt->bc_pa_list
 * @busy: those in the hands of the callback service; bc_pa_lock
 * @wq: woken when @busy becomes empty
 */
struct rpcrdma2_callback {
	struct rpcrdma2_responder	resp;
	struct rpc_xprt			*xprt;
	unsigned long			idle_timeout;
	unsigned int			reserved;
	unsigned int			count;
	struct list_head		busy;
	wait_queue_head_t		wq;
};

void rpcrdma2_client_bc_init(struct rpcrdma2_callback *callback,
			     struct rpc_xprt *xprt);
void rpcrdma2_client_bc_destroy_slots(struct rpcrdma2_callback *callback);
int rpcrdma2_client_bc_reply(struct rpc_rqst *rqst);

/* Methods for struct rpc_xprt_ops */
int rpcrdma2_client_bc_setup(struct rpc_xprt *xprt, unsigned int min_reqs);
size_t rpcrdma2_client_bc_maxpayload(struct rpc_xprt *xprt);
unsigned int rpcrdma2_client_bc_num_slots(struct rpc_xprt *xprt);
void rpcrdma2_client_bc_free_rqst(struct rpc_rqst *rqst);
void rpcrdma2_client_bc_destroy(struct rpc_xprt *xprt, unsigned int max_reqs);

#endif /* _RPCRDMA2_CLIENT_BC_H */
