// SPDX-License-Identifier: GPL-2.0
/*
 * Generic netlink family "rpcrdma2": shows and changes connections, for the
 * command of the same name and for other programs. The specification,
 * Documentation/netlink/specs/rpcrdma2.yaml, describes the attributes; the
 * attribute policies and the table of operations (netlink_gen.c) are generated
 * from the specification.
 *
 * A socket sees the connections of its own network namespace. Every user may
 * read; a change requires CAP_NET_ADMIN in that namespace.
 *
 * Context: system calls; may sleep. Events are sent from any context.
 */
#include <linux/module.h>
#include <linux/sunrpc/addr.h>
#include <net/genetlink.h>
#include <net/sock.h>

#include "compat.h"
#include "conn/conn.h"
#include "admin/netlink.h"
#include "admin/netlink_gen.h"
#include "conn/conn_list.h"
#ifdef RPCRDMA2_PROBES
#include "rpcrdma2_build.h"
#endif

#define RPCRDMA2_DRAFT	"draft-cel-nfsv4-rpcrdma-version-two-09"

static const struct genl_multicast_group groups[] = {
	{ .name = "events" },
};

struct genl_family rpcrdma2_nl_family __ro_after_init = {
	.name		= RPCRDMA2_FAMILY_NAME,
	.version	= RPCRDMA2_FAMILY_VERSION,
	.netnsok	= true,
	.parallel_ops	= true,
	.module		= THIS_MODULE,
	.ops		= rpcrdma2_nl_ops,
	.n_ops		= ARRAY_SIZE(rpcrdma2_nl_ops),
	.mcgrps		= groups,
	.n_mcgrps	= ARRAY_SIZE(groups),
};

/* The specification has the same numbers as the module. */
static_assert((int)RPCRDMA2_PROPERTY_ID_BRS == (int)RPCRDMA2_BRS);
static_assert((int)RPCRDMA2_REQUEST_RESULT_REJECTED == (int)RPCRDMA2_CHANGE_REJECTED);
static_assert(RPCRDMA2_A_COUNTERS_MAX == 1 + RPCRDMA2_NR_STATS);

/* The counters by number. The attribute of the first follows the padding attribute. */
static const u8 counters[] = {
#define RPCRDMA2_STAT(name, number)	\
	[number] = RPCRDMA2_STAT_##name
#include "conn/stats_list.h"
#undef RPCRDMA2_STAT
};

