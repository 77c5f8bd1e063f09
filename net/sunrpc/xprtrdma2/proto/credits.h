/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Credits of one direction: the requester's window and the responder's
 * grant (CRED-*, D-17). One credit is one RPC transaction.
 *
 * Pure (see portable.h). The owner serialises calls on one object, and may read
 * @granted and @current_grant at any time.
 */
#ifndef _RPCRDMA2_CREDITS_H
#define _RPCRDMA2_CREDITS_H

#include "proto/portable.h"

/* Neither asked for nor granted: more would mean something else to a peer
 * that follows a later draft (CRED-19).
 */
#define RPCRDMA2_MAX_CREDITS		65535U

/**
 * struct rpcrdma2_window - requester's side
 * @asked: credits we ask for in every Call, never 0
 * @granted: last grant, at least 1, at most @asked
 * @inflight: Calls without a Reply, cancelled ones included
 */
struct rpcrdma2_window {
	u32			asked;
	u32			granted;
	u32			inflight;
};

void rpcrdma2_window_reset(struct rpcrdma2_window *w, u32 asked);
bool rpcrdma2_window_take(struct rpcrdma2_window *w);
void rpcrdma2_window_put(struct rpcrdma2_window *w);
void rpcrdma2_window_grant(struct rpcrdma2_window *w, u32 credit);
u32 rpcrdma2_window_due(const struct rpcrdma2_window *w);

/**
 * struct rpcrdma2_grant - responder's side
 * @limit: most we are ready to grant on this connection
 * @current_grant: what our messages grant now; never 0
 * @first: grant when the version is settled, and after a quiet time
 * @inflight: Calls received and not yet answered
 * @high: largest @inflight since @current_grant last changed
 * @quiet: few Calls have arrived for a while
 */
struct rpcrdma2_grant {
	u32			limit;
	u32			current_grant;
	u32			first;
	u32			inflight;
	u32			high;
	bool			quiet;
};

void rpcrdma2_grant_reset(struct rpcrdma2_grant *g, u32 initial, u32 limit);
u32 rpcrdma2_grant_first(struct rpcrdma2_grant *g, u32 first, u32 requested);
u32 rpcrdma2_grant_call(struct rpcrdma2_grant *g, u32 requested);
void rpcrdma2_grant_done(struct rpcrdma2_grant *g);
void rpcrdma2_grant_set(struct rpcrdma2_grant *g, u32 value);

#endif /* _RPCRDMA2_CREDITS_H */
