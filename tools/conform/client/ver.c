// SPDX-License-Identifier: GPL-2.0
/*
 * VER, CONN, ERR: negotiation, as a client does it.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "rp.h"
#include "change.h"
#include "command.h"
#include "client.h"
#include "stat.h"

static void must_mount(struct cl *s)
{
	int err = cl_serve(s, s->mount);

	rp_check(!err, "the mount fails: %s", strerror(err));
}

static void must_fail(struct cl *s, int want)
{
	int err = cl_serve(s, s->mount);

	rp_check(err == want, "the mount ends with \"%s\", not \"%s\"",
		 strerror(err), strerror(want));
}

static void mount_works(struct cl *s)
{
	must_mount(s);
	cl_use(s);
	cl_end(s);
}

/* A connection, and the XID of its CONNPROP */
static uint32_t first(struct cl *s)
{
	cl_accept(s);
	return cl_first(s);
}

/* The client leaves. */
static void leaves(struct cl *s)
{
	rp_expect_closed(s->c);
	rp_close(s->c);
	s->c = NULL;
}

static void hang_up(struct cl *s)
{
	rp_close(s->c);
	s->c = NULL;
}

/* The first message of a connection that starts with version 1 */
static void starts_with_v1(struct cl *s)
{
	struct rp_rx *rx;

	cl_accept(s);
	rx = rp_recv(s->c);
	rp_check(rp_word(rx->buf, 1) == 1, "the first message has version %u",
		 rp_word(rx->buf, 1));
	rp_unrecv(s->c, rx);
}

/* Nothing else was waiting to connect. */
static void one_connect(struct cl *s)
{
	rp_check(!rp_wants_in(s->l), "the client connects again");
}

/* Answer the first message: our Receive Buffer Size, and how much we send */
static void settle_at(struct cl *s, uint32_t rbsiz, uint32_t limit)
{
	struct rp_msg *m;

	cl_accept(s);
	m = connprop(cl_first(s), rbsiz, 0);
	m->w[2] = 16;
	rp_send(s->c, rp_set(m, 4, RESPONSE));
	s->limit = limit;
}

static void must_end(struct cl *s, struct rp_job *job)
{
	int err = cl_serve(s, job);

	rp_check(!err, "the operation fails: %s", strerror(err));
}

/* The connection is lost. Returns what the client connects again for. */
static struct rp_job *lose(struct cl *s)
{
	hang_up(s);
	return job_stat(cl_name());
}

/* It finds version 2 on its next connection, and goes on. */
static void settles_again(struct cl *s, struct rp_job *job)
{
	cl_accept(s);
	cl_settle(s);
	must_end(s, job);
}

/**
 * struct written - a WRITE of the client
 * @job: the file operation
 * @call: the Call, not answered yet
 */
struct written {
	struct rp_job	*job;
	struct cl_call	*call;
};

static struct written write_call(struct cl *s, uint32_t len)
{
	struct written w = { .job = job_write("f", 0, len) };

	w.call = cl_wait_for(s, NFS_WRITE);
	return w;
}

static void answer_write(struct cl *s, struct written w)
{
	cl_answer(s, w.call);
	must_end(s, w.job);
}

/* The Call of a WRITE is no longer than that. */
static void writes_within(struct cl *s, uint32_t len, uint32_t most)
{
	struct written w = write_call(s, len);

	rp_check(w.call->rx.len <= most, "a Call of %u bytes",
		 w.call->rx.len);
	answer_write(s, w);
}

/* Answer every connection so until the mount has ended and nobody connects.
 * Returns the number of connections.
 */
static unsigned int until_over(struct cl *s,
			       void (*answer)(struct cl *s, unsigned int n))
{
	unsigned int n = 0;

	for (;;) {
		s->c = rp_accept_within(s->l, NULL, 500);
		if (s->c) {
			answer(s, n++);
			leaves(s);
		} else if (job_over(s->mount)) {
			return n;
		}
	}
}

RP_CASE("version", MUST, cl_works, "VER-6,CONN-2,HDR-3,EXT-8,CHG-3",
	"a version 2 mount of the raw server: READ, WRITE, READDIR")
{
	struct cl *s = cl_mounted(NULL);

	cl_use(s);
	one_connect(s);
	cl_end(s);
}

