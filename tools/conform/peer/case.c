// SPDX-License-Identifier: GPL-2.0
/*
 * The cases there are, and how one of them ends.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "rp.h"
#include "run.h"

struct rp_opt rp_opt = { .addr = "127.0.0.1", .port = 20049, .scale = 1 };

struct rp_case *rp_cases;
static struct rp_case **last_case = &rp_cases;

void rp_register(struct rp_case *c)
{
	*last_case = c;
	last_case = &c->next;
}

struct rp_case *rp_find(const char *name)
{
	struct rp_case *c;

	for (c = rp_cases; c && strcmp(c->name, name);)
		c = c->next;
	return c;
}

void rp_play(const char *name)
{
	struct rp_case *c = rp_find(name);

	rp_check(c, "there is no case %s", name);
	c->run();
}

static void __attribute__((noreturn)) end(int status, const char *fmt,
					  va_list ap)
{
	char why[RUN_WHY];

	vsnprintf(why, sizeof(why), fmt, ap);
	fprintf(stderr, "%s%s\n", status == RUN_SKIPPED ? "skipped: " : "",
		why);
	run_why(why);
	exit(status);
}

void rp_fail(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	end(RUN_FAILED, fmt, ap);
}

void rp_skip(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	end(RUN_SKIPPED, fmt, ap);
}

void rp_otherwise(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	end(rp_opt.module ? RUN_FAILED : RUN_SKIPPED, fmt, ap);
}

void rp_note(const char *fmt, ...)
{
	char text[RUN_WHY];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	run_why(text);
}

void rp_needs_module(void)
{
	rp_check(rp_opt.module,
		 "the case looks into the module, and does not say so");
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
