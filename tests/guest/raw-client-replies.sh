#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The conformance kit as the server of a mount: Replies, errors, retries, the shape of
# Calls, cancelled RPCs.
#
# timeout: 400
# flavours: uml-debug qemu
. /lab/lib/raw.sh

raw_client
raw_smp rxe "rpc_type_call rpc_write_chunks rpc_segments rinv_other_rpc
	rec_new_handles rpc_flood sec_after_reply orphan_plain
	orphan_invalidate orphan_write orphan_credit"
raw_smp siw "rinv_offered rinv_other_rpc rec_new_handles rpc_answers_twice
	rpc_flood orphan_plain orphan_invalidate orphan_credit"
raw_group replies 21000
