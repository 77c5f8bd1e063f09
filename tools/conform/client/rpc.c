// SPDX-License-Identifier: GPL-2.0
/*
 * HDR, FLG, HT, CHK, MSG, ERR, RINV: Replies and errors, as a client takes
 * them. Each case of junk holds back the answer to a Call, sends something
 * that must not be taken for it, and then the answer.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "rp.h"
#include "command.h"
#include "client.h"
#include "stat.h"

/**
 * struct wait - an operation whose Call is held back
 * @s: the server
 * @job: the operation
 * @call: its Call
 */
struct wait {
	struct cl	*s;
	struct rp_job	*job;
	struct cl_call	*call;
};

static struct wait hold_lookup(struct cl *s)
{
	struct wait w = { s, job_stat(cl_name()), NULL };

	w.call = cl_wait_for(s, NFS_LOOKUP);
	return w;
}

static struct wait hold_read(struct cl *s)
{
	struct wait w = { s, job_read("f", 4096, 8192), NULL };

	w.call = cl_wait_for(s, NFS_READ);
	rp_choice(w.call->nwrites == 1 && w.call->write[0].n,
		  "READ has no Write chunk");
	return w;
}

static struct wait hold_write(struct cl *s)
{
	struct wait w = { s, job_write("f", 0, 20000), NULL };

	w.call = cl_wait_for(s, NFS_WRITE);
	rp_choice(w.call->nreads, "WRITE has no Read chunk");
	return w;
}

/* It still waits; the right answer ends it well. */
static void answer(struct wait *w)
{
	int err;

	cl_unimpressed(w->s, w->job);
	cl_answer(w->s, w->call);
	err = cl_serve(w->s, w->job);
	rp_check(!err, "the operation fails: %s", strerror(err));
}

static void finish(struct wait *w)
{
	answer(w);
	cl_alive(w->s);
	cl_end(w->s);
}

/* The client connects again, and the Call comes again. */
static void comes_again_to(struct wait *w, void (*settle)(struct cl *s))
{
	struct cl_call *call;

	rp_expect_closed(w->s->c);
	rp_close(w->s->c);
	cl_accept(w->s);
	settle(w->s);
	call = cl_wait_for(w->s, w->call->proc);
	rp_check(call->xid == w->call->xid, "not the same XID");
	w->call = call;
}

static void comes_again(struct wait *w)
{
	comes_again_to(w, cl_settle);
}

/* What was just sent is no Reply to it: dropped, and since nothing else can be
 * expected from such a server, it is asked again on a new connection.
 */
static void refuted(struct wait *w)
{
	struct wait next;

	comes_again(w);
	rp_check(!job_over(w->job), "the operation ended");
	cl_answer(w->s, w->call);
	rp_check(!cl_serve(w->s, w->job), "the operation fails");
	/* Once more: the distances between connections grow, the RPC lives */
	next = hold_lookup(w->s);
	answer(&next);
	cl_alive(w->s);
	cl_end(w->s);
}

/* The right answer as a message that a case may spoil */
static struct rp_msg *right(struct wait *w)
{
	struct rp_msg *m = v2(w->call->xid, w->s->grant, MSG, RESPONSE);

	put(m, 0);
	cl_put_unused(m, w->call);
	put_msg(m, cl_rpc_reply(w->s, w->call));
	return m;
}

RP_CASE("replies", MUST, rpc_xid, "HDR-7,ERR-6",
	"a Reply whose two XIDs differ is dropped")
{
	struct wait w = hold_lookup(cl_mounted(NULL));

	rp_send(w.s->c, rp_set(right(&w), 9, w.call->xid + 1));
	rp_send(w.s->c, rp_set(right(&w), 0, w.call->xid + 1));
	finish(&w);
}

RP_CASE("replies", MUST, rpc_unknown_xid, "ERR-6,REV-15,HDR-8",
	"a Reply and errors for unknown XIDs are dropped")
{
	struct wait w = hold_lookup(cl_mounted(NULL));
	uint32_t xid = w.call->xid + 0x1000, code;
	struct rp_msg *m;

	rp_send(w.s->c, rp_set(rp_set(right(&w), 0, xid), 9, xid));
	for (code = 1; code <= 10; code++) {
		m = error2(xid, code);
		put_all(m, W(1, 1));
		rp_send(w.s->c, m);
	}
	finish(&w);
}

RP_CASE("replies", DECISION, rpc_flags, "FLG-3,FLG-5,D-13",
	"a Reply with a reserved flag, or that is no Reply, is dropped")
{
	struct wait w = hold_lookup(cl_mounted(NULL));

	rp_send(w.s->c, rp_set(right(&w), 4, 3));
	rp_send(w.s->c, rp_set(right(&w), 4, 0x80000001));
	rp_send(w.s->c, rp_set(right(&w), 10, 0));	/* msg_type CALL */
	rp_send(w.s->c, rp_set(right(&w), 10, 2));
	finish(&w);
}

RP_CASE("replies", DECISION, rpc_reply_as_call, "FLG-5,ERR-1,HDR-12",
	"a Reply without RESPONSE is answered with BAD_XDR and not taken")
{
	struct wait w = hold_lookup(cl_mounted(NULL));

	rp_send(w.s->c, rp_set(right(&w), 4, CALL));
	rp_expect(w.s->c, error2(w.call->xid, BAD_XDR));
	finish(&w);
}

RP_CASE("replies", DECISION, rpc_error_no_flag, "FLG-9,D-13",
	"an ERROR without RESPONSE does not end the RPC")
{
	struct wait w = hold_lookup(cl_mounted(NULL));

	rp_send(w.s->c, rp_set(error2(w.call->xid, BAD_XDR), 4, CALL));
	rp_send(w.s->c, rp_set(error2(w.call->xid, SYSTEM), 4, CALL));
	finish(&w);
}

RP_CASE("replies", MUST, rpc_error_short, "ERR-9,HT-4",
	"an ERROR too short for its code does not end the RPC")
{
	struct wait w = hold_lookup(cl_mounted(NULL));
	uint32_t xid = w.call->xid;

	rp_send(w.s->c, rp_cut(error2_arg(xid, READ_CHUNKS, 1), 24));
	rp_send(w.s->c, rp_cut(error2_arg(xid, WRITE_CHUNKS, 1), 24));
	rp_send(w.s->c, rp_cut(error2_arg(xid, SEGMENTS, 1), 24));
	rp_send(w.s->c, rp_cut(error2_arg(xid, REPLY_RESOURCE, 1), 24));
	rp_send(w.s->c, error2(xid, WRITE_RESOURCE));
	/* with one argument instead of two, as long as an ERR_VERS */
	rp_send(w.s->c, error2_arg(xid, WRITE_RESOURCE, 9));
	rp_send(w.s->c, error2_arg(xid, WRITE_RESOURCE, 0));
	rp_send(w.s->c, v2(xid, 32, ERROR, RESPONSE));
	rp_send(w.s->c, rp_cut(error2(xid, SYSTEM), 23));
	finish(&w);
}

