// SPDX-License-Identifier: GPL-2.0
/*
 * Encoder and decoder of the property-change extension. Written from the layouts
 * of the specification.
 */
#include "rp.h"
#include "change.h"

/* ---- writing ---- */

static struct rp_msg *own(uint32_t xid, uint32_t type, uint32_t n)
{
	struct rp_msg *m = v2(xid, 32, type, CALL);

	put(m, n);
	return m;
}

struct rp_msg *reqprop(uint32_t xid, uint32_t n)
{
	return own(xid, REQPROP, n);
}

struct rp_msg *updprop(uint32_t xid, uint32_t n)
{
	return own(xid, UPDPROP, n);
}

struct rp_msg *reqprop_rbsiz(uint32_t xid, uint32_t size)
{
	struct rp_msg *m = reqprop(xid, 1);

	put_prop(m, RBSIZ, size);
	return m;
}

struct rp_msg *updprop_rbsiz(uint32_t xid, uint32_t size)
{
	struct rp_msg *m = updprop(xid, 1);

	put_prop(m, RBSIZ, size);
	return m;
}

struct rp_msg *updprop_brs(uint32_t xid, uint32_t brs)
{
	struct rp_msg *m = updprop(xid, 1);

	put_prop(m, BRS, brs);
	return m;
}

void put_subset(struct rp_msg *m, const uint64_t *words, unsigned int n)
{
	put(m, n);
	put_all(m, words, n);
}

struct rp_msg *resprop(uint32_t xid, uint32_t done, uint32_t rejected,
		       uint32_t n)
{
	struct rp_msg *m = v2(xid, ANY, RESPROP, RESPONSE);
	uint64_t w = done;

	put_subset(m, &w, done ? 1 : 0);
	w = rejected;
	put_subset(m, &w, rejected ? 1 : 0);
	put(m, n);
	return m;
}

struct rp_msg *resprop_rbsiz(uint32_t xid, uint32_t size)
{
	struct rp_msg *m = resprop(xid, 0, 0, 1);

	put_prop(m, RBSIZ, size);
	return m;
}

void put_default(struct rp_msg *m, uint32_t id)
{
	put(m, id);
	put(m, 0);
}

struct rp_msg *connprop_x(uint32_t xid, uint32_t rbsiz, uint32_t brs,
			  uint32_t nochg)
{
	struct rp_msg *m = connprop_head(xid, CALL, 3);

	put_prop(m, RBSIZ, rbsiz);
	put_prop(m, BRS, brs);
	put_all(m, W(X_NOCHG, 8, 1, nochg));
	return m;
}

struct rp_msg *chg_spoilt(void)
{
	struct rp_msg *m;
	uint32_t type;

	switch (rp_dice() % 4) {
	case 0:
		m = reqprop(rp_xid(), 2);
		break;
	case 1:
		m = updprop(rp_xid(), 2);
		break;
	case 2:
		m = resprop(rp_xid(), 1, 2, 2);
		break;
	default:
		m = connprop_head(rp_xid(), CALL, 2);
		break;
	}
	put_prop(m, RBSIZ, 4096 << rp_dice() % 3);
	put_prop(m, BRS, rp_dice() % 3);
	type = m->w[3];
	rp_spoil(m);
	rp_set(m, 3, type);
	return m;
}

/* ---- reading ---- */

/**
 * struct reader - a place in a message
 * @rx: the message
 * @at: next word
 */
struct reader {
	const struct rp_rx	*rx;
	uint32_t		at;
};

static uint32_t get(struct reader *r)
{
	rp_check(4 * r->at + 4 <= r->rx->len, "a %08x that ends too early",
		 rp_word(r->rx->buf, 3));
	return rp_word(r->rx->buf, r->at++);
}

static void get_subset(struct reader *r, struct chg_subset *s)
{
	uint32_t i;

	s->n = get(r);
	rp_check(s->n <= CHG_WORDS, "a subset of %u words", s->n);
	for (i = 0; i < s->n; i++)
		s->w[i] = get(r);
}

