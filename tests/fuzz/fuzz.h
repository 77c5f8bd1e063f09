/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the fuzz targets share. A target is one file with one
 * LLVMFuzzerTestOneInput(); a property that does not hold is an abort().
 */
#ifndef _RPCRDMA2_FUZZ_H
#define _RPCRDMA2_FUZZ_H

#include <stdio.h>
#include <stdlib.h>

#include "../../net/sunrpc/xprtrdma2/proto/chunk_list.h"
#include "../../net/sunrpc/xprtrdma2/proto/cm_private.h"
#include "../../net/sunrpc/xprtrdma2/proto/props.h"
#include "../../net/sunrpc/xprtrdma2/proto/version.h"
#include "../../net/sunrpc/xprtrdma2/proto/wire.h"

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

#define CHECK(cond)							\
do {									\
	if (!(cond)) {							\
		fprintf(stderr, "%s:%d: does not hold: %s\n",		\
			__FILE__, __LINE__, #cond);			\
		abort();						\
	}								\
} while (0)

/* A copy in an allocation of exactly its size: over-reads are caught. */
static inline u8 *exact_copy(const void *data, size_t size)
{
	u8 *p = malloc(size);

	CHECK(p);
	if (size)
		memcpy(p, data, size);
	return p;
}

#endif /* _RPCRDMA2_FUZZ_H */
