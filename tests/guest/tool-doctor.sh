#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# rpcrdma2 doctor, report and unload with a real kernel, device, server and mounts.
# Troubles that a guest cannot have are made up in tests/tools.
#
# timeout: 90
. /lab/lib/lab.sh

# What a guest has always: it knows no packages, and is not configured.
doctor() { rpcrdma2 doctor > $LAB_TMP/printed || [ $? = 1 ]; cat $LAB_TMP/printed; }
says() { doctor; grep -E "^$1: .*: .*; ." $LAB_TMP/printed; }
says_nothing_of() { doctor; not grep "^$1: " $LAB_TMP/printed; }

healthy() { # DEV
	local what

	nfs "$1" 4.2
	for what in device-missing no-frwr fallback not-loaded \
			mount-on-tcp module-old; do
		says_nothing_of $what
	done
}

# Why is what the kernel says.
fallback() { # DEV
	lab_listen rdma 20050
	mount_nfs "$1" 4.2 port=20050
	says "fallback"
	grep "^fallback: connection [0-9]* with .*:20050 speaks version 1: .*ERR_VERS" \
		$LAB_TMP/printed
	leave
	says_nothing_of fallback
}

_status_has() { [ "$(status rpcrdma2 status)" = "$1" ] && grep -qE "$2" $LAB_TMP/printed; }

# A mount that has lost its connection and needs none
idle() { # DEV
	local addr

	addr=$(lab_addr "$1")
	nfs "$1" 3
	[ "$(status rpcrdma2 status)" = 0 ]
	not grep idle $LAB_TMP/printed
	grep -E "^- +server .* listening .* rdma2 20049$" $LAB_TMP/printed
	rpcrdma2 reconnect "$(id client)"
	lab_wait 20 _status_has 4 "^- +client $addr:20049 .* idle .* /mnt$"
	rpcrdma2 --json status | grep '"state": "idle"'
	says_nothing_of connecting
	leave
	not _status_has 4 " /mnt$"
}

_says_connecting() { says connecting | grep "with $1:"; }

# The server of a mount is gone.
hanging() { # DEV
	local addr pid

	addr=$(lab_addr "$1")
	nfs "$1" 4.2
	stop_server
	stat -f /mnt &
	pid=$!
	lab_wait 30 _says_connecting "$addr"
	lab_wait 30 _status_has 1 "^- +client $addr:20049 .* connecting .* /mnt$"
	start_server
	wait $pid
	lab_wait 20 _status_has 0 " client .* ready "
	says_nothing_of connecting
}

# The stock client lets the second mount share the first one's connection. If they are
# of one file system, it shares all: only fstab knows what was asked for.
on_tcp() { # DEV
	local addr opts

	addr=$(lab_addr "$1")
	mkdir -p $SECOND /export/sub
	mount -t nfs -o vers=4.2,proto=tcp "$addr:/" $SECOND
	says_nothing_of mount-on-tcp
	for opts in "" nosharecache; do
		opts=vers=4.2,proto=rdma,port=20049${opts:+,$opts}
		[[ $opts = *nosharecache ]] ||
			echo "$addr:/sub /mnt nfs $opts 0 0" > /etc/fstab
		mount -t nfs -o "$opts" "$addr:/sub" /mnt
		grep " /mnt nfs4 .*proto=tcp" /proc/mounts
		says mount-on-tcp
		grep "^mount-on-tcp: .* on /mnt goes over TCP" $LAB_TMP/printed
		[ "$(grep -c ^mount-on-tcp: $LAB_TMP/printed)" = 1 ]
		umount /mnt
		rm -f /etc/fstab
	done
	umount $SECOND
	rmdir /export/sub
}

