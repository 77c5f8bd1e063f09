// SPDX-License-Identifier: GPL-2.0
/*
 * Several paths to a server (D-53): the client has mounted from one address of ours,
 * "here", and its policy has a second one, "there", as another path to the same server.
 * What is told at each of them, and whether anybody is there, changes in a case.
 *
 * The client connects when it likes, also without a message, to find out whether a path
 * is up. So all connections are served in one place, tend(), and a case waits for what
 * has happened meanwhile.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "rp.h"
#include "change.h"
#include "client.h"
#include "command.h"

#define MAX_LINES	12
#define MAX_WHO_WORDS	12
#define LOOK		100	/* ms between looks at what does not wake us */
#define PATIENCE	(RP_ANSWER * 6)

enum how {
	TELLS, VERSION_1,
	REFUSES,		/* connect requests */
	SILENT,			/* on a connection */
	HANGS_UP,		/* instead of an answer */
	GOES,			/* silent, and then it refuses */
};

/**
 * struct who - the server at an address
 * @how: what it does
 * @nprops: properties in its CONNPROP besides the usual ones
 * @n: words that they are
 * @w: the words
 */
struct who {
	enum how	how;
	unsigned int	nprops;
	unsigned int	n;
	uint64_t	w[MAX_WHO_WORDS];
};

#define TOLD(_nprops, ...)						\
	{ TELLS, _nprops, sizeof((uint64_t[]){ __VA_ARGS__ }) / 8,	\
	  { __VA_ARGS__ } }

static const struct who x = TOLD(1, X_IDENTITY, 16, 1, 2, 3, 4);
/* The last bit differs. */
static const struct who y = TOLD(1, X_IDENTITY, 16, 1, 2, 3, 5);
static const struct who untold = { .how = TELLS };
static const struct who empty = TOLD(1, X_IDENTITY, 0);
static const struct who version_1 = { .how = VERSION_1 };
static const struct who away = { .how = REFUSES };
static const struct who silent = { .how = SILENT };
static const struct who hangs_up = { .how = HANGS_UP };
static const struct who goes = { .how = GOES };

/**
 * struct place - an address of ours
 * @addr: it
 * @l: where the client connects
 * @who: the server there
 * @barred: no RPC may come
 * @drops: hang up at the next LOOKUP
 * @holds: do not answer the next LOOKUP
 * @held: this LOOKUP, and where it came
 * @told: connections on which the client has got to know what it needs
 * @left: those of them that it ended without an RPC
 * @calls: RPCs
 * @lookup: XID of the last LOOKUP
 * @malformed: answers that the client has reported as malformed
 */
struct place {
	const char		*addr;
	struct rp_listener	*l;
	struct who		who;
	bool			barred;
	bool			drops;
	bool			holds;
	struct cl_call		*held;
	struct cl		*held_by;
	unsigned int		told;
	unsigned int		left;
	unsigned int		calls;
	uint32_t		lookup;
	unsigned int		malformed;
};

/**
 * struct line - a connection
 * @at: the address that the client has connected to
 * @s: the server of this connection, or NULL
 * @told: the client has got to know what it needs
 * @calls: RPCs
 */
struct line {
	struct place	*at;
	struct cl	*s;
	bool		told;
	unsigned int	calls;
};

static struct place here, there;
static struct line lines[MAX_LINES];
/* The client has several paths, so it asks. */
static bool asks = true;
static int kmsg = -1;

/* ---- serving ---- */

static void drop(struct line *k)
{
	rp_close(k->s->c);
	free(k->s);
	k->s = NULL;
}

static void comes(struct place *at)
{
	struct line *k = lines;
	struct rp_conn *c;

	if (at->who.how == REFUSES) {
		rp_reject(at->l);
		return;
	}
	c = rp_try_accept(at->l);
	if (!c)
		return;
	while (k < lines + MAX_LINES && k->s)
		k++;
	rp_check(k < lines + MAX_LINES, "too many connections");
	*k = (struct line){ .at = at, .s = calloc(1, sizeof(*k->s)) };
	rp_check(k->s, "no memory");
	k->s->c = c;
	k->s->grant = 32;
	k->s->limit = 1024;
}

