#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# What programs that collect statistics are given to read: mountstats of NFSv3, of 4.2
# and with several connections, and the counters as Prometheus reads them. They are
# left in the run's directory, for tests/tools/collectors.
#
# flavours: uml
. /lab/lib/lab.sh

# Nothing of RDMA in a mount may look unlike the stock transport's.
columns() { # LINES
	[ "$(xprt_lines | wc -l)" = "$1" ]
	[ "$(xprt_lines | grep -cE $'^\txprt:\trdma( [0-9]+){27}$')" = "$1" ]
}

all_used() {
	echo "$RANDOM" > "/mnt/collectors/$RANDOM"
	[ "$(connections client)" = "$1" ]
}

capture() { # DEV VERS NAME CONNECTIONS [OPTS]
	mkdir -m 1777 /export/collectors
	nfs "$1" "$2" "${5-}"
	lab_wait 20 all_used "$4"
	columns "$4"
	cp /proc/self/mountstats "$KEEP/mountstats-$3"
	cp /proc/self/mountinfo "$KEEP/mountinfo-$3"
	rpcrdma2 stat --prometheus > "$KEEP/metrics-$3"
	rm -r /export/collectors
}

KEEP=/out/tool-collectors
fs_start ours ext4
ktap_run "NFSv3" capture rxe 3 3 1
ktap_run "NFSv4.2" capture rxe 4.2 4.2 1
ktap_run "nconnect=4" capture rxe 3 nconnect 4 nconnect=4
