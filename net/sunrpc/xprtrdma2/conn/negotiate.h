/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Negotiation of the version; see negotiate.c. No other file looks into
 * struct rpcrdma2_conn_ver.
 */
#ifndef _RPCRDMA2_NEGOTIATE_H
#define _RPCRDMA2_NEGOTIATE_H

#include "proto/version.h"
#include "proto/wire.h"

struct rpcrdma2_conn;
struct rpcrdma2_recv;

/**
 * struct rpcrdma2_conn_ver - the version of one connection
 * @policy: versions allowed
 * @neg: client: negotiation; protected by the connection's state_lock
 * @proved: a valid message arrived after the version was settled; always true on a
 *	server, where such a message settles the version
 */
struct rpcrdma2_conn_ver {
	struct rpcrdma2_ver_policy	policy;
	struct rpcrdma2_neg		neg;
	bool				proved;
};

/* A valid message has arrived since the version was settled. */
static inline bool rpcrdma2_ver_proved(const struct rpcrdma2_conn_ver *ver)
{
	return ver->proved;
}

void rpcrdma2_ver_setup(struct rpcrdma2_conn *conn);
int rpcrdma2_ver_offer(struct rpcrdma2_conn *conn);
int rpcrdma2_ver_ended(struct rpcrdma2_conn *conn, const struct sockaddr *dst, int err);
void rpcrdma2_ver_lost(struct rpcrdma2_conn *conn);
bool rpcrdma2_ver_refused(struct rpcrdma2_conn *conn, const struct rpcrdma2_hdr *error);
bool rpcrdma2_ver_message(struct rpcrdma2_conn *conn, struct rpcrdma2_recv *rx,
			  enum rpcrdma2_verdict *verdict);
void rpcrdma2_ver_works(struct rpcrdma2_conn *conn);
bool rpcrdma2_ver_outdated(struct rpcrdma2_conn *conn);
int rpcrdma2_ver_relearn(struct rpcrdma2_conn *conn);

#endif /* _RPCRDMA2_NEGOTIATE_H */
