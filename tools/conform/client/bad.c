// SPDX-License-Identifier: GPL-2.0
/*
 * A server that misbehaves, in every way there is: what becomes of each, and
 * which counter of the client tells. And why a version was chosen: the
 * number that is shown, counted and traced.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/klog.h>

#include "rp.h"
#include "command.h"
#include "stat.h"

#define EVENTS	"/sys/kernel/tracing/events/rpcrdma2/"

/* ---- bad messages while a Call waits for its answer ---- */

static struct cl_call *hold(struct cl *s, struct rp_job **job)
{
	*job = job_stat(cl_name());
	return cl_wait_for(s, NFS_LOOKUP);
}

/* The right answer, as a message to be spoiled */
static struct rp_msg *right(struct cl *s, const struct cl_call *call)
{
	struct rp_msg *m = v2(call->xid, s->grant, MSG, RESPONSE);

	put(m, 0);
	cl_put_unused(m, call);
	put_msg(m, cl_rpc_reply(s, call));
	return m;
}

/* @m is not taken for an answer; @counter grows by one. */
static void counted(struct cl *s, struct rp_job *job, const char *what,
		    const struct rp_msg *m, uint32_t answer,
		    const char *counter)
{
	long was = rp_client_stat(s, counter), is;
	long errors = rp_client_stat(s, "tx_error");

	rp_tell("== %s", what);
	rp_send(s->c, m);
	if (answer)
		rp_expect(s->c, error2(m->w[0], answer));
	/* A message that must be answered shows that it has been dealt with */
	rp_send(s->c, v2(77, 32, 99, CALL));
	rp_expect(s->c, error2(77, INVAL_HTYPE));
	/* What is sent is counted when it has been sent */
	rp_client_reaches(s, "tx_error", errors + 1 + !!answer);
	is = rp_client_stat(s, counter);
	if (!strcmp(counter, "rx_unknown_type"))
		is--;
	rp_check(is == was + 1, "%s: %s went from %ld to %ld", what, counter,
		 was, is);
	rp_check(!job_over(job), "%s: the operation ended", what);
}

RP_CASE("reasons", MUST | MODULE, bad_answers,
	"SEC-2,ERR-1,ERR-6,ERR-9,HT-3,HDR-5,HDR-7,FLG-3,FLG-5,FLG-9,CHK-13,MSG-8,CONN-8,VER-23",
	"every kind of bad answer is dropped, and has its counter")
{
	struct cl *s = cl_mounted(NULL);
	struct rp_job *job;
	struct cl_call *call = hold(s, &job);
	uint32_t xid = call->xid;
	struct rp_msg *m;

	counted(s, job, "two XIDs", rp_set(right(s, call), 9, xid + 1), 0,
		"rx_malformed");
	counted(s, job, "cut off in the header", rp_cut(right(s, call), 30), 0,
		"rx_malformed");
	counted(s, job, "reserved flag", rp_set(right(s, call), 4, 3), 0,
		"rx_malformed");
	counted(s, job, "a Reply that says Call", rp_set(right(s, call), 4, 0),
		BAD_XDR, "rx_malformed");
	counted(s, job, "unknown type", v2(xid, 32, 99, RESPONSE), 0,
		"rx_malformed");
	counted(s, job, "unknown type of a Call", v2(xid, 32, 98, CALL),
		INVAL_HTYPE, "rx_unknown_type");
	counted(s, job, "a type of a later draft", v2(xid, 32, 7, CALL),
		INVAL_HTYPE, "rx_other_draft");
	counted(s, job, "an ERROR without RESPONSE",
		rp_set(error2(xid, SYSTEM), 4, CALL), 0, "rx_malformed");
	counted(s, job, "an ERROR without its argument",
		error2(xid, READ_CHUNKS), 0, "rx_malformed");
	m = rp_set(right(s, call), 0, xid + 9);
	counted(s, job, "an unknown XID", rp_set(m, 9, xid + 9), 0,
		"rx_bad_xid");
	counted(s, job, "an ERROR about nothing", error2(xid + 9, SYSTEM), 0,
		"rx_bad_xid");
	m = reply_head(xid, MSG);
	put_last_read(m, 24, (struct rp_seg){ 0x1234, 4, 0x1000 });
	put_msg(m, cl_rpc_reply(s, call));
	counted(s, job, "a Read list", m, 0, "rx_malformed");
	m = reply_head(xid, NOMSG);
	put_all(m, W(0, 0, 0));
	counted(s, job, "NOMSG with nothing", m, 0, "rx_malformed");
	counted(s, job, "a second CONNPROP", connprop(rp_xid(), 8192, 1), 0,
		"rx_dropped");

	cl_answer(s, call);
	rp_check(!cl_serve(s, job), "the operation fails");
	cl_answer(s, call);			/* a second time */
	cl_alive(s);
	rp_check(rp_client_stat(s, "rx_bad_xid") == 3, "the second answer");
	cl_end(s);
}

