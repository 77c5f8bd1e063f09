# SPDX-License-Identifier: GPL-2.0
#
# The table of scripts/bench from the guest's raw figures. Of several rounds
# the fastest counts: what differs between them are timer ticks and the like.
# Fails if a row has no figure, or with STRICT set if a target is missed.

$1 == "time" {
	us = $5 / $4 / 1000
	key = $2 " " $3
	if (!(key in best) || us < best[key]) {
		best[key] = us
		switches[key] = $6 / $4
	}
	if (us > worst[key])
		worst[key] = us
}

$1 == "work" { work[$2 " " $3] += $5 / $4 }

function cell(key, format) {
	return key in best ? sprintf(format, best[key]) : "-"
}

function count(key) {
	return key in best ? sprintf("%.1f/%.1f", switches[key], work[key]) : "-"
}

END {
	nrows = split(rows, row, " ")
	n = split(targets, t, " ")
	for (i = 1; i < n; i += 2)
		target[t[i]] = t[i + 1]
	split(devices, d, " ")
	for (i in d)
		wanted[d[i]] = 1

	printf "%-10s %9s %9s %9s  %6s %6s %-8s %6s  %11s %11s %11s  %6s\n",
		"", "stock v1", "v2", "tcp", "v2/v1", "target", "",
		"tcp/v1", "v1 cs/wi", "v2 cs/wi", "tcp cs/wi", "spread"
	for (i = 1; i <= nrows; i++) {
		r = row[i]
		v1 = "rxe-v1 " r
		v2 = "rxe " r
		tcp = "tcp " r
		ratio = tratio = "-"
		verdict = ""
		spread = 0
		for (dev in wanted) {
			key = dev " " r
			if (!(key in best))
				missing = missing " " key ";"
			else if (worst[key] / best[key] - 1 > spread)
				spread = worst[key] / best[key] - 1
		}
		if ((v1 in best) && (v2 in best)) {
			ratio = sprintf("%.3f", best[v2] / best[v1])
			if (r in target) {
				if (best[v2] / best[v1] < target[r] + 0.005) {
					verdict = "reached"
					reached++
				} else {
					verdict = "MISSED"
					missed++
				}
			}
		}
		if ((v1 in best) && (tcp in best))
			tratio = sprintf("%.3f", best[tcp] / best[v1])
		printf "%-10s %9s %9s %9s  %6s %6s %-8s %6s  %11s %11s %11s  %5.1f%%\n",
			r, cell(v1, "%.1f"), cell(v2, "%.1f"),
			cell(tcp, "%.1f"), ratio,
			r in target ? target[r] : "", verdict, tratio,
			count(v1), count(v2), count(tcp), 100 * spread
	}
	print ""
	print "cs/wi: context switches and work items per operation;",
		"spread: largest difference between rounds"
	if (reached + missed)
		printf "%d targets reached, %d missed\n", reached, missed
	if (missing) {
		print "no figure for:" missing
		exit 1
	}
	if (missed && ENVIRON["STRICT"] != "")
		exit 1
}
