// SPDX-License-Identifier: GPL-2.0
/*
 * CRED: how many Calls a client has outstanding. Eight readers want to read
 * at once; what arrives without an answer is the window.
 */
#include <stdio.h>
#include <string.h>

#include "rp.h"
#include "client.h"
#include "stat.h"

#define READERS		8

/**
 * struct load - eight readers
 * @s: the server
 * @job: the readers
 * @call: Calls that arrived and were not answered
 * @n: number of them
 */
struct load {
	struct cl	*s;
	struct rp_job	*job[READERS];
	struct cl_call	*call[READERS + 1];
	unsigned int	n;
};

/* The next READ, if one comes in time; other Calls are answered. */
static bool another(struct load *l, unsigned int ms)
{
	struct cl_call *call;

	while ((call = cl_next_within(l->s, ms))) {
		if (call->proc == NFS_READ) {
			rp_check(l->n < READERS, "too many Calls");
			l->call[l->n++] = call;
			return true;
		}
		cl_answer(l->s, call);
	}
	rp_check(!rp_is_closed(l->s->c), "the client has gone");
	return false;
}

/* So many are outstanding, and not one more comes. */
static void want(struct load *l, unsigned int n, const char *when)
{
	while (l->n < n)
		rp_choice(another(l, RP_ANSWER),
			  "%s: %u Calls outstanding, not %u", when, l->n, n);
	rp_check(l->n == n && !another(l, 300), "%s: more than %u Calls",
		 when, n);
}

/* Start the readers; the mount has a window of @window. */
static struct load start(struct cl *s)
{
	struct load l = { .s = s };
	struct rp_job *job;
	unsigned int i;

	/* The file is known before, so that only READs are left */
	job = job_read("f", 0, 4096);
	rp_check(!cl_serve(s, job), "the first read fails");
	for (i = 0; i < READERS; i++)
		l.job[i] = job_read("f", 8192 * i, 8192);
	return l;
}

/* Answer the first @n with this grant. */
static void answer(struct load *l, unsigned int n, uint32_t grant)
{
	unsigned int i;

	l->s->grant = grant;
	for (i = 0; i < n; i++)
		cl_answer(l->s, l->call[i]);
	memmove(l->call, l->call + n, (l->n - n) * sizeof(l->call[0]));
	l->n -= n;
}

/* Everything else is answered at once. */
static void finish(struct load *l)
{
	unsigned int i;

	answer(l, l->n, 32);
	for (i = 0; i < READERS; i++) {
		rp_check(!cl_serve(l->s, l->job[i]), "a read fails");
		rp_is_pattern(job_data(l->job[i]), 8192 * i, 8192);
	}
	cl_end(l->s);
}

/* A mount whose CONNPROP answer and Replies grant @grant */
static struct cl *mounted(uint32_t grant)
{
	struct cl *s = cl_start(NULL);

	s->grant = grant;
	cl_accept(s);
	cl_settle(s);
	rp_check(!cl_serve(s, s->mount), "the mount fails");
	return s;
}

RP_CASE("credits", MUST, cred_three, "CRED-3,CRED-1,CRED-2",
	"a grant of 3: never a fourth Call")
{
	struct load l = start(mounted(3));

	want(&l, 3, "grant 3");
	answer(&l, 1, 3);
	want(&l, 3, "one answered");
	answer(&l, 3, 3);
	want(&l, 3, "three answered");
	finish(&l);
}

RP_CASE("credits", MUST | MODULE, cred_replies, "CRED-8,CRED-13",
	"Replies to a full window and control messages at once: a Receive for each")
{
	const struct rp_how how = { .no_rnr = true };
	struct cl *s = cl_start(NULL);
	struct rp_job *job[READERS];
	struct cl_call *call[READERS];
	unsigned int i, round;

	s->grant = READERS;
	cl_accept_how(s, &how);
	cl_settle(s);
	rp_check(!cl_serve(s, s->mount), "the mount fails");
	for (round = 0; round < 8; round++) {
		for (i = 0; i < READERS; i++) {
			job[i] = job_stat(cl_name());
			call[i] = cl_wait_for(s, NFS_LOOKUP);
		}
		/* Control messages use no credit */
		for (i = 0; i < 6; i++)
			rp_send(s->c, error2(rp_xid(), SYSTEM));
		for (i = 0; i < READERS; i++)
			cl_answer(s, call[i]);
		for (i = 0; i < READERS; i++)
			rp_check(!cl_serve(s, job[i]), "an operation fails");
	}
	rp_check(rp_client_stat(s, "connects") == 1, "a connection was lost");
	cl_end(s);
}

