/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Files of connections for root: /sys/kernel/debug/rpcrdma2/.
 */
#ifndef _RPCRDMA2_DEBUGFS_H
#define _RPCRDMA2_DEBUGFS_H

struct rpcrdma2_conn;
struct rpcrdma2_files;

int rpcrdma2_debugfs_init(void);
void rpcrdma2_debugfs_exit(void);
struct rpcrdma2_files *rpcrdma2_debugfs_add(const struct rpcrdma2_conn *conn);
void rpcrdma2_debugfs_remove(struct rpcrdma2_files *files);

#endif /* _RPCRDMA2_DEBUGFS_H */
