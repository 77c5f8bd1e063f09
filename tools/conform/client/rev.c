// SPDX-License-Identifier: GPL-2.0
/*
 * REV: the reverse direction, as a client treats it. An NFSv4.1 mount makes
 * its session; the next Call, whatever it is, is held back, and Calls of the
 * server arrive.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "rp.h"
#include "client.h"
#include "fault.h"
#include "either.h"

enum { OP_EXCHANGE_ID = 42, OP_CREATE_SESSION = 43 };

static uint32_t cb_program;
static uint32_t cb_max;			/* bytes of a reverse RPC Call */

static void exchange_id(struct cl *s, struct cl_call *call)
{
	struct rp_msg *m = rpc_reply(call->xid);
	char name[32];

	/* Another server each time, or clients of earlier cases recognise it */
	snprintf(name, sizeof(name), "raw-%s-%u", rp_opt.dev, rp_opt.port);
	put_all(m, W(0, 0, 1, OP_EXCHANGE_ID, 0));
	put_all(m, W(0x11223344, rp_opt.port, 1));	/* client, sequence */
	put_all(m, W(0x10000, 0));		/* no pNFS; no protection */
	put_all(m, W(0, 1));			/* minor id */
	put_opaque(m, name, strlen(name));	/* major id */
	put_opaque(m, name, strlen(name));	/* scope */
	put(m, 0);
	cl_reply(s, call, m);
}

/* The client's wishes are granted as they are. */
static void create_session(struct cl *s, struct cl_call *call)
{
	struct rp_msg *m = rpc_reply(call->xid);
	unsigned int at = 4, i, j;		/* behind tag, minor, ops, op */

	put_all(m, W(0, 0, 1, OP_CREATE_SESSION, 0));
	put_all(m, W(0x73657373, 0x696f6e00, 0, 1));
	put(m, cl_arg(call, at + 2));		/* sequence */
	put(m, cl_arg(call, at + 3));		/* flags */
	at += 4;
	for (i = 0; i < 2; i++) {		/* fore and back channel */
		cb_max = cl_arg(call, at + 1);
		for (j = 0; j < 6; j++)
			put(m, cl_arg(call, at++));
		put(m, 0);
		at += 1 + cl_arg(call, at);
	}
	cb_program = cl_arg(call, at);
	cl_reply(s, call, m);
}

/* NULL, EXCHANGE_ID and CREATE_SESSION; false for anything else */
static bool session_hook(struct cl *s, struct cl_call *call)
{
	uint32_t op;

	if (call->progvers != 4)
		return false;
	if (call->proc == 0) {
		cl_reply(s, call, rpc_reply(call->xid));
		return true;
	}
	op = cl_arg(call, 0);			/* length of the tag */
	op = cl_arg(call, (op + 3) / 4 + 3);
	if (op == OP_EXCHANGE_ID) {
		exchange_id(s, call);
	} else if (op == OP_CREATE_SESSION) {
		rp_check(cl_arg(call, 0) == 0, "a tag");
		create_session(s, call);
	} else {
		return false;
	}
	return true;
}

/* Serve until there is a session; returns the first Call behind it. */
static struct cl_call *until_session(struct cl *s)
{
	struct cl_call *call;

	for (;;) {
		call = cl_next(s);
		if (!session_hook(s, call))
			return call;
		cl_call_free(call);
	}
}

/* A reverse Call without a Receive is fatal. */
static struct cl *with_session(uint32_t grant, struct cl_call **call)
{
	const struct rp_how how = { .no_rnr = true };
	struct cl *s = cl_start_v41();

	s->grant = grant;
	cl_accept_how(s, &how);
	cl_settle(s);
	*call = until_session(s);
	rp_choice(cb_program, "no callback program");
	return s;
}

/* The mount is told that there is no NFS here, until it gives up. */
static void give_up(struct cl *s, struct cl_call *call)
{
	while (call || !job_over(s->mount)) {
		if (call)
			cl_reply(s, call, rp_words(W(call->xid, 1, 0, 0, 0,
						     1)));
		if (rp_is_closed(s->c))
			break;
		call = cl_next_within(s, 200);
	}
	rp_check(job_result(s->mount), "a mount without a file system");
	/* The client takes its session down. */
	while (!rp_is_closed(s->c)) {
		call = cl_next_within(s, RP_ANSWER);
		if (!call)
			break;
		cl_reply(s, call, rp_words(W(call->xid, 1, 0, 0, 0, 1)));
	}
}

