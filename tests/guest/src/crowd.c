// SPDX-License-Identifier: GPL-2.0
/*
 * Many clients of version 2 of one server, in one process. Each exchanges CONNPROP,
 * and asks for the attributes of the server's root, as a mount does with its first
 * Calls. A client that loses its connection before that is answered makes another
 * one, as a mount does. None may be refused.
 *
 * usage: crowd ADDRESS PORT CLIENTS SECONDS [MILLISECONDS SOURCE [SOURCES]]
 *
 * Reads commands from standard input, and prints a line when one is done:
 *
 *	connect		all at once	served N ms MILLISECONDS again TIMES wait MS
 *	hesitate	the same, and nobody looks at the server's answer for a while,
 *			MILLISECONDS or 500
 *
 * SOURCE is the address that they come from, the first of as many as SOURCES.
 *	call		all at once	answered N ms MILLISECONDS
 *	lease		from now on Calls are of the NULL procedure: no client is served
 *			a filehandle, and each may lose its connection when it waits for
 *			no answer	lease
 *	renew S MS	for S seconds, each makes a Call every MS milliseconds, on a new
 *			connection if it has lost its own
 *					renewed TIMES wait MS gap MS again TIMES
 *			the longest time to an answer, a new connection included, and
 *			between two answers. SIGUSR1 and SIGUSR2 say that the server
 *			goes and that it is back. A client that finds no server
 *			tries again after a second; its wait begins with the attempt
 *			that finds one, and no wait begins before the server is back.
 *			The S seconds begin again when it is back
 *	flood S RATE	for S seconds, RATE connect requests a second, by clients that
 *			never answer to the server's
 *					flooded TIMES
 *	closed		wait until all have lost their connection
 *					closed N
 *	fault		each has the server read memory that is not there, which ends
 *			the connection	closed N
 *
 * Ends with status 1 and a message if that takes longer than SECONDS, or if anything
 * else comes: a refusal, a client that was served and has lost its connection, an
 * answer that is none.
 */
#include <arpa/inet.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <infiniband/verbs.h>
#include <poll.h>
#include <rdma/rdma_cma.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))
#define RECV_SIZE	4096
#define SEND_SIZE	128
#define RECVS_EACH	4
#define CONNPROP	5
#define MSG		0
#define NOMSG		1
#define RESOLVE_MS	10000
#define AGAIN_MS	1000	/* a client waits before its next connection */
#define HESITATE_MS	500

/* What the CM says with a refusal that is none: rdma/ib_cm.h of the kernel */
#define STALE_CONN	10

/* The words of an answer that somebody looks at */
#define ANSWER_WORDS	16
#define NULL_WORDS	15
#define CONNPROP_WORDS	5

enum state {
	WAITING, RESOLVING, RESOLVED, CONNECTING, SETTLING, BEGINNING, IDLE, CALLING,
	ENDED
};

struct conn {
	struct rdma_cm_id	*id;
	enum state		state;
	uint32_t		xid;
	long			when;	/* WAITING: until */
	long			began;	/* the last attempt to connect */
	long			due;	/* renew: the next Call */
	long			since;	/* renew: an answer is wanted */
	long			answered;
};

static struct conn *conns;
static unsigned int nr_conns;
static unsigned int again;
static bool all_begin, all_end, lease_only, flooding;
static unsigned int renewed;
static long worst_wait, worst_gap;
static bool server_away;
static long server_back;
static sigset_t signals;
static unsigned int nr_sources = 1;
static int limit;
static struct sockaddr_in to = { .sin_family = AF_INET };
static struct sockaddr_in from;
static struct rdma_event_channel *events;
static struct ibv_comp_channel *chan;
static struct ibv_pd *pd;
static struct ibv_cq *cq;
static struct ibv_srq *srq;
static struct ibv_mr *recv_mr, *send_mr;
static uint8_t *recvs, *sends;

static long now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static long later(long a, long b)
{
	return a > b ? a : b;
}

/* Signals interrupt no system call. */
static void expect_signals(void)
{
	sigemptyset(&signals);
	sigaddset(&signals, SIGUSR1);
	sigaddset(&signals, SIGUSR2);
	sigprocmask(SIG_BLOCK, &signals, NULL);
}

static void note_signals(void)
{
	const struct timespec none = {};
	int number;

	while ((number = sigtimedwait(&signals, NULL, &none)) > 0) {
		server_away = number == SIGUSR1;
		if (!server_away)
			server_back = now();
	}
}

