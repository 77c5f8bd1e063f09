#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# In the collection of tests/deb/check-kselftest: fails, with a mount active.
. /lab/lib/lab.sh

fs_start
ktap_run "mounted" mount_nfs "rxe$SUFFIX" 4.2
ktap_run "false" false
