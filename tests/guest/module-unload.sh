#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The module stays while somebody uses it and goes when nobody does.
#
# kselftest
# timeout: 120
# flavours: uml-debug qemu-debug
. /lab/lib/lab.sh

if ours; then MODULE=rpcrdma2; else MODULE=rpcrdma; fi

refused() {
	[ "$(< /sys/module/$MODULE/refcnt)" -gt 0 ]
	if rmmod $MODULE; then return 1; fi
	[ -e /sys/module/$MODULE ]
}

unload() {
	lab_wait 20 rmmod $MODULE
	[ ! -e /sys/module/$MODULE ]
	! ours || no_family
}

start_server() {
	lab_server
	fs_listen
}

in_use() { # DEV VERS
	scratch unload
	start_server
	nfs "$1" "$2"
	iocheck write -t -d -s 1 -l 100001 "$D/f"
	refused
	iocheck check -e -d -s 1 -l 100001 "$D/f"
	umount_nfs
	# The listener uses it too.
	refused
	stop_server
	unload
}

# One client and one server less at a time.
two_mounts() { # DEV VERS
	scratch two
	start_server
	nfs "$1" "$2"
	second "$1" "$2"
	iocheck write -t -s 1 -l 100001 "$D/f"
	umount_nfs $SECOND
	refused
	iocheck check -e -d -s 1 -l 100001 "$D/f"
	umount_nfs
	stop_server
	unload
}

# With no mount and no listener, however often.
again_and_again() {
	local i

	for ((i = 0; i < 10; i++)); do
		modprobe $MODULE
		unload
	done
}

# Of all that is allocated when the module is loaded, one piece after the other is not
# there: either it is not loaded, or it can do without.
no_memory() {
	local space=0 loaded=0 refused=0

	fault_in do_one_initcall $FAIL_SLAB ignore-gfp-wait=N times=0
	while echo $space > $FAIL_SLAB/space; echo 1 > $FAIL_SLAB/times; do
		if modprobe $MODULE; then
			loaded=$((loaded + 1))
			fault_spent $FAIL_SLAB || break
			unload
			# Most are files of debugfs
			space=$((space + 4000))
		else
			refused=$((refused + 1))
			[ ! -e /sys/module/$MODULE ]
			no_family
			space=$((space + 1000))
		fi
	done
	no_fault $FAIL_SLAB
	echo "$space bytes; not loaded $refused times, loaded $loaded times"
	# Of one workqueue after the other
	[ $refused -ge 10 ]
	in_use rxe 3
}

# The thread that polls takes the priority that an administrator gives it.
priority() {
	local nice=/sys/devices/virtual/workqueue/rpcrdma2_poll/nice

	modprobe $MODULE
	[ "$(cat $nice)" = 0 ]
	echo -10 > $nice
	[ "$(cat $nice)" = -10 ]
	unload
}

lab_net
lab_server
stop_server
for_versions "3 4.1 4.2" in_use "in use"
for_versions "4.2" two_mounts "two mounts"
ktap_run "load and unload" again_and_again
! ours || [ ! -e $FAIL_SLAB ] || ktap_run "no memory when it is loaded" no_memory
ktap_run "priority of completions" priority
