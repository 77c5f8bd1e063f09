# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# What the two sides of a test with two guests share. Each side sources this
# instead of lab.sh. The server has the addresses that tests in one guest use
# (lab_addr), so mount_nfs does the same here.
#
#	pair_net client|server	addresses, rxe on one cable and siw on the other
#	pair_switch ADDRESS...	both cables end in a switch, which is this machine: it has
#				these addresses and rxe on it
#	pair_modules		for what else there may be on the cables
#
#	pair_levels DEV		what of the conformance kit is run over it
#	pair_stock DEV		can the stock client be used over this device?
#
# for the server:
#	pair_disk		mounts the disk that outlives the server: /export,
#				and what NFS servers remember
#	pair_listening		tells the client that it can come
#	pair_serve [CMD...]	waits for the end of the test, and does CMD again and again
#
# for the client:
#	power_off, power_on	the server's mains switch
#	listening		has the server come up?
#
# of either, for the cable of a device, CABLE[DEV], or of an interface:
#	cable_ready DEV		before the others
#	cable_cut, cable_mend	it carries nothing in either direction, and no end is told

. /lab/lib/raw.sh

# See "rxe and packets out of order" in Documentation/devices.md.
export RXE_FAULT='WARNING: .* at drivers/infiniband/sw/rxe/rxe_comp.c:'

# A directory of the host.
PAIR=/run/pair
mkdir -p $PAIR
mountpoint -q $PAIR ||
	mount -t 9p -o trans=virtio,version=9p2000.L pair $PAIR ||
	lab_die "no shared directory"

pair_modules() {
	# rxe finds its CRC by name and does not load it itself.
	lab_modprobe virtio_net crc32_generic crc32_pclmul rdma_rxe siw
	ip link set lo up
}

pair_net() {
	local host=1 i

	[ "$1" = server ] || host=2
	pair_modules
	for i in 0 1; do
		ip addr add 10.0.$i.$host/24 dev eth$i
		ip link set eth$i mtu 9000 up
	done
	_rdma_link rxe0 rxe eth0
	! have_siw || _rdma_link siw0 siw eth1
}

pair_switch() {
	local i

	pair_modules
	lab_modprobe bridge
	ip link add br0 type bridge
	for i in 0 1; do
		ip link set eth$i mtu 9000 master br0 up
	done
	ip link set br0 up
	for i; do
		ip addr add "$i/24" dev br0
	done
	_rdma_link rxe0 rxe br0
}

pair_disk() {
	lab_modprobe virtio_blk ext4
	mkdir -p /var/disk /var/lib/nfs/nfsdcld
	mount -t ext4 /dev/vda /var/disk || lab_die "the disk cannot be mounted"
	mkdir -p /var/disk/export /var/disk/nfsdcld
	chmod 1777 /var/disk/export
	mount --bind /var/disk/export /export
	mount --bind /var/disk/nfsdcld /var/lib/nfs/nfsdcld
}

# The queueing discipline stays the same: see "rxe and a link that is down" in
# Documentation/devices.md.
declare -A CABLE=([rxe]=eth0 [siw]=eth1)

cable_ready() {
	lab_modprobe sch_netem sch_ingress cls_matchall act_gact
	tc qdisc add dev "${CABLE[$1]-$1}" root netem loss 0%
	tc qdisc add dev "${CABLE[$1]-$1}" clsact
}

cable_cut() {
	tc filter add dev "${CABLE[$1]-$1}" ingress matchall action drop
	tc qdisc change dev "${CABLE[$1]-$1}" root netem loss 100%
}

cable_mend() {
	tc filter del dev "${CABLE[$1]-$1}" ingress
	tc qdisc change dev "${CABLE[$1]-$1}" root netem loss 0%
}

# The grace period ends when the clients have reclaimed what they had, or when a slow
# guest has had more than enough time. NFSv3 clients have no locks here.
nfsd_with_grace() {
	echo 90 > $NFSD/nfsv4leasetime
	echo 600 > $NFSD/nfsv4gracetime
	echo 8 > $NFSD/threads
	echo Y > /proc/fs/lockd/nlm_end_grace
}

pair_listening() { : > $PAIR/listening; }

pair_serve() {
	until [ -e $PAIR/stop ]; do
		"$@"
		lab_pause 0.2
	done
}

_obeyed() { [ ! -e $PAIR/ask ]; }

_ask() {
	echo "$1" > $PAIR/ask.new
	mv $PAIR/ask.new $PAIR/ask
	lab_wait 20 _obeyed || lab_die "$1 was not obeyed"
}

# A second device shows less, and takes as long.
pair_levels() { # DEV
	[ "$1" = rxe ] && echo all || echo must
}

# Can the stock client be used between guests over it? That client sends one message
# and waits: see "siw does not notice the first message" in
# Documentation/devices.md.
pair_stock() { [ "$1" != siw ]; } # DEV

power_off() { _ask power_off; }
power_on() { _ask power_on; }
listening() { [ -e $PAIR/listening ]; }