static int put_counters(struct sk_buff *skb, int type,
			const struct rpcrdma2_stats *stats)
{
	struct nlattr *nest = nla_nest_start(skb, type);
	int i;

	if (!nest)
		return -EMSGSIZE;
	for (i = 0; i < RPCRDMA2_NR_STATS; i++)
		if (nla_put_u64_64bit(skb, RPCRDMA2_A_COUNTERS_PAD + 1 + i,
				      atomic_long_read(&stats->v[counters[i]]),
				      RPCRDMA2_A_COUNTERS_PAD))
			return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int put_identity(struct sk_buff *skb, const struct rpcrdma2_conn *conn)
{
	const struct rdma_addr *addr = &conn->cm_id->route.addr;
	int len = rdma_addr_size((const struct sockaddr *)&addr->dst_addr);
	u32 role = conn->client ? RPCRDMA2_ROLE_CLIENT : RPCRDMA2_ROLE_SERVER;

	return nla_put_u32(skb, RPCRDMA2_A_CONNECTION_ID, conn->id) ?:
	       nla_put_u32(skb, RPCRDMA2_A_CONNECTION_ROLE, role) ?:
	       nla_put_u32(skb, RPCRDMA2_A_CONNECTION_STATE, rpcrdma2_conn_state(conn)) ?:
	       nla_put_string(skb, RPCRDMA2_A_CONNECTION_DEVICE,
			      dev_name(&conn->cm_id->device->dev)) ?:
	       nla_put(skb, RPCRDMA2_A_CONNECTION_LOCAL_ADDRESS, len, &addr->src_addr) ?:
	       nla_put(skb, RPCRDMA2_A_CONNECTION_PEER_ADDRESS, len, &addr->dst_addr);
}

static int put_version(struct sk_buff *skb, const struct rpcrdma2_conn *conn)
{
	return nla_put_u32(skb, RPCRDMA2_A_CONNECTION_VERSION, conn->codec->vers) ?:
	       nla_put_u32(skb, RPCRDMA2_A_CONNECTION_VERSION_REASON, conn->why) ?:
	       nla_put_string(skb, RPCRDMA2_A_CONNECTION_VERSION_REASON_TEXT,
			      rpcrdma2_neg_why_name(conn->why));
}

static int put_property(struct sk_buff *skb, const struct rpcrdma2_props_shown *shown,
			enum rpcrdma2_prop prop)
{
	struct nlattr *nest = nla_nest_start(skb, RPCRDMA2_A_CONNECTION_PROPERTY);

	if (!nest ||
	    nla_put_u32(skb, RPCRDMA2_A_PROPERTY_ID, prop) ||
	    nla_put_u32(skb, RPCRDMA2_A_PROPERTY_LOCAL, shown->mine.val[prop]) ||
	    nla_put_u32(skb, RPCRDMA2_A_PROPERTY_PEER, shown->peer.val[prop]) ||
	    nla_put_u32(skb, RPCRDMA2_A_PROPERTY_ASKED, shown->change.value[prop]) ||
	    nla_put_u32(skb, RPCRDMA2_A_PROPERTY_RESULT, shown->change.result[prop]))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int put_properties(struct sk_buff *skb, struct rpcrdma2_conn *conn)
{
	struct rpcrdma2_props_shown shown;
	enum rpcrdma2_prop prop;
	int ret = 0;

	rpcrdma2_props_show(conn, &shown);
	for (prop = 0; prop < RPCRDMA2_NR_PROPS && !ret; prop++)
		ret = put_property(skb, &shown, prop);
	return ret ?:
	       nla_put_u8(skb, RPCRDMA2_A_CONNECTION_PROPERTY_CHANGE, shown.change.on) ?:
	       nla_put_u8(skb, RPCRDMA2_A_CONNECTION_REQUEST_PENDING,
			  shown.change.pending || shown.change.want) ?:
	       nla_put_u8(skb, RPCRDMA2_A_CONNECTION_ANNOUNCEMENT_PENDING,
			  shown.change.announcement || shown.change.dirty);
}

/* Before the version is settled these attributes are absent. */
static int put_settled(struct sk_buff *skb, struct rpcrdma2_conn *conn)
{
	if (rpcrdma2_conn_state(conn) < RPCRDMA2_CONN_READY || !READ_ONCE(conn->codec))
		return 0;
	return put_version(skb, conn) ?:
	       put_properties(skb, conn) ?:
	       nla_put_u32(skb, RPCRDMA2_A_CONNECTION_RECEIVE_CAPACITY,
			   READ_ONCE(conn->p.pool->size)) ?:
	       nla_put_u32(skb, RPCRDMA2_A_CONNECTION_INLINE_SEND,
			   rpcrdma2_msg_size_send(&conn->limits)) ?:
	       nla_put_u32(skb, RPCRDMA2_A_CONNECTION_INLINE_RECV,
			   rpcrdma2_msg_size_recv(&conn->limits)) ?:
	       nla_put_u8(skb, RPCRDMA2_A_CONNECTION_REMOTE_INVALIDATION,
			  conn->remote_inval);
}

static int put_queues(struct sk_buff *skb, struct rpcrdma2_conn *conn)
{
	return nla_put_u32(skb, RPCRDMA2_A_CONNECTION_CREDITS_ASKED,
			   rpcrdma2_credit_ask(&conn->credit)) ?:
	       nla_put_u32(skb, RPCRDMA2_A_CONNECTION_CREDITS_GRANTED_BY_PEER,
			   rpcrdma2_credit_have(&conn->credit)) ?:
	       nla_put_u32(skb, RPCRDMA2_A_CONNECTION_CALLS_OUTSTANDING,
			   rpcrdma2_credit_used(&conn->credit)) ?:
	       nla_put_u32(skb, RPCRDMA2_A_CONNECTION_CREDITS_GRANTED_TO_PEER,
			   rpcrdma2_credit_grant(&conn->credit)) ?:
	       nla_put_u32(skb, RPCRDMA2_A_CONNECTION_CALLS_BEING_SERVED,
			   rpcrdma2_credit_serving(&conn->credit)) ?:
	       nla_put_u32(skb, RPCRDMA2_A_CONNECTION_QP_NUMBER, conn->qp->qp_num) ?:
	       nla_put_u32(skb, RPCRDMA2_A_CONNECTION_RECEIVES_POSTED,
			   rpcrdma2_recvs_posted(&conn->recvq)) ?:
	       nla_put_u32(skb, RPCRDMA2_A_CONNECTION_SEND_QUEUE_FREE,
			   rpcrdma2_sendq_avail(&conn->sendq)) ?:
	       nla_put_u32(skb, RPCRDMA2_A_CONNECTION_SEND_QUEUE_DEPTH,
			   rpcrdma2_sendq_depth(&conn->sendq));
}

static int put_bytes(struct sk_buff *skb, int type, u64 bytes)
{
	return nla_put_u64_64bit(skb, type, bytes, RPCRDMA2_A_CONNECTION_PAD);
}

/* Sizes as allocated. The memory that the device driver allocates for queues and
 * page lists is not included.
 */
static int put_memory(struct sk_buff *skb, struct rpcrdma2_conn *conn)
{
	struct rpcrdma2_memory mem;

	conn->p.ops->memory(conn, &mem);
	return put_bytes(skb, RPCRDMA2_A_CONNECTION_RECEIVE_MEMORY,
			 atomic_long_read(&conn->p.pool->bytes)) ?:
	       put_bytes(skb, RPCRDMA2_A_CONNECTION_SEND_MEMORY,
			 rpcrdma2_sends_memory(conn)) ?:
	       put_bytes(skb, RPCRDMA2_A_CONNECTION_MR_MEMORY, mem.mrs) ?:
	       put_bytes(skb, RPCRDMA2_A_CONNECTION_RPC_MEMORY, mem.rpcs);
}

/* The attributes have the same order as those of an entry of the policy */
static int put_settings(struct sk_buff *skb, const struct rpcrdma2_conn *conn)
{
	int i, ret = 0, end = RPCRDMA2_A_POLICY_FAIL_AFTER - RPCRDMA2_A_POLICY_TOS;

	for (i = 0; i <= end && !ret && conn->client; i++)
		ret = nla_put_u32(skb, RPCRDMA2_A_CONNECTION_TOS + i,
				  conn->p.policy.val[RPCRDMA2_A_POLICY_TOS + i]);
	return ret;
}

static int put_connection(struct sk_buff *skb, struct rpcrdma2_conn *conn)
{
	return put_identity(skb, conn) ?:
	       put_settled(skb, conn) ?:
	       put_queues(skb, conn) ?:
	       put_memory(skb, conn) ?:
	       put_settings(skb, conn) ?:
	       put_counters(skb, RPCRDMA2_A_CONNECTION_COUNTERS, conn->p.stats);
}

/**
 * rpcrdma2_nl_reply - answer a request with its own command
 * @info: the request
 * @put: fills in the answer
 *
 * Context: system call; sleeps for memory before @put.
 * Return: 0, -ENOMEM, or the error of @put
 */
int rpcrdma2_nl_reply(struct genl_info *info,
		      int (*put)(struct sk_buff *skb, struct genl_info *info))
{
	struct sk_buff *skb = genlmsg_new(GENLMSG_DEFAULT_SIZE, GFP_KERNEL);
	void *hdr;
	int ret;

	if (!skb)
		return -ENOMEM;
	hdr = genlmsg_put_reply(skb, info, &rpcrdma2_nl_family, 0, info->genlhdr->cmd);
	ret = hdr ? put(skb, info) : -EMSGSIZE;
	if (ret) {
		nlmsg_free(skb);
		return ret;
	}
	genlmsg_end(skb, hdr);
	return genlmsg_reply(skb, info);
}

DEFINE_FREE(conn_done, struct rpcrdma2_conn *, rpcrdma2_conn_list_done(_T))

/* The connection that a request names, for rpcrdma2_conn_list_done() */
static struct rpcrdma2_conn *named_conn(struct genl_info *info, int attr)
{
	unsigned long id;

	if (GENL_REQ_ATTR_CHECK(info, attr))
		return ERR_PTR(-EINVAL);
	id = nla_get_u32(info->attrs[attr]);
	return rpcrdma2_conn_list_next(genl_info_net(info), &id, id) ?: ERR_PTR(-ENOENT);
}

static int put_one(struct sk_buff *skb, struct genl_info *info)
{
	struct rpcrdma2_conn *conn __free(conn_done) =
		named_conn(info, RPCRDMA2_A_CONNECTION_ID);

	return IS_ERR(conn) ? PTR_ERR(conn) : put_connection(skb, conn);
}

/**
 * rpcrdma2_nl_conn_get_doit - show one connection
 * @skb: the request
 * @info: its attributes
 *
 * Context: system call; sleeps.
 * Return: 0; -EINVAL: the request has no id; -ENOENT: no such connection;
 * -EMSGSIZE; -ENOMEM
 */
int rpcrdma2_nl_conn_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	return rpcrdma2_nl_reply(info, put_one);
}

static bool conn_wanted(const struct rpcrdma2_conn *conn, struct nlattr **filter)
{
	const struct nlattr *role = filter[RPCRDMA2_A_CONNECTION_ROLE];
	const struct nlattr *peer = filter[RPCRDMA2_A_CONNECTION_PEER_ADDRESS];
	const struct sockaddr *addr = (const struct sockaddr *)
				      &conn->cm_id->route.addr.dst_addr;

	if (role && conn->client != (nla_get_u32(role) == RPCRDMA2_ROLE_CLIENT))
		return false;
	return !peer || (nla_len(peer) >= rdma_addr_size(addr) &&
			 rpc_cmp_addr(nla_data(peer), addr));
}

/* Add a connection to a dump. */
static int dump_connection(struct sk_buff *skb, struct netlink_callback *cb,
			   struct rpcrdma2_conn *conn)
{
	void *hdr = genlmsg_put(skb, NETLINK_CB(cb->skb).portid, cb->nlh->nlmsg_seq,
				&rpcrdma2_nl_family, NLM_F_MULTI, RPCRDMA2_CMD_CONN_GET);

	if (!hdr || put_connection(skb, conn)) {
		genlmsg_cancel(skb, hdr);
		return -EMSGSIZE;
	}
	genlmsg_end(skb, hdr);
	return 0;
}

/**
 * rpcrdma2_nl_conn_get_dumpit - show all connections
 * @skb: receives the messages
 * @cb: the dump; args[0] is the least id that has not been shown
 *
 * Context: system call; sleeps.
 * Return: bytes in @skb, 0 at the end; -EMSGSIZE: @skb is too small for one connection
 */
int rpcrdma2_nl_conn_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct nlattr **filter = compat_genl_dump_attrs(cb);
	const struct nlattr *first = filter[RPCRDMA2_A_CONNECTION_ID];
	unsigned long id = cb->args[0];
	struct rpcrdma2_conn *conn;
	int ret = 0;

	if (first)
		id = max_t(unsigned long, id, nla_get_u32(first));
	while ((conn = rpcrdma2_conn_list_next(sock_net(skb->sk), &id, ULONG_MAX))) {
		if (conn_wanted(conn, filter))
			ret = dump_connection(skb, cb, conn);
		rpcrdma2_conn_list_done(conn);
		if (ret)
			break;
		id++;
	}
	cb->args[0] = id;
	return skb->len ?: ret;
}

