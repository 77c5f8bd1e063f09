/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The counters of struct rpcrdma2_stats, one line each: the name that administrators see,
 * and the number of the attribute in user space, counted from the first counter. Never
 * rename or renumber a line. Files include this list with their own definition of
 * RPCRDMA2_STAT().
 */
/* RPCs change these, so they come first and share two cache lines. */
RPCRDMA2_STAT(tx_call_msg, 4),
RPCRDMA2_STAT(tx_reply_msg, 6),
RPCRDMA2_STAT(inline_tx_bytes, 21),
RPCRDMA2_STAT(pullup_bytes, 41),	/* payload copied into Sends */
RPCRDMA2_STAT(send_posts, 39),		/* doorbells for the send queue */
RPCRDMA2_STAT(rx_call_msg, 10),
RPCRDMA2_STAT(rx_reply_msg, 12),
RPCRDMA2_STAT(inline_rx_bytes, 22),
RPCRDMA2_STAT(copied_bytes, 42),	/* payload copied out of Receives */
RPCRDMA2_STAT(recv_posts, 38),		/* doorbells for Receives */
RPCRDMA2_STAT(read_chunks, 23),		/* Read chunks offered or pulled */
RPCRDMA2_STAT(read_bytes, 24),
RPCRDMA2_STAT(write_chunks, 25),	/* Write chunks offered or filled */
RPCRDMA2_STAT(write_bytes, 26),
RPCRDMA2_STAT(registrations, 31),
RPCRDMA2_STAT(remote_invalidations, 32),
/* All others */
RPCRDMA2_STAT(connects, 0),		/* connections that became ready */
RPCRDMA2_STAT(reconnects, 1),		/* connects after the first */
RPCRDMA2_STAT(connect_failures, 2),
RPCRDMA2_STAT(fallbacks, 3),		/* version 1 instead of 2 */
RPCRDMA2_STAT(tx_call_nomsg, 5),
RPCRDMA2_STAT(tx_reply_nomsg, 7),
RPCRDMA2_STAT(tx_error, 8),
RPCRDMA2_STAT(tx_connprop, 9),
RPCRDMA2_STAT(rx_call_nomsg, 11),
RPCRDMA2_STAT(rx_reply_nomsg, 13),
RPCRDMA2_STAT(rx_error, 14),
RPCRDMA2_STAT(rx_connprop, 15),
RPCRDMA2_STAT(rx_dropped, 16),		/* well-formed, but not expected */
RPCRDMA2_STAT(rx_malformed, 17),	/* short or BAD_XDR */
RPCRDMA2_STAT(rx_unknown_type, 18),
RPCRDMA2_STAT(rx_bad_vers, 19),
RPCRDMA2_STAT(rx_bad_xid, 20),		/* no outstanding Call has this XID */
RPCRDMA2_STAT(reply_chunks, 27),	/* Reply chunks offered or used */
RPCRDMA2_STAT(reply_chunk_bytes, 28),
RPCRDMA2_STAT(pz_chunks, 29),		/* Position-Zero chunks */
RPCRDMA2_STAT(mrs_allocated, 30),
RPCRDMA2_STAT(local_invalidations, 33),
RPCRDMA2_STAT(bad_inv_handle, 34),	/* unknown handle offered or reported */
RPCRDMA2_STAT(orphans, 35),		/* RPCs cancelled with a Reply due */
RPCRDMA2_STAT(window_waits, 36),	/* Calls queued for a credit */
RPCRDMA2_STAT(sq_waits, 37),		/* messages queued for the send queue */
RPCRDMA2_STAT(send_completions, 40),
RPCRDMA2_STAT(probes, 43),
RPCRDMA2_STAT(send_errors_dropped, 44),	/* RDMA2_ERRORs not sent: no send slot */
RPCRDMA2_STAT(lost_completions, 45),	/* work requests that never completed */
RPCRDMA2_STAT(stray_completions, 46),	/* completions of ended work requests */
RPCRDMA2_STAT(wc_errors, 47),		/* failed work requests, by either peer */
RPCRDMA2_STAT(odd_grants, 48),		/* grants of zero, or above the request */
RPCRDMA2_STAT(over_credit, 49),		/* closed: far more Calls than granted */
RPCRDMA2_STAT(rx_other_draft, 50),	/* another draft of version 2 (VER-23) */
/* Reasons for the version of connections, or for failures: one for each value of enum
 * rpcrdma2_why except the first, in that order
 */
RPCRDMA2_STAT(why_connprop, 51),
RPCRDMA2_STAT(why_call, 52),
RPCRDMA2_STAT(why_err_vers, 53),
RPCRDMA2_STAT(why_other_error, 54),
RPCRDMA2_STAT(why_silence, 55),
RPCRDMA2_STAT(why_lost, 56),
RPCRDMA2_STAT(why_err_vers_lost, 57),
RPCRDMA2_STAT(why_remembered, 58),
RPCRDMA2_STAT(why_admin, 59),
RPCRDMA2_STAT(why_no_common, 60),
RPCRDMA2_STAT(why_required, 61),
RPCRDMA2_STAT(why_peer_error, 62),
RPCRDMA2_STAT(why_reply, 63),
RPCRDMA2_STAT(tx_reqprop, 64),
RPCRDMA2_STAT(rx_reqprop, 65),
RPCRDMA2_STAT(tx_resprop, 66),
RPCRDMA2_STAT(rx_resprop, 67),
RPCRDMA2_STAT(tx_updprop, 68),
RPCRDMA2_STAT(rx_updprop, 69),
RPCRDMA2_STAT(props_changed, 70),	/* own values that changed */
RPCRDMA2_STAT(peer_props_changed, 71),
RPCRDMA2_STAT(props_unasked, 72),	/* peer lowered on its own (CHG-28) */
RPCRDMA2_STAT(props_ignored, 73),	/* not the peer's to change (CHG-22) */
RPCRDMA2_STAT(resprops_dropped, 74),	/* RESPROPs not sent: no send slot */
RPCRDMA2_STAT(callbacks_refused, 75),	/* not sent: the client accepts none */
RPCRDMA2_STAT(recv_shortages, 76),	/* Receives that had to wait for memory */
RPCRDMA2_STAT(map_failures, 77),	/* memory that the device could not map */
RPCRDMA2_STAT(silent_peers, 78),	/* closed: the peer did not respond */
RPCRDMA2_STAT(callback_replies_dropped, 79),	/* the connection was replaced */
RPCRDMA2_STAT(gpudirect_bytes, 80),	/* mapped by nvidia-fs: GPU memory */
