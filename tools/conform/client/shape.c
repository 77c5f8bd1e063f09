// SPDX-License-Identifier: GPL-2.0
/*
 * CHK, LNG, INL, RINV, SEC: how a client shapes its Calls, and what becomes
 * of RPCs whose caller has gone.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "rp.h"
#include "client.h"

static uint32_t total(const struct cl_chunk *chunk)
{
	uint32_t n = 0;
	unsigned int i;

	for (i = 0; i < chunk->n; i++)
		n += chunk->seg[i].len;
	return n;
}

static uint32_t read_bytes(const struct cl_call *call)
{
	uint32_t n = 0;
	unsigned int i;

	for (i = 0; i < call->nreads; i++)
		n += call->read[i].len;
	return n;
}

/* What is in the client's Read chunks, in list order */
static void pull(struct cl *s, const struct cl_call *call, uint8_t *buf)
{
	unsigned int i;

	for (i = 0; i < call->nreads; i++) {
		rp_rdma_read(s->c, buf, call->read[i]);
		buf += call->read[i].len;
	}
}

RP_CASE("replies", MUST, shape_write,
	"CHK-29,LNG-10,LNG-11,CHK-12,CHK-28,MSG-1",
	"WRITE of 5001 bytes: length inline, data in the chunk, no padding")
{
	struct cl *s = cl_mounted(NULL);
	struct rp_job *job = job_write("f", 0, 5001);
	struct cl_call *call = cl_wait_for(s, NFS_WRITE);
	static uint8_t data[8192];
	unsigned int i;

	rp_choice(call->htype == MSG && call->nreads && !call->nwrites,
		  "WRITE has another shape");
	rp_check(read_bytes(call) == 5001, "%u bytes in the chunk",
		 read_bytes(call));
	for (i = 0; i < call->nreads; i++)
		rp_check(call->position[i] == call->rpc_len,
			 "Position %u, the stream has %u bytes before it",
			 call->position[i], call->rpc_len);
	rp_check(call->rx.len == call->head_len + call->rpc_len,
		 "something follows");
	rp_check(rp_word(call->rpc, call->rpc_len / 4 - 1) == 5001,
		 "the length is not inline");
	pull(s, call, data);
	rp_is_pattern(data, 0, 5001);
	cl_answer(s, call);
	rp_check(!cl_serve(s, job), "the write fails");
	cl_end(s);
}

RP_CASE("replies", SHOULD, shape_read, "CHK-20,LNG-14,CHK-28,CHK-5,CHK-27",
	"READ: one Write chunk of exactly the count, no Reply chunk")
{
	static const uint32_t counts[] = { 4096, 5001, 8192, 60001 };
	struct cl *s = cl_mounted(NULL);
	unsigned int i;

	for (i = 0; i < 4; i++) {
		struct rp_job *job = job_read("f", 0, counts[i]);
		struct cl_call *call = cl_wait_for(s, NFS_READ);

		rp_choice(call->nwrites == 1 && !call->nreads,
			  "READ has another shape");
		rp_check(total(&call->write[0]) == counts[i],
			 "a chunk of %u bytes for %u",
			 total(&call->write[0]), counts[i]);
		rp_check(call->write[0].n <= 16, "%u segments",
			 call->write[0].n);
		cl_answer(s, call);
		rp_check(!cl_serve(s, job), "the read fails");
	}
	cl_end(s);
}

RP_CASE("replies", DECISION, shape_others,
	"CHK-28,RINV-2,LNG-3,LNG-4,MSG-5,PROP-15",
	"small procedures have no chunks; READDIR has a Reply chunk only")
{
	struct cl *s = cl_mounted(NULL);
	struct rp_job *job = job_stat(cl_name());
	struct cl_call *call = cl_wait_for(s, NFS_LOOKUP);

	rp_check(!call->nreads && !call->nwrites && !call->has_reply &&
		 !call->inv, "LOOKUP has chunks");
	cl_answer(s, call);
	rp_check(!cl_serve(s, job), "the operation fails");
	job = job_list("");
	call = cl_wait_for(s, NFS_READDIR);
	rp_check(!call->nreads && !call->nwrites && call->has_reply,
		 "READDIR has other chunks");
	rp_check(total(&call->reply) >= 16384, "a Reply chunk of %u bytes",
		 total(&call->reply));
	cl_answer(s, call);
	rp_check(!cl_serve(s, job), "the operation fails");
	cl_end(s);
}