static int put_role(struct sk_buff *skb, const struct net *net, u32 role)
{
	bool client = role == RPCRDMA2_ROLE_CLIENT;
	struct rpcrdma2_conn *conn;
	unsigned long id;
	u32 count = 0;

	for (id = 0; (conn = rpcrdma2_conn_list_next(net, &id, ULONG_MAX)); id++) {
		count += conn->client == client;
		rpcrdma2_conn_list_done(conn);
	}
	return nla_put_u32(skb, RPCRDMA2_A_MODULE_ROLE, role) ?:
	       nla_put_u32(skb, RPCRDMA2_A_MODULE_CONNECTIONS, count) ?:
	       put_counters(skb, RPCRDMA2_A_MODULE_ENDED,
			    rpcrdma2_conn_list_totals(net, client));
}

/* A module built in a kernel tree has the version of the kernel. */
static int put_build(struct sk_buff *skb)
{
#ifdef RPCRDMA2_PROBES
	return nla_put_string(skb, RPCRDMA2_A_MODULE_VERSION, RPCRDMA2_VERSION) ?:
	       nla_put_string(skb, RPCRDMA2_A_MODULE_BUILD, RPCRDMA2_BUILD);
#else
	return 0;
#endif
}

/* True if this transport replaces the stock transport */
static bool replaces __ro_after_init;

