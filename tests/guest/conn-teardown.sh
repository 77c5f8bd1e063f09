#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Everything ends at once: the server's threads stop, its listeners go, clients
# unmount or are killed, and the device is removed. No use after free, and
# nothing stays behind (F-18). With NFSv3: other versions have state on the
# server, and go on trying to renew it, whatever the transport.
#
# timeout: 60
# flavours: uml-debug qemu-debug
. /lab/lib/lab.sh
. /lab/lib/fs.sh
. /lab/lib/props.sh

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

# ---- a connection that sunrpc closes, and that lives on meanwhile ----

one_served() { [ "$(connections server)" = 1 ]; }
waiting() { [ "$(value server calls_being_served)" -ge "$1" ]; }

# When an address of the server goes away, nfsd closes its connections, as soon as
# there is a thread for it. Until then more Calls come. All of them are answered,
# on the next connection. Here another device has had the address as well, so that
# messages go on.
address_goes() { # DEV VERS
	local threads i pids=() conn before rc=0

	scratch address
	threads=$(< $NFSD/threads)
	echo 1 > $NFSD/threads
	for i in 1 2 3 4; do
		: > "$E/f$i"
	done
	nfs "$1" "$2" actimeo=0
	lab_wait 20 one_served
	conn=$(id server)
	trace_on rpcrdma2/rpcrdma2_svc_closed rpcrdma2/rpcrdma2_recv
	freeze
	iocheck write -d -s 1 -l 5000 "$D/f1" &
	pids=($!)
	lab_wait 20 stuck 1 || rc=1
	for i in 2 3; do
		stat "$D/f$i" > /dev/null &
		pids+=($!)
	done
	lab_wait 20 waiting 3 || rc=1
	ip addr add "$(lab_addr "$1")/32" dev lo
	ip addr del "$(lab_addr "$1")/32" dev lo
	before=$(received "$conn")
	stat "$D/f4" > /dev/null &
	pids+=($!)
	lab_wait 20 more_received "$conn" "$before" || rc=1
	thaw
	wait_all "${pids[@]}" || rc=1
	trace_off
	traced "rpcrdma2_svc_closed: conn=$conn unserved=[1-9]" || rc=1
	iocheck check -e -s 1 -l 5000 "$E/f1" || rc=1
	umount_nfs
	echo "$threads" > $NFSD/threads
	none_left
	rm -r "$E"
	return $rc
}
received() { grep -c "rpcrdma2_recv: conn=$1 " $TRACE/trace || true; }
more_received() { [ "$(received "$1")" -gt "$2" ]; }

have_rdma2 || ktap_skip_all "needs rpcrdma2"
lab_export ext4
fs_start
for_versions 3 address_goes "an address of the server"
for_versions 3 all_at_once "server, device and client at once (F-18)"
for_versions 3 device_and_client "device and client at once (F-18)"
if ! lab_is uml-debug; then
	for_versions 3 server_and_client "server and client at once (F-18)"
	for_versions 3 device_and_server "device and server at once (F-18)"
fi
