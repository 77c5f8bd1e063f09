#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# An NFS server behind a bad link.
#
# timeout: 150
. /lab/tests/lib.sh

lab_allow_log "$RXE_FAULT"
pair_net server
lab_server
fs_listen
pair_listening
pair_serve
ktap_ok "asked to stop"
