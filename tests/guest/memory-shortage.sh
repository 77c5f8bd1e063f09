#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# More Calls at once than there are means for: memory regions, room in the send
# queue. They wait for their turn, all of them, and nobody else has to help.
#
# timeout: 120
# flavours: uml-debug qemu
. /lab/lib/lab.sh
. /lab/lib/fs.sh

# A connection begins with 16 MRs. More are wanted, and none comes back as the
# server answers nobody.
regions() { # DEV VERS
	local i pids=() calls=20

	scratch regions
	echo 32 > $PARAMETERS/server_first_credits
	nfs "$1" "$2"
	for ((i = 0; i < calls; i++)); do
		iocheck write -t -l 40001 "$E/w$i"
	done
	freeze
	for ((i = 0; i < calls; i++)); do
		iocheck write -d -s "$i" -l 40001 -a 512 "$D/w$i" &
		pids+=($!)
	done
	lab_wait 20 stuck $calls || { thaw; return 1; }
	look
	thaw
	wait_all "${pids[@]}"
	counted client -ge $calls mrs_allocated registrations
	for ((i = 0; i < calls; i++)); do
		iocheck check -e -s "$i" -l 40001 "$E/w$i"
	done
	umount_nfs
	none_left
	echo 8 > $PARAMETERS/server_first_credits
	rm -r "$E"
}

# With four RPC slots there are a dozen send slots, fewer than retire at once.
send_slots() { # DEV VERS
	local i pids=()

	scratch slots
	by_default client credits 4
	nfs "$1" "$2"
	iocheck write -t -s 1 -l 100001 "$E/r"
	mark
	for ((i = 0; i < 12; i++)); do
		{
			iocheck check -e -d -s 1 -l 100001 -b $((700 + 1300 * i)) "$D/r" &&
				iocheck write -t -d -s $i -l 50001 -b $((900 + 700 * i)) "$D/w$i" &&
				mkdir "$D/d$i"
		} &
		pids+=($!)
	done
	wait_all "${pids[@]}"
	look
	counted client -gt 0 sq_waits
	counted client -eq 0 reconnects
	for ((i = 0; i < 12; i++)); do
		iocheck check -e -s $i -l 50001 "$E/w$i"
	done
	umount_nfs
	none_left
	by_default client credits 128
	rm -r "$E"
}

have_rdma2 || ktap_skip_all "needs rpcrdma2"
lab_export ext4
fs_start 32
# NFSv3, since opening a file of NFSv4 is writing, too.
for_versions 3 regions "memory regions"
for_versions "$(by_speed "3 4.2" 4.2)" send_slots "send slots"
