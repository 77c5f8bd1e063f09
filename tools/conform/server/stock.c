// SPDX-License-Identifier: GPL-2.0
/*
 * The conformance kit against a version 1 server that is not ours: shows that the
 * peer itself works, and how such a server treats what our client sends.
 */
#include "rp.h"

RP_CASE("stock", MUST | V1, stock_null,
	"V1-7", "a NULL call to a version 1 server")
{
	struct rp_conn *c = rp_connect();

	rp_v1_null(c);
	rp_v1_null(c);
	rp_expect_silence(c, RP_SILENCE);
	rp_close(c);
}

RP_CASE("stock", MUST | V1, stock_err_vers, "VER-9,ERR-12,V1-11",
	"a version 1 server answers CONNPROP with ERR_VERS and stays")
{
	struct rp_conn *c = rp_connect();
	uint32_t xid = rp_xid();

	rp_send(c, connprop(xid, 4096, 1));
	rp_expect(c, err_vers(xid, 2, 1, 1));
	rp_v1_null(c);
}

RP_CASE("stock", TROUBLE | V1, stock_connects, "REC-4",
	"a client that comes and goes many times")
{
	unsigned int i;

	for (i = 0; i < 100; i++) {
		struct rp_conn *c = rp_connect();

		rp_v1_null(c);
		rp_close(c);
	}
}

RP_CASE("stock", TROUBLE | V1, stock_stale, "ERR-33",
	"stale handles break connections, many times")
{
	unsigned int i;

	for (i = 0; i < 60; i++) {
		struct rp_conn *c = rp_connect();
		struct rp_mem *mem = rp_mem(c, 4096);
		struct rp_msg *m = v1(rp_xid(), 32, NOMSG);

		rp_v1_null(c);
		if (i % 2)
			put_read(m, 0, rp_seg(mem, 0, 20));
		put_read(m, 0, (struct rp_seg){ 0x00abcd00, 40, 0x1000 });
		if (i % 4 > 1)
			put_read(m, 0, rp_seg(mem, 20, 20));
		put_all(m, W(0, 0, 0));
		rp_send(c, m);
		rp_check(rp_closed_within(c, RP_ANSWER),
			 "the connection does not end");
		rp_close(c);
	}
}
