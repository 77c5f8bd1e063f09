// SPDX-License-Identifier: GPL-2.0
/*
 * V1: what a client does on a version 1 connection.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "rp.h"
#include "client.h"

/* An error ends the RPC, and nothing else. */
static void ends_in_eio(struct cl *s, struct rp_job *job)
{
	int err = cl_serve(s, job);

	rp_check(!rp_is_closed(s->c), "the client closes the connection");
	rp_check(err == EIO, "not EIO but %s", strerror(err));
	cl_alive(s);
}

RP_CASE("version", MUST | V1, v1c_errors, "V1-2,V1-3,ERR-34",
	"ERR_CHUNK ends an RPC of version 1 with EIO")
{
	struct cl *s = cl_mounted_v1(NULL);
	struct rp_job *job = job_stat(cl_name());
	struct cl_call *call = cl_wait_for(s, NFS_LOOKUP);

	rp_send(s->c, rp_words(W(call->xid, 1, 32, ERROR, 2)));
	ends_in_eio(s, job);
	job = job_stat(cl_name());
	call = cl_wait_for(s, NFS_LOOKUP);
	rp_send(s->c, rp_words(W(call->xid, 1, 32, ERROR, 1, 1, 1)));
	ends_in_eio(s, job);
	cl_end(s);
}

RP_CASE("version", MUST | V1, v1c_junk, "V1-3,V1-4,V1-5,V1-6,HDR-5,HT-4",
	"version 1 messages that answer nothing are discarded in silence")
{
	struct cl *s = cl_mounted_v1(NULL);
	struct rp_job *job = job_stat(cl_name());
	struct cl_call *call = cl_wait_for(s, NFS_LOOKUP);
	struct rp_msg *m, *rpc = cl_rpc_reply(s, call);

	rp_send(s->c, rp_words(W(call->xid + 1, 1, 32, ERROR, 2)));
	rp_send(s->c, rp_words(W(call->xid, 1, 32, ERROR)));
	rp_send(s->c, rp_words(W(call->xid, 1, 32, DONE, 0, 0, 0)));
	rp_send(s->c, rp_cut(v1_reply(rpc), 27));
	rp_send(s->c, rp_set(v1_reply(rpc), 5, 0xffffffff));
	m = v1(call->xid, 32, MSGP);
	put_all(m, W(4096, 4096, 0, 0, 0));
	put_msg(m, rpc);
	rp_send(s->c, m);
	m = v1(call->xid, 32, MSG);		/* a Read list */
	put_last_read(m, 24, (struct rp_seg){ 1, 4, 0x1000 });
	put_msg(m, rpc);
	rp_send(s->c, m);
	cl_unimpressed(s, job);
	cl_answer(s, call);
	rp_check(!cl_serve(s, job), "the operation fails");
	cl_alive(s);
	cl_end(s);
}

RP_CASE("version", DECISION, v1c_version_2, "HDR-12,HDR-11,D-14",
	"a version 2 message on a version 1 connection: closed")
{
	struct cl *s = cl_mounted_v1(NULL);
	struct rp_job *job = job_stat(cl_name());
	struct cl_call *call = cl_wait_for(s, NFS_LOOKUP);

	rp_send(s->c, msg_reply(cl_rpc_reply(s, call)));
	rp_expect_closed(s->c);
	rp_close(s->c);
	cl_accept(s);
	cl_settle(s);
	rp_check(!cl_serve(s, job), "the operation fails");
	cl_end(s);
}

/* READ data of odd length; the server also writes the pad, or says so */
static void padded(bool write_pad, bool count_pad)
{
	struct cl *s = cl_mounted_v1(NULL);
	struct rp_job *job = job_read("f", 0, 4001);
	struct cl_call *call = cl_wait_for(s, NFS_READ);
	struct cl_chunk chunk;
	static uint8_t data[4004];
	struct rp_msg *m, *rpc;
	uint32_t len = 4001, room;
	unsigned int i;

	rp_choice(call->nwrites == 1, "no Write chunk");
	chunk = call->write[0];
	rp_fill(data, 0, 4001);
	for (i = 0, room = 0; i < chunk.n; i++)
		room += chunk.seg[i].len;
	if (write_pad && room >= 4004)
		len = 4004;
	for (i = 0, room = 0; i < chunk.n; i++) {
		if (chunk.seg[i].len > len - room)
			chunk.seg[i].len = len - room;
		rp_rdma_write(s->c, data + room, chunk.seg[i]);
		room += chunk.seg[i].len;
	}
	if (!count_pad && len > 4001)
		chunk.seg[chunk.n - 1].len -= 3;
	m = v1(call->xid, s->grant, MSG);
	put_last_write(m, chunk.n, chunk.seg);
	rpc = cl_rpc_reply(s, call);
	rpc->n = 32;
	put_msg(m, rpc);
	rp_send(s->c, m);
	rp_check(!cl_serve(s, job) && job_count(job) == 4001,
		 "the read fails or has %u bytes", job_count(job));
	rp_is_pattern(job_data(job), 0, 4001);
	cl_end(s);
}

RP_ROW("version", MUST | V1, v1c_no_pad, "V1-14,LNG-13,LNG-14",
	"version 1: a server that writes no padding", padded(false, false))
RP_ROW("version", MUST | V1, v1c_pad, "V1-14,LNG-14",
	"version 1: a server that writes padding where there is room",
	padded(true, true))

RP_CASE("version", MUST | V1, v1c_done_never, "V1-3,V1-4,V1-5,V1-1",
	"the client sends neither RDMA_ERROR nor RDMA_DONE nor RDMA_MSGP")
{
	struct cl *s = cl_mounted_v1(NULL);
	struct rp_job *job;

	/* cl_parse() refuses every type but MSG and NOMSG */
	job = job_read("f", 0, 20000);
	rp_check(!cl_serve(s, job), "the read fails");
	job = job_write("f", 0, 20000);
	rp_check(!cl_serve(s, job), "the write fails");
	job = job_list("");
	rp_check(!cl_serve(s, job), "the listing fails");
	cl_end(s);
}
