/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which version a connection speaks: the client's negotiation, the server's
 * choice, and what a client transport remembers from one connection to the
 * next (VER-13..17).
 *
 * Pure (see portable.h); times are in seconds of any monotonic clock. The
 * owner serialises calls on one object.
 */
#ifndef _RPCRDMA2_VERSION_H
#define _RPCRDMA2_VERSION_H

#include "proto/wire.h"

/**
 * enum rpcrdma2_why - why a connection speaks the version it speaks
 * @RPCRDMA2_WHY_NONE: not settled yet
 * @RPCRDMA2_WHY_CONNPROP: v2: CONNPROP answered
 * @RPCRDMA2_WHY_CALL: server: settled by a first Call
 * @RPCRDMA2_WHY_ERR_VERS: v1: peer answered ERR_VERS
 * @RPCRDMA2_WHY_OTHER_ERROR: v1: peer answered another ERROR
 * @RPCRDMA2_WHY_SILENCE: v1: no answer in time
 * @RPCRDMA2_WHY_LOST: v1: connection lost, twice
 * @RPCRDMA2_WHY_ERR_VERS_LOST: v1: ERR_VERS, then loss
 * @RPCRDMA2_WHY_REMEMBERED: v1: remembered from before
 * @RPCRDMA2_WHY_ADMIN: set by the administrator
 * @RPCRDMA2_WHY_NO_COMMON: failed: no version in common
 * @RPCRDMA2_WHY_REQUIRED: failed: v2 required, peer is v1
 * @RPCRDMA2_WHY_PEER_ERROR: failed: the peer does not conform
 * @RPCRDMA2_WHY_REPLY: v2: CONNPROP ignored, a Call answered
 * @RPCRDMA2_NR_WHY: how many there are
 *
 * Numeric reasons are counted, traced and shown per connection; never
 * renumber them.
 */
enum rpcrdma2_why {
	RPCRDMA2_WHY_NONE = 0,
	RPCRDMA2_WHY_CONNPROP,
	RPCRDMA2_WHY_CALL,
	RPCRDMA2_WHY_ERR_VERS,
	RPCRDMA2_WHY_OTHER_ERROR,
	RPCRDMA2_WHY_SILENCE,
	RPCRDMA2_WHY_LOST,
	RPCRDMA2_WHY_ERR_VERS_LOST,
	RPCRDMA2_WHY_REMEMBERED,
	RPCRDMA2_WHY_ADMIN,
	RPCRDMA2_WHY_NO_COMMON,
	RPCRDMA2_WHY_REQUIRED,
	RPCRDMA2_WHY_PEER_ERROR,
	RPCRDMA2_WHY_REPLY,
	RPCRDMA2_NR_WHY,
};

const char *rpcrdma2_neg_why_name(enum rpcrdma2_why why);

/**
 * struct rpcrdma2_ver_policy - what the administrator allows
 * @v1: version 1 may be spoken
 * @v2: version 2 may be spoken
 * @remember_min: how long to remember at first that a server does not answer,
 *	seconds
 * @remember_max: the time doubles up to this, seconds
 */
struct rpcrdma2_ver_policy {
	bool			v1;
	bool			v2;
	u32			remember_min;
	u32			remember_max;
};

/**
 * enum rpcrdma2_begin - how a connection begins
 * @RPCRDMA2_BEGIN_CONNPROP: with a CONNPROP
 * @RPCRDMA2_BEGIN_CALL: with a version 2 Call, which a server has to answer even
 *	if it ignores CONNPROP (VER-14)
 * @RPCRDMA2_BEGIN_V1: with version 1
 */
enum rpcrdma2_begin {
	RPCRDMA2_BEGIN_CONNPROP = 0,
	RPCRDMA2_BEGIN_CALL,
	RPCRDMA2_BEGIN_V1,
};

/**
 * struct rpcrdma2_ver_memory - memory of a transport about its server
 * @begin: how connections begin
 * @until: until this time; 0 = nothing remembered
 * @next: the next connection begins like that at any time
 * @span: last time of remembering, seconds
 * @why: the reason
 * @losses: connections lost in a row before any answer
 *
 * All zero means that nothing is remembered.
 */
struct rpcrdma2_ver_memory {
	enum rpcrdma2_begin	begin;
	u64			until;
	bool			next;
	u32			span;
	enum rpcrdma2_why	why;
	u32			losses;
};

/* Before the version is settled: WAIT for the answer to a CONNPROP,
 * WAIT_REPLY for that to a Call.
 */
