// SPDX-License-Identifier: GPL-2.0
/*
 * Which well-formed headers of version 1 are accepted, and what tells their direction. What
 * version 2 accepts is compared with its XDR in tests/spec.
 */

#include "unit.h"

/* Of the message decoded last */
static struct rpcrdma2_hdr hdr;

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

/* Version 1 */

/* A segment that goes beyond the last address */
#define WRAPS	1, 0x1001, 0xffffffff, 0xfffff000

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

/* What both versions share, where the direction comes from the RPC message */
static void v1_shapes(struct kunit *test)
{
	EXPECT_V1(DROP, V1_MSG, NO_CHUNKS, OTHER_XID, 1);
	EXPECT_V1(BAD_XDR, V1_MSG, 0, 0, 1, 1, WRAPS, RPC_CALL);
	EXPECT_V1(BAD_XDR, V1_MSG, READ_ENTRY(0, 1, 4), NO_CHUNKS, RPC_CALL);
	EXPECT_V1(DROP, V1_MSG, READ_ENTRY(8, 1, 4), NO_CHUNKS, RPC_REPLY);
	EXPECT_V1(OK, V1_MSG, 0, 0, 1, 1, SEG(1, 0), RPC_REPLY);
	EXPECT_V1(DROP, V1_MSG, 0, 0, 1, 1, SEG(1, 9), RPC_REPLY);
	EXPECT_V1(BAD_XDR, V1_NOMSG, NO_CHUNKS);
	EXPECT_V1(BAD_XDR, V1_NOMSG, READ_ENTRY(4, 1, 4), NO_CHUNKS);
	/* what follows the fault would do as the other lists, or their ends */
	EXPECT_V1(BAD_XDR, V1_NOMSG, 1, 0, 0, 0, 0);
	EXPECT_V1(BAD_XDR, V1_NOMSG, 2, 0, 1, 1, SEG(1, 4));
	EXPECT_V1(BAD_XDR, V1_NOMSG, READ_ENTRY(0, 1, 4), READ_ENTRY(2, 0, 0), NO_CHUNKS);
	EXPECT_V1(BAD_XDR, V1_NOMSG, READ_ENTRY(0, 1, 4), 1, 0, WRAPS, NO_CHUNKS);
	EXPECT_V1(BAD_XDR, V1_NOMSG, READ_ENTRY(0, 1, 4), 0, 1, 1, WRAPS, 0, 0);
	EXPECT_V1(BAD_XDR, V1_NOMSG, READ_ENTRY(0, 1, 4), 0, 0, 1, 1, WRAPS);
}

static struct kunit_case shape_cases[] = {
	RPCRDMA2_CASE(control_flag, "FLG-7,CRED-1,CRED-14"),
	RPCRDMA2_CASE(v1_direction, "CRED-18,V1-13"),
	RPCRDMA2_CASE(v1_undirected, "CRED-18,V1-3"),
	RPCRDMA2_CASE(v1_old_types, "V1-4,V1-5,HDR-13"),
	RPCRDMA2_CASE(v1_shapes, "HDR-7,CHK-7,CHK-25,MSG-2,MSG-3,MSG-8,V1-6"),
	{}
};

RPCRDMA2_SUITE(shape);
