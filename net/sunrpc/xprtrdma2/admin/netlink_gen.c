// SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR BSD-3-Clause)
/* Do not edit directly, auto-generated from: */
/*	Documentation/netlink/specs/rpcrdma2.yaml */
/* YNL-GEN kernel source */

#include <net/netlink.h>
#include <net/genetlink.h>

#include "netlink_gen.h"

#include <uapi/linux/rpcrdma2_netlink.h>

/* Integer value ranges */
static const struct netlink_range_validation rpcrdma2_a_policy_recv_size_range = {
	.min	= 4096ULL,
	.max	= 262144ULL,
};

static const struct netlink_range_validation rpcrdma2_a_policy_send_size_range = {
	.min	= 4096ULL,
	.max	= 65536ULL,
};

static const struct netlink_range_validation rpcrdma2_a_policy_recv_max_range = {
	.min	= 4096ULL,
	.max	= 262144ULL,
};

static const struct netlink_range_validation rpcrdma2_a_policy_fail_after_range = {
	.max	= 86400ULL,
};

/* RPCRDMA2_CMD_MODULE_GET - do */
const struct nla_policy rpcrdma2_module_get_nl_policy[RPCRDMA2_A_MODULE_ROLE + 1] = {
	[RPCRDMA2_A_MODULE_ROLE] = NLA_POLICY_MAX(NLA_U32, 1),
};

/* RPCRDMA2_CMD_CONN_GET - do */
const struct nla_policy rpcrdma2_conn_get_nl_policy[RPCRDMA2_A_CONNECTION_PEER_ADDRESS + 1] = {
	[RPCRDMA2_A_CONNECTION_ID] = { .type = NLA_U32, },
	[RPCRDMA2_A_CONNECTION_ROLE] = NLA_POLICY_MAX(NLA_U32, 1),
	[RPCRDMA2_A_CONNECTION_PEER_ADDRESS] = { .type = NLA_BINARY, },
};

/* RPCRDMA2_CMD_CONN_CHANGE - do */
const struct nla_policy rpcrdma2_conn_change_nl_policy[RPCRDMA2_A_CHANGE_VALUE + 1] = {
	[RPCRDMA2_A_CHANGE_CONNECTION] = { .type = NLA_U32, },
	[RPCRDMA2_A_CHANGE_OWN] = { .type = NLA_U8, },
	[RPCRDMA2_A_CHANGE_PROPERTY] = NLA_POLICY_MAX(NLA_U32, 1),
	[RPCRDMA2_A_CHANGE_VALUE] = { .type = NLA_U32, },
};

/* RPCRDMA2_CMD_CONN_FORGET - do */
const struct nla_policy rpcrdma2_conn_forget_nl_policy[RPCRDMA2_A_CHANGE_CONNECTION + 1] = {
	[RPCRDMA2_A_CHANGE_CONNECTION] = { .type = NLA_U32, },
};

/* RPCRDMA2_CMD_CONN_RECONNECT - do */
const struct nla_policy rpcrdma2_conn_reconnect_nl_policy[RPCRDMA2_A_CHANGE_CONNECTION + 1] = {
	[RPCRDMA2_A_CHANGE_CONNECTION] = { .type = NLA_U32, },
};

/* RPCRDMA2_CMD_POLICY_GET - do */
const struct nla_policy rpcrdma2_policy_get_nl_policy[RPCRDMA2_A_POLICY_PORT + 1] = {
	[RPCRDMA2_A_POLICY_ROLE] = NLA_POLICY_MAX(NLA_U32, 1),
	[RPCRDMA2_A_POLICY_ADDR4] = { .type = NLA_U32, },
	[RPCRDMA2_A_POLICY_ADDR6] = NLA_POLICY_EXACT_LEN(16),
	[RPCRDMA2_A_POLICY_PORT] = { .type = NLA_U16, },
};

