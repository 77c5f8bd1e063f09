/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Fault injection for tests; see inject.c. Nothing remains of this in kernels without
 * CONFIG_FAULT_INJECTION_DEBUG_FS: inject.c is not built, and the compiler removes the calls.
 */
#ifndef _RPCRDMA2_INJECT_H
#define _RPCRDMA2_INJECT_H

#include <linux/err.h>
#include <linux/types.h>

/**
 * enum rpcrdma2_fault - faults; the first two are bits of the file "what"
 * @RPCRDMA2_FAULT_MAP_RECV: the buffer of a Receive cannot be mapped
 * @RPCRDMA2_FAULT_MAP_MR: memory that an RPC registers cannot be mapped
 * @RPCRDMA2_FAULT_POST: the device refuses a work request
 * @RPCRDMA2_FAULT_CONTROL: no send slot is free for a control message
 */
enum rpcrdma2_fault {
	RPCRDMA2_FAULT_MAP_RECV	= 1,
	RPCRDMA2_FAULT_MAP_MR	= 4,
	RPCRDMA2_FAULT_POST,
	RPCRDMA2_FAULT_CONTROL,
};

/**
 * struct rpcrdma2_pretence - values that replace those of a device or peer unless 0, and
 *	other faults that are not counted
 * @max_qp_wr: entries of the longest send or receive queue
 * @max_cqe: entries of the longest completion queue
 * @refuse: a sum of enum rpcrdma2_refusal
 * @accept_ms: milliseconds after which accepting a connection fails
 * @p2pdma: every page of a payload is memory of a PCI device
 * @late: the device has taken the work requests when it refuses one
 * @sleep: completion handlers call a function that may sleep
 * @idle: a service thread is idle, and is woken to poll
 * @full: a service thread polls until the timer that watches over it expires, and leaves
 *	completions behind
 */
struct rpcrdma2_pretence {
	u32				max_qp_wr;
	u32				max_cqe;
	u32				refuse;
	u32				accept_ms;
	u32				p2pdma;
	bool				late;
	bool				sleep;
	bool				idle;
	bool				full;
};

/**
 * enum rpcrdma2_refusal - objects that a device refuses to create
 * @RPCRDMA2_REFUSE_PD: protection domains
 * @RPCRDMA2_REFUSE_CQ: completion queues
 * @RPCRDMA2_REFUSE_QP: queue pairs
 */
enum rpcrdma2_refusal {
	RPCRDMA2_REFUSE_PD	= 1,
	RPCRDMA2_REFUSE_CQ	= 2,
	RPCRDMA2_REFUSE_QP	= 4,
};

#define RPCRDMA2_INJECTS	IS_ENABLED(CONFIG_FAULT_INJECTION_DEBUG_FS)

extern struct rpcrdma2_pretence rpcrdma2_pretence;

void rpcrdma2_inject_init(void);
void rpcrdma2_inject_exit(void);
bool rpcrdma2_inject_ask(enum rpcrdma2_fault fault);

/* True if @fault is to happen now */
static inline bool rpcrdma2_inject(enum rpcrdma2_fault fault)
{
	return RPCRDMA2_INJECTS && rpcrdma2_inject_ask(fault);
}

#define rpcrdma2_pretend(field)						\
	(RPCRDMA2_INJECTS ? READ_ONCE(rpcrdma2_pretence.field) : 0U)

/* NULL, or the error of a device that refuses to create @what */
static inline void *rpcrdma2_inject_refuse(enum rpcrdma2_refusal what)
{
	return rpcrdma2_pretend(refuse) & what ?
	       ERR_PTR(-EOPNOTSUPP) : NULL;
}

#endif /* _RPCRDMA2_INJECT_H */
