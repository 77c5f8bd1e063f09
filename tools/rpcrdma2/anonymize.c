// SPDX-License-Identifier: GPL-2.0
/*
 * Names of hosts are those that it was told of. What looks like an address is one, and
 * every path is replaced that does not belong to the system: rather one too many.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "anonymize.h"
#include "nl.h"

/* From what there was to what is there now; those of hosts are made beforehand. */
static json_t *hosts, *addresses, *paths;

/* Nobody is known by these, unless something was mounted there. */
static const char *const system_paths[] = {
	"/proc", "/sys", "/lib", "/usr/lib", "/usr/src", "/boot",
	"/etc/modprobe.d", "/etc/systemd", "/etc/fstab", "/var/lib/dkms",
	"/dev", "/updates", "/kernel",
};

static json_t *table(json_t **t)
{
	if (!*t)
		*t = json_object();
	return *t;
}

static const char *name_for(json_t **t, const char *kind, const char *old,
			    size_t len)
{
	json_t *names = table(t), *name = json_object_getn(names, old, len);

	if (!name) {
		name = json_sprintf("%s-%zu", kind, json_object_size(names) + 1);
		json_object_setn_new(names, old, len, name);
	}
	return json_string_value(name);
}

/* ---- hosts ---- */

/**
 * anonymize_host - this is the name of a host
 * @name: it, or an address, which is found as such
 */
void anonymize_host(const char *name)
{
	size_t len = strcspn(name, ".");

	if (!*name || !strncmp(name, "localhost", 9) ||
	    strspn(name, "0123456789.") == strlen(name) || strchr(name, ':'))
		return;
	name_for(&hosts, "host", name, strlen(name));
	/* By its short name as well, and the domain */
	if (name[len]) {
		name_for(&hosts, "host", name, len);
		name_for(&hosts, "host", name + len + 1,
			 strlen(name + len + 1));
	}
}

/**
 * anonymize_source - this is what a mount is made of
 * @source: HOST:PATH
 */
void anonymize_source(const char *source)
{
	const char *path = strstr(source, ":/");
	char *host;

	if (!path)
		return;
	host = strndup(source, path - source);
	anonymize_host(host);
	free(host);
	anonymize_dir(path + 1);
}

/**
 * anonymize_dir - this path is not one of the system's, wherever it is
 * @path: it
 */
void anonymize_dir(const char *path)
{
	if (path[0] == '/' && path[1])
		name_for(&paths, "/path", path, strlen(path));
}

/* ---- what a text has at some place ---- */

static bool in_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '-';
}

static size_t host_at(const char *at)
{
	size_t best = 0, len;
	const char *name;
	json_t *value;

	json_object_foreach(table(&hosts), name, value) {
		len = strlen(name);
		if (len > best && !strncasecmp(at, name, len) &&
		    !in_word(at[len]))
			best = len;
	}
	return best;
}

static size_t count(const char *at, size_t len, char c)
{
	size_t n = 0;

	while (len--)
		n += at[len] == c;
	return n;
}

/* IPv6, MAC addresses, GUIDs: three colons and nothing else, or less if that is an
 * address all the same. The time of day has two.
 */
static size_t colons_at(const char *at)
{
	size_t len = strspn(at, "0123456789abcdefABCDEF:.");
	unsigned char addr[16];
	char word[64];

	while (len && (at[len - 1] == '.' ||
		       (at[len - 1] == ':' && (len < 2 || at[len - 2] != ':'))))
		len--;
	if (len >= sizeof(word) || count(at, len, ':') < 2)
		return 0;
	memcpy(word, at, len);
	word[len] = '\0';
	if (count(at, len, ':') > 2 || inet_pton(AF_INET6, word, addr) == 1)
		return len;
	return 0;
}

/* Four numbers, or more: rpcbind's addresses end with two for the port. */
static size_t dots_at(const char *at)
{
	size_t len = strspn(at, "0123456789.");

	while (len && at[len - 1] == '.')
		len--;
	return count(at, len, '.') >= 3 ? len : 0;
}

static size_t address_at(const char *at)
{
	return colons_at(at) ?: dots_at(at);
}

static bool is_system(const char *at, size_t len)
{
	size_t i, n;

	for (i = 0; i < ARRAY_SIZE(system_paths); i++) {
		n = strlen(system_paths[i]);
		if (n <= len && !strncmp(at, system_paths[i], n) &&
		    (n == len || at[n] == '/'))
			return true;
	}
	return false;
}

/* Not "/" alone. One that is part of a path of ours is one of ours. */
static size_t path_at(const char *at)
{
	size_t len = strcspn(at, " \t\n,\"';()[]{}<>=:|");
	size_t n = 0;
	const char *name;
	json_t *value;

	if (at[0] != '/' || len < 2 || at[1] == '/')
		return 0;
	json_object_foreach(table(&paths), name, value) {
		n = strlen(name);
		if (!strncmp(at, name, n) && (at[n] == '/' || n == len))
			return len;
	}
	return is_system(at, len) ? 0 : len;
}

/* The name of what is at @at, of which there are @len; NULL: nothing of ours */
static const char *replacement(const char *text, const char *at, size_t *len)
{
	bool start = at == text || !in_word(at[-1]);

	*len = start ? host_at(at) : 0;
	if (*len)
		return name_for(&hosts, "host", at, *len);
	*len = start ? address_at(at) : 0;
	if (*len)
		return name_for(&addresses, "addr", at, *len);
	*len = start ? path_at(at) : 0;
	if (*len)
		return name_for(&paths, "/path", at, *len);
	return NULL;
}

/**
 * anonymize - put other names in
 * @text: what to read
 *
 * Return: what there is to show, which the caller frees
 */
char *anonymize(const char *text)
{
	const char *at = text, *name;
	char *out = NULL;
	size_t size, len;
	FILE *f = open_memstream(&out, &size);

	while (*at) {
		name = replacement(text, at, &len);
		if (name)
			fputs(name, f);
		else
			fputc(*at, f);
		at += name ? len : 1;
	}
	fclose(f);
	return out;
}
