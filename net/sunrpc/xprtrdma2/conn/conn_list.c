// SPDX-License-Identifier: GPL-2.0
/*
 * The connections that can be seen from outside, by their ids, and the sums of
 * the counters of all that has ended, in each network namespace.
 *
 * Who looks at a connection may take a while, and the memory of a looker may
 * be on the very mount whose connection ends. So the connection is found by way
 * of a struct rpcrdma2_conn_ref, which forgets the connection when that ends. A
 * view's mutex is held while the connection is looked at; the looker neither
 * allocates memory nor touches that of user space meanwhile. Process context.
 */
#include <linux/kref.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/xarray.h>
#include <net/netns/generic.h>

#include "conn/buf.h"
#include "conn/conn.h"
#include "conn/conn_list.h"

/**
 * struct rpcrdma2_conn_ref - how to get at a connection
 * @kref: one for the connection, one for everybody who looks
 * @lock: protects @conn
 * @conn: the connection, NULL when it has ended
 * @net: its network namespace, only to be compared
 */
struct rpcrdma2_conn_ref {
	struct kref			kref;
	struct mutex			lock;	/* @conn */
	struct rpcrdma2_conn		*conn;
	const struct net		*net;
};

/* struct rpcrdma2_conn_ref by the id of the connection */
static DEFINE_XARRAY(views);

/* Counters of what has ended, in a namespace: servers', clients' */
struct observe_net {
	struct rpcrdma2_stats		ended[2];
};

static unsigned int observe_net_id;

static struct pernet_operations observe_net_ops = {
	.id	= &observe_net_id,
	.size	= sizeof(struct observe_net),
};

static void view_release(struct kref *kref)
{
	struct rpcrdma2_conn_ref *view = container_of(kref, struct rpcrdma2_conn_ref,
						      kref);

	mutex_destroy(&view->lock);
	kfree(view);
}

/* The first view of the namespace whose id is from @id to @last, with a
 * reference.
 */
static struct rpcrdma2_conn_ref *view_find(const struct net *net,
					   unsigned long *id, unsigned long last)
{
	struct rpcrdma2_conn_ref *view;

	xa_lock(&views);
	view = xa_find(&views, id, last, XA_PRESENT);
	while (view && !net_eq(view->net, net))
		view = xa_find_after(&views, id, last, XA_PRESENT);
	if (view)
		kref_get(&view->kref);
	xa_unlock(&views);
	return view;
}

/* Gives back the reference. */
static int view_look(struct rpcrdma2_conn_ref *view,
		     int (*look)(struct rpcrdma2_conn *conn, void *arg),
		     void *arg)
{
	int ret = -ENODEV;

	mutex_lock(&view->lock);
	if (view->conn)
		ret = look(view->conn, arg);
	mutex_unlock(&view->lock);
	kref_put(&view->kref, view_release);
	return ret;
}

/**
 * rpcrdma2_conn_list_next - look at a connection, and be ready for the next
 * @net: its network namespace
 * @id: the least id of interest; its id when there is one
 * @look: called with the connection, which does not end meanwhile; may sleep,
 *	but may not wait for memory
 * @arg: for @look
 *
 * Context: may sleep.
 * Return: what @look says; -ENOENT: there are no more; -ENODEV: the one with
 * this id has just ended
 */
int rpcrdma2_conn_list_next(const struct net *net, unsigned long *id,
			    int (*look)(struct rpcrdma2_conn *conn, void *arg),
			    void *arg)
{
	struct rpcrdma2_conn_ref *view = view_find(net, id, ULONG_MAX);

	return view ? view_look(view, look, arg) : -ENOENT;
}

/**
 * rpcrdma2_conn_list_look - look at a certain connection
 * @net: its network namespace
 * @id: its id
 * @look: as for rpcrdma2_conn_list_next()
 * @arg: for @look
 *
 * Context: may sleep.
 * Return: what @look says; -ENOENT: there is no such connection (any more)
 */
int rpcrdma2_conn_list_look(const struct net *net, u32 id,
			    int (*look)(struct rpcrdma2_conn *conn, void *arg),
			    void *arg)
{
	unsigned long at = id;
	struct rpcrdma2_conn_ref *view = view_find(net, &at, id);
	int ret = view ? view_look(view, look, arg) : -ENOENT;

	return ret == -ENODEV ? -ENOENT : ret;
}

/**
 * rpcrdma2_conn_list_add - let a connection be seen
 * @conn: a connection whose device is known
 *
 * Without memory nobody sees it.
 *
 * Context: may sleep.
 */
void rpcrdma2_conn_list_add(struct rpcrdma2_conn *conn)
{
	struct rpcrdma2_conn_ref *view = kzalloc_obj(*view, rpcrdma2_buf_gfp());

	if (!view)
		return;
	kref_init(&view->kref);
	mutex_init(&view->lock);
	view->conn = conn;
	view->net = rpcrdma2_conn_net(conn);
	if (xa_insert(&views, conn->id, view, rpcrdma2_buf_gfp())) {
		kref_put(&view->kref, view_release);
		return;
	}
	conn->view = view;
}

/**
 * rpcrdma2_conn_list_remove - the connection is about to end
 * @conn: the connection; nothing happens if nobody saw it
 *
 * Nobody looks at it afterwards.
 *
 * Context: may sleep; waits for nobody who waits for memory or a connection.
 */
void rpcrdma2_conn_list_remove(struct rpcrdma2_conn *conn)
{
	struct rpcrdma2_conn_ref *view = conn->view;

	if (!view)
		return;
	conn->view = NULL;
	xa_erase(&views, conn->id);
	mutex_lock(&view->lock);
	view->conn = NULL;
	mutex_unlock(&view->lock);
	kref_put(&view->kref, view_release);
}

/**
 * rpcrdma2_conn_list_totals - counters of all transports that have ended
 * @net: network namespace
 * @client: of clients, or of servers
 *
 * Context: any.
 * Return: the sums; they live as long as @net
 */
const struct rpcrdma2_stats *rpcrdma2_conn_list_totals(const struct net *net,
						       bool client)
{
	struct observe_net *on = net_generic(net, observe_net_id);

	return &on->ended[client];
}

/**
 * rpcrdma2_conn_list_ended - a transport has ended, keep what it counted
 * @net: its network namespace
 * @stats: its counters, which do not change any more
 * @client: whose transport it was
 *
 * Context: any.
 */
void rpcrdma2_conn_list_ended(const struct net *net,
			      const struct rpcrdma2_stats *stats, bool client)
{
	struct observe_net *on = net_generic(net, observe_net_id);
	int i;

	for (i = 0; i < RPCRDMA2_NR_STATS; i++)
		atomic_long_add(atomic_long_read(&stats->v[i]),
				&on->ended[client].v[i]);
}

/**
 * rpcrdma2_conn_list_init - get ready for connections
 *
 * Context: module load.
 * Return: 0 or a negative errno
 */
int rpcrdma2_conn_list_init(void)
{
	return register_pernet_subsys(&observe_net_ops);
}

/**
 * rpcrdma2_conn_list_exit - reverse of rpcrdma2_conn_list_init()
 *
 * Context: module unload; no connection exists any more.
 */
void rpcrdma2_conn_list_exit(void)
{
	unregister_pernet_subsys(&observe_net_ops);
	xa_destroy(&views);
}
