// SPDX-License-Identifier: GPL-2.0
/*
 * Completion handlers do not sleep, and ask for memory only if there is some at once:
 * nor do the functions that they call, and those that these call. What is deferred
 * (rpcrdma2_conn_defer()) or done by an ops table is not followed; lockdep sees that
 * at run time (conn/cq.h). Nor is rpcrdma2_ver_message(), which needs memory
 * before the connection is READY, when messages are deferred.
 */
@initialize:python@
@@
import sys
calls = {}
left_out = {"rpcrdma2_ver_message"}
roots = {"rpcrdma2_dispatch_recv"}	# conn_ops.recv
sleeps = {}

@root@
identifier f, cq, wc;
@@
 f(struct ib_cq *cq, struct ib_wc *wc) { ... }

@script:python@
f << root.f;
@@
roots.add(f)

@edge@
identifier f, g;
position p;
@@
 f(...)
 {
 <+...
 g@p(...)
 ...+>
 }

@script:python@
f << edge.f;
g << edge.g;
@@
calls.setdefault(f, set()).add(g)

@sleeper@
identifier f;
identifier g =~ "^(mutex_lock|msleep|cond_resched|might_sleep|wait_event.*|wait_for_completion.*|schedule(_timeout.*)?|cancel_.*work_sync|flush_.*work.*|rpcrdma2_buf_gfp|ib_alloc.*|ib_create.*|rdma_(create|destroy).*)$";
position p;
@@
 f(...)
 {
 <+...
 g@p(...)
 ...+>
 }

@script:python@
f << sleeper.f;
g << sleeper.g;
p << sleeper.p;
@@
sleeps.setdefault(f, []).append((p[0].file, p[0].line, g + "()"))

@waits@
identifier f;
identifier gfp =~ "^GFP_(KERNEL|NOIO|NOFS|USER|KERNEL_ACCOUNT)$";
position p;
@@
 f(...)
 {
 <+...
 gfp@p
 ...+>
 }

@script:python@
f << waits.f;
gfp << waits.gfp;
p << waits.p;
@@
sleeps.setdefault(f, []).append((p[0].file, p[0].line, gfp))

@finalize:python@
@@
path = {f: f for f in roots}
todo = sorted(roots)
while todo:
    f = todo.pop(0)
    for g in sorted(calls.get(f, ())):
        if g not in path and g not in left_out:
            path[g] = path[f] + " > " + g
            todo.append(g)
for f in sorted(path):
    for file, line, what in sleeps.get(f, ()):
        sys.stdout.write("%s:%s: %s in a completion: %s\n" %
                         (file, line, what, path[f]))
if len(roots) < 4:
    sys.stdout.write("%d completion handlers?\n" % len(roots))