/* CB_NULL as an RPC message */
static struct rp_msg *cb_null(uint32_t xid)
{
	return rp_words(W(xid, 0, 2, cb_program, 1, 0, 0, 0, 0, 0));
}

/* The reverse Reply, whatever it grants; returns that. */
static uint32_t cb_replied(struct cl *s, uint32_t xid)
{
	struct rp_rx *rx = rp_expect(s->c, null_reply(xid));

	rp_check(rp_word(rx->buf, 2) > 0 && rp_word(rx->buf, 2) < 65536,
		 "a grant of %u", rp_word(rx->buf, 2));
	return rp_word(rx->buf, 2);
}

RP_CASE("credits", DECISION, rev_null,
	"REV-1,REV-3,REV-5,CRED-1,MSG-1,RINV-10,D-26",
	"a reverse Call is answered in kind")
{
	struct cl_call *call;
	struct cl *s = with_session(16, &call);
	uint32_t xid = rp_xid();

	rp_send(s->c, msg_call(cb_null(xid)));
	cb_replied(s, xid);
	rp_expect_silence(s->c, RP_SILENCE);
	give_up(s, call);
}

RP_CASE("credits", MUST, rev_unsaid, "PROP-18,PROP-17,CONN-11",
	"a server that lists no properties takes an inline reverse Reply")
{
	struct cl *s = cl_start_v41();
	uint32_t xid = rp_xid();
	struct cl_call *call;

	cl_accept(s);
	rp_send(s->c, rp_set(connprop_head(cl_first(s), RESPONSE, 0), 2, 16));
	s->limit = 4096;
	call = until_session(s);
	rp_choice(cb_program, "no callback program");
	rp_send(s->c, msg_call(cb_null(xid)));
	cb_replied(s, xid);
	give_up(s, call);
}

RP_CASE("credits", MUST, rev_same_xid, "HDR-9,FLG-12,REV-10,CRED-9,HDR-8",
	"a reverse Call with a live forward XID, forward out of credits")
{
	struct cl_call *call;
	struct cl *s = with_session(1, &call);

	rp_send(s->c, msg_call(cb_null(call->xid)));
	cb_replied(s, call->xid);
	rp_expect_silence(s->c, RP_SILENCE);
	rp_check(!job_over(s->mount), "the forward RPC ended");
	/* The forward RPC is still there, its answer is taken. */
	give_up(s, call);
}

RP_CASE("credits", MUST, rev_window, "CRED-10,CRED-7,REV-5,CRED-13",
	"as many reverse Calls at once as the client grants")
{
	struct cl_call *call;
	struct cl *s = with_session(1, &call);
	uint32_t xid = rp_xid(), grant, i, round, first;
	struct rp_rx *rx;

	rp_send(s->c, msg_call(cb_null(xid)));
	grant = cb_replied(s, xid);
	if (grant > RP_NR_SENDS)
		grant = RP_NR_SENDS;
	for (round = 0; round < 10; round++) {
		first = rp_xid();
		for (i = 0; i < grant; i++)
			rp_send(s->c, rp_set(msg_call(cb_null(first + i)), 2,
					     grant));
		for (i = 1; i < grant; i++)
			rp_xid();
		for (i = 0; i < grant; i++) {
			rx = rp_recv(s->c);
			rp_check(rp_word(rx->buf, 4) == RESPONSE &&
				 rp_word(rx->buf, 0) - first < grant,
				 "not a reverse Reply");
		}
	}
	rp_check(!job_over(s->mount), "the forward RPC ended");
	give_up(s, call);
}

RP_CASE("credits", MUST, rev_large, "INL-6,INL-4,MSG-4",
	"a reverse Call of 4096 bytes")
{
	struct cl_call *call;
	struct cl *s = with_session(4, &call);
	uint32_t xid = rp_xid();
	struct rp_msg *m = msg_call(cb_null(xid));

	while (m->n < 1024)
		put(m, 0);
	rp_send(s->c, m);
	cb_replied(s, xid);
	give_up(s, call);
}

