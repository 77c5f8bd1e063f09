// SPDX-License-Identifier: GPL-2.0
/*
 * An agent of flesh and blood: prints what to do on the client, and reads how
 * it ended. Somebody may answer later, or never.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "rp.h"
#include "jobs.h"

static void answer(int fd, unsigned int id, int error)
{
	char line[64];

	snprintf(line, sizeof(line), "%u %d 0 0\n", id, error);
	if (send(fd, line, strlen(line), 0) < 0)
		dprintf(jobs_terminal, "no pending action has this number\n");
}

static void show(int fd, const char *line)
{
	char verb[16] = "", source[128] = "", options[800] = "";
	int tty = jobs_terminal;
	unsigned int id;

	if (sscanf(line, "%u %15s %127s %799s", &id, verb, source,
		   options) < 2)
		return;
	if (id == JOBS_RESET) {
		dprintf(tty, "\nUnmount the file systems of the previous case.\n");
		answer(fd, JOBS_RESET, 0);
		return;
	}
	if (!strcmp(verb, "mount"))
		dprintf(tty, "[%u] mount -t nfs -o %s %s DIRECTORY\n", id,
			options, source);
	else if (!strcmp(verb, "kill"))
		dprintf(tty, "[%u] kill the process of this action\n", id);
	else
		dprintf(tty, "[%u] %s %s %s\n", id, verb, source, options);
	dprintf(tty,
		"    then type: %u, and an error number if it failed\n", id);
}

static bool got_text(int fd, char *text, size_t size, size_t *have,
		     int from, void (*use)(int fd, const char *line))
{
	ssize_t n = read(from, text + *have, size - 1 - *have);
	char *end;

	if (n <= 0)
		return false;
	*have += n;
	text[*have] = 0;
	while ((end = strchr(text, '\n'))) {
		*end++ = 0;
		use(fd, text);
		*have -= end - text;
		memmove(text, end, *have + 1);
	}
	return *have < size - 1;
}

static void typed(int fd, const char *line)
{
	unsigned int id;
	int error = 0;

	if (sscanf(line, "%u %d", &id, &error) >= 1)
		answer(fd, id, error);
}

void hand_serve(int fd)
{
	static char todo[8192], text[1024];
	struct pollfd p[2] = { { fd, POLLIN, 0 }, { 0, POLLIN, 0 } };
	size_t ntodo = 0, ntext = 0;

	for (;;) {
		if (poll(p, 2, -1) < 0)
			continue;
		if (p[0].revents && !got_text(fd, todo, sizeof(todo), &ntodo,
					      fd, show))
			return;
		if (p[1].revents && !got_text(fd, text, sizeof(text), &ntext,
					      0, typed))
			p[1].fd = -1;
	}
}
