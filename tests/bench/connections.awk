# SPDX-License-Identifier: GPL-2.0
#
# The table of scripts/bench --connections from the guest's raw figures. Of several
# rounds the fastest counts. Fails if a figure is missing, or with STRICT set if an
# operation of version 2 costs more over many connections than it may.

$1 == "time" {
	us = $6 / $5 / 1000
	if (!(($2, $3, $4) in best) || us < best[$2, $3, $4])
		best[$2, $3, $4] = us
}

$1 == "memory" { bytes[$2, $3, $4] = $5 }

function kib(dev, n, kind) {
	if (!((dev, n, kind) in bytes))
		return "-"
	return sprintf("%.0f", bytes[dev, n, kind] / n / 1024)
}

END {
	ndev = split(devices, d, " ")
	nrows = split(rows, r, " ")
	ncount = split(connections, n, " ")
	printf "%-8s %-10s", "", ""
	for (k = 1; k <= ncount; k++)
		printf " %9s %6s", n[k], ""
	print ""
	for (i = 1; i <= ndev; i++) {
		for (j = 1; j <= nrows; j++) {
			printf "%-8s %-10s", (j == 1 ? d[i] : ""), r[j]
			first = best[d[i], r[j], n[1]]
			for (k = 1; k <= ncount; k++) {
				key = d[i] SUBSEP r[j] SUBSEP n[k]
				if (!(key in best) || !first) {
					missing = missing " " d[i] " " r[j] " " n[k] ";"
					printf " %9s %6s", "-", ""
					continue
				}
				dearer = best[key] / first - 1
				text = k > 1 ? sprintf("%+.1f%%", 100 * dearer) : ""
				printf " %9.1f %6s", best[key], text
				if (d[i] == "rxe" && dearer > most)
					late = late " " r[j] " " n[k] ";"
			}
			print ""
		}
	}
	print ""
	print "memory of both ends for each connection, KiB, after the load:"
	printf "%-8s %-10s", "", ""
	for (k = 1; k <= ncount; k++)
		printf " %9s %6s", n[k], ""
	print ""
	nkinds = split("device messages all", kind, " ")
	for (i = 1; i <= ndev; i++) {
		name = d[i]
		for (j = 1; j <= nkinds; j++) {
			if (kib(d[i], n[1], kind[j]) == "-")
				continue
			printf "%-8s %-10s", name, kind[j]
			name = ""
			for (k = 1; k <= ncount; k++)
				printf " %9s %6s", kib(d[i], n[k], kind[j]), ""
			print ""
		}
	}
	print ""
	print "device: queues of rxe; messages: what rpcrdma2 says of itself;",
		"all: what is not available any more, NFS's share included"
	if (missing) {
		print "no figure for:" missing
		exit 1
	}
	if (late) {
		printf "more than %.0f %% dearer than over %d:%s\n", 100 * most, n[1], late
		if (ENVIRON["STRICT"] != "")
			exit 1
	}
}