/* ---- queues that all of them share ---- */

static void post_recv(uint64_t n)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)recvs + n * RECV_SIZE,
		.length = RECV_SIZE,
		.lkey = recv_mr->lkey,
	};
	struct ibv_recv_wr wr = { .wr_id = n, .sg_list = &sge, .num_sge = 1 }, *bad;

	if (ibv_post_srq_recv(srq, &wr, &bad))
		err(1, "Receive");
}

/* The first connection knows the device. */
static void make_queues(struct ibv_context *verbs)
{
	size_t nr_recvs = nr_conns * RECVS_EACH, i;
	struct ibv_srq_init_attr attr = {
		.attr = { .max_wr = nr_recvs, .max_sge = 1 },
	};

	recvs = calloc(nr_recvs, RECV_SIZE);
	sends = calloc(nr_conns, SEND_SIZE);
	pd = ibv_alloc_pd(verbs);
	chan = ibv_create_comp_channel(verbs);
	if (!recvs || !sends || !pd || !chan)
		err(1, "memory");
	fcntl(chan->fd, F_SETFL, O_NONBLOCK);
	cq = ibv_create_cq(verbs, nr_recvs + 2 * nr_conns, NULL, chan, 0);
	srq = ibv_create_srq(pd, &attr);
	recv_mr = ibv_reg_mr(pd, recvs, nr_recvs * RECV_SIZE, IBV_ACCESS_LOCAL_WRITE);
	send_mr = ibv_reg_mr(pd, sends, nr_conns * SEND_SIZE, 0);
	if (!cq || !srq || !recv_mr || !send_mr)
		err(1, "queues");
	ibv_req_notify_cq(cq, 0);
	for (i = 0; i < nr_recvs; i++)
		post_recv(i);
}

static void make_qp(struct conn *c)
{
	struct ibv_qp_init_attr attr = {
		.qp_type = IBV_QPT_RC,
		.cap = { .max_send_wr = 4, .max_send_sge = 1 },
	};

	if (!pd)
		make_queues(c->id->verbs);
	attr.send_cq = cq;
	attr.recv_cq = cq;
	attr.srq = srq;
	if (rdma_create_qp(c->id, pd, &attr))
		err(1, "queue pair");
}

/* ---- messages ---- */

static void send_words(struct conn *c, const uint32_t *words, unsigned int n)
{
	uint8_t *buf = sends + (c - conns) * SEND_SIZE;
	struct ibv_sge sge = {
		.addr = (uintptr_t)buf,
		.length = n * 4,
		.lkey = send_mr->lkey,
	};
	struct ibv_send_wr wr = {
		.wr_id = UINT64_MAX, .sg_list = &sge, .num_sge = 1,
		.opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED,
	}, *bad;
	unsigned int i;
	uint32_t w;

	for (i = 0; i < n; i++) {
		w = htonl(words[i]);
		memcpy(buf + 4 * i, &w, 4);
	}
	if (ibv_post_send(c->id->qp, &wr, &bad))
		err(1, "Send");
}

/* Receive Buffer Size 4096; Calls of the server are not wanted. */
static void send_connprop(struct conn *c)
{
	const uint32_t words[] = { ++c->xid, 2, 4, CONNPROP, 0,
				   2, 1, 4, RECV_SIZE, 2, 4, 0 };

	c->state = SETTLING;
	send_words(c, words, ARRAY_SIZE(words));
}

static void send_null(struct conn *c, enum state state)
{
	const uint32_t xid = ++c->xid;
	const uint32_t words[] = { xid, 2, 4, MSG, 0, 0, 0, 0, 0,
				   xid, 0, 2, 100003, 4, 0, 0, 0, 0, 0 };

	c->state = state;
	send_words(c, words, ARRAY_SIZE(words));
}

/* COMPOUND of NFSv4.0: PUTROOTFH, GETATTR of the type */
static void send_getattr(struct conn *c, enum state state)
{
	const uint32_t xid = ++c->xid;
	const uint32_t words[] = { xid, 2, 4, MSG, 0, 0, 0, 0, 0,
				   xid, 0, 2, 100003, 4, 1,
				   1, 20, 0, 0, 0, 0, 0, 0, 0,
				   0, 0, 2, 24, 9, 1, 2 };

	c->state = state;
	send_words(c, words, ARRAY_SIZE(words));
}

