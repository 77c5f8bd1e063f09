// SPDX-License-Identifier: GPL-2.0
/*
 * Compares wire.c, props.c and prop_change.c with the code that rpcgen made of
 * rpcrdma_version_two.x: the golden vectors, and random messages. Prints KTAP.
 *
 * Where XDR says less than the specification, the rule and its decision or
 * requirement have a name here. A message that XDR accepts must be accepted,
 * with the same content, unless a named rule forbids it; and every name must
 * have been needed.
 *
 * usage: compare [MESSAGES [SEED]]
 */

#include <stdio.h>
#include <stdlib.h>

#include "../../net/sunrpc/xprtrdma2/proto/chunk_list.h"
#include "../../net/sunrpc/xprtrdma2/proto/prop_change.h"
#include "../unit/vectors.h"
#include "oracle.h"

#define RULES								\
	RULE(SHORT,	"HDR-5 D-9",	"shorter than a prefix: dropped")	\
	RULE(OTHER_VERS, "HDR-4",	"another version is another codec's")	\
	RULE(UNKNOWN,	"HT-2",		"unknown type: INVAL_HTYPE")	\
	RULE(UNKNOWN_RESPONSE, "HT-3 D-11", "unknown type with RESPONSE: dropped") \
	RULE(FLAGS,	"FLG-3 D-13",	"a reserved flag is refused")	\
	RULE(ERROR_CALL, "FLG-9",	"an ERROR without RESPONSE: dropped") \
	RULE(ERR_VERS_FIXED, "ERR-12 D-8", "an ERR_VERS without flags is understood") \
	RULE(ERROR_CUT,	"ERR-9",	"an ERROR that is cut short: dropped") \
	RULE(BAD_CALL,	"ERR-15 D-6",	"a Call that is no XDR: BAD_XDR") \
	RULE(BAD_REPLY,	"ERR-1 D-6",	"a Reply that is no XDR: dropped") \
	RULE(BOOL,	"CHK-6",	"generated code takes any word for TRUE") \
	RULE(POSITION,	"CHK-9",	"a Position that is no multiple of 4") \
	RULE(WRAP,	"CHK-25",	"a segment beyond the last address") \
	RULE(MSG_XID,	"HDR-7",	"the RPC message has another XID") \
	RULE(MSG_TYPE,	"FLG-5 D-13",	"RESPONSE is not msg_type")	\
	RULE(SHAPE,	"MSG-2 MSG-3 MSG-8 CHK-13", "chunks that such a message cannot have") \
	RULE(INV_HANDLE, "RINV-10 D-29", "rdma_inv_handle of a Reply is ignored") \
	RULE(TRAILING,	"CHK-31 D-12",	"bytes behind a message are ignored") \
	RULE(PADDING,	"PROP-1",	"padding that is not zero is ignored") \
	RULE(DUPLICATE,	"PROP-10 D-12",	"a known property twice is refused") \
	RULE(VALUE,	"PROP-8 D-12",	"a value of another type is refused") \
	RULE(NOCHG,	"PROP-20 D-4",	"an X_NOCHG of another type is refused") \
	RULE(EMPTY,	"PROP-4",	"an empty value is the default")	\
	RULE(DIRECTION,	"FLG-7",	"RESPONSE does not suit a change message") \
	RULE(OVERLAP,	"CHG-12",	"done and rejected overlap: rejected")

enum rule {
#define RULE(id, from, text)	R_##id,
	RULES
#undef RULE
	NR_RULES
};

static const struct {
	const char	*from;
	const char	*text;
} rules[NR_RULES] = {
#define RULE(id, from, text)	[R_##id] = { from, text },
	RULES
#undef RULE
};

static unsigned long needed[NR_RULES];

static bool need(enum rule rule)
{
	needed[rule]++;
	return true;
}

/* ---- report ---- */

static unsigned int tests, failed;
static bool test_failed;
static const u8 *now_msg;
static u32 now_len;

static void show_message(void)
{
	u32 i;

	if (!now_msg)
		return;
	printf("#   message:");
	for (i = 0; i < now_len; i++)
		printf("%s%02x", i % 4 ? "" : " ", now_msg[i]);
	printf("\n");
	now_msg = NULL;		/* once */
}

static bool agree(bool ok, const char *file, int line, const char *what)
{
	if (ok)
		return true;
	if (!test_failed)
		printf("# %s:%d: does not hold: %s\n", file, line, what);
	if (!test_failed)
		show_message();
	test_failed = true;
	return false;
}

#define AGREE(cond)	agree(cond, __FILE__, __LINE__, #cond)

static void end_test(const char *name)
{
	printf("%sok %u %s\n", test_failed ? "not " : "", ++tests, name);
	failed += test_failed;
	test_failed = false;
}

/* ---- random ---- */

static u64 state;

static u32 rnd(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state >> 16;
}

static u32 below(u32 n)
{
	return rnd() % n;
}

static bool one_in(u32 n)
{
	return !below(n);
}

/* Words that are near the limits of something */
static u32 odd_word(void)
{
	static const u32 words[] = {
		0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 16, 17, 24, 28, 32, 64, 255,
		1024, 4096, 0x40000001, 0x7fffffff, 0x80000000, 0x80000001,
		0xfffffff8, 0xffffffff, 0xffffff01, 0xffffff02, 0xffffff03,
		0xffffff04, 0xffffff05, 0x11223344,
	};

	return words[below(ARRAY_SIZE(words))];
}

static u32 word(void)
{
	return one_in(3) ? odd_word() : rnd();
}

static u32 add_segment(struct oracle_msg *m)
{
	struct oracle_segment *seg = &m->seg[m->nsegs];

	seg->handle = one_in(2) ? below(4) : rnd();
	seg->length = one_in(2) ? below(65536) : word();
	seg->offset = (u64)word() << 32 | word();
	if (!one_in(8))
		seg->offset >>= 1;
	return m->nsegs++;
}

