// SPDX-License-Identifier: GPL-2.0
/*
 * The client's transport: its life, connecting and closing, timeouts and statistics.
 * requester.c handles RPCs, client_bc.c handles callbacks.
 *
 * A connection exists between the connect worker and rpc_xprt_ops.close. Both own
 * XPRT_LOCKED, as does send_request: rq.conn is stable there. All other code uses
 * queue_lock, see client_op_timer(). CM events, QP errors and completions need no lock of
 * sunrpc: they change the state of the connection, which ends all waiting of the owner of
 * XPRT_LOCKED.
 *
 * Receives, slots and their buffers belong to the transport and survive
 * reconnects. Writeback and swap wait for the connect worker, so it never
 * starts I/O for memory.
 */
#include <linux/module.h>
#include <linux/nfs.h>
#include <linux/nfsacl.h>
#include <linux/random.h>
#include <linux/seq_file.h>
#include <linux/sunrpc/addr.h>

#include "xprt/client.h"
#include "compat.h"
#include "conn/cm.h"
#include "conn/conn_list.h"
#include "xprt/xprt.h"
#include "conn/workqueue.h"
#include <trace/events/rpcrdma2.h>

#define RPCRDMA2_BIND_TIMEOUT		(60 * HZ)
#define RPCRDMA2_REEST_INIT		(HZ / 10)
#define RPCRDMA2_REEST_MAX		(30UL * HZ)
/* The most that the policy allows */
#define RPCRDMA2_REEST_LIMIT		(3600UL * HZ)
/* Interval between looks for RPCs that are to fail for lack of a connection */
#define RPCRDMA2_FAIL_LOOK		(HZ / 4)
/* Maximum backoff if each connection brings Replies, and if the server is unreachable.
 * With its random part it is less than the 3 s that sunrpc waits after a refusal.
 */
#define RPCRDMA2_REEST_SHORT		(2UL * HZ)
/* The CM repeats a lost connect request after 5 seconds. A new attempt is sooner, but the
 * server may need longer to answer: each attempt waits twice as long as the last.
 */
#define RPCRDMA2_CONNECT_MIN_MS		2000U
#define RPCRDMA2_CONNECT_MAX_MS		15000U
/* Divides this time if there is another path, which is tried next */
#define RPCRDMA2_HASTE			4U
#define RPCRDMA2_USEFUL_LIFE		((unsigned long)HZ)
/* A connection is replaced for lack of a Reply after 1 to 8 major timeouts */
#define RPCRDMA2_TIMED_OUT_MAX		4U

static unsigned int negotiate_ms = 2000;
module_param(negotiate_ms, uint, 0644);
MODULE_PARM_DESC(negotiate_ms,
		 "milliseconds to wait for the answer to the first message of a connection");

/* Largest RPC payload: the maximum of NFS, unaligned */
#define RPCRDMA2_MAX_PAYLOAD		(SZ_1M + PAGE_SIZE)

static unsigned int client_idle = 300;
module_param(client_idle, uint, 0644);
MODULE_PARM_DESC(client_idle,
		 "seconds until an unused connection is closed, unless the server needs it for callbacks (0: never)");

static bool client_callbacks = true;
module_param(client_callbacks, bool, 0644);
MODULE_PARM_DESC(client_callbacks, "allow servers to call back on new connections");

/* ---- upcalls of a connection ---- */

/* The state of the connection is CLOSING. The connect worker checks the state itself
 * after it has attached the connection.
 */
static void client_lost(struct rpcrdma2_conn *conn)
{
	struct rpcrdma2_client *client = conn->p.owner;

	smp_mb();	/* pairs with client_attach() */
	if (READ_ONCE(client->rq.conn) == conn)
		xprt_force_disconnect(&client->rq.xprt);
}

/* A task that drops the last reference to the transport waits for XPRT_LOCKED, which the
 * connect worker owns from its scheduling on, and sunrpc does not notify the worker.
 * The task may be a mount that was killed, or umount -f: it must wait neither for a
 * server that does not answer nor for the delay before the next attempt.
 */
static bool client_wanted(const struct rpcrdma2_conn *conn)
{
	struct rpcrdma2_client *client = conn->p.owner;

	return kref_read(&client->rq.xprt.kref);
}

