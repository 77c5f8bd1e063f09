// SPDX-License-Identifier: GPL-2.0
/*
 * policy: what is wanted of connections with which peers.
 *
 * An entry is a JSON object with the attributes of the netlink family, and a line
 * of words, which the command line, the output and rpcrdma2.conf have in common:
 *
 *	ROLE default|ADDRESS[/LENGTH] [port PORT] NAME VALUE ...
 *
 * The lists "paths" and "local" of a line are pairs of addresses for the kernel.
 *
 * Here is only what concerns words. Which numbers are good is known to the kernel.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <linux/rpcrdma2_netlink.h>

#include "cmd.h"
#include "nl.h"

#define CONF		"/etc/rpcrdma2.conf"
#define MAX_WORDS	64
/* Attributes with the values of an entry: from the first to the last, but is_value() */
#define FIRST		RPCRDMA2_A_POLICY_VERSIONS
#define LAST		RPCRDMA2_A_POLICY_TRUST_PATHS

static const char usage[] =
	"policy [show [client|server]]\n"
	"       rpcrdma2 policy get client|server ADDRESS [port PORT]\n"
	"       rpcrdma2 policy set client|server default|ADDRESS[/LENGTH] [port PORT] NAME VALUE ...\n"
	"       rpcrdma2 policy delete client|server default|ADDRESS[/LENGTH] [port PORT]\n"
	"       rpcrdma2 policy load [FILE]\n"
	"       rpcrdma2 policy save";

/* ---- from words to an entry ---- */

/* What is wrong with the words */
static char wrong[512];

static bool expected(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(wrong, sizeof(wrong), format, args);
	va_end(args);
	return false;
}

static void set_number(json_t *entry, const char *name, unsigned int number)
{
	json_object_set_new(entry, name, json_integer(number));
}

static void set_text(json_t *entry, const char *name, const char *word)
{
	json_object_set_new(entry, name, json_string(word));
}

static bool take_role(json_t *entry, const char *word)
{
	if (!word ||
	    nl_word(&policy_set.attrs[RPCRDMA2_A_POLICY_ROLE], word) < 0)
		return expected("expected client or server, not '%s'",
				word ?: "");
	set_text(entry, "role", word);
	return true;
}

/* The family of an address, which gets its usual spelling; 0 if it is none */
static int read_address(char *host, size_t size)
{
	static const int families[] = { AF_INET, AF_INET6 };
	unsigned char addr[16];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(families); i++) {
		if (inet_pton(families[i], host, addr) != 1)
			continue;
		inet_ntop(families[i], addr, host, size);
		return families[i];
	}
	return 0;
}

static bool take_prefix(json_t *entry, const char *word)
{
	unsigned int bits, length;
	char host[64], *slash;
	int family;

	if (word && !strcmp(word, "default"))
		return true;
	snprintf(host, sizeof(host), "%s", word ?: "");
	slash = strchr(host, '/');
	if (slash)
		*slash++ = 0;
	family = read_address(host, sizeof(host));
	if (!family)
		return expected("expected default or an address with or without /LENGTH, not '%s'",
				word ?: "");
	bits = family == AF_INET ? 32 : 128;
	length = bits;
	if (slash && (!to_number(slash, &length) || length > bits))
		return expected("expected a length up to %u after the address, not '%s'",
				bits, slash);
	set_text(entry, family == AF_INET ? "addr4" : "addr6", host);
	set_number(entry, "prefix_length", length);
	return true;
}

static bool take_port(json_t *entry, const char *word)
{
	unsigned int port;

	if (!word || !to_number(word, &port) || !port || port > 65535)
		return expected("expected a port from 1 to 65535, not '%s'",
				word ?: "");
	set_number(entry, "port", port);
	return true;
}

static bool is_value(int attr)
{
	return attr != RPCRDMA2_A_POLICY_CHECK;
}

/* The words that @attr can be, or NULL for the names of all values */
static void list_words(char *list, size_t size, const struct attr *attr)
{
	size_t n = 0, i;

	if (attr) {
		for (i = 0; attr->words[i] && n < size; i++)
			n += snprintf(list + n, size - n, " %s",
				      attr->words[i]);
		return;
	}
	for (i = FIRST; i <= LAST && n < size; i++)
		if (is_value(i))
			n += snprintf(list + n, size - n, " %s",
				      policy_set.attrs[i].name);
	if (n < size)
		snprintf(list + n, size - n, " paths local");
}

