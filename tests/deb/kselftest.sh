#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Runs in the guest of tests/deb/check-kselftest, as a unit of its systemd. What each
# run of the collection said goes to a file in /root/results; /root/tests has what
# is to be run.
export PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C KSFT_MACHINE_SLOW=y

out=/root/results
mkdir $out
cd /opt/kselftest || exit

# run NAME OPTION...
run() { ./run_kselftest.sh "${@:2}" 2>&1 < /dev/null | cat > "$out/$1"; }

first() { run "$1" -t net/rpcrdma2:lab-first.sh; }

# All that tests might leave
state() {
	local f

	lsmod | awk 'NR > 1 { print "module", $1 }' | sort
	for f in /proc/fs/nfsd/{threads,portlist,nfsv4leasetime,nfsv4gracetime} \
			/proc/sys/net/ipv6/conf/default/accept_dad; do
		echo "$f: $(cat $f 2>&1)"
	done
	cat /proc/mounts
	ip -o link | sed 's/^[0-9]*: //'
	ip -o addr | awk '{ print $2, $4 }'
	rdma link
	ip netns
	losetup -a
	exportfs -v
	find /tmp /run/modprobe.d /var/lib/nfs /export /lab /out \
		! -path '/tmp/systemd-private*' 2>&1 | sort
	pgrep -lx 'rpcbind|rpc\..*|nfsdcld|nfsd' | awk '{ print $2 }' | sort
}

first server
systemctl stop nfs-server nfsdcld
# Its own pipe, which it may open
setpriv --reuid=65534 --regid=65534 --clear-groups bash -c \
	'sh ./run_kselftest.sh -t net/rpcrdma2:lab-first.sh 2>&1 | cat' > $out/user
# The first device makes udev load modules which then stay.
first first
state > $out/before
run all $(sed 's/^/-t /' /root/tests)
run fails -t net/rpcrdma2:fails.sh
net/rpcrdma2/ksft_runner.sh hangs.sh >> $out/hangs 2>&1 < /dev/null &
until grep '^ok 1 mounted' $out/hangs || ! kill -0 $!; do
	sleep 1
done
kill $!
wait $!
echo "status $?" >> $out/hangs
# What failed leaves its logs.
rm -r /tmp/rpcrdma2-selftest.*
state > $out/after
dmesg > $out/dmesg
journalctl -b > $out/journal
touch $out/end
sync
systemctl poweroff
