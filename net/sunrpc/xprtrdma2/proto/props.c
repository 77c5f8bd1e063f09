// SPDX-License-Identifier: GPL-2.0
/*
 * Transport properties: the table of those we know, and property sets on
 * the wire.
 *
 * Every function here is pure: no kernel service, no lock, no allocation,
 * any context. Work is linear in the bytes received.
 */

#include "proto/props.h"
#include "proto/wire_impl.h"

/*
 * A CONNPROP must fit into the Receive of a peer that knows nothing about
 * us yet, and the subset of X_NOCHG is one word: refuse to build with more
 * properties than that (CONN-4).
 */
static_assert(RPCRDMA2_PREFIX + RPCRDMA2_PROPS_MAX <= RPCRDMA2_FIRST_MSG_MAX,
	      "CONNPROP is too long");
static_assert(RPCRDMA2_NR_PROPS < 32, "too many properties for one subset");

/* A fixed-size property */
static const struct prop_desc {
	u32		propid;
	u32		def;
	u32		max;
	u32		rules;
} prop_descs[RPCRDMA2_NR_PROPS] = {
#define RPCRDMA2_PROP(_name, _propid, _def, _max, _rules)		\
	[RPCRDMA2_##_name] = {						\
		.propid	= _propid,					\
		.def	= _def,						\
		.max	= _max,						\
		.rules	= _rules,					\
	},
#include "proto/props_list.h"
#undef RPCRDMA2_PROP
};

/**
 * rpcrdma2_propset_init - the state before anything was received
 * @set: set to fill with all defaults and nothing listed
 *
 * Context: any. Requirements: PROP-21, CONN-14.
 */
void rpcrdma2_propset_init(struct rpcrdma2_propset *set)
{
	u32 i;

	memset(set, 0, sizeof(*set));
	for (i = 0; i < RPCRDMA2_NR_PROPS; i++)
		set->val[i] = prop_descs[i].def;
}

/**
 * rpcrdma2_propset_with - properties for which one of some rules holds
 * @rules: RPCRDMA2_CHG_*
 *
 * Context: any. Requirements: CHG-20, CHG-25, CHG-26, PROP-20.
 * Return: BIT(enum rpcrdma2_prop) of each.
 */
u32 rpcrdma2_propset_with(u32 rules)
{
	u32 i, mask = 0;

	for (i = 0; i < RPCRDMA2_NR_PROPS; i++)
		if (prop_descs[i].rules & rules)
			mask |= BIT(i);
	return mask;
}

/* One property value, found to lie inside the message. */
struct propval {
	u32		propid;
	u32		len;
	const u8	*data;
};

/* State of a walk over a set */
struct prop_walk {
	struct rpcrdma2_propset	set;
	const u8		*nochg;
	u32			nochg_words;
	bool			saw_nochg;
};

/* PROP-1, PROP-6 */
static bool get_propval(struct rpcrdma2_reader *r, struct propval *v)
{
	if (!rpcrdma2_rd_u32(r, &v->propid) || !rpcrdma2_rd_u32(r, &v->len))
		return false;
	v->data = r->p;
	return rpcrdma2_rd_skip(r, v->len) && rpcrdma2_rd_skip(r, -v->len & 3);
}

static bool take_fixed(struct prop_walk *w, u32 prop, u32 index,
		       const struct propval *v)
{
	const struct prop_desc *desc = &prop_descs[prop];
	u32 val;

	if (w->set.listed & BIT(prop))			/* PROP-10 */
		return false;
	w->set.listed |= BIT(prop);
	w->set.entry[prop] = index;
	if (!v->len)					/* PROP-4 */
		return true;
	if (v->len != sizeof(val))			/* PROP-8, PROP-9 */
		return false;
	val = get_unaligned_be32(v->data);
	if (val > desc->max)				/* PROP-7 */
		return false;
	w->set.val[prop] = val;
	return true;
}

/*
 * The bits of X_NOCHG count entries of this set, also those still to come:
 * remember where they are.
 */
static bool take_nochg(struct prop_walk *w, const struct propval *v)
{
	u32 words;

	if (w->saw_nochg)
		return false;
	w->saw_nochg = true;
	if (!v->len)
		return true;
	if (v->len % 4)
		return false;
	words = get_unaligned_be32(v->data);
	if (words != v->len / 4 - 1)
		return false;
	w->set.x_change = true;
	w->nochg = v->data + 4;
	w->nochg_words = words;
	return true;
}

/* PROP-22: no value asks, any other length than that of an identity is wrong. */
static bool take_identity(struct prop_walk *w, const struct propval *v)
{
	struct rpcrdma2_propset *set = &w->set;

	if (set->x_identity || (v->len && v->len != sizeof(set->identity)))
		return false;
	set->x_identity = true;
	set->identified = v->len;
	if (v->len)
		memcpy(set->identity, v->data, sizeof(set->identity));
	return true;
}