/* A Call in a Read chunk of which the handle is nobody's */
static void send_fault(struct conn *c)
{
	const uint32_t words[] = { ++c->xid, 2, 4, NOMSG, 0, 0,
				   1, 0, 0xdeadbeef, 40, 0, 0, 0, 0, 0 };

	send_words(c, words, ARRAY_SIZE(words));
}

static void send_call(struct conn *c, enum state state)
{
	if (lease_only)
		send_null(c, state);
	else
		send_getattr(c, state);
}

/* Message, flags; then the RPC's: Reply, accepted, without an error, as NFS. */
static bool is_answer(const struct conn *c, const uint32_t *w, unsigned int n)
{
	if (n < CONNPROP_WORDS || w[0] != c->xid || w[1] != 2 || w[4] != 1)
		return false;
	if (c->state == SETTLING)
		return w[3] == CONNPROP;
	return n == (lease_only ? NULL_WORDS : ANSWER_WORDS) && w[3] == MSG &&
	       w[9] == c->xid && w[10] == 1 && !w[11] && !w[14] && !w[15];
}

static void answered(struct conn *c)
{
	long t = now();

	c->state = IDLE;
	renewed++;
	worst_wait = later(worst_wait, t - later(c->since, server_back));
	worst_gap = later(worst_gap, t - c->answered);
	c->answered = t;
}

static void receive(struct conn *c, const uint8_t *buf, unsigned int len)
{
	uint32_t w[ANSWER_WORDS] = {};
	unsigned int i, n;

	n = len / 4 < ANSWER_WORDS ? len / 4 : ANSWER_WORDS;
	for (i = 0; i < n; i++) {
		memcpy(&w[i], buf + 4 * i, 4);
		w[i] = ntohl(w[i]);
	}
	/* What the server says of itself without being asked */
	if (n >= CONNPROP_WORDS && w[3] == CONNPROP && !w[4])
		return;
	if (!is_answer(c, w, n))
		errx(1, "state %d: %u bytes, XID %u of %u, version %u, type %u, flags %u, RPC %u %u %u %u",
		     c->state, len, w[0], c->xid, w[1], w[3], w[4], w[10],
		     w[11], w[14], w[15]);
	switch (c->state) {
	case SETTLING:
		send_call(c, BEGINNING);
		break;
	case BEGINNING:
	case CALLING:
		answered(c);
		break;
	default:
		errx(1, "an answer in state %d", c->state);
	}
}

/* NULL: of a connection that was given up */
static struct conn *conn_of_qp(uint32_t num)
{
	static unsigned int i;
	unsigned int n;

	for (n = 0; n < nr_conns; n++, i++) {
		struct conn *c = &conns[i % nr_conns];

		if (c->id && c->id->qp && c->id->qp->qp_num == num)
			return c;
	}
	return NULL;
}

static void completions(void)
{
	struct ibv_wc wc;
	struct ibv_cq *which;
	struct conn *c;
	void *context;

	while (!ibv_get_cq_event(chan, &which, &context))
		ibv_ack_cq_events(which, 1);
	ibv_req_notify_cq(cq, 0);
	while (ibv_poll_cq(cq, 1, &wc) > 0) {
		/* A Send that fails is followed by the end of the connection. */
		if (wc.wr_id == UINT64_MAX)
			continue;
		c = wc.status ? NULL : conn_of_qp(wc.qp_num);
		if (c)
			receive(c, recvs + wc.wr_id * RECV_SIZE, wc.byte_len);
		post_recv(wc.wr_id);
	}
}

/* ---- connections ---- */

static void begin(struct conn *c)
{
	struct sockaddr_in addr = from;
	struct sockaddr *source = from.sin_family ? (void *)&addr : NULL;

	addr.sin_addr.s_addr = htonl(ntohl(from.sin_addr.s_addr) +
				     (c - conns) % nr_sources);
	c->state = RESOLVING;
	c->began = now();
	if (rdma_create_id(events, &c->id, c, RDMA_PS_TCP) ||
	    rdma_resolve_addr(c->id, source, (struct sockaddr *)&to,
			      RESOLVE_MS))
		err(1, "connection %td", c - conns);
}

static void forget(struct conn *c)
{
	if (!c->id)
		return;
	if (c->id->qp)
		rdma_destroy_qp(c->id);
	rdma_destroy_id(c->id);
	c->id = NULL;
}

/* Was there a time without the server after this attempt began? */
static bool without_server(const struct conn *c)
{
	note_signals();
	return server_away || c->began < server_back;
}

