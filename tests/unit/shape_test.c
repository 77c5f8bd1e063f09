// SPDX-License-Identifier: GPL-2.0
/*
 * Which well-formed headers are accepted: flags, types, directions, and
 * the chunks that suit each kind of message.
 */

#include "unit.h"

/* Of the message decoded last */
static struct rpcrdma2_hdr hdr;

/* Flags */

static void reserved_flags(struct kunit *test)
{
	static const enum vector_id ids[] = {
		VEC_T1, VEC_T2, VEC_T4, VEC_T5, VEC_P1, VEC_P2,
	};
	struct message m;
	u32 i, bit, flags;

	for (i = 0; i < ARRAY_SIZE(ids); i++) {
		for (bit = 1; bit < 32; bit++) {
			m = message_vector(test, ids[i]);
			flags = get_unaligned_be32(m.p + 16);
			put_unaligned_be32(flags | 1U << bit, m.p + 16);
			EXPECT_EQ(rpcrdma2_codec_v2.decode(m.p, m.len, &hdr),
				  flags ? RPCRDMA2_DROP : RPCRDMA2_BAD_XDR);
			message_free(test, m);
		}
	}
}

static void flag_and_msg_type(struct kunit *test)
{
	EXPECT_V2(OK, V2_CALL, NO_INV, NO_CHUNKS, RPC_CALL);
	EXPECT_FALSE(hdr.response);
	EXPECT_V2(OK, V2_REPLY, NO_INV, NO_CHUNKS, RPC_REPLY);
	EXPECT_TRUE(hdr.response);
	EXPECT_V2(BAD_XDR, V2_CALL, NO_INV, NO_CHUNKS, RPC_REPLY);
	EXPECT_V2(DROP, V2_REPLY, NO_INV, NO_CHUNKS, RPC_CALL);
	EXPECT_V2(BAD_XDR, V2_CALL, NO_INV, NO_CHUNKS, XID, 2);
	EXPECT_V2(DROP, V2_REPLY, NO_INV, NO_CHUNKS, XID, 2);
	EXPECT_V2(DROP, V2_REPLY, NO_INV, NO_CHUNKS, XID, 0x80000001);
}

/* The same for types that are only known by their flag so far. */
static void control_flag(struct kunit *test)
{
	static const u32 htypes[] = {
		RDMA2_CONNPROP, RDMA2_X_REQPROP, RDMA2_X_RESPROP,
		RDMA2_X_UPDPROP,
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(htypes); i++) {
		struct rpcrdma2_hdr hdr = { .htype = htypes[i] };

		EXPECT_FALSE(rpcrdma2_is_grant(&hdr));
		hdr.response = true;
		EXPECT_TRUE(rpcrdma2_is_grant(&hdr));
	}
}

static void error_without_response(struct kunit *test)
{
	u32 id;

	for (id = VEC_E2; id <= VEC_E9; id++) {
		struct message m = message_vector(test, id);

		EXPECT_VERDICT(&rpcrdma2_codec_v2, m, OK);
		put_unaligned_be32(0, m.p + 16);
		EXPECT_VERDICT(&rpcrdma2_codec_v2, m, DROP);
	}
}

/* Full lists do not turn a reverse Call into something else. */
static void direction_ignores_chunks(struct kunit *test)
{
	EXPECT_SEEN2("11223344 v2 type 0 credits 32 call 56+8 only 1 results 20 max 1 R(1+4@2000)=4",
		     V2_CALL, NO_INV, 0, 0, 1, 1, SEG(1, 4), RPC_CALL);
	EXPECT_SEEN2("11223344 v2 type 0 credits 32 call 104+8 reads 1 chunks 1 writes 1 results 44 max 1 8:1+4@1000 W(2+4@2000)=4 R(3+4@2000)=4",
		     V2_CALL, NO_INV, READ_ENTRY(8, 1, 4), 0, 1, 1, SEG(2, 4), 0, 1, 1,
		     SEG(3, 4), RPC_CALL);
}

