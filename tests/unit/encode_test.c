// SPDX-License-Identifier: GPL-2.0
/*
 * Encoding of Calls, Replies and control messages: the golden vectors that
 * we send ourselves, and how written bytes are spread over chunks.
 */

#include "unit.h"

static const struct rpcrdma2_codec *v2 = &rpcrdma2_codec_v2;
static const struct rpcrdma2_codec *v1 = &rpcrdma2_codec_v1;

struct call_job {
	const struct rpcrdma2_codec	*codec;
	struct rpcrdma2_call_hdr		call;
};

static int encode_call(const void *what, void *buf, u32 size)
{
	const struct call_job *job = what;

	return rpcrdma2_wire_encode_call(job->codec, &job->call, buf, size);
}

struct reply_job {
	const struct rpcrdma2_codec	*codec;
	struct rpcrdma2_reply_hdr		reply;
};

static int encode_reply(const void *what, void *buf, u32 size)
{
	const struct reply_job *job = what;

	return rpcrdma2_wire_encode_reply(job->codec, &job->reply, buf, size);
}

/* A Call is encoded to the bytes that it was decoded from. */
static void expect_call_again(struct kunit *test, struct message m, struct rpcrdma2_hdr *hdr)
{
	static struct call_chunks chunks;
	struct call_job job = {
		.codec = rpcrdma2_wire_codec(get_unaligned_be32(m.p + 4)),
	};

	EXPECT_EQ(job.codec->decode(m.p, m.len, hdr), RPCRDMA2_OK);
	EXPECT_TRUE(call_again(hdr, &chunks, &job.call));
	if (job.codec == v1)
		job.call.inv_handle = 5;		/* not in version 1 */
	EXPECT_EQ(rpcrdma2_call_len(job.codec, &job.call), hdr->hdr_len);
	expect_encode(test, encode_call, &job, m.p, hdr->hdr_len);
}

static void calls(struct kunit *test)
{
	static const enum vector_id ids[] = { VEC_T1, VEC_T3, VEC_T4, VEC_V1 };
	struct rpcrdma2_hdr hdr;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(ids); i++)
		expect_call_again(test, message_whole(test, ids[i]), &hdr);
}

static u8 *put_words(u8 *p, u32 a, u32 b, u32 n)
{
	put_unaligned_be32(a, p);
	put_unaligned_be32(b, p + 4);
	return p + n * 4;
}

/* The largest Call every responder takes: 16 segments in each chunk of every kind. */
static void largest_call(struct kunit *test)
{
	u32 vers, chunk, i, handle;
	struct rpcrdma2_hdr hdr;
	struct message m;
	u8 *p;

	for (vers = 1; vers <= 2; vers++) {
		m = message_new(test, NULL, vers == 2 ? 1328 : 1320);
		memset(m.p, 0, m.len);
		put_words(m.p, XID, vers, 2);
		p = put_words(m.p + 8, 1, RDMA2_NOMSG, vers == 2 ? 4 : 2);
		handle = 100;
		for (i = 0; i < 32; i++) {
			p = put_words(p, 1, i < 16 ? 0 : 4096, 2);
			p = put_words(p, handle++, i, 4);
			put_unaligned_be32(i << 8, p - 8);
		}
		for (chunk = 0; chunk < 2; chunk++) {
			p = put_words(p + 4, 1, 16, 2);
			for (i = 0; i < 16; i++)
				p = put_words(p, handle++, i, 4);
		}
		EXPECT_PTR_EQ(p, m.p + m.len);
		expect_call_again(test, m, &hdr);
		EXPECT_EQ(hdr.max_segs, RPCRDMA2_MAX_SEGS);
		EXPECT_EQ(hdr.read_segs, 32);
		EXPECT_EQ(hdr.read_chunks, 1);
		EXPECT_EQ(hdr.write_chunks, 1);
	}
}

static void bad_calls(struct kunit *test)
{
	static const struct rpcrdma2_chunk chunk = {
		.position = 8, .nsegs = 1
	};
	static const struct rpcrdma2_chunk odd = {
		.position = 6, .nsegs = 1
	};
	static const struct rpcrdma2_chunk big = {
		.position = 8, .nsegs = 17
	};
	static const struct rpcrdma2_chunk none;
	static const struct rpcrdma2_call_hdr calls[] = {
		{ .nomsg = true },
		{ .nomsg = true, .pz = &none },
		{ .pz = &chunk },
		{ .read = &odd },
		{ .read = &none },
		{ .read = &big },
		{ .write = &big },
		{ .reply = &big },
		{ .nomsg = true, .pz = &big },
	};
	u8 buf[64];
	u32 i;

	for (i = 0; i < ARRAY_SIZE(calls); i++) {
		EXPECT_EQ(rpcrdma2_wire_encode_call(v2, &calls[i], buf, sizeof(buf)), -EINVAL);
		EXPECT_EQ(rpcrdma2_wire_encode_call(v1, &calls[i], buf, sizeof(buf)), -EINVAL);
	}
}

