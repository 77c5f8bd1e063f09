// SPDX-License-Identifier: GPL-2.0
/*
 * report: what somebody who looks into a bug wants to know of this machine, as files
 * in a tar archive.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "anonymize.h"
#include "cmd.h"
#include "nl.h"
#include "sys.h"

#define NAME	"rpcrdma2-report"

/* Files of the archive, by name */
static json_t *files;

static void add(const char *name, const char *text)
{
	size_t len = text ? strlen(text) : 0;

	while (len && text[len - 1] == '\n')
		len--;
	if (len)
		json_object_set_new(files, name, json_stringn(text, len) ?:
				    json_string("(not text)"));
}

static void add_json(const char *name, json_t *what)
{
	char *text = what ? json_dumps(what, JSON_INDENT(2)) : NULL;

	add(name, text);
	free(text);
	json_decref(what);
}

static void add_file(const char *name, const char *path)
{
	char *text = sys_read("%s", path);

	add(name, text);
	free(text);
}

static void add_output(const char *name, const char *const argv[])
{
	char *text = sys_output(argv);

	add(name, text);
	free(text);
}

/* The lines with one of some words */
static void add_lines(const char *name, const char *text,
		      const char *const words[])
{
	json_t *all = split(text, "\n"), *line;
	const char *const *word;
	char *out = NULL;
	size_t i, size;
	FILE *f = open_memstream(&out, &size);

	json_array_foreach(all, i, line) {
		const char *at = json_string_value(line);

		for (word = words; *word && !strcasestr(at, *word); word++)
			;
		if (*word)
			fprintf(f, "%s\n", at);
	}
	fclose(f);
	add(name, out);
	free(out);
	json_decref(all);
}

/* ---- what there is ---- */

static void add_versions(void)
{
	const char *dkms[] = { "dkms", "status", "rpcrdma2", NULL };
	const char *packages[] = { "dpkg-query", "-W", "rpcrdma2-dkms",
		"rpcrdma2-tools", "nfs-rdmaver", "nfs-common",
		"nfs-kernel-server", "rdma-core", NULL };
	const char *modinfo[] = { "modinfo", "rpcrdma2", NULL };
	struct utsname u;
	char *text;

	uname(&u);
	if (asprintf(&text, "%s %s %s %s", u.sysname, u.release, u.version,
		     u.machine) < 0)
		abort();
	add("kernel", text);
	free(text);
	add_file("os-release", "/etc/os-release");
	add_output("dkms", dkms);
	add_output("packages", packages);
	add_output("modinfo", modinfo);
	add_file("modprobe.conf", MODPROBE_FILE);
}

static void add_parameters(void)
{
	json_t *names = sys_list(MODULE_DIR "/parameters"), *name;
	json_t *values = json_object();
	size_t i;

	json_array_foreach(names, i, name) {
		char *value = sys_read(MODULE_DIR "/parameters/%s",
				       json_string_value(name));

		if (value)
			json_object_set_new(values, json_string_value(name),
					    json_string(value));
		free(value);
	}
	if (json_object_size(values))
		add_json("parameters.json", json_incref(values));
	json_decref(values);
	json_decref(names);
}

static void add_connections(void)
{
	if (!sys_exists(MODULE_DIR) || nl_open())
		return;
	add_json("show.json", get_connections(NULL));
	add_json("module-client.json", get_module("client"));
	add_json("module-server.json", get_module("server"));
	add_json("stat.json", get_sums());
}

static void add_devices(void)
{
	const char *dev[] = { "rdma", "-d", "dev", "show", NULL };
	const char *link[] = { "rdma", "link", "show", NULL };
	const char *res[] = { "rdma", "resource", "show", NULL };
	const char *addr[] = { "ip", "addr", "show", NULL };
	const char *modules[] = { "lsmod", NULL };

	add_output("rdma-dev", dev);
	add_output("rdma-link", link);
	add_output("rdma-resource", res);
	add_output("ip-addr", addr);
	add_output("lsmod", modules);
}

static void add_mounts(void)
{
	static const char *const nfs[] = { " nfs ", " nfs4 ", NULL };
	static const char *const both[] = { " nfs", "\tnfs", NULL };
	char *mounts = sys_read("/proc/self/mountinfo");
	char *fstab = sys_read("/etc/fstab");

	add_lines("mountinfo", mounts, nfs);
	add_lines("fstab", fstab, both);
	add_file("mountstats", "/proc/self/mountstats");
	add_file("portlist", PORTLIST);
	add_file("transports", "/proc/sys/sunrpc/transports");
	free(fstab);
	free(mounts);
}

static void add_kernel(void)
{
	static const char *const ours[] = { "rpcrdma", "xprtrdma", "svcrdma",
		"nfs", "RPC:", "infiniband", "rdma", NULL };
	static const char *const config[] = { "CONFIG_INFINIBAND", "CONFIG_RDMA",
		"CONFIG_SUNRPC", "CONFIG_NFS", "CONFIG_PREEMPT", "CONFIG_MODULE",
		"CONFIG_KASAN", "CONFIG_PROVE_LOCKING", NULL };
	const char *dmesg[] = { "dmesg", NULL };
	const char *zcat[] = { "zcat", "/proc/config.gz", NULL };
	char *log = sys_output(dmesg);
	char *text = sys_read("/boot/config-%s", sys_release());

	if (!text)
		text = sys_output(zcat);
	add_lines("dmesg", log, ours);
	add_lines("kernel-config", text, config);
	free(text);
	free(log);
}

/* ---- without names ---- */

