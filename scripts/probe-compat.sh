#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Finds out by compiling what the kernel in KDIR offers, for
# net/sunrpc/xprtrdma2/compat.h. The result is written only when it changed,
# so that nothing is rebuilt in vain.
#
# usage: scripts/probe-compat.sh KDIR HEADER [MAKE-ARGUMENT...]
set -euo pipefail

kdir=$1
header=$2
shift 2

# probe NAME: the program on standard input has to compile.
declare -a names=()
probe() {
	names+=("$1")
	cat > "$tmp/$1.c"
	echo "obj-m += $1.o" >> "$tmp/Kbuild"
}

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

# Backchannel Calls are queued on an lwq, and an idle thread is woken by name.
probe SV_CB_LWQ <<'EOF'
#include <linux/lwq.h>
#include <linux/sunrpc/svc.h>
#include <linux/sunrpc/xprt.h>
void probe(struct svc_serv *serv, struct rpc_rqst *rqst);
void probe(struct svc_serv *serv, struct rpc_rqst *rqst)
{
	lwq_enqueue(&rqst->rq_bc_list, &serv->sv_cb_list);
	svc_pool_wake_idle_thread(&serv->sv_pools[0]);
}
EOF

# Must always compile: tells a kernel that lacks something from one that
# nothing can be built for.
probe BASE <<'EOF'
#include <linux/sunrpc/svc.h>
#include <linux/sunrpc/xprt.h>
#include <rdma/rdma_cm.h>
#include <rdma/rw.h>
EOF

make -k -C "$kdir" M="$tmp" "$@" "${names[@]/%/.o}" > "$tmp/log" 2>&1 || true
if [ ! -f "$tmp/BASE.o" ]; then
	cat "$tmp/log" >&2
	echo "error: nothing can be built for the kernel in $kdir" >&2
	exit 1
fi
{
	echo "/* Written by scripts/probe-compat.sh. */"
	for n in "${names[@]}"; do
		[ "$n" = BASE ] || [ ! -f "$tmp/$n.o" ] || echo "#define COMPAT_HAVE_$n 1"
	done
} > "$tmp/header"
mkdir -p "$(dirname "$header")"
cmp -s "$tmp/header" "$header" || cp "$tmp/header" "$header"
