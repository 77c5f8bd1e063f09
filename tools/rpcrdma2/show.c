// SPDX-License-Identifier: GPL-2.0
/*
 * show, status, monitor: connections, for people and for scripts.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <linux/rpcrdma2_netlink.h>

#include "cmd.h"
#include "nl.h"
#include "sys.h"

static const char *text(const json_t *object, const char *name)
{
	const char *value = json_string_value(json_object_get(object, name));

	return value ?: "-";
}

static long long number(const json_t *object, const char *name)
{
	return json_integer_value(json_object_get(object, name));
}

/* ---- show ---- */

static void print_properties(const json_t *array)
{
	const json_t *p;
	size_t i;

	json_array_foreach(array, i, p) {
		printf("%s: local %lld peer %lld\n", text(p, "id"),
		       number(p, "local"), number(p, "peer"));
		printf("%s asked: %lld %s\n", text(p, "id"), number(p, "asked"),
		       text(p, "result"));
	}
}

static void print_object(json_t *object)
{
	const char *name;
	json_t *value;

	json_object_foreach(object, name, value) {
		if (json_is_object(value))
			print_object(value);
		else if (json_is_array(value))
			print_properties(value);
		else if (json_is_string(value))
			printf("%s: %s\n", name, json_string_value(value));
		else
			printf("%s: %lld\n", name, json_integer_value(value));
	}
}

/* The connections with a peer at that address */
static json_t *get_by_peer(const char *address)
{
	struct sockaddr_in in = { .sin_family = AF_INET };
	struct sockaddr_in6 in6 = { .sin6_family = AF_INET6 };
	struct nl_arg args[] = {
		{ RPCRDMA2_A_CONNECTION_PEER_ADDRESS, ATTR_ADDRESS, 0, &in,
		  sizeof(in) }, { }
	};

	if (inet_pton(AF_INET6, address, &in6.sin6_addr) == 1) {
		args[0].address = &in6;
		args[0].len = sizeof(in6);
	} else if (inet_pton(AF_INET, address, &in.sin_addr) != 1) {
		errno = EINVAL;
		return NULL;
	}
	return nl_get(RPCRDMA2_CMD_CONN_GET, true, &connection_set, args);
}

/* Returns false with errno set if that is no role. */
static bool role_arg(struct nl_arg *arg, int type, const char *role)
{
	int number = nl_word(&module_set.attrs[RPCRDMA2_A_MODULE_ROLE], role);

	if (number < 0)
		errno = EINVAL;
	*arg = (struct nl_arg){ type, ATTR_U32, number, NULL, 0 };
	return number >= 0;
}

/**
 * get_connections - what the module tells of connections
 * @which: an id, "client", "server", or NULL for all
 *
 * Return: an array of them; NULL with errno set
 */
json_t *get_connections(const char *which)
{
	struct nl_arg args[2] = { };
	unsigned int id;
	bool one = which && to_number(which, &id);

	if (one)
		args[0] = (struct nl_arg){ RPCRDMA2_A_CONNECTION_ID, ATTR_U32,
					   id, NULL, 0 };
	else if (which && !role_arg(args, RPCRDMA2_A_CONNECTION_ROLE, which))
		return NULL;
	return nl_get(RPCRDMA2_CMD_CONN_GET, !one, &connection_set, args);
}

/**
 * get_module - what the module tells of itself
 * @role: "client" or "server", what it tells of that role as well; or NULL
 *
 * Return: an array with one object; NULL with errno set
 */
json_t *get_module(const char *role)
{
	struct nl_arg args[2] = { };

	if (role && !role_arg(args, RPCRDMA2_A_MODULE_ROLE, role))
		return NULL;
	return nl_get(RPCRDMA2_CMD_MODULE_GET, false, &module_set, args);
}

/* Why a path is not up */
static const char *path_reason(const json_t *path)
{
	long long reason = -number(path, "reason");

	if (reason == EACCES)
		return "may be another server";
	return reason ? strerror(reason) : "-";
}

