// SPDX-License-Identifier: GPL-2.0
/*
 * Property sets: the decoder accepts a buffer of up to 44 bytes exactly if the requirements
 * accept the buffer (PROP-1 to PROP-12), and stores the values that they name. The decoder
 * reads back what the encoder has written.
 */
#include "proto/portable.h"

/* An identity, between a message and a set. The first byte of a word has its high bits. */
static void copy(u8 *to, const u8 *from, u32 n)
{
	u32 i, j, w;

	for (i = 0; i < n; i += 4) {
		if (__CPROVER_same_object(from, room)) {
			w = get_unaligned_be32(from + i);
			for (j = 0; j < 4; j++)
				to[i + j] = w >> (24 - 8 * j);
		} else {
			w = (u32)from[i] << 24 | from[i + 1] << 16 | from[i + 2] << 8 | from[i + 3];
			put_unaligned_be32(w, to + i);
		}
	}
}

#define memcpy	copy
#include "proto/props.c"

/* Word by word, as an automaton. Return: bytes of the set, 0: not accepted */
static u32 meaning(u32 len, struct rpcrdma2_propset *set)
{
	enum { PROPID, LENGTH, VALUE } part = PROPID;
	u32 i, j, w, known, propid = 0, left = 0, bytes = 0;
	u32 end = 0, entry = 0, nochg = 0, twice = 0;
	bool first = false, bad = len < 4;

	*set = (struct rpcrdma2_propset){ .val = { 4096, 1 }, .count = words[0] };
	if (!set->count)
		end = 4;
	for (i = 1; i < WORDS && !end && !bad && 4 * i + 4 <= len; i++) {
		w = words[i];
		switch (part) {
		case PROPID:
			propid = w;
			known = propid == 1 ? 1 : propid == 2 ? 2 : propid == 0xffffff01 ? 4 :
				propid == 0xffffff05 ? 8 : 0;
			bad = twice & known;			/* PROP-10 */
			twice |= known;
			if (propid == 1 || propid == 2) {
				set->listed |= known;
				set->entry[propid - 1] = entry;
			}
			part = LENGTH;
			continue;
		case LENGTH:
			bytes = left = w;
			bad = (propid == 1 || propid == 2) ? w && w != 4 :	/* PROP-8, 9 */
			      propid == 0xffffff05 ? w && w != 16 :	/* PROP-22 */
			      propid == 0xffffff01 && w % 4;
			set->x_change |= propid == 0xffffff01 && w;
			set->x_identity |= propid == 0xffffff05;
			set->identified |= propid == 0xffffff05 && w;
			first = true;
			part = VALUE;
			break;
		case VALUE:
			if (propid == 1)
				set->val[0] = w;
			if (propid == 2)
				set->val[1] = w;
			for (j = 0; j < 4 && propid == 0xffffff05; j++)
				set->identity[16 - left + j] = w >> (24 - 8 * j);
			bad = (propid == 2 && w > 2) ||			/* PROP-7 */
			      (propid == 0xffffff01 && first && w != bytes / 4 - 1);
			/* Only the first word of the subset can have bits of five entries. */
			if (propid == 0xffffff01 && !first && left == bytes - 4)
				nochg = w;
			first = false;
			left -= min(left, 4U);
			break;
		}
		if (left)
			continue;
		part = PROPID;
		if (++entry == set->count)
			end = 4 * i + 4;
	}
	for (j = 0; j < 2; j++)
		if (set->listed & BIT(j) && nochg & BIT(set->entry[j]))
			set->nochg |= BIT(j);
	return bad ? 0 : end;
}

static_assert(RPCRDMA2_NR_PROPS == 2, "the automaton knows two properties");

void property_sets(void)
{
	struct rpcrdma2_propset set = {}, wanted, untouched = set;
	u32 len = any_message(44), end = meaning(len, &wanted);

	assert(rpcrdma2_propset_decode(room, len, &set) == (end ? (int)end : -EBADMSG));
	assert(end ? equal(set, wanted) : equal(set, untouched));
	/* What change.c takes for granted */
	assert(set.listed < 4 && !(set.nochg & ~set.listed) && set.val[1] <= 2);
}

void encoded_sets(void)
{
	struct rpcrdma2_propset in, out;
	int ret;

	rpcrdma2_propset_init(&in);
	for (in.listed = 0; in.listed < 4; in.listed++) {
		in.x_change = nondet_bool();
		in.nochg = in.x_change ? nondet_u32() & in.listed : 0;
		in.x_identity = nondet_bool();
		in.identified = in.x_identity && nondet_bool();
		in.identity[0] = in.identified ? nondet_u32() : 0;
		in.identity[15] = in.identified ? nondet_u32() : 0;
		in.val[0] = in.listed & 1 ? nondet_u32() : 4096;
		in.val[1] = in.listed & 2 ? nondet_u32() : 1;
		assume(in.val[1] <= 2);
		writable = readable = RPCRDMA2_PROPS_MAX;
		ret = rpcrdma2_propset_encode(&in, room, RPCRDMA2_PROPS_MAX);
		assert(ret > 0 && rpcrdma2_propset_decode(room, ret, &out) == ret);
		assert(out.val[0] == in.val[0] && out.val[1] == in.val[1] &&
		       out.listed == in.listed && out.x_change == in.x_change &&
		       out.nochg == in.nochg && out.x_identity == in.x_identity &&
		       out.identified == in.identified &&
		       out.identity[0] == in.identity[0] &&
		       out.identity[15] == in.identity[15]);
	}
}
