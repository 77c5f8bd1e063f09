// SPDX-License-Identifier: GPL-2.0
/*
 * setup: whether the module goes beside the stock one or in its place, and whether
 * nfsd listens, from the next boot on. What is to be done is found out first, as a
 * list of steps; then they are taken, or only told.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd.h"
#include "nl.h"
#include "sys.h"

/* By this line a file is known as ours. */
#define OWN	"# Written by \"rpcrdma2 setup\", which also takes it away.\n"

/* Without a module for this kernel, modprobe goes on with the stock one. */
static const char replace_text[] = OWN
	"options rpcrdma2 replace=1\n"
	"softdep rpcrdma2 post: rpcrdma2_nvfs\n"
	"install rpcrdma /sbin/modprobe rpcrdma2 $CMDLINE_OPTS || "
	"/sbin/modprobe --ignore-install rpcrdma $CMDLINE_OPTS\n";

static const char beside_text[] = OWN
	"options rpcrdma2 replace=0\n";

static const struct mode {
	const char	*name;
	const char	*text;	/* of the file; NULL: no file, no listener */
	const char	*next;	/* what makes it so before the next boot */
} modes[] = {
	{ "replace", replace_text,
	  "without NFS/RDMA mounts and listeners: modprobe -r rpcrdma rpcrdma2; modprobe rpcrdma2" },
	{ "beside", beside_text,
	  "without NFS/RDMA mounts and listeners: modprobe -r rpcrdma2; modprobe rpcrdma2" },
	{ "off", NULL, "rpcrdma2 unload" },
};

struct options {
	const struct mode	*mode;
	bool			server;
	bool			dry_run;
};

static void add_step(json_t *steps, const char *action, const char *on,
		     const char *text)
{
	json_array_append_new(steps, json_pack("{s:s, s:s, s:s*}", "action",
					       action, "on", on, "text", text));
}

/* ---- what is to be done ---- */

/* Returns false if there is a file that we have not written. */
static bool plan_file(json_t *steps, const char *text)
{
	char *old = sys_read(MODPROBE_FILE);
	size_t len = text ? strlen(text) - 1 : 0;	/* as sys_read() */
	bool ours = !old || !strncmp(old, OWN, strlen(OWN));

	if (ours && text && (!old || strlen(old) != len ||
			     strncmp(old, text, len)))
		add_step(steps, "write", MODPROBE_FILE, text);
	else if (ours && !text && old)
		add_step(steps, "remove", MODPROBE_FILE, NULL);
	free(old);
	return ours;
}

static void plan_listener(json_t *steps, const struct options *o)
{
	json_t *ports = listener_ports(), *port;
	bool there = false;
	char unit[64];
	size_t i;

	json_array_foreach(ports, i, port) {
		const char *number = json_string_value(port);

		there = there || !strcmp(number, NFS_RDMA_PORT);
		snprintf(unit, sizeof(unit), LISTENER "%s.service", number);
		if (!o->mode->text)
			add_step(steps, "disable", unit, NULL);
	}
	if (o->server && !there)
		add_step(steps, "enable", LISTENER NFS_RDMA_PORT ".service", NULL);
	json_decref(ports);
}

/* ---- doing it ---- */

/* Nobody sees half a file. */
static int write_file(const char *name, const char *text)
{
	char *path = sys_path(name), *new;
	FILE *f;
	int ret = 0;

	if (asprintf(&new, "%s.new", path) < 0)
		abort();
	f = fopen(new, "w");
	if (!f || fputs(text, f) < 0 || fflush(f) || fsync(fileno(f)))
		ret = -errno;
	if (f && fclose(f) && !ret)
		ret = -errno;
	if (!ret && rename(new, path))
		ret = -errno;
	if (ret && f)
		unlink(new);
	free(new);
	free(path);
	return ret;
}

static int remove_file(const char *name)
{
	char *path = sys_path(name);
	int ret = unlink(path) ? -errno : 0;

	free(path);
	return ret;
}

