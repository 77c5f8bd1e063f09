// SPDX-License-Identifier: GPL-2.0
/*
 * Reads files, runs programs. Whatever cannot be read is as good as not there.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sys.h"

extern char **environ;

/**
 * sys_path - where a file is
 * @path: as everybody calls it
 *
 * Return: the path to use; the caller frees it
 */
char *sys_path(const char *path)
{
	const char *root = getenv("RPCRDMA2_TEST_ROOT");
	char *full;

	if (asprintf(&full, "%s%s", root ?: "", path) < 0)
		abort();
	return full;
}

static char *format_path(const char *fmt, va_list args)
{
	char *path, *full;

	if (vasprintf(&path, fmt, args) < 0)
		abort();
	full = sys_path(path);
	free(path);
	return full;
}

/**
 * sys_release - the kernel that runs
 *
 * Return: what uname -r says
 */
const char *sys_release(void)
{
	static struct utsname name;

	uname(&name);
	return name.release;
}

/**
 * sys_exists - is there a file or directory?
 * @fmt: its path
 *
 * Return: true if so
 */
bool sys_exists(const char *fmt, ...)
{
	va_list args;
	char *path;
	bool there;

	va_start(args, fmt);
	path = format_path(fmt, args);
	va_end(args);
	there = !access(path, F_OK);
	free(path);
	return there;
}

static char *read_all(FILE *f)
{
	char *text = NULL;
	size_t size = 0;

	/* No file of these has a byte 0 that matters, up to there is enough. */
	if (getdelim(&text, &size, '\0', f) < 0) {
		free(text);
		text = strdup("");
	}
	return text;
}

static char *read_path(const char *path)
{
	FILE *f = fopen(path, "r");
	char *text;

	if (!f)
		return NULL;
	text = read_all(f);
	fclose(f);
	return text;
}

/**
 * sys_read - all of a file of text
 * @fmt: its path
 *
 * Return: its text, without the last newlines, which the caller frees; or NULL
 */
char *sys_read(const char *fmt, ...)
{
	char *path, *text;
	va_list args;
	size_t len;

	va_start(args, fmt);
	path = format_path(fmt, args);
	va_end(args);
	text = read_path(path);
	free(path);
	for (len = text ? strlen(text) : 0; len && text[len - 1] == '\n'; len--)
		text[len - 1] = '\0';
	return text;
}

/**
 * split - the words of a text
 * @text: it, or NULL
 * @separators: what is between them
 *
 * Return: an array of strings, without empty ones
 */
json_t *split(const char *text, const char *separators)
{
	json_t *array = json_array();
	size_t len;

	for (; text && *text; text += len) {
		text += strspn(text, separators);
		len = strcspn(text, separators);
		if (len)
			json_array_append_new(array, json_stringn_nocheck(text,
									  len));
	}
	return array;
}

/**
 * sys_lines - the lines of a file
 * @fmt: its path
 *
 * Return: an array of strings, without empty ones
 */
json_t *sys_lines(const char *fmt, ...)
{
	char *path, *text;
	json_t *lines;
	va_list args;

	va_start(args, fmt);
	path = format_path(fmt, args);
	va_end(args);
	text = read_path(path);
	lines = split(text, "\n");
	free(text);
	free(path);
	return lines;
}

