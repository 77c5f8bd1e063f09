# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Sourced by check: rpcrdma2 setup.

CONF=/etc/modprobe.d/rpcrdma2.conf

listener_enabled() {
	[ -L "$M/etc/systemd/system/nfs-server.service.wants/rpcrdma2-listener@$1.service" ]
}

# What modprobe makes of the file
modprobe_config() { modprobe -C "$M/etc/modprobe.d" -c; }

setup_replace() {
	[ "$(status rpcrdma2 setup replace)" = 0 ]
	grep "^write $CONF" "$tmp/said"
	modprobe_config > "$tmp/config"
	grep -x "options rpcrdma2 replace=1" "$tmp/config"
	grep "^install rpcrdma /sbin/modprobe rpcrdma2 " "$tmp/config"
	never listener_enabled 20049
}

setup_server() {
	rpcrdma2 setup replace --server
	listener_enabled 20049
	[ -L "$M/etc/systemd/system/rdma-hw.target.wants/rpcrdma2-listener@20049.service" ]
}

setup_twice() {
	rpcrdma2 setup beside --server
	files > "$tmp/before"
	[ "$(status rpcrdma2 setup beside --server)" = 0 ]
	grep -x "nothing to do" "$tmp/said"
	files | cmp "$tmp/before"
}

setup_changes_its_mind() {
	rpcrdma2 setup replace --server
	rpcrdma2 setup beside
	modprobe_config > "$tmp/config"
	grep -x "options rpcrdma2 replace=0" "$tmp/config"
	never grep "^install rpcrdma " "$tmp/config"
	# Who says nothing of the listener leaves it alone.
	listener_enabled 20049
}

setup_undone() {
	files > "$tmp/before"
	rpcrdma2 setup replace --server
	never cmp -s "$tmp/before" <(files)
	[ "$(status rpcrdma2 setup off)" = 0 ]
	files | diff "$tmp/before" -
	[ "$(status rpcrdma2 setup off)" = 0 ]
	grep -x "nothing to do" "$tmp/said"
}

setup_only_told() {
	files > "$tmp/before"
	[ "$(status rpcrdma2 setup replace --server --dry-run)" = 0 ]
	grep "^would write $CONF" "$tmp/said"
	grep "^would enable rpcrdma2-listener@20049" "$tmp/said"
	files | cmp "$tmp/before"
	rpcrdma2 setup replace --server
	files > "$tmp/before"
	[ "$(status rpcrdma2 setup off --dry-run)" = 0 ]
	grep "^would remove $CONF" "$tmp/said"
	grep "^would disable rpcrdma2-listener@20049" "$tmp/said"
	files | cmp "$tmp/before"
}

setup_of_somebody_else() {
	local mode

	put $CONF "options rpcrdma2 negotiate_ms=4000"
	files > "$tmp/before"
	for mode in replace beside off; do
		[ "$(status rpcrdma2 setup $mode)" = 2 ]
		grep "did not write $CONF" "$tmp/said"
	done
	files | cmp "$tmp/before"
}

setup_not_possible() {
	rm -r "$M/etc/modprobe.d"
	[ "$(status rpcrdma2 setup replace)" = 2 ]
	grep "$CONF: No such file" "$tmp/said"
	mkdir "$M/etc/modprobe.d"
	program systemctl <<< 'exit 1'
	[ "$(status rpcrdma2 setup replace --server)" = 2 ]
	grep "rpcrdma2-listener@20049.service: " "$tmp/said"
	[ -z "$(find "$M" -name '*.new')" ]
}

setup_nonsense() {
	local words

	files > "$tmp/before"
	for words in "" "replce" "replace beside" "off --server" "replace --sever"; do
		# shellcheck disable=SC2086 # words
		[ "$(status rpcrdma2 setup $words)" = 2 ]
	done
	files | cmp "$tmp/before"
}

setup_json() {
	rpcrdma2 --json setup replace --server --dry-run > "$tmp/json"
	python3 - "$tmp/json" <<-'END'
	import json, sys
	said = json.load(open(sys.argv[1]))
	assert said["mode"] == "replace" and said["dry_run"] is True, said
	assert [s["action"] for s in said["steps"]] == ["write", "enable"], said
	END
}

# The stock module of some vendors' kernels works with GPUDirect Storage.
setup_gpudirect() {
	local alias="alias symbol:rpcrdma_register_nvfs_dma_ops"

	modprobe_config | never grep rpcrdma2_nvfs
	put "$MODULES/modules.symbols" "$alias rpcrdma"
	[ "$(status rpcrdma2 setup replace)" = 0 ]
	grep "warning: GPUDirect Storage works with the stock module" "$tmp/said"
	modprobe_config | grep -x "softdep rpcrdma2 post: rpcrdma2_nvfs"
	[ "$(status rpcrdma2 setup beside)" = 0 ]
	never grep GPUDirect "$tmp/said"
	printf '%s\n' "$alias rpcrdma" "$alias rpcrdma2_nvfs" | put "$MODULES/modules.symbols"
	[ "$(status rpcrdma2 setup replace)" = 0 ]
	never grep GPUDirect "$tmp/said"
}

listener() { status sh "$TOP/tools/systemd/make-listener" 20049; }

# An upgrade without the kernel's headers leaves the module that runs, and no file.
listener_without_file() {
	program modprobe <<< 'exit 1'
	put /sys/class/infiniband/mlx5_0/node_type 1
	put /proc/fs/nfsd/portlist "tcp 2049"
	[ "$(listener)" = 1 ]
	grep "cannot be loaded for" "$tmp/said"
	put /sys/module/rpcrdma2/parameters/replace N
	[ "$(listener)" = 0 ]
	grep "^rdma2 20049$" "$M/proc/fs/nfsd/portlist"
}

listener_taken() {
	put /sys/class/infiniband/mlx5_0/node_type 1
	put /proc/fs/nfsd/portlist "rdma 20049"
	put /sys/module/rpcrdma2/parameters/replace N
	[ "$(listener)" = 1 ]
	grep "the stock transport listens on port 20049" "$tmp/said"
	put /sys/module/rpcrdma2/parameters/replace Y
	[ "$(listener)" = 0 ]
}

check_setup() {
	check "setup replace" setup_replace
	check "setup --server" setup_server
	check "setup twice" setup_twice
	check "setup beside after replace" setup_changes_its_mind
	check "setup off" setup_undone
	check "setup --dry-run" setup_only_told
	check "setup and a file of somebody else" setup_of_somebody_else
	check "setup that is not possible" setup_not_possible
	check "setup, nonsense" setup_nonsense
	check "setup --json" setup_json
	check "setup and GPUDirect Storage" setup_gpudirect
	check "listener, the module's file is gone" listener_without_file
	check "listener, the port is taken" listener_taken
}
