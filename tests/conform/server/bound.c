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

#define ANNOUNCED	16384	/* by the server: recv_size of the policy */
#define MOST		65536	/* to be had on request: recv_max */

/* Receives of the old size are used up many times. */
static void go_round(struct peer *p)
{
	unsigned int i;

	for (i = 0; i < 200; i++)
		peer_ask_nothing(p);
}

/* Show it a filehandle that we may use. */
static void be_somebody(struct peer *p)
{
	uint32_t xid = rp_xid();
	struct rp_rx *rx;

	rp_file("bound", 4096);
	rp_send(p->c, msg_call(nfs4_read(xid, "bound", 0, 512)));
	rx = peer_next(p);
	rp_check(rp_word(rx->buf, 0) == xid, "not the Reply to the READ");
}

RP_CASE("bounds", TROUBLE | MODULE, bound_nobody, "SEC-3,CHG-9,CHG-25",
	"a client that was served nothing gets no more than was announced")
{
	struct peer *p = peer_server(4096);
	long receives, sends;

	peer_alive(p);
	go_round(p);
	receives = peer_shows(p, "receive_memory");
	sends = peer_shows(p, "send_memory");
	peer_ask_size(p, MOST);
	go_round(p);
	peer_ask_size(p, MOST);
	rp_check(p->rbsiz == ANNOUNCED, "it takes %u bytes", p->rbsiz);
	rp_check(peer_shows(p, "receive_memory") <= receives &&
		 peer_shows(p, "send_memory") <= sends,
		 "memory was %ld + %ld and is %ld + %ld", receives, sends,
		 peer_shows(p, "receive_memory"),
		 peer_shows(p, "send_memory"));

	be_somebody(p);
	peer_get_size(p, MOST);
	peer_end(p);
}

/* Milliseconds for so many REQPROPs that ask for a little less each time, or
 * for nothing
 */
static uint64_t requests(struct peer *p, uint32_t *size, unsigned int n)
{
	uint64_t start = rp_now();

	while (n--) {
		if (size)
			peer_ask_size(p, --*size);
		else
			peer_ask_nothing(p);
	}
	return rp_now() - start;
}

RP_CASE("bounds", TROUBLE, bound_sizes, "SEC-3,CHG-9,CHG-26",
	"another size with every message costs little more than none")
{
	struct peer *p = peer_server(4096);
	uint64_t empty = UINT64_MAX, other = UINT64_MAX, t;
	uint32_t size = MOST;
	unsigned int i;

	be_somebody(p);
	peer_get_size(p, size);
	go_round(p);
	/* The best of some, because others run, too */
	for (i = 0; i < 8; i++) {
		t = requests(p, NULL, 100);
		if (t < empty)
			empty = t;
		t = requests(p, &size, 100);
		if (t < other)
			other = t;
	}
	rp_tell("100 REQPROPs: %llu ms, with sizes %llu ms",
		(unsigned long long)empty, (unsigned long long)other);
	rp_check(p->rbsiz == size, "%u bytes were asked for, %u given", size,
		 p->rbsiz);
	rp_check(other < 4 * empty + 4, "%llu ms instead of %llu",
		 (unsigned long long)other, (unsigned long long)empty);
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

RP_CASE("bounds", TROUBLE | MODULE, bound_hold, "CHG-26,CHG-27,SEC-3",
	"Replies that wait for a client's answer leave the threads to others")
{
	struct peer *p = peer_server(16384);
	struct rp_conn *other = rp_open();
	uint32_t i, n = p->grant;
	struct rp_rx *rx;

	rp_check(n >= 8, "only %u credits", n);
	rp_file("bound", 16384);
	p->hold = true;
	peer_order(p, "rbsiz 4096");
	peer_asks(p);
	/* As many as the server has threads, or more */
	for (i = 0; i < n; i++)
		rp_send(p->c, msg_call(nfs4_read(rp_xid(), "bound", 0, 12000)));
	for (i = 0; i < 8; i++)
		rp_null(other);
	while (peer_shows(p, "replies_held") < (long)n)
		rp_sleep(20);
	rp_null(other);
	/* No: then they may go as they are. */
	p->hold = false;
	peer_answer(p, resprop(0, 0, 1, 0));
	for (i = 0; i < n; i++) {
		rx = peer_next(p);
		rp_check(rx->len > 12000, "a Reply of %u bytes", rx->len);
	}
	rp_nothing(other);
	peer_end(p);
}
