// SPDX-License-Identifier: GPL-2.0
/*
 * The connections that netlink shows, by their ids, and the sums of the counters of all
 * transports that have ended, in each network namespace.
 *
 * Looking at a connection may take a while, and the memory of the reader may be on the
 * very mount whose connection ends. So a reader has a reference to the object, which may
 * outlive the connection, and holds list_mutex, under which rpcrdma2_conn_list_remove()
 * marks the connection as gone. Meanwhile the reader neither allocates memory nor touches
 * that of user space. Process context.
 */
#include <linux/mutex.h>
#include <linux/xarray.h>
#include <net/netns/generic.h>

#include "conn/buf.h"
#include "conn/conn.h"
#include "conn/conn_list.h"

/* struct rpcrdma2_conn by id */
static DEFINE_XARRAY(conns);

static unsigned int ended_net_id;

/* Counters of transports that have ended, in a namespace: servers', clients' */
struct pernet_operations rpcrdma2_conn_list_net_ops = {
	.id	= &ended_net_id,
	.size	= 2 * sizeof(struct rpcrdma2_stats),
};

/**
 * rpcrdma2_conn_list_done - finish looking at a connection
 * @conn: from rpcrdma2_conn_list_next(), or an ERR_PTR
 *
 * Context: process; does not sleep.
 */
void rpcrdma2_conn_list_done(struct rpcrdma2_conn *conn)
{
	if (IS_ERR(conn))
		return;
	mutex_unlock(&conn->list_mutex);
	rpcrdma2_conn_put(conn);
}

/**
 * rpcrdma2_conn_list_next - begin to look at the next connection
 * @net: network namespace
 * @id: least id; set to the id of the connection
 * @last: largest id
 *
 * The connection does not end before rpcrdma2_conn_list_done(). Meanwhile the caller may
 * sleep, but may not wait for memory.
 *
 * Context: may sleep.
 * Return: the connection, or NULL if there is none
 */
struct rpcrdma2_conn *rpcrdma2_conn_list_next(const struct net *net, unsigned long *id,
					      unsigned long last)
{
	struct rpcrdma2_conn *conn;

	for (;;) {
		/* A connection has its CM id while it is in the list */
		xa_lock(&conns);
		conn = xa_find(&conns, id, last, XA_PRESENT);
		while (conn && !net_eq(rpcrdma2_conn_net(conn), net))
			conn = xa_find_after(&conns, id, last, XA_PRESENT);
		if (conn)
			rpcrdma2_conn_get(conn);
		xa_unlock(&conns);
		if (!conn)
			return NULL;
		mutex_lock(&conn->list_mutex);
		if (conn->listed)
			return conn;
		/* It has just ended, and is not found again */
		rpcrdma2_conn_list_done(conn);
	}
}

/**
 * rpcrdma2_conn_list_add - add a connection to the list
 * @conn: a connection whose device is known
 *
 * Without memory the connection is not in the list.
 *
 * Context: may sleep.
 */
void rpcrdma2_conn_list_add(struct rpcrdma2_conn *conn)
{
	conn->listed = true;
	if (xa_insert(&conns, conn->id, conn, rpcrdma2_buf_gfp()))
		conn->listed = false;
}

/**
 * rpcrdma2_conn_list_remove - remove a connection that is about to end
 * @conn: the connection, in the list or not
 *
 * Nobody looks at it afterwards.
 *
 * Context: may sleep; waits for no reader that waits for memory or a connection.
 */
void rpcrdma2_conn_list_remove(struct rpcrdma2_conn *conn)
{
	if (!conn->listed)
		return;
	xa_erase(&conns, conn->id);
	guard(mutex)(&conn->list_mutex);
	conn->listed = false;
}

/**
 * rpcrdma2_conn_list_totals - get the counters of all transports that have ended
 * @net: network namespace
 * @client: of clients, or of servers
 *
 * Context: any.
 * Return: the sums; they live as long as @net
 */
struct rpcrdma2_stats *rpcrdma2_conn_list_totals(const struct net *net, bool client)
{
	struct rpcrdma2_stats *ended = net_generic(net, ended_net_id);

	return &ended[client];
}

/**
 * rpcrdma2_conn_list_ended - keep the counters of a transport that has ended
 * @net: its network namespace
 * @stats: its counters, which do not change any more
 * @client: a client's transport, or a server's
 *
 * Context: any.
 */
void rpcrdma2_conn_list_ended(const struct net *net,
			      const struct rpcrdma2_stats *stats, bool client)
{
	struct rpcrdma2_stats *ended = rpcrdma2_conn_list_totals(net, client);
	int i;

	for (i = 0; i < RPCRDMA2_NR_STATS; i++)
		atomic_long_add(atomic_long_read(&stats->v[i]), &ended->v[i]);
}

/**
 * rpcrdma2_conn_list_exit - free what insertions without memory have left of the list
 *
 * Context: module unload; no connection exists any more.
 */
void rpcrdma2_conn_list_exit(void)
{
	xa_destroy(&conns);
}
