// SPDX-License-Identifier: GPL-2.0
/*
 * REV: the reverse direction, as a server uses it. A small NFSv4.1 client
 * makes a session and opens a file; nfsd gives it a delegation, and recalls
 * it when somebody else opens the file for writing.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "rp.h"
#include "command.h"
#include "change.h"
#include "client.h"

enum {
	OP_PUTROOTFH = 24, OP_OPEN = 18, OP_DELEGRETURN = 8, OP_GETFH = 10,
	OP_PUTFH = 22, OP_CLOSE = 4, OP_EXCHANGE_ID = 42,
	OP_CREATE_SESSION = 43, OP_DESTROY_SESSION = 44, OP_SEQUENCE = 53,
	OP_DESTROY_CLIENTID = 57, OP_RECLAIM_COMPLETE = 58,
	OP_LOCK = 12, OP_LOCKU = 14,
};

enum { CB_RECALL = 4, CB_NOTIFY_LOCK = 13 };

#define WRITEW_LT	4		/* a lock for writing; tell me */
#define NFS4ERR_DENIED	10010

#define CB_PROGRAM	0x40000000u

/**
 * struct session - an NFSv4.1 client
 * @c: its connection
 * @vers: version of the transport
 * @id: session
 * @client: client ID
 * @create: next sequence number of CREATE_SESSION
 * @seq: next sequence number of the one slot
 * @file: name of the file; new each time, because nfsd gives no delegation
 *	for a file that was recalled a short time ago
 * @reply: last reply, from the status of the COMPOUND on
 */
struct session {
	struct rp_conn	*c;
	uint32_t	vers;
	uint32_t	id[4];
	uint32_t	client[2];
	uint32_t	create;
	uint32_t	seq;
	char		file[32];
	struct rp_rx	reply;
};

/* Word @i behind the RPC header of the reply */
static uint32_t res(struct session *s, unsigned int i)
{
	return rp_word(s->reply.buf, (s->vers == 1 ? 7 : 9) + 6 + i);
}

static struct rp_msg *framed(struct session *s, const struct rp_msg *rpc)
{
	return s->vers == 1 ? v1_call(rpc) : msg_call(rpc);
}

static struct rp_msg *framed_reply(struct session *s,
				   const struct rp_msg *rpc)
{
	return s->vers == 1 ? v1_reply(rpc) : msg_reply(rpc);
}

static void null(struct session *s)
{
	if (s->vers == 1)
		rp_v1_null(s->c);
	else
		rp_null(s->c);
}

static struct rp_msg *compound(uint32_t ops)
{
	struct rp_msg *m = rpc_call(rp_xid(), 100003, 4, 1);

	put_all(m, W(0, 1, ops));		/* minor version 1 */
	return m;
}

static struct rp_msg *sequence(struct session *s, uint32_t ops)
{
	struct rp_msg *m = compound(ops + 1);

	put_all(m, W(OP_SEQUENCE, s->id[0], s->id[1], s->id[2], s->id[3]));
	put_all(m, W(s->seq++, 0, 0, 0));
	return m;
}

static void call(struct session *s, struct rp_msg *rpc, const char *what)
{
	struct rp_rx *rx = rp_exchange(s->c, framed(s, rpc));

	rp_check(rp_word(rx->buf, 3) == MSG, "%s: not a Reply", what);
	s->reply = *rx;
	rp_check(res(s, 0) == 0, "%s: NFS error %u", what, res(s, 0));
}

static struct rp_msg *create_session(struct session *s)
{
	struct rp_msg *m = compound(1);

	put_all(m, W(OP_CREATE_SESSION, s->client[0], s->client[1]));
	put_all(m, W(s->create, 2));		/* callbacks here */
	put_all(m, W(0, 3000, 3000, 1000, 8, 2, 0));
	put_all(m, W(0, 4096, 4096, 0, 2, 1, 0));
	put_all(m, W(CB_PROGRAM, 1, 0));	/* AUTH_NONE */
	s->create++;
	return m;
}

