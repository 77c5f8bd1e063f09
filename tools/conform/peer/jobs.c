// SPDX-License-Identifier: GPL-2.0
/*
 * Jobs, as a case sees them: see jobs.h.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rp.h"
#include "jobs.h"
#include "mountd.h"

/* An agent may have to wait for a client that gives up slowly. */
#define RESET_LIMIT	60000

/**
 * struct rp_job - a job as the case sees it
 * @id: its number
 * @over: it has ended
 * @error: how, 0 or errno
 * @count: bytes or entries
 * @data: what was read
 */
struct rp_job {
	unsigned int	id;
	bool		over;
	int		error;
	uint32_t	count;
	uint8_t		*data;
};

int jobs_terminal = 2;

static enum jobs_how how;
static int remote = -1;			/* the agent that has connected */

static struct rp_job jobs[JOBS_MAX];
static unsigned int nr_jobs;
static int sock = -1;
static pid_t agent;			/* 0: on another machine */
static pid_t owner;			/* the process of the case */
static bool is_reset;

/* What has come from the agent and was not looked at */
static uint8_t inbox[2 * JOBS_DATA];
static size_t in_inbox;

/* ---- outside of cases ---- */

static int accept_agent(unsigned int port)
{
	struct sockaddr_in6 any = {
		.sin6_family = AF_INET6, .sin6_port = htons(port),
	};
	int fd = socket(AF_INET6, SOCK_STREAM, 0), one = 1, off = 0, c;

	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
	rp_check(!bind(fd, (struct sockaddr *)&any, sizeof(any)) &&
		 !listen(fd, 1), "TCP port %u: %s", port, strerror(errno));
	fprintf(stderr,
		"waiting for the client; there, as root: rpcrdma2-conform agent %s %u\n",
		rp_opt.addr, port);
	c = accept(fd, NULL, NULL);
	rp_check(c >= 0, "no agent: %s", strerror(errno));
	close(fd);
	return c;
}

void jobs_by(enum jobs_how by, unsigned int port)
{
	how = by;
	jobs_terminal = dup(2);
	if (how == JOBS_AGENT)
		remote = accept_agent(port);
	/* An agent of a case that has died is ours. */
	prctl(PR_SET_CHILD_SUBREAPER, 1);
}

void jobs_after_case(void)
{
	while (waitpid(-1, NULL, 0) > 0 || errno == EINTR)
		;
}

/* ---- what comes from the agent ---- */

static void take_result(const char *line, const uint8_t *data)
{
	unsigned int id, count, len;
	struct rp_job *job;
	int error;

	rp_check(sscanf(line, "%u %d %u %u", &id, &error, &count, &len) == 4,
		 "the agent says: %s", line);
	if (id == JOBS_RESET)
		is_reset = true;
	/* Of a case that is over */
	if (id >= nr_jobs)
		return;
	job = &jobs[id];
	if (len) {
		job->data = malloc(len);
		rp_check(job->data, "no memory");
		memcpy(job->data, data, len);
	}
	job->error = error;
	job->count = count;
	job->over = true;
	rp_tell("job %u ends: %s, %u", id, strerror(error), count);
}

/* Bytes of the first result in the inbox; 0 if it is not complete */
static size_t first_result(void)
{
	uint8_t *end = memchr(inbox, '\n', in_inbox);
	unsigned int len = 0;
	size_t head;

	if (!end)
		return 0;
	head = end - inbox + 1;
	sscanf((char *)inbox, "%*u %*d %*u %u", &len);
	rp_check(len <= JOBS_DATA, "the agent sends %u bytes", len);
	if (in_inbox < head + len)
		return 0;
	*end = 0;
	take_result((char *)inbox, inbox + head);
	return head + len;
}

static void got_result(void)
{
	ssize_t n;
	size_t used;

	for (;;) {
		n = recv(sock, inbox + in_inbox, sizeof(inbox) - 1 - in_inbox,
			 MSG_DONTWAIT);
		if (n <= 0)
			break;
		in_inbox += n;
		while ((used = first_result())) {
			in_inbox -= used;
			memmove(inbox, inbox + used, in_inbox);
		}
	}
	rp_check(n && (errno == EAGAIN || errno == EINTR),
		 "the agent is gone");
}

static void say(const char *fmt, ...)
{
	char line[1024];
	va_list ap;
	int len;

	va_start(ap, fmt);
	len = vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	rp_check(len < (int)sizeof(line) && send(sock, line, len, 0) == len,
		 "the agent does not listen");
}

/* ---- begin and end of a case ---- */

static bool reset_done(void *arg)
{
	(void)arg;
	got_result();
	return is_reset;
}

static bool reset(void)
{
	is_reset = false;
	say("%u reset\n", JOBS_RESET);
	return rp_wait(reset_done, NULL, RESET_LIMIT);
}

