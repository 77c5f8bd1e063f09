/* SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR BSD-3-Clause) */
/* Do not edit directly, auto-generated from: */
/*	Documentation/netlink/specs/rpcrdma2.yaml */
/* YNL-GEN kernel header */

#ifndef _LINUX_RPCRDMA2_GEN_H
#define _LINUX_RPCRDMA2_GEN_H

#include <net/netlink.h>
#include <net/genetlink.h>

#include <uapi/linux/rpcrdma2_netlink.h>

extern const struct nla_policy rpcrdma2_module_get_nl_policy[RPCRDMA2_A_MODULE_ROLE + 1];

extern const struct nla_policy rpcrdma2_conn_get_nl_policy[RPCRDMA2_A_CONNECTION_PEER_ADDRESS + 1];

extern const struct nla_policy rpcrdma2_conn_change_nl_policy[RPCRDMA2_A_CHANGE_VALUE + 1];

extern const struct nla_policy rpcrdma2_conn_forget_nl_policy[RPCRDMA2_A_CHANGE_CONNECTION + 1];

extern const struct nla_policy rpcrdma2_conn_reconnect_nl_policy[RPCRDMA2_A_CHANGE_CONNECTION + 1];

extern const struct nla_policy rpcrdma2_policy_get_nl_policy[RPCRDMA2_A_POLICY_PORT + 1];

extern const struct nla_policy rpcrdma2_policy_set_nl_policy[RPCRDMA2_A_POLICY_ADDRESSES + 1];

extern const struct nla_policy rpcrdma2_policy_del_nl_policy[RPCRDMA2_A_POLICY_PORT + 1];

/* Ops table for rpcrdma2 */
extern const struct genl_ops rpcrdma2_nl_ops[8];

int rpcrdma2_nl_module_get_doit(struct sk_buff *skb, struct genl_info *info);
int rpcrdma2_nl_conn_get_doit(struct sk_buff *skb, struct genl_info *info);
int rpcrdma2_nl_conn_get_dumpit(struct sk_buff *skb,
				struct netlink_callback *cb);
int rpcrdma2_nl_conn_change_doit(struct sk_buff *skb, struct genl_info *info);
int rpcrdma2_nl_conn_forget_doit(struct sk_buff *skb, struct genl_info *info);
int rpcrdma2_nl_conn_reconnect_doit(struct sk_buff *skb,
				    struct genl_info *info);
int rpcrdma2_nl_policy_get_doit(struct sk_buff *skb, struct genl_info *info);
int rpcrdma2_nl_policy_get_dumpit(struct sk_buff *skb,
				  struct netlink_callback *cb);
int rpcrdma2_nl_policy_set_doit(struct sk_buff *skb, struct genl_info *info);
int rpcrdma2_nl_policy_del_doit(struct sk_buff *skb, struct genl_info *info);

#endif /* _LINUX_RPCRDMA2_GEN_H */