static void tell(struct line *k, uint32_t xid)
{
	const struct who *who = &k->at->who;
	struct rp_msg *m;

	if (who->how == VERSION_1) {
		m = err_vers(xid, 2, 1, 1);
	} else {
		m = connprop_head(xid, RESPONSE, 2 + who->nprops);
		put_prop(m, RBSIZ, 4096);
		put_prop(m, BRS, 0);
		put_all(m, who->w, who->n);
		m->w[2] = k->s->grant;
		k->s->limit = 4096;
	}
	k->told = rp_try_send(k->s->c, m);
	k->at->told += k->told;
}

static void take_connprop(struct line *k, const struct rp_rx *rx)
{
	struct chg m = chg_parse(rx);
	const struct chg_value *v = chg_find(&m, X_IDENTITY);

	rp_check(m.flags == CALL && !k->told, "an unexpected CONNPROP");
	rp_check(!v || !v->len, "the client tells an identity, of %u bytes",
		 v ? v->len : 0);
	rp_check(!!v == asks, asks ? "the client does not ask who this is" :
				     "the client asks who this is");
	switch (k->at->who.how) {
	case HANGS_UP:
		drop(k);
		break;
	case GOES:
		k->at->who = away;
		break;
	case SILENT:
		break;
	default:
		tell(k, m.xid);
	}
}

/* What was told was malformed. Now the server tells who it really is. */
static void take_error(struct line *k, const struct rp_rx *rx)
{
	rp_must_match(rx, error2(rp_word(rx->buf, 0), BAD_XDR));
	rp_check(!k->calls, "an RPC before the ERROR");
	k->at->malformed++;
	k->at->who = x;
	tell(k, rp_word(rx->buf, 0));
}

static void take_call(struct line *k, const struct rp_rx *rx)
{
	struct place *at = k->at;
	struct cl_call *call = cl_parse(k->s, rx);
	bool lookup = call->proc == NFS_LOOKUP;

	/* After silence the client asks by a Call of its own. */
	if (at->who.how != SILENT || call->proc != NFS_NULL) {
		rp_check(!at->barred, "%s gets an RPC, procedure %u", at->addr,
			 call->proc);
		rp_check(k->told, "procedure %u of version %u at %s, and no question",
			 call->proc, call->vers, at->addr);
		rp_check(call->vers == (at->who.how == VERSION_1 ? 1 : 2),
			 "version %u at %s", call->vers, at->addr);
		at->calls++;
		k->calls++;
		at->lookup = lookup ? call->xid : at->lookup;
		if (lookup && at->drops) {
			at->drops = false;
			drop(k);
		} else if (lookup && at->holds) {
			at->holds = false;
			at->held = call;
			at->held_by = k->s;
			return;
		} else {
			cl_answer(k->s, call);
		}
	}
	cl_call_free(call);
}

static void take(struct line *k, const struct rp_rx *rx)
{
	if (chg_is(rx, CONNPROP))
		take_connprop(k, rx);
	else if (chg_is(rx, ERROR))
		take_error(k, rx);
	else
		take_call(k, rx);
}

static void serve(struct line *k)
{
	struct rp_rx *rx;

	while (k->s && (rx = rp_recv_within(k->s->c, 0)))
		take(k, rx);
	if (!k->s || !rp_is_closed(k->s->c))
		return;
	k->at->left += k->told && !k->calls;
	drop(k);
}

/* Handle whatever there is. */
static void tend(void)
{
	struct line *k;

	while (rp_wants_in(here.l))
		comes(&here);
	while (rp_wants_in(there.l))
		comes(&there);
	for (k = lines; k < lines + MAX_LINES; k++)
		if (k->s)
			serve(k);
}

static bool has_work(void *unused)
{
	struct line *k;

	(void)unused;
	for (k = lines; k < lines + MAX_LINES; k++)
		if (k->s && rp_has_news(k->s->c))
			return true;
	return rp_wants_in(here.l) || rp_wants_in(there.l);
}

/* Serve until something has happened; false if it does not in time. */
static bool serve_until(bool (*done)(const void *arg), const void *arg)
{
	uint64_t end = rp_now() + (uint64_t)PATIENCE * rp_opt.scale;

	do {
		tend();
		if (done(arg))
			return true;
		rp_wait(has_work, NULL, LOOK / rp_opt.scale + 1);
	} while (rp_now() < end);
	return false;
}

