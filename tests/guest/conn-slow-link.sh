#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A link on which a message takes longer, there and back, than a server may take to
# answer CONNPROP: that is no silent server, the mount speaks version 2 with all
# properties. TCP below siw; rxe does not use the network from a guest to itself.
#
# timeout: 100
# flavours: uml uml-debug
# covers: VER-14
. /lab/lib/lab.sh
. /lab/lib/fs.sh

slow_link() { # DEV VERS
	local rc=0

	scratch link
	echo 1000 > $PARAMETERS/negotiate_ms
	tc qdisc add dev lo root netem delay 800ms limit 10000
	nfs "$1" "$2" || rc=1
	tc qdisc del dev lo root
	echo 15000 > $PARAMETERS/negotiate_ms
	[ $rc = 0 ]
	[ "$(said client version)" = 2 ]
	said client version_reason_text | grep -x 'CONNPROP answered'
	umount_nfs
	none_left
	rm -r "$E"
}

ours || ktap_skip_all "needs rpcrdma2"
have_siw || ktap_skip_all "needs siw"
lab_modprobe sch_netem
fs_start
ktap_run "siw NFSv4.2 a slow link (C20)" slow_link siw 4.2
