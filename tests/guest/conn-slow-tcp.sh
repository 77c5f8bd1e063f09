#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# siw has done with a message when TCP has it. What TCP still has to send, or
# to send again, must not be written over by the next message.
#
# timeout: 100
# flavours: uml-debug
. /lab/lib/lab.sh
. /lab/lib/fs.sh
. /lab/lib/props.sh

JOBS=16 LEN=400000 BLOCK=12000 SIZE=32768

# Long messages without chunks, more at a time than the network takes.
prepare() {
	local i

	scratch slow
	for ((i = 1; i <= JOBS; i++)); do
		iocheck write -t -s "$i" -l $LEN "$E/f$i"
	done
	for_both recv_max $SIZE
	nfs siw 3
	tell client rbsiz $SIZE
	agreed server $SIZE
	tell server rbsiz $SIZE
	agreed client $SIZE
	tc qdisc add dev lo root netem delay 20ms rate 40mbit limit 10000
}

jobs_at_once() { # COMMAND
	local i pids=()

	mark
	for ((i = 1; i <= JOBS; i++)); do
		iocheck "$1" -d -s "$i" -l $LEN -b $BLOCK "$D/f$i" &
		pids+=($!)
	done
	wait_all "${pids[@]}"
	look
	counted client -eq 0 registrations
}

compare() {
	local i

	for ((i = 1; i <= JOBS; i++)); do
		iocheck check -e -s "$i" -l $LEN "$E/f$i"
	done
}

slow_tcp() {
	prepare
	jobs_at_once check
	jobs_at_once write
	compare
	tc qdisc del dev lo root
	umount_nfs
	none_left
	rm -r "$E"
}

have_rdma2 || ktap_skip_all "needs rpcrdma2"
have_siw || ktap_skip_all "needs siw"
fs_start
ktap_run "siw NFSv3 long messages over a slow link, inline" slow_tcp
