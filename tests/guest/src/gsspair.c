// SPDX-License-Identifier: GPL-2.0
/*
 * Stands in for a Kerberos realm, gssd and svcgssd: makes the two halves of a
 * security context and hands one to the client and one to the server of this
 * machine, with one user: root.
 *
 * usage: gsspair RPC_PIPEFS
 *
 * Runs until it is killed. Whoever needs a context finds it within some
 * milliseconds.
 */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#define SERVER		"/proc/net/rpc/auth.rpcsec.context/channel"
#define MAX_PIPES	64
#define LOOK_EVERY	10	/* ms */
#define LIFETIME	3600	/* s */
#define WINDOW		128

#define INITIATOR	1	/* flag of the client's half */
#define AES128_SHA1	17	/* Kerberos encryption type */

/* What the kernel's Kerberos mechanism takes for a context */
struct half {
	uint32_t	flags;
	uint32_t	end;
	uint64_t	seq;
	uint32_t	enctype;
	uint8_t		key[16];
} __attribute__((packed));

/* What gssd writes into the pipe */
struct downcall {
	uint32_t	uid;
	uint32_t	timeout;
	uint32_t	window;
	uint32_t	handle_len;
	uint32_t	handle;
	uint32_t	half_len;
	struct half	half;
} __attribute__((packed));

static struct {
	char	name[256];
	int	fd;
} pipes[MAX_PIPES];
static unsigned int nr_pipes;

static void hex(char *to, const void *from, unsigned int len)
{
	const uint8_t *p = from;

	to += sprintf(to, "\\x");
	while (len--)
		to += sprintf(to, "%02x", *p++);
}

static void tell_server(uint32_t handle, const struct half *half)
{
	char a[16], b[2 * sizeof(*half) + 3], line[512];
	int fd, len;

	hex(a, &handle, sizeof(handle));
	hex(b, half, sizeof(*half));
	/* user 0, group 0, no further groups; client's name */
	len = snprintf(line, sizeof(line), "%s %u 0 0 0 krb5 %s root@pair\n",
		       a, half->end, b);
	fd = open(SERVER, O_WRONLY);
	if (fd < 0 || write(fd, line, len) != len)
		err(1, SERVER);
	close(fd);
}

static void upcall(int fd)
{
	static uint32_t handles;
	struct downcall d = {
		.timeout	= LIFETIME,
		.window		= WINDOW,
		.handle_len	= sizeof(d.handle),
		.half_len	= sizeof(d.half),
	};
	char text[1024], *uid;
	ssize_t n = read(fd, text, sizeof(text) - 1);

	if (n <= 0)
		return;
	text[n] = 0;
	printf("%s", text);
	uid = strstr(text, "uid=");
	if (!strstr(text, "mech=krb5") || !uid)
		errx(1, "not understood: %s", text);
	d.uid = strtoul(uid + 4, NULL, 10);
	d.handle = ++handles;
	d.half.end = time(NULL) + LIFETIME;
	d.half.enctype = AES128_SHA1;
	if (getrandom(d.half.key, sizeof(d.half.key), 0) !=
	    sizeof(d.half.key))
		err(1, "getrandom");
	tell_server(d.handle, &d.half);
	d.half.flags = INITIATOR;
	/* Whoever asked may have been killed since */
	if (write(fd, &d, sizeof(d)) < 0 && errno != ENOENT &&
	    errno != EPIPE)
		err(1, "downcall");
}

/* Open the pipes that are new; close those of clients that are gone. */
static void look(const char *top)
{
	char pattern[256];
	glob_t g = { 0 };
	unsigned int i;
	size_t j;

	for (i = 0; i < nr_pipes; i++) {
		if (!access(pipes[i].name, F_OK))
			continue;
		close(pipes[i].fd);
		pipes[i--] = pipes[--nr_pipes];
	}
	snprintf(pattern, sizeof(pattern), "%s/*/clnt*/gssd", top);
	if (glob(pattern, 0, NULL, &g))
		return;
	for (j = 0; j < g.gl_pathc && nr_pipes < MAX_PIPES; j++) {
		for (i = 0; i < nr_pipes; i++)
			if (!strcmp(pipes[i].name, g.gl_pathv[j]))
				break;
		if (i < nr_pipes)
			continue;
		snprintf(pipes[i].name, sizeof(pipes[i].name), "%s",
			 g.gl_pathv[j]);
		pipes[i].fd = open(pipes[i].name, O_RDWR | O_NONBLOCK);
		if (pipes[i].fd >= 0)
			nr_pipes++;
	}
	globfree(&g);
}

int main(int argc, char **argv)
{
	struct pollfd fds[MAX_PIPES];
	unsigned int i;

	if (argc != 2)
		errx(2, "usage: gsspair RPC_PIPEFS");
	setlinebuf(stdout);
	for (;;) {
		look(argv[1]);
		for (i = 0; i < nr_pipes; i++)
			fds[i] = (struct pollfd){ pipes[i].fd, POLLIN, 0 };
		if (poll(fds, nr_pipes, LOOK_EVERY) <= 0)
			continue;
		for (i = 0; i < nr_pipes; i++)
			if (fds[i].revents & POLLIN)
				upcall(fds[i].fd);
	}
}
