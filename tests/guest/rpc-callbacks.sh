#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A recall arrives while another mount's callback service goes away (F-9). The
# conformance kit calls a service that goes away itself, or is not there yet. A real
# server would bring out a fault of the NFS client there, on any transport:
# a callback that drops the last reference to its client waits for itself.
#
# flavours: uml-debug qemu-debug
. /lab/lib/lab.sh

# Two mounts of different minor versions have a callback service each.
other_goes_on() { # DEV VERS
	local mine PIDS=()

	scratch other
	second "$1" "$2"
	nfs "$1" "$2"
	get_delegation r
	mine=$DELEG
	launch 1 umount_nfs $SECOND
	launch 1 timeout 60 bash -c ": >> $E/$mine"
	wait_all "${PIDS[@]}"
	drop_delegation_file
	# And the service that is left still works.
	delegation_returns
}

fs_start
for_versions "4.1 4.2" other_goes_on "recall while another mount goes (F-9)"
