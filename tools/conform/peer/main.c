// SPDX-License-Identifier: GPL-2.0
/*
 * The command line: which cases, against whom, and what is written of them.
 * rpcrdma2-conform(1) describes it.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "rp.h"
#include "jobs.h"
#include "report.h"
#include "run.h"
#include "self.h"

#define MAX_PICKS	64

/* Which cases: empty lists mean all that are run without being asked for */
static const char *groups[MAX_PICKS];
static unsigned int nr_groups;
static char **names;
static unsigned int nr_names;
static unsigned int levels;		/* 1 << MUST and so on */

static enum jobs_how jobs_how = JOBS_HAND;
static unsigned int agent_port;
static bool list_only, show_output;

static struct {
	const char	*path;
	void		(*write)(FILE *f, const struct run *runs);
} reports[] = {
	{ NULL, report_text }, { NULL, report_json }, { NULL, report_html },
};

#define NR_REPORTS	(sizeof(reports) / sizeof(reports[0]))

static int usage(void)
{
	fprintf(stderr,
		"usage: rpcrdma2-conform server ADDRESS [OPTION...] [CASE...]\n"
		"       rpcrdma2-conform client ADDRESS [OPTION...] [CASE...]\n"
		"       rpcrdma2-conform agent ADDRESS PORT\n"
		"       rpcrdma2-conform list [OPTION...] [GROUP]\n"
		"       rpcrdma2-conform self\n"
		"\n"
		"server: tests the server at ADDRESS; client: waits at ADDRESS for the\n"
		"client under test. Selection of cases:\n"
		"  --level L[,L]     must, should, decision, trouble, or all (default)\n"
		"  --group GROUP     only of this group (may be repeated)\n"
		"  --list            list the cases without running them\n"
		"Peer:\n"
		"  --port N          default 20049\n"
		"  --export PATH     export of the server, for cases with files\n"
		"  --peer-version 1  the peer supports version 1 only\n"
		"  --no-connprop-answer  the server does not answer CONNPROP\n"
		"  --agent PORT      \"agent\" runs on the client, and connects here\n"
		"  --here            the client is on this machine\n"
		"  --second ADDRESS  also wait there, for clients with several paths\n"
		"  --mount-options O additional options for every mount\n"
		"  --module          test rpcrdma2 on this machine, with its counters\n"
		"Run and report:\n"
		"  --scale N         factor for all time limits\n"
		"  --dev rxe|siw     device reports invalidated handles, or not\n"
		"  -v                print events\n"
		"  --text F, --json F, --html F  write a report\n");
	return 2;
}

/* ---- which cases ---- */

/* Groups that want something of the machine the other end runs on */
static bool is_special(const struct rp_case *c)
{
	static const char * const special[] = {
		"slow", "replay", "bounds-connect", "hostile", "faults",
		"faults-client", "large",
	};
	unsigned int i;

	for (i = 0; i < sizeof(special) / sizeof(special[0]); i++)
		if (!strcmp(c->group, special[i]))
			return true;
	return !strcmp(c->group, "stock") && rp_opt.version != 1;
}

static bool is_named(const struct rp_case *c)
{
	unsigned int i;

	for (i = 0; i < nr_names; i++)
		if (!strcmp(c->name, names[i]))
			return true;
	return false;
}

static bool in_groups(const struct rp_case *c)
{
	unsigned int i;

	for (i = 0; i < nr_groups; i++)
		if (!strcmp(c->group, groups[i]))
			return true;
	return false;
}

static bool is_picked(const struct rp_case *c)
{
	if (levels && !(levels & 1 << (c->basis & LEVEL)))
		return false;
	if (nr_groups && !in_groups(c))
		return false;
	if (nr_names)
		return is_named(c);
	if (rp_opt.version == 1 && !(c->basis & V1))
		return false;
	return nr_groups || !is_special(c);
}