static const struct rpcrdma2_conn_ops rpcrdma2_client_conn_ops = {
	.recv		= rpcrdma2_dispatch_recv,
	.closing	= rpcrdma2_responder_stop,
	.closed		= rpcrdma2_responder_closed,
	.trim		= rpcrdma2_dispatch_trim,
	.memory		= rpcrdma2_dispatch_memory,
	.lost		= client_lost,
	.wanted		= client_wanted,
};

/* ---- policy ---- */

/* Apply the current policy for this server. There is no connection. */
static void client_look_up(struct rpcrdma2_client *client)
{
	struct rpc_xprt *xprt = &client->rq.xprt;
	const struct sockaddr *server = (const struct sockaddr *)&xprt->addr;
	struct rpcrdma2_policy policy;

	rpcrdma2_policy_peer(xprt->xprt_net, true, server, rpc_get_port(server), &policy);
	scoped_guard(spinlock, &xprt->queue_lock)
		swap(client->policy, policy);
	rpcrdma2_paths_put(policy.paths);
	guard(spinlock)(&xprt->reserve_lock);
	/* Slots may be in use, so their number never shrinks */
	if (xprt->max_reqs >= client->policy.val[RPCRDMA2_A_POLICY_CREDITS])
		return;
	xprt->max_reqs = client->policy.val[RPCRDMA2_A_POLICY_CREDITS];
	/* Tasks that wait for a slot try again. While some wait, sunrpc would queue all
	 * others behind them.
	 */
	clear_bit(XPRT_CONGESTED, &xprt->state);
	rpc_wake_up_status(&xprt->backlog, -EAGAIN);
}

/* ---- RPCs that fail for lack of a connection ---- */

/* Which error fail_after gives to @task: the one that its mount has for a timeout, or 0. A
 * mount alone has cl_softerr. NFSv4 has cl_softrtry also in the client that keeps the leases
 * of all mounts, and with SP4_MACH_CRED even writes for them. That one is no clone, and all
 * that its own clones send, for data servers or after a change of its security, has one of
 * the flags.
 */
static int client_fail_error(const struct rpc_task *task)
{
	u32 flags = RPC_TASK_TIMEOUT | RPC_TASK_SOFTCONN | RPC_TASK_NO_ROUND_ROBIN;
	const struct rpc_clnt *clnt = task->tk_client;
	bool nfs = clnt->cl_prog == NFS_PROGRAM || clnt->cl_prog == NFS_ACL_PROGRAM;

	if (clnt->cl_softerr)
		return -ETIMEDOUT;
	return clnt->cl_softrtry && clnt->cl_parent != clnt && nfs &&
	       !(task->tk_flags & flags) ? -EIO : 0;
}

/* End the RPCs of soft mounts. Returns true if these are the first since the connection was
 * lost.
 */
static bool client_fail(struct rpcrdma2_client *client)
{
	struct rpc_wait_queue *queue;
	bool was = client->failing;
	struct rpc_task *task;
	struct rb_node *node;
	int error;

	lockdep_assert_held(&client->rq.xprt.queue_lock);
	/* A task removes its request from the tree, under the lock, before it ends */
	for (node = rb_first(&client->rq.xprt.recv_queue); node; node = rb_next(node)) {
		task = rb_entry(node, struct rpc_rqst, rq_recv)->rq_task;
		error = client_fail_error(task);
		if (!error || cmpxchg(&task->tk_rpc_status, 0, error))
			continue;
		client->failing = true;
		queue = READ_ONCE(task->tk_waitqueue);
		if (queue)
			rpc_wake_up_queued_task(queue, task);
	}
	return client->failing && !was;
}

/* As long as RPCs wait or an attempt goes on without a connection, end RPCs of soft mounts
 * after the time that the policy has by now. Waits for no memory.
 */
static void client_fail_worker(struct work_struct *work)
{
	struct rpcrdma2_client *client =
		container_of(work, struct rpcrdma2_client, fail_work.work);
	struct rpc_xprt *xprt = &client->rq.xprt;
	const struct sockaddr *server = (const struct sockaddr *)&xprt->addr;
	struct rpcrdma2_policy policy;
	bool first = false;
	u32 after;

	rpcrdma2_policy_peer(xprt->xprt_net, true, server, rpc_get_port(server), &policy);
	rpcrdma2_paths_put(policy.paths);
	after = policy.val[RPCRDMA2_A_POLICY_FAIL_AFTER];
	scoped_guard(spinlock, &xprt->queue_lock) {
		if (!after || (!xprt_connecting(xprt) && RB_EMPTY_ROOT(&xprt->recv_queue)))
			client->down_at = 0;
		if (!client->down_at)
			return;
		if (time_after_eq(jiffies, client->down_at + after * HZ))
			first = client_fail(client);
		queue_delayed_work(rpcrdma2_wq, &client->fail_work, RPCRDMA2_FAIL_LOOK);
	}
	if (first && __ratelimit(&client->log_limit))
		pr_notice("rpcrdma2: %pISpc: no connection for %u s (fail_after), RPCs of soft mounts end\n",
			  &xprt->addr, after);
}

