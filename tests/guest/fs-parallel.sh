#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Eight processes at once, every byte verified.
#
# kselftest
# timeout: 320
. /lab/lib/lab.sh

own_files() {
	local len=$((BIG / 16 << 20))

	at_once 8 iocheck write -t -s 1{} -l $((len + 1000)) "$D/f{}"
	at_once 8 iocheck write -t -d -s 2{} -l $((len + 11)) -b 2000{} -a 1{} "$D/g{}"
	at_once 8 iocheck write -t -y -s 3{} -l 3000{} -b 40{} "$D/h{}"
	drop_caches
	at_once 8 iocheck check -e -s 1{} -l $((len + 1000)) "$D/f{}"
	at_once 8 iocheck check -e -d -s 3{} -l 3000{} -b 100{} "$D/h{}"
	at_once 8 iocheck check -e -s 1{} -l $((len + 1000)) "$E/f{}"
	at_once 8 iocheck check -e -s 3{} -l 3000{} "$E/h{}"
	each 8 iocheck check -e -s 2{} -l $((len + 11)) "$E/g{}"
}

# Pieces of one file, next to each other, from everybody. Pages are shared
# between neighbours, which is what direct I/O is for.
one_file() {
	local total=$((8 * PARTS * 9999))

	: > "$D/f"
	at_once 8 part {}
	iocheck check -e -s 9 -l "$total" "$D/f"
	iocheck check -e -s 9 -l "$total" "$E/f"
}
part() { # NUMBER
	iocheck write -d -s 9 -o $((($1 - 1) * 9999)) -b 9999 -p 79992 \
		-l $((8 * PARTS * 9999 - 69993)) "$D/f"
}
PARTS=$(by_speed 50 10)

mixtures() {
	at_once 8 iocheck random -s 5{} -n "$(by_speed 300 60)" "$D/f{}" "$E/copy{}"
	at_once 8 cmp "$D/f{}" "$E/copy{}"
	at_once 8 cmp "$E/f{}" "$E/copy{}"
}

metadata() { # NUMBER
	local n

	n=$(by_speed 150 40)
	iocheck fill -n "$n" -l 60 -s "$1" "$D/d$1"
	iocheck list -n "$n" -l 60 -s "$1" -e "$D/d$1"
	iocheck symlink "$D/l$1" "1-1500/$(by_speed 10 50)"
	iocheck readlink "$D/l$1" "1-1500/$(by_speed 10 50)"
	iocheck empty -n "$n" -l 60 -s "$1" "$D/d$1"
	rmdir "$D/d$1"
	rm -r "$D/l$1"
}

names() {
	at_once 8 mkdir "$D/d{}" "$D/l{}"
	at_once 8 metadata {}
	rmdir "$D"
	[ ! -e "$E" ]
}

fs_start
mounted "$VERSIONS" "8 writers=own_files" "8 writers of one file=one_file" \
	"8 random mixtures=mixtures" "8 in the name space=names"