static const struct attr *find_value(const char *name)
{
	int i;

	for (i = FIRST; i <= LAST; i++)
		if (is_value(i) && !strcmp(policy_set.attrs[i].name, name))
			return &policy_set.attrs[i];
	return NULL;
}

static void add_address(json_t *list, const char *host)
{
	const json_t *one;
	size_t i;

	json_array_foreach(list, i, one)
		if (!strcmp(json_string_value(one), host))
			return;
	json_array_append_new(list, json_string(host));
}

/* Those of an interface, but for link-local ones. Returns false if it has none. */
static bool add_interface(json_t *list, const char *name)
{
	size_t before = json_array_size(list);
	struct ifaddrs *all = NULL, *i;
	char host[INET6_ADDRSTRLEN];
	const void *addr;

	getifaddrs(&all);
	for (i = all; i; i = i->ifa_next) {
		const struct sockaddr_in6 *six = (void *)i->ifa_addr;
		const struct sockaddr_in *four = (void *)i->ifa_addr;

		if (!four || strcmp(i->ifa_name, name))
			continue;
		if (four->sin_family == AF_INET)
			addr = &four->sin_addr;
		else if (six->sin6_family == AF_INET6 &&
			 !IN6_IS_ADDR_LINKLOCAL(&six->sin6_addr))
			addr = &six->sin6_addr;
		else
			continue;
		add_address(list, inet_ntop(four->sin_family, addr, host,
					    sizeof(host)));
	}
	freeifaddrs(all);
	return json_array_size(list) > before;
}

/* Addresses, with commas in between; "local" takes interfaces as well. */
static bool take_list(json_t *entry, const char *name, const char *word)
{
	bool local = !strcmp(name, "local");
	char words[512], host[64], *next = words, *one;
	json_t *list = json_array();

	json_object_set_new(entry, name, list);
	snprintf(words, sizeof(words), "%s", word ?: "");
	while ((one = strsep(&next, ","))) {
		snprintf(host, sizeof(host), "%s", one);
		if (read_address(host, sizeof(host)))
			add_address(list, host);
		else if (local && add_interface(list, one))
			json_object_set_new(entry, "interface", json_true());
		else
			return expected("expected addresses%s after %s, with commas in between, not '%s'",
					local ? " or interfaces that have some" : "",
					name, one);
	}
	return true;
}

static bool take_value(json_t *entry, const char *name, const char *word)
{
	const struct attr *attr = find_value(name);
	unsigned int number;
	char list[256];

	if (!strcmp(name, "paths") || !strcmp(name, "local"))
		return json_object_get(entry, name) ?
			expected("%s is given twice", name) :
			take_list(entry, name, word);
	if (!attr) {
		list_words(list, sizeof(list), NULL);
		return expected("expected one of%s, not '%s'", list, name);
	}
	if (json_object_get(entry, name))
		return expected("%s is given twice", name);
	if (!attr->words) {
		if (!word || !to_number(word, &number))
			return expected("expected a number after %s, not '%s'",
					name, word ?: "");
		set_number(entry, name, number);
		return true;
	}
	if (!word || nl_word(attr, word) < 0) {
		list_words(list, sizeof(list), attr);
		return expected("expected one of%s after %s, not '%s'", list,
				name, word ?: "");
	}
	set_text(entry, name, word);
	return true;
}

/* Role, prefix and port. Returns how many words they were, 0 if they are wrong. */
static int take_key(json_t *entry, int argc, char **argv)
{
	if (!take_role(entry, argc > 0 ? argv[0] : NULL) ||
	    !take_prefix(entry, argc > 1 ? argv[1] : NULL))
		return 0;
	if (argc < 3 || strcmp(argv[2], "port"))
		return 2;
	return take_port(entry, argc > 3 ? argv[3] : NULL) ? 4 : 0;
}

/* Returns NULL if the words are @wrong. */
static json_t *words_to_key(int argc, char **argv)
{
	json_t *entry = json_object();
	int n = take_key(entry, argc, argv);

	if (n == argc)
		return entry;
	if (n)
		expected("expected nothing more, not '%s'", argv[n]);
	json_decref(entry);
	return NULL;
}

static bool is_six(const json_t *host)
{
	return strchr(json_string_value(host), ':');
}