static void order_of_checks(struct kunit *test)
{
	/* version before type, flags and body */
	EXPECT_V2(BAD_VERS, XID, 3, 1, 99, 6, 7, 7);
	/* type before flags: unknown type with a reserved flag */
	EXPECT_V2(INVAL_HTYPE, XID, 2, 1, 99, 2);
	EXPECT_V2(DROP, XID, 2, 1, 99, 3);
	/* flags before body */
	EXPECT_V2(BAD_XDR, XID, 2, 1, 0, 2);
	EXPECT_V2(DROP, XID, 2, 1, 0, 3, NO_INV, 7);
	/* length before all of them */
	EXPECT_V2(DROP, XID, 2, 1, 99);
	EXPECT_V2(DROP, XID, 3, 1);
}

/* Types */

static void unknown_types(struct kunit *test)
{
	EXPECT_SEEN2("INVAL_HTYPE 11223344 v2 type 6 credits 1", XID, 2, 1, 6, 0);
	EXPECT_V2(INVAL_HTYPE, XID, 2, 1, 99, 0);
	EXPECT_V2(INVAL_HTYPE, XID, 2, 1, 0xffffffff, 0);
	EXPECT_V2(INVAL_HTYPE, XID, 2, 1, 0xffffff01, 0);
	EXPECT_V2(DROP, XID, 2, 1, 6, 1);
	EXPECT_V2(DROP, XID, 2, 1, 99, 1);
	EXPECT_V2(DROP, XID, 2, 1, 0xffffffff, 1);
}

/* MSGP and DONE of version 1 are unknown types of version 2. */
static void v1_types_on_v2(struct kunit *test)
{
	EXPECT_V2(INVAL_HTYPE, XID, 2, 1, RDMA1_MSGP, 0, 0, 0, NO_INV, NO_CHUNKS,
		  RPC_CALL);
	EXPECT_V2(INVAL_HTYPE, XID, 2, 1, RDMA1_DONE, 0, NO_INV, NO_CHUNKS);
	EXPECT_V2(DROP, XID, 2, 1, RDMA1_DONE, 1);
}

/* Only MSG is followed by a payload; surplus bytes elsewhere are ignored. */
static void trailing_bytes(struct kunit *test)
{
	static const enum vector_id ids[] = {
		VEC_T4, VEC_T5, VEC_E2, VEC_E3, VEC_E4, VEC_E5, VEC_E6,
		VEC_E7, VEC_E8, VEC_E9, VEC_P1, VEC_P2, VEC_P3,
	};
	struct rpcrdma2_hdr plain, hdr;
	struct message m, longer;
	u32 i, more;

	for (i = 0; i < 2 * ARRAY_SIZE(ids); i++) {
		m = message_vector(test, ids[i / 2]);
		more = i % 2 ? 8 : 4;
		longer = message_new(test, NULL, m.len + more);
		memset(longer.p, 0xff, longer.len);
		memcpy(longer.p, m.p, m.len);
		EXPECT_EQ(rpcrdma2_codec_v2.decode(m.p, m.len, &plain), RPCRDMA2_OK);
		EXPECT_EQ(rpcrdma2_codec_v2.decode(longer.p, longer.len, &hdr),
			  RPCRDMA2_OK);
		EXPECT_EQ(hdr.hdr_len, plain.hdr_len);
		EXPECT_EQ(hdr.err, plain.err);
		EXPECT_EQ(hdr.err_arg[0], plain.err_arg[0]);
		EXPECT_EQ(hdr.read_segs, plain.read_segs);
		if (hdr.htype == RDMA2_NOMSG)
			EXPECT_EQ(hdr.body_len, 0);
	}
}

/* Without even a count it is reported, whatever the flag. */
static void connprop_body(struct kunit *test)
{
	EXPECT_V2(BAD_XDR, XID, 2, 1, 5, 0);
	EXPECT_V2(BAD_XDR, XID, 2, 1, 5, 1);
}

/* XIDs */

static void foreign_xid(struct kunit *test)
{
	EXPECT_V2(BAD_XDR, V2_CALL, NO_INV, NO_CHUNKS, OTHER_XID, 0);
	EXPECT_V2(DROP, V2_REPLY, NO_INV, NO_CHUNKS, OTHER_XID, 1);
	EXPECT_V1(BAD_XDR, V1_MSG, NO_CHUNKS, OTHER_XID, 0);
	EXPECT_V1(DROP, V1_MSG, NO_CHUNKS, OTHER_XID, 1);
}