RP_CASE("reasons", DECISION | MODULE, bad_reply, "CHK-14,MSG-8,REC-5",
	"a Reply that contradicts its Call is dropped, counted, and costs the connection")
{
	struct cl *s = cl_mounted(NULL);
	struct rp_job *job;
	struct cl_call *call = hold(s, &job), *again;
	struct rp_msg *m = reply_head(call->xid, NOMSG);
	long was = rp_client_stat(s, "rx_dropped");

	put_all(m, W(0, 0, 1, 1, 0x1234, 64, 0, 0x1000));
	rp_send(s->c, m);			/* a chunk that is not ours */
	rp_expect_closed(s->c);
	rp_close(s->c);
	cl_accept(s);
	cl_settle(s);
	again = cl_wait_for(s, NFS_LOOKUP);
	rp_check(again->xid == call->xid, "another Call");
	rp_check(rp_client_stat(s, "rx_dropped") == was + 1, "not counted");
	cl_answer(s, again);
	rp_check(!cl_serve(s, job), "the operation fails");
	cl_alive(s);
	cl_end(s);
}

RP_CASE("reasons", MUST | MODULE, bad_grants, "CRED-5,CRED-6,SEC-3",
	"grants of zero and of a million are put right and counted")
{
	struct cl *s = cl_mounted(NULL);
	long asked;

	cl_alive(s);
	asked = rp_client_stat(s, "credits_asked");
	rp_check(!rp_client_stat(s, "odd_grants"), "a grant of 32 is odd");
	s->grant = 0;
	cl_alive(s);
	rp_check(rp_client_stat(s, "odd_grants") > 0, "a grant of 0 is not");
	rp_check(rp_client_stat(s, "credits_granted_by_peer") == 1, "not 1");
	s->grant = 1000000;
	cl_alive(s);
	rp_check(rp_client_stat(s, "credits_granted_by_peer") == asked,
		 "a million is taken");
	s->grant = 5;
	cl_alive(s);
	rp_check(rp_client_stat(s, "credits_granted_by_peer") == 5, "not 5");
	cl_end(s);
}

/* The client closes the connection over @m, and counts that. */
static void closed_over(struct cl *s, const struct rp_msg *m,
			const char *counter)
{
	long was = rp_client_stat(s, counter), is;
	struct rp_job *job;

	rp_send(s->c, m);
	rp_expect_closed(s->c);
	rp_close(s->c);
	job = job_stat(cl_name());
	cl_accept(s);
	cl_settle(s);
	rp_check(!cl_serve(s, job), "the operation fails");
	is = rp_client_stat(s, counter);
	rp_check(is == was + 1, "%s went from %ld to %ld", counter, was, is);
}

RP_CASE("reasons", DECISION | MODULE, bad_version, "HDR-12,D-14,REC-1",
	"another version in mid-connection: a new connection, and counted")
{
	struct cl *s = cl_mounted(NULL);

	closed_over(s, v1_null_reply(rp_xid()), "rx_bad_vers");
	closed_over(s, rp_set(null_reply(rp_xid()), 1, 3), "rx_bad_vers");
	rp_check(rp_client_stat(s, "reconnects") == 2, "reconnects");
	cl_end(s);
}

RP_CASE("reasons", TROUBLE, bad_again, "REC-5,SEC-12",
	"a server that serves RPCs, but breaks the protocol each time, is met later and later")
{
	struct cl *s = cl_mounted(NULL);
	unsigned long long last = rp_now(), gap = 0;
	struct rp_job *job;
	unsigned int i;
	int err;

	for (i = 0; i < 5; i++) {
		rp_send(s->c, rp_set(null_reply(rp_xid()), 1, 3));
		rp_expect_closed(s->c);
		rp_close(s->c);
		job = job_stat(cl_name());
		cl_accept(s);
		gap = rp_now() - last;
		last += gap;
		rp_tell("the next connection after %llu ms", gap);
		cl_settle(s);
		err = cl_serve(s, job);
		rp_check(!err, "the operation fails: %s", strerror(err));
	}
	/* 0.1 s, 0.2, 0.4, 0.8 and then 1.6, from one attempt to the next */
	rp_check(gap >= 1000, "no more than %llu ms", gap);
	cl_end(s);
}