RP_CASE("replies", MUST, rpc_short, "HDR-5,CHK-7,ERR-1",
	"a Reply cut off in its header is dropped")
{
	static const unsigned int len[] = { 4, 15, 16, 19, 20, 24, 32, 35, 36 };
	struct wait w = hold_lookup(cl_mounted(NULL));
	unsigned int i;

	for (i = 0; i < 9; i++)
		rp_send(w.s->c, rp_cut(right(&w), len[i]));
	finish(&w);
}

RP_CASE("replies", DECISION, rpc_type_response, "HT-3,D-11,ERR-1",
	"an unknown type with RESPONSE and a live XID is dropped")
{
	struct wait w = hold_lookup(cl_mounted(NULL));

	rp_send(w.s->c, v2(w.call->xid, 32, 99, RESPONSE));
	rp_send(w.s->c, v2(w.call->xid, 32, RESPROP, RESPONSE));
	finish(&w);
}

RP_CASE("replies", MUST, rpc_type_call, "HT-2,HDR-13,FLG-11,EXT-1",
	"an unknown type without RESPONSE is answered with INVAL_HTYPE")
{
	struct wait w = hold_lookup(cl_mounted(NULL));
	static const uint32_t types[] = { 2, 3, 6, 99, 0xffffffff };
	unsigned int i;

	for (i = 0; i < 5; i++) {
		uint32_t xid = rp_xid();

		rp_send(w.s->c, v2(xid, 32, types[i], i == 3 ? 2 : CALL));
		rp_expect(w.s->c, error2(xid, INVAL_HTYPE));
	}
	finish(&w);
}

RP_CASE("replies", MUST, rpc_counts, "CHK-7,CHK-6,CHK-25,ERR-1",
	"a Reply with lists that cannot be parsed is dropped")
{
	struct wait w = hold_lookup(cl_mounted(NULL));
	static const uint32_t counts[] = {
		0x0fffffff, 0x10000001, 0xffffffff,
	};
	struct rp_msg *m;
	unsigned int i;

	for (i = 0; i < 3; i++) {
		m = reply_head(w.call->xid, MSG);
		put_all(m, W(0, 1, counts[i], 0, 0));
		put_msg(m, cl_rpc_reply(w.s, w.call));
		rp_send(w.s->c, m);
		m = reply_head(w.call->xid, MSG);
		put_all(m, W(0, 0, 1, counts[i]));
		put_msg(m, cl_rpc_reply(w.s, w.call));
		rp_send(w.s->c, m);
	}
	for (i = 6; i <= 8; i++)
		rp_send(w.s->c, rp_set(right(&w), i, 2));
	finish(&w);
}

RP_CASE("replies", MUST, rpc_read_list, "CHK-13,V1-6,CHK-8",
	"a Reply with a Read list is dropped")
{
	struct wait w = hold_lookup(cl_mounted(NULL));
	struct rp_msg *m = reply_head(w.call->xid, MSG);

	put_last_read(m, 24, (struct rp_seg){ 0x1234, 4, 0x1000 });
	put_msg(m, cl_rpc_reply(w.s, w.call));
	rp_send(w.s->c, m);
	finish(&w);
}

RP_CASE("replies", MUST, rpc_nomsg_nothing, "MSG-8",
	"a NOMSG Reply without a Reply chunk is dropped")
{
	struct wait w = hold_lookup(cl_mounted(NULL));
	struct rp_msg *m = reply_head(w.call->xid, NOMSG);

	put_all(m, W(0, 0, 0));
	rp_send(w.s->c, m);
	finish(&w);
}

/* A Call with a Reply chunk */
static struct wait hold_list(struct cl *s)
{
	struct wait w = { s, job_list(""), NULL };

	w.call = cl_wait_for(s, NFS_READDIR);
	rp_choice(w.call->has_reply && w.call->reply.n,
		  "READDIR has no Reply chunk");
	return w;
}

/* An empty directory, which fits inline */
static struct rp_msg *empty_dir(struct wait *w)
{
	struct rp_msg *rpc = cl_rpc_reply(w->s, w->call);

	rpc->n = 6 + 1 + 22 + 2;
	put_all(rpc, W(0, 1));
	return rpc;
}

RP_CASE("replies", MUST, rpc_discriminator, "CHK-6",
	"a Reply whose Reply chunk begins with a discriminator of 2 is dropped")
{
	struct wait w = hold_list(cl_mounted(NULL));
	struct rp_msg *m = reply_head(w.call->xid, MSG);

	m->w[2] = w.s->grant;
	cl_put_unused(m, w.call);
	rp_set(m, m->n - 2 - 4 * w.call->reply.n, 2);
	put_msg(m, empty_dir(&w));
	rp_send(w.s->c, m);
	finish(&w);
}

RP_CASE("replies", DECISION, rpc_inline_anyway, "MSG-3,D-21,CHK-19",
	"a Reply may be inline although there is a Reply chunk: both forms")
{
	struct cl *s = cl_mounted(NULL);
	struct wait w = hold_list(s);
	struct rp_msg *m;

	m = reply_head(w.call->xid, MSG);
	m->w[2] = s->grant;
	put_all(m, W(0, 0, 0));
	put_msg(m, empty_dir(&w));
	rp_send(s->c, m);
	rp_check(!cl_serve(s, w.job), "the operation fails");
	cl_end(s);
}

RP_CASE("replies", DECISION, rpc_inline_unused, "MSG-3,D-21",
	"a Reply chunk may come back with lengths of zero")
{
	struct cl *s = cl_mounted(NULL);
	struct wait w = hold_list(s);
	struct rp_msg *m = reply_head(w.call->xid, MSG);

	m->w[2] = s->grant;
	cl_put_unused(m, w.call);
	put_msg(m, empty_dir(&w));
	rp_send(s->c, m);
	rp_check(!cl_serve(s, w.job), "the operation fails");
	cl_end(s);
}

RP_CASE("replies", MUST, rpc_inline_used, "MSG-3",
	"an inline Reply that claims to have used the Reply chunk is dropped")
{
	struct cl *s = cl_mounted(NULL);
	struct wait w = hold_list(s);
	struct rp_msg *m = reply_head(w.call->xid, MSG);

	put_reply_chunk(m, w.call->reply.n, w.call->reply.seg);
	put_msg(m, empty_dir(&w));
	rp_send(s->c, m);
	finish(&w);
}