/* ---- the client ---- */

static bool is_over(const void *job)
{
	return job_over((struct rp_job *)job);
}

static bool is_over_or_held(const void *job)
{
	return there.held || is_over(job);
}

static int ends(struct rp_job *job)
{
	rp_check(serve_until(is_over, job),
		 "a mount or file operation does not end");
	return job_result(job);
}

static void ends_well(struct rp_job *job, const char *what)
{
	int err = ends(job);

	rp_check(!err, "%s fails: %s", what, strerror(err));
}

/* An RPC */
static void touch(void)
{
	struct rp_job *job = job_stat(cl_name());

	ends_well(job, "a file operation");
	job_forget(job);
}

/* RPCs, until something has happened: each connection of the client must get one, or it
 * does not connect again.
 */
static void touch_until(bool (*done)(const void *arg), const void *arg,
			const char *what)
{
	uint64_t end = rp_now() + (uint64_t)PATIENCE * rp_opt.scale;

	while (!done(arg)) {
		rp_check(rp_now() < end, "not in time: %s", what);
		touch();
	}
}

/* Connections that RPCs have come by */
static unsigned int used(const struct place *at)
{
	const struct line *k;
	unsigned int n = 0;

	for (k = lines; k < lines + MAX_LINES; k++)
		n += k->s && k->at == at && k->calls;
	return n;
}

static bool two_here(const void *unused)
{
	(void)unused;
	return used(&here) == 2;
}

static bool one_each(const void *unused)
{
	(void)unused;
	return used(&here) == 1 && used(&there) == 1;
}

static bool state_is(const struct place *at, const char *state)
{
	return !strcmp(cmd_path_state(at->addr), state);
}

static bool is_up(const void *at)
{
	return state_is(at, "up");
}

static bool is_refused(const void *at)
{
	return state_is(at, "refused");
}

static bool is_not_refused(const void *at)
{
	return !is_refused(at);
}

/* The client was told, and left; and that again */
static bool has_left(const void *at)
{
	return ((const struct place *)at)->left;
}

static bool has_left_twice(const void *at)
{
	return ((const struct place *)at)->left > 1;
}

static void hang_up(const struct place *at)
{
	struct line *k;

	for (k = lines; k < lines + MAX_LINES; k++)
		if (k->s && k->at == at)
			drop(k);
}

static void becomes(struct place *at, const struct who *who)
{
	at->who = *who;
	at->left = 0;
	hang_up(at);
}

/* ---- the log ---- */

/* What the kernel logs from now on */
static void log_open(void)
{
	rp_needs_module();
	kmsg = open("/dev/kmsg", O_RDONLY | O_NONBLOCK);
	rp_check(kmsg >= 0 && lseek(kmsg, 0, SEEK_END) >= 0,
		 "/dev/kmsg: %s", strerror(errno));
}

/* Lines of the log that have this text, since the last look */
static unsigned int logged(const char *text)
{
	unsigned int n = 0;
	char record[1024];
	ssize_t len;

	for (;;) {
		len = read(kmsg, record, sizeof(record) - 1);
		if (len < 0 && errno == EAGAIN)
			return n;
		/* EPIPE: some were overwritten */
		rp_check(len > 0 || errno == EPIPE, "/dev/kmsg: %s",
			 strerror(errno));
		record[len > 0 ? len : 0] = 0;
		n += !!strstr(record, text);
	}
}

/* The client has logged why it does not use this address, so often. */
static void logged_why(const struct place *at, const char *why,
		       unsigned int times)
{
	char text[160];
	unsigned int n;

	snprintf(text, sizeof(text),
		 strchr(at->addr, ':') ? "[%s]:%u is not used as a path, it %s" :
					 "%s:%u is not used as a path, it %s",
		 at->addr, rp_opt.port, why);
	n = logged(text);
	rp_check(n == times, "%u times in the log, not %u: %s", n, times, text);
}

#define ANOTHER		"leads to another server"
#define DOES_NOT_SAY	"does not say which server it is"

/* ---- steps of cases ---- */

static void listen_at_both(const struct who *h, const struct who *t)
{
	if (!rp_opt.second)
		rp_skip("needs --second");
	here.addr = rp_opt.addr;
	here.l = rp_listen_at(here.addr, rp_opt.port);
	here.who = *h;
	there.addr = rp_opt.second;
	there.l = rp_listen_at(there.addr, rp_opt.port);
	there.who = *t;
}