/* ---- chunks that are refused ---- */

RP_CASE("reasons", MUST | MODULE, refused_is_counted, "ERR-30,ERR-8,ERR-34",
	"a refused form is one ERROR received and one more Call sent")
{
	struct cl *s = cl_mounted(NULL);
	struct rp_job *job = job_write("f", 0, 20000);
	struct cl_call *call = cl_wait_for(s, NFS_WRITE), *again;
	struct rp_msg *m = error2_arg(call->xid, READ_CHUNKS, 0);
	int err;

	rp_check(call->nreads, "WRITE has no Read chunk");
	rp_check(!rp_client_stat(s, "rx_error"), "an ERROR before");
	rp_send(s->c, m);
	again = cl_next(s);
	rp_check(again->proc == NFS_WRITE && again->xid == call->xid,
		 "not the same Call");
	rp_check(again->htype == NOMSG && again->nreads, "not in a new form");
	rp_check(again->read[0].handle != call->read[0].handle,
		 "with the old handle");
	rp_check(rp_client_stat(s, "rx_error") == 1 &&
		 rp_client_stat(s, "pz_chunks") == 1, "counters");
	cl_answer(s, again);
	err = cl_serve(s, job);
	rp_check(!err, "the operation fails: %s", strerror(err));
	/* and the next one is sent in that form at once */
	job = job_write("f", 0, 20000);
	call = cl_wait_for(s, NFS_WRITE);
	rp_check(call->htype == NOMSG && call->nreads, "the next WRITE");
	rp_check(rp_client_stat(s, "rx_error") == 1, "another ERROR");
	cl_answer(s, call);
	rp_check(!cl_serve(s, job), "the operation fails");
	cl_end(s);
}

RP_CASE("reasons", DECISION, refused_wrongly,
	"ERR-20,ERR-23,ERR-25,ERR-34,SEC-15",
	"a refusal of what the Call does not have ends it: EIO")
{
	struct cl *s = cl_mounted(NULL);
	static const uint32_t codes[] = { READ_CHUNKS, WRITE_CHUNKS, SEGMENTS };
	unsigned int i;

	for (i = 0; i < 3; i++) {
		struct rp_job *job;
		struct cl_call *call = hold(s, &job);
		int err;

		rp_send(s->c, error2_arg(call->xid, codes[i], 0));
		err = cl_serve(s, job);
		rp_check(err == EIO, "code %u: %s", codes[i], strerror(err));
	}
	cl_alive(s);
	cl_end(s);
}

/* ---- which handle, and whether at all ---- */

RP_CASE("reasons", MUST | MODULE, rinv_switched_off_client,
	"RINV-9,RINV-2,RINV-13",
	"without remote invalidation no handle is named and all is done locally")
{
	struct cl *s;
	struct rp_job *job;
	struct cl_call *call;
	unsigned int i;

	cmd_policy("client", "remote_invalidation off");
	s = cl_mounted(NULL);
	for (i = 0; i < 3; i++) {
		job = job_read("f", 4096, 8192);
		call = cl_wait_for(s, NFS_READ);
		rp_check(call->nwrites == 1, "READ has no Write chunk");
		rp_check(!call->inv, "handle %08x is named", call->inv);
		cl_answer(s, call);
		rp_check(!cl_serve(s, job), "READ fails");
		rp_is_pattern(job_data(job), 4096, 8192);
	}
	rp_check(!rp_client_stat(s, "remote_invalidations"), "counters");
	rp_check(rp_client_stat(s, "local_invalidations") >= 3, "counters");
	rp_check(!rp_client_stat(s, "remote_invalidation"), "shown");
	cl_end(s);
}

/* ---- why a version was chosen ---- */

static void set_event(const char *name, const char *value)
{
	char path[128];
	FILE *f;

	snprintf(path, sizeof(path), EVENTS "%s/enable", name);
	f = fopen(path, "w");
	rp_check(f, "no %s", name);
	fputs(value, f);
	rp_check(!fclose(f), "%s is refused", name);
}

