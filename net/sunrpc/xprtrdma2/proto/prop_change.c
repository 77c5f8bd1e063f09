// SPDX-License-Identifier: GPL-2.0
/*
 * Changing transport properties: the codec of REQPROP, RESPROP and UPDPROP,
 * and the state of requests and announcements under way.
 *
 * Every function here is pure: no kernel service, no lock, no allocation,
 * any context. Work is linear in the bytes received. The owner serialises
 * the calls on one object.
 */

#include "proto/prop_change.h"
#include "proto/wire_impl.h"

/* The longest message of each type fits into a Send for control messages. */
static_assert(RPCRDMA2_PREFIX + RPCRDMA2_RESPROP_MAX <=
	      RPCRDMA2_FIRST_MSG_MAX, "RESPROP is too long");

/* Messages */

/**
 * rpcrdma2_prop_change_decode - decode the header of one of the three types
 * @msg: received message
 * @len: bytes received
 * @hdr: filled as far as @msg can be decoded
 *
 * Context: any. Requirements: CHG-1, CHG-29, FLG-3, FLG-7, FLG-11.
 * Return: as struct rpcrdma2_codec.decode
 */
enum rpcrdma2_verdict rpcrdma2_prop_change_decode(const void *msg, u32 len,
						  struct rpcrdma2_hdr *hdr)
{
	enum rpcrdma2_verdict verdict;
	struct rpcrdma2_reader r;
	u32 flags;

	verdict = rpcrdma2_wire_v2_prefix(&r, msg, len, hdr, &flags);
	if (verdict != RPCRDMA2_OK)
		return verdict;
	if (!rpcrdma2_prop_change_type(hdr->htype))
		return rpcrdma2_hdr_fault(hdr, RPCRDMA2_INVAL_HTYPE);
	if (flags != (hdr->htype == RDMA2_X_RESPROP ? RPCRDMA2_F_RESPONSE : 0))
		return rpcrdma2_hdr_fault(hdr, RPCRDMA2_BAD_XDR);
	rpcrdma2_rd_body(&r, hdr);
	return RPCRDMA2_OK;
}

/* A received subset */
struct subset {
	const u8	*words;
	u32		nwords;
};

static bool get_subset(struct rpcrdma2_reader *r, struct subset *s)
{
	if (!rpcrdma2_rd_u32(r, &s->nwords) || s->nwords > r->left / 4)
		return false;
	s->words = r->p;
	return rpcrdma2_rd_skip(r, s->nwords * 4);
}

static bool in_subset(const struct subset *s, u32 entry)
{
	return rpcrdma2_propset_subset_has(s->words, s->nwords, entry);
}

/* Words up to the last that is not zero (CHG-14) */
static void put_subset(struct rpcrdma2_writer *w,
		       const u32 words[RPCRDMA2_CHANGE_WORDS])
{
	u32 i, n = RPCRDMA2_CHANGE_WORDS;

	while (n && !words[n - 1])
		n--;
	rpcrdma2_wr_u32(w, n);
	for (i = 0; i < n; i++)
		rpcrdma2_wr_u32(w, words[i]);
}

/* The properties in @mask, with the values of @values. */
static int put_set(u32 mask, const u32 values[RPCRDMA2_NR_PROPS], void *buf,
		   u32 size)
{
	struct rpcrdma2_propset set;

	rpcrdma2_propset_init(&set);
	memcpy(set.val, values, sizeof(set.val));
	set.listed = mask;
	return rpcrdma2_propset_encode(&set, buf, size);
}

/* The side that asks */

/**
 * rpcrdma2_prop_change_init - both peers' properties are known
 * @c: changes
 * @mine: what we have announced
 * @peer: what the peer has announced
 *
 * Context: any. Requirements: CHG-3, CONN-14, PROP-20, EXT-8, HT-8.
 */
