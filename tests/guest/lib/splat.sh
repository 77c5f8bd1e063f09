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

# A task changes its own flags (memalloc_noio_save() and the like), and the scheduler
# looks at them, without a mark on either side: that is so all over the kernel.
RACES_OF_KERNEL='kthread_(data|is_per_cpu) / rpcrdma2_reclaim_(enter|exit)'

# split_races DIR: takes KCSAN's reports of data races out of DIR/dmesg, into
# DIR/rest. Those of which one of the two accesses is in a function of our module
# go to DIR/races; those of others, soft-RoCE and sunrpc, to DIR/races.others. Each
# begins with the names of these functions and ends with a line of equal signs.
split_races() {
	: > "$1/races"
	: > "$1/races.others"
	awk -v dir="$1" -v kernel="$RACES_OF_KERNEL" '
	/BUG: KCSAN: /	{
		report = $0
		others = /\[rpcrdma2\]/ && $0 !~ kernel ? "" : ".others"
		next
	}
	!report		{ print; next }
			{ report = report "\n" $0 }
	/==========/	{ print report > (dir "/races" others); report = "" }
	' "$1/dmesg" > "$1/rest"
}

# races_of FILE: which, how often
races_of() {
	sed -n 's/.*BUG: KCSAN: //p' "$1" | sort | uniq -c | sort -rn
}

# reports: each report of KASAN, and each warning with its stack, becomes one line.
reports() {
	awk '
	/BUG: KASAN: |WARNING: CPU/	{ if (report) print ""; report = 1 }
	!report				{ print; next }
					{ printf "%s ", $0 }
	/ (======+|---\[ end trace .*)$/	{ report = 0; print "" }
	END				{ if (report) print "" }'
}
