// SPDX-License-Identifier: GPL-2.0
/*
 * The encoder against the example messages of the specification: what the
 * test cases send and expect is only as good as this.
 */
#include <stdio.h>
#include <string.h>

#include "rp.h"
#include "change.h"
#include "golden.h"
#include "self.h"

#define XID	0x11223344

static struct rp_seg seg(uint32_t handle, uint32_t len, uint64_t off)
{
	return (struct rp_seg){ handle, len, off };
}

static struct rp_msg *t3(void)
{
	struct rp_msg *m = call_head(XID, MSG, 0xa102);

	put_read(m, 148, seg(0xa101, 4096, 0x7f0000001000));
	put_read(m, 148, seg(0xa102, 904, 0x7f0000009000));
	put_all(m, W(0, 0, 0));
	return m;
}

static struct rp_msg *t4(void)
{
	struct rp_msg *m = call_head(XID, NOMSG, 0xb203);
	struct rp_seg reply = seg(0xb203, 65536, 0x10000);

	put_read(m, 0, seg(0xb201, 4096, 0x1000));
	put_read(m, 0, seg(0xb202, 100, 0x5000));
	put_all(m, W(0, 0));
	put_chunk(m, 1, &reply);
	return m;
}

static struct rp_msg *t5(void)
{
	struct rp_msg *m = reply_head(XID, NOMSG);
	struct rp_seg reply = seg(0xb203, 5000, 0x10000);

	put_all(m, W(0, 0));
	put_chunk(m, 1, &reply);
	return m;
}

static struct rp_msg *t6(void)
{
	struct rp_msg *m = reply_head(XID, MSG);
	struct rp_seg chunk[2] = {
		seg(0xc301, 8192, 0x2000), seg(0xc302, 0, 0x4000),
	};

	put(m, 0);
	put_chunk(m, 2, chunk);
	put_all(m, W(0, 0));
	return m;
}

static struct rp_msg *p2(void)
{
	struct rp_msg *m = connprop_x(0xc0de0001, 16384, 1, 2);

	return rp_set(rp_set(m, 2, 16), 4, RESPONSE);
}

static struct rp_msg *p6(void)
{
	struct rp_msg *m = connprop_head(0xc0de0001, CALL, 1);

	put_default(m, X_IDENTITY);
	return rp_set(m, 2, 32);
}

static struct rp_msg *p7(void)
{
	struct rp_msg *m = connprop_head(0xc0de0001, RESPONSE, 1);

	put_all(m, W(X_IDENTITY, 16, 0x00112233, 0x44556677, 0x8899aabb, 0xccddeeff));
	return rp_set(m, 2, 16);
}

static struct rp_msg *g7(void)
{
	struct rp_msg *m = rp_new();

	put_subset(m, W(0, 2));
	return m;
}

static struct rp_msg *v1_err_chunk(uint32_t vers)
{
	return rp_words(W(XID, vers, 32, ERROR, 2));
}

static struct rp_msg *build(const char *name)
{
	if (!strcmp(name, "T1"))
		return null_call(XID);
	if (!strcmp(name, "T2"))
		return null_reply(XID);
	if (!strcmp(name, "T3"))
		return t3();
	if (!strcmp(name, "T4"))
		return t4();
	if (!strcmp(name, "T5"))
		return t5();
	if (!strcmp(name, "T6"))
		return t6();
	if (!strcmp(name, "E1a"))
		return err_vers(XID, 3, 1, 2);
	if (!strcmp(name, "E1b"))
		return err_vers(XID, 2, 1, 1);
	if (!strcmp(name, "E1c"))
		return err_vers(XID, 1, 1, 1);
	if (!strcmp(name, "E1e"))
		return v1_err_chunk(2);
	if (!strcmp(name, "E2"))
		return error2(XID, BAD_XDR);
	if (!strcmp(name, "E3"))
		return error2(XID, INVAL_HTYPE);
	if (!strcmp(name, "E4"))
		return error2_arg(XID, READ_CHUNKS, 1);
	if (!strcmp(name, "E5"))
		return error2_arg(XID, WRITE_CHUNKS, 1);
	if (!strcmp(name, "E6"))
		return error2_arg(XID, SEGMENTS, 16);
	if (!strcmp(name, "E8"))
		return error2_arg(XID, REPLY_RESOURCE, 20480);
	if (!strcmp(name, "E9"))
		return error2(XID, SYSTEM);
	if (!strcmp(name, "P1"))
		return connprop(0xc0de0001, 4096, 1);
	if (!strcmp(name, "P2"))
		return p2();
	if (!strcmp(name, "P6"))
		return p6();
	if (!strcmp(name, "P7"))
		return p7();
	if (!strcmp(name, "G1"))
		return reqprop_rbsiz(0xc0de0002, 8192);
	if (!strcmp(name, "G2"))
		return resprop(0xc0de0002, 1, 0, 0);
	if (!strcmp(name, "G3"))
		return resprop(0xc0de0002, 0, 1, 0);
	if (!strcmp(name, "G4"))
		return resprop_rbsiz(0xc0de0002, 6144);
	if (!strcmp(name, "G5"))
		return resprop(0xc0de0002, 1, 1, 0);
	if (!strcmp(name, "G6"))
		return updprop_rbsiz(0xc0de0003, 16384);
	if (!strcmp(name, "G7"))
		return g7();
	if (!strcmp(name, "V1"))
		return v1_null_call(XID);
	if (!strcmp(name, "V2"))
		return v1_err_chunk(1);
	return NULL;
}

static bool same(const struct rp_msg *m, const struct golden *g)
{
	unsigned int i;

	if (m->n != g->n)
		return false;
	for (i = 0; i < m->n; i++)
		if (m->w[i] != ANY && m->w[i] != g->w[i])
			return false;
	return true;
}

int rp_self(void)
{
	unsigned int i, n = sizeof(golden) / sizeof(golden[0]), bad = 0;
	unsigned int tests = 0;
	struct rp_msg *m;

	printf("KTAP version 1\n");
	for (i = 0; i < n; i++) {
		m = build(golden[i].name);
		if (!m)
			continue;
		tests++;
		if (same(m, &golden[i])) {
			printf("ok %u encoder writes %s\n", tests,
			       golden[i].name);
		} else {
			bad++;
			printf("not ok %u encoder writes %s\n", tests,
			       golden[i].name);
		}
	}
	printf("1..%u\n", tests);
	return bad != 0;
}
