// SPDX-License-Identifier: GPL-2.0
/* Made by scripts/netlink-gen from the specification of the family. */
#include "nl.h"

static const char *const role_words[] = {
	"client", "server", NULL
};

static const char *const connection_state_words[] = {
	"new", "resolving", "connecting", "open", "ready", "closing", "closed", NULL
};

static const char *const property_id_words[] = {
	"rbsiz", "brs", NULL
};

static const char *const request_result_words[] = {
	"none", "waiting", "granted", "partly", "rejected", NULL
};

static const char *const event_words[] = {
	"connected", "settled", "fallback", "changed", "lost", NULL
};

static const char *const path_state_words[] = {
	"untried", "up", "down", "refused", NULL
};

static const char *const versions_words[] = {
	"v1", "v2", "both", NULL
};

static const char *const switch_words[] = {
	"off", "on", NULL
};

static const struct attr property_attrs[] = {
	[1] = { "id", ATTR_U32, .words = property_id_words },
	[2] = { "local", ATTR_U32 },
	[3] = { "peer", ATTR_U32 },
	[4] = { "asked", ATTR_U32 },
	[5] = { "result", ATTR_U32, .words = request_result_words },
};

const struct attr_set property_set = {
	property_attrs, ARRAY_SIZE(property_attrs)
};

static const struct attr counters_attrs[] = {
	[2] = { "connects", ATTR_U64 },
	[3] = { "reconnects", ATTR_U64 },
	[4] = { "connect_failures", ATTR_U64 },
	[5] = { "fallbacks", ATTR_U64 },
	[6] = { "tx_call_msg", ATTR_U64 },
	[7] = { "tx_call_nomsg", ATTR_U64 },
	[8] = { "tx_reply_msg", ATTR_U64 },
	[9] = { "tx_reply_nomsg", ATTR_U64 },
	[10] = { "tx_error", ATTR_U64 },
	[11] = { "tx_connprop", ATTR_U64 },
	[12] = { "rx_call_msg", ATTR_U64 },
	[13] = { "rx_call_nomsg", ATTR_U64 },
	[14] = { "rx_reply_msg", ATTR_U64 },
	[15] = { "rx_reply_nomsg", ATTR_U64 },
	[16] = { "rx_error", ATTR_U64 },
	[17] = { "rx_connprop", ATTR_U64 },
	[18] = { "rx_dropped", ATTR_U64 },
	[19] = { "rx_malformed", ATTR_U64 },
	[20] = { "rx_unknown_type", ATTR_U64 },
	[21] = { "rx_bad_vers", ATTR_U64 },
	[22] = { "rx_bad_xid", ATTR_U64 },
	[23] = { "inline_tx_bytes", ATTR_U64 },
	[24] = { "inline_rx_bytes", ATTR_U64 },
	[25] = { "read_chunks", ATTR_U64 },
	[26] = { "read_bytes", ATTR_U64 },
	[27] = { "write_chunks", ATTR_U64 },
	[28] = { "write_bytes", ATTR_U64 },
	[29] = { "reply_chunks", ATTR_U64 },
	[30] = { "reply_chunk_bytes", ATTR_U64 },
	[31] = { "pz_chunks", ATTR_U64 },
	[32] = { "mrs_allocated", ATTR_U64 },
	[33] = { "registrations", ATTR_U64 },
	[34] = { "remote_invalidations", ATTR_U64 },
	[35] = { "local_invalidations", ATTR_U64 },
	[36] = { "bad_inv_handle", ATTR_U64 },
	[37] = { "orphans", ATTR_U64 },
	[38] = { "window_waits", ATTR_U64 },
	[39] = { "sq_waits", ATTR_U64 },
	[40] = { "recv_posts", ATTR_U64 },
	[41] = { "send_posts", ATTR_U64 },
	[42] = { "send_completions", ATTR_U64 },
	[43] = { "pullup_bytes", ATTR_U64 },
	[44] = { "copied_bytes", ATTR_U64 },
	[45] = { "probes", ATTR_U64 },
	[46] = { "send_errors_dropped", ATTR_U64 },
	[47] = { "lost_completions", ATTR_U64 },
	[48] = { "stray_completions", ATTR_U64 },
	[49] = { "wc_errors", ATTR_U64 },
	[50] = { "odd_grants", ATTR_U64 },
	[51] = { "over_credit", ATTR_U64 },
	[52] = { "rx_other_draft", ATTR_U64 },
	[53] = { "why_connprop", ATTR_U64 },
	[54] = { "why_call", ATTR_U64 },
	[55] = { "why_err_vers", ATTR_U64 },
	[56] = { "why_other_error", ATTR_U64 },
	[57] = { "why_silence", ATTR_U64 },
	[58] = { "why_lost", ATTR_U64 },
	[59] = { "why_err_vers_lost", ATTR_U64 },
	[60] = { "why_remembered", ATTR_U64 },
	[61] = { "why_admin", ATTR_U64 },
	[62] = { "why_no_common", ATTR_U64 },
	[63] = { "why_required", ATTR_U64 },
	[64] = { "why_peer_error", ATTR_U64 },
	[65] = { "why_reply", ATTR_U64 },
	[66] = { "tx_reqprop", ATTR_U64 },
	[67] = { "rx_reqprop", ATTR_U64 },
	[68] = { "tx_resprop", ATTR_U64 },
	[69] = { "rx_resprop", ATTR_U64 },
	[70] = { "tx_updprop", ATTR_U64 },
	[71] = { "rx_updprop", ATTR_U64 },
	[72] = { "props_changed", ATTR_U64 },
	[73] = { "peer_props_changed", ATTR_U64 },
	[74] = { "props_unasked", ATTR_U64 },
	[75] = { "props_ignored", ATTR_U64 },
	[76] = { "resprops_dropped", ATTR_U64 },
	[77] = { "callbacks_refused", ATTR_U64 },
	[78] = { "recv_shortages", ATTR_U64 },
	[79] = { "map_failures", ATTR_U64 },
	[80] = { "silent_peers", ATTR_U64 },
	[81] = { "callback_replies_dropped", ATTR_U64 },
	[82] = { "gpudirect_bytes", ATTR_U64 },
};

