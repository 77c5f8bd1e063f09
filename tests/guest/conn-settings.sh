#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Settings of the policy that say how a client connects: the traffic class of its
# packets, and the delay between attempts to connect.
#
# timeout: 240
. /lab/lib/lab.sh
. /lab/lib/host.sh

# ---- tos ----

# Nobody answers, but the connect request has the class of all packets of a connection.
# It leaves the guest, which no packet of a connection with itself does, by the veth.
TOS=104

# see_class SECONDS: the traffic classes of the packets of RoCE that reach v1
see_class() {
	host_up
	undo host_down
	chroot $HOST python3 - "$1" > "$LAB_TMP/classes" <<-'END' &
	import socket, sys, time
	s = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(3))
	s.bind(("v1", 0))
	print("ready", flush=True)
	s.settimeout(0.2)
	end = time.monotonic() + float(sys.argv[1])
	while time.monotonic() < end:
	    try:
	        p = s.recv(9000)
	    except TimeoutError:
	        continue
	    six = p[0] >> 4 == 6
	    udp = 40 if six else 4 * (p[0] & 15)
	    if p[6 if six else 9] == 17 and p[udp + 2:udp + 4] == b"\x12\xb7":
	        traffic = (p[0] << 4 | p[1] >> 4) & 255 if six else p[1]
	        print("class", 6 if six else 4, traffic, flush=True)
	END
	WATCHER=$!
	lab_wait 20 grep -q ready "$LAB_TMP/classes"
}

class_seen() { grep -qx "class $1 $2" "$LAB_TMP/classes"; }

traffic_class() { # 4|6 ADDRESS
	local pid

	undo ip neigh del "$2" dev v0
	ip neigh replace "$2" lladdr 02:00:00:00:00:99 dev v0 nud permanent
	by_default client tos $TOS
	see_class $((20 * lab_scale))
	# The address of a server that is not there
	if [ "$1" = 4 ]; then
		RXE_ADDR=$2 nfs rxe 4.2 retry=0 &
	else
		RXE_ADDR6=$2 nfs rxe6 4.2 retry=0 &
	fi
	pid=$!
	lab_wait 15 class_seen "$1" $TOS
	not grep "class $1 0" "$LAB_TMP/classes"
	pkill mount.nfs || true
	wait $pid || true
	kill $WATCHER
	none_left
}

shown() { # DEV
	by_default client tos $TOS reconnect_min 1 reconnect_max 7 fail_after 90
	nfs "$1" 4.2
	[ "$(said client tos)" = $TOS ]
	[ "$(said client reconnect_min)" = 1 ]
	[ "$(said client reconnect_max)" = 7 ]
	[ "$(said client fail_after)" = 90 ]
	[ -z "$(said server tos)" ]
	iocheck write -t -d -s 1 -l 300001 /mnt/f
	iocheck check -e -s 1 -l 300001 /export/f
}

# ineffective DEV: settings without effect, which the command doctor finds. Only several
# entries can have such delays.
ineffective() {
	undo rpcrdma2 policy delete client 0.0.0.0/0
	rpcrdma2 policy set client 0.0.0.0/0 reconnect_max 7
	by_default client reconnect_min 8 fail_after 90
	nfs "$1" 4.2
	[ "$(status rpcrdma2 doctor)" = 1 ]
	cat $LAB_TMP/printed
	grep "^reconnect-range: .*: reconnect_max 7 is below reconnect_min 8; ." \
		$LAB_TMP/printed
	grep "^fail-after-hard: .*: ..*; ." $LAB_TMP/printed
	umount_nfs
	by_default client reconnect_min 7
	nfs "$1" 4.2 softerr
	rpcrdma2 doctor > $LAB_TMP/printed || [ $? = 1 ]
	not grep "^reconnect-range\|^fail-after-hard" $LAB_TMP/printed
}

# ---- reconnect_min, reconnect_max ----

# Milliseconds between attempts that the server has refused
gaps() {
	awk '/rpcrdma2_connected: .* value=-111/ {
		for (i = 1; i <= NF; i++)
			if ($i ~ /^[0-9]+\.[0-9]+:$/)
				now = $i + 0
		if (last)
			printf "%.0f\n", 1000 * (now - last)
		last = now
	}' $TRACE/trace
}

enough_gaps() { [ "$(gaps | wc -l)" -ge "$1" ]; }

# paced DEV MIN MAX: the attempts begin after MIN seconds, and their distance grows up to
# MAX, each with up to a quarter more
paced() {
	local pid

	by_default client reconnect_min "$2" reconnect_max "$3"
	enter paced "$1" 3
	touch "$D/f"
	trace_on rpcrdma2/rpcrdma2_connected
	stop_server
	iocheck write -d -s 1 -l 5000 "$D/f" &
	pid=$!
	lab_wait $((5 * $3)) enough_gaps 4
	trace_off
	start_server
	wait $pid
	gaps
	gaps | awk -v min="$2" -v max="$3" -v scale="$lab_scale" '
		{ late = 300 * scale }
		$1 < 1000 * min - 50 { bad = 1 }
		$1 > 1250 * max + late { bad = 1 }
		{ last = $1 }
		END { exit bad || last < 1000 * max - 50 }'
}

# The delay of an attempt in units of the first that is not 0
planned() {
	awk '/rpcrdma2_op_connect: / {
		sub(/.* value=/, "")
		if ($0 + 0)
			last = $0
		first = first ? first : last
	}
	END { printf "%d", first ? last / first : 0 }' $TRACE/trace
}

planned_more() { [ "$(planned)" -ge "$1" ]; }

# limited DEV VERS LEAST MOST: during an outage reconnect_min becomes 100 times as long,
# and reconnect_max as well. The delay grows by a factor of LEAST to MOST; nobody waits for
# it.
limited() {
	local pid

	by_default client reconnect_min 1 reconnect_max 1
	enter limited "$1" "$2"
	touch "$D/f"
	trace_on rpcrdma2/rpcrdma2_op_connect
	stop_server
	iocheck write -d -s 1 -l 5000 "$D/f" &
	pid=$!
	lab_wait 20 planned_more 1
	by_default client reconnect_min 100 reconnect_max 100
	lab_wait 20 planned_more "$3"
	trace_off
	cat $TRACE/trace
	[ "$(planned)" -le "$4" ]
	if [ "$2" = 3 ]; then
		force_umount /mnt $pid
		start_server
	else
		start_server
		wait $pid
	fi
}

fs_start ours
for dev in $(lab_devices); do
	ktap_run "$dev shows its settings" shown "$dev"
	ktap_run "$dev settings without effect" ineffective "$dev"
	ktap_run "$dev reconnect_min 1, reconnect_max 4" paced "$dev" 1 4
	ktap_run "$dev NFSv3 reconnect_min 100" limited "$dev" 3 60 200
	# Half of the lease time
	ktap_run "$dev NFSv4.2 reconnect_min 100" limited "$dev" 4.2 3 10
done
if has rxe && have_host; then
	ktap_run "rxe IPv4 traffic class" traffic_class 4 10.0.0.99
	ktap_run "rxe IPv6 traffic class" traffic_class 6 fd00::99
else
	ktap_skip "the traffic class" "needs rxe, and python of the host"
fi
