// SPDX-License-Identifier: GPL-2.0
/*
 * What has no connection: mounts that are idle or that wait for one, and listeners.
 * The module knows connections only; the rest is told by files of the kernel.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd.h"
#include "sys.h"

#define SWITCHES	"/sys/kernel/sunrpc/xprt-switches"

/* ---- transports of sunrpc ---- */

static void add_if_connecting(json_t *addresses, const char *xps,
			      const char *xprt)
{
	char *state = sys_read(SWITCHES "/%s/%s/xprt_state", xps, xprt);
	char *address = sys_read(SWITCHES "/%s/%s/dstaddr", xps, xprt);

	/* "CONNECTED" is another word */
	if (state && address && strstr(state, "CONNECTING") &&
	    !json_object_get(addresses, address))
		json_object_set_new(addresses, address, json_true());
	free(address);
	free(state);
}

/**
 * connecting_peers - whom RDMA transports are connecting to
 *
 * Mounts that are still being made are among them.
 *
 * Return: an object whose names are their addresses, without ports
 */
json_t *connecting_peers(void)
{
	json_t *addresses = json_object(), *switches = sys_list(SWITCHES), *xps;
	size_t i, j;

	json_array_foreach(switches, i, xps) {
		const char *name = json_string_value(xps);
		json_t *xprts = sys_list(SWITCHES "/%s", name), *xprt;

		json_array_foreach(xprts, j, xprt)
			if (strstr(json_string_value(xprt), "-rdma"))
				add_if_connecting(addresses, name,
						  json_string_value(xprt));
		json_decref(xprts);
	}
	json_decref(switches);
	return addresses;
}

/* ---- mounts ---- */

/* Returns the value of an option, which the caller frees, or NULL. */
static char *option_value(const struct mount *m, const char *name)
{
	json_t *options = split(m->options, ","), *option;
	size_t i, len = strlen(name);
	char *value = NULL;

	json_array_foreach(options, i, option) {
		const char *text = json_string_value(option);

		if (!value && !strncmp(text, name, len) && text[len] == '=')
			value = strdup(text + len + 1);
	}
	json_decref(options);
	return value;
}

static bool has_connection(const json_t *conns, const char *peer)
{
	json_t *conn;
	size_t i;

	json_array_foreach(conns, i, conn) {
		const char *with = json_string_value(json_object_get(conn,
							"peer_address"));

		if (with && !strcmp(with, peer))
			return true;
	}
	return false;
}

static void add_mount(json_t *rows, const json_t *conns,
		      const json_t *connecting, const struct mount *m)
{
	char *addr = option_value(m, "addr"), *port = option_value(m, "port");
	char *peer = NULL;

	if (addr && asprintf(&peer, strchr(addr, ':') ? "[%s]:%s" : "%s:%s",
			     addr, port ?: NFS_RDMA_PORT) < 0)
		abort();
	if (peer && !has_connection(conns, peer))
		json_array_append_new(rows, json_pack("{s:s, s:s, s:s, s:s}",
			"role", "client", "peer_address", peer, "state",
			json_object_get(connecting, addr) ? "connecting" : "idle",
			"mount", m->dir));
	free(peer);
	free(port);
	free(addr);
}

/**
 * without_connection - mounts that have no connection, and listeners
 * @conns: the connections that there are
 *
 * Return: an array of objects with "role" and "state"; "peer_address" and "mount" of
 * a client, "listener" of a server
 */
json_t *without_connection(const json_t *conns)
{
	json_t *rows = json_array(), *connecting = connecting_peers();
	json_t *mounts = sys_nfs_mounts("/proc/self/mounts"), *words;
	json_t *listeners = our_listeners(), *listener;
	size_t i;

	json_array_foreach(mounts, i, words) {
		struct mount m = to_mount(words);

		if (uses_us(&m))
			add_mount(rows, conns, connecting, &m);
	}
	json_array_foreach(listeners, i, listener)
		json_array_append_new(rows, json_pack("{s:s, s:s, s:O}", "role",
						      "server", "state",
						      "listening", "listener",
						      listener));
	json_decref(listeners);
	json_decref(mounts);
	json_decref(connecting);
	return rows;
}
