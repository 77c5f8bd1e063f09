// SPDX-License-Identifier: GPL-2.0
/*
 * The end of an RPC at its requester: Reply or ERROR, local invalidation, cancellation,
 * retransmission, and the end of the connection (requester/rpc_slot.c, requester.c,
 * reply.c, invalidate.c). One slot, two handles, one credit.
 *
 * An atomic section is what the module does with queue_lock held, or a work request. The
 * adapter has its own view of a handle (hw); the peer can use the memory while that is
 * set. The property (R1 of rpc_slot.h): sunrpc gets the memory back only when no handle
 * is valid and no memory is mapped.
 *
 * tables.h has the states and steps of the module, see tests/models/tables.
 *
 * Each of these weakens the model: GUESSED accepts a Reply before its Call is posted,
 * NO_WAIT lets a task that cancels go on before the local invalidation has completed, and
 * AT_ONCE releases a cancelled RPC when its Reply arrives, whatever is under way.
 */
#include "tables.h"

#ifndef RPCS
#define RPCS		2		/* that use the slot, one after the other */
#endif
#ifndef HANDLES
#define HANDLES		2		/* of an RPC, at the most */
#endif
#ifndef TRIES
#define TRIES		2		/* transmissions of each RPC */
#endif
#ifndef LOSSES
#define LOSSES		1		/* connections lost or closed */
#endif
#ifndef FAULTS
#define FAULTS		1		/* of the peer: second Replies, guesses, bad Replies */
#endif
#ifndef REFUSALS
#define REFUSALS	1		/* forms of a Call that the server does not take */
#endif
#ifndef SHORT
#define SHORT		1		/* times that a Call finds no resources */
#endif

mtype = { REPLY, FAIL, AGAIN, RECONNECT };
mtype = { FREE, VALID, INVALID };

/* The slot */
byte st = REQ_IDLE;
bool inv;
byte xid, sends, pins;
bool on_wire, again, failed, abandoned;
mtype mr[2] = FREE;
bool listed[2];

/* sunrpc: waits for the Reply; has got it; the RPC's memory is in use */
bool need, done, lent, ended;

/* The connection */
bool attached = true, up = true, killed, stopping;
bool credit;			/* in use */
byte busy;
bool posting;			/* sendq.lock */
bool linv, lwait;		/* local invalidations posted; waiting for the send queue */
bool hw[2];			/* the adapter accepts the handle */
bool rx, inv_runs;		/* completion handlers that run */
byte losses = LOSSES, faults = FAULTS, short_of = SHORT, refusals = REFUSALS;

chan calls = [2] of { byte, byte };		/* XID, instance */
chan replies = [2] of { mtype, byte, byte, byte };	/* what, XID, instance, handle */

#define USABLE	(attached && !stopping && !killed)
#define OUTSTANDING (st == REQ_SENDING || st == REQ_POSTED || st == REQ_REPLIED || \
		     st == REQ_ANSWERED || st == REQ_ORPHAN)

/* Macros, because C code in an inline has no arguments */
#define set(to)	assert(REQ_MAY(st, to)); c_code { step(0, now.st, to); }; st = to

/* The owner of the memory may use it again. */
inline returned()
{
	assert(!hw[0] && !hw[1] && mr[0] == FREE && mr[1] == FREE);
	lent = false
}

inline unmap() { assert(mr[0] != VALID && mr[1] != VALID); mr[0] = FREE; mr[1] = FREE }
inline mrs_put() { unmap(); listed[0] = false; listed[1] = false }
inline inval_begin()
{
	if :: mr[0] == VALID || mr[1] == VALID -> inv = true :: else fi
}
/* rpcrdma2_req_release() */
inline release()
{
	mrs_put(); set(REQ_IDLE);
	if :: abandoned -> abandoned = false; lent = false :: else fi
}
/* rpcrdma2_inval_redo() */
inline redo()
{
	atomic {
		if :: st == REQ_REPLIED -> set(REQ_ANSWERED); pins-- :: else fi
	}
}

inline finish()
{
	atomic { mrs_put() };
	atomic {
		if
		:: again -> set(REQ_QUEUED); again = false; pins--
		:: else ->
			if
			:: faults > 0 && !failed ->	/* not its own, in a Reply chunk */
				faults--; killed = true; redo()
			:: true ->
				set(REQ_IDLE);
				returned(); done = true; pins--
			fi
		fi
	}
}

/* inval_run(): post the local invalidations, wait for the send queue, or fail */
inline inval_run()
{
	if
	:: atomic { !posting && !killed && up -> linv = true }
	:: atomic { lwait = true }
	:: atomic { killed -> redo() }
	fi
}

