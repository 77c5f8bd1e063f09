// SPDX-License-Identifier: GPL-2.0
/*
 * Runs the command rpcrdma2 and reads what it prints. popen() does not copy the
 * memory of this process, which registered memory would not survive.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "rp.h"
#include "command.h"

#define REFUSED	2		/* exit status, see rpcrdma2(8) */

/**
 * struct output - what a command prints
 * @pipe: from it
 * @line: the last line, its name only
 * @value: behind the name
 */
struct output {
	FILE	*pipe;
	char	line[256];
	char	*value;
};

__attribute__((format(printf, 2, 3)))
static void begin(struct output *o, const char *fmt, ...)
{
	char command[160];
	va_list ap;

	rp_needs_module();
	va_start(ap, fmt);
	vsnprintf(command, sizeof(command), fmt, ap);
	va_end(ap);
	rp_tell("%s", command);
	o->pipe = popen(command, "r");
	rp_check(o->pipe, "no process for %s", command);
}

/* Lines are "NAME: VALUE", or empty between connections. */
static bool next(struct output *o)
{
	if (!fgets(o->line, sizeof(o->line), o->pipe))
		return false;
	o->line[strcspn(o->line, "\n")] = 0;
	o->value = strstr(o->line, ": ");
	if (o->value) {
		*o->value = 0;
		o->value += 2;
	} else {
		o->value = o->line + strlen(o->line);
	}
	return true;
}

static bool is(const struct output *o, const char *name)
{
	return !strcmp(o->line, name);
}

static long number(const struct output *o)
{
	return strtol(o->value, NULL, 10);
}

static int end(struct output *o)
{
	int status = pclose(o->pipe);

	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void end_well(struct output *o)
{
	int status = end(o);

	rp_check(!status, "rpcrdma2 cannot look into the module (status %d)",
		 status);
}

static bool ends_with_port(const char *addr, unsigned int port)
{
	const char *colon = strrchr(addr, ':');

	return colon && strtoul(colon + 1, NULL, 10) == port;
}

long cmd_shows(const char *role, unsigned int port, const char *name)
{
	bool ready = false, wanted = false;
	long id = -1, n = -1;
	struct output o;

	begin(&o, "rpcrdma2 show %s", role);
	while (next(&o)) {
		if (is(&o, "id")) {
			id = number(&o);
			wanted = false;
		} else if (is(&o, "state")) {
			ready = !strcmp(o.value, "ready");
		} else if (is(&o, "peer_address")) {
			wanted = n < 0 && ready && ends_with_port(o.value, port);
			if (wanted && !strcmp(name, "id"))
				n = id;
		} else if (wanted && is(&o, name)) {
			n = number(&o);
		}
	}
	end_well(&o);
	return n;
}

long cmd_ended(const char *role, const char *name)
{
	struct output o;
	long n = -1;

	begin(&o, "rpcrdma2 show module %s", role);
	while (next(&o))
		if (is(&o, name))
			n = number(&o);
	end_well(&o);
	return n;
}

struct cmd_memory cmd_memory(void)
{
	struct cmd_memory m = {};
	struct output o;
	long one = 0;

	begin(&o, "rpcrdma2 show server");
	while (next(&o)) {
		if (is(&o, "id")) {
			m.connections++;
			one = 0;
		} else if (is(&o, "receive_memory") ||
			   is(&o, "send_memory") || is(&o, "rpc_memory")) {
			one += number(&o);
			m.all += number(&o);
			if (one > m.one)
				m.one = one;
		}
	}
	end_well(&o);
	return m;
}

/* An order to the module about that connection */
static bool order(const char *role, unsigned int port, const char *verb,
		  const char *words)
{
	long id = cmd_shows(role, port, "id");
	struct output o;
	int status;

	rp_check(id >= 0, "no connection is shown");
	begin(&o, "rpcrdma2 %s %ld %s 2>&1", verb, id, words);
	while (next(&o))
		rp_tell("%s: %s", o.line, o.value);
	status = end(&o);
	rp_check(!status || status == REFUSED, "rpcrdma2 %s: status %d", verb,
		 status);
	return !status;
}

bool cmd_change(const char *role, unsigned int port, const char *words)
{
	return order(role, port, "change", words);
}

bool cmd_forget(const char *role, unsigned int port)
{
	return order(role, port, "forget", "");
}

/**
 * struct entry - an entry of the policy table that is ours
 * @role: of whom
 * @peer: about whom, at which address
 */
static struct entry {
	const char	*role;
	const char	*peer;
} entries[4];
static unsigned int nr_entries;

static int policy(const char *verb, const struct entry *e, const char *words)
{
	struct output o;

	begin(&o, "rpcrdma2 policy %s %s %s %s 2>&1", verb, e->role, e->peer,
	      words);
	while (next(&o))
		rp_tell("%s: %s", o.line, o.value);
	return end(&o);
}

static void policy_put_back(void)
{
	unsigned int i;

	for (i = 0; i < nr_entries; i++)
		policy("delete", &entries[i], "");
}

void cmd_policy_of(const char *role, const char *peer, const char *words)
{
	struct entry *e = entries;

	while (e < entries + nr_entries &&
	       (strcmp(e->role, role) || strcmp(e->peer, peer)))
		e++;
	rp_check(e < entries + 4, "too many policies");
	if (!nr_entries)
		atexit(policy_put_back);
	if (e == entries + nr_entries)
		nr_entries++;
	*e = (struct entry){ role, peer };
	rp_check(!policy("set", e, words), "%s is refused", words);
}

void cmd_policy(const char *role, const char *words)
{
	cmd_policy_of(role, "0.0.0.0/0", words);
	cmd_policy_of(role, "::/0", words);
}

const char *cmd_path_state(const char *server)
{
	static char found[32];
	char state[32] = "";
	bool wanted = false;
	struct output o;

	found[0] = 0;
	begin(&o, "rpcrdma2 show paths");
	while (next(&o)) {
		if (is(&o, "server")) {
			wanted = !strcmp(o.value, server);
		} else if (is(&o, "state")) {
			snprintf(state, sizeof(state), "%s", o.value);
		} else if (!o.line[0]) {		/* the next one */
			wanted = false;
			state[0] = 0;
		}
		if (wanted && state[0])
			strcpy(found, state);
	}
	end_well(&o);
	return found;
}
