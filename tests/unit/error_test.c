// SPDX-License-Identifier: GPL-2.0
/*
 * RDMA_ERROR of both versions: every code, every accepted form of ERR_VERS.
 */

#include "unit.h"

/* Of the message decoded last */
static struct rpcrdma2_hdr hdr;

static const struct rpcrdma2_codec *v2 = &rpcrdma2_codec_v2;
static const struct rpcrdma2_codec *v1 = &rpcrdma2_codec_v1;

/* The arguments of an encode_error() */
struct error_job {
	const struct rpcrdma2_codec	*codec;
	struct rpcrdma2_hdr		about;
	u32				credit;
	u32				err;
	u32				arg[2];
};

static int encode_job(const void *what, void *buf, u32 size)
{
	const struct error_job *job = what;

	return rpcrdma2_wire_encode_error(job->codec, &job->about, job->credit, job->err,
					  job->arg, buf, size);
}

static const struct {
	enum vector_id	id;
	u32		vers;
	u32		err;
	u32		arg[2];
} v2_rows[] = {
	{ VEC_E1a, 3, RDMA2_ERR_VERS,		{ 1, 2 } },
	{ VEC_E2,  2, RDMA2_ERR_BAD_XDR },
	{ VEC_E3,  2, RDMA2_ERR_INVAL_HTYPE },
	{ VEC_E4,  2, RDMA2_ERR_READ_CHUNKS,	{ 1 } },
	{ VEC_E5,  2, RDMA2_ERR_WRITE_CHUNKS,	{ 1 } },
	{ VEC_E6,  2, RDMA2_ERR_SEGMENTS,	{ 16 } },
	{ VEC_E7,  2, RDMA2_ERR_WRITE_RESOURCE,	{ 1, 8192 } },
	{ VEC_E8,  2, RDMA2_ERR_REPLY_RESOURCE,	{ 20480 } },
	{ VEC_E9,  2, RDMA2_ERR_SYSTEM },
};

static void encode_v2(struct kunit *test)
{
	struct message m;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(v2_rows); i++) {
		struct error_job job = {
			.codec		= v2,
			.about.xid	= XID,
			.about.vers	= v2_rows[i].vers,
			.about.credit	= 77,
			.credit		= 16,
			.err		= v2_rows[i].err,
			.arg		= { v2_rows[i].arg[0],
					    v2_rows[i].arg[1] },
		};

		m = message_vector(test, v2_rows[i].id);
		expect_encode(test, encode_job, &job, m.p, m.len);
		EXPECT_LE(m.len, RPCRDMA2_MAX_ERROR);
		EXPECT_EQ(get_unaligned_be32(m.p + 16), 1);
	}
}

/* An ERROR about a received message, with nothing taken from elsewhere. */
static void error_about_call(struct kunit *test)
{
	struct message call = message_vector(test, VEC_T1);
	struct message e2 = message_vector(test, VEC_E2);
	u8 buf[RPCRDMA2_MAX_ERROR];
	int len;

	EXPECT_EQ(v2->decode(call.p, call.len, &hdr), RPCRDMA2_OK);
	len = rpcrdma2_wire_encode_error(v2, &hdr, 16, RDMA2_ERR_BAD_XDR, NULL, buf,
					 sizeof(buf));
	EXPECT_EQ(len, (int)e2.len);
	EXPECT_MEMEQ(buf, e2.p, e2.len);

	/* a code with arguments and a caller without them */
	len = rpcrdma2_wire_encode_error(v2, &hdr, 16, RDMA2_ERR_REPLY_RESOURCE, NULL, buf,
					 sizeof(buf));
	EXPECT_EQ(len, 28);
	EXPECT_EQ(get_unaligned_be32(buf + 24), 0);
	len = rpcrdma2_wire_encode_error(v2, &hdr, 16, RDMA2_ERR_VERS, NULL, buf,
					 sizeof(buf));
	EXPECT_EQ(len, 28);
	EXPECT_EQ(get_unaligned_be32(buf + 20), 0);
	EXPECT_EQ(get_unaligned_be32(buf + 24), 0);
}

static void encode_v1(struct kunit *test)
{
	struct message chunk = message_vector(test, VEC_V2);
	struct message vers = message_vector(test, VEC_E1a);
	struct error_job job = {
		.codec		= v1,
		.about.xid	= XID,
		.about.vers	= 1,
		.credit		= 32,
	};
	u32 err;

	for (err = RDMA2_ERR_BAD_XDR; err <= RDMA2_ERR_SYSTEM; err++) {
		job.err = err;
		expect_encode(test, encode_job, &job, chunk.p, chunk.len);
	}
	job.err = RDMA2_ERR_VERS;
	job.about.vers = 3;
	job.credit = 16;
	job.arg[0] = 1;
	job.arg[1] = 2;
	expect_encode(test, encode_job, &job, vers.p, vers.len);
}

