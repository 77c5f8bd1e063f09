#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# All cases of level must, as others run them, against an implementation that is
# unlike ours and as good: see tools/conform/check. From the kernel's command
# line:
#
#	lab_conform_module=NAME=VALUE,...	parameters of rpcrdma2
#	lab_conform_policy=ROLE:NAME=VALUE,...	its policy of all peers
#	lab_conform_server=OPTION,...	more options of the kit against its server
#
# timeout: 600
. /lab/lib/lab.sh
. /lab/lib/raw.sh

have_rdma2 || lab_die "no rpcrdma2"
lab_all
for set in negotiate_ms=15000 ${lab_conform_module//,/ }; do
	echo "${set#*=}" > "/sys/module/rpcrdma2/parameters/${set%%=*}" ||
		lab_die "no parameter $set"
	ktap_diag "$set"
done
for set in ${lab_conform_policy//,/ }; do
	name=${set#*:}
	by_default "${set%%:*}" "${name%%=*}" "${name#*=}" ||
		lab_die "no policy $set"
	ktap_diag "$set"
done

addr=$(lab_addr rxe)
mkdir -m 1777 /export/scratch
# shellcheck disable=SC2086 # words
raw_run server server "$addr" --level must --export /scratch --scale "$lab_scale" \
	--text "$LAB_OUT/server.txt" --json "$LAB_OUT/server.json" \
	--html "$LAB_OUT/server.html" ${lab_conform_server//,/ }
raw_run client client "$addr" --level must --here --port 21000 \
	--mount-options rdmaver=2 --scale "$lab_scale"
