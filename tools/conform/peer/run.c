// SPDX-License-Identifier: GPL-2.0
/*
 * A process for each case: see run.h.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rp.h"
#include "jobs.h"
#include "run.h"

/* Seconds that the longest case may take, before scaling */
#define RUN_LIMIT	90

/* In the process of a case */
static struct run_log *log_of_case;

bool run_is_client(const struct rp_case *c)
{
	static const char * const groups[] = {
		"version", "replies", "credits", "client-change", "client-paths",
		"reasons",
		"faults-client", "variant-client", "published-client",
	};
	unsigned int i;

	for (i = 0; i < sizeof(groups) / sizeof(groups[0]); i++)
		if (!strcmp(c->group, groups[i]))
			return true;
	return false;
}

/* ---- in the case ---- */

void run_why(const char *why)
{
	if (log_of_case)
		snprintf(log_of_case->why, sizeof(log_of_case->why), "%s",
			 why);
}

void rp_record(enum rp_way way, unsigned int conn, const void *p,
	       unsigned int len)
{
	struct run_log *log = log_of_case;
	struct run_msg *m;
	unsigned int i;

	/* What is done aside is no part of the case. */
	if (!log || rp_side())
		return;
	i = log->n++;
	if (i >= RUN_HEAD)
		i = RUN_HEAD + (i - RUN_HEAD) % RUN_TAIL;
	m = &log->msg[i];
	m->way = way;
	m->conn = conn;
	m->ms = rp_now() - log->began;
	m->len = len;
	memcpy(m->bytes, p, len < RUN_BYTES ? len : RUN_BYTES);
}

void rp_record_wanted(const struct rp_msg *want)
{
	char *p = log_of_case ? log_of_case->wanted : NULL;
	unsigned int i;

	for (i = 0; p && i < want->n && i < RUN_WANTED; i++)
		p += want->w[i] == ANY ? sprintf(p, "%s........", i ? " " : "") :
		     sprintf(p, "%s%08x", i ? " " : "", (uint32_t)want->w[i]);
	if (p && i < want->n)
		strcpy(p, " ...");
}

static void too_long(int sig)
{
	static const char text[] = "the case does not end\n";

	(void)sig;
	run_why("the case does not end");
	if (write(2, text, sizeof(text) - 1) < 0)
		_exit(RUN_FAILED);
	_exit(RUN_FAILED);
}

static void play(struct rp_case *c)
{
	signal(SIGPIPE, SIG_IGN);
	/* Before any memory is registered, which does not survive a fork. */
	if (run_is_client(c))
		jobs_start();
	signal(SIGALRM, too_long);
	alarm(RUN_LIMIT * rp_opt.scale);
	c->run();
	exit(RUN_PASSED);
}

/* ---- outside ---- */

static struct run_log *new_log(void)
{
	struct run_log *log = mmap(NULL, sizeof(*log), PROT_READ | PROT_WRITE,
				   MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE,
				   -1, 0);

	rp_check(log != MAP_FAILED, "no memory");
	return log;
}

/* Cases that cannot work are not begun. */
static const char *cannot(const struct rp_case *c)
{
	if (c->basis & MODULE && !rp_opt.module)
		return "looks into rpcrdma2";
	if (!(c->basis & V1) && rp_opt.version == 1)
		return "needs version 2";
	return NULL;
}

static int how_it_ended(struct run_log *log, int status)
{
	if (WIFEXITED(status) && (WEXITSTATUS(status) == RUN_PASSED ||
				  WEXITSTATUS(status) == RUN_SKIPPED))
		return WEXITSTATUS(status);
	if (!log->why[0] && WIFSIGNALED(status))
		snprintf(log->why, sizeof(log->why), "killed by signal %d",
			 WTERMSIG(status));
	return RUN_FAILED;
}

struct run *run_case(struct rp_case *c)
{
	struct run *r = calloc(1, sizeof(*r));
	const char *why = cannot(c);
	int status;
	pid_t pid;

	rp_check(r, "no memory");
	r->c = c;
	r->log = new_log();
	r->log->began = rp_now();
	fflush(NULL);
	if (why) {
		snprintf(r->log->why, sizeof(r->log->why), "%s", why);
		r->status = RUN_SKIPPED;
		return r;
	}
	pid = fork();
	rp_check(pid >= 0, "cannot fork: %s", strerror(errno));
	if (!pid) {
		log_of_case = r->log;
		/* Results go to standard output, and nothing else does. */
		dup2(2, 1);
		play(c);
	}
	while (waitpid(pid, &status, 0) < 0)
		rp_check(errno == EINTR, "no news of a case");
	r->status = how_it_ended(r->log, status);
	r->ms = rp_now() - r->log->began;
	jobs_after_case();
	return r;
}