/* An attempt begins. The first one without a connection starts the clock of fail_work. */
static void client_fail_start(struct rpcrdma2_client *client)
{
	guard(spinlock)(&client->rq.xprt.queue_lock);
	client->failing = client->failing && client->down_at;
	client->down_at = client->down_at ?: jiffies ?: 1;
	queue_delayed_work(rpcrdma2_wq, &client->fail_work, 0);
}

/* ---- connecting and closing ---- */

static struct rpcrdma2_conn *client_connect(struct rpcrdma2_client *client,
					    const struct sockaddr *src,
					    const struct sockaddr *dst)
{
	struct rpc_xprt *xprt = &client->rq.xprt;
	struct rpcrdma2_conn_params params = {
		.ops		= &rpcrdma2_client_conn_ops,
		.owner		= client,
		.requester	= &client->rq,
		.responder	= &client->callback.resp,
		.stats		= &client->stats,
		.pool		= &client->recvs,
		.mem		= &client->mem,
		.serves		= RPCRDMA2_CB_SLOTS,
		.serves_initial	= RPCRDMA2_CB_FIRST,
		/* A Send, one registration, one local invalidation */
		.call_wrs	= 3,
		.brs		= READ_ONCE(client_callbacks) ?
				  RDMA2_RVREQSUP_INLINE :
				  RDMA2_RVREQSUP_NONE,
		.connect_ms	= client->connect_ms,
		/* At most a quarter of the limit for a whole attempt (VER-14) */
		.negotiate_ms	= min(READ_ONCE(negotiate_ms),
				      jiffies_to_msecs(xprt->connect_timeout / 4) ?: 1),
		.swapper	= &xprt->swapper,
	};

	params.policy = client->policy;
	if (rpcrdma2_paths_impatient(params.policy.paths))
		params.connect_ms /= RPCRDMA2_HASTE;
	params.send_size = params.policy.val[RPCRDMA2_A_POLICY_SEND_SIZE];
	params.calls = params.policy.val[RPCRDMA2_A_POLICY_CREDITS];
	return rpcrdma2_conn_connect(xprt->xprt_net, src, dst, &params);
}

/* Make MRs, if the device can carry the payload that NFS may use. */
static int client_open_pool(struct rpcrdma2_client *client, struct rpcrdma2_conn *conn)
{
	u32 per_call, pages = RPCRDMA2_MAX_PAYLOAD / PAGE_SIZE + 1;

	if (conn->caps.mr_depth * RPCRDMA2_MAX_SEGS < pages) {
		pr_notice_ratelimited("rpcrdma2: %s registers only %u pages at a time\n",
				      dev_name(&conn->cm_id->device->dev),
				      conn->caps.mr_depth);
		return -EPROTO;
	}
	per_call = DIV_ROUND_UP(pages, conn->caps.mr_depth) + 1;
	return rpcrdma2_mr_pool_open(&client->rq.pool, conn,
				     per_call * client->rq.xprt.max_reqs);
}

/* Publish the connection. If it is lost already the transport closes it next. */
static void client_attach(struct rpcrdma2_client *client, struct rpcrdma2_conn *conn)
{
	struct rpc_xprt *xprt = &client->rq.xprt;

	/* fail_work ends no RPC from here on */
	scoped_guard(spinlock, &xprt->queue_lock)
		client->down_at = 0;
	rpcrdma2_requester_attach(&client->rq, conn);
	xprt->connect_cookie++;
	xprt->stat.connect_count++;
	xprt->stat.connect_time += (long)jiffies - xprt->stat.connect_start;
	if (xprt->stat.connect_count > 1)
		rpcrdma2_stat_inc(&client->stats, reconnects);
	xprt_set_connected(xprt);
	smp_mb();	/* pairs with client_lost() */
	if (!rpcrdma2_conn_ready(conn))
		xprt_force_disconnect(xprt);
}

