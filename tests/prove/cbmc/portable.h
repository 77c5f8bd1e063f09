/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Stands in for proto/portable.h in what CBMC reads: the same names, and a memory for
 * messages that is made of words, which CBMC treats much faster than bytes. All accesses are
 * at multiples of 4; that, and their bounds, are assertions.
 */
#ifndef _RPCRDMA2_PORTABLE_H
#define _RPCRDMA2_PORTABLE_H

#include <string.h>

#include "kernel.h"

#define min_t(t, a, b)		min((t)(a), (t)(b))
#define max_t(t, a, b)		max((t)(a), (t)(b))
#define static_assert		_Static_assert

#define assert(what)		__CPROVER_assert(what, #what)
#define assume(what)		__CPROVER_assume(what)
#define equal(a, b)		__CPROVER_equal(a, b)

/* The address of word i is room + 4 * i. A message is in front, an answer behind it. */
static u8 room[4 * WORDS];
static u32 words[WORDS];
static u32 readable, writable;	/* bytes, from the first word on */
static u32 answer;		/* the byte at which the answer begins */

static u32 word_at(const void *p, u32 bytes, u32 first, u32 end)
{
	u32 at = __CPROVER_POINTER_OFFSET(p);

	assert(__CPROVER_same_object(p, room) && at % 4 == 0);
	assert(at >= first && at + bytes <= end);
	return at / 4;
}

static u32 get_unaligned_be32(const void *p)
{
	return words[word_at(p, 4, 0, readable)];
}

static u64 get_unaligned_be64(const void *p)
{
	u32 i = word_at(p, 8, 0, readable);

	return (u64)words[i] << 32 | words[i + 1];
}

static void put_unaligned_be32(u32 v, void *p)
{
	words[word_at(p, 4, answer, writable)] = v;
}

static void put_unaligned_be64(u64 v, void *p)
{
	u32 i = word_at(p, 8, answer, writable);

	words[i] = (u32)(v >> 32);
	words[i + 1] = (u32)v;
}

u32 nondet_u32(void);
u64 nondet_u64(void);
bool nondet_bool(void);

/* Any message of at most @most bytes; returns its length. */
static u32 any_message(u32 most)
{
	__CPROVER_havoc_object(words);
	readable = nondet_u32();
	assume(readable <= most);
	return readable;
}

#endif /* _RPCRDMA2_PORTABLE_H */