/* One path, unless the families differ; without @local the route decides. */
static void add_pair(json_t *pairs, json_t *server, json_t *local)
{
	json_t *pair;

	if (local && is_six(server) != is_six(local))
		return;
	pair = json_object();
	json_object_set(pair, "server", server);
	if (local)
		json_object_set(pair, "local", local);
	json_array_append_new(pairs, pair);
}

static bool in_pairs(const json_t *pairs, const char *end, const json_t *host)
{
	const json_t *pair;
	size_t i;

	json_array_foreach(pairs, i, pair)
		if (json_equal(json_object_get(pair, end), host))
			return true;
	return false;
}

/* All pairs, those first that have no address in common */
static bool make_pairs(json_t *entry)
{
	const char *own = json_string_value(json_object_get(entry, "addr4")) ?:
			  json_string_value(json_object_get(entry, "addr6"));
	json_t *paths = json_object_get(entry, "paths"), *pairs, *servers, *host;
	json_t *local = json_object_get(entry, "local");
	size_t i, k, n = json_array_size(local);
	bool lacks;

	if (!paths && !local)
		return true;
	if (!own)
		return expected("paths and local are for the address of a server");
	pairs = json_array();
	json_object_set_new(entry, "addresses", pairs);
	servers = json_array();
	add_address(servers, own);
	json_array_foreach(paths, i, host)
		add_address(servers, json_string_value(host));
	for (k = 0; k < (n ?: 1); k++)
		json_array_foreach(servers, i, host)
			add_pair(pairs, host, n ? json_array_get(local, (i + k) % n) : NULL);
	json_array_foreach(servers, i, host)
		if (!in_pairs(pairs, "server", host))
			break;
	lacks = i < json_array_size(servers);
	json_decref(servers);
	if (lacks)
		return expected("local has no address for all addresses of the server");
	/* An interface may have addresses of a family that the server does not have */
	json_array_foreach(local, i, host)
		if (!in_pairs(pairs, "local", host) && !json_object_get(entry, "interface"))
			return expected("the server has no address for %s",
					json_string_value(host));
	return true;
}

static json_t *words_to_entry(int argc, char **argv)
{
	json_t *entry = json_object();
	int n = take_key(entry, argc, argv);
	bool good = n;

	if (good && n == argc)
		good = expected("expected settings for these peers");
	for (; good && n < argc; n += 2)
		good = take_value(entry, argv[n],
				  n + 1 < argc ? argv[n + 1] : NULL);
	if (good && make_pairs(entry))
		return entry;
	json_decref(entry);
	return NULL;
}

static int complain(void)
{
	fprintf(stderr, "rpcrdma2: policy: %s\n", wrong);
	return RC_ERROR;
}

/* ---- from an entry to words ---- */

/* Which peers, in words */
static void key_to_words(const json_t *entry, char *words, size_t size)
{
	const char *addr = json_string_value(json_object_get(entry, "addr4"));
	int port = json_integer_value(json_object_get(entry, "port"));
	char prefix[80] = "default", at[16] = "";

	if (!addr)
		addr = json_string_value(json_object_get(entry, "addr6"));
	if (addr)
		snprintf(prefix, sizeof(prefix), "%s/%d", addr,
			 (int)json_integer_value(json_object_get(entry,
							"prefix_length")));
	if (port)
		snprintf(at, sizeof(at), " port %d", port);
	snprintf(words, size, "%s %s%s",
		 json_string_value(json_object_get(entry, "role")), prefix, at);
}

/* The list that one end of the paths was made of, but the address of the entry */
static void print_list(const json_t *entry, const char *name, const char *end)
{
	const char *own = json_string_value(json_object_get(entry, "addr4")) ?:
			  json_string_value(json_object_get(entry, "addr6"));
	json_t *list = json_array(), *one;
	const char *host;
	size_t i;

	json_array_foreach(json_object_get(entry, "path"), i, one) {
		host = json_string_value(json_object_get
				(json_object_get(one, "addresses"), end));
		if (host && strcmp(host, own ?: ""))
			add_address(list, host);
	}
	if (json_array_size(list))
		printf(" %s", name);
	json_array_foreach(list, i, one)
		printf("%c%s", i ? ',' : ' ', json_string_value(one));
	json_decref(list);
}

