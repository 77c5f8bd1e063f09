// SPDX-License-Identifier: GPL-2.0
/*
 * Netlink requests for the policy table. peer_policy.c describes an entry, the
 * specification its attributes.
 *
 * This file makes those checks of a request that the attribute policies in
 * netlink_gen.c cannot express. Each error message names the attribute.
 *
 * Context: system calls; may sleep.
 */
#include <net/genetlink.h>
#include <net/ipv6.h>
#include <net/sock.h>

#include "admin/netlink.h"
#include "admin/netlink_gen.h"
#include "conn/paths.h"
#include "conn/peer_policy.h"

/* Read attributes */

static int refuse(const struct genl_info *info, const struct nlattr *attr,
		  const char *why)
{
	NL_SET_BAD_ATTR(info->extack, attr);
	info->extack->_msg = why;
	return -EINVAL;
}

/* An address without a prefix length stands for itself alone. */
static int get_key(struct genl_info *info, struct rpcrdma2_policy_key *key)
{
	const struct nlattr *role = info->attrs[RPCRDMA2_A_POLICY_ROLE];
	const struct nlattr *addr4 = info->attrs[RPCRDMA2_A_POLICY_ADDR4];
	const struct nlattr *addr6 = info->attrs[RPCRDMA2_A_POLICY_ADDR6];
	const struct nlattr *prefix = info->attrs[RPCRDMA2_A_POLICY_PREFIX_LENGTH];
	const struct nlattr *port = info->attrs[RPCRDMA2_A_POLICY_PORT];
	const struct nlattr *addr = addr4 ?: addr6;
	u8 family = addr4 ? AF_INET : addr6 ? AF_INET6 : AF_UNSPEC;
	u8 bits = addr ? 8 * nla_len(addr) : 0;
	u8 plen = prefix ? nla_get_u8(prefix) : bits;

	if (GENL_REQ_ATTR_CHECK(info, RPCRDMA2_A_POLICY_ROLE))
		return -EINVAL;
	if (addr4 && addr6)
		return refuse(info, addr6, "addr4 is already present");
	if (plen > bits)
		return refuse(info, prefix, "longer than the address");
	if (!rpcrdma2_policy_key(key, nla_get_u32(role) == RPCRDMA2_ROLE_CLIENT, family,
				 addr ? nla_data(addr) : NULL, plen,
				 port ? nla_get_u16(port) : 0))
		return refuse(info, addr, "bits after the prefix must be 0");
	return 0;
}

/* The attribute policies cannot depend on the role. */
static const char *out_of_range(bool client, int value)
{
	switch (value) {
	case RPCRDMA2_A_POLICY_RECV_SIZE:
		return "a client's is 4096 to 65536";
	case RPCRDMA2_A_POLICY_SEND_SIZE:
		return "a server has none, it uses recv_size";
	case RPCRDMA2_A_POLICY_CREDITS:
		return client ? "a client's are 4 to 4096" : "a server's are 1 to 1024";
	case RPCRDMA2_A_POLICY_TOS ... RPCRDMA2_A_POLICY_ADDRESSES:
		return "only a client has this";
	default:
		return "out of range";
	}
}

static int get_values(const struct genl_info *info, bool client,
		      struct rpcrdma2_policy *policy)
{
	const struct nlattr *attr;
	int i;

	for (i = RPCRDMA2_POLICY_FIRST; i <= RPCRDMA2_POLICY_LAST; i++) {
		attr = info->attrs[i];
		if (!attr || i == RPCRDMA2_A_POLICY_CHECK)
			continue;
		policy->val[i] = nla_get_u32(attr);
		policy->said |= BIT(i);
		if (!rpcrdma2_policy_fits(client, i, policy->val[i]))
			return refuse(info, attr, out_of_range(client, i));
	}
	if (policy->val[RPCRDMA2_A_POLICY_RECONNECT_MAX] &&
	    policy->val[RPCRDMA2_A_POLICY_RECONNECT_MAX] <
	    policy->val[RPCRDMA2_A_POLICY_RECONNECT_MIN])
		return refuse(info, info->attrs[RPCRDMA2_A_POLICY_RECONNECT_MAX],
			      "less than reconnect_min");
	return 0;
}

