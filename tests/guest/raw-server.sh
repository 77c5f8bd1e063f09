#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The conformance kit as a client of the server: exact bytes in, exact bytes out.
# Headers, flags, chunks, long messages.
#
# timeout: 180
. /lab/lib/raw.sh

raw_server
raw_smp siw "chk_read_segments chk_interleaved chk_read_huge chk_sixteen
	chk_more_results msg_position_zero lng_reply_chunk inl_announced"
ktap_run "encoder of the conformance kit" rpcrdma2-conform self
raw_group server 20049
