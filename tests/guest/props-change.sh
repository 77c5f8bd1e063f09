#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Properties of a connection that change while it is in use: Receive Buffer
# Sizes of both ends grow within their capacity, on request and unasked, with what that
# means for chunks, and nothing for memory; callbacks turned off and on; what is refused.
#
# timeout: 300
# covers: CHG-3,CHG-9,CHG-20,CHG-23,CHG-24,CHG-25,CHG-26,PROP-14,PROP-15,CRED-13,HT-7,REV-6
. /lab/lib/lab.sh

# What Receives and send buffers hold, and sizes before anything has changed
MOST=65536
CLIENT=16384
SERVER=20480

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

# opened DEV VERS: a new connection, with all the credits that the case needs.
opened() {
	parameter server_first_credits 16
	again "$@"
	iocheck write -t -s 1 -l 65536 "$D/f"
	exec 7<> "$D/f"
	iocheck check -d -s 1 -l 4096 "$D/f"
	[ "$(rbsiz client) $(rbsiz server)" = "$CLIENT $SERVER" ]
	is client receive_capacity 1 $MOST
	is server receive_capacity 1 $MOST
}

# The client asks the server for more. Less is not asked for.
server_size() { # DEV VERS
	local mem

	opened "$@"
	mem=$(value server receive_memory)
	inline_write 16384
	chunked_write 24576
	tell client rbsiz 32768
	agreed server 32768
	is client "rbsiz asked" 2 granted
	is client inline_send 1 32768
	inline_write $((32768 - ROOM))
	chunked_write 32768
	refuses client rbsiz 8192
	[ "$(rbsiz server)" = 32768 ]
	[ "$(value server receive_memory)" -le "$mem" ]
	exec 7>&-
}

# The server asks the client.
client_size() { # DEV VERS
	local mem

	opened "$@"
	mem=$(value client receive_memory)
	tell client rbsiz 32768
	agreed server 32768
	chunked_read 24576
	tell server rbsiz 32768
	agreed client 32768
	is client inline_recv 1 32768
	is server inline_send 1 32768
	inline_read 24576
	chunked_read 32768
	refuses server rbsiz 16384
	[ "$(rbsiz client)" = 32768 ]
	[ "$(value client receive_memory)" -le "$mem" ]
	exec 7>&-
}

# Nobody asked.
unasked() { # DEV VERS
	local role

	opened "$@"
	for role in client server; do
		mark
		tell $role own rbsiz 24576
		agreed $role 24576
		look
		counted $role -eq 1 tx_updprop
		counted "$(other_end $role)" -eq 1 rx_updprop
		# never down, nor up beyond what there is
		refuses $role own rbsiz 20480
		refuses $role own rbsiz $((MOST + 4))
		[ "$(rbsiz $role)" = 24576 ]
	done
	iocheck check -d -s 1 -l 65536 -b 24000 "$D/f"
	exec 7>&-
}

# More than the capacity: the answer is the value in force. All of it: granted.
bounded() { # DEV VERS
	opened "$@"
	tell client rbsiz $((MOST + 4))
	lab_wait 60 quiet client
	is client "rbsiz asked" 1 $((MOST + 4))
	is client "rbsiz asked" 2 rejected
	[ "$(rbsiz server)" = $SERVER ]
	tell client rbsiz $MOST
	agreed server $MOST
	is client inline_send 1 $MOST
	inline_write 60000
	exec 7>&-
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

# Callbacks: not while the client says so, again as soon as it says so. A client whose
# lease is renewed in between hears that its callback channel is faulty, and may return
# the delegation without a recall. A second delegation shows that recalls go again.
callbacks() {
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
	drop_delegation_file
	mark
	delegation_returns
	# The delegation may come back before the answer to the recall
	lab_wait 20 answered
	counted server -gt 0 tx_call_msg
}

# nfsd does not rely on callbacks to a client that has never taken any.
never_callbacks() { # DEV VERS
	lab_wait 20 callback_state UP
	parameter client_callbacks N
	again "$1" "$2"
	is server brs 4 0
	lab_wait 20 callback_state DOWN
}
callback_state() { grep -q "^callback state: $1$" $NFSD/clients/*/info; }

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

# What there is without anybody's doing: a WRITE of 16 KiB goes inline from the first
# one on, and no Receive holds more than is announced. The client asks for nothing,
# and an idle connection has no more send buffers than a few.
defaults() { # DEV VERS
	local role

	for_both recv_max 4096
	by_default client send_size $SERVER
	again "$1" "$2"
	: > "$D/f"
	exec 7<> "$D/f"
	[ "$(rbsiz client) $(rbsiz server)" = "$CLIENT $SERVER" ]
	is client receive_capacity 1 $CLIENT
	is server receive_capacity 1 $SERVER
	inline_write 16384
	chunked_write 24576
	lab_wait 60 many_buffers
	parameter adapt_seconds 2
	for role in client server; do
		lab_wait 60 below $role send_memory $((8 * SERVER))
	done
	echo 0 > $PARAMETERS/adapt_seconds
	iocheck write -d -s 1 -l 360000 -b 16384 "$D/f"
	look
	counted client -eq 0 props_changed peer_props_changed tx_updprop reconnects
	[ "$(rbsiz client) $(rbsiz server)" = "$CLIENT $SERVER" ]
	exec 7>&-
}

# A slow machine may take some of the writers one after the other.
many_buffers() {
	many 16 || lab_die "a writer failed"
	! below client send_memory $((17 * SERVER + 1)) &&
		! below server send_memory $((17 * SERVER + 1))
}

many() { # NUMBER: writers at once
	at_once "$1" iocheck write -d -t -s 1 -l 90000 -b 3000 "$D/many{}"
}

fs_start ext4
for_both recv_max $MOST
by_default client send_size $MOST
adapter || mounted 3 "server's size=server_size" "client's size=client_size" \
	"unasked=unasked" "no errors=clean"
mounted 4.2 "server's size=server_size" "client's size=client_size" \
	"bounded=bounded" "bad words=bad_words" "callbacks=callbacks" \
	"no errors=clean" "defaults=defaults" "switched off=switched_off" \
	"never callbacks=never_callbacks"
