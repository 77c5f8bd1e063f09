# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Python and fio, which are not in the guest: User-Mode Linux has those of the machine on
# which the guest runs. Below HOST, between host_up and host_down, /lab is /mnt.

HOST=/run/host

have_host() { [ "$lab_share" = hostfs ]; }

host_up() { mount --bind /lab $HOST/mnt; }

host_down() { umount $HOST/mnt; }

# A program of that machine, on files of the guest
host_run() {
	local lib

	lib=$HOST/usr/lib/$(uname -m)-linux-gnu
	LD_LIBRARY_PATH=$lib:$lib/ceph "$HOST/usr/bin/$1" "${@:2}"
}