static void make_session(struct session *s, const char *name)
{
	struct rp_msg *m = compound(1);
	unsigned int i;

	put_all(m, W(OP_EXCHANGE_ID, rp_now(), getpid()));
	put_opaque(m, name, strlen(name));
	put_all(m, W(0, 0, 0));
	call(s, m, "EXCHANGE_ID");
	/* status, tag, ops, op, status */
	s->client[0] = res(s, 5);
	s->client[1] = res(s, 6);
	s->create = res(s, 7);
	call(s, create_session(s), "CREATE_SESSION");
	for (i = 0; i < 4; i++)
		s->id[i] = res(s, 5 + i);
	s->seq = 1;
	m = sequence(s, 1);
	put_all(m, W(OP_RECLAIM_COMPLETE, 0));
	call(s, m, "RECLAIM_COMPLETE");
}

/* OPEN; returns which word of the reply its stateid begins with. */
static unsigned int open_for(struct session *s, uint32_t access)
{
	struct rp_msg *m = sequence(s, 2);

	rp_put_export(m);
	put_all(m, W(OP_OPEN, 0, access, 0));
	put_all(m, W(s->client[0], s->client[1]));
	put_opaque(m, "owner", 5);
	put_all(m, W(0, 0));			/* no create; by name */
	put_opaque(m, s->file, strlen(s->file));
	call(s, m, "OPEN");
	/* status tag n; SEQUENCE 2 + 9; PUTROOTFH 2; OPEN 2 */
	return 3 + 11 + 2 + 2;
}

/* OPEN for reading; returns the type of delegation it brings. */
static uint32_t open_file(struct session *s)
{
	unsigned int at = open_for(s, 1);

	at += 4 + 5 + 1;	/* stateid, change, flags; attributes */
	at += 1 + res(s, at);
	return res(s, at);
}

static void new_file(struct session *s)
{
	static unsigned int n;

	snprintf(s->file, sizeof(s->file), "rev-%d-%u", getpid(), n++);
	rp_file(s->file, 100);
}

/* @prop or, if NULL, no CONNPROP at all. */
static struct session *make_client(uint32_t vers, const struct rp_msg *prop)
{
	static struct session s;
	struct rp_rx *rx;

	new_file(&s);
	s.vers = vers;
	if (prop) {
		s.c = rp_open_with(prop);
	} else {
		s.c = rp_connect();
		null(&s);
	}
	make_session(&s, s.file);
	/* nfsd may try the way back with CB_NULL */
	rx = rp_recv_within(s.c, RP_SILENCE);
	if (rx) {
		rp_send(s.c, framed_reply(&s, rpc_reply(rp_word(rx->buf,
								0))));
	}
	return &s;
}

static struct session *delegation(uint32_t vers, const struct rp_msg *prop)
{
	struct session *s = make_client(vers, prop);
	uint32_t type = open_file(s);
	unsigned int i;

	/* nfsd remembers what it has recalled in a Bloom filter of 256 bits,
	 * so it takes one new file in some hundred for one of these.
	 */
	for (i = 0; type != 1 && i < 5; i++) {
		new_file(s);
		type = open_file(s);
	}
	if (type != 1 && !rp_opt.module)
		rp_skip("the server gives no delegation");
	rp_check(type == 1, "nfsd gives no delegation (type %u)", type);
	return s;
}

static struct session *with_delegation(const struct rp_msg *prop)
{
	return delegation(2, prop);
}

/* A reverse Call of the server, looked at from outside */
static struct rp_rx *reverse_call(struct session *s)
{
	struct rp_rx *rx = rp_recv(s->c);
	uint32_t vers = s->vers;
	unsigned int head = vers == 2 ? 6 : 4;