static int visible(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

/**
 * sys_list - what is in a directory
 * @fmt: its path
 *
 * Return: an array of names, sorted; an empty one if there is no such directory
 */
json_t *sys_list(const char *fmt, ...)
{
	json_t *names = json_array();
	struct dirent **entries;
	va_list args;
	char *path;
	int i, n;

	va_start(args, fmt);
	path = format_path(fmt, args);
	va_end(args);
	n = scandir(path, &entries, visible, alphasort);
	for (i = 0; i < n; i++) {
		json_array_append_new(names, json_string(entries[i]->d_name));
		free(entries[i]);
	}
	if (n >= 0)
		free(entries);
	free(path);
	return names;
}

/* Runs a program, with its output to @out if that is a file descriptor. */
static int spawn(const char *const argv[], int out, pid_t *pid)
{
	posix_spawn_file_actions_t actions;
	int ret;

	posix_spawn_file_actions_init(&actions);
	if (out >= 0) {
		posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
		posix_spawn_file_actions_addopen(&actions, STDERR_FILENO,
						 "/dev/null", 1, 0);
	}
	ret = posix_spawnp(pid, argv[0], &actions, NULL, (char *const *)argv,
			   environ);
	posix_spawn_file_actions_destroy(&actions);
	return -ret;
}

static int status_of(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

/**
 * sys_output - what a program says
 * @argv: program and arguments
 *
 * Return: its standard output, which the caller frees; NULL if it is not there or
 * has failed
 */
char *sys_output(const char *const argv[])
{
	int ret, fds[2];
	char *text;
	pid_t pid;
	FILE *f;

	if (pipe2(fds, O_CLOEXEC))
		return NULL;
	ret = spawn(argv, fds[1], &pid);
	close(fds[1]);
	f = fdopen(fds[0], "r");
	text = read_all(f);
	fclose(f);
	if (!ret)
		ret = status_of(pid);
	if (ret) {
		free(text);
		return NULL;
	}
	return text;
}

/**
 * sys_run - run a program
 * @argv: program and arguments
 *
 * Return: its exit status, or a negative errno
 */
int sys_run(const char *const argv[])
{
	pid_t pid;
	int ret = spawn(argv, -1, &pid);

	return ret ?: status_of(pid);
}

/**
 * module_parameter - has a parameter of the module that is loaded that value?
 * @name: of the parameter
 * @value: as the kernel prints it
 *
 * Return: true if so
 */
bool module_parameter(const char *name, const char *value)
{
	char *text = sys_read(MODULE_DIR "/parameters/%s", name);
	bool same = text && !strcmp(text, value);

	free(text);
	return same;
}

/**
 * sys_nfs_mounts - mounts of NFS
 * @file: /etc/fstab, or /proc/PID/mounts
 *
 * Return: an array, with the words of a line for each; see to_mount()
 */
json_t *sys_nfs_mounts(const char *file)
{
	json_t *mounts = json_array(), *lines = sys_lines("%s", file), *line;
	size_t i;

	json_array_foreach(lines, i, line) {
		const char *text = json_string_value(line);
		json_t *words = split(text, " \t");
		struct mount m = to_mount(words);

		if (text[0] != '#' && m.options &&
		    (!strcmp(m.type, "nfs") || !strcmp(m.type, "nfs4")))
			json_array_append(mounts, words);
		json_decref(words);
	}
	json_decref(lines);
	return mounts;
}

/**
 * to_mount - the fields of a mount
 * @words: one of sys_nfs_mounts(), which the strings belong to
 *
 * Return: its fields; NULL for those that are not there
 */
struct mount to_mount(const json_t *words)
{
	return (struct mount){
		json_string_value(json_array_get(words, 0)),
		json_string_value(json_array_get(words, 1)),
		json_string_value(json_array_get(words, 2)),
		json_string_value(json_array_get(words, 3)),
	};
}

/**
 * has_option - does a mount have an option?
 * @m: mount
 * @option: the whole of it
 *
 * Return: true if so
 */
bool has_option(const struct mount *m, const char *option)
{
	const char *at = m->options;
	size_t len = strlen(option);

	while (at) {
		if (!strncmp(at, option, len) && (!at[len] || at[len] == ','))
			return true;
		at = strchr(at, ',');
		at += !!at;
	}
	return false;
}

/**
 * asks_rdma - does a mount name RDMA?
 * @m: mount
 *
 * Return: true if so
 */
bool asks_rdma(const struct mount *m)
{
	return has_option(m, "proto=rdma") || has_option(m, "proto=rdma6") ||
	       has_option(m, "rdma");
}

/**
 * listener_ports - where nfsd is to listen, by a unit that is enabled
 *
 * Return: an array of ports, as strings
 */
json_t *listener_ports(void)
{
	json_t *ports = json_array(), *names = sys_list(WANTS_DIR), *name;
	size_t i;

	json_array_foreach(names, i, name) {
		char port[8];

		if (sscanf(json_string_value(name),
			   LISTENER "%7[0-9].service", port) == 1)
			json_array_append_new(ports, json_string(port));
	}
	json_decref(names);
	return ports;
}

/* Whether a module of this kernel, loaded or not, has the function that nvidia-fs calls */
static bool takes_gpudirect(const char *module)
{
	json_t *lines = sys_lines("/lib/modules/%s/modules.symbols", sys_release());
	json_t *line;
	char want[96];
	bool yes = false;
	size_t i;

	snprintf(want, sizeof(want),
		 "alias symbol:rpcrdma_register_nvfs_dma_ops %s", module);
	json_array_foreach(lines, i, line)
		yes = yes || !strcmp(json_string_value(line), want);
	json_decref(lines);
	return yes;
}

/**
 * gpudirect_lost - does GPUDirect Storage work with the stock module only?
 *
 * Return: true if so
 */
bool gpudirect_lost(void)
{
	return takes_gpudirect("rpcrdma") && !takes_gpudirect("rpcrdma2_nvfs");
}

/**
 * uses_us - is a mount this module's?
 * @m: mount that there is
 *
 * Beside the stock transport, only what names version 2 is ours.
 *
 * Return: true if so
 */
bool uses_us(const struct mount *m)
{
	return asks_rdma(m) && (module_parameter("replace", "Y") ||
				has_option(m, "rdmaver=2"));
}

/**
 * our_listeners - where nfsd listens with this module
 *
 * Return: an array of lines, class and port
 */
json_t *our_listeners(void)
{
	bool all = module_parameter("replace", "Y");
	json_t *ours = json_array(), *lines = sys_lines(PORTLIST), *line;
	size_t i;

	json_array_foreach(lines, i, line) {
		const char *text = json_string_value(line);

		if (!strncmp(text, "rdma2 ", 6) ||
		    (all && !strncmp(text, "rdma ", 5)))
			json_array_append(ours, line);
	}
	json_decref(lines);
	return ours;
}
