// SPDX-License-Identifier: GPL-2.0
/*
 * Clients that mean harm, many at once and for a while, beside others that do
 * not. Each does one thing to the server in a process of its own, again and
 * again, and does not care how it ends.
 *
 * The case prints what they have cost: processor time of their own, and the
 * most memory that the server had for one connection and for all of them.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rp.h"
#include "change.h"
#include "command.h"

#define SECONDS	"HOSTILE_SECONDS"	/* in the environment */

static const struct rp_how small = { .recvs = 16, .recv_size = 4096 };

/* A connection with the extension; our Receive Buffer Size is @rbsiz. */
static struct rp_conn *extended(const struct rp_how *how, uint32_t rbsiz)
{
	struct rp_conn *c = rp_connect_how(how);

	rp_send(c, connprop_x(rp_xid(), rbsiz, 0, 0));
	rp_check(rp_recv(c), "no CONNPROP");
	return c;
}

static void drain(struct rp_conn *c)
{
	while (rp_recv_within(c, 0))
		;
}

static void flood(struct rp_conn *c, struct rp_msg *(*next)(void))
{
	unsigned int i;

	for (i = 0; i < 400 && rp_try_send(c, next()); i++)
		if (i % 8 == 7)
			drain(c);
}

static struct rp_msg *any_reqprop(void)
{
	return reqprop_rbsiz(rp_xid(), 1024 + rp_dice() % 80000);
}

static void reqprops(void)
{
	flood(extended(&small, 4096), any_reqprop);
}

static struct rp_msg *any_updprop(void)
{
	return updprop_rbsiz(rp_xid(), 1024 + rp_dice() % 80000);
}

static void updprops(void)
{
	flood(extended(&small, 4096), any_updprop);
}

static struct rp_msg *any_spoilt(void)
{
	struct rp_msg *m = null_call(rp_xid());

	rp_spoil(m);
	return m;
}

static void garbage(void)
{
	flood(extended(&small, 4096), any_spoilt);
}

static void sizes(void)
{
	static const unsigned int bytes[] = { 0, 1, 16, 19, 20, 27, 28, 4096,
					      16384, 16385, 65536 };
	static uint8_t junk[65536];
	struct rp_conn *c = extended(&small, 4096);
	unsigned int i;

	memset(junk, 2, sizeof(junk));
	for (i = 0; i < 11 && !rp_is_closed(c); i++)
		rp_send_bytes(c, junk, bytes[i]);
}

static struct rp_msg *with_reads(struct rp_seg seg, unsigned int n)
{
	uint32_t xid = rp_xid();
	struct rp_msg *m = call_head(xid, MSG, 0), *rpc = rpc_null(xid);

	while (n--)
		put_read(m, 4 * rpc->n, seg);
	put_all(m, W(0, 0, 0));
	put_msg(m, rpc);
	return rp_set(m, 2, 1024);
}

/* Calls whose chunks are as many, or as long, as may be */
static void chunks(void)
{
	struct rp_conn *c = extended(&small, 4096);
	struct rp_mem *mem = rp_mem(c, 65536);
	unsigned int i, n = rp_dice() % 2 ? 16 : 1;

	for (i = 0; i < 64; i++) {
		if (!rp_try_send(c, with_reads(rp_seg(mem, 0, 65536 / n), 16)))
			return;
		if (i % 4 == 3)
			rp_recv_within(c, 200);
	}
}

/* The same, and nobody is there to be read from. */
static void vanish(void)
{
	struct rp_conn *c = extended(&small, 4096);
	struct rp_mem *mem = rp_mem(c, 65536);
	unsigned int i;

	for (i = 0; i < 8; i++)
		rp_try_send(c, with_reads(rp_seg(mem, 0, 65536), 15));
	_exit(0);
}

static void wrong_handles(void)
{
	struct rp_conn *c = extended(&small, 4096);
	struct rp_seg seg = { .handle = rp_dice(), .len = 1 << 16 };

	rp_try_send(c, with_reads(seg, 16));
	rp_closed_within(c, 1000);
}

static void half_open(void)
{
	unsigned int i;

	for (i = 0; i < 8; i++)
		rp_connect_how(&small);
	rp_sleep(300);
	_exit(0);
}

