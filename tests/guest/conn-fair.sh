#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A client that only asks for attributes, beside one that has as many WRITEs of 1 MiB
# under way as it may: it does not wait for these.
#
# Not over siw, which sends for all connections from one thread of each processor: there
# the GETATTRs wait, with the stock transport as well.
#
# Where the clock counts instructions: elsewhere the time of a GETATTR is that of the
# machine's other work, too.
#
# flavours: counted
. /lab/lib/lab.sh

# A GETATTR may take so many times as long as with nobody else, and no longer than the
# server needs for one WRITE. On average.
FACTOR=10
# So many WRITEs are under way at the least.
WINDOW=32
SECS=4
WRITERS=8

# NFSv3 at another address is another connection. Each look asks the server.
second_mount() {
	ip addr add "${RXE_ADDR}01/24" dev v0
	RXE_ADDR=${RXE_ADDR}01 nfs rxe 3 noac $SECOND
}

# getattrs: how long they take, one after the other, in microseconds: MEAN, and MOST
# for 99 of 100
getattrs() {
	local - all=() start end=$((${EPOCHREALTIME/./} + SECS * 1000000))

	set +x
	while start=${EPOCHREALTIME/./} && [ "$start" -lt "$end" ]; do
		[ -e $SECOND/small ] || return 1
		all+=($((${EPOCHREALTIME/./} - start)))
	done
	mapfile -t all < <(printf '%s\n' "${all[@]}" | sort -n)
	MEAN=$((SECS * 1000000 / ${#all[@]})) MOST=${all[${#all[@]} * 99 / 100]}
}

writer() { # NUMBER
	local -

	set +x
	until [ -e "$LAB_TMP/stop" ]; do
		dd if=/dev/zero of="/mnt/large$1" bs=16M count=1 oflag=direct \
			conv=notrunc status=none || return 1
	done
}

full() {
	look
	[ "${NOW[client.calls_outstanding]}" -ge $WINDOW ]
}

fair() {
	local alone most writes sent PIDS=()

	nfs rxe 3
	second_mount
	: > /export/small
	sent=$(operations GETATTR $SECOND)
	getattrs
	[ "$(operations GETATTR $SECOND)" -gt $((sent + SECS)) ]
	alone=$MEAN most=$MOST
	rm -f "$LAB_TMP/stop"
	launch $WRITERS writer {}
	! ours || lab_wait 20 full
	writes=$(operations WRITE)
	getattrs
	writes=$(($(operations WRITE) - writes))
	touch "$LAB_TMP/stop"
	wait_all "${PIDS[@]}"
	ktap_diag "a GETATTR takes $alone us, 99 of 100 at the most $most us;" \
		"beside $writes WRITEs in $SECS s $MEAN us, $MOST us"
	umount $SECOND
	umount_nfs
	[ "$writes" -gt $WINDOW ]
	[ "$MEAN" -le $((FACTOR * alone)) ]
	[ "$MEAN" -le $((SECS * 1000000 / writes)) ]
}

lab_modprobe nfsd
mount -t nfsd nfsd $NFSD
echo $((1 << 20)) > $NFSD/max_block_size
fs_start
ktap_run "GETATTRs beside a window full of WRITEs of 1 MiB" fair