void rpcrdma2_prop_change_init(struct rpcrdma2_change *c,
			       const struct rpcrdma2_propset *mine,
			       const struct rpcrdma2_propset *peer)
{
	memset(c, 0, sizeof(*c));
	c->on = mine->x_change && peer->x_change;
}

/**
 * rpcrdma2_prop_change_ask - ask the peer to change one of its values
 * @c: changes
 * @peer: its properties
 * @prop: which
 * @value: value wanted
 *
 * The request is sent as soon as possible and replaces an earlier one that
 * has not been sent.
 *
 * Context: any. Requirements: CHG-3, CHG-5, CHG-17, CONN-6.
 * Return: 0, -EOPNOTSUPP: this peer rejects every change, -EPERM: this one
 */
int rpcrdma2_prop_change_ask(struct rpcrdma2_change *c,
			     const struct rpcrdma2_propset *peer,
			     enum rpcrdma2_prop prop, u32 value)
{
	if (!c->on)
		return -EOPNOTSUPP;
	if ((u32)prop >= RPCRDMA2_NR_PROPS)
		return -EINVAL;
	if (!(peer->listed & ~peer->nochg & BIT(prop)))
		return -EPERM;
	c->want |= BIT(prop);
	c->value[prop] = value;
	c->result[prop] = RPCRDMA2_CHANGE_WAITING;
	return 0;
}

static bool is_limit(enum rpcrdma2_prop prop)
{
	return rpcrdma2_propset_with(RPCRDMA2_CHG_LIMIT) & BIT(prop);
}

/**
 * rpcrdma2_prop_change_next - which message to send now
 * @c: changes
 *
 * A request is sent when the previous one has been answered. An announcement
 * is sent when the previous one is known to have arrived: the answer to any
 * later request proves that. Both may be under way at the same time.
 *
 * Context: any. Requirements: CHG-3, CHG-17, CHG-21, CHG-31, D-32.
 * Return: the header type of the message, 0 for none.
 */
u32 rpcrdma2_prop_change_next(const struct rpcrdma2_change *c)
{
	if (!c->on)
		return 0;
	if (c->dirty && c->announcement == RPCRDMA2_ANN_NONE)
		return RDMA2_X_UPDPROP;
	if (!c->pending &&
	    (c->want || c->rounds || c->announcement == RPCRDMA2_ANN_SENT))
		return RDMA2_X_REQPROP;
	return 0;
}

/**
 * rpcrdma2_prop_change_put_reqprop - write the body of a REQPROP
 * @c: changes; the request counts as sent
 * @xid: its XID, no other message's that may be answered
 * @buf: where to write
 * @size: bytes at @buf; RPCRDMA2_PROPS_MAX suffice
 *
 * Context: any. Requirements: CHG-4, CHG-17, CHG-21, CHG-26, CHG-31.
 * Return: bytes, -EMSGSIZE, or -EBUSY if one is pending
 */
int rpcrdma2_prop_change_put_reqprop(struct rpcrdma2_change *c, u32 xid, void *buf,
				     u32 size)
{
	int ret;

	if (!c->on || c->pending)
		return -EBUSY;
	ret = put_set(c->want, c->value, buf, size);
	if (ret < 0)
		return ret;
	c->pending = true;
	c->xid = xid;
	if (c->announcement == RPCRDMA2_ANN_SENT)
		c->announcement = RPCRDMA2_ANN_PROVING;
	c->asked = c->want;
	memcpy(c->asked_value, c->value, sizeof(c->asked_value));
	c->want = 0;
	if (c->rounds)
		c->rounds--;
	return ret;
}

/**
 * rpcrdma2_prop_change_put_updprop - write the body of an UPDPROP
 * @c: changes; the announcement counts as sent
 * @xid: its XID
 * @mine: our properties, as they are in force
 * @buf: where to write
 * @size: bytes at @buf; RPCRDMA2_PROPS_MAX suffice
 *
 * Context: any. Requirements: CHG-19, CHG-21.
 * Return: bytes, -EMSGSIZE, or -EBUSY if another may not have arrived
 */