RP_CASE("replies", DECISION, rpc_reply_lies, "SEC-2,SEC-3,LNG-8,CHK-7",
	"a NOMSG Reply that claims more than the Reply chunk holds")
{
	struct cl *s = cl_mounted(NULL);
	struct wait w = hold_list(s);
	struct rp_msg *m = reply_head(w.call->xid, NOMSG);
	struct cl_chunk chunk = w.call->reply;

	chunk.seg[0].len = 0x7ffffff0;
	m->w[2] = s->grant;
	put_reply_chunk(m, chunk.n, chunk.seg);
	rp_send(s->c, m);
	refuted(&w);
}

/* The Reply goes into the Reply chunk: @words[0] is its XID, and so on. */
static void via_chunk(struct wait *w, struct rp_msg *rpc)
{
	struct rp_msg *m = reply_head(w->call->xid, NOMSG);
	struct cl_chunk chunk = w->call->reply;
	static uint8_t bytes[1024];
	unsigned int i;

	rp_check(4 * rpc->n <= sizeof(bytes) &&
		 4 * rpc->n <= chunk.seg[0].len, "a long Reply");
	for (i = 0; i < 4 * rpc->n; i++)
		bytes[i] = rpc->w[i / 4] >> (24 - 8 * (i % 4));
	m->w[2] = w->s->grant;
	chunk.seg[0].len = 4 * rpc->n;
	for (i = 1; i < chunk.n; i++)
		chunk.seg[i].len = 0;
	rp_rdma_write(w->s->c, bytes, chunk.seg[0]);
	put_reply_chunk(m, chunk.n, chunk.seg);
	rp_send(w->s->c, m);
}

RP_CASE("replies", MUST, rpc_chunk_right, "MSG-8,HDR-7",
	"a short Reply in the Reply chunk is taken")
{
	struct cl *s = cl_mounted(NULL);
	struct wait w = hold_list(s);

	via_chunk(&w, empty_dir(&w));
	rp_check(!cl_serve(s, w.job), "the operation fails");
	cl_alive(s);
	cl_end(s);
}

RP_CASE("replies", DECISION, rpc_chunk_xid, "HDR-7,ERR-6,REC-5",
	"another XID inside the Reply chunk: dropped, the Call is sent again")
{
	struct cl *s = cl_mounted(NULL);
	struct wait w = hold_list(s);
	unsigned int i;

	/* Each time later than the last */
	for (i = 0; i < 4; i++) {
		via_chunk(&w, rp_set(empty_dir(&w), 0, w.call->xid + 1));
		comes_again(&w);
	}
	via_chunk(&w, rp_set(empty_dir(&w), 1, 0));	/* no REPLY */
	refuted(&w);
}

RP_CASE("replies", DECISION, rpc_chunk_short, "MSG-8,HDR-7,SEC-2",
	"a Reply chunk with less than an XID and a direction: the same")
{
	struct cl *s = cl_mounted(NULL);
	struct wait w = hold_list(s);
	struct rp_msg *rpc = empty_dir(&w);

	rpc->n = 1;
	via_chunk(&w, rpc);
	refuted(&w);
}

RP_CASE("replies", MUST, rpc_write_lies, "SEC-2,SEC-3,CHK-21,LNG-15",
	"a READ Reply that claims more than the Write chunk holds")
{
	struct cl *s = cl_mounted(NULL);
	struct wait w = hold_read(s);
	struct rp_msg *m = reply_head(w.call->xid, MSG), *rpc;
	struct cl_chunk chunk = w.call->write[0];

	chunk.seg[0].len = 0x7ffffff0;
	m->w[2] = s->grant;
	put_last_write(m, chunk.n, chunk.seg);
	rpc = cl_rpc_reply(s, w.call);
	rpc->n = 32;
	rpc->w[31] = 0x7ffffff0;		/* length of the data */
	rpc->w[29] = 0x7ffffff0;		/* count */
	put_msg(m, rpc);
	rp_send(s->c, m);
	if (rp_recv_within(s->c, RP_SILENCE))
		rp_fail("an answer to a Reply");
	if (rp_is_closed(s->c)) {
		rp_close(s->c);
		cl_accept(s);
		cl_settle(s);
	} else if (!job_over(w.job)) {
		cl_answer(s, w.call);
	}
	cl_serve(s, w.job);
	rp_check(job_count(w.job) <= 8192, "READ of more than was asked for");
	cl_alive(s);
	cl_end(s);
}

/* READ whose data comes inline; the Write chunk as given in @m */
static void read_inline(struct wait *w, struct rp_msg *m)
{
	struct rp_msg *rpc = cl_rpc_reply(w->s, w->call);
	int err;

	put_msg(m, rpc);
	m->w[2] = w->s->grant;
	rp_send(w->s->c, m);
	err = cl_serve(w->s, w->job);
	rp_check(!err, "the operation fails: %s", strerror(err));
	rp_is_pattern(job_data(w->job), 4096, 6000);
}

/* A READ with a Write chunk, whose data fits into the client's Receives */
static struct wait hold_small_read(struct cl *s)
{
	struct wait w = { s, job_read("f", 4096, 6000), NULL };

	if (s->rbsiz < 6400)
		rp_skip("the client's Receives have %u bytes only", s->rbsiz);
	w.call = cl_wait_for(s, NFS_READ);
	rp_choice(w.call->nwrites == 1, "READ has no Write chunk");
	return w;
}

RP_CASE("replies", MUST, rpc_read_inline, "CHK-18,CHK-19,CHK-22",
	"READ data inline; the Write chunk comes back without segments")
{
	struct cl *s = cl_mounted(NULL);
	struct wait w = hold_small_read(s);
	struct rp_msg *m = reply_head(w.call->xid, MSG);

	put_all(m, W(0, 1, 0, 0, 0));
	read_inline(&w, m);
	cl_end(s);
}

/* See tests/guest/module-gpudirect.sh, which also checks that the pages were not touched. */
#define GPU	"/dev/rpcrdma2_gpu"