/* Does a READ of so many bytes come with a Write chunk? */
static bool read_has_chunk(struct cl *s, unsigned int count)
{
	struct rp_job *job = job_read("f", 0, count);
	struct cl_call *call = cl_wait_for(s, NFS_READ);
	bool has = call->nwrites;

	rp_check(!call->has_reply, "a Reply chunk");
	cl_answer(s, call);
	rp_check(!cl_serve(s, job), "the read fails");
	return has;
}

RP_CASE("replies", DECISION, shape_threshold, "LNG-4,LNG-3,CHK-20,D-16",
	"a READ is inline as long as both Receive Buffer Sizes have room for it")
{
	static const unsigned int sizes[] = { 4096, 9000, 65536 };
	struct cl *s = cl_start(NULL);
	unsigned int i, limit;
	struct rp_job *job;
	struct rp_msg *m;

	for (i = 0; i < 3; i++) {
		job = i ? job_stat(cl_name()) : s->mount;
		cl_accept(s);
		m = cl_connprop(s, cl_first(s));
		rp_send(s->c, rp_set(m, 8, sizes[i]));
		limit = sizes[i] < s->rbsiz ? sizes[i] : s->rbsiz;
		s->limit = limit;
		rp_check(s->rbsiz == 16384, "the client receives %u bytes",
			 s->rbsiz);
		rp_check(!cl_serve(s, job), "the operation fails");
		/* Headers have more than 100 and less than 300 bytes. */
		rp_check(!read_has_chunk(s, limit - 300),
			 "%u, %u: no room", sizes[i], limit);
		rp_check(read_has_chunk(s, limit - 100),
			 "%u, %u: too much room", sizes[i], limit);
		rp_check(read_has_chunk(s, 16384), "16384 bytes inline");
		if (i < 2)
			rp_close(s->c);
	}
	cl_end(s);
}

RP_CASE("replies", MUST, shape_small_io, "LNG-3,MSG-4,INL-3,PROP-15",
	"what fits inline in both directions has no chunks")
{
	struct cl *s = cl_mounted(NULL);
	struct rp_job *job;
	struct cl_call *call;
	uint32_t size;

	for (size = 100; size <= 5000; size += 700) {
		job = job_write("f", 0, size);
		call = cl_wait_for(s, NFS_WRITE);
		rp_check(call->rx.len <= 4096, "a Call of %u bytes",
			 call->rx.len);
		if (!call->nreads)
			rp_is_pattern(call->rpc + call->rpc_len -
				      ((size + 3) & ~3u), 0, size);
		cl_answer(s, call);
		rp_check(!cl_serve(s, job), "the write fails");
	}
	cl_end(s);
}

RP_CASE("replies", SHOULD, shape_long_call,
	"LNG-1,LNG-2,MSG-5,CHK-10,HDR-6,RINV-1",
	"a whole Call in a Position-Zero chunk, padding included")
{
	struct cl *s = cl_mounted(NULL);
	struct rp_job *job = job_write("f", 0, 5001);
	struct cl_call *call = cl_wait_for(s, NFS_WRITE), *again;
	struct rp_msg *m = error2_arg(call->xid, READ_CHUNKS, 0);
	uint32_t head = call->rpc_len;

	/* A server without Read chunks makes it take that form. */
	m->w[2] = s->grant;
	rp_send(s->c, m);
	again = cl_next(s);
	rp_check(again->htype == NOMSG && again->xid == call->xid,
		 "no NOMSG");
	rp_check(again->rpc_len == head + 5004, "%u bytes, not %u",
		 again->rpc_len, head + 5004);
	rp_check(!memcmp(again->rpc, call->rpc, head), "other RPC bytes");
	rp_is_pattern(again->rpc + head, 0, 5001);
	rp_check(!memcmp(again->rpc + head + 5001, "\0\0\0", 3),
		 "padding is not zero");
	cl_answer(s, again);
	rp_check(!cl_serve(s, job), "the write fails");
	cl_end(s);
}

