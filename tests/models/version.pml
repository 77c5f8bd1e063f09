// SPDX-License-Identifier: GPL-2.0
/*
 * Connecting and the negotiation of the version: the module's own code, proto/version.c and
 * the decoders, on both sides; what conn/negotiate.c and rpcrdma2_conn_connect() of a client
 * do with it; and servers that know version 1 only, or that do not answer a CONNPROP.
 * Connections are lost, and answers are late. tables.h has the names of the states.
 *
 * Each of these weakens the model: with HASTY one loss before an answer is enough to fall
 * back to version 1, with NO_CALL silence about a CONNPROP is, and with STAYS a client goes
 * on with version 1 although the server names version 2.
 */
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
#define ATTEMPTS	5	/* RPCRDMA2_ATTEMPTS: connections of one round */

/* Messages: golden vectors, in this order */
#define CONNPROP	0
#define ERR_VERS	1
#define ERROR		2
#define REPLY		3
#define STRANGE		4
#define BAD		5
#define CALL1		6
#define CALL2		7
/* Servers: this module; version 1 that answers with ERR_VERS, and goes on or closes, with
 * another ERROR, not at all, or by closing; version 2 that ignores CONNPROP
 */
mtype = { OURS, V1_SAYS, V1_SAYS_CLOSES, V1_ERROR, V1_SILENT, V1_CLOSES, MUTE };

c_decl {
\#include "pure.c"
\#include "machines.c"
\#define VECTOR(id, ...) static const u32 words_##id[] = { __VA_ARGS__ };
\#include "vectors.inc"
\#define WORDS(id) { words_##id, ARRAY_SIZE(words_##id) }
	static const struct { const u32 *words; u32 n; } messages[] = {
		WORDS(P2), WORDS(E1b), WORDS(E9), WORDS(T2), WORDS(G6), WORDS(P4), WORDS(V1),
		WORDS(T1),
	};

	/* The bytes of a message, about the client's first one; how many */
	static u32 put(u32 m, u8 *buf)
	{
		const u32 *words = messages[m].words;
		u32 i;

		for (i = 0; i < messages[m].n; i++)
			put_unaligned_be32(words[i] == words[0] ? XID : words[i], buf + i * 4);
		return i * 4;
	}

	static u32 receive(u32 m)
	{
		u8 buf[256];

		return client_message(buf, put(m, buf));
	}

	static u32 serve(u32 m, bool v1, bool v2, unsigned char *settled)
	{
		u32 codec = *settled, low, high, len, action;
		u8 buf[256];

		len = put(m, buf);
		action = server_message(v1, v2, &codec, buf, len, &low, &high);
		*settled = codec;
		return action == RPCRDMA2_SRV_SETTLE ? RPCRDMA2_SRV_PASS : action;
	}
}
c_track "&policy" "sizeof(policy)"
c_track "&mem" "sizeof(mem)"
c_track "&neg" "sizeof(neg)"
c_track "&own_xid" "sizeof(own_xid)"

/* Versions that the client allows; its state, and what it does next */
bool v1, v2;
byte state, act, got;
#define NEG(event)	c_code { now.act = event; now.state = client_state(); }
/* Versions that the server allows, and 0 or the version settled */
bool s1, s2;
byte codec, srv;

mtype server;
bool up, quiet, spoilt;
byte lost, late, conns, rounds;
chan c2s = [2] of { byte };
chan s2c = [2] of { byte };

/* A version in common */
#define COMMON	(server == OURS -> ((v1 && s1) || (v2 && s2)) : (server == MUTE -> v2 : v1))
#define BEST	(v2 && ((server == OURS && s2) || server == MUTE) -> NEG_V2 : NEG_V1)

inline drain() { do :: c2s?m :: empty(c2s) -> break od; do :: s2c?m :: empty(s2c) -> break od; m = 0 }
inline ended() { c_code { memset(&neg, 0, sizeof(neg)); }; state = NEG_START; act = DO_NOTHING }

proctype client()
{
	byte m;
round:
	atomic {
		rounds++; conns = 0;
		/* What is known may be wrong, if losses or a late answer are the reason */
		c_code { now.spoilt = mem.next || NOW < mem.until; }
	};
connect:
	atomic {
		conns++;
		/* Four connections suffice, unless more than one is lost */
		assert(conns < ATTEMPTS || lost >= 2);
		drain(); up = true; codec = 0; quiet = false;
#ifdef HASTY
		c_code { mem.losses = 1; };
#endif
		NEG(client_connected());
		if
		:: act == DO_SEND_CONNPROP -> c2s!CONNPROP
		:: act == DO_SEND_CALL -> c2s!CALL2
		:: act == DO_SETTLE -> goto use
		:: act == DO_FAIL -> goto failed
		fi
	};
	do
	:: atomic { s2c?got -> NEG(receive(now.got)); got = 0;
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
#ifdef NO_CALL
		NEG(receive(ERROR));
#else
		NEG(client_timeout());
#endif
		if :: act == DO_RECONNECT -> goto again :: act == DO_FAIL -> goto failed fi }
	:: atomic { !up && len(s2c) == 0 -> NEG(client_lost());
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
#ifndef STAYS
			NEG(client_refused(RDMA2_ERR_VERS, 2, 2));
#endif
			if
			:: act == DO_RECONNECT -> goto over
			:: else -> assert(!COMMON); goto over
			fi
		:: m == REPLY ->
			assert(server != OURS || codec == (state == NEG_V1 -> 1 : 2));
			c_code { client_proved(); };
			/* The best version, unless two losses or a late answer hide it */
			assert(spoilt || state == BEST);
			m = 0; goto over
		:: else -> m = 0
		fi }
	:: atomic { !up && len(s2c) == 0 -> NEG(client_lost()); goto over }
	:: atomic { up && quiet && len(s2c) == 0 && len(c2s) == 0 ->	/* the RPC times out */
		up = false }
	od;
failed:
	/* Nothing in common, or version 2 is required and did not come through */
	atomic { assert(!COMMON || (!v1 && spoilt)) };
over:
	atomic {
		up = false; drain(); ended(); conns = 0;
		/* The time that the memory is kept may be over */
		if :: c_code { mem.until = 0; } :: true fi;
		if
		:: rounds < ROUNDS -> goto round
		:: rounds == ROUNDS
		fi
	}
}

proctype peer()
{
	byte m;
end:
	do
	:: atomic { up && len(c2s) > 0 && len(s2c) < 2 -> c2s?m;
		if
		:: server == OURS ->
			got = m;
			c_code { now.srv = serve(now.got, now.s1, now.s2, &now.codec); };
			got = 0;
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
		if :: v1 = true; v2 = true :: v1 = false; v2 = true :: v1 = true; v2 = false fi;
		/* The time of the memory does not grow; when it ends, anything may happen. */
		c_code { client_new(now.v1, now.v2, XID); policy.remember_max = 60; };
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
