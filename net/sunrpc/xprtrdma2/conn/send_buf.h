/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Send slots and their buffers; see send_buf.c.
 */
#ifndef _RPCRDMA2_SEND_BUF_H
#define _RPCRDMA2_SEND_BUF_H

#include <linux/list.h>
#include <linux/types.h>

struct rpcrdma2_conn;

/* Buffers that an idle connection keeps. One would do, since a Send that takes the last
 * is signaled.
 */
#define RPCRDMA2_LEAST_BUFFERS	2U

int rpcrdma2_sends_create(struct rpcrdma2_conn *conn);
int rpcrdma2_sends_grow(struct rpcrdma2_conn *conn, u32 size, u32 min);
void rpcrdma2_sends_destroy(struct rpcrdma2_conn *conn);
size_t rpcrdma2_sends_memory(const struct rpcrdma2_conn *conn);
bool rpcrdma2_send_buf_add(struct rpcrdma2_conn *conn);
void rpcrdma2_send_buf_trim(struct rpcrdma2_conn *conn);

#endif /* _RPCRDMA2_SEND_BUF_H */
