/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Messages as they arrive; see receive.c.
 */
#ifndef _RPCRDMA2_RECEIVE_H
#define _RPCRDMA2_RECEIVE_H

#include <rdma/ib_verbs.h>

void rpcrdma2_receive(struct ib_cq *cq, struct ib_wc *wc);

#endif /* _RPCRDMA2_RECEIVE_H */