static void get_value(struct reader *r, struct chg_value *v)
{
	uint32_t i, w, pad;

	v->id = get(r);
	v->len = get(r);
	rp_check(v->len <= 1024, "a value of %u bytes", v->len);
	for (i = 0; i < v->len; i += 4) {
		w = get(r);
		if (!i)
			v->value = w;
		pad = v->len - i < 4 ? 32 - 8 * (v->len - i) : 0;
		rp_check(!(w & ((1ull << pad) - 1)), "padding is not zero");
	}
	if (v->id == RBSIZ || v->id == BRS)
		rp_check(v->len == 4 || !v->len, "property %u has %u bytes",
			 v->id, v->len);
	/* A value of zero length states the default. */
	if (!v->len)
		v->value = v->id == RBSIZ ? 4096 : v->id == BRS;
}

bool chg_is(const struct rp_rx *rx, uint32_t type)
{
	return rx->len >= 20 && rp_word(rx->buf, 1) == 2 &&
	       rp_word(rx->buf, 3) == type;
}

struct chg chg_parse(const struct rp_rx *rx)
{
	struct reader r = { rx, 4 };
	struct chg m = {};
	uint32_t i;

	rp_check(rx->len >= 24 && rp_word(rx->buf, 1) == 2,
		 "not a message of version 2");
	m.xid = rp_word(rx->buf, 0);
	m.credit = rp_word(rx->buf, 2);
	m.type = rp_word(rx->buf, 3);
	m.flags = get(&r);
	rp_check(m.credit > 0 && m.credit < 65536, "credits %u", m.credit);
	rp_check(m.type == CONNPROP || m.type == REQPROP ||
		 m.type == RESPROP || m.type == UPDPROP,
		 "type %08x has no properties", m.type);
	if (m.type == RESPROP) {
		rp_check(m.flags == RESPONSE, "a RESPROP with flags %08x",
			 m.flags);
		get_subset(&r, &m.done);
		get_subset(&r, &m.rejected);
	} else if (m.type != CONNPROP) {
		rp_check(m.flags == CALL, "a %08x with flags %08x", m.type,
			 m.flags);
	}
	m.n = get(&r);
	rp_check(m.n <= CHG_VALUES, "a set of %u values", m.n);
	for (i = 0; i < m.n; i++)
		get_value(&r, &m.set[i]);
	rp_check(4 * r.at == rx->len, "%u bytes too many",
		 rx->len - 4 * r.at);
	return m;
}

struct chg chg_of(const struct rp_msg *m)
{
	static struct rp_rx rx;
	unsigned int i;

	rx.len = 4 * m->n;
	rp_check(rx.len <= RP_RECV_SIZE, "test message too long");
	for (i = 0; i < m->n; i++) {
		uint32_t w = m->w[i] == ANY ? 32 : m->w[i];

		rx.buf[4 * i] = w >> 24;
		rx.buf[4 * i + 1] = w >> 16;
		rx.buf[4 * i + 2] = w >> 8;
		rx.buf[4 * i + 3] = w;
	}
	return chg_parse(&rx);
}

bool chg_in(const struct chg_subset *s, unsigned int entry)
{
	return entry / 32 < s->n && s->w[entry / 32] & 1u << entry % 32;
}

const struct chg_value *chg_find(const struct chg *m, uint32_t id)
{
	uint32_t i;

	for (i = 0; i < m->n; i++)
		if (m->set[i].id == id)
			return &m->set[i];
	return NULL;
}

void chg_covers(const struct chg *req, const struct chg *resp)
{
	uint32_t i, ways;

	rp_check(resp->type == RESPROP && resp->xid == req->xid,
		 "not the answer to this REQPROP");
	for (i = 0; i < 32 * CHG_WORDS; i++) {
		bool done = chg_in(&resp->done, i);
		bool rejected = chg_in(&resp->rejected, i);

		if (i >= req->n) {
			rp_check(!done && !rejected, "bit %u of %u", i,
				 req->n);
			continue;
		}
		ways = done + rejected + !!chg_find(resp, req->set[i].id);
		/* The same unknown property may be there many times. */
		rp_check(ways == 1, "value %u is %s", i,
			 ways ? "answered twice" : "not answered");
	}
	for (i = 0; i < resp->n; i++)
		rp_check(chg_find(req, resp->set[i].id),
			 "property %08x, which was not asked for",
			 resp->set[i].id);
}