/* Log the version once for each mount, and again when it has changed (SEC-11). The limit
 * is per mount, so that a peer cannot use up that of other mounts.
 */
static void client_log_version(struct rpcrdma2_client *client,
			       const struct rpcrdma2_conn *conn)
{
	struct rpc_xprt *xprt = &client->rq.xprt;

	if (!xprt->main || conn->codec->vers == client->logged_version)
		return;
	client->logged_version = conn->codec->vers;
	if (__ratelimit(&client->log_limit))
		pr_info("rpcrdma2: %pISpc speaks version %u (%s)\n",
			&xprt->addr, conn->codec->vers,
			rpcrdma2_neg_why_name(conn->why));
}

static int client_try_path(struct rpcrdma2_client *client, const struct sockaddr *src,
			   const struct sockaddr *dst)
{
	struct rpcrdma2_conn *conn;
	int ret;

	if (!kref_read(&client->rq.xprt.kref))
		return -ENOTCONN;
	conn = client_connect(client, src, dst);
	if (IS_ERR(conn)) {
		trace_rpcrdma2_connected(&client->rq.xprt, 0, PTR_ERR(conn));
		return PTR_ERR(conn);
	}
	ret = rpcrdma2_client_paths_joined(client, conn) ?: client_open_pool(client, conn);
	trace_rpcrdma2_connected(&client->rq.xprt, conn->id, ret);
	if (ret) {
		rpcrdma2_conn_close(conn);
		rpcrdma2_conn_free(conn);
		return ret;
	}
	client_log_version(client, conn);
	client->attached_at = jiffies;
	client_attach(client, conn);
	if (client->path)
		queue_delayed_work(rpcrdma2_connect_wq, &client->paths_work, 0);
	return 0;
}

/* Try each path once. Returns 0, or the error of the first, which is the best one. */
static int client_try(struct rpcrdma2_client *client)
{
	struct rpcrdma2_ver_memory mem = client->mem;
	struct sockaddr_storage src, dst;
	int err = 0, first = 0;
	u32 tried = 0;

	client_look_up(client);
	while (err != -ENOBUFS && rpcrdma2_client_paths_next(client, &tried, &src, &dst)) {
		err = client_try_path(client, (struct sockaddr *)&src,
				      (struct sockaddr *)&dst);
		if (!err)
			return 0;
		rpcrdma2_client_paths_left(client, err);
		/* The version of another server says nothing about this one */
		if (client->policy.paths)
			client->mem = mem;
		first = first ?: err;
	}
	return first == -EACCES ? -EHOSTUNREACH : first ?: -ENOTCONN;
}

/* Wait before the next attempt, longer than before this one: at most RPCRDMA2_REEST_SHORT if
 * @brief, unless the policy says otherwise. NFS may have set a limit for the sake of leases.
 * A useful connection ends these delays.
 */
static void client_back_off(struct rpcrdma2_client *client, bool brief)
{
	unsigned long least = client->policy.val[RPCRDMA2_A_POLICY_RECONNECT_MIN] * HZ;
	unsigned long most = client->policy.val[RPCRDMA2_A_POLICY_RECONNECT_MAX] * HZ ?:
			     brief ? RPCRDMA2_REEST_SHORT : RPCRDMA2_REEST_MAX;
	struct rpc_xprt *xprt = &client->rq.xprt;

	least = min(least ?: RPCRDMA2_REEST_INIT, xprt->max_reconnect_timeout);
	xprt_reconnect_backoff(xprt, least);
	xprt->reestablish_timeout = min(xprt->reestablish_timeout, max(least, most));
}

