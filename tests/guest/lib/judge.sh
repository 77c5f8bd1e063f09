# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Runs one test, in its own session with a time limit, and judges it. A test passes
# when its script exits 0, none of its subtests failed, everything it set up could
# be taken down again, the module could be unloaded, and the kernel had nothing to
# complain about.
#
# Who sources this has LAB_DRIVER, its process, and LAB_CHANNEL, the file descriptor
# for KTAP, which is LAB_CHANNEL_NAME for whoever opens it.
#
# Per test, /out/NAME/ has: log (what the script printed), ktap, dmesg.

. /lab/lib/splat.sh

emit() { printf '%s\n' "$*" >&"$LAB_CHANNEL"; }

# Text from a file as diagnostic lines, N lines at most.
emit_file() { tail -n "$2" "$1" | sed 's/^/# /' >&"$LAB_CHANNEL"; }

header() { sed -n "s/^# $2: *//p" "$1" | head -n 1; }

# Kernel messages since the mark of this test.
messages_since() { dmesg | sed -n "/lab: begin $1\$/,\$p"; }

tainted() { echo $(($(< /proc/sys/kernel/tainted) & (1 << 9 | 1 << 7 | 1 << 5))); }

leak_clear() {
	[ ! -e /sys/kernel/debug/kmemleak ] ||
		echo clear > /sys/kernel/debug/kmemleak
}

# Two scans: the first may see a pointer that was only on its way. kmemleak
# reports no object younger than five seconds.
leak_scan() {
	[ -e /sys/kernel/debug/kmemleak ] || return 0
	sleep 5.1
	echo scan > /sys/kernel/debug/kmemleak &&
		echo scan > /sys/kernel/debug/kmemleak ||
		echo "kmemleak has switched itself off"
	cat /sys/kernel/debug/kmemleak
}

# Where everybody is. sysrq-t and -w would be the obvious way, but they crash
# User-Mode Linux, whose safe reads of bad pointers are not safe.
stacks() {
	local p

	for p in /proc/[0-9]*; do
		echo "$(< "$p/comm") ${p#/proc/} $(sed 's/.*) //; s/ .*//' "$p/stat")"
		cat "$p/stack"
	done > "$2/stacks" 2> /dev/null
	[ "$lab_share" = hostfs ] || {
		echo w > /proc/sysrq-trigger
		echo t > /proc/sysrq-trigger
	}
}

# clock: what the host's says, in milliseconds, when it makes a file. The guest's own
# may skip.
clock() {
	local file=/out/clock.$RANDOM now

	: > "$file"
	now=$(stat -c %.3Y "$file")
	rm "$file"
	echo "${now/./}"
}

# run_limited SECONDS LOG CMD...: in a session of its own; 124 = time is up,
# and the session's id is left in SESSION.
run_limited() {
	local limit=$1 log=$2 timer rc

	shift 2
	# setsid forks only when it leads a group, which it does not here.
	setsid "$@" < /dev/null > "$log" 2>&1 8>&- &
	SESSION=$!
	setsid sleep "$limit" 8>&- &
	timer=$!
	wait -n "$SESSION" "$timer"
	if kill -0 "$SESSION" 2> /dev/null; then
		return 124
	fi
	kill "$timer" 2> /dev/null
	wait "$SESSION"
	rc=$?
	wait "$timer" 2> /dev/null
	return "$rc"
}

# Kills what is left of a session; fails if something would not die.
kill_session() {
	local i

	for ((i = 0; i < 50; i++)); do
		pkill -KILL -s "$1" 2> /dev/null || return 0
		sleep 0.1
	done
	return 1
}

# judge NAME SCRIPT: runs a test. Sets RESULT to pass, skip or fail, and REASON.
judge() {
	local name=$1 script=$2
	local dir=/out/$name limit scale rc before start end
	local -a why=()

	mkdir -p "$dir"
	limit=$(header "$script" timeout)
	scale=${lab_scale:-1}
	limit=$((${limit:-60} * scale))
	export KTAP_FILE=/tmp/ktap.$name LAB_TEST=$name LAB_TMP=/tmp/$name
	export LAB_ALLOW=/tmp/allow.$name
	[[ $name != *@* ]] || export lab_profile=${name#*@}
	: > "$KTAP_FILE"
	: > "$LAB_ALLOW"
	mkdir -p "$LAB_TMP"

	emit "# $name (limit $limit s)"
	leak_clear
	before=$(tainted)
	echo "lab: begin $name" > /dev/kmsg
	start=$(clock)
	# The channel stays open for the test's KTAP lines.
	KTAP_CHANNEL=$LAB_CHANNEL_NAME run_limited "$limit" "$dir/log" /bin/bash "$script"
	rc=$?
	end=$(clock)
	if [ "$rc" = 124 ]; then
		why+=("no end within $limit s")
		stacks "$name" "$dir"
	fi
	if ! kill_session "$SESSION"; then
		why+=("a process of the test cannot be killed")
	elif ! run_limited $((30 * scale)) "$dir/cleanup" \
			/bin/bash /lab/lib/cleanup.sh; then
		why+=("cleaning up failed: $(tail -n 1 "$dir/cleanup")")
		stacks "$name" "$dir"
		kill_session "$SESSION"
	else
		leak_scan > "$dir/kmemleak"
		[ ! -s "$dir/kmemleak" ] || why+=("kmemleak")
	fi
	messages_since "$name" > "$dir/dmesg"
	split_races "$dir"
	reports < "$dir/rest" | grep -vEf "$LAB_ALLOW" |
		grep -E "$SPLAT" | cut -c -200 > "$dir/splats"
	[ -s "$dir/splats" ] && why+=("kernel messages")
	[ ! -s "$dir/races" ] || why+=("data races")
	races_of "$dir/races.others" > "$dir/others"
	[ "$(tainted)" = "$before" ] || [ -s "$dir/splats" ] ||
		[ -s "$LAB_ALLOW" ] || why+=("the kernel became tainted")
	cp "$KTAP_FILE" "$dir/ktap"
	if grep -q '^not ok' "$KTAP_FILE"; then
		why+=("$(grep -c '^not ok' "$KTAP_FILE") subtests failed")
	fi
	case $rc in
	0)
		[ ! -s "$KTAP_FILE" ] || grep -q '^1\.\.' "$KTAP_FILE" ||
			why+=("ended before its plan was complete")
		;;
	4 | 124) ;;
	*) why+=("exit status $rc") ;;
	esac

	[ ! -s "$dir/others" ] || {
		emit "# data races that are not ours:"
		emit_file "$dir/others" 20
	}
	if [ ${#why[@]} -gt 0 ]; then
		# A failed subtest has shown its own last lines already.
		grep -q '^not ok' "$KTAP_FILE" || emit_file "$dir/log" 20
		[ ! -s "$dir/splats" ] || emit_file "$dir/splats" 10
		[ ! -s "$dir/races" ] || emit_file "$dir/races" 80
		[ ! -s "$dir/kmemleak" ] || emit_file "$dir/kmemleak" 40
		RESULT=fail REASON=$(IFS=';'; echo "${why[*]}")
	elif [ "$rc" = 4 ]; then
		RESULT=skip REASON=$(tail -n 1 "$dir/log")
	else
		RESULT=pass REASON="time=$((end - start)) ms"
	fi
	sync
}
