/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The counters of struct rpcrdma2_stats, one line each, under the names that
 * administrators see. Files include this list with their own definition of
 * RPCRDMA2_STAT(). Never reorder or rename a line.
 */
RPCRDMA2_STAT(connects),			/* connections that became ready */
RPCRDMA2_STAT(reconnects),		/* connects after the first */
RPCRDMA2_STAT(connect_failures),
RPCRDMA2_STAT(fallbacks),		/* version 1 instead of 2 */
RPCRDMA2_STAT(tx_call_msg),
RPCRDMA2_STAT(tx_call_nomsg),
RPCRDMA2_STAT(tx_reply_msg),
RPCRDMA2_STAT(tx_reply_nomsg),
RPCRDMA2_STAT(tx_error),
RPCRDMA2_STAT(tx_connprop),
RPCRDMA2_STAT(rx_call_msg),
RPCRDMA2_STAT(rx_call_nomsg),
RPCRDMA2_STAT(rx_reply_msg),
RPCRDMA2_STAT(rx_reply_nomsg),
RPCRDMA2_STAT(rx_error),
RPCRDMA2_STAT(rx_connprop),
RPCRDMA2_STAT(rx_dropped),		/* well-formed, but not expected */
RPCRDMA2_STAT(rx_malformed),		/* short or BAD_XDR */
RPCRDMA2_STAT(rx_unknown_type),
RPCRDMA2_STAT(rx_bad_vers),
RPCRDMA2_STAT(rx_bad_xid),		/* no outstanding Call has this XID */
RPCRDMA2_STAT(inline_tx_bytes),
RPCRDMA2_STAT(inline_rx_bytes),
RPCRDMA2_STAT(read_chunks),		/* Read chunks offered or pulled */
RPCRDMA2_STAT(read_bytes),
RPCRDMA2_STAT(write_chunks),		/* Write chunks offered or filled */
RPCRDMA2_STAT(write_bytes),
RPCRDMA2_STAT(reply_chunks),		/* Reply chunks offered or used */
RPCRDMA2_STAT(reply_chunk_bytes),
RPCRDMA2_STAT(pz_chunks),		/* Position-Zero chunks */
RPCRDMA2_STAT(mrs_allocated),
RPCRDMA2_STAT(registrations),
RPCRDMA2_STAT(remote_invalidations),
RPCRDMA2_STAT(local_invalidations),
RPCRDMA2_STAT(bad_inv_handle),		/* unknown handle offered or reported */
RPCRDMA2_STAT(orphans),			/* RPCs cancelled with a Reply due */
RPCRDMA2_STAT(window_waits),		/* Calls queued for a credit */
RPCRDMA2_STAT(sq_waits),			/* messages queued for the send queue */
RPCRDMA2_STAT(recv_posts),		/* doorbells for Receives */
RPCRDMA2_STAT(send_posts),		/* doorbells for the send queue */
RPCRDMA2_STAT(send_completions),
RPCRDMA2_STAT(pullup_bytes),		/* payload copied into Sends */
RPCRDMA2_STAT(copied_bytes),		/* payload copied out of Receives */
RPCRDMA2_STAT(probes),
RPCRDMA2_STAT(send_errors_dropped),	/* RDMA2_ERRORs not sent: no send slot */
RPCRDMA2_STAT(lost_completions),	/* work requests that never completed */
RPCRDMA2_STAT(stray_completions),	/* completions of ended work requests */
RPCRDMA2_STAT(wc_errors),		/* failed work requests, by either peer */
RPCRDMA2_STAT(odd_grants),		/* grants of zero, or above the request */
RPCRDMA2_STAT(over_credit),		/* closed: far more Calls than granted */
RPCRDMA2_STAT(rx_other_draft),		/* another draft of version 2 (VER-23) */
/* Reasons for the version of connections, or for failures: one for each value of enum
 * rpcrdma2_why except the first, in that order
 */
RPCRDMA2_STAT(why_connprop),
RPCRDMA2_STAT(why_call),
RPCRDMA2_STAT(why_err_vers),
RPCRDMA2_STAT(why_other_error),
RPCRDMA2_STAT(why_silence),
RPCRDMA2_STAT(why_lost),
RPCRDMA2_STAT(why_err_vers_lost),
RPCRDMA2_STAT(why_remembered),
RPCRDMA2_STAT(why_admin),
RPCRDMA2_STAT(why_no_common),
RPCRDMA2_STAT(why_required),
RPCRDMA2_STAT(why_peer_error),
RPCRDMA2_STAT(why_reply),
RPCRDMA2_STAT(tx_reqprop),
RPCRDMA2_STAT(rx_reqprop),
RPCRDMA2_STAT(tx_resprop),
RPCRDMA2_STAT(rx_resprop),
RPCRDMA2_STAT(tx_updprop),
RPCRDMA2_STAT(rx_updprop),
RPCRDMA2_STAT(props_changed),		/* own values that changed */
RPCRDMA2_STAT(peer_props_changed),
RPCRDMA2_STAT(props_unasked),		/* peer lowered on its own (CHG-28) */
RPCRDMA2_STAT(props_ignored),		/* not the peer's to change (CHG-22) */
RPCRDMA2_STAT(resprops_dropped),		/* RESPROPs not sent: no send slot */
RPCRDMA2_STAT(callbacks_refused),	/* not sent: the client accepts none */
RPCRDMA2_STAT(recv_shortages),		/* Receives that had to wait for memory */
RPCRDMA2_STAT(map_failures),		/* memory that the device could not map */
RPCRDMA2_STAT(silent_peers),		/* closed: the peer did not respond */
RPCRDMA2_STAT(callback_replies_dropped),	/* the connection was replaced */
RPCRDMA2_STAT(gpudirect_bytes),		/* mapped by nvidia-fs: GPU memory */