static void decode_v1(struct kunit *test)
{
	EXPECT_SEEN1("11223344 v1 type 4 credits 32 reply 16+4 error 2", XID, 1, 32, 4, 2);
	EXPECT_SEEN1("11223344 v1 type 4 credits 32 reply 16+12 error 1(1 1)",
		     XID, 1, 32, 4, 1, 1, 1);
	EXPECT_SEEN1("11223344 v1 type 4 credits 32 reply 16+4 error 77", XID, 1, 32, 4, 77);
	EXPECT_V1(DROP, XID, 1, 32, 4);
	EXPECT_V1(DROP, XID, 1, 32, 4, 1);
	EXPECT_V1(DROP, XID, 1, 32, 4, 1, 1);
	/* one codec does not take the other's */
	EXPECT_SEEN2("BAD_VERS 11223344 v1 type 4 credits 32", XID, 1, 32, 4, 1, 1, 1);
}

static void err_vers_forms(struct kunit *test)
{
	static const struct {
		enum vector_id	id;
		bool		is;
		u32		low, high;
	} rows[] = {
		{ VEC_E1a, true, 1, 2 }, { VEC_E1b, true, 1, 1 },
		{ VEC_E1c, true, 1, 1 }, { VEC_E1d, true, 1, 1 },
		{ VEC_E1e }, { VEC_E2 }, { VEC_E3 }, { VEC_E4 }, { VEC_E5 },
		{ VEC_E6 }, { VEC_E7 }, { VEC_E8 }, { VEC_E9 }, { VEC_V2 },
		{ VEC_T1 }, { VEC_T2 }, { VEC_P1 }, { VEC_P2 }, { VEC_V1 },
	};
	struct message m;
	u32 i, low, high;
	bool is;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		m = message_vector(test, rows[i].id);
		low = 0;
		high = 0;
		is = rpcrdma2_wire_decode_err_vers(m.p, m.len, &low, &high);
		EXPECT_EQ(is, rows[i].is);
		EXPECT_EQ(low, rows[i].low);
		EXPECT_EQ(high, rows[i].high);
	}
}

/* The rule word by word: version, length, word 5. */
static void err_vers_rule(struct kunit *test)
{
	struct message m;
	u32 low, high, word5, i;

	/* any version in the fixed form */
	m = MESSAGE(XID, 0, 0, 4, 1, 7, 9);
	EXPECT_TRUE(rpcrdma2_wire_decode_err_vers(m.p, m.len, &low, &high));
	EXPECT_EQ(low, 7);
	EXPECT_EQ(high, 9);
	m = MESSAGE(XID, 0xffffffff, 0, 4, 1, 3, 4);
	EXPECT_TRUE(rpcrdma2_wire_decode_err_vers(m.p, m.len, &low, &high));

	/* version 1 is always the fixed form, whatever its length */
	m = MESSAGE(XID, 1, 0, 4, 1, 4, 5, 0, 0);
	EXPECT_TRUE(rpcrdma2_wire_decode_err_vers(m.p, m.len, &low, &high));
	EXPECT_EQ(low, 4);
	EXPECT_EQ(high, 5);

	/* 28 bytes of version 2: a range that begins below 2, or an error of
	 * its own, whatever follows its code
	 */
	for (word5 = 0; word5 < 12; word5++) {
		static const u32 last[] = { 0, 1, 2, 9, 0x80000000 };

		for (i = 0; i < ARRAY_SIZE(last); i++) {
			m = MESSAGE(XID, 2, 0, 4, 1, 0, 0);
			put_unaligned_be32(word5, m.p + 20);
			put_unaligned_be32(last[i], m.p + 24);
			EXPECT_EQ(rpcrdma2_wire_decode_err_vers(m.p, m.len, &low,
								&high),
				  word5 < 2 && word5 <= last[i]);
		}
		/* 32 bytes: only ERR_VERS itself */
		m = MESSAGE(XID, 2, 0, 4, 1, 0, 1, 2);
		put_unaligned_be32(word5, m.p + 20);
		EXPECT_EQ(rpcrdma2_wire_decode_err_vers(m.p, m.len, &low, &high),
			  word5 == 1);
	}

	/* not an ERROR, not the code */
	m = MESSAGE(XID, 2, 0, 5, 1, 1, 1);
	EXPECT_FALSE(rpcrdma2_wire_decode_err_vers(m.p, m.len, &low, &high));
	m = MESSAGE(XID, 1, 0, 4, 2, 1, 1);
	EXPECT_FALSE(rpcrdma2_wire_decode_err_vers(m.p, m.len, &low, &high));
	/* too short */
	m = MESSAGE(XID, 1, 0, 4, 1, 1);
	EXPECT_FALSE(rpcrdma2_wire_decode_err_vers(m.p, m.len, &low, &high));
}

static struct kunit_case error_cases[] = {
	RPCRDMA2_CASE(encode_v2,
		      "ERR-2,ERR-11,ERR-15,ERR-17,ERR-19,ERR-21,ERR-24,ERR-26,ERR-28,FLG-8,SEC-19"),
	RPCRDMA2_CASE(error_about_call, "ERR-2,ERR-28,D-7"),
	RPCRDMA2_CASE(encode_v1, "V1-2,ERR-11,SEC-19"),
	RPCRDMA2_CASE(decode_v1, "V1-2,ERR-9,ERR-10"),
	RPCRDMA2_CASE(err_vers_forms, "ERR-12,V1-11,D-8"),
	RPCRDMA2_CASE(err_vers_rule, "ERR-12,EXT-9,D-8"),
	{}
};

RPCRDMA2_SUITE(error);
