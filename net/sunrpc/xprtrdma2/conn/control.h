/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Control messages to the peer, and the rejection of invalid messages; see control.c.
 */
#ifndef _RPCRDMA2_CONTROL_H
#define _RPCRDMA2_CONTROL_H

#include "conn/stats.h"
#include "proto/wire.h"

struct rpcrdma2_conn;
struct rpcrdma2_recv;
struct rpcrdma2_send;

struct rpcrdma2_send *rpcrdma2_control_get(struct rpcrdma2_conn *conn, u32 xid,
					   u32 htype, bool response);
int rpcrdma2_control_post(struct rpcrdma2_send *send, int body, enum rpcrdma2_stat stat);
int rpcrdma2_control_null(struct rpcrdma2_conn *conn, u32 xid);

void rpcrdma2_control_err_vers(struct rpcrdma2_conn *conn,
			       const struct rpcrdma2_hdr *about, bool last);

void rpcrdma2_reject_dropped(struct rpcrdma2_conn *conn, const struct rpcrdma2_recv *rx);
void rpcrdma2_reject(struct rpcrdma2_conn *conn, const struct rpcrdma2_recv *rx,
		     enum rpcrdma2_verdict verdict);

#endif /* _RPCRDMA2_CONTROL_H */
