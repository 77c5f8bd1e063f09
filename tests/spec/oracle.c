// SPDX-License-Identifier: GPL-2.0
/*
 * Around the code that rpcgen made: one object after the other, as the header
 * type says, and to and from struct oracle_msg. Nothing is judged here but what
 * XDR itself forbids.
 */

#include <stdlib.h>
#include <string.h>

#include "rpcrdma_version_two.h"
#include "oracle.h"

#define COUNT(a)	(sizeof(a) / sizeof((a)[0]))

/* All that may follow a prefix */
union body {
	rpcrdma2_msg		msg;
	rpcrdma2_nomsg		nomsg;
	rpcrdma2_error		error;
	rpcrdma2_connprop	connprop;
	rpcrdma2_x_reqprop	reqprop;
	rpcrdma2_x_resprop	resprop;
	rpcrdma2_x_updprop	updprop;
};

static xdrproc_t body_of(uint32_t htype)
{
	switch (htype) {
	case RDMA2_MSG:
		return (xdrproc_t)xdr_rpcrdma2_msg;
	case RDMA2_NOMSG:
		return (xdrproc_t)xdr_rpcrdma2_nomsg;
	case RDMA2_ERROR:
		return (xdrproc_t)xdr_rpcrdma2_error;
	case RDMA2_CONNPROP:
		return (xdrproc_t)xdr_rpcrdma2_connprop;
	case RDMA2_X_REQPROP:
		return (xdrproc_t)xdr_rpcrdma2_x_reqprop;
	case RDMA2_X_RESPROP:
		return (xdrproc_t)xdr_rpcrdma2_x_resprop;
	case RDMA2_X_UPDPROP:
		return (xdrproc_t)xdr_rpcrdma2_x_updprop;
	default:
		return NULL;
	}
}

/* ---- from the generated types ---- */

static struct oracle_segment *new_segment(struct oracle_msg *m)
{
	if (m->nsegs == COUNT(m->seg))
		abort();	/* a message of ORACLE_MAX_BYTES has less */
	return &m->seg[m->nsegs++];
}

static void take_segment(struct oracle_msg *m, const rpcrdma2_segment *from)
{
	struct oracle_segment *seg = new_segment(m);

	seg->handle = from->rdma_handle;
	seg->length = from->rdma_length;
	seg->offset = from->rdma_offset;
}

static struct oracle_chunk take_chunk(struct oracle_msg *m,
				      const rpcrdma2_write_chunk *from)
{
	struct oracle_chunk c = { m->nsegs, from->rdma_target.rdma_target_len };
	uint32_t i;

	for (i = 0; i < c.n; i++)
		take_segment(m, &from->rdma_target.rdma_target_val[i]);
	return c;
}

static void take_lists(struct oracle_msg *m, const rpcrdma2_chunk_lists *from)
{
	const rpcrdma2_write_list *w;
	const rpcrdma2_read_list *r;

	m->inv_handle = from->rdma_inv_handle;
	for (r = from->rdma_reads; r; r = r->rdma_next) {
		m->position[m->nreads++] = r->rdma_entry.rdma_position;
		take_segment(m, &r->rdma_entry.rdma_target);
	}
	for (w = from->rdma_writes; w; w = w->rdma_next) {
		if (m->nwrites == COUNT(m->write))
			abort();
		m->write[m->nwrites++] = take_chunk(m, &w->rdma_entry);
	}
	m->has_reply = from->rdma_reply;
	if (m->has_reply)
		m->reply = take_chunk(m, from->rdma_reply);
}