static int get_paths(const struct genl_info *info, const struct rpcrdma2_policy_key *key,
		     struct rpcrdma2_policy *policy)
{
	const struct nlattr *attr = info->attrs[RPCRDMA2_A_POLICY_ADDRESSES];
	struct in6_addr own = key->addr;
	int rem;

	if (!attr)
		return policy->said ? 0 : refuse(info, NULL, "the entry has no settings");
	if (key->role != 1 + RPCRDMA2_ROLE_CLIENT)
		return refuse(info, attr, out_of_range(false, nla_type(attr)));
	if (key->plen != (key->family == AF_INET ? 32 : 128))
		return refuse(info, attr, "only for the address of a server");
	if (key->family == AF_INET)
		ipv6_addr_set_v4mapped(key->addr.s6_addr32[0], &own);
	policy->paths = rpcrdma2_paths_alloc();
	if (!policy->paths)
		return -ENOMEM;
	nla_for_each_attr(attr, genlmsg_data(info->genlhdr), genlmsg_len(info->genlhdr), rem)
		if (nla_type(attr) == RPCRDMA2_A_POLICY_ADDRESSES &&
		    !rpcrdma2_paths_add(policy->paths, nla_data(attr), &own))
			return refuse(info, attr, "no pair, or more than 16");
	return 0;
}

/* Write attributes */

static int put_path(struct sk_buff *skb, const struct rpcrdma2_path *path)
{
	u64 age = jiffies64_to_msecs(get_jiffies_64() - path->changed);
	struct nlattr *nest = nla_nest_start(skb, RPCRDMA2_A_POLICY_PATH);

	if (!nest ||
	    nla_put(skb, RPCRDMA2_A_PATH_ADDRESSES, sizeof(path->addr), path->addr) ||
	    nla_put_u32(skb, RPCRDMA2_A_PATH_STATE, path->state) ||
	    nla_put_u32(skb, RPCRDMA2_A_PATH_CONNECTIONS, path->conns) ||
	    nla_put_u64_64bit(skb, RPCRDMA2_A_PATH_BYTES, atomic64_read(&path->bytes),
			      RPCRDMA2_A_PATH_PAD) ||
	    nla_put_u32(skb, RPCRDMA2_A_PATH_FAILURES, path->failures) ||
	    nla_put_u64_64bit(skb, RPCRDMA2_A_PATH_CHANGED, age, RPCRDMA2_A_PATH_PAD) ||
	    nla_put_s32(skb, RPCRDMA2_A_PATH_REASON, path->reason))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int put_paths(struct sk_buff *skb, struct rpcrdma2_paths *paths)
{
	int ret = 0;
	u32 i;

	guard(spinlock)(&paths->lock);
	for (i = 0; i < paths->n && !ret; i++)
		ret = put_path(skb, &paths->path[i]);
	return ret;
}

static int put_entry(struct sk_buff *skb, const struct rpcrdma2_policy_key *key,
		     const struct rpcrdma2_policy *policy)
{
	int i, ret;

	ret = nla_put_u32(skb, RPCRDMA2_A_POLICY_ROLE, key->role - 1) ?:
	      nla_put_u8(skb, RPCRDMA2_A_POLICY_PREFIX_LENGTH, key->plen) ?:
	      nla_put_u16(skb, RPCRDMA2_A_POLICY_PORT, ntohs(key->port));
	if (!ret && key->family == AF_INET)
		ret = nla_put(skb, RPCRDMA2_A_POLICY_ADDR4, 4, &key->addr);
	if (!ret && key->family == AF_INET6)
		ret = nla_put(skb, RPCRDMA2_A_POLICY_ADDR6, 16, &key->addr);
	for (i = RPCRDMA2_POLICY_FIRST; i <= RPCRDMA2_POLICY_LAST && !ret; i++)
		if (policy->said & BIT(i))
			ret = nla_put_u32(skb, i, policy->val[i]);
	return ret ?: policy->paths ? put_paths(skb, policy->paths) : 0;
}

/* Requests */

/**
 * rpcrdma2_nl_policy_set_doit - create or replace an entry
 * @skb: the request
 * @info: its attributes
 *
 * Context: system call; sleeps.
 * Return: 0; -EINVAL: an attribute is missing or wrong; or an error of
 * rpcrdma2_policy_set()
 */
int rpcrdma2_nl_policy_set_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct rpcrdma2_policy policy = { };
	struct rpcrdma2_policy_key key;
	int ret;

	ret = get_key(info, &key) ?:
	      get_values(info, key.role == 1 + RPCRDMA2_ROLE_CLIENT, &policy) ?:
	      get_paths(info, &key, &policy);
	if (!ret && !info->attrs[RPCRDMA2_A_POLICY_CHECK])
		ret = rpcrdma2_policy_set(genl_info_net(info), &key, &policy);
	rpcrdma2_paths_put(policy.paths);
	return ret;
}

