#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# siw has done with a message when TCP has it. What TCP still has to send, or
# to send again, must not be written over by the next message.
#
# timeout: 100
. /lab/lib/lab.sh

JOBS=16 LEN=400000 BLOCK=12000 SIZE=32768

# Long messages without chunks, more at a time than the network takes.
prepare() {
	scratch slow
	each $JOBS iocheck write -t -s {} -l $LEN "$E/f{}"
	for_both recv_max $SIZE
	nfs siw 3
	both_grow $SIZE
	tc qdisc add dev lo root netem delay 20ms rate 40mbit limit 10000
}

jobs_at_once() { # COMMAND
	mark
	at_once $JOBS iocheck "$1" -d -s {} -l $LEN -b $BLOCK "$D/f{}"
	look
	counted client -eq 0 registrations
}

slow_tcp() {
	prepare
	jobs_at_once check
	jobs_at_once write
	each $JOBS iocheck check -e -s {} -l $LEN "$E/f{}"
	tc qdisc del dev lo root
}

have_siw || ktap_skip_all "needs siw"
fs_start ours
ktap_run "siw NFSv3 long messages over a slow link, inline" slow_tcp
