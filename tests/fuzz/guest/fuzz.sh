#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Fuzzes the module, or runs the inputs of a finding: see ../module, which starts this.
#
# The kernel skips the time in which nothing happens (time-travel), so limits of time
# are the host's business.
#
# timeout: 10000000
# flavours: none
. /lab/lib/raw.sh
. /lab/lib/host.sh
. /lab/lib/splat.sh

# What gcov has counted, for ../module
counted() {
	local f name

	while read -r f; do
		name=${f#*/xprtrdma2/}
		cat "$f" > "$LAB_OUT/${name//\//#}"
	done < <(find /sys/kernel/debug/gcov -name '*.gcda' -path '*/xprtrdma2/*')
}

# Not siw: lockdep finds that siw, when it gets a TERMINATE, takes a lock of its socket
# with interrupts enabled, and then lockdep is off.
fuzz() { # INPUTS SECONDS
	export SPLAT ALLOWED
	rpcrdma2-fuzz "$1" "$LAB_OUT" "$2" "${fuzz_seed:-1}" \
		rxe "$(lab_addr rxe)" "${raw_seconds[rxe]}" >> "$LAB_OUT/said" 2>&1
}

lines() { sed 's/#.*//; /^ *$/d' "$1"; }

# Every case of these groups is an input, as are the lines of inputs.
inputs() {
	local group

	[ "${fuzz_seconds:-0}" = 0 ] || for group in server server-change versions variant \
			errors published trouble bounds replies credits version \
			client-change client-paths reasons variant-client \
			published-client bounds-connect faults faults-client; do
		rpcrdma2-conform list $group | cut -f1
	done
	lines /lab/tests/inputs
}

# NFS itself warns of a kind of state protection that it does not know.
ALLOWED='WARNING: .* at fs/nfs/nfs4xdr\.c'

# A client of NFSv4.1 outlives its mount while the lease is being renewed. That SEQUENCE
# waits for a slot, the state manager has taken all of them to recover the lease from a
# server that is not there any more, and gives up only when it is killed.
managers_end() { ! pkill -KILL '^10.0.0.1-mana'; }

# Of allocations, only those of the module fail, and those of others on its behalf.
failing() {
	local text dir

	text=$(awk '$4 == "[rpcrdma2]" && $2 ~ /[tT]/ { print $1 }' /proc/kallsyms | sort)
	for dir in /sys/kernel/debug/fail{slab,_page_alloc}; do
		[ -e "$dir" ] || continue
		echo 32 > "$dir/stacktrace-depth"
		echo "0x${text%%$'\n'*}" > "$dir/require-start"
		echo "0x${text##*$'\n'}" > "$dir/require-end"
		echo N > "$dir/ignore-gfp-wait"
	done
	for dir in /sys/kernel/debug/fail{slab,_page_alloc,_rpcrdma2*,_sunrpc}; do
		[ ! -e "$dir" ] || echo 0 > "$dir/verbose"
	done
}

lab_all
host_up
raw_second rxe "$(lab_addr rxe)1"
failing
lab_allow_log "$ALLOWED"
inputs > "$LAB_TMP/inputs"
echo 0 > /proc/sys/kernel/printk_ratelimit
lines /lab/tests/findings > "$LAB_TMP/findings"
ktap_run "what was found earlier" fuzz "$LAB_TMP/findings" 0
ktap_run "no message of the kernel, no leak" fuzz "$LAB_TMP/inputs" "${fuzz_seconds:-0}"
lab_wait 60 managers_end
host_down
counted