static void add_path(const char *words)
{
	char all[128];

	snprintf(all, sizeof(all), "paths %s%s", there.addr, words);
	cmd_policy_of("client", here.addr, all);
}

static void mount_by(unsigned int connections, const char *options)
{
	ends_well(job_mount(CL_V3 ",nconnect=%u%s", cl_timeo(), rp_opt.port,
			    connections, options), "the mount");
}

static void begin(unsigned int connections, const struct who *h,
		  const struct who *t, const char *words)
{
	listen_at_both(h, t);
	log_open();
	add_path(words);
	mount_by(connections, "");
}

static void unmount(void)
{
	ends_well(job_umount(), "umount");
}

/* One connection by each path, of two */
static void begin_spread(void)
{
	begin(2, &x, &x, "");
	touch_until(one_each, NULL, "a connection by each path");
}

RP_CASE("client-paths", DECISION | MODULE, cp_asks, "PROP-22,EXT-8,D-53",
	"a client with several paths asks which server it is, another one does not")
{
	listen_at_both(&untold, &x);
	asks = false;
	mount_by(1, "");
	touch();
	unmount();
	rp_check(here.told == 1 && !there.told, "%u and %u connections",
		 here.told, there.told);
	hang_up(&here);
	here.who = x;
	asks = true;
	add_path("");
	mount_by(1, "");
	touch();
	rp_check(here.told == 2, "no new connection");
	unmount();
}

RP_CASE("client-paths", DECISION | MODULE, cp_spread, "PROP-22,D-53",
	"two connections go to the two addresses of one server, and both are used")
{
	unsigned int i;

	begin_spread();
	here.calls = 0;
	there.calls = 0;
	for (i = 0; i < 8; i++)
		touch();
	rp_check(here.calls && there.calls, "%u and %u RPCs", here.calls,
		 there.calls);
	rp_check(one_each(NULL), "another connection");
	rp_check(state_is(&here, "up") && state_is(&there, "up"),
		 "a path is not up");
	unmount();
}

RP_CASE("client-paths", DECISION | MODULE, cp_resend, "REC-2,REC-5,D-53",
	"a connection is lost: within 3 s the Call comes again by the other path")
{
	struct rp_job *job;
	uint64_t start;

	begin(1, &x, &x, "");
	touch_until(is_up, &there, "the path there is up");
	here.drops = true;
	job = job_stat(cl_name());
	start = rp_now();
	ends_well(job, "the operation");
	rp_check(!here.drops && there.calls, "no Call there");
	rp_check(there.lookup == here.lookup, "XID %08x, not %08x",
		 there.lookup, here.lookup);
	rp_check(rp_now() - start < 3000 * rp_opt.scale, "after %llu ms",
		 (unsigned long long)(rp_now() - start));
	unmount();
}

/* ---- the other address leads to another or to an unknown server ---- */

/* Two connections: both are used here, and there no RPC comes. */
static void not_there(const struct who *h, const struct who *t,
		      const char *words, const char *why)
{
	there.barred = true;
	begin(2, h, t, words);
	touch_until(is_refused, &there, "the path there is refused");
	touch_until(two_here, NULL, "both connections here");
	logged_why(&there, why, 1);
	/* They come back. */
	hang_up(&here);
	touch_until(two_here, NULL, "both connections here again");
	rp_check(!used(&there), "a connection there");
	unmount();
}

RP_ROW("client-paths", DECISION | MODULE, cp_another, "PROP-22,D-53",
	"another identity at the other address: refused, and no RPC",
	not_there(&x, &y, "", ANOTHER))
RP_ROW("client-paths", DECISION | MODULE, cp_another_trusted, "PROP-22,D-53",
	"the same, although trust_paths is on",
	not_there(&x, &y, " trust_paths on", ANOTHER))
RP_ROW("client-paths", DECISION | MODULE, cp_another_untold, "PROP-22,D-53",
	"an identity at the other address only: the same",
	not_there(&untold, &y, "", ANOTHER))
RP_ROW("client-paths", DECISION | MODULE, cp_empty, "PROP-22,D-53",
	"an identity without a value at the other address: the same",
	not_there(&x, &empty, "", DOES_NOT_SAY))
