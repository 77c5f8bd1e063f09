// SPDX-License-Identifier: GPL-2.0
/*
 * NULL and MNT; whatever is asked for gets the same file handle.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "rp.h"
#include "mountd.h"

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

static void serve(int fd)
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

static void accept_all(int fd)
{
	int c;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGCHLD, SIG_IGN);
	for (;;) {
		c = accept(fd, NULL, NULL);
		if (c < 0)
			continue;
		if (!fork()) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			serve(c);
			_exit(0);
		}
		close(c);
	}
}

void mountd_start(void)
{
	struct sockaddr_storage at;
	int fd, one = 1;
	pid_t pid;

	rp_address(&at, rp_opt.port + 1);
	fd = socket(at.ss_family, SOCK_STREAM, 0);
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	rp_check(!bind(fd, (struct sockaddr *)&at,
		       at.ss_family == AF_INET ? sizeof(struct sockaddr_in) :
						 sizeof(struct sockaddr_in6)) &&
		 !listen(fd, 8), "TCP port %u for the MOUNT server: %s",
		 rp_opt.port + 1, strerror(errno));
	pid = fork();
	rp_check(pid >= 0, "cannot fork");
	if (!pid)
		accept_all(fd);
	close(fd);
}
