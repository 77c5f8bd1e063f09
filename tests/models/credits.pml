// SPDX-License-Identifier: GPL-2.0
/*
 * Credits, Receives, property changes and loss of the connection between one
 * client and one server: proto/credits.c, proto/prop_change.c, conn/recv_queue.c.
 *
 * A posted Receive is a token. A message in a channel has not taken one yet; a
 * message that arrives and finds none is the fault to look for (RNR NAK).
 *
 * STAYS_LOW: the server does not raise its grant again after it has lowered it.
 * FORGETS_CALLS weakens the model: Receives are posted for the grant alone, not for
 * Calls in flight from before it was lowered. EARLY_WINDOW weakens it, too: a grant
 * opens the window before the Receives for the Replies are posted.
 */
#ifndef ASKED
#define ASKED	2		/* credits that the client asks for */
#endif
#ifndef LIMIT
#define LIMIT	2		/* largest grant of the server */
#endif
#ifndef RESERVE
#define RESERVE	4		/* RPCRDMA2_CONTROL_RESERVE */
#endif
#ifndef BATCH
#define BATCH	1		/* RPCRDMA2_RECV_BATCH */
#endif
#define EXTRA	(RESERVE + BATCH - 1)
#ifndef CHANGES
#define CHANGES	1		/* announcements of each side, per connection */
#endif
#ifndef ASKS
#define ASKS	0		/* changes that the client asks for, per connection */
#endif
#ifndef SHORT
#define SHORT	0		/* times that memory is short, per connection */
#endif
#ifndef LOWERS
#define LOWERS	1		/* requests of an idle client on which the server lowers */
#endif
#ifndef CALLS
#define CALLS	3		/* per connection */
#endif
#define DEPTH	(LIMIT + RESERVE + 1)

mtype = { CALL, REPLY, REQ, RESP, UPD, QUIET };
mtype = { NONE, SENT, PROVING };

chan c2s = [DEPTH] of { mtype, byte };	/* type, credit */
chan s2c = [DEPTH] of { mtype, byte };

bool up = false, ready = false;
byte losses = 0;
#ifndef LOSSES
#define LOSSES	1		/* connections lost */
#endif

/* client */
byte c_pool, s_pool, calls;
byte granted, inflight, c_posted, c_target;
/* server */
byte grant, s_inflight, high, s_posted, s_target, short_of = SHORT;
/* struct rpcrdma2_change of each side: 0 client, 1 server */
mtype ann[2];
bool pending[2], dirty[2], want[2];
byte changes[2], asks;
bool quiet;

#define MIN(a, b) ((a) < (b) -> (a) : (b))
#define MAX(a, b) ((a) > (b) -> (a) : (b))

/* A side may send only if the other has a Receive for the message: messages under
 * way take one each.
 */
/* rpcrdma2_window_due() */
#ifdef FORGETS_CALLS
#define DUE	granted
#else
#define DUE	MAX(granted, inflight)
#endif

#define room_at_s  (s_posted > len(c2s))
#define room_at_c  (c_posted > len(s2c))

/* recv_post(): in batches. Receives that came back are in the pool. Memory for
 * others may be short; then a work item tries again.
 */
inline refill(posted, target, pool, least)
{
	if
	:: target > posted && target - posted >= least ->
		k = MIN(target - posted, pool);
		posted = posted + k; pool = pool - k;
		if
		:: target > posted && short_of > 0 -> short_of--
		:: target > posted -> posted = target
		:: else
		fi
	:: else
	fi;
	k = 0
}
/* recv_recycle(): keep the Receive only if it is missing */
inline recycle(posted, target, pool) { if :: posted + pool < target -> pool++ :: else fi }

inline reset()
{
	granted = 1; inflight = 0; c_target = 1 + EXTRA; c_posted = 1 + EXTRA;
	grant = 1; s_inflight = 0; high = 0; s_target = 1 + EXTRA; s_posted = 1 + EXTRA;
	ann[0] = NONE; ann[1] = NONE; pending[0] = false; pending[1] = false;
	dirty[0] = false; dirty[1] = false; want[0] = false; want[1] = false;
	changes[0] = CHANGES; changes[1] = CHANGES; asks = ASKS; quiet = LOWERS; calls = CALLS; c_pool = 0; s_pool = 0;
	short_of = SHORT
}

/* rpcrdma2_prop_change_next() and put_*() of side i */
#define UPDATES(i)	(dirty[i] && ann[i] == NONE)
#define SENDS(i)	(UPDATES(i) || (!pending[i] && (want[i] || ann[i] == SENT)))
inline next(i, out, room)
{
	if
	:: UPDATES(i) && nfull(out) ->
		assert(room);			/* CRED-13: the reserve */
		dirty[i] = false; ann[i] = SENT; out!UPD(0)
	:: !UPDATES(i) && !pending[i] && (want[i] || ann[i] == SENT) && nfull(out) ->
		assert(room);
		pending[i] = true; want[i] = false;
		if :: ann[i] == SENT -> ann[i] = PROVING :: else fi;
		out!REQ(0)
	fi
}

inline answered(i)				/* rpcrdma2_prop_change_response() */
{
	assert(pending[i]);
	pending[i] = false;
	if :: ann[i] == PROVING -> ann[i] = NONE :: else fi
}