RP_ROW("client-paths", DECISION | MODULE, cp_untold, "PROP-22,D-53",
	"no identity at either address: the same",
	not_there(&untold, &untold, "", DOES_NOT_SAY))
RP_ROW("client-paths", DECISION | MODULE, cp_version_1, "PROP-22,VER-10,D-53",
	"version 1 at the other address: the same",
	not_there(&x, &version_1, "", DOES_NOT_SAY))
RP_ROW("client-paths", DECISION | MODULE, cp_hangs_up, "PROP-22,VER-15,D-53",
	"no answer at the other address: the same, and here it remains version 2",
	not_there(&x, &hangs_up, "", DOES_NOT_SAY))

/* How long the client waits for an answer: silence takes that twice. */
#define PATIENCE_OF_CLIENT	"3000"

RP_ROW("client-paths", DECISION | MODULE, cp_silent, "PROP-22,VER-14,VER-16,D-53",
	"silence at the other address: the same",
	cl_parameter("negotiate_ms", PATIENCE_OF_CLIENT);
	not_there(&x, &silent, "", DOES_NOT_SAY))

static bool is_away(const void *at)
{
	return ((const struct place *)at)->who.how == REFUSES;
}

RP_CASE("client-paths", DECISION | MODULE, cp_goes, "VER-14,VER-16,D-22,D-53",
	"the other address is silent, then it refuses: the client asks here again for the identity")
{
	there.barred = true;
	cl_parameter("negotiate_ms", PATIENCE_OF_CLIENT);
	begin(2, &x, &away, "");
	touch_until(two_here, NULL, "both connections here");
	there.who = goes;
	touch_until(is_away, &there, "a connection moves");
	touch_until(two_here, NULL, "both connections here again");
	logged_why(&here, "", 0);
	unmount();
}

RP_CASE("client-paths", DECISION | MODULE, cp_once, "PROP-22,D-53",
	"refused again and again: one line in the log, and no RPC")
{
	struct rp_job *job;

	there.barred = true;
	begin(2, &x, &y, "");
	touch_until(is_refused, &there, "the path there is refused");
	becomes(&here, &away);
	there.left = 0;
	job = job_stat(cl_name());
	rp_check(serve_until(has_left_twice, &there),
		 "it does not try the path there again");
	here.who = x;
	ends_well(job, "the operation");
	logged_why(&there, ANOTHER, 1);
	unmount();
}

/* The administrator vouches for the other address. */
static void trusted(const struct who *h, const struct who *t)
{
	begin(2, h, t, " trust_paths on");
	touch_until(one_each, NULL, "a connection by each path");
	rp_check(state_is(&there, "up"), "the path is not up");
	unmount();
}

RP_ROW("client-paths", DECISION | MODULE, cp_trusted, "PROP-22,D-53",
	"trust_paths: an address without an identity is used beside one that has it",
	trusted(&x, &untold))
RP_ROW("client-paths", DECISION | MODULE, cp_trusted_v1, "PROP-22,VER-10,D-53",
	"trust_paths: two addresses of a version 1 server are used",
	trusted(&version_1, &version_1))

/* ---- the server restarts ---- */

RP_CASE("client-paths", DECISION | MODULE, cp_restart, "PROP-22,REC-1,D-53",
	"the only connection is lost: any server at the address of the mount is accepted")
{
	static const struct who *const next[] = {
		&y, &untold, &y, &version_1, &x, &empty,
	};
	unsigned int i;

	there.barred = true;
	begin(1, &x, &away, "");
	for (i = 0; i < sizeof(next) / sizeof(next[0]); i++) {
		becomes(&here, next[i]);
		touch();
		rp_check(used(&here) == 1, "step %u: not by the path here", i);
	}
	logged_why(&here, "", 0);
	unmount();
}

RP_CASE("client-paths", DECISION | MODULE, cp_restart_untold, "PROP-22,D-53",
	"an identity without a connection does not exclude other servers")
{
	struct line *k = lines;

	there.barred = true;
	begin(2, &x, &away, "");
	touch_until(two_here, NULL, "both connections here");
	becomes(&here, &untold);
	touch_until(two_here, NULL, "both connections here again");
	/* One of them is lost, and the server tells who it is. */
	here.who = y;
	while (!k->s)
		k++;
	drop(k);
	here.told = 0;
	touch_until(two_here, NULL, "both connections here, one with an identity");
	rp_check(here.told, "no new connection");
	logged_why(&here, "", 0);
	unmount();
}

