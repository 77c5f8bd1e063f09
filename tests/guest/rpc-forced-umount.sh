#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A server is away, and the client asks for it at growing distances. Whoever
# unmounts by force does not wait for the next attempt.
#
# timeout: 120
# flavours: uml
# covers: REC-5
. /lab/lib/lab.sh

# attempts N: so many have failed, and the client waits to make another one.
attempts() {
	local failed

	failed=$(grep -c "rpcrdma2_connected:.*value=-" $TRACE/trace)
	[ "$failed" -ge "$1" ] || return 1
	[ "$(grep -c "rpcrdma2_op_connect:" $TRACE/trace)" -gt "$failed" ]
}

not_in_use() {
	local refs

	read -r refs < /sys/module/rpcrdma2/refcnt
	[ "$refs" = 0 ]
}

force() { # DEV
	local pid since took

	enter force "$1" 3
	: > "$E/f"
	stat "$D/f"
	trace_on rpcrdma2/rpcrdma2_op_connect rpcrdma2/rpcrdma2_connected
	undo start_server 8
	stop_server
	(cd / && exec iocheck check -s 1 -l 1 "$D/f") &
	pid=$!
	# 0.1 s, 0.2, 0.4, ... 6.4, and now 12.8, 3 of which sunrpc has waited
	lab_wait 40 attempts 8
	kill -KILL $pid
	since=$EPOCHREALTIME
	umount -f /mnt || umount -l /mnt
	lab_wait 30 not_in_use
	took=$(((${EPOCHREALTIME/./} - ${since/./}) / 1000))
	trace_off
	echo "gone after $took ms"
	[ $took -lt 5000 ]
	wait $pid || true
	rm -r "$E"
}

fs_start ours ext4 8
ktap_run "umount -f while the server is away (C9)" force rxe
