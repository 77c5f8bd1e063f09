#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Swap on a file of an NFS mount: memory goes out and comes back, also when the
# server went away in between and when the connection is cut all the time.
#
# timeout: 240
# flavours: uml-debug qemu
. /lab/lib/lab.sh

MEMORY=$(($(by_speed 8 4) << 20))

out() { grep -q "is out" $LAB_TMP/swap.log; }

# put_out SEED: sets PID, of a process that has its memory on the swap file.
put_out() {
	rm -f $LAB_TMP/go
	mkfifo $LAB_TMP/go
	: > $LAB_TMP/swap.log
	iocheck swap -s "$1" -l $MEMORY $LAB_TMP/go > $LAB_TMP/swap.log &
	PID=$!
	lab_wait 60 out
}

# It reads its memory and finds it as it was.
get_in() {
	: > $LAB_TMP/go
	wait $PID
}

# What a page costs on its way must exist before: RPC slots and MRs.
reserved() {
	look
	[ "${NOW[client.mrs_allocated]}" -ge 32 ]
}

swapped() { # DEV VERS
	local was reads writes

	enter swap "$1" "$2"
	swap_file "$D/swap" 32
	swapon "$D/swap"
	! ours || lab_wait 20 reserved
	mark
	reads=$(operations READ) writes=$(operations WRITE)
	put_out 3
	[ "$(operations WRITE)" -gt "$writes" ]
	get_in
	[ $(($(operations READ) - reads)) -ge $((MEMORY / 4 / 65536)) ]
	look
	! ours || counted client -eq 0 local_invalidations reconnects
	# Nobody is there when it wants its memory back.
	put_out 4
	was=$(connects)
	stop_server
	: > $LAB_TMP/go
	start_server
	wait $PID
	[ "$(connects)" -gt "$was" ]
	if [ -d $FAIL_SUNRPC ]; then
		cut_start client 40 10
		put_out 5
		get_in
		cut_stop
	fi
	swapoff "$D/swap"
}

# Of many connections only those are there that were needed so far.
not_all_there() { # DEV
	scratch few
	swap_file "$E/swap" 8
	nfs "$1" 3 nconnect=16
	swapon "$D/swap"
	[ "$(connections client)" -lt 16 ]
	swapoff "$D/swap"
}

fs_start
! ours || ktap_run "rxe a mount with connections to come" not_all_there rxe
# The emulated guest, with several CPUs, is slow.
! lab_is qemu || lab_devices() { echo rxe; }
for_versions "$(by_speed "3 4.2" 4.2)" swapped "swap"
