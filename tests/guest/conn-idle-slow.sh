#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# What a connection survives, and what not: a server that is merely slow, a
# time without traffic with and without somebody who may call back; recalls
# after a reconnect; and work without remote invalidation.
#
# timeout: 180
# covers: CRED-17,REV-13,REV-12,RINV-9,RINV-12,CM-8
. /lab/lib/lab.sh

# Until the major timeout the RPC timer fires again and again while the server does
# not answer; all that comes of it are probes (CRED-17). NFSv3 sends the Call again each
# time: the first instance suffices.
slow() { # DEV VERS
	enter slow "$1" "$2" timeo=5,retrans=100
	: > "$D/f"
	freeze
	iocheck write -d -s 1 -l 50000 "$D/f" &
	lab_wait 20 stuck 1
	lab_wait 60 probed 3
	thaw
	wait $!
	look
	[ "${NOW[client.connects]}" = 1 ]
	[ "${NOW[client.reconnects]}" = 0 ]
	[ "${NOW[client.wc_errors]}" = 0 ]
	iocheck check -e -s 1 -l 50000 "$E/f"
}

clients() { [ "$(connections client)" = "$1" ]; }

# Recall a delegation that the client holds.
recall() {
	trace_on nfsd/nfsd_cb_recall_done
	timeout 60 bash -c "exec 7<> $E/$DELEG" || return 1
	lab_wait 20 recalled || return 1
	trace_off
	lab_wait 5 not delegated "$DELEG" r
}

# An unused connection is closed, but not one that serves callbacks: there are
# two, and the second to fall idle is closed first (REV-13).
idle() { # DEV VERS
	scratch idle
	parameter client_idle 1
	nfs "$1" "$2"
	get_delegation r
	nfs "$1" 3 nosharecache $SECOND
	: > "$SECOND/idle/f"
	clients 2
	lab_wait 60 clients 1
	look
	[ "${NOW[client.connects]}" = 1 ]
	[ "${NOW[client.reconnects]}" = 0 ]
	recall
	# The other one is made again when it is needed.
	iocheck write -s 1 -l 3000 "$SECOND/idle/f"
	iocheck check -e -s 1 -l 3000 "$E/f"
	umount_nfs $SECOND
	drop_delegation_file
}

# The client's connection is cut, and what it has been granted lives on: the
# server calls back on the new one (REV-12).
cut() { # DEV VERS
	enter cut "$1" "$2"
	get_delegation r
	recall
	drop_delegation_file
	get_delegation r
	mark
	cut_start client 1 1
	: > "$D/one"
	lab_wait 30 reconnected 1
	cut_stop
	: > "$D/two"
	recall
	look
	counted client -gt 0 rx_call_msg tx_reply_msg
	iocheck write -s 2 -l 20002 "$E/$DELEG"
	iocheck check -e -s 2 -l 20002 "$D/$DELEG"
	drop_delegation_file
}

# All of it without remote invalidation (RINV-9).
by_hand() { # DEV VERS
	local role

	scratch hand
	for_both remote_invalidation off
	nfs "$1" "$2"
	iocheck sweep "$D/sweep" 1-9000/1501 20001 70000 300001
	iocheck write -t -d -s 3 -l 500001 -b 33333 "$D/f"
	drop_caches
	iocheck check -e -s 3 -l 500001 "$D/f"
	iocheck check -e -d -s 3 -l 500001 -b 20001 "$D/f"
	rm "$E"/*
	iocheck fill -n 300 -l 200 "$E"
	iocheck list -n 300 -l 200 "$D"
	rm "$E"/*
	iocheck symlink "$D" 4000
	look
	for role in client server; do
		counted $role -eq 0 remote_invalidations remote_invalidation \
			bad_inv_handle
	done
	counted client -gt 10 local_invalidations registrations
	[ "${NOW[client.local_invalidations]}" = \
		"${NOW[client.registrations]}" ]
}

fs_start ours ext4
for_versions "3 4.1" slow "a slow server"
for_versions 4.2 idle "idle connections"
quick || for_versions "3 4.2" by_hand "no remote invalidation"
# Somebody has to cut.
if [ -d $FAIL_SUNRPC ]; then
	for_versions 4.2 cut "recall after a reconnect"
fi