#define MANY		48	/* Calls; far more than any reserve of Receives */

RP_CASE("credits", MUST | MODULE, cred_lower_full, "CRED-8,CRED-4,CRED-13",
	"a lower grant with a full window, many control messages, then all Replies at once: a Receive for each")
{
	const struct rp_how how = { .no_rnr = true };
	struct cl *s = cl_start(NULL);
	struct cl_call *call[MANY];
	struct rp_job *job[MANY];
	unsigned int i;
	long errors;

	s->grant = 64;
	cl_accept_how(s, &how);
	cl_settle(s);
	rp_check(!cl_serve(s, s->mount), "the mount fails");
	for (i = 0; i < MANY; i++) {
		job[i] = job_stat(cl_name());
		call[i] = cl_wait_for(s, NFS_LOOKUP);
	}
	/* Of a second CONNPROP only the grant counts (CRED-14). */
	s->grant = 1;
	rp_send(s->c, cl_connprop(s, rp_xid()));
	errors = rp_client_stat(s, "rx_error");
	for (i = 0; i < 2 * MANY; i++)
		rp_send(s->c, error2(rp_xid(), SYSTEM));
	rp_client_reaches(s, "rx_error", errors + 2 * MANY);
	rp_collect(s->c);
	for (i = 0; i < MANY; i++)
		cl_answer(s, call[i]);
	rp_send_collected(s->c);
	for (i = 0; i < MANY; i++)
		rp_check(!cl_serve(s, job[i]), "an operation fails");
	rp_check(rp_client_stat(s, "connects") == 1, "a connection was lost");
	cl_end(s);
}

RP_CASE("credits", MUST, cred_lower, "CRED-4,CRED-3",
	"a lower grant counts at once, a higher one as well")
{
	struct load l = start(mounted(6));

	want(&l, 6, "grant 6");
	answer(&l, 1, 2);
	want(&l, 5, "grant 2 with five in flight");
	answer(&l, 3, 2);
	want(&l, 2, "grant 2");
	answer(&l, 1, 5);
	want(&l, 3, "grant 5, one in flight and the last two readers");
	finish(&l);
}

RP_CASE("credits", MUST, cred_zero, "CRED-5,CRED-3",
	"a grant of 0 counts as 1: traffic goes on one by one")
{
	struct load l = start(mounted(0));

	want(&l, 1, "grant 0");
	answer(&l, 1, 0);
	want(&l, 1, "grant 0, one answered");
	answer(&l, 1, 0);
	want(&l, 1, "grant 0, two answered");
	finish(&l);
}

RP_CASE("credits", MUST, cred_million, "CRED-6,SEC-3",
	"a grant of 4294967295 is cut down to what was asked for")
{
	struct load l = start(mounted(0xffffffff));

	want(&l, READERS, "a huge grant");
	rp_check(l.call[0]->credit > 0 && l.call[0]->credit < 65536,
		 "%u credits wanted", l.call[0]->credit);
	finish(&l);
}

RP_CASE("credits", DECISION, cred_connprop, "CRED-14,CRED-11,CRED-12,VER-11",
	"the grant of the CONNPROP answer counts; one of its own gives none")
{
	struct cl *s = mounted(32);
	struct load l = start(s);

	want(&l, READERS, "grant 32");
	/* All eight wait; the new connection grants 4 with its CONNPROP */
	rp_close(s->c);
	cl_accept(s);
	s->grant = 4;
	cl_settle(s);
	l.n = 0;
	want(&l, 4, "grant 4 in CONNPROP");
	/* And again, with a CONNPROP that is no answer: one */
	rp_close(s->c);
	cl_accept(s);
	cl_first(s);
	rp_send(s->c, connprop(0x55555555, 4096, 0));
	s->limit = 4096;
	l.n = 0;
	want(&l, 1, "CONNPROP without a grant");
	/* And in version 1 after ERR_VERS: one */
	rp_close(s->c);
	cl_accept(s);
	cl_settle_v1(s);
	s->limit = 1024;
	l.n = 0;
	want(&l, 1, "ERR_VERS");
	rp_check(l.call[0]->vers == 1, "version %u", l.call[0]->vers);
	finish(&l);
}

