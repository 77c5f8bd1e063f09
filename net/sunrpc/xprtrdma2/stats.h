/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Counters of a transport. They only grow, are updated without locks, and
 * outlive connections. One list gives both the enum and the names that
 * administrators see; never reorder or rename an entry.
 */
#ifndef _RPCRDMA2_STATS_H
#define _RPCRDMA2_STATS_H

#include <linux/atomic.h>

#define RPCRDMA2_STATS(x)						\
	x(connects)		/* connections that became ready */	\
	x(reconnects)		/* of these, not the first */		\
	x(connect_failures)						\
	x(fallbacks)		/* version 1 instead of 2 */		\
	x(tx_call_msg)							\
	x(tx_call_nomsg)						\
	x(tx_reply_msg)							\
	x(tx_reply_nomsg)						\
	x(tx_error)							\
	x(tx_connprop)							\
	x(rx_call_msg)							\
	x(rx_call_nomsg)						\
	x(rx_reply_msg)							\
	x(rx_reply_nomsg)						\
	x(rx_error)							\
	x(rx_connprop)							\
	x(rx_dropped)		/* well-formed, not wanted */		\
	x(rx_malformed)		/* short or BAD_XDR */			\
	x(rx_unknown_type)						\
	x(rx_bad_vers)							\
	x(rx_bad_xid)		/* no Call of ours waits for it */	\
	x(inline_tx_bytes)						\
	x(inline_rx_bytes)						\
	x(read_chunks)		/* Read chunks offered or pulled */	\
	x(read_bytes)							\
	x(write_chunks)		/* Write chunks offered or filled */	\
	x(write_bytes)							\
	x(reply_chunks)		/* Reply chunks offered or used */	\
	x(reply_chunk_bytes)						\
	x(pz_chunks)		/* Position-Zero chunks */		\
	x(mrs_allocated)						\
	x(registrations)						\
	x(remote_invalidations)						\
	x(local_invalidations)						\
	x(bad_inv_handle)	/* offered or reported and not ours */	\
	x(orphans)		/* RPCs cancelled with a Reply due */	\
	x(window_waits)		/* Calls queued for a credit */		\
	x(sq_waits)		/* messages queued for the send queue */\
	x(recv_posts)		/* doorbells for Receives */		\
	x(send_posts)		/* doorbells for the send queue */	\
	x(send_completions)						\
	x(pullup_bytes)		/* payload copied into Sends */		\
	x(copied_bytes)		/* payload copied out of Receives */	\
	x(probes)							\
	x(send_errors_dropped)	/* RDMA2_ERRORs not sent: no room */

#define RPCRDMA2_STAT_ENUM(name)	RPCRDMA2_STAT_##name,
enum rpcrdma2_stat {
	RPCRDMA2_STATS(RPCRDMA2_STAT_ENUM)
	RPCRDMA2_NR_STATS,
};

/**
 * struct rpcrdma2_stats - the counters
 * @v: indexed by enum rpcrdma2_stat
 */
struct rpcrdma2_stats {
	atomic_long_t		v[RPCRDMA2_NR_STATS];
};

extern const char *const rpcrdma2_stat_names[RPCRDMA2_NR_STATS];

#define rpcrdma2_stat_inc(stats, name)					\
	atomic_long_inc(&(stats)->v[RPCRDMA2_STAT_##name])
#define rpcrdma2_stat_add(stats, name, n)				\
	atomic_long_add((n), &(stats)->v[RPCRDMA2_STAT_##name])
#define rpcrdma2_stat_read(stats, name)					\
	((unsigned long)atomic_long_read(&(stats)->v[RPCRDMA2_STAT_##name]))

#endif /* _RPCRDMA2_STATS_H */
