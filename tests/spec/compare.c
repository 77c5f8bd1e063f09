// SPDX-License-Identifier: GPL-2.0
/*
 * Compares wire.c, props.c and prop_change.c with the code that rpcgen made of
 * rpcrdma_version_two.x: the golden vectors, and random messages. What is decoded is encoded
 * again. Prints KTAP.
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
#include "../unit/decoded.h"
#include "oracle.h"

#define RULES								\
	RULE(SHORT,	"HDR-5 D-9",	"shorter than a prefix: dropped")	\
	RULE(OTHER_VERS, "HDR-4",	"another version is another codec's")	\
	RULE(UNKNOWN,	"HT-2 EXT-1 D-11", "unknown type: INVAL_HTYPE")	\
	RULE(UNKNOWN_RESPONSE, "HT-3 D-11", "unknown type with RESPONSE: dropped") \
	RULE(FLAGS,	"FLG-3 EXT-4 D-13",	"a reserved flag is refused")	\
	RULE(ERROR_CALL, "FLG-9 HT-4",	"an ERROR without RESPONSE: dropped") \
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
	RULE(TRAILING,	"CHK-31 HT-5 D-12", "bytes behind a message are ignored") \
	RULE(PADDING,	"PROP-1",	"padding that is not zero is ignored") \
	RULE(DUPLICATE,	"PROP-10 D-12",	"a known property twice is refused") \
	RULE(VALUE,	"PROP-7 PROP-8 PROP-9 PROP-17 D-12",			\
	     "a value of another type is refused")			\
	RULE(NOCHG,	"PROP-20 CHG-15 D-4",	"an X_NOCHG of another type is refused") \
	RULE(IDENTITY,	"PROP-22 D-53",	"an X_IDENTITY of another type is refused") \
	RULE(EMPTY,	"PROP-4 CHG-30",	"an empty value is the default")	\
	RULE(DIRECTION,	"FLG-7 FLG-11 CHG-29", "RESPONSE does not suit a change message") \
	RULE(OVERLAP,	"CHG-11 CHG-12",	"done and rejected overlap: rejected")

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

/* Requirements that the content of random messages shows; make list prints them. */
#define CONTENT								\
	"FLG-10 FLG-11 HT-7 CHK-7 CHK-11 CHK-12 CHK-18 CHK-19 CHK-26 MSG-6 MSG-7 MSG-9 ERR-10 " \
	"PROP-2 PROP-3 PROP-5 PROP-6 PROP-11 CONN-2 CHG-1 CHG-13 CHG-29 EXT-3 SEC-2 SEC-3 D-20 D-24"

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

/* ---- what is to be expected ---- */

static bool wraps(const xrpcrdma2_segment *seg)
{
	return seg->rdma_length &&
	       seg->rdma_offset + (seg->rdma_length - 1) < seg->rdma_offset;
}

static bool chunk_wraps(const xrpcrdma2_write_chunk *c)
{
	u32 i;

	for (i = 0; i < c->rdma_target.rdma_target_len; i++)
		if (wraps(&c->rdma_target.rdma_target_val[i]))
			return true;
	return false;
}

static bool any_wraps(const xrpcrdma2_chunk_lists *lists)
{
	const xrpcrdma2_write_list *w;
	const xrpcrdma2_read_list *r;

	for (r = lists->rdma_reads; r; r = r->rdma_next)
		if (wraps(&r->rdma_entry.rdma_target))
			return true;
	for (w = lists->rdma_writes; w; w = w->rdma_next)
		if (chunk_wraps(&w->rdma_entry))
			return true;
	return lists->rdma_reply && chunk_wraps(lists->rdma_reply);
}

static bool odd_position(const xrpcrdma2_chunk_lists *lists)
{
	const xrpcrdma2_read_list *r;

	for (r = lists->rdma_reads; r; r = r->rdma_next)
		if (r->rdma_entry.rdma_position % 4)
			return true;
	return false;
}

static u64 chunk_bytes(const xrpcrdma2_write_chunk *c)
{
	u64 sum = 0;
	u32 i;

	for (i = 0; i < c->rdma_target.rdma_target_len; i++)
		sum += c->rdma_target.rdma_target_val[i].rdma_length;
	return sum;
}