const struct attr_set counters_set = {
	counters_attrs, ARRAY_SIZE(counters_attrs)
};

static const struct attr connection_attrs[] = {
	[2] = { "id", ATTR_U32 },
	[3] = { "role", ATTR_U32, .words = role_words },
	[4] = { "state", ATTR_U32, .words = connection_state_words },
	[5] = { "device", ATTR_STRING },
	[6] = { "qp_number", ATTR_U32 },
	[7] = { "local_address", ATTR_ADDRESS },
	[8] = { "peer_address", ATTR_ADDRESS },
	[9] = { "version", ATTR_U32 },
	[10] = { "version_reason", ATTR_U32 },
	[11] = { "version_reason_text", ATTR_STRING },
	[12] = { "property", ATTR_NEST, .nested = &property_set, .multi = true },
	[13] = { "property_change", ATTR_U8 },
	[14] = { "receive_capacity", ATTR_U32 },
	[15] = { "request_pending", ATTR_U8 },
	[16] = { "announcement_pending", ATTR_U8 },
	[17] = { "inline_send", ATTR_U32 },
	[18] = { "inline_recv", ATTR_U32 },
	[19] = { "remote_invalidation", ATTR_U8 },
	[20] = { "credits_asked", ATTR_U32 },
	[21] = { "credits_granted_by_peer", ATTR_U32 },
	[22] = { "calls_outstanding", ATTR_U32 },
	[23] = { "credits_granted_to_peer", ATTR_U32 },
	[24] = { "calls_being_served", ATTR_U32 },
	[25] = { "receives_posted", ATTR_U32 },
	[26] = { "receive_memory", ATTR_U64 },
	[27] = { "send_memory", ATTR_U64 },
	[28] = { "mr_memory", ATTR_U64 },
	[29] = { "rpc_memory", ATTR_U64 },
	[30] = { "send_queue_free", ATTR_U32 },
	[31] = { "send_queue_depth", ATTR_U32 },
	[32] = { "counters", ATTR_NEST, .nested = &counters_set },
	[33] = { "event", ATTR_U32, .words = event_words },
	[34] = { "reason", ATTR_S32 },
	[35] = { "tos", ATTR_U32 },
	[36] = { "reconnect_min", ATTR_U32 },
	[37] = { "reconnect_max", ATTR_U32 },
	[38] = { "fail_after", ATTR_U32 },
};

const struct attr_set connection_set = {
	connection_attrs, ARRAY_SIZE(connection_attrs)
};

static const struct attr module_attrs[] = {
	[1] = { "version", ATTR_STRING },
	[2] = { "build", ATTR_STRING },
	[3] = { "draft", ATTR_STRING },
	[4] = { "replace", ATTR_U8 },
	[5] = { "role", ATTR_U32, .words = role_words },
	[6] = { "connections", ATTR_U32 },
	[7] = { "ended", ATTR_NEST, .nested = &counters_set },
};

const struct attr_set module_set = {
	module_attrs, ARRAY_SIZE(module_attrs)
};

static const struct attr change_attrs[] = {
	[1] = { "connection", ATTR_U32 },
	[2] = { "own", ATTR_U8 },
	[3] = { "property", ATTR_U32, .words = property_id_words },
	[4] = { "value", ATTR_U32 },
};

const struct attr_set change_set = {
	change_attrs, ARRAY_SIZE(change_attrs)
};

static const struct attr path_attrs[] = {
	[2] = { "addresses", ATTR_PAIR },
	[3] = { "state", ATTR_U32, .words = path_state_words },
	[4] = { "connections", ATTR_U32 },
	[5] = { "bytes", ATTR_U64 },
	[6] = { "failures", ATTR_U32 },
	[7] = { "changed", ATTR_U64 },
	[8] = { "reason", ATTR_S32 },
};

const struct attr_set path_set = {
	path_attrs, ARRAY_SIZE(path_attrs)
};

static const struct attr policy_attrs[] = {
	[1] = { "role", ATTR_U32, .words = role_words },
	[2] = { "addr4", ATTR_IPV4 },
	[3] = { "addr6", ATTR_IPV6 },
	[4] = { "prefix_length", ATTR_U8 },
	[5] = { "port", ATTR_U16 },
	[6] = { "versions", ATTR_U32, .words = versions_words },
	[7] = { "recv_size", ATTR_U32 },
	[8] = { "send_size", ATTR_U32 },
	[9] = { "credits", ATTR_U32 },
	[10] = { "remote_invalidation", ATTR_U32, .words = switch_words },
	[11] = { "property_change", ATTR_U32, .words = switch_words },
	[12] = { "recv_max", ATTR_U32 },
	[13] = { "check", ATTR_FLAG },
	[14] = { "tos", ATTR_U32 },
	[15] = { "reconnect_min", ATTR_U32 },
	[16] = { "reconnect_max", ATTR_U32 },
	[17] = { "fail_after", ATTR_U32 },
	[18] = { "trust_paths", ATTR_U32, .words = switch_words },
	[19] = { "addresses", ATTR_PAIR, .multi = true },
	[20] = { "path", ATTR_NEST, .nested = &path_set, .multi = true },
};

const struct attr_set policy_set = {
	policy_attrs, ARRAY_SIZE(policy_attrs)
};

