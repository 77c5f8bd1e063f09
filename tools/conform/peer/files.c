// SPDX-License-Identifier: GPL-2.0
/*
 * Files for cases against a server, made and looked at over NFS version 4.0,
 * inline and in small pieces, on a connection of their own: a server that
 * does badly with chunks has them nevertheless, but for long links.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "rp.h"
#include "jobs.h"

enum {
	OP_CLOSE = 4, OP_CREATE = 6, OP_GETFH = 10, OP_LOOKUP = 15,
	OP_OPEN = 18, OP_OPEN_CONFIRM = 20, OP_PUTFH = 22, OP_PUTROOTFH = 24,
	OP_READ = 25, OP_REMOVE = 28, OP_SETCLIENTID = 35,
	OP_SETCLIENTID_CONFIRM = 36, OP_WRITE = 38,
};

#define NFS4_OK			0
#define NFS4ERR_NOENT		2
#define NFS4ERR_DELAY		10008
#define NFS4ERR_GRACE		10013

#define OPEN_MUST_CONFIRM	2

/* Data of one READ or WRITE: it fits into what either version begins with. */
#define PIECE			(rp_opt.version == 1 ? 512u : 2048u)

/**
 * struct maker - a connection for making files
 * @c: it
 * @client: client ID of NFS
 * @seq: sequence number of the open owner
 * @stateid: of the open file
 * @reply: the last reply
 * @at: the word that is looked at next
 */
struct maker {
	struct rp_conn	*c;
	uint32_t	client[2];
	uint32_t	seq;
	uint32_t	stateid[4];
	struct rp_rx	reply;
	unsigned int	at;
};

/**
 * struct handle - a file handle
 * @len: its bytes, 0 as long as it is unknown
 * @data: the handle
 */
struct handle {
	uint32_t	len;
	uint8_t		data[128];
};

/* Of rp_opt.export, unless that is the root */
static struct handle export;

/* ---- requests and results ---- */

static void put_handle(struct rp_msg *m, const struct handle *h)
{
	put(m, OP_PUTFH);
	put_opaque(m, h->data, h->len);
}

static uint32_t next(struct maker *k)
{
	rp_check(4 * k->at + 4 <= k->reply.len, "an NFS reply is too short");
	return rp_word(k->reply.buf, k->at++);
}

static void skip_words(struct maker *k, uint32_t n)
{
	rp_check(n <= k->reply.len / 4, "an NFS reply is too short");
	k->at += n;
}

static void next_handle(struct maker *k, struct handle *h)
{
	h->len = next(k);
	rp_check(h->len <= sizeof(h->data) &&
		 4 * k->at + h->len <= k->reply.len, "a strange file handle");
	memcpy(h->data, k->reply.buf + 4 * k->at, h->len);
	k->at += (h->len + 3) / 4;
}

/* Inline if any server takes that much, else in a Position-Zero chunk */
static const struct rp_msg *framed(struct maker *k, const struct rp_msg *rpc)
{
	struct rp_mem *mem;
	struct rp_msg *m;

	if (rp_opt.version == 1)
		return v1_call(rpc);
	if (36 + 4 * rpc->n <= 4096)
		return msg_call(rpc);
	mem = rp_mem(k->c, 4 * rpc->n);
	m = call_head(rpc->w[0], NOMSG, 0);
	put_last_read(m, 0, rp_seg(mem, 0, rp_store(mem, 0, rpc)));
	return m;
}

/* Send a COMPOUND and return its status; results begin at k->at. */
static uint32_t ask(struct maker *k, const struct rp_msg *rpc)
{
	unsigned int head = rp_opt.version == 1 ? 7 : 9;
	uint32_t status;
	struct rp_rx *rx;

	rx = rp_exchange(k->c, framed(k, rpc));
	k->reply = *rx;
	rp_check(rp_word(rx->buf, 3) == MSG && rp_word(rx->buf, head + 5) == 0,
		 "no success for an NFS request");
	k->at = head + 6;
	status = next(k);
	skip_words(k, (next(k) + 3) / 4);	/* tag */
	next(k);				/* number of results */
	return status;
}

/* The result of the next operation, which must be this one */
static void result(struct maker *k, uint32_t op)
{
	uint32_t is = next(k), status = next(k);

	rp_check(is == op && !status, "NFS operation %u: %u, status %u", op, is,
		 status);
}

