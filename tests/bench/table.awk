# SPDX-License-Identifier: GPL-2.0
#
# The table of scripts/bench from the guest's raw figures. Of several rounds
# the fastest counts: what differs between them are timer ticks and the like.
# Fails if a row has no figure, or with STRICT set if a target is missed. The target
# of our own version 1 is 1.00 in every row: a peer that has nothing newer must cost
# no more with this module than without.

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

function cell(key) {
	return key in best ? sprintf("%.1f", best[key]) : "-"
}

function count(key) {
	return key in best ? sprintf("%.1f/%.1f", switches[key], work[key]) : "-"
}

function ratio(dev, r) {
	if (!((dev " " r) in best) || !(("rxe-v1 " r) in best))
		return "-"
	return sprintf("%.3f", best[dev " " r] / best["rxe-v1 " r])
}

function verdict(x, most) {
	if (x == "-")
		return ""
	if (x + 0 < most + 0.005) {
		reached++
		return "reached"
	}
	missed++
	return "MISSED"
}

# spread ROW: of its rounds, the largest
function spread(r,	j, key, most) {
	for (j = 1; j <= ndev; j++) {
		key = d[j] " " r
		if (!(key in best))
			missing = missing " " key ";"
		else if (worst[key] / best[key] - 1 > most)
			most = worst[key] / best[key] - 1
	}
	return most
}

function header(	j) {
	printf "%-10s", ""
	for (j = 1; j <= ndev; j++)
		printf " %9s", d[j] in title ? title[d[j]] : d[j]
	printf " "
	for (j = 1; j <= ndev; j++)
		if (d[j] == "rxe")
			printf " %6s %6s %-7s", "v2/v1", "target", ""
		else if (own(d[j]))
			printf " %8s %-7s", title[d[j]] "/v1", ""
		else if (d[j] == "tcp")
			printf " %6s", "tcp/v1"
	printf " "
	for (j = 1; j <= ndev; j++)
		printf " %11s", title[d[j]] " cs/wi"
	printf "  %6s\n", "spread"
}

function own(dev) { return dev ~ /^own-v1/ }

END {
	nrows = split(rows, row, " ")
	n = split(targets, t, " ")
	for (i = 1; i < n; i += 2)
		target[t[i]] = t[i + 1]
	ndev = split(devices, d, " ")
	title["rxe-v1"] = "v1"
	title["rxe"] = "v2"
	title["tcp"] = "tcp"
	title["own-v1"] = "own"
	title["own-v1-client"] = "own-c"
	title["own-v1-server"] = "own-s"

	header()
	for (i = 1; i <= nrows; i++) {
		r = row[i]
		printf "%-10s", r
		for (j = 1; j <= ndev; j++)
			printf " %9s", cell(d[j] " " r)
		printf " "
		for (j = 1; j <= ndev; j++) {
			x = ratio(d[j], r)
			if (d[j] == "rxe")
				printf " %6s %6s %-7s", x,
					r in target ? target[r] : "",
					r in target ? verdict(x, target[r]) : ""
			else if (own(d[j]))
				printf " %8s %-7s", x, verdict(x, 1)
			else if (d[j] == "tcp")
				printf " %6s", x
		}
		printf " "
		for (j = 1; j <= ndev; j++)
			printf " %11s", count(d[j] " " r)
		printf "  %5.1f%%\n", 100 * spread(r)
	}
	print ""
	print "v1: stock version 1; own: rpcrdma2 speaking version 1, target 1.00",
		"(own-c: with the stock server, own-s: with the stock client)"
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
