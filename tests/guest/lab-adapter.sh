#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The device of tests/bench/adapter: what was written arrives, over version 2, both
# versions 1, and after the device was removed; a run of "tests/bench/run --adapter"
# looks at no data. "--param lab_rxe=bench_adapter" runs any other test on it.
#
# flavours: uml-debug qemu
# timeout: 120
. /lab/lib/lab.sh

lab_rxe=bench_adapter
COUNTERS=/sys/module/bench_adapter/parameters/counters
SIZES="0 1 511 4095 4096 4097 16384 65537 1048577"

# Its memory is the other devices' business.
have_siw() { false; }

# happened EVENT LEAST: between the begin and the end of counting
happened() { [ "$(awk -v name="$1" '$1 == name { print $2 }' $COUNTERS)" -ge "$2" ]; }

# shellcheck disable=SC2086 # SIZES is words
arrives() { # DEV VERS
	scratch arrives
	mount_nfs "$1" "$2"
	AT_END=_leave
	echo 1 > $COUNTERS
	iocheck put "$D" $SIZES
	at_once 8 iocheck write -t -d -s {} -l 600001 -b 70001 "$D/w{}"
	umount_nfs
	mount_nfs "$1" "$2"
	iocheck get "$D" $SIZES
	iocheck get "$E" $SIZES
	each 8 iocheck check -e -s {} -l 600001 "$E/w{}"
	echo 0 > $COUNTERS
	cat $COUNTERS
	happened send_wrs 100
	happened recv_wrs 100
	happened interrupts 50
}

own_version_1() { # VERS
	by_default client versions v1
	arrives rxe "$1"
}

gone_and_back() {
	enter gone rxe 3
	launch 4 iocheck write -t -d -s {} -l 3000001 -b 70001 "$D/w{}"
	rdma link delete rxe0
	! rdma link show rxe0/1 2> /dev/null
	lab_net
	wait_all "${PIDS[@]}"
	each 4 iocheck check -e -s {} -l 3000001 "$E/w{}"
}

fs_start ours
lab_listen rdma 20050
for vers in 3 4.2; do
	ktap_run "version 2, NFSv$vers" arrives rxe $vers
	ktap_run "own version 1, NFSv$vers" own_version_1 $vers
	ktap_run "stock version 1, NFSv$vers" arrives rxe-v1 $vers
done
ktap_run "device gone and back" gone_and_back
