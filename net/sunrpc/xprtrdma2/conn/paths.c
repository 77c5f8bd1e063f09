// SPDX-License-Identifier: GPL-2.0
/*
 * Several paths from this machine to a server, which an entry of the policy has for the
 * server's address. A path is an address of the server, and perhaps one of this machine.
 *
 * All transports to the address of the entry share its paths. A transport has at most one
 * connection, and chooses its path in rounds: it tries one path after the other until it
 * has a connection, each path once, so that its delays are between rounds. The best path is
 * one that is UP or UNTRIED, with the fewest connections.
 *
 *              connected                     failed, lost
 *   UNTRIED ----------------> UP <---------------------------> DOWN
 *      ^  |                               probed                ^ |
 *      |  +------- failed --------------------------------------+ |
 *      +---------- no path is UP or UNTRIED ----------------------+
 *
 * If all are DOWN the server itself is away, which says nothing about paths. Transports
 * with a connection probe paths that are not UP (xprt/client_paths.c), each again after
 * growing delays, and their connections move away from a path that has two more than
 * another one, one after the other.
 *
 * From any state a path becomes REFUSED if it connects, but rpcrdma2_paths_accept() does not
 * find that it leads to the same server. It is tried after all others, and seldom probed.
 * After a probe that connects it is still REFUSED, until an idle connection finds out whether
 * it leads there now.
 *
 * All memory is allocated with the entry: a lookup and a connection need none for paths.
 * Process context.
 */
#include <linux/slab.h>
#include <net/ipv6.h>

#include "compat.h"
#include "conn/paths.h"

/* Delays before a probe, the least one again after the path was UP for long */
#define PATHS_WAIT_MIN		((unsigned long)HZ)
#define PATHS_WAIT_MAX		(16UL * HZ)
#define PATHS_WAIT_REFUSED	(64UL * HZ)
#define PATHS_UP_LONG		(60 * HZ)
/* Time between two moves, and looks at busy connections before one of them moves */
#define PATHS_MOVE_DELAY	(HZ / 2)
#define PATHS_PATIENCE		10U

/* For an entry of the policy */

/**
 * rpcrdma2_paths_alloc - make paths for an entry, none at first
 *
 * Context: sleeps.
 * Return: the paths, with one reference; or NULL
 */
struct rpcrdma2_paths *rpcrdma2_paths_alloc(void)
{
	struct rpcrdma2_paths *paths = kzalloc_obj(*paths, GFP_KERNEL_ACCOUNT);

	if (!paths)
		return NULL;
	refcount_set(&paths->refs, 1);
	spin_lock_init(&paths->lock);
	paths->server = paths;
	paths->moved = jiffies;
	return paths;
}

static bool same_family(const struct in6_addr *a, const struct in6_addr *b)
{
	return ipv6_addr_v4mapped(a) == ipv6_addr_v4mapped(b);
}

/**
 * rpcrdma2_paths_add - add a path
 * @paths: the paths, not in use yet
 * @addr: its addresses
 * @own: the server's address of the mounts
 *
 * Context: any.
 * Return: false if they are no pair, or if there are too many paths
 */
bool rpcrdma2_paths_add(struct rpcrdma2_paths *paths, const struct in6_addr addr[2],
			const struct in6_addr *own)
{
	struct rpcrdma2_path *path = &paths->path[paths->n];

	if (paths->n == RPCRDMA2_PATHS_MAX || ipv6_addr_any(&addr[0]) ||
	    !(ipv6_addr_any(&addr[1]) || same_family(&addr[0], &addr[1])))
		return false;
	memcpy(path->addr, addr, sizeof(path->addr));
	path->own = ipv6_addr_equal(&addr[0], own);
	path->changed = get_jiffies_64();
	path->due = jiffies;
	paths->n++;
	paths->impatient = paths->n > 1;
	return true;
}

/**
 * rpcrdma2_paths_get - take a reference
 * @paths: the paths, or NULL
 *
 * Context: any.
 * Return: @paths
 */
struct rpcrdma2_paths *rpcrdma2_paths_get(struct rpcrdma2_paths *paths)
{
	if (paths)
		refcount_inc(&paths->refs);
	return paths;
}

/**
 * rpcrdma2_paths_put - drop a reference
 * @paths: the paths, or NULL
 *
 * Context: any.
 */
void rpcrdma2_paths_put(struct rpcrdma2_paths *paths)
{
	if (!paths || !refcount_dec_and_test(&paths->refs))
		return;
	if (paths->server != paths)
		rpcrdma2_paths_put(paths->server);
	kfree(paths);
}