static int put_module(struct sk_buff *skb, struct genl_info *info)
{
	const struct nlattr *role = info->attrs[RPCRDMA2_A_MODULE_ROLE];

	return put_build(skb) ?:
	       nla_put_string(skb, RPCRDMA2_A_MODULE_DRAFT, RPCRDMA2_DRAFT) ?:
	       nla_put_u8(skb, RPCRDMA2_A_MODULE_REPLACE, replaces) ?:
	       (role ? put_role(skb, genl_info_net(info), nla_get_u32(role)) : 0);
}

/**
 * rpcrdma2_nl_module_get_doit - show the module
 * @skb: the request
 * @info: its attributes
 *
 * Context: system call; sleeps.
 * Return: 0, -EMSGSIZE or -ENOMEM
 */
int rpcrdma2_nl_module_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	return rpcrdma2_nl_reply(info, put_module);
}

/* Requests that change a connection */

/**
 * rpcrdma2_nl_conn_change_doit - change a property of a connection
 * @skb: the request
 * @info: its attributes
 *
 * Context: system call; sleeps.
 * Return: 0; -EINVAL: an attribute is missing; -ENOENT: no such connection; or an
 * error of rpcrdma2_props_request()
 */
int rpcrdma2_nl_conn_change_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct rpcrdma2_conn *conn __free(conn_done) =
		named_conn(info, RPCRDMA2_A_CHANGE_CONNECTION);
	struct nlattr **attrs = info->attrs;
	const struct nlattr *own = attrs[RPCRDMA2_A_CHANGE_OWN];

	if (IS_ERR(conn))
		return PTR_ERR(conn);
	if (GENL_REQ_ATTR_CHECK(info, RPCRDMA2_A_CHANGE_PROPERTY) ||
	    GENL_REQ_ATTR_CHECK(info, RPCRDMA2_A_CHANGE_VALUE))
		return -EINVAL;
	return rpcrdma2_props_request(conn, own && nla_get_u8(own),
				      nla_get_u32(attrs[RPCRDMA2_A_CHANGE_PROPERTY]),
				      nla_get_u32(attrs[RPCRDMA2_A_CHANGE_VALUE]));
}

