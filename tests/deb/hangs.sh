#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# In the collection of tests/deb/check-kselftest: does not end, with a mount active.
#
# timeout: 600
. /lab/lib/lab.sh

fs_start
ktap_run "mounted" mount_nfs "rxe$SUFFIX" 4.2
sleep 10000
