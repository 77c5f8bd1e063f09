// SPDX-License-Identifier: GPL-2.0
/*
 * Command line, and how a case ends.
 *
 *	rpcrdma2-conform list [GROUP]			name, group, ids, text
 *	rpcrdma2-conform run CASE [--addr A] [--port P] [--dev D] [--scale N] [-v]
 *	rpcrdma2-conform self				the encoder against the examples
 *
 * Exit status of run: 0 passed, 1 failed, 4 cannot be shown here.
 */
#include <getopt.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "rp.h"
#include "jobs.h"
#include "self.h"

struct rp_opt rp_opt = {
	.addr = "127.0.0.1", .dev = "rxe", .port = 20049, .scale = 1,
};

static struct rp_case *cases, **last_case = &cases;

void rp_register(struct rp_case *c)
{
	*last_case = c;
	last_case = &c->next;
}

void rp_fail(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	exit(1);
}

void rp_skip(const char *fmt, ...)
{
	va_list ap;

	/* What a process of the case still has to say may come behind it */
	printf("skipped: ");
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	putchar('\n');
	exit(4);
}

void rp_tell(const char *fmt, ...)
{
	va_list ap;

	if (!rp_opt.tell)
		return;
	fprintf(stderr, "[%6llu] ", (unsigned long long)rp_now() % 1000000);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
}

uint64_t rp_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000ull + ts.tv_nsec / 1000000;
}

void rp_sleep(unsigned int ms)
{
	struct timespec ts = { ms / 1000, ms % 1000 * 1000000 };

	nanosleep(&ts, NULL);
}

static int list(const char *group)
{
	struct rp_case *c;

	for (c = cases; c; c = c->next)
		if (!group || !strcmp(group, c->group))
			printf("%s\t%s\t%s\t%s\n", c->name, c->group, c->ids,
			       c->text);
	return 0;
}

static void too_long(int sig)
{
	static const char text[] = "the case does not end\n";

	(void)sig;
	if (write(2, text, sizeof(text) - 1) < 0)
		_exit(2);
	_exit(1);
}

static struct rp_case *find(const char *name)
{
	struct rp_case *c;

	for (c = cases; c && strcmp(c->name, name);)
		c = c->next;
	rp_check(c, "there is no case %s", name);
	return c;
}

void rp_play(const char *name)
{
	find(name)->run();
}

static int run(const char *name)
{
	struct rp_case *c = find(name);

	signal(SIGPIPE, SIG_IGN);
	/* Before any memory is registered, which does not survive a fork. */
	rp_local_start();
	atexit(rp_local_stop);
	signal(SIGALRM, too_long);
	alarm(90 * rp_opt.scale);
	c->run();
	return 0;
}

static int usage(void)
{
	fprintf(stderr,
		"usage: rpcrdma2-conform list [GROUP]\n"
		"       rpcrdma2-conform run CASE [--addr A] [--port P] [--dev D] [--scale N] [-v]\n"
		"       rpcrdma2-conform self\n");
	return 2;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "addr", required_argument, NULL, 'a' },
		{ "port", required_argument, NULL, 'p' },
		{ "dev", required_argument, NULL, 'd' },
		{ "scale", required_argument, NULL, 's' },
		{ NULL },
	};
	int o;

	while ((o = getopt_long(argc, argv, "v", options, NULL)) != -1) {
		switch (o) {
		case 'a':
			rp_opt.addr = optarg;
			break;
		case 'p':
			rp_opt.port = strtoul(optarg, NULL, 10);
			break;
		case 'd':
			rp_opt.dev = optarg;
			break;
		case 's':
			rp_opt.scale = strtoul(optarg, NULL, 10);
			break;
		case 'v':
			rp_opt.tell = true;
			break;
		default:
			return usage();
		}
	}
	argv += optind;
	argc -= optind;
	if (argc >= 1 && !strcmp(argv[0], "list"))
		return list(argv[1]);
	if (argc == 1 && !strcmp(argv[0], "self"))
		return rp_self();
	if (argc == 2 && !strcmp(argv[0], "run"))
		return run(argv[1]);
	return usage();
}