enum rpcrdma2_neg_state {
	RPCRDMA2_NEG_START = 0,
	RPCRDMA2_NEG_WAIT,
	RPCRDMA2_NEG_WAIT_REPLY,
	RPCRDMA2_NEG_V1,
	RPCRDMA2_NEG_V2,
	RPCRDMA2_NEG_FAILED,
};

/**
 * enum rpcrdma2_neg_action - what the connection does next
 * @RPCRDMA2_DO_NOTHING: drop the event
 * @RPCRDMA2_DO_SEND_CONNPROP: send the first message, start the timer
 * @RPCRDMA2_DO_SEND_CALL: the same with a NULL Call of version 2
 * @RPCRDMA2_DO_SETTLE: the version is settled (v1 or v2, see the state)
 * @RPCRDMA2_DO_RECONNECT: close this connection and connect again, inside
 *	the same connect attempt
 * @RPCRDMA2_DO_FAIL: close, end the attempt with -EPROTO
 * @RPCRDMA2_DO_BAD_XDR: answer BAD_XDR to @hdr with the v2 codec and go on
 *	waiting: the peer's CONNPROP cannot be decoded (ERR-1)
 */
enum rpcrdma2_neg_action {
	RPCRDMA2_DO_NOTHING = 0,
	RPCRDMA2_DO_SEND_CONNPROP,
	RPCRDMA2_DO_SEND_CALL,
	RPCRDMA2_DO_SETTLE,
	RPCRDMA2_DO_RECONNECT,
	RPCRDMA2_DO_FAIL,
	RPCRDMA2_DO_BAD_XDR,
};

/**
 * struct rpcrdma2_neg - client's negotiation on one connection
 * @policy: what is allowed
 * @mem: the transport's memory, changed by events
 * @state: where we are
 * @why: why, once settled or failed
 * @xid: XID of our first message
 * @saw_err_vers: ERR_VERS was accepted, nothing valid came since
 */
struct rpcrdma2_neg {
	const struct rpcrdma2_ver_policy *policy;
	struct rpcrdma2_ver_memory	*mem;
	enum rpcrdma2_neg_state		state;
	enum rpcrdma2_why		why;
	u32				xid;
	bool				saw_err_vers;
};

enum rpcrdma2_neg_action
rpcrdma2_neg_connected(struct rpcrdma2_neg *n, const struct rpcrdma2_ver_policy *policy,
		       struct rpcrdma2_ver_memory *mem, u32 xid, u64 now);
enum rpcrdma2_neg_action rpcrdma2_neg_message(struct rpcrdma2_neg *n,
					      const void *msg, u32 len,
					      struct rpcrdma2_hdr *hdr,
					      u64 now);
enum rpcrdma2_neg_action rpcrdma2_neg_timeout(struct rpcrdma2_neg *n, u64 now);
enum rpcrdma2_neg_action rpcrdma2_neg_lost(struct rpcrdma2_neg *n, u64 now);
bool rpcrdma2_neg_refused(struct rpcrdma2_neg *n, const struct rpcrdma2_hdr *error,
			  u64 now);
bool rpcrdma2_neg_outdated(const struct rpcrdma2_neg *n, u64 now);
void rpcrdma2_neg_proved(struct rpcrdma2_neg *n);
void rpcrdma2_neg_forget(struct rpcrdma2_ver_memory *mem);

/**
 * enum rpcrdma2_srv_action - what the server does with a message
 * @RPCRDMA2_SRV_PASS: process it with the settled codec
 * @RPCRDMA2_SRV_SETTLE: settle the version of the message, then process it
 * @RPCRDMA2_SRV_DROP: drop
 * @RPCRDMA2_SRV_ERR_VERS: answer ERR_VERS, stay open
 * @RPCRDMA2_SRV_ERR_VERS_CLOSE: the same, then close
 * @RPCRDMA2_SRV_CLOSE: close without an answer: a message of another
 *	version that cannot be a Call (HDR-12)
 */
enum rpcrdma2_srv_action {
	RPCRDMA2_SRV_PASS = 0,
	RPCRDMA2_SRV_SETTLE,
	RPCRDMA2_SRV_DROP,
	RPCRDMA2_SRV_ERR_VERS,
	RPCRDMA2_SRV_ERR_VERS_CLOSE,
	RPCRDMA2_SRV_CLOSE,
};

enum rpcrdma2_srv_action
rpcrdma2_srv_ver_message(const struct rpcrdma2_ver_policy *policy,
			 const struct rpcrdma2_codec *codec, const void *msg, u32 len,
			 struct rpcrdma2_hdr *hdr, enum rpcrdma2_verdict *verdict);

bool rpcrdma2_neg_other_draft(const void *msg, u32 len);

#endif /* _RPCRDMA2_VERSION_H */