RP_CASE("version", SHOULD, cl_first_message,
	"VER-1,VER-2,VER-3,VER-4,VER-5,CONN-3,CONN-4,CONN-5,CRED-11,PROP-19,INL-4",
	"the first message, and only it, is a CONNPROP like P1")
{
	struct cl *s = cl_start(NULL);
	struct rp_rx *rx;
	uint32_t xid, i, n, at = 24, id, seen = 0;

	cl_accept(s);
	rx = rp_recv(s->c);
	rp_check(rx->len >= 32 && rx->len <= 1024, "%u bytes", rx->len);
	rp_check(rp_word(rx->buf, 1) == 2 && rp_word(rx->buf, 3) == CONNPROP &&
		 rp_word(rx->buf, 4) == CALL, "no CONNPROP");
	rp_check(rp_word(rx->buf, 2) > 0 && rp_word(rx->buf, 2) < 65536,
		 "%u credits wanted", rp_word(rx->buf, 2));
	xid = rp_word(rx->buf, 0);
	n = rp_word(rx->buf, 5);
	for (i = 0; i < n; i++) {
		id = rp_word(rx->buf, at / 4);
		if (id == RBSIZ)
			rp_check(rp_word(rx->buf, at / 4 + 2) >= 4096,
				 "RBSIZ below 4096");
		seen |= id <= 2 ? 1u << id : 0;
		at += 8 + ((rp_word(rx->buf, at / 4 + 1) + 3) & ~3u);
	}
	rp_check(at == rx->len && seen == 6, "RBSIZ or BRS is missing");
	/* A server that takes its time sees one message. */
	rp_expect_silence(s->c, 500 / rp_opt.scale);
	rp_send(s->c, cl_connprop(s, xid));
	must_mount(s);
	cl_end(s);
}

RP_CASE("version", DECISION | MODULE, cl_callbacks, "PROP-17,CONN-5,D-26",
	"callbacks are offered, or not where an administrator says so")
{
	struct cl *s = cl_mounted(NULL);

	rp_check(s->brs == 1, "not INLINE but %u", s->brs);
	cl_parameter("client_callbacks", "N");
	settles_again(s, lose(s));
	rp_check(s->brs == 0, "not NONE but %u", s->brs);
	cl_use(s);
	cl_end(s);
}

RP_CASE("version", SHOULD, cl_large_answer, "INL-4,CONN-4",
	"the client has Receives of 4096 bytes before its first message")
{
	struct cl *s = cl_start(NULL);
	uint32_t xid = first(s);
	struct rp_msg *m;

	m = connprop_head(xid, RESPONSE, 3);
	put_prop(m, RBSIZ, 4096);
	put_prop(m, BRS, 0);
	put(m, 0xffffff7f);			/* unknown, fills 4096 */
	put(m, 4096 - 4 * m->n - 4);
	while (m->n < 1024)
		put(m, 0);
	m->w[2] = 32;
	rp_send(s->c, m);
	s->limit = 4096;
	must_mount(s);
	cl_end(s);
}

RP_CASE("version", DECISION, cl_connprop_own, "CONN-10,CONN-11,CRED-11,D-10",
	"a CONNPROP of the server's own settles the version, not the grant")
{
	struct cl *s = cl_start(NULL);

	first(s);
	rp_send(s->c, connprop(0x77777777, 4096, 0));
	s->limit = 4096;
	mount_works(s);
}

RP_CASE("version", MUST, cl_connprop_none, "CONN-11,CONN-5,PROP-21",
	"a server that lists no properties has the defaults")
{
	struct cl *s = cl_start(NULL);

	cl_accept(s);
	rp_send(s->c, rp_set(connprop_head(cl_first(s), RESPONSE, 0), 2, 16));
	s->limit = 4096;
	mount_works(s);
}

/* ---- ERR_VERS ---- */

/* The answer to the CONNPROP with this XID: version 1, same connection */
#define FALLS_BACK(_basis, _fn, _ids, _text, _answer)			\
RP_CASE("version", _basis, _fn, _ids, _text)				\
{									\
	struct cl *s = cl_start(NULL);					\
	uint32_t xid = first(s);					\
									\
	rp_send(s->c, _answer);						\
	must_mount(s);							\
	one_connect(s);							\
	cl_use(s);							\
	cl_end(s);							\
}

FALLS_BACK(DECISION, cl_err_vers_copied, "VER-10,VER-9,ERR-12,V1-11,D-8",
	"E1b: ERR_VERS with copied version: version 1, same connection",
	err_vers(xid, 2, 1, 1))
FALLS_BACK(DECISION, cl_err_vers_own, "VER-10,ERR-12,V1-11,D-8",
	"E1c: ERR_VERS with the server's version: the same", err_vers(xid, 1, 1, 1))
