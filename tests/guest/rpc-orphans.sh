#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Cancelled RPCs whose Replies do not come, and what they hold up.
#
# timeout: 200
# covers: RINV-18
. /lab/lib/lab.sh

SLOTS=4

orphans() { look; [ "${NOW[client.orphans]-0}" -ge "$1" ]; }

# hold_all: every slot of the mount belongs to an RPC that was cancelled.
hold_all() {
	local PIDS=()

	launch $SLOTS mkdir "$D/p{}/d"
	lab_wait 20 stuck $SLOTS
	kill -KILL "${PIDS[@]}"
	lab_wait 20 gone "${PIDS[@]}"
	lab_wait 20 orphans $SLOTS
}

# A server that grants more credits than there are slots, or as many. The one who
# waits is not even sent: the connection is given up when the last of the
# cancelled ones has waited for as long as its RPC would have.
slots() { # DEV CREDITS [OPTS]
	local pid

	small_window "$2"
	enter slots "$1" 3 "timeo=$((lab_scale > 1 ? 100 : 50)),retrans=2${3:+,$3}"
	: > "$E/f"
	each $SLOTS mkdir -m 777 "$E/p{}"
	each $SLOTS ls "$D/p{}"
	freeze
	hold_all
	stat "$D/f" > /dev/null &
	pid=$!
	lab_wait 40 gone "$pid"
	thaw
	wait "$pid"
	look
	[ "${NOW[client.reconnects]}" -ge 1 ]
}

fs_start ours ext4 16
by_default client credits $SLOTS
for dev in $(lab_devices); do
	ktap_run "$dev cancelled RPCs hold all slots and credits (C2)" \
		slots "$dev" $SLOTS
done
ktap_run "cancelled RPCs hold all slots, soft mount (C2)" slots rxe 16 soft
