// SPDX-License-Identifier: GPL-2.0
/*
 * Servers that do less than they might, and are right: the client has to get
 * its work done with each of them, or be told that it cannot be.
 */
#include <string.h>

#include "rp.h"
#include "client.h"

/* A client may wait for so long until it tries something else. */
#define PATIENCE	60000

RP_CASE("variant-client", MUST | V1, variant_version_1_server,
	"VER-10,V1-1,V1-7,V1-16", "a server of version 1: READ, WRITE, READDIR")
{
	struct cl *s = cl_mounted_v1(NULL);

	cl_use(s);
	cl_end(s);
}

/* Wait for a Call on this connection; CONNPROP is not answered. False: the
 * client has left.
 */
static bool first_call(struct cl *s)
{
	struct rp_rx *rx = rp_recv_within(s->c, PATIENCE);

	if (rx && rp_word(rx->buf, 1) == 2 && rp_word(rx->buf, 3) == CONNPROP)
		rx = rp_recv_within(s->c, PATIENCE);
	rp_check(rx || rp_is_closed(s->c),
		 "the client waits for an answer for ever");
	if (!rx)
		return false;
	s->limit = rp_word(rx->buf, 1) == 1 ? 1024 : 4096;
	rp_unrecv(s->c, rx);
	return true;
}

RP_CASE("variant-client", DECISION, variant_no_connprop_server,
	"CONN-11,VER-14,D-10,D-22",
	"a server that never answers CONNPROP: READ, WRITE, READDIR")
{
	unsigned int i;
	struct cl *s;
	int err;

	if (rp_opt.module)
		cl_parameter("negotiate_ms", "1000");
	s = cl_start("timeo=600");
	for (i = 0; i < 4; i++) {
		s->c = rp_accept_within(s->l, NULL, PATIENCE);
		rp_check(s->c, "the client does not connect");
		if (first_call(s))
			break;
		rp_close(s->c);
		s->c = NULL;
	}
	rp_check(s->c, "the client sends no Call");
	err = cl_serve(s, s->mount);
	rp_check(!err, "the mount fails: %s", strerror(err));
	cl_use(s);
	cl_end(s);
}

/* A server without Write chunks */
static bool refuse_write_chunks(struct cl *s, struct cl_call *call)
{
	struct rp_msg *m;

	if (!call->nwrites)
		return false;
	m = error2_arg(call->xid, WRITE_CHUNKS, 0);
	m->w[2] = s->grant;
	rp_send(s->c, m);
	return true;
}

/* A READ has the right data, or fails. */
static void reads_or_fails(struct cl *s, struct rp_job *job, int err)
{
	if (err) {
		rp_note("READ ends with \"%s\"", strerror(err));
		return;
	}
	rp_check(job_count(job) == 20000, "%u bytes", job_count(job));
	rp_is_pattern(job_data(job), 4096, 20000);
	(void)s;
}

RP_CASE("variant-client", DECISION, variant_no_write_chunks_server,
	"ERR-23,ERR-30,ERR-34,D-30,D-31",
	"a server without Write chunks: READ goes another way, or ends with an error")
{
	struct cl *s = cl_mounted(NULL);
	struct rp_job *job;

	s->hook = refuse_write_chunks;
	job = job_read("f", 4096, 20000);
	reads_or_fails(s, job, cl_serve(s, job));
	cl_alive(s);
	cl_end(s);
}

/* What does not fit into 1024 bytes needs a chunk of the client's. */
static bool refuse_long_replies(struct cl *s, struct cl_call *call)
{
	struct rp_msg *rpc = cl_rpc_reply(s, call), *m;
	uint32_t head = 4 * (9 + 4 * (call->nwrites + call->has_reply));

	if (call->has_reply || (call->proc == NFS_READ && call->nwrites) ||
	    head + 4 * rpc->n <= 1024)
		return false;
	m = error2_arg(call->xid, REPLY_RESOURCE, 4 * rpc->n);
	m->w[2] = s->grant;
	rp_send(s->c, m);
	return true;
}

static void settle_large(struct cl *s)
{
	struct rp_msg *m = connprop(cl_first(s), 16384, 0);

	m->w[2] = s->grant;
	rp_send(s->c, rp_set(m, 4, RESPONSE));
	s->limit = 1024;
}

/* An operation that may want a new connection */
struct turn {
	struct cl	*s;
	struct rp_job	*job;
};

static bool over_or_back(void *arg)
{
	struct turn *t = arg;

	return job_over(t->job) || rp_wants_in(t->s->l);
}

/* Serve until it is over, on new connections if the client wants them. */
static int serve_on(struct cl *s, struct rp_job *job)
{
	struct turn turn = { s, job };
	unsigned int i;

	for (i = 0; i < 300 && !job_over(job); i++) {
		cl_serve_for(s, 100);
		if (!rp_is_closed(s->c))
			continue;
		rp_check(rp_wait(over_or_back, &turn, RP_ANSWER),
			 "the client does not connect again");
		if (job_over(job))
			break;
		rp_close(s->c);
		cl_accept(s);
		settle_large(s);
	}
	return job_result(job);
}

RP_CASE("variant-client", DECISION, variant_sends_less_server,
	"ERR-29,ERR-34,LNG-4,D-16,D-30",
	"a server that receives 16384 bytes and sends 1024 at the most")
{
	struct cl *s = cl_start(NULL);
	struct rp_job *job;
	int err;

	cl_accept(s);
	settle_large(s);
	s->hook = refuse_long_replies;
	err = serve_on(s, s->mount);
	rp_check(!err, "the mount fails: %s", strerror(err));
	job = job_write("f", 0, 10000);
	err = serve_on(s, job);
	rp_check(!err, "WRITE: %s", strerror(err));
	job = job_read("f", 4096, 20000);
	reads_or_fails(s, job, serve_on(s, job));
	/* Planned to be inline */
	serve_on(s, job_read("f", 0, 3000));
	err = serve_on(s, job_stat(cl_name()));
	rp_check(!err, "the next operation fails: %s", strerror(err));
	err = serve_on(s, job_umount());
	rp_check(!err, "umount fails: %s", strerror(err));
}