FALLS_BACK(DECISION, cl_err_vers_flags, "VER-10,ERR-12,D-8",
	"E1d: ERR_VERS with a flags word: the same",
	rp_words(W(xid, 2, 16, ERROR, RESPONSE, ERR_VERS, 1, 1)))
FALLS_BACK(MUST, cl_err_vers_wide, "VER-10,ERR-12",
	"a range that contains 1 and not 2: the same", err_vers(xid, 2, 0, 1))

RP_CASE("version", MUST | V1, cl_err_vers_v1, "VER-11,INL-8,V1-7,CM-9",
	"after ERR_VERS without private data nothing exceeds 1024 bytes")
{
	struct cl *s = cl_mounted_v1(NULL);
	struct written w = write_call(s, 3000);

	rp_check(w.call->vers == 1, "version %u", w.call->vers);
	rp_check(w.call->rx.len <= 1024, "a Call of %u bytes",
		 w.call->rx.len);
	rp_check(w.call->nreads || w.call->htype == NOMSG, "no Read chunk");
	answer_write(s, w);
	cl_end(s);
}

RP_CASE("version", MUST | V1, cl_err_vers_cm, "VER-11,INL-8,CM-2,CM-7",
	"after ERR_VERS the sizes are those of the private data")
{
	static const uint8_t c1[] = { 0xf6, 0xab, 0x0e, 0x18, 1, 1, 3, 3 };
	const struct rp_how how = { .private_data = c1, .private_len = 8 };
	struct cl *s = cl_mounted_v1(&how);
	struct written w;
	unsigned int len;

	const uint8_t *p = rp_private(s->c, &len);

	rp_choice(len >= 8 && !memcmp(p, c1, 5),
		  "no private data of the client");
	rp_check(!(rp_private(s->c, &len)[5] & 0xfe), "reserved flags");
	s->limit = 1024 * (1 + rp_private(s->c, &len)[7]);
	if (s->limit > 4096)
		s->limit = 4096;
	w = write_call(s, 2000);
	rp_check(w.call->rx.len <= 4096, "a Call of %u bytes",
		 w.call->rx.len);
	rp_choice(!w.call->nreads && w.call->htype == MSG,
		  "2000 bytes are not inline");
	answer_write(s, w);
	cl_use(s);
	cl_end(s);
}

RP_CASE("version", MUST, cl_err_vers_cm_once, "CM-12,CM-9,INL-8,REC-1",
	"private data counts for one connection only")
{
	static const uint8_t c1[] = { 0xf6, 0xab, 0x0e, 0x18, 1, 1, 3, 3 };
	const struct rp_how how = { .private_data = c1, .private_len = 8 };
	struct cl *s = cl_mounted_v1(&how);
	struct written w;

	hang_up(s);
	w.job = job_write("f", 0, 2000);
	cl_accept(s);
	cl_settle_v1(s);
	w.call = cl_wait_for(s, NFS_WRITE);
	rp_check(w.call->rx.len <= 1024, "a Call of %u bytes",
		 w.call->rx.len);
	answer_write(s, w);
	cl_end(s);
}

static void answer_range(struct cl *s, unsigned int n)
{
	static const uint32_t range[][2] = { { 3, 4 }, { 2, 1 }, { 0, 0 } };

	rp_send(s->c, err_vers(cl_first(s), 1, range[n % 3][0],
			       range[n % 3][1]));
}

RP_CASE("version", DECISION, cl_err_vers_range, "ERR-13,VER-10,D-8",
	"ERR_VERS with a range nobody can use: the mount fails with EPROTO")
{
	struct cl *s = cl_start(NULL);

	/* It may try more than once; each time it must give up at once. */
	until_over(s, answer_range);
	must_fail(s, EPROTO);
}

static void err_vers_and_leave(unsigned int pause)
{
	struct cl *s = cl_start(NULL);
	uint32_t xid = first(s);

	rp_send(s->c, err_vers(xid, 2, 1, 1));
	rp_sleep(pause);
	hang_up(s);
	starts_with_v1(s);
	mount_works(s);
}

RP_ROW("version", DECISION, cl_err_vers_close, "VER-13,V1-10,D-22",
	"ERR_VERS, then the connection is lost: version 1 next (F-19)",
	err_vers_and_leave(200))
RP_ROW("version", DECISION, cl_err_vers_at_once, "VER-13,V1-10,D-22",
	"ERR_VERS and the end of the connection at once: the same (F-19)",
	err_vers_and_leave(0))

