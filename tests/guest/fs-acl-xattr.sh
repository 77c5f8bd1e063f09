#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# ACLs and extended attributes, of which nothing could be placed. Long values
# and lists of attributes go by Position-Zero Read chunk and Reply chunk. The
# kernel's ACLs are never longer than a page: the client must be ready for a
# Reply that needs the Reply chunk only if messages are small.
#
# kselftest
# programs: getfacl getfattr setfacl setfattr
# timeout: 180
# covers: MSG-5
. /lab/lib/lab.sh

# The kernel's GETACL reply ends with its page, whatever the transport.
ENTRIES="1 3 50 80 200 320"

# acl_text COUNT: entries for users 5001...
# shellcheck disable=SC2046 # a list
acl_text() { printf 'u:%s:r-x\n' $(seq 5001 $((5000 + $1))); }

# NFSv3 has GETACL and SETACL of its own.
acl_v3() {
	local n

	: > "$D/f"
	for n in $ENTRIES; do
		acl_text "$n" | setfacl -b -n -M - "$D/f"
		getfacl -c -n "$E/f" > "$LAB_TMP/server"
		getfacl -c -n "$D/f" > "$LAB_TMP/client"
		cmp "$LAB_TMP/server" "$LAB_TMP/client"
		[ "$(grep -c '^user:5' "$LAB_TMP/client")" = "$n" ]
	done
	setfacl -b "$D/f"
	[ "$(getfacl -c -n "$E/f" | grep -c '^user:5')" = 0 ]
	# A default ACL is inherited, on the server.
	mkdir "$D/d"
	acl_text 200 | setfacl -d -n -M - "$D/d"
	: > "$D/d/f"
	[ "$(getfacl -c -n "$E/d/f" | grep -c '^user:5')" = 200 ]
	drop_caches
	[ "$(getfacl -c -n "$D/d" | grep -c '^default:user:5')" = 200 ]
}

# As text in NFSv4, an attribute of the file. iocheck reads back what it set.
acl_v4() {
	local n

	: > "$D/f"
	for n in $ACES; do
		iocheck nfs4acl "$D/f" "$n"
		[ "$(getfacl -c -n "$E/f" | grep -c '^user:1000')" = "$n" ]
	done
}

ACES="1 10 20 30 40 60 90"

# iocheck xattr: every value is set on the client, read there and found on the
# server.
xattr_values() {
	: > "$D/f"
	# shellcheck disable=SC2046 # a list
	iocheck xattr "$D/f" "$E/f" 1-40 511 $(around "$XATTR_STEP")
	iocheck xattr "$D/f" "$E/f" 32767-32769 60001 65533-65536
	# Not from the client's cache.
	iocheck setxattr "$E/f" 1021 4098 16387 65536
	drop_caches
	iocheck getxattr "$D/f" 1021 4098 16387 65536
	iocheck setxattr "$D/f" 3
	iocheck getxattr "$E/f" 3
	setfattr -x user.x0 "$D/f"
	if getfattr -n user.x0 "$E/f"; then false; fi
}

XATTR_STEP=$(by_speed 1 11)

xattr_names() {
	: > "$D/f"
	printf 'user.%0200d\n' {1..120} > "$LAB_TMP/names"
	{ echo "# file: $D/f"; printf 'user.%0200d="tiny"\n' {1..120}; } > "$LAB_TMP/set"
	setfattr --restore="$LAB_TMP/set"
	same_names "$E/f"
	drop_caches
	same_names "$D/f"
}
same_names() { getfattr --absolute-names "$1" | grep '^user\.' | cmp - "$LAB_TMP/names"; }

# Replies that might not fit into small messages: GETACL and GETATTR.
acl_small() { # DEV VERS
	mark
	case $2 in
	3) acl_v3 ;;
	*) acl_v4 ;;
	esac
	look
	! ours || counted client -gt 0 reply_chunks remote_invalidations
}

# Values in either direction that are longer than any message.
long_values() {
	: > "$D/f"
	mark
	iocheck setxattr "$D/f" 60001 65536
	look
	! ours || counted server -eq 2 pz_chunks rx_call_nomsg
	iocheck getxattr "$E/f" 60001 65536
	iocheck setxattr "$E/f" 16387 65536
	drop_caches
	mark
	iocheck getxattr "$D/f" 16387 65536
	look
	! ours || counted server -eq 2 reply_chunks tx_reply_nomsg
}

fs_start
mounted 3 "ACL=acl_v3"
mounted "4.0 4.1 4.2" "ACL=acl_v4"
mounted 4.2 "extended attributes=xattr_values" "attribute names=xattr_names" \
	"long values=long_values"
small_messages
mounted "$VERSIONS" "ACL in small messages=acl_small"
mounted 4.2 "attribute names in small messages=xattr_names"
