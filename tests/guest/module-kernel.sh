#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# What differs between kernels, on whichever this is: the server is started again
# under load, properties change on a connection in use, pages change hands, the
# kernel's stock client is served, who may have little gets little, the module is
# unloaded. Where the NFS modules know no rdmaver= this module is in the place of
# the stock one for all but the stock client. fs-smoke compares more data.
#
# timeout: 90
# flavours: kernels (make check-kernels names it)
. /lab/lib/raw.sh

SIZES="0 1 1023 1024 4095 4096 4097 16383 16384 16385 1048576 1048577"

# shellcheck disable=SC2086 # a list
put() { iocheck put "$@" $SIZES; }
# shellcheck disable=SC2086 # a list
get() { iocheck get "$@" $SIZES; }

# Messages of every length around every threshold; with KASAN of some.
mapfile -t LENGTHS < <(around "$(if lab_is qemu; then echo 3; else echo 29; fi)")
lengths() { # DEV VERS
	enter lengths "$1" "$2"
	iocheck put "$D" "${LENGTHS[@]}"
	again "$1" "$2"
	iocheck get "$D" "${LENGTHS[@]}"
	iocheck get "$E" "${LENGTHS[@]}"
}

restarted() { # DEV VERS
	local before PIDS=()

	enter restarted "$1" "$2"
	before=$(connects)
	launch 3 iocheck write -t -d -s {} -l 400001 -b 3001 "$D/{}"
	stop_server
	start_server
	wait_all "${PIDS[@]}"
	[ "$(connects)" -gt "$before" ]
	put -s 7 "$D"
	again "$1" "$2"
	get -s 7 "$D"
	get -s 7 "$E"
	each 3 iocheck check -e -s {} -l 400001 "$E/{}"
}

changed() { # DEV VERS
	scratch changed
	for_both recv_max 32768
	nfs "$1" "$2"
	iocheck write -t -d -s 1 -l 65536 "$D/f"
	tell client rbsiz 32768
	agreed server 32768
	iocheck write -d -s 2 -l 300001 -b 30001 "$D/f"
	iocheck check -d -s 2 -l 300001 -b 31001 "$D/f"
	tell server rbsiz 32768
	agreed client 32768
	iocheck write -t -d -s 3 -l 300001 -b 30001 "$D/f"
	iocheck check -d -s 3 -l 300001 -b 7001 "$D/f"
	iocheck check -e -s 3 -l 300001 "$E/f"
}

read_and_write() { # NUMBER
	local PIDS=()

	launch 1 iocheck check -e -s "$1" -l 2097153 "$D/$1"
	launch 1 iocheck write -t -d -s "$1$1" -l 2097153 -b 1048577 "$D/$1$1"
	wait_all "${PIDS[@]}"
}

# Long arguments and long Replies at the same time: pages go back and forth
# between the threads and the transport; then other use of the threads' pages.
long_calls() { # DEV VERS
	enter long "$1" "$2"
	at_once 4 iocheck write -t -d -s {} -l 2097153 -b 1048577 "$D/{}"
	drop_caches
	each 4 iocheck check -e -s {} -l 2097153 "$E/{}"
	at_once 4 read_and_write {}
	each 4 iocheck check -e -s {}{} -l 2097153 "$E/{}{}"
	mkdir "$E/dir"
	iocheck fill -n 300 -l 200 "$E/dir"
	iocheck list -n 300 -l 200 -e "$D/dir"
}

unload() {
	stop_server
	unload_rpcrdma2
	no_family
	! grep -q '^rdma' /proc/sys/sunrpc/transports
}

unload_stock() {
	stop_server
	lab_wait 20 rmmod rpcrdma
	unload
}

# The stock transport is a client of our listener.
beside_stock() {
	modprobe rpcrdma
	modprobe rpcrdma2
	lab_nfsd
	lab_listen rdma2 20049
}

stock_client() { # DEV VERS
	scratch stock
	put -s 1 "$E"
	mount_nfs "$1-v1" "$2" port=20049
	get -s 1 "$D"
	put -s 2 "$D"
	look
	[ "${NOW[server.version]}" = 1 ]
	[ -z "${NOW[client.version]-}" ]
	umount_nfs
	get -s 2 "$E"
	rm -r "$E"
}

fs_start
for_all lengths "message lengths"
for_versions "3 4.0 4.1 4.2" restarted "server restarted"
for_versions "3 4.2" changed "properties change"
for_versions "3 4.2" long_calls "long Calls"
raw_group bounds 20049 bound_sizes
ktap_run "unload" unload
ktap_run "beside the stock transport" beside_stock
for_versions "3 4.1 4.2" stock_client "stock client"
ktap_run "unload again" unload_stock
