# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Second stage of the guest's init: one-time set-up of the guest, then the
# tests, then power off.

# The result channel is a serial line of its own: what the kernel prints on
# the console never mixes with it.
chan=/dev/$lab_chan
stty -F "$chan" raw -echo 2> /dev/null
exec 8> "$chan"
export LAB_CHANNEL=8

if [ "$lab_share" = hostfs ]; then
	mount -t hostfs -o "$lab_out" none /out
	mount -t hostfs -o "$lab_queue" none /queue
else
	# Older kernels do not load it by itself.
	modprobe -q virtio_pci
	modprobe -q 9pnet_virtio
	modprobe -q 9p
	mount -t 9p -o trans=virtio,version=9p2000.L,msize=131072 out /out
	mount -t 9p -o trans=virtio,version=9p2000.L queue /queue
fi
mount -t debugfs debugfs /sys/kernel/debug
mount -t tracefs tracefs /sys/kernel/tracing 2> /dev/null
ln -s /proc/self/fd /dev/fd
mkdir -p /dev/pts /dev/shm /var/lib/nfs /var/log /run/lock
mount -t devpts devpts /dev/pts 2> /dev/null
mount -t tmpfs shm /dev/shm
ln -sfn /run /var/run
# For host.sh. Not unmounted before the guest ends: Linux 6.12 leaks the name then.
[ "$lab_share" != hostfs ] ||
	{ mkdir /run/host && mount -r -t hostfs -o / host /run/host; }
hostname lab
echo 1 > /proc/sys/kernel/sysrq
# A page fault costs User-Mode Linux much, pages that follow each other little.
[ "$lab_share" != hostfs ] ||
	echo 1048576 > /sys/kernel/debug/fault_around_bytes
# It has not watched the kernel boot, which would take minutes.
[ ! -e /sys/kernel/debug/kcsan ] || echo on > /sys/kernel/debug/kcsan
# A test that hangs is found by its own time limit.
[ ! -e /proc/sys/kernel/hung_task_timeout_secs ] ||
	echo "${lab_hung:-120}" > /proc/sys/kernel/hung_task_timeout_secs

# nfsd takes a client that came in the first second after boot for expired.
read -r uptime _ < /proc/uptime
[ "${uptime%.*}" != 0 ] || sleep 1

if [ -n "${lab_shell-}" ]; then
	tty=/dev/tty0
	[ "$lab_share" = hostfs ] || tty=/dev/ttyS0
	# A terminal of its own, for Ctrl-C and job control.
	setsid -c -w /bin/bash --rcfile /lab/lib/lab.sh -i < $tty > $tty 2>&1
else
	/bin/bash /lab/lib/driver.sh
fi
dmesg > /out/dmesg 2> /dev/null
# Which lines have run, if the modules count them
[ -z "$(find /sys/kernel/debug/gcov -name '*.gcda' 2> /dev/null)" ] ||
	cp -r /sys/kernel/debug/gcov /out/gcov
echo "LAB-END" >&8
sync
poweroff -f
