# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Python, which is not in the guest: User-Mode Linux has that of the machine on which the
# guest runs. Below HOST, between host_up and host_down, /lab is /mnt.

HOST=/run/host

have_host() { [ "$lab_share" = hostfs ]; }

host_up() { mount --bind /lab $HOST/mnt; }

host_down() { umount $HOST/mnt; }
