#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The conformance kit as a client and as a server that does whatever it should not:
# the outcome of each, and which counter tells of it; the limits that an
# administrator sets; the reason why a version was chosen.
#
# timeout: 240
. /lab/lib/raw.sh

raw_server
raw_group trouble 20049
raw_group reasons 21000
