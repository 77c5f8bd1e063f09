// SPDX-License-Identifier: GPL-2.0
/*
 * What a client can make the server spend: memory and time.
 */
#include <sys/wait.h>
#include <unistd.h>

#include "rp.h"
#include "client.h"
#include "command.h"
#include "either.h"
#include "stat.h"

/* Sizes that it announces and its buffers for messages */
static long buffers(struct peer *p)
{
	return peer_shows(p, "receive_memory") + peer_shows(p, "send_memory");
}

RP_CASE("bounds", TROUBLE | MODULE, bound_sizes, "SEC-3,CHG-9,CHG-25,CHG-26",
	"whatever sizes a client asks for, it gets no memory and no more than there is")
{
	struct peer *p = peer_server(4096);
	uint32_t most = p->rbsiz, i;
	long before;

	peer_alive(p);
	for (i = 0; i < 100; i++)
		peer_ask_nothing(p);
	before = buffers(p);
	for (i = 0; i < 200; i++) {
		peer_ask_size(p, rp_dice() % (4 * most));
		rp_check(p->rbsiz >= 4096 && p->rbsiz <= most,
			 "it takes %u bytes, at first it took %u", p->rbsiz,
			 most);
	}
	rp_check(buffers(p) <= before + before / 4,
		 "%ld bytes of buffers before, %ld now", before, buffers(p));
	peer_end(p);
}

/* A NULL Call with so many Read chunks of so many segments of @len bytes */
static struct rp_msg *with_chunks(uint32_t xid, struct rp_mem *mem,
				  unsigned int chunks, unsigned int segs,
				  uint32_t len)
{
	struct rp_msg *m = call_head(xid, MSG, 0), *rpc = rpc_null(xid);
	unsigned int i, j, pos = 4 * rpc->n;

	for (i = 0; i < chunks; i++) {
		for (j = 0; j < segs; j++)
			put_read(m, pos, rp_seg(mem, 0, len));
		pos += segs * len;
	}
	put_all(m, W(0, 0, 0));
	put_msg(m, rpc);
	return rp_set(m, 2, 64);
}

static unsigned int granted = 1;

/* As many of them at once as there are credits for */
static void burst(struct rp_conn *c, struct rp_mem *mem, unsigned int chunks,
		  unsigned int segs, uint32_t len)
{
	unsigned int i, n = granted;
	struct rp_rx *rx;

	if (n > RP_NR_SENDS / 2)
		n = RP_NR_SENDS / 2;
	for (i = 0; i < n; i++)
		rp_send(c, with_chunks(rp_xid(), mem, chunks, segs, len));
	for (i = 0; i < n; i++) {
		rx = rp_recv(c);
		rp_check(rx, "no answer to %u of %u", i, n);
		granted = rp_word(rx->buf, 2);
	}
}

RP_CASE("bounds", TROUBLE | MODULE, bound_idle, "SEC-3,CHK-24",
	"what chunks made the server allocate it gives back when idle")
{
	struct rp_conn *c;
	struct rp_mem *mem;
	unsigned int i;
	long start, kept, most, now = 0;

	cl_parameter("adapt_seconds", "1");
	c = rp_open();
	mem = rp_mem(c, 1 << 20);
	rp_null(c);
	start = rp_server_stat(c, "rpc_memory");
	for (i = 0; i < 12; i++) {
		burst(c, mem, 4, 16, 4);
		burst(c, mem, 1, 14, 72000);
	}
	most = rp_server_stat(c, "rpc_memory");
	rp_check(most < start + 2 * 1024 * 1024,
		 "%ld bytes are kept, %ld more than at first", most,
		 most - start);
	/* One Call at first; one for each credit stays, and eight more */
	kept = (granted + 8) * start;
	for (i = 0; i < 100 * rp_opt.scale; i++) {
		now = rp_server_stat(c, "rpc_memory");
		if (now <= kept)
			break;
		rp_sleep(100);
	}
	rp_check(now <= kept, "%ld bytes at first, %ld of %ld when idle",
		 start, now, most);
	burst(c, mem, 4, 16, 4);
	rp_nothing(c);
}

/* What was sent to it stays in the server's queue for as long as the client likes, but
 * for the server's keepalive: the connect request asks for retries without end. Over
 * iWARP a missing Receive ends the connection.
 */
RP_CASE("bounds", TROUBLE | MODULE, bound_no_receives, "SEC-3,CRED-17",
	"a client that sends, and takes nothing, does not keep its connection")
{
	const struct rp_how how = { .recvs = 3, .recv_size = 4096,
				    .no_more = true };
	unsigned int i, n = cmd_memory().connections;
	struct rp_conn *c;

	cl_parameter("silence_seconds", "4");
	c = rp_connect_how(&how);
	rp_send(c, connprop_x(rp_xid(), 4096, 0, 0));
	rp_check(rp_recv(c), "no CONNPROP");
	for (i = 0; i < 6; i++)
		rp_try_send(c, null_call(rp_xid()));
	for (i = 0; i < 20 * rp_opt.scale && !rp_closed_within(c, 500); i++)
		rp_try_send(c, updprop_rbsiz(rp_xid(), 4096 + 4 * i));
	rp_check(rp_is_closed(c), "the connection is there after %u s", i / 2);
	for (i = 0; i < 100 && cmd_memory().connections > n; i++)
		rp_sleep(100);
	rp_check(cmd_memory().connections <= n, "the server has it still");
}

/* More than the server once let wait */
#define CLIENTS		80

RP_CASE("bounds-connect", TROUBLE, bound_connects, "SEC-3,REC-1",
	"80 clients connect while nobody has time to accept them")
{
	const struct rp_how how = { .recvs = 8, .recv_size = 4096 };
	unsigned int i, failed = 0;
	int status;

	for (i = 0; i < CLIENTS; i++) {
		pid_t pid = fork();

		rp_check(pid >= 0, "no process");
		if (!pid) {
			rp_null(rp_connect_how(&how));
			_exit(0);
		}
	}
	for (i = 0; i < CLIENTS; i++)
		failed += wait(&status) < 0 || status;
	rp_check(!failed, "%u of %u were refused", failed, CLIENTS);
}
