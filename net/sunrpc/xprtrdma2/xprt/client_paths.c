// SPDX-License-Identifier: GPL-2.0
/*
 * The paths of a client's transport: which one it takes, and its share of the work for all
 * (conn/paths.c): to probe paths, and to move its connection.
 *
 * A probe is a connection without messages, beside the one of the transport: if that one
 * tried the path itself, its RPCs would wait as long as the attempt.
 *
 * Duplicate requests: a server of NFSv2, NFSv3 or NFSv4.0 recognises a Call that it gets
 * again by XID, checksum and address of the client (nfsd's nfscache.c; the port does not
 * count, nor does the address of the server). From another address the Call would be
 * executed twice: a REMOVE fails that has succeeded, or a WRITE that is still under way
 * in the server overwrites later ones. So a transport whose Calls depend on this keeps its
 * address as long as a Call that was sent has no Reply, and waits if no path has this
 * address. NFSv4.1 has sessions and does not depend on it.
 */
#include <linux/sunrpc/addr.h>
#include <rdma/ib_addr.h>

#include "xprt/client.h"
#include "conn/cm.h"
#include "conn/workqueue.h"

#define PATHS_PERIOD	HZ	/* of the work */

/* The address that the next connection must have, or NULL. NFS asks for reuseport for the
 * reason above, but not for pNFS data servers.
 */
static const struct in6_addr *client_must_use(const struct rpcrdma2_client *client)
{
	const struct rpc_xprt *xprt = &client->rq.xprt;
	const struct rpc_task *task;
	struct rb_node *node;

	lockdep_assert_held(&xprt->queue_lock);
	for (node = rb_first(&xprt->recv_queue); node; node = rb_next(node)) {
		task = rb_entry(node, struct rpc_rqst, rq_recv)->rq_task;
		if (RPC_WAS_SENT(task) && (xprt->reuseport || task->tk_client->cl_vers < 4))
			return ipv6_addr_any(&client->used) ? NULL : &client->used;
	}
	return NULL;
}

static void path_addrs(const struct rpcrdma2_path *path, const struct rpc_xprt *xprt,
		       struct sockaddr_storage *src, struct sockaddr_storage *dst)
{
	rdma_gid2ip((struct sockaddr *)dst, (const union ib_gid *)&path->addr[0]);
	rpc_set_port((struct sockaddr *)dst, rpc_get_port((struct sockaddr *)&xprt->addr));
	if (!ipv6_addr_any(&path->addr[1]))
		rdma_gid2ip((struct sockaddr *)src, (const union ib_gid *)&path->addr[1]);
}

/**
 * rpcrdma2_client_paths_next - get the addresses to connect from and to
 * @client: a transport without a connection; its path is set, if the policy has paths
 * @tried: 0 at the beginning of a round; updated
 * @src: filled in, AF_UNSPEC for any
 * @dst: filled in
 *
 * rpcrdma2_client_paths_left() gives the path back.
 *
 * Context: process; does not sleep.
 * Return: false if all paths were tried
 */
bool rpcrdma2_client_paths_next(struct rpcrdma2_client *client, u32 *tried,
				struct sockaddr_storage *src, struct sockaddr_storage *dst)
{
	struct rpc_xprt *xprt = &client->rq.xprt;
	const struct in6_addr *from;

	guard(spinlock)(&xprt->queue_lock);
	from = client->policy.paths ? client_must_use(client) : NULL;
	if (client->policy.paths)
		client->path = rpcrdma2_paths_choose(client->policy.paths, tried, from);
	if (client->policy.paths ? !client->path : (*tried)++)
		return false;
	*src = client->srcaddr;
	*dst = xprt->addr;
	if (client->path)
		path_addrs(client->path, xprt, src, dst);
	if (from)
		rdma_gid2ip((struct sockaddr *)src, (const union ib_gid *)from);
	return true;
}

/**
 * rpcrdma2_client_paths_joined - check whether RPCs may use a connection
 * @client: the transport
 * @conn: the connection
 *
 * Context: process; does not sleep.
 * Return: 0; -EACCES: it may lead to another server
 */
int rpcrdma2_client_paths_joined(struct rpcrdma2_client *client,
				 struct rpcrdma2_conn *conn)
{
	const struct rdma_addr *addr = &conn->cm_id->route.addr;
	struct rpcrdma2_path *path = client->path;
	u8 buf[RPCRDMA2_IDENTITY_BYTES];
	const u8 *identity = rpcrdma2_props_identity(conn, buf);

