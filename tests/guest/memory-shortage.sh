#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# More Calls at once than there are means for: memory regions, RDMA contexts, room in the
# send queue. They wait for their turn, all of them, and nobody else has to help.
#
# timeout: 120
# flavours: uml-debug qemu
. /lab/lib/lab.sh

# A connection begins with 16 MRs. More are wanted, and none comes back as the
# server answers nobody.
regions() { # DEV VERS
	local calls=20 PIDS=()

	parameter server_first_credits 32
	enter regions "$1" "$2"
	each $calls iocheck write -t -l 40001 "$E/w{}"
	freeze
	launch $calls iocheck write -d -s {} -l 40001 -a 512 "$D/w{}"
	lab_wait 20 stuck $calls
	look
	thaw
	wait_all "${PIDS[@]}"
	counted client -ge $calls mrs_allocated registrations
	each $calls iocheck check -e -s {} -l 40001 "$E/w{}"
}

# Of 32 WRITEs four are executed, as many as there are threads, and 16 others have an RDMA
# context each. The last 12 wait until a thread takes one of those.
contexts() { # DEV VERS
	local pid

	scratch contexts
	parameter server_first_credits 64
	mount_nfs "$1" "$2" port=20049,wsize=65536
	iocheck write -t -s 1 -l $((32 * 65536)) "$LAB_TMP/w"
	nfsd_threads 4
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
	lab_wait 20 wait_for_contexts
	thaw
	wait_all $pid
	trace_off
	[ "$(changes 'pulling -> ready')" = 32 ]
	look
	counted client -eq 0 reconnects
	iocheck check -e -s 1 -l $((32 * 65536)) "$E/w"
	leave
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
	by_default client credits 4
	enter slots "$1" "$2"
	iocheck write -t -s 1 -l 100001 "$E/r"
	mark
	at_once 12 one_of_many {}
	look
	counted client -gt 0 sq_waits
	counted client -eq 0 reconnects
	each 12 iocheck check -e -s {} -l 50001 "$E/w{}"
}
one_of_many() { # NUMBER
	iocheck check -e -d -s 1 -l 100001 -b $((1300 * $1 - 600)) "$D/r" &&
		iocheck write -t -d -s "$1" -l 50001 -b $((200 + 700 * $1)) "$D/w$1" &&
		mkdir "$D/d$1"
}

fs_start ours ext4 32
# NFSv3, since opening a file of NFSv4 is writing, too.
for_versions 3 regions "memory regions"
for_versions 3 contexts "RDMA contexts"
for_versions "$(by_speed "3 4.2" 4.2)" send_slots "send slots"
