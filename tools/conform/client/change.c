// SPDX-License-Identifier: GPL-2.0
/*
 * CHG: what a client does that a server does not; both/change.c has the rest.
 */
#include <string.h>

#include "rp.h"
#include "command.h"
#include "either.h"

/* Bytes of a Reply to READ without its data, and more than what a client
 * allows for beyond that
 */
#define READ_HEAD	164
#define READ_SLACK	400

RP_CASE("client-change", DECISION, cc_announced,
	"PROP-20,CHG-3,D-4,CONN-4,CONN-5,EXT-6",
	"the first message announces the extension, in at most 1024 bytes")
{
	struct cl *s = cl_start(NULL);
	const struct chg_value *v;
	struct rp_rx *rx;
	struct chg m;

	cl_accept(s);
	rx = rp_recv(s->c);
	rp_check(rx->len <= 1024, "%u bytes", rx->len);
	m = chg_parse(rx);
	v = chg_find(&m, X_NOCHG);
	rp_check(m.type == CONNPROP && v && v->len >= 4 &&
		 v->len == 4 + 4 * v->value, "no announcement");
	rp_unrecv(s->c, rx);
	cl_settle(s);
	rp_check(!cl_serve(s, s->mount), "the mount fails");
	cl_alive(s);
	cl_end(s);
}

RP_CASE("client-change", DECISION, cc_at_once, "CHG-6,CONN-8",
	"a REQPROP directly behind the CONNPROP is answered")
{
	struct rp_msg *prop = connprop_x(0, 4096, 0, 0);
	struct cl *s = cl_start(NULL);
	uint32_t xid = rp_xid();
	struct cl_call *call;
	struct rp_rx *rx;

	cl_accept(s);
	rp_set(prop, 0, cl_first(s));
	rp_set(rp_set(prop, 2, s->grant), 4, RESPONSE);
	rp_send(s->c, prop);
	rp_send(s->c, reqprop_rbsiz(xid, 8192));
	s->limit = 4096;
	for (rx = rp_recv(s->c); rp_word(rx->buf, 3) != RESPROP;
	     rx = rp_recv(s->c)) {
		call = cl_parse(s, rx);
		cl_answer(s, call);
		cl_call_free(call);
	}
	rp_check(rp_word(rx->buf, 0) == xid, "the answer to something else");
	rp_check(!cl_serve(s, s->mount), "the mount fails");
	cl_alive(s);
	cl_end(s);
}

RP_CASE("client-change", DECISION | MODULE, cc_switched_off,
	"CHG-3,EXT-1,EXT-8,HT-7",
	"switched off, the client neither announces nor understands it")
{
	struct rp_msg *prop = connprop_x(0, 4096, 0, 0);
	struct cl *s;
	struct rp_rx *rx;
	struct chg m;

	cmd_policy("client", "property_change off");
	s = cl_start(NULL);
	cl_accept(s);
	rx = rp_recv(s->c);
	m = chg_parse(rx);
	rp_check(m.type == CONNPROP && !chg_find(&m, X_NOCHG),
		 "it announces the extension");
	rp_unrecv(s->c, rx);
	rp_set(prop, 0, cl_first(s));
	rp_set(rp_set(prop, 2, s->grant), 4, RESPONSE);
	rp_send(s->c, prop);
	s->limit = 4096;
	rp_check(!cl_serve(s, s->mount), "the mount fails");
	rp_refused(s->c, reqprop_rbsiz(rp_xid(), 8192), INVAL_HTYPE);
	rp_refused(s->c, updprop_rbsiz(rp_xid(), 8192), INVAL_HTYPE);
	rp_send(s->c, resprop(rp_xid(), 1, 0, 0));
	cl_alive(s);
	cl_end(s);
}

/* A READ of this many bytes: does its Call leave the Reply inline? */
static struct cl_call *start_read(struct peer *p, uint32_t bytes,
				  struct rp_job **job)
{
	*job = job_read("f", 0, bytes);
	return cl_wait_for(p->s, NFS_READ);
}

static bool plain(const struct cl_call *call)
{
	return !call->nwrites && !call->has_reply;
}

static void finish_read(struct peer *p, struct cl_call *call,
			struct rp_job *job, uint32_t bytes)
{
	int err;

	cl_answer(p->s, call);
	cl_call_free(call);
	err = cl_serve(p->s, job);
	rp_check(!err, "the read fails: %s", strerror(err));
	rp_check(job_count(job) == bytes, "%u bytes", job_count(job));
	rp_is_pattern(job_data(job), 0, bytes);
}

