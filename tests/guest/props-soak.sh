#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Receive Buffer Sizes grow all the time, in steps at random, on request and unasked,
# of both ends of two connections, while eight jobs write and verify. Not a
# byte is lost and no connection.
#
# timeout: 240
# covers: CHG-17,CHG-20,CHG-21,CHG-23,CHG-24,CHG-26,CHG-27,CRED-13,CONN-13
. /lab/lib/lab.sh

CHANGES=400	# of some 500 that are possible
LEAST=4096 MOST=65536
RANDOM=42
RXE_RETRIES=/sys/class/infiniband/rxe0/ports/1/hw_counters/completer_retry_err

# Small messages and large ones, on either side of any size there may be.
job_buffered() { # NAME SEED
	iocheck write -t -s "$2" -l 150000 -b $((3000 + RANDOM)) "$1"
	drop_caches
	iocheck check -e -s "$2" -l 150000 -b $((3000 + RANDOM)) "$1"
}
job_direct() {
	iocheck write -t -d -s "$2" -l 200000 -b $((500 + RANDOM)) "$1"
	iocheck check -e -d -s "$2" -l 200000 -b $((500 + RANDOM)) "$1"
}
job_random() {
	iocheck random -s "$2" -n 30 "$1" "$1.copy"
	cmp "$1" "$1.copy"
}
job_metadata() {
	mkdir "$1.d"
	iocheck fill -n 40 -l 200 -s "$2" "$1.d"
	iocheck list -n 40 -l 200 -s "$2" -e "$1.d"
	iocheck empty -n 40 -l 200 -s "$2" "$1.d"
	rmdir "$1.d"
}

# run JOB NAME: until there is nothing left to change. The jobs leave no processor
# idle: this shell and the workers of the devices go first. An rxe that gets no
# processor for half a second sends again, and registers again what is registered,
# which ends the connection.
run() {
	local n=0

	renice -n 15 -p $BASHPID > /dev/null
	until [ -e $LAB_TMP/enough ]; do
		"job_$1" "$2" $((++n))
	done
	[ $n -gt 0 ]
}

# One request to the end with this id: for a little more than its own size, or the
# peer's. The other end may have changed the size in between, so that it would not
# be up.
push() { # ID OWN PEER
	local more=$((1 + RANDOM % 900))

	if [ $((RANDOM % 2)) = 0 ]; then
		rpcrdma2 change "$1" own rbsiz $(($2 + more))
	else
		rpcrdma2 change "$1" rbsiz $(($3 + more))
	fi 2> /dev/null || rpcrdma2 show "$1" > /dev/null
}

# ends: a line for each: its id, its size and its peer's, whether a request or an
# announcement is under way, and how often its sizes have changed.
ends() {
	rpcrdma2 show | awk '
		{ of[$1] = $2 }
		$1 == "rbsiz:" { own = $3; peer = $5 }
		$1 == "props_changed:" {
			print of["id:"], own, peer,
				of["request_pending:"] of["announcement_pending:"], $2
		}'
}

# An end that is busy with an earlier request is left alone.
push_all() {
	local - n changed=0 id own peer busy changes

	set +x
	until [ $changed -ge $CHANGES ]; do
		n=0 changed=0
		ends > "$LAB_TMP/ends"
		while read -r id own peer busy changes; do
			[ "$busy" != 00 ] || push "$id" "$own" "$peer" || return 1
			changed=$((changed + changes))
			n=$((n + 1))
		done < "$LAB_TMP/ends"
		[ $n = 4 ] || return 1
	done
	echo "$changed changes"
}

soak() {
	local pids=() dev

	for dev in rxe siw; do
		for job in buffered direct random metadata; do
			run $job "/run/$dev/$dev-$job" &
			pids+=($!)
		done
	done
	push_all || { echo "a connection is gone"; touch $LAB_TMP/failed; }
	echo "rxe sent again: $(cat $RXE_RETRIES)"
	: > $LAB_TMP/enough
	wait_all "${pids[@]}"
	[ ! -e $LAB_TMP/failed ]
}

# Afterwards both ends agree on everything, and nothing went wrong.
agreed_all() {
	lab_wait 60 all_quiet
	[ "$(connections client) $(connections server)" = "2 2" ]
	sizes client 2 4 > $LAB_TMP/clients
	sizes server 4 2 > $LAB_TMP/servers
	[ "$(wc -l < $LAB_TMP/clients)" = 2 ]
	cat $LAB_TMP/clients
	cmp $LAB_TMP/clients $LAB_TMP/servers
}
all_quiet() { [ "$(ends | awk '$4 == "00"' | wc -l)" = 4 ]; }
# sizes ROLE NUMBER NUMBER: the client's and the server's word of each line.
sizes() { said "$1" rbsiz | awk -v c="$2" -v s="$3" '{ print $c, $s }' | sort; }

changed() {
	local role

	clean
	for role in client server; do
		counted $role -eq 0 connect_failures
		counted $role -ge 80 props_changed peer_props_changed
		counted $role -gt 0 tx_reqprop tx_resprop tx_updprop
	done
}

fs_start
by_default client recv_size $LEAST recv_max $MOST send_size $MOST
by_default server recv_size $LEAST recv_max $MOST
mkdir -p /run/rxe /run/siw
nfs rxe 3 "" /run/rxe || lab_die "cannot mount rxe"
nfs siw 4.2 "" /run/siw || lab_die "cannot mount siw"
ktap_run "8 jobs, $CHANGES changes" soak
ktap_run "both ends agree" agreed_all
ktap_run "no errors" changed
umount_nfs /run/rxe
umount_nfs /run/siw
