// SPDX-License-Identifier: GPL-2.0
/*
 * No allocation has a size from the wire: sizes are those of types, but for a few
 * functions, whose sizes have a bound that is named here.
 *
 *	rpcrdma2_buf_alloc()		messages, by the policy
 *	rpcrdma2_sends_create()		send slots, by credits and the device
 *	rpcrdma2_call_have_array()	pages of a Call, by max_pages
 *	rpcrdma2_requester_buf_alloc()	sunrpc's, by what the upper layer sends
 *	rw_new()				SGEs of one RDMA, by RPCRDMA2_RW_PAGES
 *	pages_take_runs()		pages of a Call, RPCRDMA2_SG_RUN at a time
 *
 * The number of pages of a Call comes from the wire. A caller of
 * rpcrdma2_call_have_array() compares the number with max_pages before, or passes
 * npages. Only a number that was compared, or that is not larger, is assigned to npages,
 * but for the result of call_lay_out(), whose caller compares npages next.
 */
@initialize:python@
@@
import sys

@fixed@
identifier alloc =~ "^k[mvz]*alloc(_node|_obj)?$";
type T;
expression e;
position p;
@@
 alloc@p(\(sizeof(T)\|sizeof(e)\), ...)


@known@
identifier f =~ "^(rpcrdma2_buf_alloc|rpcrdma2_sends_create|rpcrdma2_call_have_array|rpcrdma2_requester_buf_alloc|rw_new|pages_take_runs)$";
identifier alloc =~ "^(k[mvz]*alloc(_node|_array|_array_node)?|kv?calloc(_node)?|vmalloc|vzalloc|__get_free_pages|alloc_pages)$";
position p;
@@
 f(...)
 {
 <+...
 alloc@p(...)
 ...+>
 }

@others@
identifier alloc =~ "^(k[mvz]*alloc(_node|_array|_array_node)?|kv?calloc(_node)?|vmalloc|vzalloc|__get_free_pages|alloc_pages)$";
position p != { fixed.p, known.p };
@@
 alloc@p(...)

@script:python@
p << others.p;
alloc << others.alloc;
@@
sys.stdout.write("%s:%s: %s() of a size that is not a type's\n" % (p[0].file, p[0].line, alloc))

@counted@
expression n, call, resp, e;
position p;
@@
 if (n > resp->max_pages)
	return ...;
 ... when any
     when != n = e
(
 rpcrdma2_call_have_array@p(call, n)
|
 call->npages@p = n
)

@kept@
expression call;
position p;
@@
(
 rpcrdma2_call_have_array@p(call, call->npages)
|
 call->npages@p = 0
|
 call->npages@p = min(call->npages, ...)
)

@laid_out@
expression call, resp, e;
position p;
@@
 if (!call_lay_out@p(call)) {
 ...
 } else if (\(e || call->npages > resp->max_pages\|call->npages > resp->max_pages || e\|call->npages > resp->max_pages\)) {
 ...
 rpcrdma2_call_refuse(call, ...);
 } else {
 ...
 }

@lays_out@
expression call;
position p;
@@
 call_lay_out(...)
 {
 <+...
 call->npages@p
 ...+>
 }

@asks@
expression call, n;
position p != { counted.p, kept.p };
@@
 rpcrdma2_call_have_array@p(call, n)

@script:python@
p << asks.p;
@@
sys.stdout.write("%s:%s: a number of pages that was not compared with max_pages\n" %
                 (p[0].file, p[0].line))

@sets@
expression call, n;
assignment operator becomes;
position p != { counted.p, kept.p, lays_out.p };
@@
(
 call->npages@p becomes n
|
 call->npages@p++
|
 ++call->npages@p
)

@script:python@
p << sets.p;
@@
sys.stdout.write("%s:%s: npages of a number that was not compared with max_pages\n" %
                 (p[0].file, p[0].line))

@uses@
position p != laid_out.p;
@@
 call_lay_out@p(...)

@script:python@
p << uses.p;
@@
sys.stdout.write("%s:%s: npages of call_lay_out() is not compared with max_pages\n" %
                 (p[0].file, p[0].line))
