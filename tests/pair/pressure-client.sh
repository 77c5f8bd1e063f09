#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A client with less memory than its programs use: it swaps to a file on the
# mount, and dirty pages of mapped files go the same way, while the server
# restarts again and again, grants now few and now many credits, and both ends
# change their Receive Buffer Sizes.
#
# All programs go on, no step of theirs takes longer than BOUND, nobody is killed
# for memory, and every byte is right. Documentation/administration.md has the
# bound, and says why the programs may not have all of the memory: with
# pressure_high=max they may, and the test shows where the kernel stops.
# lab_suffix=-v1 is for the stock transport.
#
# make check-pressure has two minutes of it for each device: pressure_seconds=120
#
# timeout: 180
# memory: 256M
# without: kernel/fs/nfs nfsd.ko ext4.ko jbd2.ko rpcrdma2-conform
# alone: it takes long, see make check-pressure
. /lab/tests/lib.sh

SECS=${pressure_seconds:-20}
# The longest that a step (64 KiB checked and written anew) may take, seconds
BOUND=60

HOG=$((160 << 20))
FILE=$((16 << 20))
SWAP=$((256 << 20))
# What they may have of the memory, and what has to go each way at least
HIGH=${pressure_high:-$((64 << 20))}
MOVED=$((64 << 20))

GROUP=/run/group/programs
group() {
	mkdir -p /run/group
	mount -t cgroup2 none /run/group
	echo +memory > /run/group/cgroup.subtree_control
	mkdir $GROUP
	echo "$HIGH" > $GROUP/memory.high
}

# churn NAME SEED LENGTH FILE: a program, with its memory, in the group
churn() {
	(
		echo $BASHPID > $GROUP/cgroup.procs
		exec iocheck churn -s "$2" -l "$3" -b 65536 "$4"
	) > "$LAB_OUT/$1" 2>&1 &
	PROGRAMS+=($!)
}

# bytes OP COLUMN: of a mount, as mountstats counts them for each operation
bytes() {
	awk -v op="$1:" -v column="$2" '$1 == op { n += $column }
		END { printf "%.0f\n", n }' /proc/self/mountstats
}

vmstat() { awk -v name="$1" '$1 == name { print $2 }' /proc/vmstat; }

# Asks the server for another size now and then; a connection may be away.
changes() {
	local size

	while [ ! -e $PAIR/calm ]; do
		for size in 4096 32768 8192 65536; do
			tell client rbsiz $size || true
			lab_pause 1
		done
	done 2> /dev/null
}

run_load() {
	local p changer rc=0

	PROGRAMS=()
	churn hog 1 $HOG -
	churn map1 1000 $FILE /mnt/map1
	churn map2 2000 $FILE /mnt/map2
	changes &
	changer=$!
	: > $PAIR/load
	lab_pause "$SECS"
	: > $PAIR/calm
	rm $PAIR/load
	for p in "${PROGRAMS[@]}"; do
		kill -TERM "$p" || rc=1
	done
	wait_all "${PROGRAMS[@]}" || rc=1
	wait $changer
	cat "$LAB_OUT"/{hog,map1,map2}
	return $rc
}

pressed() { # DEV VERS OPTS
	local in out read wrote began

	rm -f $PAIR/calm
	nfs "$1" "$2" "$3"
	AT_END=
	swap_file /mnt/swap $((SWAP >> 20))
	swapon /mnt/swap
	in=$(vmstat pswpin) out=$(vmstat pswpout)
	read=$(bytes READ 6) wrote=$(bytes WRITE 5)
	began=$SECONDS
	run_load
	in=$(($(vmstat pswpin) - in)) out=$(($(vmstat pswpout) - out))
	read=$(($(bytes READ 6) - read)) wrote=$(($(bytes WRITE 5) - wrote))
	ktap_diag "$((read >> 20)) MiB read and $((wrote >> 20)) written, of that" \
		"for swap $((in >> 8)) and $((out >> 8)), in $((SECONDS - began)) s"
	look
	ktap_diag "$(($(connects) - 1)) connections lost, Receive Buffer Sizes changed" \
		"${NOW[client.props_changed]-0} and" \
		"${NOW[client.peer_props_changed]-0} times"
	[ $((in << 12)) -ge $MOVED ] && [ $((out << 12)) -ge $MOVED ]
}

# There were cuts and changes
disturbed() {
	[ $(($(connects) - 1)) -ge 2 ]
	ours || return 0
	look
	[ "${NOW[client.props_changed]}" -gt 0 ] &&
		[ "${NOW[client.peer_props_changed]}" -gt 0 ]
}

in_time() {
	local f ms longest=0

	for f in hog map1 map2; do
		ms=$(sed -n 's/.*longest step \([0-9]*\) ms.*/\1/p' "$LAB_OUT/$f")
		[ "${ms:-999999}" -le "$longest" ] || longest=${ms:-999999}
	done
	ktap_diag "longest step: $longest ms"
	[ "$longest" -le $((BOUND * 1000)) ]
}

right() { # DEV VERS OPTS
	local f seed

	swapoff /mnt/swap
	umount_nfs
	nfs "$1" "$2" "$3"
	for f in map1 map2; do
		seed=$(sed -n 's/.* seed //p' "$LAB_OUT/$f")
		iocheck check -e -s "$seed" -l $FILE "/mnt/$f"
	done
	rm /mnt/*
	umount_nfs
}

nobody_killed() { ! dmesg | grep -E 'invoked oom-killer|Out of memory'; }

lab_allow_log "$RXE_FAULT"
pair_net client
group
if ours; then
	load_rpcrdma2 negotiate_ms=15000
	by_default client recv_size 4096 recv_max 65536 send_size 65536
fi
lab_wait 60 listening || lab_die "there is no server"
for dev in $(lab_devices); do
	case $dev in
	rxe) args=(rxe 4.2 '') ;;
	siw) args=(siw 3 nolock) ;;
	esac
	name="$dev NFSv${args[1]}"
	ktap_run "$name swap and mapped files under pressure" pressed "${args[@]}"
	ktap_run "$name there were cuts and changes" disturbed
	ktap_run "$name no step takes longer than $BOUND s" in_time
	ktap_run "$name data are right" right "${args[@]}"
done
ktap_run "nobody was killed for memory" nobody_killed