/* A completion handler: rpcrdma2_requester_answer() */
active proctype receive()
{
	mtype what; byte id, instance, handle;
	bool found, wanted, fair, ends, invals;
end:
	do
	:: atomic { replies?what(id, instance, handle) ->
		rx = true; ends = false; invals = false;
		if				/* the adapter */
		:: handle && instance == sends && hw[handle - 1] -> hw[handle - 1] = false
		:: handle && !(instance == sends && hw[handle - 1]) -> killed = true; goto out
		:: !handle
		fi;
		/* find_req() */
		wanted = need && id == xid && st != REQ_IDLE && st != REQ_QUEUED;
		found = id == xid && OUTSTANDING;
#ifdef GUESSED
		found = found && (st == REQ_SENDING || st == REQ_POSTED || st == REQ_ORPHAN);
#else
		found = found && ((st == REQ_SENDING && on_wire) || st == REQ_POSTED ||
				  st == REQ_ORPHAN);
#endif
		/* take_invalidated() */
		fair = true;
		if
		:: handle && listed[handle - 1] &&
		   (found || st == REQ_ORPHAN || st == REQ_ANSWERED) ->
			if
			:: !inv && mr[handle - 1] == VALID -> mr[handle - 1] = INVALID
			:: else
			fi
		:: handle && !(listed[handle - 1] &&
			       (found || st == REQ_ORPHAN || st == REQ_ANSWERED)) ->
			fair = false; killed = true
		:: else
		fi;
		if
		:: !found || !fair -> goto out
		:: else
		fi;
		if
		:: st == REQ_ORPHAN
		:: st != REQ_ORPHAN && what != REPLY ->	/* take_error() */
			failed = (what == FAIL);
			again = wanted && what == AGAIN
		:: st != REQ_ORPHAN && what == REPLY && faults > 0 ->	/* contradicts its Call */
			faults--; killed = true; goto out
		:: st != REQ_ORPHAN && what == REPLY
		fi;
		/* answer() */
		assert(credit); credit = false;
		if
		:: st == REQ_ORPHAN ->
			if
#ifndef AT_ONCE
			:: inv -> set(REQ_ANSWERED)
#endif
			:: else -> release()
			fi
		:: st != REQ_ORPHAN && !wanted -> set(REQ_ANSWERED)
		:: else ->
			set(REQ_REPLIED);
			pins++;
			inval_begin(); ends = true; invals = inv
		fi };
		if :: what == RECONNECT -> killed = true :: else fi;
		if
		:: ends && what == RECONNECT -> redo()
		:: ends && what != RECONNECT && invals -> inval_run()
		:: ends && what != RECONNECT && !invals -> finish()
		:: !ends
		fi;
out:
		atomic { rx = false; what = REPLY; id = 0; instance = 0; handle = 0;
			 found = false; wanted = false; fair = false; ends = false; invals = false }
	od
}

/* inval_done(), and the send queue's waiter */
active proctype inval_done()
{
end:
	do
	:: atomic { linv && !posting -> linv = false; inv_runs = true;
		if
		:: up -> hw[0] = false; hw[1] = false
		:: killed -> goto lost
		fi };
		atomic {
			if :: mr[0] == VALID -> mr[0] = INVALID :: else fi;
			if :: mr[1] == VALID -> mr[1] = INVALID :: else fi
		};
		if
		:: atomic { st == REQ_REPLIED -> inv = false }; finish()
		:: atomic { st != REQ_REPLIED -> unmap(); inv = false }
		fi;
		inv_runs = false
	:: atomic { lwait && !killed && !posting -> lwait = false; linv = true }
	:: atomic { lwait && killed -> lwait = false; inv_runs = true }; goto lost
	od;
lost:
	atomic { killed = true; redo(); inv_runs = false };
	goto end
}

/* call_send(), of any thread */
active [2] proctype sender()
{
	byte instance;
end:
	do
	:: atomic { USABLE && st == REQ_QUEUED && !need -> set(REQ_IDLE) }	/* unwanted */
	:: atomic { USABLE && st == REQ_QUEUED && need && !credit ->
		credit = true; set(REQ_SENDING); sends++; instance = sends;
		on_wire = false; pins++; busy++ };
		if
		:: atomic { short_of > 0 -> short_of--;		/* fifo_put_back() */
			credit = false; set(REQ_QUEUED); pins--; busy-- }
		:: atomic { short_of > 0 -> short_of--;		/* fail_call() */
			credit = false; set(REQ_IDLE); pins--; busy--; failed = true }
		:: atomic { lent = true; listed[0] = true; mr[0] = VALID;
			if
			:: HANDLES > 1 -> listed[1] = true; mr[1] = VALID
			:: true
			fi };
			goto post
		:: atomic { lent = true }; goto post
		fi
	od;
post:
	atomic { !posting -> posting = true; on_wire = true };
	atomic {
		posting = false;
		if
		:: killed
		:: up && nfull(calls) ->
			if :: mr[0] == VALID -> hw[0] = true :: else fi;
			if :: mr[1] == VALID -> hw[1] = true :: else fi;
			assert(lent || (!hw[0] && !hw[1]));
			calls!xid(instance)
		fi
	};
	atomic {
		if
		:: st == REQ_SENDING && sends == instance -> set(REQ_POSTED)
		:: else
		fi;
		if :: sends == instance -> on_wire = false :: else fi;
		pins--; busy--; instance = 0
	};
	goto end
}

