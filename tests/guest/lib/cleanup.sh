# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Takes down whatever a test left. The driver runs it after every test; what
# can't be taken down fails the test.

. /lab/lib/lab.sh
trap - EXIT
unset KTAP_CHANNEL
rc=0
complain() { echo "$*"; rc=1; }

for dir in $(nfs_mounts); do
	umount "$dir" || complain "cannot unmount $dir"
done
lab_server_down || complain "the server cannot be stopped"
unload_rpcrdma2 || complain "rpcrdma2 cannot be unloaded: $(cat /sys/module/rpcrdma2/refcnt) references"
[ ! -e /sys/module/rpcrdma ] || lab_wait 20 rmmod rpcrdma || complain "rpcrdma cannot be unloaded"
lab_net_down || complain "the network cannot be taken down"
exit "$rc"