RP_CASE("replies", DECISION | MODULE, rpc_read_inline_gpu, "CHK-18,CHK-22",
	"READ data inline, for the memory of a GPU: an I/O error")
{
	struct cl *s = cl_mounted(NULL);
	struct wait w = { s, NULL, NULL };
	struct rp_msg *m;

	if (access(GPU, F_OK))
		rp_skip("there is no GPU");
	w.job = job_shell("iocheck check -d -G " GPU " -l 4096 f 2>&1 | grep 'Input/output error'");
	w.call = cl_wait_for(s, NFS_READ);
	rp_check(w.call->nwrites == 1, "READ has no Write chunk");
	m = reply_head(w.call->xid, MSG);
	put_all(m, W(0, 1, 0, 0, 0));
	put_msg(m, cl_rpc_reply(s, w.call));
	m->w[2] = s->grant;
	rp_send(s->c, m);
	rp_check(!cl_serve(s, w.job), "no I/O error");
	cl_alive(s);
	cl_end(s);
}

RP_CASE("replies", DECISION, rpc_read_unused, "CHK-19,CHK-21",
	"READ data inline; the Write chunk comes back unused, but not untouched")
{
	struct cl *s = cl_mounted(NULL);
	struct wait w = hold_small_read(s);
	struct rp_msg *m = reply_head(w.call->xid, MSG);
	static const uint8_t poison[6000];

	rp_rdma_write(s->c, poison, w.call->write[0].seg[0]);
	cl_put_unused(m, w.call);
	read_inline(&w, m);
	cl_end(s);
}

RP_CASE("replies", MUST, rpc_short_read, "LNG-15,CHK-21",
	"what a server writes behind the end of a READ does not show")
{
	struct cl *s = cl_mounted(NULL);
	uint32_t last = CL_FILE_SIZE & ~4095u, n = CL_FILE_SIZE - last;
	struct rp_job *job = job_map("f", last, 4096);
	struct cl_call *call = cl_wait_for(s, NFS_READ);
	static uint8_t poison[65536];
	unsigned int i;

	memset(poison, 0x5a, sizeof(poison));
	rp_choice(call->nwrites == 1, "no Write chunk");
	for (i = 0; i < call->write[0].n; i++)
		rp_rdma_write(s->c, poison, call->write[0].seg[i]);
	cl_answer(s, call);
	rp_check(!cl_serve(s, job), "the read fails");
	rp_is_pattern(job_data(job), last, n);
	for (i = n; i < 4096; i++)
		rp_check(!job_data(job)[i], "byte %u of the last page is %02x",
			 i, job_data(job)[i]);
	cl_end(s);
}

/* NFS cuts what is too much, and moves it to where the words behind it are: in a
 * buffer that is not larger than it seems.
 */
RP_CASE("replies", TROUBLE, rpc_read_more, "SEC-2,LNG-15",
	"a READ Reply that counts less than was written, and has words behind it")
{
	struct cl *s = cl_mounted(NULL);
	struct rp_job *job = job_read("f", 0, 65536);
	struct cl_call *call = cl_wait_for(s, NFS_READ);
	struct rp_msg *m = reply_head(call->xid, MSG), *rpc;
	struct cl_chunk chunk = call->write[0];
	unsigned int i;

	rp_choice(call->nwrites == 1 && chunk.seg[0].len >= 16384,
		  "no Write chunk of 16 KiB");
	chunk.seg[0].len /= 2;
	for (i = 1; i < chunk.n; i++)
		chunk.seg[i].len = 0;
	m->w[2] = s->grant;
	put_last_write(m, chunk.n, chunk.seg);
	rpc = cl_rpc_reply(s, call);
	rpc->n = 32;
	rpc->w[29] = 4;				/* count */
	rpc->w[31] = 4;				/* length of the data */
	put_msg(m, rpc);
	put_all(m, W(1, 2, 3, 4));
	rp_send(s->c, m);
	cl_serve(s, job);
	cl_alive(s);
	cl_end(s);
}

/* ---- errors that end an RPC ---- */

static void ends_with_eio(uint32_t code, uint64_t a, uint64_t b)
{
	struct cl *s = cl_mounted(NULL);
	struct wait w = hold_lookup(s);
	struct rp_msg *m;
	int err, i;

	for (i = 0; i < 3; i++) {
		m = error2(w.call->xid, code);
		m->w[2] = s->grant;
		if (a != ANY)
			put(m, a);
		if (b != ANY)
			put(m, b);
		rp_send(s->c, m);
		err = cl_serve(s, w.job);
		rp_check(err, "the operation does not fail");
		rp_choice(err == EIO, "\"%s\", not EIO", strerror(err));
		cl_alive(s);
		w = hold_lookup(s);
	}
	answer(&w);
	cl_end(s);
}

RP_ROW("replies", DECISION, rpc_bad_xdr, "ERR-16,ERR-8,ERR-34,ERR-15,D-34",
	"BAD_XDR ends the RPC with EIO; the credit is free again",
	ends_with_eio(BAD_XDR, ANY, ANY))

RP_CASE("replies", DECISION | MODULE, rpc_inval_htype, "ERR-18,VER-16,D-34",
	"INVAL_HTYPE for a Call: another connection, version 1, the RPC again")
{
	struct cl *s = cl_mounted(NULL);
	struct wait w = hold_lookup(s);
	struct cl_call *call;

	/* about nothing of ours, it means nothing */
	rp_send(s->c, error2(w.call->xid + 0x10000, INVAL_HTYPE));
	cl_unimpressed(s, w.job);
	cl_error(s, w.call, INVAL_HTYPE);
	rp_expect_closed(s->c);
	rp_close(s->c);
	cl_accept(s);
	call = cl_next(s);
	rp_check(call->vers == 1, "version %u", call->vers);
	rp_check(call->proc == NFS_LOOKUP && call->xid == w.call->xid,
		 "not the same RPC");
	cl_answer(s, call);
	rp_check(!cl_serve(s, w.job), "the operation fails");
	rp_check(rp_client_stat(s, "version_reason") == 4, "not reason 4");
	cl_end(s);
}

RP_ROW("replies", DECISION | MODULE, rpc_inval_htype_v2,
	"ERR-18,ERR-8,ERR-34,VER-24,D-34",
	"INVAL_HTYPE for a Call where version 1 is not allowed: EIO",
	cmd_policy("client", "versions v2"); ends_with_eio(INVAL_HTYPE, ANY, ANY))
RP_ROW("replies", DECISION, rpc_write_resource, "ERR-27,ERR-34,D-30",
	"WRITE_RESOURCE ends the RPC with EIO, no retry",
	ends_with_eio(WRITE_RESOURCE, 1, 8192))
RP_ROW("replies", DECISION, rpc_reply_resource, "ERR-29,ERR-34,SEC-15,D-30",
	"REPLY_RESOURCE ends the RPC with EIO, no retry",
	ends_with_eio(REPLY_RESOURCE, 20480, ANY))
