// SPDX-License-Identifier: GPL-2.0
/*
 * HDR: the common prefix and the version, as a server sees them.
 */
#include "rp.h"

RP_CASE("server", DECISION, hdr_short, "HDR-5,D-9",
	"messages shorter than a prefix are dropped")
{
	static const unsigned int v2_len[] = { 1, 4, 15, 16, 19 };
	static const unsigned int v1_len[] = { 12, 15, 16, 20, 27 };
	struct rp_conn *c = rp_connect();
	unsigned int i;

	for (i = 0; i < 5; i++) {
		rp_send(c, rp_cut(null_call(rp_xid()), v2_len[i]));
		rp_send(c, rp_cut(v1_null_call(rp_xid()), v1_len[i]));
	}
	rp_expect_silence(c, RP_SILENCE);
	/* None of them has settled a version. */
	rp_nothing(c);
	for (i = 0; i < 5; i++)
		rp_send(c, rp_cut(null_call(rp_xid()), v2_len[i]));
	rp_nothing(c);
}

RP_CASE("server", MUST, hdr_short_body, "HDR-5,CHK-1,ERR-15",
	"a type-specific header that is too short is answered with BAD_XDR")
{
	static const unsigned int len[] = { 20, 24, 28, 32, 35 };
	struct rp_conn *c = rp_open();
	unsigned int i;

	for (i = 0; i < 5; i++) {
		uint32_t xid = rp_xid();

		rp_send(c, rp_cut(null_call(xid), len[i]));
		rp_expect(c, error2(xid, BAD_XDR));
	}
	rp_nothing(c);
}

RP_CASE("server", MUST, hdr_xid_mismatch, "HDR-7,ERR-5",
	"a Call whose two XIDs differ is answered with BAD_XDR, not executed")
{
	struct rp_conn *c = rp_open();
	unsigned long before = rp_nulls_served();
	uint32_t xid = rp_xid();

	rp_send(c, rp_set(null_call(xid), 9, xid + 0x1000));
	rp_expect(c, error2(xid, BAD_XDR));
	rp_expect_silence(c, RP_SILENCE);
	rp_check(rp_nulls_served() == before, "the Call was executed");
	rp_nothing(c);
}

/* A Call of version @vers where RPCs are of version @settled */
static void other_version(struct rp_conn *c, uint32_t settled, uint32_t vers)
{
	uint32_t xid = rp_xid();

	if (settled == 1)
		rp_v1_null(c);
	else
		rp_null(c);
	rp_send(c, vers == 1 ? v1_null_call(xid) : rp_set(null_call(xid), 1, vers));
	rp_expect(c, err_vers(xid, vers, settled, settled));
	rp_expect_closed(c);
}

RP_ROW("server", DECISION, hdr_v1_on_v2, "HDR-12,VER-20,D-14",
	"version 1 on a version 2 connection: ERR_VERS 2..2, then the end",
	other_version(rp_open(), 2, 1))
RP_ROW("server", DECISION, hdr_v3_on_v2, "HDR-12,D-14",
	"version 3 on a version 2 connection: ERR_VERS 2..2, then the end",
	other_version(rp_connect(), 2, 3))
RP_ROW("server", DECISION, hdr_v2_on_v1, "HDR-12,VER-19,VER-20,D-14",
	"version 2 on a version 1 connection: ERR_VERS 1..1, then the end",
	other_version(rp_connect(), 1, 2))

RP_CASE("server", DECISION, hdr_error_v3_on_v2, "HDR-12,D-14",
	"an ERROR of version 3 on a version 2 connection: the end, and no answer")
{
	struct rp_conn *c = rp_open();

	rp_null(c);
	rp_send(c, rp_set(error2(rp_xid(), BAD_XDR), 1, 3));
	rp_expect_closed(c);
}

RP_CASE("server", MUST, hdr_v1_types, "HDR-13,HT-2",
	"RDMA_MSGP and RDMA_DONE are unknown types in version 2")
{
	struct rp_conn *c = rp_open();
	uint32_t xid = rp_xid();

	rp_send(c, rp_set(null_call(xid), 3, MSGP));
	rp_expect(c, error2(xid, INVAL_HTYPE));
	xid = rp_xid();
	rp_send(c, v2(xid, 32, DONE, CALL));
	rp_expect(c, error2(xid, INVAL_HTYPE));
	rp_nothing(c);
}
