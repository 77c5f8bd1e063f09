// SPDX-License-Identifier: GPL-2.0
/*
 * The server that cases against a client play: see client.h.
 *
 * Its files all have the same size and hold rp_pattern(); its one directory
 * holds CL_DIR_ENTRIES names. Nothing that is written is kept.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rp.h"
#include "client.h"

#define ROOT_INO	1
#define HANDLE_LEN	16

#define NFS3ERR_STALE	70

/* ---- taking Calls apart ---- */

/**
 * struct reader - a place in a message
 * @buf: the message
 * @len: its bytes
 * @at: next byte
 */
struct reader {
	const uint8_t	*buf;
	uint32_t	len;
	uint32_t	at;
};

static uint32_t get(struct reader *r)
{
	uint32_t w;

	rp_check(r->at + 4 <= r->len,
		 "the client's message ends too early: %u of %u bytes",
		 r->at, r->len);
	w = rp_word(r->buf + r->at, 0);
	r->at += 4;
	return w;
}

static struct rp_seg get_seg(struct reader *r)
{
	struct rp_seg s;

	s.handle = get(r);
	s.len = get(r);
	s.off = (uint64_t)get(r) << 32;
	s.off |= get(r);
	return s;
}

static void get_chunk(struct reader *r, struct cl_chunk *chunk)
{
	unsigned int i;

	chunk->n = get(r);
	rp_check(chunk->n <= CL_MAX_SEGS, "a chunk of %u segments", chunk->n);
	for (i = 0; i < chunk->n; i++)
		chunk->seg[i] = get_seg(r);
}

static void get_lists(struct reader *r, struct cl_call *call)
{
	while (get(r)) {
		rp_check(call->nreads < CL_MAX_READS, "too many Read segments");
		call->position[call->nreads] = get(r);
		call->read[call->nreads++] = get_seg(r);
	}
	while (get(r)) {
		rp_check(call->nwrites < CL_MAX_WRITES,
			 "too many Write chunks");
		get_chunk(r, &call->write[call->nwrites++]);
	}
	if (get(r)) {
		call->has_reply = true;
		get_chunk(r, &call->reply);
	}
}

/* The RPC header: where the arguments begin */
static void parse_rpc(struct cl_call *call)
{
	struct reader r = { call->rpc, call->rpc_len, 0 };
	unsigned int i, len;

	rp_check(get(&r) == call->xid, "the XIDs of a Call differ");
	rp_check(get(&r) == 0, "a Call that is none");
	get(&r);
	call->prog = get(&r);
	call->progvers = get(&r);
	call->proc = get(&r);
	for (i = 0; i < 2; i++) {		/* credentials, verifier */
		get(&r);
		len = get(&r);
		r.at += (len + 3) & ~3u;
	}
	call->args = r.at;
}

struct cl_call *cl_parse(struct cl *s, const struct rp_rx *rx)
{
	struct cl_call *call = calloc(1, sizeof(*call));
	struct reader r = { rx->buf, rx->len, 0 };
	unsigned int i;

	rp_check(call, "no memory");
	call->rx = *rx;
	call->xid = get(&r);
	call->vers = get(&r);
	call->credit = get(&r);
	call->htype = get(&r);
	rp_check(call->htype == MSG || call->htype == NOMSG,
		 "type %u instead of a Call", call->htype);
	rp_check(call->vers == 1 || call->vers == 2, "version %u", call->vers);
	if (call->vers == 2) {
		rp_check(get(&r) == CALL, "flags of a Call");
		call->inv = get(&r);
	}
	get_lists(&r, call);
	call->head_len = r.at;
	if (call->htype == MSG) {
		call->rpc_len = rx->len - r.at;
		memcpy(call->rpc, rx->buf + r.at, call->rpc_len);
	} else {
		for (i = 0; i < call->nreads; i++) {
			if (call->position[i])
				continue;
			rp_check(call->rpc_len + call->read[i].len <=
				 sizeof(call->rpc), "a very long Call");
			rp_rdma_read(s->c, call->rpc + call->rpc_len,
				     call->read[i]);
			call->rpc_len += call->read[i].len;
		}
	}
	parse_rpc(call);
	rp_tell("   version %u procedure %u%s, %u Read, %u Write, %u Reply",
		call->vers, call->proc, call->htype == NOMSG ? " (NOMSG)" : "",
		call->nreads, call->nwrites, call->has_reply);
	return call;
}

void cl_call_free(struct cl_call *call)
{
	free(call);
}

struct cl_call *cl_next_within(struct cl *s, unsigned int ms)
{
	struct rp_rx *rx;