static void stop(void)
{
	if (agent > 0) {
		shutdown(sock, SHUT_RDWR);
		waitpid(agent, NULL, 0);
	} else if (getpid() == owner) {
		/* The next case must not find half of an answer. */
		nr_jobs = 0;
		reset();
	}
}

static int fork_agent(void)
{
	int fd[2];

	rp_check(!socketpair(AF_UNIX, SOCK_STREAM, 0, fd), "no socket");
	agent = fork();
	rp_check(agent >= 0, "cannot fork");
	if (!agent) {
		close(fd[0]);
		if (how == JOBS_HAND)
			hand_serve(fd[1]);
		else
			agent_serve(fd[1], true);
		_exit(0);
	}
	close(fd[1]);
	return fd[0];
}

void jobs_start(void)
{
	mountd_start();
	sock = how == JOBS_AGENT ? remote : fork_agent();
	owner = getpid();
	atexit(stop);
	rp_watch(sock, got_result);
	rp_check(reset(), "the agent does not answer");
}

/* ---- jobs ---- */

static struct rp_job *new_job(void)
{
	rp_check(nr_jobs < JOBS_MAX, "too many jobs");
	jobs[nr_jobs].id = nr_jobs;
	return &jobs[nr_jobs++];
}

void job_forget(struct rp_job *job)
{
	if (!job->over || job != &jobs[nr_jobs - 1])
		return;
	free(job->data);
	memset(job, 0, sizeof(*job));
	nr_jobs--;
}

struct rp_job *job_mount(const char *fmt, ...)
{
	struct rp_job *job = new_job();
	bool six = strchr(rp_opt.addr, ':');
	char options[512], more[128];
	va_list ap;
	bool v3;

	va_start(ap, fmt);
	vsnprintf(options, sizeof(options), fmt, ap);
	va_end(ap);
	v3 = !strncmp(options, "vers=3", 6);
	if (v3)
		snprintf(more, sizeof(more),
			 "nolock,noacl,nocto,actimeo=600,nordirplus,mountvers=3,mountproto=tcp,mountport=%u",
			 rp_opt.port + 1);
	else
		snprintf(more, sizeof(more), "nosharecache");
	say("%u mount %s%s%s:%s %s,proto=rdma,%s%s%s\n", job->id,
	    six ? "[" : "", rp_opt.addr, six ? "]" : "", v3 ? "/raw" : "/",
	    options, more, rp_opt.mount ? "," : "",
	    rp_opt.mount ? rp_opt.mount : "");
	return job;
}

struct rp_job *job_umount(void)
{
	struct rp_job *job = new_job();

	say("%u umount\n", job->id);
	return job;
}

static struct rp_job *io(const char *verb, const char *file, uint32_t off,
			 uint32_t len)
{
	struct rp_job *job = new_job();

	rp_check(len <= JOBS_DATA, "job too large");
	say("%u %s %s %u %u\n", job->id, verb, file, off, len);
	return job;
}

struct rp_job *job_read(const char *file, uint32_t off, uint32_t len)
{
	return io("read", file, off, len);
}

struct rp_job *job_write(const char *file, uint32_t off, uint32_t len)
{
	return io("write", file, off, len);
}

struct rp_job *job_map(const char *file, uint32_t off, uint32_t len)
{
	return io("map", file, off, len);
}

struct rp_job *job_stat(const char *file)
{
	struct rp_job *job = new_job();

	say("%u stat %s\n", job->id, file);
	return job;
}

struct rp_job *job_list(const char *name)
{
	struct rp_job *job = new_job();

	say("%u list %s\n", job->id, *name ? name : ".");
	return job;
}

struct rp_job *job_shell(const char *fmt, ...)
{
	struct rp_job *job = new_job();
	char command[512];
	va_list ap;

	rp_needs_module();
	va_start(ap, fmt);
	vsnprintf(command, sizeof(command), fmt, ap);
	va_end(ap);
	say("%u shell %s\n", job->id, command);
	return job;
}

bool job_over(struct rp_job *job)
{
	got_result();
	return job->over;
}

static bool is_over(void *arg)
{
	return job_over(arg);
}

int job_result(struct rp_job *job)
{
	rp_check(rp_wait(is_over, job, RP_ANSWER * 6),
		 "a mount or file operation does not end");
	return job->error;
}

uint32_t job_count(struct rp_job *job)
{
	return job->count;
}

const uint8_t *job_data(struct rp_job *job)
{
	if (!job->data)
		rp_skip("nobody has looked at what was read");
	return job->data;
}

void job_kill(struct rp_job *job)
{
	say("%u kill\n", job->id);
	rp_check(rp_wait(is_over, job, RP_ANSWER), "a job cannot be killed");
}