RP_CASE("replies", SHOULD, sec_rights, "SEC-6,CHK-8,SEC-5",
	"memory for reading cannot be written by the server")
{
	struct cl *s = cl_mounted(NULL);
	struct rp_job *job = job_write("f", 0, 20000);
	struct cl_call *call = cl_wait_for(s, NFS_WRITE);
	static uint8_t data[64];
	struct rp_seg seg = call->read[0];

	rp_choice(call->nreads, "WRITE has no Read chunk");

	seg.len = 64;
	rp_try_rdma_write(s->c, data, seg);
	rp_check(rp_closed_within(s->c, RP_ANSWER), "it can be written");
	rp_close(s->c);
	cl_accept(s);
	cl_settle(s);
	rp_check(!cl_serve(s, job), "the write fails");
	cl_end(s);
}

RP_CASE("replies", SHOULD, sec_write_only, "SEC-6",
	"memory for writing cannot be read by the server")
{
	static uint8_t data[64];
	struct cl *s = cl_mounted(NULL);
	struct cl_call *call;
	struct rp_job *job;
	struct rp_seg seg;

	if (rp_opt.dev[0] == 's')
		rp_skip("siw does not look at the rights of what is read");
	job = job_read("f", 0, 20000);
	call = cl_wait_for(s, NFS_READ);
	rp_choice(call->nwrites && call->write[0].n, "READ has no Write chunk");
	seg = call->write[0].seg[0];
	seg.len = sizeof(data);
	rp_check(!rp_try_rdma_read(s->c, data, seg), "it can be read");
	rp_check(rp_closed_within(s->c, RP_ANSWER), "nobody minds");
	rp_close(s->c);
	cl_accept(s);
	cl_settle(s);
	rp_check(!cl_serve(s, job), "the read fails");
	rp_is_pattern(job_data(job), 0, 20000);
	cl_end(s);
}

/* Both connections of a client, either of them NULL as long as there is none */
struct pair {
	struct cl	*s;
	struct rp_conn	*c[2];
};

/* What the other functions mean is this one now. */
static bool turn_to(struct pair *p, unsigned int i)
{
	if (!p->c[i] && rp_wants_in(p->s->l)) {
		p->c[i] = cl_accept(p->s);
		cl_settle(p->s);
	}
	p->s->c = p->c[i];
	return p->c[i];
}

static void serve_pair(struct pair *p, struct rp_job *job)
{
	unsigned int i;

	for (i = 0; !job_over(job); i ^= 1)
		if (turn_to(p, i))
			cl_serve_for(p->s, 10);
	rp_check(!job_result(job), "the operation fails: %s",
		 strerror(job_result(job)));
}

/* The next READ, and on which connection it comes */
static struct cl_call *read_of_pair(struct pair *p, unsigned int *which)
{
	struct cl_call *call;
	unsigned int i;

	for (i = 0;; i ^= 1) {
		call = turn_to(p, i) ? cl_next_within(p->s, 10) : NULL;
		if (call && call->proc == NFS_READ) {
			*which = i;
			return call;
		}
		if (call)
			cl_answer(p->s, call);
	}
}

RP_CASE("replies", MUST, sec_other_connection, "SEC-4",
	"a handle of one connection of the client is of no use on its other one")
{
	struct pair p = { .s = cl_start("nconnect=2") };
	static uint8_t poison[64];
	struct cl_call *call;
	struct rp_job *job;
	struct rp_seg seg;
	unsigned int i;

	p.c[0] = cl_accept(p.s);
	cl_settle(p.s);
	serve_pair(&p, p.s->mount);
	for (i = 0; i < 20 && !p.c[1]; i++)
		serve_pair(&p, job_stat(cl_name()));
	if (!p.c[1])
		rp_skip("the client makes one connection only");
	job = job_read("f", 0, 20000);
	call = read_of_pair(&p, &i);
	seg = call->write[0].seg[0];
	seg.len = sizeof(poison);
	rp_try_rdma_write(p.c[!i], poison, seg);
	rp_check(rp_closed_within(p.c[!i], RP_ANSWER), "it can be written");
	rp_close(p.c[!i]);
	p.c[!i] = NULL;
	rp_check(!rp_is_closed(p.c[i]), "the connection of the READ has gone");
	turn_to(&p, i);
	cl_answer(p.s, call);
	serve_pair(&p, job);
	rp_is_pattern(job_data(job), 0, 20000);
	serve_pair(&p, job_umount());
}

