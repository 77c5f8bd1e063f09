# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Two RDMA devices in one guest: rxe0 (RoCEv2) on v0 of a veth pair, siw0
# (iWARP) on w0 of another. Client and server use the same device.
#
# lab_rxe=bench_adapter: rxe0 is that of tests/bench/adapter, for any test.

# shellcheck disable=SC2034 # used by the files that source this one
{
: "${RXE_ADDR:=10.0.0.1}" "${RXE_ADDR6:=fd00::1}"
: "${SIW_ADDR:=10.0.1.1}" "${SIW_ADDR6:=fd00:1::1}"
}

# udev replaces an address that the kernel has chosen, and what rxe sends to the one
# that it knows is lost then.
_mac() { printf '02:00:00:00:%02x:%02x' "'${1::1}" "'${1:1}"; }

_veth() { # END PEER ADDR ADDR6
	[ ! -e "/sys/class/net/$1" ] || return 0
	ip link add "$1" mtu 9000 address "$(_mac "$1")" type veth \
		peer name "$2" mtu 9000 address "$(_mac "$2")"
	# Duplicate address detection would only add seconds.
	echo 0 > "/proc/sys/net/ipv6/conf/$1/accept_dad"
	echo 0 > "/proc/sys/net/ipv6/conf/$2/accept_dad"
	ip -batch - <<-EOF
	addr add $3/24 dev $1
	addr add $4/64 dev $1 nodad
	link set $1 up
	link set $2 up
	EOF
}

_rdma_active() {
	rdma link show "$1/1" 2> /dev/null | grep -q 'state ACTIVE'
}

_rdma_link() { # NAME TYPE NETDEV
	[ ! -e "/sys/class/infiniband/$1" ] || return 0
	rdma link add "$1" type "$2" netdev "$3"
	lab_wait 10 _rdma_active "$1" || lab_die "$1 does not become active"
}

_have_driver() { # MODULE INIT
	modprobe -qn "$1" || grep -qs "^$1 " /proc/modules ||
		grep -q " $2\$" /proc/kallsyms
}

have_rxe() { _have_driver rdma_rxe rxe_module_init; }
# Stock Debian kernels ship none.
have_siw() { _have_driver siw siw_init_module; }

lab_net() {
	# rxe finds its CRC by name and does not load it itself.
	lab_modprobe crc32_generic crc32_pclmul rdma_rxe rdma_ucm siw veth
	ip link set lo up
	_veth v0 v1 $RXE_ADDR $RXE_ADDR6
	# shellcheck disable=SC2086 # words
	[ -z "${lab_profile-}" ] || has rxe || hw_use ${HW_PROFILE-$lab_profile}
	! have_rxe || _rdma_link rxe0 "${lab_rxe:-rxe}" v0
	if have_siw; then
		_veth w0 w1 $SIW_ADDR $SIW_ADDR6
		_rdma_link siw0 siw w0
	fi
}

# has rxe|siw: is there such a device in this guest?
has() { [ -e "/sys/class/infiniband/${1}0" ]; }

# lab_devices: the devices of this guest, for loops.
lab_devices() {
	! has rxe || echo rxe
	! has siw || echo siw
}

# lab_addr DEV: address for rxe, siw, tcp, and with a 6 at the end for IPv6.
lab_addr() {
	case $1 in
	rxe | tcp) echo $RXE_ADDR ;;
	siw) echo $SIW_ADDR ;;
	rxe6 | tcp6) echo $RXE_ADDR6 ;;
	siw6) echo $SIW_ADDR6 ;;
	*) lab_die "no device named $1" ;;
	esac
}

lab_net_down() {
	local d

	for d in rxe0 siw0; do
		[ ! -e /sys/class/infiniband/$d ] || rdma link delete $d
	done
	for d in v0 w0; do
		[ ! -e /sys/class/net/$d ] || ip link delete $d
	done
}

# rxe_queues: bytes that soft-RoCE has for all its queues, without guard pages
rxe_queues() {
	awk '/rxe_queue_init/ { sum += $2 - 4096 } END { print sum + 0 }' \
		/proc/vmallocinfo
}