static void client_connect_worker(struct work_struct *work)
{
	struct rpcrdma2_client *client =
		container_of(work, struct rpcrdma2_client, connect_work.work);
	unsigned long now = jiffies, look = msecs_to_jiffies(RPCRDMA2_LOOK_MS);
	struct rpc_xprt *xprt = &client->rq.xprt;
	unsigned int was;
	int ret;

	/* It is not time yet, and the transport is in use, see client_wanted() */
	if (time_before(now, client->connect_at) && kref_read(&xprt->kref)) {
		queue_delayed_work(rpcrdma2_connect_wq, &client->connect_work,
				   min(client->connect_at - now, look));
		return;
	}
	was = rpcrdma2_reclaim_enter(atomic_read(&xprt->swapper));
	ret = client_try(client);
	rpcrdma2_reclaim_exit(was);

	client->connect_ms = ret != -ETIMEDOUT ? RPCRDMA2_CONNECT_MIN_MS :
			     min(2 * client->connect_ms, RPCRDMA2_CONNECT_MAX_MS);
	if (ret)
		client_back_off(client, ret == -ECONNREFUSED || ret == -EHOSTUNREACH ||
				ret == -ENETUNREACH || ret == -ETIMEDOUT);
	/* After these errors sunrpc would wait for 3 s in addition to the backoff. The RPC
	 * that asked for the connection gets them nevertheless if they end it, as with the
	 * RPC of a mount, or if it would look for another port. -ENETUNREACH is passed on:
	 * on some kernels it ends RPCs if the administrator has asked for that
	 * (fatal_neterrors).
	 */
	if ((ret == -ECONNREFUSED || ret == -EHOSTUNREACH) && !client->report_refusal)
		ret = -ENOTCONN;
	xprt_clear_connecting(xprt);
	xprt_unlock_connect(xprt, client);
	xprt_wake_pending_tasks(xprt, ret ?: -EAGAIN);
}

/* The next attempt follows at once after a useful connection, or else after growing
 * delays that differ between the clients of a restarted server (REC-5). sunrpc
 * usually adds no delay, see client_connect_worker().
 */
static void client_op_connect(struct rpc_xprt *xprt, struct rpc_task *task)
{
	struct rpcrdma2_client *client = rpcrdma2_client(xprt);
	unsigned long delay = xprt_reconnect_delay(xprt);

	delay += get_random_u32_below(delay / 4 + 1);
	delay = max(delay, xchg(&client->pause, 0));
	WARN_ON_ONCE(!xprt_lock_connect(xprt, task, client));
	trace_rpcrdma2_op_connect(xprt, 0, delay);
	client->report_refusal = RPC_IS_SOFTCONN(task) ||
			       task->tk_client->cl_autobind;
	client->connect_at = jiffies + delay;
	client_fail_start(client);
	/* From here on the worker owns the transport, and there may be a connection */
	queue_delayed_work(rpcrdma2_connect_wq, &client->connect_work, 0);
}

/* Judge whether the connection was useful. It was not without a Reply, or if a violation
 * of the protocol has ended it, which will happen again. A connection that ended sooner
 * than the wait for it may also be followed by others like it, if the same RPC ends
 * each; the backoff is brief then.
 */
static void client_judge(struct rpcrdma2_client *client,
			 const struct rpcrdma2_conn *conn)
{
	struct rpc_xprt *xprt = &client->rq.xprt;
	unsigned long least = max(xprt->reestablish_timeout, RPCRDMA2_USEFUL_LIFE);
	bool served = client->rq.replies && conn->reason != -EPROTO;

	if (served && (!conn->reason || time_after(jiffies, client->attached_at + least)))
		xprt->reestablish_timeout = 0;
	else if (conn->reason)
		client_back_off(client, served);
	/* A server that still executes a Call when it comes again tells NFSv4.1 to wait, which does
	 * so for 15 s, or drops it, and NFSv3 waits for a timeout. With another path it might come
	 * again at once, so the server gets this time, but for one that was silent anyway.
	 */
	if (client->path && conn->reason != -ETIMEDOUT && rpcrdma2_credit_used(&conn->credit))
		client->pause = HZ;
}

/* Take down the connection in reverse order of setting it up. */
static void client_disconnect(struct rpcrdma2_client *client)
{
	struct rpcrdma2_conn *conn = READ_ONCE(client->rq.conn);
	bool unused;

	if (!conn)
		return;
	/* If nothing has ended it, sunrpc closes a connection without use */
	unused = !READ_ONCE(conn->reason);
	trace_rpcrdma2_op_close(&client->rq.xprt, conn->id, READ_ONCE(conn->reason));
	rpcrdma2_requester_stop(&client->rq);
	rpcrdma2_conn_close(conn);
	client_judge(client, conn);
	rpcrdma2_client_paths_left(client, conn->reason);
	rpcrdma2_requester_detach(&client->rq);
	rpcrdma2_conn_free(conn);
	if (unused && !atomic_read(&client->rq.xprt.swapper))
		rpcrdma2_recv_pool_empty(&client->recvs);
}

