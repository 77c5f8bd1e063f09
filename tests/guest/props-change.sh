#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Properties of a connection that change while it is in use: Receive Buffer
# Sizes of both ends up and down, on request and unasked, with what that means
# for chunks and for memory; callbacks turned off and on; what is refused.
#
# timeout: 300
# flavours: uml-debug
# covers: CHG-3,CHG-9,CHG-20,CHG-23,CHG-24,CHG-25,CHG-26,CHG-27,PROP-14,PROP-15,CRED-13,HT-7,REV-6
. /lab/lib/lab.sh
. /lab/lib/fs.sh
. /lab/lib/props.sh

# A third of a KiB is ample for the headers of every version.
ROOM=350

# No chunk took more than one MR, whatever it is for.
one_mr_each() {
	local kind sum=0

	for kind in read write reply pz; do
		sum=$((sum + GREW[client.${kind}_chunks]))
	done
	counted client -eq $sum registrations
}

# {inline,chunked}_{write,read} LEN: one WRITE or READ, and how it went. When the
# client's attributes have grown old there may be a GETATTR, too, whose Reply may
# not fit into the smallest size: a Reply chunk says nothing, unless it is used.
one_write() {
	mark
	iocheck write -d -s 1 -l "$1" -b "$1" "$D/f"
	look
	one_mr_each
}
inline_write() {
	one_write "$1"
	counted client -eq 0 read_chunks pz_chunks
	counted server -eq 0 read_chunks pz_chunks
}
chunked_write() {
	one_write "$1"
	counted client -eq 1 read_chunks
	counted server -eq 1 read_chunks
}

one_read() {
	mark
	iocheck check -d -s 1 -l "$1" -b "$1" "$D/f"
	look
	one_mr_each
}
inline_read() {
	one_read "$1"
	counted client -eq 0 write_chunks
	counted server -eq 0 write_bytes reply_chunk_bytes
}
chunked_read() {
	one_read "$1"
	counted client -eq 1 write_chunks
}

# How much memory Receives take tells of their size only while their number stays:
# no case has half as many Calls under way as are granted here.
opened() {
	scratch "$1"
	lab_wait 60 granted 16
	iocheck write -t -s 1 -l 65536 "$D/f"
	exec 7<> "$D/f"
	iocheck check -d -s 1 -l 4096 "$D/f"
}
granted() { # NUMBER: the server grants as many credits, at least.
	many 16
	[ "$(value server credits_granted_to_peer)" -ge "$1" ]
}
closed() {
	exec 7>&-
	rm -r "$E"
}

# The client asks the server for more and for less.
server_size() {
	local was

	opened server
	was=$(rbsiz server)
	cycled
	MEM=$(value server receive_memory)
	chunked_write 24576
	tell client rbsiz 32768
	agreed server 32768
	is client "rbsiz asked" 2 granted
	is client inline_send 1 32768
	inline_write $((32768 - ROOM))
	chunked_write 32768
	[ "$(value server receive_memory)" -gt "$MEM" ]

	tell client rbsiz 8192
	agreed server 8192
	is client inline_send 1 8192
	chunked_write 12288
	inline_write $((8192 - ROOM))
	cycled
	[ "$(value server receive_memory)" -lt "$MEM" ]

	tell client rbsiz "$was"
	agreed server "$was"
	closed
}

# The server asks the client.
client_size() {
	local was

	opened client
	was=$(rbsiz client)
	tell client rbsiz 32768
	agreed server 32768
	chunked_read 24576
	tell server rbsiz 32768
	agreed client 32768
	is client inline_recv 1 32768
	inline_read 24576
	MEM=$(value client receive_memory)

	tell server rbsiz 4096
	agreed client 4096
	is server inline_send 1 4096
	chunked_read 8192
	inline_read $((4096 - ROOM))
	cycled
	[ "$(value client receive_memory)" -lt "$MEM" ]

	tell server rbsiz "$was"
	agreed client "$was"
	tell client rbsiz 16384
	agreed server 16384
	closed
}

# Nobody asked.
unasked() {
	local role was

	opened unasked
	for role in client server; do
		was=$(rbsiz $role)
		mark
		tell $role own rbsiz 20480
		agreed $role 20480
		look
		counted $role -eq 1 tx_updprop
		counted "$(other_end $role)" -eq 1 rx_updprop
		# never down
		refuses $role own rbsiz 16384
		[ "$(rbsiz $role)" = 20480 ]
		tell "$(other_end $role)" rbsiz "$was"
		agreed $role "$was"
	done
	iocheck check -d -s 1 -l 65536 -b 20000 "$D/f"
	closed
}

# What is asked for and not had in full.
bounded() {
	local was

	was=$(rbsiz server)
	tell client rbsiz 131072
	agreed server 65536
	is client "rbsiz asked" 1 131072
	tell client rbsiz "$was"
	agreed server "$was"
}

bad_words() {
	local words

	said client "rbsiz.*" > $LAB_TMP/before
	[ "$(wc -l < $LAB_TMP/before)" = 2 ]
	while read -ra words; do
		refuses client "${words[@]}"
	done <<- END
		
		rbsiz
		rbsiz many
		rbsiz 4095
		rbsiz 300000
		rbsiz 8192 8192
		own rbsiz 300000
		own brs genl
		own messages 3
		messages 5000
		brs
		size 8192
		0123456789012345678901234567890123456789012345678901234567890123456789
	END
	refuses server own brs none
	refuses client brs 0
	[ "$(rbsiz client) $(rbsiz server)" = \
	  "$(peer_rbsiz server) $(peer_rbsiz client)" ]
	said client "rbsiz.*" | cmp - $LAB_TMP/before
}