static bool read_is_plain(struct peer *p, uint32_t bytes)
{
	struct rp_job *job;
	struct cl_call *call = start_read(p, bytes, &job);
	bool is_plain = plain(call);

	finish_read(p, call, job, bytes);
	return is_plain;
}

RP_CASE("client-change", DECISION | MODULE, cc_inline_reads,
	"CHG-9,PROP-15,D-16,CHG-23,PROP-14",
	"after a raise on both sides larger READs need no chunk and no memory")
{
	struct peer *p = peer_client(16384);
	unsigned int i;
	long before;

	peer_get_size(p, 4096);
	rp_check(!read_is_plain(p, 6000), "6000 bytes inline, the size is 4096");
	peer_get_size(p, 8192);
	before = peer_shows(p, "registrations");
	for (i = 0; i < 10; i++)
		rp_check(read_is_plain(p, 6000),
			 "a chunk for 6000 bytes, the size is 8192");
	rp_check(peer_shows(p, "registrations") == before,
		 "memory is registered for inline READs");
	rp_check(!read_is_plain(p, 8192), "8192 bytes inline");
	peer_get_size(p, 16384);
	rp_check(read_is_plain(p, 16384 - READ_HEAD - READ_SLACK),
		 "a chunk for less than 16384 bytes");
	peer_get_size(p, 4096);
	rp_check(!read_is_plain(p, 6000), "6000 bytes inline, the size is 4096");
	peer_end(p);
}

RP_CASE("client-change", DECISION, cc_lower_pending, "CHG-27,CHG-24,D-32",
	"a lower size is not granted while a 6 KiB inline Reply is pending")
{
	struct peer *p = peer_client(16384);
	struct rp_job *job;
	struct cl_call *call;
	unsigned int i;

	peer_get_size(p, 8192);
	call = start_read(p, 6144, &job);
	rp_check(plain(call), "a chunk for 6144 bytes, the size is 8192");
	for (i = 0; i < 3; i++) {
		peer_ask_size(p, 4096);
		rp_check(p->rbsiz >= READ_HEAD + 6144,
			 "the size is %u, with an inline Reply of %u bytes to come",
			 p->rbsiz, READ_HEAD + 6144);
		peer_ask_nothing(p);
	}
	rp_check(!job_over(job), "the read ended");
	finish_read(p, call, job, 6144);
	peer_ask_size(p, 4096);
	rp_check(p->rbsiz == 4096, "the size is still %u", p->rbsiz);
	rp_check(!read_is_plain(p, 6144), "6144 bytes inline");
	peer_flood(p, 4096);
	peer_end(p);
}

/* Something the client does not survive, while a LOOKUP waits */
static void fatal(struct peer *p, const struct rp_msg *m)
{
	struct rp_job *job = job_stat(cl_name());
	struct cl_call *call = cl_wait_for(p->s, NFS_LOOKUP);
	int err;

	rp_send(p->c, m);
	peer_again(p);
	err = cl_serve(p->s, job);
	rp_check(!err, "the operation fails: %s", strerror(err));
	cl_call_free(call);
	peer_limit(p, 4096);
}

RP_CASE("client-change", DECISION | MODULE, cc_xids, "ERR-7,CHG-4,D-7",
	"each REQPROP has a new XID, and none that of a Call that waits")
{
	struct peer *p = peer_client(4096);
	struct rp_job *job = job_stat(cl_name());
	struct cl_call *call = cl_wait_for(p->s, NFS_LOOKUP);
	uint32_t xid[5];
	unsigned int i, j;

	p->hold = true;
	for (i = 0; i < 5; i++) {
		peer_order(p, "rbsiz 8192");
		peer_asks(p);
		xid[i] = p->request.xid;
		rp_check(xid[i] != call->xid, "the XID of a LOOKUP");
		for (j = 0; j < i; j++)
			rp_check(xid[i] != xid[j], "the same XID again");
		peer_answer(p, resprop(0, 0, 1, 0));
	}
	cl_answer(p->s, call);
	rp_check(!cl_serve(p->s, job), "the operation fails");
	peer_end(p);
}

RP_CASE("client-change", DECISION, cc_update_too_low, "PROP-16,D-27,CHG-28",
	"UPDPROP of a size below 1024 ends the connection; the client goes on")
{
	struct peer *p = peer_client(8192);

	fatal(p, updprop_rbsiz(rp_xid(), 1023));
	fatal(p, updprop_rbsiz(rp_xid(), 0));
	peer_end(p);
}

