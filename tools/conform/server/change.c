// SPDX-License-Identifier: GPL-2.0
/*
 * CHG: what a server does that a client does not; both/change.c has the rest.
 */
#include <string.h>

#include "rp.h"
#include "command.h"
#include "either.h"

RP_CASE("server-change", DECISION, chg_announced,
	"PROP-20,CHG-3,D-4,CONN-5,CONN-4,CONN-10",
	"a client with the extension meets a server with it")
{
	struct rp_conn *c = rp_connect();
	uint32_t xid = rp_xid(), i, at;
	const struct chg_value *v;
	struct rp_rx *rx;
	struct chg m;

	rp_send(c, connprop_x(xid, 4096, 0, 0));
	rx = rp_recv(c);
	rp_check(rx->len <= 1024, "CONNPROP of %u bytes", rx->len);
	m = chg_parse(rx);
	rp_check(m.type == CONNPROP && m.xid == xid && m.flags == RESPONSE,
		 "no CONNPROP in answer");
	v = chg_find(&m, X_NOCHG);
	rp_check(v, "the server does not announce the extension");
	rp_check(v->len == 4 + 4 * v->value, "a subset of %u words in %u bytes",
		 v->value, v->len);
	rp_check(chg_find(&m, RBSIZ) && chg_find(&m, BRS),
		 "RBSIZ or BRS is missing");
	/* Bits only for what is in the set */
	for (i = 0, at = 6; i < m.n && m.set[i].id != X_NOCHG; i++)
		at += 2 + (m.set[i].len + 3) / 4;
	for (i = 0; i < 32 * v->value; i++)
		rp_check(i < m.n || !(rp_word(rx->buf, at + 3 + i / 32) &
				      1u << i % 32), "bit %u of %u", i, m.n);
	rp_nothing(c);
}

RP_CASE("server-change", DECISION | MODULE, chg_switched_off,
	"CHG-3,EXT-1,EXT-8,HT-7",
	"switched off, the server neither announces nor understands it")
{
	struct rp_conn *c;
	struct rp_rx *rx;
	struct chg m;

	cmd_policy("server", "property_change off");
	c = rp_connect();
	rp_send(c, connprop_x(rp_xid(), 4096, 0, 0));
	rx = rp_recv(c);
	m = chg_parse(rx);
	rp_check(m.type == CONNPROP && !chg_find(&m, X_NOCHG),
		 "it announces the extension");
	rp_refused(c, reqprop_rbsiz(rp_xid(), 8192), INVAL_HTYPE);
	rp_refused(c, updprop_rbsiz(rp_xid(), 8192), INVAL_HTYPE);
	rp_send(c, resprop(rp_xid(), 1, 0, 0));
	rp_nothing(c);
}

RP_CASE("server-change", DECISION, chg_before_connprop,
	"CHG-3,CONN-9,CONN-6,HT-7",
	"before its CONNPROP a client has not got the extension")
{
	struct rp_conn *c = rp_connect();
	uint32_t xid = rp_xid();
	struct rp_rx *rx;

	rp_null(c);
	rp_refused(c, reqprop(rp_xid(), 0), INVAL_HTYPE);
	rp_send(c, connprop_x(xid, 8192, 0, 0));
	rx = rp_recv(c);
	rp_check(chg_is(rx, CONNPROP) && rp_word(rx->buf, 0) == xid,
		 "no CONNPROP in answer");
	xid = rp_xid();
	rp_send(c, reqprop(xid, 0));
	rp_expect(c, resprop(xid, 0, 0, 0));
	rp_nothing(c);
}

/* A WRITE whose message has exactly so many bytes */
static void write_of(struct peer *p, uint32_t bytes)
{
	static uint8_t data[RP_RECV_SIZE];
	uint32_t xid = rp_xid(), count;
	struct rp_msg *m = msg_call(nfs4_write(xid, "chg", 0, 0));

	rp_file("chg", 0);
	count = bytes - 4 * m->n;
	m = msg_call(nfs4_write(xid, "chg", 0, count));
	put_pattern(m, 0, count);
	rp_check(4 * m->n == bytes, "test message of %u bytes", 4 * m->n);
	rp_send(p->c, m);
	peer_expect(p, msg_reply(nfs4_write_reply(xid, count)));
	rp_fill(data, 0, count);
	rp_file_is("chg", 0, data, count);
}

RP_CASE("server-change", DECISION, chg_write, "CHG-9,PROP-14,PROP-15,CHG-23",
	"after the grant a WRITE of 8000 bytes goes in one message")
{
	static const uint32_t sizes[] = { 4096, 8192, 6144, 16384 };
	struct peer *p = peer_server(4096);
	unsigned int i;

	for (i = 0; i < 4; i++) {
		peer_get_size(p, sizes[i]);
		write_of(p, sizes[i] - 192);
		write_of(p, sizes[i]);
		peer_flood(p, sizes[i]);
	}
	peer_end(p);
}

