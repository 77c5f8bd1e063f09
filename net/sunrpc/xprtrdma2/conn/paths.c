// SPDX-License-Identifier: GPL-2.0
/*
 * Several paths from this machine to a server, as the policy says: each pair of one of the
 * server's addresses, and one of ours in the same family. Without addresses of ours the
 * route decides. The address of the mount is the first of the server's.
 *
 * All mounts of a server, in a network namespace, share a group of paths. Their transports
 * are its users; each has at most one connection. It is chosen in rounds: a user asks for
 * one path after the other until it has a connection, and each path once, so that the
 * client's delays are between rounds. The best path is one that is not DOWN, with the
 * fewest connections.
 *
 *              connected                    failed, lost
 *   UNTRIED ---------------> UP <---------> DOWN
 *      ^  failed ---------------------------^ |
 *      +--------- all paths are DOWN ---------+
 *
 * If all are DOWN the server itself is away, which says nothing about paths. A worker
 * probes a path that is not UP by an attempt to connect that ends before the first message,
 * again after growing delays. No connection of a mount is used for that: its RPCs would
 * wait as long as the attempt. It ends a connection of a path that has two more than
 * another one, and which is idle: the next round finds the better path. If all are busy for
 * a while it takes one of them; its RPCs are sent again. The worker runs only while there is
 * a connection and something to do.
 *
 * Duplicate requests: a server of NFSv2, NFSv3 or NFSv4.0 recognises a Call that it gets
 * again by XID, checksum and address of the client (nfsd's nfscache.c; the port does not
 * count, nor does the address of the server). From another address the Call would be
 * executed twice: a REMOVE fails that has succeeded, or a WRITE that is still under way
 * in the server overwrites later ones. So a transport whose Calls depend on this, which
 * sunrpc calls reuseport, keeps its address as long as a Call that was sent has no Reply,
 * and waits if no path has this address. NFSv4.1 has sessions and does not depend on it.
 *
 * Memory is allocated when a transport is made, or its policy has changed, as for a
 * connection. paths_lock is a leaf, and protects everything here but the constant parts
 * of a group. Process context.
 */
#include <linux/slab.h>
#include <linux/sunrpc/addr.h>
#include <net/net_namespace.h>

#include "compat.h"
#include "conn/buf.h"
#include "conn/cm.h"
#include "conn/conn_list.h"
#include "conn/paths.h"
#include "conn/workqueue.h"

/* Seconds, instead of silence_seconds, if there is another path. Noticing that a path is
 * gone, and connecting by another one, takes less than that.
 */
#define PATHS_SILENCE		3U
#define PATHS_PERIOD		(HZ / 2)	/* of the worker */
#define PATHS_PATIENCE		20U		/* periods without an idle connection */
#define PATHS_PROBE_MS		2000U
/* Delay of a probe. A path that answers, but loses its connections, gets longer ones, until
 * it has been up for a minute.
 */
#define PATHS_WAIT_MIN		((unsigned long)HZ)
#define PATHS_WAIT_MAX		(8UL * HZ)
#define PATHS_WAIT_LOST		(256UL * HZ)
#define PATHS_PROVEN		(60 * HZ)

/**
 * struct path_group - the paths to a server
 * @list: in groups
 * @net: network namespace, which lives as long as the users
 * @addrs: of the policy, with a reference
 * @users: struct rpcrdma2_path_user
 * @work: probes paths and moves connections
 * @busy: connections in a row that were not idle
 * @silence: PATHS_SILENCE with at least two paths that are not DOWN, otherwise 0
 * @stats: counters of probes, for nobody
 * @recvs: Receives of probes
 * @mem: negotiation memory of probes, not used
 * @n: number of paths
 * @paths: the paths
 */
struct path_group {
	struct list_head		list;
	struct net			*net;
	struct rpcrdma2_addrs		*addrs;
	struct list_head		users;
	struct delayed_work		work;
	u32				busy;
	u32				silence;
	struct rpcrdma2_stats		stats;
	struct rpcrdma2_recv_pool	recvs;
	struct rpcrdma2_ver_memory	mem;
	u32				n;
	struct rpcrdma2_path		paths[];
};