/* Works without a running systemd as well. */
static int systemctl(const char *verb, const char *unit)
{
	char *root = sys_path("/");
	const char *argv[] = { "systemctl", "--quiet", "--root", root, verb,
			       unit, NULL };
	const char *here[] = { "systemctl", "--quiet", verb, unit, NULL };
	int ret = sys_run(strcmp(root, "/") ? argv : here);

	free(root);
	return ret > 0 ? -EIO : ret;
}

static int take(const json_t *step)
{
	const char *action = json_string_value(json_object_get(step, "action"));
	const char *on = json_string_value(json_object_get(step, "on"));

	if (!strcmp(action, "write"))
		return write_file(on, json_string_value(json_object_get(step,
								"text")));
	if (!strcmp(action, "remove"))
		return remove_file(on);
	return systemctl(action, on);
}

static void tell(const json_t *step, bool dry_run)
{
	const char *text = json_string_value(json_object_get(step, "text"));

	printf("%s%s %s%s\n", dry_run ? "would " : "",
	       json_string_value(json_object_get(step, "action")),
	       json_string_value(json_object_get(step, "on")),
	       text ? ":" : "");
	if (text)
		fputs(text, stdout);
}

static int take_all(const json_t *steps, const struct options *o)
{
	json_t *step;
	size_t i;
	int ret;

	json_array_foreach(steps, i, step) {
		ret = o->dry_run ? 0 : take(step);
		if (ret)
			return fail(json_string_value(json_object_get(step,
								"on")), ret);
		if (!opt_json)
			tell(step, o->dry_run);
	}
	return RC_OK;
}

/* What works now and will not */
static void warn(const struct options *o)
{
	if (o->mode->text == replace_text && gpudirect_lost())
		fputs("rpcrdma2: warning: GPUDirect Storage works with the stock module of this kernel, and will not with rpcrdma2: the module rpcrdma2_nvfs is not installed\n",
		      stderr);
}

static void tell_end(json_t *steps, const struct options *o)
{
	json_t *all;

	if (opt_json) {
		all = json_pack("{s:s, s:b, s:O}", "mode", o->mode->name,
				"dry_run", o->dry_run, "steps", steps);
		print_json(all);
		json_decref(all);
	} else if (!json_array_size(steps)) {
		puts("nothing to do");
	} else if (!o->dry_run) {
		printf("in effect from the next boot on; to apply it now, %s\n",
		       o->mode->next);
		if (o->server)
			puts("then: systemctl start " LISTENER NFS_RDMA_PORT);
	}
}

/* ---- the command ---- */

static const struct mode *find_mode(const char *name)
{
	size_t i;

	for (i = 0; name && i < ARRAY_SIZE(modes); i++)
		if (!strcmp(modes[i].name, name))
			return &modes[i];
	return NULL;
}

static bool parse(int argc, char **argv, struct options *o)
{
	static const struct option options[] = {
		{ "server", no_argument, NULL, 's' },
		{ "dry-run", no_argument, NULL, 'n' },
		{ }
	};
	int c;

	optind = 0;
	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (c == '?')
			return false;
		o->server = o->server || c == 's';
		o->dry_run = o->dry_run || c == 'n';
	}
	o->mode = find_mode(argv[optind]);
	return o->mode && optind + 1 == argc && !(o->server && !o->mode->text);
}

/**
 * cmd_setup - what the module is to do from the next boot on
 * @argc: words
 * @argv: setup replace|beside|off [--server] [--dry-run]
 *
 * Return: exit status
 */
int cmd_setup(int argc, char **argv)
{
	struct options o = { };
	json_t *steps;
	int ret;

	if (!parse(argc, argv, &o))
		return usage_error("setup replace|beside|off [--server] [--dry-run]");
	steps = json_array();
	if (!plan_file(steps, o.mode->text)) {
		fputs("rpcrdma2: \"rpcrdma2 setup\" did not write " MODPROBE_FILE
		      ": move the file away first\n", stderr);
		json_decref(steps);
		return RC_ERROR;
	}
	plan_listener(steps, &o);
	warn(&o);
	ret = take_all(steps, &o);
	if (!ret)
		tell_end(steps, &o);
	json_decref(steps);
	return ret;
}
