// SPDX-License-Identifier: GPL-2.0
/*
 * What an administrator can read of each connection:
 * /sys/kernel/debug/rpcrdma2/{client,server}-ID, one "name: value" a line,
 * and the sums of the counters of all that is gone: {client,server}_ended.
 *
 * What is written to change/{client,server}-ID is a request to change a
 * property of the connection, see rpcrdma2_props_command(). That is a file of
 * its own because a locked-down kernel lets nobody open what can be written.
 *
 * debugfs_remove() waits for whoever uses a file, and the memory of a reader
 * may be on the very mount whose connection ends. So the connection does not
 * wait for it: what a file shows is a struct rpcrdma2_view, which forgets the
 * connection when that ends and is freed later, by a work item. A view's lock
 * is held while a connection is looked at, never while memory of user space
 * is. Process context.
 */
#include <linux/debugfs.h>
#include <linux/mutex.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/sunrpc/addr.h>

#include "conn.h"
#include "observe.h"

/**
 * struct rpcrdma2_view - the files of a connection
 * @lock: protects @conn
 * @conn: the connection, NULL when it has ended
 * @file: shows it
 * @change: takes requests
 * @remove_work: removes both and frees the view
 */
struct rpcrdma2_view {
	struct mutex			lock;	/* @conn */
	struct rpcrdma2_conn		*conn;
	struct dentry			*file;
	struct dentry			*change;
	struct work_struct		remove_work;
};

static struct dentry *rpcrdma2_debugfs, *rpcrdma2_debugfs_change;
static struct workqueue_struct *rpcrdma2_view_wq;

/* Counters of transports that have ended: servers', clients' */
static struct rpcrdma2_stats rpcrdma2_ended[2];

static const char *const stat_names[] = {
#define RPCRDMA2_STAT(name)	#name
#include "stats_list.h"
#undef RPCRDMA2_STAT
};

static const char *const state_names[] = {
	[RPCRDMA2_CONN_NEW]	   = "new",
	[RPCRDMA2_CONN_RESOLVING]  = "resolving",
	[RPCRDMA2_CONN_CONNECTING] = "connecting",
	[RPCRDMA2_CONN_OPEN]	   = "open",
	[RPCRDMA2_CONN_READY]	   = "ready",
	[RPCRDMA2_CONN_CLOSING]	   = "closing",
	[RPCRDMA2_CONN_CLOSED]	   = "closed",
};

static const char *const result_names[] = {
	[RPCRDMA2_CHANGE_NEVER]	   = "none",
	[RPCRDMA2_CHANGE_WAITING]  = "waiting",
	[RPCRDMA2_CHANGE_DONE]	   = "granted",
	[RPCRDMA2_CHANGE_OTHER]	   = "partly",
	[RPCRDMA2_CHANGE_REJECTED] = "rejected",
};

/* What each side has, and what we have asked the peer for. */
static void show_props(struct seq_file *m, struct rpcrdma2_conn *conn)
{
	struct rpcrdma2_change *c = &conn->change;
	enum rpcrdma2_prop prop;

	mutex_lock(&conn->props_lock);
	for (prop = 0; prop < RPCRDMA2_NR_PROPS; prop++)
		seq_printf(m, "%s: local %u peer %u\n",
			   rpcrdma2_prop_name(prop), conn->mine.val[prop],
			   conn->peer.val[prop]);
	seq_printf(m, "property_change: %u\n", c->on);
	for (prop = 0; prop < RPCRDMA2_NR_PROPS; prop++)
		seq_printf(m, "%s asked: %u %s\n", rpcrdma2_prop_name(prop),
			   c->value[prop], result_names[c->result[prop]]);
	seq_printf(m, "receive_size_goal: %u\n", conn->p.pool->size);
	seq_printf(m, "request_pending: %u\n",
		   c->pending || c->want || c->cycles || conn->retries);
	seq_printf(m, "announcement_pending: %u\n", c->dirty || c->told);
	mutex_unlock(&conn->props_lock);
}