/**
 * struct rpcrdma2_path_user - a client's transport
 * @list: in the list of the group
 * @group: the group
 * @path: path of the connection or attempt, or NULL
 * @conn: id of the connection, 0 without one
 * @source: address of this machine of the last connection
 * @same_source: the next connection must have this address
 * @tried: paths tried in this round
 */
struct rpcrdma2_path_user {
	struct list_head		list;
	struct path_group		*group;
	struct rpcrdma2_path		*path;
	u32				conn;
	union rpcrdma2_addr		source;
	bool				same_source;
	u64				tried;
};

static DEFINE_SPINLOCK(paths_lock);
static LIST_HEAD(groups);

/* Paths */

/* Behind the last path */
static struct rpcrdma2_path *paths_end(struct path_group *group)
{
	return group->paths + group->n;
}

static void path_becomes(struct rpcrdma2_path *path, enum rpcrdma2_path_state state,
			 int err)
{
	path->reason = err;
	if (path->state == state)
		return;
	path->state = state;
	path->changed = get_jiffies_64();
}

static void path_failed(struct rpcrdma2_path *path, int err)
{
	bool lost = path->state == RPCRDMA2_PATH_STATE_UP;

	/* Not a lack of memory here, nor the end of a connection by administrator or worker */
	if (!err || err == -ENOBUFS || err == -ECONNRESET)
		return;
	if (lost && get_jiffies_64() - path->changed > PATHS_PROVEN)
		path->wait = 0;
	path->wait = clamp(2 * path->wait, PATHS_WAIT_MIN,
			   lost ? PATHS_WAIT_LOST : PATHS_WAIT_MAX);
	path->due = jiffies + path->wait;
	path->failures++;
	path_becomes(path, RPCRDMA2_PATH_STATE_DOWN, err);
}

/* A path that has two connections more than one that is UP, or NULL */
static struct rpcrdma2_path *group_crowded(struct path_group *group)
{
	struct rpcrdma2_path *path, *most = group->paths;
	u32 least = U32_MAX - 2;

	for (path = group->paths; path < paths_end(group); path++) {
		if (path->conns > most->conns)
			most = path;
		if (path->state == RPCRDMA2_PATH_STATE_UP)
			least = min(least, path->conns);
	}
	return most->conns >= least + 2 ? most : NULL;
}

/* Draw conclusions from a change. The worker runs if there are connections, and something
 * to do.
 */
static void group_changed(struct path_group *group)
{
	u32 conns = 0, up = 0, down = 0;
	struct rpcrdma2_path *path;

	for (path = group->paths; path < paths_end(group); path++) {
		conns += path->conns;
		up += path->state == RPCRDMA2_PATH_STATE_UP;
		down += path->state == RPCRDMA2_PATH_STATE_DOWN;
	}
	WRITE_ONCE(group->silence, group->n - down > 1 ? PATHS_SILENCE : 0);
	if (down == group->n)
		for (path = group->paths; path < paths_end(group); path++)
			path_becomes(path, RPCRDMA2_PATH_STATE_UNTRIED, path->reason);
	if (conns && (up < group->n || group_crowded(group)))
		queue_delayed_work(rpcrdma2_connect_wq, &group->work, PATHS_PERIOD);
}

/* The worker */

static bool probe_recv(struct rpcrdma2_conn *conn, struct rpcrdma2_recv *rx)
{
	return false;
}

static void probe_ended(struct rpcrdma2_conn *conn)
{
}

static bool probe_wanted(const struct rpcrdma2_conn *conn)
{
	const struct path_group *group = conn->p.owner;

	return !list_empty_careful(&group->users);
}

static const struct rpcrdma2_conn_ops probe_ops = {
	.recv		= probe_recv,
	.closing	= probe_ended,
	.closed		= probe_ended,
	.lost		= probe_ended,
	.wanted		= probe_wanted,
};