RP_ROW("replies", MUST, rpc_system, "ERR-31,ERR-32,ERR-8,ERR-34",
	"SYSTEM ends the RPC with EIO, no retry", ends_with_eio(SYSTEM, ANY, ANY))
RP_ROW("replies", DECISION, rpc_error_77, "ERR-10,ERR-34,EXT-3,D-23",
	"an unknown error code ends the RPC with EIO", ends_with_eio(77, ANY, ANY))

RP_CASE("replies", DECISION, rpc_read_write_resource, "ERR-27,ERR-8",
	"WRITE_RESOURCE to a READ: EIO, its memory is out of reach")
{
	struct cl *s = cl_mounted(NULL);
	struct wait w = hold_read(s);
	struct rp_seg seg = w.call->write[0].seg[0];
	struct rp_msg *m = error2_arg(w.call->xid, WRITE_RESOURCE, 1);
	static uint8_t data[64];

	m->w[2] = s->grant;
	put(m, 16384);
	rp_send(s->c, m);
	rp_check(cl_serve(s, w.job) == EIO, "not EIO");
	cl_alive(s);
	/* Its handle is invalid now: to use it ends the connection. */
	seg.len = 64;
	rp_try_rdma_write(s->c, data, seg);
	rp_check(rp_closed_within(s->c, RP_ANSWER),
		 "the memory is still exposed");
}

/* ---- errors before execution: one retry in another shape ---- */

static struct cl_call *retried(struct wait *w)
{
	struct cl_call *call = cl_next(w->s);

	rp_check(call->xid == w->call->xid, "not the same XID");
	rp_check(call->proc == w->call->proc, "not the same procedure");
	return call;
}

static void refuse(struct wait *w, uint32_t code, uint32_t limit)
{
	struct rp_msg *m = error2_arg(w->call->xid, code, limit);

	m->w[2] = w->s->grant;
	rp_send(w->s->c, m);
}

RP_CASE("replies", SHOULD, rpc_read_chunks, "ERR-20,ERR-30,ERR-34,LNG-1",
	"READ_CHUNKS 0 to a WRITE: once more, with Position-Zero only")
{
	struct cl *s = cl_mounted(NULL);
	struct wait w = hold_write(s);
	struct cl_call *again;
	unsigned int i;

	rp_choice(w.call->htype == MSG, "WRITE has a Position-Zero chunk");
	refuse(&w, READ_CHUNKS, 0);
	again = retried(&w);
	rp_check(again->htype == NOMSG, "no NOMSG");
	for (i = 0; i < again->nreads; i++)
		rp_check(!again->position[i], "a Read chunk at %u",
			 again->position[i]);
	cl_answer(s, again);
	rp_check(!cl_serve(s, w.job), "the write fails");
	cl_alive(s);
	cl_end(s);
}

/* The server closes; the client forgets what it has learned. */
static void new_connection(struct cl *s)
{
	struct wait w = hold_lookup(s);

	rp_close(s->c);
	cl_accept(s);
	cl_settle(s);
	rp_check(!cl_serve(s, w.job), "the operation fails");
}

RP_CASE("replies", DECISION, rpc_read_chunks_known, "ERR-20,ERR-30",
	"READ_CHUNKS costs one round trip for each connection, not for each RPC")
{
	struct cl *s = cl_mounted(NULL);
	struct wait w = hold_write(s), w2 = { s, NULL, NULL };

	w2.job = job_write("g", 0, 20000);
	w2.call = cl_wait_for(s, NFS_WRITE);
	rp_check(w2.call->position[0], "no Read chunk");
	refuse(&w, READ_CHUNKS, 0);
	cl_answer(s, retried(&w));
	/* On its way when the first was refused */
	refuse(&w2, READ_CHUNKS, 0);
	cl_answer(s, retried(&w2));
	rp_check(!cl_serve(s, w.job) && !cl_serve(s, w2.job),
		 "the write fails");
	w = hold_write(s);
	rp_check(w.call->htype == NOMSG && !w.call->position[0],
		 "a Read chunk although these are refused");
	answer(&w);
	new_connection(s);
	w = hold_write(s);
	rp_check(w.call->position[0], "no Read chunk on a new connection");
	finish(&w);
}

RP_CASE("replies", DECISION, rpc_write_chunks_known, "ERR-23,ERR-30",
	"WRITE_CHUNKS costs one round trip for each connection, not for each RPC")
{
	struct cl *s = cl_mounted(NULL);
	struct wait w = hold_read(s);

	refuse(&w, WRITE_CHUNKS, 0);
	cl_answer(s, retried(&w));
	rp_check(!cl_serve(s, w.job), "the read fails");
	w.job = job_read("g", 4096, 8192);
	w.call = cl_wait_for(s, NFS_READ);
	rp_check(!w.call->nwrites && w.call->has_reply,
		 "a Write chunk although these are refused");
	answer(&w);
	new_connection(s);
	w = hold_read(s);
	finish(&w);
}

/* The READ of hold_read() again, with a Reply chunk in place of the Write chunk */
static void read_by_reply_chunk(struct wait *w)
{
	struct cl_call *again = retried(w);

	rp_check(!again->nwrites, "a Write chunk");
	rp_check(again->has_reply, "no Reply chunk");
	cl_answer(w->s, again);
	rp_check(!cl_serve(w->s, w->job) && job_count(w->job) == 8192,
		 "the read fails");
	rp_is_pattern(job_data(w->job), 4096, 8192);
}

/* ---- REPLY_RESOURCE: the Reply does not fit inline ---- */

RP_CASE("replies", DECISION, rpc_reply_resource_write,
	"ERR-22,ERR-29,ERR-30,D-31,D-30",
	"REPLY_RESOURCE to a READ with a Write chunk: again with a Reply chunk")
{
	struct cl *s = cl_mounted(NULL);
	struct wait w = hold_read(s);

	refuse(&w, REPLY_RESOURCE, 8320);
	read_by_reply_chunk(&w);
	/* It is remembered. */
	w.job = job_read("g", 4096, 8192);
	w.call = cl_wait_for(s, NFS_READ);
	rp_check(!w.call->nwrites && w.call->has_reply,
		 "a Write chunk although these are refused");
	/* There is no other form */
	refuse(&w, REPLY_RESOURCE, 65536);
	rp_expect_silence(s->c, RP_SILENCE);
	rp_check(cl_serve(s, w.job) == EIO, "not EIO");
	cl_alive(s);
	cl_end(s);
}

/* A server may close after an ERROR. If the client forgot what it has learned from
 * that it would be refused again and again, on one connection after the other.
 */
