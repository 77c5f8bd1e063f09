/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Keepalive; see keepalive.c. No other file looks into struct rpcrdma2_keepalive.
 */
#ifndef _RPCRDMA2_KEEPALIVE_H
#define _RPCRDMA2_KEEPALIVE_H

#include <rdma/ib_verbs.h>

struct rpcrdma2_conn;

/**
 * struct rpcrdma2_keepalive - keepalive of one connection
 * @cqe: completion of the probe
 * @probing: a probe is posted
 * @calls: number of Calls at the last check
 * @turns: turns until the next check
 * @silent: turns for which the probe was not answered
 */
struct rpcrdma2_keepalive {
	struct ib_cqe			cqe;
	atomic_t			probing;
	unsigned long			calls;
	u32				turns;
	u32				silent;
};

void rpcrdma2_keepalive_start(struct rpcrdma2_conn *conn);
void rpcrdma2_keepalive_check(struct rpcrdma2_conn *conn);
void rpcrdma2_keepalive_probe(struct rpcrdma2_conn *conn);
bool rpcrdma2_keepalive_probing(const struct rpcrdma2_conn *conn);

#endif /* _RPCRDMA2_KEEPALIVE_H */
