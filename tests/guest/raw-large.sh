#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The longest messages of nfsd: 1 MiB, and 4 MiB since Linux 6.16. What an idle
# connection keeps of them.
#
# timeout: 120
. /lab/lib/raw.sh

LARGEST=$((4 << 20))

# rpcs: what the server keeps for Calls of a mount, bytes.
rpcs() { said server rpc_memory; }
small() { [ "$(rpcs)" -lt $((64 << 10)) ]; }

# After WRITEs and READs of the largest size that the client has, the server is soon
# back at the memory of a small connection.
idle() { # DEV VERS
	scratch idle
	parameter adapt_seconds 1
	nfs "$1" "$2"
	iocheck write -t -d -l $((32 << 20)) -b $((1 << 20)) "$D/f"
	iocheck check -e -d -l $((32 << 20)) -b $((1 << 20)) "$D/f"
	echo "busy: $(rpcs) bytes"
	lab_wait 30 small
	echo "idle: $(rpcs) bytes"
}

lab_modprobe nfsd
mountpoint -q $NFSD || mount -t nfsd nfsd $NFSD
echo $LARGEST > $NFSD/max_block_size
fs_start ours
for_versions 4.2 idle "memory of an idle connection"
raw_group large 20049 large_1m
if [ "$(< $NFSD/max_block_size)" -ge $LARGEST ]; then
	raw_group large 20049 large_4m
else
	ktap_skip "4 MiB" "nfsd of this kernel moves no more than 1 MiB at once"
fi
