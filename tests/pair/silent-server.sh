#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# An NFS server that tells how many connections it has, on another way than
# these take.
#
# timeout: 230
. /lab/tests/lib.sh

tell() {
	connections server > $PAIR/connections.new
	mv $PAIR/connections.new $PAIR/connections
}

lab_allow_log "$RXE_FAULT"
pair_net server
lab_server
fs_listen
echo 8 > $PARAMETERS/silence_seconds
pair_listening
pair_serve tell
ktap_ok "asked to stop"