static struct oracle_chunk add_chunk(struct oracle_msg *m)
{
	struct oracle_chunk c = { m->nsegs, below(one_in(4) ? 6 : 3) };
	u32 i;

	for (i = 0; i < c.n; i++)
		add_segment(m);
	return c;
}

static void random_lists(struct oracle_msg *m)
{
	u32 i, n, position = below(3) * 4;

	m->inv_handle = one_in(2) ? 0 : word();
	n = one_in(2) ? 0 : below(one_in(8) ? 14 : 4);
	/* Those of a Call are likely to suit it */
	if (m->htype == 1 && !(m->flags & 1) && !one_in(8)) {
		position = 0;
		n++;
	} else if (m->flags & 1 && !one_in(8)) {
		n = 0;
	}
	for (i = 0; i < n; i++) {
		m->position[m->nreads++] = position;
		add_segment(m);
		if (one_in(3))
			position = one_in(20) ? word() : (1 + below(11)) * 4;
	}
	n = one_in(2) ? 0 : below(4);
	for (i = 0; i < n; i++)
		m->write[m->nwrites++] = add_chunk(m);
	m->has_reply = one_in(3) || (m->htype == 1 && m->flags & 1 && !one_in(8));
	if (!m->has_reply)
		return;
	m->reply = add_chunk(m);
	if (m->htype == 0 && m->flags & 1 && !one_in(4))
		for (i = 0; i < m->reply.n; i++)
			m->seg[m->reply.first + i].length = 0;
}

static void random_prop(struct oracle_prop *prop)
{
	static const u32 ids[] = { 1, 1, 2, 2, 3, 0xffffff01, 0xffffff7f };
	u32 i;

	prop->id = one_in(16) ? rnd() : ids[below(ARRAY_SIZE(ids))];
	switch (one_in(8) ? 0 : prop->id) {
	case RDMA2_PROPID_RBSIZ:
		oracle_put_value(prop->id, word(), prop);
		break;
	case RDMA2_PROPID_BRS:
		oracle_put_value(prop->id, below(one_in(8) ? 5 : 3), prop);
		break;
	case RDMA2_PROPID_X_NOCHG:
		oracle_put_nochg(rnd(), prop);
		break;
	default:
		prop->len = one_in(2) ? 0 : below(17);
		for (i = 0; i < prop->len; i++)
			prop->data[i] = one_in(2) ? 0 : rnd();
	}
}

static void random_props(struct oracle_props *props)
{
	u32 i;

	props->n = below(one_in(8) ? 40 : 4);
	for (i = 0; i < props->n; i++)
		random_prop(&props->prop[i]);
}

static void random_subset(struct oracle_subset *s)
{
	u32 i;

	s->n = below(one_in(8) ? 12 : 3);
	for (i = 0; i < s->n; i++)
		s->word[i] = one_in(2) ? below(8) : rnd();
}

static void random_msg(struct oracle_msg *m)
{
	static const u32 types[] = {
		RDMA2_MSG, RDMA2_MSG, RDMA2_MSG, RDMA2_NOMSG, RDMA2_NOMSG,
		RDMA2_ERROR, RDMA2_CONNPROP, RDMA2_CONNPROP, RDMA2_X_REQPROP,
		RDMA2_X_RESPROP, RDMA2_X_UPDPROP,
	};

	memset(m, 0, sizeof(*m));
	m->xid = word();
	m->vers = 2;
	m->credit = word();
	m->htype = types[below(ARRAY_SIZE(types))];
	m->flags = m->htype == RDMA2_ERROR || m->htype == RDMA2_X_RESPROP ||
		   (m->htype <= RDMA2_CONNPROP && one_in(2));
	if (one_in(32))
		m->flags ^= 1;
	switch (m->htype) {
	case RDMA2_MSG:
	case RDMA2_NOMSG:
		random_lists(m);
		m->first_word = one_in(32) ? word() : m->xid;
		break;
	case RDMA2_ERROR:
		m->err = one_in(16) ? word() : 1 + below(9);
		m->arg[0] = one_in(2) ? below(4) : word();
		m->arg[1] = one_in(2) ? below(4) : word();
		break;
	case RDMA2_X_RESPROP:
		random_subset(&m->done);
		random_subset(&m->rejected);
		fallthrough;
	default:
		random_props(&m->props);
	}
}

/* What becomes of a good message on its way through a bad peer */
static u32 spoil(u8 *buf, u32 len, u32 size)
{
	u32 i;

	while (one_in(2)) {
		switch (below(4)) {
		case 0:
			len = below(len + 1);
			break;
		case 1:
			if (len >= 4)
				put_unaligned_be32(odd_word(),
						   buf + below(len / 4) * 4);
			break;
		case 2:
			if (len)
				buf[below(len)] ^= 1U << below(8);
			break;
		case 3:
			for (i = below(12); i && len < size; i--)
				buf[len++] = rnd();
			break;
		}
	}
	return len;
}

/* A whole message: with the RPC message that XDR does not describe. */
static u32 make_message(u8 *buf, u32 size)
{
	struct oracle_msg m;
	u32 len;

	random_msg(&m);
	if (one_in(64) && m.htype == RDMA2_ERROR) {
		m.vers = below(4);
		m.err = RDMA2_ERR_VERS;
		len = oracle_encode_fixed(&m, buf, size);
	} else {
		len = oracle_encode(&m, buf, size);
	}
	if (len && m.htype == RDMA2_MSG && size - len >= 4) {
		put_unaligned_be32(one_in(32) ? word() : m.flags & 1, buf + len);
		len += 4;
	}
	return one_in(3) ? len : spoil(buf, len, size);
}

/* ---- what is to be expected ---- */

