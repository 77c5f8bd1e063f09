#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Guest part of tests/bench/run --recovery: faults that need no second machine, in the
# guest whose clock counts instructions, where waiting takes no time. See
# lib/recovery.sh for what it leaves in results; tests/pair/recovery-client.sh has the
# other faults.
#
# timeout: 900
. /lab/lib/lab.sh
. /lab/lib/recovery.sh
. /lab/tests/params	# DEVICES REPEAT CLIENTS FAULTS
. /lab/tests/guest.sh

wanted() { [[ " $FAULTS " = *" $1 "* ]]; }

# Between 3 and 9 seconds, the same for every transport, and spread evenly however many
# faults there are: each is longer than the last by the golden section of the range,
# modulo the range.
fault_lasts() {
	local ms=$((3000 + FAULT * 3708 % 6000))

	lab_pause "$((ms / 1000)).$(printf %03d $((ms % 1000)))"
}

listen() {
	lab_listen tcp 2049
	lab_listen rdma 20050
	lab_listen rdma2 20049
}

# Connections are closed as they should be. A client that asks meanwhile is refused.
server_restarted() {
	echo 0 > "$NFSD/threads"
	fault_lasts
	listen
	END=$(now_ns)
	echo 16 > "$NFSD/threads"
	lab_end_grace
}

device_back() {
	rdma link delete rxe0
	fault_lasts
	lab_net
	END=$(now_ns)
}

# mount_some N DEV...: N mounts of each; sets MOUNTS
mount_some() {
	local n=$1 dev i=0 j dir

	shift
	MOUNTS=()
	for dev; do
		for ((j = 1; j <= n; j++)); do
			i=$((i + 1)) dir=$RECOVERY_DIR/$dev-$j
			recovery_mount "$dev" "$(address_of $i)" "$dir"
			MOUNTS+=("$dev=$dir")
		done
	done
}

umount_all() {
	local m

	for m in "${MOUNTS[@]}"; do
		umount_nfs "${m#*=}"
	done
	rpcrdma2 policy load /dev/null
}

# faults CASE FUNC TIMES
faults() {
	local i

	recovery_work "$1" "${MOUNTS[@]}"
	for ((i = 1; i <= $3; i++)); do
		FAULT=$i
		ktap_diag "$1 $i of $3, ${#MOUNTS[@]} mounts from ${MOUNTS[0]%%=*} on"
		recovery_fault "$2" "${MOUNTS[@]}"
	done
	recovery_end "${MOUNTS[@]}"
}

set -e
lab_net
lab_server 16
modprobe rpcrdma2
listen
: > "$RESULTS"
uname -r > "$LAB_OUT/kernel"
for ((i = 1; i <= 4 * CLIENTS; i++)); do
	ip addr add "$(address_of $i)/16" dev v0
done
if wanted restart; then
	mount_some 1 $DEVICES
	faults restart server_restarted "$REPEAT"
	umount_all
fi
if wanted device; then
	# shellcheck disable=SC2046 # words
	mount_some 1 $(tr ' ' '\n' <<< "$DEVICES" | grep -vx tcp)
	faults device device_back "$REPEAT"
	umount_all
fi
for dev in $(! wanted crowd || echo "$DEVICES"); do
	mount_some "$CLIENTS" "$dev"
	faults crowd server_restarted $(((REPEAT + 3) / 4))
	umount_all
done
ktap_ok "all faults"