/**
 * rpcrdma2_nl_conn_forget_doit - offer version 2 on the next connect (VER-16)
 * @skb: the request
 * @info: its attributes
 *
 * Context: system call; sleeps.
 * Return: 0; -ENOENT: no such connection; -EINVAL: the request has no id, or this
 * machine is not the client
 */
int rpcrdma2_nl_conn_forget_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct rpcrdma2_conn *conn __free(conn_done) =
		named_conn(info, RPCRDMA2_A_CHANGE_CONNECTION);

	return IS_ERR(conn) ? PTR_ERR(conn) : rpcrdma2_ver_relearn(conn);
}

/**
 * rpcrdma2_nl_conn_reconnect_doit - end a connection
 * @skb: the request
 * @info: its attributes
 *
 * Context: system call; sleeps.
 * Return: 0; -EINVAL: the request has no id; -ENOENT: no such connection
 */
int rpcrdma2_nl_conn_reconnect_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct rpcrdma2_conn *conn __free(conn_done) =
		named_conn(info, RPCRDMA2_A_CHANGE_CONNECTION);

	if (IS_ERR(conn))
		return PTR_ERR(conn);
	rpcrdma2_conn_kill(conn, -ECONNRESET);
	return 0;
}

/* Events. Without listeners no message is built. If there is no memory, the event
 * is lost.
 */