/**
 * cmd_show - all that is known of connections, or of the module
 * @argc: words
 * @argv: show [client|server|ID|peer ADDRESS|paths|module [client|server]]
 *
 * Return: exit status
 */
int cmd_show(int argc, char **argv)
{
	const char *which = argc > 1 ? argv[1] : NULL;
	json_t *all, *conn;
	size_t i;

	if (argc == 3 && !strcmp(which, "peer"))
		all = get_by_peer(argv[2]);
	else if (argc == 2 && !strcmp(which, "paths"))
		all = get_paths();
	else if (argc <= 3 && which && !strcmp(which, "module"))
		all = get_module(argv[2]);
	else if (argc <= 2)
		all = get_connections(which);
	else
		return usage_error("show [client|server|ID|peer ADDRESS|paths|module [client|server]]");
	if (!all)
		return fail(which ?: "show", -errno);
	if (opt_json) {
		print_json(all);
	} else {
		json_array_foreach(all, i, conn) {
			if (i)
				putchar('\n');
			print_object(conn);
		}
	}
	json_decref(all);
	return RC_OK;
}

/* ---- status ---- */

/* Not settled yet is not version 2 either. */
static bool speaks_v2(const json_t *conn)
{
	return number(conn, "version") == 2;
}

static void print_status(const json_t *conn)
{
	bool client = !strcmp(text(conn, "role"), "client");

	printf("%-5lld %-6s %-24s %-8s %-10s v%-2lld %4lld %6lld %6lld %-3s %s\n",
	       number(conn, "id"), text(conn, "role"), text(conn, "peer_address"),
	       text(conn, "device"), text(conn, "state"),
	       number(conn, "version"),
	       number(conn, client ? "credits_granted_by_peer" :
				     "credits_granted_to_peer"),
	       number(conn, "inline_send"), number(conn, "inline_recv"),
	       number(conn, "remote_invalidation") ? "yes" : "no",
	       text(conn, "version_reason_text"));
}

/* The same columns as words */
#define STATUS_WORDS "%-5s %-6s %-24s %-8s %-10s %-3s %4s %6s %6s %-3s %s\n"

static void print_without(const json_t *row)
{
	bool client = !strcmp(text(row, "role"), "client");

	printf(STATUS_WORDS, "-", text(row, "role"),
	       client ? text(row, "peer_address") : "-", "-",
	       text(row, "state"), "-", "-", "-", "-", "-",
	       text(row, client ? "mount" : "listener"));
}

/* The driver for GPUDirect Storage, which is registered while a program uses it */
static json_t *gpudirect(const json_t *all)
{
	char *registered = sys_read(NVFS_DIR "/parameters/registered");
	long long bytes = 0;
	json_t *conn, *row = NULL;
	size_t i;

	json_array_foreach(all, i, conn)
		bytes += number(json_object_get(conn, "counters"),
				"gpudirect_bytes");
	if (registered)
		row = json_pack("{s:s, s:s, s:I}", "role", "gpu", "state",
				*registered == 'Y' ? "registered" : "ready",
				"gpudirect_bytes", (json_int_t)bytes);
	free(registered);
	return row;
}

static void print_gpudirect(const json_t *row)
{
	char bytes[48];

	snprintf(bytes, sizeof(bytes), "%lld bytes of GPU memory",
		 number(row, "gpudirect_bytes"));
	printf(STATUS_WORDS, "-", text(row, "role"), "nvidia-fs", "-",
	       text(row, "state"), "-", "-", "-", "-", "-", bytes);
}

#define PATH_WORDS "%-20s %-20s %-20s %-8s %5s %14s %8s %9s %s\n"

