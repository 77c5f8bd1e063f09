// SPDX-License-Identifier: GPL-2.0
/*
 * unload: who holds the module, and away with it if nobody does.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <linux/rpcrdma2_netlink.h>

#include "cmd.h"
#include "nl.h"
#include "sys.h"

static void add_holder(json_t *holders, const char *kind, json_t *name)
{
	json_array_append_new(holders, json_pack("{s:s, s:o}", "kind", kind,
						 "name", name));
}

/* ---- mounts, of all processes ---- */

static bool is_new(json_t *seen, const char *key)
{
	bool new = !json_object_get(seen, key);

	if (new)
		json_object_set_new(seen, key, json_true());
	return new;
}

static void mounts_of(json_t *holders, json_t *seen, const char *pid)
{
	char file[64], key[4096];
	json_t *mounts, *words;
	size_t i;

	snprintf(file, sizeof(file), "/proc/%s/mounts", pid);
	mounts = sys_nfs_mounts(file);
	json_array_foreach(mounts, i, words) {
		struct mount m = to_mount(words);

		snprintf(key, sizeof(key), "%s on %s", m.source, m.dir);
		if (uses_us(&m) && is_new(seen, key))
			add_holder(holders, "mount", json_string(key));
	}
	json_decref(mounts);
}

/* Containers have mounts of their own. */
static void add_mounts(json_t *holders)
{
	json_t *pids = sys_list("/proc"), *seen = json_object(), *pid;
	size_t i;

	json_array_foreach(pids, i, pid)
		if (strspn(json_string_value(pid), "0123456789"))
			mounts_of(holders, seen, json_string_value(pid));
	json_decref(seen);
	json_decref(pids);
}

/* ---- the rest ---- */

static void add_listeners(json_t *holders)
{
	json_t *listeners = our_listeners(), *listener;
	size_t i;

	json_array_foreach(listeners, i, listener)
		add_holder(holders, "listener",
			   json_sprintf("%s (systemctl stop nfs-server)",
					json_string_value(listener)));
	json_decref(listeners);
}

static void add_modules(json_t *holders)
{
	json_t *names = sys_list(MODULE_DIR "/holders"), *name;
	size_t i;

	json_array_foreach(names, i, name)
		if (strcmp(json_string_value(name), "rpcrdma2_nvfs"))
			add_holder(holders, "module", json_incref(name));
	json_decref(names);
}

/* What has neither mount nor listener any more, but a device still */
static void add_connections(json_t *holders)
{
	json_t *all = nl_open() ? NULL : nl_get(RPCRDMA2_CMD_CONN_GET, true,
						&connection_set, NULL);
	json_t *conn;
	size_t i;

	json_array_foreach(all, i, conn) {
		int id = json_integer_value(json_object_get(conn, "id"));
		const char *device = json_string_value(json_object_get(conn,
								"device"));
		const char *peer = json_string_value(json_object_get(conn,
								"peer_address"));

		add_holder(holders, "connection",
			   json_sprintf("%d with %s on device %s", id,
					peer ?: "?", device ?: "?"));
	}
	json_decref(all);
}

static long references(const char *dir)
{
	char *text = sys_read("%s/refcnt", dir);
	long n = text ? atol(text) : 0;

	free(text);
	return n;
}

/* rpcrdma2_nvfs is unloaded, too, unless a driver has registered with it. */
static void add_driver(json_t *holders)
{
	if (references(NVFS_DIR))
		add_holder(holders, "driver",
			   json_string("nvidia-fs (end programs that use GPUDirect Storage)"));
}

static json_t *find_holders(void)
{
	json_t *holders = json_array();
	long n = references(MODULE_DIR) - sys_exists(NVFS_DIR);

	add_mounts(holders);
	add_listeners(holders);
	add_modules(holders);
	add_driver(holders);
	add_connections(holders);
	if (n && !json_array_size(holders))
		add_holder(holders, "other",
			   json_sprintf("%ld users, in another network namespace or terminating",
					n));
	return holders;
}

static int remove_module(void)
{
	const char *argv[] = { "modprobe", "-r", "rpcrdma2", NULL };
	const char *both[] = { "modprobe", "-r", "rpcrdma2_nvfs", "rpcrdma2",
			       NULL };
	int ret = sys_run(sys_exists(NVFS_DIR) ? both : argv);

	return ret < 0 ? fail("modprobe", ret) : ret ? RC_ERROR : RC_OK;
}

static void print_holders(const json_t *holders, bool unloaded)
{
	json_t *all, *holder;
	size_t i;

	if (opt_json) {
		all = json_pack("{s:b, s:O}", "unloaded", unloaded, "holders",
				holders);
		print_json(all);
		json_decref(all);
		return;
	}
	json_array_foreach(holders, i, holder)
		printf("%s: %s\n",
		       json_string_value(json_object_get(holder, "kind")),
		       json_string_value(json_object_get(holder, "name")));
}

/**
 * cmd_unload - remove the module, or say who holds it
 * @argc: words
 * @argv: unload
 *
 * Return: exit status: RC_FALLBACK if somebody holds it
 */
int cmd_unload(int argc, char **argv)
{
	json_t *holders;
	int ret;

	(void)argv;
	if (argc > 1)
		return usage_error("unload");
	if (!sys_exists(MODULE_DIR)) {
		fputs("rpcrdma2: the module rpcrdma2 is not loaded\n", stderr);
		return RC_NOT_LOADED;
	}
	holders = find_holders();
	ret = json_array_size(holders) ? RC_FALLBACK : remove_module();
	print_holders(holders, ret == RC_OK);
	json_decref(holders);
	return ret;
}
