// SPDX-License-Identifier: GPL-2.0
/*
 * INL: Receives of exactly the size that was announced. One byte more, and
 * the connection would be gone.
 */
#include <stdio.h>
#include <string.h>

#include "rp.h"
#include "stat.h"

/* The smallest, the default, and one that is no power of two */
static const unsigned int sizes[] = { 1024, 4096, 5000 };

/* READs whose Replies are a little shorter, as long, and longer than what
 * fits, with a Reply chunk for those that do not.
 */
static void replies_around(struct rp_conn *c, struct rp_mem *mem,
			   unsigned int size)
{
	unsigned int fits = size - 36 - NFS4_READ_HEAD, count, large = 0;
	struct rp_seg seg = rp_seg(mem, 0, mem->size);
	struct rp_rx *rx;

	for (count = fits - 64; count <= fits + 64; count += 4) {
		uint32_t xid = rp_xid();
		struct rp_msg *m = call_head(xid, MSG, 0);

		put_reply_chunk(m, 1, &seg);
		put_msg(m, nfs4_read(xid, "inl", 0, count));
		rx = rp_exchange(c, m);
		rp_check(rx->len <= size, "%u bytes", rx->len);
		rp_check(rp_word(rx->buf, 3) == MSG ||
			 rp_word(rx->buf, 3) == NOMSG, "not a Reply");
		if (rx->len > large)
			large = rx->len;
	}
	/* Some room may be lost to the Reply chunk that is returned unused */
	rp_choice(large > size - 64, "the longest message has %u bytes", large);
}

RP_CASE("trouble", MUST, inl_replies, "INL-7,INL-3,MSG-4,PROP-16",
	"no Reply is longer than the client's Receives, by a byte")
{
	struct rp_conn *c;
	unsigned int i;

	rp_file("inl", 8192);
	for (i = 0; i < 3; i++) {
		struct rp_how how = { .recv_size = sizes[i] };

		c = rp_connect_how(&how);
		rp_settle(c, connprop(rp_xid(), sizes[i], 0));
		replies_around(c, rp_mem(c, 8192), sizes[i]);
		rp_nothing(c);
		rp_close(c);
	}
}

RP_CASE("reasons", MUST | MODULE, inl_calls, "INL-7,INL-3,MSG-4,MSG-5,PROP-16",
	"no Call is longer than the server's Receives, by a byte")
{
	struct rp_how how = { .recv_size = 1024 };
	struct cl *s = cl_start(NULL);
	unsigned int len, large = 0;
	struct rp_msg *m;
	int err;

	cl_accept_how(s, &how);
	m = connprop(cl_first(s), 1024, 0);
	m->w[2] = 16;
	rp_send(s->c, rp_set(m, 4, RESPONSE));
	s->limit = 1024;
	err = cl_serve(s, s->mount);
	rp_check(!err, "the mount fails: %s", strerror(err));
	for (len = 800; len <= 1000; len += 12) {
		struct rp_job *job = job_write("f", 0, len);
		struct cl_call *call = cl_wait_for(s, NFS_WRITE);

		rp_check(call->rx.len <= 1024, "%u bytes", call->rx.len);
		if (call->rx.len > large)
			large = call->rx.len;
		cl_answer(s, call);
		rp_check(!cl_serve(s, job), "WRITE of %u bytes fails", len);
	}
	rp_check(large > 1024 - 64, "the longest Call has %u bytes", large);
	rp_check(rp_client_stat(s, "connects") == 1, "a connection was lost");
	cl_alive(s);
	cl_end(s);
}

/* A server that takes READs of 1 MiB */
static bool large_reads(struct cl *s, struct cl_call *call)
{
	struct rp_msg *m;

	if (call->prog != 100003 || call->progvers != 3 ||
	    call->proc != NFS_FSINFO)
		return false;
	m = cl_rpc_reply(s, call);
	m->w[m->n - 12] = 1 << 20;		/* rtmax */
	m->w[m->n - 11] = 1 << 20;		/* rtpref */
	cl_reply(s, call, m);
	return true;
}

