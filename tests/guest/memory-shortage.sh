#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# More Calls at once than there are means for: memory regions, RDMA contexts, room in the
# send queue. They wait for their turn, all of them, and nobody else has to help.
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

# Of 32 WRITEs four are executed, as many as there are threads, and 16 others have an RDMA
# context each. The last 12 wait until a thread takes one of those.
contexts() { # DEV VERS
	local pid

	scratch contexts
	echo 64 > $PARAMETERS/server_first_credits
	mount_nfs "$1" "$2" port=20049,wsize=65536
	iocheck write -t -s 1 -l $((32 * 65536)) "$LAB_TMP/w"
	echo 4 > /proc/fs/nfsd/threads
	rm -f "$LAB_TMP/go"
	# No other process may have the file open: closing it waits for the server, too
	{
		until [ -e "$LAB_TMP/go" ]; do
			sleep 0.2
		done
		dd if="$LAB_TMP/w" bs=65536 conv=fsync status=none
	} > "$D/w" &
	pid=$!
	lab_wait 20 test -e "$E/w"
	trace_on rpcrdma2/rpcrdma2_call_state
	freeze
	: > "$LAB_TMP/go"
	lab_wait 20 wait_for_contexts || { thaw; return 1; }
	thaw
	wait_all $pid
	trace_off
	[ "$(changes 'pulling -> ready')" = 32 ]
	echo 32 > /proc/fs/nfsd/threads
	look
	counted client -eq 0 reconnects
	iocheck check -e -s 1 -l $((32 * 65536)) "$E/w"
	umount_nfs
	none_left
	echo 8 > $PARAMETERS/server_first_credits
	rm -r "$E"
}
changes() { grep -c "rpcrdma2_call_state: .* $1" $TRACE/trace; }
wait_for_contexts() {
	local waited

	waited=$(changes 'waiting -> pulling')
	[ "$(changes 'pulling -> ready')" = 20 ] &&
		[ $(($(changes 'arrived -> waiting') - waited)) = 12 ]
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
for_versions 3 contexts "RDMA contexts"
for_versions "$(by_speed "3 4.2" 4.2)" send_slots "send slots"