static void show_settled(struct seq_file *m, struct rpcrdma2_conn *conn)
{
	seq_printf(m, "version: %u\n", conn->codec->vers);
	seq_printf(m, "version_reason: %u %s\n", conn->why,
		   rpcrdma2_why_name(conn->why));
	show_props(m, conn);
	seq_printf(m, "inline_send: %u\n", READ_ONCE(conn->inline_send));
	seq_printf(m, "inline_recv: %u\n", READ_ONCE(conn->inline_recv));
	seq_printf(m, "remote_invalidation: %u\n", conn->remote_inval);
}

/* What the allocator gives for it. The memory of the device, for queues and
 * page lists, is not known here.
 */
static void show_memory(struct seq_file *m, struct rpcrdma2_conn *conn)
{
	struct rpcrdma2_memory mem = { 0 };

	conn->p.ops->memory(conn, &mem);
	seq_printf(m, "receive_memory: %lu\n",
		   atomic_long_read(&conn->p.pool->bytes));
	seq_printf(m, "send_memory: %zu\n", rpcrdma2_sends_memory(conn));
	seq_printf(m, "mr_memory: %zu\n", mem.mrs);
	seq_printf(m, "rpc_memory: %zu\n", mem.rpcs);
}

static void show_stats(struct seq_file *m, const struct rpcrdma2_stats *stats)
{
	int i;

	for (i = 0; i < RPCRDMA2_NR_STATS; i++)
		seq_printf(m, "%s: %lu\n", stat_names[i],
			   (unsigned long)atomic_long_read(&stats->v[i]));
}