static void add_levels(char *list)
{
	static const struct {
		const char	*name;
		unsigned int	levels;
	} known[] = {
		{ "must", 1 << MUST }, { "should", 1 << SHOULD },
		{ "decision", 1 << DECISION }, { "trouble", 1 << TROUBLE },
		{ "all", 1 << MUST | 1 << SHOULD | 1 << DECISION |
			 1 << TROUBLE },
	};
	char *save, *name;
	unsigned int i;

	for (name = strtok_r(list, ",", &save); name;
	     name = strtok_r(NULL, ",", &save)) {
		for (i = 0; i < 5 && strcmp(name, known[i].name);)
			i++;
		if (i == 5) {
			fprintf(stderr, "there is no level %s\n", name);
			exit(2);
		}
		levels |= known[i].levels;
	}
}

static void list(const struct rp_case *c)
{
	printf("%s\t%s\t%s\t%s\t%s%s%s\n", c->name, c->group, c->ids, c->text,
	       report_level(c), c->basis & V1 ? ", version 1" : "",
	       c->basis & MODULE ? ", rpcrdma2 only" : "");
}

/* ---- running them ---- */

/* What a case has said, as diagnostics */
static void show(FILE *said)
{
	char line[512];
	bool begins = true;

	rewind(said);
	while (fgets(line, sizeof(line), said)) {
		if (begins)
			fputs("#   ", stdout);
		fputs(line, stdout);
		begins = strchr(line, '\n');
	}
	if (!begins)
		putchar('\n');
}

static struct run *run_one(struct rp_case *c, unsigned int number)
{
	FILE *said = tmpfile();
	int saved = dup(2);
	struct run *r;

	rp_check(said && saved >= 0, "no temporary file");
	fflush(stdout);
	dup2(fileno(said), 2);
	r = run_case(c);
	fflush(stderr);
	dup2(saved, 2);
	close(saved);
	printf("# %s: %u ms%s%s\n", c->name, r->ms, r->log->why[0] ? ", " : "",
	       r->log->why);
	if (r->status == RUN_FAILED || show_output)
		show(said);
	fclose(said);
	if (r->status == RUN_SKIPPED)
		printf("ok %u %s %s # SKIP %s\n", number, c->ids, c->text,
		       r->log->why);
	else
		printf("%sok %u %s %s\n", r->status ? "not " : "", number,
		       c->ids, c->text);
	fflush(stdout);
	return r;
}

static void write_reports(const struct run *runs)
{
	unsigned int i;
	FILE *f;

	for (i = 0; i < NR_REPORTS; i++) {
		if (!reports[i].path)
			continue;
		f = fopen(reports[i].path, "w");
		if (!f) {
			perror(reports[i].path);
			exit(2);
		}
		reports[i].write(f, runs);
		if (fclose(f)) {
			perror(reports[i].path);
			exit(2);
		}
	}
}

/* Every case against a client has ports of its own, so that it never meets
 * mounts of others.
 */
static int run_all(bool client)
{
	struct run *runs = NULL, **last = &runs;
	unsigned int total = 0, n = 0;
	bool failed = false;
	struct rp_case *c;

	for (c = rp_cases; c; c = c->next)
		total += run_is_client(c) == client && is_picked(c);
	if (!total) {
		fprintf(stderr, "there is no such case\n");
		return 2;
	}
	if (client)
		jobs_by(jobs_how, agent_port);
	printf("KTAP version 1\n1..%u\n", total);
	for (c = rp_cases; c; c = c->next) {
		if (run_is_client(c) != client || !is_picked(c))
			continue;
		*last = run_one(c, ++n);
		failed |= (*last)->status == RUN_FAILED;
		last = &(*last)->next;
		if (client)
			rp_opt.port += 2;
	}
	write_reports(runs);
	return failed;
}

static int list_all(int side)
{
	struct rp_case *c;

	for (c = rp_cases; c; c = c->next)
		if (side < 0 ? is_picked(c) || (!nr_groups && !nr_names &&
		    (!levels || levels & 1 << (c->basis & LEVEL))) :
		    run_is_client(c) == side && is_picked(c))
			list(c);
	return 0;
}

/* ---- the command line ---- */

enum {
	PORT = 256, EXPORT, VERSION, NO_ANSWER, AGENT, HERE, MOUNT, MODULE_,
	SCALE, DEV, LEVEL_, GROUP, LIST, SECOND, REPORT,
};