	rp_check(rp_word(rx->buf, 1) == vers, "version %u",
		 rp_word(rx->buf, 1));
	rp_check(rp_word(rx->buf, 2) > 0 && rp_word(rx->buf, 2) < 65536,
		 "%u credits wanted", rp_word(rx->buf, 2));
	rp_check(rp_word(rx->buf, 3) == MSG, "type %u", rp_word(rx->buf, 3));
	if (vers == 2)
		rp_check(rp_word(rx->buf, 4) == CALL &&
			 rp_word(rx->buf, 5) == 0, "flags or handle");
	rp_check(!rp_word(rx->buf, head) && !rp_word(rx->buf, head + 1) &&
		 !rp_word(rx->buf, head + 2), "chunks");
	head += 3;
	rp_check(rp_word(rx->buf, head) == rp_word(rx->buf, 0) &&
		 rp_word(rx->buf, head + 1) == 0, "no Call with this XID");
	rp_check(rp_word(rx->buf, head + 3) == CB_PROGRAM, "program %08x",
		 rp_word(rx->buf, head + 3));
	rp_check(rx->len <= 4096, "%u bytes", rx->len);
	return rx;
}

/* CB_COMPOUND reply: CB_SEQUENCE and another operation are well */
static struct rp_msg *callback_reply(struct session *s, uint32_t xid,
				     uint32_t op)
{
	struct rp_msg *m = rpc_reply(xid);

	put_all(m, W(0, 0, 2, 11, 0));
	put_all(m, W(s->id[0], s->id[1], s->id[2], s->id[3], 1, 0, 0, 0));
	put_all(m, W(op, 0));
	return m;
}

static struct rp_msg *recall_reply(struct session *s, uint32_t xid)
{
	return callback_reply(s, xid, CB_RECALL);
}

RP_CASE("versions", MUST, rev_recall,
	"REV-2,REV-1,REV-4,REV-7,FLG-4,HDR-6,PROP-17,CONN-7,CRED-1",
	"a delegation is recalled by a reverse MSG without chunks")
{
	struct session *s = with_delegation(NULL);
	struct rp_rx *rx;

	rp_want_to_write(s->file);
	rx = reverse_call(s);
	rp_send(s->c, msg_reply(recall_reply(s, rp_word(rx->buf, 0))));
	rp_null(s->c);
	rp_expect_silence(s->c, RP_SILENCE);
}

RP_CASE("versions", MUST, rev_recall_inline, "REV-7,REV-2,PROP-17",
	"the same for a client that says INLINE or GENL")
{
	struct session *s;
	struct rp_rx *rx;

	s = with_delegation(connprop(rp_xid(), 4096, 1));
	rp_want_to_write(s->file);
	rx = reverse_call(s);
	rp_send(s->c, msg_reply(recall_reply(s, rp_word(rx->buf, 0))));
	rp_null(s->c);
	rp_close(s->c);
	s = with_delegation(connprop(rp_xid(), 1024, 2));
	rp_want_to_write(s->file);
	rx = reverse_call(s);
	rp_check(rx->len <= 1024, "%u bytes", rx->len);
	rp_send(s->c, msg_reply(recall_reply(s, rp_word(rx->buf, 0))));
	rp_null(s->c);
}

/* ---- a callback that is longer than a recall ---- */

struct stateid {
	uint32_t	w[4];
};

static struct stateid stateid_at(struct session *s, unsigned int at)
{
	return (struct stateid){ { res(s, at), res(s, at + 1),
				   res(s, at + 2), res(s, at + 3) } };
}

static void put_stateid(struct rp_msg *m, struct stateid id)
{
	put_all(m, W(id.w[0], id.w[1], id.w[2], id.w[3]));
}

static struct rp_msg *of_file(struct session *s)
{
	struct rp_msg *m = sequence(s, 3);

	nfs4_put_file(m, s->file);
	return m;
}

/* LOCK of the file by somebody with a name of @len bytes */
static struct rp_msg *lock(struct session *s, struct stateid open,
			   unsigned int len)
{
	static const uint8_t name[1024];
	struct rp_msg *m = of_file(s);

	put_all(m, W(OP_LOCK, WRITEW_LT, 0));
	put_all(m, W(0, 0, 0, 4096));
	put_all(m, W(1, 0));			/* a new owner */
	put_stateid(m, open);
	put_all(m, W(0, s->client[0], s->client[1]));
	put_opaque(m, name, len);
	return m;
}