	do {
		rx = rp_recv_within(s->c, ms);
	} while (rx && s->control && s->control(s, rx));
	return rx ? cl_parse(s, rx) : NULL;
}

struct cl_call *cl_next(struct cl *s)
{
	struct rp_rx *rx;

	do {
		rx = rp_recv(s->c);
	} while (s->control && s->control(s, rx));
	return cl_parse(s, rx);
}

struct cl_call *cl_wait_for(struct cl *s, uint32_t proc)
{
	struct cl_call *call;

	for (;;) {
		call = cl_next(s);
		if (call->proc == proc && call->prog == 100003 &&
		    call->progvers == 3)
			return call;
		cl_answer(s, call);
		cl_call_free(call);
	}
}

/* ---- what a server answers ---- */

static void put_handle(struct rp_msg *m, uint32_t ino)
{
	put_all(m, W(HANDLE_LEN, 0x726f6f74, 0, 0, ino == ROOT_INO ? 0 : ino));
}

static void put_attr(struct rp_msg *m, uint32_t ino)
{
	bool dir = ino == ROOT_INO;

	put_all(m, W(dir ? 2 : 1, dir ? 0777 : 0666, 1, 0, 0));
	put_long(m, dir ? 4096 : CL_FILE_SIZE);
	put_long(m, dir ? 4096 : CL_FILE_SIZE);
	put_all(m, W(0, 0, 0, 0x726177, 0, ino));
	put_all(m, W(1600000000, 0, 1600000000, 0, 1600000000, 0));
}

static void put_post_attr(struct rp_msg *m, uint32_t ino)
{
	put(m, 1);
	put_attr(m, ino);
}

uint32_t cl_arg(const struct cl_call *call, unsigned int i)
{
	struct reader r = { call->rpc, call->rpc_len, call->args + 4 * i };

	return get(&r);
}

/* The inode number that a file handle at the front of the arguments names */
static uint32_t arg_ino(const struct cl_call *call)
{
	uint32_t ino = cl_arg(call, 4);

	return ino ? ino : ROOT_INO;
}

static uint32_t name_ino(const struct cl_call *call)
{
	uint32_t i, ino = 100;

	for (i = call->args + 20; i < call->rpc_len; i++)
		ino = ino * 31 + call->rpc[i];
	return (ino & 0x7fffffff) | 0x100;
}

static void put_dir(struct rp_msg *m)
{
	char name[32];
	unsigned int i;

	put_post_attr(m, ROOT_INO);
	put_long(m, 0);
	for (i = 0; i < CL_DIR_ENTRIES; i++) {
		put(m, 1);
		put_long(m, 1000 + i);
		snprintf(name, sizeof(name), "entry-%08u", i);
		put_opaque(m, name, strlen(name));
		put_long(m, i + 1);
	}
	put_all(m, W(0, 1));
}

struct rp_msg *cl_rpc_reply(struct cl *s, const struct cl_call *call)
{
	struct rp_msg *m = rpc_reply(call->xid);
	uint32_t ino, off, count;

	(void)s;
	if (call->prog != 100003 || call->progvers != 3) {
		m->w[5] = 1;			/* PROG_UNAVAIL */
		return m;
	}
	if (call->proc == NFS_NULL)
		return m;
	if (cl_arg(call, 0) != HANDLE_LEN) {
		put_all(m, W(NFS3ERR_STALE, 0, 0));
		return m;
	}
	put(m, 0);				/* NFS3_OK */
	ino = arg_ino(call);
	switch (call->proc) {
	case NFS_GETATTR:
		put_attr(m, ino);
		break;
	case NFS_SETATTR:
		put(m, 0);
		put_post_attr(m, ino);
		break;
	case NFS_LOOKUP:
		put_handle(m, name_ino(call));
		put_post_attr(m, name_ino(call));
		put(m, 0);
		break;
	case NFS_ACCESS:
		put_post_attr(m, ino);
		put(m, cl_arg(call, 5));
		break;
	case NFS_READ:
		off = cl_arg(call, 6);
		count = cl_arg(call, 7);
		if (off > CL_FILE_SIZE)
			off = CL_FILE_SIZE;
		if (count > CL_FILE_SIZE - off)
			count = CL_FILE_SIZE - off;
		put_post_attr(m, ino);
		put_all(m, W(count, off + count == CL_FILE_SIZE, count));
		put_pattern(m, off, count);
		break;
	case NFS_WRITE:
		put(m, 0);
		put_post_attr(m, ino);
		put_all(m, W(cl_arg(call, 7), 2, 0, 0));
		break;
	case NFS_CREATE:
		put(m, 1);
		put_handle(m, name_ino(call));
		put_post_attr(m, name_ino(call));
		put_all(m, W(0, 0));
		break;
	case NFS_REMOVE:
		put_all(m, W(0, 0));
		break;
	case NFS_READDIR:
		put_dir(m);
		break;
	case NFS_FSSTAT:
		put(m, 0);
		put_all(m, W(1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 0));
		break;
	case NFS_FSINFO:
		put(m, 0);
		put_all(m, W(65536, 65536, 4096, 65536, 65536, 4096, 16384));
		put_all(m, W(0x7fffffff, 0xffffffff, 0, 1, 0x1b));
		break;
	case NFS_PATHCONF:
		put_all(m, W(0, 1000, 255, 1, 0, 0, 1));
		break;
	case NFS_COMMIT:
		put_all(m, W(0, 0, 0, 0));
		break;
	default:
		m->w[5] = 3;			/* PROC_UNAVAIL */
		m->n = 6;
		break;
	}
	return m;
}

