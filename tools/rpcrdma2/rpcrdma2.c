// SPDX-License-Identifier: GPL-2.0
/*
 * rpcrdma2 - look at RPC-over-RDMA version 2 and change what it does
 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd.h"
#include "nl.h"

bool opt_json;

struct command {
	const char	*name;
	int		(*run)(int argc, char **argv);
	const char	*help;
};

/* What asks the module */
static const struct command commands[] = {
	{ "status", cmd_status,
	  "                 one line per connection: version and reason" },
	{ "show", cmd_show,
	  "[client|server|ID|peer ADDRESS|module]   all details" },
	{ "stat", cmd_stat,
	  "[--prometheus]    counters, summed for clients and for servers" },
	{ "monitor", cmd_monitor,
	  "                 events as they occur" },
	{ "change", cmd_change,
	  "ID [own] rbsiz|brs VALUE   change a property" },
	{ "forget", cmd_forget,
	  "ID               offer version 2 again next time" },
	{ "reconnect", cmd_reconnect,
	  "ID               end the connection; a mount reconnects" },
	{ "policy", cmd_policy,
	  "[show|get|set|delete|load|save] ...   settings by peer" },
};

/* What has something to do without the module, too */
static const struct command local_commands[] = {
	{ "setup", cmd_setup,
	  "replace|beside|off [--server] [--dry-run]   use from the next boot on" },
	{ "doctor", cmd_doctor,
	  "                 find problems, with cause and remedy" },
	{ "report", cmd_report,
	  "[--anonymize] [FILE]   make a tar archive for a bug report" },
	{ "unload", cmd_unload,
	  "                 remove the module, or list its users" },
};

static void list(FILE *out, const struct command *c, size_t n)
{
	for (; n; n--, c++)
		fprintf(out, "  %-9s %s\n", c->name, c->help);
}

static void help(FILE *out)
{
	fputs("usage: rpcrdma2 [--json] COMMAND ...\n\n", out);
	list(out, commands, ARRAY_SIZE(commands));
	list(out, local_commands, ARRAY_SIZE(local_commands));
	fputs("\nSee rpcrdma2(8) for details.\n", out);
}

/**
 * fail - say why something could not be done
 * @what: it
 * @err: a negative errno
 *
 * Return: the status to exit with
 */
int fail(const char *what, int err)
{
	const char *why = nl_why();

	fprintf(stderr, "rpcrdma2: %s: %s%s%s\n", what, strerror(-err),
		*why ? ": " : "", why);
	return RC_ERROR;
}

/**
 * usage_error - say that arguments are not understood
 * @what: how they should be
 *
 * Return: the status to exit with
 */
int usage_error(const char *what)
{
	fprintf(stderr, "usage: rpcrdma2 %s\n", what);
	return RC_ERROR;
}

/**
 * to_number - read a number
 * @word: it
 * @number: its value
 *
 * Return: true if @word is a number of 32 bits and nothing else
 */
bool to_number(const char *word, unsigned int *number)
{
	unsigned long long n;
	char *end;

	errno = 0;
	n = strtoull(word, &end, 0);
	*number = n;
	return *word >= '0' && *word <= '9' && !*end && !errno &&
	       n <= 0xffffffff;
}

/**
 * print_json - write JSON for people to read
 * @what: the object or array
 */
void print_json(const json_t *what)
{
	json_dumpf(what, stdout, JSON_INDENT(2));
	putchar('\n');
}

static const struct command *find(const struct command *c, size_t n,
				  const char *name)
{
	for (; n; n--, c++)
		if (!strcmp(name, c->name))
			return c;
	return NULL;
}

static int run(int argc, char **argv)
{
	const struct command *ask = find(commands, ARRAY_SIZE(commands),
					 argv[0]);
	const struct command *local = find(local_commands,
					   ARRAY_SIZE(local_commands), argv[0]);
	int ret;

	if (!ask && !local) {
		fprintf(stderr, "rpcrdma2: no command '%s'\n", argv[0]);
		help(stderr);
		return RC_ERROR;
	}
	ret = ask ? nl_open() : 0;
	if (ret == -ENOENT) {
		fputs("rpcrdma2: the module rpcrdma2 is not loaded\n", stderr);
		return RC_NOT_LOADED;
	}
	if (ret)
		return fail("netlink", ret);
	ret = (ask ?: local)->run(argc, argv);
	if (fflush(stdout))
		return fail("standard output", -errno);
	return ret;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "json", no_argument, NULL, 'j' },
		{ "help", no_argument, NULL, 'h' },
		{ }
	};
	int c;

	while ((c = getopt_long(argc, argv, "+jh", options, NULL)) != -1) {
		switch (c) {
		case 'j':
			opt_json = true;
			break;
		case 'h':
			help(stdout);
			return RC_OK;
		default:
			return RC_ERROR;
		}
	}
	if (optind == argc) {
		help(stderr);
		return RC_ERROR;
	}
	return run(argc - optind, argv + optind);
}