static void take_error(struct oracle_msg *m, const rpcrdma2_error *from)
{
	m->err = from->rdma_err;
	switch (m->err) {
	case RDMA2_ERR_VERS:
		m->arg[0] = from->rpcrdma2_error_u.rdma_vrange.rdma_vers_low;
		m->arg[1] = from->rpcrdma2_error_u.rdma_vrange.rdma_vers_high;
		break;
	case RDMA2_ERR_READ_CHUNKS:
	case RDMA2_ERR_WRITE_CHUNKS:
		m->arg[0] = from->rpcrdma2_error_u.rdma_max_chunks;
		break;
	case RDMA2_ERR_SEGMENTS:
		m->arg[0] = from->rpcrdma2_error_u.rdma_max_segments;
		break;
	case RDMA2_ERR_WRITE_RESOURCE:
		m->arg[0] = from->rpcrdma2_error_u.rdma_writeres.rdma_chunk_index;
		m->arg[1] = from->rpcrdma2_error_u.rdma_writeres.rdma_length_needed;
		break;
	case RDMA2_ERR_REPLY_RESOURCE:
		m->arg[0] = from->rpcrdma2_error_u.rdma_length_needed;
		break;
	}
}

static void take_props(struct oracle_props *to, const rpcrdma2_propset *from)
{
	const rpcrdma2_propval *val;
	struct oracle_prop *prop;
	uint32_t i, n;

	to->n = from->rpcrdma2_propset_len;
	if (to->n > COUNT(to->prop))
		abort();
	for (i = 0; i < to->n; i++) {
		val = &from->rpcrdma2_propset_val[i];
		prop = &to->prop[i];
		prop->id = val->rdma_which;
		prop->len = val->rdma_data.rdma_data_len;
		n = prop->len;
		if (n > sizeof(prop->data))
			n = sizeof(prop->data);
		if (n)
			memcpy(prop->data, val->rdma_data.rdma_data_val, n);
	}
}

static void take_subset(struct oracle_subset *to,
			const rpcrdma2_propsubset *from)
{
	to->n = from->rpcrdma2_propsubset_len;
	if (to->n > COUNT(to->word))
		abort();
	if (to->n)
		memcpy(to->word, from->rpcrdma2_propsubset_val,
		       to->n * sizeof(to->word[0]));
}

static void take_body(struct oracle_msg *m, const union body *b)
{
	switch (m->htype) {
	case RDMA2_MSG:
		take_lists(m, &b->msg.rdma_chunks);
		m->first_word = b->msg.rdma_rpc_first_word;
		break;
	case RDMA2_NOMSG:
		take_lists(m, &b->nomsg.rdma_chunks);
		break;
	case RDMA2_ERROR:
		take_error(m, &b->error);
		break;
	case RDMA2_CONNPROP:
		take_props(&m->props, &b->connprop.rdma_props);
		break;
	case RDMA2_X_REQPROP:
		take_props(&m->props, &b->reqprop.optreqpr_want);
		break;
	case RDMA2_X_RESPROP:
		take_subset(&m->done, &b->resprop.optrespr_done);
		take_subset(&m->rejected, &b->resprop.optrespr_rej);
		take_props(&m->props, &b->resprop.optrespr_other);
		break;
	case RDMA2_X_UPDPROP:
		take_props(&m->props, &b->updprop.optupdpr_now);
		break;
	}
}

static void take_common(struct oracle_msg *m, const rpcrdma_common *from)
{
	m->xid = from->rdma_xid;
	m->vers = from->rdma_vers;
	m->credit = from->rdma_credit;
	m->htype = from->rdma_htype;
}

/* ---- to the generated types ---- */

static void *alloc(size_t n, size_t size)
{
	void *p = calloc(n ? n : 1, size);

	if (!p)
		abort();
	return p;
}

static rpcrdma2_segment give_segment(const struct oracle_segment *seg)
{
	return (rpcrdma2_segment){ seg->handle, seg->length, seg->offset };
}

static rpcrdma2_write_chunk give_chunk(const struct oracle_msg *m,
				       struct oracle_chunk c)
{
	rpcrdma2_write_chunk to = {};
	uint32_t i;

	to.rdma_target.rdma_target_len = c.n;
	to.rdma_target.rdma_target_val = alloc(c.n, sizeof(rpcrdma2_segment));
	for (i = 0; i < c.n; i++)
		to.rdma_target.rdma_target_val[i] =
			give_segment(&m->seg[c.first + i]);
	return to;
}