/* Write @len bytes at @p into a chunk; its lengths become what was used. */
static void fill_chunk(struct cl *s, struct cl_chunk *chunk,
		       const uint8_t *p, uint32_t len)
{
	unsigned int i;

	for (i = 0; i < chunk->n; i++) {
		if (chunk->seg[i].len > len)
			chunk->seg[i].len = len;
		rp_rdma_write(s->c, p, chunk->seg[i]);
		p += chunk->seg[i].len;
		len -= chunk->seg[i].len;
	}
	rp_check(!len, "the client's chunk is too small by %u bytes", len);
}

static void put_cl_chunk(struct rp_msg *m, const struct cl_chunk *chunk)
{
	put_chunk(m, chunk->n, chunk->seg);
}

static struct rp_msg *reply_start(struct cl *s, const struct cl_call *call,
				  uint32_t htype)
{
	struct rp_msg *m;

	if (call->vers == 1)
		return v1(call->xid, s->grant, htype);
	m = v2(call->xid, s->grant, htype, RESPONSE);
	put(m, 0);
	return m;
}

void cl_put_unused(struct rp_msg *m, const struct cl_call *call)
{
	struct cl_chunk chunk;
	unsigned int i, j;

	put(m, 0);
	for (i = 0; i < call->nwrites; i++) {
		chunk = call->write[i];
		for (j = 0; j < chunk.n; j++)
			chunk.seg[j].len = 0;
		put_cl_chunk(m, &chunk);
	}
	put(m, 0);
	if (!call->has_reply) {
		put(m, 0);
		return;
	}
	chunk = call->reply;
	for (j = 0; j < chunk.n; j++)
		chunk.seg[j].len = 0;
	put_cl_chunk(m, &chunk);
}

static void to_bytes(const struct rp_msg *m, uint8_t *b)
{
	unsigned int i;

	for (i = 0; i < m->n; i++) {
		b[4 * i] = m->w[i] >> 24;
		b[4 * i + 1] = m->w[i] >> 16;
		b[4 * i + 2] = m->w[i] >> 8;
		b[4 * i + 3] = m->w[i];
	}
}

/* Words of a reply to READ in front of the data */
#define READ_HEAD	(6 + 1 + 22 + 3)

void cl_answer(struct cl *s, const struct cl_call *call)
{
	struct rp_msg *rpc, *m;
	static uint8_t bytes[4 * RP_MAX_WORDS];
	struct cl_chunk chunk;
	uint32_t data;

	if (s->hook && s->hook(s, (struct cl_call *)call))
		return;
	rpc = cl_rpc_reply(s, call);
	if (call->proc == NFS_READ && call->nwrites && rpc->n >= READ_HEAD) {
		data = rpc->w[READ_HEAD - 1];
		to_bytes(rpc, bytes);
		chunk = call->write[0];
		fill_chunk(s, &chunk, bytes + 4 * READ_HEAD, data);
		m = reply_start(s, call, MSG);
		put(m, 0);
		put_cl_chunk(m, &chunk);
		put(m, 0);
		put(m, 0);
		rpc->n = READ_HEAD;
		put_msg(m, rpc);
		rp_send(s->c, m);
		return;
	}
	m = reply_start(s, call, MSG);
	cl_put_unused(m, call);
	if (4 * (m->n + rpc->n) <= s->limit) {
		put_msg(m, rpc);
		rp_send(s->c, m);
		return;
	}
	rp_check(call->has_reply, "procedure %u needs a Reply chunk",
		 call->proc);
	to_bytes(rpc, bytes);
	chunk = call->reply;
	fill_chunk(s, &chunk, bytes, 4 * rpc->n);
	m = reply_start(s, call, NOMSG);
	put_all(m, W(0, 0));
	put_cl_chunk(m, &chunk);
	rp_send(s->c, m);
}