/* The Call that a Reply is to be encoded for */
static struct rpcrdma2_hdr call;

static void make_call(struct kunit *test, struct message m)
{
	u32 vers = get_unaligned_be32(m.p + 4);

	EXPECT_EQ(rpcrdma2_wire_codec(vers)->decode(m.p, m.len, &call), RPCRDMA2_OK);
}

/* The first @len bytes of @want are the Reply to @to. */
static void expect_reply(struct kunit *test, struct rpcrdma2_reply_hdr reply, struct message to,
			 struct message want, u32 len)
{
	struct reply_job job = { .reply = reply };

	make_call(test, to);
	job.codec = rpcrdma2_wire_codec(call.vers);
	job.reply.xid = XID;
	job.reply.credit = 16;
	job.reply.call = &call;
	EXPECT_EQ(rpcrdma2_reply_len(job.codec, &job.reply), len);
	expect_encode(test, encode_reply, &job, want.p, len);
}

#define REPLY(...)	((struct rpcrdma2_reply_hdr){ __VA_ARGS__ })
#define WRITTEN(...)							\
	.written = (const u32[]){ __VA_ARGS__ },			\
	.nwritten = ARRAY_SIZE(((const u32[]){ __VA_ARGS__ }))

static void replies(struct kunit *test)
{
	struct message t2 = message_vector(test, VEC_T2);
	struct message t5 = message_vector(test, VEC_T5);
	struct message t6 = message_vector(test, VEC_T6);
	struct message spread = MESSAGE(V2_REPLY, NO_INV, 0, 1, 3, SEG(1, 4096), SEG(2, 4096),
					SEG(3, 808), 0, 0);

	expect_reply(test, REPLY(), message_vector(test, VEC_T1), t2, 36);
	expect_reply(test, REPLY(.nomsg = true, .reply_written = 5000),
		     message_vector(test, VEC_T4), t5, t5.len);
	expect_reply(test, REPLY(WRITTEN(8192)),
		     MESSAGE(V2_CALL, NO_INV, 0, 1, 2, 0xc301, 8192, 0, 0x2000,
			     0xc302, 8192, 0, 0x4000, 0, 0, RPC_CALL), t6, t6.len);
	/* 9000 bytes over three segments of 4096 */
	expect_reply(test, REPLY(WRITTEN(9000)),
		     MESSAGE(V2_CALL, NO_INV, 0, 1, 3, SEG(1, 4096), SEG(2, 4096),
			     SEG(3, 4096), 0, 0, RPC_CALL), spread, spread.len);
}

/* More than fits is a mistake of the caller and never leaves. */
static void overfull_chunks(struct kunit *test)
{
	u32 written[] = { 20, 0 };
	struct rpcrdma2_reply_hdr reply = {
		.call		= &call,
		.written	= written,
		.nwritten	= 1,
	};
	u8 buf[256];

	make_call(test, MESSAGE(V2_NOMSG_CALL, NO_INV,
				READ_ENTRY(0, 7, 100), 0,
				1, 2, SEG(1, 10), SEG(2, 10), 0,
				1, 2, SEG(3, 50), SEG(4, 50)));
	EXPECT_GE(rpcrdma2_wire_encode_reply(v2, &reply, buf, 256), 0);
	written[0] = 21;
	EXPECT_EQ(rpcrdma2_wire_encode_reply(v2, &reply, buf, 256), -EINVAL);
	EXPECT_EQ(rpcrdma2_wire_encode_reply(v1, &reply, buf, 256), -EINVAL);
	written[0] = 20;
	reply.nwritten = 2;
	EXPECT_EQ(rpcrdma2_wire_encode_reply(v2, &reply, buf, 256), -EINVAL);
	EXPECT_EQ(rpcrdma2_wire_encode_reply(v1, &reply, buf, 256), -EINVAL);
	reply.nwritten = 1;

	/* a MSG leaves the Reply chunk alone */
	reply.reply_written = 1;
	EXPECT_EQ(rpcrdma2_wire_encode_reply(v2, &reply, buf, 256), -EINVAL);
	reply.nomsg = true;
	reply.reply_written = 100;
	EXPECT_GE(rpcrdma2_wire_encode_reply(v2, &reply, buf, 256), 0);
	reply.reply_written = 101;
	EXPECT_EQ(rpcrdma2_wire_encode_reply(v2, &reply, buf, 256), -EINVAL);

	/* a NOMSG needs one */
	make_call(test, message_vector(test, VEC_T1));
	reply.nwritten = 0;
	reply.reply_written = 0;
	EXPECT_EQ(rpcrdma2_wire_encode_reply(v2, &reply, buf, 256), -EINVAL);
	reply.nomsg = false;
	EXPECT_EQ(rpcrdma2_wire_encode_reply(v2, &reply, buf, 256), 36);
}