/* Connect by a path, without messages. */
static int group_connect(struct path_group *group, const struct rpcrdma2_path *path)
{
	const struct rpcrdma2_conn_params p = {
		.ops		= &probe_ops,
		.owner		= group,
		.stats		= &group->stats,
		.pool		= &group->recvs,
		.mem		= &group->mem,
		.policy.val[RPCRDMA2_A_POLICY_RECV_SIZE] = RPCRDMA2_INLINE_DEFAULT,
		.send_size	= RPCRDMA2_INLINE_DEFAULT,
		.calls		= 1,
		.serves		= 1,
		.serves_initial	= 1,
		.call_wrs	= 1,
		.resolve_ms	= PATHS_PROBE_MS,
		.connect_ms	= PATHS_PROBE_MS,
	};
	unsigned int was = rpcrdma2_reclaim_enter(false);
	int ret;

	ret = rpcrdma2_conn_probe(group->net, path->src.sa.sa_family ? &path->src.sa : NULL,
				  &path->dst.sa, &p);
	rpcrdma2_recv_pool_empty(&group->recvs);
	rpcrdma2_reclaim_exit(was);
	return ret;
}

/* The path that is not UP, or being tried, and has waited longest; or NULL */
static struct rpcrdma2_path *group_due(struct path_group *group)
{
	struct rpcrdma2_path *path, *best = NULL;

	for (path = group->paths; path < paths_end(group); path++)
		if (path->state != RPCRDMA2_PATH_STATE_UP &&
		    (path->state == RPCRDMA2_PATH_STATE_DOWN || !path->conns) &&
		    time_after_eq(jiffies, path->due) &&
		    (!best || time_before(path->due, best->due)))
			best = path;
	return best;
}

static void group_probe(struct path_group *group)
{
	struct rpcrdma2_path *path, as_it_was;
	int ret;

	scoped_guard(spinlock, &paths_lock) {
		path = group_due(group);
		if (!path)
			return;
		as_it_was = *path;
	}
	ret = group_connect(group, &as_it_was);
	guard(spinlock)(&paths_lock);
	path->due = jiffies + PATHS_WAIT_MAX;
	/* A connection may know better */
	if (path->state != as_it_was.state || path->failures != as_it_was.failures)
		return;
	if (ret)
		path_failed(path, ret);
	else if (path->reason == -EPROTO)
		/* Refused by the client: connections may try, but none is moved for that */
		path_becomes(path, RPCRDMA2_PATH_STATE_UNTRIED, -EPROTO);
	else
		path_becomes(path, RPCRDMA2_PATH_STATE_UP, 0);
}

/* The next connection of the crowded path, or 0; and whether it must be idle */
static u32 group_movable(struct path_group *group, bool *tied)
{
	struct rpcrdma2_path *crowded;
	struct rpcrdma2_path_user *user;

	guard(spinlock)(&paths_lock);
	crowded = group_crowded(group);
	list_for_each_entry(user, &group->users, list)
		if (crowded && user->path == crowded && user->conn) {
			list_move_tail(&user->list, &group->users);
			/* It could not use all paths the last time */
			*tied = user->same_source;
			return user->conn;
		}
	return 0;
}

static void group_move(struct path_group *group)
{
	struct rpcrdma2_conn *conn;
	unsigned long id;
	bool tied = false;

	id = group_movable(group, &tied);
	conn = id ? rpcrdma2_conn_list_next(group->net, &id, id) : NULL;
	if (!conn)
		return;
	if (!rpcrdma2_credit_used(&conn->credit) ||
	    (group->busy++ >= PATHS_PATIENCE && !tied)) {
		rpcrdma2_conn_kill(conn, -ECONNRESET);
		group->busy = 0;
	}
	rpcrdma2_conn_list_done(conn);
}

static void group_worker(struct work_struct *work)
{
	struct path_group *group = container_of(work, struct path_group, work.work);

	group_probe(group);
	group_move(group);
	guard(spinlock)(&paths_lock);
	group_changed(group);
}

/* Groups */

static bool group_matches(const struct path_group *group, const struct net *net,
			  const struct sockaddr *server, const struct rpcrdma2_addrs *addrs)
{
	return net_eq(group->net, net) && group->addrs == addrs &&
	       rpc_cmp_addr_port(&group->paths->server.sa, server);
}

static void addr_set(union rpcrdma2_addr *to, const struct sockaddr *addr, u16 port)
{
	memcpy(to, addr, addr->sa_family == AF_INET ? sizeof(to->in) : sizeof(to->in6));
	rpc_set_port(&to->sa, port);
}