RP_CASE("credits", DECISION, rev_chunks,
	"REV-9,CHK-14,ERR-19,ERR-22,ERR-24,ERR-1,D-31,PROP-17",
	"reverse Calls with chunks: READ_CHUNKS 0, REPLY_RESOURCE, or inline")
{
	struct cl_call *call;
	struct cl *s = with_session(4, &call);
	struct rp_mem *mem = rp_mem(s->c, 8192);
	struct rp_seg seg = rp_seg(mem, 0, 4096), segs[17];
	uint32_t xid = rp_xid();
	struct rp_msg *m;
	unsigned int i;

	m = call_head(xid, MSG, 0);		/* Read chunk */
	put_last_read(m, 40, rp_seg(mem, 0, 4));
	put_msg(m, cb_null(xid));
	rp_send(s->c, m);
	rp_expect(s->c, error2_arg(xid, READ_CHUNKS, 0));

	xid = rp_xid();				/* Position-Zero chunk */
	m = call_head(xid, NOMSG, 0);
	put_last_read(m, 0, rp_seg(mem, 0, rp_store(mem, 0, cb_null(xid))));
	rp_send(s->c, m);
	rp_expect(s->c, error2_arg(xid, READ_CHUNKS, 0));

	xid = rp_xid();				/* Write chunk */
	m = call_head(xid, MSG, 0);
	put_last_write(m, 1, &seg);
	put_msg(m, cb_null(xid));
	rp_send(s->c, m);
	rp_expect(s->c, error2_arg(xid, REPLY_RESOURCE, ANY));

	xid = rp_xid();				/* Reply chunk */
	m = call_head(xid, MSG, 0);
	put_reply_chunk(m, 1, &seg);
	put_msg(m, cb_null(xid));
	rp_send(s->c, m);
	m = reply_head(xid, MSG);		/* repeated, unused */
	put_all(m, W(0, 0));
	seg.len = 0;
	put_chunk(m, 1, &seg);
	put_msg(m, rpc_reply(xid));
	rp_expect(s->c, m);

	xid = rp_xid();				/* as many as we have, and more */
	for (i = 0; i < 16; i++)
		segs[i] = rp_seg(mem, 16 * i, 16);
	m = call_head(xid, MSG, 0);
	put_reply_chunk(m, 16, segs);
	put_msg(m, cb_null(xid));
	rp_send(s->c, m);
	for (i = 0; i < 16; i++)
		segs[i].len = 0;
	m = reply_head(xid, MSG);
	put_reply_chunk(m, 16, segs);
	put_msg(m, rpc_reply(xid));
	rp_expect(s->c, m);

	xid = rp_xid();
	for (i = 0; i < 17; i++)
		segs[i] = rp_seg(mem, 16 * i, 16);
	m = call_head(xid, MSG, 0);
	put_reply_chunk(m, 17, segs);
	put_msg(m, cb_null(xid));
	rp_send(s->c, m);
	rp_expect(s->c, error2_arg(xid, SEGMENTS, 16));

	xid = rp_xid();
	rp_send(s->c, msg_call(cb_null(xid)));
	cb_replied(s, xid);
	give_up(s, call);
}

