#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Everything ends at once: the server's threads stop, its listeners go, clients
# unmount or are killed, and the device is removed. No use after free, and
# nothing stays behind (F-18). With NFSv3: other versions have state on the
# server, and go on trying to renew it, whatever the transport.
#
# timeout: 60
# flavours: uml uml-debug qemu-debug
. /lab/lib/lab.sh
. /lab/lib/fs.sh

rounds() { cat "$LAB_TMP"/round* 2> /dev/null | wc -l; }
under_way() { [ "$(rounds)" -ge 2 ]; }

worker() { # NUMBER
	local n=0

	while [ ! -e "$LAB_TMP/stop" ]; do
		n=$((n + 1))
		iocheck write -t -d -s "$n" -l 70001 -b 9001 "$D/w$1" || return 1
		echo $n >> "$LAB_TMP/round$1"
	done 2> /dev/null
}

stop_server() { echo 0 > $NFSD/threads; }
remove_device() { rdma link delete "$1"0; }
force() { umount -f /mnt 2> /dev/null || true; }

gone_for_good() {
	! nfs_mounted || umount -f /mnt 2> /dev/null || return 1
	[ "$(connections client) $(connections server)" = "0 0" ] &&
		[ "$(< /sys/module/rpcrdma2/refcnt)" = 0 ]
}

# teardown DEV VERS WHAT...: all of these at the same time, under load.
teardown() {
	local dev=$1 pids=() workers=() what

	scratch teardown
	rm -f "$LAB_TMP"/round* "$LAB_TMP/stop"
	# Whoever looks at the directory asks the server, even if it is gone.
	nfs "$dev" "$2" actimeo=0
	worker 1 &
	workers=($!)
	worker 2 &
	workers+=($!)
	lab_wait 20 under_way
	for what in "${@:3}"; do
		"$what" "$dev" &
		pids+=($!)
	done
	touch "$LAB_TMP/stop"
	kill -KILL "${workers[@]}" 2> /dev/null || true
	pkill -KILL -x iocheck || true
	wait_all "${pids[@]}"
	wait "${workers[@]}" || true
	# A listener that was not stopped holds the module.
	stop_server
	lab_wait 30 gone_for_good
	lab_net
	lab_server
	fs_listen
	rm -r "$E"
}

all_at_once() { teardown "$1" "$2" stop_server remove_device force; }
server_and_client() { teardown "$1" "$2" stop_server force; }
device_and_client() { teardown "$1" "$2" remove_device force; }
device_and_server() { teardown "$1" "$2" remove_device stop_server; }

have_rdma2 || ktap_skip_all "needs rpcrdma2"
fs_start
for_versions 3 all_at_once "server, device and client at once (F-18)"
for_versions 3 device_and_client "device and client at once (F-18)"
if ! lab_is uml-debug; then
	for_versions 3 server_and_client "server and client at once (F-18)"
	for_versions 3 device_and_server "device and server at once (F-18)"
fi