static void short_payload(struct kunit *test)
{
	EXPECT_V2(BAD_XDR, V2_CALL, NO_INV, NO_CHUNKS);
	EXPECT_V2(BAD_XDR, V2_CALL, NO_INV, NO_CHUNKS, XID);
	EXPECT_V2(DROP, V2_REPLY, NO_INV, NO_CHUNKS);
	EXPECT_V2(DROP, V2_REPLY, NO_INV, NO_CHUNKS, XID);
	EXPECT_V1(BAD_XDR, V1_MSG, NO_CHUNKS, XID);
}

/* Chunks and kinds of messages */

static void msg_call_with_pz(struct kunit *test)
{
	EXPECT_V2(BAD_XDR, V2_CALL, NO_INV, READ_ENTRY(0, 1, 4), NO_CHUNKS, RPC_CALL);
	EXPECT_V2(BAD_XDR, V2_CALL, NO_INV, READ_ENTRY(8, 1, 4), READ_ENTRY(0, 1, 4),
		  NO_CHUNKS, RPC_CALL);
	EXPECT_V1(BAD_XDR, V1_MSG, READ_ENTRY(0, 1, 4), NO_CHUNKS, RPC_CALL);
}

static void msg_reply_with_reply_chunk(struct kunit *test)
{
	EXPECT_V2(OK, V2_REPLY, NO_INV, NO_CHUNKS, RPC_REPLY);
	EXPECT_V2(OK, V2_REPLY, NO_INV, 0, 0, 1, 0, RPC_REPLY);
	EXPECT_V2(OK, V2_REPLY, NO_INV, 0, 0, 1, 2, SEG(1, 0), SEG(2, 0), RPC_REPLY);
	EXPECT_V2(DROP, V2_REPLY, NO_INV, 0, 0, 1, 2, SEG(1, 0), SEG(2, 1), RPC_REPLY);
	EXPECT_V1(OK, V1_MSG, 0, 0, 1, 1, SEG(1, 0), RPC_REPLY);
	EXPECT_V1(DROP, V1_MSG, 0, 0, 1, 1, SEG(1, 9), RPC_REPLY);
}

static void reply_with_read_list(struct kunit *test)
{
	EXPECT_V2(DROP, V2_REPLY, NO_INV, READ_ENTRY(8, 1, 4), NO_CHUNKS, RPC_REPLY);
	EXPECT_V2(DROP, V2_REPLY, NO_INV, READ_ENTRY(8, 1, 0), NO_CHUNKS, RPC_REPLY);
	EXPECT_V2(DROP, V2_NOMSG_REPLY, NO_INV, READ_ENTRY(0, 1, 4), 0, 0, 1, 1,
		  SEG(1, 4));
	EXPECT_V1(DROP, V1_MSG, READ_ENTRY(8, 1, 4), NO_CHUNKS, RPC_REPLY);
}

static void nomsg_shapes(struct kunit *test)
{
	/* a small Call in a Position-Zero chunk */
	EXPECT_V2(OK, V2_NOMSG_CALL, NO_INV, READ_ENTRY(0, 1, 40), NO_CHUNKS);
	/* with everything else beside it */
	EXPECT_SEEN2("11223344 v2 type 1 credits 32 call 128 pz reads 2 chunks 1 writes 1 results 44 max 1 0:1+40@1000 148:2+5000@1000 W(3+4096@2000)=4096 R(4+4096@2000)=4096",
		     V2_NOMSG_CALL, NO_INV, READ_ENTRY(0, 1, 40), READ_ENTRY(148, 2, 5000), 0,
		     1, 1, SEG(3, 4096), 0, 1, 1, SEG(4, 4096));
	/* a Reply that uses both kinds of chunk */
	EXPECT_SEEN2("11223344 v2 type 1 credits 16 reply granted 80 writes 1 results 44 max 1 W(3+4096@2000)=4096 R(4+200@2000)=200",
		     V2_NOMSG_REPLY, NO_INV, 0, 1, 1, SEG(3, 4096), 0, 1, 1, SEG(4, 200));
}