static int ended_show(struct seq_file *m, void *v)
{
	show_stats(m, m->private);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(ended);

static void show_credits(struct seq_file *m, struct rpcrdma2_conn *conn)
{
	struct rpcrdma2_window window;
	struct rpcrdma2_grant grant;

	spin_lock(&conn->credit_lock);
	window = conn->window;
	grant = conn->grant;
	spin_unlock(&conn->credit_lock);
	seq_printf(m, "credits_asked: %u\n", window.asked);
	seq_printf(m, "credits_granted_by_peer: %u\n", window.granted);
	seq_printf(m, "calls_outstanding: %u\n", window.inflight);
	seq_printf(m, "credits_granted_to_peer: %u\n", grant.current_grant);
	seq_printf(m, "calls_being_served: %u\n", grant.inflight);
}

static void show_conn(struct seq_file *m, struct rpcrdma2_conn *conn)
{
	enum rpcrdma2_conn_state state = rpcrdma2_conn_state(conn);
	const struct rdma_addr *addr = &conn->cm_id->route.addr;

	seq_printf(m, "role: %s\n", conn->client ? "client" : "server");
	seq_printf(m, "state: %s\n", state_names[state]);
	seq_printf(m, "device: %s\n", dev_name(&conn->cm_id->device->dev));
	seq_printf(m, "local: %pISpc\n", &addr->src_addr);
	seq_printf(m, "peer: %pISpc\n", &addr->dst_addr);
	if (state >= RPCRDMA2_CONN_READY && READ_ONCE(conn->codec))
		show_settled(m, conn);
	show_credits(m, conn);
	/* Single numbers, which mean nothing but to the reader */
	seq_printf(m, "receives_posted: %u\n", data_race(conn->recv_posted));
	show_memory(m, conn);
	seq_printf(m, "send_queue: %u of %u free\n",
		   data_race(conn->sq_avail),	/* likewise */
		   conn->sq_depth);
	show_stats(m, conn->p.stats);
}

static int view_show(struct seq_file *m, void *v)
{
	struct rpcrdma2_view *view = m->private;
	int ret = -ENODEV;

	mutex_lock(&view->lock);
	if (view->conn) {
		show_conn(m, view->conn);
		ret = 0;
	}
	mutex_unlock(&view->lock);
	return ret;
}

DEFINE_SHOW_ATTRIBUTE(view);

/* The next connection asks for version 2 again (VER-16) */
static int conn_forget(struct rpcrdma2_conn *conn)
{
	if (!conn->client)
		return -EINVAL;
	spin_lock(&conn->state_lock);
	rpcrdma2_ver_forget(conn->p.mem);
	spin_unlock(&conn->state_lock);
	return 0;
}

/* One line, one request. */
static ssize_t change_write(struct file *file, const char __user *buf,
			    size_t len, loff_t *pos)
{
	struct rpcrdma2_view *view = file_inode(file)->i_private;
	char line[64], *cmd;
	int ret = -ENODEV;

	if (!len || len >= sizeof(line))
		return -EINVAL;
	if (copy_from_user(line, buf, len))
		return -EFAULT;
	line[len] = '\0';
	cmd = strim(line);
	mutex_lock(&view->lock);
	if (view->conn && !strcmp(cmd, "forget"))
		ret = conn_forget(view->conn);
	else if (view->conn)
		ret = rpcrdma2_props_command(view->conn, cmd);
	mutex_unlock(&view->lock);
	return ret ?: len;
}

static const struct file_operations change_fops = {
	.owner		= THIS_MODULE,
	.open		= nonseekable_open,
	.write		= change_write,
};

static void view_remove_worker(struct work_struct *work)
{
	struct rpcrdma2_view *view = container_of(work, struct rpcrdma2_view,
						  remove_work);

	debugfs_remove(view->change);
	debugfs_remove(view->file);
	kfree(view);
}

/**
 * rpcrdma2_observe_add - show a connection
 * @conn: a connection whose device is known
 *
 * Without memory it is not shown.
 *
 * Context: may sleep.
 */
void rpcrdma2_observe_add(struct rpcrdma2_conn *conn)
{
	struct rpcrdma2_view *view = kzalloc_obj(*view, rpcrdma2_gfp());
	char name[32];

	if (!view)
		return;
	mutex_init(&view->lock);
	INIT_WORK(&view->remove_work, view_remove_worker);
	view->conn = conn;
	conn->view = view;
	snprintf(name, sizeof(name), "%s-%u",
		 conn->client ? "client" : "server", conn->id);
	view->file = debugfs_create_file(name, 0400, rpcrdma2_debugfs, view,
					 &view_fops);
	view->change = debugfs_create_file(name, 0200, rpcrdma2_debugfs_change,
					   view, &change_fops);
}

/**
 * rpcrdma2_observe_remove - the connection is about to end
 * @conn: the connection; nothing happens if it was not shown
 *
 * Nobody looks at it afterwards.
 *
 * Context: may sleep; waits for nobody who waits for a connection.
 */
void rpcrdma2_observe_remove(struct rpcrdma2_conn *conn)
{
	struct rpcrdma2_view *view = conn->view;

	if (!view)
		return;
	conn->view = NULL;
	mutex_lock(&view->lock);
	view->conn = NULL;
	mutex_unlock(&view->lock);
	queue_work(rpcrdma2_view_wq, &view->remove_work);
}

/**
 * rpcrdma2_observe_ended - a transport has ended, keep what it counted
 * @stats: its counters, which do not change any more
 * @client: whose transport it was
 *
 * Context: any.
 */
void rpcrdma2_observe_ended(const struct rpcrdma2_stats *stats, bool client)
{
	int i;

	for (i = 0; i < RPCRDMA2_NR_STATS; i++)
		atomic_long_add(atomic_long_read(&stats->v[i]),
				&rpcrdma2_ended[client].v[i]);
}

/**
 * rpcrdma2_observe_init - make the directory
 *
 * Context: module load.
 * Return: 0 or -ENOMEM
 */
int rpcrdma2_observe_init(void)
{
	rpcrdma2_view_wq = alloc_workqueue("rpcrdma2_view", WQ_UNBOUND, 0);
	if (!rpcrdma2_view_wq)
		return -ENOMEM;
	rpcrdma2_debugfs = debugfs_create_dir("rpcrdma2", NULL);
	rpcrdma2_debugfs_change = debugfs_create_dir("change",
						     rpcrdma2_debugfs);
	debugfs_create_file("server_ended", 0400, rpcrdma2_debugfs,
			    &rpcrdma2_ended[false], &ended_fops);
	debugfs_create_file("client_ended", 0400, rpcrdma2_debugfs,
			    &rpcrdma2_ended[true], &ended_fops);
	return 0;
}

/**
 * rpcrdma2_observe_exit - remove the directory
 *
 * Context: module unload; no connection exists any more.
 */
void rpcrdma2_observe_exit(void)
{
	destroy_workqueue(rpcrdma2_view_wq);
	debugfs_remove_recursive(rpcrdma2_debugfs);
}
