#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# RPCSEC_GSS: with integrity or privacy no data travels in a chunk of its own,
# in either direction; with authentication alone it does, and what belongs to
# GSS does not (CHK-30). The User-Mode Linux kernels do not have the ciphers.
#
# timeout: 150
# flavours: qemu
# covers: CHK-30,SEC-7,SEC-16,CRED-15,CRED-17,ERR-25,ERR-29
. /lab/lib/lab.sh
. /lab/lib/realm.sh

LEN=100003

secure() { # SEC VERS
	enter secure rxe "$2" "sec=$1"
	grep "sec=$1," /proc/mounts
	: > "$D/f"
	exec 7<> "$D/f"
	mark
	iocheck write -d -s 1 -l $LEN "$D/f"
	iocheck check -d -s 1 -l $LEN "$D/f"
	look
	iocheck check -e -s 1 -l $LEN "$E/f"
	case $1 in
	krb5)
		counted client -gt 0 read_chunks write_chunks
		counted client -eq 0 pz_chunks
		# Not a byte more than the data.
		counted server -eq $LEN read_bytes write_bytes
		;;
	*)
		counted client -eq 0 read_chunks write_chunks
		counted server -eq 0 write_chunks write_bytes
		counted client -gt 0 pz_chunks reply_chunks
		counted server -gt 0 pz_chunks reply_chunks
		counted server -gt $LEN reply_chunk_bytes
		;;
	esac
	exec 7>&-
	# The checksum behind the data crosses the end of a page, or begins there.
	iocheck sweep "$D/s" 20433-20485/4
	# Small and odd sizes, directories.
	iocheck put "$D" 0 1 511 1023 4096 4097 70001
	iocheck get "$E" 0 1 511 1023 4096 4097 70001
	rm "$E"/*
	iocheck fill -n 200 -l 200 "$E"
	iocheck list -n 200 -l 200 -e "$D"
	look
	counted client -eq 0 rx_malformed rx_error bad_inv_handle reconnects
}

# A Reply that takes much longer than the RPC timer (F-8). NFSv4 waits. NFSv3
# wants to send again, and GSS numbers each instance: for the server to see the
# second as one, the connection is replaced (CRED-15).
late() { # SEC VERS
	enter late rxe "$2" "sec=$1,timeo=5,retrans=100"
	: > "$D/f"
	freeze
	iocheck write -d -s 1 -l 50000 "$D/f" &
	lab_wait 20 stuck 1
	if [ "$2" = 3 ]; then
		lab_wait 60 reconnected
	else
		lab_wait 60 probed 3
	fi
	thaw
	wait $!
	look
	[ "$2" = 3 ] || counted client -eq 0 reconnects wc_errors
	iocheck check -e -s 1 -l 50000 "$E/f"
}

# inside FUNCTION: how many pages were freed within calls of it, in its threads.
inside() {
	awk -v enter=" $1: (" -v leave=" ${1}_end: (" '
		index($0, enter) { in_it[$1] = 1 }
		index($0, leave) { in_it[$1] = 0 }
		/mm_page_free:/ && in_it[$1] { n++ }
		END { print n + 0 }' $TRACE/trace
}

# With privacy sunrpc encrypts into pages of its own, and frees them when it
# encodes the Call again. The server may read the first instance until the
# connection has ended, so they have to stay until then (C3).
encoded_again() { # VERS
	local f p again after times

	scratch again
	nfs rxe "$1" "sec=krb5p,timeo=5"
	: > "$D/f"
	for f in $FUNCTIONS; do
		printf '%s\n' "p:lab/$f $f" "r:lab/${f}_end $f"
	done > $TRACE/kprobe_events
	freeze
	trace_on kmem/mm_page_free lab
	iocheck write -d -s 1 -l 200000 "$D/f" &
	p=$!
	lab_wait 60 reconnected
	trace_off
	thaw
	wait $p
	again=$(inside gss_wrap_req_priv)
	after=$(inside rpcrdma2_mr_unmap)
	cp $TRACE/trace "$LAB_OUT/again"
	echo > $TRACE/kprobe_events
	times=$(grep -c " gss_wrap_req_priv_end: " "$LAB_OUT/again")
	echo "freed when encoding $times times: $again, when unmapped: $after"
	# There are 49 pages each time, and two of them are not mapped.
	[ "$times" -ge 2 ]
	[ "$again" -lt $((4 * times)) ]
	[ "$after" -ge 40 ]
	iocheck check -e -s 1 -l 200000 "$E/f"
}
FUNCTIONS="gss_wrap_req_priv rpcrdma2_mr_unmap"

# A Reply has a verifier that GSS does not trust (tests/module/rpcrdma2_untrusted.c), so sunrpc
# waits for another. The server sends none, but on another connection.
untrusted() { # SEC VERS
	local p

	enter untrusted rxe "$2" "sec=$1,timeo=20,retrans=1"
	: > "$D/f"
	exec 7< "$D/f"
	mark
	modprobe rpcrdma2_untrusted
	undo rmmod rpcrdma2_untrusted
	iocheck write -d -s 1 -l 5000 "$D/f" &
	p=$!
	lab_wait 60 reconnected
	wait $p
	exec 7<&-
	look
	counted client -eq 1 reconnects
	counted client -eq 0 rx_bad_xid calls_outstanding
	iocheck check -e -s 1 -l 5000 "$E/f"
}

# The server takes one segment, fewer than a large unaligned WRITE needs that goes
# as a whole, and says so in an RDMA2_ERROR. It can't be sent otherwise, so the
# RPC fails; no task is left behind, and what needs fewer goes on (F-8).
refused() { # SEC VERS
	scratch refused
	parameter server_segments 1
	nfs rxe "$2" "sec=$1"
	: > "$D/f"
	mark
	not iocheck write -d -s 1 -a 5 -l 1048576 -b 1048576 "$D/f"
	look
	counted client -eq 1 rx_error
	counted client -eq 0 reconnects calls_outstanding
	iocheck put "$D" 0 1 511 1023 4096 4097 60001
	iocheck get "$E" 0 1 511 1023 4096 4097 60001
}

# The server has executed a READ and cannot send the Reply in the form that the
# Call provides for (tests/module/rpcrdma2_lopsided.c). Its number is used up, so
# the Call goes again, in another form, on another connection (D-30).
unsent() { # SEC VERS LEN
	enter unsent rxe "$2" "sec=$1"
	iocheck write -t -y -s 1 -l "$3" "$E/f"
	exec 7< "$D/f"
	mark
	modprobe rpcrdma2_lopsided
	undo rmmod rpcrdma2_lopsided
	iocheck check -e -d -s 1 -l "$3" "$D/f"
	lab_wait 10 calls_ended
	counted client -eq 1 rx_error reconnects
	counted client -eq 0 rx_malformed rx_bad_xid
	# To a number that it has seen the server says nothing
	[ $((GREW[client.tx_call_msg] + GREW[client.tx_call_nomsg])) = \
		$((GREW[client.rx_reply_msg] + GREW[client.rx_reply_nomsg] + 1)) ]
	if [ "$3" -gt 16384 ]; then
		# First with a Write chunk, which this server has no use for
		counted client -eq 1 write_chunks
		counted client -gt 0 reply_chunks
	elif [ "$1" = krb5 ]; then
		counted client -gt 0 write_chunks
		counted client -eq 0 reply_chunks
	else
		counted client -gt 0 reply_chunks
		counted client -eq 0 write_chunks
	fi
	exec 7<&-
	iocheck put "$D" 0 1 511 1023 4096 4097 70001
	iocheck get "$E" 0 1 511 1023 4096 4097 70001
	iocheck get "$D" 0 1 511 1023 4096 4097 70001
	look
	counted client -eq 1 rx_error reconnects
}

fs_start_secure ours ext4
realm_start
ktap_run "NFSv4.2 sec=krb5" secure krb5 4.2
ktap_run "NFSv3 sec=krb5i" secure krb5i 3
ktap_run "NFSv4.2 sec=krb5i" secure krb5i 4.2
ktap_run "NFSv4.2 sec=krb5p" secure krb5p 4.2
if ! adapter; then
	ktap_run "NFSv4.2 sec=krb5 a slow server (F-8)" late krb5 4.2
	ktap_run "NFSv4.2 sec=krb5i a slow server (F-8)" late krb5i 4.2
	ktap_run "NFSv4.2 sec=krb5p a slow server (F-8)" late krb5p 4.2
	ktap_run "NFSv3 sec=krb5i a slow server (F-8)" late krb5i 3
	ktap_run "NFSv3 sec=krb5p pages of a Call encoded again (C3)" encoded_again 3
	ktap_run "NFSv4.2 sec=krb5 a Reply that is not trusted" untrusted krb5 4.2
	ktap_run "NFSv4.2 sec=krb5i a Reply that is not trusted" untrusted krb5i 4.2
	ktap_run "NFSv3 sec=krb5 no Reply to a Write chunk (W2)" unsent krb5 3 100003
	ktap_run "NFSv4.2 sec=krb5 no Reply to a Write chunk (W2)" unsent krb5 4.2 100003
	ktap_run "NFSv4.2 sec=krb5 no Reply inline (W2)" unsent krb5 4.2 6000
	ktap_run "NFSv3 sec=krb5i no Reply inline (W2)" unsent krb5i 3 6000
	ktap_run "NFSv4.2 sec=krb5p no Reply inline (W2)" unsent krb5p 4.2 6000
fi
ktap_run "NFSv4.2 sec=krb5i too many segments (F-8)" refused krb5i 4.2
ktap_run "NFSv3 sec=krb5p too many segments (F-8)" refused krb5p 3
