// SPDX-License-Identifier: GPL-2.0
/*
 * The encoder: messages as lists of words, written from the layouts of the
 * specification. It is also what received messages are compared with.
 */
#include <stdio.h>
#include <string.h>

#include "rp.h"

#define NFS_PROGRAM	100003

static unsigned int aside;

void rp_aside(bool is)
{
	aside = is;
}

unsigned int rp_side(void)
{
	return aside;
}

struct rp_msg *rp_new(void)
{
	static struct rp_msg ring[2][16];
	static unsigned int next[2];
	struct rp_msg *m = &ring[aside][next[aside]++ % 16];

	m->n = 0;
	m->cut = 0;
	return m;
}

void put(struct rp_msg *m, uint64_t w)
{
	rp_check(m->n < RP_MAX_WORDS, "test message too long");
	m->w[m->n++] = w;
}

void put_all(struct rp_msg *m, const uint64_t *w, unsigned int n)
{
	while (n--)
		put(m, *w++);
}

void put_long(struct rp_msg *m, uint64_t v)
{
	put(m, v >> 32);
	put(m, v & 0xffffffffu);
}

void put_bytes(struct rp_msg *m, const void *p, unsigned int len)
{
	const uint8_t *b = p;
	unsigned int i;
	uint32_t w = 0;

	for (i = 0; i < len; i++) {
		w |= (uint32_t)b[i] << (24 - 8 * (i % 4));
		if (i % 4 == 3 || i == len - 1) {
			put(m, w);
			w = 0;
		}
	}
}

void put_opaque(struct rp_msg *m, const void *p, unsigned int len)
{
	put(m, len);
	put_bytes(m, p, len);
}

void put_msg(struct rp_msg *m, const struct rp_msg *tail)
{
	put_all(m, tail->w, tail->n);
}

void put_seg(struct rp_msg *m, struct rp_seg s)
{
	put(m, s.handle);
	put(m, s.len);
	put_long(m, s.off);
}

void put_read(struct rp_msg *m, uint32_t position, struct rp_seg s)
{
	put(m, 1);
	put(m, position);
	put_seg(m, s);
}

void put_chunk(struct rp_msg *m, unsigned int n, const struct rp_seg *s)
{
	put(m, 1);
	put(m, n);
	while (n--)
		put_seg(m, *s++);
}

void put_last_read(struct rp_msg *m, uint32_t position, struct rp_seg s)
{
	put_read(m, position, s);
	put_all(m, W(0, 0, 0));
}

void put_last_write(struct rp_msg *m, unsigned int n, const struct rp_seg *s)
{
	put(m, 0);
	put_chunk(m, n, s);
	put_all(m, W(0, 0));
}

void put_reply_chunk(struct rp_msg *m, unsigned int n, const struct rp_seg *s)
{
	put_all(m, W(0, 0));
	put_chunk(m, n, s);
}

void put_prop(struct rp_msg *m, uint32_t id, uint32_t value)
{
	put(m, id);
	put(m, 4);
	put(m, value);
}

struct rp_msg *rp_words(const uint64_t *w, unsigned int n)
{
	struct rp_msg *m = rp_new();

	put_all(m, w, n);
	return m;
}

struct rp_msg *rp_cut(struct rp_msg *m, unsigned int bytes)
{
	m->cut = bytes;
	return m;
}

struct rp_msg *rp_set(struct rp_msg *m, unsigned int word, uint64_t value)
{
	rp_check(word < m->n, "test message has no word %u", word);
	m->w[word] = value;
	return m;
}

struct rp_msg *rp_copy(const struct rp_msg *m)
{
	struct rp_msg *copy = rp_new();

	put_msg(copy, m);
	copy->cut = m->cut;
	return copy;
}

struct rp_msg *v2(uint32_t xid, uint64_t credit, uint32_t htype,
		  uint32_t flags)
{
	return rp_words(W(xid, 2, credit, htype, flags));
}

struct rp_msg *v1(uint32_t xid, uint64_t credit, uint32_t proc)
{
	return rp_words(W(xid, 1, credit, proc));
}

struct rp_msg *rpc_call(uint32_t xid, uint32_t prog, uint32_t vers,
			uint32_t proc)
{
	/* AUTH_SYS: root of "rp", no further groups; no verifier */
	return rp_words(W(xid, 0, 2, prog, vers, proc,
			  1, 24, 0, 2, 0x72700000, 0, 0, 0, 0, 0));
}

struct rp_msg *rpc_reply(uint32_t xid)
{
	return rp_words(W(xid, 1, 0, 0, 0, 0));
}

struct rp_msg *rpc_null(uint32_t xid)
{
	return rp_words(W(xid, 0, 2, NFS_PROGRAM, 4, 0, 0, 0, 0, 0));
}

struct rp_msg *call_head(uint32_t xid, uint32_t htype, uint32_t inv)
{
	struct rp_msg *m = v2(xid, 32, htype, CALL);

	put(m, inv);
	return m;
}

