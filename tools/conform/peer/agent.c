// SPDX-License-Identifier: GPL-2.0
/*
 * The agent of a client under test: does what it is told to in lines of text,
 * each job in a process of its own, and tells how it ended. See jobs.h.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
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

/**
 * struct request - a job
 * @id: its number
 * @round: resets there were before it
 * @verb: what to do
 * @text: file, directory, command, or what to mount and its options
 * @off: where
 * @len: how many bytes
 */
struct request {
	unsigned int	id;
	unsigned int	round;
	char		verb[16];
	char		text[900];
	uint32_t	off;
	uint32_t	len;
};

struct result {
	unsigned int	id;
	unsigned int	round;
	int		error;
	uint32_t	count;
	uint32_t	len;
};

static int peer;			/* who tells us what to do */
static bool is_local;
static int results[2];			/* children write, we read */
static unsigned int round_now;
static pid_t pids[JOBS_MAX];
static uint8_t *shared;			/* JOBS_DATA bytes for each job */
static char dir[64];

/* ---- in the children ---- */

/* Our own address on the way to the peer, for callbacks of NFSv4.0 */
static void own_address(const char *fallback, char *text, size_t size)
{
	struct sockaddr_storage at = { 0 };
	struct sockaddr_in *v4 = (struct sockaddr_in *)&at;
	struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)&at;
	socklen_t len = sizeof(at);

	getsockname(peer, (struct sockaddr *)&at, &len);
	if (at.ss_family == AF_INET)
		inet_ntop(AF_INET, &v4->sin_addr, text, size);
	else if (at.ss_family == AF_INET6)
		inet_ntop(AF_INET6, &v6->sin6_addr, text, size);
	else
		snprintf(text, size, "%s", fallback);
}

/* "10.0.0.1:/raw vers=3,..." */
static int do_mount(const char *text)
{
	char source[128], options[600], all[1024], addr[128], own[128];
	char *end;

	if (sscanf(text, "%127s %599s", source, options) != 2)
		return EINVAL;
	snprintf(addr, sizeof(addr), "%s", source[0] == '[' ? source + 1 :
							      source);
	end = strstr(addr, source[0] == '[' ? "]:/" : ":/");
	if (!end)
		return EINVAL;
	*end = 0;
	own_address(addr, own, sizeof(own));
	if (!strncmp(options, "vers=3", 6))
		snprintf(all, sizeof(all), "%s,addr=%s,mountaddr=%s", options,
			 addr, addr);
	else
		snprintf(all, sizeof(all), "%s,addr=%s,clientaddr=%s", options,
			 addr, own);
	rp_tell("mount %s -o %s", source, all);
	return mount(source, dir, "nfs", 0, all) ? errno : 0;
}

static int do_io(const struct request *r, struct result *res)
{
	uint8_t *buf = shared + (size_t)JOBS_DATA * r->id;
	bool is_read = !strcmp(r->verb, "read");
	char path[1000];
	int fd, err = 0;
	ssize_t n;
	uint32_t i;

	snprintf(path, sizeof(path), "%s/%s", dir, r->text);
	fd = open(path, (is_read ? O_RDONLY : O_WRONLY) | O_DIRECT);
	if (fd < 0)
		return errno;
	if (is_read) {
		n = pread(fd, buf, r->len, r->off);
	} else {
		for (i = 0; i < r->len; i++)
			buf[i] = rp_pattern(r->off + i);
		n = pwrite(fd, buf, r->len, r->off);
	}
	if (n < 0)
		err = errno;
	else
		res->count = n;
	if (is_read)
		res->len = res->count;
	/* The case may unmount as soon as it has the result. */
	close(fd);
	return err;
}

/* Whole pages as the page cache has them */
static int do_map(const struct request *r, struct result *res)
{
	char path[1000];
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
	memcpy(shared + (size_t)JOBS_DATA * r->id, p, r->len);
	munmap(p, r->len);
	res->count = r->len;
	res->len = r->len;
	return 0;
}

static int do_list(const char *name, struct result *res)
{
	char path[1000];
	int err;
	DIR *d;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	d = opendir(path);
	if (!d)
		return errno;
	errno = 0;
	while (readdir(d))
		res->count++;
	err = errno;
	closedir(d);
	return err;
}

static int do_stat(const char *name)
{
	char path[1000];
	struct stat st;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return stat(path, &st) ? errno : 0;
}

static int do_shell(const char *text)
{
	char command[1000];

	if (!is_local)
		return EPERM;
	snprintf(command, sizeof(command), "cd %s && %s", dir, text);
	return system(command) ? EIO : 0;
}

static int do_job(const struct request *r, struct result *res)
{
	if (!strcmp(r->verb, "mount"))
		return do_mount(r->text);
	if (!strcmp(r->verb, "umount"))
		return umount(dir) ? errno : 0;
	if (!strcmp(r->verb, "read") || !strcmp(r->verb, "write"))
		return do_io(r, res);
	if (!strcmp(r->verb, "map"))
		return do_map(r, res);
	if (!strcmp(r->verb, "stat"))
		return do_stat(r->text);
	if (!strcmp(r->verb, "list"))
		return do_list(r->text, res);
	if (!strcmp(r->verb, "shell"))
		return do_shell(r->text);
	return EOPNOTSUPP;
}