RP_CASE("replies", DECISION, rpc_reply_resource_close,
	"ERR-29,ERR-30,REC-2,D-30",
	"REPLY_RESOURCE, and the connection ends: what it said is remembered")
{
	struct cl *s = cl_mounted(NULL);
	struct wait w = hold_read(s);

	refuse(&w, REPLY_RESOURCE, 8320);
	retried(&w);
	rp_close(s->c);
	cl_accept(s);
	cl_settle(s);
	read_by_reply_chunk(&w);
	/* This server has made use of it; the next one may be another. */
	new_connection(s);
	w = hold_read(s);
	rp_check(w.call->nwrites && !w.call->has_reply, "no Write chunk");
	finish(&w);
}

/* A server that receives 16 KiB and sends 4 KiB at the most */
static void settle_lopsided(struct cl *s)
{
	struct rp_msg *m = connprop(cl_first(s), 16384, 0);

	m->w[2] = s->grant;
	m->w[4] = RESPONSE;
	rp_send(s->c, m);
	s->limit = 4096;
}

static struct cl *mounted_lopsided(void)
{
	struct cl *s = cl_start(NULL);

	cl_accept(s);
	settle_lopsided(s);
	rp_check(!cl_serve(s, s->mount), "the mount fails");
	return s;
}

/* It comes back after its server has gone. */
static void again_lopsided(struct cl *s)
{
	rp_close(s->c);
	cl_accept(s);
	settle_lopsided(s);
}

static void needs_large_receives(struct cl *s)
{
	if (s->rbsiz < 6400)
		rp_skip("the client's Receives have %u bytes only", s->rbsiz);
}

static struct wait read_inline_due(struct cl *s, const char *file)
{
	struct wait w = { s, job_read(file, 4096, 6000), NULL };

	w.call = cl_wait_for(s, NFS_READ);
	return w;
}

RP_CASE("replies", DECISION, rpc_reply_resource_inline,
	"ERR-29,ERR-34,D-16,D-30,LNG-4",
	"REPLY_RESOURCE for want of a chunk: again on a new connection with one")
{
	struct cl *s = mounted_lopsided();
	struct wait w;

	needs_large_receives(s);
	w = read_inline_due(s, "f");
	rp_check(!w.call->nwrites && !w.call->has_reply,
		 "the client expects less than 6 KiB inline");
	refuse(&w, REPLY_RESOURCE, 6144);
	comes_again_to(&w, settle_lopsided);
	rp_check(w.call->nwrites || w.call->has_reply, "no chunk again");
	cl_answer(s, w.call);
	rp_check(!cl_serve(s, w.job) && job_count(w.job) == 6000,
		 "the read fails");
	rp_is_pattern(job_data(w.job), 4096, 6000);
	/* Learned once, for READs and for all others */
	w = read_inline_due(s, "g");
	rp_check(w.call->nwrites || w.call->has_reply,
		 "no chunk, although the server can't do without");
	answer(&w);
	rp_check(!cl_serve(s, job_list("")), "the list fails");
	cl_alive(s);
	/* Until the server goes away: it may be another one then */
	w = hold_lookup(s);
	again_lopsided(s);
	rp_check(!cl_serve(s, w.job), "the operation fails");
	w = read_inline_due(s, "h");
	rp_check(!w.call->nwrites && !w.call->has_reply,
		 "what was learned outlived the server");
	cl_reply(s, w.call, cl_rpc_reply(s, w.call));
	rp_check(!cl_serve(s, w.job), "the read fails");
	cl_end(s);
}

/* An RPC whose Reply has come before the ERROR, and whose memory is fenced after,
 * was sent without knowledge of it.
 */
RP_CASE("replies", TROUBLE, rpc_reply_resource_race, "ERR-29,ERR-34,D-30",
	"REPLY_RESOURCE right after another RPC's Reply: it is remembered")
{
	struct cl *s = mounted_lopsided();
	struct cl_call *call;
	struct wait r, w;
	unsigned int i;

	needs_large_receives(s);
	for (i = 0; i < 4; i++) {
		r = (struct wait){ s, job_read("r", 4096, 32768), NULL };
		r.call = cl_wait_for(s, NFS_READ);
		rp_check(r.call->nwrites, "no Write chunk");
		w = read_inline_due(s, "f");
		rp_check(!w.call->nwrites && !w.call->has_reply,
			 "what was learned outlived the server");
		cl_answer(s, r.call);
		refuse(&w, REPLY_RESOURCE, 6144);
		rp_expect_closed(s->c);
		again_lopsided(s);
		/* Was the fence of the other complete before the end? */
		call = cl_wait_for(s, NFS_READ);
		if (call->xid == r.call->xid) {
			cl_answer(s, call);
			call = cl_wait_for(s, NFS_READ);
		}
		rp_check(call->xid == w.call->xid, "not the same XID");
		rp_check(call->nwrites || call->has_reply, "no chunk again");
		cl_answer(s, call);
		rp_check(!cl_serve(s, w.job), "the read fails");
		rp_check(!cl_serve(s, r.job), "the other read fails");
		w = hold_lookup(s);
		again_lopsided(s);
		rp_check(!cl_serve(s, w.job), "the operation fails");
	}
	cl_end(s);
}

RP_CASE("replies", TROUBLE, rpc_reply_resource_lost, "ERR-29,ERR-34,SEC-15",
	"REPLY_RESOURCE to whatever is asked: an end with EIO, not a loop")
{
	struct cl *s = mounted_lopsided();
	struct wait w;

	w = read_inline_due(s, "f");
	refuse(&w, REPLY_RESOURCE, 6144);
	comes_again_to(&w, settle_lopsided);
	while (w.call->nwrites) {
		refuse(&w, REPLY_RESOURCE, 6144);
		w.call = retried(&w);
	}
	rp_check(w.call->has_reply, "no Reply chunk");
	refuse(&w, REPLY_RESOURCE, 65536);
	rp_check(cl_serve(s, w.job) == EIO, "not EIO");
	cl_alive(s);
	cl_end(s);
}

RP_CASE("replies", DECISION, rpc_read_chunks_twice, "ERR-20,ERR-30,SEC-15,D-34",
	"READ_CHUNKS twice: EIO, no third attempt")
{
	struct cl *s = cl_mounted(NULL);
	struct wait w = hold_write(s);
	int err;

	refuse(&w, READ_CHUNKS, 0);
	retried(&w);
	refuse(&w, READ_CHUNKS, 0);
	rp_expect_silence(s->c, RP_SILENCE);
	err = cl_serve(s, w.job);
	rp_check(err == EIO, "\"%s\", not EIO", strerror(err));
	cl_alive(s);
}

