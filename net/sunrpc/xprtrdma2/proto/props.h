/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Transport properties: what each is, its default and its limits, and sets
 * of them on the wire. One list, props_list.h, describes them all.
 *
 * Pure (see portable.h).
 */
#ifndef _RPCRDMA2_PROPS_H
#define _RPCRDMA2_PROPS_H

#include "proto/portable.h"

#define RDMA2_PROPID_RBSIZ		1U
#define RDMA2_PROPID_BRS		2U
#define RDMA2_PROPID_X_NOCHG		0xffffff01U
#define RDMA2_PROPID_X_IDENTITY		0xffffff05U

#define RPCRDMA2_IDENTITY_BYTES		16U

#define RDMA2_RVREQSUP_NONE		0U
#define RDMA2_RVREQSUP_INLINE		1U
#define RDMA2_RVREQSUP_GENL		2U

#define RPCRDMA2_RBSIZ_MIN		1024U	/* honoured from a peer */

/* How a value may change while the connection lives */
#define RPCRDMA2_CHG_CLIENT		BIT(0)	/* a client's value may */
#define RPCRDMA2_CHG_SERVER		BIT(1)	/* a server's value may */
#define RPCRDMA2_CHG_LIMIT		BIT(2)	/* limits what the peer sends:
						 * lowered on request only, and
						 * obeyed from the request on
						 */

/* The fixed-size properties we know, RPCRDMA2_NAME for each entry of the
 * list, and how many there are.
 */
enum rpcrdma2_prop {
#define RPCRDMA2_PROP(name, ...)	RPCRDMA2_##name,
#include "proto/props_list.h"
#undef RPCRDMA2_PROP
	RPCRDMA2_NR_PROPS,
};

/* Longest property set we encode: the count, three words for each property,
 * X_NOCHG with a subset of one word, and X_IDENTITY.
 */
#define RPCRDMA2_PROPS_MAX	(4U + 12U * RPCRDMA2_NR_PROPS + 16U + 24U)

/**
 * struct rpcrdma2_propset - a set of property values
 * @val: value of each property, default where not listed
 * @listed: BIT(enum rpcrdma2_prop) of the properties in the set
 * @x_change: the set announces the property-change extension
 * @nochg: with @x_change: BIT(enum rpcrdma2_prop) of listed properties
 *	whose value is not expected to change
 * @x_identity: a client asks who the server is, or the server answers that
 * @identified: with @x_identity: there is an answer
 * @identity: the answer
 * @entry: received sets: number of the entry, for those listed
 * @count: received sets: entries, those of unknown properties included
 */
struct rpcrdma2_propset {
	u32			val[RPCRDMA2_NR_PROPS];
	u32			listed;
	bool			x_change;
	u32			nochg;
	bool			x_identity;
	bool			identified;
	u8			identity[RPCRDMA2_IDENTITY_BYTES];
	u32			entry[RPCRDMA2_NR_PROPS];
	u32			count;
};

void rpcrdma2_propset_init(struct rpcrdma2_propset *set);

int rpcrdma2_propset_decode(const void *buf, u32 len,
			    struct rpcrdma2_propset *set);

bool rpcrdma2_propset_subset_has(const u8 *words, u32 nwords, u32 entry);

int rpcrdma2_propset_encode(const struct rpcrdma2_propset *set, void *buf,
			    u32 size);

u32 rpcrdma2_propset_with(u32 rules);

#endif /* _RPCRDMA2_PROPS_H */
