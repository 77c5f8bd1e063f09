# SPDX-License-Identifier: GPL-2.0
#
# The table of scripts/bench --recovery from the guests' raw figures: the time from the
# end of a fault to the first operation that is done, by fault and transport, and what
# became of the operations. Fails if a figure is missing, or if an operation was lost.

BEGIN {
	what["power"] = "server loses power, is back"
	what["restart"] = "server stopped, started"
	what["cable"] = "cable carries nothing for 10 s"
	what["device"] = "device removed, back"
	what["crowd"] = "the same with many clients"
	ncases = split("power cable device restart crowd", cases, " ")
	name["rxe"] = "v2"
	name["own-v1"] = "own v1"
	name["rxe-v1"] = "stock v1"
	name["tcp"] = "tcp"
}

$1 == "first" {
	seconds[$2, $3, ++n[$2, $3]] = $4 / 1e9
	known[$2] = 1
}

$1 == "ops" {
	ops[$2, $3] += $4
	lost[$2, $3] += $5
	repeated[$2, $3] += $6
}

# quantile C DEV Q: the smallest that is not less than this part of all; sorts them
function quantile(c, dev, q,	i, j, k, x) {
	k = n[c, dev]
	for (i = 2; i <= k; i++) {
		x = seconds[c, dev, i]
		for (j = i; j > 1 && seconds[c, dev, j - 1] > x; j--)
			seconds[c, dev, j] = seconds[c, dev, j - 1]
		seconds[c, dev, j] = x
	}
	i = int(q * k)
	if (i < q * k)
		i++
	return seconds[c, dev, i]
}

END {
	ndev = split(devices, d, " ")
	printf "%-32s %-9s %5s %8s %8s  %7s %5s %9s\n", "", "", "n", "median",
		"99 %", "ops", "lost", "repeated"
	for (i = 1; i <= ncases; i++) {
		c = cases[i]
		if (!(c in known))
			continue
		for (j = 1; j <= ndev; j++) {
			k = c SUBSEP d[j]
			if (c == "device" && d[j] == "tcp")
				continue
			if (!(k in n) || !(k in ops)) {
				missing = missing " " c " " d[j] ";"
				continue
			}
			printf "%-32s %-9s %5d %8.3f %8.3f  %7d %5d %9d\n",
				j == 1 ? what[c] : "", name[d[j]], n[k],
				quantile(c, d[j], 0.5), quantile(c, d[j], 0.99),
				ops[k], lost[k], repeated[k]
			all_lost += lost[k]
		}
	}
	print ""
	print "power, cable: two guests, real time; the others: one guest whose clock counts instructions"
	print "seconds from the end of the fault to the first operation that is done"
	if (missing) {
		print "no figure for:" missing
		exit 1
	}
	if (all_lost) {
		print "operations were lost"
		exit 1
	}
}