RP_CASE("replies", DECISION, rpc_write_chunks, "ERR-23,ERR-30,ERR-22,D-31",
	"WRITE_CHUNKS 0 to a READ: once more, with a Reply chunk instead")
{
	struct cl *s = cl_mounted(NULL);
	struct wait w = hold_read(s);

	refuse(&w, WRITE_CHUNKS, 0);
	read_by_reply_chunk(&w);
	cl_alive(s);
	cl_end(s);
}

RP_CASE("replies", SHOULD, rpc_write_chunks_twice, "ERR-23,ERR-30,SEC-15",
	"WRITE_CHUNKS twice: EIO")
{
	struct cl *s = cl_mounted(NULL);
	struct wait w = hold_read(s);

	refuse(&w, WRITE_CHUNKS, 0);
	retried(&w);
	refuse(&w, WRITE_CHUNKS, 0);
	rp_check(cl_serve(s, w.job) == EIO, "not EIO");
	cl_alive(s);
	cl_end(s);
}

RP_CASE("replies", DECISION, rpc_segments, "ERR-25,ERR-34,D-34",
	"SEGMENTS to a Call that has no more than is said: EIO, no retry")
{
	struct cl *s = cl_mounted(NULL);
	struct wait w = hold_read(s);

	rp_check(w.call->write[0].n == 1, "%u segments for two pages",
		 w.call->write[0].n);
	refuse(&w, SEGMENTS, 4);
	rp_expect_silence(s->c, RP_SILENCE);
	rp_check(cl_serve(s, w.job) == EIO, "not EIO");
	/* Limits of no meaning, and one that Calls of one segment obey */
	w = hold_read(s);
	refuse(&w, SEGMENTS, 0);
	rp_check(cl_serve(s, w.job) == EIO, "not EIO");
	w = hold_read(s);
	refuse(&w, SEGMENTS, 1);
	rp_check(cl_serve(s, w.job) == EIO, "not EIO");
	w = hold_read(s);
	finish(&w);
}

/* ---- remote invalidation ---- */

/* Answer to a READ with its data placed; where the words 0..4 are free */
static struct rp_msg *placed(struct wait *w)
{
	struct cl_chunk chunk = w->call->write[0];
	struct rp_msg *rpc = cl_rpc_reply(w->s, w->call), *m;
	static uint8_t data[8192];
	uint32_t left = 8192, at = 0;
	unsigned int i;

	rp_fill(data, 4096, 8192);
	for (i = 0; i < chunk.n; i++) {
		if (chunk.seg[i].len > left)
			chunk.seg[i].len = left;
		rp_rdma_write(w->s->c, data + at, chunk.seg[i]);
		at += chunk.seg[i].len;
		left -= chunk.seg[i].len;
	}
	m = reply_head(w->call->xid, MSG);
	m->w[2] = w->s->grant;
	put_last_write(m, chunk.n, chunk.seg);
	rpc->n = 32;
	put_msg(m, rpc);
	return m;
}

static void is_read(struct wait *w)
{
	int err = cl_serve(w->s, w->job);

	rp_check(!err, "the read fails: %s", strerror(err));
	rp_is_pattern(job_data(w->job), 4096, 8192);
}

static bool is_handle_of(const struct cl_chunk *chunk, uint32_t handle)
{
	unsigned int i;

	for (i = 0; i < chunk->n; i++)
		if (chunk->seg[i].handle == handle)
			return true;
	return false;
}

RP_CASE("replies", MUST, rinv_offered, "RINV-1,RINV-3,RINV-11,RINV-13",
	"the handle offered is one of the Call; invalidated once, by either side")
{
	struct cl *s = cl_mounted(NULL);
	long was = rp_opt.module ?
		   rp_client_stat(s, "local_invalidations") : 0;
	struct wait w;
	int i;

	for (i = 0; i < 4; i++) {
		w = hold_read(s);
		rp_choice(w.call->inv, "no handle is offered");
		rp_check(is_handle_of(&w.call->write[0], w.call->inv),
			 "the handle is not in the Call");
		if (i % 2)
			rp_send_inv(s->c, placed(&w), w.call->inv);
		else
			rp_send(s->c, placed(&w));
		is_read(&w);
		rp_check(!rp_opt.module ||
			 rp_client_stat(s, "local_invalidations") ==
			 was + 1 + i / 2, "invalidated %s",
			 i % 2 ? "again" : "by nobody");
	}
	w = hold_lookup(s);
	rp_check(!w.call->inv, "a handle is offered without chunks");
	finish(&w);
}

RP_CASE("replies", DECISION, rinv_in_reply, "RINV-10",
	"rdma_inv_handle in a Reply is ignored")
{
	struct cl *s = cl_mounted(NULL);
	struct wait w = hold_read(s);

	rp_send(s->c, rp_set(placed(&w), 5, 0xdead));
	is_read(&w);
	w = hold_read(s);
	rp_send(s->c, rp_set(placed(&w), 5, w.call->write[0].seg[0].handle));
	is_read(&w);
	cl_alive(s);
	cl_end(s);
}

RP_CASE("replies", DECISION, rinv_other_rpc, "RINV-14,RINV-7,SEC-13",
	"a Reply that invalidates the handle of another RPC: closed")
{
	struct cl *s = cl_mounted(NULL);
	struct wait a = hold_read(s), b = { s, NULL, NULL };

	b.job = job_read("g", 4096, 8192);
	b.call = cl_wait_for(s, NFS_READ);
	rp_send_inv(s->c, placed(&a), b.call->write[0].seg[0].handle);
	rp_expect_closed(s->c);
	rp_close(s->c);
	cl_accept(s);
	cl_settle(s);
	is_read(&b);
	cl_serve(s, a.job);
	cl_end(s);
}

RP_CASE("replies", DECISION, rinv_unknown, "RINV-14,SEC-13",
	"a Reply that invalidates a handle nobody has: no harm but the connection")
{
	struct cl *s = cl_mounted(NULL);
	struct wait w = hold_lookup(s);
	struct rp_msg *m = right(&w);

	rp_send_inv(s->c, m, 0x00beef00);
	/* The device may refuse it, or the transport closes. */
	rp_expect_closed(s->c);
	rp_close(s->c);
	cl_accept(s);
	cl_settle(s);
	rp_check(!cl_serve(s, w.job), "the operation fails");
	cl_end(s);
}

