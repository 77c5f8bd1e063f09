// SPDX-License-Identifier: GPL-2.0
/*
 * Connecting and the negotiation of the version: proto/version.c on both sides,
 * conn/negotiate.c and rpcrdma2_conn_connect() of a client, and servers that know version
 * 1 only, or that do not answer a CONNPROP. Connections are lost, and answers are late.
 *
 * tables.h has the states, and rows(), which has the model do what each row of
 * tools/vectors/client-version.csv and server-version.csv says (tests/models/tables).
 *
 * Each of these weakens the model: with HASTY one loss before an answer is enough to fall
 * back to version 1, with NO_CALL silence about a CONNPROP is, and with STAYS a client goes
 * on with version 1 although the server names version 2.
 */
/* What another connection would begin with; before tables.h, which uses it */
#define BEGINS	(!v2 -> BEGIN_V1 : \
		 ((next || until) && (begin != BEGIN_V1 || v1) -> begin : BEGIN_CONNPROP))
#include "tables.h"

#ifndef LOSSES
#define LOSSES	2		/* connections lost */
#endif
#ifndef LATE
#define LATE	1		/* answers that come after the timer */
#endif
#ifndef ROUNDS
#define ROUNDS	3		/* times that sunrpc connects */
#endif
#ifdef HASTY
#define LOSSES_MAX	1
#else
#define LOSSES_MAX	2
#endif
#define ATTEMPTS	5	/* RPCRDMA2_ATTEMPTS: connections of one round */

/* Messages; the first six of them are events of the client, as are the next three */
mtype = { CONNPROP, ERR_VERS, ERROR, REPLY, STRANGE, BAD, CALL1, CALL2 };
mtype = { CONNECTED, TIMEOUT, LOST, REFUSED };
/* Servers: this module; version 1 that answers with ERR_VERS, and goes on or closes, with
 * another ERROR, not at all, or by closing; version 2 that ignores CONNPROP
 */
mtype = { OURS, V1_SAYS, V1_SAYS_CLOSES, V1_ERROR, V1_SILENT, V1_CLOSES, MUTE };

/* struct rpcrdma2_ver_policy, _memory, _neg of the client, and what happens next */
bool v1, v2;
byte begin = BEGIN_CONNPROP, state = NEG_START, act = DO_NOTHING, losses;
bool until, next, saw;
/* struct rpcrdma2_srv_ver: versions allowed, and 0 or the version settled */
bool s1, s2;
byte codec, srv;

mtype server;
bool up, quiet, spoilt;
byte lost, late, conns, rounds;
chan c2s = [2] of { mtype };
chan s2c = [2] of { mtype };

inline remember(how) { begin = how; until = true; next = true; losses = 0 }
inline forget() { begin = BEGIN_CONNPROP; until = false; next = false; losses = 0 }
inline fail() { state = NEG_FAILED; forget(); act = DO_FAIL }
inline settle(to) { state = to; act = DO_SETTLE }
inline fall_back()
{
	if
	:: !v1 -> fail()
	:: v1 -> remember(BEGIN_V1); state = NEG_START; act = DO_RECONNECT
	fi
}
#define WAITS (state == NEG_WAIT || state == NEG_WAIT_REPLY)

