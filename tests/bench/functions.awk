# SPDX-License-Identifier: GPL-2.0
#
# Instructions per operation by function, from three files: the guest's
# results (their insn lines name the sections), its sorted symbols, and what
# the plugin recorded. Prints sums by subsystem and the largest functions per
# row; everything goes to the file named by the variable "all", and the sums to the
# one named by "sums", if there is one: "ROW DEV INSTRUCTIONS SUBSYSTEM".

BEGIN {
	ndev = split(devices, d, " ")
	nrows = split(rows, row, " ")
}

# What a function of the kernel proper belongs to; modules speak for
# themselves.
function group(f) {
	if (f ~ /crc32|crypto|shash/)
		return "checksums"
	if (f ~ /^(__)?(schedule|try_to_wake_up|ttwu|pick_|enqueue_|dequeue_|update_(curr|load|cfs|rq|min|entity)|set_next|put_prev|place_|reweight|select_|available_idle|finish_task|prepare_task|switch_|context_switch|wake|default_wake|autoremove|prepare_to|finish_wait|resched|check_preempt|wakeup_preempt|psi_|sched|pcpu_|cpuacct|avg_|__update_|entity_|check_cfs|set_task|activate_task|deactivate|kthread|native_load|yield|vruntime|propagate|attach_|detach_ent|mm_cid|perf_event_task|raise_mm|rcu_note|__perf_event_task|cond_resched|dl_|sugov|cpufreq|swake|sync_core|update_se$|migrate_disable_switch|min_vruntime_cb|account_llc|scx_|hrtick)/ ||
	    f ~ /_fair$|_rt$|_idle$|^__schedule|psi_|_wake_up|wake_q|sched_|__switch_to|clock_task|schedule|save_fpregs|fpregs|^complete/)
		return "scheduler"
	if (f ~ /work|worker|pwq|wq_|pool_/)
		return "workqueues"
	if (f ~ /kmem|slab|kmalloc|kfree|alloc_pages|free_page|_page|folio|memcg|obj_cgroup|vfree|___cache|get_partial|page_frag|rmqueue|free_unref|pagevec|lru_/)
		return "memory"
	if (f ~ /memcpy|memset|memmove|copy_|rep_movs|csum/)
		return "copies"
	if (f ~ /skb|^ip_|^ip6|^udp|^tcp|^__tcp|^inet|netif|^dev_|^__dev|net_rx|sock|napi|^fib|^neigh|^rt_|dst_|nf_|xmit|loopback|process_backlog|qdisc|__ip_|eth_/)
		return "network"
	if (f ~ /spin|mutex|rwsem|down_|up_|rcu|^lock|lock$|preempt_count|local_bh|osq/)
		return "locks, RCU"
	if (f ~ /timer|ktime|clock|tick|softirq|irq|apic|^idle|cpuidle|do_idle|tsc|menu_|hrtimer|sysvec/)
		return "timers, interrupts"
	if (f ~ /entry_|syscall|^vfs_|^do_sys|^fd|fget|fput|path|dentry|inode|^iov_|shmem|file|lookup|d_|cred|security_|statx|audit/)
		return "files, system calls"
	return "other"
}

FILENAME != last {
	last = FILENAME
	file++
}

file == 1 {
	if ($1 == "insn") {
		nsect++
		dev[nsect] = $2
		name[nsect] = $3
		ops[nsect] = $4
	}
	next
}

file == 2 {
	addr[++nsym] = "x" $1
	# Several symbols at one address: take the first.
	if (addr[nsym] == addr[nsym - 1]) {
		nsym--
		next
	}
	sym[nsym] = $2
	module[nsym] = $3
	next
}

$1 == "section" {
	s++
	next
}

{
	if ($1 ~ /^0+$/) {
		f = "user space"
		g = "user space"
		entry = 0
	} else {
		a = "x" $1
		lo = 1
		hi = nsym
		while (lo < hi) {
			mid = int((lo + hi + 1) / 2)
			if (addr[mid] <= a)
				lo = mid
			else
				hi = mid - 1
		}
		f = sym[lo] (module[lo] != "" ? " " module[lo] : "")
		g = module[lo] != "" ? module[lo] : group(sym[lo])
		entry = addr[lo] == a
	}
	key = name[s] SUBSEP f SUBSEP dev[s]
	insns[key] += $3 / ops[s]
	if (entry)
		calls[key] += $2 / ops[s]
	funcs[name[s], f] = 1
	groups[name[s], g] = 1
	ginsns[name[s], g, dev[s]] += $3 / ops[s]
	total[name[s], dev[s]] += $3 / ops[s]
}

function header(row, text) {
	printf "\n%-10s %-46s", row, text
	for (j = 1; j <= ndev; j++)
		printf " %14s", d[j]
	print ""
}

END {
	for (i = 1; i <= nrows; i++) {
		r = row[i]
		header(r, "instructions by subsystem")
		cmd = "sort -k1,1nr | cut -d' ' -f2-"
		for (k in groups) {
			split(k, p, SUBSEP)
			if (p[1] != r)
				continue
			max = 0
			line = sprintf("%-10s   %-44s", "", p[2])
			for (j = 1; j <= ndev; j++) {
				x = ginsns[r, p[2], d[j]] + 0
				max = x > max ? x : max
				line = line sprintf(" %14.0f", x)
				if (sums)
					print r, d[j], x, p[2] > sums
			}
			printf "%.0f %s\n", max, line | cmd
		}
		close(cmd)
		printf "%-10s   %-44s", "", "total"
		for (j = 1; j <= ndev; j++)
			printf " %14.0f", total[r, d[j]]
		print ""

		header(r, "largest functions: instructions (calls)")
		cmd = "sort -k1,1nr | cut -d' ' -f2- | tee -a " all " | sed -n 1,40p"
		for (k in funcs) {
			split(k, p, SUBSEP)
			if (p[1] != r)
				continue
			max = 0
			line = sprintf("%-10s   %-44s", r, p[2])
			for (j = 1; j <= ndev; j++) {
				x = insns[r, p[2], d[j]] + 0
				max = x > max ? x : max
				line = line sprintf(" %6.0f %7s", x,
					sprintf("(%.1f)", calls[r, p[2], d[j]]))
			}
			if (max >= 1)
				printf "%.0f %s\n", max, line | cmd
		}
		close(cmd)
	}
}