RP_CASE("version", MUST, cl_err_vers_late, "ERR-14,VER-13,SEC-11",
	"ERR_VERS in mid-connection changes no version")
{
	struct cl *s = cl_mounted(NULL);
	struct rp_job *job;
	struct cl_call *call;
	int err;

	rp_send(s->c, err_vers(0x01020304, 2, 1, 1));
	cl_alive(s);
	job = job_stat(cl_name());
	call = cl_wait_for(s, NFS_LOOKUP);
	rp_send(s->c, err_vers(call->xid, 2, 1, 1));
	err = cl_serve(s, job);
	rp_check(err, "the operation does not fail");
	rp_choice(err == EIO, "\"%s\", not EIO", strerror(err));
	job = job_stat(cl_name());
	call = cl_wait_for(s, NFS_LOOKUP);
	rp_check(call->vers == 2, "version %u now", call->vers);
	cl_answer(s, call);
	must_end(s, job);
	one_connect(s);
	cl_end(s);
}

RP_CASE("version", DECISION, cl_not_remembered, "VER-13,VER-17,REC-1",
	"a fallback by ERR_VERS is not remembered: the next connection asks")
{
	struct cl *s = cl_mounted_v1(NULL);

	settles_again(s, lose(s));
	cl_use(s);
	cl_end(s);
}

/* ---- silence, loss ---- */

/* A first message is all that comes, until the client gives up in time. */
static void silence(struct cl *s, unsigned int least)
{
	uint64_t start = rp_now();

	rp_check(rp_closed_within(s->c, 6000), "the client goes on waiting");
	rp_check(rp_now() - start >= least, "it gives up after %llu ms",
		 (unsigned long long)(rp_now() - start));
	rp_check(!rp_recv_within(s->c, 0), "a second message");
	hang_up(s);
}

RP_CASE("version", DECISION | MODULE, cl_silence,
	"VER-14,VER-2,V1-9,VER-16,D-22",
	"a server that says nothing: CONNPROP, a Call, then version 1 (F-19)")
{
	struct cl *s;

	cl_parameter("negotiate_ms", "2000");
	s = cl_start(NULL);
	first(s);
	silence(s, 500);
	cl_accept(s);
	cl_call_free(cl_first_call(s));
	silence(s, 500);
	starts_with_v1(s);
	mount_works(s);
}

/* CONNPROP is not answered, which the draft allows; everything else is. The
 * next connection is waiting for the answer to its Call.
 */
static struct cl *only_calls(void)
{
	struct cl *s;

	cl_parameter("negotiate_ms", "1000");
	s = cl_start(NULL);
	first(s);
	silence(s, 250);
	/* Whoever answers now has time */
	cl_parameter("negotiate_ms", "15000");
	cl_accept(s);
	return s;
}

static void answer_first_call(struct cl *s)
{
	struct cl_call *call = cl_first_call(s);

	s->limit = 4096;
	/* Until it is answered nothing else may come (VER-2). */
	rp_expect_silence(s->c, 200 / rp_opt.scale);
	cl_answer(s, call);
	cl_call_free(call);
}

static void only_calls_works(void)
{
	struct cl *s = only_calls();
	struct rp_job *job;
	struct written w;
	unsigned int i;

	answer_first_call(s);
	must_mount(s);
	cl_use(s);
	w = write_call(s, 10000);
	rp_check(w.call->vers == 2 && w.call->rx.len <= 4096,
		 "version %u, %u bytes", w.call->vers, w.call->rx.len);
	answer_write(s, w);
	/* That is remembered, so that no connection loses time. */
	for (i = 0; i < 2; i++) {
		job = lose(s);
		cl_accept(s);
		answer_first_call(s);
		must_end(s, job);
	}
	one_connect(s);
	cl_end(s);
}

RP_ROW("version", DECISION | MODULE, cl_only_calls,
	"VER-14,VER-3,CONN-11,CONN-6,VER-16,D-10,D-22",
	"a server that ignores CONNPROP and answers Calls: version 2",
	only_calls_works())
RP_ROW("version", DECISION | MODULE, cl_only_calls_v2,
	"VER-14,VER-24,CONN-11,D-10,D-22",
	"the same where version 1 is not allowed",
	cmd_policy("client", "versions v2"); only_calls_works())

RP_CASE("version", DECISION | MODULE, cl_only_calls_own, "CONN-10,CONN-9,D-10",
	"the same, and it sends a CONNPROP of its own before its Reply")
{
	struct cl *s = only_calls();
	struct cl_call *call = cl_first_call(s);

	rp_send(s->c, connprop(0x77777777, 4096, 0));
	s->limit = 4096;
	cl_answer(s, call);
	mount_works(s);
}

