#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# What the transport did, by its own counters: small messages register
# nothing, chunks are invalidated by the peer, long Replies and Calls take
# the chunk that is made for them; and what mountstats shows is well-formed.
#
# timeout: 180
. /lab/lib/lab.sh

# Tools count the columns of this line: with more than the stock transport has,
# Prometheus' node_exporter ends.
mountstats_line() {
	local line

	iocheck write -t -s 1 -l 500001 "$D/f"
	drop_caches
	iocheck check -s 1 -l 500001 "$D/f"
	line=$(xprt_lines)
	[[ $line =~ ^$'\t'xprt:$'\t'rdma(\ [0-9]+){27}$ ]]
	# shellcheck disable=SC2086 # words
	set -- $line
	[ "$5" -ge 1 ]		# connections made
	[ "$8" -ge 10 ]		# sends
	[ "$9" -ge 10 ]		# receives
	[ "${10}" = 0 ]		# bad XIDs
	[ "${13}" -gt 0 ]	# Read chunks
	[ "${14}" -gt 0 ]	# Write chunks
}

settled() {
	local role

	[ "$(connections client) $(connections server)" = "1 1" ]
	look
	for role in client server; do
		[ "${SAID[$role.role]}" = $role ]
		[ "${SAID[$role.state]}" = ready ]
		[ "${SAID[$role.version]}" = 2 ]
		[ "${SAID[$role.remote_invalidation]}" = 1 ]
		counted $role -ge 4096 inline_send inline_recv
		counted $role -ge 1 credits_granted_by_peer tx_connprop \
			rx_connprop
		counted $role -eq 1 connects
	done
	# What one sends is what the other receives.
	[ "${NOW[client.inline_send]}" = "${NOW[server.inline_recv]}" ]
	[ "${NOW[client.inline_recv]}" = "${NOW[server.inline_send]}" ]
}

CHUNKS="read_chunks write_chunks reply_chunks pz_chunks registrations
	remote_invalidations local_invalidations"

# A third of a KiB is ample for the headers of every version.
inline_io() {
	local wlen rlen

	look
	wlen=$((NOW[client.inline_send] - 350))
	rlen=$((NOW[client.inline_recv] - 350))
	iocheck write -t -s 1 -l 20000 "$D/f"
	exec 7<> "$D/f"
	mark
	iocheck write -d -s 1 -l "$wlen" -b 1023 "$D/f"
	iocheck write -d -s 1 -l "$wlen" "$D/f"
	iocheck check -d -s 1 -l "$rlen" -b 1021 "$D/f"
	iocheck check -d -s 1 -l "$rlen" "$D/f"
	stat "$D/f" > /dev/null
	look
	# shellcheck disable=SC2086 # a list
	counted client -eq 0 $CHUNKS tx_call_nomsg rx_reply_nomsg
	# shellcheck disable=SC2086
	counted server -eq 0 $CHUNKS
	counted client -gt 10 tx_call_msg rx_reply_msg
	counted client -ge $((2 * wlen)) inline_tx_bytes
	counted client -ge $((2 * rlen)) inline_rx_bytes
	exec 7>&-
}

# One chunk per RPC, one registration per chunk, each taken back by the peer.
chunked_io() {
	local bytes=$((4 << 20)) bs max

	: > "$D/f"
	exec 7<> "$D/f"
	# The most this server takes in one WRITE depends on its memory.
	max=$(sed -n 's|.* /mnt nfs.*wsize=\([0-9]*\).*|\1|p' /proc/mounts)
	for bs in 65536 "$max"; do
		mark
		iocheck write -d -s 1 -l "$bytes" -b "$bs" "$D/f"
		look
		counted client -eq $((bytes / bs)) read_chunks registrations \
			remote_invalidations
		counted client -eq 0 local_invalidations write_chunks \
			reply_chunks pz_chunks bad_inv_handle
		counted server -eq "$bytes" read_bytes
		mark
		iocheck check -d -s 1 -l "$bytes" -b "$bs" "$D/f"
		look
		counted client -eq $((bytes / bs)) write_chunks registrations \
			remote_invalidations
		counted client -eq 0 local_invalidations read_chunks \
			reply_chunks pz_chunks bad_inv_handle
		counted server -eq "$bytes" write_bytes
	done
	exec 7>&-
}