/* The server wants our size changed and holds Replies until we answer. */
static void no_answers(void)
{
	struct rp_conn *c = extended(NULL, 16384);
	unsigned int i;

	rp_file("hostile-read", 16384);
	cmd_change("server", rp_port(c), "rbsiz 4096");
	for (i = 0; i < 8; i++)
		rp_try_send(c, msg_call(nfs4_read(rp_xid(), "hostile-read", 0,
						  12000)));
	rp_sleep(1500);
}

/* Delegations are recalled, which is not answered. */
static void no_callbacks(void)
{
	rp_play("rev_unanswered");
}

#define KINDS	10

static void (*const kinds[KINDS])(void) = {
	reqprops, updprops, garbage, sizes, chunks, vanish, wrong_handles,
	half_open, no_answers, no_callbacks,
};

static void one_round(unsigned int kind, unsigned int number)
{
	setpgid(0, 0);
	for (number = number % 1000 + kind; number; number--)
		rp_dice();
	kinds[kind]();
	_exit(0);
}

/* At the end, in the middle of whatever it does. Its processes become ours,
 * and so does the processor time that they have used.
 */
static void end_round(pid_t pid)
{
	kill(-pid, SIGKILL);
	while (waitpid(-1, NULL, 0) > 0)
		;
}

/* Rounds of it, none longer than ten seconds, with short rests. They begin when all workers
 * are there, which is when @until is set.
 */
static void worker(unsigned int kind, const uint64_t *until, unsigned int *rounds)
{
	uint64_t start, limit, end;
	pid_t pid;

	prctl(PR_SET_CHILD_SUBREAPER, 1);
	while (!(end = __atomic_load_n(until, __ATOMIC_ACQUIRE)))
		rp_sleep(10);
	for (start = rp_now(); start < end; start = rp_now()) {
		limit = start + 10000 < end ? start + 10000 : end;
		__atomic_add_fetch(rounds, 1, __ATOMIC_RELAXED);
		pid = fork();
		if (!pid)
			one_round(kind, *rounds);
		if (pid < 0)
			_exit(1);
		setpgid(pid, pid);
		while (rp_now() < limit && !waitpid(pid, NULL, WNOHANG))
			rp_sleep(10);
		end_round(pid);
		rp_sleep(rp_now() - start < 100 ? 20 : 100);
	}
	_exit(0);
}

/* ---- what they cost ---- */

static void keep_most(struct cmd_memory *most, const struct cmd_memory *now)
{
	if (most->connections < now->connections)
		most->connections = now->connections;
	if (most->one < now->one)
		most->one = now->one;
	if (most->all < now->all)
		most->all = now->all;
}

static long cpu_ms_of(int who)
{
	struct rusage u;

	getrusage(who, &u);
	return (u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1000 +
	       (u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1000;
}

/* What looking on has cost is not the server's, either. */
static long cpu_ms(void)
{
	return cpu_ms_of(RUSAGE_CHILDREN) + cpu_ms_of(RUSAGE_SELF);
}

RP_CASE("hostile", TROUBLE | MODULE, hostile_all, "SEC-3,SEC-14,REC-1",
	"floods, chunks, vanishing clients, half-open connections at once")
{
	struct {
		uint64_t	until;
		unsigned int	rounds[KINDS];
	} *all = mmap(NULL, sizeof(*all), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	const char *seconds = getenv(SECONDS);
	struct cmd_memory most = {}, now;
	unsigned int k;
	pid_t pids[KINDS];
	uint64_t end;

	rp_check(all != MAP_FAILED && seconds, "no " SECONDS);
	alarm(atoi(seconds) + 60 * rp_opt.scale);
	for (k = 0; k < KINDS; k++) {
		pids[k] = fork();
		rp_check(pids[k] >= 0, "no process");
		if (!pids[k])
			worker(k, &all->until, &all->rounds[k]);
	}
	end = rp_now() + 1000 * atoi(seconds);
	__atomic_store_n(&all->until, end, __ATOMIC_RELEASE);
	while (rp_now() < end) {
		now = cmd_memory();
		keep_most(&most, &now);
		rp_sleep(250);
	}
	for (k = 0; k < KINDS; k++)
		waitpid(pids[k], NULL, 0);
	for (k = 0; k < KINDS; k++)
		fprintf(stderr, "kind %u: %u rounds\n", k, all->rounds[k]);
	for (k = 0; k < KINDS; k++)
		rp_check(all->rounds[k], "kind %u did nothing", k);
	rp_nothing(rp_open());
	rp_note("cpu_ms=%ld connections=%u most_one=%ld most_all=%ld",
		cpu_ms(), most.connections, most.one, most.all);
}