RP_CASE("version", MUST | MODULE, cl_call_err_vers,
	"VER-12,VER-10,VER-11,ERR-12",
	"ERR_VERS to a first Call: the same connection, RPCs in version 1")
{
	struct cl *s = only_calls();
	struct cl_call *call = cl_first_call(s);

	rp_send(s->c, err_vers(call->xid, 2, 1, 1));
	call = cl_next(s);
	rp_check(call->vers == 1, "version %u", call->vers);
	cl_answer(s, call);
	must_mount(s);
	one_connect(s);
	cl_use(s);
	cl_end(s);
}

RP_CASE("version", DECISION | MODULE, cl_call_lost, "VER-15,D-22",
	"closed at a first Call: the same again, then version 1")
{
	struct cl *s = only_calls();
	unsigned int i;

	for (i = 0; i < 2; i++) {
		cl_call_free(cl_first_call(s));
		hang_up(s);
		if (!i)
			cl_accept(s);
	}
	starts_with_v1(s);
	mount_works(s);
}

RP_CASE("version", DECISION | MODULE, cl_call_junk,
	"HDR-5,HDR-7,FLG-9,ERR-6,D-10",
	"what is no Reply to a first Call is dropped")
{
	struct cl *s = only_calls();
	struct cl_call *call = cl_first_call(s);
	struct rp_msg *reply = null_reply(call->xid);

	rp_send(s->c, null_reply(call->xid + 1));
	rp_send(s->c, rp_set(null_reply(call->xid), 9, call->xid + 1));
	rp_send(s->c, rp_set(null_reply(call->xid), 10, 0));
	rp_send(s->c, rp_cut(null_reply(call->xid), 36));
	rp_send(s->c, rp_cut(null_reply(call->xid), 19));
	rp_send(s->c, err_vers(call->xid + 1, 2, 1, 1));
	rp_send(s->c, rp_set(cl_connprop(s, call->xid + 1), 2, 16));
	rp_expect_silence(s->c, RP_SILENCE);
	rp_send(s->c, rp_set(reply, 2, 32));
	s->limit = 4096;
	must_mount(s);
	cl_use(s);
	one_connect(s);
	cl_end(s);
}

/* A mount that falls back after silence, which counts for so many seconds */
static struct cl *silent_mount(const char *seconds)
{
	struct cl *s;

	cl_parameter("remember_min", seconds);
	cl_parameter("remember_max", seconds);
	cl_parameter("negotiate_ms", "500");
	s = cl_start(NULL);
	cl_stay_silent(s);
	starts_with_v1(s);
	must_mount(s);
	return s;
}

RP_CASE("version", DECISION | MODULE, cl_remembers, "VER-16,D-22",
	"the result of silence is remembered")
{
	struct cl *s = silent_mount("600");
	struct rp_job *job;
	unsigned int i;

	for (i = 0; i < 3; i++) {
		job = lose(s);
		starts_with_v1(s);
		must_end(s, job);
	}
	cl_end(s);
}

RP_CASE("version", DECISION | MODULE, cl_remembers_no_longer,
	"VER-16,VER-17,D-22",
	"the result of silence lasts for a time, then version 2 is tried again")
{
	struct cl *s = silent_mount("1");

	rp_sleep(2100);			/* it counts in seconds */
	/* Whoever answers now has time */
	cl_parameter("negotiate_ms", "15000");
	settles_again(s, lose(s));
	cl_use(s);
	cl_end(s);
}

RP_CASE("version", DECISION | MODULE, cl_offers_again, "VER-16,VER-17,D-22",
	"after that time an idle connection is closed, and the next one offers version 2")
{
	struct cl *s;
	struct rp_job *job;

	cl_parameter("adapt_seconds", "1");
	s = silent_mount("1");
	rp_expect_closed(s->c);
	hang_up(s);
	cl_parameter("negotiate_ms", "15000");
	job = job_stat(cl_name());
	settles_again(s, job);
	/* What is settled now stays */
	rp_expect_silence(s->c, 3000);
	cl_use(s);
	cl_end(s);
}

RP_CASE("version", DECISION, cl_lost_twice, "VER-15,V1-10,VER-16,D-22",
	"closed without an answer: version 2 again, then 1 (F-19)")
{
	struct cl *s = cl_start(NULL);

	first(s);
	hang_up(s);
	first(s);
	hang_up(s);
	starts_with_v1(s);
	mount_works(s);
}

