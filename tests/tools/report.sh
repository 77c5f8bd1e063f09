# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Sourced by check: rpcrdma2 report. What a guest has besides, such as connections, is
# in tests/guest/tool-doctor.sh.

# A machine with as many kinds of names as there are
named_machine() {
	put /proc/sys/kernel/hostname "payroll.corp.example"
	put /etc/hosts <<-'END'
	127.0.0.1 localhost
	192.0.2.7 payroll.corp.example payroll
	2001:db8::7 vault.corp.example # the filer
	END
	put /etc/fstab <<-'END'
	vault:/secret/plans /home/alice nfs proto=rdma,vers=4.2 0 0
	[2001:db8::7]:/ /usr/share/bob nfs4 rw 0 0
	UUID=1234 / ext4 rw 0 0
	END
	put /proc/self/mounts <<-'END'
	vault:/secret/plans /home/alice nfs4 rw,vers=4.2,proto=rdma,clientaddr=192.0.2.7,addr=192.0.2.8 0 0
	END
	put /proc/self/mountinfo <<-'END'
	22 1 0:20 / /proc rw - proc proc rw
	40 1 0:50 / /home/alice rw - nfs4 vault:/secret/plans rw,addr=192.0.2.8,clientaddr=192.0.2.7
	END
	put /proc/self/mountstats <<-'END'
	device vault:/secret/plans mounted on /home/alice with fstype nfs4 statvers=1.1
		xprt:	rdma 0 0 1 0 0 4 4 0 4 0 0 0
	END
	put "/boot/config-$kver" <<-'END'
	CONFIG_SUNRPC=m
	CONFIG_SECRET_DRIVER=m
	END
	put /sys/module/rpcrdma2/parameters/negotiate_ms 2000
	put /proc/fs/nfsd/portlist "rdma2 20049"
	program dmesg <<-'END'
	cat <<-'MESSAGES'
	[    1.000001] Command line: root=/dev/sda1
	[   12.345678] rpcrdma2: 192.0.2.8:20049: version 1, ERR_VERS (reason 3)
	[   13.345678] rpcrdma2: [2001:db8::7]:20049: connection lost, gone: x (-5)
	[   14.345678] rpcrdma2: server attic takes chunks of at most 4 segments
	[   15.345678] rpcrdma2: cellar.corp.example:20049 speaks version 2
	[   16.345678] NFS: mounting /home/carol/music from 192.0.2.9.78.81
	[   16.345679] nfs: server does not do that
	[   16.345680] nfs: server loft not responding, still trying
	[   17.345678] usb 1-1: unrelated
	MESSAGES
	END
	program ip <<-'END'
	echo "2: eth0: link/ether 02:00:5e:10:00:01 inet 192.0.2.7/24 inet6 fe80::5eff:fe10:1/64"
	END
	program rdma <<-'END'
	echo "1: mlx5_0: node_guid 0200:5eff:fe10:0001 sys_image_guid 0200:5eff:fe10:0002"
	END
}

SECRETS='192\.0\.2|2001:db8|fe80|02:00:5e|5eff|payroll|corp|vault|attic|loft|cellar|secret|plans|alice|bob|carol|music'

unpack() { # FILE
	rm -rf "$tmp/rpcrdma2-report"
	tar -C "$tmp" -xzf "$1"
	R=$tmp/rpcrdma2-report
}

report_has_it() {
	named_machine
	[ "$(rpcrdma2 report "$tmp/a.tar.gz")" = "$tmp/a.tar.gz" ]
	[ "$(stat -c %a "$tmp/a.tar.gz")" = 600 ]
	unpack "$tmp/a.tar.gz"
	grep "^Linux $kver " "$R/kernel"
	grep '"negotiate_ms": "2000"' "$R/parameters.json"
	grep "/secret/plans" "$R/mountinfo"
	never grep "^22 " "$R/mountinfo"
	grep "vault:/secret/plans /home/alice nfs" "$R/fstab"
	never grep ext4 "$R/fstab"
	[ "$(wc -l < "$R/dmesg")" = 7 ]
	grep "^CONFIG_SUNRPC=m" "$R/kernel-config"
	never grep SECRET_DRIVER "$R/kernel-config"
	grep "xprt:" "$R/mountstats"
	grep "rdma2 20049" "$R/portlist"
	grep '"id":' "$R/doctor.json"
}

report_tells_no_names() {
	named_machine
	rpcrdma2 report --anonymize "$tmp/b.tar.gz"
	unpack "$tmp/b.tar.gz"
	never grep -rEi "$SECRETS" "$R"
	# What is no name is still there.
	grep "reason 3" "$R/dmesg"
	grep "server does not do that" "$R/dmesg"
	grep "^\[   12.345678\] rpcrdma2: " "$R/dmesg"
	grep "^Linux $kver " "$R/kernel"
	grep "proto=rdma,vers=4.2" "$R/fstab"
	grep "xprt:.*rdma 0 0 1 0 0 4 4 0 4 0 0 0" "$R/mountstats"
}

# The same is called the same everywhere.
report_is_consistent() {
	local name

	named_machine
	rpcrdma2 report --anonymize "$tmp/c.tar.gz"
	unpack "$tmp/c.tar.gz"
	name=$(sed -n 's/.* nfs4 \(.*\) rw,addr=.*/\1/p' "$R/mountinfo")
	[[ $name =~ ^host-[0-9]+:/path-[0-9]+$ ]]
	grep "^$name /path-" "$R/fstab"
	grep "^device $name mounted on /path-" "$R/mountstats"
	name=$(sed -n 's/.*,addr=\(addr-[0-9]*\),.*/\1/p' "$R/mountinfo")
	grep "rpcrdma2: $name:20049: version 1" "$R/dmesg"
	name=$(sed -n 's/.*clientaddr=\(addr-[0-9]*\).*/\1/p' "$R/mountinfo")
	grep "inet $name/24" "$R/ip-addr"
}

report_leaves_nothing() {
	local before

	before=$(find /tmp -maxdepth 1 -name 'rpcrdma2.??????' | wc -l)
	named_machine
	[ "$(status rpcrdma2 report "$tmp/none/there.tar.gz")" = 2 ]
	[ "$(status rpcrdma2 report --nonsense)" = 2 ]
	[ "$(find /tmp -maxdepth 1 -name 'rpcrdma2.??????' | wc -l)" = "$before" ]
}

check_report() {
	check "report has what is asked for" report_has_it
	check "report --anonymize has no names" report_tells_no_names
	check "report --anonymize calls the same the same" report_is_consistent
	check "report that cannot be written" report_leaves_nothing
}