static struct rp_msg *unlock(struct session *s, struct stateid held)
{
	struct rp_msg *m = of_file(s);

	put_all(m, W(OP_LOCKU, WRITEW_LT, 0));
	put_stateid(m, held);
	put_all(m, W(0, 0, 0, 4096));
	return m;
}

/* Somebody with a name of 1000 bytes waits for a lock, which is given up: nfsd
 * says so in a callback, with the name.
 */
static struct session *long_callback(uint32_t rbsiz)
{
	struct session *s = make_client(2, connprop(rp_xid(), rbsiz, 1));
	unsigned int at = open_for(s, 3);
	struct stateid open = stateid_at(s, at), held;
	struct rp_rx *rx;

	call(s, lock(s, open, 4), "LOCK");
	/* status tag n; SEQUENCE 2 + 9; PUTROOTFH, LOOKUP, LOCK 2 */
	held = stateid_at(s, 3 + 11 + 2 + 2 + 2);
	rx = rp_exchange(s->c, framed(s, lock(s, open, 1000)));
	s->reply = *rx;
	rp_check(rp_word(rx->buf, 3) == MSG && res(s, 0) == NFS4ERR_DENIED,
		 "the lock is not held");
	call(s, unlock(s, held), "LOCKU");
	return s;
}

RP_CASE("versions", MUST, rev_too_long, "REV-7,INL-6",
	"a callback that is too long for the client is not sent")
{
	struct session *s = long_callback(4096);
	struct rp_rx *rx = rp_recv_within(s->c, 1000);

	if (!rx)
		rp_skip("the server does not tell who waits for a lock");
	rp_unrecv(s->c, rx);
	rx = reverse_call(s);
	rp_check(rx->len > 1024, "a callback of %u bytes only", rx->len);
	rp_send(s->c, msg_reply(callback_reply(s, rp_word(rx->buf, 0),
					       CB_NOTIFY_LOCK)));
	rp_null(s->c);
	rp_close(s->c);

	s = long_callback(1024);
	rx = rp_recv_within(s->c, 500);
	rp_check(!rx || rx->len <= 1024, "%u bytes", rx->len);
	rp_check(!rp_is_closed(s->c), "the connection ends");
}

RP_CASE("versions", MUST, rev_none, "REV-6,PROP-17",
	"nothing reverse is sent to a client that says NONE")
{
	struct session *s = make_client(2, connprop(rp_xid(), 4096, 0));

	/* nfsd may give a delegation, but it cannot recall it here. */
	open_file(s);
	rp_want_to_write(s->file);
	rp_expect_silence(s->c, 500);
	rp_null(s->c);
}

RP_CASE("versions", MUST, rev_junk,
	"REV-15,REV-14,FLG-3,FLG-5,FLG-9,HDR-7,CHK-13,ERR-1",
	"Replies to a reverse Call that are none are dropped")
{
	struct session *s = with_delegation(NULL);
	struct rp_msg *m, *good;
	struct rp_rx *rx;
	uint32_t xid;

	rp_want_to_write(s->file);
	rx = reverse_call(s);
	xid = rp_word(rx->buf, 0);
	good = msg_reply(recall_reply(s, xid));
	rp_send(s->c, rp_set(rp_copy(good), 4, 3));
	rp_send(s->c, rp_set(rp_copy(good), 9, xid + 1));
	rp_send(s->c, rp_set(rp_copy(good), 10, 0));
	rp_send(s->c, msg_reply(recall_reply(s, xid + 1)));
	m = reply_head(xid, MSG);
	put_last_read(m, 24, (struct rp_seg){ 1, 4, 0x1000 });
	put_msg(m, recall_reply(s, xid));
	rp_send(s->c, m);
	rp_send(s->c, rp_set(error2(xid, SYSTEM), 4, CALL));
	rp_nothing(s->c);
	rp_send(s->c, msg_reply(recall_reply(s, xid)));
	rp_nothing(s->c);
	/* Once more: its Call is gone */
	rp_send(s->c, msg_reply(recall_reply(s, xid)));
	rp_nothing(s->c);
}

