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
#include <net/sock.h>

#include "admin/netlink.h"
#include "admin/netlink_gen.h"
#include "conn/peer_policy.h"

/* The attributes of values have the order of enum rpcrdma2_policy_value. */
#define POLICY_ATTR(value)	(RPCRDMA2_A_POLICY_VERSIONS + (value))

static_assert(POLICY_ATTR(RPCRDMA2_POLICY_SEND_SIZE) ==
	      RPCRDMA2_A_POLICY_SEND_SIZE);
static_assert(POLICY_ATTR(RPCRDMA2_NR_POLICY) ==
	      RPCRDMA2_A_POLICY_RECV_MAX + 1);

/* Read attributes */

/**
 * struct policy_request - role and peer of a request
 * @client: this machine is the client
 * @sa: address of the peer with its family; AF_UNSPEC for all peers
 * @in: the same for AF_INET
 * @in6: the same for AF_INET6
 * @addr: the bytes of the address in @in or @in6; NULL for all peers
 * @bits: number of bits of the address; 0 for all peers
 * @port: port of the server, 0 for any
 */
struct policy_request {
	bool				client;
	union {
		struct sockaddr		sa;
		struct sockaddr_in	in;
		struct sockaddr_in6	in6;
	};
	const void			*addr;
	u8				bits;
	u16				port;
};

static int get_address(const struct genl_info *info, struct policy_request *req)
{
	const struct nlattr *addr4 = info->attrs[RPCRDMA2_A_POLICY_ADDR4];
	const struct nlattr *addr6 = info->attrs[RPCRDMA2_A_POLICY_ADDR6];

	if (addr4 && addr6) {
		NL_SET_ERR_MSG_ATTR(info->extack, addr6,
				    "addr4 is already present");
		return -EINVAL;
	}
	if (addr4) {
		req->sa.sa_family = AF_INET;
		req->in.sin_addr.s_addr = nla_get_be32(addr4);
		req->addr = &req->in.sin_addr;
		req->bits = 32;
	} else if (addr6) {
		req->sa.sa_family = AF_INET6;
		req->in6.sin6_addr = nla_get_in6_addr(addr6);
		req->addr = &req->in6.sin6_addr;
		req->bits = 128;
	}
	return 0;
}

static int get_request(struct genl_info *info, struct policy_request *req)
{
	const struct nlattr *port = info->attrs[RPCRDMA2_A_POLICY_PORT];

	if (GENL_REQ_ATTR_CHECK(info, RPCRDMA2_A_POLICY_ROLE))
		return -EINVAL;
	memset(req, 0, sizeof(*req));
	req->client = nla_get_u32(info->attrs[RPCRDMA2_A_POLICY_ROLE]) ==
		      RPCRDMA2_ROLE_CLIENT;
	req->port = port ? nla_get_u16(port) : 0;
	return get_address(info, req);
}

static int get_key(struct genl_info *info, struct rpcrdma2_policy_key *key)
{
	const struct nlattr *attr = info->attrs[RPCRDMA2_A_POLICY_PREFIX_LENGTH];
	struct policy_request req;
	int ret = get_request(info, &req);
	u8 plen;

	if (ret)
		return ret;
	plen = attr ? nla_get_u8(attr) : req.bits;
	if (plen > req.bits) {
		NL_SET_ERR_MSG_ATTR(info->extack, attr,
				    "longer than the address");
		return -EINVAL;
	}
	if (!rpcrdma2_policy_key(key, req.client, req.sa.sa_family, req.addr,
				 plen, req.port)) {
		NL_SET_ERR_MSG_ATTR(info->extack,
				    info->attrs[RPCRDMA2_A_POLICY_ADDR4] ?:
				    info->attrs[RPCRDMA2_A_POLICY_ADDR6],
				    "bits after the prefix must be 0");
		return -EINVAL;
	}
	return 0;
}

/* The attribute policies cannot depend on the role. */
static int refuse_value(const struct genl_info *info, bool client,
			enum rpcrdma2_policy_value value)
{
	const struct nlattr *attr = info->attrs[POLICY_ATTR(value)];

	switch (value) {
	case RPCRDMA2_POLICY_RECV_SIZE:
		NL_SET_ERR_MSG_ATTR(info->extack, attr,
				    "a client's is 4096 to 65536");
		break;
	case RPCRDMA2_POLICY_SEND_SIZE:
		NL_SET_ERR_MSG_ATTR(info->extack, attr,
				    "a server has none, it uses recv_size");
		break;
	case RPCRDMA2_POLICY_CREDITS:
		if (client)
			NL_SET_ERR_MSG_ATTR(info->extack, attr,
					    "a client's are 4 to 4096");
		else
			NL_SET_ERR_MSG_ATTR(info->extack, attr,
					    "a server's are 1 to 1024");
		break;
	default:
		NL_SET_ERR_MSG_ATTR(info->extack, attr, "out of range");
		break;
	}
	return -EINVAL;
}

static int get_values(const struct genl_info *info, bool client,
		      struct rpcrdma2_policy *policy)
{
	const struct nlattr *attr;
	int i;