static bool wraps(const struct oracle_msg *m)
{
	u32 i;

	for (i = 0; i < m->nsegs; i++)
		if (m->seg[i].length &&
		    m->seg[i].offset + (m->seg[i].length - 1) < m->seg[i].offset)
			return true;
	return false;
}

static bool odd_position(const struct oracle_msg *m)
{
	u32 i;

	for (i = 0; i < m->nreads; i++)
		if (m->position[i] % 4)
			return true;
	return false;
}

static u64 chunk_bytes(const struct oracle_msg *m, struct oracle_chunk c)
{
	u64 sum = 0;
	u32 i;

	for (i = 0; i < c.n; i++)
		sum += m->seg[c.first + i].length;
	return sum;
}

static bool has_position_zero(const struct oracle_msg *m)
{
	u32 i;

	for (i = 0; i < m->nreads; i++)
		if (!m->position[i])
			return true;
	return false;
}

static bool wrong_shape(const struct oracle_msg *m)
{
	if (!(m->flags & 1))
		return has_position_zero(m) != (m->htype == RDMA2_NOMSG);
	if (m->nreads)
		return true;
	if (m->htype == RDMA2_NOMSG)
		return !m->has_reply;
	return m->has_reply && chunk_bytes(m, m->reply);
}

/* Rules for MSG and NOMSG that XDR cannot express, in no particular order */
static bool forbidden(const struct oracle_msg *m, const u8 *msg, u32 len)
{
	bool inl = m->htype == RDMA2_MSG;

	if (!m->same)
		return need(R_BOOL);
	if (odd_position(m))
		return need(R_POSITION);
	if (wraps(m))
		return need(R_WRAP);
	if (inl && len < m->bytes + 4)
		return need(m->flags & 1 ? R_BAD_REPLY : R_BAD_CALL);
	if (inl && m->first_word != m->xid)
		return need(R_MSG_XID);
	if (inl && get_unaligned_be32(msg + m->bytes) != (m->flags & 1))
		return need(R_MSG_TYPE);
	return wrong_shape(m) && need(R_SHAPE);
}

static enum rpcrdma2_verdict fault(const struct oracle_msg *m,
				   enum rpcrdma2_verdict answer)
{
	return m->flags & 1 ? RPCRDMA2_DROP : answer;
}

/*
 * D-8, in its own words: an ERROR is an ERR_VERS without flags if it has that
 * length and its range offers something older than version 2.
 */
static bool fixed_err_vers(const u8 *msg, u32 len, struct oracle_msg *fixed)
{
	return len == 28 && oracle_decode_fixed(msg, len, fixed) &&
	       fixed->err == RDMA2_ERR_VERS && fixed->arg[0] < 2 &&
	       fixed->arg[0] <= fixed->arg[1] && need(R_ERR_VERS_FIXED);
}

/* Of the base protocol; those of the extension are another decoder's. */
static bool base_type(u32 htype)
{
	return htype == RDMA2_MSG || htype == RDMA2_NOMSG ||
	       htype == RDMA2_ERROR || htype == RDMA2_CONNPROP;
}

/* What a decoder of version 2 does with the prefix, OK to go on */
static enum rpcrdma2_verdict expect_prefix(const struct oracle_msg *m,
					   enum oracle_result result,
					   const u8 *msg, u32 len)
{
	u32 vers = len >= 16 ? get_unaligned_be32(msg + 4) : 0;
	u32 htype = len >= 16 ? get_unaligned_be32(msg + 12) : 0;

	/* With version 1 a message is not as short as that; see wire_test.c */
	if (len < 16 || (vers == 2 && len < 20) ||
	    (vers == 1 && len < 28 && htype != RDMA2_ERROR)) {
		need(R_SHORT);
		return RPCRDMA2_DROP;
	}
	if (vers != 2) {
		need(R_OTHER_VERS);
		return RPCRDMA2_BAD_VERS;
	}
	AGREE(result != ORACLE_SHORT && m->vers == 2);
	return RPCRDMA2_OK;
}

static enum rpcrdma2_verdict expect(struct oracle_msg *m,
				    enum oracle_result result, const u8 *msg,
				    u32 len)
{
	enum rpcrdma2_verdict verdict = expect_prefix(m, result, msg, len);
	struct oracle_msg fixed;

	if (verdict != RPCRDMA2_OK)
		return verdict;
	if (!base_type(m->htype)) {
		need(m->flags & 1 ? R_UNKNOWN_RESPONSE : R_UNKNOWN);
		return fault(m, RPCRDMA2_INVAL_HTYPE);
	}
	if (m->flags & ~1U) {
		need(R_FLAGS);
		return m->htype == RDMA2_ERROR ? RPCRDMA2_DROP :
						 fault(m, RPCRDMA2_BAD_XDR);
	}
	switch (m->htype) {
	case RDMA2_ERROR:
		if (!(m->flags & 1)) {
			need(R_ERROR_CALL);
			return RPCRDMA2_DROP;
		}
		if (fixed_err_vers(msg, len, &fixed)) {
			m->err = fixed.err;
			memcpy(m->arg, fixed.arg, sizeof(m->arg));
			return RPCRDMA2_OK;
		}
		if (result == ORACLE_OK)
			return RPCRDMA2_OK;
		need(R_ERROR_CUT);
		return RPCRDMA2_DROP;
	case RDMA2_CONNPROP:
		/* The set is another decoder's: compare_props() */
		return len < 24 ? RPCRDMA2_BAD_XDR : RPCRDMA2_OK;
	default:
		if (result != ORACLE_OK)
			need(m->flags & 1 ? R_BAD_REPLY : R_BAD_CALL);
		else if (!forbidden(m, msg, len))
			return RPCRDMA2_OK;
		return fault(m, RPCRDMA2_BAD_XDR);
	}
}

/* ---- content ---- */

static void same_segment(const struct oracle_segment *a,
			 const struct rpcrdma2_segment *b)
{
	AGREE(a->handle == b->handle);
	AGREE(a->length == b->length);
	AGREE(a->offset == b->offset);
}

