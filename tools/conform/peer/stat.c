// SPDX-License-Identifier: GPL-2.0
/*
 * Counters of the module, as a case wants them.
 */
#include "command.h"
#include "stat.h"

long rp_server_stat(struct rp_conn *c, const char *name)
{
	long n = cmd_shows("server", rp_port(c), name);

	rp_check(n >= 0, "the server does not show %s", name);
	return n;
}

long rp_client_stat(struct cl *s, const char *name)
{
	long n = cmd_shows("client", rp_opt.port, name);

	(void)s;
	rp_check(n >= 0, "the client does not show %s", name);
	return n;
}

long rp_ended_stat(const char *role, const char *name)
{
	long n = cmd_ended(role, name);

	rp_check(n >= 0, "no %s of what has ended is shown", name);
	return n;
}

/* Nothing wakes us: look, wait a little, look again. */
#define LOOK		20		/* ms */
#define LOOKS		(RP_ANSWER * rp_opt.scale / LOOK)

void rp_client_reaches(struct cl *s, const char *name, long want)
{
	unsigned int i;
	long n = -1;

	for (i = 0; i < LOOKS && n < want; i++) {
		if (i)
			rp_sleep(LOOK);
		n = rp_client_stat(s, name);
	}
	rp_check(n == want, "%s of the client is %ld, not %ld", name, n, want);
}

void rp_ended_above(const char *role, const char *name, long was)
{
	unsigned int i;

	for (i = 0; i < LOOKS; i++) {
		if (rp_ended_stat(role, name) > was)
			return;
		rp_sleep(LOOK);
	}
	rp_fail("%s of ended %ss is still %ld", name, role, was);
}
