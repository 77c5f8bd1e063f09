#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Finds out by compiling what the kernel in KDIR is, for
# net/sunrpc/xprtrdma2/compat.h. Each probe has two programs: one that only the
# newer way compiles, one that only the older way does. If neither does, the
# kernel is one that this module does not know, and nothing is built: many of
# these differences compile and then corrupt memory, so there is no default. For
# the same reason no probe takes something's absence for an answer; where a
# thing is gone a program asserts what is in its place.
#
# HEADER is written only when it changed, so that nothing is rebuilt in vain.
#
# usage: scripts/probe-compat.sh KDIR HEADER [MAKE-ARGUMENT...]
#        scripts/probe-compat.sh --list
set -euo pipefail

# probe NAME: what is asked. The two programs come on standard input, the newer
# way first, with a line "---" between them.
declare -a names=()
declare -A asks=()
probe() {
	names+=("$1")
	asks[$1]=$2
	awk -v new="$tmp/$1.new" -v old="$tmp/$1.old" \
		'BEGIN { out = new } /^---$/ { out = old; next } { print > out }'
}

# returns NAME ASKED HEADERS TYPE ARGUMENTS NEW OLD [OLD-HEADERS]: both programs are a
# function that returns an expression.
returns() {
	{
		function_of "$3" "$4" "$5" "$6"
		echo ---
		function_of "${8-$3}" "$4" "$5" "$7"
	} > "$tmp/programs"
	probe "$1" "$2" < "$tmp/programs"
}

function_of() { # HEADERS TYPE ARGUMENTS VALUE
	# shellcheck disable=SC2086 # words
	printf '#include <%s>\n' $1
	printf '%s probe(%s);\n%s probe(%s) { return %s; }\n' "$2" "$3" "$2" "$3" "$4"
}

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

returns UNALIGNED "where get_unaligned_be32() is (6.12)" linux/unaligned.h \
	u32 "const void *p" "get_unaligned_be32(p)" "get_unaligned_be32(p)" asm/unaligned.h

returns ALLOC_PAGES_BULK "what fills the empty entries of an array of pages (6.14)" \
	linux/gfp.h "unsigned long" "struct page **pages" \
	"alloc_pages_bulk(GFP_KERNEL, 3, pages)" \
	"alloc_pages_bulk_array(GFP_KERNEL, 3, pages)"

returns KZALLOC_OBJ "how memory for one object is allocated (7.0)" linux/slab.h \
	"u32 *" void "kzalloc_obj(u32, GFP_KERNEL)" "kzalloc(sizeof(u32), GFP_KERNEL)"

returns TIMER_DELETE_SYNC "the name of the function that deletes a timer (6.2)" linux/timer.h \
	int "struct timer_list *timer" "timer_delete_sync(timer)" "del_timer_sync(timer)"

probe ASSIGN_STR "whether a string field of a trace event knows its source (6.10)" <<'EOP'
#include <linux/stddef.h>
#include <linux/string.h>
#include <linux/trace_events.h>
#include <trace/stages/stage6_event_callback.h>
struct probe_entry { u32 __data_loc_a; };
struct probe_offsets { const char *a_ptr_; u32 a; };
void probe(struct probe_entry *__entry, struct probe_offsets __data_offsets);
void probe(struct probe_entry *__entry, struct probe_offsets __data_offsets)
{
	__assign_str(a);
}
---
#include <linux/stddef.h>
#include <linux/string.h>
#include <linux/trace_events.h>
#include <trace/stages/stage3_trace_output.h>
#include <trace/stages/stage6_event_callback.h>
struct probe_entry { u32 __data_loc_a; };
struct probe_offsets { u32 a; };
void probe(struct probe_entry *__entry, struct probe_offsets __data_offsets,
	   const char *b);
void probe(struct probe_entry *__entry, struct probe_offsets __data_offsets,
	   const char *b)
{
	__assign_str(a, b);
}
EOP