static void same_chunk(const struct oracle_msg *m, struct oracle_chunk c,
		       struct rpcrdma2_cursor segs)
{
	struct rpcrdma2_segment seg;
	u32 i;

	AGREE(segs.left == c.n);
	AGREE(rpcrdma2_segs_bytes(segs) == chunk_bytes(m, c));
	for (i = 0; i < c.n && AGREE(rpcrdma2_segs_next(&segs, &seg)); i++)
		same_segment(&m->seg[c.first + i], &seg);
}

/* What a decoded header counts: distinct Positions other than zero, and the
 * segments of the largest chunk. It may count more beyond eight Positions.
 */
static void same_counts(const struct oracle_msg *m,
			const struct rpcrdma2_hdr *hdr)
{
	u32 i, j, distinct = 0, all = 0, chunks = 0, max = 0;
	u32 n;

	for (i = 0; i < m->nreads; i++) {
		bool fresh = true;

		for (j = 0, n = 0; j < m->nreads; j++) {
			if (m->position[j] != m->position[i])
				continue;
			n++;
			fresh = fresh && j >= i;
		}
		max = max(max, n);
		all += fresh;
		distinct += fresh && m->position[i];
	}
	for (i = 0; i < m->nwrites; i++)
		max = max(max, m->write[i].n);
	if (m->has_reply)
		max = max(max, m->reply.n);
	chunks = hdr->read_chunks;
	AGREE(hdr->has_pz == has_position_zero(m));
	AGREE(all > 8 ? chunks >= distinct : chunks == distinct);
	AGREE(all > 8 ? hdr->max_segs >= max : hdr->max_segs == max);
}

static void same_lists(const struct oracle_msg *m,
		       const struct rpcrdma2_hdr *hdr)
{
	struct rpcrdma2_cursor c, segs;
	struct rpcrdma2_segment seg;
	u32 i, position;

	AGREE(hdr->read_segs == m->nreads);
	rpcrdma2_read_list_begin(hdr, &c);
	for (i = 0; i < m->nreads; i++) {
		if (!AGREE(rpcrdma2_read_list_next(&c, &position, &seg)))
			return;
		AGREE(position == m->position[i]);
		same_segment(&m->seg[i], &seg);
	}
	AGREE(hdr->write_chunks == m->nwrites);
	rpcrdma2_write_list_begin(hdr, &c);
	for (i = 0; i < m->nwrites; i++) {
		if (!AGREE(rpcrdma2_write_list_next(&c, &segs)))
			return;
		same_chunk(m, m->write[i], segs);
	}
	AGREE(rpcrdma2_hdr_reply_chunk(hdr, &segs) == m->has_reply);
	if (m->has_reply)
		same_chunk(m, m->reply, segs);
	same_counts(m, hdr);
}

static void same_rpc(const struct oracle_msg *m, const struct rpcrdma2_hdr *hdr,
		     const u8 *msg, u32 len)
{
	u32 hdr_len = m->bytes - (m->htype == RDMA2_MSG ? 4 : 0);

	if (hdr->response && m->inv_handle)
		need(R_INV_HANDLE);
	AGREE(hdr->inv_handle == (hdr->response ? 0 : m->inv_handle));
	AGREE(hdr->hdr_len == hdr_len);
	if (m->htype == RDMA2_MSG) {
		AGREE(hdr->body == msg + hdr_len);
		AGREE(hdr->body_len == len - hdr_len);
	} else {
		AGREE(!hdr->body_len);
		if (len > hdr_len)
			need(R_TRAILING);
	}
	same_lists(m, hdr);
}

static u32 prop_id(u32 prop)
{
	return prop == RPCRDMA2_BRS ? RDMA2_PROPID_BRS : RDMA2_PROPID_RBSIZ;
}

/* By the defaults of the specification */
static u32 prop_default(u32 prop)
{
	return prop == RPCRDMA2_BRS ? RDMA2_RVREQSUP_INLINE : 4096;
}

static bool selected(const struct oracle_subset *s, u32 entry)
{
	return entry / 32 < s->n && s->word[entry / 32] >> entry % 32 & 1;
}

/* The last entry for a property, and whether there is more than one */
static const struct oracle_prop *find_prop(const struct oracle_props *props,
					   u32 id, u32 *entry, bool *twice)
{
	const struct oracle_prop *found = NULL;
	u32 i;

	*twice = false;
	for (i = 0; i < props->n; i++) {
		if (props->prop[i].id != id)
			continue;
		*twice = found;
		found = &props->prop[i];
		*entry = i;
	}
	return found;
}

/* A set as it should be decoded, or false if it should be refused */
static bool expect_set(const struct oracle_props *props,
		       struct rpcrdma2_propset *set, u32 *entries)
{
	const struct oracle_prop *prop;
	struct oracle_subset nochg = {};
	u32 i, entry;
	bool twice;

	memset(set, 0, sizeof(*set));
	prop = find_prop(props, RDMA2_PROPID_X_NOCHG, &entry, &twice);
	if (twice)
		return !need(R_DUPLICATE);
	if (prop && prop->len) {
		if (!oracle_nochg(prop, &nochg))
			return !need(R_NOCHG);
		set->x_change = true;
	}
	for (i = 0; i < RPCRDMA2_NR_PROPS; i++) {
		set->val[i] = prop_default(i);
		prop = find_prop(props, prop_id(i), &entry, &twice);
		if (twice)
			return !need(R_DUPLICATE);
		if (!prop)
			continue;
		set->listed |= BIT(i);
		entries[i] = entry;
		if (selected(&nochg, entry))
			set->nochg |= BIT(i);
		if (!prop->len)
			need(R_EMPTY);
		else if (!oracle_value(prop, &set->val[i]))
			return !need(R_VALUE);
	}
	return true;
}

