// SPDX-License-Identifier: GPL-2.0
/*
 * A server or a client under test, as far as its values change: see
 * either.h.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "rp.h"
#include "command.h"
#include "either.h"

/* Bytes of a Reply to nfs4_read() without its data */
#define READ_OVERHEAD	(36 + NFS4_READ_HEAD)

/* Sends nobody has made room for with credits: fewer than the reserve */
#define BURST		5

static uint32_t lower(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

/* What we may send to a client, or what it takes us to be able to send */
static void set_limit(struct peer *p)
{
	if (p->s)
		p->s->limit = lower(p->rbsiz, p->own);
}

/* CHG-19, CHG-25 */
static void update(struct peer *p, const struct chg *m)
{
	uint32_t i;

	p->updates++;
	if (p->barrier)
		p->hold_empty = true;
	p->barrier = false;
	for (i = 0; i < m->n; i++) {
		switch (m->set[i].id) {
		case RBSIZ:
			rp_check(m->set[i].value > p->rbsiz,
				 "unasked, the size goes from %u to %u",
				 p->rbsiz, m->set[i].value);
			p->rbsiz = m->set[i].value;
			set_limit(p);
			break;
		case BRS:
			p->brs = m->set[i].value;
			break;
		default:
			rp_fail("an update of property %08x", m->set[i].id);
		}
	}
}

static void request(struct peer *p, const struct chg *m)
{
	rp_check(!p->waiting, "a REQPROP while another waits");
	if (m->n)
		p->requests++;
	else
		p->cycles++;
	if (m->n ? !p->hold : !p->hold_empty) {
		rp_send(p->c, resprop(m->xid, 0, (1u << m->n) - 1, 0));
		return;
	}
	p->request = *m;
	p->waiting = true;
}

/* Is it its own business? */
static bool own_business(struct peer *p, const struct rp_rx *rx)
{
	struct chg m;

	if (!chg_is(rx, UPDPROP) && !chg_is(rx, REQPROP))
		return false;
	rp_check(!p->base, "type %08x to a peer without the extension",
		 rp_word(rx->buf, 3));
	m = chg_parse(rx);
	if (m.type == UPDPROP)
		update(p, &m);
	else
		request(p, &m);
	return true;
}

/* ---- both ---- */

/* The client under test; there is one at most. */
static struct peer *the_client;

static struct peer *new_peer(const struct rp_msg *prop)
{
	struct peer *p = calloc(1, sizeof(*p));
	struct chg m = chg_of(prop);
	const struct chg_value *v = chg_find(&m, RBSIZ);

	rp_check(p, "no memory");
	p->own = v ? v->value : 4096;
	p->base = !chg_find(&m, X_NOCHG);
	return p;
}

/* The CONNPROP of the other end */
static void take_connprop(struct peer *p, const struct rp_rx *rx)
{
	struct chg m = chg_parse(rx);
	const struct chg_value *v;

	rp_check(m.type == CONNPROP, "no CONNPROP");
	v = chg_find(&m, RBSIZ);
	p->rbsiz = v ? v->value : 4096;
	v = chg_find(&m, BRS);
	p->brs = v ? v->value : 1;
	p->grant = m.credit;
	if (!p->base && !chg_find(&m, X_NOCHG) && !rp_opt.module)
		rp_skip("it does not announce the extension");
	rp_check(p->base || chg_find(&m, X_NOCHG),
		 "it does not announce the extension");
}

/* A message on a connection to a server */
static struct rp_rx *next_of_server(struct peer *p)
{
	struct rp_rx *rx;

	do {
		rx = rp_recv(p->c);
	} while (own_business(p, rx));
	if (rp_word(rx->buf, 4) == RESPONSE && rp_word(rx->buf, 3) != ERROR)
		p->grant = rp_word(rx->buf, 2);
	return rx;
}

/* Everything but Calls */
static bool control(struct cl *s, const struct rp_rx *rx)
{
	uint32_t type = rp_word(rx->buf, 3);
	struct peer *p = the_client;

	(void)s;
	if (own_business(p, rx))
		return true;
	if ((type == MSG || type == NOMSG) && rp_word(rx->buf, 4) == CALL)
		return false;
	rp_check(p->others < 8, "messages nobody waits for");
	p->other[p->others] = malloc(sizeof(*rx));
	rp_check(p->other[p->others], "no memory");
	*p->other[p->others++] = *rx;
	return true;
}

/* Serve; done when something else has come. */
static bool has_other(void *arg)
{
	struct peer *p = arg;
	struct cl_call *call;

	while (!p->others && !rp_is_closed(p->c)) {
		call = cl_next_within(p->s, 0);
		if (!call)
			break;
		cl_answer(p->s, call);
		cl_call_free(call);
	}
	return p->others || rp_is_closed(p->c);
}

static struct rp_rx *next_of_client(struct peer *p)
{
	static struct rp_rx rx;

	unsigned int i;

	rp_wait(has_other, p, RP_ANSWER);
	rp_check(p->others, rp_is_closed(p->c) ?
		 "the connection ends instead of a message" :
		 "no message in time");
	rx = *p->other[0];
	free(p->other[0]);
	p->others--;
	for (i = 0; i < p->others; i++)
		p->other[i] = p->other[i + 1];
	return &rx;
}

struct rp_rx *peer_next(struct peer *p)
{
	return p->s ? next_of_client(p) : next_of_server(p);
}

void peer_expect(struct peer *p, const struct rp_msg *want)
{
	static struct rp_msg copy;

	/* Many messages may be made while it is waited for. */
	copy.n = 0;
	copy.cut = want->cut;
	put_msg(&copy, want);
	rp_must_match(peer_next(p), &copy);
}

void peer_refused(struct peer *p, const struct rp_msg *m, uint32_t code)
{
	rp_send(p->c, m);
	peer_expect(p, error2(m->w[0], code));
}

static void null_call_works(struct peer *p)
{
	uint32_t xid = rp_xid();

	rp_send(p->c, null_call(xid));
	peer_expect(p, null_reply(xid));
}

void peer_alive(struct peer *p)
{
	if (p->s)
		cl_alive(p->s);
	else
		null_call_works(p);
}

/* Control messages are answered in order: what left an answer would be seen
 * in front of the one that is asked for.
 */
void peer_nothing(struct peer *p)
{
	if (!p->base)
		peer_ask_nothing(p);
	peer_alive(p);
	rp_check(!p->others, "a message where there should be none");
}

void peer_end(struct peer *p)
{
	peer_nothing(p);
	if (p->s)
		cl_end(p->s);
	else if (p->base)
		rp_expect_silence(p->c, RP_SILENCE);
}

bool peer_still_there(struct peer *p)
{
	uint32_t xid = rp_xid();
	struct rp_rx *rx;

	if (!rp_try_send(p->c, reqprop(xid, 0)))
		return false;
	while ((rx = rp_recv_within(p->c, RP_ANSWER)))
		if (rp_matches(rx, resprop(xid, 0, 0, 0)))
			return true;
	rp_check(rp_is_closed(p->c), "it has gone silent");
	return false;
}

struct chg peer_ask(struct peer *p, const struct rp_msg *m)
{
	struct chg req = chg_of(m), resp;
	struct rp_rx *rx;

	rp_send(p->c, m);
	rx = peer_next(p);
	rp_check(chg_is(rx, RESPROP), "a REQPROP is answered with type %08x",
		 rp_word(rx->buf, 3));
	resp = chg_parse(rx);
	chg_covers(&req, &resp);
	return resp;
}

void peer_ask_nothing(struct peer *p)
{
	uint32_t xid = rp_xid();

	rp_send(p->c, reqprop(xid, 0));
	peer_expect(p, resprop(xid, 0, 0, 0));
}

void peer_ask_size(struct peer *p, uint32_t size)
{
	uint32_t before = p->rbsiz;
	struct chg resp = peer_ask(p, reqprop_rbsiz(rp_xid(), size));
	const struct chg_value *v = chg_find(&resp, RBSIZ);

	if (chg_in(&resp.done, 0)) {
		p->rbsiz = size;
	} else if (v) {
		rp_check(v->value != before && v->value != size,
			 "other says %u: that is %s", v->value,
			 v->value == size ? "done" : "rejected");
		p->rbsiz = v->value;
	}
	set_limit(p);
}

unsigned int peer_get_size(struct peer *p, uint32_t size)
{
	unsigned int i;

	for (i = 0; p->rbsiz != size; i++) {
		rp_check(i < 2000, "it never takes %u bytes", size);
		if (i % 50 == 0)
			peer_ask_size(p, size);
		else
			peer_ask_nothing(p);
	}
	return i;
}

/* NULL Calls, as many as there are credits; what follows their header is no
 * argument.
 */
static unsigned int flood_server(struct peer *p, uint32_t bytes)
{
	uint32_t first = rp_xid(), n, i;
	struct rp_rx *rx;
	struct rp_msg *m;

	n = lower(p->grant, RP_NR_SENDS / 2);
	for (i = 1; i < n; i++)
		rp_xid();
	for (i = 0; i < n; i++) {
		m = null_call(first + i);
		while (4 * m->n < bytes)
			put(m, 0);
		rp_send(p->c, m);
	}
	for (i = 0; i < n; i++) {
		rx = peer_next(p);
		rp_check(rp_word(rx->buf, 3) == MSG &&
			 rp_word(rx->buf, 0) - first < n,
			 "not the Reply of a NULL");
	}
	return n;
}

/* RESPROPs nobody asked for, with something behind them: both is ignored. */
static unsigned int flood_client(struct peer *p, uint32_t bytes)
{
	unsigned int i, n;
	struct rp_msg *m;

	for (n = 0; n < 8 * BURST; n += BURST) {
		for (i = 0; i < BURST; i++) {
			m = resprop(rp_xid(), 0, 0, 0);
			while (4 * m->n < bytes)
				put(m, 0x5a5a5a5a);
			rp_send(p->c, m);
		}
		peer_ask_nothing(p);
	}
	return n;
}

unsigned int peer_flood(struct peer *p, uint32_t bytes)
{
	rp_check(bytes <= p->rbsiz, "test messages too long");
	return p->s ? flood_client(p, bytes) : flood_server(p, bytes);
}

/* ---- how much it sends ---- */

/* A READ whose Reply has so many bytes */
static uint32_t send_read(struct peer *p, uint32_t bytes)
{
	uint32_t xid = rp_xid();

	rp_file("chg-read", 40000);
	rp_send(p->c, msg_call(nfs4_read(xid, "chg-read", 0,
					 bytes - READ_OVERHEAD)));
	return xid;
}

static struct rp_msg *read_reply(uint32_t xid, uint32_t bytes)
{
	uint32_t count = bytes - READ_OVERHEAD;
	struct rp_msg *m = msg_reply(nfs4_read_reply(xid, false, count));

	put_pattern(m, 0, count);
	return m;
}

static void server_sends(struct peer *p, uint32_t bytes)
{
	uint32_t xid = send_read(p, bytes);

	peer_expect(p, read_reply(xid, bytes));
}

static void server_withholds(struct peer *p, uint32_t bytes)
{
	uint32_t xid = send_read(p, bytes);

	peer_expect(p, error2_arg(xid, REPLY_RESOURCE, ANY));
}

/* A WRITE of the client; returns whether it is inline. @bytes: of its whole
 * message, if it is.
 */
static bool client_writes(struct peer *p, uint32_t data, uint32_t *bytes)
{
	struct rp_job *job = job_write("f", 0, data);
	struct cl_call *call = cl_wait_for(p->s, NFS_WRITE);
	bool is_inline = call->htype == MSG && !call->nreads;
	uint32_t at = call->rpc_len - ((data + 3) & ~3u);
	int err;

	rp_check(call->rx.len <= p->own, "a Call of %u bytes",
		 call->rx.len);
	if (is_inline)
		rp_is_pattern(call->rpc + at, 0, data);
	*bytes = call->rx.len;
	cl_answer(p->s, call);
	cl_call_free(call);
	err = cl_serve(p->s, job);
	rp_check(!err, "the write fails: %s", strerror(err));
	return is_inline;
}

static bool client_sends(struct peer *p, uint32_t bytes)
{
	uint32_t len;
	bool is_inline;

	if (!p->overhead) {
		rp_check(client_writes(p, 100, &len),
			 "100 bytes are not inline");
		p->overhead = len - 100;
	}
	is_inline = client_writes(p, bytes - p->overhead, &len);
	rp_check(!is_inline || len == bytes, "%u bytes, not %u", len, bytes);
	return is_inline;
}

/* A client sends more when its buffers have grown: those that are in use
 * when they have done their work, so that it takes some Calls.
 */
static void wait_for_limit(struct peer *p, uint32_t bytes)
{
	unsigned int i;

	/* From outside nobody can tell that it has grown. */
	for (i = 0; !rp_opt.module && i < 50; i++)
		cl_alive(p->s);
	if (!rp_opt.module)
		return;
	for (i = 0; peer_shows(p, "inline_send") < (long)bytes; i++) {
		rp_check(i < 200, "it sends no more than %ld bytes inline",
			 peer_shows(p, "inline_send"));
		cl_alive(p->s);
	}
}

void peer_sends(struct peer *p, uint32_t bytes)
{
	if (p->s) {
		wait_for_limit(p, bytes);
		rp_check(client_sends(p, bytes),
			 "a Call of %u bytes is not inline", bytes);
		return;
	}
	server_sends(p, bytes);
}

void peer_withholds(struct peer *p, uint32_t bytes)
{
	if (p->s)
		rp_check(!client_sends(p, bytes),
			 "a Call of %u bytes is inline", bytes);
	else
		server_withholds(p, bytes);
}

void peer_limit(struct peer *p, uint32_t bytes)
{
	p->own = bytes;
	set_limit(p);
	peer_sends(p, bytes);
	peer_withholds(p, bytes + 4);
}

/* ---- its administrator ---- */

static unsigned int peer_port(struct peer *p)
{
	return p->s ? rp_opt.port : rp_port(p->c);
}

static const char *peer_role(struct peer *p)
{
	return p->s ? "client" : "server";
}

long peer_shows(struct peer *p, const char *name)
{
	return cmd_shows(peer_role(p), peer_port(p), name);
}

static bool try_order(struct peer *p, const char *text)
{
	return cmd_change(peer_role(p), peer_port(p), text);
}

void peer_order(struct peer *p, const char *text)
{
	rp_check(try_order(p, text), "it does not take the order: %s", text);
}

void peer_order_refused(struct peer *p, const char *text)
{
	rp_check(!try_order(p, text), "it takes the order: %s", text);
}

void peer_try_order(struct peer *p, const char *text)
{
	try_order(p, text);
}

/**
 * struct news - what is waited for
 * @p: the other end
 * @is: is it so?
 * @n: number for @is
 */
struct news {
	struct peer	*p;
	bool		(*is)(struct peer *p, unsigned int n);
	unsigned int	n;
};

static bool is_news(void *arg)
{
	struct news *news = arg;
	struct peer *p = news->p;
	struct rp_rx *rx;

	if (p->s) {
		has_other(p);
	} else {
		while (!news->is(p, news->n) &&
		       (rx = rp_recv_within(p->c, 0)))
			rp_check(own_business(p, rx),
				 "type %08x out of turn",
				 rp_word(rx->buf, 3));
	}
	return news->is(p, news->n) || rp_is_closed(p->c);
}

static void wait_for(struct peer *p, bool (*is)(struct peer *p, unsigned int n),
		     unsigned int n, const char *what)
{
	struct news news = { p, is, n };

	rp_check(rp_wait(is_news, &news, RP_ANSWER) && is(p, n), "%s", what);
}

static bool waits(struct peer *p, unsigned int n)
{
	(void)n;
	return p->waiting;
}

void peer_asks(struct peer *p)
{
	wait_for(p, waits, 0, "no REQPROP comes");
}

void peer_asks_size(struct peer *p, uint32_t size)
{
	peer_asks(p);
	rp_check(p->request.n == 1 && p->request.set[0].id == RBSIZ &&
		 p->request.set[0].value == size,
		 "it does not ask for the size %u", size);
}

static bool has_updated(struct peer *p, unsigned int n)
{
	return p->updates >= n;
}

void peer_updates(struct peer *p, unsigned int updates)
{
	wait_for(p, has_updated, updates, "no UPDPROP comes");
}

void peer_answer(struct peer *p, struct rp_msg *m)
{
	rp_check(p->waiting, "no REQPROP waits for an answer");
	p->waiting = false;
	rp_send(p->c, rp_set(m, 0, p->request.xid));
}

/* ---- servers ---- */

struct peer *peer_server_with(struct rp_msg *prop)
{
	struct peer *p = new_peer(prop);
	struct rp_rx *rx;

	p->c = rp_connect();
	rp_send(p->c, prop);
	rx = rp_recv(p->c);
	take_connprop(p, rx);
	rp_check(rp_word(rx->buf, 0) == prop->w[0] &&
		 rp_word(rx->buf, 4) == RESPONSE, "CONNPROP is not answered");
	return p;
}

struct peer *peer_server(uint32_t rbsiz)
{
	return peer_server_with(connprop_x(rp_xid(), rbsiz, 0, 0));
}

void peer_close(struct peer *p)
{
	rp_close(p->c);
	free(p);
}

/* ---- clients ---- */

/* Take the client's CONNPROP, answer with this one. */
static void exchange(struct peer *p, struct rp_msg *prop)
{
	struct rp_rx *rx = rp_recv(p->c);

	rp_check(rp_word(rx->buf, 4) == CALL, "an answer first");
	take_connprop(p, rx);
	rp_unrecv(p->c, rx);
	p->s->control = NULL;
	rp_set(prop, 0, cl_first(p->s));
	rp_set(rp_set(prop, 2, p->s->grant), 4, RESPONSE);
	rp_send(p->c, prop);
	p->s->control = control;
	set_limit(p);
}

struct peer *peer_client_of(struct cl *s, struct rp_msg *prop)
{
	struct peer *p = new_peer(prop);

	the_client = p;
	p->s = s;
	p->c = cl_accept(s);
	exchange(p, prop);
	return p;
}

struct peer *peer_client_with(const char *options, struct rp_msg *prop)
{
	struct peer *p = peer_client_of(cl_start(options), prop);
	int err;

	err = cl_serve(p->s, p->s->mount);
	rp_check(!err, "the mount fails: %s", strerror(err));
	return p;
}

struct peer *peer_client(uint32_t rbsiz)
{
	return peer_client_with(NULL, connprop_x(rp_xid(), rbsiz, 0, 0));
}

void peer_again(struct peer *p)
{
	rp_check(rp_closed_within(p->c, RP_ANSWER * 2),
		 "the connection stands");
	rp_close(p->c);
	p->c = cl_accept(p->s);
	p->own = 4096;
	p->waiting = false;
	p->requests = 0;
	p->updates = 0;
	p->others = 0;
	exchange(p, connprop_x(0, 4096, 0, 0));
}