probe SV_CB_LWQ "how a backchannel Call gets to its service (6.8)" <<'EOP'
#include <linux/lwq.h>
#include <linux/sunrpc/svc.h>
#include <linux/sunrpc/xprt.h>
void probe(struct svc_serv *serv, struct rpc_rqst *rqst);
void probe(struct svc_serv *serv, struct rpc_rqst *rqst)
{
	lwq_enqueue(&rqst->rq_bc_list, &serv->sv_cb_list);
	svc_pool_wake_idle_thread(&serv->sv_pools[0]);
}
---
#include <linux/sunrpc/svc.h>
#include <linux/sunrpc/xprt.h>
void probe(struct svc_serv *serv, struct rpc_rqst *rqst);
void probe(struct svc_serv *serv, struct rpc_rqst *rqst)
{
	spin_lock(&serv->sv_cb_lock);
	list_add(&rqst->rq_bc_list, &serv->sv_cb_list);
	spin_unlock(&serv->sv_cb_lock);
	wake_up(&serv->sv_cb_waitq);
}
EOP

returns SVC_SERV_NRPOOLS "whether a function tells how many pools a service has (7.3)" \
	linux/sunrpc/svc.h "unsigned int" "const struct svc_serv *serv" \
	"svc_serv_nrpools(serv)" "serv->sv_nrpools"

# The older way: one array in the thread itself for argument and Reply, filled
# as a whole. What came between the two is not known here.
probe SVC_RESPAGES "whose the pages of a server's Reply are (7.1)" <<'EOP'
#include <linux/build_bug.h>
#include <linux/sunrpc/svc.h>
static_assert(sizeof_field(struct svc_rqst, rq_pages) == sizeof(void *));
static_assert(offsetof(struct svc_rqst, rq_pages) ==
	      offsetofend(struct svc_rqst, rq_pages_nfree));
static_assert(offsetof(struct svc_rqst, rq_pages_nfree) ==
	      offsetofend(struct svc_rqst, rq_maxpages));
static_assert(offsetof(struct svc_rqst, rq_page_end) ==
	      offsetofend(struct svc_rqst, rq_next_page));
---
#include <linux/build_bug.h>
#include <linux/sunrpc/svc.h>
static_assert(sizeof_field(struct svc_rqst, rq_pages) ==
	      (RPCSVC_MAXPAGES + 1) * sizeof(void *));
static_assert(offsetof(struct svc_rqst, rq_pages) ==
	      offsetofend(struct svc_rqst, rq_res));
static_assert(offsetof(struct svc_rqst, rq_respages) ==
	      offsetofend(struct svc_rqst, rq_pages));
static_assert(offsetof(struct svc_rqst, rq_page_end) ==
	      offsetofend(struct svc_rqst, rq_next_page));
EOP

# An operation that this module lacks may be called without a look.
probe SVC_XPRT_OPS "what a server's transport is asked to do (6.2)" <<'EOP'
#include <linux/build_bug.h>
#include <linux/sunrpc/svc_xprt.h>
static_assert(sizeof(struct svc_xprt_ops) == 11 * sizeof(void *));
static_assert(offsetof(struct svc_xprt_ops, xpo_free) == 8 * sizeof(void *));
static_assert(offsetof(struct svc_xprt_ops, xpo_kill_temp_xprt) ==
	      9 * sizeof(void *));
static_assert(offsetof(struct svc_xprt_ops, xpo_handshake) ==
	      10 * sizeof(void *));
---
#include <linux/build_bug.h>
#include <linux/sunrpc/svc_xprt.h>
static_assert(sizeof(struct svc_xprt_ops) == 12 * sizeof(void *));
static_assert(offsetof(struct svc_xprt_ops, xpo_free) == 8 * sizeof(void *));
static_assert(offsetof(struct svc_xprt_ops, xpo_secure_port) ==
	      9 * sizeof(void *));
static_assert(offsetof(struct svc_xprt_ops, xpo_kill_temp_xprt) ==
	      10 * sizeof(void *));
EOP

probe RPC_XPRT_OPS "what a client's transport is asked to do (6.3)" <<'EOP'
#include <linux/build_bug.h>
#include <linux/sunrpc/xprt.h>
static_assert(sizeof(struct rpc_xprt_ops) == 30 * sizeof(void *));
static_assert(offsetof(struct rpc_xprt_ops, abort_send_request) ==
	      offsetofend(struct rpc_xprt_ops, send_request));
---
#include <linux/build_bug.h>
#include <linux/sunrpc/xprt.h>
static_assert(sizeof(struct rpc_xprt_ops) == 29 * sizeof(void *));
static_assert(offsetof(struct rpc_xprt_ops, wait_for_reply_request) ==
	      offsetofend(struct rpc_xprt_ops, send_request));
