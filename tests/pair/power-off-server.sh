#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# An NFS server that may lose its power at any time, and goes on from its disk.
#
# timeout: 150
. /lab/tests/lib.sh

# Clients that were here before reclaim what they had.
lab_nfsd() { nfsd_with_grace; }

pair_net server
pair_disk
lab_server
fs_listen
pair_listening
pair_serve
ktap_ok "asked to stop, not stopped"
