/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Stands in for proto/portable.h in the copies that are proved: the same
 * names, in C that Frama-C's WP reads well.
 */
#ifndef _RPCRDMA2_PORTABLE_H
#define _RPCRDMA2_PORTABLE_H

#include "kernel.h"

/*
 * A received message does not change: the word at an address is a function
 * of the address alone. Validity of that address is to be proved.
 */
/*@ axiomatic Message {
      logic integer word(u8 *p);
      axiom word_range: \forall u8 *p; 0 <= word(p) <= 0xffffffff;
    }

    // Bytes of the n entries of a Write list that begins at p
    axiomatic Extent {
      logic integer extent(u8 *p, integer n);
      axiom extent_positive: \forall u8 *p, integer n; 0 <= extent(p, n);
    }
 */

/*
 * The definition of extent(), for a place where it is needed. (As an axiom for all
 * of them it would keep the prover busy for ever.)
 */
/*@ ghost
    /@ assigns \nothing;
       ensures \forall integer n; n <= 0 ==> extent(p, n) == 0;
       ensures \forall integer n; n > 0 ==>
         extent(p, n) == 8 + 16 * word(p + 4) +
         extent(p + (8 + 16 * word(p + 4)), n - 1);
     @/
    void extent_from(const u8 *p);
 */

/*@ predicate bytes(u8 *p, integer n) = \valid_read(p + (0 .. n - 1));
    predicate rest(u8 *p, integer left, u8 *msg, integer len) =
      0 <= left <= len <= 0x7fffffff && bytes(msg, len) && p == msg + (len - left);
    predicate room(u8 *p, integer left) = 0 <= left && \valid(p + (0 .. left - 1));
 */

/*
 * Predicates get values, not addresses of structures: so the prover sees at once
 * which of them an assignment leaves as they are.
 */
#define READER(r)	(\valid(r) && rest((r)->p, (r)->left, (r)->msg, (r)->len))
#define WRITER(w)	(\valid(w) && room((w)->p, (w)->left))
#define READ_LIST(h)	bytes((h)->read_list, 24 * (h)->read_segs)
#define WRITE_LIST(h)	((h)->write_chunks > 0 ==> bytes((h)->write_list,	\
			 extent((h)->write_list, (h)->write_chunks)))
#define REPLY_CHUNK(h)	((h)->reply_chunk != \null ==>			\
			 bytes((h)->reply_chunk, 4 + 16 * word((h)->reply_chunk)))
#define LISTS(h)	(READ_LIST(h) && WRITE_LIST(h) && REPLY_CHUNK(h))
#define NO_LISTS(h)	((h)->read_segs == 0 && (h)->write_chunks == 0 &&	\
			 (h)->reply_chunk == \null)
#define READS(c)	bytes((c)->p, 24 * (c)->left)
#define WRITES(c)	((c)->left > 0 ==> bytes((c)->p, extent((c)->p, (c)->left)))
#define SEGS(c)		bytes((c)->p, 16 * (c)->left)
#define BODY(h)		bytes((h)->body, (h)->body_len)
/* What decoding leaves in a header points into the message. */
#define LISTS_FROM(h, m)							\
	(((h)->read_segs > 0 ==> \base_addr((h)->read_list) == \base_addr(m)) &&	\
	 ((h)->write_chunks > 0 ==> \base_addr((h)->write_list) == \base_addr(m)) && \
	 ((h)->reply_chunk != \null ==> \base_addr((h)->reply_chunk) == \base_addr(m)))
#define BODY_FROM(h, m)	(\base_addr((h)->body) == \base_addr(m))
#define NOCHG(w)	((w)->nochg_words <= 0x1fffffff &&			\
			 bytes((w)->nochg, 4 * (w)->nochg_words))
#define CHUNK(c)	((c) != \null ==> \valid_read(c) && (c)->nsegs <= 16)
#define THERE(c)	((c) != \null ==> \valid_read(c))
#define CALL(c)		(THERE((c)->pz) && THERE((c)->read) &&			\
			 THERE((c)->write) && THERE((c)->reply))
#define CALL_OK(c)	(CHUNK((c)->pz) && CHUNK((c)->read) &&			\
			 CHUNK((c)->write) && CHUNK((c)->reply))
#define WRITTEN(r)	\valid_read((r)->written + (0 .. (r)->nwritten - 1))
#define REPLY(r)	(\valid_read((r)->call) && LISTS((r)->call) && WRITTEN(r))
/* The end of a buffer stays where it is. */
#define SINCE(w)	((w)->left <= \at((w)->left, Pre) &&			\
			 (w)->p + (w)->left == \at((w)->p + (w)->left, Pre))
#define MOVED(w)	((w)->p + (w)->left == \old((w)->p + (w)->left))
/* What each function does that writes something */
#define PUTS(w)									\
	assigns (w)->p, (w)->left, (w)->overflow, (w)->p[0 .. (w)->left - 1];	\
	ensures WRITER(w); ensures (w)->left <= \old((w)->left); ensures MOVED(w);

/*@ requires bytes(p, 4);
    assigns \nothing;
    ensures \result == word(p);
 */
u32 get_unaligned_be32(const u8 *p);

/*@ requires bytes(p, 8);
    assigns \nothing;
 */
u64 get_unaligned_be64(const u8 *p);

/*@ requires \valid(p + (0 .. 3));
    assigns p[0 .. 3];
 */
void put_unaligned_be32(u32 v, u8 *p);

/*@ requires \valid(p + (0 .. 7));
    assigns p[0 .. 7];
 */
void put_unaligned_be64(u64 v, u8 *p);

/*@ requires bytes(from, n) && \valid(to + (0 .. n - 1));
    requires \separated(to + (0 .. n - 1), from + (0 .. n - 1));
    assigns to[0 .. n - 1];
 */
void memcpy(u8 *to, const u8 *from, unsigned long n);

/* For objects only, to make all of them zero */
#define memset(p, c, n)		(*(p) = (__typeof__(*(p))){ 0 })

#define ARRAY_SIZE(a)		(sizeof(a) / sizeof((a)[0]))
#define min3(a, b, c)		min(min(a, b), c)
#define clamp_t(t, v, lo, hi)	((t)(v) < (t)(lo) ? (t)(lo) :		\
				 (t)(v) > (t)(hi) ? (t)(hi) : (t)(v))
#define static_assert(...)	struct prove_static_assert

#endif /* _RPCRDMA2_PORTABLE_H */