/* RPCRDMA2_CMD_POLICY_SET - do */
const struct nla_policy rpcrdma2_policy_set_nl_policy[RPCRDMA2_A_POLICY_ADDRESSES + 1] = {
	[RPCRDMA2_A_POLICY_ROLE] = NLA_POLICY_MAX(NLA_U32, 1),
	[RPCRDMA2_A_POLICY_ADDR4] = { .type = NLA_U32, },
	[RPCRDMA2_A_POLICY_ADDR6] = NLA_POLICY_EXACT_LEN(16),
	[RPCRDMA2_A_POLICY_PREFIX_LENGTH] = NLA_POLICY_MAX(NLA_U8, 128),
	[RPCRDMA2_A_POLICY_PORT] = { .type = NLA_U16, },
	[RPCRDMA2_A_POLICY_VERSIONS] = NLA_POLICY_MAX(NLA_U32, 2),
	[RPCRDMA2_A_POLICY_RECV_SIZE] = NLA_POLICY_FULL_RANGE(NLA_U32, &rpcrdma2_a_policy_recv_size_range),
	[RPCRDMA2_A_POLICY_SEND_SIZE] = NLA_POLICY_FULL_RANGE(NLA_U32, &rpcrdma2_a_policy_send_size_range),
	[RPCRDMA2_A_POLICY_CREDITS] = NLA_POLICY_RANGE(NLA_U32, 1, 4096),
	[RPCRDMA2_A_POLICY_REMOTE_INVALIDATION] = NLA_POLICY_MAX(NLA_U32, 1),
	[RPCRDMA2_A_POLICY_PROPERTY_CHANGE] = NLA_POLICY_MAX(NLA_U32, 1),
	[RPCRDMA2_A_POLICY_RECV_MAX] = NLA_POLICY_FULL_RANGE(NLA_U32, &rpcrdma2_a_policy_recv_max_range),
	[RPCRDMA2_A_POLICY_CHECK] = { .type = NLA_FLAG, },
	[RPCRDMA2_A_POLICY_TOS] = NLA_POLICY_MAX(NLA_U32, 255),
	[RPCRDMA2_A_POLICY_RECONNECT_MIN] = NLA_POLICY_MAX(NLA_U32, 3600),
	[RPCRDMA2_A_POLICY_RECONNECT_MAX] = NLA_POLICY_MAX(NLA_U32, 3600),
	[RPCRDMA2_A_POLICY_FAIL_AFTER] = NLA_POLICY_FULL_RANGE(NLA_U32, &rpcrdma2_a_policy_fail_after_range),
	[RPCRDMA2_A_POLICY_TRUST_PATHS] = NLA_POLICY_MAX(NLA_U32, 1),
	[RPCRDMA2_A_POLICY_ADDRESSES] = NLA_POLICY_EXACT_LEN(32),
};

/* RPCRDMA2_CMD_POLICY_DEL - do */
const struct nla_policy rpcrdma2_policy_del_nl_policy[RPCRDMA2_A_POLICY_PORT + 1] = {
	[RPCRDMA2_A_POLICY_ROLE] = NLA_POLICY_MAX(NLA_U32, 1),
	[RPCRDMA2_A_POLICY_ADDR4] = { .type = NLA_U32, },
	[RPCRDMA2_A_POLICY_ADDR6] = NLA_POLICY_EXACT_LEN(16),
	[RPCRDMA2_A_POLICY_PREFIX_LENGTH] = NLA_POLICY_MAX(NLA_U8, 128),
	[RPCRDMA2_A_POLICY_PORT] = { .type = NLA_U16, },
};

/* Ops table for rpcrdma2 */
const struct genl_ops rpcrdma2_nl_ops[8] = {
	{
		.cmd		= RPCRDMA2_CMD_MODULE_GET,
		.doit		= rpcrdma2_nl_module_get_doit,
		.policy		= rpcrdma2_module_get_nl_policy,
		.maxattr	= RPCRDMA2_A_MODULE_ROLE,
	},
	{
		.cmd		= RPCRDMA2_CMD_CONN_GET,
		.doit		= rpcrdma2_nl_conn_get_doit,
		.dumpit		= rpcrdma2_nl_conn_get_dumpit,
		.policy		= rpcrdma2_conn_get_nl_policy,
		.maxattr	= RPCRDMA2_A_CONNECTION_PEER_ADDRESS,
	},
	{
		.cmd		= RPCRDMA2_CMD_CONN_CHANGE,
		.doit		= rpcrdma2_nl_conn_change_doit,
		.policy		= rpcrdma2_conn_change_nl_policy,
		.maxattr	= RPCRDMA2_A_CHANGE_VALUE,
		.flags		= GENL_UNS_ADMIN_PERM,
	},
	{
		.cmd		= RPCRDMA2_CMD_CONN_FORGET,
		.doit		= rpcrdma2_nl_conn_forget_doit,
		.policy		= rpcrdma2_conn_forget_nl_policy,
		.maxattr	= RPCRDMA2_A_CHANGE_CONNECTION,
		.flags		= GENL_UNS_ADMIN_PERM,
	},
	{
		.cmd		= RPCRDMA2_CMD_CONN_RECONNECT,
		.doit		= rpcrdma2_nl_conn_reconnect_doit,
		.policy		= rpcrdma2_conn_reconnect_nl_policy,
		.maxattr	= RPCRDMA2_A_CHANGE_CONNECTION,
		.flags		= GENL_UNS_ADMIN_PERM,
	},
	{
		.cmd		= RPCRDMA2_CMD_POLICY_GET,
		.doit		= rpcrdma2_nl_policy_get_doit,
		.dumpit		= rpcrdma2_nl_policy_get_dumpit,
		.policy		= rpcrdma2_policy_get_nl_policy,
		.maxattr	= RPCRDMA2_A_POLICY_PORT,
	},
	{
		.cmd		= RPCRDMA2_CMD_POLICY_SET,
		.doit		= rpcrdma2_nl_policy_set_doit,
		.policy		= rpcrdma2_policy_set_nl_policy,
		.maxattr	= RPCRDMA2_A_POLICY_ADDRESSES,
		.flags		= GENL_UNS_ADMIN_PERM,
	},
	{
		.cmd		= RPCRDMA2_CMD_POLICY_DEL,
		.doit		= rpcrdma2_nl_policy_del_doit,
		.policy		= rpcrdma2_policy_del_nl_policy,
		.maxattr	= RPCRDMA2_A_POLICY_PORT,
		.flags		= GENL_UNS_ADMIN_PERM,
	},
};