RP_CASE("credits", MUST, rev_malformed,
	"ERR-1,HDR-7,CHK-6,CHK-7,ERR-15",
	"malformed reverse Calls are answered with BAD_XDR")
{
	struct cl_call *call;
	struct cl *s = with_session(4, &call);
	struct rp_seg seg = rp_seg(rp_mem(s->c, 4096), 0, 4);
	uint32_t xid = rp_xid(), i;
	struct rp_msg *m;

	for (i = 6; i <= 8; i++)
		rp_refused(s->c, rp_set(msg_call(cb_null(rp_xid())), i, 2),
			   BAD_XDR);
	m = call_head(rp_xid(), MSG, 0);	/* an entry follows */
	put_last_read(m, 40, seg);
	put_msg(m, cb_null(m->w[0]));
	rp_refused(s->c, rp_set(m, 6, 2), BAD_XDR);
	m = call_head(rp_xid(), MSG, 0);
	put_last_write(m, 1, &seg);
	put_msg(m, cb_null(m->w[0]));
	rp_refused(s->c, rp_set(m, 7, 2), BAD_XDR);
	m = call_head(rp_xid(), MSG, 0);
	put_reply_chunk(m, 1, &seg);
	put_msg(m, cb_null(m->w[0]));
	rp_refused(s->c, rp_set(m, 8, 2), BAD_XDR);
	rp_refused(s->c, rp_set(msg_call(cb_null(rp_xid())), 9, 7), BAD_XDR);
	rp_refused(s->c, rp_cut(msg_call(cb_null(rp_xid())), 32), BAD_XDR);
	rp_send(s->c, msg_call(cb_null(xid)));
	cb_replied(s, xid);
	give_up(s, call);
}

RP_CASE("credits", DECISION, rev_flags, "ERR-1,FLG-3,FLG-5,D-13",
	"reverse Calls with a reserved flag, or that are none: BAD_XDR")
{
	struct cl_call *call;
	struct cl *s = with_session(4, &call);
	uint32_t xid = rp_xid();

	rp_refused(s->c, rp_set(msg_call(cb_null(rp_xid())), 4, 2), BAD_XDR);
	rp_refused(s->c, rp_set(msg_call(cb_null(rp_xid())), 10, 1), BAD_XDR);
	rp_send(s->c, msg_call(cb_null(xid)));
	cb_replied(s, xid);
	give_up(s, call);
}

RP_CASE("credits", DECISION, rev_no_service, "REV-11,FLG-10",
	"a reverse Call without a callback service does no harm (F-9)")
{
	struct cl *s = cl_mounted(NULL);

	cb_program = 0x40000000;
	rp_send(s->c, msg_call(cb_null(rp_xid())));
	rp_send(s->c, msg_call(cb_null(rp_xid())));
	rp_expect_silence(s->c, RP_SILENCE);
	cl_alive(s);
	cl_end(s);
}

/* Reverse Calls without a Reply, and as many as the client grants */
static unsigned int cb_open, cb_granted;

static void call_back(struct cl *s)
{
	while (cb_open < cb_granted && rp_try_send(s->c, msg_call(cb_null(rp_xid()))))
		cb_open++;
}

/* The service may end at any moment: another Call at once. */
static bool null_replied(struct cl *s, const struct rp_rx *rx)
{
	if (rp_word(rx->buf, 4) != RESPONSE)
		return false;
	if (cb_open)
		cb_open--;
	call_back(s);
	return true;
}

/* The freezer of cgroups, and a group with the callback service of this machine */
static char freezer[] = "/tmp/freezer-XXXXXX";
static bool has_freezer;

static bool put_file(const char *name, const char *text)
{
	char path[sizeof(freezer) + 32];
	FILE *f;

	snprintf(path, sizeof(path), "%s/service/%s", freezer, name);
	f = fopen(path, "w");
	if (!f)
		return false;
	fputs(text, f);
	return !fclose(f);
}

static bool is_service(const char *pid)
{
	char path[300], name[32] = "";
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%s/comm", pid);
	f = fopen(path, "r");
	if (!f)
		return false;
	if (!fgets(name, sizeof(name), f))
		name[0] = 0;
	fclose(f);
	return !strcmp(name, "NFSv4 callback\n");
}

static void freezer_end(void)
{
	char group[sizeof(freezer) + 32];

	put_file("freezer.state", "THAWED");
	snprintf(group, sizeof(group), "%s/service", freezer);
	rmdir(group);
	umount(freezer);
	rmdir(freezer);
}

/* A service that serves at once has no Call in its queue when it ends. So a service on this
 * machine is frozen whenever it may be about to end.
 */
