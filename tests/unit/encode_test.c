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

static void expect_call(struct kunit *test, const struct call_job *job,
			enum vector_id id, u32 hdr_len)
{
	struct message m = message_vector(test, id);

	EXPECT_EQ(rpcrdma2_call_len(job->codec, &job->call), hdr_len);
	expect_encode(test, encode_call, job, m.p, hdr_len);
}

static void call_without_chunks(struct kunit *test)
{
	struct call_job job = {
		.codec		= v2,
		.call.xid	= XID,
		.call.credit	= 32,
	};

	expect_call(test, &job, VEC_T1, 36);
	job.codec = v1;
	job.call.inv_handle = 5;		/* not in version 1 */
	expect_call(test, &job, VEC_V1, 28);
}

static void read_chunk_call(struct kunit *test)
{
	static const struct rpcrdma2_chunk read = {
		.position	= 148,
		.nsegs		= 2,
		.seg		= {
			{ 0xa101, 4096, 0x7f0000001000ULL },
			{ 0xa102, 904, 0x7f0000009000ULL },
		},
	};
	struct call_job job = {
		.codec			= v2,
		.call.xid		= XID,
		.call.credit		= 32,
		.call.inv_handle	= 0xa102,
		.call.read		= &read,
	};

	expect_call(test, &job, VEC_T3, 84);
}

static void nomsg_call(struct kunit *test)
{
	static const struct rpcrdma2_chunk pz = {
		.nsegs	= 2,
		.seg	= { { 0xb201, 4096, 0x1000 }, { 0xb202, 100, 0x5000 } },
	};
	static const struct rpcrdma2_chunk reply = {
		.nsegs	= 1,
		.seg	= { { 0xb203, 65536, 0x10000 } },
	};
	struct call_job job = {
		.codec			= v2,
		.call.xid		= XID,
		.call.credit		= 32,
		.call.nomsg		= true,
		.call.inv_handle	= 0xb203,
		.call.pz		= &pz,
		.call.reply		= &reply,
	};

	expect_call(test, &job, VEC_T4, 104);
}

