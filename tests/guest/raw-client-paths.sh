#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The conformance kit as the server of a mount with several paths: which of two addresses
# get RPCs, by what the server tells at each of them.
#
# timeout: 300
. /lab/lib/raw.sh

raw_client
for dev in $(lab_devices); do
	raw_second "$dev" "$(lab_addr "$dev")1"
done
raw_smp rxe "cp_spread cp_resend cp_beside_here cp_alone_restarted"
raw_smp siw "cp_resend cp_restart cp_once"
raw_group client-paths 21000
