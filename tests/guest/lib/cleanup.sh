# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Takes down whatever a test left. The driver runs it after every test; what
# can't be taken down fails the test.

. /lab/lib/lab.sh
trap - EXIT
unset KTAP_CHANNEL
rc=0
complain() { echo "$*"; rc=1; }

# Processes that may be ours: in a guest, all
candidates() {
	if [ -n "${LAB_CGROUP-}" ]; then
		cat "$LAB_CGROUP/cgroup.procs"
	else
		(cd /proc && printf '%s\n' [0-9]*)
	fi
}

# Processes that got away from the test's session; they may sit on a mount. In a guest a
# program takes ten times as long as all of this.
kill_strays() {
	local pid stat comm ppid

	for pid in $(candidates); do
		# A kernel thread has none.
		[ "$pid" != $$ ] && [ -e "/proc/$pid/exe" ] || continue
		read -r stat < "/proc/$pid/stat" || continue
		comm=${stat#*\(} comm=${comm%)*}
		read -r _ ppid _ <<< "${stat##*) }"
		# Not init, the driver and its timer, the servers, ourselves.
		if [ "$pid" != 1 ] && [ "$pid" != "$LAB_DRIVER" ] &&
		   [ "$ppid" != "$LAB_DRIVER" ] && [ "$ppid" != $$ ] &&
		   [[ " ${DAEMONS[*]} " != *" $comm "* ]]; then
			kill -KILL "$pid"
		fi
	done 2> /dev/null
}

kill_strays
# What cannot be taken away shows below.
awk '$1 ~ "^/mnt/" { print $1 }' /proc/swaps | xargs -r swapoff
for dir in $(nfs_mounts); do
	umount "$dir" || complain "cannot unmount $dir"
done
lab_server_down || complain "the server cannot be stopped"
for m in rpcrdma2_gpu rpcrdma2_nvfs; do
	[ ! -e /sys/module/$m ] || rmmod $m || complain "$m cannot be unloaded"
done
unload_rpcrdma2 || complain "rpcrdma2 cannot be unloaded: $(cat /sys/module/rpcrdma2/refcnt) references"
[ ! -e /sys/module/rpcrdma ] || lab_wait 20 rmmod rpcrdma || complain "rpcrdma cannot be unloaded"
lab_net_down || complain "the network cannot be taken down"
exit "$rc"