static rpcrdma2_chunk_lists give_lists(const struct oracle_msg *m)
{
	rpcrdma2_chunk_lists to = { .rdma_inv_handle = m->inv_handle };
	rpcrdma2_write_list **w = &to.rdma_writes;
	rpcrdma2_read_list **r = &to.rdma_reads;
	uint32_t i;

	for (i = 0; i < m->nreads; i++, r = &(*r)->rdma_next) {
		*r = alloc(1, sizeof(**r));
		(*r)->rdma_entry.rdma_position = m->position[i];
		(*r)->rdma_entry.rdma_target = give_segment(&m->seg[i]);
	}
	for (i = 0; i < m->nwrites; i++, w = &(*w)->rdma_next) {
		*w = alloc(1, sizeof(**w));
		(*w)->rdma_entry = give_chunk(m, m->write[i]);
	}
	if (m->has_reply) {
		to.rdma_reply = alloc(1, sizeof(*to.rdma_reply));
		*to.rdma_reply = give_chunk(m, m->reply);
	}
	return to;
}

static rpcrdma2_error give_error(const struct oracle_msg *m)
{
	rpcrdma2_error to = { .rdma_err = m->err };

	switch (m->err) {
	case RDMA2_ERR_VERS:
		to.rpcrdma2_error_u.rdma_vrange.rdma_vers_low = m->arg[0];
		to.rpcrdma2_error_u.rdma_vrange.rdma_vers_high = m->arg[1];
		break;
	case RDMA2_ERR_READ_CHUNKS:
	case RDMA2_ERR_WRITE_CHUNKS:
		to.rpcrdma2_error_u.rdma_max_chunks = m->arg[0];
		break;
	case RDMA2_ERR_SEGMENTS:
		to.rpcrdma2_error_u.rdma_max_segments = m->arg[0];
		break;
	case RDMA2_ERR_WRITE_RESOURCE:
		to.rpcrdma2_error_u.rdma_writeres.rdma_chunk_index = m->arg[0];
		to.rpcrdma2_error_u.rdma_writeres.rdma_length_needed = m->arg[1];
		break;
	case RDMA2_ERR_REPLY_RESOURCE:
		to.rpcrdma2_error_u.rdma_length_needed = m->arg[0];
		break;
	}
	return to;
}

static rpcrdma2_propset give_props(const struct oracle_props *from)
{
	rpcrdma2_propset to = {};
	rpcrdma2_propval *val;
	uint32_t i, n;

	to.rpcrdma2_propset_len = from->n;
	to.rpcrdma2_propset_val = alloc(from->n, sizeof(rpcrdma2_propval));
	for (i = 0; i < from->n; i++) {
		val = &to.rpcrdma2_propset_val[i];
		n = from->prop[i].len;
		if (n > sizeof(from->prop[i].data))
			n = sizeof(from->prop[i].data);
		val->rdma_which = from->prop[i].id;
		val->rdma_data.rdma_data_len = n;
		val->rdma_data.rdma_data_val = alloc(n, 1);
		memcpy(val->rdma_data.rdma_data_val, from->prop[i].data, n);
	}
	return to;
}

static rpcrdma2_propsubset give_subset(const struct oracle_subset *from)
{
	rpcrdma2_propsubset to = {};

	to.rpcrdma2_propsubset_len = from->n;
	to.rpcrdma2_propsubset_val = alloc(from->n, sizeof(uint32));
	memcpy(to.rpcrdma2_propsubset_val, from->word, from->n * sizeof(uint32));
	return to;
}

