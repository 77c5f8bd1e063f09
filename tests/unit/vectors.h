/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The golden vectors, for programs in user space other than the unit tests.
 */
#ifndef _RPCRDMA2_VECTORS_H
#define _RPCRDMA2_VECTORS_H

static const struct {
	const char	*name;
	u32		nwords;
	const u32	*words;
} vectors[] = {
#define VECTOR(id, ...)							\
	{ #id, sizeof((const u32[]){ __VA_ARGS__ }) / 4,		\
	  (const u32[]){ __VA_ARGS__ } },
#include "vectors.inc"
#undef VECTOR
};

#endif /* _RPCRDMA2_VECTORS_H */
