// SPDX-License-Identifier: GPL-2.0
/*
 * stat: counters, summed up over the connections that there are and all that
 * have ended, for each role.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cmd.h"

static void add(json_t *sums, json_t *counters)
{
	const char *name;
	json_t *value;

	json_object_foreach(counters, name, value) {
		json_t *old = json_object_get(sums, name);

		json_object_set_new(sums, name,
				    json_integer(json_integer_value(old) +
						 json_integer_value(value)));
	}
}

/* The counters of what has ended are read first: a connection that ends in
 * between is missing once, none is counted twice.
 */
static json_t *sums_of(const char *role)
{
	json_t *ended = get_module(role), *conns = get_connections(role);
	json_t *sums = NULL, *conn;
	size_t i;

	if (ended && conns) {
		sums = json_object();
		json_object_set_new(sums, "connections",
				    json_integer(json_array_size(conns)));
		add(sums, json_object_get(json_array_get(ended, 0), "ended"));
		json_array_foreach(conns, i, conn)
			add(sums, json_object_get(conn, "counters"));
	}
	json_decref(ended);
	json_decref(conns);
	return sums;
}

static void print_table(json_t *client, json_t *server)
{
	const char *name;
	json_t *value;

	printf("%-26s %14s %14s\n", "", "client", "server");
	json_object_foreach(client, name, value)
		printf("%-26s %14lld %14lld\n", name,
		       json_integer_value(value),
		       json_integer_value(json_object_get(server, name)));
}

/* The text format of Prometheus; all but the number of connections only grow,
 * as long as connections do.
 */
static void print_prometheus(json_t *client, json_t *server)
{
	const char *name;
	json_t *value;

	json_object_foreach(client, name, value) {
		bool gauge = !strcmp(name, "connections");
		const char *total = gauge ? "" : "_total";
		const json_t *other = json_object_get(server, name);

		printf("# HELP rpcrdma2_%s%s See rpcrdma2(8).\n", name, total);
		printf("# TYPE rpcrdma2_%s%s %s\n", name, total,
		       gauge ? "gauge" : "counter");
		printf("rpcrdma2_%s%s{role=\"client\"} %lld\n", name, total,
		       json_integer_value(value));
		printf("rpcrdma2_%s%s{role=\"server\"} %lld\n", name, total,
		       json_integer_value(other));
	}
}

/* One number of all paths */
static void print_path_metric(const json_t *paths, const char *name, const char *help,
			      const char *field, bool gauge)
{
	const json_t *path, *local;
	size_t i;

	printf("# HELP rpcrdma2_path_%s %s\n", name, help);
	printf("# TYPE rpcrdma2_path_%s %s\n", name, gauge ? "gauge" : "counter");
	json_array_foreach(paths, i, path) {
		local = json_object_get(path, "local");
		printf("rpcrdma2_path_%s{mount=\"%s\",local=\"%s\",server=\"%s\"} %lld\n",
		       name, json_string_value(json_object_get(path, "mount")),
		       local ? json_string_value(local) : "",
		       json_string_value(json_object_get(path, "server")),
		       json_integer_value(json_object_get(path, field)));
	}
}

/* Counters of a path begin with the entry of the policy. */
static void print_path_metrics(void)
{
	json_t *paths = get_paths(), *path;
	size_t i;

	json_array_foreach(paths, i, path)
		json_object_set_new(path, "up", json_integer(!strcmp("up", json_string_value
				    (json_object_get(path, "state")))));
	if (json_array_size(paths)) {
		print_path_metric(paths, "up", "1 if the path is up.", "up", true);
		print_path_metric(paths, "connections", "Connections by this path.",
				  "connections", true);
		print_path_metric(paths, "bytes_total", "Bytes sent and received.", "bytes",
				  false);
		print_path_metric(paths, "errors_total",
				  "Failed attempts to connect, and lost connections.",
				  "failures", false);
	}
	json_decref(paths);
}

/**
 * get_sums - the counters of clients and of servers
 *
 * Return: an object with one for each role; NULL with errno set
 */
json_t *get_sums(void)
{
	json_t *client = sums_of("client");
	json_t *server = sums_of("server");

	if (client && server)
		return json_pack("{s:o, s:o}", "client", client, "server",
				 server);
	json_decref(client);
	json_decref(server);
	return NULL;
}

/**
 * cmd_stat - counters
 * @argc: words
 * @argv: stat [--prometheus]
 *
 * Return: exit status
 */
int cmd_stat(int argc, char **argv)
{
	bool prometheus = argc == 2 && !strcmp(argv[1], "--prometheus");
	json_t *both, *client, *server;

	if (argc > 1 + prometheus)
		return usage_error("stat [--prometheus]");
	both = get_sums();
	if (!both)
		return fail("stat", -errno);
	client = json_object_get(both, "client");
	server = json_object_get(both, "server");
	if (prometheus) {
		print_prometheus(client, server);
		print_path_metrics();
	} else if (opt_json) {
		print_json(both);
	} else {
		print_table(client, server);
	}
	json_decref(both);
	return RC_OK;
}