int rpcrdma2_prop_change_put_updprop(struct rpcrdma2_change *c, u32 xid,
				     const struct rpcrdma2_propset *mine,
				     void *buf, u32 size)
{
	int ret;

	if (!c->on || c->announcement != RPCRDMA2_ANN_NONE)
		return -EBUSY;
	ret = put_set(c->dirty, mine->val, buf, size);
	if (ret >= 0) {
		c->dirty = 0;
		c->announcement = RPCRDMA2_ANN_SENT;
		c->upd_xid = xid;
	}
	return ret;
}

/**
 * rpcrdma2_prop_change_limit - the limit that our messages must obey
 * @c: changes
 * @peer: values of the peer in force
 * @prop: property
 *
 * This is the value of the peer, or the requested value while a request is
 * pending.
 *
 * Context: any. Requirements: CHG-26.
 * Return: the value.
 */
u32 rpcrdma2_prop_change_limit(const struct rpcrdma2_change *c,
			       const struct rpcrdma2_propset *peer,
			       enum rpcrdma2_prop prop)
{
	u32 limit = peer->val[prop];

	if (is_limit(prop) && c->asked & BIT(prop))
		limit = min(limit, c->asked_value[prop]);
	return limit;
}

/**
 * rpcrdma2_prop_change_met - compare a changed value of the peer with the wanted one
 * @c: changes
 * @peer: values of the peer in force
 * @prop: property
 *
 * The peer may set a value later that it has rejected. A queued request that
 * would now lower a limit is dropped (CHG-26), unless the answer to a pending
 * request may still lower it.
 *
 * Context: any.
 */
void rpcrdma2_prop_change_met(struct rpcrdma2_change *c,
			      const struct rpcrdma2_propset *peer,
			      enum rpcrdma2_prop prop)
{
	if (c->want & BIT(prop)) {
		if (c->asked & BIT(prop) || !is_limit(prop) ||
		    peer->val[prop] < c->value[prop])
			return;
		c->want &= ~BIT(prop);
	} else if (c->result[prop] != RPCRDMA2_CHANGE_REJECTED ||
		   peer->val[prop] != c->value[prop]) {
		return;
	}
	c->result[prop] = RPCRDMA2_CHANGE_DONE;
}

/* Our request has been answered, or never will be. */
static void end_request(struct rpcrdma2_change *c,
			const struct rpcrdma2_propset *peer)
{
	u32 i, asked = c->asked;

	c->pending = false;
	c->asked = 0;
	if (c->announcement == RPCRDMA2_ANN_PROVING)
		c->announcement = RPCRDMA2_ANN_NONE;
	for (i = 0; i < RPCRDMA2_NR_PROPS; i++) {
		if (c->want & BIT(i))
			rpcrdma2_prop_change_met(c, peer, i);
		else if (asked & BIT(i) &&
			 c->result[i] == RPCRDMA2_CHANGE_WAITING)
			c->result[i] = RPCRDMA2_CHANGE_REJECTED;
	}
}

/* The three parts of a RESPROP */
struct resprop {
	struct subset			done;
	struct subset			rejected;
	struct rpcrdma2_propset		other;
};

static bool get_resprop(const struct rpcrdma2_hdr *hdr, struct resprop *res)
{
	struct rpcrdma2_reader r = { .p = hdr->body, .left = hdr->body_len };

	return get_subset(&r, &res->done) && get_subset(&r, &res->rejected) &&
	       rpcrdma2_propset_decode(r.p, r.left, &res->other) >= 0;
}

/* The result for one property; @entry is its place in our REQPROP. The three
 * parts must not overlap (CHG-12).
 */