/* The connection is no more. */
static void lost(struct conn *c, const struct rdma_cm_event *e)
{
	if (all_end) {
		c->state = ENDED;
		return;
	}
	if (lease_only && c->state >= IDLE) {
		/* Until it is due, or at once */
		c->when = c->state == IDLE ? LONG_MAX : 0;
		forget(c);
		c->state = WAITING;
		return;
	}
	if (c->state >= IDLE)
		errx(1, "client %td was served: %s, status %d", c - conns,
		     rdma_event_str(e->event), e->status);
	again++;
	forget(c);
	c->state = WAITING;
	c->when = now() + AGAIN_MS;
	if (without_server(c))
		c->since = c->when;
}

static void ask(struct conn *c)
{
	struct rdma_conn_param param = { .retry_count = 7, .rnr_retry_count = 7,
					 .initiator_depth = 1,
					 .responder_resources = 1,
					 /* Without a queue pair: nobody's */
					 .qp_num = 0x800000 + (c - conns) };

	c->state = CONNECTING;
	if (rdma_connect(c->id, &param))
		err(1, "connect");
}

static void cm_event(struct rdma_cm_event *e)
{
	struct conn *c = e->id->context;

	switch (e->event) {
	case RDMA_CM_EVENT_ADDR_RESOLVED:
		if (rdma_resolve_route(c->id, RESOLVE_MS))
			err(1, "route");
		break;
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
		if (flooding) {
			ask(c);
			break;
		}
		make_qp(c);
		if (all_begin)
			c->state = RESOLVED;
		else
			ask(c);
		break;
	case RDMA_CM_EVENT_ESTABLISHED:
		send_connprop(c);
		break;
	case RDMA_CM_EVENT_DISCONNECTED:
		rdma_disconnect(c->id);
		/* A Reply that came before the end counts. */
		if (chan)
			completions();
		lost(c, e);
		break;
	case RDMA_CM_EVENT_REJECTED:
		if (e->status != STALE_CONN && !without_server(c))
			errx(1, "client %td was refused, reason %d", c - conns,
			     e->status);
		lost(c, e);
		break;
	case RDMA_CM_EVENT_CONNECT_ERROR:
		lost(c, e);
		break;
	case RDMA_CM_EVENT_TIMEWAIT_EXIT:
		break;
	default:
		errx(1, "client %td: %s, status %d", c - conns,
		     rdma_event_str(e->event), e->status);
	}
}

static void cm_events(void)
{
	struct rdma_cm_event *e, copy;

	while (!rdma_get_cm_event(events, &e)) {
		copy = *e;
		rdma_ack_cm_event(e);
		/* What comes after the request is of no interest */
		if (!flooding || ((struct conn *)copy.id->context)->state == RESOLVING)
			cm_event(&copy);
	}
}

/* Was served, and has lost its connection: that comes back with the next Call. */
static bool asleep(const struct conn *c)
{
	return c->state == WAITING && c->when == LONG_MAX;
}

static unsigned int in_state(enum state state)
{
	unsigned int i, n = 0;

	for (i = 0; i < nr_conns; i++)
		n += conns[i].state == state ||
		     (state >= IDLE && asleep(&conns[i]));
	return n;
}

static void begin_again(void)
{
	long t = now();
	unsigned int i;

	for (i = 0; i < nr_conns; i++)
		if (conns[i].state == WAITING && conns[i].when <= t)
			begin(&conns[i]);
}

static void handle_all(void)
{
	cm_events();
	if (chan)
		completions();
	begin_again();
}

/* Waits for something to happen, not longer than @ms. */
static void turn(int ms)
{
	struct pollfd fds[] = {
		{ .fd = events->fd, .events = POLLIN },
		{ .fd = chan ? chan->fd : -1, .events = POLLIN },
	};

	poll(fds, 2, ms);
	note_signals();
	handle_all();
}

static void wait_for(enum state state)
{
	long end = now() + limit * 1000L;

	while (in_state(state) < nr_conns) {
		if (now() > end)
			errx(1, "only %u of %u got so far in time",
			     in_state(state), nr_conns);
		turn(100);
	}
}

/* One process is slower than so many machines: others go on while one asks. */
static void connect_all(int hesitate_ms)
{
	unsigned int i;
	long until, left;

	all_begin = true;
	all_end = false;
	again = 0;
	for (i = 0; i < nr_conns; i++) {
		forget(&conns[i]);
		begin(&conns[i]);
	}
	wait_for(RESOLVED);
	all_begin = false;
	worst_wait = 0;
	until = now() + hesitate_ms;
	for (i = 0; i < nr_conns; i++) {
		conns[i].since = now();
		ask(&conns[i]);
		if (now() >= until)
			handle_all();
	}
	while ((left = until - now()) > 0)
		poll(NULL, 0, left);
	wait_for(IDLE);
}