/* Ask until there is no reason to wait: the server may be in its grace
 * period.
 */
static void must(struct maker *k, const struct rp_msg *rpc, const char *what)
{
	struct rp_msg copy = *rpc;
	unsigned int i;
	uint32_t status;

	for (i = 0; i < 100; i++) {
		copy.w[0] = rp_xid();
		status = ask(k, &copy);
		if (status != NFS4ERR_GRACE && status != NFS4ERR_DELAY)
			break;
		rp_sleep(1000);
	}
	rp_check(status == NFS4_OK, "%s: NFS error %u", what, status);
}

/* ---- client, export ---- */

static void find_export(struct maker *k)
{
	struct rp_msg *m = nfs4_call(rp_xid(), 0);
	char *path = strdup(rp_opt.export), *save, *name;
	unsigned int ops = 2;

	rp_check(path, "no memory");
	put(m, OP_PUTROOTFH);
	for (name = strtok_r(path, "/", &save); name;
	     name = strtok_r(NULL, "/", &save)) {
		put(m, OP_LOOKUP);
		put_opaque(m, name, strlen(name));
		ops++;
	}
	put(m, OP_GETFH);
	m->w[18] = ops;
	free(path);
	must(k, m, rp_opt.export);
	result(k, OP_PUTROOTFH);
	while (ops-- > 2)
		result(k, OP_LOOKUP);
	result(k, OP_GETFH);
	next_handle(k, &export);
}

static void make_client(struct maker *k, const char *who)
{
	struct rp_msg *m = nfs4_call(rp_xid(), 1);
	char name[64];
	uint32_t verifier[2];

	snprintf(name, sizeof(name), "rpcrdma2-conform %s %d", who, getpid());
	put_all(m, W(OP_SETCLIENTID, rp_now(), getpid()));
	put_opaque(m, name, strlen(name));
	put(m, 0x40000000);
	put_opaque(m, "none", 4);		/* no callbacks */
	put_opaque(m, "0.0.0.0.0.0", 11);
	put(m, 1);
	must(k, m, "SETCLIENTID");
	result(k, OP_SETCLIENTID);
	k->client[0] = next(k);
	k->client[1] = next(k);
	verifier[0] = next(k);
	verifier[1] = next(k);
	m = nfs4_call(rp_xid(), 1);
	put_all(m, W(OP_SETCLIENTID_CONFIRM, k->client[0], k->client[1]));
	put_all(m, W(verifier[0], verifier[1]));
	must(k, m, "SETCLIENTID_CONFIRM");
}

static void start(struct maker *k)
{
	if (!rp_opt.export)
		rp_skip("needs an export in which files may be made");
	rp_aside(true);
	memset(k, 0, sizeof(*k));
	k->c = rp_connect();
	if (rp_opt.export[1] && !export.len)
		find_export(k);
}

static void stop(struct maker *k)
{
	rp_close(k->c);
	rp_aside(false);
}

void rp_put_export(struct rp_msg *m)
{
	struct maker k;

	if (nfs4_root_op() == OP_PUTROOTFH) {
		put(m, OP_PUTROOTFH);
		return;
	}
	if (!export.len) {
		start(&k);
		stop(&k);
	}
	put_handle(m, &export);
}

/* ---- files ---- */

static void remove_file(struct maker *k, const char *name)
{
	struct rp_msg *m = nfs4_call(rp_xid(), 2);
	uint32_t status;

	rp_put_export(m);
	put(m, OP_REMOVE);
	put_opaque(m, name, strlen(name));
	status = ask(k, m);
	rp_check(status == NFS4_OK || status == NFS4ERR_NOENT,
		 "%s cannot be removed: NFS error %u", name, status);
}

/* OPEN for writing */
static struct rp_msg *open_call(struct maker *k, const char *name, bool create)
{
	struct rp_msg *m = nfs4_call(rp_xid(), 3);

	rp_put_export(m);
	put_all(m, W(OP_OPEN, k->seq++, 3, 0));
	put_all(m, W(k->client[0], k->client[1]));
	put_opaque(m, "owner", 5);
	put(m, create);
	if (create)				/* mode 0666, size 0 */
		put_all(m, W(0, 2, 1 << 4, 1 << 1, 12, 0, 0, 0666));
	put(m, 0);				/* by name */
	put_opaque(m, name, strlen(name));
	put(m, OP_GETFH);
	return m;
}

