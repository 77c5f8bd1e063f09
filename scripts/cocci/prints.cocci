// SPDX-License-Identifier: GPL-2.0
/*
 * No peer fills the log: each line has a limit. That is in the name of the function
 * that prints, or it was asked for. Some lines are about the administrator's doing.
 */
@limited@
identifier print =~ "^(pr|dev|netdev)_(emerg|alert|crit|err|warn|notice|info)$";
position p;
@@
 if (<+... \(__ratelimit(...)\|rpcrdma2_conn_may_log(...)\) ...+>) {
 <+...
 print@p(...)
 ...+>
 }

@states@
identifier print =~ "^(pr|dev|netdev)_(emerg|alert|crit|err|warn|notice|info)$";
identifier f =~ "^(listener_rebuild|rpcrdma2_class_register|rpcrdma2_nvfs_init)$";
position p;
@@
 f(...)
 {
 <+...
 print@p(...)
 ...+>
 }

@others@
identifier print =~ "^(printk|(pr|dev|netdev)_(emerg|alert|crit|err|warn|notice|info))$";
position p != { limited.p, states.p };
@@
 print@p(...)

@script:python@
p << others.p;
print << others.print;
@@
import sys
sys.stdout.write("%s:%s: %s() without a limit\n" % (p[0].file, p[0].line, print))