static enum rpcrdma2_change_result result_of(const struct resprop *res,
					     enum rpcrdma2_prop prop, u32 entry)
{
	bool done = in_subset(&res->done, entry);
	bool other = res->other.listed & BIT(prop);

	if (in_subset(&res->rejected, entry) || done == other)
		return RPCRDMA2_CHANGE_REJECTED;
	return done ? RPCRDMA2_CHANGE_DONE : RPCRDMA2_CHANGE_OTHER;
}

/**
 * rpcrdma2_prop_change_response - a RESPROP arrived
 * @c: changes
 * @hdr: its header
 * @peer: properties of the peer; gets the new values
 * @malformed: set if it can't be read; then all is rejected
 *
 * Context: any. Requirements: CHG-8 to CHG-16, CHG-29, CHG-30.
 * Return: true if it answers our REQPROP, which is no longer pending.
 */
bool rpcrdma2_prop_change_response(struct rpcrdma2_change *c,
				   const struct rpcrdma2_hdr *hdr,
				   struct rpcrdma2_propset *peer, bool *malformed)
{
	enum rpcrdma2_change_result result;
	u32 i, value, entry = 0;
	struct resprop res;

	*malformed = false;
	if (!c->pending || hdr->xid != c->xid)
		return false;
	*malformed = !get_resprop(hdr, &res);

	/* Our encoder puts the entries in the order of their numbers */
	for (i = 0; !*malformed && i < RPCRDMA2_NR_PROPS; i++) {
		if (!(c->asked & BIT(i)))
			continue;
		result = result_of(&res, i, entry++);
		value = res.other.val[i];
		if (result == RPCRDMA2_CHANGE_DONE)
			value = c->asked_value[i];
		if (result != RPCRDMA2_CHANGE_REJECTED)
			WRITE_ONCE(peer->val[i], value);
		if (!(c->want & BIT(i)))
			c->result[i] = result;
	}
	end_request(c, peer);
	return true;
}

/**
 * rpcrdma2_prop_change_error - an RDMA2_ERROR arrived
 * @c: changes
 * @peer: values of the peer in force
 * @xid: its XID
 * @err: its code
 *
 * Whatever the code, no other answer to the request will come. A peer that
 * does not know the type gets no further requests.
 *
 * Context: any. Requirements: CHG-17, HT-9, ERR-7.
 * Return: true if it is about our last REQPROP or UPDPROP.
 */
bool rpcrdma2_prop_change_error(struct rpcrdma2_change *c,
				const struct rpcrdma2_propset *peer, u32 xid, u32 err)
{
	bool request = c->pending && xid == c->xid;
	bool update = c->announcement != RPCRDMA2_ANN_NONE && xid == c->upd_xid;
	u32 i;

	if (!c->on || (!request && !update))
		return false;
	if (request)
		end_request(c, peer);
	else if (c->announcement == RPCRDMA2_ANN_SENT)
		c->announcement = RPCRDMA2_ANN_NONE;
	if (err == RDMA2_ERR_INVAL_HTYPE) {
		c->on = false;
		for (i = 0; i < RPCRDMA2_NR_PROPS; i++)
			if (c->result[i] == RPCRDMA2_CHANGE_WAITING)
				c->result[i] = RPCRDMA2_CHANGE_REJECTED;
	}
	return true;
}

/* The side that is asked */

/**
 * rpcrdma2_prop_change_requested - read the body of a REQPROP
 * @hdr: its header
 * @req: untouched unless all is good; lists the properties that a RESPROP can mention
 *
 * Context: any. Requirements: CHG-4, CHG-6, CHG-29, CHG-30, CHG-31, PROP-11.
 * Return: 0 or -EBADMSG
 */
int rpcrdma2_prop_change_requested(const struct rpcrdma2_hdr *hdr,
				   struct rpcrdma2_propset *req)
{
	int ret = rpcrdma2_propset_decode(hdr->body, hdr->body_len, req);
	u32 i;

