/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the unit tests are written against: the part of KUnit's interface
 * they need. In the kernel it is KUnit itself; in user space it is a small
 * stand-in, so that the same tests run under the sanitizers.
 *
 * A test is named by what it shows and by the requirements it covers; the
 * program's --list option prints the pairs.
 */
#ifndef _RPCRDMA2_UNIT_H
#define _RPCRDMA2_UNIT_H

#include "../../net/sunrpc/xprtrdma2/proto/chunk_list.h"
#include "../../net/sunrpc/xprtrdma2/proto/cm_private.h"
#include "../../net/sunrpc/xprtrdma2/proto/prop_change.h"
#include "../../net/sunrpc/xprtrdma2/proto/credits.h"
#include "proto/portable.h"
#include "../../net/sunrpc/xprtrdma2/proto/props.h"
#include "../../net/sunrpc/xprtrdma2/proto/version.h"
#include "../../net/sunrpc/xprtrdma2/proto/wire.h"
#include "../../net/sunrpc/xprtrdma2/proto/wire_impl.h"
#include "decoded.h"

/* One test: the function and the requirement ids, separated by commas. The
 * name is "function.ids".
 */
#define RPCRDMA2_CASE(fn, ids)	{ .run_case = fn, .name = #fn "." ids }

#ifdef __KERNEL__

#include <kunit/test.h>
#include <linux/slab.h>

#else /* user space */

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define __printf(text, args)	__attribute__((__format__(printf, text, args)))
#define KUNIT_MAX_ALLOCS	1024

/* Context of a running test: what it allocated, whether it failed. */
struct kunit {
	const char	*name;
	void		*alloc[KUNIT_MAX_ALLOCS];
	unsigned int	nallocs;
	bool		failed;
};

struct kunit_case {
	void		(*run_case)(struct kunit *test);
	const char	*name;
};

struct kunit_suite {
	const char		*name;
	int			(*init)(struct kunit *test);
	struct kunit_case	*test_cases;
};

#define GFP_KERNEL		0

void kunit_fail(struct kunit *test, const char *file, int line,
		const char *what, long long left, long long right);
void kunit_streq(struct kunit *test, const char *file, int line, const char *left,
		 const char *right);
void *kunit_kmalloc(struct kunit *test, size_t size, int gfp);
void kunit_kfree(struct kunit *test, const void *p);