/* A loss or silence misleads a client about a server that has no version 1. */
RP_CASE("version", DECISION, cl_v1_refused, "VER-10,VER-15,VER-16,ERR-13,D-22",
	"ERR_VERS to a Call of version 1 that nobody asked for: version 2 again")
{
	struct cl *s = cl_start(NULL);
	struct cl_call *call;
	int i;

	for (i = 0; i < 2; i++) {
		cl_accept(s);
		cl_first(s);
		hang_up(s);
	}
	cl_accept(s);
	call = cl_next(s);
	rp_check(call->vers == 1, "version %u", call->vers);
	rp_send(s->c, err_vers(call->xid, 1, 2, 2));
	leaves(s);
	cl_accept(s);
	cl_settle(s);
	must_mount(s);
	cl_use(s);
	cl_end(s);
}

RP_CASE("version", DECISION, cl_lost_once, "VER-15,D-22",
	"closed once without an answer: version 2 the second time")
{
	struct cl *s = cl_start(NULL);

	first(s);
	hang_up(s);
	cl_accept(s);
	cl_settle(s);
	must_mount(s);
	cl_end(s);
}

RP_CASE("version", DECISION, cl_reject, "ERR-13",
	"a refused connection ends a mount at once (F-19)")
{
	struct cl *s = cl_start(NULL);

	rp_reject(s->l);
	must_fail(s, ECONNREFUSED);
}

RP_CASE("version", TROUBLE, cl_reject_later, "REC-5,ERR-13,REC-2",
	"a refused reconnect is tried again")
{
	struct cl *s = cl_mounted(NULL);
	struct rp_job *job = lose(s);

	rp_reject(s->l);
	rp_reject(s->l);
	settles_again(s, job);
	cl_use(s);
	cl_end(s);
}

/* A server that is started again refuses connections for a while. */
RP_CASE("version", DECISION, cl_restarts, "VER-15,VER-17,REC-5,D-22",
	"restarted twice in the middle of the negotiation: version 2 (F-6)")
{
	struct cl *s = cl_mounted(NULL);
	struct rp_job *job = lose(s);
	int i;

	for (i = 0; i < 2; i++) {
		first(s);
		hang_up(s);
		rp_reject(s->l);
	}
	settles_again(s, job);
	cl_use(s);
	cl_end(s);
}

/* ---- other errors as first answer ---- */

/* The answer to the CONNPROP with this XID: version 1 on the next connection */
#define STARTS_OVER(_fn, _ids, _text, _answer)				\
RP_CASE("version", DECISION, _fn, _ids, _text)				\
{									\
	struct cl *s = cl_start(NULL);					\
	uint32_t xid = first(s);					\
									\
	rp_send(s->c, _answer);						\
	leaves(s);							\
	starts_with_v1(s);						\
	must_mount(s);							\
	cl_end(s);							\
}

STARTS_OVER(cl_answer_bad_xdr, "VER-18,ERR-16,D-22",
	"BAD_XDR as first answer: reconnect with version 1", error2(xid, BAD_XDR))
STARTS_OVER(cl_answer_inval, "VER-18,ERR-18,HT-2,D-22",
	"INVAL_HTYPE as first answer: reconnect with version 1",
	error2(xid, INVAL_HTYPE))
STARTS_OVER(cl_answer_bad_xdr_long, "VER-18,ERR-12,D-8,D-12",
	"BAD_XDR of 28 bytes, the length of ERR_VERS: the same",
	error2_arg(xid, BAD_XDR, 2))
STARTS_OVER(cl_answer_inval_long, "VER-18,ERR-12,D-8",
	"INVAL_HTYPE of 28 bytes: the same", error2_arg(xid, INVAL_HTYPE, 4))
STARTS_OVER(cl_answer_system_long, "VER-18,ERR-12,D-8",
	"SYSTEM of 28 bytes: the same", error2_arg(xid, SYSTEM, 9))
STARTS_OVER(cl_answer_err_chunk, "VER-18,D-22",
	"version 1 ERR_CHUNK as first answer: reconnect with version 1",
	rp_words(W(xid, 1, 32, ERROR, 2)))
STARTS_OVER(cl_answer_err_chunk2, "VER-18,D-22",
	"ERR_CHUNK with a copied version 2 as first answer: the same",
	rp_words(W(xid, 2, 32, ERROR, 2)))

