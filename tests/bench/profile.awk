# SPDX-License-Identifier: GPL-2.0
#
# Per row of scripts/bench and per transport: work items by function, context
# switches by the task switched to, who woke whom, softirqs. Only what happens
# at least once in twenty operations is shown.

BEGIN {
	split("HI TIMER NET_TX NET_RX BLOCK IRQ_POLL TASKLET SCHED HRTIMER RCU",
	      vector, " ")
	title["work"] = "work items by function"
	title["task"] = "context switches to"
	title["wake"] = "wake-ups (waker, woken)"
	title["soft"] = "softirqs"
}

$1 in title {
	kind = $1; dev = $2; r = $3; n = $5 / $4
	$1 = $2 = $3 = $4 = $5 = ""
	sub(/^ +/, "")
	if (kind == "soft")
		$0 = vector[$0 + 1]
	v[kind, r, $0, dev] += n
	if (v[kind, r, $0, dev] >= 0.05)
		keep[kind, r, $0] = 1
	total[kind, r, dev] += n
}

END {
	nrows = split(rows, row, " ")
	ndev = split(devices, d, " ")
	nkinds = split("work task wake soft", kinds, " ")
	for (i = 1; i <= nrows; i++) {
		for (k = 1; k <= nkinds; k++) {
			printf "\n%-10s %-46s", row[i], title[kinds[k]]
			for (j = 1; j <= ndev; j++)
				printf " %8s", d[j]
			print ""
			cmd = "sort -k1,1nr | cut -d' ' -f2-"
			for (key in keep) {
				split(key, p, SUBSEP)
				if (p[1] != kinds[k] || p[2] != row[i])
					continue
				line = sprintf("%-10s   %-44s", "", p[3])
				max = 0
				for (j = 1; j <= ndev; j++) {
					x = v[key, d[j]] + 0
					if (x > max)
						max = x
					line = line sprintf(" %8.2f", x)
				}
				printf "%.4f %s\n", max, line | cmd
			}
			close(cmd)
			printf "%-10s   %-44s", "", "total"
			for (j = 1; j <= ndev; j++)
				printf " %8.2f", total[kinds[k], row[i], d[j]]
			print ""
		}
	}
}
