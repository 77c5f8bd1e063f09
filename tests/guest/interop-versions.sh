#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Every client with every server: this module in version 2, this module held
# to version 1, the stock transport; NFS versions 3, 4.1 and 4.2; both devices.
# Each client writes files that the server and the next client check, over the
# same or another transport, and checks what the server and the client before
# it wrote, every byte. What the two ends settled on is asserted from their
# counters.
#
# One mount at a time, except where both kinds of clients share one listener:
# one NFSv4 client has one transport.
#
# timeout: 150
# flavours: uml-debug qemu
# covers: VER-9,VER-10,VER-11,VER-19,VER-22,VER-24,V1-1,V1-8,V1-12,V1-15,V1-16
# covers: CM-2,CM-12,CM-14
. /lab/lib/lab.sh

NUMBER=0	# of the combination, and what its files are made of

if lab_is uml; then
	SIZES="0 1 1023 1024 4000 4096 4097 16000 16384 65537 1048577"
else
	SIZES="0 1023 4097 16384 1048577"
fi

# What both ends must say, "-" where the stock transport is that end:
# version/reason of the client and of the server.
declare -A SETTLED=(
	[v2.ours]="2/1 2/1"	# CONNPROP answered
	[v2.stock]="1/3 -"	# ERR_VERS, goes on as version 1
	[v1.ours]="1/9 1/2"	# the administrator's will; first Call
	[v1.stock]="1/9 -"
	[stock.ours]="- 1/2"
	[stock.stock]="- -"
)

# attach CLIENT SERVER DEV VERS [DIR]
attach() {
	local dev=$3 port=20049

	[ "$2" = ours ] || port=20050
	# A slow guest is not a silent server.
	echo 15000 > $PARAMETERS/negotiate_ms
	case $1 in
	v2) by_default client versions both ;;
	v1) by_default client versions v1 ;;
	stock) dev+=-v1 ;;
	esac
	mount_nfs "$dev" "$4" "port=$port" "${5:-/mnt}"
}

detach() {
	umount_nfs
	lab_wait 20 no_connection
}

end() { # ROLE
	if [ -n "${NOW[$1.version]-}" ]; then
		echo "${NOW[$1.version]}/${NOW[$1.version_reason]}"
	else
		echo -
	fi
}

# Version 1 on our client is counted, and the thresholds are those of the
# peer's private data, not version 1's default of 1024.
settled() { # CLIENT SERVER
	local want=${SETTLED[$1.$2]} ends

	look
	ends="$(end client) $(end server)"
	[ "$ends" = "$want" ]
	case $want in
	2/*) [ "${NOW[client.fallbacks]}" = 0 ] ;;
	1/*) [ "${NOW[client.fallbacks]}" = 1 ] ;;
	esac
	case $1.$2 in
	v?.*)
		[ "${NOW[client.inline_send]}" -ge 4096 ]
		[ "${NOW[client.inline_recv]}" -ge 4096 ]
		;;&
	*.ours)
		[ "${NOW[server.inline_send]}" -ge 4096 ]
		[ "${NOW[server.inline_recv]}" -ge 4096 ]
		;;
	esac
}

# put DIR, get DIR [NUMBER]: files that are made of the combination's number,
# over those of the one before.
# shellcheck disable=SC2086 # a list
put() { iocheck put -s $NUMBER "$1" $SIZES; }
# shellcheck disable=SC2086 # a list
get() { iocheck get -s "${2:-$NUMBER}" "$1" $SIZES; }

exchange() { # CLIENT SERVER DEV VERS
	local last=$((NUMBER - 1))

	put /export/server
	attach "$@"
	get /mnt/server
	[ $last = 0 ] || get /mnt/client $last
	put /mnt/client
	settled "$1" "$2"
	detach
	get /export/client
}

# case_of NAME CMD...: what a failure leaves must not fail the next one.
case_of() {
	local failed=$KTAP_FAILED dir

	ktap_run "$@"
	[ "$KTAP_FAILED" != "$failed" ] || return 0
	nfs_mounts | while read -r dir; do
		umount "$dir"
	done
}

combination() { # CLIENT SERVER DEV VERS
	NUMBER=$((NUMBER + 1))
	case_of "$3 NFSv$4, client $1, server $2" exchange "$@"
}

# One listener, clients of both versions at once.
share() { # DEV VERS VERS-OF-STOCK
	attach v2 ours "$1" "$2"
	attach stock ours "$1" "$3" $SECOND
	put /mnt/server
	put $SECOND/client
	look
	[ "$(connections client) $(connections server)" = "1 2" ]
	[ "${NOW[client.version]} ${NOW[server.version]}" = "2 3" ]
	get /mnt/client
	get $SECOND/server
	umount_nfs $SECOND
	get /mnt/client
	detach
	get /export/client
	get /export/server
}

shared() { # DEV VERS VERS-OF-STOCK
	NUMBER=$((NUMBER + 1))
	case_of "$1 one port, NFSv$2 in version 2 and NFSv$3 in version 1" \
		share "$@"
}

have_rdma2 || ktap_skip_all "there is no rpcrdma2"
lab_all
mkdir -m 1777 /export/{client,server}
for dev in $(lab_devices); do
	for vers in 3 4.1 4.2; do
		# Slow: one of the three for each device.
		if lab_is uml-debug; then
			case $dev.$vers in rxe.4.2 | siw.3) ;; *) continue ;; esac
		fi
		for server in ours stock; do
			for client in v2 v1 stock; do
				combination $client $server "$dev" $vers
			done
		done
	done
	may_stall "$dev" || shared "$dev" 4.2 4.1
done
lab_is uml-debug || shared rxe 3 3
