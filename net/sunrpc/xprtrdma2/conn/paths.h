/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Several paths to a server; see paths.c.
 */
#ifndef _RPCRDMA2_PATHS_H
#define _RPCRDMA2_PATHS_H

#include <linux/in6.h>
#include <linux/refcount.h>
#include <linux/spinlock.h>

#include <uapi/linux/rpcrdma2_netlink.h>

#include "proto/props.h"

#define RPCRDMA2_PATHS_MAX	16U

/**
 * struct rpcrdma2_path - a path
 * @addr: address of the server, and address of this machine or zero: the route decides.
 *	Those of IPv4 are mapped
 * @own: it has the address of the mounts, which is that of the policy's entry
 * @proved: it has led to their server
 * @told: the log has that it was REFUSED, and it was not accepted since
 * @ready: the last probe or connection succeeded, and was not refused
 * @state: its state
 * @conns: connections, and attempts to connect
 * @bytes: sent and received
 * @failures: failed attempts to connect, and lost connections
 * @reason: why it is not UP, a negative errno; or 0
 * @changed: jiffies when the state has changed
 * @due: jiffies of the next probe
 * @wait: time before that
 */
struct rpcrdma2_path {
	struct in6_addr			addr[2];
	bool				own;
	bool				proved;
	bool				told;
	bool				ready;
	enum rpcrdma2_path_state	state;
	u32				conns;
	atomic64_t			bytes;
	u32				failures;
	int				reason;
	u64				changed;
	unsigned long			due;
	unsigned long			wait;
};

/**
 * struct rpcrdma2_paths - the paths to a server
 * @refs: references of the policy table and of clients' transports
 * @replaced: the policy has others now
 * @impatient: more than one path is UP or UNTRIED, or has connections
 * @lock: protects what follows, but for the constant number and addresses of paths; a leaf
 * @server: these, or the first ones that the entry had: what is known of the server
 * @joined: connections by any of the entry's paths; with @server only, as the next three
 * @settled: there was one
 * @known: the server of the connections, or without any the last one, told its identity
 * @identity: this identity
 * @moved: jiffies when a connection was told to move
 * @busy: times since then that one was to move, but not idle
 * @n: number of paths
 * @path: the paths
 */
struct rpcrdma2_paths {
	refcount_t			refs;
	bool				replaced;
	bool				impatient;
	spinlock_t			lock;		/* see above */
	struct rpcrdma2_paths		*server;
	u32				joined;
	bool				settled;
	bool				known;
	u8				identity[RPCRDMA2_IDENTITY_BYTES];
	unsigned long			moved;
	u32				busy;
	u32				n;
	struct rpcrdma2_path		path[RPCRDMA2_PATHS_MAX];
};

/* There is another path, so waiting for this one is a waste of time. */
static inline bool rpcrdma2_paths_impatient(const struct rpcrdma2_paths *paths)
{
	return paths && READ_ONCE(paths->impatient);
}

/* For an entry of the policy */
struct rpcrdma2_paths *rpcrdma2_paths_alloc(void);
bool rpcrdma2_paths_add(struct rpcrdma2_paths *paths, const struct in6_addr addr[2],
			const struct in6_addr *own);
void rpcrdma2_paths_replace(struct rpcrdma2_paths *old, struct rpcrdma2_paths *paths);
struct rpcrdma2_paths *rpcrdma2_paths_get(struct rpcrdma2_paths *paths);
void rpcrdma2_paths_put(struct rpcrdma2_paths *paths);

/* For a transport */
struct rpcrdma2_path *rpcrdma2_paths_choose(struct rpcrdma2_paths *paths, u32 *tried,
					    const struct in6_addr *src);
bool rpcrdma2_paths_accept(struct rpcrdma2_paths *paths, struct rpcrdma2_path *path,
			   const u8 *identity, bool trusted);
void rpcrdma2_paths_result(struct rpcrdma2_paths *paths, struct rpcrdma2_path *path, int err);
void rpcrdma2_paths_left(struct rpcrdma2_paths *paths, struct rpcrdma2_path *path, bool joined);
bool rpcrdma2_paths_move(struct rpcrdma2_paths *paths, const struct rpcrdma2_path *path,
			 const struct in6_addr *src, bool idle);
struct rpcrdma2_path *rpcrdma2_paths_due(struct rpcrdma2_paths *paths);

#endif /* _RPCRDMA2_PATHS_H */
