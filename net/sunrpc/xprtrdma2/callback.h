/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The client's side of the backchannel: reverse direction Calls come in,
 * Replies go out. See client.h for struct rpcrdma2_client.
 */
#ifndef _RPCRDMA2_CALLBACK_H
#define _RPCRDMA2_CALLBACK_H

#include "client.h"

void rpcrdma2_callback_init(struct rpcrdma2_client *client);
void rpcrdma2_callback_destroy(struct rpcrdma2_client *client);
bool rpcrdma2_callback_call(struct rpcrdma2_conn *conn,
			    struct rpcrdma2_recv *rx);
int rpcrdma2_callback_reply(struct rpc_rqst *rqst);

/* Methods for struct rpc_xprt_ops */
int rpcrdma2_bc_setup(struct rpc_xprt *xprt, unsigned int min_reqs);
size_t rpcrdma2_bc_maxpayload(struct rpc_xprt *xprt);
unsigned int rpcrdma2_bc_num_slots(struct rpc_xprt *xprt);
void rpcrdma2_bc_free_rqst(struct rpc_rqst *rqst);
void rpcrdma2_bc_destroy(struct rpc_xprt *xprt, unsigned int max_reqs);

#endif /* _RPCRDMA2_CALLBACK_H */
