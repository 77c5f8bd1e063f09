#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The conformance kit as a client of the server: properties, versions, private data,
# the reverse direction.
#
# timeout: 180
. /lab/lib/raw.sh

raw_server
raw_smp rxe "conn_answer conn_late conn_late_raise ver_unsupported_then_1
	ver_call_first ver_no_v2 rev_recall rev_too_long rev_none rev_junk rev_error
	rev_same_xid_forward rev_recall_v1 rev_reconnect v1_chunks
	v1_invalidate cm_any"
raw_smp siw "conn_answer conn_late conn_late_raise ver_unsupported_then_1
	ver_call_first rev_recall rev_junk rev_same_xid_forward rev_reconnect
	v1_chunks v1_invalidate cm_any"
raw_group versions 20049
raw_smp rxe "variant_no_connprop_client variant_version_1_client
	variant_late_rtu_client"
raw_smp siw variant_sends_less_client
raw_group variant 20049