static void freezer_begin(void)
{
	char group[sizeof(freezer) + 32];
	struct dirent *d;
	DIR *proc;

	if (!rp_opt.module || !mkdtemp(freezer))
		return;
	atexit(freezer_end);
	snprintf(group, sizeof(group), "%s/service", freezer);
	if (mount("freezer", freezer, "cgroup", 0, "freezer") || mkdir(group, 0700))
		return;
	proc = opendir("/proc");
	rp_check(proc, "no /proc");
	while ((d = readdir(proc)))
		if (is_service(d->d_name))
			has_freezer |= put_file("tasks", d->d_name);
	closedir(proc);
}

/* If this is the last answer before the service ends, it ends with Calls in its queue. */
static void answer_with_calls(struct cl *s, struct cl_call *call)
{
	if (has_freezer) {
		put_file("freezer.state", "FROZEN");
		cb_open = 0;		/* Replies may be here, unread. */
	}
	call_back(s);
	cl_reply(s, call, rp_words(W(call->xid, 1, 0, 0, 0, 1)));
	if (has_freezer) {
		rp_sleep(RP_SILENCE);
		put_file("freezer.state", "THAWED");
	}
}

RP_CASE("credits", DECISION, rev_service_goes, "REV-11,REC-4",
	"reverse Calls while the callback service goes away (F-9)")
{
	struct cl_call *call;
	struct cl *s = with_session(16, &call);
	uint32_t xid = rp_xid();
	uint64_t end = 0;

	rp_send(s->c, msg_call(cb_null(xid)));
	cb_granted = cb_replied(s, xid);
	s->control = null_replied;
	freezer_begin();
	/* A callback that nobody serves would keep the connection. */
	while (!rp_is_closed(s->c)) {
		if (call)
			answer_with_calls(s, call);
		else
			call_back(s);
		if (call || !job_over(s->mount))
			end = rp_now() + RP_ANSWER;
		rp_check(rp_now() < end, "the client keeps the connection");
		call = cl_next_within(s, RP_SILENCE);
		/* Without a service there are no Replies: give up one Call, and send another. */
		if (!call && cb_open == cb_granted)
			cb_open--;
	}
	rp_check(job_result(s->mount), "a mount without a file system");
}

RP_CASE("faults-client", TROUBLE | MODULE, rev_fault, "REV-11,REC-2",
	"a reverse Reply that cannot be sent: a new connection")
{
	struct cl_call *call;
	struct cl *s = with_session(16, &call);

	next_post_fails();
	rp_send(s->c, msg_call(cb_null(rp_xid())));
	rp_expect_closed(s->c);
	has_failed();
	rp_close(s->c);
	cl_accept(s);
	cl_settle(s);
	give_up(s, cl_next(s));
}

RP_CASE("credits", MUST | V1, rev_v1, "V1-13,CRED-18,VER-11,VER-22",
	"a reverse Call on a version 1 connection")
{
	struct cl *s = cl_start_v41();
	struct cl_call *call;
	uint32_t xid = rp_xid();

	s->grant = 1;
	cl_accept(s);
	cl_settle_v1(s);
	call = until_session(s);
	rp_send(s->c, v1_call(cb_null(xid)));
	rp_expect(s->c, v1_null_reply(xid));
	/* With the XID of the forward RPC */
	rp_send(s->c, v1_call(cb_null(call->xid)));
	rp_expect(s->c, v1_null_reply(call->xid));
	rp_check(!job_over(s->mount), "the forward RPC ended");
	give_up(s, call);
}

/* Receives that a client may have, at the most, are filled with this many. */
#define FILLED		200

RP_CASE("published-client", MUST, pub_short_reverse, "HDR-5,HDR-7,ERR-1,SEC-2",
	"reverse Calls that end within the XID or msg_type, where others were longer")
{
	struct cl_call *call;
	struct cl *s = with_session(4, &call);
	uint32_t xid = rp_xid(), i;

	for (i = 0; i < FILLED; i++) {
		rp_send(s->c, msg_call(cb_null(xid)));
		cb_replied(s, xid);
	}
	for (i = 0; i < FILLED; i++)
		rp_refused(s->c, rp_cut(msg_call(cb_null(xid)), 36 + i % 8),
			   BAD_XDR);
	rp_send(s->c, msg_call(cb_null(xid)));
	cb_replied(s, xid);
	give_up(s, call);
}