static void learn_mounts(const char *file)
{
	json_t *mounts = sys_nfs_mounts(file), *words;
	size_t i;

	json_array_foreach(mounts, i, words) {
		struct mount m = to_mount(words);

		anonymize_source(m.source);
		anonymize_dir(m.dir);
	}
	json_decref(mounts);
}

static void learn_hosts_file(void)
{
	json_t *lines = sys_lines("/etc/hosts"), *line, *word;
	size_t i, j;

	json_array_foreach(lines, i, line) {
		json_t *words = split(json_string_value(line), " \t");

		/* The first is an address, or what is behind it a comment. */
		json_array_foreach(words, j, word)
			if (j && json_string_value(word)[0] != '#' &&
			    strncmp(json_string_value(word), "ip6-", 4))
				anonymize_host(json_string_value(word));
		json_decref(words);
	}
	json_decref(lines);
}

static const char *word_at(const json_t *words, size_t i)
{
	return json_string_value(json_array_get(words, i)) ?: "";
}

static bool is_verb(const char *word)
{
	static const char *const verbs[] = { "takes", "is", "does", "not", "OK" };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(verbs); i++)
		if (!strcmp(word, verbs[i]))
			return true;
	return false;
}

/* Servers that are mounted no more are "server NAME is ..." or "NAME:PORT" there. */
static void learn_log(const char *text)
{
	json_t *words = split(text, " \t\n,"), *word;
	char name[256];
	size_t i;
	int end;

	json_array_foreach(words, i, word) {
		const char *at = json_string_value(word);

		end = 0;
		if (sscanf(at, "%255[A-Za-z0-9.-]:%*u%n", name, &end) == 1 &&
		    end && name[strspn(name, "0123456789.")])
			anonymize_host(name);
		else if (!strcmp(at, "server") && !is_verb(word_at(words, i + 1)) &&
			 is_verb(word_at(words, i + 2)))
			anonymize_host(word_at(words, i + 1));
	}
	json_decref(words);
}

static void learn_names(void)
{
	const char *log = json_string_value(json_object_get(files, "dmesg"));
	char *name = sys_read("/proc/sys/kernel/hostname");

	if (name)
		anonymize_host(name);
	free(name);
	learn_hosts_file();
	learn_mounts("/proc/self/mounts");
	learn_mounts("/etc/fstab");
	learn_log(log);
}

static void anonymize_all(void)
{
	const char *name;
	json_t *value;
	void *next;

	learn_names();
	json_object_foreach_safe(files, next, name, value) {
		char *text = anonymize(json_string_value(value));

		json_object_set_new(files, name, json_string(text));
		free(text);
	}
}

/* ---- the archive ---- */

static int write_one(int dir, const char *name, const char *text)
{
	int fd = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL, 0600);
	FILE *f = fd < 0 ? NULL : fdopen(fd, "w");
	int ret;

	if (!f)
		return -errno;
	ret = fprintf(f, "%s\n", text) < 0 ? -errno : 0;
	return fclose(f) && !ret ? -errno : ret;
}

/* Writes the files, has them packed, takes them away. */
static int pack_files(int dir, const char *top, const char *file)
{
	const char *argv[] = { "tar", "-czf", file, "--owner=root:0",
			       "--group=root:0", "-C", top, NAME, NULL };
	const char *name;
	json_t *value;
	int ret = 0;

	json_object_foreach(files, name, value)
		ret = ret ?: write_one(dir, name, json_string_value(value));
	if (!ret)
		ret = sys_run(argv);
	json_object_foreach(files, name, value)
		unlinkat(dir, name, 0);
	return ret > 0 ? -EIO : ret;
}

static int pack_below(int top_fd, const char *top, const char *file)
{
	int dir, ret;

	if (mkdirat(top_fd, NAME, 0700))
		return -errno;
	dir = openat(top_fd, NAME, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	ret = dir < 0 ? -errno : pack_files(dir, top, file);
	if (dir >= 0)
		close(dir);
	unlinkat(top_fd, NAME, AT_REMOVEDIR);
	return ret;
}

/* What is in it is for nobody else, nor is the archive. */
static int make_archive(const char *file)
{
	char top[] = "/tmp/rpcrdma2.XXXXXX";
	int fd, ret;

	umask(077);
	if (!mkdtemp(top))
		return -errno;
	fd = open(top, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	ret = fd < 0 ? -errno : pack_below(fd, top, file);
	if (fd >= 0)
		close(fd);
	rmdir(top);
	return ret;
}

static void gather(void)
{
	files = json_object();
	add_versions();
	add_parameters();
	add_connections();
	add_devices();
	add_mounts();
	add_kernel();
	add_json("doctor.json", find_trouble());
}

/**
 * cmd_report - a tar archive for a bug report
 * @argc: words
 * @argv: report [--anonymize] [FILE]
 *
 * Return: exit status
 */
int cmd_report(int argc, char **argv)
{
	bool anonymous = argc > 1 && !strcmp(argv[1], "--anonymize");
	const char *file = argc > 1 + anonymous ? argv[1 + anonymous] : NULL;
	time_t now = time(NULL);
	char name[64];
	int ret;

	if (argc > 2 + anonymous || (file && file[0] == '-'))
		return usage_error("report [--anonymize] [FILE]");
	strftime(name, sizeof(name), NAME "-%Y%m%d-%H%M%S.tar.gz",
		 localtime(&now));
	file = file ?: name;
	gather();
	if (anonymous)
		anonymize_all();
	ret = make_archive(file);
	json_decref(files);
	if (ret)
		return fail(file, ret);
	if (opt_json)
		printf("{ \"file\": \"%s\" }\n", file);
	else
		printf("%s\n", file);
	return RC_OK;
}