/* Any behaviour: Replies in any order and number, and handles that are none of the RPC's */
active proctype server()
{
	byte id, instance, handle; mtype what;
end:
	do
	:: atomic { up && nfull(replies) && nempty(calls) ->
		if
		:: calls?id(instance)
		:: faults > 0 -> faults--; calls?<id, instance>	/* and again, later */
		fi;
		if
		:: what = REPLY
		:: what = FAIL
		:: refusals > 0 -> refusals--; what = AGAIN
		:: what = RECONNECT
		fi;
		if :: handle = 0 :: hw[0] -> handle = 1 :: hw[1] -> handle = 2 fi;
		replies!what(id, instance, handle);
		id = 0; instance = 0; handle = 0; what = REPLY }
	:: atomic { up && faults > 0 && nfull(replies) -> faults--;
		replies!REPLY(xid, sends, 0) }			/* a guess */
	od
}

/* The task of sunrpc */
active proctype task()
{
	byte rpcs = RPCS, tries;
	bool post, waits;

	do
	:: atomic { rpcs > 0 && st == REQ_IDLE && !abandoned ->	/* alloc_slot */
		rpcs--; tries = 0; xid++; failed = false; done = false };
		goto send
	:: rpcs == 0 -> break
	od;
	ended = true;
	goto end;
send:
	atomic {				/* rpcrdma2_requester_send() */
		need = true; tries++;
		if
		:: failed || !USABLE
		:: else ->
			if
			:: st == REQ_IDLE -> again = false; set(REQ_QUEUED)
			:: st == REQ_QUEUED
			:: st == REQ_REPLIED || st == REQ_POSTED
			:: st != REQ_IDLE && st != REQ_QUEUED -> killed = true
			fi
		fi
	};
	if
	:: (done || failed) -> skip
	:: tries < TRIES ->			/* a timeout, or the connection is lost */
		need = false; (pins == 0);	/* encoded again */
		if :: done || failed -> skip :: else -> goto send fi
	:: true					/* killed */
	fi;
	need = false; (pins == 0);
	/* rpcrdma2_inval_buf_free() */
	atomic {
		waits = false; post = false;
		if
		:: st == REQ_IDLE -> goto buf_free
		:: st == REQ_QUEUED -> set(REQ_IDLE); goto buf_free
		:: st == REQ_POSTED -> set(REQ_ORPHAN)
		:: st == REQ_ANSWERED
		fi;				/* no other state is possible */
		if
		:: !inv -> inval_begin(); post = inv && attached && !stopping
		:: else
		fi;
		if
		:: inv -> waits = true; if :: post -> busy++ :: else fi
		:: else ->
			unmap();
			if :: st == REQ_ANSWERED -> release() :: else fi;
			goto buf_free
		fi
	};
	if
	:: post -> inval_run(); busy--
	:: !post
	fi;
#ifndef NO_WAIT
	if
	:: !inv
	:: atomic { attached -> killed = true }; !inv	/* the watchdog: took too long */
	fi;
	atomic { if :: st == REQ_ANSWERED -> release() :: else fi };
#endif
buf_free:
	atomic { post = false; waits = false; returned() };
	atomic {				/* rpcrdma2_requester_free_slot() */
		if
		:: st == REQ_IDLE
		:: st != REQ_IDLE -> assert(st == REQ_ORPHAN); abandoned = true
		fi
	};
	if
	:: atomic { rpcs > 0 && st == REQ_IDLE && !abandoned ->
		rpcs--; tries = 0; xid++; failed = false; done = false };
		goto send
	:: rpcs == 0
	:: rpcs > 0 && abandoned -> rpcs = 0	/* all slots are taken */
	fi;
	atomic { ended = true; tries = 0; failed = false; done = false };
end:
	skip
}

/* Closing of the connection: rpcrdma2_requester_stop(), _detach(), _attach() */
active proctype connection()
{
	mtype what; byte a, b, c;
end:
	do
	:: atomic { losses > 0 && attached && !killed -> losses--; killed = true }
	:: atomic { killed && attached -> stopping = true };
		(busy == 0);
		/* rpcrdma2_conn_close() drains the queues: the QP accepts nothing any more */
		atomic { up = false;
			do :: calls?a(b) :: empty(calls) -> break od;
			do :: replies?what(a, b, c) :: empty(replies) -> break od;
			what = REPLY; a = 0; b = 0; c = 0 };
		atomic { !rx && !linv && !lwait && !inv_runs && busy == 0 ->
			hw[0] = false; hw[1] = false; credit = false; attached = false;
			sends = 0;
			if
			:: st == REQ_QUEUED -> set(REQ_IDLE)
			:: OUTSTANDING ->
				assert(st != REQ_SENDING && st != REQ_REPLIED);
				mr[0] = FREE; mr[1] = FREE; listed[0] = false; listed[1] = false;
				set(REQ_IDLE); inv = false;
				abandoned = false
			:: st == REQ_IDLE
			fi };
		atomic { attached = true; up = true; killed = false; stopping = false }
	:: timeout ->				/* nothing can move: then nothing is unfinished */
		assert(ended && pins == 0 && busy == 0 && !inv &&
		       (st == REQ_IDLE || st == REQ_ORPHAN));
		break
	od
}
