// SPDX-License-Identifier: GPL-2.0
/*
 * Jobs: see jobs.h. The parent of all jobs is a process without RDMA
 * resources that gets requests over a socket and forks one child for each;
 * a child tells its result over the same socket. All of them die with the
 * case.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rp.h"
#include "jobs.h"

#define MAX_JOBS	256

enum op { MOUNT, UMOUNT, READ, WRITE, MAP, STAT, LIST, SHELL, KILL };

struct request {
	enum op		op;
	unsigned int	id;
	uint32_t	off;
	uint32_t	len;
	char		text[512];
};

struct result {
	unsigned int	id;
	int		error;
	uint32_t	count;
};

/**
 * struct rp_job - a job as the case sees it
 * @id: its number
 * @over: it has ended
 * @error: how, 0 or errno
 * @count: bytes or entries
 */
struct rp_job {
	unsigned int	id;
	bool		over;
	int		error;
	uint32_t	count;
};

static struct rp_job jobs[MAX_JOBS];
static unsigned int nr_jobs;
static int sock = -1;
static pid_t parent_of_jobs = -1;
static uint8_t *shared;			/* RP_JOB_DATA bytes for each job */
static char dir[64];

/* ---- in the children ---- */

static int do_mount(const char *opts)
{
	bool v3 = !strncmp(opts, "vers=3", 6);
	char all[1024], source[64];

	snprintf(source, sizeof(source), "%s:%s", rp_opt.addr,
		 v3 ? "/raw" : "/");
	snprintf(all, sizeof(all), "%s,proto=rdma,addr=%s,%s", opts,
		 rp_opt.addr, v3 ? "nolock,noacl,nocto,actimeo=600,nordirplus,"
		 "mountvers=3,mountproto=tcp" : "nosharecache");
	if (v3)
		snprintf(all + strlen(all), sizeof(all) - strlen(all),
			 ",mountport=%u,mountaddr=%s", rp_opt.port + 1,
			 rp_opt.addr);
	else
		snprintf(all + strlen(all), sizeof(all) - strlen(all),
			 ",clientaddr=%s", rp_opt.addr);
	rp_tell("mount %s -o %s", source, all);
	return mount(source, dir, "nfs", 0, all) ? errno : 0;
}

static int open_file(const char *file, int flags)
{
	char path[600];

	snprintf(path, sizeof(path), "%s/%s", dir, file);
	return open(path, flags | O_DIRECT, 0644);
}

static int do_io(const struct request *r, uint32_t *count)
{
	uint8_t *buf = shared + (size_t)RP_JOB_DATA * r->id;
	int fd = open_file(r->text, r->op == READ ? O_RDONLY : O_WRONLY);
	int err = 0;
	ssize_t n;
	uint32_t i;

	if (fd < 0)
		return errno;
	if (r->op == READ) {
		n = pread(fd, buf, r->len, r->off);
	} else {
		for (i = 0; i < r->len; i++)
			buf[i] = rp_pattern(r->off + i);
		n = pwrite(fd, buf, r->len, r->off);
	}
	if (n < 0)
		err = errno;
	else
		*count = n;
	/* The case may unmount as soon as it has the result. */
	close(fd);
	return err;
}

/* Whole pages as the page cache has them */
static int do_map(const struct request *r, uint32_t *count)
{
	char path[600];
	void *p;
	int fd;

	snprintf(path, sizeof(path), "%s/%s", dir, r->text);
	fd = open(path, O_RDONLY);
	if (fd < 0)
		return errno;
	p = mmap(NULL, r->len, PROT_READ, MAP_SHARED, fd, r->off);
	close(fd);
	if (p == MAP_FAILED)
		return errno;
	memcpy(shared + (size_t)RP_JOB_DATA * r->id, p, r->len);
	munmap(p, r->len);
	*count = r->len;
	return 0;
}

static int do_list(const char *name, uint32_t *count)
{
	char path[600];
	int err;
	DIR *d;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	d = opendir(path);
	if (!d)
		return errno;
	errno = 0;
	while (readdir(d))
		(*count)++;
	err = errno;
	closedir(d);
	return err;
}