/* One of two connections is lost, and comes back to somebody else. */
static void beside(struct place *at, const struct who *who, const char *why)
{
	begin_spread();
	at->barred = true;
	becomes(at, who);
	touch_until(has_left, at, "the client leaves who is there now");
	touch_until(is_refused, at, "the path is refused");
	logged_why(at, why, 1);
	/* The other server was somebody else's. */
	at->barred = false;
	becomes(at, &x);
	becomes(at == &here ? &there : &here, &away);
	touch();
	rp_check(used(at), "not used again");
	rp_check(state_is(at, "up"), "the path is not up");
	unmount();
}

RP_ROW("client-paths", DECISION | MODULE, cp_beside_here, "PROP-22,REC-1,D-53",
	"another identity at the mount's address beside a connection: refused until it is the right one",
	beside(&here, &y, ANOTHER))
RP_ROW("client-paths", DECISION | MODULE, cp_beside_untold, "PROP-22,REC-1,D-53",
	"no identity there any more: the same",
	beside(&here, &untold, DOES_NOT_SAY))
RP_ROW("client-paths", DECISION | MODULE, cp_beside_v1, "PROP-22,REC-1,D-53",
	"version 1 there: the same", beside(&here, &version_1, DOES_NOT_SAY))
RP_ROW("client-paths", DECISION | MODULE, cp_beside_there, "PROP-22,REC-1,D-53",
	"another identity at the other address beside a connection: the same",
	beside(&there, &y, ANOTHER))

/* Let an RPC wait for its Reply there, so that its connection does not move. */
static struct rp_job *wait_there(void)
{
	struct rp_job *job;

	there.holds = true;
	for (;;) {
		job = job_stat(cl_name());
		rp_check(serve_until(is_over_or_held, job), "no operation ends");
		if (there.held)
			return job;
		job_forget(job);
	}
}

RP_CASE("client-paths", DECISION | MODULE, cp_replaced, "PROP-22,REC-1,D-53",
	"another identity beside a connection by a path that the policy had before: refused")
{
	struct rp_job *job;

	begin_spread();
	job = wait_there();
	add_path("");
	here.barred = true;
	becomes(&here, &y);
	touch_until(has_left, &here, "the client leaves who is here now");
	logged_why(&here, ANOTHER, 1);
	cl_answer(there.held_by, there.held);
	cl_call_free(there.held);
	ends_well(job, "the operation");
	unmount();
}

/* ---- nobody is at the address of the mount ---- */

/* The only connection is lost. */
static struct rp_job *move_out(void)
{
	becomes(&here, &away);
	return job_stat(cl_name());
}

/* With @proved the path there has led to the server before. */
static void begin_there(bool proved)
{
	begin(1, &x, proved ? &x : &away, "");
	touch();
	if (proved) {
		ends_well(move_out(), "the operation");
		rp_check(used(&there), "no connection there");
	}
}

static void accepted(bool proved, const struct who *who)
{
	struct rp_job *job;

	begin_there(proved);
	becomes(&there, who);
	job = move_out();
	ends_well(job, "the operation");
	rp_check(used(&there), "no connection there");
	rp_check(state_is(&there, "up"), "the path is not up");
	unmount();
}

/* Returns an operation that goes on when the server is here again. */
static struct rp_job *leave(bool proved, const struct who *who)
{
	struct rp_job *job;

	begin_there(proved);
	there.barred = true;
	becomes(&there, who);
	job = move_out();
	rp_check(serve_until(has_left, &there),
		 "the client does not leave the server there");
	rp_check(!job_over(job), "the operation ended");
	return job;
}

static void refused(bool proved, const struct who *who, const char *why)
{
	struct rp_job *job = leave(proved, who);

	here.who = x;
	ends_well(job, "the operation");
	rp_check(used(&here), "no connection here");
	logged_why(&there, why, 1);
	unmount();
}

RP_ROW("client-paths", DECISION | MODULE, cp_alone_same, "PROP-22,D-53",
	"the only connection is lost: an unused path with the same identity is taken",
	accepted(false, &x))
