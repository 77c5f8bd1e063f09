#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# What a connection needed for a burst it gives back: a server's Receives with clients
# of either version that are idle and go on with little work, a client's when it has
# had no connection for a while. Receives of version 1 are as large as its threshold,
# callback slots as a callback.
#
# timeout: 400
# covers: CRED-4,CRED-7
. /lab/lib/lab.sh

# Receives of a server with 8 credits: these and 14 that are posted, 14 more that Calls
# may hold, with 2 at the turn
MOST=38
BURST=32	# processes at once: the grant is raised to more than half of that

# All of them have begun before the server answers any: to start a process may take longer
# than all that it writes.
burst() { # BYTES
	local PIDS=()

	freeze
	launch $BURST iocheck write -d -t -s 1 -l $((20 * $1)) -b "$1" "$D/many{}"
	lab_wait 20 started "${PIDS[@]}"
	thaw
	wait_all "${PIDS[@]}"
}

# grown NUMBER: a burst has raised the grant.
grown() {
	burst 3000
	[ "$(value server credits_granted_to_peer)" -ge "$1" ]
}

# One Call after the other: each takes one of the Receives that are posted.
few() { # NUMBER
	each "$1" dd if="$D/many1" of=/dev/null bs=1024 count=1 iflag=direct \
		status=none
}

# A quiet time, and little work after that
rested() {
	lab_pause 5
	few 100
	is server credits_granted_to_peer 1 "$FIRST"
}

# Little work uses up what is posted, and the next check frees what was used.
used_up() { # BYTES
	few 20
	below server receive_memory "$1"
}

# The server's memory goes back to that of few credits; more work brings more credits.
returns() { # SUFFIX DEV VERS
	local high most

	scratch returns
	by_default client property_change off
	mount_nfs "$2$1" "$3" port=20049
	: > "$D/f"
	lab_wait 60 grown 24
	high=$(value server receive_memory)
	echo 2 > $PARAMETERS/adapt_seconds
	lab_wait 60 rested
	most=$((MOST * $(value server receive_capacity)))
	[ "$high" -gt "$most" ]
	lab_wait 60 used_up $((most + 1))
	echo "$high, then $(value server receive_memory), at most $most"
	[ "$1" != -v1 ] || fits server
	echo 0 > $PARAMETERS/adapt_seconds
	lab_wait 60 grown 24
	leave
}
returns_v2() { returns '' "$@"; }
returns_stock() { returns -v1 "$@"; }

# Without any Call both ends have no Receives but those for few credits, none of them
# unused, and few buffers of Sends; for which the client has sent few requests.
at_rest() {
	look
	is server credits_granted_to_peer 1 "$FIRST" &&
		rests server $((FIRST + 1)) && rests client $((FIRST + 2))
}
rests() { # END CREDITS
	local capacity most=$(($2 + 14))

	capacity=$(value "$1" receive_capacity)
	echo "$1: posted $(value "$1" receives_posted) of $most," \
		"$(($(value "$1" receive_memory) / capacity)) in all," \
		"$(value "$1" send_memory) bytes for Sends"
	[ "$(value "$1" receives_posted)" -le $most ] &&
		[ "$(value "$1" receive_memory)" -le $((most * capacity)) ] &&
		[ "$(value "$1" send_memory)" -le $((3 * 20480 + 24576)) ]
}
settles() { # DEV VERS
	scratch settles
	echo 2 > $PARAMETERS/adapt_seconds
	nfs "$@"
	: > "$D/f"
	lab_wait 60 grown 24
	mark
	lab_wait 60 at_rest
	look
	counted client -le 80 tx_reqprop
	counted server -eq 0 tx_reqprop
	# Then nothing is sent any more
	mark
	lab_pause 7
	look
	counted client -eq 0 tx_reqprop
	# Nor does it take more for a few Calls, as of leases, but for Receives that were
	# in use when others were posted: the next check frees these.
	few 5
	lab_wait 10 at_rest
	echo 0 > $PARAMETERS/adapt_seconds
	lab_wait 60 grown 24
}

# MRs go when nobody has used them for a while.
registrations() { # DEV VERS
	local few

	enter registrations "$1" "$2"
	: > "$D/f"
	few=$(value client mr_memory)
	lab_wait 60 more_mrs "$few"
	echo 2 > $PARAMETERS/adapt_seconds
	lab_wait 60 below client mr_memory $((few + 1))
	echo 0 > $PARAMETERS/adapt_seconds
	burst 65536
}
more_mrs() {
	burst 65536
	[ "$(value client mr_memory)" -gt "$1" ]
}

# No Receive of ours is larger than what a stock server may send.
small() { # DEV VERS
	scratch small
	mount_nfs "$1" "$2" port=20050
	iocheck write -d -t -s 1 -l 4096 "$D/many1"
	few 100
	look
	[ "${NOW[client.version]}" = 1 ]
	fits client
	leave
}

# fits END: Receives of that end are of 4 KiB, those that are kept, too.
fits() {
	is "$1" receive_capacity 1 4096
	[ "$(value "$1" receive_memory)" -le \
	  $((($(value "$1" receives_posted) + 24) * 4096)) ]
}

# An unused connection is closed, and its Receives are freed.
given_back() { # DEV VERS
	local high

	scratch given
	# It is closed before it would give back anything itself.
	parameter client_idle 2
	parameter server_first_credits 64
	parameter adapt_seconds 5
	nfs "$1" "$2"
	: > "$D/f"
	look
	high=${NOW[client.receive_memory]}
	[ "${NOW[client.credits_granted_by_peer]}" = 64 ]
	lab_wait 60 no_connection
	echo 8 > $PARAMETERS/server_first_credits
	lab_pause 7
	: > "$D/g"
	look
	[ "${NOW[client.receive_memory]}" -lt $((high / 2)) ]
}

# A mount has eight callback slots: no allocation for one is larger than 2 KiB (C16). KASAN
# makes room for its marks behind what was asked for, so bytes_alloc says less.
callback_slots() { # DEV VERS
	local event=$TRACE/events/kmem/kmalloc

	echo 'bytes_req > 512' > $event/filter
	trace_on kmem/kmalloc
	nfs "$1" "$2"
	trace_off
	echo 0 > $event/filter
	umount_nfs
	grep -E 'call_site=rpcrdma2_client_bc_setup\+' $TRACE/trace |
		sed -n 's/.* bytes_req=\([0-9]*\) .*/\1/p' | sort -n | uniq -c |
		tee "$LAB_TMP/slots"
	[ "$(awk '$1 >= 8' "$LAB_TMP/slots" | wc -l)" = 1 ]
	awk '$2 > 2048 { exit 1 }' "$LAB_TMP/slots"
}

fs_start ext4
echo 0 > $PARAMETERS/adapt_seconds
FIRST=$(< $PARAMETERS/server_first_credits)
for_versions 3 given_back "disconnected"
for_versions 4.1 callback_slots "callback slots"
lab_listen rdma 20050
for_versions 3 registrations "MRs"
for_versions 3 small "stock server"
for_versions 3 settles "at rest"
for_versions 3 returns_v2 "version 2"
for_versions 3 returns_stock "stock client"