/* Add a path unless there cannot be any. */
static void group_add(struct path_group *group, const struct sockaddr *server,
		      const struct sockaddr *dst, const struct sockaddr *src)
{
	struct rpcrdma2_path *path = &group->paths[group->n];

	if ((src && src->sa_family != dst->sa_family) ||
	    (dst != server && rpc_cmp_addr(dst, server)))
		return;
	group->n++;
	addr_set(&path->server, server, rpc_get_port(server));
	addr_set(&path->dst, dst, rpc_get_port(server));
	if (src)
		addr_set(&path->src, src, 0);
	path->changed = get_jiffies_64();
	path->due = jiffies;
}

/* Make all pairs of addresses, those first that have none in common. */
static struct path_group *group_alloc(struct net *net, const struct sockaddr *server,
				      struct rpcrdma2_addrs *addrs)
{
	const struct rpcrdma2_addr_list *further = &addrs->list[0], *local = &addrs->list[1];
	u32 i, k, to = further->n + 1, from = max(local->n, 1U);
	struct path_group *group;

	BUILD_BUG_ON((RPCRDMA2_ADDRS_MAX + 1) * RPCRDMA2_ADDRS_MAX > BITS_PER_TYPE(u64));
	group = kzalloc(struct_size(group, paths, to * from), rpcrdma2_buf_gfp());
	if (!group)
		return NULL;
	group->net = net;
	group->addrs = rpcrdma2_policy_addrs_get(addrs);
	group->recvs.node = NUMA_NO_NODE;
	INIT_LIST_HEAD(&group->users);
	INIT_DELAYED_WORK(&group->work, group_worker);
	for (k = 0; k < from; k++)
		for (i = 0; i < to; i++)
			group_add(group, server, i ? &further->addr[i - 1].sa : server,
				  local->n ? &local->addr[(i + k) % from].sa : NULL);
	return group;
}

static void group_free(struct path_group *group)
{
	if (!group)
		return;
	rpcrdma2_policy_addrs_put(group->addrs);
	kfree(group);
}

static void user_leave(struct rpcrdma2_path_user *user)
{
	struct path_group *group = user->group;

	scoped_guard(spinlock, &paths_lock) {
		list_del_init(&user->list);
		if (!list_empty(&group->users))
			group = NULL;
		else
			list_del(&group->list);
	}
	if (group)
		cancel_delayed_work_sync(&group->work);
	group_free(group);
	kfree(user);
}

/* Join the group, or @fresh if there is none. Returns @fresh if it is not needed. */
static struct path_group *user_join(struct rpcrdma2_path_user *user,
				    struct path_group *fresh)
{
	struct path_group *group;

	guard(spinlock)(&paths_lock);
	list_for_each_entry(group, &groups, list)
		if (group_matches(group, fresh->net, &fresh->paths->server.sa, fresh->addrs))
			break;
	if (list_entry_is_head(group, &groups, list)) {
		list_add_tail(&fresh->list, &groups);
		group = fresh;
		fresh = NULL;
	}
	user->group = group;
	list_add_tail(&user->list, &group->users);
	return fresh;
}

/**
 * rpcrdma2_paths_update - use the paths that the policy has now
 * @user: NULL without paths; replaced if they have changed
 * @net: network namespace
 * @server: address of the mount
 * @addrs: of the policy, NULL for no paths
 *
 * Without memory there are no paths.
 *
 * Context: sleeps, a quarter of a second if this was the last user and a path is being
 * probed; as rpcrdma2_conn_connect(). The user has no connection.
 */
void rpcrdma2_paths_update(struct rpcrdma2_path_user **user, struct net *net,
			   const struct sockaddr *server, struct rpcrdma2_addrs *addrs)
{
	struct path_group *group;

	if (*user && group_matches((*user)->group, net, server, addrs))
		return;
	if (*user)
		user_leave(*user);
	*user = NULL;
	if (!addrs)
		return;
	group = group_alloc(net, server, addrs);
	if (group && group->n)
		*user = kzalloc_obj(**user, rpcrdma2_buf_gfp());
	if (*user)
		group = user_join(*user, group);
	group_free(group);
}

/* Rounds */

