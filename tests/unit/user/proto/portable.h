/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Stands in for proto/portable.h of the module in programs of user space: the same names,
 * by the C library. The directory above this one is in front of the module's in the path
 * of includes.
 */
#ifndef _RPCRDMA2_PORTABLE_H
#define _RPCRDMA2_PORTABLE_H

#include <assert.h>
#include <endian.h>
#include <errno.h>
#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

typedef __u8 u8;
typedef __u16 u16;
typedef __u32 u32;
typedef __u64 u64;
typedef __s64 s64;

static inline u32 get_unaligned_be32(const void *p)
{
	u32 v;

	memcpy(&v, p, sizeof(v));
	return be32toh(v);
}

static inline u64 get_unaligned_be64(const void *p)
{
	u64 v;

	memcpy(&v, p, sizeof(v));
	return be64toh(v);
}

static inline void put_unaligned_be32(u32 v, void *p)
{
	v = htobe32(v);
	memcpy(p, &v, sizeof(v));
}

static inline void put_unaligned_be64(u64 v, void *p)
{
	v = htobe64(v);
	memcpy(p, &v, sizeof(v));
}

#define BIT(n)			(1UL << (n))
#define ARRAY_SIZE(a)		(sizeof(a) / sizeof((a)[0]))
#define min_t(t, a, b)		({ t _a = (a), _b = (b); _a < _b ? _a : _b; })
#define max_t(t, a, b)		({ t _a = (a), _b = (b); _a > _b ? _a : _b; })
#define min(a, b)		min_t(__typeof__(a), a, b)
#define max(a, b)		max_t(__typeof__(a), a, b)
#define min3(a, b, c)		min(min(a, b), c)
#define clamp_t(t, v, lo, hi)	({					\
	t _v = (v), _lo = (lo), _hi = (hi);				\
									\
	_v < _lo ? _lo : _v > _hi ? _hi : _v;				\
})
#define fallthrough		__attribute__((__fallthrough__))
#define noinline_for_stack	__attribute__((__noinline__))
#define WRITE_ONCE(x, v)	__atomic_store_n(&(x), v, __ATOMIC_RELAXED)

#endif /* _RPCRDMA2_PORTABLE_H */