#define KUNIT_BINARY(test, left, op, right)				\
do {									\
	long long _left = (long long)(left);				\
	long long _right = (long long)(right);				\
									\
	if (!(_left op _right))						\
		kunit_fail(test, __FILE__, __LINE__,			\
			   #left " " #op " " #right, _left, _right);	\
} while (0)

#define KUNIT_EXPECT_EQ(test, l, r)	KUNIT_BINARY(test, l, ==, r)
#define KUNIT_EXPECT_NE(test, l, r)	KUNIT_BINARY(test, l, !=, r)
#define KUNIT_EXPECT_LE(test, l, r)	KUNIT_BINARY(test, l, <=, r)
#define KUNIT_EXPECT_GE(test, l, r)	KUNIT_BINARY(test, l, >=, r)
#define KUNIT_EXPECT_TRUE(test, c)	KUNIT_BINARY(test, !!(c), ==, 1)
#define KUNIT_EXPECT_FALSE(test, c)	KUNIT_BINARY(test, !!(c), ==, 0)
#define KUNIT_EXPECT_PTR_EQ(test, l, r)					\
	KUNIT_BINARY(test, (size_t)(l), ==, (size_t)(r))
#define KUNIT_EXPECT_NULL(test, p)	KUNIT_EXPECT_PTR_EQ(test, p, NULL)
#define KUNIT_EXPECT_NOT_NULL(test, p)					\
	KUNIT_BINARY(test, (size_t)(p), !=, (size_t)NULL)
#define KUNIT_EXPECT_MEMEQ(test, l, r, size)				\
	KUNIT_BINARY(test, memcmp(l, r, size), ==, 0)
#define KUNIT_EXPECT_STREQ(test, l, r)					\
	kunit_streq(test, __FILE__, __LINE__, l, r)
#define KUNIT_ASSERT_NOT_NULL(test, p)	do { if (!(p)) abort(); } while (0)

#endif /* __KERNEL__ */

/* In a function with "struct kunit *test", as each case is */
#define EXPECT_EQ(l, r)			KUNIT_EXPECT_EQ(test, l, r)
#define EXPECT_NE(l, r)			KUNIT_EXPECT_NE(test, l, r)
#define EXPECT_LE(l, r)			KUNIT_EXPECT_LE(test, l, r)
#define EXPECT_GE(l, r)			KUNIT_EXPECT_GE(test, l, r)
#define EXPECT_TRUE(c)			KUNIT_EXPECT_TRUE(test, c)
#define EXPECT_FALSE(c)			KUNIT_EXPECT_FALSE(test, c)
#define EXPECT_PTR_EQ(l, r)		KUNIT_EXPECT_PTR_EQ(test, l, r)
#define EXPECT_NULL(p)			KUNIT_EXPECT_NULL(test, p)
#define EXPECT_NOT_NULL(p)		KUNIT_EXPECT_NOT_NULL(test, p)
#define EXPECT_MEMEQ(l, r, size)	KUNIT_EXPECT_MEMEQ(test, l, r, size)
#define EXPECT_STREQ(l, r)		KUNIT_EXPECT_STREQ(test, l, r)

/* Golden vectors */

enum vector_id {
#define VECTOR(id, ...)	VEC_##id,
#include "vectors.inc"
#undef VECTOR
	NR_GOLDEN
};

/**
 * struct vector - a golden vector
 * @name: as in the specification
 * @words: its words in host order
 * @nwords: how many
 */
struct vector {
	const char	*name;
	const u32	*words;
	u32		nwords;
};

extern const struct vector vectors[NR_GOLDEN];

/* Words of many tests */
#define XID			0x11223344U
#define OTHER_XID		0x55667788U
#define V2_CALL			XID, 2, 32, 0, 0	/* prefix, MSG */
#define V2_REPLY		XID, 2, 16, 0, 1
#define V2_NOMSG_CALL		XID, 2, 32, 1, 0
#define V2_NOMSG_REPLY		XID, 2, 16, 1, 1
#define V2_ERROR		XID, 2, 16, 4, 1
#define V1_MSG			XID, 1, 32, 0
#define V1_NOMSG		XID, 1, 32, 1
#define NO_INV			0
#define NO_CHUNKS		0, 0, 0
#define RPC_CALL		XID, 0
#define RPC_REPLY		XID, 1
#define READ_ENTRY(pos, h, len)	1, pos, h, len, 0, 0x1000
#define SEG(h, len)		h, len, 0, 0x2000

/**
 * struct message - a received message as a test makes one
 * @p: the bytes, in an allocation of exactly @len
 * @len: how many
 *
 * Freed with the test, or by message_free() where there are many.
 */
struct message {
	u8	*p;
	u32	len;
};

struct message message_new(struct kunit *test, const void *bytes, u32 len);
struct message message_words(struct kunit *test, const u32 *words, u32 n);
struct message message_vector(struct kunit *test, enum vector_id id);
/* The same; T3 and T6, which are headers, with an RPC message behind them */
struct message message_whole(struct kunit *test, enum vector_id id);
void message_free(struct kunit *test, struct message m);

/* The message of these words */
#define MESSAGE(...)							\
({									\
	static const u32 _words[] = { __VA_ARGS__ };			\
									\
	message_words(test, _words, ARRAY_SIZE(_words));		\
})

/* Decode a message into "struct rpcrdma2_hdr hdr" and compare the verdict */
#define EXPECT_VERDICT(codec, m, verdict)				\
do {									\
	memset(&hdr, 0xa5, sizeof(hdr));				\
	EXPECT_EQ((codec)->decode((m).p, (m).len, &hdr), RPCRDMA2_##verdict); \
} while (0)

/* The same with a message of version 1 of these words */
#define EXPECT_V1(verdict, ...)						\
do {									\
	struct message _m = MESSAGE(__VA_ARGS__);			\
									\
	EXPECT_VERDICT(&rpcrdma2_codec_v1, _m, verdict);		\
} while (0)

/* All that a decoder says of a message, and what a walk over its chunk lists finds:
 *
 *	VERDICT XID vVERSION type TYPE credits CREDITS ... if it is not OK, else
 *	XID ... call|reply HEADER+BODY ... POSITION:SEGMENT ... W(SEGMENT ...)=BYTES R(...)=BYTES
 *
 * SEGMENT is HANDLE+LENGTH@OFFSET. What is 0 or false is left out.
 */
const char *seen(const struct rpcrdma2_codec *codec, struct message m);

#define EXPECT_SEEN(want, codec, ...)					\
	EXPECT_STREQ(seen(codec, MESSAGE(__VA_ARGS__)), want)
#define EXPECT_SEEN2(want, ...)	EXPECT_SEEN(want, &rpcrdma2_codec_v2, __VA_ARGS__)
#define EXPECT_SEEN1(want, ...)	EXPECT_SEEN(want, &rpcrdma2_codec_v1, __VA_ARGS__)

/*
 * Something that writes: @what into @size bytes at @buf, as the encoders do.
 */
typedef int (*encode_fn)(const void *what, void *buf, u32 size);

/* Encode into exact, larger and poisoned buffers: the bytes must be those
 * expected, no byte may be left as it was, none beyond may be touched, and
 * every buffer that is too small must be refused (SEC-19).
 */
void expect_encode(struct kunit *test, encode_fn encode, const void *what,
		   const u8 *expected, u32 len);

/* All suites, in the order in which they run */
#define RPCRDMA2_SUITES(suite)						\
	suite(wire) suite(shape) suite(encode) suite(error) suite(props) \
	suite(credits) suite(client_version) suite(server_version)	\
	suite(cm) suite(change) suite(extend)

#define RPCRDMA2_DECLARE(name)	extern struct kunit_suite rpcrdma2_##name##_suite;
RPCRDMA2_SUITES(RPCRDMA2_DECLARE)

/* In a list of suites */
#define RPCRDMA2_POINTER(name)	&rpcrdma2_##name##_suite,

/* A suite, from the table of its cases; what is to be called before each of them */
#define RPCRDMA2_SUITE(suite, ...)					\
	struct kunit_suite rpcrdma2_##suite##_suite = {			\
		.name = "rpcrdma2_" #suite, .test_cases = suite##_cases, __VA_ARGS__ \
	}

#endif /* _RPCRDMA2_UNIT_H */