RP_CASE("client-change", DECISION | MODULE, cc_answer_too_low,
	"PROP-16,D-27,CHG-10,CHG-17,CONN-14",
	"a RESPROP with a size below 1024 ends the connection and its requests")
{
	struct peer *p = peer_client(8192);
	uint32_t xid;

	p->hold = true;
	peer_order(p, "rbsiz 16384");
	peer_asks(p);
	peer_order(p, "rbsiz 10000");
	xid = p->request.xid;
	fatal(p, resprop_rbsiz(xid, 512));
	peer_nothing(p);
	rp_check(!p->requests, "the new connection is asked");
	peer_end(p);
}

/* While a READ waits, a message that is no answer to it takes its memory away. */
static void takes_memory(struct peer *p, const struct rp_msg *m)
{
	struct rp_job *job;
	struct cl_call *call = start_read(p, 20000, &job);
	int err;

	rp_send_inv(p->c, m, call->write[0].seg[0].handle);
	peer_again(p);
	cl_call_free(call);
	err = cl_serve(p->s, job);
	rp_check(!err, "the read fails: %s", strerror(err));
	rp_is_pattern(job_data(job), 0, 20000);
	peer_limit(p, 4096);
}

RP_CASE("client-change", DECISION | MODULE, cc_takes_memory,
	"RINV-14,RINV-10,SEC-13",
	"a control message that invalidates the handle of an RPC: closed")
{
	struct peer *p = peer_client(8192);

	takes_memory(p, updprop_rbsiz(rp_xid(), 8192));
	takes_memory(p, reqprop_rbsiz(rp_xid(), 8192));
	takes_memory(p, resprop(rp_xid(), 1, 0, 0));
	p->hold = true;
	peer_order(p, "rbsiz 16384");
	peer_asks(p);
	takes_memory(p, error2(p->request.xid, INVAL_HTYPE));
	peer_end(p);
}

RP_CASE("client-change", DECISION, cc_breaks_promise,
	"CHG-23,PROP-14,INL-7,CHG-9",
	"a server that sends more than there is room for: the client starts again")
{
	struct peer *p = peer_client(4096);
	struct rp_msg *m = resprop(rp_xid(), 0, 0, 0);
	uint32_t most = p->rbsiz;

	rp_check(most + 4 <= RP_RECV_SIZE, "the client takes too much");
	/* What it has said once may be room that it has still, or not. */
	peer_get_size(p, 4096);
	while (4 * m->n <= most)
		put(m, 0);
	fatal(p, m);
	peer_end(p);
}

RP_CASE("client-change", DECISION, cc_flood, "CHG-17,CHG-6,SEC-14,SEC-3,D-18",
	"a flood of REQPROPs and UPDPROPs: the client answers and goes on")
{
	struct peer *p = peer_client(4096);
	uint32_t xid[4];
	unsigned int i;

	for (i = 0; i < 300; i++) {
		xid[i % 4] = rp_xid();
		rp_send(p->c, reqprop(xid[i % 4], 0));
		rp_send(p->c, updprop_rbsiz(rp_xid(), 4096 + 4 * i));
		if (i % 4 < 3)
			continue;
		peer_expect(p, resprop(xid[0], 0, 0, 0));
		peer_expect(p, resprop(xid[1], 0, 0, 0));
		peer_expect(p, resprop(xid[2], 0, 0, 0));
		peer_expect(p, resprop(xid[3], 0, 0, 0));
	}
	peer_limit(p, 4096 + 4 * 299);
	peer_end(p);
}

/* The client has lost its connection; it makes a new one when it needs it. */
static void revive(struct peer *p)
{
	struct rp_job *job = job_stat(cl_name());
	int err;

	peer_again(p);
	err = cl_serve(p->s, job);
	rp_check(!err, "the operation fails: %s", strerror(err));
}

RP_CASE("client-change", DECISION, cc_garbage, "SEC-3,CHG-29,PROP-11",
	"1000 spoilt change messages: the client answers, or starts again")
{
	struct peer *p = peer_client(4096);
	unsigned int i;
	struct rp_msg *m;

	for (i = 0; i < 1000; i++) {
		m = chg_spoilt();
		if (rp_is_closed(p->c) || !rp_try_send(p->c, m))
			revive(p);
		while (rp_recv_within(p->c, 0))
			;
	}
	if (!peer_still_there(p))
		revive(p);
	p->rbsiz = 0;			/* what it said was not heard */
	peer_end(p);
}