	if (path && !rpcrdma2_paths_accept(client->policy.paths, path, identity,
					   client->policy.val[RPCRDMA2_A_POLICY_TRUST_PATHS])) {
		if (!xchg(&path->told, true))
			pr_notice_ratelimited("rpcrdma2: %pISpc is not used as a path, it %s\n",
					      &addr->dst_addr, identity ?
					      "leads to another server" :
					      "does not say which server it is, and trust_paths is off");
		return -EACCES;
	}
	scoped_guard(spinlock, &client->rq.xprt.queue_lock)
		rdma_ip2gid((struct sockaddr *)&addr->src_addr, (union ib_gid *)&client->used);
	client->joined = path;
	if (path)
		rpcrdma2_paths_result(client->policy.paths, path, 0);
	return 0;
}

/* Count the bytes since the last time for @path. */
static void client_count(struct rpcrdma2_client *client, struct rpcrdma2_path *path)
{
	const struct rpcrdma2_stats *s = &client->stats;
	long bytes = rpcrdma2_stat_read(s, inline_tx_bytes) +
		     rpcrdma2_stat_read(s, inline_rx_bytes) + rpcrdma2_stat_read(s, read_bytes) +
		     rpcrdma2_stat_read(s, write_bytes) + rpcrdma2_stat_read(s, reply_chunk_bytes);

	atomic64_add(bytes - atomic_long_xchg(&client->counted, bytes), &path->bytes);
}

/**
 * rpcrdma2_client_paths_left - note the end of a connection or of an attempt to connect
 * @client: the transport
 * @err: the reason, 0: it was closed for lack of use
 *
 * Context: process; does not sleep.
 */
void rpcrdma2_client_paths_left(struct rpcrdma2_client *client, int err)
{
	struct rpcrdma2_path *path = client->path;

	if (!path)
		return;
	client_count(client, path);
	scoped_guard(spinlock, &client->rq.xprt.queue_lock)
		client->path = NULL;
	rpcrdma2_paths_left(client->policy.paths, path, client->joined);
	if (err)
		rpcrdma2_paths_result(client->policy.paths, path, err);
	client->joined = false;
}

/* Work for all */

static bool probe_recv(struct rpcrdma2_conn *conn, struct rpcrdma2_recv *rx)
{
	return false;
}

static void probe_ended(struct rpcrdma2_conn *conn)
{
}

/* Connect by another path that is due, like @conn, but without messages. */
static void client_probe(const struct rpcrdma2_client *client,
			 const struct rpcrdma2_conn *conn, struct rpcrdma2_paths *paths)
{
	struct rpcrdma2_path *path = rpcrdma2_paths_due(paths);
	struct rpcrdma2_recv_pool pool = { .node = NUMA_NO_NODE };
	struct sockaddr_storage src = client->srcaddr, dst;
	const struct rpc_xprt *xprt = &client->rq.xprt;
	struct rpcrdma2_conn_params p = conn->p;
	const struct rpcrdma2_conn_ops ops = {
		.recv		= probe_recv,
		.closing	= probe_ended,
		.closed		= probe_ended,
		.lost		= probe_ended,
		.wanted		= conn->p.ops->wanted,
	};

	if (!path)
		return;
	path_addrs(path, xprt, &src, &dst);
	p.ops = &ops;
	p.requester = NULL;
	p.pool = &pool;
	p.calls = 1;
	rpcrdma2_paths_result(paths, path,
			      rpcrdma2_conn_probe(xprt->xprt_net, (struct sockaddr *)&src,
						  (struct sockaddr *)&dst, &p));
	rpcrdma2_recv_pool_empty(&pool);
}

/**
 * rpcrdma2_client_paths_worker - work on the paths as long as there is a connection
 * @work: of a transport
 *
 * Context: work item; sleeps, as for an attempt to connect.
 */
void rpcrdma2_client_paths_worker(struct work_struct *work)
{
	struct rpcrdma2_client *client =
		container_of(work, struct rpcrdma2_client, paths_work.work);
	struct rpcrdma2_paths *paths;
	struct rpcrdma2_path *path;
	struct rpcrdma2_conn *conn;
	bool move;

	scoped_guard(spinlock, &client->rq.xprt.queue_lock) {
		path = client->path;
		conn = client->rq.conn;
		if (!path || !conn)
			return;
		rpcrdma2_conn_get(conn);
		paths = rpcrdma2_paths_get(client->policy.paths);
	}
	client_count(client, path);
	client_probe(client, conn, paths);
	scoped_guard(spinlock, &client->rq.xprt.queue_lock)
		move = rpcrdma2_paths_move(paths, path, client_must_use(client),
					   !rpcrdma2_credit_used(&conn->credit));
	if (move)
		rpcrdma2_conn_kill(conn, -ECONNRESET);
	rpcrdma2_conn_put(conn);
	rpcrdma2_paths_put(paths);
	queue_delayed_work(rpcrdma2_connect_wq, &client->paths_work, PATHS_PERIOD);
}