void cl_reply(struct cl *s, const struct cl_call *call,
	      const struct rp_msg *rpc)
{
	struct rp_msg *m = reply_start(s, call, MSG);

	cl_put_unused(m, call);
	put_msg(m, rpc);
	rp_send(s->c, m);
}

void cl_error(struct cl *s, const struct cl_call *call, uint32_t code)
{
	struct rp_msg *m = error2(call->xid, code);

	m->w[2] = s->grant;
	rp_send(s->c, m);
}

/* ---- mounts ---- */

unsigned int cl_timeo(void)
{
	/* Tenths of a second. The client gives up after twice this time, which must be
	 * longer than the kit waits.
	 */
	return rp_opt.scale > 2 ? 300 : 60;
}

static struct cl *cl_new(void)
{
	struct cl *s = calloc(1, sizeof(*s));

	rp_check(s, "no memory");
	s->grant = 32;
	s->limit = 1024;
	s->l = rp_listen(rp_opt.port);
	return s;
}

struct cl *cl_start_v41(void)
{
	struct cl *s = cl_new();

	s->mount = job_mount("vers=4.1,soft,retrans=1,timeo=%u,port=%u",
			     cl_timeo(), rp_opt.port);
	return s;
}

struct cl *cl_start(const char *options)
{
	struct cl *s = cl_new();

	s->mount = job_mount(CL_V3 "%s%s", cl_timeo(), rp_opt.port,
			     options ? "," : "", options ? options : "");
	return s;
}

struct rp_conn *cl_accept_how(struct cl *s, const struct rp_how *how)
{
	s->c = rp_accept(s->l, how);
	s->limit = 1024;
	return s->c;
}

struct rp_conn *cl_accept(struct cl *s)
{
	return cl_accept_how(s, NULL);
}

uint32_t cl_first(struct cl *s)
{
	struct rp_rx *rx = rp_recv(s->c);

	rp_check(rx->len >= 24 && rp_word(rx->buf, 1) == 2 &&
		 rp_word(rx->buf, 3) == CONNPROP && rp_word(rx->buf, 4) == CALL,
		 "the first message is no CONNPROP but version %u type %u",
		 rp_word(rx->buf, 1), rp_word(rx->buf, 3));
	/* RBSIZ is its first property, see cl_first_message */
	s->rbsiz = rp_word(rx->buf, 6) == RBSIZ ? rp_word(rx->buf, 8) : 4096;
	s->brs = rx->len >= 48 && rp_word(rx->buf, 9) == BRS ?
		 rp_word(rx->buf, 11) : 1;
	return rp_word(rx->buf, 0);
}

struct cl_call *cl_first_call(struct cl *s)
{
	struct rp_rx *rx = rp_recv(s->c);
	struct cl_call *call;

	rp_check(rp_word(rx->buf, 1) == 2 && rp_word(rx->buf, 3) == MSG,
		 "the first message is no Call but version %u type %u",
		 rp_word(rx->buf, 1), rp_word(rx->buf, 3));
	rp_check(rx->len <= 1024, "%u bytes", rx->len);
	call = cl_parse(s, rx);
	rp_check(!call->proc && !call->inv && !call->nreads &&
		 !call->nwrites && !call->has_reply, "no plain NULL Call");
	rp_check(call->credit > 0 && call->credit < 65536,
		 "%u credits wanted", call->credit);
	return call;
}

void cl_stay_silent(struct cl *s)
{
	cl_accept(s);
	cl_first(s);
	rp_expect_closed(s->c);
	rp_close(s->c);
	cl_accept(s);
	cl_call_free(cl_first_call(s));
	rp_expect_closed(s->c);
	rp_close(s->c);
	s->c = NULL;
}

struct rp_msg *cl_connprop(struct cl *s, uint32_t xid)
{
	struct rp_msg *m = connprop(xid, 4096, 0);

	m->w[2] = s->grant;
	m->w[4] = RESPONSE;
	return m;
}

void cl_settle(struct cl *s)
{
	rp_send(s->c, cl_connprop(s, cl_first(s)));
	s->limit = 4096;
}

static void check_mount(struct cl *s)
{
	int err = cl_serve(s, s->mount);

	rp_check(!err, "the mount fails: %s", strerror(err));
}

