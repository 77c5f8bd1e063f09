#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The payload of a WRITE that the server pulls begins at a page boundary, and pages that are
# neighbours in memory share an SGE of the RDMA Reads. If nfsd writes without the page
# cache (Linux 6.18 and later), as many WRITEs go to the disk directly as with the stock
# transport.
#
# timeout: 120
. /lab/lib/lab.sh

MODE=/sys/kernel/debug/nfsd/io_cache_write

# direct LENGTH...: WRITEs of these lengths, eight of each.
direct() {
	local len

	for len; do
		iocheck write -t -d -l $((8 * len)) -b "$len" "$D/$len"
		iocheck check -e -l $((8 * len)) "$E/$len"
	done
}

# The trace has lines of rpcrdma2_call_reads, and no WRITE begins within a page.
aligned() {
	grep rpcrdma2_call_reads: $TRACE/trace > "$LAB_TMP/reads" || return
	if grep -v ' offset=0$' "$LAB_TMP/reads"; then
		return 1
	fi
}

# A WRITE of 1 MiB into pages with an SGE each takes 15 RDMA Reads, of 18 SGEs. The first one on
# a connection is into new pages, which come in runs of 64 KiB.
shared() {
	grep -o 'read_bytes=1048576 .*' "$LAB_TMP/reads"
	grep -Eq 'read_bytes=1048576 nwrs=[1-4] ' "$LAB_TMP/reads"
}

pulled() {
	scratch aligned
	trace_on rpcrdma2/rpcrdma2_call_reads
	direct 65536 1048576
	iocheck write -t -l 1000003 "$D/buffered"
	sync "$D/buffered"
	trace_off
	rm -r "$E"
	aligned && shared
}

# How many WRITEs went to the disk directly.
direct_writes() {
	scratch directly
	trace_on nfsd/nfsd_write_direct
	direct 65536 1048576
	trace_off
	rm -r "$E"
	WRITES=$(grep -c nfsd_write_direct: $TRACE/trace || true)
	echo "$SUFFIX $WRITES"
}

as_stock() {
	local dev=$1 vers=$2 stock

	SUFFIX=-v1 mounted_do "$dev" "$vers"
	stock=$WRITES
	mounted_do "$dev" "$vers"
	[ "$stock" -gt 0 ] && [ "$WRITES" -ge "$stock" ]
}

mounted_do() {
	nfs "$@"
	direct_writes
	umount_nfs
}

have_rdma2 || ktap_skip_all "needs rpcrdma2"
lab_net
lab_export ext4
lab_modprobe nfsd
mountpoint -q $NFSD || mount -t nfsd nfsd $NFSD
echo $((1 << 20)) > $NFSD/max_block_size
lab_server
fs_listen
mounted "$VERSIONS" "payload at a page boundary=pulled"
if [ ! -e $MODE ]; then
	ktap_skip "WRITEs past the page cache" "needs nfsd of Linux 6.18 or later"
elif [ -n "${lab_replace-}" ]; then
	ktap_skip "WRITEs past the page cache" "needs the stock transport"
else
	lab_listen rdma 20050
	echo 2 > $MODE
	for dev in $(lab_devices); do
		for vers in 3 4.2; do
			ktap_run "$dev NFSv$vers WRITEs past the page cache" \
				as_stock "$dev" "$vers"
		done
	done
	echo 0 > $MODE
fi