RP_CASE("version", DECISION, cl_answer_junk, "HDR-5,HT-3,FLG-9,ERR-6,ERR-9,SEC-11",
	"other messages in place of the answer are dropped")
{
	struct cl *s = cl_start(NULL);
	uint32_t xid = first(s);

	rp_send(s->c, rp_cut(cl_connprop(s, xid), 15));
	rp_send(s->c, rp_cut(cl_connprop(s, xid), 19));
	rp_send(s->c, cl_connprop(s, xid + 1));
	rp_send(s->c, err_vers(xid + 1, 2, 1, 1));
	rp_send(s->c, rp_set(cl_connprop(s, xid), 3, 99));
	rp_send(s->c, rp_set(error2(xid, INVAL_HTYPE), 4, CALL));
	rp_send(s->c, error2(xid + 1, INVAL_HTYPE));
	rp_send(s->c, null_reply(xid));
	rp_send(s->c, rp_cut(err_vers(xid, 2, 1, 1), 24));
	rp_expect_silence(s->c, RP_SILENCE);
	rp_send(s->c, cl_connprop(s, xid));
	s->limit = 4096;
	must_mount(s);
	one_connect(s);
	cl_end(s);
}

RP_CASE("version", DECISION, cl_answer_malformed,
	"ERR-1,D-6,PROP-7,PROP-8,PROP-10,PROP-11,PROP-22",
	"a malformed CONNPROP is reported although RESPONSE is set")
{
	struct cl *s = cl_start(NULL);
	uint32_t xid = first(s);
	struct rp_msg *m;

	m = connprop_head(xid, RESPONSE, 1);
	put_all(m, W(RBSIZ, 2, 0x10000000));		/* P4 */
	rp_send(s->c, m);
	rp_expect(s->c, error2(xid, BAD_XDR));
	m = connprop_head(xid, RESPONSE, 1);
	put_all(m, W(X_IDENTITY, 12, 1, 2, 3));		/* P8 */
	rp_send(s->c, m);
	rp_expect(s->c, error2(xid, BAD_XDR));
	m = cl_connprop(s, xid);
	rp_send(s->c, rp_set(m, 11, 3));		/* BRS 3 */
	rp_expect(s->c, error2(xid, BAD_XDR));
	rp_send(s->c, cl_connprop(s, xid));
	s->limit = 4096;
	must_mount(s);
	one_connect(s);
	cl_end(s);
}

/* ---- limits of the server ---- */

static void answer_tiny(struct cl *s, unsigned int n)
{
	(void)n;
	rp_send(s->c, rp_set(connprop(cl_first(s), 512, 0), 4, RESPONSE));
}

RP_CASE("version", DECISION, cl_rbsiz_tiny, "PROP-16,SEC-12,REC-5,D-27",
	"a server with Receives of 512 bytes: closed, no tight loop")
{
	struct cl *s = cl_start(NULL);
	unsigned int n = until_over(s, answer_tiny);

	rp_check(job_result(s->mount), "the mount succeeds");
	rp_check(n < 20, "%u connections", n);
}

RP_CASE("version", DECISION, cl_rbsiz_small, "PROP-16,PROP-14,PROP-15,MSG-4,MSG-5",
	"a server with Receives of 1024 bytes gets no more than that")
{
	struct cl *s = cl_start(NULL);

	settle_at(s, 1024, 1024);
	must_mount(s);
	writes_within(s, 2000, 1024);
	cl_use(s);
	cl_end(s);
}

RP_CASE("version", DECISION, cl_rbsiz_huge, "PROP-16,SEC-3",
	"a Receive Buffer Size of 4 GiB is cut to what the client sends")
{
	struct cl *s = cl_start(NULL);

	settle_at(s, 0xffffffff, 4096);
	must_mount(s);
	writes_within(s, 60000, 20480);
	cl_end(s);
}

RP_CASE("version", DECISION, cl_second_connprop, "CONN-8,D-25,CONN-13",
	"a second CONNPROP is ignored")
{
	struct cl *s = cl_mounted(NULL);
	struct written w;

	rp_send(s->c, connprop(0x12345678, 1024, 0));
	cl_alive(s);
	w = write_call(s, 2000);
	rp_check(w.call->htype == MSG && !w.call->nreads,
		 "the limit has changed");
	answer_write(s, w);
	one_connect(s);
	cl_end(s);
}

RP_CASE("version", DECISION, cl_second_malformed, "CONN-8,ERR-1,PROP-6,D-25",
	"a second CONNPROP that is malformed is answered with BAD_XDR")
{
	struct cl *s = cl_mounted(NULL);
	struct rp_msg *m = connprop_head(0x12345678, CALL, 1);

	put_all(m, W(RBSIZ, 2, 0x10000000));
	rp_send(s->c, m);
	rp_expect(s->c, error2(0x12345678, BAD_XDR));
	m = connprop_head(0x12345679, RESPONSE, 1);
	put_all(m, W(BRS, 4, 3));
	rp_send(s->c, m);
	rp_expect(s->c, error2(0x12345679, BAD_XDR));
	cl_alive(s);
	cl_end(s);
}