RP_CASE("credits", MUST, cred_error, "ERR-3,CRED-12,ERR-8,CRED-1",
	"the credits of an ERROR are ignored")
{
	struct cl *s = mounted(3);
	struct load l = start(s);
	struct rp_msg *m;
	unsigned int i;

	want(&l, 3, "grant 3");
	/* Ends one RPC, whose credit is free for the next */
	m = error2(l.call[0]->xid, SYSTEM);
	m->w[2] = 0xffffffff;
	rp_send(s->c, m);
	memmove(l.call, l.call + 1, 2 * sizeof(l.call[0]));
	l.n--;
	want(&l, 3, "ERROR with a huge grant");
	m = error2(l.call[0]->xid, SYSTEM);
	m->w[2] = 0;
	rp_send(s->c, m);
	memmove(l.call, l.call + 1, 2 * sizeof(l.call[0]));
	l.n--;
	want(&l, 3, "ERROR with a grant of 0");
	/* One for an XID nobody knows changes nothing */
	m = error2(0x31415926, SYSTEM);
	m->w[2] = 0xffffffff;
	rp_send(s->c, m);
	want(&l, 3, "ERROR for nobody");
	/* Two readers have failed, the others go on. */
	answer(&l, l.n, 32);
	for (i = 0; i < READERS; i++)
		cl_serve(s, l.job[i]);
	cl_end(s);
}

/* An ERROR ends the first RPC and grants nothing: what comes next shows how
 * large the window is.
 */
static void end_one(struct load *l, unsigned int n, const char *when)
{
	cl_error(l->s, l->call[0], SYSTEM);
	memmove(l->call, l->call + 1, (l->n - 1) * sizeof(l->call[0]));
	l->n--;
	want(l, n, when);
}

RP_CASE("credits", DECISION, cred_request, "CRED-9,CRED-1",
	"what a message without RESPONSE asks for is no grant")
{
	struct load l = start(mounted(3));
	unsigned int i;

	want(&l, 3, "grant 3");
	/* A reverse Call, which nobody serves, and a control message */
	rp_send(l.s->c, rp_set(null_call(rp_xid()), 2, READERS));
	end_one(&l, 3, "a Call that asks for more");
	rp_refused(l.s->c, v2(rp_xid(), READERS, 99, CALL), INVAL_HTYPE);
	end_one(&l, 3, "a control message that asks for more");
	rp_send(l.s->c, rp_set(null_call(rp_xid()), 2, 1));
	end_one(&l, 3, "a Call that asks for less");
	/* Three readers have failed, the others go on. */
	answer(&l, l.n, 32);
	for (i = 0; i < READERS; i++)
		cl_serve(l.s, l.job[i]);
	cl_end(l.s);
}

RP_CASE("credits", MUST | V1, cred_v1, "CRED-18,CRED-3,V1-8",
	"version 1 has the same rules")
{
	struct cl *s = cl_start(NULL);
	struct load l;

	s->grant = 3;
	cl_accept(s);
	cl_settle_v1(s);
	rp_check(!cl_serve(s, s->mount), "the mount fails");
	l = start(s);
	want(&l, 3, "grant 3");
	rp_check(l.call[0]->vers == 1, "version %u", l.call[0]->vers);
	answer(&l, 1, 0);
	want(&l, 2, "grant 0 with two in flight");
	answer(&l, 2, 0);
	want(&l, 1, "grant 0");
	finish(&l);
}

RP_CASE("credits", TROUBLE, cred_all_lost, "RINV-18,CRED-2",
	"every credit went with an RPC that was cancelled and is never answered: a new connection")
{
	struct cl *s = cl_start("hard,timeo=100");
	struct rp_job *job, *lost[2];
	unsigned int i;
	int err;

	s->grant = 2;
	cl_accept(s);
	cl_settle(s);
	rp_check(!cl_serve(s, s->mount), "the mount fails");
	for (i = 0; i < 2; i++) {
		lost[i] = job_stat(cl_name());
		cl_wait_for(s, NFS_LOOKUP);
	}
	for (i = 0; i < 2; i++)
		job_kill(lost[i]);
	job = job_stat(cl_name());
	rp_check(rp_closed_within(s->c, 30000), "nothing is ever sent again");
	rp_close(s->c);
	cl_accept(s);
	cl_settle(s);
	err = cl_serve(s, job);
	rp_check(!err, "the operation fails: %s", strerror(err));
	cl_end(s);
}