	if (ret < 0)
		return ret;
	for (i = 0; i < RPCRDMA2_NR_PROPS; i++)
		if (req->entry[i] >= RPCRDMA2_CHANGE_ENTRIES)
			req->listed &= ~BIT(i);
	return 0;
}

/**
 * rpcrdma2_prop_change_put_resprop - write the body of a RESPROP
 * @c: changes; the values in @done and @other need not be announced any more
 * @req: the REQPROP
 * @done: properties that have the value asked for
 * @other: properties that have another new value
 * @mine: our properties
 * @buf: where to write
 * @size: bytes at @buf; RPCRDMA2_RESPROP_MAX suffice
 *
 * All other entries are rejected, known and unknown. Entries beyond
 * RPCRDMA2_CHANGE_ENTRIES are rejected by omission.
 *
 * Context: any. Requirements: CHG-6 to CHG-14, CHG-31.
 * Return: bytes or -EMSGSIZE
 */
int rpcrdma2_prop_change_put_resprop(struct rpcrdma2_change *c,
				     const struct rpcrdma2_propset *req,
				     u32 done, u32 other,
				     const struct rpcrdma2_propset *mine,
				     void *buf, u32 size)
{
	u32 subset[2][RPCRDMA2_CHANGE_WORDS] = {};
	struct rpcrdma2_writer w = { .p = buf, .left = size };
	u32 i, entry, count;
	int len, set;

	done &= req->listed;
	other &= req->listed & ~done;
	count = min(req->count, RPCRDMA2_CHANGE_ENTRIES);
	for (i = 0; i < count; i++)
		subset[1][i / 32] |= BIT(i % 32);
	for (i = 0; i < RPCRDMA2_NR_PROPS; i++) {
		if (!((done | other) & BIT(i)))
			continue;
		entry = req->entry[i];
		/* A value in "other" has no bit. */
		subset[1][entry / 32] &= ~BIT(entry % 32);
		if (done & BIT(i))
			subset[0][entry / 32] |= BIT(entry % 32);
	}

	put_subset(&w, subset[0]);
	put_subset(&w, subset[1]);
	len = rpcrdma2_wr_result(&w, size);
	if (len < 0)
		return len;
	set = put_set(other, mine->val, w.p, w.left);
	if (set < 0)
		return set;
	c->dirty &= ~(done | other);
	return len + set;
}

/**
 * rpcrdma2_prop_change_update - an UPDPROP arrived
 * @hdr: its header
 * @peer: properties of the peer; gets the new values unless it is malformed
 * @upd: what has changed
 *
 * Context: any. Requirements: CHG-19, CHG-22, CHG-28, CHG-29, CHG-30,
 * CONN-6, PROP-11.
 * Return: 0 or -EBADMSG
 */
int rpcrdma2_prop_change_update(const struct rpcrdma2_hdr *hdr,
				struct rpcrdma2_propset *peer,
				struct rpcrdma2_update *upd)
{
	struct rpcrdma2_propset set;
	bool lower;
	int ret;
	u32 i;

	memset(upd, 0, sizeof(*upd));
	ret = rpcrdma2_propset_decode(hdr->body, hdr->body_len, &set);
	if (ret < 0)
		return ret;
	for (i = 0; i < RPCRDMA2_NR_PROPS; i++) {
		if (!(set.listed & BIT(i)))
			continue;
		lower = is_limit(i) && set.val[i] < peer->val[i];
		/* The peer may always lower a limit, but not a value it has not
		 * announced (CONN-6).
		 */
		if (!(peer->listed & BIT(i)) || (peer->nochg & BIT(i) && !lower)) {
			upd->ignored |= BIT(i);
			continue;
		}
		if (lower)
			upd->unasked |= BIT(i);
		if (set.val[i] != peer->val[i])
			upd->changed |= BIT(i);
		WRITE_ONCE(peer->val[i], set.val[i]);
	}
	return 0;
}
