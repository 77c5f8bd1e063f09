#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The conformance kit as a client that wants more of the server than its due: memory,
# time, connections.
#
# timeout: 120
. /lab/lib/raw.sh

raw_server
raw_group bounds 20049
