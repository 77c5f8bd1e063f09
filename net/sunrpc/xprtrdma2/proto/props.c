// SPDX-License-Identifier: GPL-2.0
/*
 * Transport properties: the table of those we know, and property sets on
 * the wire.
 *
 * Every function here is pure: no kernel service, no lock, no allocation,
 * any context. Work is linear in the bytes received.
 */

#include "proto/props.h"
#include "proto/wire.h"

#define PROPVAL_MIN		8U	/* propid and length */

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
 * rpcrdma2_prop_rules - how the value of a property may change
 * @prop: property
 *
 * Context: any. Requirements: CHG-20, CHG-25, CHG-26.
 * Return: RPCRDMA2_CHG_*.
 */
u32 rpcrdma2_prop_rules(enum rpcrdma2_prop prop)
{
	return (u32)prop < RPCRDMA2_NR_PROPS ? prop_descs[prop].rules : 0;
}

/**
 * rpcrdma2_propset_changeable - properties whose values may change
 * @client: a client's values, not a server's
 *
 * Context: any. Requirements: PROP-20.
 * Return: BIT(enum rpcrdma2_prop) of each.
 */
u32 rpcrdma2_propset_changeable(bool client)
{
	u32 who = client ? RPCRDMA2_CHG_CLIENT : RPCRDMA2_CHG_SERVER;
	u32 i, mask = 0;

	for (i = 0; i < RPCRDMA2_NR_PROPS; i++)
		if (prop_descs[i].rules & who)
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
	struct rpcrdma2_prop_places places;
	const u8		*nochg;
	u32			nochg_words;
	bool			saw_nochg;
};

/* PROP-1, PROP-6; returns bytes of the entry or -EBADMSG. */
static int get_propval(const u8 *p, u32 left, struct propval *v)
{
	u32 pad;

	if (left < PROPVAL_MIN)
		return -EBADMSG;
	v->propid = get_unaligned_be32(p);
	v->len = get_unaligned_be32(p + 4);
	v->data = p + PROPVAL_MIN;
	left -= PROPVAL_MIN;
	if (v->len > left)
		return -EBADMSG;
	pad = -v->len & 3;
	if (pad > left - v->len)
		return -EBADMSG;
	return PROPVAL_MIN + v->len + pad;
}

static bool take_fixed(struct prop_walk *w, u32 prop, u32 index,
		       const struct propval *v)
{
	const struct prop_desc *desc = &prop_descs[prop];
	u32 val;

	if (w->set.listed & BIT(prop))			/* PROP-10 */
		return false;
	w->set.listed |= BIT(prop);
	w->places.entry[prop] = index;
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

/* An unknown property is valid whatever its value (PROP-5). */
static bool take_propval(struct prop_walk *w, u32 index,
			 const struct propval *v)
{
	u32 i;

	if (v->propid == RDMA2_PROPID_X_NOCHG)
		return take_nochg(w, v);
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
						w->places.entry[i]))
			w->set.nochg |= BIT(i);
}

/**
 * rpcrdma2_propset_locate - decode a property set and find its entries
 * @buf: the count word and what follows it
 * @len: bytes received at @buf; more than the set needs is no fault
 * @set: where to put the values; untouched unless all of them are good
 * @places: where to put the numbers of the entries; untouched as @set is
 *
 * Context: any. Requirements: PROP-1 to PROP-12, PROP-17, PROP-20,
 * PROP-21, CHK-31.
 * Return: bytes consumed, or -EBADMSG: answer with BAD_XDR.
 */
int rpcrdma2_propset_locate(const void *buf, u32 len,
			    struct rpcrdma2_propset *set,
			    struct rpcrdma2_prop_places *places)
{
	struct prop_walk w = {};
	const u8 *p = buf;
	struct propval v;
	u32 count, i;
	int bytes;

	if (len < 4)
		return -EBADMSG;
	count = get_unaligned_be32(p);
	p += 4;
	len -= 4;

	rpcrdma2_propset_init(&w.set);
	for (i = 0; i < count; i++) {
		/* Ends at the latest with the message (PROP-3). */
		bytes = get_propval(p, len, &v);
		if (bytes < 0)
			return bytes;
		if (!take_propval(&w, i, &v))
			return -EBADMSG;
		p += bytes;
		len -= bytes;
	}
	resolve_nochg(&w);
	w.places.count = count;
	*set = w.set;
	*places = w.places;
	return p - (const u8 *)buf;
}

/**
 * rpcrdma2_propset_decode - decode a property set
 * @buf: the count word and what follows it
 * @len: bytes received at @buf; more than the set needs is no fault
 * @set: where to put the values; untouched unless all of them are good
 *
 * Context: any. Requirements: as rpcrdma2_propset_locate().
 * Return: bytes consumed, or -EBADMSG: answer with BAD_XDR.
 */
int rpcrdma2_propset_decode(const void *buf, u32 len,
			    struct rpcrdma2_propset *set)
{
	struct rpcrdma2_prop_places places;

	return rpcrdma2_propset_locate(buf, len, set, &places);
}

static u8 *put_words(u8 *p, const u32 *words, u32 n)
{
	u32 i;

	for (i = 0; i < n; i++, p += 4)
		put_unaligned_be32(words[i], p);
	return p;
}

/**
 * rpcrdma2_propset_encode - encode the listed properties of a set
 * @set: the set
 * @buf: where to write
 * @size: bytes at @buf; RPCRDMA2_PROPS_MAX always suffice
 *
 * Context: any. Requirements: PROP-1, PROP-2, PROP-19, PROP-20, CONN-4,
 * CONN-5.
 * Return: bytes written or -EMSGSIZE.
 */
int rpcrdma2_propset_encode(const struct rpcrdma2_propset *set, void *buf,
			    u32 size)
{
	u32 words[RPCRDMA2_PROPS_MAX / 4];
	u32 i, n = 1, entries = 0, nochg = 0;

	for (i = 0; i < RPCRDMA2_NR_PROPS; i++) {
		if (!(set->listed & BIT(i)))
			continue;
		if (set->nochg & BIT(i))
			nochg |= BIT(entries);
		words[n++] = prop_descs[i].propid;
		words[n++] = sizeof(u32);
		words[n++] = set->val[i];
		entries++;
	}
	if (set->x_change) {
		words[n++] = RDMA2_PROPID_X_NOCHG;
		words[n++] = 2 * sizeof(u32);
		words[n++] = 1;
		words[n++] = nochg;
		entries++;
	}
	words[0] = entries;

	if (size < n * sizeof(u32))
		return -EMSGSIZE;
	return put_words(buf, words, n) - (u8 *)buf;
}
