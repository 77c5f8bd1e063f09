// SPDX-License-Identifier: GPL-2.0
/*
 * RDMA-CM private data of version 1.
 */

#include "unit.h"

static int encode_cm(const void *what, void *buf, u32 size)
{
	if (size < RPCRDMA_CM_PRIVATE_BYTES)
		return -EMSGSIZE;
	rpcrdma_cm_encode(what, buf);
	return RPCRDMA_CM_PRIVATE_BYTES;
}

static void expect_cm(struct kunit *test, const void *buf, u32 len,
		      bool remote_inval, u32 send_size, u32 recv_size)
{
	struct rpcrdma_cm_private cm;

	memset(&cm, 0xa5, sizeof(cm));
	rpcrdma_cm_decode(buf, len, &cm);
	EXPECT_EQ(cm.remote_inval, remote_inval);
	EXPECT_EQ(cm.send_size, send_size);
	EXPECT_EQ(cm.recv_size, recv_size);
}

static void expect_defaults(struct kunit *test, const void *buf, u32 len)
{
	expect_cm(test, buf, len, false, 1024, 1024);
}

static void both_vectors(struct kunit *test)
{
	struct rpcrdma_cm_private cm = {
		.remote_inval	= true,
		.send_size	= 4096,
		.recv_size	= 4096,
	};
	struct message m = message_vector(test, VEC_C1);

	expect_encode(test, encode_cm, &cm, m.p, m.len);
	expect_cm(test, m.p, m.len, true, 4096, 4096);

	cm.remote_inval = false;
	cm.send_size = 1024;
	cm.recv_size = 1024;
	m = message_vector(test, VEC_C2);
	expect_encode(test, encode_cm, &cm, m.p, m.len);
	expect_defaults(test, m.p, m.len);
}

static void reserved_bits(struct kunit *test)
{
	struct message m = message_vector(test, VEC_C1);

	m.p[5] = 0xff;
	expect_cm(test, m.p, m.len, true, 4096, 4096);
	m.p[5] = 0xfe;
	expect_cm(test, m.p, m.len, false, 4096, 4096);
}

static void sizes(struct kunit *test)
{
	static const struct {
		u32	bytes;
		u8	code;
	} rows[] = {
		{ 0, 0 }, { 1023, 0 }, { 1024, 0 }, { 1025, 0 }, { 2047, 0 },
		{ 2048, 1 }, { 4096, 3 }, { 5000, 3 }, { 262143, 254 },
		{ 262144, 255 }, { 262145, 255 }, { 0xffffffff, 255 },
	};
	struct rpcrdma_cm_private cm = {};
	u8 buf[RPCRDMA_CM_PRIVATE_BYTES];
	u32 i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		cm.send_size = rows[i].bytes;
		cm.recv_size = 4096;
		rpcrdma_cm_encode(&cm, buf);
		EXPECT_EQ(buf[6], rows[i].code);
		EXPECT_EQ(buf[7], 3);
		cm.send_size = 4096;
		cm.recv_size = rows[i].bytes;
		rpcrdma_cm_encode(&cm, buf);
		EXPECT_EQ(buf[6], 3);
		EXPECT_EQ(buf[7], rows[i].code);
		expect_cm(test, buf, sizeof(buf), false, 4096,
			  (rows[i].code + 1) * 1024);
	}
}

static void thresholds(struct kunit *test)
{
	static const struct {
		u32	client_send, client_recv, server_send, server_recv;
		u32	call, reply;
	} rows[] = {
		{ 4096, 1024, 4096, 1024, 1024, 1024 },
		{ 1024, 4096, 1024, 4096, 1024, 1024 },
		{ 8192, 2048, 4096, 4096, 4096, 2048 },
		{ 4096, 4096, 2048, 8192, 4096, 2048 },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct rpcrdma_cm_private client = {
			.send_size	= rows[i].client_send,
			.recv_size	= rows[i].client_recv,
		};
		struct rpcrdma_cm_private server = {
			.send_size	= rows[i].server_send,
			.recv_size	= rows[i].server_recv,
		};

		EXPECT_EQ(rpcrdma_cm_threshold(&client, &server), rows[i].call);
		EXPECT_EQ(rpcrdma_cm_threshold(&server, &client), rows[i].reply);
	}
}

static void unusable(struct kunit *test)
{
	static const u8 versions[] = { 0, 2, 3, 255 };
	struct message m = message_vector(test, VEC_C1);
	struct message cut;
	u32 i;

	expect_defaults(test, NULL, 0);
	for (i = 0; i < m.len; i++) {
		cut = message_new(test, m.p, i);
		expect_defaults(test, cut.p, cut.len);
		message_free(test, cut);
	}
	for (i = 0; i < ARRAY_SIZE(versions); i++) {
		m.p[4] = versions[i];
		expect_defaults(test, m.p, m.len);
	}
	m.p[4] = 1;
	for (i = 0; i < 4; i++) {
		m.p[i] ^= 1;
		expect_defaults(test, m.p, m.len);
		m.p[i] ^= 1;
	}
	expect_cm(test, m.p, m.len, true, 4096, 4096);
}

static void any_offset(struct kunit *test)
{
	struct message c1 = message_vector(test, VEC_C1);
	struct message m, cut;
	u32 offset, len;

	for (offset = 0; offset < 64; offset++) {
		m = message_new(test, NULL, offset + 8);
		memset(m.p, 0xf6, m.len);	/* the magic's first byte */
		memcpy(m.p + offset, c1.p, 8);
		expect_cm(test, m.p, m.len, true, 4096, 4096);
		for (len = offset; len < m.len; len++) {
			cut = message_new(test, m.p, len);
			expect_defaults(test, cut.p, cut.len);
			message_free(test, cut);
		}
		message_free(test, m);
	}
}

static void padded(struct kunit *test)
{
	static const u32 lengths[] = { 9, 56, 92, 148, 196 };
	struct message c1 = message_vector(test, VEC_C1);
	struct message m;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(lengths); i++) {
		m = message_new(test, NULL, lengths[i]);
		memset(m.p, 0, m.len);
		expect_defaults(test, m.p, m.len);
		memcpy(m.p, c1.p, 8);
		expect_cm(test, m.p, m.len, true, 4096, 4096);
		memset(m.p + 8, 0xff, m.len - 8);
		expect_cm(test, m.p, m.len, true, 4096, 4096);
	}
}

static struct kunit_case cm_cases[] = {
	RPCRDMA2_CASE(both_vectors, "CM-1,CM-3,CM-4,SEC-19"),
	RPCRDMA2_CASE(reserved_bits, "CM-3,CM-4,D-35"),
	RPCRDMA2_CASE(sizes, "CM-5,CM-6"),
	RPCRDMA2_CASE(thresholds, "CM-7,INL-1"),
	RPCRDMA2_CASE(unusable, "CM-9,CM-13,CM-15,SEC-2"),
	RPCRDMA2_CASE(any_offset, "CM-10,D-35"),
	RPCRDMA2_CASE(padded, "CM-11"),
	{}
};

RPCRDMA2_SUITE(cm);
