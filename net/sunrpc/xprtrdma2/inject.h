/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Faults on demand, for tests. Nothing of it exists in kernels without
 * CONFIG_FAULT_INJECTION_DEBUG_FS. Any context.
 */
#ifndef _RPCRDMA2_INJECT_H
#define _RPCRDMA2_INJECT_H

#include <linux/types.h>

#ifdef CONFIG_FAULT_INJECTION_DEBUG_FS
void rpcrdma2_inject_init(void);
void rpcrdma2_inject_exit(void);
bool rpcrdma2_inject_post(bool posted);
#else
static inline void rpcrdma2_inject_init(void)
{
}

static inline void rpcrdma2_inject_exit(void)
{
}

static inline bool rpcrdma2_inject_post(bool posted)
{
	return false;
}
#endif

#endif /* _RPCRDMA2_INJECT_H */