EOP

probe XPRT_CREATE "whether a mount says how long to try (6.2)" <<'EOP'
#include <linux/sunrpc/xprt.h>
unsigned long probe(const struct xprt_create *args);
unsigned long probe(const struct xprt_create *args)
{
	return args->connect_timeout + args->reconnect_timeout;
}
---
#include <linux/align.h>
#include <linux/build_bug.h>
#include <linux/sunrpc/xprt.h>
static_assert(sizeof(struct xprt_create) ==
	      ALIGN(offsetofend(struct xprt_create, flags), sizeof(void *)));
EOP

returns RQ_SEQNOS "how many GSS sequence numbers a Call remembers (6.16)" \
	linux/sunrpc/xprt.h u32 "const struct rpc_rqst *rqst" \
	"rqst->rq_seqno_count + rqst->rq_seqnos[0]" "rqst->rq_seqno"

returns SVC_PEER_VALID "whether sunrpc tells which peers have a filehandle (6.12)" \
	linux/sunrpc/svc_xprt.h bool "const struct svc_xprt *xprt" \
	"test_bit(XPT_PEER_VALID, &xprt->xpt_flags)" \
	"test_bit(XPT_CACHE_AUTH, &xprt->xpt_flags) && READ_ONCE(xprt->xpt_auth_cache)"

returns SVC_MAX_TMP_CONN "how many connections sunrpc allows a service (6.13)" \
	"linux/sunrpc/svc.h linux/sunrpc/svc_xprt.h" "unsigned int" \
	"const struct svc_serv *serv" XPT_MAX_TMP_CONN "serv->sv_maxconn + serv->sv_nrthreads"

returns GENL_INFO_DUMP "where the attributes of a netlink dump are (6.6)" \
	net/genetlink.h "struct nlattr **" "struct netlink_callback *cb" \
	"genl_info_dump(cb)->attrs" "genl_dumpit_info(cb)->attrs"

if [ "${1-}" = --list ]; then
	printf '%s\n' "${names[@]}"
	exit 0
fi
kdir=$1
header=$2
shift 2

# Must always compile: tells a kernel that is unknown from one that nothing can
# be built for.
cat > "$tmp/BASE.new" <<'EOP'
#include <linux/sunrpc/svc.h>
#include <linux/sunrpc/xprt.h>
#include <rdma/rdma_cm.h>
#include <rdma/rw.h>
EOP

# compile WAY NAME...: leaves NAME.o of those programs that compile.
compile() {
	local way=$1 n
	local -a objects=()

	shift
	for n in "$@"; do
		cp "$tmp/$n.$way" "$tmp/${n}_$way.c"
		echo "obj-m += ${n}_$way.o" >> "$tmp/Kbuild"
		objects+=("${n}_$way.o")
	done
	make -k -C "$kdir" M="$tmp" "${make_args[@]}" "${objects[@]}" \
		> "$tmp/log.$way" 2>&1 < /dev/null || true
}

make_args=("$@")
compile new BASE "${names[@]}"
if [ ! -f "$tmp/BASE_new.o" ]; then
	cat "$tmp/log.new" >&2
	echo "error: no module can be built for the kernel in $kdir" >&2
	exit 1
fi
declare -a rest=() unknown=()
for n in "${names[@]}"; do
	[ -f "$tmp/${n}_new.o" ] || rest+=("$n")
done
[ ${#rest[@]} = 0 ] || compile old "${rest[@]}"

{
	echo "/* Written by scripts/probe-compat.sh. */"
	for n in "${names[@]}"; do
		if [ -f "$tmp/${n}_new.o" ]; then
			echo "#define COMPAT_$n 1"
		elif [ -f "$tmp/${n}_old.o" ]; then
			echo "#define COMPAT_$n 0"
		else
			unknown+=("$n")
		fi
	done
} > "$tmp/header"
if [ ${#unknown[@]} -gt 0 ]; then
	for n in "${unknown[@]}"; do
		grep -h -m 2 "${n}_.*error:" "$tmp/log.new" "$tmp/log.old" >&2 || true
		echo "error: rpcrdma2 does not know ${asks[$n]} in the kernel of" \
			"$kdir (probe $n)" >&2
	done
	exit 1
fi
mkdir -p "$(dirname "$header")"
cmp -s "$tmp/header" "$header" || cp "$tmp/header" "$header"
