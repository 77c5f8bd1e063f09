#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The conformance kit as the server of a mount: credits and the reverse direction.
#
# timeout: 320
# flavours: uml-debug qemu
. /lab/lib/raw.sh

raw_client
raw_smp rxe "cred_three cred_error rev_same_xid rev_window rev_malformed
	rev_no_service"
raw_smp siw "cred_three rev_same_xid"
raw_group credits 21000