static int do_stat(const char *name)
{
	char path[600];
	struct stat st;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return stat(path, &st) ? errno : 0;
}

static void child(const struct request *r)
{
	struct result res = { .id = r->id };
	char command[600];

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	switch (r->op) {
	case MOUNT:
		res.error = do_mount(r->text);
		break;
	case UMOUNT:
		res.error = umount(dir) ? errno : 0;
		break;
	case READ:
	case WRITE:
		res.error = do_io(r, &res.count);
		break;
	case MAP:
		res.error = do_map(r, &res.count);
		break;
	case STAT:
		res.error = do_stat(r->text);
		break;
	case LIST:
		res.error = do_list(r->text, &res.count);
		break;
	default:
		snprintf(command, sizeof(command), "cd %s && %s", dir,
			 r->text);
		res.error = system(command) ? EIO : 0;
		break;
	}
	if (send(sock, &res, sizeof(res), 0) < 0)
		_exit(1);
	_exit(0);
}

/* ---- the MOUNT server ---- */

static bool read_all(int fd, void *buf, size_t len)
{
	ssize_t n;

	while (len) {
		n = read(fd, buf, len);
		if (n <= 0)
			return false;
		buf = (char *)buf + n;
		len -= n;
	}
	return true;
}

/* NULL and MNT; whatever is asked for gets the same file handle. */
static void mountd_connection(int fd)
{
	static const uint32_t handle[4] = { 0x726f6f74 };
	uint32_t call[256], reply[32], mark;
	unsigned int n, i;

	while (read_all(fd, &mark, 4)) {
		mark = ntohl(mark) & 0x7fffffff;
		if (mark > sizeof(call) || mark < 24 ||
		    !read_all(fd, call, mark))
			return;
		n = 1;
		reply[n++] = ntohl(call[0]);
		for (i = 0; i < 5; i++)
			reply[n++] = i == 0;	/* REPLY, accepted, ... */
		if (ntohl(call[5]) == 1) {	/* MNT: ok, handle, AUTH_SYS */
			reply[n++] = 0;
			reply[n++] = sizeof(handle);
			for (i = 0; i < 4; i++)
				reply[n++] = handle[i];
			reply[n++] = 1;
			reply[n++] = 1;
		}
		reply[0] = 0x80000000 | 4 * (n - 1);
		for (i = 0; i < n; i++)
			reply[i] = htonl(reply[i]);
		if (write(fd, reply, 4 * n) < 0)
			return;
	}
}

static int mountd_socket(void)
{
	struct sockaddr_in sin = {
		.sin_family = AF_INET, .sin_port = htons(rp_opt.port + 1),
	};
	int fd = socket(AF_INET, SOCK_STREAM, 0), one = 1;

	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(fd, (struct sockaddr *)&sin, sizeof(sin)) || listen(fd, 8)) {
		fprintf(stderr, "no port for the MOUNT server\n");
		_exit(1);
	}
	return fd;
}

static void mountd(int fd)
{
	int c;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;) {
		c = accept(fd, NULL, NULL);
		if (c < 0)
			continue;
		if (!fork()) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			mountd_connection(c);
			_exit(0);
		}
		close(c);
	}
}

/* ---- the parent of jobs ---- */

/* Kill a job and tell when it is gone. Its RPC is cancelled by then: that is
 * the work of the process itself.
 */
static void end(pid_t pid, unsigned int id)
{
	struct result r = { .id = id, .error = EINTR };

	if (pid > 0) {
		kill(pid, SIGKILL);
		/* Nobody else waits, so this fails, but not before the end */
		while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
			;
	}
	if (send(sock, &r, sizeof(r), 0) < 0)
		_exit(1);
}

static void serve(void)
{
	pid_t pids[MAX_JOBS] = { 0 }, pid;
	struct request r;
	int fd = -1;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGCHLD, SIG_IGN);
	while (recv(sock, &r, sizeof(r), 0) == sizeof(r)) {
		if (r.op == KILL) {
			end(pids[r.id], r.id);
			continue;
		}
		if (r.op == MOUNT && fd < 0) {
			fd = mountd_socket();
			if (!fork())
				mountd(fd);
		}
		pid = fork();
		if (!pid) {
			signal(SIGCHLD, SIG_DFL);
			child(&r);
		}
		pids[r.id] = pid;
	}
	_exit(0);
}