static void trace_start(void)
{
	FILE *f = fopen("/sys/kernel/tracing/trace", "w");

	if (f)
		fclose(f);
	set_event("rpcrdma2_negotiated", "1");
	set_event("rpcrdma2_settled", "1");
}

/* Lines of the trace that contain both */
static unsigned int traced(const char *one, const char *two)
{
	FILE *f = fopen("/sys/kernel/tracing/trace", "r");
	unsigned int n = 0;
	char line[512];

	rp_check(f, "no trace");
	while (fgets(line, sizeof(line), f))
		n += strstr(line, one) && strstr(line, two);
	fclose(f);
	return n;
}

static void trace_stop(void)
{
	set_event("rpcrdma2_negotiated", "0");
	set_event("rpcrdma2_settled", "0");
}

/* The log says it, with the port of the server in front, since this test began:
 * the next one in this guest has the same ports.
 */
static bool logged(const char *text)
{
	static char log[1 << 20];
	bool found = false;
	char port[32];
	char *line;
	int n;

	n = klogctl(3, log, sizeof(log) - 1);	/* read all */
	rp_check(n >= 0, "no log");
	log[n] = 0;
	snprintf(port, sizeof(port), ":%u", rp_opt.port);
	for (line = strtok(log, "\n"); line; line = strtok(NULL, "\n")) {
		if (strstr(line, "lab: begin "))
			found = false;
		else if (strstr(line, "rpcrdma2: ") && strstr(line, port) &&
			 strstr(line, text))
			found = true;
	}
	return found;
}

/* A mount that ended up as version 1: shown, counted, traced. */
static void fell_back(struct cl *s, unsigned int why, const char *counter)
{
	char text[32];

	rp_check(!cl_serve(s, s->mount), "the mount fails");
	rp_check(rp_client_stat(s, "version") == 1, "not version 1");
	rp_check(rp_client_stat(s, "version_reason") == why,
		 "reason %ld, not %u", rp_client_stat(s, "version_reason"),
		 why);
	rp_check(rp_client_stat(s, counter) == 1, "%s is %ld", counter,
		 rp_client_stat(s, counter));
	rp_check(rp_client_stat(s, "fallbacks") == 1, "fallbacks");
	snprintf(text, sizeof(text), " why=%u", why);
	rp_check(traced("rpcrdma2_settled", text), "not traced");
	trace_stop();
	cl_end(s);
}

static void v1_next(struct cl *s)
{
	struct rp_rx *rx;

	cl_accept(s);
	rx = rp_recv(s->c);
	rp_check(rp_word(rx->buf, 1) == 1, "the first message has version %u",
		 rp_word(rx->buf, 1));
	rp_unrecv(s->c, rx);
}

RP_CASE("reasons", MUST | MODULE, why_2, "VER-6,HDR-3",
	"version 2: reason 1, and no fallback")
{
	struct cl *s;

	trace_start();
	s = cl_mounted(NULL);
	rp_check(rp_client_stat(s, "version") == 2, "version");
	rp_check(rp_client_stat(s, "version_reason") == 1, "version_reason");
	rp_check(rp_client_stat(s, "why_connprop") == 1, "why_connprop");
	rp_check(!rp_client_stat(s, "fallbacks"), "fallbacks");
	rp_check(traced("rpcrdma2_negotiated", " settle why=1"), "traced");
	trace_stop();
	cl_end(s);
}

/* The kernel says the same ten times in five seconds, and then no more until
 * they are over.
 */
static void wait_for_log(void)
{
	rp_sleep(5100);
}

RP_CASE("reasons", MUST | MODULE, why_err_vers, "VER-10,SEC-11",
	"ERR_VERS: reason 3, shown, counted, traced and logged")
{
	struct cl *s;

	wait_for_log();
	trace_start();
	s = cl_start(NULL);
	cl_accept(s);
	rp_send(s->c, err_vers(cl_first(s), 2, 1, 1));
	fell_back(s, 3, "why_err_vers");
	rp_check(logged("speaks version 1 (peer answered ERR_VERS)"),
		 "not logged");
}