struct rp_msg *reply_head(uint32_t xid, uint32_t htype)
{
	struct rp_msg *m = v2(xid, ANY, htype, RESPONSE);

	put(m, 0);
	return m;
}

struct rp_msg *call_with_read(const struct rp_msg *rpc, uint32_t position,
			      struct rp_seg s)
{
	struct rp_msg *m = call_head(rpc->w[0], MSG, 0);

	put_last_read(m, position, s);
	put_msg(m, rpc);
	return m;
}

struct rp_msg *call_with_write(const struct rp_msg *rpc, unsigned int n,
			       const struct rp_seg *s)
{
	struct rp_msg *m = call_head(rpc->w[0], MSG, 0);

	put_last_write(m, n, s);
	put_msg(m, rpc);
	return m;
}

struct rp_msg *reply_with_write(const struct rp_msg *rpc, unsigned int n,
				const struct rp_seg *s)
{
	struct rp_msg *m = reply_head(rpc->w[0], MSG);

	put_last_write(m, n, s);
	put_msg(m, rpc);
	return m;
}

struct rp_msg *msg_call(const struct rp_msg *rpc)
{
	struct rp_msg *m = call_head(rpc->w[0], MSG, 0);

	put_all(m, W(0, 0, 0));
	put_msg(m, rpc);
	return m;
}

struct rp_msg *msg_reply(const struct rp_msg *rpc)
{
	struct rp_msg *m = reply_head(rpc->w[0], MSG);

	put_all(m, W(0, 0, 0));
	put_msg(m, rpc);
	return m;
}

struct rp_msg *v1_call(const struct rp_msg *rpc)
{
	struct rp_msg *m = v1(rpc->w[0], 32, MSG);

	put_all(m, W(0, 0, 0));
	put_msg(m, rpc);
	return m;
}

struct rp_msg *v1_reply(const struct rp_msg *rpc)
{
	struct rp_msg *m = v1(rpc->w[0], ANY, MSG);

	put_all(m, W(0, 0, 0));
	put_msg(m, rpc);
	return m;
}

struct rp_msg *null_call(uint32_t xid)
{
	return msg_call(rpc_null(xid));
}

struct rp_msg *null_reply(uint32_t xid)
{
	return msg_reply(rpc_reply(xid));
}

struct rp_msg *v1_null_call(uint32_t xid)
{
	return v1_call(rpc_null(xid));
}

struct rp_msg *v1_null_reply(uint32_t xid)
{
	return v1_reply(rpc_reply(xid));
}

struct rp_msg *error2(uint32_t xid, uint32_t code)
{
	return rp_words(W(xid, 2, ANY, ERROR, RESPONSE, code));
}

struct rp_msg *error2_arg(uint32_t xid, uint32_t code, uint64_t arg)
{
	return rp_words(W(xid, 2, ANY, ERROR, RESPONSE, code, arg));
}

struct rp_msg *err_vers(uint32_t xid, uint32_t vers, uint32_t low,
			uint32_t high)
{
	return rp_words(W(xid, vers, ANY, ERROR, ERR_VERS, low, high));
}

struct rp_msg *connprop_head(uint32_t xid, uint32_t flags, uint32_t n)
{
	struct rp_msg *m = v2(xid, 32, CONNPROP, flags);

	put(m, n);
	return m;
}

struct rp_msg *connprop(uint32_t xid, uint32_t rbsiz, uint32_t brs)
{
	struct rp_msg *m = connprop_head(xid, CALL, 2);

	put_prop(m, RBSIZ, rbsiz);
	put_prop(m, BRS, brs);
	return m;
}

/* A small generator, so that every run sends the same. */
uint32_t rp_dice(void)
{
	static uint32_t x = 2463534242u;

	x ^= x << 13;
	x ^= x >> 17;
	x ^= x << 5;
	return x;
}

void rp_spoil(struct rp_msg *m)
{
	static const uint64_t nasty[] = {
		0, 1, 2, 3, 4, 5, 16, 0x7fffffff, 0x80000000, 0xffffffff,
		0x0fffffff, 0x10000000, 0x10000001, 0xffffff01,
	};
	unsigned int i, n = 1 + rp_dice() % 4;

	for (i = 0; i < n; i++) {
		unsigned int w = 2 + rp_dice() % (m->n - 2);

		if (rp_dice() % 4)
			m->w[w] = nasty[rp_dice() % 14];
		else
			m->w[w] ^= 1u << rp_dice() % 32;
	}
	if (rp_dice() % 4 == 0)
		m->cut = 16 + rp_dice() % (4 * m->n - 16);
}

/* Others than a short time ago: a server that has seen a Call, from the same
 * address, does not execute it again.
 */
uint32_t rp_xid(void)
{
	static uint32_t last;

	if (!last)
		last = 0x40000000 | ((uint32_t)rp_now() * 2654435761u >> 4);
	return ++last;
}

uint32_t rp_word(const void *buf, unsigned int index)
{
	const uint8_t *b = (const uint8_t *)buf + 4 * index;

	return (uint32_t)b[0] << 24 | b[1] << 16 | b[2] << 8 | b[3];
}
