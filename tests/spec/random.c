// SPDX-License-Identifier: GPL-2.0
/*
 * Random messages, most of which are nearly good.
 */

#include <stdlib.h>

#include "oracle.h"

static u64 state;

void random_seed(u64 seed)
{
	state = seed;
}

u32 rnd(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state >> 16;
}

u32 below(u32 n)
{
	return rnd() % n;
}

bool one_in(u32 n)
{
	return !below(n);
}

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

/* Many of these words are near the limits of something. */
static u32 word(void)
{
	return one_in(3) ? odd_word() : rnd();
}

/* ---- memory of a message ---- */

static u64 arena[4096];
static size_t taken;

static void *take(size_t n, size_t size)
{
	void *p = &arena[taken];

	taken += (n * size + sizeof(arena[0]) - 1) / sizeof(arena[0]);
	if (taken > ARRAY_SIZE(arena))
		abort();
	return memset(p, 0, n * size);
}

void take_reset(void)
{
	taken = 0;
}

/* ---- chunks ---- */

static xrpcrdma2_segment segment(void)
{
	xrpcrdma2_segment seg;

	seg.rdma_handle = one_in(2) ? below(4) : rnd();
	seg.rdma_length = one_in(2) ? below(65536) : word();
	seg.rdma_offset = (u64)word() << 32 | word();
	if (!one_in(8))
		seg.rdma_offset >>= 1;
	/* up to the last address, or one byte further */
	if (one_in(32))
		seg.rdma_offset = below(2) - (u64)seg.rdma_length;
	return seg;
}

static xrpcrdma2_write_chunk chunk(void)
{
	u32 i, n = below(one_in(16) ? 17 : one_in(4) ? 6 : 3);
	xrpcrdma2_write_chunk c = {
		.rdma_target = { n, take(n, sizeof(xrpcrdma2_segment)) },
	};

	for (i = 0; i < n; i++)
		c.rdma_target.rdma_target_val[i] = segment();
	return c;
}

static void random_reads(struct oracle_msg *m, xrpcrdma2_read_list **tail)
{
	u32 position = below(3) * 4, i, n;

	m->rpc.rdma_chunks.rdma_inv_handle = one_in(2) ? 0 : word();
	n = one_in(2) ? 0 : below(one_in(8) ? 17 : 4);
	/* Those of a Call are likely to suit it */
	if (m->common.rdma_htype == xRDMA2_NOMSG && !(m->flags & 1) && !one_in(8)) {
		position = 0;
		n++;
	} else if (m->flags & 1 && !one_in(8)) {
		n = 0;
	}
	for (i = 0; i < n; i++, tail = &(*tail)->rdma_next) {
		*tail = take(1, sizeof(**tail));
		(*tail)->rdma_entry.rdma_position = position;
		(*tail)->rdma_entry.rdma_target = segment();
		if (one_in(3))
			position = one_in(20) ? word() : (1 + below(11)) * 4;
	}
}

static void random_lists(struct oracle_msg *m)
{
	xrpcrdma2_chunk_lists *lists = &m->rpc.rdma_chunks;
	xrpcrdma2_write_list **tail = &lists->rdma_writes;
	xrpcrdma2_write_chunk *reply;
	u32 i, n;

	random_reads(m, &lists->rdma_reads);
	n = one_in(2) ? 0 : below(4);
	for (i = 0; i < n; i++, tail = &(*tail)->rdma_next) {
		*tail = take(1, sizeof(**tail));
		(*tail)->rdma_entry = chunk();
	}
	if (!one_in(3) && (m->common.rdma_htype != xRDMA2_NOMSG || !(m->flags & 1) || one_in(8)))
		return;
	reply = take(1, sizeof(*reply));
	*reply = chunk();
	lists->rdma_reply = reply;
	if (m->common.rdma_htype == xRDMA2_MSG && m->flags & 1 && !one_in(4))
		for (i = 0; i < reply->rdma_target.rdma_target_len; i++)
			reply->rdma_target.rdma_target_val[i].rdma_length = 0;
}

/* ---- properties ---- */

static void put_data(u32 id, xdrproc_t proc, void *value, xrpcrdma2_propval *prop)
{
	char *data = take(16, 1);
	XDR xdrs;

	xdrmem_create(&xdrs, data, 16, XDR_ENCODE);
	if (!proc(&xdrs, value))
		abort();
	prop->rdma_which = id;
	prop->rdma_data.rdma_data_len = xdr_getpos(&xdrs);
	prop->rdma_data.rdma_data_val = data;
}

void put_value(u32 id, u32 value, xrpcrdma2_propval *prop)
{
	xrpcrdma2_prop_rbsiz rbsiz = value;
	xrpcrdma2_prop_brs brs = value;

	if (id == xRDMA2_PROPID_BRS)
		put_data(id, (xdrproc_t)xdr_xrpcrdma2_prop_brs, &brs, prop);
	else
		put_data(id, (xdrproc_t)xdr_xrpcrdma2_prop_rbsiz, &rbsiz, prop);
}