	memset(policy, 0, sizeof(*policy));
	for (i = 0; i < RPCRDMA2_NR_POLICY; i++) {
		attr = info->attrs[POLICY_ATTR(i)];
		if (!attr)
			continue;
		policy->val[i] = nla_get_u32(attr);
		policy->said |= BIT(i);
		if (!rpcrdma2_policy_fits(client, i, policy->val[i]))
			return refuse_value(info, client, i);
	}
	if (!policy->said) {
		NL_SET_ERR_MSG(info->extack, "the entry has no settings");
		return -EINVAL;
	}
	return 0;
}

/* Write attributes */

static int put_values(struct sk_buff *skb, const struct rpcrdma2_policy *policy)
{
	int i;

	for (i = 0; i < RPCRDMA2_NR_POLICY; i++)
		if (policy->said & BIT(i) &&
		    nla_put_u32(skb, POLICY_ATTR(i), policy->val[i]))
			return -EMSGSIZE;
	return 0;
}

static int put_addr(struct sk_buff *skb, u8 family, const void *addr)
{
	switch (family) {
	case AF_INET:
		return nla_put(skb, RPCRDMA2_A_POLICY_ADDR4, 4, addr);
	case AF_INET6:
		return nla_put(skb, RPCRDMA2_A_POLICY_ADDR6, 16, addr);
	default:
		return 0;
	}
}

static int put_entry(struct sk_buff *skb, const struct rpcrdma2_policy_key *key,
		     const struct rpcrdma2_policy *policy)
{
	if (nla_put_u32(skb, RPCRDMA2_A_POLICY_ROLE, key->role - 1) ||
	    put_addr(skb, key->family, key->addr) ||
	    nla_put_u8(skb, RPCRDMA2_A_POLICY_PREFIX_LENGTH, key->plen) ||
	    nla_put_u16(skb, RPCRDMA2_A_POLICY_PORT, ntohs(key->port)))
		return -EMSGSIZE;
	return put_values(skb, policy);
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
	struct rpcrdma2_policy_key key;
	struct rpcrdma2_policy policy;
	int ret = get_key(info, &key);

	if (!ret)
		ret = get_values(info, key.role == 1 + RPCRDMA2_ROLE_CLIENT,
				 &policy);
	if (ret || info->attrs[RPCRDMA2_A_POLICY_CHECK])
		return ret;
	return rpcrdma2_policy_set(genl_info_net(info), &key, &policy);
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
static int put_found(struct sk_buff *skb, struct net *net,
		     const struct policy_request *req)
{
	struct rpcrdma2_policy policy;

	rpcrdma2_policy_lookup(net, req->client, &req->sa, req->port, &policy);
	if (nla_put_u32(skb, RPCRDMA2_A_POLICY_ROLE,
			req->client ? RPCRDMA2_ROLE_CLIENT :
				      RPCRDMA2_ROLE_SERVER) ||
	    put_addr(skb, req->sa.sa_family, req->addr) ||
	    nla_put_u8(skb, RPCRDMA2_A_POLICY_PREFIX_LENGTH, req->bits) ||
	    nla_put_u16(skb, RPCRDMA2_A_POLICY_PORT, req->port))
		return -EMSGSIZE;
	return put_values(skb, &policy);
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
	struct policy_request req;
	int ret = get_request(info, &req);
	struct sk_buff *msg;
	void *hdr;

	if (ret)
		return ret;
	msg = genlmsg_new(GENLMSG_DEFAULT_SIZE, GFP_KERNEL);
	if (!msg)
		return -ENOMEM;
	hdr = genlmsg_put_reply(msg, info, &rpcrdma2_nl_family, 0,
				RPCRDMA2_CMD_POLICY_GET);
	if (!hdr || put_found(msg, genl_info_net(info), &req)) {
		nlmsg_free(msg);
		return -EMSGSIZE;
	}
	genlmsg_end(msg, hdr);
	return genlmsg_reply(msg, info);
}

/**
 * rpcrdma2_nl_policy_get_dumpit - show all entries
 * @skb: receives the messages
 * @cb: the dump; ctx holds the key of the last entry shown
 *
 * Context: system call; sleeps.
 * Return: bytes in @skb, 0 at the end
 */
int rpcrdma2_nl_policy_get_dumpit(struct sk_buff *skb,
				  struct netlink_callback *cb)
{
	struct rpcrdma2_policy_key *last = (void *)cb->ctx, key = *last;
	struct rpcrdma2_policy policy;
	void *hdr;

	BUILD_BUG_ON(sizeof(key) > sizeof(cb->ctx));
	while (rpcrdma2_policy_next(sock_net(skb->sk), &key, &policy)) {
		hdr = genlmsg_put(skb, NETLINK_CB(cb->skb).portid,
				  cb->nlh->nlmsg_seq, &rpcrdma2_nl_family,
				  NLM_F_MULTI, RPCRDMA2_CMD_POLICY_GET);
		if (!hdr)
			break;
		if (put_entry(skb, &key, &policy)) {
			genlmsg_cancel(skb, hdr);
			break;
		}
		genlmsg_end(skb, hdr);
		*last = key;
	}
	return skb->len;
}