static void give_body(const struct oracle_msg *m, union body *b)
{
	switch (m->htype) {
	case RDMA2_MSG:
		b->msg.rdma_chunks = give_lists(m);
		b->msg.rdma_rpc_first_word = m->first_word;
		break;
	case RDMA2_NOMSG:
		b->nomsg.rdma_chunks = give_lists(m);
		break;
	case RDMA2_ERROR:
		b->error = give_error(m);
		break;
	case RDMA2_CONNPROP:
		b->connprop.rdma_props = give_props(&m->props);
		break;
	case RDMA2_X_REQPROP:
		b->reqprop.optreqpr_want = give_props(&m->props);
		break;
	case RDMA2_X_RESPROP:
		b->resprop.optrespr_done = give_subset(&m->done);
		b->resprop.optrespr_rej = give_subset(&m->rejected);
		b->resprop.optrespr_other = give_props(&m->props);
		break;
	case RDMA2_X_UPDPROP:
		b->updprop.optupdpr_now = give_props(&m->props);
		break;
	}
}

static rpcrdma_common give_common(const struct oracle_msg *m)
{
	return (rpcrdma_common){ m->xid, m->vers, m->credit, m->htype };
}

/* ---- messages ---- */

/* Does the generated code write the bytes again that it has read? */
static bool encodes_to(const rpcrdma2_hdr_prefix *prefix, xdrproc_t proc,
		       union body *b, const uint8_t *msg, uint32_t len)
{
	uint8_t buf[ORACLE_MAX_BYTES];
	XDR xdrs;

	xdrmem_create(&xdrs, (char *)buf, sizeof(buf), XDR_ENCODE);
	return xdr_rpcrdma2_hdr_prefix(&xdrs, (rpcrdma2_hdr_prefix *)prefix) &&
	       proc(&xdrs, b) && xdr_getpos(&xdrs) == len &&
	       !memcmp(buf, msg, len);
}

enum oracle_result oracle_decode(const uint8_t *msg, uint32_t len,
				 struct oracle_msg *m)
{
	enum oracle_result result = ORACLE_BAD;
	rpcrdma2_hdr_prefix prefix;
	union body b = {};
	xdrproc_t proc;
	XDR xdrs;

	if (len > ORACLE_MAX_BYTES)
		abort();
	memset(m, 0, sizeof(*m));
	xdrmem_create(&xdrs, (char *)msg, len, XDR_DECODE);
	if (!xdr_rpcrdma2_hdr_prefix(&xdrs, &prefix))
		return ORACLE_SHORT;
	take_common(m, &prefix.rdma_start);
	m->flags = prefix.rdma_flags;
	proc = body_of(m->htype);
	if (!proc)
		return ORACLE_UNKNOWN;
	if (proc(&xdrs, &b)) {
		result = ORACLE_OK;
		m->bytes = xdr_getpos(&xdrs);
		take_body(m, &b);
		m->same = encodes_to(&prefix, proc, &b, msg, m->bytes);
	}
	xdr_free(proc, (char *)&b);
	return result;
}

uint32_t oracle_encode(const struct oracle_msg *m, uint8_t *buf, uint32_t size)
{
	rpcrdma2_hdr_prefix prefix = { give_common(m), m->flags };
	xdrproc_t proc = body_of(m->htype);
	union body b = {};
	uint32_t len = 0;
	XDR xdrs;

	if (!proc)
		abort();
	give_body(m, &b);
	xdrmem_create(&xdrs, (char *)buf, size, XDR_ENCODE);
	if (xdr_rpcrdma2_hdr_prefix(&xdrs, &prefix) && proc(&xdrs, &b))
		len = xdr_getpos(&xdrs);
	xdr_free(proc, (char *)&b);
	return len;
}

bool oracle_decode_fixed(const uint8_t *msg, uint32_t len,
			 struct oracle_msg *m)
{
	rpcrdma_fixed_err_vers e;
	XDR xdrs;

	memset(m, 0, sizeof(*m));
	xdrmem_create(&xdrs, (char *)msg, len, XDR_DECODE);
	if (!xdr_rpcrdma_fixed_err_vers(&xdrs, &e))
		return false;
	take_common(m, &e.rdma_start);
	m->err = e.rdma_err;
	m->arg[0] = e.rdma_vrange.rdma_vers_low;
	m->arg[1] = e.rdma_vrange.rdma_vers_high;
	m->bytes = xdr_getpos(&xdrs);
	return true;
}

