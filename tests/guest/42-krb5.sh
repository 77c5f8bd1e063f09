#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# RPCSEC_GSS: with integrity or privacy no data travels in a chunk of its own,
# in either direction; with authentication alone it does, and what belongs to
# GSS does not (CHK-30). There is no Kerberos realm here: gsspair makes the
# contexts. The User-Mode Linux kernels do not have the ciphers.
#
# timeout: 120
# flavours: qemu
# covers: CHK-30,SEC-16
. /lab/lib/lab.sh
. /lab/lib/fs.sh

LEN=100003

secure() { # SEC VERS
	scratch secure
	nfs rxe "$2" "sec=$1"
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
	# Small and odd sizes, directories.
	iocheck put "$D" 0 1 511 1023 4096 4097 70001
	iocheck get "$E" 0 1 511 1023 4096 4097 70001
	rm "$E"/*
	iocheck fill -n 200 -l 200 "$E"
	iocheck list -n 200 -l 200 -e "$D"
	look
	counted client -eq 0 rx_malformed rx_error bad_inv_handle reconnects
	umount_nfs
	none_left
	rm -r "$E"
}

ours || ktap_skip_all "needs rpcrdma2"
lab_modprobe cts auth_rpcgss rpcsec_gss_krb5
fs_start
echo '/export *(rw,no_root_squash,insecure,fsid=0,no_subtree_check,sec=sys:krb5:krb5i:krb5p)' \
	> /run/exports
exportfs -ra
gsspair /var/lib/nfs/rpc_pipefs > "$LAB_TMP/gsspair" 2>&1 &
PAIR=$!
ktap_run "NFSv4.2 sec=krb5" secure krb5 4.2
ktap_run "NFSv3 sec=krb5i" secure krb5i 3
ktap_run "NFSv4.2 sec=krb5i" secure krb5i 4.2
ktap_run "NFSv4.2 sec=krb5p" secure krb5p 4.2
cat "$LAB_TMP/gsspair"
kill $PAIR
wait $PAIR 2> /dev/null || true
