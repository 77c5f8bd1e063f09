// SPDX-License-Identifier: GPL-2.0
/*
 * Changes of the Receive Buffer Size by both peers at once: proto/prop_change.c and
 * conn/prop_update.c on both sides, the messages whose length depends on the size, and
 * the loss of the connection. Sizes are 1 to CAPACITY; side 0 is the client.
 *
 * tables.h has the states of an announcement, and rows(), which has the model do what
 * each row of tools/vectors/send-limit.csv says (tests/models/tables).
 *
 * ASKS_LESS: a peer asks for a smaller size, too. This module does not, unless the other
 * side changes its size at the same time.
 *
 * Each of these weakens the model: with UNASKED a peer lowers its size without being
 * asked, with LATER a peer that has asked for a smaller size sends longer messages until
 * the answer, with FORGETS a new value is not announced while another announcement is under
 * way, and with DROPS a request in the queue is dropped although the answer to an older one
 * may undo what it asks for.
 */
#ifndef CAPACITY
#define CAPACITY	3
#endif
#ifndef CHANGES
#define CHANGES		1	/* values that each side changes */
#endif
#ifndef ASKS
#define ASKS		1	/* values that each side asks for */
#endif
#ifndef LOSSES
#define LOSSES		1
#endif
#ifndef CALLS
#define CALLS		1	/* of the client */
#endif
#define FIRST		1	/* size that both announce in the beginning */

mtype = { DATA, CALL, REPLY, REQPROP, RESPROP, UPDPROP };
mtype = { DONE, OTHER, REJECTED };

/* struct rpcrdma2_conn_props and _change of each side */
byte mine[2], told[2], peer[2];
byte ann[2], asked[2], want[2];		/* asked, want: a size, or 0 */
bool pending[2], dirty[2];
byte wish[2];				/* the size last asked for, unless it was rejected */
/* For what a Reply may be as long as: the client's limit for each Call */
byte due, inflight;
byte changes[2] = CHANGES, asks[2] = ASKS, sends[2] = 1, calls = CALLS, losses;
bool up;

#define MIN(a, b)	((a) < (b) -> (a) : (b))
/* rpcrdma2_prop_change_limit() */
#ifdef LATER
#define LIMIT(i)	peer[i]
#else
#define LIMIT(i)	(asked[i] && asked[i] < peer[i] -> asked[i] : peer[i])
#endif
/* limits_follow(): what the client expects of Replies */
#define EXPECTS		MIN(MIN(mine[0], told[0]), LIMIT(0))

#include "tables.h"

chan c2s = [6] of { mtype, byte, mtype };	/* type, size or length, result */
chan s2c = [6] of { mtype, byte, mtype };

/* rpcrdma2_prop_change_next(): an UPDPROP is to be sent */
#define UPDATES(i)	(dirty[i] && ann[i] == ANN_NONE)

/* set_own() */
inline announce(i)
{
#ifdef FORGETS
	if :: ann[i] == ANN_NONE -> dirty[i] = true :: else fi
#else
	dirty[i] = true
#endif
}
/* rpcrdma2_prop_change_response(), with end_request(), which calls _met() */
inline response(i, result, value)
{
	if
	:: result == DONE -> peer[i] = asked[i]
	:: result == OTHER -> peer[i] = value
	:: result == REJECTED -> if :: !want[i] -> wish[i] = 0 :: else fi
	fi;
	pending[i] = false; asked[i] = 0;
	if :: ann[i] == ANN_PROVING -> ann[i] = ANN_NONE :: else fi;
	met(i)
}
/* The peer has a new size. */
#ifdef DROPS
#define LAST(i)		true
#else
#define LAST(i)		(!asked[i])
#endif
inline met(i) { if :: want[i] && LAST(i) && peer[i] >= want[i] -> want[i] = 0 :: else fi }
inline begin_request(i)
{
	pending[i] = true;
	if :: ann[i] == ANN_SENT -> ann[i] = ANN_PROVING :: else fi;
	asked[i] = want[i]; want[i] = 0
}

inline reset(i)
{
	mine[i] = FIRST; told[i] = FIRST; peer[i] = FIRST; ann[i] = ANN_NONE; asked[i] = 0;
	want[i] = 0; wish[i] = 0; pending[i] = false; dirty[i] = false; changes[i] = CHANGES;
	asks[i] = ASKS
}

