// SPDX-License-Identifier: GPL-2.0
/*
 * CHG, and PROP, CONN and EXT as far as values change while a connection
 * lives: what a server and a client have to do alike.
 *
 * Whether the other end changes a value, and when, is its own affair: it may
 * say so in the RESPROP, or refuse for now and send an UPDPROP later. What it
 * says must be well-formed and hold from that moment on, and nothing may be
 * lost over it.
 */
#include <stdio.h>

#include "rp.h"
#include "either.h"

/* A case against a server and the same one against a client */
#define BOTH(_basis, _fn, _ids, _text)					\
static void _fn(struct peer *(*start)(uint32_t rbsiz));			\
RP_CASE("server-change", _basis, s_##_fn, _ids, _text ": server")		\
{									\
	_fn(peer_server);						\
}									\
RP_CASE("client-change", _basis, c_##_fn, _ids, _text ": client")		\
{									\
	_fn(peer_client);						\
}									\
static void _fn(struct peer *(*start)(uint32_t rbsiz))

static struct peer *start_with(struct peer *(*start)(uint32_t rbsiz),
			       struct rp_msg *prop)
{
	return start == peer_server ? peer_server_with(prop) :
				      peer_client_with(NULL, prop);
}

/* ---- REQPROP, RESPROP ---- */

BOTH(DECISION, chg_hundred, "CHG-6,CHG-1,CHG-4,CHG-8,CHG-12,CRED-13",
	"100 REQPROPs, 100 RESPROPs")
{
	struct peer *p = start(4096);
	unsigned int i;
	struct rp_msg *m;

	for (i = 0; i < 100; i++) {
		switch (i % 5) {
		case 0:
			peer_ask_size(p, 4096 + 1024 * (i % 3));
			break;
		case 1:
			peer_ask_nothing(p);
			break;
		case 2:
			m = reqprop(rp_xid(), 1);
			put_prop(m, STRANGE, i);
			peer_ask(p, m);
			break;
		case 3:
			m = reqprop(rp_xid(), 2);
			put_prop(m, STRANGE, 1);
			put_prop(m, BRS, p->brs);
			peer_ask(p, m);
			break;
		case 4:
			if (i % 20 == 4)
				peer_alive(p);
			peer_ask_size(p, p->rbsiz);
			break;
		}
	}
	peer_end(p);
}

BOTH(DECISION, chg_empty, "CHG-31,CHG-6,CHG-14",
	"an empty REQPROP gets an empty RESPROP")
{
	struct peer *p = start(4096);
	unsigned int i;

	for (i = 0; i < 20; i++)
		peer_ask_nothing(p);
	peer_end(p);
}

BOTH(DECISION, chg_unknown, "CHG-7,PROP-5,EXT-2,PROP-12",
	"unknown properties are rejected without error")
{
	struct peer *p = start(4096);
	uint32_t xid = rp_xid();
	struct rp_msg *m = reqprop(xid, 1);

	put_all(m, W(STRANGE, 5, 0x01020304, 0x05000000));
	rp_send(p->c, m);
	peer_expect(p, resprop(xid, 0, 1, 0));
	xid = rp_xid();
	m = reqprop(xid, 3);
	put_default(m, 0xfffffffe);
	put_prop(m, 3, 1);
	put_prop(m, 0x80000000, 1);
	rp_send(p->c, m);
	peer_expect(p, resprop(xid, 0, 7, 0));
	peer_end(p);
}

BOTH(DECISION, chg_unknown_types, "EXT-1,HT-2,D-2",
	"unknown types stay unknown with the extension")
{
	static const uint32_t types[] = {
		0xffffff00, 0xffffff01, 0xffffff05, 0xffffffff, 6, 99,
	};
	struct peer *p = start(4096);
	unsigned int i, round;

	for (round = 0; round < 2; round++) {
		for (i = 0; i < 6; i++)
			peer_refused(p, rp_set(reqprop(rp_xid(), 0), 3,
					       types[i]), INVAL_HTYPE);
		for (i = 0; i < 6; i++)
			rp_send(p->c, rp_set(resprop(rp_xid(), 1, 0, 0), 3,
					     types[i]));
		peer_nothing(p);
	}
	peer_end(p);
}

BOTH(DECISION, chg_many_values, "CHG-13,CHG-14,CHG-12,D-24,PROP-10",
	"values 0, 31, 32, 33 among unknown ones have their bits")
{
	static const unsigned int at[] = { 0, 31, 32, 33 };
	struct peer *p = start(4096);
	unsigned int i, j, n;
	struct rp_msg *m;
	struct chg resp;

	for (n = 1; n <= 65; n += 16) {
		m = reqprop(rp_xid(), n);
		for (i = 0; i < n; i++)
			put_prop(m, STRANGE, i);
		resp = peer_ask(p, m);
		for (i = 0; i < n; i++)
			rp_check(chg_in(&resp.rejected, i),
				 "value %u of %u is not rejected", i, n);
		rp_check(!resp.n, "values in answer to unknown ones");
	}
	for (j = 0; j < 4; j++) {
		m = reqprop(rp_xid(), 34);
		for (i = 0; i < 34; i++)
			put_prop(m, i == at[j] ? RBSIZ : STRANGE, p->rbsiz);
		resp = peer_ask(p, m);
		for (i = 0; i < 34; i++)
			rp_check(i == at[j] || chg_in(&resp.rejected, i),
				 "value %u is not rejected", i);
	}
	peer_end(p);
}

BOTH(DECISION, chg_range, "CHG-7,PROP-16,D-27,CHG-12",
	"sizes out of range: whatever the answer, the size stays in range")
{
	static const uint32_t sizes[] = {
		0, 1, 512, 1023, 1024, 4092, 4095, 4097, 0x7fffffff,
		0x80000000, 0xfffffffc, 0xffffffff,
	};
	struct peer *p = start(4096);
	unsigned int i;

	for (i = 0; i < 12; i++) {
		peer_ask_size(p, sizes[i]);
		rp_check(p->rbsiz >= 4096 && p->rbsiz <= 1u << 20,
			 "asked for %u, the size is %u", sizes[i], p->rbsiz);
		peer_flood(p, 4096);
	}
	peer_end(p);
}

BOTH(DECISION, chg_default, "CHG-30,PROP-4",
	"a REQPROP with a value of zero length asks for the default")
{
	struct peer *p = start(4096);
	struct rp_msg *m;
	struct chg resp;

	peer_get_size(p, 8192);
	m = reqprop(rp_xid(), 1);
	put_default(m, RBSIZ);
	resp = peer_ask(p, m);
	rp_check(chg_in(&resp.done, 0), "the default size is not granted");
	p->rbsiz = 4096;
	peer_flood(p, 4096);
	peer_ask_size(p, 4096);
	rp_check(p->rbsiz == 4096, "the size is %u", p->rbsiz);
	peer_end(p);
}

BOTH(DECISION, chg_brs, "CHG-7,CHG-12,PROP-17",
	"every Reverse Request Support may be asked for")
{
	struct peer *p = start(4096);
	struct rp_msg *m;
	uint32_t i;

	for (i = 0; i < 9; i++) {
		m = reqprop(rp_xid(), 2);
		put_prop(m, BRS, i % 3);
		put_prop(m, STRANGE, i);
		peer_ask(p, m);
	}
	peer_end(p);
}

static struct rp_msg *one_value(uint32_t type)
{
	return rp_set(reqprop_rbsiz(rp_xid(), 8192), 3, type);
}

static void spoilt(struct peer *p, uint32_t type, unsigned int word,
		   uint32_t value)
{
	peer_refused(p, rp_set(one_value(type), word, value), BAD_XDR);
}

BOTH(DECISION, chg_malformed,
	"CHG-29,PROP-3,PROP-6,PROP-7,PROP-8,PROP-9,PROP-10,PROP-11",
	"malformed REQPROPs and UPDPROPs get BAD_XDR and change nothing")
{
	static const uint32_t types[] = { REQPROP, UPDPROP };
	struct peer *p = start(4096);
	struct rp_msg *m;
	unsigned int i;

	for (i = 0; i < 2; i++) {
		/* more values than there are */
		spoilt(p, types[i], 5, 2);
		spoilt(p, types[i], 5, 0xffffffff);
		/* a value that runs past the end, of any property */
		spoilt(p, types[i], 7, 5);
		spoilt(p, types[i], 7, 0xffffffff);
		m = one_value(types[i]);
		peer_refused(p, rp_set(rp_set(m, 6, STRANGE), 7, 0x1000),
			     BAD_XDR);
		peer_refused(p, rp_cut(one_value(types[i]), 34), BAD_XDR);
		peer_refused(p, rp_cut(one_value(types[i]), 28), BAD_XDR);
		peer_refused(p, rp_cut(one_value(types[i]), 20), BAD_XDR);
		/* of the wrong size */
		spoilt(p, types[i], 7, 2);
		m = one_value(types[i]);
		put(m, 0);
		peer_refused(p, rp_set(m, 7, 8), BAD_XDR);
		/* twice; and one good, one bad */
		m = rp_set(reqprop(rp_xid(), 2), 3, types[i]);
		put_prop(m, RBSIZ, 8192);
		put_prop(m, RBSIZ, 8192);
		peer_refused(p, m, BAD_XDR);
		m = rp_set(reqprop(rp_xid(), 2), 3, types[i]);
		put_prop(m, RBSIZ, 8192);
		put_prop(m, BRS, 3);
		peer_refused(p, m, BAD_XDR);
		peer_limit(p, 4096);
	}
	peer_end(p);
}

BOTH(DECISION, chg_flags, "FLG-3,FLG-11,D-13,CHG-4,CHG-19",
	"reserved flags, and RESPONSE where it does not belong or is missing")
{
	struct peer *p = start(4096);

	peer_refused(p, rp_set(reqprop(rp_xid(), 0), 4, 2), BAD_XDR);
	peer_refused(p, rp_set(updprop(rp_xid(), 0), 4, 0x80000000), BAD_XDR);
	peer_refused(p, rp_set(resprop(rp_xid(), 0, 0, 0), 4, CALL), BAD_XDR);
	rp_send(p->c, rp_set(reqprop(rp_xid(), 0), 4, RESPONSE));
	rp_send(p->c, rp_set(updprop_rbsiz(rp_xid(), 8192), 4, RESPONSE));
	rp_send(p->c, rp_set(reqprop(rp_xid(), 0), 4, 3));
	peer_nothing(p);
	peer_limit(p, 4096);
	peer_end(p);
}

BOTH(DECISION, chg_trailing, "CHK-31,D-12",
	"bytes behind a REQPROP or UPDPROP are ignored")
{
	struct peer *p = start(4096);
	uint32_t xid = rp_xid();
	struct rp_msg *m = reqprop(xid, 0);

	put_all(m, W(RBSIZ, 4, 8192));
	rp_send(p->c, m);
	peer_expect(p, resprop(xid, 0, 0, 0));
	m = updprop_rbsiz(rp_xid(), 8192);
	put(m, 0xdeadbeef);
	rp_send(p->c, m);
	peer_limit(p, 8192);
	peer_end(p);
}

BOTH(DECISION, chg_unasked_resprop, "CHG-16,CHG-29,CHG-15",
	"a RESPROP nobody asked for, good or bad, is dropped")
{
	struct peer *p = start(4096);
	struct rp_msg *m;
	unsigned int i;

	for (i = 0; i < 3; i++) {
		rp_send(p->c, resprop(rp_xid(), 1, 0, 0));
		rp_send(p->c, resprop_rbsiz(rp_xid(), 8192));
		rp_send(p->c, resprop(rp_xid(), 0xffffffff, 0xffffffff, 0));
		/* malformed */
		rp_send(p->c, rp_set(resprop(rp_xid(), 1, 0, 0), 5,
				     0xffffffff));
		rp_send(p->c, rp_set(resprop(rp_xid(), 0, 0, 0), 7, 77));
		peer_nothing(p);
		rp_send(p->c, rp_cut(resprop(rp_xid(), 0, 0, 0), 28));
		rp_send(p->c, rp_cut(resprop(rp_xid(), 0, 0, 0), 20));
		m = resprop_rbsiz(rp_xid(), 8192);
		rp_send(p->c, rp_set(m, 9, 2));
		rp_send(p->c, rp_set(resprop(rp_xid(), 0, 0, 0), 4, 3));
		peer_nothing(p);
	}
	peer_limit(p, 4096);
	peer_end(p);
}

/* ---- its Receive Buffer Size ---- */

BOTH(DECISION, chg_grant, "CHG-9,CHG-24,CHG-10,PROP-14,CHG-23,CHG-20",
	"after the grant messages of the new size are taken")
{
	static const uint32_t sizes[] = { 4096, 8192, 6144, 16384, 5000 };
	struct peer *p = start(4096);
	unsigned int i;

	for (i = 0; i < 5; i++) {
		peer_get_size(p, sizes[i]);
		peer_flood(p, sizes[i]);
		peer_alive(p);
	}
	peer_end(p);
}

BOTH(DECISION, chg_notice_often, "CHG-23,CHG-24,CHG-20,PROP-14",
	"1000 messages of the new size right after the notice")
{
	struct peer *p = start(4096);
	unsigned int n, round;

	for (n = 0, round = 0; n < 1000; round++) {
		uint32_t size = round % 3 ? 8192 : 16384;

		peer_get_size(p, 4096);
		/* No larger Receive is left. */
		peer_flood(p, 4096);
		peer_flood(p, 1024);
		peer_flood(p, 1024);
		peer_get_size(p, size);
		n += peer_flood(p, size);
		n += peer_flood(p, size);
		n += peer_flood(p, size);
	}
	peer_end(p);
}

BOTH(DECISION | MODULE, chg_at_once, "CHG-9,CHG-23,CHG-24,D-32",
	"a size within the capacity is granted at once, and the capacity stays")
{
	struct peer *p = start(4096);
	uint32_t most = p->rbsiz;
	unsigned int i;

	for (i = 0; i < 20; i++) {
		peer_get_size(p, 4096);
		peer_ask_size(p, most);
		rp_check(p->rbsiz == most, "%u bytes are not granted", most);
		peer_flood(p, most);
		rp_check(peer_shows(p, "receive_capacity") == most,
			 "the capacity was %u and is %ld", most,
			 peer_shows(p, "receive_capacity"));
	}
	peer_ask_size(p, most + 4);
	rp_check(p->rbsiz == most, "the size is %u, the capacity %u", p->rbsiz,
		 most);
	peer_end(p);
}

/* ---- our values, as it takes them ---- */

BOTH(DECISION, chg_update_raise, "CHG-19,CHG-20,CHG-1,PROP-15",
	"UPDPROP: our size grows, what is sent inline with it")
{
	struct peer *p = start(4096);

	peer_limit(p, 4096);
	rp_send(p->c, updprop_rbsiz(rp_xid(), 8192));
	peer_limit(p, 8192);
	rp_send(p->c, updprop_rbsiz(rp_xid(), 10000));
	peer_limit(p, 10000);
	peer_end(p);
}

BOTH(DECISION, chg_update_lower, "CHG-28,PROP-16,D-27",
	"UPDPROP: our size falls unasked, which is obeyed at once")
{
	struct peer *p = start(8192);

	peer_limit(p, 8192);
	rp_send(p->c, updprop_rbsiz(rp_xid(), 2048));
	peer_limit(p, 2048);
	rp_send(p->c, updprop_rbsiz(rp_xid(), 1024));
	peer_limit(p, 1024);
	rp_send(p->c, updprop_rbsiz(rp_xid(), 4096));
	peer_limit(p, 4096);
	peer_end(p);
}

BOTH(DECISION, chg_update_default, "CHG-30,PROP-4",
	"UPDPROP with a value of zero length states the default")
{
	struct peer *p = start(8192);
	struct rp_msg *m;

	peer_limit(p, 8192);
	m = updprop(rp_xid(), 1);
	put_default(m, RBSIZ);
	rp_send(p->c, m);
	peer_limit(p, 4096);
	peer_end(p);
}

BOTH(DECISION, chg_update_unknown, "CHG-22,PROP-5,CONN-6,EXT-2",
	"UPDPROP of unknown properties, of none, of the announcement")
{
	struct peer *p = start(4096);
	struct rp_msg *m = updprop(rp_xid(), 4);

	put_all(m, W(STRANGE, 5, 0x01020304, 0x05000000));
	put_prop(m, RBSIZ, 8192);
	put_default(m, 0xfffffffe);
	put_default(m, STRANGE);
	rp_send(p->c, m);
	peer_limit(p, 8192);
	rp_send(p->c, updprop(rp_xid(), 0));
	m = updprop(rp_xid(), 1);
	put_all(m, W(X_NOCHG, 8, 1, 3));
	rp_send(p->c, m);
	peer_nothing(p);
	peer_limit(p, 8192);
	peer_end(p);
}

BOTH(DECISION, chg_update_often, "CHG-19,CHG-20,CHG-28,CONN-13",
	"our size goes up and down many times under RPCs")
{
	unsigned int i, n = start == peer_client ? 12 : 60;
	struct peer *p = start(4096);

	for (i = 0; i < n; i++) {
		uint32_t size = 1024 + 4 * (rp_dice() % 3841);

		rp_send(p->c, updprop_rbsiz(rp_xid(), size));
		peer_limit(p, size);
	}
	peer_end(p);
}

BOTH(DECISION | MODULE, chg_update_unlisted, "CHG-22,CONN-6,PROP-21,CHG-5",
	"UPDPROP of a property that CONNPROP did not list is ignored")
{
	struct rp_msg *m = connprop_head(rp_xid(), CALL, 2);
	struct peer *p;

	put_prop(m, BRS, 0);
	put_all(m, W(X_NOCHG, 8, 1, 0));
	p = start_with(start, m);
	peer_limit(p, 4096);
	rp_send(p->c, updprop_rbsiz(rp_xid(), 8192));
	peer_limit(p, 4096);
	rp_send(p->c, updprop_rbsiz(rp_xid(), 2048));
	peer_limit(p, 4096);
	peer_order_refused(p, "rbsiz 8192");
	peer_end(p);
}

BOTH(DECISION, chg_update_nochg, "CHG-22,PROP-20,CHG-13,CHG-15",
	"UPDPROP of what will not change: lower is obeyed, higher ignored")
{
	struct rp_msg *m;
	struct peer *p;

	/* bit 0 is RBSIZ; those beyond the set mean nothing */
	m = connprop_x(rp_xid(), 8192, 0, 0xfffffff1);
	p = start_with(start, m);
	peer_limit(p, 8192);
	rp_send(p->c, updprop_rbsiz(rp_xid(), 16384));
	peer_limit(p, 8192);
	rp_send(p->c, updprop_rbsiz(rp_xid(), 4096));
	peer_limit(p, 4096);
	peer_end(p);
}

BOTH(DECISION, chg_all_may_change, "PROP-20,CHG-14,CHG-3",
	"an announcement without bits: everything may change")
{
	struct rp_msg *m = connprop_head(rp_xid(), CALL, 2);
	struct peer *p;

	put_prop(m, RBSIZ, 4096);
	put_all(m, W(X_NOCHG, 4, 0));
	p = start_with(start, m);
	rp_send(p->c, updprop_rbsiz(rp_xid(), 16384));
	peer_limit(p, 16384);
	peer_end(p);
}

BOTH(DECISION | MODULE, chg_base_peer, "CHG-3,EXT-8,EXT-1,HT-7,D-4,D-2,CONN-7",
	"a peer without the extension never sees it")
{
	struct rp_msg *m = connprop_head(rp_xid(), CALL, 2);
	struct peer *p;
	unsigned int i;

	put_prop(m, RBSIZ, 8192);
	put_prop(m, BRS, 0);
	p = start_with(start, m);
	peer_refused(p, reqprop_rbsiz(rp_xid(), 8192), INVAL_HTYPE);
	peer_refused(p, updprop_rbsiz(rp_xid(), 16384), INVAL_HTYPE);
	rp_send(p->c, resprop(rp_xid(), 1, 0, 0));
	peer_order_refused(p, "rbsiz 16384");
	for (i = 0; i < 10; i++) {
		peer_limit(p, 8192);
		peer_alive(p);
	}
	peer_end(p);
}

BOTH(DECISION, chg_no_announcement, "PROP-20,PROP-4,CHG-3",
	"an announcement of zero length is none")
{
	struct rp_msg *m = connprop_head(rp_xid(), CALL, 2);
	struct peer *p;

	put_prop(m, RBSIZ, 8192);
	put_default(m, X_NOCHG);
	p = start_with(start, m);
	p->base = true;
	peer_refused(p, reqprop_rbsiz(rp_xid(), 8192), INVAL_HTYPE);
	peer_limit(p, 8192);
	peer_end(p);
}

/* ---- what it asks for ---- */

BOTH(DECISION | MODULE, chg_asks_done, "CHG-2,CHG-4,CHG-9,CHG-1,CHG-5,CHG-6",
	"it asks for a larger size, and uses it after it was granted")
{
	struct peer *p = start(4096);

	p->hold = true;
	peer_order(p, "rbsiz 8192");
	peer_asks_size(p, 8192);
	peer_limit(p, 4096);
	peer_answer(p, resprop(0, 1, 0, 0));
	peer_limit(p, 8192);
	peer_end(p);
}

BOTH(DECISION | MODULE, chg_asks_other, "CHG-10,CHG-30",
	"it asks for a larger size and gets part of it")
{
	struct peer *p = start(4096);
	struct rp_msg *m;

	p->hold = true;
	peer_order(p, "rbsiz 8192");
	peer_asks(p);
	peer_answer(p, resprop_rbsiz(0, 6144));
	peer_limit(p, 6144);
	peer_order(p, "rbsiz 12000");
	peer_asks(p);
	m = resprop(0, 0, 0, 1);
	put_default(m, RBSIZ);
	peer_answer(p, m);
	peer_limit(p, 4096);
	peer_end(p);
}

BOTH(DECISION | MODULE, chg_asks_rejected,
	"CHG-7,CHG-12,CHG-15,CHG-14,CHG-5,D-24",
	"answers that do not grant: rejected, overlaps, nothing, foreign bits")
{
	struct peer *p = start(4096);
	unsigned int i;
	struct rp_msg *m;

	p->hold = true;
	for (i = 0; i < 8; i++) {
		peer_order(p, "rbsiz 8192");
		peer_asks(p);
		switch (i) {
		case 0:
			m = resprop(0, 0, 1, 0);
			break;
		case 1:				/* G5 */
			m = resprop(0, 1, 1, 0);
			break;
		case 2:
			m = resprop(0, 0, 0, 0);
			break;
		case 3:				/* beyond the set */
			m = resprop(0, 0xfffffffe, 0, 0);
			break;
		case 4:
			m = v2(0, ANY, RESPROP, RESPONSE);
			put_subset(m, W(0, 1, 1));
			put_all(m, W(0, 0));
			break;
		case 5:				/* done and other */
			m = resprop(0, 1, 0, 1);
			put_prop(m, RBSIZ, 6144);
			break;
		case 6:				/* rejected and other */
			m = resprop(0, 0, 1, 1);
			put_prop(m, RBSIZ, 6144);
			break;
		default:
			m = resprop(0, 1, 3, 1);
			put_prop(m, STRANGE, 6144);
			break;
		}
		peer_answer(p, m);
		peer_limit(p, 4096);
	}
	peer_order(p, "rbsiz 8192");	/* granted, and more bits */
	peer_asks(p);
	peer_answer(p, resprop(0, 0xffffffff, 0xfffffffe, 0));
	peer_limit(p, 8192);
	peer_end(p);
}

BOTH(DECISION | MODULE, chg_asks_extra, "CHG-11,PROP-5",
	"values in the answer that were not asked for are ignored")
{
	struct peer *p = start(4096);
	struct rp_msg *m;

	p->hold = true;
	peer_order(p, "rbsiz 8192");
	peer_asks(p);
	m = resprop(0, 1, 0, 3);
	put_prop(m, BRS, 2);
	put_prop(m, STRANGE, 99);
	put_all(m, W(X_NOCHG, 8, 1, 1));
	peer_answer(p, m);
	peer_limit(p, 8192);
	peer_order(p, "rbsiz 10000");		/* nothing was made nochg */
	peer_asks(p);
	peer_answer(p, resprop(0, 1, 0, 0));
	peer_limit(p, 10000);
	peer_end(p);
}

BOTH(DECISION | MODULE, chg_asks_foreign_xid, "CHG-16,CHG-9",
	"RESPROPs with wrong XIDs, then with the right one")
{
	struct peer *p = start(4096);
	uint32_t xid;

	p->hold = true;
	peer_order(p, "rbsiz 8192");
	peer_asks(p);
	xid = p->request.xid;
	rp_send(p->c, resprop(xid + 1, 1, 0, 0));
	rp_send(p->c, resprop(xid - 1, 0, 1, 0));
	rp_send(p->c, resprop_rbsiz(xid ^ 0x80000000, 6144));
	peer_limit(p, 4096);
	peer_answer(p, resprop(0, 1, 0, 0));
	/* it is good for one answer */
	rp_send(p->c, resprop(xid, 0, 1, 0));
	rp_send(p->c, resprop_rbsiz(xid, 6144));
	peer_limit(p, 8192);
	peer_end(p);
}

BOTH(DECISION | MODULE, chg_asks_one_by_one, "CHG-17,CHG-16",
	"a second request waits for the answer to the first")
{
	struct peer *p = start(4096);

	p->hold = true;
	peer_order(p, "rbsiz 8192");
	peer_asks(p);
	peer_order(p, "rbsiz 10000");
	peer_limit(p, 4096);
	rp_check(p->requests == 1, "a second REQPROP");
	peer_answer(p, resprop(0, 1, 0, 0));
	peer_asks_size(p, 10000);
	peer_limit(p, 8192);
	peer_answer(p, resprop(0, 1, 0, 0));
	peer_limit(p, 10000);
	peer_end(p);
}

BOTH(DECISION | MODULE, chg_asks_crossed, "CHG-18,CHG-4,CHG-17",
	"both ask at the same time, with equal XIDs")
{
	struct peer *p = start(4096);
	struct rp_msg *m;
	struct chg resp;
	uint32_t xid;

	p->hold = true;
	peer_order(p, "rbsiz 8192");
	peer_asks(p);
	xid = p->request.xid;
	rp_send(p->c, reqprop(xid, 0));
	peer_expect(p, resprop(xid, 0, 0, 0));
	m = reqprop(xid, 1);
	put_prop(m, STRANGE, 1);
	resp = peer_ask(p, m);
	rp_check(resp.xid == xid, "another XID");
	peer_limit(p, 4096);
	peer_answer(p, resprop(0, 1, 0, 0));
	peer_limit(p, 8192);
	peer_end(p);
}

BOTH(DECISION | MODULE, chg_asks_malformed, "CHG-29,CHG-17,PROP-7,PROP-8",
	"a malformed RESPROP is dropped and counts as rejected")
{
	struct peer *p = start(4096);
	unsigned int i;
	struct rp_msg *m;

	p->hold = true;
	for (i = 0; i < 6; i++) {
		peer_order(p, "rbsiz 8192");
		peer_asks(p);
		switch (i) {
		case 0:
			m = rp_set(resprop(0, 1, 0, 0), 5, 77);
			break;
		case 1:
			m = rp_set(resprop(0, 1, 0, 0), 7, 0xffffffff);
			break;
		case 2:
			m = rp_set(resprop(0, 1, 0, 0), 8, 1);
			break;
		case 3:
			m = rp_set(resprop_rbsiz(0, 6144), 9, 2);
			break;
		case 4:
			m = resprop(0, 1, 0, 1);
			put_prop(m, BRS, 3);
			break;
		default:
			m = rp_cut(resprop(0, 1, 0, 0), 28);
			break;
		}
		peer_answer(p, m);
		peer_nothing(p);
		peer_limit(p, 4096);
	}
	peer_order(p, "rbsiz 8192");
	peer_asks(p);
	peer_answer(p, resprop(0, 1, 0, 0));
	peer_limit(p, 8192);
	peer_end(p);
}

BOTH(DECISION | MODULE, chg_asks_error, "CHG-3,CHG-17,ERR-7",
	"an ERROR in answer to a REQPROP is a rejection")
{
	static const uint32_t codes[] = { BAD_XDR, SYSTEM, 77 };
	struct peer *p = start(8192);
	unsigned int i;

	p->hold = true;
	for (i = 0; i < 3; i++) {
		peer_order(p, "rbsiz 12288");
		peer_asks(p);
		peer_answer(p, error2(0, codes[i]));
		peer_limit(p, 8192);
	}
	peer_end(p);
}

BOTH(DECISION | MODULE, chg_asks_in_error, "HT-9,CHG-3,EXT-6",
	"after INVAL_HTYPE for a REQPROP no other is sent")
{
	struct peer *p = start(8192);

	p->hold = true;
	peer_order(p, "rbsiz 12288");
	peer_asks(p);
	peer_answer(p, error2(0, INVAL_HTYPE));
	p->base = true;
	peer_limit(p, 8192);
	peer_try_order(p, "rbsiz 12288");
	peer_try_order(p, "own rbsiz 16384");
	peer_limit(p, 8192);
	peer_end(p);
}

BOTH(DECISION | MODULE, chg_asks_lower, "CHG-26",
	"it does not ask for a lower size, whoever wants it")
{
	struct peer *p = start(8192);

	peer_order_refused(p, "rbsiz 4096");
	peer_order_refused(p, "rbsiz 8191");
	peer_nothing(p);
	rp_check(!p->requests, "it asks");
	peer_limit(p, 8192);
	peer_end(p);
}

BOTH(DECISION | MODULE, chg_asks_update, "CHG-26,CHG-19,CHG-28",
	"our size changes while it asks for a larger one, and beyond that")
{
	struct peer *p = start(4096);

	p->hold = true;
	peer_order(p, "rbsiz 8192");
	peer_asks_size(p, 8192);
	/* What it has asked for would be less than this */
	rp_send(p->c, updprop_rbsiz(rp_xid(), 10000));
	peer_limit(p, 8192);
	peer_order(p, "rbsiz 12000");
	rp_send(p->c, updprop_rbsiz(rp_xid(), 16000));
	rp_send(p->c, updprop_rbsiz(rp_xid(), 2048));
	peer_limit(p, 2048);
	rp_send(p->c, updprop_rbsiz(rp_xid(), 12000));
	peer_answer(p, resprop(0, 0, 1, 0));
	peer_limit(p, 12000);
	peer_nothing(p);
	rp_check(p->requests == 1, "it asks for what there is more of");
	peer_end(p);
}

BOTH(DECISION | MODULE, chg_asks_often, "CHG-17,CHG-9,CHG-26,CHG-16,CHG-10",
	"many requests under RPCs; in between our size goes down")
{
	unsigned int i, n = start == peer_client ? 15 : 60;
	struct peer *p = start(4096);
	uint32_t now = 4096, want;
	char order[32];

	for (i = 0; i < n; i++) {
		want = 4096 + 8 * (rp_dice() % 1537);
		if (want <= now) {
			now = want - 1024;
			rp_send(p->c, updprop_rbsiz(rp_xid(), now));
			peer_limit(p, now);
		}
		snprintf(order, sizeof(order), "rbsiz %u", want);
		p->hold = true;
		peer_order(p, order);
		peer_asks_size(p, want);
		p->hold = false;
		if (rp_dice() % 3 == 0) {
			peer_answer(p, resprop(0, 0, 1, 0));
		} else if (rp_dice() % 2) {
			peer_sends(p, now);
			now = want;
			peer_answer(p, resprop(0, 1, 0, 0));
		} else if (now + 8 < want) {
			now = (now + want) / 8 * 4;
			peer_answer(p, resprop_rbsiz(0, now));
		} else {
			peer_answer(p, resprop(0, 0, 0, 0));
		}
		peer_limit(p, now);
	}
	peer_end(p);
}

BOTH(DECISION | MODULE, chg_asks_never_answered, "CHG-17,CRED-13,SEC-2",
	"a REQPROP that is never answered: everything else goes on")
{
	struct peer *p = start(4096);

	p->hold = true;
	peer_order(p, "rbsiz 8192");
	peer_asks(p);
	peer_get_size(p, 8192);
	peer_flood(p, 8192);
	rp_send(p->c, updprop_rbsiz(rp_xid(), 2048));
	peer_limit(p, 2048);
	peer_end(p);
}

BOTH(DECISION | MODULE, chg_asks_in_vain, "CHG-5,CHG-22,PROP-20,CHG-13",
	"what will not change is not asked for")
{
	struct peer *p = start_with(start, connprop_x(rp_xid(), 4096, 0, 1));

	p->hold = true;
	peer_order_refused(p, "rbsiz 8192");
	peer_nothing(p);
	rp_check(!p->requests, "it asks");
	peer_limit(p, 4096);
	peer_end(p);
}

BOTH(DECISION | MODULE, chg_own_raise, "CHG-19,CHG-21,CHG-23,CHG-24,CHG-31",
	"it raises its size: one UPDPROP, then proof that it arrived")
{
	struct peer *p = start(4096);
	unsigned int i;

	peer_get_size(p, 4096);
	peer_flood(p, 4096);
	p->barrier = true;
	peer_order(p, "own rbsiz 8192");
	for (i = 0; !p->updates; i++) {
		rp_check(i < 2000, "no UPDPROP");
		peer_ask_nothing(p);
	}
	rp_check(p->rbsiz == 8192, "the size becomes %u", p->rbsiz);
	peer_asks(p);
	peer_flood(p, 8192);
	peer_order(p, "own rbsiz 10000");
	for (i = 0; i < 300; i++)
		peer_ask_nothing(p);
	rp_check(p->updates == 1, "a second UPDPROP before the answer");
	p->hold_empty = false;
	peer_answer(p, resprop(0, 0, 0, 0));
	for (i = 0; p->updates < 2; i++) {
		rp_check(i < 2000, "no second UPDPROP");
		peer_ask_nothing(p);
	}
	rp_check(p->rbsiz == 10000, "the size becomes %u", p->rbsiz);
	peer_flood(p, 10000);
	peer_end(p);
}

BOTH(DECISION | MODULE, chg_own_lower, "CHG-25",
	"it does not lower its size unasked, whoever wants it")
{
	struct peer *p = start(4096);

	peer_get_size(p, 8192);
	peer_order_refused(p, "own rbsiz 4096");
	peer_flood(p, 8192);
	rp_check(p->rbsiz == 8192, "the size is %u", p->rbsiz);
	peer_end(p);
}

BOTH(DECISION | MODULE, chg_orders_refused, "PROP-16,D-27",
	"orders that make no sense are refused")
{
	static const char *const orders[] = {
		"rbsiz", "rbsiz 0", "rbsiz 1023", "rbsiz x", "rbsiz 4096 1",
		"own", "own rbsiz", "own rbsiz 0", "own brs 7", "xyz 1",
		"messages 3", "rbsiz 99999999999999999999",
	};
	struct peer *p = start(4096);
	unsigned int i;

	for (i = 0; i < sizeof(orders) / sizeof(orders[0]); i++)
		peer_order_refused(p, orders[i]);
	peer_nothing(p);
	rp_check(!p->requests && !p->updates, "something was sent");
	peer_end(p);
}