static void call_all(void)
{
	unsigned int i;

	for (i = 0; i < nr_conns; i++)
		send_call(&conns[i], CALLING);
	wait_for(IDLE);
}

static void renew(struct conn *c)
{
	if (c->state == IDLE) {
		c->since = now();
		send_call(c, CALLING);
	} else if (asleep(c)) {
		c->since = now();
		begin(c);
	}
}

static void renew_all(int seconds, int period)
{
	long start = now(), length = seconds * 1000L, end;
	unsigned int i;

	worst_wait = worst_gap = renewed = again = 0;
	server_back = 0;
	for (i = 0; i < nr_conns; i++) {
		conns[i].answered = start;
		conns[i].due = start + (long)period * i / nr_conns;
	}
	while (end = later(start, server_back) + length, now() < end) {
		for (i = 0; i < nr_conns; i++) {
			if (conns[i].due > now())
				continue;
			conns[i].due += period;
			renew(&conns[i]);
		}
		turn(5);
	}
	for (i = 0; i < nr_conns; i++)
		worst_gap = later(worst_gap, end - conns[i].answered);
}

static unsigned int flood(int seconds, int rate)
{
	long start = now(), end = start + seconds * 1000L;
	unsigned int n = 0;

	flooding = true;
	while (now() < end) {
		while (n < (now() - start) * rate / 1000) {
			forget(&conns[n % nr_conns]);
			begin(&conns[n++ % nr_conns]);
		}
		turn(5);
	}
	return n;
}

static void all_closed(void)
{
	all_end = true;
	wait_for(ENDED);
}

static void fault_all(void)
{
	unsigned int i;

	for (i = 0; i < nr_conns; i++)
		send_fault(&conns[i]);
	all_closed();
}

int main(int argc, char **argv)
{
	struct rlimit files = { 65536, 65536 };
	char line[64];
	int hesitate_ms = HESITATE_MS, seconds, n;
	long start;

	if (argc < 5 || argc == 6 || argc > 8 || inet_pton(AF_INET, argv[1], &to.sin_addr) != 1)
		errx(2, "usage: crowd ADDRESS PORT CLIENTS SECONDS [MILLISECONDS SOURCE [SOURCES]]");
	to.sin_port = htons(atoi(argv[2]));
	nr_conns = atoi(argv[3]);
	limit = atoi(argv[4]);
	if (argc > 5) {
		hesitate_ms = atoi(argv[5]);
		from.sin_family = AF_INET;
		if (inet_pton(AF_INET, argv[6], &from.sin_addr) != 1)
			errx(2, "%s is no address", argv[6]);
	}
	if (argc > 7)
		nr_sources = atoi(argv[7]);
	conns = calloc(nr_conns, sizeof(*conns));
	setrlimit(RLIMIT_NOFILE, &files);
	events = rdma_create_event_channel();
	if (!conns || !events)
		err(1, "clients");
	fcntl(events->fd, F_SETFL, O_NONBLOCK);
	expect_signals();
	setlinebuf(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		start = now();
		if (!strcmp(line, "connect\n") || !strcmp(line, "hesitate\n")) {
			connect_all(*line == 'h' ? hesitate_ms : 0);
			printf("served %u ms %ld again %u wait %ld\n", nr_conns,
			       now() - start, again, worst_wait);
		} else if (!strcmp(line, "call\n")) {
			call_all();
			printf("answered %u ms %ld\n", nr_conns, now() - start);
		} else if (!strcmp(line, "closed\n")) {
			all_closed();
			printf("closed %u\n", nr_conns);
		} else if (!strcmp(line, "fault\n")) {
			fault_all();
			printf("closed %u\n", nr_conns);
		} else if (!strcmp(line, "lease\n")) {
			lease_only = true;
			printf("lease\n");
		} else if (sscanf(line, "renew %d %d", &seconds, &n) == 2) {
			renew_all(seconds, n);
			printf("renewed %u wait %ld gap %ld again %u\n", renewed,
			       worst_wait, worst_gap, again);
		} else if (sscanf(line, "flood %d %d", &seconds, &n) == 2) {
			printf("flooded %u\n", flood(seconds, n));
		} else {
			errx(2, "unknown command %s", line);
		}
	}
	return 0;
}