RP_CASE("published-client", MUST | V1, pub_short_reverse_v1, "V1-3,HDR-5,SEC-2",
	"the same in version 1: dropped")
{
	struct cl *s = cl_start_v41();
	uint32_t xid = rp_xid(), i;
	struct cl_call *call;

	s->grant = 1;
	cl_accept(s);
	cl_settle_v1(s);
	call = until_session(s);
	for (i = 0; i < FILLED; i++) {
		rp_send(s->c, v1_call(cb_null(xid)));
		rp_expect(s->c, v1_null_reply(xid));
	}
	for (i = 0; i < FILLED; i++) {
		rp_send(s->c, rp_cut(v1_call(cb_null(xid)), 28 + i % 8));
		if (i % 4)
			continue;
		/* Nothing came in between, and no Receive is lost. */
		rp_send(s->c, v1_call(cb_null(xid)));
		rp_expect(s->c, v1_null_reply(xid));
	}
	give_up(s, call);
}

/* ---- the same while values change ---- */

static struct peer *with_session_x(struct cl_call **call)
{
	struct cl *s = cl_start_v41();
	struct peer *p = peer_client_of(s, connprop_x(0, 4096, 0, 0));

	*call = until_session(s);
	rp_check(cb_program && cb_max, "no callback program");
	return p;
}

/* A reverse Call of this many RPC bytes is answered. */
static void cb_works(struct peer *p, uint32_t bytes)
{
	uint32_t xid = rp_xid();
	struct rp_msg *m = cb_null(xid);

	while (4 * m->n + 4 <= bytes)
		put(m, 0);
	rp_send(p->c, msg_call(m));
	peer_expect(p, null_reply(xid));
}

static void order_brs(struct peer *p, const char *order, uint32_t brs)
{
	unsigned int updates = p->updates;

	peer_order(p, order);
	peer_updates(p, updates + 1);
	rp_check(p->brs == brs, "Reverse Request Support is %u, not %u",
		 p->brs, brs);
}

/* A server that calls all the same: dropped or answered, nothing else. */
static void disobey(struct peer *p)
{
	uint32_t call = rp_xid(), xid = rp_xid();
	struct rp_rx *rx;

	rp_send(p->c, msg_call(cb_null(call)));
	rp_send(p->c, reqprop(xid, 0));
	rx = peer_next(p);
	if (rp_matches(rx, null_reply(call))) {
		peer_expect(p, resprop(xid, 0, 0, 0));
		return;
	}
	rp_must_match(rx, resprop(xid, 0, 0, 0));
	cl_serve_for(p->s, RP_SILENCE / rp_opt.scale + 1);
	if (p->others)
		peer_expect(p, null_reply(call));
}

RP_CASE("client-change", DECISION | MODULE, rev_own_brs,
	"REV-6,PROP-17,CHG-19,CHG-21,CHG-25,D-26",
	"the client stops taking reverse Calls, and starts again")
{
	struct cl_call *call;
	struct peer *p = with_session_x(&call);
	unsigned int i;

	cb_works(p, 0);
	for (i = 0; i < 3; i++) {
		order_brs(p, "own brs none", 0);
		disobey(p);
		order_brs(p, "own brs inline", 1);
		cb_works(p, 0);
	}
	rp_check(!job_over(p->s->mount), "the forward RPC ended");
	give_up(p->s, call);
}

RP_CASE("client-change", DECISION, rev_floor, "CHG-27,INL-6,REV-7",
	"the client's size never falls below what callbacks may need")
{
	static const uint32_t sizes[] = { 4096, 1024, 0, 8192, 4096 };
	struct cl_call *call;
	struct peer *p = with_session_x(&call);
	unsigned int i;

	/* It may refuse while its Call waits (CHG-27). */
	for (i = 0; i < 5; i++) {
		peer_ask_size(p, sizes[i]);
		rp_check(p->rbsiz >= cb_max + 36,
			 "the size is %u, a callback may have %u bytes",
			 p->rbsiz, cb_max);
		peer_flood(p, p->rbsiz);
		cb_works(p, cb_max);
	}
	give_up(p->s, call);
}
