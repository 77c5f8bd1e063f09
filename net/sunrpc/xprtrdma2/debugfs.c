// SPDX-License-Identifier: GPL-2.0
/*
 * What root can read of each connection without a program:
 * /sys/kernel/debug/rpcrdma2/{client,server}-ID, one "name: value" a line,
 * and the sums of the counters of all that is gone: {client,server}_ended.
 *
 * What is written to change/{client,server}-ID is a request to change a
 * property of the connection. That is a file of its own because a locked-down
 * kernel lets nobody open what can be written.
 *
 * debugfs_remove() waits for whoever uses a file, and the memory of a reader
 * may be on the very mount whose connection ends. So files know only the id of
 * a connection, see observe.c, and are removed later, by a work item. Process
 * context.
 */
#include <linux/debugfs.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/sunrpc/addr.h>

#include "buf.h"
#include "conn.h"
#include "debugfs.h"
#include "observe.h"

/**
 * struct rpcrdma2_files - the files of a connection
 * @id: of the connection
 * @file: shows it
 * @change: takes requests
 * @remove_work: removes both and frees this
 */
struct rpcrdma2_files {
	u32				id;
	struct dentry			*file;
	struct dentry			*change;
	struct work_struct		remove_work;
};

static struct dentry *rpcrdma2_debugfs, *rpcrdma2_debugfs_change;
static struct workqueue_struct *rpcrdma2_files_wq;

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
	struct rpcrdma2_props_shown shown;
	const struct rpcrdma2_change *c = &shown.change;
	enum rpcrdma2_prop prop;

	rpcrdma2_props_show(conn, &shown);
	for (prop = 0; prop < RPCRDMA2_NR_PROPS; prop++)
		seq_printf(m, "%s: local %u peer %u\n",
			   rpcrdma2_prop_name(prop), shown.mine.val[prop],
			   shown.peer.val[prop]);
	seq_printf(m, "property_change: %u\n", c->on);
	for (prop = 0; prop < RPCRDMA2_NR_PROPS; prop++)
		seq_printf(m, "%s asked: %u %s\n", rpcrdma2_prop_name(prop),
			   c->value[prop], result_names[c->result[prop]]);
	seq_printf(m, "receive_size_goal: %u\n", rpcrdma2_recvs_goal(conn->p.pool));
	seq_printf(m, "request_pending: %u\n", shown.requesting);
	seq_printf(m, "announcement_pending: %u\n",
		   c->announcement != RPCRDMA2_ANN_CLEAN);
}

static void show_settled(struct seq_file *m, struct rpcrdma2_conn *conn)
{
	enum rpcrdma2_why why = rpcrdma2_ver_why(&conn->ver);

	seq_printf(m, "version: %u\n", conn->codec->vers);
	seq_printf(m, "version_reason: %u %s\n", why, rpcrdma2_why_name(why));
	show_props(m, conn);
	seq_printf(m, "inline_send: %u\n", rpcrdma2_limits_send(&conn->limits));
	seq_printf(m, "inline_recv: %u\n", rpcrdma2_limits_recv(&conn->limits));
	seq_printf(m, "remote_invalidation: %u\n", rpcrdma2_limits_remote_inval(&conn->limits));
}

/* What the allocator gives for it. The memory of the device, for queues and
 * page lists, is not known here.
 */
