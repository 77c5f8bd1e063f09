#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Traffic for tests/wireshark: mounts with version 2 and 1, over rxe and siw, files
# written and read inline and by chunks, long Replies, a server that refuses version 2.
#
# capture: what the cables carry is left in capture-0.pcap and capture-1.pcap
# covers: HDR-3 HDR-6 HDR-11 FLG-2 FLG-4 CHK-8 CHK-14 LNG-6 LNG-10 LNG-11 LNG-14
# covers: ERR-4 PROP-19 CONN-3 CONN-5 RINV-5 RINV-6 RINV-7 RINV-10 CRED-19
# covers: VER-1 VER-3 VER-5 VER-22 CM-2
# timeout: 120
. /lab/tests/lib.sh

# Access lists and directories make long Replies.
names() { # DIR
	local i

	mkdir "$1"
	for i in {1..150}; do
		: > "$1/$(printf 'a-file-with-a-name-that-takes-room-%04d' "$i")"
	done
	ls -l "$1" > /dev/null
	ln -s "$(printf 'x%.0s' {1..3000})" "$1/link"
	readlink "$1/link" > /dev/null
}

some_traffic() { # DEV VERS
	local dir=/mnt/$1-$2

	names "$dir"
	iocheck write -t -d -s 1 -l 900 "$dir/small"
	iocheck check -e -d -s 1 -l 900 "$dir/small"
	iocheck write -t -d -s 2 -l 100001 -b 50001 "$dir/large"
	iocheck check -e -d -s 2 -l 100001 -b 30001 "$dir/large"
	rm -r "$dir"
}

# FORM is empty for version 2 and -v1 for the stock transport.
traffic() { # DEV VERS FORM
	mount_nfs "$1$3" "$2" nolock
	some_traffic "$1$3" "$2"
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
		ktap_run "$dev NFSv$vers, version 2" traffic "$dev" $vers ""
		ktap_run "$dev NFSv$vers, version 1" traffic "$dev" $vers -v1
	done
	ktap_run "$dev NFSv4.2, version 2 refused" fallback "$dev"
done
