#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Replies and Calls with long text that no chunk of its own carries: large
# directories, symbolic links of every length, long names. By default links go
# inline; with small messages long ones take a Read chunk in the Call and a
# Reply chunk.
#
# kselftest
# timeout: 240
. /lab/lib/lab.sh

directory() { # DEV VERS
	iocheck fill -n "$MANY" -l 200 "$E"
	iocheck list -n "$MANY" -l 200 -e "$D"
	[ "$(find "$D" -type f | wc -l)" = "$MANY" ]
	iocheck empty -n "$MANY" -l 200 "$D"
	iocheck list -n 0 "$E"
	rmdir "$D"
}

# READDIR without attributes, and in small pieces.
plain_directory() { # DEV VERS
	local opts

	iocheck fill -n $((MANY / 5)) -l 100 "$D"
	iocheck list -n $((MANY / 5)) -l 100 -e "$E"
	for opts in nordirplus nordirplus,rsize=4096; do
		nfs "$1" "$2" "$opts,nosharecache" $SECOND
		iocheck list -n $((MANY / 5)) -l 100 $SECOND/plain_directory
		umount_nfs $SECOND
	done
}

# The target travels in the Call and comes back in the Reply.
links() {
	local list

	# shellcheck disable=SC2206 # a list
	list=($LINKS)
	iocheck symlink "$D" "${list[@]}"
	iocheck readlink "$E" "${list[@]}"
	drop_caches
	iocheck readlink "$D" "${list[@]}"
	rm -r "$D"
	[ ! -e "$E" ]
}

# Targets that leave no room for headers in a message of 4096 bytes.
long_links() {
	mark
	iocheck symlink "$D" 4001-4095/6
	drop_caches
	iocheck readlink "$D" 4001-4095/6
	look
	if ours; then
		counted client -ge 16 read_chunks reply_chunks rx_reply_nomsg
		counted server -ge 16 read_chunks reply_chunks tx_reply_nomsg
		counted client -eq 0 local_invalidations
	fi
	iocheck readlink "$E" 4001-4095/6
	rm -r "$D"
	[ ! -e "$E" ]
}

names() {
	local len name

	for len in 1 4 128 254 255; do
		name=$(printf "%0${len}d" 0)
		echo "$len" > "$D/$name"
		ln "$D/$name" "$D/${name//0/1}"
		[ "$(< "$E/${name//0/1}")" = "$len" ]
		mv "$D/$name" "$D/${name//0/2}"
		[ "$(< "$E/${name//0/2}")" = "$len" ]
		rm "$D/${name//0/1}"
	done
	[ "$(find "$E" -type f | wc -l)" = 5 ]
	if touch "$D/$(printf "%0256d" 0)"; then false; fi
}

# Around 1024 and 4096 bytes, and the longest there can be.
LINKS="1 59 60 500 700-1024/$(by_speed 1 7) 2048 3700-4095/$(by_speed 1 7)"

fs_start
mounted "$VERSIONS" "large directory=directory" \
	"READDIR=plain_directory" "symbolic links=links" "names=names"
small_messages
mounted "$VERSIONS" "long symbolic links in small messages=long_links"
