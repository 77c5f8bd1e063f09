// SPDX-License-Identifier: GPL-2.0
/*
 * The policy table: an administrator's settings for connections with certain peers, in
 * each network namespace. The key of an entry is a role of this machine, an address with
 * a prefix length, and a port of the server. An entry sets some values. Each value of a
 * connection is that of the longest prefix whose entry sets it; an entry with the port
 * precedes one without, and the default is last.
 *
 * Connections look here when they are made and keep the result.
 *
 * Entries are in a tree, in the order of their keys, so that a lookup grows only with the
 * depth of the tree. No holder of the lock waits for memory, because connections are made
 * where memory is freed. Process context.
 */
#include <linux/in.h>
#include <linux/rbtree.h>
#include <linux/rwsem.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/socket.h>
#include <linux/string.h>
#include <net/ipv6.h>
#include <net/net_namespace.h>
#include <net/netns/generic.h>

#include "compat.h"
#include "conn/paths.h"
#include "conn/peer_policy.h"
#include "proto/wire.h"

/* Keys are compared as bytes */
static_assert(sizeof(struct rpcrdma2_policy_key) == 24);

/* An entry of the table */
struct policy_entry {
	struct rb_node			node;
	struct rpcrdma2_policy_key	key;
	struct rpcrdma2_policy		policy;
};

/**
 * struct policy_net - the table of a network namespace
 * @lock: protects @tree and @count
 * @tree: struct policy_entry
 * @count: number of entries
 */
struct policy_net {
	struct rw_semaphore		lock;
	struct rb_root			tree;
	u32				count;
};

static unsigned int policy_net_id;

/**
 * struct policy_rule - range of a value
 * @min: the least
 * @max: the largest; 0 if the role has no such value
 * @def: default
 */
struct policy_rule {
	u32				min;
	u32				max;
	u32				def;
};

/* A WRITE of 16 KiB with its headers fits into a server's Receive. Inline results of that
 * length would save less, and a client's Receives cost memory as well.
 */
#define RPCRDMA2_WRITE_SIZE	(SZ_16K + SZ_4K)

#define BOTH_ROLES(...)	{ { __VA_ARGS__ }, { __VA_ARGS__ } }

/* Server, client */
static const struct policy_rule rules[RPCRDMA2_POLICY_LAST + 1][2] = {
	[RPCRDMA2_A_POLICY_VERSIONS] =
		BOTH_ROLES(RPCRDMA2_VERSIONS_V1, RPCRDMA2_VERSIONS_BOTH,
			   RPCRDMA2_VERSIONS_BOTH),
	[RPCRDMA2_A_POLICY_RECV_SIZE] = {
		{ RPCRDMA2_INLINE_DEFAULT, SZ_256K, RPCRDMA2_WRITE_SIZE },
		{ RPCRDMA2_INLINE_DEFAULT, SZ_64K, SZ_16K },
	},
	[RPCRDMA2_A_POLICY_SEND_SIZE] = {
		{ },
		{ RPCRDMA2_INLINE_DEFAULT, SZ_64K, RPCRDMA2_WRITE_SIZE },
	},
	[RPCRDMA2_A_POLICY_CREDITS] = { { 1, 1024, 64 }, { 4, 4096, 128 } },
	[RPCRDMA2_A_POLICY_REMOTE_INVALIDATION] = BOTH_ROLES(0, 1, 1),
	[RPCRDMA2_A_POLICY_PROPERTY_CHANGE] = BOTH_ROLES(0, 1, 1),
	[RPCRDMA2_A_POLICY_RECV_MAX] =
		BOTH_ROLES(RPCRDMA2_INLINE_DEFAULT, SZ_256K, RPCRDMA2_INLINE_DEFAULT),
	[RPCRDMA2_A_POLICY_TOS] = { { }, { 0, U8_MAX, 0 } },
	[RPCRDMA2_A_POLICY_RECONNECT_MIN] = { { }, { 0, 3600, 0 } },
	[RPCRDMA2_A_POLICY_RECONNECT_MAX] = { { }, { 0, 3600, 0 } },
	[RPCRDMA2_A_POLICY_FAIL_AFTER] = { { }, { 0, 86400, 0 } },
	[RPCRDMA2_A_POLICY_TRUST_PATHS] = { { }, { 0, 1, 0 } },
};

/* Keys */

static u8 family_bits(u8 family)
{
	return family == AF_INET ? 32 : family == AF_INET6 ? 128 : 0;
}

/* Clear all but the first @plen bits. Returns true if there were others. */
static bool key_mask(struct rpcrdma2_policy_key *key, u8 plen)
{
	const struct in6_addr all = key->addr;

	key->plen = plen;
	ipv6_addr_prefix(&key->addr, &all, plen);
	return !ipv6_addr_equal(&key->addr, &all);
}