/* Closing a connection needs memory for the message of the CM. With swap on the mount
 * there may be none before the next connection, which waits for this.
 */
static void client_op_close(struct rpc_xprt *xprt)
{
	unsigned int was;

	was = rpcrdma2_reclaim_enter(atomic_read(&xprt->swapper));
	client_disconnect(rpcrdma2_client(xprt));
	rpcrdma2_reclaim_exit(was);
	xprt->connect_cookie++;
	xprt_disconnect_done(xprt);
}

/* Check whether the connection may be replaced because a Reply has been missing for
 * @major jiffies: at most once in that time, and less often if it has not helped,
 * because the server may only be slow. queue_lock is held.
 */
static bool client_replace_due(struct rpcrdma2_client *client, unsigned long major)
{
	unsigned long age = jiffies - client->timed_out_at;
	unsigned long window = major << client->timed_out;

	if (client->timed_out && age < window / 2)
		return false;
	if (age > window)
		client->timed_out = 0;
	client->timed_out = min(client->timed_out + 1, RPCRDMA2_TIMED_OUT_MAX);
	client->timed_out_at = jiffies;
	return true;
}

/* Check whether an RPC waits for the peer. It does without a Call in the transport, too,
 * if sunrpc did not trust the verifier of a Reply and waits for another one.
 */
static bool client_awaits_reply(const struct rpcrdma2_req *req)
{
	return req->state == RPCRDMA2_REQ_POSTED ||
	       (req->state == RPCRDMA2_REQ_IDLE &&
		!test_bit(RPC_TASK_NEED_XMIT, &req->rqst.rq_task->tk_runstate));
}

/* An RPC's timer has expired. A probe checks that the peer is alive. With a slow peer
 * the connection stays (CRED-17) until the RPC's major timeout (timeo and retrans). After
 * that the server may have dropped the Call: sunrpc sends it again when the connection is
 * replaced, with NFSv4 only then.
 */
static void client_op_timer(struct rpc_xprt *xprt, struct rpc_task *task)
{
	const struct rpcrdma2_req *req = rpcrdma2_req(task->tk_rqstp);
	unsigned long major = task->tk_client->cl_timeout->to_maxval;
	struct rpcrdma2_client *client = rpcrdma2_client(xprt);
	bool minor = time_before(jiffies, req->rqst.rq_majortimeo);
	struct rpcrdma2_conn *conn;
	bool overdue = false;

	spin_lock(&xprt->queue_lock);
	conn = client->rq.conn;
	if (conn) {
		rpcrdma2_conn_get(conn);
		overdue = !minor && client_awaits_reply(req) && client_replace_due(client, major);
	}
	spin_unlock(&xprt->queue_lock);
	if (!conn)
		return;
	trace_rpcrdma2_op_timer(xprt, conn->id, minor);
	if (overdue) {
		pr_notice_ratelimited("rpcrdma2: %pISpc has not answered an RPC within %lu s, connection replaced\n",
				      &xprt->addr, major / HZ);
		rpcrdma2_conn_kill(conn, -ETIMEDOUT);
	} else {
		rpcrdma2_keepalive_probe(conn);
	}
	rpcrdma2_conn_put(conn);
}

static void client_op_set_connect_timeout(struct rpc_xprt *xprt,
					  unsigned long connect_timeout,
					  unsigned long reconnect_timeout)
{
	struct rpcrdma2_client *client = rpcrdma2_client(xprt);

	guard(spinlock)(&xprt->transport_lock);
	if (reconnect_timeout < xprt->max_reconnect_timeout)
		xprt->max_reconnect_timeout = reconnect_timeout;
	if (connect_timeout < xprt->connect_timeout) {
		client->timeout = *xprt->timeout;
		client->timeout.to_initval = max_t(unsigned long, HZ, connect_timeout);
		client->timeout.to_maxval = client->timeout.to_initval;
		xprt->timeout = &client->timeout;
		xprt->connect_timeout = connect_timeout;
	}
}

/* ---- sending ---- */

static int client_op_send_request(struct rpc_rqst *rqst)
{
	if (bc_prealloc(rqst))
		return rpcrdma2_client_bc_reply(rqst);
	return rpcrdma2_requester_send(rqst);
}