static uint32_t largest(const struct cl_chunk *chunk)
{
	struct rp_seg most = chunk->seg[0];
	unsigned int i;

	for (i = 1; i < chunk->n; i++)
		if (chunk->seg[i].len > most.len)
			most = chunk->seg[i];
	return most.handle;
}

/* The next READ of 1 MiB into memory that does not begin on a page boundary */
static struct cl_call *read_askew(struct cl *s, struct rp_job **job)
{
	*job = job_shell("iocheck check -d -b 1048576 -l 1048576 -a 512 f");
	return cl_wait_for(s, NFS_READ);
}

RP_CASE("reasons", DECISION | MODULE, seg_limit, "ERR-25,ERR-34,D-34",
	"SEGMENTS to a Call with more: EIO, and later ones that large are not sent")
{
	struct cl *s = cl_start("rsize=1048576");
	struct cl_call *call, *next;
	struct rp_job *job;
	struct rp_msg *m;

	s->hook = large_reads;
	cl_accept(s);
	cl_settle(s);
	rp_check(!cl_serve(s, s->mount), "the mount fails");
	call = read_askew(s, &job);
	rp_check(call->nwrites == 1, "no Write chunk");
	if (call->write[0].n == 1)
		rp_skip("the device registers 257 pages at a time");
	m = error2_arg(call->xid, SEGMENTS, 1);
	m->w[2] = s->grant;
	rp_send(s->c, m);
	rp_check(cl_serve(s, job) == EIO, "not EIO");
	/* Nothing of that size is sent again; what fits is. */
	job = job_shell("iocheck check -d -b 1048576 -l 1048576 -a 512 f");
	while (!job_over(job)) {
		next = cl_next_within(s, 100);
		rp_check(!next || next->proc != NFS_READ,
			 "another READ of two segments");
		if (next)
			cl_answer(s, next);
	}
	rp_check(job_result(job) == EIO, "not EIO");
	job = job_read("f", 0, 65536);
	rp_check(!cl_serve(s, job), "a small READ fails");
	rp_is_pattern(job_data(job), 0, 65536);
	cl_alive(s);
	cl_end(s);
}

/* Some devices register no more than 256 pages at a time: two handles then */
RP_CASE("reasons", DECISION | MODULE, rinv_largest, "RINV-1,RINV-3,RINV-12",
	"the handle named is that of the largest piece of memory")
{
	struct cl *s = cl_start("rsize=1048576");
	struct cl_call *call;
	struct rp_job *job;
	struct rp_msg *m;
	long local;

	s->hook = large_reads;
	cl_accept(s);
	cl_settle(s);
	rp_check(!cl_serve(s, s->mount), "the mount fails");
	local = rp_client_stat(s, "local_invalidations");
	job = job_read("f", 0, 1 << 20);
	call = cl_wait_for(s, NFS_READ);
	rp_tell("%u segments", call->write[0].n);
	rp_check(call->nwrites == 1 && call->write[0].n, "no Write chunk");
	rp_check(call->inv == largest(&call->write[0]),
		 "%08x is named, not %08x", call->inv,
		 largest(&call->write[0]));
	/* Nothing to read; all other handles are invalidated by the client */
	m = reply_head(call->xid, MSG);
	m->w[2] = s->grant;
	cl_put_unused(m, call);
	put_msg(m, rpc_reply(call->xid));
	put(m, 5);				/* NFS3ERR_IO */
	put(m, 0);
	rp_send_inv(s->c, m, call->inv);
	rp_check(cl_serve(s, job), "READ of nothing");
	rp_check(rp_client_stat(s, "local_invalidations") ==
		 local + call->write[0].n - 1, "%ld local invalidations",
		 rp_client_stat(s, "local_invalidations") - local);
	rp_check(rp_client_stat(s, "remote_invalidations") >= 1, "none remote");
	cl_alive(s);
	cl_end(s);
}