RP_CASE("replies", MUST, rec_new_handles, "RINV-17,REC-2,SEC-5,CRED-15",
	"a Reply is lost with its connection: the Call comes with new handles")
{
	struct cl *s = cl_mounted(NULL);
	struct wait w = hold_read(s);
	struct cl_call *again;

	rp_close(s->c);
	cl_accept(s);
	cl_settle(s);
	again = cl_wait_for(s, NFS_READ);
	rp_check(again->write[0].seg[0].handle !=
		 w.call->write[0].seg[0].handle, "the same handle");
	rp_check(!again->inv || again->inv == again->write[0].seg[0].handle,
		 "%08x is named", again->inv);
	w.call = again;
	rp_send(s->c, placed(&w));
	is_read(&w);
	cl_end(s);
}

RP_CASE("replies", TROUBLE, rpc_answers_twice, "ERR-6,REV-15,SEC-2",
	"a server that answers twice")
{
	struct cl *s = cl_mounted(NULL);
	struct wait w;
	int i;

	for (i = 0; i < 5; i++) {
		w = hold_lookup(s);
		cl_answer(s, w.call);
		rp_send(s->c, right(&w));
		cl_error(s, w.call, SYSTEM);
		rp_check(!cl_serve(s, w.job), "the operation fails");
	}
	cl_alive(s);
	cl_end(s);
}

RP_CASE("replies", TROUBLE, rpc_one_reply_each, "REC-5,REC-2",
	"a server that answers, but ends each connection at once, is met later and later")
{
	struct cl *s = cl_mounted(NULL);
	unsigned long long last = rp_now(), gap = 0;
	struct rp_job *job;
	unsigned int i;

	for (i = 0; i < 5; i++) {
		rp_close(s->c);
		job = job_stat(cl_name());
		cl_accept(s);
		gap = rp_now() - last;
		last += gap;
		rp_tell("the next connection after %llu ms", gap);
		cl_settle(s);
		rp_check(!cl_serve(s, job), "the operation fails");
	}
	/* 0.1 s, 0.2, 0.4, 0.8 and then 1.6, from one attempt to the next */
	rp_check(gap >= 1000, "no more than %llu ms", gap);
	cl_end(s);
}

RP_CASE("replies", TROUBLE, rpc_never_answers, "CRED-15,REC-5,ERR-34",
	"a server that never answers: no hang, no second copy of the Call")
{
	struct cl *s = cl_mounted("timeo=100");
	struct wait w = hold_lookup(s);
	struct cl_call *call;
	int err;

	/* timeo and retrans end it; a copy needs a new connection. */
	while (!job_over(w.job)) {
		call = cl_next_within(s, 200);
		rp_check(!call || call->xid != w.call->xid,
			 "the Call is sent again on the same connection");
		if (!rp_is_closed(s->c))
			continue;
		rp_close(s->c);
		s->c = rp_accept_within(s->l, NULL, 20000);
		if (!s->c)
			break;
		cl_settle(s);
		call = cl_next_within(s, RP_ANSWER);
		/* Hold the second copy back as well */
		if (call)
			w.call->xid = call->xid;
	}
	err = job_result(w.job);
	rp_check(err == ETIMEDOUT || err == EIO, "\"%s\"", strerror(err));
}

RP_CASE("replies", TROUBLE, rpc_other_handle, "SEC-2",
	"a file handle of another length goes back as it came and is stale")
{
	struct wait w = hold_lookup(cl_mounted(NULL));
	struct rp_msg *m = rpc_reply(w.call->xid);

	/* No attributes: the client asks for them. */
	put_all(m, W(0, 4, 0x68616e64, 0, 0));
	cl_reply(w.s, w.call, m);
	/* And looks the name up again. */
	rp_check(!cl_serve(w.s, w.job), "the operation fails");
	cl_alive(w.s);
	cl_end(w.s);
}

/* The connection, made again if the client has left */
static void back(struct cl *s)
{
	if (!rp_closed_within(s->c, 0) && !rp_is_closed(s->c))
		return;
	rp_close(s->c);
	cl_accept(s);
	cl_settle(s);
}

RP_CASE("replies", TROUBLE, rpc_garbage, "SEC-2,SEC-3,ERR-34,CHK-7,HT-4",
	"hundreds of spoiled answers: every operation ends, the client lives")
{
	struct cl *s = cl_mounted(NULL);
	unsigned int round, i;

	for (round = 0; round < 60; round++) {
		struct rp_job *job;
		struct cl_call *call;

		back(s);
		job = round % 3 ? job_stat(cl_name()) :
		      job_read("f", 4096 * round, 8192);
		call = NULL;
		while (!call && !job_over(job)) {
			struct rp_rx *rx;

			back(s);
			rx = rp_recv_within(s->c, 100);
			/* Complaints about the last round may come first */
			if (!rx || rp_word(rx->buf, 3) > NOMSG)
				continue;
			call = cl_parse(s, rx);
			if (call->proc == NFS_LOOKUP ||
			    call->proc == NFS_READ)
				break;
			cl_answer(s, call);
			call = NULL;
		}
		for (i = 0; call && i < 8 && !rp_is_closed(s->c); i++) {
			struct wait w = { s, job, call };
			struct rp_msg *m = right(&w);

			m->n = m->n > 200 ? 200 : m->n;
			rp_spoil(m);
			if (!rp_try_send(s->c, m))
				break;
		}
		/* It may ask or complain; in the end it gets an answer. */
		while (!job_over(job)) {
			struct rp_rx *rx;

			back(s);
			rx = rp_recv_within(s->c, 100);
			if (rx && rp_word(rx->buf, 3) <= NOMSG)
				cl_answer(s, cl_parse(s, rx));
			else if (!rx && call && !rp_is_closed(s->c))
				cl_answer(s, call);
			call = NULL;
		}
	}
	back(s);
	while (rp_recv_within(s->c, RP_SILENCE))
		;
	rp_check(!cl_serve(s, job_stat(cl_name())), "the operation fails");
	cl_end(s);
}

RP_CASE("replies", TROUBLE, rpc_flood, "SEC-14,HT-2,ERR-1",
	"a server that floods the client with bad Calls")
{
	struct cl *s = cl_mounted(NULL);
	struct rp_rx *rx;
	unsigned int i, j;

	for (i = 0; i < 400; i++) {
		for (j = 0; j < 6; j++)
			rp_send(s->c, v2(rp_xid(), 32, 99, CALL));
		/* It may leave some unanswered if it has no room to send. */
		rx = rp_recv(s->c);
		for (j = 1; rx && j < 6; j++) {
			rp_check(rp_word(rx->buf, 3) == ERROR,
				 "not an ERROR");
			rx = rp_recv_within(s->c, 20);
		}
	}
	while (rp_recv_within(s->c, RP_SILENCE))
		;
	cl_alive(s);
	cl_end(s);
}