/* Swap: resources for writing out a page must exist before. Receives, send slots and MRs
 * exist as long as the connection. RPC slots come from the reserves of memory, which
 * sunrpc opens to tasks that swap, and a new connection does as well, see
 * client_connect_worker().
 */
static int client_op_enable_swap(struct rpc_xprt *xprt)
{
	struct rpcrdma2_requester *rq = rpcrdma2_requester(xprt);

	atomic_inc(&xprt->swapper);
	guard(spinlock)(&xprt->queue_lock);
	if (rpcrdma2_requester_usable(rq))
		rpcrdma2_mr_pool_refill(&rq->pool, 0, 0);
	return 0;
}

static void client_op_disable_swap(struct rpc_xprt *xprt)
{
	atomic_dec(&xprt->swapper);
}

/* ---- information ---- */

/* Copy the local address. Returns false without a connection. */
static bool client_local(struct rpc_xprt *xprt, struct sockaddr_storage *addr)
{
	const struct rpcrdma2_conn *conn;

	/* The CM id lives as long as the connection is attached */
	guard(spinlock)(&xprt->queue_lock);
	conn = rpcrdma2_client(xprt)->rq.conn;
	if (conn)
		*addr = conn->cm_id->route.addr.src_addr;
	return conn;
}

static int client_op_get_srcaddr(struct rpc_xprt *xprt, char *buf, size_t buflen)
{
	struct sockaddr_storage addr;

	if (!client_local(xprt, &addr))
		return -ENOTCONN;
	return snprintf(buf, buflen, "%pISc", &addr);
}

static unsigned short client_op_get_srcport(struct rpc_xprt *xprt)
{
	struct sockaddr_storage addr = { };

	client_local(xprt, &addr);
	return rpc_get_port((struct sockaddr *)&addr);
}

/* Tools read the columns by position, and some count them: the name, the order
 * and the number, 27, are those of the kernel's own RPC-over-RDMA transport.
 * netlink.c provides all other counters.
 */
static void client_op_print_stats(struct rpc_xprt *xprt, struct seq_file *seq)
{
	struct rpcrdma2_client *client = rpcrdma2_client(xprt);
	const struct rpcrdma2_stats *s = &client->stats;
	struct rpcrdma2_requester *rq = &client->rq;
	const u64 columns[] = {
		client_op_get_srcport(xprt), xprt->stat.bind_count,
		xprt->stat.connect_count, xprt->stat.connect_time / HZ,
		xprt_connected(xprt) ? (long)(jiffies - xprt->last_used) / HZ : 0,
		xprt->stat.sends, xprt->stat.recvs, xprt->stat.bad_xids,
		xprt->stat.req_u, xprt->stat.bklog_u,
		rpcrdma2_stat_read(s, read_chunks),
		rpcrdma2_stat_read(s, write_chunks),
		rpcrdma2_stat_read(s, reply_chunks),
		atomic_long_read(&rq->offered),
		rpcrdma2_stat_read(s, write_bytes) +
		rpcrdma2_stat_read(s, reply_chunk_bytes),
		rpcrdma2_stat_read(s, pullup_bytes),
		rpcrdma2_stat_read(s, copied_bytes), 0,
		atomic_long_read(&rq->unbuildable),
		atomic_long_read(&rq->bad_replies),
		rpcrdma2_stat_read(s, tx_call_nomsg), 0, 0,
		rpcrdma2_stat_read(s, mrs_allocated),
		rpcrdma2_stat_read(s, local_invalidations),
		rpcrdma2_stat_read(s, sq_waits), 0,
	};
	int i;

	seq_puts(seq, "\txprt:\trdma");
	for (i = 0; i < ARRAY_SIZE(columns); i++)
		seq_printf(seq, " %llu", columns[i]);
	seq_putc(seq, '\n');
}

static void client_op_set_port(struct rpc_xprt *xprt, unsigned short port)
{
	rpc_set_port((struct sockaddr *)&xprt->addr, port);
	rpcrdma2_xprt_format_port(xprt);
}

/* ---- life of a transport ---- */

