#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The conformance kit as the server of a mount: negotiation and fallback.
#
# timeout: 300
. /lab/lib/raw.sh

raw_client
raw_smp rxe "v1c_junk cl_connprop_own cl_err_vers_close cl_err_vers_late
	cl_lost_twice cl_reject cl_restarts cl_answer_junk cl_each_step"
raw_smp siw "cl_err_vers_at_once cl_err_vers_cm_once cl_silence cl_lost_once
	cl_restarts cl_second_connprop cl_version_change cl_answer_junk
	cl_each_step"
raw_group version 21000
raw_smp rxe "variant_version_1_server variant_no_write_chunks_server"
raw_smp siw variant_sends_less_server
raw_group variant-client 24000
