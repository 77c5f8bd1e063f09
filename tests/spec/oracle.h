/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Messages as the code that rpcgen makes of rpcrdma_version_two.x has them. The names of
 * its types and constants begin with an x, because the module has the same names.
 */
#ifndef _RPCRDMA2_ORACLE_H
#define _RPCRDMA2_ORACLE_H

#include "proto/portable.h"
#include "xrpcrdma_version_two.h"

#define ORACLE_MAX_BYTES	1024	/* of a message that is decoded */

/**
 * enum oracle_result - how far a message can be decoded
 * @ORACLE_SHORT: not even the prefix
 * @ORACLE_UNKNOWN: a header type that the XDR does not know
 * @ORACLE_BAD: the prefix only
 * @ORACLE_OK: all of it
 */
enum oracle_result {
	ORACLE_SHORT,
	ORACLE_UNKNOWN,
	ORACLE_BAD,
	ORACLE_OK,
};

/**
 * struct oracle_msg - a message
 * @common: the words that all versions share
 * @flags: the fifth word
 * @rpc: MSG, and NOMSG, which has no first word
 * @bytes: length of the message, as decoded
 * @same: encoding the message again gives the same bytes
 */
struct oracle_msg {
	xrpcrdma_common			common;
	u32				flags;
	union {
		xrpcrdma2_msg		rpc;
		xrpcrdma2_error		error;
		xrpcrdma2_connprop	connprop;
		xrpcrdma2_x_reqprop	reqprop;
		xrpcrdma2_x_resprop	resprop;
		xrpcrdma2_x_updprop	updprop;
	};
	u32				bytes;
	bool				same;
};

enum oracle_result oracle_decode(const u8 *msg, u32 len, struct oracle_msg *m);
void oracle_free(struct oracle_msg *m);
/* Bytes written; 0 if they do not fit. */
u32 oracle_encode(struct oracle_msg *m, u8 *buf, u32 size);

/* An ERR_VERS in the form that all versions share */
bool oracle_decode_fixed(const u8 *msg, u32 len, struct oracle_msg *m);
u32 oracle_encode_fixed(const struct oracle_msg *m, u8 *buf, u32 size);

/* The properties of CONNPROP, REQPROP and UPDPROP; RESPROP: the last of its parts */
xrpcrdma2_propset *oracle_props(struct oracle_msg *m);
/* The value of a property, by the type that the XDR has for it: false if it is not of that
 * type, or its type is not a number.
 */
bool oracle_value(const xrpcrdma2_propval *prop, u32 *value);
/* Bit @entry of the value of X_NOCHG: 0, 1, or -1 if that is not of its type */
int oracle_nochg(const xrpcrdma2_propval *prop, u32 entry);
bool oracle_identity(const xrpcrdma2_propval *prop, u8 *identity);
bool oracle_selected(const xrpcrdma2_propsubset *s, u32 entry);

/* Arguments of an error. Every arm of the union is up to two words in their order. */
static inline u32 *oracle_err_args(struct oracle_msg *m)
{
	static_assert(sizeof(m->error.xrpcrdma2_error_u) == 2 * sizeof(u32), "two words");
	return (u32 *)&m->error.xrpcrdma2_error_u;
}

/* ---- random messages ---- */

void random_seed(u64 seed);
u32 rnd(void);
u32 below(u32 n);
bool one_in(u32 n);

/* Memory of what follows is free again */
void take_reset(void);

/* A property with this value */
void put_value(u32 id, u32 value, xrpcrdma2_propval *prop);

/* A whole message: with the RPC message that XDR does not describe, and often spoiled */
u32 random_message(u8 *buf, u32 size);

#endif /* _RPCRDMA2_ORACLE_H */