/* The header of a message without chunks is that which the other encoders write. */
static void plain(struct kunit *test)
{
	struct rpcrdma2_call_hdr call = { .xid = 0x12345678, .credit = 77 };
	static const struct rpcrdma2_hdr none;
	struct rpcrdma2_reply_hdr reply = { .xid = 0x9abcdef0, .credit = 5, .call = &none };
	const struct rpcrdma2_codec *codecs[] = { v1, v2 };
	u8 want[64], got[64];
	int len;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(codecs); i++) {
		len = codecs[i]->hdr_min;
		memset(got, 0xff, sizeof(got));
		EXPECT_EQ(rpcrdma2_wire_encode_call(codecs[i], &call, want, sizeof(want)), len);
		EXPECT_EQ(rpcrdma2_wire_encode_plain(codecs[i], call.xid, call.credit, 0, got,
						     len), len);
		EXPECT_TRUE(!memcmp(want, got, len));
		EXPECT_EQ(got[len], 0xff);

		memset(got, 0xff, sizeof(got));
		EXPECT_EQ(rpcrdma2_wire_encode_reply(codecs[i], &reply, want, sizeof(want)), len);
		EXPECT_EQ(rpcrdma2_wire_encode_plain(codecs[i], reply.xid, reply.credit,
						     RPCRDMA2_F_RESPONSE, got, len), len);
		EXPECT_TRUE(!memcmp(want, got, len));
		EXPECT_EQ(got[len], 0xff);

		EXPECT_EQ(rpcrdma2_wire_encode_plain(codecs[i], 1, 1, 0, got, len - 1),
			  -EMSGSIZE);
	}
}

struct control_job {
	u32	xid;
	u32	credit;
	u32	htype;
	bool	response;
};

static int encode_control(const void *what, void *buf, u32 size)
{
	const struct control_job *job = what;

	return rpcrdma2_wire_encode_control(job->xid, job->credit, job->htype,
					    job->response, buf, size);
}

static void control_prefix(struct kunit *test)
{
	static const struct {
		enum vector_id		id;
		struct control_job	job;
	} rows[] = {
		{ VEC_P1, { 0xc0de0001, 32, RDMA2_CONNPROP, false } },
		{ VEC_P2, { 0xc0de0001, 16, RDMA2_CONNPROP, true } },
		{ VEC_G1, { 0xc0de0002, 32, RDMA2_X_REQPROP, false } },
		{ VEC_G2, { 0xc0de0002, 16, RDMA2_X_RESPROP, true } },
		{ VEC_G6, { 0xc0de0003, 32, RDMA2_X_UPDPROP, false } },
	};
	struct message m;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		m = message_vector(test, rows[i].id);
		expect_encode(test, encode_control, &rows[i].job, m.p,
			      RPCRDMA2_PREFIX);
	}
}

static struct kunit_case encode_cases[] = {
	RPCRDMA2_CASE(calls,
		      "HDR-1,FLG-2,FLG-4,CHK-1,CHK-2,CHK-3,CHK-5,V1-1,RINV-1,RINV-2,SEC-19"),
	RPCRDMA2_CASE(largest_call, "CHK-12,CHK-27,V1-1"),
	RPCRDMA2_CASE(bad_calls, "CHK-9,MSG-2,MSG-8"),
	RPCRDMA2_CASE(replies,
		      "HDR-1,FLG-2,FLG-4,CHK-4,CHK-5,CHK-14,CHK-15,LNG-8,RINV-10,REV-3,SEC-19"),
	RPCRDMA2_CASE(overfull_chunks, "CHK-23,LNG-7,MSG-3,MSG-8,SEC-10"),
	RPCRDMA2_CASE(plain, "HDR-1,HDR-10"),
	RPCRDMA2_CASE(control_prefix, "HDR-10,FLG-2,FLG-7,HT-6,CONN-10,SEC-19"),
	{}
};

RPCRDMA2_SUITE(encode);