/**
 * rpcrdma2_policy_key - make a key
 * @key: to be filled in
 * @client: this machine's role
 * @family: AF_INET, AF_INET6; AF_UNSPEC for all peers
 * @addr: address, in network byte order; ignored for AF_UNSPEC
 * @plen: length of the prefix, no more than the address has bits
 * @port: the server's, 0 for any
 *
 * Context: any.
 * Return: true if the address has no bits behind the prefix; they are cleared
 */
bool rpcrdma2_policy_key(struct rpcrdma2_policy_key *key, bool client,
			 u8 family, const void *addr, u8 plen, u16 port)
{
	memset(key, 0, sizeof(*key));
	key->role = 1 + (client ? RPCRDMA2_ROLE_CLIENT : RPCRDMA2_ROLE_SERVER);
	key->family = family;
	key->port = htons(port);
	memcpy(&key->addr, addr, family_bits(family) / 8);
	return !key_mask(key, plen);
}

/**
 * rpcrdma2_policy_fits - check the range of a value
 * @client: this machine's role
 * @value: which value
 * @number: the number
 *
 * Context: any.
 * Return: true if the value can have this number
 */
bool rpcrdma2_policy_fits(bool client, int value, u32 number)
{
	const struct policy_rule *rule = &rules[value][client];

	return number >= rule->min && number <= rule->max && rule->max;
}

/* The tree */

/* @paths: those of the entry that follows, or NULL */
static void entry_free(struct policy_entry *entry, struct rpcrdma2_paths *paths)
{
	rpcrdma2_paths_replace(entry->policy.paths, paths);
	kfree(entry);
}

static struct policy_entry *entry_of(const struct rb_node *node)
{
	return rb_entry(node, struct policy_entry, node);
}

static int entry_cmp(const void *key, const struct rb_node *node)
{
	return memcmp(key, &entry_of(node)->key, sizeof(struct rpcrdma2_policy_key));
}

static struct policy_entry *table_find(struct policy_net *pn,
				       const struct rpcrdma2_policy_key *key)
{
	struct rb_node *node;

	lockdep_assert_held(&pn->lock);
	node = rb_find(key, &pn->tree, entry_cmp);
	return node ? entry_of(node) : NULL;
}

static int entry_cmp_node(struct rb_node *a, const struct rb_node *b)
{
	return entry_cmp(&entry_of(a)->key, b);
}

/* 0 for all entries behind @key, for a search of the first one */
static int entry_is_not_behind(const void *key, const struct rb_node *node)
{
	return entry_cmp(key, node) >= 0;
}

/**
 * rpcrdma2_policy_set - set values for some peers
 * @net: network namespace
 * @key: which peers
 * @policy: the values; replace those of an earlier entry, as do its paths
 *
 * Context: sleeps.
 * Return: 0; -ENOMEM; -ENOSPC: too many entries
 */
int rpcrdma2_policy_set(struct net *net, const struct rpcrdma2_policy_key *key,
			const struct rpcrdma2_policy *policy)
{
	struct policy_net *pn = net_generic(net, policy_net_id);
	struct policy_entry *entry;
	struct rb_node *was;

	entry = kzalloc_obj(*entry, GFP_KERNEL_ACCOUNT);
	if (!entry)
		return -ENOMEM;
	entry->key = *key;
	entry->policy = *policy;
	rpcrdma2_paths_get(policy->paths);
	guard(rwsem_write)(&pn->lock);
	was = rb_find_add(&entry->node, &pn->tree, entry_cmp_node);
	if (!was && pn->count < RPCRDMA2_POLICY_MAX) {
		pn->count++;
		return 0;
	}
	if (was)
		swap(entry_of(was)->policy, entry->policy);
	else
		rb_erase(&entry->node, &pn->tree);
	entry_free(entry, policy->paths);
	return was ? 0 : -ENOSPC;
}

/**
 * rpcrdma2_policy_delete - delete the entry for some peers
 * @net: network namespace
 * @key: which peers
 *
 * Context: sleeps.
 * Return: 0; -ENOENT: there is no such entry
 */
int rpcrdma2_policy_delete(struct net *net,
			   const struct rpcrdma2_policy_key *key)
{
	struct policy_net *pn = net_generic(net, policy_net_id);
	struct policy_entry *entry;

	guard(rwsem_write)(&pn->lock);
	entry = table_find(pn, key);
	if (!entry)
		return -ENOENT;
	rb_erase(&entry->node, &pn->tree);
	pn->count--;
	entry_free(entry, NULL);
	return 0;
}

