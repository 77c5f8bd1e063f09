# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# What the name of a row says.

# row_op NAME: sets op and size
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