static void print_path(const json_t *path)
{
	char conns[16], bytes[32], failures[16], age[32];

	snprintf(conns, sizeof(conns), "%lld", number(path, "connections"));
	snprintf(bytes, sizeof(bytes), "%lld", number(path, "bytes"));
	snprintf(failures, sizeof(failures), "%lld", number(path, "failures"));
	snprintf(age, sizeof(age), "%lld s", number(path, "changed") / 1000);
	printf(PATH_WORDS, text(path, "mount"), text(path, "local"), text(path, "server"),
	       text(path, "state"), conns, bytes, failures, age, path_reason(path));
}

/* Add the paths to what is shown. */
static void status_paths(json_t *all)
{
	json_t *paths = get_paths(), *path;
	size_t i;

	if (!opt_json && json_array_size(paths))
		printf("\n" PATH_WORDS, "MOUNTS", "FROM", "TO", "PATH", "CONNS", "BYTES",
		       "FAILURES", "SINCE", "WHY");
	json_array_foreach(paths, i, path) {
		if (!opt_json)
			print_path(path);
		json_object_set_new(path, "role", json_string("path"));
	}
	json_array_extend(all, paths);
	json_decref(paths);
}

/* What is idle is not looked for, and is no trouble. */
static bool waits(const json_t *row)
{
	return !strcmp(text(row, "state"), "connecting");
}

/**
 * cmd_status - a line for each connection, and for each mount and listener
 * without one, and for each path
 * @argc: words
 * @argv: status
 *
 * Return: exit status: RC_OK if everything speaks version 2, RC_FALLBACK if
 * something does not, RC_NOTHING if there is nothing
 */
int cmd_status(int argc, char **argv)
{
	json_t *all, *conn, *others, *row, *gpu;
	int ret = RC_NOTHING;
	size_t i;

	(void)argv;
	if (argc > 1)
		return usage_error("status");
	all = get_connections(NULL);
	if (!all)
		return fail("status", -errno);
	others = without_connection(all);
	gpu = gpudirect(all);
	if (!opt_json)
		printf(STATUS_WORDS, "ID", "ROLE", "PEER", "DEVICE", "STATE",
		       "VER", "CRED", "SEND", "RECV", "INV", "WHY");
	json_array_foreach(all, i, conn) {
		if (!opt_json)
			print_status(conn);
		if (ret != RC_FALLBACK)
			ret = speaks_v2(conn) ? RC_OK : RC_FALLBACK;
	}
	json_array_foreach(others, i, row) {
		if (!opt_json)
			print_without(row);
		if (waits(row))
			ret = RC_FALLBACK;
	}
	json_array_extend(all, others);
	if (gpu && !opt_json)
		print_gpudirect(gpu);
	if (gpu)
		json_array_append_new(all, gpu);
	status_paths(all);
	if (opt_json)
		print_json(all);
	json_decref(others);
	json_decref(all);
	return ret;
}

/* ---- monitor ---- */

static void print_event(json_t *event)
{
	time_t now = time(NULL);
	char at[16];

	if (opt_json) {
		json_dumpf(event, stdout, JSON_COMPACT);
		putchar('\n');
		fflush(stdout);
		return;
	}
	strftime(at, sizeof(at), "%T", localtime(&now));
	printf("%s %-9s %s %lld %s %s", at, text(event, "event"),
	       text(event, "role"), number(event, "id"),
	       text(event, "peer_address"), text(event, "device"));
	if (!strcmp(text(event, "role"), "client"))
		printf(" from %s", text(event, "local_address"));
	if (json_object_get(event, "version"))
		printf(" v%lld (%s)", number(event, "version"),
		       text(event, "version_reason_text"));
	if (number(event, "reason"))
		printf(": %s", strerror(-number(event, "reason")));
	putchar('\n');
	fflush(stdout);
}

/**
 * cmd_monitor - events as they come
 * @argc: words
 * @argv: monitor
 *
 * Return: exit status, if it ends
 */
int cmd_monitor(int argc, char **argv)
{
	(void)argv;
	if (argc > 1)
		return usage_error("monitor");
	return fail("monitor", nl_listen(&connection_set, print_event));
}