RP_CASE("server-change", DECISION, chg_under_load,
	"CHG-21,CHG-23,CHG-24,CHG-25,CHG-20",
	"RPCs consume the old Receives; the notice comes among their Replies")
{
	struct peer *p = peer_server(4096);
	unsigned int round, i;

	for (round = 0; round < 6; round++) {
		uint32_t size = 4096 + 1024 * (1 + rp_dice() % 12);

		peer_get_size(p, 4096);
		peer_flood(p, 4096);
		peer_ask_size(p, size);
		for (i = 0; p->rbsiz != size; i++) {
			rp_check(i < 500, "it is never announced");
			peer_flood(p, 4096);
			write_of(p, 4096);
		}
		write_of(p, size);
	}
	peer_end(p);
}

RP_CASE("server-change", DECISION, chg_rpc_xid, "CHG-4,CHG-16,CHG-18,HDR-8,HDR-9",
	"the XID of a REQPROP may be that of an RPC")
{
	struct peer *p = peer_server(4096);
	uint32_t xid = rp_xid();
	unsigned int i;

	for (i = 0; i < 20; i++) {
		bool rpc = false, chg = false;
		struct rp_rx *rx;

		rp_send(p->c, null_call(xid));
		rp_send(p->c, reqprop(xid, 0));
		while (!rpc || !chg) {
			rx = peer_next(p);
			if (chg_is(rx, RESPROP)) {
				rp_must_match(rx, resprop(xid, 0, 0, 0));
				rp_check(!chg, "two RESPROPs");
				chg = true;
			} else {
				rp_must_match(rx, null_reply(xid));
				rp_check(!rpc, "two Replies");
				rpc = true;
			}
		}
	}
	peer_end(p);
}

RP_CASE("server-change", DECISION, chg_full_window,
	"CRED-13,D-18,CHG-17,CRED-7,CHG-24",
	"a full window, one REQPROP and one UPDPROP never lack a Receive")
{
	const struct rp_how how = { .no_rnr = true };
	uint32_t grant, i, j, first, got, xid = rp_xid(), size;
	struct rp_conn *c = rp_connect_how(&how);
	bool answered, updated = false;
	struct rp_rx *rx;

	rp_send(c, connprop_x(xid, 4096, 0, 0));
	rx = rp_recv(c);
	rp_check(chg_is(rx, CONNPROP), "no CONNPROP");
	grant = rp_word(rx->buf, 2);
	for (i = 0; i < 30; i++) {
		if (grant > RP_NR_SENDS - 8)
			grant = RP_NR_SENDS - 8;
		size = i % 2 ? 4096 : 8192;
		first = rp_xid();
		for (j = 1; j < grant; j++)
			rp_xid();
		xid = rp_xid();
		rp_send(c, reqprop_rbsiz(xid, size));
		/* The last one has arrived: something later was answered. */
		rp_send(c, updprop_rbsiz(rp_xid(), size));
		for (j = 0; j < grant; j++)
			rp_send(c, rp_set(null_call(first + j), 2, 64));
		answered = false;
		for (got = 0, j = grant; got < j || !answered;) {
			rx = rp_recv(c);
			if (chg_is(rx, UPDPROP)) {
				rp_check(!updated, "UPDPROPs without proof");
				updated = true;
				continue;
			}
			if (chg_is(rx, REQPROP)) {
				rp_send(c, resprop(rp_word(rx->buf, 0), 0, 0,
						   0));
				updated = false;
				continue;
			}
			grant = rp_word(rx->buf, 2);
			if (chg_is(rx, RESPROP)) {
				rp_check(rp_word(rx->buf, 0) == xid,
					 "a foreign XID");
				answered = true;
			} else {
				rp_check(rp_word(rx->buf, 0) - first < j,
					 "a foreign XID");
				got++;
			}
		}
	}
	rp_check(!rp_is_closed(c), "the connection has gone");
}

RP_CASE("server-change", DECISION, chg_update_too_low, "PROP-16,D-27,CHG-28",
	"UPDPROP of a size below 1024 ends the connection")
{
	struct peer *p = peer_server(4096);

	rp_send(p->c, updprop_rbsiz(rp_xid(), 1023));
	rp_expect_closed(p->c);
	p = peer_server(4096);
	rp_send(p->c, updprop_rbsiz(rp_xid(), 0));
	rp_expect_closed(p->c);
	peer_end(peer_server(4096));
}

