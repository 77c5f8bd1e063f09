# SPDX-License-Identifier: GPL-2.0
#
# The table of scripts/bench --policy from the guest's raw figures. Of several
# rounds the fastest counts. Fails if a figure is missing, and, if STRICT is set,
# if an idle connection holds more than it may (KiB, with the queues of rxe).

BEGIN { may["both ends"] = 1536; may["server"] = 717 }

$1 == "time" {
	us = $6 / $5 / 1000
	if (!(($2, $3, $4) in best) || us < best[$2, $3, $4])
		best[$2, $3, $4] = us
	if ($4 > jobs)
		jobs = $4
}

$1 == "memory" {
	kib[$2, $3, $4, $5] = $6 / 1024
	sum[$2, $3] += $6 / 1024
	at[$2, $3, $4] += $6 / 1024
}

$1 == "state" {
	size[$2, $3, $4] = $5
	credits[$2, $3, $4] = $6
}

$1 == "device" {
	queues[$2, $3] = $4 / 1024
	queues[$2] += $4 / 1024
}
$1 == "default" { value[$2] = $3 }

function cost(setting, load, n) {
	if ((setting, load, n) in best)
		return sprintf("%.1f", best[setting, load, n])
	if (n == 1 || load != "idle")
		missing = missing " " setting " " load ";"
	return "-"
}

# Memory of a kind at one end, in KiB.
function mem(setting, load, role, kind) {
	if (!((setting, load, role, kind) in kib))
		missing = missing " " setting " " load ";"
	return sprintf("%.0f", kib[setting, load, role, kind])
}

function held(which, n,		over) {
	over = n > may[which]
	exceeded += over
	return sprintf("%s %.0f KiB (at most %d, %s)", which, n, may[which],
		       over ? "missed" : "reached")
}

END {
	nsettings = split(settings, s, " ")
	nloads = split(loads, l, " ")
	for (j = 1; j <= nsettings; j++)
		if (length(s[j]) > width)
			width = length(s[j])
	format = "%-9s %-" width "s  %8s %8s  %6s %6s %4s  %7s %6s %5s %5s  %7s %6s %5s  %6s\n"
	printf format, "", "", "one", jobs " at", "client", "server", "cre-",
		"client:", "send", "", "", "server:", "send", "", "KiB"
	printf format, "", "sizes", "at once", "once", "size", "size", "dits",
		"Receive", "slots", "MRs", "RPCs", "Receive", "slots", "RPCs",
		"in all"
	for (i = 1; i <= nloads; i++) {
		for (j = 1; j <= nsettings; j++) {
			a = s[j]
			b = l[i]
			printf format, (j == 1 ? b : ""), a, cost(a, b, 1),
				cost(a, b, jobs), size[a, b, "client"],
				size[a, b, "server"], credits[a, b, "server"],
				mem(a, b, "client", "receive"),
				mem(a, b, "client", "send"),
				mem(a, b, "client", "mr"),
				mem(a, b, "client", "rpc"),
				mem(a, b, "server", "receive"),
				mem(a, b, "server", "send"),
				mem(a, b, "server", "rpc"),
				sprintf("%.0f", sum[a, b])
		}
	}
	print ""
	print "sizes: the default policy, or the Receive Buffer Size of both ends"
	printf "policy: a client\047s %d, a server\047s %d; memory is given back after %d s with hardly a Call\n",
		value["client"], value["server"], value["adapt_seconds"]
	print "idle: memory after some minutes without a load; time: the first operations of the random load then"
	printf "queues of the device, both ends, not in the sum:"
	for (j = 1; j <= nsettings; j++)
		printf "%s %d KiB", (j > 1 ? "," : ""), queues[s[j]]
	print ""
	if (("policy", "idle") in sum) {
		both = sum["policy", "idle"] + queues["policy"]
		server = at["policy", "idle", "server"] + queues["policy", "server"]
		print "an idle connection with these queues: " \
			held("both ends", both) ", " held("server", server)
	}
	if (missing) {
		print "no figure for:" missing
		exit 1
	}
	exit ENVIRON["STRICT"] && exceeded
}
