// SPDX-License-Identifier: GPL-2.0
/*
 * No allocation has a size from the wire: sizes are those of types, but for a few
 * functions, whose sizes have a bound that is named here.
 *
 *	rpcrdma2_buf_alloc()	messages, by the policy
 *	slots_alloc()		send slots, by credits and the device
 *	cb_alloc()		callbacks, by a constant
 *	rpcrdma2_call_room()	pages of a Call, after call_check_reads()
 *	buf_grow()		sunrpc's, by what the upper layer sends
 */
@fixed@
identifier alloc =~ "^k[mvz]*alloc(_node|_obj)?$";
type T;
expression e;
position p;
@@
 alloc@p(\(sizeof(T)\|sizeof(e)\), ...)


@known@
identifier f =~ "^(rpcrdma2_buf_alloc|slots_alloc|cb_alloc|rpcrdma2_call_room|buf_grow)$";
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
import sys
sys.stdout.write("%s:%s: %s() of a size that is not a type's\n" % (p[0].file, p[0].line, alloc))
