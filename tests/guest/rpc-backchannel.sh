#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Delegations and their recall: by the connection itself with NFSv4.1 and 4.2,
# by TCP with 4.0. Also while nothing gets through forward (F-1).
#
# timeout: 240
. /lab/lib/lab.sh

VERSIONS4="4.0 4.1 4.2"

# A process of the server wants to write what the client may cache for reading.
by_server() {
	get_delegation r
	iocheck check -e -s 1 -l 20001 "$D/$DELEG"
	trace_on nfsd/nfsd_cb_recall_done nfs4/nfs4_cb_recall
	# Waits for the delegation.
	timeout 60 bash -c "exec 7<> $E/$DELEG"
	lab_wait 5 recalled
	traced "nfs4_cb_recall: error=0"
	trace_off
	lab_wait 5 not delegated "$DELEG" r
	iocheck write -s 2 -l 20002 "$E/$DELEG"
	iocheck check -e -s 2 -l 20002 "$D/$DELEG"
	drop_delegation_file
}

# A process of the server reads what the client has in its cache only.
written_data() {
	get_delegation w
	iocheck write -s 3 -l 30003 "$D/$DELEG"
	trace_on nfsd/nfsd_cb_recall_done
	timeout 60 iocheck check -e -s 3 -l 30003 "$E/$DELEG"
	lab_wait 5 recalled
	trace_off
	drop_delegation_file
}

# Another client writes; the first one sees it.
by_client() { # DEV VERS
	second "$1" "$2"
	get_delegation r
	trace_on nfsd/nfsd_cb_recall_done
	timeout 60 iocheck write -s 4 -l 20002 "$SECOND/by_client/$DELEG"
	lab_wait 5 recalled
	trace_off
	drop_delegation_file
	iocheck check -e -s 4 -l 20002 "$D/$DELEG"
	umount_nfs $SECOND
}

# Eight recalls at once, eight delegations returned at once.
many() {
	local i names=() PIDS=()

	for i in 1 2 3 4 5 6 7 8; do
		get_delegation r
		names+=("$DELEG")
	done
	trace_on nfsd/nfsd_cb_recall_done
	for i in "${names[@]}"; do
		launch 1 timeout 60 iocheck write -s 6 -l 20003 "$E/$i"
	done
	wait_all "${PIDS[@]}"
	# One or the other may have come back by itself, being unused.
	lab_wait 5 recalled 4
	trace_off
	for i in "${names[@]}"; do
		iocheck check -e -s 6 -l 20003 "$D/$i"
	done
	drop_delegation_file
}

# The client may send no further Call. The stock transport does not tell.
window_full() {
	ours || return 0
	look
	[ "${NOW[client.credits_granted_by_peer]}" = "$WINDOW" ] &&
		[ "${NOW[client.calls_outstanding]}" = "$WINDOW" ]
}

# F-1: the server has all the Calls it granted and finishes none of them. The
# recall and its answer must pass by nevertheless; everything ends once the
# server goes on.
full_window() { # DEV VERS
	local PIDS=()

	scratch full
	small_window "$WINDOW"
	nfs "$1" "$2"
	get_delegation r
	each 8 iocheck write -t -l 100000 "$E/w{}"
	sync
	trace_on nfsd/nfsd_cb_recall_done
	freeze
	launch 8 iocheck write -d -s {} -l 100000 -b 12500 "$D/w{}"
	lab_wait 20 stuck "$WINDOW"
	window_full
	# Whoever wants to write, and not to wait, is told so
	not dd if=/dev/null of="$E/$DELEG" oflag=nonblock conv=notrunc,nocreat 2> "$LAB_TMP/why"
	grep "Resource temporarily unavailable" "$LAB_TMP/why"
	[ "$2" = 4.0 ] || lab_wait 20 recalled
	# Nothing has moved in the meantime.
	stuck "$WINDOW"
	window_full
	thaw
	wait_all "${PIDS[@]}"
	lab_wait 20 recalled
	lab_wait 20 not delegated "$DELEG" r
	trace_off
	drop_delegation_file
	umount_nfs
	each 8 iocheck check -e -s {} -l 100000 "$E/w{}"
	rm -r "$E"
}

fs_start ext4
mounted "$VERSIONS4" "recall by the server=by_server" \
	"recall by another client=by_client" "many recalls=many"
# The server has no delegations for writing with NFSv4.0.
mounted "4.1 4.2" "recall of written data=written_data"
# The stock transport's answer to a recall waits for the forward window.
if ours; then
	for WINDOW in 1 4; do
		for_versions "$VERSIONS4" full_window \
			"recall behind a window of $WINDOW (F-1)"
	done
else
	WINDOW=4
	for_versions 4.0 full_window "recall behind a window of $WINDOW (F-1)"
fi
