#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A server of both versions, whose cables are watched.
#
# timeout: 150
. /lab/tests/lib.sh

lab_allow_log "$RXE_FAULT"
pair_net server
lab_server
fs_listen
lab_listen rdma 20050
pair_listening
pair_serve
ktap_ok "asked to stop"