static const struct option options[] = {
	{ "port", required_argument, NULL, PORT },
	{ "export", required_argument, NULL, EXPORT },
	{ "peer-version", required_argument, NULL, VERSION },
	{ "no-connprop-answer", no_argument, NULL, NO_ANSWER },
	{ "agent", required_argument, NULL, AGENT },
	{ "here", no_argument, NULL, HERE },
	{ "second", required_argument, NULL, SECOND },
	{ "mount-options", required_argument, NULL, MOUNT },
	{ "module", no_argument, NULL, MODULE_ },
	{ "scale", required_argument, NULL, SCALE },
	{ "dev", required_argument, NULL, DEV },
	{ "level", required_argument, NULL, LEVEL_ },
	{ "group", required_argument, NULL, GROUP },
	{ "list", no_argument, NULL, LIST },
	{ "text", required_argument, NULL, REPORT },
	{ "json", required_argument, NULL, REPORT + 1 },
	{ "html", required_argument, NULL, REPORT + 2 },
	{ NULL },
};

static bool take_option(int o)
{
	switch (o) {
	case PORT:
		rp_opt.port = strtoul(optarg, NULL, 10);
		return true;
	case EXPORT:
		rp_opt.export = optarg;
		return *optarg == '/';
	case VERSION:
		rp_opt.version = strtoul(optarg, NULL, 10);
		return rp_opt.version == 1 || rp_opt.version == 2;
	case NO_ANSWER:
		rp_opt.no_answer = true;
		return true;
	case AGENT:
		jobs_how = JOBS_AGENT;
		agent_port = strtoul(optarg, NULL, 10);
		return true;
	case HERE:
		jobs_how = JOBS_HERE;
		return true;
	case SECOND:
		rp_opt.second = optarg;
		return true;
	case MOUNT:
		rp_opt.mount = optarg;
		return true;
	case MODULE_:
		rp_opt.module = true;
		return true;
	case SCALE:
		rp_opt.scale = strtoul(optarg, NULL, 10);
		return rp_opt.scale;
	case DEV:
		rp_opt.dev = optarg;
		return true;
	case LEVEL_:
		add_levels(optarg);
		return true;
	case GROUP:
		groups[nr_groups++] = optarg;
		return nr_groups < MAX_PICKS;
	case LIST:
		list_only = true;
		return true;
	case 'v':
		rp_opt.tell = true;
		show_output = true;
		return true;
	case REPORT ... REPORT + NR_REPORTS - 1:
		reports[o - REPORT].path = optarg;
		return true;
	default:
		return false;
	}
}

/* Somebody who types is slow. */
#define SCALE_BY_HAND	60

static int test(bool client, char **args, unsigned int n)
{
	struct rp_case *c;
	unsigned int i;

	if (!n)
		return usage();
	rp_opt.addr = args[0];
	names = args + 1;
	nr_names = n - 1;
	for (i = 0; i < nr_names; i++) {
		c = rp_find(names[i]);
		if (c && run_is_client(c) == client &&
		    (!nr_groups || in_groups(c)))
			continue;
		fprintf(stderr, "there is no such case: %s\n", names[i]);
		return 2;
	}
	if (list_only)
		return list_all(client);
	if (client && jobs_how == JOBS_HAND)
		rp_opt.scale *= SCALE_BY_HAND;
	return run_all(client);
}

int main(int argc, char **argv)
{
	int o;

	while ((o = getopt_long(argc, argv, "v", options, NULL)) != -1)
		if (!take_option(o))
			return usage();
	argv += optind;
	argc -= optind;
	if (!argc)
		return list_only ? list_all(-1) : usage();
	if (!strcmp(argv[0], "server") || !strcmp(argv[0], "client"))
		return test(argv[0][0] == 'c', argv + 1, argc - 1);
	if (!strcmp(argv[0], "list") && argc <= 2) {
		if (argc == 2)
			groups[nr_groups++] = argv[1];
		return list_all(-1);
	}
	if (!strcmp(argv[0], "agent") && argc == 3) {
		agent_serve(agent_connect(argv[1], strtoul(argv[2], NULL, 10)),
			    false);
		return 0;
	}
	if (!strcmp(argv[0], "self") && argc == 1)
		return rp_self();
	return usage();
}