RP_CASE("replies", MUST, sec_after_reply, "SEC-7,RINV-12,SEC-5,SEC-6",
	"after the Reply the memory of a READ is out of reach")
{
	struct cl *s = cl_mounted(NULL);
	struct rp_job *job = job_read("f", 0, 8192);
	struct cl_call *call = cl_wait_for(s, NFS_READ);
	static uint8_t poison[8192];
	struct rp_seg seg = call->write[0].seg[0];

	rp_choice(call->nwrites, "READ has no Write chunk");
	cl_answer(s, call);
	rp_check(!cl_serve(s, job), "the read fails");
	memset(poison, 0x5a, sizeof(poison));
	rp_try_rdma_write(s->c, poison, seg);
	rp_check(rp_closed_within(s->c, RP_ANSWER),
		 "the memory is still exposed");
	rp_is_pattern(job_data(job), 0, 8192);
	rp_close(s->c);
	job = job_stat(cl_name());
	cl_accept(s);
	cl_settle(s);
	rp_check(!cl_serve(s, job), "the operation fails");
	cl_end(s);
}

/* Serve over reconnects until the job is over. */
static void serve_on(struct cl *s, struct rp_job *job)
{
	while (!job_over(job)) {
		if (rp_is_closed(s->c)) {
			rp_close(s->c);
			cl_accept(s);
			cl_settle(s);
		}
		cl_serve_for(s, 100);
	}
	rp_check(!job_result(job), "the operation fails: %s",
		 strerror(job_result(job)));
}

/* Who lists a directory is killed, which cancels the RPC; its Reply comes
 * later, in one form or another. (A direct READ would not be cancelled.)
 */
static void orphan(bool late_write, bool invalidate)
{
	struct cl *s = cl_mounted(NULL);
	struct rp_job *job = job_list("");
	struct cl_call *call = cl_wait_for(s, NFS_READDIR);
	struct cl_chunk chunk = call->reply;
	struct rp_msg *m = reply_head(call->xid, NOMSG);
	static uint8_t data[1024];

	rp_choice(call->has_reply && call->inv, "no Reply chunk");
	job_kill(job);
	memset(data, 0x5a, sizeof(data));
	chunk.seg[0].len = sizeof(data);
	chunk.n = 1;
	if (late_write) {
		rp_try_rdma_write(s->c, data, chunk.seg[0]);
		rp_check(rp_closed_within(s->c, RP_ANSWER),
			 "the memory is still exposed");
	}
	m->w[2] = s->grant;
	put_reply_chunk(m, 1, chunk.seg);
	if (!rp_is_closed(s->c)) {
		if (invalidate)
			rp_send_inv(s->c, m, call->inv);
		else
			rp_try_send(s->c, m);
	}
	job = job_read("g", 0, 60000);
	serve_on(s, job);
	rp_is_pattern(job_data(job), 0, 60000);
	job = job_list("");
	serve_on(s, job);
	rp_check(job_count(job) == CL_DIR_ENTRIES, "%u entries",
		 job_count(job));
	job = job_umount();
	serve_on(s, job);
}

RP_ROW("replies", DECISION, orphan_plain, "RINV-18,SEC-8,SEC-7",
	"an RPC is cancelled, its Reply comes later", orphan(false, false))
RP_ROW("replies", DECISION, orphan_invalidate, "RINV-18,SEC-8,RINV-14",
	"an RPC is cancelled, its Reply comes later and invalidates",
	orphan(false, true))
RP_ROW("replies", DECISION, orphan_write, "RINV-18,SEC-8,SEC-7",
	"an RPC is cancelled, the server writes into its memory later",
	orphan(true, false))

RP_CASE("replies", MUST, orphan_credit, "RINV-18,CRED-3,CRED-2",
	"a cancelled RPC keeps its credit until its Reply comes")
{
	struct cl *s = cl_start(NULL);
	struct rp_job *job;
	struct cl_call *call;
	struct rp_conn *c;

	s->grant = 1;
	c = cl_accept(s);
	cl_settle(s);
	rp_check(!cl_serve(s, s->mount), "the mount fails");
	job = job_stat(cl_name());
	call = cl_wait_for(s, NFS_LOOKUP);
	job_kill(job);
	job = job_stat(cl_name());
	cl_unimpressed(s, job);
	cl_answer(s, call);
	rp_check(!cl_serve(s, job), "the operation fails");
	rp_check(s->c == c && !rp_is_closed(c), "the connection has gone");
	cl_end(s);
}