static void nomsg_without_body(struct kunit *test)
{
	EXPECT_V2(BAD_XDR, V2_NOMSG_CALL, NO_INV, NO_CHUNKS);
	EXPECT_V2(BAD_XDR, V2_NOMSG_CALL, NO_INV, 0, 1, 1, SEG(1, 4), 0, 0);
	EXPECT_V2(BAD_XDR, V2_NOMSG_CALL, NO_INV, READ_ENTRY(4, 1, 4), NO_CHUNKS);
	EXPECT_V2(DROP, V2_NOMSG_REPLY, NO_INV, NO_CHUNKS);
	EXPECT_V2(DROP, V2_NOMSG_REPLY, NO_INV, 0, 1, 1, SEG(1, 4), 0, 0);
	EXPECT_V1(BAD_XDR, V1_NOMSG, NO_CHUNKS);
	EXPECT_V1(BAD_XDR, V1_NOMSG, READ_ENTRY(4, 1, 4), NO_CHUNKS);
}

/* An unused and an empty Write chunk both mean "nothing written". */
static void unused_write_chunks(struct kunit *test)
{
	EXPECT_V2(OK, V2_REPLY, NO_INV, 0, 1, 2, SEG(1, 0), SEG(2, 0), 0, 0, RPC_REPLY);
	EXPECT_EQ(write_list_bytes(&hdr, 0), 0);
	EXPECT_V2(OK, V2_REPLY, NO_INV, 0, 1, 0, 0, 0, RPC_REPLY);
	EXPECT_EQ(hdr.write_chunks, 1);
	EXPECT_EQ(write_list_bytes(&hdr, 0), 0);
	EXPECT_V2(OK, V2_REPLY, NO_INV, 0, 1, 0, 1, 1, SEG(7, 5), 0, 0, RPC_REPLY);
	EXPECT_EQ(write_list_bytes(&hdr, 0), 0);
	EXPECT_EQ(write_list_bytes(&hdr, 1), 5);
}

/* Version 1 */

static void v1_direction(struct kunit *test)
{
	EXPECT_SEEN1("11223344 v1 type 0 credits 32 call 28+8", V1_MSG, NO_CHUNKS, RPC_CALL);
	EXPECT_SEEN1("11223344 v1 type 0 credits 32 reply granted 28+8",
		     V1_MSG, NO_CHUNKS, RPC_REPLY);
	/* no direction, no credit */
	EXPECT_V1(BAD_XDR, V1_MSG, NO_CHUNKS, XID, 2);
	EXPECT_FALSE(rpcrdma2_is_grant(&hdr));

	EXPECT_SEEN1("11223344 v1 type 1 credits 32 call 52 only 1 pz reads 1 max 1 0:1+40@1000",
		     V1_NOMSG, READ_ENTRY(0, 1, 40), NO_CHUNKS);
	EXPECT_SEEN1("11223344 v1 type 1 credits 32 call 72 pz reads 1 results 20 max 1 0:1+40@1000 R(2+100@2000)=100",
		     V1_NOMSG, READ_ENTRY(0, 1, 40), 0, 0, 1, 1, SEG(2, 100));
	EXPECT_SEEN1("11223344 v1 type 1 credits 32 reply granted 48 only 2 results 20 max 1 R(2+100@2000)=100",
		     V1_NOMSG, 0, 0, 1, 1, SEG(2, 100));
}

