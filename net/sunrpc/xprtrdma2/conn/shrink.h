/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Memory of idle connections; see shrink.c.
 */
#ifndef _RPCRDMA2_SHRINK_H
#define _RPCRDMA2_SHRINK_H

struct rpcrdma2_conn;

void rpcrdma2_shrink_start(struct rpcrdma2_conn *conn);
void rpcrdma2_shrink_check(struct rpcrdma2_conn *conn);

#endif /* _RPCRDMA2_SHRINK_H */
