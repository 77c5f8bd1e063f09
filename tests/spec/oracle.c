// SPDX-License-Identifier: GPL-2.0
/*
 * Around the code that rpcgen made: one object after the other, as the header type says.
 * Nothing is judged here but what XDR itself forbids.
 */

#include "oracle.h"

static xdrproc_t body_of(u32 htype)
{
	switch (htype) {
	case xRDMA2_MSG:
		return (xdrproc_t)xdr_xrpcrdma2_msg;
	case xRDMA2_NOMSG:
		return (xdrproc_t)xdr_xrpcrdma2_nomsg;
	case xRDMA2_ERROR:
		return (xdrproc_t)xdr_xrpcrdma2_error;
	case xRDMA2_CONNPROP:
		return (xdrproc_t)xdr_xrpcrdma2_connprop;
	case xRDMA2_X_REQPROP:
		return (xdrproc_t)xdr_xrpcrdma2_x_reqprop;
	case xRDMA2_X_RESPROP:
		return (xdrproc_t)xdr_xrpcrdma2_x_resprop;
	case xRDMA2_X_UPDPROP:
		return (xdrproc_t)xdr_xrpcrdma2_x_updprop;
	default:
		return NULL;
	}
}

u32 oracle_encode(struct oracle_msg *m, u8 *buf, u32 size)
{
	xrpcrdma2_hdr_prefix prefix = { m->common, m->flags };
	XDR xdrs;

	xdrmem_create(&xdrs, (char *)buf, size, XDR_ENCODE);
	if (!xdr_xrpcrdma2_hdr_prefix(&xdrs, &prefix) ||
	    !body_of(m->common.rdma_htype)(&xdrs, &m->rpc))
		return 0;
	return xdr_getpos(&xdrs);
}

enum oracle_result oracle_decode(const u8 *msg, u32 len, struct oracle_msg *m)
{
	u8 again[ORACLE_MAX_BYTES];
	xrpcrdma2_hdr_prefix prefix;
	xdrproc_t proc;
	XDR xdrs;

	memset(m, 0, sizeof(*m));
	xdrmem_create(&xdrs, (char *)msg, len, XDR_DECODE);
	if (!xdr_xrpcrdma2_hdr_prefix(&xdrs, &prefix))
		return ORACLE_SHORT;
	m->common = prefix.rdma_start;
	m->flags = prefix.rdma_flags;
	proc = body_of(m->common.rdma_htype);
	if (!proc)
		return ORACLE_UNKNOWN;
	if (!proc(&xdrs, &m->rpc))
		return ORACLE_BAD;
	m->bytes = xdr_getpos(&xdrs);
	m->same = oracle_encode(m, again, sizeof(again)) == m->bytes &&
		  !memcmp(again, msg, m->bytes);
	return ORACLE_OK;
}

void oracle_free(struct oracle_msg *m)
{
	xdrproc_t proc = body_of(m->common.rdma_htype);

	if (proc)
		xdr_free(proc, (char *)&m->rpc);
}

bool oracle_decode_fixed(const u8 *msg, u32 len, struct oracle_msg *m)
{
	xrpcrdma_fixed_err_vers e;
	XDR xdrs;

	xdrmem_create(&xdrs, (char *)msg, len, XDR_DECODE);
	if (!xdr_xrpcrdma_fixed_err_vers(&xdrs, &e))
		return false;
	memset(m, 0, sizeof(*m));
	m->common = e.rdma_start;
	m->error.rdma_err = e.rdma_err;
	m->error.xrpcrdma2_error_u.rdma_vrange = e.rdma_vrange;
	return true;
}

u32 oracle_encode_fixed(const struct oracle_msg *m, u8 *buf, u32 size)
{
	xrpcrdma_fixed_err_vers e = {
		m->common, m->error.rdma_err, m->error.xrpcrdma2_error_u.rdma_vrange
	};
	XDR xdrs;

	xdrmem_create(&xdrs, (char *)buf, size, XDR_ENCODE);
	return xdr_xrpcrdma_fixed_err_vers(&xdrs, &e) ? xdr_getpos(&xdrs) : 0;
}

xrpcrdma2_propset *oracle_props(struct oracle_msg *m)
{
	switch (m->common.rdma_htype) {
	case xRDMA2_CONNPROP:
		return &m->connprop.rdma_props;
	case xRDMA2_X_REQPROP:
		return &m->reqprop.optreqpr_want;
	case xRDMA2_X_RESPROP:
		return &m->resprop.optrespr_other;
	default:
		return &m->updprop.optupdpr_now;
	}
}

bool oracle_value(const xrpcrdma2_propval *prop, u32 *value)
{
	xrpcrdma2_prop_rbsiz rbsiz;
	xrpcrdma2_prop_brs brs;
	XDR xdrs;

	xdrmem_create(&xdrs, prop->rdma_data.rdma_data_val, prop->rdma_data.rdma_data_len,
		      XDR_DECODE);
	switch (prop->rdma_which) {
	case xRDMA2_PROPID_RBSIZ:
		if (!xdr_xrpcrdma2_prop_rbsiz(&xdrs, &rbsiz))
			return false;
		*value = rbsiz;
		break;
	case xRDMA2_PROPID_BRS:
		/* Generated code takes any number for an enumeration */
		if (!xdr_xrpcrdma2_prop_brs(&xdrs, &brs) ||
		    (brs != xRDMA2_RVREQSUP_NONE && brs != xRDMA2_RVREQSUP_INLINE &&
		     brs != xRDMA2_RVREQSUP_GENL))
			return false;
		*value = brs;
		break;
	default:
		return false;
	}
	return xdr_getpos(&xdrs) == prop->rdma_data.rdma_data_len;
}

bool oracle_selected(const xrpcrdma2_propsubset *s, u32 entry)
{
	return entry / 32 < s->xrpcrdma2_propsubset_len &&
	       s->xrpcrdma2_propsubset_val[entry / 32] >> entry % 32 & 1;
}

bool oracle_identity(const xrpcrdma2_propval *prop, u8 *identity)
{
	XDR xdrs;

	xdrmem_create(&xdrs, prop->rdma_data.rdma_data_val, prop->rdma_data.rdma_data_len,
		      XDR_DECODE);
	return xdr_xrpcrdma2_prop_x_identity(&xdrs, (char *)identity) &&
	       xdr_getpos(&xdrs) == prop->rdma_data.rdma_data_len;
}

int oracle_nochg(const xrpcrdma2_propval *prop, u32 entry)
{
	xrpcrdma2_prop_x_nochg nochg = {};
	int ret = -1;
	XDR xdrs;

	xdrmem_create(&xdrs, prop->rdma_data.rdma_data_val, prop->rdma_data.rdma_data_len,
		      XDR_DECODE);
	if (xdr_xrpcrdma2_prop_x_nochg(&xdrs, &nochg) &&
	    xdr_getpos(&xdrs) == prop->rdma_data.rdma_data_len)
		ret = oracle_selected(&nochg, entry);
	xdr_free((xdrproc_t)xdr_xrpcrdma2_prop_x_nochg, (char *)&nochg);
	return ret;
}