/* rbsiz_grant(): the value in force afterwards */
inline grant(i, wanted)
{
	if
	:: wanted > CAPACITY || (wanted < mine[i] && i == 0 && inflight)
	:: else -> mine[i] = wanted
	fi
}

proctype side(byte i; chan in; chan out)
{
	mtype m, result; byte v;
end:
	do
	/* A message as long as the limit allows, at any time; one finds every fault */
	:: atomic { up && sends[i] > 0 && len(out) < 2 -> sends[i]--; out!DATA(LIMIT(i), 0) }
	/* A Call, whose Reply may be inline */
	:: atomic { up && i == 0 && calls > 0 && !inflight && len(out) < 2 ->
		calls--; inflight = 1; due = EXPECTS; out!CALL(due, 0) }
	/* set_own(), ask_peer() */
	:: atomic { up && changes[i] > 0 && mine[i] < CAPACITY ->
		changes[i]--;
		if :: mine[i]++ :: mine[i] = CAPACITY fi;
		announce(i) }
#ifdef UNASKED
	:: atomic { up && changes[i] > 0 && mine[i] > 1 -> changes[i]--; mine[i]--; announce(i) }
#endif
	:: atomic { up && asks[i] > 0 -> asks[i]--;
		if
		:: want[i] = peer[i]
		:: peer[i] < CAPACITY -> want[i] = peer[i] + 1
#ifdef ASKS_LESS
		:: peer[i] > 1 -> want[i] = peer[i] - 1
#endif
		fi;
		wish[i] = want[i] }
	/* send_next() */
	:: atomic { up && UPDATES(i) && nfull(out) ->
		dirty[i] = false; ann[i] = ANN_SENT; told[i] = mine[i]; out!UPDPROP(mine[i], 0) }
	:: atomic { up && !UPDATES(i) && !pending[i] &&
		    (want[i] || ann[i] == ANN_SENT) && nfull(out) ->
		begin_request(i); out!REQPROP(asked[i], 0) }
	/* The message is received, and answered at once */
	:: atomic { up && len(in) > 0 && nfull(out) -> in?m(v, result);
		if
		:: m == DATA || m == CALL -> assert(m == CALL || v <= mine[i])
		:: m == REPLY -> assert(v <= mine[i]); inflight = 0; due = 0
		:: m == UPDPROP -> peer[i] = v; met(i)
		:: m == RESPROP -> assert(pending[i]); response(i, result, v)
		:: m == REQPROP && v == 0 -> out!RESPROP(0, REJECTED)
		:: m == REQPROP && v > 0 ->
			result = mine[i];
			grant(i, v);
			if
			:: mine[i] == v -> dirty[i] = false; told[i] = v; result = DONE
			:: mine[i] != v -> result = REJECTED
			fi;
			out!RESPROP(mine[i], result)
		fi;
		if
		:: m == CALL -> due = v
		:: else
		fi;
		m = 0; v = 0; result = 0 }
	/* The Reply: the client has no chunk for it */
	:: atomic { up && i == 1 && inflight == 1 && due && len(in) == 0 && nfull(out) ->
		inflight = 2;
#ifdef REPLIES
		assert(LIMIT(1) >= due);
#endif
		out!REPLY(MIN(due, LIMIT(1)), 0) }
	od
}

proctype link()
{
	mtype m, r; byte v;
end:
	do
	:: atomic { !up -> reset(0); reset(1); due = 0; inflight = 0; up = true }
	:: atomic { up && losses < LOSSES -> losses++; up = false;
		do :: c2s?m(v, r) :: empty(c2s) -> break od;
		do :: s2c?m(v, r) :: empty(s2c) -> break od; m = 0; v = 0; r = 0 }
	:: timeout ->	/* nothing can move: both agree, wishes are met, nothing is unfinished */
		assert(up && peer[0] == mine[1] && peer[1] == mine[0] && told[0] == mine[0] &&
		       told[1] == mine[1] && ann[0] == ANN_NONE && ann[1] == ANN_NONE &&
		       !pending[0] && !pending[1] && !want[0] && !want[1] && !asked[0] &&
		       !asked[1] && !dirty[0] && !dirty[1] && !inflight &&
		       peer[0] >= wish[0] && peer[1] >= wish[1]);
		break
	od
}

init {
	atomic {
#ifndef LATER
		rows();
#endif
		run side(0, s2c, c2s); run side(1, c2s, s2c); run link()
	}
}
