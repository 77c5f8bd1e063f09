// SPDX-License-Identifier: GPL-2.0
/*
 * The raw peer against a version 1 server that is not ours: shows that the
 * peer itself works, and how such a server treats what our client sends.
 */
#include "rp.h"

RP_CASE("stock", stock_null, "V1-7", "a NULL call to a version 1 server")
{
	struct rp_conn *c = rp_connect();

	rp_v1_null(c);
	rp_v1_null(c);
	rp_expect_silence(c, RP_SILENCE);
	rp_close(c);
}

RP_CASE("stock", stock_err_vers, "VER-9,ERR-12,V1-11",
	"a version 1 server answers CONNPROP with ERR_VERS and stays")
{
	struct rp_conn *c = rp_connect();
	uint32_t xid = rp_xid();

	rp_send(c, connprop(xid, 4096, 1));
	rp_expect(c, err_vers(xid, 2, 1, 1));
	rp_v1_null(c);
}