# Of the listener and a mount, each is named; the module stays.
held() { # DEV
	nfs "$1" 4.2
	[ "$(status rpcrdma2 unload)" = 1 ]
	cat $LAB_TMP/printed
	grep "^listener: rdma2 20049 " $LAB_TMP/printed
	grep "^mount: $(lab_addr "$1"):/ on /mnt" $LAB_TMP/printed
	grep "^connection: .* on device ${1}0" $LAB_TMP/printed
	leave
	[ "$(status rpcrdma2 unload)" = 1 ]
	[ "$(grep -v "^listener: " $LAB_TMP/printed)" = "" ]
	[ -e /sys/module/rpcrdma2 ]
}

# A mount of another mount namespace
held_elsewhere() { # DEV
	unshare --mount bash -c '. /lab/lib/lab.sh
		nfs "$1" 4.2; touch $LAB_TMP/there; sleep 100' - "$1" &
	OTHER=$!
	lab_wait 20 test -e $LAB_TMP/there
	not grep " /mnt nfs" /proc/mounts
	[ "$(status rpcrdma2 unload)" = 1 ]
	grep "^mount: .* on /mnt" $LAB_TMP/printed
	pkill -P $OTHER
	wait $OTHER || true
	none_left
}

# What a report has of a kernel that runs, and no names in it if so asked
report() { # DEV
	local R=$LAB_TMP/rpcrdma2-report addr o=vers=4.2,proto=rdma,port=20049

	[ -n "${lab_replace-}" ] || o+=,rdmaver=2
	addr=$(lab_addr "$1")
	echo "$addr payroll.corp.example" > /etc/hosts.new
	cat /etc/hosts >> /etc/hosts.new
	cp /etc/hosts $LAB_TMP/hosts
	cp /etc/hosts.new /etc/hosts
	mkdir -p /mnt/alice /export/plans
	mount -t nfs -o $o payroll.corp.example:/plans /mnt/alice
	rpcrdma2 report $LAB_TMP/r.tar.gz
	tar -C $LAB_TMP -xzf $LAB_TMP/r.tar.gz
	ls $R
	grep '"role": "client"' $R/show.json
	grep '"connects"' $R/stat.json
	grep '"negotiate_ms"' $R/parameters.json
	grep "$addr" $R/show.json
	grep "alice .*payroll" $R/mountinfo
	grep "MEM_MGT" $R/rdma-dev
	rm -r $R
	rpcrdma2 report --anonymize $LAB_TMP/r.tar.gz
	tar -C $LAB_TMP -xzf $LAB_TMP/r.tar.gz
	grep '"role": "client"' $R/show.json
	grep '"peer_address": "addr-[0-9]*:20049"' $R/show.json
	not grep -rE "payroll|corp|alice|plans|10\.0\.[01]\.|fd00:" $R
	# Every address that the guest has
	ip -br addr | grep -oE '[0-9a-f.:]+/[0-9]+' | sed 's,/.*,,' |
		grep -vE '^(127\.|::1$)' > $LAB_TMP/addresses
	not grep -rFf $LAB_TMP/addresses $R
	umount /mnt/alice
	cp $LAB_TMP/hosts /etc/hosts
	rmdir /mnt/alice /export/plans
	none_left
}

unloaded() {
	stop_server
	[ "$(status rpcrdma2 unload)" = 0 ]
	[ ! -e /sys/module/rpcrdma2 ]
	[ "$(status rpcrdma2 unload)" = 3 ]
	# Nobody has installed it: the run has the only file.
	says not-loaded
}

no_device() {
	lab_net_down
	says device-missing
}

fs_start ours ext4
dev=rxe
ktap_run "nothing is wrong" healthy $dev
if [ -n "${lab_replace-}" ]; then
	ktap_skip "fallback" "the stock transport is not there"
else
	ktap_run "fallback" fallback $dev
fi
ktap_run "an idle mount" idle $dev
ktap_run "a mount that hangs" hanging $dev
ktap_run "a mount that rides on TCP" on_tcp $dev
ktap_run "who holds the module" held $dev
ktap_run "who holds it in another namespace" held_elsewhere $dev
ktap_run "report" report $dev
ktap_run "unload" unloaded
ktap_run "no device" no_device