static void print_entry(const json_t *entry)
{
	const json_t *value;
	char words[128];
	int i;

	key_to_words(entry, words, sizeof(words));
	fputs(words, stdout);
	for (i = FIRST; i <= LAST; i++) {
		value = json_object_get(entry, policy_set.attrs[i].name);
		if (json_is_string(value))
			printf(" %s %s", policy_set.attrs[i].name,
			       json_string_value(value));
		else if (value)
			printf(" %s %lld", policy_set.attrs[i].name,
			       (long long)json_integer_value(value));
	}
	print_list(entry, "paths", "server");
	print_list(entry, "local", "local");
	putchar('\n');
}

static int print_entries(json_t *entries, bool json)
{
	const json_t *entry;
	size_t i;

	if (!entries)
		return fail("policy", -errno);
	if (json)
		print_json(entries);
	else
		json_array_foreach(entries, i, entry)
			print_entry(entry);
	json_decref(entries);
	return RC_OK;
}

/* ---- commands ---- */

static json_t *get_table(void)
{
	return nl_get(RPCRDMA2_CMD_POLICY_GET, true, &policy_set, NULL);
}

/**
 * get_paths - the paths of all entries of the table
 *
 * Return: an array with an object for each path
 */
json_t *get_paths(void)
{
	json_t *entries = get_table(), *all = json_array(), *entry, *path;
	const json_t *own;
	size_t i, k;

	json_array_foreach(entries, i, entry) {
		own = json_object_get(entry, "addr4") ?: json_object_get(entry, "addr6");
		json_array_foreach(json_object_get(entry, "path"), k, path) {
			path = json_copy(path);
			json_object_update(path, json_object_get(path, "addresses"));
			json_object_del(path, "addresses");
			json_object_set_new(path, "mount", json_copy((json_t *)own));
			json_array_append_new(all, path);
		}
	}
	json_decref(entries);
	return all;
}

static int policy_show(int argc, char **argv)
{
	json_t *entries;
	size_t i;

	if (argc > 1)
		return usage_error(usage);
	entries = get_table();
	for (i = json_array_size(entries); argc && i--;)
		if (strcmp(argv[0], json_string_value(json_object_get
				(json_array_get(entries, i), "role"))))
			json_array_remove(entries, i);
	return print_entries(entries, opt_json);
}

static int policy_save(int argc, char **argv)
{
	(void)argv;
	return argc ? usage_error(usage) : print_entries(get_table(), false);
}

static int policy_get(int argc, char **argv)
{
	json_t *key = words_to_key(argc, argv), *found;

	if (!key)
		return complain();
	json_object_del(key, "prefix_length");
	found = nl_ask(RPCRDMA2_CMD_POLICY_GET, &policy_set, key);
	json_decref(key);
	return print_entries(found, opt_json);
}

static int change(int cmd, json_t *entry)
{
	int ret;

	if (!entry)
		return complain();
	ret = nl_put(cmd, &policy_set, entry);
	json_decref(entry);
	return ret ? fail("policy", ret) : RC_OK;
}

static int policy_set_entry(int argc, char **argv)
{
	return change(RPCRDMA2_CMD_POLICY_SET, words_to_entry(argc, argv));
}

static int policy_delete(int argc, char **argv)
{
	return change(RPCRDMA2_CMD_POLICY_DEL, words_to_key(argc, argv));
}

/* ---- a file ---- */

/**
 * struct conf - what a file says
 * @name: of the file
 * @entries: in the order of their lines
 * @lines: the number of the line of each of these, by the words of its key
 * @line: that is being read
 */
struct conf {
	const char	*name;
	json_t		*entries;
	json_t		*lines;
	int		line;
};

static int wrong_line(const struct conf *conf, int line, const char *why)
{
	fprintf(stderr, "%s:%d: %s\n", conf->name, line, why);
	return RC_ERROR;
}

static int add_line(struct conf *conf, char *text)
{
	char *words[MAX_WORDS + 1], key[128], *state;
	json_t *entry, *before;
	int n = 0;

	text[strcspn(text, "#\n")] = 0;
	for (words[n] = strtok_r(text, " \t\r", &state);
	     words[n] && n < MAX_WORDS;
	     words[n] = strtok_r(NULL, " \t\r", &state))
		n++;
	if (!n)
		return RC_OK;
	entry = words_to_entry(n, words);
	if (!entry)
		return wrong_line(conf, conf->line, wrong);
	key_to_words(entry, key, sizeof(key));
	before = json_object_get(conf->lines, key);
	if (before) {
		json_decref(entry);
		expected("line %lld is about the same peers",
			 (long long)json_integer_value(before));
		return wrong_line(conf, conf->line, wrong);
	}
	set_number(conf->lines, key, conf->line);
	json_array_append_new(conf->entries, entry);
	return RC_OK;
}