/**
 * rpcrdma2_policy_next - get the next entry
 * @net: network namespace
 * @key: a key, all zero for the first entry; set to that of the entry
 * @policy: filled in
 *
 * Context: sleeps.
 * Return: false if there is none
 */
bool rpcrdma2_policy_next(struct net *net, struct rpcrdma2_policy_key *key,
			  struct rpcrdma2_policy *policy)
{
	struct policy_net *pn = net_generic(net, policy_net_id);
	struct rb_node *next;

	guard(rwsem_read)(&pn->lock);
	next = rb_find_first(key, &pn->tree, entry_is_not_behind);
	if (!next)
		return false;
	*key = entry_of(next)->key;
	*policy = entry_of(next)->policy;
	rpcrdma2_paths_get(policy->paths);
	return true;
}

/* Replace the values that the entry for @key sets. */
static void policy_apply(struct rpcrdma2_policy *policy, struct policy_net *pn,
			 const struct rpcrdma2_policy_key *key)
{
	const struct policy_entry *entry = table_find(pn, key);
	int i;

	if (!entry)
		return;
	for (i = RPCRDMA2_POLICY_FIRST; i <= RPCRDMA2_POLICY_LAST; i++)
		if (entry->policy.said & BIT(i))
			policy->val[i] = entry->policy.val[i];
	policy->paths = entry->policy.paths ?: policy->paths;
}

/**
 * rpcrdma2_policy_lookup - get the values for a key
 * @net: network namespace
 * @peer: the key; entries for shorter prefixes and for any port apply as well
 * @policy: filled in, all values that the role has
 *
 * Context: sleeps for the lock, not for memory.
 */
void rpcrdma2_policy_lookup(struct net *net, const struct rpcrdma2_policy_key *peer,
			    struct rpcrdma2_policy *policy)
{
	struct policy_net *pn = net_generic(net, policy_net_id);
	struct rpcrdma2_policy_key key;
	const struct policy_rule *rule;
	int i, plen;

	memset(policy, 0, sizeof(*policy));
	for (i = RPCRDMA2_POLICY_FIRST; i <= RPCRDMA2_POLICY_LAST; i++) {
		rule = &rules[i][peer->role == 1 + RPCRDMA2_ROLE_CLIENT];
		policy->val[i] = rule->def;
		policy->said |= rule->max ? BIT(i) : 0;
	}
	guard(rwsem_read)(&pn->lock);
	/* From the entry for all peers to the longest prefix, whose values remain */
	for (plen = -1; plen <= peer->plen; plen++) {
		key = *peer;
		key_mask(&key, max(plen, 0));
		if (plen < 0)
			key.family = AF_UNSPEC;
		key.port = 0;
		policy_apply(policy, pn, &key);
		key.port = peer->port;
		policy_apply(policy, pn, &key);
	}
	rpcrdma2_paths_get(policy->paths);
}

/**
 * rpcrdma2_policy_peer - get the values for a connection
 * @net: network namespace
 * @client: this machine's role
 * @peer: address of the peer; its port is ignored
 * @port: the server's
 * @policy: filled in, all values that the role has
 *
 * Context: sleeps for the lock, not for memory.
 */
void rpcrdma2_policy_peer(struct net *net, bool client, const struct sockaddr *peer,
			  u16 port, struct rpcrdma2_policy *policy)
{
	const void *addr = &((const struct sockaddr_in *)peer)->sin_addr;
	u8 bits = family_bits(peer->sa_family);
	struct rpcrdma2_policy_key key;

	if (peer->sa_family == AF_INET6)
		addr = &((const struct sockaddr_in6 *)peer)->sin6_addr;
	rpcrdma2_policy_key(&key, client, bits ? peer->sa_family : AF_UNSPEC, addr, bits,
			    port);
	rpcrdma2_policy_lookup(net, &key, policy);
}

/* Life */

static int __net_init policy_net_init(struct net *net)
{
	struct policy_net *pn = net_generic(net, policy_net_id);

	init_rwsem(&pn->lock);
	pn->tree = RB_ROOT;
	return 0;
}

static void __net_exit policy_net_exit(struct net *net)
{
	struct policy_net *pn = net_generic(net, policy_net_id);
	struct policy_entry *entry, *tmp;

	rbtree_postorder_for_each_entry_safe(entry, tmp, &pn->tree, node)
		entry_free(entry, NULL);
}

struct pernet_operations rpcrdma2_policy_net_ops = {
	.init	= policy_net_init,
	.exit	= policy_net_exit,
	.id	= &policy_net_id,
	.size	= sizeof(struct policy_net),
};