static int put_event(struct sk_buff *skb, const struct rpcrdma2_conn *conn,
		     enum rpcrdma2_event event)
{
	int ret = put_identity(skb, conn);

	if (!ret && READ_ONCE(conn->codec))
		ret = put_version(skb, conn);
	if (!ret && event == RPCRDMA2_EVENT_LOST)
		ret = nla_put_s32(skb, RPCRDMA2_A_CONNECTION_REASON,
				  READ_ONCE(conn->reason));
	return ret ?: nla_put_u32(skb, RPCRDMA2_A_CONNECTION_EVENT, event);
}

/* A client's connection that is lost before CONNECTING may have no device, and is not
 * reported, nor is a probe of a path.
 */
static void conn_event(const struct rpcrdma2_conn *conn, enum rpcrdma2_event event)
{
	struct sk_buff *skb;
	struct net *net;
	void *hdr;

	if (!conn->cm_id || !conn->cm_id->device || (conn->client && !conn->p.requester))
		return;
	net = rpcrdma2_conn_net(conn);
	if (!genl_has_listeners(&rpcrdma2_nl_family, net, 0))
		return;
	if (event == RPCRDMA2_EVENT_SETTLED && conn->codec == &rpcrdma2_codec_v1 &&
	    conn->p.policy.val[RPCRDMA2_A_POLICY_VERSIONS] != RPCRDMA2_VERSIONS_V1)
		event = RPCRDMA2_EVENT_FALLBACK;
	skb = genlmsg_new(NLMSG_GOODSIZE, GFP_ATOMIC);
	if (!skb)
		return;
	hdr = genlmsg_put(skb, 0, 0, &rpcrdma2_nl_family, 0, RPCRDMA2_CMD_CONN_NTF);
	if (!hdr || put_event(skb, conn, event)) {
		nlmsg_free(skb);
		return;
	}
	genlmsg_end(skb, hdr);
	genlmsg_multicast_netns(&rpcrdma2_nl_family, net, skb, 0, 0, GFP_ATOMIC);
}

/**
 * rpcrdma2_netlink_init - register the family
 * @replace: this transport replaces the stock transport
 *
 * Context: module load.
 * Return: 0 or a negative errno
 */
int __init rpcrdma2_netlink_init(bool replace)
{
	replaces = replace;
	rpcrdma2_conn_notify = conn_event;
	return genl_register_family(&rpcrdma2_nl_family);
}

/**
 * rpcrdma2_netlink_exit - reverse of rpcrdma2_netlink_init()
 *
 * Context: module unload; no request is handled after the return.
 */
void rpcrdma2_netlink_exit(void)
{
	genl_unregister_family(&rpcrdma2_nl_family);
}
