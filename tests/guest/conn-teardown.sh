#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Everything ends at once: the server's threads stop, its listeners go, clients
# unmount or are killed, and the device is removed. No use after free, and
# nothing stays behind (F-18). With NFSv3: other versions have state on the
# server, and go on trying to renew it, whatever the transport.
#
# flavours: uml-debug qemu-debug
. /lab/lib/lab.sh

write_once() { # WORKER ROUND
	iocheck write -t -d -s "$2" -l 70001 -b 9001 "$D/w$1" 2> /dev/null
}

remove_device() { rdma link delete "$1"0; }
force() { umount -f /mnt 2> /dev/null || true; }

gone_for_good() {
	! nfs_mounted || umount -f /mnt 2> /dev/null || return 1
	[ "$(connections client) $(connections server)" = "0 0" ] &&
		[ "$(< /sys/module/rpcrdma2/refcnt)" = 0 ]
}

# teardown DEV VERS WHAT...: all of these at the same time, under load.
teardown() {
	local dev=$1 PIDS=() what

	scratch teardown
	# Whoever looks at the directory asks the server, even if it is gone.
	nfs "$dev" "$2" actimeo=0
	work_start 2 write_once
	lab_wait 20 work_further 1
	for what in "${@:3}"; do
		launch 1 "$what" "$dev"
	done
	touch "$LAB_TMP/work-ends"
	kill -KILL "${WORKERS[@]}" 2> /dev/null || true
	pkill -KILL -x iocheck || true
	wait_all "${PIDS[@]}"
	wait "${WORKERS[@]}" || true
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
	local conn before PIDS=()

	scratch address
	nfsd_threads 1
	touch "$E"/f{1..4}
	nfs "$1" "$2" actimeo=0
	lab_wait 20 one_served
	conn=$(id server)
	trace_on rpcrdma2/rpcrdma2_responder_closed rpcrdma2/rpcrdma2_recv
	freeze
	launch 1 iocheck write -d -s 1 -l 5000 "$D/f1"
	lab_wait 20 stuck 1
	launch 1 look_at "$D/f2"
	launch 1 look_at "$D/f3"
	lab_wait 20 waiting 3
	ip addr add "$(lab_addr "$1")/32" dev lo
	ip addr del "$(lab_addr "$1")/32" dev lo
	before=$(received "$conn")
	launch 1 look_at "$D/f4"
	lab_wait 20 more_received "$conn" "$before"
	thaw
	wait_all "${PIDS[@]}"
	trace_off
	traced "rpcrdma2_responder_closed: conn=$conn unserved=[1-9]"
	iocheck check -e -s 1 -l 5000 "$E/f1"
}
look_at() { stat "$1" > /dev/null; }
received() { grep -c "rpcrdma2_recv: conn=$1 " $TRACE/trace || true; }
more_received() { [ "$(received "$1")" -gt "$2" ]; }

fs_start ours ext4
for_versions 3 address_goes "an address of the server"
for_versions 3 all_at_once "server, device and client at once (F-18)"
for_versions 3 device_and_client "device and client at once (F-18)"
if ! lab_is uml-debug; then
	for_versions 3 server_and_client "server and client at once (F-18)"
	for_versions 3 device_and_server "device and server at once (F-18)"
fi