/* Entries of the Read list at @position, in front of @end */
static u32 reads_at(const xrpcrdma2_chunk_lists *lists, u32 position,
		    const xrpcrdma2_read_list *end)
{
	const xrpcrdma2_read_list *r;
	u32 n = 0;

	for (r = lists->rdma_reads; r != end; r = r->rdma_next)
		n += r->rdma_entry.rdma_position == position;
	return n;
}

static bool has_position_zero(const xrpcrdma2_chunk_lists *lists)
{
	return reads_at(lists, 0, NULL);
}

static bool wrong_shape(const struct oracle_msg *m)
{
	const xrpcrdma2_chunk_lists *lists = &m->rpc.rdma_chunks;
	bool nomsg = m->common.rdma_htype == RDMA2_NOMSG;

	if (!(m->flags & 1))
		return has_position_zero(lists) != nomsg;
	if (lists->rdma_reads)
		return true;
	if (nomsg)
		return !lists->rdma_reply;
	return lists->rdma_reply && chunk_bytes(lists->rdma_reply);
}

/* Rules for MSG and NOMSG that XDR cannot express, in no particular order */
static bool forbidden(const struct oracle_msg *m, const u8 *msg, u32 len)
{
	bool inl = m->common.rdma_htype == RDMA2_MSG;

	if (!m->same)
		return need(R_BOOL);
	if (odd_position(&m->rpc.rdma_chunks))
		return need(R_POSITION);
	if (any_wraps(&m->rpc.rdma_chunks))
		return need(R_WRAP);
	if (inl && len < m->bytes + 4)
		return need(m->flags & 1 ? R_BAD_REPLY : R_BAD_CALL);
	if (inl && m->rpc.rdma_rpc_first_word != m->common.rdma_xid)
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
	const u32 *range = oracle_err_args(fixed);

	return len == 28 && oracle_decode_fixed(msg, len, fixed) &&
	       fixed->error.rdma_err == RDMA2_ERR_VERS && range[0] < 2 &&
	       range[0] <= range[1] && need(R_ERR_VERS_FIXED);
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
	AGREE(result != ORACLE_SHORT && m->common.rdma_vers == 2);
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
	if (!base_type(m->common.rdma_htype)) {
		need(m->flags & 1 ? R_UNKNOWN_RESPONSE : R_UNKNOWN);
		return fault(m, RPCRDMA2_INVAL_HTYPE);
	}
	if (m->flags & ~1U) {
		need(R_FLAGS);
		return m->common.rdma_htype == RDMA2_ERROR ? RPCRDMA2_DROP :
						 fault(m, RPCRDMA2_BAD_XDR);
	}
	switch (m->common.rdma_htype) {
	case RDMA2_ERROR:
		if (!(m->flags & 1)) {
			need(R_ERROR_CALL);
			return RPCRDMA2_DROP;
		}
		if (fixed_err_vers(msg, len, &fixed)) {
			m->error = fixed.error;
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

static void same_segment(const xrpcrdma2_segment *a, const struct rpcrdma2_segment *b)
{
	AGREE(a->rdma_handle == b->handle);
	AGREE(a->rdma_length == b->length);
	AGREE(a->rdma_offset == b->offset);
}

static void same_chunk(const xrpcrdma2_write_chunk *c, struct rpcrdma2_cursor segs)
{
	u32 i, n = c->rdma_target.rdma_target_len;
	struct rpcrdma2_segment seg;

	AGREE(segs.left == n);
	AGREE(rpcrdma2_segs_bytes(segs) == chunk_bytes(c));
	for (i = 0; i < n && AGREE(rpcrdma2_segs_next(&segs, &seg)); i++)
		same_segment(&c->rdma_target.rdma_target_val[i], &seg);
}

/* What a decoded header counts: distinct Positions other than zero, and the
 * segments of the largest chunk. It may count more beyond eight Positions.
 */
static void same_counts(const xrpcrdma2_chunk_lists *lists, const struct rpcrdma2_hdr *hdr)
{
	const xrpcrdma2_write_list *w;
	const xrpcrdma2_read_list *r;
	u32 distinct = 0, all = 0, max = 0, position;

	for (r = lists->rdma_reads; r; r = r->rdma_next) {
		position = r->rdma_entry.rdma_position;
		max = max(max, reads_at(lists, position, NULL));
		if (!reads_at(lists, position, r)) {
			all++;
			distinct += !!position;
		}
	}
	for (w = lists->rdma_writes; w; w = w->rdma_next)
		max = max(max, w->rdma_entry.rdma_target.rdma_target_len);
	if (lists->rdma_reply)
		max = max(max, lists->rdma_reply->rdma_target.rdma_target_len);
	AGREE(hdr->has_pz == has_position_zero(lists));
	AGREE(all > 8 ? hdr->read_chunks >= distinct : hdr->read_chunks == distinct);
	AGREE(all > 8 ? hdr->max_segs >= max : hdr->max_segs == max);
}

static void same_lists(const xrpcrdma2_chunk_lists *lists, const struct rpcrdma2_hdr *hdr)
{
	const xrpcrdma2_write_list *w;
	const xrpcrdma2_read_list *r;
	struct rpcrdma2_cursor c, segs;
	struct rpcrdma2_segment seg;
	u32 position, n = 0;

	rpcrdma2_read_list_begin(hdr, &c);
	for (r = lists->rdma_reads; r; r = r->rdma_next, n++) {
		if (!AGREE(rpcrdma2_read_list_next(&c, &position, &seg)))
			return;
		AGREE(position == r->rdma_entry.rdma_position);
		same_segment(&r->rdma_entry.rdma_target, &seg);
	}
	AGREE(hdr->read_segs == n);
	rpcrdma2_write_list_begin(hdr, &c);
	for (w = lists->rdma_writes, n = 0; w; w = w->rdma_next, n++) {
		if (!AGREE(rpcrdma2_write_list_next(&c, &segs)))
			return;
		same_chunk(&w->rdma_entry, segs);
	}
	AGREE(hdr->write_chunks == n);
	AGREE(rpcrdma2_hdr_reply_chunk(hdr, &segs) == !!lists->rdma_reply);
	if (lists->rdma_reply)
		same_chunk(lists->rdma_reply, segs);
	same_counts(lists, hdr);
}

static void same_rpc(const struct oracle_msg *m, const struct rpcrdma2_hdr *hdr,
		     const u8 *msg, u32 len)
{
	u32 hdr_len = m->bytes - (m->common.rdma_htype == RDMA2_MSG ? 4 : 0);
	u32 inv_handle = m->rpc.rdma_chunks.rdma_inv_handle;

	if (hdr->response && inv_handle)
		need(R_INV_HANDLE);
	AGREE(hdr->inv_handle == (hdr->response ? 0 : inv_handle));
	AGREE(hdr->hdr_len == hdr_len);
	if (m->common.rdma_htype == RDMA2_MSG) {
		AGREE(hdr->body == msg + hdr_len);
		AGREE(hdr->body_len == len - hdr_len);
	} else {
		AGREE(!hdr->body_len);
		if (len > hdr_len)
			need(R_TRAILING);
	}
	same_lists(&m->rpc.rdma_chunks, hdr);
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

/* The last entry for a property, and whether there is more than one */
static const xrpcrdma2_propval *find_prop(const xrpcrdma2_propset *props, u32 id,
					  u32 *entry, bool *twice)
{
	const xrpcrdma2_propval *found = NULL;
	u32 i;

	*twice = false;
	for (i = 0; i < props->xrpcrdma2_propset_len; i++) {
		if (props->xrpcrdma2_propset_val[i].rdma_which != id)
			continue;
		*twice = found;
		found = &props->xrpcrdma2_propset_val[i];
		*entry = i;
	}
	return found;
}

/* A set as it should be decoded, or false if it should be refused */
static bool expect_set(const xrpcrdma2_propset *props, struct rpcrdma2_propset *set,
		       u32 *entries)
{
	const xrpcrdma2_propval *prop, *nochg;
	bool twice;
	u32 i;

	memset(set, 0, sizeof(*set));
	prop = find_prop(props, RDMA2_PROPID_X_IDENTITY, &i, &twice);
	if (twice)
		return !need(R_DUPLICATE);
	set->x_identity = prop;
	set->identified = prop && prop->rdma_data.rdma_data_len;
	if (set->identified && !oracle_identity(prop, set->identity))
		return !need(R_IDENTITY);
	nochg = find_prop(props, RDMA2_PROPID_X_NOCHG, &i, &twice);
	if (twice)
		return !need(R_DUPLICATE);
	set->x_change = nochg && nochg->rdma_data.rdma_data_len;
	if (set->x_change && oracle_nochg(nochg, 0) < 0)
		return !need(R_NOCHG);
	for (i = 0; i < RPCRDMA2_NR_PROPS; i++) {
		set->val[i] = prop_default(i);
		prop = find_prop(props, prop_id(i), &entries[i], &twice);
		if (twice)
			return !need(R_DUPLICATE);
		if (!prop)
			continue;
		set->listed |= BIT(i);
		if (set->x_change && oracle_nochg(nochg, entries[i]))
			set->nochg |= BIT(i);
		if (!prop->rdma_data.rdma_data_len)
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
	AGREE(a->x_identity == b->x_identity && a->identified == b->identified);
	AGREE(!memcmp(a->identity, b->identity, sizeof(a->identity)));
}

/* What our encoder has made of a set is that set. */
static void same_again(u32 htype, const u8 *body, int len, const struct rpcrdma2_propset *set)
{
	u8 msg[RPCRDMA2_PREFIX + RPCRDMA2_PROPS_MAX];
	u32 entries[RPCRDMA2_NR_PROPS], xid = rnd(), credit = rnd();
	struct rpcrdma2_propset again;
	struct oracle_msg m = {};

	if (!AGREE(len > 0) ||
	    !AGREE(rpcrdma2_wire_encode_control(xid, credit, htype, false, msg, sizeof(msg)) ==
		   (int)RPCRDMA2_PREFIX))
		return;
	memcpy(msg + RPCRDMA2_PREFIX, body, len);
	if (AGREE(oracle_decode(msg, RPCRDMA2_PREFIX + len, &m) == ORACLE_OK) &&
	    AGREE(expect_set(oracle_props(&m), &again, entries)))
		same_set(&again, set);
	AGREE(m.same && m.bytes == RPCRDMA2_PREFIX + len);
	AGREE(m.common.rdma_xid == xid && m.common.rdma_credit == credit && !m.flags);
	oracle_free(&m);
}

/* The set as a CONNPROP, a REQPROP and an UPDPROP of ours */
static void encode_set(struct rpcrdma2_propset set)
{
	struct rpcrdma2_propset mine, peer;
	u8 body[RPCRDMA2_PROPS_MAX];
	struct rpcrdma2_change c;
	u32 i;

	same_again(RDMA2_CONNPROP, body, rpcrdma2_propset_encode(&set, body, sizeof(body)), &set);
	set.x_change = false;
	set.nochg = 0;
	set.x_identity = false;
	set.identified = false;
	memset(set.identity, 0, sizeof(set.identity));
	rpcrdma2_propset_init(&mine);
	mine.x_change = true;
	peer = mine;
	peer.listed = set.listed;
	rpcrdma2_prop_change_init(&c, &mine, &peer);
	for (i = 0; i < RPCRDMA2_NR_PROPS; i++)
		if (set.listed & BIT(i))
			rpcrdma2_prop_change_ask(&c, &peer, i, set.val[i]);
	same_again(RDMA2_X_REQPROP, body,
		   rpcrdma2_prop_change_put_reqprop(&c, 1, body, sizeof(body)), &set);
	c.dirty = set.listed;
	same_again(RDMA2_X_UPDPROP, body,
		   rpcrdma2_prop_change_put_updprop(&c, 1, &set, body, sizeof(body)), &set);
}

/* The set that begins at @body: decoded as it should be? */
static void compare_props(struct oracle_msg *m, enum oracle_result result,
			  const u8 *body, u32 len)
{
	u32 entries[RPCRDMA2_NR_PROPS] = {}, i;
	const xrpcrdma2_propset *props = oracle_props(m);
	struct rpcrdma2_propset set, want, before;
	int ret;

	memset(&before, 0xa5, sizeof(before));
	set = before;
	ret = rpcrdma2_propset_decode(body, len, &set);
	if (result != ORACLE_OK || !expect_set(props, &want, entries)) {
		AGREE(ret == -EBADMSG && !memcmp(&set, &before, sizeof(set)));
		return;
	}
	if (!m->same)
		need(R_PADDING);
	if (m->bytes - RPCRDMA2_PREFIX < len)
		need(R_TRAILING);
	if (!AGREE(ret == (int)(m->bytes - RPCRDMA2_PREFIX)))
		return;
	same_set(&set, &want);
	AGREE(set.count == props->xrpcrdma2_propset_len);
	for (i = 0; i < RPCRDMA2_NR_PROPS; i++)
		if (set.listed & BIT(i))
			AGREE(set.entry[i] == entries[i]);
	encode_set(set);
}

static void same_prefix(const struct oracle_msg *m,
			const struct rpcrdma2_hdr *hdr)
{
	AGREE(hdr->xid == m->common.rdma_xid);
	AGREE(hdr->vers == m->common.rdma_vers);
	AGREE(hdr->credit == m->common.rdma_credit);
	AGREE(hdr->htype == m->common.rdma_htype);
	AGREE(hdr->response == (m->flags & 1));
}

/* ---- encoders of Calls and Replies ---- */

static unsigned long encoded;

static void same_bytes(struct oracle_msg *m, const u8 *buf, int len)
{
	u8 want[2 * ORACLE_MAX_BYTES];
	u32 n = oracle_encode(m, want, sizeof(want));

	if (m->common.rdma_htype == RDMA2_MSG)
		n -= 4;			/* the RPC message's */
	AGREE(len == (int)n && !memcmp(buf, want, n));
}

/* Lengths of a chunk's segments when some bytes are written into it, which it returns */
static u32 fill(xrpcrdma2_write_chunk *c, bool used)
{
	u32 bytes = used ? below(min_t(u64, chunk_bytes(c), 0xfffffffe) + 1) : 0;
	u32 i, left = bytes, *length;

	for (i = 0; i < c->rdma_target.rdma_target_len; i++) {
		length = &c->rdma_target.rdma_target_val[i].rdma_length;
		*length = min(left, *length);
		left -= *length;
	}
	return bytes;
}

/* What version 1 makes of it: the same without flags and the handle to be invalidated */
static void same_v1(const u8 *v1, int len1, const u8 *v2, int len2)
{
	AGREE(len1 == len2 - 8 && !memcmp(v1, v2, 4) && get_unaligned_be32(v1 + 4) == 1 &&
	      !memcmp(v1 + 8, v2 + 8, 8) && !memcmp(v1 + 16, v2 + 24, len2 - 24));
}

/* A Call that we could have sent is encoded to its bytes. */
static void encode_call(const struct rpcrdma2_hdr *hdr, const u8 *msg)
{
	u8 buf[ORACLE_MAX_BYTES], v1[ORACLE_MAX_BYTES];
	int len = hdr->hdr_len, len1 = len - 8;
	struct rpcrdma2_call_hdr call;
	struct call_chunks chunks;

	if (!call_again(hdr, &chunks, &call))
		return;
	encoded++;
	AGREE((int)rpcrdma2_call_len(&rpcrdma2_codec_v2, &call) == len);
	AGREE(rpcrdma2_wire_encode_call(&rpcrdma2_codec_v2, &call, buf, len) == len &&
	      !memcmp(buf, msg, len));
	AGREE((int)rpcrdma2_call_len(&rpcrdma2_codec_v1, &call) == len1);
	same_v1(v1, rpcrdma2_wire_encode_call(&rpcrdma2_codec_v1, &call, v1, len1), msg, len);
}

/* The Reply to a Call, which @m becomes */
static void encode_reply(struct oracle_msg *m, const struct rpcrdma2_hdr *hdr)
{
	xrpcrdma2_chunk_lists *lists = &m->rpc.rdma_chunks;
	xrpcrdma2_read_list *reads = lists->rdma_reads;
	u8 buf[ORACLE_MAX_BYTES * 2], v1[ORACLE_MAX_BYTES * 2];
	xrpcrdma2_write_list *w;
	u32 written[8], len;
	struct rpcrdma2_reply_hdr reply = {
		.xid		= m->common.rdma_xid,
		.credit		= rnd(),
		.nomsg		= lists->rdma_reply && one_in(2),
		.call		= hdr,
		.written	= written,
	};

	if (hdr->write_chunks > ARRAY_SIZE(written))
		return;
	m->common.rdma_credit = reply.credit;
	m->common.rdma_htype = reply.nomsg ? RDMA2_NOMSG : RDMA2_MSG;
	m->flags = 1;
	lists->rdma_inv_handle = 0;
	lists->rdma_reads = NULL;
	for (w = lists->rdma_writes; w; w = w->rdma_next)
		written[reply.nwritten++] = fill(&w->rdma_entry, true);
	if (lists->rdma_reply)
		reply.reply_written = fill(lists->rdma_reply, reply.nomsg);
	len = rpcrdma2_reply_len(&rpcrdma2_codec_v2, &reply);
	AGREE(rpcrdma2_wire_encode_reply(&rpcrdma2_codec_v2, &reply, buf, len - 1) == -EMSGSIZE);
	same_bytes(m, buf, rpcrdma2_wire_encode_reply(&rpcrdma2_codec_v2, &reply, buf, len));
	same_v1(v1, rpcrdma2_wire_encode_reply(&rpcrdma2_codec_v1, &reply, v1, len - 8), buf, len);
	lists->rdma_reads = reads;		/* to be freed */
}

/* ---- one message ---- */

static void encode_error(struct oracle_msg *m, const struct rpcrdma2_hdr *hdr)
{
	u8 buf[RPCRDMA2_MAX_ERROR], want[RPCRDMA2_MAX_ERROR];
	int len = rpcrdma2_wire_encode_error(&rpcrdma2_codec_v2, hdr, hdr->credit, hdr->err,
					     hdr->err_arg, buf, sizeof(buf));

	if (hdr->err != RDMA2_ERR_VERS)
		same_bytes(m, buf, len);
	else
		AGREE(len == (int)oracle_encode_fixed(m, want, sizeof(want)) &&
		      !memcmp(buf, want, len));
}

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
		AGREE(hdr.err == m->error.rdma_err);
		AGREE(hdr.err > RDMA2_ERR_REPLY_RESOURCE ||
		      !memcmp(hdr.err_arg, oracle_err_args(m), sizeof(hdr.err_arg)));
		encode_error(m, &hdr);
		break;
	case RDMA2_CONNPROP:
		AGREE(hdr.body == msg + RPCRDMA2_PREFIX);
		AGREE(hdr.body_len == len - RPCRDMA2_PREFIX);
		compare_props(m, result, hdr.body, hdr.body_len);
		break;
	default:
		same_rpc(m, &hdr, msg, len);
		if (hdr.response)
			break;
		encode_call(&hdr, msg);
		encode_reply(m, &hdr);
	}
}

/* What XDR and CHG-12 make of an answer to a request whose entry @entry is @prop */
static enum rpcrdma2_change_result expect_result(const struct oracle_msg *m,
						 const struct rpcrdma2_propset *other,
						 u32 prop, u32 entry)
{
	bool rejected = oracle_selected(&m->resprop.optrespr_rej, entry);
	bool done = oracle_selected(&m->resprop.optrespr_done, entry);
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
	static const u32 wish[] = {
		[RPCRDMA2_RBSIZ]	= 8192,
		[RPCRDMA2_BRS]		= RDMA2_RVREQSUP_GENL,
	};
	u32 asked = 1 + below(BIT(RPCRDMA2_NR_PROPS) - 1);
	struct rpcrdma2_propset mine, peer, other;
	u32 entries[RPCRDMA2_NR_PROPS], i, entry = 0;
	enum rpcrdma2_change_result want;
	struct rpcrdma2_change c;
	u8 buf[RPCRDMA2_PROPS_MAX];
	bool malformed, good;

	rpcrdma2_propset_init(&mine);
	mine.x_change = true;
	peer = mine;
	peer.listed = BIT(RPCRDMA2_RBSIZ) | BIT(RPCRDMA2_BRS);
	rpcrdma2_prop_change_init(&c, &mine, &peer);
	for (i = 0; i < RPCRDMA2_NR_PROPS; i++)
		if (asked & BIT(i))
			rpcrdma2_prop_change_ask(&c, &peer, i, wish[i]);
	rpcrdma2_prop_change_put_reqprop(&c, hdr->xid, buf, sizeof(buf));

	good = result == ORACLE_OK &&
	       expect_set(&m->resprop.optrespr_other, &other, entries);
	if (!AGREE(rpcrdma2_prop_change_response(&c, hdr, &peer, &malformed)))
		return;
	AGREE(malformed == !good && !c.pending);
	for (i = 0; i < RPCRDMA2_NR_PROPS; i++) {
		want = !(asked & BIT(i)) ? RPCRDMA2_CHANGE_NEVER :
		       good ? expect_result(m, &other, i, entry++) : RPCRDMA2_CHANGE_REJECTED;
		AGREE(c.result[i] == want);
		AGREE(peer.val[i] == (want == RPCRDMA2_CHANGE_OTHER ? other.val[i] :
				      want == RPCRDMA2_CHANGE_DONE ? wish[i] : mine.val[i]));
	}
}

/* Bits of a subset, and how many words of them are needed */
static void put_subset(xrpcrdma2_propsubset *s, u32 *words, u32 max)
{
	s->xrpcrdma2_propsubset_val = words;
	while (max && !words[max - 1])
		max--;
	s->xrpcrdma2_propsubset_len = max;
}

/* The RESPROP to a REQPROP of @count properties, unknown ones among them */
static void encode_answer(const struct rpcrdma2_hdr *hdr, u32 count)
{
	struct oracle_msg m = {
		.common = { hdr->xid, 2, rnd(), RDMA2_X_RESPROP },
		.flags = 1,
	};
	xrpcrdma2_propset *others = oracle_props(&m);
	u32 done_bits[4] = {}, rejected_bits[4] = {};
	u32 i, bit, entry, word, done, other, n = 0;
	xrpcrdma2_propval props[RPCRDMA2_NR_PROPS];
	struct rpcrdma2_propset mine, req;
	struct rpcrdma2_change c = {};
	u8 buf[1024];
	int len;

	if (rpcrdma2_prop_change_requested(hdr, &req))
		return;
	take_reset();
	rpcrdma2_propset_init(&mine);
	mine.val[RPCRDMA2_RBSIZ] = rnd();
	done = below(1 << RPCRDMA2_NR_PROPS) & req.listed;
	other = below(1 << RPCRDMA2_NR_PROPS) & req.listed & ~done;

	for (i = 0; i < count; i++)
		rejected_bits[i / 32] |= 1U << i % 32;
	for (i = 0; i < RPCRDMA2_NR_PROPS; i++) {
		bit = (done | other) & BIT(i);
		if (!bit)
			continue;
		entry = req.entry[i];
		word = entry / 32;
		rejected_bits[word] &= ~(1U << entry % 32);
		if (done & bit)
			done_bits[word] |= 1U << entry % 32;
		else
			put_value(prop_id(i), mine.val[i], &props[n++]);
	}
	put_subset(&m.resprop.optrespr_done, done_bits, ARRAY_SIZE(done_bits));
	put_subset(&m.resprop.optrespr_rej, rejected_bits, ARRAY_SIZE(rejected_bits));
	others->xrpcrdma2_propset_len = n;
	others->xrpcrdma2_propset_val = props;
	len = rpcrdma2_wire_encode_control(hdr->xid, m.common.rdma_credit, RDMA2_X_RESPROP, true,
					   buf, sizeof(buf));
	len += rpcrdma2_prop_change_put_resprop(&c, &req, done, other, &mine, buf + len,
						sizeof(buf) - len);
	same_bytes(&m, buf, len);
}

static void compare_change(struct oracle_msg *m, enum oracle_result result,
			   const u8 *msg, u32 len)
{
	enum rpcrdma2_verdict verdict, want;
	struct rpcrdma2_hdr hdr;
	bool extension;

	want = expect_prefix(m, result, msg, len);
	verdict = rpcrdma2_prop_change_decode(msg, len, &hdr);
	extension = want == RPCRDMA2_OK && m->common.rdma_htype > 0xffffff01 &&
		    result != ORACLE_UNKNOWN;
	if (want == RPCRDMA2_OK && !extension) {
		want = fault(m, RPCRDMA2_INVAL_HTYPE);
	} else if (extension && m->flags != (m->common.rdma_htype == RDMA2_X_RESPROP)) {
		need(R_DIRECTION);
		want = fault(m, RPCRDMA2_BAD_XDR);
	}
	if (!AGREE(verdict == want) || verdict != RPCRDMA2_OK)
		return;
	same_prefix(m, &hdr);
	if (hdr.htype == RDMA2_X_RESPROP)
		compare_resprop(m, result, &hdr);
	else
		compare_props(m, result, hdr.body, hdr.body_len);
	if (hdr.htype == RDMA2_X_REQPROP && result == ORACLE_OK)
		encode_answer(&hdr, oracle_props(m)->xrpcrdma2_propset_len);
}

/* In an allocation of its own size, so that nothing is read beyond it */
static u8 *exact(const u8 *bytes, u32 len)
{
	u8 *p = malloc(len ? len : 1);

	if (!p)
		abort();
	return memcpy(p, bytes, len);
}

/*
 * A message is in version 1 what it is in version 2, where its direction has a flag. Faults
 * that leave the direction open are those of a Call.
 */
static void compare_v1(const u8 *bytes, u32 len)
{
	u8 *v1 = exact(bytes + 8, len - 8), *v2 = exact(bytes, len);
	struct rpcrdma2_hdr a, b;
	enum rpcrdma2_verdict verdict;

	memcpy(v1, bytes, 16);
	put_unaligned_be32(1, v1 + 4);
	put_unaligned_be32(2, v2 + 4);
	verdict = rpcrdma2_codec_v1.decode(v1, len - 8, &a);
	put_unaligned_be32(!a.undirected && a.response, v2 + 16);
	put_unaligned_be32(0, v2 + 20);
	if (AGREE(verdict == rpcrdma2_codec_v2.decode(v2, len, &b)) && verdict == RPCRDMA2_OK) {
		AGREE(!a.undirected && !a.inv_handle && !a.has_inv_handle == !b.has_inv_handle);
		AGREE(a.hdr_len + 8 == b.hdr_len && a.body_len == b.body_len);
		AGREE(!a.read_segs || a.read_list - v1 + 8 == b.read_list - v2);
		AGREE(!a.write_chunks || a.write_list - v1 + 8 == b.write_list - v2);
		AGREE(a.reply_chunk ? a.reply_chunk - v1 + 8 == b.reply_chunk - v2 : !b.reply_chunk);
		AGREE(a.read_segs == b.read_segs && a.read_chunks == b.read_chunks &&
		      a.write_chunks == b.write_chunks && a.max_segs == b.max_segs &&
		      a.results_len == b.results_len && a.has_pz == b.has_pz &&
		      a.only_handle == b.only_handle);
	} else {
		AGREE(verdict == RPCRDMA2_BAD_XDR || !a.undirected);
	}
	free(v1);
	free(v2);
}

static void compare_message(const u8 *bytes, u32 len)
{
	u8 *msg = exact(bytes, len);
	enum oracle_result result;
	struct oracle_msg m;

	now_msg = msg;
	now_len = len;
	result = oracle_decode(msg, len, &m);
	compare_change(&m, result, msg, len);
	compare_base(&m, result, msg, len);
	if (len >= 36 && m.common.rdma_htype <= RDMA2_NOMSG)
		compare_v1(msg, len);
	oracle_free(&m);
	now_msg = NULL;
	free(msg);
}

/* ---- tests ---- */

static const struct {
	const char	*name;
	u32		nwords;
	const u32	*words;
} vectors[] = {
#define VECTOR(id, ...)							\
	{ #id, sizeof((const u32[]){ __VA_ARGS__ }) / 4, (const u32[]){ __VA_ARGS__ } },
#include "../unit/vectors.inc"
#undef VECTOR
};

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
		oracle_free(&m);
	}
	AGREE(n == 28);
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
		len = random_message(buf, sizeof(buf));
		compare_message(buf, len);
		good += rpcrdma2_codec_v2.decode(buf, len, &hdr) == RPCRDMA2_OK;
	}
	printf("# %lu messages, %lu good ones of the base protocol\n", i, good);
	printf("# %lu Calls encoded again\n", encoded);
	printf("# shown: %s\n", CONTENT);
	AGREE(encoded > n / 20);
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

	random_seed(argc > 2 ? strtoull(argv[2], NULL, 0) : 0x9e3779b97f4a7c15);
	printf("KTAP version 1\n1..%u\n", 2 + NR_RULES);
	compare_vectors();
	compare_random(n);
	check_rules();
	printf("%u passed, %u failed, 0 skipped\n", tests - failed, failed);
	return failed || !tests;
}