static void same_set(const struct rpcrdma2_propset *a,
		     const struct rpcrdma2_propset *b)
{
	AGREE(!memcmp(a->val, b->val, sizeof(a->val)));
	AGREE(a->listed == b->listed);
	AGREE(a->x_change == b->x_change);
	AGREE(a->nochg == b->nochg);
}

/* A long X_NOCHG is kept in part only: nothing to compare with. */
static bool too_long(const struct oracle_props *props)
{
	u32 i;

	for (i = 0; i < props->n; i++)
		if (props->prop[i].id == RDMA2_PROPID_X_NOCHG &&
		    props->prop[i].len > sizeof(props->prop[i].data))
			return true;
	return false;
}

/* The set that begins at @body: decoded as it should be? */
static void compare_props(const struct oracle_msg *m, enum oracle_result result,
			  const u8 *body, u32 len)
{
	u32 entries[RPCRDMA2_NR_PROPS] = {}, i;
	struct rpcrdma2_prop_places places;
	struct rpcrdma2_propset set, want;
	int ret = rpcrdma2_propset_locate(body, len, &set, &places);

	if (result == ORACLE_OK && too_long(&m->props))
		return;
	if (result != ORACLE_OK || !expect_set(&m->props, &want, entries)) {
		AGREE(ret == -EBADMSG);
		return;
	}
	if (!m->same)
		need(R_PADDING);
	if (m->bytes - RPCRDMA2_PREFIX < len)
		need(R_TRAILING);
	if (!AGREE(ret == (int)(m->bytes - RPCRDMA2_PREFIX)))
		return;
	same_set(&set, &want);
	AGREE(places.count == m->props.n);
	for (i = 0; i < RPCRDMA2_NR_PROPS; i++)
		if (set.listed & BIT(i))
			AGREE(places.entry[i] == entries[i]);
}

static void same_prefix(const struct oracle_msg *m,
			const struct rpcrdma2_hdr *hdr)
{
	AGREE(hdr->xid == m->xid);
	AGREE(hdr->vers == m->vers);
	AGREE(hdr->credit == m->credit);
	AGREE(hdr->htype == m->htype);
	AGREE(hdr->response == (m->flags & 1));
}

/* ---- one message ---- */

static void compare_base(struct oracle_msg *m, enum oracle_result result,
			 const u8 *msg, u32 len)
{
	enum rpcrdma2_verdict verdict, want;
	struct rpcrdma2_hdr hdr;

	want = expect(m, result, msg, len);
	verdict = rpcrdma2_codec_v2.decode(msg, len, &hdr);
	if (!AGREE(verdict == want) || verdict != RPCRDMA2_OK)
		return;
	same_prefix(m, &hdr);
	switch (hdr.htype) {
	case RDMA2_ERROR:
		AGREE(hdr.err == m->err);
		AGREE(hdr.err_arg[0] == m->arg[0] ||
		      hdr.err > RDMA2_ERR_REPLY_RESOURCE);
		AGREE(hdr.err_arg[1] == m->arg[1] ||
		      hdr.err > RDMA2_ERR_REPLY_RESOURCE);
		break;
	case RDMA2_CONNPROP:
		AGREE(hdr.body == msg + RPCRDMA2_PREFIX);
		AGREE(hdr.body_len == len - RPCRDMA2_PREFIX);
		compare_props(m, result, hdr.body, hdr.body_len);
		break;
	default:
		same_rpc(m, &hdr, msg, len);
	}
}

/* What XDR and CHG-12 make of an answer to a request for RBSIZ, then BRS */
static enum rpcrdma2_change_result expect_result(const struct oracle_msg *m,
						 const struct rpcrdma2_propset *other,
						 u32 prop)
{
	bool done = selected(&m->done, prop);
	bool rejected = selected(&m->rejected, prop);
	bool listed = other->listed & BIT(prop);

	if (done + rejected + listed > 1)
		need(R_OVERLAP);
	if (rejected || done == listed)
		return RPCRDMA2_CHANGE_REJECTED;
	return done ? RPCRDMA2_CHANGE_DONE : RPCRDMA2_CHANGE_OTHER;
}

static void compare_resprop(const struct oracle_msg *m,
			    enum oracle_result result,
			    const struct rpcrdma2_hdr *hdr)
{
	struct rpcrdma2_propset mine, peer, other;
	u32 entries[RPCRDMA2_NR_PROPS], i;
	enum rpcrdma2_change_result want;
	struct rpcrdma2_change c;
	u8 buf[RPCRDMA2_PROPS_MAX];
	bool malformed, good;

	rpcrdma2_propset_init(&mine);
	mine.x_change = true;
	peer = mine;
	peer.listed = BIT(RPCRDMA2_RBSIZ) | BIT(RPCRDMA2_BRS);
	rpcrdma2_prop_change_init(&c, &mine, &peer);
	rpcrdma2_prop_change_ask(&c, &peer, RPCRDMA2_RBSIZ, 8192);
	rpcrdma2_prop_change_ask(&c, &peer, RPCRDMA2_BRS, RDMA2_RVREQSUP_GENL);
	rpcrdma2_prop_change_put_reqprop(&c, hdr->xid, buf, sizeof(buf));

	good = result == ORACLE_OK && expect_set(&m->props, &other, entries);
	if (!AGREE(rpcrdma2_prop_change_response(&c, hdr, &peer, &malformed)))
		return;
	AGREE(malformed == !good);
	for (i = 0; i < RPCRDMA2_NR_PROPS; i++) {
		want = good ? expect_result(m, &other, i) :
			      RPCRDMA2_CHANGE_REJECTED;
		AGREE(c.result[i] == want);
		if (want == RPCRDMA2_CHANGE_OTHER)
			AGREE(peer.val[i] == other.val[i]);
		else if (want == RPCRDMA2_CHANGE_REJECTED)
			AGREE(peer.val[i] == mine.val[i]);
		else
			AGREE(peer.val[i] == (i == RPCRDMA2_RBSIZ ? 8192U :
					      RDMA2_RVREQSUP_GENL));
	}
}