RP_CASE("server-change", DECISION | MODULE, chg_answer_too_low,
	"PROP-16,D-27,CHG-10",
	"a RESPROP with a size below 1024 ends the connection")
{
	struct peer *p = peer_server(4096);

	p->hold = true;
	peer_order(p, "rbsiz 8192");
	peer_asks(p);
	peer_answer(p, resprop_rbsiz(0, 512));
	rp_expect_closed(p->c);
	peer_end(peer_server(4096));
}

RP_CASE("server-change", DECISION | MODULE, chg_lost, "CHG-17,CONN-14,REC-1,REC-4",
	"a connection that ends takes its requests and its values with it")
{
	struct peer *p = peer_server(4096);

	p->hold = true;
	peer_order(p, "rbsiz 8192");
	peer_order(p, "rbsiz 10000");
	peer_asks(p);
	rp_send(p->c, updprop_rbsiz(rp_xid(), 8192));
	peer_limit(p, 8192);
	rp_close(p->c);
	p = peer_server(4096);
	peer_limit(p, 4096);
	rp_check(!p->requests, "the new connection is asked");
	peer_end(p);
}

/* ---- bad clients ---- */

RP_CASE("server-change", DECISION, chg_flood, "CHG-17,CHG-6,SEC-14,SEC-3,D-18",
	"a flood of REQPROPs: answered in order, others are not harmed")
{
	struct peer *p = peer_server(4096), *other = peer_server(4096);
	uint32_t first = rp_xid(), last = first - 1, i, n = 0;
	struct rp_rx *rx;

	for (i = 1; i < 400; i++)
		rp_xid();
	for (i = 0; i < 400; i++)
		if (!rp_try_send(p->c, reqprop(first + i, 0)))
			break;
	peer_nothing(other);
	/* At most one answer each. The reserve was overrun: the server may
	 * also give the connection up.
	 */
	while (n < 400 && (rx = rp_recv_within(p->c, RP_ANSWER))) {
		rp_check(chg_is(rx, RESPROP), "type %08x in answer",
			 rp_word(rx->buf, 3));
		rp_check(rp_word(rx->buf, 0) - first < 400 &&
			 (int32_t)(rp_word(rx->buf, 0) - last) > 0,
			 "a RESPROP twice or out of order");
		last = rp_word(rx->buf, 0);
		n++;
	}
	rp_check(n == 400 || rp_is_closed(p->c),
		 "%u of 400 are answered and the connection stands", n);
	if (n == 400)
		peer_nothing(p);
	peer_end(other);
}

RP_CASE("server-change", DECISION, chg_update_flood, "CHG-21,SEC-3,D-18",
	"a flood of UPDPROPs: the last one holds or the connection ends")
{
	struct peer *p = peer_server(4096), *other = peer_server(4096);
	unsigned int i;

	for (i = 0; i < 400; i++)
		if (!rp_try_send(p->c, updprop_rbsiz(rp_xid(), 4096 + 4 * i)))
			break;
	if (peer_still_there(p))
		peer_limit(p, 4096 + 4 * 399);
	peer_limit(other, 4096);
	peer_end(other);
}

RP_CASE("server-change", DECISION, chg_breaks_promise,
	"CHG-9,CHG-26,PROP-14,INL-7",
	"a client that takes less, or sends more, than it said: others do not suffer")
{
	struct peer *p = peer_server(4096), *other = peer_server(4096);
	struct rp_msg *m;
	uint32_t most;

	/* More than its Receives hold; the server may send up to its limit */
	rp_send(p->c, updprop_rbsiz(rp_xid(), 0xffffffff));
	rp_file("chg-read", 40000);
	rp_try_send(p->c, msg_call(nfs4_read(rp_xid(), "chg-read", 0, 30000)));
	rp_recv_within(p->c, RP_ANSWER);
	peer_nothing(other);

	/* A message larger than what it has asked for itself */
	p = peer_server(4096);
	most = p->rbsiz;
	peer_get_size(p, 4096);
	m = null_call(rp_xid());
	while (m->n < RP_RECV_SIZE / 4 && 4 * m->n <= most)
		put(m, 0);
	rp_try_send(p->c, m);
	rp_recv_within(p->c, RP_ANSWER);
	peer_limit(other, 4096);
	peer_end(other);
}

RP_CASE("server-change", DECISION, chg_garbage, "SEC-3,CHG-29,PROP-11",
	"1000 spoilt change messages harm nobody")
{
	struct peer *p = peer_server(4096), *other = peer_server(4096);
	unsigned int i;
	struct rp_msg *m;

	for (i = 0; i < 1000; i++) {
		m = chg_spoilt();
		if (rp_is_closed(p->c) || !rp_try_send(p->c, m)) {
			peer_close(p);
			p = peer_server(4096);
		}
		while (rp_recv_within(p->c, 0))
			;
		if (i % 100 == 0)
			peer_alive(other);
	}
	peer_limit(other, 4096);
	peer_end(other);
}
