# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Work that goes on in the background while something else happens, in rounds that are
# counted.
#
#	work_start N CMD ARG...	N workers begin; each does CMD ARG... WORKER ROUND, with
#				both numbers from 1 on, until work_stop or a failure.
#				WORKERS are their processes. Returns after the first round
#	work_stop		after this round; fails if one has failed
#	work_rounds		how many are over, of all workers
#	work_further N		is it more than N?
#	write_and_check FILE	a CMD: writes FILE and checks it, directly

work_start() {
	local PIDS=()

	rm -f "$LAB_TMP"/{work.*,work-ends}
	undo touch "$LAB_TMP/work-ends"
	launch "$1" _worker {} "${@:2}"
	WORKERS=("${PIDS[@]}")
	lab_wait 20 work_further 0
}

_worker() { # WORKER CMD ARG...
	local n=0

	until [ -e "$LAB_TMP/work-ends" ]; do
		n=$((n + 1))
		"${@:2}" "$1" "$n" || return 1
		echo "$n" > "$LAB_TMP/work.$1"
	done
}

work_stop() {
	touch "$LAB_TMP/work-ends"
	wait_all "${WORKERS[@]}"
}

work_rounds() {
	local - f n sum=0

	set +x
	for f in "$LAB_TMP"/work.*; do
		# Just being written, or not yet
		n=0
		read -r n < "$f" || true
		sum=$((sum + n))
	done 2> /dev/null
	echo $sum
}

work_further() { [ "$(work_rounds)" -gt "$1" ]; }

write_and_check() { # FILE WORKER ROUND
	iocheck write -t -d -s "$3" -l 100001 -b 9001 "$1$2" &&
		iocheck check -e -d -s "$3" -l 100001 -b 7001 "$1$2"
}
