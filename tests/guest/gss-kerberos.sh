#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A Kerberos realm in the guest: KDC, gssd, svcgssd. READs and WRITEs of all
# sizes, long Calls and Replies with every service of RPCSEC_GSS, a user with
# tickets of his own, and contexts that expire under I/O. gssd does not know
# the transport: it makes its contexts over TCP, where it sees "rdma" (see
# gss-krb5 for what travels in chunks).
#
# timeout: 150
# flavours: qemu
# covers: CHK-30
. /lab/lib/lab.sh
. /lab/lib/realm.sh

as_alice() { setpriv --reuid 1001 --regid 1001 --clear-groups "$@"; }

# ---- what is tested ----

# Around thresholds, pages, and the most that one RPC takes. GSS adds up to some
# 200 bytes.
SIZES="1 $(around 37 4096 16384) 4095-4097 8191-8193 12288 20479-20482
	65535-65537 262143 1048573-1048577"
LINKS="1 59 1000 3500-4095/85"

# shellcheck disable=SC2086 # lists
data() { # SEC VERS
	scratch data
	mark
	iocheck sweep "$D/f" $SIZES
	iocheck put "$D" 0 1 511 4097 70001 1048577
	iocheck get "$E" 0 1 511 4097 70001 1048577
	iocheck put -s 7 "$E" 5 4096 16385 300001
	iocheck get -s 7 "$D" 5 4096 16385 300001
	look
	counted client -eq 0 rx_malformed rx_error bad_inv_handle reconnects
	counted server -eq 0 rx_malformed wc_errors
	rm -r "$E"
}

# Calls and Replies that are long without a payload.
# shellcheck disable=SC2086 # lists
long() { # SEC VERS
	local name

	scratch long
	name=$(printf "%0255d" 0)
	echo a > "$D/$name"
	mv "$D/$name" "$D/${name//0/1}"
	[ "$(< "$E/${name//0/1}")" = a ]
	rm "$E/${name//0/1}"
	iocheck fill -n 300 -l 200 "$E"
	iocheck list -n 300 -l 200 -e "$D"
	iocheck empty -n 300 -l 200 "$D"
	iocheck symlink "$D" $LINKS
	iocheck readlink "$E" $LINKS
	drop_caches
	iocheck readlink "$D" $LINKS
	if [ "$2" = 3 ]; then
		: > "$D/f"
		printf 'u:%s:r-x\n' {5001..5200} | setfacl -b -n -M - "$D/f"
		getfacl -c -n "$E/f" > "$LAB_TMP/server"
		drop_caches
		getfacl -c -n "$D/f" > "$LAB_TMP/client"
		cmp "$LAB_TMP/server" "$LAB_TMP/client"
		[ "$(grep -c '^user:5' "$LAB_TMP/client")" = 200 ]
	elif [ "$1" != krb5p ]; then
		# (nfsd 6.12 does not understand SETXATTR with privacy, on any
		# transport.)
		: > "$D/f"
		iocheck xattr "$D/f" "$E/f" 4096 16300 65536
	fi
	rm -r "$E"
}

# A user acts under his own name, and one without a ticket not at all.
user() { # SEC VERS
	scratch user
	as_alice kinit -c $K/tickets/krb5cc_1001 -k -t $K/alice.keytab alice
	as_alice iocheck write -t -s 1 -l 70001 "$D/f"
	[ "$(stat -c %u "$E/f")" = 1001 ]
	iocheck check -e -s 1 -l 70001 "$E/f"
	not setpriv --reuid 1002 --regid 1002 --clear-groups touch "$D/g"
	[ ! -e "$E/g" ]
	rm -r "$E" $K/tickets/krb5cc_1001
}

service() { # SEC VERS
	nfs rxe "$2" "sec=$1" || lab_die "cannot mount $1 $2"
	grep "sec=$1," /proc/mounts
	ktap_run "NFSv$2 sec=$1 data" data "$@"
	ktap_run "NFSv$2 sec=$1 long Calls and Replies" long "$@"
	[ "$1 $2" != "krb5i 4.2" ] || ktap_run "NFSv$2 sec=$1 a user" user "$@"
	umount_nfs || lab_die "cannot unmount $1 $2"
	none_left || ktap_fail "NFSv$2 sec=$1 no connection is left"
}

# An RPC whose Reply comes in the second that its context ends in is failed with
# EIO by gss_unwrap_resp_integ() and _priv(), over any transport: the program
# tries again, which few_late counts.
io() {
	local said=$LAB_TMP/said.$BASHPID

	until iocheck "$@" 2> "$said"; do
		cat "$said"
		grep -q 'Input/output error' "$said" || return 1
		echo "$*" >> "$LAB_TMP/late"
		few_late 50 || return 1
	done
}

# written and read by each of two WORKERS
write_and_read() { # WORKER ROUND
	io write -d -t -s "$2" -l 130001 "$D/$1" &&
		io check -d -e -s "$2" -l 130001 "$D/$1" &&
		iocheck check -e -s "$2" -l 130001 "$E/$1"
}

# busy FUNC: while they do that
busy() {
	: > "$LAB_TMP/late"
	work_start 2 write_and_read
	"$1"
	work_stop
}

# written N: each of them has done that so many times.
written() {
	local i

	for i in 1 2; do
		[ "$(cat "$LAB_TMP/work.$i")" -ge "$1" ] || return 1
	done
} 2> /dev/null

# renewed N: so many contexts have been made since BEFORE.
renewed() { [ $(($(contexts) - BEFORE)) -ge "$1" ]; }

# few_late N: at most so many RPCs were tried again.
few_late() { [ "$(wc -l < "$LAB_TMP/late")" -le "$1" ]; }

# The server forgets its contexts under I/O: the client makes new ones.
forget() {
	local i

	for i in 1 2 3; do
		lab_wait 30 written $i
		echo $(($(date +%s) + 1)) > /proc/net/rpc/auth.rpcsec.context/flush
		lab_wait 30 renewed $i
	done
	lab_wait 30 written 5
}

forgotten() { # SEC VERS
	enter forgotten rxe "$2" "sec=$1"
	BEFORE=$(contexts)
	mark
	busy forget
	few_late 0
	look
	counted client -eq 0 rx_malformed rx_error bad_inv_handle
}

# Tickets, and so contexts, end under I/O. Root is a machine, whose tickets gssd
# gets by itself.
expire() {
	lab_wait $((3 * BRIEF)) renewed 3
	lab_wait 30 written 3
}

expired() { # SEC VERS
	scratch expired
	gssd_stop
	gssd_start $K/brief.conf
	BEFORE=$(contexts)
	nfs rxe "$2" "sec=$1"
	mark
	busy expire
	few_late $((2 * ($(contexts) - BEFORE)))
	look
	counted client -eq 0 rx_malformed rx_error bad_inv_handle
}

fs_start_secure ours
realm_start
for sec in krb5 krb5i krb5p; do
	for vers in 3 4.2; do
		service $sec $vers
	done
done
ktap_run "NFSv4.2 sec=krb5p the server forgets contexts" forgotten krb5p 4.2
ktap_run "NFSv3 sec=krb5i the server forgets contexts" forgotten krb5i 3
ktap_run "NFSv4.2 sec=krb5i contexts expire" expired krb5i 4.2
ktap_run "NFSv3 sec=krb5p contexts expire" expired krb5p 3