/* An unknown property is valid whatever its value (PROP-5). */
static bool take_propval(struct prop_walk *w, u32 index,
			 const struct propval *v)
{
	u32 i;

	if (v->propid == RDMA2_PROPID_X_NOCHG)
		return take_nochg(w, v);
	if (v->propid == RDMA2_PROPID_X_IDENTITY)
		return take_identity(w, v);
	for (i = 0; i < RPCRDMA2_NR_PROPS; i++)
		if (prop_descs[i].propid == v->propid)
			return take_fixed(w, i, index, v);
	return true;
}

/**
 * rpcrdma2_propset_subset_has - is an entry of a set selected?
 * @words: the words of the subset as received
 * @nwords: how many; those missing are zero
 * @entry: number of the entry, from 0
 *
 * Context: any. Requirements: CHG-13, CHG-14, CHG-15, D-24: bit b is 1 << b.
 * Return: true if so.
 */
bool rpcrdma2_propset_subset_has(const u8 *words, u32 nwords, u32 entry)
{
	if (entry / 32 >= nwords)
		return false;
	return get_unaligned_be32(words + (size_t)(entry / 32) * 4) &
	       BIT(entry % 32);
}

static void resolve_nochg(struct prop_walk *w)
{
	u32 i;

	for (i = 0; i < RPCRDMA2_NR_PROPS; i++)
		if (w->set.listed & BIT(i) &&
		    rpcrdma2_propset_subset_has(w->nochg, w->nochg_words,
						w->set.entry[i]))
			w->set.nochg |= BIT(i);
}

/**
 * rpcrdma2_propset_decode - decode a property set
 * @buf: the count word and what follows it
 * @len: bytes received at @buf; more than the set needs is no fault
 * @set: where to put the values; untouched unless all of them are good
 *
 * Context: any. Requirements: PROP-1 to PROP-12, PROP-17, PROP-20 to
 * PROP-22, CHK-31.
 * Return: bytes consumed, or -EBADMSG: answer with BAD_XDR.
 */
int rpcrdma2_propset_decode(const void *buf, u32 len, struct rpcrdma2_propset *set)
{
	struct rpcrdma2_reader r = { .p = buf, .left = len, .msg = buf, .len = len };
	struct prop_walk w = {};
	struct propval v;
	u32 count, i;

	if (!rpcrdma2_rd_u32(&r, &count))
		return -EBADMSG;
	rpcrdma2_propset_init(&w.set);
	w.set.count = count;
	/* Ends at the latest with the message (PROP-3). */
	for (i = 0; i < count; i++)
		if (!get_propval(&r, &v) || !take_propval(&w, i, &v))
			return -EBADMSG;
	resolve_nochg(&w);
	*set = w.set;
	return len - r.left;
}

static void put_identity(struct rpcrdma2_writer *w, const struct rpcrdma2_propset *set)
{
	u32 len = set->identified ? sizeof(set->identity) : 0;
	u8 *p;

	rpcrdma2_wr_u32(w, RDMA2_PROPID_X_IDENTITY);
	rpcrdma2_wr_u32(w, len);
	p = rpcrdma2_wr_room(w, len);
	if (p)
		memcpy(p, set->identity, len);
}

/**
 * rpcrdma2_propset_encode - encode the listed properties of a set
 * @set: the set
 * @buf: where to write
 * @size: bytes at @buf; RPCRDMA2_PROPS_MAX always suffice
 *
 * Context: any. Requirements: PROP-1, PROP-2, PROP-19, PROP-20, PROP-22,
 * CONN-4, CONN-5.
 * Return: bytes written or -EMSGSIZE.
 */
int rpcrdma2_propset_encode(const struct rpcrdma2_propset *set, void *buf,
			    u32 size)
{
	struct rpcrdma2_writer w = { .p = buf, .left = size };
	u8 *count = rpcrdma2_wr_room(&w, sizeof(u32));
	u32 i, entries = 0, nochg = 0;

	for (i = 0; i < RPCRDMA2_NR_PROPS; i++) {
		if (!(set->listed & BIT(i)))
			continue;
		if (set->nochg & BIT(i))
			nochg |= BIT(entries);
		rpcrdma2_wr_u32(&w, prop_descs[i].propid);
		rpcrdma2_wr_u32(&w, sizeof(u32));
		rpcrdma2_wr_u32(&w, set->val[i]);
		entries++;
	}
	if (set->x_change) {
		rpcrdma2_wr_u32(&w, RDMA2_PROPID_X_NOCHG);
		rpcrdma2_wr_u32(&w, 2 * sizeof(u32));
		rpcrdma2_wr_u32(&w, 1);
		rpcrdma2_wr_u32(&w, nochg);
		entries++;
	}
	if (set->x_identity) {
		put_identity(&w, set);
		entries++;
	}
	if (count)
		put_unaligned_be32(entries, count);
	return rpcrdma2_wr_result(&w, size);
}