/**
 * rpcrdma2_nl_policy_del_doit - remove an entry
 * @skb: the request
 * @info: its attributes
 *
 * Context: system call; sleeps.
 * Return: 0; -EINVAL: an attribute is missing or wrong; -ENOENT: no such entry
 */
int rpcrdma2_nl_policy_del_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct rpcrdma2_policy_key key;
	int ret = get_key(info, &key);

	return ret ?: rpcrdma2_policy_delete(genl_info_net(info), &key);
}

/* The settings that a connection with this peer would get */
static int put_found(struct sk_buff *skb, struct genl_info *info)
{
	struct rpcrdma2_policy_key key;
	struct rpcrdma2_policy policy;
	int ret = get_key(info, &key);

	if (ret)
		return ret;
	rpcrdma2_policy_lookup(genl_info_net(info), &key, &policy);
	ret = put_entry(skb, &key, &policy);
	rpcrdma2_paths_put(policy.paths);
	return ret;
}

/**
 * rpcrdma2_nl_policy_get_doit - show the settings for connections with a peer
 * @skb: the request
 * @info: its attributes
 *
 * Context: system call; sleeps.
 * Return: 0; -EINVAL: an attribute is missing or wrong; -EMSGSIZE; -ENOMEM
 */
int rpcrdma2_nl_policy_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	return rpcrdma2_nl_reply(info, put_found);
}

/**
 * rpcrdma2_nl_policy_get_dumpit - show all entries
 * @skb: receives the messages
 * @cb: the dump; ctx holds the key of the last entry shown
 *
 * Context: system call; sleeps.
 * Return: bytes in @skb, 0 at the end
 */
int rpcrdma2_nl_policy_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct rpcrdma2_policy_key *last = (void *)cb->ctx, key = *last;
	struct rpcrdma2_policy policy;
	int ret = 0;
	void *hdr;

	BUILD_BUG_ON(sizeof(key) > sizeof(cb->ctx));
	while (!ret && rpcrdma2_policy_next(sock_net(skb->sk), &key, &policy)) {
		hdr = genlmsg_put(skb, NETLINK_CB(cb->skb).portid,
				  cb->nlh->nlmsg_seq, &rpcrdma2_nl_family,
				  NLM_F_MULTI, RPCRDMA2_CMD_POLICY_GET);
		ret = hdr ? put_entry(skb, &key, &policy) : -EMSGSIZE;
		rpcrdma2_paths_put(policy.paths);
		if (ret) {
			genlmsg_cancel(skb, hdr);
		} else {
			genlmsg_end(skb, hdr);
			*last = key;
		}
	}
	return skb->len;
}
