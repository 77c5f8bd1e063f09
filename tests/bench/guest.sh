# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# What the guest parts of tests/bench/run have in common; they source it after lab.sh.

PATH=/lab/tests:$PATH
RESULTS=$LAB_OUT/results

# What the benchmark has no use for would only tick along.
have_siw() { false; }

# address_of N: one of many of the server
address_of() { echo "10.1.$(($1 / 250)).$(($1 % 250 + 1))"; }

# bench_server [THREADS]: a server of all transports, and a file of 32 MiB
bench_server() {
	lab_net
	# As on a server with memory enough: 1 MiB goes in one RPC.
	lab_modprobe nfsd
	mount -t nfsd nfsd "$NFSD"
	echo $((1 << 20)) > "$NFSD/max_block_size"
	lab_server "$@"
	mkdir /export/bench
	head -c $((32 << 20)) /dev/zero | tr '\0' x > /export/bench/data
	lab_listen rdma 20050
	# With the policy that users have, not without one as in the tests
	modprobe rpcrdma2
	lab_listen rdma2 20049
	: > "$RESULTS"
	uname -r > "$LAB_OUT/kernel"
}

# symbols: of the kernel and its modules, for the profile
symbols() {
	awk '$2 ~ /[tT]/ { print $1, $3, $4 }' /proc/kallsyms | sort > "$LAB_OUT/symbols"
}

# row_op NAME: what the name of a row says; sets op and size
# shellcheck disable=SC2034 # used by the files that source this one
row_op() {
	size=${1#*-}
	case $1 in
	getattr) op=getattr size=4096 ;;
	null) op=run size=4096 ;;
	create | unlink) op=$1 size=1024 ;;
	*) op=${1%-*} ;;
	esac
	case $size in
	*k) size=$((${size%k} << 10)) ;;
	*m) size=$((${size%m} << 20)) ;;
	esac
}
