# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Messages of the kernel that fail a test.

SPLAT='BUG:|BUG |WARNING:|KASAN|UBSAN|ODEBUG|DMA-API:|kmemleak: [1-9]'
SPLAT+='|possible (recursive|circular|irq|deadlock)|suspicious RCU'
SPLAT+='|INFO: (task|rcu|trying|possible)|inconsistent lock|held lock'
SPLAT+='|blocked for more than|soft lockup|hard LOCKUP|refcount_t'
SPLAT+='|list_(add|del) corruption|Oops|general protection|Bad page'
SPLAT+='|unregister_netdevice: waiting|sleeping function|Unable to handle'
SPLAT+='|Kernel panic|page allocation failure|kernel NULL pointer'