/* ---- results ---- */

static void tell_peer(const void *p, size_t len)
{
	ssize_t n;

	for (; len; len -= n, p = (const char *)p + n) {
		n = send(peer, p, len, 0);
		if (n < 0)
			return;
	}
}

static void tell(const struct result *res)
{
	char line[64];

	snprintf(line, sizeof(line), "%u %d %u %u\n", res->id, res->error,
		 res->count, res->len);
	tell_peer(line, strlen(line));
	tell_peer(shared + (size_t)JOBS_DATA * res->id, res->len);
}

static void got_result(void)
{
	struct result res;

	while (recv(results[0], &res, sizeof(res), MSG_DONTWAIT) ==
	       sizeof(res))
		if (res.round == round_now)
			tell(&res);
}

/* ---- requests ---- */

/* Its RPC is cancelled when a process is gone: that is its own work. Nobody
 * else waits, so waiting fails, but not before the end.
 */
static void kill_job(unsigned int id)
{
	if (pids[id] <= 0)
		return;
	kill(pids[id], SIGKILL);
	while (waitpid(pids[id], NULL, 0) < 0 && errno == EINTR)
		;
	pids[id] = 0;
}

static void start_job(const struct request *r)
{
	struct result res = { .id = r->id, .round = r->round };
	pid_t pid = fork();

	if (pid) {
		pids[r->id] = pid;
		return;
	}
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGCHLD, SIG_DFL);
	res.error = do_job(r, &res);
	if (send(results[1], &res, sizeof(res), 0) < 0)
		_exit(1);
	_exit(0);
}

/* Whatever was mounted goes, with everybody who waits for it. */
static void clean_up(void)
{
	unsigned int i;

	for (i = 0; i < JOBS_MAX; i++)
		if (pids[i] > 0)
			kill(pids[i], SIGKILL);
	memset(pids, 0, sizeof(pids));
	round_now++;
	for (i = 0; i < 3 && !access(dir, F_OK); i++) {
		umount2(dir, MNT_FORCE);
		umount2(dir, MNT_DETACH);
		rmdir(dir);
	}
}

static void reset(void)
{
	struct result res = { .id = JOBS_RESET };

	clean_up();
	mkdir(dir, 0755);
	tell(&res);
}

static void obey(const char *line)
{
	struct request r = { .round = round_now };
	struct result res = { 0 };
	int at = 0;

	rp_tell("%s", line);
	if (sscanf(line, "%u %15s %n", &r.id, r.verb, &at) != 2 || !at)
		return;
	if (r.id == JOBS_RESET) {
		reset();
		return;
	}
	if (r.id >= JOBS_MAX)
		return;
	if (!strcmp(r.verb, "kill")) {
		kill_job(r.id);
		res.id = r.id;
		res.error = EINTR;
		tell(&res);
		return;
	}
	if (!strcmp(r.verb, "mount") || !strcmp(r.verb, "shell"))
		snprintf(r.text, sizeof(r.text), "%s", line + at);
	else
		sscanf(line + at, "%255s %u %u", r.text, &r.off, &r.len);
	if (r.len > JOBS_DATA || strstr(r.text, "..")) {
		res = (struct result){ .id = r.id, .error = EINVAL };
		tell(&res);
		return;
	}
	start_job(&r);
}

static bool got_request(void)
{
	static char text[8192];
	static size_t have;
	ssize_t n = recv(peer, text + have, sizeof(text) - 1 - have, 0);
	char *end;

	if (n <= 0)
		return false;
	have += n;
	text[have] = 0;
	while ((end = strchr(text, '\n'))) {
		*end++ = 0;
		obey(text);
		have -= end - text;
		memmove(text, end, have + 1);
	}
	return have < sizeof(text) - 1;
}

void agent_serve(int fd, bool local)
{
	struct pollfd p[2];

	peer = fd;
	is_local = local;
	signal(SIGPIPE, SIG_IGN);
	signal(SIGCHLD, SIG_IGN);
	snprintf(dir, sizeof(dir), "/tmp/rpcrdma2-conform.%d", getpid());
	shared = mmap(NULL, (size_t)JOBS_DATA * JOBS_MAX,
		      PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (shared == MAP_FAILED ||
	    socketpair(AF_UNIX, SOCK_SEQPACKET, 0, results)) {
		perror("agent");
		return;
	}
	p[0] = (struct pollfd){ peer, POLLIN, 0 };
	p[1] = (struct pollfd){ results[0], POLLIN, 0 };
	for (;;) {
		if (poll(p, 2, -1) < 0)
			continue;
		if (p[1].revents)
			got_result();
		if (p[0].revents && !got_request())
			break;
	}
	clean_up();
}

int agent_connect(const char *addr, unsigned int port)
{
	struct sockaddr_storage to;
	int fd;

	rp_opt.addr = addr;
	rp_address(&to, port);
	fd = socket(to.ss_family, SOCK_STREAM, 0);
	if (connect(fd, (struct sockaddr *)&to,
		    to.ss_family == AF_INET ? sizeof(struct sockaddr_in) :
					      sizeof(struct sockaddr_in6)))
		rp_fail("%s port %u: %s", addr, port, strerror(errno));
	return fd;
}
