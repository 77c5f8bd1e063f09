/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The fixed-size properties we know, one entry each:
 *
 *	RPCRDMA2_PROP(NAME, propid, default, largest value, rules)
 *
 * All values are one word. The rules say which side may change the value while
 * the connection lives, and how a change is obeyed (RPCRDMA2_CHG_*, props.h). An
 * entry makes RPCRDMA2_NAME a value of enum rpcrdma2_prop; grant() of prop_update.c
 * decides on a value that the peer asks for.
 *
 * Included where RPCRDMA2_PROP() is defined, as often as there are uses for
 * the list. The numbers need not be small or contiguous (PROP-12).
 */
/* Receive Buffer Size */
RPCRDMA2_PROP(RBSIZ, RDMA2_PROPID_RBSIZ, 4096U, ~0U,
	      RPCRDMA2_CHG_CLIENT | RPCRDMA2_CHG_SERVER | RPCRDMA2_CHG_LIMIT)
/* Reverse Request Support */
RPCRDMA2_PROP(BRS, RDMA2_PROPID_BRS, RDMA2_RVREQSUP_INLINE,
	      RDMA2_RVREQSUP_GENL, RPCRDMA2_CHG_CLIENT)
#ifdef RPCRDMA2_MORE_PROPS	/* the tests' */
RPCRDMA2_MORE_PROPS
#endif