struct cl *cl_mounted(const char *options)
{
	struct cl *s = cl_start(options);

	cl_accept(s);
	cl_settle(s);
	check_mount(s);
	return s;
}

void cl_settle_v1(struct cl *s)
{
	if (rp_opt.version != 1)
		rp_send(s->c, err_vers(cl_first(s), 2, 1, 1));
}

struct cl *cl_mounted_v1(const struct rp_how *how)
{
	struct cl *s = cl_start(NULL);

	cl_accept_how(s, how);
	cl_settle_v1(s);
	check_mount(s);
	return s;
}

/**
 * struct news - what cl_serve() waits for
 * @s: the server
 * @job: the job
 */
struct news {
	struct cl	*s;
	struct rp_job	*job;
};

/* Answer what is there; the end of the job ends the wait. */
static bool serve_turn(void *arg)
{
	struct news *n = arg;
	struct cl_call *call;

	while (n->s->c && !rp_is_closed(n->s->c)) {
		call = cl_next_within(n->s, 0);
		if (!call)
			break;
		cl_answer(n->s, call);
		cl_call_free(call);
	}
	return n->job && job_over(n->job);
}

int cl_serve(struct cl *s, struct rp_job *job)
{
	struct news n = { s, job };

	rp_check(rp_wait(serve_turn, &n, RP_ANSWER * 6),
		 "a mount or file operation does not end");
	return job_result(job);
}

void cl_serve_for(struct cl *s, unsigned int ms)
{
	struct news n = { s, NULL };

	rp_wait(serve_turn, &n, ms);
}

void cl_use(struct cl *s)
{
	struct rp_job *job;
	int err;

	job = job_read("f", 4096, 20000);
	err = cl_serve(s, job);
	rp_check(!err && job_count(job) == 20000, "READ: %s", strerror(err));
	rp_is_pattern(job_data(job), 4096, 20000);
	job = job_write("f", 0, 10000);
	err = cl_serve(s, job);
	rp_check(!err, "WRITE: %s", strerror(err));
	job = job_list("");
	err = cl_serve(s, job);
	rp_check(!err && job_count(job) == CL_DIR_ENTRIES, "READDIR: %s, %u",
		 strerror(err), job_count(job));
}

const char *cl_name(void)
{
	static char name[16];
	static unsigned int i;

	snprintf(name, sizeof(name), "f%u", i++);
	return name;
}

void cl_alive(struct cl *s)
{
	struct rp_conn *c = s->c;
	struct rp_job *job = job_stat(cl_name());
	int err = cl_serve(s, job);

	job_forget(job);
	rp_check(!err, "the next operation fails: %s", strerror(err));
	rp_check(s->c == c && !rp_is_closed(c) && !rp_wants_in(s->l),
		 "the connection did not survive");
}

void cl_unimpressed(struct cl *s, struct rp_job *job)
{
	rp_expect_silence(s->c, RP_SILENCE);
	rp_check(!job_over(job), "the operation ended: %s",
		 strerror(job_result(job)));
}

void cl_end(struct cl *s)
{
	int err = cl_serve(s, job_umount());

	rp_check(!err, "umount fails: %s", strerror(err));
}

/* ---- module parameters ---- */

static struct {
	char	name[64];
	char	value[64];
} saved[8];
static unsigned int nr_saved;

static void set_parameter(const char *name, const char *value)
{
	char path[160];
	FILE *f;

	snprintf(path, sizeof(path), "/sys/module/rpcrdma2/parameters/%s",
		 name);
	f = fopen(path, "w");
	rp_check(f, "the module has no parameter %s", name);
	fputs(value, f);
	rp_check(!fclose(f), "the module refuses %s=%s", name, value);
}

static void put_back(void)
{
	while (nr_saved--)
		set_parameter(saved[nr_saved].name, saved[nr_saved].value);
}

void cl_parameter(const char *name, const char *value)
{
	char path[160];
	FILE *f;

	rp_needs_module();
	snprintf(path, sizeof(path), "/sys/module/rpcrdma2/parameters/%s",
		 name);
	f = fopen(path, "r");
	rp_check(f && nr_saved < 8, "the module has no parameter %s", name);
	snprintf(saved[nr_saved].name, sizeof(saved[0].name), "%s", name);
	rp_check(fgets(saved[nr_saved].value, sizeof(saved[0].value), f),
		 "%s is empty", name);
	fclose(f);
	if (!nr_saved++)
		atexit(put_back);
	set_parameter(name, value);
}