static void v1_undirected(struct kunit *test)
{
	/* spoiled before the msg_type */
	EXPECT_SEEN1("BAD_XDR 11223344 v1 type 0 credits 32 undirected",
		     V1_MSG, 2, 0, 0, RPC_REPLY);
	EXPECT_SEEN1("BAD_XDR 11223344 v1 type 0 credits 32 undirected", V1_MSG, NO_CHUNKS, XID, 2);
	EXPECT_SEEN1("BAD_XDR 11223344 v1 type 0 credits 32 undirected", V1_MSG, NO_CHUNKS, XID);
	EXPECT_SEEN1("BAD_XDR 11223344 v1 type 1 credits 32 undirected", V1_NOMSG, 2, 0, 0);
	EXPECT_SEEN1("INVAL_HTYPE 11223344 v1 type 9 credits 1 undirected",
		     XID, 1, 1, 9, NO_CHUNKS);
	EXPECT_SEEN1("BAD_XDR 11223344 v1 type 2 credits 1 undirected",
		     XID, 1, 1, RDMA1_MSGP, 4, 0, 2);
	/* spoiled in another way */
	EXPECT_SEEN1("BAD_XDR 11223344 v1 type 0 credits 32", V1_MSG, NO_CHUNKS, OTHER_XID, 0);
	EXPECT_SEEN1("11223344 v1 type 4 credits 1 reply 16+4 error 2", XID, 1, 1, RDMA2_ERROR, 2);
	/* version 2 always has its flag */
	EXPECT_SEEN2("BAD_XDR 11223344 v2 type 0 credits 32", V2_CALL, NO_INV, 7);
}

static void v1_old_types(struct kunit *test)
{
	EXPECT_V1(BAD_XDR, XID, 1, 1, RDMA1_MSGP, 4, 0, NO_CHUNKS, RPC_CALL);
	EXPECT_V1(DROP, XID, 1, 1, RDMA1_MSGP, 4, 0, NO_CHUNKS, RPC_REPLY);
	EXPECT_V1(BAD_XDR, XID, 1, 1, RDMA1_MSGP, 4, 0, NO_CHUNKS);
	EXPECT_V1(DROP, XID, 1, 1, RDMA1_DONE, NO_CHUNKS);
	EXPECT_V1(INVAL_HTYPE, XID, 1, 1, 5, NO_CHUNKS);
	EXPECT_V1(INVAL_HTYPE, XID, 1, 1, 0xffffffff, NO_CHUNKS);
}

static struct kunit_case shape_cases[] = {
	RPCRDMA2_CASE(reserved_flags, "FLG-3,EXT-4,D-13"),
	RPCRDMA2_CASE(flag_and_msg_type, "FLG-4,FLG-5,D-13"),
	RPCRDMA2_CASE(control_flag, "FLG-7,CRED-1,CRED-14"),
	RPCRDMA2_CASE(error_without_response, "FLG-8,FLG-9"),
	RPCRDMA2_CASE(direction_ignores_chunks, "FLG-10"),
	RPCRDMA2_CASE(order_of_checks, "FLG-11,HDR-4"),
	RPCRDMA2_CASE(unknown_types, "HT-2,HT-3,EXT-1,ERR-17,D-11"),
	RPCRDMA2_CASE(v1_types_on_v2, "HDR-13"),
	RPCRDMA2_CASE(trailing_bytes, "CHK-31,HT-5,D-12"),
	RPCRDMA2_CASE(connprop_body, "CONN-1,CONN-2,HT-1,HT-5,ERR-1,D-9"),
	RPCRDMA2_CASE(foreign_xid, "HDR-6,HDR-7"),
	RPCRDMA2_CASE(short_payload, "HDR-7,D-9"),
	RPCRDMA2_CASE(msg_call_with_pz, "MSG-2"),
	RPCRDMA2_CASE(msg_reply_with_reply_chunk, "MSG-3"),
	RPCRDMA2_CASE(reply_with_read_list, "CHK-13,V1-6"),
	RPCRDMA2_CASE(nomsg_shapes, "MSG-6,MSG-7,MSG-9,LNG-1"),
	RPCRDMA2_CASE(nomsg_without_body, "MSG-8"),
	RPCRDMA2_CASE(unused_write_chunks, "CHK-18,CHK-19"),
	RPCRDMA2_CASE(v1_direction, "CRED-18,V1-13"),
	RPCRDMA2_CASE(v1_undirected, "CRED-18,V1-3"),
	RPCRDMA2_CASE(v1_old_types, "V1-4,V1-5,HDR-13"),
	{}
};

RPCRDMA2_SUITE(shape);