proctype client()
{
	mtype m; byte v, n, k;
end:
	do
	:: atomic { up && calls > 0 && inflight < granted && nfull(c2s) ->
		/* rpcrdma2_window_take(), the Send is posted */
		assert(room_at_s);		/* CRED-7 */
		assert(c_posted > inflight);	/* CRED-8 */
		inflight++; calls--;
		c2s!CALL(ASKED) }
	:: atomic { up && changes[0] > 0 -> changes[0]--; dirty[0] = true }
	:: atomic { up && asks > 0 && !want[0] -> asks--; want[0] = true }
	:: atomic { up && changes[0] > 0 -> changes[0]--; want[0] = true }
	:: atomic { up && quiet && inflight == 0 && nfull(c2s) && !pending[0] ->
		/* the request of an idle client */
		quiet = false; assert(room_at_s); pending[0] = true; c2s!QUIET(0) }
	:: atomic { up && SENDS(0) && nfull(c2s) -> next(0, c2s, room_at_s) }
	:: atomic { s2c?m(v) ->
		assert(c_posted > 0);		/* RNR otherwise */
		c_posted--;
		if
		:: m == REPLY ->
			assert(inflight > 0); inflight--
		:: m == RESP -> answered(0)
		:: m == REQ ->	/* answered at once by the completion handler */
			assert(nfull(c2s)); assert(room_at_s); c2s!RESP(0)
		:: m == UPD || m == QUIET
		fi;
		/* rpcrdma2_credit_granted() */
		if
		:: m == REPLY || m == RESP ->
			n = MIN(v, ASKED); n = MAX(n, 1);
			if
			:: n > granted ->
#ifdef EARLY_WINDOW
				granted = n
#else
				c_target = MAX(n, DUE) + EXTRA;
				refill(c_posted, c_target, c_pool, 1);
				n = (c_posted > EXTRA -> MIN(c_posted - EXTRA, n) : 0);
				n = MAX(n, granted);
				granted = n
#endif
			:: n <= granted ->
				granted = n;
				/* recv_need() */
				if
				:: DUE + EXTRA < c_target -> c_target = DUE + EXTRA
				:: else
				fi
			fi
		:: else
		fi;
		recycle(c_posted, c_target, c_pool);
		refill(c_posted, c_target, c_pool, BATCH); m = CALL; v = 0; n = 0 }
	:: atomic { up && c_posted < c_target && short_of == 0 -> c_posted = c_target }	/* recv_refill_work() */
	od
}

proctype server()
{
	mtype m; byte v, n, k;
end:
	do
	:: atomic { c2s?m(v) ->
		assert(s_posted > 0);
		s_posted--;
		if
		:: m == CALL ->			/* rpcrdma2_grant_call() */
			s_inflight++;
			high = MAX(high, s_inflight);
			if
#ifdef STAYS_LOW
			:: high > grant / 2 && quiet ->
#else
			:: high > grant / 2 ->
#endif
				n = MIN(2 * grant, LIMIT); n = MIN(n, v); n = MAX(n, grant);
				if
				:: n > grant ->		/* rpcrdma2_credit_raise() */
					s_target = n + EXTRA;
					refill(s_posted, s_target, s_pool, 1);
					n = (s_posted > EXTRA -> MIN(s_posted - EXTRA, n) : 0);
					if :: n > grant -> grant = n; high = s_inflight :: else fi
				:: else
				fi
			:: else
			fi
		:: m == QUIET ->			/* rpcrdma2_credit_lower() */
			if :: grant > 1 -> grant = 1; high = s_inflight; s_target = 1 + EXTRA :: else fi;
			assert(nfull(s2c)); assert(room_at_c); s2c!RESP(grant)
		:: m == REQ ->
			assert(nfull(s2c)); assert(room_at_c); s2c!RESP(grant)
		:: m == RESP -> answered(1)
		:: m == UPD
		fi;
		/* the Receive of a Call stays with it until the Reply */
		if :: m != CALL -> recycle(s_posted, s_target, s_pool) :: else fi;
		refill(s_posted, s_target, s_pool, BATCH); m = CALL; v = 0; n = 0 }
	:: atomic { up && s_inflight > 0 && nfull(s2c) ->	/* nfsd has executed */
		assert(room_at_c);
		/* rpcrdma2_recv_put(): post it before the credit is given back */
		recycle(s_posted, s_target, s_pool);
		if
		:: SHORT && s_posted < s_target && s_pool > 0 -> s_posted++; s_pool--
		:: else
		fi;
		s_inflight--; s2c!REPLY(grant) }
	:: atomic { up && changes[1] > 0 -> changes[1]--; dirty[1] = true }
	:: atomic { up && SENDS(1) && nfull(s2c) -> next(1, s2c, room_at_c) }
	:: atomic { up && s_posted < s_target && short_of == 0 -> s_posted = s_target }
	:: atomic { up && short_of > 0 -> short_of-- }
	od
}

proctype link()
{
	mtype m; byte v;
end:
	do
	:: atomic { !up -> reset(); up = true }
	:: atomic { up && losses < LOSSES -> losses++; up = false;
		/* what is under way is flushed */
		do :: c2s?m(v) :: empty(c2s) -> break od;
		do :: s2c?m(v) :: empty(s2c) -> break od; m = CALL; v = 0 }
	:: timeout ->	/* nothing can move: then nothing may be unfinished */
		assert(up && !pending[0] && !pending[1] && !want[0] && !want[1] &&
		       !dirty[0] && !dirty[1] && ann[0] == NONE && ann[1] == NONE &&
		       inflight == 0 && s_inflight == 0 && granted <= grant);
		break
	od
}

init { atomic { reset(); run client(); run server(); run link() } }

/* A change is announced in the end, if no connection is lost. */
#define QUEUED	(dirty[0] || ann[0] != NONE)
ltl announced { [](QUEUED -> <>!QUEUED) }