/**
 * rpcrdma2_paths_replace - drop the reference of the policy, which has other paths
 * @old: the paths, or NULL
 * @paths: those that it has instead, not in use yet; or NULL
 *
 * Connections of @old look for another path. The server is still the same one.
 *
 * Context: process; does not sleep.
 */
void rpcrdma2_paths_replace(struct rpcrdma2_paths *old, struct rpcrdma2_paths *paths)
{
	if (!old)
		return;
	WRITE_ONCE(old->replaced, true);
	if (paths)
		paths->server = rpcrdma2_paths_get(old->server);
	rpcrdma2_paths_put(old);
}

/* For a transport */

/* Check whether a path begins at @src, or may do so. */
static bool path_from(const struct rpcrdma2_path *path, const struct in6_addr *src)
{
	return !src || ipv6_addr_equal(&path->addr[1], src) ||
	       (ipv6_addr_any(&path->addr[1]) && same_family(&path->addr[0], src));
}

/* Those that are DOWN are behind all better ones, and before those that are REFUSED. */
static u32 path_rank(const struct rpcrdma2_path *path)
{
	return path->conns + (path->state < RPCRDMA2_PATH_STATE_DOWN ? 0 : path->state << 16);
}

/**
 * rpcrdma2_paths_choose - take the best path that was not tried in this round
 * @paths: the paths
 * @tried: 0 at the beginning of a round; updated
 * @src: address of this machine that the path must have, or NULL
 *
 * rpcrdma2_paths_left() gives the path back.
 *
 * Context: process; does not sleep.
 * Return: the path, or NULL if all were tried
 */
struct rpcrdma2_path *rpcrdma2_paths_choose(struct rpcrdma2_paths *paths, u32 *tried,
					    const struct in6_addr *src)
{
	struct rpcrdma2_path *path, *best = NULL;

	guard(spinlock)(&paths->lock);
	for (path = paths->path; path < paths->path + paths->n; path++)
		if (!(*tried & BIT(path - paths->path)) && path_from(path, src) &&
		    (!best || path_rank(path) < path_rank(best)))
			best = path;
	if (best) {
		*tried |= BIT(best - paths->path);
		best->conns++;
	}
	return best;
}

static void path_becomes(struct rpcrdma2_path *path, enum rpcrdma2_path_state state)
{
	if (path->state != state)
		path->changed = get_jiffies_64();
	path->state = state;
}

/**
 * rpcrdma2_paths_result - note the result of a probe, an attempt to connect, or a connection
 * @paths: the paths
 * @path: one of them
 * @err: 0 or a negative errno; -EACCES: it was not accepted
 *
 * Context: process; does not sleep.
 */
void rpcrdma2_paths_result(struct rpcrdma2_paths *paths, struct rpcrdma2_path *path, int err)
{
	u32 good = 0, alive = 0;

	guard(spinlock)(&paths->lock);
	/* Memory is short here; a move, or an administrator */
	if (err == -ENOBUFS || err == -ECONNRESET)
		return;
	if (err) {
		if (path->state == RPCRDMA2_PATH_STATE_UP &&
		    get_jiffies_64() - path->changed > PATHS_UP_LONG)
			path->wait = 0;
		path->wait = clamp(2 * path->wait, PATHS_WAIT_MIN, PATHS_WAIT_MAX);
		path->due = jiffies + (err == -EACCES ? PATHS_WAIT_REFUSED : path->wait);
		path->failures++;
	}
	path->ready = !err;
	/* A probe does not find out which server it is */
	if (!err && READ_ONCE(path->told))
		err = -EACCES;
	path->reason = err;
	path_becomes(path, !err ? RPCRDMA2_PATH_STATE_UP :
			   err == -EACCES ? RPCRDMA2_PATH_STATE_REFUSED :
					    RPCRDMA2_PATH_STATE_DOWN);
	for (path = paths->path; path < paths->path + paths->n; path++) {
		good += path->state < RPCRDMA2_PATH_STATE_DOWN;
		/* Other connections by a path that is DOWN are probably lost as well */
		alive += path->state < RPCRDMA2_PATH_STATE_DOWN || path->conns;
	}
	for (path = paths->path; path < paths->path + paths->n && !good; path++)
		if (path->state == RPCRDMA2_PATH_STATE_DOWN)
			path_becomes(path, RPCRDMA2_PATH_STATE_UNTRIED);
	WRITE_ONCE(paths->impatient, alive > 1);
}

