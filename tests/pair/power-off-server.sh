#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# An NFS server that may lose its power at any time, and goes on from its disk.
#
# timeout: 150
. /lab/tests/lib.sh

# Unlike other tests this one does not end the grace period: clients that were
# here before reclaim what they had. It ends when all of them have done so, or
# when a slow guest has had more than enough time. NFSv3 clients have no locks
# here.
lab_nfsd() {
	echo 90 > $NFSD/nfsv4leasetime
	echo 600 > $NFSD/nfsv4gracetime
	echo 8 > $NFSD/threads
	echo Y > /proc/fs/lockd/nlm_end_grace
}

pair_net server
pair_disk
lab_server
fs_listen
pair_listening
pair_serve
ktap_ok "asked to stop, not stopped"
