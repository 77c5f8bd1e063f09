// SPDX-License-Identifier: GPL-2.0
/*
 * What several suites share: golden vectors, messages in allocations of
 * exactly their size, and the check of an encoder.
 */

#include "unit.h"

#define VECTOR(id, ...)	static const u32 words_##id[] = { __VA_ARGS__ };
#include "vectors.inc"
#undef VECTOR

const struct vector vectors[NR_GOLDEN] = {
#define VECTOR(id, ...)	\
	[VEC_##id] = { #id, words_##id, ARRAY_SIZE(words_##id) },
#include "vectors.inc"
#undef VECTOR
};

/* A copy that ends where its allocation ends: over-reads are caught. */
struct message message_new(struct kunit *test, const void *bytes, u32 len)
{
	struct message m = { .len = len };

	m.p = kunit_kmalloc(test, len, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, m.p);
	if (bytes)
		memcpy(m.p, bytes, len);
	return m;
}

struct message message_words(struct kunit *test, const u32 *words, u32 n)
{
	struct message m = message_new(test, NULL, n * sizeof(*words));
	u32 i;

	for (i = 0; i < n; i++)
		put_unaligned_be32(words[i], m.p + i * sizeof(*words));
	return m;
}

struct message message_vector(struct kunit *test, enum vector_id id)
{
	return message_words(test, vectors[id].words, vectors[id].nwords);
}

void message_free(struct kunit *test, struct message m)
{
	kunit_kfree(test, m.p);
}

static void expect_poison(struct kunit *test, const u8 *p, u32 len, u8 poison)
{
	u32 i;

	for (i = 0; i < len; i++)
		EXPECT_EQ(p[i], poison);
}

static void expect_encode_over(struct kunit *test, encode_fn encode,
			       const void *what, const u8 *expected, u32 len,
			       u8 poison)
{
	struct message m = message_new(test, NULL, len + 8);

	memset(m.p, poison, m.len);
	EXPECT_EQ(encode(what, m.p, m.len), (int)len);
	EXPECT_MEMEQ(m.p, expected, len);
	expect_poison(test, m.p + len, m.len - len, poison);
	message_free(test, m);
}

void expect_encode(struct kunit *test, encode_fn encode, const void *what,
		   const u8 *expected, u32 len)
{
	struct message m;
	u32 size;

	expect_encode_over(test, encode, what, expected, len, 0xa5);
	expect_encode_over(test, encode, what, expected, len, 0x5a);
	for (size = 0; size <= len; size++) {
		m = message_new(test, NULL, size);
		EXPECT_EQ(encode(what, m.p, size), size < len ? -EMSGSIZE : (int)len);
		message_free(test, m);
	}
}
