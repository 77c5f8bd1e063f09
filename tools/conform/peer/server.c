// SPDX-License-Identifier: GPL-2.0
/*
 * What many cases against a server need.
 */
#include <stdio.h>
#include <string.h>

#include "rp.h"
#include "change.h"

/* Receive Buffer Size of the server */
static uint32_t rbsiz;

uint32_t rp_settle(struct rp_conn *c, const struct rp_msg *prop)
{
	const struct chg_value *v;
	struct rp_rx *rx;
	struct chg m;

	rbsiz = 4096;
	rp_send(c, prop);
	if (rp_opt.no_answer)
		return 1;
	rx = rp_recv(c);
	rp_check(rx->len >= 24 && rp_word(rx->buf, 0) == prop->w[0] &&
		 rp_word(rx->buf, 1) == 2 && rp_word(rx->buf, 3) == CONNPROP &&
		 rp_word(rx->buf, 4) == RESPONSE,
		 "CONNPROP is not answered with CONNPROP");
	m = chg_parse(rx);
	v = chg_find(&m, RBSIZ);
	if (v)
		rbsiz = v->value;
	return m.credit;
}

struct rp_conn *rp_open_with(const struct rp_msg *prop)
{
	struct rp_conn *c = rp_connect();

	rp_settle(c, prop);
	return c;
}

uint32_t rp_may_send(void)
{
	return rbsiz < RP_RECV_SIZE ? rbsiz : RP_RECV_SIZE;
}

struct rp_conn *rp_open(void)
{
	return rp_open_with(connprop(rp_xid(), 4096, 0));
}

void rp_null(struct rp_conn *c)
{
	uint32_t xid = rp_xid();

	rp_send(c, null_call(xid));
	rp_expect(c, null_reply(xid));
}

void rp_v1_null(struct rp_conn *c)
{
	uint32_t xid = rp_xid();

	rp_send(c, v1_null_call(xid));
	rp_expect(c, v1_null_reply(xid));
}

void rp_nothing(struct rp_conn *c)
{
	rp_null(c);
	rp_expect_silence(c, RP_SILENCE);
}

void rp_v1_nothing(struct rp_conn *c)
{
	rp_v1_null(c);
	rp_expect_silence(c, RP_SILENCE);
}

void rp_refused(struct rp_conn *c, const struct rp_msg *m, uint32_t code)
{
	rp_send(c, m);
	rp_expect(c, error2(m->w[0], code));
}

struct rp_rx *rp_exchange(struct rp_conn *c, const struct rp_msg *m)
{
	uint32_t xid = m->w[0];
	struct rp_rx *rx;

	rp_send(c, m);
	rx = rp_recv(c);
	rp_check(rx->len >= 16 && rp_word(rx->buf, 0) == xid,
		 "an answer to something else");
	return rx;
}

unsigned long rp_nulls_served(void)
{
	unsigned long n = 0;
	char line[1024];
	bool found = false;
	FILE *f;

	if (!rp_opt.module)
		return 0;
	f = fopen("/proc/net/rpc/nfsd", "r");
	rp_check(f, "no statistics of nfsd");
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "proc4 %*u %lu", &n) == 1)
			found = true;
	fclose(f);
	rp_check(found, "nfsd does not count NFSv4 calls");
	return n;
}