static void put_nochg(xrpcrdma2_propval *prop)
{
	u32 words[] = { rnd(), rnd() };
	xrpcrdma2_prop_x_nochg nochg = { below(3), words };

	put_data(xRDMA2_PROPID_X_NOCHG, (xdrproc_t)xdr_xrpcrdma2_prop_x_nochg, &nochg, prop);
}

static void put_identity(xrpcrdma2_propval *prop)
{
	xrpcrdma2_prop_x_identity identity;
	u32 i;

	for (i = 0; i < sizeof(identity); i++)
		identity[i] = rnd();
	put_data(xRDMA2_PROPID_X_IDENTITY, (xdrproc_t)xdr_xrpcrdma2_prop_x_identity,
		 identity, prop);
}

static void random_prop(xrpcrdma2_propval *prop)
{
	static const u32 ids[] = { 1, 1, 2, 2, 3, 0xffffff01, 0xffffff05, 0xffffff7f };
	u32 i, n, id = one_in(16) ? rnd() : ids[below(ARRAY_SIZE(ids))];

	switch (one_in(8) ? 0 : id) {
	case xRDMA2_PROPID_RBSIZ:
		put_value(id, word(), prop);
		break;
	case xRDMA2_PROPID_BRS:
		put_value(id, below(one_in(8) ? 5 : 3), prop);
		break;
	case xRDMA2_PROPID_X_NOCHG:
		put_nochg(prop);
		break;
	case xRDMA2_PROPID_X_IDENTITY:
		put_identity(prop);
		break;
	default:
		n = one_in(2) ? 0 : below(17);
		prop->rdma_which = id;
		prop->rdma_data.rdma_data_len = n;
		prop->rdma_data.rdma_data_val = take(n, 1);
		for (i = 0; i < n; i++)
			prop->rdma_data.rdma_data_val[i] = one_in(2) ? 0 : rnd();
	}
}

static void random_props(xrpcrdma2_propset *props)
{
	u32 i, n = below(one_in(8) ? 40 : 4);

	props->xrpcrdma2_propset_len = n;
	props->xrpcrdma2_propset_val = take(n, sizeof(xrpcrdma2_propval));
	for (i = 0; i < n; i++)
		random_prop(&props->xrpcrdma2_propset_val[i]);
}

static void random_subset(xrpcrdma2_propsubset *s)
{
	u32 i, n = below(one_in(8) ? 12 : 3);

	s->xrpcrdma2_propsubset_len = n;
	s->xrpcrdma2_propsubset_val = take(n, sizeof(u32));
	for (i = 0; i < n; i++)
		s->xrpcrdma2_propsubset_val[i] = one_in(2) ? below(8) : rnd();
}

/* ---- messages ---- */

static void random_msg(struct oracle_msg *m)
{
	static const u32 types[] = {
		xRDMA2_MSG, xRDMA2_MSG, xRDMA2_MSG, xRDMA2_NOMSG, xRDMA2_NOMSG,
		xRDMA2_ERROR, xRDMA2_CONNPROP, xRDMA2_CONNPROP, xRDMA2_X_REQPROP,
		xRDMA2_X_RESPROP, xRDMA2_X_UPDPROP,
	};
	u32 htype;

	memset(m, 0, sizeof(*m));
	take_reset();
	m->common.rdma_xid = word();
	m->common.rdma_vers = 2;
	m->common.rdma_credit = word();
	htype = types[below(ARRAY_SIZE(types))];
	m->common.rdma_htype = htype;
	m->flags = htype == xRDMA2_ERROR || htype == xRDMA2_X_RESPROP ||
		   (htype <= xRDMA2_CONNPROP && one_in(2));
	if (one_in(32))
		m->flags ^= 1;
	switch (htype) {
	case xRDMA2_MSG:
	case xRDMA2_NOMSG:
		random_lists(m);
		m->rpc.rdma_rpc_first_word = one_in(32) ? word() : m->common.rdma_xid;
		break;
	case xRDMA2_ERROR:
		m->error.rdma_err = one_in(16) ? word() : 1 + below(9);
		oracle_err_args(m)[0] = one_in(2) ? below(4) : word();
		oracle_err_args(m)[1] = one_in(2) ? below(4) : word();
		break;
	case xRDMA2_X_RESPROP:
		random_subset(&m->resprop.optrespr_done);
		random_subset(&m->resprop.optrespr_rej);
		fallthrough;
	default:
		random_props(oracle_props(m));
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
				put_unaligned_be32(odd_word(), buf + below(len / 4) * 4);
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

u32 random_message(u8 *buf, u32 size)
{
	struct oracle_msg m;
	u32 len;

	random_msg(&m);
	if (one_in(64) && m.common.rdma_htype == xRDMA2_ERROR) {
		m.common.rdma_vers = below(4);
		m.error.rdma_err = xRDMA2_ERR_VERS;
		len = oracle_encode_fixed(&m, buf, size);
	} else {
		len = oracle_encode(&m, buf, size);
	}
	if (len && m.common.rdma_htype == xRDMA2_MSG && size - len >= 4) {
		put_unaligned_be32(one_in(32) ? word() : m.flags & 1, buf + len);
		len += 4;
	}
	return one_in(3) ? len : spoil(buf, len, size);
}