long_replies() {
	iocheck fill -n 1000 -l 200 "$E"
	mark
	iocheck list -n 1000 -l 200 "$D"
	look
	counted client -gt 0 reply_chunks rx_reply_nomsg
	counted server -gt 0 reply_chunks tx_reply_nomsg
	counted server -ge 200000 reply_chunk_bytes
	counted client -eq 0 local_invalidations write_chunks
}

long_calls() {
	: > "$D/f"
	mark
	iocheck setxattr "$D/f" 60001
	look
	counted client -eq 1 pz_chunks tx_call_nomsg registrations \
		remote_invalidations
	counted server -eq 1 pz_chunks rx_call_nomsg
	counted client -eq 0 local_invalidations
	iocheck getxattr "$D/f" 60001
}

answered() { look; [ "${GREW[server.rx_reply_msg]}" -gt 0 ]; }

# A recall goes the other way on the same connection.
callbacks() {
	get_delegation r
	mark
	timeout 60 bash -c ": >> $E/$DELEG"
	# The delegation may come back before the answer to the recall
	lab_wait 20 answered
	counted server -gt 0 tx_call_msg
	counted client -gt 0 rx_call_msg tx_reply_msg
	drop_delegation_file
}

# Posting and completion of one thing have the same numbers in the trace, and
# every event of a chunk names the connection.
traced_ids() { # DEV VERS
	local what post

	trace_on rpcrdma2
	iocheck write -t -d -s 1 -l 200001 -b 50001 "$D/f"
	iocheck check -e -d -s 1 -l 200001 -b 50001 "$D/f"
	trace_off
	traced "rpcrdma2_mr_map: conn=$(id client) cid=[0-9]* "
	for what in post_send/wc_send post_recv/wc_recv post_recv/recv \
			post_chain/wc_chain; do
		post=${what%/*}
		ids ${what#*/} > $LAB_TMP/completed
		[ -s $LAB_TMP/completed ]
		ids $post > $LAB_TMP/posted
		# What completes now may have been posted before the trace.
		grep -qxFf $LAB_TMP/posted $LAB_TMP/completed
	done
}

# ids EVENT: connection, queue and number in all events of this name.
ids() {
	sed -n "s/.* rpcrdma2_$1: \(conn=[0-9]* cq.id=[0-9]* cid=[0-9]*\) .*/\1/p" \
		$TRACE/trace | sort -u
}

# After all this, nothing that should not be.
clean() {
	local role

	WAS=()
	look
	for role in client server; do
		counted $role -eq 0 connect_failures reconnects fallbacks \
			tx_error rx_error rx_dropped rx_malformed \
			rx_unknown_type rx_bad_vers rx_bad_xid \
			bad_inv_handle orphans send_errors_dropped
	done
}

fs_start
mounted "$VERSIONS" "mountstats=mountstats_line"
# The rest is about counters that the stock transport does not have. What minor
# versions have in common counts alike on several CPUs, which are slow.
if ours; then
	mounted "3 $(lab_is qemu || echo 4.0)" "settled=settled" \
		"inline=inline_io" "chunks=chunked_io" \
		"long Replies=long_replies" "no errors=clean"
	lab_is qemu || mounted 4.1 "settled=settled" "inline=inline_io" \
		"chunks=chunked_io" "long Replies=long_replies" \
		"callbacks=callbacks" "no errors=clean"
	mounted 4.2 "settled=settled" "inline=inline_io" "chunks=chunked_io" \
		"long Replies=long_replies" "long Calls=long_calls" \
		"callbacks=callbacks" "trace=traced_ids" "no errors=clean"
fi
