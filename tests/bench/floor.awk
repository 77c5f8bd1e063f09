# SPDX-License-Identifier: GPL-2.0
#
# The table of scripts/bench --floor: what an operation over version 2 consists of,
# from two files: sums of instructions by subsystem, which functions.awk has made,
# and the guest's results. The figures for the plot go to the file named by the
# variable "data".
#
# device: "verbs", the messages of the row between two queue pairs with nothing above
#	but two threads, which are woken; without what it takes these to wake each
#	other ("hand")
# copy: that of the payload of an inline message, once, from "copy" without "hand"
# RPC, NFS: "loop", the same operation over a transport that moves nothing; has the
#	two threads, too
# ours: what remains of version 2. The modules that are there for the figures only,
#	bench_*, count for nothing.
# least: v2/v1 if of what is ours no more were left than that one copy, a READ's from the
#	Receive to where it is wanted, a WRITE's to where it can be sent from while its
#	RPC is over already; and as much code as version 1 has for the same operation, or
#	for the RPC that does nothing ("null") if version 1 registers memory where version
#	2 copies. So an aim below is beyond reach.
# over: what version 2 takes above its aim
# switching: what the scheduler takes in version 2. It is a part of none of the
#	others: how often there is a switch depends on what else runs meanwhile, so
#	the switches of the parts do not add up to those of the whole.
#
# A thousand instructions are a microsecond.

BEGIN {
	nparts = split("rxe-v1 rxe verbs hand copy loop", part, " ")
	INLINE = 1	# us; a copy that takes longer is one of a payload
}

FILENAME != last {
	last = FILENAME
	file++
}

file == 1 {
	key = $2 SUBSEP $1
	known[key] = 1
	total[key] += $3 / 1000
	if ($4 == "scheduler")
		sched[key] += $3 / 1000
	else if ($4 !~ /^\[bench_/)
		work[key] += $3 / 1000
	if ($4 == "[rpcrdma2]" || $4 == "[rpcrdma]")
		code[key] += $3 / 1000
}

file == 2 && $1 == "insn" { switches[$2, $3] = $5 / $4 }

function judged(ratio, least, aim) {
	return ratio <= aim ? "reached" : least > aim ? "beyond" : "open"
}

function min(x, y) { return x < y ? x : y }

function us(x) {
	if (x < 0 && x > -0.05)
		x = 0
	return sprintf(x < 1000 && x > -1000 ? "%.1f" : "%.0f", x)
}

END {
	nrows = split(rows, row, " ")
	n = split(aims, t, " ")
	for (i = 1; i < n; i += 2)
		aim[t[i]] = t[i + 1]

	format = "%-10s %7s %6s %6s %5s %10s  %6s %6s %6s  %6s %5s %6s %-7s %5s %s\n"
	printf format, "", "", "RPC,", "", "", "switching", "", "stock", "", "", "",
		"", "", "ours", "code:"
	printf format, "", "device", "NFS", "ours", "copy", "us/times", "v2", "v1",
		"v2/v1", "least", "aim", "over", "", "%", "v2/v1"
	for (i = 1; i <= nrows; i++) {
		r = row[i]
		gap = 0
		for (j = 1; j <= nparts; j++)
			if (!((part[j], r) in known)) {
				missing = missing " " part[j] " " r ";"
				gap = 1
			}
		if (gap)
			continue
		v1 = total["rxe-v1", r]
		v2 = total["rxe", r]
		device = work["verbs", r] - work["hand", r]
		copy = work["copy", r] - work["hand", r]
		ours = work["rxe", r] - device - work["loop", r]
		switching = sched["rxe", r]
		like = copy < INLINE ? r : "null"
		least = (v2 - ours + min(ours, copy + code["rxe-v1", like])) / v1
		printf format, r, us(device), us(work["loop", r]), us(ours), us(copy),
			sprintf("%s/%.1f", us(switching), switches["rxe", r]),
			us(v2), us(v1), sprintf("%.3f", v2 / v1),
			sprintf("%.3f", least), r in aim ? aim[r] : "",
			r in aim ? us(v2 - aim[r] * v1) : "",
			r in aim ? judged(v2 / v1, least, aim[r]) : "",
			sprintf("%.1f", 100 * ours / v2),
			us(code["rxe", r]) "/" us(code["rxe-v1", r])
		if (data)
			printf "%s %.4f %.4f %.4f %.4f %s\n", r, device / v1,
				work["loop", r] / v1, switching / v1, ours / v1,
				r in aim ? aim[r] : "NaN" > data
	}
	print ""
	print "device: the same messages between two queue pairs and nothing above;",
		"RPC, NFS: the same operation over a transport that moves nothing"
	print "ours: what remains; copy: of an inline payload, once, which is part of that;",
		"switching: the scheduler's part of all, and how often it switches"
	print "least: v2/v1 if of ours only that copy were left, and version 1's code for",
		"the same operation, or for null if only version 1 registers memory; over: us above the aim;",
		"code: instructions of rpcrdma2.ko, and of rpcrdma.ko"
	if (missing) {
		print "no figure for:" missing
		exit 1
	}
}