uint32_t oracle_encode_fixed(const struct oracle_msg *m, uint8_t *buf,
			     uint32_t size)
{
	rpcrdma_fixed_err_vers e = {
		.rdma_start	= give_common(m),
		.rdma_err	= m->err,
		.rdma_vrange	= { m->arg[0], m->arg[1] },
	};
	XDR xdrs;

	xdrmem_create(&xdrs, (char *)buf, size, XDR_ENCODE);
	return xdr_rpcrdma_fixed_err_vers(&xdrs, &e) ? xdr_getpos(&xdrs) : 0;
}

/* ---- values of properties ---- */

bool oracle_value(const struct oracle_prop *prop, uint32_t *value)
{
	rpcrdma2_prop_rbsiz rbsiz;
	rpcrdma2_prop_brs brs;
	XDR xdrs;

	xdrmem_create(&xdrs, (char *)prop->data, prop->len > 16 ? 16 : prop->len,
		      XDR_DECODE);
	switch (prop->id) {
	case RDMA2_PROPID_RBSIZ:
		if (!xdr_rpcrdma2_prop_rbsiz(&xdrs, &rbsiz))
			return false;
		*value = rbsiz;
		break;
	case RDMA2_PROPID_BRS:
		if (!xdr_rpcrdma2_prop_brs(&xdrs, &brs))
			return false;
		/* Generated code takes any number for an enumeration */
		if (brs != RDMA2_RVREQSUP_NONE &&
		    brs != RDMA2_RVREQSUP_INLINE && brs != RDMA2_RVREQSUP_GENL)
			return false;
		*value = brs;
		break;
	default:
		return false;
	}
	return xdr_getpos(&xdrs) == prop->len;
}

bool oracle_nochg(const struct oracle_prop *prop, struct oracle_subset *s)
{
	rpcrdma2_prop_x_nochg nochg = {};
	bool ok;
	XDR xdrs;

	memset(s, 0, sizeof(*s));
	if (prop->len > sizeof(prop->data))
		return false;
	xdrmem_create(&xdrs, (char *)prop->data, prop->len, XDR_DECODE);
	ok = xdr_rpcrdma2_prop_x_nochg(&xdrs, &nochg) &&
	     xdr_getpos(&xdrs) == prop->len;
	if (ok)
		take_subset(s, &nochg);
	xdr_free((xdrproc_t)xdr_rpcrdma2_prop_x_nochg, (char *)&nochg);
	return ok;
}

uint32_t oracle_put_value(uint32_t id, uint32_t value, struct oracle_prop *prop)
{
	rpcrdma2_prop_rbsiz rbsiz = value;
	rpcrdma2_prop_brs brs = value;
	XDR xdrs;

	prop->id = id;
	prop->len = 0;
	xdrmem_create(&xdrs, (char *)prop->data, sizeof(prop->data), XDR_ENCODE);
	if (id == RDMA2_PROPID_BRS ? xdr_rpcrdma2_prop_brs(&xdrs, &brs) :
				     xdr_rpcrdma2_prop_rbsiz(&xdrs, &rbsiz))
		prop->len = xdr_getpos(&xdrs);
	return prop->len;
}

uint32_t oracle_put_nochg(uint32_t word, struct oracle_prop *prop)
{
	rpcrdma2_prop_x_nochg nochg = { 1, &word };
	XDR xdrs;

	prop->id = RDMA2_PROPID_X_NOCHG;
	prop->len = 0;
	xdrmem_create(&xdrs, (char *)prop->data, sizeof(prop->data), XDR_ENCODE);
	if (xdr_rpcrdma2_prop_x_nochg(&xdrs, &nochg))
		prop->len = xdr_getpos(&xdrs);
	return prop->len;
}
