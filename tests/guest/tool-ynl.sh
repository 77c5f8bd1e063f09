#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A client of the netlink family that is not ours, the kernel's tools/net/ynl/cli.py,
# knows nothing but the specification, dumps connections by it and makes policy.
#
# flavours: uml
lab_replace=1
. /lab/lib/lab.sh
. /lab/lib/host.sh

# The schema is beside the directory of the specification. Unknown to this client is
# the padding of numbers of 64 bits, which this kernel has and those of real machines
# have not.
cli() {
	chroot $HOST ${WHO-} python3 /mnt/bin/ynl/cli.py --process-unknown \
		--spec /mnt/bin/ynl/specs/rpcrdma2.yaml --output-json "$@"
}

# read_json EXPRESSION...: of j, a line each
read_json() { chroot $HOST python3 -c '
import json, sys
j = json.load(sys.stdin)
for expression in sys.argv[1:]:
    print(eval(f"({expression})"))' "$@"; }

# refused TEXT CLI-ARGUMENTS...: it fails and says so
refused() {
	not cli "${@:2}" > $LAB_TMP/why 2>&1
	cat $LAB_TMP/why
	grep -qF -- "$1" $LAB_TMP/why
}

# It tells the same as our own command.
dumped() { # DEV
	local role name n=0

	nfs "$1" 4.2
	cli --dump conn-get > $LAB_TMP/dump
	[ "$(read_json 'len(j)' < $LAB_TMP/dump)" = 2 ]
	for role in client server; do
		for name in id state version device qp_number credits_asked \
			    send_queue_depth version_reason_text; do
			[ "$(said $role $name)" = "$(read_json "[c for c in j \
				if c['role'] == '$role'][0]['${name//_/-}']" \
				< $LAB_TMP/dump)" ]
			n=$((n + 1))
		done
		[ "$(read_json "[c for c in j if c['role'] == '$role'][0]
			['counters']['connects']" < $LAB_TMP/dump)" = 1 ]
	done
	[ $n = 16 ]
	cli --do conn-get --json "{\"id\": $(said client id)}" |
		read_json "j['role']" | grep -x client
	cli --do module-get --json '{"role": "server"}' |
		read_json "j['connections']" | grep -x 1
	leave
	[ "$(cli --dump conn-get)" = "[]" ]
}

# 10.0.0.1 is 167772161.
policy_made() { # DEV
	cli --do policy-set --json '{"role": "client", "addr4": 167772161,
		"port": 20049, "versions": "v2", "recv-size": 8192, "credits": 9}'
	cli --do policy-set --json '{"role": "server",
		"addr6": "fd000000000000000000000000000000", "prefix-length": 16,
		"remote-invalidation": "off"}'
	printf '%s\n' "client 10.0.0.1/32 port 20049 versions v2 recv_size 8192 credits 9" \
		"server fd00::/16 remote_invalidation off" > $LAB_TMP/wanted
	rpcrdma2 policy save | sort | diff $LAB_TMP/wanted -
	cli --dump policy-get > $LAB_TMP/dump
	[ "$(read_json 'len(j)' < $LAB_TMP/dump)" = 2 ]
	cli --do policy-get --json '{"role": "client", "addr4": 167772161,
		"port": 20049}' | read_json "j['credits'], j['versions'], j['addr4']" |
		grep -xF "(9, 'v2', '10.0.0.1')"
	nfs "$1" 4.2
	[ "$(said client rbsiz)" = "local 8192 peer 20480" ]
	leave
	cli --do policy-del --json '{"role": "client", "addr4": 167772161,
		"port": 20049}'
	[ "$(rpcrdma2 policy save)" = "$(tail -n 1 $LAB_TMP/wanted)" ]
	refused "No such file" --do policy-del --json '{"role": "client"}'
	rpcrdma2 policy load /dev/null
}

# Without looking at values: what it sends is what it was told.
nonsense() {
	refused "Numerical result out of range" --do policy-set \
		--json '{"role": "client", "recv-size": 100}'
	refused "a server has none" --do policy-set \
		--json '{"role": "server", "send-size": 4096}'
	refused "the entry has no settings" --do policy-set --json '{"role": "client"}'
	refused "Invalid argument" --do policy-set --json '{"credits": 9}'
	# By its path: without, busybox takes its own, and that from the wrong /proc.
	WHO="/usr/bin/setpriv --reuid 65534 --regid 65534 --clear-groups"
	refused "Operation not permitted" --do policy-set \
		--json '{"role": "client", "credits": 9}'
	[ "$(cli --dump conn-get)" = "[]" ]
	unset WHO
	[ -z "$(rpcrdma2 policy save)" ]
}

fs_start ours
host_up
ktap_run "dump" dumped rxe
ktap_run "policy" policy_made rxe
ktap_run "nonsense" nonsense
host_down