RP_CASE("reasons", DECISION | MODULE, why_other_error, "VER-18,SEC-11",
	"another ERROR: reason 4, shown, counted and traced")
{
	struct cl *s;

	trace_start();
	s = cl_start(NULL);
	cl_accept(s);
	rp_send(s->c, error2(cl_first(s), BAD_XDR));
	rp_expect_closed(s->c);
	rp_close(s->c);
	v1_next(s);
	rp_check(traced("rpcrdma2_negotiated", " reconnect why=4"), "traced");
	fell_back(s, 4, "why_other_error");
}

RP_CASE("reasons", DECISION | MODULE, why_silence, "VER-14,VER-16,SEC-11",
	"silence: reason 5, then 8 as long as it is remembered")
{
	struct cl *s;
	struct rp_job *job;

	cl_parameter("negotiate_ms", "300");
	trace_start();
	s = cl_start(NULL);
	cl_stay_silent(s);
	v1_next(s);
	rp_check(!cl_serve(s, s->mount), "the mount fails");
	rp_check(rp_client_stat(s, "version_reason") == 5 &&
		 rp_client_stat(s, "why_silence") == 1, "not reason 5");
	rp_close(s->c);
	job = job_stat(cl_name());
	v1_next(s);
	rp_check(!cl_serve(s, job), "the operation fails");
	rp_check(rp_client_stat(s, "version_reason") == 8 &&
		 rp_client_stat(s, "why_remembered") == 1, "not reason 8");
	rp_check(rp_client_stat(s, "fallbacks") == 2, "fallbacks");
	rp_check(traced("rpcrdma2_settled", " why=5") &&
		 traced("rpcrdma2_settled", " why=8"), "not traced");
	trace_stop();
	cl_end(s);
}

RP_CASE("reasons", DECISION | MODULE, why_reply, "VER-14,SEC-11,D-10",
	"silence to CONNPROP only: reason 13, shown, counted and traced")
{
	struct cl *s;

	cl_parameter("negotiate_ms", "300");
	trace_start();
	s = cl_start(NULL);
	cl_accept(s);
	cl_first(s);
	rp_expect_closed(s->c);
	rp_close(s->c);
	cl_accept(s);
	s->limit = 4096;
	rp_check(!cl_serve(s, s->mount), "the mount fails");
	rp_check(rp_client_stat(s, "version") == 2 &&
		 rp_client_stat(s, "version_reason") == 13 &&
		 rp_client_stat(s, "why_reply") == 1 &&
		 rp_client_stat(s, "fallbacks") == 0, "not reason 13");
	rp_check(traced("rpcrdma2_negotiated", " reconnect why=5") &&
		 traced("rpcrdma2_settled", " why=13"), "not traced");
	trace_stop();
	cl_end(s);
}

RP_CASE("reasons", DECISION | MODULE, why_forgotten, "VER-16,VER-17",
	"what is remembered can be forgotten: version 2 at the next connect")
{
	struct cl *s;
	struct rp_job *job;

	cl_parameter("negotiate_ms", "300");
	s = cl_start(NULL);
	cl_stay_silent(s);
	v1_next(s);
	rp_check(!cl_serve(s, s->mount), "the mount fails");
	rp_check(cmd_forget("client", rp_opt.port),
		 "\"forget\" is refused");
	rp_close(s->c);
	/* Whoever answers now has time */
	cl_parameter("negotiate_ms", "15000");
	job = job_stat(cl_name());
	cl_accept(s);
	cl_settle(s);
	rp_check(!cl_serve(s, job), "the operation fails");
	rp_check(rp_client_stat(s, "version") == 2 &&
		 rp_client_stat(s, "version_reason") == 1, "not version 2");
	cl_end(s);
}

RP_CASE("reasons", DECISION | MODULE, why_lost, "VER-15,SEC-11",
	"lost twice: reason 6, shown, counted and traced")
{
	struct cl *s;
	unsigned int i;

	trace_start();
	s = cl_start(NULL);
	for (i = 0; i < 2; i++) {
		cl_accept(s);
		cl_first(s);
		rp_close(s->c);
	}
	v1_next(s);
	fell_back(s, 6, "why_lost");
}

