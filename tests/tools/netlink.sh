# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Sourced by check: answers that a kernel gives seldom.

failed_dump() {
	gcc -shared -fPIC -Wall -Wextra -Werror -o "$tmp/answers.so" \
		"$HERE/answers.c" -lmnl
	[ "$(status env LD_PRELOAD="$tmp/answers.so" rpcrdma2 show)" = 2 ]
	grep "show: Message too long" "$tmp/said"
}

check_netlink() {
	check "a dump that ends with an error" failed_dump
}
