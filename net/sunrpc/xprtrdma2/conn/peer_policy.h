/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Settings of an administrator for connections with certain peers; see peer_policy.c.
 */
#ifndef _RPCRDMA2_PEER_POLICY_H
#define _RPCRDMA2_PEER_POLICY_H

#include <linux/in6.h>
#include <linux/minmax.h>
#include <linux/types.h>

#include <uapi/linux/rpcrdma2_netlink.h>

struct net;
struct pernet_operations;
struct rpcrdma2_paths;
struct sockaddr;

/* Entries of a network namespace */
#define RPCRDMA2_POLICY_MAX	65536U

/* The settings for a peer, each a number, have the numbers of their netlink attributes, from
 * the first of these to the last. CHECK is among them, but no setting: no role has it.
 *
 * RECV_SIZE is the Receive Buffer Size to begin with, RECV_MAX the capacity of Receives if
 * that is larger: the largest Receive Buffer Size as long as the connection lives. A server
 * sends what it receives (D-16), so SEND_SIZE is for clients. CREDITS are the RPCs at once of
 * a client, and the credits to ask for; or the most that a server grants. In the times of
 * a client, seconds, and in TOS 0 stands for a default that is no number of that range.
 */
#define RPCRDMA2_POLICY_FIRST	RPCRDMA2_A_POLICY_VERSIONS
#define RPCRDMA2_POLICY_LAST	RPCRDMA2_A_POLICY_TRUST_PATHS

/**
 * struct rpcrdma2_policy - values
 * @said: values that are set, one bit each
 * @val: the values
 * @paths: paths to the server, or NULL; with a reference in the results of this file
 */
struct rpcrdma2_policy {
	u32				said;
	u32				val[RPCRDMA2_POLICY_LAST + 1];
	struct rpcrdma2_paths		*paths;
};

/**
 * struct rpcrdma2_policy_key - which peers an entry is for
 * @role: 1 + enum rpcrdma2_role, so that 0 is before all keys
 * @family: AF_INET, AF_INET6, or AF_UNSPEC for all peers
 * @plen: bits of the prefix
 * @zero: 0
 * @addr: the prefix, then 0; of IPv4 in the first bytes
 * @port: the server's, 0 for any
 * @zeros: 0
 *
 * Without holes: keys are compared as bytes, which is also their order.
 */
struct rpcrdma2_policy_key {
	u8				role;
	u8				family;
	u8				plen;
	u8				zero;
	struct in6_addr			addr;
	__be16				port;
	u16				zeros;
};

/* Capacity of each Receive, bytes */
static inline u32 rpcrdma2_policy_capacity(const struct rpcrdma2_policy *policy)
{
	return max(policy->val[RPCRDMA2_A_POLICY_RECV_SIZE],
		   policy->val[RPCRDMA2_A_POLICY_RECV_MAX]);
}

extern struct pernet_operations rpcrdma2_policy_net_ops;

bool rpcrdma2_policy_key(struct rpcrdma2_policy_key *key, bool client,
			 u8 family, const void *addr, u8 plen, u16 port);
bool rpcrdma2_policy_fits(bool client, int value, u32 number);

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