static void take_open(struct maker *k, struct handle *file)
{
	struct rp_msg *m;
	uint32_t flags;
	unsigned int i;

	result(k, nfs4_root_op());
	result(k, OP_OPEN);
	for (i = 0; i < 4; i++)
		k->stateid[i] = next(k);
	skip_words(k, 5);			/* what has changed */
	flags = next(k);
	skip_words(k, next(k));			/* attributes */
	rp_check(next(k) == 0, "a delegation that nobody wants");
	result(k, OP_GETFH);
	next_handle(k, file);
	if (!(flags & OPEN_MUST_CONFIRM))
		return;
	m = nfs4_call(rp_xid(), 2);
	put_handle(m, file);
	put(m, OP_OPEN_CONFIRM);
	put_all(m, W(k->stateid[0], k->stateid[1], k->stateid[2],
		     k->stateid[3]));
	put(m, k->seq++);
	must(k, m, "OPEN_CONFIRM");
	result(k, OP_PUTFH);
	result(k, OP_OPEN_CONFIRM);
	for (i = 0; i < 4; i++)
		k->stateid[i] = next(k);
}

static void put_stateid(struct maker *k, struct rp_msg *m)
{
	put_all(m, W(k->stateid[0], k->stateid[1], k->stateid[2],
		     k->stateid[3]));
}

static void close_file(struct maker *k, const struct handle *file)
{
	struct rp_msg *m = nfs4_call(rp_xid(), 2);

	put_handle(m, file);
	put_all(m, W(OP_CLOSE, k->seq++));
	put_stateid(k, m);
	must(k, m, "CLOSE");
}

void rp_file(const char *name, uint32_t size)
{
	struct handle file;
	struct maker k;
	uint32_t off, n;

	start(&k);
	make_client(&k, name);
	must(&k, open_call(&k, name, true), name);
	take_open(&k, &file);
	for (off = 0; off < size; off += n) {
		struct rp_msg *m = nfs4_call(rp_xid(), 2);

		n = size - off < PIECE ? size - off : PIECE;
		put_handle(m, &file);
		put(m, OP_WRITE);
		put_stateid(&k, m);
		put_long(m, off);
		put_all(m, W(2, n));		/* FILE_SYNC */
		put_pattern(m, off, n);
		must(&k, m, "WRITE");
	}
	close_file(&k, &file);
	stop(&k);
}

void rp_file_is(const char *name, uint32_t off, const void *data, uint32_t len)
{
	const uint8_t *b = data;
	struct maker k;
	uint32_t at, n;

	start(&k);
	for (at = 0; at < len; at += n) {
		n = len - at < PIECE ? len - at : PIECE;
		must(&k, nfs4_read(rp_xid(), name, off + at, n), name);
		result(&k, nfs4_root_op());
		result(&k, OP_LOOKUP);
		result(&k, OP_READ);
		next(&k);			/* end of file? */
		rp_check(next(&k) == n, "%s is too short", name);
		rp_check(!memcmp(k.reply.buf + 4 * k.at, b + at, n),
			 "%s has other data", name);
	}
	stop(&k);
}

char *rp_target(uint32_t len)
{
	static char text[4096];
	uint32_t i;

	for (i = 0; i < len; i++)
		text[i] = 'a' + (i * 7 + i / 26) % 26;
	text[len] = 0;
	return text;
}

void rp_link(const char *name, uint32_t len)
{
	struct rp_msg *m;
	struct maker k;

	start(&k);
	remove_file(&k, name);
	m = nfs4_call(rp_xid(), 2);
	rp_put_export(m);
	put_all(m, W(OP_CREATE, 5));		/* NF4LNK */
	put_opaque(m, rp_target(len), len);
	put_opaque(m, name, strlen(name));
	put_all(m, W(0, 0));			/* attributes */
	must(&k, m, "CREATE");
	stop(&k);
}

void rp_want_to_write(const char *name)
{
	struct maker k;
	uint32_t status;

	start(&k);
	make_client(&k, "second");
	status = ask(&k, open_call(&k, name, false));
	rp_check(status == NFS4_OK || status == NFS4ERR_DELAY,
		 "%s cannot be opened: NFS error %u", name, status);
	stop(&k);
}