/* rpcrdma2_neg_connected(), _message(), _timeout(), _lost(), _refused() */
inline neg(ev)
{
	act = DO_NOTHING;
	if
	:: ev == CONNECTED && state == NEG_START && !v2 && v1 -> settle(NEG_V1)
	:: ev == CONNECTED && state == NEG_START && !v2 && !v1 -> fail()
	:: ev == CONNECTED && state == NEG_START && v2 ->
		if
		:: BEGINS == BEGIN_V1 -> settle(NEG_V1)
		:: BEGINS == BEGIN_CALL -> state = NEG_WAIT_REPLY; act = DO_SEND_CALL
		:: else -> state = NEG_WAIT; act = DO_SEND_CONNPROP
		fi;
		next = false
	:: ev == CONNPROP && WAITS -> forget(); settle(NEG_V2)
	:: ev == BAD && WAITS -> act = DO_BAD_XDR
	:: ev == ERR_VERS && WAITS ->
		if
		:: !v1 -> fail()
		:: v1 -> saw = true; losses = 0; settle(NEG_V1)
		fi
	:: ev == ERROR && WAITS -> fall_back()
	:: ev == REPLY && state == NEG_WAIT_REPLY ->
		if :: !until -> remember(BEGIN_CALL) :: until fi;
		next = false; losses = 0; settle(NEG_V2)
#ifdef NO_CALL
	:: ev == TIMEOUT && WAITS -> fall_back()
#else
	:: ev == TIMEOUT && state == NEG_WAIT ->
		begin = BEGIN_CALL; next = true; state = NEG_START; act = DO_RECONNECT
	:: ev == TIMEOUT && state == NEG_WAIT_REPLY -> fall_back()
#endif
	:: ev == LOST && WAITS ->
		losses++;
		if
		:: losses >= LOSSES_MAX -> fall_back()
		:: else ->
			next = (state == NEG_WAIT_REPLY);
			state = NEG_START; act = DO_RECONNECT
		fi
	:: ev == LOST && (state == NEG_V1 || state == NEG_V2) ->
		if :: saw -> remember(BEGIN_V1) :: !saw fi;
		saw = false; state = NEG_START
	:: ev == REFUSED && state == NEG_V2 && v1 ->
		remember(BEGIN_V1); act = DO_RECONNECT
	:: else
	fi
}

/* rpcrdma2_srv_ver_message() */
#define VERS(m)	(m == CALL1 -> 1 : 2)
inline srv_message(m)
{
	if
	:: codec && codec == VERS(m) -> srv = SRV_PASS
	:: codec && codec != VERS(m) -> srv = SRV_ERR_VERS_CLOSE
	:: !codec && !(VERS(m) == 1 -> s1 : s2) -> srv = (s1 || s2 -> SRV_ERR_VERS : SRV_DROP)
	:: else -> codec = VERS(m); srv = SRV_PASS
	fi
}

/* A version in common */
#define COMMON	(server == OURS -> ((v1 && s1) || (v2 && s2)) : (server == MUTE -> v2 : v1))
#define BEST	(v2 && ((server == OURS && s2) || server == MUTE) -> NEG_V2 : NEG_V1)

inline drain() { do :: c2s?m :: empty(c2s) -> break od; do :: s2c?m :: empty(s2c) -> break od; m = 0 }

proctype client()
{
	mtype m;
round:
	atomic {
		rounds++; conns = 0;
		/* What is known may be wrong, if losses or a late answer are the reason */
		spoilt = until || next
	};
connect:
	atomic {
		conns++;
		/* Four connections suffice, unless more than one is lost */
		assert(conns < ATTEMPTS || lost >= 2);
		drain(); up = true; codec = 0; quiet = false; saw = false; state = NEG_START;
		neg(CONNECTED);
		if
		:: act == DO_SEND_CONNPROP -> c2s!CONNPROP
		:: act == DO_SEND_CALL -> c2s!CALL2
		:: act == DO_SETTLE -> goto use
		:: act == DO_FAIL -> goto failed
		fi
	};
	do
	:: atomic { s2c?m -> neg(m); m = 0;
		if
		:: act == DO_SETTLE -> goto use
		:: act == DO_RECONNECT -> goto again
		:: act == DO_FAIL -> goto failed
		:: act == DO_NOTHING || act == DO_BAD_XDR
		fi }
	:: atomic { up && len(s2c) == 0 && ((quiet && len(c2s) == 0) || late < LATE) ->
		if
		:: quiet && len(c2s) == 0
		:: !(quiet && len(c2s) == 0) -> late++; spoilt = true
		fi;
		neg(TIMEOUT);
		if :: act == DO_RECONNECT -> goto again :: act == DO_FAIL -> goto failed fi }
	:: atomic { !up && len(s2c) == 0 -> neg(LOST);
		if :: act == DO_RECONNECT -> goto again :: act == DO_FAIL -> goto failed fi }
	od;
again:
	if
	:: conns < ATTEMPTS -> goto connect
	:: conns == ATTEMPTS -> goto over		/* sunrpc tries again */
	fi;
use:
	atomic {		/* the first Call in the version that was settled */
		assert(state == NEG_V1 -> v1 : v2);
		if
		:: up && state == NEG_V1 -> c2s!CALL1
		:: up && state == NEG_V2 -> c2s!CALL2
		:: !up
		fi
	};
	do
	:: atomic { s2c?m ->
		assert(m != ERROR);
		if
		:: m == ERR_VERS ->		/* rpcrdma2_neg_refused() */
			assert(server == OURS && !s1 && state == NEG_V1);
			m = 0;
			if
#ifndef STAYS
			:: v2 && s2 -> forget(); goto over
#endif
			:: else -> assert(!COMMON); goto over
			fi
		:: m == REPLY ->
			assert(server != OURS || codec == (state == NEG_V1 -> 1 : 2));
			/* rpcrdma2_neg_proved() */
			losses = 0;
			if :: saw -> forget() :: !saw fi;
			saw = false;
			/* The best version, unless two losses or a late answer hide it */
			assert(spoilt || state == BEST);
			m = 0; goto over
		:: else -> m = 0
		fi }
	:: atomic { !up && len(s2c) == 0 -> neg(LOST); goto over }
	:: atomic { up && quiet && len(s2c) == 0 && len(c2s) == 0 ->	/* the RPC times out */
		up = false }
	od;
failed:
	/* Nothing in common, or version 2 is required and did not come through */
	atomic { assert(!COMMON || (!v1 && spoilt)) };
over:
	atomic {
		up = false; drain(); state = NEG_START; act = DO_NOTHING; saw = false; conns = 0;
		/* The time that the memory is kept may be over */
		if :: until -> until = false :: true fi;
		if
		:: rounds < ROUNDS -> goto round
		:: rounds == ROUNDS
		fi
	}
}

