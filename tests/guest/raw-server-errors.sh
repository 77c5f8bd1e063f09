#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The conformance kit as a client of the server: errors, credits, remote
# invalidation, garbage.
#
# timeout: 180
# flavours: uml-debug qemu
. /lab/lib/raw.sh

raw_server
raw_smp rxe "cred_full_window cred_too_many rinv_second rinv_foreign
	sec_other_handle rec_each_step err_read_chunks err_garbage err_flood"
raw_smp siw "cred_full_window cred_too_many rinv_second sec_other_handle
	sec_stale_often rec_each_step err_garbage err_flood"
raw_group errors 20049

# siw's RDMA Reads go over lo. When they are slow, Calls arrive faster than
# their Reads end, and have to wait for memory regions.
lab_modprobe sch_netem
tc qdisc add dev lo root netem delay 20ms || lab_die "no netem"
raw_smp rxe sec_stale_window
raw_smp siw sec_stale_window
raw_group slow 20049
tc qdisc del dev lo root