static int read_lines(struct conf *conf, FILE *file)
{
	int ret = RC_OK;
	char *text = NULL;
	size_t size = 0;
	ssize_t len;

	for (conf->line = 1; ret == RC_OK; conf->line++) {
		len = getline(&text, &size, file);
		if (len < 0)
			break;
		if (strlen(text) != (size_t)len)
			ret = wrong_line(conf, conf->line, "expected text");
		else
			ret = add_line(conf, text);
	}
	if (ferror(file))
		ret = fail(conf->name, -errno);
	free(text);
	return ret;
}

static int read_conf(struct conf *conf)
{
	bool standard = !strcmp(conf->name, "-");
	FILE *file = standard ? stdin : fopen(conf->name, "r");
	int ret;

	if (!file)
		return fail(conf->name, -errno);
	ret = read_lines(conf, file);
	if (!standard)
		fclose(file);
	return ret;
}

/* Nothing is changed before the kernel has said yes to all of it. */
static int send_entries(const struct conf *conf, bool check)
{
	char key[128], why[512];
	const char *reason;
	json_t *entry;
	size_t i;
	int err;

	json_array_foreach(conf->entries, i, entry) {
		if (check)
			json_object_set_new(entry, "check", json_true());
		else
			json_object_del(entry, "check");
		err = nl_put(RPCRDMA2_CMD_POLICY_SET, &policy_set, entry);
		if (!err)
			continue;
		reason = nl_why();
		snprintf(why, sizeof(why), "%s%s%s", strerror(-err),
			 *reason ? ": " : "", reason);
		key_to_words(entry, key, sizeof(key));
		return wrong_line(conf, json_integer_value
				  (json_object_get(conf->lines, key)), why);
	}
	return RC_OK;
}

/* Returns 0 also if somebody else was faster. */
static int remove_entry(const json_t *entry)
{
	json_t *key = json_object();
	const char *name;
	int i, ret;

	for (i = RPCRDMA2_A_POLICY_ROLE; i <= RPCRDMA2_A_POLICY_PORT; i++) {
		name = policy_set.attrs[i].name;
		json_object_set(key, name, json_object_get(entry, name));
	}
	ret = nl_put(RPCRDMA2_CMD_POLICY_DEL, &policy_set, key);
	json_decref(key);
	return ret == -ENOENT ? 0 : ret;
}

/* What the table says and the file does not */
static int remove_others(const struct conf *conf)
{
	json_t *entry, *table = get_table();
	int ret = 0;
	char key[128];
	size_t i;

	if (!table)
		return fail("policy", -errno);
	json_array_foreach(table, i, entry) {
		key_to_words(entry, key, sizeof(key));
		if (!json_object_get(conf->lines, key))
			ret = remove_entry(entry);
		if (ret)
			break;
	}
	json_decref(table);
	return ret ? fail("policy", ret) : RC_OK;
}

static int policy_load(int argc, char **argv)
{
	struct conf conf = {
		.name		= argc ? argv[0] : CONF,
		.entries	= json_array(),
		.lines		= json_object(),
	};
	int ret;

	if (argc > 1)
		return usage_error(usage);
	ret = read_conf(&conf);
	if (ret == RC_OK)
		ret = send_entries(&conf, true);
	if (ret == RC_OK)
		ret = send_entries(&conf, false);
	if (ret == RC_OK)
		ret = remove_others(&conf);
	json_decref(conf.entries);
	json_decref(conf.lines);
	return ret;
}

/**
 * cmd_policy - look at the policy table and change it
 * @argc: words
 * @argv: policy [show|get|set|delete|load|save] ...
 *
 * Return: exit status
 */
int cmd_policy(int argc, char **argv)
{
	static const struct {
		const char	*name;
		int		(*run)(int argc, char **argv);
	} actions[] = {
		{ "show", policy_show },
		{ "get", policy_get },
		{ "set", policy_set_entry },
		{ "delete", policy_delete },
		{ "load", policy_load },
		{ "save", policy_save },
	};
	size_t i;

	if (argc == 1)
		return policy_show(0, NULL);
	for (i = 0; i < ARRAY_SIZE(actions); i++)
		if (!strcmp(argv[1], actions[i].name))
			return actions[i].run(argc - 2, argv + 2);
	return usage_error(usage);
}