answered() { look; [ "${GREW[server.rx_reply_msg]}" -gt 0 ]; }

# Callbacks: not while the client says so, again as soon as it says so.
callbacks() {
	scratch callbacks
	get_delegation r
	tell client own brs none
	lab_wait 60 is server brs 4 0
	mark
	timeout 60 bash -c ": >> $E/$DELEG" &
	writer=$!
	recall_fails() { look; [ "${GREW[server.callbacks_refused]}" -gt 0 ]; }
	lab_wait 30 recall_fails
	counted server -eq 0 tx_call_msg
	counted client -eq 0 rx_call_msg
	tell client own brs inline
	lab_wait 60 is server brs 4 1
	wait $writer
	# The delegation may come back before the answer to the recall
	lab_wait 20 answered
	counted server -gt 0 tx_call_msg
	drop_delegation_file
	rm -r "$E"
}

# Nothing of this towards a peer, or by one, that does not take part.
switched_off() { # DEV VERS
	for_both property_change off
	again "$1" "$2"
	for_both property_change on
	is client property_change 1 0
	is server property_change 1 0
	refuses client rbsiz 32768
	refuses server rbsiz 32768
	again "$1" "$2"
	is client property_change 1 1
}

# A server that receives less sends less, and gives back memory soon; but what a Call counted on when it
# was sent it still gets. The one thread is busy with a WRITE meanwhile.
late_reply() {
	local was threads

	opened late
	was=$(rbsiz server)
	MEM=$(value server send_memory)
	threads=$(< $NFSD/threads)
	echo 1 > $NFSD/threads
	exec 8<> "$D/f"
	freeze
	mark
	dd if=/dev/zero bs=4096 count=1 oflag=direct status=none >&8 &
	lab_wait 30 stuck 1
	trace_on rpcrdma2/rpcrdma2_call
	dd bs=8192 count=1 iflag=direct status=none <&7 > $LAB_TMP/late &
	# The READ, and nothing else that NFS may want to say
	lab_wait 30 traced 'rpcrdma2_call: .* reply_max=8[0-9]{3} '
	trace_off
	tell client rbsiz 4096
	agreed server 4096
	lab_wait 20 below server send_memory "$MEM"
	thaw
	wait
	look
	counted server -eq 1 replies_grown
	counted client -eq 0 reconnects write_chunks
	cmp -n 4096 $LAB_TMP/late "$E/f" 4096 4096
	exec 8>&-
	echo "$threads" > $NFSD/threads
	tell client rbsiz "$was"
	agreed server "$was"
	closed
}

# What a client does by itself: it asks the server for more when WRITEs, or the
# results of READs, would go inline then, and for the least when there are none.
policy() { # DEV VERS
	local role

	echo 20480 > $PARAMETERS/adapt_size
	again "$1" "$2"
	scratch policy
	: > "$D/f"
	exec 7<> "$D/f"
	lab_wait 60 grown
	mark
	inline_write 18000
	many 16
	local -A mem=() sends=()
	for role in client server; do
		mem[$role]=$(value $role receive_memory)
		sends[$role]=$(value $role send_memory)
	done

	# from now on, and both ends look at once
	echo 2 > $PARAMETERS/adapt_seconds
	tell client messages 1
	tell server messages 1
	lab_wait 60 idle
	FIRST=$(< $PARAMETERS/server_first_credits)
	lab_wait 60 fewest
	cycled
	for role in client server; do
		lab_wait 20 below $role receive_memory $((mem[$role] / 2))
		lab_wait 20 below $role send_memory $((sends[$role] / 2))
	done
	echo 0 > $PARAMETERS/adapt_seconds
	lab_wait 60 grown_for_reads
	lab_wait 60 grown
	exec 7>&-
	rm -r "$E"
	echo 0 > $PARAMETERS/adapt_size
	again "$1" "$2"
}
grown() {
	iocheck write -d -s 1 -l 360000 -b 18000 "$D/f"
	[ "$(rbsiz server)" -ge 18432 ] && [ "$(rbsiz server)" -le 20480 ] &&
		# and the client makes use of it
		[ "$(value client inline_send)" -ge 18432 ]
}
grown_for_reads() {
	iocheck check -d -s 1 -l 360000 -b 8000 "$D/f"
	[ "$(rbsiz server)" -ge 8192 ] && [ "$(rbsiz client)" -ge 8192 ] &&
		[ "$(value client inline_recv)" -ge 8192 ]
}
fewest() { is server credits_granted_to_peer 1 "$FIRST"; }
idle() { [ "$(rbsiz server) $(rbsiz client)" = "4096 4096" ]; }
many() { # NUMBER: writers at once
	local i pids=()

	for ((i = 0; i < $1; i++)); do
		iocheck write -d -t -s 1 -l 90000 -b 3000 "$D/many$i" &
		pids+=($!)
	done
	wait_all "${pids[@]}"
}

lab_export ext4
fs_start
adapter || mounted 3 "server's size=server_size" "client's size=client_size" \
	"unasked=unasked" "late Reply=late_reply" "no errors=clean"
mounted 4.2 "server's size=server_size" "client's size=client_size" \
	"bounded=bounded" "late Reply=late_reply" "bad words=bad_words" "callbacks=callbacks" \
	"no errors=clean" "policy=policy" "switched off=switched_off"