static void compare_change(struct oracle_msg *m, enum oracle_result result,
			   const u8 *msg, u32 len)
{
	enum rpcrdma2_verdict verdict, want;
	struct rpcrdma2_hdr hdr;
	bool extension;

	want = expect_prefix(m, result, msg, len);
	verdict = rpcrdma2_prop_change_decode(msg, len, &hdr);
	extension = want == RPCRDMA2_OK && m->htype > 0xffffff01 &&
		    result != ORACLE_UNKNOWN;
	if (want == RPCRDMA2_OK && !extension) {
		want = fault(m, RPCRDMA2_INVAL_HTYPE);
	} else if (extension && m->flags != (m->htype == RDMA2_X_RESPROP)) {
		need(R_DIRECTION);
		want = fault(m, RPCRDMA2_BAD_XDR);
	}
	if (!AGREE(verdict == want) || verdict != RPCRDMA2_OK)
		return;
	same_prefix(m, &hdr);
	if (result == ORACLE_OK && too_long(&m->props))
		return;
	if (hdr.htype == RDMA2_X_RESPROP)
		compare_resprop(m, result, &hdr);
	else
		compare_props(m, result, hdr.body, hdr.body_len);
}

/* In an allocation of its own size, so that nothing is read beyond it */
static void compare_message(const u8 *bytes, u32 len)
{
	u8 *msg = malloc(len ? len : 1);
	enum oracle_result result;
	struct oracle_msg m;

	if (!msg)
		abort();
	memcpy(msg, bytes, len);
	now_msg = msg;
	now_len = len;
	result = oracle_decode(msg, len, &m);
	compare_change(&m, result, msg, len);
	compare_base(&m, result, msg, len);
	now_msg = NULL;
	free(msg);
}

/* ---- encoders ---- */

static void same_bytes(const struct oracle_msg *m, const u8 *buf, int len)
{
	u8 want[2 * ORACLE_MAX_BYTES];
	u32 n = oracle_encode(m, want, sizeof(want));

	if (m->htype == RDMA2_MSG)
		n -= 4;			/* the RPC message's */
	AGREE(len == (int)n && !memcmp(buf, want, n));
}

static struct rpcrdma2_chunk some_chunk(u32 position)
{
	struct rpcrdma2_chunk c = { position, 1 + below(RPCRDMA2_MAX_SEGS) };
	u32 i;

	if (!one_in(8))
		c.nsegs = 1 + below(4);
	for (i = 0; i < c.nsegs; i++) {
		c.seg[i].handle = rnd();
		c.seg[i].length = below(1 << 20);
		c.seg[i].offset = ((u64)rnd() << 32 | rnd()) >> 1;
	}
	return c;
}

static struct oracle_chunk put_chunk(struct oracle_msg *m,
				     const struct rpcrdma2_chunk *c)
{
	struct oracle_chunk to = { m->nsegs, c->nsegs };
	u32 i;

	for (i = 0; i < c->nsegs; i++) {
		m->position[m->nsegs] = c->position;
		m->seg[m->nsegs++] = (struct oracle_segment){
			c->seg[i].handle, c->seg[i].length, c->seg[i].offset
		};
	}
	return to;
}

/* A Call as both have to write it; @m says what it is. */
static int random_call(struct oracle_msg *m, u8 *buf, u32 size)
{
	struct rpcrdma2_chunk pz = some_chunk(0), write = some_chunk(0);
	struct rpcrdma2_chunk read = some_chunk((1 + below(99)) * 4);
	struct rpcrdma2_chunk reply = some_chunk(0);
	struct rpcrdma2_call_hdr call = {
		.xid		= rnd(),
		.credit		= rnd(),
		.nomsg		= one_in(2),
		.inv_handle	= word(),
		.read		= one_in(2) ? &read : NULL,
		.write		= one_in(2) ? &write : NULL,
		.reply		= one_in(2) ? &reply : NULL,
	};
	int len;

	call.pz = call.nomsg ? &pz : NULL;
	memset(m, 0, sizeof(*m));
	m->xid = call.xid;
	m->vers = 2;
	m->credit = call.credit;
	m->htype = call.nomsg ? RDMA2_NOMSG : RDMA2_MSG;
	m->inv_handle = call.inv_handle;
	m->first_word = m->xid;
	if (call.pz)
		put_chunk(m, &pz);
	if (call.read)
		put_chunk(m, &read);
	m->nreads = m->nsegs;
	if (call.write)
		m->write[m->nwrites++] = put_chunk(m, &write);
	m->has_reply = call.reply;
	if (call.reply)
		m->reply = put_chunk(m, &reply);
	len = rpcrdma2_codec_v2.encode_call(&call, buf, size);
	AGREE(rpcrdma2_call_len(&rpcrdma2_codec_v2, &call) == (u32)len);
	return len;
}

/* Lengths of a chunk's segments when @bytes are written into it */
static void fill(struct oracle_msg *m, struct oracle_chunk c, u32 bytes)
{
	u32 i, n;

	for (i = 0; i < c.n; i++) {
		n = min(bytes, m->seg[c.first + i].length);
		m->seg[c.first + i].length = n;
		bytes -= n;
	}
}