RP_ROW("client-paths", DECISION | MODULE, cp_alone_restarted, "PROP-22,D-53",
	"a path that led to the server before: another identity is that of a restarted server",
	accepted(true, &y))
RP_ROW("client-paths", DECISION | MODULE, cp_alone_another, "PROP-22,D-53",
	"an unused path with another identity: no RPC, it waits for the mount's address",
	refused(false, &y, ANOTHER))
RP_ROW("client-paths", DECISION | MODULE, cp_alone_untold, "PROP-22,D-53",
	"an unused path without an identity: the same",
	refused(false, &untold, DOES_NOT_SAY))
RP_ROW("client-paths", DECISION | MODULE, cp_alone_v1, "PROP-22,D-53",
	"a path that led to the server before, with version 1 now: the same",
	refused(true, &version_1, DOES_NOT_SAY))

/* A probe connects without messages. The connection here is alone, so it does not try. */
RP_CASE("client-paths", DECISION | MODULE, cp_probed, "PROP-22,D-53",
	"a path that was refused, and down meanwhile, is refused when a probe connects")
{
	struct rp_job *job = leave(false, &y);

	becomes(&there, &away);
	rp_check(serve_until(is_not_refused, &there), "the path there is not down");
	here.who = x;
	ends_well(job, "the operation");
	there.who = y;
	rp_check(serve_until(is_refused, &there), "the path there is not refused");
	hang_up(&here);
	touch();
	rp_check(!there.left, "the client tries there first");
	logged_why(&there, ANOTHER, 1);
	unmount();
}

RP_CASE("client-paths", DECISION | MODULE, cp_first, "PROP-22,D-53",
	"nobody is at the mount's address: a server with an identity is mounted by the other one")
{
	begin(1, &away, &x, "");
	touch();
	rp_check(used(&there) == 1 && !used(&here), "not by the path there");
	unmount();
}

RP_CASE("client-paths", DECISION | MODULE, cp_nowhere, "PROP-22,ERR-13,D-53",
	"nobody here and another server there: the operation fails, without an RPC")
{
	struct rp_job *job;
	int err;

	listen_at_both(&x, &away);
	add_path("");
	mount_by(1, ",timeo=50");
	there.barred = true;
	there.who = y;
	here.calls = 0;
	job = move_out();
	err = ends(job);
	rp_check(err == EIO || err == ETIMEDOUT, "\"%s\"", strerror(err));
	rp_check(there.left, "the client has not asked there");
	rp_check(!here.calls, "an RPC here");
	here.who = x;
	touch();
	unmount();
}

/* ---- malformed identities ---- */

static const struct who malformed[] = {
	TOLD(1, X_IDENTITY, 1, 0x01000000),
	TOLD(1, X_IDENTITY, 15, 1, 2, 3, 0x00000400),
	TOLD(1, X_IDENTITY, 17, 1, 2, 3, 4, 0x05000000),
	TOLD(2, X_IDENTITY, 16, 1, 2, 3, 4, X_IDENTITY, 16, 1, 2, 3, 4),
};

#define NR_MALFORMED	(sizeof(malformed) / sizeof(malformed[0]))

RP_CASE("client-paths", DECISION | MODULE, cp_malformed_here,
	"PROP-22,ERR-1,D-6,D-12,D-53",
	"P8: a malformed identity is answered with BAD_XDR before any RPC")
{
	unsigned int i;

	begin(1, &malformed[0], &away, "");
	for (i = 1;; i++) {
		touch();
		rp_check(here.malformed == i, "taken: %u", i - 1);
		if (i == NR_MALFORMED)
			break;
		becomes(&here, &malformed[i]);
	}
	unmount();
}

RP_CASE("client-paths", DECISION | MODULE, cp_malformed_there,
	"PROP-22,ERR-1,D-6,D-12,D-53",
	"the same at the other address, whose path is used after the right identity")
{
	unsigned int i;

	begin(2, &x, &malformed[0], "");
	for (i = 1;; i++) {
		touch_until(one_each, NULL, "a connection by each path");
		rp_check(there.malformed == i, "taken: %u", i - 1);
		if (i == NR_MALFORMED)
			break;
		becomes(&there, &malformed[i]);
	}
	unmount();
}
