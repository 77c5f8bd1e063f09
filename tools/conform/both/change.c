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

/* A case against a server and the same one against a client. @start is how the
 * connection @p begins; it must still work at the end.
 */
#define BOTH(_basis, _fn, _start, _ids, _text)				\
static void _fn(struct peer *p);					\
RP_CASE("server-change", _basis, s_##_fn, _ids, _text ": server")	\
{									\
	bool client = false;						\
	struct peer *p = _start;					\
									\
	_fn(p);								\
	peer_end(p);							\
}									\
RP_CASE("client-change", _basis, c_##_fn, _ids, _text ": client")	\
{									\
	bool client = true;						\
	struct peer *p = _start;					\
									\
	_fn(p);								\
	peer_end(p);							\
}									\
static void _fn(struct peer *p)

#define SIZE(rbsiz)	(client ? peer_client(rbsiz) : peer_server(rbsiz))
/* Our CONNPROP lists @n properties, which follow. */
#define LISTS(n, ...)							\
({									\
	struct rp_msg *_m = connprop_head(rp_xid(), CALL, n);		\
									\
	put_all(_m, W(__VA_ARGS__));					\
	SAYS(_m);							\
})
#define SAYS(m)		(client ? peer_client_with(NULL, m) : peer_server_with(m))

/* It wants a larger size from us, and has asked. */
static void asked(struct peer *p, const char *order)
{
	peer_order(p, order);
	peer_asks(p);
}

/* Our answer, and what it sends at the most then */
static void answered(struct peer *p, struct rp_msg *m, uint32_t limit)
{
	peer_answer(p, m);
	peer_limit(p, limit);
}

/* Our size is another one, and what it sends at the most then */
static void update(struct peer *p, uint32_t rbsiz, uint32_t limit)
{
	rp_send(p->c, updprop_rbsiz(rp_xid(), rbsiz));
	peer_limit(p, limit);
}

/* ---- REQPROP, RESPROP ---- */

BOTH(DECISION, chg_hundred, SIZE(4096), "CHG-6,CHG-1,CHG-4,CHG-8,CHG-12,CRED-13",
	"100 REQPROPs, 100 RESPROPs")
{
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
}

BOTH(DECISION, chg_empty, SIZE(4096), "CHG-31,CHG-6,CHG-14",
	"an empty REQPROP gets an empty RESPROP")
{
	unsigned int i;

	for (i = 0; i < 20; i++)
		peer_ask_nothing(p);
}

BOTH(DECISION, chg_unknown, SIZE(4096), "CHG-7,PROP-5,EXT-2,PROP-12",
	"unknown properties are rejected without error")
{
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
}

BOTH(DECISION, chg_unknown_types, SIZE(4096), "EXT-1,HT-2,D-2",
	"unknown types stay unknown with the extension")
{
	static const uint32_t types[] = {
		0xffffff00, 0xffffff01, 0xffffff05, 0xffffffff, 6, 99,
	};
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
}

BOTH(DECISION, chg_many_values, SIZE(4096), "CHG-13,CHG-14,CHG-12,D-24,PROP-10",
	"values 0, 31, 32, 33 among unknown ones have their bits")
{
	static const unsigned int at[] = { 0, 31, 32, 33 };
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
}

BOTH(DECISION, chg_range, SIZE(4096), "CHG-7,PROP-16,D-27,CHG-12",
	"sizes out of range: whatever the answer, the size stays in range")
{
	static const uint32_t sizes[] = {
		0, 1, 512, 1023, 1024, 4092, 4095, 4097, 0x7fffffff,
		0x80000000, 0xfffffffc, 0xffffffff,
	};
	unsigned int i;

	for (i = 0; i < 12; i++) {
		peer_ask_size(p, sizes[i]);
		rp_check(p->rbsiz >= 4096 && p->rbsiz <= 1u << 20,
			 "asked for %u, the size is %u", sizes[i], p->rbsiz);
		peer_flood(p, 4096);
	}
}

BOTH(DECISION, chg_default, SIZE(4096), "CHG-30,PROP-4",
	"a REQPROP with a value of zero length asks for the default")
{
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
}

BOTH(DECISION, chg_brs, SIZE(4096), "CHG-7,CHG-12,PROP-17",
	"every Reverse Request Support may be asked for")
{
	struct rp_msg *m;
	uint32_t i;

	for (i = 0; i < 9; i++) {
		m = reqprop(rp_xid(), 2);
		put_prop(m, BRS, i % 3);
		put_prop(m, STRANGE, i);
		peer_ask(p, m);
	}
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

BOTH(DECISION, chg_malformed, SIZE(4096),
	"CHG-29,PROP-3,PROP-6,PROP-7,PROP-8,PROP-9,PROP-10,PROP-11",
	"malformed REQPROPs and UPDPROPs get BAD_XDR and change nothing")
{
	static const uint32_t types[] = { REQPROP, UPDPROP };
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
}

BOTH(DECISION, chg_flags, SIZE(4096), "FLG-3,FLG-11,D-13,CHG-4,CHG-19",
	"reserved flags, and RESPONSE where it does not belong or is missing")
{
	peer_refused(p, rp_set(reqprop(rp_xid(), 0), 4, 2), BAD_XDR);
	peer_refused(p, rp_set(updprop(rp_xid(), 0), 4, 0x80000000), BAD_XDR);
	peer_refused(p, rp_set(resprop(rp_xid(), 0, 0, 0), 4, CALL), BAD_XDR);
	rp_send(p->c, rp_set(reqprop(rp_xid(), 0), 4, RESPONSE));
	rp_send(p->c, rp_set(updprop_rbsiz(rp_xid(), 8192), 4, RESPONSE));
	rp_send(p->c, rp_set(reqprop(rp_xid(), 0), 4, 3));
	peer_nothing(p);
	peer_limit(p, 4096);
}

BOTH(DECISION, chg_trailing, SIZE(4096), "CHK-31,D-12",
	"bytes behind a REQPROP or UPDPROP are ignored")
{
	uint32_t xid = rp_xid();
	struct rp_msg *m = reqprop(xid, 0);

	put_all(m, W(RBSIZ, 4, 8192));
	rp_send(p->c, m);
	peer_expect(p, resprop(xid, 0, 0, 0));
	m = updprop_rbsiz(rp_xid(), 8192);
	put(m, 0xdeadbeef);
	rp_send(p->c, m);
	peer_limit(p, 8192);
}

BOTH(DECISION, chg_unasked_resprop, SIZE(4096), "CHG-16,CHG-29,CHG-15",
	"a RESPROP nobody asked for, good or bad, is dropped")
{
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
}

/* ---- its Receive Buffer Size ---- */

BOTH(DECISION, chg_grant, SIZE(4096), "CHG-9,CHG-24,CHG-10,PROP-14,CHG-23,CHG-20",
	"after the grant messages of the new size are taken")
{
	static const uint32_t sizes[] = { 4096, 8192, 6144, 16384, 5000 };
	unsigned int i;

	for (i = 0; i < 5; i++) {
		peer_get_size(p, sizes[i]);
		peer_flood(p, sizes[i]);
		peer_alive(p);
	}
}

BOTH(DECISION, chg_notice_often, SIZE(4096), "CHG-23,CHG-24,CHG-20,PROP-14",
	"1000 messages of the new size right after the notice")
{
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
}

BOTH(DECISION | MODULE, chg_at_once, SIZE(4096), "CHG-9,CHG-23,CHG-24,D-32",
	"a size within the capacity is granted at once, and the capacity stays")
{
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
}

/* ---- our values, as it takes them ---- */

BOTH(DECISION, chg_update_raise, SIZE(4096), "CHG-19,CHG-20,CHG-1,PROP-15",
	"UPDPROP: our size grows, what is sent inline with it")
{
	peer_limit(p, 4096);
	update(p, 8192, 8192);
	update(p, 10000, 10000);
}

BOTH(DECISION, chg_update_lower, SIZE(8192), "CHG-28,PROP-16,D-27",
	"UPDPROP: our size falls unasked, which is obeyed at once")
{
	peer_limit(p, 8192);
	update(p, 2048, 2048);
	update(p, 1024, 1024);
	update(p, 4096, 4096);
}

BOTH(DECISION, chg_update_default, SIZE(8192), "CHG-30,PROP-4",
	"UPDPROP with a value of zero length states the default")
{
	struct rp_msg *m;

	peer_limit(p, 8192);
	m = updprop(rp_xid(), 1);
	put_default(m, RBSIZ);
	rp_send(p->c, m);
	peer_limit(p, 4096);
}

BOTH(DECISION, chg_update_unknown, SIZE(4096), "CHG-22,PROP-5,CONN-6,EXT-2",
	"UPDPROP of unknown properties, of none, of the announcement")
{
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
}

BOTH(DECISION, chg_update_often, SIZE(4096), "CHG-19,CHG-20,CHG-28,CONN-13",
	"our size goes up and down many times under RPCs")
{
	unsigned int i, n = p->s ? 12 : 60;

	for (i = 0; i < n; i++) {
		uint32_t size = 1024 + 4 * (rp_dice() % 3841);

		update(p, size, size);
	}
}

BOTH(DECISION | MODULE, chg_update_unlisted, LISTS(2, BRS, 4, 0, X_NOCHG, 8, 1, 0),
	"CHG-22,CONN-6,PROP-21,CHG-5",
	"UPDPROP of a property that CONNPROP did not list is ignored")
{
	peer_limit(p, 4096);
	update(p, 8192, 4096);
	update(p, 2048, 4096);
	peer_order_refused(p, "rbsiz 8192");
}

/* bit 0 is RBSIZ; those beyond the set mean nothing */
BOTH(DECISION, chg_update_nochg, SAYS(connprop_x(rp_xid(), 8192, 0, 0xfffffff1)),
	"CHG-22,PROP-20,CHG-13,CHG-15",
	"UPDPROP of what will not change: lower is obeyed, higher ignored")
{
	peer_limit(p, 8192);
	update(p, 16384, 8192);
	update(p, 4096, 4096);
}

BOTH(DECISION, chg_all_may_change, LISTS(2, RBSIZ, 4, 4096, X_NOCHG, 4, 0),
	"PROP-20,CHG-14,CHG-3", "an announcement without bits: everything may change")
{
	update(p, 16384, 16384);
}

BOTH(DECISION | MODULE, chg_base_peer, LISTS(2, RBSIZ, 4, 8192, BRS, 4, 0),
	"CHG-3,EXT-8,EXT-1,HT-7,D-4,D-2,CONN-7",
	"a peer without the extension never sees it")
{
	unsigned int i;

	peer_refused(p, reqprop_rbsiz(rp_xid(), 8192), INVAL_HTYPE);
	peer_refused(p, updprop_rbsiz(rp_xid(), 16384), INVAL_HTYPE);
	rp_send(p->c, resprop(rp_xid(), 1, 0, 0));
	peer_order_refused(p, "rbsiz 16384");
	for (i = 0; i < 10; i++) {
		peer_limit(p, 8192);
		peer_alive(p);
	}
}

BOTH(DECISION, chg_no_announcement, LISTS(2, RBSIZ, 4, 8192, X_NOCHG, 0),
	"PROP-20,PROP-4,CHG-3", "an announcement of zero length is none")
{
	p->base = true;
	peer_refused(p, reqprop_rbsiz(rp_xid(), 8192), INVAL_HTYPE);
	peer_limit(p, 8192);
}

/* ---- what it asks for ---- */

BOTH(DECISION | MODULE, chg_asks_done, SIZE(4096), "CHG-2,CHG-4,CHG-9,CHG-1,CHG-5,CHG-6",
	"it asks for a larger size, and uses it after it was granted")
{
	p->hold = true;
	peer_order(p, "rbsiz 8192");
	peer_asks_size(p, 8192);
	peer_limit(p, 4096);
	answered(p, resprop(0, 1, 0, 0), 8192);
}

BOTH(DECISION | MODULE, chg_asks_other, SIZE(4096), "CHG-10,CHG-30",
	"it asks for a larger size and gets part of it")
{
	struct rp_msg *m;

	p->hold = true;
	asked(p, "rbsiz 8192");
	answered(p, resprop_rbsiz(0, 6144), 6144);
	asked(p, "rbsiz 12000");
	m = resprop(0, 0, 0, 1);
	put_default(m, RBSIZ);
	answered(p, m, 4096);
}

BOTH(DECISION | MODULE, chg_asks_rejected, SIZE(4096),
	"CHG-7,CHG-12,CHG-15,CHG-14,CHG-5,D-24",
	"answers that do not grant: rejected, overlaps, nothing, foreign bits")
{
	unsigned int i;
	struct rp_msg *m;

	p->hold = true;
	for (i = 0; i < 8; i++) {
		asked(p, "rbsiz 8192");
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
		answered(p, m, 4096);
	}
	asked(p, "rbsiz 8192"); /* granted, and more bits */
	answered(p, resprop(0, 0xffffffff, 0xfffffffe, 0), 8192);
}

BOTH(DECISION | MODULE, chg_asks_extra, SIZE(4096), "CHG-11,PROP-5",
	"values in the answer that were not asked for are ignored")
{
	struct rp_msg *m;

	p->hold = true;
	asked(p, "rbsiz 8192");
	m = resprop(0, 1, 0, 3);
	put_prop(m, BRS, 2);
	put_prop(m, STRANGE, 99);
	put_all(m, W(X_NOCHG, 8, 1, 1));
	answered(p, m, 8192);
	peer_order(p, "rbsiz 10000");		/* nothing was made nochg */
	peer_asks(p);
	answered(p, resprop(0, 1, 0, 0), 10000);
}

BOTH(DECISION | MODULE, chg_asks_foreign_xid, SIZE(4096), "CHG-16,CHG-9",
	"RESPROPs with wrong XIDs, then with the right one")
{
	uint32_t xid;

	p->hold = true;
	asked(p, "rbsiz 8192");
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
}

BOTH(DECISION | MODULE, chg_asks_one_by_one, SIZE(4096), "CHG-17,CHG-16",
	"a second request waits for the answer to the first")
{
	p->hold = true;
	asked(p, "rbsiz 8192");
	peer_order(p, "rbsiz 10000");
	peer_limit(p, 4096);
	rp_check(p->requests == 1, "a second REQPROP");
	peer_answer(p, resprop(0, 1, 0, 0));
	peer_asks_size(p, 10000);
	peer_limit(p, 8192);
	answered(p, resprop(0, 1, 0, 0), 10000);
}

BOTH(DECISION | MODULE, chg_asks_crossed, SIZE(4096), "CHG-18,CHG-4,CHG-17",
	"both ask at the same time, with equal XIDs")
{
	struct rp_msg *m;
	struct chg resp;
	uint32_t xid;

	p->hold = true;
	asked(p, "rbsiz 8192");
	xid = p->request.xid;
	rp_send(p->c, reqprop(xid, 0));
	peer_expect(p, resprop(xid, 0, 0, 0));
	m = reqprop(xid, 1);
	put_prop(m, STRANGE, 1);
	resp = peer_ask(p, m);
	rp_check(resp.xid == xid, "another XID");
	peer_limit(p, 4096);
	answered(p, resprop(0, 1, 0, 0), 8192);
}

BOTH(DECISION | MODULE, chg_asks_malformed, SIZE(4096), "CHG-29,CHG-17,PROP-7,PROP-8",
	"a malformed RESPROP is dropped and counts as rejected")
{
	unsigned int i;
	struct rp_msg *m;

	p->hold = true;
	for (i = 0; i < 6; i++) {
		asked(p, "rbsiz 8192");
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
	asked(p, "rbsiz 8192");
	answered(p, resprop(0, 1, 0, 0), 8192);
}

BOTH(DECISION | MODULE, chg_asks_error, SIZE(8192), "CHG-3,CHG-17,ERR-7",
	"an ERROR in answer to a REQPROP is a rejection")
{
	static const uint32_t codes[] = { BAD_XDR, SYSTEM, 77 };
	unsigned int i;

	p->hold = true;
	for (i = 0; i < 3; i++) {
		asked(p, "rbsiz 12288");
		answered(p, error2(0, codes[i]), 8192);
	}
}

BOTH(DECISION | MODULE, chg_asks_in_error, SIZE(8192), "HT-9,CHG-3,EXT-6",
	"after INVAL_HTYPE for a REQPROP no other is sent")
{
	p->hold = true;
	asked(p, "rbsiz 12288");
	peer_answer(p, error2(0, INVAL_HTYPE));
	p->base = true;
	peer_limit(p, 8192);
	peer_try_order(p, "rbsiz 12288");
	peer_try_order(p, "own rbsiz 16384");
	peer_limit(p, 8192);
}

BOTH(DECISION | MODULE, chg_asks_lower, SIZE(8192), "CHG-26",
	"it does not ask for a lower size, whoever wants it")
{
	peer_order_refused(p, "rbsiz 4096");
	peer_order_refused(p, "rbsiz 8191");
	peer_nothing(p);
	rp_check(!p->requests, "it asks");
	peer_limit(p, 8192);
}

BOTH(DECISION | MODULE, chg_asks_update, SIZE(4096), "CHG-26,CHG-19,CHG-28",
	"our size changes while it asks for a larger one, and beyond that")
{
	p->hold = true;
	peer_order(p, "rbsiz 8192");
	peer_asks_size(p, 8192);
	/* What it has asked for would be less than this */
	update(p, 10000, 8192);
	peer_order(p, "rbsiz 12000");
	rp_send(p->c, updprop_rbsiz(rp_xid(), 16000));
	update(p, 2048, 2048);
	rp_send(p->c, updprop_rbsiz(rp_xid(), 12000));
	answered(p, resprop(0, 0, 1, 0), 12000);
	peer_nothing(p);
	rp_check(p->requests == 1, "it asks for what there is more of");
}

BOTH(DECISION | MODULE, chg_asks_often, SIZE(4096), "CHG-17,CHG-9,CHG-26,CHG-16,CHG-10",
	"many requests under RPCs; in between our size goes down")
{
	unsigned int i, n = p->s ? 15 : 60;
	uint32_t now = 4096, want;
	char order[32];

	for (i = 0; i < n; i++) {
		want = 4096 + 8 * (rp_dice() % 1537);
		if (want <= now) {
			now = want - 1024;
			update(p, now, now);
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
}

BOTH(DECISION | MODULE, chg_asks_never_answered, SIZE(4096), "CHG-17,CRED-13,SEC-2",
	"a REQPROP that is never answered: everything else goes on")
{
	p->hold = true;
	asked(p, "rbsiz 8192");
	peer_get_size(p, 8192);
	peer_flood(p, 8192);
	update(p, 2048, 2048);
}

BOTH(DECISION | MODULE, chg_asks_in_vain, SAYS(connprop_x(rp_xid(), 4096, 0, 1)),
	"CHG-5,CHG-22,PROP-20,CHG-13",
	"what will not change is not asked for")
{
	p->hold = true;
	peer_order_refused(p, "rbsiz 8192");
	peer_nothing(p);
	rp_check(!p->requests, "it asks");
	peer_limit(p, 4096);
}

BOTH(DECISION | MODULE, chg_own_raise, SIZE(4096), "CHG-19,CHG-21,CHG-23,CHG-24,CHG-31",
	"it raises its size: one UPDPROP, then proof that it arrived")
{
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
}

BOTH(DECISION | MODULE, chg_own_lower, SIZE(4096), "CHG-25",
	"it does not lower its size unasked, whoever wants it")
{
	peer_get_size(p, 8192);
	peer_order_refused(p, "own rbsiz 4096");
	peer_flood(p, 8192);
	rp_check(p->rbsiz == 8192, "the size is %u", p->rbsiz);
}

BOTH(DECISION | MODULE, chg_orders_refused, SIZE(4096), "PROP-16,D-27",
	"orders that make no sense are refused")
{
	static const char *const orders[] = {
		"rbsiz", "rbsiz 0", "rbsiz 1023", "rbsiz x", "rbsiz 4096 1",
		"own", "own rbsiz", "own rbsiz 0", "own brs 7", "xyz 1",
		"messages 3", "rbsiz 99999999999999999999",
	};
	unsigned int i;

	for (i = 0; i < sizeof(orders) / sizeof(orders[0]); i++)
		peer_order_refused(p, orders[i]);
	peer_nothing(p);
	rp_check(!p->requests && !p->updates, "something was sent");
}