static void compare_reply(struct oracle_msg *m, const u8 *call, u32 len)
{
	u8 msg[ORACLE_MAX_BYTES * 2], buf[ORACLE_MAX_BYTES * 2];
	u32 written = 0, in_reply = 0;
	struct rpcrdma2_hdr hdr;
	struct rpcrdma2_reply_hdr reply = {
		.xid		= m->xid,
		.credit		= rnd(),
		.nomsg		= m->has_reply && one_in(2),
		.call		= &hdr,
		.written	= &written,
		.nwritten	= m->nwrites,
	};

	memcpy(msg, call, len);
	put_unaligned_be32(m->xid, msg + len);
	put_unaligned_be32(0, msg + len + 4);
	if (!AGREE(rpcrdma2_codec_v2.decode(msg, len + 8, &hdr) == RPCRDMA2_OK))
		return;
	if (m->nwrites)
		written = below(chunk_bytes(m, m->write[0]) + 1);
	if (reply.nomsg)
		in_reply = below(chunk_bytes(m, m->reply) + 1);
	reply.reply_written = in_reply;

	m->credit = reply.credit;
	m->htype = reply.nomsg ? RDMA2_NOMSG : RDMA2_MSG;
	m->flags = 1;
	m->inv_handle = 0;
	m->nreads = 0;
	if (m->nwrites)
		fill(m, m->write[0], written);
	if (m->has_reply)
		fill(m, m->reply, in_reply);
	same_bytes(m, buf, rpcrdma2_codec_v2.encode_reply(&reply, buf,
							  sizeof(buf)));
}

static void compare_calls(unsigned long n)
{
	u8 buf[ORACLE_MAX_BYTES * 2];
	struct oracle_msg m;
	int len;

	while (n--) {
		len = random_call(&m, buf, sizeof(buf));
		same_bytes(&m, buf, len);
		if (len > 0)
			compare_reply(&m, buf, len);
	}
}

static void compare_errors(unsigned long n)
{
	u8 buf[RPCRDMA2_MAX_ERROR], want[RPCRDMA2_MAX_ERROR];
	struct oracle_msg m = { .htype = RDMA2_ERROR, .flags = 1 };
	struct rpcrdma2_hdr hdr = { .htype = RDMA2_MSG };
	int len;

	while (n--) {
		m.xid = hdr.xid = rnd();
		m.vers = hdr.vers = one_in(2) ? 2 : word();
		m.credit = rnd();
		m.err = one_in(10) ? word() : 1 + below(9);
		m.arg[0] = word();
		m.arg[1] = word();
		len = rpcrdma2_codec_v2.encode_error(&hdr, m.credit, m.err,
						     m.arg, buf, sizeof(buf));
		if (m.err != RDMA2_ERR_VERS) {
			same_bytes(&m, buf, len);
			continue;
		}
		need(R_ERR_VERS_FIXED);
		AGREE(len == (int)oracle_encode_fixed(&m, want, sizeof(want)) &&
		      !memcmp(buf, want, len));
	}
}

static void some_set(struct rpcrdma2_propset *set, struct oracle_props *props,
		     u32 mask)
{
	u32 i, nochg = 0;

	memset(props, 0, sizeof(*props));
	rpcrdma2_propset_init(set);
	set->listed = mask;
	for (i = 0; i < RPCRDMA2_NR_PROPS; i++) {
		if (!(mask & BIT(i)))
			continue;
		set->val[i] = i == RPCRDMA2_BRS ? below(3) : word();
		if (one_in(2)) {
			set->nochg |= BIT(i);
			nochg |= BIT(props->n);
		}
		oracle_put_value(prop_id(i), set->val[i],
				 &props->prop[props->n++]);
	}
	set->x_change = one_in(2);
	if (set->x_change)
		oracle_put_nochg(nochg, &props->prop[props->n++]);
}

static u32 some_mask(void)
{
	return below(1 << RPCRDMA2_NR_PROPS);
}

static int put_prefix(const struct oracle_msg *m, u8 *buf, u32 size)
{
	int len = rpcrdma2_wire_encode_control(m->xid, m->credit, m->htype,
					       m->flags & 1, buf, size);

	AGREE(len == (int)RPCRDMA2_PREFIX);
	return len;
}

static void compare_connprops(unsigned long n)
{
	struct rpcrdma2_propset set;
	struct oracle_msg m;
	u8 buf[1024];
	int len;

	while (n--) {
		memset(&m, 0, sizeof(m));
		m.xid = rnd();
		m.vers = 2;
		m.credit = rnd();
		m.htype = RDMA2_CONNPROP;
		m.flags = one_in(2);
		some_set(&set, &m.props, some_mask());
		len = put_prefix(&m, buf, sizeof(buf));
		len += rpcrdma2_propset_encode(&set, buf + len, sizeof(buf) - len);
		same_bytes(&m, buf, len);
	}
}

/* A RESPROP to a REQPROP with properties that nobody knows among the others */
static void compare_answer(const struct oracle_msg *request, const u8 *msg,
			   u32 len)
{
	struct rpcrdma2_change c = {};
	struct rpcrdma2_propset mine;
	struct rpcrdma2_reqprop req;
	struct oracle_msg m = {};
	struct rpcrdma2_hdr hdr;
	u32 i, entry, done, other;
	u8 buf[1024];
	int n;

	if (!AGREE(rpcrdma2_prop_change_decode(msg, len, &hdr) == RPCRDMA2_OK) ||
	    !AGREE(!rpcrdma2_prop_change_requested(&hdr, &req)))
		return;
	rpcrdma2_propset_init(&mine);
	mine.val[RPCRDMA2_RBSIZ] = rnd();
	done = some_mask() & req.set.listed;
	other = some_mask() & req.set.listed & ~done;

	m.xid = request->xid;
	m.vers = 2;
	m.credit = rnd();
	m.htype = RDMA2_X_RESPROP;
	m.flags = 1;
	for (i = 0; i < request->props.n; i++)
		m.rejected.word[i / 32] |= 1U << i % 32;
	for (i = 0; i < RPCRDMA2_NR_PROPS; i++) {
		entry = req.places.entry[i];
		if ((done | other) & BIT(i))
			m.rejected.word[entry / 32] &= ~(1U << entry % 32);
		if (done & BIT(i))
			m.done.word[entry / 32] |= 1U << entry % 32;
		if (other & BIT(i))
			oracle_put_value(prop_id(i), mine.val[i],
					 &m.props.prop[m.props.n++]);
	}
	for (i = 0; i < 4; i++) {
		if (m.done.word[i])
			m.done.n = i + 1;
		if (m.rejected.word[i])
			m.rejected.n = i + 1;
	}
	n = put_prefix(&m, buf, sizeof(buf));
	n += rpcrdma2_prop_change_put_resprop(&c, &req, done, other, &mine, buf + n,
					      sizeof(buf) - n);
	same_bytes(&m, buf, n);
}