/* ---- in the case ---- */

static void got_result(void)
{
	struct result r;

	while (recv(sock, &r, sizeof(r), MSG_DONTWAIT) == sizeof(r)) {
		jobs[r.id].over = true;
		jobs[r.id].error = r.error;
		jobs[r.id].count = r.count;
		rp_tell("job %u ends: %s, %u", r.id, strerror(r.error),
			r.count);
	}
}

void rp_local_start(void)
{
	int fd[2];

	rp_check(!socketpair(AF_UNIX, SOCK_SEQPACKET, 0, fd), "no socket");
	shared = mmap(NULL, (size_t)RP_JOB_DATA * MAX_JOBS,
		      PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	rp_check(shared != MAP_FAILED, "no memory");
	snprintf(dir, sizeof(dir), "/tmp/rpcrdma2-conform.%d", getpid());
	parent_of_jobs = fork();
	rp_check(parent_of_jobs >= 0, "cannot fork");
	if (!parent_of_jobs) {
		close(fd[0]);
		sock = fd[1];
		serve();
	}
	close(fd[1]);
	sock = fd[0];
	rp_watch(sock, got_result);
}

/* Whatever was mounted goes, with everybody who waits for it. */
void rp_local_stop(void)
{
	unsigned int i;

	if (parent_of_jobs <= 0)
		return;
	kill(parent_of_jobs, SIGKILL);
	waitpid(parent_of_jobs, NULL, 0);
	for (i = 0; i < 3 && !access(dir, F_OK); i++) {
		umount2(dir, MNT_FORCE);
		umount2(dir, MNT_DETACH);
		rmdir(dir);
	}
}

void rp_local_leave(void)
{
	parent_of_jobs = 0;
}

static struct rp_job *start(struct request *r)
{
	rp_check(nr_jobs < MAX_JOBS, "too many jobs");
	r->id = nr_jobs++;
	rp_check(send(sock, r, sizeof(*r), 0) == sizeof(*r),
		 "cannot start a job");
	jobs[r->id].id = r->id;
	return &jobs[r->id];
}

struct rp_job *job_mount(const char *fmt, ...)
{
	struct request r = { .op = MOUNT };
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(r.text, sizeof(r.text), fmt, ap);
	va_end(ap);
	mkdir(dir, 0755);
	return start(&r);
}

struct rp_job *job_umount(void)
{
	struct request r = { .op = UMOUNT };

	return start(&r);
}

static struct rp_job *file_job(enum op op, const char *file, uint32_t off,
			       uint32_t len)
{
	struct request r = { .op = op, .off = off, .len = len };

	rp_check(len <= RP_JOB_DATA, "job too large");
	snprintf(r.text, sizeof(r.text), "%s", file);
	return start(&r);
}

struct rp_job *job_read(const char *file, uint32_t off, uint32_t len)
{
	return file_job(READ, file, off, len);
}

struct rp_job *job_write(const char *file, uint32_t off, uint32_t len)
{
	return file_job(WRITE, file, off, len);
}

struct rp_job *job_map(const char *file, uint32_t off, uint32_t len)
{
	return file_job(MAP, file, off, len);
}

struct rp_job *job_stat(const char *file)
{
	return file_job(STAT, file, 0, 0);
}

struct rp_job *job_list(const char *name)
{
	return file_job(LIST, name, 0, 0);
}

struct rp_job *job_shell(const char *fmt, ...)
{
	struct request r = { .op = SHELL };
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(r.text, sizeof(r.text), fmt, ap);
	va_end(ap);
	return start(&r);
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
	return shared + (size_t)RP_JOB_DATA * job->id;
}

void job_kill(struct rp_job *job)
{
	struct request r = { .op = KILL, .id = job->id };

	rp_check(send(sock, &r, sizeof(r), 0) == sizeof(r),
		 "cannot kill a job");
	rp_check(rp_wait(is_over, job, RP_ANSWER), "a job cannot be killed");
}
