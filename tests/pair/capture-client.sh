#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Traffic for tests/wireshark: mounts with version 2 and 1, over rxe and siw, files
# written and read inline and by chunks, long Calls and Replies, many Calls at once,
# Calls of the server, a server that refuses version 2.
#
# capture: what the cables carry is left in capture-0.pcap and capture-1.pcap
# covers: HDR-3 HDR-6 HDR-11 FLG-2 FLG-4 CHK-8 CHK-14 LNG-6 LNG-10 LNG-11 LNG-14
# covers: ERR-4 PROP-19 CONN-3 CONN-5 RINV-5 RINV-6 RINV-7 RINV-10 CRED-3
# covers: CRED-19 VER-1 VER-3 VER-5 VER-22 CM-2 REV-1 MSG-5
# timeout: 120
. /lab/tests/lib.sh

# Access lists and directories make long Replies.
names() { # DIR
	local i long

	long=$(printf 'x%.0s' {1..240})
	mkdir "$1"
	for i in {1..60}; do
		: > "$1/$long$i"
	done
	ls -l "$1" > /dev/null
	ln -s "$(printf 'x%.0s' {1..4090})" "$1/link"
	readlink "$1/link" > /dev/null
}

some_traffic() { # DEV VERS
	local dir=/mnt/$1-$2

	names "$dir"
	iocheck write -t -d -s 1 -l 900 "$dir/small"
	iocheck check -e -d -s 1 -l 900 "$dir/small"
	iocheck write -t -d -s 2 -l 100001 -b 50001 "$dir/large"
	iocheck check -e -d -s 2 -l 100001 -b 30001 "$dir/large"
	at_once 8 iocheck write -t -d -s {} -l 20001 -b 4001 "$dir/crowd{}"
	# No chunk may hold the value alone: with either version a long Call
	if [ "$2" = 4.2 ]; then
		: > "$dir/named"
		iocheck setxattr "$dir/named" 30001
	fi
	rm -r "$dir"
}

traffic() { # DEV VERS
	mount_nfs "$1" "$2" nolock
	some_traffic "$1" "$2"
	umount_nfs
}

# The stock transport at both ends, or ours as a client that may speak nothing else
version_1() { # DEV VERS
	if pair_stock "$1"; then
		mount_nfs "$1-v1" "$2" nolock
	else
		by_default client versions v1
		mount_nfs "$1" "$2" nolock,port=20050
		by_default client versions both
	fi
	some_traffic "$1-v1" "$2"
	umount_nfs
}

# Another client writes what this one has open, and may have a delegation of; the
# server gives none until it knows that its Calls arrive, nor of a file that was recalled a
# short time ago.
recalls() { # DEV
	local i fd

	mount_nfs "$1" 4.2
	second "$1" 4.2
	for i in 1 2 3 4 5 6 7 8; do
		echo "$i" > "$SECOND/recalled-$1-$i"
		exec {fd}< "/mnt/recalled-$1-$i"
		lab_pause 0.3
		echo "$i again" > "$SECOND/recalled-$1-$i"
		exec {fd}<&-
	done
	umount_nfs $SECOND
	umount_nfs
}

# A client of version 2 at a server of version 1: an ERR_VERS on the way
fallback() { # DEV
	mount_nfs "$1" 4.2 port=20050
	some_traffic "$1" fallback
	umount_nfs
}

lab_allow_log "$RXE_FAULT"
pair_net client
load_rpcrdma2
lab_wait 60 listening
for dev in $(lab_devices); do
	for vers in 3 4.2; do
		ktap_run "$dev NFSv$vers, version 2" traffic "$dev" $vers
		ktap_run "$dev NFSv$vers, version 1" version_1 "$dev" $vers
	done
	ktap_run "$dev NFSv4.2, Calls of the server" recalls "$dev"
	ktap_run "$dev NFSv4.2, version 2 refused" fallback "$dev"
done
