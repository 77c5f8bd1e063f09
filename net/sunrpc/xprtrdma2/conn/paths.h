/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Several paths to a server; see paths.c.
 */
#ifndef _RPCRDMA2_PATHS_H
#define _RPCRDMA2_PATHS_H

#include "conn/peer_policy.h"

struct net;
struct rpcrdma2_conn;
struct rpcrdma2_path_user;

/**
 * struct rpcrdma2_path - a path
 * @server: address of the mounts
 * @src: of this machine, AF_UNSPEC if the route decides
 * @dst: of the server, with the port
 * @state: its state
 * @conns: connections, and attempts to connect
 * @failures: failed attempts to connect, and lost connections
 * @reason: why it is not UP, a negative errno; or 0
 * @changed: jiffies when the state has changed
 * @due: jiffies of the next probe
 * @wait: time before that
 */
struct rpcrdma2_path {
	union rpcrdma2_addr		server;
	union rpcrdma2_addr		src;
	union rpcrdma2_addr		dst;
	enum rpcrdma2_path_state	state;
	u32				conns;
	u32				failures;
	int				reason;
	u64				changed;
	unsigned long			due;
	unsigned long			wait;
};

void rpcrdma2_paths_update(struct rpcrdma2_path_user **user, struct net *net,
			   const struct sockaddr *server, struct rpcrdma2_addrs *addrs);
void rpcrdma2_paths_begin(struct rpcrdma2_path_user *user, bool same_source);
bool rpcrdma2_paths_next(struct rpcrdma2_path_user *user, union rpcrdma2_addr *src,
			 union rpcrdma2_addr *dst);
const u32 *rpcrdma2_paths_silence(const struct rpcrdma2_path_user *user);
void rpcrdma2_paths_joined(struct rpcrdma2_path_user *user,
			   const struct rpcrdma2_conn *conn);
void rpcrdma2_paths_left(struct rpcrdma2_path_user *user, int err);
bool rpcrdma2_paths_show(const struct net *net, u32 number, struct rpcrdma2_path *path);

#endif /* _RPCRDMA2_PATHS_H */
