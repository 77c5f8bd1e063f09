/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Changing transport properties while a connection lives: the messages
 * REQPROP, RESPROP and UPDPROP, and what one peer knows about requests and
 * announcements under way (CHG-*).
 *
 * The code uses property numbers and the rules of props_list.h only. It has
 * no case for a particular property.
 *
 * Pure (see portable.h). The owner serialises calls on one object.
 */
#ifndef _RPCRDMA2_PROP_CHANGE_H
#define _RPCRDMA2_PROP_CHANGE_H

#include "proto/props.h"
#include "proto/wire.h"

/* Entries of a REQPROP that we look at: their bits must fit into a RESPROP.
 * Those beyond are mentioned in none of its parts, so they are rejected.
 */
#define RPCRDMA2_CHANGE_WORDS		8U
#define RPCRDMA2_CHANGE_ENTRIES		(32U * RPCRDMA2_CHANGE_WORDS)

/* Longest bodies that we encode */
#define RPCRDMA2_RESPROP_MAX \
	(8U + 8U * RPCRDMA2_CHANGE_WORDS + RPCRDMA2_PROPS_MAX)

/**
 * enum rpcrdma2_change_result - result of our last request for a property
 * @RPCRDMA2_CHANGE_NEVER: no request was made
 * @RPCRDMA2_CHANGE_WAITING: queued or not answered yet
 * @RPCRDMA2_CHANGE_DONE: granted
 * @RPCRDMA2_CHANGE_OTHER: granted in part
 * @RPCRDMA2_CHANGE_REJECTED: rejected, or no answer will come
 */
enum rpcrdma2_change_result {
	RPCRDMA2_CHANGE_NEVER = 0,
	RPCRDMA2_CHANGE_WAITING,
	RPCRDMA2_CHANGE_DONE,
	RPCRDMA2_CHANGE_OTHER,
	RPCRDMA2_CHANGE_REJECTED,
};

/**
 * enum rpcrdma2_announcement - our last UPDPROP
 * @RPCRDMA2_ANN_NONE: none is under way; another may be sent
 * @RPCRDMA2_ANN_SENT: it may not have arrived yet
 * @RPCRDMA2_ANN_PROVING: the pending REQPROP was sent after that UPDPROP; its
 *	answer proves that the UPDPROP has arrived
 */
enum rpcrdma2_announcement {
	RPCRDMA2_ANN_NONE = 0,
	RPCRDMA2_ANN_SENT,
	RPCRDMA2_ANN_PROVING,
};

/**
 * struct rpcrdma2_change - changes under way on a connection
 * @on: both peers have announced that they support this
 * @pending: a REQPROP of ours waits for its RESPROP
 * @xid: of that REQPROP
 * @asked: properties in it
 * @asked_value: their values
 * @want: properties to ask for next
 * @rounds: requests to send even if nothing is wanted
 * @value: their values, also after the request was sent
 * @announcement: see enum rpcrdma2_announcement
 * @dirty: properties with a new value of ours that has not been announced; the owner
 *	adds to it when a value changes, for an UPDPROP (CHG-19)
 * @upd_xid: XID of the last UPDPROP
 * @result: result of the last request for each property
 */
struct rpcrdma2_change {
	bool				on;
	bool				pending;
	u32				xid;
	u32				asked;
	u32				asked_value[RPCRDMA2_NR_PROPS];
	u32				want;
	u32				rounds;
	u32				value[RPCRDMA2_NR_PROPS];
	enum rpcrdma2_announcement	announcement;
	u32				dirty;
	u32				upd_xid;
	enum rpcrdma2_change_result	result[RPCRDMA2_NR_PROPS];
};

/**
 * struct rpcrdma2_update - effect of a received UPDPROP
 * @changed: properties of the peer with a new value
 * @ignored: properties that the peer may not change
 * @unasked: properties that the peer may change on request only; the new
 *	value is obeyed
 */
struct rpcrdma2_update {
	u32				changed;
	u32				ignored;
	u32				unasked;
};

/* The header type is one of the extension (CHG-1, HT-6). */
static inline bool rpcrdma2_prop_change_type(u32 htype)
{
	return htype >= RDMA2_X_REQPROP && htype <= RDMA2_X_UPDPROP;
}

enum rpcrdma2_verdict rpcrdma2_prop_change_decode(const void *msg, u32 len,
						  struct rpcrdma2_hdr *hdr);

void rpcrdma2_prop_change_init(struct rpcrdma2_change *c,
			       const struct rpcrdma2_propset *mine,
			       const struct rpcrdma2_propset *peer);

/* As the side that asks */

int rpcrdma2_prop_change_ask(struct rpcrdma2_change *c,
			     const struct rpcrdma2_propset *peer,
			     enum rpcrdma2_prop prop, u32 value);
u32 rpcrdma2_prop_change_next(const struct rpcrdma2_change *c);
int rpcrdma2_prop_change_put_reqprop(struct rpcrdma2_change *c, u32 xid, void *buf,
				     u32 size);
int rpcrdma2_prop_change_put_updprop(struct rpcrdma2_change *c, u32 xid,
				     const struct rpcrdma2_propset *mine,
				     void *buf, u32 size);
u32 rpcrdma2_prop_change_limit(const struct rpcrdma2_change *c,
			       const struct rpcrdma2_propset *peer,
			       enum rpcrdma2_prop prop);
void rpcrdma2_prop_change_met(struct rpcrdma2_change *c,
			      const struct rpcrdma2_propset *peer,
			      enum rpcrdma2_prop prop);
bool rpcrdma2_prop_change_response(struct rpcrdma2_change *c,
				   const struct rpcrdma2_hdr *hdr,
				   struct rpcrdma2_propset *peer, bool *malformed);
bool rpcrdma2_prop_change_error(struct rpcrdma2_change *c,
				const struct rpcrdma2_propset *peer, u32 xid, u32 err);

/* As the side that is asked */

int rpcrdma2_prop_change_requested(const struct rpcrdma2_hdr *hdr,
				   struct rpcrdma2_propset *req);
int rpcrdma2_prop_change_put_resprop(struct rpcrdma2_change *c,
				     const struct rpcrdma2_propset *req,
				     u32 done, u32 other,
				     const struct rpcrdma2_propset *mine,
				     void *buf, u32 size);

int rpcrdma2_prop_change_update(const struct rpcrdma2_hdr *hdr,
				struct rpcrdma2_propset *peer,
				struct rpcrdma2_update *upd);

#endif /* _RPCRDMA2_PROP_CHANGE_H */
