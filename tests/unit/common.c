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

struct message message_whole(struct kunit *test, enum vector_id id)
{
	const u32 *words = vectors[id].words;
	u32 n = vectors[id].nwords;
	struct message m;

	if (id != VEC_T3 && id != VEC_T6)
		return message_vector(test, id);
	m = message_new(test, NULL, n * 4 + 8);
	while (n--)
		put_unaligned_be32(words[n], m.p + n * 4);
	put_unaligned_be32(words[0], m.p + m.len - 8);
	put_unaligned_be32(words[4], m.p + m.len - 4);
	return m;
}

void message_free(struct kunit *test, struct message m)
{
	kunit_kfree(test, m.p);
}

/* ---- what a decoder says, as text ---- */

static char text[2048];
static unsigned int text_len;

static void __printf(1, 2) say(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	text_len += vsnprintf(text + text_len, sizeof(text) - text_len, format, args);
	va_end(args);
	text_len = min_t(u32, text_len, sizeof(text) - 1);
}

static void say_segment(const struct rpcrdma2_segment *seg)
{
	say("%x+%u@%llx", seg->handle, seg->length, (unsigned long long)seg->offset);
}

static void say_segs(char kind, struct rpcrdma2_cursor segs)
{
	u64 bytes = rpcrdma2_segs_bytes(segs);
	struct rpcrdma2_segment seg;
	const char *before = "";

	say(" %c(", kind);
	for (; rpcrdma2_segs_next(&segs, &seg); before = " ") {
		say("%s", before);
		say_segment(&seg);
	}
	say(")=%llu", (unsigned long long)bytes);
}

static void say_lists(const struct rpcrdma2_hdr *hdr)
{
	struct rpcrdma2_cursor c, segs;
	struct rpcrdma2_segment seg;
	u32 position;

	rpcrdma2_read_list_begin(hdr, &c);
	while (rpcrdma2_read_list_next(&c, &position, &seg)) {
		say(" %u:", position);
		say_segment(&seg);
	}
	rpcrdma2_write_list_begin(hdr, &c);
	while (rpcrdma2_write_list_next(&c, &segs))
		say_segs('W', segs);
	memset(&segs, 0xa5, sizeof(segs));
	if (rpcrdma2_hdr_reply_chunk(hdr, &segs) || segs.left)
		say_segs('R', segs);
	if (rpcrdma2_hdr_reply_chunk_bytes(hdr) != rpcrdma2_segs_bytes(segs))
		say("?");
}

static void say_number(const char *name, u32 n)
{
	if (n)
		say(" %s %u", name, n);
}

static void say_good(const struct rpcrdma2_hdr *hdr, const u8 *msg)
{
	say(" %s%s %u", hdr->response ? "reply" : "call",
	    rpcrdma2_is_grant(hdr) ? " granted" : "", hdr->hdr_len);
	if (hdr->body || hdr->body_len)
		say("%c%u", hdr->body == msg + hdr->hdr_len ? '+' : '?', hdr->body_len);
	say_number("error", hdr->err);
	if (hdr->err_arg[0] || hdr->err_arg[1])
		say("(%u %u)", hdr->err_arg[0], hdr->err_arg[1]);
	if (hdr->inv_handle)
		say(" inv %x", hdr->inv_handle);
	if (hdr->has_inv_handle)
		say(" named");
	if (hdr->only_handle)
		say(" only %x", hdr->only_handle);
	if (hdr->has_pz)
		say(" pz");
	say_number("reads", hdr->read_segs);
	say_number("chunks", hdr->read_chunks);
	say_number("writes", hdr->write_chunks);
	say_number("results", hdr->results_len);
	say_number("max", hdr->max_segs);
	if (hdr->has_segs != !!hdr->max_segs)
		say(" has_segs?");
	say_lists(hdr);
}

const char *seen(const struct rpcrdma2_codec *codec, struct message m)
{
	static const char * const verdicts[] = {
		[RPCRDMA2_OK]		= "",
		[RPCRDMA2_DROP]		= "DROP",
		[RPCRDMA2_BAD_XDR]	= "BAD_XDR ",
		[RPCRDMA2_INVAL_HTYPE]	= "INVAL_HTYPE ",
		[RPCRDMA2_BAD_VERS]	= "BAD_VERS ",
	};
	enum rpcrdma2_verdict verdict;
	struct rpcrdma2_hdr hdr;

	memset(&hdr, 0xa5, sizeof(hdr));
	verdict = codec->decode(m.p, m.len, &hdr);
	text_len = 0;
	say("%s", verdicts[verdict]);
	if (verdict == RPCRDMA2_DROP)
		return text;
	say("%x v%u type %x credits %u", hdr.xid, hdr.vers, hdr.htype, hdr.credit);
	if (hdr.undirected)
		say(" undirected");
	if (verdict == RPCRDMA2_OK)
		say_good(&hdr, m.p);
	return text;
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
