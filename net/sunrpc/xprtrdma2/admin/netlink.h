/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Generic netlink family "rpcrdma2"; see netlink.c.
 */
#ifndef _RPCRDMA2_NETLINK_H
#define _RPCRDMA2_NETLINK_H

#include <net/genetlink.h>

extern struct genl_family rpcrdma2_nl_family;

int rpcrdma2_nl_reply(struct genl_info *info,
		      int (*put)(struct sk_buff *skb, struct genl_info *info));

int rpcrdma2_netlink_init(bool replace);
void rpcrdma2_netlink_exit(void);

#endif /* _RPCRDMA2_NETLINK_H */
