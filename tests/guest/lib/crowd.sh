# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2034
#
# Sourced by tests with crowd, many clients in one process, after fs.sh and raw.sh.

server_has() { [ "$(connections server)" -ge "$1" ]; }
server_has_only() { [ "$(connections server)" = "$1" ]; }

# Other addresses of this machine, in a network that is not that of the devices
OTHERS=10.77.0 NR_OTHERS=200

others() {
	local i

	for ((i = 1; i <= NR_OTHERS; i++)); do
		echo "addr add $OTHERS.$i/24 dev v0"
	done | ip -batch -
}

# start_crowd CLIENTS SOURCE SOURCES COMMAND...: what it says is in $LAB_TMP/crowd
start_crowd() {
	: > "$LAB_TMP/crowd"	# not that of the crowd before
	crowd "$RXE_ADDR" 20049 "$1" $((60 * lab_scale)) 0 "$2" "$3" \
		< <(printf '%s\n' "${@:4}"; exec sleep $((100 * lab_scale))) \
		>> "$LAB_TMP/crowd" 2>&1 &
	crowd=$!
}

stop_crowd() {
	kill "$crowd" || true
	wait "$crowd" || true
	cat "$LAB_TMP/crowd"
}

crowd_said() { grep -q "$1" "$LAB_TMP/crowd"; }

# mount_ms VERS: how long a mount takes until it has shown a filehandle: MS
mount_ms() {
	local start=${EPOCHREALTIME/./}

	nfs rxe "$1" nosharecache
	MS=$(((${EPOCHREALTIME/./} - start) / 1000))
	umount_nfs
}
