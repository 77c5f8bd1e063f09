# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Sourced by kselftest and series: what the collection for kselftest consists of.

SELFTESTS=tools/testing/selftests/net/rpcrdma2

# selftest_scripts: tests that need nothing but what a machine has with Debian's
# packages for NFS and RDMA, and no kernel for debugging; their header says
# "kselftest".
selftest_scripts() {
	(cd "$TOP" && grep -l '^# kselftest$' tests/guest/*.sh)
}

# selftest_files: all of them
selftest_files() {
	(
		cd "$TOP" || exit
		printf '%s\n' tests/kselftest/*
		printf 'tests/guest/lib/%s.sh\n' \
			cleanup fs judge ktap lab net nfs props splat work
		echo tests/guest/src/iocheck.c
	)
	selftest_scripts
}

# selftest_name FILE: what it is called there
selftest_name() {
	case $1 in
	tests/guest/lib/*) echo "lib/${1##*/}" ;;
	*/gitignore) echo .gitignore ;;
	*) echo "${1##*/}" ;;
	esac
}

# add_selftest TREE FILE: to a kernel source. Only the runner is executable.
add_selftest() {
	local file

	file=$1/$SELFTESTS/$(selftest_name "$2")
	mkdir -p "${file%/*}"
	cp "$TOP/$2" "$file"
	chmod 644 "$file"
	[[ $file != */ksft_runner.sh ]] || chmod 755 "$file"
}