/**
 * rpcrdma2_paths_begin - begin a round
 * @user: a user without connection
 * @same_source: only paths from the address of the last connection will do
 *
 * Context: process; does not sleep.
 */
void rpcrdma2_paths_begin(struct rpcrdma2_path_user *user, bool same_source)
{
	user->tried = 0;
	user->same_source = same_source && user->source.sa.sa_family;
}

static bool user_may_take(const struct rpcrdma2_path_user *user,
			  const struct rpcrdma2_path *path)
{
	if (user->tried & BIT_ULL(path - user->group->paths))
		return false;
	if (!user->same_source)
		return true;
	return path->src.sa.sa_family ? rpc_cmp_addr(&path->src.sa, &user->source.sa) :
	       path->dst.sa.sa_family == user->source.sa.sa_family;
}

/* Those that are DOWN are behind all others, then the fewest connections count. */
static u32 path_rank(const struct rpcrdma2_path *path)
{
	return path->conns + (path->state == RPCRDMA2_PATH_STATE_DOWN ? U16_MAX : 0);
}

/**
 * rpcrdma2_paths_next - take the best path that was not tried in this round
 * @user: a user without path
 * @src: address to connect from; AF_UNSPEC: any
 * @dst: address to connect to
 *
 * rpcrdma2_paths_joined() or rpcrdma2_paths_left() follows.
 *
 * Context: process; does not sleep.
 * Return: false if all were tried
 */
bool rpcrdma2_paths_next(struct rpcrdma2_path_user *user, union rpcrdma2_addr *src,
			 union rpcrdma2_addr *dst)
{
	struct rpcrdma2_path *path, *best = NULL;

	guard(spinlock)(&paths_lock);
	for (path = user->group->paths; path < paths_end(user->group); path++)
		if (user_may_take(user, path) && (!best || path_rank(path) < path_rank(best)))
			best = path;
	if (!best)
		return false;
	user->tried |= BIT_ULL(best - user->group->paths);
	user->path = best;
	best->conns++;
	*src = user->same_source ? user->source : best->src;
	*dst = best->dst;
	return true;
}

/**
 * rpcrdma2_paths_silence - get the time after which a connection without response is lost
 * @user: the user
 *
 * Context: any.
 * Return: seconds, which change with the paths, or 0 for the usual time; they live as long as
 * connections of the user
 */
const u32 *rpcrdma2_paths_silence(const struct rpcrdma2_path_user *user)
{
	return &user->group->silence;
}

/**
 * rpcrdma2_paths_joined - note that a user has a connection
 * @user: a user with a path
 * @conn: the connection
 *
 * Context: process; does not sleep.
 */
void rpcrdma2_paths_joined(struct rpcrdma2_path_user *user,
			   const struct rpcrdma2_conn *conn)
{
	guard(spinlock)(&paths_lock);
	user->conn = conn->id;
	addr_set(&user->source, (struct sockaddr *)&conn->cm_id->route.addr.src_addr, 0);
	path_becomes(user->path, RPCRDMA2_PATH_STATE_UP, 0);
	group_changed(user->group);
}

/**
 * rpcrdma2_paths_left - note that a user has lost its connection, or got none
 * @user: a user with a path; has none afterwards
 * @err: the reason, 0 if the connection was closed for lack of use
 *
 * Context: process; does not sleep.
 */
void rpcrdma2_paths_left(struct rpcrdma2_path_user *user, int err)
{
	guard(spinlock)(&paths_lock);
	user->path->conns--;
	path_failed(user->path, err);
	user->path = NULL;
	user->conn = 0;
	group_changed(user->group);
}

/**
 * rpcrdma2_paths_show - describe a path
 * @net: network namespace
 * @number: number of the path, from 0 on, among those of all groups
 * @path: filled in
 *
 * Context: process; does not sleep.
 * Return: false if there is none with this number
 */
bool rpcrdma2_paths_show(const struct net *net, u32 number, struct rpcrdma2_path *path)
{
	struct path_group *group;

	guard(spinlock)(&paths_lock);
	list_for_each_entry(group, &groups, list) {
		if (!net_eq(group->net, net))
			continue;
		if (number < group->n) {
			*path = group->paths[number];
			return true;
		}
		number -= group->n;
	}
	return false;
}
