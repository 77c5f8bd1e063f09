/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The responder role: Calls come in with their chunks, Replies go out.
 *
 * The responder works on a call object of its own and on plain xdr_bufs and
 * page arrays, so that what executes Calls only adapts it: nfsd's threads by way
 * of server.c, and the callback service of NFS by way of client_bc.c.
 *
 * Life of a Call:
 *   rpcrdma2_responder_call()	a Call arrived: limits are checked, RDMA
 *				Reads are posted by deferred work, without a thread
 *   ops->ready()		the argument is complete; or, when memory was
 *				short, a thread is asked for pages, see
 *				rpcrdma2_call_wants_pages()
 *   rpcrdma2_call_arg()	the argument, for the one who executes it
 *   rpcrdma2_call_payload()	results that may travel in Write chunks
 *   rpcrdma2_call_reply()	the Reply; never sleeps for the send queue
 *   rpcrdma2_call_release()	the executor is done, with or without a Reply
 */
#ifndef _RPCRDMA2_RESPONDER_H
#define _RPCRDMA2_RESPONDER_H

#include "responder/call.h"

void rpcrdma2_responder_init(struct rpcrdma2_responder *resp,
			     const struct rpcrdma2_responder_ops *ops,
			     const struct rpcrdma2_chunk_limits *limits,
			     struct page **stash);
void rpcrdma2_responder_stop(struct rpcrdma2_responder *resp);
void rpcrdma2_responder_closed(struct rpcrdma2_responder *resp);
void rpcrdma2_responder_destroy(struct rpcrdma2_responder *resp);
size_t rpcrdma2_responder_memory(struct rpcrdma2_responder *resp);
void rpcrdma2_responder_trim(struct rpcrdma2_responder *resp, u32 granted);
u32 rpcrdma2_responder_wrs(const struct rpcrdma2_device_caps *caps,
			   u32 bytes);

bool rpcrdma2_responder_call(struct rpcrdma2_conn *conn,
			     struct rpcrdma2_recv *rx);

#endif /* _RPCRDMA2_RESPONDER_H */
