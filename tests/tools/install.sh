# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Sourced by check: what goes with the command, man pages and completion.

install_tools() {
	make -s -C "$TOP/tools" OUT="$tmp/built" DESTDIR="$tmp/dest" PREFIX=/usr "$@"
}

pages_are_clean() {
	local page

	install_tools install
	for page in 4/rpcrdma2.4 7/nfs-rdma2.7 8/rpcrdma2.8; do
		mandoc -T lint -W warning "$tmp/dest/usr/share/man/man$page"
	done
}

# Each parameter and counter of the module is in rpcrdma2(4), each command in (8).
pages_are_complete() {
	local page=$tmp/dest/usr/share/man name n=0

	install_tools install
	for name in $(sed -nE 's/^module_param(_named|_cb)?\((\w+),.*/\2/p' \
			"$TOP"/net/sunrpc/xprtrdma2/{,*/}*.c) \
		    $(sed -nE 's/^RPCRDMA2_STAT\((\w+),.*/\1/p' \
			"$TOP/net/sunrpc/xprtrdma2/conn/stats_list.h"); do
		grep -x "\.It Va $name" "$page/man4/rpcrdma2.4"
		n=$((n + 1))
	done
	[ $n -gt 90 ]
	for name in $(rpcrdma2 --help | awk '/^  [a-z]/ { print $1 }'); do
		grep -x "\.It Cm $name" "$page/man8/rpcrdma2.8"
		grep -x "\.Cm $name" "$page/man8/rpcrdma2.8"
	done
}

uninstall_leaves_nothing() {
	install_tools install
	[ -n "$(find "$tmp/dest" -type f)" ]
	install_tools uninstall
	[ -z "$(find "$tmp/dest" -type f)" ]
}

# completes WORDS... TO WORD...: what bash offers for the last of WORDS
completes() {
	local -a COMP_WORDS=() COMPREPLY=()
	local COMP_CWORD

	while [ "$1" != TO ]; do COMP_WORDS+=("$1"); shift; done
	shift
	COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
	# compgen fails where it has nothing to offer
	_rpcrdma2 || true
	[ "${COMPREPLY[*]}" = "$*" ]
}

completion() {
	# shellcheck disable=SC2016 # for its shell
	program rpcrdma2 <<-'END'
	[ "$1" != --help ] || { echo "  status  x"; echo "  setup  x"; echo "  show x"; }
	[ "$*" != show ] || printf 'id: 3\npeer_address: 10.0.0.1:20049\nid: 14\npeer_address: [fd00::1]:20049\n'
	[ "$*" != "show client" ] || echo "id: 3"
	END
	. "$tmp/dest/usr/share/bash-completion/completions/rpcrdma2"
	completes rpcrdma2 s TO status setup show
	completes rpcrdma2 -- TO --json --help
	completes rpcrdma2 setup r TO replace
	completes rpcrdma2 --json setup replace -- TO --server --dry-run
	completes rpcrdma2 show "" TO client server peer paths module 3 14
	completes rpcrdma2 show module "" TO client server
	completes rpcrdma2 show peer "" TO 10.0.0.1 fd00::1
	completes rpcrdma2 forget "" TO 3
	completes rpcrdma2 change 3 "" TO own rbsiz brs
	completes rpcrdma2 change 3 own b TO brs
	completes rpcrdma2 change 3 brs "" TO none inline
	completes rpcrdma2 change 3 rbsiz "" TO
	completes rpcrdma2 change 3 rbsiz 8192 "" TO
	[[ $(complete -p rpcrdma2) == *"-F _rpcrdma2 rpcrdma2" ]]
}

completion_installed() { install_tools install; completion; }

check_install() {
	check "man pages, to which mandoc has no objections" pages_are_clean
	check "man pages have every parameter, counter, command" pages_are_complete
	check "uninstall leaves nothing" uninstall_leaves_nothing
	check "completion" completion_installed
}
