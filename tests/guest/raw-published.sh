#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The raw peer does to server and client what others have done to those of the kernel
# (Documentation/vulnerabilities.md). tests/faults/run shows that the cases
# notice what they are about.
#
# timeout: 120
. /lab/lib/raw.sh

raw_client
lab_all
raw_group published 20049
raw_group published-client 21000
