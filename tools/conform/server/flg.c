// SPDX-License-Identifier: GPL-2.0
/*
 * FLG and HT: flags and header types, as a server sees them.
 */
#include "rp.h"

RP_CASE("server", DECISION, flg_reserved, "FLG-3,D-13",
	"a reserved flag: BAD_XDR for a Call, silence for a response")
{
	struct rp_conn *c = rp_open();
	unsigned long before = rp_nulls_served();
	unsigned int bit;

	for (bit = 1; bit < 32; bit += 6)
		rp_refused(c, rp_set(null_call(rp_xid()), 4, 1u << bit),
			   BAD_XDR);
	rp_send(c, rp_set(null_call(rp_xid()), 4, 3));
	rp_send(c, rp_set(null_reply(rp_xid()), 4, 0x80000001));
	rp_expect_silence(c, RP_SILENCE);
	rp_check(rp_nulls_served() == before, "a Call was executed");
	rp_refused(c, rp_set(connprop(rp_xid(), 4096, 1), 4, 4), BAD_XDR);
	rp_nothing(c);
}

RP_CASE("server", DECISION, flg_mismatch, "FLG-5,FLG-4,D-13",
	"RESPONSE differs from msg_type: BAD_XDR or silence")
{
	struct rp_conn *c = rp_open();
	unsigned long before = rp_nulls_served();

	rp_send(c, rp_set(null_call(rp_xid()), 4, RESPONSE));
	rp_expect_silence(c, RP_SILENCE);
	rp_refused(c, rp_set(null_call(rp_xid()), 10, 1), BAD_XDR);
	rp_refused(c, rp_set(null_reply(rp_xid()), 4, CALL), BAD_XDR);
	rp_refused(c, rp_set(null_call(rp_xid()), 10, 2), BAD_XDR);
	rp_check(rp_nulls_served() == before, "a Call was executed");
	rp_nothing(c);
}

RP_CASE("server", DECISION, flg_error, "FLG-9,HT-4,D-13",
	"an ERROR with RESPONSE clear has no effect")
{
	struct rp_conn *c = rp_open();

	rp_send(c, rp_set(error2(rp_xid(), BAD_XDR), 4, CALL));
	rp_send(c, rp_set(error2(rp_xid(), SYSTEM), 4, 2));
	rp_nothing(c);
}

RP_CASE("server", DECISION, flg_order, "FLG-11",
	"an unknown type with a reserved flag is an unknown type")
{
	struct rp_conn *c = rp_open();

	rp_refused(c, v2(rp_xid(), 32, 99, 2), INVAL_HTYPE);
	rp_refused(c, v2(rp_xid(), 32, 99, 0xfffffffe), INVAL_HTYPE);
	rp_send(c, v2(rp_xid(), 32, 99, 3));
	rp_nothing(c);
}

RP_CASE("server", DECISION, flg_reply_unasked, "FLG-10,REV-15,FLG-7",
	"a response that answers nothing is dropped")
{
	struct rp_conn *c = rp_open();
	struct rp_msg *m;

	rp_send(c, null_reply(rp_xid()));
	m = reply_head(rp_xid(), NOMSG);
	put_reply_chunk(m, 1, &(struct rp_seg){ 0x1234, 100, 0x1000 });
	rp_send(c, m);
	rp_nothing(c);
}

RP_CASE("server", MUST, ht_all, "HT-1,CONN-2,MSG-6",
	"every type of version 2 is accepted")
{
	struct rp_conn *c = rp_open();		/* CONNPROP */
	struct rp_mem *mem = rp_mem(c, 4096);
	uint32_t xid = rp_xid();
	struct rp_msg *m;

	rp_null(c);				/* MSG */
	rp_send(c, error2(rp_xid(), SYSTEM));	/* ERROR */
	m = call_head(xid, NOMSG, 0);		/* NOMSG */
	put_last_read(m, 0, rp_seg(mem, 0, rp_store(mem, 0, rpc_null(xid))));
	rp_send(c, m);
	rp_expect(c, null_reply(xid));
	rp_nothing(c);
}

RP_CASE("server", MUST, ht_unknown, "HT-2,EXT-1,ERR-17,ERR-2,ERR-5",
	"an unknown type is answered with INVAL_HTYPE and nothing else")
{
	static const uint32_t types[] = { 6, 99, 0x80000000, 0xffffffff };
	struct rp_conn *c = rp_open();
	unsigned long before = rp_nulls_served();
	unsigned int i;

	for (i = 0; i < 4; i++) {
		rp_refused(c, rp_set(null_call(rp_xid()), 3, types[i]),
			   INVAL_HTYPE);
		rp_refused(c, v2(rp_xid(), 0, types[i], CALL), INVAL_HTYPE);
	}
	rp_check(rp_nulls_served() == before, "a Call was executed");
	rp_nothing(c);
}

RP_CASE("server", DECISION, ht_unknown_response, "HT-3,D-11",
	"an unknown type with RESPONSE set is dropped")
{
	struct rp_conn *c = rp_open();

	rp_send(c, v2(rp_xid(), 32, 99, RESPONSE));
	rp_send(c, v2(rp_xid(), 32, 0xffffff7f, RESPONSE));
	rp_nothing(c);
}

RP_CASE("server", MUST, ht_error_error, "HT-4,ERR-6,ERR-9,REV-14",
	"an ERROR never causes an ERROR")
{
	struct rp_conn *c = rp_open();
	struct rp_msg *m;

	rp_send(c, error2(rp_xid(), 77));
	rp_send(c, v2(rp_xid(), 0, ERROR, RESPONSE));
	rp_send(c, rp_cut(error2_arg(rp_xid(), READ_CHUNKS, 1), 24));
	rp_send(c, rp_cut(error2(rp_xid(), BAD_XDR), 22));
	rp_send(c, rp_cut(error2_arg(rp_xid(), WRITE_RESOURCE, 1), 28));
	rp_send(c, rp_set(error2(rp_xid(), BAD_XDR), 4, 0xffffffff));
	rp_send(c, rp_set(error2(rp_xid(), BAD_XDR), 2, 0xffffffff));
	rp_send(c, err_vers(rp_xid(), 2, 1, 1));
	m = error2_arg(rp_xid(), ERR_VERS, 1);
	put(m, 1);
	rp_send(c, m);
	rp_nothing(c);
}

RP_CASE("server", MUST, ht_error_first, "HT-4,VER-20",
	"an ERROR as first message settles nothing and is not answered")
{
	struct rp_conn *c = rp_connect();

	rp_send(c, error2(rp_xid(), BAD_XDR));
	rp_send(c, rp_words(W(rp_xid(), 1, 32, ERROR, 2)));
	rp_expect_silence(c, RP_SILENCE);
	rp_v1_null(c);
}

RP_CASE("server", MUST, ht_no_extension, "HT-7",
	"without the property-change extension its types are unknown")
{
	struct rp_conn *c = rp_open();
	static const uint32_t types[] = { REQPROP, UPDPROP };
	unsigned int i;

	for (i = 0; i < 2; i++) {
		struct rp_msg *m = v2(rp_xid(), 32, types[i], CALL);

		put(m, 1);
		put_prop(m, RBSIZ, 8192);
		rp_refused(c, m, INVAL_HTYPE);
	}
	rp_send(c, rp_words(W(rp_xid(), 2, 16, RESPROP, RESPONSE, 0, 0, 0)));
	rp_nothing(c);
}