RP_CASE("version", DECISION | MODULE, cl_own_then_answer,
	"CRED-14,CONN-10,CONN-8,D-25",
	"a CONNPROP of the server's own, then the answer: its grant counts")
{
	struct cl *s = cl_start(NULL);
	uint32_t xid = first(s);
	struct cl_call *call;

	rp_send(s->c, connprop(0x77777777, 4096, 0));
	s->limit = 4096;
	call = cl_next(s);
	rp_check(rp_client_stat(s, "credits_granted_by_peer") == 1,
		 "a grant before the answer");
	rp_send(s->c, rp_set(cl_connprop(s, xid), 2, 7));
	rp_client_reaches(s, "credits_granted_by_peer", 7);
	cl_answer(s, call);
	must_mount(s);
	cl_use(s);
	one_connect(s);
	cl_end(s);
}

RP_CASE("version", DECISION, cl_new_properties, "CONN-14,REC-1,REC-2",
	"a new connection starts from what the server says then")
{
	struct cl *s = cl_mounted(NULL);
	struct written w;

	hang_up(s);
	w.job = job_write("f", 0, 2000);
	settle_at(s, 1024, 1024);
	w.call = cl_wait_for(s, NFS_WRITE);
	rp_check(w.call->rx.len <= 1024, "a Call of %u bytes",
		 w.call->rx.len);
	answer_write(s, w);
	cl_end(s);
}

RP_CASE("version", DECISION, cl_version_change, "HDR-12,HDR-11,D-14",
	"a message of another version: dropped, and the connection is closed")
{
	struct cl *s = cl_mounted(NULL);
	struct rp_job *job = job_stat(cl_name());
	struct cl_call *call = cl_wait_for(s, NFS_LOOKUP);
	struct rp_msg *rpc = cl_rpc_reply(s, call);

	/* Nothing behind it counts: it comes when the connection is given up */
	rp_send_both(s->c, v1_reply(rpc), msg_reply(rpc));
	leaves(s);
	rp_check(!job_over(job), "the Reply was taken");
	settles_again(s, job);
	cl_end(s);
}

/* ---- the administrator insists on version 2 ---- */

static void answer_v1_only(struct cl *s, unsigned int n)
{
	(void)n;
	cl_settle_v1(s);
}

RP_CASE("version", DECISION | MODULE, cl_insist_err_vers, "SEC-11,VER-24",
	"version 1 not allowed: ERR_VERS ends the mount with EPROTO")
{
	struct cl *s;

	cmd_policy("client", "versions v2");
	s = cl_start(NULL);
	until_over(s, answer_v1_only);
	must_fail(s, EPROTO);
}

/* CONNPROP and Call by turns, and silence for an answer */
static void stay_silent(struct cl *s, unsigned int n)
{
	struct rp_rx *rx = rp_recv(s->c);

	rp_check(rp_word(rx->buf, 1) == 2 &&
		 rp_word(rx->buf, 3) == (n % 2 ? MSG : CONNPROP),
		 "version %u type %u", rp_word(rx->buf, 1),
		 rp_word(rx->buf, 3));
}

RP_CASE("version", DECISION | MODULE, cl_insist_silence, "SEC-11,VER-14,VER-24",
	"version 1 not allowed: silence ends the mount with EPROTO (F-19)")
{
	struct cl *s;

	cmd_policy("client", "versions v2");
	cl_parameter("negotiate_ms", "500");
	s = cl_start(NULL);
	until_over(s, stay_silent);
	must_fail(s, EPROTO);
}

RP_CASE("version", TROUBLE, cl_each_step, "REC-4,REC-5,VER-15",
	"a server that leaves at each step: the mount succeeds (F-19)")
{
	struct cl *s = cl_start("timeo=600");
	struct cl_call *call;
	unsigned int i;

	cl_accept(s);
	hang_up(s);
	cl_accept(s);
	cl_settle(s);
	hang_up(s);
	for (i = 0; i < 2; i++) {
		cl_accept(s);
		cl_settle(s);
		call = cl_next(s);
		hang_up(s);
		cl_call_free(call);
	}
	cl_accept(s);
	cl_settle(s);
	must_mount(s);
	cl_end(s);
}