/* A REQPROP as our encoder makes it, an UPDPROP, and a REQPROP of another */
static void compare_changes(unsigned long n)
{
	struct rpcrdma2_propset mine, peer, set;
	struct rpcrdma2_change c;
	struct oracle_msg m;
	u8 buf[2048];
	u32 i, mask;
	int len;

	while (n--) {
		memset(&m, 0, sizeof(m));
		m.xid = rnd();
		m.vers = 2;
		m.credit = rnd();
		m.htype = RDMA2_X_REQPROP;
		mask = some_mask();
		some_set(&set, &m.props, mask);
		m.props.n -= set.x_change;
		rpcrdma2_propset_init(&mine);
		mine.x_change = true;
		peer = mine;
		peer.listed = mask;
		rpcrdma2_prop_change_init(&c, &mine, &peer);
		for (i = 0; i < RPCRDMA2_NR_PROPS; i++)
			if (mask & BIT(i))
				rpcrdma2_prop_change_ask(&c, &peer, i, set.val[i]);
		len = put_prefix(&m, buf, sizeof(buf));
		len += rpcrdma2_prop_change_put_reqprop(&c, m.xid, buf + len,
							sizeof(buf) - len);
		same_bytes(&m, buf, len);

		m.htype = RDMA2_X_UPDPROP;
		c.dirty = mask;
		len = put_prefix(&m, buf, sizeof(buf));
		len += rpcrdma2_prop_change_put_updprop(&c, m.xid, &set, buf + len,
							sizeof(buf) - len);
		same_bytes(&m, buf, len);

		m.htype = RDMA2_X_REQPROP;
		m.props.n = below(100);
		memset(m.props.prop, 0, sizeof(m.props.prop));
		for (i = 0; i < m.props.n; i++)
			m.props.prop[i].id = 100 + i;
		for (i = 0; m.props.n > 4 && i < RPCRDMA2_NR_PROPS; i++)
			oracle_put_value(prop_id(i), below(3),
					 &m.props.prop[below(m.props.n / 2) * 2 + i]);
		len = oracle_encode(&m, buf, sizeof(buf));
		compare_answer(&m, buf, len);
	}
}

/* ---- tests ---- */

/* Those that are whole messages of version 2, and those that are headers */
static void compare_vectors(void)
{
	struct oracle_msg m;
	u8 buf[512];
	u32 i, j, len, n = 0;

	for (i = 0; i < ARRAY_SIZE(vectors); i++) {
		len = vectors[i].nwords * 4;
		for (j = 0; j < vectors[i].nwords; j++)
			put_unaligned_be32(vectors[i].words[j], buf + j * 4);
		if (len < 20 || get_unaligned_be32(buf + 4) != 2)
			continue;
		if (!strcmp(vectors[i].name, "T3") ||
		    !strcmp(vectors[i].name, "T6")) {
			put_unaligned_be32(vectors[i].words[0], buf + len);
			put_unaligned_be32(vectors[i].words[4], buf + len + 4);
			len += 8;
		}
		compare_message(buf, len);
		/* E1b is no message of version 2, E1e and P5 are cut */
		if (oracle_decode(buf, len, &m) == ORACLE_OK) {
			AGREE(m.same);
			n++;
		}
	}
	AGREE(n == 25);
	printf("# %u messages of version 2 among %zu vectors\n", n,
	       ARRAY_SIZE(vectors));
	end_test("vectors");
}

static void compare_random(unsigned long n)
{
	unsigned long good = 0, i;
	u8 buf[ORACLE_MAX_BYTES];
	struct rpcrdma2_hdr hdr;
	u32 len;

	for (i = 0; i < n && !test_failed; i++) {
		len = make_message(buf, sizeof(buf));
		compare_message(buf, len);
		good += rpcrdma2_codec_v2.decode(buf, len, &hdr) == RPCRDMA2_OK;
	}
	printf("# %lu messages, %lu good ones of the base protocol\n", i, good);
	/* Neither all good nor all bad: both halves have been compared. */
	AGREE(good > n / 10 && good < n - n / 10);
	end_test("random_messages");
}

static void check_rules(void)
{
	char name[128];
	u32 i;

	for (i = 0; i < NR_RULES; i++) {
		printf("# %lu: %s (%s)\n", needed[i], rules[i].text,
		       rules[i].from);
		AGREE(needed[i]);
		snprintf(name, sizeof(name), "beyond_XDR: %s", rules[i].from);
		end_test(name);
	}
}

int main(int argc, char **argv)
{
	unsigned long n = argc > 1 ? strtoul(argv[1], NULL, 0) : 1000000;

	state = argc > 2 ? strtoull(argv[2], NULL, 0) : 0x9e3779b97f4a7c15;
	printf("KTAP version 1\n1..%u\n", 6 + NR_RULES);
	compare_vectors();
	compare_random(n);
	compare_calls(n / 20);
	end_test("encode_calls_and_replies");
	compare_errors(n / 20);
	end_test("encode_errors");
	compare_connprops(n / 20);
	end_test("encode_connprops");
	compare_changes(n / 20);
	end_test("encode_changes");
	check_rules();
	printf("%u passed, %u failed, 0 skipped\n", tests - failed, failed);
	return failed || !tests;
}