static void show_memory(struct seq_file *m, struct rpcrdma2_conn *conn)
{
	struct rpcrdma2_memory mem = { 0 };

	conn->p.ops->memory(conn, &mem);
	seq_printf(m, "receive_memory: %lu\n",
		   rpcrdma2_recvs_memory(conn->p.pool));
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
	show_stats(m, rpcrdma2_observe_totals(&init_net, m->private));
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(ended);

static void show_credits(struct seq_file *m, struct rpcrdma2_conn *conn)
{
	struct rpcrdma2_window window;
	struct rpcrdma2_grant grant;

	rpcrdma2_credit_show(&conn->rq, &window, &grant);
	seq_printf(m, "credits_asked: %u\n", window.asked);
	seq_printf(m, "credits_granted_by_peer: %u\n", window.granted);
	seq_printf(m, "calls_outstanding: %u\n", window.inflight);
	seq_printf(m, "credits_granted_to_peer: %u\n", grant.current_grant);
	seq_printf(m, "calls_being_served: %u\n", grant.inflight);
}

static int show_conn(struct rpcrdma2_conn *conn, void *arg)
{
	struct seq_file *m = arg;
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
	seq_printf(m, "receives_posted: %u\n", rpcrdma2_recvs_posted(&conn->rq));
	show_memory(m, conn);
	seq_printf(m, "send_queue: %u of %u free\n",
		   rpcrdma2_sq_avail(&conn->sq), rpcrdma2_sq_depth(&conn->sq));
	show_stats(m, conn->p.stats);
	return 0;
}

static int files_show(struct seq_file *m, void *v)
{
	const struct rpcrdma2_files *files = m->private;

	return rpcrdma2_observe(NULL, files->id, show_conn, m);
}

DEFINE_SHOW_ATTRIBUTE(files);

static int change_brs(struct rpcrdma2_conn *conn, bool own, const char *word)
{
	u32 value;

	if (own && !strcmp(word, "none"))
		value = RDMA2_RVREQSUP_NONE;
	else if (own && !strcmp(word, "inline"))
		value = RDMA2_RVREQSUP_INLINE;
	else if (own || kstrtou32(word, 0, &value))
		return -EINVAL;
	return rpcrdma2_props_request(conn, own, RPCRDMA2_BRS, value);
}

/* "[own] rbsiz BYTES", "brs VALUE", "own brs none|inline", "cycle MESSAGES" or
 * "forget"
 */
static int change_line(struct rpcrdma2_conn *conn, void *arg)
{
	char *line = arg, *word = strsep(&line, " "), *value;
	bool own = !strcmp(word, "own");
	u32 number;
	int ret;

	if (!own && !line && !strcmp(word, "forget"))
		return rpcrdma2_ver_relearn(conn);
	if (own)
		word = strsep(&line, " ");
	value = strsep(&line, " ");
	if (!word || !value || line)
		return -EINVAL;
	if (!strcmp(word, "brs"))
		return change_brs(conn, own, value);
	ret = kstrtou32(value, 0, &number);
	if (ret)
		return ret;
	if (!strcmp(word, "rbsiz"))
		return rpcrdma2_props_request(conn, own, RPCRDMA2_RBSIZ,
					      number);
	if (own || strcmp(word, "cycle") || number > SZ_1K)
		return -EINVAL;
	return rpcrdma2_props_cycle(conn, number);
}

/* One line, one request. */
static ssize_t change_write(struct file *file, const char __user *buf,
			    size_t len, loff_t *pos)
{
	struct rpcrdma2_files *files = file_inode(file)->i_private;
	char line[64];
	int ret;

	if (!len || len >= sizeof(line))
		return -EINVAL;
	if (copy_from_user(line, buf, len))
		return -EFAULT;
	line[len] = '\0';
	ret = rpcrdma2_observe(NULL, files->id, change_line, strim(line));
	return ret ?: len;
}

static const struct file_operations change_fops = {
	.owner		= THIS_MODULE,
	.open		= nonseekable_open,
	.write		= change_write,
};

static void files_remove_worker(struct work_struct *work)
{
	struct rpcrdma2_files *files = container_of(work, struct rpcrdma2_files,
						    remove_work);

	debugfs_remove(files->change);
	debugfs_remove(files->file);
	kfree(files);
}

/**
 * rpcrdma2_debugfs_add - make the files of a connection
 * @conn: it can be found by its id
 *
 * Context: may sleep.
 * Return: for rpcrdma2_debugfs_remove(); NULL without memory
 */
struct rpcrdma2_files *rpcrdma2_debugfs_add(const struct rpcrdma2_conn *conn)
{
	struct rpcrdma2_files *files = kzalloc_obj(*files, rpcrdma2_gfp());
	char name[32];

	if (!files)
		return NULL;
	INIT_WORK(&files->remove_work, files_remove_worker);
	files->id = conn->id;
	snprintf(name, sizeof(name), "%s-%u",
		 conn->client ? "client" : "server", conn->id);
	files->file = debugfs_create_file(name, 0400, rpcrdma2_debugfs, files,
					  &files_fops);
	files->change = debugfs_create_file(name, 0200, rpcrdma2_debugfs_change,
					    files, &change_fops);
	return files;
}

/**
 * rpcrdma2_debugfs_remove - remove the files of a connection
 * @files: as returned by rpcrdma2_debugfs_add()
 *
 * Context: any; does not wait.
 */
void rpcrdma2_debugfs_remove(struct rpcrdma2_files *files)
{
	if (files)
		queue_work(rpcrdma2_files_wq, &files->remove_work);
}

/**
 * rpcrdma2_debugfs_init - make the directory
 *
 * Context: module load.
 * Return: 0 or -ENOMEM
 */
int rpcrdma2_debugfs_init(void)
{
	rpcrdma2_files_wq = alloc_workqueue("rpcrdma2_files", WQ_UNBOUND, 0);
	if (!rpcrdma2_files_wq)
		return -ENOMEM;
	rpcrdma2_debugfs = debugfs_create_dir("rpcrdma2", NULL);
	rpcrdma2_debugfs_change = debugfs_create_dir("change",
						     rpcrdma2_debugfs);
	debugfs_create_file("server_ended", 0400, rpcrdma2_debugfs,
			    (void *)false, &ended_fops);
	debugfs_create_file("client_ended", 0400, rpcrdma2_debugfs,
			    (void *)true, &ended_fops);
	return 0;
}

/**
 * rpcrdma2_debugfs_exit - remove the directory
 *
 * Context: module unload; no connection exists any more.
 */
void rpcrdma2_debugfs_exit(void)
{
	destroy_workqueue(rpcrdma2_files_wq);
	debugfs_remove_recursive(rpcrdma2_debugfs);
}
