/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Transport properties: what each is, its default and its limits, and sets
 * of them on the wire. One table describes them all; a new property is one
 * entry there and one name in the enum.
 *
 * Pure (see portable.h).
 */
#ifndef _RPCRDMA2_PROPS_H
#define _RPCRDMA2_PROPS_H

#include "portable.h"

#define RDMA2_PROPID_RBSIZ		1U
#define RDMA2_PROPID_BRS		2U
#define RDMA2_PROPID_X_NOCHG		0xffffff01U

#define RDMA2_RVREQSUP_NONE		0U
#define RDMA2_RVREQSUP_INLINE		1U
#define RDMA2_RVREQSUP_GENL		2U

#define RPCRDMA2_RBSIZ_MIN		1024U	/* honoured from a peer */

/**
 * enum rpcrdma2_prop - the fixed-size properties we know, by table index
 * @RPCRDMA2_RBSIZ: Receive Buffer Size, bytes
 * @RPCRDMA2_BRS: Reverse Request Support
 * @RPCRDMA2_NR_PROPS: how many there are
 */
enum rpcrdma2_prop {
	RPCRDMA2_RBSIZ = 0,
	RPCRDMA2_BRS,
	RPCRDMA2_NR_PROPS,
};

/* Longest property set we encode: the count, three words for each property,
 * and X_NOCHG with a subset of one word.
 */
#define RPCRDMA2_PROPS_MAX	(4U + 12U * RPCRDMA2_NR_PROPS + 16U)

/**
 * struct rpcrdma2_propset - a set of property values
 * @val: value of each property, default where not listed
 * @listed: BIT(enum rpcrdma2_prop) of the properties in the set
 * @x_change: the set announces the property-change extension
 * @nochg: with @x_change: BIT(enum rpcrdma2_prop) of listed properties
 *	whose value is not expected to change
 */
struct rpcrdma2_propset {
	u32			val[RPCRDMA2_NR_PROPS];
	u32			listed;
	bool			x_change;
	u32			nochg;
};

/* All defaults, nothing listed. */
void rpcrdma2_props_init(struct rpcrdma2_propset *set);

/* Decode a property set of a message: the count word and the values after
 * it. @set is untouched unless the whole set is good (PROP-11). Returns
 * bytes consumed or -EBADMSG (answer: BAD_XDR).
 */
int rpcrdma2_props_decode(const void *buf, u32 len,
			  struct rpcrdma2_propset *set);

/* Encode the listed properties (and X_NOCHG if @x_change). Returns bytes
 * or -EMSGSIZE.
 */
int rpcrdma2_props_encode(const struct rpcrdma2_propset *set, void *buf,
			  u32 size);

/* What we may send to a peer with these properties, when we could send
 * @own_send bytes: the inline threshold of that direction. 0 if the peer's
 * Receives are too small for the protocol: close the connection (PROP-16).
 */
u32 rpcrdma2_props_send_limit(const struct rpcrdma2_propset *peer,
			      u32 own_send);

/* For logs and debugfs. */
const char *rpcrdma2_prop_name(enum rpcrdma2_prop prop);

#endif /* _RPCRDMA2_PROPS_H */