RP_CASE("versions", MUST, rev_error, "REV-14,ERR-8,ERR-34,ERR-10,ERR-16",
	"errors in answer to a reverse Call do no harm")
{
	static const uint32_t codes[] = {
		BAD_XDR, INVAL_HTYPE, SYSTEM, 77,
	};
	struct session *s;
	struct rp_rx *rx;
	unsigned int i;
	uint32_t xid;

	for (i = 0; i < 4; i++) {
		s = with_delegation(NULL);
		rp_want_to_write(s->file);
		rx = reverse_call(s);
		rp_send(s->c, error2(rp_word(rx->buf, 0), codes[i]));
		/* nfsd may try again, with a Call of its own */
		xid = rp_xid();
		rp_send(s->c, null_call(xid));
		while (!rp_matches(rx = rp_recv(s->c), null_reply(xid)))
			rp_check(rp_word(rx->buf, 4) == CALL,
				 "not a reverse Call");
		rp_close(s->c);
	}
}

RP_CASE("versions", DECISION, rev_unanswered, "REV-10,REV-11",
	"a client that never answers a reverse Call keeps its connection")
{
	struct session *s = with_delegation(NULL);
	struct rp_rx *rx;
	uint32_t xid;

	rp_want_to_write(s->file);
	reverse_call(s);
	/* Nine seconds: nfsd waits for one, and nobody may miss the credit */
	rp_check(!rp_closed_within(s->c, 9000 / rp_opt.scale),
		 "the connection ends");
	xid = rp_xid();
	rp_send(s->c, null_call(xid));
	while (!rp_matches(rx = rp_recv(s->c), null_reply(xid)))
		rp_check(rp_word(rx->buf, 4) == CALL, "not a reverse Call");
}

RP_CASE("versions", MUST, rev_same_xid_forward, "HDR-9,REV-10,CRED-9,FLG-12",
	"forward Calls with the XID of a live reverse Call, which asks for one")
{
	struct session *s = with_delegation(NULL);
	struct rp_rx *rx;
	uint32_t xid, grant, then;
	int i;

	rp_want_to_write(s->file);
	rx = reverse_call(s);
	xid = rp_word(rx->buf, 0);
	for (i = 0; i < 20; i++) {
		rp_send(s->c, null_call(xid));
		rx = rp_expect(s->c, null_reply(xid));
	}
	grant = rp_word(rx->buf, 2);
	rp_check(grant > 0, "a grant of zero");
	/* A reverse Reply that grants 1 leaves the forward grant alone */
	rp_send(s->c, rp_set(msg_reply(recall_reply(s, xid)), 2, 1));
	xid = rp_xid();
	rp_send(s->c, null_call(xid));
	then = rp_word(rp_expect(s->c, null_reply(xid))->buf, 2);
	rp_expect_silence(s->c, RP_SILENCE);
	rp_choice(grant > 1 && then == grant, "a grant of %u, and then of %u",
		  grant, then);
}

RP_CASE("versions", MUST | V1, rev_recall_v1, "V1-13,VER-22,CRED-18,VER-19",
	"a delegation is recalled in version 1")
{
	struct session *s = delegation(1, NULL);
	struct rp_rx *rx;

	rp_want_to_write(s->file);
	rx = reverse_call(s);
	rp_send(s->c, v1_reply(recall_reply(s, rp_word(rx->buf, 0))));
	rp_v1_null(s->c);
	rp_expect_silence(s->c, RP_SILENCE);
}