/**
 * rpcrdma2_paths_accept - check whether RPCs may use a path, which has a connection now
 * @paths: the paths
 * @path: the path
 * @identity: what the server tells as its identity, or NULL
 * @trusted: the administrator's word that it is the same server
 *
 * A server that tells the identity of the connections is the same one. Another one, or one
 * that tells none beside them, is not; but for the latter the administrator may vouch.
 * Without connections another identity may be that of a restarted server: at the address of
 * the mounts it is, and at one that led to the server before. The first connection of all
 * decides which server it is, if that server tells.
 *
 * Context: process; does not sleep. Requirements: PROP-22, D-53.
 * Return: false if not; rpcrdma2_paths_result() follows
 */
bool rpcrdma2_paths_accept(struct rpcrdma2_paths *paths, struct rpcrdma2_path *path,
			   const u8 *identity, bool trusted)
{
	struct rpcrdma2_paths *server = paths->server;
	bool same, restarted;

	guard(spinlock)(&server->lock);
	same = identity && server->known &&
	       !memcmp(identity, server->identity, sizeof(server->identity));
	restarted = identity && !server->joined && (path->proved || !server->settled);
	if (!same && (server->joined && server->known ? identity || !trusted :
						      !(restarted || path->own || trusted)))
		return false;
	WRITE_ONCE(path->told, false);
	path->proved = true;
	server->settled = true;
	if (identity)
		memcpy(server->identity, identity, sizeof(server->identity));
	server->known = identity || (server->joined && server->known);
	server->joined++;
	return true;
}

/**
 * rpcrdma2_paths_left - give a path back
 * @paths: the paths
 * @path: from rpcrdma2_paths_choose()
 * @joined: its connection was accepted
 *
 * Context: process; does not sleep.
 */
void rpcrdma2_paths_left(struct rpcrdma2_paths *paths, struct rpcrdma2_path *path, bool joined)
{
	scoped_guard(spinlock, &paths->lock)
		path->conns--;
	guard(spinlock)(&paths->server->lock);
	paths->server->joined -= joined;
}

/* Check whether a connection of @path would find a path with two less. One that is REFUSED
 * may be refused again, so only idle connections try it.
 */
static bool path_crowded(const struct rpcrdma2_paths *paths, const struct rpcrdma2_path *path,
			 const struct in6_addr *src, bool idle)
{
	const struct rpcrdma2_path *to;

	for (to = paths->path; to < paths->path + paths->n; to++)
		if (to->ready && path_from(to, src) && to->conns + 2 <= path->conns &&
		    (idle || to->state == RPCRDMA2_PATH_STATE_UP))
			return true;
	return false;
}

/**
 * rpcrdma2_paths_move - check whether a connection is to be made anew, by another path
 * @paths: the paths
 * @path: its path
 * @src: as for rpcrdma2_paths_choose()
 * @idle: it has no RPC
 *
 * A connection that is never idle moves all the same after some time. But not if @src says
 * that a server which still executes one of its Calls would drop it when it comes again.
 *
 * Context: process; does not sleep.
 * Return: true if the caller is to end it
 */
bool rpcrdma2_paths_move(struct rpcrdma2_paths *paths, const struct rpcrdma2_path *path,
			 const struct in6_addr *src, bool idle)
{
	guard(spinlock)(&paths->lock);
	if (time_before(jiffies, paths->moved + PATHS_MOVE_DELAY) ||
	    (!READ_ONCE(paths->replaced) && !path_crowded(paths, path, src, idle)) ||
	    (!idle && (src || paths->busy++ < PATHS_PATIENCE)))
		return false;
	paths->busy = 0;
	paths->moved = jiffies;
	return true;
}

/**
 * rpcrdma2_paths_due - get a path to probe
 * @paths: the paths
 *
 * Context: process; does not sleep.
 * Return: a path, for rpcrdma2_paths_result(); or NULL
 */
struct rpcrdma2_path *rpcrdma2_paths_due(struct rpcrdma2_paths *paths)
{
	struct rpcrdma2_path *path;

	guard(spinlock)(&paths->lock);
	for (path = paths->path; path < paths->path + paths->n; path++)
		if (time_after_eq(jiffies, path->due) && !path->ready &&
		    (path->state != RPCRDMA2_PATH_STATE_UNTRIED || !path->conns)) {
			/* No other transport probes it meanwhile */
			path->due = jiffies + PATHS_WAIT_MAX;
			return path;
		}
	return NULL;
}
