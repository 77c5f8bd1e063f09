/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Settings of an administrator for connections with certain peers; see peer_policy.c.
 */
#ifndef _RPCRDMA2_PEER_POLICY_H
#define _RPCRDMA2_PEER_POLICY_H

#include <linux/in6.h>
#include <linux/minmax.h>
#include <linux/types.h>

struct net;
struct pernet_operations;
struct sockaddr;

/* Entries of a network namespace */
#define RPCRDMA2_POLICY_MAX	65536U

/**
 * enum rpcrdma2_policy_value - settings for a peer, each a number
 * @RPCRDMA2_POLICY_VERSIONS: enum rpcrdma2_versions
 * @RPCRDMA2_POLICY_RECV_SIZE: Receive Buffer Size to begin with, bytes
 * @RPCRDMA2_POLICY_SEND_SIZE: client: largest message to send, bytes. A server
 *	sends what it receives (D-16)
 * @RPCRDMA2_POLICY_CREDITS: client: RPCs at once, and credits to ask for;
 *	server: the most to grant
 * @RPCRDMA2_POLICY_REMOTE_INVALIDATION: 1 if messages may invalidate handles
 * @RPCRDMA2_POLICY_PROPERTY_CHANGE: 1 if properties may change while the
 *	connection lives
 * @RPCRDMA2_POLICY_RECV_MAX: capacity of Receives, if larger than RECV_SIZE: the largest
 *	Receive Buffer Size as long as the connection lives, bytes
 * @RPCRDMA2_NR_POLICY: number of settings
 *
 * The order is that of the attributes of the netlink family.
 */
enum rpcrdma2_policy_value {
	RPCRDMA2_POLICY_VERSIONS = 0,
	RPCRDMA2_POLICY_RECV_SIZE,
	RPCRDMA2_POLICY_SEND_SIZE,
	RPCRDMA2_POLICY_CREDITS,
	RPCRDMA2_POLICY_REMOTE_INVALIDATION,
	RPCRDMA2_POLICY_PROPERTY_CHANGE,
	RPCRDMA2_POLICY_RECV_MAX,
	RPCRDMA2_NR_POLICY,
};

/**
 * struct rpcrdma2_policy - values
 * @said: values that are set, one bit each
 * @val: the values
 */
struct rpcrdma2_policy {
	u32				said;
	u32				val[RPCRDMA2_NR_POLICY];
};

/**
 * struct rpcrdma2_policy_key - which peers an entry is for
 * @role: 1 + enum rpcrdma2_role, so that 0 is before all keys
 * @family: AF_INET, AF_INET6, or AF_UNSPEC for all peers
 * @plen: bits of the prefix
 * @zero: 0
 * @addr: the prefix, then 0
 * @port: the server's, 0 for any
 *
 * Without holes: keys are compared as bytes, which is also their order.
 */
struct rpcrdma2_policy_key {
	u8				role;
	u8				family;
	u8				plen;
	u8				zero;
	u8				addr[16];
	__be16				port;
};

/* Capacity of each Receive, bytes */
static inline u32 rpcrdma2_policy_capacity(const struct rpcrdma2_policy *policy)
{
	return max(policy->val[RPCRDMA2_POLICY_RECV_SIZE],
		   policy->val[RPCRDMA2_POLICY_RECV_MAX]);
}

extern struct pernet_operations rpcrdma2_policy_net_ops;

bool rpcrdma2_policy_key(struct rpcrdma2_policy_key *key, bool client,
			 u8 family, const void *addr, u8 plen, u16 port);
bool rpcrdma2_policy_fits(bool client, enum rpcrdma2_policy_value value,
			  u32 number);

int rpcrdma2_policy_set(struct net *net, const struct rpcrdma2_policy_key *key,
			const struct rpcrdma2_policy *policy);
int rpcrdma2_policy_delete(struct net *net,
			   const struct rpcrdma2_policy_key *key);
bool rpcrdma2_policy_next(struct net *net, struct rpcrdma2_policy_key *key,
			  struct rpcrdma2_policy *policy);
void rpcrdma2_policy_lookup(struct net *net, const struct rpcrdma2_policy_key *peer,
			    struct rpcrdma2_policy *policy);
void rpcrdma2_policy_peer(struct net *net, bool client, const struct sockaddr *peer,
			  u16 port, struct rpcrdma2_policy *policy);

#endif /* _RPCRDMA2_PEER_POLICY_H */