RP_CASE("versions", MUST, rev_reconnect, "REV-12,REV-4,REC-1",
	"a recall is lost with its connection: the server waits to be asked")
{
	struct session *s = with_delegation(NULL);
	struct rp_rx *rx;

	rp_want_to_write(s->file);
	reverse_call(s);
	rp_close(s->c);
	s->c = rp_connect();
	null(s);
	/* The transport never starts by itself, on no connection. */
	rp_expect_silence(s->c, 500);
	null(s);
	/* (nfsd 6.12 does not repeat it for a new session either, on any
	 * transport.) Another client is not affected.
	 */
	s = with_delegation(NULL);
	rp_want_to_write(s->file);
	rx = reverse_call(s);
	rp_send(s->c, msg_reply(recall_reply(s, rp_word(rx->buf, 0))));
	null(s);
}

/* ---- the same while values change ---- */

static void change_brs(struct session *s, uint32_t brs)
{
	uint32_t xid = rp_xid();

	rp_send(s->c, updprop_brs(rp_xid(), brs));
	rp_send(s->c, reqprop(xid, 0));
	rp_expect(s->c, resprop(xid, 0, 0, 0));
}

RP_CASE("server-change", DECISION, rev_brs_back,
	"PROP-17,REV-7,CHG-19,CHG-20,D-26",
	"a client stops taking reverse Calls, and starts again: recalled")
{
	struct session *s = with_delegation(connprop_x(rp_xid(), 4096, 1, 0));
	struct rp_rx *rx;
	unsigned int i;

	for (i = 0; i < 5; i++) {
		change_brs(s, 0);
		change_brs(s, 1);
	}
	rp_want_to_write(s->file);
	rx = reverse_call(s);
	rp_send(s->c, msg_reply(recall_reply(s, rp_word(rx->buf, 0))));
	rp_nothing(s->c);
}

RP_CASE("server-change", DECISION, rev_brs_none,
	"REV-6,PROP-17,CHG-19,CHG-28,D-26",
	"a client stops taking reverse Calls: none is sent from then on")
{
	struct session *s = with_delegation(connprop_x(rp_xid(), 4096, 1, 0));

	change_brs(s, 0);
	rp_want_to_write(s->file);
	rp_expect_silence(s->c, 500);
	rp_nothing(s->c);
}

RP_CASE("server-change", DECISION, rev_brs_in_flight,
	"REV-6,REV-15,PROP-17,CHG-20",
	"a client stops taking reverse Calls while one waits for its Reply")
{
	struct session *s = with_delegation(connprop_x(rp_xid(), 4096, 1, 0));
	struct rp_rx *rx;
	uint32_t xid;

	rp_want_to_write(s->file);
	rx = reverse_call(s);
	xid = rp_word(rx->buf, 0);
	change_brs(s, 0);
	rp_send(s->c, msg_reply(recall_reply(s, xid)));
	rp_nothing(s->c);
}

/* ---- versions switched off ---- */

RP_CASE("versions", MUST | MODULE, ver_no_v2, "VER-9,VER-24,ERR-11",
	"version 2 switched off: ERR_VERS 1..1, then version 1")
{
	struct rp_conn *c;
	uint32_t xid = rp_xid();

	cmd_policy("server", "versions v1");
	c = rp_connect();
	rp_send(c, connprop(xid, 4096, 1));
	rp_expect(c, err_vers(xid, 2, 1, 1));
	xid = rp_xid();
	rp_send(c, null_call(xid));
	rp_expect(c, err_vers(xid, 2, 1, 1));
	rp_v1_nothing(c);
}

RP_CASE("versions", MUST | MODULE, ver_no_v1, "VER-24,ERR-11",
	"version 1 switched off: ERR_VERS 2..2, then version 2")
{
	struct rp_conn *c;
	uint32_t xid = rp_xid();

	cmd_policy("server", "versions v2");
	c = rp_connect();
	rp_send(c, v1_null_call(xid));
	rp_expect(c, err_vers(xid, 1, 2, 2));
	rp_nothing(c);
}