RP_CASE("reasons", DECISION | MODULE, why_err_vers_lost, "VER-13,SEC-11",
	"ERR_VERS and the end: reason 7 for the next connection")
{
	struct cl *s;

	trace_start();
	s = cl_start(NULL);
	cl_accept(s);
	rp_send(s->c, err_vers(cl_first(s), 2, 1, 1));
	cl_call_free(cl_next(s));		/* it has been accepted */
	rp_close(s->c);
	v1_next(s);
	rp_check(!cl_serve(s, s->mount), "the mount fails");
	rp_check(rp_client_stat(s, "version_reason") == 7 &&
		 rp_client_stat(s, "why_err_vers_lost") == 1 &&
		 rp_client_stat(s, "why_err_vers") == 1, "not reason 7");
	rp_check(traced("rpcrdma2_settled", " why=7"), "not traced");
	trace_stop();
	cl_end(s);
}

RP_CASE("reasons", DECISION | MODULE, why_admin, "VER-24",
	"version 2 switched off: reason 9, and the log says so")
{
	struct cl *s;

	wait_for_log();
	cmd_policy("client", "versions v1");
	trace_start();
	s = cl_start(NULL);
	v1_next(s);
	fell_back(s, 9, "why_admin");
	rp_check(logged("speaks version 1 (administrator)"), "not logged");
}

/* A mount that comes to nothing: EPROTO, and the reason in the counters. */
static void comes_to_nothing(struct rp_msg *(*answer)(uint32_t xid),
			     unsigned int why, const char *counter)
{
	long was = rp_ended_stat("client", counter);
	char text[32];
	struct cl *s;
	int err;

	trace_start();
	s = cl_start(NULL);
	cl_accept(s);
	rp_send(s->c, answer(cl_first(s)));
	rp_expect_closed(s->c);
	rp_close(s->c);
	err = cl_serve(s, s->mount);
	rp_check(err == EPROTO, "the mount ends with \"%s\"", strerror(err));
	snprintf(text, sizeof(text), " fail why=%u", why);
	rp_check(traced("rpcrdma2_negotiated", text), "not traced");
	trace_stop();
	rp_ended_above("client", counter, was);
}

/* The same, and the reason is logged. */
static void comes_to_nothing_logged(struct rp_msg *(*answer)(uint32_t xid),
				    unsigned int why, const char *counter)
{
	char text[32];

	wait_for_log();
	comes_to_nothing(answer, why, counter);
	snprintf(text, sizeof(text), "(reason %u)", why);
	rp_check(logged(text), "not logged");
}

static struct rp_msg *only_3(uint32_t xid)
{
	return err_vers(xid, 1, 3, 3);
}

static struct rp_msg *only_2(uint32_t xid)
{
	return err_vers(xid, 1, 2, 2);
}

static struct rp_msg *only_1(uint32_t xid)
{
	return err_vers(xid, 2, 1, 1);
}

static struct rp_msg *tiny(uint32_t xid)
{
	return rp_set(connprop(xid, 512, 0), 4, RESPONSE);
}

RP_ROW("reasons", DECISION | MODULE, why_no_common, "ERR-13,SEC-11",
	"no version in common: EPROTO, reason 10",
	comes_to_nothing_logged(only_3, 10, "why_no_common"))

static struct rp_msg *backwards(uint32_t xid)
{
	return err_vers(xid, 1, 2, 1);
}

static struct rp_msg *only_0(uint32_t xid)
{
	return err_vers(xid, 2, 0, 0);
}

RP_ROW("reasons", DECISION | MODULE, why_backwards, "ERR-13,SEC-3",
	"a range from 2 to 1 is none: EPROTO, reason 10",
	comes_to_nothing(backwards, 10, "why_no_common"))
RP_ROW("reasons", DECISION | MODULE, why_only_0, "ERR-13,SEC-3",
	"version 0 is none of ours: EPROTO, reason 10",
	comes_to_nothing(only_0, 10, "why_no_common"))
RP_ROW("reasons", DECISION | MODULE, why_required, "SEC-11,VER-24",
	"version 2 insisted on: EPROTO, reason 11",
	cmd_policy("client", "versions v2");
	comes_to_nothing_logged(only_1, 11, "why_required"))
RP_ROW("reasons", DECISION | MODULE, why_peer_error, "ERR-13,SEC-11",
	"version 2 refused and offered at once: EPROTO, reason 12",
	comes_to_nothing_logged(only_2, 12, "why_peer_error"))
RP_ROW("reasons", DECISION | MODULE, why_tiny, "PROP-16,SEC-11",
	"Receives too small for the protocol: EPROTO, reason 12",
	comes_to_nothing(tiny, 12, "why_peer_error"))