proctype peer()
{
	mtype m;
end:
	do
	:: atomic { up && len(c2s) > 0 && len(s2c) < 2 -> c2s?m;
		if
		:: server == OURS ->
			srv_message(m);
			/* Both sides speak the same version, or the server has not settled */
			assert(srv != SRV_ERR_VERS_CLOSE);
			if
			:: srv == SRV_PASS && m == CONNPROP -> s2c!CONNPROP
			:: srv == SRV_PASS && m != CONNPROP -> s2c!REPLY
			:: srv == SRV_ERR_VERS -> s2c!ERR_VERS
			:: srv == SRV_DROP
			fi
		:: server == MUTE ->
			if :: m == CALL2 -> s2c!REPLY :: m == CONNPROP :: m == CALL1 fi
		:: server != OURS && server != MUTE && m == CALL1 -> s2c!REPLY
		:: server != OURS && server != MUTE && m != CALL1 ->
			if
			:: server == V1_SAYS -> s2c!ERR_VERS
			:: server == V1_SAYS_CLOSES -> s2c!ERR_VERS; up = false
			:: server == V1_ERROR -> s2c!ERROR
			:: server == V1_SILENT
			:: server == V1_CLOSES -> up = false
			fi
		fi;
		m = 0; quiet = true }
	:: atomic { up && server == MUTE && len(s2c) == 0 && len(c2s) > 0 -> s2c!STRANGE; s2c!BAD }
	:: atomic { up && lost < LOSSES -> lost++; up = false;
		if :: lost > 1 -> spoilt = true :: lost == 1 fi;	/* one is no reason */
		/* What is under way may arrive or not */
		if :: do :: s2c?m :: empty(s2c) -> break od :: true fi;
		do :: c2s?m :: empty(c2s) -> break od; m = 0 }
	od
}

init {
	atomic {
#if !defined(HASTY) && !defined(NO_CALL)
		rows();
#endif
		forget(); state = NEG_START; act = DO_NOTHING; saw = false; codec = 0; srv = 0;
		if :: v1 = true; v2 = true :: v1 = false; v2 = true :: v1 = true; v2 = false fi;
		s1 = true; s2 = true;
		if
		:: server = OURS;
			if :: true :: s1 = false :: s2 = false fi
		:: server = V1_SAYS :: server = V1_SAYS_CLOSES :: server = V1_ERROR
		:: server = V1_SILENT :: server = V1_CLOSES :: server = MUTE
		fi;
		run client(); run peer()
	}
}