/* All kinds of chunks at their largest; then back through the decoder. */
static void largest_call(struct kunit *test)
{
	static struct rpcrdma2_chunk write = { .nsegs = 16 };
	static struct rpcrdma2_chunk reply = { .nsegs = 16 };
	static struct rpcrdma2_chunk read = { .nsegs = 16 };
	static struct rpcrdma2_chunk pz = { .nsegs = 16 };
	struct call_job job = {
		.call = {
			.xid	= XID,
			.credit	= 1,
			.nomsg	= true,
			.pz	= &pz,
			.read	= &read,
			.write	= &write,
			.reply	= &reply,
		},
	};
	struct rpcrdma2_cursor c, segs;
	struct rpcrdma2_segment seg;
	struct rpcrdma2_hdr hdr;
	u32 position, last, vers, i;
	struct message m;

	for (i = 0; i < 16; i++) {
		pz.seg[i].handle = i + 1;
		read.seg[i].handle = i + 101;
		write.seg[i].handle = i + 201;
		write.seg[i].length = i;
		reply.seg[i].handle = i + 301;
		reply.seg[i].offset = (u64)i << 40;
	}
	read.position = 4096;

	for (vers = 1; vers <= 2; vers++) {
		job.codec = rpcrdma2_wire_codec(vers);
		m = message_new(test, NULL, rpcrdma2_call_len(job.codec, &job.call));
		EXPECT_EQ(m.len, vers == 2 ? 1328 : 1320);
		memset(m.p, 0xa5, m.len);
		EXPECT_EQ(encode_call(&job, m.p, m.len), (int)m.len);
		EXPECT_EQ(encode_call(&job, m.p, m.len - 1), -EMSGSIZE);
		EXPECT_EQ(job.codec->decode(m.p, m.len, &hdr), RPCRDMA2_OK);

		last = 0;
		rpcrdma2_read_list_begin(&hdr, &c);
		for (i = 0; rpcrdma2_read_list_next(&c, &position, &seg); i++) {
			EXPECT_GE(position, last);
			EXPECT_EQ(position, i < 16 ? 0 : 4096);
			EXPECT_EQ(seg.handle, i < 16 ? i + 1 : i + 85);
			last = position;
		}
		EXPECT_EQ(i, 32);

		rpcrdma2_write_list_begin(&hdr, &c);
		EXPECT_TRUE(rpcrdma2_write_list_next(&c, &segs));
		for (i = 0; rpcrdma2_segs_next(&segs, &seg); i++) {
			EXPECT_EQ(seg.handle, i + 201);
			EXPECT_EQ(seg.length, i);
		}
		EXPECT_EQ(i, 16);
		EXPECT_FALSE(rpcrdma2_write_list_next(&c, &segs));

		EXPECT_TRUE(rpcrdma2_hdr_reply_chunk(&hdr, &segs));
		for (i = 0; rpcrdma2_segs_next(&segs, &seg); i++)
			EXPECT_EQ(seg.offset, (u64)i << 40);
		EXPECT_EQ(i, 16);
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

static void expect_reply(struct kunit *test, const struct reply_job *job,
			 const u8 *expected, u32 len)
{
	EXPECT_EQ(rpcrdma2_reply_len(job->codec, &job->reply), len);
	expect_encode(test, encode_reply, job, expected, len);
}

static void reply_without_chunks(struct kunit *test)
{
	struct message m = message_vector(test, VEC_T2);
	struct reply_job job = {
		.codec		= v2,
		.reply.xid	= XID,
		.reply.credit	= 16,
		.reply.call	= &call,
	};

	make_call(test, message_vector(test, VEC_T1));
	expect_reply(test, &job, m.p, 36);
}

static void nomsg_reply(struct kunit *test)
{
	struct message m = message_vector(test, VEC_T5);
	struct reply_job job = {
		.codec			= v2,
		.reply.xid		= XID,
		.reply.credit		= 16,
		.reply.nomsg		= true,
		.reply.call		= &call,
		.reply.reply_written	= 5000,
	};

	make_call(test, message_vector(test, VEC_T4));
	expect_reply(test, &job, m.p, m.len);
}

static void used_write_chunk(struct kunit *test)
{
	struct message m = message_vector(test, VEC_T6);
	static const u32 written[] = { 8192 };
	struct reply_job job = {
		.codec		= v2,
		.reply.xid	= XID,
		.reply.credit	= 16,
		.reply.call	= &call,
		.reply.written	= written,
		.reply.nwritten	= 1,
	};

	make_call(test, MESSAGE(V2_CALL, NO_INV, 0, 1, 2,
				0xc301, 8192, 0, 0x2000,
				0xc302, 8192, 0, 0x4000, 0, 0, RPC_CALL));
	expect_reply(test, &job, m.p, m.len);
}

/* 9000 bytes over three segments of 4096. */
static void spread_over_segments(struct kunit *test)
{
	static const u32 lengths[] = { 4096, 4096, 808 };
	static const u32 written[] = { 9000 };
	struct rpcrdma2_cursor writes, segs;
	struct rpcrdma2_segment seg;
	struct rpcrdma2_hdr hdr;
	struct rpcrdma2_reply_hdr reply = {
		.xid		= XID,
		.credit		= 1,
		.call		= &call,
		.written	= written,
		.nwritten	= 1,
	};
	struct message m;
	u32 i, len;

	make_call(test, MESSAGE(V2_CALL, NO_INV, 0, 1, 3, SEG(1, 4096),
				SEG(2, 4096), SEG(3, 4096), 0, 0, RPC_CALL));
	len = rpcrdma2_reply_len(v2, &reply);
	m = message_new(test, NULL, len + 8);
	EXPECT_EQ(rpcrdma2_wire_encode_reply(v2, &reply, m.p, len), (int)len);
	put_unaligned_be32(XID, m.p + len);
	put_unaligned_be32(1, m.p + len + 4);

	EXPECT_EQ(v2->decode(m.p, m.len, &hdr), RPCRDMA2_OK);
	rpcrdma2_write_list_begin(&hdr, &writes);
	EXPECT_TRUE(rpcrdma2_write_list_next(&writes, &segs));
	for (i = 0; rpcrdma2_segs_next(&segs, &seg); i++) {
		EXPECT_EQ(seg.handle, i + 1);
		EXPECT_EQ(seg.offset, 0x2000);
		EXPECT_EQ(seg.length, lengths[i]);
	}
	EXPECT_EQ(i, 3);
	EXPECT_EQ(write_list_bytes(&hdr, 0), 9000);
}

/*
 * All lists of a Call come back: unused chunks with zero lengths, empty
 * chunks empty, the Reply chunk of a MSG unused, the Read list not at all.
 */
static void repeated_lists(struct kunit *test)
{
	static const u32 written[] = { 0, 0, 5 };
	struct reply_job job = {
		.reply = {
			.xid		= XID,
			.credit		= 16,
			.call		= &call,
			.written	= written,
			.nwritten	= 3,
		},
	};
	struct message m;

	make_call(test, MESSAGE(V2_CALL, NO_INV, READ_ENTRY(8, 9, 9),
				0, 1, 2, SEG(1, 10), SEG(2, 10), 1, 0,
				1, 2, SEG(3, 3), SEG(4, 3), 1, 1, SEG(5, 7),
				0, 1, 1, SEG(6, 100), RPC_CALL));
	m = MESSAGE(V2_REPLY, NO_INV, 0, 1, 2, SEG(1, 0), SEG(2, 0),
		    1, 0, 1, 2, SEG(3, 3), SEG(4, 2), 1, 1, SEG(5, 0), 0,
		    1, 1, SEG(6, 0));
	job.codec = v2;
	expect_reply(test, &job, m.p, m.len);

	make_call(test, MESSAGE(V1_MSG, READ_ENTRY(8, 9, 9),
				0, 1, 2, SEG(1, 10), SEG(2, 10), 1, 0,
				1, 2, SEG(3, 3), SEG(4, 3), 1, 1, SEG(5, 7),
				0, 1, 1, SEG(6, 100), RPC_CALL));
	m = MESSAGE(XID, 1, 16, 0, 0, 1, 2, SEG(1, 0), SEG(2, 0),
		    1, 0, 1, 2, SEG(3, 3), SEG(4, 2), 1, 1, SEG(5, 0), 0,
		    1, 1, SEG(6, 0));
	job.codec = v1;
	expect_reply(test, &job, m.p, m.len);
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

/* Header overhead that decides whether a message fits, at the boundary. */
static void threshold_boundary(struct kunit *test)
{
	static const struct rpcrdma2_chunk write = { .nsegs = 1 };
	static const struct rpcrdma2_chunk reply = { .nsegs = 2 };
	const struct rpcrdma2_call_hdr call = { .write = &write, .reply = &reply };
	u32 len = rpcrdma2_call_len(v2, &call);
	u8 buf[128];

	EXPECT_EQ(len, 36 + 24 + 36);
	EXPECT_EQ(rpcrdma2_call_len(v1, &call), len - 8);
	EXPECT_EQ(rpcrdma2_wire_encode_call(v2, &call, buf, len - 1), -EMSGSIZE);
	EXPECT_EQ(rpcrdma2_wire_encode_call(v2, &call, buf, len), (int)len);
	EXPECT_EQ(rpcrdma2_wire_encode_call(v2, &call, buf, len + 1), (int)len);
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
	RPCRDMA2_CASE(call_without_chunks,
		      "HDR-1,FLG-2,FLG-4,V1-1,RINV-2,SEC-19"),
	RPCRDMA2_CASE(read_chunk_call, "HDR-1,CHK-1,CHK-2,CHK-3,RINV-1,SEC-19"),
	RPCRDMA2_CASE(nomsg_call, "HDR-1,CHK-1,CHK-5,FLG-4,RINV-1,SEC-19"),
	RPCRDMA2_CASE(largest_call, "CHK-12,CHK-27,V1-1"),
	RPCRDMA2_CASE(bad_calls, "CHK-9,MSG-2,MSG-8"),
	RPCRDMA2_CASE(reply_without_chunks,
		      "HDR-1,FLG-2,FLG-4,RINV-10,REV-3,SEC-19"),
	RPCRDMA2_CASE(nomsg_reply, "HDR-1,CHK-5,CHK-14,LNG-8,RINV-10,SEC-19"),
	RPCRDMA2_CASE(used_write_chunk, "CHK-4,CHK-14,CHK-15,SEC-19"),
	RPCRDMA2_CASE(spread_over_segments, "CHK-15"),
	RPCRDMA2_CASE(repeated_lists,
		      "CHK-13,CHK-14,CHK-17,CHK-18,MSG-3,V1-1,V1-6,SEC-19"),
	RPCRDMA2_CASE(overfull_chunks, "CHK-23,LNG-7,MSG-3,MSG-8,SEC-10"),
	RPCRDMA2_CASE(threshold_boundary, "MSG-4,LNG-4"),
	RPCRDMA2_CASE(control_prefix, "FLG-2,FLG-7,HT-6,CONN-10,SEC-19"),
	{}
};

RPCRDMA2_SUITE(encode);