/* sunrpc owns XPRT_LOCKED and calls no other method any more. */
static void client_op_destroy(struct rpc_xprt *xprt)
{
	struct rpcrdma2_client *client = rpcrdma2_client(xprt);

	cancel_delayed_work_sync(&client->connect_work);
	cancel_delayed_work_sync(&client->fail_work);
	cancel_delayed_work_sync(&client->paths_work);
	client_disconnect(client);
	rpcrdma2_paths_put(client->policy.paths);
	rpcrdma2_client_bc_destroy_slots(xprt);
	rpcrdma2_recv_pool_empty(&client->recvs);
	rpcrdma2_conn_list_ended(xprt->xprt_net, &client->stats, true);
	rpcrdma2_xprt_free(xprt);
}

static const struct rpc_xprt_ops rpcrdma2_client_ops = {
	.reserve_xprt		= xprt_reserve_xprt,
	.release_xprt		= xprt_release_xprt,
	.alloc_slot		= rpcrdma2_requester_alloc_slot,
	.free_slot		= rpcrdma2_requester_free_slot,
	.rpcbind		= rpcb_getport_async,
	.set_port		= client_op_set_port,
	.connect		= client_op_connect,
	.get_srcaddr		= client_op_get_srcaddr,
	.get_srcport		= client_op_get_srcport,
	.buf_alloc		= rpcrdma2_requester_buf_alloc,
	.buf_free		= rpcrdma2_inval_buf_free,
	.send_request		= client_op_send_request,
	.wait_for_reply_request	= rpcrdma2_requester_wait,
	.timer			= client_op_timer,
	.close			= client_op_close,
	.destroy		= client_op_destroy,
	.set_connect_timeout	= client_op_set_connect_timeout,
	.print_stats		= client_op_print_stats,
	.enable_swap		= client_op_enable_swap,
	.disable_swap		= client_op_disable_swap,
	.inject_disconnect	= xprt_force_disconnect,
	.bc_setup		= rpcrdma2_client_bc_setup,
	.bc_maxpayload		= rpcrdma2_client_bc_maxpayload,
	.bc_num_slots		= rpcrdma2_client_bc_num_slots,
	.bc_free_rqst		= rpcrdma2_client_bc_free_rqst,
	.bc_destroy		= rpcrdma2_client_bc_destroy,
};

/**
 * rpcrdma2_client_setup - xprt_class.setup: make a transport, not connected
 * @class: its class
 * @args: arguments from sunrpc
 *
 * Context: process; sleeps.
 * Return: the transport, or an ERR_PTR.
 */
struct rpc_xprt *rpcrdma2_client_setup(struct xprt_class *class,
				       struct xprt_create *args)
{
	struct rpcrdma2_client *client;
	struct rpc_xprt *xprt;

	xprt = rpcrdma2_xprt_alloc(class, args, &rpcrdma2_client_ops, sizeof(*client),
				   RPCRDMA2_LEAST_SLOTS);
	if (IS_ERR(xprt))
		return xprt;
	client = rpcrdma2_client(xprt);
	/* Auxiliary protocols such as rpcbind use TCP */
	xprt->prot = IPPROTO_TCP;
	xprt->max_payload = RPCRDMA2_MAX_PAYLOAD;
	xprt->connect_timeout = xprt->timeout->to_initval;
	xprt->max_reconnect_timeout = compat_reconnect_timeout(args) ?: RPCRDMA2_REEST_LIMIT;
	if (compat_connect_timeout(args))
		client_op_set_connect_timeout(xprt,
					      compat_connect_timeout(args),
					      xprt->max_reconnect_timeout);
	xprt->bind_timeout = RPCRDMA2_BIND_TIMEOUT;
	xprt->idle_timeout = min(READ_ONCE(client_idle), 86400U) * HZ;
	if (rpc_get_port(args->dstaddr))
		xprt_set_bound(xprt);

	INIT_DELAYED_WORK(&client->connect_work, client_connect_worker);
	INIT_DELAYED_WORK(&client->fail_work, client_fail_worker);
	INIT_DELAYED_WORK(&client->paths_work, rpcrdma2_client_paths_worker);
	client->connect_ms = RPCRDMA2_CONNECT_MIN_MS;
	ratelimit_default_init(&client->log_limit);
	client->recvs.node = NUMA_NO_NODE;
	rpcrdma2_client_bc_init(xprt);
	if (args->srcaddr && args->srcaddr->sa_family == args->dstaddr->sa_family) {
		memcpy(&client->srcaddr, args->srcaddr, args->addrlen);
		rpc_set_port((struct sockaddr *)&client->srcaddr, 0);
	}
	client_look_up(client);
	return xprt;
}
