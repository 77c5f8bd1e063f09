#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The conformance kit as a client of the server: values that change while a connection
# lives.
#
# timeout: 180
. /lab/lib/raw.sh

raw_server
# Both devices once, what the debugging options see once
lab_is uml || lab_devices() { echo rxe; }
raw_group server-change 20049
