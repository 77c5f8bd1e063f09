/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Faults on demand, for tests. Nothing of it exists in kernels without
 * CONFIG_FAULT_INJECTION_DEBUG_FS. Any context.
 */
#ifndef _RPCRDMA2_INJECT_H
#define _RPCRDMA2_INJECT_H

#include <linux/types.h>

/**
 * enum rpcrdma2_inject_map - memory that is given to the device
 * @RPCRDMA2_MAP_RECV: Receives
 * @RPCRDMA2_MAP_SEND: send slots
 * @RPCRDMA2_MAP_MR: what an RPC registers
 */
enum rpcrdma2_inject_map {
	RPCRDMA2_MAP_RECV	= 1,
	RPCRDMA2_MAP_SEND	= 2,
	RPCRDMA2_MAP_MR		= 4,
};

/**
 * enum rpcrdma2_inject_refuse - what a device makes for a connection
 * @RPCRDMA2_REFUSE_PD: protection domains
 * @RPCRDMA2_REFUSE_CQ: completion queues
 * @RPCRDMA2_REFUSE_QP: queue pairs
 */
enum rpcrdma2_inject_refuse {
	RPCRDMA2_REFUSE_PD	= 1,
	RPCRDMA2_REFUSE_CQ	= 2,
	RPCRDMA2_REFUSE_QP	= 4,
};

#ifdef CONFIG_FAULT_INJECTION_DEBUG_FS
void rpcrdma2_inject_init(void);
void rpcrdma2_inject_exit(void);
bool rpcrdma2_inject_post(bool posted);
bool rpcrdma2_inject_map(enum rpcrdma2_inject_map what);
bool rpcrdma2_inject_room(void);
u32 rpcrdma2_inject_max_qp_wr(void);
u32 rpcrdma2_inject_max_cqe(void);
void *rpcrdma2_inject_refuse(enum rpcrdma2_inject_refuse what);
int rpcrdma2_inject_accept(void);
bool rpcrdma2_inject_sleep(void);
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

static inline u32 rpcrdma2_inject_max_qp_wr(void)
{
	return 0;
}

static inline u32 rpcrdma2_inject_max_cqe(void)
{
	return 0;
}

static inline bool rpcrdma2_inject_map(enum rpcrdma2_inject_map what)
{
	return false;
}

static inline bool rpcrdma2_inject_room(void)
{
	return false;
}

static inline void *rpcrdma2_inject_refuse(enum rpcrdma2_inject_refuse what)
{
	return NULL;
}

static inline int rpcrdma2_inject_accept(void)
{
	return 0;
}

static inline bool rpcrdma2_inject_sleep(void)
{
	return false;
}
#endif

#endif /* _RPCRDMA2_INJECT_H */
